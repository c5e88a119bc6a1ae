/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/snapshot/clock_sample.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/text/units.h"

#define TRIES 5

static u64 mid(u64 a, u64 b)
{
	return a + (b - a) / 2;
}

static int sample_once(struct fr_sess *s, struct fr_snap_clock *out)
{
	struct fr_call a, b;
	struct timespec real;
	int err = fr_sess_clocks(s, &a);

	clock_gettime(CLOCK_REALTIME, &real);
	err = err ?: fr_sess_clocks(s, &b);
	if (err)
		return err;
	out->ts = mid(a.ns, b.ns);
	out->mono_ns = mid(a.mono_ns, b.mono_ns);
	out->boot_ns = mid(a.boot_ns, b.boot_ns);
	out->tai_ns = mid(a.tai_ns, b.tai_ns);
	out->real_ns = real.tv_sec * FR_SEC_NS + real.tv_nsec;
	out->uncertainty_ns = (b.mono_ns - a.mono_ns + 1) / 2;
	return 0;
}

int fr_clock_sample(struct fr_sess *s, struct fr_snap_clock *out)
{
	struct fr_snap_clock best = {.uncertainty_ns = ~0ULL}, c;
	int i, err;

	for (i = 0; i < TRIES; i++) {
		err = sample_once(s, &c);
		if (err)
			return err;
		if (c.uncertainty_ns < best.uncertainty_ns)
			best = c;
	}
	*out = best;
	return 0;
}

int fr_clock_show(const struct fr_snap_clock *c, char *buf, size_t sz)
{
	return snprintf(buf, sz, "%llu %llu %llu %llu %llu %llu", c->ts, c->mono_ns, c->boot_ns, c->tai_ns, c->real_ns,
			c->uncertainty_ns) < (int)sz
		       ? 0
		       : -ENOSPC;
}

int fr_clock_parse(const char *text, struct fr_snap_clock *c)
{
	return sscanf(text, "%llu %llu %llu %llu %llu %llu", &c->ts, &c->mono_ns, &c->boot_ns, &c->tai_ns, &c->real_ns,
		      &c->uncertainty_ns) == 6
		       ? 0
		       : -EINVAL;
}
