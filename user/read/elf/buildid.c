/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/elf/buildid.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PHDR_MAX  256u
#define NOTES_MAX 16384u
#define HEAD_SZ	  4096u

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_DATA ELFDATA2LSB
#else
#define OUR_DATA ELFDATA2MSB
#endif

/* A note's name and text are padded to 4 bytes. */
static u64 padded(u32 sz)
{
	return ((u64)sz + 3) & ~3ULL;
}

u8 fr_build_id_in_notes(const void *notes, size_t sz, u8 *id)
{
	const u8 *p = notes;
	Elf64_Nhdr n; /* also fits 32-bit files */

	while (sz >= sizeof(n)) {
		u64 all;

		memcpy(&n, p, sizeof(n));
		all = sizeof(n) + padded(n.n_namesz) + padded(n.n_descsz);
		if (all > sz)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(p + sizeof(n), "GNU", 4)) {
			if (!n.n_descsz || n.n_descsz > FR_BUILD_ID_MAX)
				return 0;
			memcpy(id, p + sizeof(n) + 4, n.n_descsz);
			return n.n_descsz;
		}
		p += all;
		sz -= all;
	}
	return 0;
}

/* A file, and its beginning, which nearly always contains all that is needed. */
struct begun {
	int fd;
	ssize_t sz;
	int err; /* of reading, the first one */
	u8 head[HEAD_SZ];
};

/* Read sz bytes at off, like pread(), but fewer only at the end. */
static ssize_t buildid_read_at(struct begun *b, void *to, size_t sz, u64 off)
{
	size_t got = 0;
	ssize_t n;

	do {
		n = pread(b->fd, (u8 *)to + got, sz - got, off + got);
		got += n > 0 ? n : 0;
	} while ((n > 0 && got < sz) || (n < 0 && errno == EINTR));
	if (n < 0 && !b->err && errno != EINVAL) /* an offset that no file has */
		b->err = -errno;
	return n < 0 ? n : (ssize_t)got;
}

static ssize_t buildid_get(struct begun *b, void *to, size_t sz, u64 off)
{
	if (b->sz < 0 || off > (u64)b->sz || sz > (u64)b->sz - off)
		return buildid_read_at(b, to, sz, off);
	memcpy(to, b->head + off, sz);
	return sz;
}

/* Where the program headers are. */
struct table {
	u64 off;
	u32 cnt, entry_sz;
	bool is_64;
};

static bool read_head(struct begun *b, struct table *t)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr e64;
		Elf32_Ehdr e32;
	} h = {};
	ssize_t sz = buildid_get(b, &h, sizeof(h), 0);
	bool is_64 = h.ident[EI_CLASS] == ELFCLASS64;

	if (sz < (ssize_t)(is_64 ? sizeof(h.e64) : sizeof(h.e32)) || memcmp(h.ident, ELFMAG, SELFMAG) ||
	    h.ident[EI_DATA] != OUR_DATA)
		return false;
	if (is_64)
		*t = (struct table){h.e64.e_phoff, h.e64.e_phnum, h.e64.e_phentsize, true};
	else
		*t = (struct table){h.e32.e_phoff, h.e32.e_phnum, h.e32.e_phentsize, false};
	return t->cnt && t->entry_sz == (t->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
}

/* The position of program header nr, if it is one of notes. */
static bool read_notes_place(struct begun *b, const struct table *t, u32 nr, u64 *off, u64 *sz)
{
	union {
		Elf64_Phdr p64;
		Elf32_Phdr p32;
	} p;

	if (buildid_get(b, &p, t->entry_sz, t->off + (u64)nr * t->entry_sz) != (ssize_t)t->entry_sz)
		return false;
	*off = t->is_64 ? p.p64.p_offset : p.p32.p_offset;
	*sz = t->is_64 ? p.p64.p_filesz : p.p32.p_filesz;
	return (t->is_64 ? p.p64.p_type : p.p32.p_type) == PT_NOTE;
}

static u8 buildid_find(struct begun *b, u8 *id)
{
	u8 notes[NOTES_MAX], found = 0;
	struct table t;
	u64 off, sz;
	ssize_t n;
	u32 i;

	b->sz = buildid_read_at(b, b->head, sizeof(b->head), 0);
	if (b->sz < 0 || !read_head(b, &t))
		return 0;
	for (i = 0; i < t.cnt && i < PHDR_MAX && !found; i++) {
		if (!read_notes_place(b, &t, i, &off, &sz) || (s64)off < 0)
			continue;
		n = buildid_get(b, notes, sz < sizeof(notes) ? sz : sizeof(notes), off);
		found = n > 0 ? fr_build_id_in_notes(notes, n, id) : 0;
	}
	return found;
}

u8 fr_build_id_of(int fd, u8 *id, int *err)
{
	struct begun b = {.fd = fd};
	u8 sz = buildid_find(&b, id);

	if (!sz && b.err && err)
		*err = b.err;
	return sz;
}

u8 fr_build_id_of_kernel(u8 *id)
{
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	u8 notes[NOTES_MAX];
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, notes, sizeof(notes));
	close(fd);
	return n > 0 ? fr_build_id_in_notes(notes, n, id) : 0;
}
