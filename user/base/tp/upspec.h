/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * upspec: where the arguments of a static mark are, as its note says (upnote.h), by words of the assembler: of what is not
 * understood here, nothing is recorded. Pure.
 *
 *	x86-64	-4@%edi		8@-16(%rbp)	4@$5
 *	arm64	-4@w0		8@[sp, 16]	4@5
 *
 * Before the @: bytes, with a sign if the value has one.
 */
#ifndef FR_UPSPEC_H
#define FR_UPSPEC_H

#include <stdbool.h>

#include "up.h"

#define FR_UP_SPEC_MAX	   12u /* arguments of a mark */
#define FR_UP_SPEC_TEXT_SZ 48u

enum fr_up_arch {
	FR_UP_ARCH_x86_64,
	FR_UP_ARCH_arm64,
#if defined(__x86_64__)
	FR_UP_ARCH_HERE = FR_UP_ARCH_x86_64,
#elif defined(__aarch64__)
	FR_UP_ARCH_HERE = FR_UP_ARCH_arm64,
#endif
};

struct fr_up_spec {
	bool known; /* arg says where it is: from, sz, is_signed, reg, off */
	struct fr_up_arg arg;
	char text[FR_UP_SPEC_TEXT_SZ]; /* as the note has it; a longer one is cut */
};

/* All arguments of one site. Returns how many it has; of more than FR_UP_SPEC_MAX, the first are in out. */
u32 fr_up_specs(enum fr_up_arch arch, const char *args, struct fr_up_spec out[FR_UP_SPEC_MAX]);

/* What is known of the arguments of one mark, which may have several sites. Begin with {}. */
struct fr_up_args {
	u32 site_cnt;
	u32 cnt; /* of the site that has most of them, FR_UP_SPEC_MAX at most */
	struct fr_up_args_one {
		u32 site_cnt;		      /* that have it */
		u8 unsigned_sz, signed_sz;    /* of the widest of either kind; 0: there is none */
		u8 least_sz;		      /* of the narrowest */
		char odd[FR_UP_SPEC_TEXT_SZ]; /* one that is not understood */
	} arg[FR_UP_SPEC_MAX];
};

/* Add a site. */
void fr_up_args_add(struct fr_up_args *a, enum fr_up_arch arch, const char *args);

#define FR_UP_ARGS_WHY_SZ 120

/* Can argument i, from 0 on, be read at each site? */
bool fr_up_args_are_known(const struct fr_up_args *a, u32 i, char why[FR_UP_ARGS_WHY_SZ]);

/* The narrowest number that has all of its values; false: there is none. */
bool fr_up_args_type(const struct fr_up_args *a, u32 i, u8 *sz, bool *is_signed, char why[FR_UP_ARGS_WHY_SZ]);

#endif
