/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* irq and softirq: entries and exits of handlers. */
#ifndef FR_IRQ_BPF_H
#define FR_IRQ_BPF_H

#include "current.bpf.h"
#include "event_fields.h"
#include "record.bpf.h"

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_handler_entry, int irq, struct irqaction *action)
{
	struct fr_rec_irq_handler_entry *rec;
	char name[FR_COMM_SZ] = {};
	struct fr_writing w;

	FR_CHECK_ENABLED(irq_handler_entry);
	bpf_probe_read_kernel_str(name, sizeof(name), action->name);
	rec = FR_BEGIN_TID(&w, irq_handler_entry, MAIN, fr_current_tid(), 0);
	if (!rec)
		return 0;
	rec->irq = irq;
	__builtin_memcpy(rec->name, name, sizeof(name));
	return fr_commit(&w);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_handler_exit, int irq, struct irqaction *action, int ret)
{
	struct fr_rec_irq_handler_exit *rec;
	struct fr_writing w;

	FR_CHECK_ENABLED(irq_handler_exit);
	rec = FR_BEGIN_TID(&w, irq_handler_exit, MAIN, fr_current_tid(), 0);
	if (!rec)
		return 0;
	rec->irq = irq;
	rec->ret = ret;
	return fr_commit(&w);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vec)
{
	struct fr_rec_softirq_entry *rec;
	struct fr_writing w;

	FR_CHECK_ENABLED(softirq_entry);
	rec = FR_BEGIN_TID(&w, softirq_entry, MAIN, fr_current_tid(), 0);
	if (!rec)
		return 0;
	rec->vec = vec;
	return fr_commit(&w);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_exit, unsigned int vec)
{
	struct fr_rec_softirq_exit *rec;
	struct fr_writing w;

	FR_CHECK_ENABLED(softirq_exit);
	rec = FR_BEGIN_TID(&w, softirq_exit, MAIN, fr_current_tid(), 0);
	if (!rec)
		return 0;
	rec->vec = vec;
	return fr_commit(&w);
}

#endif
