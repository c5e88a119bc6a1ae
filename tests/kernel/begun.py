# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Which sessions are begun: told by the kernel's inotify, not by those who begin them, so that none is forgotten. A session that is
killed while it begins counts, too, and so does the next one of the same name: the kernel tells equal events in a row once, so ends are
watched, which come between.
"""
import ctypes
import os
import struct

IN_CREATE, IN_DELETE, IN_ISDIR = 0x100, 0x200, 0x40000000
EVENT = struct.Struct("iIII")  # struct inotify_event: wd, mask, cookie, len; the name follows


class Begun:
    """Directories that are made in a directory, with names that begin so."""

    def __init__(self, dir, prefix):
        self.prefix = prefix
        os.makedirs(dir, 0o700, exist_ok=True)
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0 or libc.inotify_add_watch(self.fd, dir.encode(), IN_CREATE | IN_DELETE) < 0:
            raise OSError(ctypes.get_errno(), f"cannot watch {dir}")

    def names(self):
        """Those since the last call."""
        found = []
        while True:
            try:
                data = os.read(self.fd, 1 << 16)
            except BlockingIOError:
                return found
            at = 0
            while at < len(data):
                _, mask, _, size = EVENT.unpack_from(data, at)
                at += EVENT.size
                name = data[at:at + size].rstrip(b"\0").decode()
                at += size
                if mask & IN_CREATE and mask & IN_ISDIR and name.startswith(self.prefix):
                    found.append(name)
