/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The beginnings of snapshots are found from the file's end, trailer by trailer; each says how long its snapshot is. What is
 * before those, as the end of one of them is lost, is walked from the file's beginning as far as possible; what follows belongs
 * to the last one found there.
 */
#include "io/snapfile/snapfile_members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/snapfile/snapfile_int.h"

#define MEMBER_MAX 10000u

static int add(struct fr_members *m, u64 begin)
{
	u64 *p = realloc(m->begin, (m->cnt + 2) * sizeof(*p));

	if (!p)
		return -ENOMEM;
	m->begin = p;
	p[m->cnt++] = begin;
	return 0;
}

static bool get(int fd, u64 off, void *buf, size_t sz)
{
	return pread(fd, buf, sz, off) == (ssize_t)sz;
}

static bool is_file_head(int fd, u64 off)
{
	struct fr_file_head h;

	return get(fd, off, &h, sizeof(h)) && h.part.magic == FR_FILE_MAGIC && !memcmp(h.part.tag, FR_FILE_TAG, FR_TAG_SZ);
}

/* The length of the snapshot that ends at end; 0: none does. */
static u64 length_before(int fd, u64 end)
{
	struct fr_trailer t;

	if (end < sizeof(t) || !get(fd, end - sizeof(t), &t, sizeof(t)) || t.part.magic != FR_TRAILER_MAGIC)
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
static int find_backward(int fd, u64 *end, struct fr_members *m)
{
	u64 len;
	int err = 0;

	while (!err && *end && m->cnt < MEMBER_MAX && (len = length_before(fd, *end)) && is_file_head(fd, *end - len)) {
		*end -= len;
		err = add(m, *end);
	}
	turn_around(m);
	return err;
}

/* The length of the part at off, including a chunk's content; 0: there is none. */
static u64 part_length(int fd, u64 off)
{
	struct fr_chunk_head h = {};

	if (!get(fd, off, &h.part, sizeof(h.part)) || h.part.magic < FR_FILE_MAGIC || h.part.magic > FR_TRAILER_MAGIC)
		return 0;
	if (h.part.magic != FR_CHUNK_MAGIC)
		return h.part.sz + 8ULL;
	if (!get(fd, off, &h, sizeof(h)) || memcmp(h.part.tag, FR_CHUNK_TAG, FR_TAG_SZ) || h.stored_sz > FR_DECODED_MAX_SZ * 2)
		return 0;
	return h.part.sz + 8ULL + h.stored_sz;
}

static int find_forward(int fd, u64 end, struct fr_members *m)
{
	u64 at = 0, len;
	int err = add(m, 0);

	while (!err && at < end && (len = part_length(fd, at)) && len < end - at) {
		at += len;
		if (is_file_head(fd, at) && m->cnt < MEMBER_MAX)
			err = add(m, at);
	}
	return err;
}

static int find_all(int fd, u64 sz, struct fr_members *m)
{
	struct fr_members last = {};
	u64 end = sz;
	size_t i;
	int err = find_backward(fd, &end, &last);

	if (!err && (end || !sz))
		err = find_forward(fd, end, m);
	for (i = 0; i < last.cnt && !err; i++)
		err = add(m, last.begin[i]);
	fr_members_free(&last);
	return err;
}

static int find(int fd, struct fr_members *m)
{
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return -ESPIPE;
	err = find_all(fd, S_ISREG(st.st_mode) ? st.st_size : 0, m);
	if (!err)
		m->begin[m->cnt] = st.st_size;
	return err;
}

int fr_members_find(const char *path, struct fr_members *m)
{
	int fd = fr_snap_open_fd(path), err;

	*m = (struct fr_members){};
	if (fd < 0)
		return fd;
	err = find(fd, m);
	close(fd);
	return err;
}

void fr_members_free(struct fr_members *m)
{
	free(m->begin);
	*m = (struct fr_members){};
}
