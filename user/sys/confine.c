/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* confine: capabilities. The permitted system calls are in confine_calls.c. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sys/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/confine_int.h"

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
	return confine(CAPS_MAIN | (conf->hook ? CAPS_HOOK : 0), conf->dir, fr_confine_calls_main, out);
}

int fr_confine_writer(const struct fr_confine_conf *conf, struct fr_confined *out)
{
	return confine(CAPS_WRITER, conf->dir, fr_confine_calls_writer, out);
}
