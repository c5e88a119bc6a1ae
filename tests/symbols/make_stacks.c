/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make_stacks FILE < LINES: a snapshot with the stacks, mappings, symbols and deaths that the lines tell. Numbers are
 * hexadecimal, but tids, codes and signals decimal; "-" is an empty text.
 *
 *	fact NAME VALUE
 *	task TID TGID COMM
 *	sym PID ADDR SZ NAME MODULE
 *	map PID BEGIN END OFF PATH BUILDID
 *	gone PID BEGIN END OFF PATH BUILDID	likewise, but the path did not lead to it
 *	stack ID IP...
 *	ids ID BUILDID:OFF...		of the stack's frames; "-" not known
 *	exec TID PATH
 *	proc PID EXE CWD	a process that lives
 *	sample TID KSTACK USTACK
 *	crash TID KSTACK USTACK
 *	deliver TID SIG		a signal that ends it
 *	exit TID CODE
 */
#include "event_fields.h"
#include "unit/host_ring.h"

#include <stdio.h>

#define BUDGET_SZ (6u << 20) /* all of it is written to, which takes longer than the rest */
#define LIST_MAX  256u
#define WORD_MAX  128u

enum { MAIN, LIFE, STACK, RING_CNT };

static struct host_ring *ring[RING_CNT];
static struct fr_snap_task task[LIST_MAX];
static struct fr_snap_symbol sym[LIST_MAX];
static struct fr_snap_mapping map[LIST_MAX];
static char procs[1 << 12];
static size_t task_cnt, sym_cnt, map_cnt;

static u64 hex(const char *s)
{
	return strtoull(s, NULL, 16);
}

static char *text(const char *s)
{
	return strdup(strcmp(s, "-") ? s : "");
}

static u8 put_id(const char *s, u8 to[FR_BUILD_ID_MAX])
{
	u8 sz = 0;
	unsigned int byte;

	while (sz < FR_BUILD_ID_MAX && sscanf(s + 2 * sz, "%2x", &byte) == 1)
		to[sz++] = byte;
	return sz;
}

static void put_nums(u32 where, u32 event, const void *fixed, u32 fixed_sz, const u64 *nums, u32 cnt)
{
	host_clock_ns += 1000;
	host_ring_put_nums(ring[where], event, fixed, fixed_sz, nums, cnt);
}

static void add_stack(char **word, u32 cnt)
{
	struct fr_rec_stack stack = {.task = 1, .stack_id = hex(word[1])};
	u64 ip[WORD_MAX];
	u32 i;

	for (i = 2; i < cnt; i++)
		ip[i - 2] = hex(word[i]);
	put_nums(STACK, FR_EV_stack, &stack, offsetof(struct fr_rec_stack, frames), ip, cnt - 2);
}

/* A build-id of its own for each frame: readers do not care. */
static void add_ids(char **word, u32 cnt)
{
	struct fr_rec_stack_build_ids ids = {.task = 1 | (cnt - 2) << 24, .stack_id = hex(word[1])};
	u64 out[WORD_MAX * 4] = {0};
	u32 i, at = cnt - 2, nr = 0;

	for (i = 2; i < cnt; i++) {
		const char *colon = strchr(word[i], ':');

		if (!colon)
			continue;
		out[i - 2] = (u64)++nr << 56 | hex(colon + 1);
		put_id(word[i], (u8 *)&out[at]);
		at += 3;
	}
	put_nums(STACK, FR_EV_stack_build_ids, &ids, offsetof(struct fr_rec_stack_build_ids, words), out, at);
}

static void add_sample(char **word)
{
	struct fr_rec_cpu_sample s = {.task = atoi(word[1]) | 1u << 24, .kstack_id = hex(word[2]), .ustack_id = hex(word[3])};

	host_clock_ns += 1000;
	host_ring_put(ring[MAIN], FR_EV_cpu_sample, &s, sizeof(s));
}

static void add_crash(char **word)
{
	struct fr_rec_crash c = {.task = atoi(word[1]), .sig = 11, .kstack_id = hex(word[2]), .ustack_id = hex(word[3])};

	host_clock_ns += 1000;
	host_ring_put(ring[MAIN], FR_EV_crash, &c, sizeof(c));
}

static void add_deliver(char **word)
{
	struct fr_rec_signal_deliver d = {.task = atoi(word[1]) | 1u << 24, .sig = atoi(word[2])};

	host_clock_ns += 1000;
	host_ring_put(ring[LIFE], FR_EV_signal_deliver, &d, sizeof(d));
}

static void add_exit(char **word)
{
	struct fr_rec_sched_process_exit e = {.task = atoi(word[1]), .exit_code = atoi(word[2])};

	host_clock_ns += 1000;
	host_ring_put(ring[LIFE], FR_EV_sched_process_exit, &e, sizeof(e));
}

static void add_exec(char **word)
{
	struct fr_rec_sched_process_exec exec = {.task = atoi(word[1]), .old_pid = atoi(word[1])};
	u8 rec[FR_REC_MAX_SZ] = {0};
	size_t len = strlen(word[2]) + 1;

	memcpy(rec, &exec, sizeof(exec));
	memcpy(rec + sizeof(exec), word[2], len);
	host_clock_ns += 1000;
	host_ring_put(ring[LIFE], FR_EV_sched_process_exec, rec, (sizeof(exec) + len + 7) / 8 * 8);
}

static void add_task(char **word)
{
	struct fr_snap_task *t = &task[task_cnt++];

	*t = (struct fr_snap_task){.tid = atoi(word[1]), .start_ns = 1, .task.tgid = atoi(word[2])};
	snprintf(t->task.comm, sizeof(t->task.comm), "%s", word[3]);
}

static void add_map(char **word)
{
	struct fr_snap_mapping *m = &map[map_cnt++];

	*m = (struct fr_snap_mapping){
		.pid = atoi(word[1]),
		.begin = hex(word[2]),
		.end = hex(word[3]),
		.file_off = hex(word[4]),
		.path = text(word[5]),
	};
	m->build_id_sz = put_id(word[6], m->build_id);
}

static void add_gone(char **word)
{
	add_map(word);
	map[map_cnt - 1].deleted = true;
}

static void add_proc(char **word)
{
	snprintf(procs + strlen(procs), sizeof(procs) - strlen(procs), "{\"pid\":%s,\"exe\":\"%s\",\"cwd\":\"%s\"}\n", word[1],
		 word[2], word[3]);
}

static void add_sym(char **word)
{
	sym[sym_cnt++] = (struct fr_snap_symbol){
		.pid = atoi(word[1]),
		.addr = hex(word[2]),
		.sz = hex(word[3]),
		.name = text(word[4]),
		.module = strcmp(word[5], "-") ? text(word[5]) : NULL,
	};
}

/* Returns how many words the line must have. */
static int add_line(struct fr_snap_writer *w, char **word, u32 cnt)
{
	static const struct {
		const char *name;
		u32 cnt;
		void (*add)(char **word);
	} kind[] = {
		{"fact", 3, NULL},     {"stack", 2, NULL},	  {"ids", 2, NULL},	   {"task", 4, add_task},
		{"sym", 6, add_sym},   {"map", 7, add_map},	  {"gone", 7, add_gone},   {"exec", 3, add_exec},
		{"proc", 4, add_proc}, {"sample", 4, add_sample}, {"crash", 4, add_crash}, {"deliver", 3, add_deliver},
		{"exit", 3, add_exit},
	};
	size_t i = 0, kinds = sizeof(kind) / sizeof(kind[0]);

	while (i < kinds && strcmp(kind[i].name, word[0]))
		i++;
	if (i == kinds || cnt < kind[i].cnt || sym_cnt == LIST_MAX || map_cnt == LIST_MAX || task_cnt == LIST_MAX)
		return -1;
	if (i == 0)
		return fr_snap_put_fact(w, word[1], "%s", word[2]);
	if (kind[i].add)
		kind[i].add(word);
	else
		(i == 1 ? add_stack : add_ids)(word, cnt);
	return 0;
}

static int read_lines(struct fr_snap_writer *w)
{
	static char line[1 << 16];
	char *word[WORD_MAX], *save;
	int err = 0;

	while (!err && fgets(line, sizeof(line), stdin)) {
		u32 cnt = 0;

		for (word[0] = strtok_r(line, " \n", &save); word[cnt] && cnt < WORD_MAX - 1;)
			word[++cnt] = strtok_r(NULL, " \n", &save);
		err = cnt ? add_line(w, word, cnt) : 0;
	}
	return err;
}

static int put_rings(struct fr_snap_writer *w)
{
	int err = 0;
	u32 i;

	for (i = 0; i < RING_CNT && !err; i++)
		err = host_ring_put_laps(ring[i], w);
	return err;
}

int main(int argc, char **argv)
{
	static const u16 tier[RING_CNT] = {FR_TIER_MAIN, FR_TIER_LIFE, FR_TIER_STACK};
	struct fr_snap_writer *w;
	u32 i;
	int err;

	if (argc != 2 || fr_snap_create(argv[1], BUDGET_SZ, 1, &w))
		return 1;
	for (i = 0; i < RING_CNT; i++)
		ring[i] = host_ring_new(0, tier[i], 4, 16);
	err = fr_snap_put_schema(w, fr_schema_builtin());
	err = err ? err : read_lines(w);
	err = err ? err : fr_snap_put_tasks(w, task, task_cnt);
	err = err ? err : fr_snap_put_symbols(w, sym, sym_cnt);
	err = err ? err : fr_snap_put_mappings(w, map, map_cnt);
	err = err ? err : fr_snap_put_procs(w, procs, strlen(procs));
	err = err ? err : put_rings(w);
	if (err)
		fr_snap_abort(w);
	else
		err = fr_snap_finish(w);
	(void)host_ring_fill;
	return err != 0;
}
