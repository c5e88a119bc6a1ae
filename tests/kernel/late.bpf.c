/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * late: a writer that is held inside its record, and others that interrupt it and want to lap the ring. Both write the event
 * `stack`, whose frames are numbers made from its id here, so that a torn one is seen.
 */
#include "event_fields.h"
#include "record.bpf.h"

#define FRAME_CNT 6
#define REC_SZ	  (sizeof(struct fr_rec_stack) + FRAME_CNT * sizeof(u64))
#define SPIN_MAX  (1u << 23) /* of bpf_loop() */
#define SPIN_CNT  64	     /* it waits for interrupts, however few come; this only ends it where none do */

u64 nested_runs = 0;  /* times the interrupting program ran */
u64 late_want = 0;    /* the writer waits until it ran so often more */
u64 late_saw = 0;     /* as often it ran meanwhile */
u64 late_written = 0; /* records of the writer */
u64 quiet = 0;	      /* nothing else writes, so that what the writer wrote stays to be read */

FR_INLINE void put_frame(const struct fr_writing *w, u64 id, u32 nr)
{
	fr_put(w, sizeof(struct fr_rec_stack) / FR_UNIT_SZ + nr, id * (nr + 3));
}

FR_INLINE int write(u64 id)
{
	struct fr_rec_stack *rec;
	struct fr_writing w;
	u32 i;

	rec = fr_begin(&w, &fr_main, FR_TIER_MAIN, FR_EV_stack, REC_SZ, sizeof(*rec), 1, 0);
	if (!rec)
		return 0;
	rec->stack_id = id;
	for (i = 0; i < FRAME_CNT; i++)
		put_frame(&w, id, i);
	return fr_commit(&w);
}

SEC("perf_event")
int nested(void *ctx)
{
	if (quiet)
		return 0;
	__sync_fetch_and_add(&nested_runs, 1);
	return write(nested_runs * 2);
}

static int waited(u32 i, u64 *until)
{
	return *(volatile u64 *)&nested_runs >= *until;
}

/* Half of the record, a long wait, the other half, commit. Its id is odd. */
SEC("raw_tp")
int late(void *ctx)
{
	u64 begin = nested_runs, until = begin + late_want, id = begin * 2 + 1;
	struct fr_rec_stack *rec;
	struct fr_writing w;
	u32 i;

	rec = fr_begin(&w, &fr_main, FR_TIER_MAIN, FR_EV_stack, REC_SZ, sizeof(*rec), 2, 0);
	if (!rec)
		return 0;
	rec->stack_id = id;
	for (i = 0; i < FRAME_CNT / 2; i++)
		put_frame(&w, id, i);
	for (i = 0; i < SPIN_CNT && !waited(0, &until); i++)
		bpf_loop(SPIN_MAX, waited, &until, 0);
	for (i = FRAME_CNT / 2; i < FRAME_CNT; i++)
		put_frame(&w, id, i);
	late_saw = nested_runs - begin;
	late_written++;
	quiet = 1;
	return fr_commit(&w);
}

char _license[] SEC("license") = "Dual BSD/GPL";
