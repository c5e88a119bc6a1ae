/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls: makes as many calls 1003, which there are not, as it is told, again and again: reads numbers from standard input, 8
 * bytes each, and answers each with a byte when they are made. At the end of its input it ends.
 */
#include <unistd.h>

#define NR 1003 /* takes six arguments in a recording, which no short form has room for; gives ENOSYS */

int main(void)
{
	unsigned long cnt;

	while (read(STDIN_FILENO, &cnt, sizeof(cnt)) == sizeof(cnt)) {
		for (; cnt; cnt--)
			syscall(NR, ~1ul, ~2ul, ~3ul, ~4ul, ~5ul, ~6ul);
		if (write(STDOUT_FILENO, "", 1) != 1)
			return 1;
	}
	return 0;
}
