#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
stacks.py OBJECT...: how much of the stack the programs of BPF objects take with all that they call, at most. Before 6.13 the verifier
refuses a chain of calls whose frames, each in steps of 32 bytes, take more than 512, or that is more than 8 deep; later kernels,
on which most tests run, give each function a stack of its own (e00931c02568), and refuse neither as soon.
"""
import functools
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gate"))
import bpf  # noqa: E402

STACK, DEEP, STEP = 512, 8, 32
SYMTAB, FUNC = 2, 2
FP, CALL, MOV64, ADD64 = 10, 0x85, 0xBF, 0x07
LOADS, STORES = (1,), (2, 3)  # classes LDX, and ST and STX


def functions(data):
    """(section, name, first instruction, how many) of each. Behind some there are others that the linker dropped: nobody calls those."""
    off, = struct.unpack_from("<Q", data, 0x28)
    entsize, cnt, _ = struct.unpack_from("<HHH", data, 0x3A)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, off + i * entsize) for i in range(cnt)]
    symtab = next(h for h in heads if h[1] == SYMTAB)
    texts = heads[symtab[6]]
    for name, info, _, sec, value, sz in struct.iter_unpack("<IBBHQQ", data[symtab[4]:symtab[4] + symtab[5]]):
        if info & 15 == FUNC and sz:
            at = texts[4] + name
            yield sec, data[at:data.index(b"\0", at)].decode(), value // 8, sz // 8


class Functions:
    """{(section, first instruction): (name, bytes of its frame, whom it calls)}"""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        _, body, _, self.relocs = bpf.elf_parts(data)
        code = [list(struct.iter_unpack("<BBhi", b[:len(b) // 8 * 8])) for b in body]
        self.found = {(sec, first): (name, self.frame(code[sec], first, first + cnt), self.calls(sec, code[sec], first, first + cnt))
                      for sec, name, first, cnt in functions(data)}

    @staticmethod
    def frame(code, first, end):
        most, of_fp = 0, set()  # registers that are the frame pointer
        for op, regs, off, imm in code[first:end]:
            dst, src = regs & 15, regs >> 4
            if op & 7 in LOADS and src == FP or op & 7 in STORES and dst == FP:
                most = max(most, -off)
            if op == ADD64 and dst in of_fp:
                most = max(most, -imm)
            of_fp.discard(dst)
            if op == MOV64 and src == FP:
                of_fp.add(dst)
        return most

    def calls(self, sec, code, first, end):
        called = set()
        for at in range(first, end):
            op, regs, _, imm = code[at]
            if op != CALL or regs >> 4 != 1:
                continue
            if at in self.relocs.get(sec, {}):
                (_, value, shndx), _ = self.relocs[sec][at]
                if shndx:  # else one of the kernel's
                    called.add((shndx, value // 8 + imm + 1))
            else:
                called.add((sec, at + imm + 1))
        return called

    @functools.lru_cache(None)
    def chain(self, at):
        """The one below a function that takes most: bytes, and names."""
        name, frame, called = self.found[at]
        sz, names = max((self.chain(c) for c in called), default=(0, ()))
        return sz + max(1, -(-frame // STEP)) * STEP, (f"{name}:{frame}", *names)

    @functools.lru_cache(None)
    def deep(self, at):
        return 1 + max((self.deep(c) for c in self.found[at][2]), default=0)


def main():
    bad = 0
    for path in sys.argv[1:]:
        f = Functions(path)
        if not f.found or not any(called for _, _, called in f.found.values()):
            sys.exit(f"{path}: no function is found, or none that calls")
        for at, (name, _, _) in f.found.items():
            (sz, names), deep = f.chain(at), f.deep(at)
            if sz > STACK or deep > DEEP:
                print(f"{path}: {name}: {sz} bytes of stack, {deep} calls deep: {' > '.join(names)}")
                bad = 1
        most = max(map(f.chain, f.found))
        print(f"{path}: {most[0]} bytes at most: {' > '.join(most[1])}")
    sys.exit(bad)


if __name__ == "__main__":
    main()
