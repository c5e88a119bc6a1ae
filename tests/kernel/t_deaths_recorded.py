# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The matrix of deaths through a real recorder: each that dumps core leaves one snapshot, that says what it was; no other does."""
import contextlib
import os
import shutil
import subprocess
import tempfile

from frtest import FLIGHTREC, TMP, check, end, equal, fr, fr_json, helper, main, new_name, path, replay, run, test, wait_for
from matrix import CORE_SIGNALS, PROGRAMS, said

CONFIG = """
[Session]
Profile=minimal
Memory=1M
[Trigger]
On=crash:exe={tmp}/frd-*,cooldown=0s
StormCount=0
[Storage]
Directory={dir}
MaxFiles=0
KeepFree=0%
[Control]
Socket=no
[Notify]
Journal=no
"""


class Recorder:
    def __init__(self, name, dir):
        self.dir, self.log, config = dir, path(f"{name}.log"), path(f"{name}.conf")
        with open(config, "w") as f:
            f.write(CONFIG.format(dir=dir, tmp=TMP))
        with open(self.log, "w") as log:
            self.p = subprocess.Popen([FLIGHTREC, "record", "-n", name, "--config", config], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=log)
        wait_for(lambda: "armed" in self.said() or self.p.poll() is not None, f"the triggers are armed: {self.said()}", 60)
        check(self.p.poll() is None, f"the recorder ended: {self.said()}")

    def said(self):
        with open(self.log) as f:
            return f.read()

    def files(self):
        return [os.path.join(self.dir, f) for f in os.listdir(self.dir) if f.endswith(".flight")]


@contextlib.contextmanager
def recording():
    name, dir = new_name(), tempfile.mkdtemp(dir=TMP)
    r = None
    try:
        r = Recorder(name, dir)
        yield r
    finally:
        if r and r.p.poll() is None:
            r.p.kill()
            r.p.wait()
        end(name)


def copies():
    """{program: file}, and all ways: (program, way, signal)."""
    files, ways = {}, []
    for program in PROGRAMS:
        files[program] = path("frd-" + program)
        shutil.copy(helper(program), files[program])
        ways += [(program, *line.split()) for line in run(files[program], "--list").stdout.splitlines()]
    return files, [(program, way, int(sig)) for program, way, sig in ways]


def check_snapshot(file, death):
    """What the file says is what the dying process said."""
    fr("verify", file)
    t = fr_json("info", file)["trigger"]
    equal((t["reason"], t["pid"], t["sig"]), ("crash", death.pid, death.sig), f"{death.what}: trigger")
    check(death.tid in (0, t["tid"]), f"{death.what}: {t}")
    events = [e for e in replay(file) if e["pid"] == death.pid]
    crashes = [e for e in events if e["event"] == "crash"]
    equal(len(crashes), 1, f"{death.what}: events crash")
    e = crashes[0]
    equal((e["tid"], e["sig"], e["ts"], f"{e['ip']:#x}"), (t["tid"], death.sig, t["ts"], t["ip"]), f"{death.what}: its event")
    check(e["ustack"] and e["ustack"][0] == e["ip"] and e["kstack"], f"{death.what}: its stacks: {e}")
    delivered = [d for d in events if d["event"] == "signal_deliver" and d["tid"] == e["tid"] and d["fatal"]]
    check(delivered and delivered[-1]["sig"] in (death.sig, 9), f"{death.what}: its delivery: {delivered}")


@test("recorded: each death that dumps core leaves one snapshot with its truth; nothing else leaves one")
def recorded():
    files, ways = copies()
    deaths = []
    with recording() as r:
        # those that leave none first: the snapshots that follow come behind them in the queue
        for program, way, sig in sorted(ways, key=lambda w: w[2] in CORE_SIGNALS and w[1] not in ("exec_then_null", "memfd")):
            if way in ("exec_then_null", "memfd"):  # by another name, which the rule is not for
                continue
            p = run(files[program], way, status=None, cwd=TMP, timeout=60)
            found = said(program, way, sig, p.returncode, p.stdout)
            if sig not in CORE_SIGNALS:
                continue
            deaths += found
            got = wait_for(lambda: r.files() if len(r.files()) >= len(deaths) else None, f"a snapshot of {way}: {r.said()}", 60)
            equal(len(got), len(deaths), f"snapshots after {way}")
        for d in deaths:
            mine = [f for f in r.files() if f.endswith(f"-{d.pid}.flight")]
            equal(len(mine), 1, f"{d.what}: snapshots")
            check_snapshot(mine[0], d)
    check(len(deaths) >= 23, f"only {len(deaths)} deaths")
    return f"{len(deaths)} snapshots of {len(ways) - 2} ways"


if __name__ == "__main__":
    main()
