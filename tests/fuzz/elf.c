/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzz target of what symbols are read from: any bytes as an ELF file. Functions that are found lie where they were looked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/symbol/symfile_int.h"
#include "pure/text/demangle.h"

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
	fr_symfile_read_id(NULL, path, id);
	if (fr_symfile_open(NULL, path, &f))
		return 0;
	try_file(f);
	fr_symfile_close(f);
	return 0;
}
