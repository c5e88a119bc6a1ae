# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The recorder with a configuration file: reloads, restarts with another one, what each keeps and what it refuses."""
import contextlib
import glob
import os
import signal
import subprocess
import tempfile

from frtest import SESSIONS, TMP, check, dump, equal, exists, fr, helper, main, mono_ns, overwritten_since, path, replay, run, status, test, wait_for
from recorder import (NOBODY, ONE, TAG, Recorder, accounted, children, configured, crash, end_load, expendable, kill, kill_load, next_link,
                      recording, refused_pin, send_reload, start_load, trigger_links, write_config)


def initial_values(pid):
    """What loading BPF objects left mapped: bytes."""
    with open(f"/proc/{pid}/maps") as f:
        ends = [line.split()[0].split("-") for line in f if "/dev/zero (deleted)" in line]
    return sum(int(end, 16) - int(begin, 16) for begin, end in ends)


@test("a rule that has the slot of one that ended begins with a cooldown of its own, also where limits change with it")
def slot_again():
    """32 rules take all slots, that of the rule in force last. Another StormCount= makes the recorder count again what was granted."""
    with recording(f"crash:comm=first{TAG},dedupe=no") as r:
        crash(f"first{TAG}")
        r.wait_files(1)
        rules = [f"crash:comm=next{TAG}-{i},dedupe=no" for i in range(32)]
        write_config(r.p.args[r.p.args.index("--config") + 1], r.name, r.dir, *rules, more="[Control]\nSocket=yes\n[Trigger]\nStormCount=1000\n")
        send_reload(r)
        for i in (0, 31):
            crash(f"next{TAG}-{i}")
            equal(r.wait_seen(rules[i], 1)["verdicts"]["cooldown"], 0, f"rule {i} has had no snapshot: cooling")
        r.wait_files(3)


@test("--config: SIGHUP under load puts a good file in force, refuses a bad one, loses nothing; SIGTERM leaves the session")
def reload():
    with configured(ONE) as (name, dir, file):
        r = Recorder(name, dir, "--config", file)
        load = None
        try:
            r.armed()
            load = start_load(f"one{TAG}", 10000)
            begin, mapped = status(name)["begin_ns"], None
            for i in range(6):
                write_config(file, name, dir, ONE, f"exit:{i + 20}")
                r.p.send_signal(signal.SIGHUP)
                wait_for(lambda: r.said().count("reloaded:") == i + 1, lambda: f"reload {i}: {r.said()}")
                run("sh", "-c", f"exit {i + 20}", status=i + 20)
                r.wait_files(1)
                wait_for(lambda: r.rules()[f"exit:{i + 20}"]["taken"] >= 1, lambda: f"the new rule {i}: {r.rules()}")
                mapped = initial_values(r.p.pid) if mapped is None else mapped
            equal(initial_values(r.p.pid), mapped, "bytes that reloads left mapped")
            deep = f"{dir}/" + "/".join(["d" * 200] * 4)
            os.makedirs(deep)
            for bad, word in (("On=crash\nOn=thursday\n", "thursday"), ("Nonsense=1\n", "Nonsense"), ("[Strorage]\n", "Storage"),
                              (None, "File name too long")):
                if bad:
                    with open(file, "a") as f:
                        f.write(bad)
                else:
                    write_config(file, name, deep + "/" + "d" * 40, ONE)
                before = r.said().count("reload refused")
                r.p.send_signal(signal.SIGHUP)
                wait_for(lambda: r.said().count("reload refused") > before, lambda: f"refused: {r.said()}")
                check(word in r.said().rpartition("reload refused")[2], r.said())
                write_config(file, name, dir, ONE)
            run("sh", "-c", "exit 25", status=25)
            wait_for(lambda: r.rules()["exit:25"]["seen"] >= 2, "the old rules stay after a bad file")
            write_config(file, name, dir, ONE, more="[Session]\nMemory=3M\n")
            r.p.send_signal(signal.SIGHUP)
            wait_for(lambda: "Session.Memory" in r.said(), "what needs a new ring is named")
            died = end_load(load)
            rule = r.wait_seen(ONE, died)
            equal(rule["seen"], died, f"deaths seen: {rule}")
            equal(status(name)["begin_ns"], begin, "begin of the session")
            equal(r.end(), 0, f"exit status: {r.said()}")
            check(exists(name), "SIGTERM ended the session of a daemon")
            fr("verify", *r.files())
            return f"{died} deaths over 10 reloads, {rule['taken']} snapshots"
        finally:
            kill_load(load)
            kill(r)


@contextlib.contextmanager
def hanging(name):
    """A task of that name in D, while it lasts."""
    with subprocess.Popen([helper("waits"), "vfork", name, "600000"], stdout=subprocess.PIPE, text=True) as p:
        tid = int(p.stdout.readline())
        try:
            yield tid
        finally:
            for child in children(tid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)


@test("--config: reloads that change no rule's text leave its programs alone: a pause of hung is told once")
def reload_of_others():
    hung = f"hung>200ms:comm=hang{TAG},cooldown=0s"
    with configured(hung) as (name, dir, file):
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            with hanging(f"hang{TAG}"):
                r.wait_seen(hung, 1)
                links = sorted(glob.glob(f"{SESSIONS}/{name}/trig-*"))
                for cnt in (50, 51):
                    write_config(file, name, dir, hung, more=f"[Storage]\nMaxFiles={cnt}\n")
                    send_reload(r)
                    equal(sorted(glob.glob(f"{SESSIONS}/{name}/trig-*")), links, "links of the programs")
                with hanging(f"hang{TAG}"):  # told once there were looks enough for the first one, too
                    r.wait_seen(hung, 2)
                equal(r.rules()[hung]["seen"], 2, "pauses told, of two tasks")
                write_config(file, name, dir, hung, "exit:26")
                send_reload(r)
                run("sh", "-c", "exit 26", status=26)
                r.wait_seen("exit:26", 1)
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


def deaths_in_journal(dir, who):
    """How many deaths by a signal of programs of that name a directory's journal of incidents tells."""
    if not os.path.exists(f"{dir}/incidents.journal"):
        return 0
    with open(f"{dir}/incidents.journal") as f:
        return sum('"kind":"signal"' in line and f'"comm":"{who}"' in line for line in f)


@test("--config: a reload whose hook has a user that is not there is refused, and the old one stays")
def no_such_user():
    with configured(NOBODY) as (name, dir, file):
        told = path("old-hook")
        write_config(file, name, dir, ONE, more=f"[Notify]\nExec=touch {told}\nExecUser=0\n")
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            write_config(file, name, dir, NOBODY, more=f"[Notify]\nExec=touch {told}.new\nExecUser=frtest-none\n")
            r.p.send_signal(signal.SIGHUP)
            wait_for(lambda: "reload refused: Notify.ExecUser: no user 'frtest-none'" in r.said(), lambda: f"it is refused: {r.said()}")
            crash(f"one{TAG}")
            wait_for(lambda: os.path.exists(told), lambda: f"the old hook runs: {r.said()}")
            equal(fr("record", "--check-config", "--config", file, status=None).returncode, 2, "--check-config")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


def seen_by_rule(r):
    return {text: rule["seen"] for text, rule in r.rules().items() if rule["in_force"]}


@test("--config: a reload that the kernel refuses halfway leaves the old rules in force, with their counts, and nothing of the new ones")
def refused_halfway():
    exits = [f"exit:{n}:comm=none{TAG}" for n in range(100, 131)]  # with ONE all rules that there can be
    with configured(ONE, *exits) as (name, dir, file):
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            crash(f"one{TAG}")
            r.wait_seen(ONE, 1)
            counts, links = seen_by_rule(r), trigger_links(name)
            write_config(file, name, dir, ONE, "exit:31")
            for nr, link in enumerate(links, 1):
                with refused_pin(name, next_link(link)):
                    r.p.send_signal(signal.SIGHUP)
                    wait_for(lambda: r.said().count("reload refused: its triggers cannot be used") == nr, lambda: f"it is refused: {r.said()}")
                    check(f"cannot pin {SESSIONS}/{name}/{next_link(link)}" in r.said(), r.said())
                equal(trigger_links(name), links, "links of the programs")
                equal(seen_by_rule(r), counts, "rules, and what each has seen")
            crash(f"one{TAG}")
            equal(r.wait_seen(ONE, 2)["seen"], 2, "deaths seen")
            send_reload(r)
            run("sh", "-c", "exit 31", status=31)
            r.wait_seen("exit:31", 1)
            equal(r.end(), 0, f"exit status: {r.said()}")
            return f"refused at each of {len(links)} programs"
        finally:
            kill(r)


@test("--config: a reload, and a restart, with another Directory=: incidents, status, dump and stop go there, too",
      own="the session is stopped, with incidents left")
def other_directory():
    who = f"moved{TAG}"
    with expendable(NOBODY) as (name, first, file):
        second, third = (tempfile.mkdtemp(dir=TMP) for _ in range(2))
        r = Recorder(name, first, "--config", file)
        try:
            r.armed()
            crash(who)
            wait_for(lambda: deaths_in_journal(first, who) == 1, "a death in the first journal")
            write_config(file, name, second, NOBODY)
            send_reload(r)
            equal(status(name)["dir"], second, "directory of the session")
            crash(who)
            wait_for(lambda: deaths_in_journal(second, who) == 1, "a death in the second journal")
            equal(os.path.dirname(fr("dump", "-n", name).stdout.strip()), second, "directory of a snapshot")
            equal(r.end(), 0, f"exit status: {r.said()}")
            write_config(file, name, third, NOBODY, more="[Control]\nSocket=yes\n")
            r = Recorder(name, third, "--config", file).armed()
            check("adopted" in r.said(), r.said())
            equal(status(name)["dir"], third, "directory of the session, adopted")
        finally:
            kill(r)
        crash(who)
        check(os.path.exists(f"/run/flightrec/{name}.sock"), "a killed recorder leaves its socket")
        fr("stop", "-n", name)
        check(not os.path.exists(f"/run/flightrec/{name}.sock"), "stop leaves a dead recorder's socket")
        equal([deaths_in_journal(dir, who) for dir in (first, second, third)], [1, 1, 1], "deaths in the journals")


@test("--config: a reload with a smaller MaxIncidents= keeps the journal within it")
def smaller_journal():
    most = 32 << 10
    with configured(NOBODY) as (name, dir, file):
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            write_config(file, name, dir, NOBODY, more=f"[Storage]\nMaxIncidents={most}\n")
            send_reload(r)
            added = 0
            while added < 1.5 * most:
                # each of a program and under a name of its own, or they would be told together
                crash(f"frm{added}{TAG}", 20, 0, 20)
                wait_for(lambda: (a := status(name)["incidents"])["saved"] == a["recorded"], "they are saved")
                added += 20 * 300  # each has a longer line
            sizes = {f: os.path.getsize(f"{dir}/{f}") for f in os.listdir(dir) if f.startswith("incidents.journal")}
            check(sum(sizes.values()) <= most and len(sizes) == 2, f"at most {most} bytes in two files: {sizes}")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


@test("--config: reloads that change a rule's text under its deaths: each has one decision, counted where its rule counts",
      own="one that others have left, else its own: nobody else's deaths are to push these out")
def reload_of_texts():
    texts = [f"crash:comm=loop{TAG},last={ms}ms,cooldown=1h" for ms in (1, 2)]
    sets = [texts[:1], ["exit:27", texts[1]]]  # another number, too
    with expendable(*sets[0]) as (name, dir, file):
        r = Recorder(name, dir, "--config", file)
        load, looked, unseen, seen = None, mono_ns(), 0, {}

        def look():
            """Now and then: small rings do not hold all of it. What they have lost since the last look is counted."""
            nonlocal looked, unseen, before
            now, file = mono_ns(), dump(name)
            ever = overwritten_since(file, 0, "life")
            for e in replay(file, "--life", "--since", str(looked), "-f", "event in (crash, trigger)"):
                seen[e["ts"], e["cpu"], e["event"], e["tid"]] = e
            if overwritten_since(file, looked, "life"):
                unseen += ever - before
            looked, before = now, ever
        try:
            r.armed()
            before = overwritten_since(dump(name), 0, "life")
            load = start_load(f"loop{TAG}", 20000)
            for i in range(1, 8):
                wait_for(lambda: r.rules()[texts[(i - 1) % 2]]["seen"] >= 1, lambda: f"deaths: {r.rules()}")
                write_config(file, name, dir, *sets[i % 2])
                send_reload(r)
                look()
            died = end_load(load)
            rules = [None, r.wait_seen(texts[1], 1)]
            write_config(file, name, dir, *sets[0])
            send_reload(r)
            rules[0] = r.rules()[texts[0]]
            look()
            events = list(seen.values())
            check(accounted(rules[0]), f"verdicts of what came while others were loaded: {rules[0]}")
            equal(sum(x["seen"] for x in rules), died, f"deaths that were seen: {rules}")
            crashes = [e["pid"] for e in events if e["event"] == "crash"]
            marks = [e["target_pid"] for e in events if e["event"] == "trigger" and e["reason"] == "crash"]
            check(len(crashes) <= died <= len(crashes) + unseen, f"events of deaths: {len(crashes)} of {died}, overwritten: {unseen}")
            decided = len(marks) + sum(x["queue_lost"] for x in rules)
            check(decided <= died <= decided + unseen, f"decisions in the history, and alerts lost: {decided} of {died}, overwritten: {unseen}")
            equal(len(set(marks)), len(marks), "whom they are about: each once")
            check(len(set(marks) - set(crashes)) <= unseen, f"{set(marks) - set(crashes)} have a decision, and no death; overwritten: {unseen}")
            equal(r.end(), 0, f"exit status: {r.said()}")
            return f"{died} deaths over 8 reloads"
        finally:
            kill_load(load)
            kill(r)


@test("--config: a reload with another Name= says that the session stays under its name, and how to end it")
def other_name():
    with configured() as (name, dir, file):
        write_config(file, name, dir, "exit:20")
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            write_config(file, f"{name}-b", dir, "exit:20")
            send_reload(r)
            check(f"session '{name}' stays" in r.said() and f"`flightrec stop -n {name}`" in r.said(), r.said())
            check("saves its history first" not in r.said(), r.said())
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


@test("--config: a reload does not report keys of [Session] that options override")
def overridden():
    with configured() as (name, dir, file):
        write_config(file, "other", dir, "exit:20", more="[Session]\nMemory=3M\nSampleRate=199\n")
        r = Recorder(name, dir, "--config", file, "-n", name, "-m", "2M", "--hz", "99")
        try:
            r.armed()
            check("adopted" in r.said(), f"what the options say is what it records: {r.said()}")
            write_config(file, "another", dir, "exit:20", more="[Session]\nMemory=4M\nSampleRate=299\n")
            send_reload(r)
            check("takes effect" not in r.said(), r.said())
            write_config(file, "another", dir, "exit:20", more="[Session]\nMemory=4M\nProfile=default\n")
            send_reload(r)
            check("its history first: Session.Profile\n" in r.said(), r.said())
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


@test("--config: a reload that changes only StormCount= says, too, that a timer has all that the rules may have")
def reload_of_storm():
    def configure(cnt):
        write_config(file, name, dir, "every:20s", more=f"[Trigger]\nStormCount={cnt}\n")
        with open(file) as f:
            text = f.read()
        with open(file, "w") as f:
            f.write(text.replace("StormCount=0\n", ""))

    with configured() as (name, dir, file):
        configure(31)
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            check("alone may take" not in r.said(), r.said())
            for cnt, said in (30, 1), (30, 1), (31, 1), (29, 2):
                configure(cnt)
                send_reload(r)
                equal(r.said().count("'every:20s' alone may take"), said, f"StormCount={cnt}: {r.said()}")
        finally:
            kill(r)


if __name__ == "__main__":
    main()
