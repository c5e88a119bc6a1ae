/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/cut/lapbatch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/rows/columns.h"

struct fr_lapbatch {
	const struct fr_schema *schema;
	struct fr_secrets *secrets;
	struct fr_rows rows;
	struct fr_encoder *encoder;
	u8 *content;
};

struct fr_lapbatch *fr_lapbatch_new(const struct fr_schema *s, struct fr_secrets *secrets, size_t lap_max_sz)
{
	struct fr_lapbatch *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->content = calloc(1, fr_encoded_max_sz(lap_max_sz) + FR_VARINT_SLACK_SZ);
	if (!l->content || fr_rows_init(&l->rows, lap_max_sz) || fr_encoder_new(lap_max_sz, &l->encoder)) {
		fr_lapbatch_free(l);
		return NULL;
	}
	l->schema = l->rows.schema = s;
	l->secrets = secrets;
	return l;
}

void fr_lapbatch_free(struct fr_lapbatch *l)
{
	if (!l)
		return;
	fr_rows_free(&l->rows);
	fr_encoder_free(l->encoder);
	free(l->content);
	free(l);
}

static struct fr_rows_head lapbatch_head_of(const struct fr_rows *r)
{
	return (struct fr_rows_head){
		.epoch = r->epoch,
		.cpu = r->cpu,
		.tier = r->tier,
		.row_cnt = r->cnt,
		.raw_sz = r->rec_sz,
		.first_ts = r->ts[0],
		.last_ts = r->ts[r->cnt - 1],
		.first_seq = r->run[0].seq,
		.last_seq = r->run[r->run_cnt - 1].seq,
	};
}

int fr_lapbatch_read(struct fr_lapbatch *l, const struct fr_snap_lap *lap, u32 from_off, u64 since_ns, struct fr_batch *out,
		     u32 *first_row)
{
	const struct fr_rows_lap one = {lap->buf, lap->sz, lap->epoch, lap->cpu, lap->tier, lap->seq, from_off, l->secrets};
	struct fr_rows_head head;
	u32 unknown;
	size_t sz;
	int err;

	fr_rows_clear(&l->rows);
	err = fr_rows_add(&l->rows, &one, since_ns);
	*first_row = 0;
	out->row_cnt = 0;
	if (err || !l->rows.cnt)
		return err ? -EBADMSG : 0;
	head = lapbatch_head_of(&l->rows);
	sz = fr_encode_rows(l->encoder, &l->rows, l->content);
	err = sz ? fr_decode_rows(l->schema, &head, l->content, sz, out, &unknown) : -EBADMSG;
	if (!err)
		*first_row = l->rows.lap[0].before_cnt;
	return err;
}
