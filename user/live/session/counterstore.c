/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/counterstore.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/counter/counters.h"
#include "base/text/pages.h"
#include "live/session/sess_int.h"

#define LOAD_TRIES 4 /* it is written every ten seconds */
#define PAGES	   ((FR_COUNTERS_STORE_SZ + FR_PAGES_PART_SZ - 1) / FR_PAGES_PART_SZ)

struct store {
	union {
		struct {
			u64 seq; /* half seq % 2 is current; 0: nothing yet */
			u64 sz[2];
		};
		u8 bytes[FR_PAGE_SZ];
	};
	struct fr_text_page page[2][PAGES];
};

_Static_assert(FR_COUNTERS_STORE_SZ <= FR_PAGES_COUNTERS_MAX_SZ, "what is stored is believed");
_Static_assert(offsetof(struct store, page) == FR_PAGE_SZ, "pages are pages in memory");

struct fr_counterstore {
	struct store *store;
	u32 epoch;
};

int fr_counterstore_make(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "fr_counters", sizeof(u32), sizeof(struct store), 1, &opts);

	return fd < 0 ? -errno : fd;
}

u64 fr_counterstore_sz(void)
{
	return sizeof(struct store) + FR_PAGE_SZ; /* an array's head */
}

static int counterstore_map(struct fr_sess *s, struct fr_counterstore *c)
{
	int fd = fr_sess_get_pin(s, "counters");
	u32 one;

	if (fd < 0)
		return fd;
	c->epoch = s->ring_cnt ? s->ring[0].epoch : 0;
	c->store = fr_sess_is_array(fd, sizeof(struct store), &one)
			   ? mmap(NULL, sizeof(struct store), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
			   : NULL;
	close(fd);
	if (!c->store)
		return -EPROTO;
	return c->store == MAP_FAILED ? -errno : 0;
}

int fr_counterstore_open(struct fr_sess *s, struct fr_counterstore **out)
{
	struct fr_counterstore *c = calloc(1, sizeof(*c));
	int err = c ? counterstore_map(s, c) : -ENOMEM;

	*out = err ? NULL : c;
	if (err)
		free(c);
	return err;
}

void fr_counterstore_close(struct fr_counterstore *c)
{
	if (!c)
		return;
	munmap(c->store, sizeof(struct store));
	free(c);
}

static void counterstore_copy(const struct fr_counterstore *c, u64 seq, u8 *to, size_t sz)
{
	size_t at, part;

	for (at = 0; at < sz; at += part) {
		part = sz - at < FR_PAGES_PART_SZ ? sz - at : FR_PAGES_PART_SZ;
		memcpy(to + at, c->store->page[seq & 1][at / FR_PAGES_PART_SZ].text, part);
	}
}

int fr_counterstore_load(const struct fr_counterstore *c, u8 **bytes, size_t *sz)
{
	u64 seq = fr_load(&c->store->seq);
	u32 tries;

	*bytes = NULL;
	*sz = 0;
	for (tries = 0; seq && tries < LOAD_TRIES; tries++) {
		*sz = fr_load(&c->store->sz[seq & 1]);
		*sz = *sz < FR_COUNTERS_STORE_SZ ? *sz : FR_COUNTERS_STORE_SZ;
		free(*bytes);
		*bytes = malloc(*sz + 1);
		if (!*bytes)
			return -ENOMEM;
		counterstore_copy(c, seq, *bytes, *sz);
		if (fr_load(&c->store->seq) == seq)
			return 0;
		seq = fr_load(&c->store->seq);
	}
	free(*bytes);
	*bytes = NULL;
	*sz = 0;
	return seq ? -EAGAIN : 0;
}

/* The word comes last: pairs with its load by a reader, possibly of another process after this one was killed. */
void fr_counterstore_put(struct fr_counterstore *c, const u8 *bytes, size_t sz)
{
	u64 seq = fr_load(&c->store->seq) + 1;

	fr_pages_put_as(c->store->page[seq & 1], (struct fr_mark){FR_COUNTERS_MAGIC, c->epoch}, seq, bytes, sz);
	fr_store(&c->store->sz[seq & 1], sz);
	fr_store(&c->store->seq, seq);
}
