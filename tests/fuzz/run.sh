#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# run.sh [TARGET...]: give each fuzz target, built by gcc with ASan and UBSan, its kept corpus, the golden snapshots if it reads snapshots,
# crash dumps that make_cores writes, and COUNT mutations of each, always the same ones (replay.c), or those from FR_FIRST on.
# `commands` gives what it reads to all commands, and knows what they have to agree on. FR_LONG=1: FR_COMMANDS (8000) mutations of each
# golden snapshot go through it, others with each FR_SEED, and it tells how many commands that were; the others search with libFuzzer, which needs clang, for
# FR_SECONDS (60): the reader of snapshots; the exporters, the library, `top` and `recover` for a third of it; the parsers of triggers and
# configurations, and of ELF files, for a quarter. FR_SEED says where chance begins.
# No root.
set -u
cd "$(dirname "$0")/../.." || exit
seconds=${FR_SECONDS:-60}
targets=" $* "
long=${FR_LONG:-} out=build/fuzz
seed=${FR_SEED:-$RANDOM}
passed=0 failed=0
mkdir -p $out
if [[ -n $long ]] && ! echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -fsanitize=fuzzer -x c - -o /dev/null 2> /dev/null; then
	echo "SKIP fuzz: clang cannot link with libFuzzer: install libclang-rt-dev"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
make -s "-j$(nproc)" asan build/tests/fuzz/replay_commands $([[ -n $long ]] && echo fuzzed) || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }

# seeds NAME [HEAD...]: a folder with each golden snapshot behind each head of so many bytes, filled up with NUL; prints its name
seeds() {
	local dir=$out/seed_$1 size=${2:-0} n=0 golden head
	shift 2
	rm -rf "$dir"
	mkdir -p "$dir"
	(($#)) || set -- ""
	for golden in tests/files/golden/*.flight; do
		for head; do
			{ printf "$head"; head -c "$size" /dev/zero; } | head -c "$size" | cat - "$golden" > "$dir/$n"
			((++n))
		done
	done
	echo "$dir"
}

# seeds_of NAME: the folders that this target begins with
seeds_of() {
	case $1 in
	read) echo "tests/fuzz/corpus $(seeds read 0)" ;;
	export) echo "tests/fuzz/corpus_export $(seeds export 0)" ;;
	lib) seeds lib 64 '\x11' '\x21\x01latency > 1us' '\x42\x03comm ~ "t*"' '\xd1' ;;
	commands | reused) echo "tests/fuzz/corpus_commands $(seeds "$1" 0)" ;;
	# the keys to press: zoom, jumps and each panel; a search and its matches; tables and their keys; clicks
	top) echo "tests/fuzz/corpus_top $(seeds top 48 '\x19\x14++]..ot1234567890hixc' '\x14\x90/sched\nnNgone\nbg50%%\nm>z' \
		'\x1e\x223\t<>r\n\xbb\xbb5jv v0\t\n\xbc6?lf')" ;;
	vmcore) cores ;;
	*) echo "tests/fuzz/corpus_$1" ;;
	esac
}

# cores: a folder with crash dumps; prints its name
cores() {
	local dir=$out/seed_vmcore
	rm -rf "$dir"
	mkdir -p "$dir"
	make -s build/tests/fuzz/make_cores >&2 && build/tests/fuzz/make_cores "$dir" && echo "$dir"
}

# tell_failure NAME: what went wrong, where, and the input that did it, so that whoever has only this output can make it again
tell_failure() {
	local input
	grep -aE -A 12 -m 1 'ERROR: |runtime error: ' "$out/$1.log" || tail -n 12 "$out/$1.log"
	for input in "$out/$1"-*; do
		[[ -e $input ]] || continue
		echo "the input that did it is $input; of it, base64 -d | zstd -d:"
		zstd -19 -q -c "$input" | base64 -w 0
		echo
	done
}

# fuzz NAME SECONDS CORPUS[ CORPUS] [OPTION]: new inputs go to a directory of their own; the kept corpus changes only when somebody adds to it
fuzz() {
	local name=$1 seconds=$2 corpus=$3
	shift 3
	clang -std=gnu11 -D_GNU_SOURCE= -O1 -g -Wall -Wextra -Werror -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -Ibpf -Iuser -Itests "tests/fuzz/$name.c" $out/libfrcore.a -ldw -lelf -lz -lzstd -lxxhash -ltraceevent -liberty -o "$out/$name" ||
		return 1
	mkdir -p "$out/new_$name"
	rm -f "$out/new_$name"/*
	rm -f "$out/$name"-*
	# the limits are far: one CPU of a high number takes `top` 25 MB, but with ASan, and 46 keys pressed, 6 s and over 1 GB
	# shellcheck disable=SC2086
	if "$out/$name" -seed=$((seed % 4294967295 + 1)) -max_total_time="$seconds" -max_len=16384 -timeout=90 -rss_limit_mb=3072 -print_final_stats=1 \
		-artifact_prefix="$out/$name-" "$@" "$out/new_$name" $corpus > "$out/$name.log" 2>&1; then
		echo "$name: $(grep -E 'cov:' "$out/$name.log" | tail -n 1)"
		grep -E 'number_of_executed_units|average_exec|peak_rss' "$out/$name.log"
		return 0
	fi
	tell_failure "$name"
	return 1
}

# replay NAME COUNT CORPUS[ CORPUS]: what it tried when it died is named in the last line of its log
replay() {
	local name=$1 cnt=$2 files program=build/asan/tests/fuzz/replay_$1
	[[ $name == reused ]] && program=build/tests/fuzz/replay_commands
	mapfile -t files < <(find $3 -type f | sort)
	if "$program" "$cnt" "${files[@]}" 2> "$out/$name.log" > /dev/null < /dev/null; then
		echo "$name: $(tail -n 1 "$out/$name.log")"
		return 0
	fi
	echo "no input ends $name; this one did: $(grep -aE "^($(IFS='|' && echo "${files[*]}"))(, mutation [0-9]+)?$" "$out/$name.log" | tail -n 1)"
	grep -aE -A 12 -m 1 'ERROR: |runtime error: ' "$out/$name.log" || tail -n 12 "$out/$name.log"
	return 1
}

# run NAME COUNT SECONDS [OPTION]: this target if it was asked for, beside others, as many at a time as there are CPUs
run() {
	local name=$1 cnt=$2 seconds=$3
	shift 3
	[[ -z ${targets// /} || $targets == *" $name "* ]] || return 0
	(($(jobs -rp | wc -l) < $(nproc))) || wait -n
	names+=("$name")
	rm -f "$out/$name.passed"
	if [[ -n $long ]]; then
		{ fuzz "$name" "$seconds" "$(seeds_of "$name")" "$@" && touch "$out/$name.passed"; } > "$out/$name.out" 2>&1 &
	else
		{ replay "$name" "$cnt" "$(seeds_of "$name")" && touch "$out/$name.passed"; } > "$out/$name.out" 2>&1 &
	fi
}

third=$(((seconds + 2) / 3)) quarter=$(((seconds + 3) / 4)) names=()
run read 50 "$seconds"
run export 50 $third -close_fd_mask=3
run lib 20 $third -close_fd_mask=3
run top 10 $third -close_fd_mask=3
# a whole session is larger than most inputs are
run vmcore 50 $third -close_fd_mask=3 -max_len=98304
if [[ -n $long ]]; then
	long='' FR_ONE=1 FR_FIRST=${FR_FIRST:-$((seed % 100000 * 40000 + 1))} run commands "${FR_COMMANDS:-8000}" 0
else
	FR_ONE=1 run commands 2 0
	# ASan gives no address twice; without it, what one file leaves behind may be found where another one's is
	FR_ONE=1 run reused 3 0
fi
run text 500 $quarter
run format 500 $quarter
run elf 500 $quarter
wait
for name in "${names[@]}"; do
	if [[ -e $out/$name.passed ]]; then ((++passed)); else ((++failed)) && echo "FAIL $name; again: ${long:+FR_LONG=1 FR_SEED=$seed }tests/fuzz/run.sh $name"; fi
	cat "$out/$name.out"
done
echo "$passed passed, $failed failed, 0 skipped"
((!failed))
