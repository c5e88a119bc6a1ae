/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "pure/filter/filter.h"
#include "unit/make_batch.h"

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
	static const u64 args[] = {0xffffff9c, 0x7fff0000, 0x80000};
	struct world *w = calloc(1, sizeof(*w));

	mb_init(&w->m, fr_schema_builtin(), 2, FR_TIER_MAIN);
	mb_row(&w->m, 1000, 71, "sched_switch");
	mb_num(&w->m, "next_pid", 5);
	mb_num(&w->m, "prev_state", 2);
	mb_num(&w->m, "prev_prio", (u64)(s64)-1);
	mb_row(&w->m, 2000, 71, "sys_enter");
	mb_num(&w->m, "id", 257);
	mb_nums(&w->m, "args", args, 3);
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
	{"id ~ \"open*\"", "EXC"},
	{"abi == 1", "C"},
	{"ret == -ENOENT", "X"},
	{"ret < 0", "X"},
	{"ret != 0", "X"},
	{"-ret == 2", "X"},
	{"sig == SIGSEGV", "D"},
	{"sig in (SIGBUS, 11)", "D"},
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
	{"next_pid & 4 | 1 ^ 1 == 4", "S"},					     /* & before ^ before | */
	{"1 + 1 << 1 == 4 && tid == 9", "U"},					     /* + before << */
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

static const struct {
	const char *expr;
	size_t at;
	const char *word; /* in the message */
} errors[] = {
	{"tid == 5 && comm == \"averylongprogram\"", 20, "\"averylongprogra\""},
	{"next_comm in (\"a\", \"averylongprogram\")", 19, "15 bytes"},
	{"\"averylongprogram\" != child_comm", 0, "15 bytes"},
	{"comm !~ \"averylongprogram\"", 8, "15 bytes"},
	{"", 0, "empty"},
	{"  ", 0, "empty"},
	{"tid ==", 6, "missing"},
	{"tid = 5", 4, "=="},
	{"(tid == 5", 9, ")"},
	{"tid == 5)", 8, "("},
	{"tid == 5 6", 9, "operator"},
	{"nxt_pid == 5", 0, "next_pid"},
	{"next_pid == 5 && prev_stat == 1", 17, "prev_state"},
	{"event == sched_swich", 9, "sched_switch"},
	{"event == 5", 9, "name"},
	{"event < sched_switch", 6, "order"},
	{"comm == 5", 5, "text"},
	{"comm == nginx", 8, "quotes"},
	{"comm < \"a\"", 5, "order"},
	{"tid == \"x\"", 4, "number"},
	{"id == openatt", 6, "openatt"},
	{"args == 5", 0, "args[0]"},
	{"tid[0] == 5", 0, "no array"},
	{"comm ~ 5", 7, "pattern"},
	{"tid ~ \"5\"", 4, "text"},
	{"ts > 5parsec", 6, "unit"},
	{"comm == \"nginx", 8, "closing"},
	{"tid in 5", 7, "("},
	{"tid in (5", 9, ")"},
	{"99999999999999999999 == tid", 0, "64 bits"},
	{"tid @ 5", 4, "meaning"},
	{"comm + 1 == 2", 0, "number"},
	{"tier == lif", 8, "tier"},
	{"tid == 1.5", 7, "duration"},
	{"comm =~ \"(\"", 8, "pattern is wrong"},
	{"comm ~ /(/", 7, "pattern is wrong"},
	{"comm ~ /ab", 7, "closing /"},
	{"comm =~ /a\\1/", 8, "back-references"},
	{"comm =~ \"\\x00\"", 8, "NUL"},
	{"comm =~ /(a{100}){100}/", 8, "repeats too often"},
	{"comm =~ /a{99999}/", 8, "repeats too often"},
	{"comm =~ /a{50}{50}{50}/", 8, "repeats too often"},
	{"comm =~ /a{2000}b{2000}c{2000}/", 8, "repeats too often"},
	{"comm =~ /(a{64,}b){64}/", 8, "repeats too often"},
	{"comm =~ /a+++++++++++++/", 8, "repeats too often"},
	{"comm =~ /((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+/", 8, "repeats too often"},
	{"comm =~ /([a-z]{40}){40}{40}/", 8, "repeats too often"},
	{"comm =~ 5", 8, "pattern"},
	{"tid =~ \"5\"", 4, "text"},
	{"event has \"sys\"", 6, "parts"},
	{"tier has \"m\"", 5, "parts"},
	{"tier has \"main\"", 5, "parts"},
	{"tier has main", 5, "parts"},
	{"\"main\" has tier", 7, "parts"},
	{"comm has 5", 5, "text"},
	{"tid has", 7, "missing"},
	{"tid == 'x'", 7, "double quotes"},
	{"ts > 5kib", 6, "KiB"},
	{"latencyy > 5", 0, "latency?"},
	{"cgrup == \"/\"", 0, "cgroup"},
	{"tdi == 5", 0, "did you mean tid?"}, /* letters swapped: not ts */
	{"evnet == 5", 0, "did you mean event?"},
	{"ret == -ENOENTT", 8, "ENOENT"},
	{"ret == ENOENTT", 7, "ENOENT?"},
	{"next_pid ~ \"1*\"", 9, "by name"},
	{"id == openatt", 6, "did you mean openat?"},
	{"sig == SIGSEGW", 7, "did you mean SIGSEGV?"},
	{"prev_state == DD", 14, "did you mean"},
	{"vec == NET_RXX", 7, "did you mean NET_RX?"},
	{"latency[0] > 1", 0, "no array"},
	{"cgroup > \"/\"", 7, "order"},
	{"cgroup == 5", 7, "text"},
	{"event == sched_switch || sched_waking", 25, "sched_waking is an event: event == sched_waking"},
	{"openat && tid == 5", 0, "openat is a system call: id == openat"},
	{"syscall == openat", 0, "did you mean id?"},
	{"duration > 5ms", 0, "did you mean latency?"},
	{"sigall == 5", 0, "did you mean sig?"}, /* not SIGALRM */
	{"SIGSEGW == 5", 0, "did you mean SIGSEGV?"},
	{"args[2] has O_CREATE", 12, "did you mean O_CREAT?"},
	{"args[2] has PROT_EXE", 12, "did you mean PROT_EXEC?"},
	{"args[0] has CLONE_VMM", 12, "did you mean CLONE_VM?"},
	{"args[3] has MAP_ANONYMOS", 12, "did you mean MAP_ANONYMOUS?"},
	{"args[2] & O_RDWRX == 2", 10, "did you mean O_RDWR?"},
	{"args[0] == AT_FDCW", 11, "did you mean AT_FDCWD?"},
	{"ret == O_CREATE", 7, "did you mean O_CREAT?"},
	{"sa_flags has SA_RESTAR", 13, "did you mean SA_RESTART?"},
	{"PIDD == 5", 0, "did you mean pid?"},
	{"cpu == SYS_openatt", 7, "no system call is called openatt: did you mean SYS_openat?"},
	{"id == SYS_openatt", 6, "did you mean SYS_openat?"},
	{"tier == lif", 8, "did you mean life?"},
	{"comm == \"ba\\sh\"", 11, "write \\\\ for a backslash"},
	{"comm ~ \"ba\\*\"", 10, "write \\\\ for a backslash"},
	{"tid == 1 || comm == \"\\t\\0\"", 23, "write \\\\ for a backslash"},
	{"comm == \"ba\\x7\"", 11, "two hexadecimal digits"},
	{"comm == \"ba\\x\"", 11, "two hexadecimal digits"},
	{"comm =~ \"ba\\xg0\"", 11, "two hexadecimal digits"},
	{"comm ~ \"[bash\"", 7, "a [ has no ]"},
	{"comm !~ \"*[]\"", 8, "a [ has no ]"},
	{"comm ~ (\"[ab][c\")", 8, "a [ has no ]"},
	{"event ~ \"sys_[e\"", 8, "a [ has no ]"},
	{"event == \"sched*\"", 9, "event ~ \"sched*\""},
	{"event in (sys_enter, \"sched*\")", 21, "event ~ \"sched*\""},
	{"tid == 08", 7, "octal"},
	{"ts > 010.5ms", 5, "octal"},
	{"ts > 0x1.5ms", 5, "hexadecimal"},
	{"tid == 0x", 7, "hexadecimal"},
	{"ts > 5 ms", 7, "right after its number"},
	{"ts > 5 mss", 7, "operator is missing"},
	{"ts > 5 s && tid", 7, "right after its number"},
	{"comm ~ nginx*", 7, "in quotes"},
	{"comm !~ *nginx", 8, "in quotes"},
	{"comm =~ ^nginx", 8, "in quotes"},
	{"tid == 1 and pid == 2", 9, "write && for and"},
	{"tid == 1 or pid == 2", 9, "write || for or"},
	{"(tid == 1 or pid == 2)", 10, "write || for or"},
	{"(latency > 5 ms)", 13, "right after its number"},
	{"(tid == 1 5)", 10, "a ) is missing"},
	{"not tid", 4, "write !(...) for not"},
	{"tid && NOT tid", 11, "write !(...) for not"},
	{"xnot tid", 5, "operator is missing"},
	{"comm contains \"x\"", 5, "write has for contains"},
	{"comm like \"x*\"", 5, "write ~"},
};

static void test_errors(void **state)
{
	struct world *w = *state;
	struct fr_filter_error e;
	struct fr_filter *f = NULL;
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		int err = fr_filter_new(errors[i].expr, w->view.schema, "x86_64", &f, &e);

		if (err != -EINVAL || e.at != errors[i].at || !strstr(e.text, errors[i].word))
			fail_msg("%s: %d at %zu: %s", errors[i].expr, err, e.at, e.text);
		assert_null(f);
	}
}

/* Among so many names, one always has letters near by chance: EIO is not what FOO meant. */
static void test_far_names(void **state)
{
	static const char *const exprs[] = {"sa_flags has FOO", "FOO == 5", "args[2] has O_XYZZY", "cpu == SYS_foobar"};
	struct world *w = *state;
	struct fr_filter_error e;
	struct fr_filter *f = NULL;
	size_t i;

	for (i = 0; i < sizeof(exprs) / sizeof(exprs[0]); i++) {
		assert_int_equal(fr_filter_new(exprs[i], w->view.schema, "x86_64", &f, &e), -EINVAL);
		if (strstr(e.text, "did you mean") || !strstr(e.text, "called"))
			fail_msg("%s: %s", exprs[i], e.text);
	}
}

/* However deep or long: an answer or an error, not a crash. */
static void test_extremes(void **state)
{
	struct world *w = *state;
	struct fr_filter_error e;
	struct fr_filter *f;
	char expr[20000];
	size_t i;

	memset(expr, '(', sizeof(expr) - 1);
	expr[sizeof(expr) - 1] = 0;
	assert_int_equal(fr_filter_new(expr, w->view.schema, "x86_64", &f, &e), -EINVAL);
	memset(expr, '!', sizeof(expr) - 1);
	assert_int_equal(fr_filter_new(expr, w->view.schema, "x86_64", &f, &e), -EINVAL);
	strcpy(expr, "1");
	for (i = 0; i < 9000; i++)
		strcpy(expr + 1 + i * 2, "+1");
	assert_int_equal(fr_filter_new(expr, w->view.schema, "x86_64", &f, &e), -EINVAL);
	strcpy(expr, "tid ");
	for (i = 0; i < 9000; i++)
		strcpy(expr + 4 + i * 2, "~1");
	assert_int_equal(fr_filter_new(expr, w->view.schema, "x86_64", &f, &e), -EINVAL);
	strcpy(expr, "comm =~ /");
	memset(expr + 9, '(', 200);
	strcpy(expr + 209, "/");
	assert_int_equal(fr_filter_new(expr, w->view.schema, "x86_64", &f, &e), -EINVAL);
	memset(expr + 9, 'a', 300);
	strcpy(expr + 309, "/");
	assert_int_equal(fr_filter_new(expr, w->view.schema, "x86_64", &f, &e), -EINVAL);
	strcpy(expr, "tid == 1");
	for (i = 0; i < 200; i++)
		strcat(expr, " || tid == 1");
	assert_int_equal(fr_filter_new(expr, w->view.schema, "x86_64", &f, &e), 0);
	fr_filter_free(f);
}

static void test_too_long(void **state)
{
	struct world *w = *state;
	struct fr_filter_error e;
	struct fr_filter *f;
	char *expr = malloc(70001);

	memset(expr, ' ', 70000);
	expr[70000] = 0;
	expr[0] = '1';
	assert_int_equal(fr_filter_new(expr, w->view.schema, "x86_64", &f, &e), -EINVAL);
	assert_non_null(strstr(e.text, "too long"));
	expr[65536] = 0;
	assert_int_equal(fr_filter_new(expr, w->view.schema, "x86_64", &f, &e), 0);
	fr_filter_free(f);
	free(expr);
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

/* What must be read for a filter is known beforehand. */
static void test_uses(void **state)
{
	static const struct {
		const char *expr;
		bool pairs, cgroups;
	} ask[] = {
		{"tid == 5", false, false},
		{"event == latency", false, false},
		{"tid == 5 && latency > 1", true, false},
		{"waker == 5", true, false},
		{"!(cgroup ~ \"/a*\")", false, true},
		{"cgroup ~ \"/a*\" || oncpu > 5", true, true},
	};
	struct world *w = *state;
	struct fr_filter_error e;
	struct fr_filter *f;
	size_t i;

	for (i = 0; i < sizeof(ask) / sizeof(ask[0]); i++) {
		assert_int_equal(fr_filter_new(ask[i].expr, w->view.schema, "x86_64", &f, &e), 0);
		if (fr_filter_uses_pairs(f) != ask[i].pairs || fr_filter_uses_cgroups(f) != ask[i].cgroups)
			fail_msg("%s", ask[i].expr);
		fr_filter_free(f);
	}
	assert_int_equal(fr_filter_new("latency > 5", w->view.schema, "x86_64", &f, &e), 0);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_enter), FR_VERDICT_NO);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_exit), FR_VERDICT_LOOK);
	fr_filter_free(f);
	assert_int_equal(fr_filter_new("offcpu > 5", w->view.schema, "x86_64", &f, &e), 0);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_exit), FR_VERDICT_NO);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sched_switch), FR_VERDICT_LOOK);
	fr_filter_free(f);
}

/* The caret stands below the place, whatever is before it. */
static void test_point(void **state)
{
	static const char wide[] = "comm == \"\xc3\xa4\xc3\xb6\" && x";
	char buf[256], longer[401];
	const char *line, *caret;

	(void)state;
	assert_string_equal(fr_filter_point("tid ==", 6, "  ", buf, sizeof(buf)), "  tid ==\n        ^");
	assert_string_equal(fr_filter_point("a\tb\nc", 4, "", buf, sizeof(buf)), "a b c\n    ^");
	assert_string_equal(fr_filter_point("x", 9, "", buf, sizeof(buf)), "x\n ^");
	fr_filter_point(wide, strlen(wide) - 1, "", buf, sizeof(buf));
	assert_int_equal(strlen(strchr(buf, '\n') + 1), 17);
	memset(longer, 'a', 400);
	longer[400] = 0;
	longer[200] = '?';
	line = fr_filter_point(longer, 200, "> ", buf, sizeof(buf));
	caret = strchr(line, '\n') + 1;
	assert_int_equal(strchr(line, '?') - line, strchr(caret, '^') - caret);
	assert_true(strlen(buf) < 200 && !strncmp(line, "> ...a", 6));
	fr_filter_point(longer, 200, "> ", buf, 20); /* cut, but terminated */
	assert_true(strlen(buf) < 20);
}

static void test_verdicts(void **state)
{
	struct world *w = *state;
	struct fr_filter_error e;
	struct fr_filter *f;

	assert_int_equal(fr_filter_new("event == sys_enter && id == 5 || event == sys_exit", w->view.schema, "x86_64", &f, &e),
			 0);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_enter), FR_VERDICT_LOOK);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_exit), FR_VERDICT_YES);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sched_switch), FR_VERDICT_NO);
	fr_filter_free(f);
	/* what an event does not have is decided before any row */
	assert_int_equal(fr_filter_new("next_pid == 5 || ret + 1 > 5 || vec in (1, 2)", w->view.schema, "x86_64", &f, &e), 0);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_enter), FR_VERDICT_NO);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_exit), FR_VERDICT_LOOK);
	assert_int_equal(fr_filter_verdict(f, FR_EV_softirq_exit), FR_VERDICT_LOOK);
	fr_filter_free(f);
}

static void test_takes(void **state)
{
	static const struct {
		const char *expr;
		enum fr_takes calls, switches;
	} ask[] = {
		{"event != sched_waking", FR_TAKES_ALL, FR_TAKES_ALL},
		{"event ~ \"sys_*\"", FR_TAKES_ALL, FR_TAKES_SOME},
		{"event == sys_enter", FR_TAKES_SOME, FR_TAKES_SOME},
		{"pid == 7", FR_TAKES_TASKS, FR_TAKES_TASKS},
		{"(pid == 7) && (event != sched_switch)", FR_TAKES_TASKS, FR_TAKES_SOME},
		{"!(tid in (7, 8)) && cgroup !~ \"/a*\" || tid + 1 == pid", FR_TAKES_TASKS, FR_TAKES_TASKS},
		{"pid == 7 || next_pid == 7", FR_TAKES_TASKS, FR_TAKES_SOME},
		{"pid == 7 || event == sys_exit", FR_TAKES_SOME, FR_TAKES_TASKS},
		{"event == sys_enter && pid == 7 || event == sys_exit && pid == 7", FR_TAKES_SOME, FR_TAKES_SOME},
		{"pid == cpu", FR_TAKES_SOME, FR_TAKES_SOME},
		{"pid in (7, ret)", FR_TAKES_SOME, FR_TAKES_SOME},
		{"comm ~ \"a*\"", FR_TAKES_SOME, FR_TAKES_SOME},
		{"ts > 5", FR_TAKES_SOME, FR_TAKES_SOME},
		{"latency > 5", FR_TAKES_SOME, FR_TAKES_SOME},
		{"5", FR_TAKES_TASKS, FR_TAKES_TASKS}, /* of all of them, at that */
	};
	static const u8 calls[] = {FR_EV_sys_enter, FR_EV_sys_exit}, switches[] = {FR_EV_sched_switch};
	struct world *w = *state;
	struct fr_filter_error e;
	struct fr_filter *f;
	size_t i;

	for (i = 0; i < sizeof(ask) / sizeof(ask[0]); i++) {
		assert_int_equal(fr_filter_new(ask[i].expr, w->view.schema, "x86_64", &f, &e), 0);
		if (fr_filter_takes(f, calls, 2) != ask[i].calls || fr_filter_takes(f, switches, 1) != ask[i].switches)
			fail_msg("%s", ask[i].expr);
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
		cmocka_unit_test_setup_teardown(test_far_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_extremes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_verdicts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_takes, setup, teardown),
		cmocka_unit_test(test_glob),
		cmocka_unit_test_setup_teardown(test_too_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flags, setup, teardown),
		cmocka_unit_test_setup_teardown(test_uses, setup, teardown),
		cmocka_unit_test(test_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
