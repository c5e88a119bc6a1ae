/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* make_profile FILE: a snapshot whose profile has 100 busy samples: some of a task with a long name, some that had no room. */
#include <stdlib.h>
#include <string.h>

#include "io/snapfile/snapfile.h"
#include "pure/profile/prof_int.h"

#define TASK_HITS 70u
#define SEC	  1000000000ULL

static const char func[] = "a_function_whose_name_is_longer_than_a_narrow_page_has_room_for_\xc3\xa4\xe2\x80\xae";

static void fill(struct fr_prof *p)
{
	struct fr_prof_key key = {.pid = 4194303, .state = FR_HIT_kernel, .comm = "kworker/u256:12"};

	p->hz = 99;
	p->cpu_cnt = 1;
	fr_prof_open(p, SEC, 100);
	key.kstack = fr_prof_put_node(p, 0, 0xffffffff81000010);
	fr_prof_hit(p, fr_prof_put_key(p, &key), TASK_HITS);
	fr_prof_hit(p, FR_PROF_OTHER, 100 - TASK_HITS);
	p->bucket[0].taken = p->taken = 100;
}

int main(int argc, char **argv)
{
	struct fr_snap_symbol symbol = {.addr = 0xffffffff81000000, .sz = 4096, .name = (char *)func, .module = "ext4"};
	struct fr_prof *p = fr_prof_new(0);
	struct fr_snap_writer *w;
	int err;

	if (argc != 2 || !p || fr_snap_create(argv[1], 16u << 20, 1, &w))
		return 1;
	fill(p);
	err = fr_snap_put_schema(w, fr_schema_builtin());
	err = err ?: fr_snap_put_fact(w, "arch", "x86_64");
	err = err ?: fr_snap_put_symbols(w, &symbol, 1);
	err = err ?: fr_snap_put_profile(w, p);
	err = err ?: fr_snap_finish(w);
	free(p);
	return err != 0;
}
