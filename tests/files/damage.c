/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * damage: a small snapshot is cut at every byte, and each of its bits flipped. Each time: what is read is what was
 * written, event for event; chunks that were not touched are all there; and the damage is told.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "files/small.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "read/snapfile/snapfile_format.h"

#define CHUNK_MAX 64

/* A chunk of the whole file: where it lies and, of events, the hash of what it decodes to. */
struct known {
	u64 begin, end, hash;
	u16 kind;
};

static struct {
	int fd; /* in memory */
	char path[32];
	u8 *bytes;
	u64 size;
	struct known chunk[CHUNK_MAX];
	u32 chunk_cnt;
	u32 failures;
} t;

static void complain(const char *what, u64 at, u32 bit)
{
	if (t.failures++ < 20)
		printf("FAIL %s: byte %llu, bit %u\n", what, (unsigned long long)at, bit);
}

static void mix(XXH64_state_t *state, const void *p, size_t sz)
{
	XXH64_update(state, p, sz);
}

static void mix_field(XXH64_state_t *state, const struct fr_row *row, const struct fr_field *f)
{
	const void *p;
	size_t n;
	u64 v;

	if (f->kind == FR_KIND_DERIVED)
		return;
	if (f->type == FR_TYPE_u64s) {
		p = fr_row_nums(row, f, &n);
		mix(state, p, n * 8);
	} else if (f->type == FR_TYPE_str || f->type == FR_TYPE_comm) {
		p = fr_row_text(row, f, &n);
		mix(state, p, n);
	} else {
		v = fr_row_num(row, f);
		mix(state, &v, sizeof(v));
	}
}

/* All a reader is told of a chunk's events. */
static u64 hash_of_batch(const struct fr_batch *b)
{
	XXH64_state_t *state = XXH64_createState();
	u64 hash, seq;
	u32 i, k, off;

	XXH64_reset(state, b->cpu << 8 | b->tier);
	for (i = 0; i < b->row_cnt; i++) {
		struct fr_row row = fr_batch_row(b, i);

		fr_row_pos(&row, &seq, &off);
		mix(state, &row.ts, 8);
		mix(state, &row.tid, 4);
		mix(state, &seq, 8);
		mix(state, &off, 4);
		mix(state, row.ev->name, strlen(row.ev->name));
		for (k = 0; k < row.ev->field_cnt; k++)
			mix_field(state, &row, &row.ev->fields[k]);
	}
	hash = XXH64_digest(state);
	XXH64_freeState(state);
	return hash;
}

static struct known *known_at(u64 begin)
{
	u32 i;

	for (i = 0; i < t.chunk_cnt; i++)
		if (t.chunk[i].begin == begin)
			return &t.chunk[i];
	return NULL;
}

/* Read all; which chunks came out whole is set in got[]. Returns false if what came out is not what went in. */
static bool read_all(struct fr_snap *s, bool got[CHUNK_MAX])
{
	struct fr_batch b = {};
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	bool good = true;

	for (i = 0; i < cnt && good; i++) {
		const struct known *k = known_at(c[i].file_off);

		if (fr_snap_read_chunk(s, i, &b) || !b.row_cnt)
			continue;
		good = k && hash_of_batch(&b) == k->hash;
		if (good)
			got[k - t.chunk] = true;
	}
	fr_batch_free(&b);
	return good;
}

static bool meta_is_true(struct fr_snap *s)
{
	const char *version = fr_snap_fact(s, "version");
	size_t cnt;
	const struct fr_snap_task *task;
	const struct fr_snap_incident *inc = fr_snap_incidents(s, &cnt);

	if (version && strcmp(version, "small"))
		return false;
	if (cnt && (cnt != 2 || inc[0].rec.sig != 11 || strcmp(inc[0].rec.text, "nowhere/server") || inc[1].rec.count != 40))
		return false;
	task = fr_snap_tasks(s, &cnt);
	return !cnt || (cnt == 2 && task[1].tid == 101 && !strcmp(task[1].task.comm, "two"));
}

/* Bytes from `from` to `to` are not what they were: is all the rest recovered, and the loss told? */
static void check(u64 from, u64 to, u32 bit)
{
	bool got[CHUNK_MAX] = {};
	struct fr_snap *s;
	u32 i;
	int err = fr_snap_open(t.path, &s);

	if (err) {
		/* right only where no chunk is left */
		if (err != -EBADMSG || from >= t.chunk[0].end || to < t.size)
			complain("not opened", from, bit);
		return;
	}
	if (!read_all(s, got))
		complain("wrong event", from, bit);
	if (!meta_is_true(s))
		complain("wrong metadata", from, bit);
	if (!fr_snap_damage(s))
		complain("damage not told", from, bit);
	for (i = 0; i < t.chunk_cnt; i++) {
		const struct known *k = &t.chunk[i];

		if (k->kind == FR_CHUNK_EVENTS && !got[i] && (k->end <= from || k->begin >= to))
			complain("intact chunk not recovered", from, bit);
		if (got[i] && k->begin < to && k->end > from)
			complain("damaged chunk taken", from, bit);
	}
	fr_snap_close(s);
}

/* ---- the whole file ---- */

static bool load(const char *path)
{
	FILE *f = fopen(path, "r");

	if (!f || fseek(f, 0, SEEK_END))
		return false;
	t.size = ftell(f);
	rewind(f);
	t.bytes = malloc(t.size);
	if (!t.bytes || fread(t.bytes, 1, t.size, f) != t.size)
		return false;
	fclose(f);
	t.fd = memfd_create("small.flight", 0);
	snprintf(t.path, sizeof(t.path), "/proc/self/fd/%d", t.fd);
	return t.fd >= 0 && pwrite(t.fd, t.bytes, t.size, 0) == (ssize_t)t.size;
}

/* Where the chunks lie, from the index. */
static bool list_chunks(void)
{
	struct fr_trailer trailer;
	struct fr_index_head head;
	struct fr_index_entry e;
	u32 i;

	memcpy(&trailer, t.bytes + t.size - sizeof(trailer), sizeof(trailer));
	memcpy(&head, t.bytes + trailer.index_off, sizeof(head));
	if (head.cnt > CHUNK_MAX)
		return false;
	t.chunk_cnt = head.cnt;
	for (i = 0; i < head.cnt; i++) {
		memcpy(&e, t.bytes + trailer.index_off + sizeof(head) + i * sizeof(e), sizeof(e));
		t.chunk[i] = (struct known){.begin = e.file_off, .end = trailer.index_off, .kind = e.kind};
		if (i)
			t.chunk[i - 1].end = e.file_off;
	}
	return true;
}

static bool hash_chunks(u64 events)
{
	struct fr_batch b = {};
	struct fr_snap *s;
	size_t cnt, i;
	const struct fr_chunk *c;

	if (fr_snap_open(t.path, &s))
		return false;
	c = fr_snap_chunks(s, &cnt);
	for (i = 0; i < cnt; i++) {
		if (fr_snap_read_chunk(s, i, &b))
			return false;
		known_at(c[i].file_off)->hash = hash_of_batch(&b);
		events -= b.row_cnt;
	}
	i = fr_snap_damage(s);
	fr_batch_free(&b);
	fr_snap_close(s);
	return cnt && !events && !i;
}

/* ---- what is done to it ---- */

static u32 flip_bits(void)
{
	u32 failed = t.failures;
	u64 at;
	u32 bit;

	for (at = 0; at < t.size; at++) {
		for (bit = 0; bit < 8; bit++) {
			u8 with = t.bytes[at] ^ 1 << bit;

			if (pwrite(t.fd, &with, 1, at) != 1)
				complain("test", at, bit);
			check(at, at + 1, bit);
		}
		if (pwrite(t.fd, &t.bytes[at], 1, at) != 1)
			complain("test", at, 0);
	}
	return t.failures - failed;
}

static u32 cut(void)
{
	u32 failed = t.failures;
	u64 sz;

	for (sz = t.size; sz-- > 0;) {
		if (ftruncate(t.fd, sz))
			complain("test", sz, 0);
		check(sz, t.size, 0);
	}
	return t.failures - failed;
}

/*
 * The other half of being cut: junk from the beginning on, ever more. With the header alone gone all chunks are read;
 * with the schema gone too, nothing is.
 */
static u32 lose_the_beginning(void)
{
	u32 failed = t.failures;
	u64 end;

	if (ftruncate(t.fd, 0) || pwrite(t.fd, t.bytes, t.size, 0) != (ssize_t)t.size)
		complain("test", 0, 0);
	for (end = 1; end <= t.chunk[t.chunk_cnt - 1].begin; end++) {
		u8 junk = t.bytes[end - 1] ^ 0x5a;

		if (pwrite(t.fd, &junk, 1, end - 1) != 1)
			complain("test", end, 0);
		check(0, end <= t.chunk[0].begin ? end : t.size, 0);
	}
	return t.failures - failed;
}

static u32 report(const char *what, u32 failed)
{
	printf("%s %s\n", failed ? "FAIL" : "ok  ", what);
	return !failed;
}

/* damage DIR: a temporary file is written there. */
int main(int argc, char **argv)
{
	char path[4096];
	u32 passed = 0;
	u64 events;

	if (argc != 2)
		return 2;
	snprintf(path, sizeof(path), "%s/small.flight", argv[1]);
	events = small_write(path);
	if (!events || !load(path) || !list_chunks() || !hash_chunks(events)) {
		printf("FAIL the whole file does not come back\n0 passed, 1 failed, 0 skipped\n");
		return 1;
	}
	printf("%llu bytes, %u chunks, %llu events\n", (unsigned long long)t.size, t.chunk_cnt, (unsigned long long)events);
	passed += report("each bit flipped", flip_bits());
	passed += report("cut at every byte", cut());
	passed += report("the beginning overwritten", lose_the_beginning());
	printf("%u passed, %u failed, 0 skipped\n", passed, 3 - passed);
	free(t.bytes);
	return passed != 3;
}
