# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What trace_processor makes of a snapshot's profile, compared with `profile --json` of the same time: who, where, how deep.

ask(sql) answers with the rows of the trace at hand.
"""
import collections


NAME_SZ = 1000  # of user/show/profile/profile_perfetto.c


def shown(name):
    """As the trace has it: the first bytes of a long one, as C++ has them."""
    return "".join(c if " " <= c < "\x7f" else "?" * len(c.encode()) for c in name)[:NAME_SZ]


def difference(what, got, want):
    for key in sorted(set(got) | set(want), key=str):
        if got.get(key, 0) != want.get(key, 0):
            return f"{what} {key}: {got.get(key, 0)} samples in the reader, {want.get(key, 0)} in the profile"
    return None


def counts(ask, column):
    return {r["k"]: r["n"] for r in ask(
        f"select {column} k, count(*) n from perf_sample s join thread using (utid) "
        "left join stack_profile_callsite c on s.callsite_id = c.id left join stack_profile_frame f on c.frame_id = f.id group by 1")}


def test_profile(ask, profile):
    """Each hit is a sample, of its task, in its innermost function, as deep as its stack."""
    tasks, inner, depth = collections.Counter(), collections.Counter(), collections.Counter()
    names = [shown(f["name"]) for f in profile["functions"]]
    for s in profile["stacks"]:
        tasks[shown(s["comm"])] += s["hits"]
        inner[names[s["frames"][-1]] if s["frames"] else None] += s["hits"]
        depth[len(s["frames"]) - 1 if s["frames"] else None] += s["hits"]
    if not tasks:
        return "the profile has no samples"
    return (difference("task", counts(ask, "thread.name"), tasks) or difference("function", counts(ask, "f.name"), inner)
            or difference("depth", counts(ask, "c.depth"), depth))
