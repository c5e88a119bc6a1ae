/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * handler soft|irq COUNT SPIN_MS NAP_MS FILE: so many times a softirq, or the handler of an interrupt, takes so long
 * (handler.bpf.c), beside which this program does next to nothing. After the last one, a line for each: CPU, CLOCK_MONOTONIC ns
 * of begin and end. A packet to itself makes the softirq, a read of the file past the cache the interrupt. 77: none comes, or
 * it is not allowed.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "types.h"

#include "handler.skel.h" /* names the types above */

#define BLOCK_SZ 4096
#define TRIES	 1000
#define TRY_NS	 2000000

static int make_packet(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), err;
	socklen_t len = sizeof(to);

	err = fd < 0 || bind(fd, (void *)&to, len) || getsockname(fd, (void *)&to, &len) ||
	      sendto(fd, "x", 1, 0, (void *)&to, len) != 1;
	close(fd);
	return err;
}

static int make_interrupt(const char *file)
{
	static char buf[BLOCK_SZ] __attribute__((aligned(BLOCK_SZ)));
	int fd = open(file, O_RDONLY | O_DIRECT), err;

	err = fd < 0 || pread(fd, buf, sizeof(buf), 0) < 0;
	close(fd);
	return err;
}

/* One of them. 0, or 1: none comes. */
static int once(volatile u64 *armed, volatile u64 *cnt, const char *file)
{
	const struct timespec nap = {.tv_nsec = TRY_NS};
	const u64 was = *cnt;
	int i;

	*armed = 1;
	for (i = 0; i < TRIES && *cnt == was; i++) {
		if (*armed && (file ? make_interrupt(file) : make_packet()))
			return 1;
		nanosleep(&nap, NULL);
	}
	*armed = 0;
	return *cnt == was;
}

int main(int argc, char **argv)
{
	struct timespec nap;
	struct handler *h;
	int i, cnt, none = 0;

	if (argc != 6 || (strcmp(argv[1], "soft") && strcmp(argv[1], "irq")))
		return 2;
	h = handler__open();
	if (!h)
		return 1;
	h->bss->spin_ns = atof(argv[3]) * 1e6;
	if (handler__load(h) || handler__attach(h))
		return 77;
	cnt = atoi(argv[2]);
	nap = (struct timespec){atoi(argv[4]) / 1000, atoi(argv[4]) % 1000 * 1000000L};
	for (i = 0; i < cnt && !none; i++) {
		nanosleep(&nap, NULL);
		none = strcmp(argv[1], "soft") ? once(&h->bss->hard_armed, &h->bss->cnt, argv[5])
					       : once(&h->bss->soft_armed, &h->bss->cnt, NULL);
	}
	nanosleep(&nap, NULL); /* for those who watch to see the last one, too */
	for (i = 0; i < (int)h->bss->cnt; i++)
		printf("%u %llu %llu\n", h->bss->cpu[i], (unsigned long long)h->bss->begin_ns[i],
		       (unsigned long long)h->bss->end_ns[i]);
	handler__destroy(h);
	return none ? 77 : 0;
}
