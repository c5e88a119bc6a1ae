/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kallsyms: names kernel addresses in one pass over /proc/kallsyms: takes 20 to 70 ms, and memory only for the result. */
#ifndef FR_KALLSYMS_H
#define FR_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define FR_KALLSYMS "/proc/kallsyms"

/* An address, and the function it is in. */
struct fr_ksym {
	u64 addr;
	u64 begin, end; /* of the function; end 0: unknown */
	char *name;	/* NULL: in no function */
	char *module;	/* NULL: the kernel itself */
};

struct fr_kallsyms_info {
	u64 stext;   /* address of _stext, 0: unknown */
	bool hidden; /* all addresses are 0: kptr_restrict */
};

/*
 * Look up cnt addresses, ascending, with their other members 0. path: "/proc/kallsyms". 0; or -errno, keeping what was found
 * until then. fr_kallsyms_free() frees names.
 */
int fr_kallsyms_find(const char *path, struct fr_ksym *k, size_t cnt, struct fr_kallsyms_info *info);

/* Find where the kernel's text begins, reading no further. 0 or -errno; *info as above. */
int fr_kallsyms_stext(const char *path, struct fr_kallsyms_info *info);

/* Where a function of the kernel itself is: from begin to the next symbol; both 0: it has none of this name, or hides
 * addresses. */
struct fr_ktext {
	u64 begin, end;
};

/* Find these functions by their names, in one pass. 0 or -errno; out is all 0 then. */
int fr_kallsyms_text(const char *path, const char *const *name, size_t cnt, struct fr_ktext *out);

/*
 * Name k->addr, all else 0, from the kernel's %pS text for it: "name+0x1f/0x40 [module]"; any other text means no function.
 * Code generated from BPF has the module "bpf", as in /proc/kallsyms. 0 or -ENOMEM.
 */
int fr_ksym_parse(const char *text, struct fr_ksym *k);
void fr_kallsyms_free(struct fr_ksym *k, size_t cnt);

#endif
