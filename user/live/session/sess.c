/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/sess_int.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/config/setting.h"
#include "base/err.h"
#include "base/schema/facts.h"
#include "base/set/vec.h"
#include "base/text/memfile.h"
#include "base/text/units.h"
#include "live/session/bpffs.h"
#include "live/session/tpchoice.h"
#include "sys/dir.h"
#include "sys/fd.h"
#include "sys/now.h"

#define MAKE_TRIES  10
#define OWN_TRIES   20
#define MAKE_FDS    3	/* open files: the directory, its owner, and one to remove both if what follows fails */
#define CLEAR_TRIES 500 /* 5 s, for a session of that name that is just being made, or removed */

/* ---- names and paths ---- */

/* NULL: no memory, with a message. */
static struct fr_sess *new_sess(const char *name)
{
	struct fr_sess *s = calloc(1, sizeof(*s));

	if (!s) {
		fr_err_errno(-ENOMEM, "cannot open session '%s'", name);
		return NULL;
	}
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(s->dir, sizeof(s->dir), FR_SESSION_ROOT "/%s", name);
	s->dir_fd = s->owner_fd = s->call_fd = -1;
	return s;
}

static bool is_unfinished(const char *dir)
{
	char meta[320];

	snprintf(meta, sizeof(meta), "%s/meta", dir);
	return access(meta, F_OK) && errno == ENOENT;
}

int fr_sess_get_pin(const struct fr_sess *s, const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

/* A fact that is a number, 0 if there is none; allocates nothing. */
static u32 sess_number(const struct fr_sess *s, const char *fact)
{
	const char *name, *value;
	size_t pos = 0, name_len, value_len;

	while (fr_facts_next(s->facts, &pos, &name, &name_len, &value, &value_len))
		if (name_len == strlen(fact) && !memcmp(name, fact, name_len))
			return strtoul(value, NULL, 10);
	return 0;
}

/* Does this version read its rings? */
static bool is_readable(const struct fr_sess *s)
{
	return sess_number(s, "layout") == FR_LAYOUT_VERSION;
}

/* ---- open and close ---- */

bool fr_sess_is_ending(const struct fr_sess *s)
{
	return fr_sess_is_gone(s) || is_unfinished(s->dir);
}

static int open_sess(struct fr_sess *s)
{
	int err;

	s->dir_fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0)
		return -errno;
	err = fr_sess_read_meta(s);
	if (!err && !is_readable(s))
		err = -EPROTO;
	err = err ?: fr_sess_map(s);
	/* whatever failed, or is missing, of one that is being removed */
	return fr_sess_is_ending(s) ? -ENOENT : err;
}

/* Pins can be removed by hand. Missing rings are missing in a snapshot, too: warn about that. */
static void warn_missing_rings(const struct fr_sess *s)
{
	size_t want = (size_t)sess_number(s, "cpu_cnt") * FR_TIER_CNT;

	if (s->ring_cnt < want)
		fr_warn("%zu of session '%s's %zu rings are not in %s: what they hold cannot be read", want - s->ring_cnt,
			s->name, want, s->dir);
}

/* Nothing will change that: it is for people to decide. */
static void explain_layout(const struct fr_sess *s)
{
	char *version = s->facts ? fr_sess_fact(s, "version") : NULL;

	if (s->facts && is_readable(s))
		fr_err("session '%s' cannot be read: a ring is not as it was made, since something else has written to it: end "
		       "the session with `flightrec stop -n %s`, which discards its history",
		       s->name, s->name);
	else
		fr_err("session '%s' was begun by flightrec %s, whose rings this version cannot read: use that version, or "
		       "end the session with `flightrec stop -n %s`, which discards its history",
		       s->name, version ?: "of another version", s->name);
	free(version);
}

static int explain_open(const struct fr_sess *s, int err)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		fr_err("cannot open session '%s': %s: run as root", s->name, strerror(-err));
		break;
	case -EPROTO:
		explain_layout(s);
		break;
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
		fr_err("cannot open session '%s', which goes on recording: %s: %s", s->name, strerror(-err),
		       fr_err_cure(err, NULL));
		break;
	default:
		fr_err("cannot open session '%s': %s: end it with `flightrec stop -n %s`", s->name, strerror(-err), s->name);
	}
	return err;
}

int fr_sess_find(const char *name, struct fr_sess **out)
{
	struct fr_sess *s = new_sess(name);
	int err;

	if (!s)
		return -ENOMEM;
	err = open_sess(s);
	if (err) {
		if (err != -ENOENT)
			explain_open(s, err);
		fr_sess_close(s);
		return err;
	}
	warn_missing_rings(s);
	*out = s;
	return 0;
}

int fr_sess_open(const char *name, struct fr_sess **out)
{
	int err = fr_sess_find(name, out);

	if (err == -ENOENT)
		fr_sess_say_none(name, true);
	return err;
}

int fr_sess_open_any(const char *name, struct fr_sess **out)
{
	struct fr_sess *s = new_sess(name);
	int err;

	if (!s)
		return -ENOMEM;
	err = open_sess(s);
	if (s->dir_fd < 0) {
		if (err != -ENOENT)
			explain_open(s, err);
		fr_sess_close(s);
		return err;
	}
	*out = s;
	return 0;
}

void fr_sess_close(struct fr_sess *s)
{
	if (!s)
		return;
	fr_sess_unmap(s);
	fr_sess_progs_free(s->held, s->held_cnt);
	fr_sess_progs_free(s->trig, s->trig_cnt);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	if (s->owner_fd >= 0)
		close(s->owner_fd);
	if (s->call_fd >= 0)
		close(s->call_fd);
	free(s->facts);
	free(s->schema);
	free(s);
}

/* ---- create ---- */

int fr_sess_own(struct fr_sess *s)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	int tries, fd = fr_bpffs_lock(s->dir_fd, "owner", LOCK_EX | LOCK_NB);

	/* it may be locked for a moment by somebody who only asks */
	for (tries = 1; fd == -EWOULDBLOCK && tries < OWN_TRIES; tries++) {
		nanosleep(&nap, NULL);
		fd = fr_bpffs_lock(s->dir_fd, "owner", LOCK_EX | LOCK_NB);
	}
	if (fd < 0)
		return fd;
	s->owner_fd = fd;
	return 0;
}

bool fr_sess_is_owned(struct fr_sess *s)
{
	int fd;

	if (s->owner_fd >= 0)
		return true;
	/* shared: others who ask at the same time are no owners */
	fd = fr_bpffs_lock(s->dir_fd, "owner", LOCK_SH | LOCK_NB);
	if (fd >= 0)
		close(fd);
	return fd == -EWOULDBLOCK;
}

/* -ENOENT: before it was locked, another process swept the directory away like that of a dead creator. */
static int try_make_dir(struct fr_sess *s)
{
	char owner[192];
	int err;

	snprintf(owner, sizeof(owner), "%s/owner", s->dir);
	if (mkdir(s->dir, 0700))
		return -errno;
	s->dir_fd = fr_bpffs_lock(AT_FDCWD, s->dir, LOCK_EX);
	if (s->dir_fd < 0)
		return s->dir_fd;
	if (!mkdir(owner, 0700))
		return fr_sess_own(s);
	err = -errno;
	close(s->dir_fd);
	s->dir_fd = -1;
	return err;
}

static int sess_fill(struct fr_sess *s, struct fr_load_conf *conf, fr_facts_fn facts_fn, void *arg, struct fr_load_result *res)
{
	char *facts, *schema;
	int err;

	conf->dir = s->dir;
	err = fr_load_session(conf, res);
	if (err)
		return err;
	err = fr_sess_map(s);
	if (err) {
		fr_err_errno(err, "cannot map the rings of session '%s'", s->name);
		return err;
	}
	s->shared->mark = (struct fr_mark){FR_SESSION_MAGIC, conf->epoch};
	facts = facts_fn(arg, s, res);
	schema = conf->tp && conf->tp->cnt ? strdup(conf->tp->schema) : fr_schema_write(fr_schema_builtin(), NULL);
	err = facts && schema ? fr_sess_pin_meta(s, facts, schema) : -ENOMEM;
	if (err)
		fr_err_errno(err, "cannot keep what session '%s' is", s->name);
	free(facts);
	free(schema);
	err = err ?: fr_sess_read_meta(s);
	if (!err)
		flock(s->dir_fd, LOCK_UN);
	return err;
}

/* Where another process makes a session of that name, or removes one, wait until it is there, or gone. */
static int sess_make_dir(struct fr_sess *s)
{
	const struct timespec nap = {.tv_nsec = 10000000};
	int swept = 0, waits = 0, err = -ENOENT;

	while ((err == -ENOENT && swept++ < MAKE_TRIES) || (err == -EEXIST && is_unfinished(s->dir) && waits++ < CLEAR_TRIES)) {
		if (err == -EEXIST)
			nanosleep(&nap, NULL);
		err = try_make_dir(s);
	}
	return err;
}

bool fr_sess_is_unfinished(const char *name)
{
	char dir[128];

	snprintf(dir, sizeof(dir), FR_SESSION_ROOT "/%s", name);
	return !access(dir, F_OK) && is_unfinished(dir);
}

int fr_sess_create(const char *name, struct fr_load_conf *conf, fr_facts_fn facts_fn, void *arg, struct fr_load_result *res,
		   struct fr_sess **out)
{
	struct fr_sess *s;
	int err;

	err = fr_bpffs_prepare(FR_BPFFS_ROOT, FR_SESSION_ROOT);
	if (err)
		return err;
	fr_sess_sweep();
	s = new_sess(name);
	if (!s)
		return -ENOMEM;
	err = fr_fd_room(MAKE_FDS) ?: sess_make_dir(s);
	if (err == -EEXIST && is_unfinished(s->dir)) {
		fr_err("session '%s' is just being started by another process: try again", name);
		err = -EBUSY;
	}
	if (err == -EEXIST || err == -EBUSY) {
		fr_sess_close(s);
		return err;
	}
	if (err)
		fr_err("cannot make %s: %s: %s", s->dir, strerror(-err),
		       fr_bpffs_cure(err, "another flightrec may be at it: try again"));
	err = err ?: sess_fill(s, conf, facts_fn, arg, res);
	if (err) {
		if (s->dir_fd >= 0) /* locked: it is ours, not that of another process that was quicker */
			fr_bpffs_remove(s->dir);
		fr_sess_close(s);
		return err;
	}
	s->is_new = true;
	*out = s;
	return 0;
}

/* Names in FR_SESSION_ROOT that may be sessions. */
static int list_dirs(char ***names, size_t *cnt)
{
	DIR *d = opendir(FR_SESSION_ROOT);
	struct dirent *e;
	char **more;
	int err = 0;

	*names = NULL;
	*cnt = 0;
	if (!d)
		return errno == ENOENT ? 0 : -errno;
	while ((e = fr_dir_next(d, &err))) {
		if (!fr_setting_name_ok(e->d_name))
			continue;
		more = fr_vec_more(names, *cnt);
		if (!more)
			break;
		*more = strdup(e->d_name);
		if (!*more)
			break;
		++*cnt;
	}
	closedir(d);
	return e ? -ENOMEM : err;
}

void fr_sess_sweep(void)
{
	char **names, dir[128];
	size_t cnt, i;
	int fd;

	list_dirs(&names, &cnt);
	for (i = 0; i < cnt; i++) {
		snprintf(dir, sizeof(dir), FR_SESSION_ROOT "/%s", names[i]);
		fd = is_unfinished(dir) ? fr_bpffs_lock(AT_FDCWD, dir, LOCK_EX | LOCK_NB) : -1;
		/* its creator holds the lock until meta is there: check again under the lock */
		if (fd >= 0 && is_unfinished(dir))
			fr_bpffs_remove(dir);
		if (fd >= 0)
			close(fd);
		free(names[i]);
	}
	free(names);
}

/* ---- locks ---- */

static u64 sess_now_ms(void)
{
	return fr_now_ns(CLOCK_MONOTONIC) / FR_MSEC_NS;
}

/* Of a session that is opened only to be ended, its maps may not be there. */
static u64 beside_cnt(const struct fr_sess *s)
{
	return s->shared ? fr_load(&s->shared->beside_cnt) : 0;
}

/*
 * Snapshots that were begun under the lock: who waits for one after the other waits for none that stands still. Those beside
 * are counted before they begin, and the loads come the other way round: a snapshot beside never looks like one under the lock.
 */
static u64 locked_cnt(const struct fr_sess *s)
{
	u64 nr = s->shared ? fr_load(&s->shared->snapshot_nr) : 0;

	return nr - beside_cnt(s);
}

/*
 * -EAGAIN: not within timeout_ms of the last sign of life, if signs are looked for; -ENOENT: the session was ended meanwhile,
 * by somebody who did not wait either.
 */
static int wait_for_lock(struct fr_sess *s, unsigned timeout_ms, bool signs)
{
	const struct timespec nap = {.tv_nsec = 5000000};
	u64 began = sess_now_ms(), until = began + timeout_ms, seen = locked_cnt(s), cnt;
	bool told = false;
	int err;

	/* noted before: it may be stopped as soon as it has the lock */
	while (s->beside_cnt = beside_cnt(s), flock(s->dir_fd, LOCK_EX | LOCK_NB)) {
		err = -errno;
		if (err != -EWOULDBLOCK && err != -EINTR) {
			fr_err("cannot lock session '%s': %s: try again", s->name, strerror(-err));
			return err;
		}
		if (fr_sess_is_gone(s))
			return -ENOENT;
		cnt = locked_cnt(s);
		if (signs && (s64)(cnt - seen) > 0) {
			seen = cnt;
			until = sess_now_ms() + timeout_ms;
		}
		if (sess_now_ms() >= until)
			return -EAGAIN;
		if (!told && sess_now_ms() - began > 500)
			fr_warn("waiting: another process takes a snapshot of session '%s'", s->name);
		told = told || sess_now_ms() - began > 500;
		nanosleep(&nap, NULL);
	}
	return 0;
}

int fr_sess_lock(struct fr_sess *s, unsigned timeout_ms, bool *beside)
{
	char waited[32];
	int err = wait_for_lock(s, timeout_ms, beside);

	if (err && err != -EAGAIN)
		return err;
	if (fr_sess_is_gone(s)) {
		fr_sess_unlock(s);
		return -ENOENT;
	}
	if (beside)
		*beside = err;
	if (err)
		fr_warn("going on without the snapshot of '%s' that another process began over %s ago: it is stopped, or its "
			"disk hangs",
			s->name, fr_show_duration(timeout_ms * FR_MSEC_NS, waited, sizeof(waited)));
	if (err && beside && s->shared)
		fr_add(&s->shared->beside_cnt, 1);
	return 0;
}

void fr_sess_unlock(struct fr_sess *s)
{
	flock(s->dir_fd, LOCK_UN);
}

bool fr_sess_was_beside(const struct fr_sess *s)
{
	return beside_cnt(s) != s->beside_cnt;
}

/* ---- what is in it ---- */

const char *fr_sess_name(const struct fr_sess *s)
{
	return s->name;
}

const char *fr_sess_facts(const struct fr_sess *s)
{
	return s->facts;
}

char *fr_sess_fact(const struct fr_sess *s, const char *name)
{
	return fr_facts_get(s->facts, name);
}

char *fr_sess_held(const struct fr_sess *s)
{
	const struct fr_event *ev;
	const char *sep = "";
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	u32 nr;

	if (!f)
		return NULL;
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		ev = fr_schema_event(fr_schema_builtin(), nr);
		if (!ev || !(s->shared->enable[nr] & FR_ENABLE_HELD))
			continue;
		fprintf(f, "%s%s", sep, ev->name);
		sep = ",";
	}
	return fr_memfile_end(&m, NULL);
}

int fr_sess_set_fact(struct fr_sess *s, const char *name, const char *value)
{
	char *was = fr_sess_fact(s, name), *facts;
	bool same = was && !strcmp(was, value);
	int err;

	free(was);
	if (same)
		return 0;
	facts = fr_facts_set(s->facts, name, value);
	err = facts ? fr_sess_pin_meta(s, facts, s->schema) : -ENOMEM;
	if (err) {
		free(facts);
		return err;
	}
	free(s->facts);
	s->facts = facts;
	return 0;
}

const char *fr_sess_schema(const struct fr_sess *s, size_t *sz)
{
	*sz = s->schema_sz;
	return s->schema;
}

const struct fr_ring_map *fr_sess_rings(const struct fr_sess *s, size_t *cnt)
{
	*cnt = s->ring_cnt;
	return s->ring;
}

struct fr_session *fr_sess_shared(const struct fr_sess *s)
{
	return s->shared;
}
