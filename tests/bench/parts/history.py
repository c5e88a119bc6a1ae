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
        count, said = min(common.user_seconds(common.FLIGHTREC, "replay", "--count", path) for _ in range(3))
        if int(said) != facts["events"]:
            raise SystemExit(f"bench: replay --count says {said!r}, info {facts['events']}")
        common.report("replay --count, million events a second", facts["events"] / count / 1e6, "M/s", 20, at_least=True)
        printed, _ = min(common.user_seconds(common.FLIGHTREC, "replay", "--json", path) for _ in range(2))
        common.report("replay --json, million events a second", facts["events"] / printed / 1e6, "M/s", 1, at_least=True)
