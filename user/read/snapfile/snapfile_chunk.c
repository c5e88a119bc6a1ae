/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading a snapshot: headers and contents of chunks, and event chunks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows/columns.h"
#include "base/set/vec.h"
#include "read/snapfile/snapfile_int.h"

#define CHUNK_MAX_CNT (1u << 20)

/* ---- the content of a chunk ---- */

/* Can stored data of this size decode to that much? Checked before memory is allocated. */
static bool size_is_sane(u64 stored_sz, u64 decoded_sz)
{
	if (!stored_sz || !decoded_sz || decoded_sz > FR_DECODED_MAX_SZ || stored_sz > 2 * FR_DECODED_MAX_SZ)
		return false;
	return decoded_sz <= FR_DECODED_FREE_SZ || decoded_sz - FR_DECODED_FREE_SZ <= stored_sz * FR_DECODED_RATIO;
}

/* Read a chunk's stored bytes to d->stored and check them. 0, -EBADMSG, -errno. */
static int read_stored(const struct fr_snap *s, struct fr_snap_decoder *d, const struct fr_snap_place *p, u64 stored_sz)
{
	int err;

	if (!size_is_sane(stored_sz, p->decoded_sz))
		return -EBADMSG;
	err = fr_snap_grow(&d->stored, &d->stored_cap, stored_sz);
	if (!err)
		err = fr_snap_bytes(s, p->stored_off, d->stored, stored_sz);
	if (err)
		return err == -ENODATA ? -EBADMSG : err;
	return fr_snap_hash(d->stored, stored_sz) == p->stored_hash ? 0 : -EBADMSG;
}

int fr_snap_content(const struct fr_snap *s, struct fr_snap_decoder *d, const struct fr_snap_place *p, u64 stored_sz)
{
	int err = read_stored(s, d, p, stored_sz);

	if (!err)
		err = fr_unpack_check(d->stored, stored_sz, p->decoded_sz);
	if (!err)
		err = fr_snap_grow(&d->content, &d->content_cap, p->decoded_sz + FR_VARINT_SLACK_SZ);
	return err ? err : fr_unpack(d->unpack, d->stored, stored_sz, d->content, p->decoded_sz);
}

int fr_snap_decoder_new(struct fr_snap_decoder **out)
{
	struct fr_snap_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	if (fr_unpack_new(&d->unpack)) {
		free(d);
		return -ENOMEM;
	}
	*out = d;
	return 0;
}

void fr_snap_decoder_clear(struct fr_snap_decoder *d)
{
	fr_unpack_free(d->unpack);
	free(d->stored);
	free(d->content);
}

void fr_snap_decoder_free(struct fr_snap_decoder *d)
{
	if (d)
		fr_snap_decoder_clear(d);
	free(d);
}

/* ---- chunk headers ---- */

/* Is an event chunk's header plausible, as far as that can be said without the content? */
static bool events_are_sane(const struct fr_events_head *e, const u8 *laps, size_t head_sz, u64 decoded_sz)
{
	u64 rows = 0, seq = 0;
	u32 i;

	if (head_sz != sizeof(struct fr_chunk_head) + sizeof(*e) + e->lap_cnt * sizeof(struct fr_lap_entry) + 8)
		return false;
	for (i = 0; i < e->lap_cnt; i++) {
		struct fr_lap_entry lap;

		memcpy(&lap, laps + i * sizeof(lap), sizeof(lap));
		if (i && lap.seq <= seq)
			return false;
		seq = lap.seq;
		rows += lap.row_cnt;
	}
	return e->row_cnt && rows == e->row_cnt && e->row_cnt <= decoded_sz && e->raw_sz <= FR_RING_BYTES_MAX_SZ &&
	       (u64)e->row_cnt * FR_REC_MIN_SZ <= e->raw_sz && e->first_ts <= e->last_ts && e->first_seq <= e->last_seq;
}

/* Is a lap missing between its first and its last one, or a page of a lap? */
static bool skips(const struct fr_events_head *e, const u8 *laps)
{
	struct fr_lap_entry lap;
	bool whole = true;
	u32 i;

	for (i = 0; i < e->lap_cnt; i++) {
		memcpy(&lap, laps + i * sizeof(lap), sizeof(lap));
		whole &= lap.seq == e->first_seq + i && !lap.damaged_pages;
	}
	return !whole;
}

static int keep_events(struct fr_snap *s, const struct fr_chunk_head *h, const struct fr_events_head *e, u64 off,
		       const struct fr_snap_place *place)
{
	struct fr_chunk *c;
	struct fr_snap_place *p;

	c = fr_vec_more(&s->chunk, s->chunk_cnt);
	p = fr_vec_more(&s->place, s->chunk_cnt);
	if (!c || !p)
		return -ENOMEM;
	s->chunk_cnt++;
	*p = *place;
	*c = (struct fr_chunk){
		.file_off = off,
		.stored_sz = h->stored_sz,
		.raw_sz = e->raw_sz,
		.ring_sz = e->ring_sz && e->ring_sz < e->raw_sz ? e->ring_sz : e->raw_sz,
		.first_ts = e->first_ts,
		.last_ts = e->last_ts,
		.first_seq = e->first_seq,
		.last_seq = e->last_seq,
		.epoch = e->epoch,
		.row_cnt = e->row_cnt,
		.cpu = e->cpu,
		.tier = e->tier,
		.first_off = e->first_off,
		.context = e->flags & FR_EVENTS_CONTEXT,
		.skips = skips(e, s->own.stored + sizeof(*h) + sizeof(*e)),
	};
	return 0;
}

static int take_events(struct fr_snap *s, const struct fr_chunk_head *h, size_t head_sz, u64 off, const struct fr_snap_place *p)
{
	const u8 *extra = s->own.stored + sizeof(*h);
	struct fr_events_head e;

	if (head_sz < sizeof(*h) + sizeof(e) + 8)
		return -EBADMSG;
	memcpy(&e, extra, sizeof(e));
	if (!events_are_sane(&e, extra + sizeof(e), head_sz, h->decoded_sz) || !size_is_sane(h->stored_sz, h->decoded_sz))
		return -EBADMSG;
	return keep_events(s, h, &e, off, p);
}

static int keep_found(struct fr_snap *s, struct fr_snap_found found)
{
	struct fr_snap_found *p = fr_vec_more(&s->off, s->off_cnt);

	if (!p)
		return -ENOMEM;
	s->off_cnt++;
	*p = found;
	return 0;
}

int fr_snap_take_chunk(struct fr_snap *s, u64 off, size_t head_sz, u64 *end)
{
	struct fr_chunk_head h;
	struct fr_snap_place p;
	int err;

	memcpy(&h, s->own.stored, sizeof(h));
	p = (struct fr_snap_place){off + head_sz, h.stored_hash, h.decoded_sz};
	if (h.nr < s->next_nr) { /* bytes were written twice: its events would be shown twice */
		fr_snap_note(s, "chunk at byte %llu: a copy of chunk %u", off, h.nr);
		*end = h.stored_sz > s->size - p.stored_off ? p.stored_off : p.stored_off + h.stored_sz;
		return 0;
	}
	if (s->off_cnt == CHUNK_MAX_CNT) {
		fr_snap_note(s, "chunk at byte %llu: it and what follows are beyond the %u that a file may have", off,
			     CHUNK_MAX_CNT);
		*end = s->size;
		return 0;
	}
	if (h.nr > s->next_nr && !s->damage_cnt)
		fr_snap_note(s, "chunk at byte %llu: has number %u where %llu should follow", off, h.nr, s->next_nr);
	if (!h.nr && h.kind != FR_CHUNK_SCHEMA)
		fr_snap_note(s, "chunk at byte %llu: the first one is no schema", off);
	if (s->has_index)
		fr_snap_note(s, "chunk at byte %llu: stands behind the index", off);
	s->next_nr = (u64)h.nr + 1;
	s->last_kind = h.kind;
	err = keep_found(s, (struct fr_snap_found){off, head_sz, h.kind});
	if (err)
		return err;
	if (h.stored_sz > s->size - p.stored_off) {
		fr_snap_note(s, "chunk at byte %llu: the file ends within it", off);
		s->lost_holes |= h.kind == FR_CHUNK_HOLES;
		*end = p.stored_off; /* if bytes were lost, a later part may still follow here */
		return 0;
	}
	*end = p.stored_off + h.stored_sz;
	if (h.kind == FR_CHUNK_EVENTS)
		err = take_events(s, &h, head_sz, off, &p);
	else if (fr_snap_is_meta(h.kind))
		err = head_sz == sizeof(h) + 8 ? fr_snap_take_meta(s, h.kind, &p, h.stored_sz) : -EBADMSG;
	else
		err = fr_snap_content(s, &s->own, &p, h.stored_sz); /* of a later version: skipped, but reported if damaged */
	if (err != -EBADMSG)
		return err;
	fr_snap_note(s, "chunk at byte %llu: damaged", off);
	s->lost_holes |= h.kind == FR_CHUNK_HOLES;
	return 0;
}

/* ---- event chunks ---- */

const struct fr_chunk *fr_snap_chunks(const struct fr_snap *s, size_t *cnt)
{
	*cnt = s->chunk_cnt;
	return s->chunk;
}

static struct fr_rows_head rows_head(const struct fr_chunk *c)
{
	return (struct fr_rows_head){
		.epoch = c->epoch,
		.cpu = c->cpu,
		.tier = c->tier,
		.row_cnt = c->row_cnt,
		.raw_sz = c->raw_sz,
		.first_ts = c->first_ts,
		.last_ts = c->last_ts,
		.first_seq = c->first_seq,
		.last_seq = c->last_seq,
	};
}

/* Report each chunk's finding once, however often it is read. */
static void chunk_note_chunk(struct fr_snap *s, struct fr_chunk *c, struct fr_snap_decoded got)
{
	u32 unknown = got.unknown;

	if (c->damaged)
		return;
	c->damaged = true;
	if (got.err && got.err != -EBADMSG)
		fr_snap_note(s, "chunk at byte %llu: cannot be read: %s; %u events are lost", c->file_off, strerror(-got.err),
			     c->row_cnt);
	else if (unknown)
		fr_snap_note(s, "chunk at byte %llu: %u events are of types its schema does not know", c->file_off, unknown);
	else
		fr_snap_note(s, "chunk at byte %llu: damaged, %u events are lost", c->file_off, c->row_cnt);
}

struct fr_snap_decoded fr_snap_decode_chunk(const struct fr_snap *s, struct fr_snap_decoder *d, size_t i, struct fr_batch *b)
{
	struct fr_snap_decoded got = {.err = -EINVAL};
	struct fr_rows_head head;

	if (i >= s->chunk_cnt + s->context_cnt)
		return got;
	head = rows_head(&s->chunk[i]);
	got.err = fr_snap_content(s, d, &s->place[i], s->chunk[i].stored_sz);
	if (!got.err)
		got.err = fr_decode_rows(s->use, &head, d->content, s->place[i].decoded_sz, b, &got.unknown);
	if (!got.err && !got.unknown && b->run[0].off != s->chunk[i].first_off)
		got.err = -EBADMSG;
	b->chunk = i;
	return got;
}

int fr_snap_note_decoded(struct fr_snap *s, size_t i, struct fr_snap_decoded got)
{
	bool exists = i < s->chunk_cnt + s->context_cnt;

	if (!exists || got.err == -ENOMEM || (!got.err && !got.unknown))
		return got.err;
	chunk_note_chunk(s, &s->chunk[i], got);
	return got.err ? -EBADMSG : 0; /* what the system cannot read is as lost as what is damaged */
}

int fr_snap_check_chunk(struct fr_snap *s, size_t i)
{
	struct fr_snap_decoded got = {.err = -EINVAL};

	if (i < s->chunk_cnt + s->context_cnt)
		got.err = read_stored(s, &s->own, &s->place[i], s->chunk[i].stored_sz);
	return fr_snap_note_decoded(s, i, got);
}

int fr_snap_read_chunk(struct fr_snap *s, size_t i, struct fr_batch *b)
{
	return fr_snap_note_decoded(s, i, fr_snap_decode_chunk(s, &s->own, i, b));
}
