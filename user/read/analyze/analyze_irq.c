/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* analyze_irq: time in handlers of interrupts and softirqs. Interrupts nest inside softirqs. */
#include <errno.h>
#include <string.h>

#include "read/analyze/analyze_int.h"
#include "sys/memory.h"

static struct fr_an_irq *get_irq(struct fr_analyze *a, const struct fr_an_row *r)
{
	return fr_an_get(a, FR_AN_LEFT_irqs, &a->res.irqs, (u32)r->v[0], &a->rest.irq, FR_MEMORY_ROWS);
}

static struct fr_an_irq *get_softirq(struct fr_analyze *a, const struct fr_an_row *r)
{
	return fr_an_get(a, FR_AN_LEFT_softirqs, &a->res.softirqs, (u32)r->v[0], &a->rest.softirq, FR_MEMORY_ROWS);
}

static int count_begin(const struct fr_an_row *r, struct fr_an_irq *i)
{
	if (!i)
		return -ENOMEM;
	i->begin_cnt++;
	i->rated_cnt += r->rated;
	return 0;
}

static int count_end(const struct fr_an_row *r, struct fr_an_irq *i)
{
	if (!i)
		return -ENOMEM;
	i->end_cnt++;
	return r->pair.latency_ns ? fr_hist_add(&i->latency, r->pair.latency_ns) : 0;
}

static const struct fr_field *name_field(const struct fr_event *ev)
{
	const struct fr_field *f = fr_event_field(ev, "name");

	return f && f->kind == FR_KIND_FIELD && f->type == FR_TYPE_comm ? f : NULL;
}

void fr_an_irq_want(struct fr_analyze *a, const struct fr_schema *s)
{
	const struct fr_event *ev = fr_schema_find(s, "irq_handler_entry");

	if (ev)
		fr_an_want(a, ev->nr, name_field(ev));
}

/* The last name counts: an interrupt number may get another handler. */
static void keep_name(const struct fr_an_row *r, struct fr_an_irq *i)
{
	struct fr_row row = fr_batch_row(r->run->b, r->i);
	const struct fr_field *f = name_field(row.ev);
	const char *name;
	size_t len;

	if (!f)
		return;
	name = fr_row_text(&row, f, &len);
	len = len < FR_COMM_SZ ? len : FR_COMM_SZ;
	memcpy(i->name, name, len);
	i->name[len] = 0;
}

/* fields: irq */
static int irq_begins(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_an_irq *i;

	if (!r->counted)
		return 0;
	i = get_irq(a, r);
	if (i)
		keep_name(r, i);
	return count_begin(r, i);
}

static int irq_ends(struct fr_analyze *a, const struct fr_an_row *r)
{
	if (!r->counted)
		return 0;
	r->cpu->irq_ns += r->pair.latency_ns;
	return count_end(r, get_irq(a, r));
}

/* fields: vec */
static int irq_softirq_begins(struct fr_analyze *a, const struct fr_an_row *r)
{
	return r->counted ? count_begin(r, get_softirq(a, r)) : 0;
}

static int irq_softirq_ends(struct fr_analyze *a, const struct fr_an_row *r)
{
	if (!r->counted)
		return 0;
	r->cpu->softirq_ns += r->pair.latency_ns;
	return count_end(r, get_softirq(a, r));
}

const char *fr_an_irq_name(const struct fr_an_result *res, u32 nr)
{
	u32 i;

	for (i = 0; i < res->irqs.cnt; i++) {
		const struct fr_an_irq *irq = fr_tally_at(&res->irqs, i);

		if (irq->key == nr)
			return *irq->name ? irq->name : NULL;
	}
	return NULL;
}

const struct fr_an_rule fr_an_irq_rules[] = {
	{{"irq_handler_entry", {FR_SUB_NUM("irq")}}, irq_begins},
	{{"irq_handler_exit", {FR_SUB_NUM("irq")}}, irq_ends},
	{{"softirq_entry", {FR_SUB_NUM("vec")}}, irq_softirq_begins},
	{{"softirq_exit", {FR_SUB_NUM("vec")}}, irq_softirq_ends},
	{},
};
