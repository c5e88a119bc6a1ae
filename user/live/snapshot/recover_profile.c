/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recover_profile: the merged profile as its last reader had stored it; what CPUs have counted since then is not in it. */
#include <errno.h>
#include <stdlib.h>

#include "base/text/pages.h"
#include "live/snapshot/recover_int.h"

static bool has_page(const struct fr_recover *r, struct fr_mark mark)
{
	size_t i;

	for (i = 0; i < r->found.text_cnt; i++)
		if (r->found.text[i].mark.magic == mark.magic && r->found.text[i].mark.epoch == mark.epoch)
			return true;
	return false;
}

/* Without a page of it, there was none, or nobody had read it yet. */
int fr_recover_find_profile(struct fr_recover *r, struct fr_dump *d, struct fr_prof **prof)
{
	const struct fr_mark mark = {FR_PROFILE_MAGIC, r->chosen->epoch};
	size_t sz;
	u8 *bytes = fr_pages_get_as(r->found.text, r->found.text_cnt, mark, &sz);
	int err = bytes ? fr_prof_read(bytes, sz, prof) : 0;

	free(bytes);
	r->profile_missing = err == -EBADMSG || (!bytes && has_page(r, mark));
	if (*prof && d->addrs)
		fr_dump_add_profile_addrs(d->addrs, *prof);
	return err == -EBADMSG ? 0 : err;
}
