/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace-cmd: a trace.dat file, version 6 (trace-cmd.dat.v6(5)), for `trace-cmd report` and KernelShark.
 *
 *	head	magic, page size, texts of the page's and the events' formats, kernel symbols, names of tasks, options
 *	CPUs	one after the other, each the pages of its events: u64 time, u64 size, then per event
 *		u32 {type_len:5, delta:27}, data; a delta over 27 bits comes before, in an event of its own
 *
 * The head says where each CPU's pages are and which names tasks had, and the pages of a CPU are contiguous. But events come in
 * time order. So pages go into a spool, where those of a CPU are linked by the next one's number, and head and pages are
 * written at the end: memory does not grow with the file, and output to a pipe works.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text/escape.h"
#include "base/text/memfile.h"
#include "read/snapfile/spool.h"
#include "show/export/export_gaps.h"
#include "show/export/export_tracecmd.h"
#include "version.h"

#define PAGE_BYTES   4096u
#define PAGE_HEAD_SZ 16u
#define ROOM_SZ	     (PAGE_BYTES - PAGE_HEAD_SZ)
#define SLOT_SZ	     (8u + PAGE_BYTES) /* in the spool: number of the CPU's next slot, page */
#define TID_BLOCK    1024u

#define TYPE_TIME_EXTEND 30u
#define TYPE_LEN_MAX	 28u
#define DELTA_BITS	 27u
#define MISSED_EVENTS	 (1u << 31) /* in a page's size: some are missing before it */

enum { OPTION_DONE = 0, OPTION_TRACECLOCK = 4, OPTION_UNAME = 5, OPTION_VERSION = 9 };

struct cpu {
	u64 slot;  /* of the page being filled */
	u64 first; /* its first slot */
	u64 page_cnt;
	u64 ts; /* of the last event */
	u32 len;
	bool begun;
	u8 page[PAGE_BYTES];
};

struct tracecmd {
	int spool_fd; /* -1: none */
	u64 slot_cnt;
	struct cpu *cpu;
	u32 cpu_cnt;
	const struct fr_schema *schema; /* the schema that event belongs to */
	struct fr_trc_event event[FR_TRC_EVENT_CNT];
	u64 begin_ns; /* of the window */
	u64 **seen;   /* blocks of times: a tid's last event */
	const struct fr_view *view;
	struct fr_pbuf head;
};

/* ---- pages ---- */

static int flush_page(struct tracecmd *t, struct cpu *c)
{
	u64 next = t->slot_cnt++, size;
	int err;

	memcpy(&size, c->page + 8, sizeof(size));
	size |= c->len;
	memcpy(c->page + 8, &size, sizeof(size));
	memset(c->page + PAGE_HEAD_SZ + c->len, 0, ROOM_SZ - c->len);
	err = fr_spool_write(t->spool_fd, &next, sizeof(next), c->slot * SLOT_SZ);
	err = err ?: fr_spool_write(t->spool_fd, c->page, PAGE_BYTES, c->slot * SLOT_SZ + 8);
	c->slot = next;
	c->len = 0;
	c->page_cnt++;
	return err;
}

static void begin_page(struct tracecmd *t, struct cpu *c, u64 ts, u64 flags)
{
	if (!c->begun)
		c->slot = c->first = t->slot_cnt++;
	c->begun = true;
	c->ts = ts;
	memcpy(c->page, &ts, sizeof(ts));
	memcpy(c->page + 8, &flags, sizeof(flags));
}

static void tracecmd_put_word(struct cpu *c, u32 w)
{
	memcpy(c->page + PAGE_HEAD_SZ + c->len, &w, sizeof(w));
	c->len += sizeof(w);
}

/* sz is a multiple of 4. */
static void tracecmd_put_event(struct cpu *c, u64 ts, const u8 *data, u32 sz)
{
	u64 delta = ts - c->ts;

	if (delta >> DELTA_BITS) {
		tracecmd_put_word(c, TYPE_TIME_EXTEND | (u32)delta << 5);
		tracecmd_put_word(c, delta >> DELTA_BITS);
		delta = 0;
	}
	if (sz / 4 <= TYPE_LEN_MAX) {
		tracecmd_put_word(c, sz / 4 | (u32)delta << 5);
	} else {
		tracecmd_put_word(c, (u32)delta << 5);
		tracecmd_put_word(c, sz + 4);
	}
	memcpy(c->page + PAGE_HEAD_SZ + c->len, data, sz);
	c->len += sz;
	c->ts = ts;
}

/* ---- rows ---- */

static void tracecmd_bind_all(struct tracecmd *t, const struct fr_schema *s, const struct fr_tps *tps)
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		if (fr_schema_event(s, nr))
			fr_trc_bind(&t->event[nr], fr_schema_event(s, nr), tps);
	}
	t->schema = s;
}

static int tracecmd_see(struct tracecmd *t, u32 tid, u64 ts)
{
	u64 **block = &t->seen[(tid & FR_TID_MASK) / TID_BLOCK];

	if (!*block)
		*block = calloc(TID_BLOCK, sizeof(**block));
	if (!*block)
		return -ENOMEM;
	(*block)[tid % TID_BLOCK] = ts + 1;
	return 0;
}

static int tracecmd_row(struct fr_export *x, const struct fr_view *v, const struct fr_row *r)
{
	struct tracecmd *t = x->state;
	u8 data[FR_TRC_DATA_MAX + 16];
	struct cpu *c;
	u64 missed = 0;
	u32 sz;
	int err;

	if (r->cpu >= t->cpu_cnt)
		return -EBADMSG;
	if (v->schema != t->schema && t->schema)
		return -EPROTO; /* one file holds events of one layout only */
	c = &t->cpu[r->cpu];
	t->view = v;
	sz = fr_trc_put(&t->event[r->ev->nr], v, r, data);
	data[FR_TRC_FLAGS_AT] = fr_export_flags(x, r);
	err = tracecmd_see(t, r->tid, r->ts);
	if (fr_export_passes_gap(x, r->cpu, r->ts))
		missed = MISSED_EVENTS; /* tell the reader by a separate page */
	if (!err && c->len && (missed || c->len + sz + 16 > ROOM_SZ))
		err = flush_page(t, c);
	if (err)
		return err;
	if (!c->len)
		begin_page(t, c, r->ts, missed);
	tracecmd_put_event(c, r->ts, data, sz);
	x->event_cnt++;
	return 0;
}

/* Whose a process is, at the beginning: of the idle task, so that nobody seems to do anything. */
static int tracecmd_put_whose(void *arg, const struct fr_export_whose *w)
{
	struct tracecmd *t = arg;
	struct cpu *c = &t->cpu[0];
	u8 data[FR_TRC_DATA_MAX + 16];
	u32 sz = fr_trc_put_whose(&t->event[FR_TRC_WHOSE], w, data);
	int err = c->len && c->len + sz + 16 > ROOM_SZ ? flush_page(t, c) : 0;

	if (err)
		return err;
	if (!c->len)
		begin_page(t, c, t->begin_ns, 0);
	tracecmd_put_event(c, t->begin_ns, data, sz);
	return 0;
}

/* ---- head ---- */

static int tracecmd_put(struct fr_pbuf *b, const void *p, size_t sz)
{
	if (fr_pbuf_room(b, sz + 1))
		return -ENOMEM;
	if (sz)
		memcpy(b->p + b->len, p, sz);
	b->len += sz;
	return 0;
}

static int tracecmd_put_num(struct fr_pbuf *b, u64 v, size_t sz)
{
	return tracecmd_put(b, &v, sz);
}

/* The output of a function, preceded by its size in size_sz bytes. */
typedef void (*text_fn)(FILE *f, const void *arg);

static int tracecmd_put_text(struct fr_pbuf *b, size_t size_sz, text_fn write, const void *arg)
{
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	char *text;
	size_t sz;
	int err;

	if (!f)
		return -ENOMEM;
	write(f, arg);
	text = fr_memfile_end(&m, &sz);
	err = text ? tracecmd_put_num(b, sz, size_sz) : -ENOMEM;
	err = err ?: tracecmd_put(b, text, sz);
	free(text);
	return err;
}

static void write_string(FILE *f, const void *arg)
{
	fputs(arg, f);
}

static void write_format(FILE *f, const void *arg)
{
	fr_trc_format(f, arg);
}

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

static const char header_event[] = "# compressed entry header\n"
				   "\ttype_len    :    5 bits\n"
				   "\ttime_delta  :   27 bits\n"
				   "\tarray       :   32 bits\n"
				   "\n"
				   "\tpadding     : type == 29\n"
				   "\ttime_extend : type == 30\n"
				   "\ttime_stamp : type == 31\n"
				   "\tdata max type_len  == 28\n";

static int put_begin(struct fr_pbuf *b)
{
	static const char magic[] = "\x17\x08\x44tracing6";
	int err = tracecmd_put(b, magic, sizeof(magic));

	err = err ?: tracecmd_put_num(b, 0, 1); /* little-endian */
	err = err ?: tracecmd_put_num(b, 8, 1);
	err = err ?: tracecmd_put_num(b, PAGE_BYTES, 4);
	err = err ?: tracecmd_put(b, "header_page", 12);
	err = err ?: tracecmd_put_text(b, 8, write_string, header_page);
	err = err ?: tracecmd_put(b, "header_event", 13);
	err = err ?: tracecmd_put_text(b, 8, write_string, header_event);
	return err ?: tracecmd_put_num(b, 0, 4); /* no events of the function tracers */
}

/* Is this event the first of its system? *cnt: how many events that has. */
static bool begins_system(const struct tracecmd *t, u32 nr, u32 *cnt)
{
	u32 i;

	*cnt = 0;
	for (i = 0; i < FR_TRC_EVENT_CNT; i++) {
		bool same = t->event[i].ev && !strcmp(t->event[i].system, t->event[nr].system);

		if (same && i < nr)
			return false;
		*cnt += same;
	}
	return true;
}

static int tracecmd_put_system(const struct tracecmd *t, struct fr_pbuf *b, u32 nr, u32 cnt)
{
	const char *system = t->event[nr].system;
	int err = tracecmd_put(b, system, strlen(system) + 1);
	u32 i;

	err = err ?: tracecmd_put_num(b, cnt, 4);
	for (i = nr; i < FR_TRC_EVENT_CNT && !err; i++) {
		if (t->event[i].ev && !strcmp(t->event[i].system, system))
			err = tracecmd_put_text(b, 8, write_format, &t->event[i]);
	}
	return err;
}

static int put_formats(const struct tracecmd *t, struct fr_pbuf *b)
{
	u32 nr, cnt, system_cnt = 0;
	int err;

	for (nr = 0; nr < FR_TRC_EVENT_CNT; nr++)
		system_cnt += t->event[nr].ev && begins_system(t, nr, &cnt);
	err = tracecmd_put_num(b, system_cnt, 4);
	for (nr = 0; nr < FR_TRC_EVENT_CNT && !err; nr++) {
		if (t->event[nr].ev && begins_system(t, nr, &cnt))
			err = tracecmd_put_system(t, b, nr, cnt);
	}
	return err;
}

static void write_masked(FILE *f, const char *s, size_t sz)
{
	char part[256];
	size_t len = sz < sizeof(part) ? sz : sizeof(part);

	memcpy(part, s, len);
	fr_escape_mask(part, len);
	fwrite(part, 1, len, f);
}

/* "tid name" lines: each task has its name from its last event. */
static void write_names(FILE *f, const void *arg)
{
	const struct tracecmd *t = arg;
	u32 tid;

	for (tid = 1; tid <= FR_TID_MASK; tid++) {
		const u64 *block = t->seen[tid / TID_BLOCK];
		struct fr_who who;

		if (!block) {
			tid |= TID_BLOCK - 1;
			continue;
		}
		if (!block[tid % TID_BLOCK])
			continue;
		who = fr_names_who(t->view->names, tid, block[tid % TID_BLOCK] - 1, 0);
		if (!who.comm || !who.len)
			continue;
		fprintf(f, "%u ", tid);
		write_masked(f, who.comm, who.len);
		fputc('\n', f);
	}
}

static bool is_symbol_written(const struct fr_snap_symbol *y)
{
	return *y->name && !strpbrk(y->name, " \t\n[]");
}

/*
 * Readers give an address the last name before it. The file has names for a few functions only: where the next one does not
 * follow at once, a name ends what it ends.
 */
static void write_end_of_symbol(FILE *f, const struct fr_snap_symbol *y, const struct fr_snap_symbol *next)
{
	if (y->sz && y->addr + y->sz > y->addr && (!next || !is_symbol_written(next) || next->addr > y->addr + y->sz))
		fprintf(f, "%016llx t unknown\n", y->addr + y->sz);
}

/* Like /proc/kallsyms; names come from a file. */
static void write_symbols(FILE *f, const void *arg)
{
	size_t cnt, i;
	const struct fr_snap_symbol *y = fr_snap_symbols(arg, &cnt);

	for (i = 0; i < cnt && !y[i].pid; i++) {
		if (!is_symbol_written(&y[i]))
			continue;
		fprintf(f, "%016llx t ", y[i].addr);
		write_masked(f, y[i].name, strlen(y[i].name));
		if (y[i].module && *y[i].module && !strpbrk(y[i].module, " \t\n[]")) {
			fputs("\t[", f);
			write_masked(f, y[i].module, strlen(y[i].module));
			fputc(']', f);
		}
		fputc('\n', f);
		write_end_of_symbol(f, &y[i], i + 1 < cnt && !y[i + 1].pid ? &y[i + 1] : NULL);
	}
}

static void write_uname(FILE *f, const void *arg)
{
	static const char *const name[] = {"host", "kernel", "arch"};
	const struct fr_snap *s = arg;
	const char *fact;
	u32 i;

	fputs("Linux", f);
	for (i = 0; i < 3; i++) {
		fact = fr_snap_fact(s, name[i]) ?: "unknown";
		fputc(' ', f);
		write_masked(f, fact, strnlen(fact, 200));
	}
	fputc(0, f);
}

/* trace-cmd reads an option up to its NUL, whatever its size says. */
static void write_ended(FILE *f, const void *arg)
{
	fputs(arg, f);
	fputc(0, f);
}

static int put_option(struct fr_pbuf *b, u32 option, text_fn write, const void *arg)
{
	int err = tracecmd_put_num(b, option, 2);

	return err ?: tracecmd_put_text(b, 4, write, arg);
}

/* The clock of the times: the one in brackets. */
static const char clock_text[] = "[mono]";

static int tracecmd_put_options(struct fr_pbuf *b, const struct fr_export *x)
{
	int err = tracecmd_put(b, "options  ", 10);

	err = err ?: put_option(b, OPTION_TRACECLOCK, write_ended, clock_text);
	err = err ?: put_option(b, OPTION_UNAME, write_uname, x->snap);
	err = err ?: put_option(b, OPTION_VERSION, write_ended, "flightrec " FR_VERSION);
	return err ?: tracecmd_put_num(b, OPTION_DONE, 2);
}

/* Where each CPU's pages will be; the head is padded to a whole page. */
static int put_places(struct tracecmd *t, struct fr_pbuf *b)
{
	u64 end = b->len + 10 + t->cpu_cnt * 16ull + 8 + sizeof(clock_text) - 1, at;
	int err = tracecmd_put(b, "flyrecord", 10);
	u32 i;

	at = end = (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	for (i = 0; i < t->cpu_cnt && !err; i++) {
		err = tracecmd_put_num(b, at, 8);
		err = err ?: tracecmd_put_num(b, t->cpu[i].page_cnt * PAGE_BYTES, 8);
		at += t->cpu[i].page_cnt * PAGE_BYTES;
	}
	err = err ?: tracecmd_put_text(b, 8, write_string, clock_text);
	if (err || fr_pbuf_room(b, PAGE_BYTES))
		return err ?: -ENOMEM;
	memset(b->p + b->len, 0, end - b->len);
	b->len = end;
	return 0;
}

static int tracecmd_put_head(struct tracecmd *t, const struct fr_export *x)
{
	struct fr_pbuf *b = &t->head;
	int err = put_begin(b);

	err = err ?: put_formats(t, b);
	err = err ?: tracecmd_put_text(b, 4, write_symbols, x->snap);
	err = err ?: tracecmd_put_num(b, 0, 4); /* formats of trace_printk() */
	err = err ?: tracecmd_put_text(b, 8, write_names, t);
	err = err ?: tracecmd_put_num(b, t->cpu_cnt, 4);
	err = err ?: tracecmd_put_options(b, x);
	return err ?: put_places(t, b);
}

/* ---- lifetime ---- */

static int tracecmd_begin(struct fr_export *x)
{
	struct tracecmd *t = calloc(1, sizeof(*t));
	u64 end_ns;

	x->state = t;
	if (!t)
		return -ENOMEM;
	t->spool_fd = -1;
	t->cpu_cnt = fr_export_cpu_cnt(x);
	t->cpu = calloc(t->cpu_cnt, sizeof(*t->cpu));
	t->seen = calloc((FR_TID_MASK + 1) / TID_BLOCK, sizeof(*t->seen));
	if (!t->cpu || !t->seen)
		return -ENOMEM;
	tracecmd_bind_all(t, fr_replay_schema(x->replay, 0), fr_replay_view(x->replay, 0)->tps);
	fr_trc_bind_whose(&t->event[FR_TRC_WHOSE]);
	fr_replay_window(x->replay, &t->begin_ns, &end_ns);
	t->spool_fd = fr_spool_open(x->path);
	return t->spool_fd < 0 ? t->spool_fd : fr_export_each_whose(x, tracecmd_put_whose, t);
}

static int copy_pages(struct fr_export *x, const struct tracecmd *t, const struct cpu *c)
{
	u64 slot = c->first, i;
	u8 buf[SLOT_SZ];
	int err;

	for (i = 0; i < c->page_cnt; i++) {
		err = fr_spool_read(t->spool_fd, buf, SLOT_SZ, slot * SLOT_SZ);
		if (err)
			return err;
		fr_out_mem(x->out, buf + 8, PAGE_BYTES);
		memcpy(&slot, buf, sizeof(slot));
	}
	return fr_out_error(x->out);
}

static int tracecmd_end(struct fr_export *x)
{
	struct tracecmd *t = x->state;
	int err = 0;
	u32 i;

	for (i = 0; i < t->cpu_cnt && !err; i++)
		err = t->cpu[i].len ? flush_page(t, &t->cpu[i]) : 0;
	err = err ?: tracecmd_put_head(t, x);
	if (err)
		return err;
	fr_out_mem(x->out, t->head.p, t->head.len);
	for (i = 0; i < t->cpu_cnt && !err; i++)
		err = copy_pages(x, t, &t->cpu[i]);
	return err;
}

static void tracecmd_release(struct fr_export *x)
{
	struct tracecmd *t = x->state;
	u32 i;

	if (!t)
		return;
	for (i = 0; t->seen && i < (FR_TID_MASK + 1) / TID_BLOCK; i++)
		free(t->seen[i]);
	if (t->spool_fd >= 0)
		close(t->spool_fd);
	free(t->seen);
	free(t->cpu);
	free(t->head.p);
}

const struct fr_exporter fr_export_tracecmd = {
	.name = "trace-cmd",
	.doc = "trace.dat, version 6: trace-cmd report, KernelShark",
	.binary = true,
	.one_session = true,
	.whose = true,
	.begin = tracecmd_begin,
	.row = tracecmd_row,
	.end = tracecmd_end,
	.release = tracecmd_release,
};
