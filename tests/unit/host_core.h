/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* host_core: a small crash dump in ELF, as a hypervisor writes it: a head, its segments, and behind them their bytes. */
#ifndef FR_HOST_CORE_H
#define FR_HOST_CORE_H

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

#define HOST_CORE_SEG_MOST 16u

struct host_core {
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph[HOST_CORE_SEG_MOST];
	} head; /* the first bytes of the file; a test may change it */
	u8 *bytes;
	size_t sz, room_sz; /* of those behind it */
};

__attribute__((unused)) static void host_core_begin(struct host_core *c)
{
	*c = (struct host_core){.head.eh = {
					.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
					.e_type = ET_CORE,
					.e_machine = EM_X86_64,
					.e_version = EV_CURRENT,
					.e_phoff = sizeof(Elf64_Ehdr),
					.e_ehsize = sizeof(Elf64_Ehdr),
					.e_phentsize = sizeof(Elf64_Phdr),
				}};
}

/* More bytes of the last segment. */
__attribute__((unused)) static void host_core_put(struct host_core *c, const void *bytes, size_t sz)
{
	if (c->sz + sz > c->room_sz) /* twice as much, for sanitizers move what grows each time */
		c->bytes = realloc(c->bytes, c->room_sz = 2 * (c->sz + sz));
	memcpy(c->bytes + c->sz, bytes, sz);
	c->sz += sz;
	c->head.ph[c->head.eh.e_phnum - 1].p_filesz += sz;
	c->head.ph[c->head.eh.e_phnum - 1].p_memsz += sz;
}

/* Begin a segment, whose bytes come next. */
__attribute__((unused)) static void host_core_segment(struct host_core *c, u64 paddr)
{
	c->head.ph[c->head.eh.e_phnum++] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R,
		.p_offset = sizeof(c->head) + c->sz,
		.p_paddr = paddr,
		.p_vaddr = 0xffff888000000000ull + paddr,
	};
}

/* Write so many of its bytes. 0, or -1. */
__attribute__((unused)) static int host_core_save_part(const struct host_core *c, const char *path, size_t sz)
{
	size_t head_sz = sz < sizeof(c->head) ? sz : sizeof(c->head), rest = sz - head_sz;
	FILE *f = fopen(path, "w");
	bool bad;

	if (!f)
		return -1;
	bad = fwrite(&c->head, 1, head_sz, f) != head_sz || (rest && fwrite(c->bytes, 1, rest, f) != rest);
	return fclose(f) || bad ? -1 : 0;
}

__attribute__((unused)) static int host_core_save(const struct host_core *c, const char *path)
{
	return host_core_save_part(c, path, sizeof(c->head) + c->sz);
}

__attribute__((unused)) static void host_core_free(struct host_core *c)
{
	free(c->bytes);
}

#endif
