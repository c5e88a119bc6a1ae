/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * failing WHAT: ends with status 7 after
 *
 *	compat	the port of a socket was in use, and a 32-bit futex timed out
 *	handler	likewise, and a signal's handler returned to a call that failed otherwise
 *	threads	likewise in two threads, which are in exit_group at once
 *
 * 77: not possible here.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define STATUS	7
#define CANNOT	77
#define HELD	8 /* the status of the thread that is held */
#define WAIT_MS 60000

static struct sockaddr_in used = {.sin_family = AF_INET};
static int used_fd;

static void fail_bind(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || !bind(fd, (const struct sockaddr *)&used, sizeof(used)) || errno != EADDRINUSE)
		_exit(CANNOT);
}

#if defined(__x86_64__)
#define COMPAT_FUTEX 240
#define FUTEX_WAIT   0

/* Where a 32-bit program could have it. */
static void fail_compat(void)
{
	int *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long nr = COMPAT_FUTEX;

	if (low == MAP_FAILED)
		_exit(CANNOT);
	low[2] = 1; /* ns, of a time of two words behind the futex */
	asm volatile("int $0x80"
		     : "+a"(nr)
		     : "b"(low), "c"(FUTEX_WAIT), "d"(0), "S"(low + 1)
		     : "memory", "r8", "r9", "r10", "r11");
	if ((int)nr != -ETIMEDOUT)
		_exit(CANNOT);
}

static void set_result(ucontext_t *c, long ret)
{
	c->uc_mcontext.gregs[REG_RAX] = ret;
}
#else
static void fail_compat(void)
{
	_exit(CANNOT);
}

static void set_result(ucontext_t *c, long ret)
{
	c->uc_mcontext.regs[0] = ret;
}
#endif

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	set_result(context, -ENOSPC);
}

static void fail_in_handler(void)
{
	struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
}

static void *fail_and_end(void *unused)
{
	fail_bind();
	syscall(SYS_exit_group, HELD);
	return unused;
}

/* The other one is held in its call by a filter that asks us, and we end the process meanwhile. */
static void fail_beside(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	struct pollfd asked = {.events = POLLIN};
	pthread_t other;

	if (!filter || seccomp_rule_add(filter, SCMP_ACT_NOTIFY, SCMP_SYS(exit_group), 1, SCMP_A0(SCMP_CMP_EQ, HELD)) ||
	    seccomp_load(filter))
		_exit(CANNOT);
	asked.fd = seccomp_notify_fd(filter);
	if (pthread_create(&other, NULL, fail_and_end, NULL) || poll(&asked, 1, WAIT_MS) != 1)
		_exit(CANNOT);
}

int main(int argc, char **argv)
{
	socklen_t len = sizeof(used);

	used.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	used_fd = socket(AF_INET, SOCK_STREAM, 0);
	if (argc != 2 || bind(used_fd, (const struct sockaddr *)&used, len) || listen(used_fd, 1) ||
	    getsockname(used_fd, (struct sockaddr *)&used, &len))
		return CANNOT;
	if (!strcmp(argv[1], "threads"))
		fail_beside();
	fail_bind();
	if (!strcmp(argv[1], "compat"))
		fail_compat();
	else if (!strcmp(argv[1], "handler"))
		fail_in_handler();
	_exit(STATUS);
}
