/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make FILE: a snapshot of the events on standard input, a line each, in order of time:
 *
 *	fact NAME VALUE			horizon CPU NS
 *	hole CPU SINCE_NS UNTIL_NS	copied CPU NS [TID]: when its ring was, and who had the CPU
 *	kthread TID			process PID START_NS EXIT_NS CGROUP COMM [PPID]
 *	thread TID PID START_NS COMM
 *	complete TIER NS: the rings of another tier (1: life, ...) are from then on
 *	proc LINE			event NS CPU NAME TID [FIELD=VALUE]...
 *	state TID NS PRIO POLICY	how a task was when the file was made; and what it waited in:
 *		[STATE ID ARG0 ARG1 ARG2 SINCE_NS KSTACK [WAKER WAKER_TID]], by what it was last woken;
 *		[owner=TID] of the lock [allowed=CNT] CPUs that it may run on [runs] it has one [arg3=N] [object=TEXT]
 *	clock NS REAL_NS		wall time then
 *	incident NS PID SIG SENDER COMM	a death by a signal in the log of incidents, and who sent that
 *	limit TID NUMBER SOFT HARD	of what the process of a death had: RLIMIT_...; "-": none
 *	klog NS FACILITY TEXT		a record of the kernel's log
 *	counter NAME OBJECT NS VALUE	of the host, as /proc and cgroups told it; OBJECT "-": of the host itself
 *	tp SYSTEM:NAME TYPE:FIELD[N]...	a tracepoint that is recorded by default, before its events (tp:SYSTEM:NAME);
 *		[| "FORMAT", ARGS]	TYPE as in C, without spaces, or text, and the kernel's words for it; SYSTEM mark:
 *		a program's, whose events are mark:NAME
 *	symbol PID ADDR SZ NAME MODULE	of a process, or the kernel (PID 0); MODULE "-": none
 *
 * The field that is kept beside the tid is given like the others; texts are without spaces, for
 * which ~ stands; arrays are numbers with commas between them. A waking is its task's, if it does not say otherwise.
 */
#include "unit/host_ring.h"

#include <stdio.h>

#include "base/counter/counter.h"
#include "base/counter/counters.h"
#include "base/text/memfile.h"
#include "base/tp/tps.h"
#include "event_fields.h"
#include "tp.h"

#define BUDGET_SZ (6u << 20) /* all of it is written to, which takes longer than the rest */
#define CPU_CNT	  2
#define MAX	  64

struct fact {
	char name[64], value[1024];
};

static struct host_ring *ring[CPU_CNT][FR_TIER_CNT];
static struct fact fact[MAX];
static struct fr_snap_task task[MAX];
static struct fr_snap_hole hole[MAX];
static struct fr_snap_symbol symbol[MAX];
static struct fr_snap_state state[MAX];
static struct fr_snap_clock at_clock;
static u64 horizon[CPU_CNT], copied[CPU_CNT], complete[FR_TIER_CNT];
static u32 holder[CPU_CNT];
static u32 fact_cnt, task_cnt, hole_cnt, symbol_cnt, state_cnt;
static char procs[4096]; /* what /proc said */
static struct fr_counters counters;
static struct fr_snap_incident incident[MAX];
static u32 incident_cnt;
static struct fr_snap_scene scene[MAX];
static u32 scene_cnt;
static struct fr_snap_klog klog[MAX];
static u32 klog_cnt;
static struct fr_memfile formats_m, schema_m;
static FILE *formats, *schema_text; /* of tracepoints; the schema: that of the build, and theirs */
static struct fr_schema *schema;

static void die(const char *what)
{
	fprintf(stderr, "make: %s\n", what);
	exit(1);
}

static void put_number(u8 *rec, const struct fr_field *f, u64 v)
{
	static const u8 sz[] = {[FR_TYPE_u8] = 1, [FR_TYPE_u16] = 2, [FR_TYPE_u32] = 4, [FR_TYPE_u64] = 8,
				[FR_TYPE_s8] = 1, [FR_TYPE_s16] = 2, [FR_TYPE_s32] = 4, [FR_TYPE_s64] = 8};

	memcpy(rec + f->off, &v, sz[f->type]);
}

static void put_bits(u8 *rec, const struct fr_field *f, u64 value)
{
	u64 bits;

	memcpy(&bits, rec + 8, sizeof(bits));
	bits |= fr_bits_code(value, f->code, f->bit_cnt) << f->bit;
	memcpy(rec + 8, &bits, sizeof(bits));
}

static void put_str(char *to, const char *text)
{
	do
		*to++ = *text == '~' ? ' ' : *text;
	while (*text++);
}

/* Returns the record's bytes so far. */
static u32 put_numbers(u8 *rec, const struct fr_field *f, char *text)
{
	u32 off = f->off;
	char *save, *one = strtok_r(text, ",", &save);
	u64 v;

	for (; one; one = strtok_r(NULL, ",", &save), off += sizeof(v)) {
		if (off + sizeof(v) > FR_REC_MAX_SZ)
			die("too many numbers");
		v = strtoull(one, NULL, 0);
		memcpy(rec + off, &v, sizeof(v));
	}
	return off;
}

static void put_bytes(u8 *rec, const struct fr_field *f, char *text)
{
	char *save, *one = strtok_r(text, ",", &save);
	u32 i;

	for (i = 0; one && i < fr_field_sz(f); one = strtok_r(NULL, ",", &save))
		rec[f->off + i++] = strtoul(one, NULL, 0);
}

/* A tracepoint's text, of which it has one: behind its fields. */
static u32 put_loc(const struct fr_event *ev, u8 *rec, const struct fr_field *f, const char *text)
{
	u32 at = ev->fixed_sz, sz = strlen(text) + 1;

	put_number(rec, &ev->fields[f->from_idx], (u64)sz << 16 | (at - FR_TP_AHEAD_SZ));
	put_str((char *)rec + at, text);
	return at + sz;
}

static u32 put_field(const struct fr_event *ev, u8 *rec, char *text)
{
	char *value = strchr(text, '=');
	const struct fr_field *f;

	if (!value)
		die(text);
	*value++ = 0;
	f = fr_event_field(ev, text);
	if (f && f->kind == FR_KIND_DERIVED && f->rule == FR_RULE_LOC)
		return put_loc(ev, rec, f, value);
	if (!f || f->kind == FR_KIND_DERIVED)
		die(text);
	if (f->kind == FR_KIND_FLAGS) {
		rec[11] = strtoul(value, NULL, 0);
	} else if (f->type == FR_TYPE_str) {
		put_str((char *)rec + f->off, value);
		return f->off + strlen(value) + 1;
	} else if (f->type == FR_TYPE_u64s) {
		return put_numbers(rec, f, value);
	} else if (f->type == FR_TYPE_array) {
		put_bytes(rec, f, value);
	} else if (f->type >= FR_TYPE_text8) {
		put_str(value, value);
		strncpy((char *)rec + f->off, value, f->type == FR_TYPE_comm ? FR_COMM_SZ : 8);
	} else if (f->bit_cnt) {
		put_bits(rec, f, strtoull(value, NULL, 0));
	} else {
		put_number(rec, f, strtoull(value, NULL, 0));
	}
	return ev->fixed_sz;
}

/* ---- tracepoints ---- */

/* A number that tracepoints have; they rise. */
static u32 free_nr(void)
{
	static u32 nr = FR_TP_FIRST;

	if (nr > FR_TP_LAST)
		die("so many tracepoints");
	return nr++;
}

static u32 c_type_sz(const char *type)
{
	static const char *const names[] = {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"};
	static const u8 sz[] = {1, 2, 4, 8, 1, 2, 4, 8};
	size_t i;

	for (i = 0; i < sizeof(sz); i++)
		if (!strcmp(type, names[i]))
			return sz[i];
	die(type);
	return 0;
}

/* Its format as the kernel's file would tell it: "NAME TYPE:FIELD... | WORDS". */
static void put_format(FILE *f, const char *name, char *fields)
{
	char *words = strstr(fields, " | "), *save, *field;
	u32 off = FR_TP_HEAD_SZ, cnt = 1, sz;

	if (words) {
		*words = 0;
		words += strlen(" | ");
		words[strcspn(words, "\n")] = 0;
	}
	fprintf(f,
		"name: %s\nID: 1\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
		name);
	for (field = strtok_r(fields, " \n", &save); field; field = strtok_r(NULL, " \n", &save)) {
		char *of = strchr(field, ':'), *array = of ? strchr(of, '[') : NULL;

		if (!of)
			die(field);
		*of++ = 0;
		if (!strcmp(field, "text")) {
			off = (off + 3) / 4 * 4;
			fprintf(f, "\tfield:__data_loc char[] %s;\toffset:%u;\tsize:4;\tsigned:0;\n", of, off);
			off += 4;
			continue;
		}
		sz = c_type_sz(field);
		cnt = array ? strtoul(array + 1, NULL, 10) : 1;
		off = (off + sz - 1) / sz * sz;
		fprintf(f, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", field, of, off, sz * cnt, *field == 's');
		off += sz * cnt;
	}
	fprintf(f, "\nprint fmt: %s\n", words ?: "\"\"");
}

static void read_tp(char *args)
{
	struct fr_tps_item item = {0};
	struct fr_tpformat *t = NULL;
	struct fr_memfile m;
	char *fields = strchr(args, ' '), *text;
	FILE *f = fr_memfile_open(&m);

	if (schema || !fields || !f || sscanf(args, "%31[^:]:%31s", item.system, item.name) != 2)
		die("tp SYSTEM:NAME TYPE:FIELD...");
	put_format(f, item.name, fields + 1);
	item.text = text = fr_memfile_end(&m, &item.sz);
	if (!schema_text) {
		size_t sz;
		char *built = fr_schema_write(fr_schema_builtin(), &sz);

		schema_text = fr_memfile_open(&schema_m);
		formats = fr_memfile_open(&formats_m);
		fwrite(built, 1, sz, schema_text);
		free(built);
	}
	if (fr_tpformat_new(item.system, item.name, text, item.sz, &t) || fr_tps_put(formats, &item) ||
	    fr_tpformat_put_schema(t, free_nr(), FR_TIER_RARE, schema_text))
		die("a format");
	fr_tpformat_free(t);
	free(text);
}

/* Whole with the first event, or at the end. */
static const struct fr_schema *make_schema(void)
{
	char *text;
	size_t sz;

	if (schema_text && !schema) {
		text = fr_memfile_end(&schema_m, &sz);
		if (fr_schema_parse(text, sz, &schema))
			die("the schema");
		free(text);
	}
	return schema ?: fr_schema_builtin();
}

static bool read_incident(const char *line)
{
	struct fr_snap_incident *inc = &incident[incident_cnt];
	char comm[FR_COMM_SZ];
	unsigned long long ns, sender;

	*inc = (struct fr_snap_incident){.epoch = 1, .rec = {.done = incident_cnt + 1, .kind = FR_INCIDENT_signal}};
	if (sscanf(line, "incident %llu %u %d %llu %15s", &ns, &inc->rec.pid, &inc->rec.sig, &sender, comm) != 5)
		return false;
	inc->rec.ts = ns;
	inc->rec.value = sender;
	inc->rec.count = 1;
	memcpy(inc->rec.text + FR_INCIDENT_SENDER_AT, comm, strlen(comm));
	incident_cnt++;
	return true;
}

static bool read_limit(const char *line)
{
	struct fr_snap_scene *l = &scene[scene_cnt];
	char soft[24], hard[24];
	u32 number;

	if (scene_cnt == MAX)
		return false;
	*l = (struct fr_snap_scene){.what = FR_SCENE_limit, .start_ns = 1, .at_ns = 1, .value[2] = ~0ull, .text = ""};
	if (sscanf(line, "limit %u %u %23s %23s", &l->tid, &number, soft, hard) != 4)
		return false;
	l->number = number;
	l->value[0] = strcmp(soft, "-") ? strtoull(soft, NULL, 0) : ~0ull;
	l->value[1] = strcmp(hard, "-") ? strtoull(hard, NULL, 0) : ~0ull;
	scene_cnt++;
	return true;
}

static bool read_klog(const char *line)
{
	struct fr_snap_klog *l = &klog[klog_cnt];
	unsigned long long ns;
	unsigned facility;
	int at = 0;

	if (klog_cnt == MAX || sscanf(line, "klog %llu %u %n", &ns, &facility, &at) != 2 || !at)
		return false;
	*l = (struct fr_snap_klog){.seq = klog_cnt + 1,
				   .ts = ns,
				   .stamp_ns = ns,
				   .facility = facility,
				   .level = 6,
				   .text = strndup(line + at, strcspn(line + at, "\n"))};
	klog_cnt++;
	return true;
}

static bool read_counter(const char *line)
{
	char name[64], object[256];
	unsigned long long ns, value;
	const struct fr_counter *c;

	if (sscanf(line, "counter %63s %255s %llu %llu", name, object, &ns, &value) != 4)
		return false;
	c = fr_counter_find(name);
	return c && !fr_counters_add(&counters, name, strcmp(object, "-") ? object : "", c->kind, ns, value);
}

static void put_event(char *args)
{
	char *at = strtok(args, " \n"), *cpu = strtok(NULL, " \n"), *name = strtok(NULL, " \n"), *tid = strtok(NULL, " \n"),
	     *field;
	const struct fr_event *ev = name ? fr_schema_find(make_schema(), name) : NULL;
	u8 rec[FR_REC_MAX_SZ] = {0};
	u32 sz, now, id;

	if (!ev || !tid)
		die("event: NS CPU NAME TID");
	id = strtoul(tid, NULL, 0);
	memcpy(rec + 8, &id, sizeof(id));
	rec[11] = ev->nr == FR_EV_sched_waking ? FR_WAKER_task : 0;
	sz = ev->fixed_sz;
	while ((field = strtok(NULL, " \n"))) {
		now = put_field(ev, rec, field);
		sz = now > sz ? now : sz;
	}
	host_clock_ns = strtoull(at, NULL, 0);
	if (host_ring_put(ring[atoi(cpu) % CPU_CNT][ev->tier], ev->nr, rec, (sz + 7) / 8 * 8))
		die("the ring is full");
}

static bool read_process(const char *line)
{
	unsigned long long start_ns, exit_ns, cgroup;
	struct fr_snap_task *t = &task[task_cnt];
	char comm[FR_COMM_SZ];
	u32 pid, ppid = 0;

	if (task_cnt == MAX ||
	    sscanf(line, "process %u %llu %llu %llu %15s %u", &pid, &start_ns, &exit_ns, &cgroup, comm, &ppid) < 5)
		return false;
	*t = (struct fr_snap_task){
		.tid = pid, .start_ns = start_ns, .task = {.tgid = pid, .ppid = ppid, .cgroup = cgroup, .exit_ns = exit_ns}};
	memcpy(t->task.comm, comm, strlen(comm));
	task_cnt++;
	return true;
}

static bool read_thread(const char *line)
{
	struct fr_snap_task *t = &task[task_cnt];
	unsigned long long start_ns;
	char comm[FR_COMM_SZ];
	u32 tid, pid;

	if (task_cnt == MAX || sscanf(line, "thread %u %u %llu %15s", &tid, &pid, &start_ns, comm) != 4)
		return false;
	*t = (struct fr_snap_task){.tid = tid, .start_ns = start_ns, .task = {.tgid = pid}};
	memcpy(t->task.comm, comm, strlen(comm));
	task_cnt++;
	return true;
}

static bool read_state(const char *line, struct fr_snap_state *t)
{
	unsigned state = 0, in = FR_STATE_IN_NONE;
	const char *object = strstr(line, " object="), *owner, *allowed, *arg3 = strstr(line, " arg3=");
	int got;

	*t = (struct fr_snap_state){.id = -1, .object = ""};
	if (object) {
		object += strlen(" object=");
		t->object = strndup(object, strcspn(object, "\n"));
	}
	got = sscanf(line, "state %u %llu %d %hhu %u %d %lli %lli %lli %llu %lli %hhu %u", &t->tid, &t->at_ns, &t->prio,
		     &t->policy, &state, &t->id, (s64 *)&t->arg[0], (s64 *)&t->arg[1], (s64 *)&t->arg[2], &t->since_ns,
		     (s64 *)&t->kstack_id, &t->waker, &t->waker_tid);
	if (got > 4)
		in = t->id < 0 ? FR_WAITED_user : FR_WAITED_call;
	owner = strstr(line, " owner=");
	if (owner)
		t->owner_tid = strtoul(owner + strlen(" owner="), NULL, 0);
	allowed = strstr(line, " allowed=");
	if (allowed)
		t->allowed_cnt = strtoul(allowed + strlen(" allowed="), NULL, 0);
	if (arg3)
		t->arg[3] = strtoull(arg3 + strlen(" arg3="), NULL, 0);
	t->flags = strstr(line, " runs") ? FR_STATE_RUNS : 0;
	t->state = state;
	t->in = in;
	return got >= 4;
}

static bool read_symbol(const char *line)
{
	struct fr_snap_symbol *y = &symbol[symbol_cnt];
	unsigned long long addr, sz;
	char name[256], module[64];

	if (symbol_cnt == MAX || sscanf(line, "symbol %u %llx %llx %255s %63s", &y->pid, &addr, &sz, name, module) != 5)
		return false;
	y->addr = addr;
	y->sz = sz;
	put_str(name, name);
	y->name = strdup(name);
	y->module = strcmp(module, "-") ? strdup(module) : NULL;
	symbol_cnt++;
	return true;
}

static void read_line(char *line)
{
	unsigned long long ns, until_ns;
	u32 cpu, tid;
	int got;

	if (fact_cnt < MAX && sscanf(line, "fact %63s %1023[^\n]", fact[fact_cnt].name, fact[fact_cnt].value) == 2)
		fact_cnt++;
	else if (sscanf(line, "horizon %u %llu", &cpu, &ns) == 2)
		horizon[cpu % CPU_CNT] = ns;
	else if ((got = sscanf(line, "copied %u %llu %u", &cpu, &ns, &tid)) >= 2) {
		copied[cpu % CPU_CNT] = ns;
		holder[cpu % CPU_CNT] = got == 3 ? tid + 1 : 0;
	} else if (sscanf(line, "complete %u %llu", &cpu, &ns) == 2 && cpu < FR_TIER_CNT)
		complete[cpu] = ns;
	else if (hole_cnt < MAX && sscanf(line, "hole %u %llu %llu", &cpu, &ns, &until_ns) == 3)
		hole[hole_cnt++] = (struct fr_snap_hole){
			.cpu = cpu % CPU_CNT, .why = FR_HOLE_overwritten, .since_ns = ns, .until_ns = until_ns};
	else if (sscanf(line, "clock %llu %llu", &ns, &until_ns) == 2)
		at_clock = (struct fr_snap_clock){.ts = ns, .real_ns = until_ns};
	else if (state_cnt < MAX && read_state(line, &state[state_cnt]))
		state_cnt++;
	else if (task_cnt < MAX && sscanf(line, "kthread %u", &task[task_cnt].tid) == 1)
		task[task_cnt++].task = (struct fr_task){.flags = FR_TASK_KTHREAD, .comm = "kthread"};
	else if (read_process(line) || read_thread(line) || read_symbol(line) || read_counter(line) || read_klog(line) ||
		 read_limit(line) || (incident_cnt < MAX && read_incident(line)))
		;
	else if (!strncmp(line, "tp ", 3))
		read_tp(line + 3);
	else if (!strncmp(line, "proc ", 5) && strlen(procs) + strlen(line) < sizeof(procs))
		strcat(procs, line + 5);
	else if (!strncmp(line, "event ", 6))
		put_event(line + 6);
	else
		die(line);
}

static int put_rings(struct fr_snap_writer *w)
{
	struct fr_snap_ring acct[CPU_CNT * FR_TIER_CNT];
	u32 cpu, tier, cnt = 0;
	int err = 0;

	for (cpu = 0; cpu < CPU_CNT; cpu++) {
		acct[cnt++] = (struct fr_snap_ring){.cpu = cpu,
						    .slot_cnt = 4,
						    .subbuf_sz = 65536,
						    .horizon_ns = horizon[cpu],
						    .end_ns = copied[cpu],
						    .holder = holder[cpu]};
		for (tier = 0; tier < FR_TIER_CNT && !err; tier++)
			err = host_ring_put_laps(ring[cpu][tier], w);
		for (tier = 1; tier < FR_TIER_CNT; tier++)
			if (complete[tier])
				acct[cnt++] = (struct fr_snap_ring){.cpu = cpu,
								    .tier = tier,
								    .slot_cnt = 4,
								    .subbuf_sz = 65536,
								    .horizon_ns = complete[tier]};
	}
	err = err ?: fr_snap_put_rings(w, acct, cnt);
	return err || !hole_cnt ? err : fr_snap_put_holes(w, hole, hole_cnt);
}

static int put_formats(struct fr_snap_writer *w)
{
	size_t sz;
	char *text = fr_memfile_end(&formats_m, &sz);
	int err = fr_snap_put_formats(w, text, sz);

	free(text);
	return err;
}

int main(int argc, char **argv)
{
	struct fr_snap_writer *w;
	char line[2048];
	u32 cpu, tier, i;
	int err;

	if (argc != 2 || fr_snap_create(argv[1], BUDGET_SZ, 1, &w))
		return 1;
	for (cpu = 0; cpu < CPU_CNT; cpu++)
		for (tier = 0; tier < FR_TIER_CNT; tier++)
			ring[cpu][tier] = host_ring_new(cpu, tier, 4, 16);
	fr_counters_init(&counters);
	while (fgets(line, sizeof(line), stdin))
		read_line(line);
	err = fr_snap_put_schema(w, make_schema());
	if (schema && !err)
		err = put_formats(w);
	if (incident_cnt && !err)
		err = fr_snap_put_incidents(w, incident, incident_cnt);
	if (klog_cnt && !err)
		err = fr_snap_put_klog(w, klog, klog_cnt);
	if (scene_cnt && !err)
		err = fr_snap_put_scenes(w, scene, scene_cnt);
	if (counters.series.cnt && !err)
		err = fr_snap_put_counters(w, &counters);
	for (i = 0; i < fact_cnt && !err; i++)
		err = fr_snap_put_fact(w, fact[i].name, "%s", fact[i].value);
	err = err ?: fr_snap_put_tasks(w, task, task_cnt);
	err = err || !at_clock.ts ? err : fr_snap_put_clocks(w, &at_clock, 1);
	err = err ?: fr_snap_put_procs(w, procs, strlen(procs));
	err = err ?: fr_snap_put_states(w, state, state_cnt);
	err = err ?: fr_snap_put_symbols(w, symbol, symbol_cnt);
	err = err ?: put_rings(w);
	err = err ?: fr_snap_finish(w);
	for (cpu = 0; cpu < CPU_CNT; cpu++)
		for (tier = 0; tier < FR_TIER_CNT; tier++)
			host_ring_free(ring[cpu][tier]);
	(void)host_ring_fill;
	return err != 0;
}
