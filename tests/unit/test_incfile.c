/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The journal of incidents: how large it becomes, several who write it, a full disk, and what is left of a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "read/snapfile/incfile.h"

#define PAD "\"pad\":\"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\""

/* ---- a directory for each test ---- */

static int begin(void **state)
{
	char *dir = strdup("/tmp/fr_incfile.XXXXXX");

	*state = dir;
	return !mkdtemp(dir);
}

static void remove_file(const char *dir, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

static int end(void **state)
{
	remove_file(*state, FR_INCFILE_NAME);
	remove_file(*state, FR_INCFILE_NAME ".1");
	rmdir(*state);
	free(*state);
	return 0;
}

static u64 size_of(const char *dir, const char *name)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return stat(path, &st) ? 0 : (u64)st.st_size;
}

static u64 size_of_both(const char *dir)
{
	return size_of(dir, FR_INCFILE_NAME) + size_of(dir, FR_INCFILE_NAME ".1");
}

/* ---- lines {"w":WRITER,"n":NUMBER,...} ---- */

static int add(struct fr_incfile *f, u32 writer, u32 from, u32 cnt)
{
	char line[256];
	int err = fr_incfile_begin(f, NULL, NULL), len;
	u32 i;

	for (i = from; i < from + cnt && !err; i++) {
		len = snprintf(line, sizeof(line), "{\"w\":%u,\"n\":%u," PAD "}", writer, i);
		err = fr_incfile_add(f, line, len);
	}
	return fr_incfile_end(f) ?: err;
}

struct seen {
	u32 cnt, next[4]; /* of each writer: the number expected next, 0: none was seen */
	bool order;
};

static void see(void *arg, const char *line, size_t len)
{
	struct seen *s = arg;
	char text[512];
	u32 w, n;

	assert_true(len < sizeof(text));
	memcpy(text, line, len);
	text[len] = 0;
	assert_int_equal(sscanf(text, "{\"w\":%u,\"n\":%u," PAD "}", &w, &n), 2);
	assert_true(w < 4);
	s->order &= !s->next[w] || s->next[w] == n;
	s->next[w] = n + 1;
	s->cnt++;
}

static struct seen look(const char *dir, u64 want_bad)
{
	struct seen s = {.order = true};
	u64 bad;

	assert_int_equal(fr_incfile_read(dir, see, &s, &bad), 0);
	assert_int_equal(bad, want_bad);
	assert_true(s.order);
	return s;
}

/* In place of libc's: a disk that fails, if it is to. */
static bool is_failing;

ssize_t pread(int fd, void *buf, size_t sz, off_t off)
{
	if (!is_failing)
		return syscall(SYS_pread64, fd, buf, sz, off);
	errno = EIO;
	return -1;
}

/* Likewise: locks that cannot be had, and another process that is quicker than the one that rotates. */
static bool has_locks = true;
static struct fr_incfile *quicker;
static u32 quicker_at, quicker_cnt; /* its next line, and how many it writes */

int flock(int fd, int op)
{
	if (has_locks)
		return syscall(SYS_flock, fd, op);
	errno = ENOLCK;
	return -1;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	struct fr_incfile *f = quicker;
	int ret = syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);

	quicker = NULL;
	if (f)
		assert_int_equal(add(f, 1, quicker_at, quicker_cnt), 0);
	return ret;
}

/* ---- tests ---- */

/* 64 MiB of incidents into 1 MiB: what is there never takes more, and is the latest, without a gap. */
static void test_bounded(void **state)
{
	const u64 limit = 1 << 20;
	struct fr_incfile *f;
	struct seen s;
	u32 i;

	assert_int_equal(fr_incfile_open(*state, limit, &f), 0);
	for (i = 0; i < 420; i++) {
		assert_int_equal(add(f, 0, 1 + i * 1000, 1000), 0);
		assert_true(size_of_both(*state) <= limit);
	}
	fr_incfile_close(f);
	s = look(*state, 0);
	assert_int_equal(s.next[0], 420001);
	assert_true(size_of_both(*state) > limit / 4);
}

/* A limit that was lowered holds from the next write on, and as a matter of course for the file that became the older one. */
static void test_lowered(void **state)
{
	struct fr_incfile *f;
	u32 i;

	assert_int_equal(fr_incfile_open(*state, 1 << 20, &f), 0);
	assert_int_equal(add(f, 0, 1, 2000), 0);
	fr_incfile_limit(f, 1 << 16);
	for (i = 0; i < 40; i++)
		assert_int_equal(add(f, 0, 2001 + i * 50, 50), 0);
	fr_incfile_close(f);
	assert_int_equal(look(*state, 0).next[0], 4001);
	assert_true(size_of_both(*state) <= 1 << 16);
}

/* Recorders that share a directory, while it is rotated again and again: no line is torn, each one's are in order. */
static void test_shared(void **state)
{
	struct fr_incfile *f;
	struct seen s;
	int status;
	u32 w, i;

	for (w = 0; w < 3; w++) {
		if (fork())
			continue;
		if (fr_incfile_open(*state, 1 << 16, &f))
			_exit(1);
		for (i = 0; i < 200; i++)
			if (add(f, w, 1 + i * 5, 5))
				_exit(2);
		_exit(0);
	}
	for (w = 0; w < 3; w++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	s = look(*state, 0);
	assert_true(s.next[0] == 1001 || s.next[1] == 1001 || s.next[2] == 1001);
	assert_true(size_of_both(*state) <= 1 << 16);
}

/* Nothing of what found no room is there, and the next finds the file sound. */
static void test_full(void **state)
{
	struct rlimit was, small;
	struct fr_incfile *f;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small = (struct rlimit){.rlim_cur = 10000, .rlim_max = was.rlim_max};
	assert_int_equal(fr_incfile_open(*state, 1 << 20, &f), 0);
	assert_int_equal(add(f, 0, 1, 10), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(add(f, 0, 11, 100), -EFBIG);
	assert_int_equal(look(*state, 0).next[0], 11);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(add(f, 0, 11, 100), 0);
	assert_int_equal(look(*state, 0).next[0], 111);
	fr_incfile_close(f);
}

static void count(void *arg, const char *line, size_t len)
{
	(void)line;
	(void)len;
	++*(u32 *)arg;
}

static u32 looked_at(struct fr_incfile *f)
{
	u32 cnt = 0;

	assert_int_equal(fr_incfile_begin(f, count, &cnt), 0);
	assert_int_equal(fr_incfile_end(f), 0);
	return cnt;
}

/* Who writes looks through what is there once, and again when somebody else has written: not for each incident. */
static void test_looks_once(void **state)
{
	struct fr_incfile *f, *other;

	assert_int_equal(fr_incfile_open(*state, 1 << 20, &f), 0);
	assert_int_equal(fr_incfile_open(*state, 1 << 20, &other), 0);
	assert_int_equal(add(f, 0, 1, 3), 0);
	assert_int_equal(looked_at(f), 0);
	assert_int_equal(looked_at(other), 3);
	assert_int_equal(looked_at(other), 0);
	assert_int_equal(add(other, 1, 1, 2), 0);
	assert_int_equal(looked_at(other), 0);
	assert_int_equal(looked_at(f), 5);
	assert_int_equal(looked_at(f), 0);
	fr_incfile_close(f);
	fr_incfile_close(other);
}

/* The file that is new after a rotation is another's already: a write that fails leaves the lines of that one alone. */
static void test_rotated_full(void **state)
{
	struct rlimit was, small;
	struct fr_incfile *f, *other;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small = (struct rlimit){.rlim_cur = 10000, .rlim_max = was.rlim_max};
	assert_int_equal(fr_incfile_open(*state, 1 << 15, &f), 0);
	assert_int_equal(fr_incfile_open(*state, 1 << 15, &other), 0);
	assert_int_equal(add(f, 0, 1, 40), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	quicker = other;
	quicker_at = 1;
	quicker_cnt = 3;
	assert_int_equal(add(f, 0, 41, 90), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(look(*state, 0).next[0], 41);
	assert_int_equal(look(*state, 0).next[1], 4);
	fr_incfile_close(f);
	fr_incfile_close(other);
}

/* Likewise: who rotates is told of those lines, and if they leave no room for its own, rotates once more. */
static void test_rotated_told(void **state)
{
	const u64 limit = 1 << 15;
	struct fr_incfile *f, *other;
	char line[256];
	u32 cnt = 0, i;

	assert_int_equal(fr_incfile_open(*state, limit, &f), 0);
	assert_int_equal(fr_incfile_open(*state, limit, &other), 0);
	assert_int_equal(add(f, 0, 1, 90), 0);
	quicker = other;
	quicker_at = 1;
	quicker_cnt = 60;
	assert_int_equal(fr_incfile_begin(f, count, &cnt), 0);
	for (i = 91; i < 151; i++)
		assert_int_equal(fr_incfile_add(f, line, snprintf(line, sizeof(line), "{\"w\":0,\"n\":%u," PAD "}", i)), 0);
	assert_int_equal(fr_incfile_end(f), 0);
	assert_int_equal(cnt, 60);
	assert_true(size_of_both(*state) <= limit);
	assert_int_equal(look(*state, 0).next[0], 151);
	assert_int_equal(look(*state, 0).next[1], 61);
	fr_incfile_close(f);
	fr_incfile_close(other);
}

/* A file that could not be locked was not looked at: the next time it is. */
static void test_unlocked(void **state)
{
	struct fr_incfile *f;
	u32 cnt = 0;

	assert_int_equal(fr_incfile_open(*state, 1 << 20, &f), 0);
	assert_int_equal(add(f, 0, 1, 3), 0);
	fr_incfile_close(f);
	assert_int_equal(fr_incfile_open(*state, 1 << 20, &f), 0);
	has_locks = false;
	assert_int_equal(fr_incfile_begin(f, count, &cnt), -ENOLCK);
	has_locks = true;
	assert_true(fr_incfile_end(f) < 0);
	assert_int_equal(cnt, 0);
	assert_int_equal(looked_at(f), 3);
	fr_incfile_close(f);
}

static void append(const char *dir, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, FR_INCFILE_NAME);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* What a kill left at the end is passed over, and cut off by the next who writes; damage in the midst stays, and is counted. */
static void test_damage(void **state)
{
	struct fr_incfile *f;

	assert_int_equal(fr_incfile_open(*state, 1 << 20, &f), 0);
	assert_int_equal(add(f, 0, 1, 3), 0);
	append(*state, "{\"w\":0,\"n\":4,\"pad");
	assert_int_equal(look(*state, 0).cnt, 3);
	assert_int_equal(add(f, 0, 4, 1), 0);
	assert_int_equal(look(*state, 0).cnt, 4);
	append(*state, "{\"w\":0,\"n\":9," PAD ",\"sum\":\"0000000000000000\"}\n");
	assert_int_equal(look(*state, 1).cnt, 4);
	assert_int_equal(add(f, 0, 5, 1), 0);
	assert_int_equal(look(*state, 0).cnt, 5);
	fr_incfile_close(f);
}

/* What cannot be read is not cut off: it can be the next time. */
static void test_unreadable(void **state)
{
	struct fr_incfile *f;
	struct seen s = {};
	u64 bad;

	assert_int_equal(fr_incfile_open(*state, 1 << 20, &f), 0);
	assert_int_equal(add(f, 0, 1, 3), 0);
	fr_incfile_close(f);
	assert_int_equal(fr_incfile_open(*state, 1 << 20, &f), 0);
	is_failing = true;
	assert_int_equal(fr_incfile_begin(f, NULL, NULL), -EIO);
	fr_incfile_end(f);
	assert_int_equal(fr_incfile_read(*state, see, &s, &bad), -EIO);
	is_failing = false;
	assert_int_equal(look(*state, 0).cnt, 3);
	assert_int_equal(add(f, 0, 4, 1), 0);
	assert_int_equal(look(*state, 0).cnt, 4);
	fr_incfile_close(f);
}

/* A link that somebody put there is not followed. */
static void test_link(void **state)
{
	char path[128], target[128];
	struct fr_incfile *f;

	snprintf(path, sizeof(path), "%s/%s", (char *)*state, FR_INCFILE_NAME);
	snprintf(target, sizeof(target), "%s/" FR_INCFILE_NAME ".1", (char *)*state);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(fr_incfile_open(*state, 1 << 20, &f), 0);
	assert_int_equal(fr_incfile_begin(f, NULL, NULL), -ELOOP);
	assert_int_not_equal(access(target, F_OK), 0);
	fr_incfile_close(f);
}

static int try_begin(const char *dir)
{
	struct fr_incfile *f;
	int err;

	assert_int_equal(fr_incfile_open(dir, 1 << 20, &f), 0);
	err = fr_incfile_begin(f, NULL, NULL);
	fr_incfile_end(f);
	fr_incfile_close(f);
	return err;
}

/* Where others may write, a file that may be theirs, or a link to another one, is not written to. */
static void test_planted(void **state)
{
	char path[128], other[128];

	snprintf(path, sizeof(path), "%s/%s", (char *)*state, FR_INCFILE_NAME);
	snprintf(other, sizeof(other), "%s/" FR_INCFILE_NAME ".1", (char *)*state);
	assert_int_equal(chmod(*state, 01777), 0);
	assert_int_equal(try_begin(*state), 0); /* makes it */
	assert_int_equal(try_begin(*state), 0);
	assert_int_equal(link(path, other), 0);
	assert_int_equal(try_begin(*state), -EPERM);
	assert_int_equal(chmod(*state, 0700), 0);
	assert_int_equal(try_begin(*state), 0);
	assert_int_equal(unlink(other), 0);
	if (geteuid())
		return;
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(try_begin(*state), 0);
	assert_int_equal(chmod(*state, 0770), 0);
	assert_int_equal(try_begin(*state), -EPERM);
	assert_int_equal(chown(*state, 65534, 65534), 0); /* the directory's owner's */
	assert_int_equal(try_begin(*state), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bounded, begin, end),
		cmocka_unit_test_setup_teardown(test_lowered, begin, end),
		cmocka_unit_test_setup_teardown(test_shared, begin, end),
		cmocka_unit_test_setup_teardown(test_full, begin, end),
		cmocka_unit_test_setup_teardown(test_looks_once, begin, end),
		cmocka_unit_test_setup_teardown(test_rotated_full, begin, end),
		cmocka_unit_test_setup_teardown(test_rotated_told, begin, end),
		cmocka_unit_test_setup_teardown(test_unlocked, begin, end),
		cmocka_unit_test_setup_teardown(test_damage, begin, end),
		cmocka_unit_test_setup_teardown(test_unreadable, begin, end),
		cmocka_unit_test_setup_teardown(test_link, begin, end),
		cmocka_unit_test_setup_teardown(test_planted, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
