/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dump_meta: everything in a snapshot but its events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "atomic.h"
#include "base/err.h"
#include "base/incident.h"
#include "base/schema/facts.h"
#include "base/schema/reasons.h"
#include "base/text/memfile.h"
#include "base/text/redact.h"
#include "base/text/units.h"
#include "live/session/sess_incident.h"
#include "live/snapshot/clock_sample.h"
#include "live/snapshot/dump_counters.h"
#include "live/snapshot/dump_int.h"
#include "live/snapshot/klog.h"
#include "live/snapshot/procs.h"
#include "sys/bootid.h"
#include "sys/disks.h"
#include "sys/fd.h"
#include "sys/softirqs.h"

static void account_ring(struct fr_dump_ring *src)
{
	const struct fr_ring_map *m = src->map;
	const struct fr_writer *wr = m->wr;
	u32 i;

	src->acct.cpu = m->cpu;
	src->acct.tier = m->tier;
	src->acct.slot_cnt = m->slot_cnt;
	src->acct.subbuf_sz = m->subbuf_pages * FR_PAGE_SZ;
	fr_dump_count_written(src);
	for (i = 0; i < FR_LOST_CNT; i++)
		src->acct.lost[i] = fr_load(&wr->lost[i]);
	for (i = 0; i < FR_FILTERED_CNT; i++)
		src->acct.filtered[i] = fr_load(&wr->filtered[i]);
	src->acct.ties = fr_load(&wr->health.ties);
	src->acct.ahead = fr_load(&wr->health.ahead);
	src->acct.losers = fr_load(&wr->health.losers);
}

int fr_dump_find_accounts(struct fr_dump *d, struct fr_meta *m)
{
	struct fr_snap_ring ring;
	u64 since_ns;
	size_t i;
	int err = 0;

	for (i = 0; i < d->src_cnt && !err; i++) {
		account_ring(&d->src[i]);
		ring = d->src[i].acct;
		since_ns = fr_dump_since_ns(d, ring.tier);
		if (ring.horizon_ns < since_ns)
			ring.horizon_ns = since_ns;
		err = fr_vec_add(&m->ring, &ring, 1);
	}
	return err ?: fr_vec_add(&m->hole, d->hole, d->hole_cnt);
}

/* It ended before anything that the rings hold. */
static bool meta_is_of_before(const struct fr_task *t, u64 oldest_ns)
{
	return t->exit_ns && t->exit_ns < oldest_ns && !(t->flags & FR_TASK_ENDING);
}

static int meta_find_tasks(struct fr_dump *d, struct fr_meta *m)
{
	struct fr_snap_task *task, about;
	size_t cnt, i, kept = 0;
	u64 oldest = ~0ULL;
	int err = fr_sess_read_tasks(d->s, &task, &cnt);

	if (err)
		return err;
	for (i = 0; i < d->src_cnt; i++)
		if (d->src[i].oldest_ns < oldest)
			oldest = d->src[i].oldest_ns;
	for (i = 0; i < cnt; i++)
		if (!meta_is_of_before(&task[i].task, oldest))
			task[kept++] = task[i];
	fr_vec_own(&m->task, task, kept);
	return fr_dump_lacks_task(d->ask, d->trigger_ts, task, kept, &about) ? fr_vec_add(&m->task, &about, 1) : 0;
}

/* Both sides of a step, a nanosecond apart. Leave out a step that another process is overwriting right now. */
static size_t meta_put_step(const struct fr_session *sh, u64 nr, u64 end_ts, struct fr_snap_clock *c)
{
	struct fr_wall_step step = sh->wall_step[nr % FR_WALL_STEP_MAX];

	if (fr_load(&sh->wall_step_cnt) >= nr + FR_WALL_STEP_MAX || !step.ts || step.ts > end_ts)
		return 0;
	c[0] = c[1] = (struct fr_snap_clock){
		.ts = step.ts,
		.mono_ns = step.mono_ns,
		.boot_ns = step.boot_ns,
		.tai_ns = step.tai_ns,
		.real_ns = step.after_ns,
		.uncertainty_ns = step.uncertainty_ns,
	};
	c[0].ts--;
	c[0].real_ns = step.before_ns - 1;
	return 2;
}

size_t fr_dump_clocks(const char *facts, const struct fr_session *sh, u64 end_ts, struct fr_snap_clock *c)
{
	u64 step_cnt = fr_load(&sh->wall_step_cnt), nr = step_cnt > FR_WALL_STEP_MAX ? step_cnt - FR_WALL_STEP_MAX : 0;
	char *begin = fr_facts_get(facts, "begin_clock");
	size_t cnt = 0;

	if (begin && !fr_clock_parse(begin, &c[cnt]))
		cnt++;
	free(begin);
	for (; nr < step_cnt && cnt + 2 < FR_DUMP_CLOCKS_MOST; nr++)
		cnt += meta_put_step(sh, nr, end_ts, &c[cnt]);
	return cnt;
}

static int meta_find_clocks(struct fr_dump *d, struct fr_meta *m)
{
	struct fr_snap_clock c[FR_DUMP_CLOCKS_MOST], now;
	size_t cnt;
	int err = fr_clock_sample(d->s, &now);

	if (err)
		return err;
	cnt = fr_dump_clocks(fr_sess_facts(d->s), fr_sess_shared(d->s), now.ts, c);
	c[cnt++] = now;
	return fr_vec_add(&m->clock, c, cnt);
}

/* All that the log has, saved or not. A session without one has none. */
static int find_incidents(struct fr_dump *d, struct fr_meta *m)
{
	struct fr_snap_incident item;
	struct fr_incident_counts c;
	struct fr_incident *rec;
	size_t cnt, i;
	int err;

	if (!d->ask->glance)
		fr_sess_flush_incidents(d->s); /* if it fails, they stay pending */
	if (fr_sess_incident_counts(d->s, &c))
		return 0;
	fr_sess_incident_unrecorded(d->s, &c);
	err = fr_snap_put_fact(d->w, "incidents_recorded", "%llu", c.next);
	err = err ?: fr_snap_put_fact(d->w, "incidents_dropped", "%llu", c.dropped);
	err = err ?: fr_snap_put_fact(d->w, "incidents_squeezed", "%llu", c.squeezed);
	err = err ?: fr_snap_put_fact(d->w, "incidents_pending", "%llu", c.pending);
	err = err ?: fr_sess_incidents(d->s, 0, &rec, &cnt);
	if (err)
		return err;
	for (i = 0; i < cnt && !err; i++) {
		item = (struct fr_snap_incident){.epoch = c.epoch, .rec = rec[i]};
		fr_incident_redact(&item.rec, d->secrets.words, &d->secrets.cnt);
		err = fr_vec_add(&m->incident, &item, 1);
	}
	free(rec);
	return err;
}

/* What somebody typed, or a line of the kernel's. */
static bool is_line(const char *key)
{
	return !strcmp(key, "command") || !strcmp(key, "trigger_text");
}

static int put_line(struct fr_dump *d, const char *key, const char *line)
{
	size_t room = strlen(line) * (1 + strlen(FR_REDACTED)) + 1;
	char *text = malloc(room);
	int err = -ENOMEM;

	if (text) {
		text[fr_redact(d->secrets.words, FR_REDACT_LINE, line, strlen(line), text, room - 1, &d->secrets.cnt)] = 0;
		err = fr_snap_put_fact(d->w, key, "%s", text);
	}
	free(text);
	return err;
}

int fr_dump_put_redacted(struct fr_dump *d)
{
	return fr_snap_put_fact(d->w, "redacted", "%u", d->secrets.cnt);
}

int fr_dump_put_facts(struct fr_dump *d, const char *text)
{
	const char *name, *value;
	size_t pos = 0, name_len, value_len;
	char key[64], *plain;
	int err = 0;

	while (!err && fr_facts_next(text, &pos, &name, &name_len, &value, &value_len)) {
		if (name_len >= sizeof(key))
			continue;
		memcpy(key, name, name_len);
		key[name_len] = 0;
		plain = fr_facts_get(text, key);
		if (plain && is_line(key))
			err = put_line(d, key, plain);
		else
			err = plain ? fr_snap_put_fact(d->w, key, "%s", plain) : -ENOMEM;
		free(plain);
	}
	return err;
}

static int put_trigger_facts(struct fr_dump *d)
{
	const struct fr_dump_ask *ask = d->ask;
	int err = fr_snap_put_fact(d->w, "trigger_reason", "%s", ask->reason);

	err = err ?: fr_snap_put_fact(d->w, "trigger_ts", "%llu", d->trigger_ts);
	if (ask->comm)
		err = err ?: fr_snap_put_fact(d->w, "trigger_comm", "%s", ask->comm);
	if (ask->pid)
		err = err ?: fr_snap_put_fact(d->w, "trigger_pid", "%u", ask->pid);
	if (ask->sig)
		err = err ?: fr_snap_put_fact(d->w, "trigger_sig", "%d", ask->sig);
	if (ask->facts && !err)
		err = fr_dump_put_facts(d, ask->facts);
	return err;
}

static int put_host_facts(struct fr_dump *d)
{
	char boot[64];
	struct utsname un;
	int err = fr_boot_id(boot, sizeof(boot));

	uname(&un);
	err = err ?: fr_snap_put_fact(d->w, "host", "%s", un.nodename);
	err = err ?: fr_snap_put_fact(d->w, "kernel", "%s", un.release);
	err = err ?: fr_snap_put_fact(d->w, "arch", "%s", un.machine);
	err = err ?: fr_snap_put_fact(d->w, "boot_id", "%s", boot);
	return err ?: fr_snap_put_fact(d->w, "snapshot_ns", "%llu", d->begin_ts);
}

/* "sched_switch=3;sys_enter=1": programs refused by the kernel because they ran already on that CPU */
static int meta_put_missed(struct fr_dump *d)
{
	struct fr_sess_prog *prog;
	char text[4096] = "";
	size_t cnt, i, len = 0;
	int err = fr_sess_progs(d->s, &prog, &cnt);

	if (fr_fd_is_want(err)) {
		fr_warn_errno(err, "what the kernel refused to run is not in the snapshot");
		return 0;
	}
	if (err)
		return err;
	for (i = 0; i < cnt; i++)
		if (prog[i].missed && len < sizeof(text))
			len += snprintf(text + len, sizeof(text) - len, "%s%s=%llu", len ? ";" : "", prog[i].name,
					prog[i].missed);
	fr_sess_progs_free(prog, cnt);
	return fr_snap_put_fact(d->w, "missed", "%s", text);
}

/* "tp:skb:kfree_skb=12": events of tracepoints that have no record, by why; no fact where there are none */
static int meta_put_tps(struct fr_dump *d)
{
	struct fr_sess_tp *tp = NULL;
	char *text;
	u32 cnt = 0, i, why;
	int err = fr_sess_tps(d->s, &tp, &cnt);

	if (fr_fd_is_want(err)) {
		fr_warn_errno(err, "what tracepoints have no record of is not in the snapshot");
		return 0;
	}
	for (why = 0; why < FR_TP_WHY_CNT && cnt && !err; why++) {
		struct fr_memfile m;
		FILE *f = fr_memfile_open(&m);

		for (i = 0; i < cnt && f; i++)
			if (tp[i].counts.cnt[why])
				fprintf(f, ";%s=%llu", tp[i].name, tp[i].counts.cnt[why]);
		text = f ? fr_memfile_end(&m, NULL) : NULL;
		err = !text ? -ENOMEM : *text ? fr_snap_put_fact(d->w, fr_tp_why_name(why), "%s", text + 1) : 0;
		free(text);
	}
	free(tp);
	return err;
}

int fr_dump_put_counts(struct fr_dump *d, const struct fr_session *sh)
{
	int err;

	err = fr_snap_put_fact(d->w, "task_evicted", "%llu", fr_load(&sh->task_evicted));
	err = err ?: fr_snap_put_fact(d->w, "task_lost", "%llu", fr_load(&sh->task_lost));
	err = err ?: fr_snap_put_fact(d->w, "no_ring", "%llu", fr_load(&sh->no_ring));
	err = err ?: fr_snap_put_fact(d->w, "sample_taken", "%llu", d->sample_taken);
	return err ?: fr_snap_put_fact(d->w, "wall_steps", "%llu", fr_load(&sh->wall_step_cnt));
}

static int meta_put_over(struct fr_dump *d, const struct fr_waitsums *sums)
{
	char *text = fr_waitsums_text(sums);
	int err = text ? fr_snap_put_fact(d->w, "waits_over", "%s", text) : -ENOMEM;

	free(text);
	return err;
}

int fr_dump_put_thinned(struct fr_dump *d, const char *facts)
{
	char *hold = fr_facts_get(facts, "thin_ns");
	u64 runs = 0;
	bool is_on;
	size_t i;

	for (i = 0; i < d->src_cnt && hold; i++)
		runs += fr_load(&d->src[i].map->wr->filtered[FR_FILTERED_thinned]);
	is_on = hold;
	free(hold);
	return is_on ? fr_snap_put_fact(d->w, "thinned_runs", "%llu", runs) : 0;
}

/* What became of long waits: those that have no record are counted, and those beyond the budget summed by task and call. */
static int meta_put_waits(struct fr_dump *d)
{
	char *min = fr_sess_fact(d->s, "wait_min_ns");
	bool none = !min;
	struct fr_wait_counts c;
	struct fr_waitsums sums;
	int err;

	free(min);
	if (none || fr_sess_waits(d->s, &c, &sums))
		return 0;
#define FORM(name, doc)	 ";" #name "=%llu"
#define VALUE(name, doc) , c.name
	err = fr_snap_put_fact(d->w, "waits", &(FR_WAIT_COUNTS(FORM))[1] FR_WAIT_COUNTS(VALUE));
#undef FORM
#undef VALUE
	err = err ?: meta_put_over(d, &sums);
	fr_waitsums_free(&sums);
	return err;
}

/* What the kernel counts of softirqs, beside the same when the recording began (facts softirqs_begin, softirq_ms_begin). */
static int meta_put_softirqs(struct fr_dump *d)
{
	char text[FR_SOFTIRQS_SZ];
	int err = fr_softirqs_read(text, sizeof(text)) ? 0 : fr_snap_put_fact(d->w, "softirqs", "%s", text);

	return err || fr_softirqs_read_ms(text, sizeof(text)) ? err : fr_snap_put_fact(d->w, "softirq_ms", "%s", text);
}

/* Disks by name: a reader elsewhere knows their numbers only. */
static int put_disks(struct fr_dump *d)
{
	char text[FR_DISKS_SZ];

	return fr_disks_read(text, sizeof(text)) ? 0 : fr_snap_put_fact(d->w, "disks", "%s", text);
}

static int put_samples_due(struct fr_dump *d)
{
	return fr_snap_put_fact(d->w, "sample_expected", "%llu", fr_sess_samples_due(d->s, d->begin_ts));
}

/* Its programs run, and record nothing: the history lacks them since the governor's last step. */
static int meta_put_held(struct fr_dump *d)
{
	char *held = fr_sess_held(d->s);
	int err = held ? 0 : -ENOMEM;

	if (!err && *held)
		err = fr_snap_put_fact(d->w, "events_held", "%s", held);
	free(held);
	return err;
}

static int meta_put_facts(struct fr_dump *d)
{
	int err = fr_dump_put_facts(d, fr_sess_facts(d->s));

	err = err ?: put_host_facts(d);
	if (!d->ask->glance)
		err = err ?: put_trigger_facts(d);
	err = err ?: meta_put_held(d);
	err = err ?: fr_dump_put_counts(d, fr_sess_shared(d->s));
	err = err ?: put_samples_due(d);
	err = err ?: meta_put_waits(d);
	err = err ?: fr_dump_put_thinned(d, fr_sess_facts(d->s));
	err = err ?: meta_put_softirqs(d);
	err = err ?: put_disks(d);
	err = err ?: fr_dump_put_state_facts(d);
	err = err ?: meta_put_missed(d);
	return err ?: meta_put_tps(d);
}

/* ---- what others know ---- */

/* Read by an errand; NULL: nothing, or no memory. */
struct others {
	struct fr_dump_unwound *unwound;
	struct fr_dump_symbols *symbols;
	struct fr_procs *procs;
	struct fr_klog *klog;
	struct fr_dump_owners *owners;
	struct fr_dump_counters *counters;
	struct fr_logclock clock;
};

/* In the runner: copies of rings, and the profile's tables. */
static void meta_leave(void *arg)
{
	struct fr_dump *d = arg;

	if (d->sampler)
		fr_hits_close(fr_sampler_hits(d->sampler));
	fr_dump_room_free(&d->room);
}

/* The log's clock now; a confined writer may not ask, and has what the session's beginning says. */
static const struct fr_logclock *klog_clock(const struct fr_dump *d, struct fr_logclock *c)
{
	char *begin;
	int err;

	if (!fr_logclock_sample(c))
		return c;
	begin = fr_sess_fact(d->s, "klog_clock");
	err = begin ? fr_klog_clock_parse(begin, c) : -ENOENT;
	free(begin);
	return err ? NULL : c;
}

static void read_others(struct fr_dump *d, const struct fr_snap_task *task, size_t task_cnt, struct others *o)
{
	struct fr_errand_job job[FR_DUMP_COUNTERS_JOB_CNT + FR_KLOG_JOB_CNT + FR_DUMP_UNWOUND_JOB_CNT +
				 FR_DUMP_SYMBOLS_JOB_CNT + FR_PROCS_JOB_CNT + FR_DUMP_OWNERS_JOB_CNT];
	const struct fr_procs_ask ask = {
		.cgroup_here = d->ask->cgroup_here,
		.task = task,
		.task_cnt = task_cnt,
		.unread = &d->unread,
		.redact = d->secrets.words,
	};
	const struct fr_klog_ask klog = {.unread = &d->unread, .redact = d->secrets.words, .clock = klog_clock(d, &o->clock)};
	char *cgroup = d->ask->facts ? fr_facts_get(d->ask->facts, "trigger_cgroup_id") : NULL;
	const struct fr_dump_counters_ask counters = {
		.s = d->s, .unread = &d->unread, .trigger_cgroup = cgroup ? strtoull(cgroup, NULL, 10) : 0};
	u32 cnt = 0;

	o->counters = fr_dump_counters_new(&counters, &job[cnt]); /* first: the moment passes */
	cnt += o->counters ? FR_DUMP_COUNTERS_JOB_CNT : 0;
	o->klog = fr_klog_new(&klog, &job[cnt]);
	cnt += o->klog ? FR_KLOG_JOB_CNT : 0;
	o->unwound = fr_dump_unwound_new(d, &job[cnt]);
	cnt += o->unwound ? FR_DUMP_UNWOUND_JOB_CNT : 0;
	o->symbols = fr_dump_symbols_new(d, task, task_cnt, &job[cnt]);
	cnt += o->symbols ? FR_DUMP_SYMBOLS_JOB_CNT : 0;
	o->procs = fr_procs_new(&ask, &job[cnt]);
	cnt += o->procs ? FR_PROCS_JOB_CNT : 0;
	o->owners = fr_dump_owners_new(d, &job[cnt]);
	cnt += o->owners ? FR_DUMP_OWNERS_JOB_CNT : 0;
	fr_others_run(d->s, job, cnt, meta_leave, d);
	free(cgroup);
}

static void free_others(struct others *o)
{
	fr_dump_unwound_free(o->unwound);
	fr_dump_symbols_free(o->symbols);
	fr_procs_free(o->procs);
	fr_klog_free(o->klog);
	fr_dump_owners_free(o->owners);
	fr_dump_counters_free(o->counters);
}

/* Command lines are optional; the events are the purpose of a snapshot. */
static int meta_put_procs(struct fr_dump *d, const struct fr_procs *p)
{
	struct fr_procs_lack lack;
	u32 container_cnt, named_cnt;
	const char *text;
	size_t sz;
	int err;

	if (!p) {
		fr_warn_errno(-ENOMEM, "what /proc says of live tasks is not in the snapshot");
		return 0;
	}
	text = fr_procs_text(p, &sz, &lack);
	d->secrets.cnt += fr_procs_redacted(p);
	container_cnt = fr_procs_containers(p, &named_cnt);
	err = fr_snap_put_procs(d->w, text, sz);
	err = err ?: fr_snap_put_fact(d->w, "containers", "%u", container_cnt);
	err = err ?: fr_snap_put_fact(d->w, "containers_named", "%u", named_cnt);
	if (lack.err)
		fr_warn_errno(lack.err, "of %u process%s, command line or cgroup is not in the snapshot", lack.cnt,
			      lack.cnt == 1 ? "" : "es");
	if (lack.cnt)
		err = err ?: fr_snap_put_fact(d->w, "processes_left_out", "%u", lack.cnt);
	return err;
}

static int meta_put_klog(struct fr_dump *d, struct fr_klog *k)
{
	const struct fr_snap_klog *line;
	struct fr_klog_counts c;
	size_t cnt;
	int err;

	if (!k) {
		fr_warn_errno(-ENOMEM, "the kernel's log is not in the snapshot");
		return 0;
	}
	if (!fr_klog_get(k, &line, &cnt, &c))
		return 0;
	d->secrets.cnt += c.redacted;
	err = fr_snap_put_klog(d->w, line, cnt);
	return err ?: fr_snap_put_fact(d->w, "kmsg", "older=%llu;lost=%llu", c.older, c.lost);
}

/* Those that a recorder has kept are there even if those of the moment could not be read in time. */
static int meta_put_counters(struct fr_dump *d, struct fr_dump_counters *c)
{
	const struct fr_counters *all = c ? fr_dump_counters_get(c) : NULL;

	if (!all)
		fr_warn_errno(-ENOMEM, "the host's counters are not in the snapshot");
	return all && all->point_cnt ? fr_snap_put_counters(d->w, all) : 0;
}

static int meta_put_unread(struct fr_dump *d)
{
	const struct fr_unread *u = &d->unread;
	int err;

	if (!u->cnt)
		return 0;
	fr_warn("%u thing%s of other processes or files could not be read in time: `flightrec info` names %s", u->cnt,
		fr_plural(u->cnt), u->cnt == 1 ? "it" : "them");
	err = fr_snap_put_fact(d->w, "unread", "%s", u->text);
	err = err ?: fr_snap_put_fact(d->w, "unread_cnt", "%u", u->cnt);
	return err ?: fr_snap_put_fact(d->w, "helpers_left", "%u", fr_errand_left_cnt(fr_sess_shared(d->s)->left));
}

static int put_others(struct fr_dump *d, const struct others *o)
{
	int err = fr_dump_put_unwound(d, o->unwound);

	err = err ?: fr_dump_put_symbols(d, o->symbols);
	err = err ?: meta_put_procs(d, o->procs);
	err = err ?: meta_put_klog(d, o->klog);
	err = err ?: fr_dump_put_states(d);
	err = err ?: meta_put_counters(d, o->counters);
	err = err ?: fr_dump_put_redacted(d);
	return err ?: meta_put_unread(d);
}

/* Of a glance, for which nobody is asked. */
static int meta_put_own(struct fr_dump *d)
{
	return fr_dump_put_own_symbols(d) ?: fr_dump_put_states(d) ?: fr_dump_put_redacted(d);
}

static int find_formats(struct fr_dump *d, struct fr_meta *m)
{
	char *text;
	size_t sz;
	int err = fr_sess_formats(d->s, &text, &sz);

	if (!err)
		fr_vec_own(&m->formats, text, sz);
	return err;
}

int fr_dump_put_meta(struct fr_dump *d)
{
	struct others others = {};
	struct fr_meta m;
	int err;

	fr_meta_init(&m);
	err = fr_dump_find_accounts(d, &m);
	err = err ?: meta_find_tasks(d, &m);
	err = err ?: fr_dump_add_states(d, &m);
	err = err ?: meta_find_clocks(d, &m);
	err = err ?: find_incidents(d, &m);
	err = err ?: find_formats(d, &m);
	err = err ?: meta_put_facts(d);
	if (!err && !d->ask->glance) {
		fr_dump_find_profile(d);
		m.prof = d->prof;
		m.blocked = d->blocked;
	}
	err = err ?: fr_dump_put_state_stacks(d);
	err = err ?: fr_meta_put(&m, d->w);
	if (!err && !d->ask->glance)
		read_others(d, m.task.at, m.task.cnt, &others);
	err = err ?: d->ask->glance ? meta_put_own(d) : put_others(d, &others);
	free_others(&others);
	fr_meta_free(&m);
	return err;
}
