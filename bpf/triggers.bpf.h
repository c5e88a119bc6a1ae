/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What triggers keep with the session, across recorders and reloads. The session's object creates these maps, the triggers'
 * object uses their pins (user/live/trig/trig.c).
 */
#ifndef FR_TRIGGERS_BPF_H
#define FR_TRIGGERS_BPF_H

#include "alert.h"
#include "record.bpf.h"

#define FR_DYING_MAX 1024u

struct fr_triggers fr_triggers SEC(".data.triggers") __weak = {};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, FR_ALERT_QUEUE_SZ);
} fr_alerts SEC(".maps") __weak;

/* Processes whose end was reported: pid and start time. Needed from a signal's delivery to the end of the last thread. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FR_DYING_MAX);
	__type(key, u32);
	__type(value, u64);
} fr_dying SEC(".maps") __weak;

#endif
