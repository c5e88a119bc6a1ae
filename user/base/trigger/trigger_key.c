/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Filters and options of a rule: KEY=VALUE. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/filter/filter.h"
#include "base/rows/belongs.h"
#include "base/schema/sysnames.h"
#include "base/text/nearest.h"
#include "base/trigger/trigger_text.h"
#include "fatal.h"

#define POST_MAX    86400000000000ULL
#define MAX_CNT_MAX FR_TRIGGER_CNT_MAX

/* ---- filters and options ---- */

/* Names in the kernel end after 15 bytes: a longer one would never match. */
static int key_check_comm(struct fr_tp *p, struct fr_tp_span s)
{
	const char *bar;
	struct fr_tp_span rest = s;

	for (;;) {
		bar = span_find(rest, '|');
		s = bar ? (struct fr_tp_span){rest.at, bar - rest.at} : rest;
		if (s.sz > 15 && strcspn(s.at, "*?[\\") > 15)
			return fr_tp_fail(p, s.at, "comm: the kernel keeps 15 bytes of a name: comm=%.15s", s.at);
		if (!bar)
			return 0;
		rest = (struct fr_tp_span){bar + 1, rest.at + rest.sz - bar - 1};
	}
}

/* Brackets in quotes, and those with a | inside, which separates patterns even there, have not been looked at yet. */
static int check_sets(struct fr_tp *p, struct fr_tp_span s, const char *key)
{
	const char *end = s.at + s.sz, *bar;

	for (; s.at < end; s.at = bar + 1) {
		bar = memchr(s.at, '|', end - s.at) ?: end;
		if (!fr_glob_is_closed(s.at, bar - s.at))
			return fr_tp_fail(p, s.at, "%s: a [ of this pattern has no ]: write \\[ for the character", key);
	}
	return 0;
}

static int glob(struct fr_tp *p, struct fr_tp_span s, const char *key, char *out)
{
	if (s.sz >= 2 && *s.at == '"' && s.at[s.sz - 1] == '"')
		s = (struct fr_tp_span){s.at + 1, s.sz - 2};
	if (!s.sz)
		return fr_tp_fail(p, s.at, "%s: the pattern is empty: leave %s out for any", key, key);
	if (!span_copy(s, out, FR_TRIGGER_GLOB_MAX))
		return fr_tp_fail(p, s.at, "%s: a pattern has at most %u bytes, this has %zu: use *", key,
				  FR_TRIGGER_GLOB_MAX - 1, s.sz);
	return check_sets(p, s, key);
}

/* A pattern that the kind may have. */
static int key_pattern(struct fr_tp *p, struct fr_tp_span s, const char *key, char *out)
{
	int err = glob(p, s, key, out);

	return err || p->t.kind != FR_TRIGGER_rate ? err : fr_tp_rate_check(p, s, key, out);
}

static int key_set_comm(struct fr_tp *p, struct fr_tp_span s)
{
	return key_pattern(p, s, "comm", p->t.comm) ?: key_check_comm(p, s);
}

static int set_exe(struct fr_tp *p, struct fr_tp_span s)
{
	return key_pattern(p, s, "exe", p->t.exe);
}

static int set_cgroup(struct fr_tp *p, struct fr_tp_span s)
{
	return key_pattern(p, s, "cgroup", p->t.cgroup);
}

/* Users' names are this machine's, as are the uids that BPF sees: fr_trigger_find_user() looks there. */
#define UID_NOBODYS (~0u - 1)

static int set_uid(struct fr_tp *p, struct fr_tp_span s)
{
	u64 v;

	if (fr_tp_number(s, &v)) {
		if (v >= ~0u)
			return fr_tp_fail(p, s.at, "uid: %.*s is not a uid: 0 to %u", FR_TP_SHOWN(s), ~0u - 1);
		p->t.uid = v;
		return 0;
	}
	if (!s.sz || !span_copy(s, p->t.user, sizeof(p->t.user)))
		return fr_tp_fail(p, s.at, "uid: no user is called '%.*s': give a name or a number", FR_TP_SHOWN(s));
	p->t.user_at = s.at - p->text;
	p->t.uid = UID_NOBODYS;
	return 0;
}

static const char *nearest_signal(const char *name)
{
	struct fr_nearest near = {.to = name};
	u32 nr;

	for (nr = 1; nr < 32; nr++)
		if (fr_signal_name(nr))
			fr_nearest_consider(&near, fr_signal_name(nr));
	return near.name;
}

/* "SIGSEGV" of SEGV, SIGSEGV, segv. false: nothing, or too long */
static bool signal_name(struct fr_tp_span s, char name[FR_TP_WORD_MAX])
{
	size_t i;

	strcpy(name, "SIG");
	if (!s.sz || !span_copy(s, name + 3, FR_TP_WORD_MAX - 3))
		return false;
	for (i = 3; name[i]; i++)
		name[i] = toupper((unsigned char)name[i]);
	if (!strncmp(name, "SIGSIG", 6))
		memmove(name, name + 3, strlen(name) - 2);
	return true;
}

u32 fr_tp_signal(const struct fr_tp *p, struct fr_tp_span s)
{
	struct fr_sys sys = {.arch = p->arch};
	char name[FR_TP_WORD_MAX];
	s64 nr;

	return signal_name(s, name) && !fr_sysname_find(&sys, FR_STYLE_SIG, name, &nr) ? nr : 0;
}

static int one_signal(struct fr_tp *p, struct fr_tp_span s, u64 *set)
{
	char name[FR_TP_WORD_MAX];
	u64 v;

	if (!fr_tp_number(s, &v)) {
		if (!signal_name(s, name))
			return fr_tp_fail(p, s.at, "sig: a signal is missing: sig=SEGV, sig=SEGV|BUS or sig=11");
		v = fr_tp_signal(p, s);
		if (!v)
			return fr_tp_fail(p, s.at, "sig: there is no signal '%.*s': did you mean %s?", FR_TP_SHOWN(s),
					  nearest_signal(name) + 3);
	}
	if (v < 1 || v > 64)
		return fr_tp_fail(p, s.at, "sig: %.*s cannot be chosen: 1 to 64", FR_TP_SHOWN(s));
	*set |= FR_SIG(v);
	return 0;
}

static int set_sig(struct fr_tp *p, struct fr_tp_span s)
{
	const char *bar;
	int err = 0;

	p->sig = s;
	while (!err && (bar = span_find(s, '|'))) {
		err = one_signal(p, span_until(s, bar), &p->t.sig_set);
		s = span_from(s, bar + 1);
	}
	return err ?: one_signal(p, s, &p->t.sig_set);
}

static int set_post(struct fr_tp *p, struct fr_tp_span s)
{
	int err = fr_tp_any_time(p, s, "post", &p->t.post_ns);

	if (!err && p->t.post_ns > POST_MAX)
		return fr_tp_fail(p, s.at, "post: at most 1d: what is to be seen would be overwritten");
	return err;
}

static int set_last(struct fr_tp *p, struct fr_tp_span s)
{
	return fr_tp_some_time(p, s, "last", &p->t.last_ns);
}

static int set_cooldown(struct fr_tp *p, struct fr_tp_span s)
{
	return fr_tp_any_time(p, s, "cooldown", &p->t.cooldown_ns);
}

static int set_max(struct fr_tp *p, struct fr_tp_span s)
{
	const char *slash = span_find(s, '/');
	u64 cnt;

	if (!slash)
		return fr_tp_fail(p, s.at, "max: '%.*s' is not N/T: at most N in the time T, like max=5/1h", FR_TP_SHOWN(s));
	if (!fr_tp_number(span_until(s, slash), &cnt) || cnt > MAX_CNT_MAX)
		return fr_tp_fail(p, s.at, "max: how many must be a number from 1 to %u, like max=5/1h", MAX_CNT_MAX);
	if (!cnt)
		return fr_tp_fail(p, s.at, "max: 0 would never take one: leave the trigger out");
	p->t.max_cnt = cnt;
	return fr_tp_some_time(p, span_from(s, slash + 1), "max", &p->t.max_ns);
}

static int set_syscall(struct fr_tp *p, struct fr_tp_span s)
{
	return fr_tp_call(p, s, "syscall: a system call's name is missing or too long: syscall=futex", "syscall");
}

static int set_dedupe(struct fr_tp *p, struct fr_tp_span s)
{
	p->t.dedupe = span_is(s, "yes");
	if (!p->t.dedupe && !span_is(s, "no"))
		return fr_tp_fail(p, s.at, "dedupe: '%.*s' is neither yes nor no", FR_TP_SHOWN(s));
	return 0;
}

static int set_calls(struct fr_tp *p, struct fr_tp_span s)
{
	p->t.calls = span_is(s, "yes");
	if (!p->t.calls && !span_is(s, "no"))
		return fr_tp_fail(p, s.at, "calls: '%.*s' is neither yes nor no", FR_TP_SHOWN(s));
	return 0;
}

static int set_all(struct fr_tp *p, struct fr_tp_span s)
{
	if (!span_is(s, "yes"))
		return fr_tp_fail(p, s.at, "all: takes no value: crash:all");
	p->t.all = true;
	return 0;
}

#define KIND(name) (1u << FR_TRIGGER_##name)

static const struct key {
	const char *name;
	u32 has;   /* for kinds that have this (enum fr_trigger_has) ... */
	u32 kinds; /* ... or are one of these */
	bool bare; /* may have no value: then it is yes */
	int (*set)(struct fr_tp *p, struct fr_tp_span value);
	const char *form;
} keys[] = {
	{"comm", FR_HAS_COMM, 0, false, key_set_comm, "comm=GLOB"},
	{"exe", FR_HAS_FILTER, 0, false, set_exe, "exe=GLOB"},
	{"cgroup", FR_HAS_FILTER, 0, false, set_cgroup, "cgroup=GLOB"},
	{"syscall", 0, KIND(asleep), false, set_syscall, "syscall=NAME"},
	{"uid", FR_HAS_FILTER, 0, false, set_uid, "uid=NUMBER or uid=NAME"},
	{"sig", 0, KIND(crash), false, set_sig, "sig=SEGV|BUS"},
	{"signal", 0, KIND(crash), false, set_sig, "sig=SEGV|BUS"},
	{"all", 0, KIND(crash), true, set_all, "crash:all"},
	{"calls", 0, KIND(status), true, set_calls, "calls=yes or calls=no"},
	{"post", FR_HAS_WAIT, 0, false, set_post, "post=DURATION"},
	{"last", FR_HAS_LAST, 0, false, set_last, "last=DURATION"},
	{"cooldown", FR_HAS_PAUSE, 0, false, set_cooldown, "cooldown=DURATION"},
	{"max", FR_HAS_MAX, 0, false, set_max, "max=N/DURATION"},
	{"dedupe", FR_HAS_KEY, 0, true, set_dedupe, "dedupe=yes or dedupe=no"},
};

#define KEY_CNT (sizeof(keys) / sizeof(keys[0]))

const char *fr_trigger_key_name(u32 i)
{
	return i < KEY_CNT ? keys[i].name : NULL;
}

static bool key_is_for(const struct key *key, u32 kind)
{
	return fr_trigger_has(kind, key->has) || key->kinds >> kind & 1;
}

static const struct key *key_find_key(struct fr_tp_span name)
{
	size_t i;

	for (i = 0; i < KEY_CNT; i++)
		if (span_is(name, keys[i].name))
			return &keys[i];
	return NULL;
}

bool fr_tp_key_is(struct fr_tp_span name, bool bare)
{
	const struct key *key = key_find_key(name);

	return key && (!bare || key->bare);
}

static int key_unknown_key(struct fr_tp *p, struct fr_tp_span name, bool valued)
{
	char buf[FR_TP_WORD_MAX];
	struct fr_nearest near = {.to = buf};
	size_t i;

	span_copy((struct fr_tp_span){name.at, name.sz < FR_TP_WORD_MAX ? name.sz : FR_TP_WORD_MAX - 1}, buf, sizeof(buf));
	for (i = 0; i < KEY_CNT; i++)
		if (key_is_for(&keys[i], p->t.kind))
			fr_nearest_consider(&near, keys[i].name);
	if (fr_belongs_find(buf) < FR_BELONGS_CNT)
		return fr_tp_fail(
			p, name.at, "%s is known on replay only%s", buf,
			fr_trigger_has(p->t.kind, FR_HAS_FILTER)
				? ": take the cgroup's path, as `flightrec replay --columns cgroup` shows it (cgroup=GLOB)"
				: "");
	if (fr_nearest_likely(&near))
		return fr_tp_fail(p, name.at, "there is no option '%.*s': did you mean %s?", FR_TP_SHOWN(name), near.name);
	if (valued)
		return fr_tp_fail(p, name.at,
				  "there is no option '%.*s': filters are comm, exe, cgroup, uid, sig, syscall; "
				  "options post, last, cooldown, max, dedupe, calls",
				  FR_TP_SHOWN(name));
	return fr_tp_fail(p, name.at,
			  "'%.*s' is not KEY=VALUE: a comma begins the next option; in a pattern write \\, or quotes, and "
			  "A|B for one of two",
			  FR_TP_SHOWN(name));
}

/* "crash, hung": what the key is for */
static const char *kinds_shown(const struct key *key, char *buf, size_t sz)
{
	size_t len = 0;
	u32 kind;

	*buf = 0;
	for (kind = 1; kind < FR_TRIGGER_KIND_CNT; kind++)
		if (key_is_for(key, kind) && len < sz)
			len += snprintf(buf + len, sz - len, "%s%s", len ? ", " : "", fr_tp_kind_shown(kind));
	return buf;
}

/* A filter of something that is not known of such a latency would never let a moment pass. */
static int check_latency(struct fr_tp *p, struct fr_tp_span name, const struct key *key)
{
	bool is_file = key->set == set_exe || key->set == set_cgroup,
	     is_task = is_file || key->set == key_set_comm || key->set == set_uid;

	if (p->t.kind != FR_TRIGGER_latency)
		return 0;
	if ((p->t.latency == FR_LATENCY_softirq || p->t.latency == FR_LATENCY_irq) && is_task)
		return fr_tp_fail(p, name.at, "%s makes no sense for latency:%s: an interrupt is no task's: leave it out",
				  key->name, fr_latency_name(p->t.latency));
	if (p->t.latency == FR_LATENCY_block && is_file)
		return fr_tp_fail(p, name.at,
				  "%s is not known of block requests: only comm and uid of the task that issued them",
				  key->name);
	return 0;
}

static int key_set_key(struct fr_tp *p, struct fr_tp_span name, const struct fr_tp_span *value)
{
	const struct key *key = key_find_key(name);
	u32 bit = key ? 1u << (key - keys) : 0;
	char buf[120];

	if (!key)
		return key_unknown_key(p, name, value);
	if (!key_is_for(key, p->t.kind))
		return fr_tp_fail(p, name.at, "%s makes no sense for %s: it is for %s", key->name, fr_tp_kind_shown(p->t.kind),
				  kinds_shown(key, buf, sizeof(buf)));
	if (check_latency(p, name, key))
		return -EINVAL;
	if (p->seen & bit)
		return fr_tp_fail(p, name.at, "%s is given twice", key->name);
	p->seen |= bit;
	if (!value && !key->bare)
		return fr_tp_fail(p, name.at, "%s needs a value: %s", key->name, key->form);
	return key->set(p, value ? *value : (struct fr_tp_span){"yes", 3});
}

int fr_tp_option(struct fr_tp *p, struct fr_tp_span part)
{
	struct fr_tp_span value, name = span_trim(part);
	const char *equals = span_find(name, '=');

	if (!name.sz)
		return fr_tp_fail(p, part.at, "an option is missing here");
	if (!equals)
		return key_set_key(p, name, NULL);
	value = span_from(name, equals + 1);
	return key_set_key(p, span_until(name, equals), &value);
}
