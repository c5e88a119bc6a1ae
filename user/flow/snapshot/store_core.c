/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * store_core: the core file of the death that a snapshot is of.
 *
 * systemd-coredump names its files core.COMM.UID.BOOTID.PID.USEC[.zst|.lz4|.xz], with special bytes of the comm as \xNN; pid,
 * boot, comm and time must agree. The kernel names its own files by kernel.core_pattern. That template becomes a glob, in which
 * what the snapshot knows (pid, signal, host) stands literally; of the files found, the one written soonest after the trigger
 * is taken. A relative pattern names a file in the dead process's directory, which is no longer known.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ctype.h>
#include <dirent.h>
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

#include "flow/snapshot/store_int.h"
#include "pure/text/escape.h"
#include "pure/text/memfile.h"
#include "pure/text/units.h"

#define SYSTEMD_DIR "/var/lib/systemd/coredump"
#define BEFORE_NS   (2 * FR_SEC_NS)   /* a core file's time comes from a coarser clock, or is in whole seconds */
#define AFTER_NS    (600 * FR_SEC_NS) /* a large core file takes long to write */
#define DUMP_NS	    (30 * FR_SEC_NS)  /* the time in the name of systemd's file is that of the death */

/* How far real_ns is from the trigger, ~0: not within the window. */
static u64 distance(const struct fr_stored *f, u64 real_ns, u64 after_ns)
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
	u64 real_ns;
};

/* Cut the last ".PART" off text. NULL: there is none. */
static char *cut_last(char *text)
{
	char *dot = strrchr(text, '.');

	if (!dot)
		return NULL;
	*dot = 0;
	return dot + 1;
}

static bool take_number(const char *text, u64 *out)
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
	usec = cut_last(buf);
	if (usec && (!strcmp(usec, "zst") || !strcmp(usec, "lz4") || !strcmp(usec, "xz")))
		usec = cut_last(buf);
	pid = cut_last(buf);
	boot = pid ? cut_last(buf) : NULL;
	uid = boot ? cut_last(buf) : NULL;
	if (!uid || !take_number(usec, &time_us) || !take_number(pid, &nr) || !take_number(uid, &user))
		return false;
	if (strlen(boot) != 32 || !nr || nr > ~0U || time_us > ~0ULL / 1000)
		return false;
	buf[fr_unescape(buf, strlen(buf))] = 0;
	snprintf(out->comm, sizeof(out->comm), "%.*s", (int)sizeof(out->comm) - 1, buf);
	strcpy(out->boot_id, boot);
	out->pid = nr;
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

/* systemd names the process's comm, but a thread may have its own: so comms only choose among several core files. */
static bool is_core_of(const struct fr_stored *f, const struct dumped *d, bool any_comm)
{
	return f->pid == d->pid && (any_comm || !strcmp(f->comm, d->comm)) && same_boot(f->boot_id, d->boot_id) &&
	       distance(f, d->real_ns, DUMP_NS) != ~0ULL;
}

static int set_core(struct fr_stored *f, const char *dir, const char *name)
{
	free(f->core);
	if (asprintf(&f->core, "%s/%s", dir, name) < 0)
		f->core = NULL;
	return f->core ? 0 : -ENOMEM;
}

/* Each core file is compared with each snapshot: systemd keeps only few core files. */
static int join_systemd(struct fr_stored *list, size_t cnt, const char *dir_name, bool any_comm)
{
	DIR *dir = opendir(dir_name);
	struct dirent *e;
	struct dumped d;
	size_t i;
	int err = 0;

	while (dir && !err && (e = readdir(dir))) {
		if (!parse_dumped(e->d_name, &d))
			continue;
		for (i = 0; i < cnt && !err; i++)
			if (!list[i].core && is_core_of(&list[i], &d, any_comm))
				err = set_core(&list[i], dir_name, e->d_name);
	}
	if (dir)
		closedir(dir);
	return err;
}

/* ---- kernel.core_pattern ---- */

/* Text to be matched literally, also where it has signs of glob(). The kernel writes '!' for each slash. */
static void put_literal(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (strchr("*?[]\\", *text))
			fputc('\\', f);
		fputc(*text == '/' ? '!' : *text, f);
	}
}

/* What the snapshot does not know becomes *. True: the specifier was the process's number. */
static bool put_specifier(FILE *f, char c, const struct fr_stored *s)
{
	struct utsname un;

	switch (c) {
	case '%':
		fputc('%', f);
		return false;
	case 'p':
	case 'P':
		fprintf(f, "%u", s->pid);
		return true;
	case 's':
		fprintf(f, "%d", s->sig);
		return false;
	case 'h':
		uname(&un);
		put_literal(f, un.nodename);
		return false;
	default:
		fputc('*', f);
		return false;
	}
}

/* The glob for one snapshot's core file, malloc'ed. NULL: the pattern has no process number, or no memory. */
static char *make_glob(const struct fr_core_places *places, const struct fr_stored *s)
{
	const char *p = places->pattern;
	bool has_pid = false;
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	char *text;

	if (!f)
		return NULL;
	for (; *p; p++) {
		if (*p == '%' && p[1])
			has_pid |= put_specifier(f, *++p, s);
		else if (strchr("*?[]\\", *p))
			fprintf(f, "\\%c", *p);
		else
			fputc(*p, f);
	}
	if (!has_pid && places->uses_pid) {
		fprintf(f, ".%u", s->pid);
		has_pid = true;
	}
	text = fr_memfile_end(&m, NULL);
	if (has_pid)
		return text;
	free(text);
	return NULL;
}

/* How far from the trigger a core file was written, ~0: not within the window, or no regular file. */
static u64 core_distance(const char *path, const struct fr_stored *f)
{
	struct stat st;

	if (lstat(path, &st) || !S_ISREG(st.st_mode))
		return ~0ULL;
	return distance(f, st.st_mtim.tv_sec * FR_SEC_NS + st.st_mtim.tv_nsec, AFTER_NS);
}

static int join_by_glob(struct fr_stored *f, const char *pattern)
{
	u64 best = ~0ULL, d;
	size_t i, at = 0;
	glob_t g;
	int err = 0;

	if (glob(pattern, GLOB_NOSORT, NULL, &g))
		return 0;
	for (i = 0; i < g.gl_pathc; i++) {
		d = core_distance(g.gl_pathv[i], f);
		if (d < best) {
			best = d;
			at = i;
		}
	}
	if (best != ~0ULL) {
		f->core = strdup(g.gl_pathv[at]);
		err = f->core ? 0 : -ENOMEM;
	}
	globfree(&g);
	return err;
}

static int join_pattern(struct fr_stored *list, size_t cnt, const struct fr_core_places *places)
{
	char *pattern;
	size_t i;
	int err = 0;

	if (!places->pattern || places->pattern[0] != '/')
		return 0;
	for (i = 0; i < cnt && !err; i++) {
		if (list[i].core || !list[i].pid || !list[i].sig)
			continue;
		pattern = make_glob(places, &list[i]);
		if (pattern)
			err = join_by_glob(&list[i], pattern);
		free(pattern);
	}
	return err;
}

int fr_store_join(struct fr_stored *list, size_t cnt, const struct fr_core_places *places)
{
	int err = places->systemd_dir ? join_systemd(list, cnt, places->systemd_dir, false) : 0;

	if (!err && places->systemd_dir)
		err = join_systemd(list, cnt, places->systemd_dir, true);
	return err ?: join_pattern(list, cnt, places);
}

/* ---- this host's ---- */

static void read_line(const char *path, char *buf, size_t sz)
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

	read_line("/proc/sys/kernel/core_pattern", pattern, sizeof(pattern));
	read_line("/proc/sys/kernel/core_uses_pid", uses_pid, sizeof(uses_pid));
	places.uses_pid = uses_pid[0] == '1';
	return fr_store_join(list, cnt, &places);
}
