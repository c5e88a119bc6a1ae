# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The clock's shared word on many CPUs, simulated: bpf/clock.h's steps, and one cache line that one CPU at a time gets.

Each CPU records one event behind the other, as fast as it can or so many a second. The word's line is held by one CPU that may
write it, or by several that may read it; whoever needs it otherwise waits in a queue, and each handing over takes transfer_ns.
A compare-and-exchange takes the line for itself whether it succeeds or not.
"""
import heapq

TRIES = 8
EVENT, READ, CAS = range(3)


class Cpu:
    """next: when its next event begins, or the one that it is at (busy) began; version: of what it has in the heap."""

    __slots__ = ("next", "version", "seen", "now", "tries", "events", "stalled", "busy")

    def __init__(self, at):
        self.next, self.version, self.seen, self.now, self.tries = at, 0, 0.0, 0.0, 0
        self.events, self.stalled, self.busy = 0, 0.0, False


class Word:
    """event_ns: a CPU's time for an event without the word; every_ns: between the begins of two, event_ns or more."""

    def __init__(self, cpus, grain_ns, event_ns, clock_ns, transfer_ns, every_ns=0):
        self.grain, self.event, self.clock, self.transfer = grain_ns, event_ns, clock_ns, transfer_ns
        self.every = max(every_ns, event_ns)
        self.word, self.free_at, self.holders, self.owner = 0.0, 0.0, set(), None
        self.moves = self.handed = 0
        self.heap = []
        self.cpu = [Cpu(self.every * (i + 1) / cpus) for i in range(cpus)]
        for i, c in enumerate(self.cpu):
            self.push(c.next, i, EVENT)

    def push(self, at, i, what):
        heapq.heappush(self.heap, (at, i, self.cpu[i].version, what))

    def ask(self, at, i, what):
        """Queue for the line; what goes on when it is there."""
        start = max(at, self.free_at)
        self.free_at = start + self.transfer
        self.handed += 1
        self.push(self.free_at, i, what)

    def invalidate(self, at, but):
        """Who has the line and is between two looks at it finds at its next event that it is gone."""
        for i in self.holders:
            c = self.cpu[i]
            if i == but or c.busy:
                continue
            self.catch_up(c, at)
            c.version += 1
            self.push(c.next, i, EVENT)
        self.holders = {but}

    def catch_up(self, c, at):
        """Events that found the word in the CPU's own cache, and had nothing to do."""
        if c.next < at:
            cnt = -int(-(at - c.next) // self.every)
            c.events += cnt
            c.next += cnt * self.every

    def end(self, at, i):
        """The event is recorded; then the next one that has to do more than to look at its own copy."""
        c = self.cpu[i]
        c.busy = False
        c.events += 1
        c.stalled += at - (c.next + self.clock)
        c.next = max(c.next + self.every, at + self.event - self.clock)
        idle = c.seen + self.grain - self.clock - c.next if i in self.holders else -1
        c.version += 1
        self.push(c.next + (int(idle // self.every) + 1 if idle >= 0 else 0) * self.every, i, EVENT)

    def begin(self, at, i):
        c = self.cpu[i]
        self.catch_up(c, at - self.every / 2)
        c.busy, c.tries = True, 0
        if i in self.holders:
            self.decide(at, i)
        else:
            self.ask(at, i, READ)

    def decide(self, at, i):
        """The word is here, as the CPU sees it at this time; the clock is read next."""
        c = self.cpu[i]
        c.seen = self.word
        c.now = at + self.clock
        self.move(c.now, i)

    def move(self, at, i):
        c = self.cpu[i]
        if c.now <= c.seen or c.now - c.seen <= self.grain or c.tries == TRIES:
            self.end(at, i)
        elif self.owner == i and self.holders == {i}:
            self.exchange(at, i)
        else:
            self.ask(at, i, CAS)

    def exchange(self, at, i):
        c = self.cpu[i]
        self.invalidate(at, i)
        self.owner = i
        c.tries += 1
        if self.word == c.seen:
            self.word = c.seen = c.now
            self.moves += 1
            self.end(at, i)
            return
        c.seen = self.word
        c.now = at + self.clock
        self.move(c.now, i)

    def run(self, until):
        while self.heap and self.heap[0][0] < until:
            at, i, version, what = heapq.heappop(self.heap)
            if version != self.cpu[i].version:
                continue
            if what == EVENT:
                self.begin(at, i)
            elif what == READ:
                self.holders.add(i)
                self.owner = None if len(self.holders) > 1 else i
                self.decide(at, i)
            else:
                self.exchange(at, i)
        for c in self.cpu:
            if not c.busy:
                self.catch_up(c, until)
        return self


def cost(cpus, grain_ns, event_ns, clock_ns, transfer_ns, every_ns=0):
    """ns that the word adds to an event, the mean; and how often a second its line is handed over."""
    every = max(every_ns, event_ns)
    # long enough for many moves of the word, and for all CPUs to have queued for it several times
    until = max((60 if cpus <= 8 else 20) * grain_ns, (3000 if cpus <= 8 else 400) * event_ns, 40 * every, 12 * cpus * transfer_ns)
    w = Word(cpus, grain_ns, event_ns, clock_ns, transfer_ns, every_ns).run(until)
    return sum(c.stalled for c in w.cpu) / max(1, sum(c.events for c in w.cpu)), w.handed / until * 1e9


def fitted(event_ns, clock_ns, grain_ns, added_ns):
    """The transfer with which two CPUs, flat out with this grain, lose what was measured."""
    low, high = 0.0, 400.0
    for _ in range(30):
        middle = (low + high) / 2
        if cost(2, grain_ns, event_ns, clock_ns, middle)[0] < added_ns:
            low = middle
        else:
            high = middle
    return middle
