/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* export_ctf_stream: writes a CPU's packets to its file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "show/export/export_ctf_stream.h"
#include "sys/fd.h"

#define MAGIC	      0xC1FC1FC1u
#define HEAD_SZ	      (4 + FR_CTF_UUID_SZ + 4 + 8)
#define CONTEXT_SZ    (6 * 8 + 4)
#define EVENT_SZ_MOST (16u * 1024) /* of any event: a record is at most 2040 bytes and has two stacks of 127 frames */

struct fr_ctf_stream *fr_ctf_streams_new(u32 cpu_cnt)
{
	struct fr_ctf_stream *s = calloc(cpu_cnt, sizeof(*s));
	u32 i;

	for (i = 0; s && i < cpu_cnt; i++) {
		s[i].cpu = i;
		s[i].fd = -1;
	}
	return s;
}

void fr_ctf_streams_free(struct fr_ctf_stream *s, u32 cpu_cnt)
{
	u32 i;

	for (i = 0; s && i < cpu_cnt; i++) {
		if (s[i].fd >= 0)
			close(s[i].fd);
		free(s[i].packet.p);
	}
	free(s);
}

int fr_ctf_stream_event(struct fr_ctf_stream *s, u32 id, u64 ts)
{
	if (fr_pbuf_room(&s->packet, EVENT_SZ_MOST))
		return -ENOMEM;
	if (!s->packet.len)
		s->begin_ts = ts;
	s->end_ts = ts;
	fr_ctf_put_u32(&s->packet, id);
	fr_ctf_put_u64(&s->packet, ts);
	return 0;
}

/* ---- writing ---- */

static int stream_open_file(struct fr_ctf_stream *s, int dir_fd)
{
	char name[32];

	snprintf(name, sizeof(name), "cpu_%u", s->cpu);
	s->fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return s->fd < 0 ? -errno : 0;
}

int fr_ctf_stream_flush(struct fr_ctf_stream *s, int dir_fd, const u8 uuid[FR_CTF_UUID_SZ], bool last)
{
	u8 mem[HEAD_SZ + CONTEXT_SZ];
	struct fr_pbuf head = {.p = mem, .cap = sizeof(mem)};
	u64 bits = (sizeof(mem) + s->packet.len) * 8;
	int err = s->fd < 0 ? stream_open_file(s, dir_fd) : 0;

	if (last)
		s->discarded = s->discarded_total;
	fr_ctf_put_u32(&head, MAGIC);
	fr_ctf_put(&head, uuid, FR_CTF_UUID_SZ);
	fr_ctf_put_u32(&head, 0);
	fr_ctf_put_u64(&head, s->cpu);
	fr_ctf_put_u64(&head, s->begin_ts);
	fr_ctf_put_u64(&head, s->end_ts);
	fr_ctf_put_u64(&head, bits);
	fr_ctf_put_u64(&head, bits);
	fr_ctf_put_u64(&head, s->seq++);
	fr_ctf_put_u64(&head, s->discarded);
	fr_ctf_put_u32(&head, s->cpu);
	err = err ?: fr_write_all(s->fd, mem, head.len);
	err = err ?: fr_write_all(s->fd, s->packet.p, s->packet.len);
	s->packet.len = 0;
	return err;
}
