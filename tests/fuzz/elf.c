/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzz target of what symbols are read from, and stacks are unwound by: any bytes as an ELF file. Functions that are found lie
 * where they were looked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text/demangle.h"
#include "read/elf/ehframe.h"
#include "read/elf/symfile_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static void look(const struct fr_symfile *f, u64 vaddr)
{
	struct fr_symfile_func func;
	char text[FR_DEMANGLE_SZ];

	if (!fr_symfile_find(f, vaddr, &func))
		return;
	if (func.vaddr > vaddr || func.nr >= f->func_cnt || !func.name[0])
		abort();
	fr_demangle(func.name, text);
}

static void try_file(const struct fr_symfile *f)
{
	u64 off, vaddr;
	size_t sz;

	if (!fr_symfile_build_id(f, &sz) != !sz || sz > FR_BUILD_ID_MAX_SZ)
		abort();
	for (off = 0; off < 0x4000; off += 0x11) {
		if (fr_symfile_vaddr(f, off, off & ~0xfffull, &vaddr))
			look(f, vaddr);
		look(f, off);
		look(f, 0x401000 + off);
	}
}

/* Each word of this stack is an address of it, or nearby. */
static bool read_word(void *arg, u64 addr, u64 *word)
{
	(void)arg;
	*word = addr * 3 & 0xffff;
	return addr < 0x10000;
}

static void go_up(const struct fr_cfi *cfi, u64 addr)
{
	struct fr_cfi_frame frame = {.reg = {[FR_CFI_RSP] = 0x8000, [FR_CFI_RBP] = 0x8100},
				     .known = (1u << FR_CFI_REG_CNT) - 1};

	fr_cfi_up(cfi, addr, &frame, read_word, NULL);
}

/* fd stays open. */
static void try_frames(int fd)
{
	struct fr_ehframe *e;
	struct fr_cfi cfi;
	u64 off, addr;

	if (fr_ehframe_open(dup(fd), &e))
		return;
	for (off = 0; off < 0x1400; off += 0x11)
		if (fr_ehframe_addr(e, off, &addr) && fr_ehframe_find(e, addr, &cfi))
			go_up(&cfi, addr);
	fr_ehframe_close(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static int fd = -1;
	static char path[64];
	struct fr_symfile *f;
	u8 id[FR_BUILD_ID_MAX_SZ];

	if (fd < 0) {
		fd = memfd_create("elf", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, data, sz, 0) != (ssize_t)sz)
		abort();
	try_frames(fd);
	fr_symfile_read_id(NULL, path, id, NULL);
	if (fr_symfile_open(NULL, path, &f))
		return 0;
	try_file(f);
	fr_symfile_close(f);
	return 0;
}
