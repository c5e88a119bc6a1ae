/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/elf/ehframe.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PHDR_MAX  64u
#define LOAD_MAX  16u
#define ENTRY_MAX 16384u /* bytes of an FDE or CIE that are read */
#define ROW_SZ	  8u	 /* of the table: an address and that of its FDE, relative to the table's section */

struct segment {
	u64 addr, off, sz; /* sz: in the file */
	bool is_code;
};

struct fr_ehframe {
	int fd;
	int err; /* of reading, the first one */
	struct segment load[LOAD_MAX];
	u32 load_cnt;
	u64 hdr;   /* address of .eh_frame_hdr */
	u64 table; /* of its first row */
	u64 row_cnt;
	u8 cie[ENTRY_MAX], fde[ENTRY_MAX];
};

/* Up to sz bytes at an offset. Returns how many; fewer at the end of the file, or where it cannot be read, which is noted. */
static size_t ehframe_read_at(struct fr_ehframe *e, void *to, size_t sz, u64 off)
{
	size_t got = 0;
	ssize_t n = 0;

	do {
		n = pread(e->fd, (u8 *)to + got, sz - got, off + got);
		got += n > 0 ? n : 0;
	} while ((n > 0 && got < sz) || (n < 0 && errno == EINTR));
	if (n < 0 && !e->err && errno != EINVAL) /* an offset that no file has */
		e->err = -errno;
	return got;
}

/* Read up to sz bytes at an address of the file. Returns how many. */
static size_t ehframe_get(struct fr_ehframe *e, u64 addr, void *to, size_t sz)
{
	u32 i;

	for (i = 0; i < e->load_cnt; i++) {
		const struct segment *s = &e->load[i];
		u64 at = addr - s->addr;

		if (addr < s->addr || at >= s->sz)
			continue;
		return ehframe_read_at(e, to, s->sz - at < sz ? s->sz - at : sz, s->off + at);
	}
	return 0;
}

static void add_load(struct fr_ehframe *e, const Elf64_Phdr *p)
{
	if (e->load_cnt < LOAD_MAX)
		e->load[e->load_cnt++] = (struct segment){p->p_vaddr, p->p_offset, p->p_filesz, p->p_flags & PF_X};
}

static int ehframe_read_segments(struct fr_ehframe *e)
{
	Elf64_Phdr p[PHDR_MAX];
	Elf64_Ehdr h;
	size_t sz;
	u32 i;

	if (ehframe_read_at(e, &h, sizeof(h), 0) != sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_X86_64 || h.e_phentsize != sizeof(*p) || !h.e_phnum ||
	    h.e_phnum > PHDR_MAX)
		return -ENOEXEC;
	sz = h.e_phnum * sizeof(*p);
	if (ehframe_read_at(e, p, sz, h.e_phoff) != sz)
		return -ENOEXEC;
	for (i = 0; i < h.e_phnum; i++) {
		if (p[i].p_type == PT_LOAD)
			add_load(e, &p[i]);
		else if (p[i].p_type == PT_GNU_EH_FRAME)
			e->hdr = p[i].p_vaddr;
	}
	return e->hdr ? 0 : -ENOENT;
}

/* Version, three encodings, the section's address, and how many rows. All linkers make the same kind of table. */
static int read_table(struct fr_ehframe *e)
{
	struct fr_cfi_bytes b = {e->fde, 0, e->hdr};
	size_t at = 4;
	u64 section;

	b.sz = ehframe_get(e, e->hdr, e->fde, 32);
	if (b.sz < at || e->fde[0] != 1 || e->fde[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
	    !fr_cfi_number(&b, &at, e->fde[1], e->hdr, &section) || !fr_cfi_number(&b, &at, e->fde[2], e->hdr, &e->row_cnt))
		return -ENOENT;
	e->table = e->hdr + at;
	return 0;
}

int fr_ehframe_open(int fd, struct fr_ehframe **out)
{
	struct fr_ehframe *e = calloc(1, sizeof(*e));
	int err;

	if (!e) {
		close(fd);
		return -ENOMEM;
	}
	e->fd = fd;
	err = ehframe_read_segments(e) ?: read_table(e);
	if (err) {
		err = e->err ?: err;
		fr_ehframe_close(e);
	} else {
		*out = e;
	}
	return err;
}

void fr_ehframe_close(struct fr_ehframe *e)
{
	if (!e)
		return;
	close(e->fd);
	free(e);
}

int fr_ehframe_err(const struct fr_ehframe *e)
{
	return e->err;
}

bool fr_ehframe_addr(const struct fr_ehframe *e, u64 file_off, u64 *addr)
{
	u32 i;

	for (i = 0; i < e->load_cnt; i++) {
		const struct segment *s = &e->load[i];

		if (!s->is_code || file_off < s->off || file_off - s->off >= s->sz)
			continue;
		*addr = file_off - s->off + s->addr;
		return true;
	}
	return false;
}

/* Row i: where a function begins, and its FDE. */
static bool ehframe_row(struct fr_ehframe *e, u64 i, u64 *begin, u64 *fde)
{
	s32 rel[2];

	if (ehframe_get(e, e->table + i * ROW_SZ, rel, sizeof(rel)) != sizeof(rel))
		return false;
	*begin = e->hdr + (s64)rel[0];
	*fde = e->hdr + (s64)rel[1];
	return true;
}

/* The last function that begins at addr or before. */
static bool find_fde(struct fr_ehframe *e, u64 addr, u64 *fde)
{
	u64 lo = 0, hi = e->row_cnt, begin, at;
	bool found = false;

	while (lo < hi) {
		u64 mid = lo + (hi - lo) / 2;

		if (!ehframe_row(e, mid, &begin, &at))
			return false;
		if (begin > addr) {
			hi = mid;
			continue;
		}
		lo = mid + 1;
		*fde = at;
		found = true;
	}
	return found;
}

bool fr_ehframe_find(struct fr_ehframe *e, u64 addr, struct fr_cfi *out)
{
	struct fr_cfi_bytes fde = {.at = e->fde}, cie = {.at = e->cie};

	if (!find_fde(e, addr, &fde.addr))
		return false;
	fde.sz = ehframe_get(e, fde.addr, e->fde, sizeof(e->fde));
	if (!fr_cfi_cie_addr(&fde, &cie.addr))
		return false;
	cie.sz = ehframe_get(e, cie.addr, e->cie, sizeof(e->cie));
	return fr_cfi_parse(&cie, &fde, out);
}
