/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The beginning of a Perfetto trace: clocks, the machine, living tasks. */
#include <errno.h>
#include <stdlib.h>

#include "read/replay/summary.h"
#include "show/export/export_perfetto.h"

/* fields of TracePacket */
#define PACKET_PROCESS_TREE 2u
#define PACKET_CLOCKS	    6u
#define PACKET_TIMESTAMP    8u
#define PACKET_SEQUENCE	    10u
#define PACKET_FLAGS	    13u
#define PACKET_SYSTEM	    45u

#define CLOCK_ID_REALTIME  1u
#define CLOCK_ID_MONOTONIC 3u
#define CLOCK_ID_BOOTTIME  6u

#define TREE_PIECE_SZ (64u * 1024) /* per packet of a process tree */

int fr_perfetto_packet(struct fr_perfetto_out *to, u32 seq, u64 ns)
{
	u8 mem[6 * FR_PBUF_NUM_SZ], tag[FR_PBUF_NUM_SZ];
	struct fr_pbuf head = {.p = mem, .cap = sizeof(mem)}, outer = {.p = tag, .cap = sizeof(tag)};

	if (ns)
		fr_pbuf_num(&head, PACKET_TIMESTAMP, ns);
	fr_pbuf_num(&head, PACKET_SEQUENCE, seq);
	fr_pbuf_num(&head, PACKET_FLAGS, to->begun[seq] ? 2 : 1);
	to->begun[seq] = true;
	fr_pbuf_varint(&outer, 1 << 3 | 2);
	fr_pbuf_varint(&outer, head.len + to->packet.len);
	fr_out_mem(to->out, outer.p, outer.len);
	fr_out_mem(to->out, head.p, head.len);
	fr_out_mem(to->out, to->packet.p, to->packet.len);
	to->packet.len = 0;
	return fr_out_error(to->out);
}

/* ---- clocks and the machine ---- */

static void meta_put_clock(struct fr_pbuf *b, u32 id, u64 ns)
{
	size_t at = fr_pbuf_open(b, 1);

	fr_pbuf_num(b, 1, id);
	fr_pbuf_num(b, 2, ns);
	fr_pbuf_close(b, at);
}

/* The file's last clock sample is nearest to the events. */
static int put_clocks(struct fr_perfetto_out *to, const struct fr_export *x)
{
	struct fr_pbuf *b = &to->packet;
	const struct fr_snap_clock *c;
	size_t cnt, at;

	c = fr_snap_clocks(x->snap, &cnt);
	if (!cnt)
		return 0;
	c += cnt - 1;
	to->shift_ns = c->boot_ns - c->ts;
	at = fr_pbuf_open(b, PACKET_CLOCKS);
	meta_put_clock(b, CLOCK_ID_BOOTTIME, c->boot_ns);
	meta_put_clock(b, CLOCK_ID_MONOTONIC, c->ts);
	meta_put_clock(b, CLOCK_ID_REALTIME, c->real_ns);
	fr_pbuf_num(b, 2, CLOCK_ID_BOOTTIME);
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(to, FR_PERFETTO_SEQ_TRACK, c->boot_ns);
}

static void meta_put_fact(struct fr_pbuf *b, u32 field, const struct fr_snap *s, const char *name)
{
	const char *fact = fr_snap_fact(s, name);

	if (fact)
		fr_pbuf_text(b, field, fact, strnlen(fact, 256));
}

/* The machine's name determines the names of system calls, its kernel's release the meaning of task states. */
static int meta_put_system(struct fr_perfetto_out *to, const struct fr_export *x)
{
	struct fr_pbuf *b = &to->packet;
	size_t at = fr_pbuf_open(b, PACKET_SYSTEM), in = fr_pbuf_open(b, 1);

	fr_pbuf_str(b, 1, "Linux");
	meta_put_fact(b, 3, x->snap, "kernel");
	meta_put_fact(b, 4, x->snap, "arch");
	fr_pbuf_close(b, in);
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(to, FR_PERFETTO_SEQ_TRACK, 0);
}

/* ---- living tasks ---- */

static void meta_put_task(struct fr_pbuf *b, const struct fr_snap_task *t, struct fr_who who)
{
	size_t at;

	if (t->tid == t->task.tgid) {
		at = fr_pbuf_open(b, 1);
		fr_pbuf_num(b, 1, t->tid);
		fr_pbuf_num(b, 2, t->task.ppid);
		fr_pbuf_text(b, 3, who.comm, who.len);
		fr_pbuf_num(b, 8, !!(t->task.flags & FR_TASK_KTHREAD));
		fr_pbuf_close(b, at);
	}
	at = fr_pbuf_open(b, 2);
	fr_pbuf_num(b, 1, t->tid);
	fr_pbuf_text(b, 2, who.comm, who.len);
	fr_pbuf_num(b, 3, t->task.tgid);
	fr_pbuf_close(b, at);
}

/* Of one tid's tasks that may have been there, the one born last was: tasks are in that order. */
static bool meta_is_there(const struct fr_perfetto_out *to, size_t i, u64 begin_ns)
{
	const struct fr_perfetto_task *t = &to->task[i];
	bool is_last = i + 1 == to->task_cnt || t[1].of.tid != t->of.tid || t[1].of.start_ns > to->born_ns;

	return is_last && t->of.start_ns <= to->born_ns && fr_export_is_there(&t->of, begin_ns);
}

/* The tasks from *i on that go into one packet. */
static int put_tree(struct fr_perfetto_out *to, const struct fr_export *x, size_t *i, u64 begin_ns)
{
	struct fr_pbuf *b = &to->packet;
	size_t at;

	if (fr_pbuf_room(b, TREE_PIECE_SZ + 1024))
		return -ENOMEM;
	at = fr_pbuf_open(b, PACKET_PROCESS_TREE);
	for (; *i < to->task_cnt && b->len - at < TREE_PIECE_SZ; ++*i) {
		struct fr_perfetto_task *t = &to->task[*i];

		if (!meta_is_there(to, *i, begin_ns))
			continue;
		meta_put_task(b, &t->of, fr_export_who(x, &t->of, begin_ns));
		t->told_ns = begin_ns + to->shift_ns ?: 1;
	}
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(to, FR_PERFETTO_SEQ_TRACK, begin_ns + to->shift_ns);
}

static int meta_list_tasks(struct fr_perfetto_out *to, const struct fr_export *x)
{
	struct fr_snap_task *t = fr_export_tasks(x, &to->task_cnt);
	size_t i;

	to->task = t ? calloc(to->task_cnt + 1, sizeof(*to->task)) : NULL;
	for (i = 0; i < to->task_cnt && to->task; i++)
		to->task[i].of = t[i];
	free(t);
	return to->task ? 0 : -ENOMEM;
}

/* Those that are born later are told of at their birth: the reader would take them for others with the same number. */
static int meta_put_tasks(struct fr_perfetto_out *to, const struct fr_export *x)
{
	u64 begin_ns, end_ns;
	size_t i = 0;
	int err = meta_list_tasks(to, x);

	fr_replay_window(x->replay, &begin_ns, &end_ns);
	while (i < to->task_cnt && !err)
		err = put_tree(to, x, &i, begin_ns);
	return err;
}

struct fr_perfetto_task *fr_perfetto_task_at(struct fr_perfetto_out *to, u32 tid, u64 ts)
{
	size_t from = 0, end = to->task_cnt;

	while (from < end) {
		size_t mid = from + (end - from) / 2;
		const struct fr_snap_task *t = &to->task[mid].of;

		if (t->tid < tid || (t->tid == tid && t->start_ns <= ts))
			from = mid + 1;
		else
			end = mid;
	}
	return from && to->task[from - 1].of.tid == tid ? &to->task[from - 1] : NULL;
}

int fr_perfetto_open(struct fr_perfetto_out *to, const struct fr_export *x, u64 born_ns)
{
	int err = fr_pbuf_room(&to->packet, TREE_PIECE_SZ);

	to->out = x->out;
	to->born_ns = born_ns;
	to->task_track = calloc(1, (FR_TID_MASK + 1) / 8);
	if (err || !to->task_track)
		return -ENOMEM;
	err = put_clocks(to, x);
	err = err ?: meta_put_system(to, x);
	err = err ?: meta_put_tasks(to, x);
	return err ?: fr_perfetto_whose(to, x);
}
