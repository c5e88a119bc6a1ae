/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring SLOTS PAGES: the bytes of a ring's map as a recorder leaves them to its programs, on standard output.
 * ring SLOTS PAGES FILE: how many records programs have committed to it.
 * ring: where things are in its first page.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "layout.h"

static int put_fresh(char *map, size_t cnt, u32 slots, u32 pages)
{
	struct fr_slots *sl = (void *)(map + FR_SLOT_PAGE * FR_PAGE_SZ);
	u32 i;

	*sl = (struct fr_slots){.magic = FR_RING_MAGIC, .layout = FR_LAYOUT_VERSION, .slot_cnt = slots, .subbuf_pages = pages};
	for (i = 0; i < slots; i++)
		sl->slot[i] = fr_slot_fresh(i, slots, pages);
	return fwrite(map, FR_PAGE_SZ, cnt, stdout) != cnt;
}

static int put_count(char *map, size_t cnt, u32 slots, const char *path)
{
	struct fr_slots *sl = (void *)(map + FR_SLOT_PAGE * FR_PAGE_SZ);
	struct fr_writer *wr = (void *)map;
	FILE *f = fopen(path, "r");
	u64 sum;
	u32 i;

	if (!f || fread(map, FR_PAGE_SZ, cnt, f) != cnt)
		return 1;
	fclose(f);
	sum = wr->overwritten;
	for (i = 0; i < slots; i++)
		sum += fr_slot_cnt(sl->slot[i]);
	return printf("%llu\n", (unsigned long long)sum) < 0;
}

static int put_places(void)
{
	return printf("texts=%zu retry=%zu off=%zu reading=%zu\n", offsetof(struct fr_writer, texts),
		      offsetof(struct fr_writer, lost[FR_LOST_retry]), offsetof(struct fr_writer, filtered[FR_FILTERED_off]),
		      offsetof(struct fr_writer, reading)) < 0;
}

int main(int argc, char **argv)
{
	u32 slots = argc >= 3 ? strtoul(argv[1], NULL, 10) : 0, pages = argc >= 3 ? strtoul(argv[2], NULL, 10) : 0;
	size_t cnt = FR_DATA_PAGE + (size_t)(slots + 1) * pages;
	char *map;

	if (argc == 1)
		return put_places();
	if (slots < FR_SLOT_MIN || slots > FR_SLOT_MAX || !pages || pages > FR_SUBBUF_PAGE_MAX)
		return 2;
	map = calloc(cnt, FR_PAGE_SZ);
	if (!map)
		return 1;
	return argc == 4 ? put_count(map, cnt, slots, argv[3]) : put_fresh(map, cnt, slots, pages);
}
