/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * regs: the user registers that event crash has, in its order: what they are called, and their member of the kernel's struct
 * pt_regs. Instruction, stack and frame come first, then the arguments of a function, on either machine.
 */
#ifndef FR_REGS_H
#define FR_REGS_H

/* clang-format off */
#define FR_REGS_x86_64(R) \
	R("rip", ip) R("rsp", sp) R("rbp", bp) R("rdi", di) R("rsi", si) R("rdx", dx) R("rcx", cx) R("r8", r8) R("r9", r9) \
	R("rax", ax) R("rbx", bx) R("r10", r10) R("r11", r11) R("r12", r12) R("r13", r13) R("r14", r14) R("r15", r15) \
	R("rflags", flags) R("orig_rax", orig_ax)

#define FR_REGS_aarch64(R) \
	R("pc", pc) R("sp", sp) R("x29", regs[29]) R("x0", regs[0]) R("x1", regs[1]) R("x2", regs[2]) R("x3", regs[3]) \
	R("x4", regs[4]) R("x5", regs[5]) R("x6", regs[6]) R("x7", regs[7]) R("x8", regs[8]) R("x9", regs[9]) \
	R("x10", regs[10]) R("x11", regs[11]) R("x12", regs[12]) R("x13", regs[13]) R("x14", regs[14]) R("x15", regs[15]) \
	R("x16", regs[16]) R("x17", regs[17]) R("x18", regs[18]) R("x19", regs[19]) R("x20", regs[20]) R("x21", regs[21]) \
	R("x22", regs[22]) R("x23", regs[23]) R("x24", regs[24]) R("x25", regs[25]) R("x26", regs[26]) R("x27", regs[27]) \
	R("x28", regs[28]) R("x30", regs[30]) R("pstate", pstate)
/* clang-format on */

#define FR_REGS_MAX 34u /* of any machine */

#endif
