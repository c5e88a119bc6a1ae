/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * near: how a call begins and ends near another one (bpf/near.h), interrupted at every single instruction.
 *
 * The last call is stepped through by the trap flag, and at one instruction something else happens. What the ring then holds
 * must be what was recorded: each record once, in order of time, with all it was called with. As programs may be preempted,
 * what happens there may be another task's calls.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

#include "base/rows/rows.h"
#include "unit/host_calls.h"

#include "event_fields.h"
#include "trap.h"

#define PAGES	 2
#define SLOTS	 4
#define WANT_MAX 512

enum inject { RECORD, PAGE, LATER, CALLS, INJECT_CNT };
static const char *const inject_name[] = {"a record", "a page", "a record much later", "another task's calls"};
enum stepped { BASE, BEGIN, END, STEPPED_CNT };
static const char *const stepped_name[] = {"says all", "begins", "ends"};

static struct run {
	struct host_ring *ring;
	struct want {
		u64 ts, value; /* value: the argument, or the result */
		u32 event, tid, id;
		bool seen;
	} want[WANT_MAX];
	u32 cnt, lost, near_cnt;
	u32 at, now; /* instruction to interrupt; this one */
	enum inject what;
	volatile bool stepping;
	bool done;
} run;

static void wrote(int err, const struct fr_res *res, u32 event, u32 tid, u32 id, u64 value)
{
	run.lost += !!err;
	run.near_cnt += !err && res->is_near;
	if (!err && run.cnt < WANT_MAX)
		run.want[run.cnt++] = (struct want){res->time_ns, value, event, tid, id, false};
}

/* A call that begins, with that argument, or ends, with that result. */
static void call(u32 event, u32 tid, u32 id, u64 value, bool stepping)
{
	struct fr_res res = {};
	int err;

	host_clock_ns += 3;
	run.stepping = stepping;
	if (stepping)
		STEP_ON();
	err = event == FR_EV_sys_enter ? host_begin_call(run.ring, tid, id, 3, value, &res)
				       : host_end_call(run.ring, tid, id, value, &res);
	run.stepping = false;
	wrote(err, &res, event, tid, id, value);
}

static void begin(u32 tid, u32 id, u64 arg, bool stepping)
{
	call(FR_EV_sys_enter, tid, id, arg, stepping);
}

static void end(u32 tid, u32 id, u64 ret, bool stepping)
{
	call(FR_EV_sys_exit, tid, id, ret, stepping);
}

static void other(void)
{
	struct fr_rec_sys_exit rec = {.task = 9, .id = 8, .ret = -99999999999};
	struct fr_res res = {};
	u64 *to;

	host_clock_ns += 3;
	if (fr_ring_reserve(&run.ring->r, sizeof(rec) / FR_UNIT_SZ, &res)) {
		run.lost++;
		return;
	}
	rec.head = fr_rec_head(res.time_ns, FR_EV_sys_exit, sizeof(rec) / FR_UNIT_SZ);
	to = host_record(run.ring, &res);
	memcpy(to, &rec, sizeof(rec));
	fr_ring_commit(&res);
	wrote(0, &res, FR_EV_sys_exit, rec.task, rec.id, rec.ret);
}

static void inject(void)
{
	u32 i;

	switch (run.what) {
	case LATER:
		host_clock_ns += 1 << 23; /* than anything may be near */
		other();
		break;
	case PAGE:
		for (i = 0; i < FR_PAGE_UNITS / 3; i++)
			other();
		break;
	case CALLS:
		begin(2, 6, 66, false);
		end(2, 6, 666, false);
		begin(2, 7, 77, false);
		break;
	default:
		other();
	}
}

static void on_trap(int sig, siginfo_t *info, void *uc)
{
	greg_t *reg = ((ucontext_t *)uc)->uc_mcontext.gregs;

	(void)sig;
	(void)info;
	if (run.stepping && ++run.now < run.at)
		return;
	reg[REG_EFL] &= ~TRAP_FLAG;
	if (!run.stepping)
		return;
	run.stepping = false;
	run.done = true;
	inject();
}

/* Is the row one that was recorded, and not seen yet? */
static bool check_row(const struct fr_rows *rows, u32 row)
{
	const u64 *rec = (const u64 *)(rows->raw + rows->rec[row]);
	u32 i;

	for (i = 0; i < run.cnt; i++) {
		struct want *w = &run.want[i];
		u32 value = w->event == FR_EV_sys_enter ? 4 : 2; /* unit of the third argument, of the result */

		if (w->seen || w->ts != rows->ts[row] || w->event != rows->ev[row] || w->tid != rows->tid[row])
			continue;
		w->seen = rec[1] >> 32 == w->id && rec[value] == w->value;
		return w->seen;
	}
	return false;
}

static bool check(struct fr_rows *rows)
{
	struct fr_snap_lap lap;
	u32 i, row, cnt = 0;

	if (run.lost)
		return false;
	for (i = 0; host_ring_lap(run.ring, i, &lap); i++) {
		struct fr_rows_lap in = {lap.buf, lap.sz, lap.epoch, lap.cpu, lap.tier, lap.seq, 0, NULL};

		fr_rows_clear(rows);
		if (fr_rows_add(rows, &in, 0) || rows->lap[0].damaged_pages)
			return false;
		for (row = 0; row < rows->cnt; row++)
			if (!check_row(rows, row))
				return false;
		cnt += rows->cnt;
	}
	return cnt == run.cnt;
}

/* A call that says all, one near it, and its end near that; one of them is interrupted. Returns whether all is as it was
 * recorded. */
static bool try(struct fr_rows *rows, enum stepped what, enum inject inject, u32 at)
{
	bool good;

	run = (struct run){.ring = host_ring_new(5, FR_TIER_MAIN, SLOTS, PAGES), .at = at, .what = inject};
	run.ring->remember = false;
	other();
	begin(1, 2, 22, what == BASE);
	begin(1, 3, 33, what == BEGIN);
	end(1, 3, 44, what == END);
	begin(1, 4, 55, false);
	end(1, 4, 66, false);
	good = check(rows);
	host_ring_free(run.ring);
	return good;
}

/*
 * At each instruction. Returns whether all went well: it can be interrupted, and if nothing came between all were near that may
 * be.
 */
static bool try_all(struct fr_rows *rows, enum stepped what, enum inject inject, u32 *cnt)
{
	bool good = true;
	u32 at;

	for (at = 1; good; at++) {
		good = try(rows, what, inject, at);
		if (!run.done)
			break;
	}
	*cnt = at - 1;
	if (!good)
		printf("  instruction %u of %s\n", at - 1, stepped_name[what]);
	return good && at > 50 && run.near_cnt == 4;
}

int main(void)
{
	struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	u32 what, inject, cnt, passed = 0, failed = 0;
	struct fr_rows rows;

	if (fr_rows_init(&rows, PAGES * FR_PAGE_SZ) || sigaction(SIGTRAP, &sa, NULL))
		return 1;
	rows.schema = fr_schema_builtin();
	for (what = 0; what < STEPPED_CNT; what++)
		for (inject = 0; inject < INJECT_CNT; inject++) {
			bool good = try_all(&rows, what, inject, &cnt);

			printf("a call %s, %s: %u instructions, %s\n", stepped_name[what], inject_name[inject], cnt,
			       good ? "ok" : "FAILED");
			passed += good;
			failed += !good;
		}
	fr_rows_free(&rows);
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed > 0;
}
