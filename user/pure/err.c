/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure/err.h"

#include <stdarg.h>
#include <stdio.h>

static void say(const char *prefix, const char *fmt, va_list ap)
{
	char text[2048];
	const unsigned char *c;

	vsnprintf(text, sizeof(text), fmt, ap);
	flockfile(stderr);
	fputs(prefix, stderr);
	for (c = (const unsigned char *)text; *c; c++) {
		if ((*c < 0x20 && *c != '\n' && *c != '\t') || *c == 0x7f)
			fprintf(stderr, "\\x%02x", *c);
		else
			putc(*c, stderr);
	}
	putc('\n', stderr);
	funlockfile(stderr);
}

void fr_err(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("flightrec: ", fmt, ap);
	va_end(ap);
}

void fr_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("flightrec: warning: ", fmt, ap);
	va_end(ap);
}
