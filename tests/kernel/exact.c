/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exact: makes exactly so many system calls and tells which, with arguments and results, as JSON. A marker call before and
 * after: what lies between them in a recording must be that list. No call is made while it counts but the counted ones.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NR_MARK	   1001 /* no such call: takes six arguments, gives ENOSYS */
#define NR_UNKNOWN 1002
#define KIND_CNT   17

struct call {
	int abi;
	long id;
	unsigned arg_cnt;
	unsigned long arg[6];
	long ret;
};

static long raw(long id, const unsigned long *a)
{
	long ret = syscall(id, a[0], a[1], a[2], a[3], a[4], a[5]);

	return ret == -1 ? -errno : ret;
}

static void mark(unsigned long which)
{
	const unsigned long a[6] = {0x666c69676874, which};

	raw(NR_MARK, a);
}

static void native(struct call *c)
{
	c->ret = raw(c->id, c->arg);
}

#ifdef __x86_64__
/* getpid of the 32-bit table: its number is writev's in the other. */
static void compat(struct call *c)
{
	long ret = 20;

	asm volatile("int $0x80" : "+a"(ret) : : "memory", "r8", "r9", "r10", "r11");
	c->ret = ret;
}
#endif

static void prepare(struct call *c, unsigned i, int with_compat)
{
	static char buf[64];
	const struct call kinds[KIND_CNT] = {
		{.id = SYS_getppid, .arg_cnt = 0},
		{.id = SYS_close, .arg_cnt = 1, .arg = {~0u}},
		{.id = SYS_dup3, .arg_cnt = 3, .arg = {1000 + i, 1001, 0}},
		{.id = SYS_lseek, .arg_cnt = 3, .arg = {12345, i, 7}},
		{.id = SYS_mmap, .arg_cnt = 6, .arg = {0, 0, PROT_READ, MAP_PRIVATE, 77, (unsigned long)i << 12}},
		{.id = NR_UNKNOWN, .arg_cnt = 6, .arg = {i, ~0ul, 1ul << 63, 3, 0x8000000000000000ul | i, 5}},
		{.id = SYS_write, .arg_cnt = 3, .arg = {999, (unsigned long)buf, i}},
		{.id = SYS_getpgid, .arg_cnt = 1, .arg = {0}},
		/* what decides which form a record has (bpf/short.h) */
		{.id = SYS_close, .arg_cnt = 1, .arg = {1ul << 32 | 999}},
		{.id = SYS_munlock, .arg_cnt = 2, .arg = {0x7fff, 1ul << 47 | i}},
		{.id = SYS_munlock, .arg_cnt = 2, .arg = {0x8000 + i, 0x8000 + i + 1}},
		{.id = SYS_lseek, .arg_cnt = 3, .arg = {12345, 1ul << 48, 7}},
		{.id = SYS_lseek, .arg_cnt = 3, .arg = {0x12345678 + i, 0x7ffe, 0xffffffff}},
		{.id = SYS_pread64, .arg_cnt = 4, .arg = {999, (1ul << 48) - 1, 1ul << 32, ~0ul - i}},
		{.id = SYS_splice, .arg_cnt = 6, .arg = {(1ul << 48) - 1, (1ul << 48) - 1, 3, 4, 5, i}},
		{.id = SYS_brk, .arg_cnt = 1, .arg = {0}},
		{.abi = with_compat, .id = with_compat ? 20 : SYS_getuid, .arg_cnt = 0},
	};

	*c = kinds[i % KIND_CNT];
}

static void print(const struct call *c)
{
	unsigned i;

	printf("{\"abi\":%d,\"id\":%ld,\"ret\":%ld,\"args\":[", c->abi, c->id, c->ret);
	for (i = 0; i < c->arg_cnt; i++)
		printf("%s%lu", i ? "," : "", c->arg[i]);
	printf("]}\n");
}

int main(int argc, char **argv)
{
	unsigned cnt = argc > 1 ? strtoul(argv[1], NULL, 10) : 100, i;
	int with_compat = argc > 2 && !strcmp(argv[2], "compat");
	struct call *calls = calloc(cnt, sizeof(*calls));

	if (!calls)
		return 1;
	for (i = 0; i < cnt; i++)
		prepare(&calls[i], i, with_compat);
	mark(1);
	for (i = 0; i < cnt; i++)
#ifdef __x86_64__
		if (calls[i].abi)
			compat(&calls[i]);
		else
#endif
			native(&calls[i]);
	mark(2);
	for (i = 0; i < cnt; i++)
		print(&calls[i]);
	free(calls);
	return 0;
}
