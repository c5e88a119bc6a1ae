/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ledger: a recorder that is killed at every single instruction of what it does about a moment (base/trigger/ledger.h), and the
 * one after it, which finds the alert in the queue again. Each rule's verdict is counted once, the snapshot granted once.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "base/trigger/ledger.h"

#include "trap.h"

#define RULES  5u
#define MOMENT 4711u /* its time */
#define BEFORE 100u  /* of each verdict, of grants */

/* What outlives a recorder. */
static struct fr_triggers tr;
static struct fr_ledger ledger;

static u32 at, now; /* the instruction to be killed at; this one */
static volatile bool stepping;
static sigjmp_buf killed;

static void on_trap(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)si;
	if (!stepping)
		uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	else if (++now == at)
		siglongjmp(killed, 1);
}

/* As engine.c does it: rule 0 has a snapshot of it, the others not. */
static void decide(void)
{
	const struct fr_granted g = {.ts = MOMENT, .key = 7, .slot = 0};
	struct fr_entry n = {};
	u32 i;

	if (tr.handled_ts == MOMENT)
		return;
	fr_entry_set(&n, &tr, &tr.pending[1].order, 9);
	fr_ledger_grant(&ledger, &tr, &n, &g);
	for (i = 1; i < RULES; i++)
		fr_entry_add(&n, &tr, &tr.slot[i].verdict[FR_TRIGGER_VERDICT_busy], 1);
	fr_entry_set(&n, &tr, &tr.handled_who, 1);
	fr_entry_set(&n, &tr, &tr.handled_ts, MOMENT);
	fr_ledger_commit(&ledger, &tr, &n);
}

/* Was it killed? */
static bool die_at(u32 instruction)
{
	at = instruction;
	now = 0;
	if (sigsetjmp(killed, 1)) {
		stepping = false;
		return true;
	}
	stepping = true;
	STEP_ON();
	decide();
	stepping = false;
	return false;
}

static void begin(void)
{
	u32 i;

	memset(&tr, 0, sizeof(tr));
	memset(&ledger, 0, sizeof(ledger));
	for (i = 1; i < RULES; i++)
		tr.slot[i].verdict[FR_TRIGGER_VERDICT_busy] = BEFORE;
	tr.granted_cnt = BEFORE;
}

static bool good(void)
{
	struct fr_granted g = {};
	bool fine = tr.granted_cnt == BEFORE + 1 && fr_ledger_granted(&ledger, &tr, BEFORE, &g) && g.ts == MOMENT;
	u32 i;

	for (i = 1; i < RULES; i++)
		fine &= tr.slot[i].verdict[FR_TRIGGER_VERDICT_busy] == BEFORE + 1;
	return fine && tr.pending[1].order == 9 && tr.handled_ts == MOMENT && !ledger.entry.cnt;
}

int main(void)
{
	struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
	bool fine = !sigaction(SIGTRAP, &sa, NULL), was_killed = true;
	u32 i;

	for (i = 1; fine && was_killed; i++) {
		begin();
		was_killed = die_at(i);
		fr_ledger_recover(&ledger, &tr);
		decide();
		fine = good();
	}
	fine &= i > 100;
	printf("a recorder killed at one of %u instructions, and the next: %s\n", i - 2, fine ? "ok" : "FAILED");
	printf("%u passed, %u failed, 0 skipped\n", fine, !fine);
	return !fine;
}
