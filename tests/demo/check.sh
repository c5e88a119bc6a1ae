#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The demo shows what it promises, with colours only on a terminal, and leaves nothing behind.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/check.sh

if ! why=$(build/flightrec doctor 2>&1); then
	grep -E '^(MISSING|missing|no)' <<< "$why"
	echo "SKIP demo: no session can be recorded here"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi

has() { grep -qE "$1" "$tmp/out"; }
no_colour() { ! grep -q $'\e' "$1"; }
colour() {
	env -u NO_COLOR TERM=xterm script -qec "build/flightrec replay build/demo/crash.flight --life" /dev/null > "$tmp/tty"
	grep -q $'\e\[' "$tmp/tty"
}
nothing_left() {
	local left
	left=$(find /sys/fs/bpf/flightrec -maxdepth 1 -name demo 2> /dev/null)
	[[ -z $left ]] && [[ -z $(find build/demo -name '.*tmp*') ]] && ! pgrep -f 'record --detach -n demo'
}

check "the demo succeeds" bash -c 'bash tests/demo/run.sh > "$1/out" 2>&1 < /dev/null' - "$tmp"
check "the fatal signal is shown" has ' crash-worker +[0-9]+ signal_deliver .*fatal=1 .*sig=SIGSEGV .*addr=0x8 '
check "the program's end is shown" has ' crash +[0-9]+ sched_process_exit +exit_code=SIGSEGV.* group_dead=1'
# On a busy machine others may have had the CPU in between.
check "what it did before is shown: its switches" has ' sched_switch +prev_comm=.* next_comm=crash-worker'
check "and what it was woken for" has ' crash +[0-9]+ sched_waking +waker=task target_comm=crash-worker'
check "what to type next is shown" has '^Next'
check "the snapshot is sound" build/flightrec verify build/demo/crash.flight
check "zstd agrees" zstd -qt build/demo/crash.flight
check "no colour in a file" no_colour "$tmp/out"
check "colour on a terminal" colour
check "nothing is left behind" nothing_left
((failed)) && tail -n 40 "$tmp/out"
finish
