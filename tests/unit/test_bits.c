/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events of bits: where each is, what each code says, that nothing is lost of any value there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bits.h"
#include "event_fields.h"

#include <cmocka.h>

/* The words of docs/format.md, as the compiler lays them out. */
union switch_word {
	struct {
		u64 tid : 22, next_pid : 22, prev_state : 4, prev_prio : 8, next_prio : 8;
	};
	u64 bits;
};

union waking_word {
	struct {
		u64 tid : 22, target_pid : 22, prio : 8, target_cpu : 12;
	};
	u64 bits;
};

static void check_switch(u32 tid, s32 next_pid, u32 state_code, s32 prev_prio, s32 next_prio)
{
	u16 state = state_code ? 1u << (state_code - 1) : 0;
	struct fr_rec_sched_switch r = {
		.next_pid = next_pid, .prev_state = state, .prev_prio = prev_prio, .next_prio = next_prio};
	struct fr_rec_sched_switch back = {};
	union switch_word w = {.bits = fr_bits_sched_switch(&r, tid)};

	assert_int_equal(w.tid, tid);
	assert_int_equal(w.next_pid, next_pid);
	assert_int_equal(w.prev_state, state_code);
	assert_int_equal(w.prev_prio, prev_prio + 1);
	assert_int_equal(w.next_prio, next_prio + 1);
	fr_unbits_sched_switch(w.bits, &back);
	assert_int_equal(back.task, tid);
	r.task = tid;
	assert_memory_equal(&r, &back, sizeof(r));
}

static void test_switches(void **state)
{
	static const u32 tids[] = {0, 1, 4711, 1 << 21, (1 << 22) - 1};
	u32 i, code;
	s32 prio;

	(void)state;
	for (i = 0; i < sizeof(tids) / sizeof(*tids); i++) {
		for (code = 0; code <= 9; code++)
			check_switch(tids[i], tids[4 - i], code, 120, 0);
		for (prio = -1; prio <= 254; prio++) {
			check_switch(tids[i], tids[4 - i], 1, prio, 120);
			check_switch(tids[i], tids[4 - i], 9, 120, prio);
		}
	}
}

static void test_wakings(void **state)
{
	u32 cpu;

	(void)state;
	for (cpu = 0; cpu < 4096; cpu += 13) {
		struct fr_rec_sched_wakeup_new r = {
			.task = 77, .target_pid = (1 << 22) - 1 - (s32)cpu, .prio = -1, .target_cpu = cpu};
		struct fr_rec_sched_wakeup_new back = {};
		union waking_word w = {.bits = fr_bits_sched_wakeup_new(&r, 77)};

		assert_int_equal(w.tid, 77);
		assert_int_equal(w.target_pid, r.target_pid);
		assert_int_equal(w.prio, 0);
		assert_int_equal(w.target_cpu, cpu);
		fr_unbits_sched_wakeup_new(w.bits, &back);
		assert_memory_equal(&r, &back, sizeof(r));
	}
}

/* One that does not fit takes nothing of its neighbours'. */
static void test_what_does_not_fit_is_cut_off(void **state)
{
	struct fr_rec_sched_switch r = {.next_pid = -1, .prev_state = 0xffff, .prev_prio = -2, .next_prio = 0x7fff};
	union switch_word w = {.bits = fr_bits_sched_switch(&r, ~0u)};

	(void)state;
	assert_int_equal(w.tid, (1 << 22) - 1);
	assert_int_equal(w.next_pid, (1 << 22) - 1);
	assert_int_equal(w.prev_state, 15);
	assert_int_equal(w.prev_prio, 255);
	assert_int_equal(w.next_prio, 0);
	r = (struct fr_rec_sched_switch){.next_pid = 1 << 22, .prev_prio = 255, .next_prio = -1};
	assert_int_equal(fr_bits_sched_switch(&r, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_wakings),
		cmocka_unit_test(test_what_does_not_fit_is_cut_off),
	};

	return cmocka_run_group_tests_name("bits", tests, NULL, NULL);
}
