/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recover_choose: which sessions a crash dump has pages of, and which of them is meant. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/snapshot/recover_int.h"
#include "pure/err.h"
#include "pure/schema/facts.h"
#include "pure/text/pages.h"

static bool is_known(const struct fr_recover *r, u32 epoch)
{
	size_t i;

	for (i = 0; i < r->sess_cnt; i++)
		if (r->sess[i].epoch == epoch)
			return true;
	return false;
}

static void read_shared(struct fr_recover *r, struct fr_recover_sess *s)
{
	union {
		struct fr_session shared;
		char page[FR_PAGE_SZ];
	} got;
	size_t i;
	u32 nr;

	for (i = 0; i < r->found.session_cnt; i++)
		if (r->found.session[i].epoch == s->epoch && !fr_vmcore_read(r->core, r->found.session[i].place, got.page))
			s->shared = got.shared;
	s->records = !s->shared.mark.magic; /* nothing says that it had ended */
	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		s->records |= (s->shared.enable[nr] & ~FR_ENABLE_HELD) != 0;
}

/* Its facts end with a NUL. A text without one is none of ours. */
static void read_text(const struct fr_recover *r, struct fr_recover_sess *s)
{
	s->text = fr_pages_get(r->found.text, r->found.text_cnt, s->epoch, &s->text_sz);
	if (s->text && strlen(s->text) == s->text_sz) {
		free(s->text);
		s->text = NULL;
	}
	s->name = s->text ? fr_facts_get(s->text, "session") : NULL;
}

/* A session is known by the slot words of its rings. */
static int list(struct fr_recover *r)
{
	struct fr_recover_sess *s;
	size_t i;

	r->sess = calloc(r->found.slots_cnt + 1, sizeof(*r->sess));
	if (!r->sess)
		return -ENOMEM;
	for (i = 0; i < r->found.slots_cnt; i++) {
		if (is_known(r, r->found.slots[i].epoch))
			continue;
		s = &r->sess[r->sess_cnt++];
		s->epoch = r->found.slots[i].epoch;
		read_text(r, s);
		read_shared(r, s);
	}
	return 0;
}

static bool is_meant(const struct fr_recover *r, const struct fr_recover_sess *s)
{
	return s->name && (!r->ask->session || !strcmp(s->name, r->ask->session));
}

/* "a, b": of those that could be meant */
static const char *names(const struct fr_recover *r, bool records, char *buf, size_t sz)
{
	size_t i, len = 0;

	*buf = 0;
	for (i = 0; i < r->sess_cnt; i++)
		if (r->sess[i].name && r->sess[i].records == records && len < sz)
			len += snprintf(buf + len, sz - len, "%s%s", len ? ", " : "", r->sess[i].name);
	return buf;
}

static size_t count_meant(struct fr_recover *r, bool records)
{
	size_t i, cnt = 0;

	for (i = 0; i < r->sess_cnt; i++) {
		if (!is_meant(r, &r->sess[i]) || r->sess[i].records != records)
			continue;
		r->chosen = &r->sess[i];
		cnt++;
	}
	return cnt;
}

static int say_none(const struct fr_recover *r)
{
	char recorded[512], ended[512];
	size_t i, nameless = 0;

	for (i = 0; i < r->sess_cnt; i++)
		nameless += !r->sess[i].text;
	names(r, true, recorded, sizeof(recorded));
	names(r, false, ended, sizeof(ended));
	if (r->ask->session && (*recorded || *ended))
		fr_err("%s has no session '%s', but %s: choose with -n", r->ask->vmcore, r->ask->session,
		       *recorded ? recorded : ended);
	else if (nameless)
		fr_err("%s has a session of which only parts are there: an older version of flightrec recorded it, which kept "
		       "its description where no crash dump has it, or the dump is not whole",
		       r->ask->vmcore);
	else
		fr_err("%s has no session of flightrec: did it record when the kernel stopped? makedumpfile must not leave out "
		       "kernel pages (-d 31 is good)",
		       r->ask->vmcore);
	return FR_EXIT_NO_SESSION;
}

static int say_several(const struct fr_recover *r, bool records)
{
	char text[512];

	fr_err("%s has several sessions: %s: choose one with -n", r->ask->vmcore, names(r, records, text, sizeof(text)));
	return FR_EXIT_NO_SESSION;
}

/* Those that had ended are in memory that was free, and can be overwritten in part. */
int fr_recover_choose(struct fr_recover *r)
{
	size_t cnt;
	int err = list(r);

	if (err) {
		fr_err_errno(err, "cannot search %s", r->ask->vmcore);
		return FR_EXIT_FAIL;
	}
	cnt = count_meant(r, true);
	if (cnt)
		return cnt == 1 ? FR_EXIT_OK : say_several(r, true);
	cnt = count_meant(r, false);
	if (cnt > 1)
		return say_several(r, false);
	if (cnt)
		fr_warn("session '%s' had ended when the kernel stopped", r->chosen->name);
	return cnt ? FR_EXIT_OK : say_none(r);
}

void fr_recover_free_sess(struct fr_recover *r)
{
	size_t i;

	for (i = 0; i < r->sess_cnt; i++) {
		free(r->sess[i].text);
		free(r->sess[i].name);
	}
	free(r->sess);
}
