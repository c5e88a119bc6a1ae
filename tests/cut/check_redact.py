# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""cut --redact: no name and no secret of the file is left in it, and what it tells is otherwise as it was."""
import ipaddress
import os
import re
import shutil
import subprocess
import sys

from commands import dir, fresh, golden, info, parsed, rows, run

MARK = b"qzxqz"  # in each name and each secret of names.flight
ALIAS = r"~[0-9A-Za-z]{8}"
ID = "00112233445566778899aabbccddeeff" * 2


def key(name="key", text=b"0123456789abcdef"):
    with open(os.path.join(dir, name), "wb") as f:
        f.write(text)
    return name


def redact(source, *args, want=0, out="clean.flight"):
    p = run("cut", "--redact", "--redact-key", key(), "-o", fresh(out), *args, source, want=want)
    run("verify", out)
    return out


def content(path):
    """All that the chunks of the file say."""
    with open(os.path.join(dir, path), "rb") as f:
        return subprocess.run(["zstd", "-dcq"], stdin=f, check=True, capture_output=True).stdout


def texts(value, at=""):
    """Each text in a document, with where it is."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for k, v in value.items():
            yield from texts(v, f"{at}.{k}")
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from texts(v, f"{at}[{i}]")


def pairs_of_texts(source, out):
    """What each text of each event was, and what it is."""
    before, after = list(map(parsed, rows(source))), list(map(parsed, rows(out)))
    assert len(before) == len(after)
    for a, b in zip(before, after):
        was, now = dict(texts(a)), dict(texts(b))
        assert was.keys() == now.keys(), (a, b)
        yield from ((a["event"] + at, was[at], now[at]) for at in was)


def cut_redacts_every_text():
    assert content("names.flight").lower().count(MARK) > 100, "the file has names"
    out = redact("names.flight")
    left = re.search(rb".{0,40}" + MARK + rb".{0,20}", content(out).lower(), re.S)
    assert not left, left
    assert b"kthread/7" in content(out), "a kernel thread's kind stays"
    assert b"10.9.8." in content("names.flight") and b"10.9.8." not in content(out), "an address, as text"
    alias = re.search(rb"([0-9.]+)-manage:", content(out))[1]
    assert content(out).count(alias) == 2, "in a kernel thread's name as in a line"
    with open(os.path.join(dir, out), "rb") as f:
        assert MARK not in f.read(), "beside the chunks"


def cut_redacts_each_part():
    run("merge", "-o", fresh("both.flight"), "names.flight", "names2.flight")
    out = redact("both.flight")
    assert MARK not in content(out).lower()
    keys = re.findall(f"; ({ALIAS}=)\\[redacted\\] ({ALIAS}=)\\[redacted\\]", content(out).decode("latin-1"))
    assert len(keys) == 2 and keys[0] == keys[1], "words of secret keys are those of all parts"
    hosts = re.findall(rb"\nhost=(.*)\n", b"\n" + content(out))
    assert len(hosts) == 2 and hosts[0] == hosts[1] and re.fullmatch(ALIAS, hosts[0].decode()), hosts


def cut_redact_asks_with_names():
    out = redact("names.flight", "-f", 'comm == "qzxqz0one" && event == exec_argv', "--cgroup", "*qzxqz*")
    said = info(out)["cut"]
    assert MARK not in content(out).lower() and len(rows(out)) > 0
    assert "exec_argv" in said["filter"] and re.search(ALIAS, said["filter"]), said


def cut_redact_keeps_rules():
    """What a rule is made of stays, so that it is one; and an event's name is no command line."""
    out = redact("names.flight")
    fact = dict(re.findall(rb"^((?:rule_\d+|unmade))=(.*)$", content(out), re.M))
    assert fact[b"rule_2"] == b"latency:syscall:read>1ms" and fact[b"unmade"] == b"uprobe:prog__go=3", fact
    for name, want in (b"rule_0", "crash,comm=@"), (b"rule_1", "crash:all,exe=/@/*,cooldown=1m"), (b"rule_3", 'event:event == mark_victim && comm == "@"'):
        assert re.fullmatch(re.escape(want).replace("@", ALIAS), fact[name].decode()), fact
    for name in b"rule_0", b"rule_1", b"rule_2", b"rule_3":
        run("replay", "--on", fact[name].decode(), out)


def cut_redact_leaves_numbers():
    """Events stay at their times and places, with the same numbers."""
    for source in "names.flight", "b.flight", "random.flight", golden:
        out = redact(source)
        before, after = list(map(parsed, rows(source))), list(map(parsed, rows(out)))
        assert len(before) == len(after) > 0
        for a, b in zip(before, after):
            assert a["ts"] == b["ts"] and a["cpu"] == b["cpu"] and a.get("pos") == b.get("pos") and a["event"] == b["event"], (a, b)
            numbers = lambda e: {k: v for k, v in e.items() if isinstance(v, int)}
            assert numbers(a) == numbers(b), (a, b)


def cut_redact_gives_one_alias():
    """A name of a task is the same alias wherever it stands, and no other name's."""
    for source in "names.flight", "b.flight":
        alias = {}
        for at, was, now in pairs_of_texts(source, redact(source)):
            if at.endswith("comm") and was:
                assert alias.setdefault(was, now) == now, (at, was, now)
        assert len(set(alias.values())) == len(alias) > 2, alias
    out = redact("names.flight")
    one = next(now for at, was, now in pairs_of_texts("names.flight", out) if was == "qzxqz0one" and at.endswith(".comm"))
    assert re.fullmatch(ALIAS, one)
    said = info(out)
    log = [parsed(l) for l in run("replay", "--kmsg", "--json", out).stdout.splitlines()]
    log = [l["kmsg"] for l in log if "kmsg" in l]
    assert said["trigger"]["comm"] == one, said["trigger"]
    assert log[0].startswith(f"Killed process 100 ({one}), not kthread/7; file /srv/~") and "10.9.8.7" not in log[0], log
    assert re.fullmatch(f"{ALIAS} {ALIAS} {ALIAS} {ALIAS} {ALIAS}=\\[redacted\\]", log[1]), log
    tp = next(parsed(l) for l in rows(out) if b'"tp:sys:it"' in l)
    address = {name: ".".join(map(str, tp[name])) for name in ("saddr", "dst")}
    assert log[0].endswith("from " + address["saddr"]), (log, tp)
    states = re.findall(rb"tcp:([0-9.]+):80-([0-9.]+):4711", content(out))
    assert states == 2 * [(address["saddr"].encode(), address["dst"].encode())], (states, tp)  # a state's, and a descriptor's
    assert tp["gw6"][:2] == [1, 0] and tp["peer"] == [10, 0, 1, 0xbb, 0, 0, 0, 0] + tp["gw6"] + [0] * 4 and not any(tp["bssid"]), tp
    given = [parsed(l)["path"] for l in rows(out) if b'"sys_path"' in l][-7:]
    gw6 = ipaddress.ip_address(bytes(tp["gw6"]))
    assert given[:5] == [address["saddr"] + ":5432", f"[{gw6}]:80", "127.0.0.1:80", "family 16", "family 2, 4 bytes"], given
    assert re.fullmatch(f"@{ALIAS} /srv/{ALIAS}", " ".join(given[5:])), given
    unit = said["trigger"]["cgroup"].split("/")[-1]
    assert re.fullmatch(f"[0-9.]+-manage: {ALIAS} in {ALIAS}, {unit}; {ALIAS}=\\[redacted\\] zap=78", log[2]), log


def cut_redact_keeps_forms():
    """Containers and units are still known by the paths of their cgroups."""
    out = redact("names.flight")
    lines = [parsed(l) for l in re.findall(rb'{"(?:pid|cgroup_id|container_id)":.*}', content(out))]
    assert len(lines) == 3 and b"JSON" not in content(out), "a line that is no JSON is left out"
    path, container = (next(l for l in lines if k in l) for k in ("cgroup_id", "container_id"))
    assert container["container_id"] != ID and re.fullmatch("[0-9a-f]{64}", container["container_id"]), container
    assert re.fullmatch(f"/{ALIAS}/docker-{container['container_id']}.scope", path["cgroup"]), path
    process = next(l for l in lines if l.get("pid") == 100)
    assert re.fullmatch(f"/system.slice/{ALIAS}.service", process["cgroup"]), process
    assert re.fullmatch(f"{ALIAS} --user {ALIAS} --token \\[redacted\\] {ALIAS}", process["cmdline"]), process


def cut_redact_by_key():
    keys = lambda text: set(re.findall(ALIAS, re.search("^redact=(.*)$", text, re.M)[1]))  # these the two files have not in common
    names = lambda path: set(re.findall(ALIAS, content(path).decode("latin-1"))) - {info(path)["cut"]["from"]} - keys(content(path).decode("latin-1"))
    one, two = names(redact("names.flight")), names(redact("names2.flight", out="clean2.flight"))
    assert one == two and len(one) > 30, "the same key, the same aliases"
    run("cut", "--redact", "-o", fresh("other.flight"), "names.flight")
    assert len(names("other.flight")) == len(one) and not names("other.flight") & one, "another key each time"
    for text, why in (b"short", "fewer than 16 bytes"), (b"x" * 4097, "more than 4096 bytes"):
        p = run("cut", "--redact", "--redact-key", key("bad", text), "-o", fresh("no.flight"), "names.flight", want=2)
        assert why in p.stderr.decode() and not os.path.exists(os.path.join(dir, "no.flight")), p.stderr
    p = run("cut", "--redact", "--redact-key", "none/there", "-o", "no.flight", "names.flight", want=1)
    assert "cannot read none/there" in p.stderr.decode(), p.stderr
    assert "give --redact, too" in run("cut", "--redact-key", "key", "-o", "no.flight", "names.flight", want=2).stderr.decode()


def cut_redact_counts():
    out = redact("names.flight")
    said = info(out)
    before = rows("names.flight")
    secrets = sum(l.count(b"--password=" + MARK) for l in before)
    assert secrets and b"--password=[redacted]" in b"".join(before), "arguments had been redacted before"
    assert said["redacted"] == 3 + secrets + 6, (said["redacted"], secrets)  # in facts, lines, incidents and the log
    assert said["aliases"] > 30 and info(redact("names.flight", "-f", "event == task_rename", out="some.flight"))["aliases"] < said["aliases"]
    text = run("info", out).stdout.decode()
    assert f"aliases    {said['aliases']} names: ~ABCDEFGH and the like stand for them (`cut --redact`)" in text, text
    assert "aliases" not in info("names.flight") and "aliases" not in run("info", "names.flight").stdout.decode()
    again = redact(out, out="again.flight")
    assert info(again)["redacted"] == said["redacted"], "what is redacted is not counted again"
    run("cut", "-o", fresh("plain.flight"), out)
    assert info("plain.flight")["aliases"] == said["aliases"], "a cut without --redact keeps it"


def cut_redact_is_read_by_all():
    out = redact("names.flight")
    for args in (("report",), ("report", "--json"), ("incidents",), ("stat", "--by", "comm"), ("profile", "--since", "1h"), ("top", "--once"),
                 ("replay", "--pairs"), ("replay", "--kmsg"), ("symbols",), ("view", "-o", fresh("page.html")), ("diff", out)):
        assert MARK not in run(*args, out).stdout.lower(), args
    for to in "perfetto", "ctf", "trace-cmd", "folded", "perf-script", "json", "csv", "html":
        if os.path.isdir(os.path.join(dir, fresh("exported") if to != "ctf" else "exported-ctf")):
            shutil.rmtree(os.path.join(dir, "exported-ctf"))
        run("export", "--to", to, "-o", "exported-ctf" if to == "ctf" else "exported", out)


globals()[sys.argv[3]]()
