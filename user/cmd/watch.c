/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/nextopt.h"
#include "cmd/open.h"
#include "flow/holdoff/holdwatch.h"
#include "flow/recorder/record.h"
#include "pure/config/default.h"
#include "pure/config/setting.h"
#include "pure/filter/filter.h"
#include "pure/text/units.h"

#define MEMORY	      (4ULL << 20)
#define SAMPLE_HZ     1000u
#define QUEUE_CNT     256u
#define QUEUE_MAX     65536u
#define INTERVAL_MIN  50000ULL
#define INTERVAL_MAX  1000000000ULL
#define THRESHOLD_MIN 1000ULL

static const char help[] = "Usage: flightrec watch [options]\n"
			   "Find holdoffs: times when a CPU was not available to a high-priority thread. For\n"
			   "each: how long, what the CPU ran meanwhile, and its stack; at the end a histogram.\n"
			   "\n"
			   "  -n, --name NAME      read this session's rings (default: " FR_DEF_NAME "); if it does not\n"
			   "                       record, watch starts a small session, and ends it\n"
			   "      --cpu LIST       these CPUs only: 0,2-3\n"
			   "      --threshold T    report holdoffs of at least T (2ms, or the length in --on if that is less)\n"
			   "      --interval T     try each CPU this often (1ms)\n"
			   "      --prio POLICY:N  at this priority (FIFO:50); RR:N, OTHER\n"
			   "  -f, --duration T     end after T (default: when interrupted)\n"
			   "      --on holdoff>T   take a snapshot of longer ones; options as in record --on\n"
			   "  -o, --output DIR     where snapshots go (default: as the session's)\n"
			   "      --hz N           samples a second while watching (1000); 0: the session's rate\n"
			   "  -m, --memory SIZE    per CPU, of a session that watch starts (4M)\n"
			   "      --queue N        holdoffs of a CPU that can wait to be printed (256)\n"
			   "      --json           one JSON object a line\n"
			   "\n"
			   "Example: flightrec watch --threshold 500us --interval 200us --on 'holdoff>5ms'\n";

enum { OPT_CPU = 256, OPT_THRESHOLD, OPT_INTERVAL, OPT_PRIO, OPT_ON, OPT_HZ, OPT_QUEUE, OPT_JSON };

static const struct option options[] = {
	{"name", required_argument, NULL, 'n'},
	{"cpu", required_argument, NULL, OPT_CPU},
	{"threshold", required_argument, NULL, OPT_THRESHOLD},
	{"interval", required_argument, NULL, OPT_INTERVAL},
	{"prio", required_argument, NULL, OPT_PRIO},
	{"duration", required_argument, NULL, 'f'},
	{"on", required_argument, NULL, OPT_ON},
	{"output", required_argument, NULL, 'o'},
	{"hz", required_argument, NULL, OPT_HZ},
	{"memory", required_argument, NULL, 'm'},
	{"queue", required_argument, NULL, OPT_QUEUE},
	{"json", no_argument, NULL, OPT_JSON},
	{"help", no_argument, NULL, 'h'},
	{},
};

struct watch_opts {
	struct fr_holdwatch_ask ask;
	struct fr_ranges cpus;
	struct fr_trigger rule[FR_TRIGGER_MAX];
	bool threshold_given;
	char *dir; /* the absolute path, freed by us */
};

/* ---- values. 0, or -EINVAL with a message ---- */

static int set_time(const char *option, const char *text, u64 min, u64 max, u64 *to)
{
	char a[32], b[32];
	u64 ns;

	if (fr_parse_duration(text, &ns)) {
		fr_err("%s: '%s' is not a duration: give a number with ns, us, ms, s, m, h or d", option, text);
		return -EINVAL;
	}
	if (ns < min || ns > max) {
		fr_err("%s: '%s' is not from %s to %s", option, text, fr_show_duration(min, a, sizeof(a)),
		       fr_show_duration(max, b, sizeof(b)));
		return -EINVAL;
	}
	*to = ns;
	return 0;
}

static int set_count(const char *option, const char *text, u32 min, u32 max, u32 *to)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (*end || end == text || *text == '-' || errno || v < min || v > max) {
		fr_err("%s: '%s' is not a number from %u to %u", option, text, min, max);
		return -EINVAL;
	}
	*to = v;
	return 0;
}

static int set_cpus(struct watch_opts *w, const char *text)
{
	if (fr_ranges_parse(text, &w->cpus)) {
		fr_err("--cpu: '%s' is not a list of CPUs: give numbers and ranges, like 0,2-3", text);
		return -EINVAL;
	}
	w->ask.cpus = &w->cpus;
	return 0;
}

/* FIFO:50, RR:10, OTHER */
static int set_prio(struct fr_sleeper_conf *c, const char *text)
{
	static const struct {
		const char *name;
		int policy;
	} known[] = {{"FIFO", SCHED_FIFO}, {"RR", SCHED_RR}};
	size_t i, len;
	u32 prio;

	if (!strcasecmp(text, "OTHER")) {
		c->policy = SCHED_OTHER;
		c->prio = 0;
		return 0;
	}
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		len = strlen(known[i].name);
		if (strncasecmp(text, known[i].name, len) || text[len] != ':')
			continue;
		if (set_count("--prio", text + len + 1, 1, 99, &prio))
			return -EINVAL;
		c->policy = known[i].policy;
		c->prio = prio;
		return 0;
	}
	fr_err("--prio: '%s' is not a priority: FIFO:1 to FIFO:99, RR:1 to RR:99, or OTHER", text);
	return -EINVAL;
}

static int add_rule(struct watch_opts *w, const char *text)
{
	struct fr_trigger *rule = &w->rule[w->ask.rule_cnt];
	struct fr_trigger_error error = {};
	struct utsname un;

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

static int set_memory(struct watch_opts *w, const char *text)
{
	if (!fr_parse_size(text, &w->ask.sess.cpu_sz) && w->ask.sess.cpu_sz)
		return 0;
	fr_err("-m: '%s' is not a size: give a number with K, M or G", text);
	return -EINVAL;
}

static int set_name(struct watch_opts *w, const char *text)
{
	w->ask.sess.name = text;
	return fr_cmd_name_ok(text) ? 0 : -EINVAL;
}

static int set_option(struct watch_opts *w, int opt, const char *arg)
{
	struct fr_sleeper_conf *c = &w->ask.sleep;

	switch (opt) {
	case 'n':
		return set_name(w, arg);
	case 'm':
		return set_memory(w, arg);
	case 'o':
		w->ask.sess.dir = arg;
		return 0;
	case 'f':
		return set_time("--duration", arg, 1000000, ~0ULL / 2, &w->ask.duration_ns);
	case OPT_CPU:
		return set_cpus(w, arg);
	case OPT_THRESHOLD:
		w->threshold_given = true;
		return set_time("--threshold", arg, THRESHOLD_MIN, ~0ULL / 4, &c->threshold_ns);
	case OPT_INTERVAL:
		return set_time("--interval", arg, INTERVAL_MIN, INTERVAL_MAX, &c->interval_ns);
	case OPT_PRIO:
		return set_prio(c, arg);
	case OPT_ON:
		return add_rule(w, arg);
	case OPT_HZ:
		return set_count("--hz", arg, 0, FR_SAMPLE_HZ_MAX, &w->ask.sess.hz);
	case OPT_QUEUE:
		return set_count("--queue", arg, 1, QUEUE_MAX, &c->queue_cnt);
	case OPT_JSON:
		w->ask.json = true;
		return 0;
	}
	return -EINVAL;
}

/* A holdoff below the threshold is not examined, so no rule sees it. */
static int check_rules(struct watch_opts *w)
{
	u64 *threshold_ns = &w->ask.sleep.threshold_ns;
	char a[32], b[32];
	u32 i;

	for (i = 0; i < w->ask.rule_cnt; i++) {
		const u64 ns = w->rule[i].limit_ns;

		if (ns >= *threshold_ns)
			continue;
		if (w->threshold_given || ns < THRESHOLD_MIN) {
			fr_err("--on: 'holdoff>%s' is below the %s from which holdoffs are watched for: see --threshold",
			       fr_show_duration(ns, a, sizeof(a)),
			       fr_show_duration(w->threshold_given ? *threshold_ns : THRESHOLD_MIN, b, sizeof(b)));
			return -EINVAL;
		}
		*threshold_ns = ns;
	}
	return 0;
}

/* Report an unwritable directory now, not when there is something to lose. */
static int check(struct watch_opts *w)
{
	const char *dir = w->ask.sess.dir;
	int err;

	if (!dir)
		return 0;
	err = fr_record_out_dir(dir, &w->dir);
	if (err)
		fr_err("cannot write to directory %s: %s: choose another with -o", dir, strerror(-err));
	else
		w->ask.sess.dir = w->dir;
	return err;
}

/* 0: continue; 1: help was printed; -EINVAL. */
static int parse(struct watch_opts *w, int argc, char **argv)
{
	int opt, err = 0;

	while (!err && (opt = fr_next_option(argc, argv, "n:f:o:m:h", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return 1;
		}
		err = set_option(w, opt, optarg);
	}
	if (!err && optind < argc) {
		fr_err("'%s' is not an option: see --help; what a recorder does is shown by `flightrec follow`", argv[optind]);
		err = -EINVAL;
	}
	return err ?: check_rules(w);
}

static int run(const struct watch_opts *w)
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
		.sleep = {.interval_ns = 1000000,
			  .threshold_ns = 2000000,
			  .policy = SCHED_FIFO,
			  .prio = 50,
			  .queue_cnt = QUEUE_CNT},
	};
	status = parse(w, argc, argv);
	if (status)
		status = status > 0 ? FR_EXIT_OK : FR_EXIT_USAGE;
	else
		status = check(w) ? FR_EXIT_FAIL : run(w);
	free(w->dir);
	free(w);
	return status;
}
