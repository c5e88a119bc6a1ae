/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* seed DIR: write one input of each kind that read.c takes. */
#include "files/hour.h"
#include "files/small.h"

#include "base/rows/columns.h"

static int save(const char *dir, const char *name, const char *kind, const void *head, size_t head_sz, const void *p, size_t sz)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		return -1;
	fwrite(kind, 1, strlen(kind), f);
	fwrite(head, 1, head_sz, f);
	fwrite(p, 1, sz, f);
	return fclose(f);
}

/* The content of a chunk that holds every event. */
static int save_content(const char *dir)
{
	struct host_ring *h = host_ring_new(1, 0, 2, 1);
	struct fr_rows rows;
	struct fr_rows_head head;
	struct fr_encoder *enc;
	struct fr_snap_lap lap;
	u8 *buf = malloc(fr_encoded_max_sz(64 << 10));
	size_t sz;
	u32 i;

	if (fr_rows_init(&rows, 64 << 10) || fr_encoder_new(64 << 10, &enc))
		return -1;
	rows.schema = fr_schema_builtin();
	host_ring_fill(h, 100);
	for (i = 0; host_ring_lap(h, i, &lap); i++)
		fr_rows_add(&rows, &(struct fr_rows_lap){lap.buf, lap.sz, lap.epoch, lap.cpu, lap.tier, lap.seq, 0, NULL}, 0);
	sz = fr_encode_rows(enc, &rows, buf);
	memset(&head, 0, sizeof(head));
	head.epoch = rows.epoch;
	head.cpu = rows.cpu;
	head.row_cnt = rows.cnt;
	head.raw_sz = rows.rec_sz;
	head.first_ts = rows.ts[0];
	head.last_ts = rows.ts[rows.cnt - 1];
	head.first_seq = rows.run[0].seq;
	head.last_seq = rows.run[rows.run_cnt - 1].seq;
	return save(dir, "content", "D", &head, sizeof(head), buf, sz);
}

static int save_profile(const char *dir)
{
	struct fr_prof *p = hour_new();
	u8 *buf = malloc(FR_PROF_SZ_MAX);
	size_t sz;

	if (!p || !buf)
		return -1;
	sz = fr_prof_write(p, buf, FR_PROF_SZ_MAX);
	return save(dir, "profile", "H", "", 0, buf, sz);
}

int main(int argc, char **argv)
{
	char path[4096], *text;
	size_t sz;

	if (argc != 2)
		return 2;
	snprintf(path, sizeof(path), "%s/file", argv[1]);
	text = fr_schema_write(fr_schema_builtin(), &sz);
	return !small_write(path) || save(argv[1], "schema", "S", "", 0, text, sz) || save_content(argv[1]) ||
	       save_profile(argv[1]);
}
