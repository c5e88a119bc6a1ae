/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* record_opts: the result of parsing record's command line and configuration file. */
#ifndef FR_CMD_RECORD_OPTS_H
#define FR_CMD_RECORD_OPTS_H

#include "base/config/record_filter.h"
#include "live/recorder/record.h"
#include "live/session/tpchoice.h"

#define FR_RECORD_GIVEN_MAX 256u

/* An option that sets a key of the configuration, in the order of the command line. */
struct fr_record_given {
	enum fr_config_key_nr key;
	const char *value;
};

struct fr_record_opts {
	struct fr_record_ask ask;
	struct fr_record_filter filter;
	u32 pid[FR_PID_FILTER_MAX];
	char *settings;	    /* fr_record_settings(), owned */
	const char *config; /* path of the file, NULL none */
	bool check_config;
	struct fr_record_given given[FR_RECORD_GIVEN_MAX];
	u32 given_cnt;
	const char *filter_option; /* of these, the one of -f; NULL: none */
	struct fr_config session;  /* as it begins: ask refers to its texts. A reload makes live anew. */
	struct fr_live_settings live;
	struct fr_tpchoice tp; /* ask.load refers to it */
};

/* Does an option set this key? */
bool fr_record_gives(const struct fr_record_opts *o, enum fr_config_key_nr key);

/* ---- record_config.c: 0, or -EINVAL or -errno and why ---- */

/* What the default that the table has needs, for a text: " with --config"; or "". */
const char *fr_record_default_with(enum fr_config_key_nr key);

/* The settings: defaults, the file, and the options on top. *c is made, and freed by the caller, even after an error. */
int fr_record_config(const struct fr_record_opts *o, struct fr_sess *s, struct fr_config *c, char *why, size_t why_sz);

/* The same with the triggers as rules. Also used on a reload: fr_settings_fn; s: NULL before. */
int fr_record_live(void *opts, struct fr_sess *s, struct fr_live_settings *out, char *why, size_t why_sz);

/* ---- record_session.c ---- */

/* What o->session means for the session that is to be recorded, in o->ask. 0, or -EINVAL or -errno with a message. */
int fr_record_session(struct fr_record_opts *o);

/*
 * The session's settings as they would be typed: "-e syscall -m 16M", or "defaults". In a fixed order and in one form, without
 * what is a default anyway: settings with the same text are the same, however they were given. A later recorder knows by it
 * whether it may adopt the session. malloc'ed; NULL: no memory.
 */
char *fr_record_settings(const struct fr_record_opts *o);

/* ---- record_check.c ---- */

/* Print what would be recorded, after checking what only this host knows. Returns the exit status. */
int fr_record_check_config(struct fr_record_opts *o);

#endif
