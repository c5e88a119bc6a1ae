/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 *	recorder			writer
 *	fr_writer_ask()	-- request -->	is it there? fr_store_make_room(), fr_dump(); or fr_store_tidy()
 *	fr_writer_answer() <-- answer --
 *
 * Each is one message over a socket pair, with one request in progress at a time. Each side notices by the end of its socket
 * that the other is gone: the recorder starts a new writer; the writer completes its snapshot, which may be the last trace
 * left, and exits.
 *
 * A writer that is stopped, or waits for a disk that does not answer, ends no socket. Whoever works uses time on a CPU, so one
 * that has used none for as long as the configuration allows (WriteTimeout=) is killed, and counts as dead. If even that does
 * not end it, no other one is started until it has gone: each would wait for the same disk.
 */
#include "live/recorder/writer.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/faulted.h"
#include "live/snapshot/dump_int.h"
#include "sys/cgroup.h"
#include "sys/child.h"
#include "sys/confine.h"
#include "sys/fd.h"
#include "sys/now.h"

#define FACTS_MAX  65536u
#define WARM_SZ	   (8u << 20)
#define ROOM_TRIES 2

/* On a host so short of memory that a writer takes longer, record anyway; the first snapshot waits for it. */
#define HELLO_MAX_MS 10000

/* One that has nothing to do ends at once. */
#define END_MS		1000
#define FINISH_STILL_NS 20000000000ULL

struct request {
	u64 last_ns;
	u64 at_ns;
	u32 pid;
	s32 sig;
	u32 has; /* bits of enum has: texts present */
	u32 names_itself;
	struct fr_store_conf store; /* its directory is that of the texts */
	u64 last_sz, signature;
	u32 may_exist, only_look, age_only;
	u32 is_dump;
	char path[4096];
	char dir[4096];
	char store_dir[4096];
	char reason[16];
	char comm[64];
	char facts[FACTS_MAX];
};

enum has { HAS_path = 1, HAS_dir = 2, HAS_comm = 4, HAS_facts = 8 };

struct answer {
	s32 err;
	u32 hello; /* not an answer: the writer is confined, and ready */
	struct fr_writer_done done;
};

struct fr_writer_proc {
	struct fr_sess *s;
	char *dir;    /* of snapshots, at the start */
	pid_t pid;    /* -1: none */
	pid_t stuck;  /* killed, but still there; -1: none */
	u64 stuck_ns; /* since when */
	int fd;
	int old_fd; /* of one that is buried: whoever watches it is to stop before it is closed; -1: none */
	bool busy;
	u64 cpu_ns;   /* what it had used when it was last seen to work ... */
	u64 works_ns; /* ... and when that was */
	u32 deaths;   /* since it last succeeded */
	struct request req;
};

/* ---- the writer's side ---- */

/*
 * sz bytes of pages for malloc, which keeps them from now on. In pieces, since what is larger than M_MMAP_THRESHOLD (at most
 * 32 MiB) is mapped by itself and given back.
 */
static int warm_up(size_t sz)
{
	size_t cnt = sz / WARM_SZ + 1, i;
	void **piece = calloc(cnt, sizeof(*piece));
	int err = piece ? 0 : -ENOMEM;

	mallopt(M_MMAP_THRESHOLD, 2 * WARM_SZ);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	for (i = 0; i < cnt && !err; i++) {
		piece[i] = fr_faulted(WARM_SZ);
		err = piece[i] ? 0 : -ENOMEM;
	}
	for (i = 0; piece && i < cnt; i++)
		free(piece[i]);
	free(piece);
	return err;
}

/* What a dump needs, allocated in advance. */
static int writer_take_memory(struct fr_sess *s, struct fr_dump_room *room)
{
	struct fr_dump_needs needs = fr_dump_needs(s);
	int err = warm_up(needs.rest_sz);

	err = err ?: fr_dump_room_take(&needs, room);
	if (!err)
		fr_dump_room_fault(room);
	return err;
}

static const char *writer_text_of(const struct request *r, enum has which, const char *text)
{
	return r->has & which ? text : NULL;
}

/* What a dump takes, had before it is wanted, and before the writer is confined. */
struct stock {
	struct fr_dump_room room;
	struct fr_cgroup_here cgroup_here;
};

/* Is it of this session? Another one that has the same directory gives a moment of both the same name. */
static bool is_ours(const struct fr_sess *s, const char *path)
{
	const struct fr_chunk *chunk;
	const struct fr_ring_map *ring;
	struct fr_snap *snap;
	size_t cnt, ring_cnt;
	bool ours;

	if (fr_snap_open(path, &snap))
		return false;
	chunk = fr_snap_chunks(snap, &cnt);
	ring = fr_sess_rings(s, &ring_cnt);
	ours = cnt && ring_cnt && chunk->epoch == ring->epoch;
	fr_snap_close(snap);
	return ours;
}

/* A writer before this one has completed it. */
static bool writer_is_there(const struct fr_sess *s, const struct request *r, struct fr_dump_done *done)
{
	struct stat st;

	if (!r->may_exist || stat(r->path, &st) || !is_ours(s, r->path))
		return false;
	snprintf(done->path, sizeof(done->path), "%s", r->path);
	done->bytes = st.st_size;
	done->found = true;
	return true;
}

static bool writer_is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

/* Where the disk was full all the same, once more with more room. */
static int writer_write(struct fr_sess *s, struct fr_store *st, const struct request *r, const struct fr_dump_ask *ask,
			struct fr_dump_done *done)
{
	u64 want_sz = fr_store_want_sz(st, r->last_sz);
	int tries, err = -ENOSPC;

	for (tries = 0; tries < ROOM_TRIES && writer_is_full(err); tries++) {
		err = fr_store_make_room(st, want_sz, r->signature, NULL);
		if (err)
			break;
		err = fr_dump(s, ask, done);
		if (writer_is_full(err))
			want_sz = fr_store_want_more(st, want_sz);
	}
	return err;
}

/* A writer before this one may complete it at any moment: also while this one waits for its turn to read. */
static int writer_take(struct fr_sess *s, struct fr_store *st, const struct request *r, const struct fr_dump_ask *ask,
		       struct fr_dump_done *done)
{
	int err;

	if (writer_is_there(s, r, done))
		return 0;
	if (r->only_look)
		return -ENOENT;
	err = access(r->path, F_OK) ? writer_write(s, st, r, ask, done) : -EEXIST; /* found out before all is written */
	return err == -EEXIST && writer_is_there(s, r, done) ? 0 : err;
}

static void writer_serve(struct fr_sess *s, const struct stock *have, struct fr_store **st, struct request *r, struct answer *a)
{
	const struct fr_dump_ask ask = {
		.path = writer_text_of(r, HAS_path, r->path),
		.dir = writer_text_of(r, HAS_dir, r->dir),
		.reason = r->reason,
		.comm = writer_text_of(r, HAS_comm, r->comm),
		.pid = r->pid,
		.sig = r->sig,
		.last_ns = r->last_ns,
		.at_ns = r->at_ns,
		.facts = writer_text_of(r, HAS_facts, r->facts),
		.names_itself = r->names_itself,
		.cgroup_here = &have->cgroup_here,
		.room = &have->room,
	};

	u64 before;

	memset(a, 0, sizeof(*a));
	r->store.dir = r->store_dir;
	a->err = *st ? fr_store_follow(*st, &r->store) : fr_store_open(&r->store, st);
	if (a->err)
		return;
	before = fr_store_removed(*st);
	a->err = r->is_dump ? writer_take(s, *st, r, &ask, &a->done.dump) : fr_store_tidy(*st, r->age_only);
	a->done.removed = fr_store_removed(*st) - before;
	a->done.gone_cnt = fr_store_take_gone(*st, a->done.gone);
}

static int writer_work(struct fr_sess *s, const struct stock *have, int fd)
{
	struct request *r = malloc(sizeof(*r));
	struct answer *a = calloc(1, sizeof(*a));
	struct fr_store *st = NULL;
	ssize_t got;

	if (a) {
		a->hello = 1;
		send(fd, a, sizeof(*a), MSG_NOSIGNAL);
	}
	while (r && a) {
		got = recv(fd, r, sizeof(*r), 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got != sizeof(*r))
			break;
		writer_serve(s, have, &st, r, a);
		if (send(fd, a, sizeof(*a), MSG_NOSIGNAL) != sizeof(*a))
			break;
	}
	fr_store_close(st);
	free(r);
	free(a);
	return 0;
}

/* Close all descriptors from 3 on but fd, those of programs, and where messages go (sys/stdfd.h). */
static int close_others(int fd, const struct fr_sess_prog *prog, size_t cnt)
{
	int *keep = calloc(cnt + 2, sizeof(*keep));
	size_t i;

	if (!keep)
		return -ENOMEM;
	for (i = 0; i < cnt; i++)
		keep[i] = prog[i].fd;
	keep[cnt++] = fd;
	keep[cnt++] = fileno(stderr);
	fr_fd_close_but(keep, cnt);
	free(keep);
	return 0;
}

/*
 * None of the recorder's files stays open here: their locks would be held as long as we live. The exception are the programs it
 * holds: a recorder that is already confined cannot find them again, nor can we. Signals stay blocked: the recorder handles
 * interrupts of a terminal and a service manager's stop, and ends us.
 */
static int be_writer(struct fr_sess *inherited, const char *dir, int fd)
{
	const struct fr_confine_conf conf = {.dir = dir};
	struct fr_sess_prog *prog;
	char name[FR_SESS_NAME_MAX + 1];
	struct stock have;
	struct fr_sess *s;
	size_t prog_cnt;

	prctl(PR_SET_NAME, "flightrec-write");
	snprintf(name, sizeof(name), "%s", fr_sess_name(inherited));
	fr_sess_take_held(inherited, &prog, &prog_cnt);
	fr_sess_close(inherited);
	if (close_others(fd, prog, prog_cnt))
		return 1;
	if (fr_sess_open(name, &s))
		return 1;
	fr_sess_hold(s, prog, prog_cnt);
	fr_cgroup_here(&have.cgroup_here);
	if (writer_take_memory(s, &have.room)) {
		fr_err("the writer has no memory for snapshots");
		return 1;
	}
	if (fr_sess_hold_progs(s) || fr_confine_writer(&conf, NULL))
		return 1;
	return writer_work(s, &have, fd);
}

/* ---- the recorder's side ---- */

/* Has it used no CPU for so long? */
static bool stands_still(struct fr_writer_proc *w, u64 timeout_ns)
{
	u64 cpu_ns, now_ns = fr_now_ns(CLOCK_MONOTONIC);
	clockid_t clock;

	if (!w->busy || clock_getcpuclockid(w->pid, &clock))
		return false;
	cpu_ns = fr_now_ns(clock);
	if (cpu_ns == w->cpu_ns)
		return now_ns - w->works_ns >= timeout_ns;
	w->cpu_ns = cpu_ns;
	w->works_ns = now_ns;
	return false;
}

bool fr_writer_cannot_end(struct fr_writer_proc *w)
{
	if (w->stuck > 0 && fr_child_wait(w->stuck, 0))
		w->stuck = -1;
	return w->stuck > 0;
}

static int writer_begin(struct fr_writer_proc *w)
{
	int pair[2], err;

	if (fr_writer_cannot_end(w))
		return -ETIMEDOUT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	fflush(NULL);
	w->pid = fork();
	if (!w->pid)
		_exit(be_writer(w->s, w->dir, pair[1]));
	err = w->pid < 0 ? -errno : 0;
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	w->fd = pair[0];
	return 0;
}

static void close_old(struct fr_writer_proc *w)
{
	if (w->old_fd >= 0)
		close(w->old_fd);
	w->old_fd = -1;
}

/*
 * A child that was forked a moment ago may still have its descriptor, and then epoll tells of it after it was closed here. So
 * it is closed with the next request or answer, when the caller has heard of the new one.
 */
static void bury(struct fr_writer_proc *w, int end_ms)
{
	close_old(w);
	if (w->fd >= 0)
		shutdown(w->fd, SHUT_RDWR);
	w->old_fd = w->fd;
	if (w->pid > 0 && !fr_child_end(w->pid, end_ms)) {
		w->stuck = w->pid;
		w->stuck_ns = fr_now_ns(CLOCK_MONOTONIC);
		fr_warn("the process that writes snapshots (%d) cannot be ended: its disk does not answer, or its cgroup is "
			"frozen: there are no snapshots until it has ended",
			w->pid);
	}
	w->fd = -1;
	w->pid = -1;
	w->busy = false;
}

int fr_writer_start(struct fr_sess *s, const char *dir, struct fr_writer_proc **out)
{
	struct fr_writer_proc *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->s = s;
	w->fd = w->old_fd = w->pid = w->stuck = -1;
	w->dir = strdup(dir);
	err = w->dir ? writer_begin(w) : -ENOMEM;
	if (err) {
		fr_err_errno(err, "cannot start the process that writes snapshots");
		fr_writer_stop(w);
		return err;
	}
	*out = w;
	return 0;
}

/* Whoever has a snapshot in progress completes it before it notices that we are gone. */
static void let_finish(struct fr_writer_proc *w)
{
	if (w->busy)
		shutdown(w->fd, SHUT_RDWR);
	while (w->busy && !stands_still(w, FINISH_STILL_NS))
		if (fr_child_wait(w->pid, END_MS)) {
			w->busy = false;
			w->pid = -1;
		}
}

void fr_writer_stop(struct fr_writer_proc *w)
{
	if (!w)
		return;
	let_finish(w);
	bury(w, END_MS);
	close_old(w);
	free(w->dir);
	free(w);
}

int fr_writer_fd(const struct fr_writer_proc *w)
{
	return w->fd;
}

pid_t fr_writer_pid(const struct fr_writer_proc *w)
{
	return w->pid;
}

static int writer_put_text(struct request *r, enum has which, char *to, size_t sz, const char *text)
{
	if (!text)
		return 0;
	if (strlen(text) >= sz)
		return -ENAMETOOLONG;
	strcpy(to, text);
	r->has |= which;
	return 0;
}

static int fill_dump(struct request *r, const struct fr_dump_ask *ask)
{
	int err;

	r->is_dump = true;
	r->last_ns = ask->last_ns;
	r->at_ns = ask->at_ns;
	r->pid = ask->pid;
	r->sig = ask->sig;
	r->names_itself = ask->names_itself;
	err = writer_put_text(r, 0, r->reason, sizeof(r->reason), ask->reason);
	err = err ?: writer_put_text(r, HAS_path, r->path, sizeof(r->path), ask->path);
	err = err ?: writer_put_text(r, HAS_dir, r->dir, sizeof(r->dir), ask->dir);
	err = err ?: writer_put_text(r, HAS_comm, r->comm, sizeof(r->comm), ask->comm);
	return err ?: writer_put_text(r, HAS_facts, r->facts, sizeof(r->facts), ask->facts);
}

static int writer_fill(struct request *r, const struct fr_writer_ask *ask)
{
	int err;

	memset(r, 0, sizeof(*r));
	r->store = *ask->store;
	r->last_sz = ask->last_sz;
	r->signature = ask->signature;
	r->may_exist = ask->may_exist;
	r->only_look = ask->only_look;
	r->age_only = ask->age_only;
	err = writer_put_text(r, 0, r->store_dir, sizeof(r->store_dir), ask->store->dir);
	return err || !ask->dump ? err : fill_dump(r, ask->dump);
}

static int send_request(struct fr_writer_proc *w)
{
	return send(w->fd, &w->req, sizeof(w->req), MSG_NOSIGNAL) == sizeof(w->req) ? 0 : -errno;
}

int fr_writer_ask(struct fr_writer_proc *w, const struct fr_writer_ask *ask)
{
	int err;

	if (w->busy)
		return -EBUSY;
	close_old(w);
	err = writer_fill(&w->req, ask);
	if (err)
		return err;
	err = w->fd < 0 ? -EPIPE : send_request(w);
	if (err == -EPIPE || err == -ECONNRESET) {
		/* it died while it had nothing to do */
		bury(w, END_MS);
		err = writer_begin(w);
		err = err ?: send_request(w);
		/* so did this one: what ends before it answers is told by fr_writer_answer(), however soon it ends */
		if (err == -EPIPE || err == -ECONNRESET)
			err = 0;
	}
	w->busy = !err;
	w->cpu_ns = 0;
	w->works_ns = fr_now_ns(CLOCK_MONOTONIC);
	return err;
}

void fr_writer_wait(struct fr_writer_proc *w)
{
	struct pollfd p = {.fd = w->fd, .events = POLLIN};

	while (poll(&p, 1, HELLO_MAX_MS) < 0 && errno == EINTR)
		;
}

/* One that dies as soon as it lives is made anew only when it is needed. */
#define DEATHS_MAX 3

static void writer_replace(struct fr_writer_proc *w, int end_ms)
{
	bury(w, end_ms);
	if (++w->deaths <= DEATHS_MAX)
		writer_begin(w);
}

u64 fr_writer_still_ns(struct fr_writer_proc *w)
{
	u64 now_ns = fr_now_ns(CLOCK_MONOTONIC);

	if (fr_writer_cannot_end(w))
		return now_ns - w->stuck_ns;
	return w->busy ? now_ns - w->works_ns : 0;
}

int fr_writer_answer(struct fr_writer_proc *w, u64 timeout_ns, struct fr_writer_done *done)
{
	struct answer *a = malloc(sizeof(*a));
	bool was_busy = w->busy;
	ssize_t got;
	int err;

	if (!a)
		return -ENOMEM;
	close_old(w);
	got = w->fd < 0 ? 0 : recv(w->fd, a, sizeof(*a), MSG_DONTWAIT);
	if (got == sizeof(*a) && a->hello) {
		err = -EAGAIN;
	} else if (got == sizeof(*a) && was_busy) {
		w->busy = false;
		w->deaths = 0;
		a->done.dump.path[sizeof(a->done.dump.path) - 1] = 0;
		*done = a->done;
		err = a->err > 0 ? -EIO : a->err;
	} else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
		err = -EAGAIN;
		if (stands_still(w, timeout_ns)) {
			writer_replace(w, 0);
			err = -ETIME;
		}
	} else {
		writer_replace(w, END_MS);
		err = was_busy ? -EPIPE : -EAGAIN;
	}
	free(a);
	return err;
}
