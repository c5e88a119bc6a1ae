/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The configuration's text: what it becomes, what is refused and on which line, what a reload cannot change, the example. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config/config.h"
#include "dist/example.h"
#include "session.h"

#define SEC 1000000000ULL

static int parse_sz(struct fr_config *c, const char *text, size_t sz, struct fr_config_error *e)
{
	char *copy = malloc(sz ?: 1); /* of exactly its size, so that a byte read behind it is seen */
	int err;

	memcpy(copy, text, sz);
	memset(e, 0, sizeof(*e));
	err = fr_config_parse(c, copy, sz, e);
	free(copy);
	return err;
}

static struct fr_config parsed(const char *text)
{
	struct fr_config_error e;
	struct fr_config c;

	assert_int_equal(fr_config_init(&c), 0);
	if (parse_sz(&c, text, strlen(text), &e))
		fail_msg("%s: line %u: %s", text, e.line, e.text);
	return c;
}

static void check_defaults(const struct fr_config *c)
{
	assert_string_equal(c->name, "default");
	assert_string_equal(c->profile, "default");
	assert_int_equal(c->event.cnt, 0);
	assert_int_equal(c->memory_sz, 8 << 20);
	assert_int_equal(c->subbuf_sz, 64 << 10);
	assert_string_equal(c->clock, "global");
	assert_int_equal(c->sample_hz, 99);
	assert_string_equal(c->filter, "");
	assert_int_equal(c->storm_cnt, 30);
	assert_int_equal(c->storm_ns, 600 * SEC);
	assert_string_equal(c->dir, "/var/lib/flightrec");
	assert_int_equal(c->max_files, 100);
	assert_int_equal(c->max_sz, 4ULL << 30);
	assert_int_equal(c->max_age_ns, 30 * 86400 * SEC);
	assert_int_equal(c->keep_free, 5000);
	assert_string_equal(c->exec, "");
	assert_string_equal(c->exec_user, "nobody");
	assert_true(c->journal);
	assert_true(c->socket);
	assert_int_equal(c->dump_interval_ns, 10 * SEC);
	assert_int_equal(c->budget, 0);
}

static void test_defaults(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"\r\n",
		" \t\n#On=crash\n ; x=y\n",
		"[Session]",
		"\xef\xbb\xbf[Session]\n",
		"\xef\xbb\xbf",
		"[Trigger]\nOn=\n",
	};
	struct fr_config c;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		c = parsed(texts[i]);
		check_defaults(&c);
		assert_int_equal(c.on.cnt, 0);
		fr_config_free(&c);
	}
}

static void test_values(void **state)
{
	struct fr_config c = parsed("\xef\xbb\xbf# all of it\r\n"
				    "[Session]\r\n"
				    "Name = web-1\r\n"
				    "Memory=16M\r\n"
				    "Event=syscall\n"
				    "  Event =\t-block  \n"
				    "Tier=life=2M\n"
				    "Clock=global:20us\n"
				    "Comm=nginx*,postgres\n"
				    "[Storage]\n"
				    "MaxAge=0\n"
				    "KeepFree=2.5%\n"
				    "MaxFiles=5\n"
				    "MaxFiles=7\n"
				    "[Session]\n"
				    "SampleRate=49\n"
				    "[Trigger]\n"
				    "On=crash:comm=nginx*,post=1s\n"
				    "On=event:event == task_rename && comm == \"a\"\n"
				    "[Notify]\n"
				    "Journal=off\n"
				    "Exec=/usr/bin/logger \"a b\"");

	(void)state;
	assert_string_equal(c.name, "web-1");
	assert_int_equal(c.memory_sz, 16 << 20);
	assert_int_equal(c.event.cnt, 2);
	assert_string_equal(c.event.item[0], "syscall");
	assert_string_equal(c.event.item[1], "-block");
	assert_int_equal(c.event.line[1], 6);
	assert_string_equal(c.tier.item[0], "life=2M");
	assert_string_equal(c.clock, "global:20us");
	assert_string_equal(c.comm, "nginx*,postgres");
	assert_int_equal(c.max_age_ns, 0);
	assert_int_equal(c.keep_free, 2500);
	assert_int_equal(c.max_files, 7);
	assert_int_equal(c.sample_hz, 49);
	assert_int_equal(c.on.cnt, 2);
	assert_string_equal(c.on.item[0], "crash:comm=nginx*,post=1s");
	assert_string_equal(c.on.item[1], "event:event == task_rename && comm == \"a\"");
	assert_false(c.journal);
	assert_string_equal(c.exec, "/usr/bin/logger \"a b\"");
	fr_config_free(&c);
}

/* Continued lines, with comments among them; an error has the line where it began. */
static void test_continued(void **state)
{
	struct fr_config_error e;
	struct fr_config c = parsed("[Trigger]\n"
				    "On=event:event == mark_victim \\\n"
				    "# not this one\n"
				    "   && cpu == 1\n"
				    "On=crash\\");

	(void)state;
	assert_int_equal(c.on.cnt, 2);
	assert_string_equal(c.on.item[0], "event:event == mark_victim     && cpu == 1");
	assert_string_equal(c.on.item[1], "crash");
	assert_int_equal(c.on.line[1], 5);
	/* a comment is not continued */
	assert_int_equal(parse_sz(&c, "[Trigger]\n# x \\\nOn=oom\n", 23, &e), 0);
	assert_string_equal(c.on.item[2], "oom");
	assert_int_equal(parse_sz(&c, "[Trigger]\n\n\nOn=event:tid == \\\n  \\\n 5 5\n", 40, &e), -EINVAL);
	assert_int_equal(e.line, 4);
	fr_config_free(&c);
}

static void test_quotes(void **state)
{
	static const struct {
		const char *given, *is;
	} cases[] = {
		{"\"a b\"", "a b"},
		{"\" a\"", " a"},
		{"\"a\\\"b\\\\c\\n\"", "a\"b\\c\\n"},
		{"\"a\" \"b\"", "\"a\" \"b\""},
		{"\"a", "\"a"},
		{"a\"", "a\""},
		{"\"", "\""},
		{"'a'", "'a'"},
		{"a = b", "a = b"},
		{"a # b", "a # b"},
	};
	char text[128];
	struct fr_config c;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "[Notify]\nExec=%s\n", cases[i].given);
		c = parsed(text);
		assert_string_equal(c.exec, cases[i].is);
		fr_config_free(&c);
	}
}

/* An empty value takes away what was before, and what comes then counts. */
static void test_reset(void **state)
{
	struct fr_config c = parsed("[Trigger]\nOn=crash\nOn=oom\nOn=\nOn=kernel\n"
				    "[Session]\nMemory=1G\nMemory=\nName=x\nName=\"\"\n"
				    "[Notify]\nJournal=no\nJournal=\n[Storage]\nKeepFree=50%\nKeepFree=\n");

	(void)state;
	check_defaults(&c);
	assert_int_equal(c.on.cnt, 1);
	assert_string_equal(c.on.item[0], "kernel");
	fr_config_free(&c);
}

/* A list that was never given is not one that is meant to be empty. */
static void test_emptied(void **state)
{
	struct fr_config never = parsed("[Trigger]\nStormCount=0\n"), emptied = parsed("[Trigger]\nOn=crash\nOn=\n"),
			 again = parsed("[Trigger]\nOn=\nOn=crash\n");

	(void)state;
	assert_false(never.on.is_emptied);
	assert_true(emptied.on.is_emptied);
	assert_int_equal(emptied.on.cnt, 0);
	assert_false(again.on.is_emptied);
	fr_config_free(&never);
	fr_config_free(&emptied);
	fr_config_free(&again);
}

/* None is none, of whatever. */
static void test_zero(void **state)
{
	struct fr_config c = parsed("[Storage]\nMaxFiles=0\nMaxBytes=0\nMaxAge=0\nKeepFree=0\n[Governor]\nBudget=0\n");

	(void)state;
	assert_true(!c.max_files && !c.max_sz && !c.max_age_ns && !c.keep_free && !c.budget);
	fr_config_free(&c);
}

#define S "[Session]\n"
#define T "[Trigger]\n"

static const struct {
	const char *text;
	u32 line;
	const char *word; /* in the message */
} errors[] = {
	{"Name=x", 1, "[Session]"},
	{"\n\n[Sesion]\n", 3, "[Session]"},
	{"[Session", 1, "[SECTION]"},
	{"[Session] x", 1, "[SECTION]"},
	{"[]", 1, "there is no section"},
	{S "Nmae=x", 2, "Name"},
	{S "name=x", 2, "Name"},
	{S "=x", 2, "no key"},
	{S "On=crash", 2, "[Trigger]"},
	{S "Name", 2, "KEY=VALUE"},
	{S "Name: x", 2, "KEY=VALUE"},
	{S "Name=a/b", 2, "letters"},
	{S "Name=0123456789012345678901234567890123456789012345678901234567890123", 2, "63"},
	{S "Profile=fulll", 2, "full"},
	{S "Event=syscal", 2, "syscall"},
	{S "Event=a\nEvent=b", 2, "events"},
	{S "Memory=8", 0, NULL}, /* a size in bytes is one */
	{S "Memory=8X", 2, "size"},
	{S "Memory=-8M", 2, "size"},
	{S "Memory=0", 2, "no size for rings"},
	{S "Memory=99999999999999999999G", 2, "size"},
	{S "SubBuffer=0", 2, "no size for rings"},
	{S "Tier=live=1M", 2, "life"},
	{S "Tier=life", 2, "NAME=SIZE"},
	{S "Tier=life=", 2, "NAME=SIZE"},
	{S "Clock=gps", 2, "local"},
	{S "Clock=global:1ms", 2, "1ms"},
	{S "SampleRate=0", 2, "10000"},
	{S "SampleRate=10001", 2, "10000"},
	{S "SampleRate=99Hz", 2, "rate from 1 to 10000"},
	{S "SampleRate=18446744073709551715", 2, "rate from 1 to 10000"},
	{S "SampleRate=4294967395", 2, "rate from 1 to 10000"},
	{S "Pid=1,,2", 2, "empty"},
	{S "Pid=abc", 2, "process id"},
	{S "Pid=-1", 2, "process id"},
	{S "Comm=*x", 2, "PREFIX*"},
	{S "Comm=a,", 2, "empty"},
	{S "Cgroup=/a,,/b", 2, "empty"},
	{S "Filter=tid ==", 2, "missing"},
	{S "Filter=pid == 1\nComm=a", 0, "expression"},
	{T "On=crahs", 2, "crash"},
	{T "On=crash\r\nOn=hung", 3, "hung>20s"},
	{T "On=event:tid == 5", 2, "event"}, /* of which one? */
	{T "On=event:event == cpu_sample", 2, "expression"},
	{T "On=crash:comm=", 2, "character 12"},
	{T "StormCount=10001", 2, "10000"},
	{T "StormTime=10", 2, "duration"},
	{T "StormTime=99999d", 2, "3650d"},
	{"[Storage]\nDirectory=snapshots", 2, "absolute"},
	{"[Storage]\nKeepFree=5", 2, "5%"},
	{"[Storage]\nKeepFree=95%", 2, "90%"},
	{"[Storage]\nMaxFiles=-1", 2, "number"},
	{"[Storage]\nWriteTimeout=0", 2, "1h"},
	{"[Storage]\nWriteTimeout=2h", 2, "1h"},
	{"[Notify]\nJournal=perhaps", 2, "yes nor no"},
	{"[Notify]\nExecTimeout=0", 2, "1h"},
	{"[Notify]\nExecTimeout=2h", 2, "1h"},
	{"[Governor]\nInterval=10ms", 2, "1s"},
	{"[Governor]\nBudget=101%", 2, "100%"},
	{S "Name=a\033b", 2, "0x1b"},
	{S "Name=a\rb", 2, "0x0d"},
};

static void test_errors(void **state)
{
	struct fr_config_error e;
	struct fr_config c;
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		assert_int_equal(fr_config_init(&c), 0);
		err = parse_sz(&c, errors[i].text, strlen(errors[i].text), &e);
		if (err != (errors[i].word ? -EINVAL : 0) || e.line != errors[i].line ||
		    (errors[i].word && !strstr(e.text, errors[i].word)))
			fail_msg("%s: %d, line %u: %s", errors[i].text, err, e.line, e.text);
		fr_config_free(&c);
	}
}

static void refused(const char *text, size_t sz, u32 line, const char *word)
{
	struct fr_config_error e;
	struct fr_config c;

	assert_int_equal(fr_config_init(&c), 0);
	assert_int_equal(parse_sz(&c, text, sz, &e), -EINVAL);
	assert_int_equal(e.line, line);
	assert_non_null(strstr(e.text, word));
	fr_config_free(&c);
}

static void test_not_text(void **state)
{
	char *much = malloc((1 << 20) + 1), many[1024] = T;
	u32 i;

	(void)state;
	refused(S "Na\0me=x\n", 18, 2, "NUL");
	refused("\xff\xfe[\0S\0", 6, 1, "NUL");
	memset(much, '\n', (1 << 20) + 1);
	refused(much, (1 << 20) + 1, 0, "1 MiB");
	memset(much, 'x', 1 << 20);
	refused(much, 1 << 20, 1, "KEY=VALUE");
	free(much);
	for (i = 0; i < 33; i++)
		strcat(many, "On=crash\n");
	refused(many, strlen(many), 34, "32");
}

/* What the kernel takes as one argument, and not a character more: the first hook would find that out. */
static void test_exec_limit(void **state)
{
	const size_t key = sizeof("[Notify]\nExec=") - 1, max = 32 * 4096 - 1;
	char *text = malloc(key + max + 1);
	struct fr_config_error e;
	struct fr_config c;

	(void)state;
	memcpy(text, "[Notify]\nExec=", key);
	memset(text + key, 'x', max + 1);
	assert_int_equal(fr_config_init(&c), 0);
	assert_int_equal(parse_sz(&c, text, key + max, &e), 0);
	assert_int_equal(strlen(c.exec), max);
	fr_config_free(&c);
	refused(text, key + max + 1, 2, "script");
	free(text);
}

/* As many values as recording can match, and no more: a reload would find out only when the recorder is started next. */
static void test_list_limits(void **state)
{
	static const struct {
		const char *key, *item;
		u32 max;
	} lists[] = {
		{"Pid", "1234", FR_PID_FILTER_MAX},
		{"Comm", "a*", FR_COMM_FILTER_MAX},
		{"Cgroup", "/system.slice/a", FR_CGROUP_FILTER_MAX},
	};
	char text[8192], max[16];
	struct fr_config c;
	size_t len;
	u32 i, k;

	(void)state;
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		len = snprintf(text, sizeof(text), S "Name=x\n%s=%s", lists[i].key, lists[i].item);
		for (k = 1; k < lists[i].max; k++)
			len += snprintf(text + len, sizeof(text) - len, ",%s", lists[i].item);
		c = parsed(text);
		fr_config_free(&c);
		len += snprintf(text + len, sizeof(text) - len, ",%s\n", lists[i].item);
		assert_true(len < sizeof(text));
		snprintf(max, sizeof(max), "than %u", lists[i].max);
		refused(text, len, 3, max);
	}
}

static void test_new_ring(void **state)
{
	struct fr_config a = parsed(""), b = parsed(S "Memory=16M\nEvent=syscall\nEvent=-block\n" T "On=crash\n"
						      "[Storage]\nMaxFiles=3\n[Notify]\nJournal=no\nExec=x\n"
						      "[Governor]\nBudget=1%\n");
	struct fr_config d = parsed(S "Memory=16384K\nEvent=syscall\nEvent=-block\n");
	char buf[64], small[8];

	(void)state;
	assert_int_equal(fr_config_new_ring(&a, &a, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	assert_int_equal(fr_config_new_ring(&a, &b, buf, sizeof(buf)), 2);
	assert_string_equal(buf, "Session.Event, Session.Memory");
	assert_int_equal(fr_config_new_ring(&a, &b, small, sizeof(small)), 2);
	assert_string_equal(small, "Session");
	/* the same, written otherwise */
	assert_int_equal(fr_config_new_ring(&b, &d, buf, sizeof(buf)), 0);
	fr_config_free(&a);
	fr_config_free(&b);
	fr_config_free(&d);
}

/* With every key in force that the example shows as a comment. */
static char *uncommented(const char *example)
{
	char *text = strdup(example), *to = text;
	const char *from;

	for (from = example; *from; from++)
		if (*from != '#' || from[1] == ' ' || from[1] == '\n')
			*to++ = *from;
	*to = 0;
	return text;
}

static char *make_example(void)
{
	char *text = NULL;
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	assert_non_null(f);
	put_example(f);
	fclose(f);
	return text;
}

static void test_example(void **state)
{
	char *example = make_example(), *full = uncommented(example);
	struct fr_config c = parsed(example), all = parsed(full);
	const struct fr_config_key *key;
	char line[64];
	u32 i;

	(void)state;
	check_defaults(&c);
	assert_int_not_equal(c.on.cnt, 0);
	check_defaults(&all);
	assert_true(all.on.cnt > c.on.cnt);
	for (i = 0; (key = fr_config_key(i)); i++) {
		snprintf(line, sizeof(line), "%s=", key->key);
		if (!strstr(example, line))
			fail_msg("the example lacks %s", line);
	}
	assert_true(i > 20);
	fr_config_free(&c);
	fr_config_free(&all);
	free(example);
	free(full);
}

/* ---- options ---- */

static u32 key_nr(const char *name)
{
	const struct fr_config_key *key;
	u32 i;

	for (i = 0; (key = fr_config_key(i)); i++)
		if (!strcmp(key->key, name))
			return i;
	fail_msg("no key %s", name);
	return 0;
}

/* What the key's option makes of a file and one or two values; NULL values are left out. */
static void check_option(const char *file, const char *key, const char *a, const char *b, const char *want)
{
	struct fr_config c = parsed(file);
	const char *value[] = {a, b};
	struct fr_config_error e;
	char *text = NULL;
	size_t sz, i;
	FILE *f;

	for (i = 0; i < 2; i++)
		if (value[i] && fr_config_set_option(&c, key_nr(key), value[i], &e))
			fail_msg("%s %s: %s", key, value[i], e.text);
	f = open_memstream(&text, &sz);
	assert_int_equal(fr_config_put_option(f, &c, key_nr(key)), 0);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
	fr_config_free(&c);
}

/* Options come on top of the file: they replace values, and add to lists. What means the same is the same text. */
static void test_options(void **state)
{
	(void)state;
	check_option("[Session]\nMemory=1M", "Memory", NULL, NULL, " -m 1M");
	check_option("[Session]\nMemory=1M", "Memory", "16384K", NULL, " -m 16M");
	check_option("", "Memory", "1000", NULL, " -m 1000");
	check_option("[Session]\nEvent=irq", "Event", "syscall", "-cpu_sample", " -e irq -e syscall -e -cpu_sample");
	check_option("[Session]\nPid=007", "Pid", "2,3", "4", " --pid 7,2,3,4");
	check_option("[Session]\nComm=a*", "Comm", "b", NULL, " --comm a*,b");
	check_option("[Session]\nTier=stack=1M", "Tier", "life=2M", "life=4096K", " --tier life=4M --tier stack=1M");
	check_option("", "Clock", "global:10000ns", NULL, " --clock global:10us");
	check_option("", "Clock", "local", "global", " --clock global");
	check_option("", "Incidents", "1000", NULL, " --incidents 1024");
	check_option("", "CpuProfile", "off", NULL, " --cpu-profile no");
	check_option("", "SampleRate", "0100", NULL, " --hz 100");
	check_option("[Storage]\nDirectory=/a", "Directory", "relative", NULL, " -o relative");
	check_option("[Notify]\nExecUser=root", "ExecUser", "", NULL, " --exec-user nobody");
}

static void check_refused(const char *key, const char *value, const char *want)
{
	struct fr_config c = parsed("");
	struct fr_config_error e = {};

	assert_int_equal(fr_config_set_option(&c, key_nr(key), value, &e), -EINVAL);
	assert_string_equal(e.text, want);
	fr_config_free(&c);
}

/* The limits are the file's, and the message names the option. */
static void test_refused_options(void **state)
{
	(void)state;
	check_refused("Memory", "0", "-m: 0 is no size for rings: give a number with K, M, G or T");
	check_refused("SampleRate", "10001", "--hz: '10001' is not a rate from 1 to 10000");
	check_refused("SampleRate", "x", "--hz: 'x' is not a rate from 1 to 10000");
	check_refused("Incidents", "7", "--incidents: '7' is not a number of records from 8 to 65536");
	check_refused("KeepFree", "91%", "--keep-free: more than 90% free would leave no room for snapshots");
	check_refused("Exec", "a\nb", "--exec: it cannot have a line break");
	check_refused("ExecUser", "a\x1b", "--exec-user: a control character, 0x1b");
	check_refused("Redact", "ssn,a*b",
		      "--redact: 'a*b': give words of letters, digits, - and _, separated by commas, -WORD, or no");
	check_refused("MaxFiles", "x", "--max-files: 'x' is not a number from 0 to 4294967295");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),    cmocka_unit_test(test_values),   cmocka_unit_test(test_continued),
		cmocka_unit_test(test_quotes),	    cmocka_unit_test(test_reset),    cmocka_unit_test(test_zero),
		cmocka_unit_test(test_emptied),	    cmocka_unit_test(test_errors),   cmocka_unit_test(test_not_text),
		cmocka_unit_test(test_list_limits), cmocka_unit_test(test_new_ring), cmocka_unit_test(test_example),
		cmocka_unit_test(test_exec_limit),  cmocka_unit_test(test_options),  cmocka_unit_test(test_refused_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
