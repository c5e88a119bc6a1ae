/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * upformat: what a program's probe records (bpf/up.h): its fields by name and type, where the values come from, and the format
 * that describes them, in the kernel's grammar, so that tpformat.h reads it like a tracepoint's. Pure.
 *
 *	uprobe		ip, and the arguments that are asked for, arg1 to arg6: integers and pointers, as the ABI passes them
 *	uretprobe	caller, duration_ns, ret
 *	usdt		ip, and the mark's arguments, arg1 to arg12, as its notes say where they are
 *
 * Behind them, where there are texts: faulted, one bit for each that could not be read.
 */
#ifndef FR_UPFORMAT_H
#define FR_UPFORMAT_H

#include "base/schema/tpname.h"
#include "base/tp/upspec.h"
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
	u32 nr;		      /* of a mark: which of its arguments, from 1 on; 0: none */
	struct fr_up_arg arg; /* where it comes from: from, sz, is_signed, reg, off */
};

#define FR_UP_WHY_SZ 200

/*
 * The fields of a function's probe: text is what stands in {}, sz bytes, sz 0: none is chosen. 0, *cnt; -EINVAL and why: there
 * is no such argument or type here.
 */
int fr_up_fields(u32 kind, const char *text, size_t sz, struct fr_up_field field[FR_UP_ARG_MAX], u32 *cnt,
		 char why[FR_UP_WHY_SZ]);

/* The same of a mark with these arguments. text NULL: all that can be recorded; for each of the others, lacks is called. */
typedef void (*fr_up_lacks_fn)(void *arg, u32 nr, const char *why);
int fr_up_mark_fields(const struct fr_up_args *args, const char *text, size_t sz, struct fr_up_field field[FR_UP_ARG_MAX],
		      u32 *cnt, fr_up_lacks_fn lacks, void *arg, char why[FR_UP_WHY_SZ]);

/* The marks of flightrec_mark.h: name, arguments as a -e would ask for them, what these are called. */
#define FR_MARK_PROVIDER "flightrec"
#define FR_MARKS(M)                                 \
	M(mark, "arg1:str", "text", "")             \
	M(begin, "arg1:str arg2:u64", "name", "id") \
	M(end, "arg1:str arg2:u64", "name", "id")   \
	M(counter, "arg1:str arg2:s64", "name", "value")

enum fr_mark_nr {
#define M(name, fields, first, second) FR_MARK_##name,
	FR_MARKS(M)
#undef M
		FR_MARK_CNT
};

/* Which of them an event is, by what its option said, "mark:PATH:begin", or else by its name, "mark:FILE__begin"; FR_MARK_CNT:
 * none. */
u32 fr_mark_of(const struct fr_event *ev);

/* The name of the i-th, NULL: there is none. */
const char *fr_mark_name(u32 i);

/* Which has this name; as many as there are: none. */
u32 fr_mark_find(const char *name, size_t len);

/* The fields of the i-th. 0, *cnt; -EINVAL and why: there is none, or the file's notes have other arguments. */
int fr_mark_fields(u32 i, const struct fr_up_args *args, struct fr_up_field field[FR_UP_ARG_MAX], u32 *cnt,
		   char why[FR_UP_WHY_SZ]);

/* Where they are at one site of it, whose note has these arguments. */
void fr_up_mark_place(struct fr_up_field *field, u32 cnt, const char *args);

/* The type that argument nr, from 1 on, has there unless told otherwise; FR_UP_TYPE_CNT and why: it is not recorded. */
u32 fr_up_mark_type(const struct fr_up_args *args, u32 nr, char why[FR_UP_ARGS_WHY_SZ]);

const char *fr_up_type_name(u32 type);

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
