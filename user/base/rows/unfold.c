/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/unfold.h"
#include "event_fields.h"

#include <string.h>

#define BELOW(bits) ((1ULL << (bits)) - 1)
#define ARG_MAX	    6u /* of a system call */
#define EXIT_UNITS  (sizeof(struct fr_rec_sys_exit) / FR_UNIT_SZ)

/* word: its lower half is the call's task and number. */
static void unfold_put_head(u64 *out, u64 time, u64 word, u32 event, u32 units)
{
	out[0] = fr_rec_head(time, event, units);
	out[1] = (word & FR_TID_MASK) | (u64)(u32)fr_short_id(word) << 32;
}

static u32 unfold_exit(const u64 *rec, u64 *out)
{
	if (fr_head_units(rec[0]) != 2)
		return 0;
	unfold_put_head(out, fr_head_time(rec[0]), rec[1], FR_EV_sys_exit, EXIT_UNITS);
	out[2] = (s64)rec[1] >> FR_SHORT_HALF;
	return EXIT_UNITS * FR_UNIT_SZ;
}

static u32 unfold_near_exit(const u64 *rec, const struct fr_begun *call, u64 *out)
{
	if (fr_head_units(rec[0]) != 1)
		return 0;
	unfold_put_head(out, fr_near_time(rec[0], call), call->word, FR_EV_sys_exit, EXIT_UNITS);
	out[2] = fr_near_ret(rec[0]);
	return EXIT_UNITS * FR_UNIT_SZ;
}

static u32 unfold_waking(const u64 *rec, u32 event, u64 *out)
{
	struct fr_rec_sched_wakeup_new bits;
	struct fr_rec_sched_waking full = {};

	if (fr_head_units(rec[0]) != FR_BITS_REC_SZ / FR_UNIT_SZ)
		return 0;
	fr_unbits_sched_wakeup_new(rec[1], &bits);
	full.head = fr_rec_head(fr_head_time(rec[0]), FR_EV_sched_waking, sizeof(full) / FR_UNIT_SZ);
	full.task = bits.task | (u32)fr_short_waker(event) << 24;
	full.target_pid = bits.target_pid;
	full.prio = bits.prio;
	full.target_cpu = bits.target_cpu;
	memcpy(out, &full, sizeof(full));
	return sizeof(full);
}

/* Words after the head in which arguments share a place. */
static u32 shared_words(u32 event)
{
	return event == FR_SHORT_ENTER_SMALL_PAIR || event == FR_SHORT_ENTER_WIDE_PAIR ? 3 : 2;
}

/* Get the arguments of these words. Returns how many. */
static u32 first_args(const u64 *rec, u32 event, u64 *arg)
{
	u64 half = rec[1] >> FR_SHORT_HALF, word;
	u32 cnt;

	arg[0] = half;
	if (event == FR_SHORT_ENTER_0 || event == FR_SHORT_ENTER_1)
		return event - FR_SHORT_ENTER_0;
	word = rec[2];
	if (event == FR_SHORT_ENTER_WIDE || event == FR_SHORT_ENTER_WIDE_PAIR) {
		arg[0] = word & BELOW(FR_SHORT_WIDE_BITS);
		arg[1] = half << (64 - FR_SHORT_WIDE_BITS) | word >> FR_SHORT_WIDE_BITS;
		cnt = 2;
	} else {
		fr_short_unpair(word, arg);
		arg[0] = fr_short_first(arg[0]);
		arg[2] = half;
		cnt = event == FR_SHORT_ENTER_SMALL_2 ? 2 : 3;
	}
	if (shared_words(event) == 2)
		return cnt;
	fr_short_unpair(rec[3], &arg[cnt]);
	return cnt + 2;
}

/* Is a sys_enter of this many units possible? Other forms tell the argument count by their number. */
static bool enter_is_good(const u64 *rec, u32 event, u32 units)
{
	switch (event) {
	case FR_SHORT_ENTER_0:
		return units == 2 && !(rec[1] >> FR_SHORT_HALF);
	case FR_SHORT_ENTER_1:
		return units == 2;
	case FR_SHORT_ENTER_SMALL_2:
		return units == 3 && !(rec[1] >> FR_SHORT_HALF);
	case FR_SHORT_ENTER_SMALL:
		return units >= 3 && units <= ARG_MAX;
	case FR_SHORT_ENTER_SMALL_PAIR:
		return units >= 4 && units < ARG_MAX;
	case FR_SHORT_ENTER_WIDE_PAIR:
		return units >= 4 && units <= ARG_MAX;
	default:
		return units >= 3 && units <= ARG_MAX + 1;
	}
}

static u32 unfold_enter(const u64 *rec, u32 event, u64 *out)
{
	u32 units = fr_head_units(rec[0]), fixed = sizeof(struct fr_rec_sys_enter) / FR_UNIT_SZ, cnt, behind,
	    shared = 1 + shared_words(event);
	u64 arg[ARG_MAX] = {};

	if (!enter_is_good(rec, event, units))
		return 0;
	cnt = first_args(rec, event, arg);
	behind = units > shared ? units - shared : 0;
	memcpy(&arg[cnt], &rec[shared], behind * FR_UNIT_SZ);
	cnt += behind;
	unfold_put_head(out, fr_head_time(rec[0]), rec[1], FR_EV_sys_enter, fixed + cnt);
	memcpy(&out[fixed], arg, cnt * FR_UNIT_SZ);
	return (fixed + cnt) * FR_UNIT_SZ;
}

/* Unfold the record that it would be if it were not near base. */
static u32 unfold_near_enter(const u64 *rec, const struct fr_begun *base, u64 *out)
{
	struct fr_begun call = fr_near_begins(rec[0], *base);
	u32 event = fr_head_event(rec[0]) + FR_SHORT_NEAR_LESS, units = fr_head_units(rec[0]);
	bool wide = event == FR_SHORT_ENTER_WIDE || event == FR_SHORT_ENTER_WIDE_PAIR;
	u64 full[ARG_MAX + 1], arg[2], half = fr_near_value(rec[0]);

	if (units < (wide ? 3 : 2) || units > ARG_MAX)
		return 0;
	full[0] = fr_rec_head(call.time, event, units + 1);
	memcpy(&full[2], &rec[1], (units - 1) * FR_UNIT_SZ);
	if (wide) {
		fr_short_unpair(rec[1], arg);
		half = arg[1] >> (64 - FR_SHORT_WIDE_BITS);
		full[2] = arg[1] << FR_SHORT_WIDE_BITS | fr_short_first(arg[0]);
	}
	full[1] = call.word | half << FR_SHORT_HALF;
	return fr_near_value(rec[0]) == (u16)half ? unfold_enter(full, event, out) : 0;
}

u32 fr_unfold(const u64 *rec, const struct fr_begun *call, u64 *out)
{
	u32 event = fr_head_event(rec[0]);

	if (!fr_is_short(event) || (fr_short_is_told(event) && !call))
		return 0;
	if (fr_short_is_waking(event))
		return unfold_waking(rec, event, out);
	if (event == FR_SHORT_EXIT_NEAR)
		return unfold_near_exit(rec, call, out);
	if (fr_short_is_near(event))
		return unfold_near_enter(rec, call, out);
	return event == FR_SHORT_EXIT ? unfold_exit(rec, out) : unfold_enter(rec, event, out);
}
