/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* page: a page for a browser, with the verdict of `report`: of `view`, and of `export --to html`. */
#ifndef FR_CMD_PAGE_H
#define FR_CMD_PAGE_H

#include "show/export/export.h"

/* Returns the exit status; messages are printed. */
int fr_page(struct fr_export_ask *ask);

#endif
