/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Crash dumps in ELF: each whole page of physical memory once, wherever segments begin and end; what is none is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "host_core.h"
#include "read/vmcore/vmcore_format.h"

#define PAGES 600u /* more than are read at once */

/* ---- a file for each test, on a disk with bad sectors ---- */

static struct {
	u64 off, sz;
} bad[2];
static bool spoils_all; /* of a read that meets one, nothing comes; otherwise what is before it does */

/* The C library's, by our name: all reads of the dump's memory. */
ssize_t pread(int fd, void *buf, size_t sz, off_t off)
{
	const u64 from = off;
	u32 i;

	for (i = 0; i < 2; i++) {
		if (from >= bad[i].off + bad[i].sz || from + sz <= bad[i].off)
			continue;
		if (spoils_all || from >= bad[i].off) {
			errno = EIO;
			return -1;
		}
		sz = bad[i].off - from;
	}
	return syscall(SYS_pread64, fd, buf, sz, off);
}

static char path[64];

static int begin(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/fr_vmcore.XXXXXX");
	fd = mkstemp(path);
	return fd < 0 || close(fd);
}

static int end(void **state)
{
	(void)state;
	memset(bad, 0, sizeof(bad));
	return remove(path);
}

/* A page of memory says where it is. */
static void put_memory(struct host_core *c, u64 paddr, size_t sz)
{
	u64 *word = malloc(sz + 8), i;

	for (i = 0; i <= sz / 8; i++)
		word[i] = paddr + i * 8;
	host_core_segment(c, paddr);
	host_core_put(c, word, sz);
	free(word);
}

static void save(const struct host_core *c)
{
	assert_int_equal(host_core_save(c, path), 0);
}

/* ---- what is seen of it ---- */

struct seen {
	struct fr_vmcore *v;
	u64 cnt, sum, first, last; /* of physical addresses */
	u64 bad;
	u64 stop_at;
};

static int see(void *arg, u64 place, const void *page)
{
	struct seen *s = arg;
	u64 here[FR_PAGE_SZ / 8], again[FR_PAGE_SZ / 8];
	u32 i;

	memcpy(here, page, sizeof(here));
	assert_int_equal(here[0] % FR_PAGE_SZ, 0);
	for (i = 0; i < FR_PAGE_SZ / 8; i++)
		assert_true(here[i] == here[0] + 8 * i);
	assert_int_equal(fr_vmcore_read(s->v, place, again), 0);
	assert_memory_equal(again, here, sizeof(here));
	if (!s->cnt)
		s->first = here[0];
	s->last = here[0];
	s->sum += here[0];
	s->cnt++;
	return s->cnt == s->stop_at ? -ENOTEMPTY : 0;
}

static int walk(struct seen *s, u64 stop_at)
{
	struct fr_progress bar;
	int err;

	*s = (struct seen){.stop_at = stop_at};
	assert_int_equal(fr_vmcore_open(path, &s->v), 0);
	fr_progress_begin(&bar, "searching");
	err = fr_vmcore_walk(s->v, see, s, &s->bad, &bar);
	fr_progress_end(&bar);
	fr_vmcore_close(s->v);
	return err;
}

/* So many pages, the first one at first, and so many that cannot be read. */
static void check(u64 cnt, u64 first, u64 bad)
{
	struct seen s;

	assert_int_equal(walk(&s, 0), 0);
	assert_int_equal(s.cnt, cnt);
	assert_int_equal(s.bad, bad);
	if (cnt)
		assert_int_equal(s.first, first);
}

static char told[512];
static u32 told_cnt;

static void note(void *arg, bool is_error, const char *text)
{
	(void)arg, (void)is_error;
	snprintf(told, sizeof(told), "%s", text);
	told_cnt++;
}

/* It is refused, with one message that has these words. */
static void refused(int want, const char *words)
{
	const struct fr_err_sink sink = {.say = note}, *was = fr_err_divert(&sink);
	struct fr_vmcore *v = NULL;
	int err;

	told_cnt = 0;
	err = fr_vmcore_open(path, &v);
	fr_err_divert(was);
	assert_int_equal(err, want);
	assert_null(v);
	assert_int_equal(told_cnt, 1);
	assert_non_null(strstr(told, words));
	assert_non_null(strstr(told, path));
}

/* ---- segments ---- */

static void each_page_comes_once(void **state)
{
	struct host_core c;
	struct seen s;
	u64 i, sum = 0;

	(void)state;
	host_core_begin(&c);
	put_memory(&c, 0x1000, FR_PAGE_SZ);
	put_memory(&c, 0x100000, PAGES * FR_PAGE_SZ);
	put_memory(&c, 1ull << 40, 2 * FR_PAGE_SZ);
	save(&c);
	assert_int_equal(walk(&s, 0), 0);
	for (i = 0; i < PAGES; i++)
		sum += 0x100000 + i * FR_PAGE_SZ;
	assert_int_equal(s.cnt, PAGES + 3);
	assert_true(s.sum == sum + 0x1000 + (2ull << 40) + FR_PAGE_SZ);
	assert_true(s.first == 0x1000 && s.last == (1ull << 40) + FR_PAGE_SZ && !s.bad);
	host_core_free(&c);
}

/* Also in the midst of what is read at once. */
static void who_looks_may_end_the_walk(void **state)
{
	struct host_core c;
	struct seen s;

	(void)state;
	host_core_begin(&c);
	put_memory(&c, 0x1000, 300 * FR_PAGE_SZ);
	put_memory(&c, 0x1000000, FR_PAGE_SZ);
	save(&c);
	assert_int_equal(walk(&s, 5), -ENOTEMPTY);
	assert_int_equal(s.cnt, 5);
	assert_int_equal(walk(&s, 300), -ENOTEMPTY);
	assert_int_equal(s.cnt, 300);
	host_core_free(&c);
}

/* Their pages are those of memory, not those of the segment. What is there of the first and the last page is passed over. */
static void segments_begin_and_end_anywhere(void **state)
{
	static const struct {
		u64 paddr;
		size_t sz;
		u64 cnt, first;
	} t[] = {
		{0x1008, 3 * FR_PAGE_SZ, 2, 0x2000},
		{0x1ff8, FR_PAGE_SZ + 8, 1, 0x2000},
		{0x1ff8, FR_PAGE_SZ + 7, 0, 0},
		{0x1ff8, 8, 0, 0},
		{0x1ff8, 7, 0, 0},
		{0x1000, FR_PAGE_SZ - 8, 0, 0},
		{0x1000, 2 * FR_PAGE_SZ - 8, 1, 0x1000},
		{0, FR_PAGE_SZ, 1, 0},
		{0x1008, 300 * FR_PAGE_SZ, 299, 0x2000},
	};
	struct host_core c;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		host_core_begin(&c);
		put_memory(&c, t[i].paddr, t[i].sz);
		put_memory(&c, 0x7000000, FR_PAGE_SZ);
		save(&c);
		check(t[i].cnt + 1, t[i].cnt ? t[i].first : 0x7000000, 0);
		host_core_free(&c);
	}
}

/* What is in memory but not in the file, what has no address, notes; and all that cannot be. */
static void segments_without_memory_are_passed_over(void **state)
{
	struct host_core c;
	Elf64_Phdr *ph = c.head.ph;

	(void)state;
	host_core_begin(&c);
	put_memory(&c, 0x1000, 2 * FR_PAGE_SZ);
	put_memory(&c, 0x10000, FR_PAGE_SZ);
	ph[0].p_filesz = 0;
	save(&c);
	check(1, 0x10000, 0);
	ph[0].p_filesz = 2 * FR_PAGE_SZ;
	ph[0].p_paddr = ~0ull;
	save(&c);
	check(1, 0x10000, 0);
	ph[0].p_paddr = 0x1000;
	ph[0].p_type = PT_NOTE;
	save(&c);
	check(1, 0x10000, 0);
	ph[0].p_type = PT_LOAD;
	ph[0].p_filesz = -100ull; /* its end is before its beginning */
	save(&c);
	check(1, 0x10000, 0);
	ph[0].p_filesz = 2 * FR_PAGE_SZ;
	save(&c);
	check(3, 0x1000, 0);
	host_core_free(&c);
}

static void a_page_may_be_in_two_segments(void **state)
{
	struct host_core c;

	(void)state;
	host_core_begin(&c);
	put_memory(&c, 0x1000, 3 * FR_PAGE_SZ);
	c.head.ph[1] = c.head.ph[0];
	c.head.eh.e_phnum = 2;
	save(&c);
	check(6, 0x1000, 0);
	host_core_free(&c);
}

/* ---- files that are not whole ---- */

/* At each length: what is there is seen, the rest is counted. */
static void of_a_truncated_file_the_rest_is_counted(void **state)
{
	struct host_core c;
	u64 sz, have;

	(void)state;
	host_core_begin(&c);
	put_memory(&c, 0x1000, PAGES * FR_PAGE_SZ);
	put_memory(&c, 0x1000000, 2 * FR_PAGE_SZ);
	for (sz = 0; sz <= c.sz; sz += 13 * FR_PAGE_SZ / 8) {
		have = sz / FR_PAGE_SZ;
		assert_int_equal(host_core_save_part(&c, path, sizeof(c.head) + sz), 0);
		check(have, 0x1000, PAGES + 2 - have);
	}
	host_core_free(&c);
}

/* Each page that does not touch one is seen: of the run with them, too. */
static void of_bad_sectors_only_their_pages_are_missing(void **state)
{
	struct host_core c;
	struct seen s;
	u32 i;

	(void)state;
	host_core_begin(&c);
	put_memory(&c, 0x1000, PAGES * FR_PAGE_SZ);
	save(&c);
	bad[0].off = c.head.ph[0].p_offset + 5 * FR_PAGE_SZ + 512; /* within a page, and over two that begin a run */
	bad[0].sz = 512;
	bad[1].off = c.head.ph[0].p_offset + 256 * FR_PAGE_SZ;
	bad[1].sz = FR_PAGE_SZ + 512;
	for (i = 0; i < 2; i++) {
		spoils_all = i;
		assert_int_equal(walk(&s, 0), 0);
		assert_int_equal(s.cnt, PAGES - 3);
		assert_int_equal(s.bad, 3);
		assert_true(s.sum == PAGES * 0x1000ull + PAGES * (PAGES - 1) / 2 * FR_PAGE_SZ -
					     (3 * 0x1000ull + (5 + 256 + 257) * FR_PAGE_SZ));
		assert_int_equal(walk(&s, PAGES - 400), -ENOTEMPTY);
		assert_int_equal(s.cnt, PAGES - 400);
	}
	host_core_free(&c);
}

/* Sizes that no file has are no reason to look for long. */
static void sizes_that_lie_take_no_time(void **state)
{
	static const u64 lie[] = {1ull << 40, 1ull << 55, (1ull << 63) - 0x100000, (1ull << 63) + FR_PAGE_SZ, ~0ull - 0x100000};
	struct host_core c;
	struct seen s;
	u32 i;

	(void)state;
	host_core_begin(&c);
	put_memory(&c, 0x1000, 2 * FR_PAGE_SZ);
	put_memory(&c, 0x100000, FR_PAGE_SZ);
	alarm(300);
	for (i = 0; i < sizeof(lie) / sizeof(*lie); i++) {
		c.head.ph[0].p_filesz = lie[i];
		save(&c);
		assert_int_equal(walk(&s, 0), 0);
		assert_true(s.cnt >= 1 && s.last == 0x100000);
		c.head.ph[0].p_filesz = 2 * FR_PAGE_SZ;
		c.head.ph[0].p_offset += lie[i];
		save(&c);
		check(1, 0x100000, lie[i] < 1ull << 63 ? 2 : 0);
		c.head.ph[0].p_offset -= lie[i];
	}
	alarm(0);
	host_core_free(&c);
}

/* ---- what is no dump ---- */

static void other_elf_files_are_refused(void **state)
{
	struct host_core c;
	Elf64_Ehdr good;

	(void)state;
	host_core_begin(&c);
	put_memory(&c, 0x1000, FR_PAGE_SZ);
	good = c.head.eh;
	c.head.eh.e_ident[EI_CLASS] = ELFCLASS32;
	save(&c);
	refused(-ENOEXEC, "is no crash dump");
	c.head.eh = good;
	c.head.eh.e_ident[EI_DATA] = ELFDATA2MSB;
	c.head.eh.e_type = ET_CORE << 8;
	c.head.eh.e_version = EV_CURRENT << 24;
	c.head.eh.e_phoff = c.head.eh.e_phnum = 0;
	save(&c);
	refused(-ENOEXEC, "is no crash dump");
	c.head.eh = good;
	c.head.eh.e_type = ET_EXEC;
	save(&c);
	refused(-ENOEXEC, "is no crash dump");
	c.head.eh = good;
	c.head.eh.e_ident[EI_MAG3] = 'G';
	save(&c);
	refused(-ENOEXEC, "is no crash dump");
	c.head.eh = good;
	save(&c);
	check(1, 0x1000, 0);
	host_core_free(&c);
}

/* It is one, of nothing; and one whose list of segments is behind its end is not whole. */
static void a_dump_may_have_no_segments(void **state)
{
	struct host_core c;

	(void)state;
	host_core_begin(&c);
	save(&c);
	check(0, 0, 0);
	c.head.eh.e_phoff = 0;
	save(&c);
	check(0, 0, 0);
	host_core_free(&c);
}

static void files_without_a_head_are_refused(void **state)
{
	struct host_core c;
	size_t sz;

	(void)state;
	host_core_begin(&c);
	put_memory(&c, 0x1000, FR_PAGE_SZ);
	for (sz = 0; sz < sizeof(Elf64_Ehdr); sz++) {
		assert_int_equal(host_core_save_part(&c, path, sz), 0);
		refused(-ENOEXEC, "is no crash dump");
	}
	host_core_free(&c);
}

static void what_is_no_file_is_refused(void **state)
{
	(void)state;
	assert_int_equal(remove(path), 0);
	refused(-ENOENT, "cannot read");
	assert_int_equal(mkdir(path, 0700), 0);
	refused(-EISDIR, "cannot read");
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(300); /* nobody writes to it */
	refused(-ESPIPE, "is a pipe");
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_page_comes_once, begin, end),
		cmocka_unit_test_setup_teardown(who_looks_may_end_the_walk, begin, end),
		cmocka_unit_test_setup_teardown(segments_begin_and_end_anywhere, begin, end),
		cmocka_unit_test_setup_teardown(segments_without_memory_are_passed_over, begin, end),
		cmocka_unit_test_setup_teardown(a_page_may_be_in_two_segments, begin, end),
		cmocka_unit_test_setup_teardown(of_a_truncated_file_the_rest_is_counted, begin, end),
		cmocka_unit_test_setup_teardown(of_bad_sectors_only_their_pages_are_missing, begin, end),
		cmocka_unit_test_setup_teardown(sizes_that_lie_take_no_time, begin, end),
		cmocka_unit_test_setup_teardown(other_elf_files_are_refused, begin, end),
		cmocka_unit_test_setup_teardown(a_dump_may_have_no_segments, begin, end),
		cmocka_unit_test_setup_teardown(files_without_a_head_are_refused, begin, end),
		cmocka_unit_test_setup_teardown(what_is_no_file_is_refused, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
