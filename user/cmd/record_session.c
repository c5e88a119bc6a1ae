/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* record_session: what the settings mean for the session: events, filters, sizes; and the settings as one text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config/select.h"
#include "base/config/setting.h"
#include "base/err.h"
#include "base/filter/filter.h"
#include "base/text/memfile.h"
#include "base/text/units.h"
#include "cmd/record_opts.h"
#include "event_fields.h"
#include "sys/cgroup.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP_ROOT_MIX "/sys/fs/cgroup/unified" /* cgroup v1 and v2 side by side */

/* Reports what an option's value lacks. Returns err. */
static int session_taken(const char *option, int err, const struct fr_setting_error *why)
{
	if (err)
		fr_err("%s: %s", option, *why->text ? why->text : strerror(-err));
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
		snprintf(why->text, sizeof(why->text), "no cgroup %.150s: give paths of cgroup v2, below %s", item, root);
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

/* ---- from settings to what is asked for ---- */

static int set_tiers(struct fr_record_opts *o)
{
	const struct fr_config_list *list = &o->session.tier;
	struct fr_setting_error why = {};
	u32 i, tier = 0;
	u64 sz = 0;
	int err = 0;

	for (i = 0; i < list->cnt && !err; i++) {
		err = session_taken("--tier", fr_setting_tier(list->item[i], &tier, &sz, &why), &why);
		if (!err)
			o->ask.plan.tier_sz[tier] = sz;
	}
	return err;
}

static int set_clock(struct fr_record_opts *o)
{
	struct fr_setting_error why = {};

	return session_taken("--clock", fr_setting_clock(o->session.clock, &o->ask.grain_given, &o->ask.load.grain_ns, &why),
			     &why);
}

static int set_pids(struct fr_record_opts *o)
{
	struct fr_setting_error why = {};
	const char *list = o->session.pid;

	return *list ? session_taken("--pid", fr_setting_pids(list, o->pid, &o->ask.load.pid_cnt, &why), &why) : 0;
}

static int set_comms(struct fr_record_opts *o)
{
	struct fr_load_conf *l = &o->ask.load;
	struct fr_setting_error why = {};
	const char *list = o->session.comm;

	return *list ? session_taken("--comm", fr_setting_comms(list, l->comm, &l->comm_cnt, &why), &why) : 0;
}

static int set_cgroups(struct fr_record_opts *o)
{
	struct fr_load_conf *l = &o->ask.load;
	struct fr_setting_error why = {};
	const char *list = o->session.cgroup;
	int err = *list ? session_taken("--cgroup", fr_setting_cgroups(list, &l->cgroup_cnt, add_cgroup, l, &why), &why) : 0;

	if (err && o->config && !fr_record_gives(o, FR_CONFIG_KEY_cgroup))
		fr_err("that setting is in %s, section [Session]", o->config);
	return err;
}

static int select_events(struct fr_record_opts *o)
{
	const struct fr_config_list *event = &o->session.event;
	const char *nearest;
	bool rare;
	int err;
	u32 i;

	if (fr_select_profile(o->ask.profile, o->ask.load.enable, &rare)) {
		fr_err("no profile '%s': minimal, default or full", o->ask.profile);
		return -EINVAL;
	}
	for (i = 0; i < event->cnt; i++)
		if (fr_select_event(event->item[i], o->ask.load.enable, &nearest)) {
			fr_err("no event or group '%s': `flightrec events` lists all", event->item[i]);
			return -EINVAL;
		}
	err = fr_tpchoice_make(rare, event->item, event->cnt, &o->tp);
	if (err)
		return err;
	for (i = 0; i < o->tp.cnt; i++) {
		o->ask.load.enable[o->tp.chosen[i].nr] = true;
		o->ask.plan.rare |= o->tp.chosen[i].conf.tier == FR_TIER_RARE;
	}
	o->ask.load.tp = &o->tp;
	return 0;
}

/* -f replaces --pid, --comm and --cgroup, and applies to all events but task_rename, which is needed to read the others. */
static int set_filter(struct fr_record_opts *o)
{
	const char *expr = o->session.filter;
	struct fr_load_conf *l = &o->ask.load;
	struct fr_filter_error error;
	u32 nr;

	if (!*expr && !fr_record_gives(o, FR_CONFIG_KEY_filter))
		return 0;
	if (l->pid_cnt || l->comm_cnt || l->cgroup_cnt) {
		fr_err("-f cannot be used with --pid, --comm or --cgroup: put them into the expression");
		return -EINVAL;
	}
	if (fr_record_filter(expr, &o->filter, &error)) {
		fr_filter_say_at("-f", error.text, expr, error.at);
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

static int set_waits(struct fr_record_opts *o)
{
	bool *on = &o->ask.load.enable[FR_EV_wait];

	if (!*on && o->session.wait_min_ns && fr_record_gives(o, FR_CONFIG_KEY_wait_min_ns)) {
		fr_err("--wait-min says which waits are recorded, and none are: add -e wait");
		return -EINVAL;
	}
	*on = *on && o->session.wait_min_ns;
	o->ask.load.wait_min_ns = *on ? o->session.wait_min_ns : 0;
	return 0;
}

int fr_record_session(struct fr_record_opts *o)
{
	const struct fr_config *c = &o->session;
	bool subbuf = c->subbuf_sz != FR_DEF_SUBBUF_KIB * 1024ull || fr_record_gives(o, FR_CONFIG_KEY_subbuf_sz);
	int err;

	o->ask.name = c->name;
	o->ask.profile = c->profile;
	o->ask.redact = c->redact;
	o->ask.plan.cpu_sz = c->memory_sz;
	o->ask.plan.subbuf_sz = subbuf ? c->subbuf_sz : 0; /* the default is only a wish: the plan may choose smaller ones */
	o->ask.load.sample_hz = c->sample_hz;
	o->ask.load.thin_ns = c->thin_ns;
	o->ask.load.profile = c->cpu_profile;
	o->ask.load.task_cnt = FR_LOAD_TASK_CNT;
	o->ask.load.incident_cnt = fr_setting_incident_cnt(c->incident_cnt);
	o->ask.load.pid = o->pid;
	err = set_tiers(o) ?: set_clock(o) ?: set_pids(o) ?: set_comms(o) ?: set_cgroups(o);
	err = err ?: select_events(o) ?: set_filter(o);
	err = err ?: set_waits(o);
	o->ask.plan.waits = o->ask.load.wait_min_ns;
	o->ask.load.profile &= o->ask.load.enable[FR_EV_cpu_sample];
	return err;
}

/* ---- the settings as one text ---- */

/* " -m 16M"; malloc'ed, NULL: no memory. */
static char *session_option_text(const struct fr_config *c, u32 key)
{
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	int err = f ? fr_config_put_option(f, c, key) : -ENOMEM;
	char *text = f ? fr_memfile_end(&m, NULL) : NULL;

	if (!err)
		return text;
	free(text);
	return NULL;
}

/* Unless it is a default that nobody asked for. */
static int put_setting(FILE *f, const struct fr_record_opts *o, const struct fr_config *def, u32 key)
{
	char *text = session_option_text(&o->session, key), *plain = session_option_text(def, key);
	int err = text && plain ? 0 : -ENOMEM;
	bool wish = key == FR_CONFIG_KEY_subbuf_sz && fr_record_gives(o, FR_CONFIG_KEY_subbuf_sz);

	if (!err && (strcmp(text, plain) || wish))
		fputs(text, f);
	free(text);
	free(plain);
	return err;
}

static int put_settings(FILE *f, const struct fr_record_opts *o)
{
	const struct fr_config_key *k;
	struct fr_config def;
	int err = fr_config_init(&def);
	u32 i;

	if (err)
		return err;
	for (i = 0; (k = fr_config_key(i)) && !err; i++)
		if (k->new_ring && k->option.name && i != FR_CONFIG_KEY_name)
			err = put_setting(f, o, &def, i);
	fr_config_free(&def);
	return err;
}

char *fr_record_settings(const struct fr_record_opts *o)
{
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	int err = f ? put_settings(f, o) : -ENOMEM;
	char *text = f ? fr_memfile_end(&m, NULL) : NULL;

	if (err || (text && !*text)) {
		free(text);
		return err ? NULL : strdup("defaults");
	}
	if (text)
		memmove(text, text + 1, strlen(text));
	return text;
}
