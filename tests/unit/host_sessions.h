/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* host_sessions: living sessions, which are the kernel's. Here are none: whoever calls these must not have. */
#ifndef FR_HOST_SESSIONS_H
#define FR_HOST_SESSIONS_H

#include <stdlib.h>

#define NOT_HERE(name)   \
	void name(void); \
	void name(void)  \
	{                \
		abort(); \
	}

NOT_HERE(fr_halves_close)
NOT_HERE(fr_halves_load)
NOT_HERE(fr_halves_open)
NOT_HERE(fr_hits_close)
NOT_HERE(fr_hits_cpu)
NOT_HERE(fr_hits_cpu_cnt)
NOT_HERE(fr_hits_load)
NOT_HERE(fr_hits_lock)
NOT_HERE(fr_hits_open)
NOT_HERE(fr_hits_shift)
NOT_HERE(fr_hits_store)
NOT_HERE(fr_hits_stored)
NOT_HERE(fr_hits_unlock)
NOT_HERE(fr_sess_be_self)
NOT_HERE(fr_sess_clocks)
NOT_HERE(fr_sess_close)
NOT_HERE(fr_sess_fact)
NOT_HERE(fr_sess_facts)
NOT_HERE(fr_sess_held)
NOT_HERE(fr_sess_incident_counts)
NOT_HERE(fr_sess_incidents)
NOT_HERE(fr_sess_incident_unrecorded)
NOT_HERE(fr_sess_flush_incidents)
NOT_HERE(fr_sess_is_gone)
NOT_HERE(fr_sess_is_unfinished)
NOT_HERE(fr_sess_ksyms)
NOT_HERE(fr_sess_lock)
NOT_HERE(fr_sess_mark_begin)
NOT_HERE(fr_sess_tell_thinned)
NOT_HERE(fr_sess_mark_end)
NOT_HERE(fr_sess_mark_trigger)
NOT_HERE(fr_sess_name)
NOT_HERE(fr_sess_peek)
NOT_HERE(fr_sess_progs)
NOT_HERE(fr_sess_progs_free)
NOT_HERE(fr_ustacks_read)
NOT_HERE(fr_sess_holder)
NOT_HERE(fr_sess_read_tasks)
NOT_HERE(fr_sess_refresh_rings)
NOT_HERE(fr_sess_rings)
NOT_HERE(fr_sess_sample_hz)
NOT_HERE(fr_sess_samples_due)
NOT_HERE(fr_sess_schema)
NOT_HERE(fr_sess_formats)
NOT_HERE(fr_sess_shared)
NOT_HERE(fr_sess_states_read)
NOT_HERE(fr_sess_states_wanted)
NOT_HERE(fr_sess_unlock)
NOT_HERE(fr_sess_tps)
NOT_HERE(fr_sess_waits)
NOT_HERE(fr_sess_was_beside)
NOT_HERE(fr_states_wanted_add)
NOT_HERE(fr_states_wanted_clear)
NOT_HERE(fr_states_wanted_close)

#endif
