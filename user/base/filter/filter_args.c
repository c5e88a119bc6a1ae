/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Negative numbers compared with arguments of system calls: args[0] == AT_FDCWD, args[4] != -1, args[0] in (AT_FDCWD, 3).
 *
 * A register has no sign. What a program passed as an int of 32 bits is in it extended by zeros or by its sign, depending on
 * compiler and C library. So such a number stands for both: == becomes `in` of two, != becomes two with `and` between them.
 */
#include <errno.h>
#include <stdint.h>

#include "base/filter/filter_node.h"

static bool is_argument(const struct fr_node *n)
{
	return n->op == FR_OP_FIELD && n->has_index;
}

/* A constant below 0 that an int holds. */
static bool is_negative(const struct fr_node *n)
{
	fr_wide v;

	if (n->op != FR_OP_NUM && (n->op != FR_OP_NEG || n->a->op != FR_OP_NUM))
		return false;
	v = n->op == FR_OP_NUM ? n->num : -n->a->num;
	return v < 0 && v >= INT32_MIN;
}

/* It becomes what a register has of it, extended by zeros; the other is made anew. NULL: reported. */
static struct fr_node *args_split(struct fr_filter *f, struct fr_node *n)
{
	s64 v = n->op == FR_OP_NUM ? n->num : -n->a->num;
	struct fr_node *by_sign = fr_node_new(f, FR_OP_NUM, n->at);

	if (!by_sign)
		return NULL;
	n->op = FR_OP_NUM;
	n->num = (u32)v;
	by_sign->num = (u64)v;
	return by_sign;
}

/* In a list, beside each other. */
static int split_listed(struct fr_filter *f, struct fr_node *b)
{
	struct fr_node *by_sign;

	for (; b; b = b->next) {
		if (!is_negative(b))
			continue;
		by_sign = args_split(f, b);
		if (!by_sign)
			return f->no_memory ? -ENOMEM : -EINVAL;
		by_sign->next = b->next;
		b->next = by_sign;
	}
	return 0;
}

static int split_unequal(struct fr_filter *f, struct fr_node *n)
{
	struct fr_node *zeros = fr_node_new(f, FR_OP_NE, n->at), *sign = fr_node_new(f, FR_OP_NE, n->at);

	if (!zeros || !sign)
		return f->no_memory ? -ENOMEM : -EINVAL;
	zeros->a = sign->a = n->a;
	zeros->b = n->b;
	sign->b = args_split(f, n->b);
	n->op = FR_OP_AND;
	n->a = zeros;
	n->b = sign;
	return sign->b ? 0 : f->no_memory ? -ENOMEM : -EINVAL;
}

int fr_filter_bind_args(struct fr_filter *f, struct fr_node *n)
{
	struct fr_node *a = n->a;

	if ((n->op == FR_OP_EQ || n->op == FR_OP_NE) && is_argument(n->b)) {
		n->a = n->b;
		n->b = a;
	}
	if (!is_argument(n->a) || (!fr_op_is_list(n->op) && !is_negative(n->b)))
		return 0;
	if (n->op == FR_OP_NE)
		return split_unequal(f, n);
	if (n->op != FR_OP_EQ && !fr_op_is_list(n->op))
		return 0;
	n->op = n->op == FR_OP_EQ ? FR_OP_IN : n->op;
	return split_listed(f, n->b);
}
