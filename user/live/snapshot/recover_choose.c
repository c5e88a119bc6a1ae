/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recover_choose: which sessions a crash dump has pages of, and which of them is meant. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/schema/facts.h"
#include "base/set/vec.h"
#include "base/text/pages.h"
#include "live/snapshot/recover_int.h"

static void read_shared(struct fr_recover *r, struct fr_recover_sess *s)
{
	union {
		struct fr_session shared;
		char page[FR_PAGE_SZ];
	} got;
	const struct fr_carved_one like = {.epoch = s->epoch}, *one;
	size_t cnt;
	u32 nr;

	one = fr_carved_ones(r->found.session, r->found.session_cnt, &like, &cnt);
	for (; cnt--; one++)
		if (!fr_vmcore_read(r->core, one->place, got.page))
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

/* Any process can fill memory with slot words of sessions: those of which no text is there are only counted. */
static int choose_add(struct fr_recover *r, u32 epoch)
{
	struct fr_recover_sess s = {.epoch = epoch}, *more;

	read_text(r, &s);
	if (!s.text) {
		r->nameless_cnt++;
		return 0;
	}
	more = fr_vec_more(&r->sess, r->sess_cnt);
	if (!more) {
		free(s.text);
		free(s.name);
		return -ENOMEM;
	}
	read_shared(r, &s);
	*more = s;
	r->sess_cnt++;
	return 0;
}

/* A session is known by the slot words of its rings. */
static int choose_list(struct fr_recover *r)
{
	const struct fr_carved_one *slots = r->found.slots;
	size_t i;
	int err = 0;

	for (i = 0; i < r->found.slots_cnt && !err; i++)
		if (!i || slots[i].epoch != slots[i - 1].epoch)
			err = choose_add(r, slots[i].epoch);
	return err;
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

static int choose_say_none(const struct fr_recover *r)
{
	char recorded[512], ended[512];

	names(r, true, recorded, sizeof(recorded));
	names(r, false, ended, sizeof(ended));
	if (r->ask->session && (*recorded || *ended))
		fr_err("%s has no session '%s', but %s: choose with -n", r->ask->vmcore, r->ask->session,
		       *recorded ? recorded : ended);
	else if (r->nameless_cnt)
		fr_err("%s has a session of which only parts are there: the dump is not whole, or lacks kernel pages "
		       "(makedumpfile -d 31 is good)",
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
	int err = choose_list(r);

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
	return cnt ? FR_EXIT_OK : choose_say_none(r);
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
