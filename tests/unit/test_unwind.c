/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinding: this program's own stack, beside what the C library finds; and what is rigged.
 *
 * test_unwind time: how long it takes, files opened and closed each time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/cfi.h"
#include "live/snapshot/unwind.h"
#include "sys/now.h"

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

#ifdef __x86_64__

/* ---- this program's own stack ---- */

#define CALLS_MAX 200 /* of calls() */

static struct fr_ustack taken;
static void *told[CALLS_MAX + 8]; /* what the C library says, from the caller of whoever takes it on */
static int told_cnt;

/* The number of a name. Mappings of one file follow each other. */
static u32 note_name(u64 ino, const char *path)
{
	u32 i = taken.memory.name_cnt;
	struct fr_ustack_name *n = &taken.memory.name[i];

	if (i && !strcmp(n[-1].path, path))
		return i;
	if (!*path || i == FR_USTACK_NAME_CNT)
		return 0;
	n->ino = ino;
	strcpy(n->path, path);
	return ++taken.memory.name_cnt;
}

static void note_map(const char *line)
{
	struct fr_ustack_map *m = &taken.map[taken.map_cnt];
	unsigned long long start, end, off, ino;
	char perms[8], path[256] = "";

	if (sscanf(line, "%llx-%llx %7s %llx %*s %llu %255s", &start, &end, perms, &off, &ino, path) < 5)
		fail();
	if (taken.map_cnt == FR_USTACK_MAP_CNT)
		return;
	*m = (struct fr_ustack_map){.start = start, .end = end, .off = off, .name = note_name(ino, path)};
	m->flags = perms[2] == 'x' ? FR_MAP_EXEC : 0;
	taken.map_cnt++;
}

static void note_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[1024];

	taken.map_cnt = 0;
	taken.memory.name_cnt = 0;
	while (fgets(line, sizeof(line), f))
		note_map(line);
	fclose(f);
}

/* As BPF does: whole pages, through a descriptor, since a sanitizer forbids to read a stack as a whole. */
static void copy_pages(u64 sp)
{
	u64 at = sp & ~(u64)(FR_USTACK_PAGE_SZ - 1);
	int fd = open("/proc/self/mem", O_RDONLY);

	for (; taken.page_cnt < FR_USTACK_PAGE_CNT; at += FR_USTACK_PAGE_SZ) {
		if (pread(fd, taken.bytes + taken.page_cnt * FR_USTACK_PAGE_SZ, FR_USTACK_PAGE_SZ, at) != FR_USTACK_PAGE_SZ)
			break;
		taken.page[taken.page_cnt++] = at;
	}
	assert_true(taken.page_cnt > 0);
	close(fd);
}

static void copy_stack(void)
{
	taken.page_cnt = 0;
	copy_pages(taken.reg[FR_CFI_RSP]);
	taken.mono_ns = fr_now_ns(CLOCK_MONOTONIC);
}

/* Where a byte of the stack is kept. */
static u8 *byte_at(u64 addr)
{
	assert_true(addr >= taken.page[0] && addr - taken.page[0] < taken.page_cnt * FR_USTACK_PAGE_SZ);
	return taken.bytes + (addr - taken.page[0]);
}

/* Leave only what is below an address. */
static void end_at(u64 addr)
{
	u64 beyond = taken.page[0] + taken.page_cnt * FR_USTACK_PAGE_SZ - addr;
	u32 i;

	memmove(taken.bytes + beyond, taken.bytes, taken.page_cnt * FR_USTACK_PAGE_SZ - beyond);
	memset(taken.bytes, 0, beyond);
	for (i = 0; i < taken.page_cnt; i++)
		taken.page[i] -= beyond;
}

/* The registers that a function must give back, here. */
#define TAKE_REGS()                                                                                             \
	__asm__ volatile("mov %%rbx, 24(%0)\n\tmov %%rbp, 48(%0)\n\tmov %%rsp, 56(%0)\n\tmov %%r12, 96(%0)\n\t" \
			 "mov %%r13, 104(%0)\n\tmov %%r14, 112(%0)\n\tmov %%r15, 120(%0)\n\t"                   \
			 "lea 0f(%%rip), %%rax\n\tmov %%rax, 128(%0)\n0:"                                       \
			 :                                                                                      \
			 : "r"(taken.reg)                                                                       \
			 : "rax", "memory")

static NOINLINE int take(void)
{
	void *all[CALLS_MAX + 8];
	int cnt = backtrace(all, CALLS_MAX + 8), first = 0;

	while (first < cnt && all[first] != __builtin_return_address(0)) /* a sanitizer has frames of its own */
		first++;
	told_cnt = cnt - first;
	memcpy(told, all + first, told_cnt * sizeof(all[0]));
	note_maps();
	TAKE_REGS();
	copy_stack();
	return told_cnt;
}

static NOINLINE int calls(int depth)
{
	volatile int room = depth;
	int ret = depth ? calls(depth - 1) : take();

	return ret + room - depth;
}

static struct fr_unwound found;

/* That a frame lies in. */
static const struct fr_unwound_file *file_of(u32 frame)
{
	return &found.file[taken.map[found.map[frame] - 1].name - 1];
}

static void is_beginning(u32 least)
{
	u32 i;

	assert_true(found.cnt >= least && found.cnt <= FR_STACK_DEPTH_MAX);
	for (i = 1; i < found.cnt; i++)
		assert_ptr_equal((void *)found.ip[i], told[i - 1]);
}

static void test_itself(void **state)
{
	u32 i;

	(void)state;
	calls(20);
	assert_int_equal(fr_unwind(&taken, -1, &found), 0);
	is_beginning(22);
	assert_int_equal(found.cnt, told_cnt + 1);
	assert_int_equal(found.ip[0], taken.reg[FR_CFI_RIP]);
	for (i = 0; i < 22; i++) {
		assert_int_equal(found.map[i], found.map[0]);
		assert_true(found.map[i] && file_of(i)->is_there && file_of(i)->nr);
	}
}

static void test_deep(void **state)
{
	(void)state;
	calls(CALLS_MAX);
	assert_int_equal(fr_unwind(&taken, -1, &found), 0);
	is_beginning(FR_STACK_DEPTH_MAX);
}

/* As much as there is of it leads to no other frames than all of it. */
static void test_truncated(void **state)
{
	static struct fr_ustack whole;
	u32 all, sz, last = 0;

	(void)state;
	calls(20);
	whole = taken;
	all = whole.page_cnt * FR_USTACK_PAGE_SZ;
	for (sz = 0; sz < all && last < (u32)told_cnt; sz += 40) {
		taken = whole;
		end_at(whole.page[0] + sz);
		assert_int_equal(fr_unwind(&taken, -1, &found), 0);
		is_beginning(1);
		assert_true(found.cnt >= last);
		last = found.cnt;
	}
	assert_true(last > 20);
}

/* Whatever is on it, all frames are code, and there is an end. */
static void test_smashed(void **state)
{
	u32 round, i, k;

	(void)state;
	calls(20);
	srandom(1);
	for (round = 0; round < 200; round++) {
		u32 sz = taken.page_cnt * FR_USTACK_PAGE_SZ;

		for (i = 0; i < sz; i += 8) {
			u64 v = round % 2 ? (u64)told[random() % told_cnt] : taken.page[0] + random() % sz;

			memcpy(taken.bytes + i, &v, sizeof(v));
		}
		assert_int_equal(fr_unwind(&taken, -1, &found), 0);
		assert_true(found.cnt >= 1 && found.cnt <= FR_STACK_DEPTH_MAX);
		for (i = 1; i < found.cnt; i++) {
			for (k = 0; k < taken.map_cnt; k++)
				if (taken.map[k].flags & FR_MAP_EXEC && found.ip[i] >= taken.map[k].start &&
				    found.ip[i] < taken.map[k].end)
					break;
			assert_true(k < taken.map_cnt);
		}
	}
}

static struct fr_unwound_thread thread_told;
static u32 thread_told_cnt;

static void tell_thread(void *arg, const struct fr_unwound_thread *thread)
{
	assert_ptr_equal(arg, &taken);
	thread_told = *thread;
	thread_told_cnt++;
}

/* Tell the second of three threads as if it had this stack, of which so many bytes are kept. */
static void unwind_as_thread(u32 sz)
{
	struct fr_ustack_thread *t = &taken.thread[1];

	taken.scene.thread_cnt = 3;
	memset(taken.scene.thread, 0, sizeof(taken.scene.thread));
	taken.scene.thread[1].flags = FR_SCENE_THREAD_KEPT;
	memcpy(t->reg, taken.reg, sizeof(t->reg));
	t->at = FR_USTACK_THREAD_SZ;
	t->sz = sz;
	memcpy(taken.thread_bytes + t->at, byte_at(taken.reg[FR_CFI_RSP]), sz);
	thread_told_cnt = 0;
	memset(&found, 0, sizeof(found));
	assert_int_equal(fr_unwind_threads(&taken, -1, &found, tell_thread, &taken), 0);
	assert_int_equal(thread_told_cnt, 1);
	assert_int_equal(thread_told.nr, 1);
	assert_int_equal(thread_told.exact, 1);
}

static void *of_a_thread(void *arg)
{
	calls(*(int *)arg);
	return NULL;
}

/* The frames of another thread are those that it would have if it died; as far as its bytes go, and no further than 32. */
static void test_threads(void **state)
{
	int depth[] = {3, 100};
	u32 i, k;

	(void)state;
	for (i = 0; i < 2; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, of_a_thread, &depth[i]), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(fr_unwind(&taken, -1, &found), 0);
		struct fr_unwound whole = found;

		unwind_as_thread(i ? FR_USTACK_PAGE_SZ : 4 * FR_USTACK_PAGE_SZ); /* frames of sanitized builds are large */
		if (i)
			assert_true(thread_told.cnt < whole.cnt && thread_told.cnt <= FR_UNWIND_THREAD_DEPTH &&
				    !thread_told.is_whole);
		else
			assert_true(thread_told.cnt == whole.cnt && thread_told.is_whole);
		for (k = 0; k < thread_told.cnt; k++)
			assert_true(thread_told.ip[k] == whole.ip[k]);
		unwind_as_thread(8);
		assert_true(thread_told.cnt >= 1 && thread_told.cnt <= 2 && !thread_told.is_whole);
	}
}

static NOINLINE void handler(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

	(void)sig;
	(void)info;
	take();
	if (taken.page_cnt > FR_USTACK_OWN_CNT)
		taken.page_cnt = FR_USTACK_OWN_CNT;
	copy_pages(uc->uc_mcontext.gregs[REG_RSP]);
}

#define OTHER_SZ  (16 * FR_USTACK_PAGE_SZ)
#define THREAD_SZ (1u << 20)

static void *interrupted(void *other_stack)
{
	const stack_t other = {.ss_sp = other_stack, .ss_size = OTHER_SZ}, none = {.ss_flags = SS_DISABLE};

	sigaltstack(&other, NULL);
	raise(SIGUSR1);
	sigaltstack(&none, NULL);
	return NULL;
}

/* A handler with a stack of its own, which lies below that of what was interrupted, or above. */
static void test_other_stack(void **state)
{
	struct sigaction act = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	static u8 room[THREAD_SZ + OTHER_SZ] __attribute__((aligned(FR_USTACK_PAGE_SZ)));
	pthread_attr_t attr;
	pthread_t thread;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
	interrupted(room + THREAD_SZ); /* this stack is above all that is the program's */
	assert_int_equal(fr_unwind(&taken, -1, &found), 0);
	is_beginning(5);
	assert_int_equal(found.cnt, told_cnt + 1);
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstack(&attr, room, THREAD_SZ), 0);
	assert_int_equal(pthread_create(&thread, &attr, interrupted, room + THREAD_SZ), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attr);
	assert_int_equal(fr_unwind(&taken, -1, &found), 0);
	is_beginning(5);
	assert_int_equal(found.cnt, told_cnt + 1);
}

/* Keeps a frame pointer, as its frame's size varies; so that what its caller's is decides where the next frame is. */
static NOINLINE int framed(void)
{
	volatile int ret = take();
	volatile char *room = __builtin_alloca(1 + ret);

	room[ret] = 0;
	TAKE_REGS();
	copy_stack();
	return ret;
}

static jmp_buf out;

static NOINLINE __attribute__((noreturn)) void leaves(void)
{
	take();
	longjmp(out, 1);
}

/* It ends with a call, so that goes on in whatever function is behind it, which has no frame there yet. */
static NOINLINE void ends(volatile u64 *room)
{
	volatile u64 more[8] = {0};

	room[0] = more[1];
	leaves();
}

static void test_end(void **state)
{
	u64 room[8];

	(void)state;
	if (!setjmp(out))
		ends(room);
	assert_int_equal(fr_unwind(&taken, -1, &found), 0);
	is_beginning(4);
	assert_int_equal(found.cnt, told_cnt + 1);
}

/* What looks like a frame of this caller, at a byte of the stack's pages; its address. */
static u64 put_frame(u32 at, u64 caller)
{
	const u64 word[2] = {0, caller};

	memcpy(taken.bytes + at, word, sizeof(word));
	return taken.page[at / FR_USTACK_PAGE_SZ] + at % FR_USTACK_PAGE_SZ;
}

/* Code that is in no file: who called it is where the frame pointer says, if that is a frame. */
static void test_made(void **state)
{
	static struct fr_unwound whole;
	u32 last, i;
	u64 bad[4];

	(void)state;
	framed();
	assert_int_equal(fr_unwind(&taken, -1, &whole), 0);
	assert_true(whole.cnt > 3 && taken.map_cnt < FR_USTACK_MAP_CNT);
	taken.map[taken.map_cnt++] = (struct fr_ustack_map){.start = 0x1000, .end = 0x2000, .flags = FR_MAP_EXEC};
	taken.reg[FR_CFI_RIP] = 0x1100;
	assert_int_equal(fr_unwind(&taken, -1, &found), 0);
	assert_int_equal(found.cnt, whole.cnt);
	assert_int_equal(found.map[0], taken.map_cnt);
	for (i = 1; i < found.cnt; i++)
		assert_int_equal(found.ip[i], whole.ip[i]);
	last = (taken.page_cnt - 1) * FR_USTACK_PAGE_SZ;
	taken.reg[FR_CFI_RSP] = taken.page[0] + 64;
	taken.reg[FR_CFI_RBP] = put_frame(last, whole.ip[1]);
	assert_int_equal(fr_unwind(&taken, -1, &found), 0);
	assert_true(found.cnt > 1 && found.ip[1] == whole.ip[1]);
	bad[0] = put_frame(0, whole.ip[1]); /* below the stack's pointer */
	bad[1] = put_frame(last + 4, whole.ip[1]);
	bad[2] = put_frame(last + 64, 0x3000); /* it returns to what is no code */
	bad[3] = taken.page[taken.page_cnt - 1] + FR_USTACK_PAGE_SZ - 8;
	for (i = 0; i < 4; i++) {
		taken.reg[FR_CFI_RBP] = bad[i];
		assert_int_equal(fr_unwind(&taken, -1, &found), 0);
		assert_int_equal(found.cnt, 1);
	}
}

/* A word that begins before the end of what is there, and ends behind it. */
static void test_edge(void **state)
{
	u64 fp;

	(void)state;
	framed();
	fp = taken.reg[FR_CFI_RBP];
	end_at(fp + 16);
	assert_int_equal(fr_unwind(&taken, -1, &found), 0);
	assert_int_equal(found.cnt, 2);
	end_at(fp + 15);
	assert_int_equal(fr_unwind(&taken, -1, &found), 0);
	assert_int_equal(found.cnt, 1);
}

/* A frame whose caller's frame is itself. */
static void test_loop(void **state)
{
	u64 fp, words[2];

	(void)state;
	framed();
	fp = taken.reg[FR_CFI_RBP];
	words[0] = fp;
	words[1] = taken.reg[FR_CFI_RIP];
	memcpy(byte_at(fp), words, sizeof(words));
	assert_int_equal(fr_unwind(&taken, -1, &found), 0);
	assert_int_equal(found.cnt, 2);
	assert_int_equal(found.ip[1], words[1]);
}

/* A call of what is no code: its caller is on top of the stack. */
static void test_nowhere(void **state)
{
	u64 sp, ret;

	(void)state;
	calls(20);
	sp = taken.reg[FR_CFI_RSP];
	ret = taken.reg[FR_CFI_RIP];
	taken.reg[FR_CFI_RSP] = sp - 8;
	taken.reg[FR_CFI_RIP] = 5;
	if ((sp & 4095) < 8)
		return; /* below what was copied */
	memcpy(byte_at(sp - 8), &ret, sizeof(ret));
	assert_int_equal(fr_unwind(&taken, -1, &found), 0);
	assert_int_equal(found.cnt, told_cnt + 2);
	assert_int_equal(found.ip[0], 5);
	assert_int_equal(found.map[0], 0);
	assert_int_equal(found.ip[1], ret);
	assert_ptr_equal((void *)found.ip[2], told[0]);
}

/*
 * No file tells of the code that the stack is in: without a frame pointer it ends there. (What is compiled with frame pointers,
 * as for sanitizers, would be left by them: test_made().)
 */
static void is_end(int root)
{
	u64 fp = taken.reg[FR_CFI_RBP];

	taken.reg[FR_CFI_RBP] = 0;
	assert_int_equal(fr_unwind(&taken, root, &found), 0);
	taken.reg[FR_CFI_RBP] = fp;
	assert_int_equal(found.cnt, 1);
}

/* Whether the file was found that the stack is in. */
static bool is_file_there(void)
{
	return file_of(0)->is_there;
}

/* Files that are not those that were mapped, or no files. */
static void test_files(void **state)
{
	static const char *const no_file[] = {"/proc", "/dev/zero", "/no/such/file", "relative", ""};
	struct stat st = {};
	u32 i, k;

	(void)state;
	calls(20);
	for (k = 0; k < taken.memory.name_cnt; k++)
		taken.memory.name[k].ino++;
	is_end(-1);
	assert_false(is_file_there());
	for (i = 0; i < sizeof(no_file) / sizeof(no_file[0]); i++) {
		stat(no_file[i], &st);
		for (k = 0; k < taken.memory.name_cnt; k++) {
			strcpy(taken.memory.name[k].path, no_file[i]);
			taken.memory.name[k].ino = st.st_ino;
		}
		is_end(-1);
		assert_false(is_file_there());
	}
}

/* This program's file. Another process would find valgrind's behind our /proc/PID/exe. */
static void find_this(char *file, size_t sz)
{
	ssize_t len = readlink("/proc/self/exe", file, sz - 1);

	assert_true(len > 0);
	file[len] = 0;
}

/* Have the stack be of another program file with the same content. */
static void pretend(const char *file, u64 ino)
{
	char own[256];
	u32 k;

	find_this(own, sizeof(own));
	for (k = 0; k < taken.memory.name_cnt; k++)
		if (!strcmp(taken.memory.name[k].path, own)) {
			strcpy(taken.memory.name[k].path, file);
			taken.memory.name[k].ino = ino;
		}
}

/* A copy of this program in a new directory. Returns its inode. */
static u64 copy_of_this(char *dir, char *file, size_t sz)
{
	char command[600], own[256];
	struct stat st;

	find_this(own, sizeof(own));
	assert_non_null(mkdtemp(dir));
	snprintf(file, sz, "%s/program", dir);
	snprintf(command, sizeof(command), "cp %s %s", own, file);
	assert_int_equal(system(command), 0);
	assert_int_equal(stat(file, &st), 0);
	return st.st_ino;
}

/* One that has changed since the process died is another one, even if its inode is the same. */
static void test_changed(void **state)
{
	char dir[] = "/tmp/fr-unwind-XXXXXX", file[256];
	u64 ino = copy_of_this(dir, file, sizeof(file));

	(void)state;
	calls(20);
	pretend(file, ino);
	assert_int_equal(fr_unwind(&taken, -1, &found), 0);
	assert_true(found.cnt > 20);
	alarm(300); /* the kernel's time of changes goes in ticks: a change soon after the death may count as one before it */
	do {
		assert_int_equal(chmod(file, 0644), 0);
		assert_int_equal(fr_unwind(&taken, -1, &found), 0);
	} while (is_file_there());
	alarm(0);
	is_end(-1);
	unlink(file);
	rmdir(dir);
}

/* In the root of a container: a file that ours lacks, or has another one of that name. */
static void test_root(void **state)
{
	char dir[] = "/tmp/fr-unwind-XXXXXX", file[256];
	u64 ino = copy_of_this(dir, file, sizeof(file));
	int root = open(dir, O_PATH | O_DIRECTORY);

	(void)state;
	calls(20);
	pretend("/program", ino);
	is_end(-1);
	assert_false(is_file_there());
	assert_int_equal(fr_unwind(&taken, root, &found), 0);
	assert_true(found.cnt > 20);
	assert_true(file_of(0)->is_elsewhere);
	close(root);
	unlink(file);
	rmdir(dir);
}

/* For docs/triggers.md. */
static int show_time(void)
{
	u64 from_ns, least_ns = ~0ULL, ns;
	int i;

	calls(20);
	for (i = 0; i < 1000; i++) {
		from_ns = fr_now_ns(CLOCK_MONOTONIC);
		fr_unwind(&taken, -1, &found);
		ns = fr_now_ns(CLOCK_MONOTONIC) - from_ns;
		least_ns = ns < least_ns ? ns : least_ns;
	}
	printf("%u frames, %llu us\n", found.cnt, (unsigned long long)least_ns / 1000);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_itself),	    cmocka_unit_test(test_deep),    cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_smashed),	    cmocka_unit_test(test_loop),    cmocka_unit_test(test_end),
		cmocka_unit_test(test_edge),	    cmocka_unit_test(test_made),    cmocka_unit_test(test_nowhere),
		cmocka_unit_test(test_files),	    cmocka_unit_test(test_changed), cmocka_unit_test(test_root),
		cmocka_unit_test(test_other_stack), cmocka_unit_test(test_threads),
	};

	if (argc > 1 && !strcmp(argv[1], "time"))
		return show_time();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void test_elsewhere(void **state)
{
	(void)state;
	skip(); /* stacks are kept on x86-64 only */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
