/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spoil: damages a session's ring, as a stray store of whoever maps it would.
 *
 *	spoil PIN PAGE SEQ...
 *	spoil PIN slots MORE
 *	spoil PIN grants MORE
 *
 * Of each lap its page PAGE: of page 0 all, head too, of others the first record. Or how many slots it says that it has. Exit
 * status 1 if a lap is not there. Or, of the triggers' memory: so many grants more, the last ones like the last one.
 */
#include <bpf/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "alert.h"
#include "layout.h"

static void spoil(struct fr_page_head *h)
{
	if (h->page)
		memset(h + 1, 0xff, FR_UNIT_SZ);
	else
		memset(h, 0xff, FR_PAGE_SZ);
}

static bool spoil_lap(u8 *data, size_t sz, u32 page, u64 seq)
{
	struct fr_page_head *h;
	size_t off;

	for (off = 0; off < sz; off += FR_PAGE_SZ) {
		h = (void *)(data + off);
		if (h->magic != FR_PAGE_MAGIC || h->seq != seq || h->page != page)
			continue;
		spoil(h);
		return true;
	}
	printf("lap %llu has no page %u\n", (unsigned long long)seq, page);
	return false;
}

static void more_grants(struct fr_triggers *t, u64 more)
{
	struct fr_granted last = t->granted[(t->granted_cnt - 1) % FR_GRANTED_MAX];
	u32 i;

	for (i = 0; i < FR_GRANTED_MAX; i++)
		t->granted[i] = last;
	t->granted_cnt += more;
}

int main(int argc, char **argv)
{
	struct bpf_map_info info = {};
	u32 len = sizeof(info);
	int fd = argc > 3 ? bpf_obj_get(argv[1]) : -1, i, bad = 0;
	size_t sz;
	u8 *map;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return 1;
	sz = strcmp(argv[2], "grants") ? (size_t)info.max_entries * FR_PAGE_SZ : sizeof(struct fr_triggers);
	map = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return 1;
	if (!strcmp(argv[2], "slots")) {
		((struct fr_slots *)(map + FR_SLOT_PAGE * FR_PAGE_SZ))->slot_cnt += atoi(argv[3]);
		return 0;
	}
	if (!strcmp(argv[2], "grants")) {
		more_grants((struct fr_triggers *)map, atoi(argv[3]));
		return 0;
	}
	for (i = 3; i < argc; i++)
		bad |= !spoil_lap(map + FR_DATA_PAGE * FR_PAGE_SZ, sz - FR_DATA_PAGE * FR_PAGE_SZ, atoi(argv[2]),
				  strtoull(argv[i], NULL, 0));
	return bad;
}
