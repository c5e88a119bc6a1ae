/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/demangle.h"

#include <setjmp.h>
#include <string.h>

#include <libiberty/demangle.h>

#define NAME_MAX_SZ 16384u /* longer names are left as they are */

struct sink {
	char buf[FR_DEMANGLE_SZ];
	size_t len;
	jmp_buf full; /* the only way to stop the library once it wrote enough: it holds no memory of its own */
};

static void demangle_take(const char *s, size_t sz, void *arg)
{
	struct sink *k = arg;
	size_t room = sizeof(k->buf) - 1 - k->len;

	memcpy(k->buf + k->len, s, sz < room ? sz : room);
	k->len += sz < room ? sz : room;
	if (sz > room)
		longjmp(k->full, 1);
}

/* Rust first: its older names are also valid C++ names, followed by a hash. */
static bool demangle_run(const char *name, struct sink *k)
{
	if (rust_demangle_callback(name, DMGL_NO_OPTS, demangle_take, k))
		return true;
	k->len = 0;
	return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, demangle_take, k);
}

static bool run_bounded(const char *name, struct sink *k)
{
	if (!setjmp(k->full))
		return demangle_run(name, k) && k->len;
	memcpy(k->buf + sizeof(k->buf) - 4, "...", 3);
	return true;
}

static bool is_mangled(const char *name)
{
	return (!strncmp(name, "_Z", 2) || !strncmp(name, "__Z", 3) || !strncmp(name, "_R", 2)) &&
	       strnlen(name, NAME_MAX_SZ) < NAME_MAX_SZ;
}

bool fr_demangle(const char *name, char to[FR_DEMANGLE_SZ])
{
	struct sink k;

	k.len = 0;
	if (!is_mangled(name) || !run_bounded(name, &k))
		return false;
	memcpy(to, k.buf, k.len);
	to[k.len] = 0;
	return true;
}
