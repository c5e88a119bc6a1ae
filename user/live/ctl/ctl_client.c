/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A client of the control socket's server: its input and its output. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text/units.h"
#include "live/ctl/ctl_int.h"
#include "sys/now.h"
#include "sys/patience.h"

#define TELL_MAX (FR_CTL_OUT_MAX / 4)

static const char too_long[] = "{\"ok\":false,\"error\":\"the request is too long\",\"code\":\"size\","
			       "\"cure\":\"a request is one line of at most 4096 bytes\"}";
static const char too_many[] = "{\"ok\":false,\"error\":\"too many requests\",\"code\":\"rate\","
			       "\"cure\":\"ask at most 100 times a second\"}";

static size_t unread(const struct fr_ctl_client *c)
{
	return c->out_end - c->out_begin;
}

/* Room for sz more bytes: move what is left to the front before allocating more. */
static bool client_make_room(struct fr_ctl_client *c, size_t sz)
{
	size_t cap = c->out_cap ?: 4096;
	char *p;

	if (c->out_begin) {
		memmove(c->out, c->out + c->out_begin, unread(c));
		c->out_end -= c->out_begin;
		c->out_begin = 0;
	}
	while (cap - c->out_end < sz)
		cap *= 2;
	if (cap == c->out_cap)
		return true;
	p = realloc(c->out, cap);
	if (!p)
		return false;
	c->out = p;
	c->out_cap = cap;
	return true;
}

void fr_ctl_client_put(struct fr_ctl_client *c, const char *line, size_t sz)
{
	c->dead |= unread(c) > FR_CTL_OUT_MAX || !client_make_room(c, sz + 1);
	if (c->dead)
		return;
	memcpy(c->out + c->out_end, line, sz);
	c->out[c->out_end + sz] = '\n';
	c->out_end += sz + 1;
}

static bool has_line(const struct fr_ctl_client *c)
{
	return memchr(c->in, '\n', c->in_sz) != NULL;
}

void fr_ctl_client_write(struct fr_ctl_client *c)
{
	ssize_t n;

	while (unread(c) && !c->dead) {
		n = send(c->fd, c->out + c->out_begin, unread(c), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			c->dead = errno != EAGAIN;
			return;
		}
		c->out_begin += n;
		if (!c->watches)
			c->deadline_ns = fr_now_ns(CLOCK_MONOTONIC) + fr_patience_ns(FR_CTL_TIMEOUT_NS);
	}
	/* do not keep the memory of a large answer */
	free(c->out);
	c->out = NULL;
	c->out_begin = c->out_end = c->out_cap = 0;
	if (c->leaving || (c->ended && !c->watches && !c->deferred && !has_line(c)))
		c->dead = true;
}

static void client_refuse(struct fr_ctl_client *c, const char *line)
{
	fr_ctl_client_put(c, line, strlen(line));
	c->leaving = true;
}

static bool too_often(struct fr_ctl_client *c)
{
	u64 now = fr_now_ns(CLOCK_MONOTONIC);

	if (now - c->rate_from_ns >= FR_SEC_NS) {
		c->rate_from_ns = now;
		c->rate_cnt = 0;
	}
	return ++c->rate_cnt > FR_CTL_RATE_MAX || !fr_admit_request(&c->server->admit, c->peer.uid, now);
}

bool fr_ctl_may_look(struct fr_ctl_client *c)
{
	return fr_admit_look(&c->server->admit, c->peer.uid, fr_now_ns(CLOCK_MONOTONIC));
}

/* May its next request be handled? Not before the previous answer is given, nor while answers pile up. */
static bool is_heard(const struct fr_ctl_client *c)
{
	return !c->dead && !c->leaving && !c->deferred && unread(c) < TELL_MAX;
}

static void client_take_line(struct fr_ctl_client *c)
{
	char line[FR_CTL_REQUEST_MAX], *end = memchr(c->in, '\n', c->in_sz);
	size_t sz = end - c->in;

	memcpy(line, c->in, sz);
	c->in_sz -= sz + 1;
	memmove(c->in, end + 1, c->in_sz);
	if (too_often(c)) {
		client_refuse(c, too_many);
		return;
	}
	if (!c->watches)
		c->deadline_ns = fr_now_ns(CLOCK_MONOTONIC) + fr_patience_ns(FR_CTL_TIMEOUT_NS);
	c->server->ops.request(c->server->ops.arg, c, line, sz);
}

static void client_receive(struct fr_ctl_client *c)
{
	ssize_t n;

	if (c->ended || c->leaving || c->in_sz == sizeof(c->in))
		return;
	n = recv(c->fd, c->in + c->in_sz, sizeof(c->in) - c->in_sz, MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		c->dead = true;
	if (n > 0)
		c->in_sz += n;
	c->ended = !n;
}

void fr_ctl_client_serve(struct fr_ctl_client *c)
{
	client_receive(c);
	fr_ctl_client_write(c);
	while (is_heard(c) && has_line(c)) {
		client_take_line(c);
		fr_ctl_client_write(c);
	}
	if (is_heard(c) && c->in_sz == sizeof(c->in)) {
		client_refuse(c, too_long);
		fr_ctl_client_write(c);
	}
}

u32 fr_ctl_client_wants(const struct fr_ctl_client *c)
{
	u32 events = 0;

	/* a client that does not read its answers is not read from either */
	if (!c->ended && !c->leaving && c->in_sz < sizeof(c->in) && unread(c) < TELL_MAX)
		events |= EPOLLIN;
	return events | (unread(c) ? EPOLLOUT : 0);
}

const struct fr_ctl_peer *fr_ctl_client_peer(const struct fr_ctl_client *c)
{
	return &c->peer;
}

u64 fr_ctl_client_id(const struct fr_ctl_client *c)
{
	return c->id;
}

void fr_ctl_reply(struct fr_ctl_client *c, const char *line, size_t sz)
{
	c->deferred = false;
	fr_ctl_client_put(c, line, sz);
	if (!c->watches)
		c->deadline_ns = fr_now_ns(CLOCK_MONOTONIC) + fr_patience_ns(FR_CTL_TIMEOUT_NS);
	/* the server sends this, and handles the next request, when it runs */
	fr_ctl_server_changed(c->server);
}

void fr_ctl_defer(struct fr_ctl_client *c)
{
	c->deferred = true;
	c->deadline_ns = 0;
}

int fr_ctl_watch(struct fr_ctl_client *c)
{
	if (!c->watches && fr_ctl_watchers(c->server) >= FR_CTL_WATCH_MAX)
		return -EUSERS;
	c->watches = true;
	c->deadline_ns = 0;
	return 0;
}

/* Report skipped lines before the next one that is sent. */
static void client_tell_missed(struct fr_ctl_client *c)
{
	char line[80];
	int len = snprintf(line, sizeof(line), "{\"watch\":\"missed\",\"lines\":%llu}", c->missed);

	c->missed = 0;
	fr_ctl_client_put(c, line, len);
}

void fr_ctl_client_tell(struct fr_ctl_client *c, const char *line, size_t sz)
{
	if (unread(c) >= TELL_MAX) {
		c->missed++;
		return;
	}
	if (c->missed)
		client_tell_missed(c);
	fr_ctl_client_put(c, line, sz);
	fr_ctl_client_write(c);
}

void fr_ctl_client_close(struct fr_ctl_client *c)
{
	close(c->fd);
	free(c->out);
	free(c->group);
	*c = (struct fr_ctl_client){.fd = -1, .server = c->server};
}
