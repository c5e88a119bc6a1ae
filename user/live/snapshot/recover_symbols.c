/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recover_symbols: names for a dead kernel's functions. The dump does not have them in a form that could be read without the
 * kernel's debug information. But the same kernel, booted again, has them in /proc/kallsyms, and System.map has them, at other
 * addresses: by as much as _stext is elsewhere. Modules lie where they were loaded, each elsewhere, and get no names.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text/digits.h"
#include "live/snapshot/recover_int.h"
#include "read/elf/buildid.h"
#include "read/elf/kallsyms.h"

struct names {
	const char *path;
	u64 stext; /* of the kernel that stopped */
};

/* The value of a line NAME=VALUE, "" if there is none; ended by the line's end. */
static const char *symbols_value_of(const char *text, const char *name)
{
	const char *at = text;

	while (at && (strncmp(at, name, strlen(name)) || at[strlen(name)] != '=')) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return at ? at + strlen(name) + 1 : "";
}

static void symbols_shift(struct fr_ksym *k, size_t cnt, u64 by)
{
	for (; cnt--; k++) {
		k->addr += by;
		k->begin += k->name ? by : 0;
		k->end += k->end ? by : 0;
	}
}

/* Another boot's modules are not where this one's were. */
static void drop_modules(struct fr_ksym *k, size_t cnt)
{
	for (; cnt--; k++) {
		if (!k->module)
			continue;
		free(k->name);
		free(k->module);
		k->name = k->module = NULL;
	}
}

/* How far away the table's addresses are. 0 or -errno. */
static int find_shift(const struct names *n, struct fr_kallsyms_info *info, u64 *by)
{
	int err = fr_kallsyms_stext(n->path, info);

	*by = n->stext - info->stext;
	return err ?: info->stext || info->hidden ? 0 : -ENODATA;
}

static int symbols_find(void *arg, struct fr_ksym *k, size_t cnt, struct fr_kallsyms_info *info)
{
	const struct names *n = arg;
	u64 by;
	int err = find_shift(n, info, &by);

	if (!err && !info->hidden) {
		symbols_shift(k, cnt, -by);
		err = fr_kallsyms_find(n->path, k, cnt, info);
		symbols_shift(k, cnt, by);
		drop_modules(k, cnt);
		info->stext = n->stext;
	}
	if (err == -ENODATA)
		fr_warn("the kernel's functions have no names: %s has no line for _stext, as /proc/kallsyms and System.map "
			"have",
			n->path);
	else if (err)
		fr_warn_errno(err, "the kernel's functions have no names: cannot read %s", n->path);
	return err;
}

/* Was this machine's kernel, booted now, the one that stopped? */
static bool symbols_is_same(const struct fr_dump_kernel *kernel)
{
	u8 id[FR_BUILD_ID_MAX], sz = fr_build_id_of_kernel(id);

	return sz && sz == kernel->build_id_sz && !memcmp(id, kernel->build_id, sz);
}

int fr_recover_put_kernel(struct fr_recover *r, struct fr_dump *d)
{
	const char *info = r->found.vmcoreinfo ?: "";
	struct names names = {.path = r->ask->kallsyms ?: FR_KALLSYMS};
	struct fr_dump_kernel kernel = {.find = symbols_find, .arg = &names};

	if (!d->addrs)
		return 0;
	fr_addrs_sort(d->addrs);
	names.stext = strtoull(symbols_value_of(info, "SYMBOL(_stext)"), NULL, 16);
	kernel.build_id_sz = fr_hex_bytes(symbols_value_of(info, "BUILD-ID"), kernel.build_id, FR_BUILD_ID_MAX);
	if (!names.stext)
		kernel.why_not = "the crash dump does not say where its kernel was";
	else if (!r->ask->kallsyms && !symbols_is_same(&kernel))
		kernel.why_not = "recovered under another kernel, without --kallsyms";
	return fr_dump_put_kernel(d, &kernel);
}
