/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* winopts: the options for the time window, for all commands that read events: a table over struct fr_winopts. */
#ifndef FR_WINOPTS_H
#define FR_WINOPTS_H

#include "base/text/when.h"
#include "cmd/options.h"

struct flightrec;

struct fr_winopts {
	struct fr_when since, until;
	struct flightrec *fr; /* a handle of the library that gets the same; NULL: none */
	bool window, end;     /* --window was given; or an end of its own */
};

extern const struct fr_option fr_winopts[];

/* For tables with other words; to is a struct fr_winopts. */
int fr_winopts_since(const struct fr_option *option, void *to, const char *value);
int fr_winopts_until(const struct fr_option *option, void *to, const char *value);
int fr_winopts_window(const struct fr_option *option, void *to, const char *value);

/* What completion offers for a time, and for a window. */
#define FR_WINOPTS_WORDS	"trigger trigger-50ms trigger+5ms 50% -200ms"
#define FR_WINOPTS_WINDOW_WORDS "trigger-50ms..trigger+5ms trigger.. 10%..20% -1s.."

#endif
