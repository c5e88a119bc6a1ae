/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "read/snapfile/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text/escape.h"

#define SYSLOG_DAEMON (3 << 3) /* facility */
#define SYSLOG_SZ     2048u    /* of a line */

/* ---- journald: NAME=value\n, or, where the value has a newline, NAME\n, its size in 8 bytes little-endian, value\n ---- */

static size_t journal_put(char *to, const void *p, size_t sz)
{
	memcpy(to, p, sz);
	return sz;
}

static size_t pack_field(char *to, const char *name, const char *value)
{
	size_t len = strlen(value), at = journal_put(to, name, strlen(name));
	unsigned int i;

	if (!strchr(value, '\n')) {
		to[at++] = '=';
	} else {
		to[at++] = '\n';
		for (i = 0; i < 8; i++)
			to[at++] = (u64)len >> (8 * i) & 0xff;
	}
	at += journal_put(to + at, value, len);
	to[at++] = '\n';
	return at;
}

int fr_journal_pack(char *buf, size_t sz, const struct fr_journal_field *field, u32 cnt)
{
	size_t at = 0;
	u32 i;

	for (i = 0; i < cnt; i++) {
		if (!field[i].value || !*field[i].value)
			continue;
		if (strlen(field[i].name) + strlen(field[i].value) + 10 <= sz - at)
			at += pack_field(buf + at, field[i].name, field[i].value);
		else if (!i) /* no message, no entry */
			return -EMSGSIZE;
	}
	return at;
}

/* ---- the line for syslog ---- */

static const char *journal_find(const struct fr_journal_field *field, u32 cnt, const char *name)
{
	u32 i;

	for (i = 0; i < cnt; i++)
		if (!strcmp(field[i].name, name))
			return field[i].value ? field[i].value : "";
	return "";
}

static void put_line_text(FILE *f, const char *text, size_t sz)
{
	char escaped[4 * SYSLOG_SZ];

	fwrite(escaped, 1, fr_escape_mem(escaped, sizeof(escaped), text, sz), f);
}

/* In quotes; a quote is \x22, as what would end the line is \xNN. */
static void journal_put_quoted(FILE *f, const char *value)
{
	size_t len;

	fputc('"', f);
	for (; *value; value += len) {
		len = strcspn(value, "\"");
		put_line_text(f, value, len);
		if (value[len])
			len += fprintf(f, "\\x22") > 0;
	}
	fputc('"', f);
}

static int pack_line(char *buf, size_t sz, const struct fr_journal_field *field, u32 cnt)
{
	FILE *f = fmemopen(buf, sz, "w");
	const char *text;
	u32 i;

	if (!f)
		return -errno;
	fprintf(f, "<%d>flightrec[%d]: ", SYSLOG_DAEMON | (atoi(journal_find(field, cnt, "PRIORITY")) & 7), (int)getpid());
	text = journal_find(field, cnt, "MESSAGE");
	put_line_text(f, text, strlen(text));
	for (i = 0; i < cnt; i++) {
		if (strncmp(field[i].name, "FLIGHTREC_", 10) || !field[i].value || !*field[i].value)
			continue;
		fprintf(f, " %s=", field[i].name);
		journal_put_quoted(f, field[i].value);
	}
	fclose(f); /* what did not fit is truncated */
	buf[sz - 1] = 0;
	return strlen(buf);
}

/* ---- sending ---- */

static int journal_send_to(const char *path, const void *buf, size_t sz)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd, err = 0;

	if (strlen(path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	strcpy(to.sun_path, path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (sendto(fd, buf, sz, MSG_NOSIGNAL, (const struct sockaddr *)&to, sizeof(to)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int write_native(const char *path, const struct fr_journal_field *field, u32 cnt)
{
	char *buf = malloc(FR_JOURNAL_SZ);
	int sz, err;

	if (!buf)
		return -ENOMEM;
	sz = fr_journal_pack(buf, FR_JOURNAL_SZ, field, cnt);
	err = sz < 0 ? sz : journal_send_to(path, buf, sz);
	free(buf);
	return err;
}

int fr_journal_write(const struct fr_journal_to *to, const struct fr_journal_field *field, u32 cnt)
{
	char line[SYSLOG_SZ];
	int sz;

	if (!write_native(to->native, field, cnt))
		return FR_JOURNAL_NATIVE;
	sz = pack_line(line, sizeof(line), field, cnt);
	if (sz < 0)
		return sz;
	return journal_send_to(to->syslog, line, sz) ?: FR_JOURNAL_SYSLOG;
}
