/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* use: what the programs of this test have in common. */
#ifndef USE_H
#define USE_H

#include <flightrec.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), exit(9))

static inline struct flightrec *open_file(const char *path, unsigned flags, const char *filter)
{
	struct flightrec *fr = flightrec_new();

	if (!fr || flightrec_add(fr, path) || flightrec_set_flags(fr, flags) || flightrec_set_filter(fr, filter) ||
	    flightrec_set_tiers(fr, "all"))
		FAIL("setting: %s", fr ? flightrec_error(fr) : "no memory");
	if (flightrec_open(fr))
		FAIL("opening: %s", flightrec_error(fr));
	return fr;
}

/* For flightrec_set_log(); arg: what is before each line. To standard output: standard error has to stay empty. */
static inline void say(void *arg, int level, const char *text)
{
	printf("%s %s: %s\n", (const char *)arg, level == FLIGHTREC_LOG_ERROR ? "error" : "warning", text);
}

/* As graphical programs do. */
static inline void use_locale(void)
{
	if (!setlocale(LC_ALL, ""))
		FAIL("there is no such locale");
}

/* ---- JSON of our own ---- */

static inline void put_json(const char *s, size_t sz)
{
	putchar('"');
	for (; sz--; s++) {
		if (*s == '"' || *s == '\\' || (unsigned char)*s < 0x20)
			printf("\\u%04x", (unsigned char)*s);
		else
			putchar(*s);
	}
	putchar('"');
}

static inline void put_text(const char *key, const char *s)
{
	printf("\"%s\":", key);
	if (s)
		put_json(s, strlen(s));
	else
		printf("null");
}

static inline void put_u64(const char *key, uint64_t v)
{
	printf("\"%s\":%llu", key, (unsigned long long)v);
}

#endif
