/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sess_int: shared by the parts of sess, and by nothing else. */
#ifndef FR_SESS_INT_H
#define FR_SESS_INT_H

#include "alert.h"
#include "incident_layout.h"
#include "live/session/sess.h"

struct fr_sess {
	char name[FR_SESS_NAME_MAX + 1];
	char dir[128];
	int dir_fd;	 /* holds the reader's lock when locked */
	int owner_fd;	 /* holds the owner's lock, -1: not ours */
	int call_fd;	 /* holds the lock of control programs while one runs, -1: not opened yet */
	bool call_stuck; /* whoever has it did not give it back in time: do not wait again */
	u64 beside_cnt;	 /* fr_session's, when the reader's lock was taken */
	bool is_new;
	char *facts;
	char *schema;
	size_t schema_sz;
	struct fr_ring_map *ring;
	size_t ring_cnt;
	struct fr_session *shared;
	struct fr_call *call;
	struct fr_triggers *triggers;
	struct fr_incident_head *inc; /* the incident log, NULL: none */
	u32 inc_cnt;		      /* records in it */
	struct fr_sess_prog *held;    /* by fr_sess_hold_progs(), NULL none */
	size_t held_cnt;
	struct fr_sess_prog *trig; /* by fr_sess_hold_trigger_progs(), NULL none */
	size_t trig_cnt;
	u32 trig_slots; /* of the rules that we put in force */
};

/*
 * Run a program that leaves its result, sz bytes at from, for whoever has its ticket. 0 and *out; -EAGAIN: it ran, but another
 * run has replaced the result; -EBUSY: others kept the turn; -errno.
 */
struct bpf_test_run_opts;
int fr_sess_run(int prog_fd, struct bpf_test_run_opts *opts, const struct fr_turn *t, const void *from, void *out, size_t sz);

/* The fd of a pin in the session's directory, or -errno. */
int fr_sess_get_pin(const struct fr_sess *s, const char *name);

/* Keep facts and schema, whole texts, with the session, whose rings are mapped, or instead of what is there. 0 or -errno. */
int fr_sess_pin_meta(const struct fr_sess *s, const char *facts, const char *schema);
int fr_sess_read_meta(struct fr_sess *s);

/* Map the rings and the shared structs, after checking that they are what they should be. 0 or -errno. */
int fr_sess_map(struct fr_sess *s);
int fr_sess_map_rings(struct fr_sess *s); /* those that are not mapped yet */

/*
 * Where does a CPU that came later keep its current task (bpf/current.bpf.h)? A CPU that cannot be asked keeps using the
 * helper.
 */
void fr_sess_find_current(struct fr_sess *s, u32 cpu);
void fr_sess_unmap(struct fr_sess *s);

/* Is this an array map with values of this size? *entries: how many. */
bool fr_sess_is_array(int fd, u32 value_sz, u32 *entries);

/* Keep these cnt programs of triggers open instead of the previous ones. Takes ownership of list. */
void fr_sess_hold_trigger_progs(struct fr_sess *s, struct fr_sess_prog *list, size_t cnt);

/* The ids of a link and of its program. 0 or -errno. */
int fr_sess_link_id(int fd, u32 *link, u32 *prog);

#endif
