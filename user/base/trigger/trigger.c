/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What rules apply to. Parsing: trigger_parse.c. */
#include "base/trigger/trigger.h"

#include <string.h>

#include "base/filter/filter.h"
#include "base/set/hash.h"
#include "fatal.h"
#include "rule.h"

/*
 * The part of an address that address space randomisation leaves alone: otherwise each run of a program would be another crash.
 */
#define IP_MASK 0xfffULL

#define CUT "..." /* how a path begins whose own beginning did not fit into an alert */

const char *fr_trigger_kind_name(u32 kind)
{
	static const char *const name[FR_TRIGGER_KIND_CNT] = {
#define T(nr, name, arg, has, gap_ns, doc) [nr] = #name,
		FR_TRIGGERS(T)
#undef T
	};

	return kind < FR_TRIGGER_KIND_CNT && name[kind] ? name[kind] : "?";
}

bool fr_trigger_has(u32 kind, u32 has)
{
	static const u32 of[FR_TRIGGER_KIND_CNT] = {
#define T(nr, name, arg, has, gap_ns, doc) [nr] = has,
		FR_TRIGGERS(T)
#undef T
	};

	return kind < FR_TRIGGER_KIND_CNT && of[kind] & has;
}

u64 fr_trigger_gap_ns(u32 kind)
{
	static const u64 of[FR_TRIGGER_KIND_CNT] = {
#define T(nr, name, arg, has, gap_ns, doc) [nr] = gap_ns,
		FR_TRIGGERS(T)
#undef T
	};

	return kind < FR_TRIGGER_KIND_CNT ? of[kind] : 0;
}

const char *fr_trigger_reason(u32 kind)
{
	return fr_trigger_kind_name(kind == FR_TRIGGER_status ? FR_TRIGGER_exit : kind);
}

const char *fr_trigger_verdict_name(u32 verdict)
{
	return fr_sysname(NULL, FR_STYLE_VERDICT, verdict) ?: "?";
}

const char *fr_trigger_verdict_doc(u32 verdict)
{
	static const char *const text[FR_TRIGGER_VERDICT_CNT] = {
#define V(nr, name, doc) [nr] = doc,
		FR_VERDICTS(V)
#undef V
	};

	return verdict < FR_TRIGGER_VERDICT_CNT ? text[verdict] : "?";
}

const char *fr_latency_name(u32 latency)
{
	static const char *const name[FR_LATENCY_CNT] = {
#define L(nr, name, follows, doc) [nr] = #name,
		FR_LATENCIES(L)
#undef L
	};

	return latency < FR_LATENCY_CNT ? name[latency] : "?";
}

const char *fr_rate_name(u32 rate)
{
	static const char *const name[FR_RATE_CNT] = {
#define R(nr, name, doc, whose) [nr] = #name,
		FR_RATES(R)
#undef R
	};

	return rate < FR_RATE_CNT ? name[rate] : "?";
}

u32 fr_rate_find(const char *name)
{
	u32 rate = 0;

	while (rate < FR_RATE_CNT && strcmp(name, fr_rate_name(rate)))
		rate++;
	return rate;
}

const char *fr_rate_doc(u32 rate)
{
	static const char *const text[FR_RATE_CNT] = {
#define R(nr, name, doc, whose) [nr] = doc,
		FR_RATES(R)
#undef R
	};

	return rate < FR_RATE_CNT ? text[rate] : "of something";
}

u64 fr_trigger_span(const char *name)
{
	u64 hash = FR_MARKSPAN_NAME_BEGUN;

	while (*name)
		hash = fr_markspan_name_step(hash, *name++);
	return hash;
}

u32 fr_trigger_part(const struct fr_trigger *t)
{
	return t->kind == FR_TRIGGER_rate ? t->rate : t->latency;
}

/* ---- matching ---- */

/* Length of the first of several patterns, separated by |. */
static size_t first_pattern(const char *patterns)
{
	size_t i = 0;

	while (patterns[i] && patterns[i] != '|')
		i += patterns[i] == '\\' && patterns[i + 1] ? 2 : 1;
	return i;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * A pattern with a slash applies to the whole path, one without to its last part. If the beginning of a path was cut off
 * (FR_ALERT_PATH_MAX), only what follows the pattern's last * is compared: a snapshot too many is better than a crash without
 * one.
 */
static bool path_fits(const char *pattern, size_t sz, const char *path)
{
	if (!memchr(pattern, '/', sz)) {
		path = last_part(path);
	} else if (!strncmp(path, CUT, strlen(CUT))) {
		const char *star = memrchr(pattern, '*', sz);

		return star && fr_glob(star, pattern + sz - star, path, strlen(path));
	}
	return fr_glob(pattern, sz, path, strlen(path));
}

static bool name_fits(const char *pattern, size_t sz, const char *name)
{
	return fr_glob(pattern, sz, name, strlen(name));
}

static bool one_fits(const char *patterns, const char *text, bool (*fits)(const char *, size_t, const char *))
{
	size_t sz;

	if (!*patterns)
		return true;
	if (!text || !*text)
		return false;
	for (;; patterns += sz + 1) {
		sz = first_pattern(patterns);
		if (fits(patterns, sz, text))
			return true;
		if (!patterns[sz])
			return false;
	}
}

static bool filters_fit(const struct fr_trigger *t, const struct fr_moment *m)
{
	if (t->uid != ~0u && t->uid != m->uid)
		return false;
	if (t->sig_set && t->kind != FR_TRIGGER_rate && !fr_sig_in(m->sig, t->sig_set))
		return false;
	return one_fits(t->comm, m->comm, name_fits) && one_fits(t->exe, m->exe, path_fits) &&
	       one_fits(t->cgroup, m->cgroup, path_fits);
}

static bool latency_fits(const struct fr_trigger *t, const struct fr_moment *m)
{
	if (t->latency != m->latency || m->value_ns <= t->limit_ns)
		return false;
	return t->latency != FR_LATENCY_syscall || t->call_nr < 0 || m->what == (u32)t->call_nr;
}

static bool kind_fits(const struct fr_trigger *t, const struct fr_moment *m)
{
	if (t->kind != m->kind)
		return false;
	switch (t->kind) {
	case FR_TRIGGER_crash:
		return t->all || m->core;
	case FR_TRIGGER_status:
		return t->status == m->status;
	case FR_TRIGGER_latency:
		return latency_fits(t, m);
	default:
		return !t->limit_ns || m->value_ns > t->limit_ns;
	}
}

bool fr_trigger_match(const struct fr_trigger *t, const struct fr_moment *m)
{
	return kind_fits(t, m) && filters_fit(t, m);
}

#define LOOKS	    4ULL /* within the limit */
#define LOOK_MIN_NS 100000000ULL
#define LOOK_MAX_NS 10000000000ULL

u64 fr_trigger_look_ns(u64 limit_ns)
{
	u64 each_ns = limit_ns / LOOKS;

	if (each_ns < LOOK_MIN_NS)
		return LOOK_MIN_NS;
	return each_ns > LOOK_MAX_NS ? LOOK_MAX_NS : each_ns;
}

/* ---- equal moments ---- */

/* The program: by its file, its path or its name. A kernel report comes in any task that was running. */
static u64 mix_program(u64 hash, const struct fr_moment *m)
{
	const char *name = m->exe && *m->exe ? m->exe : m->comm;

	if (m->kind == FR_TRIGGER_kernel)
		return fr_hash(hash, &m->what, sizeof(m->what));
	if (m->exe_id)
		return fr_hash(hash, &m->exe_id, sizeof(m->exe_id));
	return fr_hash(hash, name ? name : "", name ? strlen(name) : 0);
}

u64 fr_trigger_program(const struct fr_moment *m)
{
	u64 hash = mix_program(FR_HASH_SEED, m);

	return hash ? hash : 1;
}

u64 fr_trigger_stack(const u64 *frame, u32 cnt)
{
	u64 hash = FR_HASH_SEED, ip;
	u32 i;

	for (i = 0; i < cnt && i < FR_TRIGGER_FRAME_CNT; i++) {
		ip = frame[i] & IP_MASK;
		hash = fr_hash(hash, &ip, sizeof(ip));
	}
	return i ? hash : 0;
}

u64 fr_trigger_key(const struct fr_moment *m)
{
	u32 fixed[3] = {m->kind, m->sig, m->kind == FR_TRIGGER_status ? m->status : 0};
	u64 ip = m->ip & IP_MASK, hash = FR_HASH_SEED;

	hash = fr_hash(hash, fixed, sizeof(fixed));
	hash = fr_hash(hash, &ip, sizeof(ip));
	hash = fr_hash(hash, &m->stack, sizeof(m->stack));
	if (m->kind != FR_TRIGGER_kernel)
		hash = fr_hash(hash, &m->uid, sizeof(m->uid));
	/* nothing but its name tells what one interpreter ran from what another did */
	if (m->kind == FR_TRIGGER_status && m->comm)
		hash = fr_hash(hash, m->comm, strlen(m->comm));
	hash = mix_program(hash, m);
	return hash ? hash : 1;
}
