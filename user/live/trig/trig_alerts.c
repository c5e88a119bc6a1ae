/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* trig_alerts: the queue of alerts. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "live/session/sess_int.h"
#include "live/trig/trig.h"

struct fr_alerts {
	struct ring_buffer *rb;
	int fd;
	fr_alert_fn fn; /* while alerts are taken */
	void *arg;
	u32 bad;
};

static bool alert_ok(const struct fr_alert *a)
{
	return a->kind > 0 && a->kind < FR_TRIGGER_KIND_CNT && a->kframe_cnt <= FR_ALERT_FRAME_MAX &&
	       a->uframe_cnt <= FR_ALERT_FRAME_MAX;
}

/* Terminate texts; clear frames after the last. */
static void alerts_tidy(struct fr_alert *a)
{
	a->comm[sizeof(a->comm) - 1] = 0;
	a->text[sizeof(a->text) - 1] = 0;
	a->exe[sizeof(a->exe) - 1] = 0;
	memset(a->kframe + a->kframe_cnt, 0, (FR_ALERT_FRAME_MAX - a->kframe_cnt) * sizeof(*a->kframe));
	memset(a->uframe + a->uframe_cnt, 0, (FR_ALERT_FRAME_MAX - a->uframe_cnt) * sizeof(*a->uframe));
}

/* The queue is shared memory: check a copy. */
static int alerts_take_one(void *ctx, void *data, size_t sz)
{
	struct fr_alerts *q = ctx;
	struct fr_alert a;

	if (sz == sizeof(a))
		memcpy(&a, data, sizeof(a));
	if (sz != sizeof(a) || !alert_ok(&a)) {
		q->bad++;
		return 0;
	}
	alerts_tidy(&a);
	q->fn(q->arg, &a);
	return 0;
}

static int check_queue(int fd)
{
	struct bpf_map_info info = {};
	u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	return info.type == BPF_MAP_TYPE_RINGBUF && info.max_entries == FR_ALERT_QUEUE_SZ ? 0 : -EPROTO;
}

static int open_queue(struct fr_sess *s, struct fr_alerts *q)
{
	int err;

	q->fd = fr_sess_get_pin(s, "alerts");
	if (q->fd < 0)
		return q->fd;
	err = check_queue(q->fd);
	if (err)
		return err;
	q->rb = ring_buffer__new(q->fd, alerts_take_one, q, NULL);
	return q->rb ? 0 : -errno;
}

int fr_alerts_open(struct fr_sess *s, struct fr_alerts **out)
{
	struct fr_alerts *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return -ENOMEM;
	err = open_queue(s, q);
	if (err) {
		fr_err("cannot read the triggers' queue of session '%s': %s: end it with `flightrec stop -n %s`",
		       fr_sess_name(s), strerror(-err), fr_sess_name(s));
		fr_alerts_close(q);
		return err;
	}
	*out = q;
	return 0;
}

void fr_alerts_close(struct fr_alerts *q)
{
	if (!q)
		return;
	ring_buffer__free(q->rb);
	if (q->fd >= 0)
		close(q->fd);
	free(q);
}

/* libbpf's epoll, readable when the queue is. */
int fr_alerts_fd(const struct fr_alerts *q)
{
	return ring_buffer__epoll_fd(q->rb);
}

int fr_alerts_take(struct fr_alerts *q, fr_alert_fn fn, void *arg)
{
	u32 bad = q->bad;
	int cnt;

	q->fn = fn;
	q->arg = arg;
	cnt = ring_buffer__consume(q->rb);
	return cnt >= 0 && q->bad != bad ? -EBADMSG : cnt;
}
