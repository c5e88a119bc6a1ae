/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzz target of what people write, any text as a trigger and as a configuration, of command lines to be redacted, and of the
 * journal's lines, which anybody may have changed. What people wrote and is refused points into the text and says why; a
 * trigger that is taken is kept as given, and is the same when parsed again; so is an incident.
 */
#include <stdlib.h>
#include <string.h>

#include "base/config/config.h"
#include "base/incident.h"
#include "base/text/kmsg.h"
#include "base/text/redact.h"
#include "base/trigger/trigger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static void try_trigger(const char *text)
{
	struct fr_moment m = {.comm = "nginx", .exe = "/usr/sbin/nginx", .cgroup = "/a/b", .sig = 11, .core = true};
	struct fr_trigger_error error = {};
	struct fr_trigger t, again;

	if (fr_trigger_parse(text, "x86_64", &t, &error)) {
		if (error.at > strlen(text) || !error.text[0])
			abort();
		return;
	}
	if (strcmp(t.text, text) || fr_trigger_parse(t.text, "x86_64", &again, &error) || memcmp(&t, &again, sizeof(t)))
		abort();
	m.kind = t.kind;
	fr_trigger_match(&t, &m);
}

static void try_config(const char *text, size_t sz)
{
	struct fr_config_error error = {};
	struct fr_config c;
	u32 line_cnt = 1;
	size_t i;

	for (i = 0; i < sz; i++)
		line_cnt += text[i] == '\n';
	if (fr_config_init(&c))
		abort();
	if (fr_config_parse(&c, text, sz, &error) && (error.line > line_cnt || !error.text[0]))
		abort();
	fr_config_free(&c);
}

/* A line of the journal of incidents: what is taken is the same when written and read again, and can be said in words. */
static void try_incident(const char *text, size_t sz)
{
	struct fr_incident_item item, again;
	struct fr_out *o;
	char *line;
	size_t len;

	if (fr_incident_parse(text, sz, &item))
		return;
	o = malloc(sizeof(*o));
	fr_out_init_mem(o);
	fr_incident_json(o, &item);
	line = fr_out_take_mem(o, &len);
	if (item.rec.kind && (!line || fr_incident_parse(line, len, &again) || memcmp(&item, &again, sizeof(item))))
		abort();
	free(line);
	fr_out_init_mem(o);
	fr_incident_words(o, &item.rec);
	free(fr_out_take_mem(o, &len));
	free(o);
}

/* Redacted once, it has nothing to redact; where there is less room, there is less of it. */
static void try_redact(const char *text, size_t sz, enum fr_redact_form form)
{
	size_t room = sz * (1 + strlen(FR_REDACTED)), len, half = sz / 2;
	char *once = malloc(room + 1), *again = malloc(2 * room + 1), *less = malloc(half + 1);
	u32 cnt = 0, more = 0;

	len = fr_redact(NULL, form, text, sz, once, room, &cnt);
	if (len > room || (!cnt && (len != sz || memcmp(once, text, sz))))
		abort();
	if (fr_redact(NULL, form, once, len, again, 2 * room, &more) != len || more || memcmp(once, again, len))
		abort();
	if (fr_redact(NULL, form, text, sz, less, half, &cnt) != (len < half ? len : half) ||
	    memcmp(less, once, len < half ? len : half))
		abort();
	free(once);
	free(again);
	free(less);
}

/* A record of the kernel's log: its text ends where it says. */
static void try_kmsg(const char *text, size_t sz)
{
	struct fr_kmsg k;

	if (!fr_kmsg_parse(text, sz, &k) && (strlen(k.text) != k.len || k.level > 7 || !fr_kmsg_facility(k.facility)))
		abort();
}

/* A copy of exactly its size, so that a byte read behind it is seen. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	char *text = malloc(sz + 1);

	memcpy(text, data, sz);
	text[sz] = 0;
	try_trigger(text);
	free(text);
	text = malloc(sz ?: 1);
	memcpy(text, data, sz);
	try_config(text, sz);
	try_incident(text, sz);
	try_kmsg(text, sz);
	try_redact(text, sz, FR_REDACT_LINE);
	try_redact(text, sz, FR_REDACT_ARGS);
	free(text);
	return 0;
}
