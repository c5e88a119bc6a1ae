/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sess_call: calls a session's programs and reads its maps. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/set/vec.h"
#include "live/session/current.h"
#include "live/session/sess_int.h"
#include "sys/dir.h"
#include "sys/fd.h"

/* ---- control programs ---- */

/*
 * Programs leave their result in one struct that all callers share. A lock, held for microseconds, keeps them apart, so that a
 * recorder can mark a trigger while another process takes a snapshot. A process that is stopped while it holds the lock must
 * not stop others: after a while they go on without it. Then tickets (struct fr_turn) tell whose result it is.
 */
#define LOCK_TRIES 200
#define CALL_TRIES 200

static void lock_call(struct fr_sess *s)
{
	const struct timespec nap = {.tv_nsec = 500000};
	int tries;

	if (s->call_fd < 0)
		s->call_fd = open(FR_SESSION_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (tries = 0; s->call_fd >= 0 && tries < LOCK_TRIES; tries++) {
		if (!flock(s->call_fd, LOCK_EX | LOCK_NB) || (errno != EWOULDBLOCK && errno != EINTR)) {
			s->call_stuck = false;
			return;
		}
		if (s->call_stuck)
			return;
		nanosleep(&nap, NULL);
	}
	s->call_stuck = true;
}

static void unlock_call(struct fr_sess *s)
{
	if (s->call_fd >= 0)
		flock(s->call_fd, LOCK_UN);
}

/* Copy a result if it is still the one with that ticket. The loads pair with the exchanges in bpf/control.bpf.c. */
static bool call_take(const struct fr_turn *t, u32 ticket, const void *from, void *out, size_t sz)
{
	if (fr_load(&t->ticket) != ticket)
		return false;
	memcpy(out, from, sz);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return fr_load(&t->ticket) == ticket;
}

int fr_sess_run(int prog_fd, struct bpf_test_run_opts *opts, const struct fr_turn *t, const void *from, void *out, size_t sz)
{
	const struct timespec nap = {.tv_nsec = 500000};
	int tries;

	for (tries = 0; tries < CALL_TRIES; tries++) {
		if (bpf_prog_test_run_opts(prog_fd, opts))
			return -errno;
		if (opts->retval != FR_TURN_BUSY)
			return call_take(t, opts->retval, from, out, sz) ? 0 : -EAGAIN;
		nanosleep(&nap, NULL);
	}
	return -EBUSY;
}

/* Run a control program; *out: its result. -EAGAIN: it ran, and another run has replaced its result. */
static int call(struct fr_sess *s, const char *prog, const u64 *args, u32 arg_cnt, int cpu, struct fr_call *out)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = arg_cnt * sizeof(*args));
	char name[64];
	int fd, err;

	if (cpu >= 0) {
		opts.cpu = cpu;
		opts.flags = BPF_F_TEST_RUN_ON_CPU;
	}
	snprintf(name, sizeof(name), "prog-%s", prog);
	fd = fr_sess_get_pin(s, name);
	if (fd < 0)
		return fd;
	lock_call(s);
	err = fr_sess_run(fd, &opts, &s->call->turn, s->call, out, sizeof(*out));
	unlock_call(s);
	close(fd);
	return err;
}

/* Likewise, a program that changes nothing but its result, or may do again what it did. */
static int call_ask(struct fr_sess *s, const char *prog, const u64 *args, u32 arg_cnt, int cpu, struct fr_call *out)
{
	int err, tries;

	for (err = -EAGAIN, tries = 0; err == -EAGAIN && tries < CALL_TRIES; tries++)
		err = call(s, prog, args, arg_cnt, cpu, out);
	return err;
}

int fr_sess_clocks(struct fr_sess *s, struct fr_call *out)
{
	return call_ask(s, "fr_clocks", NULL, 0, -1, out);
}

int fr_sess_holder(struct fr_sess *s, u32 cpu, struct fr_call *out)
{
	u64 args[1] = {cpu};

	return call_ask(s, "fr_holder", args, 1, -1, out);
}

int fr_sess_be_self(struct fr_sess *s, bool recorder, u32 *pid)
{
	u64 args[1] = {recorder};
	struct fr_call left;
	int err = call_ask(s, "fr_self", args, 1, -1, &left);

	if (!err && pid)
		*pid = left.tgid;
	return err;
}

bool fr_sess_same_pids(struct fr_sess *s)
{
	u32 pid = 0;

	return !fr_sess_be_self(s, false, &pid) && pid == (u32)getpid();
}

int fr_sess_peek(void *sess, u32 cpu, u16 tier, u64 *word, u64 *w)
{
	struct fr_sess *s = sess;
	u64 args[1] = {tier};
	struct fr_call left;
	int err = call_ask(s, "fr_peek", args, 1, cpu, &left);

	if (!err) {
		*word = left.peek_word;
		*w = left.peek_w;
	}
	return err;
}

void fr_sess_find_current(struct fr_sess *s, u32 cpu)
{
	int fd = fr_sess_get_pin(s, "prog-fr_find_current");

	if (fd < 0)
		return;
	fr_current_find_on(fd, cpu); /* it leaves no result, so it takes no turn */
	close(fd);
}

/* A mark is made once: if its result is replaced before it is copied, that was a moment ago, or before this process stood
 * still. */
static int call_mark(struct fr_sess *s, const char *prog, const u64 *args, u32 arg_cnt, struct fr_call *left)
{
	int err = call(s, prog, args, arg_cnt, -1, left);

	if (err != -EAGAIN)
		return err;
	err = fr_sess_clocks(s, left);
	left->nr = s->shared->snapshot_nr;
	return err;
}

static int mark_ts(struct fr_sess *s, const char *prog, const u64 *args, u32 arg_cnt, u64 *ts)
{
	struct fr_call left;
	int err = call_mark(s, prog, args, arg_cnt, &left);

	if (!err)
		*ts = left.ns;
	return err;
}

int fr_sess_mark_begin(struct fr_sess *s, u64 *ts, u64 *nr)
{
	struct fr_call left;
	int err = call_mark(s, "fr_snapshot_begin", NULL, 0, &left);

	if (!err) {
		*ts = left.ns;
		*nr = left.nr;
	}
	return err;
}

void fr_sess_tell_thinned(struct fr_sess *s)
{
	char *thin = fr_sess_fact(s, "thin_ns");
	int fd = thin ? fr_sess_get_pin(s, "prog-fr_thin_flush") : -1;
	size_t i;

	free(thin);
	for (i = 0; fd >= 0 && i < s->ring_cnt; i++) {
		u64 args[1] = {s->ring[i].cpu};
		LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args),
			    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = s->ring[i].cpu);

		if (s->ring[i].tier != FR_TIER_LIFE || !bpf_prog_test_run_opts(fd, &opts))
			continue;
		opts.flags = 0; /* the CPU is off: here */
		opts.cpu = 0;
		bpf_prog_test_run_opts(fd, &opts);
	}
	if (fd >= 0)
		close(fd);
}

int fr_sess_mark_end(struct fr_sess *s, u64 nr, u64 *ts)
{
	const u64 args[1] = {nr};

	return fr_sess_is_gone(s) ? -ENOENT : mark_ts(s, "fr_snapshot_end", args, 1, ts);
}

int fr_sess_mark_trigger(struct fr_sess *s, const struct fr_sess_trigger *t, u64 *ts)
{
	u64 args[4] = {0, t->tid, t->at_ns, t->rule | t->verdict << 16 | t->sig << 24};

	memcpy(args, t->reason, strnlen(t->reason, sizeof(args[0])));
	return mark_ts(s, "fr_trigger", args, 4, ts);
}

int fr_sess_mark_governor(struct fr_sess *s, const struct fr_sess_governor *g, u64 *ts)
{
	u64 args[4] = {(u32)g->step, g->cost | (u64)g->budget << 32};

	memcpy(&args[2], g->what, strnlen(g->what, sizeof(args[2])));
	memcpy(&args[3], g->action, strnlen(g->action, sizeof(args[3])));
	return mark_ts(s, "fr_governor", args, 4, ts);
}

/* ---- the task table ---- */

static void take_task(struct fr_snap_task *out, const struct fr_task_key *key, const struct fr_task *task)
{
	out->tid = key->tid;
	out->start_ns = key->start_ns;
	out->task = *task;
	out->task.comm[FR_COMM_SZ - 1] = 0;
	out->task.first_comm[FR_COMM_SZ - 1] = 0;
}

#define TASKS_AT_ONCE 512u /* more than a bucket of the table ever has */

/* Many at a time: a call for each of thousands takes tens of ms. 0; -errno: the kernel cannot, or there is no memory. */
static int read_tasks_at_once(int fd, struct fr_snap_task **list, size_t *n)
{
	struct fr_task_key *key = malloc(TASKS_AT_ONCE * sizeof(*key));
	struct fr_task *task = malloc(TASKS_AT_ONCE * sizeof(*task));
	bool begun = false;
	u32 at = 0, cnt, i;
	int err = key && task ? 0 : -ENOMEM;

	while (!err && *n < 1u << 20) {
		LIBBPF_OPTS(bpf_map_batch_opts, opts);

		cnt = TASKS_AT_ONCE;
		err = bpf_map_lookup_batch(fd, begun ? &at : NULL, &at, key, task, &cnt, &opts) ? -errno : 0;
		begun = true;
		for (i = 0; i < cnt && (!err || err == -ENOENT); i++) {
			if (!fr_vec_more(list, *n))
				err = -ENOMEM;
			else
				take_task(&(*list)[(*n)++], &key[i], &task[i]);
		}
	}
	free(key);
	free(task);
	return err == -ENOENT ? 0 : err;
}

int fr_sess_read_tasks(struct fr_sess *s, struct fr_snap_task **out, size_t *cnt)
{
	struct fr_task_key key, *prev = NULL;
	struct fr_snap_task *list = NULL;
	struct fr_task task;
	size_t n = 0;
	int fd = fr_sess_get_pin(s, "tasks");

	if (fd < 0)
		return fd;
	if (!read_tasks_at_once(fd, &list, &n)) {
		close(fd);
		*out = list;
		*cnt = n;
		return 0;
	}
	n = 0;
	/* tasks come and go meanwhile, and a deleted key restarts the walk: bound it */
	while (n < 1u << 20 && !bpf_map_get_next_key(fd, prev, &key)) {
		if (!fr_vec_more(&list, n))
			break;
		if (!bpf_map_lookup_elem(fd, &key, &task))
			take_task(&list[n++], &key, &task);
		prev = &key;
	}
	close(fd);
	*out = list;
	*cnt = n;
	return 0;
}

/* ---- programs ---- */

int fr_sess_stats_on(void)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	return fd < 0 ? -errno : fd;
}

static int read_prog(struct fr_sess_prog *p)
{
	struct bpf_prog_info info = {};
	u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(p->fd, &info, &len))
		return -errno;
	p->run_cnt = info.run_cnt;
	p->run_ns = info.run_time_ns;
	p->missed = info.recursion_misses;
	return 0;
}

static int prog_of_link(const struct fr_sess *s, const char *pin, struct fr_sess_prog *out)
{
	u32 link = 0, prog = 0;
	int fd = fr_sess_get_pin(s, pin), err;

	if (fd < 0)
		return fd;
	err = fr_sess_link_id(fd, &link, &prog);
	close(fd);
	if (err)
		return err;
	out->fd = bpf_prog_get_fd_by_id(prog);
	if (out->fd < 0)
		return -errno;
	err = read_prog(out);
	if (err)
		close(out->fd);
	return err;
}

void fr_sess_progs_update(struct fr_sess_prog *list, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		read_prog(&list[i]);
}

void fr_sess_progs_free(struct fr_sess_prog *list, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		close(list[i].fd);
	free(list);
}

/* "link-cpu_sample-0" and "link-cpu_sample-1" are the same program; those of the incident log are "inc-NAME". */
static bool name_of_link(const char *pin, struct fr_sess_prog *p)
{
	p->incident = !strncmp(pin, "inc-", 4);
	if (!p->incident && strncmp(pin, "link-", 5))
		return false;
	pin = strchr(pin, '-') + 1;
	snprintf(p->name, sizeof(p->name), "%.*s", (int)strcspn(pin, "-"), pin);
	return true;
}

static bool has_prog(const struct fr_sess_prog *list, size_t cnt, const char *name)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		if (!strcmp(list[i].name, name))
			return true;
	return false;
}

static int by_prog_name(const void *a, const void *b)
{
	return strcmp(((const struct fr_sess_prog *)a)->name, ((const struct fr_sess_prog *)b)->name);
}

static int find_progs(struct fr_sess *s, struct fr_sess_prog **out, size_t *cnt)
{
	struct fr_sess_prog *list = calloc(FR_EVENT_MAX, sizeof(*list));
	DIR *d = opendir(s->dir);
	struct dirent *e;
	size_t n = 0;
	int err = 0, list_err = 0;

	if (!list || !d) {
		err = list ? -errno : -ENOMEM;
		free(list);
		if (d)
			closedir(d);
		return err;
	}
	while (!fr_fd_is_want(err) && n < FR_EVENT_MAX && (e = fr_dir_next(d, &list_err))) {
		if (!name_of_link(e->d_name, &list[n]) || has_prog(list, n, list[n].name))
			continue;
		err = prog_of_link(s, e->d_name, &list[n]);
		n += !err;
	}
	closedir(d);
	err = list_err ?: fr_fd_is_want(err) ? err : 0;
	if (err) {
		fr_sess_progs_free(list, n);
		return err;
	}
	qsort(list, n, sizeof(*list), by_prog_name);
	*out = list;
	*cnt = n;
	return 0;
}

/* Duplicate the programs, with descriptors of the caller's own. */
static int copy_progs(const struct fr_sess_prog *from, size_t from_cnt, struct fr_sess_prog **out, size_t *cnt)
{
	struct fr_sess_prog *list = calloc(from_cnt + 1, sizeof(*list));
	size_t i;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < from_cnt; i++) {
		list[i] = from[i];
		list[i].fd = fcntl(from[i].fd, F_DUPFD_CLOEXEC, 0);
		if (list[i].fd < 0) {
			fr_sess_progs_free(list, i);
			return -EMFILE;
		}
	}
	fr_sess_progs_update(list, from_cnt);
	*out = list;
	*cnt = from_cnt;
	return 0;
}

/* Keep only the incident log's programs, or only the others; close the rest. */
static size_t only(struct fr_sess_prog *list, size_t cnt, bool incident)
{
	size_t i, n = 0;

	for (i = 0; i < cnt; i++) {
		if (list[i].incident == incident)
			list[n++] = list[i];
		else
			close(list[i].fd);
	}
	return n;
}

static int some_progs(struct fr_sess *s, bool incident, struct fr_sess_prog **out, size_t *cnt)
{
	int err = s->held ? copy_progs(s->held, s->held_cnt, out, cnt) : find_progs(s, out, cnt);

	if (!err)
		*cnt = only(*out, *cnt, incident);
	return err;
}

int fr_sess_progs(struct fr_sess *s, struct fr_sess_prog **out, size_t *cnt)
{
	return some_progs(s, false, out, cnt);
}

int fr_sess_incident_progs(struct fr_sess *s, struct fr_sess_prog **out, size_t *cnt)
{
	return some_progs(s, true, out, cnt);
}

int fr_sess_hold_progs(struct fr_sess *s)
{
	return s->held ? 0 : find_progs(s, &s->held, &s->held_cnt);
}

int fr_sess_trigger_progs(struct fr_sess *s, struct fr_sess_prog **out, size_t *cnt)
{
	return copy_progs(s->trig, s->trig_cnt, out, cnt);
}

void fr_sess_hold_trigger_progs(struct fr_sess *s, struct fr_sess_prog *list, size_t cnt)
{
	fr_sess_progs_free(s->trig, s->trig_cnt);
	s->trig = list;
	s->trig_cnt = cnt;
}

void fr_sess_take_held(struct fr_sess *s, struct fr_sess_prog **out, size_t *cnt)
{
	*out = s->held;
	*cnt = s->held_cnt;
	s->held = NULL;
	s->held_cnt = 0;
}

void fr_sess_hold(struct fr_sess *s, struct fr_sess_prog *list, size_t cnt)
{
	fr_sess_progs_free(s->held, s->held_cnt);
	s->held = list;
	s->held_cnt = cnt;
}
