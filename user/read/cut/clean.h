/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clean: what a snapshot says without the names and secrets in it (base/text/pseudo.h): for `cut --redact`. Each kind of text
 * that a snapshot has is named here once, with its form; what is not named is taken for a command line, of which options and
 * numbers stay.
 */
#ifndef FR_CLEAN_H
#define FR_CLEAN_H

#include "read/cut/meta.h"
#include "read/snapfile/snapfile.h"

struct fr_clean; /* opaque */

/* A key file's: its bytes make the key. */
#define FR_CLEAN_KEY_LEAST 16u
#define FR_CLEAN_KEY_MOST  4096u

/* key NULL: one that nobody knows. 0 and *out; -errno and a message. */
int fr_clean_new(const char *key_path, struct fr_clean **out);
void fr_clean_free(struct fr_clean *c); /* NULL is fine */

/* First of all snapshots of the file: the words of secret keys that it was recorded with are those of all. 0 or -ENOMEM. */
int fr_clean_secrets(struct fr_clean *c, const struct fr_snap *s);

/* Then of all of them, which must outlive c: which names the file has. 0 or -errno. */
int fr_clean_learn(struct fr_clean *c, struct fr_snap *s);

/*
 * Each of these replaces what it is given, 0 or -ENOMEM. A batch is valid until the next one; rows that it leaves are not
 * written: they are spoilt, and do not count.
 */
int fr_clean_batch(struct fr_clean *c, struct fr_batch *b, const bool *leaves);
int fr_clean_meta(struct fr_clean *c, struct fr_meta *m); /* but for lines */
int fr_clean_lines(struct fr_clean *c, struct fr_vec *text);

/* A fact's value, valid until the next call; NULL: no memory. */
const char *fr_clean_fact(struct fr_clean *c, const char *name, const char *value);

/* The schema, whose sentences may name programs: it lives as long as c. NULL: no memory. */
const struct fr_schema *fr_clean_schema(struct fr_clean *c, const struct fr_schema *s);

/* So far, of the whole file. */
u64 fr_clean_secret_cnt(const struct fr_clean *c);
u64 fr_clean_name_cnt(const struct fr_clean *c);

#endif
