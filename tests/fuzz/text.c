/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzz target of what people write: any text as a trigger and as a configuration. What is refused points into the text and says
 * why; a trigger that is taken is kept as given, and is the same when parsed again.
 */
#include <stdlib.h>
#include <string.h>

#include "pure/config/config.h"
#include "pure/trigger/trigger.h"

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
	free(text);
	return 0;
}
