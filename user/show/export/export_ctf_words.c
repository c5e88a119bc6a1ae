/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/export/export_ctf_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/hash.h"
#include "base/set/hashed.h"
#include "base/set/vec.h"
#include "show/export/export_ctf.h"

struct ctf_word {
	u32 class, field;
	u64 value;
	char *text; /* NULL: it has none */
};

struct fr_ctf_words {
	struct ctf_word *word;
	u32 cnt;
	struct fr_hashed by_value;
	bool is_sorted; /* and by_value is of no use */
};

struct fr_ctf_words *fr_ctf_words_new(void)
{
	return calloc(1, sizeof(struct fr_ctf_words));
}

void fr_ctf_words_free(struct fr_ctf_words *w)
{
	u32 i;

	for (i = 0; w && i < w->cnt; i++)
		free(w->word[i].text);
	if (w) {
		free(w->word);
		free(w->by_value.slot);
	}
	free(w);
}

static u64 ctf_word_hash(const struct ctf_word *key)
{
	u64 hash = fr_hash(FR_HASH_SEED, &key->value, sizeof(key->value));

	hash = fr_hash(hash, &key->class, sizeof(key->class));
	return fr_hash(hash, &key->field, sizeof(key->field));
}

static bool ctf_word_is(const void *of, u32 nr, const void *key)
{
	const struct fr_ctf_words *w = of;
	const struct ctf_word *k = key, *one = &w->word[nr - 1];

	return one->value == k->value && one->class == k->class && one->field == k->field;
}

bool fr_ctf_words_want(const struct fr_ctf_words *w, u32 class, u32 field, u64 value)
{
	const struct ctf_word key = {.class = class, .field = field, .value = value};

	return w->cnt < FR_CTF_WORD_MAX && !fr_hashed_find(&w->by_value, ctf_word_hash(&key), ctf_word_is, w, &key);
}

/* Without one of its bytes it would be another value's word, or none. */
static bool ctf_word_may_be_label(const char *word, size_t sz)
{
	size_t i;

	for (i = 0; i < sz && fr_ctf_may_quote(word[i]); i++)
		;
	return sz && i == sz;
}

int fr_ctf_words_add(struct fr_ctf_words *w, u32 class, u32 field, u64 value, const char *word, size_t sz)
{
	struct ctf_word key = {.class = class, .field = field, .value = value};
	u32 *nr = fr_vec_more(&w->word, w->cnt) ? fr_hashed_at(&w->by_value, ctf_word_hash(&key), ctf_word_is, w, &key) : NULL;

	if (!nr)
		return -ENOMEM;
	key.text = ctf_word_may_be_label(word, sz) ? strndup(word, sz) : NULL;
	if (ctf_word_may_be_label(word, sz) && !key.text)
		return -ENOMEM;
	w->word[w->cnt++] = key;
	*nr = w->cnt;
	return 0;
}

/* ---- the metadata ---- */

static int ctf_word_by_field(const void *a, const void *b)
{
	const struct ctf_word *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->field != y->field)
		return x->field < y->field ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void ctf_words_sort(struct fr_ctf_words *w)
{
	if (w->cnt && !w->is_sorted)
		qsort(w->word, w->cnt, sizeof(*w->word), ctf_word_by_field);
	w->is_sorted = true;
}

/* The first of a field, or where it would be. */
static u32 ctf_words_first(const struct fr_ctf_words *w, u32 class, u32 field)
{
	const struct ctf_word key = {.class = class, .field = field};
	u32 from = 0, end = w->cnt;

	while (from < end) {
		u32 mid = from + (end - from) / 2;

		if (ctf_word_by_field(&w->word[mid], &key) < 0)
			from = mid + 1;
		else
			end = mid;
	}
	return from;
}

void fr_ctf_words_put(struct fr_ctf_words *w, FILE *f, u32 class, u32 field, const char *type, bool is_signed)
{
	u32 first, end, i;
	bool has_any = false, is_next = false;

	ctf_words_sort(w);
	first = ctf_words_first(w, class, field);
	for (end = first; end < w->cnt && w->word[end].class == class && w->word[end].field == field; end++)
		has_any |= w->word[end].text != NULL;
	if (!has_any) {
		fputs(type, f);
		return;
	}
	fprintf(f, "enum : %s {", type);
	for (i = first; i < end; i++) {
		const char *text = w->word[i].text;

		if (!text && !w->word[i].value)
			text = "0"; /* no flag at all is not unknown */

		if (!text)
			continue;
		fputs(is_next ? ", \"" : " \"", f);
		fr_ctf_put_quoted(f, text);
		fprintf(f, is_signed ? "\" = %lld" : "\" = %llu", w->word[i].value);
		is_next = true;
	}
	fputs(" }", f);
}
