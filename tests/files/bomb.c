/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bomb: files that are sound by every hash and lie about sizes (or are of a later version). They are refused, and the memory
 * they ask for is never taken: the peak of this process's memory tells.
 */
#include "unit/host_ring.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/rows/columns.h"
#include "event_fields.h"
#include "read/snapfile/snapfile_format.h"

#define PEAK_MAX_KIB  8192	   /* what refusing may cost; each bomb asks for at least twice as much */
#define LISTS_MAX_KIB (160u << 10) /* and of lists, of which so much is believed; that bomb asks for 2 GiB */

/* A file being made up. */
struct made {
	FILE *f;
	u32 nr;
};

static void put_hashed(struct made *m, const void *p, size_t sz)
{
	u64 hash = XXH64(p, sz, 0);

	fwrite(p, 1, sz, m->f);
	fwrite(&hash, 1, 8, m->f);
}

static void begin(struct made *m, const char *path)
{
	struct fr_file_head h = {.part = {FR_FILE_MAGIC, sizeof(h) - 8, FR_FILE_TAG, 77}};

	m->f = fopen(path, "w");
	m->nr = 0;
	put_hashed(m, &h, sizeof(h) - 8);
}

static void put_chunk(struct made *m, u16 kind, const struct fr_events_head *events, const void *stored, size_t stored_sz,
		      u64 decoded_sz)
{
	u8 buf[512], *p = buf;
	size_t extra_sz = events ? sizeof(*events) + sizeof(struct fr_lap_entry) : 0;
	struct fr_chunk_head h = {
		.part = {FR_CHUNK_MAGIC, sizeof(h) + extra_sz, FR_CHUNK_TAG, 77},
		.kind = kind,
		.nr = m->nr++,
		.stored_sz = stored_sz,
		.decoded_sz = decoded_sz,
		.stored_hash = XXH64(stored, stored_sz, 0),
	};

	memcpy(p, &h, sizeof(h));
	p += sizeof(h);
	if (events) {
		struct fr_lap_entry lap = {events->first_seq, events->row_cnt, 0};

		memcpy(p, events, sizeof(*events));
		memcpy(p + sizeof(*events), &lap, sizeof(lap));
		p += extra_sz;
	}
	put_hashed(m, buf, p - buf);
	fwrite(stored, 1, stored_sz, m->f);
}

/* A frame as the format wants it, with a checksum, of sz bytes. */
static size_t pack(void *dst, size_t cap, const void *src, size_t sz)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t got;

	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	got = ZSTD_compress2(c, dst, cap, src, sz);
	ZSTD_freeCCtx(c);
	return got;
}

static void put_schema(struct made *m)
{
	size_t sz, packed_sz;
	char *text = fr_schema_write(fr_schema_builtin(), &sz);
	void *packed = malloc(ZSTD_compressBound(sz));

	packed_sz = pack(packed, ZSTD_compressBound(sz), text, sz);
	put_chunk(m, FR_CHUNK_SCHEMA, NULL, packed, packed_sz, sz);
	free(packed);
	free(text);
}

/* A frame of sz zeros, *packed_sz bytes; the caller frees. */
static void *pack_zeros(size_t sz, size_t *packed_sz)
{
	void *zeros = calloc(1, sz), *packed = malloc(ZSTD_compressBound(sz));

	*packed_sz = pack(packed, ZSTD_compressBound(sz), zeros, sz);
	free(zeros);
	return packed;
}

static long peak_kib(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return r.ru_maxrss;
}

/* Open the file and read all. True if it was refused, with its damage told, at no cost. */
static bool refused(const char *path, long most_kib)
{
	struct fr_batch b = {};
	struct fr_snap *s;
	size_t cnt, i;
	long before = peak_kib();
	bool ok = true;

	if (fr_snap_open(path, &s))
		return false;
	fr_snap_chunks(s, &cnt);
	for (i = 0; i < cnt; i++)
		ok &= fr_snap_read_chunk(s, i, &b) == -EBADMSG && !b.row_cnt;
	/* it has no trailer, which is one finding; the bomb is another */
	ok &= fr_snap_damage(s) >= 2;
	fr_batch_free(&b);
	fr_snap_close(s);
	if (peak_kib() - before > most_kib) {
		printf("     %ld KiB were taken\n", peak_kib() - before);
		fflush(stdout); /* the process ends without */
		ok = false;
	}
	return ok;
}

static const struct fr_events_head one_row = {
	.first_seq = 1,
	.last_seq = 1,
	.first_off = 64,
	.row_cnt = 1,
	.raw_sz = 16,
	.lap_cnt = 1,
};

/* In a process of its own, whose peak begins with what is in use now, not with what making the bomb took. */
static bool refused_apart(const char *path, long most_kib)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(!refused(path, most_kib));
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

/* A snapshot_begin at time 0, of tid 0, in lap 1 at 64: what an honest chunk of one row holds. */
static const u8 honest[] = {
	FR_EV_snapshot_begin,
	FR_FORM_PLAIN,
	0,
	FR_FORM_PLAIN,
	0,
	1,
	0,
	0,
	0, /* event, time, tid, count of runs */
	FR_FORM_PLAIN,
	0,
	FR_FORM_PLAIN,
	1,
	1,
	FR_FORM_PLAIN,
	1,
	64, /* row, seq, offset */
	2,
	0,
	0,
	0,
	FR_FORM_PLAIN,
	0, /* section: nr */
};

/* What each bomb says, and the zeros it is made of; 0: the honest row. */
struct bomb {
	const char *what;
	u16 kind;
	u64 decoded_sz;
	u64 row_cnt, raw_sz;
	size_t zeros_sz;
};

static const struct bomb bombs[] = {
	{"a frame of 12 MiB in 1 KiB", FR_CHUNK_PROCS, 12u << 20, 0, 0, 12u << 20},
	{"the same as events", FR_CHUNK_EVENTS, 12u << 20, 1000, 16000, 12u << 20},
	{"content of 1 TiB", FR_CHUNK_PROCS, 1ULL << 40, 0, 0, 1000},
	{"content of 2^64 - 1 bytes", FR_CHUNK_EVENTS, ~0ULL, 1, 16, 1000},
	{"content larger than declared", FR_CHUNK_PROCS, 999, 0, 0, 1000},
	{"content smaller than declared", FR_CHUNK_PROCS, 1u << 20, 0, 0, 1000},
	{"4 billion events", FR_CHUNK_EVENTS, 1000, 0xffffffff, ~0ULL, 1000},
	{"more events than bytes", FR_CHUNK_EVENTS, 1000, 1001, 16016, 1000},
	{"one event of 1 GiB of ring", FR_CHUNK_EVENTS, sizeof(honest), 1, 1u << 30, 0},
	{"one event of less ring than it takes", FR_CHUNK_EVENTS, sizeof(honest), 1, 16, 0},
	{"zeros for events", FR_CHUNK_EVENTS, 1000, 100, 4u << 20, 1000},
};

static void write_bomb(const struct bomb *b, const char *path, const void *stored, size_t stored_sz)
{
	struct fr_events_head events = one_row;
	struct made m;

	events.row_cnt = b->row_cnt;
	events.raw_sz = b->raw_sz;
	begin(&m, path);
	put_schema(&m);
	put_chunk(&m, b->kind, b->kind == FR_CHUNK_EVENTS ? &events : NULL, stored, stored_sz, b->decoded_sz);
	fclose(m.f);
}

static bool try_bomb(const struct bomb *b, const char *path)
{
	u8 small[256];
	size_t packed_sz;
	void *packed = NULL;

	if (b->zeros_sz)
		packed = pack_zeros(b->zeros_sz, &packed_sz);
	else
		packed_sz = pack(small, sizeof(small), honest, sizeof(honest));
	write_bomb(b, path, packed ? packed : small, packed_sz);
	free(packed);
	fflush(stdout);
	return refused_apart(path, PEAK_MAX_KIB);
}

/* Two frames that hold together what one is declared to. */
static bool try_two_frames(const char *path)
{
	const struct bomb b = {.kind = FR_CHUNK_PROCS, .decoded_sz = 1000};
	u8 both[256];
	size_t sz;
	void *half = pack_zeros(500, &sz);

	memcpy(both, half, sz);
	memcpy(both + sz, half, sz);
	free(half);
	write_bomb(&b, path, both, 2 * sz);
	return refused_apart(path, PEAK_MAX_KIB);
}

/* Lists of as many entries as fit, each as short as may be: in memory each takes what an incident takes. */
static bool try_short_entries(const char *path)
{
	const size_t sz = 1u << 20;
	struct fr_list_head *list = calloc(1, sz);
	void *packed = malloc(ZSTD_compressBound(sz));
	struct made m;
	size_t packed_sz;
	u32 i;

	*list = (struct fr_list_head){.entry_sz = 8, .cnt = (sz - sizeof(*list)) / 8};
	packed_sz = pack(packed, ZSTD_compressBound(sz), list, sz);
	begin(&m, path);
	put_schema(&m);
	for (i = 0; i < 64; i++)
		put_chunk(&m, FR_CHUNK_INCIDENTS, NULL, packed, packed_sz, sz);
	fclose(m.f);
	free(packed);
	free(list);
	fflush(stdout);
	return refused_apart(path, LISTS_MAX_KIB);
}

/* That the honest row is read shows that it is the lie about it that is refused. */
static bool try_honest(const char *path)
{
	const struct bomb b = {.kind = FR_CHUNK_EVENTS, .decoded_sz = sizeof(honest), .row_cnt = 1, .raw_sz = 24};
	u8 small[256];
	struct fr_batch batch = {};
	struct fr_snap *s;
	bool ok;

	write_bomb(&b, path, small, pack(small, sizeof(small), honest, sizeof(honest)));
	if (fr_snap_open(path, &s))
		return false;
	ok = !fr_snap_read_chunk(s, 0, &batch) && batch.row_cnt == 1;
	fr_batch_free(&batch);
	fr_snap_close(s);
	return ok;
}

/* Findings of a file of schema and one chunk of an unknown kind, of which bit `flip` is wrong, -1: none; or which is no frame.
 */
static size_t findings_of_unknown(const char *path, int flip, bool is_frame)
{
	static const char text[1000] = "anything at all";
	u8 stored[256];
	size_t stored_sz = is_frame ? pack(stored, sizeof(stored), text, sizeof(text)) : sizeof(stored);
	struct made m;
	struct fr_snap *s;
	size_t n;

	begin(&m, path);
	put_schema(&m);
	if (!is_frame)
		memcpy(stored, text, sizeof(stored));
	put_chunk(&m, 4711, NULL, stored, stored_sz, sizeof(text));
	if (flip >= 0) {
		fseek(m.f, -1, SEEK_CUR);
		fputc(1 << flip, m.f);
	}
	fclose(m.f);
	if (fr_snap_open(path, &s))
		return 0;
	n = fr_snap_damage(s);
	fr_snap_close(s);
	return n;
}

/* One finding is that there is no trailer. */
static bool try_unknown_kind(const char *path)
{
	return findings_of_unknown(path, -1, true) == 1 && findings_of_unknown(path, 3, true) == 2 &&
	       findings_of_unknown(path, -1, false) == 2;
}

static bool try_other_version(const char *path)
{
	struct fr_file_head h = {.part = {FR_FILE_MAGIC, sizeof(h) - 8, "flight-2", 77}};
	struct made m = {.f = fopen(path, "w")};
	struct fr_snap *s;

	put_hashed(&m, &h, sizeof(h) - 8);
	put_schema(&m);
	fclose(m.f);
	return fr_snap_open(path, &s) == -EPROTONOSUPPORT;
}

static bool report(bool ok, const char *what)
{
	printf("%s %s\n", ok ? "ok  " : "FAIL", what);
	return ok;
}

/* bomb DIR: the files are made there. */
int main(int argc, char **argv)
{
	char path[4096];
	u32 i, passed = 0, cnt = sizeof(bombs) / sizeof(*bombs);

	if (argc != 2)
		return 2;
	for (i = 0; i < cnt; i++) {
		snprintf(path, sizeof(path), "%s/bomb%u.flight", argv[1], i);
		passed += report(try_bomb(&bombs[i], path), bombs[i].what);
	}
	passed += report(try_two_frames(path), "two frames for one");
	passed += report(try_short_entries(path), "lists of very short entries");
	passed += report(try_honest(path), "an honest event is read");
	passed += report(try_unknown_kind(path), "an unknown kind is skipped, and checked");
	passed += report(try_other_version(path), "another major version");
	cnt += 5;
	printf("%u passed, %u failed, 0 skipped\n", passed, cnt - passed);
	return passed != cnt;
}
