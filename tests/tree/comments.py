#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a formatter does to comments and texts that do not fit its line, and nobody sees in a diff.

A line of a comment that has lost the blank behind its star; a table's row that has flowed into prose, recognised by the tabs
within it; a piece of a text on a line of its own, although the next piece would fit beside it. The cure is a table whose rows fit
128 columns with tabs of 8, and a text that is split where a line ends: the formatter leaves both.
"""
import os
import re
import sys

WIDTH = 118  # where a joined text needs at most this, it was not the line's end that split it

LOST_BLANK = re.compile(r"\s*\*[^\s/*]")
FLOWED_ROW = re.compile(r"\s*/?\*+ \S.*\S\t+\S")
ALONE = re.compile(r'\s*"(?:[^"\\]|\\.)*"$')
NEXT = re.compile(r'\s*"((?:[^"\\]|\\.)*)"')


def of_comments(lines):
    inside = False
    for number, line in enumerate(lines, 1):
        inside = inside or line.lstrip().startswith("/*")
        if inside and LOST_BLANK.match(line):
            yield number, "a comment's line without a blank behind its star"
        elif inside and FLOWED_ROW.match(line):
            yield number, "a table's row within prose"
        inside = inside and "*/" not in line


def of_texts(lines):
    for number, (line, behind) in enumerate(zip(lines, lines[1:]), 1):
        follows = NEXT.match(behind)
        if ALONE.match(line) and follows and not line.endswith('\\n"'):
            if len(line.expandtabs(8)) - 1 + len(follows.group(1)) < WIDTH:
                yield number, "a text is split before its line is full"


def findings(file, lines):
    told = file.startswith(("bpf/", "user/"))  # tests have texts that are data, split as the data are
    return sorted([*of_comments(lines), *(of_texts(lines) if told else [])])


def sources():
    for root in "bpf", "user", "tests", "docs/examples":
        for folder, _, names in os.walk(root):
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith((".c", ".h")))


def main():
    files = list(sources())
    assert len(files) > 300, "the sources were not found"
    bad = 0
    for file in files:
        with open(file, errors="replace") as f:
            for number, what in findings(file, f.read().split("\n")):
                print(f"{file}:{number}: {what}")
                bad = 1
    return bad


sys.exit(main())
