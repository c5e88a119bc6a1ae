/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* frequent: the events of which there are most. One source, since bpf/current.bpf.h allows one that finds the task by loads. */
#include "frequent/irq.bpf.h"
#include "frequent/sched.bpf.h"
#include "frequent/syscall.bpf.h"

char _license[] SEC("license") = "Dual BSD/GPL";
