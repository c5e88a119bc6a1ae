/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "event.h"
#include "flow/dump.h"
#include "flow/record.h"
#include "pure/err.h"
#include "pure/record_filter.h"
#include "pure/select.h"
#include "pure/units.h"

#define MEMORY_DEFAULT	(8ULL << 20)
#define SAMPLE_HZ	99u
#define SAMPLE_HZ_MAX	10000u
#define TASK_CNT	32768u
#define PID_MAX		1024u
#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP_ROOT_MIX "/sys/fs/cgroup/unified" /* cgroup v1 and v2 side by side */

static const char help[] = "Usage: flightrec record [options] [-- COMMAND...]\n"
			   "Record what every CPU does, until interrupted or while COMMAND runs.\n"
			   "\n"
			   "  -n, --name NAME      session (default: default)\n"
			   "  -p, --profile NAME   minimal, default or full (`flightrec events`)\n"
			   "  -e, --event WHAT     add a group or an event; -WHAT takes it away; repeatable\n"
			   "  -m, --memory SIZE    memory per CPU (default 8M)\n"
			   "      --subbuf SIZE    sub-buffer of the main tier (default 64K)\n"
			   "      --tier NAME=SIZE memory of a tier: main, life, stack\n"
			   "      --clock MODE     global[:GRAIN] (default) or local\n"
			   "      --hz N           CPU samples a second (default 99)\n"
			   "      --pid LIST, --comm LIST, --cgroup LIST\n"
			   "                       record system calls and page faults of these tasks only\n"
			   "  -o, --output DIR     where snapshots go (default /var/lib/flightrec)\n"
			   "      --on TRIGGER     take a snapshot on: exit, signal, command; repeatable\n"
			   "      --detach         leave the session recording and return\n"
			   "      --keep           at the end leave the session recording\n"
			   "  -v, --verbose        the kernel's own words when it refuses a program\n"
			   "\n"
			   "SIGUSR1 takes a snapshot, SIGINT and SIGTERM end the recording.\n"
			   "Example: flightrec record -e syscall --comm 'nginx*' --detach\n";

enum {
	OPT_SUBBUF = 256,
	OPT_TIER,
	OPT_CLOCK,
	OPT_HZ,
	OPT_PID,
	OPT_COMM,
	OPT_CGROUP,
	OPT_ON,
	OPT_DETACH,
	OPT_KEEP,
};

static const struct option options[] = {
	{"name", required_argument, NULL, 'n'},
	{"profile", required_argument, NULL, 'p'},
	{"event", required_argument, NULL, 'e'},
	{"filter", required_argument, NULL, 'f'},
	{"memory", required_argument, NULL, 'm'},
	{"subbuf", required_argument, NULL, OPT_SUBBUF},
	{"tier", required_argument, NULL, OPT_TIER},
	{"clock", required_argument, NULL, OPT_CLOCK},
	{"hz", required_argument, NULL, OPT_HZ},
	{"pid", required_argument, NULL, OPT_PID},
	{"comm", required_argument, NULL, OPT_COMM},
	{"cgroup", required_argument, NULL, OPT_CGROUP},
	{"output", required_argument, NULL, 'o'},
	{"on", required_argument, NULL, OPT_ON},
	{"detach", no_argument, NULL, OPT_DETACH},
	{"keep", no_argument, NULL, OPT_KEEP},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{},
};

/* The options as given, and what they are parsed into. */
struct record_opts {
	struct fr_record_ask ask;
	struct fr_record_filter filter;
	const char *filter_expr;
	const char *event[64];
	u32 event_cnt;
	u32 pid[PID_MAX];
	FILE *settings; /* what must be the same for a session to be adopted */
};

/* Call fn with each item of a list with commas; it is modified. */
static int each_item(char *list, int (*fn)(struct record_opts *o, const char *item), struct record_opts *o)
{
	char *save, *item;
	int err = 0;

	if (!*list || *list == ',' || strstr(list, ",,") || list[strlen(list) - 1] == ',') {
		fr_err("an item of a list with commas is empty: '%s'", list);
		return -EINVAL;
	}
	for (item = strtok_r(list, ",", &save); item && !err; item = strtok_r(NULL, ",", &save))
		err = fn(o, item);
	return err;
}

static int add_pid(struct record_opts *o, const char *item)
{
	char *end;
	unsigned long pid = strtoul(item, &end, 10);

	if (*end || !pid || pid > FR_TID_MASK || o->ask.load.pid_cnt == PID_MAX) {
		fr_err("--pid: '%s' is not a process id, or there are more than %u: give numbers, with commas between", item,
		       PID_MAX);
		return -EINVAL;
	}
	o->pid[o->ask.load.pid_cnt++] = pid;
	return 0;
}

static int add_comm(struct record_opts *o, const char *item)
{
	struct fr_load_conf *l = &o->ask.load;

	if (l->comm_cnt == FR_COMM_FILTER_MAX || fr_select_comm(item, &l->comm[l->comm_cnt])) {
		fr_err("--comm: '%s' cannot be matched in the kernel: give at most %u names or PREFIX*", item,
		       FR_COMM_FILTER_MAX);
		return -EINVAL;
	}
	l->comm_cnt++;
	return 0;
}

static u32 path_level(const char *path)
{
	u32 level = 0;

	for (; *path; path++)
		level += *path != '/' && (path[1] == '/' || !path[1]);
	return level;
}

/* A cgroup's id is its directory's inode number; its level is its depth below the root. */
static int add_cgroup(struct record_opts *o, const char *item)
{
	struct fr_load_conf *l = &o->ask.load;
	const char *root = CGROUP_ROOT;
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/cgroup.procs", CGROUP_ROOT_MIX);
	if (!stat(path, &st))
		root = CGROUP_ROOT_MIX;
	if (!strncmp(item, root, strlen(root)))
		item += strlen(root);
	snprintf(path, sizeof(path), "%s/%s", root, item);
	if (l->cgroup_cnt == FR_CGROUP_FILTER_MAX || stat(path, &st) || !S_ISDIR(st.st_mode)) {
		fr_err("--cgroup: no cgroup %s, or more than %u: give paths below %s", path, FR_CGROUP_FILTER_MAX, root);
		return -EINVAL;
	}
	l->cgroup[l->cgroup_cnt++] = (struct fr_cgroup_filter){.id = st.st_ino, .level = path_level(item)};
	return 0;
}

static int set_size(const char *option, const char *text, u64 *out)
{
	if (!fr_parse_size(text, out) && *out)
		return 0;
	fr_err("%s: '%s' is not a size: give a number with K, M or G", option, text);
	return -EINVAL;
}

static int set_tier(struct record_opts *o, const char *text)
{
	u32 tier;

	for (tier = 0; tier < FR_TIER_CNT; tier++) {
		size_t len = strlen(fr_tier_name(tier));

		if (!strncmp(text, fr_tier_name(tier), len) && text[len] == '=')
			return set_size("--tier", text + len + 1, &o->ask.plan.tier_sz[tier]);
	}
	fr_err("--tier: '%s' is not NAME=SIZE: the tiers are main, life and stack", text);
	return -EINVAL;
}

static int set_clock(struct record_opts *o, const char *text)
{
	u64 grain;

	if (!strcmp(text, "local")) {
		o->ask.load.grain_ns = FR_CLOCK_LOCAL;
		o->ask.grain_given = true;
		return 0;
	}
	if (!strcmp(text, "global"))
		return 0;
	if (strncmp(text, "global:", 7) || (strcmp(text + 7, "0") && fr_parse_duration(text + 7, &grain))) {
		fr_err("--clock: '%s' is none: give local, global or global:GRAIN, like global:10us; 0 is exact", text);
		return -EINVAL;
	}
	if (!strcmp(text + 7, "0"))
		grain = 0;
	if (grain >= 1000000) {
		fr_err("--clock: a grain of %s is too coarse: less than 1ms", text + 7);
		return -EINVAL;
	}
	o->ask.load.grain_ns = grain;
	o->ask.grain_given = true;
	return 0;
}

static int set_hz(struct record_opts *o, const char *text)
{
	char *end;
	unsigned long hz = strtoul(text, &end, 10);

	if (*end || !hz || hz > SAMPLE_HZ_MAX) {
		fr_err("--hz: '%s' is not a rate from 1 to %u", text, SAMPLE_HZ_MAX);
		return -EINVAL;
	}
	o->ask.load.sample_hz = hz;
	return 0;
}

/* signal and command are always there. */
static int add_trigger(struct record_opts *o, const char *text)
{
	if (!strcmp(text, "exit")) {
		o->ask.on_exit = true;
		return 0;
	}
	if (!strcmp(text, "signal") || !strcmp(text, "command"))
		return 0;
	fr_err("--on: this version has no trigger '%s': it has exit, signal (SIGUSR1) and command (`flightrec dump`)", text);
	return -EINVAL;
}

static int set_name(struct record_opts *o, const char *text)
{
	if (!fr_sess_name_ok(text)) {
		fr_err("'%s' is not a session's name: up to %u letters, digits, '-' and '_'", text, FR_NAME_MAX);
		return -EINVAL;
	}
	o->ask.name = text;
	return 0;
}

static int add_event(struct record_opts *o, const char *text)
{
	if (o->event_cnt == sizeof(o->event) / sizeof(o->event[0])) {
		fr_err("too many -e options");
		return -EINVAL;
	}
	o->event[o->event_cnt++] = text;
	return 0;
}

/* As it would be typed. */
static void note_setting(struct record_opts *o, int opt, const char *arg)
{
	const struct option *known = options;

	while (known->name && known->val != opt)
		known++;
	if (opt < OPT_SUBBUF)
		fprintf(o->settings, " -%c %s", opt, arg);
	else
		fprintf(o->settings, " --%s %s", known->name, arg);
}

/* Options that change what a session is; each goes into its settings. */
static int set_session_option(struct record_opts *o, int opt, char *arg)
{
	note_setting(o, opt, arg);
	switch (opt) {
	case 'p':
		o->ask.profile = arg;
		return 0;
	case 'e':
		return add_event(o, arg);
	case 'm':
		return set_size("-m", arg, &o->ask.plan.cpu_sz);
	case 'f':
		o->filter_expr = arg;
		return 0;
	case OPT_SUBBUF:
		return set_size("--subbuf", arg, &o->ask.plan.subbuf_sz);
	case OPT_TIER:
		return set_tier(o, arg);
	case OPT_CLOCK:
		return set_clock(o, arg);
	case OPT_HZ:
		return set_hz(o, arg);
	case OPT_PID:
		return each_item(arg, add_pid, o);
	case OPT_COMM:
		return each_item(arg, add_comm, o);
	case OPT_CGROUP:
		return each_item(arg, add_cgroup, o);
	}
	return -EINVAL;
}

static int set_option(struct record_opts *o, int opt, char *arg)
{
	switch (opt) {
	case 'n':
		return set_name(o, arg);
	case 'o':
		o->ask.dir = arg;
		return 0;
	case OPT_ON:
		return add_trigger(o, arg);
	case OPT_DETACH:
		o->ask.detach = true;
		return 0;
	case OPT_KEEP:
		o->ask.keep = true;
		return 0;
	case 'v':
		o->ask.load.verbose = true;
		return 0;
	}
	return arg ? set_session_option(o, opt, arg) : -EINVAL;
}

static int select_events(struct record_opts *o)
{
	const char *nearest;
	u32 i;

	if (fr_select_profile(o->ask.profile, o->ask.load.enable)) {
		fr_err("no profile '%s': minimal, default or full", o->ask.profile);
		return -EINVAL;
	}
	for (i = 0; i < o->event_cnt; i++)
		if (fr_select_event(o->event[i], o->ask.load.enable, &nearest)) {
			fr_err("no event or group '%s': did you mean %s? `flightrec events` lists all", o->event[i], nearest);
			return -EINVAL;
		}
	return 0;
}

/* -f takes the place of --pid, --comm and --cgroup, and is for all events but task_rename, by which the others are read. */
static int set_filter(struct record_opts *o)
{
	struct fr_load_conf *l = &o->ask.load;
	struct fr_filter_error error;
	u32 nr;

	if (!o->filter_expr)
		return 0;
	if (l->pid_cnt || l->comm_cnt || l->cgroup_cnt) {
		fr_err("-f cannot be used with --pid, --comm or --cgroup: put them into the expression");
		return -EINVAL;
	}
	if (fr_record_filter(o->filter_expr, &o->filter, &error)) {
		fr_err("-f: %s\n  %s\n  %*s^", error.text, o->filter_expr, (int)error.at, "");
		return -EINVAL;
	}
	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		l->enable[nr] = l->enable[nr] && (o->filter.event[nr] || nr == FR_EV_task_rename);
	l->filter_all = o->filter.pid_cnt || o->filter.comm_cnt;
	l->pid = o->filter.pid;
	l->pid_cnt = o->filter.pid_cnt;
	l->comm_cnt = o->filter.comm_cnt;
	memcpy(l->comm, o->filter.comm, sizeof(l->comm));
	return 0;
}

static int check(struct record_opts *o)
{
	int err;

	if (o->ask.command && o->ask.detach) {
		fr_err("--detach returns at once: it cannot be used with a command");
		return -EINVAL;
	}
	err = select_events(o);
	return err ?: set_filter(o);
}

/* Returns 0, -EINVAL, or 1 when help was printed. */
static int parse(struct record_opts *o, int argc, char **argv)
{
	int opt, err = 0;

	while (!err && (opt = getopt_long(argc, argv, "+n:p:e:m:o:f:vh", options, NULL)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return 1;
		}
		err = opt == '?' ? -EINVAL : set_option(o, opt, optarg);
	}
	if (err)
		return err;
	if (optind < argc && strcmp(argv[optind - 1], "--")) {
		fr_err("'%s' is not an option: a command to record comes behind --", argv[optind]);
		return -EINVAL;
	}
	if (optind == argc && !strcmp(argv[optind - 1], "--")) {
		fr_err("a command to record is missing behind --");
		return -EINVAL;
	}
	if (optind < argc)
		o->ask.command = argv + optind;
	return check(o);
}

int fr_cmd_record(int argc, char **argv)
{
	struct record_opts *o = calloc(1, sizeof(*o));
	char *settings = NULL;
	size_t sz;
	int status;

	if (!o)
		return FR_EXIT_FAIL;
	o->ask = (struct fr_record_ask){
		.name = "default",
		.profile = "default",
		.dir = FR_DIR_DEFAULT,
		.plan.cpu_sz = MEMORY_DEFAULT,
		.load = {.sample_hz = SAMPLE_HZ, .task_cnt = TASK_CNT, .pid = o->pid},
	};
	o->settings = open_memstream(&settings, &sz);
	status = o->settings ? parse(o, argc, argv) : -ENOMEM;
	if (o->settings)
		fclose(o->settings);
	o->ask.settings = settings && *settings ? settings + 1 : "defaults";
	if (status)
		status = status > 0 ? FR_EXIT_OK : FR_EXIT_USAGE;
	else
		status = fr_record(&o->ask);
	free(settings);
	free(o);
	return status;
}
