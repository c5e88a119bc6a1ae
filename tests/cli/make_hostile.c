/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make_hostile FILE: a snapshot in which each name that a process chose to disguise something is that of a task, of a program,
 * of a command line, a directory and a cgroup, of who was killed, of functions of the kernel and of code made at run time, of
 * modules and mapped files, of what calls were given, in samples, the profile and the incident log; and of facts. It prints the
 * names in hex, a line each: they are listed here alone.
 */
#include "unit/host_ring.h"

#include "base/profile/prof.h"
#include "base/text/jsonw.h"
#include "event_fields.h"
#include "incident_layout.h"
#include "session.h"

#include <stdio.h>

#define BUDGET_SZ (16u << 20)
#define REAL_NS	  1767225600000000000ULL /* 2026-01-01T00:00:00Z at the clock's 10 s */
#define SEC	  1000000000ULL
#define US	  1000ULL

/* As task names are: at most 15 bytes. */
static const char *const names[] = {
	"=1+1",
	"+cmd|' /C x'!A0",
	"-2",
	"@SUM(A1)",
	"\ttab",
	"'quoted",
	"a\nb\r\x0b\x0c",
	"\x1b[31mred\x1b[0m",
	"\x9b"
	"31mred",
	"\xc2\x9b"
	"31mred",
	"\xff\xfe\xc0\x80",
	"rtl\xe2\x80\xaetxt",
	"\xe2\x80\x8bzero",
	"a\"b,c;d",
	"\\x41\\n\\",
	"<b>&amp;",
	"</script>",
	"%s%n%p",
	"$(id)`id`",
	"del\x7f\x08\x08",
	"\xed\xa0\x80sur",
	"\xf3\xa0\x81\x81tag",
	"../../etc/x",
	".hidden",
	"-rf",
	"\xe2\x80\xa8line\xc2\x85",
	"\xe4\xb8\xad\xe6\x96\x87",
	"cut\xe4\xb8",
};
#define NAME_CNT (sizeof(names) / sizeof(names[0]))

static u32 tid_of(size_t i)
{
	return 1000 + (u32)i;
}

static u64 begin_of(size_t i)
{
	return 10 * SEC + i * 100 * US;
}

/* The name was given by an exec of a program whose path ends in it, and its task dies of SIGSEGV. */
static void put_life(struct host_ring *life, size_t i)
{
	struct fr_rec_task_rename rename = {.task = tid_of(i), .target_pid = tid_of(i), .oldcomm = "before"};
	struct fr_rec_sched_process_exec exec = {.task = tid_of(i), .old_pid = tid_of(i)};
	struct fr_rec_sched_process_exit exit = {.task = tid_of(i), .exit_code = 139, .prio = 120, .group_dead = 1};
	u8 rec[96] = {0};
	int len;

	snprintf(rename.newcomm, sizeof(rename.newcomm), "%s", names[i]);
	host_clock_ns = begin_of(i);
	host_ring_put_rec(life, task_rename, &rename);
	memcpy(rec, &exec, sizeof(exec));
	len = snprintf((char *)rec + sizeof(exec), sizeof(rec) - sizeof(exec), "/opt/%s", names[i]) + 1;
	host_clock_ns = begin_of(i) + US;
	host_ring_put(life, FR_EV_sched_process_exec, rec, (sizeof(exec) + len + 7) / 8 * 8);
	host_clock_ns = begin_of(i) + 90 * US;
	host_ring_put_rec(life, sched_process_exit, &exit);
}

static u64 kernel_of(size_t i)
{
	return 0xffffffff81000000 + i * 0x1000;
}

/* In a file of that name, and of code that the process made. */
static u64 user_of(size_t i, bool made)
{
	return 0x7f0000000000 + i * 0x10000 + (made ? 0x8000 : 0);
}

static void put_stack(struct host_ring *stack, u32 tid, u64 id, const u64 *ip, u32 cnt)
{
	struct fr_rec_stack rec = {.task = tid, .stack_id = id};

	host_ring_put_nums(stack, FR_EV_stack, &rec, offsetof(struct fr_rec_stack, frames), ip, cnt);
}

static void put_sample(struct host_ring *main, struct host_ring *stack, size_t i)
{
	const u64 in_kernel[] = {kernel_of(i) + 16, kernel_of((i + 1) % NAME_CNT) + 16},
		  in_user[] = {user_of(i, false) + 16, user_of(i, true) + 16};
	struct fr_rec_cpu_sample s = {.task = tid_of(i) | 1u << 24, .kstack_id = 2 * i + 1, .ustack_id = 2 * i + 2};

	host_clock_ns = begin_of(i) + 30 * US;
	put_stack(stack, tid_of(i), s.kstack_id, in_kernel, 2);
	put_stack(stack, tid_of(i), s.ustack_id, in_user, 2);
	host_ring_put(main, FR_EV_cpu_sample, &s, sizeof(s));
}

/* A call of this task is given the name, with an address of a socket of the same name; the texts of another one, whose
 * beginnings are not there, come in between. */
static void put_call(struct host_ring *main, size_t i)
{
	static const u64 args[] = {3, 0x7f0000000000, 110};
	const u32 tid = tid_of(i), other = tid_of((i + 1) % NAME_CNT);
	struct fr_rec_sys_enter enter = {.task = tid, .id = 42}; /* connect */
	struct fr_rec_sys_exit leave = {.task = tid, .id = 42, .ret = -2};
	struct fr_rec_sys_unread unread = {.task = other, .id = 42, .arg = 1, .why = 1};
	struct fr_rec_sys_path path = {.task = tid, .id = 42, .arg = 1};
	u8 rec[sizeof(path) + FR_CALL_TEXT_MAX] = {0};

	host_ring_put_nums(main, FR_EV_sys_enter, &enter, offsetof(struct fr_rec_sys_enter, args), args, 3);
	path.task = other;
	memcpy(rec, &path, sizeof(path));
	snprintf((char *)rec + sizeof(path), FR_CALL_TEXT_MAX, "%s", names[(i + 1) % NAME_CNT]);
	host_ring_put(main, FR_EV_sys_path, rec, (sizeof(path) + strlen(names[(i + 1) % NAME_CNT]) + 8) / 8 * 8);
	host_ring_put_rec(main, sys_unread, &unread);
	path.task = tid;
	path.arg |= FR_CALL_RAW_ARG;
	path.cut = 3 + strnlen(names[i], FR_CALL_TEXT_MAX - 3);
	memset(rec, 0, sizeof(rec));
	memcpy(rec, &path, sizeof(path));
	rec[sizeof(path)] = 1; /* AF_UNIX, and a name that is no file's */
	snprintf((char *)rec + sizeof(path) + 3, FR_CALL_TEXT_MAX - 3, "%s", names[i]);
	host_ring_put(main, FR_EV_sys_path, rec, sizeof(path) + FR_CALL_ADDR_SZ);
	host_ring_put_rec(main, sys_exit, &leave);
}

static void put_main(struct host_ring *main, struct host_ring *stack, size_t i)
{
	struct fr_rec_sched_switch run = {.next_pid = tid_of(i), .prev_prio = 120, .next_prio = 120};
	struct fr_rec_sched_waking waking = {
		.task = FR_BY(tid_of(i), task), .target_pid = tid_of((i + 1) % NAME_CNT), .prio = 120};
	struct fr_rec_signal_deliver signal = {.task = tid_of(i) | 1u << 24, .sig = 11, .code = 1, .addr = 8, .ip = 0x401000};
	struct fr_rec_sched_switch leave = {.task = tid_of(i), .prev_state = 16, .prev_prio = 120, .next_prio = 120};

	host_clock_ns = begin_of(i) + 10 * US;
	host_ring_put_rec(main, sched_switch, &run);
	host_clock_ns = begin_of(i) + 20 * US;
	host_ring_put_rec(main, sched_waking, &waking);
	put_sample(main, stack, i);
	put_call(main, i);
	host_clock_ns = begin_of(i) + 80 * US;
	host_ring_put_rec(main, signal_deliver, &signal);
	host_clock_ns = begin_of(i) + 95 * US;
	host_ring_put_rec(main, sched_switch, &leave);
}

static int put_facts(struct fr_snap_writer *w)
{
	int err = fr_snap_put_fact(w, "host", "%s", names[7]);

	err = err ? err : fr_snap_put_fact(w, "arch", "x86_64");
	err = err ? err : fr_snap_put_fact(w, "boot_id", "b");
	err = err ? err : fr_snap_put_fact(w, "snapshot_ns", "%llu", (unsigned long long)(11 * SEC));
	err = err ? err : fr_snap_put_fact(w, "trigger_reason", "crash");
	err = err ? err : fr_snap_put_fact(w, "trigger_pid", "%u", tid_of(7));
	err = err ? err : fr_snap_put_fact(w, "trigger_comm", "%s", names[7]);
	err = err ? err : fr_snap_put_fact(w, "trigger_exe", "/opt/%s", names[9]);
	err = err ? err : fr_snap_put_fact(w, "trigger_sig", "11");
	err = err ? err : fr_snap_put_fact(w, "trigger_cgroup", "/%s", names[11]);
	err = err ? err : fr_snap_put_fact(w, "trigger_rule", "crash:comm=%s", names[12]);
	err = err ? err : fr_snap_put_fact(w, "trigger_text", "%s", names[13]);
	err = err ? err : fr_snap_put_fact(w, "rule_cnt", "1");
	err = err ? err : fr_snap_put_fact(w, "rule_0", "crash:comm=%s", names[12]);
	err = err ? err : fr_snap_put_fact(w, "session", "%s", names[14]);
	err = err ? err : fr_snap_put_fact(w, "settings", "--comm %s", names[15]);
	err = err ? err : fr_snap_put_fact(w, "profile", "%s", names[16]);
	err = err ? err : fr_snap_put_fact(w, "version", "%s", names[7]);
	err = err ? err : fr_snap_put_fact(w, "kernel", "%s", names[8]);
	err = err ? err : fr_snap_put_fact(w, "command", "%s", names[9]);
	return err ? err : fr_snap_put_fact(w, "trigger_ts", "%llu", (unsigned long long)(begin_of(7) + 80 * US));
}

static int put_tables(struct fr_snap_writer *w)
{
	const struct fr_snap_clock clock = {.ts = 10 * SEC, .mono_ns = 10 * SEC, .real_ns = REAL_NS};
	const u64 cnt[3] = {10 * NAME_CNT, 3 * NAME_CNT, 2 * NAME_CNT};
	const struct fr_snap_ring rings[] = {
		{.cpu = 0, .tier = 0, .slot_cnt = 4, .subbuf_sz = 8192, .written = cnt[0], .present = cnt[0]},
		{.cpu = 0, .tier = 1, .slot_cnt = 4, .subbuf_sz = 8192, .written = cnt[1], .present = cnt[1]},
		{.cpu = 0, .tier = 2, .slot_cnt = 4, .subbuf_sz = 8192, .written = cnt[2], .present = cnt[2]},
	};
	struct fr_snap_task task[NAME_CNT] = {0};
	size_t i;
	int err;

	for (i = 0; i < NAME_CNT; i++) {
		task[i].tid = tid_of(i);
		task[i].start_ns = SEC;
		task[i].task.tgid = tid_of(i);
		snprintf(task[i].task.comm, sizeof(task[i].task.comm), "%s", names[i]);
	}
	err = fr_snap_put_tasks(w, task, NAME_CNT);
	err = err ? err : fr_snap_put_rings(w, rings, 3);
	return err ? err : fr_snap_put_clocks(w, &clock, 1);
}

static int put_names(struct fr_snap_writer *w)
{
	struct fr_snap_symbol sym[2 * NAME_CNT];
	struct fr_snap_mapping map[NAME_CNT];
	static char path[NAME_CNT][64];
	size_t i;
	int err;

	for (i = 0; i < NAME_CNT; i++) {
		sym[i] = (struct fr_snap_symbol){
			.addr = kernel_of(i), .sz = 64, .name = names[i], .module = names[(i + 3) % NAME_CNT]};
		sym[NAME_CNT + i] =
			(struct fr_snap_symbol){.pid = tid_of(i), .addr = user_of(i, true), .sz = 64, .name = names[i]};
		snprintf(path[i], sizeof(path[i]), "/opt/%s", names[i]);
		map[i] = (struct fr_snap_mapping){
			.pid = tid_of(i), .begin = user_of(i, false), .end = user_of(i, false) + 0x1000, .path = path[i]};
	}
	err = fr_snap_put_symbols(w, sym, 2 * NAME_CNT);
	return err ? err : fr_snap_put_mappings(w, map, NAME_CNT);
}

static int put_profile(struct fr_snap_writer *w)
{
	struct fr_prof *p = fr_prof_new(0);
	size_t i;
	int err;

	fr_prof_open(p, SEC, NAME_CNT);
	p->hz = 99;
	p->cpu_cnt = 1;
	p->taken = p->bucket[p->bucket_cnt - 1].taken = NAME_CNT;
	for (i = 0; i < NAME_CNT; i++) {
		struct fr_prof_key key = {.pid = tid_of(i), .state = FR_HIT_kernel};

		snprintf(key.comm, sizeof(key.comm), "%s", names[i]);
		key.kstack = fr_prof_put_node(p, 0, kernel_of(i) + 16);
		fr_prof_hit(p, fr_prof_put_key(p, &key), 1);
	}
	err = fr_snap_put_profile(w, p);
	free(p);
	return err;
}

static int put_incidents(struct fr_snap_writer *w)
{
	struct fr_snap_incident inc[NAME_CNT];
	size_t i;

	for (i = 0; i < NAME_CNT; i++) {
		inc[i] = (struct fr_snap_incident){.epoch = 1,
						   .rec = {.done = i + 1,
							   .ts = begin_of(i),
							   .count = 1,
							   .kind = 1 + i % (FR_INCIDENT_KIND_END - 1),
							   .pid = tid_of(i),
							   .tid = tid_of(i),
							   .sig = 11}};
		snprintf(inc[i].rec.comm, sizeof(inc[i].rec.comm), "%s", names[i]);
		snprintf(inc[i].rec.text, sizeof(inc[i].rec.text), "/opt/%s", names[i]);
	}
	return fr_snap_put_incidents(w, inc, NAME_CNT);
}

/* As a recorder writes them. */
static int put_procs(struct fr_snap_writer *w)
{
	static struct fr_out o;
	struct fr_jsonw j = {.o = &o};
	size_t i, sz;
	char *text;
	int err;

	fr_out_init_mem(&o);
	for (i = 0; i < NAME_CNT; i++) {
		j.comma = false;
		fr_jsonw_open(&j, NULL, '{');
		fr_jsonw_u64(&j, "pid", tid_of(i));
		fr_jsonw_text(&j, "cmdline", names[i]);
		fr_jsonw_text(&j, "exe", names[i]);
		fr_jsonw_text(&j, "cwd", names[i]);
		fr_jsonw_text(&j, "cgroup", names[i]);
		fr_jsonw_close(&j, '}');
		fr_out_str(&o, "\n");
	}
	text = fr_out_take_mem(&o, &sz);
	err = text ? fr_snap_put_procs(w, text, sz) : -1;
	free(text);
	return err;
}

static void print_names(void)
{
	const char *c;
	size_t i;

	for (i = 0; i < NAME_CNT; i++) {
		for (c = names[i]; *c; c++)
			printf("%02x", (u8)*c);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct host_ring *main_ring = host_ring_new(0, FR_TIER_MAIN, 4, 2), *life = host_ring_new(0, FR_TIER_LIFE, 4, 2),
			 *stack = host_ring_new(0, FR_TIER_STACK, 4, 2);
	struct fr_snap_writer *w;
	size_t i;
	int err;

	if (argc != 2 || fr_snap_create(argv[1], BUDGET_SZ, 1, &w))
		return 1;
	for (i = 0; i < NAME_CNT; i++) {
		put_life(life, i);
		put_main(main_ring, stack, i);
	}
	err = fr_snap_put_schema(w, fr_schema_builtin());
	err = err ? err : put_facts(w);
	err = err ? err : put_tables(w);
	err = err ? err : host_ring_put_laps(main_ring, w);
	err = err ? err : host_ring_put_laps(life, w);
	err = err ? err : host_ring_put_laps(stack, w);
	err = err ? err : put_names(w);
	err = err ? err : put_profile(w);
	err = err ? err : put_incidents(w);
	err = err ? err : put_procs(w);
	err = err ? err : fr_snap_finish(w);
	host_ring_free(main_ring);
	host_ring_free(life);
	host_ring_free(stack);
	(void)host_ring_fill;
	print_names();
	return err != 0;
}
