# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The holdoff watch, beside others."""
import common
import holdoff


@common.part("holdoff", order=80, quick=False)
def watch(opts):
    """The holdoff watch beside cyclictest: the same hog."""
    del opts
    holdoff.run(common.FLIGHTREC, f"{common.NAME}-watch", common.BIN)
