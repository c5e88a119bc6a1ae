/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which rows an expression matches. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/filter/filter.h"
#include "unit/make_batch.h"
#include "wait.h"

/* One row of each kind, known by its index. */
enum { SWITCH, ENTER, EXIT, COMPAT, DELIVER, EXEC, UNKNOWN, ROWS };

struct world {
	struct make_batch m;
	struct fr_view view;
	struct fr_cgroups *cgroups;
	struct fr_pair pair[ROWS];
};

static void add_task(struct fr_names *n, u32 tid, u32 tgid, const char *comm)
{
	struct fr_task t = {.tgid = tgid, .cgroup = tid == 71 ? 44 : 0};

	strncpy(t.comm, comm, sizeof(t.comm));
	fr_names_add_task(n, tid, 1, &t);
}

/* 5 lives and is where it says; 71's process does not, but 60 was born where it was. */
static void add_cgroups(struct world *w)
{
	static const char procs[] = "{\"pid\":5,\"cgroup\":\"/user.slice/session-1\"}\n"
				    "{\"pid\":60,\"cgroup\":\"/system.slice/nginx.service\"}\n";
	struct fr_task sh = {.tgid = 5, .cgroup = 33}, other = {.tgid = 60, .cgroup = 44};

	w->cgroups = fr_cgroups_new();
	fr_cgroups_add_task(w->cgroups, 5, 1, &sh);
	fr_cgroups_add_task(w->cgroups, 60, 1, &other);
	fr_cgroups_add_procs(w->cgroups, procs, sizeof(procs) - 1);
	w->view.cgroups = w->cgroups;
}

static int setup(void **state)
{
	static const u64 args[] = {0xffffff9c, 0x7fff0000, 0x80000, (u64)-1};
	struct world *w = calloc(1, sizeof(*w));

	mb_init(&w->m, fr_schema_builtin(), 2, FR_TIER_MAIN);
	mb_row(&w->m, 1000, 71, "sched_switch");
	mb_num(&w->m, "next_pid", 5);
	mb_num(&w->m, "prev_state", 2);
	mb_num(&w->m, "prev_prio", (u64)(s64)-1);
	mb_row(&w->m, 2000, 71, "sys_enter");
	mb_num(&w->m, "id", 257);
	mb_nums(&w->m, "args", args, 4);
	mb_row(&w->m, 3000, 71, "sys_exit");
	mb_num(&w->m, "id", 257);
	mb_num(&w->m, "ret", (u64)(s64)-2);
	mb_row(&w->m, 4000, 71, "sys_enter");
	mb_num(&w->m, "id", 5);
	mb_num(&w->m, "abi", 1);
	mb_row(&w->m, 5000, 5, "signal_deliver");
	mb_num(&w->m, "sig", 11);
	mb_num(&w->m, "sa_flags", 0xffffffffffffffff);
	mb_row(&w->m, 6000, 5, "sched_process_exec");
	mb_text(&w->m, "filename", "/bin/sh");
	mb_row(&w->m, 7000, 9, "softirq_entry");
	mb_num(&w->m, "vec", 3);
	w->view = (struct fr_view){.schema = fr_schema_builtin(), .names = fr_names_new(), .arch = "x86_64"};
	add_task(w->view.names, 71, 70, "nginx: worker");
	add_task(w->view.names, 5, 5, "sh");
	fr_names_ready(w->view.names);
	add_cgroups(w);
	w->pair[SWITCH] =
		(struct fr_pair){.latency_ns = 3000, .offcpu_ns = 5000, .blocked_ns = 2000, .oncpu_ns = 700, .waker = 9};
	w->pair[EXIT].latency_ns = 1500000;
	w->view.pair = w->pair;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	fr_cgroups_free(w->cgroups);
	fr_names_free(w->view.names);
	mb_free(&w->m);
	free(w);
	return 0;
}

/* The rows that match, a letter each: "SED" is switch, enter, deliver; verdicts must not contradict. */
static const char *matches(struct world *w, const char *expr)
{
	static const char letters[ROWS] = {'S', 'E', 'X', 'C', 'D', 'P', 'U'};
	static char found[ROWS + 1];
	struct fr_filter_error error;
	struct fr_filter *f;
	char *to = found;
	u32 i;

	if (fr_filter_new(expr, w->view.schema, "x86_64", &f, &error)) {
		print_message("%s: %zu: %s\n", expr, error.at, error.text);
		return "error";
	}
	for (i = 0; i < ROWS; i++) {
		struct fr_row r = mb_at(&w->m, i);
		bool hit = fr_filter_match(f, &w->view, &r);

		if (fr_filter_verdict(f, r.ev->nr) != FR_VERDICT_LOOK)
			assert_int_equal(hit, fr_filter_verdict(f, r.ev->nr) == FR_VERDICT_YES);
		if (hit)
			*to++ = letters[i];
	}
	*to = 0;
	fr_filter_free(f);
	return found;
}

static const struct {
	const char *expr, *found;
} cases[] = {
	{"event == \"sys_enter\"", "EC"},
	{"event == sys_enter", "EC"},
	{"event != sys_enter", "SXDPU"},
	{"event ~ \"sys_*\"", "EXC"},
	{"event !~ \"s*\"", ""},
	{"event in (sched_switch, \"sys_exit\")", "SX"},
	{"event not in (sched_switch, \"sys_exit\")", "ECDPU"},
	{"\"sched_switch\" == event", "S"},
	{"cpu == 2", "SEXCDPU"},
	{"cpu", "SEXCDPU"},
	{"!cpu", ""},
	{"tid == 71", "SEXC"},
	{"pid == 70", "SEXC"},
	{"pid != 70", "DP"}, /* unknown is neither */
	{"comm == \"sh\"", "DP"},
	{"comm != \"sh\"", "SEXC"},
	{"comm ~ \"nginx*\"", "SEXC"},
	{"comm ~ \"ngin[w-y]: ?orker\"", "SEXC"},
	{"comm !~ \"nginx*\"", "DP"},
	{"comm in (\"sh\", \"bash\")", "DP"},
	{"comm not in (\"sh\", \"bash\")", "SEXC"}, /* unknown is neither */
	{"comm not  in (\"zsh\") && !(tid not in (71))", "SEXC"},
	{"prev_comm == \"nginx: worker\"", "S"},
	{"next_comm == \"sh\"", "S"},
	{"prev_pid == 71", "S"},
	{"tier == \"main\"", "SEXCDPU"},
	{"tier == life", ""},
	{"ts >= 2us && ts < 4us", "EX"},
	{"ts == 1.5us", ""},
	{"ts == 0x3e8 || ts == 03720", "SE"},
	{"id == 257", "EX"},
	{"id == openat", "EX"},
	{"id == \"openat\"", "EX"},
	{"id == open", "C"}, /* 5 is open only where the call is a 32-bit one */
	{"openat == id", "EX"},
	{"id in (open, openat)", "EXC"},
	{"id not in (open)", "EX"},
	{"id ~ \"open*\"", "EXC"},
	{"abi == 1", "C"},
	{"ret == -ENOENT", "X"},
	{"ret < 0", "X"},
	{"ret != 0", "X"},
	{"-ret == 2", "X"},
	{"sig == SIGSEGV", "D"},
	{"sig in (SIGBUS, 11)", "D"},
	{"sig not in (SIGBUS, 11)", ""},
	{"sig not in (SIGBUS, 12)", "D"},
	{"sig == SIGRTMAX-3 || sig == SIGRTMIN+3 || sig + 50 == SIGRTMAX-3", "D"},
	{"sig < SIGRTMAX", "D"},
	{"prev_state == D", "S"},
	{"prev_prio == -1", "S"},
	{"prev_prio < 0", "S"},
	{"sa_flags == 0xffffffffffffffff", "D"},
	{"sa_flags > 0x7fffffffffffffff", "D"},
	{"vec == NET_RX", "U"},
	{"args[0] == 0xffffff9c", "E"},
	{"args[2] & 0x80000", "E"},
	{"args[2] & 0x80000 == 0x80000", "E"}, /* & binds tighter than == */
	{"args[7] == 0", ""},
	{"args[65535] == 0", ""},
	{"filename == \"/bin/sh\"", "P"},
	{"filename ~ \"*/sh\"", "P"},
	{"next_pid == 5", "S"},
	{"next_pid != 5", ""},
	{"!(next_pid == 5)", "EXCDPU"},
	{"next_pid + 1 == 6 && next_pid * 2 - 4 == 6 && next_pid / 2 == 2 && next_pid % 3 == 2", "S"},
	{"next_pid / 0 == 0", ""},
	{"next_pid | 2 == 7", "S"},
	{"tid == 5 && sig == 11 || tid == 9", "DU"},
	{"tid == 9 || sig == 11 && tid == 5", "DU"},
	{"!(event == sys_enter) && tid == 71", "SX"},
	{"!!tid", "SEXCDPU"},
	{"tid == 71 == 1", "error"},
	{"ts - 1000 == -(5 - 5)", "S"},
	{"comm", "SEXCDP"},
	{"0 - 1 < 0", "SEXCDPU"},
	{"-9223372036854775808 * 4 < 0", "SEXCDPU"},
	{"(((((tid)))) == 71)", "SEXC"},
	/* what rows end */
	{"latency > 1ms", "X"},
	{"latency > 1us", "SX"},
	{"latency == 3us && offcpu == 5us && blocked == 2us && oncpu == 700 && waker == 9", "S"},
	{"latency < 100s", "SX"}, /* unknown is neither short nor long */
	{"!(latency < 100s)", "ECDPU"},
	{"event == sys_exit && id == openat && latency > 1ms", "X"},
	{"latency in (3us, 4us)", "S"},
	{"queued < 1s || queued == 0", ""}, /* 0 is what is not known */
	{"latency", "SX"},
	{"oncpu", "S"},
	{"event == latency || event == \"latency\" || event in (latency, hung)", ""},
	{"event != latency", "SEXCDPU"},
	/* cgroups */
	{"cgroup == \"/user.slice/session-1\"", "DP"},
	{"cgroup ~ \"/system.slice/*\"", "SEXC"},
	{"cgroup != \"/\"", "SEXCDP"},
	{"cgroup", "SEXCDP"},
	/* patterns */
	{"comm =~ \"^ngin[x]+: w\"", "SEXC"},
	{"comm ~ /^ngin[x]+: w/", "SEXC"},
	{"comm =~ /WORK/i", "SEXC"},
	{"comm =~ /WORK/", ""},
	{"comm =~ /^[a-z:]{1,40} *(wor+k+er|x{1000}){1,3}$/", "SEXC"},
	{"comm !~ /work/", "DP"},
	{"filename =~ /^\\/bin\\/(ba)?sh$/", "P"},
	{"filename =~ \"\\.sh\"", ""}, /* \. is the pattern's */
	{"filename =~ \"/b.n/s\"", "P"},
	{"filename =~ \"\\x62in\"", "P"},
	{"id =~ \"^open(at)?$\"", "EXC"},
	{"id ~ /^open$/", "C"},
	{"id !~ /^open$/", "EX"},
	{"ret ~ \"-E*\"", "X"},
	{"ret !~ \"-E*\"", ""},
	{"event =~ \"^sys_(enter|exit)$\"", "EXC"},
	{"event !~ /_e/", "SD"},
	{"ts / 2 / 5 == 100", "S"}, /* a / divides where no pattern is asked for */
	{"comm ~ \"x\" || tid == 9", "U"},
	{"comm ~ \"nginx*\" && ts / 2 / 5 == 100", "S"},
	/* bits and parts */
	{"args[2] has 0x80000", "E"},
	{"args[2] has O_CLOEXEC", "E"},
	{"args[2] has O_CLOEXEC | O_CREAT", ""},
	{"args[2] & (O_CLOEXEC | O_CREAT)", "E"},
	{"args[2] has 0", ""},
	{"args[0] == AT_FDCWD & 0xffffffff", "E"},
	/* what is negative is in a register in two forms */
	{"args[0] == AT_FDCWD", "E"},
	{"AT_FDCWD == args[0]", "E"},
	{"args[0] == -100 && args[1] != -100", "E"},
	{"args[0] != AT_FDCWD", ""},
	{"args[0] != -1", "E"},
	{"args[0] in (1, AT_FDCWD, 2)", "E"},
	{"args[0] in (-1, 1)", ""},
	{"args[0] not in (-1, 1)", "E"},
	{"args[0] not in (1, AT_FDCWD)", ""},
	{"args[3] not in (2, -1)", ""},
	{"args[3] == -1", "E"},
	{"args[3] in (1, -1)", "E"},
	{"args[3] != -1", ""},
	{"args[3] == 0xffffffff", ""},
	{"!(args[0] == AT_FDCWD) && event == sys_enter", "C"}, /* which has none */
	{"args[0] < AT_FDCWD", ""},
	{"sa_flags has SA_RESTART", "D"},
	{"filename has \"bin\"", "P"},
	{"comm has \"worker\"", "SEXC"},
	{"args[2] & ~0x80000", ""},
	{"args[2] & ~1 == 0x80000", "E"},
	{"args[2] == 1 << 19", "E"},
	{"args[2] >> 19 == 1", "E"},
	{"args[2] ^ 0x80000 == 0 && args[2]", "E"},
	{"next_pid ^ 6 == 3", "S"},
	{"next_pid & 4 | 1 ^ 1 == 4", "S"}, /* & before ^ before | */
	/* | before each comparison, and that before && */
	{"7 != next_pid | 2 || 7 < next_pid | 2 || 8 <= next_pid | 2 || 4 > next_pid | 2 || 6 >= next_pid | 2", ""},
	{"tid && 5 <= 4", ""},
	{"tid == 9 && 2 >= 2", "U"},
	{"tid && comm =~ /^s/ && tid && comm ~ \"s*\" && tid && comm !~ \"x*\"", "DP"},
	{"next_pid | 1 ^ 1 == 5 && next_pid ^ 4 & 1 == 5", "S"},
	{"1 << 1 + 1 == 4 && 1 + 1 << 1 == 4 && tid == 9", "U"}, /* + before << */
	{"16 >> 1 + 1 == 4 && 1 + 16 >> 1 == 8 && tid == 9", "U"},
	{"6 & 12 >> 1 == 6 && 6 & 3 << 1 == 6 && tid == 9", "U"},
	{"1 + 2 * 3 == 7 && 9 - 6 / 2 == 6 && 9 - 6 % 4 == 7 && tid == 9", "U"},
	{"next_pid << 128 == 0 || next_pid << -1 == 0 || next_pid >> 200 == 0", ""}, /* no such number */
	{"next_pid << 100 >> 100 == 5", "S"},
	{"-9 >> 1 == -5 && tid == 9", "U"},
	{"(1 << 127) < 0 && tid == 9", "U"}, /* 128 bits, wrapping */
	{"(1 << 127) - 1 > 0 && tid == 9", "U"},
	{"next_pid % 0 == 0", ""},
	{"(1 << 127) / -1 == 1 << 127 && (1 << 127) % -1 == 0 && tid == 9", "U"},
	{"-7 / 2 == -3 && -7 % 2 == -1 && tid == 9", "U"},
	/* sizes and durations */
	{"args[2] == 512k && args[2] == 512K && args[2] == 512KiB && args[2] == 0.5M && args[2] == 0.5MiB", "E"},
	{"args[2] * 2 == 1MiB && 1k * 1k == 1M && 1G == 1024M && 1T == 1024GiB", "E"},
	{"ts == 0.000001s || ts == 0.002ms", "SE"},
	{"1.5s == 1500ms && 1m == 60s && 1h == 60min && 1d == 24h && tid == 9", "U"},
	/* names of numbers */
	{"id == SYS_openat", "EX"},
	{"id == \"SYS_open\"", "C"},
	{"args[2] - 0x80000 + 257 == SYS_openat", "E"},
	{"ret == ENOENT", "X"},
	{"ret in (-EPERM, -ENOENT)", "X"},
	{"id == socketcall || id == sigreturn", ""},
};

static void test_matches(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *found = matches(*state, cases[i].expr);

		if (strcmp(found, cases[i].found))
			fail_msg("%s: found %s, not %s", cases[i].expr, found, cases[i].found);
	}
}

/* Bits that another machine has elsewhere, calls that it numbers otherwise. */
static void test_other_machine(void **state)
{
	static const struct {
		const char *expr, *arch;
		bool is;
	} ask[] = {
		{"O_DIRECTORY == 0x10000", "x86_64", true}, {"O_DIRECTORY == 0x4000", "aarch64", true},
		{"SYS_openat == 257", "x86_64", true},	    {"SYS_openat == 56", "aarch64", true},
		{"O_CREAT == 0x40", "aarch64", true},	    {"O_DIRECTORY == 0x10000", NULL, true},
	};
	struct world *w = *state;
	struct fr_filter_error e;
	struct fr_filter *f;
	size_t i;

	for (i = 0; i < sizeof(ask) / sizeof(ask[0]); i++) {
		struct fr_row r = mb_at(&w->m, SWITCH);

		assert_int_equal(fr_filter_new(ask[i].expr, w->view.schema, ask[i].arch, &f, &e), 0);
		if (fr_filter_match(f, &w->view, &r) != ask[i].is)
			fail_msg("%s on %s", ask[i].expr, ask[i].arch);
		fr_filter_free(f);
	}
	assert_int_equal(fr_filter_new("SYS_openat == 257", w->view.schema, NULL, &f, &e), -EINVAL);
}

/* A paired value's name is a field's where the event has one: of a wait, its own times; in switches, the pair's. */
static void test_own_fields(void **state)
{
	static const struct {
		const char *expr;
		bool wait, in_switch, pairs;
	} ask[] = {
		{"blocked > 50ms", true, false, true},
		{"blocked == 2us", false, true, true},
		{"blocked", true, true, true},
		{"!(blocked < 1h)", false, false, true},
		{"event == wait && blocked > 50ms && object ~ \"*wal*\"", true, false, false},
		{"blocked > 50ms && object ~ \"*wal*\"", true, false, false},
		{"queued == 1ms", true, false, true},
		{"waker == irq", true, false, true},
		{"waker ~ \"i*\"", true, false, true},
		{"waker == task", false, false, true},
		{"waker == 9", false, true, true},
		{"waker in (irq, 9)", true, true, true},
		{"latency", false, true, true},
	};
	struct fr_pair pair[2] = {{.latency_ns = 3000, .blocked_ns = 2000, .waker = 9}, {0}};
	struct fr_view view = {.schema = fr_schema_builtin(), .names = fr_names_new(), .arch = "x86_64", .pair = pair};
	struct fr_filter_error e;
	struct make_batch m;
	struct fr_filter *f;
	size_t i;

	(void)state;
	fr_names_ready(view.names);
	mb_init(&m, view.schema, 2, FR_TIER_MAIN);
	mb_row(&m, 1000, 71, "sched_switch");
	mb_row(&m, 2000, 71, "wait");
	mb_num(&m, "blocked", 60000000);
	mb_num(&m, "queued", 1000000);
	mb_num(&m, "waker", FR_WAKER_irq);
	mb_text(&m, "object", "ext4:/var/wal/1");
	for (i = 0; i < sizeof(ask) / sizeof(ask[0]); i++) {
		struct fr_row in_switch = mb_at(&m, 0), wait = mb_at(&m, 1);

		if (fr_filter_new(ask[i].expr, view.schema, view.arch, &f, &e))
			fail_msg("%s: %s", ask[i].expr, e.text);
		if (fr_filter_match(f, &view, &wait) != ask[i].wait ||
		    fr_filter_match(f, &view, &in_switch) != ask[i].in_switch)
			fail_msg("%s finds other rows", ask[i].expr);
		if (fr_filter_uses_pairs(f) != ask[i].pairs)
			fail_msg("%s: are pairs needed?", ask[i].expr);
		fr_filter_free(f);
	}
	assert_int_equal(fr_filter_new("waker == nobody", view.schema, view.arch, &f, &e), -EINVAL);
	fr_names_free(view.names);
	mb_free(&m);
}

/* Names that are no bit of their own are known, too: of no bits, of several, second names. The values are the kernel's. */
static void test_flags(void **state)
{
	static const struct {
		const char *name;
		u64 v;
	} want[] = {
		{"O_RDONLY", 0},
		{"O_ACCMODE", 3},
		{"O_NDELAY", 04000},
		{"O_ASYNC", 020000},
		{"PROT_NONE", 0},
		{"PROT_SEM", 8},
		{"PROT_GROWSDOWN", 0x1000000},
		{"PROT_GROWSUP", 0x2000000},
		{"MAP_FILE", 0},
		{"MAP_ANON", 0x20},
		{"MAP_SHARED_VALIDATE", 3},
		{"MAP_TYPE", 0xf},
		{"MAP_DROPPABLE", 8},
		{"MAP_32BIT", 0x40},
		{"MAP_ABOVE4G", 0x80},
		{"MAP_DENYWRITE", 0x800},
		{"MAP_EXECUTABLE", 0x1000},
		{"MAP_SYNC", 0x80000},
		{"MAP_FIXED_NOREPLACE", 0x100000},
		{"MAP_UNINITIALIZED", 0x4000000},
		{"MAP_HUGE_SHIFT", 26},
		{"MAP_HUGE_MASK", 0x3f},
		{"MAP_HUGE_64KB", 0x40000000},
		{"MAP_HUGE_2MB", 0x54000000},
		{"MAP_HUGE_32MB", 0x64000000},
		{"MAP_HUGE_1GB", 0x78000000},
		{"MAP_HUGE_16GB", 0x88000000},
		{"CLONE_NEWTIME", 0x80},
		{"CLONE_PIDFD", 0x1000},
		{"CLONE_PARENT_SETTID", 0x100000},
		{"CLONE_CHILD_CLEARTID", 0x200000},
		{"CLONE_DETACHED", 0x400000},
		{"CLONE_UNTRACED", 0x800000},
		{"CLONE_CHILD_SETTID", 0x1000000},
		{"CLONE_IO", 0x80000000},
		{"CLONE_CLEAR_SIGHAND", 0x100000000},
		{"CLONE_INTO_CGROUP", 0x200000000},
		{"SA_UNSUPPORTED", 0x400},
		{"SA_EXPOSE_TAGBITS", 0x800},
		{"SA_NOMASK", 0x40000000},
		{"SA_ONESHOT", 0x80000000},
	};
	struct world *w = *state;
	struct fr_row r = mb_at(&w->m, SWITCH);
	struct fr_filter_error e;
	struct fr_filter *f;
	char expr[64];
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		snprintf(expr, sizeof(expr), "%s == 0x%llx", want[i].name, (unsigned long long)want[i].v);
		if (fr_filter_new(expr, w->view.schema, i & 1 ? "x86_64" : "aarch64", &f, &e))
			fail_msg("%s: %s", expr, e.text);
		if (!fr_filter_match(f, &w->view, &r))
			fail_msg("not so: %s", expr);
		fr_filter_free(f);
	}
}

static void test_glob(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool match;
	} globs[] = {
		{"", "", true},		  {"", "a", false},	  {"*", "", true},	  {"a*b*c", "aXbYbZc", true},
		{"a*b*c", "aXbY", false}, {"?", "", false},	  {"[abc]", "b", true},	  {"[!abc]", "b", false},
		{"[]]", "]", true},	  {"[a", "[a", true},	  {"\\*", "*", true},	  {"\\*", "x", false},
		{"[a-c-]", "-", true},	  {"*.c", "x.c.c", true}, {"**a**", "bab", true}, {"[z-a]", "m", false},
		{"[b-d]", "b", true},	  {"[b-d]", "d", true},	  {"[b-d]", "a", false},  {"[b-d]", "e", false},
		{"[b-dx]", "c", true},	  {"[b-dx]", "x", true},  {"[a-]", "-", true},	  {"[^b-d]", "a", true},
		{"[^b-d]", "c", false},	  {"[!]]", "]", false},	  {"[!]]", "a", true},	  {"\\", "\\", true},
		{"*ab", "aab", true},	  {"[a", "xa", false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(globs) / sizeof(globs[0]); i++) {
		if (fr_glob(globs[i].pattern, strlen(globs[i].pattern), globs[i].text, strlen(globs[i].text)) != globs[i].match)
			fail_msg("%s and %s", globs[i].pattern, globs[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_matches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_machine, setup, teardown),
		cmocka_unit_test(test_own_fields),
		cmocka_unit_test_setup_teardown(test_flags, setup, teardown),
		cmocka_unit_test(test_glob),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
