/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * list_print: one line per snapshot; its core file, and what is wrong with it, are indented below. File names come last and are
 * never cut: if a terminal is too narrow for them, they get a line of their own.
 *
 *	TIME                 REASON  COMM   PID   SIGNAL       SIZE  KEPT  FILE
 *	2026-11-21 13:02:40  crash   nginx  4711  SIGSEGV   1.2 MiB        web1-20261121T120240.123Z-crash-nginx-4711.flight
 *	                     core /var/lib/systemd/coredump/core.nginx...zst
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/schema/sysnames.h"
#include "base/text/escape.h"
#include "base/text/jsonw.h"
#include "base/text/units.h"
#include "cmd/list.h"

/* What its columns are of. */
struct list_page {
	const char *dir;
	const struct fr_stored *s;
	size_t cnt;
};

static const struct fr_stored *list_stored(const struct fr_at *at)
{
	return at->rec;
}

static const char *list_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- values ---- */

/* A text that may be empty: not known. */
static struct fr_value list_text(const struct fr_at *at)
{
	const char *text = *(char *const *)((const char *)at->rec + at->column->off);

	return fr_value_text(text && *text ? text : NULL);
}

static struct fr_value list_signal(const struct fr_at *at)
{
	s32 sig = list_stored(at)->sig;
	const char *name = fr_signal_name(sig);

	if (sig && !name)
		snprintf(at->room->text, sizeof(at->room->text), "%d", sig);
	return fr_value_text(!sig ? NULL : name ?: at->room->text);
}

static struct fr_value list_status(const struct fr_at *at)
{
	const struct fr_stored *s = list_stored(at);

	return s->exited ? fr_value_nr(s->status) : fr_value_null();
}

static struct fr_value list_error(const struct fr_at *at)
{
	s32 err = list_stored(at)->err;

	return fr_value_text(err ? strerror(-err) : NULL);
}

/* ---- in text ---- */

static struct fr_value list_when(const struct fr_at *at)
{
	time_t secs = list_stored(at)->real_ns / FR_SEC_NS;
	struct tm tm;

	localtime_r(&secs, &tm);
	strftime(at->room->text, sizeof(at->room->text), "%Y-%m-%d %H:%M:%S", &tm);
	return fr_value_text(at->room->text);
}

/* A thread may have a name of its own, from which nobody knows the program: "pool-3 (server)". */
static struct fr_value list_task(const struct fr_at *at)
{
	const struct fr_stored *s = list_stored(at);
	const char *program = list_base_name(s->exe);

	if (!*program || !*s->comm || strlen(s->comm) >= FR_COMM_SZ || !strncmp(program, s->comm, strlen(s->comm)))
		return fr_value_text(s->comm);
	snprintf(at->room->text, sizeof(at->room->text), "%s (%.40s)", s->comm, program);
	return fr_value_text(at->room->text);
}

/* How it ended: by a signal, or on its own. */
static struct fr_value list_end(const struct fr_at *at)
{
	const struct fr_stored *s = list_stored(at);

	if (s->sig || !s->exited)
		return list_signal(at);
	snprintf(at->room->text, sizeof(at->room->text), "status %u", s->status);
	return fr_value_text(at->room->text);
}

static struct fr_value list_pid(const struct fr_at *at)
{
	return list_stored(at)->pid ? fr_value_nr(list_stored(at)->pid) : fr_value_null();
}

static struct fr_value list_kept(const struct fr_at *at)
{
	return fr_value_text(list_stored(at)->marked ? "kept" : "");
}

static struct fr_value list_name(const struct fr_at *at)
{
	return fr_value_text(list_base_name(list_stored(at)->path));
}

static enum fr_paint paint_bold(const struct fr_at *at)
{
	(void)at;
	return FR_PAINT_BOLD;
}

static enum fr_paint paint_red(const struct fr_at *at)
{
	(void)at;
	return FR_PAINT_RED;
}

static enum fr_paint paint_green(const struct fr_at *at)
{
	(void)at;
	return FR_PAINT_GREEN;
}

/* ---- the kinds ---- */

/* clang-format off */
#define STORED(member, name, unit, meaning, ...) FR_COLUMN(struct fr_stored, member, name, unit, meaning, __VA_ARGS__)
/* clang-format on */

static const struct fr_column stored_columns[] = {
	STORED(path, "file", TEXT, "path of a snapshot, below `dir`; the oldest comes first",
	       FR_TEXT(8, "FILE", 0, .lead = "  ", .say = list_name)),
	STORED(real_ns, "real_ns", WALL, "the moment it was taken for", FR_TEXT(1, "TIME", -1, .say = list_when)),
	STORED(reason, "reason", TEXT, "why it was taken", FR_TEXT(2, "REASON", -1, .lead = "  ", .paint = paint_bold)),
	STORED(comm, "comm", TEXT, "the task it is about; `null`: none", .get = list_text,
	       FR_TEXT(3, "COMM", -1, .lead = "  ", .say = list_task)),
	STORED(exe, "exe", TEXT, "its program; `null`: not known", .get = list_text),
	STORED(pid, "pid", NUMBER, "its process; 0: none", FR_TEXT(4, "PID", 1, .lead = "  ", .say = list_pid, .none = "")),
	STORED(sig, "sig", NUMBER, "the signal; 0: none"),
	FR_COLUMN_MADE(list_signal, "signal", TEXT, "its name; `null`: none",
		       FR_TEXT(5, "SIGNAL", -1, .lead = "  ", .say = list_end, .none = "", .paint = paint_red)),
	FR_COLUMN_MADE(list_status, "status", NUMBER, "the exit status, if it was taken for one (`exit:STATUS`); else `null`"),
	STORED(sz, "bytes", SIZE, "of the file", FR_TEXT(6, "SIZE", 1, .lead = "  ", .none = "0 B")),
	STORED(marked, "kept", BOOL, "it is marked: no quota removes it",
	       FR_TEXT(7, "KEPT", -1, .lead = "  ", .say = list_kept, .paint = paint_green)),
	STORED(boot_id, "boot_id", TEXT, "identifies the boot; `null`: not known", .get = list_text),
	STORED(core, "core", TEXT, "path of the core file of the same death; `null`: none"),
	STORED(damage, "damage", TEXT,
	       "what is wrong with the file's structure; `null`: nothing. Events are not read: `verify` checks them"),
	FR_COLUMN_MADE(list_error, "error", TEXT,
		       "why it could not be read; `null`: it could. Else only what its name says is known"),
	{},
};

static const struct fr_table stored_kind = {"snapshot", "A snapshot in a directory.", stored_columns};

static const void *list_snapshot(const struct fr_at *at, u32 i)
{
	const struct list_page *p = at->of;

	return i < p->cnt ? &p->s[i] : NULL;
}

static const struct fr_column page_columns[] = {
	FR_COLUMN(struct list_page, dir, "dir", TEXT, "the directory, as given"),
	FR_LIST(list_snapshot, "snapshots", &stored_kind, NULL),
	{},
};

const struct fr_table fr_stored_dir = {"list", "The snapshots of a directory.", page_columns};

/* ---- lines ---- */

static void put_below(struct fr_out *o, u32 indent, const char *what, const char *text, enum fr_paint p)
{
	fr_out_pad(o, 0, indent);
	fr_out_paint(o, p);
	fr_out_str(o, what);
	fr_escape_text(o, text, strlen(text));
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_char(o, '\n');
}

/* Below a line, behind the time. */
static void put_more(struct fr_out *o, const struct fr_layout *l, const struct fr_stored *s, bool own_line)
{
	u32 indent = abs(l->col[0].width) + 2;

	if (own_line)
		put_below(o, indent, "", list_base_name(s->path), FR_PAINT_NONE);
	if (s->core)
		put_below(o, indent, "core ", s->core, FR_PAINT_DIM);
	if (s->damage)
		put_below(o, indent, "damaged: ", s->damage, FR_PAINT_RED);
	if (s->err)
		put_below(o, indent, "cannot be read: ", strerror(-s->err), FR_PAINT_RED);
}

/* The columns that the longest file name takes. */
static u32 longest_name(const struct list_page *p)
{
	static struct fr_out nowhere = {.fd = -1};
	u32 widest = 0, cols;
	size_t i;

	for (i = 0; i < p->cnt; i++) {
		const char *name = list_base_name(p->s[i].path);

		nowhere.len = 0;
		nowhere.error = 0;
		cols = fr_escape_text(&nowhere, name, strlen(name));
		if (cols > widest)
			widest = cols;
	}
	return widest;
}

static void put_snapshots(struct fr_out *o, const struct list_page *p)
{
	u32 columns = isatty(o->fd) ? fr_out_columns(o) : 0; /* a pipe is never too narrow */
	struct fr_layout l;
	bool own_line;
	size_t i;

	fr_layout_init(&l, &stored_kind, columns);
	l.indent = "";
	for (i = 0; i < p->cnt; i++)
		fr_layout_widen(&l, p, &p->s[i]);
	own_line = columns && fr_layout_width(&l) + longest_name(p) > columns;
	if (own_line)
		l.cnt--; /* the last column is the name */
	fr_layout_head(&l, o);
	for (i = 0; i < p->cnt; i++) {
		fr_layout_row(&l, o, p, &p->s[i]);
		put_more(o, &l, &p->s[i], own_line);
	}
}

void fr_list_text(struct fr_out *o, const char *dir, const struct fr_stored *s, size_t cnt)
{
	struct list_page p = {.dir = dir, .s = s, .cnt = cnt};
	size_t i, marked = 0;
	char size[32];
	u64 sz = 0;

	if (cnt)
		put_snapshots(o, &p);
	for (i = 0; i < cnt; i++) {
		sz += s[i].sz;
		marked += s[i].marked;
	}
	fr_out_printf(o, "%zu snapshot%s, %zu kept, %s in ", cnt, fr_plural(cnt), marked, fr_show_size(sz, size, sizeof(size)));
	fr_escape_text(o, dir, strlen(dir));
	fr_out_char(o, '\n');
}

void fr_list_json(struct fr_out *o, const char *dir, const struct fr_stored *s, size_t cnt)
{
	struct list_page p = {.dir = dir, .s = s, .cnt = cnt};

	fr_json_line(o, &fr_stored_dir, &p, &p);
}
