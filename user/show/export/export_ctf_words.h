/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export_ctf_words: words of numbers in a CTF trace. A number that has words is an enumeration of the values that the trace
 * has, each with its whole word ("O_RDONLY|O_CLOEXEC", "FL_POSIX"), so that readers show what replay --words shows. They are
 * gathered while events are written, since the metadata comes last: each value is asked for its word once.
 */
#ifndef FR_EXPORT_CTF_WORDS_H
#define FR_EXPORT_CTF_WORDS_H

#include <stdbool.h>
#include <stdio.h>

#include "types.h"

#define FR_CTF_WORD_MAX 65536u /* of a trace; a value that comes later has none */

struct fr_ctf_words; /* opaque */

struct fr_ctf_words *fr_ctf_words_new(void);	/* NULL: no memory */
void fr_ctf_words_free(struct fr_ctf_words *w); /* NULL is fine */

/* Is this value of a class's field new, so that fr_ctf_words_add() is to be told its word? */
bool fr_ctf_words_want(const struct fr_ctf_words *w, u32 class, u32 field, u64 value);

/* Its word, sz bytes; 0: it has none, as has one whose word has bytes that a label may not have. 0 or -ENOMEM. */
int fr_ctf_words_add(struct fr_ctf_words *w, u32 class, u32 field, u64 value, const char *word, size_t sz);

/*
 * Write `enum : type { "word" = value, ... }`, or the type alone if no value of the field had a word. No word is added any
 * more.
 */
void fr_ctf_words_put(struct fr_ctf_words *w, FILE *f, u32 class, u32 field, const char *type, bool is_signed);

#endif
