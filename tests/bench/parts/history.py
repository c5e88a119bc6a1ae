# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A long history on disk."""
import os
import tempfile

import common


@common.part("history", order=50)
def history(opts):
    """A long mixed history: its size on disk, and how fast it is replayed."""
    common.title("A mixed load of system calls, faults and scheduling, on disk and replayed on one core")
    with tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
        path = os.path.join(tmp, "mixed.flight")
        with common.session("-p", "full", "-m", "64M"):
            common.load(3 if opts.quick else 10)
            common.dump(path)
        facts = common.info(path)
        common.report("events in it", facts["events"], "", 1e6, at_least=True)
        common.report("bytes in the ring an event", facts["raw_bytes"] / facts["events"], "bytes")
        common.report("bytes on disk an event, the whole file", facts["bytes"] / facts["events"], "bytes", 4.0)
        counted = [common.user_seconds(common.FLIGHTREC, "replay", "--count", path) for _ in range(3)]
        if any(int(said) != facts["events"] for _, said in counted):
            raise SystemExit(f"bench: replay --count says {counted[0][1]!r}, info {facts['events']}")
        common.row("replay --count, million events a second", [facts["events"] / s / 1e6 for s, _ in counted], "M/s", at_least=20)
        printed = [common.user_seconds(common.FLIGHTREC, "replay", "--json", path)[0] for _ in range(2)]
        common.row("replay --json, million events a second", [facts["events"] / s / 1e6 for s in printed], "M/s", at_least=1)
