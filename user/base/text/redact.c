/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/redact.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define KEY_MAX	   128u /* of a longer one, its end */
#define SHORT_WORD 4u	/* up to so many letters */
#define BEARER_MIN 16u	/* a word behind "Bearer" that is as long is no prose */

struct redacting {
	const char *words;
	enum fr_redact_form form;
	const char *text;
	size_t sz, at;
	char *out;
	size_t room, len;
	u32 cnt;
	bool is_cut; /* not all had room */
};

/* ---- words ---- */

/* The next item of a list at *list, which moves behind it; false at its end. */
static bool redact_next_word(const char **list, const char **word, size_t *len)
{
	if (!*list || !**list)
		return false;
	*word = *list;
	*len = strcspn(*list, ",");
	*list += *len + ((*word)[*len] == ',');
	return true;
}

static bool is_joint(char c)
{
	return c == '-' || c == '_' || c == '.';
}

/* Lower case, without - _ and dots; the end of what is longer. */
static size_t plain_name(const char *name, size_t len, char plain[KEY_MAX])
{
	size_t n = 0, i;

	for (i = len > KEY_MAX ? len - KEY_MAX : 0; i < len; i++)
		if (!is_joint(name[i]))
			plain[n++] = tolower((unsigned char)name[i]);
	return n;
}

static bool is_same(const char *a, size_t a_len, const char *b, size_t b_len)
{
	char x[KEY_MAX], y[KEY_MAX];
	size_t n = plain_name(a, a_len, x);

	return n == plain_name(b, b_len, y) && !memcmp(x, y, n);
}

static bool is_taken_out(const char *words, const char *word, size_t len)
{
	const char *item;
	size_t n;

	while (redact_next_word(&words, &item, &n))
		if (n > 1 && *item == '-' && is_same(item + 1, n - 1, word, len))
			return true;
	return false;
}

static bool redact_is_no(const char *item, size_t len)
{
	return len == 2 && !strncasecmp(item, "no", 2);
}

static bool redact_off(const char *words)
{
	const char *item;
	size_t n;

	while (redact_next_word(&words, &item, &n))
		if (redact_is_no(item, n))
			return true;
	return false;
}

static bool key_has(const char *key, size_t key_len, const char *word, size_t len)
{
	char plain[KEY_MAX];
	size_t n = plain_name(word, len, plain);

	if (!n || n > key_len)
		return false;
	if (n <= SHORT_WORD)
		return !memcmp(key + key_len - n, plain, n);
	return memmem(key, key_len, plain, n);
}

static bool any_word(const char *list, const char *words, const char *key, size_t key_len)
{
	const char *item;
	size_t n;

	while (redact_next_word(&list, &item, &n))
		if (*item != '-' && key_has(key, key_len, item, n) && !is_taken_out(words, item, n))
			return true;
	return false;
}

static bool is_secret(const struct redacting *r, const char *name, size_t len)
{
	char key[KEY_MAX];
	size_t n = plain_name(name, len, key);

	return any_word(FR_REDACT_WORDS, r->words, key, n) || any_word(r->words, r->words, key, n);
}

bool fr_redact_is_good(const char *words, size_t *at)
{
	const char *list = words, *item;
	size_t n, i;

	while (redact_next_word(&list, &item, &n)) {
		i = *item == '-';
		*at = item - words;
		if (i == n || n > KEY_MAX)
			return false;
		for (; i < n; i++)
			if (!isalnum((unsigned char)item[i]) && !is_joint(item[i]))
				return false;
	}
	return true;
}

int fr_redact_adds(const char *words, struct fr_vec *to)
{
	const char *item;
	size_t n;
	int err = 0;

	while (!err && redact_next_word(&words, &item, &n)) {
		if (!n || *item == '-' || redact_is_no(item, n))
			continue;
		err = to->cnt ? fr_vec_add(to, ",", 1) : 0;
		err = err ?: fr_vec_add(to, item, n);
	}
	return err;
}

/* ---- text ---- */

static char redact_at(const struct redacting *r, size_t at)
{
	return at < r->sz ? r->text[at] : 0;
}

static void redact_copy(struct redacting *r, const char *from, size_t n)
{
	r->is_cut |= n > r->room - r->len;
	if (n > r->room - r->len)
		n = r->room - r->len;
	memcpy(r->out + r->len, from, n);
	r->len += n;
}

static void redact_copy_to(struct redacting *r, size_t to)
{
	redact_copy(r, r->text + r->at, to - r->at);
	r->at = to;
}

/* Everything up to the value is kept. */
static void redact_hide(struct redacting *r, size_t from, size_t to)
{
	size_t sz = strlen(FR_REDACTED);
	bool was_cut;

	redact_copy_to(r, from);
	if (to == from || (to - from == sz && !memcmp(r->text + from, FR_REDACTED, sz)))
		return;
	was_cut = r->is_cut;
	redact_copy(r, FR_REDACTED, sz);
	if (to == r->sz) /* then that is all that is lost */
		r->is_cut = was_cut;
	r->at = to;
	r->cnt++;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || is_joint(c);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

/* Ends an argument, or a line. */
static bool is_end(const struct redacting *r, size_t at)
{
	return at >= r->sz || !r->text[at] || (r->form == FR_REDACT_LINE && r->text[at] == '\n');
}

static size_t end_of_arg(const struct redacting *r, size_t at)
{
	while (!is_end(r, at))
		at++;
	return at;
}

/* The end of a word of a text, or of a value in a query. */
static size_t end_of_word(const struct redacting *r, size_t at)
{
	while (!is_end(r, at) && !isspace((unsigned char)r->text[at]) && !strchr("&;\"'`", r->text[at]))
		at++;
	return at;
}

/* Is what stands before it, but for the scheme of an address, nothing of its argument? */
static bool redact_is_whole(const struct redacting *r, size_t at)
{
	while (at && (is_name_char(r->text[at - 1]) || r->text[at - 1] == '+'))
		at--;
	return !at || !r->text[at - 1];
}

/* Of an address; what it has unencoded is more likely a part of a password than its end. */
static size_t end_of_address(const struct redacting *r, size_t at)
{
	if (r->form == FR_REDACT_ARGS && redact_is_whole(r, at - 3))
		return end_of_arg(r, at);
	while (!is_end(r, at) && !isspace((unsigned char)r->text[at]) && !strchr("\"'`<>", r->text[at]))
		at++;
	return at;
}

static size_t skip_blanks(const struct redacting *r, size_t at)
{
	while (is_blank(redact_at(r, at)))
		at++;
	return at;
}

/*
 * Behind an opening quote, which backslashes may precede where text is quoted in text: the quote that ends it has as many, and
 * what has more is within. Without one it goes on to the end of the argument.
 */
static size_t end_of_quoted(const struct redacting *r, size_t at, char quote, size_t slashes)
{
	size_t n = 0;

	for (; !is_end(r, at); at++) {
		if (r->text[at] == quote && n == slashes)
			return at - slashes;
		n = r->text[at] == '\\' ? n + 1 : 0;
	}
	return at;
}

/* ---- values ---- */

/* Behind what a list or an object begins with, up to its end; what is in quotes ends nothing. */
static size_t end_of_brackets(const struct redacting *r, size_t at)
{
	size_t depth = 0, n = 0, to;

	for (; !is_end(r, at); at++) {
		char c = r->text[at];

		if (c == '"') {
			to = end_of_quoted(r, at + 1, c, n);
			if (is_end(r, to))
				return to;
			at = to + n;
			n = 0;
			continue;
		}
		n = c == '\\' ? n + 1 : 0;
		depth += c == '[' || c == '{';
		depth -= c == ']' || c == '}';
		if (!depth)
			return at + 1;
	}
	return at;
}

/* Is there an opening quote of that kind before the place, in its argument or line, and not its end? */
static bool redact_is_within(const struct redacting *r, size_t at, char quote)
{
	bool is_open = false;

	while (at && !is_end(r, at - 1))
		is_open ^= r->text[--at] == quote;
	return is_open;
}

/* Behind a part of a value: shells join abc"def"'ghi', SQL has 'it''s'. key: where what the value belongs to begins. */
static size_t end_of_parts(const struct redacting *r, size_t at, size_t key)
{
	char quote = redact_at(r, at);

	while (is_quote(quote) && !redact_is_within(r, key, quote)) {
		at = end_of_quoted(r, at + 1, quote, 0);
		at = end_of_word(r, at + !is_end(r, at));
		quote = redact_at(r, at);
	}
	return at;
}

/* "Bearer abc": a word that says of what kind the next one is. */
static bool is_scheme(const char *word, size_t len)
{
	static const char *const schemes[] = {"bearer", "basic", "digest", "token", "negotiate", "ntlm", "apikey"};
	size_t i;

	for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (len == strlen(schemes[i]) && !strncasecmp(word, schemes[i], len))
			return true;
	return false;
}

/* Of a header the value is the rest of it, up to the quote around all. */
static size_t end_of_header(const struct redacting *r, size_t at)
{
	while (!is_end(r, at) && !is_quote(r->text[at]))
		at++;
	return at;
}

static bool is_header(const char *name, size_t len)
{
	char plain[KEY_MAX];
	size_t n = plain_name(name, len, plain);

	return memmem(plain, n, "authorization", 13) || memmem(plain, n, "cookie", 6);
}

/* Behind the quote that ends a part: does another one follow? */
static bool redact_is_joined(char c)
{
	return is_quote(c) || isalnum((unsigned char)c) || c == '$' || c == '_';
}

static size_t end_of_rest(const struct redacting *r, size_t at)
{
	return redact_is_joined(redact_at(r, at)) ? end_of_word(r, at) : at;
}

static void hide_value(struct redacting *r, size_t from, const char *name, size_t len)
{
	size_t slashes = 0, key = name - r->text, to, all;

	while (redact_at(r, from + slashes) == '\\')
		slashes++;
	if (is_quote(redact_at(r, from + slashes))) {
		to = end_of_quoted(r, from + slashes + 1, r->text[from + slashes], slashes);
		all = slashes || is_end(r, to) ? to : end_of_parts(r, end_of_rest(r, to + 1), key);
		if (all > to + 1)
			redact_hide(r, from, all);
		else
			redact_hide(r, from + slashes + 1, to);
		return;
	}
	to = end_of_parts(r, end_of_word(r, from), key);
	if (is_header(name, len))
		to = end_of_header(r, from);
	else if (redact_at(r, from) == '[' || redact_at(r, from) == '{')
		to = end_of_rest(r, end_of_brackets(r, from));
	else if (is_scheme(r->text + from, to - from) && is_blank(redact_at(r, to)))
		to = end_of_word(r, skip_blanks(r, to));
	redact_hide(r, from, to);
}

/* Behind a terminal's colour, as logs that are made for people have between key and value. */
static size_t skip_colour(const struct redacting *r, size_t at)
{
	size_t p = at + 2;

	if (redact_at(r, at) != '\33' || redact_at(r, at + 1) != '[')
		return at;
	while (isdigit((unsigned char)redact_at(r, p)) || redact_at(r, p) == ';')
		p++;
	return redact_at(r, p) == 'm' ? p + 1 : at;
}

/* Is it one of these characters, plain or as an address has it? How many bytes, 0: no. */
static size_t is_char_of(const struct redacting *r, size_t at, const char *chars)
{
	char c = redact_at(r, at);
	unsigned int code;

	if (c && strchr(chars, c))
		return 1;
	if (c != '%' || r->sz - at < 3 || sscanf((char[]){r->text[at + 1], r->text[at + 2], 0}, "%2x", &code) != 1)
		return 0;
	return code && code < 128 && strchr(chars, (int)code) ? 3 : 0;
}

/* Between a key and its value: at is moved behind it. */
static bool pass_separator(const struct redacting *r, size_t *at)
{
	size_t p = *at, i, n;

	for (i = 0; i < 4 && (n = is_char_of(r, p, "\"'`\\]")); i++)
		p += n;
	p = skip_blanks(r, skip_colour(r, p));
	if (!is_char_of(r, p, "=:"))
		return false;
	if (r->sz - p >= 3 && !memcmp(r->text + p, "://", 3))
		return false;
	while ((n = is_char_of(r, p, "=:>")))
		p += n;
	*at = skip_blanks(r, p);
	return true;
}

/* Is a name at the beginning of an argument, or of what an option's is: PASSWORD=abc, --env=PASSWORD=abc? */
static bool redact_is_first(const struct redacting *r, size_t at)
{
	bool is_value = at && r->text[at - 1] == '=';

	at -= is_value;
	while (is_value && at && is_name_char(r->text[at - 1]))
		at--;
	return (!at || !r->text[at - 1]) && (!is_value || r->text[at] == '-');
}

/* The argument behind an option, unless that is one, too. */
static void hide_next(struct redacting *r, size_t at, const char *name, size_t len)
{
	size_t from = r->form == FR_REDACT_ARGS && !redact_at(r, at) ? at + 1 : skip_blanks(r, at);

	if (from <= at || from >= r->sz || r->text[from] == '-')
		return;
	if (redact_at(r, at))
		hide_value(r, from, name, len);
	else
		redact_hide(r, from, end_of_arg(r, from));
}

/* <password>abc</password>, <a:password b="c">abc: is the name, from r->at on, a tag's? Then what stands behind it is hidden.
 */
static bool hide_tagged(struct redacting *r, size_t len)
{
	size_t begin = r->at, at = begin + len, to;

	if (begin && r->text[begin - 1] == ':')
		while (--begin && is_name_char(r->text[begin - 1]))
			;
	if (!begin || r->text[begin - 1] != '<')
		return false;
	while (!is_end(r, at) && r->text[at] != '>' && r->text[at] != '<')
		at++;
	if (redact_at(r, at) != '>' || r->text[at - 1] == '/')
		return false;
	for (to = ++at; to < r->sz && r->text[to] && r->text[to] != '<';)
		to++;
	redact_hide(r, at, to);
	return true;
}

/* Name, from r->at on, is a secret key: hide its value, if there is one. */
static void hide_value_of(struct redacting *r, size_t len)
{
	const char *name = r->text + r->at;
	size_t begin = r->at, at = begin + len;
	bool is_begin = r->form == FR_REDACT_ARGS && redact_is_first(r, begin);

	if (hide_tagged(r, len))
		return;
	if (pass_separator(r, &at)) {
		if (is_begin)
			redact_hide(r, at, end_of_arg(r, at));
		else
			hide_value(r, at, name, len);
		return;
	}
	if (*name == '-')
		hide_next(r, at, name, len);
	else if (is_blank(redact_at(r, at)) && is_quote(redact_at(r, skip_blanks(r, at))))
		hide_value(r, skip_blanks(r, at), name, len); /* PASSWORD 'abc' */
}

/* A name of any key. */
static void take_name(struct redacting *r)
{
	size_t end = r->at, len, from;

	while (is_name_char(redact_at(r, end)))
		end++;
	len = end - r->at;
	if (is_secret(r, r->text + r->at, len)) {
		hide_value_of(r, len);
	} else if (len == 6 && !strncasecmp(r->text + r->at, "bearer", 6) && is_blank(redact_at(r, end))) {
		from = skip_blanks(r, end);
		if (end_of_word(r, from) - from >= BEARER_MIN)
			redact_hide(r, from, end_of_word(r, from));
	}
	if (r->at < end)
		redact_copy_to(r, end);
}

/* ---- addresses ---- */

static bool ends_in(const struct redacting *r, const char *word)
{
	size_t n = strlen(word);

	return r->at >= n && !strncasecmp(r->text + r->at - n, word, n);
}

static bool is_port(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* The last @ in [from, to), or to. */
static size_t redact_last_at(const struct redacting *r, size_t from, size_t to)
{
	const char *p = memrchr(r->text + from, '@', to - from);

	return p ? (size_t)(p - r->text) : to;
}

/*
 * Behind "://": user:password@host. A password with a slash that nobody has encoded is one, too: then what follows the colon is
 * no port. Of http a user alone is a token.
 */
static void redact_take_address(struct redacting *r)
{
	bool is_web = ends_in(r, "http") || ends_in(r, "https");
	size_t from = r->at + 3, to = from, all, at;
	const char *colon;

	redact_copy_to(r, from);
	all = end_of_address(r, from);
	while (to < all && !strchr("/?#", r->text[to]))
		to++;
	at = redact_last_at(r, from, to);
	colon = memchr(r->text + from, ':', to - from);
	if (at == to && colon && *(r->text + from) != '[' && !is_port(colon + 1, r->text + to - colon - 1)) {
		to = all;
		at = redact_last_at(r, from, all);
		at = at == all && all < r->sz ? from : at; /* no @ at all; but the text's own end may have cut it off */
	} else if (at == to) {
		return;
	}
	if (colon && (size_t)(colon + 1 - r->text) <= at)
		redact_hide(r, colon + 1 - r->text, at);
	else if (is_web && at < to)
		redact_hide(r, from, at);
}

/* ---- private keys ---- */

#define PEM_BEGIN "-----BEGIN "
#define PEM_KEY	  "PRIVATE KEY-----"
#define PEM_END	  "-----END "

static bool redact_has_at(const struct redacting *r, size_t at, const char *word)
{
	return r->sz - at >= strlen(word) && !memcmp(r->text + at, word, strlen(word));
}

/* At the beginning of a private key, as files have it: hide it up to its end, or that of the text. */
static bool redact_take_key(struct redacting *r)
{
	size_t from = r->at + strlen(PEM_BEGIN), to;

	while (from < r->sz && (isupper((unsigned char)r->text[from]) || r->text[from] == ' ') &&
	       !redact_has_at(r, from, PEM_KEY))
		from++;
	if (!redact_has_at(r, from, PEM_KEY))
		return false;
	from += strlen(PEM_KEY);
	for (to = from; to < r->sz && !redact_has_at(r, to, PEM_END);)
		to++;
	redact_hide(r, from, to);
	return true;
}

/* ---- options whose names tell nothing ---- */

/* Of programs that many have: the value stands in the option itself, in the next argument, or in either. */
static const struct redact_option {
	const char *option, *programs;
	bool is_joined, is_next;
	bool has_user; /* USER:PASSWORD */
} redact_options[] = {
	{"-p", "mysql mysqldump mysqladmin mysqlimport mysqlcheck mariadb mariadb-dump mariadb-admin 7z 7za", true, false,
	 false},
	{"-p", "sshpass", true, true, false},
	{"-p", "mongo mongosh mongodump mongorestore rabbitmqadmin", false, true, false},
	{"-a", "redis-cli", false, true, false},
	{"-w", "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami", true, true, false},
	{"-P", "zip unzip", false, true, false},
	{"-k", "openssl", false, true, false},
	{"-u", "curl", true, true, true},
	{"-U", "curl", true, true, true},
	{"--user", "curl", false, true, true},
	{"--proxy-user", "curl", false, true, true},
};

/* Is one of these programs, perhaps by its path, among the arguments before the place? sudo and the like run others. */
static bool redact_is_run(const struct redacting *r, size_t at, const char *programs)
{
	size_t from, to, slash, len;
	const char *p;

	for (from = 0; from < at; from = to + 1) {
		to = end_of_arg(r, from);
		for (slash = to; slash > from && r->text[slash - 1] != '/';)
			slash--;
		for (p = programs; *p; p += len + (p[len] == ' ')) {
			len = strcspn(p, " ");
			if (len == to - slash && !memcmp(p, r->text + slash, len))
				return true;
		}
	}
	return false;
}

static bool redact_take_option(struct redacting *r)
{
	size_t i, from, to;
	const char *colon;

	for (i = 0; i < sizeof(redact_options) / sizeof(redact_options[0]); i++) {
		const struct redact_option *o = &redact_options[i];
		bool is_next;

		if (!redact_has_at(r, r->at, o->option))
			continue;
		from = r->at + strlen(o->option);
		is_next = !redact_at(r, from);
		from += is_next;
		if (!(is_next ? o->is_next : o->is_joined) || from >= r->sz || !redact_is_run(r, r->at, o->programs))
			continue;
		to = end_of_arg(r, from);
		colon = o->has_user ? memchr(r->text + from, ':', to - from) : r->text + from - 1;
		if (!colon)
			continue;
		redact_hide(r, colon + 1 - r->text, to);
		return r->at == to;
	}
	return false;
}

/* ---- all ---- */

/* A value stands behind its key and one of these. */
bool fr_redact_may_have(const char *text, size_t sz)
{
	return memchr(text, '=', sz) || memchr(text, ':', sz) || memchr(text, ' ', sz) || memchr(text, '\t', sz);
}

static void redact_all(struct redacting *r)
{
	if (redact_off(r->words)) {
		redact_copy_to(r, r->sz);
		return;
	}
	while (r->at < r->sz) {
		if (r->sz - r->at >= 3 && !memcmp(r->text + r->at, "://", 3))
			redact_take_address(r);
		else if (redact_has_at(r, r->at, PEM_BEGIN) && redact_take_key(r))
			continue;
		else if (r->form == FR_REDACT_ARGS && r->at && r->text[r->at] == '-' && !r->text[r->at - 1] &&
			 redact_take_option(r))
			continue;
		else if (is_name_char(r->text[r->at]))
			take_name(r);
		else
			redact_copy_to(r, r->at + 1);
	}
}

size_t fr_redact(const char *words, enum fr_redact_form form, const char *text, size_t sz, char *out, size_t room, u32 *cnt)
{
	struct redacting r = {.words = words, .form = form, .text = text, .sz = sz, .out = out, .room = room};

	redact_all(&r);
	*cnt += r.cnt;
	return r.len;
}

size_t fr_redact_within(const char *words, enum fr_redact_form form, const char *text, size_t sz, char *out, size_t room,
			u32 *cnt)
{
	struct redacting r = {.words = words, .form = form, .text = text, .sz = sz, .out = out, .room = room};
	const size_t dots = strlen(FR_REDACT_CUT);

	redact_all(&r);
	*cnt += r.cnt;
	if (r.is_cut)
		memset(out + (room < dots ? 0 : room - dots), '.', room < dots ? room : dots);
	return r.len;
}
