/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * admit: how much of what strangers send to a socket is looked at. Anybody may connect and ask as often as they can, and
 * whoever serves them pays for it. Pure: it is given the time, and does nothing itself.
 *
 *	all together	FR_ADMIT_SLOT_CNT connections in each FR_ADMIT_SLOT_NS are taken from the queue; the others wait in it
 *	one user	of those taken, FR_ADMIT_CONNECT_MAX in a second are served, and FR_ADMIT_REQUEST_MAX requests, on
 *			whatever connections; beyond that they are refused. root has no such limit: whom would it protect?
 *			FR_ADMIT_LOOK_MAX of the requests may have a process forked that looks at the disk; others are told
 *			what the last one saw
 *	many users	FR_ADMIT_USER_CNT have counts of their own at a time, all others share one
 */
#ifndef FR_ADMIT_H
#define FR_ADMIT_H

#include <stdbool.h>
#include <sys/types.h>

#include "types.h"

#define FR_ADMIT_SLOT_NS     100000000ULL
#define FR_ADMIT_SLOT_CNT    128u
#define FR_ADMIT_USER_NS     1000000000ULL
#define FR_ADMIT_USER_CNT    64u
#define FR_ADMIT_CONNECT_MAX 200u
#define FR_ADMIT_REQUEST_MAX 100u
#define FR_ADMIT_LOOK_MAX    4u

/* What a user did since from_ns; counts only for FR_ADMIT_USER_NS. */
struct fr_admit_user {
	uid_t uid;
	u64 from_ns; /* 0: free */
	u32 connections, requests, looks;
};

/* All zero to begin with. */
struct fr_admit {
	u64 slot_ns; /* begin of the current slot */
	u32 slot_cnt;
	struct fr_admit_user user[FR_ADMIT_USER_CNT], others;
};

/* When may another connection be taken from the queue? 0: now. What was taken is counted. */
u64 fr_admit_wait(struct fr_admit *a, u64 now_ns);
void fr_admit_took(struct fr_admit *a);

/* May this user's connection, or request, be served, or look at the disk? It is counted in either case. */
bool fr_admit_connection(struct fr_admit *a, uid_t uid, u64 now_ns);
bool fr_admit_request(struct fr_admit *a, uid_t uid, u64 now_ns);
bool fr_admit_look(struct fr_admit *a, uid_t uid, u64 now_ns);

#endif
