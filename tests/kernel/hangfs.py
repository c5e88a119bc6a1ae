# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
A disk that stops to answer, and answers again: a FUSE file system in memory, which this program serves.

	with hangfs() as disk:
	    disk.dir		where it is mounted, root's
	    disk.hang()		from here on nothing is answered: whoever asks waits, and not even SIGKILL ends that
    disk.hang("write")	nothing of this kind, all else is
	    disk.waiting()	who waits, and for what: [(thread, "write"), ...]
	    disk.go()		all that was held back is answered, and what comes
	    disk.asked()	threads that asked for anything since the last call, whether answered or not: {thread: {"lookup", ...}}

The kernel keeps nothing that it was told, so each access is seen here. When the program ends, who waits gets ENOTCONN.
"""
import contextlib
import errno
import json
import os
import select
import stat
import struct
import subprocess
import sys
import tempfile
import time

MAX_WRITE = 1 << 17
BLOCK = 4096
NAMES = {1: "lookup", 3: "getattr", 4: "setattr", 8: "mknod", 9: "mkdir", 10: "unlink", 11: "rmdir", 12: "rename", 13: "link", 14: "open",
         15: "read", 16: "write", 17: "statfs", 18: "release", 20: "fsync", 22: "getxattr", 25: "flush", 27: "opendir", 28: "readdir",
         29: "releasedir", 30: "fsyncdir", 34: "access", 35: "create", 45: "rename2"}
FORGET, INIT, INTERRUPT, DESTROY, BATCH_FORGET = 2, 26, 36, 38, 42
SILENT = {FORGET, INTERRUPT, BATCH_FORGET}


class Refused(Exception):
    pass


class Inode:
    def __init__(self, ino, mode):
        self.ino, self.mode, self.nlink, self.time = ino, mode, 1, time.time()
        self.data, self.entries = bytearray(), {}

    def attr(self):
        size, secs, ns = len(self.data), int(self.time), int(self.time % 1 * 1e9)
        return struct.pack("<6Q10I", self.ino, size, -(-size // 512), secs, secs, secs, ns, ns, ns, self.mode, self.nlink, 0, 0, 0, BLOCK, 0)


class Disk:
    """Its content, and an answer to each request."""

    def __init__(self):
        self.inode, self.next = {1: Inode(1, stat.S_IFDIR | 0o700)}, 2

    def new(self, dir, name, mode):
        if name in self.inode[dir].entries:
            raise Refused(errno.EEXIST)
        node = self.inode[self.next] = Inode(self.next, mode)
        self.inode[dir].entries[name] = self.next
        self.next += 1
        return node

    def find(self, dir, name):
        try:
            return self.inode[self.inode[dir].entries[name]]
        except KeyError:
            raise Refused(errno.ENOENT) from None

    @staticmethod
    def entry(node):
        return struct.pack("<4Q2I", node.ino, 0, 0, 0, 0, 0) + node.attr()

    def forget(self, dir, name, want_dir):
        node = self.find(dir, name)
        if stat.S_ISDIR(node.mode) != want_dir:
            raise Refused(errno.ENOTDIR if want_dir else errno.EISDIR)
        if node.entries:
            raise Refused(errno.ENOTEMPTY)
        del self.inode[dir].entries[name]
        node.nlink -= 1

    def do_lookup(self, node, body):
        return self.entry(self.find(node, body.rstrip(b"\0")))

    def do_getattr(self, node, body):
        return struct.pack("<QII", 0, 0, 0) + self.inode[node].attr()

    def do_setattr(self, node, body):
        valid, size = struct.unpack_from("<I12xQ", body)
        it = self.inode[node]
        if valid & 1:
            it.mode = stat.S_IFMT(it.mode) | struct.unpack_from("<I", body, 68)[0] & 0o7777
        if valid & 8:
            it.data = it.data[:size].ljust(size, b"\0")
        return self.do_getattr(node, body)

    def do_mkdir(self, node, body):
        return self.entry(self.new(node, body[8:].rstrip(b"\0"), stat.S_IFDIR | struct.unpack_from("<I", body)[0] & 0o777))

    def do_create(self, node, body):
        return self.entry(self.new(node, body[16:].rstrip(b"\0"), struct.unpack_from("<4xI", body)[0])) + self.do_open(node, body)

    def do_unlink(self, node, body):
        self.forget(node, body.rstrip(b"\0"), False)

    def do_rmdir(self, node, body):
        self.forget(node, body.rstrip(b"\0"), True)

    def do_link(self, node, body):
        it, name = self.inode[struct.unpack_from("<Q", body)[0]], body[8:].rstrip(b"\0")
        if name in self.inode[node].entries:
            raise Refused(errno.EEXIST)
        self.inode[node].entries[name] = it.ino
        it.nlink += 1
        return self.entry(it)

    def do_rename(self, node, body, at=8, flags=0):
        to = self.inode[struct.unpack_from("<Q", body)[0]].entries
        old, new = body[at:].split(b"\0")[:2]
        it = self.find(node, old)
        if flags & 1 and new in to:
            raise Refused(errno.EEXIST)
        del self.inode[node].entries[old]
        to[new] = it.ino

    def do_rename2(self, node, body):
        self.do_rename(node, body, 16, struct.unpack_from("<8xI", body)[0])

    def do_open(self, node, body):
        return struct.pack("<QII", 0, 0, 0)

    do_opendir = do_open

    def do_read(self, node, body):
        offset, size = struct.unpack_from("<8xQI", body)
        return bytes(self.inode[node].data[offset:offset + size])

    def do_write(self, node, body):
        offset, size = struct.unpack_from("<8xQI", body)
        it = self.inode[node]
        it.data[len(it.data):] = bytes(max(0, offset - len(it.data)))
        it.data[offset:offset + size] = body[40:40 + size]
        it.time = time.time()
        return struct.pack("<II", size, 0)

    def do_readdir(self, node, body):
        offset, size = struct.unpack_from("<8xQI", body)
        out = b""
        for i, (name, ino) in enumerate(list(self.inode[node].entries.items())):
            one = struct.pack("<QQII", ino, i + 1, len(name), self.inode[ino].mode >> 12) + name
            one += bytes(-len(one) % 8)
            if i < offset:
                continue
            if len(out) + len(one) > size:
                break
            out += one
        return out

    def do_statfs(self, node, body):
        blocks = (256 << 20) // BLOCK
        free = blocks - sum(-(-len(i.data) // BLOCK) for i in self.inode.values() if i.nlink)
        return struct.pack("<5Q4I24x", blocks, free, free, 1 << 16, 1 << 15, BLOCK, 255, BLOCK, 0)

    def do_nothing(self, node, body):
        return b""

    do_release = do_releasedir = do_flush = do_fsync = do_fsyncdir = do_nothing

    def answer(self, op, node, body):
        """(error, data)"""
        if op == INIT:
            return 0, struct.pack("<4I2H2I2H2I24x", 7, 31, 1 << 17, 0, 0, 0, MAX_WRITE, 1, 0, 0, 0, 0)
        try:
            return 0, getattr(self, "do_" + NAMES.get(op, ""))(node, body) or b""
        except Refused as why:
            return -why.args[0], b""
        except AttributeError:
            return -errno.ENOSYS, b""


class Server:
    def __init__(self, fd):
        self.fd, self.disk, self.held, self.hangs, self.seen = fd, Disk(), [], set(), []

    def reply(self, unique, op, node, body):
        err, data = self.disk.answer(op, node, body)
        with contextlib.suppress(OSError):  # who asked has given up
            os.write(self.fd, struct.pack("<IiQ", 16 + len(data), err, unique) + data)

    def take(self):
        try:
            request = os.read(self.fd, MAX_WRITE + 4096)
        except OSError as why:
            return why.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT)
        op, unique, node, pid = struct.unpack_from("<4xIQQ8xI", request)
        if op in SILENT:
            return True
        item = (unique, op, node, request[40:])
        if op != INIT:
            self.seen.append((pid, NAMES.get(op, str(op))))
        if op != INIT and self.hangs & {"all", NAMES.get(op)}:
            self.held.append((pid, item))
        else:
            self.reply(*item)
        return op != DESTROY

    def obey(self, cmd):
        if cmd.startswith("hang "):
            self.hangs = set(cmd.split()[1:])
        elif cmd == "go":
            self.hangs = set()
            for _, item in self.held:
                self.reply(*item)
            self.held = []
        elif cmd == "waiting":
            return [(pid, NAMES.get(item[1], str(item[1]))) for pid, item in self.held]
        elif cmd == "asked":
            seen, self.seen = self.seen, []
            return seen
        return []

    def serve(self):
        while True:
            ready = select.select([self.fd, 0], [], [])[0]
            if self.fd in ready and not self.take():
                return
            if 0 in ready:
                line = os.read(0, 64).decode()
                if not line:
                    return
                print(json.dumps(self.obey(line.strip())), flush=True)


def serve(dir):
    # By its number: where there are names for mount(2)'s options, there is no need of a library.
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,max_read={MAX_WRITE}"
    if libc.mount(b"hangfs", dir.encode(), b"fuse", 6, options.encode()):  # nosuid, nodev
        sys.exit(f"hangfs: mount: {os.strerror(ctypes.get_errno())}")
    print("[]", flush=True)
    try:
        Server(fd).serve()
    finally:
        libc.umount2(dir.encode(), 2)


class Mounted:
    def __init__(self, p, dir):
        self.p, self.dir = p, dir

    def tell(self, cmd):
        self.p.stdin.write(cmd + "\n")
        self.p.stdin.flush()
        return json.loads(self.p.stdout.readline())

    def hang(self, *what):
        self.tell(f"hang {' '.join(what or ['all'])}")

    def go(self):
        self.tell("go")

    def waiting(self):
        return [tuple(one) for one in self.tell("waiting")]

    def asked(self):
        by = {}
        for pid, what in self.tell("asked"):
            by.setdefault(pid, set()).add(what)
        return by


@contextlib.contextmanager
def hangfs():
    from frtest import TMP, Skip
    dir = tempfile.mkdtemp(dir=TMP)
    p = subprocess.Popen([sys.executable, os.path.abspath(__file__), dir], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if not p.stdout.readline():
            raise Skip("no FUSE file system here")
        yield Mounted(p, dir)
    finally:
        p.stdin.close()
        p.wait(300)
        p.stdout.close()
        subprocess.run(["umount", "-l", dir], stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    serve(sys.argv[1])
