/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* deaths_group: ways to die of a signal where threads, other processes, namespaces, filters and tracers play a part (deaths.h).
 */
#include "deaths.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#define SELF "/proc/self/exe"

/* ---- threads ---- */

static void *thread_null(void *arg)
{
	(void)arg;
	null();
	return NULL;
}

static void thread(void)
{
	start(thread_sleep, NULL);
	pthread_join(start(thread_null, NULL), NULL);
}

/* Has the first thread ended, and waits for the others? */
static int leader_is_gone(void)
{
	char stat[256] = "";
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	must(fd >= 0 && read(fd, stat, sizeof(stat) - 1) > 0);
	close(fd);
	return strstr(stat, ") Z") != NULL;
}

static void *thread_null_alone(void *arg)
{
	while (!leader_is_gone())
		usleep(1000);
	return thread_null(arg);
}

/* By the call itself: pthread_exit() loads libgcc_s, and aborts where there is none. */
static void thread_alone(void)
{
	start(thread_null_alone, NULL);
	syscall(SYS_exit, 0);
}

static void *thread_waits(void *barrier)
{
	DIES();
	return thread_sleep(barrier);
}

static void thread_killed(void)
{
	pthread_barrier_t both;
	pthread_t t;

	pthread_barrier_init(&both, NULL, 2);
	t = start(thread_waits, &both);
	pthread_barrier_wait(&both);
	pthread_kill(t, SIGSEGV);
	pthread_join(t, NULL);
}

static void *thread_races(void *barrier)
{
	pthread_barrier_wait(barrier);
	touch_null();
	return NULL;
}

/* Many at once: one process, one death. Of which thread is not known. */
static void thread_race(void)
{
	static pthread_barrier_t all;
	int i;

	pthread_barrier_init(&all, NULL, 8);
	announce_pid(getpid(), 0, "touch_null", touch_null);
	for (i = 0; i < 8; i++)
		start(thread_races, &all);
	sleep_forever();
}

static void *thread_execs(void *way)
{
	execl(SELF, "deaths", (char *)way, NULL);
	_exit(99);
}

/* The program that a thread executes has the process's pid; its siblings are killed, and that is no death. */
static void exec_then_null(void)
{
	start(thread_sleep, NULL);
	pthread_join(start(thread_execs, "null"), NULL);
}

/* ---- other processes ---- */

static void vfork_child(void)
{
	int pid = vfork();

	if (!pid)
		null();
	end_like(pid);
}

/* In a PID namespace of its own the child is its init. */
static int init_of_namespace(void)
{
	must(!unshare(CLONE_NEWPID));
	return fork_child();
}

static void namespace_init(void)
{
	int pid = init_of_namespace();

	if (!pid)
		touch_null();
	announce_pid(pid, pid, "touch_null", touch_null);
	end_like(pid);
}

/* A child beside that init, which lives on until nobody writes to it any more. */
static void namespace_child(void)
{
	int init, pid, p[2];

	must(!pipe(p));
	init = init_of_namespace();
	if (!init) {
		close(p[1]);
		_exit(read(p[0], p, 1));
	}
	pid = fork_child();
	if (!pid)
		touch_null();
	announce_pid(pid, pid, "touch_null", touch_null);
	waitpid(pid, NULL, 0);
	close(p[1]);
	end_like(init);
}

static void filter_getppid(u_int action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {sizeof(code) / sizeof(code[0]), code};

	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
	DIES();
	syscall(SYS_getppid);
}

static void seccomp_process(void)
{
	start(thread_sleep, NULL);
	filter_getppid(SECCOMP_RET_KILL_PROCESS);
}

/* The thread killed is the only one: that ends the process. */
static void seccomp_last_thread(void)
{
	filter_getppid(SECCOMP_RET_KILL_THREAD);
}

/* A tracer that passes the signal on. */
static void traced(void)
{
	int pid = fork_child(), status;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		null();
	}
	must(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	ptrace(PTRACE_CONT, pid, NULL, (void *)(long)WSTOPSIG(status));
	end_like(pid);
}

static void run_copy(int fd)
{
	char *argv[] = {"deaths", "null", NULL}, *envp[] = {NULL};

	fexecve(fd, argv, envp);
	must(0);
}

/* A program that has no path. */
static void memfd(void)
{
	int from = open(SELF, O_RDONLY), to = memfd_create("nowhere", MFD_CLOEXEC);
	static char buf[1 << 16];
	ssize_t n;

	must(from >= 0 && to >= 0);
	while ((n = read(from, buf, sizeof(buf))) > 0)
		must(write(to, buf, n) == n);
	run_copy(to);
}

static void threads_killed(void)
{
	static pthread_barrier_t all;
	int i;

	pthread_barrier_init(&all, NULL, 5);
	announce_pid(getpid(), 0, "?", NULL);
	for (i = 0; i < 4; i++)
		start(thread_sleep, &all);
	pthread_barrier_wait(&all);
	kill(getpid(), SIGKILL);
	sleep_forever();
}

/* clang-format off */
static const struct way ways[] = {
	{"null", null, SIGSEGV},
	{"thread", thread, SIGSEGV},
	{"thread_alone", thread_alone, SIGSEGV},
	{"thread_killed", thread_killed, SIGSEGV},
	{"thread_race", thread_race, SIGSEGV},
	{"exec_then_null", exec_then_null, SIGSEGV},
	{"vfork_child", vfork_child, SIGSEGV},
	{"namespace_init", namespace_init, SIGSEGV},
	{"namespace_child", namespace_child, SIGSEGV},
	{"seccomp_process", seccomp_process, SIGSYS},
	{"seccomp_last_thread", seccomp_last_thread, SIGSYS},
	{"traced", traced, SIGSEGV},
	{"memfd", memfd, SIGSEGV},
	{"threads_killed", threads_killed, SIGKILL},
};
/* clang-format on */

int main(int argc, char **argv)
{
	return go(ways, sizeof(ways) / sizeof(ways[0]), argc, argv);
}
