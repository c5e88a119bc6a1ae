/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/hits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text/pages.h"
#include "live/session/sess_int.h"

#define COUNT_TRIES 4 /* readers store at most every few milliseconds */

#define PROF_PAGES ((FR_PROF_SZ_MAX + FR_PAGES_PART_SZ - 1) / FR_PAGES_PART_SZ)

struct half {
	u64 sz;
	u64 merged[FR_HITS_CPU_MAX];
};

/* In pages that say whose they are, for crash dumps (base/text/pages.h). */
struct store {
	union {
		struct {
			u64 seq; /* half seq % 2 is current; 0: nothing yet */
			u64 pad[7];
			struct half half[2];
		};
		u8 pages[5][FR_PAGE_SZ];
	};
	struct fr_text_page page[2][PROF_PAGES];
};

_Static_assert(FR_PROF_SZ_MAX <= FR_PAGES_PROFILE_MAX_SZ, "what is stored is believed");
_Static_assert(offsetof(struct store, page) == 5 * FR_PAGE_SZ, "pages are pages in memory");

struct fr_hits {
	char *cpu; /* fr_hits_cpu_sz(shift) bytes each */
	u32 cpu_cnt, shift;
	struct store *store;
	u32 epoch;
	struct ring_buffer *calls;
	u32 call_cnt;
	int calls_fd, dir_fd;
};

/* Elements of an array map are aligned to 8 bytes. */
static size_t map_sz(u32 cnt, size_t sz)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (cnt * ((sz + 7) & ~7UL) + page - 1) & ~(page - 1);
}

/* The kernel's overhead: a page for each array's head; the queue has two pages of positions, plus one of its own. */
static u64 rest_sz(void)
{
	return map_sz(1, sizeof(struct store)) + 6 * FR_PAGE_SZ;
}

u32 fr_hits_shift_of(u32 cpu_cnt)
{
	return fr_hits_shift_for(cpu_cnt, FR_HITS_LIMIT_SZ - rest_sz());
}

u64 fr_hits_sz(u32 cpu_cnt)
{
	return map_sz(cpu_cnt, fr_hits_cpu_sz(fr_hits_shift_of(cpu_cnt))) + rest_sz();
}

int fr_hits_sess_shift(struct fr_sess *s)
{
	int fd = fr_sess_get_pin(s, "hits"), shift = fd < 0 ? fd : -EPROTO;
	u32 i, cnt;

	if (fd < 0)
		return fd;
	for (i = 0; i <= FR_HITS_SHIFT_MAX; i++)
		if (fr_sess_is_array(fd, fr_hits_cpu_sz(i), &cnt))
			shift = i;
	close(fd);
	return shift;
}

int fr_hits_make_store(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "fr_profile", sizeof(u32), sizeof(struct store), 1, &opts);

	return fd < 0 ? -errno : fd;
}

static int map_pin(struct fr_sess *s, const char *name, size_t sz, int prot, u32 *cnt, void **out)
{
	int fd = fr_sess_get_pin(s, name);
	void *p;

	if (fd < 0)
		return fd;
	if (!fr_sess_is_array(fd, sz, cnt)) {
		close(fd);
		return -EPROTO;
	}
	p = mmap(NULL, map_sz(*cnt, sz), prot, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return -errno;
	*out = p;
	return 0;
}

static int map_store(struct fr_sess *s, struct fr_hits *h, int prot)
{
	u32 one;
	int err = map_pin(s, "profile-pages", sizeof(*h->store), prot, &one, (void **)&h->store);

	h->epoch = s->ring_cnt ? s->ring[0].epoch : 0;
	return err;
}

static void unmap_store(struct fr_hits *h)
{
	if (h->store)
		munmap(h->store, map_sz(1, sizeof(*h->store)));
}

/* sz: at most FR_PROF_SZ_MAX. */
static void hits_get_bytes(const struct fr_hits *h, u64 seq, u8 *to, size_t sz)
{
	size_t at, part;

	for (at = 0; at < sz; at += part) {
		part = sz - at < FR_PAGES_PART_SZ ? sz - at : FR_PAGES_PART_SZ;
		memcpy(to + at, h->store->page[seq & 1][at / FR_PAGES_PART_SZ].text, part);
	}
}

static int count_call(void *ctx, void *data, size_t sz)
{
	struct fr_hits *h = ctx;

	(void)data;
	(void)sz;
	h->call_cnt++;
	return 0;
}

static int open_calls(struct fr_sess *s, struct fr_hits *h)
{
	h->calls_fd = fr_sess_get_pin(s, "hits-calls");
	if (h->calls_fd < 0)
		return h->calls_fd;
	h->calls = ring_buffer__new(h->calls_fd, count_call, h, NULL);
	return h->calls ? 0 : -errno;
}

static int open_lock(struct fr_sess *s, struct fr_hits *h)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/hits-reader", s->dir);
	h->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return h->dir_fd < 0 ? -errno : 0;
}

static int hits_open_all(struct fr_sess *s, struct fr_hits *h)
{
	const int prot = PROT_READ | PROT_WRITE;
	int shift = fr_hits_sess_shift(s), err = shift < 0 ? shift : open_lock(s, h);

	if (err)
		return err;
	h->shift = shift;
	err = map_pin(s, "hits", fr_hits_cpu_sz(shift), prot, &h->cpu_cnt, (void **)&h->cpu);
	err = err ?: map_store(s, h, prot);
	err = err ?: open_calls(s, h);
	return err;
}

int fr_hits_open(struct fr_sess *s, struct fr_hits **out)
{
	struct fr_hits *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	h->calls_fd = h->dir_fd = -1;
	err = hits_open_all(s, h);
	if (err)
		fr_hits_close(h);
	else
		*out = h;
	return err;
}

void fr_hits_close(struct fr_hits *h)
{
	if (!h)
		return;
	ring_buffer__free(h->calls);
	if (h->calls_fd >= 0)
		close(h->calls_fd);
	if (h->dir_fd >= 0)
		close(h->dir_fd);
	if (h->cpu)
		munmap(h->cpu, map_sz(h->cpu_cnt, fr_hits_cpu_sz(h->shift)));
	unmap_store(h);
	free(h);
}

int fr_hits_lock(struct fr_hits *h)
{
	return flock(h->dir_fd, LOCK_EX | LOCK_NB) ? -errno : 0;
}

void fr_hits_unlock(struct fr_hits *h)
{
	flock(h->dir_fd, LOCK_UN);
}

u32 fr_hits_cpu_cnt(const struct fr_hits *h)
{
	return h->cpu_cnt < FR_HITS_CPU_MAX ? h->cpu_cnt : FR_HITS_CPU_MAX;
}

u32 fr_hits_shift(const struct fr_hits *h)
{
	return h->shift;
}

struct fr_hits_cpu *fr_hits_cpu(struct fr_hits *h, u32 cpu)
{
	return (struct fr_hits_cpu *)(h->cpu + (size_t)cpu * fr_hits_cpu_sz(h->shift));
}

u64 fr_hits_stored(const struct fr_hits *h)
{
	return fr_load(&h->store->seq);
}

int fr_hits_load(struct fr_hits *h, u8 **bytes, size_t *sz, u64 merged[FR_HITS_CPU_MAX])
{
	u64 seq = fr_hits_stored(h);
	const struct half *from = &h->store->half[seq & 1];
	size_t n = from->sz < FR_PROF_SZ_MAX ? from->sz : FR_PROF_SZ_MAX;

	*bytes = NULL;
	*sz = 0;
	memset(merged, 0, FR_HITS_CPU_MAX * sizeof(*merged));
	if (!seq)
		return 0;
	memcpy(merged, from->merged, sizeof(from->merged));
	*bytes = malloc(n + 1);
	if (!*bytes)
		return -ENOMEM;
	hits_get_bytes(h, seq, *bytes, n);
	*sz = n;
	return 0;
}

/* The word comes last: pairs with its load by the next reader, possibly another process after this one was killed. */
void fr_hits_store(struct fr_hits *h, const u8 *bytes, size_t sz, const u64 merged[FR_HITS_CPU_MAX])
{
	u64 seq = fr_hits_stored(h) + 1;
	struct half *to = &h->store->half[seq & 1];

	fr_pages_put_as(h->store->page[seq & 1], (struct fr_mark){FR_PROFILE_MAGIC, h->epoch}, seq, bytes, sz);
	memcpy(to->merged, merged, sizeof(to->merged));
	to->sz = sz;
	fr_store(&h->store->seq, seq);
}

/* What a CPU's tables hold of generations that are not in the merged profile: those from `merged` on. */
static void count_tables(struct fr_hits *h, u32 cpu, u64 merged, struct fr_hits_totals *out)
{
	struct fr_hits_cpu *c = fr_hits_cpu(h, cpu);
	u64 drained = fr_load(&c->drained), from = drained > merged ? drained : merged, gen = fr_hits_gen(c), i;
	const struct fr_hits_table *t;

	for (i = 0; i < 2 && i <= gen && gen - i >= from; i++) {
		t = fr_hits_table(c, h->shift, gen - i);
		out->taken += fr_load(&t->taken);
		out->lost += fr_load(&t->lost);
	}
}

static int count_all(struct fr_hits *h, struct fr_hits_totals *out)
{
	u64 merged[FR_HITS_CPU_MAX], nested = 0;
	struct fr_prof *prof = NULL;
	u8 *bytes;
	size_t sz;
	u32 i;
	int err = fr_hits_load(h, &bytes, &sz, merged);

	if (!err && bytes)
		err = fr_prof_read(bytes, sz, &prof);
	free(bytes);
	if (err)
		return err;
	*out = (struct fr_hits_totals){.taken = prof ? prof->taken : 0, .lost = prof ? prof->lost : 0};
	for (i = 0; i < fr_hits_cpu_cnt(h); i++) {
		count_tables(h, i, merged[i], out);
		nested += fr_load(&fr_hits_cpu(h, i)->nested);
	}
	nested -= prof && prof->nested < nested ? prof->nested : nested;
	out->taken += nested;
	out->lost += nested;
	free(prof);
	return 0;
}

/* A reader that stores meanwhile moves counts from the tables to the profile: then they may have been seen twice, or not. */
static int count_undisturbed(struct fr_hits *h, struct fr_hits_totals *out)
{
	int tries, err = -EAGAIN;
	u64 seq;

	for (tries = 0; tries < COUNT_TRIES && (err == -EAGAIN || err == -EBADMSG); tries++) {
		seq = fr_hits_stored(h);
		err = count_all(h, out);
		if (!err && fr_hits_stored(h) != seq)
			err = -EAGAIN;
	}
	return err;
}

int fr_hits_total(struct fr_sess *s, struct fr_hits_totals *out)
{
	struct fr_hits h = {.shift = 0};
	int shift = fr_hits_sess_shift(s), err = shift < 0 ? shift : 0;

	if (err)
		return err;
	h.shift = shift;
	err = map_pin(s, "hits", fr_hits_cpu_sz(shift), PROT_READ, &h.cpu_cnt, (void **)&h.cpu);
	err = err ?: map_store(s, &h, PROT_READ);
	err = err ?: count_undisturbed(&h, out);
	unmap_store(&h);
	if (h.cpu)
		munmap(h.cpu, map_sz(h.cpu_cnt, fr_hits_cpu_sz(shift)));
	return err;
}

int fr_hits_calls_fd(const struct fr_hits *h)
{
	return ring_buffer__epoll_fd(h->calls);
}

int fr_hits_take_calls(struct fr_hits *h)
{
	h->call_cnt = 0;
	ring_buffer__consume(h->calls);
	return h->call_cnt;
}
