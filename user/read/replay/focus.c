/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * focus: most triggers name their task. Of a process that exited they name the thread that was the last to end, which is when
 * the kernel side decides. The interesting one is the thread that called exit_group(), or returned from main(): the others only
 * got its SIGKILL.
 *
 *	102  exit 2			this thread ended the process
 *	101  deliver KILL, exit 2	these were ended with it
 *	103  deliver KILL, exit 2
 */
#include "read/replay/focus.h"

#include <errno.h>
#include <string.h>

#include "base/rows/view.h"
#include "base/set/idmap.h"
#include "read/replay/summary.h"

struct search {
	const struct fr_view *view;
	const struct fr_field *code, *fatal;
	u16 exit_nr, deliver_nr;
	s32 pid, want_code;
	u64 until_ns;
	struct fr_idmap ended;	/* tid: u64, when it ended with that code */
	struct fr_idmap killed; /* tid: u8 */
};

static int focus_note_end(struct search *s, const struct fr_row *r)
{
	u64 *ts;

	if ((s32)fr_row_num(r, s->code) != s->want_code)
		return 0;
	ts = fr_idmap_get(&s->ended, r->tid);
	if (!ts)
		return -ENOMEM;
	*ts = r->ts > *ts ? r->ts : *ts;
	return 0;
}

static int focus_take_row(struct search *s, const struct fr_row *r)
{
	bool is_exit = r->ev->nr == s->exit_nr;

	if ((!is_exit && r->ev->nr != s->deliver_nr) || r->ts > s->until_ns || fr_view_who(s->view, r).pid != s->pid)
		return 0;
	if (is_exit)
		return focus_note_end(s, r);
	return !fr_row_num(r, s->fatal) || fr_idmap_get(&s->killed, r->tid) ? 0 : -ENOMEM;
}

static int read_life(struct search *s, struct fr_snap *snap)
{
	struct fr_batch b = {0};
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(snap, &cnt);
	int err = 0;
	u32 row;

	for (i = 0; i < cnt && !err; i++) {
		if (c[i].tier != FR_TIER_LIFE || c[i].damaged || c[i].first_ts > s->until_ns)
			continue;
		err = fr_snap_read_chunk(snap, i, &b);
		for (row = 0; !err && row < b.row_cnt; row++) {
			struct fr_row r = fr_batch_row(&b, row);

			err = focus_take_row(s, &r);
		}
		err = err == -EBADMSG ? 0 : err;
	}
	fr_batch_free(&b);
	return err;
}

/* The last one that ended by itself: threads may have done so before, too. 0: none is known. */
static u32 last_unkilled(const struct search *s)
{
	u64 last_ns = 0;
	u32 tid = 0, i;

	for (i = 0; i < s->ended.cap; i++) {
		u64 ts;

		if (!s->ended.used[i] || fr_idmap_find(&s->killed, s->ended.key[i]))
			continue;
		memcpy(&ts, s->ended.record + i * s->ended.record_sz, sizeof(ts));
		if (ts >= last_ns) {
			last_ns = ts;
			tid = s->ended.key[i];
		}
	}
	return tid;
}

static const struct fr_field *focus_number(const struct fr_event *ev, const char *name)
{
	const struct fr_field *f = ev ? fr_event_field(ev, name) : NULL;

	return f && f->kind != FR_KIND_DERIVED && fr_field_kind(f) == FR_VAL_NUM ? f : NULL;
}

/* *tid stays if nothing better is known. */
static int find_ender(struct fr_replay *r, u32 file, s64 pid, s64 status, u32 *tid)
{
	const struct fr_schema *schema = fr_replay_schema(r, file);
	const struct fr_event *exits = fr_schema_find(schema, "sched_process_exit");
	const struct fr_event *deliver = fr_schema_find(schema, "signal_deliver");
	struct search s = {.view = fr_replay_view(r, file), .pid = pid, .want_code = status << 8, .until_ns = ~0ULL};
	s64 ts;
	int err;

	s.code = focus_number(exits, "exit_code");
	s.fatal = focus_number(deliver, "fatal");
	if (!s.code || !s.fatal)
		return 0;
	s.exit_nr = exits->nr;
	s.deliver_nr = deliver->nr;
	if (fr_snap_fact_num(fr_replay_snap(r, file), "trigger_ts", &ts) && ts > 0)
		s.until_ns = ts;
	fr_idmap_init(&s.ended, sizeof(u64));
	fr_idmap_init(&s.killed, sizeof(u8));
	err = read_life(&s, fr_replay_file(r, file));
	*tid = err ? *tid : last_unkilled(&s) ?: *tid;
	fr_idmap_free(&s.ended);
	fr_idmap_free(&s.killed);
	return err;
}

int fr_focus_find(struct fr_replay *r, u32 file, u32 *tid)
{
	const struct fr_snap *s = fr_replay_snap(r, file);
	const char *reason = fr_snap_fact(s, "trigger_reason");
	s64 named = 0, pid, status;

	if (!fr_snap_fact_num(s, "trigger_tid", &named))
		fr_snap_fact_num(s, "trigger_pid", &named);
	*tid = named > 0 && named <= (s64)FR_TID_MASK ? named : 0;
	if (!reason || strcmp(reason, "exit") || !fr_snap_fact_num(s, "trigger_status", &status) ||
	    !fr_snap_fact_num(s, "trigger_pid", &pid))
		return 0;
	return find_ender(r, file, pid, status, tid);
}
