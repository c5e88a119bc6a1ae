/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * upformat: what a program's probe records (bpf/up.h): its fields by name and type, where the values come from, and the format
 * that describes them, in the kernel's grammar, so that tpformat.h reads it like a tracepoint's. Pure.
 *
 *	uprobe		ip, and the arguments that are asked for, arg1 to arg6: integers and pointers, as the ABI passes them
 *	uretprobe	caller, duration_ns, ret
 *
 * Behind them, where there are texts: faulted, one bit for each that could not be read.
 */
#ifndef FR_UPFORMAT_H
#define FR_UPFORMAT_H

#include "base/schema/tpname.h"
#include "up.h"

/* u64 to s8, ptr, str: name, the format's type, bytes (0: a text), signed, conversion. */
#define FR_UP_TYPES(T)                   \
	T(u8, "u8", 1, 0, "%u")          \
	T(u16, "u16", 2, 0, "%u")        \
	T(u32, "u32", 4, 0, "%u")        \
	T(u64, "u64", 8, 0, "%llu")      \
	T(s8, "s8", 1, 1, "%hhd")        \
	T(s16, "s16", 2, 1, "%hd")       \
	T(s32, "s32", 4, 1, "%d")        \
	T(s64, "s64", 8, 1, "%lld")      \
	T(ptr, "void *", 8, 0, "0x%llx") \
	T(str, "__data_loc char[]", 0, 0, "\\\"%s\\\"")

enum fr_up_type {
#define T(name, c, sz, is_signed, conv) FR_UP_TYPE_##name,
	FR_UP_TYPES(T)
#undef T
		FR_UP_TYPE_CNT
};

struct fr_up_field {
	char name[16];
	u32 type;	      /* enum fr_up_type */
	struct fr_up_arg arg; /* where it comes from: from, sz, is_signed, reg, off */
};

#define FR_UP_WHY_SZ 200

/*
 * The fields of a function's probe: text is what stands in {}, sz bytes, sz 0: none is chosen. 0, *cnt; -EINVAL and why: there
 * is no such argument or type here.
 */
int fr_up_fields(u32 kind, const char *text, size_t sz, struct fr_up_field field[FR_UP_ARG_MAX], u32 *cnt,
		 char why[FR_UP_WHY_SZ]);

/* Lay out a record of these fields. 0; -E2BIG: it has no room for them. */
int fr_up_layout(const struct fr_up_field *field, u32 cnt, struct fr_up *out);

/* Its format: malloc'ed, NUL-terminated, *sz bytes; NULL: no memory. */
char *fr_up_format(const char *name, u32 id, const struct fr_up_field *field, u32 cnt, const struct fr_up *up, size_t *sz);

/*
 * The event's name for a place in a file: the file's up to its first dot, two underscores, the place; what no identifier has
 * becomes _, and one that is too long ends with a hash of all of it.
 */
void fr_up_name(u32 kind, const char *path, const char *place, char to[FR_NAME_MAX + 1]);

#endif
