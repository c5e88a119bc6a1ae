/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is made of the configuration's table; make man puts it there:
 *
 *	config example > dist/flightrec.conf
 *	config man			the list of keys within docs/man/flightrec.conf.5
 */
#include <stdio.h>
#include <string.h>

#include "cmd/options.h"
#include "dist/example.h"

static void man_key(const struct fr_config_key *k)
{
	printf(".It Cm %s Ns = Ns Ar %s\n", k->key, k->type);
	printf("%c%s.\n", *k->doc >= 'a' && *k->doc <= 'z' ? *k->doc - 32 : *k->doc, k->doc + 1);
	if (k->option.more)
		fr_options_man_text(stdout, k->option.more);
	if (*k->def)
		printf("Default:\n.Li %s .\n", k->def);
	if (!strcmp(k->type, "list"))
		puts("May be repeated.");
}

static int man(void)
{
	const struct fr_config_key *k;
	const char *section = "";
	unsigned int i;

	for (i = 0; (k = fr_config_key(i)); i++) {
		if (strcmp(section, k->section)) {
			if (*section)
				puts(".El");
			printf(".Ss [%s]\n.Bl -tag -width Ds\n", k->section);
		}
		section = k->section;
		man_key(k);
	}
	puts(".El");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "example")) {
		put_example(stdout);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "man"))
		return man();
	fprintf(stderr, "usage: config example|man\n");
	return 2;
}
