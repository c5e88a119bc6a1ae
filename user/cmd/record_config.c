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

#include "cmd/record_opts.h"
#include "io/hook/hook.h"
#include "io/safepath.h"
#include "pure/err.h"
#include "pure/text/memfile.h"
#include "pure/text/units.h"
#include "pure/trigger/watch_set.h"

#define FILE_MAX (1u << 20)

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

/* As much as there is, up to FILE_MAX bytes. 0 or -errno. */
static int read_plain(const char *path, char *text, size_t *sz)
{
	FILE *f = open_plain(path);
	int err = 0;

	if (!f)
		return -errno;
	*sz = fread(text, 1, FILE_MAX, f);
	if (ferror(f))
		err = -errno;
	fclose(f);
	return err;
}

/* Is the file not what it should be? Everything else is the system's failure. */
static bool is_wrong_file(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -EACCES || err == -EPERM || err == -EISDIR || err == -ELOOP ||
	       err == -ENAMETOOLONG || err == -ENXIO;
}

/* 0; -EINVAL: the file is wrong; or why it could not be read now. */
static int read_all(const char *path, char **text, size_t *sz, char *why, size_t why_sz)
{
	int err;

	*text = malloc(FILE_MAX);
	err = *text ? read_plain(path, *text, sz) : -ENOMEM;
	if (!err && *sz < FILE_MAX)
		return 0;
	snprintf(why, why_sz, "cannot read the configuration %s: %s", path,
		 !err		  ? "it is larger than 1 MiB"
		 : err == -EINVAL ? "it is not a plain file"
		 : err == -EPERM
			 ? "somebody else may change it, or replace it in its directories: have root (or this user) own them, "
			   "and take from others the right to write to them (chown root, chmod go-w)"
		 : err == -ELOOP
			 ? "a symbolic link on the way leads in a circle, or belongs to somebody else: name the file itself"
			 : strerror(-err));
	free(*text);
	return !err || is_wrong_file(err) ? -EINVAL : err;
}

static int parse_file(struct fr_config *c, const char *path, char *why, size_t why_sz)
{
	struct fr_config_error error = {};
	char *text;
	size_t sz = 0;
	int err;

	err = read_all(path, &text, &sz, why, why_sz);
	if (err)
		return err;
	err = fr_config_parse(c, text, sz, &error);
	free(text);
	if (err == -EINVAL && error.line)
		snprintf(why, why_sz, "%s:%u: %s", path, error.line, error.text);
	else if (err)
		snprintf(why, why_sz, "%s: %s", path, err == -EINVAL ? error.text : strerror(-err));
	return err;
}

/* ---- the session's settings ---- */

static int set_text(struct fr_record_opts *o, int opt, const char *text)
{
	return text && *text ? fr_record_set(o, opt, text) : 0;
}

static int set_number(struct fr_record_opts *o, int opt, u64 v)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	return fr_record_set(o, opt, text);
}

static int set_list(struct fr_record_opts *o, int opt, const struct fr_config_list *list)
{
	int err = 0;
	u32 i;

	for (i = 0; i < list->cnt && !err; i++)
		err = fr_record_set(o, opt, list->item[i]);
	return err;
}

static int set_session(struct fr_record_opts *o)
{
	const struct fr_config *c = &o->session;
	int err = fr_record_set_name(o, c->name);

	err = err ?: set_text(o, 'p', c->profile);
	err = err ?: set_list(o, 'e', &c->event);
	err = err ?: set_number(o, 'm', c->memory_sz);
	/* the default is only a wish: the plan may choose smaller ones */
	err = err ?: c->subbuf_sz == o->def.subbuf_sz ? 0 : set_number(o, FR_OPT_SUBBUF, c->subbuf_sz);
	err = err ?: set_list(o, FR_OPT_TIER, &c->tier);
	err = err ?: set_text(o, FR_OPT_CLOCK, c->clock);
	err = err ?: set_number(o, FR_OPT_HZ, c->sample_hz);
	err = err ?: set_text(o, FR_OPT_PROFILE, c->cpu_profile ? "yes" : "no");
	err = err ?: set_text(o, FR_OPT_PID, c->pid);
	err = err ?: set_text(o, FR_OPT_COMM, c->comm);
	err = err ?: set_text(o, FR_OPT_CGROUP, c->cgroup);
	err = err ?: set_number(o, FR_OPT_INCIDENTS, c->incident_cnt);
	return err ?: set_text(o, 'f', c->filter);
}

int fr_record_read_config(struct fr_record_opts *o)
{
	char why[1024];
	int err = fr_config_init(&o->session);

	if (err) {
		fr_err_memory();
		return err;
	}
	o->ask.is_daemon = true;
	o->ask.reload = fr_record_live;
	err = parse_file(&o->session, o->config, why, sizeof(why));
	if (err) {
		fr_err("%s", why);
		return err;
	}
	err = set_session(o);
	if (err)
		fr_err("that setting is in %s, section [Session]", o->config);
	return err;
}

/* ---- settings that can change while it records ---- */

static int put_dir(struct fr_config *c, const char *dir)
{
	char *copy = strdup(dir);

	if (!copy)
		return -ENOMEM;
	free(c->dir);
	c->dir = copy;
	return 0;
}

/* Quoted, so that the file's parser takes it as it is. The caller frees it; NULL: no memory. */
static char *as_value(const char *text)
{
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);

	if (!f)
		return NULL;
	putc('"', f);
	for (; *text; text++)
		fprintf(f, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	putc('"', f);
	return fr_memfile_end(&m, NULL);
}

/*
 * As if the option stood at the end of the file. In [Session] the file's value is only taken away, so that a reload does not
 * report it as changed.
 */
static int put_over(struct fr_config *c, const struct fr_record_over *over, char *why, size_t why_sz)
{
	const char *value = strcmp(over->section, FR_RECORD_SESSION) ? over->value : "";
	struct fr_config_error error = {};
	char *text = NULL, *quoted;
	int len, err;

	if (!strcmp(over->option, "-o")) /* relative to the working directory, which a file's path must not be */
		return put_dir(c, over->value);
	if (strchr(value, '\n')) {
		snprintf(why, why_sz, "%s: it cannot have a line break", over->option);
		return -EINVAL;
	}
	quoted = as_value(value);
	len = quoted ? asprintf(&text, "[%s]\n%s=%s\n", over->section, over->key, quoted) : -1;
	free(quoted);
	if (len < 0)
		return -ENOMEM;
	err = fr_config_parse(c, text, len, &error);
	if (err)
		snprintf(why, why_sz, "%s: %s", over->option, err == -EINVAL ? error.text : strerror(-err));
	free(text);
	return err;
}

/* Found before anything is loaded; and no reload takes what the next start would refuse. */
static int check_user(const struct fr_config *c, char *why, size_t why_sz)
{
	if (!c->exec || !*c->exec || fr_hook_is_user(c->exec_user))
		return 0;
	snprintf(why, why_sz, "Notify.ExecUser: no user '%s' on this host", c->exec_user);
	return -EINVAL;
}

/* A rule given twice would only be reported twice. */
static bool has_rule(const struct fr_live_settings *live, const char *text)
{
	u32 i;

	for (i = 0; i < live->rule_cnt; i++)
		if (!strcmp(live->rule[i].text, text))
			return true;
	return false;
}

/* Can BPF evaluate the expression of an event rule? Returns as fr_trigger_parse(). */
static int check_watch(const struct fr_trigger *rule, const char *arch, struct fr_trigger_error *error)
{
	const char *expr = strstr(rule->text, rule->expr);
	struct fr_filter_error wrong;
	int err;

	if (rule->kind != FR_TRIGGER_event)
		return 0;
	err = fr_watch_check(rule->expr, arch, &wrong);
	if (err) {
		error->at = wrong.at + (expr ? expr - rule->text : 0);
		snprintf(error->text, sizeof(error->text), "%s", err == -ENOMEM ? "no memory" : wrong.text);
	}
	return err;
}

static int add_rule(struct fr_live_settings *live, const char *where, const char *text, char *why, size_t why_sz)
{
	struct fr_trigger *rule = &live->rule[live->rule_cnt];
	struct fr_trigger_error error = {};
	struct utsname un;
	int err;

	if (has_rule(live, text))
		return 0;
	if (live->rule_cnt == FR_TRIGGER_MAX) {
		snprintf(why, why_sz, "%s: more than %u triggers", where, FR_TRIGGER_MAX);
		return -EINVAL;
	}
	uname(&un);
	err = fr_trigger_parse(text, un.machine, rule, &error);
	err = err ?: check_watch(rule, un.machine, &error);
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

static int add_rules(const struct fr_record_opts *o, struct fr_live_settings *live, char *why, size_t why_sz)
{
	int err = 0;
	u32 i;

	for (i = 0; i < live->config.on.cnt && !err; i++)
		err = add_rule(live, "Trigger.On", live->config.on.item[i], why, why_sz);
	for (i = 0; i < o->on_cnt && !err; i++)
		err = add_rule(live, "--on", o->on[i], why, why_sz);
	return err;
}

/*
 * Without a file somebody is watching: no line in the journal. Quotas are for triggered snapshots; one that a person requested
 * removes nothing, and the age limit is for services.
 */
static void defaults_of_foreground(const struct fr_record_opts *o, struct fr_config *c)
{
	c->journal = false;
	c->max_age_ns = 0;
	if (o->on_cnt)
		return;
	c->max_files = 0;
	c->max_sz = 0;
	c->keep_free = 0;
}

static int fill(const struct fr_record_opts *o, struct fr_live_settings *out, char *why, size_t why_sz)
{
	int err = 0;
	u32 i;

	if (o->config)
		err = parse_file(&out->config, o->config, why, why_sz);
	else
		defaults_of_foreground(o, &out->config);
	for (i = 0; i < o->over_cnt && !err; i++)
		err = put_over(&out->config, &o->over[i], why, why_sz);
	err = err ?: check_user(&out->config, why, why_sz);
	return err ?: add_rules(o, out, why, why_sz);
}

int fr_record_live(void *opts, struct fr_live_settings *out, char *why, size_t why_sz)
{
	int err;

	memset(out, 0, sizeof(*out));
	snprintf(why, why_sz, "out of memory");
	err = fr_config_init(&out->config);
	return err ?: fill(opts, out, why, why_sz);
}
