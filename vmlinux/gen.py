#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Write vmlinux/ARCH/vmlinux.h: the kernel's types that types.txt names, and of those only the fields it names.

CO-RE finds the fields' places in the kernel that runs, so the programs need neither the others nor the order:

	vmlinux/gen.py [BTF]		of an x86_64 kernel, /sys/kernel/btf/vmlinux if not given

There is no need for an arm64 kernel: what differs there stands in types.txt as C.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TRANSPARENT = ("CONST", "VOLATILE", "RESTRICT", "TYPE_TAG")
RECORDS = ("STRUCT", "UNION")


class Btf:
    """The types of a kernel, by id and by (kind, name)."""

    def __init__(self, path):
        command = ["bpftool", "-j", "btf", "dump", "file", path, "format", "raw"]
        types = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["types"]
        self.by_id = {t["id"]: t for t in types}
        self.by_name = {}
        self.constants = {}
        for t in types:
            self.by_name.setdefault((t["kind"].removesuffix("64"), t["name"]), t)
            for v in t.get("values", []):
                self.constants.setdefault(v["name"], (t["id"], v["val"]))

    def bare(self, type_id):
        """A type without qualifiers; None is void."""
        t = self.by_id.get(type_id)
        while t and t["kind"] in TRANSPARENT:
            t = self.by_id.get(t["type_id"])
        return t

    def find(self, kind, name):
        t = self.by_name.get((kind.upper(), name))
        return t or sys.exit(f"types.txt: this kernel has no {kind} {name}")

    def members(self, record):
        """{name: member} of a record, those of its unnamed members included."""
        found = {}
        for m in record["members"]:
            if m["name"] == "(anon)":
                found.update(self.members(self.bare(m["type_id"])))
            else:
                found[m["name"]] = m
        return found


class Wanted:
    """What types.txt asks for, on one architecture."""

    def __init__(self, path, arch):
        self.types = []  # (kind, name, fields) in order
        self.fields = {}  # (kind, name): fields
        self.constants = []
        self.text = {}  # (kind, name): C
        section = arch
        for line in path.read_text().splitlines():
            words = line.split("#")[0].split()
            if words[:1] == ["arch"]:
                section = words[1]
            elif words and section == arch:
                self.add(line.strip(), words)

    def add(self, line, words):
        if line.endswith(";"):
            kind, name = re.match(r"(struct|typedef)(?:.*?)(\w+)(?: \{.*|);$", line).groups()
            self.text[kind, name] = line
        elif words[0] == "const":
            self.constants += words[1:]
        elif words[0] == "typedef":
            self.types += [("typedef", name) for name in words[1:]]
        else:
            self.types.append((words[0], words[1].rstrip(":")))
            self.fields[words[0], words[1].rstrip(":")] = words[2:]


class Header:
    """The C text, each type after those it contains."""

    def __init__(self, btf, wanted):
        self.btf = btf
        self.wanted = wanted
        self.forward = set()
        self.bodies = {}
        for kind, name in wanted.types:
            self.define(kind, name)
        for kind, name in wanted.text:
            self.define(kind, name)

    def define(self, kind, name):
        if (kind, name) in self.bodies:
            return
        if (kind, name) in self.wanted.text:
            text = self.wanted.text[kind, name]
            for inner in re.findall(r"\bstruct (\w+) \w", text):
                self.define("struct", inner)
        elif kind == "typedef":
            text = f"typedef {self.declare(self.btf.find(kind, name)['type_id'], name)};"
        elif kind == "enum":
            text = self.enum(self.btf.find(kind, name), self.wanted.fields.get((kind, name), ["*"]))
        else:
            fields = self.wanted.fields.get((kind, name)) or sys.exit(f"types.txt: name the fields needed of {kind} {name}")
            text = self.record(self.btf.find(kind, name), fields, name + " ", 0) + ";"
        self.bodies[kind, name] = text

    def enum(self, t, names):
        have = {v["name"]: v["val"] for v in t["values"]}
        for name in names:
            name == "*" or name in have or sys.exit(f"types.txt: enum {t['name']} has no {name}")
        chosen = [n for n in have if n in names or "*" in names]
        return f"enum {t['name']} {{\n" + "".join(f"\t{n} = {have[n]},\n" for n in chosen) + "};"

    def record(self, t, fields, name, depth):
        """A struct or union of these fields; a.b is b of the unnamed struct that is field a."""
        members = self.btf.members(t)
        if fields == ["*"]:
            fields = list(members)
        inner = {}
        for field in fields:
            first, _, rest = field.partition(".")
            first in members or sys.exit(f"types.txt: {t['kind'].lower()} {t['name']} has no {first}")
            inner.setdefault(first, []).extend([rest] if rest else [])
        tabs = "\t" * (depth + 1)
        lines = "".join(f"{tabs}{self.field(members[f], rest, depth)};\n" for f, rest in inner.items())
        return f"{t['kind'].lower()} {name}{{\n{lines}" + "\t" * depth + "}"

    def field(self, member, rest, depth):
        t = self.btf.bare(member["type_id"])
        if rest:
            return self.record(t, rest, "", depth + 1) + " " + member["name"]
        bits = member.get("bitfield_size")
        return self.declare(member["type_id"], member["name"]) + (f" : {bits}" if bits else "")

    def declare(self, type_id, name):
        """A declaration of name with this type, without qualifiers."""
        t = self.btf.bare(type_id)
        if t is None:
            return f"void {name}"
        if t["kind"] == "PTR":
            return self.pointer(t, name)
        if t["kind"] == "ARRAY":
            return self.declare(t["type_id"], f"{name}[{t['nr_elems']}]")
        return f"{self.spell(t)} {name}"

    def pointer(self, t, name):
        target = self.btf.bare(t["type_id"])
        if target and target["kind"] in RECORDS and target["name"] != "(anon)":
            kind = target["kind"].lower()
            self.forward.add((kind, target["name"]))
            return f"{kind} {target['name']} *{name}"
        if self.is_function(target):
            return f"void *{name}"
        return self.declare(t["type_id"], f"(*{name})" if target and target["kind"] == "ARRAY" else f"*{name}")

    def is_function(self, t):
        while t and t["kind"] == "TYPEDEF":
            t = self.btf.bare(t["type_id"])
        return t and t["kind"] == "FUNC_PROTO"

    def spell(self, t):
        kind = t["kind"].lower().removesuffix("64")
        if kind in ("int", "float"):
            return t["name"]
        if t["name"] == "(anon)":
            return self.record(t, ["*"], "", 0)
        self.define(kind, t["name"])
        return t["name"] if kind == "typedef" else f"{kind} {t['name']}"

    def constants(self):
        """Each kernel enum's apart: one large value widens the others of its enum."""
        enums = {}
        for name in self.wanted.constants:
            name in self.btf.constants or sys.exit(f"types.txt: this kernel has no constant {name}")
            enum, value = self.btf.constants[name]
            enums.setdefault(enum, []).append(f"\t{name} = {value}{'ULL' if value > 0x7fffffff else ''},\n")
        return ["enum {\n" + "".join(lines) + "};" for lines in enums.values()]

    def text(self):
        forward = "".join(f"{kind} {name};\n" for kind, name in sorted(self.forward))
        parts = [forward.rstrip(), *self.constants(), *self.bodies.values()]
        return re.sub(r"(?m)(^typedef .*;$)\n\n(?=typedef [^{]*;$)", r"\1\n", "\n\n".join(parts))


FRAME = """/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Made by vmlinux/gen.py from vmlinux/types.txt. */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

%s

#pragma clang attribute pop

#endif
"""

if __name__ == "__main__":
    kernel = Btf(sys.argv[1] if len(sys.argv) > 1 else "/sys/kernel/btf/vmlinux")
    for arch in ("x86_64", "arm64"):
        text = FRAME % Header(kernel, Wanted(HERE / "types.txt", arch)).text()
        (HERE / arch / "vmlinux.h").write_text(text)
        print(f"{arch}: {text.count(chr(10))} lines")
