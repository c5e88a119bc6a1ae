/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/rows/whose.h"
#include "cmd/cmd.h"
#include "cmd/jobs.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "cmd/pace.h"
#include "cmd/pageopts.h"
#include "cmd/replay_on.h"
#include "cmd/replay_step.h"
#include "cmd/say.h"
#include "cmd/symopts.h"
#include "cmd/winopts.h"
#include "lib/flightrec.h"
#include "sys/now.h"

enum mode { TEXT, JSON, COUNT };

struct ask {
	struct flightrec *fr;	    /* what is set is set in it; its messages are ours */
	const char *option;	    /* the one being set: prefixes messages about it */
	struct fr_replay_opts opts; /* the window, for rules: evaluating them takes more than the library offers */
	const char *filter;
	bool tiers; /* given on the command line */
	enum mode mode;
	bool pos;
	bool pairs;
	bool columns; /* some were chosen */
	bool gaps;
	bool kmsg;
	bool json, count;
	bool words, wall; /* with json */
	double speed;	  /* 0: at once */
	u32 step;	  /* events with each key, 0: without */
	struct fr_replay_on on;
	struct fr_symopts symopts;
	struct fr_winopts window;
};

/* State kept between events. */
struct show {
	const struct ask *ask;
	struct flightrec *fr;
	struct flightrec_printer *printer;
	struct fr_pace pace;
	struct fr_step *step; /* NULL: not by keys */
	int write_err;	      /* -errno: output is impossible */
};

static void cmd_replay_say(void *arg, int level, const char *text)
{
	const struct ask *ask = arg;

	if (level == FLIGHTREC_LOG_ERROR)
		fr_err_lines("%s%s", ask->option, text); /* the library has escaped it */
	else
		fr_warn_lines("%s%s", ask->option, text);
}

/* ---- events ---- */

static void cmd_replay_wait_for(struct show *s, const struct flightrec_event *ev)
{
	u64 key = flightrec_event_order_ns(ev);
	s64 left = fr_pace_left(&s->pace, key, fr_now_ns(CLOCK_MONOTONIC));

	if (left)
		s->write_err = flightrec_printer_flush(s->printer);
	for (; left && !s->write_err; left = fr_pace_left(&s->pace, key, fr_now_ns(CLOCK_MONOTONIC)))
		if (!fr_pace_sleep(STDOUT_FILENO, left))
			s->write_err = -EPIPE;
}

static void show_gaps(struct show *s)
{
	const struct flightrec_gap *gap;

	while (!s->write_err && flightrec_next_gap(s->fr, &gap) > 0)
		s->write_err = flightrec_print_gap(s->printer, gap);
}

static void show_kmsg(struct show *s)
{
	const struct flightrec_kmsg *kmsg;

	while (!s->write_err && flightrec_next_kmsg(s->fr, &kmsg) > 0)
		s->write_err = flightrec_print_kmsg(s->printer, kmsg);
}

/* 0 to continue; or the result of printing. */
static int show_event(struct show *s, const struct flightrec_event *ev)
{
	if (s->pace.speed > 0)
		cmd_replay_wait_for(s, ev);
	if (s->ask->gaps)
		show_gaps(s);
	if (s->ask->kmsg)
		show_kmsg(s);
	if (!s->write_err)
		s->write_err = flightrec_print(s->printer, ev);
	return s->write_err;
}

/* As flightrec_next(). */
static int show_all(struct show *s)
{
	const struct flightrec_event *ev;
	int got;

	while ((got = flightrec_next(s->fr, &ev)) > 0 && !show_event(s, ev))
		;
	return got;
}

/* Likewise; keys choose which are shown. */
static int step_all(struct show *s)
{
	const struct flightrec_event *ev;
	int got;

	while ((got = flightrec_next(s->fr, &ev)) > 0 && !s->write_err) {
		switch (fr_step_next(s->step, s->printer, flightrec_event_matches(ev))) {
		case FR_STEP_SHOW:
			show_event(s, ev);
			break;
		case FR_STEP_QUIT:
			return 0;
		case FR_STEP_SKIP:
			break;
		}
	}
	return got;
}

/* ---- the end ---- */

static int write_status(int err, int status)
{
	if (!err || err == -EPIPE)
		return status;
	fr_err_errno(err, "cannot write the output");
	return FR_EXIT_FAIL;
}

static int cmd_replay_finish(struct show *s, int got)
{
	int err, status;

	if (s->ask->gaps && !got)
		show_gaps(s);
	if (s->ask->kmsg && !got)
		show_kmsg(s);
	err = flightrec_printer_flush(s->printer);
	flightrec_warn_symbols(s->fr);
	if (!s->ask->gaps && !err && !s->write_err)
		got = fr_cmd_warn_gaps(s->fr) ?: got;
	status = flightrec_warn_damage(s->fr) ? FR_EXIT_CORRUPT : FR_EXIT_OK;
	return write_status(s->write_err ? s->write_err : err, got < 0 ? FR_EXIT_FAIL : status);
}

/* The terminal has been restored: deliver a signal held back meanwhile. */
static int end_step(struct show *s, int status)
{
	int sig = s->step ? fr_step_signal(s->step) : 0;

	fr_step_free(s->step);
	if (sig && sig != SIGINT)
		raise(sig);
	return status;
}

/* ---- what is to be shown ---- */

static unsigned print_flags(const struct ask *ask)
{
	unsigned flags = FLIGHTREC_PRINT_COLOR;

	flags |= ask->pos ? FLIGHTREC_PRINT_POS : 0;
	flags |= ask->words ? FLIGHTREC_PRINT_WORDS : 0;
	flags |= ask->wall ? FLIGHTREC_PRINT_WALL : 0;
	flags |= ask->symopts.on ? FLIGHTREC_PRINT_SYMBOLS : 0;
	return flags | (ask->symopts.off ? FLIGHTREC_PRINT_NO_SYMBOLS : 0);
}

static int cmd_replay_show(const struct ask *ask)
{
	struct show s = {.ask = ask, .fr = ask->fr, .pace.speed = ask->speed};
	enum flightrec_format format = ask->mode == JSON ? FLIGHTREC_FORMAT_JSON : FLIGHTREC_FORMAT_TEXT;
	int status = FR_EXIT_FAIL;

	if (!ask->step && ask->speed <= 0) /* else lines come as they happened, or by key */
		fr_pageopts_begin();
	if (flightrec_printer_new(s.fr, format, print_flags(ask), STDOUT_FILENO, &s.printer))
		return FR_EXIT_FAIL;
	if (ask->kmsg && !flightrec_has_kmsg(s.fr))
		fr_warn("the kernel's log was not recorded: `flightrec info` may say why");
	if (ask->step && fr_step_new(ask->step, &s.step))
		status = FR_EXIT_USAGE;
	else
		status = cmd_replay_finish(&s, s.step ? step_all(&s) : show_all(&s));
	status = end_step(&s, status);
	flightrec_printer_free(s.printer);
	return status;
}

static int cmd_replay_count(const struct ask *ask)
{
	uint64_t cnt;
	int got = flightrec_count(ask->fr, &cnt), err = 0, status;

	if (!got)
		err = printf("%llu\n", (unsigned long long)cnt) < 0 || fflush(stdout) ? -errno : 0;
	status = flightrec_warn_damage(ask->fr) ? FR_EXIT_CORRUPT : FR_EXIT_OK;
	return write_status(err, got ? FR_EXIT_FAIL : status);
}

static int cmd_replay_open_all(const struct ask *ask, const char *const *path, u32 cnt)
{
	unsigned flags = (ask->pairs ? FLIGHTREC_PAIRS : 0) | (ask->gaps ? FLIGHTREC_GAPS : 0);
	int err = fr_symopts_set(&ask->symopts, ask->fr);
	u32 i;

	flags |= ask->mode == COUNT && !ask->filter ? FLIGHTREC_NO_NAMES : 0;
	flags |= ask->step ? FLIGHTREC_UNMATCHED : 0;
	err = err ? err : flightrec_set_flags(ask->fr, flags);
	err = err ? err : flightrec_set_jobs(ask->fr, ask->opts.jobs == FR_REPLAY_JOBS_AUTO ? 0 : ask->opts.jobs);
	err = err ? err : flightrec_set_filter(ask->fr, ask->filter);
	for (i = 0; i < cnt && !err; i++)
		err = flightrec_add(ask->fr, path[i]);
	return err ? err : flightrec_open(ask->fr);
}

static int replay(const struct ask *ask, const char *const *path, u32 cnt)
{
	int err = cmd_replay_open_all(ask, path, cnt);

	if (err)
		return err == -EINVAL ? FR_EXIT_USAGE : err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	return ask->mode == COUNT ? cmd_replay_count(ask) : cmd_replay_show(ask);
}

/* ---- options ---- */

static int replay_tiers(const struct fr_option *option, void *to, const char *value)
{
	struct ask *ask = to;
	int err;

	(void)option;
	ask->option = "--tier: ";
	err = flightrec_set_tiers(ask->fr, value);
	ask->option = "";
	ask->tiers = true;
	return err;
}

static int replay_columns(const struct fr_option *option, void *to, const char *value)
{
	struct ask *ask = to;
	int err;

	(void)option;
	ask->option = "--columns: ";
	err = flightrec_set_columns(ask->fr, value);
	ask->option = "";
	ask->columns = true;
	return err;
}

static int replay_life(const struct fr_option *option, void *to, const char *value)
{
	(void)value;
	return replay_tiers(option, to, "life");
}

static int replay_speed(const struct fr_option *option, void *to, const char *value)
{
	struct ask *ask = to;

	(void)option;
	return fr_pace_parse(value, &ask->speed);
}

static int replay_step(const struct fr_option *option, void *to, const char *value)
{
	struct ask *ask = to;

	(void)option;
	return fr_step_parse(value, &ask->step);
}

static int replay_on(const struct fr_option *option, void *to, const char *value)
{
	struct ask *ask = to;

	(void)option;
	return fr_replay_on_add(&ask->on, value);
}

static const struct fr_option table[] = {
	FR_OPTION('f', "filter", "EXPR",
		  "only events that match: C-like, over the names that\n"
		  "`flightrec events` lists and event, ts, cpu, pid, tid,\n"
		  "comm, cgroup, tier, latency, offcpu, queued, blocked, oncpu,\n"
		  "waker; ~ globs, =~ patterns, in (a, b): see FILTERS in flightrec(1)",
		  fr_option_filter, offsetof(struct ask, filter), .words = "@filter"),
	FR_OPTION_GROUP(fr_winopts, offsetof(struct ask, window)),
	FR_OPTION(0, "json", NULL, "NDJSON: an object a line", fr_option_flag, offsetof(struct ask, json),
		  .more = "`ts`, `cpu`, `event`, `pid`, `tid` and `comm` (of the task it happened in) come first, then the "
			  "event's fields under the kernel's names; integers are exact."),
	FR_OPTION(0, "words", NULL, "with --json: numbers that have names as those: openat, -ENOENT, D", fr_option_flag,
		  offsetof(struct ask, words)),
	FR_OPTION(0, "wall", NULL, "with --json: each event's wall time too, as `wall`", fr_option_flag,
		  offsetof(struct ask, wall)),
	FR_OPTION(0, "count", NULL, "only the number of events that match", fr_option_flag, offsetof(struct ask, count),
		  .more = "It is known after decoding and merging all."),
	FR_OPTION(0, "pos", NULL, "each event's place in its ring: epoch, tier, seq, offset", fr_option_flag,
		  offsetof(struct ask, pos)),
	FR_OPTION(0, "gaps", NULL, "also where events of a CPU are missing, and why, a line each", fr_option_flag,
		  offsetof(struct ask, gaps),
		  .more = "The line says from when, and until when; in JSON it is "
			  "`{\"ts\":N,\"cpu\":N,\"gap\":\"overwritten\",\"until_ns\":N}`. Without this option, a warning says "
			  "in how many places."),
	FR_OPTION(0, "kmsg", NULL, "also what the kernel logged, a line each", fr_option_flag, offsetof(struct ask, kmsg),
		  .more = "Records come by time between the events, those of the window, whatever `-f` selects; in JSON as "
			  "`{\"ts\":N,\"kmsg\":\"TEXT\",\"level\":\"err\",\"facility\":\"kern\",\"seq\":N,\"uncertainty_ns\":N}"
			  "`. The log has a "
			  "clock of its own: its time may be off by that much, and text says so from 1 ms on."),
	FR_OPTION(0, "pairs", NULL,
		  "what each event ends, where that is known: latency, time off\n"
		  "and on the CPU, who woke the task",
		  fr_option_flag, offsetof(struct ask, pairs),
		  .more = "They are called `latency_ns`, `offcpu_ns`, `queued_ns`, `blocked_ns`, `oncpu_ns` and `waker`."),
	FR_OPTION(0, "columns", "LIST", "also whose each event is: program, container, pod, ...; or all", replay_columns, 0,
		  .words = FR_WHOSE_WORDS,
		  .more = "Text has those that are known behind the fields, `whose=[program=nginx pod=api-0]`; JSON has each "
			  "that was "
			  "asked for, in `whose`, as null where there is none or it is not known. `program` is the name of the "
			  "process's first thread; the others are `cgroup`, `container_id`, `namespace`, `image` and `unit`."),
	FR_OPTION(0, "speed", "X", "1x as fast as it happened, 0.1x slower, max (default)", replay_speed, 0,
		  .words = "max 1x 0.1x"),
	FR_OPTION(0, "step", "[=N]", "by key: Enter next (N), n next that -f selects, c all, q quit", replay_step, 0,
		  .more = "Replay stops after each event, or after every N events, and waits for a key at the terminal: Enter "
			  "or space continues; a number and Enter shows that many; `n` goes to the next event that `-f` "
			  "selects; `c` shows all the rest that it selects; `q` quits."),
	FR_OPTION(0, "on", "TRIGGER", "when this rule would have fired, with its verdict; repeatable", replay_on, 0,
		  .words = "@trigger",
		  .more = "A rule is given as in `record --on`. Its moments are printed, then the sums of each rule and what "
			  "the files cannot show for it; with `--count`, only the sums. There are 32 rules at most. Rules see "
			  "all events of the window; `-f`, `--pos`, `--step`, `--tier` and `--life` cannot be combined with "
			  "this option. The status is 1 if a rule cannot be evaluated from these files (psi, signal, exit, "
			  "command; events that were not recorded), or would be refused when recording; the other rules are "
			  "evaluated all the same."),
	FR_OPTION(0, "tier", "LIST", "only these tiers: main,life,stack,wait,rare or all\n(default: all but stack)",
		  replay_tiers, 0, .words = "main life stack wait all"),
	FR_OPTION(0, "life", NULL, "as --tier life: births, deaths, names, fatal signals, marks", replay_life, 0),
	FR_OPTION(0, "symbols", NULL, "with --json: stacks in words too, as kstack_sym, ustack_sym", fr_symopts_on,
		  offsetof(struct ask, symopts)),
	FR_OPTION_GROUP(fr_symopts, offsetof(struct ask, symopts)),
	FR_OPTION_GROUP(fr_jobs_auto, offsetof(struct ask, opts.jobs)),
	FR_OPTION_GROUP(fr_pageopts, 0),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec replay [options] FILE...\n"
		"Print the events of one or several snapshots in one order, a line each.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read was printed.\n"
		"Example: flightrec replay x.flight --since -10ms -f 'comm ~ \"nginx*\"'\n",
	.words = "@snapshot",
	.table = &fr_replay_on_kind,
	.by_kind = true,
};

/* Options that make sense only with certain others, or without them. */
static int cmd_replay_check(const struct ask *ask)
{
	if (ask->on.cnt && (ask->filter || ask->pos || ask->step || ask->tiers)) {
		fr_err("--on: rules see all events: it cannot be used with -f, --pos, --step, --tier or --life; put conditions "
		       "into the rule, as crash:comm=NAME or event:EXPR");
		return -1;
	}
	if (ask->mode == COUNT && !ask->on.cnt && (ask->json || ask->speed > 0)) {
		fr_err("--count prints a number, at once: it cannot be used with --json or --speed");
		return -1;
	}
	if (ask->gaps && (ask->mode == COUNT || ask->on.cnt)) {
		fr_err("--gaps shows places between events: it cannot be used with --count or --on");
		return -1;
	}
	if (ask->kmsg && (ask->mode == COUNT || ask->on.cnt)) {
		fr_err("--kmsg shows lines between events: it cannot be used with --count or --on");
		return -1;
	}
	if ((ask->words || ask->wall) && (!ask->json || ask->on.cnt)) {
		fr_err("--words and --wall are for --json: text has both");
		return -1;
	}
	if (ask->columns && (ask->mode == COUNT || ask->on.cnt)) {
		fr_err("--columns is about lines of events: it cannot be used with --count or --on");
		return -1;
	}
	if (ask->step && (ask->mode == COUNT || ask->speed > 0)) {
		fr_err("--step goes by key: it cannot be used with --count or --speed");
		return -1;
	}
	return 0;
}

static int cmd_replay_rehearse(struct ask *ask, const char *const *path, u32 cnt)
{
	ask->on.json = ask->json;
	ask->on.totals = ask->mode == COUNT;
	ask->on.speed = ask->speed;
	ask->opts.names = ask->opts.cgroups = ask->opts.pairs = true;
	return fr_replay_on_run(&ask->on, &ask->opts, path, cnt);
}

/* -1: continue; otherwise the exit status. */
static int cmd_replay_parse_options(struct ask *ask, int argc, char **argv)
{
	int status = fr_options_parse(&options, argc, argv, ask);

	if (status >= 0)
		return status;
	ask->mode = ask->count ? COUNT : ask->json ? JSON : TEXT;
	ask->opts.since = ask->window.since;
	ask->opts.until = ask->window.until;
	if (optind == argc) {
		fr_err("name the snapshot to be replayed: flightrec replay FILE");
		return FR_EXIT_USAGE;
	}
	return cmd_replay_check(ask) ? FR_EXIT_USAGE : -1;
}

int fr_cmd_replay(int argc, char **argv)
{
	struct ask ask = {.fr = flightrec_new(), .option = "", .opts = {.tiers = FR_REPLAY_TIERS, .jobs = FR_REPLAY_JOBS_AUTO}};
	int status;

	if (!ask.fr) {
		fr_err_memory();
		return FR_EXIT_FAIL;
	}
	ask.window.fr = ask.fr;
	flightrec_set_log(ask.fr, cmd_replay_say, &ask);
	status = cmd_replay_parse_options(&ask, argc, argv);
	if (status < 0 && ask.on.cnt)
		status = cmd_replay_rehearse(&ask, (const char *const *)argv + optind, argc - optind);
	else if (status < 0)
		status = replay(&ask, (const char *const *)argv + optind, argc - optind);
	flightrec_free(ask.fr);
	return status;
}
