/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/config/setting.h"
#include "base/filter/filter.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/open.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "live/recorder/record.h"
#include "live/watch/holdwatch.h"

#define MEMORY	      (4ULL << 20)
#define SAMPLE_HZ     1000u
#define QUEUE_CNT     256u
#define QUEUE_MAX     65536u
#define INTERVAL_MIN  50000ULL
#define INTERVAL_MAX  1000000000ULL
#define THRESHOLD     2000000ULL
#define THRESHOLD_MIN 1000ULL

struct watch_opts {
	struct fr_holdwatch_ask ask;
	struct fr_ranges cpus;
	struct fr_trigger rule[FR_TRIGGER_MAX];
	char *dir; /* the absolute path, freed by us */
};

/* ---- values ---- */

static int watch_cpus(const struct fr_option *option, void *to, const char *text)
{
	struct watch_opts *w = to;

	(void)option;
	if (fr_ranges_parse(text, &w->cpus)) {
		fr_err("--cpu: '%s' is not a list of CPUs: give numbers and ranges, like 0,2-3", text);
		return -EINVAL;
	}
	w->ask.cpus = &w->cpus;
	return 0;
}

/* FIFO:50, RR:10, OTHER */
static int watch_prio(const struct fr_option *option, void *to, const char *text)
{
	struct watch_opts *w = to;
	struct fr_sleeper_conf *c = &w->ask.sleep;
	static const struct {
		const char *name;
		int policy;
	} known[] = {{"FIFO", SCHED_FIFO}, {"RR", SCHED_RR}};
	const struct fr_option number = {.name = "prio", .least = 1, .most = 99};
	size_t i, len;
	u32 prio;

	(void)option;
	if (!strcasecmp(text, "OTHER")) {
		c->policy = SCHED_OTHER;
		c->prio = 0;
		return 0;
	}
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		len = strlen(known[i].name);
		if (strncasecmp(text, known[i].name, len) || text[len] != ':')
			continue;
		if (fr_option_count(&number, &prio, text + len + 1))
			return -EINVAL;
		c->policy = known[i].policy;
		c->prio = prio;
		return 0;
	}
	fr_err("--prio: '%s' is not a priority: FIFO:1 to FIFO:99, RR:1 to RR:99, or OTHER", text);
	return -EINVAL;
}

static int watch_on(const struct fr_option *option, void *to, const char *text)
{
	struct watch_opts *w = to;
	struct fr_trigger *rule = &w->rule[w->ask.rule_cnt];
	struct fr_trigger_error error = {};
	struct utsname un;

	(void)option;
	if (w->ask.rule_cnt == FR_TRIGGER_MAX) {
		fr_err("--on: more than %u triggers", FR_TRIGGER_MAX);
		return -EINVAL;
	}
	uname(&un);
	if (fr_trigger_parse(text, un.machine, rule, &error)) {
		fr_filter_say_at("--on", error.text, text, error.at);
		return -EINVAL;
	}
	if (rule->kind != FR_TRIGGER_holdoff) {
		fr_err("--on: watch knows holdoff>T only: `flightrec record --on %s` has the others", text);
		return -EINVAL;
	}
	w->ask.rule = w->rule;
	w->ask.rule_cnt++;
	return 0;
}

static int watch_memory(const struct fr_option *option, void *to, const char *text)
{
	struct watch_opts *w = to;

	(void)option;
	if (!fr_parse_size(text, &w->ask.sess.cpu_sz) && w->ask.sess.cpu_sz)
		return 0;
	fr_err("-m: '%s' is not a size: give a number with K, M or G", text);
	return -EINVAL;
}

static int watch_name(const struct fr_option *option, void *to, const char *text)
{
	return fr_cmd_name_ok(text) ? fr_option_text(option, to, text) : -EINVAL;
}

static const struct fr_option table[] = {
	FR_OPTION('n', "name", "NAME",
		  "read this session's rings (default: " FR_DEF_NAME "); if it does not\n"
		  "record, watch starts a small session, and ends it",
		  watch_name, offsetof(struct watch_opts, ask.sess.name), .words = "@session",
		  .more = "The small session has this name if you gave one. If the session lacks events that are needed "
			  "(sched_switch, irq, softirq, samples), a small one is started beside it."),
	FR_OPTION(0, "cpu", "LIST", "these CPUs only: 0,2-3", watch_cpus, 0, .more = "By default all that are online."),
	FR_OPTION(0, "threshold", "T", "report holdoffs of at least T (2ms, or the length in --on if that is less)",
		  fr_option_duration, offsetof(struct watch_opts, ask.sleep.threshold_ns), .least = THRESHOLD_MIN,
		  .words = "500us 2ms"),
	FR_OPTION(0, "interval", "T", "try each CPU this often (1ms)", fr_option_duration,
		  offsetof(struct watch_opts, ask.sleep.interval_ns), .least = INTERVAL_MIN, .most = INTERVAL_MAX,
		  .words = "200us 1ms",
		  .more = "A holdoff that begins and ends between two tries is not seen; all are seen that last half the "
			  "threshold longer than this."),
	FR_OPTION(0, "prio", "POLICY:N", "at this priority (FIFO:50); RR:N, OTHER", watch_prio, 0,
		  .words = "FIFO:50 RR:50 OTHER", .more = "N is 1 to 99."),
	FR_OPTION('f', "duration", "T", "end after T (default: when interrupted)", fr_option_duration,
		  offsetof(struct watch_opts, ask.duration_ns), .least = FR_MSEC_NS, .words = "10s 1m"),
	FR_OPTION(0, "on", "holdoff>T", "take a snapshot of longer ones; options as in record --on", watch_on, 0,
		  .words = "holdoff>5ms",
		  .more = "The options are comm (of what ran longest), last, cooldown, max and dedupe: see TRIGGERS in "
			  "flightrec(1). The exit status is 1 if a snapshot could not be written; the watch goes on "
			  "meanwhile."),
	FR_OPTION('o', "output", "DIR", "where snapshots go (default: as the session's)", fr_option_text,
		  offsetof(struct watch_opts, ask.sess.dir), .words = "@dir"),
	FR_OPTION(0, "hz", "N", "samples a second while watching (1000); 0: the session's rate", fr_option_count,
		  offsetof(struct watch_opts, ask.sess.hz), .most = FR_SAMPLE_HZ_MAX,
		  .more = "Only if the session takes fewer. When the watch ends, killed or not, the former rate is restored."),
	FR_OPTION('m', "memory", "SIZE", "per CPU, of a session that watch starts (4M)", watch_memory, 0, .words = "4M 16M"),
	FR_OPTION(0, "queue", "N", "holdoffs of a CPU that can wait to be printed (256)", fr_option_count,
		  offsetof(struct watch_opts, ask.sleep.queue_cnt), .least = 1, .most = QUEUE_MAX,
		  .more = "More are only counted."),
	FR_OPTION(0, "json", NULL, "one JSON object a line", fr_option_flag, offsetof(struct watch_opts, ask.json),
		  .more = "`watch` is `begin`, `holdoff`, `missed`, `stopped`, `snapshot` or `end`."),
	FR_OPTION_GROUP(fr_coloropts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec watch [options]\n"
		"Find holdoffs: times when a CPU was not available to a high-priority thread. For\n"
		"each: how long, what the CPU ran meanwhile, and its stack; at the end a histogram.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Example: flightrec watch --threshold 500us --interval 200us --on 'holdoff>5ms'\n",
	.none = "see --help; what a recorder does is shown by `flightrec follow`",
	.table = &fr_holdwatch_kind,
	.by_kind = true,
};

/* A holdoff below the threshold is not examined, so no rule sees it. */
static int check_rules(struct watch_opts *w)
{
	u64 *threshold_ns = &w->ask.sleep.threshold_ns;
	const bool given = *threshold_ns;
	char a[32], b[32];
	u32 i;

	if (!given)
		*threshold_ns = THRESHOLD;
	for (i = 0; i < w->ask.rule_cnt; i++) {
		const u64 ns = w->rule[i].limit_ns;

		if (ns >= *threshold_ns)
			continue;
		if (given || ns < THRESHOLD_MIN) {
			fr_err("--on: 'holdoff>%s' is below the %s from which holdoffs are watched for: see --threshold",
			       fr_show_duration(ns, a, sizeof(a)),
			       fr_show_duration(given ? *threshold_ns : THRESHOLD_MIN, b, sizeof(b)));
			return -EINVAL;
		}
		*threshold_ns = ns;
	}
	return 0;
}

/* Report an unwritable directory now, not when there is something to lose. */
static int watch_check(struct watch_opts *w)
{
	const char *dir = w->ask.sess.dir;
	int err;

	if (!dir)
		return 0;
	err = fr_record_out_dir(NULL, dir, FR_OUT_DIR_NS, &w->dir);
	if (err)
		fr_err("cannot write to directory %s: %s: choose another with -o", dir, strerror(-err));
	else
		w->ask.sess.dir = w->dir;
	return err;
}

static int watch_run(const struct watch_opts *w)
{
	struct fr_out *o = malloc(sizeof(*o));
	int status;

	if (!o)
		return fr_err_memory();
	fr_out_init(o, STDOUT_FILENO);
	status = fr_err_finish(o, fr_holdwatch(&w->ask, o));
	free(o);
	return status;
}

int fr_cmd_watch(int argc, char **argv)
{
	struct watch_opts *w = calloc(1, sizeof(*w));
	int status;

	if (!w)
		return fr_err_memory();
	w->ask = (struct fr_holdwatch_ask){
		.sess = {.cpu_sz = MEMORY, .hz = SAMPLE_HZ},
		.sleep = {.interval_ns = 1000000, .policy = SCHED_FIFO, .prio = 50, .queue_cnt = QUEUE_CNT},
	};
	status = fr_options_parse(&options, argc, argv, w);
	if (status < 0)
		status = check_rules(w) ? FR_EXIT_USAGE : watch_check(w) ? FR_EXIT_FAIL : watch_run(w);
	free(w->dir);
	free(w);
	return status;
}
