/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symbols: finds the function that contains an address of a snapshot. Kernel addresses were resolved when the snapshot was
 * taken; user frames are stored as build-id and file offset, and looked up now, on any machine, in this order:
 *
 *	beside the snapshot, --symfs, the cache by build-id, /usr/lib/debug/.build-id, the original path if its build-id is the
 *	same, debuginfod if requested
 */
#ifndef FR_SYMBOLS_H
#define FR_SYMBOLS_H

#include "read/snapfile/snapfile.h"

struct fr_symbols_opts {
	const char *symfs;  /* root of another machine's files, or NULL */
	const char *beside; /* directory of the snapshot, or NULL */
	bool debuginfod;    /* query DEBUGINFOD_URLS */
	bool lines;	    /* also source files, lines and inlined functions: slow */
	bool raw;	    /* names as in the file: not demangled */
};

struct fr_symbols; /* opaque; of one snapshot */

/* A resolved frame. Texts live as long as the fr_symbols; they come from untrusted files: escape them. */
struct fr_symbol {
	const char *name;   /* of the function, NULL: unknown, and `missing` says why */
	u64 off;	    /* of the address in it; 0 for an inlined function */
	const char *module; /* path of the program or library, or its [build-id]; "[kernel]", name of a kernel module; "[jit]";
			       NULL unknown */
	u64 module_off;	    /* of the address in that file, in bytes; for the kernel from _stext, 0 unknown */
	const char *file;   /* source, with opts.lines; NULL unknown */
	u32 line;
	bool inlined;	     /* into the next symbol */
	const char *missing; /* "stripped", "file not found", "not mapped", ... */
};

/* 0 and *out, or -ENOMEM. */
int fr_symbols_new(const struct fr_snap *snap, const struct fr_symbols_opts *opts, struct fr_symbols **out);
void fr_symbols_free(struct fr_symbols *y); /* NULL is fine */

/* -ENOMEM: memory ran out, so some results are wrong; else 0. */
int fr_symbols_error(const struct fr_symbols *y);

/* Resolve a kernel address: 1 symbol at *out, without a name if the file does not know it. */
void fr_symbols_kernel(struct fr_symbols *y, u64 ip, struct fr_symbol *out);

/*
 * How many of the innermost frames of a kernel stack belong to the recorder: its program, which took the stack at a tracepoint,
 * and the kernel's call of it. Not for samples: those say where time went, ours included.
 */
u32 fr_symbols_recorder_frames(struct fr_symbols *y, const u64 *ip, size_t ip_cnt);

/*
 * Resolve frame nr, at ip, of user stack stack_id of process pid. At most max symbols to out, innermost (inlined) first;
 * returns how many, at least 1. A return address (nr > 0) is looked up one byte before.
 */
u32 fr_symbols_user(struct fr_symbols *y, u32 pid, u64 stack_id, u32 nr, u64 ip, struct fr_symbol *out, u32 max);

/* The same for a frame known by its place in a file: byte off, and the file's build-id. */
u32 fr_symbols_place(struct fr_symbols *y, const u8 *build_id, size_t build_id_sz, u64 off, u32 nr, struct fr_symbol *out,
		     u32 max);

/* ---- the files names come from ---- */

/* A program or library of the snapshot. */
struct fr_symbols_object {
	const char *path;	  /* as it was mapped, NULL unknown */
	const char *build_id;	  /* hexadecimal, NULL: it has none */
	u64 frame_cnt, named_cnt; /* frames looked up so far, and those that got a name */
	const char *found;	  /* file that supplies the functions, NULL none */
	const char *where;	  /* the place in the search order where it was, NULL */
	const char *missing;	  /* NULL: all functions are known; else "stripped", "build-id differs", "file not found" */
	const char *differs;	  /* file that was found but is another version, NULL */
};

/* The kernel: its build-id, how many of the requested addresses have names, and why not all. found: it is in the snapshot. */
void fr_symbols_kernel_object(const struct fr_symbols *y, struct fr_symbols_object *out);

/* Search for the files of all objects, even those without looked-up frames. */
void fr_symbols_look(struct fr_symbols *y);

/* The number of objects. Calling this adds those that processes had mapped; frames add others. */
u32 fr_symbols_object_cnt(struct fr_symbols *y);
void fr_symbols_object_nr(const struct fr_symbols *y, u32 i, struct fr_symbols_object *out);

/* Say why the first of those that could not be read was not, and what to do about it, if there is one. */
void fr_symbols_say_unread(const struct fr_symbols *y);

/* How many of the needed objects had no symbols. */
u32 fr_symbols_missing_cnt(const struct fr_symbols *y);

/* Say so on standard error, and what to do about it, in one line. others: snapshots of which the same could be said. */
void fr_symbols_say_missing(const struct fr_symbols *y, u32 others);

#endif
