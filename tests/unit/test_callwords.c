/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arguments of system calls in words: known ones of each kind and machine, bits without a word, and that nothing is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/schema/callwords.h"
#include "base/schema/flagnames.h"
#include "base/schema/syscalls.h"
#include "session.h"

#define CNT(a) (sizeof(a) / sizeof((a)[0]))

struct point {
	const char *arch, *call;
	u32 abi, arg;
	u64 args[FR_CALL_ARG_MAX];
	const char *text, *named; /* named: NULL, as text; "": a number */
};

static const struct point points[] = {
	{"x86_64", "openat", 0, 0, {0xffffff9c}, "AT_FDCWD", NULL},
	{"x86_64", "openat", 0, 0, {(u64)-100}, "AT_FDCWD", NULL},
	{"x86_64", "openat", 0, 0, {3}, "3", ""},
	{"x86_64", "openat", 0, 1, {3, 0x1000}, "0x1000", ""},
	{"x86_64", "openat", 0, 1, {3, 0}, "NULL", ""},
	{"x86_64", "openat", 0, 2, {0, 0, 0}, "O_RDONLY", NULL},
	{"x86_64", "openat", 0, 2, {0, 0, 01101}, "O_WRONLY|O_CREAT|O_TRUNC", NULL},
	{"x86_64", "openat", 0, 2, {0, 0, 020200002}, "O_RDWR|O_TMPFILE", NULL},
	{"x86_64", "openat", 0, 2, {0, 0, 0x80000001}, "O_WRONLY|0x80000000", NULL},
	{"x86_64", "openat", 0, 2, {0, 0, 0xabcd00000000}, "O_RDONLY", NULL}, /* it takes an int */
	{"x86_64", "openat", 0, 3, {0, 0, 0, 0640}, "0640", ""},
	{"x86_64", "openat", 0, 3, {0, 0, 0, 0}, "0", ""},
	{"aarch64", "openat", 0, 2, {0, 0, 040000}, "O_RDONLY|O_DIRECTORY", NULL},
	{"aarch64", "openat", 0, 2, {0, 0, 020040002}, "O_RDWR|O_TMPFILE", NULL},
	{"x86_64", "open", 1, 1, {0, 0200000}, "O_RDONLY|O_DIRECTORY", NULL},
	{"x86_64", "mmap", 0, 2, {0, 0, 0}, "PROT_NONE", NULL},
	{"x86_64", "mmap", 0, 2, {0, 0, 5}, "PROT_READ|PROT_EXEC", NULL},
	{"x86_64", "mmap", 0, 3, {0, 0, 0, 0x22}, "MAP_PRIVATE|MAP_ANONYMOUS", NULL},
	{"x86_64", "mmap", 0, 3, {0, 0, 0, 0x1c040022}, "MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB|0x1c000000", NULL},
	{"x86_64", "mmap", 0, 4, {0, 0, 0, 0, 0xffffffff}, "-1", ""},
	{"x86_64", "mmap", 0, 5, {0, 0, 0, 0, 0, (u64)-4096}, "-4096", ""},
	{"x86_64", "mmap2", 1, 3, {0, 0, 0, 0x11}, "MAP_SHARED|MAP_FIXED", NULL},
	{"x86_64", "clone", 0, 0, {0x1200011}, "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD", NULL},
	{"x86_64", "clone", 0, 0, {0x7f}, "0x7f", ""},
	{"x86_64", "clone", 0, 4, {0, 0, 0, 0, 0x7000}, "0x7000", ""},
	{"x86_64", "futex", 0, 1, {0, 0}, "FUTEX_WAIT", NULL},
	{"x86_64", "futex", 0, 1, {0, 0x189}, "FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME", NULL},
	{"x86_64", "futex", 0, 5, {0, 0x189, 0, 0, 0, 0xffffffff}, "FUTEX_BITSET_MATCH_ANY", NULL},
	{"x86_64", "futex", 0, 5, {0, 0x80, 0, 0, 0, 0xffffffff}, "0xffffffff", ""},
	{"x86_64", "epoll_ctl", 0, 1, {4, 1}, "EPOLL_CTL_ADD", NULL},
	{"x86_64", "epoll_ctl", 0, 1, {4, 77}, "77", ""},
	{"x86_64", "epoll_wait", 0, 3, {4, 0, 0, 5000}, "5000ms", ""},
	{"x86_64", "epoll_wait", 0, 3, {4, 0, 0, 0xffffffff}, "-1", ""},
	{"x86_64", "poll", 0, 2, {0, 0, 0}, "0ms", ""},
	{"x86_64", "socket", 0, 0, {10}, "AF_INET6", NULL},
	{"x86_64", "socket", 0, 1, {2, 0x80801}, "SOCK_STREAM|SOCK_NONBLOCK|SOCK_CLOEXEC", NULL},
	{"x86_64", "socket", 0, 2, {2, 1, 6}, "IPPROTO_TCP", NULL},
	{"x86_64", "socket", 0, 2, {16, 3, 6}, "NETLINK_XFRM", NULL},
	{"x86_64", "socket", 0, 2, {1, 1, 6}, "6", ""},
	{"x86_64", "fcntl", 0, 1, {3, 4}, "F_SETFL", NULL},
	{"x86_64", "fcntl", 0, 2, {3, 4, 04000}, "O_RDONLY|O_NONBLOCK", NULL},
	{"x86_64", "fcntl", 0, 2, {3, 2, 1}, "FD_CLOEXEC", NULL},
	{"x86_64", "fcntl", 0, 2, {3, 6, 0x7000}, "0x7000", ""},
	{"x86_64", "fcntl64", 1, 1, {3, 13}, "F_SETLK64", NULL},
	{"x86_64", "ioctl", 0, 1, {3, 0x5401}, "TCGETS", NULL},
	{"x86_64", "ioctl", 0, 1, {3, 0x541b}, "FIONREAD", NULL},
	{"x86_64", "ioctl", 0, 1, {3, 0x12345678}, "0x12345678", ""},
	{"x86_64", "ioctl", 0, 1, {3, 0}, "0", ""},
	{"x86_64", "kill", 0, 1, {1, 9}, "SIGKILL", NULL},
	{"x86_64", "kill", 0, 1, {1, 0}, "0", ""},
	{"x86_64", "kill", 0, 0, {0xffffffff, 9}, "-1", ""},
	{"x86_64", "madvise", 0, 2, {0, 0, 4}, "MADV_DONTNEED", NULL},
	{"x86_64", "lseek", 0, 1, {3, (u64)-1, 1}, "-1", ""},
	{"x86_64", "lseek", 1, 1, {3, 0xffffffff, 1}, "-1", ""},
	{"x86_64", "lseek", 0, 2, {3, 0, 1}, "SEEK_CUR", NULL},
	{"x86_64", "read", 0, 2, {3, 0, 1ULL << 40}, "1099511627776", ""},
	{"x86_64", "statx", 0, 2, {0, 0, 0x100}, "AT_STATX_SYNC_AS_STAT|AT_SYMLINK_NOFOLLOW", NULL},
	{"x86_64", "access", 0, 1, {0, 0}, "F_OK", NULL},
	{"x86_64", "setsockopt", 0, 2, {3, 6, 1}, "TCP_NODELAY", NULL},
	{"x86_64", "getrusage", 0, 0, {0xffffffff}, "RUSAGE_CHILDREN", NULL},
	{"x86_64", "prctl", 0, 1, {1, 9}, "SIGKILL", NULL},
	{"x86_64", "waitid", 0, 0, {1}, "P_PID", NULL},
};

static const struct fr_syscall *callwords_call(const char *arch, u32 abi, const char *name)
{
	const struct fr_syscall *c = fr_syscalls_at(fr_syscalls_find(arch, abi), fr_syscall_nr(arch, abi, name));

	assert_non_null(c);
	return c;
}

static void test_points(void **state)
{
	const struct point *p;
	char text[FR_CALLWORDS_SZ + 1];

	(void)state;
	for (p = points; p < points + CNT(points); p++) {
		const struct fr_signature *s = callwords_call(p->arch, p->abi, p->call)->signature;

		assert_non_null(s->args);
		*fr_callwords_put(s, p->args, FR_CALL_ARG_MAX, p->arg, text) = 0;
		assert_string_equal(text, p->text);
		*fr_callwords_put_named(s, p->args, FR_CALL_ARG_MAX, p->arg, text) = 0;
		assert_string_equal(text, p->named ?: p->text);
	}
}

/* The words' bits and the number behind them are the argument again. */
static u64 value_of(char *text)
{
	u64 sum = 0;
	char *word, *rest;
	s64 v;

	for (word = strtok_r(text, "|", &rest); word; word = strtok_r(NULL, "|", &rest)) {
		if (*word >= '0' && *word <= '9') {
			sum |= strtoull(word, NULL, 0);
			continue;
		}
		assert_int_equal(fr_flag_find("x86_64", word, &v), 0);
		sum |= (u64)v;
	}
	return sum;
}

static void test_nothing_is_lost(void **state)
{
	static const struct {
		const char *call;
		u32 arg;
	} of[] = {{"openat", 2}, {"mmap", 2}, {"mmap", 3}, {"unshare", 0}};
	u64 args[FR_CALL_ARG_MAX] = {0};
	char text[FR_CALLWORDS_SZ + 1];
	u32 i, v = 1;
	size_t n;

	(void)state;
	for (n = 0; n < CNT(of); n++) {
		for (i = 0; i < 20000; i++) {
			v = v * 1103515245 + 12345;
			args[of[n].arg] = v;
			*fr_callwords_put(callwords_call("x86_64", 0, of[n].call)->signature, args, FR_CALL_ARG_MAX, of[n].arg,
					  text) = 0;
			assert_int_equal(value_of(text), v);
		}
	}
}

/* Any argument of any call, whatever the registers: within the room. */
static void test_room(void **state)
{
	static const u64 values[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, 1ULL << 63, UINT64_MAX};
	static const char *const arch[] = {"x86_64", "x86_64", "aarch64"};
	char text[FR_CALLWORDS_SZ];
	u64 args[FR_CALL_ARG_MAX];
	u32 t, nr, arg, cnt = 0;
	size_t i, j;

	(void)state;
	for (t = 0; t < CNT(arch); t++) {
		for (nr = 0; nr < 512; nr++) {
			const struct fr_syscall *c = fr_syscalls_at(fr_syscalls_find(arch[t], t == 1), nr);

			for (arg = 0; c && c->signature->args && arg < (u32)c->args; arg++) {
				assert_int_equal(strlen(c->signature->args[arg].name), c->signature->args[arg].name_len);
				for (i = 0; i < CNT(values); i++) {
					for (j = 0; j < FR_CALL_ARG_MAX; j++)
						args[j] = values[(i + (j != arg)) % CNT(values)];
					assert_in_range(fr_callwords_put(c->signature, args, FR_CALL_ARG_MAX, arg, text) - text,
							1, FR_CALLWORDS_SZ);
					cnt++;
				}
			}
		}
	}
	assert_in_range(cnt, 20000, 100000);
}

/* What the programs are told of each machine's calls: the texts they look at. */
static void test_texts(void **state)
{
	static const struct {
		const char *call;
		u32 first, second, flag;
	} want[] = {
		{"openat", 2, 0, 0},
		{"execve", 1, 0, 0},
		{"renameat2", 2, 4, 0},
		{"linkat", 2, 4, 0},
		{"symlinkat", 1, 3, 0},
		{"mount", 1, 2, 0}, /* and a third, the type, which is left out */
		{"setxattr", 1, 2, 0},
		{"connect", 2, 0, FR_CALL_TEXT_ADDR},
		{"bind", 2, 0, FR_CALL_TEXT_ADDR},
		{"sendto", 5, 0, FR_CALL_TEXT_ADDR},
		{"acct", 1, 0, 0},
		{"sethostname", 0, 0, 0}, /* a text that has a size, and no end */
		{"setdomainname", 0, 0, 0},
		{"read", 0, 0, 0},
		{"sendmsg", 0, 0, 0},
	};
	static const struct {
		const char *arch;
		u32 abi;
	} machine[] = {{"x86_64", 0}, {"aarch64", 0}, {"x86_64", 1}};
	u32 m, i;

	(void)state;
	for (m = 0; m < CNT(machine); m++) {
		const struct fr_syscalls *calls = fr_syscalls_find(machine[m].arch, machine[m].abi);
		u32 cnt = 0;

		for (i = 0; i < CNT(want); i++) {
			int nr = fr_syscall_nr(machine[m].arch, machine[m].abi, want[i].call);

			assert_true(nr >= 0);
			assert_int_equal(fr_syscall_texts(fr_syscalls_at(calls, nr)),
					 want[i].first | want[i].second << FR_CALL_TEXT2 | want[i].flag);
		}
		for (i = 0; i < calls->cnt; i++)
			cnt += fr_syscalls_at(calls, i) && fr_syscall_texts(&calls->call[i]);
		assert_true(cnt > 50);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_nothing_is_lost),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
