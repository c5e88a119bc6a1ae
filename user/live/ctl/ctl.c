/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/ctl/ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/text/units.h"
#include "sys/now.h"

#define LINE_MAX_SZ	  (64u << 20) /* of an answer: many CPUs mean many counters */
#define CONNECT_TIMEOUT_S 3

struct fr_ctl_conn {
	int fd;
	char *buf; /* [begin, end): read, but not yet returned */
	size_t begin, end, cap;
};

static s64 ctl_now_ms(void)
{
	return fr_now_ns(CLOCK_MONOTONIC) / FR_MSEC_NS;
}

/*
 * If the recorder's queue is full, wait in the kernel: whoever waits there gets the next place. The descriptor is made not to
 * block only then.
 */
static int connect_to(int fd, const struct sockaddr_un *addr)
{
	const struct timeval limit = {.tv_sec = CONNECT_TIMEOUT_S};
	int flags;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	while (connect(fd, (const void *)addr, sizeof(*addr)))
		if (errno != EINTR)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
	flags = fcntl(fd, F_GETFL);
	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}

int fr_ctl_connect(const char *session, struct fr_ctl_conn **out)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct fr_ctl_conn *c;
	int err;

	if (snprintf(addr.sun_path, sizeof(addr.sun_path), FR_CTL_DIR "/%s.sock", session) >= (int)sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	err = c->fd < 0 ? -errno : connect_to(c->fd, &addr);
	if (err) {
		fr_ctl_disconnect(c);
		return err;
	}
	*out = c;
	return 0;
}

void fr_ctl_disconnect(struct fr_ctl_conn *c)
{
	if (!c)
		return;
	if (c->fd >= 0)
		close(c->fd);
	free(c->buf);
	free(c);
}

/* 0: ready, -ETIMEDOUT, -errno. until_ms < 0: for ever. */
static int ctl_wait_for(struct fr_ctl_conn *c, short events, s64 until_ms)
{
	struct pollfd p = {.fd = c->fd, .events = events};
	s64 left = until_ms < 0 ? -1 : until_ms - ctl_now_ms();
	int n;

	n = poll(&p, 1, until_ms < 0 ? -1 : left < 0 ? 0 : left);
	if (n < 0)
		return -errno;
	return n ? 0 : -ETIMEDOUT;
}

int fr_ctl_ask(struct fr_ctl_conn *c, const char *request)
{
	struct iovec iov[] = {{(void *)request, strlen(request)}, {"\n", 1}};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
	ssize_t n;

	if (iov[0].iov_len + 1 > FR_CTL_REQUEST_MAX)
		return -EMSGSIZE;
	/* a request fits a socket's empty buffer: it is sent whole, or nobody is there */
	n = sendmsg(c->fd, &msg, MSG_NOSIGNAL);
	if (n < 0)
		return -errno;
	return (size_t)n == iov[0].iov_len + 1 ? 0 : -EPIPE;
}

static int ctl_make_room(struct fr_ctl_conn *c)
{
	size_t cap;
	char *p;

	if (c->begin) {
		memmove(c->buf, c->buf + c->begin, c->end - c->begin);
		c->end -= c->begin;
		c->begin = 0;
	}
	if (c->end < c->cap)
		return 0;
	cap = c->cap ? c->cap * 2 : 16384;
	if (cap > LINE_MAX_SZ)
		return -EMSGSIZE;
	p = realloc(c->buf, cap);
	if (!p)
		return -ENOMEM;
	c->buf = p;
	c->cap = cap;
	return 0;
}

static int ctl_receive(struct fr_ctl_conn *c, s64 until_ms)
{
	int err = ctl_make_room(c);
	ssize_t n;

	err = err ?: ctl_wait_for(c, POLLIN, until_ms);
	if (err)
		return err;
	n = recv(c->fd, c->buf + c->end, c->cap - c->end, 0);
	if (n < 0)
		return errno == EAGAIN ? 0 : errno == ECONNRESET ? -EPIPE : -errno;
	c->end += n;
	return n ? 0 : -EPIPE;
}

int fr_ctl_line(struct fr_ctl_conn *c, int timeout_ms, char **line)
{
	s64 until_ms = timeout_ms < 0 ? -1 : ctl_now_ms() + timeout_ms;
	size_t seen = c->begin;
	char *end;
	int err;

	for (;;) {
		end = c->end > seen ? memchr(c->buf + seen, '\n', c->end - seen) : NULL;
		if (end)
			break;
		seen = c->end - c->begin;
		err = ctl_receive(c, until_ms);
		if (err)
			return err;
		/* ctl_make_room() has moved the rest to the front */
	}
	*line = strndup(c->buf + c->begin, end - (c->buf + c->begin));
	if (!*line)
		return -ENOMEM;
	c->begin = end + 1 - c->buf;
	return 0;
}
