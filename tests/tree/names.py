# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What comments and pages name is there: our files, and names that begin with fr_ or FR_. What is called otherwise may be the
kernel's, and is not looked for.
"""
import os
import re
import subprocess
import sys

OURS = ("bpf/", "user/", "tests/", "docs/", "vmlinux/", "dist/", "cmd/", "live/", "show/", "read/", "sys/", "base/")
CODE = (".c", ".h", ".def")
OTHERS = {"oom_kill.c", "interrupt.h", "sys/sdt.h", "mine.c", "fr_something"}  # the kernel's, SystemTap's, a reader's, a pattern


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def comments(path, text):
    """(offset, text) of each."""
    if path.endswith(CODE):
        return [(m.start(), m[0]) for m in re.finditer(r"/\*.*?\*/", text, re.S)]
    return [(0, text)]


def is_file(path, beside, files):
    near = os.path.normpath(os.path.join(os.path.dirname(beside), path))
    return "NAME" in path or "ARCH" in path or near in files or any(f == path or f.endswith("/" + path) for f in files)


def missing(path, text, files, words, pasted):
    for at, comment in comments(path, text):
        for m in re.finditer(r"(?<![\w/.<-])(?:[\w-]+/)*[\w-]+(?:\.bpf)?\.(?:[ch]|def|py|sh|js|pml)\b", comment):
            if m[0] not in OTHERS and (m[0].startswith(OURS) or "/" not in m[0]) and not is_file(m[0], path, files):
                yield text.count("\n", 0, at + m.start()) + 1, m[0]
        for m in re.finditer(r"\b(?:fr|FR)_\w*[A-Za-z0-9]\b(?![*_.])", comment):
            if m[0] not in words | OTHERS and not m[0].startswith(pasted):
                yield text.count("\n", 0, at + m.start()) + 1, m[0]


def main():
    files = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split()
    if not files:
        print("git lists no files")
        sys.exit(77)
    code = {f: read(f) for f in files if f.endswith(CODE)}
    pages = {f: read(f) for f in files if f.endswith(".md") or f.startswith("docs/man/")}
    bare = "\n".join(re.sub(r"/\*.*?\*/", " ", text, flags=re.S) for text in code.values())
    scripts = "\n".join(read(f) for f in files if f.endswith((".py", ".sh", "Makefile")) and f != "tests/tree/names.py")
    words = set(re.findall(r"\w+", bare + scripts))
    pasted = tuple(set(re.findall(r"\b((?:fr|FR)_\w+)##", bare)))
    bad = [f"{path}:{line}: there is no {what}" for path, text in (code | pages).items()
           for line, what in missing(path, text, set(files), words, pasted)]
    for line in bad:
        print(line)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
