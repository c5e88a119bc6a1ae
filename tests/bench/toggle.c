/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * toggle PINS HZ [empty|clock]: take a session's programs off and put them on again, within some ms where its start takes a
 * second, so that runs with and without it can stand side by side. PINS is the directory of its pins, HZ how often it samples.
 * The programs and maps are the session's own, attached as the recorder attaches them; nothing of them is left attached while
 * they are off. Begins with them on, says so, and answers each line that it reads ("on", "off") when that is done. Ends with
 * its input, the programs off; the session's pins of links are gone by then.
 *
 * With a third argument, what is put on in their places are programs that do nothing, or read the clock and nothing else: what
 * is left of the cost is the kernel's, whoever records.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/ring/percpu.h"

#define ATTACHED_MAX 256
#define NAME_SZ	     64

/* A program, where it is attached. */
struct attached {
	int prog_fd, link_fd; /* link_fd: -1 while it is off */
	int event_fd, cpu;    /* of a sampling program; cpu -1: it is at a tracepoint */
	char tp[NAME_SZ];     /* the tracepoint's name */
};

/* What is put on in place of the session's programs, if anything: a program from one of these on. */
enum { EMPTY = 1, CLOCK = 0, SESSIONS = -1 };
static const struct bpf_insn instead[] = {
	[CLOCK] = {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns},
	[EMPTY] = {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
	{.code = BPF_JMP | BPF_EXIT},
};

static struct attached all[ATTACHED_MAX];
static int cnt, from = SESSIONS;

static void die(const char *what, int err)
{
	fprintf(stderr, "toggle: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

/* The CPU that a pin of samples is named after ("link-cpu_sample-1"). */
static int cpu_of(const char *path)
{
	return atoi(strrchr(path, '-') + 1);
}

static int program_for(const struct bpf_link_info *info)
{
	bool sample = info->type == BPF_LINK_TYPE_PERF_EVENT;

	if (from == SESSIONS)
		return bpf_prog_get_fd_by_id(info->prog_id);
	return bpf_prog_load(sample ? BPF_PROG_TYPE_PERF_EVENT : BPF_PROG_TYPE_RAW_TRACEPOINT, "floor", "GPL", instead + from,
			     sizeof(instead) / sizeof(*instead) - from, NULL);
}

static void adopt(const char *path)
{
	struct attached *a = &all[cnt++];
	struct bpf_link_info info = {.raw_tracepoint = {.tp_name = (__u64)(uintptr_t)a->tp, .tp_name_len = NAME_SZ}};
	__u32 sz = sizeof(info);

	if (cnt > ATTACHED_MAX)
		die(path, E2BIG);
	a->event_fd = -1;
	a->cpu = -1;
	a->link_fd = bpf_obj_get(path);
	if (a->link_fd < 0 || bpf_obj_get_info_by_fd(a->link_fd, &info, &sz))
		die(path, errno);
	if (info.type == BPF_LINK_TYPE_PERF_EVENT)
		a->cpu = cpu_of(path);
	else if (info.type != BPF_LINK_TYPE_RAW_TRACEPOINT)
		die(path, ENOTSUP);
	a->prog_fd = program_for(&info);
	if (a->prog_fd < 0 || unlink(path))
		die(path, errno);
}

/* Its links are pinned as link-EVENT and, of the incident log, inc-PROGRAM. */
static void adopt_all(const char *dir)
{
	char path[512];
	struct dirent *e;
	DIR *d = opendir(dir);

	if (!d)
		die(dir, errno);
	while ((e = readdir(d))) {
		if (strncmp(e->d_name, "link-", 5) && strncmp(e->d_name, "inc-", 4))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= (int)sizeof(path))
			die(dir, ENAMETOOLONG);
		adopt(path);
	}
	closedir(d);
	if (!cnt)
		die(dir, ENOENT);
}

static void put_on(struct attached *a, enum fr_sample_event ev, unsigned int hz)
{
	if (a->cpu < 0) {
		a->link_fd = bpf_raw_tracepoint_open(from == SESSIONS ? NULL : a->tp, a->prog_fd);
	} else {
		a->event_fd = fr_percpu_open_event(ev, a->cpu, hz);
		a->link_fd = a->event_fd < 0 ? -1 : bpf_link_create(a->prog_fd, a->event_fd, BPF_PERF_EVENT, NULL);
	}
	if (a->link_fd < 0)
		die("cannot attach", errno);
}

static void take_off(struct attached *a)
{
	close(a->link_fd);
	a->link_fd = -1;
	if (a->event_fd >= 0)
		close(a->event_fd);
	a->event_fd = -1;
}

int main(int argc, char **argv)
{
	unsigned int hz = argc == 3 || argc == 4 ? atoi(argv[2]) : 0;
	enum fr_sample_event ev;
	bool on = true;
	char line[16];
	int i;

	if (argc == 4)
		from = !strcmp(argv[3], "clock") ? CLOCK : EMPTY;
	if (!hz) {
		fprintf(stderr, "usage: toggle PINS HZ [empty|clock]\n");
		return 2;
	}
	ev = fr_percpu_choose_event(0, hz);
	adopt_all(argv[1]);
	do {
		for (i = 0; i < cnt; i++)
			if (on != (all[i].link_fd >= 0))
				on ? put_on(&all[i], ev, hz) : take_off(&all[i]);
		puts(on ? "on" : "off");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 0;
		on = !strcmp(line, "on\n");
	} while (1);
}
