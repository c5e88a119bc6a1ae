/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/text/nearest.h"
#include "cmd/cmd.h"
#include "cmd/memopts.h"
#include "live/session/load.h"
#include "sys/fd.h"
#include "sys/heap.h"
#include "sys/stdfd.h"
#include "version.h"

static const struct {
	const char *name;
	char *full; /* as getopt prefixes its messages with it */
	int (*run)(int argc, char **argv);
	const char *doc;
	enum { SMALL, LARGE } memory; /* LARGE: taken by the MiB, heap.h */
	enum { OTHER, READS } work;   /* READS: what files hold decides how much, memopts.h */
} commands[] = {
	{"record", "flightrec record", fr_cmd_record, "record this host into memory, always the last moments", SMALL, OTHER},
	{"dump", "flightrec dump", fr_cmd_dump, "take a snapshot of a session now", LARGE, OTHER},
	{"tail", "flightrec tail", fr_cmd_tail, "print the events of a session as they come", SMALL, READS},
	{"watch", "flightrec watch", fr_cmd_watch, "find holdoffs: what keeps a CPU from high-priority threads", SMALL, OTHER},
	{"profile", "flightrec profile", fr_cmd_profile, "who used the CPUs: now, or in the hour before a snapshot", SMALL,
	 READS},
	{"incidents", "flightrec incidents", fr_cmd_incidents, "deaths, OOM kills, oopses, triggers: what is kept for good",
	 SMALL, READS},
	{"status", "flightrec status", fr_cmd_status, "what sessions record, lose and cost", SMALL, OTHER},
	{"follow", "flightrec follow", fr_cmd_follow, "follow a recorder: triggers and snapshots as they come", SMALL, OTHER},
	{"reload", "flightrec reload", fr_cmd_reload, "make a recorder read its configuration again", SMALL, OTHER},
	{"mark", "flightrec mark", fr_cmd_mark, "mark this moment in the sessions that record such marks", SMALL, OTHER},
	{"stop", "flightrec stop", fr_cmd_stop, "end a session", SMALL, OTHER},
	{"report", "flightrec report", fr_cmd_report, "what happened, in a minute", LARGE, READS},
	{"stat", "flightrec stat", fr_cmd_stat, "count and add up events: by program, call, time, file", LARGE, READS},
	{"top", "flightrec top", fr_cmd_top, "a snapshot on the terminal: timeline, tables, search", LARGE, READS},
	{"replay", "flightrec replay", fr_cmd_replay, "print the events of snapshots in order", LARGE, READS},
	{"diff", "flightrec diff", fr_cmd_diff, "two snapshots or windows: what changed most", LARGE, READS},
	{"view", "flightrec view", fr_cmd_view, "make a page for a browser from a snapshot, as `export --to html`", LARGE,
	 READS},
	{"export", "flightrec export", fr_cmd_export, "write events in the format of another tool", LARGE, READS},
	{"info", "flightrec info", fr_cmd_info, "what a snapshot holds, and what it lacks", SMALL, READS},
	{"verify", "flightrec verify", fr_cmd_verify, "check snapshots, every byte, as `info --verify`", LARGE, READS},
	{"symbols", "flightrec symbols", fr_cmd_symbols, "what stacks need for names, and what is missing, as `info --symbols`",
	 LARGE, READS},
	{"list", "flightrec list", fr_cmd_list, "snapshots, and the core files of the same deaths", SMALL, READS},
	{"cut", "flightrec cut", fr_cmd_cut, "make a smaller snapshot: a window, a CPU, a process", LARGE, READS},
	{"merge", "flightrec merge", fr_cmd_merge, "make one file of several snapshots", LARGE, READS},
	{"recover", "flightrec recover", fr_cmd_recover, "make a snapshot of a crash dump of the kernel", LARGE, READS},
	{"events", "flightrec events", fr_cmd_events, "all events and their fields", SMALL, OTHER},
	{"doctor", "flightrec doctor", fr_cmd_doctor, "what this kernel offers, and what is missing", SMALL, OTHER},
};

#define CMD_CNT (sizeof(commands) / sizeof(commands[0]))

/* What stands before a command in the help: a group begins with it. */
static const struct {
	const char *first, *head;
} groups[] = {
	{"record", "Record:"},
	{"status", "Sessions and their recorders, also as `flightrec session status` and so on:"},
	{"report", "Read a snapshot:"},
	{"info", "Keep snapshots:"},
	{"events", "Look up:"},
};

static void begin_group(FILE *to, const char *command)
{
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(groups[i].first, command))
			fprintf(to, "%s%s\n", i ? "\n" : "", groups[i].head);
}

static void usage(FILE *to)
{
	size_t i;

	fputs("Usage: flightrec COMMAND [OPTION]...\n"
	      "An always-on flight recorder: the last seconds before something went wrong.\n\n",
	      to);
	for (i = 0; i < CMD_CNT; i++) {
		begin_group(to, commands[i].name);
		fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].doc);
	}
	fputs("\n`flightrec COMMAND --help` tells more, as does `flightrec help COMMAND`; `flightrec version` says which this "
	      "is.\n"
	      "Example: flightrec record --detach; sleep 10; flightrec dump -o now.flight; flightrec report now.flight\n",
	      to);
}

static int main_find_command(const char *name)
{
	size_t i;

	for (i = 0; i < CMD_CNT; i++) {
		if (!strcmp(commands[i].name, name))
			return i;
	}
	return -1;
}

/* Commands by a name of two words. */
static const struct {
	const char *first, *second, *command;
} families[] = {
	{"session", "status", "status"}, {"session", "follow", "follow"}, {"session", "reload", "reload"},
	{"session", "stop", "stop"},	 {"info", "--verify", "verify"},  {"info", "--symbols", "symbols"},
};

/* The command that two words name, as one; NULL: none. */
static const char *find_family(const char *first, const char *second)
{
	size_t i;

	for (i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (!strcmp(families[i].first, first) && !strcmp(families[i].second, second))
			return families[i].command;
	return NULL;
}

static void say_unknown(const char *name)
{
	struct fr_nearest near = {.to = name};
	size_t i;

	for (i = 0; i < CMD_CNT; i++)
		fr_nearest_consider(&near, commands[i].name);
	if (fr_nearest_likely(&near))
		fr_err("there is no command '%s': did you mean %s? `flightrec --help` lists them", name, near.name);
	else
		fr_err("there is no command '%s': `flightrec --help` lists them", name);
}

/* ---- completion ---- */

static void main_offer(const char *word, const char *begin)
{
	if (!strncmp(word, begin, strlen(begin)))
		puts(word);
}

static void offer_families(const char *first, const char *begin)
{
	size_t i;

	for (i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (!strcmp(families[i].first, first))
			main_offer(families[i].second, begin);
}

static void offer_commands(const char *begin)
{
	static const char *const others[] = {"session", "help", "version", "--help", "--version"};
	size_t i;

	for (i = 0; i < CMD_CNT; i++)
		main_offer(commands[i].name, begin);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		main_offer(others[i], begin);
}

/*
 * --complete WORD...: words for the last one, a line each (cmd/options_complete.c). Two words may be one command; of the words
 * of a command, its own table tells.
 */
static int main_complete(int argc, char **argv)
{
	static char form[] = "--help=complete";
	const char *name;
	int i;

	if (argc && !strcmp(argv[0], "help")) {
		argc--;
		argv++;
		if (argc == 1)
			offer_commands(argv[0]);
		else if (argc == 2)
			offer_families(argv[0], argv[1]);
		return FR_EXIT_OK;
	}
	if (argc < 2) {
		offer_commands(argc ? argv[0] : "");
		return FR_EXIT_OK;
	}
	if (argc == 2)
		offer_families(argv[0], argv[1]);
	name = argc > 2 ? find_family(argv[0], argv[1]) : NULL;
	if (name) {
		argc--;
		argv++;
	}
	i = main_find_command(name ?: argv[0]);
	if (i < 0)
		return FR_EXIT_OK;
	argv[-1] = commands[i].full;
	argv[0] = form;
	return commands[i].run(argc + 1, argv - 1);
}

/* Without a command: options of the program itself. */
static int run_option(const char *arg)
{
	if (!strcmp(arg, "--help") || !strcmp(arg, "-h") || !strcmp(arg, "help")) {
		usage(stdout);
		return FR_EXIT_OK;
	}
	if (!strcmp(arg, "--version") || !strcmp(arg, "-V") || !strcmp(arg, "version")) {
		puts("flightrec " FR_VERSION);
		return FR_EXIT_OK;
	}
	if (!strcmp(arg, "session"))
		fr_err("name what to do with the session: flightrec session status, follow, reload or stop");
	else
		say_unknown(arg);
	return FR_EXIT_USAGE;
}

/* Help and versions are in stdio's buffer until here. If the pipe was closed, its reader has seen enough. */
static int written(int status)
{
	if (status != FR_EXIT_OK || !fflush(stdout) || errno == EPIPE)
		return status;
	fr_err_errno(-errno, "cannot write the output");
	return FR_EXIT_FAIL;
}

int main(int argc, char **argv)
{
	const char *name;
	int i;

	fr_stdfd_reserve();
	fr_fd_raise_limit();
	fr_load_words(false);
	if (argc < 2) {
		usage(stderr);
		return FR_EXIT_USAGE;
	}
	/* Make a file size limit (ulimit -f, LimitFSIZE=) a write error, which is reported and leaves no partial file. */
	signal(SIGXFSZ, SIG_IGN);
	/* Nor does a recorder end, or a snapshot, because nobody reads its messages any more. */
	signal(SIGPIPE, SIG_IGN);
	if (!strcmp(argv[1], "--complete"))
		return written(main_complete(argc - 2, argv + 2));
	if (argc > 2 && !strcmp(argv[1], "help")) { /* help COMMAND, also of two words */
		if (argc > 3 && find_family(argv[2], argv[3]))
			argv[2] = (char *)find_family(argv[2], argv[3]);
		argv[1] = argv[2];
		argv[2] = "--help";
		argc = 3;
	}
	name = argc > 2 ? find_family(argv[1], argv[2]) : NULL;
	if (name) {
		argc--;
		argv++;
	}
	i = main_find_command(name ?: argv[1]);
	if (i < 0)
		return written(run_option(argv[1]));
	if (commands[i].work == READS)
		fr_memopts_begin();
	if (commands[i].memory == LARGE)
		fr_heap_huge_pages();
	argv[1] = commands[i].full;
	return written(commands[i].run(argc - 1, argv + 1));
}
