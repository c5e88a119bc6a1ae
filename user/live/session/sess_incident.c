/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/sess_incident.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/incident.h"
#include "flood.h"
#include "incident.h"
#include "live/session/bpffs.h"
#include "live/session/sess_int.h"

#define LOCK_NAME "incident-lock"

FR_INLINE void *fr_incident_at(const struct fr_inc_log *log, u32 nr)
{
	return nr <= log->cnt ? (struct fr_incident *)log->map + nr : NULL;
}

static struct fr_inc_log log_of(const struct fr_sess *s)
{
	return (struct fr_inc_log){s->inc, s->inc, s->inc_cnt};
}

bool fr_sess_has_incidents(const struct fr_sess *s)
{
	return s->inc != NULL;
}

/* ---- what is in no record ---- */

/* A map that others change meanwhile ends in any case. */
#define WALK_MAX 4096u

/* The next entry of a map after *before, NULL: its first; *before is the caller's key then. False: there is none. */
static bool incident_next_entry(int fd, void **before, void *key, void *value, u32 *walked)
{
	while (fd >= 0 && (*walked)++ < WALK_MAX && !bpf_map_get_next_key(fd, *before, key)) {
		*before = key;
		if (!bpf_map_lookup_elem(fd, key, value))
			return true;
	}
	return false;
}

static u64 pending_equals(const struct fr_sess *s)
{
	unsigned char key[FR_FLOOD_OF_SZ];
	int fd = fr_sess_get_pin(s, "incident-equal");
	void *before = NULL;
	struct fr_equal e;
	u64 sum = 0;
	u32 walked = 0;

	while (incident_next_entry(fd, &before, key, &e, &walked))
		sum += e.series.pending;
	if (fd >= 0)
		close(fd);
	return sum;
}

static int incident_by_cnt(const void *a, const void *b)
{
	const struct fr_squeezed_by *x = a, *y = b;

	return x->cnt == y->cnt ? 0 : x->cnt > y->cnt ? -1 : 1;
}

u32 fr_sess_incident_squeezed(const struct fr_sess *s, struct fr_squeezed_by out[FR_SQUEEZED_MAX])
{
	int fd = fr_sess_get_pin(s, "incident-squeezed");
	struct fr_squeezed_key key;
	void *before = NULL;
	struct fr_squeezed q;
	u32 cnt = 0, walked = 0;

	while (cnt < FR_SQUEEZED_MAX && incident_next_entry(fd, &before, &key, &q, &walked)) {
		out[cnt] = (struct fr_squeezed_by){key, q.cnt};
		out[cnt++].by.comm[FR_COMM_SZ - 1] = 0;
	}
	if (fd >= 0)
		close(fd);
	qsort(out, cnt, sizeof(*out), incident_by_cnt);
	return cnt;
}

int fr_sess_flush_incidents(const struct fr_sess *s)
{
	u64 none = 0;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &none, .ctx_size_in = sizeof(none));
	int fd = s->inc ? fr_sess_get_pin(s, "prog-fr_incident_flush") : -ENOENT, err = 0;

	if (fd < 0)
		return fd;
	if (bpf_prog_test_run_opts(fd, &opts))
		err = -errno;
	close(fd);
	return err;
}

void fr_sess_incident_unrecorded(const struct fr_sess *s, struct fr_incident_counts *out)
{
	int fd = fr_sess_get_pin(s, "incident-squeezed");
	struct fr_squeezed_key key;
	void *before = NULL;
	struct fr_squeezed q;
	u32 walked = 0;

	out->pending = pending_equals(s);
	while (incident_next_entry(fd, &before, &key, &q, &walked)) {
		out->squeezed += q.cnt;
		out->pending += q.series.pending;
	}
	if (fd >= 0)
		close(fd);
}

int fr_sess_incident_counts(const struct fr_sess *s, struct fr_incident_counts *out)
{
	struct fr_incident_head *h = s->inc;
	u32 i;

	if (!h)
		return -ENOENT;
	*out = (struct fr_incident_counts){.cnt = s->inc_cnt, .epoch = h->epoch};
	/* loaded before next, so never more than the next seen */
	out->skipped = fr_load(&h->skipped);
	out->saved = fr_load(&h->saved);
	out->next = fr_load(&h->next);
	out->merged = fr_load(&h->merged);
	for (i = 0; i < FR_INCIDENT_KIND_MAX; i++) {
		out->drop[i] = fr_load(&h->drop[i]);
		out->dropped += out->drop[i];
	}
	if (out->saved > out->next) /* damage */
		out->saved = out->next;
	return 0;
}

enum fr_incident_read fr_sess_incident(const struct fr_sess *s, u64 seq, struct fr_incident *out)
{
	const struct fr_inc_log log = log_of(s);
	enum fr_incident_read got = s->inc ? fr_incident_read(&log, seq, out) : FR_INCIDENT_GONE;

	if (got == FR_INCIDENT_GOT)
		fr_incident_tidy(out);
	return got;
}

int fr_sess_incidents(const struct fr_sess *s, u64 from, struct fr_incident **out, size_t *cnt)
{
	struct fr_incident_counts c;
	u64 seq;

	if (fr_sess_incident_counts(s, &c))
		return -ENOENT;
	seq = c.next > c.cnt ? c.next - c.cnt : 0;
	if (seq < from)
		seq = from;
	*cnt = 0;
	*out = calloc(c.cnt + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (; seq < c.next; seq++)
		*cnt += fr_sess_incident(s, seq, &(*out)[*cnt]) == FR_INCIDENT_GOT;
	return 0;
}

int fr_sess_incident_lock(const struct fr_sess *s)
{
	/* not by its path: if it has been ended, that may be another one's */
	if (!s->inc)
		return -ENOENT;
	if (mkdirat(s->dir_fd, LOCK_NAME, 0700) && errno != EEXIST)
		return -errno;
	return fr_bpffs_lock(s->dir_fd, LOCK_NAME, LOCK_EX | LOCK_NB);
}

/* Counted before it is freed: a kill between the two counts it twice but loses nothing. */
void fr_sess_incident_recycle(struct fr_sess *s, u64 upto, u64 skipped)
{
	const struct fr_inc_log log = log_of(s);

	if (!s->inc)
		return;
	if (skipped)
		fr_count(&s->inc->skipped, skipped);
	fr_incident_recycle(&log, upto);
}

/* ---- the bell ---- */

struct fr_bell {
	struct ring_buffer *rb;
	int fd;
};

static int heard(void *ctx, void *data, size_t sz)
{
	(void)ctx;
	(void)data;
	(void)sz;
	return 0;
}

int fr_bell_open(const struct fr_sess *s, struct fr_bell **out)
{
	struct fr_bell *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	b->fd = fr_sess_get_pin(s, "incident-bell");
	if (b->fd >= 0)
		b->rb = ring_buffer__new(b->fd, heard, NULL, NULL);
	if (!b->rb) {
		err = b->fd < 0 ? b->fd : -errno;
		fr_bell_close(b);
		return err;
	}
	*out = b;
	return 0;
}

void fr_bell_close(struct fr_bell *b)
{
	if (!b)
		return;
	ring_buffer__free(b->rb);
	if (b->fd >= 0)
		close(b->fd);
	free(b);
}

int fr_bell_fd(const struct fr_bell *b)
{
	return ring_buffer__epoll_fd(b->rb);
}

void fr_bell_hear(struct fr_bell *b)
{
	ring_buffer__consume(b->rb);
}

/* ---- adding ---- */

static int run_put(const struct fr_sess *s, u64 key)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &key, .ctx_size_in = sizeof(key));
	int fd = fr_sess_get_pin(s, "prog-fr_incident_put"), err = 0;

	if (fd < 0)
		return fd;
	if (bpf_prog_test_run_opts(fd, &opts))
		err = -errno;
	close(fd);
	return err ?: opts.retval ? 0 : -ENOSPC;
}

/* Each call has a number of its own, so concurrent ones do not mix. */
int fr_sess_put_incident(struct fr_sess *s, const struct fr_incident *inc)
{
	u64 key;
	int fd, err = 0;

	if (!s->inc)
		return -ENOENT;
	if (getrandom(&key, sizeof(key), 0) != sizeof(key))
		return -errno;
	fd = fr_sess_get_pin(s, "incident-ask");
	if (fd < 0)
		return fd;
	if (bpf_map_update_elem(fd, &key, inc, BPF_ANY))
		err = -errno;
	close(fd);
	return err ?: run_put(s, key);
}
