/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading a snapshot: finding its parts. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/set/vec.h"
#include "read/snapfile/snapfile_int.h"

#define INDEX_MAX_CNT  (1u << 20)
#define WINDOW_SZ      (64u << 10) /* read at a time when looking for a part */
#define VAIN_SZ	       (64u << 20) /* read in vain, besides a file twice */
#define INDEX_PART_MAX (sizeof(struct fr_index_head) + INDEX_MAX_CNT * sizeof(struct fr_index_entry) + 8)
#define INDEX_PART_MIN (sizeof(struct fr_index_head) + 8)
#define CHUNK_PART_MIN (sizeof(struct fr_chunk_head) + 8)
#define TRAILER_SZ     sizeof(struct fr_trailer)

/* ---- bytes ---- */

int fr_snap_open_fd(const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

int fr_snap_bytes(const struct fr_snap *s, u64 off, void *buf, size_t sz)
{
	u8 *p = buf;

	if (off > s->size || sz > s->size - off)
		return -ENODATA;
	while (sz) {
		ssize_t n = pread(s->fd, p, sz, s->base + off);

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

int fr_snap_grow(u8 **buf, size_t *cap, size_t sz)
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
 * Read the part at off into s->own.stored and check it: magic, tag, file, a size of min to max bytes, hash. Returns its size, 0
 * if there is no such part there, -errno.
 */
static s64 read_part(struct fr_snap *s, u64 off, u32 magic, const char *tag, size_t min, size_t max)
{
	struct fr_part_head h;
	u64 sz;
	int err = fr_snap_bytes(s, off, &h, sizeof(h));

	if (err)
		return err == -ENODATA ? 0 : err;
	sz = (u64)h.sz + 8;
	if (h.magic != magic || memcmp(h.tag, tag, FR_TAG_SZ) || sz < min || sz > max || sz > s->size - off)
		return 0;
	if (s->has_id && h.file_id != s->file_id)
		return 0;
	err = fr_snap_grow(&s->own.stored, &s->own.stored_cap, sz);
	if (!err)
		err = fr_snap_bytes(s, off, s->own.stored, sz);
	if (err)
		return err == -ENODATA ? 0 : err;
	if (fr_snap_hash(s->own.stored, sz - 8) == fr_get64(s->own.stored + sz - 8))
		return sz;
	s->vain_sz += sz;
	return 0;
}

static void take_id(struct fr_snap *s)
{
	if (!s->has_id)
		memcpy(&s->file_id, s->own.stored + offsetof(struct fr_part_head, file_id), sizeof(s->file_id));
	s->has_id = true;
}

/* ---- index and trailer ---- */

static bool found_chunk_at(const struct fr_snap *s, u64 off)
{
	size_t lo = 0, hi = s->off_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->off[mid].off == off)
			return true;
		if (s->off[mid].off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

/* Does the index say of chunk i what its header says? */
static bool is_entry_of(const struct fr_snap *s, u32 i, const struct fr_index_entry *e)
{
	const struct fr_snap_found *f = &s->off[i];

	return e->file_off == f->off && e->kind == f->kind && e->head_sz == f->head_sz;
}

static int note_lost(struct fr_snap *s, const struct fr_index_entry *e)
{
	u64 *more;

	fr_snap_note(s, "chunk at byte %llu: its header is damaged", e->file_off);
	s->lost_holes |= e->kind == FR_CHUNK_HOLES;
	if (e->kind != FR_CHUNK_EVENTS)
		return 0;
	more = fr_vec_more(&s->lost, s->lost_cnt);
	if (!more)
		return -ENOMEM;
	s->lost_cnt++;
	*more = e->file_off;
	return 0;
}

/* 0 or -ENOMEM. */
static int take_index(struct fr_snap *s, u64 off, size_t sz)
{
	struct fr_index_entry e;
	u32 i, cnt;
	int err = 0;

	memcpy(&cnt, s->own.stored + offsetof(struct fr_index_head, cnt), sizeof(cnt));
	if (s->has_index)
		fr_snap_note(s, "index at byte %llu: a second one", off);
	s->has_index = true;
	s->index_off = off;
	if (sizeof(struct fr_index_head) + (u64)cnt * sizeof(e) + 8 != sz) {
		fr_snap_note(s, "index at byte %llu: its size and count differ", off);
		return 0;
	}
	for (i = 0; i < cnt && !err; i++) {
		memcpy(&e, s->own.stored + sizeof(struct fr_index_head) + i * sizeof(e), sizeof(e));
		if (!found_chunk_at(s, e.file_off))
			err = note_lost(s, &e);
		else if (cnt == s->off_cnt && !is_entry_of(s, i, &e))
			fr_snap_note(s, "index at byte %llu: its entry %u is not that of the chunk at byte %llu", off, i,
				     s->off[i].off);
	}
	if (cnt != s->off_cnt)
		fr_snap_note(s, "index at byte %llu: %u chunks were written, %zu found", off, cnt, s->off_cnt);
	return err;
}

static void take_trailer(struct fr_snap *s, u64 off)
{
	struct fr_trailer t;

	memcpy(&t, s->own.stored, sizeof(t));
	s->has_trailer = true;
	if (t.file_sz != s->size || t.file_sz != off + sizeof(t))
		fr_snap_note(s, "trailer at byte %llu: the file was written with %llu bytes and has %llu", off, t.file_sz,
			     s->size);
	if (t.chunk_cnt != s->off_cnt)
		fr_snap_note(s, "trailer at byte %llu: %u chunks were written, %zu found", off, t.chunk_cnt, s->off_cnt);
	if (!s->has_index)
		fr_snap_note(s, "index at byte %llu: damaged", t.index_off);
	else if (t.index_off != s->index_off)
		fr_snap_note(s, "trailer at byte %llu: the index should be at byte %llu, and is at %llu", off, t.index_off,
			     s->index_off);
}

/* ---- the way through ---- */

/* Is it a sound file of another major version, which this version's rules do not apply to? */
static bool is_other_version(struct fr_snap *s)
{
	char tag[FR_TAG_SZ];

	return !fr_snap_bytes(s, offsetof(struct fr_part_head, tag), tag, FR_TAG_SZ) &&
	       !memcmp(tag, FR_FILE_TAG, FR_TAG_SZ - 1) && memcmp(tag, FR_FILE_TAG, FR_TAG_SZ) &&
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
		fr_snap_note(s, "file header: damaged");
		return 0;
	}
	memcpy(&h, s->own.stored, sizeof(h));
	take_id(s);
	s->schema_hash = h.schema_hash;
	*pos = sz;
	return 0;
}

/* Take the part at pos, whatever its kind. 1 and *end; 0 if there is none; -errno. */
static int take_part(struct fr_snap *s, u64 pos, u64 *end)
{
	s64 sz = read_part(s, pos, FR_CHUNK_MAGIC, FR_CHUNK_TAG, CHUNK_PART_MIN, FR_HEAD_MAX_SZ);
	int err;

	if (sz > 0) {
		take_id(s);
		err = fr_snap_take_chunk(s, pos, sz, end);
		return err ? err : 1;
	}
	if (!sz)
		sz = read_part(s, pos, FR_INDEX_MAGIC, FR_INDEX_TAG, INDEX_PART_MIN, INDEX_PART_MAX);
	if (sz > 0) {
		err = take_index(s, pos, sz);
		*end = pos + sz;
		return err ? err : 1;
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

/* Find the first place from pos on that has our tag where a part would have it: *out, or the file's end. 0 or -errno. */
static int find_part(const struct fr_snap *s, u64 pos, u64 *out)
{
	static const size_t tag_off = offsetof(struct fr_part_head, tag);
	u8 buf[WINDOW_SZ];
	size_t n, i;
	int err;

	for (; pos < s->size; pos += n - tag_off - FR_TAG_SZ + 1) {
		n = s->size - pos < sizeof(buf) ? s->size - pos : sizeof(buf);
		err = fr_snap_bytes(s, pos, buf, n);
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

/* Damage hits some parts. A file made of heads that claim large parts would take hours to search. */
static bool is_trap(const struct fr_snap *s)
{
	return s->vain_sz > 2 * s->size + VAIN_SZ;
}

/* Skip from pos, which is no part, to the next part. 0 or -errno. */
static int skip_damage(struct fr_snap *s, u64 pos, u64 *end)
{
	u64 at = pos;
	int err;

	do {
		err = find_part(s, at + 1, &at);
		if (err)
			return err;
		if (is_trap(s))
			at = s->size;
	} while (at < s->size && !is_part(s, at));
	fr_snap_note(s, "bytes %llu to %llu: not a part of a snapshot", pos, at - 1);
	*end = at;
	return 0;
}

int fr_snap_read_parts(struct fr_snap *s)
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
		fr_snap_note(s, "incomplete: it does not end in a trailer, so it was cut, or its writer did not finish");
	return ret < 0 ? ret : 0;
}
