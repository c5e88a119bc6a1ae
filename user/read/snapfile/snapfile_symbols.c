/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading a snapshot: what addresses mean: symbols, mappings, and where frames of user stacks lay. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows/stacks.h"
#include "read/snapfile/snapfile_int.h"
#include "read/snapfile/snapfile_texts.h"

/* The texts of a chunk; its items point into them. */
struct fr_snap_texts {
	struct fr_snap_texts *next;
	char bytes[];
};

static struct fr_snap_list *symbols_list_of(struct fr_snap *s, u32 kind)
{
	switch (kind) {
	case FR_CHUNK_SYMBOLS:
		return &s->symbols;
	case FR_CHUNK_STATES:
		return &s->states;
	case FR_CHUNK_KLOG:
		return &s->klog;
	case FR_CHUNK_SCENES:
		return &s->scenes;
	default:
		return &s->mappings;
	}
}

/* A copy of a chunk's texts, owned by the snapshot. NULL: no memory. */
static const char *keep_texts(struct fr_snap *s, const u8 *bytes, size_t sz)
{
	struct fr_snap_texts *t = malloc(sizeof(*t) + sz);

	if (!t)
		return NULL;
	memcpy(t->bytes, bytes, sz);
	t->next = s->texts;
	s->texts = t;
	return t->bytes;
}

int fr_snap_take_texts(struct fr_snap *s, u32 kind, size_t sz)
{
	const struct fr_text_kind *k = fr_text_kind(kind);
	size_t cnt, texts_sz;
	const char *texts;
	void *to;
	int err;

	if (fr_text_check(k, s->own.content, sz, &cnt, &texts_sz))
		return -EBADMSG;
	texts = keep_texts(s, s->own.content + sz - texts_sz, texts_sz);
	err = texts ? fr_snap_add_items(s, symbols_list_of(s, kind), cnt, fr_text_struct_sz(k), &to) : -ENOMEM;
	if (!err)
		fr_text_items(k, s->own.content, texts, to);
	return err;
}

void fr_snap_sort_texts(struct fr_snap *s)
{
	fr_text_sort(fr_text_kind(FR_CHUNK_SYMBOLS), s->symbols.items, s->symbols.cnt);
	fr_text_sort(fr_text_kind(FR_CHUNK_MAPPINGS), s->mappings.items, s->mappings.cnt);
	fr_text_sort(fr_text_kind(FR_CHUNK_STATES), s->states.items, s->states.cnt);
	fr_text_sort(fr_text_kind(FR_CHUNK_KLOG), s->klog.items, s->klog.cnt);
	fr_text_sort(fr_text_kind(FR_CHUNK_SCENES), s->scenes.items, s->scenes.cnt);
}

void fr_snap_free_texts(struct fr_snap *s)
{
	struct fr_snap_texts *t, *next;

	for (t = s->texts; t; t = next) {
		next = t->next;
		free(t);
	}
	free(s->mappings.items);
	free(s->symbols.items);
	free(s->states.items);
	free(s->klog.items);
	free(s->scenes.items);
	fr_stacks_free(s->stacks);
}

const struct fr_snap_symbol *fr_snap_symbols(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->symbols.cnt;
	return s->symbols.items;
}

const struct fr_snap_mapping *fr_snap_mappings(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->mappings.cnt;
	return s->mappings.items;
}

const struct fr_snap_klog *fr_snap_klog(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->klog.cnt;
	return s->klog.items;
}

const struct fr_snap_scene *fr_snap_scenes(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->scenes.cnt;
	return s->scenes.items;
}

const struct fr_snap_state *fr_snap_states(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->states.cnt;
	return s->states.items;
}

/* ---- where frames lay ---- */

/*
 * All stacks of the file, read once. Stacks that are damaged, or that memory does not suffice for, are missing: their frames
 * have no names.
 */
static const struct fr_stacks *stacks_of(const struct fr_snap *snap)
{
	struct fr_snap *s = (struct fr_snap *)snap; /* no snapshot is created const, and nothing that readers see changes */
	struct fr_batch b = {};
	size_t i;

	if (s->stacks)
		return s->stacks;
	s->stacks = fr_stacks_new();
	for (i = 0; s->stacks && i < s->chunk_cnt + s->context_cnt; i++)
		if (s->chunk[i].tier == FR_TIER_STACK && !fr_snap_read_chunk(s, i, &b))
			fr_stacks_add_batch(s->stacks, &b);
	fr_batch_free(&b);
	return s->stacks;
}

bool fr_snap_frame(const struct fr_snap *s, u64 stack_id, u32 nr, struct fr_snap_frame *out)
{
	const struct fr_stacks *stacks = stacks_of(s);
	struct fr_origin o;

	if (!stacks || !fr_stacks_origin(stacks, stack_id, nr, &o))
		return false;
	*out = (struct fr_snap_frame){
		.stack_id = stack_id,
		.nr = nr,
		.build_id_sz = o.build_id_sz,
		.file_off = o.file_off,
	};
	memcpy(out->build_id, o.build_id, sizeof(o.build_id));
	return true;
}

size_t fr_snap_frame_stack_cnt(const struct fr_snap *s)
{
	const struct fr_stacks *stacks = stacks_of(s);

	return stacks ? fr_stacks_origin_cnt(stacks) : 0;
}
