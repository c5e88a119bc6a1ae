/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The control socket's server against clients that are rude: it stays alive, keeps its limits, and serves the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "live/ctl/ctl_server.h"

#define PATIENCE_MS 30000

static bool no_descriptor; /* for a client */

/* Instead of the C library's. */
int accept4(int fd, __SOCKADDR_ARG addr, socklen_t *sz, int flags)
{
	if (!no_descriptor)
		return syscall(SYS_accept4, fd, addr.__sockaddr__, sz, flags);
	errno = EMFILE;
	return -1;
}

static u64 stopped_ns; /* where the clock stands still; 0: it does not */

/* Instead of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (!stopped_ns)
		return syscall(SYS_clock_gettime, clock, ts);
	*ts = (struct timespec){stopped_ns / 1000000000, stopped_ns % 1000000000};
	return 0;
}

struct rig {
	char dir[64], path[128];
	struct fr_ctl_server *s;
	u64 deferred; /* id of who waits */
	u32 asked;
	bool refusing;
};

static const char *refuse(void *arg, const struct fr_ctl_peer *peer)
{
	struct rig *r = arg;

	assert_int_equal(peer->uid, getuid());
	assert_int_equal(peer->pid, getpid());
	return r->refusing ? "{\"ok\":false}" : NULL;
}

/* watch, later, big: what the words say; anything else comes back. */
static void request(void *arg, struct fr_ctl_client *c, const char *line, size_t sz)
{
	static char big[100000];
	struct rig *r = arg;

	r->asked++;
	if (sz == 5 && !memcmp(line, "watch", 5)) {
		assert_int_equal(fr_ctl_watch(c), 0);
		fr_ctl_reply(c, "on", 2);
	} else if (sz == 5 && !memcmp(line, "later", 5)) {
		r->deferred = fr_ctl_client_id(c);
		fr_ctl_defer(c);
	} else if (sz == 3 && !memcmp(line, "big", 3)) {
		memset(big, 'b', sizeof(big));
		fr_ctl_reply(c, big, sizeof(big));
	} else {
		fr_ctl_reply(c, line, sz);
	}
}

static int listen_in(struct rig *r)
{
	const struct fr_ctl_ops ops = {.refuse = refuse, .request = request, .arg = r};

	return fr_ctl_server_new(r->dir, "test", &ops, &r->s);
}

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	strcpy(r->dir, "/tmp/fr-ctl-XXXXXX");
	if (!mkdtemp(r->dir))
		return -1;
	snprintf(r->path, sizeof(r->path), "%s/test.sock", r->dir);
	*state = r;
	return listen_in(r);
}

static int teardown(void **state)
{
	struct rig *r = *state;

	fr_ctl_server_free(r->s);
	unlink(r->path);
	rmdir(r->dir);
	free(r);
	return 0;
}

static void run(struct rig *r)
{
	struct pollfd p = {.fd = fr_ctl_server_fd(r->s), .events = POLLIN};
	int i;

	for (i = 0; i < 1000 && poll(&p, 1, 0) > 0; i++)
		fr_ctl_server_run(r->s);
	if (i == 1000)
		fail_msg("the server never rests: a loop that it is in would spin");
}

/* In the server's queue. */
static int knock(const struct rig *r)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	strcpy(addr.sun_path, r->path);
	assert_int_equal(connect(fd, (void *)&addr, sizeof(addr)), 0);
	return fd;
}

static int join(struct rig *r)
{
	int fd = knock(r);

	run(r);
	return fd;
}

static void say(struct rig *r, int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	run(r);
}

/* All there is now. */
static size_t hear(struct rig *r, int fd, char *buf, size_t sz)
{
	size_t got = 0;
	ssize_t n;

	while (got < sz - 1 && (n = recv(fd, buf + got, sz - 1 - got, 0)) > 0) {
		got += n;
		run(r);
	}
	buf[got] = 0;
	return got;
}

static void expect(struct rig *r, int fd, const char *want)
{
	char buf[1024];

	hear(r, fd, buf, sizeof(buf));
	assert_string_equal(buf, want);
}

static bool is_closed(int fd)
{
	char c;

	return recv(fd, &c, 1, 0) == 0 || (errno != EAGAIN && errno != EINTR);
}

static bool is_served(struct rig *r)
{
	char buf[64];
	int fd = join(r);

	say(r, fd, "hello\n");
	hear(r, fd, buf, sizeof(buf));
	close(fd);
	run(r);
	return !strcmp(buf, "hello\n");
}

/* Lets time pass in the server until this is so of fd. */
static void wait_until(struct rig *r, bool (*is)(int fd), int fd)
{
	struct pollfd p = {.fd = fr_ctl_server_fd(r->s), .events = POLLIN};
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - begin.tv_sec > PATIENCE_MS / 1000)
			fail_msg("nothing happens");
		poll(&p, 1, 100);
		run(r);
	} while (!is(fd));
}

static void wait_closed(struct rig *r, int fd)
{
	wait_until(r, is_closed, fd);
	close(fd);
}

static void test_answers(void **state)
{
	struct rig *r = *state;
	int fd = join(r), i;

	say(r, fd, "a\n");
	expect(r, fd, "a\n");
	for (i = 0; i < 3; i++)
		say(r, fd, "x");
	expect(r, fd, "");
	say(r, fd, "y\nz\n\nhalf");
	expect(r, fd, "xxxy\nz\n\n");
	say(r, fd, "\n");
	expect(r, fd, "half\n");
	/* said, and hung up behind it: it is answered all the same */
	assert_int_equal(send(fd, "last\n", 5, 0), 5);
	shutdown(fd, SHUT_WR);
	run(r);
	expect(r, fd, "last\n");
	assert_true(is_closed(fd));
	close(fd);
	assert_true(is_served(r));
}

static void test_place(void **state)
{
	struct rig *r = *state;
	struct stat st;
	struct fr_ctl_server *mine = r->s;
	int fd;

	assert_int_equal(stat(r->path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0666);
	/* who lives is not replaced */
	assert_int_equal(listen_in(r), -EADDRINUSE);
	r->s = mine;
	run(r);
	assert_true(is_served(r));
	/* who is dead is: a socket that nobody listens on */
	fr_ctl_server_free(r->s);
	r->s = NULL;
	assert_int_equal(stat(r->path, &st), -1);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	{
		struct sockaddr_un addr = {.sun_family = AF_UNIX};

		strcpy(addr.sun_path, r->path);
		assert_int_equal(bind(fd, (void *)&addr, sizeof(addr)), 0);
	}
	close(fd);
	assert_int_equal(listen_in(r), 0);
	assert_true(is_served(r));
	/* another's socket in our place is not removed */
	unlink(r->path);
	close(open(r->path, O_CREAT | O_WRONLY, 0600));
	fr_ctl_server_free(r->s);
	r->s = NULL;
	assert_int_equal(stat(r->path, &st), 0);
	/* nor is what is no socket */
	assert_int_equal(listen_in(r), -EEXIST);
	r->s = NULL;
}

/* A listener that is dead, though a process it forked has its socket still. */
static void test_forked(void **state)
{
	struct rig *r = *state;
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int ready[2], hold[2], fd;
	pid_t pid;
	char c;

	fr_ctl_server_free(r->s);
	r->s = NULL;
	strcpy(addr.sun_path, r->path);
	assert_int_equal(pipe(ready) | pipe(hold), 0);
	pid = fork();
	if (!pid) {
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (bind(fd, (void *)&addr, sizeof(addr)) || listen(fd, 5))
			_exit(1);
		if (fork())
			_exit(0);
		close(hold[1]);
		c = write(ready[1], "r", 1);
		_exit(read(hold[0], &c, 1) != 0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(listen_in(r), 0);
	assert_true(is_served(r));
	close(hold[1]);
	close(hold[0]);
	close(ready[0]);
	close(ready[1]);
}

static void test_size(void **state)
{
	struct rig *r = *state;
	char line[FR_CTL_REQUEST_MAX + 1], buf[FR_CTL_REQUEST_MAX + 2];
	int fd = join(r);

	memset(line, 'l', sizeof(line));
	line[FR_CTL_REQUEST_MAX - 1] = '\n';
	line[FR_CTL_REQUEST_MAX] = 0;
	say(r, fd, line);
	assert_int_equal(hear(r, fd, buf, sizeof(buf)), FR_CTL_REQUEST_MAX);
	line[FR_CTL_REQUEST_MAX - 1] = 'l';
	say(r, fd, line);
	hear(r, fd, buf, sizeof(buf));
	assert_non_null(strstr(buf, "too long"));
	assert_true(is_closed(fd));
	close(fd);
	assert_true(is_served(r));
}

static void test_refused(void **state)
{
	struct rig *r = *state;
	int fd;

	r->refusing = true;
	fd = join(r);
	expect(r, fd, "{\"ok\":false}\n");
	assert_true(is_closed(fd));
	close(fd);
	r->refusing = false;
	assert_true(is_served(r));
	assert_int_equal(r->asked, 1);
}

/* The silent ones make room for others; who watches, or waits for an answer, does not. */
static void test_many(void **state)
{
	struct rig *r = *state;
	int fd[3 * FR_CTL_CLIENT_MAX], cnt = sizeof(fd) / sizeof(fd[0]), i, left = 0,
				       most = getuid() ? FR_CTL_USER_MAX : FR_CTL_CLIENT_MAX;
	int watches = join(r), waits = join(r);
	char buf[256];

	say(r, watches, "watch\n");
	expect(r, watches, "on\n");
	say(r, waits, "later\n");
	for (i = 0; i < cnt; i++)
		fd[i] = join(r);
	for (i = 0; i < cnt; i++)
		left += !hear(r, fd[i], buf, sizeof(buf)) && !is_closed(fd[i]);
	assert_int_equal(left, most - 2);
	fr_ctl_tell(r->s, "still", 5);
	expect(r, watches, "still\n");
	fr_ctl_reply(fr_ctl_find(r->s, r->deferred), "done", 4);
	run(r);
	expect(r, waits, "done\n");
	close(watches);
	close(waits);
	assert_true(is_served(r));
	for (i = 0; i < cnt; i++)
		close(fd[i]);
	run(r);
	assert_true(is_served(r));
}

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void send_four(struct rig *r, int fd)
{
	assert_int_equal(send(fd, "a\nb\nc\nd\n", 8, MSG_NOSIGNAL), 8);
	run(r);
}

/* So many requests in a second, and none more; in the next one as many again. */
static void test_rate(void **state)
{
	struct rig *r = *state;
	char buf[4096];
	int fd = join(r), i;

	stopped_ns = now_ns();
	for (i = 0; i < 2 * (int)FR_CTL_RATE_MAX / 4; i++) {
		if (i == (int)FR_CTL_RATE_MAX / 4)
			stopped_ns += 1000000000;
		send_four(r, fd);
		hear(r, fd, buf, sizeof(buf));
	}
	assert_int_equal(r->asked, 2 * FR_CTL_RATE_MAX);
	stopped_ns += 999999999;
	send_four(r, fd);
	assert_int_equal(r->asked, 2 * FR_CTL_RATE_MAX);
	hear(r, fd, buf, sizeof(buf));
	assert_non_null(strstr(buf, "too many requests"));
	stopped_ns = 0;
	close(fd);
	assert_true(is_served(r));
}

static void test_deferred(void **state)
{
	struct rig *r = *state;
	int fd = join(r);
	u64 id;

	say(r, fd, "later\nnext\n");
	expect(r, fd, "");
	assert_true(is_served(r));
	id = r->deferred;
	assert_non_null(fr_ctl_find(r->s, id));
	fr_ctl_reply(fr_ctl_find(r->s, id), "done", 4);
	run(r);
	expect(r, fd, "done\nnext\n");
	/* gone before its answer */
	say(r, fd, "later\n");
	close(fd);
	run(r);
	assert_null(fr_ctl_find(r->s, id));
	assert_true(is_served(r));
}

static void test_watch(void **state)
{
	struct rig *r = *state;
	char *buf = malloc(2 << 20);
	char line[1000];
	int fd = join(r), other = join(r), i, missed = 0;
	size_t got;

	say(r, fd, "watch\n");
	expect(r, fd, "on\n");
	say(r, other, "watch\n");
	expect(r, other, "on\n");
	fr_ctl_tell(r->s, "one", 3);
	expect(r, fd, "one\n");
	expect(r, other, "one\n");
	memset(line, '.', sizeof(line));
	for (i = 0; i < 2000; i++) {
		fr_ctl_tell(r->s, line, sizeof(line));
		run(r);
		/* this one reads, and misses nothing */
		got = hear(r, other, buf, 2 << 20);
		assert_int_equal(got, sizeof(line) + 1);
	}
	hear(r, fd, buf, 2 << 20);
	fr_ctl_tell(r->s, "last", 4);
	got = strlen(buf);
	hear(r, fd, buf + got, (2 << 20) - got);
	assert_non_null(strstr(buf, "\n{\"watch\":\"missed\",\"lines\":"));
	sscanf(strstr(buf, "\"lines\":"), "\"lines\":%d", &missed);
	assert_int_equal(missed + strlen(buf) / (sizeof(line) + 1), 2000);
	assert_string_equal(buf + strlen(buf) - 5, "last\n");
	close(other);
	run(r);
	assert_int_equal(fr_ctl_watchers(r->s), 1);
	close(fd);
	free(buf);
	run(r);
	assert_int_equal(fr_ctl_watchers(r->s), 0);
}

static void test_never_reads(void **state)
{
	struct rig *r = *state;
	int fd = join(r), i;

	for (i = 0; i < 20; i++)
		if (send(fd, "big\n", 4, MSG_NOSIGNAL) == 4)
			run(r);
	/* no more was made than one may leave unread, and one answer */
	assert_true(r->asked < 10);
	assert_true(is_served(r));
	close(fd);
	run(r);
	assert_true(is_served(r));
}

/*
 * Silent, or with half a request, or with an answer that it does not read: after FR_CTL_TIMEOUT_MS it goes. Who waits for an
 * answer stays.
 */
static void test_slow(void **state)
{
	struct rig *r = *state;
	int waits = join(r), silent, half, deaf, watcher, i;

	say(r, waits, "later\n");
	silent = join(r);
	half = join(r);
	deaf = join(r);
	watcher = join(r);
	say(r, watcher, "watch\n");
	expect(r, watcher, "on\n");
	for (i = 0; i < 5; i++)
		say(r, half, "x");
	for (i = 0; i < 5; i++)
		say(r, deaf, "big\n");
	wait_closed(r, silent);
	wait_closed(r, half);
	assert_int_equal(fr_ctl_watchers(r->s), 1);
	fr_ctl_tell(r->s, "still", 5);
	expect(r, watcher, "still\n");
	assert_non_null(fr_ctl_find(r->s, r->deferred));
	fr_ctl_reply(fr_ctl_find(r->s, r->deferred), "done", 4);
	run(r);
	expect(r, waits, "done\n");
	close(waits);
	close(watcher);
	close(deaf);
	run(r);
	assert_true(is_served(r));
}

static bool has_answer(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/* Without a descriptor for who knocks, the server does not spin; when there is one, that client is served. */
static void test_no_descriptor(void **state)
{
	struct rig *r = *state;
	int fd = knock(r);

	no_descriptor = true;
	say(r, fd, "hello\n");
	no_descriptor = false;
	assert_int_equal(r->asked, 0);
	wait_until(r, has_answer, fd);
	expect(r, fd, "hello\n");
	close(fd);
}

#define RIGGED(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RIGGED(test_answers), RIGGED(test_forked),	RIGGED(test_place), RIGGED(test_size),
		RIGGED(test_refused), RIGGED(test_many),	RIGGED(test_rate),  RIGGED(test_deferred),
		RIGGED(test_watch),   RIGGED(test_never_reads), RIGGED(test_slow),  RIGGED(test_no_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
