# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the programs of build/flightrec.bpf.o, instruction by instruction, without a kernel, and counts what they execute.

The kernel's part is the smallest that lets a program write its record: maps are memory, the clock goes on by a microsecond each
time it is asked, whatever else lies in the kernel reads as zero. So the counts depend on the sources and on clang alone."""

import json
import struct
import subprocess
import tempfile

M64 = (1 << 64) - 1
M32 = (1 << 32) - 1
SIZES = {0x00: 4, 0x08: 2, 0x10: 1, 0x18: 8}
STACK, CTX, FIRST = 1, 2, 16  # regions: an address is region << 32 | offset; region 0 and unknown ones are the kernel's
FRAME = 512


def signed(v, bits):
    return v - (1 << bits) if v >> (bits - 1) else v


def elf_parts(data):
    """Names and contents of sections, symbols (name, value, section), relocations by section."""
    off, = struct.unpack_from("<Q", data, 0x28)
    entsize, cnt, strndx = struct.unpack_from("<HHH", data, 0x3A)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, off + i * entsize) for i in range(cnt)]
    body = [data[h[4]:h[4] + h[5]] if h[1] != 8 else bytes(h[5]) for h in heads]
    text = lambda tab, at: tab[at:tab.index(b"\0", at)].decode()
    names = [text(body[strndx], h[0]) for h in heads]
    symbols, relocs = [], {}
    for h, b in zip(heads, body):
        if h[1] == 2:
            for name, _info, _other, shndx, value, _size in struct.iter_unpack("<IBBHQQ", b):
                symbols.append((text(body[h[6]], name), value, shndx))
    for h, b in zip(heads, body):
        if h[1] == 9:
            relocs[h[7]] = {at // 8: (symbols[info >> 32], info & M32) for at, info in struct.iter_unpack("<QQ", b)}
    return names, body, symbols, relocs


class Object:
    """The object's sections in memory, its maps, and what its programs call."""

    def __init__(self, path):
        data = open(path, "rb").read()
        self.names, body, self.symbols, self.relocs = elf_parts(data)
        self.memory = {STACK: bytearray(FRAME * 10), CTX: bytearray(64)}
        self.memory.update({FIRST + i: bytearray(b) for i, b in enumerate(body)})
        self.code = {}
        self.maps = {}      # address of a map -> function of the key's address
        self.clock_ns = 1 << 40
        self.cnt = self.calls = self.atomics = 0
        btf = json.loads(subprocess.run(["bpftool", "-j", "btf", "dump", "file", path], stdout=subprocess.PIPE, check=True).stdout)
        self.structs = {t["name"]: t for t in btf["types"] if t["kind"] == "STRUCT"}

        self.task = self.add_region(bytes(4 * PAGE_SZ))  # the current one, of a process that is not ours
        for member in ("pid", "tgid"):
            self.store(self.task + self.member("task_struct", member), 4, 100)

    def address(self, name):
        value, shndx = next((v, s) for n, v, s in self.symbols if n == name)
        return FIRST + shndx << 32 | value

    def member(self, struct_name, name):
        return next(m["bits_offset"] // 8 for m in self.structs[struct_name]["members"] if m["name"] == name)

    def add_region(self, content):
        nr = max(self.memory) + 1
        self.memory[nr] = bytearray(content)
        return nr << 32

    # ---- memory ----

    def load(self, addr, sz):
        mem, off = self.memory.get(addr >> 32), addr & M32
        if mem is None:
            return 0
        assert off + sz <= len(mem), f"read behind region {addr >> 32}: {off}"
        return int.from_bytes(mem[off:off + sz], "little")

    def store(self, addr, sz, v):
        mem, off = self.memory.get(addr >> 32), addr & M32
        assert mem is not None and off + sz <= len(mem), f"write outside of memory: {addr:#x}"
        mem[off:off + sz] = (v & ((1 << 8 * sz) - 1)).to_bytes(sz, "little")

    # ---- helpers ----

    def call(self, nr, r):
        self.calls += 1
        if nr == 1:
            look = self.maps.get(r[1])
            assert look, f"a map that is not there: {r[1]:#x}"
            return look(self.load(r[2], 4))
        if nr in (5, 125):  # ktime_get_ns, ktime_get_boot_ns
            self.clock_ns += 1000
            return self.clock_ns
        if nr == 14:
            return 100 << 32 | 100
        if nr in (35, 158):  # get_current_task, get_current_task_btf
            return self.task
        if nr in (4, 112, 113):  # probe_read: FR_FORGET() reads a variable onto itself
            for i in range(r[2]):
                self.store(r[1] + i, 1, self.load(r[3] + i, 1))
        if nr == 114:  # probe_read_user_str
            for i in range(PATH_SZ):
                self.store(r[1] + i, 1, ord("p") if i < PATH_SZ - 1 else 0)
            return PATH_SZ
        return 0  # the CPU's number, a comm, ...

    # ---- instructions ----

    def decode(self, sec):
        if sec not in self.code:
            raw = self.memory[FIRST + sec]
            self.code[sec] = [(op, regs & 15, regs >> 4, off, imm) for op, regs, off, imm in struct.iter_unpack("<BBhi", raw)]
        return self.code[sec]

    def run(self, name, args):
        """Run a program on arguments as a tp_btf program has them. Returns (instructions, calls of helpers, atomics)."""
        self.cnt = self.calls = self.atomics = 0
        self.memory[CTX][:] = b"".join(struct.pack("<Q", a & M64) for a in args).ljust(64, b"\0")
        at = self.address(name)
        self.function((at >> 32) - FIRST, (at & M32) // 8, [0, CTX << 32, 0, 0, 0, 0, 0, 0, 0, 0, 0], 1)
        return self.cnt, self.calls, self.atomics

    def function(self, sec, pc, r, depth):
        assert depth < 10, "calls itself"
        code, relocs = self.decode(sec), self.relocs.get(sec, {})
        r = r[:10] + [STACK << 32 | FRAME * depth]
        while True:
            op, dst, src, off, imm = code[pc]
            self.cnt += 1
            kind = op & 7
            if op == 0x18:
                r[dst] = imm & M32 | (code[pc + 1][4] & M32) << 32
                if pc in relocs:
                    (_, value, shndx), _ = relocs[pc]
                    r[dst] = (FIRST + shndx << 32) + value + imm
                pc += 1
            elif kind == 1:
                r[dst] = self.load(r[src] + off & M64, SIZES[op & 0x18])
            elif kind == 2:
                self.store(r[dst] + off & M64, SIZES[op & 0x18], imm)
            elif kind == 3:
                self.stx(op, r, r[dst] + off & M64, src, imm)
            elif kind in (4, 7):
                r[dst] = alu(op, r[dst], r[src] if op & 8 else imm, imm)
            elif op == 0x95:
                return r[0]
            elif op == 0x85:
                if src == 1 and pc in relocs and not relocs[pc][0][2]:
                    r[0] = r[1]  # the kernel's own function that is called: bpf_rdonly_cast(), a move
                elif src == 1:
                    (_, value, shndx), _ = relocs.get(pc, ((None, (pc + imm + 1) * 8, sec), 0))
                    at = (value // 8 + imm + 1) if pc in relocs else pc + imm + 1
                    r[0] = self.function(shndx, at, r, depth + 1)
                else:
                    r[0] = self.call(imm, r) & M64
            elif jumps(op, r[dst], r[src] if op & 8 else imm):
                pc += off
            pc += 1

    def stx(self, op, r, addr, src, imm):
        sz = SIZES[op & 0x18]
        if op & 0xE0 != 0xC0:
            return self.store(addr, sz, r[src])
        self.atomics += 1
        was = self.load(addr, sz)
        if imm == 0xF1:
            if was == r[0]:
                self.store(addr, sz, r[src])
            r[0] = was
            return None
        ops = {0x00: was + r[src], 0x40: was | r[src], 0x50: was & r[src], 0xA0: was ^ r[src], 0xE0: r[src]}
        self.store(addr, sz, ops[imm & 0xF0])
        if imm & 1:
            r[src] = was
        return None


def alu(op, a, b, imm):
    bits = 64 if op & 7 == 7 else 32
    mask = (1 << bits) - 1
    a, b, code = a & mask, b & mask, op & 0xF0
    if code == 0xD0:
        v = a & ((1 << imm) - 1)
        return int.from_bytes(v.to_bytes(imm // 8, "little"), "big") if op & 8 else v
    if code == 0xC0:
        return (signed(a, bits) >> (b & bits - 1)) & mask
    return {
        0x00: lambda: a + b, 0x10: lambda: a - b, 0x20: lambda: a * b, 0x30: lambda: a // b if b else 0, 0x40: lambda: a | b,
        0x50: lambda: a & b, 0x60: lambda: a << (b & bits - 1), 0x70: lambda: a >> (b & bits - 1), 0x80: lambda: -a,
        0x90: lambda: a % b if b else a, 0xA0: lambda: a ^ b, 0xB0: lambda: b,
    }[code]() & mask


def jumps(op, a, b):
    bits = 64 if op & 7 == 5 else 32
    mask = (1 << bits) - 1
    a, b, code = a & mask, b & mask, op & 0xF0
    sa, sb = signed(a, bits), signed(b, bits)
    return {
        0x00: True, 0x10: a == b, 0x20: a > b, 0x30: a >= b, 0x40: a & b != 0, 0x50: a != b, 0x60: sa > sb, 0x70: sa >= sb,
        0xA0: a < b, 0xB0: a <= b, 0xC0: sa < sb, 0xD0: sa <= sb,
    }[code]


# ---- the programs, each event of which writes a record ----

SLOTS, PAGES = 4, 2
PAGE_SZ = 4096
EVENTS = 700  # over two laps of the shortest records
PROGRAMS = {
    # name: arguments; system call 0 takes as many arguments as set_up() says
    "sys_enter": (1 << 50, 0), "sys_exit": (1 << 50, 0), "page_fault_user": (0x1000, 1 << 50, 4),
    "sched_switch": (0, 1 << 50, 1 << 50, 1), "sched_waking": (1 << 50,), "sched_wakeup_new": (1 << 50,),
    "sched_migrate_task": (1 << 50, 1), "irq_handler_entry": (1, 1 << 50), "irq_handler_exit": (1, 1 << 50, 1),
    "softirq_entry": (1,), "softirq_exit": (1,),
}
ENDS_A_CALL = "sys_exit_near"  # sys_exit, each behind the sys_enter that it is near
# Where waits are recorded, and this one is short: two tasks that switch, of which one wakes the other.
WITH_WAITS = {"sched_switch_waits": "sched_switch", "sched_waking_waits": "sched_waking"}
ARG_CNT = 3
# A call that is given a path, of 22 bytes with its NUL: its beginning, and the path behind it.
GIVES_A_PATH, PATH_SZ, HAS_TEXT = "sys_enter_path", 22, 0x80
# Where cgroups are thinned, and this one is within its share.
WITH_THIN = {"sys_enter_thin": "sys_enter", "sys_exit_thin": "sys_exit"}
GIVEN = {40: "sys_enter", 42: "sys_path", 43: "sys_unread"}


def set_up(path, fresh):
    """The object as after loading, with one CPU's rings, and the main one of them. fresh: the bytes of a ring's map."""
    obj = Object(path)

    def put(name, off, fmt, *values):
        obj.store(obj.address(name) + off, struct.calcsize(fmt), int.from_bytes(struct.pack(fmt, *values), "little"))

    for tier in range(5):
        put("fr_geometry", tier * 8, "<II", SLOTS, PAGES)
    put("fr_generation", 0, "<I", 1)
    put("fr_grain_ns", 0, "<Q", 10000)
    put("fr_arg_cnt", 0, "<B", ARG_CNT)
    # a CPU's preempt count is known, and loaded
    put("fr_can_cast", 0, "<B", 1)
    put("fr_preempt_at", 0, "<Q", obj.add_region(bytes(8)))
    put("fr_switch_tells_state", 0, "<B", 1)
    for event in range(256):
        put("fr_session", obj.member("fr_session", "enable") + 4 * event, "<I", 1)
    rings = {}
    for name in ("fr_main", "fr_life", "fr_stack", "fr_wait"):
        ring = rings[name] = obj.add_region(fresh)
        obj.maps[obj.address(name)] = lambda key, ring=ring: ring if key == 0 else 0
        obj.maps[ring] = lambda nr, ring=ring: ring + nr * PAGE_SZ if nr * PAGE_SZ < len(fresh) else 0
    return obj, rings["fr_main"]


def ring_program(program, *args):
    return subprocess.run([program, str(SLOTS), str(PAGES), *args], stdout=subprocess.PIPE, check=True).stdout


def written(program, obj, ring):
    with tempfile.NamedTemporaryFile() as f:
        f.write(obj.memory[ring >> 32])
        f.flush()
        return int(ring_program(program, f.name))


def let_wait(obj):
    """As where waits are recorded. Returns the addresses of two tasks."""
    obj.store(obj.address("fr_wait_min_ns"), 8, 1 << 60)
    table = obj.add_region(bytes(PAGE_SZ))
    obj.maps[obj.address("fr_waits")] = lambda key: table + key * 32
    for none in ("fr_wait_looks_of", "fr_wait_cpu"):  # who is new is looked at when it leaves: nothing is found here
        obj.maps[obj.address(none)] = lambda key: 0
    tasks = []
    for pid in (1, 2):
        tasks.append(obj.add_region(bytes(PAGE_SZ)))
        obj.store(tasks[-1] + obj.member("task_struct", "pid"), 4, pid)
    return tasks


def let_thin(obj):
    """As with --thin of a ring that holds much more than that."""
    obj.store(obj.address("fr_thin_conf"), 8, 1 << 60)
    obj.store(obj.address("fr_thin_conf") + 8, 8, 1)
    obj.store(obj.address("fr_thin_conf") + 16, 4, 1 << 30)
    accounts, calls = obj.add_region(bytes(8 * PAGE_SZ)), obj.add_region(bytes(PAGE_SZ))
    obj.maps[obj.address("fr_thins")] = lambda key: accounts
    obj.maps[obj.address("fr_thin_open")] = lambda key: calls
    return True


def record(obj, name, args):
    """Its run, and how many records there are by it."""
    if name in WITH_THIN:
        obj.thins = getattr(obj, "thins", None) or let_thin(obj)
        return obj.run(WITH_THIN[name], args), 1
    if name in WITH_WAITS:
        a, b = obj.tasks = getattr(obj, "tasks", None) or let_wait(obj)
        obj.run("sched_switch", (0, a, b, 1))
        if name == "sched_switch_waits":
            return obj.run("sched_switch", (0, b, a, 1)), 2
        return obj.run("sched_waking", (a,)), 2
    if name == GIVES_A_PATH:
        if not hasattr(obj, "regs"):
            obj.regs = obj.add_region(bytes(PAGE_SZ))
            obj.store(obj.regs + obj.member("pt_regs", "si"), 8, obj.add_region(bytes(PAGE_SZ)))
            obj.store(obj.address("fr_arg_cnt"), 1, ARG_CNT | HAS_TEXT)
            obj.store(obj.address("fr_call_texts"), 1, 2)
            obj.store(obj.address("fr_call_has_texts"), 1, 1)
            given = obj.add_region(bytes(PAGE_SZ))
            obj.maps[obj.address("fr_call_given")] = lambda key: given
        return obj.run("sys_enter", (obj.regs, 0)), 2
    if name != ENDS_A_CALL:
        return obj.run(name, args), 1
    obj.run("sys_enter", PROGRAMS["sys_enter"])
    return obj.run("sys_exit", args), 2


def check_texts(program, obj, ring):
    """What a call is given goes into the ring if that is switched on, with the call or without it; and it is lost while it is read for
    another task, to which the buffer belongs. written + lost + filtered = runs + texts."""
    places = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
    place = {name: ring + int(at) for name, at in (p.split("=") for p in places.split())}
    numbers = lambda: [obj.load(place[name], 8) for name in ("texts", "retry", "off")]
    events = {name: obj.address("fr_session") + obj.member("fr_session", "enable") + 4 * nr for nr, name in GIVEN.items()}
    for on, taken, want in (({"sys_enter", "sys_path"}, 0, (1, 0, 0)), ({"sys_enter", "sys_unread"}, 0, (0, 0, 0)), ({"sys_enter"}, 0, (0, 0, 0)),
                            ({"sys_path"}, 0, (1, 0, 1)), ({"sys_unread"}, 0, (0, 0, 1)), (set(), 0, (0, 0, 1)),
                            ({"sys_enter", "sys_path"}, 7, (1, 1, 0)), ({"sys_path"}, 7, (1, 1, 1))):
        for name, at in events.items():
            obj.store(at, 4, name in on)
        obj.store(place["reading"], 8, taken)
        before = numbers()
        obj.run("sys_enter", (obj.regs, 0))
        got = tuple(b - a for a, b in zip(before, numbers()))
        assert got == want, f"on: {on}, read for {taken}: texts, retry, off: {got}, not {want}"
        assert obj.load(place["reading"], 8) == taken, f"read for {taken}, and then for {obj.load(place['reading'], 8)}"


def code_sizes(path):
    """{section: instructions} of all programs, cold paths included, as compiled; functions that are verified by themselves: .text."""
    names, body, _symbols, _relocs = elf_parts(open(path, "rb").read())
    return {name: len(code) // 8 for name, code in zip(names, body) if name == ".text" or name and name[0] != "." and name != "license"}


def measure(path, program):
    """Figures of each program: the usual event, which is the median of EVENTS, and the mean, in which pages and laps begin.
    program: tests/gate/ring, built."""
    fresh = ring_program(program)
    figures = {}
    for name, args in [*PROGRAMS.items(), (ENDS_A_CALL, PROGRAMS["sys_exit"]), (GIVES_A_PATH, ()), *((name, ()) for name in WITH_WAITS),
                       *((name, PROGRAMS[of]) for name, of in WITH_THIN.items())]:
        obj, ring = set_up(path, fresh)
        runs, records = zip(*(record(obj, name, args) for _ in range(EVENTS)))
        cnt = written(program, obj, ring)
        assert cnt == sum(records), f"{name}: {sum(records)} events left {cnt} records"
        if name == GIVES_A_PATH:
            check_texts(program, obj, ring)
        usual = sorted(runs)[EVENTS // 2]
        figures[f"{name}.instructions"], figures[f"{name}.helpers"], figures[f"{name}.atomics"] = usual
        figures[f"{name}.mean"] = sum(r[0] for r in runs) / EVENTS
    sizes = code_sizes(path)
    figures.update({f"{name}.object": sizes[f"tp_btf/{name}"] for name in PROGRAMS})
    figures["functions.object"] = sizes[".text"]
    return figures
