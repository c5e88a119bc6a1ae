# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
A flood on all CPUs in every context, while snapshots are taken without pause; then every record is accounted for. The
checks of single records are laps.c's.
"""
import contextlib
import json
import os
import subprocess

from frtest import check, dump, equal, fr, fr_json, helper, main, path, run, session, test

SECONDS = int(os.environ.get("FR_STRESS_SECONDS", "2"))  # of one flood, of which there are as many as it takes
LAPS, FILES = 100, 11  # at least: of each CPU's main ring, and snapshots beside the last
seen = {}


@contextlib.contextmanager
def run_counts():
    """The kernel counts the runs of programs as long as the block lasts."""
    p = subprocess.Popen([helper("stats")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        equal(p.stdout.readline(), "on\n", "BPF statistics")
        yield
    finally:
        p.stdin.close()
        p.wait()
        p.stdout.close()


def flood_and_dump(name, files):
    """Snapshots, one after the other, as long as the flood lasts."""
    p = subprocess.Popen([helper("flood"), str(SECONDS)], stdout=subprocess.PIPE, text=True)
    try:
        while p.poll() is None:
            file = path(f"stress-{len(files):05}.flight")
            fr("dump", "-n", name, "-o", file)
            files.append(file)
    finally:
        p.kill()
        p.communicate()
    equal(p.returncode, 0, "exit status of the flood")


@test("stress: snapshots without pause under a flood in every context", own="its rings are tiny, and flooded")
def stress():
    files = []
    with run_counts(), session("-p", "full", "-m", "1M", "--hz", "5000") as name:
        flood_and_dump(name, files)
        for _ in range(40):  # on a busy machine few snapshots get ready in one
            if len(files) < FILES or laps_of(files[-1]) < LAPS:
                flood_and_dump(name, files)
        files += [dump(name), dump(name)]  # whatever came of the others: these have laps in common, and one that grew by the marks between
        seen["final"] = path("stress-final.flight")
        seen["live"] = json.loads(run(helper("final"), name, seen["final"]).stdout)
    seen["files"] = files
    check(len(files) >= FILES, f"only {len(files)} snapshots taken")
    contexts = ("sys_enter", "page_fault_user", "softirq_entry", "sched_waking", "sched_process_fork", "cpu_sample")
    for event in contexts:
        check(int(fr("replay", "--count", "-f", f'event == "{event}"', seen["final"]).stdout), f"no {event} in the last snapshot")
    laps = laps_of(seen["final"])
    check(laps >= LAPS, f"a ring was lapped only up to lap {laps}")
    return f"{len(files)} snapshots, {laps} laps"


def laps_of(file):
    """The least that a CPU's main ring has."""
    return min(t["last_seq"] for t in tiers(fr_json("info", file)) if t["name"] == "main")


def tiers(info):
    return [t for c in info["cpus"] for t in c["tiers"]]


@test("stress: 0 torn, 0 out of order, 0 duplicated; each lap once, or missed with its reason")
def nothing_torn():
    p = run(helper("laps"), *seen["files"], seen["final"], status=None, timeout=300)
    check(p.returncode == 0, "\n" + p.stdout + p.stderr)
    n = json.loads(p.stdout.splitlines()[-1])
    check(n["again"] > 0 and n["grown"] > 0, f"no lap was read twice: {n}")
    losses = sum(sum(c["lost"].values()) for c in seen["live"]["cpus"]) + sum(m["missed"] for m in seen["live"]["programs"])
    check(n["breaks"] <= losses, f"{n['breaks']} gaps in what threads and CPUs did, {losses} records lost or missed\n{p.stdout}")
    return f"{n['events']} records in {n['files']} files, {n['again']} laps seen again, {n['holes']} in holes"


def waits(file):
    """Records of long waits, where they are recorded, and those for which there was no place in the ring."""
    counts = fr_json("info", file).get("waits", {}).get("since_begin", {})
    return counts.get("written", 0) + counts.get("lost", 0)


@test("stress: the programs' runs = written + lost + filtered, misses apart")
def runs_accounted():
    live = seen["live"]
    kept = [t for c in live["cpus"] for t in c["tiers"] if t["name"] != "stack"]
    marks = 3 * live["snapshots"]  # trigger, begin, end: written by control programs
    want = sum(t["written"] + sum(t["lost"].values()) for t in kept) - marks + live["no_ring"]
    want += sum(sum(c["filtered"].values()) for c in live["cpus"])
    want += sum(t["unmatched"] + t["thinned"] for t in live["tracepoints"] or ())
    want -= waits(seen["final"])  # written by the programs of switches, beside those
    want -= sum(c["texts"] for c in live["cpus"])  # likewise by those of calls
    runs = sum(p["run_cnt"] for p in live["programs"])
    check(runs == want, f"{runs} runs of the event programs, {want} accounted for: {json.dumps(live)}")
    lost = {k: sum(c["lost"][k] for c in live["cpus"]) for k in live["cpus"][0]["lost"]}
    return f"{runs} runs, lost {lost}, missed {sum(p['missed'] for p in live['programs'])}"


@test("stress: per CPU and tier, written = present + overwritten, and what is present is in the file")
def written_accounted():
    info = fr_json("info", seen["final"])
    before = {(c["cpu"], t["name"]): t for c in seen["live"]["cpus"] for t in c["tiers"]}
    extra = 0
    for c in info["cpus"]:
        for t in c["tiers"]:
            was = before[c["cpu"], t["name"]]
            marks = t["written"] - was["written"]
            extra += marks
            check(marks == 0 or t["name"] == "life", f"CPU {c['cpu']}, {t['name']}: written to after detaching")
            equal(was["written"], was["present"] + was["overwritten"], f"CPU {c['cpu']}, {t['name']}: written")
            equal(t["events"], t["present"], f"CPU {c['cpu']}, {t['name']}: events decoded")
            equal(t["written"], t["overwritten"] + t["present"], f"CPU {c['cpu']}, {t['name']}: written, of the file")
    equal(extra, 2, "marks of the last snapshot; its end comes after it was copied")
    count = int(fr("replay", "--count", "--tier", "all", seen["final"]).stdout)
    equal(count, sum(t["events"] for t in tiers(info)), "events replayed")


@test("stress: the same holds in each snapshot of the flood, but for what its holes lack")
def accounts_in_the_flood():
    whole = 0
    for file in seen["files"]:
        for c in fr_json("info", file)["cpus"]:
            for t in c["tiers"]:
                lacks = t["written"] - t["overwritten"] - t["present"]
                check(lacks == 0 or (lacks > 0 and t["holes"]), f"{file}, CPU {c['cpu']}: {lacks} records lack in {t}")
                whole += not t["holes"]
    check(whole, "all rings have holes")
    return f"{whole} rings without holes"


if __name__ == "__main__":
    main()
