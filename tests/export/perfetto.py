# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What trace_processor makes of our traces, compared with the events they are of: states and wakers, lives, block slices, losses.

ask(sql) answers with the rows of the trace at hand.
"""
import collections

SLEEPS = {1: "S", 2: "D", 128: "I", 256: "R+", 32: "Z"}


def count(ask, what):
    return ask(f"select count(*) n from {what}")[0]["n"]


def wakings(events):
    """
    How many begin a state of their own: those of a task that sleeps, or of which nothing is known. To the reader one that was preempted is
    as one that sleeps: it may have been about to, and is woken all the same.
    """
    runs, n = {}, 0
    for e in events:
        if e["event"] == "sched_switch":
            runs[e["prev_pid"]] = e["prev_state"] == 0
            runs[e["next_pid"]] = True
        elif e["event"] == "sched_process_fork":  # by the clocks of two CPUs maybe after it ran, and slept
            runs[e["child_pid"]] = True
        elif e["event"] == "sched_waking":
            n += not runs.get(e["target_pid"])
            runs[e["target_pid"]] = True
    return n


def births(ask, events):
    """
    How many were born. Of each that an event tells, the birth is there once, but who began before the window, and was told of in it, is there
    from its begin. Of others no event says so: the ring that had it was copied before, or the kernel shows the birth to nobody.
    """
    told = collections.Counter(e["child_pid"] for e in events if e["event"] == "sched_process_fork")
    rows = ask("""select tid, start_ts >= (select min(ts) from sched_slice) within, start_ts > (select min(ts) from sched_slice s
                  where s.utid = thread.utid) is true late from thread where tid > 0 and start_ts is not null""")
    born = collections.Counter(r["tid"] for r in rows)
    before = collections.Counter(e["child_pid"] for e in events if e["event"] == "sched_process_fork" and e["child_start"] <= events[0]["ts"])
    differ = {tid: (born[tid], n) for tid, n in told.items() if not n - before[tid] <= born[tid] <= n}
    if differ:
        raise RuntimeError(f"births of a number, and events that tell them: {differ}")
    others = [r for r in rows if r["tid"] not in told]
    if not all(r["within"] and not r["late"] for r in others):
        raise RuntimeError(f"born before the window, or after having run: {others}")
    return len(rows)


def test_states(ask, events):
    """Each switch ends a slice and begins another; each state it names is there; each waking has its waker."""
    switches = [e for e in events if e["event"] == "sched_switch"]
    want = collections.Counter(SLEEPS.get(e["prev_state"]) for e in switches if e["prev_pid"])
    got = {r["state"]: r["n"] for r in
           ask("select state, count(*) n from thread_state join thread using (utid) where tid > 0 group by state")}
    for state in SLEEPS.values():
        if got.get(state, 0) != want[state]:
            return f"{got.get(state, 0)} times in {state}, {want[state]} switches say so"
    running = sum(bool(e["next_pid"]) for e in switches)
    if got["Running"] != running or count(ask, "sched_slice") != len(switches):
        return f"{got['Running']} runs, {count(ask, 'sched_slice')} slices; {running} and {len(switches)} switches"
    woken = count(ask, "thread_state where state = 'R' and waker_utid is not null")
    want = wakings(events), births(ask, events)
    return None if woken == sum(want) else f"{woken} woken, {want[0]} wakings and {want[1]} births"


PREEMPTED = """fact arch x86_64
fact boot_id b
fact kernel 6.8.0
horizon 0 0
horizon 1 0
process 7 5 0 0 seven
process 8 5 0 0 eight
process 9 5 0 0 nine
event 1000000000 0 sched_switch 8 prev_state=1 next_pid=7
event 1000001000 0 sched_switch 7 prev_state=256 next_pid=9
event 1000002000 1 sched_waking 9 target_pid=7
event 1000002500 1 sched_waking 9 target_pid=7
event 1000003000 0 sched_switch 9 prev_state=1 next_pid=20
event 1000003500 0 sched_switch 20 prev_state=1 next_pid=7
event 1000004000 1 sched_process_fork 8 child_pid=20 child_comm=x child_tgid=20 child_start=1000002900
event 1000005000 1 sched_waking 8 target_pid=20
event 1000006000 0 sched_switch 7 prev_state=1 next_pid=20
event 1000007000 0 sched_switch 20 prev_state=1 next_pid=0
"""


def test_preempted(ask, events):
    """Who is preempted on its way to sleep, and woken; who slept before its birth, by the clocks of two CPUs."""
    return test_states(ask, events)


def test_lives(ask, events):
    """Who was born, and whose last switch is there."""
    births(ask, events)
    gone = sum(e["event"] == "sched_switch" and e["prev_state"] & 48 != 0 for e in events)
    got = ask("select sum(end_ts is not null) gone from thread where tid > 0")[0]["gone"]
    return None if got == gone else f"{got} gone, not {gone}"


def test_threads(ask, events):
    """One thread for each task: a number is there twice only if two were born with it. Each but who is hidden has a process."""
    born = collections.Counter(e["child_pid"] for e in events if e["event"] == "sched_process_fork")
    seen = collections.Counter(r["tid"] for r in ask("select tid from thread where tid > 0"))
    twice = {tid: n for tid, n in seen.items() if n > max(born[tid], 1)}
    if twice:
        return f"{len(twice)} numbers are those of several threads: {list(twice.items())[:5]}"
    known = {e["tid"] for e in events if e["pid"]}
    lost = [r["tid"] for r in ask("select tid from thread where upid is null") if r["tid"] in known]
    return f"threads without a process: {lost[:5]}" if lost else None


def test_stacks(ask, events):
    """Every sample has a frame, be it the one address that is known."""
    bare = count(ask, "perf_sample where callsite_id is null")
    return f"{bare} samples have no stack" if bare else None


# ---- without block_io_start ----


def requests(events):
    """How long what was issued took, in order; None: another one was under way, of which the reader ends either."""
    last, all, begun = {}, [], set()
    for e in events:
        at = last.setdefault(e.get("dev"), [0, 0, 0])  # under way, the latest, since when
        if e["event"] == "block_rq_issue":
            place = e["dev"], e["sector"], e["nr_sector"]
            if place in begun:  # its driver had sent it back
                continue
            begun.add(place)
            if at[0]:
                all[at[1]] = None
            at[:] = at[0] + 1, len(all), e["ts"]
            all.append(None if at[0] > 1 else 0)
        elif e["event"] == "block_rq_complete":
            begun.discard((e["dev"], e["sector"], e["nr_sector"]))
            if not at[0]:  # an empty write behind a flush ends, though it was not issued
                continue
            at[0] -= 1
            if all[at[1]] is not None:
                all[at[1]] = e["ts"] - at[2]
    return all


def test_driver_slices(ask, events):
    """A slice each; those that were alone on their device as long as they were, to the nanosecond."""
    want = requests(events)
    got = ask("select s.dur from slice s join track t on s.track_id = t.id where t.type = 'block_io' order by s.ts, s.id")
    if len(got) != len(want):
        return f"{len(got)} slices, {len(want)} requests"
    for g, w in zip(got, want):
        # 0: it had not ended
        if w and g["dur"] != w:
            return f"a request of {w} ns has a slice of {g['dur']} ns"
    return None if any(want) else "no request was alone"


SENT_BACK = """fact arch x86_64
fact boot_id b
fact events sched_switch,block_rq_issue,block_rq_complete
horizon 0 0
horizon 1 0
event 1000000000 0 block_rq_issue 7 dev=8388608 sector=64 nr_sector=8 bytes=4096 rwbs=W
event 1000001000 0 block_rq_issue 7 dev=8388608 sector=64 nr_sector=8 bytes=4096 rwbs=W
event 1000003000 1 block_rq_complete 0 dev=8388608 sector=64 nr_sector=8 rwbs=W
event 1000005000 0 block_rq_issue 7 dev=8388608 sector=64 nr_sector=8 bytes=4096 rwbs=W
event 1000009000 1 block_rq_complete 0 dev=8388608 sector=64 nr_sector=8 rwbs=W
"""


def test_sent_back(ask, _):
    """A request that its driver sends back, and that is issued again, has one slice, and none after it lies in another."""
    got = [(r["dur"], r["depth"]) for r in ask("select s.dur, s.depth from slice s join track t on s.track_id = t.id where t.type = 'block_io' order by s.ts")]
    told = count(ask, "ftrace_event where name = 'block_rq_issue'")
    return None if (got, told) == ([(3000, 0), (4000, 0)], 3) else f"{got}, {told} issues"


# ---- 32-bit calls ----

CALLS = """fact arch x86_64
fact boot_id b
horizon 0 0
horizon 1 0
process 7 5 0 0 seven
event 1000000000 0 sys_enter 7 id=5 abi=1
event 1000000500 0 sys_exit 7 id=5 abi=1 ret=3
event 1000001000 0 sys_enter 7 id=5
event 1000001700 0 sys_exit 7 id=5 ret=0
"""


def test_narrow_calls(ask, _):
    """A call by the 32-bit table does not go by the name of the 64-bit one of its number. SQL has it with its ABI."""
    slices = [(r["name"], r["dur"]) for r in ask("select name, dur from slice where name like 'sys_%'")]
    told = [r["v"] for r in ask("select a.int_value v from ftrace_event e join args a using (arg_set_id) where a.key = 'abi'")]
    return None if (slices, told) == ([("sys_fstat", 700)], [1, 1]) else f"{slices} {told}"


# ---- tasks that share a number ----

REUSED = """fact arch x86_64
fact boot_id b
horizon 0 0
horizon 1 0
process 7 5 1000002000 0 first
process 7 1000003000 0 0 second
process 8 1000003500 0 0 third
event 1000000000 0 page_fault_user 7 address=1
event 1000002000 0 sched_switch 7 prev_state=16 next_pid=0
event 1000004000 0 page_fault_user 7 address=2
event 1000004500 0 page_fault_user 8 address=3
event 1000005000 0 page_fault_user 8 address=4
"""


def test_reused(ask, _):
    """Two tasks of one number are two threads, each with its own; births that no event tells of are those of the list."""
    sql = ("select t.name, count(*) n, t.start_ts from slice s join thread_track k on s.track_id = k.id join thread t using (utid) "
           "where s.name = 'page_fault_user' group by t.utid order by t.utid")
    shift = ask("select ts from slice where name = 'page_fault_user' order by ts limit 1")[0]["ts"] - 1000000000
    got = [(r["name"], r["n"], r["start_ts"] and r["start_ts"] - shift) for r in ask(sql)]
    threads = count(ask, "thread where tid > 0")
    want = [("first", 1, None), ("second", 1, 1000003000), ("third", 2, 1000003500)]
    return None if got == want and threads == 3 else f"{got}, {threads} threads"


# ---- the ends of processes ----

ENDS = """fact arch x86_64
fact boot_id b
horizon 0 0
horizon 1 0
process 7 5 0 0 first
thread 8 7 6 first
process 17 5 0 0 second
thread 18 17 6 second
event 1000000000 0 page_fault_user 8 address=1
event 1000000001 1 page_fault_user 7 address=1
event 1000000002 0 sched_process_exit 8 group_dead=1
event 1000000003 1 sched_process_exit 7 group_dead=0
event 1000001000 0 sched_switch 8 prev_state=16 next_pid=18
event 1000002000 1 sched_switch 7 prev_state=32 next_pid=17
event 1000003000 1 sched_process_exit 17 group_dead=0
event 1000004000 1 sched_switch 17 prev_state=32 next_pid=0
event 1000005000 0 page_fault_user 18 address=1
event 1000006000 0 sched_process_exit 18 group_dead=1
event 1000007000 0 sched_switch 18 prev_state=16 next_pid=0
"""


def test_ends(ask, _):
    """A process ends with its last thread: also if the exits of two CPUs come in the other order, or its first thread went before."""
    shift = ask("select ts from slice where name = 'page_fault_user' order by ts limit 1")[0]["ts"] - 1000000000
    got = {r["tid"]: r["end_ts"] and r["end_ts"] - shift for r in ask("select tid, end_ts from thread where tid > 0")}
    want = {8: 1000001000, 7: 1000002000, 17: 1000007000, 18: 1000007000}
    return None if got == want else f"{got}, not {want}"


# ---- who has a CPU without a switch ----

HELD = """fact arch x86_64
fact boot_id b
fact events sched_switch,page_fault_user
horizon 0 0
horizon 1 0
process 7 5 0 0 spins
process 8 5 0 0 works
event 1000000000 0 page_fault_user 7 address=1
event 1000000500 1 page_fault_user 8 address=1
event 1000001000 1 sched_switch 8 prev_state=1 next_pid=0
event 1000002000 1 sched_switch 0 prev_state=0 next_pid=8
event 1000009000 0 page_fault_user 7 address=2
"""


def test_held(ask, _):
    """Who has a CPU from the window's begin is told until its first switch, and if there is none, until the end."""
    got = [(r["track"], r["name"], r["dur"]) for r in
           ask("select t.name track, s.name name, s.dur dur from slice s join track t on s.track_id = t.id where s.category = 'cpu' order by t.name")]
    want = [("CPU 0: until its first switch", "spins 7", 9000), ("CPU 1: until its first switch", "works 8", 1000)]
    return None if got == want else f"{got}, not {want}"


# ---- gaps ----


def test_begin(ask, info):
    """While a session's programs are attached one by one, a slice on each CPU says so; no event is hidden."""
    shift = info["clock"]["samples"][-1]["boot_ns"] - info["clock"]["samples"][-1]["ts"]
    want = sorted((f"CPU {c['cpu']}: what is missing", t["horizon_ns"] + shift) for c in info["cpus"] for t in c["tiers"]
                  if t["name"] == "main" and info["start_ns"] < t["horizon_ns"] == info["begin_ns"])
    got = ask("select t.name, s.ts + s.dur until from slice s join track t on s.track_id = t.id "
              "where s.name = 'not all programs were attached yet' order by t.name")
    return None if [(r["name"], r["until"]) for r in got] == want else f"{got}, not {want}"


def test_gaps(ask, info):
    """Holes and what was overwritten are slices, and the reader is told where events are missing."""
    rings = [(c["cpu"], t) for c in info["cpus"] for t in c["tiers"] if t["name"] == "main"]
    holes = {cpu for cpu, t in rings if t["holes"]}
    late = sum(t["horizon_ns"] > info["start_ns"] for _, t in rings)
    told = {r["idx"] for r in ask("select idx from stats where name = 'ftrace_cpu_has_data_loss' and value > 0")}
    if told != holes or not holes:
        return f"CPUs {told} have gaps to the reader, {holes} have holes"
    got = collections.Counter(r["name"] for r in ask("select name from slice where category = 'loss' and dur > 0"))
    before = got["overwritten earlier, not recorded yet, or not asked for"]
    if before != late or sum(got.values()) != late + sum(t["holes"] for _, t in rings):
        return f"{got}: {late} CPUs begin late, {len(holes)} have holes"
    first = {r["cpu"]: r["ts"] for r in ask("select cpu, min(ts) ts from sched_slice group by cpu")}
    shift = info["clock"]["samples"][-1]["boot_ns"] - info["clock"]["samples"][-1]["ts"]
    for cpu, t in rings:
        if first[cpu] < t["horizon_ns"] + shift:
            return f"CPU {cpu} begins at {first[cpu]}, before its horizon {t['horizon_ns'] + shift}"
    return None
