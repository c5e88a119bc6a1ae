/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* literal: a macro's number as a string literal, for texts that name a limit or a default. Pure. */
#ifndef FR_LITERAL_H
#define FR_LITERAL_H

/* The number is defined without a suffix, which would be in the text. */
#define FR_LITERAL(number)     FR_LITERAL_AS_IS(number)
#define FR_LITERAL_AS_IS(text) #text

#endif
