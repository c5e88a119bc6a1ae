/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_unwind: the stacks of the last deaths, as far as more is found of them than the kernel found by frame pointers. They are
 * written as other stacks are, under the same id, as rows that are no events of the ring (context): readers take the longer
 * one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/set/vec.h"
#include "base/text/redact.h"
#include "base/text/units.h"
#include "live/session/ustacks.h"
#include "live/snapshot/dump_int.h"
#include "live/snapshot/unwind.h"
#include "read/elf/symfind.h"
#include "sys/ns.h"

#define FILE_BITS 56 /* a word is { number of its file | offset }: see event stack_build_ids */
#define ID_WORDS  3u
#define WORD_MAX  (FR_STACK_DEPTH_MAX + FR_UNWIND_FILE_MAX * ID_WORDS)

static int unwind_put_row(struct fr_dump *d, const struct fr_ustack *u, const char *event, const char *field, u64 flags,
			  u64 *num, u32 cnt)
{
	const struct fr_dump_stack_row row = {
		.ts = u->mono_ns,
		.id = u->stack_id,
		.tid = u->tid,
		.event = event,
		.field = field,
		.frame_cnt = flags,
		.num = num,
		.cnt = cnt,
	};

	return fr_dump_put_stack_row(d, &row);
}

/* The name of a mapping, and what was found of the file; NULL: it has none. */
static const struct fr_ustack_name *name_of(const struct fr_ustack *u, const struct fr_ustack_map *m)
{
	return m->name ? &u->memory.name[m->name - 1] : NULL;
}

static const struct fr_unwound_file *file_of(const struct fr_unwound *found, const struct fr_ustack_map *m)
{
	return m->name ? &found->file[m->name - 1] : NULL;
}

/* A word for each frame, then the build-ids. Returns how many words. */
static u32 fill_words(const struct fr_ustack *u, const struct fr_unwound *found, u64 word[WORD_MAX])
{
	const struct fr_unwound_file *file;
	const struct fr_ustack_map *m;
	u64 off;
	u32 i;

	for (i = 0; i < found->cnt; i++) {
		if (!found->map[i])
			continue;
		m = &u->map[found->map[i] - 1];
		file = file_of(found, m);
		off = found->ip[i] - m->start + m->off;
		if (!file || !file->nr || off >> FILE_BITS)
			continue;
		word[i] = (u64)file->nr << FILE_BITS | off;
		memcpy(&word[found->cnt + (file->nr - 1) * ID_WORDS], file->build_id, FR_BUILD_ID_MAX);
	}
	return found->cnt + found->file_cnt * ID_WORDS;
}

static int unwind_put_stack(struct fr_dump *d, const struct fr_ustack *u, struct fr_unwound *found)
{
	u64 word[WORD_MAX] = {};
	u32 cnt = fill_words(u, found, word);
	int err = unwind_put_row(d, u, "stack", "frames", 0, found->ip, found->cnt);

	return err ?: unwind_put_row(d, u, "stack_build_ids", "words", found->cnt, word, cnt);
}

/* Keep a mapping: whose file is still where it was, this is known of no other process that has ended; or is not. */
static void keep_mapping(struct fr_dump *d, const struct fr_ustack *u, const struct fr_unwound_file *file,
			 const struct fr_ustack_map *m)
{
	struct fr_snap_mapping *more = fr_vec_more(&d->dead, d->dead_cnt);

	if (!more)
		return;
	*more = (struct fr_snap_mapping){
		.pid = u->pid,
		.begin = m->start,
		.end = m->end,
		.file_off = m->off,
		.path = strdup(name_of(u, m)->path),
		.build_id_sz = file->build_id_sz,
		/* as of live processes: without a build-id nothing else tells it from a file of that path here */
		.deleted = !file->is_there || (file->is_elsewhere && !file->build_id_sz),
	};
	memcpy(more->build_id, file->build_id, FR_BUILD_ID_MAX);
	d->dead_cnt += more->path != NULL;
}

static bool has_frame(const struct fr_unwound *found, u32 map)
{
	u32 i;

	for (i = 0; i < found->cnt; i++)
		if (found->map[i] == map + 1)
			return true;
	return false;
}

static int put_unwound(struct fr_dump *d, const struct fr_ustack *u, struct fr_unwound *found)
{
	const struct fr_ustack_map *m;
	u32 i;

	for (i = 0; i < u->map_cnt; i++) {
		m = &u->map[i];
		if (has_frame(found, i) && m->name && (file_of(found, m)->is_there || name_of(u, m)->path[0] == '/'))
			keep_mapping(d, u, file_of(found, m), m);
	}
	return found->cnt > u->frame_cnt ? unwind_put_stack(d, u, found) : 0;
}

/* Of a death before that the snapshot has no event: with a second more, as the time is not of the recording's clock. */
static u64 unwind_since_ns(const struct fr_dump *d)
{
	u64 least_ns = ~0ULL, ns;
	size_t i;

	for (i = 0; i < d->src_cnt; i++) {
		ns = d->src[i].acct.horizon_ns > d->since_ns ? d->src[i].acct.horizon_ns : d->since_ns;
		if (d->src[i].map->tier == FR_TIER_LIFE && ns < least_ns)
			least_ns = ns;
	}
	return least_ns > FR_SEC_NS ? least_ns - FR_SEC_NS : 0;
}

/* The root of a mount namespace, if it is another one than the last, whose is *root. */
static int root_of(u32 mnt_ns, u32 *last, int root)
{
	if (mnt_ns == *last)
		return root;
	if (root >= 0)
		close(root);
	*last = mnt_ns;
	return fr_ns_root(mnt_ns);
}

/* ---- all of them ---- */

struct fr_dump_unwound {
	struct fr_dump *d;
	struct fr_ustack *u;
	u32 cnt;
	struct fr_unwound **found;				 /* NULL: nothing, or not told */
	struct fr_unwound_thread (*thread)[FR_SCENE_THREAD_CNT]; /* of each; cnt 0: nothing, or not told */
	bool *failed;						 /* of each: the runner said that of threads, once */
	struct fr_unwound *mine;				 /* the runner's */
	u32 mnt_ns;						 /* likewise: of the last root, */
	int root;						 /* or -1 */
};

/* What is told of a death, and the steps that it takes: its frames, those of the other threads, one by one, and then the first
 * again with what the files are that no frame lies in. Also that some file of the other threads' frames could not be read. */
enum { FRAMES, THREADS, OTHERS, THREADS_FAILED };

struct telling {
	const struct fr_unwound *mine;
	struct fr_errand_out *to;
};

/* What the files are that its frames lie in, of which the next thread's may keep us waiting; and the frames. */
static void tell_thread(void *arg, const struct fr_unwound_thread *thread)
{
	const struct telling *t = arg;

	fr_errand_tell(t->to, FRAMES, t->mine, sizeof(*t->mine));
	fr_errand_tell(t->to, THREADS, thread, sizeof(*thread));
}

static void unwind_one(void *arg, u32 item, struct fr_errand_out *to)
{
	struct fr_dump_unwound *n = arg;
	struct telling telling = {n->mine, to};

	n->root = root_of(n->u[item].mnt_ns, &n->mnt_ns, n->root);
	if (fr_unwind(&n->u[item], n->root, n->mine))
		return;
	fr_errand_tell(to, FRAMES, n->mine, sizeof(*n->mine));
	if (n->mine->err) {
		fr_errand_fail(to);
		return;
	}
	fr_errand_step(to, THREADS);
	if (fr_unwind_threads(&n->u[item], n->root, n->mine, tell_thread, &telling))
		fr_errand_tell(to, THREADS_FAILED, NULL, 0); /* the rest is done nevertheless */
	fr_errand_step(to, OTHERS);
	if (fr_unwind_others(&n->u[item], n->root, n->mine))
		fr_errand_fail(to);
	fr_errand_tell(to, OTHERS, n->mine, sizeof(*n->mine));
}

/* What a runner tells has come from files that anybody may have rigged. */
static bool unwind_is_sound(const struct fr_unwound *found, const struct fr_ustack *u)
{
	u32 i;

	if (found->cnt > FR_STACK_DEPTH_MAX || found->file_cnt > FR_UNWIND_FILE_MAX)
		return false;
	for (i = 0; i < found->cnt; i++)
		if (found->map[i] > u->map_cnt)
			return false;
	for (i = 0; i < FR_USTACK_NAME_CNT; i++)
		if (found->file[i].nr > found->file_cnt || found->file[i].build_id_sz > FR_BUILD_ID_MAX)
			return false;
	return true;
}

static void unwind_take_thread(struct fr_dump_unwound *n, u32 item, const void *data, u32 sz)
{
	struct fr_unwound_thread t;

	if (sz != sizeof(t))
		return;
	memcpy(&t, data, sz);
	if (t.nr < n->u[item].scene.thread_cnt && t.cnt <= FR_UNWIND_THREAD_DEPTH)
		n->thread[item][t.nr] = t;
}

static void take_failed(struct fr_dump_unwound *n, u32 item)
{
	if (!n->failed[item])
		fr_unread_add(&n->d->unread, n->u[item].pid, "threads", FR_ERRAND_FAILED);
	n->failed[item] = true;
}

static void unwind_take_one(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	struct fr_dump_unwound *n = arg;
	struct fr_unwound *found;

	if (kind == THREADS)
		unwind_take_thread(n, item, data, sz);
	if (kind == THREADS_FAILED)
		take_failed(n, item);
	if ((kind != FRAMES && kind != OTHERS) || sz != sizeof(*found))
		return;
	found = malloc(sizeof(*found));
	if (!found)
		return;
	memcpy(found, data, sz);
	if (!unwind_is_sound(found, &n->u[item])) {
		free(found);
		return;
	}
	free(n->found[item]);
	n->found[item] = found;
}

/* The step is what the runner says: any number. What the files are is found last, so it is missing, too. */
static void miss_one(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	static const char *const what[] = {[FRAMES] = "stack", [THREADS] = "threads", [OTHERS] = "files"};
	struct fr_dump_unwound *n = arg;

	fr_unread_add(&n->d->unread, n->u[item].pid, what[step < OTHERS ? step : OTHERS], why);
	if (step == THREADS)
		fr_unread_add(&n->d->unread, n->u[item].pid, what[OTHERS], why);
}

static u32 death_cnt(void *arg)
{
	return ((struct fr_dump_unwound *)arg)->cnt;
}

static u64 unwind_pid_of(void *arg, u32 item)
{
	return ((struct fr_dump_unwound *)arg)->u[item].pid;
}

/* Without those that died before what the snapshot has. */
static void read_ustacks(struct fr_dump_unwound *n)
{
	u64 from_ns = unwind_since_ns(n->d);
	int cnt = n->d->src_cnt && !n->d->ask->only_tiers ? fr_ustacks_read(n->d->s, &n->u) : 0, i;

	for (i = 0; i < cnt; i++)
		if (n->u[i].mono_ns >= from_ns)
			n->u[n->cnt++] = n->u[i];
}

struct fr_dump_unwound *fr_dump_unwound_new(struct fr_dump *d, struct fr_errand_job job[FR_DUMP_UNWOUND_JOB_CNT])
{
	struct fr_dump_unwound *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->d = d;
	n->root = -1;
	read_ustacks(n);
	n->found = calloc(n->cnt + 1, sizeof(*n->found));
	n->thread = calloc(n->cnt + 1, sizeof(*n->thread));
	n->failed = calloc(n->cnt + 1, sizeof(*n->failed));
	n->mine = malloc(sizeof(*n->mine));
	if (!n->cnt || !n->found || !n->thread || !n->failed || !n->mine) {
		n->cnt = 0;
		fr_dump_unwound_free(n);
		return NULL;
	}
	job[0] = (struct fr_errand_job){
		.arg = n, .cnt = death_cnt, .key = unwind_pid_of, .run = unwind_one, .take = unwind_take_one, .miss = miss_one};
	return n;
}

/* ---- what they had ---- */

/* A path may have a secret in it, as a command line may. -ENOMEM: no room. */
static int redacted_path(struct fr_dump *d, const char *object, char **out)
{
	size_t len = strnlen(object, FR_SCENE_OBJECT_SZ), room = len * (1 + strlen(FR_REDACTED)) + 1;
	char *text = malloc(room);

	if (!text)
		return -ENOMEM;
	text[fr_redact(d->secrets.words, FR_REDACT_LINE, object, len, text, room - 1, &d->secrets.cnt)] = 0;
	*out = text;
	return 0;
}

static int add_thing(struct fr_vec *v, const struct fr_ustack *u, u8 what, u64 number, const u64 value[3], char *text)
{
	struct fr_snap_scene n = {.tid = u->tid,
				  .start_ns = u->scene.start_ns,
				  .at_ns = u->scene.at_ns,
				  .what = what,
				  .number = number,
				  .text = text};

	memcpy(n.value, value, sizeof(n.value));
	return fr_vec_add(v, &n, 1);
}

/* The same with a text. */
static int add_named(struct fr_dump *d, struct fr_vec *v, const struct fr_ustack *u, u8 what, u64 number, const u64 value[3],
		     const char *path)
{
	char *text = NULL;
	int err = redacted_path(d, path, &text) ?: add_thing(v, u, what, number, value, text);

	if (err)
		free(text);
	return err;
}

static int add_descriptors(struct fr_dump *d, const struct fr_ustack *u, struct fr_vec *v)
{
	const struct fr_scene *s = &u->scene;
	const u64 looked_at[3] = {s->fd_more ? s->fd_end : 0};
	int err = add_thing(v, u, FR_SCENE_descriptors, s->open_cnt, looked_at, NULL);
	u32 i;

	for (i = 0; i < s->fd_cnt && !err; i++) {
		const u64 value[3] = {s->fd[i].flags, s->fd[i].pos};

		err = add_named(d, v, u, FR_SCENE_descriptor, s->fd[i].fd, value, s->fd[i].object);
	}
	return err;
}

/* It is of no secret. */
static int add_build_id(struct fr_vec *v, const struct fr_ustack *u, const struct fr_ustack_map *m,
			const struct fr_unwound_file *file)
{
	static const u64 none[3] = {};
	char *text = malloc(2 * FR_BUILD_ID_MAX_SZ + 1);
	int err;

	if (!text)
		return -ENOMEM;
	fr_build_id_text(file->build_id, file->build_id_sz, text);
	err = add_thing(v, u, FR_SCENE_build_id, m->start, none, text);
	if (err)
		free(text);
	return err;
}

/* Was it noted before, as near to what matters? Those come first. */
static bool is_again(const struct fr_ustack *u, u32 map)
{
	u32 i;

	for (i = 0; i < map && i < FR_USTACK_NEAR_CNT; i++)
		if (u->map[i].start == u->map[map].start)
			return true;
	return false;
}

/* found: NULL: files could not be asked. */
static int add_mapping(struct fr_dump *d, struct fr_vec *v, const struct fr_ustack *u, const struct fr_ustack_map *m,
		       const struct fr_unwound *found)
{
	const u64 value[3] = {m->end, m->off, m->flags};
	const struct fr_ustack_name *name = name_of(u, m);
	const struct fr_unwound_file *file = found ? file_of(found, m) : NULL;
	int err = add_named(d, v, u, FR_SCENE_mapping, m->start, value, name ? name->path : "");

	return err ?: file && file->build_id_sz ? add_build_id(v, u, m, file) : 0;
}

static int add_memory(struct fr_dump *d, const struct fr_ustack *u, const struct fr_unwound *found, struct fr_vec *v)
{
	const u64 at[3] = {u->memory.ip, u->memory.sp, u->memory.addr};
	int err = add_thing(v, u, FR_SCENE_mappings, u->memory.had_cnt, at, NULL);
	u32 i;

	for (i = 0; i < u->map_cnt && !err; i++)
		if (u->map[i].start < u->map[i].end && !is_again(u, i))
			err = add_mapping(d, v, u, &u->map[i], found);
	return err;
}

_Static_assert(FR_UNWIND_THREAD_DEPTH <= FR_SCENE_FRAME_MOST, "readers take so many");

/* The frames of a thread. */
static int unwind_add_frames(const struct fr_ustack *u, u32 tid, const struct fr_unwound_thread *t, struct fr_vec *v)
{
	int err = 0;
	u32 i;

	for (i = 0; i < t->cnt && !err; i++) {
		u64 how = (t->exact >> i & 1 ? FR_SCENE_FRAME_EXACT : 0) |
			  (t->is_whole && i == t->cnt - 1 ? FR_SCENE_FRAME_LAST : 0);
		const u64 value[3] = {t->ip[i], how};

		err = add_thing(v, u, FR_SCENE_frame, (u64)tid << FR_SCENE_FRAME_BITS | i, value, NULL);
	}
	return err;
}

static int unwind_add_threads(const struct fr_ustack *u, const struct fr_unwound_thread *found, struct fr_vec *v)
{
	static const u64 none[3] = {};
	const struct fr_scene *s = &u->scene;
	int err = add_thing(v, u, FR_SCENE_threads, s->thread_had_cnt, none, NULL);
	u32 i;

	for (i = 0; i < s->thread_cnt && !err; i++) {
		const struct fr_scene_thread *t = &s->thread[i];
		const u64 value[3] = {fr_scene_how(t->id, t->abi, t->flags, t->state), t->ip, t->sp};
		char *name = strndup(t->comm, sizeof(t->comm));

		err = name ? add_thing(v, u, FR_SCENE_thread, t->tid, value, name) : -ENOMEM;
		if (err)
			free(name);
		err = err ?: unwind_add_frames(u, t->tid, &found[i], v);
	}
	return err;
}

/* Of descriptors that were not all looked at it is not known. */
static u64 unwind_used(const struct fr_scene *s, u32 limit)
{
	if (limit != FR_RLIMIT_NOFILE)
		return s->used[limit];
	return s->fd_end && !s->fd_more ? s->open_cnt : FR_SCENE_NO_VALUE;
}

static int add_scene(struct fr_dump *d, const struct fr_ustack *u, const struct fr_unwound *found,
		     const struct fr_unwound_thread *threads, struct fr_vec *v)
{
	const struct fr_scene *s = &u->scene;
	int err = 0;
	u32 i;

	if (!s->at_ns)
		return 0;
	for (i = 0; i < FR_SCENE_LIMIT_CNT && !err; i++) {
		const u64 value[3] = {s->limit[i].soft, s->limit[i].hard, unwind_used(s, i)};

		err = add_thing(v, u, FR_SCENE_limit, i, value, NULL);
	}
	err = err ?: s->fd_end ? add_descriptors(d, u, v) : 0;
	err = err ?: s->thread_had_cnt && s->thread_cnt ? unwind_add_threads(u, threads, v) : 0;
	return err ?: u->memory.had_cnt && u->map_cnt ? add_memory(d, u, found, v) : 0;
}

static int put_scenes(struct fr_dump *d, const struct fr_dump_unwound *n)
{
	struct fr_vec v = {.item_sz = sizeof(struct fr_snap_scene)};
	const struct fr_snap_scene *at;
	int err = 0;
	size_t i;

	for (i = 0; i < n->cnt && !err; i++)
		err = add_scene(d, &n->u[i], n->found[i], n->thread[i], &v);
	err = err ?: fr_snap_put_scenes(d->w, v.at, v.cnt);
	for (i = 0, at = v.at; i < v.cnt; i++)
		free((char *)at[i].text);
	fr_vec_free(&v);
	return err;
}

int fr_dump_put_unwound(struct fr_dump *d, struct fr_dump_unwound *n)
{
	int err = 0;
	u32 i;

	for (i = 0; n && i < n->cnt && !err; i++)
		if (n->found[i])
			err = put_unwound(d, &n->u[i], n->found[i]);
	return err ?: n ? put_scenes(d, n) : 0;
}

void fr_dump_unwound_free(struct fr_dump_unwound *n)
{
	u32 i;

	if (!n)
		return;
	for (i = 0; i < n->cnt; i++)
		free(n->found[i]);
	free(n->found);
	free(n->thread);
	free(n->failed);
	free(n->mine);
	free(n->u);
	free(n);
}
