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

# What a file says of processes is no JSON: a number that goes on in the next line.
broken_procs() {
	printf '%s\n' 'fact boot_id b' 'horizon 0 0' 'process 100 1 0 1 p' 'proc {"pid":' 'proc 5}' 'proc {"start_ns":7,"pid":8}' \
		'event 1000 0 sched_switch 0 next_pid=100 prev_state=0' | build/tests/rehearse/make "$tmp/procs.flight"
}
# Rows of the life and stack tiers before and behind all others.
tiers_apart() {
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'horizon 0 0' 'horizon 1 0' 'thread 7 7 1 seven' 'thread 8 8 1 eight' \
		'event 100000000000000 0 stack 0 stack_id=5' 'event 100000001000000 1 sched_process_exit 8 exit_code=0' \
		'event 100000002000000 0 sched_switch 0 next_pid=7 prev_state=0' 'event 100000003000000 1 sched_switch 0 next_pid=8 prev_state=0' \
		'event 100000004000000 1 sched_waking 8 target_pid=7' 'event 100000005000000 0 sched_waking 7 target_pid=8' \
		'event 100000006000000 1 sched_waking 8 target_pid=7' 'event 100000007000000 0 cpu_sample 7 ip=1 user=1 ustack_id=6' \
		'event 100000008000000 1 sched_process_exit 8 exit_code=0' 'event 100000009000000 0 sched_waking 7 target_pid=8' \
		'event 100000011000000 1 sched_process_exit 9 exit_code=0' 'event 100000021000000 1 stack 0 stack_id=6' | build/tests/rehearse/make "$tmp/tiers.flight"
}
# States at the end: of tasks 7, 8, 9 and 12 only switches know since when, two of 12, the later one on the CPU that stands first in the
# file; the table knows it of 10; nothing does of 11.
still_states() {
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'fact states seen=6;taken=6' 'horizon 0 0' 'horizon 1 0' \
		'thread 7 7 1 asleep' 'thread 8 8 1 runs' 'thread 9 9 1 queued' 'thread 10 10 1 told' 'thread 11 11 1 unknown' 'thread 12 12 1 twice' \
		'event 1000000000 0 sched_switch 7 next_pid=9 prev_state=1' 'event 1100000000 1 sched_switch 12 next_pid=10 prev_state=1' \
		'event 1200000000 1 sched_switch 10 next_pid=0 prev_state=1' 'event 1300000000 0 sched_switch 9 next_pid=12 prev_state=1' \
		'event 1400000000 0 sched_switch 12 next_pid=8 prev_state=2' 'event 1500000000 1 sched_waking 0 target_pid=9' \
		'event 1900000000 0 sys_enter 8 id=39' 'event 1950000000 0 sys_enter 8 id=39' \
		'state 7 2000000000 120 0 1 35 1 2 3 0 0' 'state 8 2000000000 120 0 runs' 'state 9 2000000000 120 0 0 -1' \
		'state 10 2000000000 120 0 1 35 1 2 3 1150000000 0' 'state 11 2000000000 120 0 1 35 1 2 3 0 0' \
		'state 12 2000000000 120 0 2 35 1 2 3 0 0' | build/tests/rehearse/make "$tmp/still.flight"
}
make -s build/tests/cut/make{,_tasks,_names} build/tests/rehearse/make && tiers_apart && build/tests/cut/make "$tmp" && build/tests/cut/make_tasks "$tmp/tasks.flight" && build/tests/cut/make_names "$tmp/names.flight" one && build/tests/cut/make_names "$tmp/names2.flight" two && broken_procs && still_states || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
for test in $(grep -oP '^def \K((cut|merge|diff|lost)_\w+|damaged)(?=\(\))' tests/cut/check_*.py); do
	/usr/bin/python3 -B "${test%%:*}" "$flightrec" "$tmp" "${test#*:}" > "$tmp/log" 2>&1
	case $? in
	0) ((passed++)) ;;
	77) ((skipped++)) && true; echo "SKIP ${test#*:}: $(tail -n 1 "$tmp/log")" ;;
	*) ((failed++)) && true; echo "FAIL ${test#*:}"; tail -n 6 "$tmp/log" | cut -c 1-600 | sed 's/^/    /' ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
((passed && !failed))
