/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heap: malloc()'s memory, for commands that take tens of MiB of it at once. */
#ifndef FR_HEAP_H
#define FR_HEAP_H

/*
 * Let malloc() take its next 64 MiB from huge pages, where the kernel has them for who asks (transparent_hugepage, madvise(2)).
 * Nothing is taken yet but address space. Threads take memory from the same heap: one of their own reserves 64 MiB each, which
 * is too much under ulimit -v. Nothing else is done where less than 256 MiB are left to the machine, this process's cgroup or
 * the process itself (ulimit -v, -d, overcommit): huge pages take up to twice as much. For a process that ends soon, before it
 * has threads: what it frees is not given back to the system.
 *
 * A huge page replaces 512 page faults, which are most of some commands' time on some virtual machines: docs/performance.md.
 */
void fr_heap_huge_pages(void);

#endif
