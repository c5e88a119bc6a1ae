/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * marked: a program with static marks, as sys/sdt.h makes them, whose arguments are in registers, in memory, constant, and
 * where no reader understands them. Prints a line for each that it passes, as a second observer: "NAME VALUE...". Then its pid.
 *
 *	marked			each mark
 *	marked spans		spans in all ways, each with its length by this program's clock
 *	marked flood N		so many begins of "frt-span" without an end, of ids that spans do not have
 *
 * A span is told as "span NAME ID TID LEAST MOST", ns; what nobody had ended when its thread or process ended is counted, "left
 * N". A flood ends with "flooded", and with the input.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
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

#if defined(__x86_64__)
/* Places that no recorder may take: a mark, and a function's begin. */
KEPT void fr_marked_five(void)
{
	asm volatile("990: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
		     ".pushsection .note.stapsdt,\"\",\"note\"\n"
		     ".balign 4\n.4byte 992f-991f,994f-993f,3\n"
		     "991: .asciz \"stapsdt\"\n992: .balign 4\n"
		     "993: .8byte 990b,_.stapsdt.base,0\n"
		     ".asciz \"five\"\n.asciz \"nop\"\n.asciz \"\"\n"
		     "994: .balign 4\n.popsection");
}

asm(".pushsection .text\n.type fr_marked_nop, @function\nfr_marked_nop: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\nret\n"
    ".size fr_marked_nop, . - fr_marked_nop\n.popsection");
#endif

#define PASSES 5 /* of one place, before a child passes it */

KEPT void fr_marked_again(int number)
{
	flightrec_begin("again", number);
}

KEPT void fr_marked_forked(void)
{
	int i, status = -1;
	pid_t pid;

	for (i = 0; i < PASSES; i++) {
		fr_marked_again(i);
		printf("begin again %d\n", i);
	}
	fflush(stdout);
	pid = fork();
	if (!pid) {
		fr_marked_again(PASSES);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("child %d %d\n", pid, status);
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

/* ---- spans ---- */

#define ASKED	  "frt-span" /* that a rule is about */
#define OTHER	  "frt-inner"
#define FLOODED	  1000000
#define SPAN_LONG 60 /* ms */
#define SPAN_GAP  20 /* ms, longer than a rule keeps silent behind an alert */

struct span {
	const char *name;
	unsigned long long id;
	uint64_t before_ns, after_ns; /* around its begin */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void nap(int ms)
{
	struct timespec t = {.tv_nsec = ms * 1000000L};

	while (nanosleep(&t, &t))
		;
}

static struct span span_begin(const char *name, unsigned long long id)
{
	struct span s = {.name = name, .id = id, .before_ns = now_ns()};

	flightrec_begin(name, id);
	s.after_ns = now_ns();
	return s;
}

static void span_end(const struct span *s)
{
	uint64_t before_ns = now_ns(), after_ns;

	flightrec_end(s->name, s->id);
	after_ns = now_ns();
	printf("span %s %llu %d %llu %llu\n", s->name, s->id, (int)syscall(SYS_gettid),
	       (unsigned long long)(before_ns - s->after_ns), (unsigned long long)(after_ns - s->before_ns));
	fflush(stdout);
	nap(SPAN_GAP);
}

/* Threads: one that has a span of its own without an id, one that leaves one, one that ends what it has not begun. */
static void *span_thread(void *what)
{
	struct span s;

	if (*(const char *)what == 'e') {
		flightrec_end(ASKED, 0);
		return NULL;
	}
	s = span_begin(ASKED, 0);
	if (*(const char *)what == 'o')
		span_end(&s);
	return NULL;
}

static void span_in_thread(const char *what)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, span_thread, (void *)what) || pthread_join(thread, NULL)) {
		perror("a thread");
		exit(1);
	}
}

/* A child begins (b), ends (e) what has this id. */
static void span_child(const char *what, struct span s)
{
	if (strchr(what, 'b'))
		s = span_begin(s.name, s.id);
	if (strchr(what, 'e'))
		span_end(&s);
}

/* It executes this program: it would have the parent's memory, in which Linux 6.18 lets a mark crash that the parent has
 * passed. */
static void span_in_child(const struct span *of, const char *what)
{
	char id[24], before[24], after[24];
	int status;
	pid_t pid = fork();

	if (!pid) {
		snprintf(id, sizeof(id), "%llu", of->id);
		snprintf(before, sizeof(before), "%llu", (unsigned long long)of->before_ns);
		snprintf(after, sizeof(after), "%llu", (unsigned long long)of->after_ns);
		execl("/proc/self/exe", "marked", "child", what, id, before, after, NULL);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "a child has status 0x%x\n", status);
		exit(1);
	}
}

static void span_all(void)
{
	struct span a, b;

	a = span_begin(ASKED, 7);
	nap(SPAN_LONG);
	span_end(&a);
	a = span_begin(ASKED, 8);
	span_end(&a);
	/* another name in it, then another id beside it */
	a = span_begin(ASKED, 9);
	b = span_begin(OTHER, 9);
	nap(SPAN_LONG);
	span_end(&b);
	span_end(&a);
	a = span_begin(ASKED, 10);
	b = span_begin(ASKED, 11);
	nap(SPAN_LONG);
	span_end(&a);
	span_end(&b);
	/* without an id, each thread has its own */
	a = span_begin(ASKED, 0);
	span_in_thread("own");
	nap(SPAN_LONG);
	span_end(&a);
	/* begun twice */
	span_begin(ASKED, 12);
	nap(SPAN_LONG);
	a = span_begin(ASKED, 12);
	span_end(&a);
	/* what is not begun, or is over */
	flightrec_end(ASKED, 12);
	flightrec_end(ASKED, 13);
	flightrec_end(ASKED, 0);
	/* a thread that leaves one; a process that leaves one */
	span_in_thread("leaves");
	nap(SPAN_LONG);
	span_in_thread("ends");
	a = (struct span){.name = ASKED, .id = 16};
	span_in_child(&a, "b");
	nap(SPAN_LONG);
	flightrec_end(ASKED, 16);
	printf("left 2\n");
	fflush(stdout);
	/* another process goes on with it; another one has the same id */
	a = span_begin(ASKED, 14);
	nap(SPAN_LONG);
	span_in_child(&a, "e");
	flightrec_end(ASKED, 14);
	a = span_begin(ASKED, 15);
	nap(SPAN_LONG);
	span_in_child(&a, "be");
	span_end(&a);
	a = span_begin(ASKED, ~0ULL);
	nap(SPAN_LONG);
	span_end(&a);
}

static void span_flood(unsigned long cnt)
{
	unsigned long i;

	for (i = 1; i <= cnt; i++)
		flightrec_begin(ASKED, FLOODED + i);
	printf("flooded\n");
	fflush(stdout);
	while (getchar() != EOF)
		;
}

int main(int argc, char **argv)
{
	static const uint32_t array[4] = {1, 2, 3, 4};
	static const char text[] = "not looked at before";
	int i;

	if (argc > 1) {
		if (!strcmp(argv[1], "spans"))
			span_all();
		else if (argc > 5)
			span_child(argv[2], (struct span){.name = ASKED,
							  .id = strtoull(argv[3], NULL, 10),
							  .before_ns = strtoull(argv[4], NULL, 10),
							  .after_ns = strtoull(argv[5], NULL, 10)});
		else if (argc > 2)
			span_flood(strtoul(argv[2], NULL, 10));
		return 0;
	}
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
	fr_marked_forked();
	printf("pid %d\n", getpid());
	return 0;
}
