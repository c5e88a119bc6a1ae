/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* export_perfetto: shared by the parts of the Perfetto export: packets, and everything that is not an ftrace event. */
#ifndef FR_EXPORT_PERFETTO_H
#define FR_EXPORT_PERFETTO_H

#include "flow/export/export.h"
#include "pure/rows/pbuf.h"

#define FR_PERFETTO_EVENT_SZ 8192u /* of any event, encoded: a record is at most 2040 bytes, a number of 8 bytes 12 */

/* trusted_packet_sequence_id: the reader keeps separate state for each. */
enum { FR_PERFETTO_SEQ_FTRACE = 1, FR_PERFETTO_SEQ_SAMPLE = 2, FR_PERFETTO_SEQ_TRACK = 3, FR_PERFETTO_SEQ_CNT };

/* The form in which an event is written. */
enum fr_perfetto_way {
	FR_PERFETTO_FTRACE,
	FR_PERFETTO_SAMPLE,
	FR_PERFETTO_MARK, /* an instant on flightrec's own track */
	FR_PERFETTO_TASK, /* an instant on its task's track */
	FR_PERFETTO_NOTHING,
};

struct fr_perfetto_intern; /* opaque: frames and stacks that the reader already knows */

struct fr_perfetto_out {
	struct fr_out *out;
	struct fr_pbuf packet; /* the fields of the packet being built */
	u64 shift_ns;	       /* from the recording clock to CLOCK_BOOTTIME */
	bool begun[FR_PERFETTO_SEQ_CNT];
	struct fr_frames *frames; /* of the export */
	struct fr_perfetto_intern *intern;
	u8 *task_track; /* a bit per tid: its track has been described */
};

/* Write clocks, the machine, processes and threads, our own track. 0 or -errno. */
int fr_perfetto_open(struct fr_perfetto_out *to, const struct fr_export *x);
void fr_perfetto_close(struct fr_perfetto_out *to);

/* Write the contents of `packet` as one packet of a sequence, at time ns (0: none). 0 or -errno. */
int fr_perfetto_packet(struct fr_perfetto_out *to, u32 seq, u64 ns);

/* Write one row at wall time ns: a sample with its stacks; an event without a length, where `way` says. 0 or -errno. */
int fr_perfetto_sample(struct fr_perfetto_out *to, u64 ns, const struct fr_view *v, const struct fr_row *r);
int fr_perfetto_instant(struct fr_perfetto_out *to, u64 ns, const struct fr_view *v, const struct fr_row *r,
			enum fr_perfetto_way way);

/* Write slices for what is missing from the files: before each CPU's horizon, and in gaps. 0 or -errno. */
int fr_perfetto_losses(struct fr_perfetto_out *to, const struct fr_export *x);

/* The same for damage found while reading, at the end. */
int fr_perfetto_damage(struct fr_perfetto_out *to, const struct fr_export *x);

#endif
