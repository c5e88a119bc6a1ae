/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Integer names shared by BPF programs, the tools and the host tests. */
#ifndef FR_TYPES_H
#define FR_TYPES_H

#ifdef __bpf__
#include "vmlinux.h"
#else
#include <stddef.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;
#endif

#define FR_INLINE static inline __attribute__((always_inline))
/* Not on the fast path: a separate function, so that its registers do not burden the fast path. */
#define FR_COLD static __attribute__((noinline, unused))
/* The same, and verified once per program, whatever calls it: takes numbers, and structs that may be NULL. */
#ifdef __bpf__
#define FR_ONCE __attribute__((weak, noinline))
#else
#define FR_ONCE FR_COLD
#endif
#define FR_ALIGNED(n) __attribute__((aligned(n)))
#define FR_CACHE_SZ   128 /* two lines: adjacent-line prefetch and arm64's largest */

#endif
