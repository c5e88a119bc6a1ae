/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrs FILE WHAT...: what a snapshot tells of addresses, as JSON lines: symbols, mappings, and frames that have a build-id (of
 * which there may be hundreds of thousands), or innermost ones.
 */
#include <stdio.h>
#include <string.h>

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

static void put_frames(const struct fr_snap *s, u64 stack_id, u32 cnt)
{
	struct fr_snap_frame f;
	u32 nr;

	for (nr = 0; nr < cnt; nr++) {
		if (!fr_snap_frame(s, stack_id, nr, &f))
			continue;
		printf("{\"what\":\"frame\",\"stack\":%llu,\"nr\":%u,\"off\":%llu", (unsigned long long)stack_id, nr,
		       (unsigned long long)f.file_off);
		put_id(f.build_id, f.build_id_sz);
		puts("}");
	}
}

/* So many frames of each at most. */
static void put_stacks(struct fr_snap *s, u32 frame_cnt)
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
				put_frames(s, fr_row_num(&r, fr_event_field(ev, "stack_id")), frame_cnt);
		}
	}
	fr_batch_free(&b);
}

static int put(struct fr_snap *s, const char *what)
{
	if (!strcmp(what, "symbols"))
		put_symbols(s);
	else if (!strcmp(what, "mappings"))
		put_mappings(s);
	else if (!strcmp(what, "frames"))
		put_stacks(s, FR_STACK_DEPTH_MAX);
	else if (!strcmp(what, "innermost"))
		put_stacks(s, 1);
	else
		return 1;
	return 0;
}

int main(int argc, char **argv)
{
	struct fr_snap *s;
	int status = 0, i;

	if (argc < 3 || fr_snap_open(argv[1], &s))
		return 1;
	for (i = 2; i < argc && !status; i++)
		status = put(s, argv[i]);
	fr_snap_close(s);
	return status;
}
