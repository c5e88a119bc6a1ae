/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* record_config: recording by a configuration file, with the command line's options overriding it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "base/trigger/watch_set.h"
#include "cmd/record_opts.h"
#include "live/hook/hook.h"
#include "live/recorder/record.h"
#include "live/snapshot/askdir.h"
#include "sys/nss.h"
#include "sys/patience.h"
#include "sys/safepath.h"

#define FILE_MAX (128u << 10)

/* ---- the file ---- */

/*
 * Regular files only: a pipe would be empty on a reload, and block its reader. And only what nobody else can change: it names a
 * program that is run with these rights.
 */
static FILE *open_plain(const char *path)
{
	int fd = fr_safepath_config(path);
	FILE *f;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	f = fdopen(fd, "re");
	if (!f)
		close(fd);
	return f;
}

/* The file as its disk has it: as much as there is, up to FILE_MAX bytes. */
struct content {
	int err;
	u32 sz;
	char text[FILE_MAX];
};

static void read_plain(void *path, void *out)
{
	struct content *c = out;
	FILE *f = open_plain(path);

	c->err = f ? 0 : -errno;
	if (!f)
		return;
	c->sz = fread(c->text, 1, FILE_MAX, f);
	if (ferror(f))
		c->err = -errno;
	fclose(f);
}

/* Is the file not what it should be? Everything else is the system's failure. */
static bool is_wrong_file(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -EACCES || err == -EPERM || err == -EISDIR || err == -ELOOP ||
	       err == -ENAMETOOLONG || err == -ENXIO;
}

/* Its disk may not answer, and a recorder has more to do than to wait. s: as fr_askfile(). 0; or as config_read_all(). */
static int ask_for_it(struct fr_sess *s, const char *path, struct content *c)
{
	return fr_askfile(s, path, fr_patience_ns(FR_OUT_DIR_NS), read_plain, (void *)path, c, sizeof(*c)) ?: c->err;
}

/* 0 and *out, to be freed; -EINVAL: the file is wrong; or why it could not be read now. */
static int config_read_all(struct fr_sess *s, const char *path, struct content **out, char *why, size_t why_sz)
{
	struct content *c = calloc(1, sizeof(*c));
	int err = c ? ask_for_it(s, path, c) : -ENOMEM;

	if (!err && c->sz < FILE_MAX) {
		*out = c;
		return 0;
	}
	snprintf(why, why_sz, "cannot read the configuration %s: %s", path,
		 !err		     ? "it has 128 KiB or more"
		 : err == -EINVAL    ? "it is not a plain file"
		 : err == -ETIMEDOUT ? "its disk does not answer"
		 : err == -EPERM
			 ? "somebody else may change it, or replace it in its directories: have root (or this user) own them, "
			   "and take from others the right to write to them (chown root, chmod go-w)"
		 : err == -ELOOP
			 ? "a symbolic link on the way leads in a circle, or belongs to somebody else: name the file itself"
			 : strerror(-err));
	free(c);
	return !err || is_wrong_file(err) ? -EINVAL : err;
}

static int parse_file(struct fr_config *c, struct fr_sess *s, const char *path, char *why, size_t why_sz)
{
	struct fr_config_error error = {};
	struct content *content;
	int err = config_read_all(s, path, &content, why, why_sz);

	if (err)
		return err;
	err = fr_config_parse(c, content->text, content->sz, &error);
	free(content);
	if (err == -EINVAL && error.line)
		snprintf(why, why_sz, "%s:%u: %s", path, error.line, error.text);
	else if (err)
		snprintf(why, why_sz, "%s: %s", path, err == -EINVAL ? error.text : strerror(-err));
	return err;
}

/* ---- options on top ---- */

bool fr_record_gives(const struct fr_record_opts *o, enum fr_config_key_nr key)
{
	u32 i;

	for (i = 0; i < o->given_cnt; i++)
		if (o->given[i].key == key)
			return true;
	return false;
}

static int config_put_options(const struct fr_record_opts *o, struct fr_config *c, char *why, size_t why_sz)
{
	struct fr_config_error error = {};
	u32 i;
	int err = 0;

	for (i = 0; i < o->given_cnt && !err; i++)
		err = fr_config_set_option(c, o->given[i].key, o->given[i].value, &error);
	if (err)
		snprintf(why, why_sz, "%s", err == -EINVAL ? error.text : strerror(-err));
	return err;
}

/* What defaults_of_foreground() leaves to whom. */
const char *fr_record_default_with(enum fr_config_key_nr key)
{
	switch (key) {
	case FR_CONFIG_KEY_max_age_ns:
		return " with --config";
	case FR_CONFIG_KEY_max_files:
	case FR_CONFIG_KEY_max_sz:
	case FR_CONFIG_KEY_keep_free:
		return " with --on or --config";
	default:
		return "";
	}
}

/*
 * Without a file somebody is watching: no line in the journal. Quotas are for triggered snapshots; one that a person requested
 * removes nothing, and the age limit is for services.
 */
static void defaults_of_foreground(const struct fr_record_opts *o, struct fr_config *c)
{
	c->journal = false;
	c->max_age_ns = 0;
	if (fr_record_gives(o, FR_CONFIG_KEY_on))
		return;
	c->max_files = 0;
	c->max_sz = 0;
	c->keep_free = 0;
}

int fr_record_config(const struct fr_record_opts *o, struct fr_sess *s, struct fr_config *c, char *why, size_t why_sz)
{
	int err = fr_config_init(c);

	snprintf(why, why_sz, "out of memory");
	if (err)
		return err;
	if (o->config)
		err = parse_file(c, s, o->config, why, why_sz);
	else
		defaults_of_foreground(o, c);
	return err ?: config_put_options(o, c, why, why_sz);
}

/* ---- settings that can change while it records ---- */

/* Found before anything is loaded; and no reload takes what the next start would refuse. */
static int check_user(const struct fr_config *c, struct fr_sess *s, char *why, size_t why_sz)
{
	int err = c->exec && *c->exec ? fr_hook_check_user(c->exec_user, fr_sess_give_up_rings, s) : 0;

	if (err == -ENOENT)
		snprintf(why, why_sz, "Notify.ExecUser: no user '%s' on this host", c->exec_user);
	else if (err)
		snprintf(why, why_sz, "Notify.ExecUser: cannot look up user '%s': %s", c->exec_user, strerror(-err));
	return err == -ENOENT ? -EINVAL : err;
}

/* A rule given twice would only be reported twice. */
static bool config_has_rule(const struct fr_live_settings *live, const char *text)
{
	u32 i;

	for (i = 0; i < live->rule_cnt; i++)
		if (!strcmp(live->rule[i].text, text))
			return true;
	return false;
}

/* Can BPF evaluate the expression of an event rule? Returns as fr_trigger_parse(). */
static int config_check_watch(const struct fr_trigger *rule, const char *arch, struct fr_trigger_error *error)
{
	const char *expr = strstr(rule->text, rule->expr);
	struct fr_filter_error wrong;
	int err;

	if (rule->kind != FR_TRIGGER_event || *rule->tp) /* of a tracepoint, who loads it knows the fields */
		return 0;
	err = fr_watch_check(rule->expr, arch, &wrong);
	if (err) {
		error->at = wrong.at + (expr ? expr - rule->text : 0);
		snprintf(error->text, sizeof(error->text), "%s", err == -ENOMEM ? "no memory" : wrong.text);
	}
	return err;
}

static int config_find_user(void *s, const char *name, u32 *uid)
{
	return fr_nss_uid(name, fr_sess_give_up_rings, s, uid);
}

static int add_rule(struct fr_live_settings *live, struct fr_sess *s, const char *where, const char *text, char *why,
		    size_t why_sz)
{
	struct fr_trigger *rule = &live->rule[live->rule_cnt];
	struct fr_trigger_error error = {};
	struct utsname un;
	int err;

	if (config_has_rule(live, text))
		return 0;
	if (live->rule_cnt == FR_TRIGGER_MAX) {
		snprintf(why, why_sz, "%s: more than %u triggers", where, FR_TRIGGER_MAX);
		return -EINVAL;
	}
	uname(&un);
	err = fr_trigger_parse(text, un.machine, rule, &error);
	err = err ?: fr_trigger_find_user(rule, config_find_user, s, &error);
	err = err ?: config_check_watch(rule, un.machine, &error);
	if (!err && rule->kind == FR_TRIGGER_holdoff) {
		error.at = 0;
		snprintf(error.text, sizeof(error.text),
			 "a recorder does not look for holdoffs: `flightrec watch --on %.64s` does, beside it", text);
		err = -EINVAL;
	}
	if (err)
		snprintf(why, why_sz, "%s: %s\n  %s\n  %*s^", where, error.text, text, (int)error.at, "");
	else
		live->rule_cnt++;
	return err;
}

/* Those of the file have a line there. */
static int add_rules(struct fr_live_settings *live, struct fr_sess *s, char *why, size_t why_sz)
{
	const struct fr_config_list *on = &live->config.on;
	int err = 0;
	u32 i;

	for (i = 0; i < on->cnt && !err; i++)
		err = add_rule(live, s, on->line[i] ? "Trigger.On" : "--on", on->item[i], why, why_sz);
	return err;
}

int fr_record_live(void *opts, struct fr_sess *s, struct fr_live_settings *out, char *why, size_t why_sz)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = fr_record_config(opts, s, &out->config, why, why_sz);
	err = err ?: check_user(&out->config, s, why, why_sz);
	return err ?: add_rules(out, s, why, why_sz);
}
