/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* host_calls: system calls in a ring of the test's own memory (host_ring.h), recorded as bpf/frequent/syscall.bpf.h does. */
#ifndef FR_HOST_CALLS_H
#define FR_HOST_CALLS_H

#include "event_fields.h"
#include "host_ring.h"
#include "near.h"

static void (*host_at_found)(void); /* what interrupts the next end, once, after it has looked for its call */

static u64 *host_record(const struct host_ring *h, const struct fr_res *res)
{
	return (u64 *)fr_ring_page(&h->r, res->page_nr) + res->unit;
}

/* What is behind the words of the record's head: arg is the third argument. */
static void host_put_args(u64 *rec, const struct fr_call_form *form, u32 heads, u64 second, u64 arg)
{
	if (form->units > 2)
		rec[heads] = second;
	if (form->units > 3)
		memset(&rec[heads + 1], 0, (form->units - 3) * FR_UNIT_SZ);
	if (form->units > 3 && form->put == 2)
		rec[heads + 1] = arg;
}

/* With cnt arguments, of which the last of the first three is arg, all others 0: it has a short form. 0, or -1: it is lost. */
static int host_begin_call(struct host_ring *h, u32 tid, s32 id, u32 cnt, u64 arg, struct fr_res *res)
{
	struct fr_call_form form = {.event = FR_EV_sys_enter};
	struct fr_near near = {};
	u64 *rec;

	fr_short_enter(&form, tid, id, cnt, cnt == 1 ? arg : 0, cnt == 2 ? arg : 0, cnt > 2 ? arg : 0);
	if (form.may_be_near)
		fr_near_find_base(&h->r, form.word, &near);
	if (fr_ring_reserve_near(&h->r, form.units, &near, res))
		return -1;
	rec = host_record(h, res);
	if (res->is_near) {
		rec[0] = fr_near_begins_at(&near, res, &form);
		host_put_args(rec, &form, 1, form.pair, arg);
	} else {
		rec[0] = fr_rec_head(res->time_ns, form.event, form.units);
		rec[1] = form.word;
		host_put_args(rec, &form, 2, form.second, arg);
	}
	fr_ring_commit(res);
	fr_near_begun(res, 1);
	return 0;
}

/* ret has 32 bits. The same. */
static int host_end_call(struct host_ring *h, u32 tid, s32 id, s64 ret, struct fr_res *res)
{
	void (*interrupt)(void) = host_at_found;
	u64 word = fr_short_word(tid, id, ret), *rec;
	struct fr_near near = {};

	if (fr_near_has_ret(ret))
		fr_near_find_call(&h->r, word, &near);
	host_at_found = NULL;
	if (interrupt)
		interrupt();
	if (fr_ring_reserve_near(&h->r, 2, &near, res))
		return -1;
	rec = host_record(h, res);
	if (res->is_near) {
		rec[0] = fr_near_ended(&near, res, ret);
	} else {
		rec[0] = fr_rec_head(res->time_ns, FR_SHORT_EXIT, 2);
		rec[1] = word;
	}
	fr_ring_commit(res);
	return 0;
}

#endif
