# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What arguments of system calls mean: which words are in which header, and which argument has which.

Values are never written here, but for words that are newer than the headers and for arm64's own: a compiler says them
(gen_syscalls.py). A word that the headers lack is reported, and left out.
"""


class Set:
    """Words of one argument.

    words: regular expressions, of which one must match a whole name in the headers; but: those left out. low: masks of
    parts of the value that are numbers, not bits; -1: all of it is one number. zero: words of no bit, and which bits are not set
    then; others are the whole value, 0. new: words that the headers lack.
    """

    def __init__(self, headers, *words, but=(), low=(), zero=None, new=None, defines=()):
        self.headers = headers.split()
        self.words, self.but, self.defines = words, but, defines
        self.low = (low,) if isinstance(low, int) else low
        self.new, self.zero = new or {}, zero or {}


def number(headers, *words, **more):
    return Set(headers, *words, low=-1, **more)


# arch/arm64/include/uapi/asm/fcntl.h, which asm-generic/fcntl.h leaves room for
ARM64_OPEN = ("O_DIRECTORY=040000", "O_NOFOLLOW=0100000", "O_DIRECT=0200000", "O_LARGEFILE=0400000")
OPEN = dict(low=3, but=("O_NDELAY",))
PROT = ("PROT_(NONE|READ|WRITE|EXEC|SEM|GROWSDOWN|GROWSUP)",)
MAP = ("MAP_[A-Z_0-9]+",)
MAP_BUT = ("MAP_ANON", "MAP_TYPE", "MAP_HUGE_SHIFT", "MAP_HUGE_MASK", "MAP_UNINITIALIZED")
MAP_LOW = (0xf, 0x3f << 26)
SO = "SO_[A-Z_0-9]+"
SO_BUT = ("SO_DETACH_BPF", "SO_(RCVTIMEO|SNDTIMEO|TIMESTAMP|TIMESTAMPNS|TIMESTAMPING)")
SO_NEW = {"SO_PASSPIDFD": 76, "SO_PEERPIDFD": 77, "SO_DEVMEM_LINEAR": 78, "SO_DEVMEM_DMABUF": 79, "SO_DEVMEM_DONTNEED": 80}

SETS = {
    "open": Set("asm-generic/fcntl.h", "O_[A-Z]+|FASYNC", **OPEN),
    "open_aarch64": Set("asm-generic/fcntl.h", "O_[A-Z]+|FASYNC", defines=ARM64_OPEN, **OPEN),
    "pipe": Set("asm-generic/fcntl.h", "O_(EXCL|NONBLOCK|CLOEXEC|DIRECT)"),
    "pipe_aarch64": Set("asm-generic/fcntl.h", "O_(EXCL|NONBLOCK|CLOEXEC|DIRECT)", defines=ARM64_OPEN),
    "cloexec": Set("asm-generic/fcntl.h", "O_CLOEXEC"),
    "fan_dirfd": number("linux/fcntl.h linux/fanotify.h", "AT_FDCWD|FAN_NOFD"),
    "dirfd": number("linux/fcntl.h", "AT_FDCWD"),
    "access": Set("unistd.h", "[FRWX]_OK"),
    "at": Set("linux/fcntl.h", "AT_(SYMLINK_NOFOLLOW|SYMLINK_FOLLOW|NO_AUTOMOUNT|EMPTY_PATH|RECURSIVE)"),
    "at_access": Set("linux/fcntl.h", "AT_(SYMLINK_NOFOLLOW|EACCESS|EMPTY_PATH)"),
    "at_statx": Set("linux/fcntl.h", "AT_(SYMLINK_NOFOLLOW|NO_AUTOMOUNT|EMPTY_PATH|STATX_[A-Z_]+)", but=("AT_STATX_SYNC_TYPE",), zero={"AT_STATX_SYNC_AS_STAT": 0x6000}),
    "at_unlink": Set("linux/fcntl.h", "AT_REMOVEDIR"),
    "at_stat": Set("linux/fcntl.h", "AT_(SYMLINK_NOFOLLOW|NO_AUTOMOUNT|EMPTY_PATH)"),
    "at_handle": Set("linux/fcntl.h", "AT_(SYMLINK_FOLLOW|EMPTY_PATH)", new={"AT_HANDLE_FID": 0x200, "AT_HANDLE_MNT_ID_UNIQUE": 1}),
    "statx": Set("linux/stat.h", "STATX_[A-Z_]+", but=("STATX__RESERVED", "STATX_ALL", "STATX_ATTR_.*"),
                 new={"STATX_MNT_ID_UNIQUE": 0x4000, "STATX_SUBVOL": 0x8000, "STATX_WRITE_ATOMIC": 0x10000, "STATX_DIO_READ_ALIGN": 0x20000}),
    "rename": Set("linux/fs.h", "RENAME_[A-Z]+"),
    "xattr": Set("linux/xattr.h", "XATTR_(CREATE|REPLACE)"),
    "whence": number("linux/fs.h", "SEEK_(SET|CUR|END|DATA|HOLE)"),
    "rwf": Set("linux/fs.h", "RWF_[A-Z]+", but=("RWF_SUPPORTED",), new={"RWF_NOAPPEND": 0x20, "RWF_ATOMIC": 0x40, "RWF_DONTCACHE": 0x80}),
    "fallocate": Set("linux/falloc.h", "FALLOC_FL_[A-Z_]+", new={"FALLOC_FL_WRITE_ZEROES": 0x80}),
    "fadvise": number("linux/fadvise.h", "POSIX_FADV_[A-Z]+"),
    "sync_range": Set("linux/fs.h", "SYNC_FILE_RANGE_[A-Z_]+", but=("SYNC_FILE_RANGE_WRITE_AND_WAIT",)),
    "flock": Set("asm-generic/fcntl.h", "LOCK_(SH|EX|UN|NB)"),
    "splice": Set("fcntl.h", "SPLICE_F_[A-Z]+"),
    "fcntl": number("asm-generic/fcntl.h linux/fcntl.h", "F_(DUPFD|GETFD|SETFD|GETFL|SETFL|[GS]ETLKW?|[GS]ETOWN(_EX)?|[GS]ETSIG|GETOWNER_UIDS|"
                    "OFD_[A-Z]+|[GS]ETLEASE|NOTIFY|DUPFD_CLOEXEC|CANCELLK|[GS]ETPIPE_SZ|(ADD|GET)_SEALS|[GS]ET_(FILE_)?RW_HINT)",
                    new={"F_CREATED_QUERY": 1028, "F_DUPFD_QUERY": 1027}),
    "fcntl_i386": number("asm-generic/fcntl.h linux/fcntl.h", "F_(DUPFD|GETFD|SETFD|GETFL|SETFL|[GS]ETLKW?(64)?|[GS]ETOWN(_EX)?|[GS]ETSIG|"
                         "GETOWNER_UIDS|OFD_[A-Z]+|[GS]ETLEASE|NOTIFY|DUPFD_CLOEXEC|CANCELLK|[GS]ETPIPE_SZ|(ADD|GET)_SEALS|[GS]ET_(FILE_)?RW_HINT)",
                         defines=("__BITS_PER_LONG=32",), new={"F_GETLK64": 12, "F_SETLK64": 13, "F_SETLKW64": 14}),
    "fd_flag": Set("asm-generic/fcntl.h", "FD_CLOEXEC"),
    "seal": Set("linux/fcntl.h", "F_SEAL_[A-Z_]+", new={"F_SEAL_EXEC": 0x20}),
    "lease": number("asm-generic/fcntl.h", "F_(RDLCK|WRLCK|UNLCK)"),
    "notify": Set("linux/fcntl.h", "DN_[A-Z]+"),
    "close_range": Set("linux/close_range.h", "CLOSE_RANGE_[A-Z]+"),

    "prot": Set("asm-generic/mman.h", *PROT),
    "prot_aarch64": Set("asm-generic/mman.h", *PROT, new={"PROT_BTI": 0x10, "PROT_MTE": 0x20}),
    "map": Set("linux/mman.h", *MAP, but=MAP_BUT, low=MAP_LOW, new={"MAP_DROPPABLE": 8, "MAP_ABOVE4G": 0x80}),
    "map_aarch64": Set("linux/mman.h", *MAP, but=(*MAP_BUT, "MAP_32BIT", "MAP_ABOVE4G"), low=MAP_LOW, new={"MAP_DROPPABLE": 8}),
    "mremap": Set("linux/mman.h", "MREMAP_[A-Z]+"),
    "msync": Set("asm-generic/mman.h", "MS_(ASYNC|INVALIDATE|SYNC)"),
    "madvise": number("asm-generic/mman.h", "MADV_[A-Z_0-9]+", new={"MADV_GUARD_INSTALL": 102, "MADV_GUARD_REMOVE": 103}),
    "mlock": Set("asm-generic/mman.h", "MLOCK_ONFAULT"),
    "mlockall": Set("asm-generic/mman.h", "MCL_[A-Z]+"),
    "memfd": Set("linux/memfd.h", "MFD_[A-Z0-9_]+", but=("MFD_HUGE_SHIFT", "MFD_HUGE_MASK"), low=0x3f << 26,
                 new={"MFD_NOEXEC_SEAL": 8, "MFD_EXEC": 16}),
    "membarrier": number("linux/membarrier.h", "MEMBARRIER_CMD_[A-Z_]+", but=("MEMBARRIER_CMD_SHARED", "MEMBARRIER_CMD_FLAG_CPU"),
                         new={"MEMBARRIER_CMD_GET_REGISTRATIONS": 512}),
    "mempolicy": Set("linux/mempolicy.h", "MPOL_(DEFAULT|PREFERRED|BIND|INTERLEAVE|LOCAL|PREFERRED_MANY|F_NUMA_BALANCING|"
                     "F_RELATIVE_NODES|F_STATIC_NODES)", low=0xfff, new={"MPOL_WEIGHTED_INTERLEAVE": 6}),
    "mbind": Set("linux/mempolicy.h", "MPOL_MF_(STRICT|MOVE|MOVE_ALL)"),
    "get_mempolicy": Set("linux/mempolicy.h", "MPOL_F_(NODE|ADDR|MEMS_ALLOWED)"),
    "pkey": Set("asm-generic/mman.h", "PKEY_DISABLE_(ACCESS|WRITE)"),

    "clone": Set("linux/sched.h", "CLONE_[A-Z_]+", but=("CLONE_NEWTIME", "CLONE_ARGS_SIZE.*", "CLONE_CLEAR_SIGHAND", "CLONE_INTO_CGROUP")),
    "unshare": Set("linux/sched.h", "CLONE_(NEW[A-Z]+|VM|FS|FILES|SIGHAND|THREAD|SYSVSEM)"),
    "wait": Set("linux/wait.h", "W(NOHANG|STOPPED|CONTINUED)|__W(ALL|CLONE|NOTHREAD)"),
    "waitid": Set("linux/wait.h", "W(NOHANG|EXITED|STOPPED|CONTINUED|NOWAIT)|__W(ALL|CLONE|NOTHREAD)"),
    "waitid_which": number("linux/wait.h", "P_(ALL|PID|PGID|PIDFD)"),
    "sched": Set("linux/sched.h", "SCHED_(FIFO|RR|BATCH|IDLE|DEADLINE|RESET_ON_FORK)", low=0xff,
                 new={"SCHED_OTHER": 0, "SCHED_EXT": 7}),
    "prio": number("linux/resource.h", "PRIO_(PROCESS|PGRP|USER)"),
    "ioprio_who": number("linux/ioprio.h", "IOPRIO_WHO_[A-Z]+"),
    "rlimit": number("linux/resource.h", "RLIMIT_[A-Z]+"),
    "rusage": number("linux/resource.h", "RUSAGE_(SELF|CHILDREN|THREAD)"),
    "itimer": number("linux/time.h", "ITIMER_[A-Z]+"),
    "clock": number("linux/time.h", "CLOCK_[A-Z_]+", but=("CLOCK_SGI_CYCLE",)),
    "timer": Set("linux/time.h", "TIMER_ABSTIME"),
    "timerfd_settime": Set("linux/timerfd.h", "TFD_TIMER_[A-Z_]+"),
    "timerfd": Set("linux/timerfd.h", "TFD_(CLOEXEC|NONBLOCK)"),
    "prctl": number("linux/prctl.h", "PR_(SET|GET|CAPBSET|TASK_PERF|MPX|SVE|SME|PAC|SCHED|MCE|CAP|TIMER|PPC|RISCV|FUTEX)_[A-Z0-9_]+",
                    but=("PR_CAP_AMBIENT_.*", "PR_MCE_KILL_(CLEAR|SET|LATE|EARLY|DEFAULT)", "PR_SET_MM_.*", "PR_SET_VMA_.*", "PR_PAC_[AG].*", "PR_SCHED_CORE_.*",
                         "PR_SET_PTRACER_ANY", "PR_SVE_.*_(INHERIT|MASK|ONEXEC)", "PR_SME_.*_(INHERIT|MASK|ONEXEC)", "PR_PAC_SET_ENABLED_KEYS_.*"),
                    new={"PR_SET_MDWE": 65, "PR_GET_MDWE": 66, "PR_SET_MEMORY_MERGE": 67, "PR_GET_MEMORY_MERGE": 68,
                         "PR_RISCV_V_SET_CONTROL": 69, "PR_RISCV_V_GET_CONTROL": 70, "PR_RISCV_SET_ICACHE_FLUSH_CTX": 71,
                         "PR_TIMER_CREATE_RESTORE_IDS": 77, "PR_FUTEX_HASH": 78}),
    "arch_prctl": number("asm/prctl.h", "ARCH_([SG]ET_[FG]S|[GS]ET_CPUID|(GET|REQ)_XCOMP_[A-Z_]+|MAP_VDSO_.*)",
                         new={"ARCH_SHSTK_ENABLE": 0x5001, "ARCH_SHSTK_DISABLE": 0x5002, "ARCH_SHSTK_LOCK": 0x5003,
                              "ARCH_SHSTK_UNLOCK": 0x5004, "ARCH_SHSTK_STATUS": 0x5005}),
    "sigmask": number("asm-generic/signal-defs.h", "SIG_(BLOCK|UNBLOCK|SETMASK)"),
    "signalfd": Set("sys/signalfd.h", "SFD_[A-Z]+"),
    "pidfd": Set("linux/pidfd.h", "PIDFD_[A-Z]+", new={"PIDFD_THREAD": 0o200}),
    "pidfd_signal": Set("linux/pidfd.h", "PIDFD_SIGNAL_[A-Z_]+",
                        new={"PIDFD_SIGNAL_THREAD": 1, "PIDFD_SIGNAL_THREAD_GROUP": 2, "PIDFD_SIGNAL_PROCESS_GROUP": 4}),
    "execveat": Set("linux/fcntl.h", "AT_(SYMLINK_NOFOLLOW|EMPTY_PATH)", new={"AT_EXECVE_CHECK": 0x10000}),
    "personality": Set("linux/personality.h", "PER_[A-Z0-9_]+|[A-Z]+_[A-Z_0-9]+", low=0xff,
                       but=("PER_(SVR4|SVR3|SCOSVR3|OSR5|WYSEV386|ISCR4|BSD|SUNOS|XENIX|LINUX32_3GB|LINUX_32BIT|LINUX_FDPIC|IRIX32|IRIXN32|IRIX64|"
                            "RISCOS|SOLARIS|UW7|OSF4|HPUX|MASK|CLEAR_ON_SETID)", "_LINUX.*", ".*_H", "PERSONALITY.*")),
    "ptrace": number("linux/ptrace.h asm/ptrace.h", "PTRACE_[A-Z_0-9]+",
                     but=("PTRACE_(O|EVENT|EVENTMSG|PEEKSIGINFO|SYSCALL_INFO)_.*", "PTRACE_OLDSETOPTIONS", "PTRACE_P...USR"), new={"PTRACE_PEEKUSER": 3, "PTRACE_POKEUSER": 6}),
    "seccomp": number("linux/seccomp.h", "SECCOMP_(SET_MODE_(STRICT|FILTER)|GET_ACTION_AVAIL|GET_NOTIF_SIZES)"),
    "seccomp_flag": Set("linux/seccomp.h", "SECCOMP_FILTER_FLAG_[A-Z_]+"),
    "keyctl": number("linux/keyctl.h", "KEYCTL_[A-Z_]+", but=("KEYCTL_CAPS.*", "KEYCTL_MOVE_EXCL", "KEYCTL_SUPPORTS.*")),
    "keyring": number("linux/keyctl.h", "KEY_SPEC_[A-Z_]+"),
    "getrandom": Set("linux/random.h", "GRND_[A-Z]+"),
    "reboot": number("linux/reboot.h", "LINUX_REBOOT_CMD_[A-Z0-9_]+"),
    "kcmp": number("linux/kcmp.h", "KCMP_[A-Z_]+", but=("KCMP_TYPES",)),
    "syslog": number("sys/klog.h", "SYSLOG_ACTION_.*", new={
        "SYSLOG_ACTION_CLOSE": 0, "SYSLOG_ACTION_OPEN": 1, "SYSLOG_ACTION_READ": 2, "SYSLOG_ACTION_READ_ALL": 3, "SYSLOG_ACTION_READ_CLEAR": 4,
        "SYSLOG_ACTION_CLEAR": 5, "SYSLOG_ACTION_CONSOLE_OFF": 6, "SYSLOG_ACTION_CONSOLE_ON": 7, "SYSLOG_ACTION_CONSOLE_LEVEL": 8,
        "SYSLOG_ACTION_SIZE_UNREAD": 9, "SYSLOG_ACTION_SIZE_BUFFER": 10}),
    "module": Set("linux/module.h", "MODULE_[A-Z_]+"),
    "rseq": Set("linux/rseq.h", "RSEQ_FLAG_UNREGISTER"),

    "futex": Set("linux/futex.h", "FUTEX_[A-Z_]+2?(_PRIVATE)?", low=0xff,
                 but=("FUTEX_(PRIVATE_FLAG|CMD_MASK|WAITERS|OWNER_DIED|TID_MASK|BITSET_MATCH_ANY|OP_.*|FD)", "FUTEX_WAITV_MAX", "FUTEX2_.*", "FUTEX_32", "FUTEX_FD_.*")),
    "futex_bits": number("linux/futex.h", "FUTEX_BITSET_MATCH_ANY"),
    "futex2": Set("linux/futex.h", "FUTEX2_[A-Z0-9_]+", low=3, new={"FUTEX2_SIZE_U8": 0, "FUTEX2_SIZE_U16": 1, "FUTEX2_SIZE_U32": 2,
                  "FUTEX2_SIZE_U64": 3, "FUTEX2_NUMA": 4, "FUTEX2_MPOL": 8, "FUTEX2_PRIVATE": 128}),

    "epoll_ctl": number("sys/epoll.h", "EPOLL_CTL_(ADD|DEL|MOD)"),
    "epoll": Set("sys/epoll.h", "EPOLL_CLOEXEC"),
    "eventfd": Set("sys/eventfd.h", "EFD_[A-Z]+"),
    "inotify_init": Set("sys/inotify.h", "IN_(CLOEXEC|NONBLOCK)"),
    "inotify": Set("sys/inotify.h", "IN_[A-Z_]+", but=("IN_(CLOEXEC|NONBLOCK|CLOSE|MOVE|ALL_EVENTS)",)),
    "fanotify_init": Set("linux/fanotify.h", "FAN_(CLOEXEC|NONBLOCK|CLASS_[A-Z_]+|UNLIMITED_[A-Z]+|ENABLE_AUDIT|REPORT_[A-Z_]+)", low=0xc,
                         but=("FAN_REPORT_(DFID_NAME|DFID_NAME_TARGET)",), new={"FAN_REPORT_FD_ERROR": 0x2000, "FAN_REPORT_MNT": 0x4000}),
    "fanotify_mark": Set("linux/fanotify.h", "FAN_MARK_[A-Z_]+", but=("FAN_MARK_IGNORE_SURV", "FAN_MARK_INODE")),
    "userfaultfd": Set("linux/userfaultfd.h", "UFFD_USER_MODE_ONLY", new={"O_CLOEXEC": 0o2000000, "O_NONBLOCK": 0o4000}),
    "io_uring_enter": Set("linux/io_uring.h", "IORING_ENTER_[A-Z_]+", new={"IORING_ENTER_ABS_TIMER": 32, "IORING_ENTER_EXT_ARG_REG": 64,
                          "IORING_ENTER_NO_IOWAIT": 128}),
    "io_uring_register": number("linux/io_uring.h", "IORING_(UN)?REGISTER_[A-Z_0-9]+", but=("IORING_REGISTER_(LAST|FILES_SKIP|USE_.*)",)),
    "landlock": Set("linux/landlock.h", "LANDLOCK_CREATE_RULESET_[A-Z]+", new={"LANDLOCK_CREATE_RULESET_ERRATA": 2}),
    "landlock_rule": number("linux/landlock.h", "LANDLOCK_RULE_[A-Z_]+", new={"LANDLOCK_RULE_NET_PORT": 2}),
    "bpf": number("linux/bpf.h", "BPF_(MAP_(CREATE|LOOKUP_ELEM|UPDATE_ELEM|DELETE_ELEM|GET_NEXT_KEY|GET_NEXT_ID|GET_FD_BY_ID|LOOKUP_AND_DELETE_ELEM|FREEZE|"
                  "LOOKUP_BATCH|LOOKUP_AND_DELETE_BATCH|UPDATE_BATCH|DELETE_BATCH)|PROG_(LOAD|ATTACH|DETACH|TEST_RUN|GET_NEXT_ID|GET_FD_BY_ID|QUERY|"
                  "BIND_MAP)|OBJ_(PIN|GET|GET_INFO_BY_FD)|RAW_TRACEPOINT_OPEN|BTF_(LOAD|GET_FD_BY_ID|GET_NEXT_ID)|TASK_FD_QUERY|LINK_(CREATE|UPDATE|"
                  "GET_FD_BY_ID|GET_NEXT_ID|DETACH)|ENABLE_STATS|ITER_CREATE)", new={"BPF_TOKEN_CREATE": 36, "BPF_PROG_STREAM_READ_BY_FD": 37}),
    "perf": Set("linux/perf_event.h", "PERF_FLAG_[A-Z_]+"),

    "socket_family": number("sys/socket.h", "AF_[A-Z0-9]+", but=("AF_(FILE|LOCAL|ROUTE|MAX)",)),
    "socket_type": Set("sys/socket.h", "SOCK_[A-Z]+", low=0xf),
    "sock_flag": Set("sys/socket.h", "SOCK_(CLOEXEC|NONBLOCK)"),
    "shutdown": number("sys/socket.h", "SHUT_[A-Z]+"),
    "msg": Set("sys/socket.h", "MSG_[A-Z_]+", but=("MSG_(PROXY|TRYHARD|COPY|EXCEPT|STAT.*)",), new={"MSG_PROBE": 0x10, "MSG_SPLICE_PAGES": 0x8000000, "MSG_SOCK_DEVMEM": 0x2000000}),
    "sock_level": number("sys/socket.h netinet/in.h netinet/tcp.h netinet/udp.h", "SOL_[A-Z0-9_]+"),
    "so": number("sys/socket.h", SO, but=(*SO_BUT, "SO_GET_FILTER"), new=SO_NEW),
    "so_get": number("sys/socket.h", SO, but=(*SO_BUT, "SO_ATTACH_FILTER"), new=SO_NEW),
    "ipproto": number("linux/in.h", "IPPROTO_[A-Z0-9]+", but=("IPPROTO_MAX",)),
    "so_tcp": number("linux/tcp.h", "TCP_[A-Z_]+", but=("TCP_CM_INQ", "TCP_DATA_OFFSET", "TCP_RESERVED_BITS", "TCP_(ESTABLISHED|SYN_.*|FIN_.*|TIME_.*|CLOSE.*|LAST_ACK|LISTEN|NEW_.*|MSS_.*|S_.*|FLAG_.*|NLA_.*|"
                     "QUEUES_NR|NO_QUEUE|RECV_QUEUE|SEND_QUEUE|MD5SIG_(FLAG|MAX).*|RECEIVE_ZEROCOPY_.*|.*_ENABLED)", "TCP_CA_.*", "TCP_REPAIR_(ON|OFF).*", "TCPF_.*", "TCP_FASTOPEN_.*_.*")),
    "so_ip": number("linux/in.h", "IP_[A-Z_]+", but=("IP_RECVORIGDSTADDR", "IP_PMTUDISC_.*", "IP_DEFAULT_.*", "IP_RECVRETOPTS")),
    "so_ip6": number("linux/in6.h", "IPV6_[A-Z_]+", but=("IPV6_RECVORIGDSTADDR", "IPV6_(PMTUDISC|FL|PREFER|TLV|PRIORITY|FLOWINFO_).*",)),
    "so_udp": number("linux/udp.h", "UDP_(CORK|ENCAP|NO_CHECK6_TX|NO_CHECK6_RX|SEGMENT|GRO)"),
    "netlink": number("linux/netlink.h", "NETLINK_(ROUTE|UNUSED|USERSOCK|FIREWALL|SOCK_DIAG|NFLOG|XFRM|SELINUX|ISCSI|AUDIT|FIB_LOOKUP|CONNECTOR|"
                      "NETFILTER|IP6_FW|DNRTMSG|KOBJECT_UEVENT|GENERIC|SCSITRANSPORT|ECRYPTFS|RDMA|CRYPTO|SMC)"),
    "socketcall": number("linux/net.h", "SYS_[A-Z0-9]+"),

    "ipc_key": number("linux/ipc.h", "IPC_PRIVATE"),
    "ipc_get": Set("linux/ipc.h", "IPC_(CREAT|EXCL)"),
    "ipc_nowait": Set("linux/ipc.h linux/msg.h", "IPC_NOWAIT|MSG_(NOERROR|EXCEPT|COPY)"),
    "shm_get": Set("linux/ipc.h linux/shm.h", "IPC_(CREAT|EXCL)|SHM_(HUGETLB|NORESERVE)"),
    "shm_at": Set("linux/shm.h", "SHM_(RDONLY|RND|REMAP|EXEC)"),
    "shm_ctl": Set("linux/ipc.h linux/shm.h", "IPC_(RMID|SET|STAT|INFO)|SHM_(LOCK|UNLOCK|STAT|INFO|STAT_ANY)", low=0xff, new={"IPC_64": 0x100}),
    "sem_ctl": Set("linux/ipc.h linux/sem.h", "IPC_(RMID|SET|STAT|INFO)|(GET|SET)(PID|VAL|ALL|NCNT|ZCNT)|SEM_(STAT|INFO|STAT_ANY)", low=0xff, new={"IPC_64": 0x100}),
    "msg_ctl": Set("linux/ipc.h linux/msg.h", "IPC_(RMID|SET|STAT|INFO)|MSG_(STAT|INFO|STAT_ANY)", low=0xff, new={"IPC_64": 0x100}),

    "mount": Set("linux/mount.h", "MS_[A-Z_]+", but=("MS_(MGC.*|RMT_MASK|VERBOSE|SYNC)",)),
    "umount": Set("sys/mount.h", "MNT_[A-Z]+|UMOUNT_NOFOLLOW"),
    "fsopen": Set("linux/mount.h", "FSOPEN_CLOEXEC"),
    "fsconfig": number("linux/mount.h", "FSCONFIG_[A-Z_]+", new={"FSCONFIG_CMD_CREATE_EXCL": 8}),
    "fsmount": Set("linux/mount.h", "FSMOUNT_CLOEXEC"),
    "mount_attr": Set("linux/mount.h", "MOUNT_ATTR_[A-Z]+", but=("MOUNT_ATTR__.*", "MOUNT_ATTR_RELATIME", "MOUNT_ATTR_SIZE_.*")),
    "fspick": Set("linux/mount.h", "FSPICK_[A-Z_]+"),
    "move_mount": Set("linux/mount.h", "MOVE_MOUNT_[A-Z_]+", but=("MOVE_MOUNT__MASK",), new={"MOVE_MOUNT_BENEATH": 0x200}),
    "open_tree": Set("linux/mount.h linux/fcntl.h", "OPEN_TREE_[A-Z]+|AT_(SYMLINK_NOFOLLOW|NO_AUTOMOUNT|EMPTY_PATH|RECURSIVE)"),
    "swap": Set("sys/swap.h", "SWAP_FLAG_(PREFER|DISCARD|DISCARD_ONCE|DISCARD_PAGES)", new={"SWAP_FLAG_DISCARD_ONCE": 0x20000, "SWAP_FLAG_DISCARD_PAGES": 0x40000}),
}

# Names that filters know besides: masks, second names, words of structures.
SETS["filter"] = number("linux/mman.h asm-generic/fcntl.h asm-generic/signal-defs.h linux/sched.h linux/wait.h",
                        "O_NDELAY|MAP_(TYPE|ANON|HUGE_SHIFT|HUGE_MASK|UNINITIALIZED)|CLONE_(CLEAR_SIGHAND|INTO_CGROUP)|SA_[A-Z_]+|WUNTRACED",
                        new={"O_ASYNC": 0o20000, "MAP_ANON": 0x20, "SA_RESTORER": 0x04000000})

# Requests of ioctl(), by header; of equal numbers the first one is taken, and of one header the shortest name. Only what is
# defined by _IO() and its like, but for those of PLAIN.
PLAIN = set("asm-generic/ioctls.h linux/sockios.h linux/loop.h linux/vt.h linux/kd.h linux/hdreg.h linux/cdrom.h scsi/sg.h".split())
IOCTL = [
    ("asm-generic/ioctls.h", "(?!TIOCINQ)T[A-Z0-9]+|FIO[A-Z]+"),
    ("linux/sockios.h", "(?!SIOCGSTAMP(NS)?$)SIOC[A-Z0-9_]+"),
    ("linux/fs.h", "BLK[A-Z0-9]+|FI[A-Z]+|FS_IOC_[A-Z0-9_]+|FICLONE(RANGE)?|FIDEDUPERANGE"),
    ("linux/fiemap.h linux/fs.h", "FS_IOC_FIEMAP"),
    ("linux/perf_event.h", "PERF_EVENT_IOC_[A-Z_]+"),
    ("linux/random.h", "RND[A-Z]+"),
    ("linux/userfaultfd.h", "UFFDIO_[A-Z]+"),
    ("linux/seccomp.h", "SECCOMP_IOCTL_[A-Z_]+"),
    ("linux/nsfs.h", "NS_GET_[A-Z]+"),
    ("linux/kvm.h", "KVM_(?!S390|PPC|ARM|TRACE|DEBUG|ASSIGN)[A-Z0-9_]+"),
    ("linux/vhost.h", "VHOST_[A-Z0-9_]+"),
    ("net/if.h linux/if_tun.h", "TUN[A-Z]+"),
    ("linux/loop.h", "LOOP_[A-Z_]+"),
    ("linux/dm-ioctl.h", "DM_[A-Z_]+"),
    ("linux/fuse.h", "FUSE_DEV_IOC_[A-Z_]+"),
    ("linux/vt.h", "VT_[A-Z]+"),
    ("linux/kd.h", "KD[A-Z0-9]+|[GP]IO_[A-Z]+"),
    ("linux/input.h", "EVIOC[A-Z]+"),
    ("linux/rtc.h", "RTC_[A-Z_]+"),
    ("linux/watchdog.h", "WDIOC_[A-Z]+"),
    ("linux/hdreg.h", "HDIO_[A-Z0-9_]+"),
    ("linux/cdrom.h", "CDROM[A-Z_]+"),
    ("scsi/sg.h", "SG_(IO|EMULATED_HOST|NEXT_CMD_LEN|[GS]ET_[A-Z_]+)"),
    ("linux/btrfs.h", "BTRFS_IOC_[A-Z0-9_]+"),
    ("linux/usbdevice_fs.h", "USBDEVFS_[A-Z0-9_]+"),
    ("linux/fscrypt.h", "FS_IOC_[A-Z_]+"),
    ("linux/fsverity.h", "FS_IOC_[A-Z_]+"),
    ("linux/udmabuf.h linux/dma-buf.h", "(UDMABUF|DMA_BUF_IOCTL)_[A-Z]+"),
]

# Names by which the kernel's prototypes call a descriptor, the directory of a path, an address, a length or count.
FDS = set("""fd dfd epfd fildes oldfd newfd olddfd newdfd mountdirfd in_fd out_fd fdin fdout fd_in fd_out ufd pidfd fs_fd from_dfd to_dfd
    fanotify_fd ruleset_fd group_fd mqdes""".split())
DIRECTORIES = set("dfd olddfd newdfd from_dfd to_dfd".split())
# Likewise a path or a name that the kernel reads. Contents of files and messages are none, keys and their descriptions neither.
TEXTS = set("""filename pathname path oldname newname from_pathname to_pathname new_root put_old specialfile special dev_name dir_name
    name u_name uname _fs_name""".split())
ADDRESSES = set("addr start brk new_addr newsp tls".split())
SIZES = set("""len len_in old_len new_len count size nbytes vlen liovcnt riovcnt nr_segs nr_pages maxnode pos_l pos_h seconds
    bytecount val""".split())
UNSIGNED_FDS = set("max_fd".split())  # the end of a range may be ~0

# {call or calls: {argument: kind}}: "flags SET", "word SET" (a number that may have a name), "hex", "ms", "mode", "signal",
# "sockaddr" (the kernel reads it, and its size is the next argument).
KINDS = {
    "open openat open_by_handle_at mq_open": {"flags": "flags open", "oflag": "flags open"},
    "access faccessat faccessat2": {"mode": "flags access"},
    "faccessat2": {"flags": "flags at_access"},
    "fchmodat2 fchownat utimensat linkat file_getattr file_setattr setxattrat getxattrat listxattrat removexattrat":
        {"flag": "flags at", "flags": "flags at", "at_flags": "flags at"},
    "newfstatat fstatat64": {"flag": "flags at_stat"},
    "statx": {"flags": "flags at_statx", "mask": "flags statx"},
    "unlinkat": {"flag": "flags at_unlink"},
    "name_to_handle_at": {"flag": "flags at_handle"},
    "execveat": {"fd": "word dirfd", "flags": "flags execveat"},
    "renameat2": {"flags": "flags rename"},
    "setxattr lsetxattr fsetxattr": {"flags": "flags xattr"},
    "bind": {"umyaddr": "sockaddr"},
    "connect": {"uservaddr": "sockaddr"},
    "sendto": {"addr": "sockaddr"},
    "sethostname setdomainname": {"name": "ptr"},  # a text that has a size, and no end
    "lseek _llseek": {"whence": "word whence"},
    "preadv2 pwritev2": {"flags": "flags rwf"},
    "fallocate": {"mode": "flags fallocate"},
    "fadvise64": {"advice": "word fadvise"},
    "sync_file_range": {"flags": "flags sync_range"},
    "flock": {"cmd": "flags flock"},
    "splice tee vmsplice": {"flags": "flags splice"},
    "fcntl fcntl64": {"cmd": "word fcntl", "arg": "hex"},
    "ioctl": {"cmd": "ioctl", "arg": "hex"},
    "dup3": {"flags": "flags cloexec"},
    "pipe2": {"flags": "flags pipe"},
    "close_range": {"flags": "flags close_range"},
    "umask": {"mask": "mode"},
    "mmap mmap2 mprotect pkey_mprotect remap_file_pages": {"prot": "flags prot", "flags": "flags map"},
    "mmap": {"fd": "int", "off": "long", "len": "size"},
    "mmap2": {"off": "long"},
    "mremap": {"flags": "flags mremap"},
    "msync": {"flags": "flags msync"},
    "madvise process_madvise": {"behavior": "word madvise"},
    "mlock2": {"flags": "flags mlock"},
    "mlockall": {"flags": "flags mlockall"},
    "memfd_create": {"flags": "flags memfd"},
    "memfd_secret": {"flags": "flags cloexec"},
    "membarrier": {"cmd": "word membarrier"},
    "mbind": {"mode": "flags mempolicy", "flags": "flags mbind"},
    "set_mempolicy": {"mode": "flags mempolicy"},
    "get_mempolicy": {"flags": "flags get_mempolicy"},
    "move_pages": {"flags": "flags mbind"},
    "pkey_alloc": {"init_val": "flags pkey"},
    "clone": {"clone_flags": "clone clone"},
    "unshare": {"unshare_flags": "flags unshare"},
    "setns": {"flags": "flags unshare"},
    "wait4": {"options": "flags wait"},
    "waitpid": {"options": "flags wait"},
    "waitid": {"which": "word waitid_which", "options": "flags waitid"},
    "sched_setscheduler sched_get_priority_max sched_get_priority_min": {"policy": "flags sched"},
    "getpriority setpriority": {"which": "word prio"},
    "ioprio_get ioprio_set": {"which": "word ioprio_who", "ioprio": "hex"},
    "getrlimit setrlimit prlimit64 ugetrlimit": {"resource": "word rlimit"},
    "getrusage": {"who": "word rusage"},
    "getitimer setitimer": {"which": "word itimer"},
    "clock_nanosleep clock_nanosleep_time64 timer_settime timer_settime64": {"flags": "flags timer"},
    "timerfd_create": {"clockid": "word clock", "flags": "flags timerfd"},
    "timerfd_settime timerfd_settime64": {"flags": "flags timerfd_settime"},
    "prctl": {"option": "word prctl"},
    "arch_prctl": {"option": "word arch_prctl"},
    "kill tkill tgkill rt_sigaction rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal signal sigaction": {"sig": "signal"},
    "rt_sigprocmask sigprocmask": {"how": "word sigmask"},
    "signalfd4": {"flags": "flags signalfd"},
    "pidfd_open": {"flags": "flags pidfd"},
    "pidfd_send_signal": {"flags": "flags pidfd_signal"},
    "personality": {"personality": "flags personality"},
    "ptrace": {"request": "word ptrace", "pid": "int", "addr": "hex", "data": "hex"},
    "seccomp": {"op": "word seccomp"},
    "keyctl": {"option": "word keyctl"},
    "add_key request_key": {"ringid": "word keyring", "destringid": "word keyring"},
    "getrandom": {"flags": "flags getrandom"},
    "reboot": {"cmd": "word reboot", "magic1": "hex", "magic2": "hex"},
    "kcmp": {"type": "word kcmp"},
    "syslog": {"type": "word syslog"},
    "rseq": {"flags": "flags rseq", "sig": "hex"},
    "futex futex_time64": {"op": "flags futex", "val3": "hex"},
    "futex_wait futex_wake futex_requeue": {"flags": "flags futex2"},
    "epoll_ctl": {"op": "word epoll_ctl"},
    "epoll_create1": {"flags": "flags epoll"},
    "epoll_wait epoll_pwait": {"timeout": "ms"},
    "poll": {"timeout_msecs": "ms"},
    "eventfd2": {"flags": "flags eventfd"},
    "inotify_init1": {"flags": "flags inotify_init"},
    "inotify_add_watch": {"mask": "flags inotify"},
    "fanotify_init": {"flags": "flags fanotify_init", "event_f_flags": "flags open"},
    "fanotify_mark": {"flags": "flags fanotify_mark", "mask": "hex", "dfd": "word fan_dirfd"},
    "userfaultfd": {"flags": "flags userfaultfd"},
    "io_uring_enter": {"flags": "flags io_uring_enter"},
    "io_uring_register": {"opcode": "word io_uring_register"},
    "landlock_create_ruleset": {"flags": "flags landlock"},
    "landlock_add_rule": {"rule_type": "word landlock_rule"},
    "bpf": {"cmd": "word bpf"},
    "perf_event_open": {"flags": "flags perf"},
    "socket socketpair": {"family": "word socket_family", "type": "flags socket_type"},
    "accept4": {"flags": "flags sock_flag"},
    "shutdown": {"how": "word shutdown"},
    "sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg": {"flags": "flags msg"},
    "getsockopt setsockopt": {"level": "word sock_level"},
    "socketcall": {"call": "word socketcall"},
    "shmget": {"key": "word ipc_key", "shmflg": "flags shm_get"},
    "shmat": {"shmflg": "flags shm_at"},
    "shmctl": {"cmd": "flags shm_ctl"},
    "semget": {"key": "word ipc_key", "semflg": "flags ipc_get"},
    "semctl": {"cmd": "flags sem_ctl"},
    "msgget": {"key": "word ipc_key", "msgflg": "flags ipc_get"},
    "msgctl": {"cmd": "flags msg_ctl"},
    "msgsnd msgrcv": {"msgflg": "flags ipc_nowait"},
    "mount": {"flags": "flags mount"},
    "umount2": {"flags": "flags umount"},
    "fsopen": {"flags": "flags fsopen"},
    "fsconfig": {"cmd": "word fsconfig"},
    "fsmount": {"flags": "flags fsmount", "attr_flags": "flags mount_attr"},
    "fspick": {"flags": "flags fspick"},
    "move_mount": {"flags": "flags move_mount"},
    "open_tree open_tree_attr": {"flags": "flags open_tree"},
    "mount_setattr": {"flags": "flags at"},
    "swapon": {"swap_flags": "flags swap"},
    "finit_module": {"flags": "flags module"},
    "exit exit_group": {"error_code": "int"},
}

# Arguments that depend on another one: call, which, {its words: (argument, kind)}.
BY = [
    ("fcntl fcntl64", "cmd", {"F_SETFL": ("arg", "flags open"), "F_SETFD": ("arg", "flags fd_flag"), "F_ADD_SEALS": ("arg", "flags seal"),
                              "F_DUPFD F_DUPFD_CLOEXEC F_SETOWN F_SETPIPE_SZ": ("arg", "int"), "F_SETSIG": ("arg", "signal"),
                              "F_SETLEASE": ("arg", "word lease"), "F_NOTIFY": ("arg", "flags notify")}),
    ("socket", "family", {"AF_RXRPC": ("protocol", "word socket_family"), "AF_INET": ("protocol", "word ipproto"), "AF_INET6": ("protocol", "word ipproto"),
                                     "AF_NETLINK": ("protocol", "word netlink")}),
    ("setsockopt", "level", {"SOL_SOCKET": ("optname", "word so")}),
    ("getsockopt", "level", {"SOL_SOCKET": ("optname", "word so_get")}),
    ("getsockopt setsockopt", "level", {"SOL_TCP": ("optname", "word so_tcp"),
                                        "SOL_IP": ("optname", "word so_ip"), "SOL_IPV6": ("optname", "word so_ip6"),
                                        "SOL_UDP": ("optname", "word so_udp")}),
    ("prctl", "option", {"PR_SET_PDEATHSIG": ("arg2", "signal")}),
    ("seccomp", "op", {"SECCOMP_SET_MODE_FILTER": ("flags", "flags seccomp_flag")}),
    ("futex futex_time64", "op", {"FUTEX_WAIT_BITSET FUTEX_WAIT_BITSET_PRIVATE FUTEX_WAKE_BITSET FUTEX_WAKE_BITSET_PRIVATE":
                                  ("val3", "word futex_bits")}),
]

# Prototypes of calls that the kernel that was asked may lack, as tracefs would have them.
PROTOTYPES = {
    "init_module": "void * umod, unsigned long len, const char * uargs",
    "finit_module": "int fd, const char * uargs, int flags",
    "delete_module": "const char * name_user, unsigned int flags",
    "kexec_load": "unsigned long entry, unsigned long nr_segments, void * segments, unsigned long flags",
    "kexec_file_load": "int kernel_fd, int initrd_fd, unsigned long cmdline_len, const char * cmdline_ptr, unsigned long flags",
    "get_thread_area": "void * u_info",
    "set_thread_area": "void * u_info",
    "map_shadow_stack": "unsigned long addr, unsigned long size, unsigned int flags",
}

# i386 calls that are no native call of that name, or none of another's.
I386_PROTOTYPES = {
    "mmap": "struct mmap_arg_struct * arg",
    "select": "void * arg",
    "mmap2": "unsigned long addr, unsigned long len, unsigned long prot, unsigned long flags, unsigned long fd, unsigned long pgoff",
    "_newselect": "int n, fd_set * inp, fd_set * outp, fd_set * exp, void * tvp",
    "_llseek": "unsigned int fd, unsigned long offset_high, unsigned long offset_low, loff_t * result, unsigned int whence",
    "waitpid": "pid_t pid, int * stat_addr, int options",
    "umount": "char * name",
    "stat64": "const char * filename, void * statbuf",
    "lstat64": "const char * filename, void * statbuf",
    "fstat64": "unsigned int fd, void * statbuf",
    "fstatat64": "int dfd, const char * filename, void * statbuf, int flag",
    "statfs64": "const char * pathname, size_t size, void * buf",
    "fstatfs64": "unsigned int fd, size_t size, void * buf",
    "ugetrlimit": "unsigned int resource, void * rlim",
    "fcntl64": "unsigned int fd, unsigned int cmd, unsigned long arg",
    "signal": "int sig, void * handler",
    "sigaction": "int sig, void * act, void * oact",
    "sigprocmask": "int how, void * nset, void * oset",
    "sigpending": "void * uset",
    "socketcall": "int call, unsigned long * args",
    "time": "void * tloc",
    "nice": "int increment",
    "ipc": "unsigned int call, int first, unsigned long second, unsigned long third, void * ptr, long fifth",
    "pread64": "unsigned int fd, char * buf, size_t count, unsigned int pos_low, unsigned int pos_high",
    "pwrite64": "unsigned int fd, const char * buf, size_t count, unsigned int pos_low, unsigned int pos_high",
    "truncate64": "const char * path, unsigned int length_low, unsigned int length_high",
    "ftruncate64": "unsigned int fd, unsigned int length_low, unsigned int length_high",
    "fallocate": "int fd, int mode, unsigned int offset_low, unsigned int offset_high, unsigned int len_low, unsigned int len_high",
    # CONFIG_CLONE_BACKWARDS
    "clone": "unsigned long clone_flags, unsigned long newsp, int * parent_tidptr, unsigned long tls, int * child_tidptr",
}
AARCH64_PROTOTYPES = {"clone": I386_PROTOTYPES["clone"]}
