/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make_profile FILE [N [TIMES]]: a snapshot whose profile has 100 busy samples, or so many times as many: some of a task with a
 * long name, some that had no room. With N 100 older ones, too, N of which have lost their stacks; the CPU was idle in the
 * others.
 */
#include <stdlib.h>
#include <string.h>

#include "base/profile/prof.h"
#include "read/snapfile/snapfile.h"

#define TASK_HITS 70u
#define SEC	  1000000000ULL

static const char func[] = "a_function_whose_name_is_longer_than_a_narrow_page_has_room_for_\xc3\xa4\xe2\x80\xae";

static void take(struct fr_prof *p, u64 until_ns, u32 cnt)
{
	fr_prof_open(p, until_ns, p->due + cnt);
	p->bucket[p->bucket_cnt - 1].taken = cnt;
	p->taken += cnt;
}

static void fill_before(struct fr_prof *p, u32 stackless)
{
	struct fr_prof_key busy = {.pid = 1, .state = FR_HIT_kernel, .comm = "before"}, idle = {.state = FR_HIT_idle};

	take(p, 60 * SEC, 100);
	fr_prof_hit(p, fr_prof_put_key(p, &busy), stackless);
	fr_prof_hit(p, fr_prof_put_key(p, &idle), 100 - stackless);
}

static void fill(struct fr_prof *p, u32 times)
{
	struct fr_prof_key key = {.pid = 4194303, .state = FR_HIT_kernel, .comm = "kworker/u256:12"};

	p->hz = 99;
	p->cpu_cnt = 1;
	take(p, p->end_ns + SEC, 100 * times);
	key.kstack = fr_prof_put_node(p, 0, 0xffffffff81000010);
	fr_prof_hit(p, fr_prof_put_key(p, &key), TASK_HITS * times);
	fr_prof_hit(p, FR_PROF_OTHER, (100 - TASK_HITS) * times);
}

int main(int argc, char **argv)
{
	struct fr_snap_symbol symbol = {.addr = 0xffffffff81000000, .sz = 4096, .name = (char *)func, .module = "ext4"};
	struct fr_prof *p = fr_prof_new(0);
	struct fr_snap_writer *w;
	int err;

	if (argc < 2 || argc > 4 || !p || fr_snap_create(argv[1], 16u << 20, 1, &w))
		return 1;
	if (argc > 2)
		fill_before(p, atoi(argv[2]));
	fill(p, argc > 3 ? atoi(argv[3]) : 1);
	err = fr_snap_put_schema(w, fr_schema_builtin());
	err = err ?: fr_snap_put_fact(w, "arch", "x86_64");
	err = err ?: fr_snap_put_symbols(w, &symbol, 1);
	err = err ?: fr_snap_put_profile(w, p);
	err = err ?: fr_snap_finish(w);
	free(p);
	return err != 0;
}
