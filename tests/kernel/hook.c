/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hook COMMAND USER TIMEOUT_MS TIMES FILE [confined | LIMIT_MS]: run hooks as a recorder does, TIMES of them at once, until
 * none is left, or, as a recorder that ends, for LIMIT_MS at most. Prints what was counted. One signal is blocked, one
 * descriptor left open and 7 MiB are shared, as in a recorder: no hook may see any of them. With FR_HOOK_STOPS no hook comes as
 * far as to be the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/hook/hook.h"
#include "sys/confine.h"

/* Instead of the C library's, for whoever is linked with this. */
int execve(const char *path, char *const argv[], char *const env[])
{
	if (getenv("FR_HOOK_STOPS"))
		raise(SIGSTOP);
	return syscall(SYS_execve, path, argv, env);
}

static void be_like_a_recorder(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	dup2(open("/etc/passwd", O_RDONLY), 40);
}

/* As large as no other memory of ours that is shared. */
#define RING_SZ (7u << 20)

static void give_up(void *ring)
{
	munmap(ring, RING_SZ);
}

int main(int argc, char **argv)
{
	struct fr_hook_conf conf = {0};
	struct fr_hook_ask ask = {.reason = "crash", .session = "s", .comm = "a 'b", .exe = "/bin/a b", .pid = 4711, .sig = 11};
	struct fr_hook_count c;
	struct fr_hooks *h;
	int i;

	if (argc < 6)
		return 2;
	conf.leave = give_up;
	conf.leave_arg = mmap(NULL, RING_SZ, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (conf.leave_arg == MAP_FAILED)
		return 1;
	conf.command = argv[1];
	conf.user = *argv[2] ? argv[2] : NULL;
	conf.timeout_ns = strtoull(argv[3], NULL, 10) * 1000000;
	ask.file = argv[5];
	be_like_a_recorder();
	if (fr_hooks_new(&conf, &h))
		return 1;
	if (argc > 6 && !strcmp(argv[6], "confined") &&
	    fr_confine_main(&(struct fr_confine_conf){.hook = fr_hooks_wants_user(h)}, NULL))
		return 1;
	for (i = 0; i < atoi(argv[4]); i++)
		fr_hooks_run(h, &ask);
	if (argc > 6 && strcmp(argv[6], "confined"))
		fr_hooks_finish(h, strtoull(argv[6], NULL, 10) * 1000000, -1);
	for (fr_hooks_count(h, &c); c.running + c.queued; fr_hooks_count(h, &c)) {
		struct pollfd p = {.fd = fr_hooks_fd(h), .events = POLLIN};

		poll(&p, 1, -1);
		fr_hooks_poll(h);
	}
	printf("started %llu failed %llu timed_out %llu dropped %llu\n", (unsigned long long)c.started,
	       (unsigned long long)c.failed, (unsigned long long)c.timed_out, (unsigned long long)c.dropped);
	fr_hooks_free(h);
	return 0;
}
