# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What rules that BPF decides cost: rules.c."""
import contextlib
import glob
import json
import os
import subprocess
import tempfile
import time

import common
import sampling

RULES = (  # what it adds to; the rule, of a limit that nothing reaches
    ("calls", "latency:syscall:fsync>1h", "a system call that no rule is for"),
    ("calls", "latency:syscall>1h", "a system call that is measured"),
    ("switches", "latency:offcpu>1h", "a switch"),
    ("wakeups", "latency:wakeup>1h", "a waking and its switch"),
    ("wakeups", "hung>1h", "a waking and its switch"),
)
COUNTED = {"latency:softirq>1h": "fr_lat_softirq_", "latency:irq>1h": "fr_lat_irq_", "latency:block>1h": "fr_lat_rq_"}


@contextlib.contextmanager
def rule(*texts):
    """A recorder of nothing frequent, with these rules in force."""
    args = [common.FLIGHTREC, "record", "-n", common.NAME, "-o", tempfile.gettempdir(), "-p", "minimal", "-e", "-sched", "-e", "-signal"]
    args += [a for t in texts for a in ("--on", t)]
    p = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wanted = f"{common.PINS}/trig-1-*" if texts else f"{common.PINS}/meta"
        for _ in range(1200):
            if glob.glob(wanted) or p.poll() is not None:
                break
            time.sleep(0.05)
        time.sleep(1)  # it attaches one program after the other
        if not glob.glob(wanted):
            raise SystemExit(f"bench: the recorder did not begin with {' '.join(texts) or 'no rule'}")
        yield
        if p.poll() is not None:
            raise SystemExit(f"bench: the recorder ended by itself, exit status {p.returncode}")
    finally:
        p.terminate()
        p.wait()
        common.leave_nothing()


def counted(prefix):
    """ns of a run and the runs' number, by the kernel's count, of programs whose names begin so."""
    progs = [p for p in json.loads(common.run("bpftool", "-j", "prog").stdout) if p.get("name", "").startswith(prefix[:15])]
    return {p["name"]: (p.get("run_time_ns", 0), p.get("run_cnt", 0)) for p in progs}


def count_all():
    """Of each rule that is counted all programs, each once."""
    for text, prefix in COUNTED.items():
        what = f"{text.replace('>1h', '')}: all its programs once, by the kernel's count"
        ran = [t / n for t, n in counted(prefix).values() if n]
        if ran:
            common.report(what, sum(ran), "ns")
        else:
            common.not_measured(what, "flightrec", "the load has nothing that the rule watches", "ns")


@common.part("rules", order=70, quick=False)
def rules(opts):
    """What latency and hung rules cost: rules.c, with the rule and without it by turns."""
    common.title("Rules that BPF decides, ns added to what they watch (medians of the best batches; rules.c has the loads)")
    added = {text: [] for _, text, _ in RULES}
    for _ in range(2):
        with rule():
            base = json.loads(common.run(os.path.join(common.BIN, "rules")).stdout)
        for what, text, _ in RULES:
            with rule(text):
                added[text].append(json.loads(common.run(os.path.join(common.BIN, "rules")).stdout)[what] - base[what])
    for _, text, label in RULES:
        common.row(f"{text.replace('>1h', '')}: {label}", added[text], "ns")
    was = sampling.set_stats("1")
    try:
        with rule(*COUNTED):
            common.load(2 if opts.quick else 3)
            count_all()
    finally:
        sampling.set_stats(was)
