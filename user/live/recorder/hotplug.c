/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages say when to look; /sys says what is there. A CPU that went and came back between two looks is recognized by its
 * message. After a suspend the kernel sends no message, although all CPUs but one were offline: a timer that is cancelled when
 * the clock jumps detects that.
 */
#include "live/recorder/hotplug.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "live/recorder/daemon.h"
#include "live/session/sess.h"
#include "sys/cpus.h"
#include "sys/now.h"
#include "sys/uevent.h"

#define LOOK_NS	    2000000000ULL /* between two looks at /sys if there are no messages */
#define CPU_MAX	    65536u
#define SLEPT_NS    100000000ULL /* if the clocks' difference grew by this much, the machine slept */
#define MESSAGE_CNT 256		 /* per turn of the loop */

struct fr_hotplug {
	struct fr_daemon *d;
	int uevent_fd, look_fd, jump_fd;
	u64 slept_ns;		/* CLOCK_BOOTTIME - CLOCK_MONOTONIC */
	u8 online[CPU_MAX / 8]; /* at the last look */
	u32 cpu_cnt;		/* likewise */
	bool no_samples, said_cannot;
};

static bool was_online(const struct fr_hotplug *h, u32 cpu)
{
	return h->online[cpu / 8] & 1u << cpu % 8;
}

/*
 * In this order the result is never too small; an interruption in between makes it too large, which at worst causes a useless
 * look.
 */
static u64 slept_ns(void)
{
	u64 mono = fr_now_ns(CLOCK_MONOTONIC);

	return fr_now_ns(CLOCK_BOOTTIME) - mono;
}

/* Where CAP_PERFMON is not enough, and there is no helper with more. */
static void say_cannot_sample(struct fr_hotplug *h, u32 cpu, int err)
{
	if (h->said_cannot)
		return;
	h->said_cannot = true;
	fr_warn("cannot sample CPU %u: %s: %s", cpu, strerror(-err),
		err == -EACCES ? "allow it with `sysctl kernel.perf_event_paranoid=2`, or start the recorder with CAP_SYS_ADMIN"
			       : "it is recorded without samples");
}

/* ---- setting up a CPU ---- */

/* An event that was open when its CPU went offline stays dead. */
static void sample(struct fr_hotplug *h, u32 cpu)
{
	struct fr_sess *s = fr_daemon_sess(h->d);
	u32 hz = fr_sess_sample_hz(s);
	int err = hz && !h->no_samples ? fr_sess_sample_cpu(s, fr_daemon_admin(h->d), cpu, hz) : 0;

	if (err == -ENOENT) /* none in this session */
		h->no_samples = true;
	else if (err && err != -ENODEV && err != -EINVAL) /* it went offline again */
		say_cannot_sample(h, cpu, err);
}

static void came(struct fr_hotplug *h, u32 cpu)
{
	int made = fr_sess_add_cpu(fr_daemon_sess(h->d), cpu);

	sample(h, cpu);
	if (made > 0)
		fprintf(stderr, "CPU %u came online: it is recorded from now on\n", cpu);
}

/* ---- the expected number of samples ---- */

static void count_samples(struct fr_hotplug *h)
{
	struct fr_sess *s = fr_daemon_sess(h->d);
	struct fr_call now;

	if (!fr_sess_clocks(s, &now))
		fr_sess_sampling(s, fr_sess_sample_hz(s), h->cpu_cnt, now.ns);
}

/* ---- looking ---- */

/* Which CPUs are online? Those that were not at the last look have come; all: treat every CPU as having come. */
static void hotplug_look(struct fr_hotplug *h, bool all)
{
	u8 online[CPU_MAX / 8] = {};
	struct fr_cpus *cpus;
	u32 i, cpu;

	if (fr_cpus_online(&cpus))
		return;
	for (i = 0; i < fr_cpus_cnt(cpus); i++) {
		cpu = fr_cpus_nr(cpus, i);
		online[cpu / 8] |= 1u << cpu % 8;
		if (all || !was_online(h, cpu))
			came(h, cpu);
	}
	if (memcmp(h->online, online, sizeof(online))) {
		h->cpu_cnt = fr_cpus_cnt(cpus);
		memcpy(h->online, online, sizeof(online));
		count_samples(h);
	}
	fr_cpus_free(cpus);
}

static void hotplug_on_look(void *arg, u32 events)
{
	(void)events;
	hotplug_look(arg, false);
}

/* A CPU that came may have been online at the last look: it went in between. */
static void on_uevent(void *arg, u32 events)
{
	struct fr_hotplug *h = arg;
	int i, got = 0;
	u32 cpu;

	(void)events;
	for (i = 0; i < MESSAGE_CNT && got != -EAGAIN; i++) {
		got = fr_uevent_take(h->uevent_fd, &cpu);
		if (got == 1 && was_online(h, cpu))
			came(h, cpu);
		if (got == -ENOBUFS)
			hotplug_look(h, true);
	}
	hotplug_look(h, false);
}

/* ---- suspend ---- */

static void on_jump(void *arg, u32 events)
{
	struct fr_hotplug *h = arg;
	u64 slept = slept_ns();

	(void)events;
	fr_daemon_jumped(h->jump_fd);
	if (slept > h->slept_ns + SLEPT_NS)
		hotplug_look(h, true);
	h->slept_ns = slept;
}

static int watch_jump(struct fr_hotplug *h)
{
	h->slept_ns = slept_ns();
	h->jump_fd = fr_daemon_jump_timer(h->d, on_jump, h);
	return h->jump_fd < 0 ? h->jump_fd : 0;
}

/* ---- beginning and end ---- */

static int hotplug_watch_cpus(struct fr_hotplug *h)
{
	h->uevent_fd = fr_uevent_open();
	if (h->uevent_fd >= 0)
		return fr_daemon_watch(h->d, h->uevent_fd, EPOLLIN, on_uevent, h);
	h->look_fd = fr_daemon_timer(h->d, LOOK_NS, LOOK_NS, hotplug_on_look, h);
	return h->look_fd < 0 ? h->look_fd : 0;
}

/* In a new session all CPUs have their rings; for an adopted one, CPUs may have come and gone. */
static void hotplug_begin(struct fr_hotplug *h)
{
	struct fr_sess *s = fr_daemon_sess(h->d);
	const struct fr_ring_map *ring;
	size_t cnt, i;

	ring = fr_sess_rings(s, &cnt);
	for (i = 0; fr_sess_is_new(s) && i < cnt; i++)
		h->online[ring[i].cpu / 8] |= 1u << ring[i].cpu % 8;
	hotplug_look(h, !fr_sess_is_new(s));
}

int fr_hotplug_new(struct fr_daemon *d, struct fr_hotplug **out)
{
	struct fr_hotplug *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	*h = (struct fr_hotplug){.d = d, .uevent_fd = -1, .look_fd = -1, .jump_fd = -1};
	err = hotplug_watch_cpus(h);
	err = err ?: watch_jump(h);
	if (err) {
		fr_err_errno(err, "cannot watch for CPUs that come online");
		fr_hotplug_free(h);
		return err;
	}
	hotplug_begin(h); /* after watching began: a CPU that comes meanwhile is seen twice rather than missed */
	*out = h;
	return 0;
}

void fr_hotplug_free(struct fr_hotplug *h)
{
	if (!h)
		return;
	fr_daemon_drop(h->d, &h->uevent_fd);
	fr_daemon_drop(h->d, &h->look_fd);
	fr_daemon_drop(h->d, &h->jump_fd);
	free(h);
}
