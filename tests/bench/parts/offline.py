# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reading snapshots, beside other tools."""
import common
import offline as reading


@common.part("offline", order=95, quick=False)
def offline(opts):
    """Reading a snapshot on one core, beside other tools."""
    reading.offline(opts, common)
