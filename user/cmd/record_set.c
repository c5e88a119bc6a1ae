/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* record_set: options of record that select what is recorded, from the command line or the configuration file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/open.h"
#include "cmd/record_opts.h"
#include "incident_layout.h"
#include "io/cgroup.h"
#include "io/trig/incident_load.h"
#include "pure/config/select.h"
#include "pure/err.h"
#include "pure/text/units.h"

#define SAMPLE_HZ_MAX	10000u
#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP_ROOT_MIX "/sys/fs/cgroup/unified" /* cgroup v1 and v2 side by side */

/* Call fn with each item of a comma-separated list, which is modified. */
static int each_item(char *list, int (*fn)(struct fr_record_opts *o, const char *item), struct fr_record_opts *o)
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

static int add_pid(struct fr_record_opts *o, const char *item)
{
	char *end;
	unsigned long pid = strtoul(item, &end, 10);

	if (*end || !pid || pid > FR_TID_MASK || o->ask.load.pid_cnt == FR_RECORD_PID_MAX) {
		fr_err("--pid: '%s' is not a process id, or there are more than %u: give numbers separated by commas", item,
		       FR_RECORD_PID_MAX);
		return -EINVAL;
	}
	o->pid[o->ask.load.pid_cnt++] = pid;
	return 0;
}

static int add_comm(struct fr_record_opts *o, const char *item)
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

/* Its depth below the machine's root, which may be above what is mounted; -errno: that is not known. */
static int cgroup_level(const char *root, const char *item, u64 id)
{
	char path[4096];
	struct stat st;
	int err;

	if (!stat(root, &st) && st.st_ino == FR_CGROUP_ROOT_ID)
		return path_level(item);
	err = fr_cgroup_path(id, path, sizeof(path));
	return err ? err : (int)path_level(path);
}

/* A cgroup's id is its directory's inode number. */
static int add_cgroup(struct fr_record_opts *o, const char *item)
{
	struct fr_load_conf *l = &o->ask.load;
	const char *root = CGROUP_ROOT;
	char path[4096];
	struct stat st;
	int level;

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
	level = cgroup_level(root, item, st.st_ino);
	if (level < 0) {
		fr_err("--cgroup: the place of %s in the machine's hierarchy is unknown: %s: in a container use the host's "
		       "(--cgroupns=host, or --pid=host and CAP_SYS_PTRACE)",
		       path, strerror(-level));
		return level;
	}
	l->cgroup[l->cgroup_cnt++] = (struct fr_cgroup_filter){.id = st.st_ino, .level = level};
	return 0;
}

static int set_size(const char *option, const char *text, u64 *out)
{
	if (!fr_parse_size(text, out) && *out)
		return 0;
	fr_err("%s: '%s' is not a size: give a number with K, M or G", option, text);
	return -EINVAL;
}

static int set_tier(struct fr_record_opts *o, const char *text)
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

static int set_clock(struct fr_record_opts *o, const char *text)
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
		fr_err("--clock: no mode '%s': give local, global or global:GRAIN, like global:10us; 0 is exact", text);
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

static int set_hz(struct fr_record_opts *o, const char *text)
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

static int set_profile(struct fr_record_opts *o, const char *text)
{
	if (strcmp(text, "yes") && strcmp(text, "no")) {
		fr_err("--cpu-profile: '%s' is neither yes nor no", text);
		return -EINVAL;
	}
	o->ask.load.profile = !strcmp(text, "yes");
	return 0;
}

static int set_incidents(struct fr_record_opts *o, const char *text)
{
	char *end;
	unsigned long cnt = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || cnt < FR_INCIDENT_CNT_MIN || cnt > FR_INCIDENT_CNT_MAX) {
		fr_err("--incidents %s: give the records of the incident log, %u to %u", text, FR_INCIDENT_CNT_MIN,
		       FR_INCIDENT_CNT_MAX);
		return -EINVAL;
	}
	o->ask.load.incident_cnt = fr_incident_cnt_for(cnt);
	return 0;
}

int fr_record_set_name(struct fr_record_opts *o, const char *text)
{
	if (!fr_cmd_name_ok(text))
		return -EINVAL;
	o->ask.name = text;
	return 0;
}

static int add_event(struct fr_record_opts *o, const char *text)
{
	if (o->event_cnt == FR_RECORD_EVENT_MAX) {
		fr_err("too many -e options");
		return -EINVAL;
	}
	o->event[o->event_cnt++] = text;
	return 0;
}

/* As it would be typed. */
static void note_setting(struct fr_record_opts *o, int opt, const char *arg)
{
	static const char *const names[] = {
		[FR_OPT_SUBBUF] = "subbuf", [FR_OPT_TIER] = "tier",	      [FR_OPT_CLOCK] = "clock",
		[FR_OPT_HZ] = "hz",	    [FR_OPT_PROFILE] = "cpu-profile", [FR_OPT_PID] = "pid",
		[FR_OPT_COMM] = "comm",	    [FR_OPT_CGROUP] = "cgroup",	      [FR_OPT_INCIDENTS] = "incidents",
	};

	if (opt < FR_OPT_SUBBUF)
		fprintf(o->settings, " -%c %s", opt, arg);
	else
		fprintf(o->settings, " --%s %s", names[opt], arg);
}

int fr_record_set(struct fr_record_opts *o, int opt, char *arg)
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
	case FR_OPT_SUBBUF:
		return set_size("--subbuf", arg, &o->ask.plan.subbuf_sz);
	case FR_OPT_TIER:
		return set_tier(o, arg);
	case FR_OPT_CLOCK:
		return set_clock(o, arg);
	case FR_OPT_HZ:
		return set_hz(o, arg);
	case FR_OPT_PROFILE:
		return set_profile(o, arg);
	case FR_OPT_PID:
		return each_item(arg, add_pid, o);
	case FR_OPT_COMM:
		return each_item(arg, add_comm, o);
	case FR_OPT_CGROUP:
		return each_item(arg, add_cgroup, o);
	case FR_OPT_INCIDENTS:
		return set_incidents(o, arg);
	}
	return -EINVAL;
}

static int select_events(struct fr_record_opts *o)
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

/* -f replaces --pid, --comm and --cgroup, and applies to all events but task_rename, which is needed to read the others. */
static int set_filter(struct fr_record_opts *o)
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

int fr_record_select(struct fr_record_opts *o)
{
	int err = select_events(o);

	err = err ?: set_filter(o);
	o->ask.load.profile &= o->ask.load.enable[FR_EV_cpu_sample];
	return err;
}
