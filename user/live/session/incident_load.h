/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* incident_load: the always-on programs of the incident log (bpf/incident.bpf.c), for the loader. */
#ifndef FR_INCIDENT_LOAD_H
#define FR_INCIDENT_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "incident_layout.h"

struct btf;
struct bpf_object;
struct bpf_program;

/* Is it one of them? Their links are pinned as inc-NAME. */
bool fr_incident_is_prog(const struct bpf_program *prog);

/* Leave out programs whose tracepoint this kernel lacks; missing gets the tracepoints' names, separated by commas. */
void fr_incident_choose(struct bpf_object *obj, const struct btf *btf, char *missing, size_t sz);

/* Write the head of an empty log into its map. 0 or -errno. */
int fr_incident_init(int map_fd, u32 cnt, u32 epoch);

#endif
