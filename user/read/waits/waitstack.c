/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/waits/waitstack.h"

#include <stdio.h>
#include <string.h>

static const char *const inner[] = {"__schedule",
				    "schedule",
				    "schedule_timeout",
				    "schedule_preempt_disabled",
				    "schedule_hrtimeout_range",
				    "schedule_hrtimeout_range_clock",
				    "preempt_schedule_irq",
				    "preempt_schedule_common",
				    "__cond_resched",
				    NULL};
static const char *const outer[] = {"do_syscall_64",
				    "x64_sys_call",
				    "entry_SYSCALL_64_after_hwframe",
				    "entry_SYSCALL_64",
				    "el0_svc",
				    "el0_svc_common",
				    "el0_svc_common.constprop.0",
				    "do_el0_svc",
				    "invoke_syscall",
				    "invoke_syscall.constprop.0",
				    "el0t_64_sync_handler",
				    "el0t_64_sync",
				    "ret_from_fork",
				    "ret_from_fork_asm",
				    NULL};

const char *fr_waitstack_name(struct fr_symbols *y, u64 ip, char text[20])
{
	struct fr_symbol s = {0};

	if (y)
		fr_symbols_kernel(y, ip, &s);
	if (s.name)
		return s.name;
	snprintf(text, 20, "0x%llx", (unsigned long long)ip);
	return text;
}

static bool is_one_of(struct fr_symbols *y, u64 ip, const char *const *names)
{
	char text[20];
	const char *name = fr_waitstack_name(y, ip, text);

	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

struct fr_waitstack fr_waitstack_find(struct fr_symbols *y, const struct fr_stacks *stacks, u64 id)
{
	size_t cnt = 0;
	struct fr_waitstack s = {.ip = id ? fr_stacks_find(stacks, id, &cnt) : NULL};

	if (!s.ip)
		return s;
	s.to = cnt;
	while (s.from < s.to && is_one_of(y, s.ip[s.from], inner))
		s.from++;
	while (s.to > s.from && is_one_of(y, s.ip[s.to - 1], outer))
		s.to--;
	if (s.from == s.to) { /* nothing else */
		s.from = 0;
		s.to = cnt;
	}
	return s;
}
