#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""case.py FILE: a recogniser of the verdict on one history made by hand, on which it must speak, and on histories that differ from it
in one thing, on which it must not. FILE is called after the recogniser:

	LINE			of tests/rehearse/make; events in any order. NS is in us, with 3 digits
	for I in A..B: LINE	the same for each number; {EXPR} of I
	tp NAME			a tracepoint that is recorded by default, as TRACEPOINTS has it; its events are tp:SYSTEM:NAME
	= REGEX			what the cause's sentence must match (several: all)
	~ REGEX			what a link of the chain must match
	! WORDS			a history in which something is different: that of the lines above, edited by the lines that follow,
	  s/A/B/		in each line
	  d/A/			without the lines that match
	  LINE			with this line, too
	  ~ REGEX		what a link of the chain must match then
	  !~ REGEX		what none may
	  => NAME [REGEX]	who speaks of it then, and what the sentence must match; without: there is no cause at all

Of each history, all that the verdict names has to be there: tasks, and the events that a line follows from.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLIGHTREC = os.environ.get("FLIGHTREC", os.path.join(ROOT, "build", "flightrec"))
MAKE = os.path.join(ROOT, "build", "tests", "rehearse", "make")
HEAD = ["fact arch x86_64", "fact boot_id b", "fact begin_ns 1", "fact wait_min_ns 1000000", "horizon 0 0", "horizon 1 0", "complete 1 1", "complete 4 1"]
LEAST_MISSES = 5
SOCKET = "s32:state u16:sport u16:dport u16:family u8:saddr[4] u8:daddr[4] u8:saddr_v6[16] u8:daddr_v6[16]"
TRACEPOINTS = {
    "tcp:tcp_retransmit_skb": SOCKET,
    "tcp:tcp_receive_reset": "u16:sport u16:dport u16:family u8:saddr[4] u8:daddr[4] u8:saddr_v6[16] u8:daddr_v6[16]",
    "tcp:tcp_send_reset": "s32:state u8:saddr[28] u8:daddr[28]",
    "skb:kfree_skb": 'u32:reason | "reason: %s", __print_symbolic(REC->reason, { 3, "NO_SOCKET" }, { 7, "SOCKET_RCVBUFF" }, { 9, "NETFILTER_DROP" })',
    "sock:sock_rcvqueue_full": "s32:rmem_alloc u32:truesize s32:sk_rcvbuf",
    "vmscan:mm_vmscan_memcg_reclaim_begin": "s32:order",
    "vmscan:mm_vmscan_memcg_reclaim_end": "u64:nr_reclaimed",
    "vmscan:mm_vmscan_direct_reclaim_begin": "s32:order",
    "vmscan:mm_vmscan_direct_reclaim_end": "u64:nr_reclaimed",
}


class Miss:
    def __init__(self, words):
        self.words, self.edits, self.cause, self.says, self.links, self.no_links = words, [], None, "", [], []


def read(path):
    lines, says, links, misses = [], [], [], []
    with open(path) as f:
        for line in f.read().split("\n"):
            if not line.strip() or line.startswith("#"):
                continue
            if line.startswith("= "):
                says.append(line[2:])
            elif line.startswith("~ "):
                links.append(line[2:])
            elif line.startswith("! "):
                misses.append(Miss(line[2:]))
            elif line.startswith("  => "):
                misses[-1].cause, _, misses[-1].says = line[5:].strip().partition(" ")
            elif line.startswith("  ~ "):
                misses[-1].links.append(line[4:])
            elif line.startswith("  !~ "):
                misses[-1].no_links.append(line[5:])
            elif line.startswith("  "):
                misses[-1].edits.append(line[2:])
            elif misses:
                sys.exit(f"{path}: not indented: {line}")
            else:
                lines.append(line)
    return lines, says, links, misses


def edited(lines, edits):
    for edit in edits:
        m = re.fullmatch(r"s/((?:[^/\\]|\\.)*)/((?:[^/\\]|\\.)*)/", edit)
        if m:
            now = [re.sub(m[1].replace(r"\/", "/"), m[2].replace(r"\/", "/"), line) for line in lines]
        elif re.fullmatch(r"d/.*/", edit):
            now = [line for line in lines if not re.search(edit[2:-1], line)]
        else:
            now = lines + [edit]
        if now == lines:
            sys.exit(f"changes nothing: {edit}")
        lines = now
    return lines


def unrolled(line):
    if line.startswith("tp "):
        return [f"{line} {TRACEPOINTS[line[3:]]}"]
    m = re.fullmatch(r"for (\w+) in (\d+)\.\.(\d+): (.*)", line)
    if not m:
        return [line]
    return [re.sub(r"\{([^}]*)\}", lambda x: str(eval(x[1], {m[1]: i})), m[4]) for i in range(int(m[2]), int(m[3]) + 1)]


def time_of(line):
    return float(line.split()[1])


def history(lines):
    out, events = list(HEAD), []
    for line in (one for line in lines for one in unrolled(line)):
        (events if line.startswith("event ") else out).append(line)
    for line in sorted(events, key=time_of):
        word = line.split()
        word[1] = str(round(float(word[1]) * 1000))
        out.append(" ".join(word))
    return out


def reported(text, directory):
    """What the report says of a history, as JSON (--json) and as a page (None)."""
    file = os.path.join(directory, "case.flight")
    if os.path.exists(file):
        os.unlink(file)
    subprocess.run([MAKE, file], input="\n".join(text) + "\n", text=True, check=True)
    out = {}
    for form in ("--json", None):
        p = subprocess.run([FLIGHTREC, "report", *([form] if form else []), file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if p.returncode:
            sys.exit(f"report {form or ''}: exit status {p.returncode}: {p.stderr}")
        out[form] = p.stdout
    return out


def judged(lines, directory):
    text = history(lines)
    out = reported(text, directory)
    verdict = json.loads(out["--json"])["verdict"]
    check_names(verdict, text)
    check_page(verdict, out[None])
    return verdict


def all_lines(verdict):
    return [verdict["headline"], *([verdict["cause"]] if verdict["cause"] else []), *verdict["chain"], *verdict["ruled_out"]]


def check_names(verdict, text):
    """Each task that is named is in the history, and so is an event of each kind that a line follows from."""
    names = set()
    for line in text:
        word = line.split()
        if word[0] == "process":
            names.add(f"{word[5]}/{word[1]}")
        elif word[0] == "thread":
            names.add(f"{word[4]}/{word[1]}")
        elif " child_comm=" in line:
            names.add("/".join(re.search(f"{key}=(\\S+)", line)[1] for key in ("child_comm", "child_pid")))
    events = {line.split()[3] for line in text if line.startswith("event ")}
    events |= {"states"} if any(line.startswith("state ") for line in text) else set()
    events |= {"counters"} if any(line.startswith("counter ") for line in text) else set()
    events |= {"kernel log"} if any(line.startswith("klog ") for line in text) else set()
    events |= {"incidents"} if any(line.startswith("incident ") for line in text) else set()
    recorded = events | {"mark_victim", "trigger", "processes"}  # that no victim was chosen is a finding, too
    for line in all_lines(verdict):
        for name in re.findall(r"(?<![\w/.:-])([\w.-]+/\d+)(?![\w/.:-])", line["text"]):
            if name not in names and not name.startswith(("kworker/", "postgres/")):
                sys.exit(f"no such task: {name}: {line['text']}")
        for event in filter(None, line["from"].split(", ")):
            if event not in recorded:
                sys.exit(f"no such event: {event}: {line['text']}")


def check_page(verdict, page):
    """The page says the same, before anything else, and in one line what was ruled out."""
    top = page.split("\n")[1:]
    flat = re.sub(r"\s+", " ", " ".join(top[:14]))
    for line in all_lines(verdict)[:1 + bool(verdict["cause"]) + len(verdict["chain"])]:
        if re.sub(r"\s+", " ", line["text"]) not in flat:
            sys.exit(f"not on the page's first lines: {line['text']}")
    said = [line for line in top if line.startswith("  ruled out: ")]
    if bool(said) != bool(verdict["ruled_out"]) or len(said) > 1 or any(line["text"] not in said[0] for line in verdict["ruled_out"]):
        sys.exit(f"ruled out, on the page: {said}")


def check_links(words, verdict, links):
    """Each of these matches a link, and none says what another one has said."""
    said = [link["text"] for link in verdict["chain"]]
    for want in links:
        if not any(re.search(want, text) for text in said):
            sys.exit(f"{words}: no link {want}: {said}")
    if len(set(said)) < len(said):
        sys.exit(f"{words}: a link is there twice: {said}")


def main(path):
    name = os.path.splitext(os.path.basename(path))[0]
    lines, says, links, misses = read(path)
    if len(misses) < LEAST_MISSES or not says:
        sys.exit(f"{path}: {len(misses)} near misses")
    with tempfile.TemporaryDirectory() as directory:
        verdict = judged(lines, directory)
        cause = verdict["cause"]
        if not cause or cause["id"] != name or not all(re.search(x, cause["text"]) for x in says):
            sys.exit(f"of the case: {cause}\n{json.dumps(verdict, indent=1)}")
        check_links("the case", verdict, links)
        for miss in misses:
            verdict = judged(edited(lines, miss.edits), directory)
            cause = verdict["cause"]
            if (cause and cause["id"]) != miss.cause or (cause and not re.search(miss.says, cause["text"])):
                sys.exit(f"{miss.words}: {cause}")
            check_links(miss.words, verdict, miss.links)
            for link in verdict["chain"]:
                for regex in miss.no_links:
                    if re.search(regex, link["text"]):
                        sys.exit(f"{miss.words}: {link}")


if __name__ == "__main__":
    main(sys.argv[1])
