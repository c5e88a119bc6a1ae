#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""what.py: the first sentence of the verdict, for each kind of trigger, of histories made by hand. None has a cause that is known."""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from case import history, judged, reported  # noqa: E402

TASKS = ["process 100 1 0 0 srv", "thread 101 100 1 work", "fact trigger_pid 100", "fact trigger_tid 101", "fact trigger_ts 2000000000"]
RUNS = ["event 1000000 0 sched_switch 0 next_pid=101 prev_prio=120 next_prio=120", "event 2000500 0 sched_switch 101 next_pid=0 prev_state=1"]
WAIT = "event 1999990 0 wait 101 id=202 arg0=0x5000 arg1=0x189 off=700000000 blocked=699000000 queued=1000000 state=1 waker=3"
STACK = ["event 900000 0 stack 0 stack_id=7 frames=0x1005,0x2005,0x3005,0x4005,0x4005,0x5005", "symbol 100 1000 100 _exit libc.so.6",
         "symbol 100 2000 100 exit libc.so.6", "symbol 100 3000 100 give_up srv", "symbol 100 4000 100 check srv", "symbol 100 5000 100 main srv"]

CASES = [
    ("crash", TASKS + RUNS + ["fact trigger_sig 11", "fact trigger_code 1", "event 2000000 0 crash 101 sig=11 code=1"],
     r"^work/101 died of SIGSEGV at the trigger; it ran on CPU 0, for 1.00 s$", "trigger, sched_switch"),
    ("exit", TASKS + RUNS + ["fact trigger_status 2", "event 2000000 0 sched_process_exit 101 exit_code=512 group_dead=1"],
     r"^work/101 ended its process with exit status 2 at .*; it ran on CPU 0, for 1.00 s$", "trigger, sched_switch"),
    ("exit", TASKS + RUNS + ["fact trigger_status 2", "event 1999999 0 failure 101 status=2 ip=0x1005 ustack_id=7", *STACK,
                             "event 2000000 0 sched_process_exit 101 exit_code=512 group_dead=1"],
     r"^work/101 ended its process with exit status 2 at the trigger, in give_up < check < main; it ran on CPU 0", "trigger, failure, sched_switch"),
    ("exit", TASKS + ["fact trigger_status 0", "event 1999999 0 failure 101 status=0 ip=0x1005 ustack_id=7", "event 2000000 0 sched_process_exit 101 group_dead=1",
                      *(line.replace("give_up", "__libc_start_call_main") for line in STACK)],
     r"^work/101 ended its process with exit status 0 at the trigger, by a return from main\(\)$", "trigger, failure"),
    ("crash", TASKS + ["fact trigger_sig 6", "fact trigger_code -6", "event 2000000 0 crash 101 sig=6 code=-6 ustack_id=7", *STACK],
     r"^work/101 died of SIGABRT \(SI_TKILL\) at the trigger, in give_up < check < main$", "trigger, crash"),
    # it is delivered as SIGKILL, whose code is not SIGALRM's
    ("crash", TASKS + ["fact trigger_sig 14", "fact trigger_code 0", "event 2000000 0 crash 101 sig=14"], r"^work/101 died of SIGALRM at the trigger$", "trigger"),
    ("oom", TASKS + ["event 2000000 0 mark_victim 7 target_pid=7"], r"^the out-of-memory killer chose work/101 at ", "trigger"),
    ("kernel", ["fact trigger_ts 2000000000", "fact trigger_text BUG: soft lockup", "event 2000000 0 kernel_report 0 text=BUG:~soft~lockup"],
     r"^the kernel reported at .*: BUG: soft lockup$", "trigger"),
    ("hung", TASKS + RUNS + [WAIT, "fact trigger_value_ns 699990000", "event 2000000 0 hung 101 target_pid=101 value=699990000 limit=500000000 state=2"],
     r"^work/101 did not run for 700 ms, from 700 ms before the trigger on: asleep \(S\) for 699 ms in futex on futex 0x5000$", "trigger, wait"),
    ("asleep", TASKS + RUNS + ["fact trigger_value_ns 699990000", "event 2700490 0 asleep 7 target_pid=101 value=699990000 limit=500000000 id=202 state=1",
                               "fact trigger_ts 2700490000"], r"^work/101 did not run for 700 ms, from 700 ms before the trigger on", "trigger"),
    ("busy", TASKS + RUNS[:1] + ["fact trigger_value_ns 999990000", "event 2000000 0 busy 7 target_pid=101 value=999990000 limit=500000000 ran=900000000"],
     r"^work/101 did not sleep for 1.00 s, from 1.00 s before the trigger on$", "trigger"),
    ("rate", TASKS + RUNS[:1] + ["fact trigger_rate fork", "fact trigger_cnt 501", "fact trigger_limit_cnt 500", "fact trigger_value_ns 930000000",
                                "event 2000000 0 rate 101 target_pid=101 value=501 within=930000000 limit=500 what=fork"],
     r"^501 tasks were made within 930 ms until the trigger, and a rule allows 500; the last was of work/101$", "trigger"),
    ("latency", TASKS + RUNS + [WAIT, "fact trigger_latency syscall", "fact trigger_what 202", "fact trigger_value_ns 700100000",
                               "event 2000000 0 latency 101 target_pid=101 value=700100000 limit=500000000 what=syscall id=202"],
     r"^work/101 was in futex for 700 ms, from 700 ms before the trigger on: asleep \(S\) for 699 ms in futex on futex 0x5000$", "trigger, wait"),
    # a call that waited again and again at one place
    ("latency", TASKS + RUNS + [WAIT.replace("1999990", at).replace("700000000", "290000000").replace("699000000", took) + " kstack_id=9" for at, took in
                                (("1500000", "289000000"), ("1990000", "209000000"))] +
     ["event 900000 0 stack 0 stack_id=9 frames=0xffffffff81000010", "fact trigger_latency syscall", "fact trigger_what 202", "fact trigger_value_ns 800000000",
      "event 2000000 0 latency 101 target_pid=101 value=800000000 limit=500000000 what=syscall id=202"],
     r"^work/101 was in futex for 800 ms, from 800 ms before the trigger on: asleep \(S\) for 498 ms in futex on futex 0x5000, 2 times or more$", "trigger, wait"),
    ("latency", TASKS + RUNS + [WAIT, "fact trigger_latency span", "fact trigger_span request", "fact trigger_what 0", "fact trigger_value_ns 700100000",
                               "event 2000000 0 latency 101 target_pid=101 value=700100000 limit=500000000 what=span id=0"],
     r"^span request took 700 ms, from 700 ms before the trigger on; work/101 ended it: asleep \(S\) for 699 ms in futex on futex 0x5000$", "trigger, wait"),
    # another thread may have begun it: what the one that ended it did meanwhile is not told
    ("latency", TASKS + RUNS + [WAIT, "fact trigger_latency span", "fact trigger_span request", "fact trigger_what 7", "fact trigger_value_ns 700100000",
                               "event 2000000 0 latency 101 target_pid=101 value=700100000 limit=500000000 what=span id=7"],
     r"^span request of id 7 took 700 ms, from 700 ms before the trigger on; work/101 ended it$", "trigger"),
    # it was woken twice: it ran and slept in between, and no switch says so
    ("latency", TASKS + ["event 1000000 0 sched_switch 101 next_pid=0 prev_state=1", "event 1991130 0 sched_waking 0 target_pid=101 waker=3",
                         "event 1999900 0 sched_waking 0 target_pid=101 waker=3", "event 2000000 0 sched_switch 0 next_pid=101",
                         "fact trigger_latency wakeup", "fact trigger_value_ns 8870000",
                         "event 2000000 0 latency 101 target_pid=101 value=8870000 limit=5000000 what=wakeup"],
     r"^work/101 was seen to run again only 8.87 ms after .*; switches of it are missing in between, so how long it waited is not known$",
     "trigger, sched_switch, sched_waking"),
    ("latency", TASKS + ["event 1000000 0 sched_switch 101 next_pid=0 prev_state=1", "event 1991130 0 sched_waking 0 target_pid=101 waker=3",
                         "event 2000000 0 sched_switch 0 next_pid=101", "fact trigger_latency wakeup", "fact trigger_value_ns 8870000",
                         "event 2000000 0 latency 101 target_pid=101 value=8870000 limit=5000000 what=wakeup"],
     r"^work/101 waited 8.87 ms for a CPU after it had been woken at", "trigger, sched_switch, sched_waking"),
    ("latency", TASKS + ["fact trigger_latency softirq", "fact trigger_what 3", "fact trigger_value_ns 4000000",
                        "event 2000000 0 latency 101 target_pid=101 value=4000000 limit=3000000 what=softirq id=3"],
     r"^softirq NET_RX took 4 ms, from 4 ms before the trigger on, on top of work/101$", "trigger"),
    ("latency", TASKS + ["fact trigger_latency block", "fact trigger_what 266338304", "fact trigger_value_ns 40000000",
                        "event 2000000 0 latency 101 target_pid=101 value=40000000 limit=3000000 what=block id=266338304"],
     r"^a request to block device 254,0 took 40 ms, from 40 ms before the trigger on$", "trigger"),
    ("event", TASKS + RUNS + ["fact trigger_rule event:event == signal_deliver && sig == SIGALRM"],
     r"^an event that a rule names came at .*, from work/101: event:event == signal_deliver && sig == SIGALRM; it ran on CPU 0, for 1.00 s$", "trigger, sched_switch"),
    ("psi", RUNS + ["fact trigger_rule psi:cpu:70%", "fact trigger_ts 2000000000"], r"as rule psi:cpu:70% says; it is about no task$", "trigger"),
    ("command", RUNS, r"^no trigger was pulled: the snapshot was taken at .* \(command\)$", ""),
    (None, RUNS, r"^no trigger was pulled: the snapshot was taken at [^(]*$", ""),
]

RARE = ["tcp:tcp_retransmit_skb", "tcp:tcp_receive_reset", "skb:kfree_skb", "sock:sock_rcvqueue_full", "vmscan:mm_vmscan_direct_reclaim_begin",
        "vmscan:mm_vmscan_memcg_reclaim_begin"]
# what stands on the page
PAGES = [
    # names are escaped once
    (["fact trigger_reason psi", "fact trigger_rule psi:cpu:40%", "fact trigger_ts 2000000000", "process 100 1 0 0 d\\xb", "process 200 1 0 0 log",
      "event 1000000 0 sched_switch 0 next_pid=100", "event 1000000 1 sched_switch 0 next_pid=200"],
     r"who had them: (log \(1 task\) 1.00 s, )?d\\x5cxb \(1 task\) 1.00 s"),
    # of many kinds those with most events, and how many others there were
    (RUNS + TASKS + [f"tp {name}" for name in RARE] +
     [f"event {1500000 + 10 * i} 0 tp:tcp:tcp_retransmit_skb 101 state=1 sport=4000 dport=80 family=2 saddr=10,0,0,1 daddr=10,0,0,{i}" for i in range(1)] +
     [f"event {1510000 + 10 * i} 0 tp:tcp:tcp_receive_reset 101 sport=4000 dport=80 family=2 saddr=10,0,0,1 daddr=10,0,0,{i}" for i in range(2)] +
     [f"event {1520000 + 10 * i} 0 tp:skb:kfree_skb 101 reason=9" for i in range(5)] +
     [f"event {1530000 + 10 * i} 0 tp:sock:sock_rcvqueue_full 101 rmem_alloc={i}" for i in range(4)] +
     [f"event {1540000 + 10 * i} 0 tp:vmscan:mm_vmscan_direct_reclaim_begin 101 order=0" for i in range(3)] +
     ["event 1550000 0 tp:vmscan:mm_vmscan_memcg_reclaim_begin 101 order=0"],
     r"rare events of that time: kfree_skb 5 \(the last: NETFILTER_DROP\), sock_rcvqueue_full 4 .*, mm_vmscan_direct_reclaim_begin 3 \(the last: work\), "
     r"tcp_receive_reset 2 \(the last: 10\.0\.0\.1:4000 -> 10\.0\.0\.1:80\), 2 others"),
]


def main():
    with tempfile.TemporaryDirectory() as directory:
        for reason, lines, want, events in CASES:
            verdict = judged(lines + ([f"fact trigger_reason {reason}"] if reason else []), directory)
            what = verdict["headline"]
            if not re.search(want, what["text"]) or what["from"] != events or verdict["cause"]:
                sys.exit(f"{reason}: expected {want!r} from {events!r}, and no cause; saw {verdict}")
        lines = [line.replace("work", r"d\xb") for line in TASKS] + ["fact trigger_reason crash", "fact trigger_sig 11", "event 2000000 0 crash 101 sig=11"]
        out = reported(history(lines), directory)
        if r"d\x5cxb/101 died" not in out[None]:
            sys.exit(f"a name is escaped on the page; saw {out[None][:2000]}")
        if not json.loads(out["--json"])["verdict"]["headline"]["text"].startswith(r"d\x5cxb/101 died"):
            sys.exit(f"a name is escaped once in JSON; saw {out['--json'][:2000]}")
        for lines, want in PAGES:
            page = re.sub(r"\s+", " ", reported(history(lines), directory)[None])
            if not re.search(want, page):
                sys.exit(f"expected {want!r} on the page; saw {page[:2000]}")


if __name__ == "__main__":
    main()
