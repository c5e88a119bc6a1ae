/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/ustacks.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "atomic.h"
#include "live/session/sess_int.h"

#define MAP_SZ (FR_USTACK_CNT * sizeof(struct fr_ustack))

int fr_ustacks_make(const struct fr_sess *s)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = fr_sess_get_pin(s, FR_USTACKS_PIN), err = 0;
	char path[192];
	u32 cnt;

	if (fd != -ENOENT) {
		if (fd < 0)
			return fd;
		err = fr_sess_is_array(fd, sizeof(struct fr_ustack), &cnt) && cnt == FR_USTACK_CNT ? 0 : -EPROTO;
		close(fd);
		return err;
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "fr_ustacks", sizeof(u32), sizeof(struct fr_ustack), FR_USTACK_CNT, &opts);
	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "%s/" FR_USTACKS_PIN, s->dir);
	if (bpf_obj_pin(fd, path))
		err = -errno;
	close(fd);
	return err;
}

/* Copy a slot, unless it is free, or being written. Pairs with fr_moment_ustack() (bpf/trigger/ustack.bpf.c). */
static bool ustacks_copy(const struct fr_ustack *from, struct fr_ustack *to)
{
	u64 id = fr_load(&from->stack_id);
	u32 i;

	if (!id)
		return false;
	memcpy(to, from, sizeof(*to));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (fr_load(&from->stack_id) != id || to->stack_id != id)
		return false;
	if (to->page_cnt > FR_USTACK_PAGE_CNT || to->map_cnt > FR_USTACK_MAP_CNT || to->scene.fd_cnt > FR_SCENE_FD_CNT ||
	    to->memory.name_cnt > FR_USTACK_NAME_CNT || to->scene.thread_cnt > FR_SCENE_THREAD_CNT)
		return false;
	for (i = 0; i < to->map_cnt; i++)
		if (to->map[i].name > to->memory.name_cnt)
			return false;
	for (i = 0; i < to->scene.thread_cnt; i++)
		if (to->thread[i].sz && (to->thread[i].at > FR_USTACK_THREAD_ROOM || to->thread[i].sz > FR_USTACK_PAGE_SZ))
			return false;
	for (i = 0; i < to->memory.name_cnt; i++)
		to->memory.name[i].path[sizeof(to->memory.name[i].path) - 1] = '\0';
	return true;
}

static int ustacks_by_time(const void *a, const void *b)
{
	const struct fr_ustack *x = a, *y = b;

	return x->mono_ns < y->mono_ns ? -1 : x->mono_ns > y->mono_ns;
}

int fr_ustacks_read(const struct fr_sess *s, struct fr_ustack **out)
{
	int fd = fr_sess_get_pin(s, FR_USTACKS_PIN), cnt = 0;
	const struct fr_ustack *map;
	struct fr_ustack *u;
	u32 entries, i;

	if (fd < 0)
		return fd;
	map = fr_sess_is_array(fd, sizeof(*map), &entries) && entries == FR_USTACK_CNT
		      ? mmap(NULL, MAP_SZ, PROT_READ, MAP_SHARED, fd, 0)
		      : NULL;
	close(fd);
	if (!map)
		return -EPROTO;
	if (map == MAP_FAILED)
		return -errno;
	u = malloc(MAP_SZ);
	for (i = 0; u && i < FR_USTACK_CNT; i++)
		cnt += ustacks_copy(&map[i], &u[cnt]);
	munmap((void *)map, MAP_SZ);
	if (!u)
		return -ENOMEM;
	qsort(u, cnt, sizeof(*u), ustacks_by_time);
	*out = u;
	return cnt;
}
