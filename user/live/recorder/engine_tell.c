/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine_tell: adds triggers to the incident log: every taken one. Of the others, which may come by the thousand, the first one
 * at once, and then one now and then, with the number it stands for.
 */
#include "live/incident/inclog.h"
#include "live/recorder/engine_int.h"

#define TELL_NS 10000000000ULL /* between two of the same rule and verdict */

static struct fr_engine_told *told_of(struct fr_engine *e, u32 nr, u32 verdict)
{
	return &e->told[nr < FR_TRIGGER_MAX ? nr : FR_TRIGGER_MAX][verdict % FR_TRIGGER_VERDICT_CNT];
}

static void tell(struct fr_engine *e, const struct fr_alert *a, u32 nr, u32 verdict, u64 count)
{
	const struct fr_trigger *t = fr_engine_rule(e, nr);

	fr_tell_trigger(e->s, fr_trigger_reason(a->kind), t ? t->text : NULL, a, verdict, count);
}

void fr_engine_tell(struct fr_engine *e, const struct fr_alert *a, u32 nr, u32 verdict)
{
	struct fr_engine_told *told = told_of(e, nr, verdict);
	u64 now = fr_engine_now(e);

	told->held++;
	if (verdict != FR_TRIGGER_VERDICT_taken && told->next_ns && now < told->next_ns) {
		told->kind = a->kind;
		return;
	}
	tell(e, a, nr, verdict, told->held);
	told->held = 0;
	told->next_ns = now + TELL_NS;
}

/* Add what was held back: rules change, or the recorder ends. */
void fr_engine_tell_held(struct fr_engine *e)
{
	const struct fr_alert none = {.uid = ~0u};
	struct fr_alert a;
	u32 nr, v;

	for (nr = 0; nr <= FR_TRIGGER_MAX; nr++)
		for (v = 0; v < FR_TRIGGER_VERDICT_CNT; v++) {
			if (!e->told[nr][v].held)
				continue;
			a = none;
			a.kind = e->told[nr][v].kind;
			tell(e, &a, nr, v, e->told[nr][v].held);
			e->told[nr][v].held = 0;
		}
}
