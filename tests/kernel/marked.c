/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * marked: a program with static marks, as sys/sdt.h makes them, whose arguments are in registers, in memory, constant, and
 * where no reader understands them. Prints a line for each that it passes, as a second observer: "NAME VALUE...". Then its pid.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/flightrec_mark.h"

#define WORDS_(n) #n
#define WORDS(n)  WORDS_(n)

#if defined(__x86_64__)
#define INT(n)	"-4@%k" #n
#define BYTE(n) "-1@%b" #n
#define FIX(n)	"$" WORDS(n)
#else
#define INT(n)	"-4@%w" #n
#define BYTE(n) "-1@%w" #n
#define FIX(n)	WORDS(n)
#endif
#define LONG(n) "8@%" #n

#define MARK(name, counter, args, ...)                                                          \
	asm volatile("990: nop\n"                                                               \
		     ".pushsection .note.stapsdt,\"\",\"note\"\n"                               \
		     ".balign 4\n.4byte 992f-991f,994f-993f,3\n"                                \
		     "991: .asciz \"stapsdt\"\n992: .balign 4\n"                                \
		     "993: .8byte 990b,_.stapsdt.base," counter "\n"                            \
		     ".asciz \"frt\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n"               \
		     "994: .balign 4\n.popsection\n"                                            \
		     ".ifndef _.stapsdt.base\n"                                                 \
		     ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"    \
		     ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n" \
		     ".size _.stapsdt.base,1\n.popsection\n.endif\n" ::__VA_ARGS__)

#define KEPT __attribute__((noinline, noclone, used))

unsigned short fr_marked_counter __attribute__((section(".probes"), used));

KEPT void fr_marked_regs(int number, uint64_t big, const char *text)
{
	MARK("call", "0", INT(0) " " LONG(1) " " LONG(2), "r"(number), "r"(big), "r"(text));
	printf("call %d %llu %s\n", number, (unsigned long long)big, text);
}

/* The same mark, whose arguments are elsewhere. */
KEPT void fr_marked_memory(uint64_t big, const char *text)
{
	volatile uint64_t at = big;

	MARK("call", "0", "-4@" FIX(-7) " " LONG(0) " " LONG(1), "m"(at), "r"(text));
	printf("call -7 %llu %s\n", (unsigned long long)big, text);
}

/* A byte with a sign; what is at an index, or in a register of floats, is not understood. */
KEPT void fr_marked_odd(int8_t byte, const uint32_t *array, uint64_t index)
{
#if defined(__x86_64__)
	MARK("odd", "0", BYTE(0) " 4@(%1,%2,4) 8f@%%xmm0 2@" FIX(65535), "r"(byte), "r"(array), "r"(index));
#else
	MARK("odd", "0", BYTE(0) " 4@[%1, %2, lsl 2] 8f@d0 2@" FIX(65535), "r"(byte), "r"(array), "r"(index));
#endif
	printf("odd %d 65535\n", byte);
}

/* Passed only while someone listens, whom the kernel counts. */
KEPT void fr_marked_guarded(int number)
{
	if (!*(volatile unsigned short *)&fr_marked_counter)
		return;
	MARK("guarded", "fr_marked_counter", INT(0), "r"(number));
	printf("guarded %d\n", number);
}

#define FIXED 536870912

/* A text whose address is a constant, in memory that nobody has looked at; the registers hold nothing of it. */
KEPT void fr_marked_fixed(void)
{
	static const char text[] = "at a constant address";
	int fd = memfd_create("text", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, sizeof(text)) != sizeof(text) ||
	    mmap((void *)FIXED, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0) != (void *)FIXED) {
		perror("memory at " WORDS(FIXED));
		exit(1);
	}
	close(fd);
	MARK("fixed", "0", "8@" FIX(FIXED), "i"(0));
	printf("fixed %s\n", text);
}

/* The marks of flightrec_mark.h. */
KEPT void fr_marked_ours(int number)
{
	unsigned long long id = (1ULL << 63) + number;
	char text[32];

	snprintf(text, sizeof(text), "number %d", number);
	flightrec_begin("request", id);
	printf("begin request %llu\n", id);
	flightrec_mark(text);
	printf("mark %s\n", text);
	flightrec_counter("queue", -number);
	printf("counter queue %d\n", -number);
	flightrec_end("request", id);
	printf("end request %llu\n", id);
}

/* Its text is where its stack pointer points to. */
KEPT void fr_marked_top(int number)
{
	char text[16];

	text[0] = 't';
	text[1] = '0' + number;
	text[2] = 0;
	flightrec_mark(text);
	printf("mark t%d\n", number);
}

/* It calls nothing, so it may keep what it works with below its stack pointer, where a probe must not write. */
KEPT uint64_t fr_marked_leaf(uint64_t number)
{
	volatile uint64_t kept[8];
	uint64_t same = 0;
	int i;

	for (i = 0; i < 8; i++)
		kept[i] = number + i;
	flightrec_counter("leaf", number);
	for (i = 0; i < 8; i++)
		same += kept[i] == number + i;
	return same;
}

int main(void)
{
	static const uint32_t array[4] = {1, 2, 3, 4};
	static const char text[] = "not looked at before";
	int i;

	for (i = 0; i < 6; i++) {
		fr_marked_regs(-i, (uint64_t)i << 40, text);
		fr_marked_memory(UINT64_MAX - i, i % 2 ? "odd" : "even");
		fr_marked_odd(-i, array, i % 4);
		fr_marked_guarded(i);
		fr_marked_ours(i);
	}
	for (i = 0; i < 4; i++)
		fr_marked_top(i);
	for (i = 0; i < 100; i++) /* the kernel takes some to find out that a place is worth a call */
		printf("kept %llu\ncounter leaf %d\n", (unsigned long long)fr_marked_leaf(i), i);
	fr_marked_fixed();
	printf("pid %d\n", getpid());
	return 0;
}
