/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/trig/trig.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/config/trig_rule.h"
#include "base/err.h"
#include "base/trigger/trig_lat.h"
#include "live/session/current.h"
#include "live/session/load.h"
#include "live/session/sess_int.h"
#include "live/session/upattach.h"
#include "live/session/ustacks.h"
#include "live/trig/trig_watch.h"
#include "read/elf/kbtf.h"
#include "sys/memcg.h"
#include "window.h"

#include "triggers.skel.h"

/* Which programs a rule needs, besides those that have its kind's name: fr_KIND_*. part ANY: whichever it is about. */
#define ANY	 (-1)
#define PROG_MAX 64 /* in one object */

static const struct {
	enum fr_trigger_kind kind;
	int part; /* fr_trigger_part() */
	const char *prog;
} needs[] = {
	{FR_TRIGGER_crash, ANY, "fr_process_exit"},
	{FR_TRIGGER_crash, ANY, "fr_fault_deliver"},
	{FR_TRIGGER_status, ANY, "fr_process_exit"},
	{FR_TRIGGER_status, ANY, "fr_fault_deliver"},
	{FR_TRIGGER_status, ANY, "fr_ended_call"},
	{FR_TRIGGER_latency, FR_LATENCY_wakeup, "fr_lat_switch"},
	{FR_TRIGGER_latency, FR_LATENCY_wakeup, "fr_lat_waking"},
	{FR_TRIGGER_latency, FR_LATENCY_wakeup, "fr_lat_wakeup_new"},
	{FR_TRIGGER_latency, FR_LATENCY_wakeup, "fr_lat_free"},
	{FR_TRIGGER_latency, FR_LATENCY_offcpu, "fr_lat_switch"},
	{FR_TRIGGER_latency, FR_LATENCY_offcpu, "fr_lat_free"},
	{FR_TRIGGER_latency, FR_LATENCY_syscall, "fr_lat_sys_enter"},
	{FR_TRIGGER_latency, FR_LATENCY_syscall, "fr_lat_sys_exit"},
	{FR_TRIGGER_latency, FR_LATENCY_syscall, "fr_lat_free"},
	{FR_TRIGGER_latency, FR_LATENCY_block, "fr_lat_rq_issue"},
	{FR_TRIGGER_latency, FR_LATENCY_block, "fr_lat_rq_requeue"},
	{FR_TRIGGER_latency, FR_LATENCY_block, "fr_lat_rq_complete"},
	{FR_TRIGGER_latency, FR_LATENCY_softirq, "fr_lat_softirq_entry"},
	{FR_TRIGGER_latency, FR_LATENCY_softirq, "fr_lat_softirq_exit"},
	{FR_TRIGGER_latency, FR_LATENCY_irq, "fr_lat_irq_entry"},
	{FR_TRIGGER_latency, FR_LATENCY_irq, "fr_lat_irq_exit"},
	{FR_TRIGGER_latency, FR_LATENCY_span, "fr_span_exit"},
	{FR_TRIGGER_hung, ANY, "fr_lat_switch"},
	{FR_TRIGGER_hung, ANY, "fr_lat_waking"},
	{FR_TRIGGER_hung, ANY, "fr_lat_wakeup_new"},
	{FR_TRIGGER_hung, ANY, "fr_lat_free"},
	{FR_TRIGGER_asleep, ANY, "fr_look_free"},
	{FR_TRIGGER_busy, ANY, "fr_look_free"},
	{FR_TRIGGER_rate, FR_RATE_fork, "fr_rates_fork"},
	{FR_TRIGGER_rate, FR_RATE_exit, "fr_rates_exit"},
	{FR_TRIGGER_rate, FR_RATE_signal, "fr_rates_signal"},
	{FR_TRIGGER_rate, FR_RATE_error, "fr_rates_error"},
	{FR_TRIGGER_kernel, ANY, "fr_console"},
	{FR_TRIGGER_kernel, ANY, "fr_error_report_end"},
};

#define WHY_SZ 240

struct trig {
	struct fr_sess *s;
	const struct fr_trigger *rules;
	u32 cnt;
	u32 generation;
	struct fr_watch_set watch;
	struct fr_trig_tps tps;
	struct triggers *skel;
	struct btf *btf;
};

/* ---- what rules need ---- */

static bool needs_prog(const struct fr_trigger *rule, size_t i)
{
	return needs[i].kind == rule->kind && (needs[i].part == ANY || needs[i].part == (int)fr_trigger_part(rule));
}

/* Needed only where mark_victim provides no more than a pid. */
static bool is_superfluous(const struct trig *t, const char *prog)
{
	return !strcmp(prog, "fr_oom_signal") && fr_kbtf_victim_is_task(t->btf);
}

/* A rule without it is worth having: it was told to remember no calls, or the kernel does not tell how calls end. */
static bool needs_not(const struct trig *t, const struct fr_trigger *r, const char *prog)
{
	return !strcmp(prog, "fr_ended_call") && (!r->calls || !fr_kbtf_has(t->btf, "sys_exit"));
}

/* Here the filter could never hold, which is worse than no filter. */
static bool cannot_know_exe(const struct trig *t, const struct fr_trigger *r)
{
	return r->kind == FR_TRIGGER_status && *r->exe && !fr_kbtf_exit_has_mm(t->btf);
}

/* Is it one of the kind's own? */
static bool has_name_of(const char *prog, enum fr_trigger_kind kind)
{
	char prefix[16];
	int len = snprintf(prefix, sizeof(prefix), "fr_%s_", fr_trigger_kind_name(kind));

	return !strncmp(prog, prefix, len);
}

static int want_program(struct trig *t, struct bpf_program *prog, const char *name, char why[WHY_SZ])
{
	const char *tracepoint = prog ? fr_kbtf_tracepoint_of(prog) : NULL;

	if (!prog || (tracepoint && !fr_kbtf_has(t->btf, tracepoint))) {
		snprintf(why, WHY_SZ, "this kernel has no tracepoint %s", tracepoint ?: name);
		return -ENOTSUP;
	}
	bpf_program__set_autoload(prog, true);
	return 0;
}

/* Have the programs of a rule loaded. Returns how many it has; or -errno, and why if that says more. */
static int want_programs(struct trig *t, u32 rule, char why[WHY_SZ])
{
	const struct fr_trigger *r = &t->rules[rule];
	struct bpf_program *prog;
	int cnt = 0, err = 0;
	size_t i;

	if (r->kind == FR_TRIGGER_event && *r->tp)
		return fr_trig_watch_want_tp(t->s, &t->tps, &t->watch, r, rule, why, WHY_SZ);
	if (r->kind == FR_TRIGGER_event)
		return fr_trig_watch_want(t->skel->obj, t->btf, &t->watch, r, rule, why, WHY_SZ);
	if (cannot_know_exe(t, r)) {
		snprintf(why, WHY_SZ,
			 "before 6.16 a kernel does not say which program an ending process was: use comm= or cgroup=");
		return -ENOTSUP;
	}
	for (i = 0; i < sizeof(needs) / sizeof(needs[0]) && !err; i++) {
		if (!needs_prog(r, i) || needs_not(t, r, needs[i].prog))
			continue;
		prog = bpf_object__find_program_by_name(t->skel->obj, needs[i].prog);
		err = want_program(t, prog, needs[i].prog, why);
		cnt++;
	}
	if (!err && *r->span)
		err = fr_trig_watch_want_spans(t->s, &t->tps, why, WHY_SZ);
	bpf_object__for_each_program(prog, t->skel->obj)
	{
		const char *name = bpf_program__name(prog);

		if (err || !has_name_of(name, r->kind) || is_superfluous(t, name))
			continue;
		err = want_program(t, prog, name, why);
		cnt++;
	}
	return err ?: cnt;
}

/* Those of tracepoints, and of programs' probes. */
static void trig_choose_tps(struct trig *t)
{
	const struct fr_up_parts parts = {.up = t->skel->progs.up,
					  .begin = t->skel->progs.up_begin,
					  .works = t->skel->maps.fr_tp_works,
					  .sites = t->skel->maps.fr_up_sites,
					  .calls = t->skel->maps.fr_up_calls};
	u32 cnt = 0, returns = 0, sites = 0, i;

	for (i = 0; i < t->tps.cnt; i++) {
		const struct fr_upfound *up = &t->tps.tp[i].up;

		cnt += up->path != NULL;
		returns += up->path && up->site->conf.is_return;
		sites += up->site_cnt;
	}
	bpf_program__set_autoload(t->skel->progs.tp, t->tps.cnt > cnt);
	t->skel->rodata->fr_up_may_sleep = fr_up_prepare(&parts, cnt, returns, sites);
}

static int trig_choose_programs(struct trig *t)
{
	struct bpf_program *prog;
	char why[WHY_SZ];
	int cnt = 0, one, err = 0;
	u32 i;

	bpf_object__for_each_program(prog, t->skel->obj) bpf_program__set_autoload(prog, false);
	for (i = 0; i < t->cnt; i++) {
		*why = '\0';
		one = want_programs(t, i, why);
		if (one < 0) {
			fr_err("trigger '%s': %s", t->rules[i].text, *why ? why : strerror(-one));
			err = one;
		}
		cnt += one > 0 ? one : 0;
	}
	trig_choose_tps(t);
	return err ?: cnt;
}

/* ---- before load ---- */

static size_t mapped_sz(const struct bpf_map *map)
{
	size_t page = sysconf(_SC_PAGESIZE), sz = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);

	return (sz + page - 1) / page * page;
}

/*
 * The object's own initial values are larger than the map: a linked object has a copy of weak symbols from each of its files.
 * libbpf maps all of them, but later unmaps only the given map's size. Unmap the rest here, or each reload leaks it.
 */
static int reuse_map(struct bpf_map *map, int fd)
{
	size_t unused, sz = mapped_sz(map);
	void *initial = (void *)bpf_map__initial_value(map, &unused);
	int err = bpf_map__reuse_fd(map, fd);

	if (!err && initial && mapped_sz(map) < sz)
		munmap((char *)initial + mapped_sz(map), sz - mapped_sz(map));
	return err;
}

/* Reuse the session's maps by their pins; the object's other maps are its own. */
static int reuse_maps(struct trig *t)
{
	const struct {
		struct bpf_map *map;
		const char *pin;
	} maps[] = {
		{t->skel->maps.data_session, "session"},
		{t->skel->maps.data_clock, "clock"},
		{t->skel->maps.data_triggers, "triggers"},
		{t->skel->maps.fr_alerts, "alerts"},
		{t->skel->maps.fr_dying, "dying"},
		{t->skel->maps.fr_main, "rings-main"},
		{t->skel->maps.fr_life, "rings-life"},
		{t->skel->maps.fr_stack, "rings-stack"},
		{t->skel->maps.fr_wait, "rings-wait"},
		{t->skel->maps.fr_rare, "rings-rare"},
		{t->skel->maps.fr_waits, "wait-table"},
		{t->skel->maps.fr_incidents, "incidents"},
		{t->skel->maps.fr_incident_bell, "incident-bell"},
		{t->skel->maps.fr_incident_share, "incident-share"},
		{t->skel->maps.fr_incident_squeezed, "incident-squeezed"},
		{t->skel->maps.fr_ustacks, FR_USTACKS_PIN},
	};
	size_t cnt = sizeof(maps) / sizeof(maps[0]), i;
	int fd, err = fr_ustacks_make(t->s);

	if (err) {
		fr_warn("cannot share stacks with session '%s': %s: those of crashes end at functions without frame pointers",
			fr_sess_name(t->s), strerror(-err));
		cnt--;
		err = 0;
	}
	for (i = 0; !err && i < cnt; i++) {
		fd = fr_sess_get_pin(t->s, maps[i].pin);
		err = fd < 0 ? fd : reuse_map(maps[i].map, fd);
		if (fd >= 0)
			close(fd); /* libbpf has its own copy */
		if (err)
			fr_err("session '%s' has no usable map %s: %s: end it with `flightrec stop -n %s`", fr_sess_name(t->s),
			       maps[i].pin, strerror(-err), fr_sess_name(t->s));
	}
	t->skel->rodata->fr_look_has_waits = bpf_map__max_entries(t->skel->maps.fr_waits) == FR_WAIT_CNT;
	return err ?: bpf_map__set_autocreate(t->skel->maps.fr_wait_looks_of, false);
}

static u64 grain_ns(const struct fr_sess *s)
{
	char *mode = fr_sess_fact(s, "clock_mode"), *grain = fr_sess_fact(s, "clock_grain_ns");
	u64 ns = grain ? strtoull(grain, NULL, 10) : 0;

	if (mode && !strcmp(mode, "local"))
		ns = FR_CLOCK_LOCAL;
	free(mode);
	free(grain);
	return ns;
}

/* What the session's own programs were built for, as their rings say. */
static void set_session_constants(struct trig *t)
{
	size_t i, cnt;
	const struct fr_ring_map *ring = fr_sess_rings(t->s, &cnt);
	struct fr_geometry *geo = (void *)t->skel->rodata->fr_geometry;

	for (i = 0; i < cnt; i++) {
		geo[ring[i].tier].slot_cnt = ring[i].slot_cnt;
		geo[ring[i].tier].subbuf_pages = ring[i].subbuf_pages;
		t->skel->rodata->fr_epoch = ring[i].epoch;
	}
	t->skel->rodata->fr_generation = 1;
	t->skel->rodata->fr_grain_ns = grain_ns(t->s);
	t->skel->rodata->fr_incident_cnt = t->s->inc_cnt;
}

/* What the session's event programs were built for, and which rules apply to which program. */
static void set_watch(struct trig *t)
{
	u32 i;

	memcpy((void *)t->skel->rodata->fr_watch_of, t->watch.of, sizeof(t->watch.of));
	for (i = 0; i < t->tps.cnt; i++) {
		u32 nr = t->tps.tp[i].nr - FR_TP_FIRST;

		memcpy((void *)&t->skel->rodata->fr_tp_conf[nr], &t->tps.tp[i].conf, sizeof(t->tps.tp[i].conf));
		((u8 *)t->skel->rodata->fr_markspan_of)[nr] = t->tps.tp[i].span;
	}
	fr_load_arg_counts((void *)t->skel->rodata->fr_arg_cnt);
	t->skel->rodata->fr_switch_tells_state = fr_kbtf_switch_tells_state(t->btf);
	fr_preempt_offsets(t->btf, (s64 *)&t->skel->rodata->fr_preempt_task_off, (s64 *)&t->skel->rodata->fr_preempt_off);
	t->skel->rodata->fr_block_error_is_status = fr_kbtf_block_error_is_status(t->btf);
	t->skel->rodata->fr_page_shift = __builtin_ctzl(sysconf(_SC_PAGESIZE));
}

static void set_latency(struct trig *t)
{
	struct fr_trig_lat lat;

	fr_trig_lat(t->rules, t->cnt, &lat);
	memcpy((void *)t->skel->rodata->fr_lat_min_ns, lat.min_ns, sizeof(lat.min_ns));
	t->skel->rodata->fr_hung_min_ns = lat.hung_min_ns;
	t->skel->rodata->fr_asleep_min_ns = lat.asleep_min_ns;
	t->skel->rodata->fr_busy_min_ns = lat.busy_min_ns;
	t->skel->rodata->fr_lat_call_all = lat.call_all;
	memcpy((void *)t->skel->rodata->fr_lat_call_set, lat.call_set, sizeof(lat.call_set));
	t->skel->rodata->fr_lat_switch_tells_state = fr_kbtf_switch_tells_state(t->btf);
	bpf_map__set_max_entries(t->skel->maps.fr_lat_tasks, lat.task_cnt);
	bpf_map__set_max_entries(t->skel->maps.fr_lat_requests, lat.request_cnt);
	bpf_map__set_max_entries(t->skel->maps.fr_looks, lat.look_cnt);
	bpf_map__set_max_entries(t->skel->maps.fr_spans, lat.span_cnt);
	bpf_map__set_max_entries(t->skel->maps.fr_markspan_processes, lat.span_cnt);
}

static void set_rates(struct trig *t)
{
	u64 *set = (void *)t->skel->rodata->fr_rate_call_set;
	u32 i;

	for (i = 0; i < t->cnt; i++)
		if (t->rules[i].kind == FR_TRIGGER_rate && t->rules[i].rate == FR_RATE_error)
			set[t->rules[i].call_nr / 64] |= 1ULL << t->rules[i].call_nr % 64;
}

static void trig_set_constants(struct trig *t, const u32 slot_of[FR_TRIGGER_MAX])
{
	struct fr_trigger_rule *rules = (void *)t->skel->rodata->fr_rules;
	u32 i;

	set_session_constants(t);
	set_latency(t);
	set_rates(t);
	set_watch(t);
	t->skel->rodata->fr_exit_has_mm = fr_kbtf_exit_has_mm(t->btf);
	t->skel->rodata->fr_victim_is_task = fr_kbtf_victim_is_task(t->btf);
	t->skel->rodata->fr_cgroup_memory_is_v1 = fr_memcg_is_v1(FR_MEMCG_PROC);
	t->skel->rodata->fr_trigger_generation = t->generation;
	for (i = 0; i < t->cnt; i++)
		fr_trig_rule(&t->rules[i], &rules[i]);
	memcpy((void *)t->skel->rodata->fr_slot_of, slot_of, FR_TRIGGER_MAX * sizeof(*slot_of));
}

/* ---- slots ---- */

/* The slot with this text that no earlier rule has taken, or -1. */
static int trig_find_slot(const struct fr_triggers *sh, const char *text, u32 used)
{
	u32 i;

	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (!(used >> i & 1) && !strncmp(sh->slot[i].text, text, sizeof(sh->slot[i].text)))
			return i;
	return -1;
}

/*
 * Take a free slot, or else one whose rule has ended. The slot of a rule in force is the last choice, since it acts until the
 * new rules are loaded. There is always one: rules are never more than slots.
 */
static int free_slot(const struct fr_triggers *sh, u32 used, u32 in_force)
{
	int i = trig_find_slot(sh, "", used | in_force);

	return i >= 0 ? i : __builtin_ctz(~(used | in_force) ?: ~used);
}

/*
 * Existing rules keep their slots, and thus their counters; then the others take what is left. Returns the rules whose slot is
 * to begin anew.
 */
static u32 take_slots(const struct fr_triggers *sh, u32 in_force, const struct fr_trigger *rules, u32 cnt,
		      u32 slot_of[FR_TRIGGER_MAX])
{
	int found[FR_TRIGGER_MAX];
	u32 used = 0, fresh = 0, i;

	for (i = 0; i < cnt; i++) {
		found[i] = trig_find_slot(sh, rules[i].text, used);
		if (found[i] >= 0)
			used |= 1u << found[i];
	}
	for (i = 0; i < cnt; i++) {
		if (found[i] < 0) {
			found[i] = free_slot(sh, used, in_force);
			used |= 1u << found[i];
			fresh |= 1u << i;
		}
		slot_of[i] = found[i];
	}
	return fresh;
}

/* When all is loaded: until then what is refused leaves the slots as they were. */
static void begin_slots(struct fr_triggers *sh, const struct fr_trigger *rules, u32 fresh, const u32 slot_of[FR_TRIGGER_MAX])
{
	struct fr_trigger_slot *slot;
	u32 i;

	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		if (!(fresh >> i & 1))
			continue;
		slot = &sh->slot[slot_of[i]];
		memset(slot, 0, sizeof(*slot));
		slot->first_grant = sh->granted_cnt;
		snprintf(slot->text, sizeof(slot->text), "%s", rules[i].text);
	}
}

static u32 set_of(const u32 slot_of[FR_TRIGGER_MAX], u32 cnt)
{
	u32 set = 0, i;

	for (i = 0; i < cnt; i++)
		set |= 1u << slot_of[i];
	return set;
}

/* Slots of earlier rules; their counters stay until the slot is needed. */
static u32 ended_slots(const struct fr_triggers *sh, u32 in_force)
{
	u32 ended = 0, i;

	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (sh->slot[i].text[0] && !(in_force >> i & 1))
			ended |= 1u << i;
	return ended;
}

/* ---- load, attach, hand over ---- */

#define WHOSE "triggers' "

static int trig_refused(int err)
{
	return fr_load_refused(err, WHOSE, "leave triggers out (--on, On=)");
}

/* link NULL: errno says why. name: of the pin, and for messages. */
static int trig_pin_link(const struct trig *t, struct bpf_link *link, const char *name)
{
	char path[512];
	int err;

	if (!link) {
		err = -errno;
		fr_err_errno(err, "cannot attach trigger program %s", name);
		return err;
	}
	snprintf(path, sizeof(path), "%s/trig-%u-%s", t->s->dir, t->generation, name);
	err = bpf_link__pin(link, path);
	if (err)
		fr_err_errno(err, "cannot pin %s", path);
	bpf_link__destroy(link);
	return err;
}

static int trig_attach_one(const struct trig *t, const struct bpf_program *prog)
{
	return trig_pin_link(t, bpf_program__attach(prog), bpf_program__name(prog));
}

/* One program for all tracepoints, which knows each by the link's cookie. */
static int trig_attach_tps(const struct trig *t)
{
	LIBBPF_OPTS(bpf_tracepoint_opts, opts);
	char name[32];
	int err = 0;
	u32 i;

	for (i = 0; i < t->tps.cnt && !err; i++) {
		if (t->tps.tp[i].up.path)
			continue;
		opts.bpf_cookie = t->tps.tp[i].nr;
		snprintf(name, sizeof(name), "tp-%u", t->tps.tp[i].nr);
		err = trig_pin_link(
			t,
			bpf_program__attach_tracepoint_opts(t->skel->progs.tp, t->tps.tp[i].system, t->tps.tp[i].name, &opts),
			name);
	}
	return err;
}

/* The same of places in programs. */
static int trig_attach_ups(const struct trig *t)
{
	char prefix[32];
	struct fr_up_attach to = {.up = t->skel->progs.up,
				  .begin = t->skel->progs.up_begin,
				  .sites = t->skel->maps.fr_up_sites,
				  .dir = t->s->dir,
				  .prefix = prefix,
				  .cpu = sched_getcpu()};
	int err = 0;
	u32 i;

	snprintf(prefix, sizeof(prefix), "trig-%u-", t->generation);
	for (i = 0; i < t->tps.cnt && !err; i++) {
		to.event = t->tps.tp[i].nr;
		err = t->tps.tp[i].up.path ? fr_up_attach(&to, &t->tps.tp[i].up) : 0;
		to.first += t->tps.tp[i].up.site_cnt;
	}
	return err;
}

static int attach(const struct trig *t)
{
	struct bpf_program *prog;
	int err = 0;

	bpf_object__for_each_program(prog, t->skel->obj)
	{
		if (prog == t->skel->progs.tp)
			err = trig_attach_tps(t);
		else if (prog == t->skel->progs.up)
			err = trig_attach_ups(t);
		else if (prog == t->skel->progs.up_begin)
			continue;
		else if (bpf_program__autoload(prog))
			err = trig_attach_one(t, prog);
		if (err)
			break;
	}
	return err;
}

/* Remove the pins of all generations but this one; their programs are detached soon after. */
static void remove_other_pins(const struct fr_sess *s, u32 generation)
{
	DIR *d = opendir(s->dir);
	struct dirent *e;
	char path[512];
	u32 nr;

	if (!d)
		return;
	while ((e = readdir(d))) {
		if (sscanf(e->d_name, "trig-%u-", &nr) != 1 || nr == generation)
			continue;
		snprintf(path, sizeof(path), "%s/%s", s->dir, e->d_name);
		unlink(path);
	}
	closedir(d);
}

/* An event can be watched without being recorded, but then no snapshot shows it. */
static void warn_of_unrecorded(const struct trig *t)
{
	const struct fr_session *session = fr_sess_shared(t->s);
	const char *name;
	u32 nr;

	for (nr = 0; nr < FR_TP_FIRST; nr++) { /* tracepoints are recorded, or refused */
		name = t->watch.of[nr].cnt ? fr_schema_event(fr_schema_builtin(), nr)->name : NULL;
		if (name && !session->enable[nr])
			fr_warn("%s pulls a trigger, but is not recorded: add -e %s to see it in snapshots", name, name);
	}
}

/*
 * The cost of its programs is read through descriptors, because finding them takes CAP_SYS_ADMIN. Without memory the cost is
 * unknown.
 */
static void hold_programs(const struct trig *t)
{
	struct fr_sess_prog *list = calloc(PROG_MAX, sizeof(*list));
	struct bpf_program *prog;
	size_t n = 0;

	bpf_object__for_each_program(prog, t->skel->obj)
	{
		if (!list || n == PROG_MAX || !bpf_program__autoload(prog))
			continue;
		snprintf(list[n].name, sizeof(list[n].name), "%s", bpf_program__name(prog));
		list[n].fd = fcntl(bpf_program__fd(prog), F_DUPFD_CLOEXEC, 0);
		n += list[n].fd >= 0;
	}
	fr_sess_hold_trigger_progs(t->s, list, n);
}

/* Load and attach, but not in effect yet. */
static int trig_prepare(struct trig *t, u32 slot_of[FR_TRIGGER_MAX])
{
	int cnt, err;

	t->btf = btf__load_vmlinux_btf();
	if (!t->btf)
		return -errno;
	t->skel = triggers__open();
	if (!t->skel)
		return trig_refused(-errno);
	cnt = trig_choose_programs(t);
	if (cnt <= 0)
		return cnt;
	err = fr_load_check_fds(t->skel->obj, WHOSE) ?: fr_trig_watch_size(t->skel->obj, &t->watch);
	if (err)
		return err;
	trig_set_constants(t, slot_of);
	err = reuse_maps(t);
	if (err)
		return err;
	fr_kbtf_without_modules(t->skel->obj);
	err = triggers__load(t->skel);
	if (err)
		return trig_refused(err);
	err = fr_trig_watch_fill(t->skel->obj, &t->watch);
	if (err)
		return err;
	return attach(t);
}

int fr_trig_load(struct fr_sess *s, const struct fr_trigger *rules, u32 cnt, u32 slot_of[FR_TRIGGER_MAX])
{
	struct fr_triggers *sh = fr_trig_shared(s);
	struct trig t = {.s = s, .rules = rules, .cnt = cnt};
	u32 fresh;
	int err;

	memset(slot_of, 0, FR_TRIGGER_MAX * sizeof(*slot_of));
	if (!sh || cnt > FR_TRIGGER_MAX) {
		fr_err("%s", sh ? "at most 32 triggers are possible"
				: "this session's map of triggers is gone: end it with `flightrec stop`");
		return -EINVAL;
	}
	remove_other_pins(s, sh->generation); /* left by a load that was killed */
	t.generation = sh->generation + 1 ?: 1;
	fresh = take_slots(sh, s->trig_slots, rules, cnt, slot_of);
	err = trig_prepare(&t, slot_of);
	if (!err) {
		begin_slots(sh, rules, fresh, slot_of);
		/* the new programs act, the old ones do not: pairs with fr_trigger_idle() (bpf/trigger/trigger.bpf.h) */
		__atomic_store_n(&sh->generation, t.generation, __ATOMIC_RELEASE);
		s->trig_slots = set_of(slot_of, cnt);
		__atomic_store_n(&sh->ended, ended_slots(sh, s->trig_slots), __ATOMIC_RELAXED);
		hold_programs(&t);
		warn_of_unrecorded(&t);
	}
	remove_other_pins(s, sh->generation);
	triggers__destroy(t.skel);
	fr_watch_free(&t.watch);
	fr_trig_tps_free(&t.tps);
	btf__free(t.btf);
	return err == -EPERM ? -ENOTSUP : err;
}

struct fr_triggers *fr_trig_shared(struct fr_sess *s)
{
	return s->triggers;
}

/* ---- looks: run iterators over tasks ---- */

/* Reading an iterator's file to its end runs it. */
static int run_iterator(int link_fd)
{
	int fd = bpf_iter_create(link_fd), err = 0;
	char buf[64];
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, buf, sizeof(buf));
	while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	if (n < 0)
		err = -errno;
	close(fd);
	return err;
}

static int look_for(struct fr_sess *s, u32 kind)
{
	char name[128];
	int fd, err;

	snprintf(name, sizeof(name), "trig-%u-fr_%s_look", s->triggers->generation, fr_trigger_kind_name(kind));
	fd = fr_sess_get_pin(s, name);
	if (fd < 0)
		return fd;
	err = run_iterator(fd);
	close(fd);
	return err;
}

int fr_trig_look(struct fr_sess *s, u32 kinds)
{
	int err = 0, one;
	u32 kind;

	if (!s->triggers)
		return -ENOENT;
	for (kind = 1; kind < FR_TRIGGER_KIND_CNT; kind++) {
		one = kinds >> kind & 1 ? look_for(s, kind) : 0;
		err = err ?: one;
	}
	return err;
}
