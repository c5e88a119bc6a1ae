/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hot_set: the programs of hot.bpf.c, loaded for one clock, with what each of them writes to: our rings, the ringbuf, the perf
 * buffer, the arena. What cannot be had ends the process: there is nothing to measure then.
 */
#ifndef HOT_SET_H
#define HOT_SET_H

#include <stdbool.h>

#include "types.h"

#define HOT_CPU_MAX 2

struct bpf_program;
struct hot_set;

/* Say what failed, and end. err: an errno, of either sign. */
void hot_die(const char *what, int err) __attribute__((noreturn));

/* What this kernel has: ringbufs that overwrite, arenas. */
bool hot_has_overwriting(void);
bool hot_has_arenas(void);

/* Load the programs. nr: of this set, from 0, as each has an arena at an address of its own. Lives as long as the process. */
struct hot_set *hot_set_load(u64 grain_ns, int nr);

/* The program of that name, NULL if there is none. */
struct bpf_program *hot_set_prog(const struct hot_set *set, const char *name);

/* Empty the ringbuf. */
void hot_set_drain(const struct hot_set *set);

/* ns that the last loop of a program on this CPU took, by its own clock. */
u64 hot_set_took_ns(const struct hot_set *set, int cpu);

/* Ends the process if a record was lost: figures are of what was written only. */
void hot_set_check_losses(const struct hot_set *set);

#endif
