# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""flightrec tail: the events of a live session as they come, by looking only."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

from frtest import (FLIGHTREC, MINIMAL, ROOMY, ROOT, TINY, Skip, check, dump, equal, exists, fr, last_of, lost, main, new_name, path, program,
                    run, shared, status, test, wait_for as wait_so_long)
from recorder import NOBODY, Recorder, configured, kill
from stalling import AS_NOBODY

sys.path.insert(0, os.path.join(ROOT, "tests", "top"))
from terminal import Terminal  # noqa: E402

# The helper programs are what is recorded, so that a test has as much to do on a busy machine as on an idle one
CPU_CNT = len(os.sched_getaffinity(0))


def wait_for(fn, what):
    """These tests have work to do, not just to wait for."""
    return wait_so_long(fn, what, seconds=180)


@contextlib.contextmanager
def tail(name, *options, stdout=None, before=()):
    """A tail with its output in a file; interrupted at the end if it still runs. Gives the process, with .file and .errors."""
    file = path(f"tail-{new_name()}.json")
    with open(file, "w") as out, open(file + ".err", "w") as err:
        p = subprocess.Popen([*before, FLIGHTREC, "tail", "-n", name, *options], stdin=subprocess.DEVNULL,
                             stdout=out if stdout is None else stdout, stderr=err)
    p.file, p.errors, p.looked = file, file + ".err", 0
    try:
        yield p
    finally:
        if p.poll() is None:
            p.kill()
        p.wait()


def bytes_from(file, at):
    """What there is now. A file that grows as fast as it is read has no end to read to."""
    with open(file, "rb") as f:
        f.seek(at)
        return f.read(max(0, os.path.getsize(file) - at))


def lines(file):
    """Whole lines there are now."""
    text = bytes_from(file, 0).decode(errors="surrogateescape")
    return text[:text.rfind("\n") + 1].splitlines()


def seen(p, pattern):
    """Has a line come that matches? What was looked at is not looked at again."""
    text = bytes_from(p.file, p.looked)
    end = text.rfind(b"\n") + 1
    if re.search(pattern, text[:end]):
        return True
    p.looked += end
    return False


def make_events():
    """Some hundred system calls and a birth of a task that ROOMY records."""
    run("bash", "-c", "printf frtail > /proc/$$/comm; for i in $(seq 100); do echo > /dev/null; done")


def started(*procs):
    """Wait until each tail shows what happens."""
    def shows():
        make_events()
        return all(os.path.getsize(p.file) for p in procs)
    wait_for(shows, "tails show events")


def interrupt(p):
    p.send_signal(signal.SIGINT)
    equal(p.wait(180), 0, "exit status of an interrupted tail")


PLACE = re.compile(r'"cpu":(\d+),.*"pos":\{"epoch":\d+,"tier":"(\w+)","seq":(\d+),"offset":(\d+)\}\}$')
TIME = re.compile(r'\{"ts":(\d+),')


def by_place(all_lines, since=0):
    """Events by CPU, tier, lap and offset, in their order."""
    events = [line for line in all_lines if line.startswith('{"ts"') and int(TIME.match(line)[1]) >= since]
    found = {}
    for line in events:
        cpu, tier, seq, offset = PLACE.search(line).groups()
        found[int(cpu), tier, int(seq), int(offset)] = line
    equal(len(found), len(events), "places in the rings, each once")
    return found


def is_in_order(all_lines):
    times = [int(TIME.match(line)[1]) for line in all_lines if line.startswith('{"ts"')]
    return all(a <= b for a, b in zip(times, times[1:]))


def compare(got, want):
    """Common events agree to the byte, and none of them is missing on either side, ring by ring. Returns how many there are."""
    common = got.keys() & want.keys()
    differ = [k for k in common if got[k] != want[k]]
    check(not differ, f"{len(differ)} of {len(common)} differ: {differ and (got[differ[0]], want[differ[0]])}")
    for ring in {k[:2] for k in common}:
        places = [k for k in common if k[:2] == ring]
        first, last = min(places), max(places)
        for what, have in (("tail", got), ("the snapshot", want)):
            window = sum(k[:2] == ring and first <= k <= last for k in have)
            equal(window, len(places), f"events of CPU {ring[0]}, tier {ring[1]} in the common window of {what}")
    check([k for k in got if k in common] == [k for k in want if k in common], "common events in another order")
    return len(common)


@test("three tails beside dumps in a row: lines equal to replay's, none missing, in order; nothing is lost")
def beside_dumps():
    name = shared(*ROOMY)
    with contextlib.ExitStack() as stack:
        tails = [stack.enter_context(tail(name, "--json", "--pos")) for _ in range(3)]
        started(*tails)
        files, before = [], lost(status(name))
        for _ in range(3):
            make_events()
            files.append(dump(name))
        last = status(name)["snapshots"]
        for p in tails:
            wait_for(lambda: seen(p, rb'"event":"snapshot_end".*"nr":%d\b' % last), "the last dump's end")
        equal(lost(status(name)), before, "records the writers lost")
        for p in tails:
            interrupt(p)
        snapshots = [by_place(fr("replay", "--json", "--pos", file).stdout.splitlines()) for file in files]
        common = 0
        for p in tails:
            out = lines(p.file)
            equal(json.loads(out[-1])["skipped"], 0, "events skipped")
            check(is_in_order(out), "a tail's events are not in order")
            got = by_place(out)
            common += sum(compare(got, want) for want in snapshots)
        check(common > 9 * 100, f"only {common} events in common")
        fr("verify", *files)
    return f"{common} events"


def settled(p, final):
    """Of each ring what was there before, printed, filtered and skipped is what was written."""
    out = lines(p.file)
    end = json.loads(out[-1])
    written = {(c["cpu"], t["name"]): t["written"] for c in final["cpus"] for t in c["tiers"]}
    for r in end["rings"]:
        equal(r["begun"] + r["printed"] + r["filtered"] + r["skipped"], written[r["cpu"], r["tier"]],
              f"CPU {r['cpu']}, tier {r['tier']}: {r}: in all")
    told = [json.loads(line) for line in out if line.startswith('{"skipped"')]
    equal(sum(t["skipped"] for t in told), end["skipped"], "skipped, one by one")
    equal(sum(line.startswith('{"ts"') for line in out), end["printed"], "lines printed")
    return end


FLOOD = "printf frtail > /proc/$$/comm; while :; do for i in 1 2 3 4 5 6 7 8; do echo; done > /dev/null; done"


@contextlib.contextmanager
def flood(cnt=1):
    """So many processes that do nothing but what ROOMY records."""
    procs = [subprocess.Popen(["bash", "-c", FLOOD], stdin=subprocess.DEVNULL) for _ in range(cnt)]
    try:
        yield
    finally:
        for p in procs:
            p.kill()
            p.wait()


def last_cpus(file):
    """CPUs of the events told last: a busy machine may leave the flood one for a while."""
    return set(re.findall(rb'"cpu":(\d+)', bytes_from(file, os.path.getsize(file) - (4 << 20))))


@test("tail --columns: an event's program and cgroup are those that replay has of it; text has them, too")
def columns():
    name = shared(*ROOMY)
    asked = ("--columns", "cgroup,program")
    with tail(name, "--json", "--pos", *asked) as p, tail(name, *asked, "-f", 'comm == "frtail"') as text:
        started(p, text)
        with flood():
            wait_for(lambda: seen(p, rb'"comm":"frtail".*"whose":\{"program":"frtail","cgroup":"/'), "an event of a program and its cgroup")
            wait_for(lambda: seen(text, rb' whose=\[program=frtail cgroup=/[^ ]*\]\n'), "the same in text")
            # the program still runs as the file is made: it tells where it is, as the tail could ask
            file = dump(name)
        wait_for(lambda: seen(p, rb'"event":"snapshot_end".*"nr":%d\b' % status(name)["snapshots"]), "the dump's end")
        interrupt(p)
        interrupt(text)
        got, plain = by_place(lines(p.file)), lines(text.file)
    want = by_place(fr("replay", "--json", "--pos", *asked, file).stdout.splitlines())
    both = [(json.loads(got[k]), json.loads(want[k])) for k in got.keys() & want.keys()]
    both = [(t, r) for t, r in both if t["comm"] == "frtail" and r["whose"]["cgroup"]]
    check(both, "no event of frtail is in both")
    for t, r in both:
        equal(list(t["whose"]), ["program", "cgroup"], "columns, in order")
        equal(t["whose"]["program"], r["whose"]["program"], f"program of {t}")
        check(t["whose"]["cgroup"] in (r["whose"]["cgroup"], None), f"cgroup of {t}, not {r['whose']}")
    check(not any("pod=" in line for line in plain), "a column that nobody asked for")
    return f"{len(both)} events"


@test("in a flood on all CPUs events come in the order of their times")
def order():
    name = shared(*ROOMY)
    with tail(name, "--json") as p:
        started(p)
        begin = os.path.getsize(p.file)
        with flood(2 * CPU_CNT):
            wait_for(lambda: os.path.getsize(p.file) > begin + (6 << 20), "events in the flood")
            wait_for(lambda: len(last_cpus(p.file)) > 1 or CPU_CNT == 1, "events of other CPUs")
        interrupt(p)
        out = lines(p.file)
        check(is_in_order(out), "not in order")
        cpus = {json.loads(line)["cpu"] for line in out if line.startswith('{"ts"')}
        check(len(cpus) > 1 or CPU_CNT == 1, f"only of CPUs {cpus}")
    return f"{len(out)} lines"


@test("a tail whose output nobody reads skips, says so, and holds up nobody")
def unread():
    name = shared(*TINY)
    reader, writer = os.pipe()
    with tail(name, "-f", 'comm == "frtail"', stdout=writer) as p:
        os.close(writer)
        before, lost_before = sum(c["written"] for c in status(name)["cpus"]), lost(status(name))
        wait_for(lambda: make_events() or sum(c["written"] for c in status(name)["cpus"]) > before + 40000, "events")
        equal(lost(status(name)), lost_before, "records the writers lost")
        with os.fdopen(reader, errors="surrogateescape") as f:
            # one line, then the rest until the skip has been told
            check(f.readline(), "no line")
            os.set_blocking(f.fileno(), False)

            def told():
                with contextlib.suppress(TypeError, OSError):
                    while f.read():
                        pass
                make_events()
                with open(p.errors) as e:
                    return "events skipped (" in e.read()
            wait_for(told, "the skip is told")
    with open(p.errors) as e:
        first = e.readline()
    check(first.startswith("CPU ") and " lap" in first, first)


@test("a recorder that is killed and taken over by the next is not noticed; --last begins with history")
def restart():
    with configured(NOBODY) as (name, dir, conf):
        first = Recorder(name, dir, "--config", conf).armed()
        with contextlib.ExitStack() as stack:
            stack.callback(kill, first)
            p = stack.enter_context(tail(name, "--json"))
            wait_for(lambda: run("/bin/echo") and seen(p, rb'"sched_process_exec".*/bin/echo'), "what comes before the restart")
            kill(first)
            second = Recorder(name, dir, "--config", conf)
            stack.callback(kill, second)
            second.armed()
            run("/bin/sleep", "0")
            wait_for(lambda: seen(p, rb'"sched_process_exec".*/bin/sleep'), "what came after the restart")
            old = stack.enter_context(tail(name, "--json", "--last", "60s", "-f", "event == sched_process_exec"))
            wait_for(lambda: seen(old, rb'"sched_process_exec".*/bin/sleep'), "history")
            interrupt(old)
            interrupt(p)
            equal(json.loads(lines(p.file)[-1])["end"], "interrupt", "why it ended")


@test("--last begins, in a full ring, at the lap of that moment: what is older is neither read nor skipped")
def moment():
    name = shared(*TINY)
    with flood(2 * CPU_CNT):
        wait_for(lambda: all(c["overwritten"] for c in status(name)["cpus"]), "rings are full")
    time.sleep(0.2)  # so that all that the flood left is older than what is asked for
    now = {(c["cpu"], t["name"]): t for c in status(name)["cpus"] for t in c["tiers"]}
    with tail(name, "--json", "--last", "100ms") as p:
        run("bash", "-c", "printf frtail > /proc/$$/comm; kill -0 $$; /bin/echo frtail-behind > /dev/null")
        wait_for(lambda: seen(p, rb'"sched_process_exec".*/bin/echo'), "what came behind")
        interrupt(p)
        rings = [r for r in json.loads(lines(p.file)[-1])["rings"] if r["tier"] == "main"]
    for r in rings:
        had = now[r["cpu"], "main"]
        check(r["begun"] > had["overwritten"], f"CPU {r['cpu']} begins at the oldest lap: {r}, {had}")
        equal(r["skipped"], 0, f"events of CPU {r['cpu']} that were skipped")
    return f"{sum(r['begun'] for r in rings)} before, {sum(r['filtered'] + r['printed'] for r in rings)} read"


@test("the session's end: tails that keep up, and that are stopped in a flood on tiny rings, account for each record")
def accounts():
    with last_of(*TINY) as name, contextlib.ExitStack() as stack:
        fast = stack.enter_context(tail(name, "--json", "-f", "event == sys_enter"))
        stopped = stack.enter_context(tail(name, "--json"))
        started(fast, stopped)
        stopped.send_signal(signal.SIGSTOP)
        before, lost_before = sum(c["written"] for c in status(name)["cpus"]), lost(status(name))
        with flood():
            wait_for(lambda: sum(c["written"] for c in status(name)["cpus"]) > before + 60000, "a flood")
        stopped.send_signal(signal.SIGCONT)
        final = json.loads(fr("stop", "-n", name, "--json").stdout)
        equal([p.wait(180) for p in (fast, stopped)], [0, 0], "exit statuses at the session's end")
        ends = [settled(p, final) for p in (fast, stopped)]
        check(ends[0]["filtered"] > 0, "nothing was filtered")
        check(ends[1]["skipped"] > 10000, f"only {ends[1]['skipped']} skipped by a tail that was stopped")
        equal([e["end"] for e in ends], ["session", "session"], "why they ended")
        equal(lost(final), lost_before, "records the writers lost")
        with open(stopped.errors) as f:
            check("has ended" in f.read(), "the end is not said")
    return f"{ends[1]['skipped']} skipped"


@test("in a time namespace: the same events with the same times, and --last counts back from the recording's own time")
def namespace():
    ahead = ["unshare", "-T", "--monotonic", "100000"]
    back = ["unshare", "-T", "--monotonic", f"-{int(time.monotonic() * 0.9)}"]
    if run(*ahead, "true", status=None).returncode:
        raise Skip("no time namespaces")
    name = shared(*ROOMY)
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)  # of tasks that ended before, a tail has not seen the names
    run("bash", "-c", "printf frtail > /proc/$$/comm; kill -0 $$; /bin/echo frtail-before > /dev/null")
    with contextlib.ExitStack() as stack:
        tails = [stack.enter_context(tail(name, "--json", "--pos", "--last", "1h", before=b)) for b in ((), ahead, back)]
        run("bash", "-c", "printf frtail > /proc/$$/comm; kill -0 $$; /bin/echo frtail-behind > /dev/null")
        make_events()
        file = dump(name)
        last = status(name)["snapshots"]
        for p in tails:
            wait_for(lambda p=p: seen(p, rb'"event":"snapshot_end".*"nr":%d\b' % last), "the dump's end")
        for p in tails:
            interrupt(p)
    want = by_place(fr("replay", "--json", "--pos", file).stdout.splitlines(), begin)
    got = [by_place(lines(p.file), begin) for p in tails]
    execs = [sum('"sched_process_exec"' in line and "/bin/echo" in line for line in g.values()) for g in got]
    equal(execs, execs[:1] * 3, "programs begun, before tail did and since")
    check(execs[0] >= 2, f"{execs[0]} programs begun")
    return f"{min(compare(g, want) for g in got)} events"


@test("what cannot be followed is refused with its cure")
def refusals():
    got = fr("tail", "-n", "frtest-none", status=4)
    check("no session 'frtest-none'" in got.stderr, got.stderr)
    name = shared(*ROOMY)
    for args, word in ((("-f", "latency > 1ms"), "flightrec replay"), (("-f", "nosuch > 1"), "nosuch"),
                       (("--tier", "nosuch"), "nosuch"), (("--last", "x"), "duration"), (("FILE",), "flightrec replay")):
        got = fr("tail", "-n", name, *args, status=2)
        check(word in got.stderr and got.stderr.startswith("flightrec: "), got.stderr)
    check(exists(name), "the session goes on")


def moment(text):
    """When a live top's screen was, or None: it is not live."""
    found = re.match(r" session '[\w-]+'  ([\d:.]+Z)  live  ", text.split("\n")[0])
    return found and found[1]


@test("top, live: who begins behind the first look is on a later screen; it goes on by itself, pauses, and leaves no mark")
def live_top():
    name = shared(*MINIMAL)
    before = status(name)["snapshots"]
    with Terminal(FLIGHTREC, "top", name, "--interval", "200ms", "--last", "1h", "--panel", "tasks", "-f", 'comm == "frt-live"', width=120, height=40) as t:
        first = moment(t.wait("a first look", moment))
        p = subprocess.Popen([program("frt-live", "/bin/sleep"), "300"])
        try:
            line = re.compile(rf"^ frt-live +{p.pid} ", re.M)
            seen = moment(t.wait("who began behind it", lambda s: moment(s) and line.search(s)))
            check(seen > first or first > "23:59", f"a later look: {first}, {seen}")
            t.key("p")
            paused = t.wait("a pause", lambda s: "paused: p goes on" in s)
            t.key("p")
            for at in range(2):
                seen = moment(t.wait(f"refresh {at}", lambda s: moment(s) not in (None, seen) and line.search(s)))
            check(line.search(paused), f"it is there while it is paused: {paused}")
        finally:
            p.kill()
            p.wait()
        t.key("q")
        equal((t.end(), t.said(), t.is_restored()), (0, "", True), "how it ended")
    equal(status(name)["snapshots"], before, "snapshots, as far as the session knows")
    text = run(FLIGHTREC, "top", "--once", "--size", "120x40", name).stdout
    check(moment(text), f"one look, without a terminal: {text}")
    equal(run(FLIGHTREC, "top", name, status=1).stderr.count("--once"), 1, "what to use without one")


@test("top of a session or of a file: the file of that name, if there is one; else the session; whose end, and the terminal's, end it")
def live_top_names():
    with last_of(*ROOMY) as name:
        file = dump(name)
        os.symlink(file, path(name))
        for args, title in ((("-n", name), f" session '{name}'  "), ((name,), f" {name}  ")):
            text = run(FLIGHTREC, "top", "--once", *args, cwd=os.path.dirname(path(name))).stdout
            check(text.startswith(title), f"{args}: {text.splitlines()[0]}")
        os.unlink(path(name))
        check(run(FLIGHTREC, "top", "--once", name).stdout.startswith(f" session '{name}'  "), "no file: the session")
        none = run(FLIGHTREC, "top", new_name(), status=4).stderr
        check("is recording" in none and "there is no file" in none, f"neither: {none}")
        other = run(*AS_NOBODY, FLIGHTREC, "top", "--once", name, status=None)
        same = run(*AS_NOBODY, FLIGHTREC, "tail", "-n", name, status=None)
        equal((other.returncode, other.stderr), (same.returncode, same.stderr), "without rights: as tail")
        with Terminal(FLIGHTREC, "top", name, "--interval", "100ms") as gone, Terminal(FLIGHTREC, "top", name, "--interval", "100ms") as t:
            for each in (gone, t):
                each.wait("a screen", moment)
            gone.process.send_signal(signal.SIGHUP)
            equal(gone.end(), -signal.SIGHUP, "how the end of its terminal ends it")
            fr("stop", "-n", name)
            equal((t.end(), t.said().strip(), t.is_restored()), (0, f"session '{name}' has ended", True), "how the session's end ends it")


if __name__ == "__main__":
    main()
