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

/* A string literal, with text from a file: leave out what could end it. */
static void ctf_meta_put_quoted(FILE *f, const char *s)
{
	for (; s && *s; s++) {
		if (*s >= ' ' && *s < 0x7f && *s != '"' && *s != '\\')
			fputc(*s, f);
	}
}

static void put_env(FILE *f, const char *key, const char *value)
{
	fprintf(f, "\t%s = \"", key);
	ctf_meta_put_quoted(f, value);
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

/* Numbers have the width and sign of the record. */
static const char *ctf_meta_type_of(const struct fr_field *f)
{
	if (fr_field_signed(f))
		return "int64_t";
	return f->style == FR_STYLE_HEX || f->style == FR_STYLE_ARG || f->style == FR_STYLE_TAKEN ? "xuint64_t" : "uint64_t";
}

static void ctf_meta_put_field(FILE *f, const struct fr_event *ev, const struct fr_field *field)
{
	const char *name = fr_ctf_field_name(ev, field->name);

	switch (fr_field_kind(field)) {
	case FR_VAL_TEXT:
		fprintf(f, "\t\tstring _%s;\n", name);
		break;
	case FR_VAL_NUMS:
		fprintf(f, "\t\tuint32_t __%s_length;\n\t\txuint64_t _%s[ __%s_length ];\n", name, name, name);
		break;
	default:
		fprintf(f, "\t\t%s _%s;\n", ctf_meta_type_of(field), name);
	}
}

static void ctf_meta_put_extra(FILE *f, const struct fr_ctf_extra *x)
{
	static const char *const type[] = {
		[FR_CTF_TID] = "int64_t",	    [FR_CTF_PID] = "int64_t",	[FR_CTF_COMM] = "string",
		[FR_CTF_SOFTIRQ] = "softirq_names", [FR_CTF_RWBS] = "uint64_t",
	};

	fprintf(f, "\t\t%s _%s;\n", type[x->what], x->name);
}

static void ctf_meta_put_fields(FILE *f, const struct fr_ctf_class *c)
{
	const struct fr_ctf_extra *x;
	u32 i;

	for (i = 0; i < c->ev->field_cnt; i++)
		ctf_meta_put_field(f, c->ev, &c->ev->fields[i]);
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

static void put_class(FILE *f, const struct fr_ctf_class *c, u32 id)
{
	fprintf(f, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n", c->name, id);
	if (c->ev)
		ctf_meta_put_fields(f, c);
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
		put_class(f, &t->class[i], i);
	return ferror(f) ? -errno : 0; /* of the failed write: nothing else here can fail */
}
