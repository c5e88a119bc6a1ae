/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * livesym: the frames and names behind stack ids and addresses now, on the machine that records, without a snapshot.
 *
 *	fr_livesym_gather(y, cpu, id, cnt)	frames of these stacks, out of the stack ring that has them
 *	fr_livesym_stack(y, id, &cnt)
 *	fr_livesym_kernel(y, ip, &sym)		the kernel's own words
 *	fr_livesym_user(y, pid, id, nr, &sym)	what the process has mapped; of one that has ended, by build-id
 *
 * For those who look every now and then: it locks, reads /proc and files.
 */
#ifndef FR_LIVESYM_H
#define FR_LIVESYM_H

#include "flow/symbols/symbols.h"
#include "io/session/sess.h"

struct fr_livesym; /* opaque */

/* s must live as long. 0 and *out, or -ENOMEM. */
int fr_livesym_new(struct fr_sess *s, struct fr_livesym **out);
void fr_livesym_free(struct fr_livesym *y); /* NULL is fine */

/* Processes may have ended, and others have their numbers: forget what was known of any; and stacks, if there are many. */
void fr_livesym_forget(struct fr_livesym *y);

/* Find the frames of cnt stacks, 0 among them or not, in the stack ring of a CPU. What is not there stays unknown. */
void fr_livesym_gather(struct fr_livesym *y, u32 cpu, const u64 *id, u32 cnt);

/* Frames of a stack, innermost first; NULL: not known. Until the next call of fr_livesym_gather() or _forget(). */
const u64 *fr_livesym_stack(const struct fr_livesym *y, u64 id, size_t *cnt);

/* Texts live until fr_livesym_forget(). */
void fr_livesym_kernel(struct fr_livesym *y, u64 ip, struct fr_symbol *out);
void fr_livesym_user(struct fr_livesym *y, u32 pid, u64 stack_id, u32 nr, u64 ip, struct fr_symbol *out);

#endif
