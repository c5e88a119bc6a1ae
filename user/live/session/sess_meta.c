/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sess_meta: a session's facts and schema, in maps of their own: "meta", which is read, and "crash-text", which a crash dump of
 * the kernel is searched for (live/snapshot/recover.h).
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/schema/facts.h"
#include "base/text/memfile.h"
#include "base/text/pages.h"
#include "base/tp/tps.h"
#include "live/session/sess_int.h"
#include "sys/bootid.h"
#include "sys/now.h"

#define META_FACTS  0u
#define META_SCHEMA 1u

/* Takes the place of a pin that is there, at once: who opens the session finds what was before or what is behind. 0 or -errno.
 */
static int meta_pin_over(const struct fr_sess *s, int fd, const char *pin)
{
	char now[320], next[320];

	snprintf(now, sizeof(now), "%s/%s", s->dir, pin);
	snprintf(next, sizeof(next), "%s/%s-next", s->dir, pin);
	unlink(next); /* left by a process that was killed doing this */
	return bpf_obj_pin(fd, next) || rename(next, now) ? -errno : 0;
}

/* A map of cnt values of so many bytes each, pinned. 0 or -errno. */
static int pin_values(const struct fr_sess *s, const char *pin, u32 flags, const void *values, u32 value_sz, u32 cnt)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "fr_meta", sizeof(u32), value_sz, cnt, &opts), err = 0;
	u32 key;

	if (fd < 0)
		return -errno;
	for (key = 0; key < cnt && !err; key++)
		if (bpf_map_update_elem(fd, &key, (const char *)values + (size_t)key * value_sz, BPF_ANY))
			err = -errno;
	err = err ?: meta_pin_over(s, fd, pin);
	close(fd);
	return err;
}

/* ---- what is read ---- */

static int pin_meta(const struct fr_sess *s, const char *facts, const char *schema)
{
	char(*values)[FR_META_SZ] = calloc(2, FR_META_SZ);
	int err;

	if (!values)
		return -ENOMEM;
	strcpy(values[META_FACTS], facts);
	strcpy(values[META_SCHEMA], schema);
	err = pin_values(s, "meta", 0, values, FR_META_SZ, 2);
	free(values);
	return err;
}

static int read_meta_entry(int fd, u32 key, char **text, size_t *sz)
{
	*text = malloc(FR_META_SZ);
	if (!*text)
		return -ENOMEM;
	if (bpf_map_lookup_elem(fd, &key, *text))
		return -errno;
	(*text)[FR_META_SZ - 1] = 0;
	*sz = strlen(*text);
	return 0;
}

int fr_sess_read_meta(struct fr_sess *s)
{
	int fd = fr_sess_get_pin(s, "meta"), err;
	u32 entries;
	size_t sz;

	if (fd < 0)
		return fd;
	err = fr_sess_is_array(fd, FR_META_SZ, &entries) && entries == 2 ? 0 : -EPROTO;
	err = err ?: read_meta_entry(fd, META_FACTS, &s->facts, &sz);
	err = err ?: read_meta_entry(fd, META_SCHEMA, &s->schema, &s->schema_sz);
	close(fd);
	return err;
}

int fr_sess_formats(const struct fr_sess *s, char **text, size_t *sz)
{
	int fd = fr_sess_get_pin(s, "formats"), err = 0;
	struct bpf_map_info info = {};
	u32 len = sizeof(info), zero = 0;

	*text = NULL;
	*sz = 0;
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		err = -errno;
	else if (info.type != BPF_MAP_TYPE_ARRAY || !info.value_size || info.value_size > FR_TPS_MAX_SZ)
		err = -EPROTO;
	/* the kernel rounds values up to 8 bytes when it copies them */
	*text = err ? NULL : malloc(info.value_size + 8);
	if (!err && !*text)
		err = -ENOMEM;
	if (!err && bpf_map_lookup_elem(fd, &zero, *text))
		err = -errno;
	close(fd);
	if (err) {
		free(*text);
		*text = NULL;
		return err;
	}
	*sz = info.value_size;
	return 0;
}

/* ---- what a crash dump has ---- */

/* With what a snapshot adds to the facts: who reads a crash dump is on another host, or in another boot. */
static char *crash_text(const char *facts, const char *schema, size_t *sz)
{
	struct fr_memfile m;
	struct utsname un;
	FILE *f = fr_memfile_open(&m);
	char boot[64] = "";

	if (!f)
		return NULL;
	uname(&un);
	fr_boot_id(boot, sizeof(boot));
	fputs(facts, f);
	fr_facts_put_text(f, "host", un.nodename);
	fr_facts_put_text(f, "kernel", un.release);
	fr_facts_put_text(f, "arch", un.machine);
	fr_facts_put_text(f, "boot_id", boot);
	putc(0, f);
	fputs(schema, f);
	return fr_memfile_end(&m, sz);
}

static int pin_crash_text(const struct fr_sess *s, u32 epoch, const char *facts, const char *schema)
{
	size_t sz = 0;
	char *text = crash_text(facts, schema, &sz);
	u32 cnt = fr_pages_cnt(sz);
	struct fr_text_page *page = text ? calloc(cnt, sizeof(*page)) : NULL;
	int err = -ENOMEM;

	if (page) {
		fr_pages_put(page, epoch, fr_now_ns(CLOCK_BOOTTIME), text, sz);
		err = pin_values(s, "crash-text", BPF_F_MMAPABLE, page, sizeof(*page), cnt);
	}
	free(page);
	free(text);
	return err;
}

int fr_sess_pin_meta(const struct fr_sess *s, const char *facts, const char *schema)
{
	int err = -E2BIG;

	if (strlen(facts) < FR_META_SZ && strlen(schema) < FR_META_SZ)
		err = pin_crash_text(s, s->ring[0].epoch, facts, schema);
	return err ?: pin_meta(s, facts, schema);
}
