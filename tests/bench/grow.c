/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * grow SESSION FILE EVENTS: a snapshot of about so many events, however small the rings are. What the session's main rings
 * hold is read once and written again and again, later each time: pages as the recorder writes them, times moved, lap numbers
 * that go on. Only whole laps; other tiers and the names of tasks are there once. Prints how many events it has.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/schema/facts.h"
#include "base/schema/schema.h"
#include "live/ring/ring_check.h"
#include "live/session/sess.h"
#include "short.h"

#define JOBS	 2u
#define WORK_CNT 32u	  /* laps: four chunks, by default */
#define GAP_NS	 1000000u /* between two passes over the same laps */

/* The whole laps of a ring, one behind the other. */
struct laps {
	const struct fr_ring_map *map;
	u8 *buf, *work; /* work: WORK_CNT laps, with their times moved */
	size_t lap_sz;
	u64 cnt, first_seq, events; /* events: in all laps */
};

struct grow {
	struct fr_sess *s;
	struct fr_snap_writer *w;
	struct fr_schema *schema;
	struct laps *laps;
	struct fr_snap_ring *acct;
	size_t cnt;
	u64 begin_ns, span_ns, main_events, main_laps;
};

static int read_laps(struct grow *g, struct laps *l)
{
	struct fr_ring_reader r;
	struct fr_lap lap;
	u64 first, last, seq;

	if (fr_ring_read_open(&r, l->map, fr_sess_peek, g->s))
		return -EBADMSG;
	l->lap_sz = (size_t)fr_ring_full_units(l->map) * FR_UNIT_SZ;
	l->buf = malloc(l->lap_sz * (l->map->slot_cnt + 1));
	l->work = malloc(l->lap_sz * WORK_CNT);
	if (!l->buf || !l->work)
		return -ENOMEM;
	if (fr_ring_read_range(l->map, &first, &last))
		return 0; /* empty */
	for (seq = first; seq < last; seq++) {
		if (fr_ring_read_lap(&r, seq, l->buf + l->cnt * l->lap_sz, l->lap_sz, &lap) || lap.partial)
			continue;
		l->first_seq = l->cnt ? l->first_seq : seq;
		l->events += lap.cnt;
		l->cnt++;
	}
	return 0;
}

static struct fr_page_head *lap_head(const struct laps *l, u64 nr)
{
	return (struct fr_page_head *)(l->buf + nr * l->lap_sz);
}

/* All records of a page, and its base, by_ns later; those that are near others are as far from them as they were. */
static void move_page(u8 *page, u64 seq, u64 by_ns)
{
	struct fr_page_head *head = (struct fr_page_head *)page;
	u64 *unit = (u64 *)page;
	u32 at = FR_PAGE_HEAD_UNITS + (head->page ? 0 : FR_SUBBUF_HEAD_UNITS), units;

	head->seq = seq;
	head->base_ns += by_ns;
	for (; at < FR_PAGE_UNITS && (units = fr_head_units(unit[at])); at += units) {
		u32 event = fr_head_event(unit[at]);

		if (!fr_short_is_told(event))
			unit[at] = fr_rec_head(fr_head_time(unit[at]) + by_ns, event, units);
	}
}

static int put_lap(struct grow *g, struct laps *l, struct fr_snap_ring *acct, u64 nr)
{
	u8 *work = l->work + nr % WORK_CNT * l->lap_sz;
	struct fr_snap_lap lap = {.buf = work,
				  .sz = l->lap_sz,
				  .epoch = l->map->epoch,
				  .cpu = l->map->cpu,
				  .tier = l->map->tier,
				  .seq = l->first_seq + nr,
				  .tag = acct};
	size_t off;
	int err;

	memcpy(work, l->buf + nr % l->cnt * l->lap_sz, l->lap_sz);
	for (off = 0; off < l->lap_sz; off += FR_PAGE_SZ)
		move_page(work + off, lap.seq, nr / l->cnt * g->span_ns);
	acct->last_seq = lap.seq;
	err = fr_snap_put_lap(g->w, &lap, 0);
	return err || nr % WORK_CNT < WORK_CNT - 1 ? err : fr_snap_settle(g->w);
}

static void note_lap(void *arg, const struct fr_snap_lap_rows *got)
{
	struct fr_snap_ring *acct = got->tag;
	bool *damaged = arg;

	acct->present += got->to - got->from;
	*damaged |= got->damaged_pages != 0;
}

static int put_ring(struct grow *g, size_t i, u64 laps)
{
	struct laps *l = &g->laps[i];
	bool damaged = false;
	int err = 0;
	u64 nr;

	g->acct[i] = (struct fr_snap_ring){
		.cpu = l->map->cpu,
		.tier = l->map->tier,
		.slot_cnt = l->map->slot_cnt,
		.subbuf_sz = l->map->subbuf_pages * FR_PAGE_SZ,
		.first_seq = l->first_seq,
		.horizon_ns = l->cnt ? lap_head(l, 0)->base_ns : 0,
	};
	fr_snap_watch_laps(g->w, note_lap, &damaged);
	for (nr = 0; nr < laps && !err; nr++)
		err = put_lap(g, l, &g->acct[i], nr);
	err = err ?: fr_snap_settle(g->w);
	g->acct[i].written = g->acct[i].present + g->acct[i].overwritten;
	return err ?: damaged ? -EBADMSG : 0;
}

/* When what is repeated begins and how long it is, and how many events a lap has. */
static int measure(struct grow *g)
{
	u64 end_ns = 0;
	size_t i;

	for (i = 0; i < g->cnt; i++) {
		const struct laps *l = &g->laps[i];

		if (l->map->tier != FR_TIER_MAIN || !l->cnt)
			continue;
		if (!g->begin_ns || lap_head(l, 0)->base_ns < g->begin_ns)
			g->begin_ns = lap_head(l, 0)->base_ns;
		if (lap_head(l, l->cnt - 1)->base_ns > end_ns)
			end_ns = lap_head(l, l->cnt - 1)->base_ns;
		g->main_events += l->events;
		g->main_laps += l->cnt;
	}
	/* the last lap is as long as the others, about; what is too much is a pause */
	g->span_ns = end_ns - g->begin_ns + GAP_NS + (end_ns - g->begin_ns) / 4;
	return g->main_events ? 0 : -ENOENT;
}

static int put_rings(struct grow *g, u64 events)
{
	size_t i;
	int err = 0;

	for (i = 0; i < g->cnt && !err; i++) {
		const struct laps *l = &g->laps[i];
		u64 laps = l->cnt;

		if (l->map->tier == FR_TIER_MAIN && l->cnt) /* of each ring its share */
			laps = (u64)((double)events / g->main_events * l->cnt + 0.5) ?: 1;
		err = put_ring(g, i, laps);
	}
	return err ?: fr_snap_put_rings(g->w, g->acct, g->cnt);
}

static int put_names(struct grow *g)
{
	struct fr_snap_task *task;
	const char *text = fr_sess_facts(g->s), *name, *value;
	size_t pos = 0, name_len, value_len, cnt;
	struct utsname un;
	char key[64];
	int err = fr_sess_read_tasks(g->s, &task, &cnt);

	if (err)
		return err;
	err = fr_snap_put_tasks(g->w, task, cnt);
	free(task);
	while (!err && fr_facts_next(text, &pos, &name, &name_len, &value, &value_len)) {
		snprintf(key, sizeof(key), "%.*s", (int)name_len, name);
		err = fr_snap_put_fact(g->w, key, "%.*s", (int)value_len, value);
	}
	uname(&un);
	err = err ?: fr_snap_put_fact(g->w, "host", "%s", un.nodename);
	err = err ?: fr_snap_put_fact(g->w, "kernel", "%s", un.release);
	return err ?: fr_snap_put_fact(g->w, "arch", "%s", un.machine);
}

static int read_all(struct grow *g)
{
	const struct fr_ring_map *map = fr_sess_rings(g->s, &g->cnt);
	size_t i;
	int err = 0;

	g->laps = calloc(g->cnt, sizeof(*g->laps));
	g->acct = calloc(g->cnt, sizeof(*g->acct));
	if (!g->laps || !g->acct)
		return -ENOMEM;
	for (i = 0; i < g->cnt && !err; i++) {
		g->laps[i].map = &map[i];
		err = read_laps(g, &g->laps[i]);
	}
	return err ?: measure(g);
}

static int write_file(struct grow *g, const char *path, u64 events)
{
	const char *schema;
	size_t sz;
	int err = fr_snap_create(path, fr_snap_writer_sz(JOBS), JOBS, &g->w);

	if (err)
		return err;
	schema = fr_sess_schema(g->s, &sz);
	err = fr_schema_parse(schema, sz, &g->schema);
	err = err ?: fr_snap_put_schema(g->w, g->schema);
	err = err ?: put_rings(g, events);
	err = err ?: put_names(g);
	if (!err)
		return fr_snap_finish(g->w);
	fr_snap_abort(g->w);
	return err;
}

int main(int argc, char **argv)
{
	struct grow g = {};
	u64 all = 0;
	size_t i;
	int err;

	if (argc != 4)
		return fprintf(stderr, "usage: grow SESSION FILE EVENTS\n"), 2;
	err = fr_sess_open(argv[1], &g.s);
	err = err ?: fr_sess_lock(g.s, 1000, NULL);
	err = err ?: read_all(&g);
	err = err ?: write_file(&g, argv[2], strtoull(argv[3], NULL, 10));
	if (err)
		return fprintf(stderr, "grow: %s: %s\n", argv[2], strerror(-err)), 1;
	for (i = 0; i < g.cnt; i++)
		all += g.acct[i].present;
	printf("%llu\n", (unsigned long long)all);
	fr_schema_free(g.schema);
	fr_sess_close(g.s);
	return 0;
}
