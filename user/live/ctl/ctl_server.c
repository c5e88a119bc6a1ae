/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/ctl/ctl_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/admit.h"
#include "base/err.h"
#include "base/text/units.h"
#include "sys/now.h"
#include "sys/patience.h"

#define BACKLOG	   128
#define EVENT_CNT  16
#define ACCEPT_CNT 16 /* per run */
#define GROUP_MAX  65536u
#define DEAF_NS	   1000000000ULL
#define LISTENER   FR_CTL_CLIENT_MAX /* in an event's data: not a client's index */
#define TIMER	   (FR_CTL_CLIENT_MAX + 1)
#define TELL_MAX   (FR_CTL_OUT_MAX / 4)
#define TIMEOUT_NS (FR_CTL_TIMEOUT_MS * FR_MSEC_NS)

static const char full[] = "{\"ok\":false,\"error\":\"too many clients\",\"code\":\"clients\","
			   "\"cure\":\"end some `flightrec follow`, or ask again\"}";

static const char too_often[] = "{\"ok\":false,\"error\":\"too many connections\",\"code\":\"rate\","
				"\"cure\":\"connect less often, and keep a connection for several requests\"}";

static const char too_long[] = "{\"ok\":false,\"error\":\"the request is too long\",\"code\":\"size\","
			       "\"cure\":\"a request is one line of at most 4096 bytes\"}";
static const char too_many[] = "{\"ok\":false,\"error\":\"too many requests\",\"code\":\"rate\","
			       "\"cure\":\"ask at most 100 times a second\"}";

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

/* ---- a client: its input and its output ---- */

static void server_changed(struct fr_ctl_server *s);

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

static void client_put(struct fr_ctl_client *c, const char *line, size_t sz)
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

static void client_write(struct fr_ctl_client *c)
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
			c->deadline_ns = fr_now_ns(CLOCK_MONOTONIC) + fr_patience_ns(TIMEOUT_NS);
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
	client_put(c, line, strlen(line));
	c->leaving = true;
}

static bool client_asks_too_often(struct fr_ctl_client *c)
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
	if (client_asks_too_often(c)) {
		client_refuse(c, too_many);
		return;
	}
	if (!c->watches)
		c->deadline_ns = fr_now_ns(CLOCK_MONOTONIC) + fr_patience_ns(TIMEOUT_NS);
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

static void client_serve(struct fr_ctl_client *c)
{
	client_receive(c);
	client_write(c);
	while (is_heard(c) && has_line(c)) {
		client_take_line(c);
		client_write(c);
	}
	if (is_heard(c) && c->in_sz == sizeof(c->in)) {
		client_refuse(c, too_long);
		client_write(c);
	}
}

static u32 client_wants(const struct fr_ctl_client *c)
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
	client_put(c, line, sz);
	if (!c->watches)
		c->deadline_ns = fr_now_ns(CLOCK_MONOTONIC) + fr_patience_ns(TIMEOUT_NS);
	/* the server sends this, and handles the next request, when it runs */
	server_changed(c->server);
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
	client_put(c, line, len);
}

static void client_tell(struct fr_ctl_client *c, const char *line, size_t sz)
{
	if (unread(c) >= TELL_MAX) {
		c->missed++;
		return;
	}
	if (c->missed)
		client_tell_missed(c);
	client_put(c, line, sz);
	client_write(c);
}

static void client_close(struct fr_ctl_client *c)
{
	close(c->fd);
	free(c->out);
	free(c->group);
	*c = (struct fr_ctl_client){.fd = -1, .server = c->server};
}

/* ---- the socket's file ---- */

/*
 * The process that listens at the other end of fd may be dead, while a process it forked still holds the socket: then nobody
 * will answer. In another PID namespace its pid is 0: assume that it lives.
 */
static bool listener_lives(int fd)
{
	struct ucred cred;
	socklen_t sz = sizeof(cred);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &sz) || cred.pid <= 0 || !kill(cred.pid, 0) || errno != ESRCH;
}

/* Is anybody listening there? A full queue counts. */
static bool is_live(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool live = false;

	if (fd < 0)
		return false;
	if (!connect(fd, (const void *)addr, sizeof(*addr)))
		live = listener_lives(fd);
	else
		live = errno == EAGAIN || errno == EINPROGRESS;
	close(fd);
	return live;
}

static int server_make_dir(const char *dir)
{
	if (!mkdir(dir, 0755))
		return chmod(dir, 0755) ? -errno : 0; /* regardless of the umask */
	if (errno == EEXIST)
		return 0;
	fr_err("cannot make %s for the control socket: %s: make it (RuntimeDirectory=flightrec), or say Socket=no", dir,
	       strerror(errno));
	return -errno;
}

/* What exists at the socket's path? 0: it may be replaced. */
static int check_place(const struct sockaddr_un *addr)
{
	struct stat st;

	if (lstat(addr->sun_path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode)) {
		fr_err("cannot listen on %s: it is there, and is not a socket: remove it", addr->sun_path);
		return -EEXIST;
	}
	if (!is_live(addr))
		return 0;
	fr_err("cannot listen on %s: another recorder does: choose another session's name with -n", addr->sun_path);
	return -EADDRINUSE;
}

/*
 * Bind under a temporary name, then rename: the socket appears complete or not at all, and atomically replaces that of a dead
 * recorder. Anybody may connect: SO_PEERCRED decides who may ask what.
 */
static int bind_and_listen(struct fr_ctl_server *s, const struct sockaddr_un *addr)
{
	struct sockaddr_un tmp = {.sun_family = AF_UNIX};
	struct stat st;

	if (snprintf(tmp.sun_path, sizeof(tmp.sun_path), "%s.new", addr->sun_path) >= (int)sizeof(tmp.sun_path))
		return -ENAMETOOLONG;
	s->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listen_fd < 0)
		return -errno;
	unlink(tmp.sun_path);
	if (bind(s->listen_fd, (const void *)&tmp, sizeof(tmp)))
		return -errno;
	if (chmod(tmp.sun_path, 0666) || listen(s->listen_fd, BACKLOG) || stat(tmp.sun_path, &st) ||
	    rename(tmp.sun_path, addr->sun_path)) {
		int err = -errno;

		unlink(tmp.sun_path);
		return err;
	}
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return 0;
}

static int open_socket(struct fr_ctl_server *s, const char *dir)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int err;

	if (strlen(s->path) + sizeof(".new") > sizeof(addr.sun_path)) {
		fr_err("cannot listen on %s: a socket's path has at most %zu bytes: use a shorter name", s->path,
		       sizeof(addr.sun_path) - sizeof(".new"));
		return -ENAMETOOLONG;
	}
	strcpy(addr.sun_path, s->path);
	err = server_make_dir(dir);
	err = err ?: check_place(&addr);
	if (err)
		return err;
	err = bind_and_listen(s, &addr);
	if (err)
		fr_err("cannot listen on %s: %s: see that the recorder may write to %s, or say Socket=no", s->path,
		       strerror(-err), dir);
	return err;
}

/* ---- clients ---- */

static int add_fd(struct fr_ctl_server *s, int fd, u32 nr)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u32 = nr};

	return fd < 0 || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int server_open_loop(struct fr_ctl_server *s)
{
	int err;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	err = add_fd(s, s->listen_fd, LISTENER);
	err = err ?: add_fd(s, s->timer_fd, TIMER);
	if (err)
		fr_err_errno(err, "cannot watch the control socket");
	return err;
}

int fr_ctl_server_new(const char *dir, const char *name, const struct fr_ctl_ops *ops, struct fr_ctl_server **out)
{
	struct fr_ctl_server *s = calloc(1, sizeof(*s));
	u32 i;
	int err;

	if (!s || asprintf(&s->path, "%s/%s.sock", dir, name) < 0) {
		free(s);
		return -ENOMEM;
	}
	s->ops = *ops;
	s->listen_fd = s->epoll_fd = s->timer_fd = -1;
	for (i = 0; i < FR_CTL_CLIENT_MAX; i++) {
		s->client[i].fd = -1;
		s->client[i].server = s;
	}
	err = open_socket(s, dir);
	err = err ?: server_open_loop(s);
	if (err) {
		fr_ctl_server_free(s);
		return err;
	}
	*out = s;
	return 0;
}

static void server_close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

bool fr_ctl_server_is_there(const struct fr_ctl_server *s)
{
	struct stat st;

	return s->ino && !lstat(s->path, &st) && st.st_dev == s->dev && st.st_ino == s->ino;
}

/* From epoll first: a child that was forked a moment ago may still have it open, and events go by the slot. */
static void drop(struct fr_ctl_server *s, struct fr_ctl_client *c)
{
	epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
	client_close(c);
}

void fr_ctl_server_free(struct fr_ctl_server *s)
{
	u32 i;

	if (!s)
		return;
	if (fr_ctl_server_is_there(s))
		unlink(s->path);
	for (i = 0; i < FR_CTL_CLIENT_MAX; i++)
		if (s->client[i].fd >= 0) {
			client_write(&s->client[i]);
			drop(s, &s->client[i]);
		}
	server_close_fd(s->listen_fd);
	server_close_fd(s->epoll_fd);
	server_close_fd(s->timer_fd);
	free(s->path);
	free(s);
}

int fr_ctl_server_fd(const struct fr_ctl_server *s)
{
	return s->epoll_fd;
}

/* ---- new connections ---- */

static int read_groups(int fd, struct fr_ctl_client *c)
{
	socklen_t sz = 0;

	/* query the size with a buffer that is too small */
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &sz) || errno != ERANGE || sz > GROUP_MAX * sizeof(gid_t))
		return 0; /* none, or a kernel that cannot tell: no membership, no permission */
	c->group = malloc(sz);
	if (!c->group)
		return -ENOMEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, c->group, &sz))
		return -errno;
	c->peer.group = c->group;
	c->peer.group_cnt = sz / sizeof(gid_t);
	return 0;
}

static int read_peer(int fd, struct fr_ctl_client *c)
{
	struct ucred cred;
	socklen_t sz = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &sz))
		return -errno;
	c->peer = (struct fr_ctl_peer){.pid = cred.pid, .uid = cred.uid, .gid = cred.gid};
	return 0;
}

/* The client, of one user or of all, that has been silent longest and neither watches nor waits for its answer. */
static struct fr_ctl_client *find_idle(struct fr_ctl_server *s, bool any, uid_t uid)
{
	struct fr_ctl_client *c, *found = NULL;

	for (c = s->client; c < s->client + FR_CTL_CLIENT_MAX; c++)
		if (c->fd >= 0 && !c->watches && !c->deferred && (any || c->peer.uid == uid) &&
		    (!found || c->deadline_ns < found->deadline_ns))
			found = c;
	return found;
}

static u32 count_user(const struct fr_ctl_server *s, uid_t uid)
{
	u32 cnt = 0, i;

	for (i = 0; i < FR_CTL_CLIENT_MAX; i++)
		cnt += s->client[i].fd >= 0 && s->client[i].peer.uid == uid;
	return cnt;
}

static struct fr_ctl_client *server_find_free(struct fr_ctl_server *s)
{
	u32 i;

	for (i = 0; i < FR_CTL_CLIENT_MAX; i++)
		if (s->client[i].fd < 0)
			return &s->client[i];
	return NULL;
}

static void say_and_close(int fd, struct fr_ctl_client *c, const char *line)
{
	struct iovec iov[] = {{(void *)line, strlen(line)}, {"\n", 1}};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};

	sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
	free(c->group);
}

/* A slot for a new client; NULL: none, even by dropping a silent one. */
static struct fr_ctl_client *make_place(struct fr_ctl_server *s, uid_t uid)
{
	bool own = uid && count_user(s, uid) >= FR_CTL_USER_MAX;
	struct fr_ctl_client *c = own ? NULL : server_find_free(s);

	if (c)
		return c;
	c = find_idle(s, !own, uid);
	if (!c)
		return NULL;
	client_put(c, full, sizeof(full) - 1);
	client_write(c);
	drop(s, c);
	return c;
}

/* Give it a slot, or say why not. Counted in either case. */
static const char *admit(struct fr_ctl_server *s, struct fr_ctl_client *new, u64 now_ns)
{
	const char *why = s->ops.refuse ? s->ops.refuse(s->ops.arg, &new->peer) : NULL;
	struct fr_ctl_client *c = why ? NULL : make_place(s, new->peer.uid);

	if (why)
		s->counts.denied++;
	else if (!c)
		s->counts.full++;
	if (!c)
		return why ?: full;
	new->deadline_ns = now_ns + fr_patience_ns(TIMEOUT_NS);
	*c = *new;
	if (add_fd(s, c->fd, c - s->client)) {
		drop(s, c);
		s->counts.failed++;
	} else {
		s->counts.served++;
	}
	return NULL;
}

/* A connection that was taken from the queue. What costs more than to ask who it is comes after the user's limit. */
static void meet(struct fr_ctl_server *s, int fd)
{
	struct fr_ctl_client new = {.fd = fd, .server = s, .id = ++s->next_id, .events = EPOLLIN};
	u64 now_ns = fr_now_ns(CLOCK_MONOTONIC);
	const char *why;

	if (read_peer(fd, &new)) {
		close(fd);
		s->counts.failed++;
		return;
	}
	if (!fr_admit_connection(&s->admit, new.peer.uid, now_ns)) {
		s->counts.rate++;
		say_and_close(fd, &new, too_often);
		return;
	}
	if (read_groups(fd, &new)) {
		close(fd);
		free(new.group);
		s->counts.failed++;
		return;
	}
	why = admit(s, &new, now_ns);
	if (why)
		say_and_close(fd, &new, why);
}

static void server_hear(struct fr_ctl_server *s, bool on)
{
	struct epoll_event ev = {.events = on ? EPOLLIN : 0, .data.u32 = LISTENER};

	epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, s->listen_fd, &ev);
}

/* Leave clients in the queue, and do not accept for a while, so that the loop does not spin. */
static void be_deaf(struct fr_ctl_server *s, u64 until_ns)
{
	server_hear(s, false);
	s->deaf_until_ns = until_ns;
}

static void accept_some(struct fr_ctl_server *s)
{
	u64 now_ns = fr_now_ns(CLOCK_MONOTONIC), full_until_ns;
	int fd, i;

	for (i = 0; i < ACCEPT_CNT; i++) {
		full_until_ns = fr_admit_wait(&s->admit, now_ns);
		if (full_until_ns) {
			be_deaf(s, full_until_ns);
			break;
		}
		fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0) {
			fr_admit_took(&s->admit);
			meet(s, fd);
		} else if (errno != EINTR && errno != ECONNABORTED) {
			if (errno != EAGAIN) /* no descriptor or memory for a client */
				be_deaf(s, now_ns + DEAF_NS);
			break;
		}
	}
}

/* ---- events ---- */

static void update(struct fr_ctl_server *s, struct fr_ctl_client *c)
{
	u32 wants = client_wants(c);
	struct epoll_event ev = {.events = wants, .data.u32 = c - s->client};

	if (wants == c->events)
		return;
	if (epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, c->fd, &ev))
		c->dead = true;
	c->events = wants;
}

/* Close dead clients, update what epoll watches for the others, and set the timer to the nearest deadline. */
static void server_settle(struct fr_ctl_server *s)
{
	u64 now = fr_now_ns(CLOCK_MONOTONIC), next;
	struct fr_ctl_client *c;

	if (s->deaf_until_ns && s->deaf_until_ns <= now) {
		s->deaf_until_ns = 0;
		server_hear(s, true);
	}
	next = s->deaf_until_ns;
	for (c = s->client; c < s->client + FR_CTL_CLIENT_MAX; c++) {
		if (c->fd < 0)
			continue;
		update(s, c);
		if (c->dead || (c->deadline_ns && c->deadline_ns <= now)) {
			drop(s, c);
			continue;
		}
		if (c->deadline_ns && (!next || c->deadline_ns < next))
			next = c->deadline_ns;
	}
	if (next != s->timer_ns) {
		struct itimerspec at = {.it_value = {next / FR_SEC_NS, next % FR_SEC_NS}};

		timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
		s->timer_ns = next;
	}
}

static void server_serve(struct fr_ctl_client *c, u32 events)
{
	if (c->fd < 0)
		return;
	client_serve(c);
	/* anything sent before hanging up has been handled; there is nobody to answer */
	if (events & (EPOLLHUP | EPOLLERR))
		c->dead = true;
}

void fr_ctl_server_run(struct fr_ctl_server *s)
{
	struct epoll_event ev[EVENT_CNT];
	bool come = false;
	u64 expired;
	int cnt, i;

	cnt = epoll_wait(s->epoll_fd, ev, EVENT_CNT, 0);
	for (i = 0; i < cnt; i++) {
		if (ev[i].data.u32 < FR_CTL_CLIENT_MAX)
			server_serve(&s->client[ev[i].data.u32], ev[i].events);
		else if (ev[i].data.u32 == TIMER && read(s->timer_fd, &expired, sizeof(expired)) > 0)
			s->timer_ns = 0;
		come |= ev[i].data.u32 == LISTENER;
	}
	/* last: the events above belong to the slots' previous clients */
	if (come)
		accept_some(s);
	server_settle(s);
}

static void server_changed(struct fr_ctl_server *s)
{
	u32 i;

	for (i = 0; i < FR_CTL_CLIENT_MAX; i++)
		if (s->client[i].fd >= 0)
			update(s, &s->client[i]);
}

struct fr_ctl_client *fr_ctl_find(struct fr_ctl_server *s, u64 id)
{
	u32 i;

	for (i = 0; i < FR_CTL_CLIENT_MAX; i++)
		if (s->client[i].fd >= 0 && s->client[i].id == id)
			return &s->client[i];
	return NULL;
}

const struct fr_ctl_counts *fr_ctl_server_counts(const struct fr_ctl_server *s)
{
	return &s->counts;
}

u32 fr_ctl_watchers(const struct fr_ctl_server *s)
{
	u32 cnt = 0, i;

	for (i = 0; i < FR_CTL_CLIENT_MAX; i++)
		cnt += s->client[i].fd >= 0 && s->client[i].watches;
	return cnt;
}

void fr_ctl_tell(struct fr_ctl_server *s, const char *line, size_t sz)
{
	u32 i;

	for (i = 0; i < FR_CTL_CLIENT_MAX; i++)
		if (s->client[i].fd >= 0 && s->client[i].watches)
			client_tell(&s->client[i], line, sz);
	server_changed(s);
}
