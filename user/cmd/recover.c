/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "live/snapshot/recover.h"

static const struct fr_option table[] = {
	FR_OPTION('o', "output", "OUT", "the new file; one that exists is not replaced", fr_option_text,
		  offsetof(struct fr_recover_ask, path), .words = "@file"),
	FR_OPTION('n', "name", "NAME", "the session, if there were several", fr_option_text,
		  offsetof(struct fr_recover_ask, session)),
	FR_OPTION(0, "kallsyms", "FILE",
		  "names for stacks: that kernel's System.map, or a copy of\n"
		  "its /proc/kallsyms; by default this kernel's, if it is the same",
		  fr_option_text, offsetof(struct fr_recover_ask, kallsyms), .words = "@file"),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec recover [options] -o OUT VMCORE\n"
		"Make a snapshot of what a crash dump of the kernel has of a session.\n"
		"\n"
		"After a panic the history is in the dump that kdump or the hypervisor wrote, in ELF or\n"
		"compressed. In kdump's own kernel, /proc/vmcore will do: the snapshot is small, and\n"
		"there in seconds. What had no time to be written, or is not in the dump, is a hole.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Exit status: 0; 1 failure; 2 usage; 3 VMCORE is no crash dump, or parts are missing: the\n"
		"rest was recovered; 4 it has no such session.\n"
		"Example: flightrec recover -o panic.flight /var/crash/202611270141/vmcore\n",
	.words = "@file",
};

int fr_cmd_recover(int argc, char **argv)
{
	struct fr_recover_ask ask = {0};
	int status = fr_options_parse(&options, argc, argv, &ask);

	if (status >= 0)
		return status;
	if (!ask.path || !*ask.path || !strcmp(ask.path, "-")) {
		fr_err("name the new file, for a snapshot cannot be piped: flightrec recover -o OUT VMCORE");
		return FR_EXIT_USAGE;
	}
	if (optind + 1 != argc) {
		fr_err("name one crash dump: flightrec recover -o %s VMCORE", ask.path);
		return FR_EXIT_USAGE;
	}
	ask.vmcore = argv[optind];
	if (ask.kallsyms && access(ask.kallsyms, R_OK)) {
		fr_err_errno(-errno, "cannot read %s", ask.kallsyms);
		return FR_EXIT_FAIL;
	}
	return fr_recover(&ask);
}
