/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules of --on: what they become, what is refused and how it is told, which moments they are for, what is the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fatal.h"
#include "unit/parsed.h"

#define MS  1000000ULL
#define SEC 1000000000ULL

static void test_kinds(void **state)
{
	static const struct {
		const char *text;
		enum fr_trigger_kind kind;
	} cases[] = {
		{"crash", FR_TRIGGER_crash},
		{" crash ", FR_TRIGGER_crash},
		{"exit", FR_TRIGGER_exit},
		{"exit:2", FR_TRIGGER_status},
		{"oom", FR_TRIGGER_oom},
		{"kernel", FR_TRIGGER_kernel},
		{"signal", FR_TRIGGER_signal},
		{"command", FR_TRIGGER_command},
		{"hung>20s", FR_TRIGGER_hung},
		{"latency:block>5ms", FR_TRIGGER_latency},
		{"event:event == mark_victim", FR_TRIGGER_event},
		{"psi:memory:20%", FR_TRIGGER_psi},
		{"every:10m", FR_TRIGGER_every},
		{"rate:fork>500/s", FR_TRIGGER_rate},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (parsed(cases[i].text).kind != cases[i].kind)
			fail_msg("%s", cases[i].text);
}

/* Each kind that --on takes has examples, and each of them, ended if it is a beginning, is a rule of its kind. */
static void test_examples(void **state)
{
	char text[80], rule[128];
	bool seen[FR_TRIGGER_KIND_CNT] = {};
	struct fr_trigger_error error;
	struct fr_trigger t;
	size_t len;
	u32 nr, kind;

	(void)state;
	for (nr = 0; fr_trigger_example(nr, text, sizeof(text)); nr++) {
		len = strlen(text);
		snprintf(rule, sizeof(rule), "%s%s", text,
			 text[len - 1] == '='				 ? "x"
			 : text[len - 1] != ':'				 ? ""
			 : strncmp(text, "latency:", strlen("latency:")) ? "event == mark_victim"
									 : "x>1s");
		if (fr_trigger_parse(rule, "x86_64", &t, &error))
			fail_msg("%s: %s", rule, error.text);
		seen[t.kind] = true;
	}
	for (kind = 1; kind < FR_TRIGGER_KIND_CNT; kind++)
		if (seen[kind] == (kind == FR_TRIGGER_end || kind == FR_TRIGGER_holdoff))
			fail_msg("%s", fr_trigger_kind_name(kind));
	assert_null(fr_trigger_example(nr + 1, text, sizeof(text)));
}

/* What nobody asked for. */
static void test_defaults(void **state)
{
	struct fr_trigger t = parsed("crash");

	(void)state;
	assert_true(t.dedupe);
	assert_int_equal(t.cooldown_ns, 60 * SEC);
	assert_int_equal(t.uid, ~0u);
	assert_int_equal(t.call_nr, -1);
	assert_int_equal(t.sig_set, 0);
	assert_int_equal(t.max_cnt, 0);
	assert_false(t.all);
	assert_true(parsed("exit:2").calls && !parsed("exit:2,calls=no").calls && parsed("exit:2:calls:post=1s").calls);
	assert_false(parsed("crash").calls);
	assert_true(parsed("exit:2").dedupe && parsed("oom").dedupe && parsed("kernel").dedupe);
	t = parsed("hung>1s");
	assert_false(t.dedupe);
	assert_int_equal(t.cooldown_ns, 60 * SEC);
	assert_int_equal(parsed("psi:io:10%").cooldown_ns, 60 * SEC);
	assert_int_equal(parsed("event:tid == 1").cooldown_ns, 60 * SEC);
	assert_int_equal(parsed("every:1m").cooldown_ns, 0);
	assert_int_equal(parsed("signal").cooldown_ns, 0);
	assert_int_equal(parsed("command").cooldown_ns, 0);
	assert_int_equal(parsed("exit").cooldown_ns, 0);
}

static void test_arguments(void **state)
{
	struct fr_trigger t;

	(void)state;
	assert_int_equal(parsed("exit:255").status, 255);
	assert_true(parsed("crash:all").all);
	assert_true(parsed("crash,all").all);
	assert_true(parsed("crash:comm=x:all").all);
	assert_int_equal(parsed("hung > 1.5s").limit_ns, 1500 * MS);
	assert_int_equal(parsed("hung:2m").limit_ns, 120 * SEC);
	assert_int_equal(parsed("every:1h").every_ns, 3600 * SEC);
	t = parsed("latency:wakeup>5ms");
	assert_int_equal(t.latency, FR_LATENCY_wakeup);
	assert_int_equal(t.limit_ns, 5 * MS);
	assert_int_equal(parsed("latency:offcpu > 5ms").latency, FR_LATENCY_offcpu);
	assert_int_equal(parsed("latency:off-cpu>5ms").latency, FR_LATENCY_offcpu);
	assert_int_equal(parsed("latency:hardirq>1ms").latency, FR_LATENCY_irq);
	assert_int_equal(parsed("latency:irq>1ms").latency, FR_LATENCY_irq);
	assert_int_equal(parsed("latency:softirq>1ms").latency, FR_LATENCY_softirq);
	t = parsed("latency:syscall>1s");
	assert_int_equal(t.latency, FR_LATENCY_syscall);
	assert_int_equal(t.call_nr, -1);
	t = parsed("latency:syscall:openat>10ms,post=1s");
	assert_int_equal(t.call_nr, 257);
	assert_string_equal(t.call, "openat");
	assert_int_equal(t.limit_ns, 10 * MS);
	assert_int_equal(t.post_ns, SEC);
	assert_int_equal(parsed("latency:syscall:257>10ms").call_nr, 257);
	t = parsed("latency:span:request>50ms:comm=web*,post=1s");
	assert_int_equal(t.latency, FR_LATENCY_span);
	assert_string_equal(t.span, "request");
	assert_int_equal(t.limit_ns, 50 * MS);
	assert_string_equal(t.comm, "web*");
	assert_string_equal(parsed("latency:span:GET /a:b > 1s").span, "GET /a:b");
	assert_string_equal(parsed("latency:span:\"a>b, [c]*\">1s").span, "a>b, [c]*");
	assert_string_equal(parsed("latency:wakeup>5ms").span, "");
}

static void test_rate(void **state)
{
	struct fr_trigger t = parsed("rate:fork>500/s,comm=sh,post=1s");

	(void)state;
	assert_int_equal(t.rate, FR_RATE_fork);
	assert_int_equal(t.rate_max, 500);
	assert_int_equal(t.rate_ns, SEC);
	assert_int_equal(t.limit_ns, 0);
	assert_false(t.dedupe);
	assert_int_equal(t.cooldown_ns, 60 * SEC);
	assert_int_equal(parsed("rate:exit > 1/100ms").rate_ns, 100 * MS);
	assert_int_equal(parsed("rate:exit>1/m:exe=post*").rate_ns, 60 * SEC);
	assert_int_equal(parsed("rate:signal>1000000000/1h").rate, FR_RATE_signal);
	assert_int_equal(parsed("rate:signal>5/s").sig_set, 0);
	assert_int_equal(parsed("rate:signal:TERM>5/10s,uid=7").sig_set, 1 << 14);
	assert_int_equal(parsed("rate:signal:34>5/s").sig_set, 1ULL << 33);
	t = parsed("rate:error:openat>5/s");
	assert_int_equal(t.rate, FR_RATE_error);
	assert_int_equal(t.call_nr, 257);
	assert_int_equal(t.rate_errno, 0);
	assert_int_equal(parsed("rate:error:openat:ENOENT>5/s").rate_errno, 2);
	assert_int_equal(parsed("rate:error:2:24>5/s").rate_errno, 24);
	assert_int_equal(parsed("rate:error:2:24>5/s").call_nr, 2);
}

static void test_psi(void **state)
{
	struct fr_trigger t = parsed("psi:memory:20%");

	(void)state;
	assert_string_equal(t.psi, "memory");
	assert_false(t.psi_full);
	assert_int_equal(t.psi_stall_us, 200000);
	assert_int_equal(t.psi_window_us, 1000000);
	t = parsed("psi:io.full:150ms/2s");
	assert_string_equal(t.psi, "io");
	assert_true(t.psi_full);
	assert_int_equal(t.psi_stall_us, 150000);
	assert_int_equal(t.psi_window_us, 2000000);
	t = parsed("psi:cpu:some:0.5%,max=1/1h");
	assert_string_equal(t.psi, "cpu");
	assert_false(t.psi_full);
	assert_int_equal(t.psi_stall_us, 5000);
	assert_int_equal(t.max_cnt, 1);
	assert_true(parsed("psi:memory:full:10%").psi_full);
	assert_int_equal(parsed("psi:memory>10%").psi_stall_us, 100000);
}

static void test_filters(void **state)
{
	struct fr_trigger t = parsed("crash:comm=nginx*,uid=1000");

	(void)state;
	assert_string_equal(t.comm, "nginx*");
	assert_int_equal(t.uid, 1000);
	t = parsed("crash:all:comm=a:exe=/usr/bin/*,cgroup=/system.slice/*:uid=root:sig=SEGV|sigbus|11|KILL");
	assert_string_equal(t.comm, "a");
	assert_string_equal(t.exe, "/usr/bin/*");
	assert_string_equal(t.cgroup, "/system.slice/*");
	assert_string_equal(t.user, "root");
	assert_int_equal(t.sig_set, FR_SIG(11) | FR_SIG(7) | FR_SIG(9));
	assert_int_equal(parsed("crash:sig=SIGSEGV").sig_set, FR_SIG(11));
	assert_int_equal(parsed("crash,signal=6").sig_set, FR_SIG(6));
	assert_int_equal(parsed("crash:all,sig=RTMIN+3").sig_set, FR_SIG(37));
	assert_int_equal(parsed("crash:all,sig=64").sig_set, FR_SIG(64));
	assert_true(fr_sig_in(64, FR_SIG(64)) && fr_sig_in(1, FR_SIG(1)));
	assert_false(fr_sig_in(0, ~0ULL) || fr_sig_in(65, ~0ULL) || fr_sig_in(63, FR_SIG(64)));
	/* what looks like separators, but is within a value */
	assert_string_equal(parsed("crash:comm=\"a,b\",post=1s").comm, "a,b");
	assert_string_equal(parsed("crash:comm=a\\,b").comm, "a\\,b");
	assert_string_equal(parsed("crash:comm=[,:]x,uid=1").comm, "[,:]x");
	assert_string_equal(parsed("crash:comm=kworker/0:1").comm, "kworker/0:1");
	assert_string_equal(parsed("crash:comm=a|b").comm, "a|b");
	assert_string_equal(parsed("crash:comm=averylongprogra*").comm, "averylongprogra*");
	assert_string_equal(parsed("crash:comm=fifteen_letters,uid=1").comm, "fifteen_letters");
	assert_string_equal(parsed("crash:comm=x:all,uid=1").comm, "x");
	assert_string_equal(parsed("crash:comm=x:all:uid=1").comm, "x");
	assert_string_equal(parsed("crash:comm=x:all-1").comm, "x:all-1");
	assert_string_equal(parsed("exit:2:comm=go*").comm, "go*");
	assert_string_equal(parsed("hung>1s:comm=go*").comm, "go*");
	assert_string_equal(parsed("latency:syscall>1s:comm=go*").comm, "go*");
}

static void test_options(void **state)
{
	struct fr_trigger t = parsed("crash, post=500ms , last=1.5m, cooldown=0, max=5/1h, dedupe=no");

	(void)state;
	assert_int_equal(t.post_ns, 500 * MS);
	assert_int_equal(t.last_ns, 90 * SEC);
	assert_int_equal(t.cooldown_ns, 0);
	assert_int_equal(t.max_cnt, 5);
	assert_int_equal(t.max_ns, 3600 * SEC);
	assert_false(t.dedupe);
	assert_true(parsed("hung>1s,dedupe").dedupe);
	assert_true(parsed("hung>1s:dedupe:post=1s").dedupe);
	assert_int_equal(parsed("signal,post=1s,max=3/1m").post_ns, SEC);
	assert_int_equal(parsed("exit,last=1m").last_ns, 60 * SEC);
	assert_int_equal(parsed("every:10m,last=1m").last_ns, 60 * SEC);
}

static void test_expressions(void **state)
{
	struct fr_trigger t = parsed("event:sig in (SIGSEGV, SIGBUS) && comm ~ \"a,b*\",post=1s");

	(void)state;
	assert_string_equal(t.expr, "sig in (SIGSEGV, SIGBUS) && comm ~ \"a,b*\"");
	assert_int_equal(t.post_ns, SEC);
	t = parsed("event:tid==5:post=1s");
	assert_string_equal(t.expr, "tid==5");
	assert_int_equal(t.post_ns, SEC);
	assert_string_equal(parsed("event:comm == \"x:post=1s\\\",\"").expr, "comm == \"x:post=1s\\\",\"");
	assert_string_equal(parsed("event: args[0] == 5 ").expr, "args[0] == 5");
	/* a tracepoint: what it is about, and an expression */
	t = parsed("event:tp:skb:kfree_skb if reason in (2, 3) && protocol == 0x800,post=1s");
	assert_string_equal(t.tp, "tp:skb:kfree_skb");
	assert_string_equal(t.expr, "event == \"tp:skb:kfree_skb\" && (reason in (2, 3) && protocol == 0x800)");
	assert_int_equal(t.post_ns, SEC);
	assert_string_equal(parsed("event:tp:skb:kfree_skb").expr, "event == \"tp:skb:kfree_skb\"");
	assert_string_equal(parsed("event:tid == 5").tp, "");
}

static const struct {
	const char *text;
	size_t at;
	const char *word; /* in the message */
} errors[] = {
	{"", 0, "missing"},
	{"  ", 2, "missing"},
	{",post=1s", 0, "missing"},
	{"crahs", 0, "crash"},
	{"xyzzyx", 0, "psi"},
	{"Crash", 0, "crash"},
	{"status:2", 0, "exit:STATUS"},
	{"segfault", 0, "did you mean crash?"}, /* not signal, which is SIGUSR1 to the recorder */
	{"SIGSEGV", 0, "crash,sig=SIGSEGV"},
	{"abrt:comm=x", 0, "crash,sig=abrt"},
	{"kill", 0, "crash:all,sig=kill"},
	{"oops", 0, "did you mean kernel?"}, /* not oom */
	{"panic", 0, "exit:2"},
	{"end", 0, "end"},
	{"crash:", 6, "missing"},
	{"crash,", 6, "missing"},
	{"crash,,post=1s", 6, "missing"},
	{"crash post=1s", 6, "comma"},
	{"crash>5", 5, "not expected"},
	{"crash:nginx", 6, "crash:comm=nginx"},
	{"crash:SEGV", 6, "crash,sig=SEGV"},
	{"crash:TERM", 6, "crash:all,sig=TERM"},
	{"crash:CHLD", 6, "nothing dies of it"},
	{"sigchld", 0, "there is no trigger 'sigchld'"},
	{"crash:all:nginx", 6, "KEY=VALUE"},
	{"crash:comn=nginx", 6, "comm"},
	{"crash:comm", 6, "crash:comm=comm"},
	{"crash,comm", 6, "comm=GLOB"},
	{"crash:comm=", 11, "empty"},
	{"crash:comm=\"\"", 12, "empty"},
	{"crash:comm=\"a", 11, "quote"},
	{"crash:comm=[a,post=1s", 11, "bracket"},
	{"crash:comm=\"[a\"", 12, "comm: a [ of this pattern has no ]"},
	{"crash:comm=x|[a|b]", 13, "comm: a [ of this pattern has no ]"},
	{"crash:exe=\"/bin/[a\",post=1s", 11, "exe: a [ of this pattern has no ]"},
	{"crash:comm=a,b", 13, "A|B"},
	{"crash:comm=a,comm=b", 13, "twice"},
	{"crash:comm=averylongprogram", 11, "comm=averylongprogra"},
	{"crash:comm=averylongprogram*", 11, "comm=averylongprogra"},
	{"crash:comm=a|averylongprogram", 13, "comm=averylongprogra"},
	{"crash:foo=1", 6, "filters are"},
	{"oom:sgi=KILL", 4, "filters are"}, /* sig is not for it */
	{"crash:uid=", 10, "no user"},
	{"crash:uid=4294967295", 10, "4294967294"},
	{"crash:uid=a23456789b123456789c123456789d123456789e123456789f123456789g1234567", 10, "no user"},
	{"crash:sig=", 10, "missing"},
	{"crash:sig=SEGV|", 15, "missing"},
	{"crash:sig=SEVG", 10, "SEGV"},
	{"crash:sig=0", 10, "1 to 64"},
	{"crash:sig=65", 10, "1 to 64"},
	{"crash:sig=64", 10, "no core"},
	{"crash:sig=99999999999999999999", 10, "there is no signal"},
	{"crash:sig=SEGV|KILL", 10, "crash:all,sig=KILL"},
	{"crash:all,sig=CHLD", 14, "nothing dies of SIGCHLD"},
	{"oom:sig=KILL", 4, "makes no sense"},
	{"oom:5", 4, "takes no"},
	{"exit:256", 5, "0 to 255"},
	{"exit:-1", 5, "0 to 255"},
	{"exit:panic", 5, "0 to 255"},
	{"exit,post=1s", 5, "makes no sense"},
	{"exit:comm=x", 5, "exit:STATUS"},
	{"hung", 4, "hung>20s"},
	{"hung>", 5, "missing"},
	{"hung>0s", 5, "longer than 0"},
	{"hung>20", 5, "duration"},
	{"hung>=20s", 5, "duration"},
	{"hung>99999999999999999999s", 5, "duration"},
	{"hung>3651d", 5, "3650d"},
	{"hung:comm=x", 11, "hung>20s"},
	{"latency", 7, "latency:WHAT>T"},
	{"latency:wakeup", 8, "latency:WHAT>T"},
	{"latency:wakup>5ms", 8, "wakeup"},
	{"latency:spam:request>5ms", 8, "did you mean span"},
	{"latency:span>5ms", 12, "latency:span:request>50ms"},
	{"latency:span:>5ms", 13, "name of the span is missing"},
	{"latency:span:\"\">5ms", 14, "name of the span is missing"},
	{"latency:span:req*>5ms", 16, "latency:span:\"req*\">50ms"},
	{"latency:span:request", 8, "latency:WHAT>T"},
	{"latency:span:request>", 21, "missing"},
	{"latency:span:request>=5ms", 20, "without ="},
	{"latency:span:request>5ms,sig=SEGV", 25, "crash"},
	{"latency:span:request>5ms,syscall=futex", 25, "asleep"},
	{"latency:>5ms", 8, "wakeup, offcpu"},
	{"latency:wakeup>", 15, "missing"},
	{"latency:wakeup>=5ms", 14, "without ="},
	{"latency:block:sda>5ms", 13, "takes no name"},
	{"latency:syscall:opennat>5ms", 16, "openat"},
	{"latency:syscall:>5ms", 16, "missing"},
	{"latency:syscall:a_name_that_is_longer_than_any_call>5ms", 16, "too long"},
	{"latency:wakeup>5ms,sig=SEGV", 19, "crash"},
	{"latency:irq>1ms:comm=x", 16, "no task's"},
	{"latency:softirq>1ms,uid=0", 20, "no task's"},
	{"latency:block>1ms:exe=x", 18, "only comm and uid"},
	{"rate", 4, "rate:WHAT>N/T"},
	{"rate:fork", 5, "rate:WHAT>N/T"},
	{"rate:frok>5/s", 5, "did you mean fork"},
	{"rate:>5/s", 5, "fork, exit"},
	{"rate:fork>5", 10, "not N/T"},
	{"rate:fork>=5/s", 9, "without ="},
	{"rate:fork>0/s", 10, "1 to"},
	{"rate:fork>1000000001/s", 10, "1 to 1000000000"},
	{"rate:fork>99999999999999999999/s", 10, "1 to"},
	{"rate:fork>x/s", 10, "1 to"},
	{"rate:fork>5/", 12, "missing"},
	{"rate:fork>5/x", 12, "not a time"},
	{"rate:fork>5/5", 12, "duration"},
	{"rate:fork>5/1ms", 12, "100ms"},
	{"rate:fork>5/2h", 12, "1h"},
	{"rate:fork:x>5/s", 9, "takes no name"},
	{"rate:signal:>5/s", 12, "no signal"},
	{"rate:signal:TERN>5/s", 12, "no signal"},
	{"rate:signal:65>5/s", 12, "1 to 64"},
	{"rate:error>5/s", 10, "rate:error:openat"},
	{"rate:error:>5/s", 11, "missing"},
	{"rate:error:opennat>5/s", 11, "openat"},
	{"rate:error:openat:ENOPE>5/s", 18, "no error"},
	{"rate:error:openat:0>5/s", 18, "no error"},
	{"rate:error:4096>5/s", 11, "not counted"},
	{"rate:fork>5/s,sig=TERM", 14, "makes no sense"},
	{"rate:fork>5/s,cgroup=x", 21, "comm=, exe= or uid="},
	{"rate:fork>5/s,comm=a|b", 19, "PREFIX*"},
	{"rate:fork>5/s,comm=*a", 19, "PREFIX*"},
	{"rate:fork>5/s,exe=/bin/sh", 18, "exe=sh"},
	{"rate:fork>5/s,exe=a-name-of-fifte", 18, "15 bytes"},
	{"event", 5, "event:"},
	{"event:", 6, "missing"},
	{"event:tid = 5", 10, "=="},
	{"event:tp:skb", 6, "SYSTEM:NAME"},
	{"event:tp:skb:*", 6, "without * ? ["},
	{"event:tp:skb:kfree_skb@5/s", 6, "cooldown="},
	{"event:tp:skb:kfree_skb{reason}", 6, "cooldown="},
	{"event:tp:skb:kfree_skb if reason = 5", 33, "=="},
	{"event:nxt_pid == 5", 6, "next_pid"},
	{"event:tid == 5,comm=x", 15, "makes no sense"},
	{"event:tid in (5,post=1s", 13, "bracket"},
	{"psi", 3, "psi:memory:20%"},
	{"psi:20%", 4, "psi:memory:20%"},
	{"psi:memroy:20%", 4, "memory"},
	{"psi:memory:20", 11, "psi:memory:20%"},
	{"psi:memory:0%", 11, "always"},
	{"psi:memory:101%", 11, "share"},
	{"psi:memory.all:10%", 11, "some nor full"},
	{"psi:cpu.full:10%", 4, "psi:cpu"},
	{"psi:io:2s/1s", 7, "stall"},
	{"psi:io:1ns/1s", 7, "stall"},
	{"psi:io:1ms/100ms", 11, "500ms"},
	{"psi:io:1ms/", 11, "missing"},
	{"psi:io:1s,dedupe=yes", 7, "neither"},
	{"psi:io:10%,dedupe=yes", 11, "makes no sense"},
	{"every", 5, "every:10m"},
	{"every:1ms", 6, "100ms"},
	{"every:1m,cooldown=1m", 9, "makes no sense"},
	{"signal:USR1", 7, "takes no"},
	{"crash,post=5", 11, "duration"},
	{"crash,post=2d", 11, "1d"},
	{"crash,last=0s", 11, "longer than 0"},
	{"crash,max=5", 10, "max=5/1h"},
	{"crash,max=0/1m", 10, "never"},
	{"crash,max=1001/1m", 10, "1000"},
	{"crash,max=18446744073709551617/1m", 10, "1000"},
	{"crash,max=/1m", 10, "1000"},
	{"crash,max=5/0s", 12, "longer than 0"},
	{"crash,max=5/", 12, "missing"},
	{"crash,dedupe=maybe", 13, "yes nor no"},
	{"exit:2,calls=maybe", 13, "yes nor no"},
	{"crash,all=no", 10, "no value"},
	{"crash,coooldown=5s", 6, "cooldown"},
	{"crash\n", 5, "control"},
	{"crash:comm=[[[[[[[[[", 19, "nested"},
};

static void test_errors(void **state)
{
	struct fr_trigger_error e;
	struct fr_trigger t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		int err;

		memset(&e, 0, sizeof(e));
		memset(&t, 0x55, sizeof(t));
		err = fr_trigger_parse(errors[i].text, "x86_64", &t, &e);
		if (err != -EINVAL || e.at != errors[i].at || !strstr(e.text, errors[i].word))
			fail_msg("%s: %d at %zu: %s", errors[i].text, err, e.at, e.text);
		/* untouched on error */
		assert_int_equal(t.kind, 0x55555555);
	}
}

/* Whoever misspells a trigger sees all that there are. */
static void test_all_named(void **state)
{
	static const char *const names[] = {
#define T(nr, name, arg, has, gap_ns, doc) #name,
		FR_TRIGGERS(T)
#undef T
	};
	struct fr_trigger_error unknown = {}, missing = {};
	struct fr_trigger t;
	char name[16];
	size_t i;

	(void)state;
	fr_trigger_parse("zzz", "x86_64", &t, &unknown);
	fr_trigger_parse("", "x86_64", &t, &missing);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool taken = strcmp(names[i], "status") && strcmp(names[i], "end");

		snprintf(name, sizeof(name), " %s", names[i]);
		if (!strstr(unknown.text, name) != !taken || !strstr(missing.text, name) != !taken)
			fail_msg("%s: %s; %s", names[i], unknown.text, missing.text);
	}
}

static int find_one(void *arg, const char *name, u32 *uid)
{
	int err = *(const int *)arg;

	assert_string_equal(name, "carla");
	if (!err)
		*uid = 1234;
	return err;
}

/* Parsing asks nobody; until the host is asked the rule is nobody's, and stays so if it does not know. */
static void test_user_by_name(void **state)
{
	struct fr_trigger t = parsed("crash:comm=x,uid=carla");
	const struct fr_moment of_root = {
		.kind = FR_TRIGGER_crash, .sig = 11, .core = true, .comm = "x", .exe = "", .cgroup = ""};
	struct fr_moment of_carla = of_root;
	struct fr_trigger_error e = {};
	int says;

	(void)state;
	of_carla.uid = 1234;
	assert_false(fr_trigger_match(&t, &of_root));
	assert_false(fr_trigger_match(&t, &of_carla));
	says = -ETIMEDOUT;
	assert_int_equal(fr_trigger_find_user(&t, find_one, &says, &e), -ETIMEDOUT);
	assert_int_equal(e.at, strlen("crash:comm=x,uid="));
	assert_non_null(strstr(e.text, "cannot look up user 'carla'"));
	says = -ENOENT;
	assert_int_equal(fr_trigger_find_user(&t, find_one, &says, &e), -EINVAL);
	assert_non_null(strstr(e.text, "no user 'carla'"));
	assert_false(fr_trigger_match(&t, &of_root));
	says = 0;
	assert_int_equal(fr_trigger_find_user(&t, find_one, &says, &e), 0);
	assert_true(fr_trigger_match(&t, &of_carla));
	assert_false(fr_trigger_match(&t, &of_root));
	t = parsed("crash:uid=7");
	assert_int_equal(fr_trigger_find_user(&t, NULL, NULL, &e), 0);
	assert_int_equal(t.uid, 7);
}

/* Too long is an error, not cut. */
static void test_lengths(void **state)
{
	struct fr_trigger_error e;
	struct fr_trigger t;
	char text[FR_TRIGGER_TEXT_MAX * 2];

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "crash:exe=", 10);
	text[10 + FR_TRIGGER_GLOB_MAX - 1] = 0;
	assert_int_equal(fr_trigger_parse(text, "x86_64", &t, &e), 0);
	assert_int_equal(strlen(t.exe), FR_TRIGGER_GLOB_MAX - 1);
	text[10 + FR_TRIGGER_GLOB_MAX - 1] = 'x';
	text[10 + FR_TRIGGER_GLOB_MAX] = 0;
	assert_int_equal(fr_trigger_parse(text, "x86_64", &t, &e), -EINVAL);
	assert_int_equal(e.at, 10);
	assert_non_null(strstr(e.text, "127"));
	memset(text, ' ', sizeof(text));
	memcpy(text, "crash", 5);
	text[FR_TRIGGER_TEXT_MAX - 1] = 0;
	assert_int_equal(fr_trigger_parse(text, "x86_64", &t, &e), 0);
	text[FR_TRIGGER_TEXT_MAX - 1] = ' ';
	text[FR_TRIGGER_TEXT_MAX] = 0;
	assert_int_equal(fr_trigger_parse(text, "x86_64", &t, &e), -EINVAL);
	assert_int_equal(e.at, FR_TRIGGER_TEXT_MAX - 1);
}

/* Another machine's numbers; of an unknown one none. */
static void test_machines(void **state)
{
	struct fr_trigger_error e;
	struct fr_trigger t;

	(void)state;
	assert_int_equal(fr_trigger_parse("latency:syscall:openat>1ms", "aarch64", &t, &e), 0);
	assert_int_equal(t.call_nr, 56);
	assert_int_equal(fr_trigger_parse("latency:syscall:openat>1ms", "riscv64", &t, &e), -EINVAL);
	assert_non_null(strstr(e.text, "riscv64"));
	assert_int_equal(fr_trigger_parse("latency:syscall:openat>1ms", NULL, &t, &e), -EINVAL);
	assert_int_equal(fr_trigger_parse("latency:syscall:56>1ms", NULL, &t, &e), 0);
}

/* ---- moments ---- */

static const struct fr_moment segv = {
	.kind = FR_TRIGGER_crash,
	.tid = 101,
	.pid = 100,
	.uid = 1000,
	.sig = 11,
	.core = true,
	.ip = 0x401234,
	.comm = "nginx",
	.exe = "/usr/sbin/nginx",
	.cgroup = "/system.slice/nginx.service",
	.exe_id = 77,
};

static bool meets(const char *rule, struct fr_moment m)
{
	struct fr_trigger t = parsed(rule);

	return fr_trigger_match(&t, &m);
}

static void test_matches(void **state)
{
	static const char *const yes[] = {
		"crash",
		"crash:all",
		"crash:comm=nginx",
		"crash:comm=ng*",
		"crash:comm=apache|ng*",
		"crash:exe=/usr/sbin/nginx",
		"crash:exe=nginx",
		"crash:exe=/usr/*",
		"crash:cgroup=nginx.service",
		"crash:cgroup=/system.slice/*",
		"crash:uid=1000",
		"crash:sig=SEGV",
		"crash:sig=BUS|SEGV",
		"crash:comm=nginx,uid=1000,sig=11",
	};
	static const char *const no[] = {
		"oom",
		"exit:11",
		"kernel",
		"crash:comm=ngin",
		"crash:comm=apache|lighttpd",
		"crash:comm=apache\\|nginx",
		"crash:exe=/usr/bin/nginx",
		"crash:exe=sbin",
		"crash:cgroup=system.slice",
		"crash:uid=0",
		"crash:sig=BUS",
		"crash:comm=nginx,uid=0",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!meets(yes[i], segv))
			fail_msg("%s is not met", yes[i]);
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (meets(no[i], segv))
			fail_msg("%s is met", no[i]);
}

static void test_no_core(void **state)
{
	struct fr_moment m = segv;

	(void)state;
	m.sig = 9;
	m.core = false;
	assert_false(meets("crash", m));
	assert_true(meets("crash:all", m));
	assert_true(meets("crash:all,sig=KILL", m));
	assert_false(meets("crash:all,sig=TERM", m));
}

/* A filter on what is unknown is not met. */
static void test_unknown(void **state)
{
	struct fr_moment m = {.kind = FR_TRIGGER_crash, .core = true, .uid = ~0u, .comm = "", .exe = ""};

	(void)state;
	assert_true(meets("crash", m));
	assert_false(meets("crash:comm=*", m));
	assert_false(meets("crash:exe=*", m));
	assert_false(meets("crash:cgroup=*", m));
	assert_false(meets("crash:uid=0", m));
	assert_false(meets("crash:sig=SEGV", m));
}

/* Of a path that did not fit, the begin is unknown: a rule for what lies below its begin is met, one that names another end is
 * not. */
static void test_cut_path(void **state)
{
	struct fr_moment m = {
		.kind = FR_TRIGGER_crash, .core = true, .sig = 11, .comm = "deep", .exe = ".../b/c/deep", .cgroup = ""};

	(void)state;
	assert_true(meets("crash:exe=/opt/*", m));
	assert_true(meets("crash:exe=/opt/*/deep", m));
	assert_true(meets("crash:exe=deep", m));
	assert_false(meets("crash:exe=/opt/*/shallow", m));
	assert_false(meets("crash:exe=/opt/deep", m));
}

static void test_values(void **state)
{
	struct fr_moment m = {.kind = FR_TRIGGER_latency, .latency = FR_LATENCY_syscall, .what = 257, .value_ns = 10 * MS};

	(void)state;
	assert_true(meets("latency:syscall>9ms", m));
	assert_true(meets("latency:syscall:openat>9ms", m));
	assert_false(meets("latency:syscall:read>9ms", m));
	assert_false(meets("latency:syscall>10ms", m));
	assert_false(meets("latency:block>9ms", m));
	m.kind = FR_TRIGGER_hung;
	assert_true(meets("hung>9ms", m));
	assert_false(meets("hung>10ms", m));
	m.kind = FR_TRIGGER_status;
	m.status = 2;
	assert_true(meets("exit:2", m));
	assert_false(meets("exit:1", m));
}

static u64 key_with(void (*change)(struct fr_moment *m))
{
	struct fr_moment m = segv;

	change(&m);
	return fr_trigger_key(&m);
}

static void other_kind(struct fr_moment *m)
{
	m->kind = FR_TRIGGER_status;
}

static void other_sig(struct fr_moment *m)
{
	m->sig = 7;
}

static void other_exe(struct fr_moment *m)
{
	m->exe_id = 78;
}

static void other_ip(struct fr_moment *m)
{
	m->ip += 4;
}

static void other_stack(struct fr_moment *m)
{
	m->stack++;
}

static void other_user(struct fr_moment *m)
{
	m->uid++;
}

static void other_run(struct fr_moment *m)
{
	m->ip += 0x7000;
	m->tid = m->pid = 200;
	m->ts += SEC;
	m->comm = "worker";
}

/* Of one program, loaded elsewhere: the same; with another caller, or with more frames: another. */
static void test_stacks(void **state)
{
	const u64 frame[] = {0x55501234, 0x55501400, 0x7fff12345678}, moved[] = {0x66601234, 0x66701400, 0x7eee12345678};
	const u64 other[] = {0x55501234, 0x55501404, 0x7fff12345678};
	u64 deep[FR_TRIGGER_FRAME_CNT + 1] = {0}, key = fr_trigger_stack(frame, 3);

	(void)state;
	assert_int_equal(fr_trigger_stack(frame, 0), 0);
	assert_int_not_equal(key, 0);
	assert_int_equal(fr_trigger_stack(moved, 3), key);
	assert_int_not_equal(fr_trigger_stack(other, 3), key);
	assert_int_not_equal(fr_trigger_stack(frame, 2), key);
	key = fr_trigger_stack(deep, FR_TRIGGER_FRAME_CNT);
	deep[FR_TRIGGER_FRAME_CNT] = 1;
	assert_int_equal(fr_trigger_stack(deep, FR_TRIGGER_FRAME_CNT + 1), key);
}

static void test_keys(void **state)
{
	struct fr_moment kernel = {.kind = FR_TRIGGER_kernel, .comm = "a", .exe = "/a"};
	struct fr_moment script = {.kind = FR_TRIGGER_status, .status = 2, .comm = "first", .exe_id = 5};
	u64 key = fr_trigger_key(&segv), report;

	(void)state;
	assert_int_not_equal(key, 0);
	assert_int_not_equal(key_with(other_kind), key);
	assert_int_not_equal(key_with(other_sig), key);
	assert_int_not_equal(key_with(other_exe), key);
	assert_int_not_equal(key_with(other_ip), key);
	assert_int_not_equal(key_with(other_stack), key);
	/* who lets another's program die is not that other */
	assert_int_not_equal(key_with(other_user), key);
	/* the same crash in another process, loaded elsewhere */
	assert_int_equal(key_with(other_run), key);
	/* two scripts of one interpreter, and the same one again */
	key = fr_trigger_key(&script);
	script.tid = script.pid = 300;
	assert_int_equal(fr_trigger_key(&script), key);
	script.comm = "second";
	assert_int_not_equal(fr_trigger_key(&script), key);
	/* the kernel's own troubles are no program's */
	report = fr_trigger_key(&kernel);
	kernel.comm = "b";
	kernel.exe = "/b";
	kernel.uid++;
	assert_int_equal(fr_trigger_key(&kernel), report);
	kernel.what++; /* but of each kind by itself */
	assert_int_not_equal(fr_trigger_key(&kernel), report);
}

/* What ends a process, and how wait() tells it (bpf/fatal.h). */
static void test_fatal(void **state)
{
	(void)state;
	assert_int_equal(fr_wait_status(255 << 8), 255);
	assert_int_equal(fr_wait_signal(255 << 8), 0);
	assert_int_equal(fr_wait_signal(11 | 0x80), 11); /* and it dumped core */
	assert_int_equal(fr_fatal_signal(11, 0, 0), 11);
	assert_int_equal(fr_fatal_signal(11, 1, 0), 0); /* the init of a PID namespace */
	assert_int_equal(fr_fatal_signal(17, 0, 0), 0);
	assert_int_equal(fr_fatal_signal(FR_SIGKILL, 0, 15), 15); /* decided for the whole process when it came */
	assert_int_equal(fr_fatal_signal(FR_SIGKILL, 0, 0), 0);	  /* to the siblings of a thread that executes a program */
	assert_int_equal(fr_wait_code(1, 3 << 8, 4 << 8), 3 << 8);
	assert_int_equal(fr_wait_code(0, 3 << 8, 4 << 8), 4 << 8);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(fr_trigger_kind_name(FR_TRIGGER_crash), "crash");
	assert_string_equal(fr_trigger_kind_name(0), "?");
	assert_string_equal(fr_trigger_reason(FR_TRIGGER_crash), "crash");
	assert_string_equal(fr_trigger_reason(FR_TRIGGER_status), "exit");
	assert_string_equal(fr_trigger_reason(FR_TRIGGER_exit), "exit");
	assert_string_equal(fr_trigger_reason(~0u), "?");
	assert_string_equal(fr_trigger_kind_name(~0u), "?");
	assert_string_equal(fr_trigger_verdict_name(FR_TRIGGER_VERDICT_busy), "busy");
	assert_string_equal(fr_trigger_verdict_name(99), "?");
	assert_string_equal(fr_latency_name(FR_LATENCY_block), "block");
	assert_string_equal(fr_latency_name(99), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	  cmocka_unit_test(test_examples),  cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_arguments), cmocka_unit_test(test_psi),	    cmocka_unit_test(test_rate),
		cmocka_unit_test(test_filters),	  cmocka_unit_test(test_options),   cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_errors),	  cmocka_unit_test(test_all_named), cmocka_unit_test(test_user_by_name),
		cmocka_unit_test(test_lengths),	  cmocka_unit_test(test_machines),  cmocka_unit_test(test_matches),
		cmocka_unit_test(test_no_core),	  cmocka_unit_test(test_unknown),   cmocka_unit_test(test_cut_path),
		cmocka_unit_test(test_values),	  cmocka_unit_test(test_stacks),    cmocka_unit_test(test_keys),
		cmocka_unit_test(test_fatal),	  cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
