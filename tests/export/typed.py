# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Fields of tracepoints and arguments of calls, as the readers of our traces show them, compared with replay's numbers and words."""
import re

# a tracepoint with each kind of field, whose names are the kernel's, arrays by their bytes; and calls
MADE = """fact arch x86_64
fact boot_id b
fact host box
horizon 0 0
horizon 1 0
process 7 5 0 0 seven
tp test:made u8:mode s16:delta u32:gfp s32:pid u64:addr u8:saddr[4] s16:steps[3] text:name | "%s %d %s %d %lx %s", \
__print_symbolic(REC->mode, { 0, "ABS" }, { 1, "REL" }, { 2, "A\\tB" }), REC->delta, \
(REC->gfp) ? __print_flags(REC->gfp, "|", { 1, "DMA" }, { 4, "IO" }, { 8, "FS" }) : "none", REC->pid, REC->addr, __get_str(name)
event 1000000000 0 tp:test:made 7 mode=0 delta=-5 gfp=5 target_pid=-1 addr=18446612686413114944 saddr=127,0,0,1 steps=255,255,2,0,0,128 name=lo
event 1000000100 0 tp:test:made 7 mode=1 delta=7 gfp=0 target_pid=70000 addr=0 saddr=10,0,0,255 steps=0,0,0,0,0,0 name=
event 1000000200 0 tp:test:made 7 mode=2 delta=0 gfp=20 target_pid=3 addr=1 saddr=0,0,0,0 steps=255,127,254,255,0,0 name=two~words
event 1000001000 0 sys_enter 7 id=257 args=4294967196,4096,524289,438
event 1000002000 0 sys_enter 7 id=72 args=3,2,1
event 1000002500 0 sys_enter 7 id=16 args=1,21505,4096
event 1000003000 0 sys_enter 7 id=62 args=4294967295,9
event 1000004000 0 sys_enter 7 id=257 args=3,4096
event 1000005000 0 sys_enter 7 id=5000 args=1,2
"""

TAKES = {"openat": 4}  # of a call that MADE has with fewer arguments


class Enum(int):
    """A number that the reader has a word for."""
    word = None


TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|<unknown>|[][{}(),=:]|[^][{}(),=:\s]+)')


def parse(text):
    """babeltrace2's fields, "name = value, ...": numbers, texts, lists; a number with a word is an Enum."""
    tokens, at = TOKEN.findall(text), 0

    def take(want=None):
        nonlocal at
        at += 1
        if want and tokens[at - 1] != want:
            raise RuntimeError(f"{tokens[at - 1]!r} where {want!r} belongs in {text!r}")
        return tokens[at - 1]

    def number(word):
        return int(word, 8) if re.fullmatch("0[0-7]*", word) else int(word, 0)

    def enum():
        word = take()
        take(":"), take("container"), take("=")
        value = Enum(number(take()))
        value.word = None if word == "<unknown>" else word[1:-1]
        take(")")
        return value

    def values():
        out = []
        while tokens[at] != "]":
            take("["), take(), take("]"), take("=")
            out.append(value())
            if tokens[at] == ",":
                take()
        take("]")
        return out

    def value():
        word = take()
        if word == "(":
            return enum()
        if word == "[":
            return values()
        return re.sub(r"\\(.)", r"\1", word[1:-1]) if word[0] == '"' else number(word)

    out = {}
    while at < len(tokens):
        name = take()
        take("=")
        if name in out:
            raise RuntimeError(f"{name} twice in {text!r}")
        out[name] = value()
        if at < len(tokens):
            take(",")
    return out


def is_same(got, plain, words):
    """A number by its value and, where replay has a word for it, by that; 0 without a flag is no flag."""
    if isinstance(plain, list):
        return got == plain
    if isinstance(plain, str):
        return got == plain or not plain.isprintable()
    if got & 2**64 - 1 != plain & 2**64 - 1:
        return False
    word = getattr(got, "word", None)
    if isinstance(words, str) and "\\" in words:
        return word is None  # no label can have it
    return word == words if isinstance(words, str) else word is None or word == "0" == str(int(got))


def kernels(key, fields):
    """Replay has names for what each event has by its own: the kernel's pid is target_pid."""
    return key[7:] if key.startswith("target_") and key not in fields else key


def tracepoint(text, plain, words):
    """What is wrong with a tracepoint's fields; None: nothing."""
    got = parse(text)
    want = {key: key for key in plain if key not in ("ts", "cpu", "event", "pid", "tid", "comm")}
    names = {kernels(key, got) for key in want}
    if set(got) - {f"_{name}_length" for name in names} != names:
        return f"fields {sorted(got)}, not {sorted(names)}"
    for key in want:
        name = kernels(key, got)
        if plain[key] is not None and not is_same(got[name], plain[key], words[key]):
            return f"{name} is {got[name]!r} ({getattr(got[name], 'word', None)}), not {plain[key]!r} ({words[key]})"
    return None


def call(text, plain, words, named):
    """
    The same of the arguments of a call that begins. named: "dfd=AT_FDCWD filename=0x1000 ...", as CSV with words has them; a word that depends
    on another argument is in no trace, since there it would be another one's, too.
    """
    got = list(parse(text).items())
    names = re.findall(r"(?:^| )([a-z_0-9]+)=", named)
    args = got[[name for name, _ in got].index("args") + 1:]
    if not args and len(names) < TAKES.get(words["id"], 0):
        return None  # the record lacks some: none has a name
    if [re.sub("^arg_", "", name) for name, _ in args] != names:
        return f"arguments {args}, not {names}"
    for (name, value), number, word in zip(args, plain["args"], words["args"]):
        if value & 2**32 - 1 != number & 2**32 - 1 or value not in (number, number - 2**32, number & 2**32 - 1, number - 2**64):
            return f"{name} is {value}, not {number}"
        told = getattr(value, "word", None)
        if told != word and (told not in (None, "0") or isinstance(value, Enum) and isinstance(word, str)):
            return f"{name} is {told!r}, not {word!r}"
    return None


def missing(texts):
    """What MADE must show, so that no test is passed by fields without words."""
    text = "\n".join(texts)
    all = ('mode = ( "REL" : container = 1 )', 'gfp = ( "DMA|IO" : container = 5 )', 'gfp = ( "0" : container = 0 )', "delta = -5", "pid = -1",
           '[3] = 255 ]', 'name = "two words"', 'flags = ( "O_WRONLY|O_CLOEXEC" : container', "mode = 0666", 'cmd = ( "F_SETFD" : container = 2 ), arg = 0x1', 'cmd = ( "TCGETS" : container')
    return next((f"no {one!r}" for one in all if one not in text), None)


def test_generic(ask, lines):
    """Perfetto's arguments of the tracepoint's events are the kernel's fields, arrays one by one, and words of numbers beside these."""
    shift = ask("select min(ts) ts from ftrace_event where name = 'tp:test:made'")[0]["ts"] - 1000000000
    got = {}
    for r in ask("select e.ts, a.key, a.int_value i, a.string_value s from ftrace_event e join args a using (arg_set_id) where e.name = 'tp:test:made'"):
        if got.setdefault(r["ts"] - shift, {}).setdefault(r["key"], r["s"] if r["i"] is None else r["i"]) is None:
            return f"{r}"
    for plain, words in lines:
        want = {}
        for key, value in plain.items():
            name = key[7:] if key.startswith("target_") else key
            if key in ("ts", "cpu", "event", "pid", "tid", "comm"):
                continue
            for i, one in enumerate(value if isinstance(value, list) else ()):
                want[f"{name}[{i}]"] = one
            if not isinstance(value, list):
                want[name] = value if isinstance(value, str) or value < 2**63 else value - 2**64
            if isinstance(value, int) and isinstance(words[key], str):
                want[f"{name}_word"] = words[key]
        if got.get(plain["ts"]) != want or "mode" not in want:
            return f"{got.get(plain['ts'])}, not {want}"
    return None if len(got) == len(lines) == 3 else f"{len(got)} events, {len(lines)} in the snapshot"
