/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* counter_parse: a file's text to counters. Nothing is taken for granted: no end of line, no number, no order. */
#include <ctype.h>
#include <string.h>

#include "base/counter/counter_int.h"

#define US_PER_SEC 1000000u
#define NO_LIMIT   (1ULL << 60) /* v1 says so of no limit: more than any memory */

struct parse {
	enum fr_counter_file file;
	u32 ticks_hz;
	fr_counter_fn fn;
	void *arg;
	const char *object;
	size_t object_len;
};

/* Text from at to end, without what ends it. */
struct span {
	const char *at, *end;
};

static struct span span_line(struct span *rest)
{
	const char *nl = memchr(rest->at, '\n', rest->end - rest->at);
	struct span line = {rest->at, nl ? nl : rest->end};

	rest->at = nl ? nl + 1 : rest->end;
	return line;
}

/* The next word; empty: there is none. */
static struct span span_word(struct span *line)
{
	struct span w;

	while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
	w.at = line->at;
	while (line->at < line->end && *line->at != ' ' && *line->at != '\t')
		line->at++;
	w.end = line->at;
	return w;
}

static size_t span_len(struct span s)
{
	return s.end - s.at;
}

static bool span_is(struct span s, const char *text)
{
	return span_len(s) == strlen(text) && !memcmp(s.at, text, span_len(s));
}

/* A whole number that fits 64 bits. */
static bool span_number(struct span s, u64 *out)
{
	u64 v = 0;

	if (s.at == s.end)
		return false;
	for (; s.at < s.end; s.at++) {
		if (!isdigit((unsigned char)*s.at) || v > (~0ULL - (*s.at - '0')) / 10)
			return false;
		v = v * 10 + (*s.at - '0');
	}
	*out = v;
	return true;
}

static bool counter_scale(const struct fr_counter_source *s, u32 ticks_hz, u64 *v)
{
	u64 mul = s->mul == FR_COUNTER_TICKS ? US_PER_SEC : s->mul ? s->mul : 1;
	u64 div = s->mul == FR_COUNTER_TICKS ? ticks_hz : s->div ? s->div : 1;

	return div && !__builtin_mul_overflow(*v, mul, v) && (*v /= div, true);
}

/* Tell the counter with this key, if there is one: the key is that of two pieces joined. */
static void parse_tell(const struct parse *p, struct span key, struct span more, u64 value)
{
	const struct fr_counter_source *s;
	size_t len = span_len(key), more_len = span_len(more);
	u64 v;
	u32 i, k;

	for (i = 0; i < fr_counters_all_cnt; i++) {
		for (k = 0; k < 2; k++) {
			s = &fr_counters_all[i].from[k];
			if (s->file != p->file || strlen(s->key) != len + more_len || memcmp(s->key, key.at, len) ||
			    (more_len && memcmp(s->key + len, more.at, more_len)))
				continue;
			v = value;
			if (counter_scale(s, p->ticks_hz, &v))
				p->fn(p->arg, &fr_counters_all[i], p->object, p->object_len, v);
		}
	}
}

static const struct span nothing = {"", ""};

static void parse_tell_word(const struct parse *p, const char *key, struct span word)
{
	u64 v;

	if (span_number(word, &v))
		parse_tell(p, (struct span){key, key + strlen(key)}, nothing, v);
}

static void parse_keyed(const struct parse *p, struct span line)
{
	struct span key = span_word(&line), value = span_word(&line);
	u64 v;

	if (key.end > key.at && key.end[-1] == ':')
		key.end--;
	if (span_len(key) && span_number(value, &v))
		parse_tell(p, key, nothing, v);
}

static void parse_one(const struct parse *p, struct span line)
{
	struct span value = span_word(&line);
	u64 v;

	if (span_number(value, &v) && v < NO_LIMIT)
		parse_tell(p, nothing, nothing, v);
}

static void parse_psi(const struct parse *p, struct span line)
{
	static const char total[] = "total=";
	struct span key = span_word(&line), w;
	u64 v;

	for (w = span_word(&line); span_len(w); w = span_word(&line)) {
		if (span_len(w) < strlen(total) || memcmp(w.at, total, strlen(total)))
			continue;
		w.at += strlen(total);
		if (span_len(key) && span_number(w, &v))
			parse_tell(p, key, nothing, v);
		return;
	}
}

/* "0.52": hundredths. */
static bool span_hundredths(struct span s, u64 *out)
{
	const char *dot = memchr(s.at, '.', span_len(s));
	u64 whole, part;

	if (!dot || s.end - dot != 3 || !span_number((struct span){s.at, dot}, &whole) ||
	    !span_number((struct span){dot + 1, s.end}, &part) || whole > ~0ULL / 100 - 1)
		return false;
	*out = whole * 100 + part;
	return true;
}

static void parse_load(const struct parse *p, struct span line)
{
	static const char *const keys[] = {"1m", "5m", "15m"};
	struct span w;
	const char *slash;
	u64 v;
	u32 i;

	for (i = 0; i < 3; i++)
		if (span_hundredths(span_word(&line), &v))
			parse_tell(p, (struct span){keys[i], keys[i] + strlen(keys[i])}, nothing, v);
	w = span_word(&line);
	slash = memchr(w.at, '/', span_len(w));
	if (slash)
		parse_tell_word(p, "tasks", (struct span){slash + 1, w.end});
}

/* The line of all CPUs has no name of its numbers. */
static void parse_stat(const struct parse *p, struct span line)
{
	static const char *const keys[] = {"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"};
	struct span rest = line;
	u32 i;

	if (!span_is(span_word(&rest), "cpu")) {
		parse_keyed(p, line);
		return;
	}
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		parse_tell_word(p, keys[i], span_word(&rest));
}

/* Names in one line, numbers in the next, both behind "TcpExt:". */
static void parse_pairs(const struct parse *p, struct span names, struct span values)
{
	struct span head = span_word(&names), again = span_word(&values), name, value;
	u64 v;

	if (span_len(head) < 2 || head.end[-1] != ':' || span_len(head) != span_len(again) ||
	    memcmp(head.at, again.at, span_len(head)))
		return;
	head.end--;
	for (;;) {
		name = span_word(&names);
		value = span_word(&values);
		if (!span_len(name) || !span_len(value))
			return;
		if (span_number(value, &v))
			parse_tell(p, head, name, v);
	}
}

static void parse_words(const struct parse *p, struct span line)
{
	struct span head = span_word(&line), name, value;
	char key[64];
	u64 v;

	if (span_len(head) < 2 || head.end[-1] != ':' || span_len(head) > 16)
		return;
	memcpy(key, head.at, span_len(head) - 1);
	key[span_len(head) - 1] = ' ';
	for (;;) {
		name = span_word(&line);
		value = span_word(&line);
		if (!span_len(name) || !span_len(value))
			return;
		if (span_number(value, &v))
			parse_tell(p, (struct span){key, key + span_len(head)}, name, v);
	}
}

/* A disk that never did anything is not told. */
static void parse_disk(const struct parse *p, struct span line)
{
	char key[3];
	struct parse of = *p;
	struct span name, w, look;
	u64 v, any = 0;
	u32 i;

	span_word(&line);
	span_word(&line);
	name = span_word(&line);
	if (!span_len(name))
		return;
	of.object = name.at;
	of.object_len = span_len(name);
	for (look = line, i = 0; i < 11; i++)
		if (span_number(span_word(&look), &v))
			any |= v;
	for (i = 0; any && i < 17; i++) {
		key[0] = i < 10 ? '0' + i : '1';
		key[1] = i < 10 ? 0 : '0' + i % 10;
		key[2] = 0;
		w = span_word(&line);
		if (span_number(w, &v))
			parse_tell(&of, (struct span){key, key + strlen(key)}, nothing, v);
	}
}

static void parse_quota(const struct parse *p, struct span line)
{
	parse_tell_word(p, "0", span_word(&line));
	parse_tell_word(p, "1", span_word(&line));
}

static void counter_parse_line(const struct parse *p, struct span line)
{
	switch (fr_counter_form(p->file)) {
	case FR_COUNTER_FORM_KEYED:
		parse_keyed(p, line);
		return;
	case FR_COUNTER_FORM_NUMBER:
		parse_one(p, line);
		return;
	case FR_COUNTER_FORM_PSI:
		parse_psi(p, line);
		return;
	case FR_COUNTER_FORM_LOAD:
		parse_load(p, line);
		return;
	case FR_COUNTER_FORM_STAT:
		parse_stat(p, line);
		return;
	case FR_COUNTER_FORM_WORDS:
		parse_words(p, line);
		return;
	case FR_COUNTER_FORM_DISKS:
		parse_disk(p, line);
		return;
	case FR_COUNTER_FORM_QUOTA:
		parse_quota(p, line);
		return;
	default:
		return;
	}
}

void fr_counter_parse(enum fr_counter_file file, const char *text, size_t sz, u32 ticks_hz, fr_counter_fn fn, void *arg)
{
	const struct parse p = {.file = file, .ticks_hz = ticks_hz, .fn = fn, .arg = arg, .object = ""};
	bool is_pairs = fr_counter_form(file) == FR_COUNTER_FORM_PAIRS;
	struct span rest = {text, text + sz}, line;

	while (rest.at < rest.end) {
		line = span_line(&rest);
		if (is_pairs)
			parse_pairs(&p, line, span_line(&rest));
		else
			counter_parse_line(&p, line);
	}
}
