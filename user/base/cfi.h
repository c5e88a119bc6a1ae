/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi: from a frame of a stack to its caller's, by the instructions that compilers put into .eh_frame (DWARF 5, 6.4; x86-64).
 *
 * Files and stacks are anybody's, so nothing in them is believed: instructions are executed once, from the first to the last,
 * expressions have no branches, and memory is read through a function that knows what may be read. Whatever is not understood
 * ends the stack there. Pure: no I/O, no memory is taken.
 */
#ifndef FR_CFI_H
#define FR_CFI_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

/* Registers as DWARF numbers them on x86-64. */
#define FR_CFI_RBP     6u
#define FR_CFI_RSP     7u
#define FR_CFI_RIP     16u
#define FR_CFI_REG_CNT 17u

/* What is said of a range of code: an FDE, and the CIE that it refers to. Points into the bytes given. */
struct fr_cfi {
	u64 begin, sz;	/* of the range; addresses are the file's */
	bool is_signal; /* what a signal's handler returns to */
	u64 code_unit;
	s64 data_unit;
	const u8 *first, *first_end; /* instructions of the CIE */
	const u8 *insn, *insn_end;   /* of the FDE */
};

/* Bytes of a file, at an address of the file. */
struct fr_cfi_bytes {
	const u8 *at;
	size_t sz;
	u64 addr;
};

/* The FDE at the begin of fde, whose CIE is at the begin of cie. Both may be longer. False: it cannot be used. */
bool fr_cfi_parse(const struct fr_cfi_bytes *cie, const struct fr_cfi_bytes *fde, struct fr_cfi *out);

/* The address of the CIE of the FDE at the begin of fde. */
bool fr_cfi_cie_addr(const struct fr_cfi_bytes *fde, u64 *out);

/* A number encoded as DW_EH_PE_.. says, at *at, which is moved behind it. base: of the section, for those relative to it. */
bool fr_cfi_number(const struct fr_cfi_bytes *b, size_t *at, u8 encoding, u64 base, u64 *out);

struct fr_cfi_frame {
	u64 reg[FR_CFI_REG_CNT];
	u32 known;    /* bit i: register i is */
	bool is_last; /* fr_cfi_up() returned false, since by its rules nobody called it: a thread begins there */
};

/* Read a word of the stack. False: it may not be read. */
typedef bool (*fr_cfi_read_fn)(void *arg, u64 addr, u64 *word);

/*
 * Go from a frame that is at addr of the file to its caller's, whose rip and rsp are known. False: there is none, or it cannot
 * be found; *frame is undefined then, but for is_last.
 */
bool fr_cfi_up(const struct fr_cfi *c, u64 addr, struct fr_cfi_frame *frame, fr_cfi_read_fn read, void *arg);

#endif
