# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the always-on profile costs."""
import common
import sampling

SECONDS = 4  # of a load


def profile_costs():
    for hz, limit in (99, 0.1), (999, 1.0):
        for what, script in ("busy CPUs", sampling.BUSY), ("new processes all the time", sampling.FORKS):
            off = sampling.cost(common.run, common.FLIGHTREC, common.NAME, SECONDS, script, "--hz", str(hz), "--cpu-profile", "no")
            on = sampling.cost(common.run, common.FLIGHTREC, common.NAME, SECONDS, script, "--hz", str(hz))
            common.report(f"{hz} Hz, {what}", on[0], "%", limit if script == sampling.BUSY else None)
            common.report("of this the samples themselves, profile or not", off[0], "%")
            common.report("of this the recorder", on[2], "%")
            common.report("a sample, profile and all", on[1], "ns")
            common.report("a sample without the profile", off[1], "ns")
            common.report(f"lost, of {on[3][1]}", on[3][0], "samples")


@common.part("profile", order=90, quick=False)
def profile(opts):
    """The always-on profile: with it, and without it by turns; memory of its maps."""
    common.title("The always-on profile, percent of all CPUs' time: sampling, counting, and the recorder that reads")
    was = sampling.set_stats("1")
    try:
        profile_costs()
    finally:
        sampling.set_stats(was)
    with common.session("-p", "minimal", "-e", "sample"):
        common.report("memory of the profile's maps", sampling.memory(common.run, common.NAME) / common.MIB, "MiB", 4)
