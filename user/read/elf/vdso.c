/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/elf/vdso.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* 32-bit programs, whose addresses are below, have another one; that of 64-bit programs is never there. */
#define NATIVE_BEGIN (1ULL << 32)

struct fr_vdso {
	struct fr_symfile *file;
	u64 sz; /* of the mapping */
};

static int find_ours(void *arg, const struct fr_procmap *m)
{
	struct fr_procmap *to = arg;

	if (m->begin != to->begin)
		return 0;
	to->end = m->end;
	return 1;
}

static int read_ours(struct fr_vdso *v)
{
	/* by the address that the kernel told us: memory is read there, whoever's mappings /proc shows */
	struct fr_procmap m = {.begin = getauxval(AT_SYSINFO_EHDR)};
	struct fr_proc self;
	int err = m.begin ? fr_proc_open(getpid(), &self) : -ENOENT;

	if (err)
		return err;
	err = fr_proc_maps(&self, find_ours, &m);
	fr_proc_close(&self);
	if (err <= 0)
		return err ?: -ENOENT;
	v->sz = m.end - m.begin;
	return fr_symfile_open_memory((const void *)(uintptr_t)m.begin, v->sz, &v->file);
}

int fr_vdso_open(struct fr_vdso **out)
{
	struct fr_vdso *v = calloc(1, sizeof(*v));
	int err = v ? read_ours(v) : -ENOMEM;

	if (err) {
		fr_vdso_close(v);
		return err;
	}
	*out = v;
	return 0;
}

void fr_vdso_close(struct fr_vdso *v)
{
	if (!v)
		return;
	fr_symfile_close(v->file);
	free(v);
}

bool fr_vdso_is(const struct fr_vdso *v, const struct fr_procmap *m)
{
	return !strcmp(m->path, FR_VDSO_PATH) && m->begin >= NATIVE_BEGIN && m->end - m->begin == v->sz;
}

bool fr_vdso_find(const struct fr_vdso *v, u64 off, struct fr_symfile_func *func)
{
	u64 vaddr;

	return fr_symfile_vaddr(v->file, off, ~0ULL, &vaddr) && fr_symfile_find(v->file, vaddr, func);
}
