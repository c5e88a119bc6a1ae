# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""docs/origins.md names files, functions and tests: they are there. A quoted name belongs to the test file before it."""
import os
import re
import subprocess
import sys


def is_function(name):
    return not subprocess.run(["grep", "-rqE", rf"\b{name}\(", "bpf", "user"], check=False).returncode


def has_text(file, text):
    """As it stands there, also as a function's argument with _ for blanks."""
    with open(file, encoding="utf-8") as f:
        return text in f.read()


def main():
    with open("docs/origins.md", encoding="utf-8") as f:
        text = " ".join(f.read().split())
    bad, named, file = [], 0, None
    for path, function, quoted in re.findall(r"`((?:bpf|user|tests|docs)/[\w./-]+)[^`]*`|\b(fr_\w+)\(\)|\"([^\"]+)\"", text):
        if path:
            file = path
            ok = os.path.exists(path)
        elif function:
            ok = is_function(function)
        else:
            ok = bool(file and file.startswith("tests/") and os.path.isfile(file) and has_text(file, quoted))
            named += 1
        if not ok:
            bad.append(path or function or f'{file}: "{quoted}"')
    for what in bad:
        print(f"docs/origins.md: there is no {what}")
    if named < 10:
        print(f"docs/origins.md: {named} tests are named")
    sys.exit(bool(bad) or named < 10)


if __name__ == "__main__":
    main()
