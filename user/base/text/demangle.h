/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * demangle: a linker's name as its programmer wrote it: C++ (Itanium ABI) and Rust (legacy and v0).
 *
 *	_ZN3net6Socket4sendEPKvm		net::Socket::send(void const*, unsigned long)
 *	_ZN4core3fmt5write17h01d2c9a1b2c3d4e5E	core::fmt::write
 *
 * Names come from untrusted files and can be made to grow without end: output and input are bounded. Pure.
 */
#ifndef FR_DEMANGLE_H
#define FR_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#define FR_DEMANGLE_SZ 1024u /* longer names end in "..." */

/* Write the demangled name to to, NUL-terminated. False: it is not mangled, or cannot be demangled; to is untouched. */
bool fr_demangle(const char *name, char to[FR_DEMANGLE_SZ]);

#endif
