/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spent FILE COMMAND...: run a command and write into FILE what it took, as JSON: {"wall_ns", "user_ns", "sys_ns", "resident"}
 * (bytes at most). A child of a large process counts that one's memory as its own until it executes, so what measures memory
 * has to be small. Exits as the command does.
 *
 * What was free for seconds, a virtual machine's host may have taken back (free page reporting). Who takes it next waits for
 * it, milliseconds for a MiB: not the command that happens to stand behind a long one. So some is taken before, and freed.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long ns(struct timeval t)
{
	return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL;
}

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

#define TAKEN_SZ (256UL << 20) /* more than commands take */

static void have_memory(void)
{
	size_t page_sz = sysconf(_SC_PAGESIZE), at;
	volatile char *p;

	if ((size_t)sysconf(_SC_AVPHYS_PAGES) * page_sz < 4 * TAKEN_SZ)
		return;
	p = mmap(NULL, TAKEN_SZ, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return;
	madvise((void *)p, TAKEN_SZ, MADV_HUGEPAGE);
	for (at = 0; at < TAKEN_SZ; at += page_sz)
		p[at] = 1;
	munmap((void *)p, TAKEN_SZ);
}

int main(int argc, char **argv)
{
	long long begin;
	struct rusage used;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3)
		return 127;
	have_memory();
	begin = now_ns();
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
		return 127;
	begin = now_ns() - begin;
	f = fopen(argv[1], "w");
	if (!f)
		return 127;
	fprintf(f, "{\"wall_ns\": %lld, \"user_ns\": %lld, \"sys_ns\": %lld, \"resident\": %lld}\n", begin, ns(used.ru_utime),
		ns(used.ru_stime), used.ru_maxrss * 1024LL);
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
