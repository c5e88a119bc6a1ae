/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/schema/facts.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/memfile.h"

void fr_facts_put(FILE *f, const char *name, const char *fmt, ...)
{
	char value[FR_FACT_MADE_SZ];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	fr_facts_put_text(f, name, value);
}

void fr_facts_put_text(FILE *f, const char *name, const char *value)
{
	const char *c;

	fprintf(f, "%s=", name);
	for (c = value; *c; c++) {
		if (*c == '\n')
			fputs("\\n", f);
		else if (*c == '\\')
			fputs("\\\\", f);
		else
			putc(*c, f);
	}
	putc('\n', f);
}

int fr_facts_next(const char *text, size_t *pos, const char **name, size_t *name_len, const char **value, size_t *value_len)
{
	const char *line, *eq, *end;

	for (line = text + *pos; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		eq = memchr(line, '=', end - line);
		*pos = (*end ? end + 1 : end) - text;
		if (!eq)
			continue;
		*name = line;
		*name_len = eq - line;
		*value = eq + 1;
		*value_len = end - eq - 1;
		return 1;
	}
	return 0;
}

bool fr_facts_are_lines(const char *text, size_t sz)
{
	const char *end;

	for (; sz; sz -= end - text + 1, text = end + 1) {
		end = memchr(text, '\n', sz);
		if (!end || !memchr(text, '=', end - text))
			return false;
	}
	return true;
}

static char *facts_unescape(const char *value, size_t len)
{
	char *out = malloc(len + 1);
	size_t i, n = 0;

	for (i = 0; out && i < len; i++) {
		if (value[i] == '\\' && i + 1 < len)
			out[n++] = value[++i] == 'n' ? '\n' : value[i];
		else
			out[n++] = value[i];
	}
	if (out)
		out[n] = 0;
	return out;
}

static bool facts_is_name(const char *n, size_t n_len, const char *name)
{
	return n_len == strlen(name) && !memcmp(n, name, n_len);
}

char *fr_facts_get(const char *text, const char *name)
{
	const char *n, *v;
	size_t pos = 0, n_len, v_len;

	while (fr_facts_next(text, &pos, &n, &n_len, &v, &v_len))
		if (facts_is_name(n, n_len, name))
			return facts_unescape(v, v_len);
	return NULL;
}

char *fr_facts_set(const char *text, const char *name, const char *value)
{
	const char *n, *v;
	size_t pos = 0, n_len, v_len;
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);

	if (!f)
		return NULL;
	while (fr_facts_next(text, &pos, &n, &n_len, &v, &v_len))
		if (!facts_is_name(n, n_len, name))
			fprintf(f, "%.*s=%.*s\n", (int)n_len, n, (int)v_len, v);
	fr_facts_put_text(f, name, value);
	return fr_memfile_end(&m, NULL);
}
