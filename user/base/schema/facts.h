/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* facts: name=value lines, as in sessions and snapshots. Values have no newline: it is written as \n, \ as \\. Pure. */
#ifndef FR_FACTS_H
#define FR_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Is it lines of name=value, each with its newline? */
bool fr_facts_are_lines(const char *text, size_t sz);

/* Write one line. name: letters, digits and _. What fails is an error of the stream: see base/text/memfile.h. */
#define FR_FACT_MADE_SZ 1024u /* of a value that is made of numbers and names, with its NUL: what is longer is cut */
void fr_facts_put(FILE *f, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* A text of any length. */
void fr_facts_put_text(FILE *f, const char *name, const char *value);

/* The value of name in text, unescaped; malloc'ed, the caller frees it. NULL: there is none, or no memory. */
char *fr_facts_get(const char *text, const char *name);

/* The text with another value of name, placed after the others; malloc'ed, the caller frees it. NULL: no memory. */
char *fr_facts_set(const char *text, const char *name, const char *value);

/* Walk: the next line at *pos: its name and value (still escaped) as pointers into text. Returns 1, or 0 at the end. */
int fr_facts_next(const char *text, size_t *pos, const char **name, size_t *name_len, const char **value, size_t *value_len);

#endif
