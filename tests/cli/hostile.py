#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Names that processes chose to disguise something (make_hostile.c lists them), through each output that has names: it is valid UTF-8, shows
nothing that moves a cursor, ends a line, turns the writing or is invisible, and no cell of CSV is a formula.

hostile.py FLIGHTREC MAKE_HOSTILE: a line for each output, then the counts.
"""
import csv
import html
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata

FLIGHTREC, MAKE = sys.argv[1:3]
ENV = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "120", "TERM": "dumb"}
IGNORABLE = {0xad, 0x34f, 0x3164, 0xfeff, 0xffa0, *range(0x115f, 0x1161), *range(0x180b, 0x1810), *range(0xfe00, 0xfe10),
             *range(0xe0000, 0xe1000)}
failed = passed = 0


def tell(name, wrong):
    global failed, passed
    if wrong:
        failed += 1
        print(f"FAIL {name}: {wrong}")
    else:
        passed += 1


def is_hidden(c, lines):
    """By Python's tables of Unicode, not by ours."""
    return c not in lines and (unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") or ord(c) in IGNORABLE)


def what_is_wrong(out, lines="\n"):
    """Why these bytes may not be shown; None."""
    try:
        text = out.decode("utf-8")
    except UnicodeDecodeError as e:
        return f"not UTF-8: {out[max(0, e.start - 20):e.end + 20]!r}"
    at = next((i for i, c in enumerate(text) if is_hidden(c, lines)), None)
    return None if at is None else f"{text[at]!r} in {text[max(0, at - 30):at + 30]!r}"


def run(*args):
    p = subprocess.run([FLIGHTREC, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
    return p.returncode, p.stdout, p.stderr


def escaped(name):
    """As fr_escape_text() writes it, written again."""
    out, i = "", 0
    while i < len(name):
        for size in range(4, 0, -1):
            try:
                c = name[i:i + size].decode()
            except UnicodeDecodeError:
                continue
            if len(c) == 1:
                break
        else:
            size, c = 1, None
        if c is None or is_hidden(c, "") or name[i:i + 2] == b"\\x":
            out += "".join(f"\\x{b:02x}" for b in name[i:i + size])
        else:
            out += c
        i += size
    return out


def texts(file):
    for args in (["replay"], ["replay", "--pairs"], ["report"], ["report", "--json"], ["info"], ["info", "--json"], ["verify"],
                 ["replay", "--json"], ["replay", "--json", "--pairs"], ["top", "--once"], ["diff", file], ["diff", "--json", file],
                 ["stat", "--top", "0", "--by", "comm,program,event", "count() last(comm)"], ["stat", "--json", "--by", "comm", "count() first(comm)"],
                 ["list", "-o", os.path.dirname(file)], ["list", "--json", "-o", os.path.dirname(file)],
                 ["export", "--to", "perf-script"], ["export", "--to", "folded", "--off-cpu"], ["export", "--to", "folded"],
                 ["export", "--to", "json"], ["profile"], ["profile", "--to", "json"], ["profile", "--to", "folded"],
                 ["symbols"], ["symbols", "--json"], ["incidents"], ["incidents", "--json"], ["replay", "--symbols"],
                 ["replay", "--json", "--symbols"], ["replay", "--life"], ["replay", "--on", "crash:all"],
                 ["replay", "--json", "--on", "crash:all"]):
        status, out, err = run(*args, *([] if args[0] == "list" else [file]))
        tell(" ".join(os.path.basename(a) for a in args), f"exit status {status}: {err[-200:]!r}" if status else
             "it printed nothing" if not out and "--off-cpu" not in args else what_is_wrong(re.sub(rb"(?m)^\t", b"", out)) or what_is_wrong(err))


def names_in_json(file, names):
    """A parser gets each name: a byte that is no text is \\xNN in it."""
    rows = [json.loads(line) for line in run("replay", "--json", file)[1].splitlines()]
    got = {row["comm"] for row in rows}
    want = {"".join(f"\\x{ord(c) & 0xff:02x}" if 0xdc80 <= ord(c) <= 0xdcff else c for c in n.decode("utf-8", "surrogateescape")).replace("\\x41", "\\x5cx41")
            for n in names}
    tell("names in JSON", f"missing {sorted(want - got)!r}" if want - got else None)
    got = {row["path"] for row in rows if row["event"] == "sys_path"}
    wrong = got ^ (want | {"@" + n for n in want})
    tell("what calls were given in JSON", f"more or less: {sorted(wrong)!r}" if wrong else None)


def names_in_text(file, names):
    out = run("replay", file)[1].decode(errors="replace")
    lost = [n for n in names if escaped(n).replace('"', '\\"') not in out and escaped(n) not in out]
    tell("names in text", f"missing {lost!r}" if lost else None)


def cells_of_csv(file, names):
    out = run("export", "--to", "csv", file)[1]
    tell("csv", what_is_wrong(out, "\r\n"))
    out = run("stat", "--csv", "--by", "comm,program", "count() last(comm)", file)[1]
    tell("csv of stat", what_is_wrong(out, "\r\n") if out.count(b"\n") > 5 else "it has no lines")
    rows = list(csv.DictReader(io.StringIO(out.decode(), newline="")))
    formulas = {c for r in rows for k, c in r.items() if k in ("comm", "newcomm", "target_comm", "filename", "path") and c[:1] and c[:1] in "=+-@\t\r"}
    tell("no formula in csv", formulas)
    want = {("'" if escaped(n)[0] in "=+-@'" else "") + escaped(n) for n in names}
    tell("names in csv", f"missing {sorted(want - {r['comm'] for r in rows})!r}" if want - {r["comm"] for r in rows} else None)


def strings_of_protobuf(buf, deep=0):
    """All that may be texts in it: fields of wire type 2 which are not messages themselves."""
    i = 0
    got = []
    while i < len(buf):
        tag, i = varint(buf, i)
        if tag & 7 == 0:
            _, i = varint(buf, i)
        elif tag & 7 == 2:
            sz, i = varint(buf, i)
            if sz > len(buf) - i:
                raise ValueError
            part = buf[i:i + sz]
            i += sz
            try:
                got += strings_of_protobuf(part, deep + 1)
            except (ValueError, IndexError):
                got.append(part)
        elif tag & 7 in (1, 5):
            i += 8 if tag & 7 == 1 else 4
        else:
            raise ValueError
    return got


def varint(buf, i):
    v = shift = 0
    while True:
        b = buf[i]
        v |= (b & 127) << shift
        i, shift = i + 1, shift + 7
        if b < 128:
            return v, i


def binary(file, dir):
    status, out, _ = run("export", "--to", "perfetto", file)
    parts = strings_of_protobuf(out)
    long = [p for p in parts if len(p) > 4]
    tell("perfetto", f"exit status {status}" if status else next((w for w in map(what_is_wrong, long) if w), None))
    dat = os.path.join(dir, "trace.dat")
    status, _, err = run("export", "--to", "trace-cmd", "-o", dat, file)
    tell("trace-cmd", f"exit status {status}: {err!r}" if status else None)
    ctf = os.path.join(dir, "ctf")
    status, _, err = run("export", "--to", "ctf", "-o", ctf, file)
    tell("ctf", f"exit status {status}: {err!r}" if status else None)
    for name, args in (("trace-cmd report", ["trace-cmd", "report", dat]), ("babeltrace2", ["babeltrace2", ctf])):
        try:
            p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENV)
        except FileNotFoundError:
            print(f"SKIP {name}: not installed")
            continue
        tell(name, f"exit status {p.returncode}" if p.returncode else "it printed nothing" if b"sched" not in p.stdout else
             what_is_wrong(p.stdout, "\n\t"))


def page(file, dir):
    out = os.path.join(dir, "page.html")
    status, _, err = run("export", "--to", "html", "-o", out, file)
    text = open(out, "rb").read() if not status else b""
    wrong = f"exit status {status}: {err!r}" if status else None
    if not wrong and text.count(b"</script>") != len(re.findall(rb"<script[ >]", text)):
        wrong = "a name ends a script"
    shown = re.sub(rb"(?s)<script.*?</script>|<style.*?</style>", b"", text)
    tell("page", wrong or what_is_wrong(html.unescape(shown.decode(errors="strict")).encode(), "\n\t"))


def main():
    with tempfile.TemporaryDirectory() as dir:
        os.mkdir(f"{dir}/store")
        file = f"{dir}/store/box-20260101T000000.000Z-crash-x-1.flight"
        names = [bytes.fromhex(n) for n in subprocess.run([MAKE, file], stdout=subprocess.PIPE, check=True, text=True).stdout.split()]
        texts(file)
        names_in_json(file, names)
        names_in_text(file, names)
        cells_of_csv(file, names)
        binary(file, dir)
        page(file, dir)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
