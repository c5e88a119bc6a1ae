/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/tp/upformat.h"

#include <asm/ptrace.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/memfile.h"
#include "base/text/nearest.h"

#if defined(__x86_64__)
#define REG(name) offsetof(struct pt_regs, name)
static const u16 arg_reg[] = {REG(rdi), REG(rsi), REG(rdx), REG(rcx), REG(r8), REG(r9)};
#define RET_REG REG(rax)
#define PC_REG	REG(rip)
#elif defined(__aarch64__)
#define REG(name) offsetof(struct user_pt_regs, name)
static const u16 arg_reg[] = {REG(regs[0]), REG(regs[1]), REG(regs[2]), REG(regs[3]),
			      REG(regs[4]), REG(regs[5]), REG(regs[6]), REG(regs[7])};
#define RET_REG	  REG(regs[0])
#define PC_REG	  REG(pc)
#else
#error "which registers have a function's arguments?"
#endif

#define ARG_CNT (sizeof(arg_reg) / sizeof(arg_reg[0]))

static const struct type {
	const char *name, *c, *conv;
	u8 sz;
	bool is_signed;
} types[FR_UP_TYPE_CNT] = {
#define T(name, c, sz, is_signed, conv) [FR_UP_TYPE_##name] = {#name, c, conv, sz, is_signed},
	FR_UP_TYPES(T)
#undef T
};

/* ---- which ---- */

static int up_fail(char why[FR_UP_WHY_SZ], const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int up_fail(char why[FR_UP_WHY_SZ], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, FR_UP_WHY_SZ, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static void up_add(struct fr_up_field *field, u32 *cnt, const char *name, u32 type, u32 from, u32 reg)
{
	struct fr_up_field *f = &field[(*cnt)++];

	*f = (struct fr_up_field){.type = type};
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->arg = (struct fr_up_arg){
		.from = from, .reg = reg, .sz = types[type].sz ?: sizeof(u64), .is_signed = types[type].is_signed};
}

static int up_type_of(const char *word, u32 *type, char why[FR_UP_WHY_SZ])
{
	struct fr_nearest near = {.to = word};
	const char *like;

	for (*type = 0; *type < FR_UP_TYPE_CNT; ++*type) {
		if (!strcmp(types[*type].name, word))
			return 0;
		fr_nearest_consider(&near, types[*type].name);
	}
	like = fr_nearest_likely(&near);
	return up_fail(why, "no type '%s'%s%s: u8 to u64, s8 to s64, ptr, or str, a text that it points to", word,
		       like ? ": did you mean " : "", like ?: "");
}

static int up_check_new(const char *word, const struct fr_up_field *field, u32 cnt, char why[FR_UP_WHY_SZ])
{
	u32 i;

	for (i = 0; i < cnt; i++)
		if (!strcmp(field[i].name, word))
			return up_fail(why, "%s is there twice", word);
	return cnt == FR_UP_ARG_MAX ? up_fail(why, "these are too many") : 0;
}

/* "arg2:str" */
static int up_take(u32 kind, char *word, struct fr_up_field *field, u32 *cnt, char why[FR_UP_WHY_SZ])
{
	char *colon = strchr(word, ':');
	u32 type;
	int err;

	if (!colon || !colon[1])
		return up_fail(why, "'%s' has no type: %s", word, kind == FR_UP_uprobe ? "{arg1:u64, arg2:str}" : "{ret:s32}");
	*colon = 0;
	err = up_type_of(colon + 1, &type, why) ?: up_check_new(word, field, *cnt, why);
	if (err)
		return err;
	if (kind == FR_UP_uretprobe) {
		if (strcmp(word, "ret") != 0)
			return up_fail(why, "no '%s' where a function returns: {ret:s32}; its arguments are a uprobe's", word);
		up_add(field, cnt, word, type, FR_UP_REG, RET_REG);
		return 0;
	}
	if (strncmp(word, "arg", 3) || word[3] < '1' || word[3] > '0' + (int)ARG_CNT || word[4])
		return up_fail(why, "no '%s' where a function is called: arg1 to arg%zu, which are in registers", word,
			       ARG_CNT);
	up_add(field, cnt, word, type, FR_UP_REG, arg_reg[word[3] - '1']);
	return 0;
}

static int up_check_texts(const struct fr_up_field *field, u32 cnt, char why[FR_UP_WHY_SZ])
{
	u32 texts = 0, i;

	for (i = 0; i < cnt; i++)
		texts += field[i].type == FR_UP_TYPE_str;
	return texts > FR_UP_TEXT_CNT ? up_fail(why, "these are more than %u texts", FR_UP_TEXT_CNT) : 0;
}

int fr_up_fields(u32 kind, const char *text, size_t sz, struct fr_up_field field[FR_UP_ARG_MAX], u32 *cnt,
		 char why[FR_UP_WHY_SZ])
{
	char copy[256], *word, *save = NULL;
	int err = 0;

	*cnt = 0;
	if (sz >= sizeof(copy))
		return up_fail(why, "the choice of fields is too long");
	memcpy(copy, text ?: "", sz);
	copy[sz] = 0;
	up_add(field, cnt, kind == FR_UP_uretprobe ? "caller" : "ip", FR_UP_TYPE_ptr, FR_UP_REG, PC_REG);
	if (kind == FR_UP_uretprobe)
		up_add(field, cnt, "duration_ns", FR_UP_TYPE_u64, FR_UP_LASTED, 0);
	if (kind == FR_UP_uretprobe && !sz)
		up_add(field, cnt, "ret", FR_UP_TYPE_s64, FR_UP_REG, RET_REG);
	for (word = strtok_r(copy, ", \t", &save); word && !err; word = strtok_r(NULL, ", \t", &save))
		err = up_take(kind, word, field, cnt, why);
	return err ?: up_check_texts(field, *cnt, why);
}

/* ---- of a mark ---- */

static u32 up_type_with(u8 sz, bool is_signed)
{
	u32 type;

	for (type = 0; type < FR_UP_TYPE_CNT; type++) /* a number comes before the address of its size */
		if (types[type].sz == sz && types[type].is_signed == is_signed)
			break;
	return type;
}

u32 fr_up_mark_type(const struct fr_up_args *args, u32 nr, char why[FR_UP_ARGS_WHY_SZ])
{
	bool is_signed;
	u8 sz;

	if (!fr_up_args_are_known(args, nr - 1, why) || !fr_up_args_type(args, nr - 1, &sz, &is_signed, why))
		return FR_UP_TYPE_CNT;
	return up_type_with(sz, is_signed);
}

static void up_add_arg(struct fr_up_field *field, u32 *cnt, u32 nr, u32 type)
{
	char name[16];

	snprintf(name, sizeof(name), "arg%u", nr);
	up_add(field, cnt, name, type, FR_UP_CONST, 0);
	field[*cnt - 1].nr = nr;
}

/* "arg2", as its notes have it, or "arg2:str" */
static int up_take_arg(const struct fr_up_args *args, char *word, struct fr_up_field *field, u32 *cnt, char why[FR_UP_WHY_SZ])
{
	char *colon = strchr(word, ':'), *end = word, about[FR_UP_ARGS_WHY_SZ];
	u32 type = FR_UP_TYPE_CNT;
	u64 nr = 0;
	int err;

	if (colon)
		*colon = 0;
	err = up_check_new(word, field, *cnt, why) ?: colon ? up_type_of(colon + 1, &type, why) : 0;
	if (err)
		return err;
	if (!strncmp(word, "arg", 3) && word[3] >= '1' && word[3] <= '9')
		nr = strtoull(word + 3, &end, 10);
	if (!nr || *end || nr > FR_UP_SPEC_MAX)
		return up_fail(why, "no '%s' of a mark: arg1 to arg%u", word, FR_UP_SPEC_MAX);
	if (colon && !fr_up_args_are_known(args, nr - 1, about))
		return up_fail(why, "no %s: %s", word, about);
	if (!colon)
		type = fr_up_mark_type(args, nr, about);
	if (type == FR_UP_TYPE_CNT)
		return up_fail(why, "no %s: %s", word, about);
	if (type == FR_UP_TYPE_str && args->arg[nr - 1].least_sz < sizeof(u64))
		return up_fail(why, "%s has %u bytes, so it is no text's address", word, args->arg[nr - 1].least_sz);
	up_add_arg(field, cnt, nr, type);
	return 0;
}

static void up_take_all(const struct fr_up_args *args, struct fr_up_field *field, u32 *cnt, fr_up_lacks_fn lacks, void *arg)
{
	char why[FR_UP_ARGS_WHY_SZ];
	u32 i, type;

	for (i = 1; i <= args->cnt; i++) {
		type = fr_up_mark_type(args, i, why);
		if (type == FR_UP_TYPE_CNT)
			lacks(arg, i, why);
		else
			up_add_arg(field, cnt, i, type);
	}
}

int fr_up_mark_fields(const struct fr_up_args *args, const char *text, size_t sz, struct fr_up_field field[FR_UP_ARG_MAX],
		      u32 *cnt, fr_up_lacks_fn lacks, void *arg, char why[FR_UP_WHY_SZ])
{
	char copy[256], *word, *save = NULL;
	int err = 0;

	*cnt = 0;
	up_add(field, cnt, "ip", FR_UP_TYPE_ptr, FR_UP_REG, PC_REG);
	if (!text) {
		up_take_all(args, field, cnt, lacks, arg);
		return 0;
	}
	if (sz >= sizeof(copy))
		return up_fail(why, "the choice of fields is too long");
	memcpy(copy, text, sz);
	copy[sz] = 0;
	for (word = strtok_r(copy, ", \t", &save); word && !err; word = strtok_r(NULL, ", \t", &save))
		err = up_take_arg(args, word, field, cnt, why);
	return err ?: up_check_texts(field, *cnt, why);
}

static const struct mark {
	const char *name, *fields, *called[2];
} marks[] = {
#define M(name, fields, first, second) {#name, fields, {first, second}},
	FR_MARKS(M)
#undef M
};

#define MARK_CNT (sizeof(marks) / sizeof(marks[0]))

const char *fr_mark_name(u32 i)
{
	return i < MARK_CNT ? marks[i].name : NULL;
}

u32 fr_mark_find(const char *name, size_t len)
{
	u32 i;

	for (i = 0; i < MARK_CNT && (strlen(marks[i].name) != len || memcmp(marks[i].name, name, len) != 0); i++)
		;
	return i;
}

u32 fr_mark_of(const struct fr_event *ev)
{
	const char *place = NULL, *at;

	if (fr_up_kind_of(ev->name) != FR_UP_mark)
		return FR_MARK_CNT;
	if (ev->doc && fr_up_kind_of(ev->doc) == FR_UP_mark && (at = strchr(strchr(ev->doc, ':') + 1, ':')))
		place = at + 1;
	for (at = place ? NULL : ev->name; at; at = strstr(at + 1, "__"))
		place = at == ev->name ? "" : at + 2;
	return fr_mark_find(place, strspn(place, "abcdefghijklmnopqrstuvwxyz"));
}

int fr_mark_fields(u32 i, const struct fr_up_args *args, struct fr_up_field field[FR_UP_ARG_MAX], u32 *cnt,
		   char why[FR_UP_WHY_SZ])
{
	const char *fields = i < MARK_CNT ? marks[i].fields : NULL;
	int err;
	u32 k;

	*cnt = 0;
	if (!fields)
		return up_fail(why, "flightrec_mark.h has no mark of this name");
	err = fr_up_mark_fields(args, fields, strlen(fields), field, cnt, NULL, NULL, why);
	for (k = 0; k < *cnt && !err; k++)
		if (field[k].nr)
			snprintf(field[k].name, sizeof(field[k].name), "%s", marks[i].called[field[k].nr - 1]);
	return err;
}

void fr_up_mark_place(struct fr_up_field *field, u32 cnt, const char *args)
{
	struct fr_up_spec spec[FR_UP_SPEC_MAX];
	u32 there = fr_up_specs(FR_UP_ARCH_HERE, args, spec), i;

	for (i = 0; i < cnt; i++)
		if (field[i].nr && field[i].nr <= there)
			field[i].arg = spec[field[i].nr - 1].arg;
}

const char *fr_up_type_name(u32 type)
{
	return type < FR_UP_TYPE_CNT ? types[type].name : NULL;
}

/* ---- a record ---- */

static u32 up_place(u32 *end, u32 sz)
{
	u32 at = (*end + sz - 1) / sz * sz;

	*end = at + sz;
	return at;
}

int fr_up_layout(const struct fr_up_field *field, u32 cnt, struct fr_up *out)
{
	u32 end = 0, texts = 0, i;

	*out = (struct fr_up){.arg_cnt = cnt};
	for (i = 0; i < cnt; i++) {
		const struct type *t = &types[field[i].type];

		out->arg[i] = field[i].arg;
		out->arg[i].to_sz = t->sz;
		out->arg[i].to = up_place(&end, t->sz ?: sizeof(u32));
		out->is_return |= field[i].arg.from == FR_UP_LASTED;
		texts += !t->sz;
	}
	if (texts)
		out->faulted = up_place(&end, sizeof(u32));
	out->fixed_sz = end;
	return end < FR_UP_FIXED_SZ && texts <= FR_UP_TEXT_CNT ? 0 : -E2BIG;
}

static void up_put_field(FILE *f, const char *type, const char *name, u32 at, u32 sz, bool is_signed)
{
	fprintf(f, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", type, name, at, sz, is_signed);
}

static void up_put_fields(FILE *f, const struct fr_up_field *field, u32 cnt, const struct fr_up *up)
{
	u32 i;

	up_put_field(f, "unsigned short", "common_type", 0, 2, false);
	up_put_field(f, "unsigned char", "common_flags", 2, 1, false);
	up_put_field(f, "unsigned char", "common_preempt_count", 3, 1, false);
	up_put_field(f, "int", "common_pid", 4, 4, true);
	fputc('\n', f);
	for (i = 0; i < cnt; i++) {
		const struct type *t = &types[field[i].type];

		up_put_field(f, t->c, field[i].name, FR_TP_HEAD_SZ + up->arg[i].to, t->sz ?: sizeof(u32), t->is_signed);
	}
	if (up->faulted)
		up_put_field(f, "u32", "faulted", FR_TP_HEAD_SZ + up->faulted, sizeof(u32), false);
}

static void up_put_words(FILE *f, const struct fr_up_field *field, u32 cnt, const struct fr_up *up)
{
	const char *delim = "";
	u32 i;

	fputs("\nprint fmt: \"", f);
	for (i = 0; i < cnt; i++)
		fprintf(f, "%s%s=%s", i ? " " : "", field[i].name, types[field[i].type].conv);
	fputs(up->faulted ? "%s%s\"" : "\"", f);
	for (i = 0; i < cnt; i++)
		fprintf(f, field[i].type == FR_UP_TYPE_str ? ", __get_str(%s)" : ", REC->%s", field[i].name);
	if (up->faulted) {
		fputs(", REC->faulted ? \" faulted=\" : \"\", __print_flags(REC->faulted, \"|\", ", f);
		for (i = 0; i < cnt; i++)
			if (field[i].type == FR_UP_TYPE_str) {
				fprintf(f, "%s{ 0x%x, \"%s\" }", delim, 1u << i, field[i].name);
				delim = ", ";
			}
		fputc(')', f);
	}
	fputc('\n', f);
}

char *fr_up_format(const char *name, u32 id, const struct fr_up_field *field, u32 cnt, const struct fr_up *up, size_t *sz)
{
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);

	if (!f)
		return NULL;
	fprintf(f, "name: %s\nID: %u\nformat:\n", name, id);
	up_put_fields(f, field, cnt, up);
	up_put_words(f, field, cnt, up);
	return fr_memfile_end(&m, sz);
}

/* ---- its name ---- */

#define HASH_LEN 9u /* _ and eight digits */

static u32 up_hash(u32 hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (u8)*text) * 16777619u;
	return hash;
}

void fr_up_name(u32 kind, const char *path, const char *place, char to[FR_NAME_MAX + 1])
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t room = FR_NAME_MAX - strlen(fr_up_kind_name(kind)) - sizeof(FR_TP_PREFIX), len, i;
	char full[1024];

	len = snprintf(full, sizeof(full), "%s%.*s__%s", *base >= '0' && *base <= '9' ? "_" : "", (int)strcspn(base, "."), base,
		       place);
	if (len >= sizeof(full))
		len = sizeof(full) - 1;
	for (i = 0; i < len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", full[i]))
			full[i] = '_';
	if (len > room)
		snprintf(full + room - HASH_LEN, HASH_LEN + 1, "_%08x", up_hash(up_hash(2166136261u, base), place));
	snprintf(to, FR_NAME_MAX + 1, "%.*s", FR_NAME_MAX, full);
}
