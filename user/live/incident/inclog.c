/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "live/incident/inclog.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/err.h"
#include "base/set/vec.h"
#include "base/text/units.h"
#include "live/snapshot/clock_sample.h"
#include "read/snapfile/incfile.h"
#include "sys/bootid.h"
#include "sys/child.h"
#include "sys/patience.h"

#define NAP_MS 5

struct fr_inclog {
	struct fr_sess *s;
	struct fr_incfile *file;
	struct fr_incident_item item; /* boot, session, epoch: the same in all items */
	struct fr_out *out;	      /* for lines */
	char *redact;		      /* words of secret keys, NULL: no further ones */
	u64 on_disk;		      /* smaller numbers are in the journal */
};

/* ---- the part that all items of a session share ---- */

/* 0 or -errno. */
static int fill_origin(const struct fr_sess *s, struct fr_incident_item *item)
{
	struct fr_incident_counts c;
	int err;

	memset(item, 0, sizeof(*item));
	err = fr_boot_id(item->boot, sizeof(item->boot));
	snprintf(item->session, sizeof(item->session), "%s", fr_sess_name(s));
	if (!fr_sess_incident_counts(s, &c))
		item->epoch = c.epoch;
	return err;
}

/* Wall time minus recording clock, 0: unknown. */
static u64 wall_ahead(struct fr_sess *s)
{
	struct fr_snap_clock c;

	return fr_clock_sample(s, &c) ? 0 : c.real_ns - c.ts;
}

static void fill_item(struct fr_incident_item *item, const struct fr_incident *rec, u64 ahead, const char *redact)
{
	u32 cnt = 0;

	item->rec = *rec;
	fr_incident_redact(&item->rec, redact, &cnt);
	item->seq = rec->done - 1;
	item->wall_ns = ahead ? rec->ts + ahead : 0;
}

/* ---- saving ---- */

int fr_inclog_open(struct fr_sess *s, const char *dir, u64 max_sz, struct fr_inclog **out)
{
	struct fr_inclog *l;
	int err;

	if (!fr_sess_has_incidents(s))
		return -ENOENT;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->s = s;
	l->out = malloc(sizeof(*l->out));
	l->redact = fr_sess_fact(s, "redact");
	err = l->out ? fr_incfile_open(dir, max_sz, &l->file) : -ENOMEM;
	err = err ?: fill_origin(s, &l->item);
	if (err)
		fr_inclog_close(l);
	else
		*out = l;
	return err;
}

void fr_inclog_close(struct fr_inclog *l)
{
	if (!l)
		return;
	fr_incfile_close(l->file);
	free(l->out);
	free(l->redact);
	free(l);
}

void fr_inclog_limit(struct fr_inclog *l, u64 max_sz)
{
	fr_incfile_limit(l->file, max_sz);
}

/* A line of the journal: is it of this session, and of this epoch? */
static void see_line(void *arg, const char *line, size_t len)
{
	struct fr_inclog *l = arg;
	struct fr_incident_item item;

	if (fr_incident_parse(line, len, &item) || item.epoch != l->item.epoch || strcmp(item.boot, l->item.boot))
		return;
	if (item.seq >= l->on_disk)
		l->on_disk = item.seq + 1;
}

static int inclog_add_line(struct fr_inclog *l, const struct fr_incident *rec, u64 ahead)
{
	char *text;
	size_t sz;
	int err;

	fill_item(&l->item, rec, ahead, l->redact);
	fr_out_init_mem(l->out);
	fr_incident_json(l->out, &l->item);
	text = fr_out_take_mem(l->out, &sz);
	err = text ? fr_incfile_add(l->file, text, sz) : -ENOMEM;
	free(text);
	return err;
}

#define NO_GRACE_NS 100000000L

/* Wait for all programs running now; where the kernel does not tell (nohz_full), for longer than any runs. */
static void grace(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&(struct timespec){.tv_nsec = NO_GRACE_NS}, NULL);
}

/*
 * Turn records from *seq on into lines for the journal, up to the log's end or an unfinished record. After a grace period, skip
 * unfinished records.
 */
static int inclog_add_lines(struct fr_inclog *l, u64 *seq, u64 next, u64 *skipped)
{
	u64 ahead = wall_ahead(l->s), waited = ~0ULL;
	enum fr_incident_read got;
	struct fr_incident rec;
	int err = 0;

	while (*seq < next && !err) {
		got = fr_sess_incident(l->s, *seq, &rec);
		if (got == FR_INCIDENT_OPEN && waited != *seq) {
			grace();
			waited = *seq;
			continue;
		}
		if (got == FR_INCIDENT_GOT && *seq >= l->on_disk)
			err = inclog_add_line(l, &rec, ahead);
		else if (got != FR_INCIDENT_GOT)
			++*skipped;
		if (!err)
			++*seq;
	}
	return err;
}

static int inclog_save(struct fr_inclog *l)
{
	struct fr_incident_counts c;
	u64 seq, skipped = 0;
	int err = fr_sess_incident_counts(l->s, &c), ended;

	if (err || c.saved == c.next)
		return err;
	err = fr_incfile_begin(l->file, see_line, l);
	seq = c.saved;
	err = err ?: inclog_add_lines(l, &seq, c.next, &skipped);
	if (err) /* else those that were added would be written now, and again by the next call */
		fr_incfile_discard(l->file);
	ended = fr_incfile_end(l->file);
	err = err ?: ended;
	if (err)
		return err;
	if (l->on_disk < seq)
		l->on_disk = seq;
	fr_sess_incident_recycle(l->s, seq, skipped);
	return 0;
}

static int inclog_lock(const struct fr_sess *s, u32 wait_ms)
{
	const struct timespec nap = {.tv_nsec = NAP_MS * FR_MSEC_NS};
	int fd = fr_sess_incident_lock(s);
	u32 waited;

	for (waited = 0; fd == -EWOULDBLOCK && waited < wait_ms; waited += NAP_MS) {
		nanosleep(&nap, NULL);
		fd = fr_sess_incident_lock(s);
	}
	return fd;
}

int fr_inclog_save(struct fr_inclog *l, u32 wait_ms)
{
	struct fr_incident_counts c;
	int fd, err = fr_sess_incident_counts(l->s, &c);

	if (err || c.saved == c.next)
		return err;
	fd = inclog_lock(l->s, wait_ms);
	if (fd < 0)
		return fd;
	err = inclog_save(l);
	flock(fd, LOCK_UN); /* a child forked meanwhile may share the lock */
	close(fd);
	return err;
}

#define ROUND_MAX 128 /* others may report more meanwhile */

/* What is pending is told as far as there is room, of which a save makes more. */
static int save_pending(struct fr_inclog *l)
{
	struct fr_incident_counts c;
	u32 i;
	int err = fr_inclog_save(l, fr_patience_ms(FR_INCLOG_WAIT_MS));

	for (i = 0; !err && i < ROUND_MAX; i++) {
		fr_sess_flush_incidents(l->s);
		if (fr_sess_incident_counts(l->s, &c) || c.saved == c.next)
			return 0;
		err = fr_inclog_save(l, fr_patience_ms(FR_INCLOG_WAIT_MS));
	}
	return err;
}

int fr_inclog_save_once(struct fr_sess *s, const char *dir)
{
	char *fact = dir ? NULL : fr_sess_fact(s, "dir");
	struct fr_inclog *l = NULL;
	int err = fr_inclog_open(s, dir ?: fact ?: FR_DEF_DIR, (u64)FR_DEF_JOURNAL_MIB << 20, &l);

	err = err ?: save_pending(l);
	fr_inclog_close(l);
	free(fact);
	return err;
}

void fr_inclog_say_lost(struct fr_sess *s, int err)
{
	struct fr_incident_counts c;

	fr_sess_flush_incidents(s);
	if (!fr_sess_incident_counts(s, &c) && c.next != c.saved)
		fr_warn_errno(err, "%llu unsaved incident%s lost with the session", (c.next - c.saved),
			      fr_plural(c.next - c.saved));
}

/* One that is left behind keeps nobody waiting for the end of what it prints, and no ring. */
static void be_last(struct fr_sess *s, const char *dir, int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), err;

	prctl(PR_SET_NAME, "flightrec-log");
	for (int i = 0; i <= STDERR_FILENO && null >= 0; i++)
		dup2(null, i);
	fr_sess_give_up_rings(s);
	err = fr_inclog_save_once(s, dir);
	if (write(fd, &err, sizeof(err)) < 0)
		_exit(1);
	_exit(0);
}

/* As fr_inclog_save_once(); -ETIMEDOUT: the disk does not answer. */
static int save_apart(struct fr_sess *s, const char *dir)
{
	struct pollfd p = {.events = POLLIN};
	int pair[2], err = -EIO;
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		be_last(s, dir, pair[1]);
	if (pid < 0)
		err = -errno;
	close(pair[1]);
	p.fd = pair[0];
	if (pid > 0 && !poll(&p, 1, fr_patience_ms(FR_INCLOG_LAST_MS)))
		err = -ETIMEDOUT;
	else if (pid > 0 && read(pair[0], &err, sizeof(err)) != sizeof(err))
		err = -EIO;
	close(pair[0]);
	if (pid > 0)
		fr_child_end(pid, 0);
	return err;
}

void fr_inclog_save_last(struct fr_sess *s, const char *dir)
{
	struct fr_incident_counts c;
	int err;

	fr_sess_flush_incidents(s);
	if (fr_sess_incident_counts(s, &c) || c.next == c.saved)
		return;
	err = save_apart(s, dir);
	if (err)
		fr_inclog_say_lost(s, err);
}

/* ---- reading ---- */

int fr_inclog_look(struct fr_sess *s, bool unsaved_only, struct fr_incident_item **out, size_t *cnt)
{
	struct fr_incident_counts c;
	struct fr_incident_item origin;
	struct fr_incident *rec;
	char *redact;
	u64 ahead;
	size_t i;
	int err;

	fr_sess_flush_incidents(s); /* if it fails, they are still counted as pending */
	err = fr_sess_incident_counts(s, &c);
	err = err ?: fill_origin(s, &origin);
	err = err ?: fr_sess_incidents(s, unsaved_only ? c.saved : 0, &rec, cnt);
	if (err)
		return err;
	*out = calloc(*cnt + 1, sizeof(**out));
	ahead = wall_ahead(s);
	redact = fr_sess_fact(s, "redact");
	for (i = 0; *out && i < *cnt; i++) {
		(*out)[i] = origin;
		fill_item(&(*out)[i], &rec[i], ahead, redact);
	}
	free(redact);
	free(rec);
	return *out ? 0 : -ENOMEM;
}

struct list {
	struct fr_incident_item *item;
	size_t cnt;
	int err;
};

static void inclog_add_item(void *arg, const char *line, size_t len)
{
	struct list *l = arg;
	struct fr_incident_item *more = fr_vec_more(&l->item, l->cnt);

	if (more)
		l->cnt += !fr_incident_parse(line, len, more);
	else
		l->err = -ENOMEM;
}

int fr_inclog_journal(const char *dir, struct fr_incident_item **out, size_t *cnt, u64 *bad)
{
	struct list l = {};
	int err = fr_incfile_read(dir, inclog_add_item, &l, bad);

	err = err ?: l.err;
	if (err) {
		free(l.item);
		return err;
	}
	*out = l.item;
	*cnt = l.cnt;
	return 0;
}
