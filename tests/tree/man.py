#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The parts of the manual that are made from the commands' tables: names, synopses, options, statuses, examples; and those of the
documents that list keys of JSON.

	man.py [--program FILE] [--pages DIR]		fail if a page is not what the tables make
	man.py --update [--config FILE] [...]		write them, as `make man` does; of FILE, tests/dist/config, flightrec.conf(5)

A made part stands between two lines of comment; a page has one for its name and one for its options. A command has no name and no
letter of an option twice.
"""
import argparse
import os
import re
import subprocess
import sys

BEGIN, END = '.\\" made by make man; begin\n', '.\\" made; end\n'
KEYS = re.compile(r"(<!-- made by make man; begin: ([a-z]+) -->\n).*?(<!-- made; end -->\n)", re.DOTALL)
DOCS = ("docs/json.md", "docs/report.md")
PART = re.compile(re.escape(BEGIN) + "(.*?)" + re.escape(END), re.DOTALL)


def run(program, *args):
    return subprocess.run([program, *args], check=True, capture_output=True, text=True).stdout


def text(words):
    """A line or more of words: no sign of them is a request or an escape."""
    words = re.sub(r"`([^`]*)`", lambda m: r"\fB" + m[1].replace("-", r"\-") + r"\fR", words.replace("\\", "\\e"))
    return re.sub(r"^(?=[.'])", r"\\&", words, flags=re.MULTILINE) + "\n"


def operand(word):
    if word.startswith("--"):
        return "Fl -" + word[2:].replace("|--", " | -")
    if re.fullmatch(r"-[a-z]", word):
        return "Fl " + word[1]
    return "Ar " + re.sub(r"\.\.\.$", " ...", word).replace("|", " | ")


def synopsis(usage, command):
    """'flightrec cut [options] -o OUT FILE': each bracket and each operand a line, an option with its value."""
    made = f".Nm flightrec {command}\n"
    for optional, plain in re.findall(r"\[([^]]*)\](?:\.\.\.)?|(--?\S+ [A-Z]\S*|\S+)", usage):
        words = (optional or plain).split()
        words = [words[0].replace("--", "---") if words[0] == "--" else words[0], *words[1:]]
        line = " ".join("Fl -" if w == "---" else operand(w) for w in words)
        made += ("." if plain else ".Op ") + line + "\n"
    return made


def parts(program, command, what):
    """What the page of a command begins with, and its options and what follows them."""
    help_ = run(program, command, "--help")
    usages = re.findall(rf"^(?:Usage:|      ) flightrec {command} ?(.*?)(?:   .*)?$", help_, re.MULTILINE)
    assert usages, f"{command} has no usage"
    name = f".Sh NAME\n.Nm flightrec-{command}\n.Nd {what}\n.Sh SYNOPSIS\n" + "".join(synopsis(u, command) for u in usages)
    called = [w for row in run(program, command, "--help=options").splitlines()[1:] for w in row.split()[:2] if w != "-"] + ["--help", "-h"]
    assert len(called) == len(set(called)), f"{command} has an option twice: {sorted(called)}"
    options = run(program, command, "--help=man")
    rest = ".Sh OPTIONS\n.Bl -tag -width Ds\n" + options + ".El\n" if options else ""
    status = re.search(r"Exit status:? (.*?)(?=\nExample: |\n\n)", help_, re.DOTALL)
    rest += ".Sh EXIT STATUS\n" + (text(status[1].replace("\n", " ").rstrip(".") + ".") if status else "See\n.Xr flightrec 1 .\n")
    example = re.search(r"^Example: (.*)$", help_, re.MULTILINE)
    assert example, f"{command} has no example"
    return name, rest + ".Sh EXAMPLES\n.Bd -literal -offset indent\n" + text(example[1]) + ".Ed\n"


def put(page, made, path):
    found = PART.findall(page)
    assert len(found) == len(made), f"{path}: {len(found)} parts instead of {len(made)}"
    rest = iter(made)
    return PART.sub(lambda _: BEGIN + next(rest) + END, page)


def put_keys(page, program, path):
    """What commands print with --json: the tables of those that the document names."""
    want, cnt = KEYS.subn(lambda m: m[1] + run(program, m[2], "--help=keys") + m[3], page)
    assert cnt, f"{path} has no part that is made"
    return want


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("--update", action="store_true")
    ask.add_argument("--program", default="build/flightrec")
    ask.add_argument("--pages", default="docs/man")
    ask.add_argument("--config")
    ask = ask.parse_args()
    commands = re.findall(r"^  ([a-z]+) +(.*)$", run(ask.program, "--help"), re.MULTILINE)
    assert len(commands) >= 25, "the commands were not found"
    made = {f"flightrec-{c}.1": parts(ask.program, c, what) for c, what in commands}
    made["flightrec.1"] = [".Bl -tag -width Ds\n" + "".join(f".It Xr flightrec-{c} 1\n{text(what)}" for c, what in commands) + ".El\n"]
    if ask.config:
        made["flightrec.conf.5"] = [run(ask.config, "man")]
    bad = 0
    for path, made_of in [(os.path.join(ask.pages, n), m) for n, m in sorted(made.items())] + [(d, None) for d in DOCS]:
        with open(path) as f:
            page = f.read()
        want = put(page, made_of, path) if made_of else put_keys(page, ask.program, path)
        if want != page and ask.update:
            with open(path, "w") as f:
                f.write(want)
        elif want != page:
            print(f"{path} is not what the tables make: `make man` makes it anew")
            bad = 1
    for name in os.listdir(ask.pages):
        if re.fullmatch(r"flightrec-[a-z]+\.1", name) and name not in made:
            print(f"{ask.pages}/{name} is of no command")
            bad = 1
    return bad


sys.exit(main())
