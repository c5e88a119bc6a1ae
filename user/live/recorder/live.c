/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/live.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "atomic.h"
#include "live/trig/trig.h"

#define REFRESH_TRIES 500

/* When did lap seq begin? Read its first page's head twice, since a writer may take the sub-buffer at any time. */
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

static void live_read_ring(const struct fr_ring_map *m, struct fr_live_ring *r)
{
	u64 first, last, seq, begin_ns = 0;
	u32 i;

	r->map = m;
	r->overwritten = fr_load(&m->wr->overwritten);
	r->present = fr_ring_read_present(m);
	r->written = r->overwritten + r->present;
	for (i = 0; i < FR_LOST_CNT; i++)
		r->lost[i] = fr_load(&m->wr->lost[i]);
	for (i = 0; i < FR_FILTERED_CNT; i++)
		r->filtered[i] = fr_load(&m->wr->filtered[i]);
	r->texts = fr_load(&m->wr->texts);
	r->told = fr_load(&m->wr->told);
	r->oldest_ns = fr_load(&m->sl->since_ns);
	if (fr_ring_read_range(m, &first, &last))
		return;
	r->used_sz = (last - first) * m->subbuf_pages * FR_PAGE_SZ + (u64)fr_w_off(fr_writer_w(m->wr)) * FR_UNIT_SZ;
	for (seq = first; first > 1 && seq <= last && !begin_ns; seq++)
		begin_ns = lap_begin(m, seq);
	r->oldest_ns = begin_ns ?: r->oldest_ns;
}

u64 fr_live_fact(const struct fr_live *l, const char *name)
{
	char *text = fr_sess_fact(l->s, name);
	u64 v = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return v;
}

/* Through BPF, which is not subject to time namespaces. */
static u64 ask_clock(struct fr_sess *s)
{
	struct fr_call call;

	return fr_sess_clocks(s, &call) ? 0 : call.ns;
}

static void live_read_rings(struct fr_live *l)
{
	const struct fr_ring_map *map;
	size_t i;

	map = fr_sess_rings(l->s, &l->ring_cnt);
	memset(l->ring, 0, l->ring_cnt * sizeof(*l->ring));
	for (i = 0; i < l->ring_cnt; i++)
		live_read_ring(&map[i], &l->ring[i]);
}

static void live_read_facts(struct fr_live *l)
{
#define F(name) l->fact.name = fr_sess_fact(l->s, #name) ?: strdup("");
	FR_LIVE_FACTS(F)
#undef F
	l->fact.held = fr_sess_held(l->s);
}

static void free_facts(struct fr_live *l)
{
#define F(name) free((char *)l->fact.name);
	FR_LIVE_FACTS(F)
#undef F
	free((char *)l->fact.held);
}

/* What is not read now stays as it was. */
static void live_read_tps(struct fr_live *l)
{
	struct fr_sess_tp *tp;
	u32 cnt;

	if (fr_sess_tps(l->s, &tp, &cnt))
		return;
	free(l->tp);
	l->tp = tp;
	l->tp_cnt = cnt;
}

static void read_incidents(struct fr_live *l)
{
	l->has_incidents = !fr_sess_incident_counts(l->s, &l->incidents);
	if (!l->has_incidents)
		return;
	fr_sess_incident_unrecorded(l->s, &l->incidents);
	l->squeezed = calloc(FR_SQUEEZED_MAX, sizeof(*l->squeezed));
	l->squeezed_cnt = l->squeezed ? fr_sess_incident_squeezed(l->s, l->squeezed) : 0;
}

int fr_live_read(struct fr_sess *s, struct fr_live *l)
{
	int err;

	*l = (struct fr_live){.s = s};
	fr_sess_rings(s, &l->ring_cnt);
	l->ring = calloc(l->ring_cnt, sizeof(*l->ring));
	if (!l->ring)
		return -ENOMEM;
	live_read_rings(l);
	l->now_ns = ask_clock(s);
	l->begin_ns = fr_live_fact(l, "begin_ns");
	l->owned = fr_sess_is_owned(s);
	l->triggers = fr_trig_shared(s);
	live_read_facts(l);
	read_incidents(l);
	l->wait_min_ns = fr_live_fact(l, "wait_min_ns");
	l->has_waits = l->wait_min_ns && !fr_sess_waits(s, &l->waits, &l->waitsums);
	live_read_tps(l);
	err = fr_live_read_waiting(l);
	return err ?: fr_sess_progs(s, &l->prog, &l->prog_cnt);
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
 * The kernel releases a link's id before it detaches the program, so some programs still run for a moment, and are filtered. A
 * run is counted after what it counts: runs in progress while the rings are read show up in the second read of the counters,
 * after a grace period.
 */
void fr_live_refresh(struct fr_live *l)
{
	const struct timespec nap = {.tv_nsec = 10000000};
	int tries;
	u64 runs;

	for (tries = 0; tries < REFRESH_TRIES; tries++) {
		runs = count_runs(l);
		live_read_rings(l);
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		if (count_runs(l) == runs)
			break;
		nanosleep(&nap, NULL);
	}
	live_read_tps(l);
}

void fr_live_free(struct fr_live *l)
{
	free(l->ring);
	free(l->squeezed);
	free(l->waiting);
	fr_waitsums_free(&l->waitsums);
	free_facts(l);
	if (l->prog)
		fr_sess_progs_free(l->prog, l->prog_cnt);
	free(l->tp);
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

u64 fr_live_ties(const struct fr_live *l)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < l->ring_cnt; i++)
		sum += fr_load(&l->ring[i].map->wr->health.ties);
	return sum;
}

u64 fr_live_lost(const struct fr_live *l)
{
	u64 sum = 0;
	size_t i;
	u32 k;

	for (i = 0; i < l->ring_cnt; i++)
		for (k = 0; k < FR_LOST_CNT; k++)
			sum += l->ring[i].lost[k];
	return sum;
}

double fr_live_rate(const struct fr_live *l)
{
	double sum = 0;
	u32 g;

	for (g = 0; g < FR_GROUP_CNT; g++)
		sum += l->rate[g];
	return sum;
}

u64 fr_live_ahead(const struct fr_live *l)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < l->ring_cnt; i++)
		sum += fr_load(&l->ring[i].map->wr->health.ahead);
	return sum;
}

double fr_live_seconds(const struct fr_live *l, u64 since_ns)
{
	return l->now_ns > since_ns ? (l->now_ns - since_ns) / 1e9 : 0;
}

bool fr_live_in_force(const struct fr_live *l, u32 slot)
{
	return !(__atomic_load_n(&l->triggers->ended, __ATOMIC_RELAXED) >> slot & 1);
}

u64 fr_live_suppressed(const struct fr_trigger_slot *t)
{
	u64 sum = 0;
	u32 v;

	for (v = 0; v < FR_TRIGGER_VERDICT_CNT; v++)
		if (v != FR_TRIGGER_VERDICT_taken && v != FR_TRIGGER_VERDICT_filtered && v != FR_TRIGGER_VERDICT_failed)
			sum += fr_load(&t->verdict[v]);
	return sum;
}
