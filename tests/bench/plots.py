# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which rows of bench.json are drawn, and how. A plot: its file, the part it is shown in, its title, what makes it of the rows."""
import svg


def of(rows, part, **want):
    """Rows of a part: of this unit, case, ...; at what the case varies, by name."""
    return [r for r in rows if r["part"] == part and all(r.get(k, r["at"].get(k)) == v for k, v in want.items())]


def label(r, by_case):
    return f"{r['case']}: {r['peer']}" if by_case else r["peer"]


def bar_rows(rows, by_case=False):
    return [(label(r, by_case), r["median"], r["not_measured"] or r["spread"], r["peer"]) for r in rows]


def bars(title, unit, rows, by_case=False):
    return svg.bars(title, unit, bar_rows(rows, by_case)) if any(r["median"] is not None for r in rows) else None


def over(title, x_unit, y_unit, rows, key, by=lambda r: r["peer"], **how):
    """Lines over what the rows vary by this key, a line for each peer, or for each that by() tells."""
    series = {}
    for r in rows:
        if r["median"] is not None:
            series.setdefault(by(r), []).append((r["at"][key], r["median"], r["spread"]))
    return svg.lines(title, x_unit, y_unit, series, **how) if series else None


def payload(cpus):
    title = f"Recording one event in a tight loop, {cpus} CPU{'s at once' if cpus > 1 else ''}"
    return lambda rows: over(title, "bytes of payload, 16 of time and task besides", "ns added to an empty loop",
                             [r for r in of(rows, "hot", cpus=cpus, unit="ns") if "bytes" in r["at"]], "bytes", log_y=True)


def loop(rows):
    group = [r for r in of(rows, "hot", unit="ns") if r["group"].startswith("Recording one event of 24 bytes")]
    return bars("Recording one event of 24 bytes in a tight loop, one CPU", "ns added to an empty loop", group, by_case=True)


def added(load, what):
    return lambda rows: bars(f"As added to {what}", "ns", of(rows, "calls", unit="ns", load=load, cpus="one"))


def program(load, what):
    """Of time or throughput; nobody's bar is the noise."""
    return lambda rows: bars(f"{what}: slower than without a recorder", "percent", [
        r for r in of(rows, "programs", unit="%", load=load) if r["case"].startswith(("slower", "noise: "))])


def kept(rows):
    return bars("History kept in the same memory", "events a MiB", of(rows, "kept", unit="1/MiB"), by_case=True)


def silence(rows):
    group = of(rows, "snapshot", case="longest time that is missing in what was recorded of it")
    return bars("While a snapshot is taken: the longest time in which a busy writer's events are missing", "ms", group)


def disk(rows):
    group = [r for r in of(rows, "disk", unit="bytes") if r["case"].endswith(("bytes an event", "the whole file"))]
    return bars("On disk", "bytes an event", group, by_case=True)


def snapshot(rows):
    files = [r for r in of(rows, "snapshot", unit="ms") if "the file complete" in r["case"]]
    return bars("A snapshot of 16 MiB a CPU, until its file is complete", "ms", files, by_case=True)


def scaling(title, wanted):
    """Replay over the size of the file: what wanted(row) takes."""
    return lambda rows: over(title, "events in the file", "million events a second, one CPU unless told",
                             [r for r in of(rows, "scaling", unit="M/s") if wanted(r["at"])], "events",
                             by=lambda r: r["at"]["op"] + (", all CPUs" if r["at"]["cpus"] > 1 else ""), log_y=True)


def grains(rows):
    group = [r for r in of(rows, "scale", unit="ns") if r["at"].get("grain_ns") and (r["median"] or 0) > 0]
    return over("What a second CPU adds to an event: measured, and by the model", "grain, ns", "ns", group, "grain_ns", log_y=True)


# file, part, what draws it of all rows: None if there is nothing to be drawn
PLOTS = (
    ("loop", "hot", loop),
    ("payload-1", "hot", payload(1)),
    ("payload-2", "hot", payload(2)),
    ("calls", "calls", added("calls", "a system call, raw_syscalls:sys_enter recorded")),
    ("switches", "calls", added("switches", "a switch, sched:sched_switch recorded")),
    ("pipe", "programs", program("pipe", "perf bench sched pipe")),
    ("messaging", "programs", program("messaging", "perf bench sched messaging")),
    ("build", "programs", program("build", "A build")),
    ("redis", "programs", program("redis", "redis on loopback")),
    ("nginx", "programs", program("nginx", "nginx on loopback")),
    ("kept", "kept", kept),
    ("snapshot", "snapshot", snapshot),
    ("silence", "snapshot", silence),
    ("disk", "disk", disk),
    ("scaling", "scaling", scaling("Reading a snapshot, by its size", lambda at: "export" not in at["op"])),
    ("scaling-export", "scaling", scaling("Exporting a snapshot, by its size", lambda at: "export" in at["op"])),
    ("grains", "scale", grains),
)


def drawn(rows):
    """By part: [(file's name, SVG text, title)]."""
    found = {}
    for name, part, draw in PLOTS:
        text = draw(rows)
        if text:
            title = text.split("<title>")[1].split("</title>")[0]
            found.setdefault(part, []).append((f"{name}.svg", text, title))
    return found
