/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/progress.h"

#include <stdio.h>
#include <unistd.h>

#define BAR_WIDTH 32

void fr_progress_begin(struct fr_progress *p, const char *what)
{
	p->what = what;
	p->shown = -1;
	p->tty = isatty(STDERR_FILENO);
}

void fr_progress_show(void *arg, u64 done, u64 total)
{
	static const char full[] = "################################", empty[] = "................................";
	struct fr_progress *p = arg;
	int percent = total ? done * 100 / total : 100, fill = percent * BAR_WIDTH / 100;

	if (!p->tty || percent == p->shown)
		return;
	p->shown = percent;
	fprintf(stderr, "\r%s [%.*s%.*s] %3d %%", p->what, fill, full, BAR_WIDTH - fill, empty, percent);
}

void fr_progress_end(struct fr_progress *p)
{
	if (p->shown >= 0)
		fputs("\r\033[K", stderr);
}
