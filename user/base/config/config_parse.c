/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The text of a configuration: lines, sections, keys. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/config/config_int.h"
#include "base/text/nearest.h"

#define TEXT_MAX_SZ (1u << 20)
#define NAME_MAX_SZ 64u

struct parser {
	struct fr_config *c;
	struct fr_config_error *error;
	const char *at, *end; /* what is still to be read */
	u32 line;	      /* number of the line read last */
	u32 first;	      /* where the current line began, before its continuations */
	char *buf;	      /* a line with its continuations; as large as the text */
	size_t sz;
	char section[NAME_MAX_SZ]; /* "": none yet */
};

/* ---- lines ---- */

static bool is_comment(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at < end && (*at == '#' || *at == ';');
}

static int check_bytes(struct parser *p, const char *at, const char *end)
{
	for (; at < end; at++) {
		if (!*at)
			return fr_config_fail(p->error, p->line, "a NUL byte: this is not text, or not UTF-8");
		if (iscntrl((unsigned char)*at) && *at != '\t')
			return fr_config_fail(p->error, p->line, "a control character, 0x%02x", (unsigned char)*at);
	}
	return 0;
}

/* One line of the file, without its end. */
static int next_physical(struct parser *p, const char **begin, const char **end)
{
	const char *newline = memchr(p->at, '\n', p->end - p->at);

	*begin = p->at;
	*end = newline ? newline : p->end;
	p->at = newline ? newline + 1 : p->end;
	p->line++;
	if (*end > *begin && (*end)[-1] == '\r')
		--*end;
	return check_bytes(p, *begin, *end);
}

/* A line and its continuations, in p->buf; comments between them are skipped. */
static int config_parse_next_line(struct parser *p)
{
	const char *begin, *end;
	bool more = true;
	int err;

	p->sz = 0;
	p->first = p->line + 1;
	while (more && p->at < p->end) {
		err = next_physical(p, &begin, &end);
		if (err)
			return err;
		if (is_comment(begin, end)) {
			if (!p->sz)
				break;
			continue;
		}
		more = end > begin && end[-1] == '\\';
		memcpy(p->buf + p->sz, begin, end - begin);
		p->sz += end - begin;
		if (more)
			p->buf[p->sz - 1] = ' ';
	}
	p->buf[p->sz] = 0;
	return 0;
}

static char *config_parse_trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		*--end = 0;
	return text + strspn(text, " \t");
}

/* ---- sections and keys ---- */

static int set_section(struct parser *p, char *line)
{
	char *name = line + 1, *close = strchr(line, ']');
	struct fr_nearest near = {.to = name};
	const struct fr_config_slot *slot;
	u32 i;

	if (!close || close[1])
		return fr_config_fail(p->error, p->first, "'%.60s' is not [SECTION]", line);
	*close = 0;
	for (i = 0; (slot = fr_config_slot(i)); i++) {
		if (!strcmp(slot->key.section, name)) {
			strcpy(p->section, slot->key.section);
			return 0;
		}
		fr_nearest_consider(&near, slot->key.section);
	}
	return fr_config_fail(p->error, p->first, "there is no section [%.40s]: did you mean [%s]?", name, near.name);
}

/* The slot of this key in any section, or NULL. */
static const struct fr_config_slot *find_anywhere(const char *key)
{
	const struct fr_config_slot *slot;
	u32 i;

	for (i = 0; (slot = fr_config_slot(i)); i++)
		if (!strcmp(slot->key.key, key))
			return slot;
	return NULL;
}

static int config_parse_unknown_key(struct parser *p, const char *key)
{
	const struct fr_config_slot *slot = find_anywhere(key);
	struct fr_nearest near = {.to = key};
	u32 i;

	if (slot)
		return fr_config_fail(p->error, p->first, "%s belongs under [%s], not under [%s]", key, slot->key.section,
				      p->section);
	for (i = 0; (slot = fr_config_slot(i)); i++)
		if (!strcmp(slot->key.section, p->section))
			fr_nearest_consider(&near, slot->key.key);
	return fr_config_fail(p->error, p->first, "[%s] has no key '%.40s': did you mean %s?", p->section, key, near.name);
}

static int config_parse_find_slot(struct parser *p, const char *key, const struct fr_config_slot **out)
{
	const struct fr_config_slot *slot;
	u32 i;

	if (!*p->section)
		return fr_config_fail(p->error, p->first, "'%.40s' stands before any section: begin with [Session] or another",
				      key);
	for (i = 0; (slot = fr_config_slot(i)); i++)
		if (!strcmp(slot->key.section, p->section) && !strcmp(slot->key.key, key)) {
			*out = slot;
			return 0;
		}
	return config_parse_unknown_key(p, key);
}

/* Remove quotes that enclose a whole value; others belong to it. */
static char *unquote(char *value)
{
	char *from, *to;

	if (*value != '"')
		return value;
	for (from = value + 1; *from && *from != '"'; from++)
		if (*from == '\\' && from[1])
			from++;
	if (!*from || from[1])
		return value;
	for (from = to = value + 1; *from != '"'; from++) {
		if (*from == '\\' && (from[1] == '"' || from[1] == '\\'))
			from++;
		*to++ = *from;
	}
	*to = 0;
	return value + 1;
}

static int config_parse_set_key(struct parser *p, char *line)
{
	const struct fr_config_slot *slot = NULL;
	char *equals = strchr(line, '='), *value;
	int err;

	if (!equals)
		return fr_config_fail(p->error, p->first, "'%.60s' is neither [SECTION] nor KEY=VALUE nor a comment", line);
	*equals = 0;
	err = config_parse_find_slot(p, config_parse_trim(line), &slot);
	if (err)
		return err;
	value = unquote(config_parse_trim(equals + 1));
	return *value ? fr_config_set(p->c, slot, value, p->first, p->error) : fr_config_empty(p->c, slot, p->error);
}

static int config_parse_parse(struct parser *p)
{
	char *line;
	int err;

	while (p->at < p->end) {
		err = config_parse_next_line(p);
		if (err)
			return err;
		line = config_parse_trim(p->buf);
		if (*line)
			err = *line == '[' ? set_section(p, line) : config_parse_set_key(p, line);
		if (err)
			return err;
	}
	return fr_config_check(p->c, p->error);
}

int fr_config_parse(struct fr_config *c, const char *text, size_t sz, struct fr_config_error *error)
{
	struct parser p = {.c = c, .error = error, .at = text, .end = text + sz};
	int err;

	if (sz > TEXT_MAX_SZ)
		return fr_config_fail(error, 0, "longer than 1 MiB: this is not a configuration");
	if (sz >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		p.at += 3;
	p.buf = malloc(sz + 1);
	if (!p.buf)
		return -ENOMEM;
	err = config_parse_parse(&p);
	free(p.buf);
	return err;
}
