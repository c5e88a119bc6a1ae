/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tps: the tracepoints of a recording. Their formats as one text, which a session keeps and a snapshot has (docs/format.md),
 * and what they make of a row: the kernel's record again, its words, its symbols. Pure.
 *
 *	tp SYSTEM NAME SIZE\n	and SIZE bytes: the format; then the next one
 */
#ifndef FR_TPS_H
#define FR_TPS_H

#include "base/rows/batch.h"
#include "base/tp/tpformat.h"

#define FR_TPS_MAX_SZ (4u << 20) /* of the text */

/* The next format of a text, from *pos on, which moves behind it. False: there is none, or what is there is none. */
struct fr_tps_item {
	char system[FR_NAME_MAX + 1], name[FR_NAME_MAX + 1];
	const char *text;
	size_t sz;
};
bool fr_tps_next(const char *text, size_t sz, size_t *pos, struct fr_tps_item *out);

/* Is it one format after the other up to its end? */
bool fr_tps_is_good(const char *text, size_t sz);

/* Add one. 0 or -EIO. */
int fr_tps_put(FILE *f, const struct fr_tps_item *item);

struct fr_tps; /* opaque */

/* Of a file's schema; what the text lacks, or has no sound format of, has no words. NULL: no memory. */
struct fr_tps *fr_tps_new(const struct fr_schema *s, const char *text, size_t sz);
void fr_tps_free(struct fr_tps *t); /* NULL is fine */

/* A row in the kernel's words, until the next call; NULL: there are none. t may be NULL. */
const char *fr_tps_text(struct fr_tps *t, const struct fr_row *r);

/* The kernel's word for a number; NULL: it has none. */
const char *fr_tps_symbol(struct fr_tps *t, const struct fr_row *r, const struct fr_field *f, u64 v);

/* The number that has this word in a field of event nr; tps: a struct fr_tps, NULL has none. 0 and *v; -EINVAL. */
int fr_tps_value(const void *tps, u32 nr, const char *field, const char *word, s64 *v);

/* Tell all words of a field; tps as above. */
void fr_tps_values(const void *tps, u32 nr, const char *field, void (*tell)(void *arg, const char *word), void *arg);

/* Has event nr a field that is called so, which was not recorded (`{}`)? tps as above. */
bool fr_tps_lacks(const void *tps, u32 nr, const char *field);

/* The record of a row as the kernel had it: its bytes in to, of FR_TPS_RECORD_SZ. Returns how many. Of a part of the fields
 * (`{}`), the others are 0. */
#define FR_TPS_RECORD_SZ (FR_TP_HEAD_SZ + FR_TP_ROOM_SZ)
size_t fr_tps_record(const struct fr_tps *t, const struct fr_row *r, u8 *to);

/*
 * The text of an event's format, *sz bytes of the text that was given, for readers that print by it: NULL if there is none, it
 * is not sound, or its rows lack fields.
 */
const char *fr_tps_whole_text(const struct fr_tps *t, u32 nr, size_t *sz);

/* The record of a row of such an event, *sz bytes until the next call: no word in it leads out of it. NULL: none. */
const void *fr_tps_whole_record(struct fr_tps *t, const struct fr_row *r, size_t *sz);

/* The format of an event, NULL: none. */
struct fr_tpformat *fr_tps_format(const struct fr_tps *t, u32 nr);

#endif
