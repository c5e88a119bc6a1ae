/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "show/report/report.h"

/*
 * What `report` says of the file. It takes as much memory as a report, before the page takes its own: in another process,
 * since what is freed stays with who had it. Whoever makes the page says what is wrong with the file.
 */
static char *page_verdict(const struct fr_export_ask *ask, int *err)
{
	struct fr_aside *a;
	char *text = NULL;

	*err = fr_report_verdict_begin(ask->file[0], ask->no_symbols ? NULL : &ask->symbols, true, &a);
	*err = *err ?: fr_report_verdict_take(a, &text);
	return text;
}

int fr_page(struct fr_export_ask *ask)
{
	char *verdict = page_verdict(ask, &ask->verdict_err);
	int status;

	if (ask->verdict_err == -EPROTO) {
		fr_err("the verdict was not found: its process ended too early, as one does that is killed for want of memory: "
		       "give less by --memory");
		return FR_EXIT_FAIL;
	}
	ask->verdict = verdict;
	status = fr_export(ask);
	ask->verdict = NULL;
	free(verdict);
	return status;
}
