/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The buffers of bpf_perf_event_output() that overwrite: written backwards and mapped to be read only, as perf record does. */
#ifndef FR_BENCH_PERFBUF_H
#define FR_BENCH_PERFBUF_H

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PERFBUF_PAGES 1024 /* 4 MiB a CPU: of two CPUs what the ringbuf has */

static void perfbuf_die(const char *what)
{
	fprintf(stderr, "hot: the perf buffer: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* One CPU's, for as long as the process lives. */
static void add_perfbuf(int map_fd, __u32 cpu)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_BPF_OUTPUT,
				       .size = sizeof(attr),
				       .sample_period = 1,
				       .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
				       .write_backward = 1,
				       .wakeup_events = 0x7fffffff}; /* nobody is woken */
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	void *pages;

	if (fd < 0)
		perfbuf_die("cannot open");
	pages = mmap(NULL, (PERFBUF_PAGES + 1) * sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED)
		perfbuf_die("cannot map");
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) || bpf_map_update_elem(map_fd, &cpu, &fd, 0))
		perfbuf_die("cannot set up");
}

#endif
