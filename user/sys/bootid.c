/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/bootid.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int fr_boot_id(char *buf, size_t sz)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC), err = 0;
	ssize_t len;

	buf[0] = 0;
	if (fd < 0)
		return errno == ENOENT || errno == EACCES ? 0 : -errno;
	len = read(fd, buf, sz - 1);
	if (len < 0)
		err = -errno;
	buf[len < 0 ? 0 : len] = 0;
	buf[strcspn(buf, "\n")] = 0;
	close(fd);
	return err;
}
