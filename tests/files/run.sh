#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Files that are damaged in every way, that state wrong sizes, or that an older build wrote, and what the commands say of them.
# No root.
set -u
cd "$(dirname "$0")/../.." || exit
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0 skipped=0

ok() {
	echo "ok   $1"
	((passed++))
}
bad() {
	echo "FAIL $1"
	((failed++))
}
# is STATUS NAME COMMAND...: check that the command exits with this status
is() {
	local want=$1 name=$2 got
	shift 2
	"$@" > "$dir/out" 2> "$dir/err"
	got=$?
	if ((got == want)); then
		ok "$name"
	else
		bad "$name: exit status $got, not $want"
		head -n 5 "$dir/out" "$dir/err"
	fi
}
# flip FILE BYTE: flip one bit of this byte
flip() {
	/usr/bin/python3 -c 'import sys; f = open(sys.argv[1], "r+b"); f.seek(int(sys.argv[2])); b = f.read(1)[0]; f.seek(-1, 1); f.write(bytes([b ^ 16]))' "$@"
}
# program BUILD-DIR NAME: run a test program and add its summary to ours
program() {
	local log=$dir/$2.log p f s
	mkdir -p "$dir/$2"
	"$1/tests/files/$2" "$dir/$2" > "$log" 2>&1 || true
	head -n -1 "$log"
	read -r p f s <<< "$(tail -n 1 "$log" | sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p')"
	if [[ -z ${s:-} ]]; then
		bad "$2: it did not come to its end"
		tail -n 20 "$log"
	else
		((passed += p, failed += f, skipped += s))
	fi
}

# all and seed made the files of golden/ and the fuzzers' corpus; they must still build, to make the next ones
make -s build/flightrec build/tests/files/bomb build/tests/files/small build/tests/files/all build/tests/fuzz/seed &&
	make -s O=build/asan SANITIZE=address,undefined build/asan/tests/files/damage build/asan/tests/files/rules || exit
fr=build/flightrec

program build/asan damage
program build/asan rules
program build bomb # without sanitizers: they take memory themselves

# the commands, on a whole file and on broken ones
small=$dir/small.flight
build/tests/files/small "$small" || exit
size=$(stat -c %s "$small")
is 0 "zstd -t takes the whole file" zstd -tq "$small"
is 0 "verify takes it" $fr verify "$small"
is 0 "replay takes it" $fr replay --json "$small"
# a name may stand in a part of the file that is gone
unnamed() { sed -E 's/"([a-z_]*comm|pid)":(null|[0-9]+|"([^"\\]|\\.)*"),?//g' "$1"; }
unnamed "$dir/out" > "$dir/whole"
for part in 1 2 3; do
	head -c $((size * part / 4)) "$small" > "$dir/cut.flight"
	is 3 "replay of $part quarters" $fr replay --json "$dir/cut.flight"
	if ((part == 3)) && ! [[ -s $dir/out ]]; then bad "$part quarters hold events"; fi
	if unnamed "$dir/out" | grep -vxFf "$dir/whole" > "$dir/wrong"; then
		bad "replay of $part quarters prints what was not written"
		head -n 3 "$dir/wrong"
	fi
	[[ -s $dir/err ]] || bad "replay of $part quarters says nothing of it"
	is 3 "verify of $part quarters" $fr verify "$dir/cut.flight"
done
head -c 20 "$small" > "$dir/cut.flight"
is 3 "replay of 20 bytes" $fr replay "$dir/cut.flight"
head -c 100000 /dev/urandom > "$dir/junk"
is 3 "replay of junk" $fr replay "$dir/junk"
is 1 "replay of nothing" $fr replay "$dir/none"

# a file that an earlier build wrote reads as it did then
same_as() { # WHAT FILE: is this what the last command printed?
	if cmp -s "$dir/out" "$2"; then
		ok "$1 reads as it always did"
	else
		bad "$1 reads differently"
		diff "$2" "$dir/out" | head -n 6
	fi
}
# infos FILE: what info prints of it, as text and as JSON
infos() { TZ=UTC $fr info "$1" && $fr info --json "$1"; }
# scenes FILE: what report says that processes had, as text and as JSON
scenes() {
	local top
	for top in 10 0; do
		$fr report --task 100 --top $top "$1" | sed -n '/^What it had/,/^$/p'
	done
	$fr report --task 101 "$1" | sed -n '/^What it had/,/^$/p'
	$fr report --json --task 100 "$1" | jq -c .scene
}
is 0 "a file of every event" build/tests/files/all "$dir/all.flight"
is 0 "replay of every event" $fr replay --json --tier all "$dir/all.flight"
if diff <(jq -r .event "$dir/out" | grep -v ^tp: | sort -u) <($fr events --json | jq -r '.[].name' | sort) > "$dir/missing"; then
	ok "every event is in it"
else
	bad "not every event is in it"
	cat "$dir/missing"
fi
for golden in tests/files/golden/*.flight; do
	name=${golden##*/}
	is 0 "verify of $name" $fr verify "$golden"
	is 0 "replay of $name" $fr replay --json --pos "$golden"
	same_as "$name" "${golden%.flight}.json"
	is 0 "incidents of $name" $fr incidents --json "$golden"
	incidents=${golden%.flight}.incidents
	[[ -e $incidents ]] || incidents=/dev/null
	same_as "incidents of $name" "$incidents"
	is 0 "info of $name" infos "$golden"
	same_as "info of $name" "${golden%.flight}.info"
	if [[ -e ${golden%.flight}.report ]]; then
		is 0 "report of $name" scenes "$golden"
		same_as "report of $name" "${golden%.flight}.report"
	fi
	[[ -e ${golden%.flight}.profile ]] || continue
	is 0 "profile of $name" $fr profile --json --since 1h --no-symbols "$golden"
	same_as "profile of $name" "${golden%.flight}.profile"
done
is 0 "info of load.flight" infos tests/gate/load.flight
same_as "info of load.flight" tests/files/golden/load.info

# whatever is wrong with a file, several threads print and report the same as one does
load=tests/gate/load.flight
says() { # NAME JOBS COMMAND...: its output, messages and status go to a file
	local name=$1 jobs=$2
	shift 2
	"$fr" "$@" --jobs "$jobs" "$dir/hurt.flight" > "$dir/$name" 2>> "$dir/$name"
	echo "status $?" >> "$dir/$name"
}
same_with_threads() {
	local command
	for command in "replay --json" "replay --count -f latency>1ms" "report" "export --to csv"; do
		# shellcheck disable=SC2086
		says one 1 $command
		# shellcheck disable=SC2086
		says four 4 $command
		cmp -s "$dir/one" "$dir/four" || { diff "$dir/one" "$dir/four" | head -n 4; return 1; }
	done
}
size=$(stat -c %s $load) hurt=0 differ=0
for ((at = 0; at < size; at += size / 24)); do
	cp $load "$dir/hurt.flight"
	# the first as it is, then one byte at a time
	((at)) && flip "$dir/hurt.flight" $at
	same_with_threads || { echo "  byte $at"; ((differ++)); }
	grep -q "^status 3" "$dir/four" && ((hurt++))
done
head -c $((size * 2 / 3)) $load > "$dir/hurt.flight"
same_with_threads || ((differ++))
if ((!differ && hurt > 10)); then ok "threads print and say what one does"; else bad "threads: $differ files differ, $hurt are damaged"; fi
if command -v valgrind > /dev/null; then
	cp $load "$dir/hurt.flight"
	is 0 "threads do not race" valgrind -q --tool=helgrind --error-exitcode=99 $fr replay --count -f 'latency > 1ms' --jobs 3 "$dir/hurt.flight"
else
	echo "SKIP threads do not race: valgrind is not installed"
	((skipped++))
fi

is 0 "the example of docs/format.md" /usr/bin/python3 tests/files/example.py

echo "$passed passed, $failed failed, $skipped skipped"
((!failed))
