# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
A recorder for long: it is killed, given other rules, bad ones too, asked, and flooded with deaths, in an order of chance, beside processes that
whoever looks at them waits for and others whose disk hangs. FR_SOAK=SECONDS goes on for so long; else for some steps.
"""
import collections
import contextlib
import os
import re
import signal
import subprocess
import time

from frtest import FLIGHTREC, SESSIONS, Failed, chance, check, equal, fr, main, opened, path, state, status, test, wait_for, written
from hangfs import hangfs
from recorder import TAG, Recorder, children, configured, crash, end_load, kill, send_reload, start_load, trigger, write_config, writer_of
from stalling import helpers, stalling

SOAK_S = int(os.environ.get("FR_SOAK", "0"))
STEPS = 8
LEFT_MAX = 2  # helpers left behind, of one recorder
SETTLED = 100  # steps of a recorder's life after which it takes no more memory
GROWTH_KB = 256
MOURNED, FLOOD = f"soak-m{TAG}", f"soak-f{TAG}"
RULES = (f"crash:comm={MOURNED},cooldown=0s", f"crash:comm={FLOOD},cooldown=1h")
MORE = f"exit:7:comm=soak-n{TAG}"  # a rule that comes and goes
SETTINGS = "[Storage]\nKeepFree=0%\n[Control]\nSocket=yes\n"


def anon_kb(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"^RssAnon:\s+(\d+)", f.read(), re.M)[1])


def at_rest(pid):
    """None of its processes but those that stay: it has asked nobody anything."""
    names = set()
    for child in children(pid):
        with contextlib.suppress(OSError), open(f"/proc/{child}/comm") as f:
            names.add(f.read().strip())
    return names <= {"flightrec-write", "flightrec-log", "flightrec-count"}


def holds(pid):
    """What a process has: kinds of descriptors and how many of each, how many threads."""
    fds = collections.Counter(re.sub(r"\d+", "", what) for what in opened(pid).values())
    return {**fds, "threads": len(os.listdir(f"/proc/{pid}/task"))}


def changes(had, has):
    return {what: (had.get(what, 0), has.get(what, 0)) for what in sorted({*had, *has}) if had.get(what, 0) != has.get(what, 0)}


class Soak:
    def __init__(self, name, dir, file, disk):
        self.name, self.dir, self.file, self.disk = name, dir, file, disk
        self.rng, self.did = chance(), collections.Counter()
        self.died, self.moments, self.waits = collections.Counter(), set(), []
        self.pins = self.begin_rules()

    def configure(self, *rules):
        write_config(self.file, self.name, self.dir, *rules, more=SETTINGS)

    def begin_rules(self):
        self.configure(*RULES)
        self.live()
        return self.pins_now()

    def pins_now(self):
        """What the session has in the kernel: programs of rules have a number that grows."""
        return sorted(re.sub(r"^trig-\d+", "trig-N", f) for f in os.listdir(f"{SESSIONS}/{self.name}") if f != "incident-lock")

    def live(self):
        """A recorder begins its life."""
        self.r = Recorder(self.name, self.dir, "--config", self.file).armed()
        self.steps, self.had, self.settled_kb = 0, None, 0

    # ---- what happens to it ----

    def die(self, cnt=1):
        for _ in range(cnt):
            crash(MOURNED)
        self.died[MOURNED] += cnt

    def do_crash(self):
        self.die()

    def do_flood(self):
        load = start_load(FLOOD, 0)
        time.sleep(self.rng.random() * 0.3)
        self.died[FLOOD] += end_load(load)

    def do_rules(self):
        self.configure(*RULES, MORE)
        send_reload(self.r)
        self.die(self.rng.randrange(2))
        self.configure(*RULES)
        send_reload(self.r)

    def do_bad_rules(self):
        self.configure(*RULES, "crash:comm")
        try:
            send_reload(self.r)
        except Failed as refused:
            check("refused" in str(refused), refused)
        else:
            raise Failed("a bad rule was taken")
        self.configure(*RULES)
        send_reload(self.r)

    def do_dump(self):
        file = path("asked.flight")
        fr("dump", "-n", self.name, "-o", file)
        fr("verify", file)
        os.unlink(file)

    def do_killed_dump(self):
        p = subprocess.Popen([FLIGHTREC, "dump", "-n", self.name, "-o", path("killed.flight")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.rng.random() * 0.1)
        p.kill()
        p.wait()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path("killed.flight"))

    def do_status(self):
        fr("status", "-n", self.name)
        fr("status", "-n", self.name, "--metrics")

    def do_kill_writer(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(wait_for(lambda: writer_of(self.r.p.pid), "a writer"), signal.SIGKILL)

    def do_kill(self):
        """It is killed; some die before the next one lives."""
        kill(self.r)
        self.die(self.rng.randrange(3))
        self.live()

    def do_hang(self):
        """The disk of other processes hangs, or goes on."""
        if self.waits:
            self.disk.go()
            for p in self.waits:
                p.wait(120)
            self.waits = []
            return
        self.disk.hang()
        self.waits = [subprocess.Popen(["ls", f"{self.disk.dir}/none"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(3)]
        wait_for(lambda: self.disk.waiting() and all(state(p.pid) in ("D", "S") for p in self.waits), lambda: f"they wait: {self.disk.waiting()}")

    # ---- what must be so ----

    def settle(self):
        """Each death so far is seen and decided, and what was taken is there, sound, of a moment of its own."""
        for rule, who in zip(RULES, (MOURNED, FLOOD)):
            got = self.r.wait_seen(rule, self.died[who])
            equal(got["seen"], self.died[who], f"deaths of {who}, seen")
        wait_for(lambda: not status(self.name)["waiting"], "no snapshot is on its way")
        files = self.r.files()
        if files:
            fr("verify", *files)
        for file in files:
            t = trigger(file)
            check((t["pid"], t["ts"]) not in self.moments, f"its moment has another file: {t}")
            self.moments.add((t["pid"], t["ts"]))
            os.unlink(file)
        equal(sum(self.r.rules()[rule]["taken"] for rule in RULES), len(self.moments), f"files, as counted: {self.r.said()}")

    def keeps_nothing(self):
        """A recorder that has settled holds what it held when it was young."""
        pid = self.r.p.pid
        if not self.had:
            wait_for(lambda: at_rest(pid), "it is at rest")
            self.had = holds(pid)
        wait_for(lambda: holds(pid) == self.had, lambda: f"it holds what it held; it had, and has: {changes(self.had, holds(pid))}")
        equal(self.pins_now(), self.pins, "what the session has in the kernel")
        if self.steps == SETTLED:
            self.settled_kb = anon_kb(pid)
        if self.steps > SETTLED:
            check(anon_kb(pid) <= self.settled_kb + GROWTH_KB, f"its memory grows: {self.settled_kb} KiB after {SETTLED} steps, now {anon_kb(pid)}")

    def step(self):
        doing = self.rng.choices(("crash", "flood", "rules", "bad_rules", "dump", "killed_dump", "status", "kill_writer", "hang", "kill"),
                                 (20, 4, 8, 4, 12, 8, 12, 6, 4, 0.5 if SOAK_S else 4))[0]
        before = written(self.name)
        getattr(self, "do_" + doing)()
        self.did[doing] += 1
        self.steps += 1
        check(self.r.alive(), f"it ended by itself: {self.r.said()}")
        self.settle()
        self.keeps_nothing()
        wait_for(lambda: written(self.name) > before, "recording goes on")


@test("a recorder that is killed, told, asked and flooded beside what hangs: each death is accounted for, nothing is left, none grows")
def soak():
    before, until = helpers(), time.monotonic() + SOAK_S
    with hangfs() as disk, configured(*RULES) as (name, dir, file), stalling("lock"), contextlib.ExitStack() as last:
        s = Soak(name, dir, file, disk)
        last.callback(lambda: kill(s.r))
        last.callback(disk.go)
        while time.monotonic() < until if SOAK_S else sum(s.did.values()) < STEPS:
            s.step()
            left = [pid for pid, how in helpers().items() if how == "D" and pid not in before]
            check(len(left) <= LEFT_MAX, f"left behind: {left}")
        if s.waits:
            s.do_hang()
        equal(s.r.end(), 0, f"exit status: {s.r.said()}")
        fr("dump", "-n", name, "-o", f"{dir}/last.flight")
        equal([f for f in os.listdir(dir) if ".tmp-" in f], [], "temporary files after a whole dump")
    wait_for(lambda: not set(helpers()) - set(before), lambda: f"helpers end with what they waited for: {helpers()}")
    return f"{dict(s.did)}, died {dict(s.died)}, {len(s.moments)} snapshots"


if __name__ == "__main__":
    main()
