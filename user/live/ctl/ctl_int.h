/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the two halves of the control socket's server: ctl_server.c (the server), ctl_client.c (one client). */
#ifndef FR_CTL_INT_H
#define FR_CTL_INT_H

#include "base/admit.h"
#include "base/text/units.h"
#include "live/ctl/ctl_server.h"

#define FR_CTL_TIMEOUT_NS (FR_CTL_TIMEOUT_MS * FR_MSEC_NS)

struct fr_ctl_client {
	struct fr_ctl_server *server;
	int fd; /* -1: this slot is free */
	u64 id;
	struct fr_ctl_peer peer;
	gid_t *group;	  /* what peer.group points to */
	u64 deadline_ns;  /* for its request, or for reading its answer; CLOCK_MONOTONIC, 0 none */
	u64 rate_from_ns; /* start of the interval in which requests of the connection are counted */
	u32 rate_cnt;
	u64 missed; /* lines for watchers that were not sent */
	bool watches;
	bool deferred; /* its answer comes later; no further request is handled until then */
	bool ended;    /* it will send nothing more */
	bool leaving;  /* close it once its output has been sent */
	bool dead;     /* to be closed, once no caller uses it */
	u32 events;    /* as registered with epoll */
	char *out;     /* to be sent from out_begin on */
	size_t out_begin, out_end, out_cap;
	u32 in_sz;
	char in[FR_CTL_REQUEST_MAX];
};

struct fr_ctl_server {
	struct fr_ctl_ops ops;
	int listen_fd, epoll_fd, timer_fd;
	char *path;
	dev_t dev; /* of the socket's inode: remove it only if it is still ours */
	ino_t ino;
	u64 next_id;
	u64 timer_ns;	   /* expiry that the timer is set to, 0 off */
	u64 deaf_until_ns; /* accept nobody before, 0 now */
	struct fr_admit admit;
	struct fr_ctl_counts counts;
	struct fr_ctl_client client[FR_CTL_CLIENT_MAX];
};

/* Read, answer and send as far as possible without blocking. This function and the others set dead to have it closed. */
void fr_ctl_client_serve(struct fr_ctl_client *c);
void fr_ctl_client_write(struct fr_ctl_client *c);

/* Queue a line. If too much is unread, or there is no memory, the client becomes dead. */
void fr_ctl_client_put(struct fr_ctl_client *c, const char *line, size_t sz);
void fr_ctl_client_tell(struct fr_ctl_client *c, const char *line, size_t sz); /* a line for watchers, which may be skipped */
void fr_ctl_client_close(struct fr_ctl_client *c);

/* The events that epoll must watch for it now. */
u32 fr_ctl_client_wants(const struct fr_ctl_client *c);

/* Make fr_ctl_server_run() run soon. */
void fr_ctl_server_changed(struct fr_ctl_server *s);

#endif
