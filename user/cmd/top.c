/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "cmd/symopts.h"
#include "cmd/winopts.h"
#include "show/top/top.h"
#include "sys/screen.h"

#define SIZE_MOST     1000u
#define WIDTH_DEFAULT 100u

struct asked {
	struct fr_top_ask ask;
	struct fr_symopts symbols;
	struct fr_winopts window;
	const char *panel, *keys;
	bool once, no_mouse;
	u32 width, height;
};

static int top_size(const struct fr_option *option, void *to, const char *value)
{
	struct asked *a = to;
	char end;

	(void)option;
	if (sscanf(value, "%ux%u%c", &a->width, &a->height, &end) == 2 && a->width && a->height && a->width <= SIZE_MOST &&
	    a->height <= SIZE_MOST)
		return 0;
	fr_err("--size: '%s' is not a size: give columns x lines, as 100x40, up to %ux%u", value, SIZE_MOST, SIZE_MOST);
	return -EINVAL;
}

static const struct fr_option table[] = {
	FR_OPTION_GROUP(fr_option_matching, offsetof(struct asked, ask.opts.filter)),
	FR_OPTION_GROUP(fr_winopts, offsetof(struct asked, window)),
	FR_OPTION(0, "panel", "NAME",
		  "open with: details, events, tasks, cpus, calls, offcpu,\n"
		  "waits, irqs, block, flame, hist, info",
		  fr_option_text, offsetof(struct asked, panel),
		  .words = "details events tasks cpus calls offcpu waits irqs block flame hist info"),
	FR_OPTION(0, "once", NULL, "print one screen as plain text, and end", fr_option_flag, offsetof(struct asked, once),
		  .more = "It needs no terminal."),
	FR_OPTION(0, "size", "WxH", "of that screen (default: the terminal's width or 100, x 40)", top_size, 0,
		  .words = "80x24 100x40 200x50"),
	FR_OPTION(0, "keys", "TEXT", "press these keys first: +, -, [, ], t, ...", fr_option_text, offsetof(struct asked, keys),
		  .more = "With `--once`, each after everything the previous one started is done."),
	FR_OPTION(0, "no-mouse", NULL, "leave the mouse to the terminal", fr_option_flag, offsetof(struct asked, no_mouse)),
	FR_OPTION_GROUP(fr_symopts_named, offsetof(struct asked, symbols)),
	FR_OPTION_GROUP(fr_coloropts, 0),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec top [options] FILE\n"
		"A snapshot on the terminal: timeline of CPUs and tasks, events, tables, search.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"In it: ? for its keys, q to quit. The figures as JSON: flightrec report --json.\n"
		"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read is shown.\n"
		"Example: flightrec top --window trigger-50ms..trigger+5ms x.flight\n",
	.words = "@snapshot",
};

/* ---- one screen ---- */

static int finish_work(struct fr_top *t)
{
	int got;

	do {
		got = fr_top_work(t);
	} while (got > 0);
	return got;
}

/* Process each key once everything caused by the previous one is done. */
static int press_keys(struct fr_top *t, const char *keys)
{
	int err = finish_work(t);

	for (; !err && keys && *keys; keys++) {
		fr_top_key(t, *keys);
		err = finish_work(t);
	}
	return err;
}

/* As wide as the terminal, or as COLUMNS says. */
static u32 once_width(const struct fr_out *out)
{
	u32 cols = out ? fr_out_columns(out) : 0;

	return !cols ? WIDTH_DEFAULT : cols < SIZE_MOST ? cols : SIZE_MOST;
}

static int print_once(const struct asked *a, struct fr_top *t)
{
	struct fr_out *out = calloc(1, sizeof(*out));
	struct fr_grid grid = {0};
	int err = out ? 0 : -ENOMEM, status = FR_EXIT_FAIL;

	if (out)
		fr_out_init(out, STDOUT_FILENO);
	fr_top_resize(t, a->width ?: once_width(out), a->height);
	err = err ?: press_keys(t, a->keys);
	err = err ?: fr_top_draw(t, &grid);
	if (err) {
		fr_err("cannot show %s: %s: %s", a->ask.path, strerror(-err),
		       fr_err_cure(err, "check the file: flightrec verify"));
	} else {
		fr_grid_print(&grid, out, !a->ask.utf8);
		status = fr_err_finish(out, FR_EXIT_OK);
	}
	fr_grid_free(&grid);
	free(out);
	return status;
}

/* ---- on a terminal ---- */

static void say_no_screen(const char *path, int err)
{
	const char *term = getenv("TERM");

	if (err == -ENOTTY)
		fr_err("top needs a terminal on standard input and output: for text use flightrec report %s, or --once", path);
	else if (err == -ENOENT)
		fr_err("the terminal '%s' (TERM) is not known here: set TERM, as TERM=xterm, install ncurses-term, or use "
		       "flightrec report %s",
		       term ?: "", path);
	else if (err == -ENODEV)
		fr_err("the terminal '%s' cannot move its cursor: use flightrec report %s", term ?: "", path);
	else
		fr_err_errno(err, "cannot use the terminal");
}

static bool take_key(struct fr_screen *s, struct fr_top *t, int key)
{
	u32 x, y;

	switch (key) {
	case FR_KEY_NONE:
		return true;
	case FR_KEY_RESIZE:
		fr_screen_size(s, &x, &y);
		fr_top_resize(t, x, y);
		return true;
	case FR_KEY_MOUSE:
	case FR_KEY_WHEEL_UP:
	case FR_KEY_WHEEL_DOWN:
		fr_screen_point(s, &x, &y);
		fr_top_point(t, x, y, key);
		return true;
	default:
		return fr_top_key(t, key);
	}
}

/* Keys come first; long work continues while there are none. */
static int run_screen(struct fr_screen *s, struct fr_top *t, bool light)
{
	struct fr_grid grid = {0};
	int more = 1, key, err = 0;
	bool goes_on = true;
	u32 x, y;

	fr_screen_size(s, &x, &y);
	fr_top_resize(t, x, y);
	while (goes_on && !err) {
		err = fr_top_draw(t, &grid);
		if (!err)
			fr_screen_show(s, &grid, fr_top_is_light(t) != light);
		key = fr_screen_key(s, more > 0 ? 0 : -1);
		goes_on = take_key(s, t, key);
		for (; goes_on && (key = fr_screen_key(s, 0)) != FR_KEY_NONE;)
			goes_on = take_key(s, t, key);
		more = goes_on ? fr_top_work(t) : 0;
	}
	fr_grid_free(&grid);
	return err;
}

/* Ctrl-C is a normal end; other signals are passed on. */
static void die_of(int signal)
{
	if (signal && signal != SIGINT)
		raise(signal);
}

static int on_screen(struct fr_screen *s, struct fr_top *t)
{
	int err = run_screen(s, t, fr_screen_is_light(s)), signal = fr_screen_close(s);

	die_of(signal);
	if (err)
		fr_err_errno(err, "cannot draw");
	return err ? FR_EXIT_FAIL : FR_EXIT_OK;
}

/* ---- the command ---- */

static int top_status_of(int err)
{
	return err == -EINVAL ? FR_EXIT_USAGE : err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
}

/* Open the file first: its errors are printed on an unchanged terminal. */
static int top(struct asked *a)
{
	struct fr_screen *s = NULL;
	struct fr_top *t;
	int err = fr_top_new(&a->ask, &t), status;

	if (err)
		return top_status_of(err);
	if (a->panel && fr_top_open_panel(t, a->panel)) {
		fr_err("--panel: there is no '%s': give one of %s", a->panel, fr_top_panel_names());
		fr_top_free(t);
		return FR_EXIT_USAGE;
	}
	err = a->once ? 0 : fr_screen_open(!a->no_mouse, &s);
	if (err) {
		say_no_screen(a->ask.path, err);
		fr_top_free(t);
		return FR_EXIT_FAIL;
	}
	a->ask.color = s && fr_screen_has_color(s);
	status = s ? on_screen(s, t) : print_once(a, t);
	fr_top_say_left_out(t);
	if (fr_top_say_damage(t) && status == FR_EXIT_OK)
		status = FR_EXIT_CORRUPT;
	fr_top_free(t);
	return status;
}

int fr_cmd_top(int argc, char **argv)
{
	struct asked a = {.ask.opts = {.tiers = FR_REPLAY_TIERS, .names = true, .history = true}, .height = 40};
	int status = fr_options_parse(&options, argc, argv, &a);

	if (status >= 0)
		return status;
	if (optind + 1 != argc) {
		fr_err("name one snapshot: flightrec top FILE");
		return FR_EXIT_USAGE;
	}
	setlocale(LC_CTYPE, "");
	a.ask.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	a.ask.path = argv[optind];
	a.ask.opts.since = a.window.since;
	a.ask.opts.until = a.window.until;
	a.ask.symbols = a.symbols.off ? NULL : &a.symbols.opts;
	return top(&a);
}
