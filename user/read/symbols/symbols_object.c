/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/set/hash.h"
#include "base/set/vec.h"
#include "read/symbols/symbols_int.h"

/* ---- the table ---- */

struct object_key {
	const u8 *id;
	size_t id_sz; /* 0: by path */
	const char *path;
	bool gone;
};

static bool object_has_key(const void *of, u32 nr, const void *key)
{
	const struct fr_symobj *o = ((const struct fr_symobjs *)of)->obj[nr - 1];
	const struct object_key *k = key;

	if (o->want.build_id_sz != k->id_sz)
		return false;
	return k->id_sz ? !memcmp(o->want.build_id, k->id, k->id_sz) : o->want.gone == k->gone && !strcmp(o->label, k->path);
}

/* ---- an object ---- */

static void free_object(struct fr_symobj *o)
{
	if (!o)
		return;
	fr_symlines_close(o->lines);
	fr_symgot_drop(&o->got);
	free(o->id);
	free(o->label);
	free(o->no_path);
	free(o);
}

/* Only a real path is looked for: not [vdso], not anon_inode:, and none that leaves a root through "..". */
static bool is_path(const char *path)
{
	size_t len = strlen(path);

	return path[0] == '/' && path[1] != '/' && !strstr(path, "/../") && (len < 3 || strcmp(path + len - 3, "/.."));
}

int fr_symobj_set_path(struct fr_symobj *o, const char *path)
{
	char *label = NULL;

	if (path)
		label = strdup(path);
	else if (asprintf(&label, "[%s]", o->id) < 0)
		label = NULL;
	if (!label)
		return -ENOMEM;
	free(o->label);
	o->label = label;
	o->want.path = path && is_path(label) ? label : NULL;
	return 0;
}

static struct fr_symobj *new_object(const u8 *id, size_t id_sz, const char *path, bool gone)
{
	struct fr_symobj *o = calloc(1, sizeof(*o));
	char text[2 * FR_BUILD_ID_MAX_SZ + 1];

	if (!o)
		return NULL;
	o->first_off = ~0ull;
	memcpy(o->want.build_id, id, id_sz);
	o->want.build_id_sz = id_sz;
	o->want.gone = gone && !id_sz;
	fr_build_id_text(id, id_sz, text);
	o->id = id_sz ? strdup(text) : NULL;
	if ((o->id || !id_sz) && !fr_symobj_set_path(o, path))
		return o;
	free_object(o);
	return NULL;
}

static struct fr_symobj *object_get(struct fr_symobjs *o, const u8 *build_id, size_t build_id_sz, const char *path, bool gone)
{
	const struct object_key key = {build_id, build_id_sz, path, gone};
	u64 hash = build_id_sz ? fr_hash(FR_HASH_SEED, build_id, build_id_sz) : fr_hash(FR_HASH_SEED, path, strlen(path));
	u32 *nr = fr_hashed_at(&o->slots, hash, object_has_key, o, &key);
	struct fr_symobj **to, *x;

	if (nr && *nr) {
		x = o->obj[*nr - 1];
		if (path && !x->want.path && x->label[0] == '[' && fr_symobj_set_path(x, path))
			return NULL;
		return x;
	}
	to = nr ? fr_vec_more(&o->obj, o->cnt) : NULL;
	x = to ? new_object(build_id, build_id_sz, path, gone) : NULL;
	if (!x)
		return NULL;
	*to = x;
	*nr = ++o->cnt;
	return x;
}

struct fr_symobj *fr_symobjs_get(struct fr_symobjs *o, const u8 *build_id, size_t build_id_sz, const char *path, bool gone)
{
	struct fr_symobj *x;

	if (build_id_sz > FR_BUILD_ID_MAX_SZ || (!build_id_sz && !path))
		return NULL;
	x = object_get(o, build_id, build_id_sz, path, gone);
	o->no_memory |= !x;
	return x;
}

void fr_symobjs_free(struct fr_symobjs *o)
{
	u32 i;

	for (i = 0; i < o->cnt; i++)
		free_object(o->obj[i]);
	free(o->obj);
	free(o->slots.slot);
	*o = (struct fr_symobjs){0};
}

const char *fr_symobj_id_label(struct fr_symobj *o)
{
	if (!o->no_path && (!o->id || asprintf(&o->no_path, "[%s]", o->id) < 0))
		o->no_path = NULL;
	return o->no_path ?: o->label;
}

/* ---- its files ---- */

void fr_symobj_look(struct fr_symobj *o, struct fr_symfind *find)
{
	if (o->looked)
		return;
	o->looked = true;
	fr_symfind(find, &o->want, &o->got);
	/* it may have been in what could not be read */
	if (o->guess_err && (o->got.why == FR_SYM_NO_FILE || o->got.why == FR_SYM_DIFFERS)) {
		o->got.why = FR_SYM_UNREAD;
		o->got.err = o->guess_err;
	}
}

bool fr_symobj_vaddr(const struct fr_symobj *o, u64 file_off, u64 *vaddr)
{
	if (o->got.code.file)
		return fr_symfile_vaddr(o->got.code.file, file_off, ~0ull, vaddr);
	return o->got.debug.file && fr_symfile_vaddr(o->got.debug.file, file_off, o->first_off, vaddr);
}

struct fr_symlines *fr_symobj_lines(struct fr_symobj *o)
{
	const struct fr_symplace *p = fr_symgot_funcs(&o->got);

	if (o->lines_looked || !p)
		return o->lines;
	o->lines_looked = true;
	if (fr_symfile_has_lines(p->file) && p->path)
		fr_symlines_open(p->root, p->path + (p->root ? strlen(p->root) : 0), &o->lines);
	return o->lines;
}

const char *fr_symobj_missing(const struct fr_symobj *o)
{
	static const char *const why[] = {
		[FR_SYM_FOUND] = NULL,
		[FR_SYM_STRIPPED] = "stripped",
		[FR_SYM_DIFFERS] = "build-id differs",
		[FR_SYM_NO_FILE] = "file not found",
	};

	return o->got.why == FR_SYM_UNREAD ? strerrordesc_np(-o->got.err) ?: "cannot be read" : why[o->got.why];
}
