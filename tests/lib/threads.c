/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* threads SNAPSHOT: handles in several threads, each its own: they read the same events, and their errors are their own. */
#include <errno.h>
#include <flightrec.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "use.h"

struct worker {
	const char *path, *filter;
	uint64_t sum, cnt;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct flightrec *fr = open_file(w->path, FLIGHTREC_PAIRS, w->filter), *bad = flightrec_new();
	const struct flightrec_event *ev;
	const char *line;
	size_t sz, i;

	flightrec_type_next(NULL, 0, NULL);
	flightrec_add(bad, w->filter ? "/nonexistent/1" : "/nonexistent/2");
	if (flightrec_open(bad) != -ENOENT || !strstr(flightrec_error(bad), w->filter ? "nonexistent/1" : "nonexistent/2"))
		FAIL("another's error: %s", flightrec_error(bad));
	flightrec_free(bad);
	for (; flightrec_next(fr, &ev) > 0; w->cnt++) {
		line = w->cnt % 2 ? flightrec_event_json(ev, &sz) : flightrec_event_text(ev, &sz);
		for (i = 0; line && i < sz; i++)
			w->sum = w->sum * 31 + (unsigned char)line[i];
	}
	flightrec_free(fr);
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker w[4] = {{.path = argv[1]},
			      {.path = argv[1], .filter = "cpu == 0"},
			      {.path = argv[1]},
			      {.path = argv[1], .filter = "cpu == 0"}};
	pthread_t t[4];
	int i;

	if (argc != 2)
		FAIL("threads SNAPSHOT\n");
	use_locale();
	for (i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, work, &w[i]))
			FAIL("pthread_create");
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	if (!w[0].cnt || w[0].sum != w[2].sum || w[1].sum != w[3].sum || w[0].cnt != w[2].cnt || w[1].cnt >= w[0].cnt)
		FAIL("threads saw different events");
	printf("%llu %llu\n", (unsigned long long)w[0].cnt, (unsigned long long)w[1].cnt);
	return 0;
}
