/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_request: the path of one request through threads and processes (read/request/request.h), as text or JSON. */
#ifndef FR_REPORT_REQUEST_H
#define FR_REPORT_REQUEST_H

#include "base/show/table.h"
#include "show/report/report.h"

/* Of one or several snapshots; of ask: window, top, json. Returns the exit status; messages are printed. */
int fr_report_request(const struct fr_report_ask *ask, u64 id, const char *const *path, u32 cnt);

extern const struct fr_table fr_report_kind_request;

#endif
