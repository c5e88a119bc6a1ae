/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/tp/upnote.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define OWNER	   "stapsdt"
#define TYPE	   3u
#define PADDED(sz) (((sz) + 3) & ~(size_t)3)

struct head {
	u32 name_sz, desc_sz, type;
};

struct place {
	u64 addr, base, counter;
};

/* A text of what is left. NULL: it has no end. */
static const char *upnote_text(const char **at, size_t *left)
{
	const char *text = *at, *end = memchr(text, 0, *left);

	if (!end)
		return NULL;
	*left -= end + 1 - text;
	*at = end + 1;
	return text;
}

static int upnote_take(const char *desc, size_t sz, struct fr_upnote *out)
{
	struct place place;

	if (sz < sizeof(place))
		return -EBADMSG;
	memcpy(&place, desc, sizeof(place));
	desc += sizeof(place);
	sz -= sizeof(place);
	*out = (struct fr_upnote){.addr = place.addr, .base = place.base, .counter = place.counter};
	out->provider = upnote_text(&desc, &sz);
	out->name = out->provider ? upnote_text(&desc, &sz) : NULL;
	out->args = out->name ? upnote_text(&desc, &sz) : NULL;
	return out->args ? 1 : -EBADMSG;
}

int fr_upnote_next(const void *notes, size_t sz, size_t *pos, struct fr_upnote *out)
{
	while (*pos < sz) {
		const char *at = (const char *)notes + *pos;
		size_t left = sz - *pos, name_sz, desc_sz;
		struct head head;

		if (left < sizeof(head))
			return -EBADMSG;
		memcpy(&head, at, sizeof(head));
		at += sizeof(head);
		left -= sizeof(head);
		name_sz = PADDED((size_t)head.name_sz);
		desc_sz = PADDED((size_t)head.desc_sz);
		/* what pads the last one may be left out */
		if (name_sz > left || head.desc_sz > left - name_sz)
			return -EBADMSG;
		left -= name_sz;
		*pos = desc_sz > left ? sz : *pos + sizeof(head) + name_sz + desc_sz;
		if (head.type == TYPE && head.name_sz == sizeof(OWNER) && !memcmp(at, OWNER, sizeof(OWNER)))
			return upnote_take(at + name_sz, head.desc_sz, out);
	}
	return 0;
}
