/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* regnames: what the registers of event crash are called (bpf/regs.h). Pure. */
#ifndef FR_REGNAMES_H
#define FR_REGNAMES_H

#include "types.h"

/* The i-th on a machine that `uname -m` calls arch. NULL: there is none, or the machine is not known. */
const char *fr_reg_name(const char *arch, u32 i);

#endif
