/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/symbols/frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INLINE_MAX 16u			     /* functions of one frame */
#define CACHE_CNT  (1u << 14)		     /* stacks kept, a power of two; when three quarters are used they are forgotten */
#define FRAME_MAX  (FR_REC_MAX_SZ / 8 + 256) /* functions of a stack: inlined ones are few */

/* A stack, and in words: cnt of both, in one piece of memory. */
struct stack {
	u64 id;
	u32 pid, file;
	u32 first;		/* frame that is told: those before it are left out */
	struct fr_frame *frame; /* NULL: free */
	const char **text;
	u32 cnt;
};

struct fr_frames {
	struct fr_replay *replay;
	const struct fr_replay_run *run; /* whose rows are asked for */
	struct fr_symbols_opts opts;
	struct fr_symbols **symbols; /* by file */
	char **dir;		     /* of each file */
	u32 file_cnt;
	struct stack *cache;
	u32 cache_cnt;
	bool no_memory;			  /* for a stack, or a file's symbols */
	struct fr_frame frame[FRAME_MAX]; /* of the stack being made */
};

/* ---- a frame ---- */

static const char *frames_base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void frames_put_named(const struct fr_symbol *s, char *to, size_t sz)
{
	char off[24] = "", where[300] = "", line[600] = "";

	if (!s->inlined && (s->off || !s->file))
		snprintf(off, sizeof(off), "+0x%llx", s->off);
	if (s->module && s->module[0] == '/')
		snprintf(where, sizeof(where), " (%s)", frames_base_of(s->module));
	else if (s->module && s->module[0] == '[' && strcmp(s->module, "[kernel]"))
		snprintf(where, sizeof(where), " %s", s->module);
	else if (s->module && s->module[0] != '[')
		snprintf(where, sizeof(where), " [%s]", s->module);
	if (s->file)
		snprintf(line, sizeof(line), " %s:%u", s->file, s->line);
	snprintf(to, sz, "%s%s%s%s%s", s->name, off, where, line, s->inlined ? " (inlined)" : "");
}

void fr_frame_text(const struct fr_symbol *s, u64 ip, char to[FR_FRAME_TEXT_SZ])
{
	if (s->name)
		frames_put_named(s, to, FR_FRAME_TEXT_SZ);
	else if (s->module)
		snprintf(to, FR_FRAME_TEXT_SZ, "%s+0x%llx%s%s%s", s->module, s->module_off, s->missing ? " (" : "",
			 s->missing ? s->missing : "", s->missing ? ")" : "");
	else
		snprintf(to, FR_FRAME_TEXT_SZ, "0x%llx", ip);
}

/* ---- a stack ---- */

/* Of one boot? Files that do not say are alone. */
static bool is_related(const struct fr_frames *f, u32 a, u32 b)
{
	const char *x = fr_snap_fact(fr_replay_snap(f->replay, a), "boot_id");
	const char *y = fr_snap_fact(fr_replay_snap(f->replay, b), "boot_id");

	return a == b || (x && y && !strcmp(x, y));
}

/* The k-th file to be asked about rows of a file: itself first. file_cnt: no more. */
static u32 asked(const struct fr_frames *f, u32 file, u32 k)
{
	u32 i;

	if (!k)
		return file;
	for (i = 0; i < f->file_cnt; i++) {
		if (i != file && is_related(f, file, i) && !--k)
			return i;
	}
	return f->file_cnt;
}

static u32 find_kernel(struct fr_frames *f, u32 file, u64 ip, struct fr_symbol *s)
{
	struct fr_symbols *y;
	u32 k, i;

	*s = (struct fr_symbol){0};
	for (k = 0; !s->name && (i = asked(f, file, k)) < f->file_cnt; k++) {
		y = fr_frames_symbols(f, i);
		if (y)
			fr_symbols_kernel(y, ip, s);
	}
	return 1;
}

/* Snapshots of one boot share a stack's events; where its frames lay is in the one that the stack is of. */
static u32 file_of_stack(const struct fr_frames *f, u32 file, u64 id)
{
	struct fr_snap_frame frame;
	u32 k, i, nr;

	for (k = 0; (i = asked(f, file, k)) < f->file_cnt; k++) {
		for (nr = 0; nr < 2; nr++) {
			if (fr_snap_frame(fr_replay_snap(f->replay, i), id, nr, &frame))
				return i;
		}
	}
	return file;
}

/* Frames to leave out: the recorder's in an event's stack, but none in a sample, which says where time went. */
static u32 left_out(struct fr_frames *f, const struct stack *key, const struct fr_row *r, const u64 *ips, size_t ip_cnt)
{
	struct fr_symbols *y;

	if (f->opts.raw || !strcmp(r->ev->name, "cpu_sample"))
		return 0;
	y = fr_frames_symbols(f, key->file);
	return y ? fr_symbols_recorder_frames(y, ips, ip_cnt) : 0;
}

/* From the key's first frame on, into f->frame; how many. */
static u32 find_frames(struct fr_frames *f, const struct stack *key, const u64 *ips, size_t ip_cnt)
{
	struct fr_symbols *y = fr_frames_symbols(f, file_of_stack(f, key->file, key->id));
	struct fr_symbol s[INLINE_MAX];
	u32 cnt = 0, i, found, nr;

	for (nr = key->first; y && nr < ip_cnt; nr++) {
		if (fr_is_kernel_ip(ips[nr]))
			found = find_kernel(f, key->file, ips[nr], s);
		else
			found = fr_symbols_user(y, key->pid, key->id, nr, ips[nr], s, INLINE_MAX);
		for (i = 0; i < found && cnt < FRAME_MAX; i++)
			f->frame[cnt++] = (struct fr_frame){.ip = ips[nr], .sym = s[i]};
	}
	return cnt;
}

/* Frames, then the array of texts, then the texts. */
static void frames_keep(struct fr_frames *f, struct stack *to)
{
	size_t fixed_sz = to->cnt * (sizeof(*to->frame) + sizeof(*to->text)), sz = fixed_sz;
	char text[FR_FRAME_TEXT_SZ], *p;
	u32 i;

	for (i = 0; i < to->cnt; i++) {
		fr_frame_text(&f->frame[i].sym, f->frame[i].ip, text);
		sz += strlen(text) + 1;
	}
	to->frame = malloc(sz + 1);
	if (!to->frame) {
		f->no_memory = true;
		return;
	}
	memcpy(to->frame, f->frame, to->cnt * sizeof(*to->frame));
	to->text = (const char **)(to->frame + to->cnt);
	for (i = 0, p = (char *)to->frame + fixed_sz; i < to->cnt; i++, p += strlen(p) + 1) {
		fr_frame_text(&f->frame[i].sym, f->frame[i].ip, text);
		to->text[i] = strcpy(p, text);
	}
	f->cache_cnt++;
}

static void frames_forget(struct fr_frames *f)
{
	u32 i;

	for (i = 0; i < CACHE_CNT; i++)
		free(f->cache[i].frame);
	memset(f->cache, 0, CACHE_CNT * sizeof(*f->cache));
	f->cache_cnt = 0;
}

static struct stack *frames_slot_of(struct fr_frames *f, const struct stack *key)
{
	u32 i = (key->id ^ (u64)key->pid << 32 ^ key->file) * 0x9e3779b97f4a7c15ull >> 40;

	for (;; i++) {
		struct stack *s = &f->cache[i & (CACHE_CNT - 1)];

		if (!s->frame || (s->id == key->id && s->pid == key->pid && s->file == key->file && s->first == key->first))
			return s;
	}
}

/* The stack, looked up if it is new; NULL: there is none, or no memory. */
static const struct stack *frames_stack_of(struct fr_frames *f, const struct fr_row *r, const struct fr_field *field)
{
	struct fr_val v = fr_view_field(f->run->view, r, field);
	s32 pid = fr_view_who(f->run->view, r).pid;
	const struct fr_field *id = field->from_idx >= 0 ? &r->ev->fields[field->from_idx] : NULL;
	struct stack key = {.pid = pid < 0 ? 0 : pid, .file = f->run->file}, *s;

	if (v.kind != FR_VAL_NUMS || !v.len || !id || id->kind == FR_KIND_DERIVED || fr_field_kind(id) != FR_VAL_NUM)
		return NULL;
	if (f->cache_cnt > CACHE_CNT / 4 * 3)
		frames_forget(f);
	key.id = fr_row_num(r, id);
	key.first = left_out(f, &key, r, v.nums, v.len);
	s = frames_slot_of(f, &key);
	if (!s->frame) {
		*s = key;
		s->cnt = find_frames(f, s, v.nums, v.len);
		frames_keep(f, s);
	}
	return s->frame ? s : NULL;
}

const struct fr_frame *fr_frames_of(struct fr_frames *f, const struct fr_row *r, const struct fr_field *field, u32 *cnt)
{
	const struct stack *s = frames_stack_of(f, r, field);

	*cnt = s ? s->cnt : 0;
	return s ? s->frame : NULL;
}

static const char *const *texts_of(void *arg, const struct fr_row *r, const struct fr_field *field, u32 *cnt)
{
	const struct stack *s = frames_stack_of(arg, r, field);

	*cnt = s ? s->cnt : 0;
	return s ? s->text : NULL;
}

void fr_frames_at(struct fr_frames *f, const struct fr_replay_run *run)
{
	f->run = run;
}

struct fr_stacktexts fr_frames_texts(struct fr_frames *f)
{
	return (struct fr_stacktexts){.of = texts_of, .arg = f};
}

/* ---- files ---- */

/* The directory of a path, malloc'ed. */
static char *dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, slash == path ? 1 : slash - path) : strdup(".");
}

struct fr_symbols *fr_frames_symbols(struct fr_frames *f, u32 file)
{
	struct fr_symbols_opts opts = f->opts;

	if (f->symbols[file])
		return f->symbols[file];
	if (!opts.beside)
		opts.beside = f->dir[file] = dir_of(fr_replay_path(f->replay, file));
	f->no_memory |= !opts.beside;
	f->no_memory |= fr_symbols_new(fr_replay_snap(f->replay, file), &opts, &f->symbols[file]) != 0;
	return f->symbols[file];
}

int fr_frames_error(const struct fr_frames *f)
{
	bool no_memory = f->no_memory;
	u32 i;

	for (i = 0; i < f->file_cnt; i++)
		no_memory |= f->symbols[i] && fr_symbols_error(f->symbols[i]);
	return no_memory ? -ENOMEM : 0;
}

u32 fr_frames_say_missing(const struct fr_frames *f)
{
	const struct fr_symbols *first = NULL, *kernel = NULL;
	u32 i, cnt = 0, others = 0;

	for (i = 0; i < f->file_cnt; i++) {
		u32 here = f->symbols[i] ? fr_symbols_missing_cnt(f->symbols[i]) : 0;

		others += first && here;
		first = first ?: here ? f->symbols[i] : NULL;
		kernel = kernel ?: f->symbols[i];
		cnt += here;
	}
	if (first || kernel)
		fr_symbols_say_missing(first ?: kernel, others);
	return cnt;
}

struct fr_frames *fr_frames_new(struct fr_replay *r, const struct fr_symbols_opts *opts)
{
	struct fr_frames *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->replay = r;
	f->opts = *opts;
	f->file_cnt = fr_replay_file_cnt(r);
	f->symbols = calloc(f->file_cnt, sizeof(*f->symbols));
	f->dir = calloc(f->file_cnt, sizeof(*f->dir));
	f->cache = calloc(CACHE_CNT, sizeof(*f->cache));
	if (f->symbols && f->dir && f->cache)
		return f;
	fr_frames_free(f);
	return NULL;
}

void fr_frames_free(struct fr_frames *f)
{
	u32 i;

	if (!f)
		return;
	for (i = 0; f->symbols && f->dir && i < f->file_cnt; i++) {
		fr_symbols_free(f->symbols[i]);
		free(f->dir[i]);
	}
	if (f->cache)
		frames_forget(f);
	free(f->cache);
	free(f->symbols);
	free(f->dir);
	free(f);
}
