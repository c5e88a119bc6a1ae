/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each fact is a mark: from this time on, this tid has this name. Sorted by (tid, time), the answer to a look-up is the last
 * mark not later than t. Each tid keeps the mark found last, which mostly answers the next look-up, too.
 */
#include "base/rows/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows/subscribe.h"
#include "base/set/vec.h"

#define NO_PID	     (-1)
#define SAME_NAME_NS 1000000000 /* a renaming's time in the table and its event's are closer than this, even on a busy host */
#define CPU_MAX	     65536

enum why { BIRTH, TABLE_NAME, RENAMED };

struct mark {
	u64 from_ns;
	u64 cgroup; /* 0: unknown */
	u32 tid;
	s32 pid;
	u8 why;
	u8 len;
	char comm[FR_COMM_SZ];
	char oldcomm[FR_COMM_SZ]; /* RENAMED: the name until then */
};

/* The marks of a tid, and the one found last. end 0: none. */
struct span {
	u32 begin, end, cur;
};

struct fr_names {
	struct mark *mark;
	size_t cnt;
	struct span *span; /* by tid */
	u32 span_cnt;
	char (*idle)[FR_COMM_SZ]; /* swapper/CPU, created when first asked for */
};

struct fr_names *fr_names_new(void)
{
	struct fr_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->idle = calloc(CPU_MAX, sizeof(*n->idle));
	if (!n->idle) {
		free(n);
		return NULL;
	}
	return n;
}

void fr_names_free(struct fr_names *n)
{
	if (!n)
		return;
	free(n->mark);
	free(n->span);
	free(n->idle);
	free(n);
}

static struct mark *add_mark(struct fr_names *n)
{
	struct mark *mark = fr_vec_more(&n->mark, n->cnt);

	n->cnt += mark != NULL;
	return mark;
}

static int names_add(struct fr_names *n, const struct mark *m)
{
	struct mark *to;

	if (m->tid > FR_TID_MASK)
		return 0;
	to = add_mark(n);
	if (!to)
		return -ENOMEM;
	*to = *m;
	to->len = strnlen(to->comm, sizeof(to->comm));
	return 0;
}

int fr_names_add_task(struct fr_names *n, u32 tid, u64 start_ns, const struct fr_task *task)
{
	struct mark m = {.from_ns = start_ns, .tid = tid, .pid = task->tgid, .why = BIRTH, .cgroup = task->cgroup};
	int err;

	memcpy(m.comm, task->renamed_ns ? task->first_comm : task->comm, sizeof(m.comm));
	err = names_add(n, &m);
	if (err || task->renamed_ns <= start_ns)
		return err;
	m.from_ns = task->renamed_ns;
	m.why = TABLE_NAME;
	memcpy(m.comm, task->comm, sizeof(m.comm));
	return names_add(n, &m);
}

/* The events that tell names. */
enum { BIRTH_TID, BIRTH_PID, BIRTH_START, BIRTH_COMM, BIRTH_CGROUP };
static const struct fr_sub_want names_birth = {
	"sched_process_fork",
	{FR_SUB_NUM("child_pid"), FR_SUB_NUM("child_tgid"), FR_SUB_NUM("child_start"), FR_SUB_TEXT("child_comm"),
	 FR_SUB_MAY_NUM("child_cgroup")},
};

enum { RENAME_TID, RENAME_NEW, RENAME_OLD };
static const struct fr_sub_want names_rename = {
	"task_rename",
	{FR_SUB_NUM("target_pid"), FR_SUB_TEXT("newcomm"), FR_SUB_TEXT("oldcomm")},
};

static void names_copy_comm(char *to, const struct fr_sub *sub, const struct fr_row *r, u32 field)
{
	size_t len;
	const char *text = fr_sub_text(sub, r, field, &len);

	memset(to, 0, FR_COMM_SZ);
	memcpy(to, text, len < FR_COMM_SZ ? len : FR_COMM_SZ);
}

static int names_add_birth(struct fr_names *n, const struct fr_row *r, const struct fr_sub *sub)
{
	struct mark m = {
		.from_ns = fr_sub_num(sub, r, BIRTH_START),
		.tid = fr_sub_num(sub, r, BIRTH_TID),
		.pid = fr_sub_num(sub, r, BIRTH_PID),
		.why = BIRTH,
		.cgroup = fr_sub_num(sub, r, BIRTH_CGROUP),
	};

	names_copy_comm(m.comm, sub, r, BIRTH_COMM);
	return names_add(n, &m);
}

/* The kernel reports just before it renames: the event itself still happens under the old name. */
static int add_rename(struct fr_names *n, const struct fr_row *r, const struct fr_sub *sub)
{
	struct mark m = {.from_ns = r->ts + 1, .tid = fr_sub_num(sub, r, RENAME_TID), .pid = NO_PID, .why = RENAMED};

	names_copy_comm(m.comm, sub, r, RENAME_NEW);
	names_copy_comm(m.oldcomm, sub, r, RENAME_OLD);
	return names_add(n, &m);
}

bool fr_names_tells(const struct fr_row *r, u32 *tid)
{
	struct fr_sub birth, rename;

	if (r->tier != FR_TIER_LIFE)
		return false;
	fr_subscribe(r->b->schema, &names_birth, &birth);
	fr_subscribe(r->b->schema, &names_rename, &rename);
	if (r->ev != birth.ev && r->ev != rename.ev)
		return false;
	*tid = r->ev == birth.ev ? fr_sub_num(&birth, r, BIRTH_TID) : fr_sub_num(&rename, r, RENAME_TID);
	return true;
}

int fr_names_add_batch(struct fr_names *n, const struct fr_batch *b)
{
	struct fr_sub birth, rename;
	u32 i;
	int err = 0;

	fr_subscribe(b->schema, &names_birth, &birth);
	fr_subscribe(b->schema, &names_rename, &rename);
	for (i = 0; i < b->row_cnt && !err; i++) {
		struct fr_row r;

		if (birth.ev && b->ev[i] == birth.ev->nr) {
			r = fr_batch_row(b, i);
			err = names_add_birth(n, &r, &birth);
		} else if (rename.ev && b->ev[i] == rename.ev->nr) {
			r = fr_batch_row(b, i);
			err = add_rename(n, &r, &rename);
		}
	}
	return err;
}

static int names_by_tid_and_time(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (int)x->why - (int)y->why;
}

static bool same_comm(const struct mark *a, const struct mark *b)
{
	return !memcmp(a->comm, b->comm, FR_COMM_SZ);
}

/* A renaming's time in the task table, when its event is known, too: the event's time is the exact one. */
static bool is_told_again(const struct mark *m, const struct mark *next)
{
	return m->why == TABLE_NAME && next->why == RENAMED && m->tid == next->tid && same_comm(m, next) &&
	       next->from_ns - m->from_ns < SAME_NAME_NS;
}

/* Several files may contain the same mark. */
static bool is_told_twice(const struct mark *m, const struct mark *next)
{
	return m->tid == next->tid && m->from_ns == next->from_ns && m->why == next->why && m->pid == next->pid &&
	       same_comm(m, next);
}

static void drop_retold(struct fr_names *n)
{
	size_t i, to = 0;

	for (i = 0; i < n->cnt; i++) {
		const struct mark *m = &n->mark[i];

		if (i + 1 < n->cnt && (is_told_twice(m, m + 1) || is_told_again(m, m + 1)))
			continue;
		n->mark[to++] = n->mark[i];
	}
	n->cnt = to;
}

/* If nothing earlier is known of a tid than its renaming, it had its old name before. */
static int add_old_names(struct fr_names *n)
{
	size_t i, cnt = n->cnt;

	for (i = 0; i < cnt; i++) {
		struct mark m = n->mark[i];
		bool first = !i || n->mark[i - 1].tid != m.tid;

		if (!first || m.why != RENAMED)
			continue;
		m.from_ns = 0;
		m.why = TABLE_NAME;
		memcpy(m.comm, m.oldcomm, sizeof(m.comm));
		if (names_add(n, &m))
			return -ENOMEM;
	}
	return 0;
}

/*
 * Renamings that were overwritten lie between a task's birth and the oldest one that is known, which says what it was called
 * until then. The history begins behind them, so that name is right and the first one is not.
 */
static void correct_first_names(struct fr_names *n)
{
	size_t i;

	for (i = 1; i < n->cnt; i++) {
		struct mark *m = &n->mark[i - 1], *next = &n->mark[i];

		if (m->why != BIRTH || next->why != RENAMED || next->tid != m->tid)
			continue;
		memcpy(m->comm, next->oldcomm, sizeof(m->comm));
		m->len = strnlen(m->comm, sizeof(m->comm));
	}
}

/* A renaming does not tell process and cgroup: the previous mark does. */
static void names_inherit(struct fr_names *n)
{
	size_t i;

	for (i = 1; i < n->cnt; i++) {
		if (n->mark[i].pid == NO_PID && n->mark[i].tid == n->mark[i - 1].tid)
			n->mark[i].pid = n->mark[i - 1].pid;
		if (!n->mark[i].cgroup && n->mark[i].why == RENAMED && n->mark[i].tid == n->mark[i - 1].tid)
			n->mark[i].cgroup = n->mark[i - 1].cgroup;
	}
}

static int index_tids(struct fr_names *n)
{
	size_t i;

	free(n->span);
	n->span_cnt = n->cnt ? n->mark[n->cnt - 1].tid + 1 : 0;
	n->span = calloc(n->span_cnt ? n->span_cnt : 1, sizeof(*n->span));
	if (!n->span)
		return -ENOMEM;
	for (i = 0; i < n->cnt; i++) {
		struct span *s = &n->span[n->mark[i].tid];

		if (!s->end)
			s->begin = s->cur = i;
		s->end = i + 1;
	}
	return 0;
}

static void names_sort(struct fr_names *n)
{
	if (n->cnt)
		qsort(n->mark, n->cnt, sizeof(*n->mark), names_by_tid_and_time);
}

int fr_names_ready(struct fr_names *n)
{
	names_sort(n);
	drop_retold(n);
	correct_first_names(n);
	if (add_old_names(n))
		return -ENOMEM;
	names_sort(n);
	names_inherit(n);
	return index_tids(n);
}

static struct fr_who idle(struct fr_names *n, u16 cpu)
{
	char *comm = n->idle[cpu];

	if (!*comm)
		snprintf(comm, FR_COMM_SZ, "swapper/%u", cpu);
	return (struct fr_who){.comm = comm, .len = strlen(comm), .pid = 0};
}

/* The last mark of a tid not later than ts, or NULL. */
static const struct mark *names_find(const struct fr_names *n, const struct span *s, u64 ts)
{
	u32 lo = s->begin, hi = s->end;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (n->mark[mid].from_ns <= ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > s->begin ? &n->mark[lo - 1] : NULL;
}

static bool names_holds(const struct fr_names *n, const struct span *s, u64 ts)
{
	return n->mark[s->cur].from_ns <= ts && (s->cur + 1 == s->end || ts < n->mark[s->cur + 1].from_ns);
}

u64 fr_names_start(const struct fr_names *n, u32 tid, u64 ts)
{
	const struct span *s = tid < n->span_cnt ? &n->span[tid] : NULL;
	const struct mark *m = s ? names_find(n, s, ts) : NULL;

	while (m && m->why != BIRTH)
		m = m > &n->mark[s->begin] ? m - 1 : NULL;
	return m ? m->from_ns : 0;
}

struct fr_who fr_names_who(struct fr_names *n, u32 tid, u64 ts, u16 cpu)
{
	const struct mark *m;
	struct span *s;

	if (!tid)
		return idle(n, cpu);
	if (tid >= n->span_cnt || !n->span[tid].end)
		return (struct fr_who){.pid = NO_PID};
	s = &n->span[tid];
	if (!names_holds(n, s, ts)) {
		m = names_find(n, s, ts);
		if (!m)
			return (struct fr_who){.pid = NO_PID};
		s->cur = m - n->mark;
	}
	m = &n->mark[s->cur];
	return (struct fr_who){.comm = m->comm, .len = m->len, .pid = m->pid, .cgroup = m->cgroup};
}
