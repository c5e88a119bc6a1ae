# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a snapshot has of the host beside events: command lines without what is secret in them."""
import contextlib
import subprocess
import sys

from frtest import MINIMAL, check, dump, equal, fr_json, main, shared, test
from t_attack import command_lines

SLEEPS = "import sys, time; sys.stdout.write('x'); sys.stdout.flush(); time.sleep(600)"


@contextlib.contextmanager
def running(*args):
    """A process with these arguments that does nothing; gives its pid."""
    p = subprocess.Popen([sys.executable, "-c", SLEEPS, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        p.stdout.read(1)
        yield p.pid
    finally:
        p.kill()
        p.communicate()


def content(file):
    """All of a file, decoded."""
    return subprocess.run(["zstd", "-dcq", file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


@test("secrets in a command line are not in the file, which counts them; the rest is")
def secrets():
    # by pieces, so that no other process has them on its command line
    hidden = [f"hunter{n}" + "frt" for n in range(4)]
    args = ["--db-password", f"{hidden[0]} with spaces", f"--api-key={hidden[1]}", "-H", f"Authorization: Bearer {hidden[2]}",
            f"postgres://bob:{hidden[3]}@db/x", "--port", "8080"]
    with running(*args) as pid:
        file = dump(shared(*MINIMAL))
    line, text = command_lines(file)[pid], content(file)
    check(line.endswith("--db-password [redacted] --api-key=[redacted] -H Authorization: [redacted] postgres://bob:[redacted]@db/x --port 8080"),
          line)
    equal([h for h in hidden if h.encode() in text], [], "secrets in the file")
    check(fr_json("info", file)["redacted"] >= 4, "four values at least were redacted")


if __name__ == "__main__":
    main()
