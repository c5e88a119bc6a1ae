/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flow/live.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "atomic.h"
#include "pure/escape.h"
#include "pure/schema.h"
#include "pure/units.h"

#define REFRESH_TRIES 500

/* When lap seq began, by its first page's head: read twice, since a writer may take the sub-buffer at any time. */
static u64 lap_begin(const struct fr_ring_map *m, u64 seq)
{
	u64 *slot = &m->sl->slot[seq % m->slot_cnt], word = fr_load(slot), base;
	const struct fr_page_head *head;
	u32 idx = fr_slot_idx(word);

	if (fr_slot_seq(word) != (seq & FR_SEQ_MASK) || idx > m->slot_cnt)
		return 0;
	head = (const void *)(m->data + (size_t)idx * m->subbuf_pages * FR_PAGE_SZ);
	base = fr_load(&head->base_ns);
	if (head->magic != FR_PAGE_MAGIC || head->epoch != m->epoch || fr_load(&head->seq) != seq)
		return 0;
	return fr_slot_seq(fr_load(slot)) == (seq & FR_SEQ_MASK) ? base : 0;
}

static void read_ring(const struct fr_ring_map *m, struct fr_live_ring *r)
{
	u64 first, last, seq;
	u32 i;

	r->map = m;
	r->overwritten = fr_load(&m->wr->overwritten);
	r->present = fr_ring_read_present(m);
	r->written = r->overwritten + r->present;
	for (i = 0; i < FR_LOST_CNT; i++)
		r->lost[i] = fr_load(&m->wr->lost[i]);
	for (i = 0; i < FR_FILTERED_CNT; i++)
		r->filtered[i] = fr_load(&m->wr->filtered[i]);
	if (fr_ring_read_range(m, &first, &last))
		return;
	r->used_sz = (last - first) * m->subbuf_pages * FR_PAGE_SZ + (u64)fr_w_off(fr_load(&m->wr->w)) * FR_UNIT_SZ;
	for (seq = first; first > 1 && seq <= last && !r->oldest_ns; seq++)
		r->oldest_ns = lap_begin(m, seq);
}

static u64 fact_u64(struct fr_sess *s, const char *name)
{
	char *text = fr_sess_fact(s, name);
	u64 v = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return v;
}

/* The clock is asked through BPF, under the reader's lock; a busy session is not waited for. */
static u64 ask_clock(struct fr_sess *s)
{
	struct fr_call call;
	u64 now = 0;

	if (!fr_sess_try_lock(s)) {
		if (!fr_sess_clocks(s, &call))
			now = call.ns;
		fr_sess_unlock(s);
	}
	return now;
}

static void read_rings(struct fr_live *l)
{
	const struct fr_ring_map *map;
	size_t i;

	map = fr_sess_rings(l->s, &l->ring_cnt);
	memset(l->ring, 0, l->ring_cnt * sizeof(*l->ring));
	for (i = 0; i < l->ring_cnt; i++)
		read_ring(&map[i], &l->ring[i]);
}

int fr_live_read(struct fr_sess *s, struct fr_live *l)
{
	*l = (struct fr_live){.s = s};
	fr_sess_rings(s, &l->ring_cnt);
	l->ring = calloc(l->ring_cnt, sizeof(*l->ring));
	if (!l->ring)
		return -ENOMEM;
	read_rings(l);
	l->now_ns = ask_clock(s);
	l->begin_ns = fact_u64(s, "begin_ns");
	l->owned = fr_sess_is_owned(s);
	return fr_sess_progs(s, &l->prog, &l->prog_cnt);
}

static u64 count_runs(struct fr_live *l)
{
	u64 cnt = 0;
	size_t i;

	fr_sess_progs_update(l->prog, l->prog_cnt);
	for (i = 0; i < l->prog_cnt; i++)
		cnt += l->prog[i].run_cnt;
	return cnt;
}

/*
 * The kernel gives a link's id up before it detaches the program, so that some still run for a moment, and are filtered. A
 * run is counted after what it counts: who runs while the rings are read is seen by the second look at the runs, after a
 * grace period.
 */
void fr_live_refresh(struct fr_live *l)
{
	const struct timespec nap = {.tv_nsec = 10000000};
	int tries;
	u64 runs;

	for (tries = 0; tries < REFRESH_TRIES; tries++) {
		runs = count_runs(l);
		read_rings(l);
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		if (count_runs(l) == runs)
			return;
		nanosleep(&nap, NULL);
	}
}

void fr_live_free(struct fr_live *l)
{
	free(l->ring);
	if (l->prog)
		fr_sess_progs_free(l->prog, l->prog_cnt);
}

u64 fr_live_horizon(const struct fr_live *l, u32 tier, int cpu)
{
	u64 horizon = l->begin_ns;
	size_t i;

	for (i = 0; i < l->ring_cnt; i++)
		if (l->ring[i].map->tier == tier && (cpu < 0 || l->ring[i].map->cpu == cpu) && l->ring[i].oldest_ns > horizon)
			horizon = l->ring[i].oldest_ns;
	return horizon;
}

/* ---- JSON ---- */

static void json_fact(const struct fr_live *l, struct fr_out *o, const char *name)
{
	char *v = fr_sess_fact(l->s, name);

	fr_out_printf(o, "\"%s\":\"", name);
	if (v)
		fr_escape_json(o, v, strlen(v));
	fr_out_str(o, "\",");
	free(v);
}

/* "key":{"reason":n,...} */
static void json_counts(struct fr_out *o, const char *key, const char *const *name, const u64 *v, u32 cnt)
{
	u32 i;

	fr_out_printf(o, "\"%s\":{", key);
	for (i = 0; i < cnt; i++)
		fr_out_printf(o, "%s\"%s\":%" PRIu64, i ? "," : "", name[i], v[i]);
	fr_out_char(o, '}');
}

static void json_lost(struct fr_out *o, const u64 *lost)
{
	static const char *const name[] = {
#define L(nr, name, doc) #name,
		FR_LOSTS(L)
#undef L
	};

	json_counts(o, "lost", name, lost, FR_LOST_CNT);
}

static void json_filtered(struct fr_out *o, const u64 *filtered)
{
	static const char *const name[] = {
#define F(nr, name, doc) #name,
		FR_FILTEREDS(F)
#undef F
	};

	json_counts(o, "filtered", name, filtered, FR_FILTERED_CNT);
	fr_out_char(o, ',');
}

static void json_tier(const struct fr_live *l, struct fr_out *o, const struct fr_live_ring *r)
{
	const struct fr_ring_map *m = r->map;

	fr_out_printf(o,
		      "{\"name\":\"%s\",\"slots\":%u,\"subbuf_bytes\":%u,\"written\":%" PRIu64 ",\"present\":%" PRIu64
		      ",\"overwritten\":%" PRIu64 ",\"horizon_ns\":%" PRIu64 ",",
		      fr_tier_name(m->tier), m->slot_cnt, m->subbuf_pages * FR_PAGE_SZ, r->written, r->present, r->overwritten,
		      fr_live_horizon(l, m->tier, m->cpu));
	json_lost(o, r->lost);
	fr_out_char(o, '}');
}

/* The rings of one CPU, from ring i on; returns the index behind them. */
static size_t json_cpu(const struct fr_live *l, struct fr_out *o, size_t i)
{
	u64 lost[FR_LOST_CNT] = {}, events = 0, written = 0, overwritten = 0, ties = 0;
	u16 cpu = l->ring[i].map->cpu;
	size_t first = i, end, k;

	for (end = i; end < l->ring_cnt && l->ring[end].map->cpu == cpu; end++) {
		written += l->ring[end].written;
		overwritten += l->ring[end].overwritten;
		/* as info counts them: frames of stacks belong to the samples that name them */
		events += l->ring[end].map->tier == FR_TIER_STACK ? 0 : l->ring[end].present;
		ties += fr_load(&l->ring[end].map->wr->health.ties);
		for (k = 0; k < FR_LOST_CNT; k++)
			lost[k] += l->ring[end].lost[k];
	}
	fr_out_printf(o,
		      "%s{\"cpu\":%u,\"events\":%" PRIu64 ",\"written\":%" PRIu64 ",\"overwritten\":%" PRIu64
		      ",\"ties\":%" PRIu64 ",",
		      i ? "," : "", cpu, events, written, overwritten, ties);
	json_lost(o, lost);
	fr_out_char(o, ',');
	json_filtered(o, l->ring[first].filtered);
	fr_out_str(o, "\"tiers\":[");
	for (k = first; k < end; k++) {
		if (k > first)
			fr_out_char(o, ',');
		json_tier(l, o, &l->ring[k]);
	}
	fr_out_str(o, "]}");
	return end;
}

static void json_progs(const struct fr_live *l, struct fr_out *o)
{
	size_t i;

	fr_out_str(o, "\"programs\":[");
	for (i = 0; i < l->prog_cnt; i++)
		fr_out_printf(o, "%s{\"name\":\"%s\",\"run_cnt\":%" PRIu64 ",\"run_ns\":%" PRIu64 ",\"missed\":%" PRIu64 "}",
			      i ? "," : "", l->prog[i].name, l->prog[i].run_cnt, l->prog[i].run_ns, l->prog[i].missed);
	fr_out_char(o, ']');
}

static u64 ties(const struct fr_live *l)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < l->ring_cnt; i++)
		sum += fr_load(&l->ring[i].map->wr->health.ties);
	return sum;
}

void fr_live_json(const struct fr_live *l, struct fr_out *o)
{
	const struct fr_session *sh = fr_sess_shared(l->s);
	char *mode = fr_sess_fact(l->s, "clock_mode");
	u32 tier;
	size_t i;

	fr_out_char(o, '{');
	json_fact(l, o, "session");
	json_fact(l, o, "version");
	json_fact(l, o, "profile");
	json_fact(l, o, "events");
	json_fact(l, o, "events_missing");
	json_fact(l, o, "dir");
	fr_out_printf(o, "\"recorder\":%s,\"begin_ns\":%" PRIu64 ",\"now_ns\":%" PRIu64 ",\"horizon_ns\":%" PRIu64 ",",
		      l->owned ? "true" : "false", l->begin_ns, l->now_ns, fr_live_horizon(l, FR_TIER_MAIN, -1));
	fr_out_str(o, "\"tiers\":[");
	for (tier = 0; tier < FR_TIER_CNT; tier++)
		fr_out_printf(o, "%s{\"name\":\"%s\",\"horizon_ns\":%" PRIu64 "}", tier ? "," : "", fr_tier_name(tier),
			      fr_live_horizon(l, tier, -1));
	fr_out_printf(o, "],\"clock\":{\"mode\":\"%s\",\"grain_ns\":%" PRIu64 ",\"ties\":%" PRIu64 "},", mode ?: "",
		      fact_u64(l->s, "clock_grain_ns"), ties(l));
	fr_out_printf(o, "\"memory\":{\"rings\":%" PRIu64 ",\"fixed\":%" PRIu64 "},", fact_u64(l->s, "ring_bytes"),
		      fact_u64(l->s, "fixed_bytes"));
	fr_out_printf(o, "\"samples\":{\"expected\":%" PRIu64 ",\"taken\":%" PRIu64 "},", fr_sess_samples_due(l->s, l->now_ns),
		      fr_load(&sh->sample_taken));
	fr_out_printf(o,
		      "\"tasks\":{\"evicted\":%" PRIu64 ",\"lost\":%" PRIu64 "},\"no_ring\":%" PRIu64 ",\"snapshots\":%" PRIu64
		      ",",
		      fr_load(&sh->task_evicted), fr_load(&sh->task_lost), fr_load(&sh->no_ring), fr_load(&sh->snapshot_nr));
	fr_out_str(o, "\"cpus\":[");
	for (i = 0; i < l->ring_cnt;)
		i = json_cpu(l, o, i);
	fr_out_str(o, "],");
	json_progs(l, o);
	fr_out_str(o, "}\n");
	free(mode);
}

/* ---- text ---- */

static void text_fact(const struct fr_live *l, struct fr_out *o, const char *label, const char *name)
{
	char *v = fr_sess_fact(l->s, name);

	if (v && *v) {
		fr_out_printf(o, "  %-10s ", label);
		fr_escape_text(o, v, strlen(v));
		fr_out_char(o, '\n');
	}
	free(v);
}

static void text_ring(const struct fr_live *l, struct fr_out *o, const struct fr_live_ring *r)
{
	const struct fr_ring_map *m = r->map;
	u64 sz = (u64)m->slot_cnt * m->subbuf_pages * FR_PAGE_SZ, lost = 0;
	u64 horizon = fr_live_horizon(l, m->tier, m->cpu);
	u32 fill = r->used_sz >= sz ? 10 : r->used_sz * 10 / sz, i;
	char span[32], size[32];

	for (i = 0; i < FR_LOST_CNT; i++)
		lost += r->lost[i];
	fr_out_printf(o, "  %3u  %-6s", m->cpu, fr_tier_name(m->tier));
	fr_out_paint(o, FR_PAINT_GREEN);
	fr_out_printf(o, "%.*s", (int)fill, "##########");
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, "%.*s %8s %10s %14" PRIu64 " %14" PRIu64 " ", (int)(10 - fill), "..........",
		      fr_show_size(sz, size, sizeof(size)),
		      l->now_ns > horizon ? fr_show_duration(l->now_ns - horizon, span, sizeof(span)) : "-", r->written,
		      r->overwritten);
	fr_out_paint(o, lost ? FR_PAINT_RED : FR_PAINT_NONE);
	fr_out_printf(o, "%10" PRIu64 "\n", lost);
	fr_out_paint(o, FR_PAINT_NONE);
}

static void text_misses(const struct fr_live *l, struct fr_out *o)
{
	size_t i;

	for (i = 0; i < l->prog_cnt; i++)
		if (l->prog[i].missed)
			fr_out_printf(o, "  missed     %" PRIu64 " runs of %s: it ran already on that CPU\n", l->prog[i].missed,
				      l->prog[i].name);
}

void fr_live_text(const struct fr_live *l, struct fr_out *o)
{
	const struct fr_session *sh = fr_sess_shared(l->s);
	u64 horizon = fr_live_horizon(l, FR_TIER_MAIN, -1);
	char a[32], b[32];
	size_t i;

	fr_out_paint(o, FR_PAINT_BOLD);
	fr_out_printf(o, "session %s", fr_sess_name(l->s));
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, ": %s\n", l->owned ? "a recorder process lives" : "records on its own");
	text_fact(l, o, "profile", "profile");
	text_fact(l, o, "events", "events");
	text_fact(l, o, "missing", "events_missing");
	text_fact(l, o, "snapshots", "dir");
	if (l->now_ns > horizon)
		fr_out_printf(o, "  history    the last %s of every CPU, recording for %s\n",
			      fr_show_duration(l->now_ns - horizon, a, sizeof(a)),
			      fr_show_duration(l->now_ns - l->begin_ns, b, sizeof(b)));
	fr_out_printf(o, "  memory     rings %s, on top %s\n", fr_show_size(fact_u64(l->s, "ring_bytes"), a, sizeof(a)),
		      fr_show_size(fact_u64(l->s, "fixed_bytes"), b, sizeof(b)));
	fr_out_printf(o, "  clock      grain %s, %" PRIu64 " ties\n",
		      fr_show_duration(fact_u64(l->s, "clock_grain_ns"), a, sizeof(a)), ties(l));
	fr_out_printf(o, "  samples    %" PRIu64 " taken, %" PRIu64 " expected\n", fr_load(&sh->sample_taken),
		      fr_sess_samples_due(l->s, l->now_ns));
	fr_out_printf(o, "  tasks      %" PRIu64 " evicted, %" PRIu64 " not kept\n", fr_load(&sh->task_evicted),
		      fr_load(&sh->task_lost));
	text_misses(l, o);
	fr_out_paint(o, FR_PAINT_DIM);
	fr_out_printf(o, "  CPU  tier  %-10s %8s %10s %14s %14s %10s\n", "used", "size", "history", "written", "overwritten",
		      "lost");
	fr_out_paint(o, FR_PAINT_NONE);
	for (i = 0; i < l->ring_cnt; i++)
		text_ring(l, o, &l->ring[i]);
}
