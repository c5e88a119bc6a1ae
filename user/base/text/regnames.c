/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/regnames.h"

#include <stddef.h>
#include <string.h>

#include "regs.h"

#define R(name, member) name,
static const char *const x86_64[] = {FR_REGS_x86_64(R)}, *const aarch64[] = {FR_REGS_aarch64(R)};
#undef R

#define REGNAMES_CNT(names) (sizeof(names) / sizeof((names)[0]))
_Static_assert(REGNAMES_CNT(x86_64) <= FR_REGS_MAX && REGNAMES_CNT(aarch64) <= FR_REGS_MAX, "readers have room for so many");

const char *fr_reg_name(const char *arch, u32 i)
{
	if (arch && !strcmp(arch, "x86_64"))
		return i < REGNAMES_CNT(x86_64) ? x86_64[i] : NULL;
	if (arch && !strcmp(arch, "aarch64"))
		return i < REGNAMES_CNT(aarch64) ? aarch64[i] : NULL;
	return NULL;
}
