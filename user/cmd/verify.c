/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/text/escape.h"
#include "base/text/out.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "read/replay/check.h"
#include "read/replay/replay.h"
#include "read/snapfile/snapfile_members.h"

static const struct fr_option table[] = {
	FR_OPTION_GROUP(fr_coloropts, 0),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec verify [options] FILE...\n"
		"Check snapshots: every checksum, event, order and count.\n"
		"Prints a line for each file: OK and what it holds, or DAMAGED and findings.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Exit status: 0 all sound; 1 a file cannot be read; 2 usage; 3 a file is damaged.\n"
		"Example: flightrec verify " FR_DEF_DIR "/*.flight\n",
	.words = "@snapshot",
};

static void say_path(struct fr_out *o, const char *path, const char *verdict, enum fr_paint p)
{
	fr_escape_text(o, path, strlen(path));
	fr_out_str(o, ": ");
	fr_out_paint(o, p);
	fr_out_str(o, verdict);
	fr_out_paint(o, FR_PAINT_NONE);
}

static void say_result(struct fr_out *o, const char *path, const struct fr_snap *s, const struct fr_check *c)
{
	char size[32];
	size_t i;

	say_path(o, path, c->finding_cnt ? "DAMAGED" : "OK", c->finding_cnt ? FR_PAINT_RED : FR_PAINT_GREEN);
	fr_out_printf(o, ", %llu event%s and %llu stack%s in %zu chunk%s, %s", c->event_cnt, fr_plural(c->event_cnt),
		      c->stack_cnt, fr_plural(c->stack_cnt), c->chunk_cnt, fr_plural(c->chunk_cnt),
		      fr_show_size(fr_snap_size(s), size, sizeof(size)));
	if (c->finding_cnt)
		fr_out_printf(o, "; %zu finding%s:", c->finding_cnt, fr_plural(c->finding_cnt));
	fr_out_char(o, '\n');
	for (i = 0; i < c->finding_cnt; i++) {
		fr_out_str(o, "  ");
		fr_escape_text(o, c->finding[i], strlen(c->finding[i]));
		fr_out_char(o, '\n');
	}
}

static int verify_member(struct fr_out *o, const char *path, const struct fr_members *m, size_t i)
{
	struct fr_check check = {0};
	struct fr_snap *s;
	int err = fr_snap_open_member(path, m, i, &s), status;

	if (err) {
		fr_snap_say_error(path, err);
		return err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	}
	err = fr_check_snap(s, &check);
	if (err)
		fr_err_errno(err, "cannot verify %s", path);
	else
		say_result(o, path, s, &check);
	status = err ? FR_EXIT_FAIL : check.finding_cnt ? FR_EXIT_CORRUPT : FR_EXIT_OK;
	fr_check_free(&check);
	fr_snap_close(s);
	return status;
}

/* A file that cannot be read at all is worse than a damaged one. */
static int worse(int a, int b)
{
	if (a == FR_EXIT_FAIL || b == FR_EXIT_FAIL)
		return FR_EXIT_FAIL;
	return a > b ? a : b;
}

/* One line per snapshot in the file. */
static int verify(struct fr_out *o, const char *path)
{
	struct fr_members m;
	int err = fr_members_find(path, &m), status = FR_EXIT_OK;
	size_t i;

	if (err) {
		fr_snap_say_error(path, err);
		status = FR_EXIT_FAIL;
	}
	for (i = 0; !err && i < m.cnt; i++)
		status = worse(status, verify_member(o, path, &m, i));
	fr_members_free(&m);
	return status;
}

int fr_cmd_verify(int argc, char **argv)
{
	static struct fr_out out;
	int status = fr_options_parse(&options, argc, argv, NULL);

	if (status >= 0)
		return status;
	if (optind == argc) {
		fr_err("name the snapshot to be verified: flightrec verify FILE");
		return FR_EXIT_USAGE;
	}
	status = FR_EXIT_OK;
	fr_out_init(&out, STDOUT_FILENO);
	for (; optind < argc; optind++)
		status = worse(status, verify(&out, argv[optind]));
	return fr_err_finish(&out, status);
}
