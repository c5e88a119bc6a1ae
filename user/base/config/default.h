/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * default: the defaults that are needed elsewhere than in the configuration's table (config.h), which takes them from here: for
 * help texts, and where no configuration is read. As values, fr_config_init() has all of them. Pure.
 */
#ifndef FR_DEFAULT_H
#define FR_DEFAULT_H

#include "base/text/literal.h"
#include "base/text/units.h"

#define FR_DEF_NAME   "default" /* of the session */
#define FR_DEF_MEMORY "8M"
#define FR_DEF_DIR    "/var/lib/flightrec"

#define FR_DEF_SUBBUF_KIB 64
#define FR_DEF_SUBBUF	  FR_LITERAL(FR_DEF_SUBBUF_KIB) "K"

#define FR_DEF_SAMPLE_HZ   99
#define FR_DEF_SAMPLE_RATE FR_LITERAL(FR_DEF_SAMPLE_HZ)

#define FR_DEF_WAIT_MIN "1ms"

/* At most this many snapshots of all triggers in so many minutes. */
#define FR_DEF_STORM_CNT   30
#define FR_DEF_STORM_COUNT FR_LITERAL(FR_DEF_STORM_CNT)
#define FR_DEF_STORM_MIN   10
#define FR_DEF_STORM_TIME  FR_LITERAL(FR_DEF_STORM_MIN) "m"

/* The same for a struct fr_gate_conf. */
#define FR_DEF_GATE                                                                          \
	{                                                                                    \
		.storm_cnt = FR_DEF_STORM_CNT, .storm_ns = FR_DEF_STORM_MIN * 60 * FR_SEC_NS \
	}

/* The incidents' journal. */
#define FR_DEF_JOURNAL_MIB 8
#define FR_DEF_JOURNAL	   FR_LITERAL(FR_DEF_JOURNAL_MIB) "M"

/* No setting, but the table names it: where control sockets are. */
#define FR_CTL_DIR "/run/flightrec"

#endif
