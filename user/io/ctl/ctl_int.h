/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the two halves of the control socket's server share: ctl_server.c has the house, ctl_client.c one guest. */
#ifndef FR_CTL_INT_H
#define FR_CTL_INT_H

#include "io/ctl/ctl_server.h"

struct fr_ctl_client {
	struct fr_ctl_server *server;
	int fd; /* -1: this place is free */
	u64 id;
	struct fr_ctl_peer peer;
	gid_t *group;	  /* what peer.group points to */
	u64 deadline_ns;  /* of its request, or of reading its answer; CLOCK_MONOTONIC, 0 none */
	u64 rate_from_ns; /* requests are counted from here */
	u32 rate_cnt;
	u64 missed; /* lines told that it was not sent */
	bool watches;
	bool deferred; /* its answer comes later: no other request is looked at */
	bool ended;    /* nothing more comes from it */
	bool leaving;  /* closed as soon as what it is to be sent is sent */
	bool dead;     /* to be closed: by whoever has no hand on it */
	u32 events;    /* as registered with epoll */
	char *out;     /* from out_begin on to be sent */
	size_t out_begin, out_end, out_cap;
	u32 in_sz;
	char in[FR_CTL_REQUEST_MAX];
};

struct fr_ctl_server {
	struct fr_ctl_ops ops;
	int listen_fd, epoll_fd, timer_fd;
	char *path;
	dev_t dev; /* of the socket's inode: removed only if it is still ours */
	ino_t ino;
	u64 next_id;
	u64 timer_ns;	   /* the timer is set to this, 0 off */
	u64 deaf_until_ns; /* nobody is accepted before, 0 now */
	struct fr_ctl_client client[FR_CTL_CLIENT_MAX];
};

u64 fr_ctl_now_ns(void);

/* Read, answer and send, as far as goes without waiting. This and the others set dead when it is to be closed. */
void fr_ctl_client_serve(struct fr_ctl_client *c);
void fr_ctl_client_write(struct fr_ctl_client *c);

/* Queue a line. With too much unread, or no memory, the client is dead. */
void fr_ctl_client_put(struct fr_ctl_client *c, const char *line, size_t sz);
void fr_ctl_client_tell(struct fr_ctl_client *c, const char *line, size_t sz); /* one of those that may be missed */
void fr_ctl_client_close(struct fr_ctl_client *c);

/* What epoll is to watch for it now. */
u32 fr_ctl_client_wants(const struct fr_ctl_client *c);

/* Let fr_ctl_server_run() run soon. */
void fr_ctl_server_changed(struct fr_ctl_server *s);

#endif
