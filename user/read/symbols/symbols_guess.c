/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Of a process that had ended nothing tells where its program and libraries were, only their build-ids. What the snapshot says
 * was executed, and what lies beside it, may be them. What was executed by a relative name is looked for where processes that
 * live are, where other programs are, and where the reader is.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/jsonr.h"
#include "base/text/path.h"
#include "read/elf/symguess.h"
#include "read/symbols/symbols_int.h"

#define NAME_MAX_CNT 256u /* names that were executed from somewhere */
#define DIR_MAX_CNT  64u
#define JOINED_SZ    4096u

/* Different texts, in order. */
struct texts {
	char *text[NAME_MAX_CNT];
	u32 cnt;
};

struct fr_symguesses {
	struct fr_symguess *beside, *symfs, *here;
	struct texts names; /* relative ones that were executed */
	struct texts dirs;  /* where that may have been */
};

static void guess_add_text(struct texts *t, u32 max, const char *text, size_t len)
{
	u32 i;

	for (i = 0; i < t->cnt; i++) {
		if (!strncmp(t->text[i], text, len) && !t->text[i][len])
			return;
	}
	if (t->cnt < max && len && !memchr(text, 0, len) && (t->text[t->cnt] = strndup(text, len)))
		t->cnt++;
}

static void guess_free_texts(struct texts *t)
{
	while (t->cnt)
		free(t->text[--t->cnt]);
}

static void add_path(struct fr_symguesses *g, const char *path, size_t len)
{
	if (g->symfs)
		fr_symguess_add(g->symfs, path, len);
	fr_symguess_add(g->here, path, len);
}

/* A program. One that is known by a relative name may lie where another one does. */
static void guess_add(struct fr_symguesses *g, const char *path, size_t len)
{
	const char *slash = len ? memrchr(path, '/', len) : NULL;

	if (!len || path[0] != '/') {
		guess_add_text(&g->names, NAME_MAX_CNT, path, len);
		return;
	}
	add_path(g, path, len);
	guess_add_text(&g->dirs, DIR_MAX_CNT, path, slash - path);
}

/* Each relative name in each directory; whether it is there, and the right one, is seen by its build-id. */
static void add_joined(struct fr_symguesses *g)
{
	char path[JOINED_SZ];
	u32 i, d;

	for (i = 0; i < g->names.cnt; i++) {
		for (d = 0; d < g->dirs.cnt; d++) {
			if (fr_path_join(path, sizeof(path), g->dirs.text[d], g->names.text[i]))
				add_path(g, path, strlen(path));
		}
	}
}

/* The user may be in the directory where the program was started. */
static void add_here(struct fr_symguesses *g)
{
	char *here = getcwd(NULL, 0);

	if (here && here[0] == '/')
		guess_add_text(&g->dirs, DIR_MAX_CNT, here, strlen(here));
	free(here);
}

/* {"pid":..,"exe":"..",...} a line */
static void guess_add_procs(struct fr_symguesses *g, const struct fr_snap *s)
{
	size_t sz;
	const char *line = fr_snap_procs(s, &sz), *end = line ? line + sz : NULL, *exe, *cwd, *why;
	struct fr_jsonr j;

	while (line && line < end) {
		const char *next = memchr(line, '\n', end - line);
		size_t len = (next ? next : end) - line;

		if (!fr_jsonr_parse(line, len, &j, &why)) {
			exe = fr_jsonr_text(&j, "exe", "");
			guess_add(g, exe, strlen(exe));
			cwd = fr_jsonr_text(&j, "cwd", "");
			if (cwd[0] == '/')
				guess_add_text(&g->dirs, DIR_MAX_CNT, cwd, strlen(cwd));
			fr_jsonr_free(&j);
		}
		line += len + 1;
	}
}

static void add_execs_of(struct fr_symguesses *g, const struct fr_batch *b)
{
	const struct fr_event *ev = fr_schema_find(b->schema, "sched_process_exec");
	const struct fr_field *f = ev ? fr_event_field(ev, "filename") : NULL;
	u32 i;

	for (i = 0; f && f->kind == FR_KIND_FIELD && f->type == FR_TYPE_str && i < b->row_cnt; i++) {
		struct fr_row r = fr_batch_row(b, i);
		size_t len;
		const char *path;

		if (r.ev != ev)
			continue;
		path = fr_row_text(&r, f, &len);
		guess_add(g, path, len);
	}
}

static void add_execs(struct fr_symguesses *g, const struct fr_snap *snap)
{
	struct fr_snap *s = (struct fr_snap *)snap; /* reading a chunk changes what is known of its damage, no more */
	struct fr_batch b = {};
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);

	for (i = 0; i < cnt; i++) {
		if (c[i].tier == FR_TIER_LIFE && !c[i].damaged && !fr_snap_read_chunk(s, i, &b))
			add_execs_of(g, &b);
	}
	fr_batch_free(&b);
}

struct fr_symguesses *fr_symguesses_new(const struct fr_snap *s, const struct fr_symbols_opts *opts)
{
	struct fr_symguesses *g = calloc(1, sizeof(*g));
	const char *exe = fr_snap_fact(s, "trigger_exe");

	if (!g)
		return NULL;
	g->here = fr_symguess_new(NULL);
	g->symfs = opts->symfs ? fr_symguess_new(opts->symfs) : NULL;
	g->beside = opts->beside ? fr_symguess_new(opts->beside) : NULL;
	if (!g->here || (opts->symfs && !g->symfs) || (opts->beside && !g->beside)) {
		fr_symguesses_free(g);
		return NULL;
	}
	if (g->beside)
		fr_symguess_add_dir(g->beside, "/");
	guess_add(g, exe ? exe : "", exe ? strlen(exe) : 0);
	add_here(g);
	guess_add_procs(g, s);
	add_execs(g, s);
	add_joined(g);
	return g;
}

void fr_symguesses_free(struct fr_symguesses *g)
{
	if (!g)
		return;
	fr_symguess_free(g->beside);
	fr_symguess_free(g->symfs);
	fr_symguess_free(g->here);
	guess_free_texts(&g->names);
	guess_free_texts(&g->dirs);
	free(g);
}

static const char *guess_find(struct fr_symguess *g, const struct fr_symwant *w, bool libraries)
{
	return g ? fr_symguess_find(g, w->build_id, w->build_id_sz, libraries) : NULL;
}

static int guess_err(const struct fr_symguesses *g)
{
	int err = g->symfs ? fr_symguess_err(g->symfs) : 0;

	err = err ?: fr_symguess_err(g->here);
	return err ?: (g->beside ? fr_symguess_err(g->beside) : 0);
}

/* What was executed first, then libraries, of which there are thousands. */
int fr_symguesses_look(struct fr_symguesses *g, struct fr_symobj *o)
{
	const char *path = guess_find(g->symfs, &o->want, false), *beside = guess_find(g->beside, &o->want, false);

	path = path ? path : guess_find(g->here, &o->want, false);
	if (!path && !beside) {
		path = guess_find(g->symfs, &o->want, true);
		path = path ? path : guess_find(g->here, &o->want, true);
	}
	if (beside)
		o->want.name = strrchr(beside, '/') + 1;
	if (!path && !beside)
		o->guess_err = guess_err(g);
	if (o->guess_err == -ENOMEM)
		return -ENOMEM;
	return path ? fr_symobj_set_path(o, path) : 0;
}
