/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule: does a rule hold, as the kernel side decides it, and may it alert again? Pure: the same text for the triggers' programs
 * and for replay --on. User space then decides the rest: fr_trigger_match() (base/trigger/trigger.h), fr_gate_decide()
 * (base/trigger/gate.h).
 */
#ifndef FR_RULE_H
#define FR_RULE_H

#include "alert.h"
#include "atomic.h"
#include "fatal.h"

/* Does the rule's filter by user allow this one? ~0: unknown, or no user's. */
FR_INLINE u32 fr_rule_user_fits(const volatile struct fr_trigger_rule *r, u32 uid)
{
	return r->uid == ~0u || r->uid == uid;
}

/* Does the rule's filter by name allow this one? comm: FR_COMM_SZ bytes, padded with zeros. */
FR_INLINE u32 fr_rule_name_fits(const volatile struct fr_trigger_rule *r, const u64 comm[2])
{
	return (comm[0] & r->comm_mask[0]) == r->comm_text[0] && (comm[1] & r->comm_mask[1]) == r->comm_text[1];
}

/* Is the rule for such an end of a process? value: the signal for crash, the status for status. */
FR_INLINE u32 fr_rule_is_for_death(const volatile struct fr_trigger_rule *r, u32 kind, u32 value)
{
	if (r->kind != kind)
		return 0;
	if (kind == FR_TRIGGER_crash)
		return fr_sig_in(value, r->sig_set);
	return kind != FR_TRIGGER_status || r->status == (s32)value;
}

/* Is the rule for something that took this long? id: the number of a system call; of a span its name, hashed. */
FR_INLINE u32 fr_rule_is_for_latency(const volatile struct fr_trigger_rule *r, u32 latency, u64 value_ns, u64 id)
{
	if (r->kind != FR_TRIGGER_latency || r->latency != latency || value_ns <= r->limit_ns)
		return 0;
	if (latency == FR_LATENCY_span)
		return r->span == id;
	return latency != FR_LATENCY_syscall || r->id < 0 || (!(id >> 32) && r->id == (s32)id);
}

#define FR_MARKSPAN_MAX 32768u /* places for spans (markspan.h) */

/* A span's name is compared by its hash (FNV-1a), byte for byte. */
#define FR_MARKSPAN_NAME_BEGUN 0xcbf29ce484222325ULL

FR_INLINE u64 fr_markspan_name_step(u64 hash, u8 c)
{
	return (hash ^ c) * 0x100000001b3ULL;
}

/* What a mark of a name and an id does; and are event rules about it, too? */
enum fr_markspan_mark {
	FR_MARKSPAN_NONE,
	FR_MARKSPAN_BEGINS,
	FR_MARKSPAN_ENDS,
	FR_MARKSPAN_MARK_MASK = 3,
	FR_MARKSPAN_WATCHED = 4
};

/* Is it a rule for spans of this name? */
FR_INLINE u32 fr_rule_is_for_span(const volatile struct fr_trigger_rule *r, u64 name)
{
	return r->kind == FR_TRIGGER_latency && r->latency == FR_LATENCY_span && r->span == name;
}

/* Is the rule for a task that has not run for this long? */
FR_INLINE u32 fr_rule_is_for_hung(const volatile struct fr_trigger_rule *r, u64 value_ns)
{
	return r->kind == FR_TRIGGER_hung && value_ns > r->limit_ns;
}

/* Is the rule for a task that a look found like this for so long? call: the number of a native call, -1: it is in none. */
FR_INLINE u32 fr_rule_is_for_look(const volatile struct fr_trigger_rule *r, u32 kind, u64 value_ns, s32 call)
{
	return r->kind == kind && value_ns > r->limit_ns && (r->id < 0 || r->id == call);
}

/* Is it a rule that counts such a thing? id: of a signal its number, of an error the number of the native call. */
FR_INLINE u32 fr_rule_is_for_rate(const volatile struct fr_trigger_rule *r, u32 what, u32 id, u32 error)
{
	if (r->kind != FR_TRIGGER_rate || r->rate != what)
		return 0;
	if (what == FR_RATE_signal)
		return fr_sig_in(id, r->sig_set);
	return what != FR_RATE_error || (r->id == (s32)id && (!r->status || r->status == (s32)error));
}

#define FR_ERROR_MAX	 4095u
#define FR_RESTART_FIRST 512u /* ERESTARTSYS to ERESTART_RESTARTBLOCK: the caller never sees them */
#define FR_RESTART_LAST	 516u

/* The error that a call returns, 0: none that its caller sees. */
FR_INLINE u32 fr_rule_error_of(s64 ret)
{
	u64 error = 0 - (u64)ret;

	if (!error || error > FR_ERROR_MAX || (error >= FR_RESTART_FIRST && error <= FR_RESTART_LAST))
		return 0;
	return error;
}

/* Can the rule's filter by program allow this one? exe: the first bytes of its name without directories, padded with zeros. */
FR_INLINE u32 fr_rule_exe_fits(const volatile struct fr_trigger_rule *r, const u64 exe[2])
{
	return (exe[0] & r->exe_mask[0]) == r->exe_text[0] && (exe[1] & r->exe_mask[1]) == r->exe_text[1];
}

/* Users have gaps of their own, root one for itself, others by their number: who fills gaps fills only few. */
FR_INLINE u32 fr_gap_of(u32 owner)
{
	return !owner || owner == ~0u ? 0 : 1 + (owner * 2654435761u >> (32 - FR_GAP_BITS));
}

/*
 * Is the gap since the rule's last alert over? Then this begins the next one. *next_ns: the rule's own, 0 at first; a time too
 * far ahead is damage and is ignored. The CAS pairs with itself on other CPUs: one of them begins the gap.
 */
FR_INLINE u32 fr_gap_over(u64 *next_ns, u64 now_ns, u64 gap_ns)
{
	u64 next = fr_load(next_ns);

	if (now_ns < next && next - now_ns <= gap_ns)
		return 0;
	return fr_cas(next_ns, next, now_ns + gap_ns) == next;
}

#endif
