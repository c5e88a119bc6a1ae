/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A format of a tracepoint that anybody may have written, up to the first NUL, and behind it a record: fields, schema, words
 * and symbols. What the schema's text says must be what its own reader takes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text/memfile.h"
#include "base/tp/tps.h"

static void look_at_fields(struct fr_tpformat *t)
{
	static const u64 values[] = {0, 1, 3, 0x80000000, ~0ULL};
	u32 i, k;

	for (i = 0; i < fr_tpformat_field_cnt(t); i++) {
		struct fr_tpfield f = fr_tpformat_field(t, i);

		for (k = 0; k < sizeof(values) / sizeof(values[0]); k++)
			fr_tpformat_symbol(t, f.name, values[k]);
	}
}

static void look_at_schema(const struct fr_tpformat *t)
{
	struct fr_schema *schema = NULL;
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	char *text;
	size_t sz;
	int err;

	if (!f)
		abort();
	fputs(FR_SCHEMA_TITLE "\n", f);
	err = fr_tpformat_put_schema(t, FR_TP_FIRST, FR_TIER_MAIN, f);
	text = fr_memfile_end(&m, &sz);
	if (!err && !fr_schema_parse(text, sz, &schema) && !fr_schema_event(schema, FR_TP_FIRST))
		abort();
	fr_schema_free(schema);
	free(text);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t sz)
{
	const u8 *end = memchr(data, 0, sz);
	size_t len = end ? (size_t)(end - data) : sz, rest = end ? sz - len - 1 : 0;
	struct fr_tpformat *t = NULL;
	char *text = malloc(len + 1);
	struct fr_tp conf;
	u8 *rec = malloc(rest + 1);

	if (!text || !rec)
		abort();
	memcpy(text, data, len);
	memcpy(rec, data + sz - rest, rest);
	if (!fr_tpformat_new("sys", "it", text, len, &t)) {
		const char *words = fr_tpformat_text(t, rec, rest);

		if (words && strlen(words) > 1u << 20)
			abort();
		look_at_fields(t);
		look_at_schema(t);
		fr_tpformat_conf(t, &conf);
	}
	fr_tpformat_free(t);
	free(text);
	free(rec);
	return 0;
}
