/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/schema/sysnames.h"
#include "live/watch/holdwatch_int.h"

void fr_holdwatch_forget(struct fr_holdwatch *w)
{
	fr_names_free(w->names);
	w->names = NULL;
	fr_livesym_forget(w->sym);
}

/* ---- the culprit ---- */

static void read_names(struct fr_holdwatch *w)
{
	struct fr_snap_task *task = NULL;
	size_t cnt = 0, i;

	w->names = fr_names_new();
	if (!w->names || fr_sess_read_tasks(w->sess.look, &task, &cnt))
		return;
	for (i = 0; i < cnt; i++)
		fr_names_add_task(w->names, task[i].tid, task[i].start_ns, &task[i].task);
	fr_names_ready(w->names);
	free(task);
}

static void name_task(struct fr_holdwatch *w, const struct fr_holdoff *h, u32 tid, struct fr_holdwatch_ran *out)
{
	struct fr_who who = {.pid = -1};

	if (!w->names)
		read_names(w);
	if (w->names)
		who = fr_names_who(w->names, tid, h->at_ns + h->length_ns, h->cpu);
	out->what = tid ? "task" : "idle";
	out->tid = tid;
	out->pid = who.pid;
	if (who.comm)
		memcpy(out->comm, who.comm, who.len < FR_COMM_SZ ? who.len : FR_COMM_SZ);
	if (!tid)
		snprintf(out->text, sizeof(out->text), "idle");
	else if (who.pid >= 0 && (u32)who.pid != tid)
		snprintf(out->text, sizeof(out->text), "%s[%d/%u]", who.comm ? out->comm : "?", who.pid, tid);
	else
		snprintf(out->text, sizeof(out->text), "%s[%u]", who.comm ? out->comm : "?", tid);
}

static void name_softirq(u32 vec, struct fr_holdwatch_ran *out)
{
	const char *name = fr_sysname(NULL, FR_STYLE_SOFTIRQ, vec);

	out->what = "softirq";
	if (name)
		snprintf(out->comm, sizeof(out->comm), "%s", name);
	else
		snprintf(out->comm, sizeof(out->comm), "%u", vec);
	snprintf(out->text, sizeof(out->text), "softirq %s", out->comm);
}

void fr_holdwatch_name(struct fr_holdwatch *w, const struct fr_holdoff *h, u32 i, struct fr_holdwatch_ran *out)
{
	const struct fr_ran *r = &h->ran[i];

	*out = (struct fr_holdwatch_ran){.pid = -1};
	if (r->what == FR_RAN_TASK) {
		name_task(w, h, r->id, out);
	} else if (r->what == FR_RAN_SOFTIRQ) {
		name_softirq(r->id, out);
	} else {
		out->what = "irq";
		memcpy(out->comm, r->name, sizeof(r->name));
		snprintf(out->text, sizeof(out->text), "irq %u%s%s", r->id, *out->comm ? " " : "", out->comm);
	}
}

/* ---- stacks ---- */

void fr_holdwatch_gather(struct fr_holdwatch *w, const struct fr_holdoff *h)
{
	u64 id[2 * FR_HOLDOFF_STACK_MAX];
	u32 i;

	for (i = 0; i < h->stack_cnt; i++) {
		id[2 * i] = h->stack[i].kstack_id;
		id[2 * i + 1] = h->stack[i].ustack_id;
	}
	fr_livesym_gather(w->sym, h->cpu, id, 2 * h->stack_cnt);
}

/* The process whose user frames these are: for a handler that of the interrupted task, which is unknown. */
static u32 name_pid_of(struct fr_holdwatch *w, const struct fr_holdoff *h, const struct fr_ran_stack *k)
{
	struct fr_holdwatch_ran r;

	if (!w->same_pids || h->ran[k->ran].what != FR_RAN_TASK)
		return 0;
	fr_holdwatch_name(w, h, k->ran, &r);
	return r.pid > 0 ? r.pid : 0;
}

bool fr_holdwatch_frame(struct fr_holdwatch *w, const struct fr_holdoff *h, const struct fr_ran_stack *k, u32 nr,
			struct fr_holdwatch_frame *out)
{
	size_t kcnt = 0, ucnt = 0;
	const u64 *kframe = fr_livesym_stack(w->sym, k->kstack_id, &kcnt);
	const u64 *uframe = fr_livesym_stack(w->sym, k->ustack_id, &ucnt);

	kcnt = kframe ? kcnt : 0;
	ucnt = uframe ? ucnt : 0;
	if (nr < kcnt) {
		*out = (struct fr_holdwatch_frame){.ip = kframe[nr]};
		fr_livesym_kernel(w->sym, out->ip, &out->sym);
		return true;
	}
	nr -= kcnt;
	if (nr >= ucnt)
		return false;
	*out = (struct fr_holdwatch_frame){.ip = uframe[nr], .user = true};
	fr_livesym_user(w->sym, name_pid_of(w, h, k), k->ustack_id, nr, out->ip, &out->sym);
	return true;
}

/* The innermost function of a stack, NULL: unknown. Names are kept per tick, so one function may have several texts. */
static const char *innermost(struct fr_holdwatch *w, const struct fr_holdoff *h, const struct fr_ran_stack *k)
{
	struct fr_holdwatch_frame f;

	return fr_holdwatch_frame(w, h, k, 0, &f) ? f.sym.name : NULL;
}

const struct fr_ran_stack *fr_holdwatch_stack(struct fr_holdwatch *w, const struct fr_holdoff *h, u32 *cnt)
{
	const char *name[FR_HOLDOFF_STACK_MAX];
	const struct fr_ran_stack *best = NULL;
	u32 i, k, sum;

	for (i = 0; i < h->stack_cnt; i++)
		name[i] = h->stack[i].ran ? NULL : innermost(w, h, &h->stack[i]);
	*cnt = 0;
	for (i = 0; i < h->stack_cnt; i++) {
		if (h->stack[i].ran)
			continue;
		for (k = 0, sum = 0; k < h->stack_cnt; k++)
			if (k == i || (name[i] && name[k] && !strcmp(name[i], name[k])))
				sum += h->stack[k].cnt;
		if (sum > *cnt) { /* of several, the first is the most frequent */
			*cnt = sum;
			best = &h->stack[i];
		}
	}
	return best;
}
