/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hot: what recording one event costs, in ns (hot.bpf.c has the programs). A case is a program, a clock and a load; all cases
 * take turns in each round, and the figure is the median over the rounds of each round's best batch: other jobs of the
 * machine make single batches slow, never fast. One JSON object a line.
 *
 *	hot ROUNDS [CASE...]	only the cases named, and what they are compared with; those that were only tried have to be
 *	hot attach PROGRAM	only that one, attached until the standard input ends; says "attached"
 *
 *	{"case": "call_ringbuf", "clock": "exact", "cpus": 1, "each_ns": [149.5, ...], "each_added_ns": [37.8, ...],
 *	 "ns": 149.46, "added_ns": 37.76}
 *
 * By round, and the medians. A case that needs what this kernel has not is left out.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "layout.h"

#include "cold.h"
#include "hot_set.h"

#define BATCH	   8000 /* events: less than the ringbuf holds, more than a sub-buffer */
#define BATCHES	   10	/* a round: short, so that all of it sees the same machine */
#define CALLS	   500	/* system calls at a time; the best of a batch's counts */
#define COLD_CALLS 50	/* the same where other work is done before each, of which a batch has fewer */
#define COLD_TIMES 20
#define ROUNDS_MAX 99

/* ---- the clocks ---- */

enum clock_mode { CLOCK_EXACT, CLOCK_1US, CLOCK_10US, CLOCK_50US, CLOCK_LOCAL, CLOCK_CNT };

static const struct {
	const char *name;
	u64 grain_ns;
} clocks[CLOCK_CNT] = {{"exact", 0}, {"1us", 1000}, {"10us", 10000}, {"50us", 50000}, {"local", FR_CLOCK_LOCAL}};

static struct hot_set *sets[CLOCK_CNT]; /* by enum clock_mode */

/* ---- loads: each returns the ns of a batch ---- */

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static u64 run_calls(const struct hot_set *set, int prog_fd)
{
	u64 begin, took, best = ~0ull;
	int i, k;

	(void)set;
	(void)prog_fd;
	for (k = 0; k < BATCH / CALLS; k++) {
		begin = now_ns();
		for (i = 0; i < CALLS; i++)
			syscall(SYS_getppid);
		took = now_ns() - begin;
		best = took < best ? took : best;
	}
	return best * (BATCH / CALLS);
}

static struct cold cold;

static u64 run_cold(const struct hot_set *set, int prog_fd)
{
	u64 begin, took, best = ~0ull;
	int i, k;

	(void)set;
	(void)prog_fd;
	for (k = 0; k < COLD_TIMES; k++) {
		begin = now_ns();
		for (i = 0; i < COLD_CALLS; i++) {
			cold_work(&cold);
			syscall(SYS_getppid);
		}
		took = now_ns() - begin;
		best = took < best ? took : best;
	}
	return best * (BATCH / COLD_CALLS);
}

static u64 run_loop(const struct hot_set *set, int prog_fd)
{
	u64 args[1] = {BATCH};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));
	int cpu = sched_getcpu();

	if (bpf_prog_test_run_opts(prog_fd, &opts))
		hot_die("cannot run a program", errno);
	return hot_set_took_ns(set, cpu);
}

/* ---- cases ---- */

struct bench {
	const char *name, *base; /* the program; the one it is compared with */
	u64 (*run)(const struct hot_set *set, int prog_fd);
	enum clock_mode clock;
	int cpus;
	bool over;  /* needs a ringbuf that overwrites */
	bool tried; /* not of the product: made if named */
	bool on;
	double best[ROUNDS_MAX];
	double base_ns[ROUNDS_MAX]; /* its base, just before */
};

/* Payloads of so many bytes: each recorder, one CPU and both. */
#define PAYLOAD_CASES(sz, cnt)                                                                                        \
	{.name = "loop_ring_" #sz, .base = "loop_empty", .run = run_loop, .clock = CLOCK_50US, .cpus = cnt},          \
		{.name = "loop_ringbuf_" #sz, .base = "loop_empty", .run = run_loop, .cpus = cnt},                    \
		{.name = "loop_ringbuf_over_" #sz, .base = "loop_empty", .run = run_loop, .cpus = cnt, .over = true}, \
	{                                                                                                             \
		.name = "loop_perfbuf_" #sz, .base = "loop_empty", .run = run_loop, .cpus = cnt                       \
	}
#define PAYLOAD_CASES_OF(cnt) \
	PAYLOAD_CASES(16, cnt), PAYLOAD_CASES(32, cnt), PAYLOAD_CASES(64, cnt), PAYLOAD_CASES(128, cnt), PAYLOAD_CASES(256, cnt)

#define TRIED(what, cnt)                                                                                             \
	{                                                                                                            \
		.name = "loop_tried_" what, .base = "loop_empty", .run = run_loop, .clock = CLOCK_50US, .cpus = cnt, \
		.tried = true                                                                                        \
	}
#define TRIED_CASES(cnt)                                                                                            \
	TRIED("locked", cnt), TRIED("counted", cnt), TRIED("trylock", cnt), TRIED("any", cnt), TRIED("arena", cnt), \
		TRIED("head", cnt), TRIED("zeroed", cnt), TRIED("packed", cnt), TRIED("packed_add", cnt)

static struct bench benches[] = {
	{.name = "none", .run = run_calls, .cpus = 1},
	{.name = "call_empty", .base = "none", .run = run_calls, .cpus = 1},
	{.name = "call_clock", .base = "call_empty", .run = run_calls, .cpus = 1},
	{.name = "call_stores", .base = "call_empty", .run = run_calls, .cpus = 1},
	{.name = "call_ringbuf", .base = "call_empty", .run = run_calls, .cpus = 1},
	{.name = "call_ring", .base = "call_empty", .run = run_calls, .clock = CLOCK_50US, .cpus = 1},
	{.name = "sys_enter", .base = "call_empty", .run = run_calls, .clock = CLOCK_50US, .cpus = 1},
	{.name = "none", .run = run_cold, .cpus = 1},
	{.name = "call_empty", .base = "none", .run = run_cold, .cpus = 1},
	{.name = "call_clock", .base = "call_empty", .run = run_cold, .cpus = 1},
	{.name = "call_stores", .base = "call_empty", .run = run_cold, .cpus = 1},
	{.name = "call_ringbuf", .base = "call_empty", .run = run_cold, .cpus = 1},
	{.name = "call_ring", .base = "call_empty", .run = run_cold, .clock = CLOCK_50US, .cpus = 1},
	{.name = "sys_enter", .base = "call_empty", .run = run_cold, .clock = CLOCK_50US, .cpus = 1},
	{.name = "loop_empty", .run = run_loop, .cpus = 1},
	{.name = "loop_clock", .base = "loop_empty", .run = run_loop, .cpus = 1},
	{.name = "loop_stores", .base = "loop_empty", .run = run_loop, .cpus = 1},
	{.name = "loop_ringbuf", .base = "loop_empty", .run = run_loop, .cpus = 1},
	{.name = "loop_ring_once", .base = "loop_empty", .run = run_loop, .clock = CLOCK_50US, .cpus = 1},
	{.name = "loop_ring", .base = "loop_empty", .run = run_loop, .clock = CLOCK_EXACT, .cpus = 1},
	{.name = "loop_ring", .base = "loop_empty", .run = run_loop, .clock = CLOCK_1US, .cpus = 1},
	{.name = "loop_ring", .base = "loop_empty", .run = run_loop, .clock = CLOCK_10US, .cpus = 1},
	{.name = "loop_ring", .base = "loop_empty", .run = run_loop, .clock = CLOCK_50US, .cpus = 1},
	{.name = "loop_ring", .base = "loop_empty", .run = run_loop, .clock = CLOCK_10US, .cpus = 2},
	{.name = "loop_ring", .base = "loop_empty", .run = run_loop, .clock = CLOCK_50US, .cpus = 2},
	{.name = "loop_ring", .base = "loop_empty", .run = run_loop, .clock = CLOCK_LOCAL, .cpus = 1},
	{.name = "loop_empty", .run = run_loop, .cpus = 2},
	{.name = "loop_clock", .base = "loop_empty", .run = run_loop, .cpus = 2},
	{.name = "loop_ringbuf", .base = "loop_empty", .run = run_loop, .cpus = 2},
	{.name = "loop_ring", .base = "loop_empty", .run = run_loop, .clock = CLOCK_EXACT, .cpus = 2},
	{.name = "loop_ring", .base = "loop_empty", .run = run_loop, .clock = CLOCK_1US, .cpus = 2},
	{.name = "loop_ring", .base = "loop_empty", .run = run_loop, .clock = CLOCK_LOCAL, .cpus = 2},
	PAYLOAD_CASES_OF(1),
	PAYLOAD_CASES_OF(2),
	{.name = "loop_stores", .base = "loop_empty", .run = run_loop, .cpus = 2, .tried = true},
	{.name = "loop_ring_once", .base = "loop_empty", .run = run_loop, .clock = CLOCK_50US, .cpus = 2, .tried = true},
	TRIED_CASES(1),
	TRIED_CASES(2),
};

#define BENCH_CNT (sizeof(benches) / sizeof(benches[0]))

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *v, int cnt)
{
	double sorted[ROUNDS_MAX];

	memcpy(sorted, v, cnt * sizeof(*v));
	qsort(sorted, cnt, sizeof(*sorted), by_value);
	return cnt % 2 ? sorted[cnt / 2] : (sorted[cnt / 2 - 1] + sorted[cnt / 2]) / 2;
}

static const struct bench *base_of(const struct bench *b)
{
	size_t i;

	for (i = 0; b->base && i < BENCH_CNT; i++)
		if (!strcmp(benches[i].name, b->base) && benches[i].cpus == b->cpus && benches[i].run == b->run)
			return &benches[i];
	return NULL;
}

/* Keep the cases named, and their bases. */
static void choose(char **names, int cnt)
{
	const struct bench *base;
	size_t k;
	int i;

	for (k = 0; k < BENCH_CNT; k++)
		for (i = 0; i < cnt; i++)
			benches[k].on |= !strcmp(benches[k].name, names[i]);
	for (k = BENCH_CNT; k-- > 0;) {
		base = base_of(&benches[k]);
		if (base && benches[k].on)
			benches[base - benches].on = true;
	}
}

/* ---- a round of a case ---- */

struct worker {
	pthread_t thread;
	const struct bench *b;
	const struct hot_set *set;
	int cpu, prog_fd;
	pthread_barrier_t *start;
	double ns[BATCHES];
	u64 begin_ns[BATCHES]; /* per event */
};

/* Above all others, so that two CPUs really record at the same time; a round is short enough for nobody to starve. */
static void pin(int cpu)
{
	struct sched_param param = {.sched_priority = 1};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || sched_setscheduler(0, SCHED_FIFO, &param))
		hot_die("cannot have a CPU", errno);
}

/* All begin a batch together. What the one does behind the other's end is part of no batch of the other. */
static void *work(void *arg)
{
	struct worker *w = arg;
	int i;

	pin(w->cpu);
	for (i = 0; i < BATCHES; i++) {
		hot_set_drain(w->set);
		pthread_barrier_wait(w->start);
		w->begin_ns[i] = now_ns();
		w->ns[i] = (double)w->b->run(w->set, w->prog_fd) / BATCH;
	}
	return NULL;
}

/* Whether all CPUs were at it for most of the batch: a virtual one may have been away meanwhile, and the others alone. */
static bool together(const struct worker *w, int cpus, int i)
{
	double begin = 0, end = 1e30, longest = 0;
	int k;

	for (k = 0; k < cpus; k++) {
		double from = w[k].begin_ns[i], took = w[k].ns[i] * BATCH;

		begin = from > begin ? from : begin;
		end = from + took < end ? from + took : end;
		longest = took > longest ? took : longest;
	}
	return end - begin >= longest * 0.8;
}

/*
 * One CPU: the best batch. Several: a batch is as slow as its slowest CPU, or one that had ended early would count for one
 * that recorded alone; and the best of those in which all recorded together. If there was none: of all.
 */
static double best_batch(const struct worker *w, int cpus)
{
	double best[2] = {1e9, 1e9}, slowest; /* of all, of those together */
	int i, k;

	for (i = 0; i < BATCHES; i++) {
		for (slowest = 0, k = 0; k < cpus; k++)
			if (w[k].ns[i] > slowest)
				slowest = w[k].ns[i];
		if (slowest < best[0])
			best[0] = slowest;
		if (slowest < best[1] && together(w, cpus, i))
			best[1] = slowest;
	}
	return best[1] < 1e9 ? best[1] : best[0];
}

static double run_round(const struct bench *b, struct bpf_program *prog)
{
	struct worker w[HOT_CPU_MAX] = {};
	pthread_barrier_t start;
	int i;

	pthread_barrier_init(&start, NULL, b->cpus);
	for (i = 0; i < b->cpus; i++) {
		/* One CPU: the last, as the first has more of the machine's interrupts. */
		w[i] = (struct worker){
			.b = b, .set = sets[b->clock], .cpu = b->cpus == 1 ? HOT_CPU_MAX - 1 : i, .start = &start};
		w[i].prog_fd = prog ? bpf_program__fd(prog) : -1;
		if (pthread_create(&w[i].thread, NULL, work, &w[i]))
			hot_die("cannot make a thread", errno);
	}
	for (i = 0; i < b->cpus; i++)
		pthread_join(w[i].thread, NULL);
	pthread_barrier_destroy(&start);
	return best_batch(w, b->cpus);
}

static double run_case(const struct bench *b)
{
	struct bpf_program *prog = hot_set_prog(sets[b->clock], b->name);
	struct bpf_link *link = NULL;
	double ns;

	if (prog && b->run != run_loop) {
		link = bpf_program__attach(prog);
		if (!link)
			hot_die("cannot attach", errno);
	}
	ns = run_round(b, prog);
	bpf_link__destroy(link);
	return ns;
}

/* ---- results ---- */

static void print_rounds(const char *name, const double *value, int rounds)
{
	int i;

	printf("\"%s\": [", name);
	for (i = 0; i < rounds; i++)
		printf("%s%.2f", i ? ", " : "", value[i]);
	printf("], ");
}

/* What a case adds is taken within each round, its base just before: what slows both, as others' programs do, cancels out. */
static void report(const struct bench *b, int rounds)
{
	double added[ROUNDS_MAX];
	int i;

	for (i = 0; i < rounds; i++)
		added[i] = b->best[i] - b->base_ns[i];
	printf("{\"case\": \"%s%s\", \"clock\": \"%s\", \"cpus\": %d, ", b->run == run_cold ? "cold_" : "", b->name,
	       clocks[b->clock].name, b->cpus);
	print_rounds("each_ns", b->best, rounds);
	print_rounds("each_added_ns", added, rounds);
	printf("\"ns\": %.2f, \"added_ns\": %.2f}\n", median(b->best, rounds), median(added, rounds));
}

static bool runs_here(const struct bench *b)
{
	return b->on && (!b->over || hot_has_overwriting()) && (strcmp(b->name, "loop_tried_arena") || hot_has_arenas());
}

static void run_turn(struct bench *b, int round)
{
	const struct bench *base = base_of(b);

	b->base_ns[round] = base ? run_case(base) : 0;
	b->best[round] = run_case(b);
}

/* ---- attached for another's load ---- */

static void *drain_on(void *set)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	struct sched_param above = {.sched_priority = 70}; /* the loads are below (rules.c) */

	if (sched_setscheduler(0, SCHED_FIFO, &above))
		hot_die("cannot be above the loads", errno);
	for (;;) {
		hot_set_drain(set);
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static int attach_one(const char *name)
{
	struct hot_set *set = hot_set_load(clocks[CLOCK_50US].grain_ns, 0);
	struct bpf_program *prog;
	struct bpf_link *link;
	pthread_t thread;
	char c;

	prog = hot_set_prog(set, name);
	link = prog ? bpf_program__attach(prog) : NULL;
	if (!link || pthread_create(&thread, NULL, drain_on, set))
		hot_die("cannot attach", errno);
	puts("attached");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	bpf_link__destroy(link);
	hot_set_check_losses(set);
	return 0;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 11, round, i;
	size_t k;

	if (argc == 3 && !strcmp(argv[1], "attach"))
		return attach_one(argv[2]);
	if (rounds < 1 || rounds > ROUNDS_MAX)
		hot_die("rounds", EINVAL);
	if (cold_make(&cold))
		hot_die("cannot fill the caches", ENOMEM);
	for (i = 0; i < CLOCK_CNT; i++)
		sets[i] = hot_set_load(clocks[i].grain_ns, i);
	for (k = 0; k < BENCH_CNT && argc <= 2; k++)
		benches[k].on = !benches[k].tried;
	choose(argv + 2, argc - 2);
	for (round = -1; round < rounds; round++) /* the first is for the caches, and forgotten */
		for (k = 0; k < BENCH_CNT; k++)
			if (runs_here(&benches[k]))
				run_turn(&benches[k], round < 0 ? 0 : round);
	for (i = 0; i < CLOCK_CNT; i++)
		hot_set_check_losses(sets[i]);
	for (k = 0; k < BENCH_CNT; k++)
		if (runs_here(&benches[k]))
			report(&benches[k], rounds);
	return 0;
}
