/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/snapshot/klog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/set/vec.h"
#include "base/text/kmsg.h"
#include "base/text/redact.h"
#include "base/text/units.h"
#include "sys/now.h"

#define KMSG	  "/dev/kmsg"
#define RECORD_SZ 8192u		  /* the kernel's are shorter */
#define READ_NS	  (FR_SEC_NS / 2) /* of a log that grows faster than it is read, what is there by then */

enum { TOLD_RECORDS, TOLD_COUNTS };

/* A record as it is told; its text follows. */
struct told {
	u64 seq, stamp_ns;
	u16 facility, len;
	u8 level, flags;
	u8 reserved[2];
};

struct fr_klog {
	struct fr_klog_ask ask;
	struct fr_klog_counts counts;
	bool is_read;
	struct fr_vec line; /* struct fr_snap_klog; text: until all is read, where it is in texts */
	struct fr_vec texts;
};

/* ---- the runner ---- */

/* The last records, one behind the other from `from` on. */
struct window {
	struct fr_vec bytes;
	size_t from;
};

static void window_drop_first(struct window *w)
{
	struct told t;

	memcpy(&t, (char *)w->bytes.at + w->from, sizeof(t));
	w->from += sizeof(t) + t.len;
	if (w->from < FR_KLOG_MAX_SZ)
		return;
	memmove(w->bytes.at, (char *)w->bytes.at + w->from, w->bytes.cnt - w->from);
	w->bytes.cnt -= w->from;
	w->from = 0;
}

static int window_add(struct window *w, const struct told *t, const char *text, u64 *older)
{
	int err = fr_vec_add(&w->bytes, t, sizeof(*t)) ?: fr_vec_add(&w->bytes, text, t->len);

	for (; !err && w->bytes.cnt - w->from > FR_KLOG_MAX_SZ; ++*older)
		window_drop_first(w);
	return err;
}

static int klog_add_record(struct fr_klog *k, struct window *w, const char *record, size_t sz)
{
	struct fr_kmsg m;
	struct told t;
	char text[FR_KMSG_TEXT_MAX];

	if (fr_kmsg_parse(record, sz, &m))
		return 0;
	t = (struct told){.seq = m.seq, .stamp_ns = m.stamp_ns, .facility = m.facility, .level = m.level, .flags = m.flags};
	t.len = fr_redact(k->ask.redact, FR_REDACT_LINE, m.text, m.len, text, sizeof(text), &k->counts.redacted);
	return window_add(w, &t, text, &k->counts.older);
}

/* 0, or why not all of it was read (-errno). */
static int klog_read_all(struct fr_klog *k, struct window *w, int fd)
{
	u64 until_ns = fr_now_ns(CLOCK_MONOTONIC) + READ_NS;
	char record[RECORD_SZ];
	ssize_t n;
	int err = 0;

	while (!err) {
		n = read(fd, record, sizeof(record));
		if (n < 0 && errno == EPIPE)
			k->counts.lost++;
		else if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		else if (!n)
			return 0;
		else
			err = klog_add_record(k, w, record, n);
		if (fr_now_ns(CLOCK_MONOTONIC) > until_ns)
			err = err ?: -ETIME;
	}
	return err;
}

static void klog_run(void *arg, u32 item, struct fr_errand_out *to)
{
	struct window w = {.bytes.item_sz = 1};
	struct fr_klog *k = arg;
	int fd = open(KMSG, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	(void)item;
	if (fd < 0 && (errno == EPERM || errno == EACCES))
		fr_errand_deny(to);
	else if (fd < 0)
		fr_errand_fail(to);
	if (fd < 0)
		return;
	if (klog_read_all(k, &w, fd))
		fr_errand_fail(to);
	close(fd);
	fr_errand_tell(to, TOLD_RECORDS, (char *)w.bytes.at + w.from, w.bytes.cnt - w.from);
	fr_errand_tell(to, TOLD_COUNTS, &k->counts, sizeof(k->counts));
	fr_vec_free(&w.bytes);
}

/* ---- the asker ---- */

static u64 klog_ts(const struct fr_klog *k, u64 stamp_ns, u64 *uncertainty_ns)
{
	*uncertainty_ns = FR_KLOG_UNJOINED;
	return k->ask.clock ? fr_logclock_mono(k->ask.clock, stamp_ns, uncertainty_ns) : stamp_ns;
}

/* Its text may be anything, but ends where it ends. */
static int klog_take_record(struct fr_klog *k, const struct told *t, const char *text)
{
	struct fr_snap_klog l = {
		.seq = t->seq,
		.stamp_ns = t->stamp_ns,
		.facility = t->facility,
		.level = t->level & 7,
		.flags = t->flags & FR_KMSG_PART,
	};
	size_t at = k->texts.cnt;
	int err;

	l.ts = klog_ts(k, t->stamp_ns, &l.uncertainty_ns);
	err = fr_vec_add(&k->texts, text, strnlen(text, t->len)) ?: fr_vec_add(&k->texts, "", 1);
	l.text = (const char *)at;
	return err ?: fr_vec_add(&k->line, &l, 1);
}

static void klog_take_records(struct fr_klog *k, const u8 *data, size_t sz)
{
	struct told t;
	int err = 0;

	while (!err && sz >= sizeof(t)) {
		memcpy(&t, data, sizeof(t));
		if (t.len > sz - sizeof(t))
			return;
		err = klog_take_record(k, &t, (const char *)data + sizeof(t));
		data += sizeof(t) + t.len;
		sz -= sizeof(t) + t.len;
	}
}

static void klog_take(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	struct fr_klog *k = arg;

	(void)item;
	k->is_read = true;
	if (kind == TOLD_RECORDS)
		klog_take_records(k, data, sz);
	else if (kind == TOLD_COUNTS && sz == sizeof(k->counts))
		memcpy(&k->counts, data, sz);
}

static void klog_end(void *arg, u32 item)
{
	(void)item;
	((struct fr_klog *)arg)->is_read = true;
}

static void klog_miss(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	struct fr_klog *k = arg;

	(void)item;
	(void)step;
	if (k->ask.unread)
		fr_unread_add(k->ask.unread, 0, "kmsg", why);
}

static u32 klog_one(void *arg)
{
	(void)arg;
	return 1;
}

struct fr_klog *fr_klog_new(const struct fr_klog_ask *ask, struct fr_errand_job job[FR_KLOG_JOB_CNT])
{
	struct fr_klog *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->ask = *ask;
	k->line.item_sz = sizeof(struct fr_snap_klog);
	k->texts.item_sz = 1;
	job[0] = (struct fr_errand_job){
		.arg = k, .cnt = klog_one, .run = klog_run, .take = klog_take, .end = klog_end, .miss = klog_miss};
	return k;
}

void fr_klog_free(struct fr_klog *k)
{
	if (!k)
		return;
	fr_vec_free(&k->line);
	fr_vec_free(&k->texts);
	free(k);
}

bool fr_klog_get(struct fr_klog *k, const struct fr_snap_klog **line, size_t *cnt, struct fr_klog_counts *counts)
{
	struct fr_snap_klog *l = k->line.at;
	size_t i;

	for (i = 0; i < k->line.cnt; i++)
		l[i].text = (const char *)k->texts.at + (size_t)l[i].text;
	*line = l;
	*cnt = k->line.cnt;
	*counts = k->counts;
	return k->is_read;
}

int fr_klog_clock_show(const struct fr_logclock *c, char *buf, size_t sz)
{
	return snprintf(buf, sz, "%llu %llu %llu", c->local_ns, c->mono_ns, c->uncertainty_ns) < (int)sz ? 0 : -ENOSPC;
}

int fr_klog_clock_parse(const char *text, struct fr_logclock *c)
{
	return sscanf(text, "%llu %llu %llu", &c->local_ns, &c->mono_ns, &c->uncertainty_ns) == 3 ? 0 : -EINVAL;
}
