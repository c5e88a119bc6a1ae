/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options_complete: what may follow on a command line, for the shells: `flightrec --complete WORD...` prints words for the last
 * one, which is being typed, a line each. completion/ has what each shell needs around this.
 *
 *	flightrec --complete record --on latency:w	latency:wakeup>10ms
 *	flightrec --complete export --to=c		--to=ctf, --to=csv
 *	flightrec --complete replay -f 'ret < 0 && i'	ret < 0 && id, ret < 0 && ip, ...
 *	flightrec --complete report x			@snapshot: the shell knows files
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/filter/filter_node.h"
#include "base/schema/schema.h"
#include "base/text/memfile.h"
#include "base/trigger/trigger.h"
#include "cmd/options.h"
#include "live/session/sess.h"
#include "read/stat/stat.h"
#include "sys/dir.h"

/* A word being typed: what is offered has to begin so, and is printed behind what stays as it is. */
struct typed {
	FILE *to;
	const char *stays; /* "--to=", or what precedes the name in a filter */
	size_t stays_len;
	const char *begin;
};

static void complete_offer(const struct typed *t, const char *word)
{
	if (!strncmp(word, t->begin, strlen(t->begin)))
		fprintf(t->to, "%.*s%s\n", (int)t->stays_len, t->stays, word);
}

/* ---- kinds of words ---- */

static void offer_sessions(const struct typed *t)
{
	DIR *d = opendir(FR_SESSION_ROOT);
	struct dirent *e;
	int err = 0;

	while (d && (e = fr_dir_next(d, &err)))
		complete_offer(t, e->d_name);
	if (d)
		closedir(d);
}

/* What `top` shows: a file, which the shell knows, or a session. */
static void offer_shown(const struct typed *t)
{
	fprintf(t->to, "@snapshot\n");
	offer_sessions(t);
}

/* Events and their groups; less: with a sign that takes them away, too. */
static void offer_events(const struct typed *t, bool less)
{
	const char *name;
	char word[80];
	u32 i;

	for (i = 0; i < FR_EVENT_MAX + FR_GROUP_CNT; i++) {
		const struct fr_event *ev = i < FR_EVENT_MAX ? fr_schema_event(fr_schema_builtin(), i) : NULL;

		name = ev ? ev->name : i < FR_EVENT_MAX ? NULL : fr_group_name(i - FR_EVENT_MAX);
		if (!name)
			continue;
		complete_offer(t, name);
		snprintf(word, sizeof(word), "-%s", name);
		if (less)
			complete_offer(t, word);
	}
}

/* Has an event before this one a field of this name? */
static bool was_field(const char *name, u32 nr)
{
	const struct fr_event *ev;

	while (nr--) {
		ev = fr_schema_event(fr_schema_builtin(), nr);
		if (ev && fr_event_field(ev, name))
			return true;
	}
	return false;
}

/* Names that an expression may have where it stops: what every event has, fields, and events. */
static void offer_names(const struct typed *t)
{
	const struct fr_event *ev;
	u32 i, k;

	for (i = 0; i < FR_BI_CNT; i++)
		complete_offer(t, fr_builtin_names[i]);
	for (i = 0; i < FR_EVENT_MAX; i++) {
		ev = fr_schema_event(fr_schema_builtin(), i);
		for (k = 0; ev && k < ev->field_cnt; k++)
			if (!was_field(ev->fields[k].name, i))
				complete_offer(t, ev->fields[k].name);
		if (ev)
			complete_offer(t, ev->name);
	}
}

/* The name at the end of an expression; the rest stays. In an open text there are none. */
static void offer_filter(const struct typed *t)
{
	size_t len = strlen(t->begin), quotes = 0, i;
	struct typed name = *t;

	for (i = 0; i < len; i++)
		quotes += t->begin[i] == '"' && (!i || t->begin[i - 1] != '\\');
	if (quotes % 2)
		return;
	for (i = len; i && (isalnum((unsigned char)t->begin[i - 1]) || t->begin[i - 1] == '_'); i--)
		;
	if (i < len && isdigit((unsigned char)t->begin[i]))
		return;
	/* both parts are of one text */
	name.stays_len += i;
	if (!t->stays_len)
		name.stays = t->begin;
	name.begin += i;
	offer_names(&name);
}

/* Names of keys: those that are no fields, and the rest of what an expression may have. */
static void offer_keys(const struct typed *t)
{
	const char *comma = strrchr(t->begin, ','), *name, *what;
	struct typed key = *t;
	u32 i;

	if (comma && !t->stays_len)
		key.stays = t->begin;
	key.stays_len += comma ? comma + 1 - t->begin : 0;
	key.begin = comma ? comma + 1 : t->begin;
	complete_offer(&key, "time:100ms");
	for (i = 0; (name = fr_stat_key_name(i, &what)); i++)
		complete_offer(&key, name);
	offer_filter(t);
}

/* Kinds, with an example of what they take. */
static void offer_triggers(const struct typed *t)
{
	static const char event[] = "event:";
	struct typed name = *t;
	char word[80];
	u32 i;

	for (i = 0; fr_trigger_example(i, word, sizeof(word)); i++)
		complete_offer(t, word);
	if (strncmp(t->begin, event, sizeof(event) - 1))
		return;
	name.stays = t->stays_len ? t->stays : t->begin;
	name.stays_len += sizeof(event) - 1;
	name.begin += sizeof(event) - 1;
	offer_filter(&name);
}

static const struct {
	const char *kind;
	void (*offer)(const struct typed *t);
} kinds[] = {{"@session", offer_sessions},
	     {"@filter", offer_filter},
	     {"@trigger", offer_triggers},
	     {"@keys", offer_keys},
	     {"@shown", offer_shown}};

/* What is offered for a value, or an argument. */
static void offer_words(const struct typed *t, const char *words)
{
	char word[256];
	size_t len, i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(words, kinds[i].kind)) {
			kinds[i].offer(t);
			return;
		}
	if (!strcmp(words, "@event") || !strcmp(words, "@choice")) {
		offer_events(t, !strcmp(words, "@choice"));
		return;
	}
	if (*words == '@') { /* the shell's */
		fprintf(t->to, "%s\n", words);
		return;
	}
	for (; *words; words += len + strspn(words + len, " ")) {
		len = strcspn(words, " ");
		snprintf(word, sizeof(word), "%.*s", (int)len, words);
		complete_offer(t, word);
	}
}

static void offer_value(const struct typed *t, const struct fr_option *o)
{
	const char *name, *what;
	u32 i;

	if (o->words)
		offer_words(t, o->words);
	for (i = 0; o->value && o->value(i, &name, &what); i++)
		complete_offer(t, name);
}

/* ---- the command line ---- */

static void offer_options(const struct typed *t, const struct fr_option *option)
{
	char word[80];

	for (; option->name || option->group; option++) {
		if (option->group) {
			offer_options(t, option->group);
			continue;
		}
		snprintf(word, sizeof(word), "--%s", option->name);
		complete_offer(t, word);
	}
}

/* The option that a word names, "--to", "--to=x" or "-t"; NULL: none. */
static const struct fr_option *find_option(const struct fr_option *option, const char *word)
{
	size_t len = strcspn(word, "=");
	const struct fr_option *found;

	for (; option->name || option->group; option++) {
		if (option->group) {
			found = find_option(option->group, word);
			if (found)
				return found;
		} else if (!strncmp(word, "--", 2) && strlen(option->name) == len - 2 &&
			   !strncmp(option->name, word + 2, len - 2)) {
			return option;
		} else if (word[0] == '-' && option->letter && word[1] == option->letter && !word[2]) {
			return option;
		}
	}
	return NULL;
}

static void complete_words(FILE *f, const struct fr_options *options, char *const *word, int cnt)
{
	const char *now = cnt ? word[cnt - 1] : "", *before = cnt > 1 ? word[cnt - 2] : "", *value = strchr(now, '=');
	const struct fr_option *o = find_option(options->option, before);
	struct typed t = {.to = f, .stays = now, .begin = now};

	if (o && o->arg && *o->arg != '[' && !strchr(before, '=')) {
		offer_value(&t, o);
		return;
	}
	o = value && !strncmp(now, "--", 2) ? find_option(options->option, now) : NULL;
	if (o && o->arg) {
		t.stays_len = value + 1 - now;
		t.begin = value + 1;
		offer_value(&t, o);
	} else if (*now == '-') {
		offer_options(&t, options->option);
		complete_offer(&t, "--help");
	} else {
		offer_words(&t, options->words ?: "");
	}
}

/* Is the line of len bytes at it, with its newline, one of those before it? */
static bool was_line(const char *lines, const char *it, size_t len)
{
	for (; lines < it; lines = strchr(lines, '\n') + 1)
		if (!strncmp(lines, it, len))
			return true;
	return false;
}

/* A name may be that of a field, of an event and of a group: it is offered once. */
void fr_options_complete(FILE *f, const struct fr_options *options, char *const *word, int cnt)
{
	struct fr_memfile m;
	FILE *all = fr_memfile_open(&m);
	char *lines, *it;
	size_t len;

	if (all)
		complete_words(all, options, word, cnt);
	lines = all ? fr_memfile_end(&m, NULL) : NULL;
	for (it = lines; it && *it; it += len) {
		len = strcspn(it, "\n") + 1;
		if (!was_line(lines, it, len))
			fwrite(it, 1, len, f);
	}
	free(lines);
}
