/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kallsyms: names of kernel addresses, in one pass over /proc/kallsyms: 20 to 70 ms, and memory for what is asked only. */
#ifndef FR_KALLSYMS_H
#define FR_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

/* An address, and the function it is in. */
struct fr_ksym {
	u64 addr;
	u64 begin, end; /* of the function; end 0: not known */
	char *name;	/* NULL: in none */
	char *module;	/* NULL: the kernel itself */
};

struct fr_kallsyms_info {
	u64 stext;   /* address of _stext, 0: not told */
	bool hidden; /* all addresses are 0: kptr_restrict */
};

/*
 * Look up cnt addresses, ascending, their other members 0. path: "/proc/kallsyms". 0, or -errno; what was found until then
 * stays. fr_kallsyms_free() frees names.
 */
int fr_kallsyms_find(const char *path, struct fr_ksym *k, size_t cnt, struct fr_kallsyms_info *info);

/* Where the kernel's text begins, reading no further than that. 0 or -errno; *info as above. */
int fr_kallsyms_stext(const char *path, struct fr_kallsyms_info *info);

/*
 * Name k->addr, all else 0, by what the kernel's %pS says of it: "name+0x1f/0x40 [module]"; anything else is in no function.
 * Code the kernel made of BPF has the module "bpf", as in /proc/kallsyms. 0 or -ENOMEM.
 */
int fr_ksym_parse(const char *text, struct fr_ksym *k);
void fr_kallsyms_free(struct fr_ksym *k, size_t cnt);

#endif
