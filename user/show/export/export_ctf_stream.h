/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export_ctf_stream: a CPU's stream of a CTF trace, a file of packets:
 *
 *	packet	head { magic, uuid, stream_id, instance }, context { begin, end, content, size, seq, discarded, cpu }, events
 *	event	{ id:32, time:64 } and what its class says, byte by byte
 */
#ifndef FR_EXPORT_CTF_STREAM_H
#define FR_EXPORT_CTF_STREAM_H

#include <stdbool.h>
#include <string.h>

#include "base/rows/pbuf.h"
#include "base/text/escape.h"

#define FR_CTF_UUID_SZ	 16u
#define FR_CTF_PACKET_SZ (256u * 1024) /* a packet is written when it has this size */

struct fr_ctf_stream {
	u32 cpu;
	int fd; /* -1: not begun */
	struct fr_pbuf packet;
	u64 begin_ts, end_ts;
	u64 seq;
	u64 discarded;	     /* reported so far */
	u64 discarded_total; /* according to the ring's counters */
};

/* One for each CPU. NULL: no memory. */
struct fr_ctf_stream *fr_ctf_streams_new(u32 cpu_cnt);
void fr_ctf_streams_free(struct fr_ctf_stream *s, u32 cpu_cnt); /* NULL is fine */

/* Begin an event: write its head, and reserve room for any event's rest. 0 or -ENOMEM. */
int fr_ctf_stream_event(struct fr_ctf_stream *s, u32 id, u64 ts);

/* Write the packet to the stream's file, which the first packet creates; last: report all losses. 0 or -errno. */
int fr_ctf_stream_flush(struct fr_ctf_stream *s, int dir_fd, const u8 uuid[FR_CTF_UUID_SZ], bool last);

/* ---- bytes of an event; room has been reserved ---- */

static inline void fr_ctf_put(struct fr_pbuf *b, const void *p, size_t sz)
{
	memcpy(b->p + b->len, p, sz);
	b->len += sz;
}

static inline void fr_ctf_put_u32(struct fr_pbuf *b, u32 v)
{
	fr_ctf_put(b, &v, sizeof(v));
}

static inline void fr_ctf_put_u64(struct fr_pbuf *b, u64 v)
{
	fr_ctf_put(b, &v, sizeof(v));
}

static inline void fr_ctf_put_text(struct fr_pbuf *b, const char *s, size_t len)
{
	len = strnlen(s, len);
	fr_ctf_put(b, s, len);
	fr_escape_mask((char *)b->p + b->len - len, len);
	b->p[b->len++] = 0;
}

#endif
