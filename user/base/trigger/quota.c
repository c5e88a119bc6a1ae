/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/trigger/quota.h"

#include "base/set/idmap.h"

/* What is left if everything chosen is removed. */
struct left {
	u64 files, sz, free_sz, free_files;
};

static void quota_let_go(struct fr_quota_file *f, struct left *left)
{
	f->remove = true;
	left->files--;
	left->sz -= f->sz;
	left->free_sz += f->disk_sz;
	left->free_files += f->disk_sz != 0;
}

/* 2020-01-01: the wall clock of whoever took a snapshot before was not set yet, so nobody knows how old it is. */
#define CLOCK_SET_NS 1577836800000000000ULL

/* Further ahead than clocks of hosts differ that have one directory. */
#define AHEAD_NS 3600000000000ULL

static bool is_ahead(const struct fr_quota_file *f, u64 now_ns)
{
	return f->real_ns > now_ns && f->real_ns - now_ns > AHEAD_NS;
}

static bool may_go(const struct fr_quota_file *f)
{
	return !f->keep && !f->gone;
}

static bool is_too_old(const struct fr_quota_file *f, const struct fr_quota_limit *limit, u64 now_ns)
{
	if (!limit->max_age_ns || f->real_ns < CLOCK_SET_NS)
		return false;
	return now_ns > f->real_ns && now_ns - f->real_ns > limit->max_age_ns;
}

static enum fr_quota_short what_is_short(const struct left *left, const struct fr_quota_limit *limit, u64 want_sz)
{
	if (limit->max_files && left->files + (want_sz != 0) > limit->max_files)
		return FR_QUOTA_COUNT;
	if (limit->max_sz && left->sz + want_sz > limit->max_sz)
		return FR_QUOTA_BYTES;
	if (left->free_sz < want_sz || left->free_sz - want_sz < limit->keep_free_sz)
		return FR_QUOTA_FREE;
	return want_sz && !left->free_files ? FR_QUOTA_INODES : FR_QUOTA_ROOM;
}

/* Which are the newest of their failure? Without memory to tell, none are, and age alone counts. */
static void find_newest(struct fr_quota_file *file, size_t cnt, const struct fr_quota_now *now)
{
	struct fr_idmap seen;
	bool *is_seen, *mine = NULL;
	size_t i;

	fr_idmap_init(&seen, sizeof(bool));
	if (now->want_sz && now->want_signature)
		mine = fr_idmap_get(&seen, now->want_signature);
	if (mine)
		*mine = true;
	for (i = cnt; i--;) {
		file[i].newest = false;
		is_seen = file[i].signature && !file[i].gone ? fr_idmap_get(&seen, file[i].signature) : NULL;
		if (!is_seen)
			continue;
		file[i].newest = !*is_seen;
		*is_seen = true;
	}
	fr_idmap_free(&seen);
}

/* Of those whose date is ahead, or of the others: the oldest, until there is room. newest: those of their failure, or others.
 */
static enum fr_quota_short choose_oldest(struct fr_quota_file *file, size_t cnt, const struct fr_quota_limit *limit,
					 const struct fr_quota_now *now, bool newest, bool ahead, struct left *left)
{
	enum fr_quota_short is_short = what_is_short(left, limit, now->want_sz);
	size_t i;

	for (i = 0; i < cnt && is_short; i++) {
		if (!may_go(&file[i]) || file[i].remove || file[i].newest != newest ||
		    is_ahead(&file[i], now->real_ns) != ahead)
			continue;
		quota_let_go(&file[i], left);
		is_short = what_is_short(left, limit, now->want_sz);
	}
	return is_short;
}

/* How soon it goes, the highest first: repeats, then what is ahead. */
static int goes_soon(const struct fr_quota_file *f, u64 now_ns)
{
	return 2 * !f->newest + is_ahead(f, now_ns);
}

/* Beside those that are too old, one more: as choose_oldest() would, the first. */
static void choose_one(struct fr_quota_file *file, size_t cnt, u64 now_ns)
{
	struct fr_quota_file *first = NULL;
	size_t i;

	for (i = 0; i < cnt; i++) {
		if (!may_go(&file[i]) || file[i].remove)
			continue;
		if (!first || goes_soon(&file[i], now_ns) > goes_soon(first, now_ns))
			first = &file[i];
	}
	if (first)
		first->remove = true;
}

enum fr_quota_short fr_quota_choose(struct fr_quota_file *file, size_t cnt, const struct fr_quota_limit *limit,
				    const struct fr_quota_now *now)
{
	struct left left = {.files = cnt, .free_sz = now->free_sz, .free_files = now->free_files};
	enum fr_quota_short is_short = FR_QUOTA_ROOM;
	u32 pass;
	size_t i;

	find_newest(file, cnt, now);
	for (i = 0; i < cnt; i++) {
		file[i].remove = false;
		left.files -= file[i].gone;
		left.sz += file[i].gone ? 0 : file[i].sz;
	}
	for (i = 0; i < cnt; i++)
		if (may_go(&file[i]) && is_too_old(&file[i], limit, now->real_ns))
			quota_let_go(&file[i], &left);
	for (pass = 0; pass < 4 && (!pass || is_short); pass++)
		is_short = choose_oldest(file, cnt, limit, now, pass & 2, !(pass & 1), &left);
	/* in vain: those that are not too old stay */
	for (i = 0; is_short && i < cnt; i++)
		file[i].remove = may_go(&file[i]) && is_too_old(&file[i], limit, now->real_ns);
	if (is_short != FR_QUOTA_FREE || left.free_sz <= limit->keep_free_sz || !left.free_files)
		return is_short;
	choose_one(file, cnt, now->real_ns);
	return FR_QUOTA_TRY;
}
