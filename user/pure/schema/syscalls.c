/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure/schema/syscalls.h"

#include <string.h>

#define CNT(a) (sizeof(a) / sizeof((a)[0]))

/* By number; what is between has no name. */
struct call {
	const char *name;
	s8 args;
};

struct table {
	const char *arch;
	u32 abi;
	const struct call *call;
	u32 cnt;
};

/* clang-format off */
#define SYSCALL(nr, name, args) [nr] = {#name, args},
static const struct call x86_64[] = {
#include "pure/schema/syscalls_x86_64.def"
};

static const struct call i386[] = {
#include "pure/schema/syscalls_i386.def"
};

static const struct call aarch64[] = {
#include "pure/schema/syscalls_aarch64.def"
};
#undef SYSCALL
/* clang-format on */

static const struct table tables[] = {
	{"x86_64", 0, x86_64, CNT(x86_64)},
	{"x86_64", 1, i386, CNT(i386)},
	{"aarch64", 0, aarch64, CNT(aarch64)},
};

static const struct table *table_find(const char *arch, u32 abi)
{
	size_t i;

	for (i = 0; i < CNT(tables); i++) {
		if (tables[i].abi == abi && !strcmp(tables[i].arch, arch))
			return &tables[i];
	}
	return NULL;
}

static const struct call *call_find(const char *arch, u32 abi, s64 nr)
{
	const struct table *t = table_find(arch, abi);

	return t && nr >= 0 && nr < t->cnt && t->call[nr].name ? &t->call[nr] : NULL;
}

const char *fr_syscall_name(const char *arch, u32 abi, s64 nr)
{
	const struct call *c = call_find(arch, abi, nr);

	return c ? c->name : NULL;
}

int fr_syscall_nr(const char *arch, u32 abi, const char *name)
{
	const struct table *t = table_find(arch, abi);
	u32 i;

	for (i = 0; t && i < t->cnt; i++) {
		if (t->call[i].name && !strcmp(t->call[i].name, name))
			return i;
	}
	return -1;
}

int fr_syscall_args(const char *arch, u32 abi, s64 nr)
{
	const struct call *c = call_find(arch, abi, nr);

	return c ? c->args : -1;
}
