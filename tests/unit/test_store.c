/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which snapshots go and which stay: the policy, and real directories with other people's files in them. Core files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/trigger/quota.h"
#include "live/snapshot/name.h"
#include "live/snapshot/store_int.h"
#include "read/snapfile/snapfile_format.h"

#define SEC  1000000000ULL
#define DAY  (86400 * SEC)
#define MB   (1ULL << 20)
#define LOTS (1ULL << 40)
#define NOW  (20000 * DAY) /* in 2024 */

/* ---- the policy ---- */

/* Files as letters, oldest first: o ordinary, K kept, g gone; each 1 MB, one day apart, the last a day old. Answer: x gone. */
static void choose(const char *files, struct fr_quota_limit limit, u64 want_sz, u64 free_sz, const char *want,
		   enum fr_quota_short is_short)
{
	struct fr_quota_file f[16] = {0};
	const struct fr_quota_now now = {.real_ns = NOW, .free_sz = free_sz, .want_sz = want_sz, .free_files = LOTS};
	size_t i, cnt = strlen(files);
	char got[17] = "";

	for (i = 0; i < cnt; i++) {
		f[i].real_ns = NOW - (cnt - i) * DAY;
		f[i].sz = f[i].disk_sz = MB;
		f[i].keep = files[i] == 'K';
		f[i].gone = files[i] == 'g';
	}
	assert_int_equal(fr_quota_choose(f, cnt, &limit, &now), is_short);
	for (i = 0; i < cnt; i++)
		got[i] = f[i].remove ? 'x' : files[i];
	assert_string_equal(got, want);
}

static void test_quota(void **state)
{
	(void)state;
	/* no limits */
	choose("oooo", (struct fr_quota_limit){0}, MB, LOTS, "oooo", FR_QUOTA_ROOM);
	/* count: the new one counts; nothing new, nothing more */
	choose("oooo", (struct fr_quota_limit){.max_files = 4}, MB, LOTS, "xooo", FR_QUOTA_ROOM);
	choose("oooo", (struct fr_quota_limit){.max_files = 4}, 0, LOTS, "oooo", FR_QUOTA_ROOM);
	choose("oooo", (struct fr_quota_limit){.max_files = 1}, MB, LOTS, "xxxx", FR_QUOTA_ROOM);
	/* marked ones stay and count */
	choose("KoKo", (struct fr_quota_limit){.max_files = 4}, MB, LOTS, "KxKo", FR_QUOTA_ROOM);
	choose("KoKo", (struct fr_quota_limit){.max_files = 2}, MB, LOTS, "KoKo", FR_QUOTA_COUNT);
	/* bytes */
	choose("oooo", (struct fr_quota_limit){.max_sz = 4 * MB}, 2 * MB, LOTS, "xxoo", FR_QUOTA_ROOM);
	choose("oooo", (struct fr_quota_limit){.max_sz = 4 * MB}, 5 * MB, LOTS, "oooo", FR_QUOTA_BYTES);
	choose("gooo", (struct fr_quota_limit){.max_sz = 4 * MB}, MB, LOTS, "gooo", FR_QUOTA_ROOM);
	/* age: in any case, but not marked ones */
	choose("oKoo", (struct fr_quota_limit){.max_age_ns = 2 * DAY + 1}, MB, LOTS, "xKoo", FR_QUOTA_ROOM);
	choose("oKoo", (struct fr_quota_limit){.max_age_ns = 2 * DAY + 1}, 0, LOTS, "xKoo", FR_QUOTA_ROOM);
	choose("oooo", (struct fr_quota_limit){.max_age_ns = 3 * DAY + 1, .max_sz = MB}, 2 * MB, LOTS, "xooo", FR_QUOTA_BYTES);
	/* free space */
	choose("oooo", (struct fr_quota_limit){.keep_free_sz = 3 * MB}, MB, 2 * MB, "xxoo", FR_QUOTA_ROOM);
	choose("oooo", (struct fr_quota_limit){.keep_free_sz = 3 * MB}, 0, 2 * MB, "xooo", FR_QUOTA_ROOM);
	choose("oooo", (struct fr_quota_limit){.keep_free_sz = MB}, MB, 2 * MB, "oooo", FR_QUOTA_ROOM);
	choose("oooo", (struct fr_quota_limit){0}, 2 * MB, 2 * MB, "oooo", FR_QUOTA_ROOM);
	/* the disk is somebody else's: nothing goes for nothing */
	choose("oooo", (struct fr_quota_limit){.keep_free_sz = 30 * MB}, MB, 2 * MB, "oooo", FR_QUOTA_FREE);
	choose("", (struct fr_quota_limit){.max_files = 1}, MB, LOTS, "", FR_QUOTA_ROOM);
	/* more is wanted than the disk would have, which is a guess: the oldest ordinary one leaves, and it is tried */
	choose("oooo", (struct fr_quota_limit){0}, 10 * MB, 2 * MB, "xooo", FR_QUOTA_TRY);
	choose("Kgoo", (struct fr_quota_limit){0}, 10 * MB, 0, "Kgxo", FR_QUOTA_TRY);
	choose("oooo", (struct fr_quota_limit){.keep_free_sz = 5 * MB}, 10 * MB, 2 * MB, "xooo", FR_QUOTA_TRY);
	choose("oooo", (struct fr_quota_limit){.keep_free_sz = 6 * MB}, 10 * MB, 2 * MB, "oooo", FR_QUOTA_FREE);
	choose("KKgK", (struct fr_quota_limit){0}, 10 * MB, 2 * MB, "KKgK", FR_QUOTA_TRY);
	choose("KKgK", (struct fr_quota_limit){0}, 10 * MB, 0, "KKgK", FR_QUOTA_FREE);
	choose("oooo", (struct fr_quota_limit){.max_age_ns = 3 * DAY + 1}, 10 * MB, 2 * MB, "xxoo", FR_QUOTA_TRY);
}

/*
 * Files of failures a, b, c, ...; . of none; A: marked. Repeats go before the newest of each, and before the one to come of
 * `next`; those whose date is ahead (from cnt - ahead on) before the others of their kind.
 */
static void choose_of(const char *files, u32 max_files, char next, size_t ahead, const char *want)
{
	struct fr_quota_file f[16] = {0};
	const struct fr_quota_limit limit = {.max_files = max_files};
	const struct fr_quota_now now = {
		.real_ns = NOW, .free_sz = LOTS, .want_sz = MB, .want_signature = next == '.' ? 0 : next, .free_files = LOTS};
	size_t i, cnt = strlen(files);
	char got[17] = "";

	for (i = 0; i < cnt; i++) {
		f[i].real_ns = NOW - (cnt - i) * DAY + (i + ahead >= cnt ? 30 * DAY : 0);
		f[i].sz = f[i].disk_sz = MB;
		f[i].signature = files[i] == '.' ? 0 : files[i] | 0x20;
		f[i].keep = files[i] >= 'A' && files[i] <= 'Z';
	}
	assert_int_equal(fr_quota_choose(f, cnt, &limit, &now), FR_QUOTA_ROOM);
	for (i = 0; i < cnt; i++)
		got[i] = f[i].remove ? 'x' : files[i];
	assert_string_equal(got, want);
}

static void test_newest_of_each(void **state)
{
	(void)state;
	choose_of("abbb", 4, '.', 0, "axbb");
	choose_of("abbb", 4, 'a', 0, "xbbb");
	choose_of("abbb", 3, 'a', 0, "xxbb");
	choose_of("abbb", 3, '.', 0, "axxb");
	choose_of("abbb", 2, '.', 0, "xxxb");
	choose_of("abcd", 4, '.', 0, "xbcd");
	choose_of("abcd", 4, 'c', 0, "abxd");
	choose_of("a.b.", 3, '.', 0, "axbx");
	/* a marked one is the newest, too */
	choose_of("aabA", 4, '.', 0, "xabA");
	choose_of("aabA", 3, '.', 0, "xxbA");
	/* what is ahead is older than it says, among repeats, and among the newest of each */
	choose_of("aabb", 4, '.', 2, "aaxb");
	choose_of("abcd", 4, '.', 1, "abcx");
}

/* Files are made of inodes, too. One of which another name exists frees none. */
static void test_inodes(void **state)
{
	struct fr_quota_file f[] = {{.real_ns = NOW - 3 * DAY, .sz = MB, .disk_sz = MB, .keep = true},
				    {.real_ns = NOW - 2 * DAY, .sz = MB},
				    {.real_ns = NOW - DAY, .sz = MB, .disk_sz = MB},
				    {.real_ns = NOW - SEC, .sz = MB, .disk_sz = MB}};
	const struct fr_quota_limit limit = {0};
	struct fr_quota_now now = {.real_ns = NOW, .free_sz = LOTS, .want_sz = MB, .free_files = 1};

	(void)state;
	assert_int_equal(fr_quota_choose(f, 4, &limit, &now), FR_QUOTA_ROOM);
	assert_false(f[0].remove || f[1].remove || f[2].remove || f[3].remove);
	now.free_files = 0;
	assert_int_equal(fr_quota_choose(f, 4, &limit, &now), FR_QUOTA_ROOM);
	assert_true(!f[0].remove && f[1].remove && f[2].remove && !f[3].remove);
	f[2].keep = f[3].keep = true;
	assert_int_equal(fr_quota_choose(f, 4, &limit, &now), FR_QUOTA_INODES);
	assert_false(f[0].remove || f[1].remove || f[2].remove || f[3].remove);
	now.want_sz = 0;
	assert_int_equal(fr_quota_choose(f, 4, &limit, &now), FR_QUOTA_ROOM);
}

/* A snapshot from before the clock was set has no known age; the count takes it all the same. */
static void test_clock_not_set(void **state)
{
	struct fr_quota_file f[] = {{.real_ns = 3600 * SEC, .sz = MB}, {.real_ns = NOW - DAY, .sz = MB}};
	struct fr_quota_limit limit = {.max_age_ns = SEC};
	const struct fr_quota_now now = {.real_ns = NOW, .free_sz = LOTS};

	(void)state;
	assert_int_equal(fr_quota_choose(f, 2, &limit, &now), FR_QUOTA_ROOM);
	assert_true(!f[0].remove && f[1].remove);
	limit = (struct fr_quota_limit){.max_files = 1};
	assert_int_equal(fr_quota_choose(f, 2, &limit, &now), FR_QUOTA_ROOM);
	assert_true(f[0].remove && !f[1].remove);
}

/* The clock was set back: what was taken before goes first, the oldest of it, and not the one that was taken last. */
static void test_clock_set_back(void **state)
{
	struct fr_quota_file f[] = {{.real_ns = NOW - DAY, .sz = MB},
				    {.real_ns = NOW + 3600 * SEC, .sz = MB},
				    {.real_ns = NOW + DAY, .sz = MB},
				    {.real_ns = NOW + 2 * DAY, .sz = MB}};
	const struct fr_quota_now now = {.real_ns = NOW, .free_sz = LOTS, .want_sz = MB, .free_files = LOTS};
	static const char *const want[] = {"xxxx", "xxxx", "x.xx", "..xx", "..x.", "...."};
	u32 max, i;

	(void)state;
	for (max = 1; max < sizeof(want) / sizeof(want[0]); max++) {
		const struct fr_quota_limit limit = {.max_files = max, .max_age_ns = 2 * DAY};

		assert_int_equal(fr_quota_choose(f, 4, &limit, &now), FR_QUOTA_ROOM);
		for (i = 0; i < 4; i++)
			assert_int_equal(f[i].remove, want[max][i] == 'x');
	}
	f[2].keep = f[3].keep = true;
	assert_int_equal(fr_quota_choose(f, 4, &(struct fr_quota_limit){.max_files = 2}, &now), FR_QUOTA_COUNT);
	for (i = 0; i < 4; i++)
		assert_false(f[i].remove);
}

/* ---- names ---- */

static void test_names(void **state)
{
	static const char *const bad[] = {
		"",
		".flight",
		"x.flight",
		".web-20260101T000000.000Z-exit.flight",
		"-20260101T000000.000Z-exit.flight",
		"web-20260101T000000.000Z-.flight",
		"web-20260101T000000.000Z-exit.flight.zst",
		"web-20260101T00000.000Z-exit.flight",
		".web-20260101T000000.123Z-exit.flight.tmp-12",
	};
	struct fr_name_parts p;
	char buf[256];
	size_t i;

	(void)state;
	assert_true(fr_name_parse("web-1-20260101T000102.123Z-crash-a-b.c-4711.3.flight", &p));
	assert_int_equal(p.real_ns, 1767225662123000000ULL);
	assert_string_equal(p.reason, "crash");
	assert_string_equal(p.comm, "a-b.c");
	assert_int_equal(p.pid, 4711);
	assert_true(fr_name_parse("web-20260101T000000.000Z-exit.2.flight", &p));
	assert_string_equal(p.reason, "exit");
	assert_string_equal(p.comm, "");
	assert_int_equal(p.pid, 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(fr_name_parse(bad[i], &p));
	assert_int_equal(fr_name_snapshot(buf, sizeof(buf), "/d", 1767225662123000000ULL, "crash", "", 7, 0),
			 0); /* no name, but a pid */
	assert_true(fr_name_parse(strrchr(buf, '/') + 1, &p));
	assert_int_equal(p.pid, 7);
	assert_string_equal(p.comm, "");
	assert_int_equal(fr_name_snapshot(buf, sizeof(buf), "/d", 1767225662123000000ULL, "crash", "we ird", 5, 0), 0);
	assert_true(fr_name_parse(strrchr(buf, '/') + 1, &p));
	assert_int_equal(p.real_ns, 1767225662123000000ULL);
	assert_string_equal(p.comm, "we_ird");
}

/* ---- directories ---- */

static char dir[64];

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/fr-store-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *in_dir(const char *name)
{
	static char buf[4][512];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(buf[turn], sizeof(buf[turn]), "%s/%s", dir, name);
	return buf[turn];
}

static void put(const char *name, const void *begin, size_t begin_sz, size_t sz, mode_t mode)
{
	int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_EXCL, 0600);
	char zero[4096] = {0};

	assert_true(fd >= 0);
	assert_int_equal(write(fd, begin, begin_sz), begin_sz);
	for (sz -= begin_sz; sz; sz -= sz < sizeof(zero) ? sz : sizeof(zero))
		assert_true(write(fd, zero, sz < sizeof(zero) ? sz : sizeof(zero)) > 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* What the store takes for a snapshot. */
static void put_snapshot(const char *name, mode_t mode)
{
	struct fr_part_head h = {.magic = FR_FILE_MAGIC};

	memcpy(h.tag, FR_FILE_TAG, FR_TAG_SZ);
	put(name, &h, sizeof(h), 100000, mode);
}

static bool exists(const char *name)
{
	struct stat st;

	return !lstat(in_dir(name), &st);
}

#define AT(day) "web-202601" day "T000000.000Z-crash-a-1.flight"

static struct fr_store *open_store(struct fr_store_conf conf)
{
	struct fr_store *st;

	conf.dir = dir;
	assert_int_equal(fr_store_open(&conf, &st), 0);
	return st;
}

static void test_room(void **state)
{
	struct fr_store *st = open_store((struct fr_store_conf){.max_files = 3});
	struct fr_store_usage u;
	u32 removed;

	(void)state;
	put_snapshot(AT("05"), 0600);
	put_snapshot(AT("01"), 0400);
	put_snapshot(AT("03"), 0600);
	/* another host's, another session's */
	put_snapshot("db-20260102T000000.000Z-exit.flight", 0600);
	assert_int_equal(fr_store_make_room(st, 1000, 0, &removed), 0);
	assert_int_equal(removed, 2);
	assert_true(exists(AT("01")) && exists(AT("05")));
	assert_false(exists(AT("03")) || exists("db-20260102T000000.000Z-exit.flight"));
	assert_int_equal(fr_store_usage(st, &u), 0);
	assert_int_equal(u.files, 2);
	assert_int_equal(u.marked, 1);
	assert_int_equal(u.sz, 200000);
	assert_int_equal(u.removed, 2);
	assert_true(u.fs_sz > 0);
	fr_store_close(st);
}

/* Nothing of anybody else's is removed, whatever it is called. */
static void test_foreign(void **state)
{
	struct fr_store *st = open_store((struct fr_store_conf){.max_files = 4, .max_age_ns = 1});
	static const char tmp_name[] = ".web-20260101T000000.000Z-exit.flight.tmp-1";
	u32 removed;

	(void)state;
	put("notes.txt", "a", 1, 1, 0600);
	put(AT("01"), "not a snapshot", 14, 100000, 0600);
	put_snapshot("mine.flight", 0600);
	put_snapshot(tmp_name, 0600);
	put_snapshot(AT("02"), 0600);
	assert_int_equal(symlink("mine.flight", in_dir(AT("03"))), 0);
	assert_int_equal(mkdir(in_dir(AT("04")), 0700), 0);
	assert_int_equal(fr_store_make_room(st, 1000, 0, &removed), 0);
	assert_int_equal(removed, 1);
	assert_false(exists(AT("02")));
	assert_true(exists("notes.txt") && exists(AT("01")) && exists("mine.flight") && exists(tmp_name));
	assert_true(exists(AT("03")) && exists(AT("04")));
	fr_store_close(st);
}

/* While none is taken, only those go that are too old, if that is all that is asked for. */
static void test_tidy(void **state)
{
	struct fr_store *st = open_store((struct fr_store_conf){.max_files = 1, .max_sz = 1000, .max_age_ns = ~0ULL / 4});

	(void)state;
	put_snapshot(AT("01"), 0600);
	put_snapshot(AT("02"), 0600);
	assert_int_equal(fr_store_tidy(st, true), 0);
	assert_true(exists(AT("01")) && exists(AT("02")));
	assert_int_equal(fr_store_tidy(st, false), 0);
	assert_false(exists(AT("01")) || exists(AT("02")));
	fr_store_close(st);
}

/* What is no snapshot does not count, and none goes instead of it. */
static void test_impostor(void **state)
{
	struct fr_store *st = open_store((struct fr_store_conf){.max_files = 3});
	u32 removed;

	(void)state;
	put(AT("01"), "not a snapshot", 14, 100000, 0600);
	put_snapshot(AT("02"), 0600);
	put(AT("03"), "", 0, 0, 0600);
	put_snapshot(AT("04"), 0600);
	put(AT("05"), "", 0, 0, 0600);
	assert_int_equal(fr_store_make_room(st, 1000, 0, &removed), 0);
	assert_int_equal(removed, 0);
	put_snapshot(AT("06"), 0600);
	assert_int_equal(fr_store_make_room(st, 1000, 0, &removed), 0);
	assert_int_equal(removed, 1);
	assert_true(exists(AT("01")) && !exists(AT("02")) && exists(AT("03")) && exists(AT("04")) && exists(AT("06")));
	fr_store_close(st);
}

static void test_no_room(void **state)
{
	struct fr_store *st = open_store((struct fr_store_conf){.max_files = 2});
	u32 removed;

	(void)state;
	put_snapshot(AT("01"), 0400);
	put_snapshot(AT("02"), 0400);
	put_snapshot(AT("03"), 0600);
	assert_int_equal(fr_store_make_room(st, 1000, 0, &removed), -ENOSPC);
	assert_int_equal(removed, 0);
	assert_true(exists(AT("01")) && exists(AT("02")) && exists(AT("03")));
	assert_int_equal(fr_store_mark(in_dir(AT("01")), false), 0);
	assert_int_equal(fr_store_make_room(st, 1000, 0, &removed), 0);
	assert_true(!exists(AT("01")) && exists(AT("02")) && !exists(AT("03")));
	fr_store_close(st);
}

/* A recorder without quotas removes nothing, even where the disk is full. */
static void test_no_quota(void **state)
{
	struct fr_store *st = open_store((struct fr_store_conf){.max_files = 0});
	u32 removed;

	(void)state;
	put_snapshot(AT("01"), 0600);
	assert_int_equal(fr_store_make_room(st, 1ULL << 60, 0, &removed), 0);
	assert_int_equal(removed, 0);
	assert_true(exists(AT("01")));
	fr_store_close(st);
}

static void test_marks(void **state)
{
	struct stat st;

	(void)state;
	put_snapshot(AT("01"), 0640);
	put("x.flight", "no", 2, 2, 0600);
	assert_int_equal(symlink(AT("01"), in_dir("link.flight")), 0);
	assert_int_equal(fr_store_mark(in_dir(AT("01")), true), 0);
	assert_int_equal(stat(in_dir(AT("01")), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0440);
	assert_int_equal(fr_store_mark(in_dir(AT("01")), false), 0);
	assert_int_equal(stat(in_dir(AT("01")), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(fr_store_mark(in_dir("x.flight"), true), -EBADMSG);
	assert_int_equal(fr_store_mark(in_dir("link.flight"), true), -EBADMSG);
	assert_int_equal(fr_store_mark(in_dir("gone.flight"), true), -ENOENT);
}

static void test_vanished(void **state)
{
	struct fr_store *st = open_store((struct fr_store_conf){.max_files = 2});
	struct fr_store_usage u;
	struct stat info;

	(void)state;
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(fr_store_usage(st, &u), -ENOENT);
	assert_int_equal(u.err, -ENOENT);
	assert_int_equal(fr_store_make_room(st, 1000, 0, NULL), 0);
	assert_int_equal(stat(dir, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	fr_store_close(st);
}

/* ---- core files ---- */

#define BOOT	   "0123456789abcdef0123456789abcdef"
#define BOOT_DASH  "01234567-89ab-cdef-0123-456789abcdef"
#define OTHER_BOOT "ffffffffffffffffffffffffffffffff"

static struct fr_stored death(u32 pid, char *comm, u64 real_ns)
{
	return (struct fr_stored){.pid = pid,
				  .ns_pid = pid,
				  .uid = -1,
				  .comm = comm,
				  .exe = (char *)"",
				  .real_ns = real_ns,
				  .sig = 11,
				  .boot_id = (char *)BOOT_DASH};
}

static void is_core(const struct fr_stored *f, const char *name)
{
	if (!name) {
		assert_null(f->core);
		return;
	}
	assert_non_null(f->core);
	assert_string_equal(f->core, in_dir(name));
}

static void test_systemd_cores(void **state)
{
	struct fr_core_places places = {.pattern = "|/usr/lib/systemd/systemd-coredump", .systemd_dir = dir};
	struct fr_stored f[5] = {
		death(100, "a.b c", 1000 * SEC),  death(101, "x", 1000 * SEC), /* core of another boot */
		death(102, "x", 1000 * SEC),				       /* of an hour later */
		death(103, "thread", 1000 * SEC),			       /* of a process with another name */
		death(104, "x", 1000 * SEC),				       /* none */
	};
	size_t i;

	(void)state;
	put("core.a\\x2eb\\x20c.0." BOOT ".100.1000000000.zst", "", 0, 0, 0600);
	put("core.x.0." OTHER_BOOT ".101.1000000000.zst", "", 0, 0, 0600);
	put("core.x.0." BOOT ".102.4600000000.lz4", "", 0, 0, 0600);
	put("core.main.0." BOOT ".103.1001000000", "", 0, 0, 0600);
	put("core.x.0." BOOT ".1000000000.zst", "", 0, 0, 0600);
	put("core.x", "", 0, 0, 0600);
	assert_int_equal(fr_store_join(f, 5, &places), 0);
	is_core(&f[0], "core.a\\x2eb\\x20c.0." BOOT ".100.1000000000.zst");
	is_core(&f[1], NULL);
	is_core(&f[2], NULL);
	is_core(&f[3], "core.main.0." BOOT ".103.1001000000");
	is_core(&f[4], NULL);
	for (i = 0; i < 5; i++)
		free(f[i].core);
}

static void put_core(const char *name, u64 real_ns)
{
	struct timespec t[2] = {{.tv_sec = real_ns / SEC}, {.tv_sec = real_ns / SEC}};

	put(name, "", 0, 0, 0600);
	assert_int_equal(utimensat(AT_FDCWD, in_dir(name), t, 0), 0);
}

static void join_by(const char *name_pattern, bool uses_pid, struct fr_stored *f)
{
	char pattern[128];
	struct fr_core_places places = {.pattern = pattern, .uses_pid = uses_pid};

	snprintf(pattern, sizeof(pattern), "%s/%s", dir, name_pattern);
	free(f->core);
	f->core = NULL;
	assert_int_equal(fr_store_join(f, 1, &places), 0);
}

static void keep_said(void *arg, bool is_error, const char *text)
{
	(void)is_error;
	snprintf(arg, 256, "%s", text);
}

/* A directory that cannot be read is not one without core files; one that is not there is. */
static void test_unread_cores(void **state)
{
	char said[256] = "";
	const struct fr_err_sink sink = {.say = keep_said, .arg = said};
	const struct fr_err_sink *was = fr_err_divert(&sink);
	struct fr_stored f = death(100, "x", 1000 * SEC);

	(void)state;
	join_by("none/%e.%p", false, &f);
	assert_string_equal(said, "");
	assert_int_equal(symlink("loop", in_dir("loop")), 0);
	join_by("loop/%e.%p", false, &f);
	assert_non_null(strstr(said, "loop/%e.%p"));
	assert_non_null(strstr(said, "not all core files"));
	fr_err_divert(was);
	is_core(&f, NULL);
	assert_int_equal(unlink(in_dir("loop")), 0);
}

static void test_pattern_cores(void **state)
{
	struct fr_stored f = death(100, "x", 1000 * SEC);

	(void)state;
	put_core("core.x.100.11", 1003 * SEC);
	put_core("core.y.100.11", 5000 * SEC); /* the pid's later user */
	put_core("core.x.100.6", 1003 * SEC);
	put_core("core.x.1001.11", 1003 * SEC);
	put_core("plain.100", 1001 * SEC);
	put_core("[a]%.100", 1001 * SEC);
	join_by("core.%e.%p.%s", false, &f);
	is_core(&f, "core.x.100.11");
	put_core("core.1001.100.11", 1003 * SEC);
	put_core("core.1500.100.11", 1003 * SEC); /* of another death, which took long to write */
	join_by("core.%t.%P.%s", false, &f);
	is_core(&f, "core.1001.100.11");
	join_by("plain", true, &f);
	is_core(&f, "plain.100");
	join_by("[a]%%.%p", false, &f);
	is_core(&f, "[a]%.100");
	/* neither of these tells whose it is */
	join_by("plain", false, &f);
	is_core(&f, NULL);
	join_by("core.%e", false, &f);
	is_core(&f, NULL);
	f.real_ns = 3000 * SEC;
	join_by("core.%e.%p.%s", false, &f);
	is_core(&f, NULL);
	free(f.core);
}

/* Everything that the pattern says has to be so. */
static void test_cores_of_others(void **state)
{
	struct fr_stored f = death(100, "x", 1000 * SEC);

	(void)state;
	put_core("core.y.100", 1001 * SEC);
	put_core("u.1000.100", 1001 * SEC);
	put_core("!usr!bin!x.100", 1001 * SEC);
	put_core("100", 1001 * SEC);
	join_by("core.%e.%p", false, &f);
	is_core(&f, NULL);
	join_by("u.%u.%p", false, &f);
	is_core(&f, "u.1000.100");
	f.uid = 0;
	join_by("u.%u.%p", false, &f);
	is_core(&f, NULL);
	f.exe = (char *)"/usr/bin/y";
	join_by("%E.%p", false, &f);
	is_core(&f, NULL);
	f.exe = (char *)"/usr/bin/x";
	join_by("%E.%p", false, &f);
	is_core(&f, "!usr!bin!x.100");
	f.ns_pid = 7; /* in a container */
	join_by("%p", false, &f);
	is_core(&f, NULL);
	join_by("%P", false, &f);
	is_core(&f, "100");
	join_by("%", false, &f);
	is_core(&f, NULL);
	free(f.core);
}

/* A process in a container had its number, and a later one has it again: the nearest has the file, and no other. */
static void test_one_core_one_death(void **state)
{
	struct fr_stored f[4] = {death(7, "x", 1000 * SEC), death(4711, "x", 1100 * SEC), death(7, "x", 1200 * SEC),
				 death(7, "z", 1100 * SEC)};
	char pattern[128];
	struct fr_core_places places = {.pattern = pattern};
	size_t i;

	(void)state;
	f[1].ns_pid = 7;
	put_core("core.x.7", 1101 * SEC);
	snprintf(pattern, sizeof(pattern), "%s/core.%%e.%%p", dir);
	assert_int_equal(fr_store_join(f, 4, &places), 0);
	is_core(&f[0], NULL);
	is_core(&f[1], "core.x.7");
	is_core(&f[2], NULL);
	is_core(&f[3], NULL);
	for (i = 0; i < 4; i++)
		free(f[i].core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quota),
		cmocka_unit_test(test_newest_of_each),
		cmocka_unit_test(test_inodes),
		cmocka_unit_test(test_clock_not_set),
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_names),
		cmocka_unit_test_setup_teardown(test_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreign, setup, teardown),
		cmocka_unit_test_setup_teardown(test_impostor, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tidy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_quota, setup, teardown),
		cmocka_unit_test_setup_teardown(test_marks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vanished, setup, teardown),
		cmocka_unit_test_setup_teardown(test_systemd_cores, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unread_cores, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pattern_cores, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cores_of_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_core_one_death, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
