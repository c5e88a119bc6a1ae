/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The beginnings of snapshots are found from the file's end, trailer by trailer; each says how long its snapshot is. What is
 * before those, as the end of one of them is lost, is walked from the file's beginning. A part behind which no other one begins
 * is damaged or was cut off: then the next snapshot's header is looked for. What follows the last one belongs to it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "read/snapfile/snapfile_members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/set/vec.h"
#include "read/snapfile/snapfile_int.h"

#define MEMBER_MAX 10000u
#define WINDOW_SZ  (64u << 10) /* read at a time when looking for a header */
#define VAIN_MAX   10000u      /* what has a header's tag and is none: a file made of such would take hours */

static int members_add(struct fr_members *m, u64 begin)
{
	u64 *p = fr_vec_more(&m->begin, m->cnt);

	if (!p)
		return -ENOMEM;
	m->cnt++;
	*p = begin;
	return 0;
}

/* A file, and the first error of the system when it was read: what could not be read may have been a beginning. */
struct source {
	int fd, err;
};

static bool members_get(struct source *f, u64 off, void *buf, size_t sz)
{
	u8 *to = buf;

	while (sz) {
		ssize_t n = pread(f->fd, to, sz, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && !f->err)
			f->err = -errno;
		if (n <= 0)
			return false;
		to += n;
		off += n;
		sz -= n;
	}
	return true;
}

static bool is_file_head(struct source *f, u64 off)
{
	struct fr_file_head h;

	return members_get(f, off, &h, sizeof(h)) && h.part.magic == FR_FILE_MAGIC &&
	       !memcmp(h.part.tag, FR_FILE_TAG, FR_TAG_SZ);
}

/* The length of the snapshot that ends at end; 0: none does. */
static u64 length_before(struct source *f, u64 end)
{
	struct fr_trailer t;

	if (end < sizeof(t) || !members_get(f, end - sizeof(t), &t, sizeof(t)) || t.part.magic != FR_TRAILER_MAGIC)
		return 0;
	if (memcmp(t.part.tag, FR_TRAILER_TAG, FR_TAG_SZ) || t.hash != fr_snap_hash(&t, sizeof(t) - 8))
		return 0;
	return t.file_sz <= end && t.file_sz > sizeof(t) ? t.file_sz : 0;
}

static void turn_around(struct fr_members *m)
{
	size_t i;

	for (i = 0; i < m->cnt / 2; i++) {
		u64 begin = m->begin[i];

		m->begin[i] = m->begin[m->cnt - 1 - i];
		m->begin[m->cnt - 1 - i] = begin;
	}
}

/* From the end, which becomes the beginning of the first one found. */
static int find_backward(struct source *f, u64 *end, struct fr_members *m)
{
	u64 len;
	int err = 0;

	while (!err && *end && m->cnt < MEMBER_MAX && (len = length_before(f, *end)) && is_file_head(f, *end - len)) {
		*end -= len;
		err = members_add(m, *end);
	}
	turn_around(m);
	return err;
}

/* The length of the part at off, including a chunk's content; 0: there is none. */
static u64 part_length(struct source *f, u64 off)
{
	struct fr_chunk_head h = {};

	if (!members_get(f, off, &h.part, sizeof(h.part)) || h.part.magic < FR_FILE_MAGIC || h.part.magic > FR_TRAILER_MAGIC)
		return 0;
	if (h.part.magic != FR_CHUNK_MAGIC)
		return h.part.sz + 8ULL;
	if (!members_get(f, off, &h, sizeof(h)) || memcmp(h.part.tag, FR_CHUNK_TAG, FR_TAG_SZ) ||
	    h.stored_sz > FR_DECODED_MAX_SZ * 2)
		return 0;
	return h.part.sz + 8ULL + h.stored_sz;
}

/* Is this a header of a snapshot, by its hash? */
static bool is_sound_head(struct source *f, u64 off)
{
	struct fr_part_head h;
	u8 head[FR_HEAD_MAX_SZ];
	u64 sz;

	if (!is_file_head(f, off) || !members_get(f, off, &h, sizeof(h)))
		return false;
	sz = h.sz + 8ULL;
	return sz >= sizeof(struct fr_file_head) && sz <= sizeof(head) && members_get(f, off, head, sz) &&
	       fr_snap_hash(head, sz - 8) == fr_get64(head + sz - 8);
}

/* The first header of a snapshot from at on; end: there is none. *vain_cnt: tags in vain so far. */
static u64 members_find_head(struct source *f, u64 at, u64 end, u32 *vain_cnt)
{
	static const u64 tag_off = offsetof(struct fr_part_head, tag);
	u8 buf[WINDOW_SZ];
	const u8 *tag;
	u64 n;

	for (; at + sizeof(struct fr_file_head) <= end && *vain_cnt < VAIN_MAX; at += n - tag_off - FR_TAG_SZ + 1) {
		n = end - at < sizeof(buf) ? end - at : sizeof(buf);
		if (!members_get(f, at, buf, n))
			break;
		for (tag = buf + tag_off; (tag = memmem(tag, buf + n - tag, FR_FILE_TAG, FR_TAG_SZ)); tag++, ++*vain_cnt)
			if (is_sound_head(f, at + (tag - buf) - tag_off))
				return at + (tag - buf) - tag_off;
	}
	return end;
}

static int find_forward(struct source *f, u64 end, struct fr_members *m)
{
	u64 at = 0, len, next;
	u32 vain_cnt = 0;
	int err = members_add(m, 0);

	while (!err && at < end && m->cnt < MEMBER_MAX) {
		len = part_length(f, at);
		next = at + len;
		if (!len || len > end - at || (next < end && !part_length(f, next)))
			next = members_find_head(f, at + 1, end, &vain_cnt);
		at = next;
		if (at < end && is_file_head(f, at))
			err = members_add(m, at);
	}
	return err;
}

static int members_find_all(struct source *f, u64 sz, struct fr_members *m)
{
	struct fr_members last = {};
	u64 end = sz;
	size_t i;
	int err = find_backward(f, &end, &last);

	if (!err && (end || !sz))
		err = find_forward(f, end, m);
	for (i = 0; i < last.cnt && !err; i++)
		err = members_add(m, last.begin[i]);
	fr_members_free(&last);
	return err;
}

static int members_find(int fd, struct fr_members *m)
{
	struct source f = {.fd = fd};
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return -ESPIPE;
	err = members_find_all(&f, S_ISREG(st.st_mode) ? st.st_size : 0, m) ?: f.err ?: members_add(m, st.st_size);
	m->cnt -= !err; /* the end is no beginning */
	return err;
}

int fr_members_find(const char *path, struct fr_members *m)
{
	int fd = fr_snap_open_fd(path), err;

	*m = (struct fr_members){};
	if (fd < 0)
		return fd;
	err = members_find(fd, m);
	close(fd);
	return err;
}

void fr_members_free(struct fr_members *m)
{
	free(m->begin);
	*m = (struct fr_members){};
}
