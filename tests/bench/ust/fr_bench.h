/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* LTTng-UST's tracepoints of 16 to 256 bytes of payload, for ust.c. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER fr_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./fr_bench.h"

#if !defined(FR_BENCH_UST_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FR_BENCH_UST_H

#include <lttng/tracepoint.h>
#include <stdint.h>

#define FR_BENCH_EVENT(sz)                                                                          \
	LTTNG_UST_TRACEPOINT_EVENT(fr_bench, bytes_##sz, LTTNG_UST_TP_ARGS(const uint64_t *, word), \
				   LTTNG_UST_TP_FIELDS(lttng_ust_field_array(uint64_t, word, word, (sz) / 8)))
FR_BENCH_EVENT(16)
FR_BENCH_EVENT(32)
FR_BENCH_EVENT(64)
FR_BENCH_EVENT(128)
FR_BENCH_EVENT(256)

#endif

#include <lttng/tracepoint-event.h>
