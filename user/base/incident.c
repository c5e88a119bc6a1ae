/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/incident.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/schema/reasons.h"
#include "base/schema/sysnames.h"
#include "base/text/escape.h"
#include "base/text/jsonr.h"
#include "base/text/redact.h"
#include "base/text/units.h"
#include "fatal.h"

static const char *const kinds[] = {
#define K(nr, name, doc) [nr] = #name,
	FR_INCIDENTS(K)
#undef K
};

#define CNT(array) (sizeof(array) / sizeof((array)[0]))

const char *fr_incident_kind(u32 kind)
{
	return kind < CNT(kinds) && kinds[kind] ? kinds[kind] : "unknown";
}

u32 fr_incident_kind_find(const char *name)
{
	u32 i;

	for (i = 1; i < CNT(kinds); i++)
		if (!strcmp(kinds[i], name))
			return i;
	return 0;
}

bool fr_incident_is_sum(const struct fr_incident *rec)
{
	return rec->flags & FR_INCIDENT_SUM &&
	       (rec->kind == FR_INCIDENT_signal || rec->kind == FR_INCIDENT_oom || rec->kind == FR_INCIDENT_squeezed);
}

u64 fr_incident_first_ts(const struct fr_incident *rec)
{
	u64 span = fr_incident_is_sum(rec) ? rec->value : 0;

	return span < rec->ts ? rec->ts - span : 0;
}

u64 fr_incident_weight(const struct fr_incident *rec)
{
	return fr_incident_is_sum(rec) ? rec->count : 1;
}

const char *fr_incident_sender(const struct fr_incident *rec)
{
	bool is_sent = rec->kind == FR_INCIDENT_signal && rec->value && !fr_incident_is_sum(rec);

	return is_sent ? rec->text + FR_INCIDENT_SENDER_AT : NULL;
}

/* Bytes of its text, of which the last may be a NUL. */
static size_t text_sz(const struct fr_incident *rec)
{
	return fr_incident_sender(rec) ? FR_INCIDENT_SENDER_AT : sizeof(rec->text);
}

void fr_incident_tidy(struct fr_incident *rec)
{
	rec->comm[sizeof(rec->comm) - 1] = 0;
	rec->text[sizeof(rec->text) - 1] = 0;
	rec->text[text_sz(rec) - 1] = 0;
	if (rec->kind == FR_INCIDENT_kernel)
		rec->text[strcspn(rec->text, "\n")] = 0;
	rec->flags &= FR_INCIDENT_FLAGS;
}

void fr_incident_redact(struct fr_incident *rec, const char *words, u32 *cnt)
{
	char text[sizeof(rec->text)];
	size_t len;

	if (rec->kind != FR_INCIDENT_kernel)
		return;
	len = fr_redact(words, FR_REDACT_LINE, rec->text, strnlen(rec->text, sizeof(rec->text)), text, sizeof(text) - 1, cnt);
	memset(rec->text, 0, sizeof(rec->text));
	memcpy(rec->text, text, len);
}

/* Of a trigger incident. */
static const char *incident_verdict_of(s32 code)
{
	return fr_sysname(NULL, FR_STYLE_VERDICT, code) ?: "?";
}

/* ---- JSON ---- */

static const struct fr_incident *incident_rec(const struct fr_at *at)
{
	return &((const struct fr_incident_item *)at->rec)->rec;
}

static struct fr_value incident_kind(const struct fr_at *at)
{
	return fr_value_text(fr_incident_kind(incident_rec(at)->kind));
}

static struct fr_value incident_uid(const struct fr_at *at)
{
	return incident_rec(at)->uid == ~0u ? fr_value_null() : fr_value_nr(incident_rec(at)->uid);
}

static struct fr_value incident_hex(const struct fr_at *at)
{
	u64 v = *(const u64 *)((const char *)at->rec + at->column->off);

	snprintf(at->room->text, sizeof(at->room->text), "0x%llx", v);
	return fr_value_text(at->room->text);
}

static struct fr_value incident_first(const struct fr_at *at)
{
	const struct fr_incident *r = incident_rec(at);

	return fr_incident_is_sum(r) ? fr_value_nr(fr_incident_first_ts(r)) : fr_value_null();
}

static struct fr_value incident_flags(const struct fr_at *at)
{
	return fr_value_nr(incident_rec(at)->flags & FR_INCIDENT_FLAGS);
}

static struct fr_value incident_text(const struct fr_at *at)
{
	const struct fr_incident *r = incident_rec(at);

	return fr_value_mem(r->text, strnlen(r->text, text_sz(r)));
}

static struct fr_value incident_sender(const struct fr_at *at)
{
	const char *sender = fr_incident_sender(incident_rec(at));

	return fr_value_mem(sender, sender ? strnlen(sender, FR_COMM_SZ) : 0);
}

/* clang-format off */
#define ITEM(member, name, unit, meaning, ...) FR_COLUMN(struct fr_incident_item, member, name, unit, meaning, __VA_ARGS__)
#define REC(member, unit, meaning, ...)	       ITEM(rec.member, #member, unit, meaning, __VA_ARGS__)
/* clang-format on */

static const struct fr_column incident_columns[] = {
	ITEM(boot, "boot_id", TEXT, "the boot in which it was recorded"),
	ITEM(session, "session", TEXT, "and the session"),
	ITEM(epoch, "epoch", NUMBER, "of the session: with `boot_id` and `seq` it identifies the incident"),
	ITEM(seq, "seq", NUMBER, "of the incident in its session"),
	REC(ts, CLOCK, "when it was recorded"),
	ITEM(wall_ns, "wall_ns", WALL, "the same as wall time; 0: not known"),
	FR_COLUMN_MADE(incident_kind, "kind", TEXT, "[`signal`, `oom`, ...](incidents.md)"),
	REC(cpu, NUMBER, "where it was seen; `loss`: whose ring"),
	REC(pid, NUMBER, "the process; 0: none"),
	REC(tid, NUMBER, "the task; 0: none"),
	REC(comm, TEXT, "its name; empty: none"),
	FR_COLUMN_MADE(incident_uid, "uid", NUMBER, "its user; `null`: nobody's"),
	REC(cgroup, NUMBER, "id of its cgroup, + 2^52: of the memory controller's v1 hierarchy; 0: not known"),
	REC(start_ns, NS, "when its process began, on CLOCK_MONOTONIC; 0: not known"),
	REC(sig, NUMBER, "the signal; 0: none"),
	REC(code, NUMBER, "depends on `kind`, see below"),
	ITEM(rec.addr, "address", TEXT,
	     "in hexadecimal. `signal`, `trigger`: of the signal. `mce`: address. `kernel`: what the report names",
	     .get = incident_hex),
	REC(ip, TEXT, "in hexadecimal. `signal`, `trigger`: the instruction", .get = incident_hex),
	REC(value, NUMBER, "depends on `kind`, see below"),
	REC(count, COUNT, "how many it stands for; `loss`: all losses so far"),
	FR_COLUMN_MADE(incident_first, "first_ts", CLOCK, "of a record of many (flag 2) the first one's time; else `null`"),
	FR_COLUMN_MADE(
		incident_flags, "flags", NUMBER,
		"1: a death that was seen only when the process ended; 2: `count` incidents that have no record of their own, "
		"the last one's time and process"),
	FR_COLUMN_MADE(incident_text, "text", TEXT, "depends on `kind`, see below"),
	FR_COLUMN_MADE(incident_sender, "sender", TEXT,
		       "`signal`: name of the task that sent it, of the process that is `value`; `null`: itself, the kernel, "
		       "or not known"),
	{},
};

const struct fr_table fr_incident_table = {"incident", "A record of the incident log.", incident_columns};

void fr_incident_json(struct fr_out *o, const struct fr_incident_item *item)
{
	struct fr_jsonw w = {.o = o};

	fr_json_object(&w, NULL, &fr_incident_table, item, item);
}

static s32 take_s32(const struct fr_jsonr *j, const char *key)
{
	const struct fr_jsonr_member *m = fr_jsonr_find(j, key);

	if (!m || m->type != FR_JSONR_INT)
		return 0;
	return (s32)(m->negative ? -m->number : m->number);
}

static u64 take_hex(const struct fr_jsonr *j, const char *key)
{
	return strtoull(fr_jsonr_text(j, key, "0"), NULL, 16);
}

static void incident_take_text(const struct fr_jsonr *j, const char *key, char *to, size_t sz)
{
	char *copy = strdup(fr_jsonr_text(j, key, ""));

	if (copy) {
		copy[fr_unescape(copy, strlen(copy))] = 0;
		snprintf(to, sz, "%s", copy);
	}
	free(copy);
}

static void incident_take(const struct fr_jsonr *j, struct fr_incident_item *out)
{
	struct fr_incident *r = &out->rec;

	incident_take_text(j, "boot_id", out->boot, sizeof(out->boot));
	incident_take_text(j, "session", out->session, sizeof(out->session));
	out->epoch = fr_jsonr_u64(j, "epoch", 0);
	out->seq = fr_jsonr_u64(j, "seq", 0);
	out->wall_ns = fr_jsonr_u64(j, "wall_ns", 0);
	r->done = out->seq + 1;
	r->ts = fr_jsonr_u64(j, "ts", 0);
	r->cpu = fr_jsonr_u64(j, "cpu", 0);
	r->pid = fr_jsonr_u64(j, "pid", 0);
	r->tid = fr_jsonr_u64(j, "tid", 0);
	r->uid = fr_jsonr_u64(j, "uid", ~0u);
	r->cgroup = fr_jsonr_u64(j, "cgroup", 0);
	r->start_ns = fr_jsonr_u64(j, "start_ns", 0);
	r->sig = take_s32(j, "sig");
	r->code = take_s32(j, "code");
	r->addr = take_hex(j, "address");
	r->ip = take_hex(j, "ip");
	r->value = fr_jsonr_u64(j, "value", 0);
	r->count = fr_jsonr_u64(j, "count", 1);
	r->flags = fr_jsonr_u64(j, "flags", 0);
	incident_take_text(j, "comm", r->comm, sizeof(r->comm));
	incident_take_text(j, "text", r->text, text_sz(r));
	if (fr_incident_sender(r))
		incident_take_text(j, "sender", r->text + FR_INCIDENT_SENDER_AT, FR_COMM_SZ);
}

int fr_incident_parse(const char *line, size_t len, struct fr_incident_item *out)
{
	const char *why = "";
	struct fr_jsonr j;
	int err = len > FR_INCIDENT_LINE_MAX ? -EINVAL : fr_jsonr_parse(line, len, &j, &why);

	if (err)
		return err;
	memset(out, 0, sizeof(*out));
	out->rec.kind = fr_incident_kind_find(fr_jsonr_text(&j, "kind", ""));
	if (!fr_jsonr_find(&j, "seq") || !fr_jsonr_find(&j, "kind"))
		err = -EINVAL;
	else
		incident_take(&j, out);
	fr_jsonr_free(&j);
	return err;
}

/* ---- words ---- */

void fr_incident_put_kinds(struct fr_out *o, const u64 of_kind[FR_INCIDENT_KIND_MAX])
{
	const char *sep = "";
	u32 i;

	for (i = 0; i < FR_INCIDENT_KIND_MAX; i++) {
		if (!of_kind[i])
			continue;
		fr_out_printf(o, "%s%llu %s", sep, of_kind[i], fr_incident_kind(i));
		sep = ", ";
	}
}

static void incident_put_text(struct fr_out *o, const char *before, const char *text, size_t sz)
{
	size_t len = strnlen(text, sz);

	if (!len)
		return;
	fr_out_str(o, before);
	fr_escape_text(o, text, len);
}

/* Of a record of many: how many, and in which time. */
static void incident_put_sum(struct fr_out *o, const struct fr_incident *r)
{
	char span[32];

	if (!fr_incident_is_sum(r))
		return;
	fr_out_printf(o, ", %llu more", r->count);
	if (r->value)
		fr_out_printf(o, " in %s", fr_show_duration(r->value, span, sizeof(span)));
}

static void incident_put_signal(struct fr_out *o, const struct fr_incident *r)
{
	const char *name = fr_signal_name(r->sig), *sender = fr_incident_sender(r), *code;
	bool fault = fr_sig_has_addr(r->sig, r->code); /* NULL is an address, and may have been called */

	if (name)
		fr_out_str(o, name);
	else
		fr_out_printf(o, "signal %d", r->sig);
	code = r->code ? fr_sysname(NULL, FR_STYLE_SICODE, r->code) : NULL;
	if (code)
		fr_out_printf(o, " %s", code);
	if (r->addr || fault)
		fr_out_printf(o, " at 0x%llx", r->addr);
	if (r->ip || fault)
		fr_out_printf(o, ", ip 0x%llx", r->ip);
	incident_put_text(o, ", ", r->text, text_sz(r));
	incident_put_sum(o, r);
	if (!sender)
		return;
	fr_out_str(o, ", sent by ");
	fr_escape_text(o, sender, strnlen(sender, FR_COMM_SZ));
	fr_out_printf(o, " (%llu)", r->value);
}

static void put_hung(struct fr_out *o, const struct fr_incident *r)
{
	char span[32];

	fr_out_str(o, r->code ? "in D" : "waits for a CPU");
	if (r->value)
		fr_out_printf(o, " for %s", fr_show_duration(r->value, span, sizeof(span)));
	incident_put_text(o, ", ", r->text, sizeof(r->text));
}

static void put_loss(struct fr_out *o, const struct fr_incident *r)
{
	u32 tier = r->code >> 8 & 0xff, why = r->code & 0xff;

	fr_out_printf(o, "%llu lost so far on CPU %u, tier %s: %s", r->count, r->cpu, fr_tier_name(tier) ?: "?",
		      fr_lost_name(why) ?: "?");
}

static void incident_put_snapshot(struct fr_out *o, const struct fr_incident *r)
{
	char sz[32];

	if (r->code)
		fr_out_printf(o, "not written: %s", fr_errno_name(-(s64)r->code) ?: "error");
	else
		fr_out_printf(o, "written, %s", fr_show_size(r->value, sz, sizeof(sz)));
	incident_put_text(o, ": ", r->text, sizeof(r->text));
}

/* "930 signal of user 1000 beyond its share in 4.2 s" */
static void put_squeezed(struct fr_out *o, const struct fr_incident *r)
{
	char span[32];

	fr_out_printf(o, "%llu %s of ", r->count, fr_incident_kind(r->code));
	if (r->uid == FR_SQUEEZED_ANY)
		fr_out_str(o, "several users");
	else
		fr_out_printf(o, "user %u", r->uid);
	fr_out_str(o, " beyond the share");
	if (r->value)
		fr_out_printf(o, ", in %s", fr_show_duration(r->value, span, sizeof(span)));
}

void fr_incident_words(struct fr_out *o, const struct fr_incident *r)
{
	switch (r->kind) {
	case FR_INCIDENT_signal:
		return incident_put_signal(o, r);
	case FR_INCIDENT_oom:
		fr_out_str(o, "chosen to be killed");
		incident_put_text(o, ", ", r->text, sizeof(r->text));
		return incident_put_sum(o, r);
	case FR_INCIDENT_mce:
		fr_out_printf(o, "bank %d, status 0x%llx, address 0x%llx", r->code, r->value, r->addr);
		return;
	case FR_INCIDENT_hung:
		return put_hung(o, r);
	case FR_INCIDENT_trigger:
		fr_out_str(o, incident_verdict_of(r->code));
		incident_put_text(o, ": ", r->text, sizeof(r->text));
		if (r->count > 1)
			fr_out_printf(o, ", %llu times", r->count);
		return;
	case FR_INCIDENT_loss:
		return put_loss(o, r);
	case FR_INCIDENT_snapshot:
		return incident_put_snapshot(o, r);
	case FR_INCIDENT_squeezed:
		return put_squeezed(o, r);
	default:
		incident_put_text(o, "", r->text, sizeof(r->text));
	}
}

enum fr_paint fr_incident_paint(u32 kind)
{
	switch (kind) {
	case FR_INCIDENT_signal:
	case FR_INCIDENT_oom:
	case FR_INCIDENT_kernel:
	case FR_INCIDENT_mce:
		return FR_PAINT_RED;
	case FR_INCIDENT_hung:
	case FR_INCIDENT_loss:
	case FR_INCIDENT_squeezed:
		return FR_PAINT_YELLOW;
	default:
		return FR_PAINT_CYAN;
	}
}

/* ---- sets of them ---- */

#define LESS(x, y)                                 \
	do {                                       \
		if ((x) != (y))                    \
			return (x) < (y) ? -1 : 1; \
	} while (0)

static int compare_identity(const struct fr_incident_item *x, const struct fr_incident_item *y)
{
	int boots = strcmp(x->boot, y->boot);

	if (boots)
		return boots;
	LESS(x->epoch, y->epoch);
	LESS(x->seq, y->seq);
	return 0;
}

static int incident_by_identity(const void *a, const void *b)
{
	return compare_identity(a, b);
}

/* By time, then session and number. */
static int incident_by_time(const void *a, const void *b)
{
	const struct fr_incident_item *x = a, *y = b;

	LESS(x->wall_ns, y->wall_ns);
	LESS(x->rec.ts, y->rec.ts);
	return compare_identity(x, y);
}

size_t fr_incident_unique(struct fr_incident_item *item, size_t cnt)
{
	size_t i, kept = 0;

	if (cnt)
		qsort(item, cnt, sizeof(*item), incident_by_identity);
	for (i = 0; i < cnt; i++)
		if (!kept || compare_identity(&item[kept - 1], &item[i]))
			item[kept++] = item[i];
	if (kept)
		qsort(item, kept, sizeof(*item), incident_by_time);
	return kept;
}
