/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/calltext.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text/redact.h"
#include "event_fields.h"
#include "session.h"

/* Where things are in addresses, whatever this machine's headers pad. */
#define FAMILY_SZ 2u
#define ONE_BYTE  "1 byte" /* which is no family */
#define PORT_AT	  2u
#define INET_AT	  4u
#define INET6_AT  8u

/* A name in the file system ends at its NUL; all of one in the other name space is the name, which begins with a NUL: @. */
static void calltext_put_unix(char *to, size_t room, const char *from, size_t sz)
{
	size_t len = sz && !*from ? sz : strnlen(from, sz), i;

	for (i = 0; i < len && i < room; i++)
		to[i] = from[i] ?: '@';
}

/* Where the address of a family is, of *len bytes. 0: not known. */
static size_t calltext_inet_at(u32 family, size_t *len)
{
	*len = family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
	return family == AF_INET ? INET_AT : family == AF_INET6 ? INET6_AT : 0;
}

/* sz bytes are an address, as a call was given it. */
static void calltext_put_addr(char *to, size_t room, const char *from, size_t sz)
{
	char host[INET6_ADDRSTRLEN];
	const u8 *b = (const u8 *)from;
	u32 family = sz < FAMILY_SZ ? AF_UNSPEC : b[0] | b[1] << 8;
	size_t len, at = calltext_inet_at(family, &len);

	if (sz < FAMILY_SZ)
		snprintf(to, room, "%s", sz ? ONE_BYTE : "");
	else if (family == AF_UNIX)
		calltext_put_unix(to, room, from + FAMILY_SZ, sz - FAMILY_SZ);
	else if (!at)
		snprintf(to, room, "family %u", family);
	else if (sz < at + len)
		snprintf(to, room, "family %u, %zu bytes", family, sz);
	else if (inet_ntop(family, from + at, host, sizeof(host)))
		snprintf(to, room, family == AF_INET ? "%s:%u" : "[%s]:%u", host, b[PORT_AT] << 8 | b[PORT_AT + 1]);
}

/* Behind the text of an address, of which end bytes are left: a colon and its port. */
static bool calltext_is_port(const char *end, size_t len)
{
	return len > 1 && *end == ':' && strspn(end + 1, "0123456789") == len - 1;
}

bool fr_calltext_is_addr(const char *text)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2] = "", none[sizeof(struct in6_addr)];
	size_t len = colon ? colon - text : 0;
	unsigned int nr, sz;
	char end;

	if (!strcmp(text, ONE_BYTE) || sscanf(text, "family %u%c", &nr, &end) == 1 ||
	    sscanf(text, "family %u, %u bytes%c", &nr, &sz, &end) == 2)
		return true;
	if (!len || len >= sizeof(host) || !calltext_is_port(colon, strlen(colon)))
		return false;
	memcpy(host, text, len);
	if (*host != '[')
		return inet_pton(AF_INET, host, none) == 1;
	if (host[len - 1] != ']')
		return false;
	host[len - 1] = 0;
	return inet_pton(AF_INET6, host + 1, none) == 1;
}

void fr_calltext_make(struct fr_rec_sys_path *rec, u32 sz, struct fr_secrets *s)
{
	const size_t at = offsetof(struct fr_rec_sys_path, path);
	char text[FR_CALL_TEXT_MAX] = {};
	size_t room, len;
	u32 cnt = 0;

	if (sz <= at)
		return;
	room = sz - at;
	if (room > sizeof(text)) { /* no recorder writes that */
		memset(rec->path + sizeof(text), 0, room - sizeof(text));
		room = sizeof(text);
	}
	if (rec->arg & FR_CALL_RAW_ARG) {
		rec->arg &= ~FR_CALL_RAW_ARG;
		calltext_put_addr(text, room, rec->path, rec->cut < room ? rec->cut : room);
		rec->cut = 0;
		memcpy(rec->path, text, room);
	}
	len = strnlen(rec->path, room);
	if (!fr_redact_may_have(rec->path, len))
		return;
	len = fr_redact(s ? s->words : NULL, FR_REDACT_LINE, rec->path, len, text, room, &cnt);
	memset(text + len, 0, room - len);
	memcpy(rec->path, text, room);
	rec->cut |= cnt && len == room;
	if (s && cnt)
		__atomic_fetch_add(&s->cnt, cnt, __ATOMIC_RELAXED);
}
