/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* touch: touches so many fresh pages, once each, and prints where they were and their size. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t cnt = argc > 1 ? strtoul(argv[1], NULL, 10) : 100, page = sysconf(_SC_PAGESIZE), i;
	char *p = mmap(NULL, cnt * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise(p, cnt * page, MADV_NOHUGEPAGE))
		return 1;
	for (i = 0; i < cnt; i++)
		p[i * page + i % page] = 1;
	printf("%lu %zu\n", (unsigned long)p, page);
	return 0;
}
