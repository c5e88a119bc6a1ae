/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Incidents on their way from a session's log to the journal: each is there once, whatever fails on the way. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "read/snapfile/incfile.h"

static u32 room = ~0u; /* lines that find memory */

static int add(struct fr_incfile *f, const char *line, size_t len)
{
	return room && room-- ? fr_incfile_add(f, line, len) : -ENOMEM;
}

#define fr_incfile_add add
#include "live/incident/inclog.c"
#undef fr_incfile_add

/* ---- a session with a log, the half of it that is used here ---- */

static u64 next_seq, saved;

bool fr_sess_has_incidents(const struct fr_sess *s)
{
	return s || true;
}

const char *fr_sess_name(const struct fr_sess *s)
{
	return s ? "some" : "one";
}

char *fr_sess_fact(const struct fr_sess *s, const char *name)
{
	return s && name ? strdup(name) : NULL;
}

void fr_sess_give_up_rings(void *s)
{
	(void)s;
}

int fr_clock_sample(struct fr_sess *s, struct fr_snap_clock *c)
{
	return s || c ? -EIO : 0;
}

int fr_sess_incident_counts(const struct fr_sess *s, struct fr_incident_counts *out)
{
	*out = (struct fr_incident_counts){.epoch = s ? 0 : 1, .next = next_seq, .saved = saved};
	return 0;
}

int fr_sess_flush_incidents(const struct fr_sess *s)
{
	(void)s;
	return 0;
}

enum fr_incident_read fr_sess_incident(const struct fr_sess *s, u64 seq, struct fr_incident *out)
{
	*out = (struct fr_incident){.done = seq + 1, .ts = 1000 + seq, .kind = FR_INCIDENT_oom, .pid = s ? 0 : 7};
	return FR_INCIDENT_GOT;
}

int fr_sess_incidents(const struct fr_sess *s, u64 from, struct fr_incident **out, size_t *cnt)
{
	*out = NULL;
	*cnt = 0;
	return s && from ? -EIO : 0;
}

int fr_sess_incident_lock(const struct fr_sess *s)
{
	return s ? -EIO : dup(0);
}

void fr_sess_incident_recycle(struct fr_sess *s, u64 upto, u64 skipped)
{
	if (!s && !skipped)
		saved = upto;
}

/* ---- tests ---- */

/* The journal has so many, each once, in order; it is removed. */
static void check_journal(const char *dir, size_t want)
{
	struct fr_incident_item *item = NULL;
	size_t cnt = 0, i;
	char path[64];
	u64 bad = 0;

	assert_int_equal(fr_inclog_journal(dir, &item, &cnt, &bad), 0);
	assert_int_equal(bad, 0);
	assert_int_equal(cnt, want);
	for (i = 0; i < cnt; i++)
		assert_int_equal(item[i].seq, i);
	free(item);
	snprintf(path, sizeof(path), "%s/" FR_INCFILE_NAME, dir);
	unlink(path);
	rmdir(dir);
}

/* Memory ends in the midst of the lines: none of them is written then, so none twice. */
static void test_memory(void **state)
{
	char dir[] = "/tmp/fr_inclog.XXXXXX";
	struct fr_inclog *l;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(fr_inclog_open(NULL, dir, 1 << 20, &l), 0);
	next_seq = 5;
	saved = 0;
	room = 3;
	assert_int_equal(fr_inclog_save(l, 0), -ENOMEM);
	assert_int_equal(saved, 0);
	room = ~0u;
	assert_int_equal(fr_inclog_save(l, 0), 0);
	assert_int_equal(saved, 5);
	fr_inclog_close(l);
	check_journal(dir, 5);
}

/* A recorder that was killed had written lines, and not yet noted that: the next one does not write them again. */
static void test_killed(void **state)
{
	char dir[] = "/tmp/fr_inclog.XXXXXX";
	struct fr_inclog *l;

	(void)state;
	assert_non_null(mkdtemp(dir));
	next_seq = 5;
	saved = 0;
	assert_int_equal(fr_inclog_open(NULL, dir, 1 << 20, &l), 0);
	assert_int_equal(fr_inclog_save(l, 0), 0);
	fr_inclog_close(l);
	saved = 2;
	next_seq = 8;
	assert_int_equal(fr_inclog_open(NULL, dir, 1 << 20, &l), 0);
	assert_int_equal(fr_inclog_save(l, 0), 0);
	assert_int_equal(saved, 8);
	fr_inclog_close(l);
	check_journal(dir, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
