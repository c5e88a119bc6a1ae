/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sess_ksym: kernel addresses as the kernel names them, by the control program fr_ksym. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live/session/sess.h"
#include "live/session/sess_int.h"
#include "read/elf/kallsyms.h"

#define LOOK_TRIES 200 /* if others look up addresses at the same time */

/* The program, and where it leaves its text. */
struct ksym {
	int prog_fd;
	const struct fr_ksym_text *shared;
};

static int open_ksym(const struct fr_sess *s, struct ksym *y)
{
	int map_fd = fr_sess_get_pin(s, "ksym");
	u32 entries;
	void *p;

	y->prog_fd = -1;
	if (map_fd < 0)
		return map_fd;
	p = fr_sess_is_array(map_fd, sizeof(*y->shared), &entries)
		    ? mmap(NULL, sizeof(*y->shared), PROT_READ, MAP_SHARED, map_fd, 0)
		    : MAP_FAILED;
	close(map_fd);
	if (p == MAP_FAILED)
		return -EPROTO;
	y->shared = p;
	y->prog_fd = fr_sess_get_pin(s, "prog-fr_ksym");
	return y->prog_fd < 0 ? y->prog_fd : 0;
}

static void close_ksym(struct ksym *y)
{
	if (y->shared)
		munmap((void *)y->shared, sizeof(*y->shared));
	if (y->prog_fd >= 0)
		close(y->prog_fd);
}

static int ksym_look_up(const struct ksym *y, struct fr_ksym *k)
{
	u64 args[1] = {k->addr};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));
	char text[FR_KSYM_SZ];
	int err = -EAGAIN, tries;

	for (tries = 0; err == -EAGAIN && tries < LOOK_TRIES; tries++)
		err = fr_sess_run(y->prog_fd, &opts, &y->shared->turn, y->shared->text, text, sizeof(text));
	if (err)
		return err;
	text[sizeof(text) - 1] = 0;
	return fr_ksym_parse(text, k);
}

int fr_sess_ksyms(struct fr_sess *s, struct fr_ksym *k, size_t cnt)
{
	struct ksym y = {};
	int err = open_ksym(s, &y);
	size_t i;

	for (i = 0; i < cnt && !err; i++)
		err = ksym_look_up(&y, &k[i]);
	close_ksym(&y);
	if (err) {
		fr_kallsyms_free(k, cnt);
		for (i = 0; i < cnt; i++)
			k[i] = (struct fr_ksym){.addr = k[i].addr};
	}
	return err;
}
