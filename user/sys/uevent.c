/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/uevent.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KERNEL_GROUP 1 /* 2 is udevd's */

int fr_uevent_open(void)
{
	const struct sockaddr_nl addr = {.nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP};
	int err, fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);

	if (fd < 0)
		return -errno;
	if (!bind(fd, (const struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Does it say that a CPU came online? "online@/devices/system/cpu/cpu3", then NAME=VALUE strings, which are not needed. */
static int uevent_parse(const char *msg, u32 sz, u32 *cpu)
{
	char head[64];
	int used = 0;
	u32 nr, len = strnlen(msg, sz);

	if (len == sz || len >= sizeof(head))
		return 0;
	memcpy(head, msg, len + 1);
	if (sscanf(head, "online@/devices/system/cpu/cpu%5u%n", &nr, &used) != 1 || head[used] || nr > 0xffff)
		return 0;
	*cpu = nr;
	return 1;
}

int fr_uevent_take(int fd, u32 *cpu)
{
	struct sockaddr_nl from = {};
	socklen_t from_sz = sizeof(from);
	char msg[4096];
	ssize_t n = recvfrom(fd, msg, sizeof(msg), MSG_TRUNC, (struct sockaddr *)&from, &from_sz);

	if (n < 0)
		return -errno;
	if (from_sz != sizeof(from) || from.nl_pid || n > (ssize_t)sizeof(msg))
		return 0;
	return uevent_parse(msg, n, cpu);
}
