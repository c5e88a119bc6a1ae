/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine_tell: adds triggers to the incident log: every taken one. Of the others, which may come by the thousand, the first one
 * of a user at once, and then one now and then, with the number it stands for: so it is known who had no snapshot, and who had
 * used up what there was.
 */
#include "live/incident/inclog.h"
#include "live/recorder/engine_int.h"

#define TELL_NS 10000000000ULL /* between two of the same rule and verdict */

#define OTHERS (FR_ENGINE_TOLD_CNT - 1)

static struct fr_engine_told *all_told(struct fr_engine *e, u32 nr, u32 verdict)
{
	return e->told[nr < FR_TRIGGER_MAX ? nr : FR_TRIGGER_MAX][verdict % FR_TRIGGER_VERDICT_CNT];
}

/* A user's own, or one that nothing is held back of; those of more users are told together. */
static struct fr_engine_told *engine_tell_told_of(struct fr_engine_told *all, u32 owner, u64 now)
{
	struct fr_engine_told *free = NULL;
	u32 i;

	for (i = 0; i < OTHERS; i++) {
		if (all[i].next_ns && all[i].owner == owner)
			return &all[i];
		if (!free && !all[i].held && now >= all[i].next_ns)
			free = &all[i];
	}
	if (free)
		*free = (struct fr_engine_told){.owner = owner};
	return free ?: &all[OTHERS];
}

static void engine_tell_tell(struct fr_engine *e, const struct fr_alert *a, u32 nr, u32 verdict, u64 count)
{
	const struct fr_trigger *t = fr_engine_rule(e, nr);

	fr_tell_trigger(e->s, fr_trigger_reason(a->kind), t ? t->text : NULL, a, verdict, count);
}

/* Those of several users are nobody's. */
static void tell_now(struct fr_engine *e, struct fr_engine_told *told, const struct fr_alert *a, u32 nr, u32 verdict)
{
	const struct fr_alert others = {.kind = a->kind, .uid = ~0u, .ts = a->ts};
	bool is_others = told == &all_told(e, nr, verdict)[OTHERS] && told->held > 1;

	engine_tell_tell(e, is_others ? &others : a, nr, verdict, told->held);
}

void fr_engine_tell(struct fr_engine *e, const struct fr_alert *a, u32 nr, u32 verdict)
{
	u64 now = fr_engine_now(e);
	struct fr_engine_told *told = engine_tell_told_of(all_told(e, nr, verdict), a->owner, now);

	told->held++;
	if (verdict != FR_TRIGGER_VERDICT_taken && told->next_ns && now < told->next_ns) {
		told->kind = a->kind;
		return;
	}
	tell_now(e, told, a, nr, verdict);
	told->held = 0;
	told->next_ns = now + TELL_NS;
}

/* Add what was held back of one: rules change, or the recorder ends. */
static void tell_held(struct fr_engine *e, struct fr_engine_told *told, u32 nr, u32 verdict, bool is_others)
{
	const struct fr_alert a = {.kind = told->kind, .uid = is_others ? ~0u : told->owner};

	if (!told->held)
		return;
	engine_tell_tell(e, &a, nr, verdict, told->held);
	told->held = 0;
}

void fr_engine_tell_held(struct fr_engine *e)
{
	u32 nr, v, i;

	for (nr = 0; nr <= FR_TRIGGER_MAX; nr++)
		for (v = 0; v < FR_TRIGGER_VERDICT_CNT; v++)
			for (i = 0; i < FR_ENGINE_TOLD_CNT; i++)
				tell_held(e, &all_told(e, nr, v)[i], nr, v, i == OTHERS);
}
