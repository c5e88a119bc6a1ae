/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* record: starts or adopts a session, stays until told to end, takes snapshots meanwhile. */
#ifndef FR_RECORD_H
#define FR_RECORD_H

#include <signal.h>

#include "base/config/config.h"
#include "base/config/plan.h"
#include "base/text/units.h"
#include "base/trigger/trigger.h"
#include "live/recorder/takeover.h"
#include "live/session/load.h"
#include "live/session/sess.h"

/* What can be changed while recording: the configuration file with the command line's options on top, and its triggers. */
struct fr_live_settings {
	struct fr_config config; /* owned: fr_config_free(); of a recorder its dir is absolute, without links */
	char *given_dir;	 /* of a recorder: the dir as it was given, owned */
	struct fr_trigger rule[FR_TRIGGER_MAX];
	u32 rule_cnt;
};

/* Read the settings again, of a recorder of s. 0 and *out, freed with its config; -errno, and why not. */
typedef int (*fr_settings_fn)(void *arg, struct fr_sess *s, struct fr_live_settings *out, char *why, size_t why_sz);

struct fr_record_ask {
	const char *name;
	const char *profile;
	struct fr_plan_ask plan;
	struct fr_load_conf load; /* events, filters, rate; geometry and epoch are filled in here */
	bool grain_given;
	bool detach;	      /* the recorder stays in the background, and the command returns */
	bool unattended;      /* leave the session recording, without a recorder, and return */
	bool keep;	      /* leave the session recording at the end */
	bool is_daemon;	      /* runs by a configuration file: SIGHUP reloads it, SIGTERM leaves the session recording */
	const char *redact;   /* words of secret keys (base/text/redact.h); NULL: none beside those that always are */
	const char *settings; /* options that must match for a session to be adopted */
	char **command;	      /* record while it runs; NULL none */
	struct fr_live_settings *live; /* snapshots go to its config's dir; freed by the caller */
	fr_settings_fn reload;	       /* of a daemon */
	void *reload_arg;
	/* filled in here */
	u32 cpu_cnt;
	sigset_t mask;	       /* signals blocked before */
	struct fr_saved saved; /* of a session that was ended to begin this one */
	int ready;	       /* of one in the background: for fr_background_ready(); 0: none */
	bool found;	       /* a session of that name recorded before: a start that fails ends nothing */
};

/* Returns the exit status; messages are printed. */
int fr_record(struct fr_record_ask *ask);

/*
 * Plan and create a session, or adopt one with the same settings, and do nothing more: for callers that record for their own
 * purpose. The caller gets the owner's lock. 0 and *out, or -errno with a message.
 */
int fr_record_make(struct fr_record_ask *ask, struct fr_sess **out);

/*
 * Create dir if necessary; check that it is writable and that its path leaves room for file names. 0 and its absolute path,
 * freed by the caller; or -errno, -ETIMEDOUT: its disk does not answer within ns. s: as for fr_askdir().
 */
#define FR_OUT_DIR_NS (5 * FR_SEC_NS) /* for a disk that sleeps */
int fr_record_out_dir(struct fr_sess *s, const char *dir, u64 ns, char **path);

/* Snapshots and incidents of the session go there from now on: record that for commands. If that fails, a warning says so. */
void fr_record_set_dir(struct fr_sess *s, const char *dir);

/*
 * Signals that the loop takes from its signalfd; blocked from the beginning. SIGHUP, if it was ignored then (nohup), only where
 * it means to read the configuration again, not to end.
 */
void fr_record_signals(const struct fr_record_ask *ask, sigset_t *set);

#endif
