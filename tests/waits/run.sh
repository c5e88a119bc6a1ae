#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What readers make of long waits (event wait): a history made by hand, in which each wait is known. No root.
set -u
cd "$(dirname "$0")/../.." || exit
export TZ=UTC LC_ALL=C
export FLIGHTREC=${FLIGHTREC:-$PWD/build/flightrec}
unset COLUMNS NO_COLOR
. tests/check.sh
make -s build/tests/{rehearse/make,report/make_load} || exit
snap=$tmp/waits.flight

# status N COMMAND...: run the command with its output in $tmp/out and $tmp/err; its exit status has to be N
status() {
	local want=$1 got
	shift
	"$@" > "$tmp/out" 2> "$tmp/err" < /dev/null
	got=$?
	((got == want)) || { echo "exit status $got, not $want: $*"; cat "$tmp/err"; return 1; }
}
report() { "$FLIGHTREC" report "$@"; }
prints() { grep -qE -- "$1" "$tmp/out" || { echo "not printed: $1"; return 1; }; }
is_silent() { ! grep -nE -- "$1" "$tmp/out"; }
holds() { jq -e "$@" "$tmp/out" > "$tmp/held" || { echo "does not hold: $*"; return 1; }; }
made() { rm -f "$1" && build/tests/rehearse/make "$1"; }

head_lines() {
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'fact trigger_reason latency' 'fact trigger_pid 100' \
		'fact trigger_tid 101' 'fact trigger_comm worker' 'fact trigger_ts 849500000' 'horizon 0 0' 'horizon 1 0' \
		'process 100 1 0 1 server' 'thread 101 100 1 worker' 'process 200 1 0 1 client' 'process 300 1 0 1 hog' 'process 400 1 0 1 shell'
}
# waited TS TID WAKER_TID QUEUED FIELD...: a task gets CPU 0 from hog, after a wait that this one ended; 300, hog: an interrupt on top of it.
# word: what the waking says, as of its context (1 task, 2 softirq, 3 irq)
waited() {
	local ts=$1 tid=$2 by=$3 queued=$4 woken
	shift 4
	woken=$((ts - 100 - queued))
	[[ $by == 300 || $by == 0 ]] || echo "event $((woken - 500)) 1 sched_switch 0 next_pid=$by prev_state=0"
	[[ $by == 0 ]] || echo "event $woken $((by != 300)) sched_waking $by target_pid=$tid target_cpu=0 prio=120 waker=${word:-1}"
	[[ $by == 300 || $by == 0 ]] || echo "event $((woken + 500)) 1 sched_switch $by next_pid=0 prev_state=1"
	echo "event $((ts - 100)) 0 sched_switch 300 next_pid=$tid prev_state=256"
	echo "event $ts 0 wait $tid queued=$queued $*"
	echo "event $((ts + 1000)) 0 sched_switch $tid next_pid=300 prev_state=1"
}
# A lock that server held, a log that it synced, timers and sockets. Client has woken hog, which from then on is only interrupted; server's
# softirq delivers to worker in its own call.
{
	head_lines
	printf '%s\n' 'fact wait_min_ns 1000000' 'event 50000 1 sched_switch 0 next_pid=200 prev_state=0' 'event 51000 1 sched_waking 200 target_pid=300' \
		'event 51500 1 sched_switch 200 next_pid=0 prev_state=1' 'event 52000 0 sched_switch 0 next_pid=300 prev_state=0'
	word=3 waited 100000000 100 300 1000000 id=230 off=51000000 blocked=50000000 state=1 waker=3
	word=2 waited 200000000 100 300 2000 id=74 arg0=5 off=20000000 blocked=19998000 state=2 waker=2 object=ext4:/var/wal/1
	word=2 waited 300000000 100 300 2000 id=74 arg0=5 off=30000000 blocked=29998000 state=2 waker=2 object=ext4:/var/wal/1
	waited 400000000 200 0 5000000 id=-1 waited_in=1 off=5000000 state=256
	word=0 waited 500000000 200 300 2000 id=45 arg0=3 off=4000000 blocked=3998000 state=1 object=tcp:127.0.0.1:4000-127.0.0.1:80
	waited 600000000 400 200 2000 id=61 arg0=200 off=3000000 blocked=2998000 state=1 waker=1 waker_pid=200
	word=2 waited 800000000 101 100 1000000 id=202 arg0=0x5000 off=700000000 blocked=699000000 state=1 waker=1 waker_pid=100 owner_pid=100 polled_fd=-1
	word=3 waited 850000000 101 300 2000 id=7 arg1=3 off=2000000 blocked=1998000 state=1 waker=5
} > "$tmp/lines"
made "$snap" < "$tmp/lines" || exit
# The same without records: only the wakings tell.
untold=$tmp/untold.flight
grep -v ' wait ' "$tmp/lines" | made "$untold" || exit

whose_waits() {
	status 0 report --json "$snap" || return
	holds '.long_waits | .min_ns == 1000000 and .task.count == 2 and .process.count == 5 and .all.count == 8' &&
		holds '.long_waits | [.task, .process, .all | .off_ns] == [702000000, 803000000, 815000000]' &&
		holds '.long_waits.all | .off_ns == .blocked_ns + .queued_ns and .queued_ns == 7010000' &&
		holds '[.long_waits.process.longest[] | .off_ns] == [700000000, 51000000, 30000000, 20000000, 2000000]'
}
# Two syncs of one file are one sum; every other is of its own.
sums_by_four() {
	status 0 report --json "$snap" || return
	holds '[.long_waits.all.sums[] | [.comm, .call, .about, .waker, .waker_comm, .count, .off_ns]] == [
		["worker", "futex", "futex 0x5000", "task", "server", 1, 700000000],
		["server", "clock_nanosleep", "a timer", "irq", null, 1, 51000000],
		["server", "fsync", "ext4:/var/wal/1", "softirq", null, 2, 50000000],
		["client", null, null, null, null, 1, 5000000],
		["client", "recvfrom", "tcp:127.0.0.1:4000-127.0.0.1:80", "unknown", null, 1, 4000000],
		["shell", "wait4", "child 200", "task", "client", 1, 3000000],
		["worker", "poll", "3 descriptors", "timer", null, 1, 2000000]]' || { jq -c '.long_waits.all.sums[]' "$tmp/out"; return 1; }
	holds '.long_waits.all.sums[2] | .longest_ns == 30000000 and .longest_ts == 300000000'
}
# Another program makes all figures of the report from the rows again.
figures() {
	/usr/bin/python3 tests/report/check.py "$untold" && /usr/bin/python3 tests/report/check.py "$untold" --task 101 || return
	/usr/bin/python3 tests/report/check.py "$snap" && /usr/bin/python3 tests/report/check.py "$snap" --task 200
}
# Who held the lock can be asked for.
held() {
	status 0 "$FLIGHTREC" replay -f 'owner_comm == "server"' "$snap" && [[ $(wc -l < "$tmp/out") == 1 ]] &&
		prints 'worker +101 wait .* owner_pid=100 owner_comm=server ' || return
	status 0 report --json "$snap" && holds '.long_waits.task.longest | map(select(.owner_tid)) == map(select(.call == "futex")) and length > 0'
}
# The trigger's task comes first, then its process, then all.
in_this_order() {
	status 0 report "$snap" && grep -nE '^(It|Its process|Which tasks) waited longest' "$tmp/out" | cut -d: -f2 | cut -d' ' -f1-2 > "$tmp/page"
	printf '%s\n' 'It waited' 'Its process' 'Which tasks' | diff - "$tmp/page" || return
	prints '^  waits +8 of at least WaitMin, 1 ms; shorter ones are not known; all of the last 750 ms$' &&
		prints '^  -   49.5 ms    700 ms      1 ms  S +worker/101 +futex +server/100$' && prints '^ +on futex 0x5000 held by server/100$' &&
		prints ' server/100 +clock_nanosleep +an interrupt or timer$' && prints ' client +recvfrom +an unknown cause$' &&
		prints ' client +user code +nobody: runnable$'
}
# What a filter or a window leaves out is in no figure.
as_asked() {
	status 0 report --json -f 'blocked > 25ms && object ~ "*wal*"' "$snap" && holds '.long_waits.all | .count == 1 and .off_ns == 30000000 and .sums[0].count == 1' &&
		status 0 report --json --since 450ms "$snap" && holds '.long_waits.all.count == 4' &&
		status 0 report --json --top 2 "$snap" && holds '.long_waits.all | (.sums | length) == 2 and (.longest | length) == 2 and .count == 8' &&
		status 0 report --json --task 200 "$snap" && holds '.long_waits | .task.count == 2 and .process.count == 2'
}
# The fields of a wait have the names of paired values of switches.
replay_finds() {
	local expr cnt
	while read -r cnt expr; do
		status 0 "$FLIGHTREC" replay --count -f "$expr" "$snap" && [[ $(< "$tmp/out") == "$cnt" ]] || { echo "$expr: $(< "$tmp/out"), not $cnt"; return 1; }
	done <<- 'END'
		8 event == wait
		2 event == wait && blocked > 50ms || event == wait && blocked == 50ms
		1 event == wait && blocked > 25ms && object ~ "*wal*"
		1 event == wait && waker == irq
		1 event == wait && waker == timer && waker_pid == 0
		1 event == wait && waker == task && waker_pid == 100
		2 event == wait && id == fsync
		1 event == wait && queued > 1ms
	END
	status 0 "$FLIGHTREC" replay -f 'event == wait && waker == timer' "$snap" && prints ' waker=timer' && is_silent 'waker_|<\.\.\.>' || return
	status 0 "$FLIGHTREC" replay -f 'event == wait && object ~ "*wal*"' "$snap" && prints 'id=fsync .*state=D .*waker=softirq .*object="?ext4:/var/wal/1' || return
	status 0 "$FLIGHTREC" replay --json -f 'event == wait && waker == task' "$snap" && holds -s 'map([.waker_pid, .blocked]) == [[200, 2998000], [100, 699000000]]' &&
		status 0 "$FLIGHTREC" export --to csv -f 'event == wait' "$snap" && prints '^[^,]*' && [[ $(grep -c 'ext4:/var/wal/1' "$tmp/out") == 2 ]]
}
# None recorded is not none.
not_recorded() {
	head_lines | made "$tmp/none.flight" && status 0 report --json "$tmp/none.flight" && holds 'has("long_waits") and .long_waits == null' &&
		status 0 report "$tmp/none.flight" && prints '^  waits +not recorded: record -e wait$' && is_silent 'waited longest' || return
	{ head_lines && echo 'fact wait_min_ns 5000000' && echo 'fact waits written=0;lost=1;over=2;idle=7;held=0'; } | made "$tmp/zero.flight" &&
		status 0 report "$tmp/zero.flight" && prints '^  waits +0 of at least WaitMin, 5 ms; shorter ones are not known, nor 3 longer ones since the session began$' &&
		status 0 report --json "$tmp/zero.flight" && holds '.long_waits | .min_ns == 5000000 and .all.count == 0 and .all.sums == []'
}

# Of a file of two tasks: one in D, since 900 us, and one that has a CPU. What is not known is null, and a file without states says so.
not_ended() {
	status 0 report --json tests/files/golden/all.flight && holds '.still_waiting | [.seen, .taken, .brief, .many, .late, .gone] == [7, 2, 1, 1, 1, 2]' &&
		holds '.still_waiting.tasks[0] | [.tid, .pid, .comm, .state_name, .at_ns - .since_ns, .since_from, .in, .call, .id, .args, .object, .about, .woken_ns, .waker,
			.waker_tid, .waker_comm, .cpu, .prio, .policy, .cgroup_id, .kernel] == [100, 100, "one", "D", 900000, "table", "call", "read", 0,
			[7, 140724603453440, 4096, 4, 5, 6], "ext4:/srv/wal", "ext4:/srv/wal", 900000, "task", 101, "two; 2", 1, 120, 0, 1, ["0x401020", "0x401100", "0x7f0000001234"]]' &&
		holds '.still_waiting.tasks[1] | [.tid, .state_name, .runs, .since_ns, .in, .call, .object, .woken_ns, .waker, .prio, .policy, .kernel] == [101, "R", true, null, null,
			null, null, null, null, 98, 1, null]' || { jq -c .still_waiting "$tmp/out"; return 1; }
	status 0 report tests/files/golden/all.flight && prints '^Still waiting  when it was taken: 2 tasks looked at, 1 in D, 1 runnable; 5 others not$' &&
		prints '^    900 us  D   one/100 +read +$' && prints '^ +on ext4:/srv/wal, in 0x401020 < 0x401100 < 0x7f0000001234$' || { cat "$tmp/out"; return 1; }
	status 0 report --json "$snap" && holds '.still_waiting == null' && status 0 report "$snap" && prints '^  states +of tasks are not in this file$'
}

# The wakings of six waits are events of hog, on top of which an interrupt came: nobody says that hog woke anyone.
nobody_blames_the_bystander() {
	status 0 report --json --task 101 "$snap" || return
	holds '[.waits[] | [.comm, .by, .waker_comm, .count]] | sort == [["client", "unknown", null, 1], ["hog", "task", "client", 1], ["server", "irq", null, 1],
		["server", "softirq", null, 2], ["shell", "task", "client", 1], ["worker", "task", "server", 1], ["worker", "timer", null, 1]]' || { jq -c '.waits[]' "$tmp/out"; return 1; }
	holds '[.focus.states[] | select(.did == "woken") | [.by, .waker_tid]] == [["task", 100], ["timer", null]]' || return
	holds '[.tasks[] | select(.wakes > 0) | [.comm, .wakes]] | sort == [["client", 2], ["server", 1]]' || return
	# the chain ends there: nobody knows what the softirq was there for
	status 0 report --json --task 100 --until 250ms "$snap" && holds '[.focus.woken_by[].by] == ["softirq"]' || return
	for what in 'report --top 0 --task 100' 'report --top 0 --task 101' 'report --top 0 --task 200'; do
		status 0 "$FLIGHTREC" $what "$snap" && is_silent '(woken by|<-) +hog' && prints '(woken by|<-) +(an interrupt or|a) timer|(woken by|<-) +an unknown cause' || return
	done
	status 0 "$FLIGHTREC" replay --pairs "$snap" && is_silent 'waker=300' && prints ' waker=100( |$)' && prints ' waker=200( |$)'
}
# Of a sleep that has no record, the waking's own word tells the context: no task is named unless it is `task`.
nor_without_a_record() {
	status 0 report --json --task 101 "$untold" || return
	holds '[.waits[] | [.comm, .by, .waker_comm, .count]] | sort == [["client", "unknown", null, 1], ["hog", "task", "client", 1], ["server", "irq", null, 1],
		["server", "softirq", null, 2], ["shell", "task", "client", 1], ["worker", "irq", null, 1], ["worker", "softirq", null, 1]]' || { jq -c '.waits[]' "$tmp/out"; return 1; }
	holds '[.focus.states[] | select(.did == "woken") | [.by, .waker_tid]] == [["softirq", null], ["irq", null]]' &&
		holds '[.tasks[] | select(.wakes > 0) | [.comm, .wakes]] == [["client", 2]]' &&
		status 0 report --json --task 100 --until 250ms "$untold" && holds '[.focus.woken_by[].by] == ["softirq"]' || return
	status 0 report --top 0 --task 101 "$untold" && is_silent '(woken by|<-) +(hog|server)' && prints 'woken by an interrupt or timer' || return
	status 0 "$FLIGHTREC" replay --pairs "$untold" && is_silent ' waker=(300|100)' && prints ' waker=200( |$)' || return
	status 0 "$FLIGHTREC" top --once --size 160x60 --panel waits "$untold" && is_silent '^ *[a-z]+ [0-9]+ +(hog 300|server 100)' && prints 'worker 101 +a softirq' || return
	status 0 "$FLIGHTREC" export --to perfetto -o "$tmp/untold.pftrace" "$untold" && /usr/bin/python3 tests/waits/perfetto.py "$tmp/untold.pftrace" > "$tmp/out" &&
		holds '.wakings | sort == [[100, 8], [100, 16], [100, 16], [101, 8], [101, 16], [200, 0], [300, 0], [400, 0]]' || { cat "$tmp/out"; return 1; }
	command -v node > /dev/null || return 0
	status 0 "$FLIGHTREC" export --to html -o "$tmp/untold.html" "$untold" && status 0 node tests/view/model.mjs "$tmp/untold.html" &&
		holds '[.wakes[] | [.[1], .[2]]] | sort == [[200, 300], [200, 400]]'
}
# Arrows of pages are the wakings that tasks did, by another program: of these histories, and of one with wakings of all kinds in handlers.
arrows() {
	local file
	command -v node > /dev/null || { echo "node is not installed"; return 77; }
	build/tests/report/make_load "$tmp/load.flight" || return
	for file in waits untold load; do
		status 0 "$FLIGHTREC" export --to html -o "$tmp/$file.arrows.html" "$tmp/$file.flight" && node tests/view/model.mjs "$tmp/$file.arrows.html" > "$tmp/model" &&
			/usr/bin/python3 tests/view/wakes.py "$tmp/$file.flight" "$tmp/model" || return
	done
}
# Where handlers have events, they are named: an interrupt by its device.
handlers_have_names() {
	{ head_lines && printf '%s\n' 'event 1000 0 sched_switch 0 next_pid=101 prev_state=0' 'event 2000 0 sched_switch 101 next_pid=300 prev_state=1' \
		'event 3000 0 irq_handler_entry 300 irq=33 name=virtio1-req.0' 'event 3100 0 sched_waking 300 target_pid=101 waker=3' 'event 3200 0 irq_handler_exit 300 irq=33 ret=1' \
		'event 4000 0 sched_switch 300 next_pid=101 prev_state=256' 'event 900000000 0 cpu_sample 101 ip=1 user=1'; } | made "$tmp/irq.flight" || return
	status 0 report --task 101 "$tmp/irq.flight" && prints '<- woken by irq virtio1-req.0, ran' && prints 'is woken by irq virtio1-req.0$' && is_silent '(woken by|<-) +hog' || return
	status 0 report --json --task 101 "$tmp/irq.flight" && holds '[.focus.woken_by[] | [.by, .irq]] == [["irq", 33]]' && /usr/bin/python3 tests/report/check.py "$tmp/irq.flight" --task 101
}
top_says_so() {
	status 0 "$FLIGHTREC" top --once --size 160x60 --panel waits --keys f "$snap" && is_silent '^ *[a-z]+ [0-9]+ +hog 300' && prints 'worker 101 +server 100' &&
		prints 'worker 101 +a timer' && prints 'client 200 +an unknown cause' || return
	status 0 "$FLIGHTREC" top --once --size 160x60 --panel details --keys f "$snap" && prints 'waited in +poll on 3 descriptors for 2 ms, queued 2 us' && prints 'ended by +a timer'
}
# Blocked time by the call that the record names, with what was queued apart; what has no record is as before.
folded_has_calls() {
	status 0 "$FLIGHTREC" export --to folded --off-cpu "$snap" && prints '^server;\[S\];fsync 199993800$' && prints '^server;\[S\];fsync;\[runnable\] 4000$' &&
		prints '^client;\[S\];recvfrom [0-9]+$' && prints '^worker;\[S\];poll [0-9]+$' && prints '^server;\[S\] [0-9]+$'
}
# Blocked time by program, call and stacks, added up again from the records, of all the file and of its last part.
profile_has_waits() {
	local since
	for since in 1h 500ms; do
		status 0 "$FLIGHTREC" profile --off-cpu --no-symbols --since "$since" --to folded "$snap" && mv "$tmp/out" "$tmp/folded" || return
		"$FLIGHTREC" replay --json "$snap" > "$tmp/rows" && /usr/bin/python3 tests/waits/blocked.py "$tmp/rows" "$since" < "$tmp/folded" || return
	done
	status 0 "$FLIGHTREC" profile --off-cpu --since 1h "$snap" && prints '^7 waits of at least 1 ms that ended then, blocked for [0-9]+ ms;' &&
		prints '^ +699 ms +1 +699 ms  worker in futex$' && prints '^ +50 ms +2 +30 ms  server in fsync$' && is_silent 'user code' || { cat "$tmp/out"; return 1; }
	head_lines | made "$tmp/none.flight" && status 1 "$FLIGHTREC" profile --off-cpu "$tmp/none.flight" && grep -q 'recorded without them: record -e wait' "$tmp/err" &&
		status 2 "$FLIGHTREC" profile --off-cpu --diff "$snap" && status 2 "$FLIGHTREC" profile --off-cpu --json "$snap"
}
diff_by_object() {
	status 0 "$FLIGHTREC" diff --json --window-a 0%..40% --window-b 40%..100% "$snap" &&
		holds '[.long_waits[] | select(.a.count > 0) | [.name, .a.count, .a.ns]] | sort == [["server: clock_nanosleep a timer", 1, 51000000], ["server: fsync ext4:/var/wal/1", 2, 50000000]]' &&
		holds '[.long_waits[] | select(.b.count > 0) | .name] | sort == ["client: recvfrom tcp:127.0.0.1:4000-127.0.0.1:80", "client: user code", "shell: wait4 child 200",
			"worker: futex futex 0x5000", "worker: poll 3 descriptors"]' && status 0 "$FLIGHTREC" diff "$snap" "$tmp/none.flight" && prints '^Long waits by task name, call and object, % of time'
}
# Only waits that both sides would have recorded count; and their tier has a horizon of its own.
diff_of_both() {
	awk '{ for (off = i = 0; ++i <= NF;) if ($i ~ /^off=/) off = substr($i, 5) + 0 } $4 != "wait" || off >= 5000000' "$tmp/lines" |
		sed 's/^fact wait_min_ns .*/fact wait_min_ns 5000000/' | made "$tmp/long.flight" && status 0 "$FLIGHTREC" diff --json "$snap" "$tmp/long.flight" || return
	holds '.a.wait_min_ns == 1000000 and .b.wait_min_ns == 5000000 and ([.long_waits[] | .a.count] | add) == 5 and all(.long_waits[]; .a == .b)' || { jq -c '.a,.b,.long_waits[]' "$tmp/out"; return 1; }
	holds '.a | .complete and .waits_complete and .begin_ns < .wait_begin_ns and .wait_begin_ns == 100000000' || return
	status 0 "$FLIGHTREC" diff "$snap" "$tmp/long.flight" && prints '^   long waits: of at least 5 ms; shorter ones have no record on the other side$' &&
		[[ $(grep -c 'long waits: of at least' "$tmp/out") == 1 ]] && prints "^   long waits: of the last 750 ms$" || { cat "$tmp/out"; return 1; }
	status 0 "$FLIGHTREC" diff --window-a 0%..40% --window-b 40%..100% "$snap" && is_silent 'long waits: of at least' || return
	# 700 ms of 750, which the waits have, and not of the 751 of the window
	status 0 "$FLIGHTREC" diff "$snap" "$snap" && prints '^  worker: futex futex 0x5000 +93.3 +93.3 ' || { cat "$tmp/out"; return 1; }
	status 0 "$FLIGHTREC" diff --window-a 0%..0.05% --window-b 40%..100% "$snap" && prints 'long waits are not complete: some CPU' && is_silent '^  worker: .* new' || { cat "$tmp/out"; return 1; }
}
# One snapshot has the wakings, and another one, of the same boot, the records of the waits that they ended.
other_snapshot_knows() {
	grep -v ' wait ' "$tmp/lines" | made "$tmp/wakings.flight" && grep -v '^event .* sched_' "$tmp/lines" | made "$tmp/records.flight" || return
	set -- "$tmp/wakings.flight" "$tmp/records.flight"
	status 0 "$FLIGHTREC" replay --pairs "$@" && is_silent 'waker=300' && prints ' waker=100( |$)' || return
	status 0 "$FLIGHTREC" export --to perfetto -o "$tmp/both.pftrace" "$@" && /usr/bin/python3 tests/waits/perfetto.py "$tmp/both.pftrace" > "$tmp/out" &&
		holds '.wakings | sort == [[100, 8], [100, 16], [100, 16], [101, 0], [101, 8], [200, 0], [300, 0], [400, 0]]' || { cat "$tmp/out"; return 1; }
}
# Waking by handlers has the kernel's flags of such: 8 hard, 16 soft.
perfetto_has_waits() {
	status 0 "$FLIGHTREC" export --to perfetto -o "$tmp/waits.pftrace" "$snap" && /usr/bin/python3 tests/waits/perfetto.py "$tmp/waits.pftrace" > "$tmp/out" && cat "$tmp/out" &&
		holds '.wakings | sort == [[100, 8], [100, 16], [100, 16], [101, 0], [101, 8], [200, 0], [300, 0], [400, 0]]' &&
		holds '[.slices[] | [.name, .object, ."woken by"]] == [["wait: clock_nanosleep", "a timer", "an interrupt or timer"],
			["wait: fsync", "ext4:/var/wal/1", "a softirq"], ["wait: fsync", "ext4:/var/wal/1", "a softirq"], ["wait: user code", null, "nobody: runnable"],
			["wait: recvfrom", "tcp:127.0.0.1:4000-127.0.0.1:80", "an unknown cause"], ["wait: wait4", "child 200", "client/200"],
			["wait: futex", "futex 0x5000", "server/100"], ["wait: poll", "3 descriptors", "a timer"]]' &&
		holds '[.slices[].ns] == [51000000, 20000000, 30000000, 5000000, 4000000, 3000000, 700000000, 2000000]'
}
view_says_so() {
	command -v node > /dev/null || { echo "node is not installed"; return 77; }
	status 0 "$FLIGHTREC" export --to html -o "$tmp/waits.html" "$snap" || return
	status 0 node tests/view/model.mjs "$tmp/waits.html" && holds '[.wakes[] | [.[1], .[2]]] | sort == [[100, 101], [200, 300], [200, 400]]' && holds '.longWaits["100"] | length == 3'
}

# Where neither the record nor the waking knows, an unknown cause is no task; a waking that says `task` is one's, whatever the record lacks.
view_blames_nobody() {
	command -v node > /dev/null || { echo "node is not installed"; return 77; }
	{
		head_lines && echo 'fact wait_min_ns 1000000'
		printf '%s\n' 'event 95970000 1 sched_waking 300 target_pid=200 target_cpu=0 prio=120 waker=0' 'event 99999900 0 sched_switch 300 next_pid=200 prev_state=256' \
			'event 100000000 0 wait 200 id=45 off=4000000 blocked=4000000 state=1' 'event 100001000 0 sched_switch 200 next_pid=300 prev_state=1' \
			'event 195940000 1 sched_waking 300 target_pid=200 target_cpu=0 prio=120' 'event 199999900 0 sched_switch 300 next_pid=200 prev_state=256' \
			'event 200000000 0 wait 200 id=45 off=4000000 blocked=4000000 state=1' 'event 200001000 0 sched_switch 200 next_pid=300 prev_state=256' \
			'event 300000000 0 wait 200 id=-1 waited_in=1 off=5000000 queued=5000000 state=256 waker=1 waker_pid=100' \
			'event 400000000 0 wait 200 id=45 off=4000000 blocked=4000000 state=1 waker=1' \
			'event 500000000 0 wait 200 id=45 off=4000000 blocked=4000000 state=1 waker=1 waker_pid=100'
	} | made "$tmp/late.flight" && status 0 "$FLIGHTREC" replay --pairs "$tmp/late.flight" && [[ $(grep -c ' waker=300' "$tmp/out") == 1 ]] || { cat "$tmp/out"; return 1; }
	status 0 "$FLIGHTREC" export --to html -o "$tmp/late.html" "$tmp/late.flight" && status 0 node tests/view/model.mjs "$tmp/late.html" || return
	holds '[.wakes[] | .[1:]] == [[300, 200]]' && holds '.wokenBy["200"] == ["unknown", "unknown", "nobody: runnable", "a task", "server 100"]' ||
		{ jq -c '.wakes, .wokenBy' "$tmp/out"; return 1; }
}

# The path of a request, on histories of which each leg and wait is known.
of_request() { /usr/bin/python3 -B tests/waits/request.py "$1"; }
request_history() { /usr/bin/python3 -B -c 'import sys; sys.path.insert(0, "tests/waits"); import request; print(request.HISTORY, end="")'; }
no_such_request() {
	request_history | made "$tmp/request.flight" || return
	status 2 report --request 8 "$tmp/request.flight" && grep -q 'no mark of id 8 is in this window; of others there are 2, as of id 7' "$tmp/err" && [[ ! -s $tmp/out ]] || return
	status 2 report --request 7 --since 16ms "$tmp/request.flight" && grep -q 'no mark with an id is in this window' "$tmp/err" || return
	status 2 report --request 7 "$snap" && grep -q 'no marks with an id were recorded: record -e mark:PATH' "$tmp/err" || return
	status 2 report --request 7 -f 'cpu == 0' "$tmp/request.flight" && grep -q 'give it without -f' "$tmp/err" || return
	status 2 report --request 7 --task client "$tmp/request.flight" && grep -q 'give it without --task' "$tmp/err" || return
	for id in '' -7 7x 0x 18446744073709551616; do
		status 2 report --request "$id" "$tmp/request.flight" && grep -q 'is not the id of a mark: give a number of up to 64 bits' "$tmp/err" || return
	done
	status 0 report --request 0x7 "$tmp/request.flight" && prints '^Request 7, 9 ms in 2 threads of 2 processes'
}
request_page() {
	request_history | made "$tmp/request.flight" && status 0 report --request 7 "$tmp/request.flight" &&
		prints '^  followed is a conclusion, ' && prints '^ +1  client/100 +marked +\+0 ns ' && prints '^ +2  server/200 +followed, woken {2,}\+3 ms .* it waits for something else$' &&
		prints '^ +\+3 ms +2  server/200 +followed: woken by client/100$' && prints '^ +\+4 ms +2  server/200 +marks: cache is cold$' &&
		prints ' 1  client/100 +waits 5.01 ms in read on pipe:\[2\]: ended by server/200, runs 30 us later$' || return
	status 0 report --request 7 --top 1 "$tmp/request.flight" && prints '^  the longest 1 of 2 waits: --top 0 shows all$' && is_silent nanosleep || return
	status 0 report --request 7 --json --top 1 "$tmp/request.flight" && holds '.waits == 2 and ([.path[] | select(.did == "wait")] | length) == 1'
}
# The client is on one host, the server, which marks it itself, on another: who woke it there is not known here. A server of the same number that the
# client wakes on its own host does not run in that one's file, which ends first.
request_of_hosts() {
	{ echo 'clock 1000000 1700000000001000000'; request_history | grep -vE '^event [0-9]+ 1 '; } | made "$tmp/one.flight" || return
	{ echo 'clock 1000000 1700000000003000000'; request_history | sed 's/boot_id b/boot_id c/' | grep -vE '^event [0-9]+ 0 '
		echo 'event 20000000 1 mark:shop__begin 200 id=7 name=serve'; } | made "$tmp/two.flight" || return
	status 0 report --json --request 7 "$tmp/one.flight" "$tmp/two.flight" &&
		holds '[.legs | sort_by(.begin_ns)[] | [.comm, .how, .file, .begin_ns, .end_ns]] == [["client", "marked", 0, 2000000, 11000000],
			["server", "woken", 0, 5000000, 17000000], ["server", "marked", 1, 22000000, 22000000]]' || { cat "$tmp/out"; return 1; }
}

check "the waits of the task, its process, and all" whose_waits
check "sums by program, call, object and waker" sums_by_four
check "figures, made again" figures
check "who held a lock" held
check "a profile of blocked time, added up again" profile_has_waits
check "the trigger's task comes first" in_this_order
check "a filter and a window choose" as_asked
check "replay -f finds them" replay_finds
check "what was not recorded is not 0" not_recorded
check "who was still waiting" not_ended
check "no reader blames the task on top of which an interrupt came" nobody_blames_the_bystander
check "nor does top" top_says_so
check "without a record the waking's own word is believed" nor_without_a_record
check "an interrupt has its device's name" handlers_have_names
check "a flame graph of time off the CPU has their calls" folded_has_calls
check "diff compares waits by object" diff_by_object
check "diff compares what both sides recorded" diff_of_both
check "another snapshot of the boot knows who woke" other_snapshot_knows
check "a Perfetto trace has them, and who ended them" perfetto_has_waits
check "so has the page" view_says_so
check "the page blames no bystander either" view_blames_nobody
check "arrows of the page are wakings by tasks, recomputed" arrows
while read -r case; do
	check "request: $case" of_request "$case"
done < <(/usr/bin/python3 -B tests/waits/request.py)
check "request: one that is not there, and ids that are none" no_such_request
check "request: the page" request_page
check "request: of two hosts" request_of_hosts
finish
