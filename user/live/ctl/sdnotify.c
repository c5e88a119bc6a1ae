/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "live/ctl/sdnotify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/now.h"

#define TEXT_SZ 1024

struct fr_sdnotify {
	int fd;
	struct sockaddr_un to;
	socklen_t to_len;
	u64 watchdog_ns;
};

/* "/PATH" or "@ABSTRACT" */
static int take_address(struct fr_sdnotify *n, const char *text)
{
	size_t len = strlen(text);

	if ((text[0] != '/' && text[0] != '@') || len < 2 || len >= sizeof(n->to.sun_path))
		return -EINVAL;
	n->to.sun_family = AF_UNIX;
	memcpy(n->to.sun_path, text, len);
	if (text[0] == '@')
		n->to.sun_path[0] = 0;
	n->to_len = offsetof(struct sockaddr_un, sun_path) + len + (text[0] == '/');
	return 0;
}

/* $WATCHDOG_USEC, if it is for this process. */
static u64 watchdog_ns(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	unsigned long long v;
	char *end;

	if (!usec || (pid && strtoull(pid, NULL, 10) != (unsigned long long)getpid()))
		return 0;
	errno = 0;
	v = strtoull(usec, &end, 10);
	return errno || *end || end == usec || v > ~0ULL / 1000 ? 0 : v * 1000 / 2;
}

int fr_sdnotify_open(struct fr_sdnotify **out)
{
	const char *text = getenv("NOTIFY_SOCKET");
	struct fr_sdnotify *n;
	int err;

	*out = NULL;
	if (!text || !*text)
		return 0;
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->fd = -1;
	err = take_address(n, text);
	if (!err)
		n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (!err && n->fd < 0)
		err = -errno;
	if (err) {
		fr_err("cannot notify the service manager at %s: %s: NOTIFY_SOCKET is a path, or @ and a name", text,
		       strerror(-err));
		fr_sdnotify_close(n);
		return err;
	}
	n->watchdog_ns = watchdog_ns();
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	*out = n;
	return 0;
}

void fr_sdnotify_close(struct fr_sdnotify *n)
{
	if (!n)
		return;
	if (n->fd >= 0)
		close(n->fd);
	free(n);
}

u64 fr_sdnotify_watchdog_ns(const struct fr_sdnotify *n)
{
	return n ? n->watchdog_ns : 0;
}

/* Any assignments, separated by newlines. */
static int send_text(struct fr_sdnotify *n, const char *text)
{
	if (!n)
		return 0;
	if (sendto(n->fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&n->to, n->to_len) < 0)
		return -errno;
	return 0;
}

/* A status is one line: text after a newline would be another assignment. */
static int send_with_status(struct fr_sdnotify *n, const char *text, const char *status)
{
	char buf[TEXT_SZ];
	size_t len = strlen(text);

	if (!status)
		return send_text(n, text);
	snprintf(buf, sizeof(buf), "%s%sSTATUS=%s", text, *text ? "\n" : "", status);
	for (len += (*text != 0); buf[len]; len++)
		if (buf[len] == '\n')
			buf[len] = ' ';
	return send_text(n, buf);
}

int fr_sdnotify_ready(struct fr_sdnotify *n, const char *status)
{
	return send_with_status(n, "READY=1", status);
}

int fr_sdnotify_status(struct fr_sdnotify *n, const char *status)
{
	return send_with_status(n, "", status ? status : "");
}

int fr_sdnotify_reloading(struct fr_sdnotify *n)
{
	char buf[64];

	snprintf(buf, sizeof(buf), "RELOADING=1\nMONOTONIC_USEC=%llu", fr_now_ns(CLOCK_MONOTONIC) / 1000);
	return send_text(n, buf);
}

int fr_sdnotify_stopping(struct fr_sdnotify *n, const char *status)
{
	return send_with_status(n, "STOPPING=1", status);
}

int fr_sdnotify_watchdog(struct fr_sdnotify *n)
{
	return send_text(n, "WATCHDOG=1");
}
