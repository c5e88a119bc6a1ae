/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* glance: when it has ended, and what is heard of it, whatever the child does. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/snapshot/dump.h"
#include "live/snapshot/glance.h"

#define SOON_MS 200
#define LONG_MS 20000

enum glance_how { GLANCE_STOPS, GLANCE_FAILS, GLANCE_IS_KILLED, GLANCE_SAYS_MUCH };

static struct {
	enum glance_how how;
	pid_t pid;
} * glance_rig;

/* In the child, instead of dump.c's. */
int fr_dump_glance(struct fr_sess *s, const struct fr_dump_ask *ask, struct fr_dump_done *done)
{
	int i;

	(void)s;
	(void)done;
	if (write(ask->to_fd, "x", 1) != 1)
		return -1;
	for (i = 0; glance_rig->how == GLANCE_SAYS_MUCH && i < 100000; i++)
		fprintf(stderr, "flightrec: warning: line %d of many\n", i);
	fputs("flightrec: warning: CPUs came online\n", stderr);
	__atomic_store_n(&glance_rig->pid, getpid(), __ATOMIC_RELEASE);
	if (glance_rig->how == GLANCE_STOPS)
		raise(SIGSTOP);
	if (glance_rig->how == GLANCE_IS_KILLED)
		raise(SIGKILL);
	if (glance_rig->how != GLANCE_FAILS)
		return 0;
	fputs("flightrec: cannot look: no memory\n", stderr);
	return -1;
}

static int glance_set_up(void **state)
{
	(void)state;
	glance_rig = mmap(NULL, sizeof(*glance_rig), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return glance_rig == MAP_FAILED;
}

static struct fr_aside *glance_of(enum glance_how how)
{
	struct fr_aside *g = NULL;

	glance_rig->how = how;
	glance_rig->pid = 0;
	assert_int_equal(fr_glance_begin(NULL, 1, &g), 0);
	return g;
}

static bool glance_ends_in(const struct fr_aside *g, int ms)
{
	struct pollfd p = {.fd = fr_aside_fd(g), .events = POLLIN};

	return poll(&p, 1, ms) > 0;
}

static void test_a_child_that_said_something_and_stands_still_has_not_ended(void **state)
{
	struct fr_aside *g = glance_of(GLANCE_STOPS);
	char why[64], c;
	int fd = -1;

	(void)state;
	while (!__atomic_load_n(&glance_rig->pid, __ATOMIC_ACQUIRE))
		usleep(1000);
	assert_false(glance_ends_in(g, SOON_MS));
	while (kill(glance_rig->pid, SIGCONT) || !glance_ends_in(g, SOON_MS))
		;
	assert_int_equal(fr_glance_take(g, &fd, why, sizeof(why)), 0);
	assert_int_equal(pread(fd, &c, 1, 0), 1);
	close(fd);
	g = glance_of(GLANCE_STOPS);
	fr_aside_drop(g); /* of one that is stopped, or not yet: it waits for nothing */
}

static void test_the_last_line_says_why(void **state)
{
	struct fr_aside *g = glance_of(GLANCE_FAILS);
	char why[64];
	int fd = -1;

	(void)state;
	assert_true(fr_glance_take(g, &fd, why, sizeof(why)) < 0);
	assert_string_equal(why, "cannot look: no memory");
	assert_int_equal(fd, -1);
	assert_true(fr_glance_take(glance_of(GLANCE_IS_KILLED), &fd, why, sizeof(why)) < 0);
	assert_string_equal(why, "the process that looks at the session was ended");
}

static void test_a_child_that_says_much_ends(void **state)
{
	struct fr_aside *g = glance_of(GLANCE_SAYS_MUCH);
	char why[64];
	int fd = -1;

	(void)state;
	assert_true(glance_ends_in(g, LONG_MS));
	assert_int_equal(fr_glance_take(g, &fd, why, sizeof(why)), 0);
	assert_string_equal(why, "warning: CPUs came online");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_child_that_said_something_and_stands_still_has_not_ended),
		cmocka_unit_test(test_the_last_line_says_why),
		cmocka_unit_test(test_a_child_that_says_much_ends),
	};

	return cmocka_run_group_tests(tests, glance_set_up, NULL);
}
