#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The unit tests: as they are, with AddressSanitizer and UBSan, and under valgrind. No root.
set -u
cd "$(dirname "$0")/../.." || exit
passed=0 failed=0 skipped=0

ok() { ((passed++)); }
bad() {
	echo "FAIL $1"
	sed 's/^/    /' "$2"
	((failed++))
}

# run NAME COMMAND...: one program is one test; cmocka's own counts are in its output
run() {
	local name=$1 out
	shift
	out=$(mktemp)
	if "$@" > "$out" 2>&1; then ok; else bad "$name" "$out"; fi
	grep -h 'SKIPPED' "$out" | sed "s/^/SKIP $name: /"
	rm -f "$out"
}

run "make unit" make -s -k unit
run "make asan" make -s -k asan
for src in tests/unit/test_*.c; do
	test=$(basename "$src" .c)
	run "$test" "build/tests/unit/$test"
	run "$test, sanitized" env ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 "build/asan/tests/unit/$test"
	if ! command -v valgrind > /dev/null; then
		echo "SKIP $test under valgrind: not installed"
		((skipped++))
	else
		run "$test, valgrind" valgrind -q --error-exitcode=99 --leak-check=full "build/tests/unit/$test"
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
((!failed))
