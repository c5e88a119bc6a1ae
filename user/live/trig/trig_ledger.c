/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* trig_ledger: the session's ledger. A session that an older version began gets one from the first recorder of this version. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live/session/sess_int.h"
#include "live/trig/trig.h"

#define PIN "ledger"

static int ledger_make(const struct fr_sess *s)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int err, fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "fr_ledger", sizeof(u32), sizeof(struct fr_ledger), 1, &opts);
	char path[192];

	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "%s/" PIN, s->dir);
	if (!bpf_obj_pin(fd, path))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int fr_trig_ledger_open(struct fr_sess *s, struct fr_ledger **out)
{
	int fd = fr_sess_get_pin(s, PIN), err = 0;
	u32 entries;
	void *p;

	if (fd == -ENOENT)
		fd = ledger_make(s);
	if (fd < 0)
		return fd;
	p = fr_sess_is_array(fd, sizeof(**out), &entries) ? mmap(NULL, sizeof(**out), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
							  : NULL;
	if (!p)
		err = -EPROTO;
	else if (p == MAP_FAILED)
		err = -errno;
	else
		*out = p;
	close(fd);
	return err;
}

void fr_trig_ledger_close(struct fr_ledger *l)
{
	if (l)
		munmap(l, sizeof(*l));
}
