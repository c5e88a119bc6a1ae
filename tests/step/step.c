/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * step: bpf/ring.h interrupted at every single instruction.
 *
 * An outer write is stepped through by the trap flag, to learn the addresses it passes. Then it is run again for each of
 * them, with a breakpoint there (a step takes 15 us on a virtual machine), and in the trap's handler something else happens:
 * nested writes, up to three laps of them, themselves stepped and interrupted, or a reader. Then everything is checked:
 * counts are exact, what is present is whole, in order, and the newest of all that was written.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "rig.h"
#include "trap.h"

#define WRITE_MAX  4096
#define NESTED_MAX 2

static u64 ticks;

FR_INLINE u64 fr_clock_cpu_ns(void)
{
	return __atomic_add_fetch(&ticks, 1, __ATOMIC_SEQ_CST);
}

/* ---- one run ---- */

enum inject { ONE, LAP, TWO_LAPS, THREE_LAPS, READ, SWAP, QUIET };
static const char *const inject_name[] = {"a record", "a lap",		 "two laps",	"three laps",
					  "a read",   "a killed reader", "a quiet time"};

static struct run {
	struct rig rig;
	u64 written_ns[WRITE_MAX]; /* times of all that was committed */
	u32 written, lost, tries;
	struct level {
		u32 at, now;	  /* instruction to interrupt (level 1), this one */
		enum inject what; /* what to do there */
		bool done;
	} level[NESTED_MAX];
	int depth; /* of nested stepping */
	struct {
		u32 at, now; /* instruction after the first interruption, at which to interrupt again; 0: not */
		bool stepping, done;
	} again;
	bool bad, over;
	void *buf;
} run;

static void __attribute__((noinline)) write_one(u32 units)
{
	u32 tag = __atomic_add_fetch(&run.tries, 1, __ATOMIC_SEQ_CST);
	u64 time;

	if (tag > WRITE_MAX)
		exit(1);
	time = rig_write(&run.rig.ring, tag, units);
	if (time)
		run.written_ns[__atomic_fetch_add(&run.written, 1, __ATOMIC_SEQ_CST)] = time;
	else
		__atomic_fetch_add(&run.lost, 1, __ATOMIC_SEQ_CST);
}

/* The interrupted writer cannot end before we do. */
static int no_grace(void *arg)
{
	(void)arg;
	return -EBUSY;
}

static void read_all(void)
{
	struct fr_ring_reader r;
	u64 seq, first, last, last_ns = 0;
	struct fr_lap lap;

	fr_ring_read_heal(&run.rig.map, no_grace, NULL);
	if (fr_ring_read_open(&r, &run.rig.map, NULL, NULL)) {
		run.bad = true;
		return;
	}
	if (fr_ring_read_range(&run.rig.map, &first, &last))
		return;
	for (seq = first; seq <= last; seq++) {
		int err = fr_ring_read_lap(&r, seq, run.buf, rig_subbuf_sz(&run.rig), &lap);

		if (err ? err != -EAGAIN && err != -ESTALE : rig_check_lap(&run.rig, run.buf, &lap, &last_ns, NULL, NULL))
			run.bad = true;
	}
}

/* A reader takes the lap that is to be overwritten next, and is killed. */
static void swap_and_die(void)
{
	const struct fr_ring_map *m = &run.rig.map;
	u64 *slot = &run.rig.sl.slot[(fr_w_slot(fr_writer_w(m->wr)) + 1) % m->slot_cnt], word = *slot;
	struct fr_ring_reader r;

	if (fr_ring_read_open(&r, m, NULL, NULL))
		run.bad = true;
	else if (fr_slot_com(word) == m->subbuf_pages * FR_PAGE_UNITS)
		fr_cas(slot, word, fr_slot(fr_slot_seq(word), r.spare, fr_slot_cnt(word), fr_slot_com(word)));
}

static void write_units(u32 sum)
{
	static const u8 size[] = {3, 17, 2, 40, 5, 101};
	u32 i, done;

	for (i = 0, done = 0; done < sum; done += size[i++ % sizeof(size)])
		write_one(size[i % sizeof(size)]);
}

static void inject(enum inject what)
{
	u32 lap = run.rig.map.subbuf_pages * FR_PAGE_UNITS;

	switch (what) {
	case ONE:
		return write_one(6);
	case LAP:
		return write_units(lap);
	case TWO_LAPS:
		return write_units(2 * lap);
	case THREE_LAPS:
		return write_units(3 * lap);
	case READ:
		return read_all();
	case SWAP:
		return swap_and_die();
	case QUIET:
		/* so long that the page is ended, with the lap if it is its last: the outer write may not have opened it yet */
		__atomic_add_fetch(&ticks, FR_PAGE_SPAN_NS, __ATOMIC_SEQ_CST);
		return write_one(6);
	}
}

/* ---- traps ---- */

#define BREAKPOINT 0xcc

/* The addresses an outer write passes when nothing interrupts it. */
static struct {
	u8 *at[8192];
	u32 cnt;
	bool on;
} trace;

/* A breakpoint in our own code, to be passed skip times. */
static struct {
	u8 *at;
	u8 code;
	u32 skip;
} bp;

/* What the handler reads and changes: without this the compiler may think that nobody looks, and store it later or never. */
#define SHARE() asm volatile("" : : "r"(&trace), "r"(&bp), "r"(&run) : "memory")

/* Stepped: a trap after each instruction. Otherwise it runs into the breakpoint that was set for it. */
static void __attribute__((noinline)) write_trapped(bool stepped, u32 units)
{
	SHARE();
	if (stepped)
		STEP_ON();
	write_one(units);
	if (stepped)
		STEP_OFF();
	else
		run.over = true;
	SHARE();
}

static void write_code(u8 *at, u8 code)
{
	*(volatile u8 *)at = code;
}

static void set_breakpoint(u32 n)
{
	u32 i;

	bp.at = trace.at[n];
	bp.code = *bp.at;
	for (i = bp.skip = 0; i < n; i++)
		bp.skip += trace.at[i] == bp.at;
	write_code(bp.at, BREAKPOINT);
}

static bool make_code_writable(void)
{
	extern char __executable_start, etext;
	size_t begin = (size_t)&__executable_start & ~(size_t)(FR_PAGE_SZ - 1);

	return !mprotect((void *)begin, (size_t)&etext - begin, PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* The nested write has its own moment to be interrupted, if asked for. */
static void fire(int level)
{
	run.level[level].done = true;
	if (!level && run.level[1].at) {
		run.depth = 1;
		write_trapped(true, 4);
	}
	inject(run.level[level].what);
	run.depth = level;
}

static void on_step(greg_t *reg)
{
	struct level *l = &run.level[run.depth];

	if (trace.on) {
		if (trace.cnt < 8192)
			trace.at[trace.cnt++] = (u8 *)reg[REG_RIP];
		return;
	}
	if (run.again.stepping && !run.depth) {
		if (run.over || ++run.again.now == run.again.at) {
			reg[REG_EFL] &= ~TRAP_FLAG;
			run.again.stepping = false;
			run.again.done = !run.over;
			if (!run.over)
				inject(run.level[0].what);
		}
		return;
	}
	if (!run.depth) { /* past the breakpoint, which is wanted again */
		write_code(bp.at, BREAKPOINT);
		reg[REG_EFL] &= ~TRAP_FLAG;
	} else if (!l->done && ++l->now == l->at) {
		reg[REG_EFL] &= ~TRAP_FLAG;
		fire(run.depth);
	}
}

static void on_breakpoint(greg_t *reg)
{
	write_code(bp.at, bp.code);
	reg[REG_RIP] = (greg_t)bp.at;
	if (bp.skip) {
		bp.skip--;
		reg[REG_EFL] |= TRAP_FLAG;
	} else {
		fire(0);
		run.again.stepping = run.again.at;
		if (run.again.at)
			reg[REG_EFL] |= TRAP_FLAG;
	}
}

static void on_trap(int sig, siginfo_t *info, void *uc)
{
	greg_t *reg = ((ucontext_t *)uc)->uc_mcontext.gregs;

	(void)sig;
	/* A step is TRAP_TRACE, but TRAP_BRKPT where a hypervisor loses DR6, which has the reason; int3 is SI_KERNEL */
	if (info->si_code == SI_KERNEL)
		on_breakpoint(reg);
	else
		on_step(reg);
}

/* ---- the check ---- */

static struct seen {
	u64 ns[WRITE_MAX];
	u32 cnt;
} seen;

static void see(void *arg, u64 tag, u64 time_ns)
{
	struct seen *s = arg;

	if (!tag || tag > run.tries || s->cnt == WRITE_MAX)
		run.bad = true;
	else
		s->ns[s->cnt++] = time_ns;
}

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static bool check_counts(void)
{
	const struct rig *rig = &run.rig;

	if (run.tries != run.written + run.lost || rig_lost(rig) != run.lost)
		return false;
	if (rig->wr.lost[FR_LOST_broken] || rig->wr.lost[FR_LOST_retry])
		return false;
	return fr_ring_read_present(&rig->map) + rig->wr.overwritten == run.written;
}

/* All laps, read by a new reader: none in flight, none damaged, none missing; together the newest of what was written. */
static bool check_content(void)
{
	u64 seq, first, last, last_ns = 0;
	struct fr_ring_reader r;
	struct fr_lap lap;

	seen.cnt = 0;
	if (fr_ring_read_heal(&run.rig.map, fr_ring_read_grace, NULL) < 0 || fr_ring_read_open(&r, &run.rig.map, NULL, NULL) ||
	    fr_ring_read_range(&run.rig.map, &first, &last))
		return false;
	for (seq = first; seq <= last; seq++) {
		if (fr_ring_read_lap(&r, seq, run.buf, rig_subbuf_sz(&run.rig), &lap) ||
		    rig_check_lap(&run.rig, run.buf, &lap, &last_ns, see, &seen))
			return false;
	}
	qsort(run.written_ns, run.written, sizeof(u64), by_value);
	return seen.cnt == fr_ring_read_present(&run.rig.map) &&
	       !memcmp(seen.ns, run.written_ns + run.written - seen.cnt, seen.cnt * sizeof(u64));
}

/* ---- where the outer write begins ---- */

struct place {
	const char *name;
	u32 laps; /* written before */
	s32 left; /* units left then: in the page (page) or in the sub-buffer */
	bool page;
	bool swapped; /* the next slot's sub-buffer is a reader's */
};
#define OUTER 6u /* units of the outer write */

static const struct place places[] = {
	{"first ever", 0, -1, false, false},
	{"mid page", 5, 300, true, false},
	{"page end, padding", 5, OUTER - 3, true, false},
	{"page end, exact", 5, OUTER, true, false},
	{"page begin", 5, 0, true, false},
	{"lap end, padding", 5, OUTER - 1, false, false},
	{"lap end, exact", 5, OUTER, false, false},
	{"lap begin", 5, 0, false, false},
	{"second lap, wrap", 1, 5, false, false},
	{"after a swap", 5, OUTER - 1, false, true},
};
#define PLACE_CNT (sizeof(places) / sizeof(places[0]))

/* Write until so many units are left where the level says, by records whose sizes make it come out. */
static void fill(const struct place *at)
{
	const struct fr_ring *r = &run.rig.ring;
	u32 in = at->page ? FR_PAGE_UNITS : fr_ring_units(r);

	while (at->laps && fr_w_seq(r->wr->w) < at->laps)
		write_one(20);
	while (at->laps) {
		u32 off = fr_w_off(r->wr->w), room = (FR_PAGE_UNITS - off % FR_PAGE_UNITS) % FR_PAGE_UNITS;
		u32 left = at->page ? room : in - off, want = left - at->left;

		if (left == (u32)at->left && (!at->page || off < fr_ring_units(r) || r->subbuf_pages == 1))
			break;
		if (left < (u32)at->left + 2 || want > 200 || room < 2)
			want = 11;
		write_one(want < 22 ? want : 20);
	}
	if (at->swapped)
		swap_and_die();
}

static void prepare(const struct place *at, u32 slot_cnt, u32 pages)
{
	free(run.rig.data);
	free(run.buf);
	memset(&run, 0, sizeof(run));
	ticks = 1000;
	rig_init(&run.rig, slot_cnt, pages);
	run.buf = aligned_alloc(FR_PAGE_SZ, rig_subbuf_sz(&run.rig));
	if (!run.buf)
		exit(1);
	fill(at);
}

/* ---- the runs ---- */

static u32 passed, failed;
static bool stop_at_first;

static void judge(const struct place *at, enum inject what, u32 n, u32 m)
{
	bool may_lose = what == TWO_LAPS || what == THREE_LAPS || run.rig.map.slot_cnt == 2;

	if (!run.bad && check_counts() && check_content() && (may_lose || !run.lost)) {
		passed++;
		return;
	}
	failed++;
	if (failed <= 5)
		printf("  FAILED: %s, N=%u P=%u, %s at instruction %u, nested at %u: written %u lost %u (wrap %llu broken "
		       "%llu)\n",
		       at->name, run.rig.map.slot_cnt, run.rig.map.subbuf_pages, inject_name[what], n, m, run.written, run.lost,
		       (unsigned long long)run.rig.wr.lost[FR_LOST_wrap], (unsigned long long)run.rig.wr.lost[FR_LOST_broken]);
	if (stop_at_first)
		exit(1);
}

/* Learn the way of an outer write that begins here. */
static void learn(const struct place *at, u32 slot_cnt, u32 pages)
{
	prepare(at, slot_cnt, pages);
	trace.cnt = 0;
	trace.on = true;
	write_trapped(true, OUTER);
	trace.on = false;
}

/* One run, interrupted at instruction n, and at instruction m of the nested write. Returns whether m was reached. */
static bool step(const struct place *at, u32 slot_cnt, u32 pages, enum inject what, u32 n, u32 m)
{
	prepare(at, slot_cnt, pages);
	run.level[0].what = what;
	run.level[1].at = m;
	run.level[1].what = what;
	set_breakpoint(n);
	write_trapped(false, OUTER);
	write_code(bp.at, bp.code);
	if (run.level[0].done) /* the last few of a stepped run only end the stepping */
		judge(at, what, n, m);
	return run.level[1].done;
}

/* Interrupted at instruction n, and again m later. Returns whether it was. */
static bool step_again(const struct place *at, u32 slot_cnt, u32 pages, enum inject what, u32 n, u32 m)
{
	prepare(at, slot_cnt, pages);
	run.level[0].what = what;
	run.again.at = m;
	set_breakpoint(n);
	write_trapped(false, OUTER);
	write_code(bp.at, bp.code);
	if (run.again.done)
		judge(at, what, n, m);
	return run.again.done;
}

static void every_instruction(const struct place *at, u32 slot_cnt, u32 pages, enum inject what)
{
	u32 n;

	learn(at, slot_cnt, pages);
	for (n = 0; n < trace.cnt; n++)
		step(at, slot_cnt, pages, what, n, 0);
}

/* Again: interrupted at every few instructions, and once more at each one after that. */
static void twice(const struct place *at, u32 slot_cnt, u32 pages, enum inject what, u32 stride)
{
	u32 n, m;

	learn(at, slot_cnt, pages);
	for (n = stride / 2; n < trace.cnt; n += stride)
		for (m = 1; step_again(at, slot_cnt, pages, what, n, m); m++)
			;
}

/* Two levels: every few instructions of both, at strides that meet all pairs of phases. */
static void two_levels(const struct place *at, u32 slot_cnt, u32 pages, enum inject what)
{
	u32 n, m;

	learn(at, slot_cnt, pages);
	for (n = 0; n < trace.cnt; n += 13)
		for (m = 1 + n % 29; step(at, slot_cnt, pages, what, n, m); m += 29)
			;
}

#define PLACE_MID_PAGE 1 /* in places */

static void run_place(u32 nr)
{
	const struct place *at = &places[nr];
	u32 before = passed + failed;

	every_instruction(at, 3, 2, ONE);
	every_instruction(at, 3, 2, nr % 2 ? LAP : READ);
	every_instruction(at, 3, 2, THREE_LAPS);
	every_instruction(at, 3, 2, SWAP);
	every_instruction(at, 2, 1, nr % 2 ? TWO_LAPS : LAP);
	every_instruction(at, 2, 1, QUIET);
	two_levels(at, 3, 2, ONE);
	two_levels(at, 2, 1, THREE_LAPS);
	if (nr == PLACE_MID_PAGE) {
		twice(at, 3, 2, ONE, 5);
		twice(at, 2, 1, THREE_LAPS, 29);
	}
	printf("%-20s %6u runs\n", at->name, passed + failed - before);
	fflush(stdout);
}

/* step [first]: with any argument, stop at the first failure. */
int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
	size_t i;

	(void)argv;
	stop_at_first = argc > 1;
	if (!make_code_writable()) {
		puts("skipped: this kernel does not let a program write to its own code\n0 passed, 0 failed, 1 skipped");
		return 0;
	}
	sigaction(SIGTRAP, &sa, NULL);
	for (i = 0; i < PLACE_CNT; i++)
		run_place(i);
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
