/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * handler: keeps a CPU in a softirq, or in a handler of an interrupt, for a known time. Its programs are attached behind those
 * that record: where a softirq or a handler begins is recorded first, and what it then takes is its. It ends where the kernel
 * says so, after its own work.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define MAX	 256u
#define SPIN_MAX (1u << 23)
#define NET_RX	 3

u64 spin_ns = 0;
u64 soft_armed = 0, hard_armed = 0;   /* 1: the next one; 0: it was */
u64 soft_inside = 0, hard_inside = 0; /* number cnt has spun and is still in there */
u64 cnt = 0;
u64 begin_ns[MAX] = {}, end_ns[MAX] = {};
u32 cpu[MAX] = {};

static int is_over(u32 i, u64 *until)
{
	return bpf_ktime_get_ns() >= *until;
}

static void spin(u64 *armed, volatile u64 *inside)
{
	u64 now = bpf_ktime_get_ns(), until = now + spin_ns;
	u32 nr = cnt;

	if (!*(volatile u64 *)armed || nr >= MAX || !__sync_lock_test_and_set(armed, 0))
		return;
	begin_ns[nr] = now;
	bpf_loop(SPIN_MAX, is_over, &until, 0);
	cpu[nr] = bpf_get_smp_processor_id();
	*inside = 1;
}

static void leave(volatile u64 *inside)
{
	u32 nr = cnt;

	if (!*inside || nr >= MAX || cpu[nr] != bpf_get_smp_processor_id())
		return;
	end_ns[nr] = bpf_ktime_get_ns();
	*inside = 0;
	__sync_fetch_and_add(&cnt, 1);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(soft, unsigned int vec)
{
	if (vec == NET_RX)
		spin(&soft_armed, &soft_inside);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(soft_end, unsigned int vec)
{
	if (vec == NET_RX)
		leave(&soft_inside);
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(hard, int irq)
{
	spin(&hard_armed, &hard_inside);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(hard_end, int irq)
{
	leave(&hard_inside);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
