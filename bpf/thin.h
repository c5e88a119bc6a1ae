/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thin: nobody drowns the others. May a cgroup write one more record to the main tier of its CPU? Pure: one text for BPF
 * programs (thin.bpf.h) and for the test that drives its clock.
 *
 * A ring of B bytes is to hold the last `hold` of its CPU. It does so as long as at most four fifths of it are written within
 * that time; then everybody writes what he likes. When more is written, each cgroup has a share, a tenth of the ring in `hold`,
 * and a tenth at once. What it wants beyond that is left out: calls, faults, signals, tracepoints; never switches.
 *
 *	due	until when what the cgroup wrote is paid: each unit moves it by step = 10 hold / B, from the clock on or from
 *		where it is. So a pause gives back no more than the time that it took, and a burst is paid like anything else
 *
 *	due <= now + hold		within its share: it is written, and paid
 *	otherwise, ring not pressed	nobody needs the place: it is written
 *	otherwise			left out
 *
 *	ring, the newest lap at the right
 *	| ... |     |     |     |  x  |		four fifths of the laps back: did that one begin within `hold`? Then the ring is
 *	^ begins		^ now		pressed
 *
 * What follows: within any stretch of `hold`, a cgroup writes at most two tenths of the ring while it is pressed, and one
 * record. Others, who alone would fill it in H, keep at least 8/10 of the lesser of H and `hold` (tests/unit/test_thin.c): in
 * 0.8 H they write 0.8 B.
 *
 * Rules
 *  - An account is of one CPU, whose programs alone pay. One that interrupts another between its load and its store may be
 *    charged nothing: one record for each interrupt.
 *  - The time may lag, for who is within its share at an earlier time is so now. Who is not is asked again with the true time.
 *  - What is left out is counted where it is, by kind, and told by an event `thinned`: the first at once, then after a
 *    second, then after twice as long each time, up to FR_THIN_GAP_MAX_NS; and when a snapshot begins. Each is told once: who
 *    takes a count sets it to 0 by the same exchange.
 */
#ifndef FR_THIN_H
#define FR_THIN_H

#include "atomic.h"
#include "event.h"
#include "fatal.h"

#define FR_THIN_PART	   10u /* a share is one in so many */
#define FR_THIN_FULL	   8u  /* so many of FR_THIN_PART within the time: pressed */
#define FR_THIN_GAP_NS	   1000000000ULL
#define FR_THIN_GAP_MAX_NS (64 * FR_THIN_GAP_NS)
#define FR_THIN_LAP_SLACK  2u /* a swapped sub-buffer has a lap of a little before (ring.h) */

/* What is left out, by what the event says. */
#define FR_THIN_KINDS(K)                                                  \
	K(0, calls, "system calls, whole ones: beginning, texts and end") \
	K(1, faults, "page faults")                                       \
	K(2, signals, "signals, but those that tell why a process died")  \
	K(3, tracepoints, "events of tracepoints")

enum fr_thin_kind {
#define K(nr, name, doc) FR_THIN_##name = nr,
	FR_THIN_KINDS(K)
#undef K
		FR_THIN_KIND_CNT
};

struct fr_thin_conf {
	u64 hold_ns; /* 0: nothing is thinned */
	u64 step_ns; /* that a unit costs */
	u32 laps;    /* four fifths of a ring */
	u32 pad;
};

/* A cgroup's account on a CPU. All zero at first. */
struct fr_thin {
	u64 cgroup; /* 0: nobody's */
	u64 due_ns;
	u64 told_ns;  /* when there last was an event */
	u64 gap_ns;   /* until the next one; 0: FR_THIN_GAP_NS */
	u64 since_ns; /* of what is not told yet: the first, 0: none */
	u64 until_ns; /* and the last */
	u64 left[FR_THIN_KIND_CNT];
};

/* Why a process died or stopped is never left out, nor are signals of faults: KILL, STOP, and those that dump core. */
#define FR_THIN_NEVER (FR_SIG(9) | FR_SIG(19) | FR_SIG(20) | FR_SIG(21) | FR_SIG(22) | FR_SIG_CORE)

/* May this signal be left out? is_handled: its receiver has a handler, or ignores it. */
FR_INLINE u32 fr_thin_has_signal(u32 sig, u32 is_handled)
{
	return !fr_sig_in(sig, FR_THIN_NEVER) && (is_handled || fr_sig_in(sig, FR_SIG_HARMLESS));
}

#define FR_THIN_WAYS 4u
#define FR_THIN_SETS 64u
#define FR_THIN_CNT  (FR_THIN_WAYS * FR_THIN_SETS)

/* The accounts of a CPU: a cgroup's is one of a few, by its id. */
struct fr_thin_cpu {
	u64 last;    /* { css_set:42 | page of the ring, by its time:14 | account:8 }, whole: programs interrupt each other */
	u64 telling; /* somebody uses out: what comes meanwhile is told later */
	struct fr_thin out;
	struct fr_thin account[FR_THIN_CNT];
};

#define FR_THIN_OPEN_WORDS ((FR_TID_MASK + 1) / 64) /* a bit for each tid */

/* Of a ring of slot_cnt sub-buffers of subbuf_units. */
FR_INLINE struct fr_thin_conf fr_thin_conf_of(u64 slot_cnt, u64 subbuf_units, u64 hold_ns)
{
	u64 share = slot_cnt * subbuf_units / FR_THIN_PART ?: 1, laps = slot_cnt * FR_THIN_FULL / FR_THIN_PART;

	return (struct fr_thin_conf){.hold_ns = hold_ns, .step_ns = (hold_ns + share - 1) / share, .laps = laps ?: 1};
}

/* May it write units at now_ns? Then it pays. */
FR_INLINE u32 fr_thin_pays(struct fr_thin *t, const volatile struct fr_thin_conf *c, u64 units, u64 now_ns)
{
	u64 due = fr_load(&t->due_ns), from = due > now_ns ? due : now_ns;

	if (due > now_ns + c->hold_ns)
		return 0;
	fr_store(&t->due_ns, from + units * c->step_ns);
	return 1;
}

/*
 * It wrote units that nobody may leave out: they are paid in any case. But what was written while nobody needed the place is
 * not owed for ever: the debt is no longer than hold, and what is written beyond that.
 */
FR_INLINE void fr_thin_owes(struct fr_thin *t, const volatile struct fr_thin_conf *c, u64 units, u64 now_ns)
{
	u64 due = fr_load(&t->due_ns), most = now_ns + c->hold_ns, from = due > now_ns ? due : now_ns;

	from = (from < most ? from : most) + units * c->step_ns;
	if (from > due)
		fr_store(&t->due_ns, from);
}

/*
 * Is the ring, whose lap is seq, so full that somebody's place is needed? page_seq, begun_ns: of the page that begins the
 * sub-buffer of c->laps before. Where that page is of another lap nothing is known: then it is.
 */
FR_INLINE u32 fr_thin_is_pressed(const volatile struct fr_thin_conf *c, u64 seq, u64 page_seq, u64 begun_ns, u64 now_ns)
{
	u64 want = seq - c->laps;

	if (seq <= c->laps)
		return 0;
	return want - page_seq > FR_THIN_LAP_SLACK || (s64)(now_ns - begun_ns) < (s64)c->hold_ns;
}

/* Is something left out that has to be told now? */
FR_INLINE u32 fr_thin_is_due(const struct fr_thin *t, u64 now_ns)
{
	u64 told_ns = fr_load(&t->told_ns);

	return fr_load(&t->since_ns) && (!told_ns || (s64)(now_ns - told_ns) >= (s64)(t->gap_ns ?: FR_THIN_GAP_NS));
}

FR_INLINE void fr_thin_leave(struct fr_thin *t, enum fr_thin_kind kind, u64 now_ns)
{
	fr_count(&t->left[kind], 1);
	fr_store(&t->until_ns, now_ns);
	fr_cas(&t->since_ns, 0, now_ns);
}

/* An event tells it. The next one is told later, unless nothing was left out for long. */
FR_INLINE void fr_thin_told(struct fr_thin *t, u64 now_ns)
{
	u64 gap_ns = t->gap_ns ?: FR_THIN_GAP_NS;

	if (!t->told_ns || (s64)(now_ns - t->told_ns) >= (s64)(2 * gap_ns))
		gap_ns = FR_THIN_GAP_NS;
	else if (gap_ns < FR_THIN_GAP_MAX_NS)
		gap_ns *= 2;
	t->gap_ns = gap_ns;
	fr_store(&t->told_ns, now_ns);
}

/* What is left out, and not told yet: since when, until when, how many of each kind. False: nothing. */
FR_INLINE u32 fr_thin_take(struct fr_thin *t, u64 now_ns, struct fr_thin *out)
{
	u64 any = 0;
	u32 i;

	out->cgroup = fr_load(&t->cgroup);
	out->since_ns = fr_xchg(&t->since_ns, 0);
	out->until_ns = fr_load(&t->until_ns);
	for (i = 0; i < FR_THIN_KIND_CNT; i++) {
		out->left[i] = fr_xchg(&t->left[i], 0);
		any |= out->left[i];
	}
	/* one that came between these is told by either, and its time may have gone with the other */
	if (!out->since_ns)
		out->since_ns = out->until_ns;
	if (any)
		fr_thin_told(t, now_ns);
	return any != 0;
}

/* Its event was lost: it is told by the next one. */
FR_INLINE void fr_thin_give_back(struct fr_thin *t, const struct fr_thin *out)
{
	u32 i;

	for (i = 0; i < FR_THIN_KIND_CNT; i++)
		fr_count(&t->left[i], out->left[i]);
	fr_store(&t->since_ns, out->since_ns);
}

/* Is all paid? Then the account is as one that never wrote, and may be another cgroup's when all of it is told. */
FR_INLINE u32 fr_thin_is_paid(const struct fr_thin *t, u64 now_ns)
{
	return fr_load(&t->due_ns) <= now_ns;
}

#endif
