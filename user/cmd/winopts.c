/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/winopts.h"

#include <errno.h>

#include "lib/flightrec.h"
#include "pure/err.h"

static int parse_when(const char *option, struct fr_when *w)
{
	if (!fr_when_parse(optarg, w))
		return 0;
	fr_err("%s: " FR_WHEN_WRONG, option, optarg);
	return -EINVAL;
}

static int parse_window(struct fr_when *since, struct fr_when *until)
{
	if (!fr_when_parse_window(optarg, since, until))
		return 0;
	fr_err("--window: " FR_WHEN_WRONG_WINDOW, optarg);
	return -EINVAL;
}

/* --window is both ends: which of two would count, nobody can see. */
static int check_given(struct fr_winopts *given, int opt)
{
	given->window |= opt == FR_WINOPT_WINDOW;
	given->end |= opt == FR_WINOPT_SINCE || opt == FR_WINOPT_UNTIL;
	if (!given->window || !given->end)
		return 0;
	fr_err("--window A..B is --since A and --until B: give it, or those");
	return -EINVAL;
}

int fr_winopts_parse(struct fr_winopts *given, int opt, struct fr_when *since, struct fr_when *until)
{
	if (check_given(given, opt))
		return -EINVAL;
	switch (opt) {
	case FR_WINOPT_SINCE:
		return parse_when("--since", since);
	case FR_WINOPT_UNTIL:
		return parse_when("--until", until);
	case FR_WINOPT_WINDOW:
		return parse_window(since, until);
	default:
		return 1;
	}
}

int fr_winopts_set(int opt, struct flightrec *fr)
{
	switch (opt) {
	case FR_WINOPT_SINCE:
		return flightrec_set_since(fr, optarg);
	case FR_WINOPT_UNTIL:
		return flightrec_set_until(fr, optarg);
	default:
		return flightrec_set_window(fr, optarg);
	}
}
