/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/schema/sysnames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert.h"
#include "base/schema/syscalls.h"
#include "session.h"
#include "task_state.h"
#include "wait.h"

#define CNT(a) (sizeof(a) / sizeof((a)[0]))

/* Names by number; some numbers may have none. */
struct list {
	const char *const *name;
	size_t cnt;
};

static const char *const signals[] = {
	[1] = "SIGHUP",	  [2] = "SIGINT",     [3] = "SIGQUIT",	[4] = "SIGILL",	    [5] = "SIGTRAP",  [6] = "SIGABRT",
	[7] = "SIGBUS",	  [8] = "SIGFPE",     [9] = "SIGKILL",	[10] = "SIGUSR1",   [11] = "SIGSEGV", [12] = "SIGUSR2",
	[13] = "SIGPIPE", [14] = "SIGALRM",   [15] = "SIGTERM", [16] = "SIGSTKFLT", [17] = "SIGCHLD", [18] = "SIGCONT",
	[19] = "SIGSTOP", [20] = "SIGTSTP",   [21] = "SIGTTIN", [22] = "SIGTTOU",   [23] = "SIGURG",  [24] = "SIGXCPU",
	[25] = "SIGXFSZ", [26] = "SIGVTALRM", [27] = "SIGPROF", [28] = "SIGWINCH",  [29] = "SIGIO",   [30] = "SIGPWR",
	[31] = "SIGSYS",
};

#define SIGRT_FIRST 34 /* SIGRTMIN as glibc defines it: the threads library keeps 32 and 33 */
#define SIGRT_LAST  64

static const char *const realtime_signals[] = {
	"SIGRTMIN",    "SIGRTMIN+1",  "SIGRTMIN+2",  "SIGRTMIN+3",  "SIGRTMIN+4",  "SIGRTMIN+5",  "SIGRTMIN+6",	 "SIGRTMIN+7",
	"SIGRTMIN+8",  "SIGRTMIN+9",  "SIGRTMIN+10", "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15",
	"SIGRTMAX-14", "SIGRTMAX-13", "SIGRTMAX-12", "SIGRTMAX-11", "SIGRTMAX-10", "SIGRTMAX-9",  "SIGRTMAX-8",	 "SIGRTMAX-7",
	"SIGRTMAX-6",  "SIGRTMAX-5",  "SIGRTMAX-4",  "SIGRTMAX-3",  "SIGRTMAX-2",  "SIGRTMAX-1",  "SIGRTMAX",
};

static const char *const errors[] = {
	[1] = "EPERM",
	[2] = "ENOENT",
	[3] = "ESRCH",
	[4] = "EINTR",
	[5] = "EIO",
	[6] = "ENXIO",
	[7] = "E2BIG",
	[8] = "ENOEXEC",
	[9] = "EBADF",
	[10] = "ECHILD",
	[11] = "EAGAIN",
	[12] = "ENOMEM",
	[13] = "EACCES",
	[14] = "EFAULT",
	[15] = "ENOTBLK",
	[16] = "EBUSY",
	[17] = "EEXIST",
	[18] = "EXDEV",
	[19] = "ENODEV",
	[20] = "ENOTDIR",
	[21] = "EISDIR",
	[22] = "EINVAL",
	[23] = "ENFILE",
	[24] = "EMFILE",
	[25] = "ENOTTY",
	[26] = "ETXTBSY",
	[27] = "EFBIG",
	[28] = "ENOSPC",
	[29] = "ESPIPE",
	[30] = "EROFS",
	[31] = "EMLINK",
	[32] = "EPIPE",
	[33] = "EDOM",
	[34] = "ERANGE",
	[35] = "EDEADLK",
	[36] = "ENAMETOOLONG",
	[37] = "ENOLCK",
	[38] = "ENOSYS",
	[39] = "ENOTEMPTY",
	[40] = "ELOOP",
	[42] = "ENOMSG",
	[43] = "EIDRM",
	[44] = "ECHRNG",
	[45] = "EL2NSYNC",
	[46] = "EL3HLT",
	[47] = "EL3RST",
	[48] = "ELNRNG",
	[49] = "EUNATCH",
	[50] = "ENOCSI",
	[51] = "EL2HLT",
	[52] = "EBADE",
	[53] = "EBADR",
	[54] = "EXFULL",
	[55] = "ENOANO",
	[56] = "EBADRQC",
	[57] = "EBADSLT",
	[59] = "EBFONT",
	[60] = "ENOSTR",
	[61] = "ENODATA",
	[62] = "ETIME",
	[63] = "ENOSR",
	[64] = "ENONET",
	[65] = "ENOPKG",
	[66] = "EREMOTE",
	[67] = "ENOLINK",
	[68] = "EADV",
	[69] = "ESRMNT",
	[70] = "ECOMM",
	[71] = "EPROTO",
	[72] = "EMULTIHOP",
	[73] = "EDOTDOT",
	[74] = "EBADMSG",
	[75] = "EOVERFLOW",
	[76] = "ENOTUNIQ",
	[77] = "EBADFD",
	[78] = "EREMCHG",
	[79] = "ELIBACC",
	[80] = "ELIBBAD",
	[81] = "ELIBSCN",
	[82] = "ELIBMAX",
	[83] = "ELIBEXEC",
	[84] = "EILSEQ",
	[85] = "ERESTART",
	[86] = "ESTRPIPE",
	[87] = "EUSERS",
	[88] = "ENOTSOCK",
	[89] = "EDESTADDRREQ",
	[90] = "EMSGSIZE",
	[91] = "EPROTOTYPE",
	[92] = "ENOPROTOOPT",
	[93] = "EPROTONOSUPPORT",
	[94] = "ESOCKTNOSUPPORT",
	[95] = "EOPNOTSUPP",
	[96] = "EPFNOSUPPORT",
	[97] = "EAFNOSUPPORT",
	[98] = "EADDRINUSE",
	[99] = "EADDRNOTAVAIL",
	[100] = "ENETDOWN",
	[101] = "ENETUNREACH",
	[102] = "ENETRESET",
	[103] = "ECONNABORTED",
	[104] = "ECONNRESET",
	[105] = "ENOBUFS",
	[106] = "EISCONN",
	[107] = "ENOTCONN",
	[108] = "ESHUTDOWN",
	[109] = "ETOOMANYREFS",
	[110] = "ETIMEDOUT",
	[111] = "ECONNREFUSED",
	[112] = "EHOSTDOWN",
	[113] = "EHOSTUNREACH",
	[114] = "EALREADY",
	[115] = "EINPROGRESS",
	[116] = "ESTALE",
	[117] = "EUCLEAN",
	[118] = "ENOTNAM",
	[119] = "ENAVAIL",
	[120] = "EISNAM",
	[121] = "EREMOTEIO",
	[122] = "EDQUOT",
	[123] = "ENOMEDIUM",
	[124] = "EMEDIUMTYPE",
	[125] = "ECANCELED",
	[126] = "ENOKEY",
	[127] = "EKEYEXPIRED",
	[128] = "EKEYREVOKED",
	[129] = "EKEYREJECTED",
	[130] = "EOWNERDEAD",
	[131] = "ENOTRECOVERABLE",
	[132] = "ERFKILL",
	[133] = "EHWPOISON", /* the kernel's own, seen when a system call is restarted */
	[512] = "ERESTARTSYS",
	[513] = "ERESTARTNOINTR",
	[514] = "ERESTARTNOHAND",
	[515] = "ENOIOCTLCMD",
	[516] = "ERESTART_RESTARTBLOCK",
	[517] = "EPROBE_DEFER",
};

static const char *const softirqs[] = {"HI",	   "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
				       "IRQ_POLL", "TASKLET", "SCHED",	"HRTIMER", "RCU"};
static const char *const irq_results[] = {"none", "handled", "wake_thread"};
static const char *const handlers[] = {"SIG_DFL", "SIG_IGN"};
static const char *const verdicts[] = {
#define V(nr, name, doc) [nr] = #name,
	FR_VERDICTS(V)
#undef V
};
static const char *const waited_in[] = {
#define W(nr, name, doc) [nr] = #name,
	FR_WAITED_IN(W)
#undef W
};
static const char *const wakers[] = {
#define W(nr, name, doc) [nr] = #name,
	FR_WAKERS(W)
#undef W
};
static const char *const unreads[] = {
#define U(nr, name, doc) [nr] = #name,
	FR_UNREADS(U)
#undef U
};
static const char *const abis[] = {"native", "32-bit"};

/* A value of several bits has no name. */
#define STATE(name) [__builtin_ctz(FR_PREV_STATE_##name)]
static const char *const state_bits[] = {
	STATE(SLEEPING) = "S", STATE(BLOCKED) = "D", STATE(STOPPED) = "T", STATE(TRACED) = "t",	    STATE(DEAD) = "X",
	STATE(ZOMBIE) = "Z",   STATE(PARKED) = "P",  STATE(IDLE) = "I",	   STATE(PREEMPTED) = "R+",
};
#undef STATE

/* SI_* that tell who sent it; positive ones depend on the signal. */
static const char *const negated_codes[] = {"SI_USER",	  "SI_QUEUE", "SI_TIMER", "SI_MESGQ",
					    "SI_ASYNCIO", "SI_SIGIO", "SI_TKILL", "SI_DETHREAD"};
#define CODE_KERNEL 0x80

static const struct list list_of[FR_STYLE_CNT] = {
	[FR_STYLE_SIG] = {signals, CNT(signals)},
	[FR_STYLE_SOFTIRQ] = {softirqs, CNT(softirqs)},
	[FR_STYLE_IRQRET] = {irq_results, CNT(irq_results)},
	[FR_STYLE_HANDLER] = {handlers, CNT(handlers)},
	[FR_STYLE_ABI] = {abis, CNT(abis)},
	[FR_STYLE_VERDICT] = {verdicts, CNT(verdicts)},
	[FR_STYLE_WAITEDIN] = {waited_in, CNT(waited_in)},
	[FR_STYLE_WAKER] = {wakers, CNT(wakers)},
	[FR_STYLE_UNREAD] = {unreads, CNT(unreads)},
};

static const char *sysnames_list_name(struct list l, s64 v)
{
	return v >= 0 && (u64)v < l.cnt ? l.name[v] : NULL;
}

static int list_find(struct list l, const char *name, s64 *v)
{
	size_t i;

	for (i = 0; i < l.cnt; i++) {
		if (l.name[i] && !strcmp(l.name[i], name)) {
			*v = i;
			return 0;
		}
	}
	return -ENOENT;
}

const char *fr_errno_name(s64 nr)
{
	return sysnames_list_name((struct list){errors, CNT(errors)}, nr);
}

const char *fr_ret_error(s64 ret)
{
	return fr_ret_is_error(ret) ? fr_errno_name(-ret) : NULL;
}

s64 fr_errno_find(const char *name)
{
	s64 v;

	return list_find((struct list){errors, CNT(errors)}, name, &v) ? 0 : v;
}

const char *fr_signal_name(s64 nr)
{
	if (nr >= SIGRT_FIRST && nr <= SIGRT_LAST)
		return realtime_signals[nr - SIGRT_FIRST];
	return sysnames_list_name(list_of[FR_STYLE_SIG], nr);
}

static int signal_find(const char *name, s64 *v)
{
	if (!list_find(list_of[FR_STYLE_SIG], name, v))
		return 0;
	if (list_find((struct list){realtime_signals, CNT(realtime_signals)}, name, v))
		return -ENOENT;
	*v += SIGRT_FIRST;
	return 0;
}

static const char *sysnames_state_name(s64 v)
{
	size_t i;

	if (!v)
		return "R";
	for (i = 0; i < CNT(state_bits); i++) {
		if (v == 1 << i)
			return state_bits[i];
	}
	return NULL;
}

static int state_find(const char *name, s64 *v)
{
	s64 bit;

	if (!strcmp(name, "R")) {
		*v = 0;
		return 0;
	}
	if (list_find((struct list){state_bits, CNT(state_bits)}, name, &bit))
		return -ENOENT;
	*v = 1 << bit;
	return 0;
}

static const char *sysnames_code_name(s64 v)
{
	return v == CODE_KERNEL ? "SI_KERNEL" : sysnames_list_name((struct list){negated_codes, CNT(negated_codes)}, -v);
}

static int code_find(const char *name, s64 *v)
{
	s64 nr;

	if (!strcmp(name, "SI_KERNEL")) {
		*v = CODE_KERNEL;
		return 0;
	}
	if (list_find((struct list){negated_codes, CNT(negated_codes)}, name, &nr))
		return -ENOENT;
	*v = -nr;
	return 0;
}

static int syscall_find(const struct fr_sys *sys, const char *name, s64 *v)
{
	int nr = sys->arch ? fr_syscall_nr(sys->arch, sys->abi, name) : -1;

	if (nr < 0)
		return -ENOENT;
	*v = nr;
	return 0;
}

const char *fr_sysname(const struct fr_sys *sys, enum fr_style style, s64 v)
{
	switch (style) {
	case FR_STYLE_SYSCALL:
		return sys->arch ? fr_syscall_name(sys->arch, sys->abi, v) : NULL;
	case FR_STYLE_SIG:
		return fr_signal_name(v);
	case FR_STYLE_STATE:
		return sysnames_state_name(v);
	case FR_STYLE_SICODE:
		return sysnames_code_name(v);
	default:
		return sysnames_list_name(list_of[style], v);
	}
}

/* ENOENT or -ENOENT: both mean the negative value that is returned. */
static int ret_find(const char *name, s64 *v)
{
	s64 nr = fr_errno_find(name + (*name == '-'));

	if (!nr)
		return -ENOENT;
	*v = -nr;
	return 0;
}

int fr_sysname_find(const struct fr_sys *sys, enum fr_style style, const char *name, s64 *v)
{
	switch (style) {
	case FR_STYLE_SYSCALL:
		return syscall_find(sys, name, v);
	case FR_STYLE_SIG:
		return signal_find(name, v);
	case FR_STYLE_STATE:
		return state_find(name, v);
	case FR_STYLE_SICODE:
		return code_find(name, v);
	case FR_STYLE_RET:
		return ret_find(name, v);
	default:
		return list_find(list_of[style], name, v);
	}
}

bool fr_sysname_style(enum fr_style style)
{
	return style == FR_STYLE_SYSCALL || style == FR_STYLE_STATE || style == FR_STYLE_SICODE || style == FR_STYLE_RET ||
	       list_of[style].cnt;
}

static const char *exit_text(s64 v, char room[FR_SYSNAME_SZ])
{
	const char *sig = fr_signal_name(v & 0x7f);

	if (v & 0x7f && !sig)
		return NULL;
	if (v & 0x7f)
		snprintf(room, FR_SYSNAME_SZ, "%s%s", sig, v & 0x80 ? "+core" : "");
	else
		snprintf(room, FR_SYSNAME_SZ, "exit(%d)", (int)(v >> 8 & 0xff));
	return room;
}

const char *fr_sysname_text(const struct fr_sys *sys, enum fr_style style, s64 v, char room[FR_SYSNAME_SZ])
{
	const char *error = style == FR_STYLE_RET ? fr_ret_error(v) : NULL;

	if (style == FR_STYLE_EXIT)
		return exit_text(v, room);
	if (!error)
		return style == FR_STYLE_RET ? NULL : fr_sysname(sys, style, v);
	snprintf(room, FR_SYSNAME_SZ, "-%s", error);
	return room;
}

const char *fr_sysname_call(const struct fr_sys *sys, s32 id, char room[FR_SYSNAME_CALL_SZ])
{
	const char *name = fr_sysname(sys, FR_STYLE_SYSCALL, id), *compat = sys->abi ? "/32" : "";

	if (name)
		snprintf(room, FR_SYSNAME_CALL_SZ, "%s%s", name, compat);
	else
		snprintf(room, FR_SYSNAME_CALL_SZ, "syscall %d%s", id, compat);
	return room;
}
