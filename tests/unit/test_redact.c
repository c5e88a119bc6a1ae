/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Secrets in command lines and log lines: what goes, and what stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/redact.h"

#define ROOM 512

struct pair {
	const char *text, *redacted;
	u32 cnt;
};

/* In both, | stands for the NUL between two arguments. */
static void check(const char *words, enum fr_redact_form form, const struct pair *p)
{
	char text[ROOM], out[ROOM], again[ROOM];
	size_t sz = strlen(p->text), len, i;
	u32 cnt = 0;

	for (i = 0; i < sz; i++)
		text[i] = p->text[i] == '|' && form == FR_REDACT_ARGS ? 0 : p->text[i];
	len = fr_redact(words, form, text, sz, out, sizeof(out) - 1, &cnt);
	assert_int_equal(fr_redact(words, form, out, len, again, sizeof(again), &(u32){0}), len);
	assert_memory_equal(again, out, len);
	for (i = 0; i < len; i++)
		if (!out[i])
			out[i] = '|';
	out[len] = 0;
	assert_string_equal(out, p->redacted);
	assert_int_equal(cnt, p->cnt);
}

static void lines_are_redacted(void **state)
{
	static const struct pair pairs[] = {
		{"", "", 0},
		{"run --port 80 key=7 monkey=8 passive=9 compass", "run --port 80 key=7 monkey=8 passive=9 compass", 0},
		{"password=hunter2", "password=[redacted]", 1},
		{"PASSWD=a b", "PASSWD=[redacted] b", 1},
		{"DB_PASS=a SMTP_PWD=b", "DB_PASS=[redacted] SMTP_PWD=[redacted]", 2},
		{"x Api-Key: abc y", "x Api-Key: [redacted] y", 1},
		{"apikey=abc;user=bob", "apikey=[redacted];user=bob", 1},
		{"GET /?api_key=abc&user=bob HTTP/1.1", "GET /?api_key=[redacted]&user=bob HTTP/1.1", 1},
		{"--db-password hunter2 -v", "--db-password [redacted] -v", 1},
		{"--password -v", "--password -v", 0},
		{"--password 'a b' -v", "--password '[redacted]' -v", 1},
		{"password=\"a 'b\" c", "password=\"[redacted]\" c", 1},
		{"{\"token\": \"ab\\\"c\", \"user\": \"bob\"}", "{\"token\": \"[redacted]\", \"user\": \"bob\"}", 1},
		{"\"{\\\"secretKey\\\":\\\"ab\\\",\\\"n\\\":1}\"", "\"{\\\"secretKey\\\":\\\"[redacted]\\\",\\\"n\\\":1}\"", 1},
		{"password=\"abc", "password=\"[redacted]", 1},
		{"Authorization: Basic YWJjOmRlZg== x", "Authorization: [redacted]", 1},
		{"-H 'authorization: Bearer abc def' -s", "-H 'authorization: [redacted]' -s", 1},
		{"Cookie: a=b; c=d\nHost: x", "Cookie: [redacted]\nHost: x", 1},
		{"auth-token: Bearer abc def", "auth-token: [redacted] def", 1},
		{"sent bearer 0123456789abcdef0 ok", "sent bearer [redacted] ok", 1},
		{"the bearer of news", "the bearer of news", 0},
		{"ALTER USER bob PASSWORD 'abc'", "ALTER USER bob PASSWORD '[redacted]'", 1},
		{"user[password]=abc", "user[password]=[redacted]", 1},
		{"password := abc => def", "password := [redacted] => def", 1},
		{"the password is wrong", "the password is wrong", 0},
		{"password= ", "password= ", 0},
		{"password=[redacted]", "password=[redacted]", 0},
		{"tokens=3", "tokens=[redacted]", 1},
		/* lists and objects */
		{"{\"tokens\": [\"abc\", {\"v\": \"a]b\"}], \"a\": 1}", "{\"tokens\": [redacted], \"a\": 1}", 1},
		{"{\"password\": {\"v\": \"abc\"}", "{\"password\": [redacted]", 1},
		{"{\\\"tokens\\\":[\\\"a]b\\\"],\\\"a\\\":1}", "{\\\"tokens\\\":[redacted],\\\"a\\\":1}", 1},
		{"token=[abc def", "token=[redacted]", 1},
		{"token=[a]b c", "token=[redacted] c", 1},
		/* of several parts */
		{"--password=abc\"d e\"fgh x", "--password=[redacted] x", 1},
		{"password=$'abc def' x", "password=[redacted] x", 1},
		{"PASSWORD 'it''s' y", "PASSWORD [redacted] y", 1},
		{"PASS='a b'\"c d\"e x", "PASS=[redacted] x", 1},
		{"'password=\"abc\"' x", "'password=\"[redacted]\"' x", 1},
		{"\"password=abc\" x", "\"password=[redacted]\" x", 1},
		/* in other codes */
		{"<password>a b</password> x", "<password>[redacted]</password> x", 1},
		{"<a:Password Type=\"x\">abc</a:Password>", "<a:Password Type=\"x\">[redacted]</a:Password>", 1},
		{"<token/> <b>x</b>", "<token/> <b>x</b>", 0},
		{"a=1&password%3Dabc&b=2", "a=1&password%3D[redacted]&b=2", 1},
		{"%7B%22token%22%3a%22abc%22 x", "%7B%22token%22%3a[redacted] x", 1},
		{"x -----BEGIN RSA PRIVATE KEY-----a b=\nc\n-----END RSA PRIVATE KEY----- y",
		 "x -----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY----- y", 1},
		{"-----BEGIN PRIVATE KEY-----abc", "-----BEGIN PRIVATE KEY-----[redacted]", 1},
		{"-----BEGIN CERTIFICATE-----abc", "-----BEGIN CERTIFICATE-----abc", 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		check(NULL, FR_REDACT_LINE, &pairs[i]);
}

static void addresses_are_redacted(void **state)
{
	static const struct pair pairs[] = {
		{"postgres://bob:hunter2@db:5432/x?y", "postgres://bob:[redacted]@db:5432/x?y", 1},
		{"a http://bob:a@b@c/ d", "a http://bob:[redacted]@c/ d", 1},
		{"redis://:abc@cache/0", "redis://:[redacted]@cache/0", 1},
		{"mysql://bob:a/b&c@db/x", "mysql://bob:[redacted]@db/x", 1},
		{"https://ghp_abc@github.com/a", "https://[redacted]@github.com/a", 1},
		{"ssh://git@github.com/a", "ssh://git@github.com/a", 0},
		{"http://host:8080/a@b http://[::1]:80/@", "http://host:8080/a@b http://[::1]:80/@", 0},
		{"http://host/a?mail=a@b", "http://host/a?mail=a@b", 0},
		{"token://a/b", "token://a/b", 0},
		{"ftp://bob:[redacted]@h", "ftp://bob:[redacted]@h", 0},
		{"http://host:name/ x", "http://host:name/ x", 0},
		/* cut off before its @ */
		{"amqp://bob:hunt", "amqp://bob:[redacted]", 1},
		{"'smb://d;bob:x@h' u:p@h", "'smb://d;bob:[redacted]@h' u:p@h", 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		check(NULL, FR_REDACT_LINE, &pairs[i]);
}

/* An argument's end is known: a secret may have anything in it. */
static void arguments_are_redacted(void **state)
{
	static const struct pair pairs[] = {
		{"app|--password|a b;c|-v|", "app|--password|[redacted]|-v|", 1},
		{"app|--password=a 'b&c|-v", "app|--password=[redacted]|-v", 1},
		{"env|API_TOKEN=a;b|app|", "env|API_TOKEN=[redacted]|app|", 1},
		{"app|--secret|--verbose|x", "app|--secret|--verbose|x", 0},
		{"app|--secret|", "app|--secret|", 0},
		{"app|--secret", "app|--secret", 0},
		{"curl|-H|Authorization: Bearer a b|http://a", "curl|-H|Authorization: [redacted]|http://a", 1},
		{"java|-Dspring.datasource.password=a b|x", "java|-Dspring.datasource.password=[redacted]|x", 1},
		{"sh|-c|exec app --password a b|", "sh|-c|exec app --password [redacted] b|", 1},
		{"psql|host=h password=a b dbname=c|", "psql|host=h password=[redacted] b dbname=c|", 1},
		{"app|password\nx=1|", "app|password\nx=1|", 0},
		{"docker|run|--env=PASSWORD=a b|x|", "docker|run|--env=PASSWORD=[redacted]|x|", 1},
		{"psql|postgresql://bob:a b@c/d|x|", "psql|postgresql://bob:[redacted]@c/d|x|", 1},
		{"echo|see http://h/ a:b@c|", "echo|see http://h/ a:b@c|", 0},
		{"app|{\"tokens\":[\"a b|c d|", "app|{\"tokens\":[redacted]|c d|", 1},
		/* options of programs */
		{"mysql|-pa b|-u|root|", "mysql|-p[redacted]|-u|root|", 1},
		{"mysql|-p|db|", "mysql|-p|db|", 0},
		{"sudo|-u|bob|/usr/bin/mysqldump|-pabc|db|", "sudo|-u|bob|/usr/bin/mysqldump|-p[redacted]|db|", 1},
		{"sshpass|-p|abc|ssh|h|", "sshpass|-p|[redacted]|ssh|h|", 1},
		{"ssh|-p|22|h|", "ssh|-p|22|h|", 0},
		{"notmysql|-pabc|", "notmysql|-pabc|", 0},
		{"curl|-u|bob:a b|http://h|", "curl|-u|bob:[redacted]|http://h|", 1},
		{"curl|-u|bob|--user|x:y:z|-uc:d|", "curl|-u|bob|--user|x:[redacted]|-uc:[redacted]|", 2},
		{"curl|-u", "curl|-u", 0},
		{"redis-cli|-a|abc|-p|6379|", "redis-cli|-a|[redacted]|-p|6379|", 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		check(NULL, FR_REDACT_ARGS, &pairs[i]);
}

static void words_are_chosen(void **state)
{
	size_t at = 0;

	(void)state;
	check("internal-id,ssn", FR_REDACT_LINE,
	      &(struct pair){"InternalID=1 my_ssn=2 ssnx=3 token=4",
			     "InternalID=[redacted] my_ssn=[redacted] ssnx=3 token=[redacted]", 3});
	check("-token", FR_REDACT_LINE, &(struct pair){"token=1 secret_token=2", "token=1 secret_token=[redacted]", 1});
	check("no", FR_REDACT_LINE, &(struct pair){"token=1 http://a:b@c", "token=1 http://a:b@c", 0});
	check("x,NO", FR_REDACT_ARGS, &(struct pair){"token=1|", "token=1|", 0});
	assert_true(fr_redact_is_good(NULL, &at) && fr_redact_is_good("", &at) && fr_redact_is_good("no", &at));
	assert_true(fr_redact_is_good("api-key,-token,a.b_C9", &at));
	assert_false(fr_redact_is_good("abc,d*f", &at));
	assert_int_equal(at, 4);
	assert_false(fr_redact_is_good("a,,b", &at) || fr_redact_is_good("-", &at) || fr_redact_is_good("a b", &at));
}

/* Wherever it ends: nothing is read or written behind it, and no part of a secret comes before its key. */
static void room_is_kept(void **state)
{
	static const char text[] = "app --token abcdefgh http://bob:hunter2@h/ x";
	char whole[ROOM], *in, *out;
	u32 cnt = 0;
	size_t len = fr_redact(NULL, FR_REDACT_LINE, text, strlen(text), whole, sizeof(whole), &cnt), i;

	(void)state;
	for (i = 0; i <= len; i++) {
		out = malloc(i + 1);
		out[i] = 'Z';
		assert_int_equal(fr_redact(NULL, FR_REDACT_LINE, text, strlen(text), out, i, &cnt), i);
		assert_memory_equal(out, whole, i);
		assert_int_equal(out[i], 'Z');
		free(out);
	}
	for (i = 0; i <= strlen(text); i++) {
		in = malloc(i + 1);
		memcpy(in, text, i);
		out = malloc(ROOM);
		len = fr_redact(NULL, FR_REDACT_LINE, in, i, out, ROOM, &cnt);
		assert_null(memmem(out, len, "hunt", 4));
		assert_null(memmem(out, len, "abc", 3));
		free(in);
		free(out);
	}
}

/* Of a list of words those that add, in a list that may have some already. */
static void words_that_add(void **state)
{
	static const struct {
		const char *words, *want;
	} cases[] = {
		{NULL, ""},
		{"no", ""},
		{"NO", ""},
		{"-token", ""},
		{"x", "x"},
		{"x,no", "x"},
		{"no,x,-token,y", "x,y"},
		{"-token,nobody", "nobody"},
	};
	struct fr_vec to = {.item_sz = 1};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		to.cnt = 0;
		assert_int_equal(fr_redact_adds(cases[i].words, &to), 0);
		assert_int_equal(to.cnt, strlen(cases[i].want));
		assert_memory_equal(to.cnt ? to.at : "", cases[i].want, to.cnt);
	}
	to.cnt = 0;
	assert_int_equal(fr_redact_adds("a,b", &to) ?: fr_redact_adds("-c", &to) ?: fr_redact_adds("d", &to), 0);
	assert_int_equal(to.cnt, 5);
	assert_memory_equal(to.at, "a,b,d", 5);
	fr_vec_free(&to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_redacted),	  cmocka_unit_test(addresses_are_redacted),
		cmocka_unit_test(arguments_are_redacted), cmocka_unit_test(words_are_chosen),
		cmocka_unit_test(room_is_kept),		  cmocka_unit_test(words_that_add),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
