# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""docs/performance.md and docs/scale.md: the promises and the model's tables are made of the kept runs in tests/bench/runs; the
prose around them is written by hand.

	docs.py --update	what build/bench.json has becomes the kept run and the documents
	docs.py --other NAME	its promises become a column of another machine there, kept as tests/bench/runs/other/NAME.json
	docs.py --check		that the documents are what the kept runs make: 0 or 1
	docs.py --tables DIR	all tables and plots of the kept runs there
"""
import json
import os
import sys

import plots
import rows as table
import scale

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "performance.md")
SCALE = os.path.join(ROOT, "docs", "scale.md")
PLACE = os.path.join(ROOT, "tests", "bench", "runs")
KEPT = os.path.join(PLACE, "bench.json")
OTHER = os.path.join(PLACE, "other")
BUILT = os.path.join(ROOT, "build", "bench.json")
BEGIN, END = "<!-- made by tests/bench/run.sh --docs -->\n", "<!-- end of what is made -->\n"


def load(path):
    with open(path, encoding="utf-8") as f:
        doc = json.load(f)
    if doc.get("version") != table.VERSION:
        raise SystemExit(f"{path}: version {doc.get('version')}, not {table.VERSION}: run the benchmarks again")
    return doc


def cell(text):
    return str(text).replace("|", "\\|")


def unit_of(r):
    return f" {r['unit']}" if r["unit"] else ""


def table_row(r):
    if r["not_measured"]:
        return f"| {cell(r['case'])} | {cell(r['peer'])} | not measured: {cell(r['not_measured'])} | | | | | |\n"
    spread = f"{table.figure(r['spread'][0])} to {table.figure(r['spread'][1])}" if r["spread"] else ""
    word = {None: "", True: "kept", False: "**missed**"}[r["kept"]]
    least = table.figure(r["min"]) if r["n"] > 1 else ""
    return (f"| {cell(r['case'])} | {cell(r['peer'])} | {table.figure(r['median'])}{unit_of(r)} | {r['n']} | {least} | {spread} "
            f"| {table.promised(r['promise'])} | {word} |\n")


def tables(of):
    """Of one part's rows, group by group."""
    text, group = "", None
    for r in of:
        if r["group"] != group:
            group = r["group"]
            text += f"\n{group}\n\n| | | median | of | smallest | quartiles | promised | |\n|---|---|---:|---:|---:|---:|---:|---|\n"
        text += table_row(r)
    return text


def machine(doc):
    m = doc["machine"]
    virtual = f", virtual ({m['hypervisor']})" if m["hypervisor"] not in ("", "none") else ""
    slowed = f", {' and '.join(m['mitigations'])}" if m.get("mitigations") else ""
    return f"{m['cpu']}{slowed}, {m['cpus']} CPUs{virtual}, {m['memory_bytes'] / 2**30:.0f} GiB, Linux {doc['kernel']}, {doc['distribution']}"


def head(doc):
    promises = [r for r in doc["rows"] if r["kept"] is not None]
    missed = [r for r in promises if not r["kept"]]
    text = f"{len(promises) - len(missed)} of {len(promises)} promises were kept on {machine(doc)}{', few rounds' * doc['quick']}.\n"
    if missed:
        text += "\nMissed:\n\n" + "".join(f"- {table.place(r)}: {r['case']}, {r['peer']}: {table.figure(r['median'])}{unit_of(r)}, promised "
                                          f"{table.promised(r['promise'])}\n" for r in missed)
    reasons = sorted({f"- {r['part']}: {r['peer']}: {r['not_measured']}\n" for r in doc["rows"] if r["not_measured"]})
    return text + ("\nNot measured:\n\n" + "".join(reasons) if reasons else "")


def promises_of(doc):
    """What another machine's run is kept for."""
    kept = {key: doc[key] for key in ("version", "machine", "kernel", "distribution", "flightrec", "quick")}
    rows = [r for r in doc["rows"] if r["promise"]]
    parts = {name: entry for name, entry in doc["parts"].items() if any(r["part"] == name for r in rows)}
    return {**kept, "parts": parts, "rows": rows}


def others():
    """The runs of other machines, by name."""
    names = sorted(n for n in os.listdir(OTHER) if n.endswith(".json")) if os.path.isdir(OTHER) else ()
    return [load(os.path.join(OTHER, n)) for n in names]


def key_of(r):
    return r["part"], r["group"], r["case"], r["peer"]


def elsewhere_name(r, rows):
    """The part and the case; of two that have the same, the end of what stands above their table, too."""
    peer = "" if r["peer"] == "flightrec" else f", {r['peer']}"
    same = [o for o in rows if o["part"] == r["part"] and (o["case"], o["peer"], o["at"]) == (r["case"], r["peer"], r["at"])]
    return cell(f"{table.place(r)}: {r['case']}{peer}{', ' + r['group'].rsplit(', ', 1)[-1] if len(same) > 1 else ''}")


def elsewhere_cell(r, promise):
    """With its own promise, where that is of the machine's noise."""
    if not r:
        return ""
    if r["not_measured"]:
        return "not measured"
    own = f" ({table.promised(r['promise'])})" if r["promise"] != promise else ""
    text = f"{table.figure(r['median'])}{unit_of(r)}{own}"
    return text if r["kept"] else f"**{text}**"


def elsewhere(docs):
    """Each promise on each machine; the first one's run is the page's."""
    of = [{key_of(r): r for r in doc["rows"] if r["promise"]} for doc in docs]
    text = "\n### Promises by machine\n\nBold: missed.\n\n"
    for nr, doc in enumerate(docs, 1):
        since = min(entry["date"] for entry in doc["parts"].values())[:10]
        noisy = [name for name, entry in doc["parts"].items() if not entry["quiet"]]
        text += (f"{nr}. {machine(doc)}, {since}"
                 f"{'; not quiet: ' * bool(noisy)}{', '.join(noisy)}\n")
    text += f"\n| | promised | {' | '.join(str(nr + 1) for nr in range(len(docs)))} |\n|---|---|{'---:|' * len(docs)}\n"
    for key in dict.fromkeys(key for rows in of for key in rows):
        rows, first = next((rows.values(), rows[key]) for rows in of if key in rows)
        cells = " | ".join(elsewhere_cell(there.get(key), first["promise"]) for there in of)
        text += f"| {elsewhere_name(first, rows)} | {table.promised(first['promise'])} | {cells} |\n"
    return text


def conditions(entry, name):
    noise = (f"load before {entry['load_before']:.1f}, others used {entry['others_percent']:g} % of the CPUs meanwhile, the hypervisor took "
             f"{entry['steal_percent']:g} %")
    return (f"`tests/bench/run.sh {name}`, {entry['date'][:16].replace('T', ' ')} UTC, {entry['seconds']:.0f} s; "
            + ("quiet" if entry["quiet"] else f"**not quiet**: {noise}") + ".\n" + "".join(f"{note}.\n" for note in entry["notes"]))


def generated(doc, where, also=()):
    """The text, and the plots by file name."""
    drawn = plots.drawn(doc["rows"])
    text = head(doc) + (elsewhere([doc, *also]) if also else "")
    for name in dict.fromkeys(r["part"] for r in doc["rows"]):
        text += f"\n### {name}\n\n{conditions(doc['parts'][name], name)}"
        text += "".join(f"\n![{title}]({where}{file})\n" for file, _, title in drawn.get(name, ()))
        text += tables([r for r in doc["rows"] if r["part"] == name])
    return text, {file: svg for of in drawn.values() for file, svg, _ in of}


def page(doc):
    """docs/performance.md with its made part anew."""
    before, begin, rest = read(PAGE).partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE} has no lines {BEGIN.strip()} and {END.strip()}")
    return f"{before}{BEGIN}\n{head(doc)}{elsewhere([doc, *others()])}\n{END}{after}"


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""


def update():
    doc = load(BUILT)
    os.makedirs(PLACE, exist_ok=True)
    write(KEPT, json.dumps(doc, indent=1) + "\n")
    write(PAGE, page(doc))
    if scale.has_inputs(doc):
        write(SCALE, scale.page(doc, read(SCALE)))
    return 0


def keep_other(name):
    """build/bench.json is another machine's."""
    os.makedirs(OTHER, exist_ok=True)
    write(os.path.join(OTHER, f"{name}.json"), json.dumps(promises_of(load(BUILT)), indent=1) + "\n")
    write(PAGE, page(load(KEPT)))
    return 0


def check():
    """Says which page is not what the kept runs make."""
    doc = load(KEPT)
    wrong = [PAGE] * (read(PAGE) != page(doc)) + [SCALE] * (scale.has_inputs(doc) and read(SCALE) != scale.page(doc, read(SCALE)))
    for file in wrong:
        print(f"{os.path.basename(file)} is not what tests/bench/runs makes: tests/bench/run.sh --docs")
    return 1 if wrong else 0


def tables_into(where, doc, also=()):
    """All tables and plots there."""
    os.makedirs(where, exist_ok=True)
    text, drawn = generated(doc, "", also)
    write(os.path.join(where, "performance.md"), text)
    for file, svg in drawn.items():
        write(os.path.join(where, file), svg)
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        sys.exit(update())
    if len(sys.argv) == 3 and sys.argv[1] == "--other":
        sys.exit(keep_other(sys.argv[2]))
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    if len(sys.argv) == 3 and sys.argv[1] == "--tables":
        sys.exit(tables_into(sys.argv[2], load(KEPT), others()))
    raise SystemExit("usage: docs.py --update | --other NAME | --check | --tables DIR")
