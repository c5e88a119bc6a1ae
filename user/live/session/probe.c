/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/probe.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "live/session/sess.h"
#include "sys/ns.h"
#include "types.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

static int probe_close_fd(int fd)
{
	if (fd < 0)
		return -errno;
	close(fd);
	return 1;
}

static int find_type(const char *name, u32 kind)
{
	struct btf *btf;
	s32 id;

	libbpf_set_print(NULL); /* the caller reports the answer */
	/* btf__load_vmlinux_btf() would not tell want of memory from want of types */
	btf = btf__parse(KERNEL_BTF, NULL);
	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, name, kind);
	btf__free(btf);
	return id > 0 ? id : 0;
}

int fr_probe_btf(void)
{
	return access(KERNEL_BTF, R_OK) ? -errno : 1;
}

/* The effective capabilities; 0, or -errno. */
static int read_caps(unsigned long long *eff)
{
	char line[128];
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return -errno;
	*eff = 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", eff) == 1)
			break;
	fclose(f);
	return 0;
}

int fr_probe_caps(void)
{
	unsigned long long eff;
	int err = read_caps(&eff);

	return err ?: (eff >> CAP_SYS_ADMIN & 1) || ((eff >> CAP_BPF & 1) && (eff >> CAP_PERFMON & 1));
}

static int can_mount(void)
{
	unsigned long long eff;
	int err = read_caps(&eff);

	return err ?: (eff >> CAP_SYS_ADMIN & 1) && fr_ns_is_first(FR_NS_USER);
}

static int can_write(const char *dir)
{
	return faccessat(AT_FDCWD, dir, W_OK, AT_EACCESS) ? -errno : 1;
}

int fr_probe_bpffs(void)
{
	struct statfs sfs;
	int ret;

	if (statfs(FR_BPFFS_ROOT, &sfs))
		return -errno;
	if (sfs.f_type != BPF_FS_MAGIC)
		return can_mount();
	ret = can_write(FR_SESSION_ROOT);
	return ret == -ENOENT ? can_write(FR_BPFFS_ROOT) : ret;
}

/* "return 0" on sched_switch: loaded, never attached. */
int fr_probe_tracing(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int id = find_type("btf_trace_sched_switch", BTF_KIND_TYPEDEF);
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP, .attach_btf_id = id > 0 ? id : 0);

	if (id <= 0)
		return id;
	return probe_close_fd(bpf_prog_load(BPF_PROG_TYPE_TRACING, "probe", "GPL", insns, 2, &opts));
}

int fr_probe_mmapable(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return probe_close_fd(bpf_map_create(BPF_MAP_TYPE_ARRAY, "probe", 4, 4096, 1, &opts));
}

int fr_probe_iter_task(void)
{
	int id = find_type("bpf_iter__task", BTF_KIND_STRUCT);

	return id > 0 ? 1 : id;
}

int fr_probe_cpu_clock(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = 1000000000,
		.disabled = 1,
	};

	return probe_close_fd(syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC));
}

int fr_probe_membarrier(void)
{
	int cmds = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	return cmds < 0 ? -errno : (cmds & MEMBARRIER_CMD_GLOBAL) != 0;
}

int fr_probe_tracepoint(const char *name)
{
	char typedef_name[128];
	int id;

	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", name);
	id = find_type(typedef_name, BTF_KIND_TYPEDEF);
	return id > 0 ? 1 : id;
}
