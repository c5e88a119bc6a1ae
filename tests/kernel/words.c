/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* words: makes the system calls of a list: each line of standard input is a number and six arguments, in hex. */
#include <stdio.h>
#include <unistd.h>

#define CALL_MAX 8192

static unsigned long call[CALL_MAX][7];

int main(void)
{
	size_t cnt = 0, i;

	while (cnt < CALL_MAX && scanf("%lx %lx %lx %lx %lx %lx %lx", &call[cnt][0], &call[cnt][1], &call[cnt][2],
				       &call[cnt][3], &call[cnt][4], &call[cnt][5], &call[cnt][6]) == 7)
		cnt++;
	syscall(1001, cnt); /* no such call: from here on it makes no other one */
	for (i = 0; i < cnt; i++)
		syscall(call[i][0], call[i][1], call[i][2], call[i][3], call[i][4], call[i][5], call[i][6]);
	return 0;
}
