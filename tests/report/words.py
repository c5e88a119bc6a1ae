# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the report calls numbers: as the lines of `replay` do, and as Python knows errors and signals. And which of its keys a check
has looked at, so that none is left out unnoticed."""
import errno
import re
import signal

from tables import place


class Seen(dict):
    """An object of the report; `looked` gets the path of each key that is read."""
    def __init__(self, value, path, looked):
        super().__init__((k, watch(v, f"{path}.{k}", looked)) for k, v in value.items())
        self.path, self.looked = path, looked

    def __getitem__(self, key):
        self.looked.add(f"{self.path}.{key}")
        return super().__getitem__(key)

    def get(self, key, default=None):
        return self[key] if key in self else default


def watch(value, path, looked):
    if isinstance(value, dict):
        return Seen(value, path, looked)
    return [watch(v, path + "[]", looked) for v in value] if isinstance(value, list) else value


def paths(value, path=""):
    """The paths of all values that are neither an object nor a list of objects."""
    if isinstance(value, dict):
        for k, v in value.items():
            yield from paths(v, f"{path}.{k}")
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for v in value:
            yield from paths(v, path + "[]")
    elif value != []:
        yield path


def word(line, key, number):
    """The word in a line for a field's value; None: it prints the number."""
    text = re.search(rf" {key}=(\S+)", line)[1]
    return None if text in (str(number), hex(number)) else text


class Words:
    def __init__(self, rows, lines):
        self.calls, self.states, self.softirqs = {}, {}, {}
        for row in rows:
            if row["event"] in ("sys_enter", "sys_exit"):
                self.learn(self.calls, (row["abi"], row["id"]), row, "id", lines)
            elif row["event"] == "sched_switch":
                self.learn(self.states, row["prev_state"], row, "prev_state", lines)
            elif "vec" in row:
                self.learn(self.softirqs, row["vec"], row, "vec", lines)

    @staticmethod
    def learn(words, number, row, key, lines):
        """From the first line that has the number: so it is searched once for each, not in each line."""
        if number not in words:
            words[number] = word(lines[place(row)], key, row[key])

    def check_call(self, c, what, x):
        """A call that began before the window is in no line of it."""
        if (x["abi"], x["id"]) in self.calls:
            c.equal(what + " name", x["name"], self.calls[x["abi"], x["id"]])

    def check_in(self, c, what, x):
        c.equal(what + " state", x["state_name"], self.states[x["state"]])
        if x["in"] == "syscall":
            self.check_call(c, what, x)

    def check_by(self, c, what, x):
        if "softirq_name" in x:
            c.equal(what + " softirq", x["softirq_name"], self.softirqs[x["softirq"]])


# Errors that user space never sees: the kernel restarts these system calls
KERNEL_ERRORS = {512: "ERESTARTSYS", 513: "ERESTARTNOINTR", 514: "ERESTARTNOHAND", 515: "ENOIOCTLCMD", 516: "ERESTART_RESTARTBLOCK",
                 517: "EPROBE_DEFER"}


def is_error(name, nr):
    """Is this a name of that number, or None if it has no name?"""
    if name and nr in KERNEL_ERRORS:
        return name == KERNEL_ERRORS[nr]
    return getattr(errno, name, None) == nr if name else nr not in errno.errorcode


def signal_name(nr):
    return signal.Signals(nr).name if nr else None
