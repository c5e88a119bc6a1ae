/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writing a snapshot: metadata chunks are packed straight into the output buffer, in file order. Events go through a chunker,
 * perhaps in threads; before anything else is written, its chunks that have ended are. So the same calls give the same file,
 * whatever the number of threads.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/faulted.h"
#include "base/schema/facts.h"
#include "base/text/memfile.h"
#include "read/snapfile/chunker.h"
#include "read/snapfile/newfile.h"
#include "read/snapfile/pack.h"
#include "read/snapfile/snapfile_format.h"
#include "read/snapfile/snapfile_members.h"
#include "read/snapfile/snapfile_put.h"
#include "read/snapfile/snapfile_rows.h"
#include "sys/threads.h"

#define RAW_MAX_SZ FR_LAP_MAX_SZ
#define RAW_MIN_SZ (64u << 10) /* smaller chunks compress badly */
#define OUT_SZ	   (512u << 10)
#define INDEX_CNT  4096u

struct fr_snap_writer {
	struct fr_newfile *file;
	struct fr_pack *pack;
	struct fr_chunker *chunker;	/* NULL until there are events */
	size_t raw_cap;			/* its */
	u32 jobs;			/* its */
	const struct fr_schema *schema; /* the caller's; NULL until put */
	struct fr_memfile facts;	/* open: to be written before whatever comes next */
	u8 *content;
	u8 *out;
	size_t out_sz, out_cap;
	u64 off; /* position of out[0] in the file */
	u64 file_id;
	fr_snap_lap_fn watch; /* or NULL */
	void *watch_arg;
	struct fr_index_entry *index;
	u32 chunk_cnt, index_cap;
	bool begun; /* the file header is written */
	int err;    /* the first failure; nothing is written after it */
};

static u64 snapfile_hash_of(const void *p, size_t sz)
{
	return XXH64(p, sz, 0);
}

/* ---- output ---- */

static int snapfile_fail(struct fr_snap_writer *w, int err)
{
	if (!w->err)
		w->err = err;
	return err;
}

static int flush(struct fr_snap_writer *w)
{
	int err = fr_newfile_write(w->file, w->out, w->out_sz);

	if (err)
		return snapfile_fail(w, err);
	w->off += w->out_sz;
	w->out_sz = 0;
	return 0;
}

/* What output takes, when there is some. */
static int have_memory(struct fr_snap_writer *w)
{
	int err = w->err;

	if (w->out || err)
		return w->out ? 0 : err;
	w->content = fr_faulted(FR_CONTENT_BUF_SZ);
	w->index = fr_faulted(INDEX_CNT * sizeof(*w->index));
	w->out = fr_faulted(w->out_cap);
	if (!w->content || !w->index || !w->out)
		err = -ENOMEM;
	err = err ?: fr_pack_new(w->content, FR_CONTENT_BUF_SZ, w->out, &w->pack);
	return err ? snapfile_fail(w, err) : 0;
}

/* sz bytes of output buffer, for the caller to fill in and count. NULL: out of order. */
static u8 *snapfile_room(struct fr_snap_writer *w, size_t sz)
{
	if (w->err || have_memory(w) || (w->out_sz + sz > w->out_cap && flush(w)))
		return NULL;
	if (sz > w->out_cap) {
		snapfile_fail(w, -ENOBUFS);
		return NULL;
	}
	return w->out + w->out_sz;
}

static struct fr_part_head part_head(const struct fr_snap_writer *w, u32 magic, const char *tag, size_t sz)
{
	struct fr_part_head h = {.magic = magic, .sz = sz - 8, .file_id = w->file_id};

	memcpy(h.tag, tag, FR_TAG_SZ);
	return h;
}

/* The file header contains the schema's hash: write it when that is known, before the first chunk. */
static int put_file_head(struct fr_snap_writer *w, u64 schema_hash)
{
	struct fr_file_head h = {.minor = FR_FORMAT_MINOR, .schema_hash = schema_hash};
	u8 *p = snapfile_room(w, sizeof(h));

	if (!p)
		return w->err;
	h.part = part_head(w, FR_FILE_MAGIC, FR_FILE_TAG, sizeof(h));
	h.hash = snapfile_hash_of(&h, sizeof(h) - 8);
	memcpy(p, &h, sizeof(h));
	w->out_sz += sizeof(h);
	w->begun = true;
	return 0;
}

/* ---- chunks ---- */

/* The kind's own part of a chunk header. */
struct extra {
	const struct fr_events_head *events;
	const struct fr_lap_rows *lap;
};

static size_t extra_sz(const struct extra *x)
{
	return x ? sizeof(*x->events) + x->events->lap_cnt * sizeof(struct fr_lap_entry) : 0;
}

static void snapfile_put_extra(u8 *p, const struct extra *x)
{
	u32 i;

	memcpy(p, x->events, sizeof(*x->events));
	p += sizeof(*x->events);
	for (i = 0; i < x->events->lap_cnt; i++, p += sizeof(struct fr_lap_entry)) {
		struct fr_lap_entry e = {x->lap[i].seq, x->lap[i].row_cnt, x->lap[i].damaged_pages};

		memcpy(p, &e, sizeof(e));
	}
}

static int snapfile_note_chunk(struct fr_snap_writer *w, u16 kind, u32 head_sz)
{
	if (w->chunk_cnt == w->index_cap) {
		void *p = realloc(w->index, 2 * w->index_cap * sizeof(*w->index));

		if (!p)
			return snapfile_fail(w, -ENOMEM);
		w->index = p;
		w->index_cap *= 2;
	}
	w->index[w->chunk_cnt++] = (struct fr_index_entry){.file_off = w->off + w->out_sz, .kind = kind, .head_sz = head_sz};
	return 0;
}

static size_t head_sz(const struct extra *x)
{
	return sizeof(struct fr_chunk_head) + extra_sz(x) + 8;
}

/* Fill in the header, at p, of a chunk whose content of sz bytes is stored. */
static void snapfile_put_head(const struct fr_snap_writer *w, u8 *p, u16 kind, size_t sz, const void *stored, size_t stored_sz,
			      const struct extra *x)
{
	struct fr_chunk_head h = {
		.part = part_head(w, FR_CHUNK_MAGIC, FR_CHUNK_TAG, head_sz(x)),
		.kind = kind,
		.nr = w->chunk_cnt - 1,
		.decoded_sz = sz,
		.stored_sz = stored_sz,
		.stored_hash = snapfile_hash_of(stored, stored_sz),
	};
	u64 hash;

	memcpy(p, &h, sizeof(h));
	if (x)
		snapfile_put_extra(p + sizeof(h), x);
	hash = snapfile_hash_of(p, head_sz(x) - 8);
	memcpy(p + head_sz(x) - 8, &hash, 8);
}

/* Room for a chunk's header and sz bytes more, and its entry in the index. NULL: out of order. */
static u8 *begin_chunk(struct fr_snap_writer *w, u16 kind, const struct extra *x, size_t sz)
{
	u8 *p;

	if (!w->begun && put_file_head(w, 0))
		return NULL;
	p = snapfile_room(w, head_sz(x) + sz);
	return !p || snapfile_note_chunk(w, kind, head_sz(x)) ? NULL : p;
}

/* Pack content into the output buffer, after its header. */
static int snapfile_put_chunk(struct fr_snap_writer *w, u16 kind, const void *content, size_t sz)
{
	u8 *p = begin_chunk(w, kind, NULL, fr_pack_bound(sz));
	size_t stored_sz;
	int err;

	if (!p)
		return w->err;
	err = fr_pack(w->pack, content, sz, p + head_sz(NULL), &stored_sz);
	if (err)
		return snapfile_fail(w, err);
	snapfile_put_head(w, p, kind, sz, p + head_sz(NULL), stored_sz, NULL);
	w->out_sz += head_sz(NULL) + stored_sz;
	return 0;
}

static int snapfile_put_bytes(struct fr_snap_writer *w, const void *buf, size_t sz)
{
	const u8 *src = buf;

	while (sz) {
		size_t n = sz < OUT_SZ ? sz : OUT_SZ;
		u8 *p = snapfile_room(w, n);

		if (!p)
			return w->err;
		memcpy(p, src, n);
		w->out_sz += n;
		src += n;
		sz -= n;
	}
	return 0;
}

/* ---- events ---- */

static struct fr_events_head events_head(const struct fr_rows *r, bool context)
{
	return (struct fr_events_head){
		.epoch = r->epoch,
		.cpu = r->cpu,
		.tier = r->tier,
		.flags = context ? FR_EVENTS_CONTEXT : 0,
		.first_seq = r->run[0].seq,
		.last_seq = r->run[r->run_cnt - 1].seq,
		.first_off = r->run[0].off,
		.row_cnt = r->cnt,
		.first_ts = r->ts[0],
		.last_ts = r->ts[r->cnt - 1],
		.raw_sz = r->rec_sz,
		.ring_sz = r->ring_sz < r->rec_sz ? r->ring_sz : 0,
		.lap_cnt = r->lap_cnt,
	};
}

static int snapfile_put_events(struct fr_snap_writer *w, const struct fr_chunked *c)
{
	const struct fr_events_head events = events_head(c->rows, c->context);
	const struct extra x = {&events, c->rows->lap};
	u8 *p = begin_chunk(w, FR_CHUNK_EVENTS, &x, 0);

	if (!p)
		return w->err;
	snapfile_put_head(w, p, FR_CHUNK_EVENTS, c->content_sz, c->packed, c->packed_sz, &x);
	w->out_sz += head_sz(&x);
	return snapfile_put_bytes(w, c->packed, c->packed_sz);
}

/* Tell of the laps that a chunk has. */
static void tell_laps(const struct fr_snap_writer *w, const struct fr_chunked *c)
{
	struct fr_snap_lap_rows got = {.rows = c->rows};
	u32 i;

	if (!w->watch)
		return;
	for (i = 0; i < c->tag_cnt; i++) {
		got.tag = c->tag[i];
		got.from = got.to;
		got.to += c->rows->lap[i].row_cnt;
		got.damaged_pages = c->rows->lap[i].damaged_pages;
		w->watch(w->watch_arg, &got);
	}
}

/* Write the oldest chunk that has ended. 1; 0: there is none. */
static int put_oldest(struct fr_snap_writer *w)
{
	struct fr_chunked c;
	int ret = w->chunker ? fr_chunker_take(w->chunker, &c) : 0;

	if (!ret)
		return 0;
	if (ret > 0) {
		if (c.rows->cnt && snapfile_put_events(w, &c))
			ret = w->err;
		tell_laps(w, &c);
	}
	fr_chunker_release(w->chunker);
	return ret < 0 ? snapfile_fail(w, ret) : 1;
}

/* Write all chunks that have ended. */
static int snapfile_put_ended(struct fr_snap_writer *w)
{
	int ret;

	while ((ret = put_oldest(w)) > 0)
		;
	return ret;
}

int fr_snap_settle(struct fr_snap_writer *w)
{
	if (w->chunker)
		fr_chunker_end(w->chunker);
	return w->err ? w->err : snapfile_put_ended(w);
}

void fr_snap_watch_laps(struct fr_snap_writer *w, fr_snap_lap_fn fn, void *arg)
{
	w->watch = fn;
	w->watch_arg = arg;
}

/* ---- metadata ---- */

/* Facts come one by one and are written together. */
static int put_pending_facts(struct fr_snap_writer *w)
{
	char *text;
	size_t sz;
	int err;

	if (!w->facts.f)
		return 0;
	text = fr_memfile_end(&w->facts, &sz);
	if (!text)
		return snapfile_fail(w, -ENOMEM);
	err = snapfile_put_ended(w) ?: snapfile_put_chunk(w, FR_CHUNK_FACTS, text, sz);
	free(text);
	return err;
}

int fr_snap_put_content(struct fr_snap_writer *w, u16 kind, const void *content, size_t sz)
{
	int err = w->err ? w->err : put_pending_facts(w);

	err = err ? err : snapfile_put_ended(w);
	return err ? err : snapfile_put_chunk(w, kind, content, sz);
}

void *fr_snap_content_buf(struct fr_snap_writer *w)
{
	return have_memory(w) ? NULL : w->content;
}

/* ---- laps and rows ---- */

static int have_chunker(struct fr_snap_writer *w)
{
	int err;

	if (w->chunker)
		return 0;
	err = fr_chunker_new(w->raw_cap, w->jobs, &w->chunker);
	if (err)
		return snapfile_fail(w, err);
	fr_chunker_use_schema(w->chunker, w->schema);
	return 0;
}

/* For what the chunker has no room for just now: 0, try again; or -errno. */
static int snapfile_make_room(struct fr_snap_writer *w)
{
	int ret = put_oldest(w);

	return ret < 0 ? ret : 0;
}

int fr_snap_put_lap(struct fr_snap_writer *w, const struct fr_snap_lap *lap, u64 since_ns)
{
	const struct fr_rows_lap l = {lap->buf, lap->sz, lap->epoch, lap->cpu, lap->tier, lap->seq, 0, lap->secrets};
	int err = w->err;

	if (!w->schema)
		return -EINVAL;
	if (!err)
		err = put_pending_facts(w) ?: have_chunker(w);
	while (!err && (err = fr_chunker_put_lap(w->chunker, &l, since_ns, lap->tag)) == -EAGAIN)
		err = snapfile_make_room(w);
	return err;
}

int fr_snap_put_row(struct fr_snap_writer *w, const struct fr_row *row, u64 seq, u32 off, bool context)
{
	int err = w->err;

	if (!w->schema)
		return -EINVAL;
	if (!err)
		err = put_pending_facts(w) ?: have_chunker(w);
	while (!err && (err = fr_chunker_put_row(w->chunker, row, seq, off, context)) == -EAGAIN)
		err = snapfile_make_room(w);
	return err;
}

/* ---- schema and facts ---- */

int fr_snap_put_schema(struct fr_snap_writer *w, const struct fr_schema *s)
{
	size_t sz;
	char *text = fr_schema_write(s, &sz);
	int err;

	if (!text)
		return snapfile_fail(w, -ENOMEM);
	err = w->begun ? 0 : put_file_head(w, snapfile_hash_of(text, sz));
	if (!err)
		err = fr_snap_put_content(w, FR_CHUNK_SCHEMA, text, sz);
	free(text);
	w->schema = s;
	if (w->chunker)
		fr_chunker_use_schema(w->chunker, s);
	return err;
}

int fr_snap_put_fact(struct fr_snap_writer *w, const char *name, const char *fmt, ...)
{
	char *value = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&value, fmt, ap);
	va_end(ap);
	if (len < 0)
		return snapfile_fail(w, -ENOMEM);
	if (w->facts.f || fr_memfile_open(&w->facts))
		fr_facts_put_text(w->facts.f, name, value);
	else
		snapfile_fail(w, -ENOMEM);
	free(value);
	return w->err;
}

/* ---- the end ---- */

static int put_index(struct fr_snap_writer *w)
{
	size_t entries_sz = w->chunk_cnt * sizeof(*w->index);
	struct fr_index_head h = {.cnt = w->chunk_cnt};
	XXH64_state_t *state = XXH64_createState();
	u64 hash;

	if (!state)
		return snapfile_fail(w, -ENOMEM);
	h.part = part_head(w, FR_INDEX_MAGIC, FR_INDEX_TAG, sizeof(h) + entries_sz + 8);
	XXH64_reset(state, 0);
	XXH64_update(state, &h, sizeof(h));
	XXH64_update(state, w->index, entries_sz);
	hash = XXH64_digest(state);
	XXH64_freeState(state);
	snapfile_put_bytes(w, &h, sizeof(h));
	snapfile_put_bytes(w, w->index, entries_sz);
	return snapfile_put_bytes(w, &hash, 8);
}

static int snapfile_put_end(struct fr_snap_writer *w)
{
	u64 index_off = w->off + w->out_sz;
	struct fr_trailer t = {.index_off = index_off, .chunk_cnt = w->chunk_cnt};
	int err = put_index(w);

	if (err)
		return err;
	t.part = part_head(w, FR_TRAILER_MAGIC, FR_TRAILER_TAG, sizeof(t));
	t.file_sz = w->off + w->out_sz + sizeof(t);
	t.hash = snapfile_hash_of(&t, sizeof(t) - 8);
	return snapfile_put_bytes(w, &t, sizeof(t));
}

static void free_writer(struct fr_snap_writer *w)
{
	if (w->facts.f)
		free(fr_memfile_end(&w->facts, NULL));
	fr_pack_free(w->pack);
	fr_chunker_free(w->chunker);
	free(w->content);
	free(w->out);
	free(w->index);
	free(w);
}

static int new_file_id(struct fr_snap_writer *w)
{
	return getrandom(&w->file_id, sizeof(w->file_id), 0) == sizeof(w->file_id) ? 0 : -errno;
}

/* Write everything that is still missing. */
static int end_snapshot(struct fr_snap_writer *w)
{
	int err = fr_snap_settle(w);

	if (!err)
		err = put_pending_facts(w);
	if (!err && !w->begun)
		err = put_file_head(w, 0);
	if (!err)
		err = snapfile_put_end(w);
	return err ? err : flush(w);
}

int fr_snap_next_member(struct fr_snap_writer *w)
{
	int err = end_snapshot(w);

	if (err)
		return err;
	w->off = 0;
	w->chunk_cnt = 0;
	w->begun = false;
	w->schema = NULL;
	err = new_file_id(w);
	return err ? snapfile_fail(w, err) : 0;
}

int fr_snap_finish(struct fr_snap_writer *w)
{
	int err = end_snapshot(w);

	if (err)
		fr_newfile_abort(w->file);
	else
		err = fr_newfile_finish(w->file);
	free_writer(w);
	return err;
}

void fr_snap_abort(struct fr_snap_writer *w)
{
	if (!w)
		return;
	fr_newfile_abort(w->file);
	free_writer(w);
}

/* ---- the beginning ---- */

static size_t out_cap(void)
{
	return FR_HEAD_MAX_SZ + fr_pack_bound(FR_CONTENT_BUF_SZ) + OUT_SZ;
}

static size_t mem_sz(size_t raw_cap, u32 jobs)
{
	return sizeof(struct fr_snap_writer) + fr_chunker_mem_sz(raw_cap, jobs) + FR_CONTENT_BUF_SZ + out_cap() +
	       fr_pack_mem_sz(FR_CONTENT_BUF_SZ) + INDEX_CNT * sizeof(struct fr_index_entry);
}

size_t fr_snap_writer_sz(u32 jobs)
{
	return mem_sz(jobs > 1 ? FR_SNAP_JOBS_LAP_SZ : RAW_MAX_SZ, jobs);
}

/* The largest laps that budget_sz allows; 0: none. */
static size_t fit_raw_cap(size_t budget_sz, u32 jobs)
{
	size_t cap;

	for (cap = RAW_MAX_SZ; cap >= RAW_MIN_SZ && mem_sz(cap, jobs) > budget_sz; cap /= 2)
		;
	return cap >= RAW_MIN_SZ ? cap : 0;
}

/* Set up everything but the file. */
static int new_writer(size_t raw_cap, u32 jobs, struct fr_snap_writer **out)
{
	struct fr_snap_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->raw_cap = raw_cap;
	w->jobs = jobs;
	w->out_cap = out_cap();
	w->index_cap = INDEX_CNT;
	err = new_file_id(w);
	if (err)
		free_writer(w);
	else
		*out = w;
	return err;
}

/* 0 and *out, without a file yet. */
static int writer_within(const char *path, size_t budget_sz, u32 jobs, struct fr_snap_writer **out)
{
	size_t raw_cap = fit_raw_cap(budget_sz, jobs);
	int err;

	if (!raw_cap) {
		fr_err("cannot write %s: a memory budget of %zu bytes is too small: give at least %zu", path, budget_sz,
		       mem_sz(RAW_MIN_SZ, jobs));
		return -ENOBUFS;
	}
	err = new_writer(raw_cap, jobs, out);
	if (err)
		fr_err("cannot write %s: %s: free some memory", path, strerror(-err));
	return err;
}

int fr_snap_create_on(int fd, const char *what, size_t budget_sz, u32 jobs, struct fr_snap_writer **out)
{
	struct fr_snap_writer *w;
	int err = writer_within(what, budget_sz, jobs, &w);

	if (err)
		return err;
	err = fr_newfile_on(fd, what, &w->file);
	if (err)
		free_writer(w);
	else
		*out = w;
	return err;
}

int fr_snap_create(const char *path, size_t budget_sz, u32 jobs, struct fr_snap_writer **out)
{
	/* How our files begin: only leftovers that begin so are removed. */
	struct fr_part_head begin = {.magic = FR_FILE_MAGIC, .sz = sizeof(struct fr_file_head) - 8};
	struct fr_snap_writer *w;
	int err = writer_within(path, budget_sz, jobs, &w);

	if (err)
		return err;
	memcpy(begin.tag, FR_FILE_TAG, FR_TAG_SZ);
	err = fr_newfile_create(path, &begin, offsetof(struct fr_part_head, file_id), &w->file);
	if (err)
		free_writer(w);
	else
		*out = w;
	return err;
}

int fr_snap_create_for_rows(const char *path, struct fr_snap_writer **out)
{
	u32 jobs = fr_threads_most() > 1 ? 2 : 1;

	return fr_snap_create(path, fr_snap_writer_sz(jobs), jobs, out);
}
