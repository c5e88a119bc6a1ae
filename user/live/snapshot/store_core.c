/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * store_core: the core file of the death that a snapshot is of.
 *
 * A core file is of one death, and a death has one core file: all pairs that may belong together are found first, and the
 * nearest in time are joined. All that a file's name says must be so; a name that says nothing of the process joins nothing.
 *
 * systemd-coredump names its files core.COMM.UID.BOOTID.PID.USEC[.zst|.lz4|.xz], with special bytes of the comm as \xNN. The
 * kernel names its own files by kernel.core_pattern: a glob with * for each specifier finds them, and then the pattern is
 * matched against the name, specifier by specifier. %p is the process's number in its own pid namespace, %P that in the first
 * one. A relative pattern names a file in the dead process's directory, which is no longer known.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "base/set/vec.h"
#include "base/text/escape.h"
#include "base/text/memfile.h"
#include "base/text/units.h"
#include "live/snapshot/store_int.h"
#include "sys/dir.h"

#define SYSTEMD_DIR "/var/lib/systemd/coredump"
#define BEFORE_NS   (2 * FR_SEC_NS)   /* a core file's time comes from a coarser clock, or is in whole seconds */
#define AFTER_NS    (600 * FR_SEC_NS) /* a large core file takes long to write */
#define DUMP_NS	    (30 * FR_SEC_NS)  /* the time in the name of systemd's file is that of the death */

/* How far real_ns is from the trigger, ~0: not within the window. */
static u64 store_core_distance(const struct fr_stored *f, u64 real_ns, u64 after_ns)
{
	if (real_ns + BEFORE_NS < f->real_ns || real_ns > f->real_ns + after_ns)
		return ~0ULL;
	return real_ns > f->real_ns ? real_ns - f->real_ns : f->real_ns - real_ns;
}

/* ---- systemd-coredump ---- */

struct dumped {
	char comm[64];
	char boot_id[33];
	u32 pid;
	s64 uid;
	u64 real_ns;
};

/* Cut the last ".PART" off text. NULL: there is none. */
static char *store_core_cut_last(char *text)
{
	char *dot = strrchr(text, '.');

	if (!dot)
		return NULL;
	*dot = 0;
	return dot + 1;
}

static bool store_core_take_number(const char *text, u64 *out)
{
	char *end;

	if (!text || !isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !errno && !*end;
}

static bool parse_dumped(const char *name, struct dumped *out)
{
	char buf[NAME_MAX + 1], *usec, *pid, *boot, *uid;
	u64 time_us, nr, user;

	if (strncmp(name, "core.", 5) || strlen(name) > NAME_MAX)
		return false;
	strcpy(buf, name + 5);
	usec = store_core_cut_last(buf);
	if (usec && (!strcmp(usec, "zst") || !strcmp(usec, "lz4") || !strcmp(usec, "xz")))
		usec = store_core_cut_last(buf);
	pid = store_core_cut_last(buf);
	boot = pid ? store_core_cut_last(buf) : NULL;
	uid = boot ? store_core_cut_last(buf) : NULL;
	if (!uid || !store_core_take_number(usec, &time_us) || !store_core_take_number(pid, &nr) ||
	    !store_core_take_number(uid, &user))
		return false;
	if (strlen(boot) != 32 || !nr || nr > ~0U || time_us > ~0ULL / 1000)
		return false;
	buf[fr_unescape(buf, strlen(buf))] = 0;
	snprintf(out->comm, sizeof(out->comm), "%.*s", (int)sizeof(out->comm) - 1, buf);
	strcpy(out->boot_id, boot);
	out->pid = nr;
	out->uid = user;
	out->real_ns = time_us * 1000;
	return true;
}

/* The same boot id, one written with dashes and one without? */
static bool same_boot(const char *with, const char *without)
{
	for (; *with; with++) {
		if (*with == '-')
			continue;
		if (tolower((unsigned char)*with) != tolower((unsigned char)*without++))
			return false;
	}
	return !*without;
}

/* ---- pairs that may belong together ---- */

struct pair {
	char *core;	/* path */
	size_t of;	/* snapshot */
	u64 far_ns;	/* in time */
	bool is_a_name; /* the name of the process was compared, and is the same */
};

struct pairs {
	struct pair *p;
	size_t cnt;
};

static int add_pair(struct pairs *l, const char *path, size_t of, u64 far_ns, bool is_a_name)
{
	struct pair *p = fr_vec_more(&l->p, l->cnt);

	if (!p)
		return -ENOMEM;
	*p = (struct pair){.core = strdup(path), .of = of, .far_ns = far_ns, .is_a_name = is_a_name};
	l->cnt += !!p->core;
	return p->core ? 0 : -ENOMEM;
}

/* Those of the same name first, then the nearest. */
static int by_likelihood(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->is_a_name != y->is_a_name)
		return x->is_a_name ? -1 : 1;
	if (x->far_ns != y->far_ns)
		return x->far_ns < y->far_ns ? -1 : 1;
	return x->of < y->of ? -1 : x->of > y->of;
}

static bool store_core_is_taken(const struct pairs *l, size_t until, const char *core)
{
	size_t i;

	for (i = 0; i < until; i++)
		if (!strcmp(l->p[i].core, core))
			return true;
	return false;
}

/* Give each death its core file, and each core file to one death; ends the pairs. */
static void join_pairs(struct fr_stored *list, struct pairs *l)
{
	size_t i, joined = 0;

	if (l->cnt)
		qsort(l->p, l->cnt, sizeof(*l->p), by_likelihood);
	for (i = 0; i < l->cnt; i++) {
		if (list[l->p[i].of].core || store_core_is_taken(l, joined, l->p[i].core)) {
			free(l->p[i].core);
			continue;
		}
		list[l->p[i].of].core = strdup(l->p[i].core);
		l->p[joined++] = l->p[i];
	}
	while (joined)
		free(l->p[--joined].core);
	free(l->p);
}

/*
 * systemd names the process's comm, but a thread may have its own: the names need not agree, since boot, process and the time
 * of the death do.
 */
static bool is_core_of(const struct fr_stored *f, const struct dumped *d)
{
	return f->pid == d->pid && (f->uid < 0 || f->uid == d->uid) && same_boot(f->boot_id, d->boot_id) &&
	       store_core_distance(f, d->real_ns, DUMP_NS) != ~0ULL;
}

/* Each core file is compared with each snapshot: systemd keeps only few core files. */
static int find_systemd(const struct fr_stored *list, size_t cnt, const char *dir_name, struct pairs *l)
{
	DIR *dir = opendir(dir_name);
	struct dirent *e;
	struct dumped d;
	char path[PATH_MAX];
	size_t i;
	int err = dir || errno == ENOENT ? 0 : -errno;

	while (dir && (e = fr_dir_next(dir, &err))) {
		if (!parse_dumped(e->d_name, &d) ||
		    snprintf(path, sizeof(path), "%s/%s", dir_name, e->d_name) >= (int)sizeof(path))
			continue;
		for (i = 0; i < cnt && !err; i++)
			if (is_core_of(&list[i], &d))
				err = add_pair(l, path, i, store_core_distance(&list[i], d.real_ns, DUMP_NS),
					       !strcmp(list[i].comm, d.comm));
	}
	if (dir)
		closedir(dir);
	return err;
}

/* ---- kernel.core_pattern ---- */

/* The pattern as a glob: * for each specifier. NULL: no memory. */
static char *make_glob(const struct fr_core_places *places)
{
	const char *p = places->pattern;
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);

	if (!f)
		return NULL;
	for (; *p; p++) {
		if (*p == '%' && p[1])
			fputs(*++p == '%' ? "%" : "*", f);
		else if (strchr("*?[]\\", *p))
			fprintf(f, "\\%c", *p);
		else
			fputc(*p, f);
	}
	if (places->uses_pid)
		fputc('*', f);
	return fr_memfile_end(&m, NULL);
}

/* What a name said, as far as it was matched. */
struct said {
	bool is_a_process; /* its number was in it, or its name and a time */
	bool is_a_name;
	u64 real_ns; /* %t; 0: not said */
};

struct name {
	const struct fr_stored *of;
	bool adds_pid; /* kernel.core_uses_pid, and the pattern has no number of a process */
};

static bool store_core_matches(const struct name *n, const char *pattern, const char *text, struct said *said);

/* text begins with what, in which the kernel wrote ! for each slash; of an unknown text (""), anything but a slash is right. */
static bool takes_text(const struct name *n, const char *pattern, const char *text, const char *what, struct said *said)
{
	size_t i;

	for (i = 0; *what && what[i]; i++)
		if (text[i] != (what[i] == '/' ? '!' : what[i]))
			return false;
	if (*what)
		return store_core_matches(n, pattern, text + i, said);
	for (i = 0;; i++) {
		if (store_core_matches(n, pattern, text + i, said))
			return true;
		if (!text[i] || text[i] == '/')
			return false;
	}
}

/* text begins with this number; what is unknown (-1) is any number. */
static bool takes_number(const struct name *n, const char *pattern, const char *text, s64 num, struct said *said)
{
	size_t digits = strspn(text, "0123456789"), i;
	u64 value = 0;

	for (i = 1; i <= digits && i < 20; i++) {
		value = value * 10 + (text[i - 1] - '0');
		if ((num < 0 || value == (u64)num) && store_core_matches(n, pattern, text + i, said))
			return true;
	}
	return false;
}

/* %t: the second in which it died. */
static bool takes_time(const struct name *n, const char *pattern, const char *text, struct said *said)
{
	char *end;
	u64 secs = strtoull(text, &end, 10);

	if (end == text || secs > ~0ULL / FR_SEC_NS || store_core_distance(n->of, secs * FR_SEC_NS, DUMP_NS) == ~0ULL)
		return false;
	said->real_ns = secs * FR_SEC_NS;
	return store_core_matches(n, pattern, end, said);
}

static s64 store_core_known(u32 num)
{
	return num ? (s64)num : -1;
}

static bool takes_specifier(const struct name *n, char c, const char *pattern, const char *text, struct said *said)
{
	const struct fr_stored *f = n->of;
	struct utsname un;

	switch (c) {
	case '%':
		return *text == '%' && store_core_matches(n, pattern, text + 1, said);
	case 'p':
	case 'P':
		said->is_a_process = true;
		return takes_number(n, pattern, text, store_core_known(c == 'P' ? f->pid : f->ns_pid), said);
	case 'I':
		return takes_number(n, pattern, text, store_core_known(f->tid), said);
	case 'u':
		return takes_number(n, pattern, text, f->uid, said);
	case 's':
		return takes_number(n, pattern, text, f->sig, said);
	case 'e':
		said->is_a_name = *f->comm;
		return takes_text(n, pattern, text, f->comm, said);
	case 'E':
		return takes_text(n, pattern, text, f->exe, said);
	case 'h':
		uname(&un);
		return takes_text(n, pattern, text, un.nodename, said);
	case 't':
		return takes_time(n, pattern, text, said);
	case 'c':
	case 'C':
	case 'd':
	case 'F':
	case 'g':
	case 'i':
		return takes_number(n, pattern, text, -1, said);
	default: /* %f, and what later kernels have */
		return takes_text(n, pattern, text, "", said);
	}
}

/* Is text what the kernel makes of the rest of the pattern for this death? */
static bool store_core_matches(const struct name *n, const char *pattern, const char *text, struct said *said)
{
	char suffix[16];

	for (; *pattern; pattern++, text++) {
		if (*pattern == '%' && pattern[1])
			return takes_specifier(n, pattern[1], pattern + 2, text, said);
		if (*pattern != *text)
			return false;
	}
	if (!n->adds_pid)
		return !*text;
	snprintf(suffix, sizeof(suffix), ".%u", n->of->ns_pid);
	said->is_a_process = true;
	return !strcmp(text, suffix);
}

/* The kernel looks for %p alone. */
static bool has_pid(const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern != '%' || !pattern[1])
			continue;
		if (*++pattern == 'p')
			return true;
	}
	return false;
}

/*
 * Why not all names were read, 0: they were. glob() takes an error of readdir() for the end of a directory, and gives its
 * functions no argument.
 */
static _Thread_local int unread_err;

static void note_unread(int err)
{
	if (!unread_err && err && err != -ENOENT && err != -ENOTDIR)
		unread_err = err;
}

static void *store_core_open_dir(const char *name)
{
	DIR *d = opendir(name);

	if (!d)
		note_unread(-errno);
	return d;
}

static struct dirent *store_core_next_entry(void *dir)
{
	int err = 0;
	struct dirent *e = fr_dir_next(dir, &err);

	note_unread(err);
	return e;
}

static void close_dir(void *dir)
{
	closedir(dir);
}

/* As glob(), of which no file is 0 names. 0 or -ENOMEM. */
static int store_core_find_names(const char *pattern, glob_t *g)
{
	int err;

	*g = (glob_t){
		.gl_opendir = store_core_open_dir,
		.gl_readdir = store_core_next_entry,
		.gl_closedir = close_dir,
		.gl_stat = stat,
		.gl_lstat = lstat,
	};
	err = glob(pattern, GLOB_NOSORT | GLOB_ALTDIRFUNC, NULL, g);
	return err == GLOB_NOSPACE ? -ENOMEM : 0;
}

/* How far from the death a core file was written, ~0: not within the window, or no regular file. */
static u64 core_distance(const char *path, const struct fr_stored *f, const struct said *said)
{
	struct stat st;
	u64 far_ns;

	if (lstat(path, &st)) {
		note_unread(-errno);
		return ~0ULL;
	}
	if (!S_ISREG(st.st_mode))
		return ~0ULL;
	far_ns = store_core_distance(f, st.st_mtim.tv_sec * FR_SEC_NS + st.st_mtim.tv_nsec, AFTER_NS);
	return far_ns == ~0ULL || !said->real_ns ? far_ns : store_core_distance(f, said->real_ns, DUMP_NS);
}

static int consider(const struct fr_stored *list, size_t of, const struct fr_core_places *places, const char *path,
		    struct pairs *l)
{
	struct name n = {.of = &list[of], .adds_pid = places->uses_pid && !has_pid(places->pattern)};
	struct said said = {};
	u64 far_ns;

	if (!store_core_matches(&n, places->pattern, path, &said) || !(said.is_a_process || (said.is_a_name && said.real_ns)))
		return 0;
	far_ns = core_distance(path, &list[of], &said);
	return far_ns == ~0ULL ? 0 : add_pair(l, path, of, far_ns, said.is_a_name);
}

static int find_pattern(const struct fr_stored *list, size_t cnt, const struct fr_core_places *places, struct pairs *l)
{
	char *pattern;
	size_t i, of;
	glob_t g;
	int err;

	if (!places->pattern || places->pattern[0] != '/')
		return 0;
	pattern = make_glob(places);
	if (!pattern)
		return -ENOMEM;
	unread_err = 0;
	err = store_core_find_names(pattern, &g);
	for (i = 0; i < g.gl_pathc; i++)
		for (of = 0; of < cnt && !err; of++)
			if (list[of].pid && list[of].sig)
				err = consider(list, of, places, g.gl_pathv[i], l);
	globfree(&g);
	free(pattern);
	if (unread_err)
		fr_warn_errno(unread_err, "cannot read all of %s (kernel.core_pattern): not all core files there are shown",
			      places->pattern);
	return err;
}

int fr_store_join(struct fr_stored *list, size_t cnt, const struct fr_core_places *places)
{
	struct pairs l = {};
	int err = places->systemd_dir ? find_systemd(list, cnt, places->systemd_dir, &l) : 0;

	if (err && err != -ENOMEM) {
		fr_warn_errno(err, "cannot read %s: not all core files there are shown", places->systemd_dir);
		err = 0;
	}
	err = err ?: find_pattern(list, cnt, places, &l);
	join_pairs(list, &l);
	return err;
}

/* ---- this host's ---- */

static void store_core_read_line(const char *path, char *buf, size_t sz)
{
	FILE *f = fopen(path, "re");

	buf[0] = 0;
	if (f && fgets(buf, sz, f))
		buf[strcspn(buf, "\n")] = 0;
	if (f)
		fclose(f);
}

int fr_store_join_host(struct fr_stored *list, size_t cnt)
{
	char pattern[256], uses_pid[16];
	struct fr_core_places places = {.pattern = pattern, .systemd_dir = SYSTEMD_DIR};

	store_core_read_line("/proc/sys/kernel/core_pattern", pattern, sizeof(pattern));
	store_core_read_line("/proc/sys/kernel/core_uses_pid", uses_pid, sizeof(uses_pid));
	places.uses_pid = uses_pid[0] == '1';
	return fr_store_join(list, cnt, &places);
}
