/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * confine: capabilities, and the permitted system calls. The recorder's main process starts hooks, which may be any program, so
 * it loses only what neither recorders nor hooks need. The writer does one thing, so it gets a list of what that takes;
 * anything else fails with EPERM. Thus a new system call that a newer C library tries first makes it fall back, and kills
 * nothing.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sys/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/procquery.h"
#include "types.h"

#define BIT(cap) (1ULL << (cap))

/* Older headers lack CAP_BPF and CAP_PERFMON; these are the kernel's numbers. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

#define CAPS_WRITER (BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_SYSLOG))
#define CAPS_MAIN   (CAPS_WRITER | BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_RESOURCE))
#define CAPS_HOOK   (BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_KILL))

/* ---- system calls ---- */

#define CNT(array) (sizeof(array) / sizeof((array)[0]))
#define REFUSE	   SCMP_ACT_ERRNO(EPERM)

/* By name: if this machine lacks the call, or the library does not know it, there is nothing to filter. */
static int add_name(scmp_filter_ctx ctx, u32 action, const char *name, size_t len)
{
	char text[32];
	int nr, err;

	snprintf(text, sizeof(text), "%.*s", (int)len, name);
	nr = seccomp_syscall_resolve_name(text);
	if (nr == __NR_SCMP_ERROR)
		return 0;
	err = seccomp_rule_add(ctx, action, nr, 0);
	return err == -EDOM || err == -EINVAL ? 0 : err;
}

/* names: separated by spaces. */
static int add_names(scmp_filter_ctx ctx, u32 action, const char *names)
{
	size_t len;
	int err = 0;

	for (; *names && !err; names += len + strspn(names + len, " ")) {
		len = strcspn(names, " ");
		err = add_name(ctx, action, names, len);
	}
	return err;
}

/* Calls of other ABIs (i386 on x86-64) are refused as unknown. */
static scmp_filter_ctx calls_new_filter(u32 action)
{
	scmp_filter_ctx ctx = seccomp_init(action);

	if (!ctx)
		return NULL;
	if (!seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)) &&
	    !seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0)) {
		/* if the library can, a tree instead of a hundred comparisons per call */
		seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
		return ctx;
	}
	seccomp_release(ctx);
	return NULL;
}

/* ---- the main process ---- */

static const char never[] =
	"acct add_key adjtimex chroot clock_adjtime clock_settime create_module delete_module finit_module "
	"fsconfig fsmount fsopen fspick get_kernel_syms init_module ioperm iopl io_uring_enter io_uring_register "
	"io_uring_setup kcmp kexec_file_load kexec_load keyctl lookup_dcookie mount mount_setattr move_mount "
	"name_to_handle_at nfsservctl open_tree pciconfig_read pciconfig_write personality "
	"pivot_root process_vm_readv process_vm_writev ptrace query_module quotactl quotactl_fd reboot "
	"request_key setdomainname sethostname setns settimeofday stime swapoff swapon _sysctl umount umount2 "
	"unshare uselib userfaultfd vhangup vm86 vm86old ";

static int confine_calls_main(void)
{
	scmp_filter_ctx ctx = calls_new_filter(SCMP_ACT_ALLOW);
	int err;

	if (!ctx)
		return -ENOMEM;
#ifdef __x86_64__
	/* a hook may be a 32-bit program: deny it the same calls */
	seccomp_arch_add(ctx, SCMP_ARCH_X86);
#endif
	err = add_names(ctx, REFUSE, never);
	err = err ?: seccomp_load(ctx);
	seccomp_release(ctx);
	return err;
}

/* ---- the writer ---- */

static const char always[] =
	/* files */
	"access close close_range dup dup2 dup3 faccessat faccessat2 fadvise64 fallocate fchmod fchmodat fcntl "
	"fdatasync flock fstat fstatfs fsync ftruncate getcwd getdents getdents64 link linkat lseek lstat mkdir "
	"mkdirat newfstatat open openat pread64 preadv pwrite64 pwritev read readlink readlinkat readv rename "
	"renameat renameat2 rmdir stat statfs statx sync_file_range umask unlink unlinkat write writev "
	/* messages on inherited descriptors */
	"epoll_create1 epoll_ctl epoll_pwait epoll_wait eventfd2 pipe2 poll ppoll pselect6 recvfrom recvmsg "
	"select sendmsg sendto shutdown signalfd4 timerfd_create timerfd_gettime timerfd_settime "
	/* memory */
	"brk madvise memfd_create mincore mlock mlock2 mremap msync munlock munmap "
	/* time */
	"clock_getres clock_gettime clock_nanosleep gettimeofday nanosleep time times "
	/* itself */
	"alarm exit exit_group futex getcpu getegid geteuid getgid getgroups getpgrp getpid getppid getrandom "
	"getresgid getresuid getrusage getsid gettid getuid membarrier restart_syscall rseq rt_sigaction "
	"rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait sched_getaffinity "
	"sched_setaffinity sched_yield set_robust_list setitimer sigaltstack sysinfo uname wait4 waitid ";

/* The bpf() commands that read or run what exists; none that loads, makes or attaches. */
static const u32 bpf_cmds[] = {
	BPF_MAP_LOOKUP_ELEM, BPF_MAP_UPDATE_ELEM,    BPF_MAP_DELETE_ELEM,  BPF_MAP_GET_NEXT_KEY, BPF_OBJ_GET,
	BPF_PROG_TEST_RUN,   BPF_OBJ_GET_INFO_BY_FD, BPF_MAP_LOOKUP_BATCH, BPF_ITER_CREATE,
};

static const u32 prctls[] = {PR_SET_NAME, PR_GET_NAME, PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS};

static const u32 ioctls[] = {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FR_PROCMAP_QUERY};

/* What a thread is made with, and what no clone() may have. */
#define CLONE_ANY_NEW \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

/* Allow call nr if argument at, masked, equals value; compares 32 bits where the kernel uses no more. */
static int add_if(scmp_filter_ctx ctx, int nr, u32 at, u64 mask, u64 value)
{
	const struct scmp_arg_cmp cmp = {at, SCMP_CMP_MASKED_EQ, mask, value};

	return seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, nr, 1, &cmp);
}

static int add_values(scmp_filter_ctx ctx, int nr, u32 at, const u32 *value, size_t cnt)
{
	size_t i;
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		err = add_if(ctx, nr, at, ~0U, value[i]);
	return err;
}

/*
 * Threads (sys/threads.h), and processes by fork() (sys/errand.h), which are confined as the one that makes them. The flags of
 * clone3() are in memory, so it does not exist: then the C library calls clone().
 */
static int add_threads(scmp_filter_ctx ctx)
{
	int err = add_if(ctx, SCMP_SYS(clone), 0, CLONE_THREAD | CLONE_ANY_NEW, CLONE_THREAD);

	err = err ?: add_if(ctx, SCMP_SYS(clone), 0, ~0U, CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | SIGCHLD);
	return err ?: add_names(ctx, SCMP_ACT_ERRNO(ENOSYS), "clone3");
}

static int add_bounded(scmp_filter_ctx ctx)
{
	int err = add_values(ctx, SCMP_SYS(bpf), 0, bpf_cmds, CNT(bpf_cmds));

	err = err ?: add_values(ctx, SCMP_SYS(prctl), 0, prctls, CNT(prctls));
	err = err ?: add_values(ctx, SCMP_SYS(ioctl), 1, ioctls, CNT(ioctls));
	/* paths of cgroups by id (sys/cgroup.h): a descriptor that can only be named */
	err = err ?: add_if(ctx, SCMP_SYS(open_by_handle_at), 2, ~0U, O_PATH | O_CLOEXEC);
	/* no executable memory */
	err = err ?: add_if(ctx, SCMP_SYS(mmap), 2, PROT_EXEC, 0);
	err = err ?: add_if(ctx, SCMP_SYS(mprotect), 2, PROT_EXEC, 0);
	/* signals and limits only for itself: abort() */
	err = err ?: add_if(ctx, SCMP_SYS(tgkill), 0, ~0U, getpid());
	err = err ?: add_if(ctx, SCMP_SYS(kill), 0, ~0U, getpid());
	return err ?: add_if(ctx, SCMP_SYS(prlimit64), 2, ~0ULL, 0);
}

static int confine_calls_writer(void)
{
	scmp_filter_ctx ctx = calls_new_filter(REFUSE);
	int err;

	if (!ctx)
		return -ENOMEM;
	err = add_names(ctx, SCMP_ACT_ALLOW, always);
	err = err ?: add_bounded(ctx);
	err = err ?: add_threads(ctx);
	err = err ?: seccomp_load(ctx);
	seccomp_release(ctx);
	return err;
}

/* ---- the kernel's sets; glibc has no wrappers ---- */

static int get_caps(u64 *effective, u64 *permitted)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d))
		return -errno;
	*effective = d[0].effective | (u64)d[1].effective << 32;
	*permitted = d[0].permitted | (u64)d[1].permitted << 32;
	return 0;
}

bool fr_may(unsigned int cap)
{
	u64 effective = 0, permitted;

	return !get_caps(&effective, &permitted) && effective & BIT(cap);
}

/* Clears the inheritable set, and the ambient one with it. */
static int set_caps(u64 effective, u64 permitted)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {
		{.effective = effective, .permitted = permitted},
		{.effective = effective >> 32, .permitted = permitted >> 32},
	};

	return syscall(SYS_capset, &h, d) ? -errno : 0;
}

/* ---- dropping privileges ---- */

/* Can the directory be written only by overriding its permissions? Checked with the future effective set. */
static bool needs_override(const char *dir)
{
	return dir && faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) && errno == EACCES;
}

/*
 * Drop everything but keep from the bounding set. That needs CAP_SETPCAP: a service's user lacks it, but its manager bounds it.
 */
static bool bound(u64 keep)
{
	unsigned int cap;
	bool done = true;

	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(keep & BIT(cap)) && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			done = false;
	return done;
}

static int confine_drop_caps(u64 keep, const char *dir, struct fr_confined *out)
{
	u64 effective = 0, permitted = 0;
	int err = get_caps(&effective, &permitted);

	if (err)
		return err;
	keep &= permitted;
	if (permitted & BIT(CAP_DAC_OVERRIDE)) {
		err = set_caps(keep, permitted);
		if (!err && needs_override(dir))
			keep |= BIT(CAP_DAC_OVERRIDE);
		set_caps(effective, permitted);
	}
	out->bound = bound(keep);
	err = err ?: set_caps(keep, keep);
	if (!err)
		out->caps = keep;
	return err;
}

static int confine(u64 keep, const char *dir, int (*limit_calls)(void), struct fr_confined *out)
{
	struct fr_confined mine;
	int err;

	if (!out)
		out = &mine;
	memset(out, 0, sizeof(*out));
	out->no_new = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!out->no_new)
		fr_warn_errno(-errno, "this kernel refuses no_new_privs");
	err = confine_drop_caps(keep, dir, out);
	if (err) {
		fr_err("cannot give up capabilities: %s: a recorder does not go on with all of them", strerror(-err));
		return err;
	}
	err = limit_calls();
	out->seccomp = !err;
	if (err)
		fr_warn("system calls are not filtered: %s: seccomp is refused here, capabilities are dropped all the same",
			strerror(-err));
	return 0;
}

int fr_confine_main(const struct fr_confine_conf *conf, struct fr_confined *out)
{
	return confine(CAPS_MAIN | (conf->hook ? CAPS_HOOK : 0), conf->dir, confine_calls_main, out);
}

int fr_confine_writer(const struct fr_confine_conf *conf, struct fr_confined *out)
{
	return confine(CAPS_WRITER, conf->dir, confine_calls_writer, out);
}
