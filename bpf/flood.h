/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flood: which incidents of tasks get a record of their own, so that no flood of them fills the log, or pushes others out of
 * the journal. Pure: time and places in the log are arguments. flood.bpf.h keeps these structs in maps.
 *
 *   a death, an OOM kill	a hung task
 *	   |			     |
 *   one of many equal ones?  ------------------ yes -->  counted in their series, told together from time to time
 *	   | no			     |
 *   has its program a share of the log left,
 *   and has its user?  ------------------------ no --->  squeezed out: counted by user and name, and told together, too
 *	   | yes
 *   a record
 *
 * Equal: of the same kind, user, program, name, signal, origin and place. The first FR_EQUAL_BURST stand alone. Those after
 * them are told after a second, then after twice as long each time, up to FR_QUIET_NS; or when somebody looks. After so long
 * without one, the next is a first one again.
 *
 * Share: of one user's program an eighth of the log, of a user but root a quarter; again after FR_SHARE_NS, but not before
 * those records are saved. So nobody fills a log that nobody saves, and a journal has at most so many in that time.
 *
 * Told: in a record of all since the last one, which has their number and the times of the first and the last.
 *
 * Exact at any time: incidents = sum of `count` in records + found the log full + pending in a series.
 */
#ifndef FR_FLOOD_H
#define FR_FLOOD_H

#include "atomic.h"
#include "incident_layout.h"

#define FR_EQUAL_BURST 16u
#define FR_GAP_NS      1000000000ULL
#define FR_QUIET_NS    600000000000ULL
#define FR_SHARE_NS    600000000000ULL
#define FR_SHARE_LEAST 4u  /* of any log */
#define FR_FLOOD_OF_SZ 48u /* of what makes two equal (flood.bpf.h) */

/* ---- many that are told together ---- */

/* Any CPU may add, and any may tell: who gets `pending` by its exchange tells that many. */
struct fr_series {
	u64 pending;  /* in no record yet */
	u64 first_ns; /* of those; 0: there are none */
	u64 last_ns;  /* of all */
	u64 told_ns;  /* when there last was a record */
	u64 gap_ns;   /* until the next one; 0: FR_GAP_NS */
	u32 pid, pad; /* of the last */
};

FR_INLINE void fr_series_add(struct fr_series *s, u64 cnt, u64 first_ns, u64 now_ns, u32 pid)
{
	fr_cas(&s->first_ns, 0, first_ns);
	s->last_ns = now_ns;
	s->pid = pid;
	fr_count(&s->pending, cnt);
}

/* Is it time for a record? To one caller only, who then tells. */
FR_INLINE u32 fr_series_is_due(struct fr_series *s, u64 now_ns)
{
	u64 told_ns = fr_load(&s->told_ns), gap_ns = s->gap_ns ? s->gap_ns : FR_GAP_NS;

	if ((s64)(now_ns - told_ns) < (s64)gap_ns || fr_cas(&s->told_ns, told_ns, now_ns) != told_ns)
		return 0;
	s->gap_ns = 2 * gap_ns < FR_QUIET_NS ? 2 * gap_ns : FR_QUIET_NS;
	return 1;
}

/* What is pending, for a record: how many, and *first_ns. 0: nothing. */
FR_INLINE u64 fr_series_take(struct fr_series *s, u64 *first_ns)
{
	u64 cnt = fr_xchg(&s->pending, 0);

	*first_ns = 0;
	if (cnt)
		*first_ns = fr_xchg(&s->first_ns, 0);
	return cnt;
}

FR_INLINE u32 fr_series_is_quiet(const struct fr_series *s, u64 now_ns)
{
	return (s64)(now_ns - s->last_ns) >= (s64)FR_QUIET_NS;
}

/* A record of cnt of them, whose first was at first_ns. */
FR_INLINE void fr_flood_sum(struct fr_incident *inc, const struct fr_series *s, u64 cnt, u64 first_ns)
{
	u64 last_ns = s->last_ns;

	if (last_ns && last_ns < inc->ts)
		inc->ts = last_ns;
	inc->count = cnt;
	inc->value = first_ns && first_ns < inc->ts ? inc->ts - first_ns : 0;
	inc->pid = inc->tid = s->pid;
	inc->flags = FR_INCIDENT_SUM;
}

/* ---- equal ones ---- */

#define FR_EQUAL_ENDS (1ULL << 62)

struct fr_equal {
	u64 seen; /* since it was quiet; FR_EQUAL_ENDS and more: it is being removed */
	struct fr_series series;
	struct fr_incident rec; /* of the first, for what all have in common */
};

enum fr_equal_is {
	FR_EQUAL_ALONE,	  /* it has a record of its own, if there is a share */
	FR_EQUAL_COUNTED, /* it is in the series */
	FR_EQUAL_DUE,	  /* likewise, and the series is to be told */
};

/*
 * One more, which equals an earlier one. If it was quiet for long, what the series still has is the caller's to tell first
 * (fr_series_is_quiet()).
 */
FR_INLINE enum fr_equal_is fr_equal_add(struct fr_equal *e, u64 now_ns, u32 pid)
{
	u64 seen = fr_load(&e->seen);

	if (fr_series_is_quiet(&e->series, now_ns) && seen < FR_EQUAL_ENDS && fr_cas(&e->seen, seen, 0) == seen)
		e->series.gap_ns = 0;
	seen = fr_add(&e->seen, 1);
	if (seen < FR_EQUAL_BURST) {
		e->series.last_ns = now_ns;
		fr_store(&e->series.told_ns, now_ns);
	}
	if (seen < FR_EQUAL_BURST || seen >= FR_EQUAL_ENDS)
		return FR_EQUAL_ALONE;
	fr_series_add(&e->series, 1, now_ns, now_ns, pid);
	return fr_series_is_due(&e->series, now_ns) ? FR_EQUAL_DUE : FR_EQUAL_COUNTED;
}

/* Was it quiet for so long that it may be removed? Then one more, at the same moment, does not count with it. */
FR_INLINE u32 fr_equal_ends(struct fr_equal *e, u64 now_ns)
{
	u64 seen = fr_load(&e->seen);

	return fr_series_is_quiet(&e->series, now_ns) && !fr_load(&e->series.pending) &&
	       fr_cas(&e->seen, seen, FR_EQUAL_ENDS) == seen;
}

/* ---- shares ---- */

#define FR_SHARE_PROGRAM 8u /* one in so many records, of one user's program */
#define FR_SHARE_USER	 4u /* and of a user */

struct fr_share {
	u64 from_ns;
	u64 cnt;   /* had since then, and a few more that were refused at the same moment */
	u64 upto;  /* records before this number may be of them */
	u64 names; /* of a user: squeezed out under so many */
};

FR_INLINE u64 fr_share_of(u32 log_cnt, u32 part)
{
	return log_cnt / part > FR_SHARE_LEAST ? log_cnt / part : FR_SHARE_LEAST;
}

/* The last quarter of a share is for records of many, which say more. */
FR_INLINE u64 fr_share_most(u64 share, u32 is_sum)
{
	return is_sum ? share : share - share / 4;
}

/* May it have one more of `most`? next, saved: the log's words (incident.h). */
FR_INLINE u32 fr_share_take(struct fr_share *s, u64 most, u64 now_ns, u64 next, u64 saved)
{
	if ((s64)(now_ns - s->from_ns) >= (s64)FR_SHARE_NS && (s64)(saved - s->upto) >= 0) {
		s->from_ns = now_ns;
		fr_store(&s->cnt, 0);
	}
	if (fr_load(&s->cnt) >= most || fr_add(&s->cnt, 1) >= most)
		return 0;
	s->upto = next + 1;
	return 1;
}

/* Whose incidents were squeezed out. */
struct fr_squeezed_key {
	u32 uid;	       /* FR_SQUEEZED_ANY */
	u32 kind;	       /* enum fr_incident_kind */
	char comm[FR_COMM_SZ]; /* "": of several names */
};

struct fr_squeezed {
	u64 cnt; /* ever */
	struct fr_series series;
};

/* Is there room to tell what was squeezed out? Single ones, which say more, come first. */
FR_INLINE u32 fr_flood_has_room(u64 next, u64 saved, u32 log_cnt)
{
	return (s64)(next - saved) < (s64)(log_cnt / 2);
}

#endif
