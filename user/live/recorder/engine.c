/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/engine_int.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/units.h"
#include "fatal.h"
#include "live/recorder/control.h"

/* ---- helpers ---- */

u64 fr_engine_now(struct fr_engine *e)
{
	struct fr_call now;

	return fr_sess_clocks(e->s, &now) ? 0 : now.ns;
}

u32 fr_engine_rule_of_slot(const struct fr_engine *e, u32 slot)
{
	u32 i;

	for (i = 0; i < e->known_cnt; i++)
		if (e->slot_of[i] == slot)
			return i;
	return FR_RULE_NONE;
}

const struct fr_trigger *fr_engine_rule(const struct fr_engine *e, u32 nr)
{
	return nr < e->known_cnt ? &e->rule[nr] : NULL;
}

static u32 engine_slot_of(const struct fr_engine *e, u32 nr)
{
	return nr < e->known_cnt ? e->slot_of[nr] : SLOT_NONE;
}

void fr_engine_count(struct fr_engine *e, struct fr_entry *n, u32 slot, u32 verdict)
{
	if (slot < FR_TRIGGER_MAX)
		fr_entry_add(n, e->tr, &e->tr->slot[slot].verdict[verdict % FR_TRIGGER_VERDICT_CNT], 1);
	else
		e->unruled[verdict % FR_TRIGGER_VERDICT_CNT]++;
}

void fr_engine_mark(struct fr_engine *e, const struct fr_alert *a, u32 nr, u32 verdict, u64 *ts)
{
	const struct fr_sess_trigger mark = {
		.reason = fr_trigger_reason(a->kind),
		.tid = a->tid,
		.at_ns = a->ts,
		.rule = nr,
		.verdict = verdict,
		.sig = a->sig,
	};
	u64 now = 0;

	fr_sess_mark_trigger(e->s, &mark, &now);
	if (ts)
		*ts = now;
	fr_engine_tell(e, a, nr, verdict);
	fr_control_decided(fr_daemon_ctl(e->d), fr_engine_rule(e, nr), a, a->ts ?: now, verdict);
}

/* Whoever gives up does so in the same function of the C library or the runtime: its callers tell one failure from another. */
static u64 engine_stack_of(const struct fr_alert *a)
{
	bool gives_up = a->kind == FR_TRIGGER_status || (a->kind == FR_TRIGGER_crash && a->sig == SIGABRT);

	return gives_up ? fr_trigger_stack(a->uframe, a->uframe_cnt) : 0;
}

void fr_engine_moment(const struct fr_alert *a, const char *cgroup, struct fr_moment *m)
{
	*m = (struct fr_moment){
		.kind = a->kind,
		.ts = a->ts,
		.tid = a->tid,
		.pid = a->pid,
		.uid = a->uid,
		.owner = a->owner,
		.sig = a->sig,
		.status = fr_wait_status(a->exit_code),
		.ip = a->ip,
		.stack = engine_stack_of(a),
		.value_ns = a->value_ns,
		.what = a->what,
		.core = fr_sig_in(a->sig, FR_SIG_CORE),
		.comm = a->comm,
		.exe = a->exe,
		.cgroup = cgroup,
		.exe_id = a->exe_ino ? a->exe_ino ^ a->exe_dev << 44 : 0,
	};
}

/* ---- moments reported by BPF ---- */

static u64 engine_key_of(const struct fr_alert *a)
{
	struct fr_moment m;

	fr_engine_moment(a, "", &m);
	return fr_trigger_key(&m);
}

static bool engine_is_busy(struct fr_engine *e, const struct fr_alert *a, u32 nr)
{
	return fr_engine_waiting_cnt(e) == FR_PENDING_MAX || fr_engine_waits_for(e, a, engine_slot_of(e, nr));
}

static enum fr_trigger_verdict ask_gate(struct fr_engine *e, const struct fr_alert *a, u32 nr, u64 now_ns)
{
	const struct fr_trigger *t = fr_engine_rule(e, nr);
	bool busy = engine_is_busy(e, a, nr);
	struct fr_moment m;

	if (!t) /* requested by a person */
		return busy ? FR_TRIGGER_VERDICT_busy : FR_TRIGGER_VERDICT_taken;
	fr_engine_moment(a, "", &m);
	return fr_gate_ask(e->gate, t, nr, fr_trigger_key(&m), fr_gate_from(&m), now_ns, busy);
}

/* One that is gone has no path. Else a rule that asks for it would not fire for what it is meant for. */
bool fr_engine_cgroup(struct fr_engine *e, const struct fr_alert *a, char buf[FR_ENGINE_CGROUP_SZ])
{
	int err = a->cgroup ? fr_cgroup_soon_path(e->cgroups, a->cgroup, buf, FR_ENGINE_CGROUP_SZ) : -ENOENT;
	int was = e->cgroup_err;

	if (!err)
		e->cgroup_err = 0;
	else if (err == -ETIMEDOUT)
		e->cgroup_err = err;
	if (e->cgroup_err && !was)
		fr_warn("paths of cgroups are not told: who asks for one waits: until they are, triggers with cgroup= do not "
			"fire, and snapshots have the cgroup's number alone");
	else if (was && !e->cgroup_err)
		fr_say("paths of cgroups are told again");
	if (err)
		*buf = 0;
	return !err;
}

static enum fr_trigger_verdict engine_decide(struct fr_engine *e, const struct fr_alert *a, u32 nr, u64 now_ns, bool granted)
{
	const struct fr_trigger *t = &e->rule[nr];
	const struct fr_gate_asked asked = {.now_ns = now_ns, .granted = granted, .busy = engine_is_busy(e, a, nr)};
	char cgroup[FR_ENGINE_CGROUP_SZ] = "";
	struct fr_moment m;

	/* only asked for if a rule needs it */
	if (*t->cgroup)
		fr_engine_cgroup(e, a, cgroup);
	fr_engine_moment(a, cgroup, &m);
	return fr_gate_decide(e->gate, t, nr, &m, &asked);
}

static u64 who(const struct fr_alert *a)
{
	return (u64)a->kind << 32 | a->tid;
}

/* A recorder that was killed may have decided about it already; a version without a ledger may only have noted the snapshot. */
static bool is_handled(const struct fr_engine *e, const struct fr_alert *a)
{
	return (e->tr->handled_ts == a->ts && e->tr->handled_who == who(a)) || fr_engine_is_waiting(e, a);
}

/* Commit it with everything decided about it. */
static void commit_handled(struct fr_engine *e, struct fr_entry *n, const struct fr_alert *a)
{
	fr_entry_set(n, e->tr, &e->tr->handled_who, who(a));
	fr_entry_set(n, e->tr, &e->tr->handled_ts, a->ts);
	fr_ledger_commit(e->ledger, e->tr, n);
}

int fr_engine_failed_err(const struct fr_engine *e)
{
	return e->failed_err;
}

struct fr_blind fr_engine_blind(const struct fr_engine *e)
{
	return fr_sources_blind(e->sources);
}

u64 fr_engine_unruled(const struct fr_engine *e, enum fr_trigger_verdict verdict)
{
	return e->unruled[verdict];
}

/* Keep it until its snapshot is taken: its index. If it cannot be kept it has failed, and the gate forgets it: -errno. */
static int grant(struct fr_engine *e, struct fr_entry *n, const struct fr_alert *a, u32 nr, u64 now_ns, u64 cookie)
{
	int i = fr_engine_grant(e, n, a, nr, now_ns, cookie);

	if (i < 0) {
		e->failed_err = i;
		fr_engine_count(e, n, engine_slot_of(e, nr), FR_TRIGGER_VERDICT_failed);
		if (nr < e->known_cnt)
			fr_gate_undo(e->gate, nr, engine_key_of(a), now_ns);
	}
	return i;
}

/* Moments of rules in force before us that are not ours: what they asked for is unknown. Each gets its verdict. */
static void count_ended(struct fr_engine *e, struct fr_entry *n, const struct fr_alert *a)
{
	u32 ended = a->rule_set, i;

	for (i = 0; i < e->known_cnt; i++)
		ended &= ~(1u << e->slot_of[i]);
	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		if (!(ended >> i & 1) || !e->tr->slot[i].text[0])
			continue;
		fr_engine_count(e, n, i, FR_TRIGGER_VERDICT_filtered);
		if (!e->said_ended++)
			fr_warn("moments of '%.*s', no longer in force, were waiting: they are counted as filtered, like "
				"those of other such rules",
				FR_TRIGGER_TEXT_MAX, e->tr->slot[i].text);
	}
}

static void on_alert(void *arg, const struct fr_alert *a)
{
	u8 verdict[FR_TRIGGER_MAX];
	struct fr_entry entry = {};
	struct fr_engine *e = arg;
	u64 now = fr_engine_now(e);
	bool granted = false;
	u32 nr, rules = 0;

	if (is_handled(e, a))
		return commit_handled(e, &entry, a);
	count_ended(e, &entry, a);
	for (nr = 0; nr < e->known_cnt; nr++) {
		if (!(a->rule_set >> e->slot_of[nr] & 1) || e->rule[nr].kind != a->kind)
			continue;
		rules |= 1u << nr;
		verdict[nr] = engine_decide(e, a, nr, now, granted);
		if (verdict[nr] != FR_TRIGGER_VERDICT_taken)
			fr_engine_count(e, &entry, e->slot_of[nr], verdict[nr]);
		else if (grant(e, &entry, a, nr, now, 0) >= 0)
			granted = true;
		else
			verdict[nr] = FR_TRIGGER_VERDICT_failed;
	}
	commit_handled(e, &entry, a);
	for (nr = 0; nr < e->known_cnt; nr++)
		if (rules >> nr & 1)
			fr_engine_mark(e, a, nr, verdict[nr], NULL);
}

static void on_alerts(void *arg, u32 events)
{
	struct fr_engine *e = arg;
	int got;

	(void)events;
	if (!e->alerts)
		return fr_engine_kick(e);
	do
		got = fr_alerts_take(e->alerts, on_alert, e);
	while (got > 0 || got == -EBADMSG);
	fr_engine_kick(e);
}

/* ---- moments seen by user space ---- */

/* A rule of this kind, if there is one: its options apply. */
static u32 rule_of_kind(const struct fr_engine *e, enum fr_trigger_kind kind)
{
	u32 i;

	for (i = 0; i < e->rule_cnt; i++)
		if (e->rule[i].kind == kind)
			return i;
	return FR_RULE_NONE;
}

/* The kernel does not see these moments, so only we count them. */
static void count_seen(struct fr_engine *e, struct fr_entry *n, u32 slot)
{
	if (slot >= FR_TRIGGER_MAX)
		return;
	fr_entry_add(n, e->tr, &e->tr->slot[slot].matched, 1);
	fr_entry_add(n, e->tr, &e->tr->slot[slot].alerted, 1);
}

/* The time of the mark is its moment. Returns the index of the pending snapshot, or as fr_engine_pull(). */
static int engine_pull(struct fr_engine *e, struct fr_alert *a, u32 nr, u64 cookie, u32 *told)
{
	u64 now = fr_engine_now(e), ts = 0;
	enum fr_trigger_verdict verdict = ask_gate(e, a, nr, now);
	struct fr_entry entry = {};
	int i = verdict == FR_TRIGGER_VERDICT_busy ? -EBUSY : -EAGAIN;

	if (told)
		*told = verdict;
	fr_engine_mark(e, a, nr, verdict, &ts);
	a->ts = ts ?: now;
	count_seen(e, &entry, engine_slot_of(e, nr));
	if (verdict == FR_TRIGGER_VERDICT_taken)
		i = grant(e, &entry, a, nr, now, cookie);
	else
		fr_engine_count(e, &entry, engine_slot_of(e, nr), verdict);
	fr_ledger_commit(e->ledger, e->tr, &entry);
	if (i < 0 && verdict == FR_TRIGGER_VERDICT_taken) { /* the earlier mark promised a snapshot */
		fr_engine_mark(e, a, nr, FR_TRIGGER_VERDICT_failed, NULL);
		if (told)
			*told = FR_TRIGGER_VERDICT_failed;
	}
	return i;
}

static struct fr_alert *new_alert(struct fr_engine *e, enum fr_trigger_kind kind)
{
	struct fr_alert *a = calloc(1, sizeof(*a));
	struct fr_call now = {};

	if (!a)
		return NULL;
	fr_sess_clocks(e->s, &now);
	a->kind = kind;
	a->mono_ns = now.mono_ns;
	a->uid = a->owner = ~0u;
	return a;
}

int fr_engine_pull_rule(struct fr_engine *e, u32 nr, u64 value_ns, const char *text)
{
	struct fr_alert *a = new_alert(e, e->rule[nr].kind);
	int err;

	if (!a)
		return -ENOMEM;
	a->value_ns = value_ns;
	snprintf(a->text, sizeof(a->text), "%s", text);
	err = engine_pull(e, a, nr, 0, NULL);
	free(a);
	fr_engine_kick(e);
	return err < 0 ? err : 0;
}

int fr_engine_pull(struct fr_engine *e, const struct fr_moment_ask *ask)
{
	struct fr_alert *a = new_alert(e, ask->kind);
	int i;

	if (!a)
		return -ENOMEM;
	a->pid = a->tid = ask->pid;
	a->sig = ask->sig;
	snprintf(a->comm, sizeof(a->comm), "%s", ask->comm ?: "");
	if (ask->sync)
		on_alerts(e, 0); /* decide about earlier moments first */
	i = engine_pull(e, a, rule_of_kind(e, ask->kind), ask->cookie, ask->verdict);
	free(a);
	if (i < 0)
		return i;
	if (ask->last_ns)
		e->tr->pending[i].last_ns = ask->last_ns;
	fr_engine_kick(e);
	if (!ask->sync)
		return 0;
	e->last_err = 0;
	fr_engine_finish(e);
	return e->last_err;
}

/* ---- rules ---- */

/* The longest period of the limits of the rules, and of all of them. */
static u64 longest_ns(const struct fr_engine *e)
{
	const struct fr_config *c = fr_daemon_config(e->d);
	u64 ns = c->storm_cnt ? c->storm_ns : 0;
	u32 i;

	for (i = 0; i < e->rule_cnt; i++) {
		if (e->rule[i].cooldown_ns > ns)
			ns = e->rule[i].cooldown_ns;
		if (e->rule[i].max_cnt && e->rule[i].max_ns > ns)
			ns = e->rule[i].max_ns;
	}
	return ns;
}

/* whole_ns: from when on all grants are known. Earlier ones may still count, but are unknown. */
static void say_forgotten(struct fr_engine *e, u64 known_cnt, u64 whole_ns)
{
	u64 now = fr_engine_now(e);

	if (known_cnt < e->tr->granted_cnt && now > whole_ns && now - whole_ns < longest_ns(e))
		fr_warn("of %llu snapshots for triggers only %llu are known: limits that look back further count just "
			"these",
			e->tr->granted_cnt, known_cnt);
}

/* Earlier grants still count: those of a previous recorder, or those made under other limits. */
static void replay_granted(struct fr_engine *e, struct fr_gate *g)
{
	u64 i, known = 0, whole = 0;
	struct fr_gate_from from;
	struct fr_granted was;
	u32 nr;

	for (i = fr_ledger_first(e->tr); i < e->tr->granted_cnt; i++) {
		if (!fr_ledger_granted(e->ledger, e->tr, i, &was)) {
			whole = 0;
			continue;
		}
		known++;
		nr = fr_engine_rule_of_slot(e, was.slot);
		if (!was.ts || was.slot == SLOT_NONE)
			continue;
		whole = whole ?: was.ts;
		from = (struct fr_gate_from){was.program, was.uid};
		if (nr != FR_RULE_NONE && i >= e->tr->slot[was.slot].first_grant)
			fr_gate_count(g, nr, was.key, from, was.ts);
		else
			fr_gate_seed(g, from, was.ts);
	}
	say_forgotten(e, known, whole);
}

static struct fr_gate_conf gate_conf(const struct fr_engine *e)
{
	const struct fr_config *c = fr_daemon_config(e->d);

	return (struct fr_gate_conf){.storm_cnt = c->storm_cnt, .storm_ns = c->storm_ns};
}

/* Where limits have changed, a new gate; NULL: the one there is continues, with complete knowledge. */
static int new_gate(const struct fr_engine *e, struct fr_gate **out)
{
	const struct fr_gate_conf conf = gate_conf(e);

	*out = NULL;
	if (e->gate && e->gate_conf.storm_cnt == conf.storm_cnt && e->gate_conf.storm_ns == conf.storm_ns)
		return 0;
	return fr_gate_new(&conf, out);
}

static void renumber(struct fr_engine *e, const u32 old_slot[], u32 old_cnt)
{
	int of_nr[FR_TRIGGER_MAX];
	u32 i, k;

	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		of_nr[i] = -1;
		for (k = 0; i < e->known_cnt && k < old_cnt; k++)
			if (old_slot[k] == e->slot_of[i])
				of_nr[i] = k;
	}
	fr_gate_renumber(e->gate, of_nr);
}

/* What new_gate() gave. The rules may have changed their numbers. */
static void use_gate(struct fr_engine *e, struct fr_gate *g, const u32 old_slot[], u32 old_cnt)
{
	if (!g) {
		renumber(e, old_slot, old_cnt);
		return;
	}
	replay_granted(e, g);
	fr_gate_free(e->gate);
	e->gate = g;
	e->gate_conf = gate_conf(e);
}

/* A filter on what is not known does not hold: better said now than found out by a death that had no snapshot. */
static void say_no_cgroups(const struct fr_engine *e, const struct fr_trigger *rule, u32 cnt)
{
	u32 i;

	for (i = 0; i < cnt; i++) {
		int err = *rule[i].cgroup ? fr_cgroup_soon_can_name(e->cgroups) : 0;

		if (err)
			fr_warn("trigger '%s' cannot fire: paths of cgroups are not known here: %s: mount cgroup v2, or the "
				"memory controller's v1 at /sys/fs/cgroup/memory, with CAP_DAC_READ_SEARCH; a container takes "
				"the host's (--cgroupns=host, or --pid=host and CAP_SYS_PTRACE)",
				rule[i].text, strerror(-err));
	}
}

/* Nor are crashes that are refused because a timer has had what all rules may have. */
static void say_storms(const struct fr_engine *e, const struct fr_trigger *rule, u32 cnt)
{
	const struct fr_config *c = fr_daemon_config(e->d);
	char span[32];
	u64 period_ns;
	u32 i;

	for (i = 0; i < cnt; i++) {
		period_ns = rule[i].every_ns > rule[i].cooldown_ns ? rule[i].every_ns : rule[i].cooldown_ns;
		if (rule[i].kind != FR_TRIGGER_every || rule[i].max_cnt || !c->storm_cnt ||
		    c->storm_ns / period_ns < c->storm_cnt)
			continue;
		fr_warn("trigger '%s' alone may take the %u snapshots in %s that all rules together may have, and then each "
			"other one is refused all but its first: take a longer period, add max=N/T, or raise StormCount=",
			rule[i].text, c->storm_cnt, fr_show_duration(c->storm_ns, span, sizeof(span)));
	}
}

/* Are they in force already? A rule's text determines it, except for the number of a user given by name. */
static bool are_in_force(const struct fr_engine *e, const struct fr_trigger *rules, u32 cnt)
{
	u32 i;

	if (!e->gate || cnt != e->rule_cnt)
		return false;
	for (i = 0; i < cnt; i++)
		if (strcmp(rules[i].text, e->rule[i].text) || rules[i].uid != e->rule[i].uid)
			return false;
	return true;
}

/*
 * While new programs were loaded, and even now, the old programs may report moments of rules that have ended. Keep these rules
 * behind the new ones, each with its slot, until the next reload, unless their slot has been reused. Returns the total number.
 */
static u32 keep_ended(const struct fr_engine *e, struct fr_trigger all[], u32 slot[], u32 cnt)
{
	u32 used = 0, i;

	for (i = 0; i < cnt; i++)
		used |= 1u << slot[i];
	for (i = 0; i < e->rule_cnt; i++) {
		if (used >> e->slot_of[i] & 1)
			continue;
		slot[cnt] = e->slot_of[i];
		all[cnt++] = e->rule[i];
	}
	return cnt;
}

/* New programs are loaded last: until then all that fails leaves the old rules in force. */
static int change_rules(struct fr_engine *e, const struct fr_trigger *rules, u32 cnt)
{
	struct fr_trigger *all = calloc(FR_TRIGGER_MAX, sizeof(*all));
	u32 slot[FR_TRIGGER_MAX], old_slot[FR_TRIGGER_MAX], old_cnt = e->rule_cnt;
	struct fr_sources *sources = NULL;
	struct fr_gate *gate = NULL;
	int err = all ? fr_sources_new(e, rules, cnt, &sources) : -ENOMEM;

	err = err ?: fr_sources_start(sources);
	err = err ?: new_gate(e, &gate);
	if (e->gate)
		on_alerts(e, 0); /* waiting alerts are for the old rules */
	err = err ?: fr_trig_load(e->s, rules, cnt, slot);
	if (err) {
		fr_gate_free(gate);
		fr_sources_free(sources);
		free(all);
		return err;
	}
	say_no_cgroups(e, rules, cnt);
	say_storms(e, rules, cnt);
	fr_engine_tell_held(e);
	memcpy(all, rules, cnt * sizeof(*all));
	e->known_cnt = keep_ended(e, all, slot, cnt);
	memcpy(old_slot, e->slot_of, sizeof(old_slot));
	memcpy(e->slot_of, slot, sizeof(e->slot_of));
	free(e->rule);
	e->rule = all;
	e->rule_cnt = cnt;
	fr_sources_free(e->sources);
	e->sources = sources;
	use_gate(e, gate, old_slot, old_cnt);
	return 0;
}

/* Programs that stay loaded keep their state: reported gaps, requests in flight, the timers' due times. */
int fr_engine_rules(struct fr_engine *e, const struct fr_trigger *rules, u32 cnt)
{
	struct fr_gate *gate;
	int err;

	if (!are_in_force(e, rules, cnt))
		return change_rules(e, rules, cnt);
	err = new_gate(e, &gate);
	if (err)
		return err;
	if (gate)
		say_storms(e, rules, cnt);
	memcpy(e->rule, rules, cnt * sizeof(*rules));
	use_gate(e, gate, e->slot_of, e->known_cnt);
	return 0;
}

/* ---- begin and end ---- */

/* The recorder also works without it: then a moment during which it is killed may be counted twice, or not at all. */
static int find_ledger(struct fr_engine *e)
{
	int err = e->own ? -ENOENT : fr_trig_ledger_open(e->s, &e->ledger);

	if (err) {
		e->ledger = e->own_ledger = calloc(1, sizeof(*e->own_ledger));
		if (!e->own)
			fr_warn("cannot keep a ledger of triggers with session '%s': %s: if this recorder is killed, counts "
				"may be off by one, and the next one knows of only %u snapshots",
				fr_sess_name(e->s), strerror(-err), FR_GRANTED_MAX - 1);
	}
	if (!e->ledger)
		return -ENOMEM;
	fr_ledger_recover(e->ledger, e->tr);
	return 0;
}

/* The session's, or a private one if it has none. */
static int find_triggers(struct fr_engine *e)
{
	int err;

	e->tr = fr_trig_shared(e->s);
	if (!e->tr)
		e->tr = e->own = calloc(1, sizeof(*e->own));
	if (!e->tr)
		return -ENOMEM;
	err = find_ledger(e);
	if (err || e->own)
		return err;
	err = fr_alerts_open(e->s, &e->alerts);
	return err ?: fr_daemon_watch(e->d, fr_alerts_fd(e->alerts), EPOLLIN, on_alerts, e);
}

int fr_engine_new(struct fr_daemon *d, struct fr_engine **out)
{
	struct fr_engine *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return -ENOMEM;
	e->d = d;
	e->s = fr_daemon_sess(d);
	e->running = e->writer_fd = e->post_fd = e->look_fd = -1;
	e->cgroups = fr_cgroup_soon_new(fr_sess_give_up_rings, e->s);
	err = e->cgroups ? find_triggers(e) : -ENOMEM;
	if (err) {
		fr_err("cannot open the queue of triggers of session '%s': %s: end it with `flightrec stop -n %s`",
		       fr_sess_name(e->s), strerror(-err), fr_sess_name(e->s));
		fr_engine_free(e);
		return err;
	}
	memcpy(e->base, e->tr->slot, sizeof(e->base));
	*out = e;
	return 0;
}

int fr_engine_start(struct fr_engine *e)
{
	int err = fr_engine_start_writer(e);

	if (err)
		return err;
	fr_engine_recover(e);
	on_alerts(e, 0);
	fr_writer_wait(e->writer); /* whoever is told that we are ready finds both processes confined */
	return 0;
}

void fr_engine_finish(struct fr_engine *e)
{
	u32 i;

	if (e->gate)
		on_alerts(e, 0);
	for (i = 0; i < FR_PENDING_MAX; i++)
		e->tr->pending[i].due_ns = 0;
	e->finishing = true;
	fr_engine_wait(e);
	e->finishing = false;
	fr_engine_tell_held(e);
}

void fr_engine_free(struct fr_engine *e)
{
	if (!e)
		return;
	fr_sources_free(e->sources);
	if (e->alerts)
		fr_daemon_unwatch(e->d, fr_alerts_fd(e->alerts));
	fr_alerts_close(e->alerts);
	if (e->writer_fd >= 0)
		fr_daemon_unwatch(e->d, e->writer_fd);
	fr_writer_stop(e->writer);
	fr_daemon_drop(e->d, &e->post_fd);
	fr_daemon_drop(e->d, &e->look_fd);
	fr_gate_free(e->gate);
	fr_cgroup_soon_free(e->cgroups);
	if (!e->own_ledger)
		fr_trig_ledger_close(e->ledger);
	free(e->own_ledger);
	free(e->rule);
	free(e->own);
	free(e);
}

u64 fr_engine_removed(const struct fr_engine *e)
{
	return e->removed;
}

u64 fr_engine_still_ns(struct fr_engine *e)
{
	return e->writer ? fr_writer_still_ns(e->writer) : 0;
}

bool fr_engine_cannot_end(struct fr_engine *e)
{
	return e && e->writer && fr_writer_cannot_end(e->writer);
}

int fr_engine_listen(struct fr_engine *e, fr_taken_fn fn, void *arg)
{
	if (e->listener_cnt == LISTENER_MAX)
		return -ENOSPC;
	e->listener[e->listener_cnt].fn = fn;
	e->listener[e->listener_cnt++].arg = arg;
	return 0;
}
