/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/snapshot/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read/elf/ehframe.h"
#include "read/elf/procmaps.h"

struct unwinding {
	const struct fr_ustack *u;
	const struct fr_ustack_thread *thread; /* whose stack it is, NULL: that of the one that died */
	int root;			       /* of its mount namespace, -1: ours */
	struct fr_unwound *out;
	struct fr_cfi_frame frame;
	u64 *ip; /* the frames that are found: up to max; map: NULL is fine */
	u16 *map;
	u32 cnt, max;
	bool is_open[FR_USTACK_NAME_CNT];	   /* eh is what there is */
	struct fr_ehframe *eh[FR_USTACK_NAME_CNT]; /* of a file; NULL: it says nothing */
};

/* ---- what may be read ---- */

/* One that lies in two pages is none of the stack's. */
static bool read_of_pages(const struct fr_ustack *u, u64 addr, u64 *word)
{
	u32 i;

	for (i = 0; i < u->page_cnt; i++) {
		u64 at = addr - u->page[i];

		if (at > FR_USTACK_PAGE_SZ - sizeof(*word))
			continue;
		memcpy(word, u->bytes + i * FR_USTACK_PAGE_SZ + at, sizeof(*word));
		return true;
	}
	return false;
}

static bool read_of_thread(const struct fr_ustack *u, const struct fr_ustack_thread *t, u64 addr, u64 *word)
{
	u64 at = addr - t->reg[FR_CFI_RSP];

	if (t->sz < sizeof(*word) || at > t->sz - sizeof(*word))
		return false;
	memcpy(word, u->thread_bytes + t->at + at, sizeof(*word));
	return true;
}

static bool read_word(void *arg, u64 addr, u64 *word)
{
	struct unwinding *w = arg;

	return w->thread ? read_of_thread(w->u, w->thread, addr, word) : read_of_pages(w->u, addr, word);
}

/* ---- files ---- */

/* The number of a file with a build-id. Several mappings may be of one. 0: there are too many. */
static u8 unwind_number_of(struct fr_unwound *out, const struct fr_unwound_file *file)
{
	u32 i;

	for (i = 0; i < FR_USTACK_NAME_CNT; i++)
		if (out->file[i].nr && !memcmp(out->file[i].build_id, file->build_id, FR_BUILD_ID_MAX))
			return out->file[i].nr;
	return out->file_cnt < FR_UNWIND_FILE_MAX ? ++out->file_cnt : 0;
}

static void unwind_note(struct unwinding *w, int err)
{
	w->out->err = w->out->err ?: err;
}

/* The file of a name, if it still is the one that was mapped; or -errno. */
static int unwind_open(struct unwinding *w, u32 name)
{
	const struct fr_ustack_name *n = &w->u->memory.name[name];
	struct fr_unwound_file *file = &w->out->file[name];
	int fd, err = 0;

	if (!n->ino || n->path[0] != '/')
		return -ENOENT;
	fd = fr_open_mapped(AT_FDCWD, n->path, n->ino, w->u->mono_ns);
	file->is_elsewhere = fd < 0;
	if (fd < 0 && w->root >= 0)
		fd = fr_open_mapped(w->root, n->path + 1, n->ino, w->u->mono_ns);
	if (fd < 0)
		return fd;
	file->is_there = true;
	file->build_id_sz = fr_build_id_of(fd, file->build_id, &err);
	unwind_note(w, err);
	return fd;
}

/* A file that frames lie in. */
static void unwind_open_code(struct unwinding *w, u32 name)
{
	struct fr_unwound_file *file = &w->out->file[name];
	int fd = unwind_open(w, name), err;

	file->is_asked = true;
	w->is_open[name] = true;
	if (fd < 0)
		return;
	if (file->build_id_sz && w->map) /* others are told without numbers */
		file->nr = unwind_number_of(w->out, file);
	err = fr_ehframe_open(fd, &w->eh[name]);
	if (err != -ENOEXEC && err != -ENOENT)
		unwind_note(w, err);
}

/* The mapping of code that an address lies in, whose file is open if it can be. NULL: it is not code. */
static const struct fr_ustack_map *unwind_map_of(struct unwinding *w, u64 addr)
{
	const struct fr_ustack_map *m;
	u32 i;

	for (i = 0; i < w->u->map_cnt; i++) {
		m = &w->u->map[i];
		if (!(m->flags & FR_MAP_EXEC) || addr < m->start || addr >= m->end)
			continue;
		if (m->name && !w->is_open[m->name - 1])
			unwind_open_code(w, m->name - 1);
		return m;
	}
	return NULL;
}

/* NULL: no file says anything of this code. */
static struct fr_ehframe *unwind_rules(const struct unwinding *w, const struct fr_ustack_map *m)
{
	return m->name ? w->eh[m->name - 1] : NULL;
}

/* ---- frames ---- */

/* The next frame is where the registers say. False: that is not code, or there is no room. */
static bool unwind_add_frame(struct unwinding *w)
{
	const struct fr_ustack_map *map = unwind_map_of(w, w->frame.reg[FR_CFI_RIP]);

	if (w->cnt == w->max || (!map && w->cnt))
		return false;
	w->ip[w->cnt] = w->frame.reg[FR_CFI_RIP];
	if (w->map)
		w->map[w->cnt] = map ? map - w->u->map + 1 : 0;
	w->cnt++;
	return true;
}

/*
 * Code that was called, and is none: its caller's address is on top of the stack. Only of the one that died: another thread was
 * in code, whose mapping is not known, and the top of its stack may be anything.
 */
static bool leave_nowhere(struct unwinding *w)
{
	u64 *reg = w->frame.reg;

	if (w->thread || w->cnt != 1 || !read_word(w, reg[FR_CFI_RSP], &reg[FR_CFI_RIP]))
		return false;
	reg[FR_CFI_RSP] += sizeof(u64);
	return true;
}

/*
 * Code of which no file says anything (made at run time, Go): its frame is where the frame pointer says, if that is a frame, as
 * bpf/trigger/ustack.bpf.c has it; so callers that a file knows are found behind it. What it did to other registers is not
 * known.
 */
static bool follow_pointer(struct unwinding *w)
{
	struct fr_cfi_frame *f = &w->frame;
	u64 fp = f->reg[FR_CFI_RBP];

	if (!(f->known >> FR_CFI_RBP & 1) || fp < f->reg[FR_CFI_RSP] || fp % sizeof(u64) ||
	    !read_word(w, fp, &f->reg[FR_CFI_RBP]) || !read_word(w, fp + sizeof(u64), &f->reg[FR_CFI_RIP]))
		return false;
	f->reg[FR_CFI_RSP] = fp + 2 * sizeof(u64);
	f->known = 1u << FR_CFI_RBP | 1u << FR_CFI_RSP | 1u << FR_CFI_RIP;
	return true;
}

/*
 * Go to the caller, which is further up the stack, or on the one that a signal interrupted. A return address stands for the
 * call before it, which may be the last thing in its function. exact: rip is where the code is, not where it returns to.
 */
static bool unwind_go_up(struct unwinding *w, bool *exact)
{
	u64 at = w->frame.reg[FR_CFI_RIP] - !*exact, sp = w->frame.reg[FR_CFI_RSP], addr;
	const struct fr_ustack_map *m = unwind_map_of(w, at);
	struct fr_ehframe *eh = m ? unwind_rules(w, m) : NULL;
	struct fr_cfi cfi;

	*exact = false;
	if (!m)
		return leave_nowhere(w);
	if (!eh || !fr_ehframe_addr(eh, at - m->start + m->off, &addr) || !fr_ehframe_find(eh, addr, &cfi))
		return follow_pointer(w);
	if (!fr_cfi_up(&cfi, addr, &w->frame, read_word, w))
		return false;
	*exact = cfi.is_signal;
	return cfi.is_signal || w->frame.reg[FR_CFI_RSP] > sp;
}

static struct unwinding *unwind_new(const struct fr_ustack *u, int root, struct fr_unwound *out)
{
	struct unwinding *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->u = u;
	w->root = root;
	w->out = out;
	return w;
}

static void unwind_free(struct unwinding *w)
{
	u32 i;

	for (i = 0; i < w->u->memory.name_cnt; i++) {
		if (w->eh[i])
			unwind_note(w, fr_ehframe_err(w->eh[i]));
		fr_ehframe_close(w->eh[i]);
	}
	free(w);
}

/* From these registers on. Returns of which frames it is known where the code was. */
static u32 unwind_from(struct unwinding *w, const u64 reg[FR_USTACK_REG_CNT])
{
	bool exact = true;
	u32 all = 0;

	w->cnt = 0;
	w->frame.is_last = false;
	memcpy(w->frame.reg, reg, sizeof(w->frame.reg));
	w->frame.known = (1u << FR_CFI_REG_CNT) - 1;
	while (unwind_add_frame(w)) {
		all |= exact && w->cnt <= 32 ? 1u << (w->cnt - 1) : 0;
		if (!unwind_go_up(w, &exact))
			break;
	}
	return all;
}

int fr_unwind(const struct fr_ustack *u, int root, struct fr_unwound *out)
{
	struct unwinding *w;

	memset(out, 0, sizeof(*out));
	w = unwind_new(u, root, out);
	if (!w)
		return -ENOMEM;
	w->ip = out->ip;
	w->map = out->map;
	w->max = FR_STACK_DEPTH_MAX;
	unwind_from(w, u->reg);
	out->cnt = w->cnt;
	unwind_free(w);
	return 0;
}

int fr_unwind_threads(const struct fr_ustack *u, int root, struct fr_unwound *out,
		      void (*tell)(void *arg, const struct fr_unwound_thread *thread), void *arg)
{
	struct unwinding *w = unwind_new(u, root, out);
	struct fr_unwound_thread t;
	u32 i;

	if (!w)
		return -ENOMEM;
	w->ip = t.ip;
	w->max = FR_UNWIND_THREAD_DEPTH;
	out->err = 0; /* of the frames, which the caller has */
	for (i = 0; i < u->scene.thread_cnt; i++) {
		if (!(u->scene.thread[i].flags & FR_SCENE_THREAD_KEPT))
			continue;
		memset(&t, 0, sizeof(t));
		w->thread = &u->thread[i];
		t.nr = i;
		t.exact = unwind_from(w, w->thread->reg);
		t.cnt = w->cnt;
		t.is_whole = w->frame.is_last;
		tell(arg, &t);
	}
	unwind_free(w);
	return out->err;
}

int fr_unwind_others(const struct fr_ustack *u, int root, struct fr_unwound *out)
{
	struct unwinding *w = unwind_new(u, root, out);
	int fd;
	u32 i;

	if (!w)
		return -ENOMEM;
	out->err = 0; /* of the frames, which the caller has */
	for (i = 0; i < u->memory.name_cnt; i++) {
		fd = out->file[i].is_asked ? -1 : unwind_open(w, i);
		if (fd >= 0)
			close(fd);
	}
	unwind_free(w);
	return out->err;
}
