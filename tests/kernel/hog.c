/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hog CPU PRIO COUNT SPIN_MS NAP_MS [net|clock]: keep a CPU for so many times so long, at SCHED_FIFO PRIO (0: normal priority),
 * in functions whose names are known. After the last one, a line for each: CLOCK_MONOTONIC ns of begin and end. 77: not
 * allowed.
 *
 * net: it sends packets to itself all the time, which softirqs receive. clock: it reads the clock, and nothing else. It lives
 * until its standard input ends.
 *
 * Nothing is printed meanwhile, and memory is touched before, so that the clock is all that it calls.
 */
#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")
#include <arpa/inet.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))
#define MAX	 1000

static volatile uint64_t sum;
static uint64_t begin_ns[MAX], end_ns[MAX];

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

NOINLINE void hog_inner(void)
{
	int i;

	for (i = 0; i < 2000; i++)
		sum += i;
}

static int sock = -1;
static int clock_only;

/* A socket that sends to itself; what nobody takes is dropped when its buffer is full. */
static int open_sock(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(to);

	sock = socket(AF_INET, SOCK_DGRAM, 0);
	return sock < 0 || bind(sock, (void *)&to, len) || getsockname(sock, (void *)&to, &len) ||
	       connect(sock, (void *)&to, len);
}

NOINLINE void hog_send(void)
{
	char buf[64] = {};

	if (send(sock, buf, sizeof(buf), 0) == sizeof(buf))
		sum += recv(sock, buf, sizeof(buf), MSG_DONTWAIT);
}

NOINLINE void hog_outer(uint64_t until)
{
	while (now_ns() < until) {
		if (sock >= 0)
			hog_send();
		else if (!clock_only)
			hog_inner();
	}
	sum++;
}

int main(int argc, char **argv)
{
	struct sched_param param = {};
	struct timespec nap;
	cpu_set_t set;
	int i, cnt;

	clock_only = argc > 6 && !strcmp(argv[6], "clock");
	if (argc < 6 || (argc > 6 && !clock_only && strcmp(argv[6], "net")))
		return 2;
	if (argc > 6 && !clock_only && open_sock())
		return 77;
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	param.sched_priority = atoi(argv[2]);
	cnt = atoi(argv[3]) < MAX ? atoi(argv[3]) : MAX;
	nap = (struct timespec){atoi(argv[5]) / 1000, atoi(argv[5]) % 1000 * 1000000L};
	if (sched_setaffinity(0, sizeof(set), &set) || (param.sched_priority && sched_setscheduler(0, SCHED_FIFO, &param)))
		return 77;
	mlockall(MCL_CURRENT | MCL_FUTURE);
	for (i = 0; i < cnt; i++) {
		nanosleep(&nap, NULL);
		begin_ns[i] = now_ns();
		hog_outer(begin_ns[i] + (uint64_t)(atof(argv[4]) * 1e6));
		end_ns[i] = now_ns();
	}
	/* printing and exiting are not part of the last one */
	nanosleep(&nap, NULL);
	param.sched_priority = 0;
	sched_setscheduler(0, SCHED_OTHER, &param);
	for (i = 0; i < cnt; i++)
		printf("%llu %llu\n", (unsigned long long)begin_ns[i], (unsigned long long)end_ns[i]);
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
