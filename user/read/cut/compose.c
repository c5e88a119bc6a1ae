/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/cut/compose.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/rows/unfold.h"
#include "base/set/idmap.h"
#include "read/replay/summary.h"
#include "read/snapfile/snapfile_members.h"
#include "read/snapfile/snapfile_rows.h"

int fr_compose_row(struct fr_snap_writer *w, const struct fr_row *r, bool context)
{
	u64 seq;
	u32 off;
	int err;

	fr_row_pos(r, &seq, &off);
	err = fr_snap_put_row(w, r, seq, off, context);
	return err == -EBADMSG ? 0 : err;
}

int fr_compose_fact(const struct fr_part *p, struct fr_snap_writer *w, const char *name, const char *value)
{
	value = p->clean ? fr_clean_fact(p->clean, name, value) : value;
	return value ? fr_snap_put_fact(w, name, "%s", value) : -ENOMEM;
}

/* Facts that follow from what is cleaned. */
static bool compose_counts(const struct fr_part *p, const char *fact)
{
	return p->clean && (!strcmp(fact, "redacted") || !strcmp(fact, "aliases"));
}

int fr_compose_rows(const struct fr_part *p, struct fr_snap_writer *w, struct fr_batch *b, const bool *leaves, bool context)
{
	int err = p->clean ? fr_clean_batch(p->clean, b, leaves) : 0;
	u32 i;

	for (i = 0; i < b->row_cnt && !err; i++) {
		struct fr_row r = fr_batch_row(b, i);

		if (!leaves[i])
			err = fr_compose_row(w, &r, context);
	}
	return err;
}

static int compose_facts(const struct fr_part *p, const struct fr_compose *how, struct fr_snap_writer *w)
{
	const char *name, *value;
	int err = 0;
	size_t i;

	for (i = 0; !err && (value = fr_snap_fact_at(p->src[p->src_cnt - 1], i, &name)); i++)
		if (!how->leaves_out(p, name) && !compose_counts(p, name))
			err = fr_compose_fact(p, w, name, value);
	return err ?: how->put_facts(p, w);
}

/* What is known once everything has been cleaned: secrets of this part, and names so far in the file. */
static int compose_counted(const struct fr_part *p, u64 secret_cnt, struct fr_snap_writer *w)
{
	s64 before;

	if (!p->clean)
		return 0;
	if (!fr_snap_fact_num(p->src[p->src_cnt - 1], "redacted", &before))
		before = 0;
	secret_cnt = fr_clean_secret_cnt(p->clean) - secret_cnt;
	return fr_snap_put_fact(w, "redacted", "%llu", before + secret_cnt)
		       ?: fr_snap_put_fact(w, "aliases", "%llu", fr_clean_name_cnt(p->clean));
}

/* ---- context: rows that are not kept, but needed for names and stacks ---- */

/* One row per place in a ring: context that several files have is written once. */
static int compose_is_new(const struct fr_row *r, struct fr_idmap *seen, bool *is_new)
{
	u64 ring = (u64)r->b->epoch << 32 | (u64)r->b->cpu << 8 | r->b->tier, seq, key;
	u32 off;

	fr_row_pos(r, &seq, &off);
	key = (seq << FR_PLACE_BITS | off) ^ ring * 0x9e3779b97f4a7c15ULL;
	*is_new = !fr_idmap_find(seen, key);
	return !*is_new || fr_idmap_get(seen, key) ? 0 : -ENOMEM;
}

static int compose_needs(struct fr_part *p, const struct fr_compose *how, const struct fr_row *r, bool context,
			 struct fr_idmap *seen, bool *is_needed)
{
	*is_needed = false;
	if (p->keep && fr_keep_has(p->keep, r->b->chunk, r->i))
		return 0;
	if (how->leave)
		how->leave(p, r);
	if (!p->keep)
		return compose_is_new(r, seen, is_needed);
	*is_needed = fr_keep_explains(p->keep, r, context);
	return 0;
}

static int compose_context_of(struct fr_part *p, const struct fr_compose *how, struct fr_batch *b, bool context,
			      struct fr_idmap *seen, struct fr_snap_writer *w)
{
	bool *leaves = malloc(b->row_cnt);
	int err = leaves ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; i < b->row_cnt && !err; i++) {
		struct fr_row r = fr_batch_row(b, i);
		bool is_needed;

		err = compose_needs(p, how, &r, context, seen, &is_needed);
		leaves[i] = !is_needed;
	}
	err = err ?: fr_compose_rows(p, w, b, leaves, true);
	free(leaves);
	return err;
}

/*
 * Of rare events that are not kept, and of what was context already: that of a file that was cut before comes behind its other
 * chunks.
 */
static int compose_context(struct fr_part *p, const struct fr_compose *how, struct fr_snap_writer *w)
{
	struct fr_batch b = {0};
	struct fr_idmap seen;
	size_t first, cnt, k;
	int err = 0;
	u32 i;

	fr_idmap_init(&seen, 1);
	for (i = 0; i < p->src_cnt; i++) {
		const struct fr_chunk *c = fr_snap_chunks(p->src[i], &cnt);

		fr_snap_context(p->src[i], &first, &cnt);
		for (k = p->keep ? 0 : first; k < first + cnt && !err; k++) {
			if (p->keep && c[k].tier != FR_TIER_LIFE && c[k].tier != FR_TIER_STACK)
				continue;
			err = fr_snap_read_chunk(p->src[i], k, &b);
			err = err ?: compose_context_of(p, how, &b, c[k].context, &seen, w);
			err = err == -EBADMSG ? 0 : err;
		}
	}
	fr_batch_free(&b);
	fr_idmap_free(&seen);
	return err;
}

/* ---- a file of parts ---- */

static int compose_meta(const struct fr_part *p, const struct fr_compose *how, struct fr_snap_writer *w)
{
	struct fr_meta m;
	int err;
	u32 i;

	fr_meta_init(&m);
	if (!p->is_of_tasks)
		fr_meta_take_profiles(&m, p->src[p->src_cnt - 1]);
	err = how->account(p, &m, w);
	for (i = 0; i < p->src_cnt && !err; i++)
		err = fr_meta_take(&m, p->src[i], p->keep);
	if (!err && !p->keep)
		fr_meta_unite(&m);
	if (p->clean)
		err = err ?: fr_clean_meta(p->clean, &m);
	m.clean = p->clean;
	err = err ?: fr_meta_put(&m, w);
	fr_meta_free(&m);
	return err;
}

int fr_compose(const char *out, struct fr_part *const *part, u32 cnt, const struct fr_compose *how)
{
	struct fr_snap_writer *w;
	int err = fr_snap_create_for_rows(out, &w);
	u32 i;

	if (err)
		return err;
	for (i = 0; i < cnt && !err; i++) {
		const struct fr_schema *schema = part[i]->schema;
		u64 secret_cnt = part[i]->clean ? fr_clean_secret_cnt(part[i]->clean) : 0;

		if (part[i]->clean)
			schema = fr_clean_schema(part[i]->clean, schema);
		err = schema ? 0 : -ENOMEM;
		if (i)
			err = err ?: fr_snap_next_member(w);
		err = err ?: fr_snap_put_schema(w, schema);
		err = err ?: compose_facts(part[i], how, w);
		err = err ?: how->put_events(part[i], w);
		err = err ?: compose_context(part[i], how, w);
		err = err ?: compose_meta(part[i], how, w);
		err = err ?: compose_counted(part[i], secret_cnt, w);
	}
	if (!err)
		return fr_snap_finish(w);
	fr_snap_abort(w);
	return err;
}

int fr_compose_status(int err, const char *out, const char *whose, const char *less)
{
	switch (err) {
	case 0:
		return FR_EXIT_OK;
	case -EBADMSG:
		return FR_EXIT_CORRUPT;
	case -EEXIST:
		fr_err("%s exists, and is not replaced: give another name, or remove it", out);
		break;
	case -ENOMEM:
		fr_err("out of memory: %s, or %s", less, fr_err_cure(-ENOMEM, NULL));
		break;
	case -ENOBUFS:
		fr_err("cannot write %s: a part of %s is larger than any recorder writes", out, whose);
		break;
	}
	return FR_EXIT_FAIL;
}
