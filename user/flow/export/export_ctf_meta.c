/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The metadata of a CTF 1.8 trace (diamon.org/ctf/v1.8.3), with the names LTTng's kernel tracer uses, which Trace Compass
 * knows. Every field's name has an underscore in front, which readers take off: so no name is a word of the language.
 */
#include <errno.h>
#include <string.h>

#include "flow/export/export_ctf.h"
#include "version.h"

struct rename {
	const char *from, *to;
};

static const struct rename event_renames[] = {
	{"softirq_entry", "irq_softirq_entry"},
	{"softirq_exit", "irq_softirq_exit"},
	{"page_fault_user", "x86_exceptions_page_fault_user"},
	{"page_fault_kernel", "x86_exceptions_page_fault_kernel"},
};

/* LTTng says tid where the kernel's tracepoints say pid. */
static const struct rename field_renames[] = {
	{"prev_pid", "prev_tid"},     {"next_pid", "next_tid"},	  {"target_pid", "tid"},       {"target_comm", "comm"},
	{"parent_pid", "parent_tid"}, {"child_pid", "child_tid"}, {"child_tgid", "child_pid"}, {"old_pid", "old_tid"},
};

/* Names that say x86 are of x86 only. */
static bool fits(const char *name, const struct fr_sys *sys)
{
	return strncmp(name, "x86_", 4) || (sys->arch && !strcmp(sys->arch, "x86_64"));
}

static const char *renamed(const struct rename *r, size_t cnt, const char *name)
{
	size_t i;

	for (i = 0; i < cnt; i++) {
		if (!strcmp(r[i].from, name))
			return r[i].to;
	}
	return name;
}

/* The name LTTng has for a field of this event (prev_tid), or its own. */
static const char *field_name(const struct fr_event *ev, const char *field)
{
	if (ev->group == FR_GROUP_SIGNAL && !strcmp(field, "target_pid"))
		return "pid";
	return renamed(field_renames, sizeof(field_renames) / sizeof(field_renames[0]), field);
}

void fr_ctf_event_name(char *buf, size_t sz, const struct fr_event *ev, const struct fr_sys *sys, s64 call)
{
	const char *plain = renamed(event_renames, sizeof(event_renames) / sizeof(event_renames[0]), ev->name);
	const char *way = ev->nr == FR_EV_sys_enter ? "entry" : "exit", *compat = sys->abi ? "compat_" : "";
	const char *name = call < 0 ? NULL : fr_sysname(sys, FR_STYLE_SYSCALL, call);

	if (call < 0)
		snprintf(buf, sz, "%s", fits(plain, sys) ? plain : ev->name);
	else if (name)
		snprintf(buf, sz, "%ssyscall_%s_%s", compat, way, name);
	else
		snprintf(buf, sz, "%ssyscall_%s_unknown_%lld", compat, way, (long long)call);
}

/* ---- text ---- */

/* A text of the language, from a file: what could end it is left out. */
static void put_quoted(FILE *f, const char *s)
{
	for (; s && *s; s++) {
		if (*s >= ' ' && *s < 0x7f && *s != '"' && *s != '\\')
			fputc(*s, f);
	}
}

static void put_env(FILE *f, const char *key, const char *value)
{
	fprintf(f, "\t%s = \"", key);
	put_quoted(f, value);
	fputs("\";\n", f);
}

static void put_uuid(FILE *f, const u8 *u)
{
	u32 i;

	for (i = 0; i < FR_CTF_UUID_SZ; i++)
		fprintf(f, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
}

static void put_head(FILE *f, const struct fr_ctf_trace *t)
{
	fputs("/* CTF 1.8 */\n\n", f);
	fputs("typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	      "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	      "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	      "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	      "typealias integer { size = 64; align = 8; signed = false; base = 16; } := xuint64_t;\n"
	      "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	      "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n\n"
	      "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"",
	      f);
	put_uuid(f, t->uuid);
	fputs("\";\n\tbyte_order = le;\n\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n"
	      "\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n\t};\n};\n\n",
	      f);
}

/* Trace Compass takes a trace with these words for one of LTTng's kernel tracer, and knows what its events mean. */
static void put_environment(FILE *f, const struct fr_ctf_trace *t)
{
	fputs("env {\n", f);
	put_env(f, "hostname", fr_snap_fact(t->snap, "host"));
	put_env(f, "domain", "kernel");
	put_env(f, "sysname", "Linux");
	put_env(f, "kernel_release", fr_snap_fact(t->snap, "kernel"));
	put_env(f, "tracer_name", "lttng-modules");
	fputs("\ttracer_major = 2;\n\ttracer_minor = 13;\n\ttracer_patchlevel = 0;\n", f);
	put_env(f, "written_by", "flightrec " FR_VERSION);
	put_env(f, "recorded_by", fr_snap_fact(t->snap, "version"));
	put_env(f, "trigger", fr_snap_fact(t->snap, "trigger_reason"));
	fputs("};\n\n", f);
}

static void put_clock(FILE *f, const struct fr_ctf_trace *t)
{
	s64 s = t->offset_ns / 1000000000, ns = t->offset_ns % 1000000000;

	if (ns < 0) {
		s--;
		ns += 1000000000;
	}
	fputs("clock {\n\tname = \"recording\";\n\tdescription = \"monotonic clock, moved only forward across CPUs\";\n"
	      "\tfreq = 1000000000;\n",
	      f);
	fprintf(f, "\toffset_s = %lld;\n\toffset = %lld;\n};\n\n", (long long)s, (long long)ns);
	fputs("typealias integer { size = 64; align = 8; signed = false; map = clock.recording.value; } := timestamp_t;\n\n",
	      f);
}

static void put_stream(FILE *f)
{
	fputs("stream {\n\tid = 0;\n\tpacket.context := struct {\n\t\ttimestamp_t timestamp_begin;\n\t\ttimestamp_t "
	      "timestamp_end;\n"
	      "\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n\t\tuint64_t packet_seq_num;\n\t\tuint64_t "
	      "events_discarded;\n"
	      "\t\tuint32_t cpu_id;\n\t};\n\tevent.header := struct {\n\t\tuint32_t id;\n\t\ttimestamp_t timestamp;\n\t};\n"
	      "\tevent.context := struct {\n\t\tint32_t _tid;\n\t\tint32_t _pid;\n\t\tstring _procname;\n\t};\n};\n\n",
	      f);
}

/* Numbers are written with the width and sign they have in a record. */
static const char *type_of(const struct fr_field *f)
{
	if (fr_field_signed(f))
		return "int64_t";
	return f->style == FR_STYLE_HEX ? "xuint64_t" : "uint64_t";
}

static void put_field(FILE *f, const struct fr_event *ev, const struct fr_field *field)
{
	const char *name = field_name(ev, field->name);

	switch (fr_field_kind(field)) {
	case FR_VAL_TEXT:
		fprintf(f, "\t\tstring _%s;\n", name);
		break;
	case FR_VAL_NUMS:
		fprintf(f, "\t\tuint32_t __%s_length;\n\t\txuint64_t _%s[ __%s_length ];\n", name, name, name);
		break;
	default:
		fprintf(f, "\t\t%s _%s;\n", type_of(field), name);
	}
}

static void put_class(FILE *f, const struct fr_ctf_class *c, u32 id)
{
	u32 i;

	fprintf(f, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n", c->name, id);
	for (i = 0; c->ev && i < c->ev->field_cnt; i++)
		put_field(f, c->ev, &c->ev->fields[i]);
	if (!c->ev)
		fputs("\t\tint64_t _tid;\n\t\tint64_t _pid;\n\t\tint64_t _ppid;\n\t\tstring _name;\n\t\tuint64_t _type;\n"
		      "\t\tuint64_t _mode;\n\t\tuint64_t _submode;\n\t\tuint64_t _status;\n\t\tuint64_t _cpu;\n",
		      f);
	fputs("\t};\n};\n\n", f);
}

int fr_ctf_metadata(FILE *f, const struct fr_ctf_trace *t)
{
	u32 i;

	put_head(f, t);
	put_environment(f, t);
	put_clock(f, t);
	put_stream(f);
	for (i = 0; i < t->class_cnt; i++)
		put_class(f, &t->class[i], i);
	return ferror(f) ? -EIO : 0;
}
