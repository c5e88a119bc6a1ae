/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* export_perfetto: shared by the parts of the Perfetto export: packets, and everything that is not an ftrace event. */
#ifndef FR_EXPORT_PERFETTO_H
#define FR_EXPORT_PERFETTO_H

#include "base/rows/pbuf.h"
#include "show/export/export.h"

#define FR_PERFETTO_EVENT_SZ 8192u /* of any event, encoded: a record is at most 2040 bytes, a number of 8 bytes 12 */

/* trusted_packet_sequence_id: the reader keeps separate state for each. */
enum {
	FR_PERFETTO_SEQ_FTRACE = 1,
	FR_PERFETTO_SEQ_SAMPLE = 2,
	FR_PERFETTO_SEQ_TRACK = 3,
	FR_PERFETTO_SEQ_TASK = 4, /* tasks' tracks: it takes the last one for the thread of a sequence's events */
	FR_PERFETTO_SEQ_CNT
};

/* The form in which an event is written. */
enum fr_perfetto_way {
	FR_PERFETTO_FTRACE,
	FR_PERFETTO_SAMPLE,
	FR_PERFETTO_MARK, /* an instant on flightrec's own track */
	FR_PERFETTO_TASK, /* an instant on its task's track */
	FR_PERFETTO_WAIT, /* a slice there */
	FR_PERFETTO_NOTHING,
};

struct fr_perfetto_intern; /* opaque: frames and stacks that the reader already knows */

/* A task of the files. */
struct fr_perfetto_task {
	struct fr_snap_task of;
	u64 told_ns; /* from when on the reader knows it: the beginning, or behind its birth; CLOCK_BOOTTIME; 0: it does not */
	bool has_whose;
	bool has_track;
	bool has_exited; /* its last switch is still to come */
	bool was_last;	 /* of a process: all its threads have exited */
	u32 exited_cnt;	 /* of a process: that many threads have exited, but not switched for the last time */
};

struct fr_perfetto_out {
	struct fr_out *out;
	struct fr_pbuf packet; /* the fields of the packet being built */
	u64 shift_ns;	       /* from the recording clock to CLOCK_BOOTTIME */
	u64 born_ns;	       /* the reader hears of births from then on */
	bool begun[FR_PERFETTO_SEQ_CNT];
	struct fr_frames *frames; /* of the export */
	struct fr_perfetto_intern *intern;
	struct fr_perfetto_task *task; /* by tid and start */
	size_t task_cnt;
	u8 *task_track; /* a bit per tid, for tasks that no file lists: its track has been described */
};

/* Write clocks, the machine, processes and threads born until then, our own track. 0 or -errno. */
int fr_perfetto_open(struct fr_perfetto_out *to, const struct fr_export *x, u64 born_ns);
void fr_perfetto_close(struct fr_perfetto_out *to);

/* Write the contents of `packet` as one packet of a sequence, at time ns (0: none). 0 or -errno. */
int fr_perfetto_packet(struct fr_perfetto_out *to, u32 seq, u64 ns);

/* The task that had a tid at a time. NULL: it is in no list. */
struct fr_perfetto_task *fr_perfetto_task_at(struct fr_perfetto_out *to, u32 tid, u64 ts);

/* Write one row at wall time ns: a sample with its stacks; an event without a length, where `way` says. 0 or -errno. */
int fr_perfetto_sample(struct fr_perfetto_out *to, u64 ns, const struct fr_view *v, const struct fr_row *r);
int fr_perfetto_instant(struct fr_perfetto_out *to, u64 ns, const struct fr_view *v, const struct fr_row *r,
			enum fr_perfetto_way way);

/* Write a wait that ended then: a slice on its task's track, with its call, object, waker and stack. 0 or -errno. */
int fr_perfetto_wait(struct fr_perfetto_out *to, u64 ns, const struct fr_view *v, const struct fr_row *r);

/* Write whose the processes are that the reader knows by now, as labels: "pod=api-0"; of each once. 0 or -errno. */
int fr_perfetto_whose(struct fr_perfetto_out *to, const struct fr_export *x);

/* Write slices for what is missing from the files: before each CPU's horizon, and in gaps. 0 or -errno. */
int fr_perfetto_losses(struct fr_perfetto_out *to, const struct fr_export *x);

/* The same for damage found while reading, at the end. */
int fr_perfetto_damage(struct fr_perfetto_out *to, const struct fr_export *x);

/* The first row of a CPU in the window. */
struct fr_perfetto_first {
	u64 ns; /* 0: there is none */
	u32 tid;
};

/*
 * Write a slice for who has a CPU from from_ns on, if that is known: until until_ns, or until events are missing. At the end. 0
 * or -errno.
 */
int fr_perfetto_held(struct fr_perfetto_out *to, const struct fr_export *x, u32 cpu, u64 from_ns, u64 until_ns,
		     struct fr_perfetto_first first);

#endif
