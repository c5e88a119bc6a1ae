#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Are the keys of JSON output in docs/json.md?

keys.py SECTION < OUTPUT: each key of the objects, with its path, has to be in the tables of this section. A part of a documented path
that is in capitals stands for any key: names of groups, reasons, verdicts. `report` is looked up in docs/report.md, keys of events in the
documents that docs/json.md links to. keys.py --sources: each key in docs/json.md has to be in a source file.
"""
import glob
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="surrogateescape") as f:
        return f.read()


def sections():
    """{heading: the paths in the first column of its tables, each as a tuple of keys}"""
    found, now = {}, None
    for line in read("docs/json.md").splitlines():
        if line.startswith("## "):
            now = found.setdefault(line[3:].replace("`", ""), set())
        elif now is not None and line.startswith("| `"):
            now.update(tuple(p.split(".")) for p in re.findall(r"`([^`]+)`", line.split(" | ")[0]))
    return found


def kinds(section):
    """Of a section that has a table for each kind of record: {kind: {key: the kind that it leads to, or None}}, the first: of all. A kind
    whose row names no key is a part of the record itself."""
    found, parts, now, inside = {}, [], None, False
    for line in read("docs/json.md").splitlines():
        if line.startswith("## "):
            inside = line[3:] == section
        elif inside and line.startswith("### "):
            now = found.setdefault(line[4:], {})
        elif inside and now is not None and (m := re.match(r"\| `([^`]+)` \| ([^|]*) \|", line)):
            link = re.search(r"\(#(\w+)\)", m[2])
            now[m[1].split(".")[0]] = link and link[1]
        elif inside and now is not None and (m := re.match(r"\| \| \[\w+\]\(#(\w+)\) \|", line)):
            parts.append((now, m[1]))
    for whole, part in reversed(parts):
        for key, kind in found[part].items():
            whole[key] = whole.get(key) or kind
    return found


def lacks_of_kind(value, kind, tables, path=()):
    """Paths of keys that the table of their kind does not have."""
    if isinstance(value, list):
        return set().union(*(lacks_of_kind(v, kind, tables, path) for v in value))
    if not isinstance(value, dict):
        return set()
    bad = {(*path, key) for key in value if key not in tables[kind]}
    return bad.union(*(lacks_of_kind(v, tables[kind][key], tables, (*path, key)) for key, v in value.items()
                       if tables[kind].get(key)))


def is_any(part):
    return part.rstrip("[]").isupper()


def matches(path, documented):
    return len(path) == len(documented) and all(is_any(d) or d == p for p, d in zip(path, documented))


def is_documented(path, paths):
    """It is there itself, or in the path of something within it. A key that holds others is never any key."""
    n = len(path)
    return any(matches(path, d) or (len(d) > n and not is_any(d[n - 1]) and matches(path, d[:n])) for d in paths)


def each_path(value, path=()):
    """The paths of all keys in it: `a.b[].c` is (a, b[], c)."""
    if isinstance(value, dict):
        for key, v in value.items():
            yield from each_key(v, (*path, key))
    elif isinstance(value, list):
        for v in value:
            yield from each_path(v, path)


def each_key(value, path):
    yield path, isinstance(value, list)
    yield from each_path(value, (*path[:-1], path[-1] + "[]") if isinstance(value, list) else path)


def objects(text):
    """All that it holds, one after the other."""
    decoder, at = json.JSONDecoder(), 0
    text = text.strip()
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        yield value
        while at < len(text) and text[at].isspace():
            at += 1


def words(name, begin=""):
    """What is in backticks in a document, from this text on."""
    text = read(name)
    return set(re.findall(r"`([^`\n]+)`", text[text.index(begin):]))


def lacks(section, text):
    """Paths that no document names, and how many different ones there are."""
    paths, seen, bad = sections().get(section, set()), set(), set()
    names = words("docs/report.md", "## `--json`") if section == "report" else set()
    of_events = set.union(*(words(f"docs/{d}.md") for d in ("events", "replay", "filter"))) if section == "tail, replay" else set()
    tables = kinds(section)
    for value in objects(text):
        if tables:
            bad |= lacks_of_kind(value, next(iter(tables)), tables)
            seen |= set(each_path(value))
            continue
        event = of_events if isinstance(value, dict) and ("event" in value or "gap" in value) else set()
        for path, is_list in each_path(value, ("[]",) if isinstance(value, list) else ()):
            if (path, is_list, bool(event)) in seen:
                continue
            seen.add((path, is_list, bool(event)))
            if is_list and is_documented((*path[:-1], path[-1] + "[]"), paths) or is_documented(path, paths):
                continue
            if path[-1] in names or (len(path) == 1 and path[0] in event):
                continue
            bad.add(path)
    return bad, len({path for path, *_ in seen})


def check_output(section):
    if section != "report" and section not in sections():
        sys.exit(f"docs/json.md has no section {section}")
    bad, cnt = lacks(section, sys.stdin.read())
    for path in sorted(bad):
        print(f"{section}: no document names {'.'.join(path)}")
    if not cnt:
        sys.exit(f"{section}: nothing was printed")
    print(f"{section}: {cnt} keys")
    return not bad


def check_sources():
    source = "\n".join(read(f) for f in glob.glob("user/**/*.[ch]", root_dir=ROOT, recursive=True))
    quoted = set(re.findall(r'\\?"([a-z0-9_]+)\\?"', source))
    # parts of JSON in a longer text: {\"end\":\"%s\"
    quoted |= set(re.findall(r'\\"([a-z0-9_]+)\\":', source))
    # counts of waits, of which one table makes keys
    quoted |= set(re.findall(r"^\tC\((\w+), \"", read("bpf/wait.h"), re.M))
    # stacks in words: the field's name and an ending
    quoted |= {f"{k}_sym" for k in ("kstack", "ustack") if "_sym\\\"" in source}
    bad = {(s, k) for s, paths in sections().items() for p in paths for part in p
           if (k := part.rstrip("[]")) and not is_any(part) and k not in quoted}
    for section, key in sorted(bad):
        print(f"docs/json.md, {section}: {key} is in no source file")
    cnt = sum(map(len, sections().values()))
    print(f"{cnt} keys")
    return not bad and cnt > 300


if __name__ == "__main__":
    sys.exit(not (check_sources() if sys.argv[1] == "--sources" else check_output(sys.argv[1])))
