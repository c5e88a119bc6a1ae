/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/tp/tpformat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "base/schema/tpname.h"
#include "base/text/memfile.h"
#include "base/text/nearest.h"
#include "base/tp/tpwords.h"

/*
 * A record is copied before it is printed, and zeros follow it: that library reads up to the end of a text, and up to an
 * address's or an array's size from where a field begins.
 */
#define RECORD_ROOM_SZ 4096u
#define BEHIND_SZ      8192u
#define ELEM_MAX_SZ    8u
#define INDEX_MAX      (BEHIND_SZ / ELEM_MAX_SZ / 2)
#define WIDTH_DIGITS   3u    /* of a conversion: %5u, never %1000000u */
#define NESTED_MAX     64u   /* parentheses in each other, of which the parser calls itself */
#define OPS_MAX	       500u  /* operators of one expression, likewise */
#define LEN_MAX	       2048u /* elements that a record may have */

struct fr_tpformat {
	char *system, *name, *doc;
	struct tep_handle *tep;
	struct tep_event *ev; /* of tep */
	struct tep_format_field **field;
	u32 field_cnt;
	bool *chosen;	/* [field_cnt] of those that are recorded; NULL: all are */
	bool *lacking;	/* [field_cnt] of those that a file's event has not; NULL: it has all */
	bool has_words; /* the text's own may be printed */
	struct trace_seq seq;
	u8 *room; /* [RECORD_ROOM_SZ + BEHIND_SZ] */
};

/* ---- looking at a text ---- */

static bool tpformat_is_plain(const char *text, size_t sz)
{
	size_t i;

	if (!sz || sz > FR_TPFORMAT_MAX_SZ)
		return false;
	for (i = 0; i < sz; i++)
		if (((u8)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t') || text[i] == 0x7f)
			return false;
	return true;
}

/* Behind a division's operator: a number that is not 0, perhaps in parentheses. Anything else may be 0. */
static bool divides_well(const char *p)
{
	p += strspn(p, " (\t");
	return *p >= '1' && *p <= '9';
}

/* Would the parser call itself without end, or divide by nothing? From behind "print fmt:" on. */
static bool is_shallow(const char *p)
{
	u32 nested = 0, ops = 0;
	bool quoted = false;

	for (; *p; p++) {
		if (quoted) {
			if (*p == '\\' && p[1])
				p++;
			else if (*p == '"')
				quoted = false;
			continue;
		}
		if (strchr("([{", *p))
			nested++;
		else if (strchr(")]}", *p))
			nested -= nested > 0;
		else if (*p == ',')
			ops = 0;
		else if (*p == '"')
			quoted = true;
		if (strchr("/%", *p) && !divides_well(p + 1))
			return false;
		ops += strchr("+-*/%<>=!~&|^?:([{", *p) != NULL;
		if (nested > NESTED_MAX || ops > OPS_MAX)
			return false;
	}
	return true;
}

/* Conversions that print what they are given in a bounded width, and take no length from a record: %.*s is bounded by its NUL.
 */
static bool conversions_are_good(const char *p)
{
	for (; (p = strchr(p, '%')); p++) {
		if (p[1] == '%') {
			p++;
			continue;
		}
		p++;
		p += strspn(p, "-+ #0");
		if (strspn(p, "0123456789") > WIDTH_DIGITS)
			return false;
		p += strspn(p, "0123456789");
		if (!strncmp(p, ".*s", 3))
			continue;
		if (*p == '.') {
			p++;
			if (strspn(p, "0123456789") > WIDTH_DIGITS)
				return false;
			p += strspn(p, "0123456789");
		}
		if (!*p || *p == '*' || *p == '.')
			return false;
	}
	return true;
}

/* ---- looking at what was parsed ---- */

static bool field_is_good(const struct tep_format_field *f)
{
	if (!f->name || !f->type || f->offset < 0 || f->size < 0 || f->offset > (int)RECORD_ROOM_SZ ||
	    f->size > (int)RECORD_ROOM_SZ)
		return false;
	if ((u32)f->offset + f->size > FR_TP_HEAD_SZ + FR_TP_ROOM_SZ || f->elementsize > RECORD_ROOM_SZ)
		return false;
	return !(f->flags & TEP_FIELD_IS_DYNAMIC) || f->size == sizeof(u32);
}

static bool fields_are_good(const struct tep_format_field *f)
{
	for (; f; f = f->next)
		if (!field_is_good(f))
			return false;
	return true;
}

static bool is_lacking(const struct fr_tpformat *t, const struct tep_format_field *f)
{
	u32 i;

	for (i = 0; t->lacking && i < t->field_cnt; i++)
		if (t->lacking[i] && t->field[i] == f)
			return true;
	return false;
}

/* What is not recorded is not found. */
static const struct tep_format_field *tpformat_find(const struct fr_tpformat *t, const char *name)
{
	const struct tep_format_field *f = name ? tep_find_any_field(t->ev, name) : NULL;

	return f && is_lacking(t, f) ? NULL : f;
}

/* A number in the text; -1: it is none. */
static s64 atom(const struct tep_print_arg *arg)
{
	char *end;
	s64 v;

	if (!arg || arg->type != TEP_PRINT_ATOM)
		return -1;
	v = strtoll(arg->atom.atom, &end, 0);
	return *end || v < 0 ? -1 : v;
}

static bool is_word_of(const struct fr_tpformat *t, const char *name, unsigned long flag)
{
	const struct tep_format_field *f = tpformat_find(t, name);

	return f && f->flags & flag;
}

static bool arg_is_safe(const struct fr_tpformat *t, const struct tep_print_arg *arg);

/* The element of an array with a number that the text gives. */
static bool index_is_safe(const struct fr_tpformat *t, const struct tep_print_arg *arg)
{
	const struct tep_print_arg *of = arg->op.left;
	s64 i = atom(arg->op.right);
	const struct tep_format_field *f = NULL;

	while (of && of->type == TEP_PRINT_TYPE)
		of = of->typecast.item;
	if (of && of->type == TEP_PRINT_FIELD)
		f = tpformat_find(t, of->field.name);
	return f && i >= 0 && i < INDEX_MAX && f->elementsize <= ELEM_MAX_SZ;
}

static bool op_is_safe(const struct fr_tpformat *t, const struct tep_print_arg *arg)
{
	char op = *arg->op.op;

	if (op == '[')
		return index_is_safe(t, arg);
	if ((op == '/' || op == '%') && atom(arg->op.right) <= 0)
		return false;
	return arg_is_safe(t, arg->op.left) && arg_is_safe(t, arg->op.right);
}

/* Printing it reads nothing but the record, and ends. What takes a length from the record, or calls a function, does not count.
 */
static bool arg_is_safe(const struct fr_tpformat *t, const struct tep_print_arg *arg)
{
	if (!arg)
		return true;
	switch (arg->type) {
	case TEP_PRINT_NULL:
	case TEP_PRINT_ATOM:
		return true;
	case TEP_PRINT_FIELD:
		return tpformat_find(t, arg->field.name);
	case TEP_PRINT_FLAGS:
		return arg_is_safe(t, arg->flags.field);
	case TEP_PRINT_SYMBOL:
		return arg_is_safe(t, arg->symbol.field);
	case TEP_PRINT_TYPE:
		return arg_is_safe(t, arg->typecast.item);
	case TEP_PRINT_STRING:
		return is_word_of(t, arg->string.string, TEP_FIELD_IS_DYNAMIC);
	case TEP_PRINT_BITMASK:
		return is_word_of(t, arg->bitmask.bitmask, TEP_FIELD_IS_DYNAMIC);
	case TEP_PRINT_DYNAMIC_ARRAY:
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return arg->dynarray.field && arg->dynarray.field->flags & TEP_FIELD_IS_DYNAMIC && !arg->dynarray.index &&
		       !is_lacking(t, arg->dynarray.field);
	case TEP_PRINT_OP:
		return op_is_safe(t, arg);
	default:
		return false;
	}
}

/* How many bytes or elements the text asks for; false: that is not known before it is printed. */
static bool tpformat_count_of(const struct fr_tpformat *t, const struct tep_print_arg *arg, u64 *cnt)
{
	const struct tep_format_field *f;

	while (arg && arg->type == TEP_PRINT_TYPE)
		arg = arg->typecast.item;
	if (!arg)
		return false;
	switch (arg->type) {
	case TEP_PRINT_ATOM:
		*cnt = atom(arg);
		return true;
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		*cnt = RECORD_ROOM_SZ / 2; /* at most a record's, see hold_words() */
		return arg->dynarray.field;
	case TEP_PRINT_FIELD:
		f = tpformat_find(t, arg->field.name);
		*cnt = f && f->offset + f->size <= (int)RECORD_ROOM_SZ ? tep_read_number(t->tep, t->room + f->offset, f->size)
								       : ~0ULL;
		return f;
	case TEP_PRINT_OP:
		/* a division makes it less */
		return strchr("/", *arg->op.op) && atom(arg->op.right) > 0 && tpformat_count_of(t, arg->op.left, cnt);
	default:
		return false;
	}
}

/* An array of the record, or what a word of it names. */
static bool is_array_of(const struct fr_tpformat *t, const struct tep_print_arg *arg)
{
	while (arg && arg->type == TEP_PRINT_TYPE)
		arg = arg->typecast.item;
	if (!arg)
		return false;
	if (arg->type == TEP_PRINT_FIELD)
		return tpformat_find(t, arg->field.name);
	return arg->type == TEP_PRINT_DYNAMIC_ARRAY && arg_is_safe(t, arg);
}

static bool bytes_are_safe(const struct fr_tpformat *t, const struct tep_print_arg *of, const struct tep_print_arg *cnt,
			   u64 one)
{
	u64 n;

	return is_array_of(t, of) && one <= ELEM_MAX_SZ && tpformat_count_of(t, cnt, &n) && n <= LEN_MAX &&
	       n * one <= BEHIND_SZ;
}

/* The same of what prints bytes or elements, of this record: it is in t->room. */
static bool now_is_safe(const struct fr_tpformat *t, const struct tep_print_arg *arg)
{
	switch (arg->type) {
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		return bytes_are_safe(t, arg->hex.field, arg->hex.size, 1);
	case TEP_PRINT_INT_ARRAY:
		return atom(arg->int_array.el_size) > 0 &&
		       bytes_are_safe(t, arg->int_array.field, arg->int_array.count, atom(arg->int_array.el_size));
	default:
		return true;
	}
}

static bool prints_bytes(const struct tep_print_arg *arg)
{
	return arg->type == TEP_PRINT_HEX || arg->type == TEP_PRINT_HEX_STR || arg->type == TEP_PRINT_INT_ARRAY;
}

static bool words_are_good(const struct fr_tpformat *t)
{
	const struct tep_print_arg *arg;

	if (t->ev->flags & TEP_EVENT_FL_FAILED || !t->ev->print_fmt.format || !conversions_are_good(t->ev->print_fmt.format))
		return false;
	for (arg = t->ev->print_fmt.args; arg; arg = arg->next)
		if (!prints_bytes(arg) && !arg_is_safe(t, arg))
			return false;
	return true;
}

/* ---- making one ---- */

static u32 count_fields(const struct tep_format_field *f)
{
	u32 cnt = 0;

	for (; f; f = f->next)
		cnt++;
	return cnt;
}

static int by_off(const void *a, const void *b)
{
	const struct tep_format_field *x = *(struct tep_format_field *const *)a, *y = *(struct tep_format_field *const *)b;

	return x->offset != y->offset ? x->offset - y->offset : x->size - y->size;
}

static int list_fields(struct fr_tpformat *t)
{
	struct tep_format_field *f = t->ev->format.fields;

	t->field = calloc(count_fields(f) + 1, sizeof(struct tep_format_field *));
	if (!t->field)
		return -ENOMEM;
	for (; f; f = f->next)
		if (f->size) /* an array of none is where texts begin */
			t->field[t->field_cnt++] = f;
	qsort(t->field, t->field_cnt, sizeof(struct tep_format_field *), by_off);
	return 0;
}

/* Are all its fields read? That library stops at one that it does not understand, and does not say so. */
static bool tpformat_has_all_fields(const struct fr_tpformat *t, const char *text)
{
	u32 cnt = 0;

	for (; (text = strstr(text, "\n\tfield")); text++)
		cnt++;
	return cnt == count_fields(t->ev->format.common_fields) + count_fields(t->ev->format.fields);
}

#define WORDS "\nprint fmt:"

/* Words that the parser could stumble over are none: the fields are there without them. */
static int tpformat_parse(struct fr_tpformat *t, const char *text, size_t sz)
{
	char *copy = strndup(text, sz), *words = copy ? strstr(copy, WORDS) : NULL;
	bool is_tracer = !strcmp(t->system, "ftrace"); /* whose records that library reads by rules of its own */
	int err = !copy ? -ENOMEM : is_tracer || !tpformat_is_plain(text, sz) || strlen(copy) != sz ? -EINVAL : 0;

	if (!err && !fr_tpfields_are_sound(copy, words ? words : copy + sz))
		err = -EINVAL;
	t->has_words = words && is_shallow(words + strlen(WORDS)) && fr_tpwords_are_sound(copy, words, words + strlen(WORDS));
	if (words && !t->has_words)
		words[1] = 0;

	tep_set_loglevel(TEP_LOG_NONE);
	t->tep = err ? NULL : tep_alloc();
	if (!err && !t->tep)
		err = -ENOMEM;
	if (!err) {
		tep_set_long_size(t->tep, sizeof(u64));
		tep_set_file_bigendian(t->tep, TEP_LITTLE_ENDIAN);
		tep_set_local_bigendian(t->tep, TEP_LITTLE_ENDIAN);
		tep_parse_event(t->tep, copy, strlen(copy), t->system); /* words that it cannot parse, it notes */
		t->ev = tep_get_first_event(t->tep);
		err = t->ev && tpformat_has_all_fields(t, copy) ? 0 : -EINVAL;
	}
	free(copy);
	return err;
}

/* A record begins with its event's number, which ours lacks and take_record() sets. */
static bool has_type_first(const struct fr_tpformat *t)
{
	const struct tep_format_field *type = tpformat_find(t, "common_type");

	return type && type->offset == 0 && type->size == sizeof(u16);
}

int fr_tpformat_new(const char *system, const char *name, const char *text, size_t sz, struct fr_tpformat **out)
{
	struct fr_tpformat *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	trace_seq_init(&t->seq);
	t->system = strdup(system);
	t->name = strdup(name);
	t->room = calloc(1, RECORD_ROOM_SZ + BEHIND_SZ);
	err = t->system && t->name && t->room ? tpformat_parse(t, text, sz) : -ENOMEM;
	if (!err && (!fields_are_good(t->ev->format.fields) || !fields_are_good(t->ev->format.common_fields) ||
		     !has_type_first(t) || strcmp(t->ev->name, name)))
		err = -EINVAL;
	err = err ?: list_fields(t);
	if (err) {
		fr_tpformat_free(t);
		return err;
	}
	t->has_words = t->has_words && words_are_good(t);
	*out = t;
	return 0;
}

void fr_tpformat_free(struct fr_tpformat *t)
{
	if (!t)
		return;
	trace_seq_destroy(&t->seq);
	if (t->tep)
		tep_free(t->tep);
	free(t->field);
	free(t->chosen);
	free(t->lacking);
	free(t->room);
	free(t->system);
	free(t->name);
	free(t->doc);
	free(t);
}

/* ---- fields ---- */

u32 fr_tpformat_field_cnt(const struct fr_tpformat *t)
{
	return t->field_cnt;
}

static bool is_char(const char *type)
{
	const char *at = strstr(type, "char");

	return at && !strstr(type, "unsigned char");
}

struct fr_tpfield fr_tpformat_field(const struct fr_tpformat *t, u32 i)
{
	const struct tep_format_field *f = t->field[i];
	bool is_loc = f->flags & TEP_FIELD_IS_DYNAMIC;
	bool is_number =
		!is_loc && !(f->flags & TEP_FIELD_IS_ARRAY) && (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
	struct fr_tpfield out = {
		.name = f->name,
		.type = f->type,
		.off = f->offset,
		.sz = f->size,
		.is_signed = f->flags & TEP_FIELD_IS_SIGNED,
		.is_pointer = f->flags & TEP_FIELD_IS_POINTER && !is_loc,
		.is_text = !is_number && is_char(f->type),
		.is_loc = is_loc,
		.is_rel = f->flags & TEP_FIELD_IS_RELATIVE,
	};

	if (is_number)
		return out;
	out.elem_sz = out.is_text ? 1 : f->elementsize;
	if ((out.elem_sz != 2 && out.elem_sz != 4 && out.elem_sz != 8) || (!is_loc && out.sz % out.elem_sz))
		out.elem_sz = 1;
	return out;
}

static const char *number_type(u32 sz, bool is_signed)
{
	static const char *const name[2][4] = {{"u8", "u16", "u32", "u64"}, {"s8", "s16", "s32", "s64"}};

	return name[is_signed][sz == 1 ? 0 : sz == 2 ? 1 : sz == 4 ? 2 : 3];
}

static const char *elem_type(const struct fr_tpfield *f)
{
	return f->is_text ? "char" : number_type(f->elem_sz, f->is_signed);
}

/* What each event has by that name. */
static bool tpformat_is_taken(const char *name)
{
	static const char *const taken[] = {"event", "ts",  "cpu",  "pid",	    "tid",	   "comm",	   "cgroup",
					    "tier",  "pos", "wall", FR_TP_CUT_NAME, FR_TP_SZ_NAME, FR_TP_DATA_NAME};
	u32 i;

	for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (!strcmp(taken[i], name))
			return true;
	return false;
}

/* The field's name in the schema: small letters. False: none. */
static bool tpformat_name_of(const struct fr_tpfield *f, char name[FR_NAME_MAX + 1])
{
	int len = snprintf(name, FR_NAME_MAX + 1, "%s%s", tpformat_is_taken(f->name) ? "target_" : "", f->name);

	for (; *name; name++)
		if (*name >= 'A' && *name <= 'Z')
			*name += 'a' - 'A';
	return len > 0 && len < (int)(FR_NAME_MAX + 1 - sizeof("_loc"));
}

static void tpformat_put_field(const struct fr_tpformat *t, FILE *out, const struct fr_tpfield *f, const char *name)
{
	if (f->is_loc) {
		fprintf(out, "field u32 %s_loc %s where %s is\n", name, f->is_rel && !t->chosen ? "RELLOC" : "LOC", name);
		fprintf(out, "derived %s LOC:%s %s_loc %s\n", name, elem_type(f), name, f->type);
	} else if (f->elem_sz) {
		fprintf(out, "field %s[%u] %s %s %s\n", elem_type(f), f->sz / f->elem_sz, name, f->is_text ? "TEXT" : "DEC",
			f->type);
	} else {
		fprintf(out, "field %s %s %s %s\n", number_type(f->sz, f->is_signed), name, f->is_pointer ? "HEX" : "DEC",
			f->type);
	}
}

/* Where a schema's rules put the next field: in order, naturally aligned. */
static u32 tpformat_place(const struct fr_tpfield *f, u32 *end)
{
	u32 align = f->elem_sz ? f->elem_sz : f->sz, at;

	if (f->is_loc)
		align = f->sz;
	at = (*end + align - 1) / align * align;
	*end = at + f->sz;
	return at;
}

static bool tpformat_is_recorded(const struct fr_tpformat *t, u32 i)
{
	return !t->chosen || t->chosen[i];
}

bool fr_tpformat_find(const struct fr_tpformat *t, const char *name, struct fr_tpfield *out)
{
	char its[FR_NAME_MAX + 1];
	u32 i;

	for (i = 0; i < t->field_cnt; i++) {
		struct fr_tpfield f = fr_tpformat_field(t, i);

		if (tpformat_name_of(&f, its) && !strcmp(its, name)) {
			*out = f;
			return true;
		}
	}
	return false;
}

/* The number of the field of this name, the schema's or the kernel's; field_cnt: there is none, *near is like it. */
static u32 tpformat_number_of(const struct fr_tpformat *t, const char *name, struct fr_nearest *near)
{
	char its[FR_NAME_MAX + 1];
	u32 i;

	for (i = 0; i < t->field_cnt; i++) {
		struct fr_tpfield f = fr_tpformat_field(t, i);

		if (!strcmp(f.name, name) || (tpformat_name_of(&f, its) && !strcmp(its, name)))
			return i;
		fr_nearest_consider(near, f.name);
	}
	return i;
}

static int tpformat_choose_one(struct fr_tpformat *t, const char *name, size_t len, char *why, size_t why_sz)
{
	char copy[FR_NAME_MAX + 1] = "";
	struct fr_nearest near = {.to = copy};
	const char *like;
	u32 i;

	snprintf(copy, sizeof(copy), "%.*s", (int)(len < sizeof(copy) ? len : sizeof(copy) - 1), name);
	i = tpformat_number_of(t, copy, &near);
	if (i < t->field_cnt) {
		t->chosen[i] = true;
		return 0;
	}
	like = fr_nearest_close(&near);
	if (like)
		snprintf(why, why_sz, "it has no field %s: did you mean %s?", copy, like);
	else
		snprintf(why, why_sz, "it has no field %s: `flightrec events %s:%s` lists them", copy, t->system, t->name);
	return -EINVAL;
}

int fr_tpformat_choose(struct fr_tpformat *t, const char *names, size_t sz, char *why, size_t why_sz)
{
	const char *end = names + sz, *at;
	size_t len;
	int err = 0;

	t->chosen = calloc(t->field_cnt + 1, sizeof(*t->chosen));
	if (!t->chosen)
		return -ENOMEM;
	for (at = names; at < end && !err; at += len) {
		len = 0;
		while (at < end && strchr(", \t", *at))
			at++;
		while (at + len < end && !strchr(", \t", at[len]))
			len++;
		if (len)
			err = tpformat_choose_one(t, at, len, why, why_sz);
	}
	return err;
}

int fr_tpformat_say(struct fr_tpformat *t, const char *doc)
{
	char *copy = strdup(doc);

	if (!copy)
		return -ENOMEM;
	free(t->doc);
	t->doc = copy;
	return 0;
}

int fr_tpformat_read_as(struct fr_tpformat *t, const struct fr_event *ev)
{
	bool *lacking = calloc(t->field_cnt + 1, sizeof(*lacking)), any = false;
	char name[FR_NAME_MAX + 1];
	u32 i;

	if (!lacking)
		return -ENOMEM;
	for (i = 0; i < t->field_cnt; i++) {
		struct fr_tpfield f = fr_tpformat_field(t, i);

		lacking[i] = !tpformat_name_of(&f, name) || !fr_event_field(ev, name);
		any |= lacking[i];
	}
	if (!any) {
		free(lacking);
		return 0;
	}
	t->lacking = lacking;
	t->has_words = t->has_words && words_are_good(t);
	return 0;
}

bool fr_tpformat_is_part(const struct fr_tpformat *t)
{
	return t->lacking;
}

bool fr_tpformat_lacks(const struct fr_tpformat *t, const char *name)
{
	char its[FR_NAME_MAX + 1];
	u32 i;

	for (i = 0; t->lacking && i < t->field_cnt; i++) {
		struct fr_tpfield f = fr_tpformat_field(t, i);

		if (t->lacking[i] && tpformat_name_of(&f, its) && !strcmp(its, name))
			return true;
	}
	return false;
}

u32 fr_tpformat_fixed_sz(const struct fr_tpformat *t)
{
	u32 end = FR_TP_HEAD_SZ, i;

	for (i = 0; i < t->field_cnt; i++)
		if ((u32)(t->field[i]->offset + t->field[i]->size) > end)
			end = t->field[i]->offset + t->field[i]->size;
	return end;
}

static void tpformat_begin_event(const struct fr_tpformat *t, u32 nr, u32 tier, FILE *out)
{
	char name[3 * FR_NAME_MAX];

	fr_tp_name(name, sizeof(name), t->system, t->name);
	fprintf(out, "event %u %s %s tp %s\n", nr, name, fr_tier_name(tier), t->doc ?: "tracepoint of the kernel");
	fprintf(out, "flags " FR_TP_CUT_NAME " DEC 1: the record was longer than one of a ring, and its end is missing\n");
	fprintf(out, "field u32 " FR_TP_SZ_NAME " LOC bytes of the kernel's record\n");
}

int fr_tpformat_put_schema(const struct fr_tpformat *t, u32 nr, u32 tier, FILE *out)
{
	char name[FR_NAME_MAX + 1];
	u32 end = FR_TP_HEAD_SZ, i, cnt = 3;
	bool has_loc = false;

	if (strlen(t->system) + strlen(t->name) + sizeof(FR_TP_PREFIX) > FR_NAME_MAX)
		return -EINVAL;
	tpformat_begin_event(t, nr, tier, out);
	for (i = 0; i < t->field_cnt; i++) {
		struct fr_tpfield f = fr_tpformat_field(t, i);

		if (!tpformat_is_recorded(t, i))
			continue;
		if (!tpformat_name_of(&f, name) || (tpformat_place(&f, &end) != f.off && !t->chosen))
			return -EINVAL;
		cnt += f.is_loc ? 2 : 1;
		has_loc |= f.is_loc;
		if (cnt > FR_FIELD_MAX)
			return -E2BIG;
		tpformat_put_field(t, out, &f, name);
	}
	if (has_loc)
		fprintf(out, "field data " FR_TP_DATA_NAME " HEX texts and arrays\n");
	return 0;
}

/* One more field that stays; what was and is side by side is one piece. */
static int add_piece(struct fr_tp *out, const struct fr_tpfield *f, u32 at)
{
	struct fr_tp_piece *p = out->piece + out->piece_cnt;
	u32 from = f->off - FR_TP_HEAD_SZ, to = at - FR_TP_HEAD_SZ;

	if (out->piece_cnt && p[-1].from + p[-1].sz == from && p[-1].to + p[-1].sz == to) {
		p[-1].sz += f->sz;
		return 0;
	}
	if (out->piece_cnt == FR_TP_PIECE_MAX)
		return -E2BIG;
	*p = (struct fr_tp_piece){.from = from, .to = to, .sz = f->sz};
	out->piece_cnt++;
	return 0;
}

static int conf_chosen(const struct fr_tpformat *t, struct fr_tp *out)
{
	u32 end = FR_TP_HEAD_SZ, loc = 0, i, at;
	int err = 0;

	for (i = 0; i < t->field_cnt && !err; i++) {
		struct fr_tpfield f = fr_tpformat_field(t, i);

		at = tpformat_is_recorded(t, i) ? tpformat_place(&f, &end) : 0;
		if (f.is_loc)
			out->loc_to[loc++] = at;
		if (at)
			err = add_piece(out, &f, at);
	}
	out->kept_sz = end - FR_TP_HEAD_SZ;
	return err;
}

int fr_tpformat_conf(const struct fr_tpformat *t, struct fr_tp *out)
{
	u32 i;

	*out = (struct fr_tp){};
	for (i = 0; i < t->field_cnt; i++) {
		const struct tep_format_field *f = t->field[i];

		if (!(f->flags & TEP_FIELD_IS_DYNAMIC))
			continue;
		if (out->loc_cnt == FR_TP_LOC_MAX)
			return -E2BIG;
		out->loc[out->loc_cnt++] = f->offset | (f->flags & TEP_FIELD_IS_RELATIVE ? FR_TP_REL : 0);
	}
	out->fixed_sz = fr_tpformat_fixed_sz(t) - FR_TP_HEAD_SZ;
	if (out->fixed_sz > FR_TP_ROOM_SZ)
		return -E2BIG;
	return t->chosen ? conf_chosen(t, out) : 0;
}

/* ---- words ---- */

/* Words of the record that lead out of it are made to lead nowhere: nothing is there. */
static void hold_words(struct fr_tpformat *t, u32 sz)
{
	u32 i;

	for (i = 0; i < t->field_cnt; i++) {
		const struct tep_format_field *f = t->field[i];
		u32 word, at, ahead;

		if (!(f->flags & TEP_FIELD_IS_DYNAMIC))
			continue;
		ahead = f->flags & TEP_FIELD_IS_RELATIVE ? f->offset + f->size : 0;
		memcpy(&word, t->room + f->offset, sizeof(word));
		at = (word & 0xffff) + ahead;
		if (at > sz)
			word = at = sz > ahead ? sz - ahead : 0;
		else if ((word >> 16) > sz - at)
			word = (word & 0xffff) | (sz - at) << 16;
		memcpy(t->room + f->offset, &word, sizeof(word));
	}
}

static bool take_record(struct fr_tpformat *t, const void *rec, size_t sz)
{
	u16 id = t->ev->id;

	if (sz > RECORD_ROOM_SZ)
		return false;
	memset(t->room, 0, RECORD_ROOM_SZ + BEHIND_SZ);
	memcpy(t->room, rec, sz);
	memcpy(t->room, &id, sizeof(id));
	hold_words(t, sz);
	return true;
}

bool fr_tpformat_has_words(const struct fr_tpformat *t)
{
	return t->has_words;
}

const void *fr_tpformat_hold(struct fr_tpformat *t, const void *rec, size_t sz)
{
	return take_record(t, rec, sz) ? t->room : NULL;
}

const char *fr_tpformat_text(struct fr_tpformat *t, const void *rec, size_t sz)
{
	struct tep_record r = {.data = t->room, .size = sz};
	const struct tep_print_arg *arg;

	if (!t->has_words || !take_record(t, rec, sz))
		return NULL;
	for (arg = t->ev->print_fmt.args; arg; arg = arg->next)
		if (!now_is_safe(t, arg))
			return NULL;
	trace_seq_reset(&t->seq);
	tep_print_event(t->tep, &t->seq, &r, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&t->seq);
	return t->seq.state ? NULL : t->seq.buffer;
}

/* ---- symbols ---- */

static const struct tep_print_arg *tpformat_bare(const struct tep_print_arg *arg)
{
	while (arg && arg->type == TEP_PRINT_TYPE)
		arg = arg->typecast.item;
	return arg;
}

/* Is it about the field that the schema calls so? */
static bool tpformat_is_of(const struct fr_tpformat *t, const struct tep_print_arg *arg, const char *field)
{
	char name[FR_NAME_MAX + 1];
	u32 i;

	arg = tpformat_bare(arg);
	for (i = 0; arg && arg->type == TEP_PRINT_FIELD && i < t->field_cnt; i++) {
		struct fr_tpfield f = fr_tpformat_field(t, i);

		if (!strcmp(f.name, arg->field.name))
			return tpformat_name_of(&f, name) && !strcmp(name, field);
	}
	return false;
}

static u64 tpformat_number(const char *text)
{
	return strtoull(text, NULL, 0);
}

static const char *symbol_of(const struct tep_print_flag_sym *s, u64 v)
{
	for (; s; s = s->next)
		if (tpformat_number(s->value) == v)
			return s->str;
	return NULL;
}

/* As the kernel does: the names of bits that are set, and what has no name, in hex. */
static const char *flags_of(struct fr_tpformat *t, const struct tep_print_arg_flags *flags, u64 v)
{
	const char *delim = "";
	const struct tep_print_flag_sym *s;

	if (!v)
		return symbol_of(flags->flags, 0);
	trace_seq_reset(&t->seq);
	for (s = flags->flags; s; s = s->next) {
		u64 bits = tpformat_number(s->value);

		if (!bits || (v & bits) != bits)
			continue;
		trace_seq_puts(&t->seq, delim);
		trace_seq_puts(&t->seq, s->str);
		delim = flags->delim ?: "";
		v &= ~bits;
	}
	if (v)
		trace_seq_printf(&t->seq, "%s0x%llx", delim, v);
	trace_seq_terminate(&t->seq);
	return t->seq.state ? NULL : t->seq.buffer;
}

/*
 * Where an argument has words for the values of this field that are not 0 (set), or for 0. Of a condition only if it asks for
 * nothing but that, as `flags ? __print_flags(flags, ...) : "none"` does: otherwise another field may say whose words apply, as
 * in kvm_exit, where each maker of CPUs has its own for the same numbers, and a word could be false. NULL: nowhere.
 */
static const struct tep_print_arg *tpformat_words_in(const struct fr_tpformat *t, const struct tep_print_arg *arg,
						     const char *field, bool set)
{
	const struct tep_print_arg *at = tpformat_bare(arg), *arms;

	if (!at)
		return NULL;
	if ((at->type == TEP_PRINT_SYMBOL && tpformat_is_of(t, at->symbol.field, field)) ||
	    (at->type == TEP_PRINT_FLAGS && tpformat_is_of(t, at->flags.field, field)))
		return at;
	if (at->type != TEP_PRINT_OP || !at->op.op || strcmp(at->op.op, "?") || !tpformat_is_of(t, at->op.left, field))
		return NULL;
	arms = at->op.right;
	if (!arms || arms->type != TEP_PRINT_OP || !arms->op.op || strcmp(arms->op.op, ":"))
		return NULL;
	return tpformat_words_in(t, set ? arms->op.left : arms->op.right, field, set);
}

/* The first part of the kernel's words that has some for such values of this field. NULL: none. */
static const struct tep_print_arg *tpformat_worded(const struct fr_tpformat *t, const char *field, bool set)
{
	const struct tep_print_arg *arg, *found = NULL;

	for (arg = t->ev->flags & TEP_EVENT_FL_FAILED ? NULL : t->ev->print_fmt.args; arg && !found; arg = arg->next)
		found = tpformat_words_in(t, arg, field, set);
	return found;
}

const char *fr_tpformat_symbol(struct fr_tpformat *t, const char *field, u64 v)
{
	const struct tep_print_arg *at = tpformat_worded(t, field, v != 0);

	if (!at)
		return NULL;
	return at->type == TEP_PRINT_SYMBOL ? symbol_of(at->symbol.symbols, v) : flags_of(t, &at->flags, v);
}

bool fr_tpformat_has_symbols(const struct fr_tpformat *t, const char *field)
{
	return tpformat_worded(t, field, true) || tpformat_worded(t, field, false);
}

typedef void (*tpformat_word_fn)(void *arg, const char *word, u64 v);

static void tpformat_each_word(const struct fr_tpformat *t, const char *field, tpformat_word_fn fn, void *to)
{
	const struct tep_print_arg *arg, *at;
	const struct tep_print_flag_sym *s;
	u32 set;

	for (arg = t->ev->flags & TEP_EVENT_FL_FAILED ? NULL : t->ev->print_fmt.args; arg; arg = arg->next) {
		for (set = 0; set < 2; set++) {
			at = tpformat_words_in(t, arg, field, set);
			s = !at ? NULL : at->type == TEP_PRINT_SYMBOL ? at->symbol.symbols : at->flags.flags;
			for (; s; s = s->next)
				if (s->str && (tpformat_number(s->value) != 0) == set)
					fn(to, s->str, tpformat_number(s->value));
		}
	}
}

struct tpformat_sought {
	const char *word;
	u64 v;
	u32 cnt; /* different numbers that have it */
};

static void tpformat_seek(void *arg, const char *word, u64 v)
{
	struct tpformat_sought *s = arg;

	if (strcmp(s->word, word) != 0 || (s->cnt && s->v == v))
		return;
	s->v = v;
	s->cnt++;
}

int fr_tpformat_value(const void *format, u32 event, const char *field, const char *word, s64 *v)
{
	struct tpformat_sought sought = {.word = word};

	(void)event;
	tpformat_each_word(format, field, tpformat_seek, &sought);
	if (sought.cnt != 1)
		return -EINVAL;
	*v = (s64)sought.v;
	return 0;
}

struct tpformat_telling {
	void (*tell)(void *arg, const char *word);
	void *arg;
};

static void tpformat_tell(void *arg, const char *word, u64 v)
{
	const struct tpformat_telling *to = arg;

	(void)v;
	to->tell(to->arg, word);
}

void fr_tpformat_values(const void *format, u32 event, const char *field, void (*tell)(void *arg, const char *word), void *arg)
{
	struct tpformat_telling to = {tell, arg};

	(void)event;
	tpformat_each_word(format, field, tpformat_tell, &to);
}

struct fr_schema *fr_tpformat_schema(const struct fr_tpformat *t, u32 nr)
{
	struct fr_schema *schema = NULL;
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	char *text;
	size_t sz;
	int err;

	if (!f)
		return NULL;
	fputs(FR_SCHEMA_TITLE "\n", f);
	err = fr_tpformat_put_schema(t, nr, FR_TIER_MAIN, f);
	text = fr_memfile_end(&m, &sz);
	if (text && !err)
		fr_schema_parse(text, sz, &schema);
	free(text);
	return schema;
}
