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
	snprintf(text, 20, "0x%llx", ip);
	return text;
}

static bool waitstack_is_one_of(struct fr_symbols *y, u64 ip, const char *const *names)
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
	while (s.from < s.to && waitstack_is_one_of(y, s.ip[s.from], inner))
		s.from++;
	while (s.to > s.from && waitstack_is_one_of(y, s.ip[s.to - 1], outer))
		s.to--;
	if (s.from == s.to) { /* nothing else */
		s.from = 0;
		s.to = cnt;
	}
	return s;
}

#define INLINE_MAX 16u /* functions per frame */

u32 fr_waituser_find(struct fr_symbols *y, const struct fr_stacks *stacks, u32 pid, u64 id, struct fr_waituser *out, u32 max)
{
	struct fr_symbol sym[INLINE_MAX] = {0};
	u32 found = 0, cnt, k;
	size_t ip_cnt = 0, i;
	const u64 *ip = id ? fr_stacks_find(stacks, id, &ip_cnt) : NULL;

	for (i = 0; ip && i < ip_cnt && found < max; i++) {
		cnt = y ? fr_symbols_user(y, pid, id, i, ip[i], sym, INLINE_MAX) : 1;
		for (k = 0; k < cnt && found < max; k++)
			out[found++] = (struct fr_waituser){.ip = ip[i], .sym = sym[k]};
	}
	return found;
}

const char *fr_waituser_name(const struct fr_waituser *u, char text[FR_WAITUSER_SZ])
{
	const struct fr_symbol *s = &u->sym;
	const char *slash = s->module ? strrchr(s->module, '/') : NULL;

	if (s->name)
		return s->name;
	if (s->module && s->module_off)
		snprintf(text, FR_WAITUSER_SZ, "%.64s+0x%llx", slash && slash[1] ? slash + 1 : s->module, s->module_off);
	else
		snprintf(text, FR_WAITUSER_SZ, "0x%llx", u->ip);
	return text;
}
