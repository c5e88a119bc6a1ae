/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file with every key, commented out, with its default and its description, except for the triggers, of which a host wants
 * some: the source of dist/flightrec.conf.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdio.h>
#include <string.h>

#include "base/config/config.h"

static const char config_head[] =
	"# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n"
	"# flightrec.conf: settings of the flight recorder, for `flightrec record --config FILE`; see flightrec.conf(5).\n"
	"#\n"
	"# What begins with # is the default. `flightrec record --config FILE --check-config` says what is wrong, and\n"
	"# `systemctl reload flightrec` puts changes in force; those under [Session] need `systemctl restart flightrec`.\n";

/* What a host wants from boot. */
static const char config_triggers[] =
	"On=crash\n"
	"On=oom\n"
	"On=kernel\n"
	"On=hung>30s\n"
	"# each system call of the machine then takes some 30 ns longer; not with exit:2,calls=no\n"
	"#On=exit:2\n"
	"#On=latency:block>500ms\n"
	"#On=psi:memory:40%\n";

static inline void put_example_key(FILE *out, const struct fr_config_key *k)
{
	fprintf(out, "\n# %s%s\n", k->doc, strcmp(k->type, "list") ? "" : "; repeatable");
	if (!strcmp(k->key, "On"))
		fputs(config_triggers, out);
	else
		fprintf(out, "#%s=%s\n", k->key, k->def);
}

static inline void put_example(FILE *out)
{
	const struct fr_config_key *k;
	const char *section = "";
	u32 i;

	fputs(config_head, out);
	for (i = 0; (k = fr_config_key(i)); i++) {
		if (strcmp(section, k->section))
			fprintf(out, "\n[%s]\n", k->section);
		section = k->section;
		put_example_key(out, k);
	}
}

#endif
