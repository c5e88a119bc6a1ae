/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_pressure: a rule on pressure is about no task: who had the CPUs, or waited for memory or a disk. */
#include <stdio.h>

#include "base/set/hash.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

/* Time of one program's tasks in waits of one kind. */
struct stalled {
	u64 key, ns, most_ns;
	u32 cnt;
	const struct fr_waited *most;
	const char *place;
};

static int stalled_by_ns(const void *a, const void *b)
{
	const struct stalled *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* A function of the wait's stack by which it counts; NULL: it does not. */
typedef const char *(*place_fn)(struct fr_case *k, const struct fr_waited *w);

static const char *pressure_first_of(struct fr_case *k, const struct fr_waited *w, const char *const *names)
{
	for (; *names; names++)
		if (fr_clues_kernel_at(k->c, w->kstack_id, *names) >= 0)
			return *names;
	return NULL;
}

static const char *memory_place(struct fr_case *k, const struct fr_waited *w)
{
	static const char *const names[] = {"mem_cgroup_handle_over_high",
					    "try_to_free_mem_cgroup_pages",
					    "mem_cgroup_oom_synchronize",
					    "reclaim_throttle",
					    "try_to_free_pages",
					    "do_swap_page",
					    NULL};

	return pressure_first_of(k, w, names);
}

static const char *io_place(struct fr_case *k, const struct fr_waited *w)
{
	static const char *const names[] = {
		"jbd2_log_wait_commit", "balance_dirty_pages",	 "rq_qos_wait", "blk_mq_get_tag",      "folio_wait_writeback",
		"submit_bio_wait",	"folio_wait_bit_common", "io_schedule", "io_schedule_timeout", NULL};

	return pressure_first_of(k, w, names);
}

/* The program that waited longest so, of all that did. */
static bool find_stalled(struct fr_case *k, place_fn place, struct stalled *out, u32 *programs)
{
	const struct fr_clues *c = k->c;
	struct fr_tally t = {.rec_sz = sizeof(*out)};
	const struct fr_waited *w;
	size_t i;

	for (i = 0; (w = fr_clues_wait(c, i)) && !k->failed; i++) {
		u64 ns = fr_overlap_ns(fr_waited_began_ns(w), fr_waited_woken_ns(w), c->begin_ns, c->at_ns);
		const char *in = ns && !fr_waited_was_runnable(w) ? place(k, w) : NULL;
		struct stalled *s = in ? fr_tally_get(&t, fr_clues_program(c, w->tid, w->ts)) : NULL;

		if (!in)
			continue;
		if (!s) {
			k->failed = true;
			break;
		}
		s->ns += ns;
		s->cnt++;
		if (ns > s->most_ns)
			s->most_ns = ns, s->most = w, s->place = in;
	}
	fr_tally_sort(&t, stalled_by_ns);
	*programs = t.cnt;
	if (t.cnt)
		*out = *(struct stalled *)fr_tally_at(&t, 0);
	fr_tally_free(&t);
	return *programs && !k->failed;
}

static bool tell_stalled(struct fr_case *k, place_fn place, const char *what)
{
	const char *writer;
	struct stalled s;
	u32 programs;

	if (!find_stalled(k, place, &s, &programs) || s.ns < FR_MSEC_NS)
		return false;
	writer = place == io_place ? fr_word_writer(k, k->c->at_ns) : "";
	fr_case_cause(k, *writer ? "wait, block_io_start" : "wait",
		      "most of the long waits for %s were those of %s: %s in %u wait%s of the %s before, the longest %s%s of "
		      "%s, in %s%s%s",
		      what, fr_word_comm(k, s.most->tid, s.most->ts), fr_word_ns(k, s.ns), s.cnt, fr_plural(s.cnt),
		      fr_word_ns(k, k->c->at_ns - k->c->begin_ns), fr_word_call(k, s.most), fr_word_object(k, s.most),
		      fr_word_ns(k, s.most_ns), s.place, programs > 1 ? "; other programs waited likewise, less" : "", writer);
	return true;
}

#define PROGRAMS_TOLD 3u

const char *fr_word_users(struct fr_case *k, u64 from_ns, u64 to_ns, u64 *all_ns, u64 *idle_ns)
{
	char text[FR_VERDICT_TEXT_SZ] = "";
	struct fr_tally t;
	size_t len = 0;
	u32 i, told = 0, cnt;

	*all_ns = *idle_ns = 0;
	if (fr_clues_programs(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns, &t)) {
		k->failed = true;
		return "";
	}
	for (i = 0, cnt = t.cnt; i < cnt; i++) {
		const struct fr_clue_program *p = fr_tally_at(&t, i);

		*all_ns += p->ns;
		if (!p->key)
			*idle_ns = p->ns;
		else if (told < PROGRAMS_TOLD && len < sizeof(text))
			len += snprintf(text + len, sizeof(text) - len, "%s%s (%u task%s) %s", told++ ? ", " : "",
					fr_word_comm(k, p->tid, p->ts), p->task_cnt, fr_plural(p->task_cnt),
					fr_word_ns(k, p->ns));
	}
	fr_tally_free(&t);
	return fr_word(k, "%s%s", text, cnt > PROGRAMS_TOLD + 1 ? ", others less" : "");
}

/* Who had the CPUs in the time before, if they were hardly ever idle. */
static bool pressure_tell_busy(struct fr_case *k)
{
	u64 from_ns = k->c->begin_ns, to_ns = k->c->at_ns, all_ns, idle_ns;
	const char *users;
	char born[48] = "";
	u32 forks = 0;
	size_t i;

	if (!fr_clues_covers_most(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns))
		return false;
	users = fr_word_users(k, from_ns, to_ns, &all_ns, &idle_ns);
	if (!*users || idle_ns > all_ns / 10)
		return false;
	for (i = 0; i < k->c->fork.cnt; i++) {
		const struct fr_clue_fork *f = (const struct fr_clue_fork *)k->c->fork.at + i;

		forks += f->pid == f->child && f->ts >= from_ns && f->ts <= to_ns;
	}
	if (forks)
		snprintf(born, sizeof(born), "; %u process%s started", forks, forks == 1 ? " was" : "es were");
	fr_case_cause(k, forks ? "sched_switch, sched_process_fork" : "sched_switch",
		      "the CPUs were busy: of their %s in the %s before they were idle for %s only; who had them: %s%s%s",
		      fr_word_ns(k, all_ns), fr_word_ns(k, to_ns - from_ns), fr_word_ns(k, idle_ns), users, born,
		      forks ? fr_word_forker(k, from_ns, to_ns) : "");
	return true;
}

/* What tasks were stalled for is in the rule: psi:RESOURCE:... */
bool fr_recognise_pressure(struct fr_case *k)
{
	const char *rule = fr_snap_fact(k->c->snap, "trigger_rule"), *kind = fr_snap_fact(k->c->snap, "trigger_latency");

	if (k->c->reason && !strcmp(k->c->reason, "latency") && kind &&
	    !strcmp(kind, "block")) /* it names a disk, and no task */
		return tell_stalled(k, io_place, "a disk");
	if (!k->c->reason || strcmp(k->c->reason, "psi") || !rule)
		return false;
	if (!strncmp(rule, "psi:cpu:", 8))
		return pressure_tell_busy(k);
	if (!strncmp(rule, "psi:memory:", 11))
		return tell_stalled(k, memory_place, "memory") || fr_case_tell_reclaim(k);
	if (!strncmp(rule, "psi:io:", 7))
		return tell_stalled(k, io_place, "a disk");
	return false;
}
