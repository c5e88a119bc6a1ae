#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""perfetto.py TRACE: as JSON, the wakings of a Perfetto trace, [task, common_flags], those of them that the reader puts down to a task,
[task, woken], and its slices of waits."""
import json
import sys


def varint(b, at):
    v = shift = 0
    while True:
        v |= (b[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not b[at - 1] & 0x80:
            return v, at


def fields(b):
    at = 0
    while at < len(b):
        key, at = varint(b, at)
        if key & 7 == 0:
            v, at = varint(b, at)
        elif key & 7 == 2:
            sz, at = varint(b, at)
            v, at = b[at:at + sz], at + sz
        else:
            sz = 8 if key & 7 == 1 else 4
            v, at = b[at:at + sz], at + sz
        yield key >> 3, v


def first(b, nr, default=None):
    return next((v for k, v in fields(b) if k == nr), default)


def main(path):
    with open(path, "rb") as f:
        trace = f.read()
    wakings, by_task, slices, open_slices = [], [], [], {}
    for _, packet in fields(trace):
        bundle, track, ts = first(packet, 1), first(packet, 11), first(packet, 8)
        for event in [v for k, v in fields(bundle or b"") if k == 2]:
            waking = first(event, 20)
            if waking is not None:
                wakings.append([first(waking, 2), first(event, 5, 0)])
                by_task += [] if wakings[-1][1] else [[first(event, 2), wakings[-1][0]]]
        if not track:
            continue
        uuid, kind = first(track, 11), first(track, 9)
        if kind == 1 and first(track, 22) == b"wait":
            s = dict(name=first(track, 23).decode(), ts=ts)
            for note in [v for k, v in fields(track) if k == 4]:
                text = first(note, 6)
                s[first(note, 10).decode()] = text.decode() if text is not None else first(note, 3)
            open_slices[uuid] = s
        elif kind == 2 and uuid in open_slices:
            s = open_slices.pop(uuid)
            slices.append(dict(s, ns=ts - s["ts"]))
    print(json.dumps(dict(wakings=wakings, by_task=by_task, slices=slices, open=len(open_slices))))


main(sys.argv[1])
