/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/load.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "alert.h"
#include "base/err.h"
#include "base/schema/schema.h"
#include "base/schema/syscalls.h"
#include "base/trigger/ledger.h"
#include "event_fields.h"
#include "flightrec.skel.h"
#include "flood.h"
#include "live/ring/percpu.h"
#include "live/session/blockstore.h"
#include "live/session/counterstore.h"
#include "live/session/current.h"
#include "live/session/hits.h"
#include "live/session/incident_load.h"
#include "live/session/returns.h"
#include "live/session/sess_states.h"
#include "live/session/tpchoice.h"
#include "live/session/upattach.h"
#include "read/elf/kallsyms.h"
#include "read/elf/kbtf.h"
#include "sys/cpus.h"
#include "sys/fd.h"
#include "sys/memcg.h"
#include "ustack.h"
#include "wait.h"

/* Programs that maintain the task table: attached whether or not their events are recorded. */
static const u8 table_events[] = {FR_EV_sched_process_fork, FR_EV_sched_process_exec, FR_EV_sched_process_exit,
				  FR_EV_task_rename};

struct load {
	const struct fr_load_conf *conf;
	struct fr_load_result *res;
	struct flightrec *skel;
	struct btf *btf;
	struct fr_cpus *cpus;
	int template_fd[FR_TIER_CNT];
};

static int verbose_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level <= LIBBPF_INFO ? vfprintf(stderr, fmt, ap) : 0;
}

static int silent_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

void fr_load_words(bool verbose)
{
	libbpf_set_print(verbose ? verbose_print : silent_print);
}

static int pin_path(char *buf, size_t sz, const struct load *l, const char *name)
{
	return snprintf(buf, sz, "%s/%s", l->conf->dir, name) < (int)sz ? 0 : -ENAMETOOLONG;
}

static u32 tp_cnt(const struct load *l)
{
	return l->conf->tp ? l->conf->tp->cnt : 0;
}

/* Of the tracepoints, those of programs; of these, functions whose return is recorded. */
static u32 up_cnt(const struct fr_tpchoice *tp, bool returns)
{
	u32 cnt = 0, i;

	for (i = 0; tp && i < tp->cnt; i++)
		cnt += tp->chosen[i].up.path && (!returns || tp->chosen[i].up.site->conf.is_return);
	return cnt;
}

static bool keeps_table(u32 nr)
{
	return memchr(table_events, nr, sizeof(table_events)) != NULL;
}

/* Waits have no tracepoint of their own: these programs record them, whether or not their own events are recorded. */
static bool sees_waits(const struct load *l, u32 nr)
{
	return l->conf->wait_min_ns && (nr == FR_EV_sched_switch || nr == FR_EV_sched_waking);
}

static bool load_has_paths(const struct load *l)
{
	return l->conf->enable[FR_EV_sys_path] || l->conf->enable[FR_EV_sys_unread];
}

/* Is anything recorded of what calls are given? The program of their beginnings does that. */
static bool has_texts(const struct load *l)
{
	return load_has_paths(l) || l->conf->enable[FR_EV_stderr_write];
}

/* ---- what the kernel offers ---- */

/* Tracepoints whose arguments changed over time: take this kernel's from BTF. */
static void set_drift(struct load *l)
{
	l->skel->rodata->fr_switch_tells_state = fr_kbtf_switch_tells_state(l->btf);
	l->skel->rodata->fr_victim_is_task = fr_kbtf_victim_is_task(l->btf);
	l->skel->rodata->fr_cgroup_memory_is_v1 = fr_memcg_is_v1(FR_MEMCG_PROC);
	l->skel->rodata->fr_block_error_is_status = fr_kbtf_block_error_is_status(l->btf);
	l->skel->rodata->fr_current_off = fr_current_offset(l->btf);
	fr_preempt_offsets(l->btf, (s64 *)&l->skel->rodata->fr_preempt_task_off, (s64 *)&l->skel->rodata->fr_preempt_off);
	l->skel->rodata->fr_hrtimers_off = fr_percpu_from_rq(l->btf, "hrtimer_bases");
	l->skel->rodata->fr_can_cast = btf__find_by_name_kind(l->btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	l->skel->rodata->fr_calls_slow = l->skel->rodata->fr_current_off && fr_returns_are_slow();
	l->skel->rodata->fr_page_shift = __builtin_ctzl(sysconf(_SC_PAGESIZE));
}

/* ---- before load ---- */

void fr_load_arg_counts(u8 cnt[2][FR_SYSCALL_MAX])
{
	struct utsname un;
	u32 abi, nr;

	uname(&un);
	for (abi = 0; abi < 2; abi++)
		for (nr = 0; nr < FR_SYSCALL_MAX; nr++) {
			int args = fr_syscall_args(un.machine, abi, nr);

			cnt[abi][nr] = args < 0 ? FR_ARG_CNT_MAX : args;
		}
}

/* What is read of what a call is given. */
static u8 load_texts_of(const struct load *l, const struct fr_syscall *call)
{
	u8 texts = load_has_paths(l) ? fr_syscall_texts(call) : 0;

	return texts ?: l->conf->enable[FR_EV_stderr_write] ? fr_syscall_says(call) : 0;
}

static void load_texts(struct load *l)
{
	u8(*cnt)[FR_SYSCALL_MAX] = (void *)l->skel->rodata->fr_arg_cnt;
	u8(*texts)[FR_SYSCALL_MAX] = (void *)l->skel->rodata->fr_call_texts;
	const struct fr_syscall *call;
	struct utsname un;
	u32 abi, nr;

	uname(&un);
	for (abi = 0; abi < 2; abi++)
		for (nr = 0; nr < FR_SYSCALL_MAX; nr++) {
			call = fr_syscalls_at(fr_syscalls_find(un.machine, abi), nr);
			texts[abi][nr] = call ? load_texts_of(l, call) : 0;
			cnt[abi][nr] |= texts[abi][nr] ? FR_CALL_HAS_TEXT : 0;
		}
	l->skel->rodata->fr_call_has_texts = has_texts(l);
}

void fr_load_fd_calls(u64 set[2][FR_FD_CALL_WORDS])
{
	static const char *const names[] = {
		"read",	      "write",		 "readv",	   "writev",	"pread64",     "pwrite64",  "preadv",
		"pwritev",    "preadv2",	 "pwritev2",	   "recv",	"send",	       "recvfrom",  "sendto",
		"recvmsg",    "sendmsg",	 "recvmmsg",	   "sendmmsg",	"accept",      "accept4",   "connect",
		"fsync",      "fdatasync",	 "syncfs",	   "flock",	"fcntl",       "fcntl64",   "ioctl",
		"epoll_wait", "epoll_pwait",	 "epoll_pwait2",   "ftruncate", "ftruncate64", "fallocate", "sync_file_range",
		"getdents",   "getdents64",	 "readahead",	   "sendfile",	"sendfile64",  "splice",    "tee",
		"vmsplice",   "copy_file_range", "io_uring_enter", "close",	"fstat",       "lseek",
	};
	struct utsname un;
	u32 abi, i;

	uname(&un);
	for (abi = 0; abi < 2; abi++)
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			int nr = fr_syscall_nr(un.machine, abi, names[i]);

			if (nr >= 0 && nr < FR_SYSCALL_MAX)
				set[abi][nr / 64] |= 1ULL << nr % 64;
		}
}

/* Where the functions are by which a waking's stack tells who wakes. Where addresses are hidden its context alone says it. */
static void set_wake_text(struct load *l)
{
	static const char *const names[] = {
#define F(nr, name, how) [nr] = name,
		FR_WAKE_FRAMES(F)
#undef F
			[FR_WAKE_FRAME_CNT] = "__entry_text_end",
	};
	u64(*to)[2] = (void *)l->skel->rodata->fr_wake_text;
	struct fr_ktext text[FR_WAKE_FRAME_CNT + 1];
	u32 i;

	if (!l->conf->wait_min_ns || fr_kallsyms_text(FR_KALLSYMS, names, FR_WAKE_FRAME_CNT + 1, text))
		return;
	/* without the bound that interrupts have, what they interrupted would be taken for theirs */
	if (!text[FR_WAKE_FRAME_CNT].begin || !text[FR_WAKE_ENTRY].begin)
		return;
	text[FR_WAKE_ENTRY].end = text[FR_WAKE_FRAME_CNT].begin; /* all code that enters the kernel, not one function */
	for (i = 0; i < FR_WAKE_FRAME_CNT; i++) {
		to[i][0] = text[i].begin;
		to[i][1] = text[i].end;
	}
}

/* Calls that never end, or may end as another tid: they are never thinned. */
static void load_mark_stays(u8 cnt[2][FR_SYSCALL_MAX])
{
	static const char *const names[] = {"exit", "exit_group", "execve", "execveat"};
	struct utsname un;
	u32 abi, i;

	uname(&un);
	for (abi = 0; abi < 2; abi++)
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			int nr = fr_syscall_nr(un.machine, abi, names[i]);

			if (nr >= 0 && nr < FR_SYSCALL_MAX)
				cnt[abi][nr] |= FR_CALL_STAYS;
		}
}

static void load_set_constants(struct load *l)
{
	const struct fr_load_conf *c = l->conf;
	u32 i;

	memcpy((void *)l->skel->rodata->fr_geometry, c->geo, sizeof(c->geo));
	l->skel->rodata->fr_epoch = c->epoch;
	l->skel->rodata->fr_generation = 1;
	l->skel->rodata->fr_grain_ns = c->grain_ns;
	l->skel->rodata->fr_profile = c->profile;
	l->skel->rodata->fr_wait_min_ns = c->wait_min_ns;
	l->skel->rodata->fr_hits_shift = fr_hits_shift_of(fr_load_possible_cnt());
	l->skel->rodata->fr_incident_cnt = c->incident_cnt;
	l->skel->rodata->fr_pid_filter_cnt = c->pid_cnt;
	l->skel->rodata->fr_comm_filter_cnt = c->comm_cnt;
	l->skel->rodata->fr_filter_all = c->filter_all;
	l->skel->rodata->fr_cgroup_filter_cnt = c->cgroup_cnt;
	memcpy((void *)l->skel->rodata->fr_comm_filter, c->comm, sizeof(c->comm));
	memcpy((void *)l->skel->rodata->fr_cgroup_filter, c->cgroup, sizeof(c->cgroup));
	if (c->thin_ns) {
		const struct fr_geometry *main = &c->geo[FR_TIER_MAIN];
		struct fr_thin_conf thin = fr_thin_conf_of(main->slot_cnt, (u64)main->subbuf_pages * FR_PAGE_UNITS, c->thin_ns);

		memcpy((void *)&l->skel->rodata->fr_thin_conf, &thin, sizeof(thin));
	}
	fr_load_arg_counts((void *)l->skel->rodata->fr_arg_cnt);
	load_texts(l);
	if (c->thin_ns)
		load_mark_stays((void *)l->skel->rodata->fr_arg_cnt);
	fr_load_fd_calls((void *)l->skel->rodata->fr_fd_call);
	for (i = 0; i < tp_cnt(l); i++)
		memcpy((void *)&l->skel->rodata->fr_tp_conf[i], &c->tp->chosen[i].conf, sizeof(c->tp->chosen[i].conf));
	set_wake_text(l);
	set_drift(l);
}

/* Choose the programs: those of enabled events that this kernel has, those that maintain the task table, and the controls. */
static void load_choose_programs(struct load *l)
{
	const struct fr_up_parts up = {.up = l->skel->progs.up,
				       .begin = l->skel->progs.up_begin,
				       .works = l->skel->maps.fr_tp_works,
				       .sites = l->skel->maps.fr_up_sites,
				       .calls = l->skel->maps.fr_up_calls};
	const struct fr_schema *schema = fr_schema_builtin();
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, l->skel->obj)
	{
		const struct fr_event *ev = fr_schema_find(schema, bpf_program__name(prog));
		bool wanted, there;

		if (!ev)
			continue;
		wanted = l->conf->enable[ev->nr] || (ev->nr == FR_EV_sys_enter && has_texts(l));
		there = bpf_program__type(prog) == BPF_PROG_TYPE_PERF_EVENT || fr_kbtf_has(l->btf, fr_kbtf_tracepoint_of(prog));
		l->res->missing[ev->nr] = wanted && !there;
		bpf_program__set_autoload(prog, there && (wanted || keeps_table(ev->nr) || sees_waits(l, ev->nr)));
	}
	bpf_program__set_autoload(l->skel->progs.tp, tp_cnt(l) > up_cnt(l->conf->tp, false));
	l->skel->rodata->fr_up_may_sleep = fr_up_prepare(&up, up_cnt(l->conf->tp, false), up_cnt(l->conf->tp, true),
							 l->conf->tp ? l->conf->tp->site_cnt : 0);
	fr_incident_choose(l->skel->obj, l->btf, l->res->incidents_missing, sizeof(l->res->incidents_missing));
	bpf_program__set_autoload(l->skel->progs.fr_seed_tasks,
				  btf__find_by_name_kind(l->btf, "bpf_iter__task", BTF_KIND_STRUCT) > 0);
}

static struct bpf_map *tier_map(const struct load *l, u32 tier)
{
	struct bpf_map *map[FR_TIER_CNT] = {
#define T(nr, TIER, name, doc) [nr] = l->skel->maps.fr_##name,
		FR_TIERS(T)
#undef T
	};

	return map[tier];
}

/* The outer maps have one entry per possible CPU, and take their inner maps' geometry from a template. */
static int size_maps(struct load *l)
{
	int possible = libbpf_num_possible_cpus();
	u32 tier;

	if (possible < 0)
		return possible;
	if ((u32)possible > FR_CPU_MAX) {
		fr_err("this machine can have %d CPUs, flightrec records %u at most", possible, FR_CPU_MAX);
		return -ENOTSUP;
	}
	for (tier = 0; tier < FR_TIER_CNT; tier++) {
		l->template_fd[tier] = fr_percpu_make_ring(&l->conf->geo[tier], fr_cpus_node(fr_cpus_nr(l->cpus, 0)));
		if (l->template_fd[tier] < 0)
			return l->template_fd[tier];
		bpf_map__set_inner_map_fd(tier_map(l, tier), l->template_fd[tier]);
		bpf_map__set_max_entries(tier_map(l, tier), possible);
	}
	bpf_map__set_max_entries(l->skel->maps.fr_tasks, l->conf->task_cnt);
	bpf_map__set_max_entries(l->skel->maps.fr_dead, l->conf->task_cnt / 2);
	/* the verifier also checks the counting programs when there is no profile */
	bpf_map__set_value_size(l->skel->maps.fr_hits, fr_hits_cpu_sz(l->skel->rodata->fr_hits_shift));
	if (l->conf->profile)
		bpf_map__set_max_entries(l->skel->maps.fr_hits, possible);
	if (l->conf->wait_min_ns) {
		bpf_map__set_max_entries(l->skel->maps.fr_waits, FR_WAIT_CNT);
		bpf_map__set_max_entries(l->skel->maps.fr_wait_looks_of, FR_WAIT_LOOK_CNT);
	} else { /* nothing uses it: the verifier drops what would */
		bpf_map__set_value_size(l->skel->maps.fr_wait_over, sizeof(u64));
	}
	if (l->conf->thin_ns) {
		bpf_map__set_max_entries(l->skel->maps.fr_thins, possible);
		bpf_map__set_max_entries(l->skel->maps.fr_thin_open, FR_THIN_OPEN_WORDS);
	}
	bpf_map__set_max_entries(l->skel->maps.fr_tp_counts, tp_cnt(l) ?: 1);
	bpf_map__set_max_entries(l->skel->maps.fr_tp_due, tp_cnt(l) ?: 1);
	bpf_map__set_max_entries(l->skel->maps.fr_tp_open, tp_cnt(l) ? FR_TP_OPEN_MAX : 1);
	bpf_map__set_max_entries(l->skel->maps.fr_watch_progs, tp_cnt(l) ? l->conf->tp->cond.prog_cnt ?: 1 : 1);
	bpf_map__set_max_entries(l->skel->maps.fr_watch_tables, tp_cnt(l) ? l->conf->tp->cond.table_cnt ?: 1 : 1);
	bpf_map__set_max_entries(l->skel->maps.fr_incidents, 1 + l->conf->incident_cnt);
	return 0;
}

u32 fr_load_possible_cnt(void)
{
	int possible = libbpf_num_possible_cpus();

	return possible > 0 ? possible : 1;
}

u64 fr_load_fixed_sz(const struct fr_load_conf *conf, u32 cpu_cnt)
{
	u64 task_cnt = conf->task_cnt, profile = conf->profile
							 ? fr_hits_sz(fr_load_possible_cnt()) + fr_halves_sz(&fr_counterstore) +
								   (conf->wait_min_ns ? fr_halves_sz(&fr_blockstore) : 0)
							 : 0;

	/* kernel/bpf/hashtab.c: a header of 48 bytes per element and a bucket of 16 to 32; the queue's keys */
	u64 tasks = task_cnt * (48 + 32 + sizeof(struct fr_task_key) + sizeof(struct fr_task));
	u64 dead = task_cnt / 2 * sizeof(struct fr_task_key);
	u64 per_cpu = FR_EXEC_TEXT_MAX + 3 * FR_STACK_DEPTH_MAX * 8 + 2048 * 24 +
		      15 * 1024 /* stacks seen, places, states, tp */ + 4096 + 16 /* fr_call_given */ +
		      (conf->wait_min_ns ? sizeof(struct fr_wait_over) : 0);

	u64 triggers = sizeof(struct fr_triggers) + sizeof(struct fr_ledger) + FR_ALERT_QUEUE_SZ +
		       1024 * (64 + 32) /* fr_dying */ + FR_USTACK_CNT * sizeof(struct fr_ustack);
	u64 incidents = (u64)(1 + conf->incident_cnt) * FR_INCIDENT_SZ + 4096 * (64 + 32) /* fr_incident_told */ +
			1024 * (96 + 32) /* fr_incident_sent_by */ +
			512 * (48 + 32 + sizeof(struct fr_equal) + 56) /* fr_incident_equal */ +
			1024 * (48 + 32 + 48) /* fr_incident_share */ +
			FR_SQUEEZED_MAX * (48 + 32 + sizeof(struct fr_squeezed_key) + sizeof(struct fr_squeezed));

	u64 waits = conf->wait_min_ns ? FR_WAIT_CNT * sizeof(struct fr_wait) : 0;
	u64 thins = conf->thin_ns ? FR_THIN_OPEN_WORDS * sizeof(u64) + fr_load_possible_cnt() * sizeof(struct fr_thin_cpu)
				  : sizeof(struct fr_thin_cpu);
	u64 states = FR_STATES_WANTED_WORDS * sizeof(u64);
	u64 tps = conf->tp ? conf->tp->cnt : 0;
	u64 formats = conf->tp ? conf->tp->formats_sz + tps * sizeof(struct fr_tp_due) +
					 FR_TP_OPEN_MAX * (48 + 32 + 16) /* fr_tp_open */ +
					 conf->tp->site_cnt * sizeof(struct fr_up) +
					 (up_cnt(conf->tp, true) ? FR_UP_OPEN_MAX * (64 + 16 + 16 + 16) : 0) /* fr_up_calls */ +
					 conf->tp->cond.prog_cnt * sizeof(struct fr_watch_prog) +
					 conf->tp->cond.table_cnt * sizeof(struct fr_watch_table)
			       : 0;

	if (up_cnt(conf->tp, false))
		per_cpu += FR_UP_WORK_CNT * sizeof(struct fr_watch_work) + FR_UP_LOOK_SZ;
	return tasks + dead + triggers + incidents + waits + thins + states + formats +
	       (per_cpu + tps * sizeof(struct fr_tp_counts)) * cpu_cnt + profile + 32 * FR_PAGE_SZ;
}

/* ---- after load ---- */

static int load_add_ring(const struct load *l, u32 cpu, u32 tier)
{
	const struct fr_percpu_ring ring = {&l->conf->geo[tier], l->conf->epoch, cpu, tier};
	char name[64], path[256];
	int fd, err;

	fd = fr_percpu_make_ring(ring.geo, fr_cpus_node(cpu));
	if (fd < 0)
		return fd;
	snprintf(name, sizeof(name), "ring-%u-%s", cpu, fr_tier_name(tier));
	err = fr_percpu_init_ring(fd, &ring);
	if (!err)
		err = pin_path(path, sizeof(path), l, name);
	if (!err && bpf_obj_pin(fd, path))
		err = -errno;
	if (!err && bpf_map_update_elem(bpf_map__fd(tier_map(l, tier)), &cpu, &fd, BPF_ANY))
		err = -errno;
	close(fd);
	if (err)
		fr_err_errno(err, "cannot set up the ring of CPU %u, tier %s", cpu, fr_tier_name(tier));
	return err;
}

static int load_add_rings(const struct load *l)
{
	u32 i, tier;
	int err;

	for (i = 0; i < fr_cpus_cnt(l->cpus); i++)
		for (tier = 0; tier < FR_TIER_CNT; tier++) {
			err = load_add_ring(l, fr_cpus_nr(l->cpus, i), tier);
			if (err)
				return err;
		}
	l->res->cpu_cnt = fr_cpus_cnt(l->cpus);
	return 0;
}

/* On the CPUs that are online; others follow when they come (sess_cpu.c). */
static void find_current(const struct load *l)
{
	u32 i;

	for (i = 0; i < fr_cpus_cnt(l->cpus); i++)
		fr_current_find_on(bpf_program__fd(l->skel->progs.fr_find_current), fr_cpus_nr(l->cpus, i));
}

static int fill_filters(const struct load *l)
{
	u8 one = 1;
	u32 i;

	for (i = 0; i < l->conf->pid_cnt; i++)
		if (bpf_map_update_elem(bpf_map__fd(l->skel->maps.fr_pid_filter), &l->conf->pid[i], &one, BPF_ANY)) {
			fr_err("cannot filter by %u pids: %s: %u at most", l->conf->pid_cnt, strerror(errno),
			       FR_PID_FILTER_MAX);
			return -errno;
		}
	return 0;
}

/* Of tracepoints, before these are attached. */
static int fill_conditions(const struct load *l)
{
	const struct fr_watch_set *set = tp_cnt(l) ? &l->conf->tp->cond : NULL;
	u32 i;

	for (i = 0; set && i < set->prog_cnt; i++)
		if (bpf_map_update_elem(bpf_map__fd(l->skel->maps.fr_watch_progs), &i, &set->prog[i], BPF_ANY))
			return -errno;
	for (i = 0; set && i < set->table_cnt; i++)
		if (bpf_map_update_elem(bpf_map__fd(l->skel->maps.fr_watch_tables), &i, &set->table[i], BPF_ANY))
			return -errno;
	return 0;
}

/* Pin the maps that a later process needs, under their names without the prefix. */
static int pin_maps(const struct load *l)
{
	const struct {
		struct bpf_map *map;
		const char *name;
	} pins[] = {
		{l->skel->maps.data_session, "session"},
		{l->skel->maps.data_clock, "clock"},
		{l->skel->maps.data_call, "call"},
		{l->skel->maps.fr_tasks, "tasks"},
		{l->skel->maps.fr_dead, "dead"},
		{l->skel->maps.fr_main, "rings-main"},
		{l->skel->maps.fr_life, "rings-life"},
		{l->skel->maps.fr_stack, "rings-stack"},
		{l->skel->maps.fr_wait, "rings-wait"},
		{l->skel->maps.fr_rare, "rings-rare"},
		{l->skel->maps.fr_waits, "wait-table"},
		{l->skel->maps.data_triggers, "triggers"},
		{l->skel->maps.fr_alerts, "alerts"},
		{l->skel->maps.fr_dying, "dying"},
		{l->skel->maps.data_ksym, "ksym"},
		{l->skel->maps.fr_incidents, "incidents"},
		{l->skel->maps.fr_wait_cpu, "waits"},
		{l->skel->maps.fr_wait_over, "waits-over"},
		{l->skel->maps.fr_tp_counts, "tp-counts"},
		{l->skel->maps.fr_incident_bell, "incident-bell"},
		{l->skel->maps.fr_incident_ask, "incident-ask"},
		{l->skel->maps.fr_incident_equal, "incident-equal"},
		{l->skel->maps.fr_incident_share, "incident-share"},
		{l->skel->maps.fr_incident_squeezed, "incident-squeezed"},
	};
	char path[256];
	u32 i;
	int err;

	for (i = 0; i < sizeof(pins) / sizeof(pins[0]); i++) {
		err = pin_path(path, sizeof(path), l, pins[i].name);
		if (!err && bpf_obj_pin(bpf_map__fd(pins[i].map), path))
			err = -errno;
		if (err) {
			fr_err_errno(err, "cannot pin map %s in %s", pins[i].name, l->conf->dir);
			return err;
		}
	}
	return 0;
}

/* The profile: tables and calls, room for the merged profile, and a directory to lock; and the counters, read beside it. */
static int pin_profile(const struct load *l)
{
	int store = fr_hits_make_store(), counters = fr_halves_make(&fr_counterstore);
	int blocked = l->conf->wait_min_ns ? fr_halves_make(&fr_blockstore) : -ENOENT;
	int err = store < 0 ? store : counters < 0 ? counters : blocked < 0 && l->conf->wait_min_ns ? blocked : 0;
	const struct {
		int fd;
		const char *name;
	} pins[] = {
		{bpf_map__fd(l->skel->maps.fr_hits), "hits"},
		{bpf_map__fd(l->skel->maps.fr_hits_calls), "hits-calls"},
		{store, "profile-pages"},
		{counters, fr_counterstore.pin},
		{blocked, fr_blockstore.pin},
	};
	char path[256];
	u32 i;

	for (i = 0; i < sizeof(pins) / sizeof(pins[0]) && !err; i++) {
		if (pins[i].fd < 0)
			continue;
		err = pin_path(path, sizeof(path), l, pins[i].name);
		if (!err && bpf_obj_pin(pins[i].fd, path))
			err = -errno;
	}
	err = err ?: pin_path(path, sizeof(path), l, "hits-reader");
	if (!err && mkdir(path, 0700))
		err = -errno;
	if (store >= 0)
		close(store);
	if (counters >= 0)
		close(counters);
	if (blocked >= 0)
		close(blocked);
	if (err)
		fr_err("cannot keep the profile in %s: %s: leave it out with --cpu-profile no", l->conf->dir, strerror(-err));
	return err;
}

static int pin_link(const struct load *l, struct bpf_link *link, const char *name)
{
	char path[256];
	int err;

	err = pin_path(path, sizeof(path), l, name);
	if (!err)
		err = bpf_link__pin(link, path);
	if (err)
		fr_err_errno(err, "cannot pin link %s in %s", name, l->conf->dir);
	return err;
}

static int load_attach_one(const struct load *l, struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach(prog);
	char name[128];
	int err;

	if (!link) {
		err = -errno;
		fr_err_errno(-errno, "cannot attach to tracepoint %s", bpf_program__name(prog));
		return err;
	}
	snprintf(name, sizeof(name), "%s-%s", fr_incident_is_prog(prog) ? "inc" : "link", bpf_program__name(prog));
	err = pin_link(l, link, name);
	bpf_link__destroy(link);
	return err;
}

/* raw_tp programs are run by test_run, the iterator once by seed_tasks(), and samples have a link per CPU. */
static bool is_tracepoint(const struct bpf_program *prog)
{
	return bpf_program__type(prog) == BPF_PROG_TYPE_TRACING && bpf_program__expected_attach_type(prog) == BPF_TRACE_RAW_TP;
}

/* One that is recorded by default may not be attached: others are. */
static void load_lacks(const struct load *l, const struct fr_tpchosen *t)
{
	size_t len = strlen(l->res->rare_missing);

	l->res->missing[t->nr] = true;
	snprintf(l->res->rare_missing + len, sizeof(l->res->rare_missing) - len, "%s" FR_TP_PREFIX "%s:%s", len ? "," : "",
		 t->system, t->name);
}

/* One program for all; its name in the list of programs is that of the pins up to the second dash. */
static int attach_tp(const struct load *l, const struct fr_tpchosen *t)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = t->nr);
	int fd = fr_percpu_open_tp(t->id, fr_cpus_nr(l->cpus, 0)), err = fd < 0 ? fd : 0;
	struct bpf_link *link = err ? NULL : bpf_program__attach_perf_event_opts(l->skel->progs.tp, fd, &opts);
	char name[64];

	if (!err && !link) {
		err = -errno;
		close(fd);
	}
	if (err && t->rare && !fr_load_is_passing(err)) {
		load_lacks(l, t);
		return 0;
	}
	if (err) {
		fr_err("cannot attach to tracepoint %s:%s: %s: %s", t->system, t->name, strerror(-err),
		       fr_err_bpf_cure(
			       err, "tracepoints need Linux 5.15, and CAP_PERFMON or `sysctl kernel.perf_event_paranoid=-1`"));
		return err;
	}
	snprintf(name, sizeof(name), "link-tp-%u", t->nr);
	err = pin_link(l, link, name);
	bpf_link__destroy(link);
	return err;
}

static int attach_up(const struct load *l, const struct fr_tpchosen *t, u32 nr)
{
	const struct fr_up_attach to = {
		.up = l->skel->progs.up,
		.begin = l->skel->progs.up_begin,
		.sites = l->skel->maps.fr_up_sites,
		.event = t->nr,
		.first = nr,
		.cpu = fr_cpus_nr(l->cpus, 0),
		.dir = l->conf->dir,
		.prefix = "link-",
	};

	return fr_up_attach(&to, &t->up);
}

static int attach_tps(const struct load *l)
{
	const struct fr_tpchosen *t;
	u32 i, site = 0;
	int err = 0;

	for (i = 0; i < tp_cnt(l) && !err; i++) {
		t = &l->conf->tp->chosen[i];
		if (l->conf->enable[t->nr])
			err = t->up.path ? attach_up(l, t, site) : attach_tp(l, t);
		site += t->up.site_cnt;
	}
	return err;
}

/* The formats, which who takes a snapshot writes into it. */
static int pin_formats(const struct load *l)
{
	const struct fr_tpchoice *tp = l->conf->tp;
	u32 zero = 0;
	char path[256];
	int fd, err;

	if (!tp_cnt(l))
		return 0;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "fr_formats", sizeof(zero), tp->formats_sz, 1, NULL);
	if (fd < 0)
		return -errno;
	err = bpf_map_update_elem(fd, &zero, tp->formats, BPF_ANY) ? -errno : pin_path(path, sizeof(path), l, "formats");
	if (!err && bpf_obj_pin(fd, path))
		err = -errno;
	close(fd);
	if (err)
		fr_err_errno(err, "cannot keep the formats of %u tracepoints", tp_cnt(l));
	return err;
}

static int attach_tracepoints(const struct load *l)
{
	struct bpf_program *prog;
	int err;

	bpf_object__for_each_program(prog, l->skel->obj)
	{
		if (!bpf_program__autoload(prog) || !is_tracepoint(prog))
			continue;
		err = load_attach_one(l, prog);
		if (err)
			return err;
	}
	return 0;
}

static int attach_sample(const struct load *l, u32 cpu)
{
	char name[64], path[256];
	int fd, err;

	snprintf(name, sizeof(name), "link-cpu_sample-%u", cpu);
	err = pin_path(path, sizeof(path), l, name);
	if (err)
		return err;
	fd = fr_percpu_open_event(l->res->sample_event, cpu, l->conf->sample_hz);
	if (fd < 0)
		return fd;
	err = fr_percpu_sample(bpf_program__fd(l->skel->progs.cpu_sample), fd, path);
	close(fd);
	return err;
}

/* A kernel or host without this perf event records without samples, as with any missing event. */
static int attach_samples(const struct load *l)
{
	u32 i, cpu;
	int err;

	if (!bpf_program__autoload(l->skel->progs.cpu_sample))
		return 0;
	l->res->sample_event = fr_percpu_choose_event(fr_cpus_nr(l->cpus, 0), l->conf->sample_hz);
	for (i = 0; i < fr_cpus_cnt(l->cpus); i++) {
		cpu = fr_cpus_nr(l->cpus, i);
		err = attach_sample(l, cpu);
		if (err && !i) {
			fr_warn("no CPU samples here: perf's cpu-clock: %s%s", strerror(-err),
				err == -EACCES
					? ": run with CAP_SYS_ADMIN, or allow it with `sysctl kernel.perf_event_paranoid=2`"
					: "");
			l->res->missing[FR_EV_cpu_sample] = true;
			return 0;
		}
		if (err) {
			fr_err("cannot sample CPU %u: %s: leave samples out with -e -sample", cpu, strerror(-err));
			return err;
		}
	}
	return 0;
}

/* Programs that are run or attached later: the controls, and the sampling programs for CPUs that come later. */
static bool is_for_later(const struct load *l, const struct bpf_program *prog)
{
	return bpf_program__type(prog) == BPF_PROG_TYPE_RAW_TRACEPOINT ||
	       (prog == l->skel->progs.cpu_sample && bpf_program__autoload(prog));
}

static int pin_programs(const struct load *l)
{
	struct bpf_program *prog;
	char name[64], path[256];
	int err;

	bpf_object__for_each_program(prog, l->skel->obj)
	{
		if (!is_for_later(l, prog))
			continue;
		snprintf(name, sizeof(name), "prog-%s", bpf_program__name(prog));
		err = pin_path(path, sizeof(path), l, name);
		if (!err && bpf_obj_pin(bpf_program__fd(prog), path))
			err = -errno;
		if (err) {
			fr_err_errno(err, "cannot pin program %s in %s", name, l->conf->dir);
			return err;
		}
	}
	return 0;
}

/* Run the iterator once. On kernels without it, older tasks are known only from /proc, when the snapshot is taken. */
static int seed_tasks(const struct load *l)
{
	struct bpf_link *link;
	char buf[64];
	int fd, err = 0;
	ssize_t n;

	if (!bpf_program__autoload(l->skel->progs.fr_seed_tasks))
		return 0;
	link = bpf_program__attach_iter(l->skel->progs.fr_seed_tasks, NULL);
	if (!link) {
		fr_err_errno(-errno, "cannot list the tasks that live now");
		return -errno;
	}
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0)
		err = -errno;
	do
		n = fd < 0 ? -1 : read(fd, buf, sizeof(buf));
	while (n > 0 || (n < 0 && fd >= 0 && (errno == EAGAIN || errno == EINTR)));
	if (!err && n < 0)
		err = -errno;
	if (err)
		fr_err_errno(err, "cannot list the tasks that live now");
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}

/* What looks at tasks at a snapshot. */
static int load_states(const struct load *l)
{
	const struct fr_states_conf conf = {
		.dir = l->conf->dir,
		.btf = l->btf,
		.waits_fd = bpf_map__fd(l->skel->maps.fr_waits),
		.looks_fd = bpf_map__fd(l->skel->maps.fr_wait_looks_of),
		.clock_fd = bpf_map__fd(l->skel->maps.data_clock),
		.session_fd = bpf_map__fd(l->skel->maps.data_session),
		.grain_ns = l->conf->grain_ns,
	};

	return fr_sess_states_load(&conf, l->res->states_missing, sizeof(l->res->states_missing));
}

/* Before the first event is recorded: exclude this process, and whoever runs its program. */
static int be_recorder(const struct load *l)
{
	u64 args[1] = {true};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

	return bpf_prog_test_run_opts(bpf_program__fd(l->skel->progs.fr_self), &opts) ? -errno : 0;
}

/* What programs need is in place. Pairs with fr_enabled() (bpf/record.bpf.h). */
static void enable_events(const struct load *l)
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		if (l->conf->enable[nr])
			__atomic_store_n(&l->skel->data_session->fr_session.enable[nr], 1, __ATOMIC_RELEASE);
}

bool fr_load_is_passing(int err)
{
	static const int passing[] = {-ENOMEM, -EMFILE, -ENFILE, -EAGAIN, -EINTR, -EBUSY, -ENOSPC};
	u32 i;

	for (i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (err == passing[i])
			return true;
	return false;
}

int fr_load_refused(int err, const char *whose, const char *less)
{
	char cure[200];

	if (err == -E2BIG)
		snprintf(cure, sizeof(cure), "they are too complex for its verifier: %s, and report this", less);
	else
		snprintf(cure, sizeof(cure),
			 "run `flightrec doctor` to see what this kernel offers, %s, or add -v for the kernel's own words",
			 less);
	fr_err("the kernel refuses the %sBPF programs: %s: %s", whose, strerror(-err), fr_err_bpf_cure(err, cure));
	return fr_load_is_passing(err) ? err : -ENOTSUP;
}

static int load_refused(int err)
{
	return fr_load_refused(err, "", "leave groups out (-e -GROUP)");
}

#define PASSING_FDS 12 /* templates of rings, types, and what is opened, pinned and closed again */

/* libbpf takes want of descriptors for want of features, and explains other errors then. So find out before. */
int fr_load_check_fds(const struct bpf_object *obj, const char *whose)
{
	u32 cnt = PASSING_FDS;
	struct bpf_program *prog;
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj) cnt++;
	bpf_object__for_each_program(prog, obj) cnt += bpf_program__autoload(prog);
	if (!fr_fd_room(cnt))
		return 0;
	fr_err("the %sBPF programs take %u open files, more than are left: %s", whose, cnt, fr_err_cure(-EMFILE, NULL));
	return -EMFILE;
}

static int load_run(struct load *l)
{
	int err;

	l->btf = btf__load_vmlinux_btf();
	if (!l->btf) {
		err = -errno;
		fr_err("this kernel has no type information (/sys/kernel/btf/vmlinux): %s: use a kernel built with "
		       "CONFIG_DEBUG_INFO_BTF; a container is given the host's (-v /sys/kernel/btf:/sys/kernel/btf)",
		       strerror(-err));
		return fr_load_is_passing(err) ? err : -ENOTSUP;
	}
	l->skel = flightrec__open();
	if (!l->skel)
		return load_refused(-errno);
	load_set_constants(l);
	load_choose_programs(l);
	err = fr_load_check_fds(l->skel->obj, "") ?: size_maps(l);
	if (err)
		return err;
	fr_kbtf_without_modules(l->skel->obj);
	err = flightrec__load(l->skel);
	if (err)
		return load_refused(err);
	find_current(l);
	err = load_add_rings(l);
	err = err ?: fr_incident_init(bpf_map__fd(l->skel->maps.fr_incidents), l->conf->incident_cnt, l->conf->epoch);
	err = err ?: fill_filters(l);
	err = err ?: fill_conditions(l);
	err = err ?: pin_maps(l);
	err = err ?: l->conf->profile ? pin_profile(l) : 0;
	err = err ?: pin_programs(l);
	err = err ?: load_states(l);
	err = err ?: pin_formats(l);
	err = err ?: attach_tracepoints(l);
	err = err ?: attach_tps(l);
	err = err ?: attach_samples(l);
	err = err ?: seed_tasks(l);
	err = err ?: be_recorder(l);
	if (err)
		return err;
	enable_events(l);
	return 0;
}

int fr_load_session(const struct fr_load_conf *conf, struct fr_load_result *res)
{
	struct load l = {.conf = conf, .res = res};
	u32 tier;
	int err;

	for (tier = 0; tier < FR_TIER_CNT; tier++)
		l.template_fd[tier] = -1;
	memset(res, 0, sizeof(*res));
	if (conf->tp)
		strcpy(res->rare_missing, conf->tp->rare_missing);
	err = fr_cpus_online(&l.cpus);
	if (!err)
		err = load_run(&l);
	for (tier = 0; tier < FR_TIER_CNT; tier++)
		if (l.template_fd[tier] >= 0)
			close(l.template_fd[tier]);
	res->fixed_sz = fr_load_fixed_sz(conf, res->cpu_cnt);
	flightrec__destroy(l.skel);
	btf__free(l.btf);
	fr_cpus_free(l.cpus);
	return err == -EPERM ? -ENOTSUP : err;
}
