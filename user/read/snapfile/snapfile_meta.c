/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading a snapshot: all chunks but events. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/schema/facts.h"
#include "base/text/list.h"
#include "base/tp/tps.h"
#include "read/snapfile/snapfile_int.h"
#include "read/snapfile/snapfile_lists.h"
#include "read/snapfile/snapfile_rows.h"
#include "read/snapfile/snapfile_texts.h"

#define FACTS_MAX_SZ (256u << 10) /* of all facts */
#define FACT_MAX_CNT 1000u
#define META_MAX_SZ  (64u << 20)  /* of all metadata, decoded */
#define ITEMS_MAX_SZ (128u << 20) /* of all lists in memory, where an entry of few bytes takes what a whole one does */

struct fact {
	char *name, *value;
};

static int meta_add_text(char **text, size_t *sz, const u8 *more, size_t more_sz)
{
	char *p = realloc(*text, *sz + more_sz + 1);

	if (!p)
		return -ENOMEM;
	memcpy(p + *sz, more, more_sz);
	*text = p;
	*sz += more_sz;
	p[*sz] = 0;
	return 0;
}

static int add_facts(struct fr_snap *s, size_t sz)
{
	if (s->facts_sz + sz > FACTS_MAX_SZ || memchr(s->own.content, 0, sz) ||
	    !fr_facts_are_lines((const char *)s->own.content, sz))
		return -EBADMSG;
	return meta_add_text(&s->facts_text, &s->facts_sz, s->own.content, sz);
}

static struct fr_snap_list *meta_list_of(struct fr_snap *s, u32 kind)
{
	switch (kind) {
	case FR_CHUNK_TASKS:
		return &s->tasks;
	case FR_CHUNK_RINGS:
		return &s->rings;
	case FR_CHUNK_HOLES:
		return &s->holes;
	case FR_CHUNK_INCIDENTS:
		return &s->incidents;
	default:
		return &s->clocks;
	}
}

int fr_snap_add_items(struct fr_snap *s, struct fr_snap_list *l, size_t cnt, size_t item_sz, void **to)
{
	char *p;

	if (cnt > (ITEMS_MAX_SZ - s->items_sz) / item_sz)
		return -EBADMSG;
	p = realloc(l->items, (l->cnt + cnt) * item_sz + 1);
	if (!p)
		return -ENOMEM;
	*to = p + l->cnt * item_sz;
	l->items = p;
	l->cnt += cnt;
	s->items_sz += cnt * item_sz;
	return 0;
}

static int add_items(struct fr_snap *s, const struct fr_list_kind *k, size_t sz)
{
	size_t cnt;
	void *to;
	int err = fr_list_check(s->own.content, sz, &cnt);

	err = err ?: fr_snap_add_items(s, meta_list_of(s, k->kind), cnt, k->struct_sz, &to);
	if (!err)
		fr_list_items(k, s->own.content, to);
	return err;
}

static int set_schema(struct fr_snap *s, size_t sz)
{
	int err;

	if (s->schema)
		return 0; /* there is one already; ignore a second */
	if (s->schema_hash && s->schema_hash != fr_snap_hash(s->own.content, sz))
		fr_snap_note(s, "schema: its hash is not the one that the file's header has");
	err = fr_schema_parse((const char *)s->own.content, sz, &s->schema);
	return err == -EINVAL ? -EBADMSG : err;
}

/* Each chunk has whole formats; what they say is looked at by who prints. */
static int add_formats(struct fr_snap *s, size_t sz)
{
	const char *text = (const char *)s->own.content;

	if (s->formats_sz + sz > FR_TPS_MAX_SZ || memchr(text, 0, sz) || !fr_tps_is_good(text, sz))
		return -EBADMSG;
	return meta_add_text(&s->formats, &s->formats_sz, s->own.content, sz);
}

int fr_snap_take_meta(struct fr_snap *s, u32 kind, const struct fr_snap_place *p, u64 stored_sz)
{
	u64 sz = p->decoded_sz;
	int err = fr_snap_content(s, &s->own, p, stored_sz);

	if (err)
		return err;
	if (s->meta_sz + sz > META_MAX_SZ)
		return -EBADMSG;
	s->meta_sz += sz;
	if (kind == FR_CHUNK_SCHEMA)
		return set_schema(s, sz);
	if (kind == FR_CHUNK_FACTS)
		return add_facts(s, sz);
	if (kind == FR_CHUNK_PROFILE)
		return fr_snap_take_profile(s, &s->profile, sz);
	if (kind == FR_CHUNK_BLOCKED)
		return fr_snap_take_profile(s, &s->blocked, sz);
	if (kind == FR_CHUNK_COUNTERS)
		return fr_snap_take_counters(s, sz);
	if (kind == FR_CHUNK_PROCS)
		return memchr(s->own.content, 0, sz) ? -EBADMSG : meta_add_text(&s->procs, &s->procs_sz, s->own.content, sz);
	if (kind == FR_CHUNK_FORMATS)
		return add_formats(s, sz);
	return fr_text_kind(kind) ? fr_snap_take_texts(s, kind, sz) : add_items(s, fr_list_kind(kind), sz);
}

bool fr_snap_is_meta(u32 kind)
{
	return kind == FR_CHUNK_SCHEMA || kind == FR_CHUNK_FACTS || kind == FR_CHUNK_PROCS || kind == FR_CHUNK_PROFILE ||
	       kind == FR_CHUNK_BLOCKED || kind == FR_CHUNK_FORMATS || kind == FR_CHUNK_COUNTERS || fr_list_kind(kind) ||
	       fr_text_kind(kind);
}

int fr_snap_split_facts(struct fr_snap *s)
{
	const char *name, *value;
	size_t pos = 0, name_len, value_len;
	struct fact *f = calloc(FACT_MAX_CNT, sizeof(*f));

	s->facts.items = f;
	if (!f)
		return -ENOMEM;
	while (s->facts_text && s->facts.cnt < FACT_MAX_CNT &&
	       fr_facts_next(s->facts_text, &pos, &name, &name_len, &value, &value_len)) {
		f->name = strndup(name, name_len);
		f->value = f->name ? fr_facts_get(s->facts_text, f->name) : NULL;
		s->facts.cnt++;
		if (!f++->value)
			return -ENOMEM;
	}
	if (s->facts_text && fr_facts_next(s->facts_text, &pos, &name, &name_len, &value, &value_len))
		fr_snap_note(s, "facts: more than the %u that a file may have; those behind are left out", FACT_MAX_CNT);
	return 0;
}

static u64 horizon_at(const struct fr_snap *s, const struct fr_snap_hole *h)
{
	const struct fr_snap_ring *r = s->rings.items;
	u64 horizon_ns = 0;
	size_t i;

	for (i = 0; i < s->rings.cnt; i++)
		if (r[i].cpu == h->cpu && r[i].tier == h->tier)
			horizon_ns = r[i].horizon_ns;
	return horizon_ns;
}

void fr_snap_end_holes(struct fr_snap *s)
{
	struct fr_snap_hole *h = s->holes.items;
	size_t i;

	if (!fr_snap_fact(s, "merge_cnt"))
		return;
	for (i = 0; i < s->holes.cnt; i++)
		if (!h[i].since_ns && !h[i].until_ns)
			h[i].until_ns = horizon_at(s, &h[i]);
}

void fr_snap_free_meta(struct fr_snap *s)
{
	struct fact *f = s->facts.items;
	size_t i;

	for (i = 0; i < s->facts.cnt; i++) {
		free(f[i].name);
		free(f[i].value);
	}
	free(f);
	free(s->facts_text);
	free(s->tasks.items);
	free(s->rings.items);
	free(s->holes.items);
	free(s->clocks.items);
	free(s->incidents.items);
	fr_snap_free_texts(s);
	free(s->procs);
	free(s->formats);
	free(s->profile);
	free(s->blocked);
	fr_snap_free_counters(s);
	fr_schema_free(s->schema);
}

/* ---- access ---- */

const struct fr_schema *fr_snap_schema(const struct fr_snap *s)
{
	return s->use;
}

const char *fr_snap_fact(const struct fr_snap *s, const char *name)
{
	const struct fact *f = s->facts.items;
	size_t i;

	for (i = 0; i < s->facts.cnt; i++)
		if (!strcmp(f[i].name, name))
			return f[i].value;
	return NULL;
}

const char *fr_snap_choice(const struct fr_snap *s)
{
	static const char *const option[] = {"--pid", "--comm", "--cgroup", "-f "};
	const char *settings = fr_snap_fact(s, "settings");
	size_t i;

	for (i = 0; settings && i < sizeof(option) / sizeof(option[0]); i++)
		if (strstr(settings, option[i]))
			return settings;
	return NULL;
}

const char *fr_snap_fact_at(const struct fr_snap *s, size_t i, const char **name)
{
	const struct fact *f = s->facts.items;

	if (i >= s->facts.cnt)
		return NULL;
	*name = f[i].name;
	return f[i].value;
}

bool fr_snap_records(const struct fr_snap *s, const char *event)
{
	const char *events = fr_snap_fact(s, "events");

	if (!fr_schema_find(fr_snap_schema(s), event))
		return false;
	return (!events || fr_list_has(events, event)) && !fr_list_has(fr_snap_fact(s, "events_missing"), event);
}

const struct fr_snap_task *fr_snap_tasks(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->tasks.cnt;
	return s->tasks.items;
}

const struct fr_snap_ring *fr_snap_rings(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->rings.cnt;
	return s->rings.items;
}

const struct fr_snap_hole *fr_snap_holes(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->holes.cnt;
	return s->holes.items;
}

const u64 *fr_snap_lost_chunks(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->lost_cnt;
	return s->lost;
}

const struct fr_snap_clock *fr_snap_clocks(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->clocks.cnt;
	return s->clocks.items;
}

const struct fr_snap_incident *fr_snap_incidents(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->incidents.cnt;
	return s->incidents.items;
}

const char *fr_snap_procs(const struct fr_snap *s, size_t *sz)
{
	*sz = s->procs_sz;
	return s->procs;
}

const char *fr_snap_formats(const struct fr_snap *s, size_t *sz)
{
	*sz = s->formats_sz;
	return s->formats;
}
