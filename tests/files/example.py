#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The worked example of docs/format.md is the golden file: each byte it shows is there, and what it leaves out it says."""
import re
import sys

data = open("tests/files/golden/tiny.flight", "rb").read()
shown = 0
for line in open("docs/format.md"):
    m = re.match(r"([0-9a-f]{4})  ((?:[0-9a-f]{2} {1,2})*[0-9a-f]{2})(?= {2}| \.\.\.)", line)
    if not m:
        continue
    at, want = int(m[1], 16), bytes.fromhex(m[2].replace(" ", ""))
    if data[at:at + len(want)] != want:
        sys.exit(f"{line.strip()}\nthe file has {data[at:at + len(want)].hex(' ')}")
    shown += len(want)
# the schema's frame and the second chunk are shown by their beginnings only
if shown < 0x30 + 0x40 + (len(data) - 0x11b):
    sys.exit(f"only {shown} of {len(data)} bytes are shown")
