/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzz target of all that reads a snapshot's bytes. The first byte says what they are:
 *
 *	'P'	a file, as its magic begins; after a mutation its hashes are put right, so that what is behind them is reached
 *	'D'	struct fr_rows_head and the content of an event chunk, as behind zstd
 *	'S'	a schema's text
 *	'H'	the profile of an hour, as behind zstd
 *
 * Everything the API offers of what was read is looked at.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rows/columns.h"
#include "fuzz/seal.h"
#include "read/snapfile/snapfile.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t sz);

static volatile u64 sum; /* so that looking is not optimised away */

static void look(const void *p, size_t sz)
{
	const u8 *c = p;

	while (sz)
		sum += c[--sz];
}

static void look_at_field(const struct fr_row *row, const struct fr_field *f)
{
	const void *p;
	size_t n;

	if (f->kind == FR_KIND_DERIVED)
		return;
	if (f->type == FR_TYPE_u64s) {
		p = fr_row_nums(row, f, &n);
		look(p, n * 8);
	} else if (f->type == FR_TYPE_array || f->type == FR_TYPE_data) {
		p = fr_row_bytes(row, f, &n);
		look(p, n);
	} else if (f->type == FR_TYPE_str || f->type == FR_TYPE_comm || f->type == FR_TYPE_text8) {
		p = fr_row_text(row, f, &n);
		look(p, n);
	} else {
		sum += fr_row_num(row, f);
	}
}

/* A batch keeps its promises, whatever it was made of. */
static void look_at_batch(const struct fr_batch *b)
{
	u64 seq, ts = 0;
	u32 i, k, off;

	for (i = 0; i < b->row_cnt; i++) {
		struct fr_row row = fr_batch_row(b, i);

		if (!row.ev || row.ts < ts || row.k >= b->type[row.ev->nr].cnt)
			abort();
		ts = row.ts;
		fr_row_pos(&row, &seq, &off);
		sum += seq + off + row.tid;
		for (k = 0; k < row.ev->field_cnt; k++)
			look_at_field(&row, &row.ev->fields[k]);
	}
}

static void look_at_schema(const struct fr_schema *s)
{
	size_t sz;
	char *text = fr_schema_write(s, &sz);
	struct fr_schema *again;

	/* what is written can be read */
	if (!text || fr_schema_parse(text, sz, &again))
		abort();
	fr_schema_free(again);
	free(text);
}

/* Texts are in bounds, and what is sorted is. */
static void look_at_names(const struct fr_snap *s)
{
	const struct fr_snap_mapping *m;
	const struct fr_snap_symbol *y;
	const struct fr_snap_state *t;
	const struct fr_snap_klog *l;
	const struct fr_snap_scene *e;
	struct fr_snap_frame frame;
	size_t n, i;

	y = fr_snap_symbols(s, &n);
	for (i = 0; i < n; i++) {
		look(y[i].name, strlen(y[i].name) + 1);
		look(y[i].module ? y[i].module : "", y[i].module ? strlen(y[i].module) : 0);
		if (i && (y[i].pid < y[i - 1].pid || (y[i].pid == y[i - 1].pid && y[i].addr < y[i - 1].addr)))
			abort();
	}
	m = fr_snap_mappings(s, &n);
	for (i = 0; i < n; i++) {
		look(m[i].path, strlen(m[i].path) + 1);
		if (m[i].begin >= m[i].end || m[i].build_id_sz > FR_BUILD_ID_MAX)
			abort();
		if (i && (m[i].pid < m[i - 1].pid || (m[i].pid == m[i - 1].pid && m[i].begin < m[i - 1].begin)))
			abort();
	}
	t = fr_snap_states(s, &n);
	for (i = 0; i < n; i++) {
		look(t[i].object, strlen(t[i].object) + 1);
		if (!t[i].tid || t[i].since_ns > t[i].at_ns || t[i].state & (t[i].state - 1))
			abort();
		if (i && (t[i].tid < t[i - 1].tid || (t[i].tid == t[i - 1].tid && t[i].at_ns < t[i - 1].at_ns)))
			abort();
	}
	l = fr_snap_klog(s, &n);
	for (i = 0; i < n; i++) {
		look(l[i].text, strlen(l[i].text) + 1);
		if (l[i].level > 7 || (i && l[i].ts < l[i - 1].ts))
			abort();
	}
	e = fr_snap_scenes(s, &n);
	for (i = 0; i < n; i++) {
		look(e[i].text, strlen(e[i].text) + 1);
		if (!e[i].tid || !e[i].what || (e[i].what == FR_SCENE_limit && e[i].number > FR_SCENE_LIMIT_MOST) ||
		    (e[i].what == FR_SCENE_mapping && e[i].number >= e[i].value[0]) ||
		    (e[i].what == FR_SCENE_thread && (!e[i].number || e[i].number > FR_TID_MASK)))
			abort();
		if (i && (e[i].tid < e[i - 1].tid || (e[i].tid == e[i - 1].tid && e[i].at_ns < e[i - 1].at_ns)))
			abort();
	}
	sum += fr_snap_frame_stack_cnt(s) + fr_snap_frame(s, 1, 0, &frame);
}

/* What docs/format.md says of a profile holds: stacks lead to their outermost frame, buckets use all hits, counts add up. */
static void look_at_profile(const struct fr_prof *p)
{
	u32 i, k, used = 0;

	for (i = 0; i < p->node_cnt; i++)
		if (p->node[i].parent > i ||
		    (fr_prof_is_file(p->node[i].frame) && fr_prof_file(p->node[i].frame) >= p->file_cnt))
			abort();
	for (i = 0; i < p->key_cnt; i++)
		if (p->key[i].kstack > p->node_cnt || p->key[i].ustack > p->node_cnt || !memchr(p->key[i].comm, 0, 16))
			abort();
	for (i = 0; i < p->bucket_cnt; i++) {
		u64 left = p->bucket[i].taken - p->bucket[i].lost;

		for (k = 0; k < p->bucket[i].hit_cnt; k++, used++) {
			if (p->hit[used].key >= p->key_cnt)
				abort();
			left -= p->hit[used].hits;
		}
		if (left)
			abort();
	}
	if (used != p->hit_cnt)
		abort();
}

static void look_at_meta(const struct fr_snap *s)
{
	const void *p;
	size_t n, i;

	p = fr_snap_tasks(s, &n);
	look(p, n * sizeof(struct fr_snap_task));
	p = fr_snap_rings(s, &n);
	look(p, n * sizeof(struct fr_snap_ring));
	p = fr_snap_holes(s, &n);
	look(p, n * sizeof(struct fr_snap_hole));
	p = fr_snap_incidents(s, &n);
	look(p, n * sizeof(struct fr_snap_incident));
	p = fr_snap_clocks(s, &n);
	look(p, n * sizeof(struct fr_snap_clock));
	p = fr_snap_procs(s, &n);
	look(p, n);
	p = fr_snap_profile(s);
	look(p, p ? offsetof(struct fr_prof, bucket) : 0);
	if (p)
		look_at_profile(p);
	p = fr_snap_fact(s, "version");
	look(p, p ? strlen(p) : 0);
	for (i = 0; i < fr_snap_damage(s); i++)
		look(fr_snap_damage_text(s, i), strlen(fr_snap_damage_text(s, i)));
}

static void read_file(const u8 *data, size_t sz)
{
	static int fd = -1;
	static char path[32];
	struct fr_batch b = {};
	struct fr_snap *s;
	size_t cnt, i;

	if (fd < 0) {
		fd = memfd_create("fuzz", 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, data, sz, 0) != (ssize_t)sz)
		abort();
	if (fr_snap_open(path, &s))
		return;
	fr_snap_chunks(s, &cnt);
	for (i = 0; i < cnt; i++)
		if (!fr_snap_read_chunk(s, i, &b))
			look_at_batch(&b);
	look_at_meta(s);
	look_at_names(s);
	look_at_schema(fr_snap_schema(s));
	fr_batch_free(&b);
	fr_snap_close(s);
}

static void read_content(const u8 *data, size_t sz)
{
	static const struct fr_wants nothing;
	static struct fr_batch b, rows_only = {.wants = &nothing}; /* reused, as its user does */
	struct fr_rows_head head;
	u32 unknown;
	u8 *copy;
	int err;

	if (sz < sizeof(head))
		return;
	memcpy(&head, data, sizeof(head));
	sz -= sizeof(head);
	/* what snapfile_chunk.c checks before */
	if (head.row_cnt > sz || head.raw_sz > FR_RING_BYTES_MAX_SZ || (u64)head.row_cnt * FR_REC_MIN_SZ > head.raw_sz)
		return;
	copy = malloc(sz + FR_VARINT_SLACK_SZ);
	memcpy(copy, data + sizeof(head), sz);
	memset(copy + sz, 0xff, FR_VARINT_SLACK_SZ);
	err = fr_decode_rows(fr_schema_builtin(), &head, copy, sz, &b, &unknown);
	if (!err)
		look_at_batch(&b);
	/* who looks at nothing is told of the same */
	if (fr_decode_rows(fr_schema_builtin(), &head, copy, sz, &rows_only, &unknown) != err || rows_only.row_cnt != b.row_cnt)
		abort();
	free(copy);
}

/* What is good is so again, in the same words. */
static void read_profile(const u8 *data, size_t sz)
{
	static u8 buf[FR_PROF_SZ_MAX];
	struct fr_prof *p, *again;
	size_t written;

	if (fr_prof_read(data, sz, &p))
		return;
	look_at_profile(p);
	written = fr_prof_write(p, buf, sizeof(buf));
	if (!written || fr_prof_read(buf, written, &again))
		abort();
	if (memcmp(p, again, offsetof(struct fr_prof, bucket)))
		abort();
	free(again);
	free(p);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t sz)
{
	struct fr_schema *s;

	if (!sz)
		return 0;
	if (*data == 'D')
		read_content(data + 1, sz - 1);
	else if (*data == 'H')
		read_profile(data + 1, sz - 1);
	else if (*data != 'S')
		read_file(data, sz);
	else if (!fr_schema_parse((const char *)data + 1, sz - 1, &s)) {
		look_at_schema(s);
		fr_schema_free(s);
	}
	return 0;
}
