/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/nextopt.h"
#include "cmd/record_opts.h"
#include "io/session/incident_load.h"
#include "io/session/load.h"
#include "pure/config/default.h"
#include "pure/err.h"

static const char help[] =
	"Usage: flightrec record [options] [-- COMMAND...]\n"
	"Record what every CPU does, until interrupted or while COMMAND runs.\n"
	"\n"
	"  -n, --name NAME      session (default: " FR_DEF_NAME ")\n"
	"  -p, --profile NAME   minimal, default or full (`flightrec events`)\n"
	"  -e, --event WHAT     add a group or an event; -WHAT removes it; repeatable\n"
	"  -m, --memory SIZE    memory per CPU (default " FR_DEF_MEMORY "); --tier NAME=SIZE of main, life, stack;\n"
	"                       --subbuf SIZE of main's sub-buffers (" FR_DEF_SUBBUF ")\n"
	"      --clock MODE, --hz N   global[:GRAIN] (default) or local; CPU samples a second (" FR_DEF_SAMPLE_RATE ");\n"
	"                       --cpu-profile no: none; --incidents N records, --max-incidents SIZE\n"
	"      --pid LIST, --comm LIST, --cgroup LIST   system calls, page faults of these tasks only\n"
	"  -f, --filter EXPR    record only events that match: event, pid ==, comm (flightrec(1))\n"
	"  -o, --output DIR     where snapshots go (default " FR_DEF_DIR "); the oldest are\n"
	"                       removed by --max-files N, --max-size SIZE, --max-age T, --keep-free N%\n"
	"      --on TRIGGER     take a snapshot on: crash, exit:2, oom, hung>20s, psi:memory:20%,\n"
	"                       latency:wakeup>5ms, signal, exit, ... (flightrec(1)); repeatable\n"
	"      --exec CMD, --exec-user USER   run this for each snapshot, as that user\n"
	"      --budget N%      thin or drop events while recording costs more of a CPU\n"
	"      --config FILE    flightrec.conf(5), SIGHUP reloads; --check-config only checks it\n"
	"      --detach, --keep leave the session recording; return at once, or when interrupted\n"
	"  -v, --verbose        the kernel's own message when it refuses a program\n"
	"\n"
	"SIGUSR1 takes a snapshot, SIGINT and SIGTERM end the recording.\n"
	"Example: flightrec record -e syscall --comm 'nginx*' --on crash\n";

static const struct option options[] = {
	{"name", required_argument, NULL, 'n'},
	{"profile", required_argument, NULL, 'p'},
	{"event", required_argument, NULL, 'e'},
	{"filter", required_argument, NULL, 'f'},
	{"memory", required_argument, NULL, 'm'},
	{"subbuf", required_argument, NULL, FR_OPT_SUBBUF},
	{"tier", required_argument, NULL, FR_OPT_TIER},
	{"clock", required_argument, NULL, FR_OPT_CLOCK},
	{"hz", required_argument, NULL, FR_OPT_HZ},
	{"cpu-profile", required_argument, NULL, FR_OPT_PROFILE},
	{"pid", required_argument, NULL, FR_OPT_PID},
	{"comm", required_argument, NULL, FR_OPT_COMM},
	{"cgroup", required_argument, NULL, FR_OPT_CGROUP},
	{"incidents", required_argument, NULL, FR_OPT_INCIDENTS},
	{"output", required_argument, NULL, 'o'},
	{"on", required_argument, NULL, FR_OPT_ON},
	{"detach", no_argument, NULL, FR_OPT_DETACH},
	{"keep", no_argument, NULL, FR_OPT_KEEP},
	{"config", required_argument, NULL, FR_OPT_CONFIG},
	{"check-config", no_argument, NULL, FR_OPT_CHECK_CONFIG},
	{"exec", required_argument, NULL, FR_OPT_EXEC},
	{"exec-user", required_argument, NULL, FR_OPT_EXEC_USER},
	{"budget", required_argument, NULL, FR_OPT_BUDGET},
	{"max-files", required_argument, NULL, FR_OPT_MAX_FILES},
	{"max-size", required_argument, NULL, FR_OPT_MAX_SIZE},
	{"max-age", required_argument, NULL, FR_OPT_MAX_AGE},
	{"keep-free", required_argument, NULL, FR_OPT_KEEP_FREE},
	{"max-incidents", required_argument, NULL, FR_OPT_MAX_INCIDENTS},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{},
};

/* Options that replace keys of the configuration file; -e, --tier, --pid, --comm and --cgroup add to theirs. */
static const struct {
	int opt;
	struct fr_record_over over;
} overs[] = {
	{'n', {"-n", FR_RECORD_SESSION, "Name", NULL}},
	{'p', {"-p", FR_RECORD_SESSION, "Profile", NULL}},
	{'m', {"-m", FR_RECORD_SESSION, "Memory", NULL}},
	{'f', {"-f", FR_RECORD_SESSION, "Filter", NULL}},
	{FR_OPT_SUBBUF, {"--subbuf", FR_RECORD_SESSION, "SubBuffer", NULL}},
	{FR_OPT_CLOCK, {"--clock", FR_RECORD_SESSION, "Clock", NULL}},
	{FR_OPT_HZ, {"--hz", FR_RECORD_SESSION, "SampleRate", NULL}},
	{FR_OPT_PROFILE, {"--cpu-profile", FR_RECORD_SESSION, "CpuProfile", NULL}},
	{FR_OPT_INCIDENTS, {"--incidents", FR_RECORD_SESSION, "Incidents", NULL}},
	{'o', {"-o", "Storage", "Directory", NULL}},
	{FR_OPT_EXEC, {"--exec", "Notify", "Exec", NULL}},
	{FR_OPT_EXEC_USER, {"--exec-user", "Notify", "ExecUser", NULL}},
	{FR_OPT_BUDGET, {"--budget", "Governor", "Budget", NULL}},
	{FR_OPT_MAX_FILES, {"--max-files", "Storage", "MaxFiles", NULL}},
	{FR_OPT_MAX_SIZE, {"--max-size", "Storage", "MaxBytes", NULL}},
	{FR_OPT_MAX_AGE, {"--max-age", "Storage", "MaxAge", NULL}},
	{FR_OPT_KEEP_FREE, {"--keep-free", "Storage", "KeepFree", NULL}},
	{FR_OPT_MAX_INCIDENTS, {"--max-incidents", "Storage", "MaxIncidents", NULL}},
};

static int add_over(struct fr_record_opts *o, int opt, const char *arg)
{
	size_t i;

	for (i = 0; i < sizeof(overs) / sizeof(overs[0]); i++) {
		if (overs[i].opt != opt)
			continue;
		if (o->over_cnt == FR_RECORD_OVER_MAX) {
			fr_err("too many options");
			return -EINVAL;
		}
		o->over[o->over_cnt] = overs[i].over;
		o->over[o->over_cnt++].value = arg;
	}
	return 0;
}

static int add_trigger(struct fr_record_opts *o, const char *text)
{
	if (o->on_cnt == FR_TRIGGER_MAX) {
		fr_err("--on: more than %u triggers", FR_TRIGGER_MAX);
		return -EINVAL;
	}
	o->on[o->on_cnt++] = text;
	return 0;
}

static bool shapes_session(int opt)
{
	return opt < FR_OPT_ON && opt != 'o';
}

static int set_option(struct fr_record_opts *o, int opt, const char *arg)
{
	switch (opt) {
	case 'n':
		return fr_record_set_name(o, arg) ?: add_over(o, opt, arg);
	case FR_OPT_ON:
		return add_trigger(o, arg);
	case FR_OPT_DETACH:
		o->ask.detach = true;
		return 0;
	case FR_OPT_KEEP:
		o->ask.keep = true;
		return 0;
	case FR_OPT_CHECK_CONFIG:
		o->check_config = true;
		return 0;
	case FR_OPT_CONFIG: /* was read before */
		return 0;
	case 'v':
		fr_load_words(true);
		return 0;
	}
	if (opt == 'f' && fr_take_filter(&o->filter_option, arg))
		return -EINVAL;
	return (shapes_session(opt) ? fr_record_set(o, opt, arg) : 0) ?: add_over(o, opt, arg);
}

static bool session_knows(const struct fr_record_over *over)
{
	return !strcmp(over->section, FR_RECORD_SESSION) || !strcmp(over->key, "Directory");
}

static int check_detach(const struct fr_record_opts *o)
{
	u32 i;

	if (!o->ask.detach)
		return 0;
	if (o->ask.command) {
		fr_err("--detach returns at once: it cannot be used with a command");
		return -EINVAL;
	}
	if (o->live.rule_cnt) {
		fr_err("--detach leaves nobody to act on trigger '%s': drop --detach, and let a service manager or `&` keep "
		       "the recorder",
		       o->live.rule[0].text);
		return -EINVAL;
	}
	for (i = 0; i < o->over_cnt; i++)
		if (!session_knows(&o->over[i])) {
			fr_err("--detach leaves nobody to act on %s: drop --detach, and let a service manager or `&` keep the "
			       "recorder",
			       o->over[i].option);
			return -EINVAL;
		}
	return 0;
}

static int check(struct fr_record_opts *o)
{
	char why[1024];
	int err;

	o->settings = fr_record_settings(o);
	if (!o->settings) {
		fr_err_memory();
		return -ENOMEM;
	}
	o->ask.settings = o->settings;
	err = fr_record_select(o);
	if (!err && o->ask.is_daemon && (o->ask.command || o->ask.detach)) {
		fr_err("--config is for a recorder that stays: it cannot be used with --detach or a command");
		return -EINVAL;
	}
	if (err)
		return err;
	err = fr_record_live(o, &o->live, why, sizeof(why));
	if (err) {
		fr_err_lines("%s", why);
		return err;
	}
	return check_detach(o);
}

/* The file comes first, and options override it, wherever --config stands. Returns 0, -EINVAL, or 1 if help was printed. */
static int find_config(struct fr_record_opts *o, int argc, char **argv)
{
	int opt;

	while ((opt = fr_next_option(argc, argv, "+n:p:e:m:o:f:vh", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return 1;
		}
		if (opt == '?')
			return -EINVAL;
		if (opt == FR_OPT_CONFIG)
			o->config = optarg;
	}
	optind = 0;
	return o->config ? fr_record_read_config(o) : 0;
}

/* Returns 0, -EINVAL, or 1 if help was printed. */
static int parse(struct fr_record_opts *o, int argc, char **argv)
{
	int opt, err = find_config(o, argc, argv);

	while (!err && (opt = fr_next_option(argc, argv, "+n:p:e:m:o:f:vh", options)) != -1)
		err = set_option(o, opt, optarg);
	if (err)
		return err;
	if (optind < argc && strcmp(argv[optind - 1], "--")) {
		fr_err("'%s' is not an option: a command to record goes after --", argv[optind]);
		return -EINVAL;
	}
	if (optind == argc && !strcmp(argv[optind - 1], "--")) {
		fr_err("a command to record is missing after --");
		return -EINVAL;
	}
	if (optind < argc)
		o->ask.command = argv + optind;
	return check(o);
}

static int run(struct fr_record_opts *o)
{
	if (o->check_config)
		return fr_record_check_config(o);
	o->ask.live = &o->live;
	return fr_record(&o->ask);
}

static void free_opts(struct fr_record_opts *o)
{
	fr_config_free(&o->live.config);
	fr_config_free(&o->session);
	fr_config_free(&o->def);
	free(o->settings);
	free(o);
}

/* What is recorded unless the file or an option says otherwise; sizes of sub-buffers are chosen when the rings are planned. */
static int set_defaults(struct fr_record_opts *o)
{
	const struct fr_config *def = &o->def;
	int err = fr_config_init(&o->def);

	if (err) {
		fr_err_memory();
		return err;
	}
	o->ask = (struct fr_record_ask){
		.name = def->name,
		.profile = def->profile,
		.plan.cpu_sz = def->memory_sz,
		.load = {.sample_hz = def->sample_hz,
			 .profile = def->cpu_profile,
			 .task_cnt = FR_LOAD_TASK_CNT,
			 .incident_cnt = fr_incident_cnt_for(def->incident_cnt),
			 .pid = o->pid},
		.reload_arg = o,
	};
	return 0;
}

int fr_cmd_record(int argc, char **argv)
{
	struct fr_record_opts *o = calloc(1, sizeof(*o));
	int status;

	if (!o)
		return fr_err_memory();
	status = set_defaults(o) ?: parse(o, argc, argv);
	if (status)
		status = status > 0 ? FR_EXIT_OK : status == -EINVAL ? FR_EXIT_USAGE : FR_EXIT_FAIL;
	else
		status = run(o);
	free_opts(o);
	return status;
}
