/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* record: start a session or adopt one, stay until told to end, take snapshots on the way. */
#ifndef FR_RECORD_H
#define FR_RECORD_H

#include "io/load.h"
#include "pure/plan.h"

struct fr_record_ask {
	const char *name;
	const char *profile;
	const char *dir;
	struct fr_plan_ask plan;
	struct fr_load_conf load; /* events, filters, rate; geometry and epoch are filled in here */
	bool grain_given;
	bool on_exit;	      /* a last snapshot when it ends */
	bool detach;	      /* leave the session recording and return */
	bool keep;	      /* at the end leave the session recording */
	const char *settings; /* the options that must be the same for a session to be adopted */
	char **command;	      /* record while it runs; NULL none */
};

/* Returns the exit status; messages are printed. */
int fr_record(struct fr_record_ask *ask);

#endif
