/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* err: messages that carry their cure, and the exit statuses of the command line. */
#ifndef FR_ERR_H
#define FR_ERR_H

#include <stdarg.h>
#include <stdbool.h>

struct fr_out;

/* Exit statuses; part of the command line's contract. */
enum fr_exit {
	FR_EXIT_OK = 0,
	FR_EXIT_FAIL = 1,
	FR_EXIT_USAGE = 2,
	FR_EXIT_CORRUPT = 3, /* corrupt or incomplete file; what could be read was printed */
	FR_EXIT_NO_SESSION = 4,
	FR_EXIT_OTHER_VERSION = 5, /* the session's rings are of a version that this one cannot read */
	FR_EXIT_UNSUPPORTED = 6,   /* this kernel cannot be recorded, or not with these rights: nor will it be the next time */
};

/*
 * Print "flightrec: " and the message to standard error. Say what failed, why, and what to do:
 * fr_err("cannot open %s: %s: check the name", path, strerror(errno)). Control characters are escaped, newlines of arguments
 * too; those of fmt itself are not.
 */
void fr_err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void fr_verr(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* What went well: the same to standard error without a prefix. */
void fr_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same with "flightrec: warning: ". */
void fr_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* fr_err() and fr_warn() of texts that were made for messages, and may have lines: none that other people choose. */
void fr_err_lines(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void fr_warn_lines(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* What to do about an error of opening or writing (-errno) if the error itself tells; otherwise usual (or NULL). */
const char *fr_err_cure(int err, const char *usual);

/* The same for an error of bpf(). */
const char *fr_err_bpf_cure(int err, const char *usual);

/* fr_err() and fr_warn() with why behind what failed, and what to do if err (-errno) tells that. */
void fr_err_errno(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fr_warn_errno(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What to do about -ENOMEM, from now on; kept, not copied. For a program that has begun no thread. */
void fr_err_set_memory_cure(const char *cure);

/* Say that there is no memory, and what to do. FR_EXIT_FAIL. */
int fr_err_memory(void);

/*
 * Flush the output, and turn the result into a message and an exit status: a failed write is reported once and gives
 * FR_EXIT_FAIL, a closed pipe gives status silently.
 */
int fr_err_finish(struct fr_out *o, int status);

/*
 * Where this thread's messages go instead of standard error, without prefix and newline, escaped as they would be there: a
 * library itself prints nothing. NULL: to standard error again. Returns where they went before; *to must live until that is
 * restored.
 */
struct fr_err_sink {
	void (*say)(void *arg, bool is_error, const char *text); /* must not call these functions itself */
	void *arg;
};
const struct fr_err_sink *fr_err_divert(const struct fr_err_sink *to);

#endif
