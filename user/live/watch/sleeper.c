/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/watch/sleeper.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/set/guardq.h"
#include "base/text/units.h"
#include "live/ring/ring_back.h"
#include "sys/now.h"

#define STACK_SZ    (128u << 10) /* the C library takes no less on arm64 */
#define LOOK_TRIES  64u
#define LOOK_MAX_NS 10000000ULL /* limit of a look at the ring: it runs at high priority */
#define LOOK_PAGES  32u		/* pages between two looks at the clock */
#define STOP_NS	    500000000u	/* wait this much longer than an interval for it to end */
#define CPU_CNT_MAX 65536u
#define AGAIN_MAX   16u /* successive looks at what came during a look */

/* The interrupts of timers and counters have tracepoints of their own on x86, which are not recorded. Elsewhere they are like
 * others. */
#ifdef __x86_64__
#define SAMPLE_IRQ false
#else
#define SAMPLE_IRQ true
#endif

struct fr_sleeper {
	struct fr_sleeper_conf conf;
	struct fr_ring_map ring;
	u64 look_ns; /* lateness from which on it looks */
	size_t sz;   /* of this block */
	pthread_t thread;
	bool is_running, is_locked;
	u64 stop; /* stored by fr_sleeper_stop(); pairs with the thread's loads */
	u64 gone; /* stored by the thread, like everything below; pairs with fr_sleeper_is_gone()'s load */
	u64 slept_ns FR_ALIGNED(FR_CACHE_SZ);
	u32 missed; /* since the last one queued */
	struct fr_sleeper_stats stats;
	struct fr_ring_back look;
	struct fr_holdoff_scan scan;
	struct fr_holdoff unkept; /* used when the queue is full */
	struct fr_guardq queue;
	struct fr_holdoff *slot;
	u8 stack[STACK_SZ] FR_ALIGNED(4096);
};

/* ---- counting ---- */

static u32 bucket_of(u64 ns)
{
	u32 shift, i;

	if (ns < FR_SLEEPER_OCTAVE)
		return ns;
	shift = 63 - __builtin_clzll(ns) - 2;
	i = shift * FR_SLEEPER_OCTAVE + (u32)(ns >> shift);
	return i < FR_SLEEPER_BUCKET ? i : FR_SLEEPER_BUCKET - 1;
}

u64 fr_sleeper_bucket_ns(u32 bucket)
{
	u32 shift = bucket < 2 * FR_SLEEPER_OCTAVE ? 0 : bucket / FR_SLEEPER_OCTAVE - 1;

	return ((u64)(bucket - shift * FR_SLEEPER_OCTAVE + 1) << shift) - 1;
}

/* Only the thread stores; others may load at any time. */
static void sleeper_count(u64 *p, u64 v)
{
	fr_store(p, *p + v);
}

static void raise_to(u64 *p, u64 v)
{
	if (v > *p)
		fr_store(p, v);
}

static void note_lateness(struct fr_sleeper_stats *st, u64 ns)
{
	sleeper_count(&st->woke, 1);
	sleeper_count(&st->late[bucket_of(ns)], 1);
	sleeper_count(&st->late_sum_ns, ns);
	raise_to(&st->late_max_ns, ns);
}

/* ---- the thread ---- */

static void sleep_until(u64 ns)
{
	const struct timespec ts = {.tv_sec = ns / FR_SEC_NS, .tv_nsec = ns % FR_SEC_NS};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* What the CPU ran, into *h. */
static void sleeper_look(struct fr_sleeper *s, u64 late_ns, u64 to_ns, struct fr_holdoff *h)
{
	const s64 off = s->conf.clock_off_ns;
	const struct fr_holdoff_ask ask = {s->slept_ns + off, late_ns + off, to_ns + off, s->ring.cpu, SAMPLE_IRQ};
	const u64 *page;
	u32 end, cnt = 0;
	int got;

	fr_holdoff_begin(&s->scan, &ask);
	got = fr_ring_back_begin(&s->look, &s->ring, LOOK_TRIES);
	/* without the lap being written, what the CPU is doing now is unknown */
	while (!got && !fr_ring_back_prev(&s->look, &page, &end))
		if (fr_holdoff_page(&s->scan, page, end) ||
		    (++cnt % LOOK_PAGES == 0 && fr_now_ns(CLOCK_MONOTONIC) - to_ns > LOOK_MAX_NS))
			break;
	fr_holdoff_end(&s->scan, h);
	sleeper_count(&s->stats.looked, 1);
}

static void sleeper_keep(struct fr_sleeper *s, struct fr_holdoff *h)
{
	sleeper_count(&s->stats.found, 1);
	if (h == &s->unkept) {
		sleeper_count(&s->stats.missed, 1);
		raise_to(&s->stats.missed_max_ns, h->length_ns);
		s->missed++;
		return;
	}
	h->missed = s->missed;
	s->missed = 0;
	fr_guardq_put(&s->queue);
}

/*
 * It should have run at late_ns and did at to_ns. It may be held off again while it looks: then it looks at that, too,
 * excluding its own work.
 */
static u64 woke_late(struct fr_sleeper *s, u64 late_ns, u64 to_ns)
{
	struct fr_holdoff *h;
	u32 again;

	for (again = 0; again < AGAIN_MAX && to_ns - late_ns >= s->look_ns; again++) {
		h = fr_guardq_room(&s->queue) ?: &s->unkept;
		sleeper_look(s, late_ns, to_ns, h);
		if (again) {
			h->length_ns -= h->own_ns;
			h->known_ns -= h->own_ns;
		}
		if (h->length_ns >= s->conf.threshold_ns)
			sleeper_keep(s, h);
		late_ns = s->slept_ns = to_ns;
		to_ns = fr_now_ns(CLOCK_MONOTONIC);
	}
	return to_ns;
}

static void *sleeper_run(void *arg)
{
	struct fr_sleeper *s = arg;
	u64 next, now = fr_now_ns(CLOCK_MONOTONIC), passed;

	prctl(PR_SET_TIMERSLACK, 1UL); /* at normal priority; real-time threads have none */
	next = now + s->conf.interval_ns;
	while (!fr_load(&s->stop)) {
		s->slept_ns = now;
		sleep_until(next);
		now = fr_now_ns(CLOCK_MONOTONIC);
		if (sched_getcpu() != s->ring.cpu) {
			fr_store(&s->gone, !fr_load(&s->stop));
			break;
		}
		note_lateness(&s->stats, now - next);
		if (now - next >= s->look_ns)
			now = woke_late(s, next, now);
		passed = 1 + (now - next) / s->conf.interval_ns;
		sleeper_count(&s->stats.expected, passed);
		next += passed * s->conf.interval_ns;
	}
	return NULL;
}

/* ---- start and stop ---- */

/* A holdoff may begin up to an interval before the thread is due: even a long enough one makes it late by that much less. */
static u64 look_ns(const struct fr_sleeper_conf *c)
{
	return c->threshold_ns > 2 * c->interval_ns ? c->threshold_ns - c->interval_ns : c->threshold_ns / 2;
}

static struct fr_sleeper *sleeper_make(const struct fr_sleeper_conf *conf, const struct fr_ring_map *ring)
{
	const size_t slot_cnt = conf->queue_cnt + 1, sz = sizeof(struct fr_sleeper) + slot_cnt * sizeof(struct fr_holdoff);
	struct fr_sleeper *s = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (s == MAP_FAILED)
		return NULL;
	s->conf = *conf;
	s->ring = *ring;
	s->look_ns = look_ns(conf);
	s->sz = sz;
	s->slot = (void *)(s + 1);
	memset(s->slot, 0, slot_cnt * sizeof(*s->slot));
	fr_guardq_init(&s->queue, s->slot, slot_cnt, sizeof(*s->slot));
	s->is_locked = !mlock(s, sz);
	return s;
}

static int try_create(struct fr_sleeper *s, int policy, int prio)
{
	const struct sched_param param = {.sched_priority = prio};
	pthread_attr_t attr;
	cpu_set_t *set = CPU_ALLOC(s->ring.cpu + 1);
	size_t set_sz = CPU_ALLOC_SIZE(s->ring.cpu + 1);
	int err;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(set_sz, set);
	CPU_SET_S(s->ring.cpu, set_sz, set);
	pthread_attr_init(&attr);
	err = pthread_attr_setstack(&attr, s->stack, sizeof(s->stack));
	err = err ?: pthread_attr_setaffinity_np(&attr, set_sz, set);
	err = err ?: pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	err = err ?: pthread_attr_setschedpolicy(&attr, policy);
	err = err ?: pthread_attr_setschedparam(&attr, &param);
	err = err ?: pthread_create(&s->thread, &attr, sleeper_run, s);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return -err;
}

/* Other threads handle signals. */
static int sleeper_create(struct fr_sleeper *s, bool *is_rt)
{
	sigset_t all, was;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &was);
	err = try_create(s, s->conf.policy, s->conf.prio);
	*is_rt = !err && s->conf.policy != SCHED_OTHER;
	if (err == -EPERM)
		err = try_create(s, SCHED_OTHER, 0);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return err;
}

int fr_sleeper_start(const struct fr_sleeper_conf *conf, const struct fr_ring_map *ring, bool *is_rt, struct fr_sleeper **out)
{
	struct fr_sleeper *s = sleeper_make(conf, ring);
	int err = s ? sleeper_create(s, is_rt) : -ENOMEM;

	if (err) {
		fr_sleeper_free(s);
		return err;
	}
	s->is_running = true;
	*out = s;
	return 0;
}

/* Whatever keeps its CPU from it may never end: let it see the request on another CPU. */
static void move_away(struct fr_sleeper *s)
{
	const size_t sz = CPU_ALLOC_SIZE(CPU_CNT_MAX);
	cpu_set_t *set = CPU_ALLOC(CPU_CNT_MAX);

	if (set && !pthread_getaffinity_np(pthread_self(), sz, set))
		pthread_setaffinity_np(s->thread, sz, set);
	CPU_FREE(set);
}

bool fr_sleeper_stop(struct fr_sleeper *s)
{
	const u64 wait_ns = s->conf.interval_ns + STOP_NS;
	struct timespec until;
	bool kept;

	fr_store(&s->stop, 1);
	if (!s->is_running)
		return true;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += wait_ns % FR_SEC_NS;
	until.tv_sec += wait_ns / FR_SEC_NS + until.tv_nsec / FR_SEC_NS;
	until.tv_nsec %= FR_SEC_NS;
	kept = pthread_timedjoin_np(s->thread, NULL, &until) != 0;
	if (kept) {
		move_away(s);
		pthread_join(s->thread, NULL);
	}
	s->is_running = false;
	return !kept;
}

int fr_sleeper_resume(struct fr_sleeper *s)
{
	bool is_rt;
	int err;

	fr_sleeper_stop(s);
	fr_store(&s->stop, 0);
	fr_store(&s->gone, 0); /* before the thread begins, which may find its CPU gone again at once */
	err = sleeper_create(s, &is_rt);
	s->is_running = !err;
	if (err)
		fr_store(&s->gone, 1);
	return err;
}

void fr_sleeper_free(struct fr_sleeper *s)
{
	if (!s)
		return;
	fr_sleeper_stop(s);
	munmap(s, s->sz);
}

/* ---- for the reader ---- */

u32 fr_sleeper_cpu(const struct fr_sleeper *s)
{
	return s->ring.cpu;
}

bool fr_sleeper_is_gone(const struct fr_sleeper *s)
{
	return fr_load(&s->gone);
}

bool fr_sleeper_is_locked(const struct fr_sleeper *s)
{
	return s->is_locked;
}

const struct fr_holdoff *fr_sleeper_first(const struct fr_sleeper *s)
{
	return fr_guardq_first(&s->queue);
}

void fr_sleeper_drop(struct fr_sleeper *s)
{
	fr_guardq_drop(&s->queue);
}

void fr_sleeper_stats(const struct fr_sleeper *s, struct fr_sleeper_stats *to)
{
	const u64 *from = (const u64 *)&s->stats;
	u64 *v = (u64 *)to;
	size_t i;

	for (i = 0; i < sizeof(*to) / sizeof(*v); i++)
		v[i] = fr_load(&from[i]);
}
