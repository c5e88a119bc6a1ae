/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* record_opts: the result of parsing record's command line and configuration file. */
#ifndef FR_CMD_RECORD_OPTS_H
#define FR_CMD_RECORD_OPTS_H

#include "flow/recorder/record.h"
#include "pure/config/record_filter.h"

#define FR_RECORD_OVER_MAX 64u
#define FR_RECORD_SESSION  "Session"

/* An option that overrides a key of the configuration file. Of FR_RECORD_SESSION the value itself is set by fr_record_set(). */
struct fr_record_over {
	const char *option, *section, *key, *value;
};

struct fr_record_opts {
	struct fr_record_ask ask;
	struct fr_record_filter filter;
	const char *filter_expr;
	const char *filter_option; /* of these, the one given by -f, NULL: none, or that of the configuration */
	const char *event[FR_CONFIG_ITEM_MAX];
	const char *comm[FR_COMM_FILTER_MAX], *cgroup[FR_CGROUP_FILTER_MAX]; /* lists, as given */
	u32 event_cnt, comm_cnt, cgroup_cnt;
	u32 pid[FR_PID_FILTER_MAX];
	char *settings;	    /* fr_record_settings(), owned */
	const char *config; /* path of the file, NULL none */
	bool check_config;
	const char *on[FR_TRIGGER_MAX];
	u32 on_cnt;
	struct fr_record_over over[FR_RECORD_OVER_MAX];
	u32 over_cnt;
	struct fr_config def;	  /* the defaults: their names are referred to */
	struct fr_config session; /* the file, as read for the session: likewise; empty without a file */
	struct fr_live_settings live;
};

enum fr_record_opt {
	FR_OPT_SUBBUF = 256,
	FR_OPT_TIER,
	FR_OPT_CLOCK,
	FR_OPT_HZ,
	FR_OPT_PROFILE,
	FR_OPT_PID,
	FR_OPT_COMM,
	FR_OPT_CGROUP,
	FR_OPT_INCIDENTS,
	/* those above shape a session */
	FR_OPT_ON,
	FR_OPT_DETACH,
	FR_OPT_KEEP,
	FR_OPT_CONFIG,
	FR_OPT_CHECK_CONFIG,
	FR_OPT_EXEC,
	FR_OPT_EXEC_USER,
	FR_OPT_BUDGET,
	FR_OPT_MAX_FILES,
	FR_OPT_MAX_SIZE,
	FR_OPT_MAX_AGE,
	FR_OPT_KEEP_FREE,
	FR_OPT_MAX_INCIDENTS,
};

/* ---- record_set.c: options that define a session. 0, or -EINVAL with a message ---- */

int fr_record_set(struct fr_record_opts *o, int opt, const char *arg); /* of -p, -e and -f, arg must live */
int fr_record_set_name(struct fr_record_opts *o, const char *text);
int fr_record_select(struct fr_record_opts *o); /* events and -f, once everything is set */

/* ---- record_settings.c ---- */

/*
 * What was set before fr_record_select(), as it would be typed: "-e syscall -m 16M", or "defaults". In a fixed order and in one
 * form, without what is a default anyway: settings with the same text are the same, however they were given. malloc'ed; NULL:
 * no memory.
 */
char *fr_record_settings(const struct fr_record_opts *o);

/* ---- record_config.c ---- */

/* The session's settings in the configuration file. 0, -EINVAL or -errno with a message. */
int fr_record_read_config(struct fr_record_opts *o);

/* File, overriding options, triggers: 0 and *out, or -errno and why. Also used on a reload: fr_settings_fn. */
int fr_record_live(void *opts, struct fr_live_settings *out, char *why, size_t why_sz);

/* ---- record_check.c ---- */

/* Print what would be recorded, after checking what only this host knows. Returns the exit status. */
int fr_record_check_config(struct fr_record_opts *o);

#endif
