/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A snapshot, step by step:
 *  1. The reader's lock. A reader before us that was killed left nothing but perhaps a sub-buffer in the spare's place:
 *     put it back. One that is stopped, or waits for its disk, keeps the lock: after a while we read beside it, and leave
 *     everything in its place.
 *  2. The trigger's mark and the snapshot's go into the ring, by BPF.
 *  3. Copy the rings, oldest lap first, into a buffer taken before, and more if there is plenty (dump_room.h); memory to encode
 *     and write them is taken behind that, so that they are copied sooner. (A recorder has all that is certain long before: a
 *     dump is wanted just when memory is short.) Rings that are larger than the buffer are copied and encoded in waves, those
 *     with the shortest history first: what a ring overwrites while it waits is not in the snapshot.
 *  4. Look at the tasks, how each is now (dump_states.c).
 *  5. Then, at leisure: tasks, processes, clocks, counters. Write, sync, rename.
 */
#include "live/snapshot/dump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/err.h"
#include "base/text/units.h"
#include "live/snapshot/dump_int.h"
#include "live/snapshot/name.h"
#include "sys/now.h"
#include "sys/patience.h"

#define NAME_TRIES 100

static int create_file(struct fr_dump *d)
{
	char *dir = NULL;
	u32 nr;
	int err;

	if (d->ask->glance) {
		snprintf(d->done->path, sizeof(d->done->path), "of session '%s'", fr_sess_name(d->s));
		return fr_snap_create_on(d->ask->to_fd, d->done->path, fr_snap_writer_sz(d->jobs), d->jobs, &d->w);
	}
	if (d->ask->path) {
		snprintf(d->done->path, sizeof(d->done->path), "%s", d->ask->path);
		return fr_snap_create(d->done->path, fr_snap_writer_sz(d->jobs), d->jobs, &d->w);
	}
	if (!d->ask->dir)
		dir = fr_sess_fact(d->s, "dir");
	for (nr = 0, err = -EEXIST; err == -EEXIST && nr < NAME_TRIES; nr++) {
		err = fr_name_snapshot(d->done->path, sizeof(d->done->path), d->ask->dir ?: dir ?: FR_DEF_DIR,
				       fr_now_ns(CLOCK_REALTIME), d->ask->reason, d->ask->comm, d->ask->pid, nr);
		if (!err && !access(d->done->path, F_OK))
			err = -EEXIST;
		err = err ?: fr_snap_create(d->done->path, fr_snap_writer_sz(d->jobs), d->jobs, &d->w);
	}
	free(dir);
	return err;
}

/* The session's schema, which may lack or have other events than ours; the writer uses it to the end. */
static int read_schema(struct fr_dump *d)
{
	const char *text;
	size_t sz;

	text = fr_sess_schema(d->s, &sz);
	return fr_schema_parse(text, sz, &d->schema);
}

static u64 dump_behind(u64 ts, u64 ns)
{
	return ts > ns ? ts - ns : 0;
}

/* The last of history is counted back from the moment, if there was one: a snapshot may come long after it. */
static int dump_begin(struct fr_dump *d)
{
	const struct fr_dump_ask *ask = d->ask;
	const struct fr_sess_trigger mark = {.reason = ask->reason, .tid = ask->pid, .rule = FR_RULE_NONE, .sig = ask->sig};
	int err = 0;

	d->trigger_ts = ask->at_ns;
	if (!ask->at_ns)
		err = fr_sess_mark_trigger(d->s, &mark, &d->trigger_ts);
	if (!err)
		fr_sess_tell_thinned(d->s);
	err = err ?: fr_sess_mark_begin(d->s, &d->begin_ts, &d->nr);
	d->sample_taken = fr_load(&fr_sess_shared(d->s)->sample_taken);
	if (!err && ask->last_ns)
		d->since_ns = dump_behind(ask->at_ns && ask->at_ns < d->begin_ts ? ask->at_ns : d->begin_ts, ask->last_ns);
	return err;
}

/* No mark is left: it is no snapshot. */
static int write_part(struct fr_dump *d)
{
	struct fr_call now;
	int err = fr_sess_clocks(d->s, &now);

	if (!err)
		d->begin_ts = d->trigger_ts = now.ns;
	d->sample_taken = fr_load(&fr_sess_shared(d->s)->sample_taken);
	err = err ?: read_schema(d);
	err = err ?: fr_dump_put_events(d);
	return err ?: fr_dump_put_meta(d);
}

/* No mark, either: who looks once a second would fill the life tier with them. */
static int write_glance(struct fr_dump *d)
{
	struct fr_call now;
	int err = fr_sess_clocks(d->s, &now);

	if (err)
		return err;
	d->begin_ts = now.ns;
	d->since_ns = dump_behind(now.ns, d->ask->last_ns);
	d->sample_taken = fr_load(&fr_sess_shared(d->s)->sample_taken);
	err = read_schema(d);
	err = err ?: fr_dump_put_events(d);
	return err ?: fr_dump_put_meta(d);
}

static int write_snapshot(struct fr_dump *d)
{
	u64 end_ts;
	int err = read_schema(d);

	err = err ?: dump_begin(d);
	err = err ?: fr_dump_put_events(d);
	err = err ?: fr_sess_mark_end(d->s, d->nr, &end_ts);
	return err ?: fr_dump_put_meta(d);
}

int fr_dump_finish(struct fr_dump *d)
{
	struct stat st;
	int err = fr_snap_finish(d->w);

	d->w = NULL;
	d->done->elapsed_ns = fr_now_ns(CLOCK_MONOTONIC) - d->begun_ns;
	if (!err && !stat(d->done->path, &st))
		d->done->bytes = st.st_size;
	return err;
}

/* The writer's threads may read the buffer and the schema until it has ended. */
void fr_dump_free(struct fr_dump *d)
{
	fr_snap_abort(d->w);
	fr_schema_free(d->schema);
	fr_dump_room_return(&d->room);
	if (!d->ask->room)
		fr_dump_room_free(&d->room);
	pthread_mutex_destroy(&d->peeking);
	free(d->src);
	free(d->turn);
	free(d->copied);
	free(d->hole);
	free(d->addrs);
	free((char *)d->secrets.words);
	fr_dump_free_mappings(d->dead, d->dead_cnt);
	fr_dump_states_free(d->states);
	fr_sampler_close(d->sampler);
	free(d->blocked);
}

/* The steps of a snapshot say what fails. */
static int dump_prepare(struct fr_dump *d)
{
	struct fr_dump_needs needs;
	char need[32];
	int err = fr_dump_open(d);

	if (err)
		return err;
	err = fr_dump_take_memory(d);
	if (!err)
		return 0;
	needs = fr_dump_needs(d->s);
	fr_err("cannot prepare a snapshot: %s: it takes %s of memory while it runs", strerror(-err),
	       fr_show_size(needs.sure_sz + needs.rest_sz, need, sizeof(need)));
	return err;
}

static int dump_create(struct fr_dump *d)
{
	int err = create_file(d);

	if (err == -EEXIST && !d->ask->names_itself)
		fr_err("cannot write snapshot %s: it exists, and is never replaced: give another name with -o", d->done->path);
	return err;
}

/* Once all is written, or that has failed. */
static int dump_complete(struct fr_dump *d, int err)
{
	err = err ?: fr_dump_look_for_stop(d);
	return err ?: fr_dump_finish(d);
}

static int told(const struct fr_dump *d, int err)
{
	const char *cure = fr_err_cure(err, NULL);

	/* ended by somebody who did not wait for us */
	if (err && fr_sess_is_gone(d->s)) {
		fr_err("no snapshot %s: session '%s' was ended while this process stood still", d->done->path,
		       fr_sess_name(d->s));
		return -ENOENT;
	}
	if (err && (err != -EEXIST || !d->ask->names_itself))
		fr_err("cannot write snapshot %s: %s: %s%snothing is lost, the session goes on recording", d->done->path,
		       strerror(-err), cure ?: "", cure ? "; " : "");
	return err;
}

static int dump_part(struct fr_dump *d)
{
	int err = dump_prepare(d) ?: dump_create(d);

	return err ?: told(d, dump_complete(d, write_part(d)));
}

static int dump_rings(struct fr_dump *d)
{
	int err = dump_prepare(d) ?: dump_create(d);

	if (err)
		return err;
	fr_progress_begin(&d->bar, "snapshot");
	err = dump_complete(d, write_snapshot(d));
	fr_progress_end(&d->bar);
	return told(d, err);
}

static int dump_locked(struct fr_dump *d)
{
	d->begun_ns = fr_now_ns(CLOCK_MONOTONIC);
	d->jobs = 1;
	return d->ask->only_tiers ? dump_part(d) : dump_rings(d);
}

/* We were slow, or stood still, and others did not wait: whose history may have been overwritten before we copied it is ours.
 */
static void say_beside(const struct fr_dump *d, int err)
{
	if (!d->beside && fr_sess_was_beside(d->s))
		fr_warn("this process stood still, or its disk did not answer, and another snapshot of session '%s' was taken "
			"meanwhile%s",
			fr_sess_name(d->s),
			err ? ""
			    : ": `flightrec info` shows until when this one has the events of each CPU, and what is missing");
}

int fr_dump(struct fr_sess *s, const struct fr_dump_ask *ask, struct fr_dump_done *done)
{
	struct fr_dump d = {.s = s, .ask = ask, .done = done, .peeking = PTHREAD_MUTEX_INITIALIZER};
	sigset_t was;
	int err;

	memset(done, 0, sizeof(*done));
	err = fr_sess_lock(s, fr_patience_ms(FR_DUMP_WAIT_MS), &d.beside);
	if (err == -ENOENT)
		fr_sess_say_none(fr_sess_name(s), true);
	if (err)
		return err;
	if (ask->stop)
		pthread_sigmask(SIG_BLOCK, ask->stop, &was); /* threads inherit it */
	fr_sess_be_self(s, false, NULL);
	d.secrets.words = fr_sess_fact(s, "redact");
	err = dump_locked(&d);
	fr_dump_free(&d);
	say_beside(&d, err);
	fr_sess_unlock(s);
	if (ask->stop)
		pthread_sigmask(SIG_SETMASK, &was, NULL);
	return err;
}

int fr_dump_glance(struct fr_sess *s, const struct fr_dump_ask *ask, struct fr_dump_done *done)
{
	struct fr_dump d = {.s = s, .ask = ask, .done = done, .beside = true, .peeking = PTHREAD_MUTEX_INITIALIZER};
	int err;

	memset(done, 0, sizeof(*done));
	d.begun_ns = fr_now_ns(CLOCK_MONOTONIC);
	d.jobs = 1;
	d.secrets.words = fr_sess_fact(s, "redact");
	err = dump_prepare(&d) ?: dump_create(&d);
	if (!err)
		err = told(&d, dump_complete(&d, write_glance(&d)));
	fr_dump_free(&d);
	return err;
}

void fr_dump_say(const struct fr_dump_done *done)
{
	char bytes[32], copied[32], took[32];

	if (done->found) {
		fr_say("snapshot %s: %s, was complete before its recorder heard of it", done->path,
		       fr_show_size(done->bytes, bytes, sizeof(bytes)));
		return;
	}
	fr_say("snapshot %s: %llu event%s, %s, in %s, the rings read after %s", done->path, done->events,
	       fr_plural(done->events), fr_show_size(done->bytes, bytes, sizeof(bytes)),
	       fr_show_duration(done->elapsed_ns, took, sizeof(took)),
	       fr_show_duration(done->copied_ns, copied, sizeof(copied)));
	if (done->missed)
		fr_warn("%llu sub-buffer%s could not be read: `flightrec info` shows which", done->missed,
			fr_plural(done->missed));
}
