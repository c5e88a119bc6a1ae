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
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/schema/sysnames.h"
#include "base/text/escape.h"
#include "base/text/jsonw.h"
#include "base/text/units.h"
#include "cmd/list.h"

#define TIME_W 21 /* "2026-11-21 13:02:40  " */

enum col { REASON, COMM, PID, SIGNAL, SIZE, KEPT, COL_CNT };

static const char *const heads[COL_CNT] = {"REASON", "COMM", "PID", "SIGNAL", "SIZE", "KEPT"};

/* A snapshot's texts, by column. They come from recorded programs and may hold any byte, so they are escaped when printed. */
struct row {
	char num[COL_CNT][64];
	const char *text[COL_CNT];
};

static const char *signal_text(s32 sig, char *buf, size_t sz)
{
	const char *name = sig ? fr_signal_name(sig) : "";

	if (name)
		return name;
	snprintf(buf, sz, "%d", sig);
	return buf;
}

/* How it ended: by a signal, or on its own. */
static const char *end_text(const struct fr_stored *s, char *buf, size_t sz)
{
	if (s->sig || !s->exited)
		return signal_text(s->sig, buf, sz);
	snprintf(buf, sz, "status %u", s->status);
	return buf;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A thread may have a name of its own, from which nobody knows the program: "pool-3 (server)". */
static const char *comm_text(const struct fr_stored *s, char *buf, size_t sz)
{
	const char *program = base_name(s->exe);

	if (!*program || !*s->comm || strlen(s->comm) >= FR_COMM_SZ || !strncmp(program, s->comm, strlen(s->comm)))
		return s->comm;
	snprintf(buf, sz, "%s (%.40s)", s->comm, program);
	return buf;
}

static void fill_row(struct row *r, const struct fr_stored *s)
{
	memset(r, 0, sizeof(*r));
	if (s->pid)
		snprintf(r->num[PID], sizeof(r->num[PID]), "%u", s->pid);
	r->text[REASON] = s->reason;
	r->text[COMM] = comm_text(s, r->num[COMM], sizeof(r->num[COMM]));
	r->text[PID] = r->num[PID];
	r->text[SIGNAL] = end_text(s, r->num[SIGNAL], sizeof(r->num[SIGNAL]));
	r->text[SIZE] = fr_show_size(s->sz, r->num[SIZE], sizeof(r->num[SIZE]));
	r->text[KEPT] = s->marked ? "kept" : "";
}

/* The columns that a text takes once it is escaped. */
static size_t text_width(const char *text)
{
	static struct fr_out nowhere = {.fd = -1};

	nowhere.len = 0;
	nowhere.error = 0;
	return fr_escape_text(&nowhere, text, strlen(text));
}

static void find_widths(const struct fr_stored *s, size_t cnt, size_t width[COL_CNT])
{
	struct row r;
	size_t i, w;
	int c;

	for (c = 0; c < COL_CNT; c++)
		width[c] = strlen(heads[c]);
	for (i = 0; i < cnt; i++) {
		fill_row(&r, &s[i]);
		for (c = 0; c < COL_CNT; c++) {
			w = text_width(r.text[c]);
			if (w > width[c])
				width[c] = w;
		}
	}
}

static bool is_right(int c)
{
	return c == PID || c == SIZE;
}

static void put_cell(struct fr_out *o, const char *text, size_t width, bool right)
{
	if (right)
		fr_out_pad(o, text_width(text), width);
	fr_out_pad(o, fr_escape_text(o, text, strlen(text)), right ? 0 : width);
	fr_out_str(o, "  ");
}

static void put_time(struct fr_out *o, u64 real_ns)
{
	time_t secs = real_ns / FR_SEC_NS;
	char buf[32];
	struct tm tm;

	localtime_r(&secs, &tm);
	strftime(buf, sizeof(buf), "%Y-%m-%d %H:%M:%S  ", &tm);
	fr_out_str(o, buf);
}

static void put_below(struct fr_out *o, const char *what, const char *text, enum fr_paint p)
{
	fr_out_pad(o, 0, TIME_W);
	fr_out_paint(o, p);
	fr_out_str(o, what);
	fr_escape_text(o, text, strlen(text));
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_char(o, '\n');
}

static void put_row(struct fr_out *o, const struct fr_stored *s, const size_t width[COL_CNT], bool own_line)
{
	const char *name = base_name(s->path);
	struct row r;
	int c;

	fill_row(&r, s);
	put_time(o, s->real_ns);
	for (c = 0; c < COL_CNT; c++) {
		fr_out_paint(o, c == REASON ? FR_PAINT_BOLD : c == SIGNAL ? FR_PAINT_RED : c == KEPT ? FR_PAINT_GREEN : 0);
		put_cell(o, r.text[c], width[c], is_right(c));
		fr_out_paint(o, FR_PAINT_NONE);
	}
	if (own_line) {
		fr_out_char(o, '\n');
		put_below(o, "", name, FR_PAINT_NONE);
	} else {
		fr_escape_text(o, name, strlen(name));
		fr_out_char(o, '\n');
	}
	if (s->core)
		put_below(o, "core ", s->core, FR_PAINT_DIM);
	if (s->damage)
		put_below(o, "damaged: ", s->damage, FR_PAINT_RED);
	if (s->err)
		put_below(o, "cannot be read: ", strerror(-s->err), FR_PAINT_RED);
}

static void put_heads(struct fr_out *o, const size_t width[COL_CNT], bool own_line)
{
	int c;

	fr_out_paint(o, FR_PAINT_DIM);
	fr_out_str(o, "TIME");
	fr_out_pad(o, 4, TIME_W);
	for (c = 0; c < COL_CNT; c++)
		put_cell(o, heads[c], width[c], is_right(c));
	fr_out_str(o, own_line ? "" : "FILE");
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_char(o, '\n');
}

/* Is the terminal too narrow for the widest line? A pipe never is. */
static bool needs_own_line(const struct fr_out *o, const struct fr_stored *s, size_t cnt, const size_t width[COL_CNT])
{
	size_t sum = TIME_W, widest = 0, i, w;
	u32 columns = isatty(o->fd) ? fr_out_columns(o) : 0;
	int c;

	if (!columns)
		return false;
	for (c = 0; c < COL_CNT; c++)
		sum += width[c] + 2;
	for (i = 0; i < cnt; i++) {
		w = text_width(base_name(s[i].path));
		if (w > widest)
			widest = w;
	}
	return sum + widest > columns;
}

void fr_list_text(struct fr_out *o, const char *dir, const struct fr_stored *s, size_t cnt)
{
	size_t width[COL_CNT], i, marked = 0;
	char size[32];
	u64 sz = 0;
	bool own_line = false;

	if (cnt) {
		find_widths(s, cnt, width);
		own_line = needs_own_line(o, s, cnt, width);
		put_heads(o, width, own_line);
	}
	for (i = 0; i < cnt; i++) {
		put_row(o, &s[i], width, own_line);
		sz += s[i].sz;
		marked += s[i].marked;
	}
	fr_out_printf(o, "%zu snapshot%s, %zu kept, %s in ", cnt, fr_plural(cnt), marked, fr_show_size(sz, size, sizeof(size)));
	fr_escape_text(o, dir, strlen(dir));
	fr_out_char(o, '\n');
}

/* ---- JSON ---- */

static void put_json(struct fr_jsonw *w, const struct fr_stored *s)
{
	char buf[16];

	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_text(w, "file", s->path);
	fr_jsonw_u64(w, "real_ns", s->real_ns);
	fr_jsonw_text(w, "reason", s->reason);
	fr_jsonw_text(w, "comm", s->comm[0] ? s->comm : NULL);
	fr_jsonw_text(w, "exe", s->exe[0] ? s->exe : NULL);
	fr_jsonw_u64(w, "pid", s->pid);
	fr_jsonw_s64(w, "sig", s->sig);
	fr_jsonw_text(w, "signal", s->sig ? signal_text(s->sig, buf, sizeof(buf)) : NULL);
	if (s->exited)
		fr_jsonw_u64(w, "status", s->status);
	else
		fr_jsonw_text(w, "status", NULL);
	fr_jsonw_u64(w, "bytes", s->sz);
	fr_jsonw_bool(w, "kept", s->marked);
	fr_jsonw_text(w, "boot_id", s->boot_id[0] ? s->boot_id : NULL);
	fr_jsonw_text(w, "core", s->core);
	fr_jsonw_text(w, "damage", s->damage);
	fr_jsonw_text(w, "error", s->err ? strerror(-s->err) : NULL);
	fr_jsonw_close(w, '}');
}

void fr_list_json(struct fr_out *o, const char *dir, const struct fr_stored *s, size_t cnt)
{
	struct fr_jsonw w = {.o = o};
	size_t i;

	fr_jsonw_open(&w, NULL, '{');
	fr_jsonw_text(&w, "dir", dir);
	fr_jsonw_open(&w, "snapshots", '[');
	for (i = 0; i < cnt; i++)
		put_json(&w, &s[i]);
	fr_jsonw_close(&w, ']');
	fr_jsonw_close(&w, '}');
	fr_out_char(o, '\n');
}
