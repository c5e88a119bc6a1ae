/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flightrec_mark: marks of your program in a flight recording, in C and C++, for x86-64 and arm64. This header is all that is
 * needed: nothing is linked, and nothing else is included.
 *
 *	flightrec_mark("cache is full");
 *	flightrec_begin("request", id);		a span: this id, whichever thread or process goes on with it
 *	flightrec_end("request", id);
 *	flightrec_counter("queue", length);
 *
 * Each is an instruction that does nothing, and a note in the file that says where it is. A recorder that
 * is told so, with -e mark:/usr/bin/mine, records what passes it, also in processes that run already. Texts are read only then:
 * up to 255 bytes of each. See docs/probes.md of flightrec.
 *
 * libflightrec has the same as functions, for languages that call those: flightrec(3).
 */
#ifndef FLIGHTREC_MARK_H
#define FLIGHTREC_MARK_H

/*
 * Of x86-64 a nop of one byte, not of five: Linux 6.18 turns a recorded one of five into a call, which takes no trap, but a
 * child that is forked from then on has the call and not what it calls, and dies at it.
 */
#if defined(__x86_64__)
#define FLIGHTREC_MARK_OF "@{|%%}" /* -masm=intel leaves out what a note must have */
#elif defined(__aarch64__)
#define FLIGHTREC_MARK_OF "@"
#endif

/* Compilers other than these, and machines other than those, have marks that do nothing. */
#if defined(FLIGHTREC_MARK_OF) && defined(__GNUC__) && defined(__ELF__)
#define FLIGHTREC_MARK_ONE(first)	  "r"(first)
#define FLIGHTREC_MARK_TWO(first, second) "r"(first), "r"(second)
#define FLIGHTREC_MARK_SITE(name, args, inputs)                                                          \
	__asm__ __volatile__("990: nop\n.pushsection .note.stapsdt, \"?\", \"note\"\n"                   \
			     ".balign 4\n"                                                               \
			     ".4byte 992f - 991f, 994f - 993f, 3\n"                                      \
			     "991: .asciz \"stapsdt\"\n"                                                 \
			     "992: .balign 4\n"                                                          \
			     "993: .8byte 990b, _.stapsdt.base, 0\n"                                     \
			     ".asciz \"flightrec\"\n"                                                    \
			     ".asciz \"" name "\"\n"                                                     \
			     ".asciz \"" args "\"\n"                                                     \
			     "994: .balign 4\n"                                                          \
			     ".popsection\n"                                                             \
			     ".ifndef _.stapsdt.base\n"                                                  \
			     ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
			     ".weak _.stapsdt.base\n"                                                    \
			     ".hidden _.stapsdt.base\n"                                                  \
			     "_.stapsdt.base: .space 1\n"                                                \
			     ".size _.stapsdt.base, 1\n"                                                 \
			     ".popsection\n"                                                             \
			     ".endif\n"                                                                  \
			     :                                                                           \
			     : inputs                                                                    \
			     : "memory")
#else
#define FLIGHTREC_MARK_ONE(first)		(void)(first)
#define FLIGHTREC_MARK_TWO(first, second)	(void)(first), (void)(second)
#define FLIGHTREC_MARK_SITE(name, args, inputs) (inputs)
#endif

#ifndef FLIGHTREC_MARK_FUNCTION
#define FLIGHTREC_MARK_FUNCTION static __inline __attribute__((always_inline, unused))
#endif

/* This happened. */
FLIGHTREC_MARK_FUNCTION void flightrec_mark(const char *text)
{
	FLIGHTREC_MARK_SITE("mark", "8" FLIGHTREC_MARK_OF "%0", FLIGHTREC_MARK_ONE(text));
}

/* Something of this name begins, for the request or the like that has this number. */
FLIGHTREC_MARK_FUNCTION void flightrec_begin(const char *name, unsigned long long id)
{
	FLIGHTREC_MARK_SITE("begin", "8" FLIGHTREC_MARK_OF "%0 8" FLIGHTREC_MARK_OF "%1", FLIGHTREC_MARK_TWO(name, id));
}

/* It ends. */
FLIGHTREC_MARK_FUNCTION void flightrec_end(const char *name, unsigned long long id)
{
	FLIGHTREC_MARK_SITE("end", "8" FLIGHTREC_MARK_OF "%0 8" FLIGHTREC_MARK_OF "%1", FLIGHTREC_MARK_TWO(name, id));
}

/* What is counted or measured under this name is so many now. */
FLIGHTREC_MARK_FUNCTION void flightrec_counter(const char *name, long long value)
{
	FLIGHTREC_MARK_SITE("counter", "8" FLIGHTREC_MARK_OF "%0 -8" FLIGHTREC_MARK_OF "%1", FLIGHTREC_MARK_TWO(name, value));
}

#endif
