/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/jobs.h"
#include "cmd/nextopt.h"
#include "cmd/pace.h"
#include "cmd/replay_on.h"
#include "cmd/replay_step.h"
#include "cmd/say.h"
#include "cmd/symopts.h"
#include "cmd/winopts.h"
#include "lib/flightrec.h"

static const char help[] =
	"Usage: flightrec replay [options] FILE...\n"
	"Print the events of one or several snapshots in one order, a line each.\n"
	"\n"
	"  -f, --filter EXPR  only events that match: C-like, over the names that\n"
	"                     `flightrec events` lists and event, ts, cpu, pid, tid,\n"
	"                     comm, cgroup, tier, latency, offcpu, queued, blocked, oncpu,\n"
	"                     waker; ~ globs, =~ patterns, in (a, b): see FILTERS\n" FR_WINOPTS_HELP
	"      --json         NDJSON: an object a line\n"
	"      --count        only the number of events that match\n"
	"      --pos          each event's place in its ring: epoch, tier, seq, offset\n"
	"      --gaps         also where events of a CPU are missing, and why, a line each\n"
	"      --pairs        what each event ends, where that is known: latency, time off\n"
	"                     and on the CPU, who woke the task\n"
	"      --speed X      1x as fast as it happened, 0.1x slower, max (default)\n"
	"      --step[=N]     by key: Enter next (N), n next that -f selects, c all, q quit\n"
	"      --on TRIGGER   when this rule would have fired, with its verdict; repeatable\n"
	"      --tier LIST    only these tiers: main,life,stack or all\n"
	"                     (default: all but stack)\n"
	"      --life         as --tier life: births, deaths, names, fatal signals, marks\n"
	"      --symbols      with --json: stacks in words too, as kstack_sym, ustack_sym\n" FR_SYMOPTS_HELP FR_JOBS_HELP "\n"
	"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read was printed.\n"
	"Example: flightrec replay x.flight --since -10ms -f 'comm ~ \"nginx*\"'\n";

enum { OPT_JSON = 256, OPT_COUNT, OPT_POS, OPT_PAIRS, OPT_SPEED, OPT_TIER, OPT_LIFE, OPT_STEP, OPT_ON, OPT_GAPS };

static const struct option options[] = {
	{"filter", required_argument, NULL, 'f'},
	FR_WINOPTS_TABLE,
	FR_JOBS_TABLE,
	{"json", no_argument, NULL, OPT_JSON},
	{"count", no_argument, NULL, OPT_COUNT},
	{"pos", no_argument, NULL, OPT_POS},
	{"gaps", no_argument, NULL, OPT_GAPS},
	{"pairs", no_argument, NULL, OPT_PAIRS},
	{"speed", required_argument, NULL, OPT_SPEED},
	{"tier", required_argument, NULL, OPT_TIER},
	{"life", no_argument, NULL, OPT_LIFE},
	{"step", optional_argument, NULL, OPT_STEP},
	{"on", required_argument, NULL, OPT_ON},
	FR_SYMOPTS_TABLE,
	{"help", no_argument, NULL, 'h'},
	{},
};

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
	bool gaps;
	bool json;
	double speed; /* 0: at once */
	u32 step;     /* events with each key, 0: without */
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

static void say(void *arg, int level, const char *text)
{
	const struct ask *ask = arg;

	if (level == FLIGHTREC_LOG_ERROR)
		fr_err_lines("%s%s", ask->option, text); /* the library has escaped it */
	else
		fr_warn_lines("%s%s", ask->option, text);
}

/* ---- events ---- */

static void wait_for(struct show *s, const struct flightrec_event *ev)
{
	u64 key = flightrec_event_order_ns(ev);
	s64 left = fr_pace_left(&s->pace, key);

	if (left)
		s->write_err = flightrec_printer_flush(s->printer);
	for (; left && !s->write_err; left = fr_pace_left(&s->pace, key))
		if (!fr_pace_sleep(STDOUT_FILENO, left))
			s->write_err = -EPIPE;
}

static void show_gaps(struct show *s)
{
	const struct flightrec_gap *gap;

	while (!s->write_err && flightrec_next_gap(s->fr, &gap) > 0)
		s->write_err = flightrec_print_gap(s->printer, gap);
}

/* 0 to continue; or the result of printing. */
static int show_event(struct show *s, const struct flightrec_event *ev)
{
	if (s->pace.speed > 0)
		wait_for(s, ev);
	if (s->ask->gaps)
		show_gaps(s);
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

static int finish(struct show *s, int got)
{
	int err, status;

	if (s->ask->gaps && !got)
		show_gaps(s);
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
	flags |= ask->symopts.on ? FLIGHTREC_PRINT_SYMBOLS : 0;
	return flags | (ask->symopts.off ? FLIGHTREC_PRINT_NO_SYMBOLS : 0);
}

static int show(const struct ask *ask)
{
	struct show s = {.ask = ask, .fr = ask->fr, .pace.speed = ask->speed};
	enum flightrec_format format = ask->mode == JSON ? FLIGHTREC_FORMAT_JSON : FLIGHTREC_FORMAT_TEXT;
	int status = FR_EXIT_FAIL;

	if (flightrec_printer_new(s.fr, format, print_flags(ask), STDOUT_FILENO, &s.printer))
		return FR_EXIT_FAIL;
	if (ask->step && fr_step_new(ask->step, &s.step))
		status = FR_EXIT_USAGE;
	else
		status = finish(&s, s.step ? step_all(&s) : show_all(&s));
	status = end_step(&s, status);
	flightrec_printer_free(s.printer);
	return status;
}

static int count(const struct ask *ask)
{
	uint64_t cnt;
	int got = flightrec_count(ask->fr, &cnt), err = 0, status;

	if (!got)
		err = printf("%llu\n", (unsigned long long)cnt) < 0 || fflush(stdout) ? -errno : 0;
	status = flightrec_warn_damage(ask->fr) ? FR_EXIT_CORRUPT : FR_EXIT_OK;
	return write_status(err, got ? FR_EXIT_FAIL : status);
}

static int open_all(const struct ask *ask, const char *const *path, u32 cnt)
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
	int err = open_all(ask, path, cnt);

	if (err)
		return err == -EINVAL ? FR_EXIT_USAGE : err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	return ask->mode == COUNT ? count(ask) : show(ask);
}

/* ---- options ---- */

/* Also sets the library's, which takes the same texts. Returns as fr_winopts_parse(). */
static int parse_window(struct ask *ask, int opt)
{
	int err = fr_winopts_parse(&ask->window, opt, &ask->opts.since, &ask->opts.until);

	return err ? err : fr_winopts_set(opt, ask->fr);
}

static int parse_tiers(struct ask *ask, const char *tiers)
{
	int err;

	ask->option = "--tier: ";
	err = flightrec_set_tiers(ask->fr, tiers);
	ask->option = "";
	ask->tiers = true;
	return err;
}

static int parse_option(struct ask *ask, int opt)
{
	int shared = parse_window(ask, opt);

	if (shared > 0)
		shared = fr_jobs_parse(opt, FR_REPLAY_JOBS_AUTO, &ask->opts.jobs);
	if (shared <= 0)
		return shared;
	switch (opt) {
	case 'f':
		return fr_take_filter(&ask->filter, optarg);
	case OPT_JSON:
		ask->json = true;
		ask->mode = ask->mode == COUNT ? COUNT : JSON;
		return 0;
	case OPT_COUNT:
		ask->mode = COUNT;
		return 0;
	case OPT_POS:
		ask->pos = true;
		return 0;
	case OPT_PAIRS:
		ask->pairs = true;
		return 0;
	case OPT_GAPS:
		ask->gaps = true;
		return 0;
	case OPT_SPEED:
		return fr_pace_parse(optarg, &ask->speed);
	case OPT_STEP:
		return fr_step_parse(optarg, &ask->step);
	case OPT_ON:
		return fr_replay_on_add(&ask->on, optarg);
	case OPT_TIER:
		return parse_tiers(ask, optarg);
	case OPT_LIFE:
		return parse_tiers(ask, "life");
	default:
		return -1;
	}
}

/* Options that make sense only with certain others, or without them. */
static int check(const struct ask *ask)
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
	if (ask->step && (ask->mode == COUNT || ask->speed > 0)) {
		fr_err("--step goes by key: it cannot be used with --count or --speed");
		return -1;
	}
	return 0;
}

static int rehearse(struct ask *ask, const char *const *path, u32 cnt)
{
	ask->on.json = ask->json;
	ask->on.totals = ask->mode == COUNT;
	ask->on.speed = ask->speed;
	ask->opts.names = ask->opts.cgroups = ask->opts.pairs = true;
	return fr_replay_on_run(&ask->on, &ask->opts, path, cnt);
}

/* -1: continue; otherwise the exit status. */
static int parse_options(struct ask *ask, int argc, char **argv)
{
	int opt;

	while ((opt = fr_next_option(argc, argv, "f:h", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return FR_EXIT_OK;
		}
		int err = fr_symopts_parse(opt, &ask->symopts);

		if (err < 0 || (err > 0 && parse_option(ask, opt)))
			return FR_EXIT_USAGE;
	}
	if (optind == argc) {
		fr_err("name the snapshot to be replayed: flightrec replay FILE");
		return FR_EXIT_USAGE;
	}
	return check(ask) ? FR_EXIT_USAGE : -1;
}

int fr_cmd_replay(int argc, char **argv)
{
	struct ask ask = {.fr = flightrec_new(), .option = "", .opts = {.tiers = FR_REPLAY_TIERS, .jobs = FR_REPLAY_JOBS_AUTO}};
	int status;

	if (!ask.fr) {
		fr_err("out of memory");
		return FR_EXIT_FAIL;
	}
	flightrec_set_log(ask.fr, say, &ask);
	status = parse_options(&ask, argc, argv);
	if (status < 0 && ask.on.cnt)
		status = rehearse(&ask, (const char *const *)argv + optind, argc - optind);
	else if (status < 0)
		status = replay(&ask, (const char *const *)argv + optind, argc - optind);
	flightrec_free(ask.fr);
	return status;
}
