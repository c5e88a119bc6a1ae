/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * confine main|main-hook|writer SESSION DIR: confine this process as the recorder does, then try what it must not and what it
 * must be able to do. A line for each: what, and "ok" or the error. The writer at last takes a snapshot of the session.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "live/snapshot/dump.h"
#include "sys/confine.h"

static const struct {
	unsigned int nr;
	const char *name;
} cap_names[] = {
	{CAP_DAC_OVERRIDE, "cap_dac_override"},
	{CAP_DAC_READ_SEARCH, "cap_dac_read_search"},
	{CAP_KILL, "cap_kill"},
	{CAP_SETGID, "cap_setgid"},
	{CAP_SETUID, "cap_setuid"},
	{CAP_SYS_PTRACE, "cap_sys_ptrace"},
	{CAP_SYS_ADMIN, "cap_sys_admin"},
	{CAP_SYS_RESOURCE, "cap_sys_resource"},
	{CAP_SYSLOG, "cap_syslog"},
	{CAP_PERFMON, "cap_perfmon"},
	{CAP_BPF, "cap_bpf"},
};

/* "cap_bpf cap_perfmon", in buf, which is returned. */
static const char *caps_text(u64 caps, char *buf, size_t sz)
{
	size_t i, len = 0;

	buf[0] = 0;
	for (i = 0; i < sizeof(cap_names) / sizeof(cap_names[0]); i++) {
		if (!(caps & (1ULL << cap_names[i].nr)) || len >= sz)
			continue;
		len += snprintf(buf + len, sz - len, "%s%s", len ? " " : "", cap_names[i].name);
		caps &= ~(1ULL << cap_names[i].nr);
	}
	if (caps && len < sz)
		snprintf(buf + len, sz - len, "%s0x%llx", len ? " and " : "", (unsigned long long)caps);
	return buf;
}

static void say(const char *what, bool failed)
{
	printf("%s %s\n", what, failed ? strerrorname_np(errno) : "ok");
	fflush(stdout);
}

static bool load_fails(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT, .insns = (u64)insns, .insn_cnt = 2, .license = (u64) "GPL"};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)) < 0;
}

static bool map_fails(void)
{
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

	return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)) < 0;
}

static bool exec_fails(void)
{
	char *argv[] = {"true", NULL}, *env[] = {NULL};
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return true;
	if (!pid) {
		execve("/bin/true", argv, env);
		_exit(errno);
	}
	waitpid(pid, &status, 0);
	errno = WEXITSTATUS(status);
	return errno != 0;
}

/* Does a process begin, whatever it may do then? */
static bool fork_fails(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid < 0;
}

/* May a process that it forks do more than it? errno: why not. */
static bool fork_load_fails(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(load_fails() ? errno : 0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return true;
	errno = WEXITSTATUS(status);
	return errno != 0;
}

/* What a program that is executed may get back; ~0: unknown. */
static u64 bounding_set(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long caps = ~0ULL;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapBnd: %llx", &caps) == 1)
			break;
	if (f)
		fclose(f);
	return caps;
}

static void *try_in_thread(void *arg)
{
	(void)arg;
	say("thread-load", load_fails());
	say("thread-exec", exec_fails());
	return NULL;
}

/* A thread, which may do no more than its maker; what its flags could hide; a call whose flags no filter can see. */
static void try_threads(void)
{
	pthread_t t;

	errno = pthread_create(&t, NULL, try_in_thread, NULL);
	say("thread", errno != 0);
	if (!errno)
		pthread_join(t, NULL);
	say("thread-namespace", syscall(SYS_clone, CLONE_THREAD | CLONE_NEWNET, 0, 0, 0, 0) < 0);
	say("clone3", syscall(SYS_clone3, NULL, 0) < 0);
}

static void try_all(void)
{
	struct timespec now;

	say("load", load_fails());
	say("map", map_fails());
	say("exec", exec_fails());
	say("fork", fork_fails());
	say("fork-load", fork_load_fails());
	say("fork-namespace", syscall(SYS_clone, CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0) < 0);
	say("socket", socket(AF_INET, SOCK_STREAM, 0) < 0);
	say("ptrace", ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0);
	say("mount", mount("none", "/mnt", "tmpfs", 0, NULL) < 0);
	say("module", syscall(SYS_finit_module, -1, "", 0) < 0);
	clock_gettime(CLOCK_REALTIME, &now);
	say("settime", clock_settime(CLOCK_REALTIME, &now) < 0);
	say("code", mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	say("signal", kill(getppid(), 0) < 0);
	/* by a handle, not just its name */
	say("handle", syscall(SYS_open_by_handle_at, -1, NULL, O_RDONLY) < 0);
	try_threads();
	say("setuid", setuid(65534) < 0);
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		puts("no_new_privs is off");
}

static int snapshot(struct fr_sess *s, const char *dir)
{
	const struct fr_dump_ask ask = {.dir = dir, .reason = "command"};
	struct fr_dump_done done;
	int err = fr_dump(s, &ask, &done);

	if (!err)
		printf("file %s\n", done.path);
	errno = -err;
	say("snapshot", err != 0);
	return err;
}

int main(int argc, char **argv)
{
	struct fr_confine_conf conf = {0};
	struct fr_confined done;
	struct fr_sess *s;
	char caps[256];
	int err;

	if (argc != 4)
		return 2;
	conf.dir = argv[3];
	conf.hook = !strcmp(argv[1], "main-hook");
	if (fr_sess_open(argv[2], &s) || fr_sess_hold_progs(s))
		return 1;
	err = strcmp(argv[1], "writer") ? fr_confine_main(&conf, &done) : fr_confine_writer(&conf, &done);
	if (err)
		return 1;
	printf("caps %s\n", caps_text(done.caps, caps, sizeof(caps)));
	printf("bound %s\n", caps_text(bounding_set(), caps, sizeof(caps)));
	printf("seccomp %s\n", done.seccomp ? "ok" : "refused");
	snapshot(s, argv[3]);
	fr_sess_close(s);
	try_all();
	return 0;
}
