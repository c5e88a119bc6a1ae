/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What programs' probes record: fields, names, the format, which tpformat.h reads; which places a file has. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text/memfile.h"
#include "base/tp/tpask.h"
#include "base/tp/tpformat.h"
#include "base/tp/upformat.h"
#include "read/elf/upfile.h"

__attribute__((noinline, used)) int fr_test_place(int n)
{
	char room[64];
	int i, sum = 0;

	for (i = 0; i < n; i++) {
		snprintf(room, sizeof(room), "%d", i);
		sum += room[0];
	}
	return sum;
}

static void test_asks(void **state)
{
	static const char good[] = "uprobe:/opt/my tools@1/a.out:main+0x10 {arg1:u64} @10/s if arg1 > 2";
	static const char *const bad[] = {"uprobe:a.out:main", "uprobe:/a.out",	   "uprobe:/a.out:", "uprobe:/a.out:main{",
					  "-uprobe:/a:f @1/s", "uretprobe:/a\n:f", "usdt:/a:p",	     "usdt:/a:p:",
					  "usdt:/a::n",	       "mark:a",	   "mark:/a:",	     "mark:/a\n"};
	static const char *const spaced[] = {"mark:/opt/my tools/a", "mark:/opt/my tools/a:begin", "mark:/opt/a}b",
					     "-mark:/opt/my tools/a", "mark:/opt/iffy if/a"};
	char why[FR_TPASK_WHY_SZ];
	struct fr_tpask ask;
	u32 i;

	(void)state;
	assert_int_equal(fr_tpask_parse(good, &ask, why), 0);
	assert_int_equal(ask.kind, FR_UP_uprobe);
	assert_int_equal(ask.path_sz, strlen("/opt/my tools@1/a.out"));
	assert_memory_equal(ask.place, "main+0x10", ask.place_sz);
	assert_memory_equal(ask.fields, "arg1:u64", ask.fields_sz);
	assert_memory_equal(ask.cond, "arg1 > 2", ask.cond_sz);
	assert_true(ask.rate.step_ns);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fr_tpask_parse(bad[i], &ask, why), -EINVAL);
	for (i = 0; i < sizeof(spaced) / sizeof(spaced[0]); i++) {
		assert_int_equal(fr_tpask_parse(spaced[i], &ask, why), -EINVAL);
		assert_string_equal(why, "a path of mark: has no spaces, @, {, }: use a link to it");
	}
	assert_int_equal(fr_tpask_parse("usdt:/a:p:n{arg1} @1/s", &ask, why), 0);
	assert_memory_equal(ask.place, "p:n", ask.place_sz);
	assert_int_equal(fr_tpask_parse("mark:/opt/a @1/s if name == \"x:y\"", &ask, why), 0);
	assert_int_equal(ask.path_sz, strlen("/opt/a"));
	assert_int_equal(ask.place_sz, 0);
	assert_int_equal(fr_tpask_parse("mark:/opt/a:begin", &ask, why), 0);
	assert_memory_equal(ask.place, "begin", ask.place_sz);
	assert_int_equal(fr_tpask_parse_event("uprobe:a__main if arg1 == 1", &ask, why), 0);
	assert_string_equal(ask.pattern, "uprobe:a__main");
	assert_int_equal(fr_tpask_parse_event("uprobe:/opt/x:f", &ask, why), -EINVAL);
	assert_non_null(strstr(why, "as in uprobe:FILE__PLACE"));
	assert_int_equal(fr_tpask_parse_event("mark:/opt/x", &ask, why), -EINVAL);
	assert_non_null(strstr(why, "as in mark:FILE__PLACE"));
	assert_int_equal(fr_tpask_parse_event("tp:sched:sched_switch", &ask, why), 0);
	assert_string_equal(ask.pattern, "sched:sched_switch");
	assert_int_equal(ask.kind, FR_UP_KIND_CNT);
}

static void test_names(void **state)
{
	char name[FR_NAME_MAX + 1], other[FR_NAME_MAX + 1], full[3 * FR_NAME_MAX], system[FR_NAME_MAX + 1];
	static const char long_name[] = "_ZN4aaaa4bbbb4cccc4dddd4eeee4ffff4gggg4hhhh4iiii4jjjj4kkkkEv";
	const char *part;

	(void)state;
	fr_up_name(FR_UP_uprobe, "/lib/libc.so.6", "malloc", name);
	assert_string_equal(name, "libc__malloc");
	fr_up_name(FR_UP_uprobe, "/usr/bin/7z", "main+0x10", name);
	assert_string_equal(name, "_7z__main_0x10");
	fr_up_name(FR_UP_uretprobe, "/usr/bin/x-y", long_name, name);
	fr_up_name(FR_UP_uretprobe, "/usr/bin/x-y", "_ZN4aaaa4bbbb4cccc4dddd4eeee4ffff4gggg4hhhh4iiii4jjjj4kkkkEi", other);
	assert_string_not_equal(name, other);
	assert_true(strlen("uretprobe:") + strlen(name) <= FR_NAME_MAX);
	fr_tp_name(full, sizeof(full), "uprobe", "a__b");
	assert_string_equal(full, "uprobe:a__b");
	assert_true(fr_tp_split(full, system, &part));
	assert_string_equal(system, "uprobe");
	assert_string_equal(part, "a__b");
	fr_tp_name(full, sizeof(full), "sched", "sched_switch");
	assert_string_equal(full, "tp:sched:sched_switch");
	assert_true(fr_tp_split(full, system, &part));
	assert_string_equal(system, "sched");
	assert_false(fr_tp_split("sched_switch", system, &part));
	assert_false(fr_tp_is_name("uprobes:x"));
}

static void test_refused(void **state)
{
	static const struct {
		u32 kind;
		const char *text, *why;
	} bad[] = {
		{FR_UP_uprobe, "arg1", "has no type"},
		{FR_UP_uprobe, "arg1:", "has no type"},
		{FR_UP_uprobe, "arg9:u64", "arg1 to arg"},
		{FR_UP_uprobe, "arg0:u64", "arg1 to arg"},
		{FR_UP_uprobe, "arg10:u64", "arg1 to arg"},
		{FR_UP_uprobe, "ret:u64", "arg1 to arg"},
		{FR_UP_uprobe, "arg1:sting", "no type 'sting'"},
		{FR_UP_uprobe, "arg1:u64,arg1:str", "twice"},
		{FR_UP_uretprobe, "arg1:u64", "where a function returns"},
	};
	struct fr_up_field field[FR_UP_ARG_MAX];
	char why[FR_UP_WHY_SZ];
	u32 i, cnt;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(fr_up_fields(bad[i].kind, bad[i].text, strlen(bad[i].text), field, &cnt, why), -EINVAL);
		assert_non_null(strstr(why, bad[i].why));
	}
}

/* The format is one that the reader of the kernel's takes, with these fields, and its words are those of a record. */
static void test_format(void **state)
{
	static const char text[] = "arg3:s8, arg1:u64 arg2:str\targ4:ptr,arg5:u16";
	struct fr_up_field field[FR_UP_ARG_MAX];
	char why[FR_UP_WHY_SZ];
	struct fr_tpformat *t;
	struct fr_tp conf;
	struct fr_up up;
	u8 rec[256] = {};
	char *format;
	u32 cnt, i, word;
	size_t sz;
	u64 v;

	(void)state;
	assert_int_equal(fr_up_fields(FR_UP_uprobe, text, strlen(text), field, &cnt, why), 0);
	assert_int_equal(cnt, 6);
	assert_int_equal(fr_up_layout(field, cnt, &up), 0);
	assert_false(up.is_return);
	assert_true(up.faulted && up.faulted + 4u == up.fixed_sz);
	format = fr_up_format("a__b", 60000, field, cnt, &up, &sz);
	assert_non_null(format);
	assert_int_equal(fr_tpformat_new("uprobe", "a__b", format, sz, &t), 0);
	assert_int_equal(fr_tpformat_field_cnt(t), 7);
	for (i = 0; i < cnt; i++) {
		struct fr_tpfield f = fr_tpformat_field(t, i);

		assert_string_equal(f.name, field[i].name);
		assert_int_equal(f.off, FR_TP_HEAD_SZ + up.arg[i].to);
		assert_int_equal(f.sz, up.arg[i].to_sz ?: 4);
		assert_int_equal(f.is_text, !up.arg[i].to_sz);
	}
	assert_int_equal(fr_tpformat_conf(t, &conf), 0);
	assert_int_equal(conf.fixed_sz, up.fixed_sz);
	assert_int_equal(conf.loc_cnt, 1);

	v = 0x1234;
	memcpy(rec + FR_TP_HEAD_SZ + up.arg[0].to, &v, 8);
	rec[FR_TP_HEAD_SZ + up.arg[1].to] = (u8)-3;
	v = 1ULL << 40;
	memcpy(rec + FR_TP_HEAD_SZ + up.arg[2].to, &v, 8);
	word = (FR_TP_HEAD_SZ + up.fixed_sz) | 3u << 16;
	memcpy(rec + FR_TP_HEAD_SZ + up.arg[3].to, &word, 4);
	memcpy(rec + FR_TP_HEAD_SZ + up.fixed_sz, "hi", 3);
	word = 1u << 3;
	memcpy(rec + FR_TP_HEAD_SZ + up.faulted, &word, 4);
	assert_string_equal(fr_tpformat_text(t, rec, FR_TP_HEAD_SZ + up.fixed_sz + 3),
			    "ip=0x1234 arg3=-3 arg1=1099511627776 arg2=\"hi\" arg4=0x0 arg5=0 faulted=arg2");
	memset(rec + FR_TP_HEAD_SZ + up.faulted, 0, 4);
	assert_string_equal(fr_tpformat_text(t, rec, FR_TP_HEAD_SZ + up.fixed_sz + 3),
			    "ip=0x1234 arg3=-3 arg1=1099511627776 arg2=\"hi\" arg4=0x0 arg5=0");
	fr_tpformat_free(t);
	free(format);

	assert_int_equal(fr_up_fields(FR_UP_uretprobe, NULL, 0, field, &cnt, why), 0);
	assert_int_equal(cnt, 3);
	assert_int_equal(fr_up_layout(field, cnt, &up), 0);
	assert_true(up.is_return && !up.faulted);
	assert_string_equal(field[1].name, "duration_ns");
	assert_string_equal(field[2].name, "ret");
}

/* This program's file; of a /proc/PID/exe valgrind has its own. */
static void upfile_me(char me[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", me, PATH_MAX - 1);

	assert_true(len > 0);
	me[len] = 0;
}

/* Where an instruction begins is objdump's to say: nothing else is ever taken, and something is. */
static void test_places(void **state)
{
	char why[FR_UPFILE_WHY_SZ], line[512], command[PATH_MAX + 100], me[PATH_MAX];
	bool starts[512] = {};
	struct fr_upfile *f;
	u64 off, first = 0, at, begin;
	u32 taken = 0;
	FILE *dump;

	(void)state;
	upfile_me(me);
	snprintf(command, sizeof(command), "objdump -d --no-show-raw-insn --disassemble=fr_test_place '%s'", me);
	dump = popen(command, "r");
	assert_non_null(dump);
	while (fgets(line, sizeof(line), dump))
		if (sscanf(line, " %llx:\t", (unsigned long long *)&at) == 1 && strchr(line, '\t')) {
			first = first ?: at;
			if (at - first < 512)
				starts[at - first] = true;
		}
	pclose(dump);
	if (!first) {
		print_message("skipped: objdump is not installed\n");
		skip();
	}
	assert_int_equal(fr_upfile_open(me, &f, why), 0);
	assert_int_equal(fr_upfile_func(f, "fr_test_place", 0, &begin, why), 0);
	for (off = 1; off < 512; off++)
		if (!fr_upfile_func(f, "fr_test_place", off, &at, why)) {
			assert_true(starts[off]);
			assert_int_equal(at, begin + off);
			taken++;
		}
	assert_true(taken > 0);
	assert_int_equal(fr_upfile_func(f, "fr_test_plaec", 0, &at, why), -EINVAL);
	assert_non_null(strstr(why, "did you mean fr_test_place?"));
	assert_false(fr_upfile_is_go(f));
	fr_upfile_close(f);
	assert_int_equal(fr_upfile_open("/dev/null", &f, why) < 0, 1);
	assert_int_equal(fr_upfile_open("/etc/passwd", &f, why), -EINVAL);
}

static int count_function(void *arg, const char *symbol)
{
	(void)symbol;
	++*(u32 *)arg;
	return 0;
}

/* A file that is shortened while it is looked at has fewer functions, or none; what has its name by then is another one. */
static void test_changed(void **state)
{
	char why[FR_UPFILE_WHY_SZ], me[PATH_MAX], command[3 * PATH_MAX], dir[] = "/tmp/frtest-upfile-XXXXXX", file[64],
									 other[64];
	struct fr_upfile *f;
	struct stat was, is;
	u32 cnt = 0;
	u64 at;
	int fd;

	(void)state;
	upfile_me(me);
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/a", dir);
	snprintf(other, sizeof(other), "%s/b", dir);
	snprintf(command, sizeof(command), "cp '%s' %s && cp /bin/true %s", me, file, other);
	assert_int_equal(system(command), 0);
	assert_int_equal(stat(file, &was), 0);
	assert_int_equal(fr_upfile_open(file, &f, why), 0);
	assert_int_equal(fr_upfile_func(f, "fr_test_place", 0, &at, why), 0);
	assert_int_equal(rename(other, file), 0);
	fd = fr_upfile_fd(f);
	assert_true(fd >= 0 && !fstat(fd, &is));
	assert_int_equal(is.st_ino, was.st_ino);
	close(fd);
	fr_upfile_close(f);

	snprintf(command, sizeof(command), "cp '%s' %s", me, other);
	assert_int_equal(system(command), 0);
	assert_int_equal(fr_upfile_open(other, &f, why), 0);
	assert_int_equal(truncate(other, 4096), 0);
	assert_int_equal(fr_upfile_func(f, "fr_test_place", 4, &at, why), -EINVAL);
	assert_int_equal(fr_upfile_each(f, count_function, &cnt), 0);
	assert_int_equal(cnt, 0);
	fr_upfile_close(f);
	unlink(file);
	unlink(other);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asks),   cmocka_unit_test(test_names),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_format), cmocka_unit_test(test_places), cmocka_unit_test(test_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
