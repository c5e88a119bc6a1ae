/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sources: moments of rules that no BPF program sees: pressure, time; and the periodic look at all tasks. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/units.h"
#include "base/trigger/psi.h"
#include "live/recorder/engine_int.h"
#include "sys/confine.h"

#define PSI_STEP_US 2000000ULL /* windows without CAP_SYS_RESOURCE are multiples of this */

struct source {
	struct fr_engine *e;
	struct fr_sources *all;
	u32 nr; /* of its rule */
	int fd; /* -1: none */
	u64 value_ns;
	u64 every_ns;
	char file[64]; /* of a psi source */
	bool full;
	bool proven;  /* the kernel's word is enough */
	u64 total_us; /* stalled when it was armed or not believed */
};

struct fr_sources {
	struct fr_engine *e;
	struct source src[FR_TRIGGER_MAX];
	u32 cnt;
	u64 look_ns;	/* period of the look; 0: no rule needs it */
	u32 look_kinds; /* bit K: rules of kind K need it */
	int look_fd;
	struct fr_blind blind;
};

/* ---- psi ---- */

static int sources_arm(int fd, bool full, u64 stall_us, u64 window_us)
{
	char text[96];
	int len = snprintf(text, sizeof(text), "%s %llu %llu", full ? "full" : "some", stall_us, window_us);

	return write(fd, text, len + 1) < 0 ? -errno : 0;
}

/* Unprivileged watchers get multiples of two seconds: use the same share of the next longer window. */
static int arm_longer(struct source *src, const struct fr_trigger *t)
{
	u64 window_us = (t->psi_window_us + PSI_STEP_US - 1) / PSI_STEP_US * PSI_STEP_US;
	u64 stall_us = t->psi_stall_us * window_us / t->psi_window_us;
	int err = sources_arm(src->fd, t->psi_full, stall_us, window_us);
	char a[32], b[32];

	src->value_ns = stall_us * 1000;
	if (!err)
		fr_warn("trigger '%s': the kernel grants windows of 2 s only (CAP_SYS_RESOURCE is missing): %s in %s", t->text,
			fr_show_duration(stall_us * 1000, a, sizeof(a)), fr_show_duration(window_us * 1000, b, sizeof(b)));
	return err;
}

/*
 * The current values, as the kernel prints them, and how long tasks have stalled since the machine was started. False: unknown.
 * Read here, not by an errand: its lock only the kernel has, while it adds up, and a fork is worst while memory is short.
 */
static bool read_psi(const struct source *src, char line[FR_ALERT_PATH_MAX], u64 *total_us)
{
	int fd = open(src->file, O_RDONLY | O_CLOEXEC);
	char text[FR_PSI_SZ];
	ssize_t sz = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1); /* the kernel gives all of it at once */

	if (fd >= 0)
		close(fd);
	text[sz > 0 ? sz : 0] = 0;
	return fr_psi_find(text, src->full, line, FR_ALERT_PATH_MAX, total_us);
}

/*
 * To a watcher without CAP_SYS_RESOURCE kernels up to 6.18 at least report at once what has stalled since the machine was
 * started. They are believed once as much as the rule asks for has stalled since they last spoke. Watchers with the capability
 * have sums of their own in the kernel, which may be ahead of those in the file.
 */
static bool has_stalled(struct source *src, u64 total_us)
{
	if (!src->proven && (total_us - src->total_us) * 1000 < src->value_ns) {
		src->total_us = total_us;
		return false;
	}
	src->proven = true;
	return true;
}

static int open_psi(struct source *src, const struct fr_trigger *t)
{
	char line[FR_ALERT_PATH_MAX];
	bool none;
	int err;

	snprintf(src->file, sizeof(src->file), "/proc/pressure/%s", t->psi);
	src->full = t->psi_full;
	src->proven = fr_may(CAP_SYS_RESOURCE);
	read_psi(src, line, &src->total_us);
	src->value_ns = t->psi_stall_us * 1000;
	src->fd = open(src->file, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	err = src->fd < 0 ? -errno : sources_arm(src->fd, t->psi_full, t->psi_stall_us, t->psi_window_us);
	if ((err == -EINVAL || err == -EPERM) && src->fd >= 0 && t->psi_window_us % PSI_STEP_US)
		err = arm_longer(src, t);
	none = err == -ENOENT || err == -EOPNOTSUPP;
	if (err)
		fr_err("trigger '%s': %s: %s: %s", t->text, src->file, strerror(-err),
		       none ? "this kernel measures no pressure: boot it with psi=1 (CONFIG_PSI)"
			    : "run as root; a window is from 500 ms to 10 s");
	return none ? -ENOTSUP : err;
}

static void on_psi(void *arg, u32 events)
{
	struct source *src = arg;
	char line[FR_ALERT_PATH_MAX];
	u64 total_us;

	if (events & EPOLLERR) {
		fr_warn("%s ended: no more triggers from it until `flightrec reload`", src->file);
		fr_daemon_unwatch(src->e->d, src->fd);
		src->all->blind.psi_cnt++;
		return;
	}
	/* a file that cannot be read proves nothing, and is no reason to miss what the kernel reports */
	if (!read_psi(src, line, &total_us) || has_stalled(src, total_us))
		fr_engine_pull_rule(src->e, src->nr, src->value_ns, line);
}

/* ---- time ---- */

static void on_every(void *arg, u32 events)
{
	struct source *src = arg;

	(void)events;
	fr_engine_pull_rule(src->e, src->nr, 0, "");
}

/* "hung, asleep": the kinds of these bits. Returns buf. */
static const char *sources_kinds(u32 kinds, char *buf, size_t sz)
{
	size_t len = 0;
	u32 kind;

	*buf = 0;
	for (kind = 1; kind < FR_TRIGGER_KIND_CNT; kind++)
		if (kinds >> kind & 1 && len < sz)
			len += snprintf(buf + len, sz - len, "%s%s", len ? ", " : "", fr_trigger_kind_name(kind));
	return buf;
}

/* Said when it changes: it would fail each time. */
static void sources_on_look(void *arg, u32 events)
{
	struct fr_sources *all = arg;
	int err = fr_trig_look(all->e->s, all->look_kinds), was = all->blind.hung_err;
	char kinds[64];

	(void)events;
	all->blind.hung_err = err;
	sources_kinds(all->look_kinds, kinds, sizeof(kinds));
	if (err && err != was)
		fr_warn_errno(
			err,
			"cannot look for %s tasks, so rules of this kind miss what does not end; tried again every %llu ms",
			kinds, (all->look_ns / FR_MSEC_NS));
	else if (!err && was)
		fr_say("%s tasks are looked for again", kinds);
}

static void want_look(struct fr_sources *all, const struct fr_trigger *t)
{
	u64 each_ns = fr_trigger_look_ns(t->limit_ns);

	all->look_kinds |= 1u << t->kind;
	if (!all->look_ns || each_ns < all->look_ns)
		all->look_ns = each_ns;
}

/* ---- all of them ---- */

static int add_source(struct fr_sources *all, const struct fr_trigger *t, u32 nr)
{
	struct source *src = &all->src[all->cnt];

	*src = (struct source){.e = all->e, .all = all, .nr = nr, .fd = -1};
	switch (t->kind) {
	case FR_TRIGGER_psi:
		all->cnt++;
		return open_psi(src, t);
	case FR_TRIGGER_every:
		src->every_ns = t->every_ns;
		all->cnt++;
		return 0;
	default:
		if (fr_trigger_has(t->kind, FR_HAS_LOOK))
			want_look(all, t);
		return 0;
	}
}

int fr_sources_new(struct fr_engine *e, const struct fr_trigger *rule, u32 cnt, struct fr_sources **out)
{
	struct fr_sources *all = calloc(1, sizeof(*all));
	int err = 0;
	u32 i;

	if (!all)
		return -ENOMEM;
	all->e = e;
	all->look_fd = -1;
	for (i = 0; i < cnt && i < FR_TRIGGER_MAX && !err; i++)
		err = add_source(all, &rule[i], i);
	if (err) {
		fr_sources_free(all);
		return err;
	}
	*out = all;
	return 0;
}

static int start_source(struct source *src)
{
	struct fr_daemon *d = src->e->d;

	if (!src->every_ns)
		return fr_daemon_watch(d, src->fd, EPOLLPRI, on_psi, src);
	src->fd = fr_daemon_timer(d, src->every_ns, src->every_ns, on_every, src);
	return src->fd < 0 ? src->fd : 0;
}

int fr_sources_start(struct fr_sources *all)
{
	int err = 0;
	u32 i;

	for (i = 0; i < all->cnt && !err; i++)
		err = start_source(&all->src[i]);
	if (!err && all->look_ns) {
		all->look_fd = fr_daemon_timer(all->e->d, all->look_ns, all->look_ns, sources_on_look, all);
		err = all->look_fd < 0 ? all->look_fd : 0;
	}
	if (err)
		fr_err_errno(err, "cannot watch what triggers need");
	return err;
}

struct fr_blind fr_sources_blind(const struct fr_sources *all)
{
	return all ? all->blind : (struct fr_blind){};
}

void fr_sources_free(struct fr_sources *all)
{
	u32 i;

	if (!all)
		return;
	for (i = 0; i < all->cnt; i++)
		fr_daemon_drop(all->e->d, &all->src[i].fd);
	fr_daemon_drop(all->e->d, &all->look_fd);
	free(all);
}
