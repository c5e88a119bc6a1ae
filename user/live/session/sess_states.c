/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/sess_states.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "live/session/load.h"
#include "live/session/sess_int.h"
#include "read/elf/kbtf.h"
#include "states.skel.h"
#include "sys/memcg.h"

#define WHOSE	   "tasks' "
#define WANTED_PIN "states-wanted"
#define BUF_SZ	   (64u << 10) /* the kernel gives half of it at once */

static const char *const pins[] = {
	[FR_STATES_LIST] = "states-list",
	[FR_STATES_TAKE] = "states-take",
	[FR_STATES_COUNT] = "states-count",
};

/* ---- loading ---- */

/* Of the rings and tables that the recording programs' headers declare these use none. */
static int choose_maps(struct states *skel, const struct fr_states_conf *conf)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, skel->obj)
	{
		bool used = map == skel->maps.fr_waits || map == skel->maps.fr_wait_looks_of ||
			    map == skel->maps.fr_state_room || map == skel->maps.fr_object_room;

		if (!used && !bpf_map__is_internal(map))
			err = err ?: bpf_map__set_autocreate(map, false);
	}
	err = err ?: bpf_map__reuse_fd(skel->maps.fr_waits, conf->waits_fd);
	err = err ?: bpf_map__reuse_fd(skel->maps.fr_wait_looks_of, conf->looks_fd);
	err = err ?: bpf_map__reuse_fd(skel->maps.data_session, conf->session_fd);
	return err ?: bpf_map__reuse_fd(skel->maps.data_clock, conf->clock_fd);
}

static int pin(const struct fr_states_conf *conf, const char *name, int fd, struct bpf_link *link)
{
	char path[256];

	if (snprintf(path, sizeof(path), "%s/%s", conf->dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (link)
		return bpf_link__pin(link, path);
	return bpf_obj_pin(fd, path) ? -errno : 0;
}

/* An iterator's link stands for it: whoever opens its pin can read it. */
static int pin_iterator(const struct fr_states_conf *conf, struct bpf_program *prog, const char *name)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	int err = link ? pin(conf, name, -1, link) : -errno;

	bpf_link__destroy(link);
	return err;
}

static int pin_all(const struct fr_states_conf *conf, struct states *skel)
{
	int err = pin(conf, WANTED_PIN, bpf_map__fd(skel->maps.data_wanted), NULL);

	err = err ?: pin_iterator(conf, skel->progs.fr_states_list, pins[FR_STATES_LIST]);
	err = err ?: pin_iterator(conf, skel->progs.fr_states_take, pins[FR_STATES_TAKE]);
	return err ?: pin_iterator(conf, skel->progs.fr_states_count, pins[FR_STATES_COUNT]);
}

static int states_load(const struct fr_states_conf *conf, struct states *skel)
{
	int err;

	skel->rodata->fr_grain_ns = conf->grain_ns;
	skel->rodata->fr_cgroup_memory_is_v1 = fr_memcg_is_v1(FR_MEMCG_PROC);
	fr_load_fd_calls((void *)skel->rodata->fr_fd_call);
	err = choose_maps(skel, conf);
	if (err)
		return err;
	fr_kbtf_without_modules(skel->obj);
	err = states__load(skel);
	return err ?: pin_all(conf, skel);
}

int fr_sess_states_load(const struct fr_states_conf *conf, char *missing, size_t sz)
{
	struct states *skel;
	int err;

	*missing = 0;
	if (btf__find_by_name_kind(conf->btf, "bpf_iter__task", BTF_KIND_STRUCT) <= 0) {
		snprintf(missing, sz, "this kernel has no iterator of tasks");
		return 0;
	}
	skel = states__open();
	err = skel ? fr_load_check_fds(skel->obj, WHOSE) : -errno;
	if (skel && !err)
		err = states_load(conf, skel);
	states__destroy(skel);
	if (!err)
		return 0;
	if (fr_load_is_passing(err)) {
		if (err != -EMFILE)
			fr_err_errno(err, "cannot load the programs that look at tasks when a snapshot is taken");
		return err;
	}
	snprintf(missing, sz, "this kernel refuses the programs that look at them: %s", strerror(-err));
	fr_warn("snapshots will not say what tasks are waiting for: %s", missing);
	return 0;
}

/* ---- whom to take ---- */

struct fr_states_wanted {
	u64 *word;
};

int fr_sess_states_wanted(const struct fr_sess *s, struct fr_states_wanted **out)
{
	const size_t sz = FR_STATES_WANTED_WORDS * sizeof(u64);
	int fd = fr_sess_get_pin(s, WANTED_PIN);
	struct fr_states_wanted *w;
	u32 entries;
	void *p;

	if (fd < 0)
		return fd;
	p = fr_sess_is_array(fd, sz, &entries) ? mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
	close(fd);
	if (p == MAP_FAILED)
		return -EPROTO;
	w = malloc(sizeof(*w));
	if (!w) {
		munmap(p, sz);
		return -ENOMEM;
	}
	w->word = p;
	*out = w;
	return 0;
}

void fr_states_wanted_close(struct fr_states_wanted *w)
{
	if (w)
		munmap(w->word, FR_STATES_WANTED_WORDS * sizeof(u64));
	free(w);
}

void fr_states_wanted_clear(struct fr_states_wanted *w)
{
	memset(w->word, 0, FR_STATES_WANTED_WORDS * sizeof(u64));
}

void fr_states_wanted_add(struct fr_states_wanted *w, u32 tid)
{
	w->word[tid % FR_STATES_WANTED_BITS / 64] |= 1ULL << tid % 64;
}

/* ---- reading ---- */

static int states_read_all(int fd, u8 *buf, fr_states_fn take, void *arg)
{
	size_t have = 0;
	ssize_t n;
	long took;

	for (;;) {
		n = read(fd, buf + have, BUF_SZ - have);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return n < 0 ? -errno : have ? -EPROTO : 0;
		have += n;
		took = take(arg, buf, have);
		if (took < 0)
			return took == -ECANCELED ? 0 : took;
		if (took > (long)have || (!took && have == BUF_SZ))
			return -EPROTO;
		have -= took;
		memmove(buf, buf + took, have);
	}
}

int fr_sess_states_read(const struct fr_sess *s, enum fr_states_prog prog, fr_states_fn take, void *arg)
{
	int link = fr_sess_get_pin(s, pins[prog]), fd, err;
	u8 *buf;

	if (link < 0)
		return link;
	fd = bpf_iter_create(link);
	err = fd < 0 ? -errno : 0;
	close(link);
	if (err)
		return err;
	buf = malloc(BUF_SZ);
	err = buf ? states_read_all(fd, buf, take, arg) : -ENOMEM;
	free(buf);
	close(fd);
	return err;
}
