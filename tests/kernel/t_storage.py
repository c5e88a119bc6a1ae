# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The directory of snapshots: quotas, marked files, a full disk, what cannot be removed."""
import os
import re
import time

from frtest import FULL, ROOT, begun_with, check, equal, fr, main, options_of, run, status, test, wait_for
from recorder import NOBODY, Recorder, configured, expendable, kill, lease, send_reload, write_config

MIXED = os.path.join(ROOT, "tests", "bench", "mixed.sh")


@test("--config: old snapshots leave while none is taken, marked ones stay; a reload with a smaller quota counts at once")
def quiet_host():
    with configured(NOBODY) as (name, dir, file):
        def limit(quota):
            write_config(file, name, dir, NOBODY, more=f"[Storage]\n{quota}\nKeepFree=0%\n")
        limit("MaxAge=0")
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            files = [fr("dump", "-n", name).stdout.strip() for _ in range(4)]
            fr("list", "--keep", files[0])
            for quota, left in (("MaxFiles=3", 3), (f"MaxBytes={os.path.getsize(files[0]) + os.path.getsize(files[3]) - 1}", 1)):
                limit(quota)
                send_reload(r)
                equal(r.files()[0], files[0], f"the marked one, with {quota}")
                wait_for(lambda: len(r.files()) <= left, lambda: f"{quota}, by the writer: {r.files()}")
            limit("MaxAge=1s")
            send_reload(r)
            newest = fr("dump", "-n", name).stdout.strip()
            wait_for(lambda: not os.path.exists(newest), lambda: f"it leaves when it is old: {r.files()}")
            equal(r.files(), files[:1], "the marked one stays")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


def leave_free(dir, name, free, begin=b""):
    """A file that begins so, and fills a file system but for so many bytes."""
    fs = os.statvfs(dir)
    with open(os.path.join(dir, name), "wb") as f:
        f.write(begin + bytes(fs.f_bavail * fs.f_frsize - free - len(begin)))


def fill_rings(name):
    """Until the rings are full: then whatever else is recorded, snapshots are about equally large."""
    def is_full():
        run(MIXED, "2")
        return all(t["overwritten"] for c in status(name)["cpus"] for t in c["tiers"] if t["name"] == "main")
    wait_for(is_full, "the rings are full")


@test("a disk full of snapshots: old ones leave, though the next is larger than all before, or another recorder took them")
def growing():
    name, dir, file = lease(FULL)
    run("mount", "-t", "tmpfs", "-o", "size=12m", "frtest", dir)
    write_config(file, name, dir, NOBODY, more="[Storage]\nKeepFree=0%\n[Control]\nSocket=yes\n")
    fill_rings(name)
    r = Recorder(name, dir, "--config", file)
    try:
        r.armed()
        small = fr("dump", "-n", name, "--last", "1ms").stdout.strip()
        old = re.sub(r"-2\d{7}T", time.strftime("-%Y%m%dT", time.gmtime(time.time() - 86400)), small)
        with open(small, "rb") as f:
            begin = f.read()
        leave_free(dir, old, 1000000 + len(begin), begin)  # so large is the next expected to be
        larger = fr("dump", "-n", name).stdout.strip()
        check("No space left" in r.said(), f"it is larger than what was free: {len(begin)}, then {os.path.getsize(larger)} bytes, {r.said()}")
        equal(r.files(), [small, larger], f"the old one left: {r.said()}")
        kill(r)
        leave_free(dir, "other", 1000000)
        r = Recorder(name, dir, "--config", file).armed()
        last = fr("dump", "-n", name).stdout.strip()
        equal(r.files(), [last], f"the old ones left: {r.said()}")
        check("No space left" not in r.said(), f"room is made before: {r.said()}")
        equal(r.end(), 0, f"exit status: {r.said()}")
    finally:
        kill(r)
        run("umount", "-l", dir)


@test("a file system with room for few snapshots, or inodes for few: the oldest ordinary one leaves, the marked one stays")
def few_fit():
    for what in "inodes", "bytes":
        with configured(NOBODY) as (name, dir, file):
            run("mount", "-t", "tmpfs", "-o", f"size=64m{',nr_inodes=8' * (what == 'inodes')}", "frtest", dir)
            write_config(file, name, dir, NOBODY, more="[Storage]\nKeepFree=0%\nMaxFiles=1000\n[Control]\nSocket=yes\n")
            r = Recorder(name, dir, "--config", file)
            try:
                r.armed()
                taken = [fr("dump", "-n", name).stdout.strip()]
                fr("list", "--keep", taken[0])
                if what == "bytes":  # how large one is depends on what was recorded before
                    run("mount", "-o", f"remount,size={6 * os.path.getsize(taken[0])}", dir)
                while os.path.exists(taken[min(1, len(taken) - 1)]) and len(taken) < 200:
                    taken.append(fr("dump", "-n", name).stdout.strip())
                check(len(taken) < 200, f"some left, few {what}: {r.files()}")
                taken += [fr("dump", "-n", name).stdout.strip() for _ in range(3)]
                left = r.files()
                equal(left[0], taken[0], f"the marked one, few {what}")
                equal(left[1:], taken[len(taken) - len(left) + 1:], f"the last ones, few {what}: {r.said()}")
                equal(r.end(), 0, f"exit status: {r.said()}")
            finally:
                kill(r)
                run("umount", "-l", dir)


@test("a last snapshot, before a session begins anew with other settings, has room made for it, as any other, its hook runs for it",
      own="other settings than those of a session that others have left")
def last_one():
    with expendable(NOBODY, leave=True) as (name, dir, file):
        run("mount", "-t", "tmpfs", "-o", "size=32m", "frtest", dir)
        told = f"{file}.told"

        def begin(memory, storage):
            write_config(file, name, dir, NOBODY, more=f"[Session]\nMemory={memory}\n[Storage]\n{storage}\n[Control]\nSocket=yes\n"
                                                       f"[Notify]\nExec=echo $FLIGHTREC_REASON $FLIGHTREC_FILE >> {told}\nExecUser=0\n")
            return Recorder(name, dir, "--config", file)
        write_config(file, name, dir, NOBODY, more="[Storage]\nKeepFree=0%\n[Control]\nSocket=yes\n")
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            first = fr("dump", "-n", name).stdout.strip()
            old = re.sub(r"-2\d{7}T", time.strftime("-%Y%m%dT", time.gmtime(time.time() - 86400)), first)
            with open(first, "rb") as f:
                begin_of_old = f.read()
            leave_free(dir, old, len(begin_of_old) // 2, begin_of_old)
            run(MIXED, "2")
            equal(r.end(), 0, f"exit status: {r.said()}")
            r = begin("5M", "KeepFree=0%").armed()
            check("its last snapshot is taken" in r.said() and "keeps its old settings" not in r.said(), r.said())
            left = [f for f in r.files() if f != first]
            equal([f.split("-")[-1] for f in left], ["settings.flight"], f"the old one left: {r.said()}")
            fr("verify", left[0])
            equal(r.end(), 0, f"exit status: {r.said()}")
            equal(os.path.exists(told) and open(told).read(), f"settings {left[0]}\n", "what the hook was told")
            was = r.files()
            leave_free(dir, "other", 1000000)
            r = begin("6M", "KeepFree=50%").armed()
            check("keeps its old settings" in r.said(), f"its quota refuses it, as any other: {r.said()}")
            equal(r.files(), was, "nothing is removed in vain")
            equal(r.end(), 0, f"exit status: {r.said()}")
            begun_with(name, (*options_of(name), "-m", "5M"))
        finally:
            kill(r)
            run("umount", "-l", dir)


@test("a snapshot that cannot be removed stays, and others leave in its place")
def stuck():
    with configured(NOBODY) as (name, dir, file):
        write_config(file, name, dir, NOBODY, more="[Storage]\nMaxFiles=2\n[Control]\nSocket=yes\n")
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            held = fr("dump", "-n", name).stdout.strip()
            run("mount", "--bind", held, held)  # whoever removes it is told EBUSY
            try:
                for _ in range(3):
                    last = fr("dump", "-n", name).stdout.strip()
            finally:
                run("umount", held)
            equal(r.files(), [held, last], f"what stayed: {r.said()}")
            equal(r.said().count(f"cannot remove {held}"), 1, f"it is said once: {r.said()}")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


if __name__ == "__main__":
    main()
