/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* trap: SIGTRAP after each instruction, by x86-64's trap flag. run.sh skips the suite on other machines. */
#ifndef FR_TEST_TRAP_H
#define FR_TEST_TRAP_H

#ifndef __x86_64__
#error "stepping needs the trap flag of x86-64"
#endif

#define TRAP_FLAG 0x100 /* of RFLAGS; a handler that clears it in its context ends the stepping */

/* popf: the trap comes after each instruction from the next one on. The stack pointer skips the red zone. */
#define STEP_ON()                                                                                                   \
	asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torl $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" :: \
			     : "memory", "cc")
#define STEP_OFF()                                                                                                    \
	asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandl $~0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" :: \
			     : "memory", "cc")

#endif
