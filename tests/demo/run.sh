#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Record this host while it works, let a program crash, and show its last milliseconds. `make demo` runs it, as root.
set -eu
cd "$(dirname "$0")/../.."
flightrec=build/flightrec
out=build/demo
file=$out/crash.flight
name=demo
export FLIGHTREC_PAGER=cat # one command follows the other

if ((EUID)); then
	echo "the demo records with BPF and needs root: sudo make demo" >&2
	exit 1
fi
mkdir -p $out/work
rm -f $file
if [[ -t 1 ]]; then bold=$'\e[1m' plain=$'\e[0m'; else bold='' plain=''; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() {
	local arg line='$ flightrec'
	for arg in "$@"; do
		[[ $arg == *[\ \"]* ]] && line+=" '$arg'" || line+=" $arg"
	done
	say "$line"
	$flightrec "$@"
}

workers=()
end_work() {
	((${#workers[@]})) || return 0
	kill "${workers[@]}" 2> /dev/null || true
	wait "${workers[@]}" 2> /dev/null || true
	workers=()
}
finish() {
	end_work
	$flightrec stop -n $name > /dev/null 2>&1 || true
}

# Real work: compiling, short processes, writing to the disk. It ends by itself if nobody stops it.
compile() {
	while ((SECONDS < 60)); do
		gcc -O2 -Ibpf -Iuser -c user/base/text/units.c -o $out/work/units.o
		/bin/true
	done
}
write_disk() {
	while ((SECONDS < 60)); do
		dd if=/dev/zero of=$out/work/data bs=64k count=64 conv=fsync status=none
		sleep 0.005
	done
}

gcc -O1 -g -Wall -Wextra -pthread tests/demo/crash.c -o $out/crash
$flightrec stop -n $name > /dev/null 2>&1 || true # left by a demo that was interrupted
trap finish EXIT
show record --detach -n $name
compile &
workers+=($!)
write_disk &
workers+=($!)
sleep 2
say "\$ $out/crash"
set +e
{ (ulimit -c 0 && exec $out/crash); } 2> /dev/null
status=$?
set -e
echo "exit status $status: killed by signal $((status - 128))"
show dump -n $name -o $file
end_work
show stop -n $name
trap - EXIT
show info $file

# Where the crash is in the file: SIGSEGV is delivered to our program.
death=$($flightrec replay $file --json -f 'event == "signal_deliver" && sig == 11 && comm ~ "crash*"' | tail -n 1)
ts=$(sed -nE 's/.*"ts": ?([0-9]+).*/\1/p' <<< "$death")
if [[ -z $ts ]]; then
	echo "the recording does not hold the crash" >&2
	exit 1
fi
# The end: its process is gone. On a busy machine others may run before.
gone=$($flightrec replay $file --json -f "event == sched_process_exit && group_dead == 1 && comm ~ \"crash*\" && ts > $ts" | tail -n 1)
gone=$(sed -nE 's/.*"ts": ?([0-9]+).*/\1/p' <<< "$gone")
# The beginning: its worker is woken for the last time. It may have waited long for a CPU, or have left it since.
woken=$($flightrec replay $file --json \
	-f "event == sched_waking && comm == \"crash\" && target_comm == \"crash-worker\" && ts < $ts" | tail -n 1)
woken=$(sed -nE 's/.*"ts": ?([0-9]+).*/\1/p' <<< "$woken")
since=$((ts - 10000000)) until=$((${gone:-$ts} + 100000))
[[ -z $woken ]] || ((since <= woken - 100000)) || since=$((woken - 100000))
say "The program's last $(((ts - since) / 1000000)) ms: its switches, wakeups, signals, and the end"
show replay $file --since $since --until $until -f 'comm ~ "crash*" || next_comm ~ "crash*" || target_comm ~ "crash*"'
say "What every CPU did in the last 0.5 ms before"
show replay $file --since $((ts - 500000)) --until $((ts + 200000))

cat << END

${bold}Next${plain}
  $flightrec replay $file --since -50ms                all CPUs, 50 ms before the crash and on
  $flightrec replay $file --life                       births, names, deaths, fatal signals
  $flightrec replay $file --json | head                for programs
  $flightrec verify $file                              is every byte sound?
  $flightrec events                                                    what can be recorded and asked for
  $flightrec record --detach -e syscall --comm 'sshd*'                 record this host, with sshd's system calls
END
