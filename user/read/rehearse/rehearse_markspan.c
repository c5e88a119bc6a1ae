/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rehearse_markspan: from flightrec_begin() to flightrec_end(), as bpf/trigger/markspan.bpf.c measures it, by the same
 * bpf/markspan.h.
 *
 * What differs: a process is known by its pid, until it ends; its user is not known, so all have one; and there is room for as
 * many as are begun.
 */
#include "markspan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/hash.h"
#include "read/rehearse/rehearse_int.h"

struct open_span {
	struct fr_markspan_key key;
	struct fr_markspan span;
};

struct fr_re_span {
	struct fr_idmap open;  /* by the hash of the key */
	struct fr_idmap begun; /* processes that have begun something, by their pids */
	bool no_memory;
};

/* ---- the table ---- */

static u64 span_hash(const struct fr_markspan_key *key)
{
	return fr_hash(FR_HASH_SEED, key, sizeof(*key));
}

static struct fr_markspan *fr_markspan_find(void *table, const struct fr_markspan_key *key)
{
	struct open_span *o = fr_idmap_find(&((struct fr_re_span *)table)->open, span_hash(key));

	return o ? &o->span : NULL;
}

static u32 fr_markspan_again(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span)
{
	struct fr_markspan *was = fr_markspan_find(table, key);

	if (was)
		*was = *span;
	return was != NULL;
}

static u32 fr_markspan_put(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span)
{
	struct fr_re_span *s = table;
	struct open_span *o = fr_idmap_get(&s->open, span_hash(key));

	s->no_memory |= !o || !fr_idmap_get(&s->begun, span->pid);
	if (o)
		*o = (struct open_span){*key, *span};
	return o != NULL;
}

static u32 fr_markspan_drop(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span)
{
	fr_idmap_drop(&((struct fr_re_span *)table)->open, span_hash(key));
	return span != NULL;
}

static u32 fr_markspan_has_begun(void *table, const struct fr_markspan_who *who)
{
	return fr_idmap_find(&((struct fr_re_span *)table)->begun, who->pid) != NULL;
}

/* ---- life ---- */

int fr_re_span_new(struct fr_re_span **out)
{
	struct fr_re_span *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	fr_idmap_init(&s->open, sizeof(struct open_span));
	fr_idmap_init(&s->begun, sizeof(u32));
	*out = s;
	return 0;
}

void fr_re_span_free(struct fr_re_span *s)
{
	if (s) {
		fr_idmap_free(&s->open);
		fr_idmap_free(&s->begun);
	}
	free(s);
}

void fr_re_span_forget(struct fr_re_span *s)
{
	fr_idmap_clear(&s->open);
	fr_idmap_clear(&s->begun);
}

/* ---- rows ---- */

static struct fr_markspan_who span_who(const struct fr_re *re, const struct fr_row *r)
{
	struct fr_who who = fr_names_who(re->view->names, r->tid, r->ts, r->cpu);

	return (struct fr_markspan_who){.tid = r->tid, .pid = who.pid > 0 ? (u32)who.pid : r->tid};
}

static bool span_is_asked(const struct fr_re *re, u64 name)
{
	u32 i;

	for (i = 0; i < re->h->rule_cnt; i++)
		if (fr_rule_is_for_span(&re->h->bpf[i], name))
			return true;
	return false;
}

static int span_mark(struct fr_re *re, struct fr_re_span *sp, const struct fr_re_schema *s, bool begins, const struct fr_row *r)
{
	const struct fr_re_mark *mark = fr_re_mark(s, r);
	struct fr_re_took t = {.latency = FR_LATENCY_span, .now_ns = r->ts, .named_ns = r->ts, .tid = r->tid, .cpu = r->cpu};
	struct fr_val v = fr_view_field(re->view, r, mark->name);
	struct fr_markspan_who who = span_who(re, r);
	u64 id = fr_row_num(r, mark->id), name;
	char text[FR_ALERT_PATH_MAX];

	if (v.kind != FR_VAL_TEXT || v.len >= sizeof(text) || (mark->faulted && fr_row_num(r, mark->faulted)))
		return 0;
	memcpy(text, v.text, v.len);
	text[v.len] = 0;
	name = fr_trigger_span(text);
	if (!span_is_asked(re, name))
		return 0;
	if (begins) {
		fr_markspan_begins(sp, &who, name, id, r->ts);
		return sp->no_memory ? -ENOMEM : 0;
	}
	t.value_ns = fr_markspan_ends(sp, &who, name, id, r->ts);
	t.id = name;
	t.what = id;
	t.text = text;
	return fr_re_took(re, &t);
}

static bool span_is_of_process(void *arg, u64 key, void *record)
{
	const struct fr_markspan_who *who = arg;

	(void)key;
	return fr_markspan_is_of(&((struct open_span *)record)->span, who->pid, 0);
}

static int span_exit(struct fr_re *re, struct fr_re_span *sp, const struct fr_re_schema *s, const struct fr_row *r)
{
	struct fr_markspan_who who = span_who(re, r);
	u32 i;

	if (!sp->begun.cnt)
		return 0;
	for (i = 0; i < re->h->rule_cnt; i++)
		if (re->h->bpf[i].span)
			fr_markspan_thread_ends(sp, &who, re->h->bpf[i].span);
	if (fr_re_num(s, r, FR_RE_EXIT, 1)) {
		fr_idmap_sweep(&sp->open, span_is_of_process, &who);
		fr_idmap_drop(&sp->begun, who.pid);
	}
	return 0;
}

int fr_re_span_row(struct fr_re *re, struct fr_re_span *sp, const struct fr_re_schema *s, enum fr_re_what what,
		   const struct fr_row *r)
{
	return what == FR_RE_EXIT ? span_exit(re, sp, s, r) : span_mark(re, sp, s, what == FR_RE_SPAN_BEGIN, r);
}
