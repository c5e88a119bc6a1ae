/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The beginning of a Perfetto trace: clocks, the machine, living tasks. */
#include <errno.h>
#include <stdlib.h>

#include "flow/export/export_perfetto.h"
#include "flow/replay/summary.h"

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

static void put_clock(struct fr_pbuf *b, u32 id, u64 ns)
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
	put_clock(b, CLOCK_ID_BOOTTIME, c->boot_ns);
	put_clock(b, CLOCK_ID_MONOTONIC, c->ts);
	put_clock(b, CLOCK_ID_REALTIME, c->real_ns);
	fr_pbuf_num(b, 2, CLOCK_ID_BOOTTIME);
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(to, FR_PERFETTO_SEQ_TRACK, c->boot_ns);
}

static void put_fact(struct fr_pbuf *b, u32 field, const struct fr_snap *s, const char *name)
{
	const char *fact = fr_snap_fact(s, name);

	if (fact)
		fr_pbuf_mem(b, field, fact, strnlen(fact, 256));
}

/* The machine's name determines the names of system calls, its kernel's release the meaning of task states. */
static int put_system(struct fr_perfetto_out *to, const struct fr_export *x)
{
	struct fr_pbuf *b = &to->packet;
	size_t at = fr_pbuf_open(b, PACKET_SYSTEM), in = fr_pbuf_open(b, 1);

	fr_pbuf_str(b, 1, "Linux");
	put_fact(b, 3, x->snap, "kernel");
	put_fact(b, 4, x->snap, "arch");
	fr_pbuf_close(b, in);
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(to, FR_PERFETTO_SEQ_TRACK, 0);
}

/* ---- living tasks ---- */

/*
 * Of the tasks from i on with the same tid, the one that is there at begin_ns, or else the first one after it; *next: the first
 * with the next tid.
 */
static size_t who_is_there(const struct fr_snap_task *t, size_t cnt, size_t i, u64 begin_ns, size_t *next)
{
	size_t found = cnt, j;

	for (j = i; j < cnt && t[j].tid == t[i].tid; j++) {
		if (fr_export_is_there(&t[j], begin_ns) && (found == cnt || t[j].start_ns <= begin_ns))
			found = j;
	}
	*next = j;
	return found;
}

static void put_task(struct fr_pbuf *b, const struct fr_snap_task *t, struct fr_who who)
{
	size_t at;

	if (t->tid == t->task.tgid) {
		at = fr_pbuf_open(b, 1);
		fr_pbuf_num(b, 1, t->tid);
		fr_pbuf_num(b, 2, t->task.ppid);
		fr_pbuf_mem(b, 3, who.comm, who.len);
		fr_pbuf_num(b, 8, !!(t->task.flags & FR_TASK_KTHREAD));
		fr_pbuf_close(b, at);
	}
	at = fr_pbuf_open(b, 2);
	fr_pbuf_num(b, 1, t->tid);
	fr_pbuf_mem(b, 2, who.comm, who.len);
	fr_pbuf_num(b, 3, t->task.tgid);
	fr_pbuf_close(b, at);
}

/* The tasks from *i on that go into one packet. */
static int put_tree(struct fr_perfetto_out *to, const struct fr_export *x, const struct fr_snap_task *t, size_t cnt, size_t *i,
		    u64 begin_ns)
{
	struct fr_pbuf *b = &to->packet;
	size_t at, who;

	if (fr_pbuf_room(b, TREE_PIECE_SZ + 1024))
		return -ENOMEM;
	at = fr_pbuf_open(b, PACKET_PROCESS_TREE);
	while (*i < cnt && b->len - at < TREE_PIECE_SZ) {
		who = who_is_there(t, cnt, *i, begin_ns, i);
		if (who < cnt)
			put_task(b, &t[who], fr_export_who(x, &t[who], begin_ns));
	}
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(to, FR_PERFETTO_SEQ_TRACK, begin_ns + to->shift_ns);
}

static int put_tasks(struct fr_perfetto_out *to, const struct fr_export *x)
{
	size_t cnt = 0, i = 0;
	struct fr_snap_task *t = fr_export_tasks(x, &cnt);
	u64 begin_ns, end_ns;
	int err = t ? 0 : -ENOMEM;

	fr_replay_window(x->replay, &begin_ns, &end_ns);
	while (i < cnt && !err)
		err = put_tree(to, x, t, cnt, &i, begin_ns);
	free(t);
	return err;
}

int fr_perfetto_open(struct fr_perfetto_out *to, const struct fr_export *x)
{
	int err = fr_pbuf_room(&to->packet, TREE_PIECE_SZ);

	to->out = x->out;
	to->task_track = calloc(1, (FR_TID_MASK + 1) / 8);
	if (err || !to->task_track)
		return -ENOMEM;
	err = put_clocks(to, x);
	err = err ?: put_system(to, x);
	return err ?: put_tasks(to, x);
}
