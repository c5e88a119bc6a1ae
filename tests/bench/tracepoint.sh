#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What one tracepoint costs, by the kernel's own statistics of BPF: recorded, left by a condition, held back by a rate. As root.
set -eu
fr=${FLIGHTREC:-build/flightrec}
name=tpcost-$$
was=$(cat /proc/sys/kernel/bpf_stats_enabled)
trap '$fr stop -n $name >/dev/null 2>&1 || :; echo $was >/proc/sys/kernel/bpf_stats_enabled' EXIT
echo 1 >/proc/sys/kernel/bpf_stats_enabled
for how in "" " if pid == 1 && tid == 2" " @1/h"; do
	$fr record -n $name -p minimal -e -sched -e "tp:syscalls:sys_enter_getppid$how" -o /tmp --unattended 2>/dev/null
	id=$(for link in /sys/fs/bpf/flightrec/$name/link-tp-*; do bpftool -j link show pinned "$link"; done | jq -r .prog_id)
	before=$(bpftool -j prog show id "$id" | jq -r '"\(.run_cnt // 0) \(.run_time_ns // 0)"')
	python3 -S -c 'import os
for i in range(1000000): os.getppid()'
	after=$(bpftool -j prog show id "$id" | jq -r '"\(.run_cnt) \(.run_time_ns)"')
	echo "$before $after" | awk -v how="$how" '{ printf "%-28s %d runs, %.0f ns each\n", how ? how : " recorded", $3 - $1, ($4 - $2) / ($3 - $1) }'
	$fr stop -n $name >/dev/null
done
