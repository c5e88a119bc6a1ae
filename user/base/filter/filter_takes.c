/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* filter_takes: which rows a filter certainly accepts, whatever they hold. */
#include "base/filter/filter_node.h"

/* The part of an expression that is still open for this event; NULL: none, the event's number decides. */
static const struct fr_node *rest(const struct fr_node *n, u32 nr)
{
	const struct fr_node *a, *b;

	if (fr_node_verdict(n, nr) != FR_VERDICT_LOOK)
		return NULL;
	if (n->op != FR_OP_AND && n->op != FR_OP_OR)
		return n;
	a = rest(n->a, nr);
	b = rest(n->b, nr);
	return a && b ? n : a ? a : b;
}

/* Is it the same for all rows of a task? */
static bool is_of_task(const struct fr_node *n)
{
	const struct fr_node *b;

	switch (n->op) {
	case FR_OP_NUM:
	case FR_OP_TEXT:
		return true;
	case FR_OP_BUILTIN:
		return n->builtin == FR_BI_pid || n->builtin == FR_BI_tid || fr_builtin_is_cgroup(n->builtin);
	case FR_OP_NAME:
	case FR_OP_FIELD:
	case FR_OP_SYMBOL:
	case FR_OP_EVENTS:
		return false;
	default:
		break;
	}
	for (b = n->b; b; b = b->next)
		if (!is_of_task(b))
			return false;
	return is_of_task(n->a);
}

enum fr_takes fr_filter_takes(const struct fr_filter *f, const u8 *event, u32 cnt)
{
	const struct fr_node *first = cnt ? rest(f->root, event[0]) : NULL;
	u32 i;

	for (i = 0; i < cnt; i++)
		if (f->verdict[event[i]] == FR_VERDICT_NO || rest(f->root, event[i]) != first)
			return FR_TAKES_SOME;
	if (!first)
		return FR_TAKES_ALL;
	return is_of_task(first) ? FR_TAKES_TASKS : FR_TAKES_SOME;
}
