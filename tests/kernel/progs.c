/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * progs SESSION: the programs whose cost the governor sums up, and how often the kernel has counted them to run: a line for
 * each, `KIND NAME RUNS`; KIND is event or incident. Those of triggers only their loader knows.
 */
#include <stdio.h>

#include "live/session/sess.h"

static int show(const char *kind, int err, struct fr_sess_prog *list, size_t cnt)
{
	size_t i;

	if (err)
		return 1;
	fr_sess_progs_update(list, cnt);
	for (i = 0; i < cnt; i++)
		printf("%s %s %llu\n", kind, list[i].name, (unsigned long long)list[i].run_cnt);
	fr_sess_progs_free(list, cnt);
	return 0;
}

int main(int argc, char **argv)
{
	struct fr_sess_prog *list = NULL;
	struct fr_sess *s;
	size_t cnt = 0;
	int err;

	if (argc != 2 || fr_sess_open(argv[1], &s))
		return 1;
	err = fr_sess_progs(s, &list, &cnt);
	err = show("event", err, list, cnt);
	err = err ?: fr_sess_incident_progs(s, &list, &cnt);
	err = err ?: show("incident", err, list, cnt);
	fr_sess_close(s);
	return err != 0;
}
