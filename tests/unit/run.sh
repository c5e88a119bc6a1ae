#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The unit tests: as they are, and with AddressSanitizer and UBSan; with the argument valgrind, under valgrind instead. No root.
set -u
cd "$(dirname "$0")/../.." || exit
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0 skipped=0 ways=${1:-}

# run NAME COMMAND...: one program is one test; cmocka's own counts are in its output. Prints ok, or FAIL with the output, and SKIP with the
# reason for each test in it that could not run, which cmocka's exit status does not show
run() {
	local name=$1 out
	shift
	out=$(mktemp -p "$dir")
	if "$@" > "$out" 2>&1; then
		echo "ok $name"
	else
		echo "FAIL $name; again: $*"
		sed 's/^/    /' "$out"
	fi
	awk -v program="$name" '
		sub(/^skipped: /, "") { why = $0 }
		/^\[ *SKIPPED *\] [a-z0-9_]+$/ && !told[$NF]++ { print "SKIP " program ", " $NF ": " why; why = "" }' "$out"
	rm -f "$out"
}

# program TEST WAY: run it in this way
program() {
	case $2 in
	valgrind) run "$1, valgrind" valgrind -q --error-exitcode=99 --leak-check=full "build/tests/unit/$1" ;;
	plain) run "$1" "build/tests/unit/$1" ;;
	sanitized) run "$1, sanitized" env ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 "build/asan/tests/unit/$1" ;;
	esac
	echo "end of $1"
}

# tell LOG: print what failed or was skipped, and count all
tell() {
	grep -v -e '^ok ' -e '^end of ' "$1"
	((passed += $(grep -c '^ok ' "$1"), failed += $(grep -c '^FAIL ' "$1"), skipped += $(grep -c '^SKIP ' "$1")))
}

if [[ $ways == valgrind ]] && ! command -v valgrind > /dev/null; then
	echo "SKIP the unit tests under valgrind: it is not installed"
	echo "0 passed, 0 failed, $(ls tests/unit/test_*.c | wc -l) skipped"
	exit 0
fi
{
	run "make unit" make -s -k "-j$(nproc)" unit
	[[ -n $ways ]] || run "make asan" make -s -k "-j$(nproc)" asan
} > "$dir/make"
tell "$dir/make"

# Runs twice as many at a time as there are CPUs, as several mostly wait: those first. Prints the results in order.
most=$((2 * $(nproc)))
[[ $ways == valgrind ]] && most=$(nproc)
tests=$(basename -s .c -a tests/unit/test_*.c)
wait_long=$(grep -xE 'test_(errand|ctl|incfile|recover_incidents)' <<< "$tests")
for test in $wait_long $(grep -vxF "$wait_long" <<< "$tests"); do
	for way in ${ways:-plain sanitized}; do
		(($(jobs -rp | wc -l) < most)) || wait -n
		program "$test" "$way" > "$dir/$test.$way" &
	done
done
wait
for test in $tests; do
	for way in ${ways:-plain sanitized}; do
		tell "$dir/$test.$way"
		grep -q "^end of $test$" "$dir/$test.$way" || { echo "FAIL $test, $way: it did not come to its end"; ((failed++)); }
	done
done
echo "$passed passed, $failed failed, $skipped skipped"
((!failed))
