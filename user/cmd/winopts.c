/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/winopts.h"

#include <errno.h>

#include "base/err.h"
#include "lib/flightrec.h"

/* --window is both ends: which of two would count, nobody can see. */
static int winopts_check(const struct fr_winopts *given)
{
	if (!given->window || !given->end)
		return 0;
	fr_err("--window A..B is --since A and --until B: give it, or those");
	return -EINVAL;
}

static int winopts_end(struct fr_winopts *given, const char *option, const char *value, struct fr_when *when)
{
	given->end = true;
	if (winopts_check(given))
		return -EINVAL;
	if (!fr_when_parse(value, when))
		return 0;
	fr_err("%s: " FR_WHEN_WRONG, option, value);
	return -EINVAL;
}

int fr_winopts_since(const struct fr_option *option, void *to, const char *value)
{
	struct fr_winopts *w = to;
	int err = winopts_end(w, "--since", value, &w->since);

	(void)option;
	return err || !w->fr ? err : flightrec_set_since(w->fr, value);
}

int fr_winopts_until(const struct fr_option *option, void *to, const char *value)
{
	struct fr_winopts *w = to;
	int err = winopts_end(w, "--until", value, &w->until);

	(void)option;
	return err || !w->fr ? err : flightrec_set_until(w->fr, value);
}

int fr_winopts_window(const struct fr_option *option, void *to, const char *value)
{
	struct fr_winopts *w = to;

	(void)option;
	w->window = true;
	if (winopts_check(w))
		return -EINVAL;
	if (fr_when_parse_window(value, &w->since, &w->until)) {
		fr_err("--window: " FR_WHEN_WRONG_WINDOW, value);
		return -EINVAL;
	}
	return w->fr ? flightrec_set_window(w->fr, value) : 0;
}

const struct fr_option fr_winopts[] = {
	FR_OPTION(0, "since", "T",
		  "from then on: 2s after the start, -200ms before the trigger\n"
		  "or the end, 50%, trigger+5ms, 14:02:11.5, 2026-01-31, or ns",
		  fr_winopts_since, 0, .words = FR_WINOPTS_WORDS,
		  .more = "Plain ns are of the recording clock: see FILTERS in flightrec(1)."),
	FR_OPTION(0, "until", "T", "until then", fr_winopts_until, 0, .words = FR_WINOPTS_WORDS),
	FR_OPTION(0, "window", "A..B", "both: trigger-50ms..trigger+5ms, 10%..20%, -1s..", fr_winopts_window, 0,
		  .words = FR_WINOPTS_WINDOW_WORDS),
	{},
};
