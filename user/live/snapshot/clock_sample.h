/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clock_sample: the recording clock, the kernel's clocks and wall time at one moment. */
#ifndef FR_CLOCK_SAMPLE_H
#define FR_CLOCK_SAMPLE_H

#include "live/session/sess.h"

/*
 * BPF reads all clocks but wall time in one run; wall time is read between two such runs, whose distance bounds the error.
 * Takes the best of a few tries. 0 or -errno. The caller holds the reader's lock.
 */
int fr_clock_sample(struct fr_sess *s, struct fr_snap_clock *out);

/* Convert to and from a fact's value: six numbers. -EINVAL if it is something else. */
int fr_clock_show(const struct fr_snap_clock *c, char *buf, size_t sz);
int fr_clock_parse(const char *text, struct fr_snap_clock *out);

#endif
