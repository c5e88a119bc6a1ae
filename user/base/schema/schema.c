/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schema: built from bpf/events.def or from text, by the same three steps: begin an event, add its fields, end it.
 *
 * The text of a file may come from a newer build. What is not essential is degraded (an unknown style, tier or rule). An event
 * with a field of unknown type cannot be decoded and is dropped. Anything else that does not follow the specification makes the
 * whole text invalid.
 */
#include "base/schema/schema.h"
#include "base/schema/tpname.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/memfile.h"

#define TEXT_MAX_SZ   (1u << 20)
#define REC_FLAGS_OFF 11 /* the high byte of a record's little-endian task word */

struct fr_schema {
	char *text; /* what names and docs point into, NULL for the built-in schema */
	struct fr_field *field;
	u32 field_cnt;
	struct fr_event ev[FR_EVENT_MAX]; /* by number, name NULL: none */
};

/* The event being built. */
struct build {
	struct fr_schema *s;
	struct fr_event *ev; /* NULL before the first */
	u32 off;	     /* end of the record so far */
	u32 bit;	     /* of bits, the first free one */
	bool drop;	     /* of unknown type or code: cannot be decoded */
};

static const char *const style_names[FR_STYLE_CNT] = {
	[FR_STYLE_DEC] = "DEC",		[FR_STYLE_HEX] = "HEX",		[FR_STYLE_TEXT] = "TEXT",
	[FR_STYLE_TID] = "TID",		[FR_STYLE_STATE] = "STATE",	[FR_STYLE_SIG] = "SIG",
	[FR_STYLE_SICODE] = "SICODE",	[FR_STYLE_HANDLER] = "HANDLER", [FR_STYLE_SYSCALL] = "SYSCALL",
	[FR_STYLE_ABI] = "ABI",		[FR_STYLE_RET] = "RET",		[FR_STYLE_EXIT] = "EXIT",
	[FR_STYLE_NS] = "NS",		[FR_STYLE_DEV] = "DEV",		[FR_STYLE_IRQRET] = "IRQRET",
	[FR_STYLE_SOFTIRQ] = "SOFTIRQ", [FR_STYLE_VERDICT] = "VERDICT", [FR_STYLE_WAITEDIN] = "WAITEDIN",
	[FR_STYLE_WAKER] = "WAKER",	[FR_STYLE_UNREAD] = "UNREAD",	[FR_STYLE_ARG] = "ARG",
	[FR_STYLE_LOC] = "LOC",		[FR_STYLE_RELLOC] = "RELLOC",	[FR_STYLE_TAKEN] = "TAKEN",
};

/* A type's name and the bytes it takes in a record, 0: the rest of the record. */
static const struct {
	const char *name;
	u32 sz;
	u32 align;
} types[FR_TYPE_CNT] = {
	[FR_TYPE_u8] = {"u8", 1, 1},	   [FR_TYPE_u16] = {"u16", 2, 2},
	[FR_TYPE_u32] = {"u32", 4, 4},	   [FR_TYPE_u64] = {"u64", 8, 8},
	[FR_TYPE_s8] = {"s8", 1, 1},	   [FR_TYPE_s16] = {"s16", 2, 2},
	[FR_TYPE_s32] = {"s32", 4, 4},	   [FR_TYPE_s64] = {"s64", 8, 8},
	[FR_TYPE_text8] = {"text8", 8, 1}, [FR_TYPE_comm] = {"comm", FR_COMM_SZ, 1},
	[FR_TYPE_str] = {"str", 0, 1},	   [FR_TYPE_u64s] = {"u64s", 0, 8},
	[FR_TYPE_array] = {"array", 0, 1}, [FR_TYPE_data] = {"data", 0, 1},
};

static const char *const code_names[FR_CODE_CNT] = {
	[FR_CODE_PLAIN] = "PLAIN",
	[FR_CODE_LESS1] = "LESS1",
	[FR_CODE_ONEBIT] = "ONEBIT",
};

static const char *const rule_names[FR_RULE_CNT] = {
	[FR_RULE_TID] = "TID",
	[FR_RULE_COMM] = "COMM",
	[FR_RULE_STACK] = "STACK",
	[FR_RULE_LOC] = "LOC",
};

static const u8 rule_types[FR_RULE_CNT] = {
	[FR_RULE_TID] = FR_TYPE_s32,
	[FR_RULE_COMM] = FR_TYPE_comm,
	[FR_RULE_STACK] = FR_TYPE_u64s,
	[FR_RULE_LOC] = FR_TYPE_str, /* or u64s, by its elements */
};

static const u8 rule_styles[FR_RULE_CNT] = {
	[FR_RULE_TID] = FR_STYLE_TID,
	[FR_RULE_COMM] = FR_STYLE_TEXT,
	[FR_RULE_STACK] = FR_STYLE_HEX,
	[FR_RULE_LOC] = FR_STYLE_TEXT,
};

static const char *const tier_names[FR_TIER_CNT] = {
#define T(nr, TIER, name, doc) [nr] = #name,
	FR_TIERS(T)
#undef T
};

static const char *const group_names[FR_GROUP_CNT] = {
#define G(nr, GROUP, name) [nr] = #name,
	FR_GROUPS(G)
#undef G
};

const char *fr_tier_name(u32 tier)
{
	return tier < FR_TIER_CNT ? tier_names[tier] : NULL;
}

const char *fr_group_name(u32 group)
{
	return group < FR_GROUP_CNT ? group_names[group] : NULL;
}

const char *fr_style_name(u32 style)
{
	return style < FR_STYLE_CNT ? style_names[style] : NULL;
}

const char *fr_type_name(u32 type)
{
	return type < FR_TYPE_CNT ? types[type].name : NULL;
}

u32 fr_type_sz(u32 type)
{
	return type <= FR_TYPE_s64 ? types[type].sz : 0;
}

/* Text has elements of one byte. */
static u32 elem_sz(const struct fr_field *f)
{
	return f->elem == FR_TYPE_str ? 1 : types[f->elem].sz;
}

u32 fr_field_sz(const struct fr_field *f)
{
	return f->type == FR_TYPE_array ? f->elem_cnt * elem_sz(f) : fr_type_sz(f->type);
}

static const char *schema_code_name(u32 code)
{
	return code < FR_CODE_CNT ? code_names[code] : NULL;
}

static const char *rule_name(u32 rule)
{
	return rule < FR_RULE_CNT ? rule_names[rule] : NULL;
}

/* The number of a name, cnt: none. */
static u32 schema_number_of(const char *name, const char *(*name_of)(u32 nr), u32 cnt)
{
	u32 nr;

	for (nr = 0; nr < cnt && strcmp(name_of(nr), name); nr++)
		;
	return nr;
}

const struct fr_event *fr_schema_event(const struct fr_schema *s, u32 nr)
{
	return nr < FR_EVENT_MAX && s->ev[nr].name ? &s->ev[nr] : NULL;
}

const struct fr_event *fr_schema_find(const struct fr_schema *s, const char *name)
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		if (s->ev[nr].name && !strcmp(s->ev[nr].name, name))
			return &s->ev[nr];
	return NULL;
}

const struct fr_field *fr_event_field(const struct fr_event *ev, const char *name)
{
	u32 i;

	for (i = 0; i < ev->field_cnt; i++)
		if (!strcmp(ev->fields[i].name, name))
			return &ev->fields[i];
	return NULL;
}

/* ---- building ---- */

/* Forget an event that cannot be decoded. */
static void drop_event(struct build *b)
{
	b->s->field_cnt -= b->ev->field_cnt;
	*b->ev = (struct fr_event){};
}

/* The field that f is computed from must exist, and be what its rule takes. */
static bool from_is_good(const struct fr_event *ev, struct fr_field *f)
{
	const struct fr_field *from;

	f->from_idx = -1;
	if (!strcmp(f->from, "tid"))
		return f->rule == FR_RULE_TID || f->rule == FR_RULE_COMM;
	from = fr_event_field(ev, f->from);
	if (!from || f->rule == FR_RULE_TID)
		return false;
	if (f->rule == FR_RULE_LOC && (from->kind != FR_KIND_FIELD || from->type != FR_TYPE_u32 || !ev->tail))
		return false;
	f->from_idx = from - ev->fields;
	if (from->kind == FR_KIND_DERIVED)
		return f->rule == FR_RULE_COMM && from->rule == FR_RULE_TID;
	return from->type <= FR_TYPE_s64;
}

static bool has_bits(const struct build *b)
{
	return b->bit > FR_TID_BITS;
}

static int end_event(struct build *b)
{
	struct fr_event *ev = b->ev;
	u32 i;

	if (!ev)
		return 0;
	for (i = 0; i < ev->field_cnt; i++) {
		struct fr_field *f = (struct fr_field *)&ev->fields[i];

		if (f->kind == FR_KIND_DERIVED && !b->drop && !from_is_good(ev, f))
			return -EINVAL;
	}
	ev->fixed_sz = ev->tail ? b->off : (b->off + FR_UNIT_SZ - 1) / FR_UNIT_SZ * FR_UNIT_SZ;
	if (has_bits(b))
		ev->fixed_sz = FR_BITS_REC_SZ;
	if (ev->fixed_sz > FR_REC_MAX_SZ)
		return -EINVAL;
	if (b->drop)
		drop_event(b);
	return 0;
}

static int schema_begin_event(struct build *b, u32 nr, const char *name, u32 tier, u32 group, const char *doc)
{
	int err = end_event(b);

	if (err)
		return err;
	if (nr < 1 || nr > FR_EVENT_MAX - 2 || b->s->ev[nr].name || fr_schema_find(b->s, name))
		return -EINVAL;
	b->ev = &b->s->ev[nr];
	b->off = FR_REC_HEAD_SZ;
	b->bit = FR_TID_BITS;
	b->drop = false;
	*b->ev = (struct fr_event){
		.name = name,
		.doc = doc,
		.fields = b->s->field + b->s->field_cnt,
		.nr = nr,
		.tier = tier,
		.group = group,
		.abi_col = -1,
		.name_len = strlen(name),
	};
	return 0;
}

/* Give a stored field its place in the record: in order, naturally aligned. */
static void place_field(struct build *b, struct fr_field *f)
{
	bool is_array = f->type == FR_TYPE_array;
	u32 align = is_array ? elem_sz(f) : types[f->type].align, sz = is_array ? fr_field_sz(f) : types[f->type].sz;

	f->off = b->off = (b->off + align - 1) / align * align;
	b->off += sz;
	b->ev->tail = !sz;
}

/* Is each code of these bits a value of the field's type? */
static bool bits_are_good(const struct fr_field *f)
{
	bool is_signed = f->type >= FR_TYPE_s8 && f->type <= FR_TYPE_s64;
	u32 room = types[f->type].sz * 8 - is_signed;

	if (f->type > FR_TYPE_s64 || f->bit_cnt > room)
		return false;
	if (f->code == FR_CODE_ONEBIT)
		return f->bit_cnt < 6 && (1u << f->bit_cnt) - 1 <= room;
	return f->code != FR_CODE_LESS1 || is_signed;
}

/* The same for bits, after the previous ones. An event has bits, or other fields and flags. */
static int place_bits(struct build *b, struct fr_field *f)
{
	if (!bits_are_good(f) || f->bit_cnt > 64 - b->bit || (b->ev->col_cnt > 1 && !has_bits(b)))
		return -EINVAL;
	f->bit = b->bit;
	b->bit += f->bit_cnt;
	return 0;
}

static void make_label(struct fr_field *f)
{
	u32 len = f->name_len + 2u;

	if (len > FR_LABEL_SZ)
		return;
	f->label[0] = ' ';
	memcpy(f->label + 1, f->name, f->name_len);
	f->label[len - 1] = '=';
	f->label_len = len;
}

static int schema_add_field(struct build *b, struct fr_field f)
{
	struct fr_event *ev = b->ev;

	if (!ev || ev->field_cnt == FR_FIELD_MAX || fr_event_field(ev, f.name))
		return -EINVAL;
	if (f.type == FR_TYPE_CNT)
		b->drop = true;
	f.name_len = strlen(f.name);
	make_label(&f);
	f.col = -1;
	f.from_idx = -1;
	if (f.kind == FR_KIND_FLAGS)
		f.off = REC_FLAGS_OFF;
	if (f.kind != FR_KIND_DERIVED)
		f.col = ev->col_cnt++;
	if (f.kind == FR_KIND_FLAGS && f.style == FR_STYLE_ABI)
		ev->abi_col = f.col;
	if (f.kind == FR_KIND_FIELD) {
		if (ev->tail || b->off > FR_REC_MAX_SZ || (!f.bit_cnt && has_bits(b)))
			return -EINVAL;
		if (!b->drop && f.bit_cnt && place_bits(b, &f))
			return -EINVAL;
		if (!b->drop)
			place_field(b, &f);
	}
	b->s->field[b->s->field_cnt++] = f;
	ev->field_cnt++;
	return 0;
}

static int add_flags(struct build *b, u32 style, const char *name, const char *doc)
{
	/* There is one byte for them, and the columns begin with it. */
	if (!b->ev || b->ev->col_cnt)
		return -EINVAL;
	return schema_add_field(
		b, (struct fr_field){.name = name, .doc = doc, .kind = FR_KIND_FLAGS, .type = FR_TYPE_u8, .style = style});
}

static int add_stored(struct build *b, u32 type, u32 style, const char *name, const char *doc)
{
	return schema_add_field(
		b, (struct fr_field){.name = name, .doc = doc, .kind = FR_KIND_FIELD, .type = type, .style = style});
}

static int add_array(struct build *b, u32 elem, u32 cnt, u32 style, const char *name, const char *doc)
{
	return schema_add_field(b, (struct fr_field){.name = name,
						     .doc = doc,
						     .kind = FR_KIND_FIELD,
						     .type = FR_TYPE_array,
						     .style = style,
						     .elem = elem,
						     .elem_cnt = cnt});
}

static int add_bits(struct build *b, u32 type, u32 cnt, u32 code, u32 style, const char *name, const char *doc)
{
	if (code >= FR_CODE_CNT)
		type = FR_TYPE_CNT; /* from a later version */
	return schema_add_field(b, (struct fr_field){.name = name,
						     .doc = doc,
						     .kind = FR_KIND_FIELD,
						     .type = type,
						     .style = style,
						     .bit_cnt = cnt,
						     .code = code});
}

static int add_derived(struct build *b, u32 rule, u32 elem, const char *from, const char *name, const char *doc)
{
	bool is_nums = rule == FR_RULE_LOC && elem != FR_TYPE_str;

	if (rule >= FR_RULE_CNT)
		return b->ev ? 0 : -EINVAL; /* from a later version: the event is complete without it */
	return schema_add_field(b, (struct fr_field){.name = name,
						     .doc = doc,
						     .from = from,
						     .kind = FR_KIND_DERIVED,
						     .type = is_nums ? (u32)FR_TYPE_u64s : rule_types[rule],
						     .style = is_nums ? (u32)FR_STYLE_DEC : rule_styles[rule],
						     .rule = rule,
						     .elem = elem});
}

static struct fr_schema *new_schema(u32 field_cnt)
{
	struct fr_schema *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->field = calloc(field_cnt + 1, sizeof(*s->field));
	if (!s->field) {
		free(s);
		return NULL;
	}
	return s;
}

void fr_schema_free(struct fr_schema *s)
{
	if (!s)
		return;
	free(s->field);
	free(s->text);
	free(s);
}

/* ---- from the table ---- */

/* In static memory: it is there also when no other is. */
static struct fr_field builtin_field[0
#define FLAGS(name, style, doc)	       +1
#define FIELD(type, name, style, doc)  +1
#define DERIVED(name, rule, from, doc) +1
#include "events.def"
];

static struct fr_schema builtin = {.field = builtin_field}; /* made once, by the first thread that asks, and never changed */

static int add_builtin(struct build *b)
{
	int err = 0;

#define EVENT(nr, name, tier, group, doc) \
	err = err ? err : schema_begin_event(b, nr, #name, FR_TIER_##tier, FR_GROUP_##group, doc);
#define FLAGS(name, style, doc)	      err = err ? err : add_flags(b, FR_STYLE_##style, #name, doc);
#define FIELD(type, name, style, doc) err = err ? err : add_stored(b, FR_TYPE_##type, FR_STYLE_##style, #name, doc);
#define BITS(type, name, cnt, code, style, doc) \
	err = err ? err : add_bits(b, FR_TYPE_##type, cnt, FR_CODE_##code, FR_STYLE_##style, #name, doc);
#define DERIVED(name, rule, from, doc) err = err ? err : add_derived(b, FR_RULE_##rule, FR_TYPE_str, #from, #name, doc);
#include "events.def"
	return err ? err : end_event(b);
}

static void make_builtin(void)
{
	struct build b = {.s = &builtin};

	/* A table that breaks its own rules is a bug of this build, found by its first run. */
	if (add_builtin(&b))
		abort();
}

const struct fr_schema *fr_schema_builtin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_builtin);
	return &builtin;
}

/* ---- from text ---- */

/* The next word of a line, cut out of it; "" at its end. */
static char *next_word(char **line)
{
	char *word = *line, *end = word + strcspn(word, " ");

	*line = *end ? end + 1 : end;
	*end = 0;
	return word;
}

#define NAME_BYTES "abcdefghijklmnopqrstuvwxyz0123456789_"

/* Names are printed unescaped and typed by users: small letters, digits, _; those of tracepoints are the kernel's. */
static bool name_is_good(const char *name)
{
	bool is_tp = fr_tp_is_name(name);
	size_t len = strspn(name, is_tp ? NAME_BYTES "ABCDEFGHIJKLMNOPQRSTUVWXYZ:-" : NAME_BYTES);

	return len && len <= FR_NAME_MAX && !name[len] && (name[0] < '0' || name[0] > '9');
}

static u32 parse_style(char **line)
{
	u32 style = schema_number_of(next_word(line), fr_style_name, FR_STYLE_CNT);

	return style < FR_STYLE_CNT ? style : FR_STYLE_DEC;
}

/* A decimal number from 1 to 254, 0: it is not. */
static u32 parse_nr(const char *word)
{
	size_t len = strspn(word, "0123456789");

	return len && len <= 3 && !word[len] && word[0] != '0' ? strtoul(word, NULL, 10) : 0;
}

/* event NR NAME TIER GROUP DOC */
static int parse_event(struct build *b, char *line)
{
	u32 nr = parse_nr(next_word(&line));
	const char *name = next_word(&line);
	u32 tier = schema_number_of(next_word(&line), fr_tier_name, FR_TIER_CNT);
	u32 group = schema_number_of(next_word(&line), fr_group_name, FR_GROUP_CNT);

	return name_is_good(name) ? schema_begin_event(b, nr, name, tier, group, line) : -EINVAL;
}

/* flags NAME STYLE DOC */
static int parse_flags(struct build *b, char *line)
{
	const char *name = next_word(&line);
	u32 style = parse_style(&line);

	return name_is_good(name) ? add_flags(b, style, name, line) : -EINVAL;
}

/* TYPE, or TYPE:BITS:CODE; *cnt is 0 without bits. */
static int parse_type(char *word, u32 *type, u32 *cnt, u32 *code)
{
	char *bits = strchr(word, ':'), *end;

	*cnt = *code = 0;
	if (bits) {
		*bits++ = 0;
		end = strchr(bits, ':');
		if (!end)
			return -EINVAL;
		*end = 0;
		*cnt = parse_nr(bits);
		*code = schema_number_of(end + 1, schema_code_name, FR_CODE_CNT);
	}
	*type = schema_number_of(word, fr_type_name, FR_TYPE_CNT);
	return bits && (!*cnt || *cnt > 64) ? -EINVAL : 0;
}

/* What an array has: numbers, or text, of which the kernel's arrays of char are. FR_TYPE_CNT: it is unknown. */
static u32 parse_elem(const char *word)
{
	u32 type = !strcmp(word, "char") ? (u32)FR_TYPE_str : schema_number_of(word, fr_type_name, FR_TYPE_CNT);

	return type <= FR_TYPE_s64 || !strcmp(word, "char") ? type : FR_TYPE_CNT;
}

/* TYPE[CNT] NAME STYLE DOC; count: behind the [ */
static int parse_array(struct build *b, char *word, char *count, char *line)
{
	const char *name = next_word(&line);
	u32 style = parse_style(&line), elem, cnt = strtoul(count, NULL, 10);
	size_t len = strspn(count, "0123456789");

	if (!len || len > 4 || strcmp(count + len, "]") || !cnt || cnt > FR_REC_MAX_SZ || !name_is_good(name))
		return -EINVAL;
	count[-1] = 0;
	elem = parse_elem(word);
	return elem == FR_TYPE_CNT ? add_stored(b, elem, style, name, line) : add_array(b, elem, cnt, style, name, line);
}

/* field TYPE NAME STYLE DOC */
static int parse_field(struct build *b, char *line)
{
	char *word = next_word(&line), *count = strchr(word, '[');
	const char *name;
	u32 type, cnt, code, style;
	int err;

	if (count)
		return parse_array(b, word, count + 1, line);
	err = parse_type(word, &type, &cnt, &code);
	name = next_word(&line);
	style = parse_style(&line);
	if (err || !name_is_good(name) || type == FR_TYPE_array)
		return -EINVAL;
	return cnt ? add_bits(b, type, cnt, code, style, name, line) : add_stored(b, type, style, name, line);
}

/* derived NAME RULE FROM DOC; RULE may be LOC:TYPE */
static int parse_derived(struct build *b, char *line)
{
	const char *name = next_word(&line);
	char *word = next_word(&line), *type = strchr(word, ':');
	const char *from = next_word(&line);
	u32 rule, elem;

	if (type)
		*type++ = 0;
	rule = schema_number_of(word, rule_name, FR_RULE_CNT);
	elem = type ? parse_elem(type) : (u32)FR_TYPE_str;
	if (elem == FR_TYPE_CNT || (type && rule != FR_RULE_LOC))
		rule = FR_RULE_CNT;
	return name_is_good(name) && name_is_good(from) ? add_derived(b, rule, elem, from, name, line) : -EINVAL;
}

static int parse_line(struct build *b, char *line)
{
	const char *word = next_word(&line);

	if (!strcmp(word, "event"))
		return parse_event(b, line);
	if (!strcmp(word, "flags"))
		return parse_flags(b, line);
	if (!strcmp(word, "field"))
		return parse_field(b, line);
	if (!strcmp(word, "derived"))
		return parse_derived(b, line);
	return -EINVAL;
}

/* The text is lines that end in \n, of printable bytes; docs may be UTF-8. */
static bool text_is_good(const char *text, size_t sz)
{
	size_t i;

	if (!sz || sz > TEXT_MAX_SZ || text[sz - 1] != '\n')
		return false;
	for (i = 0; i < sz; i++)
		if (((u8)text[i] < 0x20 && text[i] != '\n') || text[i] == 0x7f)
			return false;
	return true;
}

static int parse_text(struct build *b)
{
	char *line = b->s->text, *end = strchr(line, '\n');
	int err = 0;

	*end = 0;
	if (strcmp(line, FR_SCHEMA_TITLE))
		return -EINVAL;
	for (line = end + 1; !err && *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = 0;
		err = parse_line(b, line);
	}
	return err ? err : end_event(b);
}

int fr_schema_parse(const char *text, size_t sz, struct fr_schema **out)
{
	struct build b = {};
	u32 lines = 0;
	size_t i;
	int err;

	if (!text_is_good(text, sz))
		return -EINVAL;
	for (i = 0; i < sz; i++)
		lines += text[i] == '\n';
	b.s = new_schema(lines);
	if (!b.s)
		return -ENOMEM;
	b.s->text = strndup(text, sz);
	err = b.s->text ? parse_text(&b) : -ENOMEM;
	if (err)
		fr_schema_free(b.s);
	else
		*out = b.s;
	return err;
}

/* ---- to text ---- */

static const char *elem_name(const struct fr_field *field)
{
	return field->elem == FR_TYPE_str ? "char" : fr_type_name(field->elem);
}

static void write_field(FILE *f, const struct fr_field *field)
{
	const char *style = fr_style_name(field->style);

	if (field->kind == FR_KIND_FLAGS)
		fprintf(f, "flags %s %s %s\n", field->name, style, field->doc);
	else if (field->bit_cnt)
		fprintf(f, "field %s:%u:%s %s %s %s\n", fr_type_name(field->type), field->bit_cnt,
			schema_code_name(field->code), field->name, style, field->doc);
	else if (field->kind == FR_KIND_FIELD && field->type == FR_TYPE_array)
		fprintf(f, "field %s[%u] %s %s %s\n", elem_name(field), field->elem_cnt, field->name, style, field->doc);
	else if (field->kind == FR_KIND_FIELD)
		fprintf(f, "field %s %s %s %s\n", fr_type_name(field->type), field->name, style, field->doc);
	else if (field->rule == FR_RULE_LOC)
		fprintf(f, "derived %s LOC:%s %s %s\n", field->name, elem_name(field), field->from, field->doc);
	else
		fprintf(f, "derived %s %s %s %s\n", field->name, rule_names[field->rule], field->from, field->doc);
}

static void write_event(FILE *f, const struct fr_event *ev)
{
	const char *tier = fr_tier_name(ev->tier), *group = fr_group_name(ev->group);
	u32 i;

	fprintf(f, "event %u %s %s %s %s\n", ev->nr, ev->name, tier ? tier : "other", group ? group : "other", ev->doc);
	for (i = 0; i < ev->field_cnt; i++)
		write_field(f, &ev->fields[i]);
}

char *fr_schema_write(const struct fr_schema *s, size_t *sz)
{
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	u32 nr;

	if (!f)
		return NULL;
	fputs(FR_SCHEMA_TITLE "\n", f);
	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		if (s->ev[nr].name)
			write_event(f, &s->ev[nr]);
	return fr_memfile_end(&m, sz);
}
