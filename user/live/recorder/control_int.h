/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* control_int: shared by the commands of the control socket. */
#ifndef FR_CONTROL_INT_H
#define FR_CONTROL_INT_H

#include <sys/types.h>

#include "base/text/jsonr.h"
#include "base/text/jsonw.h"
#include "live/ctl/ctl_server.h"
#include "live/recorder/control.h"
#include "live/recorder/daemon.h"
#include "live/snapshot/store.h"

struct fr_ctl {
	struct fr_daemon *d;
	struct fr_ctl_server *server; /* NULL: Socket=no */
	bool running;		      /* a request is being answered: the server must stay until then */
	gid_t status_gid, dump_gid;   /* (gid_t)-1: none */
	bool has_looked;
	struct fr_store_usage seen; /* when somebody last had a look at the directory */
	u64 dumped_ns;		    /* last snapshot requested by a group; CLOCK_MONOTONIC, 0 none */
	struct fr_out *out;	    /* an answer is built in it */
	struct fr_jsonw json;
};

/* Build an answer, one at a time. */
struct fr_jsonw *fr_control_answer_begin(struct fr_ctl *c);
void fr_control_answer_end(struct fr_ctl *c, struct fr_ctl_client *to);

/* {"ok":false, ...}: fmt says what is wrong, code says it for programs, and cure what to do. */
void fr_control_answer_error(struct fr_ctl *c, struct fr_ctl_client *to, const char *code, const char *cure, const char *fmt,
			     ...) __attribute__((format(printf, 5, 6)));

/* The read-only commands. */
void fr_control_status(struct fr_ctl *c, struct fr_ctl_client *to, const struct fr_jsonr *ask);
void fr_control_store(struct fr_ctl *c, struct fr_ctl_client *to, const struct fr_jsonr *ask);

#endif
