# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
A snapshot with a wrong byte, here and there: damaged.py FLIGHTREC SNAPSHOT EXPECTED FILE. Each command has status 3 and says so, and
replay prints no event that is not among those of the sound one, EXPECTED; only names may differ.
"""
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FLIGHTREC, SNAPSHOT, EXPECTED, FILE = sys.argv[1:]
STEP = 41  # bytes from one to the next
WRONG = 0xa5


def known(lines):
    """Of events what no damage may change."""
    return [tuple(e[k] for k in ("ts", "cpu", "event", "tid")) for e in map(json.loads, lines)]


def say(file, at, *args, must_say=True):
    """What a command prints of the file."""
    p = subprocess.run([FLIGHTREC, *args, file], stdin=subprocess.DEVNULL, capture_output=True)
    assert p.returncode == 3, f"byte {at}: {args}: exit status {p.returncode}, not 3: {p.stderr}"
    assert p.stderr or not must_say, f"byte {at}: {args}: nothing said"
    return p.stdout


def damage(at):
    data = bytearray(sound)
    data[at] = WRONG
    if data == sound:
        return 0
    file = f"{FILE}{at}"
    with open(file, "wb") as f:
        f.write(data)
    say(file, at, "replay")
    rest = iter(events)
    for event in known(say(file, at, "replay", "--json").decode("utf-8").splitlines()):
        assert event in rest, f"byte {at}: {event} is not among the events, or not in their order"
    say(file, at, "verify", must_say=False)
    say(file, at, "replay", "--count")
    assert json.loads(say(file, at, "info", "--json"))["damage"], f"byte {at}: info --json tells of no damage"
    assert b"Nothing was lost" not in say(file, at, "info"), f"byte {at}: info says that nothing was lost"
    os.unlink(file)
    return 1


with open(SNAPSHOT, "rb") as f:
    sound = f.read()
with open(EXPECTED, encoding="utf-8") as f:
    events = known(f)
with ThreadPoolExecutor(os.cpu_count()) as pool:
    cnt = sum(pool.map(damage, range(0, len(sound), STEP)))
assert cnt > len(sound) // STEP // 2, f"{cnt} files were damaged"
print(f"{cnt} files")
