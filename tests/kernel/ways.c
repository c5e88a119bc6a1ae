/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ways: ways to wait, one after the other, each ended by a known task or by time. For each a line of JSON: what is known of it.
 *
 *	ways NAME DIR		NAME: what the thread that waits calls itself; DIR: for files
 *
 * The thread waits in one call. Another one finds it asleep in /proc, which also tells the call and its arguments, reads the
 * clock, and ends it. So the wait lies between the waiter's two readings, and its sleep around the other's two.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "moments.h"

#define LONG_MS 20

static const char *thread_name, *dir;
static int fd[4] = {-1, -1, -1, -1}; /* of the way that is tried; fd[0] is waited on */
static int ipc = -1;
static pid_t child;
static unsigned word;
static char object[300]; /* as the record should have it; "" unknown */
static long long from_ns, until_ns;
static volatile pid_t tid;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "ways: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void in_dir(char *path, size_t sz, const char *name)
{
	snprintf(path, sz, "%s/%s", dir, name);
}

/* The object of a descriptor that has a link in /proc: of "anon_inode:[eventfd]" what is behind the colon. */
static void link_object(int of)
{
	char path[64], link[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", of);
	n = readlink(path, link, sizeof(link) - 1);
	must(n > 0, path);
	link[n] = 0;
	snprintf(object, sizeof(object), "%s", strncmp(link, "anon_inode:", 11) ? link : link + 11);
}

static void read_byte(int from)
{
	char c;

	must(read(from, &c, 1) >= 0 || errno == EINTR, "read");
}

static void write_byte(int to)
{
	must(write(to, "x", 1) == 1, "write");
}

/* ---- time ---- */

static void nothing(void)
{
}

static void wait_sleep(void)
{
	sleep_ms(LONG_MS);
}

static void begin_timerfd(void)
{
	struct itimerspec it = {.it_value.tv_nsec = LONG_MS * 1000000};

	fd[0] = timerfd_create(CLOCK_MONOTONIC, 0);
	must(fd[0] >= 0 && !timerfd_settime(fd[0], 0, &it, NULL), "timerfd");
	link_object(fd[0]);
}

static void wait_u64(void)
{
	unsigned long long v;

	must(read(fd[0], &v, 8) == 8, "read");
}

static void wait_poll_time(void)
{
	poll(NULL, 0, LONG_MS);
}

static void wait_futex_time(void)
{
	struct timespec ts = {0, LONG_MS * 1000000};

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &ts, NULL, 0);
}

static void begin_epoll(void)
{
	fd[0] = epoll_create1(0);
	must(fd[0] >= 0, "epoll");
	link_object(fd[0]);
}

static void wait_epoll_time(void)
{
	struct epoll_event e;

	epoll_wait(fd[0], &e, 1, LONG_MS);
}

/* ---- pipes, events ---- */

static void begin_pipe(void)
{
	must(!pipe(fd), "pipe");
	link_object(fd[0]);
}

static void wait_read(void)
{
	read_byte(fd[0]);
}

static void wake_write(void)
{
	write_byte(fd[1]);
}

/* fd[0] is what the waiter writes to, and the pipe is full. */
static void begin_full_pipe(void)
{
	static char page[65536];
	int end[2];

	must(!pipe(end), "pipe");
	fd[0] = end[1];
	fd[1] = end[0];
	must(fcntl(fd[0], F_SETPIPE_SZ, 4096) == 4096 && write(fd[0], page, 4096) == 4096, "a full pipe");
	link_object(fd[0]);
}

static void wait_write(void)
{
	write_byte(fd[0]);
}

static void wake_drain(void)
{
	char page[4096];

	must(read(fd[1], page, sizeof(page)) > 0, "read");
}

static void begin_eventfd(void)
{
	fd[0] = eventfd(0, 0);
	must(fd[0] >= 0, "eventfd");
	link_object(fd[0]);
}

static void wake_eventfd(void)
{
	unsigned long long one = 1;

	must(write(fd[0], &one, 8) == 8, "write");
}

static void begin_epoll_event(void)
{
	struct epoll_event e = {.events = EPOLLIN};

	fd[1] = eventfd(0, 0);
	begin_epoll();
	must(!epoll_ctl(fd[0], EPOLL_CTL_ADD, fd[1], &e), "epoll_ctl");
}

static void wait_epoll(void)
{
	struct epoll_event e;

	must(epoll_wait(fd[0], &e, 1, -1) == 1, "epoll_wait");
}

static void wake_event(void)
{
	unsigned long long one = 1;

	must(write(fd[1], &one, 8) == 8, "write");
}

static void begin_inotify(void)
{
	fd[0] = inotify_init1(0);
	must(fd[0] >= 0 && inotify_add_watch(fd[0], dir, IN_CREATE) >= 0, "inotify");
	link_object(fd[0]);
}

static void wait_inotify(void)
{
	char buf[4096];

	must(read(fd[0], buf, sizeof(buf)) > 0, "read");
}

static void wake_inotify(void)
{
	char path[256];

	in_dir(path, sizeof(path), "noticed");
	fd[1] = open(path, O_CREAT | O_WRONLY, 0600);
}

/* ---- sockets ---- */

static void begin_unix(void)
{
	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd), "socketpair");
	snprintf(object, sizeof(object), "unix:");
}

static void wait_recv(void)
{
	char c;

	must(recv(fd[0], &c, 1, 0) == 1, "recv");
}

static void wait_poll(void)
{
	struct pollfd p = {fd[0], POLLIN, 0};

	must(poll(&p, 1, -1) == 1, "poll");
}

static void wait_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd[0], &set);
	must(select(fd[0] + 1, &set, NULL, NULL, NULL) == 1, "select");
}

static void begin_two(void)
{
	begin_pipe();
	*object = 0; /* one is said, or none */
}

static void wait_poll_two(void)
{
	struct pollfd p[] = {{fd[0], POLLIN, 0}, {fd[1], POLLPRI, 0}};

	must(poll(p, 2, -1) == 1, "poll");
}

static void wait_select_two(void)
{
	fd_set in, bad;

	FD_ZERO(&in);
	FD_ZERO(&bad);
	FD_SET(fd[0], &in);
	FD_SET(fd[1], &bad);
	must(select(fd[1] + 1, &in, NULL, &bad, NULL) == 1, "select");
}

static int listen_unix(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	in_dir(a.sun_path, sizeof(a.sun_path), "listens");
	unlink(a.sun_path);
	must(s >= 0 && !bind(s, (void *)&a, sizeof(a)) && !listen(s, 1), "listen");
	snprintf(object, sizeof(object), "unix:%s", a.sun_path);
	return s;
}

static void begin_accept(void)
{
	fd[0] = listen_unix();
}

static void wait_accept(void)
{
	fd[2] = accept(fd[0], NULL, NULL);
	must(fd[2] >= 0, "accept");
}

static void wake_accept(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	in_dir(a.sun_path, sizeof(a.sun_path), "listens");
	fd[1] = socket(AF_UNIX, SOCK_STREAM, 0);
	must(fd[1] >= 0 && !connect(fd[1], (void *)&a, sizeof(a)), "connect");
}

/* A client of the listening socket: its peer has the address. */
static void begin_unix_client(void)
{
	fd[2] = listen_unix();
	wake_accept();
	fd[0] = fd[1];
	fd[1] = accept(fd[2], NULL, NULL);
	must(fd[1] >= 0, "accept");
}

static void begin_inet(int type)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, b;
	socklen_t sz = sizeof(a);
	int s = socket(AF_INET, type, 0);

	must(s >= 0 && !bind(s, (void *)&a, sizeof(a)) && !getsockname(s, (void *)&a, &sz), "bind");
	fd[1] = socket(AF_INET, type, 0);
	if (type == SOCK_STREAM) {
		must(!listen(s, 1) && !connect(fd[1], (void *)&a, sizeof(a)), "connect");
		fd[0] = accept(s, NULL, NULL);
		close(s);
	} else {
		must(!connect(fd[1], (void *)&a, sizeof(a)) && !getsockname(fd[1], (void *)&b, &sz), "connect");
		must(!connect(s, (void *)&b, sizeof(b)), "connect");
		fd[0] = s;
	}
	must(!getsockname(fd[1], (void *)&b, &sz), "getsockname");
	snprintf(object, sizeof(object), "%s:127.0.0.1:%u-127.0.0.1:%u", type == SOCK_STREAM ? "tcp" : "udp", ntohs(a.sin_port),
		 ntohs(b.sin_port));
}

static void begin_tcp(void)
{
	begin_inet(SOCK_STREAM);
}

static void begin_udp(void)
{
	begin_inet(SOCK_DGRAM);
}

/* ---- locks ---- */

static void wait_futex(void)
{
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void wake_futex(void)
{
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void begin_flock(void)
{
	char path[256];

	in_dir(path, sizeof(path), "locked");
	fd[0] = open(path, O_CREAT | O_RDWR, 0600);
	fd[1] = open(path, O_RDWR);
	must(fd[0] >= 0 && fd[1] >= 0 && !flock(fd[1], LOCK_EX), "flock");
	link_object(fd[0]);
}

static void wait_flock(void)
{
	must(!flock(fd[0], LOCK_EX), "flock");
}

static void wake_flock(void)
{
	must(!flock(fd[1], LOCK_UN), "flock");
}

static void set_lock(int of, int cmd, int type)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

	must(!fcntl(of, cmd, &l), "fcntl");
}

static void begin_ofd(void)
{
	begin_flock();
	wake_flock();
	set_lock(fd[1], F_OFD_SETLK, F_WRLCK);
}

static void wait_ofd(void)
{
	set_lock(fd[0], F_OFD_SETLKW, F_WRLCK);
}

static void wake_ofd(void)
{
	set_lock(fd[1], F_OFD_SETLK, F_UNLCK);
}

static void begin_sem(void)
{
	ipc = semget(IPC_PRIVATE, 1, 0600);
	must(ipc >= 0, "semget");
}

static void sem_add(int n)
{
	struct sembuf b = {0, n, 0};

	must(!semop(ipc, &b, 1), "semop");
}

static void wait_sem(void)
{
	sem_add(-1);
}

static void wake_sem(void)
{
	sem_add(1);
}

static void end_sem(void)
{
	semctl(ipc, 0, IPC_RMID);
}

static void begin_msg(void)
{
	ipc = msgget(IPC_PRIVATE, 0600);
	must(ipc >= 0, "msgget");
}

struct message {
	long type;
	char text[8];
};

static void wait_msg(void)
{
	struct message m;

	must(msgrcv(ipc, &m, sizeof(m.text), 0, 0) >= 0, "msgrcv");
}

static void wake_msg(void)
{
	struct message m = {1, "x"};

	must(!msgsnd(ipc, &m, sizeof(m.text), 0), "msgsnd");
}

static void end_msg(void)
{
	msgctl(ipc, IPC_RMID, NULL);
}

/* ---- processes and signals ---- */

/* It ends when the pipe does. */
static void begin_child(void)
{
	must(!pipe2(fd, O_CLOEXEC), "pipe");
	child = fork();
	must(child >= 0, "fork");
	if (child)
		return;
	close(fd[1]);
	read_byte(fd[0]);
	_exit(0);
}

static void wait_wait4(void)
{
	must(wait4(child, NULL, 0, NULL) == child, "wait4");
}

static void wait_waitid(void)
{
	siginfo_t si;

	must(!waitid(P_PID, child, &si, WEXITED), "waitid");
}

static void wake_child(void)
{
	close(fd[1]);
	fd[1] = -1;
}

static void block(int sig, int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(how, &set, NULL);
}

static void wait_sigwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	must(sigwaitinfo(&set, NULL) == SIGUSR1, "sigwaitinfo");
}

static void wake_signal(void)
{
	must(!syscall(SYS_tgkill, getpid(), tid, SIGUSR1), "tgkill");
}

static void begin_signalfd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	fd[0] = signalfd(-1, &set, 0);
	must(fd[0] >= 0, "signalfd");
	link_object(fd[0]);
}

static void wait_signalfd(void)
{
	struct signalfd_siginfo si;

	must(read(fd[0], &si, sizeof(si)) == sizeof(si), "read");
}

static void begin_fifo(void)
{
	char path[256];

	in_dir(path, sizeof(path), "fifo");
	must(!mkfifo(path, 0600), "mkfifo");
}

static void wait_open(void)
{
	char path[256];

	in_dir(path, sizeof(path), "fifo");
	fd[0] = open(path, O_RDONLY);
	must(fd[0] >= 0, "open");
}

static void wake_open(void)
{
	char path[256];

	in_dir(path, sizeof(path), "fifo");
	fd[1] = open(path, O_WRONLY);
}

/* ---- all ---- */

enum by { BY_TIME, BY_US, BY_CHILD };

static const struct way {
	const char *name;
	enum by by;
	void (*begin)(void), (*wait)(void), (*wake)(void), (*end)(void);
} ways[] = {
	{"nanosleep", BY_TIME, nothing, wait_sleep, nothing, nothing},
	{"timerfd", BY_TIME, begin_timerfd, wait_u64, nothing, nothing},
	{"poll-timeout", BY_TIME, nothing, wait_poll_time, nothing, nothing},
	{"futex-timeout", BY_TIME, nothing, wait_futex_time, nothing, nothing},
	{"epoll-timeout", BY_TIME, begin_epoll, wait_epoll_time, nothing, nothing},
	{"pipe-read", BY_US, begin_pipe, wait_read, wake_write, nothing},
	{"pipe-write", BY_US, begin_full_pipe, wait_write, wake_drain, nothing},
	{"eventfd", BY_US, begin_eventfd, wait_u64, wake_eventfd, nothing},
	{"epoll", BY_US, begin_epoll_event, wait_epoll, wake_event, nothing},
	{"inotify", BY_US, begin_inotify, wait_inotify, wake_inotify, nothing},
	{"unix-recv", BY_US, begin_unix, wait_recv, wake_write, nothing},
	{"unix-poll-fd", BY_US, begin_unix, wait_poll, wake_write, nothing},
	{"pipe-poll-fd", BY_US, begin_pipe, wait_poll, wake_write, nothing},
	{"select-poll-fd", BY_US, begin_pipe, wait_select, wake_write, nothing},
	{"poll-two", BY_US, begin_two, wait_poll_two, wake_write, nothing},
	{"select-two", BY_US, begin_two, wait_select_two, wake_write, nothing},
	{"unix-accept", BY_US, begin_accept, wait_accept, wake_accept, nothing},
	{"unix-client", BY_US, begin_unix_client, wait_recv, wake_write, nothing},
	{"tcp-recv", BY_US, begin_tcp, wait_recv, wake_write, nothing},
	{"udp-recv", BY_US, begin_udp, wait_recv, wake_write, nothing},
	{"futex", BY_US, nothing, wait_futex, wake_futex, nothing},
	{"flock", BY_US, begin_flock, wait_flock, wake_flock, nothing},
	{"ofd-lock", BY_US, begin_ofd, wait_ofd, wake_ofd, nothing},
	{"semop", BY_US, begin_sem, wait_sem, wake_sem, end_sem},
	{"msgrcv", BY_US, begin_msg, wait_msg, wake_msg, end_msg},
	{"wait4", BY_CHILD, begin_child, wait_wait4, wake_child, nothing},
	{"waitid", BY_CHILD, begin_child, wait_waitid, wake_child, nothing},
	{"sigwait", BY_US, nothing, wait_sigwait, wake_signal, nothing},
	{"signalfd", BY_US, begin_signalfd, wait_signalfd, wake_signal, nothing},
	{"fifo-open", BY_US, begin_fifo, wait_open, wake_open, nothing},
};

static void *waiter(void *arg)
{
	const struct way *w = arg;

	prctl(PR_SET_NAME, thread_name);
	from_ns = now_ns();
	__atomic_store_n(&tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	w->wait();
	until_ns = now_ns();
	return NULL;
}

static int read_proc(const char *what, char *buf, size_t sz)
{
	char path[64];
	ssize_t got;
	int f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, what);
	f = open(path, O_RDONLY | O_CLOEXEC);
	got = f < 0 ? -1 : read(f, buf, sz - 1);
	if (f >= 0)
		close(f);
	buf[got < 0 ? 0 : got] = 0;
	return got > 0;
}

/* Wait until it sleeps, in its call: the line of /proc/PID/syscall, "NR ARG0 ... ARG5 SP PC". */
static long long see_asleep(char *call, size_t sz)
{
	char stat[512], again[256];

	for (;;) {
		if (read_proc("syscall", call, sz) && strncmp(call, "running", 7) && read_proc("stat", stat, sizeof(stat)) &&
		    strstr(stat, ") S") && read_proc("syscall", again, sizeof(again)) && !strcmp(call, again))
			return now_ns();
		sleep_ms(1);
	}
}

static void try(const struct way *w)
{
	char call[256] = "";
	long long seen = 0, wake = 0;
	pthread_t thread;
	int i;

	*object = 0;
	tid = 0;
	w->begin();
	must(!pthread_create(&thread, NULL, waiter, (void *)w), "a thread");
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	if (w->by != BY_TIME) {
		seen = see_asleep(call, sizeof(call));
		sleep_ms(8);
		wake = now_ns();
		w->wake();
	}
	must(!pthread_join(thread, NULL), "join");
	printf("{\"way\": \"%s\", \"tid\": %d, \"from\": %lld, \"until\": %lld, \"seen\": %lld, \"wake\": %lld, \"call\": "
	       "\"%s\", "
	       "\"object\": \"%s\", \"waker\": %d}\n",
	       w->name, tid, from_ns, until_ns, seen, wake, strtok(call, "\n") ?: "", object,
	       w->by == BY_US	   ? (int)syscall(SYS_gettid)
	       : w->by == BY_CHILD ? child
				   : 0);
	fflush(stdout);
	w->end();
	for (i = 0; i < 4; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
		fd[i] = -1;
	}
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 3)
		return 2;
	thread_name = argv[1];
	dir = argv[2];
	block(SIGUSR1, SIG_BLOCK);
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		try(&ways[i]);
	return 0;
}
