/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* make_batch: batches written down by hand, row by row, for tests of what reads them. */
#ifndef MAKE_BATCH_H
#define MAKE_BATCH_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows/batch.h"

#define MB_ROWS 64 /* at most */
#define MB_TAIL 16 /* of str or u64s in a row */

struct make_batch {
	struct fr_batch b;
	u64 ts[MB_ROWS];
	u8 ev[MB_ROWS];
	u32 tid[MB_ROWS], in_type[MB_ROWS];
	struct fr_pos_run run[MB_ROWS];
	struct fr_pos_walk walk;
};

static inline void mb_init(struct make_batch *m, const struct fr_schema *s, u16 cpu, u8 tier)
{
	memset(m, 0, sizeof(*m));
	m->b = (struct fr_batch){.schema = s, .epoch = 7, .cpu = cpu, .tier = tier};
	m->b.ts = m->ts;
	m->b.ev = m->ev;
	m->b.tid = m->tid;
	m->b.in_type = m->in_type;
	m->b.run = m->run;
	m->b.walk = &m->walk;
	m->walk.row = UINT32_MAX; /* of nothing yet: begins anew */
}

static inline void mb_new_col(struct fr_col *c, const struct fr_field *f)
{
	c->mask = ~0u;
	c->num = f->type <= FR_TYPE_text8  ? calloc(MB_ROWS, sizeof(u64))
		 : f->type == FR_TYPE_u64s ? calloc(MB_ROWS * MB_TAIL, sizeof(u64))
					   : NULL;
	c->off = f->type >= FR_TYPE_str ? calloc(MB_ROWS + 1, sizeof(u32)) : NULL;
	c->text = f->type == FR_TYPE_comm  ? calloc(MB_ROWS, FR_COMM_SZ)
		  : f->type == FR_TYPE_str ? calloc(MB_ROWS, MB_TAIL * 8)
					   : NULL;
}

static inline void mb_new_type(struct fr_type_cols *t, const struct fr_event *ev)
{
	u32 i;

	t->col = calloc(ev->col_cnt + 1, sizeof(*t->col));
	for (i = 0; i < ev->field_cnt; i++)
		if (ev->fields[i].col >= 0)
			mb_new_col(&t->col[ev->fields[i].col], &ev->fields[i]);
}

/* A str without text is its NUL. */
static inline void mb_begin_tails(struct fr_type_cols *t, const struct fr_event *ev, u32 k)
{
	u32 i;

	for (i = 0; i < ev->field_cnt; i++) {
		const struct fr_field *f = &ev->fields[i];

		if (f->col >= 0 && t->col[f->col].off)
			t->col[f->col].off[k + 1] = t->col[f->col].off[k] + (f->type == FR_TYPE_str);
	}
}

/* Add a row, all fields 0 or empty. */
static inline void mb_row(struct make_batch *m, u64 ts, u32 tid, const char *name)
{
	const struct fr_event *ev = fr_schema_find(m->b.schema, name);
	u32 i = m->b.row_cnt++;
	struct fr_type_cols *t;

	assert(ev && i < MB_ROWS);
	t = &m->b.type[ev->nr];
	if (!t->col)
		mb_new_type(t, ev);
	m->ts[i] = ts;
	m->ev[i] = ev->nr;
	m->tid[i] = tid;
	m->in_type[i] = t->cnt++;
	m->run[i] = (struct fr_pos_run){.row = i, .seq = 1, .off = 64 + i * 32};
	m->b.run_cnt = m->b.row_cnt;
	mb_begin_tails(t, ev, m->in_type[i]);
}

/* The column of a field of the last row. */
static inline struct fr_col *mb_col(struct make_batch *m, const char *field, u32 *k, const struct fr_field **f)
{
	u32 i = m->b.row_cnt - 1;
	const struct fr_event *ev = fr_schema_event(m->b.schema, m->ev[i]);

	*f = fr_event_field(ev, field);
	assert(*f && (*f)->col >= 0);
	*k = m->in_type[i];
	return &m->b.type[ev->nr].col[(*f)->col];
}

static inline void mb_num(struct make_batch *m, const char *field, u64 v)
{
	const struct fr_field *f;
	u32 k;

	mb_col(m, field, &k, &f)->num[k] = v;
}

/* Text as records have it: padded with zeros, with none behind it if it is as long as its room. */
static inline void mb_fill(char *to, const char *text, size_t sz)
{
	memset(to, 0, sz);
	for (; sz && *text; sz--)
		*to++ = *text++;
}

static inline void mb_text(struct make_batch *m, const char *field, const char *text)
{
	const struct fr_field *f;
	u32 k;
	struct fr_col *c = mb_col(m, field, &k, &f);

	if (f->type == FR_TYPE_text8)
		mb_fill((char *)&c->num[k], text, 8);
	else if (f->type == FR_TYPE_comm)
		mb_fill(c->text + k * FR_COMM_SZ, text, FR_COMM_SZ);
	else
		c->off[k + 1] = c->off[k] + strlen(strcpy(c->text + c->off[k], text)) + 1;
}

static inline void mb_nums(struct make_batch *m, const char *field, const u64 *v, u32 cnt)
{
	const struct fr_field *f;
	u32 k;
	struct fr_col *c = mb_col(m, field, &k, &f);

	assert(cnt <= MB_TAIL);
	memcpy(c->num + c->off[k], v, cnt * sizeof(*v));
	c->off[k + 1] = c->off[k] + cnt;
}

static inline void mb_free(struct make_batch *m)
{
	u32 nr, i;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(m->b.schema, nr);
		struct fr_col *c = m->b.type[nr].col;

		for (i = 0; c && i < ev->col_cnt; i++) {
			free(c[i].num);
			free(c[i].off);
			free(c[i].text);
		}
		free(c);
	}
}

static inline struct fr_row mb_at(const struct make_batch *m, u32 i)
{
	return fr_batch_row(&m->b, i);
}

#endif
