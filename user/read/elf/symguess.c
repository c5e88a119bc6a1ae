/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/elf/symguess.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/set/vec.h"
#include "read/elf/symfile.h"

#define GUESS_MAX  16384u
#define DIRS_MAX   64u	/* remembered as searched */
#define PROGRAM_SZ 512u /* of a path; longer ones are not looked beside */

struct guess {
	char *path;
	u8 build_id[FR_BUILD_ID_MAX_SZ];
	size_t build_id_sz;
	bool looked;
};

/* Directories already searched: /lib and /usr/lib are mostly the same. */
struct dirs {
	dev_t dev[DIRS_MAX];
	ino_t ino[DIRS_MAX];
	u32 cnt;
};

struct fr_symguess {
	const char *root;
	struct guess *guess;
	u32 cnt;
	bool has_libraries;
	int err; /* the first one of reading */
};

/* That it is not there, none, or not for us tells nothing: nothing need be there. */
static void symguess_note(struct fr_symguess *g, int err)
{
	bool is_failure = err && err != -ENOENT && err != -ENOTDIR && err != -EBADMSG && err != -ENAMETOOLONG &&
			  err != -EACCES && err != -EPERM && err != -ELOOP;

	if (is_failure && !g->err)
		g->err = err;
}

int fr_symguess_err(const struct fr_symguess *g)
{
	return g->err;
}

struct fr_symguess *fr_symguess_new(const char *root)
{
	struct fr_symguess *g = calloc(1, sizeof(*g));

	if (g)
		g->root = root;
	return g;
}

void fr_symguess_free(struct fr_symguess *g)
{
	u32 i;

	if (!g)
		return;
	for (i = 0; i < g->cnt; i++)
		free(g->guess[i].path);
	free(g->guess);
	free(g);
}

static bool symguess_has(const struct fr_symguess *g, const char *path, size_t len)
{
	u32 i;

	for (i = 0; i < g->cnt; i++) {
		if (!strncmp(g->guess[i].path, path, len) && !g->guess[i].path[len])
			return true;
	}
	return false;
}

static void symguess_put(struct fr_symguess *g, const char *path, size_t len)
{
	struct guess *to = fr_vec_more(&g->guess, g->cnt);

	if (to)
		*to = (struct guess){.path = strndup(path, len)};
	if (to && to->path)
		g->cnt++;
	else
		symguess_note(g, -ENOMEM);
}

void fr_symguess_add(struct fr_symguess *g, const char *path, size_t len)
{
	if (len && path[0] == '/' && !memchr(path, 0, len) && g->cnt < GUESS_MAX / 4 && !symguess_has(g, path, len))
		symguess_put(g, path, len);
}

/* ---- directories of libraries ---- */

static DIR *symguess_open_dir(struct fr_symguess *g, const char *dir)
{
	int fd = fr_symfile_dir(g->root, dir);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		symguess_note(g, fd < 0 ? fd : -errno);
	if (fd >= 0 && !d)
		close(fd);
	return d;
}

static struct dirent *symguess_next(struct fr_symguess *g, DIR *d)
{
	struct dirent *e;

	errno = 0;
	e = readdir(d);
	if (!e)
		symguess_note(g, -errno);
	return e;
}

static bool is_new(struct dirs *seen, DIR *d)
{
	struct stat st;
	u32 i;

	if (fstat(dirfd(d), &st))
		return true;
	for (i = 0; i < seen->cnt; i++)
		if (seen->dev[i] == st.st_dev && seen->ino[i] == st.st_ino)
			return false;
	if (seen->cnt < DIRS_MAX) {
		seen->dev[seen->cnt] = st.st_dev;
		seen->ino[seen->cnt++] = st.st_ino;
	}
	return true;
}

/* seen: directories not to search again, or NULL. */
static void add_files_of(struct fr_symguess *g, const char *dir, const char *part, struct dirs *seen)
{
	DIR *d = symguess_open_dir(g, dir);
	struct dirent *e;
	char path[512];

	if (d && seen && !is_new(seen, d)) {
		closedir(d);
		return;
	}
	while (d && (e = symguess_next(g, d)) && g->cnt < GUESS_MAX) {
		int len = snprintf(path, sizeof(path), "%s/%s", strcmp(dir, "/") ? dir : "", e->d_name);

		/* of a directory nothing is asked: its disk may not answer */
		if (e->d_type != DT_DIR && strstr(e->d_name, part) && len > 0 && len < (int)sizeof(path))
			symguess_put(g, path, len);
	}
	if (d)
		closedir(d);
}

void fr_symguess_add_dir(struct fr_symguess *g, const char *dir)
{
	add_files_of(g, dir, "", NULL);
}

/* A prefix with the libraries of many programs: below them nobody looks. */
static bool is_shared(const char *prefix)
{
	return !*prefix || !strcmp(prefix, "/usr") || !strcmp(prefix, "/usr/local");
}

/* What a program keeps in folders of its own, as lib/server/libjvm.so. */
static void add_files_below(struct fr_symguess *g, const char *dir, struct dirs *seen)
{
	DIR *d = symguess_open_dir(g, dir);
	struct dirent *e;
	char path[PROGRAM_SZ + NAME_MAX];

	while (d && (e = symguess_next(g, d)) && seen->cnt < DIRS_MAX) {
		if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < (int)sizeof(path))
			add_files_of(g, path, ".so", seen);
	}
	if (d)
		closedir(d);
}

/* Beside a program; of one in PREFIX/bin, in PREFIX/lib, too, and below it, if the prefix is its own. */
static void add_its_libraries(struct fr_symguess *g, const char *program, struct dirs *seen)
{
	static const char *const lib[] = {"lib", "lib64"};
	char dir[PROGRAM_SZ], path[PROGRAM_SZ + 8], *slash;
	u32 i;

	if (snprintf(dir, sizeof(dir), "%s", program) >= (int)sizeof(dir))
		return;
	*strrchr(dir, '/') = 0;
	add_files_of(g, *dir ? dir : "/", ".so", seen);
	slash = strrchr(dir, '/');
	if (!slash || (strcmp(slash, "/bin") && strcmp(slash, "/sbin")))
		return;
	*slash = 0;
	for (i = 0; i < sizeof(lib) / sizeof(lib[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, lib[i]);
		add_files_of(g, path, ".so", seen);
		if (!is_shared(dir))
			add_files_below(g, path, seen);
	}
}

/* Likewise where its path leads by links: /usr/bin/java is far from what it loads. */
static void add_libraries_of(struct fr_symguess *g, const char *program, struct dirs *seen)
{
	char real[PROGRAM_SZ];

	add_its_libraries(g, program, seen);
	if (!fr_symfile_real(g->root, program, real, sizeof(real)) && strcmp(real, program))
		add_its_libraries(g, real, seen);
}

/* Those of other machines too (symfs), in directories named by their triplet, as x86_64-linux-gnu. */
static void add_libraries(struct fr_symguess *g)
{
	static const char *const parent[] = {"/usr/lib", "/lib"};
	static const char *const dir[] = {"/usr/lib64", "/lib64", "/usr/lib", "/lib", "/usr/local/lib", "/usr/lib32", "/lib32"};
	struct dirs seen = {.cnt = 0};
	struct dirent *e;
	u32 programs = g->cnt, i;
	char path[512];
	DIR *d;

	g->has_libraries = true;
	for (i = 0; i < programs && seen.cnt < DIRS_MAX; i++)
		add_libraries_of(g, g->guess[i].path, &seen);
	for (i = 0; i < sizeof(dir) / sizeof(dir[0]); i++)
		add_files_of(g, dir[i], ".so", &seen);
	for (i = 0; i < sizeof(parent) / sizeof(parent[0]); i++) {
		d = symguess_open_dir(g, parent[i]);
		while (d && (e = symguess_next(g, d))) {
			int len = snprintf(path, sizeof(path), "%s/%s", parent[i], e->d_name);

			if (strstr(e->d_name, "-linux-") && len > 0 && len < (int)sizeof(path))
				add_files_of(g, path, ".so", &seen);
		}
		if (d)
			closedir(d);
	}
}

/* ---- look-up ---- */

static const char *find_from(struct fr_symguess *g, u32 first, const u8 *build_id, size_t sz)
{
	u32 i;

	for (i = first; i < g->cnt; i++) {
		struct guess *x = &g->guess[i];
		int err = 0;

		if (!x->looked)
			x->build_id_sz = fr_symfile_read_id(g->root, x->path, x->build_id, &err);
		symguess_note(g, err);
		x->looked = true;
		if (x->build_id_sz == sz && !memcmp(x->build_id, build_id, sz))
			return x->path;
	}
	return NULL;
}

const char *fr_symguess_find(struct fr_symguess *g, const u8 *build_id, size_t sz, bool libraries)
{
	const char *path = sz ? find_from(g, 0, build_id, sz) : NULL;
	u32 cnt = g->cnt;

	if (path || g->has_libraries || !sz || !libraries)
		return path;
	add_libraries(g);
	return find_from(g, cnt, build_id, sz);
}
