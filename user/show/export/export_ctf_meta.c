/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The metadata of a CTF 1.8 trace (diamon.org/ctf/v1.8.3). Field names get a leading underscore, which readers strip, so that
 * none is a keyword.
 */
#include <errno.h>
#include <string.h>

#include "base/text/units.h"
#include "show/export/export_ctf.h"
#include "version.h"

/* ---- text ---- */

void fr_ctf_put_quoted(FILE *f, const char *s)
{
	for (; s && *s; s++) {
		if (fr_ctf_may_quote(*s))
			fputc(*s, f);
	}
}

static void put_env(FILE *f, const char *key, const char *value)
{
	fprintf(f, "\t%s = \"", key);
	fr_ctf_put_quoted(f, value);
	fputs("\";\n", f);
}

static void put_uuid(FILE *f, const u8 *u)
{
	u32 i;

	for (i = 0; i < FR_CTF_UUID_SZ; i++)
		fprintf(f, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
}

static void ctf_meta_put_head(FILE *f, const struct fr_ctf_trace *t)
{
	fputs("/* CTF 1.8 */\n\n", f);
	fputs("typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	      "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	      "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	      "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	      "typealias integer { size = 8; align = 8; signed = false; base = 16; } := xuint8_t;\n"
	      "typealias integer { size = 16; align = 8; signed = false; base = 16; } := xuint16_t;\n"
	      "typealias integer { size = 32; align = 8; signed = false; base = 16; } := xuint32_t;\n"
	      "typealias integer { size = 64; align = 8; signed = false; base = 16; } := xuint64_t;\n"
	      "typealias integer { size = 64; align = 8; signed = false; base = 8; } := ouint64_t;\n"
	      "typealias integer { size = 8; align = 8; signed = true; } := int8_t;\n"
	      "typealias integer { size = 16; align = 8; signed = true; } := int16_t;\n"
	      "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	      "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n\n"
	      "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"",
	      f);
	put_uuid(f, t->uuid);
	fputs("\";\n\tbyte_order = le;\n\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n"
	      "\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n\t};\n};\n\n",
	      f);
}

/* These words make Trace Compass treat the trace as one of LTTng's kernel tracer, whose events it knows. */
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

static void ctf_meta_put_clock(FILE *f, const struct fr_ctf_trace *t)
{
	s64 s = t->offset_ns / (s64)FR_SEC_NS, ns = t->offset_ns % (s64)FR_SEC_NS;

	if (ns < 0) {
		s--;
		ns += FR_SEC_NS;
	}
	fputs("clock {\n\tname = \"recording\";\n\tdescription = \"monotonic clock, moved only forward across CPUs\";\n"
	      "\tfreq = 1000000000;\n",
	      f);
	fprintf(f, "\toffset_s = %lld;\n\toffset = %lld;\n};\n\n", s, ns);
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

/* "xuint32_t": a number of sz bytes; in an array always without a sign and in hex, but for a tracepoint's. */
static const char *ctf_meta_num_type(char to[16], u32 sz, bool is_signed, bool is_hex)
{
	snprintf(to, 16, "%s%u_t", is_signed ? "int" : is_hex ? "xuint" : "uint", sz * 8);
	return to;
}

static bool ctf_meta_is_hex(const struct fr_field *f)
{
	return f->style == FR_STYLE_HEX || f->style == FR_STYLE_ARG || f->style == FR_STYLE_TAKEN;
}

/* A tracepoint's field has the kernel's name, since its readers know that. */
static const char *ctf_meta_name_of(const struct fr_ctf_class *c, const struct fr_field *f)
{
	struct fr_tpfield kernels;

	if (c->ev->group != FR_GROUP_TP)
		return fr_ctf_field_name(c->ev, f->name);
	return c->format && fr_tpformat_find(c->format, f->name, &kernels) ? kernels.name : f->name;
}

static void ctf_meta_put_field(FILE *f, const struct fr_ctf_trace *t, u32 id, u32 nr)
{
	const struct fr_ctf_class *c = &t->class[id];
	const struct fr_field *field = &c->ev->fields[nr];
	const char *name = ctf_meta_name_of(c, field);
	bool is_tp = c->ev->group == FR_GROUP_TP;
	char type[16];

	switch (fr_field_kind(field)) {
	case FR_VAL_TEXT:
		fprintf(f, "\t\tstring _%s;\n", name);
		break;
	case FR_VAL_NUMS:
		ctf_meta_num_type(type, fr_ctf_num_sz(c->ev, field->elem), is_tp && fr_type_signed(field->elem), !is_tp);
		fprintf(f, "\t\tuint32_t __%s_length;\n\t\t%s _%s[ __%s_length ];\n", name, type, name, name);
		break;
	default:
		ctf_meta_num_type(type, fr_ctf_num_sz(c->ev, field->type), fr_field_signed(field), ctf_meta_is_hex(field));
		fputs("\t\t", f);
		fr_ctf_words_put(t->words, f, id, nr, type, fr_field_signed(field));
		fprintf(f, " _%s;\n", name);
	}
}

/* ---- arguments of calls ---- */

static const char *ctf_meta_arg_type(const struct fr_callarg *a)
{
	if (fr_ctf_arg_signed(a))
		return "int64_t";
	return a->kind == FR_ARG_UINT || a->kind == FR_ARG_LONG || a->kind == FR_ARG_SIZE ? "uint64_t"
	       : a->kind == FR_ARG_MODE							  ? "ouint64_t"
											  : "xuint64_t";
}

/* Is the name one of the event's own fields'? */
static bool ctf_meta_is_taken(const struct fr_event *ev, const char *name)
{
	u32 i;

	for (i = 0; i < ev->field_cnt && strcmp(fr_ctf_field_name(ev, ev->fields[i].name), name); i++)
		;
	return i < ev->field_cnt;
}

static void ctf_meta_put_arg(FILE *f, const struct fr_ctf_trace *t, u32 id, u32 nr)
{
	const struct fr_ctf_class *c = &t->class[id];
	const struct fr_callarg *a = &c->arg[nr];

	fputs("\t\t", f);
	fr_ctf_words_put(t->words, f, id, FR_FIELD_MAX + nr, ctf_meta_arg_type(a), fr_ctf_arg_signed(a));
	fprintf(f, " _%s%s;\n", ctf_meta_is_taken(c->ev, a->name) ? "arg_" : "", a->name);
}

static void ctf_meta_put_extra(FILE *f, const struct fr_ctf_extra *x)
{
	static const char *const type[] = {
		[FR_CTF_TID] = "int64_t",	    [FR_CTF_PID] = "int64_t",	[FR_CTF_COMM] = "string",
		[FR_CTF_SOFTIRQ] = "softirq_names", [FR_CTF_RWBS] = "uint64_t",
	};

	fprintf(f, "\t\t%s _%s;\n", type[x->what], x->name);
}

static void ctf_meta_put_fields(FILE *f, const struct fr_ctf_trace *t, u32 id)
{
	const struct fr_ctf_class *c = &t->class[id];
	const struct fr_ctf_extra *x;
	u32 i;

	for (i = 0; i < c->ev->field_cnt; i++)
		if (!fr_field_is_inner(&c->ev->fields[i]))
			ctf_meta_put_field(f, t, id, i);
	for (i = 0; i < c->arg_cnt; i++)
		ctf_meta_put_arg(f, t, id, i);
	for (x = c->extra; x && x->name; x++)
		ctf_meta_put_extra(f, x);
}

static void ctf_meta_put_own(FILE *f, const struct fr_ctf_class *c)
{
	u32 i;

	fputs(c->fields, f);
	for (i = 0; i < FR_WHOSE_CNT; i++)
		if (c->whose >> i & 1)
			fprintf(f, "\t\tstring _%s;\n", fr_whose_name(i));
}

static void put_class(FILE *f, const struct fr_ctf_trace *t, u32 id)
{
	const struct fr_ctf_class *c = &t->class[id];

	fprintf(f, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n", c->name, id);
	if (c->ev)
		ctf_meta_put_fields(f, t, id);
	else
		ctf_meta_put_own(f, c);
	fputs("\t};\n};\n\n", f);
}

/* LTTng's, with the names of /proc/softirqs. */
static void ctf_meta_put_softirqs(FILE *f)
{
	const struct fr_sys none = {0};
	const char *name;
	u32 i;

	fputs("typealias enum : uint8_t {", f);
	for (i = 0; (name = fr_sysname(&none, FR_STYLE_SOFTIRQ, i)); i++)
		fprintf(f, "%s \"%s\" = %u", i ? "," : "", name, i);
	fputs(" } := softirq_names;\n\n", f);
}

int fr_ctf_metadata(FILE *f, const struct fr_ctf_trace *t)
{
	u32 i;

	ctf_meta_put_head(f, t);
	put_environment(f, t);
	ctf_meta_put_clock(f, t);
	put_stream(f);
	ctf_meta_put_softirqs(f);
	for (i = 0; i < t->class_cnt; i++)
		put_class(f, t, i);
	return ferror(f) ? -errno : 0; /* of the failed write: nothing else here can fail */
}
