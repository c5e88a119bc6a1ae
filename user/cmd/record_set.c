/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* record_set: options of record that select what is recorded, from the command line or the configuration file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/nextopt.h"
#include "cmd/open.h"
#include "cmd/record_opts.h"
#include "io/cgroup.h"
#include "io/session/incident_load.h"
#include "pure/config/select.h"
#include "pure/config/setting.h"
#include "pure/err.h"
#include "pure/filter/filter.h"
#include "pure/text/units.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP_ROOT_MIX "/sys/fs/cgroup/unified" /* cgroup v1 and v2 side by side */

/* Reports what an option's value lacks. Returns err. */
static int taken(const char *option, int err, const struct fr_setting_error *why)
{
	if (err)
		fr_err("%s: %s", option, *why->text ? why->text : strerror(-err));
	return err;
}

static int set_pid(struct fr_record_opts *o, const char *text)
{
	struct fr_setting_error why = {};

	return taken("--pid", fr_setting_pids(text, o->pid, &o->ask.load.pid_cnt, &why), &why);
}

static int set_comm(struct fr_record_opts *o, const char *text)
{
	struct fr_setting_error why = {};
	int err = taken("--comm", fr_setting_comms(text, o->ask.load.comm, &o->ask.load.comm_cnt, &why), &why);

	if (!err) /* each list has a name of its own at least */
		o->comm[o->comm_cnt++] = text;
	return err;
}

static u32 path_level(const char *path)
{
	u32 level = 0;

	for (; *path; path++)
		level += *path != '/' && (path[1] == '/' || !path[1]);
	return level;
}

/* Its depth below the machine's root, which may be above what is mounted; -errno: that is not known. */
static int cgroup_level(const char *root, const char *below, u64 id)
{
	char path[4096];
	struct stat st;
	int err;

	if (!stat(root, &st) && st.st_ino == FR_CGROUP_ROOT_ID)
		return path_level(below);
	err = fr_cgroup_path(id, path, sizeof(path));
	return err ? err : (int)path_level(path);
}

/* Where cgroups are: the unified hierarchy may be mounted beside the others. */
static const char *cgroup_root(void)
{
	return access(CGROUP_ROOT_MIX "/cgroup.procs", F_OK) ? CGROUP_ROOT : CGROUP_ROOT_MIX;
}

/* The directory of a cgroup, without dots and links, and where in it what is below root begins; NULL, with errno: none. */
static char *find_cgroup(const char *root, const char *item, const char **below, struct stat *st)
{
	size_t len = strlen(root);
	char text[4096], *path;

	if (!strncmp(item, root, len) && (item[len] == '/' || !item[len]))
		item += len;
	errno = EINVAL;
	if (snprintf(text, sizeof(text), "%s/%s", root, item) >= (int)sizeof(text))
		return NULL;
	path = realpath(text, NULL);
	if (path && !strncmp(path, root, len) && (path[len] == '/' || !path[len]) && !stat(path, st) && S_ISDIR(st->st_mode)) {
		*below = path + len;
		return path;
	}
	errno = path ? EINVAL : errno;
	free(path);
	return NULL;
}

/* A cgroup's id is its directory's inode number. -ENOENT: it may be there later, as that of a service that is yet to begin. */
static int add_cgroup(void *arg, const char *item, struct fr_setting_error *why)
{
	struct fr_load_conf *l = arg;
	const char *root = cgroup_root(), *below;
	struct stat st;
	char *path = find_cgroup(root, item, &below, &st);
	int level;

	if (!path) {
		level = errno == ENOENT ? -ENOENT : -EINVAL;
		snprintf(why->text, sizeof(why->text), "no cgroup %.150s: give paths below %s", item, root);
		return level;
	}
	level = cgroup_level(root, below, st.st_ino);
	if (level < 0)
		snprintf(why->text, sizeof(why->text),
			 "the place of %.150s in the machine's hierarchy is unknown: %s: in a container use the host's "
			 "(--cgroupns=host, or --pid=host and CAP_SYS_PTRACE)",
			 path, strerror(-level));
	else
		l->cgroup[l->cgroup_cnt] = (struct fr_cgroup_filter){.id = st.st_ino, .level = level};
	free(path);
	return level < 0 ? level : 0;
}

static int set_cgroup(struct fr_record_opts *o, const char *text)
{
	struct fr_load_conf *l = &o->ask.load;
	struct fr_setting_error why = {};
	int err = taken("--cgroup", fr_setting_cgroups(text, &l->cgroup_cnt, add_cgroup, l, &why), &why);

	if (!err)
		o->cgroup[o->cgroup_cnt++] = text;
	return err;
}

static int set_size(const char *option, const char *text, u64 *out)
{
	struct fr_setting_error why = {};
	int err = taken(option, fr_setting_size(text, out, &why), &why);

	if (!err && !*out) {
		fr_err("%s: 0 is no size for rings: give a number with K, M, G or T", option);
		err = -EINVAL;
	}
	return err;
}

static int set_tier(struct fr_record_opts *o, const char *text)
{
	struct fr_setting_error why = {};
	u32 tier = 0;
	u64 sz = 0;
	int err = taken("--tier", fr_setting_tier(text, &tier, &sz, &why), &why);

	if (!err)
		o->ask.plan.tier_sz[tier] = sz;
	return err;
}

static int set_clock(struct fr_record_opts *o, const char *text)
{
	struct fr_setting_error why = {};

	return taken("--clock", fr_setting_clock(text, &o->ask.grain_given, &o->ask.load.grain_ns, &why), &why);
}

static int set_hz(struct fr_record_opts *o, const char *text)
{
	struct fr_setting_error why = {};

	return taken("--hz", fr_setting_hz(text, &o->ask.load.sample_hz, &why), &why);
}

static int set_profile(struct fr_record_opts *o, const char *text)
{
	struct fr_setting_error why = {};

	return taken("--cpu-profile", fr_setting_flag(text, &o->ask.load.profile, &why), &why);
}

static int set_incidents(struct fr_record_opts *o, const char *text)
{
	struct fr_setting_error why = {};
	u32 cnt = 0;
	int err = taken("--incidents", fr_setting_incidents(text, &cnt, &why), &why);

	if (!err)
		o->ask.load.incident_cnt = fr_incident_cnt_for(cnt);
	return err;
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
	if (o->event_cnt == FR_CONFIG_ITEM_MAX) {
		fr_err("too many -e options");
		return -EINVAL;
	}
	o->event[o->event_cnt++] = text;
	return 0;
}

int fr_record_set(struct fr_record_opts *o, int opt, const char *arg)
{
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
		return set_pid(o, arg);
	case FR_OPT_COMM:
		return set_comm(o, arg);
	case FR_OPT_CGROUP:
		return set_cgroup(o, arg);
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
			if (nearest)
				fr_err("no event or group '%s': did you mean %s? `flightrec events` lists all", o->event[i],
				       nearest);
			else
				fr_err("no event or group '%s': `flightrec events` lists all", o->event[i]);
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
		fr_filter_say_at("-f", error.text, o->filter_expr, error.at);
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
