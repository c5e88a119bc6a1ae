/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * place_file: what a CPU remembers of the files that code is in: their build-ids, or that the kernel told none.
 *
 * The kernel tells none for two reasons, which look alike. The file has none: this holds. Or the lock of the address space was
 * taken, or the page was not in memory: this passes, though under load it happens several times in a row. So a file that failed
 * in each of its tries counts as having none, but only for a moment, after which it is tried once more:
 *
 *	           told                       after FR_PLACE_FILE_S
 *	unknown  ----------------->  known  ------------------------> unknown, FR_PLACE_TRIES
 *	   |
 *	   | failed, no try is left           after FR_PLACE_RETRY_S
 *	   '---------------------->  none   ------------------------> unknown, one try
 *
 * Nobody asks for a file that is known or has none. The caller says what time it is.
 */
#ifndef FR_PLACE_FILE_H
#define FR_PLACE_FILE_H

#include <stdbool.h>

#include "types.h"

#define FR_PLACE_FILE_CNT 64u /* files remembered */
#define FR_PLACE_WAYS	  4u  /* slots where a file may be */
#define FR_PLACE_FILE_S	  10u
#define FR_PLACE_RETRY_S  1u
#define FR_PLACE_TRIES	  4u /* in the first of which the lock may be taken */
#define FR_PLACE_WORDS	  3u /* of a build-id */

struct place_file {
	u64 id; /* 0: free */
	u64 build_id[FR_PLACE_WORDS];
	u32 until_s;
	u16 tries; /* left, while the build-id is unknown; 0: it counts as having none */
	u16 known; /* the build-id is known */
	u64 asked; /* the last asking that was counted */
};

struct place_files {
	struct place_file file[FR_PLACE_FILE_CNT];
};

FR_INLINE bool fr_place_is_fresh(const struct place_file *f, u64 id, u32 now_s)
{
	return f->id == id && (s32)(f->until_s - now_s) > 0;
}

/* Is its build-id known, or does it count as having none? */
FR_INLINE bool fr_place_is_told(const struct place_file *f)
{
	return f->known || !f->tries;
}

/* Slot i of a set. The barrier keeps the mask next to the access: older verifiers (6.1) cannot follow clang's version. */
FR_INLINE struct place_file *fr_place_file_at(struct place_files *files, u64 id, u32 i)
{
	u32 at = (u32)id * FR_PLACE_WAYS + i;

	asm volatile("" : "+r"(at));
	return &files->file[at & (FR_PLACE_FILE_CNT - 1)];
}

/* What is remembered of a file. NULL: nothing that still holds. */
FR_INLINE struct place_file *fr_place_file(struct place_files *files, u64 id, u32 now_s)
{
	struct place_file *f;
	u32 i;

	for (i = 0; i < FR_PLACE_WAYS; i++) {
		f = fr_place_file_at(files, id, i);
		if (fr_place_is_fresh(f, id, now_s))
			return f;
	}
	return NULL;
}

/* Where to remember it: in its own slot, in that of a file that is out of date, or of another one, which chance chooses. */
FR_INLINE struct place_file *fr_place_slot(struct place_files *files, u64 id, u32 now_s, u64 chance)
{
	u32 way = chance & (FR_PLACE_WAYS - 1), i;
	struct place_file *f;

	for (i = 0; i < FR_PLACE_WAYS; i++) {
		f = fr_place_file_at(files, id, i);
		if (f->id == id)
			return f;
		if (!fr_place_is_fresh(f, f->id, now_s))
			way = i;
	}
	return fr_place_file_at(files, id, way);
}

/* Remember a file of which nothing holds: its build-id is unknown. */
FR_INLINE struct place_file *fr_place_add_file(struct place_files *files, u64 id, u32 now_s, u64 chance)
{
	struct place_file *f = fr_place_slot(files, id, now_s, chance);
	u16 tries = f->id == id && !f->known && !f->tries ? 1 : FR_PLACE_TRIES;

	*f = (struct place_file){.id = id, .until_s = now_s + FR_PLACE_FILE_S, .tries = tries};
	return f;
}

/* Its build-id was told, and is filled in. */
FR_INLINE void fr_place_told(struct place_file *f, u32 now_s)
{
	f->known = 1;
	f->until_s = now_s + FR_PLACE_FILE_S;
}

/* No build-id was told of an unknown file in this asking, which has a number, from 1, and counts once. */
FR_INLINE void fr_place_failed(struct place_file *f, u32 now_s, u64 asking)
{
	if (f->asked == asking)
		return;
	f->asked = asking;
	if (!--f->tries)
		f->until_s = now_s + FR_PLACE_RETRY_S;
}

#endif
