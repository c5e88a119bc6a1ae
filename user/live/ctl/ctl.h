/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ctl: the control socket /run/flightrec/NAME.sock. Lines of JSON: a request {"cmd":"status"} has one answer {"ok":true,...} or
 * {"ok":false,"error":"...","cure":"..."}; watch adds a line for each snapshot. SO_PEERCRED identifies the client.
 *
 *	status, watch		root, the owner's user, the status group and the dump group
 *	dump			root and the dump group, not more often than the interval
 *	stop, reload		root
 */
#ifndef FR_CTL_H
#define FR_CTL_H

#include "base/config/default.h" /* FR_CTL_DIR */
#include "types.h"

#define FR_CTL_CLIENT_MAX  32u
#define FR_CTL_REQUEST_MAX 4096u
#define FR_CTL_OUT_MAX	   (256u << 10) /* unread answers of a client; beyond that it is dropped */
#define FR_CTL_TIMEOUT_MS  5000		/* to receive a complete request */

/* ---- the client's side ---- */

struct fr_ctl_conn;						     /* opaque */
int fr_ctl_connect(const char *session, struct fr_ctl_conn **out);   /* 0; -ENOENT, -ECONNREFUSED: no recorder; -errno */
int fr_ctl_ask(struct fr_ctl_conn *c, const char *request);	     /* without the newline */
int fr_ctl_line(struct fr_ctl_conn *c, int timeout_ms, char **line); /* malloc'ed; 0, -ETIMEDOUT, -EPIPE: ended, -errno */
void fr_ctl_disconnect(struct fr_ctl_conn *c);			     /* NULL is fine */

#endif
