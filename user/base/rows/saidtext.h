/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* saidtext: what a program wrote to standard error, as a ring has it, becomes the text that files and readers have. Pure. */
#ifndef FR_SAIDTEXT_H
#define FR_SAIDTEXT_H

#include "base/rows/argv.h"
#include "event_fields.h"

/*
 * The record's text without the values of secret keys. A NUL becomes a blank, so that nothing hides behind it. Where the text's
 * beginning is missing, so is the rest of the line that it was in, or of the word if there is no other line: it may be a
 * secret's. The record keeps its size: what gets longer loses its end, and says so (FR_REDACT_CUT). Doing it again changes
 * nothing. sz: the record's bytes, so many are there. s: NULL: no further words, nothing is counted.
 */
void fr_saidtext_make(struct fr_rec_stderr_write *rec, u32 sz, struct fr_secrets *s);

#endif
