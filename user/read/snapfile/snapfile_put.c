/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "read/snapfile/snapfile_put.h"

#include <errno.h>
#include <string.h>

#include "base/tp/tps.h"
#include "read/snapfile/snapfile_lists.h"
#include "read/snapfile/snapfile_rows.h"
#include "read/snapfile/snapfile_texts.h"

static int put_list(struct fr_snap_writer *w, enum fr_chunk_kind kind, const void *items, size_t cnt)
{
	const struct fr_list_kind *k = fr_list_kind(kind);
	size_t most = FR_CONTENT_MAX_SZ / k->entry_sz, i, j;
	int err = 0;

	for (i = 0; i < cnt && !err; i += most) {
		struct fr_list_head head = {k->entry_sz, cnt - i < most ? cnt - i : most};
		u8 *content = fr_snap_content_buf(w), *p = content;

		if (!content)
			return -ENOMEM;
		memcpy(p, &head, sizeof(head));
		p += sizeof(head);
		for (j = 0; j < head.cnt; j++, p += k->entry_sz)
			k->to_entry(p, (const char *)items + (i + j) * k->struct_sz, NULL);
		err = fr_snap_put_content(w, kind, content, p - content);
	}
	return err;
}

int fr_snap_put_tasks(struct fr_snap_writer *w, const struct fr_snap_task *t, size_t cnt)
{
	return put_list(w, FR_CHUNK_TASKS, t, cnt);
}

int fr_snap_put_rings(struct fr_snap_writer *w, const struct fr_snap_ring *r, size_t cnt)
{
	return put_list(w, FR_CHUNK_RINGS, r, cnt);
}

int fr_snap_put_holes(struct fr_snap_writer *w, const struct fr_snap_hole *h, size_t cnt)
{
	return put_list(w, FR_CHUNK_HOLES, h, cnt);
}

int fr_snap_put_clocks(struct fr_snap_writer *w, const struct fr_snap_clock *c, size_t cnt)
{
	return put_list(w, FR_CHUNK_CLOCKS, c, cnt);
}

static int put_profile(struct fr_snap_writer *w, u32 kind, const struct fr_prof *p)
{
	void *content = fr_snap_content_buf(w);
	size_t sz = content ? fr_prof_write(p, content, FR_CONTENT_MAX_SZ) : 0;

	return !content ? -ENOMEM : fr_snap_put_content(w, kind, content, sz);
}

int fr_snap_put_profile(struct fr_snap_writer *w, const struct fr_prof *p)
{
	return put_profile(w, FR_CHUNK_PROFILE, p);
}

int fr_snap_put_blocked(struct fr_snap_writer *w, const struct fr_prof *p)
{
	return put_profile(w, FR_CHUNK_BLOCKED, p);
}

/* As many moments as a chunk has room for; all in one, mostly. */
int fr_snap_put_counters(struct fr_snap_writer *w, const struct fr_counters *c)
{
	size_t moment_cnt, at, cnt, sz;
	u64 *moment = fr_counters_moments(c, &moment_cnt);
	u8 *bytes;
	int err = moment ? 0 : -ENOMEM;

	for (at = 0; at < moment_cnt && !err; at += cnt) {
		for (cnt = moment_cnt - at, sz = 0; cnt && !sz && !err; cnt -= sz ? 0 : (cnt + 1) / 2)
			err = fr_counters_encode_part(c, moment[at], moment[at + cnt - 1], FR_CONTENT_MAX_SZ, &bytes, &sz);
		if (sz && !err) {
			err = fr_snap_put_content(w, FR_CHUNK_COUNTERS, bytes, sz);
			free(bytes);
		}
		cnt = cnt ?: 1;
	}
	free(moment);
	return err;
}

int fr_snap_put_incidents(struct fr_snap_writer *w, const struct fr_snap_incident *inc, size_t cnt)
{
	return put_list(w, FR_CHUNK_INCIDENTS, inc, cnt);
}

static int put_texts(struct fr_snap_writer *w, enum fr_chunk_kind kind, const void *items, size_t cnt)
{
	const struct fr_text_kind *k = fr_text_kind(kind);
	void *content = fr_snap_content_buf(w);
	size_t i, sz, n;
	int err = content ? 0 : -ENOMEM;

	for (i = 0; i < cnt && !err; i += n) {
		n = fr_text_write(k, (const char *)items + i * fr_text_struct_sz(k), cnt - i, content, FR_CONTENT_MAX_SZ, &sz);
		err = fr_snap_put_content(w, kind, content, sz);
	}
	return err;
}

int fr_snap_put_symbols(struct fr_snap_writer *w, const struct fr_snap_symbol *y, size_t cnt)
{
	return put_texts(w, FR_CHUNK_SYMBOLS, y, cnt);
}

int fr_snap_put_mappings(struct fr_snap_writer *w, const struct fr_snap_mapping *m, size_t cnt)
{
	return put_texts(w, FR_CHUNK_MAPPINGS, m, cnt);
}

int fr_snap_put_states(struct fr_snap_writer *w, const struct fr_snap_state *t, size_t cnt)
{
	return put_texts(w, FR_CHUNK_STATES, t, cnt);
}

int fr_snap_put_klog(struct fr_snap_writer *w, const struct fr_snap_klog *l, size_t cnt)
{
	return put_texts(w, FR_CHUNK_KLOG, l, cnt);
}

int fr_snap_put_scenes(struct fr_snap_writer *w, const struct fr_snap_scene *n, size_t cnt)
{
	return put_texts(w, FR_CHUNK_SCENES, n, cnt);
}

/* The end of the last complete line within max bytes, or max if a line is longer. */
static size_t whole_lines(const char *text, size_t sz, size_t max)
{
	const char *nl;

	if (sz <= max)
		return sz;
	nl = memrchr(text, '\n', max);
	return nl ? (size_t)(nl + 1 - text) : max;
}

int fr_snap_put_procs(struct fr_snap_writer *w, const char *text, size_t sz)
{
	int err = 0;

	while (sz && !err) {
		size_t n = whole_lines(text, sz, FR_CONTENT_MAX_SZ);

		err = fr_snap_put_content(w, FR_CHUNK_PROCS, text, n);
		text += n;
		sz -= n;
	}
	return err;
}

int fr_snap_put_formats(struct fr_snap_writer *w, const char *text, size_t sz)
{
	size_t begin = 0, end = 0, next = 0;
	struct fr_tps_item item;
	int err = 0;

	while (!err && begin < sz) {
		while (fr_tps_next(text, sz, &next, &item) && next - begin <= FR_CONTENT_MAX_SZ)
			end = next;
		if (end == begin)
			return -EINVAL;
		err = fr_snap_put_content(w, FR_CHUNK_FORMATS, text + begin, end - begin);
		begin = next = end;
	}
	return err;
}
