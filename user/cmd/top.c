/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/config/setting.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "cmd/symopts.h"
#include "cmd/top_live.h"
#include "cmd/winopts.h"
#include "show/top/top.h"
#include "sys/screen.h"

#define SIZE_MOST     1000u
#define WIDTH_DEFAULT 100u

#define INTERVAL_LEAST_NS   (100 * FR_MSEC_NS)
#define INTERVAL_DEFAULT_NS (2 * FR_SEC_NS)
#define LAST_DEFAULT_NS	    (5 * FR_SEC_NS)

struct asked {
	struct fr_top_ask ask;
	struct fr_symopts symbols;
	struct fr_winopts window;
	const char *panel, *keys;
	bool once, no_mouse;
	u32 width, height;
	const char *session; /* NULL: not given */
	u64 interval_ns, last_ns;
};

/* What is shown: a file, or a session that is looked at again and again. */
struct source {
	struct fr_top *top; /* of a file */
	struct fr_top_looks *live;
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
	FR_OPTION_GROUP(fr_option_session, offsetof(struct asked, session)),
	FR_OPTION(0, "interval", "T", "live: look at the session again so often (2s)", fr_option_duration,
		  offsetof(struct asked, interval_ns), .least = INTERVAL_LEAST_NS, .words = "500ms 1s 2s 10s",
		  .more = "Each look copies the last of the rings, and reads it; it takes nothing from the session, and holds "
			  "nobody up."),
	FR_OPTION(0, "last", "T", "live: show this much history each time (5s)", fr_option_duration,
		  offsetof(struct asked, last_ns), .words = "1s 5s 30s"),
	FR_OPTION_GROUP(fr_option_matching, offsetof(struct asked, ask.opts.filter)),
	FR_OPTION_GROUP(fr_winopts, offsetof(struct asked, window)),
	FR_OPTION(0, "panel", "NAME",
		  "open with: cause, details, events, tasks, cpus, calls,\n"
		  "offcpu, waits, irqs, block, flame, hist, info",
		  fr_option_text, offsetof(struct asked, panel),
		  .words = "cause details events tasks cpus calls offcpu waits irqs block flame hist info"),
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
		"       flightrec top [options] [NAME]       of a session that records, live\n"
		"A snapshot on the terminal: timeline of CPUs and tasks, events, tables, search.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"In it: ? for its keys, q to quit. The figures as JSON: flightrec report --json.\n"
		"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read is shown;\n"
		"4 no such session.\n"
		"Example: flightrec top --window trigger-50ms..trigger+5ms x.flight\n",
	.words = "@shown",
};

/* ---- one screen ---- */

static int finish_work(struct fr_top *t)
{
	struct pollfd p = {.events = POLLIN};
	int got;

	do {
		got = fr_top_work(t);
		p.fd = fr_top_wait_fd(t);
	} while (got > 0 || (!got && p.fd >= 0 && poll(&p, 1, -1) >= 0));
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
		fr_err("cannot show %s: %s: %s", a->ask.name ?: a->ask.path, strerror(-err),
		       fr_err_cure(err, a->ask.path ? "check the file: flightrec verify" : "try again"));
	} else {
		fr_grid_print(&grid, out, !a->ask.utf8);
		status = fr_err_finish(out, FR_EXIT_OK);
	}
	fr_grid_free(&grid);
	free(out);
	return status;
}

/* ---- on a terminal ---- */

/* path NULL: of a session. */
static void say_no_screen(const char *path, int err)
{
	const char *term = getenv("TERM"), *use = path ? "flightrec report " : "--once";

	path = path ?: "";
	if (err == -ENOTTY)
		fr_err("top needs a terminal on standard input and output: for text use %s%s%s", use, path,
		       *path ? ", or --once" : "");
	else if (err == -ENOENT)
		fr_err("the terminal '%s' (TERM) is not known here: set TERM, as TERM=xterm, install ncurses-term, or use %s%s",
		       term ?: "", use, path);
	else if (err == -ENODEV)
		fr_err("the terminal '%s' cannot move its cursor: use %s%s", term ?: "", use, path);
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

static struct fr_top *top_of(const struct source *v)
{
	return v->live ? fr_top_looks_shown(v->live) : v->top;
}

static int next_key(struct fr_screen *s, const struct source *v, int more)
{
	int fd = fr_top_wait_fd(top_of(v)), wait_ms = more > 0 ? 0 : v->live ? fr_top_looks_wait(v->live, &fd) : -1;

	return fr_screen_key(s, wait_ms, fd);
}

/* Keys come first; long work continues while there are none. */
static int run_screen(struct fr_screen *s, const struct source *v, bool light, bool *ended)
{
	struct fr_grid grid = {0};
	int more = 1, key, err = 0;
	bool goes_on = true;
	u32 x, y;

	fr_screen_size(s, &x, &y);
	fr_top_resize(top_of(v), x, y);
	while (goes_on && !err) {
		err = fr_top_draw(top_of(v), &grid);
		if (!err)
			fr_screen_show(s, &grid, fr_top_is_light(top_of(v)) != light);
		key = next_key(s, v, more);
		goes_on = take_key(s, top_of(v), key);
		for (; goes_on && (key = fr_screen_key(s, 0, -1)) != FR_KEY_NONE;)
			goes_on = take_key(s, top_of(v), key);
		more = !goes_on ? 0 : v->live ? fr_top_looks_step(v->live) : fr_top_work(v->top);
		*ended = v->live && more == FR_TOP_LOOKS_ENDED;
		goes_on = goes_on && !*ended;
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

static int on_screen(struct fr_screen *s, const struct source *v)
{
	bool ended = false;
	int err = run_screen(s, v, fr_screen_is_light(s), &ended), signal = fr_screen_close(s);

	die_of(signal);
	if (ended)
		fr_say("%s has ended", fr_top_looks_name(v->live));
	if (err)
		fr_err_errno(err, "cannot draw");
	return err ? FR_EXIT_FAIL : FR_EXIT_OK;
}

/* ---- the command ---- */

static int top_status_of(int err)
{
	return err == -EINVAL ? FR_EXIT_USAGE : err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
}

static int top_show(struct asked *a, const struct source *v)
{
	struct fr_screen *s = NULL;
	int err, status;

	if (a->panel && fr_top_open_panel(top_of(v), a->panel)) {
		fr_err("--panel: there is no '%s': give one of %s", a->panel, fr_top_panel_names());
		return FR_EXIT_USAGE;
	}
	err = a->once ? 0 : fr_screen_open(!a->no_mouse, &s);
	if (err) {
		say_no_screen(a->ask.path, err);
		return FR_EXIT_FAIL;
	}
	a->ask.color = s && fr_screen_has_color(s);
	if (v->live)
		fr_top_looks_set_color(v->live, a->ask.color);
	status = s ? on_screen(s, v) : print_once(a, top_of(v));
	fr_top_say_left_out(top_of(v));
	if (fr_top_say_no_cause(top_of(v)) && status == FR_EXIT_OK)
		status = FR_EXIT_FAIL;
	return fr_top_say_damage(top_of(v)) && status == FR_EXIT_OK ? FR_EXIT_CORRUPT : status;
}

/* Open the file first: its errors are printed on an unchanged terminal. */
static int top_file(struct asked *a, const char *path)
{
	struct source v = {};
	int err, status;

	if (a->interval_ns || a->last_ns) {
		fr_err("--%s is for a session: %s is a file; show a part of it with --window",
		       a->interval_ns ? "interval" : "last", path);
		return FR_EXIT_USAGE;
	}
	a->ask.path = path;
	err = fr_top_new(&a->ask, &v.top);
	if (err)
		return top_status_of(err);
	status = top_show(a, &v);
	fr_top_free(v.top);
	return status;
}

static int top_session(struct asked *a, const char *name)
{
	struct fr_top_looks_ask ask = {
		.session = name,
		.interval_ns = a->interval_ns ?: INTERVAL_DEFAULT_NS,
		.last_ns = a->last_ns ?: LAST_DEFAULT_NS,
	};
	struct source v = {};
	int status;

	if (a->window.end || a->window.window) {
		fr_err("--since, --until and --window are for files: of a session, --last says how much is shown");
		return FR_EXIT_USAGE;
	}
	ask.top = a->ask;
	status = fr_top_looks_begin(&ask, &v.live);
	if (status)
		return status;
	a->ask.name = fr_top_looks_name(v.live);
	status = top_show(a, &v);
	fr_top_looks_end(v.live);
	return status;
}

/* A file, if there is one of this name, else a session, if one can be called so. */
static int top_named(struct asked *a, const char *name)
{
	int status;

	if (!access(name, F_OK) || !strcmp(name, "-") || !fr_setting_name_ok(name))
		return top_file(a, name);
	status = top_session(a, name);
	if (status == FR_EXIT_NO_SESSION)
		fr_err("there is no file '%s' here, either", name);
	return status;
}

int fr_cmd_top(int argc, char **argv)
{
	struct asked a = {.ask.opts = {.tiers = FR_REPLAY_TIERS, .names = true, .history = true}, .height = 40};
	int status = fr_options_parse(&options, argc, argv, &a);

	if (status >= 0)
		return status;
	if (optind + 1 < argc || (optind < argc && a.session)) {
		fr_err("name one snapshot, or one session: flightrec top FILE, flightrec top NAME");
		return FR_EXIT_USAGE;
	}
	setlocale(LC_CTYPE, "");
	a.ask.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	a.ask.opts.since = a.window.since;
	a.ask.opts.until = a.window.until;
	a.ask.symbols = a.symbols.off ? NULL : &a.symbols.opts;
	return optind < argc ? top_named(&a, argv[optind]) : top_session(&a, a.session ?: FR_DEF_NAME);
}
