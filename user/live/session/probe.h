/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: asks the running kernel what it supports. Each returns 1 yes, 0 no, or -errno: could not ask, and why. */
#ifndef FR_PROBE_H
#define FR_PROBE_H

int fr_probe_btf(void);
int fr_probe_caps(void);     /* CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN */
int fr_probe_bpffs(void);    /* it can be written, or mounted */
int fr_probe_tracing(void);  /* load a tp_btf program */
int fr_probe_mmapable(void); /* make an array map that can be mapped */
int fr_probe_iter_task(void);
int fr_probe_cpu_clock(void);
int fr_probe_membarrier(void);
int fr_probe_tracepoint(const char *name); /* for BPF, by its BTF type */

#endif
