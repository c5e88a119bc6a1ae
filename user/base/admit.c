/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/admit.h"

u64 fr_admit_wait(struct fr_admit *a, u64 now_ns)
{
	if (now_ns - a->slot_ns >= FR_ADMIT_SLOT_NS) {
		a->slot_ns = now_ns;
		a->slot_cnt = 0;
	}
	return a->slot_cnt < FR_ADMIT_SLOT_CNT ? 0 : a->slot_ns + FR_ADMIT_SLOT_NS;
}

void fr_admit_took(struct fr_admit *a)
{
	a->slot_cnt++;
}

static bool admit_is_over(const struct fr_admit_user *u, u64 now_ns)
{
	return !u->from_ns || now_ns - u->from_ns >= FR_ADMIT_USER_NS;
}

static struct fr_admit_user *begin_user(struct fr_admit_user *u, uid_t uid, u64 now_ns)
{
	if (admit_is_over(u, now_ns))
		*u = (struct fr_admit_user){.uid = uid, .from_ns = now_ns};
	return u;
}

/* Its count; that of a user whose second is over is free for the next one. */
static struct fr_admit_user *admit_find_user(struct fr_admit *a, uid_t uid, u64 now_ns)
{
	struct fr_admit_user *over = NULL, *u;

	for (u = a->user; u < a->user + FR_ADMIT_USER_CNT; u++) {
		if (u->from_ns && u->uid == uid)
			return begin_user(u, uid, now_ns);
		if (!over && admit_is_over(u, now_ns))
			over = u;
	}
	return begin_user(over ?: &a->others, uid, now_ns);
}

bool fr_admit_connection(struct fr_admit *a, uid_t uid, u64 now_ns)
{
	return !uid || admit_find_user(a, uid, now_ns)->connections++ < FR_ADMIT_CONNECT_MAX;
}

bool fr_admit_request(struct fr_admit *a, uid_t uid, u64 now_ns)
{
	return !uid || admit_find_user(a, uid, now_ns)->requests++ < FR_ADMIT_REQUEST_MAX;
}

bool fr_admit_look(struct fr_admit *a, uid_t uid, u64 now_ns)
{
	return !uid || admit_find_user(a, uid, now_ns)->looks++ < FR_ADMIT_LOOK_MAX;
}
