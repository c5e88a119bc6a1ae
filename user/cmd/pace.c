/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/pace.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/text/units.h"
#include "sys/now.h"

#define WAIT_MAX (1e9 * FR_SEC_NS) /* thirty years: avoids overflow for anything farther away */

int fr_pace_parse(const char *text, double *speed)
{
	char *end;
	double v;

	if (!strcmp(text, "max")) {
		*speed = 0;
		return 0;
	}
	v = strtod(text, &end);
	if (strspn(text, "0123456789.") == (size_t)(end - text) && (!*end || !strcmp(end, "x")) && v >= 1e-6 && v <= 1e6) {
		*speed = v;
		return 0;
	}
	fr_err("--speed: '%s' is not a speed: give 1x (as it happened), 0.1x, 10x or max; from 0.000001x to 1000000x", text);
	return -EINVAL;
}

/* A pipe without a reader, or a closed terminal. */
bool fr_pace_sleep(int fd, s64 wait_ns)
{
	const struct timespec t = {.tv_sec = wait_ns / (s64)FR_SEC_NS, .tv_nsec = wait_ns % (s64)FR_SEC_NS};
	struct pollfd p = {.fd = fd};

	return ppoll(&p, 1, &t, NULL) <= 0 || !(p.revents & (POLLERR | POLLHUP));
}

s64 fr_pace_left(struct fr_pace *p, u64 key, u64 now_ns)
{
	double behind;
	s64 left;

	if (!(p->speed > 0))
		return 0;
	if (!p->started_ns) {
		p->started_ns = now_ns;
		p->first_key = key;
	}
	behind = (double)(key - p->first_key) / p->speed;
	left = (s64)(p->started_ns - now_ns) + (s64)(behind < WAIT_MAX ? behind : WAIT_MAX);
	return left > 0 ? left : 0;
}

void fr_pace_wait(struct fr_pace *p, struct fr_out *o, u64 key)
{
	s64 left = fr_pace_left(p, key, fr_now_ns(CLOCK_MONOTONIC));

	if (left)
		fr_out_flush(o);
	for (; left && !fr_out_error(o); left = fr_pace_left(p, key, fr_now_ns(CLOCK_MONOTONIC)))
		if (!fr_pace_sleep(o->fd, left))
			o->error = -EPIPE;
}
