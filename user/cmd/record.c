/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/config/default.h"
#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/nextopt.h"
#include "cmd/options.h"
#include "cmd/record_opts.h"
#include "live/session/load.h"

/* An option of the configuration's table. */
static int cmd_record_give(const struct fr_option *option, void *to, const char *value)
{
	struct fr_record_opts *o = to;

	if (o->given_cnt == FR_RECORD_GIVEN_MAX) {
		fr_err("too many options");
		return -EINVAL;
	}
	if (option->at == FR_CONFIG_KEY_filter && fr_take_filter(&o->filter_option, value))
		return -EINVAL;
	o->given[o->given_cnt++] = (struct fr_record_given){option->at, value};
	return 0;
}

static int set_verbose(const struct fr_option *option, void *to, const char *value)
{
	(void)option;
	(void)to;
	(void)value;
	fr_load_words(true);
	return 0;
}

/* Those that are no key of the configuration. */
static const struct fr_option own[] = {
	FR_OPTION(0, "config", "FILE", "record as this file says: flightrec.conf(5)", fr_option_text,
		  offsetof(struct fr_record_opts, config), .words = "@file",
		  .more = "Options on the command line take precedence. SIGHUP or `flightrec reload` reads the file again. "
			  "When the process ends, the session goes on recording."),
	FR_OPTION(0, "check-config", NULL, "only print what the file means, or what is wrong with it", fr_option_flag,
		  offsetof(struct fr_record_opts, check_config),
		  .more = "This includes a test, as the calling user, whether snapshots can be written to its `Directory`; of "
			  "one whose disk does not answer it only warns."),
	FR_OPTION(0, "detach", NULL, "leave a recorder in the background, and return when it is ready", fr_option_flag,
		  offsetof(struct fr_record_opts, ask.detach),
		  .more = "It does all that one in the foreground does. What it has to say goes to standard error where "
			  "that is a file, and is lost else; `flightrec status` and the incident log tell of it. If it is "
			  "ended by a signal, the session goes on recording without it; `flightrec stop` ends both."),
	FR_OPTION(0, "unattended", NULL, "leave the session recording without a recorder, and return at once", fr_option_flag,
		  offsetof(struct fr_record_opts, ask.unattended),
		  .more = "Nobody is left then to act on a trigger, a quota, `--exec` or `--budget`: they are refused beside "
			  "it. No crash takes a snapshot, incidents are not saved, the host's counters are not read, and once "
			  "the profile's tables are full, samples are lost."),
	FR_OPTION(0, "keep", NULL, "leave it recording when interrupted, or when COMMAND has ended", fr_option_flag,
		  offsetof(struct fr_record_opts, ask.keep)),
	FR_OPTION('v', "verbose", NULL, "the kernel's own message when it refuses a program", set_verbose, 0),
	{},
};

_Static_assert(FR_CONFIG_KEY_CNT + sizeof(own) / sizeof(own[0]) <= FR_OPTION_MAX, "all options fit");

/* What an option of the configuration does, and what holds without it. */
static char *cmd_record_option_text(u32 key)
{
	const struct fr_config_key *k = fr_config_key(key);
	const char *with = fr_record_default_with(key), *end = *k->def ? ")" : "";
	bool is_list = !strcmp(k->type, "list");
	char *text, def[64] = "";

	if (*k->def)
		snprintf(def, sizeof(def), " (default%s: ", with);
	if (asprintf(&text, "%s%s%s%s%s", k->doc, is_list ? "; repeatable" : "", def, k->def, end) < 0)
		return NULL;
	return text;
}

/* The table of options: those of the configuration, then our own. */
static int cmd_record_parse_options(struct fr_record_opts *o, int argc, char **argv)
{
	struct fr_option all[FR_CONFIG_KEY_CNT + 2] = {};
	const struct fr_options options = {
		.head = "Usage: flightrec record [options] [-- COMMAND...]\n"
			"Record what every CPU does, until interrupted or while COMMAND runs.\n"
			"\n",
		.option = all,
		.foot = "\n"
			"SIGUSR1 takes a snapshot, SIGINT and SIGTERM end the recording.\n"
			"Example: flightrec record -e syscall --comm 'nginx*' --on crash\n",
		.stop = true,
	};
	const struct fr_config_key *k;
	u32 i, cnt = 0;
	int status;

	for (i = 0; (k = fr_config_key(i)); i++)
		if (k->option.name)
			all[cnt++] = (struct fr_option)FR_OPTION(k->option.letter, k->option.name, k->option.arg,
								 cmd_record_option_text(i), cmd_record_give, i,
								 .words = k->option.words, .more = k->option.more);
	all[cnt] = (struct fr_option)FR_OPTION_GROUP(own, 0);
	status = fr_options_parse(&options, argc, argv, o);
	while (cnt)
		free((char *)all[--cnt].help);
	return status;
}

static bool session_knows(u32 key)
{
	return fr_config_key(key)->new_ring || key == FR_CONFIG_KEY_dir;
}

/* One that stays in the terminal's foreground has its command and its file; these do not. */
static int check_leaving(const struct fr_record_opts *o)
{
	const char *how = o->ask.unattended ? "--unattended" : "--detach";

	if (!o->ask.detach && !o->ask.unattended)
		return 0;
	if (o->ask.detach && o->ask.unattended) {
		fr_err("--detach leaves a recorder in the background, --unattended leaves none: give one of them");
		return -EINVAL;
	}
	if (o->ask.command) {
		fr_err("%s returns while the recording goes on: it cannot be used with a command", how);
		return -EINVAL;
	}
	if (o->config) {
		fr_err("--config is for a recorder that a service manager keeps: it cannot be used with %s", how);
		return -EINVAL;
	}
	return 0;
}

static int check_unattended(const struct fr_record_opts *o)
{
	char called[FR_CONFIG_CALLED_SZ];
	u32 i;

	if (!o->ask.unattended)
		return 0;
	if (o->live.rule_cnt) {
		fr_err("--unattended leaves nobody to act on trigger '%s': --detach leaves a recorder in the background",
		       o->live.rule[0].text);
		return -EINVAL;
	}
	for (i = 0; i < o->given_cnt; i++)
		if (!session_knows(o->given[i].key)) {
			fr_err("--unattended leaves nobody to act on %s: --detach leaves a recorder in the background",
			       fr_config_called(o->given[i].key, called));
			return -EINVAL;
		}
	return 0;
}

static int cmd_record_check(struct fr_record_opts *o)
{
	char why[1024];
	int err;

	err = fr_record_config(o, NULL, &o->session, why, sizeof(why));
	if (err) {
		fr_err("%s", why);
		return err;
	}
	o->settings = fr_record_settings(o);
	if (!o->settings) {
		fr_err_memory();
		return -ENOMEM;
	}
	o->ask.settings = o->settings;
	err = fr_record_session(o);
	if (err)
		return err;
	if (o->config && o->ask.command) {
		fr_err("--config is for a recorder that stays: it cannot be used with a command");
		return -EINVAL;
	}
	err = check_leaving(o);
	if (err)
		return err;
	err = fr_record_live(o, NULL, &o->live, why, sizeof(why));
	if (err) {
		fr_err_lines("%s", why);
		return err;
	}
	return check_unattended(o);
}

/* What stands behind the options. */
static int cmd_record_find_command(struct fr_record_opts *o, int argc, char **argv)
{
	bool marked = !strcmp(argv[optind - 1], "--");

	if (optind < argc && !marked) {
		fr_err("'%s' is not an option: a command to record goes after --", argv[optind]);
		return -EINVAL;
	}
	if (optind == argc && marked) {
		fr_err("a command to record is missing after --");
		return -EINVAL;
	}
	if (optind < argc)
		o->ask.command = argv + optind;
	return 0;
}

static int cmd_record_run(struct fr_record_opts *o)
{
	if (o->check_config)
		return fr_record_check_config(o);
	o->ask.live = &o->live;
	return fr_record(&o->ask);
}

static void free_opts(struct fr_record_opts *o)
{
	fr_config_free(&o->live.config);
	free(o->live.given_dir);
	fr_config_free(&o->session);
	fr_tpchoice_free(&o->tp);
	free(o->settings);
	free(o);
}

int fr_cmd_record(int argc, char **argv)
{
	struct fr_record_opts *o = calloc(1, sizeof(*o));
	int status, err;

	if (!o)
		return fr_err_memory();
	status = cmd_record_parse_options(o, argc, argv);
	if (status < 0) {
		o->ask.reload_arg = o;
		o->ask.is_daemon = o->config;
		o->ask.reload = o->config ? fr_record_live : NULL;
		err = cmd_record_find_command(o, argc, argv) ?: cmd_record_check(o);
		status = !err ? cmd_record_run(o) : err == -EINVAL ? FR_EXIT_USAGE : FR_EXIT_FAIL;
	}
	free_opts(o);
	return status;
}
