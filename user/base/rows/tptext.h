/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tptext: texts in a record of a tracepoint, a probe or a mark, as a ring has it, become those that files and readers have.
 * Pure. */
#ifndef FR_TPTEXT_H
#define FR_TPTEXT_H

#include "base/rows/argv.h"
#include "base/schema/schema.h"

/*
 * The record's texts without the values of secret keys, each where it is: what gets longer loses its end, and says so
 * (FR_REDACT_CUT). rec: a record of ev, of sz bytes; where a word of it says that a text is, that nobody could have written
 * there, nothing is changed. Doing it again changes nothing. s: NULL: no further words, nothing is counted.
 */
void fr_tptext_make(const struct fr_event *ev, u8 *rec, u32 sz, struct fr_secrets *s);

#endif
