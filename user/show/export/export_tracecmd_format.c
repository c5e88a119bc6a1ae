/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layout of events in a trace.dat file, and the format texts that describe it. A tracepoint that was recorded whole is the
 * kernel's record and format, so that readers decode it as they do the kernel's own. Kernel events have the kernel's system,
 * field names and types, as expected by plugins of trace-cmd and KernelShark; our additional fields follow, under our names. An
 * event that is not in the table below is laid out according to its schema, in the system "flightrec".
 */
#include <stdio.h>

#include "base/schema/tpname.h"
#include "base/text/escape.h"
#include "base/text/utf8.h"
#include "show/export/export_tracecmd.h"

#define COMMON_SZ 8u /* common_type, common_flags, common_preempt_count, common_pid */
#define ID_FIRST  1000u
#define FORMAT	  "\nformat:\n"

/* type: as in the format text; array: follows the name; print: %-format and its argument */
static const struct kind {
	const char *type, *array;
	u8 size, align;
	bool is_signed;
	const char *print;
} kinds[FR_TRC_KIND_CNT] = {
	[FR_TRC_U8] = {"unsigned char", "", 1, 1, false, "%u"},
	[FR_TRC_S8] = {"signed char", "", 1, 1, true, "%hhd"},
	[FR_TRC_S16] = {"short", "", 2, 2, true, "%hd"},
	[FR_TRC_U16] = {"unsigned short", "", 2, 2, false, "%u"},
	[FR_TRC_S32] = {"int", "", 4, 4, true, "%d"},
	[FR_TRC_U32] = {"unsigned int", "", 4, 4, false, "%u"},
	[FR_TRC_S64] = {"long", "", 8, 8, true, "%ld"},
	[FR_TRC_U64] = {"unsigned long", "", 8, 8, false, "%lu"},
	[FR_TRC_TEXT8] = {"char", "[8]", 8, 1, false, "%s"},
	[FR_TRC_TEXT10] = {"char", "[10]", 10, 1, false, "%s"},
	[FR_TRC_TEXT16] = {"char", "[16]", 16, 1, false, "%s"},
	[FR_TRC_ARGS6] = {"unsigned long", "[6]", 48, 8, false, NULL},
	[FR_TRC_STR] = {"__data_loc char[]", "", 4, 4, false, "%s"},
	[FR_TRC_NUMS] = {"__data_loc unsigned long[]", "", 4, 4, false, "%s"},
};

/* from: our field, NULL: of the same name; ".pid", ".comm" the row's task; "0" */
#define MAP_FIELD_MAX 9u
static const struct map {
	const char *event, *system, *print;
	struct {
		u8 kind;
		const char *name, *from;
	} field[MAP_FIELD_MAX];
} maps[] = {
	{"sched_switch",
	 "sched",
	 "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d\", "
	 "REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, "
	 "\"|\", { 0x1, \"S\" }, { 0x2, \"D\" }, { 0x4, \"T\" }, { 0x8, \"t\" }, { 0x10, \"X\" }, { 0x20, \"Z\" }, "
	 "{ 0x40, \"P\" }, { 0x80, \"I\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\", REC->next_comm, "
	 "REC->next_pid, REC->next_prio",
	 {{FR_TRC_TEXT16, "prev_comm", NULL},
	  {FR_TRC_S32, "prev_pid", NULL},
	  {FR_TRC_S32, "prev_prio", NULL},
	  {FR_TRC_S64, "prev_state", NULL},
	  {FR_TRC_TEXT16, "next_comm", NULL},
	  {FR_TRC_S32, "next_pid", NULL},
	  {FR_TRC_S32, "next_prio", NULL}}},
#define WAKING                                                                                                         \
	"sched", "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu",        \
	{                                                                                                              \
		{FR_TRC_TEXT16, "comm", "target_comm"}, {FR_TRC_S32, "pid", "target_pid"}, {FR_TRC_S32, "prio", NULL}, \
		{                                                                                                      \
			FR_TRC_S32, "target_cpu", NULL                                                                 \
		}                                                                                                      \
	}
	{"sched_waking", WAKING},
	{"sched_wakeup_new", WAKING},
	{"sched_migrate_task",
	 "sched",
	 NULL,
	 {{FR_TRC_TEXT16, "comm", "target_comm"},
	  {FR_TRC_S32, "pid", "target_pid"},
	  {FR_TRC_S32, "prio", NULL},
	  {FR_TRC_S32, "orig_cpu", NULL},
	  {FR_TRC_S32, "dest_cpu", NULL}}},
	{"sched_process_fork",
	 "sched",
	 "\"comm=%s pid=%d child_comm=%s child_pid=%d\", REC->parent_comm, REC->parent_pid, REC->child_comm, REC->child_pid",
	 {{FR_TRC_TEXT16, "parent_comm", NULL},
	  {FR_TRC_S32, "parent_pid", NULL},
	  {FR_TRC_TEXT16, "child_comm", NULL},
	  {FR_TRC_S32, "child_pid", NULL}}},
	{"sched_process_exec",
	 "sched",
	 NULL,
	 {{FR_TRC_STR, "filename", NULL}, {FR_TRC_S32, "pid", ".pid"}, {FR_TRC_S32, "old_pid", NULL}}},
	{"sched_process_exit",
	 "sched",
	 NULL,
	 {{FR_TRC_TEXT16, "comm", ".comm"}, {FR_TRC_S32, "pid", ".pid"}, {FR_TRC_S32, "prio", NULL}}},
	{"task_rename",
	 "task",
	 NULL,
	 {{FR_TRC_S32, "pid", "target_pid"},
	  {FR_TRC_TEXT16, "oldcomm", NULL},
	  {FR_TRC_TEXT16, "newcomm", NULL},
	  {FR_TRC_S16, "oom_score_adj", NULL}}},
	{"mark_victim", "oom", NULL, {{FR_TRC_S32, "pid", "target_pid"}, {FR_TRC_TEXT16, "comm", "target_comm"}}},
	{"signal_generate",
	 "signal",
	 "\"sig=%d errno=%d code=%d comm=%s pid=%d grp=%d res=%d\", REC->sig, REC->errno, REC->code, REC->comm, REC->pid, "
	 "REC->group, REC->result",
	 {{FR_TRC_S32, "sig", NULL},
	  {FR_TRC_S32, "errno", NULL},
	  {FR_TRC_S32, "code", NULL},
	  {FR_TRC_TEXT16, "comm", "target_comm"},
	  {FR_TRC_S32, "pid", "target_pid"},
	  {FR_TRC_S32, "group", NULL},
	  {FR_TRC_S32, "result", NULL}}},
	{"signal_deliver",
	 "signal",
	 "\"sig=%d errno=%d code=%d sa_handler=%lx sa_flags=%lx\", REC->sig, REC->errno, REC->code, REC->sa_handler, "
	 "REC->sa_flags",
	 {{FR_TRC_S32, "sig", NULL},
	  {FR_TRC_S32, "errno", NULL},
	  {FR_TRC_S32, "code", NULL},
	  {FR_TRC_U64, "sa_handler", NULL},
	  {FR_TRC_U64, "sa_flags", NULL}}},
	{"irq_handler_entry", "irq", NULL, {{FR_TRC_S32, "irq", NULL}, {FR_TRC_STR, "name", NULL}}},
	{"irq_handler_exit",
	 "irq",
	 "\"irq=%d ret=%s\", REC->irq, REC->ret ? \"handled\" : \"unhandled\"",
	 {{FR_TRC_S32, "irq", NULL}, {FR_TRC_S32, "ret", NULL}}},
#define SOFTIRQ                                                                                                     \
	"irq",                                                                                                      \
		"\"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 0, \"HI\" }, { 1, \"TIMER\" }, "    \
		"{ 2, \"NET_TX\" }, { 3, \"NET_RX\" }, { 4, \"BLOCK\" }, { 5, \"IRQ_POLL\" }, { 6, \"TASKLET\" }, " \
		"{ 7, \"SCHED\" }, { 8, \"HRTIMER\" }, { 9, \"RCU\" })",                                            \
	{                                                                                                           \
		{                                                                                                   \
			FR_TRC_U32, "vec", NULL                                                                     \
		}                                                                                                   \
	}
	{"softirq_entry", SOFTIRQ},
	{"softirq_exit", SOFTIRQ},
	{"sys_enter",
	 "raw_syscalls",
	 "\"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)\", REC->id, REC->args[0], REC->args[1], REC->args[2], REC->args[3], "
	 "REC->args[4], REC->args[5]",
	 {{FR_TRC_S64, "id", NULL}, {FR_TRC_ARGS6, "args", NULL}}},
	{"sys_exit",
	 "raw_syscalls",
	 "\"NR %ld = %ld\", REC->id, REC->ret",
	 {{FR_TRC_S64, "id", NULL}, {FR_TRC_S64, "ret", NULL}}},
#define FAULT                                                                                                \
	"exceptions", "\"address=0x%lx ip=0x%lx error_code=0x%lx\", REC->address, REC->ip, REC->error_code", \
	{                                                                                                    \
		{FR_TRC_U64, "address", NULL}, {FR_TRC_U64, "ip", NULL},                                     \
		{                                                                                            \
			FR_TRC_U64, "error_code", NULL                                                       \
		}                                                                                            \
	}
	{"page_fault_user", FAULT},
	{"page_fault_kernel", FAULT},
#define BLOCK_REQUEST                                                                                                   \
	"block",                                                                                                        \
		"\"%d,%d %s %u () %lu + %u [%s]\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & " \
		"((1U << 20) - 1))), REC->rwbs, REC->bytes, REC->sector, REC->nr_sector, REC->comm",                    \
	{                                                                                                               \
		{FR_TRC_U32, "dev", NULL}, {FR_TRC_U64, "sector", NULL}, {FR_TRC_U32, "nr_sector", NULL},               \
			{FR_TRC_U32, "bytes", NULL}, {FR_TRC_U16, "ioprio", NULL}, {FR_TRC_TEXT10, "rwbs", NULL},       \
			{FR_TRC_TEXT16, "comm", ".comm"},                                                               \
		{                                                                                                       \
			FR_TRC_STR, "cmd", "0"                                                                          \
		}                                                                                                       \
	}
	{"block_rq_issue", BLOCK_REQUEST},
	{"block_io_start", BLOCK_REQUEST},
	{"block_io_done", BLOCK_REQUEST},
	{"block_rq_complete",
	 "block",
	 "\"%d,%d %s () %lu + %u [%d]\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & "
	 "((1U << 20) - 1))), REC->rwbs, REC->sector, REC->nr_sector, REC->error",
	 {{FR_TRC_U32, "dev", NULL},
	  {FR_TRC_U64, "sector", NULL},
	  {FR_TRC_U32, "nr_sector", NULL},
	  {FR_TRC_S32, "error", NULL},
	  {FR_TRC_U16, "ioprio", NULL},
	  {FR_TRC_TEXT10, "rwbs", NULL},
	  {FR_TRC_STR, "cmd", "0"}}},
};

#define MAP_CNT (sizeof(maps) / sizeof(maps[0]))

/* ---- layout ---- */

static const struct map *tracecmd_format_map_of(const struct fr_event *ev)
{
	size_t i;

	for (i = 0; i < MAP_CNT; i++) {
		if (!strcmp(maps[i].event, ev->name))
			return &maps[i];
	}
	return NULL;
}

/* The form of our fields that the kernel does not have. */
static enum fr_trc_kind tracecmd_format_kind_of(const struct fr_field *f)
{
	static const u8 kind[FR_TYPE_CNT] = {
		[FR_TYPE_u8] = FR_TRC_U8,	[FR_TYPE_u16] = FR_TRC_U16, [FR_TYPE_u32] = FR_TRC_U32,
		[FR_TYPE_u64] = FR_TRC_U64,	[FR_TYPE_s8] = FR_TRC_S8,   [FR_TYPE_s16] = FR_TRC_S16,
		[FR_TYPE_s32] = FR_TRC_S32,	[FR_TYPE_s64] = FR_TRC_S64, [FR_TYPE_text8] = FR_TRC_TEXT8,
		[FR_TYPE_comm] = FR_TRC_TEXT16, [FR_TYPE_str] = FR_TRC_STR, [FR_TYPE_u64s] = FR_TRC_NUMS,
	};

	if (f->type == FR_TYPE_array)
		return fr_field_kind(f) == FR_VAL_TEXT ? FR_TRC_STR : FR_TRC_NUMS;
	return f->type < FR_TYPE_CNT ? kind[f->type] : FR_TRC_U64;
}

static struct fr_trc_field *tracecmd_format_add_field(struct fr_trc_event *e, enum fr_trc_kind kind, const char *name)
{
	const struct kind *k = &kinds[kind];
	struct fr_trc_field *f = &e->field[e->cnt++];
	u32 off = (e->fixed_sz + k->align - 1) / k->align * k->align;

	*f = (struct fr_trc_field){.name = name, .kind = kind, .off = off};
	e->fixed_sz = off + k->size;
	return f;
}

static void add_mapped(struct fr_trc_event *e, const struct map *m)
{
	u32 i;

	for (i = 0; i < MAP_FIELD_MAX && m->field[i].name; i++) {
		const char *from = m->field[i].from ?: m->field[i].name;
		struct fr_trc_field *f = tracecmd_format_add_field(e, m->field[i].kind, m->field[i].name);

		f->from = !strcmp(from, ".pid")	   ? FR_TRC_PID
			  : !strcmp(from, ".comm") ? FR_TRC_COMM
			  : !strcmp(from, "0")	   ? FR_TRC_ZERO
						   : FR_TRC_FIELD;
		f->field = f->from == FR_TRC_FIELD ? fr_event_field(e->ev, from) : NULL;
	}
}

static bool is_bound(const struct fr_trc_event *e, const struct fr_field *field)
{
	u32 i;

	for (i = 0; i < e->cnt; i++) {
		if (e->field[i].field == field || !strcmp(e->field[i].name, field->name))
			return true;
	}
	return false;
}

/* tp:SYSTEM:NAME has the kernel's system and name; "system" refers to e, which stays where it is. */
static void name_tracepoint(struct fr_trc_event *e)
{
	if (e->ev->group == FR_GROUP_TP && fr_tp_split(e->ev->name, e->own_system, &e->name))
		e->system = e->own_system;
}

static void take_kernels(struct fr_trc_event *e, const struct fr_tps *tps)
{
	size_t sz = 0;
	const char *text = fr_tps_whole_text(tps, e->ev->nr, &sz),
		   *from = text ? memmem(text, sz, FORMAT, strlen(FORMAT)) : NULL;

	if (!from)
		return;
	e->kernels = from + 1;
	e->kernels_sz = text + sz - e->kernels;
}

void fr_trc_bind(struct fr_trc_event *e, const struct fr_event *ev, const struct fr_tps *tps)
{
	const struct map *m = tracecmd_format_map_of(ev);
	u32 i;

	*e = (struct fr_trc_event){.ev = ev,
				   .id = ID_FIRST + ev->nr,
				   .system = m ? m->system : "flightrec",
				   .name = ev->name,
				   .fixed_sz = COMMON_SZ};
	name_tracepoint(e);
	take_kernels(e, tps);
	if (m) {
		e->print = m->print;
		add_mapped(e, m);
		e->print_cnt = m->print ? e->cnt : 0;
	}
	for (i = 0; i < ev->field_cnt && e->cnt < FR_TRC_FIELD_MAX; i++) {
		const struct fr_field *field = &ev->fields[i];

		if (!fr_field_is_inner(field) && !is_bound(e, field))
			tracecmd_format_add_field(e, tracecmd_format_kind_of(field), field->name)->field = field;
	}
}

/* ---- data ---- */

struct fr_val fr_trc_value(const struct fr_trc_field *f, const struct fr_view *v, const struct fr_row *r)
{
	struct fr_val none = {.kind = FR_VAL_NONE};

	if (f->field)
		return fr_view_field(v, r, f->field);
	if (f->from == FR_TRC_PID)
		return (struct fr_val){.kind = FR_VAL_NUM, .num = r->tid};
	if (f->from == FR_TRC_COMM) {
		struct fr_who who = fr_view_who(v, r);

		return (struct fr_val){.kind = who.comm ? FR_VAL_TEXT : FR_VAL_NONE, .text = who.comm, .len = who.len};
	}
	return none;
}

/*
 * Variable-length data after the fixed fields: writes it at buf + *end, and its position at `at`. Truncated if there is no
 * room.
 */
static void put_dynamic(u8 *buf, u8 *at, u32 *end, const void *p, size_t sz, size_t unit)
{
	u32 off = (*end + unit - 1) / unit * unit, word;
	size_t most = off + 8 < FR_TRC_DATA_MAX ? FR_TRC_DATA_MAX - off - 8 : 0;

	sz = sz < most ? sz : most / unit * unit;
	if (sz)
		memcpy(buf + off, p, sz);
	if (unit == 1)
		buf[off + sz++] = 0;
	word = off | (u32)sz << 16;
	memcpy(at, &word, sizeof(word));
	*end = off + sz;
}

static void tracecmd_format_put_field(const struct fr_trc_field *f, const struct fr_val *v, u8 *buf, u32 *end)
{
	bool is_num = v->kind == FR_VAL_NUM, is_text = v->kind == FR_VAL_TEXT, is_nums = v->kind == FR_VAL_NUMS;
	u64 num = is_num ? v->num : 0;
	u8 *at = buf + f->off;
	size_t size = kinds[f->kind].size, len;

	switch (f->kind) {
	case FR_TRC_STR:
		len = *end;
		put_dynamic(buf, at, end, v->text, is_text ? v->len : 0, 1);
		fr_escape_mask((char *)buf + len, *end - 1 - len);
		break;
	case FR_TRC_NUMS:
		put_dynamic(buf, at, end, v->nums, is_nums ? v->len * sizeof(u64) : 0, sizeof(u64));
		break;
	case FR_TRC_ARGS6:
		len = is_nums ? v->len * sizeof(u64) : 0;
		if (len)
			memcpy(at, v->nums, len < size ? len : size);
		break;
	case FR_TRC_TEXT8:
	case FR_TRC_TEXT10:
	case FR_TRC_TEXT16:
		len = is_text ? strnlen(v->text, v->len) : 0;
		len = len < size ? len : size;
		if (len)
			memcpy(at, v->text, len);
		fr_escape_mask((char *)at, len);
		break;
	default:
		memcpy(at, &num, size); /* little-endian, as declared in the file */
	}
}

/* As it was; behind a text that was cut is a NUL. */
static u32 put_kernels(const struct fr_view *v, const struct fr_row *r, u8 *buf)
{
	size_t sz;
	const void *rec = fr_tps_whole_record(v->tps, r, &sz);

	if (!rec)
		return 0;
	memcpy(buf, rec, sz);
	while (sz < COMMON_SZ || sz % 4 || buf[sz - 1])
		buf[sz++] = 0;
	return sz;
}

static void put_common(const struct fr_trc_event *e, const struct fr_row *r, u8 *buf)
{
	memcpy(buf, &e->id, sizeof(e->id));
	memcpy(buf + 4, &r->tid, sizeof(r->tid));
}

u32 fr_trc_put(const struct fr_trc_event *e, const struct fr_view *v, const struct fr_row *r, u8 *buf)
{
	u32 end = e->fixed_sz, i;

	if (e->kernels) {
		end = put_kernels(v, r, buf);
		put_common(e, r, buf);
		return end;
	}
	memset(buf, 0, e->fixed_sz);
	put_common(e, r, buf);
	for (i = 0; i < e->cnt; i++) {
		struct fr_val val = fr_trc_value(&e->field[i], v, r);

		tracecmd_format_put_field(&e->field[i], &val, buf, &end);
	}
	while (end % 4)
		buf[end++] = 0;
	return end;
}

/* ---- whose processes are ---- */

void fr_trc_bind_whose(struct fr_trc_event *e)
{
	static const struct fr_event of_no_schema;

	*e = (struct fr_trc_event){.ev = &of_no_schema,
				   .id = ID_FIRST + FR_TRC_WHOSE,
				   .system = "flightrec",
				   .name = "process_whose",
				   .print = "\"comm=%s pid=%d start_ns=%lu %s\", REC->comm, REC->pid, REC->start_ns, "
					    "__get_str(whose)",
				   .fixed_sz = COMMON_SZ};
	tracecmd_format_add_field(e, FR_TRC_TEXT16, "comm");
	tracecmd_format_add_field(e, FR_TRC_S32, "pid");
	tracecmd_format_add_field(e, FR_TRC_U64, "start_ns");
	tracecmd_format_add_field(e, FR_TRC_STR, "whose");
	e->print_cnt = e->cnt;
}

/*
 * "container=web pod=api-0", without what is not known. Whoever names a cgroup forges no line and names no pod: a byte that
 * text would not show as it is, a blank and each backslash are \xNN, so that this can be read back, too.
 */
static size_t tracecmd_put_words(char *to, size_t room, const struct fr_export_whose *w)
{
	size_t len = 0, at, one;
	u32 nr, i;

	for (nr = 0; nr < FR_WHOSE_CNT; nr++) {
		i = (FR_WHOSE_container + nr) % FR_WHOSE_CNT; /* the path last: if there is no room, it is cut */
		if (!w->text[i] || room - len < 64)
			continue;
		len += sprintf(to + len, "%s%s=", len ? " " : "", fr_whose_name(i));
		for (at = 0; w->text[i][at] && room - len > 16; at += one) {
			const char *s = w->text[i] + at;

			one = fr_utf8_len(s, strlen(s)) ?: 1;
			if (*s == ' ' || *s == '\\')
				len += sprintf(to + len, "\\x%02x", *s);
			else
				len += fr_escape_mem(to + len, room - len, s, one);
		}
	}
	return len;
}

u32 fr_trc_put_whose(const struct fr_trc_event *e, const struct fr_export_whose *w, u8 *buf)
{
	char words[FR_TRC_DATA_MAX];
	const struct fr_val val[] = {
		{.kind = w->who.comm ? FR_VAL_TEXT : FR_VAL_NONE, .text = w->who.comm, .len = w->who.len},
		{.kind = FR_VAL_NUM, .num = w->task->tid},
		{.kind = FR_VAL_NUM, .num = w->task->start_ns},
		{.kind = FR_VAL_TEXT, .text = words, .len = tracecmd_put_words(words, sizeof(words), w)},
	};
	u32 end = e->fixed_sz, i;

	memset(buf, 0, e->fixed_sz);
	memcpy(buf, &e->id, sizeof(e->id));
	for (i = 0; i < e->cnt; i++)
		tracecmd_format_put_field(&e->field[i], &val[i], buf, &end);
	while (end % 4)
		buf[end++] = 0;
	return end;
}

/* ---- format ---- */

static void put_decl(FILE *out, const char *type, const char *name, const char *array, u32 off, u32 size, bool is_signed)
{
	fprintf(out, "\tfield:%s %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", type, name, array, off, size, is_signed);
}

static void tracecmd_format_put_fields(FILE *out, const struct fr_trc_event *e)
{
	u32 i;

	put_decl(out, "unsigned short", "common_type", "", 0, 2, false);
	put_decl(out, "unsigned char", "common_flags", "", 2, 1, false);
	put_decl(out, "unsigned char", "common_preempt_count", "", 3, 1, false);
	put_decl(out, "int", "common_pid", "", 4, 4, true);
	fputc('\n', out);
	for (i = 0; i < e->cnt; i++) {
		const struct kind *k = &kinds[e->field[i].kind];

		put_decl(out, k->type, e->field[i].name, k->array, e->field[i].off, k->size, k->is_signed);
	}
}

static const char *print_of(const struct fr_trc_field *f)
{
	bool hex = f->field && fr_style_is_hex(f->field->style);

	return hex && f->kind == FR_TRC_U64 ? "0x%lx" : hex && f->kind == FR_TRC_U32 ? "0x%x" : kinds[f->kind].print;
}

static void put_print_arg(FILE *out, const struct fr_trc_field *f)
{
	if (f->kind == FR_TRC_STR)
		fprintf(out, ", __get_str(%s)", f->name);
	else if (f->kind == FR_TRC_NUMS)
		fprintf(out, ", __print_array(__get_dynamic_array(%s), __get_dynamic_array_len(%s) / 8, 8)", f->name, f->name);
	else
		fprintf(out, ", REC->%s", f->name);
}

/* name=value for the fields from `from` on: the format, or its arguments. */
static void tracecmd_format_put_generic(FILE *out, const struct fr_trc_event *e, bool args, const char *before)
{
	u32 i;

	for (i = e->print_cnt; i < e->cnt; i++) {
		const struct fr_trc_field *f = &e->field[i];

		if (f->kind == FR_TRC_ARGS6)
			continue;
		if (args)
			put_print_arg(out, f);
		else
			fprintf(out, "%s%s=%s", before, f->name, print_of(f));
		before = " ";
	}
}

/* The kernel's text for its own fields, then ours. */
static void put_print(FILE *out, const struct fr_trc_event *e)
{
	const char *quote = e->print ? strchr(e->print + 1, '"') : NULL;

	fputs("print fmt: ", out);
	if (!quote) {
		fputc('"', out);
		tracecmd_format_put_generic(out, e, false, "");
		fputc('"', out);
	} else {
		fwrite(e->print, 1, quote - e->print, out);
		tracecmd_format_put_generic(out, e, false, " ");
		fputs(quote, out);
	}
	tracecmd_format_put_generic(out, e, true, "");
	fputc('\n', out);
}

void fr_trc_format(FILE *out, const struct fr_trc_event *e)
{
	fprintf(out, "name: %s\nID: %u\n", e->name, e->id);
	if (e->kernels) {
		fwrite(e->kernels, 1, e->kernels_sz, out);
		return;
	}
	fputs("format:\n", out);
	tracecmd_format_put_fields(out, e);
	fputc('\n', out);
	put_print(out, e);
}
