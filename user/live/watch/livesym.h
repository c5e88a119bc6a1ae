/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * livesym: resolves stack ids and addresses to frames and names on the recording machine, now and without a snapshot.
 *
 *	fr_livesym_gather(y, cpu, id, cnt)	frames of these stacks, from the stack ring that has them
 *	fr_livesym_stack(y, id, &cnt)
 *	fr_livesym_kernel(y, ip, &sym)		from the kernel itself
 *	fr_livesym_user(y, pid, id, nr, &sym)	from the process's mappings; after it has ended, by build-id
 *
 * For occasional use: it takes locks and reads /proc and files.
 */
#ifndef FR_LIVESYM_H
#define FR_LIVESYM_H

#include "live/session/sess.h"
#include "read/symbols/symbols.h"

struct fr_livesym; /* opaque */

/* s must live as long. 0 and *out, or -ENOMEM. */
int fr_livesym_new(struct fr_sess *s, struct fr_livesym **out);
void fr_livesym_free(struct fr_livesym *y); /* NULL is fine */

/* Forget everything about processes: they may have ended, and their pids been reused. Forget stacks, too, if there are many. */
void fr_livesym_forget(struct fr_livesym *y);

/* Find the frames of cnt stacks in the stack ring of a CPU; ids of 0 are fine. Stacks that are not there stay unknown. */
void fr_livesym_gather(struct fr_livesym *y, u32 cpu, const u64 *id, u32 cnt);

/* The frames of a stack, innermost first; NULL: unknown. Valid until the next fr_livesym_gather() or _forget(). */
const u64 *fr_livesym_stack(const struct fr_livesym *y, u64 id, size_t *cnt);

/* Texts live until fr_livesym_forget(). */
void fr_livesym_kernel(struct fr_livesym *y, u64 ip, struct fr_symbol *out);
void fr_livesym_user(struct fr_livesym *y, u32 pid, u64 stack_id, u32 nr, u64 ip, struct fr_symbol *out);

#endif
