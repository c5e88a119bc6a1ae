/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kbtf: what the running kernel's BTF says about its tracepoints. */
#ifndef FR_KBTF_H
#define FR_KBTF_H

#include <stdbool.h>

#include "types.h"

struct btf;
struct bpf_object;
struct bpf_program;

/* Does the kernel have this tracepoint? */
bool fr_kbtf_has(const struct btf *btf, const char *tracepoint);

/* The tracepoint that a program is for (its section is tp_btf/NAME), NULL: for none. */
const char *fr_kbtf_tracepoint_of(const struct bpf_program *prog);

/* Is mark_victim's parameter a task? Before 72ba14deb40a (6.8, and some stable kernels) it is a pid. */
bool fr_kbtf_victim_is_task(const struct btf *btf);

/* Does sched_switch report the previous task's state? Since 5.18 (9c2136be0878). */
bool fr_kbtf_switch_tells_state(const struct btf *btf);

/* Is block_rq_complete's error a blk_status_t? Since 5.16; an errno before. */
bool fr_kbtf_block_error_is_status(const struct btf *btf);

/*
 * Does a task still have its memory, and thus its program, at sched_process_exit? Since 6.16, which moved the tracepoint before
 * exit_mm() and added a parameter, group_dead.
 */
bool fr_kbtf_exit_has_mm(const struct btf *btf);

/*
 * Before an object is loaded: libbpf looks in the modules' BTF for each type and function that vmlinux lacks (bpf_rdonly_cast
 * before 6.2), weak ones too. Without CAP_SYS_ADMIN it cannot, and refuses to load. It tries only once: let it do so here.
 */
void fr_kbtf_without_modules(struct bpf_object *obj);

#endif
