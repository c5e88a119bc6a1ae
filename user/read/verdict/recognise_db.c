/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recognise_db: databases whose processes say what they do. PostgreSQL's titles, as /proc/PID/cmdline has them:
 *
 *	postgres: USER DATABASE HOST ACTIVITY		ACTIVITY: "SELECT waiting", "idle in transaction", ...
 */
#include <stdio.h>

#include "base/text/jsonr.h"
#include "read/verdict/verdict_int.h"

#define TITLE_SZ 128u

struct session {
	u32 pid;
	char database[TITLE_SZ], activity[TITLE_SZ];
	bool waits, is_idle, is_busy; /* for a lock; in a transaction; in a command, and does not wait */
};

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

/* A title of a program that is called so. */
static bool read_title(const char *title, const char *exe, struct session *s)
{
	char user[TITLE_SZ], host[TITLE_SZ];

	if (!ends_with(exe, "/postgres") ||
	    sscanf(title, "postgres: %127s %127s %127s %127[^\n]", user, s->database, host, s->activity) != 4)
		return false;
	s->waits = ends_with(s->activity, " waiting");
	s->is_idle = ends_with(s->activity, "idle in transaction");
	s->is_busy = !s->waits && !strstr(s->activity, "idle") && strcmp(s->activity, "authentication") &&
		     strcmp(s->activity, "startup");
	return true;
}

/* The i-th line's, from at on, which moves behind it. False: it is no session; *at NULL: there are no more lines. */
static bool next_session(const char **at, const char *end, struct session *s)
{
	const char *line = *at, *why;
	struct fr_jsonr j;
	size_t len;
	bool is_one;

	if (line >= end) {
		*at = NULL;
		return false;
	}
	len = memchr(line, '\n', end - line) ? (size_t)((char *)memchr(line, '\n', end - line) - line) : (size_t)(end - line);
	*at = line + len + 1;
	if (fr_jsonr_parse(line, len, &j, &why))
		return false;
	s->pid = fr_jsonr_u64(&j, "pid", 0);
	is_one = read_title(fr_jsonr_text(&j, "cmdline", ""), fr_jsonr_text(&j, "exe", ""), s);
	fr_jsonr_free(&j);
	return is_one;
}

struct sessions {
	struct session mine, idle, busy;
	u32 waiting, idle_cnt, busy_cnt; /* of its database, beside it; busy: in a command, and does not wait */
};

static void take_sessions(const struct fr_clues *c, u32 mine, struct sessions *out)
{
	size_t sz;
	const char *text = fr_snap_procs(c->snap, &sz), *at;
	struct session s;

	for (at = text; text && at;)
		if (next_session(&at, text + sz, &s) && s.pid == mine)
			out->mine = s;
	for (at = text; text && at;) {
		if (!next_session(&at, text + sz, &s) || s.pid == mine || strcmp(s.database, out->mine.database))
			continue;
		out->waiting += s.waits;
		out->idle_cnt += s.is_idle;
		if (s.is_idle)
			out->idle = s;
		out->busy_cnt += s.is_busy;
		if (s.is_busy)
			out->busy = s;
	}
}

/* "postgres/1 waits for a lock (SELECT waiting), as 2 others do of database shop" */
static const char *db_waits_word(struct fr_case *k, const struct sessions *s)
{
	const char *others =
		s->waiting ? fr_word(k, ", as %u other%s of", s->waiting, s->waiting == 1 ? " does" : "s do") : " in";

	return fr_word(k, "postgres/%u waits for a lock (%s)%s database %s", s->mine.pid,
		       fr_word_text(k, s->mine.activity, strlen(s->mine.activity)), others,
		       fr_word_text(k, s->mine.database, strlen(s->mine.database)));
}

/* It waits for a lock, and one session of its database keeps all that its transaction took, and does nothing; or works on. */
bool fr_recognise_database_lock(struct fr_case *k)
{
	struct sessions s = {0};

	if (k->c->pid <= 0)
		return false;
	take_sessions(k->c, k->c->pid, &s);
	if (!s.mine.waits || s.idle_cnt > 1 || (!s.idle_cnt && s.busy_cnt != 1))
		return false;
	if (s.idle_cnt)
		fr_case_cause(k, "processes", "%s: postgres/%u, idle in transaction, keeps what it has locked",
			      db_waits_word(k, &s), s.idle.pid);
	else
		fr_case_cause(k, "processes",
			      "%s; no session of it is idle in a transaction that goes on, and the only one that is in a "
			      "command and does not wait is postgres/%u (%s)",
			      db_waits_word(k, &s), s.busy.pid, fr_word_text(k, s.busy.activity, strlen(s.busy.activity)));
	return true;
}
