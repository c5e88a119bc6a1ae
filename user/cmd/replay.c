/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/pace.h"
#include "cmd/replay_on.h"
#include "cmd/replay_step.h"
#include "cmd/symopts.h"
#include "cmd/tieropts.h"
#include "cmd/winopts.h"
#include "flow/frames.h"
#include "flow/replay.h"
#include "pure/format_json.h"
#include "pure/format_text.h"

#define SEC_NS 1000000000LL

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
	"      --pairs        what each event ends, where that is known: latency, time off\n"
	"                     and on the CPU, who woke the task\n"
	"      --speed X      1x as fast as it happened, 0.1x slower, max (default)\n"
	"      --step[=N]     by keys: Enter the next (N), n the next that -f chose, c all, q\n"
	"      --on TRIGGER   when this rule would have pulled, and with what verdict; several\n"
	"      --tier LIST    only these tiers: main,life,stack or all\n"
	"                     (default: all but stack)\n"
	"      --life         as --tier life: births, deaths, names, fatal signals, marks\n"
	"      --symbols      with --json: stacks in words too, as kstack_sym, ustack_sym\n" FR_SYMOPTS_HELP "\n"
	"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read was printed.\n"
	"Example: flightrec replay x.flight --since -10ms -f 'comm ~ \"nginx*\"'\n";

enum { OPT_JSON = 256, OPT_COUNT, OPT_POS, OPT_PAIRS, OPT_SPEED, OPT_TIER, OPT_LIFE, OPT_STEP, OPT_ON };

static const struct option options[] = {
	{"filter", required_argument, NULL, 'f'},
	FR_WINOPTS_TABLE,
	{"json", no_argument, NULL, OPT_JSON},
	{"count", no_argument, NULL, OPT_COUNT},
	{"pos", no_argument, NULL, OPT_POS},
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
	struct fr_replay_opts opts;
	enum mode mode;
	bool pos;
	bool json;
	double speed; /* 0: at once */
	u32 step;     /* events with each key, 0: without */
	struct fr_replay_on on;
	struct fr_symopts symopts;
};

/* What is kept while events go by. */
struct show {
	const struct ask *ask;
	struct fr_replay *replay;
	struct fr_out out;
	struct fr_text text;
	struct fr_json **json;	  /* by file */
	struct fr_frames *frames; /* NULL: stacks are numbers */
	u64 cnt;
	u64 last_key;
	bool disorder; /* a time went backwards: the file is not what it says */
	struct fr_pace pace;
	struct fr_step *step; /* NULL: not by keys */
};

/* ---- rows ---- */

/* Whether rows follow each other in time, and the run what came before: not believed, but seen. */
static void check_order(struct show *s, const struct fr_replay_run *run)
{
	const u64 *ts = run->b->ts;
	u64 last = s->last_key;
	bool disorder = false;
	u32 i;

	for (i = run->from; i < run->to; i++) {
		disorder |= ts[i] + run->shift_ns < last;
		last = ts[i] + run->shift_ns;
	}
	s->disorder |= disorder;
	s->last_key = last;
}

static void show_row(struct show *s, const struct fr_replay_run *run, const struct fr_row *r)
{
	fr_pace_wait(&s->pace, &s->out, r->ts + run->shift_ns);
	if (s->ask->mode == JSON)
		fr_json_row(s->json[run->file], &s->out, run->view, r);
	else
		fr_text_row(&s->text, &s->out, run->view, r);
}

static void count_run(struct show *s, const struct fr_replay_run *run)
{
	struct fr_row r;
	u32 i;

	if (!run->filter) {
		s->cnt += run->to - run->from;
		return;
	}
	for (i = run->from; i < run->to; i++)
		s->cnt += fr_replay_match(run, i, &r);
}

static void show_run(struct show *s, const struct fr_replay_run *run)
{
	struct fr_row r;
	u32 i;

	if (s->frames)
		fr_frames_at(s->frames, run);
	for (i = run->from; i < run->to && !fr_out_error(&s->out); i++) {
		if (!run->filter)
			r = fr_batch_row(run->b, i);
		else if (!fr_replay_match(run, i, &r))
			continue;
		show_row(s, run, &r);
	}
}

/* False: the stepping has ended. */
static bool step_run(struct show *s, const struct fr_replay_run *run)
{
	struct fr_row r;
	u32 i;

	if (s->frames)
		fr_frames_at(s->frames, run);
	for (i = run->from; i < run->to && !fr_out_error(&s->out); i++) {
		bool matches = fr_replay_match(run, i, &r);

		switch (fr_step_next(s->step, &s->out, matches)) {
		case FR_STEP_SHOW:
			r = fr_batch_row(run->b, i);
			show_row(s, run, &r);
			break;
		case FR_STEP_QUIT:
			return false;
		case FR_STEP_SKIP:
			break;
		}
	}
	return true;
}

static int show_all(struct show *s)
{
	struct fr_replay_run run;
	int got;

	while ((got = fr_replay_next(s->replay, &run)) > 0 && !fr_out_error(&s->out)) {
		check_order(s, &run);
		if (s->ask->mode == COUNT)
			count_run(s, &run);
		else if (!s->step)
			show_run(s, &run);
		else if (!step_run(s, &run))
			return 0;
	}
	if (s->ask->mode == COUNT && got >= 0)
		fr_out_printf(&s->out, "%llu\n", (unsigned long long)s->cnt);
	return got < 0 ? got : 0;
}

/* ---- set-up ---- */

static bool on_different_days(const struct fr_replay *r)
{
	u64 begin_ns, end_ns;
	struct tm a, b;
	time_t t;

	fr_replay_span(r, &begin_ns, &end_ns);
	t = begin_ns / SEC_NS;
	localtime_r(&t, &a);
	t = end_ns / SEC_NS;
	localtime_r(&t, &b);
	return a.tm_yday != b.tm_yday || a.tm_year != b.tm_year;
}

static bool make_json(struct show *s, u32 cnt)
{
	u32 i;

	s->json = calloc(cnt, sizeof(*s->json));
	for (i = 0; s->json && i < cnt; i++) {
		s->json[i] = fr_json_new(fr_replay_schema(s->replay, i), s->ask->pos);
		if (!s->json[i])
			return false;
	}
	return s->json;
}

static void free_json(struct show *s, u32 cnt)
{
	u32 i;

	for (i = 0; s->json && i < cnt; i++)
		fr_json_free(s->json[i]);
	free(s->json);
}

/* Text has stacks in words; JSON, which programs read, only if they are asked for. */
static bool make_frames(struct show *s, u32 cnt)
{
	const struct fr_symopts *y = &s->ask->symopts;
	u32 i;

	if (y->off || s->ask->mode == COUNT || (s->ask->mode == JSON && !y->on))
		return true;
	s->frames = fr_frames_new(s->replay, &y->opts);
	if (!s->frames)
		return false;
	s->text.stacks = fr_frames_texts(s->frames);
	for (i = 0; i < cnt && s->ask->mode == JSON; i++)
		fr_json_stacks(s->json[i], s->text.stacks);
	return true;
}

static int finish(struct show *s, int err)
{
	int status = FR_EXIT_OK;

	if (s->frames) {
		fr_out_flush(&s->out);
		fr_frames_say_missing(s->frames);
	}

	if (err)
		fr_err("replay stopped: %s", strerror(-err));
	if (fr_replay_say_damage(s->replay))
		status = FR_EXIT_CORRUPT;
	if (s->disorder) {
		fr_warn("times go backwards: a file holds events in an order no recorder wrote");
		status = FR_EXIT_CORRUPT;
	}
	return fr_out_finish(&s->out, err ? FR_EXIT_FAIL : status);
}

/* The terminal is as it was; a signal that was kept from ending us meanwhile may do so now. */
static int end_step(struct show *s, int status)
{
	int sig = s->step ? fr_step_signal(s->step) : 0;

	fr_step_free(s->step);
	if (sig && sig != SIGINT)
		raise(sig);
	return status;
}

static int replay(const struct ask *ask, const char *const *path, u32 cnt)
{
	struct show *s = calloc(1, sizeof(*s));
	int err, status = FR_EXIT_FAIL;

	if (!s)
		return FR_EXIT_FAIL;
	s->ask = ask;
	s->pace.speed = ask->speed;
	err = fr_replay_open(path, cnt, &ask->opts, &s->replay);
	if (err) {
		free(s);
		return err == -EINVAL ? FR_EXIT_USAGE : err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	}
	fr_out_init(&s->out, STDOUT_FILENO);
	fr_text_init(&s->text, on_different_days(s->replay), ask->pos);
	cnt = fr_replay_file_cnt(s->replay);
	if (ask->step && fr_step_new(ask->step, &s->step))
		status = FR_EXIT_USAGE;
	else if (make_json(s, cnt) && make_frames(s, cnt))
		status = finish(s, show_all(s));
	else
		fr_err("out of memory");
	status = end_step(s, status);
	free_json(s, cnt);
	fr_frames_free(s->frames);
	fr_replay_close(s->replay);
	free(s);
	return status;
}

/* ---- options ---- */

static int parse_option(struct ask *ask, int opt)
{
	int window = fr_winopts_parse(opt, &ask->opts.since, &ask->opts.until);

	if (window <= 0)
		return window;
	switch (opt) {
	case 'f':
		ask->opts.filter = optarg;
		return 0;
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
		ask->opts.pairs = true;
		return 0;
	case OPT_SPEED:
		return fr_pace_parse(optarg, &ask->speed);
	case OPT_STEP:
		return fr_step_parse(optarg, &ask->step);
	case OPT_ON:
		return fr_replay_on_add(&ask->on, optarg);
	case OPT_TIER:
		return fr_tieropts_parse(optarg, &ask->opts.tiers);
	case OPT_LIFE:
		ask->opts.tiers = 1u << FR_TIER_LIFE;
		return 0;
	default:
		return -1;
	}
}

/* Options that say something only with others, or without them. */
static int check(const struct ask *ask)
{
	if (ask->on.cnt && (ask->opts.filter || ask->pos || ask->step || ask->opts.tiers != FR_REPLAY_TIERS)) {
		fr_err("--on: rules see all events: -f, --pos, --step, --tier and --life do not go with it; what a rule is for "
		       "stands in the rule, as crash:comm=NAME or event:EXPR");
		return -1;
	}
	if (ask->step && (ask->mode == COUNT || ask->speed > 0)) {
		fr_err("--step: keys say when: --count and --speed do not go with it");
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

int fr_cmd_replay(int argc, char **argv)
{
	struct ask ask = {.opts.tiers = FR_REPLAY_TIERS};
	int opt;

	while ((opt = getopt_long(argc, argv, "f:h", options, NULL)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return FR_EXIT_OK;
		}
		int err = fr_symopts_parse(opt, &ask.symopts);

		if (err < 0 || (err > 0 && parse_option(&ask, opt)))
			return FR_EXIT_USAGE;
	}
	if (optind == argc) {
		fr_err("name the snapshot to be replayed: flightrec replay FILE");
		return FR_EXIT_USAGE;
	}
	if (check(&ask))
		return FR_EXIT_USAGE;
	if (ask.on.cnt)
		return rehearse(&ask, (const char *const *)argv + optind, argc - optind);
	ask.opts.names = ask.mode != COUNT || ask.opts.filter;
	return replay(&ask, (const char *const *)argv + optind, argc - optind);
}
