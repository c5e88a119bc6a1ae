/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * redact: command lines and log lines without the passwords that people put there. Pure.
 *
 *	--db-password hunter2			--db-password [redacted]
 *	API_KEY=abc run				API_KEY=[redacted] run
 *	{"token": "abc", "user": "bob"}		{"token": "[redacted]", "user": "bob"}
 *	-H 'Authorization: Bearer abc'		-H 'Authorization: [redacted]'
 *	postgres://bob:hunter2@db/x		postgres://bob:[redacted]@db/x
 *	<password>hunter2</password>		<password>[redacted]</password>
 *	mysql -phunter2				mysql -p[redacted]
 *
 * A key is secret if it contains one of the words, whatever the case, and without - _ and dots; words of up to four letters
 * must be its end (`pass`: DB_PASS, not `passive`). Where a value's end is not sure, more of the text goes, not less. What
 * names no key (a password that is an argument of its own) stays, but behind some programs' options, and private keys.
 */
#ifndef FR_REDACT_H
#define FR_REDACT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/set/vec.h"
#include "types.h"

#define FR_REDACTED "[redacted]" /* in the value's place */

/* What is always redacted, unless it is taken out. */
#define FR_REDACT_WORDS \
	"password,passwd,passphrase,pass,pwd,secret,token,apikey,accesskey,privatekey,authorization,credential,cookie"

/*
 * words: separated by commas, added to FR_REDACT_WORDS; one that begins with - is taken out of all, and `no` means that nothing
 * is redacted. NULL: none. Is an item neither? Then *at is where it begins.
 */
bool fr_redact_is_good(const char *words, size_t *at);

/* To a list of words, text without a NUL, those of a list that add. 0 or -ENOMEM. */
int fr_redact_adds(const char *words, struct fr_vec *to);

enum fr_redact_form {
	FR_REDACT_LINE, /* text */
	FR_REDACT_ARGS, /* arguments, each with a NUL but perhaps the last: a value that is the rest of one goes as a whole */
};

/* May a line have such a value? If not, fr_redact() leaves it as it is: for what most often has none. */
bool fr_redact_may_have(const char *text, size_t sz);

/*
 * Put sz bytes of text, redacted, into out: at most room bytes, no NUL is added. Returns how many; *cnt grows by the values
 * that were redacted. What has been redacted before stays as it is, and does not count.
 */
size_t fr_redact(const char *words, enum fr_redact_form form, const char *text, size_t sz, char *out, size_t room, u32 *cnt);

/* The same for a text that keeps its room: where one that is longer loses its end, FR_REDACT_CUT are its last bytes. */
#define FR_REDACT_CUT "..."
size_t fr_redact_within(const char *words, enum fr_redact_form form, const char *text, size_t sz, char *out, size_t room,
			u32 *cnt);

#endif
