/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cores: the memory of a small session, as pages of a crash dump, and changes to it as a fuzzer's bytes say: four each.
 */
#ifndef FR_FUZZ_CORES_H
#define FR_FUZZ_CORES_H

#include <xxhash.h>

#include "base/profile/prof.h"
#include "unit/host_dump.h"

#define CORES_PAGES_MOST 64u

static void cores_put_profile(struct host_dump *d)
{
	static u8 bytes[FR_PROF_SZ_MAX];
	struct fr_prof *p = fr_prof_new(1000);
	struct fr_text_page page;
	size_t sz;

	if (!p)
		abort();
	fr_prof_open(p, 2000000000, 7);
	fr_prof_add_nested(p, 3);
	sz = fr_prof_write(p, bytes, sizeof(bytes));
	fr_pages_put_as(&page, (struct fr_mark){FR_PROFILE_MAGIC, 0xabcd1234}, 1, bytes, sz);
	host_dump_page(d, &page, sizeof(page));
	free(p);
}

/* Two rings, of which one has gone round; and what else a session has. The same each time. */
static void cores_begin(struct host_dump *d)
{
	u16 cpu;

	host_clock_ns = 1000000000;
	for (cpu = 0; cpu < 2; cpu++) {
		struct host_ring *h = host_ring_new(cpu, cpu ? FR_TIER_LIFE : FR_TIER_MAIN, 2, 2);

		host_ring_fill(h, cpu ? 20 : 500);
		host_dump_ring(d, h);
		host_ring_free(h);
	}
	host_dump_rest(d, 0xabcd1234, "small", true);
	cores_put_profile(d);
}

static void cores_free(struct host_dump *d)
{
	free(d->page);
	*d = (struct host_dump){};
}

/* Put the hashes of texts right, as far as their pages follow each other, so that what they say is looked at. */
__attribute__((unused)) static void cores_seal(struct host_dump *d)
{
	struct fr_text_page *p;
	char text[CORES_PAGES_MOST * sizeof(p->text)];
	u32 i, k, cnt;
	u64 hash;

	for (i = 0; i < d->cnt; i++) {
		p = (void *)&d->page[i];
		cnt = fr_pages_is(p) ? fr_pages_cnt(p->sz) : 0;
		if (!cnt || p->nr || i + cnt > d->cnt)
			continue;
		for (k = 0; k < cnt; k++)
			memcpy(text + k * sizeof(p->text), p[k].text, sizeof(p->text));
		hash = XXH64(text, p->sz, 0);
		for (k = 0; k < cnt; k++)
			p[k].hash = hash;
	}
}

/* One change: a byte, a number, or a whole page. */
static void cores_change(struct host_dump *d, const u8 *how)
{
	u32 nr = how[0] % d->cnt, off = (how[1] & 15) << 8 | how[2], to = how[3] % d->cnt;
	struct host_page *p = &d->page[nr], was = *p;

	switch (how[1] >> 4) {
	case 0:
		p->bytes[off] = how[3];
		break;
	case 1:
		memcpy(p->bytes + off / 4 * 4, &(u32){how[3]}, 4);
		break;
	case 2:
		memcpy(p->bytes + off / 8 * 8, &(u64){(u64)how[3] << (how[2] & 7) * 8}, 8);
		break;
	case 3:
		memset(p, how[3], sizeof(*p));
		break;
	case 4:
		*p = d->page[to];
		d->page[to] = was;
		break;
	case 5:
		d->page[to] = *p;
		break;
	case 6:
		if (d->cnt < CORES_PAGES_MOST)
			host_dump_page(d, &was, sizeof(was));
		break;
	case 7:
		if (d->cnt > 1)
			host_dump_remove(d, p);
		break;
	default:
		p->bytes[off] ^= how[3];
	}
}

__attribute__((unused)) static void cores_change_all(struct host_dump *d, const u8 *data, size_t sz)
{
	for (; sz >= 4; data += 4, sz -= 4)
		cores_change(d, data);
}

#endif
