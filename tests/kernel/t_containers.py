# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The recorder in a container: in namespaces of its own what it says of cgroups and processes is the machine's, or is not said."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile

from frtest import (FLIGHTREC, MINIMAL, SESSIONS, TMP, Skip, check, ended, equal, fr, fr_json, gone, helper, impatient, main, mono_ns, new_name,
                    path, replay, run, shared, snapshots, test, wait_for)
from hangfs import hangfs


def hierarchy():
    root = next((d for d in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup") if os.path.exists(f"{d}/cgroup.procs")
                 and os.path.exists(f"{d}/cgroup.subtree_control")), None)
    if not root:
        raise Skip("no cgroup v2")
    return root


@contextlib.contextmanager
def cgroups():
    """The hierarchy, and below it a cgroup for a container and one beside it."""
    root, top = hierarchy(), f"frtest-{os.getpid()}"
    dirs = [f"{root}/{top}", f"{root}/{top}/pod", f"{root}/{top}/other"]
    made = []
    try:
        try:
            for dir in dirs:
                os.mkdir(dir)
                made.append(dir)
        except OSError as why:
            raise Skip(f"cgroups cannot be made here: {why}") from why
        yield root, f"/{top}/pod", f"/{top}/other"
    finally:
        for dir in [f"{dirs[1]}/inner", f"{dirs[1]}/unified", *reversed(made)]:
            wait_for(lambda d=dir: gone(d), f"{dir} is empty")


def enter(dir):
    return "sh", "-c", f'echo 0 > {dir}/cgroup.procs && exec "$@"', "sh"


def container(root, pod, whole):
    """
    Before a command: it runs in this cgroup, in a cgroup namespace of its own that has this root. whole: the machine's
    hierarchy is mounted beside it.
    """
    keep = tempfile.mkdtemp(dir=TMP)
    script = [f"mount --bind {root} {keep}", "umount -R /sys/fs/cgroup", "mount -t cgroup2 none /sys/fs/cgroup"]
    if whole:
        script += ["mkdir -p /sys/fs/cgroup/unified", f"mount --bind {keep} /sys/fs/cgroup/unified"]
    script += [f"umount {keep}", 'exec "$@"']
    return *enter(root + pod), "unshare", "-Cm", "sh", "-c", " && ".join(script), "sh"


# its shell is pid 1 of a namespace, with the machine's cgroups
FIRST = "unshare", "-fp", "--kill-child", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh"


def recorder_of(pid):
    """The recorder that this process has become, or begun."""
    with open(f"/proc/{pid}/comm") as f:
        return pid if f.read() == "flightrec\n" else recorder_of(int(child_of(pid)))


@contextlib.contextmanager
def adopting(before, *options):
    """A recorder somewhere, of the shared session, which it leaves; besides what recording() gives, the session's name."""
    name = shared(*MINIMAL)
    try:
        with recording(name, before, "--keep", *options) as (dir, said, pid):
            yield name, dir, said, pid
    finally:  # it told the session another directory
        fr("record", "-n", name, "-o", f"{TMP}/shared", "--unattended", *MINIMAL)


@contextlib.contextmanager
def recording(name, before, *options):
    """A recorder somewhere; gives its directory, a function that ends it and gives what it said, and its pid."""
    dir, log = tempfile.mkdtemp(dir=TMP), tempfile.NamedTemporaryFile(dir=TMP, mode="r+")
    with log:
        p = subprocess.Popen([*before, FLIGHTREC, "record", "-n", name, "-o", dir, *MINIMAL, *options], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=log)

        def begun():
            if "--on" in options:
                return "armed" in pathlib.Path(log.name).read_text()
            return os.path.exists(f"{SESSIONS}/{name}/meta") and fr_json("status", "-n", name).get("recorder")

        def said():
            if p.poll() is None:
                os.kill(recorder_of(p.pid), signal.SIGTERM)
            p.wait(120)
            return pathlib.Path(log.name).read_text()

        try:
            wait_for(lambda: p.poll() is not None or begun(), "the recorder starts")
            yield dir, said, p.pid
        finally:
            if p.poll() is None:
                p.kill()
                p.wait()


def die_in(dir):
    p = run(*enter(dir), "sh", "-c", "ulimit -c 0; echo $$; kill -SEGV $$", status=None)
    equal(p.returncode, -signal.SIGSEGV, f"a death in {dir}: {p.stderr}")
    return int(p.stdout)


def snapshot_in(dir):
    return f"{dir}/{wait_for(lambda: snapshots(dir), 'a snapshot')[0]}"


@test("a cgroup namespace, the machine's hierarchy beside its own: cgroup= holds for others, paths are the machine's")
def beside():
    with cgroups() as (root, pod, other):
        since = mono_ns()
        with adopting(container(root, pod, True), "--on", f"crash:cgroup={other}") as (_, dir, said, _):
            sleeper = subprocess.Popen([*enter(root + other), "sh", "-c", "while :; do sleep 0.01; done"])
            try:
                pid = die_in(root + other)
                file = snapshot_in(dir)
            finally:
                sleeper.kill()
                sleeper.wait()
            check("cannot fire" not in said(), "a rule is said not to fire")
        trigger = fr_json("info", file)["trigger"]
        equal((trigger["pid"], trigger.get("cgroup")), (pid, other), "the death")
        equal({e["pid"] for e in replay(file, "-f", f'cgroup == "{other}" && event == sched_switch')} & {sleeper.pid}, {sleeper.pid},
              f"a process in {other}")
        check(not replay(file, "--since", str(since), "-f", 'cgroup ~ "/..*"'), "there are paths relative to the container")


@test("a cgroup namespace without it: no path is made up, and a rule that cannot hold is named")
def alone():
    with cgroups() as (root, pod, _):
        with adopting(container(root, pod, False), "--on", "crash:cgroup=/nowhere", "--on", "crash") as (_, dir, said, _):
            die_in(root + pod)
            file = snapshot_in(dir)
            text = said()
        found = fr_json("info", file)["trigger"].get("cgroup")
        # where pid 1's mounts can be looked at, the whole is found there
        check(found == pod or (found is None and "cannot fire" in text and "--cgroupns=host" in text), f"cgroup {found}; {text}")


@test("--cgroup in a cgroup namespace: its depth is the machine's", own="they are begun inside")
def depth():
    with cgroups() as (root, pod, _):
        os.mkdir(f"{root}{pod}/inner")
        name = new_name()
        with ended(name), recording(name, container(root, pod, False), "-e", "syscall", "--cgroup", "/inner") as (_, said, _):
            if not os.path.exists(f"{SESSIONS}/{name}/meta"):
                check("--cgroupns=host" in said(), "refused, and not with the cure")
        # by the mounts of pid 1, which is outside
        with ended(name), recording(name, (*FIRST, *container(root, pod, False)), "-e", "syscall", "--cgroup", "/inner") as (_, said, _):
            check(os.path.exists(f"{SESSIONS}/{name}/meta"), "no session")
            inside = run(*enter(f"{root}{pod}/inner"), "sh", "-c", f"echo $$; exec {helper('exact')} 100").stdout
            run(helper("exact"), "100")
            file = path(f"{name}.flight")
            fr("dump", "-n", name, "-o", file)
        equal({e["pid"] for e in replay(file, "-f", "event == sys_enter && comm == \"exact\"")}, {int(inside.split()[0])}, "whose calls")


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return f.read().split()[0]


@test("a pid namespace: what has the same pid there is not taken for the machine's")
def pids():
    with cgroups() as (root, pod, _):
        since = mono_ns()
        with adopting(("unshare", "-fp", "--kill-child", "--mount-proc")) as (name, _, said, outer):
            mine = subprocess.Popen(["sh", "-c", "while :; do sleep 0.01; done"])
            script = (f"echo {mine.pid - 1} > /proc/sys/kernel/ns_last_pid && {{ sleep 600 & }} && [ $! = {mine.pid} ] && "
                      f"echo $! > {root}{pod}/cgroup.procs")
            try:
                if run("nsenter", "-t", child_of(outer), "-p", "-m", "sh", "-c", script, status=None, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL).returncode:
                    raise Skip("the pid could not be used again")
                file = fr("dump", "-n", name).stdout.strip()
                text = said()
            finally:
                mine.kill()
                mine.wait()
        check(replay(file, "-f", f"pid == {mine.pid}"), "the process with that pid was recorded")
        equal(replay(file, "--since", str(since), "-f", f'pid == {mine.pid} && cgroup == "{pod}"'), [], "events of it in the container's cgroup")
        check("--pid=host" in text, f"it is not said that processes are missing: {text}")


ENGINES = "/var/lib"  # what a mount namespace has there instead


def ids(n):
    return [f"{i:x}" * 64 for i in range(1, n + 1)]


def put_docker(root, id, **config):
    file = f"{root}/docker/containers/{id}/config.v2.json"
    os.makedirs(os.path.dirname(file))
    with open(file, "w") as f:
        json.dump(config, f)
    return file


@test("containers: their names are their engine's files', a rigged file costs the names of its own")
def names():
    uid = "12345678-9abc-def0-1234-56789abcdef0"
    web, app, bare, fifo, link, huge, broken, hung = ids(8)
    with cgroups() as (root, _, other), hangfs() as disk, contextlib.ExitStack() as ends:
        engines = tempfile.mkdtemp(dir=TMP)
        os.chmod(engines, 0o755)
        put_docker(engines, web, Name="/web", Config={"Image": "nginx:1"})
        put_docker(engines, app, Config={"Image": "api:2", "Labels": {f"io.kubernetes.{k}": v for k, v in {
            "container.name": "app", "pod.name": "api-0", "pod.namespace": "prod", "pod.uid": uid}.items()}})
        for id in fifo, link, huge, broken:
            os.makedirs(f"{engines}/docker/containers/{id}")
        os.mkfifo(f"{engines}/docker/containers/{fifo}/config.v2.json")
        os.symlink("/dev/zero", f"{engines}/docker/containers/{link}/config.v2.json")
        with open(f"{engines}/docker/containers/{huge}/config.v2.json", "w") as f:
            f.truncate(1 << 30)
        with open(f"{engines}/docker/containers/{broken}/config.v2.json", "wb") as f:
            f.write(b'{"Name":"/\xff\xfe"}')
        os.symlink(f"{disk.dir}/x", f"{engines}/docker/containers/{hung}")
        disk.hang()
        places = {id: f"{root}{other}/{f'pod{uid}' if id in (app, bare) else 'docker'}/{id}" for id in ids(8)}
        pids = {}
        ends.callback(lambda: [wait_for(lambda d=d: gone(d), f"{d} is empty") for d in {os.path.dirname(d) for d in places.values()}])
        for id, dir in places.items():
            os.makedirs(dir)
            ends.callback(lambda d=dir: wait_for(lambda: gone(d), f"{d} is empty"))
            p = subprocess.Popen([*enter(dir), "sh", "-c", "while :; do sleep 0.1; done"])
            ends.callback(lambda p=p: (p.kill(), p.wait()))
            pids[id] = p.pid
        wait_for(lambda: all(id in pathlib.Path(f"/proc/{p}/cgroup").read_text() for id, p in pids.items()), "all are in their cgroups")
        name, file = shared(*MINIMAL), path("names.flight")

        # a machine that is busy may be late with others, too; the next look finds that the helper of the one before still waits
        def only_one_hangs():
            pathlib.Path(file).unlink(missing_ok=True)
            with impatient(100):  # it is looked at again where others are late
                run("unshare", "-m", "sh", "-c", f'mount --bind {engines} {ENGINES} && exec "$@"', "sh", FLIGHTREC, "dump", "-n", name, "-o",
                    file)
            missing = [u["why"] for u in fr_json("info", file)["unread"]["items"] if u["what"] in ("containers", "cgroups", "process")]
            return missing in (["late"], ["waited"]) and set(pids.values()) <= {e["pid"] for e in replay(file)}

        wait_for(only_one_hangs, "all have events, the one that hangs is missing, and no other")
        disk.go()
    report = fr_json("report", file)
    tasks = {t["pid"]: t for t in report["processes"]}
    keys = "container", "container_id", "pod", "namespace", "image"
    told = {id: tuple(tasks[pid][k] for k in keys) for id, pid in pids.items() if pid in tasks}
    wanted = {web: ("web", web, None, None, "nginx:1"), app: ("app", app, "api-0", "prod", "api:2"),
              bare: (bare[:12], bare, "api-0", "prod", None)}
    wanted |= {id: (f"docker-{id[:12]}", id, None, None, None) for id in (fifo, link, huge, broken, hung)}
    for id in wanted:
        equal(told.get(id), wanted[id], f"whose {id[:4]} is")
    of_id = {c["container_id"]: c for c in report["containers"]}
    for id in wanted:
        members = [t for t in report["processes"] if t["container_id"] == id]
        equal((of_id[id]["container"], of_id[id]["processes"], of_id[id]["events"]), (wanted[id][0], len(members), sum(t["events"] for t in members)),
              f"processes of {id[:4]}, added up")
    words = fr("report", "--by", "container", "--top", "0", file).stdout
    for what in "web", "prod/api-0/app", f"prod/api-0/{bare[:12]}", f"docker-{fifo[:12]}", "(none)":
        check(f"\n  {what} " in words, f"{what} is a line of:\n{words}")
    equal({e["pid"] for e in replay(file, "-f", 'pod ~ "api-*"')} & set(pids.values()), {pids[app], pids[bare]}, "events of the pod")
    for id in ids(8):
        equal({e["pid"] for e in replay(file, "-f", f'container_id == "{id}"')} & set(pids.values()), {pids[id]}, f"events of {id}")


if __name__ == "__main__":
    main()
