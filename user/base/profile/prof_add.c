/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* prof_add: adds CPUs' tables to a profile; old buckets are joined, and finally dropped. */
#include <stdlib.h>
#include <string.h>

#include "base/profile/prof.h"
#include "session.h"

#define SLOT_NEW_NS    10000000000ULL /* buckets of the last minute */
#define NEW_NS	       70000000000ULL /* buckets younger than this */
#define FILE_WORDS     3u
#define FILE_OFF_MAX   (1ULL << FR_PROF_OFF_BITS)
#define FULL_EIGHTHS   7u
#define FULL(cnt, max) ((cnt) > (max) / 8 * eighths)
#define ROOM_KEYS      2500u /* keys that are kept when room is made */
#define TASK_KEYS      256u  /* of the keys, left to tasks without stacks */

/* Who it was, of all processes of that name. */
static struct fr_prof_key add_task_of(const struct fr_prof_key *k)
{
	struct fr_prof_key task = *k;

	task.kstack = task.ustack = task.pid = 0;
	return task;
}

static bool has_stack(const struct fr_prof_key *k)
{
	return k->kstack || k->ustack;
}

/* ---- time ---- */

/* Buckets of one slot are joined. */
static bool is_one_slot(const struct fr_prof_bucket *a, const struct fr_prof_bucket *b, u64 now_ns)
{
	u64 slot_ns = a->begin_ns + NEW_NS > now_ns ? SLOT_NEW_NS : FR_PROF_MINUTE_NS;

	return a->begin_ns / slot_ns == b->begin_ns / slot_ns;
}

struct heavy {
	u64 weight;
	u32 nr;
};

/* What was copied from another profile: numbers there to numbers here, + 1; 0: not yet. */
struct moved {
	u32 node[FR_PROF_NODE_MAX];
	u32 key[FR_PROF_KEY_MAX];
	u32 rank[FR_PROF_KEY_MAX];	/* of each key there; 0: the heaviest */
	u32 task_rank[FR_PROF_KEY_MAX]; /* of its task, of all tasks */
	bool join;			/* processes of one name */
	u32 stacks, tasks;		/* so many are kept: other keys lose their stacks, other tasks their names */
	struct heavy heavy_key[FR_PROF_KEY_MAX], heavy_task[FR_PROF_KEY_MAX];
};

static u64 move_frame(struct fr_prof *to, const struct fr_prof *from, u64 frame)
{
	int nr;

	if (!fr_prof_is_file(frame))
		return frame;
	nr = fr_prof_put_file(to, &from->file[fr_prof_file(frame)]);
	return nr < 0 ? 0 : FR_PROF_IN_FILE | (u64)nr << FR_PROF_OFF_BITS | fr_prof_off(frame);
}

/* From the innermost frame outwards, until one is already here, then back. */
static u32 move_stack(struct fr_prof *to, const struct fr_prof *from, u32 nr, struct moved *m)
{
	u32 way[FR_STACK_DEPTH_MAX], cnt = 0, here = 0;

	for (; nr && !m->node[nr - 1] && cnt < FR_STACK_DEPTH_MAX; nr = from->node[nr - 1].parent)
		way[cnt++] = nr;
	if (nr)
		here = m->node[nr - 1] - 1;
	while (cnt--) {
		here = fr_prof_put_node(to, here, move_frame(to, from, from->node[way[cnt] - 1].frame));
		if (!here)
			return 0;
		m->node[way[cnt] - 1] = here + 1;
	}
	return here;
}

static bool has_addresses(const struct fr_prof *p, u32 nr)
{
	for (; nr; nr = p->node[nr - 1].parent)
		if (p->node[nr - 1].frame >> 62 == 0)
			return true;
	return false;
}

static bool is_rare(const struct fr_prof *from, u32 nr, const struct moved *m)
{
	return from->key[nr].state != FR_HIT_idle && m->rank[nr] >= m->stacks;
}

static struct fr_prof_key moved_key(struct fr_prof *to, const struct fr_prof *from, u32 nr, struct moved *m)
{
	struct fr_prof_key k = from->key[nr];

	if (is_rare(from, nr, m))
		return add_task_of(&k);
	if (m->join && !has_addresses(from, k.ustack))
		k.pid = 0;
	k.kstack = move_stack(to, from, k.kstack, m);
	k.ustack = move_stack(to, from, k.ustack, m);
	return k;
}

static u32 add_move_key(struct fr_prof *to, const struct fr_prof *from, u32 nr, struct moved *m)
{
	struct fr_prof_key k;

	if (nr == FR_PROF_OTHER || (is_rare(from, nr, m) && m->task_rank[nr] >= m->tasks))
		return FR_PROF_OTHER;
	if (!m->key[nr]) {
		k = moved_key(to, from, nr, m);
		m->key[nr] = fr_prof_put_key(to, &k) + 1;
	}
	return m->key[nr] - 1;
}

static void move_hit(struct fr_prof *to, const struct fr_prof *from, const struct fr_prof_hit *h, struct moved *m)
{
	u32 nr = add_move_key(to, from, h->key, m);

	if (has_stack(&from->key[h->key]) && !has_stack(&to->key[nr]))
		to->stackless += h->hits;
	fr_prof_hit(to, nr, h->hits);
}

static void move_bucket(struct fr_prof *to, const struct fr_prof *from, const struct fr_prof_bucket *b, struct moved *m,
			u64 now_ns)
{
	struct fr_prof_bucket *last = to->bucket_cnt ? &to->bucket[to->bucket_cnt - 1] : NULL;
	u32 i;

	if (!last || !is_one_slot(last, b, now_ns)) {
		fr_prof_push(to, b);
		last = &to->bucket[to->bucket_cnt - 1];
	}
	last->end_ns = b->end_ns;
	last->taken += b->taken;
	last->lost += b->lost;
	last->expected += b->expected;
	for (i = b->first; i < b->first + b->hit_cnt; i++)
		if (from->hit[i].hits)
			move_hit(to, from, &from->hit[i], m);
}

/* Are more than this many eighths of anything used? */
static bool add_is_full(const struct fr_prof *p, u32 eighths)
{
	return FULL(p->node_cnt, FR_PROF_NODE_MAX) || FULL(p->key_cnt, FR_PROF_KEY_MAX) || FULL(p->hit_cnt, FR_PROF_HIT_MAX) ||
	       FULL(p->file_cnt, FR_PROF_FILE_MAX);
}

/* Copy from bucket first on, without what only older ones used. */
static void copy_from(struct fr_prof *to, const struct fr_prof *from, u32 first, struct moved *m, u64 now_ns)
{
	u32 i;

	fr_prof_clear(to, from->begin_ns);
	to->end_ns = from->end_ns;
	to->due = from->due;
	to->nested = from->nested;
	to->taken = from->taken;
	to->lost = from->lost;
	to->stackless = from->stackless;
	to->hz = from->hz;
	to->cpu_cnt = from->cpu_cnt;
	memset(m->node, 0, sizeof(m->node));
	memset(m->key, 0, sizeof(m->key));
	for (i = first; i < from->bucket_cnt; i++)
		move_bucket(to, from, &from->bucket[i], m, now_ns);
}

/*
 * A hit of now weighs as much as two of ten seconds ago, or 61 of ten minutes ago: so the last minute, the last ten and the
 * hour each get a part of the room, and a stack that is new is not beaten by what an hour has summed up.
 */
static void weigh_keys(struct moved *m, const struct fr_prof *p, u64 now_ns)
{
	const struct fr_prof_bucket *b;
	u64 each;
	u32 i;

	for (i = 0; i < p->key_cnt; i++)
		m->heavy_key[i] = (struct heavy){.nr = i};
	for (b = p->bucket; b < p->bucket + p->bucket_cnt; b++) {
		each = 16 * FR_PROF_HOUR_NS / (SLOT_NEW_NS + (now_ns > b->end_ns ? now_ns - b->end_ns : 0));
		for (i = b->first; i < b->first + b->hit_cnt; i++)
			m->heavy_key[p->hit[i].key].weight += p->hit[i].hits * each;
	}
}

/* scratch: its keys become the tasks. m->key: the task of each key. */
static void weigh_tasks(struct moved *m, struct fr_prof *scratch, const struct fr_prof *p)
{
	struct fr_prof_key k;
	u32 i;

	fr_prof_clear(scratch, 0);
	for (i = 0; i < FR_PROF_KEY_MAX; i++)
		m->heavy_task[i] = (struct heavy){.nr = i};
	m->key[FR_PROF_OTHER] = FR_PROF_OTHER;
	for (i = 1; i < p->key_cnt; i++) {
		k = add_task_of(&p->key[i]);
		m->key[i] = fr_prof_put_key(scratch, &k);
		m->heavy_task[m->key[i]].weight += m->heavy_key[i].weight;
	}
}

/* Of equal ones the newer. */
static int heavier_first(const void *a, const void *b)
{
	const struct heavy *x = a, *y = b;

	return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : (int)(x->nr < y->nr) - (int)(x->nr > y->nr);
}

static void add_rank(u32 *to, struct heavy *h, u32 cnt)
{
	u32 i;

	qsort(h, cnt, sizeof(*h), heavier_first);
	for (i = 0; i < cnt; i++)
		to[h[i].nr] = i;
}

/* Keys without stacks come last: they take no room from the others. Returns how many tasks there are. */
static u32 rank_all(struct moved *m, struct fr_prof *scratch, const struct fr_prof *p, u64 now_ns)
{
	u32 i;

	weigh_keys(m, p, now_ns);
	weigh_tasks(m, scratch, p);
	add_rank(m->rank, m->heavy_task, scratch->key_cnt);
	for (i = 0; i < p->key_cnt; i++) {
		m->task_rank[i] = m->rank[m->key[i]];
		m->heavy_key[i].weight *= has_stack(&p->key[i]);
	}
	add_rank(m->rank, m->heavy_key, p->key_cnt);
	return scratch->key_cnt;
}

/* Well below full, so that it is not done again at once. */
static void add_make_room(struct fr_prof *p, struct fr_prof *from, u32 first, struct moved *m, u64 now_ns)
{
	u32 task_cnt;

	m->join = true;
	copy_from(p, from, first, m, now_ns);
	if (!add_is_full(p, FULL_EIGHTHS - 2))
		return;
	memcpy(from, p, sizeof(*from));
	task_cnt = rank_all(m, p, from, now_ns);
	m->tasks = task_cnt < ROOM_KEYS / 2 ? task_cnt : ROOM_KEYS / 2;
	m->stacks = ROOM_KEYS - m->tasks;
	do {
		copy_from(p, from, 0, m, now_ns);
		m->tasks -= m->stacks ? 0 : (m->tasks + 1) / 2;
		m->stacks -= (m->stacks + 3) / 4;
	} while (add_is_full(p, FULL_EIGHTHS - 2) && m->tasks);
}

/*
 * Is there enough to join, or to drop? That takes a millisecond, so a minute's pieces are done together, and not one by one as
 * each gets old.
 */
static bool add_is_due(const struct fr_prof *p, u64 now_ns)
{
	u32 i, cnt = 0;

	for (i = 0; i + 1 < p->bucket_cnt; i++)
		cnt += is_one_slot(&p->bucket[i], &p->bucket[i + 1], now_ns);
	return cnt >= FR_PROF_MINUTE_NS / SLOT_NEW_NS || p->bucket_cnt > FR_PROF_BUCKET_MAX - 8 ||
	       add_is_full(p, FULL_EIGHTHS) ||
	       (p->bucket_cnt && p->bucket[0].end_ns + FR_PROF_HOUR_NS + FR_PROF_MINUTE_NS < now_ns);
}

/* Is there room for so many more, all of them new? */
static bool add_fits(const struct fr_prof *p, u32 keys, u32 nodes)
{
	return !add_is_full(p, FULL_EIGHTHS) && p->key_cnt + keys <= FR_PROF_KEY_MAX - TASK_KEYS &&
	       p->node_cnt + nodes <= FR_PROF_NODE_MAX;
}

/* Without memory for this, the profile stays as it is for now. */
static void compact(struct fr_prof *p, u32 keys, u32 nodes, u64 now_ns)
{
	struct fr_prof *from = malloc(sizeof(*from));
	struct moved *m = malloc(sizeof(*m));
	u32 first = 0;

	if (from && m) {
		memcpy(from, p, sizeof(*from));
		while (first < from->bucket_cnt && (from->bucket[first].end_ns + FR_PROF_HOUR_NS < now_ns ||
						    from->bucket_cnt - first > FR_PROF_BUCKET_MAX - 8))
			first++;
		memset(m, 0, sizeof(*m));
		m->stacks = m->tasks = FR_PROF_KEY_MAX;
		copy_from(p, from, first, m, now_ns);
		if (!add_fits(p, keys, nodes))
			add_make_room(p, from, first, m, now_ns);
	}
	free(from);
	free(m);
}

void fr_prof_open(struct fr_prof *p, u64 now_ns, u64 due)
{
	struct fr_prof_bucket b = {.begin_ns = p->end_ns, .end_ns = now_ns};
	struct fr_prof_bucket *last = p->bucket_cnt ? &p->bucket[p->bucket_cnt - 1] : NULL;

	if (!last || !is_one_slot(last, &b, now_ns) || add_is_full(p, FULL_EIGHTHS)) {
		if (add_is_due(p, now_ns))
			compact(p, 0, 0, now_ns);
		last = p->bucket_cnt ? &p->bucket[p->bucket_cnt - 1] : NULL;
		if (p->bucket_cnt == FR_PROF_BUCKET_MAX || p->hit_cnt == FR_PROF_HIT_MAX)
			p->bucket_cnt = p->hit_cnt = 0; /* there was no memory for anything better */
		if (!p->bucket_cnt || !is_one_slot(last, &b, now_ns))
			fr_prof_push(p, &b);
		last = &p->bucket[p->bucket_cnt - 1];
	}
	last->end_ns = now_ns;
	last->expected += due > p->due ? due - p->due : 0;
	p->due = due;
	p->end_ns = now_ns;
}

/* ---- a table ---- */

/* A stack of a table in the profile's form. */
struct frames {
	u64 frame[FR_STACK_DEPTH_MAX];
	u32 cnt;
	bool raw; /* some are addresses of a process */
};

static struct fr_prof_file add_file_of(const u64 *words)
{
	static const u8 zero[20];
	struct fr_prof_file f = {};

	memcpy(f.build_id, words, sizeof(f.build_id));
	f.sz = !memcmp(f.build_id + 8, zero, 12) ? 8 : !memcmp(f.build_id + 16, zero, 4) ? 16 : 20;
	return f;
}

static u64 add_frame_of(struct fr_prof *p, const u64 *files, u32 file_cnt, u64 word)
{
	u32 file = word >> 56;
	u64 off = word & ((1ULL << 56) - 1);
	struct fr_prof_file f;
	int nr;

	if (fr_prof_is_kernel(word) || !file)
		return word;
	if (file > file_cnt || off >= FILE_OFF_MAX)
		return 0;
	f = add_file_of(files + (size_t)(file - 1) * FILE_WORDS);
	nr = fr_prof_put_file(p, &f);
	return nr < 0 ? 0 : FR_PROF_IN_FILE | (u64)nr << FR_PROF_OFF_BITS | off;
}

static bool take_frames(struct fr_prof *p, const struct fr_hits_table *t, u32 shift, u32 nr, struct frames *to)
{
	const struct fr_hits_stack s = *fr_hits_stack(t, shift, nr - 1);
	u32 i, words = fr_hits_word_cnt(shift);

	to->cnt = 0;
	to->raw = false;
	if (!nr || nr > fr_hits_stack_cnt(shift) || s.frame_cnt > FR_STACK_DEPTH_MAX || s.off > words ||
	    s.frame_cnt + (u32)s.file_cnt * FILE_WORDS > words - s.off)
		return false;
	for (i = 0; i < s.frame_cnt; i++) {
		to->frame[i] = add_frame_of(p, fr_hits_word(t, shift, s.off + s.frame_cnt), s.file_cnt,
					    *fr_hits_word(t, shift, s.off + i));
		to->raw |= to->frame[i] >> 62 == 0;
	}
	to->cnt = i;
	return true;
}

/* The number of the stack in the profile. Sets *raw if its frames are addresses of one process. */
static u32 add_put_stack(struct fr_prof *p, const struct fr_hits_table *t, u32 shift, u32 nr, u64 hits, bool *raw)
{
	struct frames f;
	u32 here = 0, i;

	if (!nr || !take_frames(p, t, shift, nr, &f))
		return 0;
	for (i = f.cnt; i--;) {
		here = fr_prof_put_node(p, here, f.frame[i]);
		if (!here)
			break;
	}
	if (f.cnt && !here)
		p->stackless += hits;
	*raw |= here && f.raw;
	return here;
}

/* The last keys are kept for tasks without stacks. */
static u32 add_put_key(struct fr_prof *p, const struct fr_prof_key *k, u64 hits)
{
	struct fr_prof_key task = add_task_of(k);

	if (!has_stack(k) || p->key_cnt < FR_PROF_KEY_MAX - TASK_KEYS || fr_prof_has_key(p, k))
		return fr_prof_put_key(p, k);
	p->stackless += hits;
	return fr_prof_put_key(p, &task);
}

/* If there are many keys, processes of one name are one, unless its addresses need the process. */
static void add_hit(struct fr_prof *p, const struct fr_hits_table *t, u32 shift, const struct fr_hit *h)
{
	struct fr_prof_key k = {.pid = h->task >> 32, .state = h->state < FR_HIT_STATE_CNT ? h->state : FR_HIT_kernel};
	static const char idle_comm[sizeof(k.comm)] = "swapper"; /* one row, not one a CPU */
	bool raw = false;

	k.kstack = add_put_stack(p, t, shift, h->k_nr, h->hits, &raw);
	k.ustack = add_put_stack(p, t, shift, h->u_nr, h->hits, &raw);
	memcpy(k.comm, k.state == FR_HIT_idle ? idle_comm : (const char *)h->comm, sizeof(k.comm));
	k.comm[strnlen(k.comm, sizeof(k.comm) - 1)] = 0;
	memset(k.comm + strlen(k.comm), 0, sizeof(k.comm) - strlen(k.comm));
	if (!raw && p->key_cnt > FR_PROF_KEY_MAX / 4 * 3)
		k.pid = 0;
	fr_prof_hit(p, add_put_key(p, &k, h->hits), h->hits);
}

static void add_count(struct fr_prof *p, u64 taken, u64 lost)
{
	struct fr_prof_bucket *b = &p->bucket[p->bucket_cnt - 1];

	b->taken += taken;
	b->lost += lost;
	p->taken += taken;
	p->lost += lost;
}

/* Where CPUs are many, so are their tables in one reading: the last ones find as much room as the first. */
static void make_room_for(struct fr_prof *p, const struct fr_hits_table *t, u32 shift)
{
	u32 keys = fr_hits_cnt(shift), nodes = fr_hits_word_cnt(shift);

	keys = t->hit_cnt < keys ? t->hit_cnt : keys;
	nodes = t->word_cnt < nodes ? t->word_cnt : nodes;
	if (!add_fits(p, keys, nodes))
		compact(p, keys, nodes, p->end_ns);
}

bool fr_prof_add_table(struct fr_prof *p, const struct fr_hits_table *t, u32 shift)
{
	u64 sum = 0;
	u32 i;

	make_room_for(p, t, shift);
	for (i = 0; i < fr_hits_cnt(shift); i++) {
		if (!t->hit[i].hits)
			continue;
		add_hit(p, t, shift, &t->hit[i]);
		sum += t->hit[i].hits;
	}
	add_count(p, sum + t->lost, t->lost);
	return t->taken == sum + t->lost;
}

void fr_prof_add_nested(struct fr_prof *p, u64 nested)
{
	if (nested > p->nested)
		add_count(p, nested - p->nested, nested - p->nested);
	p->nested = nested;
}
