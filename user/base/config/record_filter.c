/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/config/record_filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/select.h"
#include "base/filter/filter_node.h"
#include "base/text/literal.h"

static int filter_refuse(struct fr_filter_error *error, const struct fr_node *n, const char *why)
{
	error->at = n->at;
	snprintf(error->text, sizeof(error->text), "%s", why);
	return -EINVAL;
}

/* Does the event's name alone decide it? */
static bool is_events(const struct fr_node *n)
{
	switch (n->op) {
	case FR_OP_EVENTS:
		return true;
	case FR_OP_NOT:
		return is_events(n->a);
	case FR_OP_AND:
	case FR_OP_OR:
		return is_events(n->a) && is_events(n->b);
	default:
		return false;
	}
}

static bool chosen(const struct fr_node *n, u32 event)
{
	switch (n->op) {
	case FR_OP_NOT:
		return !chosen(n->a, event);
	case FR_OP_AND:
		return chosen(n->a, event) && chosen(n->b, event);
	case FR_OP_OR:
		return chosen(n->a, event) || chosen(n->b, event);
	default:
		return n->events[event];
	}
}

_Static_assert(FR_NODE_MAX <= FR_PID_FILTER_MAX, "an expression has no room for more pids");

static int filter_add_pid(struct fr_record_filter *f, const struct fr_node *n, struct fr_filter_error *error)
{
	if (n->op != FR_OP_NUM || n->num < 1 || n->num > FR_TID_MASK)
		return filter_refuse(error, n, "a recorded pid is a number");
	f->pid[f->pid_cnt++] = n->num;
	return 0;
}

static int filter_add_comm(struct fr_record_filter *f, const struct fr_node *n, bool glob, struct fr_filter_error *error)
{
	if (n->op != FR_OP_TEXT || f->comm_cnt == FR_COMM_FILTER_MAX || (!glob && strpbrk(n->text, "*?[")) ||
	    fr_select_comm(n->text, &f->comm[f->comm_cnt]))
		return filter_refuse(error, n,
				     "while recording a comm can be matched by at most " FR_LITERAL(
					     FR_COMM_FILTER_MAX) " names or \"PREFIX*\"");
	f->comm_cnt++;
	return 0;
}

static int filter_add_tasks(struct fr_record_filter *f, const struct fr_node *n, struct fr_filter_error *error)
{
	bool builtin = n->a && n->a->op == FR_OP_BUILTIN;
	int err;

	if (n->op == FR_OP_OR) {
		err = filter_add_tasks(f, n->a, error);
		return err ? err : filter_add_tasks(f, n->b, error);
	}
	if (builtin && n->a->builtin == FR_BI_pid && n->op == FR_OP_EQ)
		return filter_add_pid(f, n->b, error);
	if (builtin && n->a->builtin == FR_BI_comm && (n->op == FR_OP_EQ || n->op == FR_OP_GLOB))
		return filter_add_comm(f, n->b, n->op == FR_OP_GLOB, error);
	return filter_refuse(
		error, n,
		"this cannot be decided while recording: record by event, pid == and comm ==, filter the rest on replay");
}

static void choose_events(struct fr_record_filter *f, const struct fr_node *n)
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		f->event[nr] = !n || chosen(n, nr);
}

static int filter_split(struct fr_record_filter *f, const struct fr_node *root, struct fr_filter_error *error)
{
	const struct fr_node *events = NULL, *tasks = root;

	if (is_events(root)) {
		events = root;
		tasks = NULL;
	} else if (root->op == FR_OP_AND && is_events(root->a)) {
		events = root->a;
		tasks = root->b;
	} else if (root->op == FR_OP_AND && is_events(root->b)) {
		events = root->b;
		tasks = root->a;
	}
	choose_events(f, events);
	return tasks ? filter_add_tasks(f, tasks, error) : 0;
}

int fr_record_filter(const char *expr, struct fr_record_filter *out, struct fr_filter_error *error)
{
	struct fr_filter *f;
	int err;

	memset(out, 0, sizeof(*out));
	err = fr_filter_new(expr, fr_schema_builtin(), NULL, &f, error);
	if (err)
		return err;
	err = filter_split(out, f->root, error);
	fr_filter_free(f);
	return err;
}
