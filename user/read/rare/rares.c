/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/rare/rares.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/rows/view.h"
#include "base/text/counts.h"
#include "base/tp/tps.h"
#include "sys/memory.h"

#define ITEM_MOST (1u << 16)

/* Fields that say what an event is about. FAMILY to DADDR6: of a socket, as most TCP tracepoints have them. */
enum { FAMILY, SPORT, DPORT, SADDR, DADDR, SADDR6, DADDR6, FIELD_CNT };
static const char *const socket_fields[FIELD_CNT] = {"family", "sport", "dport", "saddr", "daddr", "saddr_v6", "daddr_v6"};

_Static_assert(sizeof(((struct fr_rares_of *)0)->field) / sizeof(void *) == FIELD_CNT, "one for each");

static const char *const tcp_states[] = {NULL,	      "ESTABLISHED", "SYN_SENT",    "SYN_RECV",	  "FIN_WAIT1",
					 "FIN_WAIT2", "TIME_WAIT",   "CLOSE",	    "CLOSE_WAIT", "LAST_ACK",
					 "LISTEN",    "CLOSING",     "NEW_SYN_RECV"};

struct rares_open {
	u64 key;  /* entry and tid */
	size_t i; /* item + 1 */
};

static bool rares_is(u32 entry, const char *name)
{
	return !strcmp(fr_rare_get(entry)->name, name);
}

void fr_rares_init(struct fr_rares *s, struct fr_replay *r, const struct fr_summary *sum)
{
	const struct fr_schema *schema = fr_replay_schema(r, 0);
	char name[3 * FR_NAME_MAX];
	u32 i, k;

	*s = (struct fr_rares){.item = {.item_sz = sizeof(struct fr_rares_item)},
			       .open = {.rec_sz = sizeof(struct rares_open)}};
	s->snap = fr_replay_snap(r, 0);
	s->horizon_ns = fr_summary_horizon(sum, FR_TIER_RARE);
	for (i = 0; fr_rare_get(i) && i < FR_RARES_ENTRY_MAX; i++) {
		const struct fr_event *ev;

		snprintf(name, sizeof(name), FR_TP_PREFIX "%s", fr_rare_get(i)->name);
		ev = fr_schema_find(schema, name);
		if (!ev || ev->tier != FR_TIER_RARE)
			continue;
		s->of[i].ev = ev;
		s->by_nr[ev->nr] = i + 1;
		s->has[i] = fr_snap_records(s->snap, name);
		s->any |= s->has[i];
		for (k = 0; k < FIELD_CNT; k++)
			s->of[i].field[k] = fr_event_field(ev, socket_fields[k]);
	}
}

void fr_rares_free(struct fr_rares *s)
{
	fr_vec_free(&s->item);
	fr_tally_free(&s->open);
}

void fr_rares_want(const struct fr_rares *s, struct fr_wants *w)
{
	u32 i;

	for (i = 0; i < FR_RARES_ENTRY_MAX; i++)
		if (s->of[i].ev)
			w->cols[s->of[i].ev->nr] = ~0u;
}

/* ---- what it is about ---- */

/* Bytes of an array with so many; NULL: the event has it not, or otherwise. */
static const u8 *rares_bytes(const struct fr_row *r, const struct fr_field *f, size_t want)
{
	size_t sz = 0;
	const u8 *at = f && f->kind != FR_KIND_DERIVED && f->type == FR_TYPE_array ? fr_row_bytes(r, f, &sz) : NULL;

	return sz == want ? at : NULL;
}

static bool rares_num(const struct fr_row *r, const struct fr_field *f, u64 *v)
{
	if (!f || !fr_is_stored_num(f))
		return false;
	*v = fr_row_num(r, f);
	return true;
}

/* An address of IPv4 in one of IPv6, as sockets of both have them (Java's all): it is shown as what it is, as objects of waits
 * are. */
static bool rares_is_mapped(const u8 *v6)
{
	static const u8 begin[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(v6, begin, sizeof(begin));
}

static const char *rares_ip(int family, const u8 *v4, const u8 *v6, char text[INET6_ADDRSTRLEN + 2])
{
	char ip[INET6_ADDRSTRLEN];

	if (family == AF_INET6 && rares_is_mapped(v6)) {
		family = AF_INET;
		v4 = v6 + 12;
	}
	if (!inet_ntop(family, family == AF_INET ? v4 : v6, ip, sizeof(ip)))
		return "?";
	snprintf(text, INET6_ADDRSTRLEN + 2, family == AF_INET ? "%s" : "[%s]", ip);
	return text;
}

/* Two ends: numbers of the host's order. */
static void rares_put_ends(struct fr_rares_item *it, int family, const u8 *mine, const u8 *peer)
{
	char a[INET6_ADDRSTRLEN + 2], b[INET6_ADDRSTRLEN + 2];

	snprintf(it->what, sizeof(it->what), "%s:%u -> %s:%u", rares_ip(family, mine, mine, a), it->mine,
		 rares_ip(family, peer, peer, b), it->peer);
}

static bool rares_of_socket(const struct fr_rares_of *of, const struct fr_row *r, struct fr_rares_item *it)
{
	u64 family, mine, peer;
	const u8 *from, *to;

	if (!rares_num(r, of->field[FAMILY], &family) || !rares_num(r, of->field[SPORT], &mine) ||
	    !rares_num(r, of->field[DPORT], &peer))
		return false;
	from = rares_bytes(r, of->field[family == AF_INET ? SADDR : SADDR6], family == AF_INET ? 4 : 16);
	to = rares_bytes(r, of->field[family == AF_INET ? DADDR : DADDR6], family == AF_INET ? 4 : 16);
	if ((family != AF_INET && family != AF_INET6) || !from || !to)
		return false;
	it->mine = mine;
	it->peer = peer;
	rares_put_ends(it, family, from, to);
	return true;
}

/* Of a struct sockaddr_in or sockaddr_in6, as later kernels have them. */
static const u8 *rares_sockaddr(const u8 *at, int *family, u16 *port)
{
	u16 f, p;

	memcpy(&f, at, sizeof(f));
	memcpy(&p, at + 2, sizeof(p));
	*family = f;
	*port = ntohs(p);
	return f == AF_INET ? at + 4 : f == AF_INET6 ? at + 8 : NULL;
}

static bool rares_of_sockaddrs(const struct fr_rares_of *of, const struct fr_row *r, struct fr_rares_item *it)
{
	const u8 *from = rares_bytes(r, of->field[SADDR], 28), *to = rares_bytes(r, of->field[DADDR], 28);
	int family = 0, other = 0;

	from = from ? rares_sockaddr(from, &family, &it->mine) : NULL;
	to = to ? rares_sockaddr(to, &other, &it->peer) : NULL;
	if (!from || !to || family != other)
		return false;
	rares_put_ends(it, family, from, to);
	return true;
}

/* The word of a field, or its number. */
static bool rares_of_word(const struct fr_view *v, const struct fr_row *r, const char *name, struct fr_rares_item *it)
{
	const struct fr_field *f = fr_event_field(r->ev, name);
	const char *word;
	u64 nr;

	if (!rares_num(r, f, &nr))
		return false;
	word = fr_tps_symbol(v->tps, r, f, nr);
	if (word)
		snprintf(it->what, sizeof(it->what), "%s", word);
	else
		snprintf(it->what, sizeof(it->what), "%s %llu", name, nr);
	return true;
}

static void rares_say(const struct fr_rares *s, const struct fr_view *v, const struct fr_row *r, struct fr_rares_item *it)
{
	const struct fr_rares_of *of = &s->of[it->entry];
	const char *words;
	u64 state;

	if (rares_num(r, fr_event_field(r->ev, "state"), &state) && state < sizeof(tcp_states) / sizeof(tcp_states[0]))
		it->state = state;
	if (rares_of_socket(of, r, it) || rares_of_sockaddrs(of, r, it)) {
		size_t len = strlen(it->what);

		if (it->state)
			snprintf(it->what + len, sizeof(it->what) - len, " %s", tcp_states[it->state]);
		return;
	}
	if (rares_is(it->entry, "skb:kfree_skb") && rares_of_word(v, r, "reason", it))
		return;
	if (rares_is(it->entry, "vmscan:mm_vmscan_throttled") && rares_of_word(v, r, "reason", it))
		return;
	words = fr_tps_text(v->tps, r);
	if (words)
		snprintf(it->what, sizeof(it->what), "%s", words);
}

/* ---- rows ---- */

static bool rares_begins(u32 entry)
{
	const struct fr_rare *r;
	u32 i;

	for (i = 0; (r = fr_rare_get(i)); i++)
		if (*r->begin && rares_is(entry, r->begin))
			return true;
	return false;
}

static u64 rares_key(u32 entry, u32 tid)
{
	return (u64)(entry + 1) << 32 | tid;
}

/* What ends belongs to the last beginning of the same task, since it is recorded only with that. */
static void rares_end(struct fr_rares *s, const struct fr_row *r, u32 entry)
{
	int begin = fr_rare_find(fr_rare_get(entry)->begin);
	struct rares_open *o = begin < 0 ? NULL : fr_tally_find(&s->open, rares_key(begin, r->tid));
	struct fr_rares_item *it;

	if (!o || !o->i)
		return;
	it = (struct fr_rares_item *)s->item.at + o->i - 1;
	if (it->ts >= s->horizon_ns && r->ts >= it->ts)
		it->took_ns = r->ts - it->ts;
	o->i = 0;
}

static void rares_take(struct fr_rares *s, const struct fr_view *v, const struct fr_row *r)
{
	u32 entry = s->by_nr[r->ev->nr] - 1;
	struct fr_rares_item *it;
	struct rares_open *o;

	if (*fr_rare_get(entry)->begin) {
		rares_end(s, r, entry);
		return;
	}
	it = s->item.cnt < ITEM_MOST && fr_memory_has_row_room(2 * (s->item.cnt + 1) * s->item.item_sz)
		     ? fr_vec_room(&s->item, 1)
		     : NULL;
	s->is_full |= !it;
	o = rares_begins(entry) ? fr_tally_get(&s->open, rares_key(entry, r->tid)) : NULL;
	if (o)
		o->i = 0; /* one that has no end here */
	if (!it)
		return;
	*it = (struct fr_rares_item){.ts = r->ts, .took_ns = FR_RARES_UNKNOWN, .tid = r->tid, .cpu = r->cpu, .entry = entry};
	s->item.cnt++;
	if (o)
		o->i = s->item.cnt;
	else
		rares_say(s, v, r, it);
}

void fr_rares_run(struct fr_rares *s, const struct fr_replay_run *run)
{
	const struct fr_batch *b = run->b;
	u32 i;

	if (b->tier != FR_TIER_RARE)
		return;
	for (i = run->from; i < run->to; i++)
		if (s->by_nr[b->ev[i]]) {
			struct fr_row r = fr_batch_row(b, i);

			rares_take(s, run->view, &r);
		}
}

/* ---- questions ---- */

bool fr_rares_has(const struct fr_rares *s, const char *name)
{
	int entry = fr_rare_find(name);

	return entry >= 0 && s->has[entry];
}

bool fr_rares_has_all(const struct fr_rares *s, const char *name, u64 from_ns)
{
	const char *at = fr_snap_fact(s->snap, "thinned"), *of;
	int len;
	u64 cnt;

	while (fr_counts_next(&at, &of, &len, &cnt))
		if (cnt && len == (int)(strlen(FR_TP_PREFIX) + strlen(name)) &&
		    !strncmp(of, FR_TP_PREFIX, strlen(FR_TP_PREFIX)) && !strncmp(of + strlen(FR_TP_PREFIX), name, strlen(name)))
			return false;
	return fr_rares_has(s, name) && !s->is_full && s->horizon_ns <= from_ns;
}

const struct fr_rares_item *fr_rares_next(const struct fr_rares *s, size_t *i, const char *name, u64 from_ns, u64 to_ns)
{
	int entry = fr_rare_find(name);
	const struct fr_rares_item *it;

	while ((it = fr_rares_at(s, *i))) {
		++*i;
		if (it->entry == entry && it->ts >= from_ns && it->ts < to_ns)
			return it;
	}
	return NULL;
}
