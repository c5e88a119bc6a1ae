/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * setting: what the texts of a session's settings mean, and their limits: the same for the options of `record` and for the
 * configuration file. Pure: nothing is asked of the host.
 *
 * Functions return 0 and what the text means; -EINVAL and *why; or -ENOMEM.
 */
#ifndef FR_SETTING_H
#define FR_SETTING_H

#include <stdbool.h>

#include "session.h"

#define FR_SAMPLE_HZ_MAX 10000u

/* To be shown after the option or key. */
struct fr_setting_error {
	char text[400];
};

/* Is this a session's name: 1 to FR_SESS_NAME_MAX letters of ASCII, digits, - and _ ? */
bool fr_setting_name_ok(const char *name);

int fr_setting_size(const char *text, u64 *bytes, struct fr_setting_error *why); /* 0 is one, too */
int fr_setting_flag(const char *text, bool *flag, struct fr_setting_error *why); /* yes, true, on, 1; or no, ... */
int fr_setting_hz(const char *text, u32 *hz, struct fr_setting_error *why);
int fr_setting_incidents(const char *text, u32 *cnt, struct fr_setting_error *why);	 /* records, as wanted */
u32 fr_setting_incident_cnt(u32 wanted);						 /* as there can be: a power of two */
int fr_setting_tier(const char *text, u32 *tier, u64 *sz, struct fr_setting_error *why); /* NAME=SIZE, in bytes */

/* local (FR_CLOCK_LOCAL), global:GRAIN, or global, which leaves the grain to be chosen: then *given is false. */
int fr_setting_clock(const char *text, bool *given, u64 *grain_ns, struct fr_setting_error *why);

/* ---- lists with commas: what they have is added to *cnt others; beyond the maximum it is refused ---- */

/* 0; -EINVAL with *why; -ENOMEM. */
int fr_setting_pids(const char *list, u32 pid[FR_PID_FILTER_MAX], u32 *cnt, struct fr_setting_error *why);
int fr_setting_comms(const char *list, struct fr_comm_filter comm[FR_COMM_FILTER_MAX], u32 *cnt, struct fr_setting_error *why);

/* Paths are only counted, and given to fn unless it is NULL; if that fails, its -errno is returned, with *why from it. */
int fr_setting_cgroups(const char *list, u32 *cnt, int (*fn)(void *arg, const char *path, struct fr_setting_error *why),
		       void *arg, struct fr_setting_error *why);

#endif
