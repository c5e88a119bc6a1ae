/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request: the path of one request through threads and processes, from the marks of its id (user/lib/flightrec_mark.h), and
 * from who woke and began whom. What a thread does when is the span machine's (base/rows/span.h): this only asks whose it is.
 *
 *	client	--begin 7-------wakes server-----waits--------woken----end 7---
 *	server	.................[followed: woken ... wakes client][ waits for the next one
 *
 *	leg	a stretch of one thread's time in the request
 *	step	what happens in a leg: a mark, a wait
 *
 * Rules
 *  - marked: from begin(name, id) until all that it has begun for this id is ended, by whichever thread, or until the thread's
 *    next begin of another id, or its end. Its waits are the request's.
 *  - followed: a thread that one of the request's wakes from its sleep, or begins, from then on. A thread that is marked with
 *    another id is not followed: a mark knows better. It ends at the thread's next mark with an id, its end, or when it waits
 *    for something else.
 *  - A followed thread that waits where the request found it, as the records of both waits tell (the call and what it is
 *    for, or the kernel's stack), waits for something else: its leg ends where the wait begins. Any other wait of it is the
 *    request's if the request ends it, if it is blocked (D), or if both records tell that it is elsewhere. A thread that was
 *    begun for the request was found nowhere: its wait is the request's if no task ends it. Of what is left it is not known
 *    what it waits for: the leg ends there, too.
 *  - Where events are missing while a followed thread is off its CPU, or on the CPU that has it, its leg ends: it may have done
 *    anything. Marked ones go on, and say so.
 *
 * A mark says so; that a leg is followed is a conclusion, which whoever shows it must say. Memory grows with what belongs to
 * the request, and with the threads that are marked or woken by it; where there is no room for more (sys/memory.h), steps are
 * counted as left out.
 */
#ifndef FR_REQUEST_H
#define FR_REQUEST_H

#include "base/set/vec.h"
#include "read/replay/replay.h"
#include "read/waits/waited.h"

/* How a thread came to the request. BEFORE: by its end mark alone: since when it is in the request is not known. */
#define FR_REQUEST_HOWS(H) H(marked) H(woken) H(forked) H(before)
/* Why a leg ends; open: the file does. */
#define FR_REQUEST_ENDS(E)                                                            \
	E(open, "the file ends")                                                      \
	E(end, "its end mark")                                                        \
	E(mark, "a mark of its own")                                                  \
	E(other, "a mark of another id")                                              \
	E(wait, "it waits for something else")                                        \
	E(untold, "it waits: whether for the request is not known")                   \
	E(still, "it waits, and the file ends: whether for the request is not known") \
	E(exit, "it ends")                                                            \
	E(missing, "events are missing")
#define FR_REQUEST_DOES(D) D(begin) D(end) D(mark) D(woken) D(forked) D(wait) D(leaves)

enum fr_request_how {
#define X(name) FR_REQUEST_##name,
	FR_REQUEST_HOWS(X)
#undef X
};

enum fr_request_end {
#define X(name, words) FR_REQUEST_END_##name,
	FR_REQUEST_ENDS(X)
#undef X
};

enum fr_request_did {
#define X(name) FR_REQUEST_DID_##name,
	FR_REQUEST_DOES(X)
#undef X
};

/* Times are the first file's clock, of other boots by wall time. */
struct fr_request_leg {
	u32 tid, file;
	s32 pid; /* -1: not known */
	struct fr_waited_name comm;
	u8 how, end; /* enum fr_request_how, fr_request_end */
	bool gap;    /* events are missing meanwhile */
	bool ran;
	u32 from; /* its number + 1 of the leg that woke or began it; 0: none */
	u64 begin_ns, end_ns;
	u64 oncpu_ns, queued_ns, wait_ns; /* as far as known */
	u32 wait_cnt;
};

struct fr_request_step {
	u64 ts; /* a wait: when it began */
	u32 seq;
	u32 leg;	       /* its number */
	u8 did;		       /* enum fr_request_did */
	bool ended;	       /* a wait: before its leg does; others: true */
	bool back;	       /* a wait: and it has had a CPU since */
	bool told;	       /* a wait: it has a record, or the file says what it was in when it was taken */
	char *text;	       /* of a mark; NULL: none, or not known. Escape it */
	struct fr_waited wait; /* its object is owned */
};

struct fr_request {
	u64 id;
	struct fr_replay *replay;
	struct fr_vec legs;			   /* struct fr_request_leg, as they were found */
	struct fr_vec steps;			   /* struct fr_request_step, by ts */
	u64 begin_ns, end_ns;			   /* from its first leg to its last one's end */
	u32 begin_cnt, end_cnt;			   /* marks of it */
	u64 left_out;				   /* steps, for lack of memory */
	bool has_marks;				   /* a file has events that are marks with an id */
	bool has_begins, has_ends;		   /* begins, and ends of them */
	u32 unbegun_cnt;			   /* ends of it without a begin of the same name before */
	bool has_switches, has_wakings, has_waits; /* all files recorded these */
	u64 mark_cnt;				   /* marks with an id in the window */
	u64 near_id;		    /* some id that there is, of the last one; for who asks for one that is not */
	struct fr_request_run *run; /* private */
};

/* The replay must have been opened with names and spans, and not begun; it must live as long. 0, or -errno; free it in any
 * case. */
int fr_request_read(struct fr_request *q, struct fr_replay *r, u64 id);
void fr_request_free(struct fr_request *q);

static inline const struct fr_request_leg *fr_request_leg(const struct fr_request *q, u32 i)
{
	return (const struct fr_request_leg *)q->legs.at + i;
}

static inline const struct fr_request_step *fr_request_step(const struct fr_request *q, u32 i)
{
	return (const struct fr_request_step *)q->steps.at + i;
}

/* Is it a conclusion? */
static inline bool fr_request_is_followed(const struct fr_request_leg *l)
{
	return l->how == FR_REQUEST_woken || l->how == FR_REQUEST_forked;
}

const char *fr_request_how_word(u8 how);
const char *fr_request_end_word(u8 end); /* for programs; NULL: open */
const char *fr_request_end_words(u8 end);
const char *fr_request_did_word(u8 did);

#endif
