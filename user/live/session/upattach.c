/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/upattach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "live/ring/percpu.h"

/* May such a program sleep? Linux 6.0 on. */
static bool upattach_may_sleep(void)
{
	const struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
					   {.code = BPF_JMP | BPF_EXIT}};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "fr_may_sleep", "Dual BSD/GPL", nothing, 2, &opts);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool fr_up_prepare(const struct fr_up_parts *of, u32 cnt, u32 returns, u32 sites)
{
	bool sleeps = cnt && upattach_may_sleep();

	bpf_program__set_autoload(of->up, cnt);
	bpf_program__set_autoload(of->begin, returns);
	if (sleeps)
		bpf_program__set_flags(of->up, bpf_program__flags(of->up) | BPF_F_SLEEPABLE);
	if (cnt)
		bpf_map__set_max_entries(of->works, FR_TP_WORK_CNT + FR_UP_WORK_CNT);
	bpf_map__set_max_entries(of->sites, sites ?: 1);
	bpf_map__set_max_entries(of->calls, returns ? FR_UP_OPEN_MAX : 1);
	return sleeps;
}

static int upattach_refused(const struct fr_upfound *at, int err)
{
	const char *why = err == -ENOENT   ? "this kernel has no probes of programs (CONFIG_UPROBE_EVENTS)"
			  : err == -EINVAL ? "the kernel refuses the place"
			  : err == -EOPNOTSUPP || err == -524
				  ? "the kernel cannot have a probe at this instruction, or on this file system"
				  : strerror(-err);

	fr_err("cannot attach to %s: %s: %s", at->doc, why,
	       fr_err_bpf_cure(
		       err, "probes of programs need Linux 5.15, and CAP_PERFMON or `sysctl kernel.perf_event_paranoid=-1`"));
	return err;
}

static int attach_prog(const struct fr_up_attach *to, const struct fr_upfound *at, u32 site, bool begins)
{
	const struct bpf_program *prog = begins ? to->begin : to->up;
	const struct fr_upsite *s = &at->site[site];
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = begins ? to->event : FR_UP_COOKIE(to->event, to->first + site));
	struct bpf_link *link;
	char path[512];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", at->fd);
	fd = fr_percpu_open_up(path, s->off, s->counter, s->conf.is_return && !begins, to->cpu);
	err = fd < 0 ? fd : 0;
	link = err ? NULL : bpf_program__attach_perf_event_opts(prog, fd, &opts);
	if (!err && !link) {
		err = -errno;
		close(fd);
	}
	if (err)
		return upattach_refused(at, err);
	snprintf(path, sizeof(path), "%s/%s%s-%u-%u", to->dir, to->prefix, bpf_program__name(prog), to->event, site);
	err = bpf_link__pin(link, path);
	if (err)
		fr_err_errno(err, "cannot pin %s", path);
	bpf_link__destroy(link);
	return err;
}

int fr_up_attach(const struct fr_up_attach *to, const struct fr_upfound *at)
{
	u32 i, nr;
	int err = 0;

	for (i = 0; i < at->site_cnt && !err; i++) {
		nr = to->first + i;
		if (bpf_map_update_elem(bpf_map__fd(to->sites), &nr, &at->site[i].conf, BPF_ANY)) {
			err = -errno;
			fr_err_errno(err, "cannot tell the BPF program of %s", at->doc);
			break;
		}
		err = at->site[i].conf.is_return ? attach_prog(to, at, i, true) : 0;
		err = err ?: attach_prog(to, at, i, false);
	}
	return err;
}
