/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading a snapshot. There is one way through a file, whole or damaged: part by part from its beginning, each checked by
 * its own hash; where something else stands, on to the next place that is a part of this file. The index then tells
 * whether all that was written has been found.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "io/pack.h"
#include "io/snapfile_lists.h"
#include "pure/columns.h"
#include "pure/facts.h"

#define DAMAGE_MAX     1000u	    /* findings told */
#define FACTS_MAX_SZ   (256u << 10) /* of all facts */
#define FACT_MAX_CNT   1000u
#define META_MAX_SZ    (64u << 20) /* of all metadata, decoded */
#define INDEX_MAX_CNT  (1u << 20)
#define CHUNK_MAX_CNT  (1u << 20)
#define WINDOW_SZ      (64u << 10) /* read at a time when looking for a part */
#define INDEX_PART_MAX (sizeof(struct fr_index_head) + INDEX_MAX_CNT * sizeof(struct fr_index_entry) + 8)
#define INDEX_PART_MIN (sizeof(struct fr_index_head) + 8)
#define CHUNK_PART_MIN (sizeof(struct fr_chunk_head) + 8)
#define TRAILER_SZ     sizeof(struct fr_trailer)

/* An array that grows. */
struct list {
	void *items;
	size_t cnt;
};

struct fact {
	char *name, *value;
};

/* What a chunk is decoded by, beside what the API shows of it. */
struct place {
	u64 stored_off, stored_hash, decoded_sz;
};

struct fr_snap {
	int fd;
	u64 size;
	u64 file_id;
	bool has_id; /* from the file's header, or where that is damaged from the first chunk's */
	u64 schema_hash;
	struct fr_schema *schema; /* the file's own, NULL: none read */
	const struct fr_schema *use;
	struct list tasks, rings, holes, clocks;
	struct list facts; /* struct fact */
	char *facts_text, *procs;
	size_t facts_sz, procs_sz;
	size_t meta_sz;
	struct fr_chunk *chunk; /* event chunks */
	struct place *place;
	size_t chunk_cnt;
	u64 *off; /* of all chunks */
	size_t off_cnt;
	char **damage;
	size_t damage_cnt;
	bool has_index, has_trailer;
	struct fr_unpack *unpack;
	u8 *stored, *content;
	size_t stored_cap, content_cap;
};

static u64 hash_of(const void *p, size_t sz)
{
	return XXH64(p, sz, 0);
}

/* ---- findings ---- */

__attribute__((format(printf, 2, 3))) static void note(struct fr_snap *s, const char *fmt, ...)
{
	char *text = NULL, **grown;
	va_list ap;
	int len;

	if (s->damage_cnt == DAMAGE_MAX)
		return;
	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	grown = realloc(s->damage, (s->damage_cnt + 1) * sizeof(*grown));
	if (grown)
		s->damage = grown;
	if (grown && len >= 0)
		s->damage[s->damage_cnt++] = text;
	else if (len >= 0)
		free(text);
}

size_t fr_snap_damage(const struct fr_snap *s)
{
	return s->damage_cnt;
}

const char *fr_snap_damage_text(const struct fr_snap *s, size_t i)
{
	return i < s->damage_cnt ? s->damage[i] : "";
}

/* ---- bytes ---- */

/* Read sz bytes at off, all of them. 0, -ENODATA where the file ends before, -errno. */
static int read_at(const struct fr_snap *s, u64 off, void *buf, size_t sz)
{
	u8 *p = buf;

	if (off > s->size || sz > s->size - off)
		return -ENODATA;
	while (sz) {
		ssize_t n = pread(s->fd, p, sz, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		p += n;
		off += n;
		sz -= n;
	}
	return 0;
}

static int grow(u8 **buf, size_t *cap, size_t sz)
{
	u8 *p;

	if (*cap >= sz)
		return 0;
	p = realloc(*buf, sz);
	if (!p)
		return -ENOMEM;
	*buf = p;
	*cap = sz;
	return 0;
}

/*
 * Read the part at off into s->stored and check it: magic, tag, file, a size of min to max bytes, hash. Returns its size, 0
 * if there is no such part there, -errno.
 */
static s64 read_part(struct fr_snap *s, u64 off, u32 magic, const char *tag, size_t min, size_t max)
{
	struct fr_part_head h;
	u64 sz;
	int err = read_at(s, off, &h, sizeof(h));

	if (err)
		return err == -ENODATA ? 0 : err;
	sz = (u64)h.sz + 8;
	if (h.magic != magic || memcmp(h.tag, tag, FR_TAG_SZ) || sz < min || sz > max || sz > s->size - off)
		return 0;
	if (s->has_id && h.file_id != s->file_id)
		return 0;
	err = grow(&s->stored, &s->stored_cap, sz);
	if (!err)
		err = read_at(s, off, s->stored, sz);
	if (err)
		return err == -ENODATA ? 0 : err;
	return hash_of(s->stored, sz - 8) == fr_get64(s->stored + sz - 8) ? (s64)sz : 0;
}

static void take_id(struct fr_snap *s)
{
	if (!s->has_id)
		memcpy(&s->file_id, s->stored + offsetof(struct fr_part_head, file_id), sizeof(s->file_id));
	s->has_id = true;
}

/* ---- the content of a chunk ---- */

/* May so much come out of so little? Asked before memory is taken. */
static bool size_is_sane(u64 stored_sz, u64 decoded_sz)
{
	if (!stored_sz || !decoded_sz || decoded_sz > FR_DECODED_MAX_SZ || stored_sz > 2 * FR_DECODED_MAX_SZ)
		return false;
	return decoded_sz <= FR_DECODED_FREE_SZ || (decoded_sz - FR_DECODED_FREE_SZ) / FR_DECODED_RATIO <= stored_sz;
}

/* Read a chunk's stored bytes to s->stored and check them. 0, -EBADMSG, -errno. */
static int read_stored(struct fr_snap *s, const struct place *p, u64 stored_sz)
{
	int err;

	if (!size_is_sane(stored_sz, p->decoded_sz))
		return -EBADMSG;
	err = grow(&s->stored, &s->stored_cap, stored_sz);
	if (!err)
		err = read_at(s, p->stored_off, s->stored, stored_sz);
	if (err)
		return err == -ENODATA ? -EBADMSG : err;
	return hash_of(s->stored, stored_sz) == p->stored_hash ? 0 : -EBADMSG;
}

/* The same, unpacked to s->content. */
static int read_content(struct fr_snap *s, const struct place *p, u64 stored_sz)
{
	int err = read_stored(s, p, stored_sz);

	if (!err)
		err = fr_unpack_check(s->stored, stored_sz, p->decoded_sz);
	if (!err)
		err = grow(&s->content, &s->content_cap, p->decoded_sz + FR_VARINT_SLACK_SZ);
	return err ? err : fr_unpack(s->unpack, s->stored, stored_sz, s->content, p->decoded_sz);
}

/* ---- metadata ---- */

static int add_text(char **text, size_t *sz, const u8 *more, size_t more_sz)
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
	if (s->facts_sz + sz > FACTS_MAX_SZ || memchr(s->content, 0, sz))
		return -EBADMSG;
	return add_text(&s->facts_text, &s->facts_sz, s->content, sz);
}

static struct list *list_of(struct fr_snap *s, u32 kind)
{
	switch (kind) {
	case FR_CHUNK_TASKS:
		return &s->tasks;
	case FR_CHUNK_RINGS:
		return &s->rings;
	case FR_CHUNK_HOLES:
		return &s->holes;
	default:
		return &s->clocks;
	}
}

static int add_items(struct fr_snap *s, const struct fr_list_kind *k, size_t sz)
{
	struct list *l = list_of(s, k->kind);
	size_t cnt;
	void *p;

	if (fr_list_check(s->content, sz, &cnt))
		return -EBADMSG;
	p = realloc(l->items, (l->cnt + cnt) * k->struct_sz + 1);
	if (!p)
		return -ENOMEM;
	l->items = p;
	fr_list_items(k, s->content, (char *)p + l->cnt * k->struct_sz);
	l->cnt += cnt;
	return 0;
}

static int set_schema(struct fr_snap *s, size_t sz)
{
	int err;

	if (s->schema)
		return 0; /* there is one; a second changes nothing */
	err = fr_schema_parse((const char *)s->content, sz, &s->schema);
	return err == -EINVAL ? -EBADMSG : err;
}

static int take_meta(struct fr_snap *s, u32 kind, const struct place *p, u64 stored_sz)
{
	u64 sz = p->decoded_sz;
	int err = read_content(s, p, stored_sz);

	if (err)
		return err;
	if (s->meta_sz + sz > META_MAX_SZ)
		return -EBADMSG;
	s->meta_sz += sz;
	if (kind == FR_CHUNK_SCHEMA)
		return set_schema(s, sz);
	if (kind == FR_CHUNK_FACTS)
		return add_facts(s, sz);
	if (kind == FR_CHUNK_PROCS)
		return add_text(&s->procs, &s->procs_sz, s->content, sz);
	return add_items(s, fr_list_kind(kind), sz);
}

static bool is_meta(u32 kind)
{
	return kind == FR_CHUNK_SCHEMA || kind == FR_CHUNK_FACTS || kind == FR_CHUNK_PROCS || fr_list_kind(kind);
}

/* ---- chunk headers ---- */

/* Does an event chunk's header make sense, as far as it can be told without the content? */
static bool events_are_sane(const struct fr_events_head *e, const u8 *laps, size_t head_sz, u64 decoded_sz)
{
	u64 rows = 0, seq = 0;
	u32 i;

	if (head_sz != sizeof(struct fr_chunk_head) + sizeof(*e) + e->lap_cnt * sizeof(struct fr_lap_entry) + 8)
		return false;
	for (i = 0; i < e->lap_cnt; i++) {
		struct fr_lap_entry lap;

		memcpy(&lap, laps + i * sizeof(lap), sizeof(lap));
		if (i && lap.seq <= seq)
			return false;
		seq = lap.seq;
		rows += lap.row_cnt;
	}
	return e->row_cnt && rows == e->row_cnt && e->row_cnt <= decoded_sz && e->raw_sz <= FR_RING_BYTES_MAX_SZ &&
	       (u64)e->row_cnt * FR_REC_MIN_SZ <= e->raw_sz && e->first_ts <= e->last_ts && e->first_seq <= e->last_seq;
}

static int keep_events(struct fr_snap *s, const struct fr_chunk_head *h, const struct fr_events_head *e, u64 off,
		       const struct place *place)
{
	struct fr_chunk *c;
	struct place *p;

	if (s->chunk_cnt == CHUNK_MAX_CNT)
		return -EBADMSG;
	c = realloc(s->chunk, (s->chunk_cnt + 1) * sizeof(*c));
	if (c)
		s->chunk = c;
	p = realloc(s->place, (s->chunk_cnt + 1) * sizeof(*p));
	if (p)
		s->place = p;
	if (!c || !p)
		return -ENOMEM;
	p[s->chunk_cnt] = *place;
	c[s->chunk_cnt++] = (struct fr_chunk){
		.file_off = off,
		.stored_sz = h->stored_sz,
		.raw_sz = e->raw_sz,
		.first_ts = e->first_ts,
		.last_ts = e->last_ts,
		.first_seq = e->first_seq,
		.last_seq = e->last_seq,
		.epoch = e->epoch,
		.row_cnt = e->row_cnt,
		.cpu = e->cpu,
		.tier = e->tier,
	};
	return 0;
}

static int take_events(struct fr_snap *s, const struct fr_chunk_head *h, size_t head_sz, u64 off, const struct place *p)
{
	const u8 *extra = s->stored + sizeof(*h);
	struct fr_events_head e;

	if (head_sz < sizeof(*h) + sizeof(e) + 8)
		return -EBADMSG;
	memcpy(&e, extra, sizeof(e));
	if (!events_are_sane(&e, extra + sizeof(e), head_sz, h->decoded_sz) || !size_is_sane(h->stored_sz, h->decoded_sz))
		return -EBADMSG;
	return keep_events(s, h, &e, off, p);
}

static int keep_off(struct fr_snap *s, u64 off)
{
	u64 *p = realloc(s->off, (s->off_cnt + 1) * sizeof(*p));

	if (!p)
		return -ENOMEM;
	s->off = p;
	s->off[s->off_cnt++] = off;
	return 0;
}

/* Take the chunk whose header is in s->stored. 0: *end is where the next part begins; -errno of the system. */
static int take_chunk(struct fr_snap *s, u64 off, size_t head_sz, u64 *end)
{
	struct fr_chunk_head h;
	struct place p;
	int err;

	memcpy(&h, s->stored, sizeof(h));
	p = (struct place){off + head_sz, h.stored_hash, h.decoded_sz};
	err = keep_off(s, off);
	if (err)
		return err;
	if (h.stored_sz > s->size - p.stored_off) {
		note(s, "chunk at byte %llu: the file ends within it", (unsigned long long)off);
		*end = p.stored_off; /* a later part may still follow where bytes were lost */
		return 0;
	}
	*end = p.stored_off + h.stored_sz;
	if (h.kind == FR_CHUNK_EVENTS)
		err = take_events(s, &h, head_sz, off, &p);
	else if (is_meta(h.kind))
		err = take_meta(s, h.kind, &p, h.stored_sz);
	else
		err = read_stored(s, &p, h.stored_sz); /* a later version's: skipped, and told if it is damaged */
	if (err != -EBADMSG)
		return err;
	note(s, "chunk at byte %llu: damaged", (unsigned long long)off);
	return 0;
}

/* ---- index and trailer ---- */

static bool found_chunk_at(const struct fr_snap *s, u64 off)
{
	size_t lo = 0, hi = s->off_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->off[mid] == off)
			return true;
		if (s->off[mid] < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

static void take_index(struct fr_snap *s, u64 off, size_t sz)
{
	struct fr_index_entry e;
	u32 i, cnt;

	memcpy(&cnt, s->stored + offsetof(struct fr_index_head, cnt), sizeof(cnt));
	s->has_index = true;
	if (sizeof(struct fr_index_head) + (u64)cnt * sizeof(e) + 8 != sz) {
		note(s, "index at byte %llu: its size is not its count", (unsigned long long)off);
		return;
	}
	for (i = 0; i < cnt; i++) {
		memcpy(&e, s->stored + sizeof(struct fr_index_head) + i * sizeof(e), sizeof(e));
		if (!found_chunk_at(s, e.file_off))
			note(s, "chunk at byte %llu: its header is damaged", (unsigned long long)e.file_off);
	}
	if (cnt != s->off_cnt)
		note(s, "index at byte %llu: %u chunks were written, %zu found", (unsigned long long)off, cnt, s->off_cnt);
}

static void take_trailer(struct fr_snap *s, u64 off)
{
	struct fr_trailer t;

	memcpy(&t, s->stored, sizeof(t));
	s->has_trailer = true;
	if (t.file_sz != s->size || t.file_sz != off + sizeof(t))
		note(s, "trailer at byte %llu: the file was written with %llu bytes and has %llu", (unsigned long long)off,
		     (unsigned long long)t.file_sz, (unsigned long long)s->size);
	if (t.chunk_cnt != s->off_cnt)
		note(s, "trailer at byte %llu: %u chunks were written, %zu found", (unsigned long long)off, t.chunk_cnt,
		     s->off_cnt);
	if (!s->has_index)
		note(s, "index at byte %llu: damaged", (unsigned long long)t.index_off);
}

/* ---- the way through ---- */

/* Is it a sound file of another major version, which must not be read by this one's rules? */
static bool is_other_version(struct fr_snap *s)
{
	char tag[FR_TAG_SZ];

	return !read_at(s, offsetof(struct fr_part_head, tag), tag, FR_TAG_SZ) && !memcmp(tag, FR_FILE_TAG, FR_TAG_SZ - 1) &&
	       memcmp(tag, FR_FILE_TAG, FR_TAG_SZ) &&
	       read_part(s, 0, FR_FILE_MAGIC, tag, sizeof(struct fr_part_head) + 8, FR_HEAD_MAX_SZ) > 0;
}

static int read_file_head(struct fr_snap *s, u64 *pos)
{
	s64 sz = read_part(s, 0, FR_FILE_MAGIC, FR_FILE_TAG, sizeof(struct fr_file_head), FR_HEAD_MAX_SZ);
	struct fr_file_head h;

	*pos = 0;
	if (sz < 0)
		return sz;
	if (!sz && is_other_version(s))
		return -EPROTONOSUPPORT;
	if (!sz) {
		note(s, "file header: damaged");
		return 0;
	}
	memcpy(&h, s->stored, sizeof(h));
	take_id(s);
	s->schema_hash = h.schema_hash;
	*pos = sz;
	return 0;
}

/* Take the part at pos, whatever it is. 1 and *end, 0 if there is none, -errno. */
static int take_part(struct fr_snap *s, u64 pos, u64 *end)
{
	s64 sz = read_part(s, pos, FR_CHUNK_MAGIC, FR_CHUNK_TAG, CHUNK_PART_MIN, FR_HEAD_MAX_SZ);
	int err;

	if (sz > 0) {
		take_id(s);
		err = take_chunk(s, pos, sz, end);
		return err ? err : 1;
	}
	if (!sz)
		sz = read_part(s, pos, FR_INDEX_MAGIC, FR_INDEX_TAG, INDEX_PART_MIN, INDEX_PART_MAX);
	if (sz > 0) {
		take_index(s, pos, sz);
		*end = pos + sz;
		return 1;
	}
	if (!sz)
		sz = read_part(s, pos, FR_TRAILER_MAGIC, FR_TRAILER_TAG, TRAILER_SZ, TRAILER_SZ);
	if (sz > 0) {
		take_trailer(s, pos);
		*end = pos + sz;
		return 1;
	}
	return sz;
}

/* The first place from pos on where a tag of ours stands where a part's would: *out, or the file's end. 0 or -errno. */
static int find_part(const struct fr_snap *s, u64 pos, u64 *out)
{
	static const size_t tag_off = offsetof(struct fr_part_head, tag);
	u8 buf[WINDOW_SZ];
	size_t n, i;
	int err;

	for (; pos < s->size; pos += n - tag_off - FR_TAG_SZ + 1) {
		n = s->size - pos < sizeof(buf) ? s->size - pos : sizeof(buf);
		err = read_at(s, pos, buf, n);
		if (err)
			return err;
		for (i = 0; i + tag_off + FR_TAG_SZ <= n; i++) {
			const u8 *tag = buf + i + tag_off;

			if (tag[0] == 'f' && (!memcmp(tag, FR_CHUNK_TAG, FR_TAG_SZ) || !memcmp(tag, FR_INDEX_TAG, FR_TAG_SZ) ||
					      !memcmp(tag, FR_TRAILER_TAG, FR_TAG_SZ))) {
				*out = pos + i;
				return 0;
			}
		}
		if (n < tag_off + FR_TAG_SZ || pos + n == s->size)
			break;
	}
	*out = s->size;
	return 0;
}

/* Is there a sound part at pos? */
static bool is_part(struct fr_snap *s, u64 pos)
{
	return read_part(s, pos, FR_CHUNK_MAGIC, FR_CHUNK_TAG, CHUNK_PART_MIN, FR_HEAD_MAX_SZ) > 0 ||
	       read_part(s, pos, FR_INDEX_MAGIC, FR_INDEX_TAG, INDEX_PART_MIN, INDEX_PART_MAX) > 0 ||
	       read_part(s, pos, FR_TRAILER_MAGIC, FR_TRAILER_TAG, TRAILER_SZ, TRAILER_SZ) > 0;
}

/* From pos, which is no part, to the next that is. 0 or -errno. */
static int skip_damage(struct fr_snap *s, u64 pos, u64 *end)
{
	u64 at = pos;
	int err;

	do {
		err = find_part(s, at + 1, &at);
		if (err)
			return err;
	} while (at < s->size && !is_part(s, at));
	note(s, "bytes %llu to %llu: not a part of a snapshot", (unsigned long long)pos, (unsigned long long)at - 1);
	*end = at;
	return 0;
}

static int read_parts(struct fr_snap *s)
{
	u64 pos = 0;
	int ret = read_file_head(s, &pos);

	while (ret >= 0 && pos < s->size) {
		u64 end = pos;

		ret = take_part(s, pos, &end);
		if (!ret)
			ret = skip_damage(s, pos, &end);
		pos = end;
	}
	if (ret >= 0 && !s->has_trailer)
		note(s, "incomplete: it does not end in a trailer, so it was cut, or its writer did not finish");
	return ret < 0 ? ret : 0;
}

/* ---- opening ---- */

static int split_facts(struct fr_snap *s)
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
	return 0;
}

/*
 * Which schema events are read by: the file's own; where it is lost, this build's, if it is the same by its hash. By
 * another one no event must be read.
 */
static int choose_schema(struct fr_snap *s)
{
	static const char none[] = "flightrec-schema 1\n";
	size_t sz;
	char *text;

	s->use = s->schema;
	if (s->schema)
		return 0;
	text = fr_schema_write(fr_schema_builtin(), &sz);
	if (text && s->schema_hash && s->schema_hash == hash_of(text, sz))
		s->use = fr_schema_builtin();
	free(text);
	if (s->use)
		return 0;
	note(s, "schema: lost, so no event can be read");
	if (fr_schema_parse(none, sizeof(none) - 1, &s->schema))
		return -ENOMEM;
	s->use = s->schema;
	return 0;
}

static int open_file(struct fr_snap *s, const char *path)
{
	struct stat st;

	s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (s->fd < 0 || fstat(s->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	s->size = st.st_size;
	return fr_unpack_new(&s->unpack);
}

static bool found_nothing(const struct fr_snap *s)
{
	return !s->off_cnt && !s->has_trailer;
}

int fr_snap_open(const char *path, struct fr_snap **out)
{
	struct fr_snap *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->fd = -1;
	err = open_file(s, path);
	if (!err)
		err = read_parts(s);
	if (!err && found_nothing(s))
		err = -EBADMSG;
	if (!err)
		err = choose_schema(s);
	if (!err)
		err = split_facts(s);
	if (err)
		fr_snap_close(s);
	else
		*out = s;
	return err;
}

static void free_facts(struct fr_snap *s)
{
	struct fact *f = s->facts.items;
	size_t i;

	for (i = 0; i < s->facts.cnt; i++) {
		free(f[i].name);
		free(f[i].value);
	}
	free(f);
	free(s->facts_text);
}

void fr_snap_close(struct fr_snap *s)
{
	size_t i;

	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free_facts(s);
	free(s->tasks.items);
	free(s->rings.items);
	free(s->holes.items);
	free(s->clocks.items);
	for (i = 0; i < s->damage_cnt; i++)
		free(s->damage[i]);
	free(s->damage);
	fr_schema_free(s->schema);
	fr_unpack_free(s->unpack);
	free(s->procs);
	free(s->chunk);
	free(s->place);
	free(s->off);
	free(s->stored);
	free(s->content);
	free(s);
}

/* ---- what was found ---- */

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

const struct fr_snap_clock *fr_snap_clocks(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->clocks.cnt;
	return s->clocks.items;
}

const char *fr_snap_procs(const struct fr_snap *s, size_t *sz)
{
	*sz = s->procs_sz;
	return s->procs;
}

const struct fr_chunk *fr_snap_chunks(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->chunk_cnt;
	return s->chunk;
}

u64 fr_snap_size(const struct fr_snap *s)
{
	return s->size;
}

static struct fr_rows_head rows_head(const struct fr_chunk *c)
{
	return (struct fr_rows_head){
		.epoch = c->epoch,
		.cpu = c->cpu,
		.tier = c->tier,
		.row_cnt = c->row_cnt,
		.raw_sz = c->raw_sz,
		.first_ts = c->first_ts,
		.last_ts = c->last_ts,
		.first_seq = c->first_seq,
		.last_seq = c->last_seq,
	};
}

/* Each chunk's finding is told once, however often it is read. */
static void note_chunk(struct fr_snap *s, struct fr_chunk *c, u32 unknown)
{
	if (c->damaged)
		return;
	c->damaged = true;
	if (unknown)
		note(s, "chunk at byte %llu: %u events are of types its schema does not know", (unsigned long long)c->file_off,
		     unknown);
	else
		note(s, "chunk at byte %llu: damaged, %u events are lost", (unsigned long long)c->file_off, c->row_cnt);
}

int fr_snap_read_chunk(struct fr_snap *s, size_t i, struct fr_batch *b)
{
	struct fr_chunk *c;
	struct fr_rows_head head;
	u32 unknown = 0;
	int err;

	if (i >= s->chunk_cnt)
		return -EINVAL;
	c = &s->chunk[i];
	head = rows_head(c);
	err = read_content(s, &s->place[i], c->stored_sz);
	if (!err)
		err = fr_decode_rows(s->use, &head, s->content, s->place[i].decoded_sz, b, &unknown);
	if (err == -EBADMSG || unknown)
		note_chunk(s, c, unknown);
	return err;
}
