#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The commands that read snapshots, as a user calls them: output, messages, exit statuses. No root, no BPF; what is refused before it loads any, as root.
set -u
cd "$(dirname "$0")/../.." || exit
export TZ=UTC LC_ALL=C
export FLIGHTREC=$PWD/build/flightrec
flightrec=$FLIGHTREC here=$PWD/tests/cli
. tests/check.sh

# status N COMMAND...: run the command with its output in $tmp/out and $tmp/err; its exit status has to be N
status() {
	local want=$1 got
	shift
	"$@" > "$tmp/out" 2> "$tmp/err" < /dev/null
	got=$?
	((got == want)) || { echo "exit status $got, not $want: $*"; cat "$tmp/err"; return 1; }
}
says() { grep -qF -- "$1" "$tmp/err" || { echo "standard error lacks: $1"; cat "$tmp/err"; return 1; }; }
is_quiet() { [[ ! -s $tmp/err ]] || { echo "standard error:"; cat "$tmp/err"; return 1; }; }
prints() { [[ $(cat "$tmp/out") == "$1" ]] || { echo "printed $(head -n 3 "$tmp/out"), not $1"; return 1; }; }

hostile_names() {
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$here/hostile.py" "$flightrec" build/tests/cli/make_hostile
}

# Recordings that are refused while they begin, as root.
refused() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$here/refused.py" "$flightrec" "$1"; }

# All programs at once: make takes longer to see that one is up to date than most checks take.
make -s build/tests/cli/make_{snapshot,hostile,hungry,profile,wide} build/tests/{rehearse/make,symbols/make_stacks,report/make_load,export/big} &&
	build/tests/cli/make_snapshot "$tmp/a.flight" || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
snap=$tmp/a.flight
head -c -300 "$snap" > "$tmp/cut.flight"
echo "not a snapshot" > "$tmp/text"
: > "$tmp/empty"

# A lap is missing from the small snapshot. That, and nothing else, is reported.
lacks='flightrec: warning: events of CPUs are missing in 1 place: --gaps shows where and why'
says_what_lacks() { diff <(echo "$lacks") "$tmp/err"; }
text_output() { status 0 "$flightrec" replay "$snap" && says_what_lacks && diff "$here/expected.txt" "$tmp/out"; }
json_output() { status 0 "$flightrec" replay --json "$snap" && says_what_lacks && diff "$here/expected.json" "$tmp/out"; }

# Any JSON parser reads it. The keys that every event has come first, and --pos adds one at the end.
json_is_json() {
	"$flightrec" replay --json --pos "$snap" | /usr/bin/python3 -c '
import json, sys
cnt = 0
for line in sys.stdin.buffer:
    event = json.loads(line.decode("utf-8"))
    assert list(event)[:6] == ["ts", "cpu", "event", "pid", "tid", "comm"], line
    assert list(event)[-1] == "pos" and list(event["pos"]) == ["epoch", "tier", "seq", "offset"], line
    cnt += 1
assert cnt == 14, cnt'
}

count() {
	local want=$1
	shift
	status 0 "$flightrec" replay --count "$@" "$snap" && is_quiet && prints "$want"
}
filters() {
	count 14 &&
		count 2 -f 'event == "sched_switch"' &&
		count 1 -f 'ret == -ENOENT' &&
		count 2 -f 'id == openat' &&
		count 12 -f 'event not in (sys_enter, sys_exit)' && count 0 -f 'id not in (openat) && id in (openat)' &&
		count 6 -f 'comm ~ "w*x"' &&
		count 1 -f 'comm == "w\x1b[31m\xff x" && sig == SIGSEGV' &&
		count 1 -f 'tid == 101 && comm == "second"' &&
		count 0 -f 'tier == stack' &&
		count 1 -f 'ustack[1] == 0x401234'
}
windows() {
	count 14 --since 0ms && count 10 --until -0ms && count 2 --until 1ms && count 6 --since -0ms &&
		count 7 --since 2ms --until 4ms &&
		count 2 --since 10004000000 --until 10004000000 &&
		count 3 --since 00:00:00.007 &&
		count 3 --since 2026-01-01T01:00:00.007+01:00 &&
		count 10 --until 50%
}
# -2us is before the trigger or, where none is among the events, before the moment at which all tiers end: a tier that goes on, and
# which tiers are shown, do not move it.
before_the_trigger() {
	local file=$tmp/ends.flight common="100000000005000 100000000006900 100000000008000 100000000090000"
	local rows=('fact arch x86_64' 'fact boot_id b' 'fact begin_ns 1' 'horizon 0 0' 'horizon 1 0' 'copied 0 100000000007000' 'copied 1 100000000009000'
		'event 100000000001000 0 sched_switch 0 next_pid=7' 'event 100000000005000 0 sched_switch 7 next_pid=8'
		'event 100000000006900 0 sched_switch 8 next_pid=0' 'event 100000000008000 1 sched_switch 0 next_pid=9'
		'event 100000000090000 1 sched_process_exit 9 exit_code=0')
	snapshot() { rm -f "$file" && printf '%s\n' "${rows[@]}" "$@" | build/tests/rehearse/make "$file"; }
	shows() { status 0 "$flightrec" replay --json "${@:2}" "$file" && [[ $(jq .ts "$tmp/out" | xargs) == "$1" ]] || { echo "${*:2}: $(jq .ts "$tmp/out" | xargs), not $1"; return 1; }; }
	snapshot || return
	shows "$common" --since -2us && shows "$common" --window -2us.. && shows 100000000090000 --life --since -2us &&
		shows "${common% *}" --tier main --since -2us && shows "100000000001000 100000000005000" --until -2us || return
	snapshot 'fact trigger_ts 300000000000000' && shows "$common" --since -2us || return # cut away, perhaps
	snapshot 'fact trigger_ts 100000000005500' && shows "$common" --since -1us && shows 100000000001000 --until -1us || return
	shows "100000000006900 100000000008000 100000000090000" --since -0us && shows 100000000090000 --life --since -1us || return
	status 0 "$flightrec" report --json --since -1us "$file" && jq -e '.window.begin_ns == 100000000004500' "$tmp/out" > "$tmp/page" || return
	status 0 "$flightrec" diff --json --window-a -1us.. "$file" && jq -e '.a.begin_ns == 100000000004500' "$tmp/out" > "$tmp/page" || return
	status 0 "$flightrec" export --to csv --since -1us "$file" && [[ $(grep -c '^1' "$tmp/out") == 4 ]] || return
	rm -f "$file.cut" && status 0 "$flightrec" cut --window -1us.. -o "$file.cut" "$file" && status 0 "$flightrec" replay --count "$file.cut" && prints 4
}
# Numbers that have names, wall time and what events end, in JSON and CSV: as text and replay --pairs have them.
words_and_wall() {
	local load=tests/gate/load.flight
	status 0 "$flightrec" replay --json --words --wall "$snap" && /usr/bin/python3 - "$tmp/out" << 'EOF' || return
import json, re, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
calls = [r for r in rows if r["event"] in ("sys_enter", "sys_exit")]
assert [r["id"] for r in calls] == ["openat", "openat"] and calls[1]["ret"] == "-ENOENT", calls
assert [r["sig"] for r in rows if r["event"] == "signal_deliver"] == ["SIGSEGV"], rows
assert all(isinstance(r["tid"], int) and isinstance(r["ts"], int) for r in rows)
assert rows[0]["wall"] == "2026-01-01T00:00:00.001000000Z" and list(rows[0])[:6] == ["ts", "cpu", "event", "pid", "tid", "comm"], rows[0]
EOF
	status 0 "$flightrec" export --to csv --words --wall --pairs "$load" && cp "$tmp/out" "$tmp/load.csv" && status 0 "$flightrec" replay --json --words --wall --pairs "$load" &&
		/usr/bin/python3 - "$tmp/load.csv" "$tmp/out" << 'EOF' || return
import csv, json, sys
table = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
rows = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
assert len(table) == len(rows) > 7000
cell = lambda v: "" if v is None else str(v)
seen = {}
for t, r in zip(table, rows):
    assert t["wall"] == cell(r["wall"]) and t["ts"] == str(r["ts"]), (t, r)
    for key in ("latency_ns", "offcpu_ns", "queued_ns", "blocked_ns", "oncpu_ns"):
        assert t[key] == cell(r.get(key)), (key, t, r)
        seen[key] = seen.get(key, 0) + (t[key] != "")
    if r["event"] == "sched_switch":
        assert t["waker_tid"] == cell(r.get("waker")), (t, r)
        assert t["prev_state"] == str(r["prev_state"]), (t, r)
    for key in ("id", "ret", "vec", "sig"):
        if isinstance(r.get(key), (int, str)):
            assert t[key] == str(r[key]), (key, t, r)
            seen[key] = seen.get(key, 0) + isinstance(r[key], str)
assert all(seen[key] for key in ("latency_ns", "offcpu_ns", "queued_ns", "blocked_ns", "oncpu_ns", "id", "ret", "vec")), seen
EOF
	status 2 "$flightrec" replay --words "$snap" && says "are for --json" && status 2 "$flightrec" export --to ctf --pairs -o "$tmp/no" "$snap" && says "need --to json or csv" &&
		status 0 "$flightrec" export --to csv "$snap" && [[ $(head -c 30 "$tmp/out") == ts,cpu,event,pid,tid,comm,* ]] && ! grep -q 'wall\|latency_ns' "$tmp/out"
}
# Whose an event is: columns that text, JSON and csv have alike, and filters and stat by the same names.
columns() {
	local of="$tmp/cli-columns.flight" id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
	printf '%s\n' 'fact boot_id b' 'fact arch x86_64' 'horizon 0 0' 'process 100 1 0 7 ma"in' 'thread 101 100 1 worker' \
		'process 200 1 0 9 other' 'proc {"pid":100,"start_ns":1,"cgroup":"/docker/'$id'"}' \
		'proc {"container_id":"'$id'","container":"web","pod":"api-0","namespace":"pr\u001bod","image":"reg/nginx:1"}' \
		'event 1000 0 sched_process_exit 101 exit_code=0' 'event 2000 0 sched_process_exit 200 exit_code=0' | build/tests/rehearse/make "$of" || return
	status 0 "$flightrec" replay --columns program,pod,namespace "$of" && grep -q ' worker  *101 .* whose=\[program=ma"in pod=api-0 namespace=pr\\x1bod\]$' "$tmp/out" &&
		grep -q ' other .* group_dead=0 whose=\[program=other\]$' "$tmp/out" || return
	status 0 "$flightrec" replay --json --columns all "$of" && cp "$tmp/out" "$tmp/columns.json" && status 0 "$flightrec" export --to csv --columns all --wall "$of" && cp "$tmp/out" "$tmp/columns.csv" &&
		status 0 "$flightrec" export --to json --columns all "$of" && cmp -s "$tmp/out" "$tmp/columns.json" && /usr/bin/python3 - "$tmp/columns.json" "$tmp/columns.csv" $id << 'EOF' || return
import csv, json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
table = list(csv.DictReader(open(sys.argv[2], newline="", encoding="utf-8")))
id = sys.argv[3]
want = {"program": 'ma"in', "cgroup": "/docker/" + id, "container": "web", "container_id": id, "pod": "api-0", "namespace": "pr\x1bod",
        "image": "reg/nginx:1", "unit": None}
assert [r["whose"] for r in rows] == [want, {**dict.fromkeys(want), "program": "other"}], rows
for r, t in zip(rows, table, strict=True):
    for name, v in r["whose"].items():
        assert t["whose." + name] == (v or "").replace("\x1b", "\\x1b"), (name, r, t)
    assert t["exit_code"] == str(r["exit_code"]) and t["wall"] == "", t
EOF
	status 0 "$flightrec" replay --count -f 'program == "other" || pod ~ "api-*" && program ~ "ma*"' "$of" && prints 2 && status 0 "$flightrec" replay --count -f 'program == "worker"' "$of" &&
		prints 0 && status 0 "$flightrec" stat --by program,pod "$of" && grep -qE '^  ma"in +api-0 +1' "$tmp/out" || return
	status 2 "$flightrec" replay --columns prgram "$of" && says "did you mean program" && status 2 "$flightrec" replay --columns pod, "$of" && says "give some of" &&
		status 2 "$flightrec" replay --columns pod --count "$of" && says "cannot be used with --count" && status 2 "$flightrec" export --to ctf --columns pod -o "$tmp/no" "$of" &&
		says "needs --to json, csv or folded: this format has it" && status 2 "$flightrec" replay --on crash:pod=api-0 "$of" && says "pod is known on replay only" &&
		status 1 "$flightrec" replay --on 'event:program == "x"' "$of" && grep -q "take comm" "$tmp/out" || return
	# the cgroup's path alone tells a unit; and the cure is one that the kind of trigger takes
	status 2 "$flightrec" replay --on crash:unit=x "$of" && says "unit is known on replay only: take the cgroup's path" && says "(cgroup=GLOB)" && ! grep -q engine "$tmp/err" &&
		status 2 "$flightrec" replay --on every:1h,pod=x "$of" && says "pod is known on replay only" && ! grep -q GLOB "$tmp/err"
}
# What a task calls itself is not another column, and not its process's name where nothing but a renaming is known of it.
columns_of_names() {
	local of="$tmp/cli-columns-names.flight"
	printf '%s\n' 'fact boot_id b' 'fact arch x86_64' 'horizon 0 0' 'process 300 1 0 9 y' \
		'event 500 0 task_rename 300 target_pid=300 oldcomm=a newcomm=x~pod=y]\' 'event 600 0 task_rename 400 target_pid=400 oldcomm=old newcomm=thread' \
		'event 1000 0 sched_process_exit 300 exit_code=0' 'event 2000 0 sched_process_exit 400 exit_code=0' 'event 3000 0 sched_process_exit 0 exit_code=0' |
		build/tests/rehearse/make "$of" || return
	status 0 "$flightrec" replay --columns all "$of" && grep -qF ' whose=[program=x\x20pod=y\x5d\]' "$tmp/out" && grep -q ' thread .*group_dead=0$' "$tmp/out" &&
		[[ $(grep -o 'whose=.*' "$tmp/out" | tail -n 1) == 'whose=[program=swapper/0]' ]] &&
		status 0 "$flightrec" replay --json --columns program "$of" && grep -qF '"whose":{"program":"x pod=y]\\"}' "$tmp/out" &&
		grep -q '"comm":"thread".*"whose":{"program":null}' "$tmp/out" && status 0 "$flightrec" replay --count -f 'program == "thread"' "$of" && prints 0
}
# Lists of names have one parser.
lists_of_names() {
	local args
	for args in "--tier mian:tier 'mian': did you mean main" "--tier main,mian:tier 'mian': did you mean main" "--tier main,:tier '': give some of main, life, stack, wait, rare, with commas, or all" \
		"--columns prgram:column 'prgram': did you mean program" "--columns pod,,unit:column '': give some of program, cgroup, container, "; do
		# shellcheck disable=SC2086
		status 2 "$flightrec" replay ${args%%:*} "$snap" && says "${args#*:}" || return
	done
}
# If no event can be in the window, the reason is given; the exit status is still 0.
empty_windows() {
	local of="$tmp/cli-windows.flight"
	cp "$snap" "$of"
	empty() { status 0 "$flightrec" replay --count "${@:2}" "$of" && prints 0 && says "$1: no event is in it" && says "flightrec info $of"; }
	empty "the window begins after the last event" --since 1d && empty "the window begins after the last event" --since 2099-01-01 &&
		empty "the window begins after the last event" --since 99999999999 --until 199999999999 &&
		empty "the window ends before the first event" --until 1999-01-01 && empty "the window ends before the first event" --until -1d &&
		empty "the window ends before it begins" --window 70%..20% && [[ $(wc -l < "$tmp/err") == 1 ]] &&
		status 0 "$flightrec" replay --since 1d --until 1h "$of" && says "after the last event" &&
		status 0 "$flightrec" replay --count --since -1d --until 1d "$of" && is_quiet && prints 14
}
tiers() { count 4 --life && count 4 --tier life && count 1 --tier stack && count 15 --tier all && count 14 --tier main,life; }
several_files() {
	cp "$snap" "$tmp/b.flight"
	count 14 "$tmp/b.flight" || return
	status 3 "$flightrec" replay --count "$tmp/text" "$snap" && prints 14 && says "$tmp/text: not a snapshot"
}
pacing() {
	local begin end
	begin=$(date +%s%N)
	status 0 "$flightrec" replay --speed 0.05x "$snap" || return
	end=$(date +%s%N)
	# 8 ms at a twentieth of the speed are 160 ms: it is not over sooner. When each event is due: tests/unit/test_pace.c
	((end - begin > 155000000)) && diff "$here/expected.txt" "$tmp/out"
}

# Only what could be read is printed.
cut_file() {
	status 3 "$flightrec" replay "$tmp/cut.flight" && says "incomplete" || return
	diff "$here/expected.txt" "$tmp/out" | grep '^>' && return 1
	status 3 "$flightrec" info "$tmp/cut.flight" && status 3 "$flightrec" info --json "$tmp/cut.flight" && jq -e '.damage > 0' "$tmp/out"
}
# Damage in any byte is reported. No event is printed that is not in the sound file. Only names may differ.
damaged_file() { /usr/bin/python3 -B "$here/damaged.py" "$flightrec" "$snap" "$here/expected.json" "$tmp/bad.flight"; }
# Where a part of the file that is gone said something, its label is not left alone.
facts_are_missing() {
	local command tiny="$here/../files/golden/tiny.flight"
	for command in info report; do
		status 0 "$flightrec" "$command" "$tiny" || return
		grep -E '^  [a-z]+ +(,|$)' "$tmp/out" && { echo "$command says nothing there"; return 1; }
	done
	return 0
}
# The kernel's own count of softirqs, from the recording's begin to the snapshot: a sum that went down has wrapped at 32 bits, and of one
# that was not there yet nobody knows since when it counts, as of a CPU that was offline. Where the begin is not known, nothing is told.
softirqs_since_begin() {
	local file=$tmp/softirqs.flight counted='fact softirqs HI=1;TIMER=14;NET_RX=4811;RCU=3;SCHED=7' ms='fact softirq_ms 0=10;1=1700;10=40;2=50;4=9'
	printf '%s\n' 'fact softirqs_begin HI=1;TIMER=4294967290;NET_RX=100;SCHED=7' 'fact softirq_ms_begin 0=10;1=500;10=0;2=20' "$counted" "$ms" 'exit 100 512' |
		build/tests/symbols/make_stacks "$file" && status 0 "$flightrec" info "$file" &&
		diff <(grep -A 1 '^  softirqs' "$tmp/out") <(printf '  %-10s %s\n' softirqs '20 TIMER, 4,711 NET_RX' '' \
			'time in them, in steps of a tick: 1.27 s in all: CPU 1 1.20 s, CPU 10 40 ms, CPU 2 30 ms, ...') &&
		status 0 "$flightrec" info --json "$file" &&
		diff <(jq -c .softirqs,.softirq_ms "$tmp/out") <(printf '%s\n' '{"HI":0,"TIMER":20,"NET_RX":4711,"SCHED":0}' '{"0":0,"1":1200,"10":40,"2":30}') || return
	rm "$file"
	printf '%s\n' "$counted" "$ms" 'exit 100 512' | build/tests/symbols/make_stacks "$file" && status 0 "$flightrec" info "$file" &&
		! grep '^  softirqs\|time in them' "$tmp/out" && status 0 "$flightrec" info --json "$file" && jq -e 'has("softirqs") or has("softirq_ms") | not' "$tmp/out"
}
missing_file() {
	status 1 "$flightrec" replay "$tmp/none" && says "cannot open $tmp/none: No such file" &&
		status 1 "$flightrec" info "$tmp/none" && says "No such file" &&
		status 1 "$flightrec" verify "$snap" "$tmp/none" && says "No such file" &&
		status 1 "$flightrec" replay "$tmp" && says "directory"
}
# However little memory there is, a command that fails says why, and what to do.
little_memory() {
	local limit got args
	for ((limit = 10000; limit < 40000; limit += 1000)); do
		(ulimit -v $limit && exec "$flightrec" top --once tests/gate/load.flight) > "$tmp/out" 2> "$tmp/err"
		got=$?
		((!got)) || [[ -s $tmp/err ]] || { echo "status $got with $limit KiB, and not a word"; return 1; }
	done
	for ((limit = 8500; limit < 12000; limit += 100)); do
		(ulimit -v $limit && exec "$flightrec" list -o tests/files/golden) > "$tmp/out" 2> "$tmp/err"
		got=$?
		((got != 3)) && ! grep damaged "$tmp/out" || { echo "sound files are damaged with $limit KiB"; return 1; }
	done
	for ((limit = 20000; limit < 60000; limit += 5000)); do
		for args in report "replay --json" "cut --window 10%.. -o $tmp/part" "merge -o $tmp/part"; do
			# shellcheck disable=SC2086
			(ulimit -v $limit && exec "$flightrec" $args tests/gate/load.flight) > "$tmp/out" 2> "$tmp/err"
			got=$?
			rm -f "$tmp/part"
			((!got)) || grep -q "memory: " "$tmp/err" || { echo "$args: status $got with $limit KiB, and no cure"; cat "$tmp/err"; return 1; }
		done
	done
}
# A file made of heads that claim large parts is not searched for hours.
trap_file() {
	/usr/bin/python3 - "$snap" "$tmp/trap.flight" << 'EOF' || return
import struct, sys
with open(sys.argv[1], "rb") as f:
    whole = f.read()
at = whole.index(b"fl-index") - 8
magic, _ = struct.unpack_from("<II", whole, at)
head = struct.pack("<II", magic, 15 << 20) + whole[at + 8:at + 24]
with open(sys.argv[2], "wb") as f:
    f.write(whole[:at] + head * 500000 + bytes(16 << 20))
EOF
	status 3 timeout 600 "$flightrec" info "$tmp/trap.flight" && grep -q "not a part of a snapshot" "$tmp/out" "$tmp/err"
}
# A snapshot is read at several places, so it can be neither read from a pipe nor written into one.
pipes() {
	local got command
	got=$(cat "$snap" | "$flightrec" replay /dev/stdin 2> "$tmp/err" || echo $?)
	[[ $got == 1 ]] && says "is a pipe: a snapshot is read at several places" || return
	mkfifo "$tmp/fifo" || return
	for command in info replay report stat verify "incidents" "profile" "top --once" "cut -o $tmp/new" "symbols" "diff $snap" "export --to csv"; do
		# shellcheck disable=SC2086
		status 1 "$flightrec" $command "$tmp/fifo" && says "$tmp/fifo: is a pipe" || return
	done
	status 1 "$flightrec" replay --count "$snap" "$tmp/fifo" && says "$tmp/fifo: is a pipe" || return
	"$flightrec" replay --count /dev/stdin < "$snap" > "$tmp/out" && prints 14 || return
	"$flightrec" replay --count - < "$snap" > "$tmp/out" && prints 14 && "$flightrec" verify - < "$snap" > "$tmp/out" || return
	got=$(cat "$snap" | "$flightrec" replay - 2> "$tmp/err" || echo $?)
	[[ $got == 1 ]] && says "-: is a pipe" && status 2 "$flightrec" view - && says "name the page with -o" || return
	(cd "$tmp" && status 3 "$flightrec" replay - && says "not a snapshot" && status 2 "$flightrec" cut -o - "$snap" && says "name the new file" &&
		status 2 "$flightrec" merge -o - "$snap" && says "name the new file" && [[ ! -e ./- ]])
}
not_ours() {
	command -v setpriv > /dev/null || { echo "setpriv is not installed"; return 77; }
	((EUID == 0)) || { echo "root reads everything, others are tried as root"; return 77; }
	cp "$flightrec" "$tmp/flightrec" && cp "$snap" "$tmp/closed.flight" && chmod 755 "$tmp" && chmod 600 "$tmp/closed.flight" || return
	status 1 setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/flightrec" replay "$tmp/closed.flight" &&
		says "Permission denied" && says "as root, or a copy"
}
no_snapshot() {
	local file
	for file in "$tmp/text" "$tmp/empty" "$flightrec" /dev/null; do
		status 3 "$flightrec" replay "$file" && says "not a snapshot" &&
			status 3 "$flightrec" info "$file" && status 3 "$flightrec" verify "$file" || return
	done
}
# What --exec runs is taken as it is. A user that this host lacks is found before anything is made.
hooks() {
	local command
	for command in '"a b"' '"a b" c' 'a \' 'a \"b\"'; do
		status 0 "$flightrec" record --exec "$command" --exec-user 0 -o "$tmp" --check-config &&
			grep -qxF "each snapshot runs, as 0: $command" "$tmp/out" || { cat "$tmp/out"; return 1; }
	done
	status 2 "$flightrec" record -n "cli-test-$$" --exec a --exec-user no-such-user -o "$tmp/no-hooks" -- true &&
		says "ExecUser: no user 'no-such-user' on this host" && [[ ! -e $tmp/no-hooks ]]
}
# A name that the journal does not know is perhaps a mistake.
incidents_of_nobody() {
	local dir=$tmp/journal
	mkdir "$dir" || return
	status 4 "$flightrec" incidents -n no-such-session -o "$dir" && says "no session 'no-such-session' is recording, and there is no journal" || return
	: > "$dir/incidents.journal"
	status 4 "$flightrec" incidents -n no-such-session -o "$dir" && says "in $dir has none of it" && status 0 "$flightrec" incidents -o "$dir"
}
# The name is checked first, so this needs neither a session nor root.
wrong_names() {
	local command
	for command in record dump status profile follow watch reload stop tail incidents; do
		status 2 "$flightrec" $command -n a/b && says "'a/b' is not a session's name: up to " || return
	done
}
wrong_usage() {
	status 2 "$flightrec" && status 2 "$flightrec" nonsense && says "no command 'nonsense': \`flightrec" &&
		status 2 "$flightrec" repot && says "did you mean report?" &&
		status 2 "$flightrec" replay && says "name the snapshot" &&
		status 2 "$flightrec" replay --since yesterday "$snap" && says yesterday &&
		status 2 "$flightrec" replay --speed -1 "$snap" && says "--speed" &&
		status 2 "$flightrec" replay --gaps --count "$snap" && says "cannot be used with --count" &&
		status 2 "$flightrec" replay --gaps --on crash "$snap" && says "or --on" &&
		status 2 "$flightrec" export --to ctf --gaps -o "$tmp/ctf" "$snap" && says "--gaps needs --to json or csv" &&
		status 2 "$flightrec" export --to csv --lines "$snap" && says "csv has no symbols of stacks" && says "perf-script, json" &&
		status 2 "$flightrec" export --to trace-cmd --symfs / -o "$tmp/dat" "$snap" && says "trace-cmd has no symbols" &&
		status 2 "$flightrec" replay --tier mian "$snap" && says mian &&
		status 2 "$flightrec" info && status 2 "$flightrec" info "$snap" "$snap" &&
		status 2 "$flightrec" status --json --metrics && says "choose one" &&
		status 2 "$flightrec" dump --last x && says "m, h or d" && status 2 "$flightrec" tail --last x && says "m, h or d" &&
		status 2 "$flightrec" watch --duration x && says "m, h or d" &&
		status 2 "$flightrec" follow nonsense && status 2 "$flightrec" follow -n ../x && says "../x" &&
		status 2 "$flightrec" reload --json && status 4 "$flightrec" reload -n no-such-session && says "no session 'no-such-session' is recording" &&
		status 2 "$flightrec" export --to Perfeto "$snap" && says "did you mean perfetto?" &&
		status 2 "$flightrec" export --to xyzzyx "$snap" && says "no format 'xyzzyx': \`flightrec export" &&
		status 1 "$flightrec" export --to json -o /dev/null "$snap" && says "or - for standard output" &&
		status 2 "$flightrec" verify && status 2 "$flightrec" events nonsense && says "no event or group 'nonsense': \`flightrec" &&
		status 2 "$flightrec" events sched_swich && says "did you mean sched_switch?" && status 2 "$flightrec" events scked && says "mean sched?"
}
# Nothing is called "", as an unset variable of a script is.
unnamed_output() {
	local command
	for command in "cut" "merge" "export --to csv" "export --to ctf" "profile" "view"; do
		status 2 "$flightrec" $command -o "" "$snap" && says "-o names a file" || return
		status 2 "$flightrec" $command --output= "$snap" && says "-o names a file" || return
	done
	for command in dump list incidents record watch; do
		status 2 "$flightrec" $command -o "" && says "'' is no name: \`flightrec $command --help\`" || return
	done
}
# Of two options that exclude each other, none is dropped without a word.
excluding_options() {
	local command
	status 2 "$flightrec" replay --speed 1x --count "$snap" && says "--count prints a number" &&
		status 2 "$flightrec" replay --json --count "$snap" && says "cannot be used with --json" &&
		status 2 "$flightrec" events --json --md && says "choose one" &&
		status 2 "$flightrec" list --keep --no-keep "$snap" && says "choose one" &&
		status 2 "$flightrec" list --json --keep "$snap" && says "cannot be used with --json" || return
	for command in replay report stat view "diff $snap" "cut -o $tmp/none" "top --once" "export --to json"; do
		# shellcheck disable=SC2086
		status 2 "$flightrec" $command --since 50% --window 1%..2% "$snap" && says "give it, or those" &&
			status 2 "$flightrec" $command --window 1%..2% --until 50% "$snap" && says "give it, or those" || return
	done
	count 7 --since 1ms --since 2ms --until 4ms
}
# Nor is one of two filters.
two_filters() {
	local command
	for command in replay report stat view "diff $snap" "cut -o $tmp/none" "top --once" "export --to csv" tail record; do
		# shellcheck disable=SC2086
		status 2 "$flightrec" $command -f 'pid == 1' -f 'pid == 2' "$snap" && says "-f is given twice" || return
	done
	printf '[Session]\nFilter=event == task_rename\n' > "$tmp/filter.conf"
	status 0 "$flightrec" record --check-config --config "$tmp/filter.conf" -f 'pid == 1' &&
		status 2 "$flightrec" record --check-config --config "$tmp/filter.conf" -f 'pid == 1' -f 'pid == 2' && says "-f is given twice"
}
# What calls are given is recorded if -f takes it, with their beginnings or without them; -e brings these. task_rename is always one.
texts_alone() {
	local cnt filter
	printf '[Session]\nProfile=full\n' > "$tmp/full.conf"
	printf '[Session]\nProfile=minimal\nEvent=sys_path\n' > "$tmp/path.conf"
	while read -r cnt filter; do
		status 0 "$flightrec" record --check-config --config "$tmp/full.conf" -f "$filter" && grep -q "^session .* $cnt events," "$tmp/out" || return
	done <<-'end'
		2 event == sys_path
		2 event == sys_unread
		2 event == sys_enter
		3 event in (sys_enter, sys_path)
		3 event in (sys_exit, sys_path)
		4 event in (sys_enter, sys_path, sys_unread)
	end
	status 0 "$flightrec" record --check-config --config "$tmp/path.conf" -f 'event in (sys_enter, sys_exit, sys_path, sys_unread)' &&
		grep -q '^session .* 4 events,' "$tmp/out"
}
# ---- pager and colours ----

# paged PAGER COMMAND...: on a terminal of 120 columns, through this pager; what it shows is in $tmp/shown, without carriage returns
paged() {
	local pager=$1
	shift
	TERM=xterm FLIGHTREC_PAGER=$pager script -qec "stty cols 120; $flightrec $*; echo \"status \$?\"" /dev/null < /dev/null | tr -d '\r' > "$tmp/shown"
}
plain() { sed 's/\x1b\[[0-9]*m//g' "$1"; }
# All that a command says on a terminal goes through the pager, as wide and as colourful as without it; its status is its own.
pages() {
	local command damaged=$tmp/end.flight
	head -c -100 "$snap" > "$damaged"
	command -v script > /dev/null || { echo "script is not installed"; return 77; }
	for command in "replay $snap" "report $snap" "stat --by event $snap" "diff --window-a ..50% --window-b 50%.. $snap" "info $snap" "list -o $tmp" events \
		"symbols $snap" "report $damaged"; do
		paged cat "$command" && cp "$tmp/shown" "$tmp/direct" && paged 'sed s/^/:/' "$command" || return
		# standard error is a terminal, too: there the order is that of the command
		diff <(sed 's/^://' "$tmp/shown") "$tmp/direct" || { echo "$command"; return 1; }
		grep -q '^:' "$tmp/shown" && ! grep -qv '^:\|^status' "$tmp/shown" || { cat "$tmp/shown"; return 1; }
	done
	paged 'sed s/^/:/' "report $snap" && grep -q $'\e' "$tmp/shown" && grep -q '^status 0' "$tmp/shown" && paged 'sed s/^/:/' "report $damaged" && grep -q '^status 3' "$tmp/shown" || return
	# nothing of this where nobody looks, or wants it
	for command in "tail -n none" "status -n none" "replay --speed max $snap" "replay --step --speed 1x $snap"; do
		paged 'sed s/^/:/' "$command" && { ! grep '^:' "$tmp/shown" || [[ $command == *max* ]]; } || return
	done
	paged 'sed s/^/:/' "replay --no-pager $snap" && ! grep '^:' "$tmp/shown" || return
	FLIGHTREC_PAGER='sed s/^/:/' "$flightrec" replay "$snap" 2> "$tmp/err" | grep '^:' && return 1
	paged '' "replay $snap" && [[ $(plain "$tmp/shown" | grep -c sys_exit) == 1 ]] || return
	TERM=xterm script -qec "unset FLIGHTREC_PAGER; PAGER='sed s/^/:/' $flightrec replay $snap" /dev/null < /dev/null | grep -q '^:' &&
		paged 'echo "$LESS"; cat > /dev/null' "replay $snap" && grep -qx FRX "$tmp/shown"
}
# A pager that is not there, or fails, loses nothing; one that is left is the reader's will, and no error.
pager_breaks() {
	local pager lines big=$tmp/hostile.flight
	command -v script > /dev/null || { echo "script is not installed"; return 77; }
	build/tests/report/make_load "$big" && lines=$("$flightrec" replay "$big" 2> "$tmp/err" | wc -l) && ((lines > 3000)) || return
	for pager in /nonexistent/pager 'false' 'exit 3;' 'nonsense-pager -x' 'kill -9 $$;'; do
		paged "$pager" "replay $big" && [[ $(grep -c ' \[00[0-9]\] ' "$tmp/shown") == "$lines" ]] && grep -q '^status 0' "$tmp/shown" || { echo "$pager: $(wc -l < "$tmp/shown") of $lines"; return 1; }
	done
	paged /nonexistent/pager "replay $big" && grep -q 'cannot run the pager.*No such file or directory: set PAGER, or give --no-pager' "$tmp/shown" &&
		paged 'head -n 3' "replay $big" && [[ $(wc -l < "$tmp/shown") == 4 ]] && grep -q '^status 0' "$tmp/shown"
}
# One rule: --color, else NO_COLOR, else whether it is a terminal.
color_rule() {
	local command
	for command in "replay" "report" "info" "stat --by event"; do
		# shellcheck disable=SC2086
		"$flightrec" $command --color=always "$snap" 2> "$tmp/err" | grep -q $'\e\\[' && NO_COLOR=1 "$flightrec" $command --color "$snap" 2> "$tmp/err" | grep -q $'\e\\[' &&
			! "$flightrec" $command --color=auto "$snap" 2> "$tmp/err" | grep $'\e' || { echo "$command"; return 1; }
	done
	status 2 "$flightrec" replay --color=red "$snap" && says "give auto, always or never" || return
	command -v script > /dev/null || { echo "script is not installed"; return 77; }
	paged cat "replay --color=never $snap" && ! grep -q $'\e' "$tmp/shown" && paged cat "replay $snap" && grep -q $'\e' "$tmp/shown" &&
		TERM=xterm NO_COLOR=1 script -qec "$flightrec replay $snap" /dev/null < /dev/null > "$tmp/shown" && ! grep -q $'\e' "$tmp/shown"
}

# Commands are in groups, and those of a family have a name of two words as well.
families() {
	local verb
	status 0 "$flightrec" --help && (($(grep -c '^[A-Z].*:$' "$tmp/out") >= 5)) || { echo "no groups"; return 1; }
	(($(wc -L < "$tmp/out") <= 120)) || { echo "the help is too wide"; return 1; }
	status 0 "$flightrec" verify "$snap" && cp "$tmp/out" "$tmp/one" && status 0 "$flightrec" info --verify "$snap" && cmp "$tmp/one" "$tmp/out" || return
	status 0 "$flightrec" symbols --json "$snap" && cp "$tmp/out" "$tmp/one" && status 0 "$flightrec" info --symbols --json "$snap" && cmp "$tmp/one" "$tmp/out" || return
	for verb in status follow reload stop; do
		status 2 "$flightrec" session $verb -n a/b && says "'a/b' is not a session's name" || return
		status 0 "$flightrec" help $verb && cp "$tmp/out" "$tmp/one" && status 0 "$flightrec" help session $verb && cmp "$tmp/one" "$tmp/out" || return
		status 0 "$flightrec" session $verb --help && cmp "$tmp/one" "$tmp/out" || return
	done
	status 2 "$flightrec" session && says "session status, follow, reload or stop" && status 2 "$flightrec" session stpo && says "session status" || return
	status 0 "$flightrec" --version && cp "$tmp/out" "$tmp/one" && status 0 "$flightrec" version && cmp "$tmp/one" "$tmp/out"
}
help_on_a_command() {
	status 0 "$flightrec" replay --help && cp "$tmp/out" "$tmp/help" && status 0 "$flightrec" help replay && cmp "$tmp/out" "$tmp/help" &&
		status 2 "$flightrec" help repaly && says "did you mean replay?"
}
a_directory() { status 1 "$flightrec" report "$tmp" && says "list -o $tmp"; }
wrong_options() {
	status 2 "$flightrec" replay --nonsense "$snap" && says "no option '--nonsense': \`flightrec replay --help\`" &&
		status 2 "$flightrec" replay "$snap" --tir=main && says "no option '--tir': did you mean --tier?" &&
		status 2 "$flightrec" record --m 3 && says "beginning of several: --memory, --max-files, " &&
		status 2 "$flightrec" replay --=x "$snap" && says "no option '--': \`flightrec replay" &&
		status 2 "$flightrec" replay --json=3 "$snap" && says "--json takes no value" &&
		status 2 "$flightrec" dump --la && says "--last needs a value: \`flightrec dump --help\`" &&
		status 2 "$flightrec" replay -f && says "-f needs a value: \`flightrec replay --help\`" &&
		status 2 "$flightrec" record --keep -xq && says "no option '-x': \`flightrec record --help\`" &&
		status 2 "$flightrec" record -+ && says "no option '-+'" && status 2 "$flightrec" replay -: "$snap" && says "no option '-:'" &&
		status 2 "$flightrec" stop -x && says "no option '-x': \`flightrec stop --help\`"
}
caret() {
	status 2 "$flightrec" replay -f 'tid == 5 && nxt_pid == 6' "$snap" && says "did you mean next_pid?" &&
		grep -qxF "    tid == 5 && nxt_pid == 6" "$tmp/err" && grep -qxF "                ^" "$tmp/err"
}

closed_pipe() {
	local codes
	"$flightrec" replay --speed 0.05x "$snap" 2> "$tmp/err" | head -n 1 > /dev/null
	codes="${PIPESTATUS[*]}"
	[[ $codes == "0 0" ]] || { echo "exit statuses $codes"; return 1; }
	is_quiet
}
# The reader has closed the pipe before the first byte.
closed_pipe_of_help() {
	local args reader got
	for args in --help --version $(sed -nE 's/^\t\{"([a-z]+)", "flightrec .*/\1/p' user/cmd/main.c); do
		[[ $args == --* ]] || args="$args --help"
		exec {reader}> >(exit 0)
		wait $!
		# shellcheck disable=SC2086
		"$flightrec" $args >&$reader 2> "$tmp/err"
		got=$?
		exec {reader}>&-
		((got == 0)) && is_quiet || { echo "flightrec $args: exit status $got"; return 1; }
	done
	[[ $args == "doctor --help" ]] || { echo "the last command was $args"; return 1; }
}
full_disk() {
	local args
	[[ -e /dev/full ]] || { echo "no /dev/full"; return 77; }
	for args in "replay $snap" "replay --json $snap" "info $snap" "export --to json $snap" "export --to csv $snap" --help --version "dump --help"; do
		"$flightrec" $args > /dev/full 2> "$tmp/err"
		[[ $? == 1 ]] && says "No space left on device: free some space" || { echo "flightrec $args"; return 1; }
	done
}

# told_at CALL NTH: an export to $tmp/told in which that call is where SIGTERM comes (tests/fault/shim.c); NTH 0: none is. Prints how many
# such calls it made. Its exit status is the export's.
told_at() {
	local got
	# call, which one first and last, what it gives: -SIGTERM; how many were made, and failed
	/usr/bin/python3 -c 'import struct, sys; nth = int(sys.argv[2])
open(sys.argv[3], "wb").write(struct.pack("16sIIiII", sys.argv[1].encode(), nth, nth, -15, 0, 0).ljust(4096, b"\0"))' "$1" "$2" "$tmp/control" || return
	FAULT_CONTROL=$tmp/control LD_PRELOAD=$tmp/shim.so "$flightrec" export --to ctf -o "$tmp/told/out" "$tmp/big.flight" 2> "$tmp/err"
	got=$?
	od -An -t u4 -j 28 -N 4 "$tmp/control" | tr -d ' '
	return $got
}

# files_of DIR: their names and sizes; each export has an identity of its own
files_of() { [[ ! -d $1 ]] || (cd "$1" && find . -type f -printf '%p %s\n' | sort); }

# An export that is told to end leaves nothing, not even the directory that it was to become, or, if it was done already, all of it.
export_told_to_end() {
	local call cnt nth got
	build/tests/export/big "$tmp/big.flight" 1 && mkdir "$tmp/told" &&
		gcc -std=gnu11 -D_GNU_SOURCE= -O2 -fno-builtin -shared -fPIC tests/fault/shim.c -o "$tmp/shim.so" -ldl || return
	for call in write openat fdatasync renameat2; do
		cnt=$(told_at $call 0) && ((cnt > 0)) || { echo "no $call in an export"; return 1; }
		rm -rf "$tmp/whole" && mv "$tmp/told/out" "$tmp/whole"
		for ((nth = 1; nth <= cnt; nth++)); do
			told_at $call $nth > /dev/null 2>&1
			got=$?
			((got == 143)) && is_quiet || { echo "$call $nth of $cnt: exit status $got, not 143"; return 1; }
			[[ $call$nth != write1 && $(files_of "$tmp/told/out") == "$(files_of "$tmp/whole")" ]] && rm -r "$tmp/told/out"
			[[ -z $(ls -A "$tmp/told") ]] || { echo "$call $nth of $cnt leaves:"; ls -A "$tmp/told"; return 1; }
		done
	done
}

# A command that cannot write its file says why, and leaves no part of it.
# The trace of commands (tests/check.sh) is a file, too, and longer than that: it is off meanwhile.
file_limit() {
	local args dir=$tmp/limited
	mkdir "$dir"
	for args in "cut --window 0%.. -o" "merge -o" "view -o" "export --to perfetto -o" "export --to ctf -o"; do
		# shellcheck disable=SC2086
		(set +x; ulimit -f 1 && status 1 "$flightrec" $args "$dir/out.flight" "$snap" && says "File too large: raise the limit") || { echo "flightrec $args"; return 1; }
		[[ -z $(ls -A "$dir") ]] || { echo "flightrec $args leaves:"; ls -A "$dir"; return 1; }
	done
	(set +x; ulimit -f 1 && status 1 "$flightrec" cut -o "$dir/out.flight" "$snap" && says "ulimit -f") &&
		status 1 "$flightrec" cut -o "$dir/$(printf '%0256d' 0)" "$snap" && says "File name too long: give a shorter name"
}

# Formats with one number for each stack are refused, since a comparison has two.
profile_diff_formats() {
	local format from=tests/files/golden/all.flight
	for format in folded perfetto; do
		status 2 "$flightrec" profile --diff --to $format -o "$tmp/none" "$from" && says "use --to text or --to json" || return
	done
	[[ ! -e $tmp/none ]] || { echo "a file was written"; return 1; }
	for format in text json; do
		status 0 "$flightrec" profile --diff --no-symbols --to $format "$from" || return
	done
}

# Samples that have lost their stacks are in no function: what was lost then is not news now.
profile_diff_unknown() {
	local from=$tmp/lost.flight
	build/tests/cli/make_profile "$from" 87 || return
	status 0 "$flightrec" profile --diff --since 10s "$from" || return
	grep -A 1 -x "Hotter functions" "$tmp/out" | grep -qF "87.0% of the time before has no stacks" &&
		grep -A 1 -x "Cooler functions" "$tmp/out" | grep -qF "30.0% of the time now has no stacks" || { cat "$tmp/out"; return 1; }
	build/tests/cli/make_profile "$from.none" 0 && status 0 "$flightrec" profile --diff --since 10s "$from.none" || return
	[[ $(grep -c "has no stacks" "$tmp/out") == 1 ]] || { cat "$tmp/out"; return 1; }
}

# One that is larger than its buffer, and cannot be written: that is told once. Where nobody reads on there is nothing to tell.
profile_unwritten() {
	local from=$tmp/large.flight reader got
	local as=("$flightrec" profile --since 1h --no-symbols --to perfetto "$from")
	build/tests/cli/make_profile "$from" 0 100 || return
	(($("${as[@]}" | wc -c) > 65536)) || { echo "it is small"; return 1; }
	"${as[@]}" > /dev/full 2> "$tmp/err"
	[[ $? == 1 ]] && diff "$tmp/err" - <<< "flightrec: cannot write the output: No space left on device: free some space, or write elsewhere" || return
	exec {reader}> >(exit 0)
	wait $!
	"${as[@]}" >&"$reader" 2> "$tmp/err"
	got=$?
	exec {reader}>&-
	[[ $got == 0 ]] && is_quiet
}

# A file that was cut to some processes has no profile: where it came from may have one.
profile_of_a_cut() {
	local from=tests/files/golden/all.flight pid
	pid=$("$flightrec" replay --json "$from" 2> "$tmp/err" | jq -s 'map(select(.pid > 0))[0].pid')
	"$flightrec" cut --pid "$pid" -o "$tmp/one.flight" "$from" 2> "$tmp/err" || return
	status 1 "$flightrec" profile --no-symbols "$tmp/one.flight" && says "look in all.flight, its source" || return
	status 1 "$flightrec" profile --no-symbols "$snap" && says "recorded without samples"
}

# What is not kept is not silently left out.
profile_since() {
	local since from=tests/files/golden/all.flight
	for since in 61m 2h 1d; do
		status 2 "$flightrec" profile --since $since --no-symbols "$from" && says "give 1h at most" || return
	done
	for since in 0s -0s x 1; do
		status 2 "$flightrec" profile --since $since --no-symbols "$from" && says "not a duration" || return
	done
	status 0 "$flightrec" profile --since 1h --no-symbols "$from" && status 0 "$flightrec" profile --since -1h --no-symbols "$from"
}

# It replaces no file, not even the snapshot it was made from.
profile_output_is_new() {
	local from=$tmp/profiled.flight
	cp tests/files/golden/all.flight "$from"
	status 1 "$flightrec" profile --no-symbols -o "$from" "$from" && says "exists and is not replaced" || return
	cmp tests/files/golden/all.flight "$from" || return
	status 0 "$flightrec" profile --no-symbols --json "$from" && cp "$tmp/out" "$tmp/profile" || return
	status 0 "$flightrec" profile --no-symbols --json -o - "$from" && cmp "$tmp/profile" "$tmp/out" || return
	status 0 "$flightrec" profile --no-symbols --json -o "$tmp/profile.json" "$from" && is_quiet || return
	cmp "$tmp/profile" "$tmp/profile.json"
}

# No line is wider than COLUMNS says. Samples without a stack have their share of the whole, like all others.
profile_fits_its_page() {
	local from=$tmp/no-room.flight width
	build/tests/cli/make_profile "$from" || return
	for width in 40 59 60 80 100 200; do
		COLUMNS=$width status 0 "$flightrec" profile "$from" && grep -q " 1 CPU, 99 Hz" "$tmp/out" || { cat "$tmp/out"; return 1; }
		sed 1,2d "$tmp/out" | /usr/bin/python3 -c '
import sys
page = sys.stdin.buffer.read().decode()
width = int(sys.argv[1])
for line in page.splitlines():
    assert len(line) <= width, line
shares = [float(line.split("%")[0]) for line in page.split("Tasks")[1].split("\n\n")[0].splitlines() if "%" in line]
assert shares == [70, 30], page
assert "kworker/u256:12/4194303" in page and "[other]" in page, page
assert ("_room_for_ä\\xe2\\x80\\xae" in page.split("Hottest")[0]) == (width >= 200), page' $width || { cat "$tmp/out"; return 1; }
	done
	status 0 "$flightrec" profile --to folded "$from" && grep -qx '\[other\] 30' "$tmp/out" && [[ $(awk '{ sum += $NF } END { print sum }' "$tmp/out") == 100 ]]
}

# No control characters are printed but our own colours, and those only on a terminal.
no_control_characters() {
	"$flightrec" replay "$snap" > "$tmp/out" && "$flightrec" info "$snap" >> "$tmp/out" && "$flightrec" events >> "$tmp/out" || return
	! grep -nP '[\x00-\x09\x0b-\x1f\x7f]' "$tmp/out"
}
colour() {
	command -v script > /dev/null || { echo "script is not installed"; return 77; }
	TERM=xterm script -qec "$flightrec replay $snap 2> /dev/null" /dev/null > "$tmp/tty"
	grep -q $'\e\[3' "$tmp/tty" || { echo "no colour on a terminal"; return 1; }
	sed 's/\x1b\[[0-9]*m//g; s/\r//' "$tmp/tty" | diff "$here/expected.txt" - || return
	NO_COLOR=1 TERM=xterm script -qec "$flightrec replay $snap 2> /dev/null" /dev/null > "$tmp/tty"
	! grep -q $'\e' "$tmp/tty"
}

info_json() {
	status 0 "$flightrec" info --json "$snap" && is_quiet || return
	jq -e '
		.events == 14 and .raw_bytes > 0 and .bytes == '"$(stat -c %s "$snap")"' and .start_ns == 10001000000 and
		.end_ns == 10009000000 and .horizon_ns == 10004000000 and
		([.tiers[] | .name] == ["main", "life", "stack", "wait", "rare"]) and .tiers[0].horizon_ns == 10004000000 and
		.tiers[1].horizon_ns == 9900000000 and .cpus[1].tiers[0].horizon_ns == 10003500000 and
		.trigger == {"reason": "crash", "pid": 101, "comm": "w x", "sig": 11, "ts": 10005000000} and
		.clock.mode == "global" and .clock.grain_ns == 10000 and .clock.ties == 5 and
		([.cpus[] | .cpu] == [0, 1]) and .cpus[0].events == 10 and .cpus[0].lost.wrap == 1 and .cpus[0].lost.retry == 2 and
		.cpus[1].overwritten == 10 and .cpus[1].holes == 1 and .cpus[1].first_ts == 10004000000 and
		.cpus[1].last_ts == 10008000000 and ([.cpus[0].tiers[] | .events] == [6, 4, 1]) and
		.host == "box" and .kernel == "6.1.0" and .boot_id == "b" and .version == "0.1.0" and
		.tasks.evicted == 3 and .missed == {"sched_switch": 2, "sys_enter": 1} and .damage == 0
	' "$tmp/out" > /dev/null || { cat "$tmp/out"; return 1; }
}
info_text() {
	local word
	status 0 "$flightrec" info "$snap" && is_quiet || return
	for word in "box, Linux 6.1.0" "crash SIGSEGV of w x, pid 101" "14 events" "3 event(s) lost" "1 hole(s)" \
		"3 ended task(s) dropped" "2 run(s) of sched_switch" "block_io_start" "2026-01-01 00:00:00.009000000"; do
		grep -qF "$word" "$tmp/out" || { echo "lacks: $word"; cat "$tmp/out"; return 1; }
	done
}
# Tasks that the table of tasks lacks are in no cgroup of the number 0.
report_unknown_cgroup() {
	status 0 "$flightrec" report "$snap" || return
	grep -A 2 -x Cgroups "$tmp/out" | grep -qE '^  not known +[0-9.]+% ' || { cat "$tmp/out"; return 1; }
}
# A small file that takes much memory, and a limit of it: what is left out is told, and accounted for.
hungry() {
	/usr/bin/python3 -B "$here/memory.py" "$flightrec" build/tests/cli/make_hungry "$tmp" "$1"
}
hungry_report() { hungry report; }
hungry_stat() { hungry stat; }
hungry_top() { hungry top; }
hungry_diff() { hungry diff; }
hungry_view() { hungry view; }
# One page, by either name: with what `report` says of the file.
view_is_an_export() {
	status 0 "$flightrec" view -o "$tmp/page.html" "$snap" && status 0 "$flightrec" export --to html -o "$tmp/same.html" "$snap" && cmp "$tmp/page.html" "$tmp/same.html" &&
		/usr/bin/python3 -c '
import base64, json, re, sys, zlib
rest = re.search(r"<script type=\"text/x-rest\">([^<]*)<", open(sys.argv[1]).read())[1]
assert json.loads(zlib.decompress(base64.b64decode(rest)))["verdict"] == json.load(sys.stdin)["verdict"]' "$tmp/same.html" < <("$flightrec" report --json "$snap" 2> /dev/null)
}
hungry_cut() { hungry cut; }
hungry_rings() { hungry rings; }
hungry_pairs() { hungry pairs; }
hungry_waits() { hungry waits; }
memory_limits() { hungry limits; }
# What a file of more CPUs than there can be costs to read: anybody can write one.
wide_is_linear() {
	command -v valgrind > /dev/null || { echo "valgrind is not installed"; return 77; }
	/usr/bin/python3 -B tests/cli/wide.py build/tests/cli/make_wide
}
# Of many CPUs those of which nothing is to be said share a line, which has their sums; -v, and JSON, show each. Of few, each has a line.
info_wide() {
	local wide=$tmp/wide.flight
	build/tests/cli/make_wide "$wide" 192 && build/tests/cli/make_wide "$tmp/8.flight" 8 || return
	rm -f "$tmp/odd.flight"
	"$flightrec" cut --cpu "17$(printf ',%d' {0..100..2})" -o "$tmp/odd.flight" "$wide" || return
	status 0 "$flightrec" info --json "$wide" && cp "$tmp/out" "$tmp/json" || return
	status 0 "$flightrec" info -v "$wide" && is_quiet && cp "$tmp/out" "$tmp/each" || return
	status 0 "$flightrec" info "$tmp/8.flight" && cp "$tmp/out" "$tmp/few" && status 0 "$flightrec" info -v "$tmp/8.flight" &&
		diff "$tmp/few" "$tmp/out" || return
	[[ $(grep -o '^  trigger .*' "$tmp/few") == $'  trigger    crash:all; since the snapshot before: matched 0, taken 1\n  trigger    oom' ]] ||
		{ cat "$tmp/few"; return 1; }
	COLUMNS=80 status 0 "$flightrec" info "$tmp/odd.flight" && cp "$tmp/out" "$tmp/odd" || return
	status 0 "$flightrec" info "$wide" && is_quiet && /usr/bin/python3 -c '
import json, re, sys
def lines(name, tier="main"):
    page = open(name).read().split("Tier %s," % tier)[1].split("\n\n")[0]
    rows = re.findall(r"^ +(\w+) [#+.]+ +(cut away|[\d.]+ \w+) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+)$", page, re.M)
    return page, {r[0]: [r[1]] + [int(v.replace(",", "")) for v in r[2:]] for r in rows}
out, each, few, odd, cpus = *sys.argv[1:5], json.load(open(sys.argv[5]))["cpus"]
page, row = lines(out)
assert list(row) == ["17", "80", "100", "rest"], page
rest = [c["tiers"][0] for c in cpus if str(c["cpu"]) not in row]
assert row["rest"][1:] == [sum(t["events"] for t in rest), sum(t["overwritten"] for t in rest), 0, 0], page
assert "189 CPUs, complete for the last %s to 10.0 s: 0-16,18-79,81-99,101-191\n" % row["rest"][0] in page + "\n" and row["rest"][0] == "5.81 s", page
assert row["17"][3] == 3 and row["80"][4] == 1 and row["100"][0] == "90 ms", page
page, row = lines(out, "life")
assert list(row) == ["all"] and "192 CPUs, complete for the last 10.0 s: 0-191" in page, page
for tier in "main", "life":
    assert list(lines(each, tier)[1]) == [str(c) for c in range(192)]
    assert list(lines(few, tier)[1]) == [str(c) for c in range(8)]
page, row = lines(odd)
assert list(row) == ["17", "80", "100", "rest", "cut"] and row["cut"][0] == "cut away", page
assert max(map(len, page.splitlines())) <= 80, page
shared = "".join(l.split(": ")[-1] + "," for l in page.splitlines() if l.startswith(7 * " "))
cpus = [cpu for a, b in re.findall(r"(\d+)(?:-(\d+))?", shared) for cpu in range(int(a), int(b or a) + 1)]
assert sorted(cpus + [17, 80, 100]) == list(range(192)), page' "$tmp/out" "$tmp/each" "$tmp/few" "$tmp/odd" "$tmp/json" || { cat "$tmp/out" "$tmp/odd"; return 1; }
}
# On a narrow page info's bars get shorter, and lines of incidents are cut off.
narrow_pages() {
	local width
	command -v script > /dev/null || { echo "script is not installed"; return 77; }
	for width in 69 80 100 101 200; do
		COLUMNS=$width status 0 "$flightrec" info tests/gate/load.flight || return
		sed -n '/^Tier/,/^$/p' "$tmp/out" | awk -v w=$width 'length > w { print "wider than " w ": " $0; bad = 1 } END { exit bad || NR < 15 }' || return
		TERM=dumb COLUMNS=$width status 0 script -qec "$flightrec incidents tests/files/golden/all.flight" /dev/null || return
		tr -d '\r' < "$tmp/out" | awk -v w=$width 'length > w { print "wider than " w ": " $0; bad = 1 } END { exit bad || NR < 2 }' || return
	done
	COLUMNS='' status 0 "$flightrec" info tests/gate/load.flight && grep -qE ' [#+.]{40} ' "$tmp/out"
}
verify_sound() { status 0 "$flightrec" verify "$snap" "$tmp/a.flight" && [[ $(grep -c ': OK, 14 events' "$tmp/out") == 2 ]]; }

# It lists every entry of the table, and nothing else.
events_are_the_table() {
	diff <(grep -oP '^EVENT\(\d+, \K\w+' bpf/events.def | sort) <("$flightrec" events --json | jq -r '.[].name' | sort) &&
		diff <(grep -oP '^\s+(FLAGS|FIELD|BITS|DERIVED)\((u8, |u16, |u32, |u64, |s16, |s32, |s64, |comm, |text8, |str, |u64s, )?\K\w+' \
			bpf/events.def) <("$flightrec" events --json | jq -r '.[].fields[].name') &&
		diff <(grep -oP '^\s+DERIVED\(\w+, \w+, \K\w+' bpf/events.def) <("$flightrec" events --json | jq -r '.[].fields[].from | strings')
}
help_fits() {
	local command lines
	for command in record dump status stop replay info verify events doctor; do
		status 0 "$flightrec" $command --help && is_quiet || return
		lines=24
		[[ $command == replay ]] && lines=40 # a taller screen
		[[ $command == record ]] && lines=48 # it has the most options, each with a line of its own
		(($(wc -l < "$tmp/out") <= lines && $(wc -L < "$tmp/out") <= 100)) || { echo "$command --help is too large"; return 1; }
		grep -q '^Example' "$tmp/out" || { echo "$command --help has no example"; return 1; }
	done
}
without_root() {
	((EUID == 0)) || { text_output; return; }
	command -v setpriv > /dev/null || { echo "setpriv is not installed"; return 77; }
	cp "$flightrec" "$tmp/flightrec" && chmod 755 "$tmp" && chmod 644 "$snap" || return
	setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/flightrec" replay "$snap" | diff "$here/expected.txt" -
}

# The filter's own part of the code is searched: what its target takes from the archive is made for libFuzzer, by itself. The seed is fixed,
# so the texts are the same each time.
fuzzed_filters() {
	local out=build/fuzz flags=(-std=gnu11 -D_GNU_SOURCE= -O1 -g -Wall -Wextra -Werror -Ibpf -Iuser -Itests) sources
	echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -fsanitize=fuzzer -x c - -o /dev/null 2> /dev/null ||
		{ echo "clang cannot link with libFuzzer: install libclang-rt-dev"; return 77; }
	gcc "${flags[@]}" -r tests/cli/fuzz_filter.c build/libfrcore.a -Wl,-Map="$tmp/taken.map" -o "$tmp/taken.o" || return
	sources=$(grep -oP 'libfrcore\.a\(\K[^)]+(?=\.o\))' "$tmp/taken.map" | sort -u | while read -r name; do find user/base -name "$name.c"; done)
	make -s -j2 fuzzed-some SOURCES="$sources" &&
		clang "${flags[@]}" -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all tests/cli/fuzz_filter.c \
			$(sed "s|\(.*\)\.c|$out/obj/\1.o|" <<< "$sources") -ltraceevent -o $out/filter || return
	grep -ohP '^\s*\{"\K.*(?=", ")' tests/unit/test_filter*.c | sed 's/\\"/"/g' | split -l 1 - "$tmp/seed-"
	mkdir "$tmp/corpus" && mv "$tmp"/seed-* "$tmp/corpus"
	$out/filter -seed=1 -runs=40000 -max_len=200 -dict=tests/cli/filter.dict -artifact_prefix=$out/ "$tmp/corpus"
}

# What is new takes one entry: here each kind has one, in a copy of the tree and of its objects, so that make compiles what depends on the
# tables, and nothing else; without optimization, as nothing depends on that but how long it takes. One copy has all of them: what they
# are added to differs.
tree=$tmp/tree
new_ones_build() {
	[[ -x $tree/build/flightrec ]] && return
	mkdir -p "$tree/build" "$tree/docs" && cp -a Makefile .ci bpf completion user vmlinux "$tree" && cp -a docs/man docs/json.md docs/report.md "$tree/docs" &&
		cp -a build/obj build/bpf build/.need build/*.bpf.o build/*.skel.h "$tree/build" &&
		new_event && new_column && new_option && new_format && new_trigger && make -s -C "$tree" -j2 CFLAGS=-O0 build/flightrec || return
	# the manual and the documents are out of date, each that a new one is in, until they are made anew
	(cd "$tree" && ! /usr/bin/python3 -B "$here/../tree/man.py" > "$tmp/outdated" && /usr/bin/python3 -B "$here/../tree/man.py" --update && /usr/bin/python3 -B "$here/../tree/man.py")
}
# of an event, an entry in the table and a BPF function
new_event() {
	{ grep -v '^#undef' bpf/events.def; cat "$here/new_event/entry.def"; grep '^#undef' bpf/events.def; } > "$tree/bpf/events.def" &&
		cp "$here/new_event/new_event.bpf.c" "$tree/bpf/"
}
# of a trigger, an entry in the table and a BPF function
new_trigger() {
	awk -v entry="$(tail -n 1 "$here/new_trigger/entry.def")" '/^#define FR_TRIGGERS\(T\)/ { table = 1 }
		table && !/\\$/ { print $0 " \\"; print entry; table = 0; next } { print }' bpf/alert.h > "$tree/bpf/alert.h" && cp "$here/new_trigger/proof.bpf.c" "$tree/bpf/trigger/"
}
# of a column, one: of a table of the report; and of status
new_column() {
	sed -i '/^static const struct fr_column call_columns/a FR_COLUMN(struct fr_an_call, enter_cnt, "proof", COUNT, "how sure it is", FR_TEXT(9, "proof", 7)),' \
		"$tree/user/show/report/report_kinds.c" &&
		sed -i '/^static const struct fr_column shared_columns/a SHARED(snapshot_nr, "proof", COUNT, "how sure it is", FR_LINE(99, "proof", "it is ", " sure")),' \
			"$tree/user/live/recorder/live_kinds.c"
}
# of an option, one in a table and the place that uses it: of a command; and of the configuration, which is record's option and a key
new_option() {
	sed -i -e 's/^static const struct fr_option table\[\] = {$/&FR_OPTION(0, "proof", "N", "how sure it is", fr_option_count, offsetof(struct ask, proof), .least = 3, .most = 9, .words = "4 5", .more = "Only `info` says so."),/' \
		-e 's/^struct ask {$/&unsigned proof;/' -e 's/^\tif (optind + 1 != argc) {$/\tif (ask.proof)\n\t\treturn (int)ask.proof;\n&/' "$tree/user/cmd/info.c" &&
		sed -i 's/^#define FR_CONFIG_KEYS(K) .*/&\n\tK(Session, Proof, count, proof, R, "7", O(0, "proof", "N", "7 8", "From the configuration."), "how sure a recording is") \\/' \
			"$tree/user/base/config/config.h"
}
# of a format, one and a file
new_format() {
	cp "$here/new_export/export_proof.c" "$tree/user/show/export/" && sed -i 's/^#define FR_EXPORTERS(E) .*/& E(proof)/' "$tree/user/show/export/export.h"
}

new_event_builds() {
	new_ones_build || return
	status 0 "$tree/build/flightrec" events sched_process_free && grep -q 'target_pid *s32 *the task' "$tmp/out" &&
		status 0 "$tree/build/flightrec" replay --count -f 'event == sched_process_free' "$snap" && prints 0
}
# This build does not know the event. Its replay prints it by the schema in the file.
new_event_is_recorded() {
	local new=$tree/build/flightrec json
	new_ones_build || return
	"$new" doctor > /dev/null 2>&1 || { echo "no session can be recorded here: see flightrec doctor"; return 77; }
	# the kernel frees a task some time after its end
	# shellcheck disable=SC2016
	status 0 "$new" record -n "cli-test-$$" -p minimal -e sched_process_free -o "$tmp" -- sh -c '/bin/true
		for i in $(seq 600); do
			rm -f "$3"
			"$1" dump -n "$2" -o "$3" && [ "$("$1" replay --count -f "event ~ \"*_free\" && target_comm == \"true\"" "$3")" -gt 0 ] && exit
			sleep 0.1
		done' sh "$new" "cli-test-$$" "$tmp/freed.flight" || return
	json=$("$flightrec" replay --json -f 'event ~ "*_free" && target_comm == "true"' "$tmp"/*-end-*.flight | head -n 1)
	jq -e '.event == "sched_process_free" and .target_comm == "true" and .target_pid > 1 and .prio >= 0' <<< "$json"
}

# Text, JSON and the reference have a new column; of status, the reference, and what a session prints.
new_column_is_everywhere() {
	local new=$tree/build/flightrec load=$here/../gate/load.flight doc
	new_ones_build || return
	status 0 "$new" report "$load" && grep -q '^  call .* time  proof ' "$tmp/out" && status 0 "$new" report --json "$load" &&
		jq -e '.syscalls | length > 3 and all(.proof == .enters)' "$tmp/out" > "$tmp/page" || return
	for doc in json report; do
		grep -qxF '| `proof` | count | how sure it is |' "$tree/docs/$doc.md" || { echo "docs/$doc.md lacks it"; return 1; }
		grep -qF "docs/$doc.md" "$tmp/outdated" || { echo "docs/$doc.md lacked it, and that was not said"; return 1; }
	done
}

# A new option is in help, manual, completion and parser.
new_option_is_everywhere() {
	local new=$tree/build/flightrec page
	new_ones_build || return
	status 0 "$new" info --help && grep -q '^      --proof N  *how sure it is$' "$tmp/out" && status 4 "$new" info --proof 4 &&
		status 2 "$new" info --proof 10 && says "--proof: '10' is not a number from 3 to 9" && status 2 "$new" info --prof 4 && says "mean --proof" || return
	status 0 "$new" record --help && grep -q '^      --proof N  *how sure a recording is (default: 7)$' "$tmp/out" &&
		status 0 "$new" record --check-config -o "$tmp" --proof 8 && status 2 "$new" record --check-config -o "$tmp" --proof x && says "--proof: 'x'" &&
		printf '[Session]\nProof=8\n' > "$tmp/proof.conf" && status 0 "$new" record --check-config --config "$tmp/proof.conf" -o "$tmp" &&
		status 2 "$flightrec" record --check-config --config "$tmp/proof.conf" -o "$tmp" && says "Proof" || return
	for page in info record; do
		grep -qxF '.It Fl -proof Ar N' "$tree/docs/man/flightrec-$page.1" || { echo "flightrec-$page(1) lacks it"; return 1; }
		grep -qF "flightrec-$page.1" "$tmp/outdated" || { echo "flightrec-$page(1) lacked it, and that was not said"; return 1; }
	done
	grep -qxF '.It Cm proof' "$tree/docs/man/flightrec-export.1" || { echo "flightrec-export(1) lacks the format"; return 1; }
	grep -qxF 'Only \fBinfo\fR says so.' "$tree/docs/man/flightrec-info.1" && grep -qxF 'A number from 3 to 9.' "$tree/docs/man/flightrec-info.1" || return
	PATH=$tree/build:$PATH bash -c '
		. "$1/completion/flightrec.bash"
		has() { COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _flightrec; [[ " ${COMPREPLY[*]} " == *" $1 "* ]] || { echo "not offered: $1 for ${*:2}"; exit 1; }; }
		has --proof flightrec info --pr
		has 5 flightrec info --proof ""
		has --proof flightrec record --pro
		has 8 flightrec record --proof ""
		has proof flightrec export --to pr
	' bash "$tree"
}
new_format_is_everywhere() {
	local new=$tree/build/flightrec
	new_ones_build || return
	status 0 "$new" export --help && grep -q "^  *proof  *one name a line$" "$tmp/out" && status 2 "$new" export --to prof "$snap" && says "did you mean proof" &&
		status 0 "$new" export --to proof "$snap" && cmp -s "$tmp/out" <("$flightrec" replay --json "$snap" | jq -r '"proof " + .event') &&
		[[ -s $tmp/out ]]
}

# A new trigger is in the parser, in its messages and limits, and is loaded, pulled and counted.
new_trigger_is_taken() {
	local new=$tree/build/flightrec
	new_ones_build || return
	status 0 "$new" record --check-config -o "$tmp" --on 'proof>1s:comm=x*,exe=y,post=1s,max=2/1h' || return
	status 2 "$new" record --check-config -o "$tmp" --on 'proff>1s' && says "did you mean proof" || return
	status 2 "$new" record --check-config -o "$tmp" --on 'zzz' && says ", proof" || return
	status 2 "$new" record --check-config -o "$tmp" --on proof && says "proof needs a time" || return
	status 2 "$new" record --check-config -o "$tmp" --on 'proof>1s,sig=9' && says "sig makes no sense for proof" || return
	status 2 "$flightrec" record --check-config -o "$tmp" --on 'proof>1s' && says "there is no trigger 'proof'" || return
	"$new" doctor > /dev/null 2>&1 || { echo "no session can be recorded here: see flightrec doctor"; return 77; }
	mkdir -p "$tmp/pulled" && cp /bin/true "$tmp/frt-proof" &&
		status 0 "$new" record -n "cli-proof-$$" -p minimal --on 'proof>1ns:comm=frt-proof' --on 'proof>1ns:comm=frt-none' -o "$tmp/pulled" -- "$tmp/frt-proof" || return
	"$new" info --json "$tmp"/pulled/*-proof-*.flight | jq -e '.trigger.reason == "proof" and .trigger.comm == "frt-proof"' || { ls "$tmp/pulled"; return 1; }
}

# keys SECTION FLIGHTREC ARGUMENT...: each key that it prints is in this section of docs/json.md. What is wrong with a file or with the
# machine does not matter.
keys() {
	"$flightrec" "${@:2}" > "$tmp/keys" 2> /dev/null
	/usr/bin/python3 "$here/keys.py" "$1" < "$tmp/keys"
}
keys_are_documented() {
	local old=tests/files/golden/all.flight load=tests/gate/load.flight dir=$tmp/keys.d file
	mkdir "$dir" && cp "$snap" "$dir/web-1-20260101T000000.005Z-crash-nginx-4711.flight" &&
		"$flightrec" cut --window 20%..80% --cpu 0 -f 'tid != 5' -o "$dir/cut.flight" "$load" &&
		"$flightrec" merge -o "$dir/merged.flight" "$load" "$old" "$snap" || return
	for file in "$snap" "$old" "$load" "$dir/cut.flight" "$dir/merged.flight" "$tmp/cut.flight"; do
		keys info info --json "$file" || return
	done
	keys list list --json -o "$dir" &&
		keys incidents incidents --json "$old" &&
		keys 'tail, replay' replay --json --pos --pairs --gaps --symbols --tier all "$load" &&
		keys 'tail, replay' replay --json --pos --gaps --symbols "$snap" &&
		keys 'replay --on' replay --json --on crash --on 'latency:syscall>1us' --on 'latency:softirq>1us' --on 'hung>1ms' \
			--on psi:cpu:20% --on 'event:event == sched_switch' --on exit:0 "$load" &&
		keys diff diff --json --window-a 0%..50% --window-b 50%..100% "$load" &&
		keys profile diff --json "$old" && keys profile profile --json "$old" &&
		keys report report --json "$load" && keys report report --json "$snap" &&
		keys symbols symbols --json "$old" && keys events events --json && keys doctor doctor --json
}
documented_keys_exist() { /usr/bin/python3 "$here/keys.py" --sources; }

# The snapshot is of 2026-01-01 and of no known boot, so no core file of this machine can belong to it.
list_prints() {
	local dir=$tmp/list
	mkdir "$dir" && cp "$snap" "$dir/web-1-20260101T000000.005Z-crash-nginx-4711.flight" || return
	status 0 "$flightrec" list -o "$dir" && is_quiet &&
		grep -qx '2026-01-01 00:00:00  crash   w x   101  SIGSEGV  .*  web-1-20260101T000000.005Z-crash-nginx-4711.flight' \
			"$tmp/out" && grep -q '^1 snapshot, 0 kept, ' "$tmp/out" || { cat "$tmp/out"; return 1; }
	status 0 "$flightrec" list -o "$dir" --json &&
		jq -e '.snapshots | length == 1 and (.[0] | .reason == "crash" and .pid == 101 and .sig == 11 and .signal == "SIGSEGV" and
			.real_ns == 1767225600005000000 and .kept == false and .core == null and .damage == null)' "$tmp/out"
}
# A process that exited has no signal, but a status, which may be 0.
list_status() {
	local dir=$tmp/exits nr
	mkdir "$dir" || return
	for nr in 000 002 255; do
		printf '%s\n' 'fact trigger_reason exit' 'fact trigger_pid 100' "fact trigger_status $((10#$nr))" 'exit 100 512' |
			build/tests/symbols/make_stacks "$dir/web-1-20260101T000000.${nr}Z-exit-p-100.flight" || return
	done
	printf '%s\n' 'fact trigger_reason end' 'exit 100 512' | build/tests/symbols/make_stacks "$dir/web-1-20260101T000000.999Z-end.flight" &&
		status 0 "$flightrec" list -o "$dir" && is_quiet &&
		diff <(sed -n 's/^.* 100  \(status [0-9]*\) .*/\1/p' "$tmp/out") <(printf 'status %s\n' 0 2 255) &&
		status 0 "$flightrec" list -o "$dir" --json &&
		jq -e '[.snapshots[] | [.status, .signal]] == [[0, null], [2, null], [255, null], [null, null]]' "$tmp/out"
}
# A thread's own name does not tell which program died; one that begins the program's name does.
list_tells_programs() {
	local dir=$tmp/programs nr comm exe
	mkdir "$dir" || return
	while read -r nr comm exe; do
		printf '%s\n' 'fact trigger_reason crash' 'fact trigger_pid 100' "fact trigger_comm $comm" ${exe:+"fact trigger_exe $exe"} |
			build/tests/symbols/make_stacks "$dir/web-1-20260101T000000.00${nr}Z-crash-x-100.flight" || return
	done <<- EOF
		1 pool-3 /usr/bin/server
		2 python3 /usr/bin/python3.11
		3 pool-4
	EOF
	status 0 "$flightrec" list -o "$dir" && is_quiet &&
		diff <(sed -n 's/^.*  crash  *\([^ ].*[^ ])*\)  *100 .*/\1/p' "$tmp/out" | sed 's/ *$//') <(printf '%s\n' 'pool-3 (server)' python3 pool-4) &&
		status 0 "$flightrec" list -o "$dir" --json &&
		jq -e '[.snapshots[].exe] == ["/usr/bin/server", "/usr/bin/python3.11", null]' "$tmp/out"
}
list_marks() {
	local file=$tmp/list/web-1-20260101T000000.005Z-crash-nginx-4711.flight
	status 0 "$flightrec" list --keep "$file" && [[ $(stat -c %a "$file") == 4* && $(stat -c %A "$file") != *w* ]] &&
		status 0 "$flightrec" list -o "$tmp/list" && grep -q ' kept  web-1' "$tmp/out" &&
		status 0 "$flightrec" list --no-keep "$file" && [[ $(stat -c %A "$file") == -rw* ]] &&
		status 3 "$flightrec" list --keep "$tmp/text" "$file" && says "it is not a snapshot" && [[ $(stat -c %A "$file") == -r-* ]]
}
list_damaged() {
	cp "$tmp/cut.flight" "$tmp/text" "$tmp/list" && mv "$tmp/list/text" "$tmp/list/text.flight" &&
		ln -s /etc/passwd "$tmp/list/link.flight" && status 3 "$flightrec" list -o "$tmp/list" &&
		[[ $(grep -c 'damaged: ' "$tmp/out") == 3 ]] && status 3 "$flightrec" list --json -o "$tmp/list" &&
		jq -e '[.snapshots[] | select(.damage)] | length == 3' "$tmp/out"
}
# A file that this user may not read is not reported as damaged, even if a file beside it is.
list_unread() {
	command -v setpriv > /dev/null || { echo "setpriv is not installed"; return 77; }
	((EUID == 0)) || { echo "root reads everything, others are tried as root"; return 77; }
	local as=(setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/flightrec" list -o "$tmp/unread")
	mkdir "$tmp/unread" && cp "$snap" "$tmp/unread/web-1-20260101T000000.005Z-crash-nginx-4711.flight" && cp "$flightrec" "$tmp/flightrec" &&
		chmod 755 "$tmp" "$tmp/unread" && chmod 600 "$tmp"/unread/* || return
	status 1 "${as[@]}" && says "cannot read 1 of the files in $tmp/unread: Permission denied" && says "run as root" &&
		grep -q ' crash .* 4711 ' "$tmp/out" && grep -q '^ *cannot be read: Permission denied$' "$tmp/out" && ! grep damaged "$tmp/out" &&
		cp "$tmp/text" "$tmp/unread/text.flight" && chmod 644 "$tmp/unread/text.flight" && status 1 "${as[@]}" --json &&
		jq -e '[.snapshots[] | [.damage != null, .error]] == [[false, "Permission denied"], [true, null]]' "$tmp/out"
}
list_wrong() {
	status 1 "$flightrec" list -o "$tmp/nowhere" && says "cannot read directory" && status 2 "$flightrec" list x &&
		status 2 "$flightrec" list --keep && status 1 "$flightrec" list --keep "$tmp/nowhere"
}

check "text is as it was" text_output
check "NDJSON is as it was" json_output
check "NDJSON parses" json_is_json
check "filters" filters
check "windows" windows
check "windows before the trigger and the end" before_the_trigger
check "words for numbers, wall time and pairs in JSON and CSV" words_and_wall
check "replay, export: columns of whose an event is; filters and stat by the same names" columns
check "columns of names that tasks choose" columns_of_names
check "columns and tiers: lists of names" lists_of_names
check "windows outside the file" empty_windows
check "tiers" tiers
check "several files" several_files
check "--speed" pacing
check "a file that was cut" cut_file
check "a file with a wrong byte" damaged_file
check "a file of heads" trap_file
check "a file that is missing" missing_file
check "facts that are missing" facts_are_missing
check "softirqs since the begin" softirqs_since_begin
check "a file that is no snapshot" no_snapshot
check "little memory" little_memory
check "--memory" memory_limits
check "--memory: report leaves out, and says what" hungry_report
check "--memory: stat adds up what has no group, and says so" hungry_stat
check "--memory: top ends early, and says so" hungry_top
check "--memory: diff adds up what has no place, and says so" hungry_diff
check "--memory: view ends early, and says so" hungry_view
check "view is export --to html" view_is_an_export
check "--memory: cut and merge are complete or refuse" hungry_cut
check "--memory: rings that need more are refused first" hungry_rings
check "--memory: pairs are forgotten, not made up" hungry_pairs
check "--memory: waits whose object has no room are counted" hungry_waits
check "a pipe is no snapshot" pipes
check "a file of others" not_ours
check "wrong usage" wrong_usage
check "-o without a name" unnamed_output
check "options that exclude each other" excluding_options
check "output to a terminal is paged" pages
check "a pager that breaks loses nothing" pager_breaks
check "--color" color_rule
check "two filters" two_filters
check "what calls were given is recorded if a filter takes it, and only then" texts_alone
check "help on a command" help_on_a_command
check "groups of commands, and names of two words" families
check "a directory for a file" a_directory
check "wrong options" wrong_options
check "a wrong name of a session" wrong_names
check "incidents of a session that never was" incidents_of_nobody
check "a hook's command and its user" hooks
check "a wrong filter is pointed at" caret
check "a closed pipe" closed_pipe
check "help into a closed pipe" closed_pipe_of_help
check "a full disk" full_disk
check "a limit of file sizes" file_limit
check "no control characters" no_control_characters
check "colour" colour
check "list" list_prints
check "list tells exit statuses" list_status
check "list tells programs" list_tells_programs
check "list marks snapshots" list_marks
check "list shows what is damaged" list_damaged
check "list calls nothing damaged that it may not read" list_unread
check "list, wrong usage" list_wrong
check "names that disguise something, through every output" hostile_names
check "export that is told to end leaves nothing" export_told_to_end
check "profile --diff is for formats that have it" profile_diff_formats
check "profile --diff says how much has no stacks" profile_diff_unknown
check "profile fits its page, and adds up" profile_fits_its_page
check "profile that cannot be written" profile_unwritten
check "profile of a file that was cut" profile_of_a_cut
check "profile --since: an hour at most" profile_since
check "profile -o makes a new file, and replaces none" profile_output_is_new
check "info --json" info_json
check "info" info_text
check "info of many CPUs" info_wide
check "many CPUs cost no more than they are" wide_is_linear
check "report of a cgroup that is not known" report_unknown_cgroup
check "narrow pages" narrow_pages
check "verify" verify_sound
check "events are the table" events_are_the_table
check "docs/json.md names each key that is printed" keys_are_documented
check "docs/json.md names no key that does not exist" documented_keys_exist
check "--help fits a screen" help_fits
check "without root" without_root
check "too few open files to record or to watch: one line with the cure, and no session" refused files
check "what will be no different the next time has a status of its own: a kernel that refuses, a wrong file; not what may pass" refused statuses
check "what a container lacks: doctor and record name it, and its cure" refused container
check "filters, fuzzed" fuzzed_filters
check "a new event builds" new_event_builds
check "a new event is recorded" new_event_is_recorded
check "a new column is in text, JSON and the reference" new_column_is_everywhere
check "a new trigger is taken, said and pulled" new_trigger_is_taken
check "a new option is in help, manual, completion and parser" new_option_is_everywhere
check "a new format of export is one file and one name" new_format_is_everywhere
finish
