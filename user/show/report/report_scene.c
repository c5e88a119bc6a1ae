/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_scene: what the process in focus had as it died (bpf/scene.h), its memory included (bpf/ustack.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/schema/syscalls.h"
#include "base/text/digits.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "scene.h"
#include "show/report/report_kinds.h"
#include "show/report/report_text.h"
#include "ustack.h"

#define FDS_SHOWN     16u /* of a page: the lowest, and the highest */
#define THREADS_SHOWN 16u /* of a page: the one that died first */
#define STACKS_SHOWN  8u  /* of a page: those that most threads have, */
#define FRAMES_SHOWN  16u /* and of each the innermost */
#define MAPS_SHOWN    16u /* of a page: those that matter, with their neighbours, and the lowest */

/* What a limit counts. */
enum scene_unit { SCENE_COUNT, SCENE_BYTES, SCENE_SECONDS, SCENE_US };

/* By the kernel's RLIMIT_ numbers. */
static const struct scene_limit {
	const char *name;
	enum scene_unit unit;
} scene_limits[] = {
	{"CPU", SCENE_SECONDS},	   {"FSIZE", SCENE_BYTES}, {"DATA", SCENE_BYTES},   {"STACK", SCENE_BYTES},
	{"CORE", SCENE_BYTES},	   {"RSS", SCENE_BYTES},   {"NPROC", SCENE_COUNT},  {"NOFILE", SCENE_COUNT},
	{"MEMLOCK", SCENE_BYTES},  {"AS", SCENE_BYTES},	   {"LOCKS", SCENE_COUNT},  {"SIGPENDING", SCENE_COUNT},
	{"MSGQUEUE", SCENE_BYTES}, {"NICE", SCENE_COUNT},  {"RTPRIO", SCENE_COUNT}, {"RTTIME", SCENE_US},
};
#define LIMIT_CNT (sizeof(scene_limits) / sizeof(scene_limits[0]))

/* ---- the death ---- */

static u64 scene_apart(u64 a, u64 b)
{
	return a < b ? b - a : a - b;
}

static bool scene_is_of_one(const struct fr_snap_scene *a, const struct fr_snap_scene *b)
{
	return a->tid == b->tid && a->at_ns == b->at_ns && a->start_ns == b->start_ns;
}

/* Of the task in focus, which began then (0: not known)? Its tid may have been another's, before or since. */
static bool scene_is_its(const struct fr_report *r, const struct fr_snap_scene *n, u64 start_ns)
{
	const struct fr_an_focus *f = &r->res->focus;

	return n->tid == f->tid && (start_ns ? n->start_ns == start_ns : n->start_ns <= f->at_ns);
}

/* Sorted: things of the same kind lie together. */
static void scene_take(struct fr_report_scene *s, const struct fr_snap_scene *at, size_t cnt)
{
	size_t i;

	*s = (struct fr_report_scene){.at = at};
	for (i = 0; i < cnt && scene_is_of_one(&at[i], at); i++) {
		if (at[i].what >= FR_SCENE_END)
			continue;
		if (!s->cnt[at[i].what]++)
			s->first[at[i].what] = i;
	}
}

void fr_report_scene_find(struct fr_report *r)
{
	const u64 at_ns = r->res->focus.at_ns, start_ns = fr_names_start(r->view->names, r->res->focus.tid, at_ns);
	size_t cnt, i, found;
	const struct fr_snap_scene *n = fr_snap_scenes(r->snap, &cnt);

	for (i = 0, found = cnt; i < cnt; i++) {
		if (!scene_is_its(r, &n[i], start_ns) || (i && scene_is_of_one(&n[i], &n[i - 1])))
			continue;
		if (found == cnt || scene_apart(n[i].at_ns, at_ns) < scene_apart(n[found].at_ns, at_ns))
			found = i;
	}
	if (found < cnt)
		scene_take(&r->scene, &n[found], cnt - found);
}

/* NULL: it has fewer. */
static const struct fr_snap_scene *scene_nth(const struct fr_report *r, enum fr_scene_what what, u32 nr)
{
	return nr < r->scene.cnt[what] ? &r->scene.at[r->scene.first[what] + nr] : NULL;
}

/* ---- flags in words ---- */

/* The kernel adds it to all that a 64-bit program opens, and it says nothing. */
static u64 scene_large_file(const char *arch)
{
	return !strcmp(arch, "aarch64") ? 0400000 : 0100000;
}

/* As open() takes them. Returns the end; empty: of a machine that is not known. */
static char *scene_flags(const struct fr_report *r, u64 flags, char *to)
{
	const char *arch = r->view->arch ?: "";
	const struct fr_syscall *c = fr_syscalls_at(fr_syscalls_find(arch, 0), fr_syscall_nr(arch, 0, "openat"));
	const u64 arg[4] = {0, 0, flags & ~scene_large_file(arch), 0};

	*to = 0;
	return c && c->signature->args ? fr_callwords_put(c->signature, arg, 4, 2, to) : to;
}

/* ---- memory ---- */

/* What may lie in a mapping, by its place among the values of FR_SCENE_mappings. */
enum scene_point { SCENE_IP, SCENE_SP, SCENE_ADDR, SCENE_POINT_CNT };

static const char *const scene_points[] = {"instruction", "stack pointer", "address of the fault"};

/* FR_SCENE_NO_VALUE: it is not known, or there was none. */
static u64 scene_point(const struct fr_report *r, enum scene_point which)
{
	const struct fr_snap_scene *n = scene_nth(r, FR_SCENE_mappings, 0);

	return n ? n->value[which] : FR_SCENE_NO_VALUE;
}

static bool scene_has(const struct fr_report *r, const struct fr_snap_scene *map, enum scene_point which)
{
	u64 at = scene_point(r, which);

	return at != FR_SCENE_NO_VALUE && at >= map->number && at < map->value[0];
}

static bool scene_matters(const struct fr_report *r, const struct fr_snap_scene *map)
{
	return scene_has(r, map, SCENE_IP) || scene_has(r, map, SCENE_SP) || scene_has(r, map, SCENE_ADDR);
}

/* As in /proc/PID/maps. */
static void scene_perms(const struct fr_snap_scene *map, char to[5])
{
	const u64 flags = map->value[2];

	snprintf(to, 5, "%c%c%c%c", flags & FR_MAP_READ ? 'r' : '-', flags & FR_MAP_WRITE ? 'w' : '-',
		 flags & FR_MAP_EXEC ? 'x' : '-', flags & FR_MAP_SHARED ? 's' : 'p');
}

/* It had no name in any directory. */
static bool scene_is_gone(const struct fr_snap_scene *map)
{
	return map->value[2] & FR_MAP_FILE && map->value[2] & FR_MAP_GONE;
}

/* The build-id of the file of a mapping; NULL: none, or not known. Both lists are sorted by the mappings' starts. */
static const char *scene_build_id(const struct fr_report *r, const struct fr_snap_scene *map)
{
	u32 low = 0, high = r->scene.cnt[FR_SCENE_build_id], mid;
	const struct fr_snap_scene *n;

	while (low < high) {
		mid = low + (high - low) / 2;
		n = scene_nth(r, FR_SCENE_build_id, mid);
		if (n->number == map->number)
			return *n->text ? n->text : NULL;
		if (n->number < map->number)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* ---- threads ---- */

static u8 scene_thread_flags(const struct fr_snap_scene *thread)
{
	return thread->value[0] >> 16;
}

static bool scene_died(const struct fr_snap_scene *thread)
{
	return scene_thread_flags(thread) & FR_SCENE_THREAD_DIED;
}

/* It had a CPU, or ran while it was looked at: what else there is of it is not known. */
static bool scene_ran(const struct fr_snap_scene *thread)
{
	return scene_thread_flags(thread) & (FR_SCENE_THREAD_RUNS | FR_SCENE_THREAD_MOVED);
}

/* NULL: it was in none, or that is not known. */
static const char *scene_call(const struct fr_report *r, const struct fr_snap_scene *thread, char room[FR_SYSNAME_CALL_SZ])
{
	const u64 how = thread->value[0];
	s64 id = fr_scene_how_call(how);

	return id < 0 || id > INT32_MAX ? NULL : fr_report_call_text(r, how >> 24 & 1, id, room);
}

/* The mapping of an address; NULL: it is not known. */
static const struct fr_snap_scene *scene_map_of(const struct fr_report *r, u64 addr)
{
	u32 low = 0, high = r->scene.cnt[FR_SCENE_mapping], mid;
	const struct fr_snap_scene *n;

	while (low < high) {
		mid = low + (high - low) / 2;
		n = scene_nth(r, FR_SCENE_mapping, mid);
		if (addr >= n->number && addr < n->value[0])
			return n;
		if (n->number < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

#define PLACE_SZ 160u

/* Code at an address, or before it if that is where a call returns to: function, or place in a file. Empty: not known. */
static const char *scene_place(const struct fr_report *r, u64 ip, bool returns, char to[PLACE_SZ])
{
	const struct fr_snap_scene *map = ip ? scene_map_of(r, ip - returns) : NULL;
	const char *file = map && *map->text == '/' ? strrchr(map->text, '/') + 1 : map ? map->text : "";
	u64 off = map ? ip - map->number + map->value[1] : 0;
	struct fr_symbol sym = {};
	const char *hex = map ? scene_build_id(r, map) : NULL;
	u8 id[FR_BUILD_ID_MAX];
	u32 sz = hex ? fr_hex_bytes(hex, id, sizeof(id)) : 0;

	*to = 0;
	if (!*file)
		return to;
	if (sz && r->symbols)
		fr_symbols_place(r->symbols, id, sz, off, returns, &sym, 1);
	if (sym.name)
		snprintf(to, PLACE_SZ, "%.100s+%#llx in %.40s", sym.name, sym.off, file);
	else
		snprintf(to, PLACE_SZ, "%.100s+%#llx", file, off);
	return to;
}

/* Where a thread left its user code. */
static const char *scene_thread_where(const struct fr_report *r, const struct fr_snap_scene *thread, char to[PLACE_SZ])
{
	return scene_place(r, thread->value[1], false, to);
}

/* ---- their stacks ---- */

/* The first of the frames whose numbers are not below this one. */
static u32 scene_frame_from(const struct fr_report *r, u64 number)
{
	u32 low = 0, high = r->scene.cnt[FR_SCENE_frame], mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (scene_nth(r, FR_SCENE_frame, mid)->number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct scene_stack {
	u32 first, cnt; /* of the frames */
};

/* cnt 0: nothing is known of it. A file may have any number of threads and frames of the same numbers: few are taken, and once.
 */
static struct scene_stack scene_stack_of(const struct fr_report *r, const struct fr_snap_scene *thread)
{
	u32 first = scene_frame_from(r, thread->number << FR_SCENE_FRAME_BITS), cnt;

	if (thread > scene_nth(r, FR_SCENE_thread, 0) && thread[-1].number == thread->number)
		return (struct scene_stack){first, 0};
	cnt = scene_frame_from(r, (thread->number + 1) << FR_SCENE_FRAME_BITS) - first;
	return (struct scene_stack){first, cnt < FR_SCENE_FRAME_MOST ? cnt : FR_SCENE_FRAME_MOST};
}

static const struct fr_snap_scene *scene_frame(const struct fr_report *r, const struct scene_stack *s, u32 i)
{
	return i < s->cnt ? scene_nth(r, FR_SCENE_frame, s->first + i) : NULL;
}

static bool scene_is_whole(const struct fr_report *r, const struct scene_stack *s)
{
	return scene_frame(r, s, s->cnt - 1)->value[1] & FR_SCENE_FRAME_LAST;
}

static bool scene_same_stack(const struct fr_report *r, const struct scene_stack *a, const struct scene_stack *b)
{
	u32 i;

	if (a->cnt != b->cnt)
		return false;
	for (i = 0; i < a->cnt; i++)
		if (memcmp(scene_frame(r, a, i)->value, scene_frame(r, b, i)->value,
			   sizeof(((struct fr_snap_scene *)0)->value)))
			return false;
	return true;
}

static const char *scene_frame_where(const struct fr_report *r, const struct fr_snap_scene *frame, char to[PLACE_SZ])
{
	return scene_place(r, frame->value[0], !(frame->value[1] & FR_SCENE_FRAME_EXACT), to);
}

/* ---- JSON ---- */

static struct fr_value scene_text_or_null(const struct fr_at *at, const char *text)
{
	size_t sz = strlen(text);

	if (!sz || sz > sizeof(at->room->text))
		return fr_value_null();
	memcpy(at->room->text, text, sz);
	return fr_value_mem(at->room->text, sz);
}

static const void *scene_thread_at(const struct fr_at *at, u32 i)
{
	return scene_nth(at->of, FR_SCENE_thread, i);
}

static struct fr_value scene_thread_cnt(const struct fr_at *at)
{
	const struct fr_snap_scene *n = scene_nth(at->of, FR_SCENE_threads, 0);

	return n ? fr_value_nr(n->number) : fr_value_null();
}

static struct fr_value scene_thread_died(const struct fr_at *at)
{
	return fr_value_bool(scene_died(at->rec));
}

static struct fr_value scene_thread_ran(const struct fr_at *at)
{
	return fr_value_bool(scene_ran(at->rec) || scene_died(at->rec));
}

static struct fr_value scene_thread_state(const struct fr_at *at)
{
	const struct fr_snap_scene *n = at->rec;

	return fr_value_text(scene_ran(n) || scene_died(n) ? NULL : fr_report_state_word((u16)n->value[0]));
}

static struct fr_value scene_thread_call(const struct fr_at *at)
{
	return fr_value_text(scene_call(at->of, at->rec, at->room->text));
}

static struct fr_value scene_thread_ip(const struct fr_at *at)
{
	u64 ip = ((const struct fr_snap_scene *)at->rec)->value[1];

	return ip ? fr_value_nr(ip) : fr_value_null();
}

static struct fr_value scene_thread_sp(const struct fr_at *at)
{
	u64 sp = ((const struct fr_snap_scene *)at->rec)->value[2];

	return sp ? fr_value_nr(sp) : fr_value_null();
}

static struct fr_value scene_thread_place(const struct fr_at *at)
{
	char text[PLACE_SZ];

	return scene_text_or_null(at, scene_thread_where(at->of, at->rec, text));
}

/* NULL: there is none. */
static const void *scene_frame_at(const struct fr_at *at, u32 i)
{
	const struct scene_stack s = scene_stack_of(at->of, at->rec);

	return scene_frame(at->of, &s, i);
}

static struct fr_value scene_stack_whole(const struct fr_at *at)
{
	const struct scene_stack s = scene_stack_of(at->of, at->rec);

	return s.cnt ? fr_value_bool(scene_is_whole(at->of, &s)) : fr_value_null();
}

static struct fr_value scene_frame_exact(const struct fr_at *at)
{
	return fr_value_bool(((const struct fr_snap_scene *)at->rec)->value[1] & FR_SCENE_FRAME_EXACT);
}

static struct fr_value scene_frame_place(const struct fr_at *at)
{
	char text[PLACE_SZ];

	return scene_text_or_null(at, scene_frame_where(at->of, at->rec, text));
}

static const void *scene_mapping_at(const struct fr_at *at, u32 i)
{
	return scene_nth(at->of, FR_SCENE_mapping, i);
}

static struct fr_value scene_mapped(const struct fr_at *at)
{
	const struct fr_snap_scene *n = scene_nth(at->of, FR_SCENE_mappings, 0);

	return n ? fr_value_nr(n->number) : fr_value_null();
}

static struct fr_value scene_map_perms(const struct fr_at *at)
{
	char text[5];

	scene_perms(at->rec, text);
	memcpy(at->room->text, text, sizeof(text));
	return fr_value_mem(at->room->text, 4);
}

static struct fr_value scene_map_file(const struct fr_at *at)
{
	return fr_value_bool(((const struct fr_snap_scene *)at->rec)->value[2] & FR_MAP_FILE);
}

static struct fr_value scene_map_deleted(const struct fr_at *at)
{
	return fr_value_bool(scene_is_gone(at->rec));
}

static struct fr_value scene_map_build_id(const struct fr_at *at)
{
	return fr_value_text(scene_build_id(at->of, at->rec));
}

static struct fr_value scene_map_ip(const struct fr_at *at)
{
	return fr_value_bool(scene_has(at->of, at->rec, SCENE_IP));
}

static struct fr_value scene_map_sp(const struct fr_at *at)
{
	return fr_value_bool(scene_has(at->of, at->rec, SCENE_SP));
}

static struct fr_value scene_map_addr(const struct fr_at *at)
{
	return fr_value_bool(scene_has(at->of, at->rec, SCENE_ADDR));
}

static const void *scene_limit_at(const struct fr_at *at, u32 i)
{
	return scene_nth(at->of, FR_SCENE_limit, i);
}

static const void *scene_descriptor_at(const struct fr_at *at, u32 i)
{
	return scene_nth(at->of, FR_SCENE_descriptor, i);
}

static struct fr_value scene_open(const struct fr_at *at)
{
	const struct fr_snap_scene *n = scene_nth(at->of, FR_SCENE_descriptors, 0);

	return n ? fr_value_nr(n->number) : fr_value_null();
}

static struct fr_value scene_open_below(const struct fr_at *at)
{
	const struct fr_snap_scene *n = scene_nth(at->of, FR_SCENE_descriptors, 0);

	return n && n->value[0] ? fr_value_nr(n->value[0]) : fr_value_null();
}

static struct fr_value scene_at_ns(const struct fr_at *at)
{
	return fr_value_nr(((const struct fr_report *)at->of)->scene.at->at_ns);
}

static struct fr_value scene_limit_name(const struct fr_at *at)
{
	const struct fr_snap_scene *n = at->rec;

	return fr_value_text(n->number < LIMIT_CNT ? scene_limits[n->number].name : NULL);
}

static struct fr_value scene_nr_or_null(u64 value)
{
	return value == FR_SCENE_NO_VALUE ? fr_value_null() : fr_value_nr(value);
}

static struct fr_value scene_soft(const struct fr_at *at)
{
	return scene_nr_or_null(((const struct fr_snap_scene *)at->rec)->value[0]);
}

static struct fr_value scene_hard(const struct fr_at *at)
{
	return scene_nr_or_null(((const struct fr_snap_scene *)at->rec)->value[1]);
}

static struct fr_value scene_used(const struct fr_at *at)
{
	return scene_nr_or_null(((const struct fr_snap_scene *)at->rec)->value[2]);
}

static struct fr_value scene_words(const struct fr_at *at)
{
	const struct fr_snap_scene *n = at->rec;
	char words[FR_CALLWORDS_SZ + 1], *end = scene_flags(at->of, n->value[0], words);
	size_t sz = end - words;

	if (!sz || sz > sizeof(at->room->text))
		return fr_value_null();
	memcpy(at->room->text, words, sz);
	return fr_value_mem(at->room->text, sz);
}

static struct fr_value scene_object(const struct fr_at *at)
{
	const char *text = ((const struct fr_snap_scene *)at->rec)->text;

	return fr_value_text(*text ? text : NULL);
}

/* clang-format off */
static const struct fr_column scene_limit_columns[] = {
	FR_COLUMN(struct fr_snap_scene, number, "number", NUMBER, "the kernel's"),
	FR_COLUMN_MADE(scene_limit_name, "name", TEXT, "as in getrlimit(2), without `RLIMIT_`; `null`: not known here"),
	FR_COLUMN_MADE(scene_soft, "soft", NUMBER, "in the limit's own unit; `null`: no limit"),
	FR_COLUMN_MADE(scene_hard, "hard", NUMBER, "likewise"),
	FR_COLUMN_MADE(scene_used, "used", NUMBER, "of `NOFILE`, open descriptors; of `NPROC`, threads of the user, as the kernel counts them; of `DATA`, `STACK`, `MEMLOCK` and `AS`, bytes of the process; `null`: not known"),
	{},
};
static const struct fr_table scene_kind_limit = {"limit", "A limit of the process, as getrlimit(2) has it.", scene_limit_columns};

static const struct fr_column scene_descriptor_columns[] = {
	FR_COLUMN(struct fr_snap_scene, number, "fd", NUMBER, "the descriptor"),
	FR_COLUMN_MADE(scene_object, "object", TEXT, "what it stands for, as in event [`wait`](events.md#wait); `null`: not known"),
	FR_COLUMN(struct fr_snap_scene, value[0], "flags", NUMBER, "as open(2) takes them"),
	FR_COLUMN_MADE(scene_words, "flags_words", TEXT, "the same in words; `null`: of a machine that is not known"),
	FR_COLUMN(struct fr_snap_scene, value[1], "pos", NUMBER, "the place in the file"),
	{},
};
static const struct fr_table scene_kind_descriptor = {"descriptor", "A descriptor of the process.", scene_descriptor_columns};

static const struct fr_column scene_mapping_columns[] = {
	FR_COLUMN(struct fr_snap_scene, number, "start", NUMBER, "its first address"),
	FR_COLUMN(struct fr_snap_scene, value[0], "end", NUMBER, "the first one behind it"),
	FR_COLUMN_MADE(scene_map_perms, "perms", TEXT, "as in /proc/PID/maps: `r-xp`"),
	FR_COLUMN(struct fr_snap_scene, value[1], "offset", NUMBER, "of its start, in the file"),
	FR_COLUMN_MADE(scene_map_file, "file", BOOL, "a file is mapped there"),
	FR_COLUMN_MADE(scene_object, "path", TEXT, "the file's, as the process saw it; `[heap]`, `[stack]`, `[anon:NAME]` where a program named it, and the kernel's own, as `[vdso]`; `null`: it has none, or that is not known"),
	FR_COLUMN_MADE(scene_map_deleted, "deleted", BOOL, "the file had no name in any directory, or none any more"),
	FR_COLUMN_MADE(scene_map_build_id, "build_id", TEXT, "of the file, in hexadecimal; `null`: it has none, was not the same any more when the snapshot was taken, or could not be looked at"),
	FR_COLUMN_MADE(scene_map_ip, "ip", BOOL, "the instruction of the thread that died lies there"),
	FR_COLUMN_MADE(scene_map_sp, "sp", BOOL, "its stack pointer"),
	FR_COLUMN_MADE(scene_map_addr, "addr", BOOL, "the address of the fault"),
	{},
};
static const struct fr_table scene_kind_mapping = {"mapping", "A part of the process's memory.", scene_mapping_columns};

static const struct fr_column scene_frame_columns[] = {
	FR_COLUMN(struct fr_snap_scene, value[0], "ip", NUMBER, "its instruction, or the one that it goes on with"),
	FR_COLUMN_MADE(scene_frame_exact, "exact", BOOL, "the code was at `ip`, as in the first frame, and in one that a signal interrupted; otherwise it had called, and returns there"),
	FR_COLUMN_MADE(scene_frame_place, "place", TEXT, "its function, or the file and the offset in it; `null`: not known"),
	{},
};
static const struct fr_table scene_kind_frame = {"thread_frame", "A frame of a thread's stack.", scene_frame_columns};

static const struct fr_column scene_thread_columns[] = {
	FR_COLUMN(struct fr_snap_scene, number, "tid", NUMBER, "the thread"),
	FR_COLUMN(struct fr_snap_scene, text, "comm", TEXT, "its name then"),
	FR_COLUMN_MADE(scene_thread_died, "died", BOOL, "it is the one whose death this is"),
	FR_COLUMN_MADE(scene_thread_ran, "ran", BOOL, "it had a CPU then, or got one while it was looked at: of another one than that which died, nothing of the following is known"),
	FR_COLUMN_MADE(scene_thread_state, "state_name", TEXT, "its state, as a letter; `null`: it ran"),
	FR_COLUMN_MADE(scene_thread_call, "call", TEXT, "the system call that it was in; `null`: in none, or not known"),
	FR_COLUMN_MADE(scene_thread_ip, "ip", NUMBER, "where it left its user code; `null`: not known"),
	FR_COLUMN_MADE(scene_thread_sp, "sp", NUMBER, "its stack pointer there; `null`: not known"),
	FR_COLUMN_MADE(scene_thread_place, "place", TEXT, "the function of `ip`, or the file and the offset in it; `null`: not known"),
	FR_LIST(scene_frame_at, "stack", &scene_kind_frame, "its frames, up to 32, innermost first; of the thread that died: it is [the crash's](events.md#crash)"),
	FR_COLUMN_MADE(scene_stack_whole, "stack_whole", BOOL, "the last frame is where the thread began; `null`: nothing is known of its stack"),
	{},
};
static const struct fr_table scene_kind_thread = {"thread", "A thread of the process, as its fellow died.", scene_thread_columns};

static const struct fr_column scene_columns[] = {
	FR_COLUMN_MADE(scene_at_ns, "ts", CLOCK, "when it was looked at, by the task itself"),
	FR_COLUMN_MADE(scene_open, "open", COUNT, "descriptors that were open; `null`: not known"),
	FR_COLUMN_MADE(scene_open_below, "open_below", NUMBER, "only those with lower numbers were looked at; `null`: all were"),
	FR_LIST(scene_descriptor_at, "descriptors", &scene_kind_descriptor, "the 32 lowest and the 32 highest of them"),
	FR_LIST(scene_limit_at, "limits", &scene_kind_limit, NULL),
	FR_COLUMN_MADE(scene_mapped, "mapped", COUNT, "mappings that there were; `null`: not known"),
	FR_LIST(scene_mapping_at, "mappings", &scene_kind_mapping, "of them, those that the file has"),
	FR_COLUMN_MADE(scene_thread_cnt, "threaded", COUNT, "threads that there were; `null`: not known"),
	FR_LIST(scene_thread_at, "threads", &scene_kind_thread, "of them, the one that died and the first others, 64 in all"),
	{},
};
const struct fr_table fr_report_kind_scene = {"scene", "What its process [had as it died](format.md#what-a-process-had).", scene_columns};
/* clang-format on */

/* ---- text ---- */

static void scene_put_amount(struct fr_out *o, enum scene_unit unit, u64 v)
{
	char text[32];

	if (unit == SCENE_BYTES)
		fr_out_str(o, fr_show_size(v, text, sizeof(text)));
	else
		fr_out_str(o, fr_show_count(v, text, sizeof(text)));
	if (unit == SCENE_SECONDS || unit == SCENE_US)
		fr_out_str(o, unit == SCENE_US ? " us" : " s");
}

/* "1,024 (RLIMIT_NOFILE, hard 4,096)" */
static void scene_put_bounds(struct fr_out *o, const struct fr_snap_scene *n)
{
	enum scene_unit unit = scene_limits[n->number].unit;

	scene_put_amount(o, unit, n->value[0]);
	fr_out_printf(o, " (RLIMIT_%s", scene_limits[n->number].name);
	if (n->value[1] != n->value[0]) {
		fr_out_str(o, ", hard ");
		if (n->value[1] == FR_SCENE_NO_VALUE)
			fr_out_str(o, "none");
		else
			scene_put_amount(o, unit, n->value[1]);
	}
	fr_out_char(o, ')');
}

static void scene_put_fd(struct fr_report_page *p, const struct fr_snap_scene *n)
{
	char words[FR_CALLWORDS_SZ + 1], *end = scene_flags(p->r, n->value[0], words);

	fr_out_printf(p->o, "    %5llu  ", n->number);
	if (*n->text)
		fr_escape_text(p->o, n->text, strlen(n->text));
	else
		fr_out_str(p->o, "not known");
	if (end > words) {
		fr_out_str(p->o, "  ");
		fr_out_any(p->o, words, end - words);
	}
	fr_out_char(p->o, '\n');
}

/* The lowest and the highest, and how many are between. */
static void scene_put_fds(struct fr_report_page *p, u64 open)
{
	u32 cnt = p->r->scene.cnt[FR_SCENE_descriptor], shown = p->r->ask->top && cnt > FDS_SHOWN ? FDS_SHOWN : cnt, low, i;

	low = shown < cnt || cnt < open ? shown / 2 : shown;
	for (i = 0; i < low; i++)
		scene_put_fd(p, scene_nth(p->r, FR_SCENE_descriptor, i));
	if (open > shown)
		fr_out_printf(p->o, "           ... %llu more ...\n", open - shown);
	for (i = cnt - (shown - low); i < cnt; i++)
		scene_put_fd(p, scene_nth(p->r, FR_SCENE_descriptor, i));
}

/* NULL: it is not known. */
static const struct fr_snap_scene *scene_limit(const struct fr_report *r, u64 number)
{
	const struct fr_snap_scene *n;
	u32 i;

	for (i = 0; (n = scene_nth(r, FR_SCENE_limit, i)) && n->number != number; i++)
		;
	return n;
}

static void scene_put_open(struct fr_report_page *p)
{
	const struct fr_snap_scene *n = scene_nth(p->r, FR_SCENE_descriptors, 0), *most = scene_limit(p->r, FR_RLIMIT_NOFILE);
	char text[32];

	if (!n) {
		fr_out_str(p->o, "    descriptors: not known\n");
		return;
	}
	fr_out_printf(p->o, "    descriptors: %s open", fr_show_count(n->number, text, sizeof(text)));
	if (n->value[0])
		fr_out_printf(p->o, " with numbers below %s, others not known", fr_show_count(n->value[0], text, sizeof(text)));
	if (most && most->value[0] != FR_SCENE_NO_VALUE) {
		fr_out_str(p->o, "; new ones have numbers below ");
		scene_put_bounds(p->o, most);
	}
	fr_out_char(p->o, '\n');
	scene_put_fds(p, n->number);
}

/* Those whose use is known, and that are limits. */
static void scene_put_limits(struct fr_report_page *p)
{
	const struct fr_snap_scene *n;
	u32 i;

	for (i = 0; (n = scene_nth(p->r, FR_SCENE_limit, i)); i++) {
		if (n->number >= LIMIT_CNT || n->number == FR_RLIMIT_NOFILE || n->value[0] == FR_SCENE_NO_VALUE ||
		    n->value[2] == FR_SCENE_NO_VALUE)
			continue;
		fr_out_printf(p->o, "    %s ", scene_limits[n->number].name);
		scene_put_amount(p->o, scene_limits[n->number].unit, n->value[2]);
		if (n->number == FR_RLIMIT_NPROC)
			fr_out_printf(p->o, " thread%s of its user,", fr_plural(n->value[2]));
		fr_out_str(p->o, " of at most ");
		scene_put_bounds(p->o, n);
		fr_out_char(p->o, '\n');
	}
}

static void scene_put_points(struct fr_report_page *p, const struct fr_snap_scene *map)
{
	const char *lead = "  <- ";
	u32 i;

	for (i = 0; i < SCENE_POINT_CNT; i++) {
		if (!scene_has(p->r, map, i))
			continue;
		fr_out_printf(p->o, "%s%s", lead, scene_points[i]);
		lead = ", ";
	}
}

/* As a line of /proc/PID/maps, and what is known beside it. */
static void scene_put_map(struct fr_report_page *p, const struct fr_snap_scene *map)
{
	const char *build_id = scene_build_id(p->r, map);
	char perms[5];

	scene_perms(map, perms);
	fr_out_printf(p->o, "      %llx-%llx %s", map->number, map->value[0], perms);
	if (map->value[2] & FR_MAP_FILE)
		fr_out_printf(p->o, " %llx", map->value[1]);
	fr_out_str(p->o, "  ");
	if (*map->text)
		fr_escape_text(p->o, map->text, strlen(map->text));
	else
		fr_out_str(p->o, map->value[2] & FR_MAP_FILE ? "a file, not known which" : "memory of no file");
	if (scene_is_gone(map))
		fr_out_str(p->o, " (deleted)");
	if (build_id) {
		fr_out_str(p->o, "  build-id ");
		fr_escape_text(p->o, build_id, strlen(build_id));
	}
	scene_put_points(p, map);
	fr_out_char(p->o, '\n');
}

/* Has a page this one? Those that matter and their neighbours, and as many of the lowest as have room beside them. */
static bool scene_map_is_shown(const struct fr_report *r, u32 i, u32 lowest)
{
	const struct fr_snap_scene *before = i ? scene_nth(r, FR_SCENE_mapping, i - 1) : NULL,
				   *after = scene_nth(r, FR_SCENE_mapping, i + 1);

	return i < lowest || scene_matters(r, scene_nth(r, FR_SCENE_mapping, i)) || (before && scene_matters(r, before)) ||
	       (after && scene_matters(r, after));
}

static u32 scene_lowest_maps(const struct fr_report_page *p)
{
	u32 cnt = p->r->scene.cnt[FR_SCENE_mapping], near = 0, i;

	if (!p->r->ask->top || cnt <= MAPS_SHOWN)
		return cnt;
	for (i = 0; i < cnt; i++)
		near += scene_map_is_shown(p->r, i, 0);
	return near < MAPS_SHOWN ? MAPS_SHOWN - near : 0;
}

static void scene_put_more_maps(struct fr_report_page *p, u32 cnt)
{
	if (cnt)
		fr_out_printf(p->o, "           ... %u more ...\n", cnt);
}

/* All that there were are known, so is what was not mapped. The kernel's own are in no list. */
static void scene_put_unmapped(struct fr_report_page *p, u64 had)
{
	const u64 addr = scene_point(p->r, SCENE_ADDR);
	u32 cnt = p->r->scene.cnt[FR_SCENE_mapping], i;

	for (i = 0; i < cnt; i++)
		if (scene_has(p->r, scene_nth(p->r, FR_SCENE_mapping, i), SCENE_ADDR))
			return;
	if (!(addr >> 63) && had == cnt)
		fr_out_printf(p->o, "      nothing was mapped at 0x%llx, the address of the fault\n", addr);
}

static void scene_put_memory(struct fr_report_page *p)
{
	const struct fr_snap_scene *n = scene_nth(p->r, FR_SCENE_mappings, 0);
	u32 cnt = p->r->scene.cnt[FR_SCENE_mapping], lowest = scene_lowest_maps(p), more = 0, i;
	char text[32];

	if (!n) {
		fr_out_str(p->o, "    mappings: not known\n");
		return;
	}
	fr_out_printf(p->o, "    mappings: %s", fr_show_count(n->number, text, sizeof(text)));
	if (n->number > cnt)
		fr_out_printf(p->o, ", of which %s are known", fr_show_count(cnt, text, sizeof(text)));
	fr_out_char(p->o, '\n');
	for (i = 0; i < cnt; i++) {
		if (!scene_map_is_shown(p->r, i, lowest)) {
			more++;
			continue;
		}
		scene_put_more_maps(p, more);
		more = 0;
		scene_put_map(p, scene_nth(p->r, FR_SCENE_mapping, i));
	}
	scene_put_more_maps(p, more);
	scene_put_unmapped(p, n->number);
}

static void scene_put_thread(struct fr_report_page *p, const struct fr_snap_scene *t)
{
	const char *state = fr_report_state_word((u16)t->value[0]), *call;
	char room[FR_SYSNAME_CALL_SZ], place[PLACE_SZ];

	call = scene_call(p->r, t, room);
	scene_thread_where(p->r, t, place);
	fr_out_printf(p->o, "    %7llu  ", t->number);
	fr_report_cell(p->o, t->text, strlen(t->text), 16);
	fr_out_printf(p->o, "  %-*s", call || *place ? 4 : 0, scene_died(t) ? "died" : scene_ran(t) ? "ran" : state ?: "?");
	if (call)
		fr_out_printf(p->o, "  in %s", call);
	if (*place) {
		fr_out_str(p->o, call ? ", at " : "  at ");
		fr_escape_text(p->o, place, strlen(place));
	}
	fr_out_char(p->o, '\n');
}

/* The one that died comes first. */
static void scene_put_threads(struct fr_report_page *p)
{
	const struct fr_snap_scene *n = scene_nth(p->r, FR_SCENE_threads, 0), *t;
	u32 cnt = p->r->scene.cnt[FR_SCENE_thread], most = p->r->ask->top ? THREADS_SHOWN : cnt, shown = 0, others, i;
	char text[32];

	if (!n) {
		fr_out_str(p->o, "    threads: not known\n");
		return;
	}
	fr_out_printf(p->o, "    threads: %s\n", fr_show_count(n->number, text, sizeof(text)));
	for (others = 0; others < 2; others++) {
		for (i = 0; i < cnt && shown < most; i++) {
			t = scene_nth(p->r, FR_SCENE_thread, i);
			if (scene_died(t) == others)
				continue;
			scene_put_thread(p, t);
			shown++;
		}
	}
	if (n->number > shown)
		fr_out_printf(p->o, "           ... %llu more ...\n", n->number - shown);
}

/* ---- text: stacks of threads, each once ---- */

struct scene_fold {
	struct scene_stack stack;
	u32 first, cnt; /* number of the first thread, and how many have it */
};

/* Most frequent first. */
static int scene_by_cnt(const void *a, const void *b)
{
	const struct scene_fold *x = a, *y = b;

	if (x->cnt != y->cnt)
		return x->cnt > y->cnt ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Those of threads that did not die, most frequent first. Returns how many. *none: threads of whose stacks nothing is known;
 * *more: of which it is, but there are too many different ones. */
static u32 scene_fold(const struct fr_report *r, struct scene_fold fold[FR_SCENE_THREAD_CNT], u64 *none, u64 *more)
{
	const struct fr_snap_scene *t;
	u32 cnt = 0, i, j;

	*none = *more = 0;
	for (i = 0; (t = scene_nth(r, FR_SCENE_thread, i)); i++) {
		const struct scene_stack s = scene_stack_of(r, t);

		if (scene_died(t))
			continue;
		for (j = 0; j < cnt && s.cnt && !scene_same_stack(r, &fold[j].stack, &s); j++)
			;
		*none += !s.cnt;
		*more += s.cnt && j == FR_SCENE_THREAD_CNT;
		if (!s.cnt || j == FR_SCENE_THREAD_CNT)
			continue;
		if (j == cnt)
			fold[cnt++] = (struct scene_fold){.stack = s, .first = i};
		fold[j].cnt++;
	}
	qsort(fold, cnt, sizeof(*fold), scene_by_cnt);
	return cnt;
}

static void scene_put_fold(struct fr_report_page *p, const struct scene_fold *f)
{
	const struct fr_snap_scene *t = scene_nth(p->r, FR_SCENE_thread, f->first), *frame;
	u32 most = p->r->ask->top ? FRAMES_SHOWN : f->stack.cnt, i;
	char place[PLACE_SZ];

	fr_out_str(p->o, "      ");
	if (f->cnt > 1)
		fr_out_printf(p->o, "%u threads, the first ", f->cnt);
	fr_out_printf(p->o, "%llu ", t->number);
	fr_escape_text(p->o, t->text, strlen(t->text));
	fr_out_char(p->o, '\n');
	for (i = 0; i < most && (frame = scene_frame(p->r, &f->stack, i)); i++) {
		scene_frame_where(p->r, frame, place);
		fr_out_printf(p->o, "        %016llx  ", frame->value[0]);
		fr_escape_text(p->o, *place ? place : "?", *place ? strlen(place) : 1);
		fr_out_char(p->o, '\n');
	}
	if (i < f->stack.cnt)
		fr_out_printf(p->o, "           ... %u more ...\n", f->stack.cnt - i);
	if (!scene_is_whole(p->r, &f->stack))
		fr_out_str(p->o, "           ... and others, not known ...\n");
}

/* Threads that the file does not name. */
static u64 scene_unnamed(const struct fr_report *r)
{
	const struct fr_snap_scene *n = scene_nth(r, FR_SCENE_threads, 0);
	u32 named = r->scene.cnt[FR_SCENE_thread];

	return n && n->number > named ? n->number - named : 0;
}

static void scene_put_stacks(struct fr_report_page *p)
{
	struct scene_fold fold[FR_SCENE_THREAD_CNT];
	u64 none, more;
	u32 cnt = scene_fold(p->r, fold, &none, &more), most = p->r->ask->top ? STACKS_SHOWN : cnt, i;

	none += scene_unnamed(p->r);
	if (!cnt && !none)
		return;
	if (!cnt) {
		fr_out_str(p->o, "    stacks of other threads: not known\n");
		return;
	}
	fr_out_printf(p->o, "    stacks of other threads: %u, each shown once\n", cnt);
	for (i = 0; i < cnt && i < most; i++)
		scene_put_fold(p, &fold[i]);
	if (i < cnt)
		fr_out_printf(p->o, "           ... %u more ...\n", cnt - i);
	if (more)
		fr_out_printf(p->o, "      of %llu more thread%s: others\n", more, fr_plural(more));
	if (none)
		fr_out_printf(p->o, "      of %llu thread%s: not known\n", none, fr_plural(none));
}

void fr_report_put_scene(struct fr_report_page *p)
{
	if (!p->r->scene.at)
		return;
	fr_report_title(p, "What it had", "as it died");
	scene_put_open(p);
	scene_put_limits(p);
	scene_put_threads(p);
	scene_put_stacks(p);
	scene_put_memory(p);
}
