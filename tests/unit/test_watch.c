/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Expressions that BPF evaluates decide as the filter does: random ones, from a fixed seed, on random events, each as a record
 * in a ring and as a row read back.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/trigger/watch_set.h"
#include "unit/make_batch.h"

#define ARCH	   "x86_64"
#define WORLDS	   30  /* sets of events */
#define EXPRS	   250 /* expressions tried on each */
#define EXPR_SZ	   2048
#define TASK_CNT   6
#define ROWS_EACH  2
#define CNT(a)	   (sizeof(a) / sizeof((a)[0]))
#define FLAGS_BYTE (FR_REC_HEAD_SZ - 1)

/* ---- chance, the same each time ---- */

static u64 rnd_state;

static u64 rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return rnd_state * 0x2545f4914f6cdd1dULL >> 16 | rnd_state << 48;
}

/* Not twice in the arguments of one call: compilers evaluate these in different orders. */
static u32 below(u32 n)
{
	return rnd() % n;
}

static const u64 numbers[] = {0,
			      1,
			      2,
			      3,
			      5,
			      11,
			      40,
			      87,
			      128,
			      257,
			      0x7f,
			      0xff,
			      0x8000,
			      0xffff,
			      0x7fffffff,
			      0x80000000,
			      0xffffffff,
			      0x100000000,
			      0x7fffffffffffffff,
			      0x8000000000000000,
			      0xfffffffffffffffe,
			      0xffffffffffffffff,
			      (u64)-2,
			      (u64)-22};

static u64 some_number(void)
{
	return below(8) ? numbers[below(CNT(numbers))] : rnd();
}

static const u32 calls[] = {0, 2, 3, 5, 7, 257, 295};

static const char *const texts[] = {
	"",   "a",	  "ab",	 "abc",	    "ba",	"bca", "aab", "sh", "a*b", "sixteen_chars_xx",
	"WS", "abcabcab", "a[b", "/bin/ab", "\xc3\xa4", "b"};

static const char *const commands[TASK_CNT] = {"swapper/2", "ab", "sh", "abcabcabcabcabc", "a b", "bca"};

/* ---- events: as rows, and as records ---- */

struct world {
	struct make_batch m;
	struct fr_view view;
	struct fr_watch_work work[MB_ROWS];
};

static u32 type_sz(u8 type)
{
	static const u32 sz[] = {[FR_TYPE_u8] = 1,  [FR_TYPE_u16] = 2, [FR_TYPE_u32] = 4, [FR_TYPE_u64] = 8,
				 [FR_TYPE_s16] = 2, [FR_TYPE_s32] = 4, [FR_TYPE_s64] = 8};

	return sz[type];
}

static void add_num(struct world *w, struct fr_watch_work *k, const struct fr_field *f)
{
	u32 bits = type_sz(f->type) * 8;
	u64 v = f->style == FR_STYLE_SYSCALL ? calls[below(CNT(calls))] : some_number();

	if (f->style == FR_STYLE_EXIT && below(4))
		v = below(3) ? below(256) << 8 : below(256);
	if (f->style == FR_STYLE_RET && below(2))
		v = -(u64)below(140);
	if (f->kind == FR_KIND_FLAGS) {
		v &= 1;
		k->rec[FLAGS_BYTE] = v;
		mb_num(&w->m, f->name, v);
		return;
	}
	memcpy(k->rec + f->off, &v, bits / 8);
	if (bits < 64)
		v = fr_field_signed(f) ? (u64)((s64)(v << (64 - bits)) >> (64 - bits)) : v << (64 - bits) >> (64 - bits);
	mb_num(&w->m, f->name, v);
}

static void add_text(struct world *w, struct fr_watch_work *k, const struct fr_field *f)
{
	const char *text = texts[below(CNT(texts))];
	u32 room = f->type == FR_TYPE_comm ? FR_COMM_SZ : 8;

	mb_text(&w->m, f->name, text);
	if (f->type == FR_TYPE_str) {
		strcpy((char *)k->rec + f->off, text);
		k->rec_sz = (f->off + strlen(text) + 8) / 8 * 8;
		return;
	}
	mb_fill((char *)k->rec + f->off, text, room);
}

static void add_nums(struct world *w, struct fr_watch_work *k, const struct fr_field *f)
{
	u64 v[FR_ARG_CNT_MAX];
	u32 cnt = below(FR_ARG_CNT_MAX + 1), i;

	for (i = 0; i < cnt; i++)
		v[i] = some_number();
	memcpy(k->rec + f->off, v, cnt * 8);
	k->rec_sz = f->off + cnt * 8;
	mb_nums(&w->m, f->name, v, cnt);
}

static void add_field(struct world *w, struct fr_watch_work *k, const struct fr_field *f)
{
	if (f->kind == FR_KIND_DERIVED)
		return;
	if (fr_field_kind(f) == FR_VAL_NUM)
		add_num(w, k, f);
	else if (fr_field_kind(f) == FR_VAL_TEXT)
		add_text(w, k, f);
	else
		add_nums(w, k, f);
}

static void add_event(struct world *w, const struct fr_event *ev)
{
	u32 tid = below(TASK_CNT), i, row = w->m.b.row_cnt;
	u64 ts = 1000 + row * 1000;
	struct fr_watch_work *k = &w->work[row];

	mb_row(&w->m, ts, tid, ev->name);
	memset(k, 0x5a, sizeof(*k)); /* what an earlier record left behind it */
	k->rec_sz = (ev->fixed_sz + 7) / 8 * 8;
	k->rec[FLAGS_BYTE] = 0;
	k->ts = ts;
	k->cpu = 2;
	k->tid = tid;
	k->pid = tid ? (s32)tid * 10 : 0;
	mb_fill(k->comm, commands[tid], sizeof(k->comm));
	for (i = 0; i < ev->field_cnt; i++)
		add_field(w, k, &ev->fields[i]);
}

static void make_world(struct world *w)
{
	u32 nr, i;

	mb_init(&w->m, fr_schema_builtin(), 2, FR_TIER_MAIN);
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(fr_schema_builtin(), nr);

		for (i = 0; ev && !fr_watch_refuses(ev) && i < ROWS_EACH; i++)
			add_event(w, ev);
	}
	w->view = (struct fr_view){.schema = fr_schema_builtin(), .names = fr_names_new(), .arch = ARCH};
	for (i = 1; i < TASK_CNT; i++) {
		struct fr_task t = {.tgid = i * 10};

		mb_fill(t.comm, commands[i], sizeof(t.comm));
		fr_names_add_task(w->view.names, i, 1, &t);
	}
	fr_names_ready(w->view.names);
}

static void end_world(struct world *w)
{
	fr_names_free(w->view.names);
	mb_free(&w->m);
}

/* ---- as BPF does it ---- */

static bool runs_true(const struct fr_watch_set *s, const struct fr_watch_prog *p, struct fr_watch_work *w)
{
	u32 pc = 0, next;

	if (!fr_watch_may_hold(w, &p->guard))
		return false;
	fr_watch_begin(w);
	while (pc < p->insn_cnt) {
		const struct fr_watch_insn *in = &p->insn[pc];

		assert_true(!fr_watch_takes_table(in) || in->lo < s->table_cnt);
		next = fr_watch_step(w, in, fr_watch_takes_table(in) ? &s->table[in->lo] : NULL, pc);
		assert_true(next > pc && next <= p->insn_cnt);
		pc = next;
	}
	return fr_watch_result(w);
}

static bool watch_match(const struct fr_watch_set *s, const struct world *w, u32 row)
{
	const struct fr_watch_of *of = &s->of[w->m.ev[row]];
	struct fr_watch_work work = w->work[row];
	bool any = false;
	u32 i;

	for (i = 0; i < of->cnt; i++)
		any |= runs_true(s, &s->prog[of->first + i], &work);
	return any;
}

/* ---- expressions ---- */

struct text {
	char s[EXPR_SZ];
	size_t len;
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->len += vsnprintf(t->s + t->len, sizeof(t->s) - t->len, fmt, ap);
	va_end(ap);
	assert_true(t->len < sizeof(t->s));
}

static const struct fr_event *some_event(const struct world *w)
{
	return fr_schema_event(fr_schema_builtin(), w->m.ev[below(w->m.b.row_cnt)]);
}

/* A field of the event with values of this kind, or a builtin. */
static void put_field(struct text *t, const struct fr_event *ev, enum fr_val_kind kind)
{
	static const char *const builtins[] = {"ts", "cpu", "pid", "tid"};
	const struct fr_field *f = &ev->fields[below(ev->field_cnt)];

	if (kind == FR_VAL_NUM && fr_field_kind(f) == FR_VAL_NUMS)
		put(t, "%s[%u]", f->name, below(8));
	else if (fr_field_kind(f) == kind)
		put(t, "%s", f->name);
	else
		put(t, "%s", kind == FR_VAL_NUM ? builtins[below(CNT(builtins))] : "comm");
}

static void put_truth(struct text *t, const struct fr_event *ev, u32 depth);

static void put_value(struct text *t, const struct fr_event *ev, u32 depth)
{
	static const char *const ops[] = {"|", "&", "+", "-", "*", "/", "%"};

	switch (depth ? below(8) : below(2)) {
	case 0:
		put(t, "%llu", (unsigned long long)some_number());
		break;
	case 1:
	case 2:
	case 3:
		put_field(t, ev, FR_VAL_NUM);
		break;
	case 4:
		put(t, "-");
		put_value(t, ev, depth - 1);
		break;
	case 5:
		put(t, "(");
		put_truth(t, ev, depth - 1);
		put(t, ")");
		break;
	default:
		put(t, "(");
		put_value(t, ev, depth - 1);
		put(t, " %s ", ops[below(CNT(ops))]);
		put_value(t, ev, depth - 1);
		put(t, ")");
	}
}

static void put_text(struct text *t)
{
	const char *c = texts[below(CNT(texts))];

	put(t, "\"");
	for (; *c; c++)
		put(t, *c == '\\' || *c == '"' ? "\\%c" : "%c", *c);
	put(t, "\"");
}

static void put_pattern(struct text *t)
{
	static const char *const parts[] = {"*",     "*",    "?", "a",	   "b",	   "c", "ab",
					    "[a-b]", "[!a]", "[", "\\\\*", "[]a]", "r", "S"};
	u32 cnt = below(6);

	put(t, "\"");
	while (cnt--)
		put(t, "%s", parts[below(CNT(parts))]);
	put(t, "\"");
}

/* What a system call's number means depends on who calls: open is 2 or 5, and waitpid 7 for 32-bit programs only. */
static void put_call(struct text *t)
{
	static const char *const calls[] = {"open", "openat", "waitpid", "read", "fstat"};
	static const char *const patterns[] = {"open*", "w*", "*a*", "f[!a]*", "read"};

	if (below(2)) {
		put(t, "id %s ", below(2) ? "==" : "!=");
		put(t, "%s", calls[below(CNT(calls))]);
	} else {
		put(t, "id %s ", below(2) ? "~" : "!~");
		put(t, "\"%s\"", patterns[below(CNT(patterns))]);
	}
}

/* A number that is compared with a name, of those that number fields of events go by. */
static void put_named(struct text *t, const struct fr_event *ev)
{
	static const char *const names[] = {"openat",  "open",	  "read",     "SIGSEGV", "SIGRTMIN+3", "D",
					    "R",       "SI_USER", "SI_TKILL", "NET_RX",	 "ENOENT",     "-EINVAL",
					    "handled", "SIG_IGN", "native",   "getpid"};
	const struct fr_field *f = &ev->fields[below(ev->field_cnt)];
	const char *name = names[below(CNT(names))];

	if (fr_event_field(ev, "id")) {
		put_call(t);
		return;
	}
	put(t, "%s ", f->name);
	put(t, "%s ", below(2) ? "==" : below(2) ? "!=" : below(2) ? "<=" : "in");
	put(t, below(4) ? "%s" : "(%s, 3)", name);
}

static void put_items(struct text *t, const struct fr_event *ev, bool is_text)
{
	u32 cnt = 1 + below(4);

	put(t, below(2) ? " in (" : " not in (");
	while (cnt--) {
		if (is_text)
			put_text(t);
		else
			put_value(t, ev, 1);
		put(t, cnt ? ", " : ")");
	}
}

/* A number whose name matches: of any field, which may have no names, or not such. */
static void put_name_pattern(struct text *t, const struct fr_event *ev)
{
	static const char *const patterns[] = {"*",	  "",	      "SIG*", "SIG[!S]*", "*+core", "exit(*", "exit(?)",
					       "exit(1*", "*E[A-M]*", "-E*",  "[DS]",	  "SI_*",   "o*",     "!*"};

	put(t, "%s ", ev->fields[below(ev->field_cnt)].name);
	put(t, "%s ", below(2) ? "~" : "!~");
	put(t, "\"%s\"", patterns[below(CNT(patterns))]);
}

static void put_compare(struct text *t, const struct fr_event *ev, u32 depth)
{
	static const char *const ops[] = {"==", "!=", "<", "<=", ">", ">="};

	switch (below(10)) {
	case 9:
		put_value(t, ev, depth);
		put(t, below(2) ? " has %u" : " has (1 << %u | 1)", below(16));
		break;
	case 8:
		put_name_pattern(t, ev);
		break;
	case 0:
		put_field(t, ev, FR_VAL_TEXT);
		put(t, below(2) ? " ~ " : " !~ ");
		put_pattern(t);
		break;
	case 1:
		put_field(t, ev, FR_VAL_TEXT);
		put(t, below(2) ? " == " : " != ");
		put_text(t);
		break;
	case 2:
		put(t, "%s ", ev->fields[below(ev->field_cnt)].name);
		put(t, "%s ", below(2) ? "~" : "!~");
		put_pattern(t);
		break;
	case 3:
		put_named(t, ev);
		break;
	case 4:
		if (below(2)) {
			put_field(t, ev, FR_VAL_TEXT);
			put_items(t, ev, true);
		} else {
			put_value(t, ev, depth);
			put_items(t, ev, false);
		}
		break;
	default:
		put_value(t, ev, depth);
		put(t, " %s ", ops[below(CNT(ops))]);
		put_value(t, ev, depth);
	}
}

static void put_truth(struct text *t, const struct fr_event *ev, u32 depth)
{
	switch (depth ? below(6) : 0) {
	case 1:
	case 2:
		put(t, "(");
		put_truth(t, ev, depth - 1);
		put(t, below(2) ? " && " : " || ");
		put_truth(t, ev, depth - 1);
		put(t, ")");
		break;
	case 3:
		put(t, "!(");
		put_truth(t, ev, depth - 1);
		put(t, ")");
		break;
	case 4:
		put_field(t, ev, below(2) ? FR_VAL_NUM : FR_VAL_TEXT);
		break;
	default:
		put_compare(t, ev, depth > 2 ? 2 : depth);
	}
}

/* About one event mostly, about two, or about whatever has its fields. */
static void put_expression(struct text *t, const struct world *w)
{
	const struct fr_event *ev = some_event(w), *other = some_event(w);

	t->len = 0;
	if (below(8))
		put(t, "event in (%s, %s) && ", ev->name, below(3) ? ev->name : other->name);
	put(t, "(");
	put_truth(t, ev, below(5));
	put(t, ")");
}

/* ---- the comparison ---- */

struct tally {
	u32 invalid, refused, compared, rows, hits;
};

static void compare(const struct world *w, const char *expr, struct tally *sum)
{
	struct fr_watch_set s = {0};
	struct fr_filter_error error;
	struct fr_filter *f;
	u32 i;

	if (fr_filter_new(expr, w->view.schema, ARCH, &f, &error)) {
		assert_int_equal(fr_watch_add(&s, 0, expr, ARCH, &error), -EINVAL);
		fr_watch_free(&s);
		sum->invalid++;
		return;
	}
	if (fr_watch_add(&s, 0, expr, ARCH, &error)) {
		assert_true(error.text[0] && error.at < strlen(expr));
		sum->refused++;
	} else {
		fr_watch_ready(&s);
		sum->compared++;
		for (i = 0; i < w->m.b.row_cnt; i++) {
			struct fr_row r = mb_at(&w->m, i);
			bool want = fr_filter_match(f, &w->view, &r), got = watch_match(&s, w, i);

			if (want != got)
				fail_msg("%s: %s (row %u): %d, not %d", expr, r.ev->name, i, got, want);
			sum->hits += want;
			sum->rows++;
		}
	}
	fr_watch_free(&s);
	fr_filter_free(f);
}

/* What the generator hardly ever writes: truths that are known beforehand, and guards of numbers that have no sign. */
static const char *const rare[] = {
	"event == sys_exit && 5",
	"event == sys_exit && !5 || event == sys_enter",
	"event == sys_exit && (0 || ret == 0)",
	"event == sys_exit && (ret == 0 || 1)",
	"event == sys_exit && \"x\"",
	"event == sys_exit && !\"\"",
	"event == signal_deliver && sa_flags == 0xffffffffffffffff",
	"event == signal_deliver && sa_flags == 0x8000000000000000",
	"event == sys_exit && ret == -2",
};

static void test_differential(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct tally sum = {0}, of_rare = {0};
	struct text t;
	u32 i, k;

	(void)state;
	rnd_state = 0x9e3779b97f4a7c15ULL;
	for (i = 0; i < WORLDS; i++) {
		make_world(w);
		for (k = 0; k < EXPRS; k++) {
			put_expression(&t, w);
			compare(w, t.s, &sum);
		}
		for (k = 0; k < CNT(rare); k++)
			compare(w, rare[k], &of_rare);
		end_world(w);
	}
	free(w);
	print_message("%u expressions compared on %u events, %u hold; %u refused, %u no expressions\n", sum.compared, sum.rows,
		      sum.hits, sum.refused, sum.invalid);
	/* the seed is fixed: this is so as long as the generator is any good */
	assert_true(sum.compared > WORLDS * EXPRS / 3);
	assert_true(sum.hits > 5000 && sum.rows > 100000);
	assert_true(of_rare.compared == WORLDS * CNT(rare) && of_rare.hits > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differential),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
