/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/elf/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/units.h"
#include "sys/now.h"

#define TIME_LIMIT_S 300 /* per file: debug files of browsers have a gigabyte */
#define FAIL_MOST    8	 /* failures in a row, other than "unknown" */

typedef struct debuginfod_client client;
typedef int (*find_fn)(client *c, const unsigned char *build_id, int sz, char **path);
typedef int (*progress_fn)(client *c, long done, long total);

struct fr_debuginfod {
	void *lib;
	client *client;
	client *(*begin)(void);
	void (*end)(client *c);
	find_fn find[2];
	void (*set_progress)(client *c, progress_fn fn);
	void (*set_user_data)(client *c, void *data);
	time_t until;
	bool too_late;
	u32 fail_cnt;
};

static time_t now_s(void)
{
	return fr_now_ns(CLOCK_MONOTONIC) / FR_SEC_NS;
}

/*
 * The library calls this about once a second; any value but 0 ends the transfer. The request is found through the client's user
 * data, by a function looked up by name: the library has been loaded, or there would be no client.
 */
static int look_at_the_clock(client *c, long done, long total)
{
	void *(*get_user_data)(client *) = dlsym(RTLD_DEFAULT, "debuginfod_get_user_data");
	struct fr_debuginfod *d = get_user_data ? get_user_data(c) : NULL;

	(void)done;
	(void)total;
	if (d)
		d->too_late = now_s() > d->until;
	return d && d->too_late;
}

static bool debuginfod_load(struct fr_debuginfod *d)
{
	d->lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (!d->lib)
		return false;
	d->begin = dlsym(d->lib, "debuginfod_begin");
	d->end = dlsym(d->lib, "debuginfod_end");
	d->find[FR_DEBUGINFOD_DEBUGINFO] = dlsym(d->lib, "debuginfod_find_debuginfo");
	d->find[FR_DEBUGINFOD_EXECUTABLE] = dlsym(d->lib, "debuginfod_find_executable");
	d->set_progress = dlsym(d->lib, "debuginfod_set_progressfn");
	d->set_user_data = dlsym(d->lib, "debuginfod_set_user_data");
	return d->begin && d->end && d->find[0] && d->find[1] && d->set_progress && d->set_user_data;
}

struct fr_debuginfod *fr_debuginfod_new(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct fr_debuginfod *d;

	if (!urls || !*urls) {
		fr_warn("debuginfod: no server is named: set DEBUGINFOD_URLS, as https://debuginfod.debian.net");
		return NULL;
	}
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	if (debuginfod_load(d))
		d->client = d->begin();
	if (d->client) {
		d->set_user_data(d->client, d);
		d->set_progress(d->client, look_at_the_clock);
		return d;
	}
	fr_warn("debuginfod: its client is missing: install the package libdebuginfod1 (elfutils-debuginfod-client)");
	fr_debuginfod_free(d);
	return NULL;
}

void fr_debuginfod_free(struct fr_debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	if (d->lib)
		dlclose(d->lib);
	free(d);
}

/* If servers are down every file would wait: give up after some failures in a row. */
static int debuginfod_judge(struct fr_debuginfod *d, int err)
{
	if (d->too_late)
		err = -ETIME;
	if (err == -ENOENT) {
		d->fail_cnt = 0;
	} else if (++d->fail_cnt <= FAIL_MOST) {
		fr_warn("debuginfod: %s%s", d->too_late ? "no file within 5 minutes" : strerror(-err),
			d->fail_cnt < FAIL_MOST && !d->too_late
				? ""
				: "; no more files are asked for: try again later, what was fetched is kept");
	}
	return err;
}

int fr_debuginfod_find(struct fr_debuginfod *d, enum fr_debuginfod_kind kind, const u8 *build_id, size_t sz, char **path)
{
	char *found = NULL;
	int fd;

	if (d->fail_cnt >= FAIL_MOST || d->too_late)
		return -ETIME;
	d->until = now_s() + TIME_LIMIT_S;
	fd = d->find[kind](d->client, build_id, sz, &found);
	if (fd < 0)
		return debuginfod_judge(d, fd);
	close(fd);
	d->fail_cnt = 0;
	*path = found;
	return 0;
}
