/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report: does a line of the kernel's log begin a report of a kernel error? Pure; for the console's tracepoint and for host
 * tests.
 *
 * The tracepoint gives what printk() was given, whatever the log level: mostly a line without a prefix. What comes through
 * /dev/kmsg or a console driver may begin with "<3>" and "[   12.345678] ", and some callers print several lines at once, so
 * each line of a text is examined.
 *
 *	"<4>[  106.3] WARNING: CPU: 1 PID: 412 at fs/x.c:12 f+0x3/0x9\nModules linked in:"
 *		      ^ begins here
 *
 * A report has many lines. Those below are the ones it begins with, or those of its first ones that say most. The "cut here"
 * line is not among them: it says nothing.
 */
#ifndef FR_REPORT_H
#define FR_REPORT_H

#include "types.h"

#define FR_REPORT_SZ	   256u			/* of a text, the part examined; a power of two */
#define FR_REPORT_HEAD_SZ  24u			/* of a line, the part compared; three words */
#define FR_REPORT_LINE_MAX 6u			/* lines of a text examined */
#define FR_REPORT_BUF_SZ   (FR_REPORT_SZ + 40u) /* of the buffer: zeros after the text */
#define FR_REPORT_NONE	   FR_REPORT_SZ
#define FR_REPORT_LINE_NS  1000000000ULL  /* at most between two lines of a report */
#define FR_REPORT_MAX_NS   10000000000ULL /* no report takes longer */
#define FR_REPORT_DETECTOR 1000u	  /* plus a detector's number: the kind of a report whose tracepoint tells it */

/* 24 characters are compared; longer texts are cut there. One per line, which clang-format would not keep. */
/* clang-format off */
#define FR_REPORTS(R) \
	R("BUG: ")			/* page faults, KASAN, KFENCE, KCSAN, soft lockups, workqueue lockups, scheduling while atomic */ \
	R("kernel BUG at ") \
	R("WARNING: ")			/* WARN(), lockdep */ \
	R("Oops: ") \
	R("Internal error: ")		/* arm64's oops */ \
	R("Unable to handle kernel ") \
	R("general protection fault") \
	R("invalid opcode: ") \
	R("divide error: ") \
	R("stack segment: ") \
	R("double fault: ") \
	R("PANIC: ") \
	R("Kernel panic - not synci") \
	R("INFO: task ")		/* blocked for more than N seconds */ \
	R("INFO: rcu")			/* stalls, before 5.0 */ \
	R("rcu: INFO: ") \
	R("watchdog: BUG: ")		/* soft lockup */ \
	R("watchdog: Watchdog detec")	/* hard LOCKUP */ \
	R("watchdog: CPU")		/* the same since 6.7 */ \
	R("NMI watchdog: Watchdog d") \
	R("Watchdog detected hard L") \
	R("KASAN: ") \
	R("UBSAN: ") \
	R("SError Interrupt on ") \
	R("Bad mode in ") \
	R("Insufficient stack space")
/* clang-format on */

/*
 * A line that could begin a report: is it of the one that the same task began at begin_ns, the last such line of which came at
 * last_ns?
 */
FR_INLINE u32 fr_report_goes_on(u64 begin_ns, u64 last_ns, u64 now_ns)
{
	return now_ns - last_ns < FR_REPORT_LINE_NS && now_ns - begin_ns < FR_REPORT_MAX_NS;
}

/* What the numbers of error_report_end mean. */
static const char fr_detectors[4][8] = {"KFENCE", "KASAN", "WARN", "error"};

#ifdef __bpf__
/* Both architectures load from any address; clang turns a memcpy() into eight loads. */
FR_INLINE u64 fr_report_word(const u8 *p)
{
	return *(const volatile u64 *)p;
}
#else
FR_INLINE u64 fr_report_word(const u8 *p)
{
	u64 word;

	__builtin_memcpy(&word, p, sizeof(word));
	return word;
}
#endif

/*
 * How word nr of a line differs from that of a text of len characters. All but word are constants: the compiler makes a mask.
 */
FR_INLINE u64 fr_report_differs(u64 word, const char *text, u32 len, u32 nr)
{
	u64 want = 0, mask = 0;
	u32 i;

#pragma GCC unroll 8
	for (i = 0; i < 8; i++)
		if (nr * 8 + i < len) {
			want |= (u64)(u8)text[nr * 8 + i] << i * 8;
			mask |= 0xffULL << i * 8;
		}
	return (word & mask) ^ want;
}

/*
 * Returns 1 if differs is 0, otherwise 0, without a branch that clang could make of either step. Before 6.2 (be2ef8161572) the
 * verifier follows each combination of branch decisions, and 26 of them are too many. Newer ones do so for an AND with 0 or -1.
 */
FR_INLINE u64 fr_report_is_zero(u64 differs)
{
	u64 minus = -differs, is_set;

	asm volatile("" : "+r"(minus));
	is_set = (differs | minus) >> 63;
	asm volatile("" : "+r"(is_set));
	return is_set ^ 1;
}

/* Which of FR_REPORTS, from 1, this line begins with; 0: none. FR_REPORT_HEAD_SZ bytes of it must be readable. */
FR_INLINE u32 fr_report_begins(const u8 *line)
{
	u64 a = fr_report_word(line), b = fr_report_word(line + 8), c = fr_report_word(line + 16);
	u32 nr = 0, found = 0;

#define R(text)                                                                           \
	_Static_assert(sizeof(text) - 1 <= FR_REPORT_HEAD_SZ, "cut it");                  \
	nr++;                                                                             \
	found |= nr * fr_report_is_zero(fr_report_differs(a, text, sizeof(text) - 1, 0) | \
					fr_report_differs(b, text, sizeof(text) - 1, 1) | \
					fr_report_differs(c, text, sizeof(text) - 1, 2));
	FR_REPORTS(R)
#undef R
	return found;
}

/* Where "<N>" at `at` ends; `at` if there is none. */
FR_INLINE u32 fr_report_skip_level(const u8 *text, u32 at)
{
	u32 i;

	if (text[at % FR_REPORT_SZ] != '<')
		return at;
	for (i = 2; i < 6; i++)
		if (text[(at + i) % FR_REPORT_SZ] == '>')
			return at + i + 1;
	return at;
}

/* Where "[   12.345678] " or "[  T123] " at `at` ends. */
FR_INLINE u32 fr_report_skip_stamp(const u8 *text, u32 at)
{
	u32 i;

	if (text[at % FR_REPORT_SZ] != '[')
		return at;
	for (i = 2; i < 24; i++)
		if (text[(at + i) % FR_REPORT_SZ] == ']')
			return at + i + 2;
	return at;
}

/* Where the line at `at` begins, without prefixes. */
FR_INLINE u32 fr_report_skip(const u8 *text, u32 at)
{
	return fr_report_skip_stamp(text, fr_report_skip_level(text, at));
}

/* Which of FR_REPORTS the line at `at` begins with; 0: none. */
FR_INLINE u32 fr_report_begins_at(const u8 *text, u32 at)
{
	return at < FR_REPORT_SZ ? fr_report_begins(text + at) : 0;
}

/* Where the line after the one at `at` begins; FR_REPORT_NONE: there is none. */
FR_INLINE u32 fr_report_next(const u8 *text, u32 at)
{
	u32 i;

	if (at >= FR_REPORT_SZ)
		return FR_REPORT_NONE;
	for (i = at; i < FR_REPORT_SZ; i++)
		if (text[i] == '\n')
			return i + 1;
	return FR_REPORT_NONE;
}

/*
 * Returns from the function it stands in, with where the first line that begins a report begins, or FR_REPORT_NONE. The steps
 * above are parameters, as a BPF program takes each in a function that is verified once; in: their first argument.
 */
#define FR_REPORT_FIND(in, skip, begins, next)                                  \
	do {                                                                    \
		u32 at = 0, line, i;                                            \
                                                                                \
		for (i = 0; i < FR_REPORT_LINE_MAX && at < FR_REPORT_SZ; i++) { \
			line = skip(in, at);                                    \
			if (begins(in, line))                                   \
				return line;                                    \
			at = next(in, at);                                      \
		}                                                               \
		return FR_REPORT_NONE;                                          \
	} while (0)

/* In a host's text, in a buffer of FR_REPORT_BUF_SZ bytes with zeros behind it. */
FR_INLINE u32 fr_report_find(const u8 *text)
{
	FR_REPORT_FIND(text, fr_report_skip, fr_report_begins_at, fr_report_next);
}

#endif
