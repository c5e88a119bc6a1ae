/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Errands: each item ends or is missing with a reason, whatever its reading does to the process that reads. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/units.h"
#include "sys/errand.h"

#define ITEM_MAX 16

enum does { READS, HANGS, HANGS_LATER, STAYS, DIES, EXITS, BURNS, LOOKS, FAILS };

/* What the items do, and what came of them: "ab", "ab." complete, "ab!late" missing. */
struct rig {
	u32 cnt;
	enum does does[ITEM_MAX];
	char got[ITEM_MAX][64];
	int fds;	/* that the runner had open */
	bool waits;	/* who takes what the first item told: until the runner has ended */
	pid_t slow_but; /* other processes than this one take their time to count: the runner also at its end */
	u32 slow_us;
};

static u32 cnt(void *arg)
{
	struct rig *r = arg;

	if (getpid() != r->slow_but)
		usleep(r->slow_us);
	return r->cnt;
}

static u64 key(void *arg, u32 item)
{
	(void)arg;
	return 100 + item;
}

static int open_cnt(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static bool is_confined;

/* In the C library's place: a confined asker may end nobody. */
int kill(pid_t pid, int sig)
{
	if (!is_confined)
		return syscall(SYS_kill, pid, sig);
	errno = EPERM;
	return -1;
}

/* As one that waits in the kernel: its alarm does not end it either. */
static void stay(void)
{
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	for (;;)
		pause();
}

static void burn(void)
{
	volatile u64 i;

	for (i = 0; i < 400000000; i++)
		;
}

static void run(void *arg, u32 item, struct fr_errand_out *out)
{
	const struct rig *r = arg;
	int fds = open_cnt();

	fr_errand_tell(out, 'a', "a", 1);
	if (r->does[item] == HANGS)
		pause();
	if (r->does[item] == STAYS)
		stay();
	if (r->does[item] == DIES)
		abort();
	if (r->does[item] == EXITS)
		_exit(0);
	if (r->does[item] == BURNS)
		burn();
	if (r->does[item] == LOOKS)
		fr_errand_tell(out, 'f', &fds, sizeof(fds));
	fr_errand_step(out, 1);
	if (r->does[item] == FAILS)
		fr_errand_fail(out);
	if (r->does[item] == HANGS_LATER)
		pause();
	fr_errand_tell(out, 'b', "b", 1);
}

static void take(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	struct rig *r = arg;
	siginfo_t info;

	if (kind == 'b' && !item && r->waits)
		waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
	if (kind == 'f' && sz == sizeof(r->fds))
		memcpy(&r->fds, data, sz);
	else
		strncat(r->got[item], data, sz);
}

static void end(void *arg, u32 item)
{
	strcat(((struct rig *)arg)->got[item], ".");
}

static void miss(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	char *got = ((struct rig *)arg)->got[item];

	sprintf(got + strlen(got), "!%s%u", fr_errand_why_text(why), step);
}

static struct fr_errand_job job_of(struct rig *r)
{
	return (struct fr_errand_job){.arg = r, .cnt = cnt, .key = key, .run = run, .take = take, .end = end, .miss = miss};
}

/* How long an item may take is short only where one hangs: others must not miss it on a busy machine. */
static int do_all(struct rig *r, u64 item_ns, struct fr_left *left)
{
	const struct fr_errand_job job = job_of(r);
	const struct fr_errand e = {.job = &job, .job_cnt = 1, .item_ns = item_ns, .all_ns = 600 * FR_SEC_NS, .left = left};

	return fr_errand_run(&e);
}

static volatile sig_atomic_t how_ended;

static void on_child(int sig, siginfo_t *info, void *ctx)
{
	(void)sig;
	(void)ctx;
	how_ended = info->si_code;
}

/* A runner that has done its work ends by itself: killed, it would be an incident each time. */
static void ends(void)
{
	const struct sigaction act = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO};
	struct rig r = {.cnt = 3, .slow_but = getpid(), .slow_us = 50000};
	u32 i;

	sigaction(SIGCHLD, &act, NULL);
	do_all(&r, 60 * FR_SEC_NS, NULL);
	assert_int_equal(how_ended, CLD_EXITED);
	for (i = 0; i < r.cnt; i++)
		assert_string_equal(r.got[i], "ab.");
	assert_int_equal(waitpid(-1, NULL, 0), -1); /* no runner is there */
}

/* What hangs costs itself: what it told is kept, and where it hung is known. */
static void hangs(void)
{
	struct rig r = {.cnt = 5, .does = {READS, HANGS, READS, HANGS_LATER, READS}};

	do_all(&r, 2 * FR_SEC_NS, NULL);
	assert_string_equal(r.got[0], "ab.");
	assert_string_equal(r.got[1], "a!late0");
	assert_string_equal(r.got[2], "ab.");
	assert_string_equal(r.got[3], "a!late1");
	assert_string_equal(r.got[4], "ab.");
	assert_int_equal(waitpid(-1, NULL, 0), -1);
}

/* An asker that does not get the CPU: what was told meanwhile is there, and who ended itself since it was late has not died of
 * it. */
static void asker_is_late(void)
{
	struct rig r = {.cnt = 4, .does = {READS, READS, HANGS, READS}, .waits = true};

	do_all(&r, 2 * FR_SEC_NS, NULL);
	assert_string_equal(r.got[0], "ab.");
	assert_string_equal(r.got[1], "ab.");
	assert_string_equal(r.got[2], "a!late0");
	assert_string_equal(r.got[3], "ab.");
}

static void dies(void)
{
	struct rig r = {.cnt = 6, .does = {DIES, READS, EXITS, READS, FAILS, READS}};

	do_all(&r, 60 * FR_SEC_NS, NULL);
	assert_string_equal(r.got[0], "a!died0");
	assert_string_equal(r.got[1], "ab.");
	assert_string_equal(r.got[2], "a!died0");
	assert_string_equal(r.got[3], "ab.");
	assert_string_equal(r.got[4], "ab!failed1");
	assert_string_equal(r.got[5], "ab.");
}

/* No time at all is left for any. */
static void all_time(void)
{
	struct rig r = {.cnt = 2, .does = {HANGS, READS}};
	const struct fr_errand_job job = job_of(&r);
	const struct fr_errand e = {.job = &job, .job_cnt = 1, .item_ns = 600 * FR_SEC_NS, .all_ns = 2 * FR_SEC_NS};

	fr_errand_run(&e);
	assert_string_equal(r.got[0], "a!late0");
	assert_string_equal(r.got[1], "!time0");
}

static void cpu_time(void)
{
	struct rig r = {.cnt = 3, .does = {BURNS, READS, READS}}, other = {.cnt = 1};
	struct fr_errand_job job[] = {job_of(&r), job_of(&other)};
	const struct fr_errand e = {.job = job, .job_cnt = 2, .item_ns = 60 * FR_SEC_NS, .all_ns = 600 * FR_SEC_NS};

	job[0].cpu_ns = FR_MSEC_NS;
	fr_errand_run(&e);
	assert_string_equal(r.got[0], "ab.");
	assert_string_equal(r.got[1], "!time0");
	assert_string_equal(r.got[2], "!time0");
	assert_string_equal(other.got[0], "ab.");
}

/* Its own pipe, and /dev/null twice, for messages. */
static void keeps_no_descriptor(void)
{
	struct rig r = {.cnt = 1, .does = {LOOKS}};
	int pair[2];

	assert_int_equal(pipe(pair), 0);
	do_all(&r, 60 * FR_SEC_NS, NULL);
	assert_int_equal(r.fds, 3);
	close(pair[0]);
	close(pair[1]);
}

/* ---- those that are left behind ---- */

static u64 start_of(pid_t pid)
{
	unsigned long long start = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f,
				"%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
				&start),
			 1);
	fclose(f);
	return start;
}

/* A process that is there until it is ended, in a place of those that were left behind. */
static pid_t leave(struct fr_left *l, u64 waits_for)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	*l = (struct fr_left){.pid = pid, .start = start_of(pid), .key = waits_for};
	return pid;
}

static void one_is_left(void)
{
	struct fr_left left[FR_LEFT_MAX] = {};
	struct rig r = {.cnt = 3}, again = {.cnt = 3};
	pid_t pid = leave(&left[0], 101);

	assert_int_equal(fr_errand_left_cnt(left), 1);
	do_all(&r, 60 * FR_SEC_NS, left);
	assert_string_equal(r.got[0], "ab.");
	assert_string_equal(r.got[1], "!waited0");
	assert_string_equal(r.got[2], "ab.");
	assert_int_equal(left[1].pid, 0); /* the runner has gone */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(fr_errand_left_cnt(left), 0);
	do_all(&again, 60 * FR_SEC_NS, left);
	assert_string_equal(again.got[1], "ab.");
}

static void two_are_left(void)
{
	struct fr_left left[FR_LEFT_MAX] = {};
	pid_t pid[] = {leave(&left[0], 0), leave(&left[1], 0)};
	struct rig r = {.cnt = 2}, again = {.cnt = 2};

	do_all(&r, 60 * FR_SEC_NS, left);
	assert_string_equal(r.got[0], "!left0");
	assert_string_equal(r.got[1], "!left0");
	kill(pid[1], SIGKILL); /* a dead one that nobody has waited for yet is not there either */
	while (kill(pid[1], 0) == 0 && fr_errand_left_cnt(left) == 2)
		usleep(1000);
	do_all(&again, 60 * FR_SEC_NS, left);
	assert_string_equal(again.got[0], "ab.");
	kill(pid[0], SIGKILL);
	waitpid(pid[0], NULL, 0);
}

/* Runners that cannot be ended are remembered, with what they wait for, until they have gone. */
static void runners_stay(void)
{
	struct fr_left left[FR_LEFT_MAX] = {};
	struct rig r = {.cnt = 3, .does = {STAYS, STAYS, READS}}, again = {.cnt = 3};

	is_confined = true;
	do_all(&r, 2 * FR_SEC_NS, left);
	is_confined = false;
	assert_string_equal(r.got[0], "a!late0");
	assert_string_equal(r.got[1], "a!late0");
	assert_string_equal(r.got[2], "!left0");
	assert_int_equal(fr_errand_left_cnt(left), 2);
	assert_int_equal(left[0].key, 100);
	assert_int_equal(left[1].key, 101);
	kill(left[0].pid, SIGKILL);
	waitpid(left[0].pid, NULL, 0);
	do_all(&again, 60 * FR_SEC_NS, left);
	assert_string_equal(again.got[0], "ab.");
	assert_string_equal(again.got[1], "!waited0");
	assert_string_equal(again.got[2], "ab.");
	kill(left[1].pid, SIGKILL);
	waitpid(left[1].pid, NULL, 0);
}

/* A later process that has the pid is none of ours. */
static void pid_is_lent(void)
{
	struct fr_left left[FR_LEFT_MAX] = {};
	pid_t pid = leave(&left[0], 0);

	left[0].start++;
	assert_int_equal(fr_errand_left_cnt(left), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void no_descriptor(void)
{
	struct rlimit was, none;
	struct rig r = {.cnt = 1};
	int err;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit){.rlim_cur = 3, .rlim_max = was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	err = do_all(&r, 60 * FR_SEC_NS, NULL);
	setrlimit(RLIMIT_NOFILE, &was);
	assert_int_equal(err, -EMFILE);
	assert_string_equal(r.got[0], "!fork0");
}

#define RUNS(name)                            \
	static void test_##name(void **state) \
	{                                     \
		(void)state;                  \
		name();                       \
	}

RUNS(ends)
RUNS(hangs)
RUNS(asker_is_late)
RUNS(dies)
RUNS(all_time)
RUNS(cpu_time)
RUNS(keeps_no_descriptor)
RUNS(one_is_left)
RUNS(two_are_left)
RUNS(runners_stay)
RUNS(pid_is_lent)
RUNS(no_descriptor)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_asker_is_late),
		cmocka_unit_test(test_dies),
		cmocka_unit_test(test_all_time),
		cmocka_unit_test(test_cpu_time),
		cmocka_unit_test(test_keeps_no_descriptor),
		cmocka_unit_test(test_one_is_left),
		cmocka_unit_test(test_two_are_left),
		cmocka_unit_test(test_runners_stay),
		cmocka_unit_test(test_pid_is_lent),
		cmocka_unit_test(test_no_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
