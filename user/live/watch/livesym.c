/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/watch/livesym.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/rows/stacks.h"
#include "event_fields.h"
#include "live/ring/ring_back.h"
#include "live/snapshot/dump.h"
#include "read/elf/perfmap.h"
#include "read/elf/procmaps.h"
#include "read/elf/symguess.h"
#include "read/elf/vdso.h"
#include "read/symbols/symbols_int.h"

#define KALLSYMS    "/proc/kallsyms"
#define KERNEL_CNT  8192u /* addresses kept; a power of two */
#define MAP_MAX	    8192u /* mappings of a process */
#define STACKS_MAX  4096u /* stacks kept */
#define LOOK_TRIES  2000u
#define LOOKS	    5
#define LOOK_NAP_NS 1000000

/* A process's executable mappings. */
struct mapping {
	u64 begin, end, off;
	struct fr_symobj *obj; /* NULL: no file */
	bool is_vdso;
};

/* A name that was built. */
struct text {
	struct text *next;
	char *s;
};

struct fr_livesym {
	struct fr_sess *s;
	struct fr_symfind *find;
	struct fr_symobjs objs;
	struct fr_stacks *stacks;
	u32 stack_cnt;
	struct fr_ksym *kernel; /* open hash by address */
	u32 kernel_cnt;
	u32 pid; /* the process of these mappings, 0 none */
	struct mapping *map;
	u32 map_cnt;
	struct fr_vdso *vdso; /* NULL: ours cannot be read */
	struct text *texts;
	struct fr_symguess *guess; /* paths of programs executed recently, NULL: not collected yet */
	struct fr_ring_back back;
};

int fr_livesym_new(struct fr_sess *s, struct fr_livesym **out)
{
	static const struct fr_symfind_opts opts;
	struct fr_livesym *y = calloc(1, sizeof(*y));

	if (!y)
		return -ENOMEM;
	y->s = s;
	y->stacks = fr_stacks_new();
	y->kernel = calloc(KERNEL_CNT, sizeof(*y->kernel));
	y->map = calloc(MAP_MAX, sizeof(*y->map));
	if (!y->stacks || !y->kernel || !y->map || fr_symfind_new(&opts, &y->find)) {
		fr_livesym_free(y);
		return -ENOMEM;
	}
	fr_vdso_open(&y->vdso); /* without it, its functions have no names */
	*out = y;
	return 0;
}

static void livesym_free_texts(struct fr_livesym *y)
{
	struct text *t;

	while ((t = y->texts)) {
		y->texts = t->next;
		free(t->s);
		free(t);
	}
}

static void forget_kernel(struct fr_livesym *y)
{
	fr_kallsyms_free(y->kernel, y->kernel ? KERNEL_CNT : 0);
	if (y->kernel)
		memset(y->kernel, 0, KERNEL_CNT * sizeof(*y->kernel));
	y->kernel_cnt = 0;
}

void fr_livesym_free(struct fr_livesym *y)
{
	if (!y)
		return;
	forget_kernel(y);
	livesym_free_texts(y);
	fr_symguess_free(y->guess);
	fr_stacks_free(y->stacks);
	fr_symobjs_free(&y->objs);
	fr_symfind_free(y->find);
	fr_vdso_close(y->vdso);
	free(y->kernel);
	free(y->map);
	free(y);
}

void fr_livesym_forget(struct fr_livesym *y)
{
	struct fr_stacks *anew;

	y->pid = 0;
	y->map_cnt = 0;
	livesym_free_texts(y);
	fr_symguess_free(y->guess);
	y->guess = NULL;
	if (y->kernel_cnt > KERNEL_CNT / 2)
		forget_kernel(y);
	anew = y->stack_cnt > STACKS_MAX ? fr_stacks_new() : NULL;
	if (!anew)
		return;
	fr_stacks_free(y->stacks);
	y->stacks = anew;
	y->stack_cnt = 0;
}

/* A text that lives until everything is forgotten; NULL: no memory, or none was given. */
static const char *livesym_keep_text(struct fr_livesym *y, char *s)
{
	struct text *t = s ? malloc(sizeof(*t)) : NULL;

	if (!t) {
		free(s);
		return NULL;
	}
	*t = (struct text){.next = y->texts, .s = s};
	y->texts = t;
	return s;
}

/* ---- stacks ---- */

static const struct fr_ring_map *stack_ring(const struct fr_livesym *y, u32 cpu)
{
	size_t i, cnt;
	const struct fr_ring_map *m = fr_sess_rings(y->s, &cnt);

	for (i = 0; i < cnt; i++)
		if (m[i].cpu == cpu && m[i].tier == FR_TIER_STACK)
			return &m[i];
	return NULL;
}

static u32 unknown(const struct fr_livesym *y, const u64 *id, u32 cnt)
{
	size_t frames;
	u32 i, n = 0;

	for (i = 0; i < cnt; i++)
		n += id[i] && !fr_stacks_find(y->stacks, id[i], &frames);
	return n;
}

static bool livesym_is_wanted(u64 stack_id, const u64 *id, u32 cnt)
{
	u32 i;

	for (i = 0; i < cnt; i++)
		if (id[i] == stack_id)
			return stack_id;
	return false;
}

typedef void (*record_fn)(struct fr_livesym *y, const struct fr_rec *r, size_t sz, const u64 *id, u32 cnt);

static void each_record(struct fr_livesym *y, const u64 *page, u32 end, record_fn fn, const u64 *id, u32 cnt)
{
	const struct fr_page_head *head = (const void *)page;
	u32 at = FR_PAGE_HEAD_UNITS + (head->page ? 0 : FR_SUBBUF_HEAD_UNITS), units;

	for (; at < end; at += units) {
		const struct fr_rec *r = (const void *)&page[at];

		units = fr_head_units(r->head);
		if (!units || units > end - at)
			return;
		fn(y, r, units * FR_UNIT_SZ, id, cnt);
	}
}

/* Read the whole ring once: the places of user frames may be recorded before or after the stacks. */
static void livesym_look(struct fr_livesym *y, const struct fr_ring_map *m, record_fn fn, const u64 *id, u32 cnt)
{
	const u64 *page;
	u32 end;

	if (fr_ring_back_begin(&y->back, m, LOOK_TRIES) < 0)
		return;
	while (!fr_ring_back_prev(&y->back, &page, &end))
		each_record(y, page, end, fn, id, cnt);
}

static void take_stack(struct fr_livesym *y, const struct fr_rec *r, size_t sz, const u64 *id, u32 cnt)
{
	const struct fr_rec_stack *stack = (const void *)r;

	if (sz >= sizeof(*stack) && livesym_is_wanted(stack->stack_id, id, cnt))
		fr_stacks_add_record(y->stacks, r, sz);
}

void fr_livesym_gather(struct fr_livesym *y, u32 cpu, const u64 *id, u32 cnt)
{
	const struct timespec nap = {.tv_nsec = LOOK_NAP_NS};
	const struct fr_ring_map *m = stack_ring(y, cpu);
	u32 before = unknown(y, id, cnt);
	int tries;

	for (tries = 0; m && tries < LOOKS && unknown(y, id, cnt); tries++) {
		if (tries)
			nanosleep(&nap, NULL);
		livesym_look(y, m, take_stack, id, cnt);
	}
	y->stack_cnt += before - unknown(y, id, cnt);
}

/* ---- programs executed ---- */

static void take_exec(struct fr_livesym *y, const struct fr_rec *r, size_t sz, const u64 *id, u32 cnt)
{
	const struct fr_rec_sched_process_exec *x = (const void *)r;
	const size_t at = offsetof(struct fr_rec_sched_process_exec, filename);

	(void)id;
	(void)cnt;
	if (fr_head_event(r->head) == FR_EV_sched_process_exec && sz > at)
		fr_symguess_add(y->guess, x->filename, strnlen(x->filename, sz - at));
}

static void gather_execs(struct fr_livesym *y)
{
	size_t i, cnt;
	const struct fr_ring_map *m = fr_sess_rings(y->s, &cnt);

	if (!y->guess)
		y->guess = fr_symguess_new(NULL);
	for (i = 0; y->guess && i < cnt; i++)
		if (m[i].tier == FR_TIER_LIFE)
			livesym_look(y, &m[i], take_exec, NULL, 0);
}

const u64 *fr_livesym_stack(const struct fr_livesym *y, u64 id, size_t *cnt)
{
	return fr_stacks_find(y->stacks, id, cnt);
}

/* ---- the kernel ---- */

static struct fr_ksym *kernel_slot(const struct fr_livesym *y, u64 ip)
{
	u32 i = (ip * 0x9e3779b97f4a7c15ull) >> 40;

	while (y->kernel[i % KERNEL_CNT].addr && y->kernel[i % KERNEL_CNT].addr != ip)
		i++;
	return &y->kernel[i % KERNEL_CNT];
}

/* By the session's program; otherwise from the complete list. */
static void livesym_look_up(struct fr_livesym *y, struct fr_ksym *k)
{
	struct fr_kallsyms_info info = {};

	if (fr_sess_ksyms(y->s, k, 1))
		fr_kallsyms_find(KALLSYMS, k, 1, &info);
}

void fr_livesym_kernel(struct fr_livesym *y, u64 ip, struct fr_symbol *out)
{
	struct fr_ksym *k = kernel_slot(y, ip);

	*out = (struct fr_symbol){.missing = "not known"};
	if (!ip)
		return;
	if (!k->addr && y->kernel_cnt > KERNEL_CNT / 4 * 3)
		return;
	if (!k->addr) {
		k->addr = ip;
		y->kernel_cnt++;
		livesym_look_up(y, k);
	}
	if (k->name)
		*out = (struct fr_symbol){.name = k->name, .off = ip - k->begin, .module = k->module ?: "[kernel]"};
}

/* ---- processes ---- */

/* The input of livesym_take_map(). */
struct reading {
	struct fr_livesym *y;
	struct fr_proc proc;
};

static int livesym_take_map(void *arg, const struct fr_procmap *m)
{
	struct reading *r = arg;
	struct fr_livesym *y = r->y;
	u8 id[FR_BUILD_ID_MAX], id_sz;
	struct mapping *to;

	if (y->map_cnt == MAP_MAX)
		return 1;
	to = &y->map[y->map_cnt++];
	*to = (struct mapping){.begin = m->begin, .end = m->end, .off = m->off};
	to->is_vdso = y->vdso && fr_vdso_is(y->vdso, m);
	if (!m->path[0])
		return 0;
	id_sz = fr_proc_build_id(&r->proc, m, id, NULL);
	to->obj = fr_symobjs_get(&y->objs, id, id_sz, m->path, !id_sz && fr_procmap_is_gone(m));
	if (to->obj && m->off < to->obj->first_off)
		to->obj->first_off = m->off;
	return 0;
}

static void read_maps(struct fr_livesym *y, u32 pid)
{
	struct reading r = {.y = y};

	if (y->pid == pid)
		return;
	y->pid = pid;
	y->map_cnt = 0;
	if (!pid || fr_proc_open(pid, &r.proc))
		return;
	fr_proc_maps(&r.proc, livesym_take_map, &r);
	fr_proc_close(&r.proc);
}

static const struct mapping *livesym_mapping_of(const struct fr_livesym *y, u64 ip)
{
	u32 i;

	for (i = 0; i < y->map_cnt; i++)
		if (ip >= y->map[i].begin && ip < y->map[i].end)
			return &y->map[i];
	return NULL;
}

/* In code that the process generated, from the map it writes. */
static void name_by_jit(struct fr_livesym *y, u32 pid, u64 ip, struct fr_symbol *out)
{
	struct fr_jit_sym jit = {.addr = ip};
	struct fr_proc proc;
	int fd;

	if (fr_proc_open(pid, &proc))
		return;
	fd = fr_proc_perf_map(&proc);
	fr_proc_close(&proc);
	if (fd < 0)
		return;
	fr_perfmap_find(fd, &jit, 1);
	close(fd);
	if (jit.name)
		*out = (struct fr_symbol){
			.name = livesym_keep_text(y, strdup(jit.name)), .off = ip - jit.begin, .module = "[jit]"};
	fr_perfmap_free(&jit, 1);
}

/* A place in a file; back: 1 to look one byte before. */
static void name_in_file(struct fr_livesym *y, struct fr_symobj *o, u64 off, u64 back, struct fr_symbol *out)
{
	struct fr_symfile_func func;
	const struct fr_symplace *p;
	const char *shown;
	u64 vaddr;

	fr_symobj_look(o, y->find);
	p = fr_symgot_funcs(&o->got);
	*out = (struct fr_symbol){.module = o->label, .module_off = off, .missing = fr_symobj_missing(o)};
	if (!p || !fr_symobj_vaddr(o, off - back, &vaddr) || !fr_symfile_find(p->file, vaddr, &func)) {
		out->missing = out->missing ?: "no function there";
		return;
	}
	shown = livesym_keep_text(y, fr_symbol_shown(func.name));
	out->name = shown ?: func.name;
	out->off = vaddr + back - func.vaddr;
	out->missing = NULL;
}

/* Among the kernel's functions in each process. */
static void name_in_vdso(const struct fr_livesym *y, u64 off, u64 back, struct fr_symbol *out)
{
	struct fr_symfile_func func;

	*out = (struct fr_symbol){.module = FR_VDSO_PATH, .module_off = off, .missing = "no function there"};
	if (!fr_vdso_find(y->vdso, off - back, &func))
		return;
	out->name = func.name;
	out->off = off - func.vaddr;
	out->missing = NULL;
}

/* In a process that has ended: only the build-id is known, and perhaps the path of a program executed. */
static void name_by_origin(struct fr_livesym *y, const struct fr_origin *f, u64 back, struct fr_symbol *out)
{
	struct fr_symobj *o = fr_symobjs_get(&y->objs, f->build_id, f->build_id_sz, NULL, false);
	const char *path;

	if (!o)
		return;
	if (!o->want.path && !o->looked) {
		if (!y->guess)
			gather_execs(y);
		path = y->guess ? fr_symguess_find(y->guess, f->build_id, f->build_id_sz, true) : NULL;
		if (path)
			fr_symobj_set_path(o, path);
	}
	name_in_file(y, o, f->file_off, back && f->file_off, out);
}

void fr_livesym_user(struct fr_livesym *y, u32 pid, u64 stack_id, u32 nr, u64 ip, struct fr_symbol *out)
{
	const struct mapping *m;
	struct fr_origin origin;
	u64 back = nr && ip;

	*out = (struct fr_symbol){.missing = "not mapped"};
	read_maps(y, pid);
	m = livesym_mapping_of(y, ip);
	if (m && m->is_vdso) {
		name_in_vdso(y, ip - m->begin, back, out);
	} else if (m && m->obj) {
		name_in_file(y, m->obj, ip - m->begin + m->off, back, out);
	} else if (fr_stacks_origin(y->stacks, stack_id, nr, &origin)) {
		name_by_origin(y, &origin, back, out);
	}
	if (!out->name && pid)
		name_by_jit(y, pid, ip - back, out);
}
