/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tpwords: is a tracepoint's format written as kernels write them, its fields, and behind "print fmt:" expressions? Pure.
 *
 *	words	STRING... { , expr }
 *	expr	unary { operator unary } [ ? expr : expr ]
 *	unary	{ - ! ~ ( type ) } primary { [ expr ] }
 *	primary	NUMBER | STRING | NAME | REC->FIELD | __get_...( FIELD ) | __print_...( expr, ... ) | ( expr )
 *
 * libtraceevent's parser is not made for anything else: it crashes on what nobody wrote. Statements in expressions, which a few
 * formats have, it does not understand anyway.
 */
#ifndef FR_TPWORDS_H
#define FR_TPWORDS_H

#include <stdbool.h>

/* text: behind "print fmt:"; the fields' lines, which are sound, go up to end, before it in the same text. */
bool fr_tpwords_are_sound(const char *fields, const char *end, const char *text);

/*
 * What is before that, up to end:
 *
 *	name: NAME\nID: NUMBER\nformat:\n { [ \tfield:DECLARATION;\toffset:NUMBER;\tsize:NUMBER;\tsigned:NUMBER; ] \n }
 *
 * A declaration is names, stars and, in brackets, how many: nothing, a number, a name, a sizeof().
 */
bool fr_tpfields_are_sound(const char *text, const char *end);

#endif
