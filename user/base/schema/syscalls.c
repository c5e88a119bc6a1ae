/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/schema/syscalls.h"

#include <string.h>

#include "session.h"

#define CNT(a) (sizeof(a) / sizeof((a)[0]))

/* clang-format off */
#define fr_signature_unknown no_signature
static const struct fr_signature no_signature;
#define SYSCALL(nr, name, args, signature) [nr] = {#name, sizeof(#name) - 1, args, &FR_SIGNATURE(signature)},
static const struct fr_syscall x86_64[] = {
#include "base/schema/syscalls_x86_64.def"
};

static const struct fr_syscall i386[] = {
#include "base/schema/syscalls_i386.def"
};

static const struct fr_syscall aarch64[] = {
#include "base/schema/syscalls_aarch64.def"
};
#undef SYSCALL
#undef fr_signature_unknown
/* clang-format on */

static const struct fr_syscalls tables[] = {
	{"x86_64", 0, x86_64, CNT(x86_64)},
	{"x86_64", 1, i386, CNT(i386)},
	{"aarch64", 0, aarch64, CNT(aarch64)},
};

const struct fr_syscalls *fr_syscalls_find(const char *arch, u32 abi)
{
	size_t i;

	for (i = 0; arch && i < CNT(tables); i++) {
		if (tables[i].abi == abi && !strcmp(tables[i].arch, arch))
			return &tables[i];
	}
	return NULL;
}

static const struct fr_syscall *call_find(const char *arch, u32 abi, s64 nr)
{
	return fr_syscalls_at(fr_syscalls_find(arch, abi), nr);
}

const char *fr_syscall_name(const char *arch, u32 abi, s64 nr)
{
	const struct fr_syscall *c = call_find(arch, abi, nr);

	return c ? c->name : NULL;
}

int fr_syscall_nr(const char *arch, u32 abi, const char *name)
{
	const struct fr_syscalls *t = fr_syscalls_find(arch, abi);
	u32 i;

	for (i = 0; t && i < t->cnt; i++) {
		if (t->call[i].name && !strcmp(t->call[i].name, name))
			return i;
	}
	return -1;
}

int fr_syscall_args(const char *arch, u32 abi, s64 nr)
{
	const struct fr_syscall *c = call_find(arch, abi, nr);

	return c ? c->args : -1;
}

/* As bpf/arch.bpf.h has them; arm's are in no table here. */
void fr_syscall_odd(const char *arch, struct fr_syscall_odd *out)
{
	static const struct fr_syscall_odd x86_64 = {.restart = {219, 0}, .execve = {59, 11}, .execveat = {322, 358}};
	static const struct fr_syscall_odd aarch64 = {.restart = {128, 0}, .execve = {221, 11}, .execveat = {281, 387}};
	static const struct fr_syscall_odd unknown = {.restart = {-1, -1}, .execve = {-1, -1}, .execveat = {-1, -1}};

	*out = !arch ? unknown : !strcmp(arch, "x86_64") ? x86_64 : !strcmp(arch, "aarch64") ? aarch64 : unknown;
}

u8 fr_syscall_says(const struct fr_syscall *call)
{
	const char *name = call->name ?: "";

	return !strcmp(name, "write") ? FR_CALL_SAYS : !strcmp(name, "writev") ? FR_CALL_SAYS | FR_CALL_SAYS_VEC : 0;
}

u8 fr_syscall_texts(const struct fr_syscall *call)
{
	u32 shift = 0, bits = 0;
	s32 i;

	for (i = 0; i < call->args && call->signature->args && shift <= FR_CALL_TEXT2; i++) {
		u8 kind = call->signature->args[i].kind;

		if (kind == FR_ARG_TEXT || (kind == FR_ARG_SOCKADDR && !shift)) {
			bits |= (u32)(i + 1) << shift | (kind == FR_ARG_SOCKADDR ? FR_CALL_TEXT_ADDR : 0);
			shift += FR_CALL_TEXT2;
		}
	}
	return bits;
}
