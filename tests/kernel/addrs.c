/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* addrs FILE: what a snapshot tells of addresses, as JSON lines: symbols, mappings, and frames that have a build-id. */
#include <stdio.h>

#include "read/snapfile/snapfile.h"

static void put_text(const char *key, const char *text)
{
	printf(",\"%s\":\"", key);
	for (; *text; text++)
		printf(*text == '"' || *text == '\\' || *text < ' ' ? "\\u%04x" : "%c", (unsigned char)*text);
	putchar('"');
}

static void put_id(const u8 *id, u8 sz)
{
	u8 i;

	printf(",\"build_id\":\"");
	for (i = 0; i < sz; i++)
		printf("%02x", id[i]);
	putchar('"');
}

static void put_symbols(const struct fr_snap *s)
{
	size_t cnt, i;
	const struct fr_snap_symbol *y = fr_snap_symbols(s, &cnt);

	for (i = 0; i < cnt; i++) {
		printf("{\"what\":\"symbol\",\"pid\":%u,\"addr\":%llu,\"size\":%llu", y[i].pid, (unsigned long long)y[i].addr,
		       (unsigned long long)y[i].sz);
		put_text("name", y[i].name);
		put_text("module", y[i].module ? y[i].module : "");
		puts("}");
	}
}

static void put_mappings(const struct fr_snap *s)
{
	size_t cnt, i;
	const struct fr_snap_mapping *m = fr_snap_mappings(s, &cnt);

	for (i = 0; i < cnt; i++) {
		printf("{\"what\":\"mapping\",\"pid\":%u,\"begin\":%llu,\"end\":%llu,\"off\":%llu,\"deleted\":%d", m[i].pid,
		       (unsigned long long)m[i].begin, (unsigned long long)m[i].end, (unsigned long long)m[i].file_off,
		       m[i].deleted);
		put_text("path", m[i].path);
		put_id(m[i].build_id, m[i].build_id_sz);
		puts("}");
	}
}

static void put_frames(const struct fr_snap *s, u64 stack_id)
{
	struct fr_snap_frame f;
	u32 nr;

	for (nr = 0; nr < FR_STACK_DEPTH_MAX; nr++) {
		if (!fr_snap_frame(s, stack_id, nr, &f))
			continue;
		printf("{\"what\":\"frame\",\"stack\":%llu,\"nr\":%u,\"off\":%llu", (unsigned long long)stack_id, nr,
		       (unsigned long long)f.file_off);
		put_id(f.build_id, f.build_id_sz);
		puts("}");
	}
}

static void put_stacks(struct fr_snap *s)
{
	const struct fr_event *ev = fr_schema_find(fr_snap_schema(s), "stack");
	struct fr_batch b = {};
	size_t cnt, i;
	u32 k;

	fr_snap_chunks(s, &cnt);
	for (i = 0; i < cnt; i++) {
		if (fr_snap_read_chunk(s, i, &b))
			continue;
		for (k = 0; k < b.row_cnt; k++) {
			struct fr_row r = fr_batch_row(&b, k);

			if (r.ev == ev)
				put_frames(s, fr_row_num(&r, fr_event_field(ev, "stack_id")));
		}
	}
	fr_batch_free(&b);
}

int main(int argc, char **argv)
{
	struct fr_snap *s;

	if (argc != 2 || fr_snap_open(argv[1], &s))
		return 1;
	put_symbols(s);
	put_mappings(s);
	put_stacks(s);
	fr_snap_close(s);
	return 0;
}
