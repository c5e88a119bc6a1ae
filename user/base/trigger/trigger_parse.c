/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A rule's text: parts, separated by commas, or by a colon before KEY=, outside of quotes and brackets. The first part is the
 * kind and its argument, each of the others a filter or an option.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/schema/sysnames.h"
#include "base/trigger/trigger_text.h"
#include "fatal.h"

/* Is what follows a colon KEY=, or a key that needs no value? */
static bool key_follows(const char *at)
{
	struct fr_tp_span name = {at, strspn(at, "abcdefghijklmnopqrstuvwxyz")};
	char c = at[name.sz];

	if (fr_tp_key_is(name, true) && (!c || c == ',' || c == ':'))
		return true;
	return name.sz && c == '=' && at[name.sz + 1] != '=';
}

static bool separates(const char *at)
{
	return *at == ',' || (*at == ':' && key_follows(at + 1));
}

/* The end of a quoted text: after the closing quote, or NULL. */
static const char *skip_quoted(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : NULL;
}

/* The part that begins here, with its spaces. */
static int next_part(struct fr_tp *p, const char *at, struct fr_tp_span *part)
{
	const char *open[8], *end = at;
	u32 depth = 0;

	while (*end && (depth || !separates(end))) {
		if (*end == '"') {
			const char *quote = end;

			end = skip_quoted(end);
			if (!end)
				return fr_tp_fail(p, quote, "a closing quote is missing");
			continue;
		}
		if (*end == '(' || *end == '[') {
			if (depth == sizeof(open) / sizeof(open[0]))
				return fr_tp_fail(p, end, "brackets are nested too deeply");
			open[depth++] = end;
		} else if ((*end == ')' || *end == ']') && depth) {
			depth--;
		}
		end += *end == '\\' && end[1] ? 2 : 1;
	}
	if (depth)
		return fr_tp_fail(p, open[depth - 1], "this bracket is not closed: in a pattern write \\%c for the character",
				  *open[depth - 1]);
	*part = (struct fr_tp_span){at, end - at};
	return 0;
}

static void set_defaults(struct fr_trigger *t)
{
	t->cooldown_ns = fr_trigger_has(t->kind, FR_HAS_COOLS) ? FR_TRIGGER_COOLDOWN_NS : 0;
	t->calls = t->kind == FR_TRIGGER_status;
	t->dedupe = fr_trigger_has(t->kind, FR_HAS_DEDUPE);
}

/* KIND, KIND:ARG, hung>T. *rest is what follows. */
static int parse_head(struct fr_tp *p, const char **rest)
{
	const char *at = p->text + strspn(p->text, " \t"), *behind;
	struct fr_tp_span part, arg = {};
	const struct fr_tp_kind *kind;
	char kinds[FR_TP_KINDS_SZ];
	int err;

	behind = at + strcspn(at, ":>,= \t");
	if (behind == at)
		return fr_tp_fail(p, at, "a trigger is missing: %s", fr_tp_kinds_shown(kinds, sizeof(kinds)));
	err = fr_tp_find_kind(p, (struct fr_tp_span){at, behind - at}, &kind);
	if (err)
		return err;
	p->t.kind = kind->kind;
	behind += strspn(behind, " \t");
	*rest = behind;
	if ((*behind == ':' && (p->t.kind == FR_TRIGGER_event || !key_follows(behind + 1))) ||
	    (*behind == '>' && fr_tp_takes_above(kind))) {
		err = next_part(p, behind + 1, &part);
		if (err)
			return err;
		*rest = part.at + part.sz;
		arg = span_trim(part);
		if (!arg.sz)
			return fr_tp_fail(p, part.at, "something is missing after %s%c", fr_tp_kind_shown(p->t.kind), *behind);
	} else if (*behind && !separates(behind)) {
		return fr_tp_fail(p, behind, "'%c' is not expected after %s: an argument follows a colon, options a comma",
				  *behind, fr_tp_kind_shown(p->t.kind));
	}
	err = kind->arg(p, arg);
	set_defaults(&p->t);
	return err;
}

/* Check what only the whole rule shows. */
static int check_whole(struct fr_tp *p)
{
	u64 not_core = p->t.kind == FR_TRIGGER_crash ? p->t.sig_set & ~FR_SIG_CORE : 0;
	u32 nr;

	if (not_core & FR_SIG_HARMLESS) {
		nr = __builtin_ctzll(not_core & FR_SIG_HARMLESS) + 1;
		return fr_tp_fail(p, p->sig.at, "sig: nothing dies of %s", fr_signal_name(nr));
	}
	if (!p->t.all && not_core) {
		nr = __builtin_ctzll(not_core) + 1;
		return fr_tp_fail(p, p->sig.at, "sig: %s dumps no core: such deaths need crash:all, like crash:all,sig=%s",
				  fr_signal_name(nr) ?: "this signal", fr_signal_name(nr) ? fr_signal_name(nr) + 3 : "KILL");
	}
	return 0;
}

static int trigger_check_text(struct fr_tp *p)
{
	const char *c;

	if (strlen(p->text) >= FR_TRIGGER_TEXT_MAX)
		return fr_tp_fail(p, p->text + FR_TRIGGER_TEXT_MAX - 1, "a trigger has at most %u bytes, this has %zu",
				  FR_TRIGGER_TEXT_MAX - 1, strlen(p->text));
	for (c = p->text; *c; c++)
		if (iscntrl((unsigned char)*c) && *c != '\t')
			return fr_tp_fail(p, c, "a control character, 0x%02x", (unsigned char)*c);
	return 0;
}

static int parse_rule(struct fr_tp *p)
{
	const char *at = p->text;
	struct fr_tp_span part;
	int err = trigger_check_text(p) ?: parse_head(p, &at);

	while (!err && *at) {
		err = next_part(p, at + 1, &part);
		if (err)
			break;
		err = fr_tp_option(p, part);
		at = part.at + part.sz;
	}
	return err ?: check_whole(p);
}

int fr_trigger_parse(const char *text, const char *arch, struct fr_trigger *out, struct fr_trigger_error *error)
{
	struct fr_tp p = {.text = text, .arch = arch, .t = {.uid = ~0u, .call_nr = -1}, .error = error};
	int err = parse_rule(&p);

	if (err)
		return err;
	strcpy(p.t.text, text);
	*out = p.t;
	return 0;
}

int fr_trigger_find_user(struct fr_trigger *t, int (*find)(void *arg, const char *name, u32 *uid), void *arg,
			 struct fr_trigger_error *error)
{
	int err = *t->user ? find(arg, t->user, &t->uid) : 0;

	if (!err)
		return 0;
	error->at = t->user_at;
	if (err == -ENOENT)
		snprintf(error->text, sizeof(error->text), "uid: this host has no user '%s': give a name or a number", t->user);
	else
		snprintf(error->text, sizeof(error->text), "uid: cannot look up user '%s': %s: give a number", t->user,
			 strerror(-err));
	return err == -ENOENT ? -EINVAL : err;
}
