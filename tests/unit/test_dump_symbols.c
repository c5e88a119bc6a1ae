/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses of the kernel: what has a name, and that the others are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/snapshot/dump_int.h"
#include "read/elf/kallsyms.h"

#define ROOM   32768u /* kernel addresses that are asked for */
#define BEGIN  0xffffffff81000000ULL
#define APART  16u
#define BUDGET (16u << 20)

int fr_sess_ksyms(struct fr_sess *s, struct fr_ksym *k, size_t cnt)
{
	(void)s;
	(void)k;
	(void)cnt;
	return -1;
}

/* Each address is a function. */
static int name_each(void *arg, struct fr_ksym *k, size_t cnt, struct fr_kallsyms_info *info)
{
	size_t i;

	*(size_t *)arg = cnt;
	info->stext = BEGIN;
	for (i = 0; i < cnt; i++) {
		k[i].begin = k[i].addr;
		k[i].end = k[i].addr + APART;
		assert_true(asprintf(&k[i].name, "f%zu", i) > 0);
	}
	return 0;
}

/* A snapshot with the names of cnt addresses, of which asked were looked up. */
static struct fr_snap *with_addresses(u32 cnt, size_t *asked, struct fr_dump *d)
{
	char dir[] = "/tmp/frt-symbols-XXXXXX", path[64];
	const struct fr_dump_kernel kernel = {.find = name_each, .arg = asked};
	struct fr_snap *s;
	u32 i;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.flight", dir);
	*d = (struct fr_dump){.addrs = calloc(1, sizeof(*d->addrs))};
	assert_non_null(d->addrs);
	for (i = 0; i < cnt; i++)
		fr_addrs_add(d->addrs, BEGIN + (u64)i * APART, 1);
	fr_addrs_add(d->addrs, 0x400000, 1); /* of a process */
	fr_addrs_sort(d->addrs);
	assert_int_equal(fr_snap_create(path, BUDGET, 1, &d->w), 0);
	assert_int_equal(fr_snap_put_schema(d->w, fr_schema_builtin()), 0);
	assert_int_equal(fr_dump_put_kernel(d, &kernel), 0);
	assert_int_equal(fr_snap_finish(d->w), 0);
	assert_int_equal(fr_snap_open(path, &s), 0);
	unlink(path);
	rmdir(dir);
	return s;
}

static void all_that_there_is_room_for(void **state)
{
	size_t asked = 0, cnt;
	struct fr_dump d;
	struct fr_snap *s = with_addresses(ROOM, &asked, &d);

	(void)state;
	assert_int_equal(asked, ROOM);
	assert_string_equal(fr_snap_fact(s, "kernel_symbols"), "ok");
	fr_snap_symbols(s, &cnt);
	assert_int_equal(cnt, ROOM);
	assert_int_equal(d.addrs->dropped, 0);
	assert_int_equal(d.unread.cnt, 0);
	free(d.addrs);
	fr_snap_close(s);
}

static void what_is_beyond_is_told(void **state)
{
	size_t asked = 0, cnt;
	struct fr_dump d;
	struct fr_snap *s = with_addresses(ROOM + 3, &asked, &d);

	(void)state;
	assert_int_equal(asked, ROOM);
	assert_string_equal(fr_snap_fact(s, "kernel_symbols"), "no room: 3 addresses beyond 32768");
	fr_snap_symbols(s, &cnt);
	assert_int_equal(cnt, ROOM);
	assert_int_equal(d.addrs->dropped, 3);
	assert_string_equal(d.unread.text, "0 kernel failed");
	free(d.addrs);
	fr_snap_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_there_is_room_for),
		cmocka_unit_test(what_is_beyond_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
