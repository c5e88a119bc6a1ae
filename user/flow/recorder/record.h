/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* record: start a session or adopt one, stay until told to end, take snapshots on the way. */
#ifndef FR_RECORD_H
#define FR_RECORD_H

#include <signal.h>

#include "io/session/load.h"
#include "io/session/sess.h"
#include "pure/config/config.h"
#include "pure/config/plan.h"
#include "pure/trigger/trigger.h"

/* What can be changed while it records: the configuration file with the command line's options over it, and its triggers. */
struct fr_live_settings {
	struct fr_config config; /* owned: fr_config_free() */
	struct fr_trigger rule[FR_TRIGGER_MAX];
	u32 rule_cnt;
};

/* Read settings anew. 0 and *out, to be freed with its config; -errno, and why not. */
typedef int (*fr_settings_fn)(void *arg, struct fr_live_settings *out, char *why, size_t why_sz);

struct fr_record_ask {
	const char *name;
	const char *profile;
	struct fr_plan_ask plan;
	struct fr_load_conf load; /* events, filters, rate; geometry and epoch are filled in here */
	bool grain_given;
	bool detach;	      /* leave the session recording and return */
	bool keep;	      /* at the end leave the session recording */
	bool is_daemon;	      /* runs by a configuration file: SIGHUP reads it anew, SIGTERM leaves the session recording */
	const char *settings; /* the options that must be the same for a session to be adopted */
	char **command;	      /* record while it runs; NULL none */
	struct fr_live_settings *live; /* its config's dir is where snapshots go; freed by the caller */
	fr_settings_fn reload;	       /* of a daemon */
	void *reload_arg;
	/* filled in here */
	u32 cpu_cnt;
	sigset_t mask; /* signals blocked before */
};

/* Returns the exit status; messages are printed. */
int fr_record(struct fr_record_ask *ask);

/*
 * Plan and make a session, or adopt one of the same settings, and nothing more: for who records for an end of his own. His is
 * the owner's lock. 0 and *out, or -errno with a message.
 */
int fr_record_make(struct fr_record_ask *ask, struct fr_sess **out);

/*
 * Make dir if it is not there, and see that files can be made in it, and that its path leaves room for their names: 0 and its
 * absolute path, to be freed; or -errno.
 */
int fr_record_out_dir(const char *dir, char **path);

/* Snapshots and incidents of the session go there from now on: commands see it. Where it cannot be kept, a warning says so. */
void fr_record_set_dir(struct fr_sess *s, const char *dir);

/* Signals that the loop takes from its signalfd; blocked from the start. */
void fr_record_signals(sigset_t *set);

#endif
