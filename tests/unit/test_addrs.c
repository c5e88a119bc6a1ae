/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What addresses mean: lists with texts in a snapshot, sound and damaged; kallsyms, perf maps, notes and maps as anybody writes
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rows/stacks.h"
#include "make_batch.h"
#include "read/elf/ehframe.h"
#include "read/elf/kallsyms.h"
#include "read/elf/lines.h"
#include "read/elf/perfmap.h"
#include "read/elf/procmaps.h"
#include "read/snapfile/snapfile_texts.h"

#define CNT(a) (sizeof(a) / sizeof((a)[0]))

/* A file of this text: its descriptor. */
static int file_of(const char *text)
{
	int fd = memfd_create("addrs", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* ---- lists with texts ---- */

#define MANY_CNT 4000u

static const struct fr_snap_symbol symbols[] = {
	{7, 0x7000, 16, "jit [made]", NULL},
	{0, 0xffffffff81000000, 0, "_text", NULL},
	{0, 0xffffffffc0000000, 64, "nf_hook", "nf_tables"},
};

static const struct fr_snap_mapping mappings[] = {
	{.pid = 9, .begin = 0x1000, .end = 0x2000, .file_off = 0x3000, .path = "/bin/b", .build_id = {1, 2}, .build_id_sz = 2},
	{.pid = 8, .begin = 0x5000, .end = 0x6000, .path = "", .deleted = true},
};

static void write_snapshot(const char *path, const struct fr_snap_symbol *y, size_t cnt)
{
	struct fr_snap_writer *w;

	unlink(path);
	assert_int_equal(fr_snap_create(path, 64 << 20, 1, &w), 0);
	assert_int_equal(fr_snap_put_schema(w, fr_schema_builtin()), 0);
	assert_int_equal(fr_snap_put_symbols(w, y, cnt), 0);
	assert_int_equal(fr_snap_put_mappings(w, mappings, CNT(mappings)), 0);
	assert_int_equal(fr_snap_finish(w), 0);
}

static char path[64];

static int set_up(void **state)
{
	char dir[] = "/tmp/fr-addrs-XXXXXX";

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/a.flight", dir);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	*strrchr(path, '/') = 0;
	return rmdir(path);
}

static void test_they_come_back_sorted(void **state)
{
	const struct fr_snap_mapping *m;
	const struct fr_snap_symbol *y;
	struct fr_snap *s;
	size_t cnt;

	(void)state;
	write_snapshot(path, symbols, CNT(symbols));
	assert_int_equal(fr_snap_open(path, &s), 0);
	assert_int_equal(fr_snap_damage(s), 0);
	y = fr_snap_symbols(s, &cnt);
	assert_int_equal(cnt, 3);
	assert_string_equal(y[0].name, "_text");
	assert_null(y[0].module);
	assert_string_equal(y[1].name, "nf_hook");
	assert_string_equal(y[1].module, "nf_tables");
	assert_true(y[1].addr == 0xffffffffc0000000 && y[1].sz == 64);
	assert_string_equal(y[2].name, "jit [made]");
	assert_int_equal(y[2].pid, 7);
	m = fr_snap_mappings(s, &cnt);
	assert_int_equal(cnt, 2);
	assert_true(m[0].pid == 8 && m[0].deleted && !m[0].build_id_sz);
	assert_string_equal(m[0].path, "");
	assert_true(m[1].begin == 0x1000 && m[1].end == 0x2000 && m[1].file_off == 0x3000 && !m[1].deleted);
	assert_true(m[1].build_id_sz == 2 && m[1].build_id[0] == 1 && m[1].build_id[1] == 2);
	assert_string_equal(m[1].path, "/bin/b");
	fr_snap_close(s);
}

/* More than a chunk holds, and texts that are cut. */
static void test_many_and_long(void **state)
{
	static char text[8192];
	struct fr_snap_symbol *many = calloc(MANY_CNT, sizeof(*many));
	const struct fr_snap_symbol *y;
	struct fr_snap *s;
	size_t cnt, i;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	for (i = 0; i < MANY_CNT; i++)
		many[i] = (struct fr_snap_symbol){0, i * 16, 16, text + i % 8000, "m"};
	write_snapshot(path, many, MANY_CNT);
	assert_int_equal(fr_snap_open(path, &s), 0);
	assert_int_equal(fr_snap_damage(s), 0);
	y = fr_snap_symbols(s, &cnt);
	assert_int_equal(cnt, MANY_CNT);
	for (i = 0; i < cnt; i++) {
		assert_true(y[i].addr == i * 16);
		assert_int_equal(strlen(y[i].name), strlen(many[i].name) < 4095 ? strlen(many[i].name) : 4095);
	}
	fr_snap_close(s);
	free(many);
}

/* A content with one byte, or its size, changed: what is said of it. */
struct content {
	u8 buf[4096];
	size_t sz;
};

static void make(struct content *c, u32 kind)
{
	const struct fr_text_kind *k = fr_text_kind(kind);
	bool is_symbols = kind == FR_CHUNK_SYMBOLS;
	const void *items = is_symbols ? (const void *)symbols : (const void *)mappings;
	size_t cnt = is_symbols ? CNT(symbols) : CNT(mappings);

	assert_int_equal(fr_text_write(k, items, cnt, c->buf, sizeof(c->buf), &c->sz), cnt);
}

static int check(const struct content *c, u32 kind)
{
	u8 *copy = malloc(c->sz); /* so that reading behind it is found */
	size_t cnt, texts_sz;
	int err;

	memcpy(copy, c->buf, c->sz);
	err = fr_text_check(fr_text_kind(kind), copy, c->sz, &cnt, &texts_sz);
	free(copy);
	return err;
}

static void put32(struct content *c, size_t at, u32 v)
{
	memcpy(c->buf + at, &v, sizeof(v));
}

static void put64(struct content *c, size_t at, u64 v)
{
	memcpy(c->buf + at, &v, sizeof(v));
}

static void test_damaged_lists_are_refused(void **state)
{
	static const u32 kinds[] = {FR_CHUNK_SYMBOLS, FR_CHUNK_MAPPINGS};
	struct content c;
	size_t i, sz;

	(void)state;
	for (i = 0; i < CNT(kinds); i++) {
		make(&c, kinds[i]);
		assert_int_equal(check(&c, kinds[i]), 0);
		for (sz = c.sz - 1; sz; sz--) {
			/* cut anywhere but behind a text that no entry needs */
			c.sz = sz;
			assert_int_equal(check(&c, kinds[i]), -EBADMSG);
		}
		make(&c, kinds[i]);
		c.buf[c.sz - 1] = 'x'; /* the last text does not end */
		assert_int_equal(check(&c, kinds[i]), -EBADMSG);
		make(&c, kinds[i]);
		put32(&c, 0, 23); /* entries too short to be any */
		assert_int_equal(check(&c, kinds[i]), -EBADMSG);
		make(&c, kinds[i]);
		put32(&c, 4, ~0u); /* more entries than there are bytes */
		assert_int_equal(check(&c, kinds[i]), -EBADMSG);
		make(&c, kinds[i]);
		put32(&c, 8 + 4, c.sz); /* a text behind the texts */
		assert_int_equal(check(&c, kinds[i]), -EBADMSG);
	}
}

static void test_entries_that_cannot_be(void **state)
{
	struct content c;

	(void)state;
	make(&c, FR_CHUNK_SYMBOLS);
	put32(&c, 8 + 4, 0); /* no name */
	assert_int_equal(check(&c, FR_CHUNK_SYMBOLS), -EBADMSG);
	make(&c, FR_CHUNK_SYMBOLS);
	put64(&c, 8 + 16, ~0ULL); /* over the end of all addresses */
	assert_int_equal(check(&c, FR_CHUNK_SYMBOLS), -EBADMSG);
	make(&c, FR_CHUNK_SYMBOLS);
	put32(&c, 8 + 24, 1u << 30); /* the module's name is nowhere */
	assert_int_equal(check(&c, FR_CHUNK_SYMBOLS), -EBADMSG);
	make(&c, FR_CHUNK_MAPPINGS);
	put64(&c, 8 + 16, 0x1000); /* empty */
	assert_int_equal(check(&c, FR_CHUNK_MAPPINGS), -EBADMSG);
	make(&c, FR_CHUNK_MAPPINGS);
	put64(&c, 8 + 24, ~0ULL - 0xfff + 1); /* over the end of all files */
	assert_int_equal(check(&c, FR_CHUNK_MAPPINGS), -EBADMSG);
	make(&c, FR_CHUNK_MAPPINGS);
	c.buf[8 + 52] = 21; /* no build-id is so long */
	assert_int_equal(check(&c, FR_CHUNK_MAPPINGS), -EBADMSG);
}

/* A later minor version's longer entries, and an older one's shorter ones. */
static void test_other_entry_sizes(void **state)
{
	static const u32 sizes[] = {24, 32, 48};
	struct fr_snap_symbol y;
	size_t cnt, texts_sz, i;
	struct content c;

	(void)state;
	for (i = 0; i < CNT(sizes); i++) {
		const struct fr_text_kind *k = fr_text_kind(FR_CHUNK_SYMBOLS);
		struct fr_symbol_entry e = {.pid = 3, .name = 1, .addr = 0x10, .sz = 4, .module = 3};

		memset(c.buf, 0xee, sizeof(c.buf));
		put32(&c, 0, sizes[i]);
		put32(&c, 4, 1);
		memcpy(c.buf + 8, &e, sizes[i] < sizeof(e) ? sizes[i] : sizeof(e));
		memcpy(c.buf + 8 + sizes[i], "\0f\0m", 5);
		c.sz = 8 + sizes[i] + 5;
		assert_int_equal(fr_text_check(k, c.buf, c.sz, &cnt, &texts_sz), 0);
		assert_int_equal(texts_sz, 5);
		fr_text_items(k, c.buf, (const char *)c.buf + 8 + sizes[i], &y);
		assert_string_equal(y.name, "f");
		assert_true(y.pid == 3 && y.addr == 0x10 && y.sz == 4);
		assert_true(sizes[i] < 28 ? !y.module : !strcmp(y.module, "m"));
	}
}

/* ---- where frames lay ---- */

#define IN(nr, off) ((u64)(nr) << 56 | (off))

static void add_origin(struct fr_stacks *s, u64 id, u32 frame_cnt, const u64 *words, u32 cnt)
{
	struct make_batch m;

	mb_init(&m, fr_schema_builtin(), 0, FR_TIER_STACK);
	mb_row(&m, 5, 71, "stack_build_ids");
	mb_num(&m, "stack_id", id);
	mb_num(&m, "frame_cnt", frame_cnt);
	mb_nums(&m, "words", words, cnt);
	assert_int_equal(fr_stacks_add_batch(s, &m.b), 0);
	mb_free(&m);
}

static void test_origins(void **state)
{
	const u64 words[] = {IN(2, 0x1234), 0, IN(1, 0x99), IN(3, 1), 0x1111, 0x22, 0, 0x3333, 0x4444, 0x55555555};
	struct fr_stacks *s = fr_stacks_new();
	struct fr_origin o;

	(void)state;
	add_origin(s, 7, 4, words, 10);
	add_origin(s, 8, 11, words, 10); /* more frames than words: not taken */
	add_origin(s, 9, 4, words, 8);	 /* the second build-id is cut */
	assert_int_equal(fr_stacks_origin_cnt(s), 2);
	assert_true(fr_stacks_origin(s, 7, 0, &o));
	assert_true(o.file_off == 0x1234 && o.build_id_sz == 20 && o.build_id[0] == 0x33 && o.build_id[16] == 0x55);
	assert_false(fr_stacks_origin(s, 7, 1, &o)); /* not known */
	assert_true(fr_stacks_origin(s, 7, 2, &o));
	assert_true(o.file_off == 0x99 && o.build_id_sz == 16 && o.build_id[8] == 0x22);
	assert_false(fr_stacks_origin(s, 7, 3, &o)); /* of a build-id that is not there */
	assert_false(fr_stacks_origin(s, 7, 4, &o)); /* a build-id's word is no frame */
	assert_false(fr_stacks_origin(s, 8, 0, &o));
	assert_false(fr_stacks_origin(s, 9, 0, &o));
	assert_true(fr_stacks_origin(s, 9, 2, &o));
	fr_stacks_free(s);
}

static void add_frames(struct fr_stacks *s, u64 id, const u64 *frames, u32 cnt)
{
	struct make_batch m;

	mb_init(&m, fr_schema_builtin(), 0, FR_TIER_STACK);
	mb_row(&m, 5, 71, "stack");
	mb_num(&m, "stack_id", id);
	mb_nums(&m, "frames", frames, cnt);
	assert_int_equal(fr_stacks_add_batch(s, &m.b), 0);
	mb_free(&m);
}

/* What was found of a stack after its process had died, before or behind what the kernel had found. */
static void test_longer(void **state)
{
	static const u64 walked[] = {1, 4}, found[] = {1, 2, 3, 4}, other[] = {9};
	/* more words, but fewer frames */
	static const u64 walked_in[] = {IN(1, 0x11), IN(3, 0x44), 7, 0, 0, 8, 0, 0, 9, 0, 0};
	static const u64 found_in[] = {IN(1, 0x11), 0, IN(2, 0x33), 0, 7, 0, 0, 8, 0, 0};
	struct fr_origin o;
	size_t cnt, i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct fr_stacks *s = fr_stacks_new();

		add_frames(s, 7, i ? found : walked, i ? 4 : 2);
		add_origin(s, 7, i ? 4 : 2, i ? found_in : walked_in, i ? 10 : 11);
		add_frames(s, 8, other, 1);
		add_frames(s, 7, i ? walked : found, i ? 2 : 4);
		add_origin(s, 7, i ? 2 : 4, i ? walked_in : found_in, i ? 11 : 10);
		assert_memory_equal(fr_stacks_find(s, 7, &cnt), found, sizeof(found));
		assert_int_equal(cnt, 4);
		assert_false(fr_stacks_origin(s, 7, 1, &o)); /* that is the other's */
		assert_true(fr_stacks_origin(s, 7, 2, &o));
		assert_int_equal(o.file_off, 0x33);
		assert_int_equal(fr_stacks_origin_cnt(s), 1);
		assert_memory_equal(fr_stacks_find(s, 8, &cnt), other, sizeof(other));
		fr_stacks_free(s);
	}
}

/* ---- kallsyms ---- */

static const char kallsyms[] = "0000000000000000 A fixed\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T alias_of_stext\n"
			       "ffffffff81000100 t first\n"
			       "ffffffff81000200 T second\n"
			       "ffffffff81000300 D data\n"
			       "nonsense\n"
			       "ffffffffc0002000 t late\t[mod_b]\n"
			       "ffffffffc0001000 t early\t[mod_a]\n"
			       "ffffffffc0001080 d its_data\t[mod_a]\n";

static void find_all(const char *text, struct fr_ksym *k, size_t cnt, struct fr_kallsyms_info *info)
{
	int fd = file_of(text);
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	assert_int_equal(fr_kallsyms_find(name, k, cnt, info), 0);
	close(fd);
}

static void test_kallsyms(void **state)
{
	struct fr_ksym k[] = {
		{.addr = 0xfffffffe00000000}, {.addr = 0xffffffff81000000}, {.addr = 0xffffffff81000110},
		{.addr = 0xffffffff810001ff}, {.addr = 0xffffffff81000200}, {.addr = 0xffffffffc0001070},
		{.addr = 0xffffffffc0002001}, {.addr = 0xfffffffff0000000},
	};
	static const char *const want[] = {NULL, "_stext", "first", "first", "second", "early", "late", NULL};
	struct fr_kallsyms_info info;
	size_t i;

	(void)state;
	find_all(kallsyms, k, CNT(k), &info);
	assert_true(info.stext == 0xffffffff81000000 && !info.hidden);
	for (i = 0; i < CNT(k); i++) {
		if (want[i])
			assert_string_equal(k[i].name, want[i]);
		else
			assert_null(k[i].name);
	}
	assert_true(k[2].begin == 0xffffffff81000100 && k[2].end == 0xffffffff81000200);
	assert_true(k[3].begin == k[2].begin && k[3].end == k[2].end);
	assert_true(k[4].end == 0xffffffff81000300);
	assert_null(k[4].module);
	assert_string_equal(k[5].module, "mod_a");
	assert_true(k[5].end == 0xffffffffc0001080);
	assert_string_equal(k[6].module, "mod_b");
	assert_true(k[6].end == 0);
	fr_kallsyms_free(k, CNT(k));
}

/* What the kernel says of the address 0xffffffff81000123: module and name as expected, NULL: none. */
static void parsed(const char *text, const char *name, const char *module)
{
	struct fr_ksym k = {.addr = 0xffffffff81000123};

	assert_int_equal(fr_ksym_parse(text, &k), 0);
	assert_int_equal(!name, !k.name);
	assert_int_equal(!module, !k.module);
	if (name) {
		assert_string_equal(k.name, name);
		assert_int_equal(k.begin, 0xffffffff81000123 - 0x1f);
		assert_int_equal(k.end, k.begin + 0x40);
	}
	if (module)
		assert_string_equal(k.module, module);
	fr_kallsyms_free(&k, 1);
}

static void test_ksym_parse(void **state)
{
	(void)state;
	parsed("do_idle+0x1f/0x40", "do_idle", NULL);
	parsed("ext4_sync+0x1f/0x40 [ext4]", "ext4_sync", "ext4");
	parsed("ext4_sync+0x1f/0x40 [ext4 0123456789abcdef]", "ext4_sync", "ext4");
	parsed("bpf_prog_4127b9ac4663e67e_sched_process_exec+0x1f/0x40", "bpf_prog_4127b9ac4663e67e_sched_process_exec", "bpf");
	parsed("bpf_prog_4127b9ac4663e67e+0x1f/0x40 [bpf]", "bpf_prog_4127b9ac4663e67e", "bpf");
	parsed("bpf_trampoline_6442509921+0x1f/0x40", "bpf_trampoline_6442509921", "bpf");
	parsed("bpf_prog_alloc+0x1f/0x40", "bpf_prog_alloc", NULL);
	parsed("bpf_trampoline_link_prog+0x1f/0x40", "bpf_trampoline_link_prog", NULL);
	parsed("bpf_prog_add+0x1f/0x40", "bpf_prog_add", NULL);
	parsed("0xffffffff81000123", NULL, NULL);
	parsed("do_idle+0x1f", NULL, NULL);
	parsed("+0x1f/0x40", NULL, NULL);
	parsed("last_of_all+0x1f/0xfffffffffe6e53d4", NULL,
	       NULL); /* no snapshot may hold this size: it would count as damaged */
	parsed("", NULL, NULL);
}

static void test_kallsyms_hidden(void **state)
{
	struct fr_ksym k[] = {{.addr = 0xffffffff81000000}};
	struct fr_kallsyms_info info;

	(void)state;
	find_all("0000000000000000 T _stext\n0000000000000000 T other\n", k, 1, &info);
	assert_true(info.hidden && !info.stext);
	assert_null(k[0].name);
	assert_int_equal(fr_kallsyms_find("/nowhere/kallsyms", k, 1, &info), -ENOENT);
}

/* ---- perf maps ---- */

static void test_perf_map(void **state)
{
	struct fr_jit_sym s[] = {{.addr = 0x0fff}, {.addr = 0x1000}, {.addr = 0x100f}, {.addr = 0x1010}, {.addr = 0x3000}};
	int fd = file_of("1000 10 old\n1000 10 name with blanks\n0x3000 0x1 hex\n1000 0 nothing\nx\n1000 10\n"
			 "ffffffffffffffff ff over\n11111111111111111 1 long\n");

	(void)state;
	assert_int_equal(fr_perfmap_find(fd, s, CNT(s)), 0);
	assert_null(s[0].name);
	assert_string_equal(s[1].name, "name with blanks");
	assert_string_equal(s[2].name, "name with blanks");
	assert_true(s[2].begin == 0x1000 && s[2].sz == 0x10);
	assert_null(s[3].name);
	assert_string_equal(s[4].name, "hex");
	fr_perfmap_free(s, CNT(s));
	close(fd);
}

/* ---- lines ---- */

static void test_lines(void **state)
{
	static char text[3 * FR_LINES_SZ];
	struct fr_lines *l = malloc(sizeof(*l));
	size_t got = 0;
	char *line;
	int fd;

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	memcpy(text, "first\n\nthird\n", 13);
	fd = file_of(text);
	fr_lines_init(l, fd, ~0ULL);
	assert_string_equal(fr_lines_next(l), "first");
	assert_string_equal(fr_lines_next(l), "");
	assert_string_equal(fr_lines_next(l), "third");
	while ((line = fr_lines_next(l)))
		got += strlen(line);
	assert_int_equal(got, sizeof(text) - 1 - 13);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	fr_lines_init(l, fd, 8); /* no more than that is read */
	assert_string_equal(fr_lines_next(l), "first");
	assert_string_equal(fr_lines_next(l), "");
	assert_string_equal(fr_lines_next(l), "t");
	assert_null(fr_lines_next(l));
	close(fd);
	free(l);
}

/* ---- build-ids ---- */

static void test_notes(void **state)
{
	static const u8 notes[] = {4, 0, 0,   0,   4,	0, 0,	 0,    1,    0,	   0,	 0,    'X',  'e', 'n',
				   0, 1, 2,   3,   4,	4, 0,	 0,    0,    8,	   0,	 0,    0,    3,	  0,
				   0, 0, 'G', 'N', 'U', 0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8};
	u8 id[FR_BUILD_ID_MAX] = {}, bad[sizeof(notes)];
	size_t sz;

	(void)state;
	assert_int_equal(fr_build_id_in_notes(notes, sizeof(notes), id), 8);
	assert_true(id[0] == 0xa1 && id[7] == 0xa8);
	for (sz = 0; sz < sizeof(notes); sz++)
		assert_int_equal(fr_build_id_in_notes(notes, sz, id), 0);
	memcpy(bad, notes, sizeof(bad));
	bad[20 + 4] = 0xff; /* longer than what is there */
	assert_int_equal(fr_build_id_in_notes(bad, sizeof(bad), id), 0);
	memset(bad, 0xff, sizeof(bad));
	assert_int_equal(fr_build_id_in_notes(bad, sizeof(bad), id), 0);
}

/* ---- this process ---- */

struct own {
	struct fr_proc *p;
	u8 id[FR_BUILD_ID_MAX], sz;
	u32 cnt;
};

static int find_own(void *arg, const struct fr_procmap *m)
{
	struct own *o = arg;
	u64 here = (u64)(unsigned long)find_own;

	o->cnt++;
	if (here >= m->begin && here < m->end)
		o->sz = fr_proc_build_id(o->p, m, o->id, NULL);
	return 0;
}

/* By the kernel or by the file, it is what the program's own notes say. */
static void test_own_build_id(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	u8 id[FR_BUILD_ID_MAX];
	struct own o = {};
	struct fr_proc p;

	(void)state;
	assert_int_equal(fr_proc_open(getpid(), &p), 0);
	o.p = &p;
	assert_int_equal(fr_proc_maps(&p, find_own, &o), 0);
	assert_true(o.cnt > 1);
	assert_int_equal(o.sz, fr_build_id_of(fd, id, NULL));
	assert_memory_equal(o.id, id, o.sz);
	fr_proc_close(&p);
	close(fd);
	fd = file_of("\177ELF");
	assert_int_equal(fr_build_id_of(fd, id, NULL), 0);
	close(fd);
}

/* A mapped file that cannot be opened, for want of descriptors: that its build-id is not known is a failure, and told as one.
 */
struct mapped {
	struct fr_proc *p;
	u64 begin;
	int err, gone_err;
};

static int find_mapped(void *arg, const struct fr_procmap *m)
{
	struct rlimit was, none = {};
	struct mapped *o = arg;
	u8 id[FR_BUILD_ID_MAX];

	if (m->begin != o->begin)
		return 0;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none.rlim_max = was.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(fr_proc_build_id(o->p, m, id, &o->err), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(fr_proc_build_id(o->p, m, id, &o->gone_err), 0);
	return 1;
}

static void test_unread_build_id(void **state)
{
	int fd = file_of("not a program");
	struct mapped o = {};
	struct fr_proc p;
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	(void)state;
	if (at == MAP_FAILED)
		skip(); /* a file system without programs */
	o.begin = (u64)(unsigned long)at;
	assert_int_equal(fr_proc_open(getpid(), &p), 0);
	o.p = &p;
	assert_int_equal(fr_proc_maps(&p, find_mapped, &o), 1);
	assert_int_equal(o.err, -EMFILE);
	assert_int_equal(o.gone_err, 0);
	fr_proc_close(&p);
	munmap(at, 4096);
	close(fd);
}

/* A file that ends within its head, at any byte: it has none. What is not there is not read (valgrind tells). */
static void test_short_head(void **state)
{
	static const u8 begin[sizeof(Elf64_Ehdr)] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
	int fd = memfd_create("head", MFD_CLOEXEC);
	u8 id[FR_BUILD_ID_MAX];
	size_t sz;

	(void)state;
	for (sz = 0; sz < sizeof(begin); sz++) {
		assert_int_equal(pwrite(fd, begin, sz, 0), sz);
		assert_int_equal(fr_build_id_of(fd, id, NULL), 0);
	}
	close(fd);
}

/* What cannot be read is not a file without one, nor without a table of frames. */
static void test_unread_file(void **state)
{
	int fd = open("/bin/sh", O_PATH), err = 0; /* reading it fails with EBADF */
	struct fr_ehframe *e;
	u8 id[FR_BUILD_ID_MAX];

	(void)state;
	assert_int_equal(fr_build_id_of(fd, id, &err), 0);
	assert_int_equal(err, -EBADF);
	assert_int_equal(fr_ehframe_open(fd, &e), -EBADF);
	fd = file_of("\177ELF");
	err = 0;
	assert_int_equal(fr_build_id_of(fd, id, &err), 0);
	assert_int_equal(err, 0);
	assert_int_equal(fr_ehframe_open(fd, &e), -ENOEXEC);
}

/* A perf map of somebody else's, a link, one of two names: not believed. */
static void test_perf_map_of_this_process(void **state)
{
	char map[64], other[80];
	struct fr_proc p;
	int fd;

	(void)state;
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", getpid());
	snprintf(other, sizeof(other), "%s.other", map);
	unlink(map);
	unlink(other);
	assert_int_equal(fr_proc_open(getpid(), &p), 0);
	assert_int_equal(fr_proc_perf_map(&p), -ENOENT);
	assert_int_equal(mkfifo(map, 0600), 0);
	assert_int_equal(fr_proc_perf_map(&p), -EPERM);
	unlink(map);
	close(open(map, O_CREAT | O_EXCL | O_WRONLY, 0600));
	fd = fr_proc_perf_map(&p);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(link(map, other), 0);
	assert_int_equal(fr_proc_perf_map(&p), -EPERM);
	unlink(map);
	assert_int_equal(symlink(other, map), 0);
	assert_int_equal(fr_proc_perf_map(&p), -EPERM);
	unlink(map);
	unlink(other);
	fr_proc_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_they_come_back_sorted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many_and_long, set_up, tear_down),
		cmocka_unit_test(test_damaged_lists_are_refused),
		cmocka_unit_test(test_entries_that_cannot_be),
		cmocka_unit_test(test_other_entry_sizes),
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_longer),
		cmocka_unit_test(test_kallsyms),
		cmocka_unit_test(test_ksym_parse),
		cmocka_unit_test(test_kallsyms_hidden),
		cmocka_unit_test(test_perf_map),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_own_build_id),
		cmocka_unit_test(test_unread_build_id),
		cmocka_unit_test(test_unread_file),
		cmocka_unit_test(test_short_head),
		cmocka_unit_test(test_perf_map_of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
