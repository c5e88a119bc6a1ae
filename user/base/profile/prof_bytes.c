/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* prof_bytes: a profile as bytes. Each number read is checked before it is used. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/profile/prof.h"
#include "session.h"

/* docs/format.md, profile; little-endian, like all numbers in the file. */
struct head {
	u32 head_sz; /* a later version may have a longer one */
	u32 file_cnt, node_cnt, key_cnt, bucket_cnt, hit_cnt;
	u32 hz, cpu_cnt;
	u64 begin_ns, end_ns, due, nested, taken, lost, stackless;
};

struct bucket {
	u64 begin_ns, end_ns, taken, lost, expected;
	u32 hit_cnt;
	u32 reserved;
};

_Static_assert(sizeof(struct head) == 88, "on disk");
_Static_assert(sizeof(struct bucket) == 48, "on disk");
_Static_assert(sizeof(struct fr_prof_file) == 24, "on disk");
_Static_assert(sizeof(struct fr_prof_key) == 32, "on disk");
_Static_assert(sizeof(struct fr_prof_hit) == 8, "on disk");

/* ---- writing ---- */

static size_t size_of(const struct head *h)
{
	return h->head_sz + (size_t)h->node_cnt * (8 + 4) + (size_t)h->bucket_cnt * sizeof(struct bucket) +
	       (size_t)h->file_cnt * sizeof(struct fr_prof_file) + (size_t)h->key_cnt * sizeof(struct fr_prof_key) +
	       (size_t)h->hit_cnt * sizeof(struct fr_prof_hit);
}

static u8 *bytes_put(u8 *to, const void *from, size_t sz)
{
	memcpy(to, from, sz);
	return to + sz;
}

static u8 *put_buckets(u8 *to, const struct fr_prof *p)
{
	u32 i;

	for (i = 0; i < p->bucket_cnt; i++) {
		const struct fr_prof_bucket *b = &p->bucket[i];
		struct bucket out = {
			.begin_ns = b->begin_ns,
			.end_ns = b->end_ns,
			.taken = b->taken,
			.lost = b->lost,
			.expected = b->expected,
			.hit_cnt = b->hit_cnt,
		};

		to = bytes_put(to, &out, sizeof(out));
	}
	return to;
}

size_t fr_prof_write(const struct fr_prof *p, u8 *buf, size_t cap)
{
	struct head h = {
		.head_sz = sizeof(h),
		.file_cnt = p->file_cnt,
		.node_cnt = p->node_cnt,
		.key_cnt = p->key_cnt,
		.bucket_cnt = p->bucket_cnt,
		.hit_cnt = p->hit_cnt,
		.hz = p->hz,
		.cpu_cnt = p->cpu_cnt,
		.begin_ns = p->begin_ns,
		.end_ns = p->end_ns,
		.due = p->due,
		.nested = p->nested,
		.taken = p->taken,
		.lost = p->lost,
		.stackless = p->stackless,
	};
	u8 *to = buf;
	u32 i;

	if (size_of(&h) > cap)
		return 0;
	to = bytes_put(to, &h, sizeof(h));
	for (i = 0; i < p->node_cnt; i++)
		to = bytes_put(to, &p->node[i].frame, 8);
	to = put_buckets(to, p);
	to = bytes_put(to, p->file, p->file_cnt * sizeof(*p->file));
	to = bytes_put(to, p->key, p->key_cnt * sizeof(*p->key));
	to = bytes_put(to, p->hit, p->hit_cnt * sizeof(*p->hit));
	for (i = 0; i < p->node_cnt; i++)
		to = bytes_put(to, &p->node[i].parent, 4);
	return to - buf;
}

/* ---- reading ---- */

static const u8 *bytes_get(void *to, const u8 *from, size_t sz)
{
	memcpy(to, from, sz);
	return from + sz;
}

static bool bytes_head_ok(const struct head *h, size_t sz)
{
	return h->head_sz >= sizeof(*h) && h->head_sz <= 4096 && h->file_cnt <= FR_PROF_FILE_MAX &&
	       h->node_cnt <= FR_PROF_NODE_MAX && h->key_cnt >= 1 && h->key_cnt <= FR_PROF_KEY_MAX &&
	       h->bucket_cnt <= FR_PROF_BUCKET_MAX && h->hit_cnt <= FR_PROF_HIT_MAX && size_of(h) == sz;
}

static bool files_ok(const struct fr_prof *p)
{
	u32 i;

	for (i = 0; i < p->node_cnt; i++)
		if (fr_prof_is_file(p->node[i].frame) && fr_prof_file(p->node[i].frame) >= p->file_cnt)
			return false;
	for (i = 0; i < p->file_cnt; i++)
		if (!p->file[i].sz || p->file[i].sz > sizeof(p->file[i].build_id))
			return false;
	return true;
}

static bool keys_ok(const struct fr_prof *p)
{
	u32 i;

	for (i = 0; i < p->key_cnt; i++)
		if (p->key[i].kstack > p->node_cnt || p->key[i].ustack > p->node_cnt || p->key[i].state >= FR_HIT_STATE_CNT ||
		    !memchr(p->key[i].comm, 0, sizeof(p->key[i].comm)))
			return false;
	return true;
}

/* Buckets follow each other in time; their hits are complete, and add up to what was counted. */
static bool bucket_ok(const struct fr_prof *p, struct fr_prof_bucket *b, u64 *at_ns, u32 *first)
{
	u64 sum = 0;
	u32 i;

	if (b->begin_ns < *at_ns || b->end_ns < b->begin_ns || !b->hit_cnt || b->hit_cnt > p->hit_cnt - *first)
		return false;
	if (p->hit[*first].key != FR_PROF_OTHER) /* where fr_prof_hit() puts what finds no room */
		return false;
	b->first = *first;
	for (i = 0; i < b->hit_cnt; i++) {
		if (p->hit[*first + i].key >= p->key_cnt)
			return false;
		sum += p->hit[*first + i].hits;
	}
	*first += b->hit_cnt;
	*at_ns = b->end_ns;
	return b->lost <= b->taken && b->taken - b->lost == sum;
}

static bool buckets_ok(struct fr_prof *p)
{
	u32 first = 0, i;
	u64 at_ns = 0;

	for (i = 0; i < p->bucket_cnt; i++)
		if (!bucket_ok(p, &p->bucket[i], &at_ns, &first))
			return false;
	return first == p->hit_cnt && at_ns <= p->end_ns;
}

/* Nodes are added anew, since they are found by content: equal ones would become one, and numbers would change. */
static bool take_nodes(struct fr_prof *p, const u8 *frames, const u8 *parents, u32 cnt)
{
	u64 frame;
	u32 i, parent;

	for (i = 0; i < cnt; i++) {
		frames = bytes_get(&frame, frames, 8);
		parents = bytes_get(&parent, parents, 4);
		if (parent > i || fr_prof_put_node(p, parent, frame) != i + 1)
			return false;
	}
	return true;
}

static bool take_keys(struct fr_prof *p, const u8 *from, u32 cnt)
{
	struct fr_prof_key key;
	u32 i;

	from = bytes_get(&p->key[FR_PROF_OTHER], from, sizeof(key));
	for (i = 1; i < cnt; i++) {
		from = bytes_get(&key, from, sizeof(key));
		if (fr_prof_put_key(p, &key) != i)
			return false;
	}
	return true;
}

static void index_last(struct fr_prof *p)
{
	u32 i = p->bucket_cnt ? p->bucket[p->bucket_cnt - 1].first : 0;

	for (; i < p->hit_cnt; i++)
		p->cur[p->hit[i].key] = i + 1;
}

static const u8 *take_buckets(struct fr_prof *p, const u8 *from)
{
	struct bucket in;
	u32 i;

	for (i = 0; i < p->bucket_cnt; i++) {
		from = bytes_get(&in, from, sizeof(in));
		p->bucket[i] = (struct fr_prof_bucket){
			.begin_ns = in.begin_ns,
			.end_ns = in.end_ns,
			.taken = in.taken,
			.lost = in.lost,
			.expected = in.expected,
			.hit_cnt = in.hit_cnt,
		};
	}
	return from;
}

static bool bytes_take(struct fr_prof *p, const struct head *h, const u8 *from)
{
	const u8 *frames = from, *keys;

	p->end_ns = h->end_ns;
	p->due = h->due;
	p->nested = h->nested;
	p->taken = h->taken;
	p->lost = h->lost;
	p->stackless = h->stackless;
	p->hz = h->hz;
	p->cpu_cnt = h->cpu_cnt;
	p->bucket_cnt = h->bucket_cnt;
	p->file_cnt = h->file_cnt;
	p->hit_cnt = h->hit_cnt;
	from = take_buckets(p, from + (size_t)h->node_cnt * 8);
	from = bytes_get(p->file, from, p->file_cnt * sizeof(*p->file));
	keys = from;
	from += h->key_cnt * sizeof(*p->key);
	from = bytes_get(p->hit, from, p->hit_cnt * sizeof(*p->hit));
	return take_nodes(p, frames, from, h->node_cnt) && take_keys(p, keys, h->key_cnt) && files_ok(p) && keys_ok(p) &&
	       buckets_ok(p);
}

int fr_prof_read(const u8 *buf, size_t sz, struct fr_prof **out)
{
	struct fr_prof *p;
	struct head h;

	if (sz < sizeof(h))
		return -EBADMSG;
	memcpy(&h, buf, sizeof(h));
	if (!bytes_head_ok(&h, sz))
		return -EBADMSG;
	p = fr_prof_new(h.begin_ns);
	if (!p)
		return -ENOMEM;
	if (!bytes_take(p, &h, buf + h.head_sz)) {
		free(p);
		return -EBADMSG;
	}
	index_last(p);
	*out = p;
	return 0;
}
