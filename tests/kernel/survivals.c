/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* survivals: signals that come, and end no process: what must not be taken for a crash (deaths.h). */
#include "deaths.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>

#define MANY 201

static void block(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	must(!sigprocmask(SIG_BLOCK, &set, NULL));
}

/* ---- handled ---- */

static sigjmp_buf back;

static void jump_back(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

/* As a JVM does it, and an interpreter that has tagged pointers. */
static void handled(void)
{
	volatile int i = 0;

	signal(SIGSEGV, jump_back);
	for (i = 0; i < MANY; i++)
		if (!sigsetjmp(back, 1)) {
			touch_null();
			_exit(97);
		}
}

static volatile char *page;
static volatile int repaired;

static void repair(int sig, siginfo_t *info, void *ctx)
{
	(void)sig;
	(void)ctx;
	must(info->si_addr == page && !mprotect((void *)page, 4096, PROT_READ | PROT_WRITE));
	repaired++;
}

/* As a garbage collector's write barrier. */
static void repaired_fault(void)
{
	struct sigaction act = {.sa_sigaction = repair, .sa_flags = SA_SIGINFO};
	int i;

	sigaction(SIGSEGV, &act, NULL);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(page != MAP_FAILED);
	for (i = 0; i < MANY; i++) {
		mprotect((void *)page, 4096, PROT_READ);
		*page = i;
	}
	must(repaired == MANY);
}

static void ignored(void)
{
	signal(SIGSEGV, SIG_IGN);
	signal(SIGABRT, SIG_IGN);
	must(!raise(SIGSEGV) && !raise(SIGABRT));
}

/* Nobody takes them, and the process ends. */
static void pending_at_exit(void)
{
	block(SIGABRT);
	block(SIGQUIT);
	must(!raise(SIGABRT) && !raise(SIGQUIT));
}

static void waited_for(void)
{
	sigset_t set;
	int sig;

	block(SIGQUIT);
	sigemptyset(&set);
	sigaddset(&set, SIGQUIT);
	raise(SIGQUIT);
	must(!sigwait(&set, &sig) && sig == SIGQUIT);
}

static void read_from_fd(void)
{
	struct signalfd_siginfo info;
	sigset_t set;
	int fd;

	block(SIGABRT);
	sigemptyset(&set);
	sigaddset(&set, SIGABRT);
	fd = signalfd(-1, &set, 0);
	raise(SIGABRT);
	must(read(fd, &info, sizeof(info)) == sizeof(info) && info.ssi_signo == SIGABRT);
}

static void trap_handled(void)
{
	signal(SIGTRAP, jump_back);
	if (!sigsetjmp(back, 1)) {
		raise(SIGTRAP);
		_exit(97);
	}
}

/* A system call that a filter turns into a signal, as sandboxes do it. */
static void seccomp_handled(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {sizeof(code) / sizeof(code[0]), code};

	signal(SIGSYS, jump_back);
	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
	if (!sigsetjmp(back, 1)) {
		syscall(SYS_getppid);
		_exit(97);
	}
}

/* ---- statuses that look like it ---- */

static void status_139(void)
{
	int pid = fork_child(), status;

	if (!pid)
		_exit(139);
	must(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 139);
}

/* What a thread's exit says is nobody's status. */
static void *thread_ends(void *arg)
{
	(void)arg;
	syscall(SYS_exit, SIGSEGV);
	return NULL;
}

static void thread_exits(void)
{
	pthread_join(start(thread_ends, NULL), NULL);
}

/* ---- a thread, not the process ---- */

static void *thread_forbidden(void *arg)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {sizeof(code) / sizeof(code[0]), code};

	(void)arg;
	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
	syscall(SYS_getppid);
	_exit(97);
}

/* It is killed by SIGSYS, and the process goes on. */
static void seccomp_thread(void)
{
	pthread_join(start(thread_forbidden, NULL), NULL);
}

static void *thread_executes(void *arg)
{
	(void)arg;
	execl("/bin/true", "true", NULL);
	_exit(97);
}

/* Its siblings, the first thread too, are killed by SIGKILL; the process goes on. */
static void exec_in_thread(void)
{
	start(thread_sleep, NULL);
	start(thread_sleep, NULL);
	pthread_join(start(thread_executes, NULL), NULL);
}

/* ---- init of a PID namespace is immune ---- */

static void immune_init(void)
{
	int pid, status;
	sigset_t set;

	must(!unshare(CLONE_NEWPID));
	pid = fork_child();
	if (!pid) {
		raise(SIGABRT);
		/* one that was blocked when it came is delivered, and does nothing */
		block(SIGSEGV);
		raise(SIGSEGV);
		sigemptyset(&set);
		sigaddset(&set, SIGSEGV);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		_exit(0);
	}
	must(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
}

/* ---- debuggers ---- */

/* The tracer sees the signal and swallows it. */
static void swallowed(void)
{
	int pid = fork_child(), status;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSEGV);
		raise(SIGABRT);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	must(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* Each step is a SIGTRAP. */
static void stepped(void)
{
	int pid = fork_child(), status, i;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	for (i = 0; waitpid(pid, &status, 0) == pid && WIFSTOPPED(status); i++)
		ptrace(i < MANY ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, NULL, NULL);
	must(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* ---- nothing but signals ---- */

static void stopped(void)
{
	int pid = fork_child(), status;

	if (!pid) {
		raise(SIGSTOP);
		_exit(0);
	}
	must(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
	kill(pid, SIGCONT);
	must(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
}

static void harmless(void)
{
	must(!raise(SIGCHLD) && !raise(SIGWINCH) && !raise(SIGURG) && !raise(SIGCONT));
}

/* The dead do not die again. */
static void zombie(void)
{
	int pid = fork_child(), status;
	siginfo_t info;

	if (!pid)
		_exit(0);
	must(!waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
	must(!kill(pid, SIGSEGV));
	must(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
}

static void spawned(void)
{
	char *argv[] = {"true", NULL}, *envp[] = {NULL};
	int pid, status;

	must(!posix_spawn(&pid, "/bin/true", NULL, NULL, argv, envp));
	must(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
}

/* clang-format off */
static const struct way ways[] = {
	{"handled", handled, 0},
	{"repaired_fault", repaired_fault, 0},
	{"ignored", ignored, 0},
	{"pending_at_exit", pending_at_exit, 0},
	{"waited_for", waited_for, 0},
	{"read_from_fd", read_from_fd, 0},
	{"trap_handled", trap_handled, 0},
	{"seccomp_handled", seccomp_handled, 0},
	{"status_139", status_139, 0},
	{"thread_exits", thread_exits, 0},
	{"seccomp_thread", seccomp_thread, 0},
	{"exec_in_thread", exec_in_thread, 0},
	{"immune_init", immune_init, 0},
	{"swallowed", swallowed, 0},
	{"stepped", stepped, 0},
	{"stopped", stopped, 0},
	{"harmless", harmless, 0},
	{"zombie", zombie, 0},
	{"spawned", spawned, 0},
};
/* clang-format on */

int main(int argc, char **argv)
{
	return go(ways, sizeof(ways) / sizeof(ways[0]), argc, argv);
}
