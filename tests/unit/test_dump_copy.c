/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copying rings: what is said of laps that cannot be read. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/ring/ring_read.h"

#define LAPS 6u

static int verdict[LAPS + 1]; /* of each lap, from 1 on */

/* Lap seq began at 1000 * seq. */
static int read_lap(struct fr_ring_reader *r, u64 seq, void *buf, size_t buf_sz, struct fr_lap *out)
{
	struct fr_page_head *head = buf;

	assert_true(r && buf_sz >= FR_PAGE_SZ);
	if (verdict[seq])
		return verdict[seq];
	head->base_ns = 1000 * seq;
	*out = (struct fr_lap){.seq = seq, .com_units = 2};
	return 0;
}

#define fr_ring_read_lap read_lap
#include "flow/snapshot/dump_copy.c"

/* Of sessions, which are the kernel's, nothing is needed here. */
int fr_sess_peek(void *sess, u32 cpu, u16 tier, u64 *word, u64 *w)
{
	(void)sess, (void)cpu, (void)tier, (void)word, (void)w;
	return -ENOSYS;
}

const struct fr_ring_map *fr_sess_rings(const struct fr_sess *s, size_t *cnt)
{
	(void)s;
	*cnt = 0;
	return NULL;
}

int fr_sess_refresh_rings(struct fr_sess *s)
{
	(void)s;
	return 0;
}

const char *fr_sess_name(const struct fr_sess *s)
{
	(void)s;
	return "";
}

static void laps_that_miss_for_different_reasons_end_before_the_next(void **state)
{
	static const struct fr_ring_map map = {.cpu = 3, .tier = FR_TIER_MAIN, .slot_cnt = LAPS, .subbuf_pages = 1};
	static u8 buf[LAPS * FR_PAGE_SZ];
	struct fr_dump_ring src = {.map = &map, .next_seq = 1, .last_seq = LAPS};
	struct fr_dump_lap copied[LAPS];
	struct fr_snap_hole hole[LAPS] = {0};
	struct fr_dump d = {.src = &src,
			    .src_cnt = 1,
			    .buf = buf,
			    .buf_sz = sizeof(buf),
			    .copied = copied,
			    .copied_room = LAPS,
			    .hole = hole};
	size_t first = 0, i;

	(void)state;
	verdict[2] = -ESTALE;
	verdict[3] = -EAGAIN;
	verdict[4] = -EBADMSG;
	verdict[6] = -EAGAIN;
	assert_true(fr_dump_copy_wave(&d, &first));
	assert_int_equal(d.copied_cnt, 2);
	assert_int_equal(d.hole_cnt, 4);
	for (i = 0; i < 3; i++) {
		assert_int_equal(hole[i].first_seq, 2 + i);
		assert_int_equal(hole[i].since_ns, 1000);
		assert_int_equal(hole[i].until_ns, 5000);
	}
	assert_int_equal(hole[3].since_ns, 5000);
	assert_int_equal(hole[3].until_ns, 0);
	assert_int_equal(src.acct.horizon_ns, 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(laps_that_miss_for_different_reasons_end_before_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
