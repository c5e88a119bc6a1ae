/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/tp/upspec.h"

#include <asm/ptrace.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_SZ 8u /* of a register */

/* ---- registers: where they are in the kernel's struct pt_regs, on either machine ---- */

#define X86_SP 152u

/* Of 8, 4, 2 and 1 bytes; %ah and the like, which are no register's beginning, are not among them. */
static const struct x86_reg {
	u16 off;
	const char *name[4];
} x86_regs[] = {
	{0, {"r15", "r15d", "r15w", "r15b"}},  {8, {"r14", "r14d", "r14w", "r14b"}},  {16, {"r13", "r13d", "r13w", "r13b"}},
	{24, {"r12", "r12d", "r12w", "r12b"}}, {32, {"rbp", "ebp", "bp", "bpl"}},     {40, {"rbx", "ebx", "bx", "bl"}},
	{48, {"r11", "r11d", "r11w", "r11b"}}, {56, {"r10", "r10d", "r10w", "r10b"}}, {64, {"r9", "r9d", "r9w", "r9b"}},
	{72, {"r8", "r8d", "r8w", "r8b"}},     {80, {"rax", "eax", "ax", "al"}},      {88, {"rcx", "ecx", "cx", "cl"}},
	{96, {"rdx", "edx", "dx", "dl"}},      {104, {"rsi", "esi", "si", "sil"}},    {112, {"rdi", "edi", "di", "dil"}},
	{X86_SP, {"rsp", "esp", "sp", "spl"}},
};

#define ARM_SP (31 * 8u)

#if defined(__x86_64__)
_Static_assert(offsetof(struct pt_regs, rdi) == 112 && offsetof(struct pt_regs, r15) == 0, "as the table has them");
_Static_assert(offsetof(struct pt_regs, rsp) == X86_SP, "and this");
#elif defined(__aarch64__)
_Static_assert(offsetof(struct user_pt_regs, regs[30]) == 30 * 8 && offsetof(struct user_pt_regs, sp) == ARM_SP, "arm64");
#endif

static int x86_reg_of(const char *name, u32 *sz)
{
	size_t i, k;

	for (i = 0; i < sizeof(x86_regs) / sizeof(x86_regs[0]); i++)
		for (k = 0; k < 4; k++)
			if (!strcmp(x86_regs[i].name[k], name)) {
				*sz = 8u >> k;
				return x86_regs[i].off;
			}
	return -ENOENT;
}

/* x0 to x30, w0 to w30, sp */
static int arm_reg_of(const char *name, u32 *sz)
{
	char *end;
	u64 nr;

	*sz = *name == 'w' ? 4 : 8;
	if (!strcmp(name, "sp"))
		return ARM_SP;
	if ((*name != 'x' && *name != 'w') || name[1] < '0' || name[1] > '9' || (name[1] == '0' && name[2]))
		return -ENOENT;
	nr = strtoull(name + 1, &end, 10);
	return *end || nr > 30 ? -ENOENT : (int)nr * 8;
}

/* The register that a text begins with, moves behind it. -ENOENT: it is none that is known. */
static int take_reg(enum fr_up_arch arch, const char **at, u32 *sz)
{
	size_t len = strspn(*at, "abcdefghijklmnopqrstuvwxyz0123456789");
	char name[NAME_MAX_SZ];
	int off;

	if (!len || len >= sizeof(name))
		return -ENOENT;
	memcpy(name, *at, len);
	name[len] = 0;
	off = arch == FR_UP_ARCH_x86_64 ? x86_reg_of(name, sz) : arm_reg_of(name, sz);
	if (off >= 0)
		*at += len;
	return off;
}

/* ---- one argument ---- */

static bool take_number(const char **at, s64 *v)
{
	const char *digits = *at + (**at == '-');
	char *end;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	*v = strtoll(*at, &end, 0);
	if (errno == ERANGE && **at != '-') { /* of 64 bits without a sign */
		errno = 0;
		*v = strtoull(*at, &end, 0);
	}
	*at = end;
	return !errno;
}

/* "-4@" */
static bool take_size(const char **at, struct fr_up_arg *arg)
{
	arg->is_signed = **at == '-';
	*at += arg->is_signed;
	arg->sz = **at - '0';
	if ((**at != '1' && **at != '2' && **at != '4' && **at != '8') || (*at)[1] != '@')
		return false;
	*at += 2;
	return true;
}

/* The value is in a register: its name is all that is left, and has all of the value. */
static bool take_whole_reg(enum fr_up_arch arch, const char *at, struct fr_up_arg *arg)
{
	u32 sz;
	int reg = take_reg(arch, &at, &sz);

	arg->from = FR_UP_REG;
	arg->reg = reg;
	return reg >= 0 && !*at && sz >= arg->sz;
}

/* "%edi", "$5", "-16(%rbp)" */
static bool take_x86(const char *at, struct fr_up_arg *arg)
{
	u32 sz;
	int reg;

	if (*at == '%') {
		at++;
		return take_whole_reg(FR_UP_ARCH_x86_64, at, arg);
	}
	if (*at == '$') {
		at++;
		arg->from = FR_UP_CONST;
		return take_number(&at, &arg->off) && !*at;
	}
	arg->from = FR_UP_MEM;
	if ((*at != '(' && !take_number(&at, &arg->off)) || strncmp(at, "(%", 2) != 0)
		return false;
	at += 2;
	reg = take_reg(FR_UP_ARCH_x86_64, &at, &sz);
	arg->reg = reg;
	return reg >= 0 && sz == sizeof(u64) && !strcmp(at, ")");
}

/* "w0", "5", "[sp, 16]" */
static bool take_arm(const char *at, struct fr_up_arg *arg)
{
	u32 sz;
	int reg;

	if (*at != '[') {
		arg->from = FR_UP_CONST;
		if (take_number(&at, &arg->off))
			return !*at;
		return take_whole_reg(FR_UP_ARCH_arm64, at, arg);
	}
	at++;
	reg = take_reg(FR_UP_ARCH_arm64, &at, &sz);
	arg->from = FR_UP_MEM;
	arg->reg = reg;
	if (reg < 0 || sz != sizeof(u64))
		return false;
	if (*at == ',') {
		at++;
		at += strspn(at, " #");
		if (!take_number(&at, &arg->off))
			return false;
	}
	return !strcmp(at, "]");
}

static void spec_parse(enum fr_up_arch arch, const char *at, struct fr_up_spec *out)
{
	out->known =
		take_size(&at, &out->arg) && (arch == FR_UP_ARCH_x86_64 ? take_x86(at, &out->arg) : take_arm(at, &out->arg));
}

/* The next word: spaces in brackets are part of it. */
static size_t spec_len(const char *at)
{
	const char *end;
	u32 depth = 0;

	for (end = at; *end && (depth || *end != ' '); end++) {
		depth += *end == '[' || *end == '(';
		depth -= depth && (*end == ']' || *end == ')');
	}
	return end - at;
}

/* It is shown. */
static void spec_clean(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

u32 fr_up_specs(enum fr_up_arch arch, const char *args, struct fr_up_spec out[FR_UP_SPEC_MAX])
{
	u32 cnt = 0;
	size_t len;

	for (args += strspn(args, " "); *args; args += len, args += strspn(args, " "), cnt++) {
		len = spec_len(args);
		if (cnt >= FR_UP_SPEC_MAX)
			continue;
		out[cnt] = (struct fr_up_spec){};
		snprintf(out[cnt].text, sizeof(out[cnt].text), "%.*s", (int)(len < sizeof(out->text) ? len : sizeof(out->text)),
			 args);
		if (len < sizeof(out->text)) /* what is longer is none that is understood */
			spec_parse(arch, out[cnt].text, &out[cnt]);
		spec_clean(out[cnt].text);
	}
	return cnt;
}

/* ---- of all sites ---- */

void fr_up_args_add(struct fr_up_args *a, enum fr_up_arch arch, const char *args)
{
	struct fr_up_spec spec[FR_UP_SPEC_MAX];
	u32 cnt = fr_up_specs(arch, args, spec), i;

	a->site_cnt++;
	for (i = 0; i < cnt && i < FR_UP_SPEC_MAX; i++) {
		struct fr_up_args_one *one = &a->arg[i];
		u8 *widest = spec[i].arg.is_signed ? &one->signed_sz : &one->unsigned_sz;

		one->site_cnt++;
		a->cnt = a->cnt > i + 1 ? a->cnt : i + 1;
		if (!spec[i].known) {
			memcpy(one->odd, spec[i].text, sizeof(one->odd));
			continue;
		}
		if (*widest < spec[i].arg.sz)
			*widest = spec[i].arg.sz;
		if (!one->least_sz || one->least_sz > spec[i].arg.sz)
			one->least_sz = spec[i].arg.sz;
	}
}

bool fr_up_args_are_known(const struct fr_up_args *a, u32 i, char why[FR_UP_ARGS_WHY_SZ])
{
	if (i >= a->cnt)
		snprintf(why, FR_UP_ARGS_WHY_SZ, "it has %u argument%s", a->cnt, a->cnt == 1 ? "" : "s");
	else if (*a->arg[i].odd)
		snprintf(why, FR_UP_ARGS_WHY_SZ, "where it is, is not understood: %s", a->arg[i].odd);
	else if (a->arg[i].site_cnt < a->site_cnt)
		snprintf(why, FR_UP_ARGS_WHY_SZ, "%u of its %u places have it", a->arg[i].site_cnt, a->site_cnt);
	else
		return true;
	return false;
}

bool fr_up_args_type(const struct fr_up_args *a, u32 i, u8 *sz, bool *is_signed, char why[FR_UP_ARGS_WHY_SZ])
{
	u32 with_sign = a->arg[i].signed_sz, without = a->arg[i].unsigned_sz;

	*is_signed = with_sign;
	*sz = !with_sign ? without : 2 * without > with_sign ? 2 * without : with_sign;
	if (*sz <= sizeof(u64))
		return true;
	snprintf(why, FR_UP_ARGS_WHY_SZ, "no type has the values of all its places: name one, {arg%u:u64}", i + 1);
	return false;
}
