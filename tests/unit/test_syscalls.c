/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of system calls: known points of each, what is unknown, and this machine's own headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "base/schema/syscalls.h"

#define CNT(a) (sizeof(a) / sizeof((a)[0]))

struct point {
	const char *arch;
	u32 abi;
	int nr;
	const char *name;
	int args;
};

static const struct point points[] = {
	{"x86_64", 0, 0, "read", 3},
	{"x86_64", 0, 9, "mmap", 6},
	{"x86_64", 0, 15, "rt_sigreturn", 0},
	{"x86_64", 0, 17, "pread64", 4},
	{"x86_64", 0, 39, "getpid", 0},
	{"x86_64", 0, 110, "getppid", 0},
	{"x86_64", 0, 166, "umount2", 2},
	{"x86_64", 0, 257, "openat", 4},
	{"x86_64", 0, 461, "lsm_list_modules", 3},
	{"x86_64", 1, 4, "write", 3},
	{"x86_64", 1, 20, "getpid", 0},
	{"x86_64", 1, 90, "mmap", 1},
	{"x86_64", 1, 180, "pread64", 5},
	{"x86_64", 1, 192, "mmap2", 6},
	{"x86_64", 1, 199, "getuid32", 0},
	{"x86_64", 1, 403, "clock_gettime64", 2},
	{"x86_64", 1, 339, "fanotify_mark", 6},
	{"x86_64", 1, 17, "break", -1},
	{"aarch64", 0, 25, "fcntl", 3},
	{"aarch64", 0, 56, "openat", 4},
	{"aarch64", 0, 79, "newfstatat", 4},
	{"aarch64", 0, 139, "rt_sigreturn", 0},
	{"aarch64", 0, 173, "getppid", 0},
	{"aarch64", 0, 222, "mmap", 6},
	{"aarch64", 0, 435, "clone3", 2},
};

static void test_points(void **state)
{
	const struct point *p;

	(void)state;
	for (p = points; p < points + CNT(points); p++) {
		assert_non_null(fr_syscall_name(p->arch, p->abi, p->nr));
		assert_string_equal(fr_syscall_name(p->arch, p->abi, p->nr), p->name);
		assert_int_equal(fr_syscall_nr(p->arch, p->abi, p->name), p->nr);
		assert_int_equal(fr_syscall_args(p->arch, p->abi, p->nr), p->args);
	}
}

static const s64 unknown_nrs[] = {-1, -4096, 400, 100000, 1 << 30, 0x40000000LL + 39, INT64_MAX, INT64_MIN};

static void test_unknown(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < CNT(unknown_nrs); i++) {
		assert_null(fr_syscall_name("x86_64", 0, unknown_nrs[i]));
		assert_int_equal(fr_syscall_args("x86_64", 0, unknown_nrs[i]), -1);
	}
	assert_int_equal(fr_syscall_nr("x86_64", 0, "no_such_call"), -1);
	assert_int_equal(fr_syscall_nr("x86_64", 0, ""), -1);
	assert_null(fr_syscall_name("riscv64", 0, 0));
	assert_null(fr_syscall_name("aarch64", 1, 0));
	assert_null(fr_syscall_name("x86_64", 2, 0));
	assert_null(fr_syscall_name("", 0, 0));
	assert_null(fr_syscall_name(NULL, 0, 0));
	assert_int_equal(fr_syscall_nr(NULL, 0, "read"), -1);
}

/* Each table: a name leads back to its number, and no call takes more than six arguments. */
static int walk(const char *arch, u32 abi)
{
	int nr, cnt = 0;

	for (nr = 0; nr < 1024; nr++) {
		const char *name = fr_syscall_name(arch, abi, nr);

		if (!name)
			continue;
		assert_int_equal(fr_syscall_nr(arch, abi, name), nr);
		assert_in_range(fr_syscall_args(arch, abi, nr) + 1, 0, 7);
		cnt++;
	}
	return cnt;
}

static void test_walk(void **state)
{
	(void)state;
	assert_in_range(walk("x86_64", 0), 360, 600);
	assert_in_range(walk("x86_64", 1), 430, 600);
	assert_in_range(walk("aarch64", 0), 300, 600);
}

/* What the C library was built with on this very machine. */
static void test_host(void **state)
{
	static const struct {
		const char *name;
		int nr;
	} host[] = {{"read", SYS_read},	  {"getppid", SYS_getppid}, {"openat", SYS_openat},
		    {"mmap", SYS_mmap},	  {"execve", SYS_execve},   {"fcntl", SYS_fcntl},
		    {"bpf", SYS_bpf},	  {"clone3", SYS_clone3},   {"sendfile", SYS_sendfile},
		    {"lseek", SYS_lseek}, {"statfs", SYS_statfs},   {"exit_group", SYS_exit_group}};
	struct utsname u;
	size_t i;

	(void)state;
	assert_int_equal(uname(&u), 0);
	if (!fr_syscall_name(u.machine, 0, 0)) {
		print_message("skipped: no system calls of %s are known\n", u.machine);
		skip();
	}
	for (i = 0; i < CNT(host); i++)
		assert_int_equal(fr_syscall_nr(u.machine, 0, host[i].name), host[i].nr);
}

/* Arm's are in no table. */
static void test_odd(void **state)
{
	static const char *const arch[] = {"x86_64", "aarch64"};
	struct fr_syscall_odd o;
	u32 i, abi;

	(void)state;
	for (i = 0; i < CNT(arch); i++) {
		fr_syscall_odd(arch[i], &o);
		for (abi = 0; abi < FR_SYSCALL_ABIS; abi++) {
			assert_true(fr_syscall_restarts(&o, o.restart[abi], abi));
			assert_true(fr_syscall_execs(&o, o.execve[abi], abi) && fr_syscall_execs(&o, o.execveat[abi], abi));
			assert_false(fr_syscall_execs(&o, o.restart[abi], abi) || fr_syscall_execs(&o, o.execve[!abi], abi));
			if (!fr_syscalls_find(arch[i], abi))
				continue;
			assert_int_equal(fr_syscall_nr(arch[i], abi, "restart_syscall"), o.restart[abi]);
			assert_int_equal(fr_syscall_nr(arch[i], abi, "execve"), o.execve[abi]);
			assert_int_equal(fr_syscall_nr(arch[i], abi, "execveat"), o.execveat[abi]);
		}
	}
	fr_syscall_odd(NULL, &o);
	assert_false(fr_syscall_restarts(&o, -1, 0) || fr_syscall_execs(&o, -1, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points), cmocka_unit_test(test_unknown), cmocka_unit_test(test_walk),
		cmocka_unit_test(test_odd),    cmocka_unit_test(test_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
