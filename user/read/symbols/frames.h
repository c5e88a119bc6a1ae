/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frames: the stacks of a replay's events as text. A file's symbols are searched when its first stack is requested; each stack
 * is resolved once.
 *
 *	do_nanosleep+0x6d					of the kernel
 *	ext4_file_write_iter+0x5c [ext4]			of a module
 *	net::Socket::send(void const*, unsigned long)+0x1f (server)
 *	/usr/bin/server+0x1234 (stripped)			no name: byte of the file, and why
 *	[0123abcd...]+0x1234 (file not found)			likewise, of a build-id
 *	parse (server) main.c:12 (inlined)			with opts.lines
 *	Interpreter+0x10 [jit]					made at run time
 *	0x7f001234						in no file
 */
#ifndef FR_FRAMES_H
#define FR_FRAMES_H

#include "base/rows/stacktexts.h"
#include "read/replay/replay.h"
#include "read/symbols/symbols.h"

#define FR_FRAME_TEXT_SZ 1536u /* per frame; longer text is truncated */

struct fr_frames; /* opaque */

/* For the files of r; r and opts' texts must live as long. opts->beside is set for each file. NULL: no memory. */
struct fr_frames *fr_frames_new(struct fr_replay *r, const struct fr_symbols_opts *opts);
void fr_frames_free(struct fr_frames *f); /* NULL is fine */

/* From now on rows are of this run. */
void fr_frames_at(struct fr_frames *f, const struct fr_replay_run *run);

/* One function of a stack. */
struct fr_frame {
	u64 ip;
	struct fr_symbol sym;
};

/*
 * The frames of the stack in field f (rule STACK) of a row, innermost first, inlined functions before the function that
 * contains them. NULL or *cnt 0: none. Valid until the next call; its texts live as long as the fr_frames.
 */
const struct fr_frame *fr_frames_of(struct fr_frames *f, const struct fr_row *r, const struct fr_field *field, u32 *cnt);

/* For printers. */
struct fr_stacktexts fr_frames_texts(struct fr_frames *f);

/* The symbols of a file, for callers that need more than text. NULL: no memory. */
struct fr_symbols *fr_frames_symbols(struct fr_frames *f, u32 file);

/* -ENOMEM: memory ran out, so some results are wrong; else 0. */
int fr_frames_error(const struct fr_frames *f);

/* Report which programs and libraries had no symbols. Returns how many. */
u32 fr_frames_say_missing(const struct fr_frames *f);

/* A frame at ip as text, NUL-terminated, in the above forms. */
void fr_frame_text(const struct fr_symbol *s, u64 ip, char to[FR_FRAME_TEXT_SZ]);

/* Of a kernel frame, by its address. */
static inline bool fr_is_kernel_ip(u64 ip)
{
	return ip >> 63;
}

#endif
