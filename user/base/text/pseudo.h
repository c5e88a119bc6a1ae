/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pseudo: texts in which names are replaced by their aliases (alias.h), and secrets by [redacted] (redact.h). Pure.
 *
 * What a name is depends on what the text is; first all texts are learned from, then they are replaced:
 *
 *	form	learned						replaced
 *	NAME	all of it					all of it
 *	PATH	each component					each component
 *	WORDS	each word, but options (--port, the -p of	the same
 *		-pSecret) and numbers
 *	RULE	as WORDS, but the words of rules themselves,	the same
 *		where they are neither in quotes nor a value
 *		of comm=, exe=, cgroup= or uid=
 *	OBJECT	by its scheme, as PATH, NAME or TEXT		the same
 *	TEXT	nothing						words that are a name elsewhere
 *
 * In all but NAME, these are replaced, too: components of paths that begin with /, addresses, ids of containers, uids of pods,
 * and names of several words that are known. What stays: numbers; what the caller says (fr_pseudo_keep()), such as names of
 * kernel threads; components that are the same on each machine (/usr/lib, /dev/sda, /proc); suffixes that systemd gives.
 */
#ifndef FR_PSEUDO_H
#define FR_PSEUDO_H

#include <stdbool.h>

#include "base/text/alias.h"

enum fr_pseudo_form { FR_PSEUDO_NAME, FR_PSEUDO_PATH, FR_PSEUDO_WORDS, FR_PSEUDO_RULE, FR_PSEUDO_OBJECT, FR_PSEUDO_TEXT };

struct fr_pseudo; /* opaque */

struct fr_pseudo *fr_pseudo_new(const struct fr_alias_key *key); /* NULL: no memory */
void fr_pseudo_free(struct fr_pseudo *p);			 /* NULL is fine */

/* From now on, further words of secret keys, as fr_redact() takes them; NULL: none. They must live as long as p. */
void fr_pseudo_secrets(struct fr_pseudo *p, const char *words);

/* This text is no name, whatever it stands in. 0 or -ENOMEM. */
int fr_pseudo_keep(struct fr_pseudo *p, const char *text, size_t len);

/*
 * This text is a kernel thread's name: its kind stays, the first word of it. What follows may be somebody's (an NFS server's
 * address), and is TEXT; behind some kinds (md_, drbd_r_) it is somebody's for certain, and NAME. A piece of an address is no
 * kind: then nothing is kept.
 */
int fr_pseudo_keep_kernel(struct fr_pseudo *p, const char *text, size_t len);

/* This text is no name in RULEs, but may be one elsewhere. 0 or -ENOMEM. */
int fr_pseudo_keep_in_rules(struct fr_pseudo *p, const char *text, size_t len);

/* Learn the names in it. 0 or -ENOMEM. */
int fr_pseudo_learn(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text, size_t len);

/*
 * The text without its names and secrets, with a NUL, *sz bytes without it: valid until the next call. A NUL in text is a
 * blank. NULL: no memory.
 */
const char *fr_pseudo_put(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text, size_t len, size_t *sz);

/* In a place of room bytes, filled up with NULs; ends says that one must be left. What is too long is cut off. 0 or -ENOMEM. */
int fr_pseudo_put_in(struct fr_pseudo *p, enum fr_pseudo_form form, char *at, size_t room, bool ends);

/* An address in network order, fr_alias_address(). */
void fr_pseudo_address(struct fr_pseudo *p, u8 *address, size_t sz);

/* So far: values of secret keys that were redacted, and different names that were replaced. */
u64 fr_pseudo_secret_cnt(const struct fr_pseudo *p);
u64 fr_pseudo_name_cnt(const struct fr_pseudo *p);

#endif
