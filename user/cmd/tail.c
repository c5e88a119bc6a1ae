/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/config/tiers.h"
#include "base/rows/whose.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/memopts.h"
#include "cmd/open.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "live/tail/tail.h"
#include "read/replay/replay.h"
#include "show/format/format_json.h"
#include "show/format/format_text.h"

#define NAP_NS 50000000L /* between two rounds */

struct ask {
	const char *name;
	struct fr_tail_opts opts;
	bool json, pos;
};

static int tail_tiers(const struct fr_option *option, void *to, const char *value)
{
	struct ask *ask = to;

	(void)option;
	return fr_tiers_parse("--tier: ", value, &ask->opts.tiers);
}

static int tail_columns(const struct fr_option *option, void *to, const char *value)
{
	struct ask *ask = to;

	(void)option;
	return fr_whose_parse("--columns: ", value, &ask->opts.whose);
}

static const struct fr_option table[] = {
	FR_OPTION_GROUP(fr_option_session, offsetof(struct ask, name)),
	FR_OPTION('f', "filter", "EXPR",
		  "only events that match, as `flightrec replay -f`, except\n"
		  "values that need earlier events (latency, offcpu, ...)",
		  fr_option_filter, offsetof(struct ask, opts.filter), .words = "@filter",
		  .more = "Such values are `latency`, `offcpu`, `queued`, `blocked`, `oncpu` and `waker`."),
	FR_OPTION(0, "last", "DURATION", "begin with this much history: 500ms, 10s (default: now)", fr_option_duration,
		  offsetof(struct ask, opts.last_ns), .words = "500ms 10s"),
	FR_OPTION(0, "json", NULL,
		  "NDJSON: an object a line, as `flightrec replay --json`;\n"
		  "{\"skipped\":N,\"cpu\":N,...} where N events were; counts at the end",
		  fr_option_flag, offsetof(struct ask, json)),
	FR_OPTION(0, "tier", "LIST", "only these tiers: main,life,stack,wait,rare or all\n(default: all but stack)", tail_tiers,
		  0, .words = "main life stack wait all"),
	FR_OPTION(0, "columns", "LIST",
		  "also whose each event is: some of program, cgroup, container,\n"
		  "container_id, pod, namespace, image, unit; or all, as `flightrec replay`",
		  tail_columns, 0, .words = FR_WHOSE_WORDS),
	FR_OPTION(0, "pos", NULL, "each event's place in its ring: epoch, tier, seq, offset", fr_option_flag,
		  offsetof(struct ask, pos)),
	FR_OPTION_GROUP(fr_coloropts, 0),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec tail [options]\n"
		"Print the events of a live session as they come, in one order, a line each. Rings\n"
		"are only read: nothing is consumed or held up; several tails and snapshots can run\n"
		"side by side. Events that tail cannot keep up with are skipped, and counted.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Ends with the session, or when interrupted, and then says how many were printed,\n"
		"filtered and skipped. Exit status: 0; 1 failure; 2 usage; 4 no such session.\n"
		"Example: flightrec tail -f 'event == sched_process_exec || sig == SIGSEGV'\n",
	.none = "name the session with -n; snapshots are read by `flightrec replay`",
};

struct show {
	const struct ask *ask;
	struct fr_out out;
	struct fr_text text;
	struct fr_json *json; /* NULL: text */
	struct fr_tail *tail;
};

static volatile sig_atomic_t interrupted;

static void tail_on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

/* A second signal ends us at once: the output may be blocked for ever. */
static void tail_catch_signals(void)
{
	struct sigaction act = {.sa_handler = tail_on_signal, .sa_flags = SA_RESETHAND};

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

/* ---- what is shown ---- */

static void show_row(void *arg, const struct fr_view *v, const struct fr_row *r)
{
	struct show *s = arg;

	if (s->json)
		fr_json_row(s->json, &s->out, v, r);
	else
		fr_text_row(&s->text, &s->out, v, r);
}

/* Lines before it must come first. */
static void show_skip(void *arg, u16 cpu, u8 tier, u64 events, u64 laps)
{
	struct show *s = arg;
	char cnt[32];

	if (s->json) {
		fr_out_printf(&s->out, "{\"skipped\":%llu,\"cpu\":%u,\"tier\":\"%s\",\"laps\":%llu}\n", events, cpu,
			      fr_tier_name(tier), laps);
		return;
	}
	fr_out_flush(&s->out);
	fprintf(stderr, "CPU %u: %s event%s skipped (%s%s%s%llu lap%s)\n", cpu, fr_show_count(events, cnt, sizeof(cnt)),
		fr_plural(events), tier == FR_TIER_MAIN ? "" : "tier ", tier == FR_TIER_MAIN ? "" : fr_tier_name(tier),
		tier == FR_TIER_MAIN ? "" : ", ", laps, fr_plural(laps));
}

static void show_end_json(struct show *s, bool ended, const struct fr_tail_count *sum)
{
	struct fr_tail_count c;
	u32 i;

	fr_out_printf(&s->out, "{\"end\":\"%s\",\"printed\":%llu,\"filtered\":%llu,\"skipped\":%llu,\"rings\":[",
		      ended ? "session" : "interrupt", sum->printed, sum->filtered, sum->skipped);
	for (i = 0; fr_tail_count(s->tail, i, &c); i++)
		fr_out_printf(&s->out,
			      "%s{\"cpu\":%u,\"tier\":\"%s\",\"begun\":%llu,\"printed\":%llu"
			      ",\"filtered\":%llu,\"skipped\":%llu}",
			      i ? "," : "", c.cpu, fr_tier_name(c.tier), c.begun, c.printed, c.filtered, c.skipped);
	fr_out_str(&s->out, "]}\n");
}

static void show_end(struct show *s, bool ended)
{
	struct fr_tail_count sum = {}, c;
	char a[32], b[32], d[32];
	u32 i;

	for (i = 0; fr_tail_count(s->tail, i, &c); i++) {
		sum.printed += c.printed;
		sum.filtered += c.filtered;
		sum.skipped += c.skipped;
	}
	if (s->json)
		show_end_json(s, ended, &sum);
	if (fr_out_flush(&s->out))
		return;
	fprintf(stderr, "%s%s%s: %s event%s printed, %s filtered, %s skipped\n", ended ? "session " : "", s->ask->name,
		ended ? " has ended" : "", fr_show_count(sum.printed, a, sizeof(a)), fr_plural(sum.printed),
		fr_show_count(sum.filtered, b, sizeof(b)), fr_show_count(sum.skipped, d, sizeof(d)));
}

/* ---- the loop ---- */

static int tail_follow(struct show *s)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	const struct fr_tail_sink sink = {show_row, show_skip, s};
	int got = 0;

	while (!interrupted && got >= 0 && !fr_out_flush(&s->out)) {
		got = fr_tail_round(s->tail, &sink);
		if (!got && !fr_out_flush(&s->out))
			nanosleep(&nap, NULL);
	}
	if (got < 0 && got != -ENOENT)
		return FR_EXIT_FAIL;
	show_end(s, got == -ENOENT);
	return FR_EXIT_OK;
}

static int tail_show(struct show *s)
{
	int status = FR_EXIT_FAIL;

	fr_out_init(&s->out, STDOUT_FILENO);
	fr_text_init(&s->text, false, s->ask->pos);
	if (s->ask->json)
		s->json = fr_json_new(fr_tail_schema(s->tail), s->ask->pos);
	if (s->json || !s->ask->json)
		status = tail_follow(s);
	else
		fr_err_memory();
	fr_json_free(s->json);
	return fr_err_finish(&s->out, status);
}

static int tail(const struct ask *ask)
{
	struct show *s = calloc(1, sizeof(*s));
	struct fr_sess *sess;
	int status, err;

	if (!s)
		return fr_err_memory();
	s->ask = ask;
	status = fr_cmd_open_session(ask->name, &sess);
	if (!status) {
		tail_catch_signals();
		err = fr_tail_open(sess, &ask->opts, &s->tail);
		status = !err ? tail_show(s) : err == -EINVAL ? FR_EXIT_USAGE : FR_EXIT_FAIL;
		fr_tail_close(s->tail);
		fr_sess_close(sess);
	}
	free(s);
	return status;
}

int fr_cmd_tail(int argc, char **argv)
{
	struct ask ask = {.name = FR_DEF_NAME, .opts.tiers = FR_REPLAY_TIERS};
	int status = fr_options_parse(&options, argc, argv, &ask);

	return status >= 0 ? status : tail(&ask);
}
