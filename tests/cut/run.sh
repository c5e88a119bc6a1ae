#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# cut, merge and diff, compared with the same operations in Python on `replay --json --pos`. The snapshots are made up. No root, no BPF.
set -u
cd "$(dirname "$0")/../.." || exit
export TZ=UTC LC_ALL=C
flightrec=${FLIGHTREC:-$PWD/build/flightrec}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0

make -s build/tests/cut/make{,_tasks} && build/tests/cut/make "$tmp" && build/tests/cut/make_tasks "$tmp/tasks.flight" || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
for test in $(grep -oP '^def \K((cut|merge|diff|lost)_\w+|damaged)(?=\(\))' tests/cut/check_*.py); do
	python3 -B "${test%%:*}" "$flightrec" "$tmp" "${test#*:}" > "$tmp/log" 2>&1
	case $? in
	0) ((passed++)) ;;
	77) ((skipped++)) && true; echo "SKIP ${test#*:}: $(tail -n 1 "$tmp/log")" ;;
	*) ((failed++)) && true; echo "FAIL ${test#*:}"; tail -n 6 "$tmp/log" | cut -c 1-600 | sed 's/^/    /' ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
((passed && !failed))
