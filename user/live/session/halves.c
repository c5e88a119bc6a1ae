/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/halves.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text/pages.h"
#include "live/session/sess_int.h"

#define LOAD_TRIES 4 /* it is written every ten seconds */

struct store {
	union {
		struct {
			u64 seq; /* half seq % 2 is current; 0: nothing yet */
			u64 sz[2];
		};
		u8 bytes[FR_PAGE_SZ];
	};
	struct fr_text_page page[]; /* of the first half, then of the second */
};

_Static_assert(offsetof(struct store, page) == FR_PAGE_SZ, "pages are pages in memory");

struct fr_halves {
	const struct fr_halves_kind *kind;
	struct store *store;
	u32 epoch;
};

static u32 halves_page_cnt(const struct fr_halves_kind *kind)
{
	return (kind->max_sz + FR_PAGES_PART_SZ - 1) / FR_PAGES_PART_SZ;
}

static size_t halves_map_sz(const struct fr_halves_kind *kind)
{
	return sizeof(struct store) + 2 * halves_page_cnt(kind) * sizeof(struct fr_text_page);
}

static struct fr_text_page *halves_pages(const struct fr_halves *h, u64 seq)
{
	return h->store->page + (seq & 1 ? halves_page_cnt(h->kind) : 0);
}

int fr_halves_make(const struct fr_halves_kind *kind)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, kind->map, sizeof(u32), halves_map_sz(kind), 1, &opts);

	return fd < 0 ? -errno : fd;
}

u64 fr_halves_sz(const struct fr_halves_kind *kind)
{
	return halves_map_sz(kind) + FR_PAGE_SZ; /* an array's head */
}

static int halves_map(struct fr_sess *s, struct fr_halves *h)
{
	int fd = fr_sess_get_pin(s, h->kind->pin);
	u32 one;

	if (fd < 0)
		return fd;
	h->epoch = s->ring_cnt ? s->ring[0].epoch : 0;
	h->store = fr_sess_is_array(fd, halves_map_sz(h->kind), &one)
			   ? mmap(NULL, halves_map_sz(h->kind), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
			   : NULL;
	close(fd);
	if (!h->store)
		return -EPROTO;
	return h->store == MAP_FAILED ? -errno : 0;
}

int fr_halves_open(struct fr_sess *s, const struct fr_halves_kind *kind, struct fr_halves **out)
{
	struct fr_halves *h = calloc(1, sizeof(*h));
	int err = -ENOMEM;

	if (h) {
		h->kind = kind;
		err = halves_map(s, h);
	}
	*out = err ? NULL : h;
	if (err)
		free(h);
	return err;
}

void fr_halves_close(struct fr_halves *h)
{
	if (!h)
		return;
	munmap(h->store, halves_map_sz(h->kind));
	free(h);
}

static void halves_copy(const struct fr_halves *h, u64 seq, u8 *to, size_t sz)
{
	size_t at, part;

	for (at = 0; at < sz; at += part) {
		part = sz - at < FR_PAGES_PART_SZ ? sz - at : FR_PAGES_PART_SZ;
		memcpy(to + at, halves_pages(h, seq)[at / FR_PAGES_PART_SZ].text, part);
	}
}

int fr_halves_load(const struct fr_halves *h, u8 **bytes, size_t *sz)
{
	u64 seq = fr_load(&h->store->seq);
	u32 tries;

	*bytes = NULL;
	*sz = 0;
	for (tries = 0; seq && tries < LOAD_TRIES; tries++) {
		*sz = fr_load(&h->store->sz[seq & 1]);
		*sz = *sz < h->kind->max_sz ? *sz : h->kind->max_sz;
		free(*bytes);
		*bytes = malloc(*sz + 1);
		if (!*bytes)
			return -ENOMEM;
		halves_copy(h, seq, *bytes, *sz);
		if (fr_load(&h->store->seq) == seq)
			return 0;
		seq = fr_load(&h->store->seq);
	}
	free(*bytes);
	*bytes = NULL;
	*sz = 0;
	return seq ? -EAGAIN : 0;
}

/* The word comes last: pairs with its load by a reader, possibly of another process after this one was killed. */
void fr_halves_put(struct fr_halves *h, const u8 *bytes, size_t sz)
{
	u64 seq = fr_load(&h->store->seq) + 1;

	fr_pages_put_as(halves_pages(h, seq), (struct fr_mark){h->kind->magic, h->epoch}, seq, bytes, sz);
	fr_store(&h->store->sz[seq & 1], sz);
	fr_store(&h->store->seq, seq);
}
