/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/info.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "flow/replay/replay.h"
#include "io/snapfile/snapfile_members.h"

#define FINDINGS_MOST 10

static const char help[] = "Usage: flightrec info FILE [--json]\n"
			   "What a snapshot holds: why and where it was taken, from when on each CPU's\n"
			   "history is complete, and what it lacks: losses, holes, forgotten tasks.\n"
			   "\n"
			   "      --json  the same as JSON\n"
			   "\n"
			   "Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read was printed.\n"
			   "Example: flightrec info --json x.flight | jq '.trigger, .cpus[].lost'\n";

static const struct option options[] = {
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{},
};

#define L(nr, name, doc) #name,
const char *const fr_lost_words[FR_LOST_CNT] = {FR_LOSTS(L)};
#undef L

const char *const fr_hole_words[FR_HOLE_CNT] = {
	[FR_HOLE_overwritten] = "overwritten", [FR_HOLE_inflight] = "inflight", [FR_HOLE_damaged] = "damaged"};

void fr_info_names(const struct fr_snap *s, struct fr_info_names *n)
{
	size_t cnt, i;
	const struct fr_snap_symbol *y = fr_snap_symbols(s, &cnt);
	const struct fr_snap_mapping *m;

	*n = (struct fr_info_names){.stacks = fr_snap_frame_stack_cnt(s)};
	for (i = 0; i < cnt; i++)
		*(y[i].pid ? &n->jit : &n->kernel) += 1;
	m = fr_snap_mappings(s, &n->mappings);
	for (i = 0; i < n->mappings; i++)
		n->procs += !i || m[i].pid != m[i - 1].pid;
}

bool fr_info_pair(const char **at, const char **name, int *name_len, u64 *v)
{
	const char *equals = *at ? strchr(*at, '=') : NULL;
	char *end;

	if (!equals)
		return false;
	*name = *at;
	*name_len = equals - *at;
	*v = strtoull(equals + 1, &end, 10);
	*at = end + (*end == ';');
	return end > equals + 1;
}

static int info_member(struct fr_out *out, const char *path, const struct fr_members *members, size_t i, bool json)
{
	struct fr_summary *m;
	struct fr_snap *s;
	int err = fr_snap_open_member(path, members, i, &s), status = FR_EXIT_OK;

	if (err) {
		fr_snap_say_error(path, err);
		return err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	}
	if (fr_summary_new(s, &m)) {
		fr_err("out of memory");
		fr_snap_close(s);
		return FR_EXIT_FAIL;
	}
	if (i && !json)
		fr_out_char(out, '\n');
	if (json)
		fr_info_json(out, s, m);
	else
		fr_info_text(out, s, m, path);
	if (fr_snap_say_damage(s, path, FINDINGS_MOST))
		status = FR_EXIT_CORRUPT;
	fr_summary_free(m);
	fr_snap_close(s);
	return status;
}

/* Each snapshot in the file. */
static int info(const char *path, bool json)
{
	static struct fr_out out;
	struct fr_members m;
	int err = fr_members_find(path, &m), status = FR_EXIT_OK, got;
	size_t i;

	if (err)
		fr_snap_say_error(path, err);
	fr_out_init(&out, STDOUT_FILENO);
	for (i = 0; !err && i < m.cnt; i++) {
		got = info_member(&out, path, &m, i, json);
		status = got > status || got == FR_EXIT_FAIL ? got : status;
	}
	fr_members_free(&m);
	return fr_out_finish(&out, err ? FR_EXIT_FAIL : status);
}

int fr_cmd_info(int argc, char **argv)
{
	bool json = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return FR_EXIT_OK;
		}
		if (opt != 'j')
			return FR_EXIT_USAGE;
		json = true;
	}
	if (optind + 1 != argc) {
		fr_err("name one snapshot: flightrec info FILE");
		return FR_EXIT_USAGE;
	}
	return info(argv[optind], json);
}
