/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * remap PHASES MS FILE...: map the code of one shared object after the other at one address, and spend MS of CPU time in the
 * function it begins at (ld -e), which gets a number of rounds. A line for each: "BEGIN END NR", the times it was mapped by
 * CLOCK_MONOTONIC, and which file. Then wait to be killed.
 *
 * Its frames are frames, so that its stack is the same, address by address, whichever file is mapped.
 */
#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PLACE ((char *)0x123400000000)

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/*
 * Whose memory is wanted may drop what is in no process's memory: where its build-id stands, the kernel could not be asked for
 * it. So that stays in ours.
 */
static void keep_head(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	if (fd < 0 || p == MAP_FAILED || mlock(p, 4096))
		fail(path);
	close(fd);
}

/* Its code at PLACE; *len of it. Returns the function it begins at. */
static void (*map_code(const char *path, size_t *len))(long)
{
	static char head[4096];
	const Elf64_Ehdr *e = (void *)head;
	const Elf64_Phdr *ph;
	int fd = open(path, O_RDONLY | O_CLOEXEC), i;

	if (fd < 0 || pread(fd, head, sizeof(head), 0) <= 0)
		fail(path);
	for (i = 0; i < e->e_phnum; i++) {
		ph = (void *)(head + e->e_phoff + i * e->e_phentsize);
		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X)
			break;
	}
	if (i == e->e_phnum)
		fail("no code");
	*len = ph->p_filesz;
	if (mmap(PLACE, *len, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, ph->p_offset) != PLACE)
		fail("mmap");
	close(fd);
	return (void (*)(long))(PLACE + (e->e_entry - ph->p_vaddr));
}

static void phase(const char *path, uint64_t ns, int nr)
{
	uint64_t begin = now_ns(CLOCK_MONOTONIC), until = now_ns(CLOCK_PROCESS_CPUTIME_ID) + ns;
	size_t len;
	void (*fn)(long) = map_code(path, &len);

	while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < until)
		fn(500000);
	if (munmap(PLACE, len))
		fail("munmap");
	printf("%llu %llu %d\n", (unsigned long long)begin, (unsigned long long)now_ns(CLOCK_MONOTONIC), nr);
}

int main(int argc, char **argv)
{
	int i, phases, files = argc - 3;

	if (files < 1)
		return 2;
	phases = atoi(argv[1]);
	for (i = 0; i < files; i++)
		keep_head(argv[3 + i]);
	for (i = 0; i < phases; i++)
		phase(argv[3 + i % files], atoi(argv[2]) * 1000000ull, i % files);
	puts("done");
	fflush(stdout);
	pause();
	return 0;
}
