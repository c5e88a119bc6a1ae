/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hook_spawn: one command: its user, its environment, its process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/escape.h"
#include "live/hook/hook_spawn.h"
#include "sys/child.h"
#include "sys/fd.h"
#include "sys/nss.h"

#define SAFE_FD 16 /* descriptors that the child needs are first moved here or above */

/* ---- the user ---- */

static int say_no_user(const char *name, int err)
{
	if (err == -ENOENT)
		fr_err("there is no user '%s': ExecUser= names the user hooks run as", name);
	else
		fr_err_errno(err, "cannot look up user '%s'", name);
	return err;
}

int fr_hook_check_user(const char *user, void (*leave)(void *arg), void *leave_arg)
{
	struct fr_nss_user *u;
	int err;

	if (!user)
		return 0;
	u = malloc(sizeof(*u));
	err = u ? fr_nss_user(user, leave, leave_arg, u) : -ENOMEM;
	free(u);
	return err;
}

int fr_hook_find_user(const struct fr_hook_conf *conf, struct fr_hook_user *out)
{
	const char *name = conf->user;
	struct fr_nss_user *u;
	int err;

	memset(out, 0, sizeof(*out));
	if (!name)
		return 0;
	u = malloc(sizeof(*u));
	err = u ? fr_nss_user(name, conf->leave, conf->leave_arg, u) : -ENOMEM;
	if (err) {
		free(u);
		return say_no_user(name, err);
	}
	out->uid = u->uid;
	out->gid = u->gid;
	out->change = u->uid != geteuid() || u->gid != getegid();
	out->group_cnt = u->group_cnt;
	out->name = strdup(u->name);
	out->home = strdup(u->home);
	out->group = malloc((u->group_cnt + 1) * sizeof(*out->group));
	if (out->name && out->home && out->group) {
		memcpy(out->group, u->group, u->group_cnt * sizeof(*out->group));
		free(u);
		return 0;
	}
	free(u);
	fr_hook_user_free(out);
	return say_no_user(name, -ENOMEM);
}

void fr_hook_user_free(struct fr_hook_user *u)
{
	free(u->group);
	free(u->name);
	free(u->home);
	memset(u, 0, sizeof(*u));
}

/* ---- the environment ---- */

__attribute__((format(printf, 2, 3))) static bool put(struct fr_hook_own *o, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&o->env[o->env_cnt], fmt, ap);
	va_end(ap);
	if (len < 0)
		o->env[o->env_cnt] = NULL;
	else
		o->env_cnt++;
	return len >= 0;
}

static bool spawn_put_text(struct fr_hook_own *o, const char *name, const char *value)
{
	return !value || !*value || put(o, "%s=%s", name, value);
}

/* What processes choose: nothing that ends a line, or moves the cursor of a terminal on which a command shows it. */
static bool put_foreign(struct fr_hook_own *o, const char *name, const char *value)
{
	char *escaped = value ? malloc(4 * strlen(value) + 1) : NULL;
	bool ok = !value || (escaped && spawn_put_text(o, name, fr_escape_str(escaped, 4 * strlen(value) + 1, value)));

	free(escaped);
	return ok;
}

static bool fill_env(struct fr_hook_own *o, const struct fr_hook_ask *ask)
{
	const char *lang = getenv("LANG");
	struct utsname un;
	bool ok;

	uname(&un);
	ok = put(o, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin") && spawn_put_text(o, "LANG", lang) &&
	     put(o, "SHELL=/bin/sh") && put(o, "FLIGHTREC_FD=%d", FR_HOOK_FD) &&
	     spawn_put_text(o, "FLIGHTREC_FILE", ask->file) && spawn_put_text(o, "FLIGHTREC_REASON", ask->reason) &&
	     spawn_put_text(o, "FLIGHTREC_SESSION", ask->session) && spawn_put_text(o, "FLIGHTREC_HOST", un.nodename) &&
	     put_foreign(o, "FLIGHTREC_COMM", ask->comm) && put_foreign(o, "FLIGHTREC_EXE", ask->exe);
	if (ok && ask->pid)
		ok = put(o, "FLIGHTREC_PID=%u", ask->pid);
	if (ok && ask->sig)
		ok = put(o, "FLIGHTREC_SIGNAL=%d", ask->sig);
	return ok;
}

struct fr_hook_own *fr_hook_own(const struct fr_hook_ask *ask)
{
	struct fr_hook_own *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->file = strdup(ask->file);
	if (o->file && fill_env(o, ask))
		return o;
	fr_hook_own_free(o);
	return NULL;
}

void fr_hook_own_free(struct fr_hook_own *o)
{
	u32 i;

	if (!o)
		return;
	for (i = 0; i < o->env_cnt; i++)
		free(o->env[i]);
	free(o->file);
	free(o);
}

/* ---- the child: from here on only what is safe after fork() ---- */

struct child {
	const struct fr_hook_conf *conf;
	const char *command;
	const struct fr_hook_user *user;
	const char *file;
	char **env;
	int null_fd, tell_fd;
};

static int spawn_default_signals(void)
{
	struct sigaction act = {.sa_handler = SIG_DFL};
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		sigaction(sig, &act, NULL); /* fails for SIGKILL and SIGSTOP, which is fine */
	sigemptyset(&none);
	return sigprocmask(SIG_SETMASK, &none, NULL);
}

static int become_user(const struct fr_hook_user *u)
{
	if (!u->change)
		return 0;
	return setgroups(u->group_cnt, u->group) || setresgid(u->gid, u->gid, u->gid) || setresuid(u->uid, u->uid, u->uid);
}

/* Even if the user stays root: a hook has no business with them. */
static int spawn_drop_caps(void)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {};

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &h, none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/*
 * 0 /dev/null, 1 and 2 ours, 3 the snapshot; the pipe is close-on-exec. If the snapshot was removed meanwhile, the command runs
 * anyway, and its descriptor reads as empty. Its disk may not answer: then this process waits, not the recorder, whose
 * descriptors and rings it has given up before, so that nobody waits for a lock or a socket of them, and memory that is to go
 * goes.
 */
static int arrange_fds(const struct child *c)
{
	int fd;

	if (dup2(c->null_fd, 0) < 0)
		return -1;
	syscall(SYS_close_range, FR_HOOK_FD, c->tell_fd - 1, 0); /* where a kernel refuses it, they are close-on-exec */
	syscall(SYS_close_range, c->tell_fd + 1, ~0U, 0);
	if (c->conf->leave)
		c->conf->leave(c->conf->leave_arg);
	fd = open(c->file, O_RDONLY | O_NOFOLLOW);
	if (fd == FR_HOOK_FD)
		return 0;
	if (dup2(fd < 0 ? 0 : fd, FR_HOOK_FD) < 0)
		return -1;
	if (fd >= 0)
		close(fd);
	return 0;
}

static _Noreturn void be_child(const struct child *c)
{
	char *argv[] = {"sh", "-c", (char *)c->command, NULL};
	int err;

	if (!setpgid(0, 0) && !spawn_default_signals() && !chdir("/") && !arrange_fds(c) && !become_user(c->user) &&
	    !spawn_drop_caps()) {
		umask(077);
		fr_fd_restore_limit();
		execve("/bin/sh", argv, c->env);
	}
	err = errno;
	if (write(c->tell_fd, &err, sizeof(err)) < 0)
		_exit(127);
	_exit(127);
}

/* ---- the parent ---- */

/* Keep the low numbers free: the child uses them. */
static int move_up(int fd)
{
	int up, err;

	if (fd < 0)
		return -errno;
	up = fcntl(fd, F_DUPFD_CLOEXEC, SAFE_FD);
	err = errno;
	close(fd);
	return up < 0 ? -err : up;
}

static void spawn_close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int spawn(struct child *c, struct fr_hook_process *out)
{
	int p[2], err;

	if (pipe2(p, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	c->tell_fd = move_up(p[1]);
	out->pid = c->tell_fd < 0 ? -1 : fork();
	if (!out->pid)
		be_child(c);
	err = out->pid < 0 ? -errno : 0;
	spawn_close_fd(c->tell_fd);
	if (!err)
		out->pidfd = syscall(SYS_pidfd_open, out->pid, 0);
	if (!err && out->pidfd < 0) {
		err = -errno;
		kill(out->pid, SIGKILL); /* it may not have its own group yet */
		fr_child_end(out->pid, 0);
	}
	out->tell_fd = p[0];
	if (err)
		close(p[0]);
	return err;
}

int fr_hook_spawn(const struct fr_hook_conf *conf, const char *command, const struct fr_hook_user *user,
		  const struct fr_hook_own *own, struct fr_hook_process *out)
{
	char user_env[128], home_env[PATH_MAX], *env[FR_HOOK_ENV_MAX + 1];
	struct child c = {.conf = conf, .command = command, .user = user, .file = own->file, .env = env};
	u32 cnt = own->env_cnt;
	int err;

	memcpy(env, own->env, sizeof(env));
	if (user->name && cnt + 2 <= FR_HOOK_ENV_MAX) {
		snprintf(user_env, sizeof(user_env), "USER=%s", user->name);
		snprintf(home_env, sizeof(home_env), "HOME=%s", user->home);
		env[cnt++] = user_env;
		env[cnt++] = home_env;
	}
	env[cnt] = NULL;
	c.null_fd = move_up(open("/dev/null", O_RDONLY | O_CLOEXEC));
	if (c.null_fd < 0)
		return c.null_fd;
	err = spawn(&c, out);
	close(c.null_fd);
	return err;
}
