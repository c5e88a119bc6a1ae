/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/out.h"
#include "base/text/utf8.h"

#define TEXT_SZ 2048

/* Per thread: functions that report something are called by functions that know where it belongs, each in one thread. */
static _Thread_local const struct fr_err_sink *sink;

const struct fr_err_sink *fr_err_divert(const struct fr_err_sink *to)
{
	const struct fr_err_sink *was = sink;

	sink = to;
	return was;
}

static char *err_put_hex(char *to, const char *text, size_t sz)
{
	for (; sz; sz--)
		to += sprintf(to, "\\x%02x", (unsigned char)*text++);
	return to;
}

struct text {
	char said[TEXT_SZ];
	char joined[TEXT_SZ]; /* the same with other bytes where the message itself, and not what it is about, has newlines */
};

/*
 * Names and paths in messages are anybody's: one with a newline could forge a line of the log. So format twice, the second time
 * with spaces for the format's own newlines: these are where the two differ.
 */
static size_t format(struct text *t, const char *fmt, va_list ap)
{
	char joined_fmt[TEXT_SZ], *c = joined_fmt;
	va_list again;
	size_t len;

	va_copy(again, ap);
	len = vsnprintf(t->said, sizeof(t->said), fmt, ap);
	memset(t->joined, '\n', sizeof(t->joined)); /* no newline in t->said is the format's */
	if (strchr(fmt, '\n') && strlen(fmt) < sizeof(joined_fmt)) {
		strcpy(joined_fmt, fmt);
		while ((c = strchr(c, '\n')))
			*c = ' ';
		vsnprintf(t->joined, sizeof(t->joined), joined_fmt, again);
	}
	va_end(again);
	return len;
}

/* Escape as \xNN what a line must not show. to has room for 4 bytes per byte of the text. */
static void escape(char *to, const struct text *t)
{
	const char *text = t->said;
	size_t left = strlen(text), len, i;

	for (; left; text += i, left -= i) {
		len = fr_utf8_len(text, left);
		i = len ?: 1;
		if ((*text == '\n' && t->joined[text - t->said] == ' ') || (len && !fr_utf8_is_sly(fr_utf8_char(text, len))))
			to = mempcpy(to, text, i);
		else
			to = err_put_hex(to, text, i);
	}
	*to = 0;
}

/* A recorder does not wait until its messages are read. */
static void say_lost(void)
{
	if (!ferror(stderr))
		return;
	clearerr(stderr);
	fputs("flightrec: messages are missing here, which could not be written\n", stderr);
}

static void err_give(bool is_error, const struct text *t)
{
	char escaped[4 * TEXT_SZ];

	escape(escaped, t);
	if (sink) {
		sink->say(sink->arg, is_error, escaped);
	} else {
		say_lost();
		fprintf(stderr, "flightrec: %s%s\n", is_error ? "" : "warning: ", escaped);
	}
}

/* err: 0, or why, as -errno. */
static void err_say(bool is_error, int err, const char *fmt, va_list ap)
{
	const char *cure = fr_err_cure(err, NULL);
	struct text t;
	size_t len = format(&t, fmt, ap);

	if (err && len < sizeof(t.said))
		snprintf(t.said + len, sizeof(t.said) - len, ": %s%s%s", strerror(-err), cure ? ": " : "", cure ?: "");
	err_give(is_error, &t);
}

static void say_lines(bool is_error, const char *fmt, va_list ap)
{
	struct text t;

	vsnprintf(t.said, sizeof(t.said), fmt, ap);
	memset(t.joined, ' ', sizeof(t.joined)); /* each newline is the message's */
	err_give(is_error, &t);
}

void fr_say(const char *fmt, ...)
{
	char escaped[4 * TEXT_SZ];
	struct text t;
	va_list ap;

	va_start(ap, fmt);
	format(&t, fmt, ap);
	va_end(ap);
	escape(escaped, &t);
	say_lost();
	fprintf(stderr, "%s\n", escaped);
}

void fr_verr(const char *fmt, va_list ap)
{
	err_say(true, 0, fmt, ap);
}

void fr_err(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fr_verr(fmt, ap);
	va_end(ap);
}

void fr_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_say(false, 0, fmt, ap);
	va_end(ap);
}

void fr_err_lines(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_lines(true, fmt, ap);
	va_end(ap);
}

void fr_warn_lines(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_lines(false, fmt, ap);
	va_end(ap);
}

void fr_err_errno(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_say(true, err, fmt, ap);
	va_end(ap);
}

void fr_warn_errno(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_say(false, err, fmt, ap);
	va_end(ap);
}

static const char *memory_cure = "free some memory";

void fr_err_set_memory_cure(const char *cure)
{
	memory_cure = cure;
}

int fr_err_memory(void)
{
	fr_err("out of memory: %s", memory_cure);
	return FR_EXIT_FAIL;
}

const char *fr_err_cure(int err, const char *usual)
{
	switch (err) {
	case -ENOSPC:
	case -EDQUOT:
		return "free some space, or write elsewhere";
	case -EFBIG:
		return "raise the limit of file sizes (ulimit -f)";
	case -EMFILE:
		return "raise the limit of open files (ulimit -n, a service's LimitNOFILE=)";
	case -ENFILE:
		return "raise the system's limit of open files (sysctl fs.file-max)";
	case -ENAMETOOLONG:
		return "give a shorter name";
	case -ENOMEM:
		return memory_cure;
	case -ELOOP:
		return "a symbolic link on the way leads in a circle, or belongs to somebody else: name the place itself";
	default:
		return usual;
	}
}

const char *fr_err_bpf_cure(int err, const char *usual)
{
	switch (err) {
	case -EPERM:
		return "run as root, or with CAP_BPF and CAP_PERFMON, outside of user namespaces; kernel lockdown, and "
		       "seccomp in a container, forbid it too";
	case -ENOMEM:
		return "use less memory (-m)";
	default:
		return fr_err_cure(err, usual);
	}
}

int fr_err_finish(struct fr_out *o, int status)
{
	int err = fr_out_flush(o);

	if (!err || err == -EPIPE)
		return status;
	fr_err_errno(err, "cannot write the output");
	return FR_EXIT_FAIL;
}
