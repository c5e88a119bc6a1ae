#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `flightrec report`: check.py recomputes all its figures from a snapshot that make_load writes; then the page for people. No root.
set -u
cd "$(dirname "$0")/../.." || exit
export TZ=UTC LC_ALL=C PYTHONDONTWRITEBYTECODE=1
export FLIGHTREC=${FLIGHTREC:-$PWD/build/flightrec}
unset COLUMNS NO_COLOR
. tests/check.sh
snap=$tmp/load.flight

# status N COMMAND...: run the command with its output in $tmp/out and $tmp/err; its exit status has to be N
status() {
	local want=$1 got
	shift
	"$@" > "$tmp/out" 2> "$tmp/err" < /dev/null
	got=$?
	((got == want)) || { echo "exit status $got, not $want: $*"; cat "$tmp/err"; return 1; }
}
figures() { /usr/bin/python3 tests/report/check.py "$snap" "$@"; }
report() { "$FLIGHTREC" report "$@"; }
prints() { grep -qE -- "$1" "$tmp/out" || { echo "not printed: $1"; return 1; }; }

# check.py could pass on empty tables: the snapshot has to fill them all.
has_all() {
	status 0 report --json "$snap" && /usr/bin/python3 - "$tmp/out" <<- 'EOF'
		import json, sys
		r = json.load(open(sys.argv[1]))
		assert r["window"]["events"] > 7000, r["window"]
		assert r["window"]["begin_ns"] < r["window"]["rated_begin_ns"] == r["window"]["horizon_ns"]
		for table, least in dict(tasks=20, processes=12, cgroups=3, waits=100, offcpu=50, syscalls=7, errors=15, block=4,
		                         irqs=2, softirqs=3, functions=10, cpus=4, events=18).items():
		    assert len(r[table]) >= least, (table, len(r[table]))
		for name in ("wakeup", "offcpu", "queued", "blocked", "oncpu"):
		    assert r["total"][name]["count"] > 50, name
		execs = {(x["abi"], x["id"]): x for x in r["syscalls"]} # ended as execve, most of them in another ABI or as another call
		assert [(execs[key]["enters"], execs[key]["exits"], execs[key]["latency"]["count"]) for key in ((0, 322), (0, 59), (1, 358))] == [(3, 3, 3), (2, 2, 2), (1, 1, 1)], execs
		assert any(x["latency"]["count"] for x in r["syscalls"]) and any(x["latency"]["count"] for x in r["block"])
		for f in [x for x in r["block"] if (x["layer"], x["rw"]) == ("io", "F")]: # each begins "FWS" and ends "FF"
		    assert f["begins"] and f["ends"] and f["latency"]["count"] and not f["bytes"], f
		assert not any(x["begins"] for x in r["block"] if x["rw"] == "W")
		assert {x["in"] for x in r["offcpu"]} == {"none", "syscall", "fault"}
		assert {x["by"] for x in r["waits"]} == {"task", "irq", "softirq", "unknown"}
		f = r["focus"]
		assert f["tid"] == 103 and len(f["events"]) == 64 and len(f["syscalls"]) > 3 and len(f["states"]) > 20, f
		assert len(f["woken_by"]) == 3 and f["stack"]["from"] == "crash" and len(f["stack"]["user"]) == 2, f
		assert r["lost"]["holes"] == 1 and r["clock"]["ties"] == 90
	EOF
}

# Names, which anybody can choose, are escaped. Without a terminal there is no colour, and only ASCII.
is_plain() {
	status 0 report --top 0 "$snap" && ! LC_ALL=C grep -nP '[^\x20-\x7e]' "$tmp/out" && prints 't\\x1b\[31m'
}
# Its CPU's time ends then, though the window goes on; with the CPU's last task unknown, one that has no CPU may be there.
copied_early() {
	local early=$tmp/early.flight end
	build/tests/report/make_load "$early" early && /usr/bin/python3 tests/report/check.py "$early" &&
		/usr/bin/python3 tests/report/check.py "$early" --task 110 && /usr/bin/python3 tests/report/check.py "$early" --task 110 --window 30%.. || return
	end=$("$FLIGHTREC" info --json "$early" | jq '.cpus[3].tiers[] | select(.name == "main").end_ns')
	status 0 report --json --moment 90ms "$early" && jq -e --argjson ended "$end" '.window as $w |
		($w.end_ns - $ended > 5000000) and all(.cpus[]; .busy_ns + .idle_ns > 0) and
		(.cpus[3] | .busy_ns + .idle_ns <= $ended - .horizon_ns and .ran[-1].tid == null)' "$tmp/out" > "$tmp/page" || return
	"$FLIGHTREC" cut --since 50% -o "$tmp/early-cut.flight" "$early" 2> "$tmp/err" && /usr/bin/python3 tests/report/check.py "$tmp/early-cut.flight" &&
		[[ $("$FLIGHTREC" info --json "$tmp/early-cut.flight" | jq '.cpus[3].tiers[] | select(.name == "main").end_ns') == "$end" ]]
}
# A task that sleeps at the moment shows what woke it last; one that waits, what has woken it; both say so.
whatever_it_does() {
	local tid state links said
	while read -r tid state links said; do
		figures --task "$tid" && status 0 report --json --task "$tid" "$snap" &&
			[[ $(jq -r '.focus | "\(.woken_by_state) \(.woken_by | length)"' "$tmp/out") == "$state $links" ]] &&
			status 0 report --task "$tid" "$snap" && prints "^Who waited for whom  $said" || return
	done <<- EOF
		103 runs 3 the latest first,
		105 sleeps 2 it sleeps: what woke it last,
		106 runs 1 the latest first,
		119 waits 2 it waits for a CPU,
	EOF
	status 0 report --task 119 "$snap" && prints 'has not run since$'
}
page_tells() {
	status 0 report "$snap" || return
	prints 'crash: SIGSEGV' && prints '^  when +2026-01-01 00:00:0' && prints 'Its last events' &&
		prints 'is woken by' && prints 'Who waited for whom' && prints 'What each CPU ran' && prints '24 *: --top 0|of [0-9]+: --top 0 shows all' &&
		prints 'No such file or directory' && prints 'lost +56' && prints 'holes 1' && prints 'openat' && prints '#0  0x0000000000401077' &&
		prints '^ +\+0\.000000 ms' && ! prints '-0\.000000 ms' > /dev/null
}
# The trigger's time does not depend on the window. Where that ends before it, or begins after it, tables are relative to the window's end.
trigger_outside() {
	local when window where
	status 0 report "$snap" && when=$(sed -nE 's/^  when +([^,]+),.*/\1/p' "$tmp/out") && [[ $when ]] || return
	while read -r window where; do
		figures --window "$window" && status 0 report --window "$window" "$snap" && prints "^  when +$when, [0-9.]+ [mun]?s $where$" || return
		prints "^Its system calls  time beside the window's end$" && prints "^What each CPU ran .* before the window's end \(v\) on$" || return
		! grep "beside the trigger\|before the trigger" "$tmp/out" || return
	done <<- EOF
		50%..70% after the window
		..trigger-1us after the window
		trigger+1ms.. before the window
	EOF
	status 0 report --window 50%..trigger "$snap" && prints "^  when +$when, 0 ns before the end$" && prints '^Its stack  as it crashed, time beside the trigger$' &&
		! grep "beside the window" "$tmp/out"
}
# From the hole's begin to the CPU's next row nobody knows what ran: neither the figures nor the page says who did.
not_known_in_a_hole() {
	local since until
	read -r since until < <("$FLIGHTREC" info --json "$snap" | jq -r '.holes[0] | "\(.since_ns) \(.until_ns)"') && [[ $until ]] || return
	figures --moment 90ms --until "$until" && status 0 report --json --moment 90ms --until $((until - 1)) "$snap" &&
		jq -e ".cpus[2].ran[-1].ts == $since and .cpus[2].ran[-1].tid == null" "$tmp/out" > "$tmp/page" || return
	figures --since "$((since + 5000))" && status 0 report --moment 90ms --until "$until" "$snap" && prints '^     2 [A-Z.*]+[?]{6,} [0-9]+ switches$'
}
# All fits into the width, but for the file's name and the line that is one. What is broken there has all its words, and no stacks as numbers.
is_as_wide() {
	local width
	status 0 report "$snap" && sed -n '/^Its last events/,/^Its states/p' "$tmp/out" | tr -s ' \n' ' ' > "$tmp/whole" && ! grep stack "$tmp/whole" || return
	for width in 80 100 132; do
		COLUMNS=$width status 0 report "$snap" && sed -n '/^Its last events/,/^Its states/p' "$tmp/out" | tr -s ' \n' ' ' | diff "$tmp/whole" - || return
		sed '1d; /^  ruled out:/d' "$tmp/out" | awk -v w=$width 'length > w { print "wider than " w ": " $0; bad = 1 } END { exit bad }' || return
	done
}
# A terminal may be narrower than any table: there, and only there, lines are cut. Colours take no columns.
is_as_narrow() {
	local width
	for width in 40 53 66 79 250; do
		COLUMNS=$width TERM=xterm status 0 script -qec "$FLIGHTREC report --top 0 $snap" /dev/null || return
		sed 's/\x1b\[[0-9]*m//g; s/\r//' "$tmp/out" | sed -n '/^What each CPU ran/,/^On the CPU, by function/p' > "$tmp/page"
		awk -v w=$width 'length > w { print "wider than " w ": " $0; bad = 1 } END { exit bad || NR < 100 }' "$tmp/page" || return
		((width > 200)) || awk -v w=$width 'length == w { cut = 1 } END { exit !cut }' "$tmp/page" || { echo "nothing was cut at $width"; return 1; }
	done
	# a cut line begins as the whole one does
	status 0 report --top 0 "$snap" && sed -n '/^Who waited for whom$/,/^$/p' "$tmp/out" > "$tmp/whole"
	COLUMNS=40 status 0 report --top 0 "$snap" && sed -n '/^Who waited for whom$/,/^$/p' "$tmp/out" > "$tmp/page"
	[[ -s $tmp/page ]] && cut -c 1-40 "$tmp/whole" | head -n "$(wc -l < "$tmp/page")" | diff - "$tmp/page"
}
# The two windows differ in all tables; many of the calls fail.
diff_fits() {
	local width
	for width in 60 79 80 109 110 120 130 131 200; do
		COLUMNS=$width status 0 "$FLIGHTREC" diff --top 999 --window-a 0%..40% --window-b 60%..100% "$snap" && prints '  failed [0-9.]+% -> [0-9.]+%$' > /dev/null || return
		sed 1,3d "$tmp/out" | awk -v w=$width 'length > w { print "wider than " w ": " $0; bad = 1 } END { exit bad || NR < 50 }' || return
	done
}
# A CPU is as busy with what a filter selects as that had of its time, idle and other tasks' time included: 100 % only without others.
busy_with_a_filter() {
	status 0 report --json "$snap" && jq '.cpus[] | .rated_busy_ns + .rated_idle_ns' "$tmp/out" > "$tmp/whole" || return
	for filter in 'event == sched_switch && comm ~ "task-1*"' 'event == sched_switch && tid != 0' 'event == sys_enter'; do
		status 0 report --json -f "$filter" "$snap" && jq '.cpus[].rated_busy_ns' "$tmp/out" > "$tmp/part" || return
		status 0 report -f "$filter" "$snap" && sed -n '/^CPUs/,/^$/p' "$tmp/out" | sed -nE 's/^ +[0-9]+ +([0-9.]+%|-) .*/\1/p' > "$tmp/page" || return
		paste "$tmp/part" "$tmp/whole" | awk '{ if ($1) printf "%.1f%%\n", 100 * $1 / $2; else print "-" }' | diff - "$tmp/page" || return
	done
	grep -qx -- - "$tmp/page"
}
wide_has_more() {
	COLUMNS=140 status 0 report "$snap" && prints 'wake p50' && COLUMNS=80 status 0 report "$snap" && ! prints 'wake p50' > /dev/null
}
is_colourful() {
	command -v script > /dev/null || { echo "script is not installed"; return 77; }
	TERM=xterm script -qec "$FLIGHTREC report $snap" /dev/null < /dev/null > "$tmp/out" && prints $'\e\\[31m' &&
		TERM=xterm NO_COLOR=1 script -qec "$FLIGHTREC report $snap" /dev/null < /dev/null > "$tmp/out" && ! prints $'\e\\[31m' > /dev/null
}
top_is_top() {
	status 0 report --json --top 3 "$snap" && /usr/bin/python3 - "$tmp/out" <<- 'EOF'
		import json, sys
		r = json.load(open(sys.argv[1]))
		for table in ("tasks", "processes", "waits", "offcpu", "syscalls", "errors", "functions"):
		    assert len(r[table]) == 3, table
		on = [t["oncpu_ns"] for t in r["tasks"]]
		assert on == sorted(on, reverse=True), on
	EOF
}
usage() {
	status 2 report && status 2 report --top x "$snap" && status 2 report --moment 5 "$snap" &&
		status 2 report --task 0 "$snap" && status 2 report -f 'nonsense ==' "$snap" && status 2 report --since never "$snap" &&
		status 1 report "$tmp/none" && status 0 report --help
}
damaged() {
	head -c -3000 "$snap" > "$tmp/cut.flight"
	status 3 report "$tmp/cut.flight" && prints 'What is missing' && status 3 report --json "$tmp/cut.flight" &&
		/usr/bin/python3 -m json.tool "$tmp/out" > /dev/null && echo "no snapshot" > "$tmp/text" && status 3 report "$tmp/text"
}
# Nothing continues across damage: no pair that replay does not find, and no time on a CPU.
damaged_part() {
	build/tests/report/make_load "$tmp/parts.flight" parts && /usr/bin/python3 tests/report/damaged.py "$tmp/parts.flight" "$tmp/bad.flight"
}
# If other tasks' events were cut away, nobody is said to run in the time when those may have run.
tasks_cut_away() {
	"$FLIGHTREC" cut "$@" -o "$tmp/few.flight" "$snap" && /usr/bin/python3 tests/report/check.py "$tmp/few.flight" &&
		status 0 report --json "$tmp/few.flight" && /usr/bin/python3 - "$tmp/out" <<- 'EOF' && rm "$tmp/few.flight"
			import json, sys
			r = json.load(open(sys.argv[1]))
			assert sum(c["switches"] for c in r["cpus"]) > 50, r["cpus"]
			assert not r["total"]["oncpu_ns"] and not any(c["busy_ns"] + c["idle_ns"] for c in r["cpus"]), r["total"]["oncpu_ns"]
		EOF
}
cut_away() {
	local file=$tmp/away.flight
	"$FLIGHTREC" cut "$@" -o "$file" "$snap" && /usr/bin/python3 tests/report/check.py "$file" && status 0 report "$file" &&
		prints 'events were cut away' && rm -f "$file"
}
empty_window() {
	status 0 report --window 0ns..0ns "$snap" && status 0 report --json -f 'event == governor' "$snap" &&
		/usr/bin/python3 -m json.tool "$tmp/out" > /dev/null
}

# The report on a process that exited is about the thread that made it exit. It is not about the last thread, which the kernel killed,
# nor about one that ended by itself, nor another process. Without recorded deliveries it is about the trigger's thread.
exit_is_about_its_cause() {
	local head threads want
	head='fact trigger_reason exit|fact trigger_status 2|fact trigger_pid 100|fact trigger_tid 103|fact trigger_ts 1000020000'
	threads='task 100 100 p|task 101 100 p|task 102 100 p|task 103 100 p|task 200 200 q|exit 104 512'
	ends_in() {
		want=$1
		rm -f "$tmp/exit.flight"
		tr '|' '\n' <<< "$head|$threads|$2" | build/tests/symbols/make_stacks "$tmp/exit.flight" && status 0 report --json "$tmp/exit.flight" &&
			/usr/bin/python3 -c 'import json, sys; r = json.load(sys.stdin); assert r["focus"]["tid"] == int(sys.argv[1]) and r["trigger"]["tid"] == 103, r["focus"]["tid"]' "$want" < "$tmp/out" &&
			/usr/bin/python3 tests/report/check.py "$tmp/exit.flight" &&
			status 0 "$FLIGHTREC" top --once "$tmp/exit.flight" && prints "^>p $want$" &&
			status 0 "$FLIGHTREC" export --to html "$tmp/exit.flight" && /usr/bin/python3 -c '
import base64, json, re, sys, zlib
page = json.loads(zlib.decompress(base64.b64decode(re.search(r"text/x-rest\">([^<]+)", sys.stdin.read())[1])))
assert page["focus"] == int(sys.argv[1]), page["focus"]' "$want" < "$tmp/out"
	}
	ends_in 102 'exit 102 512|exit 101 0|deliver 100 9|exit 100 512|exit 200 512|deliver 103 9|exit 103 512' &&
		ends_in 100 'exit 102 512|exit 101 0|exit 100 512|deliver 103 9|exit 103 512' &&
		ends_in 103 'exit 102 512|exit 100 512|exit 103 512' && ends_in 103 'exit 200 512|exit 103 0' &&
		ends_in 103 'deliver 100 9|exit 100 512|deliver 103 9|exit 103 512'
}

# A thread other than the first executes a program, and so gets the tid of the first, which has ended: only what it does is told.
exec_of_another_thread() {
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'horizon 0 0' 'horizon 1 0' 'process 100 1 0 1 p' \
		'event 1000 0 sched_switch 0 next_pid=100 prev_state=0' 'event 1050 0 sched_process_exit 100 exit_code=0 group_dead=0' \
		'event 1100 0 sched_switch 100 next_pid=101 prev_state=16' 'event 1200 0 sched_process_exec 100 old_pid=101 filename=/x' \
		'event 1300 0 sched_switch 100 next_pid=0 prev_state=1' 'event 1400 0 sched_switch 0 next_pid=100 prev_state=0' \
		'event 1500 0 sched_process_exec 100 old_pid=100 filename=/y' \
		'event 1900 0 sched_process_exit 100 exit_code=0 group_dead=1' 'event 1950 0 sched_switch 100 next_pid=0 prev_state=32' | made "$tmp/exec.flight" || return
	status 0 report --task 100 "$tmp/exec.flight" && sed -n '/^Its states/,/^$/p' "$tmp/out" > "$tmp/page" && cat "$tmp/page"
	[[ $(grep -c 'it ends' "$tmp/page") == 1 && $(grep -c 'runs on CPU 0' "$tmp/page") == 2 ]] && head -n 2 "$tmp/page" | grep -q ' -0.000750 ms  runs on CPU 0' &&
		/usr/bin/python3 tests/report/check.py "$tmp/exec.flight" --task 100
}

# stack_page FRAME...: the frames' lines of the page on a crash with this stack
stack_page() {
	rm -f "$tmp/deep.flight" && printf '%s\n' 'fact trigger_reason crash' 'fact trigger_pid 100' 'fact trigger_ts 1000009000' \
		'task 100 100 p' "stack 77 $*" 'crash 100 0 77' | build/tests/symbols/make_stacks "$tmp/deep.flight" || return
	status 0 report "$tmp/deep.flight" && sed -n '/^Its stack/,/^$/p' "$tmp/out" | sed -nE 's/^ +(#[0-9]+ +0x[0-9a-f]+|the same .*|\.\.\. .*more).*/\1/p' > "$tmp/page"
}
# frames FROM ADDRESS...: the lines of these frames, the first of which has this number
frames() {
	local nr=$1 at
	shift
	for at; do printf '#%-2d 0x%016x\n' $((nr++)) $((16#$at)); done
}

# The page shows what a recursion was called from, and no frame is lost: 1 + 40 + 2 + 30.
recursion_is_short() {
	local i chain=() deep=()
	for ((i = 0; i < 40; i++)); do deep+=(2000); done
	for ((i = 0; i < 30; i++)); do chain+=("$(printf %x $((16384 + i)))"); done
	stack_page 1000 "${deep[@]}" 3000 3000 "${chain[@]}" && diff "$tmp/page" <(
		frames 0 1000 2000
		echo "the same in #2 to #40"
		frames 41 3000 3000 "${chain[@]:0:16}"
		echo "... 10 more"
		frames 69 "${chain[@]:26}"
	) && status 0 report --json "$tmp/deep.flight" && jq -e '.focus.stack.user | length == 73' "$tmp/out"
}

# The same of functions that call each other; of those that do not come three times, each is shown. As many as the page has are shown whole.
recursion_of_several_is_short() {
	local i deep=() chain=()
	for ((i = 0; i < 30; i++)); do deep+=(2000 2000 2500); done
	for ((i = 0; i < 17; i++)); do chain+=("$(printf %x $((16384 + i)))"); done
	stack_page 1000 "${deep[@]}" 2000 3000 3500 3000 "${chain[@]:1}" && diff "$tmp/page" <(
		frames 0 1000 2000 2000 2500
		echo "the same 3 in #4 to #90"
		frames 91 2000 3000 3500 3000 "${chain[@]:1}"
	) && stack_page 1000 "${deep[@]}" 2000 3000 3500 3000 "${chain[@]}" && diff "$tmp/page" <(
		frames 0 1000 2000 2000 2500
		echo "the same 3 in #4 to #90"
		frames 91 2000 3000 3500 3000 "${chain[@]:0:12}"
		echo "... 1 more"
		frames 108 "${chain[@]:13}"
	)
}

# agrees FILE: as many values are known to replay as to report
agrees() {
	local event count
	status 0 report --json "$1" && cp "$tmp/out" "$tmp/report" || return
	while read -r event count; do
		status 0 "$FLIGHTREC" replay --count -f "event == $event && latency" "$1" && prints "^$count$" || { echo "report: $count of $event"; return 1; }
	done < <(jq -r '"sys_exit \([.syscalls[].latency.count] | add // 0)", "sched_switch \(.total.wakeup.count)",
		"block_rq_complete \([.block[] | select(.layer == "rq").latency.count] | add // 0)",
		"block_io_done \([.block[] | select(.layer == "io").latency.count] | add // 0)",
		"irq_handler_exit \([.irqs[].time.count] | add // 0)", "softirq_exit \([.softirqs[].time.count] | add // 0)"' "$tmp/report")
}
# made FILE: a snapshot of the lines on standard input
made() {
	rm -f "$1" && build/tests/rehearse/make "$1"
}
# What was not recorded is not 0: the CPU has null, and the kernel's own count stands in for softirqs, less what it was at the begin.
not_recorded() {
	local facts=('fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1000000000' 'horizon 0 0' 'event 1000000000 0 sched_switch 7 next_pid=8'
		'event 1000000100 0 sched_switch 8 next_pid=7' 'fact softirqs_begin NET_RX=7;TIMER=5;RCU=2' 'fact softirqs NET_RX=4718;TIMER=5;RCU=3'
		'fact softirq_ms_begin 0=10;1=0;2=30' 'fact softirq_ms 0=1210;1=0;3=40')
	printf '%s\n' "${facts[@]}" 'fact events sched_switch,sched_waking,irq_handler_exit' | made "$tmp/few.flight" &&
		/usr/bin/python3 tests/report/check.py "$tmp/few.flight" && status 0 report --json "$tmp/few.flight" &&
		jq -e '(.cpus[0] | .irq_ns == 0 and .softirq_ns == null and .syscalls == null and .faults == null) and
			([.total, .tasks[0], .processes[0]] | map(.runs > 0 and .wakes == 0 and .migrations == null and .syscalls == null and
			.syscall_ns == null and .errors == null and .faults_user == null and .faults_kernel == null and .ios == null and
			.samples == null) | all)' "$tmp/out" > "$tmp/page" || return
	COLUMNS=120 status 0 report "$tmp/few.flight" && prints '^  [^ ]+ +8 .* +- +- +-( |$)' && status 0 report "$tmp/few.flight" && prints '^Softirqs +not recorded' && prints '^ +4,711 NET_RX$' && prints '^ +1 RCU$' && ! prints 'TIMER' > /dev/null &&
		prints '^  time in them, in steps of a tick: CPU 0 1.20 s, CPU 1 0 ns$' || return
	status 0 "$FLIGHTREC" info --json "$tmp/few.flight" && jq -e '.softirqs == {NET_RX: 4711, TIMER: 0, RCU: 1} and .softirq_ms == {"0": 1200, "1": 0} and
		.events_recorded == "sched_switch,sched_waking,irq_handler_exit"' "$tmp/out" > "$tmp/page" || return
	# of samples alone nobody knows who ran when, or was woken; and of half of the faults, not how many there were
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1000000000' 'horizon 0 0' 'event 1000000000 0 cpu_sample 7 ip=1' \
		'event 1000000100 0 page_fault_user 7 ip=1' 'fact events cpu_sample,page_fault_user' | made "$tmp/few.flight" &&
		/usr/bin/python3 tests/report/check.py "$tmp/few.flight" && status 0 report --json "$tmp/few.flight" &&
		jq -e '(.cpus[0] | .busy_ns == null and .idle_ns == null and .switches == null and .wakeup == null and .faults == null) and
			(.tasks[0] | .oncpu_ns == null and .wakeup == null and .samples == 1 and .faults_user == 1 and .faults_kernel == null)' "$tmp/out" > "$tmp/page" || return
	COLUMNS=120 status 0 report "$tmp/few.flight" && prints '^     0 +- +- ' && ! prints '[^0-9]0\.0%|[0-9] switch' > /dev/null || return
	# where they were recorded, the table of events alone tells
	printf '%s\n' "${facts[@]}" 'fact events sched_switch,softirq_entry,softirq_exit' | made "$tmp/few.flight" &&
		status 0 report "$tmp/few.flight" && ! prints 'NET_RX|not recorded \(-e' > /dev/null
}
# What began before the window belongs to it no more than what ended behind it.
rare_of_a_window() {
	local window
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'horizon 0 1' 'tp cgroup:cgroup_mkdir u32:id' \
		'tp vmscan:mm_vmscan_memcg_reclaim_begin s32:order' 'tp vmscan:mm_vmscan_memcg_reclaim_end u64:nr_reclaimed' \
		'event 1000 0 sched_switch 0 next_pid=7' 'event 1500 0 tp:cgroup:cgroup_mkdir 7 id=1' \
		'event 1600 0 tp:vmscan:mm_vmscan_memcg_reclaim_begin 7 order=0' 'event 2600 0 tp:vmscan:mm_vmscan_memcg_reclaim_end 7 nr_reclaimed=1' \
		'event 2700 0 tp:cgroup:cgroup_mkdir 7 id=2' 'event 2800 0 tp:vmscan:mm_vmscan_memcg_reclaim_begin 7 order=0' \
		'event 2900 0 tp:vmscan:mm_vmscan_memcg_reclaim_end 7 nr_reclaimed=1' 'event 3000 0 sched_switch 7 next_pid=0' |
		made "$tmp/rare.flight" || return
	for window in 0%..100% 50%..100% 27%..83% 50%..75%; do
		/usr/bin/python3 tests/report/check.py "$tmp/rare.flight" --window "$window" || return
	done
	status 0 report --window 50%..100% "$tmp/rare.flight" && prints '^  rare events 2 in this window' || return
	status 0 report --json --window 27%..83% "$tmp/rare.flight" && jq -e '.rare | .events == 1 and .groups[0].took_ns == 1000' "$tmp/out" > "$tmp/page"
}
# Rings that have their first event are complete since all programs were attached, at 2 s: what began before that is not known.
replay_agrees() {
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 2000000000' 'horizon 0 0' 'horizon 1 0' \
		'event 1000000000 0 sys_enter 7 id=1' 'event 1000000100 0 softirq_entry 7 vec=1' 'event 1000000200 0 softirq_exit 7 vec=1' \
		'event 1000000300 0 sys_exit 7 id=1 ret=0' 'event 1900000000 0 sys_enter 8 id=1' 'event 2100000000 0 sys_exit 8 id=1 ret=0' \
		'event 2200000000 0 sys_enter 7 id=1' 'event 2200000100 0 softirq_entry 7 vec=1' 'event 2200000200 0 softirq_exit 7 vec=1' \
		'event 2200000300 0 sys_exit 7 id=1 ret=0' | made "$tmp/early.flight" || return
	agrees "$tmp/early.flight" && jq -e '[.syscalls[].latency.count] == [1] and [.softirqs[].time.count] == [1]' "$tmp/report" > "$tmp/page" &&
		agrees "$snap"
}

# The same where the horizon comes from a hole: what precedes the hole is known, but not from before that time. Three calls: one begins
# before all programs were attached, one behind that, one before the hole and ends behind it.
replay_agrees_before_holes() {
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 2000000000' 'horizon 0 3000000000' \
		'horizon 1 3000000000' 'hole 0 2500000000 3000000000' 'hole 1 2500000000 3000000000' \
		'event 1800000000 1 softirq_entry 6 vec=1' 'event 1900000000 0 sys_enter 8 id=1' 'event 2100000000 0 sys_exit 8 id=1 ret=0' \
		'event 2200000000 0 sys_enter 7 id=1' 'event 2200000300 0 sys_exit 7 id=1 ret=0' 'event 2300000000 0 sys_enter 9 id=1' \
		'event 3100000000 0 sys_exit 9 id=1 ret=0' | made "$tmp/hole.flight" || return
	status 0 "$FLIGHTREC" replay --json -f 'event == sys_exit && latency' "$tmp/hole.flight" && [[ $(jq .tid "$tmp/out") == 7 ]] &&
		agrees "$tmp/hole.flight" && jq -e '[.syscalls[].latency.count] == [1]' "$tmp/report" > "$tmp/page" &&
		/usr/bin/python3 tests/report/check.py "$tmp/hole.flight"
}

# An end without a number belongs to the call that began, in diff as in report; of one whose beginning is not there nothing is known.
ends_have_names() {
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'horizon 0 0' 'horizon 1 0' 'event 1000 0 sys_enter 7 id=15' \
		'event 1300 0 sys_exit 7 id=-1 ret=0' 'event 1400 0 sys_exit 8 id=-1 ret=0' | made "$tmp/ends.flight" || return
	status 0 report --json "$tmp/ends.flight" &&
		jq -e '[.syscalls[] | [.name // "\(.id)", .exits, .latency.count]] | sort == [["-1", 1, 0], ["rt_sigreturn", 1, 1]]' "$tmp/out" > "$tmp/page" || return
	status 0 "$FLIGHTREC" diff --json "$tmp/ends.flight" "$tmp/ends.flight" &&
		jq -e '[.syscalls[] | [.name, .a.count, .a.timed]] | sort == [["-1", 1, 0], ["rt_sigreturn", 1, 1]]' "$tmp/out"
}

# A signal from outside is seen at its sender only; it is sent to the process, and any of its threads may be the one that dies first.
tells_who_killed() {
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'fact trigger_reason crash' 'fact trigger_pid 100' \
		'fact trigger_tid 101' 'fact trigger_sig 9' 'fact trigger_ts 3000' 'horizon 0 0' 'horizon 1 0' \
		'event 1000 1 signal_generate 101 target_pid=7 sig=17' 'event 1100 0 signal_generate 7 target_pid=8 sig=15' \
		'event 1200 0 signal_generate 7 target_pid=101 sig=10' 'event 2000 0 signal_generate 7 target_pid=100 sig=9 group=1' \
		'event 2500 1 signal_deliver 101 fatal=1 sig=9' | made "$tmp/killed.flight" || return
	status 0 report --json "$tmp/killed.flight" && jq -e '[.focus.events[].ts] == [1000, 1200, 2000, 2500]' "$tmp/out" > "$tmp/page" &&
		/usr/bin/python3 tests/report/check.py "$tmp/killed.flight" && status 0 report "$tmp/killed.flight" && prints 'signal_generate .*target_pid=100 .*sig=SIGKILL' &&
		status 0 report --json --task 101 "$tmp/killed.flight" && jq -e '[.focus.events[].ts] == [1000, 1200, 2500]' "$tmp/out" > "$tmp/page" &&
		/usr/bin/python3 tests/report/check.py "$tmp/killed.flight" --task 101
}

# A window before or behind all events, or one that ends before it begins, has no length; so does that of a side of diff.
window_of_nothing() {
	local window
	for window in 1h.. ..2020-01-01 2020-01-01..2020-01-02 60%..40%; do
		status 0 report --window "$window" "$snap" && prints 'of 0 events in 0 ns; `flightrec info`' || return
		status 0 report --json --window "$window" "$snap" &&
			jq -e '.window | .begin_ns == .end_ns and .moment_begin_ns == .end_ns and .moment_end_ns == .end_ns' "$tmp/out" > "$tmp/page" || return
		status 0 "$FLIGHTREC" diff --json --window-a "$window" "$snap" && jq -e '.a.begin_ns == .a.end_ns and .b.begin_ns < .b.end_ns' "$tmp/out" > "$tmp/page" || return
	done
}

# A request that its driver sends back is issued again. If it is not known what ended in between, each issue counts, and the page says so.
issued_again() {
	local file=$tmp/again.flight said="a device's request that is issued again counts again"
	begins() { status 0 report --json "$1" && [[ $(jq -c '[.block[] | [.begins, .ends]]' "$tmp/out") == "$2" ]]; }
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'horizon 0 0' 'horizon 1 0' 'process 7 1 0 0 p' \
		'event 1000 0 block_rq_issue 7 dev=8388608 sector=64 nr_sector=8 bytes=4096 rwbs=W' \
		'event 2000 0 block_rq_issue 7 dev=8388608 sector=64 nr_sector=8 bytes=4096 rwbs=W' \
		'event 3000 1 block_rq_complete 0 dev=8388608 sector=64 nr_sector=8 rwbs=W' | made "$file" || return
	begins "$file" '[[1,1]]' && status 0 report "$file" && ! grep "$said" "$tmp/out" && rm -f "$file.cut" &&
		"$FLIGHTREC" cut --pid 7 -o "$file.cut" "$file" && begins "$file.cut" '[[2,0]]' && status 0 report "$file.cut" && prints "^  block I/O +$said$"
}

# A file without events, the beginning of a file, a window without events.
nothing_at_all() {
	build/tests/top/make none "$tmp/none.flight" && head -c 200 "$snap" > "$tmp/head.flight" || return
	status 0 report "$tmp/none.flight" && prints 'of 0 events in 0 ns; `flightrec info`' || return
	status 3 report "$tmp/head.flight" && status 0 report --window 1ns..2ns "$snap" && prints 'of 0 events' || return
	/usr/bin/python3 tests/report/check.py "$tmp/none.flight" && /usr/bin/python3 tests/report/check.py "$tmp/head.flight"
}

# A task that never leaves its CPU has it all the time: a row tells, of the window, before it or behind it, or else whom the dump saw.
# ran FILE TID NS [OPTION...]: the time that report and diff have for it, in a window, and the lane of the report and of top
ran() {
	local file=$1 tid=$2 ns=$3 name
	shift 3
	status 0 report --json --moment 1s "$@" "$file" && [[ $(jq "[.tasks[] | select(.tid == $tid).oncpu_ns] | add // 0" "$tmp/out") == "$ns" ]] ||
		{ echo "report $*: not $ns ns"; jq -c '.tasks[] | [.tid, .oncpu_ns]' "$tmp/out"; return 1; }
	jq -e "$ns == 0 or any(.cpus[].ran[]; .tid == $tid)" "$tmp/out" > "$tmp/page" || { echo "report $*: no lane"; return 1; }
	figures_of "$file" "$@" || return
	name=task-$tid
	status 0 "$FLIGHTREC" diff --json --window-a "${2:-0%..}" --window-b "${2:-0%..}" "$file" &&
		[[ $(jq "[.cpu[] | select(.name == \"$name\").a.ns] | add // 0" "$tmp/out") == "$ns" ]] || { echo "diff $*: not $ns ns"; jq -c .cpu "$tmp/out"; return 1; }
}
figures_of() { /usr/bin/python3 tests/report/check.py "$@" > "$tmp/page" || { cat "$tmp/page"; return 1; }; }
never_switches() {
	local head=('fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'horizon 0 100000000001000' 'horizon 1 100000000001000' 'thread 7 7 1 task-7' 'thread 8 8 1 task-8')
	local other=('event 100000000001000 1 sched_switch 0 next_pid=8 prev_state=0' 'event 100000000009000 1 sched_switch 8 next_pid=0 prev_state=1')
	# by its samples; where there is none in the window, by those before and behind it
	printf '%s\n' "${head[@]}" "${other[0]}" 'event 100000000002000 0 cpu_sample 7 ip=1 user=1' 'event 100000000006000 0 cpu_sample 7 ip=1 user=1' "${other[1]}" | made "$tmp/spins.flight" || return
	ran "$tmp/spins.flight" 7 8000 && ran "$tmp/spins.flight" 7 1000 --window 100000000003000..100000000004000 && ran "$tmp/spins.flight" 7 800 --window 100000000001100..100000000001900 &&
		ran "$tmp/spins.flight" 7 2000 --window 100000000007000..100000000009000 && ran "$tmp/spins.flight" 8 800 --window 100000000001100..100000000001900 || return
	# within one long run: between its switches, and without any row before
	printf '%s\n' "${head[@]}" 'event 100000000001000 0 sched_switch 0 next_pid=7 prev_state=0' "${other[@]}" 'event 100000000009500 0 sched_switch 7 next_pid=0 prev_state=1' | made "$tmp/long.flight" || return
	ran "$tmp/long.flight" 7 8500 && ran "$tmp/long.flight" 7 2000 --window 100000000003000..100000000005000 && ran "$tmp/long.flight" 8 2000 --window 100000000003000..100000000005000 || return
	# nothing tells but the dump; and nobody is said to have had the CPU beyond the copying of its ring
	printf '%s\n' "${head[@]}" 'copied 0 100000000007000 7' 'copied 1 100000000009500' "${other[@]}" | made "$tmp/seen.flight" || return
	ran "$tmp/seen.flight" 7 6000 && ran "$tmp/seen.flight" 7 2000 --window 100000000003000..100000000005000 && ran "$tmp/seen.flight" 7 1000 --window 100000000006000..100000000008000 || return
	# not known, and not 0 of somebody: a CPU of which nothing tells, a hole, a switch that is missing
	printf '%s\n' "${head[@]}" 'copied 0 100000000007000' 'copied 1 100000000009500' "${other[@]}" | made "$tmp/blank.flight" && ran "$tmp/blank.flight" 7 0 || return
	printf '%s\n' "${head[@]}" 'hole 0 100000000004000 100000000005000' "${other[0]}" 'event 100000000002000 0 cpu_sample 7 ip=1 user=1' "${other[1]}" | made "$tmp/holed.flight" &&
		ran "$tmp/holed.flight" 7 0 --window 100000000005500..100000000006000 && ran "$tmp/holed.flight" 7 1000 --window 100000000002500..100000000003500 || return
	printf '%s\n' "${head[@]}" "${other[0]}" 'event 100000000002000 0 sched_switch 0 next_pid=7 prev_state=0' 'event 100000000005000 0 sched_switch 8 next_pid=0 prev_state=1' "${other[1]}" | made "$tmp/hidden.flight" &&
		ran "$tmp/hidden.flight" 7 0
}

# A wait or call that ends in the window counts as long as it took, if its begin is in the file: in report as in diff and replay --pairs.
began_before() {
	local window=100000000005000..100000000009000
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'horizon 0 100000000000500' 'horizon 1 100000000000500' 'thread 7 7 1 task-7' \
		'event 100000000001000 0 sched_switch 0 next_pid=7 prev_state=0' 'event 100000000001500 0 sys_enter 7 id=35' 'event 100000000002000 0 sched_switch 7 next_pid=0 prev_state=1' \
		'event 100000000004000 1 sched_waking 0 target_pid=7' 'event 100000000006000 0 sched_switch 0 next_pid=7 prev_state=0' 'event 100000000007000 0 sys_exit 7 id=35 ret=0' \
		'event 100000000009000 1 sched_waking 0 target_pid=7' | made "$tmp/before.flight" || return
	status 0 "$FLIGHTREC" replay --json --pairs --window "$window" "$tmp/before.flight" &&
		jq -se '[.[] | select(.event != "sched_waking") | [.offcpu_ns, .latency_ns]] == [[4000, 2000], [null, 5500]]' "$tmp/out" > "$tmp/page" || return
	status 0 "$FLIGHTREC" diff --json --window-a "$window" --window-b "$window" "$tmp/before.flight" &&
		jq -e '.offcpu[0].a.ns == 4000 and .runqueue[0].a.ns == 2000 and .syscalls[0].a.ns == 5500' "$tmp/out" > "$tmp/page" || return
	status 0 report --json --window "$window" "$tmp/before.flight" &&
		jq -e '(.tasks[] | select(.tid == 7) | .offcpu_ns == 4000 and .queued_ns == 2000 and .oncpu_ns == 3000) and .syscalls[0].latency.sum_ns == 5500 and
			.offcpu[0].in == "syscall" and .window.events == 3' "$tmp/out" > "$tmp/page" && figures_of "$tmp/before.flight" --window "$window"
}

# An event that is by the focus task and about it is one event.
wakes_itself() {
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'horizon 0 0' 'horizon 1 0' 'thread 7 7 1 seven' \
		'event 1000 0 sched_waking 7 target_pid=7' 'event 2000 0 sched_switch 7 next_pid=0 prev_state=1' \
		'event 3000 0 sched_switch 0 next_pid=7 prev_state=0' | made "$tmp/self.flight" && figures_of "$tmp/self.flight" --task 7
}

# A task by its name is the one that was last to have an event before the trigger, by replay; a glob is a name, a number a tid.
task_by_name() {
	local trigger tid name
	trigger=$("$FLIGHTREC" report --json "$snap" | jq .trigger.ts) && [[ $trigger ]] || return
	for name in task-11 child 'task-1*' swapper/0x; do
		tid=$("$FLIGHTREC" replay --json -f "comm ~ \"$name\" && ts <= $trigger && tid" "$snap" 2> "$tmp/err" | jq -s 'last.tid // empty')
		if [[ $tid ]]; then
			status 0 report --json --task "$name" "$snap" && jq -e ".focus.tid == $tid" "$tmp/out" || return
		else
			status 2 report --task "$name" "$snap" && grep -q "no task is called '$name'" "$tmp/err" || return
		fi
	done
	status 2 report --task tsk-11 "$snap" && grep -q 'did you mean task-11' "$tmp/err" && status 2 report --task '' "$snap" &&
		status 2 report --task '[a' "$snap" && status 0 report --json --task 110 "$snap" && jq -e '.focus.tid == 110' "$tmp/out"
}
# Bars are asked for; a stack of a sample that was not in the moment tells nothing of it, and is in JSON only.
shows_the_moment() {
	status 0 report "$snap" && prints '^  woken until it runs: [0-9]' && ! grep -qE '^ +[0-9.]+ [mu]?s +[0-9,]+ #+$' "$tmp/out" || return
	status 0 report --histograms "$snap" && prints '^  woken until it runs, from .. on: [0-9]' && prints '^ +[0-9.]+ [mu]?s +[0-9,]+ #+$' || return
	local facts=('fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'horizon 0 0' 'horizon 1 0' 'thread 7 7 1 seven' 'fact trigger_reason hung' 'fact trigger_pid 7'
		'fact trigger_tid 7' 'fact trigger_ts 5000000000' 'event 1000000000 0 stack 7 stack_id=5 frames=4096,8192') at
	for at in 1000001000 4999000000; do
		printf '%s\n' "${facts[@]}" "event $at 0 cpu_sample 7 user=1 ip=4096 ustack_id=5" 'event 5000000100 0 sched_switch 7 next_pid=0 prev_state=1' |
			made "$tmp/stack.flight" && status 0 report --json "$tmp/stack.flight" && jq -e ".focus.stack.ts == $at" "$tmp/out" || { cat "$tmp/out"; return 1; }
		status 0 report "$tmp/stack.flight" && [[ $(grep -c '^Its stack' "$tmp/out") == $((at > 4990000000)) ]] || return
	done
}

# A disk is called as the kernel that recorded calls it; without its name it is its numbers, everywhere.
disks_have_names() {
	local lines=('fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'horizon 0 0' 'horizon 1 0' 'event 1000000000 0 block_rq_issue 7 dev=8388624 sector=8 nr_sector=8 bytes=4096 rwbs=W'
		'event 1000005000 0 block_rq_complete 7 dev=8388624 sector=8 nr_sector=8 rwbs=W') name disks
	while read -r name disks; do
		printf '%s\n' "${lines[@]}" ${disks:+"fact disks $disks"} | made "$tmp/disk.flight" && status 0 report "$tmp/disk.flight" && prints "^  $name +W device" &&
			status 0 "$FLIGHTREC" diff --window-a ..50% --window-b 50%.. "$tmp/disk.flight" && prints "^  $name W rq" &&
			status 0 stat --csv -f 'event ~ "block*"' --by dev "$tmp/disk.flight" && prints "^\"$name\",2" || { cat "$tmp/out"; return 1; }
	done <<- 'EOF'
		sdb 8:0=sda;8:1=sda1;8:16=sdb;8:160=sdk
		sdb 8:16=sdb
		8,16 8:160=sdk;18:16=x;8:1=sda1
		8,16 8:16=;8:16
		8,16 8:16=0123456789012345678901234567890123456789
		8,16
	EOF
}

# Files of one moment know of each other: of the same boot, at most 10 s away, the earliest first; not of others.
beside_each_other() {
	local dir=$tmp/beside name boot at shown
	mkdir -p "$dir"
	while read -r name boot at shown; do
		printf '%s\n' "fact boot_id $boot" 'fact arch x86_64' 'fact trigger_reason crash' "fact trigger_comm ${name%%-*}" "fact trigger_ts $at" 'fact trigger_pid 7' 'horizon 0 0' \
			'event 50000000000 0 sched_switch 7 next_pid=0' | made "$dir/$name.flight" || return
	done <<- 'EOF'
		own-20260131T140211.500Z-crash b 50000000000
		late-20260131T140215.500Z-crash b 54000000000
		soon-20260131T140211.512Z-crash b 50012000000
		early-20260131T140210.500Z-crash b 49000000000
		other-20260131T140211.500Z-crash c 50000000000
		far-20260131T140222.500Z-crash b 61000000000
	EOF
	cp "$dir/soon-20260131T140211.512Z-crash.flight" "$dir/soon.flight" && echo junk > "$dir/junk-20260131T140211.500Z-crash.flight"
	status 0 report "$dir/own-20260131T140211.500Z-crash.flight" && grep -A 3 '^  beside' "$tmp/out" | head -n 3 > "$tmp/page" && diff "$tmp/page" - <<- 'EOF' || return
		  beside     early-20260131T140210.500Z-crash.flight: crash of early, 1.00 s before
		             soon-20260131T140211.512Z-crash.flight: crash of soon, 12 ms after
		             late-20260131T140215.500Z-crash.flight: crash of late, 4.00 s after
	EOF
	! grep -E 'other-|far-|junk-|soon.flight:' "$tmp/out" && status 0 report "$dir/soon.flight" && ! grep '^  beside' "$tmp/out"
}

# Several snapshots are one report: what each is about, by wall time; what each says; its evidence. What cannot be read is told.
several_in_one() {
	local name host at real files=()
	while read -r name host at real; do
		printf '%s\n' "fact boot_id $host" "fact host $host" 'fact arch x86_64' "fact trigger_reason crash" "fact trigger_comm $name" "fact trigger_ts $at" 'fact trigger_pid 7' \
			"clock $at $real" 'horizon 0 0' "event $at 0 sched_switch 7 next_pid=0" | made "$tmp/of-$name.flight" || return
		files+=("$tmp/of-$name.flight")
	done <<- 'EOF'
		late web-2 1000000000 1769868134500000000
		early web-1 9000000000 1769868131500000000
		soon web-1 9250000000 1769868131750000000
	EOF
	printf '%s\n' 'fact host old' 'fact arch x86_64' 'event 1 0 sched_switch 7 next_pid=0' | made "$tmp/of-none.flight" || return
	status 0 report "${files[@]:0:2}" "$tmp/of-none.flight" "${files[2]}" && [[ ! -s $tmp/err ]] && sed "s|$tmp|DIR|" "$tmp/out" > "$tmp/page" && head -n 6 "$tmp/page" | diff - <(cat <<- 'EOF'
		4 snapshots of 3 hosts, in the order of their moments by each host's own wall clock
		  2026-01-31 14:02:11.500000000  web-1            crash of early               DIR/of-early.flight
		                   250 ms later  web-1            crash of soon                DIR/of-soon.flight
		                   3.00 s later  web-2            crash of late                DIR/of-late.flight
		                      not known  old              no trigger                   DIR/of-none.flight

	EOF
	) || return
	grep -E '^(DIR/of-|Evidence of )' "$tmp/page" | diff - <(printf '%s\n' DIR/of-{early,soon,late,none}.flight 'Evidence of DIR/of-'{early,soon,late,none}.flight) &&
		(($(grep -c '^  beside' "$tmp/out") == 0 && $(grep -c '^  verdict' "$tmp/out") == 4)) || return
	# each is what it is alone
	for name in late early; do
		status 0 report "$tmp/of-$name.flight" && grep -v '^  beside' "$tmp/out" | sed "s|$tmp|DIR|" > "$tmp/alone"
		awk -v file="DIR/of-$name.flight" '/^(DIR|Evidence of DIR)/ { on = $NF == file } on && !/^Evidence of/' "$tmp/page" | grep -v '^$' | diff - <(grep -v '^$' "$tmp/alone") || return
	done
	status 0 report --json "${files[@]}" && [[ ! -s $tmp/err ]] && jq -c '[.reports[] | [.file[-11:], .host, .boot_id]]' "$tmp/out" > "$tmp/page" &&
		jq -c '.reports[2].report' "$tmp/out" > "$tmp/one" && status 0 report --json "${files[0]}" && jq -c . "$tmp/out" | diff - "$tmp/one" &&
		diff "$tmp/page" - <<< '[["arly.flight","web-1","web-1"],["soon.flight","web-1","web-1"],["late.flight","web-2","web-2"]]' || return
	for name in "" --json; do # what cannot be written is told once
		"$FLIGHTREC" report ${name:+"$name"} "${files[@]}" > /dev/full 2> "$tmp/err"
		[[ $? == 1 && $(grep -c 'No space left' "$tmp/err") == 1 ]] || { cat "$tmp/err"; return 1; }
	done
	echo junk > "$tmp/junk.flight"
	status 3 report "${files[1]}" "$tmp/junk.flight" && grep -q "junk.flight: not a snapshot" "$tmp/err" && prints '^1 snapshot of 1 host,' && prints '^  verdict' && status 1 report "${files[1]}" "$tmp/no.flight" && prints '^  verdict' &&
		status 2 report -f 'nonsense ==' "${files[@]}" && (($(wc -l < "$tmp/err") < 6)) && [[ ! -s $tmp/out ]] && status 3 report --json "$tmp/junk.flight" "$tmp/junk.flight" && [[ ! -s $tmp/out ]]
}

# What processes of one name did is one line, and which lines there are is chosen.
added_up_by() {
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1000000000' 'horizon 0 0' 'process 7 1 0 0 worker' 'process 8 1 0 0 worker' 'process 9 1 0 0 other' \
		'event 1000000000 0 sched_switch 9 next_pid=7' 'event 1000001000 0 sched_switch 7 next_pid=8' 'event 1000004000 0 sched_switch 8 next_pid=9' |
		made "$tmp/two.flight" && status 0 report --json "$tmp/two.flight" &&
		jq -e '[.programs[] | [.program, .processes, .tasks, .oncpu_ns, .runs]] == [["worker", 2, 2, 4000, 2], ["other", 1, 1, 0, 1]]' "$tmp/out" > "$tmp/page" || return
	COLUMNS=100 status 0 report --by program,container "$tmp/two.flight" && prints '^  worker +2 +100.0% +4 us ' && prints '^Programs$' && prints '^Containers$' &&
		! prints '^(Tasks|Processes|Cgroups)' > /dev/null || return
	# a program is called after its first thread, which may do nothing in the window
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1000000000' 'horizon 0 0' 'thread 7 7 1 java' 'thread 8 7 1 GC-Thread#0' \
		'event 1000000000 0 sched_switch 0 next_pid=8' 'event 1000001000 0 sched_switch 8 next_pid=0' | made "$tmp/java.flight" &&
		status 0 report --json "$tmp/java.flight" && jq -e '[.programs[].program] == ["java"] and [.processes[].comm] == ["java"] and [.tasks[].comm] == ["GC-Thread#0"]' "$tmp/out" > "$tmp/page" || return
	COLUMNS=100 status 0 report --by program "$tmp/two.flight" && prints '^  worker +2 ' && status 0 report --by container "$tmp/two.flight" && prints '^  \(not known\) ' || return
	status 0 report "$tmp/two.flight" && prints '^Tasks$' && prints '^Processes$' && ! prints '^(Programs|Containers)' > /dev/null || return
	status 2 report --by prog "$snap" && grep -q "no 'prog': give task, process" "$tmp/err" && status 2 report --by task, "$snap"
}
sorted_by() {
	local sort key
	while read -r sort key; do
		status 0 report --json --sort "$sort" "$snap" && jq -e "[.tasks, .processes, .cgroups][] | map(.$key) | . == (sort | reverse)" "$tmp/out" > "$tmp/page" && ! grep -v true "$tmp/page" || { echo "$sort"; return 1; }
	done <<- 'EOF'
		oncpu oncpu_ns
		offcpu offcpu_ns
		queued queued_ns
		blocked blocked_ns
		runs runs
		wakes wakes
		syscalls syscalls
		errors errors
		events events
	EOF
	status 0 report --json --sort errors "$snap" && jq -c '[.tasks[].tid]' "$tmp/out" > "$tmp/page" && status 0 report --json "$snap" && ! jq -c '[.tasks[].tid]' "$tmp/out" | cmp -s - "$tmp/page" &&
		status 2 report --sort onpcu "$snap" && grep -q 'did you mean oncpu' "$tmp/err" && status 2 report --sort nonsense "$snap" && grep -q 'give oncpu, offcpu' "$tmp/err"
}

# ---- stat ----

stat() { "$FLIGHTREC" stat "$@"; }
recomputed() { /usr/bin/python3 tests/report/stat.py "$@"; }
# Waits of three tasks, by calls, objects, states and wakers; an object is missing where the call's registers tell it.
some_waits() {
	local i ts cpu
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact host box' 'fact begin_ns 99000000000' 'fact wait_min_ns 1000000' \
		'fact waits written=40;lost=1;over=2;held=0' 'fact events wait,sched_switch,sys_enter,sys_exit' 'horizon 0 99000000000' 'horizon 1 99000000000' 'complete 1 99000000000' 'complete 3 99000000000' \
		'process 7 1 0 1 db' 'thread 8 7 1 db-writer' 'process 9 1 0 1 web'
	for ((i = 0; i < 40; i++)); do
		ts=$((100000000000 + i * 5000000)) tid=$((7 + i % 3))
		echo "event $ts $((i % 2)) wait $tid id=$((i % 4 ? 0 : 202)) off=$((2000000 + i * 777)) blocked=$((i % 5 ? 1500000 + i * 777 : 0)) queued=500000 arg0=4096 waker_pid=$((i % 3 ? 9 : 0)) state=$((i % 5 ? i % 2 + 1 : 0)) waited_in=$((i % 7 ? 0 : 2)) waker=$((i % 3 ? 1 : 5)) object=$( ((i % 4)) && echo "$((i % 4)):/disk/$((i % 4))")"
		echo "event $((ts + 1000)) $((i % 2)) sys_enter $tid id=1"
		echo "event $((ts + 1000 + i * 333)) $((i % 2)) sys_exit $tid id=1 ret=$((i % 6 ? i : -2))"
	done
}
stat_of_waits() {
	some_waits | made "$tmp/waits.flight" && recomputed "$tmp/waits.flight" || return
	# the document's question: who waited on disk, as one line
	status 0 stat -f 'event == wait && state == D' --by comm,pid 'count() sum(blocked) max(blocked)' "$tmp/waits.flight" && prints '^  db +7 +[0-9]+ +[0-9.]+ ms +1\.53 ms$' &&
		prints '^note: waits shorter than 1 ms have no record' && prints '^note: 3 longer waits since the sessions began have no record'
}
stat_of_several() {
	local part parts=()
	for part in ..40% 50%..70% 60%..; do
		parts+=("$tmp/stat$part.flight")
		"$FLIGHTREC" cut --window "$part" -o "${parts[-1]}" "$snap" 2> "$tmp/err" || return
	done
	recomputed "${parts[@]}" && recomputed "${parts[2]}" "${parts[0]}" "${parts[1]}" || return
	# rates are of the time of each boot, not of that between them
	local boot
	for boot in 1 2; do
		printf '%s\n' "fact boot_id $boot" "fact host h$boot" 'fact arch x86_64' 'horizon 0 0' "event ${boot}000000000 0 sched_switch 7 next_pid=0" \
			"event ${boot}250000000 0 sched_switch 0 next_pid=7" | made "$tmp/boot$boot.flight" || return
	done
	status 0 stat --json --by host 'rate()' "$tmp/boot1.flight" "$tmp/boot2.flight" && jq -e '.window.time_ns == 500000000 and .total["rate()"] == 8 and ([.rows[]["rate()"]] == [8, 8])' "$tmp/out" || return
	# a file's group has the file's events; of those that two have, each is counted once, and that is said
	status 0 stat --json --by file "${parts[0]}" "${parts[1]}" && jq '.rows[]["count()"]' "$tmp/out" | sort -n > "$tmp/page" && ! jq -e '.notes[] | select(.kind == "overlap")' "$tmp/out" &&
		for part in 0 1; do "$FLIGHTREC" replay --count "${parts[part]}" 2> "$tmp/err"; done | sort -n | diff - "$tmp/page" || return
	status 0 stat --json --by file "${parts[@]}" && jq -e '.notes[] | select(.kind == "overlap")' "$tmp/out"
}
# What is wrong is named, with its place and cure.
stat_refuses() {
	local cure arg
	while IFS='|' read -r cure arg; do
		eval "status 2 stat $arg '$snap'" && grep -qF -- "$cure" "$tmp/err" || { echo "not told: $cure"; cat "$tmp/err"; return 1; }
	done <<- 'EOF'
		did you mean latency?|--by latncy
		did you mean program?|--by progam
		a key is missing here|--by comm,
		time:100ms|--by time
		time:100ms|--by time:5
		stands there twice|--by comm,comm
		8 at most|--by a,b,c,d,e,f,g,h,i
		did you mean count?|'cuont()'
		did you mean blocked?|'sum(blokced)'
		distinct(comm) tells|'sum(comm)'
		sum(blocked)|'sum()'
		count(ret < 0) counts|'sum(ret < 0)'
		p0 to p100|'p101(latency)'
		is one of count|'nonsense(latency)'
		is not closed|'count('
		stands there twice|'count() count()'
		as one argument|'count()' 'sum(ret)'
		count is a function: count()|'count(), count, sum(ret)'
		count is a function: count()|count
		p99 is a function: p99(latency)|p99
		did you mean count()?|--sort 'cuont()'
		there is no column|--sort nonsense
		two formats|--json --csv
		use == to compare|-f 'ret = 1'
	EOF
	status 2 stat --by comm && status 1 stat "$tmp/none" && echo "no snapshot" > "$tmp/text" && status 3 stat "$tmp/text" && status 0 stat --help
}
# What the session did not record, or had overwritten, is said: nothing else would tell it from none.
stat_tells_unknown() {
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1000000000' 'horizon 0 2000000000' 'complete 3 1500000000' 'fact events sched_switch' \
		'event 1000000000 0 sched_switch 7 next_pid=8' 'event 3000000000 0 sched_switch 8 next_pid=7 prev_state=1' | made "$tmp/few.flight" || return
	status 0 stat --json -f 'event == wait' --by comm 'count() sum(blocked)' "$tmp/few.flight" &&
		jq -e '.rows == [] and .total == {"count()": 0, "sum(blocked)": null} and any(.notes[]; .kind == "not_recorded" and (.text | contains("wait"))) and
		all(.notes[]; .kind != "horizon")' "$tmp/out" || return
	# of what is not recorded there is no time from which on it is complete; of what is recorded there is, and nothing to warn of
	for ask in 'replay --count' 'export --to csv' 'report' 'view -o -'; do
		"$FLIGHTREC" $ask -f 'event in (wait, sys_enter)' "$tmp/few.flight" > "$tmp/out" 2> "$tmp/err"
		grep -qF 'warning: what the filter takes was not recorded, so it is not known: wait,sys_enter; ' "$tmp/err" || return
		"$FLIGHTREC" $ask -f 'event in (wait, sched_switch)' "$tmp/few.flight" > "$tmp/out" 2> "$tmp/err"
		! grep -q 'was not recorded' "$tmp/err" || return
	done
	status 0 stat --json -f 'event in (sys_exit, sched_waking)' 'sum(latency)' "$snap" && jq -r '.notes[] | select(.kind == "no_value").text' "$tmp/out" | tr -d , |
		grep -q " of $("$FLIGHTREC" replay --count -f 'event == sys_exit' "$snap" 2> "$tmp/err") events" || return
	status 0 stat 'sum(latency)' "$tmp/few.flight" && prints '^note: not recorded, so not known: .*sys_exit' && prints '^ +-$' || return
	status 0 stat --json -f 'event == sched_switch' --by comm 'sum(offcpu) sum(queued)' "$snap" && jq -e 'any(.notes[]; .kind == "next_task") and any(.notes[]; .kind == "horizon") and
		any(.notes[]; .kind == "gaps") and any(.notes[]; .kind == "lost")' "$tmp/out" || return
	status 0 stat --json -f 'event == sched_switch' --by next_comm 'sum(oncpu) sum(queued)' "$snap" && jq -e 'all(.notes[]; .kind != "next_task")' "$tmp/out" || return
	local since
	since=$(jq -r '.notes[] | select(.kind == "horizon").text' "$tmp/out" | grep -oP -- '--since \K[0-9]+' | sort -n | tail -n 1) && [[ $since ]] &&
		status 0 stat --json --since "$since" -f 'event == sched_switch' "$snap" && jq -e 'all(.notes[]; .kind != "horizon")' "$tmp/out"
}
stat_sorts() {
	status 0 stat --csv --by comm --sort comm 'count() max(ts)' "$snap" && sed 1d "$tmp/out" | cut -d, -f1 > "$tmp/page" && [[ -s $tmp/page ]] && LC_ALL=C sort -c "$tmp/page" || return
	status 0 stat --csv --by comm --sort '-max( ts )' 'count() max(ts)' "$snap" && sed 1d "$tmp/out" | tr -d '\r' | sed 's/.*,//' > "$tmp/page" && sort -n -c "$tmp/page" || return
	status 0 stat --by comm --top 2 "$snap" && prints '^  \(other\) +[0-9,]+$' && prints '^  \(all\) +[0-9,]+$' && prints 'of which \(other\) has [0-9]+: --top 0 shows all$'
}

# All programs at once: make takes longer to see that one is up to date than most checks take.
make -s build/tests/{report/make_load,rehearse/make,symbols/make_stacks,top/make} && build/tests/report/make_load "$snap" || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
# What cgroups were thinned of is told by each reader, of files that were cut and merged, too; and only if it concerns the window.
thinned_lines() {
	printf '%s\n' 'fact arch x86_64' 'fact boot_id b' 'fact host box' 'fact begin_ns 1000000000' 'fact epoch 7' 'fact session s' 'fact thin_ns 60000000000' 'fact thinned_runs 246' \
		'fact events sys_enter,sys_exit,sched_switch,sched_waking,sched_wakeup_new,thinned' 'horizon 0 1000000000' 'horizon 1 1000000000' 'complete 1 1000000000' 'process 7 1 0 1 app'
	local i
	for ((i = 0; i < 10; i++)); do
		echo "event $((1000000000 + i * 100000000)) 0 sys_enter 7 id=39"
		echo "event $((1000000500 + i * 100000000)) 0 sys_exit 7 id=39 ret=7"
		echo "event $((1000001000 + i * 100000000)) 1 sched_switch 7 next_pid=0"
	done
	echo 'event 1400000000 0 thinned 7 of_cpu=0 cgroup=4242 since=1250000000 until=1390000000 calls=100 faults=3 signals=0 tracepoints=0'
	echo 'event 1800000000 1 thinned 7 of_cpu=1 cgroup=4242 since=1300000000 until=1750000000 calls=20 faults=0 signals=1 tracepoints=0'
	echo 'event 1850000000 1 thinned 9 of_cpu=1 cgroup=99 since=1840000000 until=1850000000 calls=0 faults=0 signals=0 tracepoints=5'
}
all_tell_thinned() {
	local file=$1 all='120 system calls, 3 page faults, 1 signal, 5 tracepoints. events'
	status 0 "$FLIGHTREC" report "$file" && prints '^  thinned +cgroup 4242: 120 system calls, 3 page faults, 1 signal left out in 500 ms: its figures are of at least so many$' &&
		prints '^ +cgroup 99: 5 tracepoints. events left out in 10(\.0*)? ms' &&
		status 0 "$FLIGHTREC" report --json "$file" && jq -e '.thinned == [{"cgroup":4242,"path":null,"since_ns":1250000000,"until_ns":1750000000,"calls":120,"faults":3,"signals":1,"tracepoints":0},
			{"cgroup":99,"path":null,"since_ns":1840000000,"until_ns":1850000000,"calls":0,"faults":0,"signals":0,"tracepoints":5}]' "$tmp/out" &&
		status 0 "$FLIGHTREC" stat "$file" && prints "^note: $all of cgroups beyond their share were left out" &&
		status 0 "$FLIGHTREC" diff "$file" "$file" && [[ $(grep -cE "^   thinned: $all left out" "$tmp/out") == 2 ]] &&
		status 0 "$FLIGHTREC" diff --json "$file" "$file" && jq -e '.a.thinned_calls == 120 and .b.thinned_tracepoints == 5' "$tmp/out" &&
		status 0 "$FLIGHTREC" info "$file" && prints '246 time\(s\) that a program left out' && status 0 "$FLIGHTREC" info --json "$file" && jq -e '.thin_ns == 60000000000 and .thinned_runs == 246' "$tmp/out" &&
		status 0 "$FLIGHTREC" replay --on 'latency:syscall>1ms' "$file" && prints 'beyond their share were left out' &&
		status 0 "$FLIGHTREC" replay --on 'latency:wakeup>1ms' "$file" && ! grep 'beyond their share' "$tmp/out"
}
thinned_is_told() {
	thinned_lines | made "$tmp/thinned.flight" && all_tell_thinned "$tmp/thinned.flight" || return
	# the event itself
	status 0 "$FLIGHTREC" replay --json -f 'event == thinned' "$tmp/thinned.flight" && [[ $(jq -s 'map(.calls) | add' "$tmp/out") == 120 ]] || return
	# cut by what the events themselves do not match, and merged of parts one of which has them as context: the same, once
	rm -f "$tmp"/thinned-*.flight
	status 0 "$FLIGHTREC" cut -f 'event == sys_enter || event == sys_exit' -o "$tmp/thinned-calls.flight" "$tmp/thinned.flight" && all_tell_thinned "$tmp/thinned-calls.flight" || return
	status 0 "$FLIGHTREC" cut --cpu 0 -o "$tmp/thinned-0.flight" "$tmp/thinned.flight" && status 0 "$FLIGHTREC" cut --cpu 1 -o "$tmp/thinned-1.flight" "$tmp/thinned.flight" &&
		status 0 "$FLIGHTREC" merge -o "$tmp/thinned-both.flight" "$tmp/thinned-0.flight" "$tmp/thinned-1.flight" && status 0 "$FLIGHTREC" report --json "$tmp/thinned-both.flight" &&
		jq -e '[.thinned[].calls] == [120, 0]' "$tmp/out" || return
	# a window that nothing of it concerns
	status 0 "$FLIGHTREC" report --until 1100000000 "$tmp/thinned.flight" && ! grep thinned: "$tmp/out" && status 0 "$FLIGHTREC" report --json --until 1100000000 "$tmp/thinned.flight" && jq -e '.thinned == []' "$tmp/out" &&
		status 0 "$FLIGHTREC" stat --until 1100000000 "$tmp/thinned.flight" && ! grep 'beyond their share' "$tmp/out" || return
	# a session that thins, and left nothing out; and one that does not
	thinned_lines | grep -v ' thinned ' | made "$tmp/none.flight" && status 0 "$FLIGHTREC" report --json "$tmp/none.flight" && jq -e '.thinned == []' "$tmp/out"
}
check "the snapshot has everything" has_all
check "all figures" figures
check "who sent the signal" tells_who_killed
check "all figures behind a time" figures --since 30%
check "all figures of a window" figures --window 20%..trigger
check "all figures of a window before the horizon" figures --until 15%
check "all figures of what a filter takes" figures -f 'cpu == 1 || ret < 0'
check "all figures of what a filter takes in a window" figures --since 60% -f 'event == sched_switch && next_pid > 110 || comm ~ "task-1*"'
check "another task, longer moments" figures --task 110 --moment 30ms
check "the wake chain of a task that ran, was preempted, sleeps, waits for a CPU" whatever_it_does
check "a task that never leaves its CPU" never_switches
check "what began before the window" began_before
check "a task that wakes itself" wakes_itself
check "a CPU whose ring was copied before the others" copied_early
check "the page" page_tells
check "what ran in a hole is not known" not_known_in_a_hole
check "a trigger outside the window" trigger_outside
check "the page is plain where it is piped" is_plain
check "the page is as wide as COLUMNS says" is_as_wide
check "a narrow page is cut" is_as_narrow
check "a wide page has more columns" wide_has_more
check "how busy a CPU is with what a filter takes" busy_with_a_filter
check "diff is as wide as COLUMNS says" diff_fits
check "colour on a terminal" is_colourful
check "--top" top_is_top
check "usage" usage
check "a damaged snapshot" damaged
check "a damaged part" damaged_part
check "a snapshot of some CPUs" cut_away --cpu 1,3
check "a snapshot that was cut" cut_away --window 20%..90% -f 'event != sys_exit'
check "a snapshot of some processes" tasks_cut_away --pid 102,106
check "a snapshot of what a filter took" tasks_cut_away -f 'event != sched_switch || next_pid > 110'
check "rare events are those of the window" rare_of_a_window
check "what was not recorded is not 0, and the kernel's own count of softirqs is told" not_recorded
check "a snapshot of switches and wakings" cut_away -f 'event ~ "sched_*" || event ~ "irq*" || event == softirq_entry'
check "a snapshot of a process and a filter" cut_away --pid 102,106 -f 'event != sys_exit'
check "nothing to report" empty_window
check "a process that exits: its cause" exit_is_about_its_cause
check "a thread that executes a program under another tid" exec_of_another_thread
check "a recursion takes a line" recursion_is_short
check "a recursion of several functions takes as many lines; the outermost frames are shown, too" recursion_of_several_is_short
check "a request that is issued again" issued_again
check "no event at all" nothing_at_all
check "a window without events" window_of_nothing
check "replay knows what report knows" replay_agrees
check "replay and report know what precedes a hole, and not what precedes the recording" replay_agrees_before_holes
check "an end without a number" ends_have_names
check "what changed before the trigger" /usr/bin/python3 tests/report/moved.py "$tmp"
check "a task by its name" task_by_name
check "bars and stacks" shows_the_moment
check "disks have names" disks_have_names
check "files of one moment" beside_each_other
check "several snapshots in one report" several_in_one
check "--sort" sorted_by
check "--by" added_up_by
check "stat: all keys and functions" recomputed "$snap"
check "stat: waits" stat_of_waits
check "stat: several files" stat_of_several
check "stat: mistakes" stat_refuses
check "stat: what is not known is said" stat_tells_unknown
check "stat: order, and the rest" stat_sorts
check "what was thinned is told by all readers, also of cut and merged files" thinned_is_told
finish
