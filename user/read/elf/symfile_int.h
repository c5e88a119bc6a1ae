/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* symfile_int: an ELF file being read: its headers (symfile.c), its symbol tables (symfile_tables.c). */
#ifndef FR_SYMFILE_INT_H
#define FR_SYMFILE_INT_H

#include <libelf.h>

#include "read/elf/symfile.h"

#define FR_SEGMENT_MAX 256u

struct fr_symfile_entry {
	u64 vaddr, size;
	u32 name; /* offset in names */
	u32 rank; /* of several at one address the highest is used */
};

struct fr_symfile_segment {
	u64 off, file_sz, vaddr, mem_sz;
	bool exec;
};

struct fr_symfile {
	struct fr_symfile_entry *func;
	u32 func_cnt;
	char *names;
	size_t names_sz; /* the last byte is NUL */
	struct fr_symfile_segment segment[FR_SEGMENT_MAX];
	u32 segment_cnt;
	u8 build_id[FR_BUILD_ID_MAX_SZ];
	size_t build_id_sz;
	bool full, lines, debug_only;
	char link[256]; /* empty: none */
};

struct fr_symfile_tables {
	Elf_Scn *symtab, *dynsym;
	Elf_Scn *mini; /* .gnu_debugdata: an xz-compressed ELF file with symbols of .symtab that .dynsym lacks */
};

/* Find the symbol tables, and note in f what it keeps of the other sections. */
struct fr_symfile_tables fr_symfile_find_tables(struct fr_symfile *f, Elf *elf);

/* Is the address in code, according to the program headers? */
bool fr_symfile_is_code(const struct fr_symfile *f, u64 vaddr);

/* Read the functions of the best table available, sorted. 0 or -ENOMEM. */
int fr_symfile_read_tables(struct fr_symfile *f, Elf *elf, const struct fr_symfile_tables *t);

/* Forget its functions and their names. */
void fr_symfile_drop_symbols(struct fr_symfile *f);

#endif
