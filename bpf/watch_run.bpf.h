/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch_run: executes programs of bpf/watch.h. Two objects do, each with maps of its own: the triggers' for event rules
 * (trigger/watch.bpf.c), the session's for conditions of tracepoints (tp.bpf.c). Before it: fr_watch_work(), which finds a
 * buffer.
 */
#ifndef FR_WATCH_RUN_BPF_H
#define FR_WATCH_RUN_BPF_H

#include "watch.h"

/* Sized and filled by user space before programs are attached. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct fr_watch_prog);
} fr_watch_progs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct fr_watch_table);
} fr_watch_tables SEC(".maps");

/* Execute instruction pc of a program. Returns the next instruction's number. */
__noinline u32 fr_watch_do(u32 work, u32 prog, u32 pc)
{
	const struct fr_watch_prog *p = bpf_map_lookup_elem(&fr_watch_progs, &prog);
	const struct fr_watch_table *table = NULL;
	struct fr_watch_work *w = fr_watch_work(work);
	const struct fr_watch_insn *in;
	u32 nr;

	if (!w || !p)
		return FR_WATCH_INSN_MAX;
	in = &p->insn[pc % FR_WATCH_INSN_MAX];
	if (fr_watch_takes_table(in)) {
		nr = in->lo;
		table = bpf_map_lookup_elem(&fr_watch_tables, &nr);
	}
	return fr_watch_step(w, in, table, pc);
}

/* Does a program hold for the record in this buffer? */
__noinline u32 fr_watch_holds(u32 work, u32 prog)
{
	const struct fr_watch_prog *p = bpf_map_lookup_elem(&fr_watch_progs, &prog);
	struct fr_watch_work *w = fr_watch_work(work);
	u32 pc = 0, i;

	if (!w || !p)
		return 0;
	if (p->needs & FR_WATCH_NEEDS_COMM)
		bpf_get_current_comm(w->comm, sizeof(w->comm));
	if (p->needs & FR_WATCH_NEEDS_TIME)
		w->ts = fr_now();
	fr_watch_begin(w);
	for (i = 0; i < FR_WATCH_INSN_MAX; i++) {
		if (pc >= p->insn_cnt)
			break;
		pc = fr_watch_do(work, prog, pc);
	}
	return fr_watch_result(w);
}

#endif
