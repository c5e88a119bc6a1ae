/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/tail/tail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/err.h"
#include "base/rows/argv.h"
#include "base/rows/whose.h"
#include "base/text/units.h"
#include "base/tp/tps.h"
#include "live/snapshot/clock_sample.h"
#include "live/tail/tail_know.h"
#include "live/tail/tail_ring.h"
#include "read/replay/replay.h"
#include "sys/now.h"

#define CLOCKS_NS    1000000u	 /* clocks of CPUs, and ours of the session's, do not differ more */
#define NO_GRACE_NS  100000000u	 /* where the kernel has no membarrier: no program runs that long */
#define REFRESH_NS   1000000000u /* look for rings of CPUs that came, and at the wall clock */
#define WALL_OFF_NS  1000000	 /* less is the noise of reading two clocks */
#define PIECES_ALL   64		 /* pieces held of all rings together, but of each PIECES_LEAST to PIECES_RING */
#define PIECES_LEAST 2
#define PIECES_RING  8
#define OPEN_TRIES   1000

struct fr_tail {
	struct fr_sess *s;
	struct fr_tail_opts opts;
	struct fr_schema *schema;
	struct fr_filter *filter; /* NULL: all */
	struct utsname host;
	struct fr_wall wall;
	struct fr_secrets secrets; /* its words are ours */
	struct fr_lapbatch *lapbatch;
	struct fr_know know;
	struct fr_view view;
	struct fr_tail_ring **ring;  /* by CPU, then tier */
	struct fr_tail_ring **shown; /* those of them that are handed out: the streams of the merge */
	u32 ring_cnt, shown_cnt;
	u64 to_session_ns; /* from this process's CLOCK_MONOTONIC to the recording clock: time namespaces */
	u64 since_ns;
	u64 refreshed_ns;
	/* while a round hands out */
	const struct fr_tail_sink *sink;
	u64 limit_ns;
	u64 handed;
};

static u64 session_ns(const struct fr_tail *t)
{
	return fr_now_ns(CLOCK_MONOTONIC) + t->to_session_ns;
}

/* ---- set-up ---- */

static int read_clock(struct fr_tail *t)
{
	struct fr_snap_clock c;
	int err = fr_clock_sample(t->s, &c);

	if (err) {
		fr_err("cannot ask session '%s' for its clock: %s: run as root", fr_sess_name(t->s), strerror(-err));
		return err;
	}
	fr_wall_init(&t->wall);
	fr_wall_add(&t->wall, c.ts, c.real_ns);
	t->to_session_ns = c.mono_ns - fr_now_ns(CLOCK_MONOTONIC);
	t->since_ns = t->opts.last_ns && c.ts > t->opts.last_ns ? c.ts - t->opts.last_ns : 0;
	return 0;
}

static int tail_make_filter(struct fr_tail *t)
{
	struct fr_filter_file file = {.schema = t->schema,
				      .arch = t->host.machine,
				      .value = fr_tps_value,
				      .values = fr_tps_values,
				      .lacks = fr_tps_lacks,
				      .of = t->view.tps};
	struct fr_filter_error error;
	int err;

	if (!t->opts.filter)
		return 0;
	err = fr_filter_new_beside(t->opts.filter, &file, 1, 0, &t->filter, &error);
	if (err == -EINVAL)
		fr_filter_say(t->opts.filter, &error);
	if (err || !fr_filter_uses_pairs(t->filter))
		return err;
	fr_err("-f: latency, offcpu, queued, blocked, oncpu and waker are known of recorded history only: take a snapshot with "
	       "`flightrec dump` and use `flightrec replay -f`");
	return -EINVAL;
}

static int make_schema(struct fr_tail *t)
{
	char *formats = NULL;
	const char *text;
	size_t sz;
	int err;

	text = fr_sess_schema(t->s, &sz);
	err = fr_schema_parse(text, sz, &t->schema);
	if (err)
		fr_err("session '%s' does not describe its events: end it with `flightrec stop -n %s`", fr_sess_name(t->s),
		       fr_sess_name(t->s));
	uname(&t->host);
	t->view = (struct fr_view){.schema = t->schema, .wall = &t->wall, .arch = t->host.machine, .whose = t->opts.whose};
	err = err ?: fr_sess_formats(t->s, &formats, &sz);
	if (!err && sz) {
		t->view.tps = fr_tps_new(t->schema, formats, sz);
		err = t->view.tps ? 0 : -ENOMEM;
	}
	free(formats);
	return err;
}

/* ---- rings ---- */

static bool is_shown(const struct fr_tail *t, u8 tier)
{
	return t->opts.tiers >> tier & 1;
}

static bool is_followed(const struct fr_tail *t, const struct fr_ring_map *m)
{
	u32 i;

	for (i = 0; i < t->ring_cnt; i++)
		if (t->ring[i]->follow.map.cpu == m->cpu && t->ring[i]->follow.map.tier == m->tier)
			return true;
	return false;
}

static int tail_open_ring(struct fr_tail *t, const struct fr_ring_map *m, u32 room, u64 since_ns)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	struct fr_tail_ring *r = malloc(sizeof(*r));
	int tries, err = r ? -EAGAIN : -ENOMEM;

	for (tries = 0; err == -EAGAIN && tries < OPEN_TRIES; tries++) {
		err = fr_tail_ring_open(r, m, room, is_shown(t, m->tier), since_ns);
		if (err == -EAGAIN)
			nanosleep(&nap, NULL);
	}
	if (err)
		free(r);
	else
		t->ring[t->ring_cnt++] = r;
	return err;
}

static int tail_by_cpu_and_tier(const void *a, const void *b)
{
	const struct fr_ring_map *x = &(*(struct fr_tail_ring *const *)a)->follow.map;
	const struct fr_ring_map *y = &(*(struct fr_tail_ring *const *)b)->follow.map;

	return x->cpu != y->cpu ? (int)x->cpu - y->cpu : (int)x->tier - y->tier;
}

static int list_shown(struct fr_tail *t)
{
	struct fr_tail_ring **list = malloc((t->ring_cnt + 1) * sizeof(*list));
	u32 i, cnt = 0;

	if (!list)
		return -ENOMEM;
	qsort(t->ring, t->ring_cnt, sizeof(*t->ring), tail_by_cpu_and_tier);
	for (i = 0; i < t->ring_cnt; i++)
		if (t->ring[i]->shown)
			list[cnt++] = t->ring[i];
	free(t->shown);
	t->shown = list;
	t->shown_cnt = cnt;
	return 0;
}

/* How many pieces each of cnt rings may hold. */
static u32 room_of(size_t cnt)
{
	size_t room = PIECES_ALL / cnt;

	return room < PIECES_LEAST ? PIECES_LEAST : room > PIECES_RING ? PIECES_RING : room;
}

/* Follow rings not yet followed, those shown from the lap of this moment on. Everything of a CPU that came is new. */
static int tail_open_rings(struct fr_tail *t, u64 since_ns)
{
	const struct fr_ring_map *m;
	struct fr_tail_ring **more;
	size_t cnt, i;
	int err = 0;

	m = fr_sess_rings(t->s, &cnt);
	more = realloc(t->ring, (cnt + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->ring = more;
	for (i = 0; i < cnt && !err; i++) {
		bool wanted = is_shown(t, m[i].tier) || m[i].tier == FR_TIER_LIFE || m[i].tier == FR_TIER_STACK;

		if (wanted && !is_followed(t, &m[i]))
			err = tail_open_ring(t, &m[i], room_of(cnt), is_shown(t, m[i].tier) ? since_ns : FR_RING_FOLLOW_NOW);
		if (err)
			fr_err("the ring of CPU %u, tier %s cannot be followed: %s: `flightrec dump -n %s` repairs what a "
			       "killed reader left; else end the session",
			       m[i].cpu, fr_tier_name(m[i].tier), strerror(-err), fr_sess_name(t->s));
	}
	return list_shown(t) ?: err;
}

/* Wall time goes on in another way when the clock is set, slewed, or the machine was suspended: the recording clock stood
 * still. */
static void follow_wall(struct fr_tail *t)
{
	u64 before_ns = session_ns(t), ts, real_ns;
	struct timespec real;
	s64 off;

	clock_gettime(CLOCK_REALTIME, &real);
	ts = before_ns + (session_ns(t) - before_ns) / 2;
	real_ns = real.tv_sec * FR_SEC_NS + real.tv_nsec;
	off = real_ns - fr_wall_real(&t->wall, ts);
	if (off > WALL_OFF_NS || off < -WALL_OFF_NS)
		fr_wall_add(&t->wall, ts, real_ns);
}

static void look_for_rings(struct fr_tail *t)
{
	if (fr_sess_refresh_rings(t->s) || fr_sess_only_read(t->s))
		return; /* it is just ending, or the CPU follows next time */
	tail_open_rings(t, 0);
}

/* Now and then. */
static void refresh(struct fr_tail *t)
{
	if (fr_now_ns(CLOCK_MONOTONIC) - t->refreshed_ns < REFRESH_NS)
		return;
	t->refreshed_ns = fr_now_ns(CLOCK_MONOTONIC);
	follow_wall(t);
	look_for_rings(t);
}

static size_t lap_max_sz(const struct fr_tail *t)
{
	size_t cnt, i, sz, max = 0;
	const struct fr_ring_map *m = fr_sess_rings(t->s, &cnt);

	for (i = 0; i < cnt; i++) {
		sz = (size_t)m[i].subbuf_pages * FR_PAGE_SZ;
		max = sz > max ? sz : max;
	}
	return max;
}

static int tail_set_up(struct fr_tail *t)
{
	int err = make_schema(t);

	err = err ?: tail_make_filter(t);
	err = err ?: read_clock(t);
	if (err)
		return err;
	fr_sess_be_self(t->s, false, NULL);
	fr_sess_only_read(t->s);
	t->secrets.words = fr_sess_fact(t->s, "redact");
	t->lapbatch = fr_lapbatch_new(t->schema, &t->secrets, lap_max_sz(t));
	t->know = (struct fr_know){.s = t->s, .lapbatch = t->lapbatch};
	t->know.with_cgroups = t->filter && fr_filter_uses_cgroups(t->filter);
	t->know.with_cgroups |= fr_whose_needs_cgroups(t->opts.whose);
	err = t->lapbatch ? tail_open_rings(t, t->opts.last_ns ? t->since_ns : FR_RING_FOLLOW_NOW) : -ENOMEM;
	if (err)
		return err;
	err = fr_know_load(&t->know);
	if (err)
		fr_err("cannot read the tasks of session '%s': %s: run as root", fr_sess_name(t->s), strerror(-err));
	return err;
}

int fr_tail_open(struct fr_sess *s, const struct fr_tail_opts *opts, struct fr_tail **out)
{
	struct fr_tail *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;

	if (t) {
		t->s = s;
		t->opts = *opts;
		t->refreshed_ns = fr_now_ns(CLOCK_MONOTONIC);
		err = tail_set_up(t);
	}
	if (err == -ENOMEM)
		fr_err("out of memory: show fewer tiers, or %s", fr_err_cure(-ENOMEM, NULL));
	if (err)
		fr_tail_close(t);
	else
		*out = t;
	return err;
}

void fr_tail_close(struct fr_tail *t)
{
	u32 i;

	if (!t)
		return;
	for (i = 0; i < t->ring_cnt; i++) {
		fr_tail_ring_free(t->ring[i]);
		free(t->ring[i]);
	}
	free(t->ring);
	fr_know_free(&t->know);
	fr_lapbatch_free(t->lapbatch);
	free((char *)t->secrets.words);
	fr_filter_free(t->filter);
	fr_tps_free(t->view.tps);
	fr_schema_free(t->schema);
	free(t->shown);
	free(t);
}

const struct fr_schema *fr_tail_schema(const struct fr_tail *t)
{
	return t->schema;
}

bool fr_tail_count(const struct fr_tail *t, u32 i, struct fr_tail_count *out)
{
	const struct fr_tail_ring *r = i < t->shown_cnt ? t->shown[i] : NULL;

	if (!r)
		return false;
	*out = (struct fr_tail_count){
		.cpu = r->follow.map.cpu,
		.tier = r->follow.map.tier,
		.begun = r->follow.begun,
		.printed = r->printed,
		.filtered = r->filtered,
		.skipped = r->follow.skipped + r->damaged,
	};
	return true;
}

/* ---- reading ---- */

static int learn_names(void *arg, const struct fr_batch *b)
{
	return fr_know_names(&((struct fr_tail *)arg)->know, b);
}

static int learn_stacks(void *arg, const struct fr_batch *b)
{
	return fr_know_stacks(&((struct fr_tail *)arg)->know, b);
}

static int tail_read_ring(struct fr_tail *t, struct fr_tail_ring *r, u64 before_ns)
{
	u8 tier = r->follow.map.tier;
	fr_tail_learn_fn learn = tier == FR_TIER_LIFE ? learn_names : tier == FR_TIER_STACK ? learn_stacks : NULL;
	u64 skipped = r->follow.skipped;
	int got = fr_tail_ring_read(r, t->lapbatch, before_ns, learn, t);

	if (got == -EBADMSG)
		fr_err("the ring of CPU %u, tier %s is damaged: end the session with `flightrec stop -n %s`", r->follow.map.cpu,
		       fr_tier_name(tier), fr_sess_name(t->s));
	if (got == -ENOMEM)
		fr_err_memory();
	t->know.stale |= learn && r->follow.skipped != skipped;
	return got;
}

/* Read all rings; *limit_ns: all with earlier times is known then. As fr_tail_round(). */
static int tail_read_rings(struct fr_tail *t, u64 *limit_ns)
{
	u64 before_ns = session_ns(t) - CLOCKS_NS;
	int got, more = 0;
	u32 i;

	if (fr_ring_read_grace(NULL))
		before_ns -= NO_GRACE_NS;
	*limit_ns = ~0ULL;
	for (i = 0; i < t->ring_cnt; i++) {
		got = tail_read_ring(t, t->ring[i], before_ns);
		if (got < 0)
			return got;
		more |= got;
		if (t->ring[i]->known_ns < *limit_ns)
			*limit_ns = t->ring[i]->known_ns;
	}
	return more;
}

/* ---- handing out ---- */

/* Rows of a ring, and what was skipped before them; or at the end of what it has. */
static int tail_next_rows(void *arg, u32 stream, struct fr_stretch *s)
{
	struct fr_tail *t = arg;
	struct fr_tail_ring *r = t->shown[stream];
	int got = fr_tail_ring_next(r, t->limit_ns, s);
	u64 skipped, laps;

	if (got || !r->cnt) {
		skipped = fr_tail_ring_skipped(r, &laps);
		if (skipped)
			t->sink->skip(t->sink->arg, r->follow.map.cpu, r->follow.map.tier, skipped, laps);
	}
	return got;
}

static int hand_out_row(struct fr_tail *t, struct fr_tail_ring *r, const struct fr_batch *b, u32 i)
{
	const struct fr_replay_run run = {.b = b, .from = i, .to = i + 1, .view = &t->view, .filter = t->filter};
	struct fr_row row = fr_batch_row(b, i);
	struct fr_who who = fr_view_who(&t->view, &row);
	int err = 0;

	t->handed++;
	if (!who.comm || who.pid < 0)
		err = fr_know_look(&t->know, row.tid, row.ts);
	if (!err && row.ts >= t->since_ns && fr_replay_match(&run, i, &row)) {
		t->sink->row(t->sink->arg, &t->view, &row);
		r->printed++;
	} else {
		r->filtered++;
	}
	return err;
}

static int hand_out(struct fr_tail *t, const struct fr_tail_sink *sink, u64 limit_ns)
{
	struct fr_merge *m;
	struct fr_stretch run;
	int got, err;
	u32 i;

	t->sink = sink;
	t->limit_ns = limit_ns;
	t->handed = 0;
	err = fr_merge_new(t->shown_cnt, tail_next_rows, t, &m);
	if (err)
		return err;
	while (!err && (got = fr_merge_next(m, &run)) > 0)
		for (i = run.from; i < run.to && !err; i++)
			err = hand_out_row(t, t->shown[run.stream], run.b, i);
	fr_merge_free(m);
	return err;
}

int fr_tail_round(struct fr_tail *t, const struct fr_tail_sink *sink)
{
	bool gone = fr_sess_is_gone(t->s);
	u64 limit_ns;
	int more, err;

	refresh(t);
	more = tail_read_rings(t, &limit_ns);
	if (more < 0)
		return more;
	err = fr_know_ready(&t->know);
	fr_know_view(&t->know, &t->view);
	err = err ?: hand_out(t, sink, gone && !more ? ~0ULL : limit_ns);
	/* as many events of one time as a ring's pieces hold: then they go out without those of other rings */
	if (!err && more && !t->handed)
		err = hand_out(t, sink, limit_ns + 1);
	if (err)
		fr_err_memory();
	return err ? err : gone && !more ? -ENOENT : more;
}
