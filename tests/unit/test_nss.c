/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looking up users and groups: a runner gives up what its asker says, and no more than so many are left behind. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/nss.c"

static void give_up(void *by)
{
	*(pid_t *)by = getpid();
}

static void test_leave(void **state)
{
	pid_t *by = mmap(NULL, sizeof(*by), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct fr_nss_user *u = malloc(sizeof(*u));
	gid_t gid;

	(void)state;
	assert_true(by != MAP_FAILED && u);
	assert_int_equal(fr_nss_group("root", give_up, by, &gid), 0);
	assert_int_equal(gid, 0);
	assert_true(*by && *by != getpid());
	*by = 0;
	assert_int_equal(fr_nss_user("root", give_up, by, u), 0);
	assert_true(*by && *by != getpid());
	free(u);
	munmap(by, sizeof(*by));
}

/* A process that is there until it is ended, as if it had been left behind. */
static pid_t stuck(struct fr_left *l)
{
	char path[64], text[1024] = "";
	pid_t pid = fork();
	FILE *f;

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	l->pid = pid;
	assert_int_equal(sscanf(strrchr(text, ')') + 2,
				"%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &l->start),
			 1);
	return pid;
}

static void test_left(void **state)
{
	pid_t pid[FR_LEFT_MAX];
	gid_t gid;
	u32 i;

	(void)state;
	for (i = 0; i < FR_LEFT_MAX; i++) {
		assert_int_equal(fr_nss_group("root", NULL, NULL, &gid), 0);
		pid[i] = stuck(&left_behind[i]);
	}
	assert_int_equal(fr_nss_group("root", NULL, NULL, &gid), -ETIMEDOUT);
	for (i = 0; i < FR_LEFT_MAX; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	assert_int_equal(fr_nss_group("root", NULL, NULL, &gid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_leave), cmocka_unit_test(test_left)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
