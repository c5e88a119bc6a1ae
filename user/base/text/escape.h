/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * escape: names and paths are bytes that anybody can choose. Here they become text that can neither move a terminal's
 * cursor nor disguise a line, nor break a JSON line.
 *
 * A byte that is not part of valid UTF-8 is written \xNN. In text, so is each byte of a control character (C0, DEL and
 * C1), and of a character that changes the direction of writing or is invisible (fr_utf8_is_sly()). In JSON, control characters
 * and the others of these are \uNNNN, so that the file itself may be shown, and \xNN is in the string as a backslash, an x and
 * two digits. To make this reversible, a backslash followed by x is itself written \x5c; any other stands for itself.
 */
#ifndef FR_ESCAPE_H
#define FR_ESCAPE_H

#include "base/text/out.h"

/* Is the text printable ASCII only, with no quote and no backslash? Then it stands for itself everywhere. */
bool fr_is_plain(const char *s, size_t sz);

/* Is it also not empty, and without spaces and =? */
bool fr_is_word(const char *s, size_t sz);

/* As text. Returns the columns that a terminal needs for it: some characters take none, and some two. */
size_t fr_escape_text(struct fr_out *o, const char *s, size_t sz);

/* As text in double quotes; a quote in it is written as quote: \" or "". The other without those around it. */
void fr_escape_quoted(struct fr_out *o, const char *s, size_t sz, const char *quote);
void fr_escape_inner(struct fr_out *o, const char *s, size_t sz, const char *quote);

/* As fr_escape_text(), but only as many whole characters, escaped or not, as fit into most columns. */
size_t fr_escape_text_to(struct fr_out *o, const char *s, size_t sz, size_t most);

/* As the inside of a JSON string: without the quotes. */
void fr_escape_json(struct fr_out *o, const char *s, size_t sz);

/* The same of what fr_escape_text() made, such as a sentence with names in it: its \xNN stay that, and are not escaped again.
 */
void fr_escape_json_again(struct fr_out *o, const char *s, size_t sz);

/*
 * For strings in binary formats, whose readers print them as they are and whose size may be fixed: each byte that text would
 * not show as it is becomes '?', in place.
 */
void fr_escape_mask(char *s, size_t sz);

/* As fr_escape_text() into a buffer: as many whole characters, escaped or not, as fit. Returns the bytes written; no NUL. */
size_t fr_escape_mem(char *to, size_t room, const char *s, size_t sz);

/* The same of a string, with a NUL; room at least 1. Returns to. */
const char *fr_escape_str(char *to, size_t room, const char *s);

/* Undo what fr_escape_json() did beyond JSON's own escapes: \xNN becomes its byte, in place. Returns the new length. */
size_t fr_unescape(char *s, size_t sz);

#endif
