/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* vmcore_elf: crash dumps in ELF. A place is a page's offset in the file. */
#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "read/vmcore/vmcore_format.h"

struct core {
	int fd;
	Elf *elf;
	size_t phdr_cnt;
	u64 sz; /* of all segments */
	unsigned char *run;
};

static void elf_close_core(void *p)
{
	struct core *c = p;

	elf_end(c->elf);
	free(c->run);
	free(c);
}

/* Segment i, if it is of physical memory. Its first whole page may lie behind its beginning. */
static bool segment(const struct core *c, size_t i, u64 *off, u64 *sz)
{
	GElf_Phdr ph;
	u64 skip;

	if (!gelf_getphdr(c->elf, i, &ph) || ph.p_type != PT_LOAD || ph.p_paddr == -1UL)
		return false;
	skip = -ph.p_paddr % FR_PAGE_SZ;
	if (ph.p_filesz <= skip || ph.p_offset > INT64_MAX || ph.p_filesz > INT64_MAX - ph.p_offset)
		return false;
	*off = ph.p_offset + skip;
	*sz = (ph.p_filesz - skip) & ~(u64)(FR_PAGE_SZ - 1);
	return true;
}

static bool is_core(Elf *elf)
{
	GElf_Ehdr eh;

	return elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &eh) && eh.e_type == ET_CORE &&
	       eh.e_ident[EI_CLASS] == ELFCLASS64 && eh.e_ident[EI_DATA] == ELFDATA2LSB;
}

/* The table of segments is read when the first one is asked for. */
static bool has_table(struct core *c)
{
	GElf_Phdr ph;

	return !elf_getphdrnum(c->elf, &c->phdr_cnt) && (!c->phdr_cnt || gelf_getphdr(c->elf, 0, &ph) || errno != EIO);
}

static int elf_open_core(int fd, void **core)
{
	struct core *c = calloc(1, sizeof(*c));
	u64 off, sz;
	size_t i;
	int err;

	if (!c)
		return -ENOMEM;
	elf_version(EV_CURRENT);
	c->fd = fd;
	c->run = malloc(FR_VMCORE_RUN_SZ);
	errno = 0; /* the library calls a file invalid that cannot be read */
	c->elf = c->run ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (!is_core(c->elf) || !has_table(c)) {
		err = !c->run ? -ENOMEM : errno == EIO ? -EIO : -ENOEXEC;
		elf_close_core(c);
		return err;
	}
	for (i = 0; i < c->phdr_cnt; i++)
		if (segment(c, i, &off, &sz))
			c->sz += sz;
	*core = c;
	return 0;
}

/* As much as can be read of these bytes. *ended: the file has no more. */
static size_t elf_read_all(int fd, u64 off, unsigned char *to, size_t sz, bool *ended)
{
	size_t done = 0;
	ssize_t n = 1;

	while (done < sz && n > 0) {
		n = pread(fd, to + done, sz - done, off + done);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			done += n;
	}
	*ended = !n;
	return done;
}

/* What cannot be read with its neighbours is read alone, so that only the pages on the bad sectors are missing. */
static int walk_singly(struct core *c, u64 off, u64 sz, struct fr_vmcore_walk *w)
{
	u64 at;
	bool ended;
	int err = 0;

	for (at = 0; at < sz && !err; at += FR_PAGE_SZ) {
		if (elf_read_all(c->fd, off + at, c->run, FR_PAGE_SZ, &ended) == FR_PAGE_SZ)
			err = fr_vmcore_run(w, off + at, c->run, FR_PAGE_SZ);
		else
			w->bad_cnt++;
	}
	return err;
}

/* What the file should have behind its end is counted at once: there can be any number of it. */
static int walk_segment(struct core *c, u64 off, u64 sz, u64 *done_sz, struct fr_vmcore_walk *w)
{
	u64 at;
	bool ended = false;
	u64 want, got;
	int err = 0;

	for (at = 0; at < sz && !err; at += want) {
		want = sz - at < FR_VMCORE_RUN_SZ ? sz - at : FR_VMCORE_RUN_SZ;
		got = elf_read_all(c->fd, off + at, c->run, want, &ended) & ~(u64)(FR_PAGE_SZ - 1);
		err = fr_vmcore_run(w, off + at, c->run, got);
		if (ended) {
			want = sz - at;
			w->bad_cnt += (want - got) / FR_PAGE_SZ;
		} else if (!err) {
			err = walk_singly(c, off + at + got, want - got, w);
		}
		*done_sz += want;
		fr_progress_show(w->bar, *done_sz, c->sz);
	}
	return err;
}

static int elf_walk_core(void *p, struct fr_vmcore_walk *w)
{
	struct core *c = p;
	u64 off, sz, done_sz = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < c->phdr_cnt && !err; i++)
		if (segment(c, i, &off, &sz))
			err = walk_segment(c, off, sz, &done_sz, w);
	return err;
}

static int elf_read_page(void *p, u64 place, void *page)
{
	struct core *c = p;
	bool ended;

	return elf_read_all(c->fd, place, page, FR_PAGE_SZ, &ended) == FR_PAGE_SZ ? 0 : -EIO;
}

const struct fr_vmcore_format fr_vmcore_elf = {elf_open_core, elf_walk_core, elf_read_page, elf_close_core};
