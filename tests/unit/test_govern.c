/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The overhead governor's decisions: what goes, when it comes back, and that it does not flap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>

#include "base/trigger/govern.h"

#define SCHED	0
#define TASK	1
#define SYSCALL 2
#define SAMPLE	3
#define CNT	4

/* A machine: each group's cost in full; off, a tenth is left of it; each level of samples halves. */
struct machine {
	struct fr_govern g;
	u32 full[CNT];
};

static const u32 levels[CNT] = {[SCHED] = 2, [TASK] = 0, [SYSCALL] = 1, [SAMPLE] = 4};

static u32 cost_at(u32 full, u32 level, u32 last)
{
	if (level && level == last)
		return full / 10;
	return full >> level;
}

static struct fr_govern_step measure(struct machine *m)
{
	struct fr_govern_group now[CNT];
	u32 i;

	for (i = 0; i < CNT; i++)
		now[i] = (struct fr_govern_group){levels[i], cost_at(m->full[i], m->g.group[i].level, levels[i]),
						  m->full[i] * 10};
	return fr_govern_measure(&m->g, now);
}

static void begin(struct machine *m, u32 budget)
{
	*m = (struct machine){};
	fr_govern_init(&m->g, budget, CNT);
}

static void within_budget_nothing_happens(void **state)
{
	struct machine m;
	u32 i;

	(void)state;
	begin(&m, 1000);
	m.full[SCHED] = 500;
	m.full[SYSCALL] = 500;
	for (i = 0; i < 100; i++)
		assert_int_equal(measure(&m).what, FR_GOVERN_nothing);
}

static void the_costliest_goes_first(void **state)
{
	struct fr_govern_step step;
	struct machine m;

	(void)state;
	begin(&m, 1000);
	m.full[SCHED] = 900;
	m.full[SYSCALL] = 5000;
	step = measure(&m);
	assert_int_equal(step.what, FR_GOVERN_down);
	assert_int_equal(step.group, SYSCALL);
	assert_int_equal(step.level, 1);
	assert_int_equal(step.cost, 5900);
	m.full[SCHED] = 1100; /* too much by itself */
	step = measure(&m);
	assert_int_equal(step.what, FR_GOVERN_down);
	assert_int_equal(step.group, SCHED);
	assert_int_equal(step.level, 1);
}

/* What is left of a group that is off is no reason to lose what others record. */
static void others_do_not_pay_for_what_is_off(void **state)
{
	struct machine m;

	(void)state;
	begin(&m, 1000);
	m.full[SCHED] = 1000; /* the whole budget */
	m.full[SYSCALL] = 50000;
	assert_int_equal(measure(&m).group, SYSCALL);
	assert_int_equal(measure(&m).what, FR_GOVERN_stuck);
	assert_int_equal(m.g.group[SCHED].level, 0);
}

/* What cannot go is not off: what it costs is no longer there for the others. */
static void others_pay_for_what_cannot_go(void **state)
{
	struct machine m;

	(void)state;
	begin(&m, 1000);
	m.full[TASK] = 900;
	m.full[SCHED] = 200;
	assert_int_equal(measure(&m).what, FR_GOVERN_down);
	assert_int_equal(m.g.group[SCHED].level, 1);
}

static void what_costs_a_tenth_of_the_budget_is_worth_it(void **state)
{
	struct machine m;

	(void)state;
	begin(&m, 1000);
	m.full[TASK] = 5000;
	m.full[SCHED] = 10 * FR_GOVERN_WORTH - 1;
	assert_int_equal(measure(&m).what, FR_GOVERN_stuck);
	m.full[SCHED]++;
	assert_int_equal(measure(&m).what, FR_GOVERN_down);
}

/* Of a budget so small that a tenth of it is nothing: a group that costs nothing is not left out. */
static void what_costs_nothing_stays(void **state)
{
	struct machine m;

	(void)state;
	begin(&m, 1);
	m.full[TASK] = 5000;
	assert_int_equal(measure(&m).what, FR_GOVERN_stuck);
	m.full[SCHED] = 1;
	assert_int_equal(measure(&m).what, FR_GOVERN_down);
}

static void life_is_never_touched(void **state)
{
	struct machine m;

	(void)state;
	begin(&m, 1000);
	m.full[TASK] = 5000;
	m.full[SCHED] = 50; /* not worth it: that would be history lost for nothing */
	assert_int_equal(measure(&m).what, FR_GOVERN_stuck);
	assert_int_equal(m.g.group[TASK].level, 0);
	assert_int_equal(m.g.group[SCHED].level, 0);
}

static void it_comes_back_when_calm(void **state)
{
	struct fr_govern_step step;
	struct machine m;
	u32 i;

	(void)state;
	begin(&m, 1000);
	m.full[SYSCALL] = 5000;
	assert_int_equal(measure(&m).what, FR_GOVERN_down);
	for (i = 0; i < 20; i++)
		assert_int_equal(measure(&m).what, FR_GOVERN_nothing);
	m.full[SYSCALL] = 900; /* it would fit, but leave no room */
	for (i = 0; i < 20; i++)
		assert_int_equal(measure(&m).what, FR_GOVERN_nothing);
	m.full[SYSCALL] = 100;
	for (i = 1; i < FR_GOVERN_CALM; i++)
		assert_int_equal(measure(&m).what, FR_GOVERN_nothing);
	step = measure(&m);
	assert_int_equal(step.what, FR_GOVERN_up);
	assert_int_equal(step.group, SYSCALL);
	assert_int_equal(step.level, 0);
}

static void thinned_level_by_level_and_back(void **state)
{
	struct machine m;
	u32 i, up = 0, top;

	(void)state;
	begin(&m, 1000);
	m.full[SAMPLE] = 7000;
	for (i = 0; i < 3; i++) {
		assert_int_equal(measure(&m).what, FR_GOVERN_down);
		assert_int_equal(m.g.group[SAMPLE].level, i + 1);
	}
	assert_int_equal(measure(&m).what, FR_GOVERN_nothing);
	top = m.g.group[SAMPLE].level;
	m.full[SAMPLE] = 100;
	for (i = 0; i < 100; i++)
		up += measure(&m).what == FR_GOVERN_up;
	assert_int_equal(up, top);
	assert_int_equal(m.g.group[SAMPLE].level, 0);
}

static void who_waited_longest_comes_back_first(void **state)
{
	struct fr_govern_step step;
	struct machine m;

	(void)state;
	begin(&m, 1000);
	m.g.group[SCHED].level = m.g.group[SYSCALL].level = 1;
	m.g.group[SCHED].calm = 2 * FR_GOVERN_CALM;
	m.g.group[SYSCALL].calm = FR_GOVERN_CALM;
	step = measure(&m);
	assert_int_equal(step.what, FR_GOVERN_up);
	assert_int_equal(step.group, SCHED);
	step = measure(&m);
	assert_int_equal(step.what, FR_GOVERN_up);
	assert_int_equal(step.group, SYSCALL);
}

/* Without a rate what it saved is what it will cost. */
static void programs_that_did_not_run_have_no_rate(void **state)
{
	struct fr_govern_group now[CNT] = {[SYSCALL] = {1, 5000, 0}};
	struct machine m;
	u32 i;

	(void)state;
	begin(&m, 1000);
	assert_int_equal(fr_govern_measure(&m.g, now).what, FR_GOVERN_down);
	now[SYSCALL].cost = 500;
	for (i = 0; i < 100; i++)
		assert_int_equal(fr_govern_measure(&m.g, now).what, FR_GOVERN_nothing);
}

/* A load that is there in each second measurement that could bring the group back. */
static void flapping_is_damped(void **state)
{
	struct machine m;
	u32 i, steps = 0;
	bool on = true;

	(void)state;
	begin(&m, 1000);
	for (i = 0; i < 1000; i++) {
		m.full[SYSCALL] = on ? 5000 : 0;
		switch (measure(&m).what) {
		case FR_GOVERN_down:
			on = false;
			steps++;
			assert_in_range(m.g.group[SYSCALL].need, FR_GOVERN_CALM, FR_GOVERN_CALM_MAX);
			break;
		case FR_GOVERN_up:
			on = true;
			steps++;
			break;
		default:
			break;
		}
	}
	assert_in_range(steps, 2, 60); /* undamped 500 */
	assert_int_equal(m.g.group[SYSCALL].need, FR_GOVERN_CALM_MAX);
	/* a group that stays has its flapping forgotten */
	m.full[SYSCALL] = 0;
	for (i = 0; i < 100; i++)
		measure(&m);
	assert_int_equal(m.g.group[SYSCALL].level, 0);
	assert_int_equal(m.g.group[SYSCALL].need, FR_GOVERN_CALM);
}

/* What could not be done is not taken as done, and not tried again at once. */
static void a_step_up_that_fails(void **state)
{
	struct fr_govern_step step = {};
	struct machine m;
	u32 i, tries = 0;

	(void)state;
	begin(&m, 1000);
	m.full[SAMPLE] = 1600;
	step = measure(&m);
	assert_int_equal(step.what, FR_GOVERN_down);
	m.full[SAMPLE] = 100;
	for (i = 0; i < 100; i++) {
		step = measure(&m);
		if (step.what != FR_GOVERN_up)
			continue;
		fr_govern_refuse(&m.g, step.group);
		assert_int_equal(m.g.group[SAMPLE].level, 1);
		tries++;
	}
	assert_in_range(tries, 2, 4);
}

static void costs_of_any_size(void **state)
{
	struct fr_govern_group now[CNT] = {{1, ~0u, ~0ULL}, {1, ~0u, 0}, {1, 0, ~0ULL}, {9, ~0u, 1}};
	struct machine m;
	u32 i;

	(void)state;
	begin(&m, 1);
	for (i = 0; i < 100; i++)
		assert_int_equal(fr_govern_measure(&m.g, now).cost, ~0u);
	assert_int_equal(fr_govern_measure(&m.g, now).what, FR_GOVERN_stuck);
	/* more levels than are remembered are never gone down to */
	assert_int_equal(m.g.group[3].level, sizeof(m.g.group[3].saved) / sizeof(m.g.group[3].saved[0]));
}

static void no_more_groups_than_there_is_room_for(void **state)
{
	struct fr_govern g;

	(void)state;
	fr_govern_init(&g, 1, FR_GOVERN_GROUP_MAX + 1);
	assert_int_equal(g.cnt, FR_GOVERN_GROUP_MAX);
}

/* ---- what a window says ---- */

#define MS_NS 1000000ULL

/* Two CPUs for 200 ms: 4 ms are 1 % of each. */
static const struct fr_govern_window window = {200 * MS_NS, 0, 2};

static void a_cost_is_a_share_of_all_cpus(void **state)
{
	struct fr_govern_window w = window;

	(void)state;
	assert_int_equal(fr_govern_cost(1, 4 * MS_NS, 1000, &w).cost, 1000);
	assert_int_equal(fr_govern_cost(1, 400 * MS_NS, 1000, &w).cost, 100000);
	assert_int_equal(fr_govern_cost(1, 0, 0, &w).cost, 0);
	assert_int_equal(fr_govern_cost(1, 1999, 1, &w).cost, 0); /* less than half of the unit */
	assert_int_equal(fr_govern_cost(1, 2000, 1, &w).cost, 1);
	w.cpu_cnt = 4;
	assert_int_equal(fr_govern_cost(1, 4 * MS_NS, 1000, &w).cost, 500);
	w.ns *= 2;
	assert_int_equal(fr_govern_cost(1, 4 * MS_NS, 1000, &w).cost, 250);
}

static void a_rate_is_runs_in_a_second(void **state)
{
	(void)state;
	assert_int_equal(fr_govern_cost(3, 1, 1000, &window).rate, 5000);
	assert_int_equal(fr_govern_cost(3, 1, 1000, &window).levels, 3);
}

static void what_measuring_costs_is_no_cost(void **state)
{
	struct fr_govern_window w = window;

	(void)state;
	w.read_ns = 40;
	assert_int_equal(fr_govern_cost(1, 8 * MS_NS, 100000, &w).cost, 1000);
	assert_int_equal(fr_govern_cost(1, 8 * MS_NS, 200000, &w).cost, 0);
	assert_int_equal(fr_govern_cost(1, 8 * MS_NS, 300000, &w).cost, 0); /* less than nothing is nothing */
}

static void a_window_without_length_or_cpus(void **state)
{
	const struct fr_govern_window none = {0, 0, 0};

	(void)state;
	assert_int_equal(fr_govern_cost(1, ~0ULL, 1, &none).cost, 1000000000);
	assert_int_equal(fr_govern_cost(1, 0, 3, &none).rate, 3000000000ULL);
}

/* Triggers and the incident log are groups of no level: they count, and are never touched. */
static void what_cannot_go_is_part_of_the_sum(void **state)
{
	struct fr_govern_group now[CNT] = {};
	struct fr_govern g;

	(void)state;
	fr_govern_init(&g, 1000, CNT);
	now[SYSCALL] = fr_govern_cost(1, 2 * MS_NS, 1000, &window);
	now[TASK] = fr_govern_cost(0, 3 * MS_NS, 1000, &window);
	assert_int_equal(fr_govern_measure(&g, now).cost, 500 + 750);
	assert_int_equal(g.group[SYSCALL].level, 1);
	now[SYSCALL].cost = 50;
	now[TASK] = fr_govern_cost(0, 30 * MS_NS, 1000, &window);
	assert_int_equal(fr_govern_measure(&g, now).what, FR_GOVERN_stuck);
	assert_int_equal(g.group[TASK].level, 0);
}

static void each_level_of_samples_halves_their_rate(void **state)
{
	u32 level;

	(void)state;
	for (level = 0; level <= FR_GOVERN_THIN; level++)
		assert_int_equal(fr_govern_hz(4000, level), 4000 >> level);
	assert_int_equal(fr_govern_hz(4000, FR_GOVERN_THIN + 1), 4000 >> FR_GOVERN_THIN);
	assert_int_equal(fr_govern_hz(5, 2), 1);
	assert_int_equal(fr_govern_hz(5, 3), 1); /* never 0, which is none */
	assert_int_equal(fr_govern_hz(0, 0), 0);
	assert_int_equal(fr_govern_hz(0, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(within_budget_nothing_happens),
		cmocka_unit_test(the_costliest_goes_first),
		cmocka_unit_test(others_do_not_pay_for_what_is_off),
		cmocka_unit_test(what_costs_nothing_stays),
		cmocka_unit_test(life_is_never_touched),
		cmocka_unit_test(it_comes_back_when_calm),
		cmocka_unit_test(thinned_level_by_level_and_back),
		cmocka_unit_test(flapping_is_damped),
		cmocka_unit_test(a_step_up_that_fails),
		cmocka_unit_test(costs_of_any_size),
		cmocka_unit_test(others_pay_for_what_cannot_go),
		cmocka_unit_test(what_costs_a_tenth_of_the_budget_is_worth_it),
		cmocka_unit_test(who_waited_longest_comes_back_first),
		cmocka_unit_test(programs_that_did_not_run_have_no_rate),
		cmocka_unit_test(no_more_groups_than_there_is_room_for),
		cmocka_unit_test(a_cost_is_a_share_of_all_cpus),
		cmocka_unit_test(a_rate_is_runs_in_a_second),
		cmocka_unit_test(what_measuring_costs_is_no_cost),
		cmocka_unit_test(a_window_without_length_or_cpus),
		cmocka_unit_test(what_cannot_go_is_part_of_the_sum),
		cmocka_unit_test(each_level_of_samples_halves_their_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
