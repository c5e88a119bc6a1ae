/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/pseudo.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/hashed.h"
#include "base/set/vec.h"
#include "base/text/container.h"
#include "base/text/digits.h"
#include "base/text/redact.h"

#define PSEUDO_TEXT_MAX 256u /* of a name of several words that is looked for in texts */
#define PSEUDO_UID_LEN	36u  /* of a pod, with four characters between its digits */

enum pseudo_what { PSEUDO_KEPT = 1, PSEUDO_KNOWN = 2, PSEUDO_USED = 4 };

struct pseudo_name {
	size_t at, len; /* in text */
	u8 what;
};

struct fr_pseudo {
	struct fr_alias_key key;
	const char *secrets;
	struct fr_hashed by_text;
	struct fr_vec name; /* struct pseudo_name */
	struct fr_vec text; /* of the names */
	struct fr_vec bare; /* scratch: the text without secrets */
	struct fr_vec out;  /* scratch: and without names */
	size_t odd_max;	    /* length of the longest known name of several words */
	u32 secret_cnt;
	u64 name_cnt;
};

/* A text on its way. Learning puts nothing. */
struct pseudo_walk {
	struct fr_pseudo *p;
	enum fr_pseudo_form form;
	const char *text;
	size_t len, at;
	bool learns;
	bool in_path;
	u32 depth;     /* components of the path so far */
	bool is_whole; /* the text is a path: blanks belong to it */
	u8 of_kernel;  /* the path leads where all names are the kernel's: enum pseudo_root */
};

enum pseudo_root { ROOT_NONE, ROOT_PROC, ROOT_DEV, ROOT_SYS };

/* Components that say nothing about who uses the machine. */
static const char *const pseudo_dirs[] = {
	"bin",
	"sbin",
	"lib",
	"lib32",
	"lib64",
	"libexec",
	"usr",
	"etc",
	"var",
	"proc",
	"sys",
	"dev",
	"tmp",
	"run",
	"home",
	"root",
	"opt",
	"srv",
	"mnt",
	"media",
	"boot",
	"local",
	"share",
	"include",
	"log",
	"cache",
	"spool",
	"lock",
	"cgroup",
	"unified",
	"systemd",
	"system",
	"user",
	"system.slice",
	"user.slice",
	"init.scope",
	"docker",
	"machine.slice",
	"kubepods",
	"kubepods.slice",
	"burstable",
	"besteffort",
	"modules",
	"shm",
	"mapper",
	"x86_64-linux-gnu",
	"aarch64-linux-gnu",
	"kubepods-burstable.slice",
	"kubepods-besteffort.slice",
};

/* What systemd and engines put around names and ids. */
static const char *const pseudo_ends[] = {".service", ".scope", ".slice", ".socket", ".mount", ".timer"};
static const char *const pseudo_heads[] = {
	"docker-", "crio-", "cri-containerd-", "libpod-", "kubepods-pod", "kubepods-burstable-pod", "kubepods-besteffort-pod",
	"pod"};

/* ---- the set of names ---- */

struct pseudo_piece {
	const char *text;
	size_t len;
};

static bool pseudo_has(const void *of, u32 nr, const void *key)
{
	const struct fr_pseudo *p = of;
	const struct pseudo_name *n = (const struct pseudo_name *)p->name.at + nr - 1;
	const struct pseudo_piece *piece = key;

	return n->len == piece->len && !memcmp((const char *)p->text.at + n->at, piece->text, n->len);
}

static struct pseudo_name *pseudo_find(const struct fr_pseudo *p, const char *text, size_t len)
{
	struct pseudo_piece piece = {text, len};
	u32 nr = fr_hashed_find(&p->by_text, fr_alias_hash(&p->key, text, len), pseudo_has, p, &piece);

	return nr ? (struct pseudo_name *)p->name.at + nr - 1 : NULL;
}

/* The name, which is added if it is not there. NULL: no memory. */
static struct pseudo_name *pseudo_get(struct fr_pseudo *p, const char *text, size_t len)
{
	struct pseudo_name *n = pseudo_find(p, text, len), new = {p->text.cnt, len, 0};
	struct pseudo_piece piece = {text, len};
	u32 *nr;

	if (n)
		return n;
	nr = fr_hashed_at(&p->by_text, fr_alias_hash(&p->key, text, len), pseudo_has, p, &piece);
	if (!nr || fr_vec_add(&p->text, text, len) || fr_vec_add(&p->name, &new, 1))
		return NULL;
	*nr = p->name.cnt;
	return (struct pseudo_name *)p->name.at + p->name.cnt - 1;
}

/* ---- characters and words ---- */

static bool pseudo_is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Does it belong to a word? */
static bool pseudo_is_word(char c)
{
	return pseudo_is_alnum(c) || (c && strchr("_-.+#%~", c)) || (u8)c >= 0x80;
}

static bool pseudo_is_one_of(const char *const *list, size_t cnt, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		if (strlen(list[i]) == len && !memcmp(list[i], text, len))
			return true;
	return false;
}

/* Digits, with a sign, points, a unit of up to two letters; or a hexadecimal number. An address, which has three points, is
 * none. */
static bool pseudo_is_number(const char *text, size_t len)
{
	size_t i = 0, digit_cnt = 0, letter_cnt = 0;

	if (len > 2 && text[0] == '0' && (text[1] | 32) == 'x') {
		for (i = 2; i < len; i++)
			if (fr_hex_digit(text[i]) < 0)
				return false;
		return true;
	}
	while (i < len && strchr("+-", text[i]))
		i++;
	for (; i < len && ((text[i] >= '0' && text[i] <= '9') || text[i] == '.' || text[i] == '%' || text[i] == '-'); i++)
		digit_cnt += text[i] != '.';
	for (; i < len && ((text[i] | 32) >= 'a' && (text[i] | 32) <= 'z'); i++)
		letter_cnt++;
	return i == len && letter_cnt <= 2 && (digit_cnt || !letter_cnt);
}

/* ---- what becomes of a piece ---- */

static int walk_emit(struct pseudo_walk *w, const char *text, size_t len)
{
	return w->learns ? 0 : fr_vec_add(&w->p->out, text, len);
}

/* Replace, or learn. */
static int walk_take_name(struct pseudo_walk *w, const char *text, size_t len)
{
	struct fr_pseudo *p = w->p;
	struct pseudo_name *n = len ? pseudo_get(p, text, len) : NULL;
	char alias[FR_ALIAS_LEN];
	size_t i;

	if (!len)
		return 0;
	if (!n)
		return -ENOMEM;
	if (n->what & PSEUDO_KEPT)
		return walk_emit(w, text, len);
	if (w->learns) {
		n->what |= PSEUDO_KNOWN;
		for (i = 0; i < len && pseudo_is_word(text[i]); i++)
			;
		if (i < len && len <= PSEUDO_TEXT_MAX && len > p->odd_max)
			p->odd_max = len;
		return 0;
	}
	p->name_cnt += !(n->what & PSEUDO_USED);
	n->what |= PSEUDO_USED;
	fr_alias_name(&p->key, text, len, alias);
	return walk_emit(w, alias, sizeof(alias));
}

/* Replace a piece that is as long as its alias, made in a copy. */
static int walk_take_hex(struct pseudo_walk *w, const char *text, size_t len)
{
	size_t at = w->p->out.cnt;
	struct pseudo_name *n;

	if (w->learns)
		return 0;
	n = pseudo_get(w->p, text, len);
	if (!n || walk_emit(w, text, len))
		return -ENOMEM;
	w->p->name_cnt += !(n->what & PSEUDO_USED);
	n->what |= PSEUDO_USED;
	fr_alias_hex(&w->p->key, (char *)w->p->out.at + at, len);
	return 0;
}

/* The hexadecimal digits of an id or a uid at text: how many characters; 0: neither. */
static size_t pseudo_id_len(const char *text, size_t len)
{
	size_t n;

	for (n = 0; n < len && n < FR_CONTAINER_ID_LEN + 1 && fr_hex_digit(text[n]) >= 0; n++)
		;
	if (n == FR_CONTAINER_ID_LEN || n == FR_CONTAINER_UID_BARE)
		return n;
	if (len < PSEUDO_UID_LEN || n != 8)
		return 0;
	for (n = 0; n < PSEUDO_UID_LEN; n++) {
		bool is_between = n == 8 || n == 13 || n == 18 || n == 23;

		if (is_between ? text[n] != '-' && text[n] != '_' : fr_hex_digit(text[n]) < 0)
			return 0;
	}
	return n < len && pseudo_is_alnum(text[n]) ? 0 : n;
}

/* A word or a component that is an id, with what engines put around it. *took: whether it is one. */
static int walk_take_id(struct pseudo_walk *w, const char *text, size_t len, bool *took)
{
	size_t head = 0, id, i, end;
	int err;

	id = pseudo_id_len(text, len);
	for (i = 0; !id && i < sizeof(pseudo_heads) / sizeof(pseudo_heads[0]); i++) {
		head = strlen(pseudo_heads[i]);
		if (len > head && !memcmp(text, pseudo_heads[i], head))
			id = pseudo_id_len(text + head, len - head);
	}
	head = id ? (pseudo_id_len(text, len) ? 0 : head) : 0;
	end = head + id;
	*took = id && (end == len ||
		       pseudo_is_one_of(pseudo_ends, sizeof(pseudo_ends) / sizeof(pseudo_ends[0]), text + end, len - end));
	if (!*took)
		return 0;
	err = walk_emit(w, text, head);
	err = err ?: walk_take_hex(w, text + head, id);
	return err ?: walk_emit(w, text + end, len - end);
}

/* The suffix that is no part of a name's own: how many bytes. */
static size_t pseudo_end_len(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(pseudo_ends) / sizeof(pseudo_ends[0]); i++) {
		size_t n = strlen(pseudo_ends[i]);

		if (len > n && !memcmp(text + len - n, pseudo_ends[i], n))
			return n;
	}
	return 0;
}

/* ---- paths ---- */

/* Note where the path leads: from its first and second component. */
static void walk_path_enter(struct pseudo_walk *w, const char *text, size_t len)
{
	static const char *const root[] = {[ROOT_PROC] = "proc", [ROOT_DEV] = "dev", [ROOT_SYS] = "sys"};
	u8 i;

	w->depth++;
	if (w->depth == 1)
		for (i = ROOT_PROC; i <= ROOT_SYS; i++)
			if (strlen(root[i]) == len && !memcmp(root[i], text, len))
				w->of_kernel = i;
	if (w->depth != 2)
		return;
	if (w->of_kernel == ROOT_SYS && len == 2 && !memcmp(text, "fs", 2))
		w->of_kernel = ROOT_NONE;
	if (w->of_kernel == ROOT_DEV && ((len == 3 && !memcmp(text, "shm", 3)) || (len == 6 && !memcmp(text, "mapper", 6)) ||
					 (len == 4 && !memcmp(text, "disk", 4)) || (len == 6 && !memcmp(text, "mqueue", 6))))
		w->of_kernel = ROOT_NONE;
}

static int walk_component(struct pseudo_walk *w, const char *text, size_t len)
{
	size_t end = pseudo_end_len(text, len);
	bool is_id;
	int err;

	walk_path_enter(w, text, len);
	if (w->of_kernel || pseudo_is_number(text, len) ||
	    pseudo_is_one_of(pseudo_dirs, sizeof(pseudo_dirs) / sizeof(pseudo_dirs[0]), text, len))
		return walk_emit(w, text, len);
	err = walk_take_id(w, text, len, &is_id);
	if (err || is_id)
		return err;
	err = walk_take_name(w, text, len - end);
	return err ?: walk_emit(w, text + len - end, end);
}

/* A path from here on, up to its end: what is not a word's character, or the text's end if it is a path as a whole. */
static int walk_path(struct pseudo_walk *w)
{
	int err = 0;

	w->depth = 0;
	w->of_kernel = ROOT_NONE;
	while (!err && w->at < w->len) {
		size_t from = w->at;

		if (w->text[from] == '/') {
			err = walk_emit(w, "/", 1);
			w->at++;
			continue;
		}
		while (w->at < w->len && w->text[w->at] != '/' && (w->is_whole || pseudo_is_word(w->text[w->at])))
			w->at++;
		if (w->at == from)
			break;
		err = walk_component(w, w->text + from, w->at - from);
	}
	return err;
}

/* ---- addresses ---- */

static int walk_emit_address(struct pseudo_walk *w, int family, u8 *address, size_t sz)
{
	char text[INET6_ADDRSTRLEN];
	struct pseudo_name *n;

	if (w->learns)
		return 0;
	n = pseudo_get(w->p, (char *)address, sz);
	if (!n)
		return -ENOMEM;
	w->p->name_cnt += !(n->what & PSEUDO_USED);
	n->what |= PSEUDO_USED;
	fr_alias_address(&w->p->key, address, sz);
	inet_ntop(family, address, text, sizeof(text));
	return walk_emit(w, text, strlen(text));
}

/* An address from here on: *took says whether there is one. */
static int walk_address(struct pseudo_walk *w, bool *took)
{
	const char *from = w->text + w->at;
	size_t len = 0, left = w->len - w->at;
	u8 address[FR_ALIAS_IP6];
	char text[INET6_ADDRSTRLEN + 1];
	int family = AF_INET;

	*took = false;
	while (len < left && (fr_hex_digit(from[len]) >= 0 || from[len] == '.' || from[len] == ':'))
		len++;
	/* what is no part of it: the point that ends a sentence, the colon before a port */
	for (; len > 2 && !*took; len--) {
		if (len >= sizeof(text) || (len < left && pseudo_is_alnum(from[len])))
			continue;
		memcpy(text, from, len);
		text[len] = 0;
		family = strchr(text, ':') ? AF_INET6 : AF_INET;
		*took = inet_pton(family, text, address) == 1;
		if (*took)
			break;
	}
	if (!*took)
		return 0;
	w->at += len;
	return walk_emit_address(w, family, address, family == AF_INET ? FR_ALIAS_IP4 : FR_ALIAS_IP6);
}

/* ---- words ---- */

/* Does a word go on there? Not at the point that ends a sentence. */
static bool walk_goes_on(const char *at, size_t left)
{
	return left && pseudo_is_word(at[-1]) && pseudo_is_word(at[0]) && (at[0] != '.' || (left > 1 && pseudo_is_word(at[1])));
}

/* A known name of several words that begins here: its length, the longest; 0: none. */
static size_t walk_odd(const struct pseudo_walk *w)
{
	size_t left = w->len - w->at, len = w->p->odd_max < left ? w->p->odd_max : left;
	const char *from = w->text + w->at;

	for (; len > 1; len--) {
		const struct pseudo_name *n;

		if (walk_goes_on(from + len, left - len))
			continue;
		n = pseudo_find(w->p, from, len);
		if (n && n->what & PSEUDO_KNOWN)
			return len;
	}
	return 0;
}

/* Is a word of a line replaced? */
static bool walk_is_name(const struct pseudo_walk *w, const char *text, size_t len)
{
	const struct pseudo_name *n;

	if (pseudo_is_number(text, len))
		return false;
	if (w->form == FR_PSEUDO_WORDS)
		return text[0] != '-';
	n = pseudo_find(w->p, text, len);
	return n && n->what & PSEUDO_KNOWN && len > 1;
}

/* A word from here on. Points at its end are a sentence's. */
static int walk_word(struct pseudo_walk *w)
{
	const char *from = w->text + w->at;
	size_t len = 0, end;
	bool is_id;
	int err;

	while (w->at + len < w->len && pseudo_is_word(from[len]))
		len++;
	w->at += len;
	for (end = len; end > 1 && from[end - 1] == '.'; end--)
		;
	err = walk_take_id(w, from, end, &is_id);
	if (!err && !is_id)
		err = walk_is_name(w, from, end) ? walk_take_name(w, from, end) : walk_emit(w, from, end);
	return err ?: walk_emit(w, from + end, len - end);
}

static int walk_line(struct pseudo_walk *w)
{
	size_t sz = strlen(FR_REDACTED), odd;
	int err = 0;

	while (!err && w->at < w->len) {
		const char *from = w->text + w->at;
		bool begins = !w->at || !pseudo_is_word(from[-1]), took = false;

		if (w->len - w->at >= sz && !memcmp(from, FR_REDACTED, sz)) {
			err = walk_emit(w, from, sz);
			w->at += sz;
			continue;
		}
		odd = begins && !w->learns ? walk_odd(w) : 0;
		if (odd) {
			err = walk_take_name(w, from, odd);
			w->at += odd;
			continue;
		}
		if (begins)
			err = walk_address(w, &took);
		if (err || took)
			continue;
		if (*from == '/' && begins) {
			err = walk_path(w);
		} else if (pseudo_is_word(*from)) {
			err = walk_word(w);
		} else {
			err = walk_emit(w, *from ? from : " ", 1);
			w->at++;
		}
	}
	return err;
}

static bool walk_is_at(const struct pseudo_walk *w, const char *text)
{
	size_t len = strlen(text);

	return w->len - w->at >= len && !memcmp(w->text + w->at, text, len);
}

/* "[memfd:x]": the name that a program chose. */
static int walk_memfd(struct pseudo_walk *w)
{
	size_t head = strlen("[memfd:"), end = w->len;
	int err = walk_emit(w, w->text, head);

	end -= end > head && w->text[end - 1] == ']';
	err = err ?: walk_take_name(w, w->text + head, end - head);
	return err ?: walk_emit(w, w->text + end, w->len - end);
}

/* "ext4:/x", "unix:@x", "tcp:...", "work:F", "[eventpoll]" (bpf/object.bpf.h) */
static int walk_object(struct pseudo_walk *w)
{
	bool is_unix = walk_is_at(w, "unix:");
	const char *colon = memchr(w->text, ':', w->len);
	int err;

	if (walk_is_at(w, "[memfd:"))
		return walk_memfd(w);
	if (walk_is_at(w, "[") || walk_is_at(w, "work:") || walk_is_at(w, "restart:"))
		return walk_emit(w, w->text, w->len);
	w->at = colon ? colon + 1 - w->text : 0;
	err = walk_emit(w, w->text, w->at);
	if (err || !(is_unix || walk_is_at(w, "/") || walk_is_at(w, "...")))
		return err ?: walk_line(w);
	w->is_whole = true;
	if (is_unix && walk_is_at(w, "@")) {
		err = walk_emit(w, "@", 1);
		w->at++;
	}
	return err ?: walk_path(w);
}

static int walk_all(struct pseudo_walk *w)
{
	switch (w->form) {
	case FR_PSEUDO_NAME:
		w->at = w->len;
		return pseudo_is_number(w->text, w->len) ? walk_emit(w, w->text, w->len) : walk_take_name(w, w->text, w->len);
	case FR_PSEUDO_PATH:
		w->is_whole = true;
		return walk_path(w);
	case FR_PSEUDO_OBJECT:
		return walk_object(w);
	default:
		return walk_line(w);
	}
}

/* ---- what others call ---- */

struct fr_pseudo *fr_pseudo_new(const struct fr_alias_key *key)
{
	struct fr_pseudo *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->key = *key;
	p->name.item_sz = sizeof(struct pseudo_name);
	p->text.item_sz = p->bare.item_sz = p->out.item_sz = 1;
	return p;
}

void fr_pseudo_free(struct fr_pseudo *p)
{
	if (!p)
		return;
	free(p->by_text.slot);
	fr_vec_free(&p->name);
	fr_vec_free(&p->text);
	fr_vec_free(&p->bare);
	fr_vec_free(&p->out);
	free(p);
}

void fr_pseudo_secrets(struct fr_pseudo *p, const char *words)
{
	p->secrets = words;
}

int fr_pseudo_keep(struct fr_pseudo *p, const char *text, size_t len)
{
	struct pseudo_name *n = len ? pseudo_get(p, text, len) : NULL;

	if (n)
		n->what |= PSEUDO_KEPT;
	return n || !len ? 0 : -ENOMEM;
}

/* The text without secrets, in p->bare. */
static int pseudo_redact(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text, size_t len, u32 *cnt)
{
	size_t room = len * (strlen(FR_REDACTED) + 1) + 1;

	p->bare.cnt = 0;
	if (!fr_vec_room(&p->bare, room))
		return -ENOMEM;
	if (form == FR_PSEUDO_NAME) {
		memcpy(p->bare.at, text, len);
		p->bare.cnt = len;
	} else {
		p->bare.cnt = fr_redact(p->secrets, FR_REDACT_LINE, text, len, p->bare.at, room, cnt);
	}
	return 0;
}

static int pseudo_walk(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text, size_t len, bool learns)
{
	struct pseudo_walk w = {.p = p, .form = form, .learns = learns};
	u32 cnt = 0;
	int err = pseudo_redact(p, form, text, len, learns ? &cnt : &p->secret_cnt);

	if (err)
		return err;
	p->out.cnt = 0;
	w.text = p->bare.at;
	w.len = p->bare.cnt;
	err = walk_all(&w);
	return err ?: fr_vec_add(&p->out, "", 1);
}

int fr_pseudo_learn(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text, size_t len)
{
	return pseudo_walk(p, form, text, len, true);
}

const char *fr_pseudo_put(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text, size_t len, size_t *sz)
{
	if (pseudo_walk(p, form, text, len, false))
		return NULL;
	*sz = p->out.cnt - 1;
	return p->out.at;
}

int fr_pseudo_put_in(struct fr_pseudo *p, enum fr_pseudo_form form, char *at, size_t room, bool ends)
{
	size_t sz;
	const char *text = fr_pseudo_put(p, form, at, strnlen(at, room), &sz);

	if (!text)
		return -ENOMEM;
	if (sz > room - ends)
		sz = room - ends;
	memcpy(at, text, sz);
	memset(at + sz, 0, room - sz);
	return 0;
}

void fr_pseudo_address(struct fr_pseudo *p, u8 *address, size_t sz)
{
	fr_alias_address(&p->key, address, sz);
}

u64 fr_pseudo_secret_cnt(const struct fr_pseudo *p)
{
	return p->secret_cnt;
}

u64 fr_pseudo_name_cnt(const struct fr_pseudo *p)
{
	return p->name_cnt;
}
