/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_net: a task waited for a peer. */
#include <stdio.h>
#include <string.h>

#include "base/text/list.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

/* ---- delayed ACK ---- */

/* The kernel's least delay is 40 ms, to the tick; TCP's other timers begin at 200 ms. */
#define DELACK_LEAST_NS (36 * FR_MSEC_NS)
#define DELACK_MOST_NS	(60 * FR_MSEC_NS)

struct ends {
	const char *mine, *peer; /* of "tcp:MINE-PEER" */
	size_t mine_len, peer_len;
};

/* Addresses have no "-", but for names of zones, of which nothing is said. */
static bool ends_of(const struct fr_waited *w, struct ends *e)
{
	const char *at = w->object, *end = w->object + w->object_len, *dash;

	if (w->object_len < 5 || memcmp(at, "tcp:", 4))
		return false;
	at += 4;
	dash = memchr(at, '-', end - at);
	if (!dash || memchr(dash + 1, '-', end - dash - 1))
		return false;
	*e = (struct ends){.mine = at, .mine_len = dash - at, .peer = dash + 1, .peer_len = end - dash - 1};
	return true;
}

static bool is_same_end(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && !memcmp(a, b, a_len);
}

/* A socket that listens, or is not connected yet, has port 0 there: nobody. */
static bool has_peer(const struct ends *e)
{
	return e->peer_len < 2 || memcmp(e->peer + e->peer_len - 2, ":0", 2);
}

/* Are these the two ends of one connection? Then it does not leave the host. */
static bool are_ends(const struct fr_waited *a, const struct fr_waited *b)
{
	struct ends x, y;

	return ends_of(a, &x) && ends_of(b, &y) && has_peer(&x) && has_peer(&y) &&
	       is_same_end(x.mine, x.mine_len, y.peer, y.peer_len) && is_same_end(x.peer, x.peer_len, y.mine, y.mine_len);
}

static bool is_delack_long(const struct fr_waited *w)
{
	return !fr_waited_was_runnable(w) && w->blocked_ns >= DELACK_LEAST_NS && w->blocked_ns <= DELACK_MOST_NS;
}

/*
 * Within a host, what a task sends arrives within its own call: the sender wakes the receiver. Here a timer did, 40 ms later:
 * the sender's second small segment waited for the acknowledgment of the first (Nagle), and the receiver delayed that.
 */
static bool is_held_back(const struct fr_waited *w)
{
	return is_delack_long(w) && (w->waker == FR_WAKER_timer || w->waker == FR_WAKER_softirq || w->waker == FR_WAKER_irq);
}

static u32 times_of(const struct fr_clues *c, const struct fr_waited *like)
{
	const struct fr_waited *w;
	size_t i;
	u32 cnt = 0;

	for (i = 0; (w = fr_clues_wait(c, i)); i++)
		cnt += w->tid == like->tid && w->object_len == like->object_len &&
		       !memcmp(w->object, like->object, w->object_len) && is_delack_long(w);
	return cnt;
}

bool fr_recognise_delayed_ack(struct fr_case *k)
{
	const struct fr_waited *w = k->wait, *of;
	u32 cnt;

	if (!w || !is_delack_long(w) || w->waker != FR_WAKER_task || !w->waker_pid)
		return false;
	of = fr_clues_wait_in(k->c, w->waker_pid, fr_waited_began_ns(w), fr_waited_woken_ns(w), w->blocked_ns / 4 * 3);
	cnt = times_of(k->c, w);
	if (!of || !are_ends(w, of) || !is_held_back(of))
		return false;
	fr_case_cause(
		k, "wait",
		"a delayed ACK (Nagle): %s got data only %s later, by a timer and not by %s's own send, as when a request of "
		"two small writes waits for the acknowledgment of the first; %u wait%s like this in the %s before",
		fr_word_who(k, of->tid, of->ts), fr_word_ns(k, of->blocked_ns), fr_word_comm(k, w->tid, w->ts), cnt,
		cnt == 1 ? "" : "s", fr_word_ns(k, k->c->at_ns - k->c->begin_ns));
	return true;
}

/* ---- what TCP sends again ---- */

#define SYN_LEAST_NS (990 * FR_MSEC_NS) /* a SYN without an answer is sent again after a second */
#define RTO_LEAST_NS (190 * FR_MSEC_NS) /* and data after 200 ms or more, to the tick */

static bool is_ended_by_nobody(const struct fr_waited *w)
{
	return !fr_waited_was_runnable(w) &&
	       (w->waker == FR_WAKER_timer || w->waker == FR_WAKER_softirq || w->waker == FR_WAKER_irq);
}

static bool is_in_connect(const struct fr_case *k, const struct fr_waited *w)
{
	char call[FR_WAITED_CALL_SZ];

	return w->in == FR_WAITED_call && !strcmp(fr_waited_call(w, k->c->arch, call), "connect");
}

static bool starts_with(const char *text, size_t len, const char *start)
{
	return len >= strlen(start) && !memcmp(text, start, strlen(start));
}

static bool is_loopback(const struct ends *e)
{
	return starts_with(e->peer, e->peer_len, "127.") || starts_with(e->peer, e->peer_len, "[::1]");
}

/* Is this end's address one of the host's own: of its loopback, or the same as the other end's? */
static bool is_within_host(const struct ends *e)
{
	const char *mine = memrchr(e->mine, ':', e->mine_len), *peer = memrchr(e->peer, ':', e->peer_len);

	if (!mine || !peer)
		return false;
	return is_loopback(e) || is_same_end(e->mine, mine - e->mine, e->peer, peer - e->peer);
}

bool fr_case_is_local_tcp(const struct fr_waited *w)
{
	struct ends e;

	return ends_of(w, &e) && is_within_host(&e);
}

/* ---- what the kernel told of a connection ---- */

/* What TCP sent again of one connection, in either direction, in a time. */
struct again {
	u32 cnt;
	u64 last_ns;
	bool by_peer; /* the last one */
};

#define RETRANSMIT "tcp:tcp_retransmit_skb"
#define SYN_SENT   2u

/* Does it begin with "FROM -> TO"? */
static bool is_between(const char *what, const char *from, size_t from_len, const char *to, size_t to_len)
{
	char both[FR_RARES_WHAT_SZ];
	int len = snprintf(both, sizeof(both), "%.*s -> %.*s", (int)from_len, from, (int)to_len, to);

	return len > 0 && len < (int)sizeof(both) && !strncmp(what, both, len) && (!what[len] || what[len] == ' ');
}

/* syn: of the connection's first segment, or of what comes after that? */
static struct again sent_again(const struct fr_clues *c, const struct ends *e, u64 from_ns, u64 to_ns, bool syn)
{
	const struct fr_rares_item *it;
	struct again a = {0};
	size_t i = 0;

	while ((it = fr_rares_next(&c->rares, &i, RETRANSMIT, from_ns, to_ns))) {
		bool by_peer = is_between(it->what, e->peer, e->peer_len, e->mine, e->mine_len);

		if ((it->state == SYN_SENT) == syn &&
		    (by_peer || is_between(it->what, e->mine, e->mine_len, e->peer, e->peer_len)))
			a = (struct again){a.cnt + 1, it->ts, by_peer};
	}
	return a;
}

static bool net_is_same_text(const struct fr_belongs *a, const struct fr_belongs *b, enum fr_belongs_what what)
{
	return a->text[what] && b->text[what] && !strcmp(a->text[what], b->text[what]);
}

/* Have two processes one network? Of the host, of one container, or of one pod they do; of others it is not known. */
static bool is_same_net(const struct fr_clues *c, const struct fr_waited *a, const struct fr_waited *b)
{
	const struct fr_belongs *x = fr_clues_belongs(c, a->tid, a->ts), *y = fr_clues_belongs(c, b->tid, b->ts);
	enum fr_belongs_what what;

	if (!x || !y)
		return false;
	what = x->text[FR_BELONGS_container_id] ? FR_BELONGS_container_id : FR_BELONGS_container;
	if (!x->text[FR_BELONGS_container] && !y->text[FR_BELONGS_container])
		return true;
	return net_is_same_text(x, y, what) ||
	       (net_is_same_text(x, y, FR_BELONGS_pod) && net_is_same_text(x, y, FR_BELONGS_namespace));
}

/* Each network has a loopback of its own: the same address may be another process's there. */
const struct fr_waited *fr_case_served_by(const struct fr_case *k, const struct fr_waited *w)
{
	const struct fr_waited *of;
	struct ends e, x;
	size_t i;

	for (i = ends_of(w, &e) ? k->c->wait.cnt : 0; i--;) {
		of = fr_clues_wait(k->c, i);
		if (of->pid != w->pid && ends_of(of, &x) && is_same_end(x.mine, x.mine_len, e.peer, e.peer_len) &&
		    (!is_loopback(&e) || is_same_net(k->c, w, of)))
			return of;
	}
	return NULL;
}

/* Does it wait for its connection to be there, in connect() or as one that does not wait in that: its SYN was sent again? */
static bool is_connecting(const struct fr_case *k, const struct fr_waited *w)
{
	static const char *const calls[] = {"poll", "ppoll", "select", "pselect6"};
	u64 end_ns = w->ts > k->c->at_ns ? w->ts : k->c->at_ns;
	char call[FR_WAITED_CALL_SZ];
	struct ends e;
	u32 i = 0;

	if (is_in_connect(k, w) || w->in != FR_WAITED_call || !ends_of(w, &e))
		return is_in_connect(k, w);
	fr_waited_call(w, k->c->arch, call);
	while (i < sizeof(calls) / sizeof(calls[0]) && strcmp(call, calls[i]))
		i++;
	if (i == sizeof(calls) / sizeof(calls[0]))
		return false;
	return sent_again(k->c, &e, fr_waited_began_ns(w), (w == &k->by_steps ? end_ns : w->ts) + 1, true).cnt;
}

/* Who waited last at the other end of this very connection; 0: it is not known. */
u32 fr_case_peer(const struct fr_case *k, const struct fr_waited *w)
{
	const struct fr_waited *of;
	size_t i = k->c->wait.cnt;

	while (i--) {
		of = fr_clues_wait(k->c, i);
		if (of->tid != w->tid && are_ends(w, of))
			return of->tid;
	}
	return 0;
}

#define REQUEST_NS (10 * FR_MSEC_NS) /* from a task's own wait to that what it has sent is there, either way */

/*
 * Who got at the other end what w's task sent right before it waited, and has not waited there since; 0: it is not known. Who
 * read there some time ago need not be who does now. A loopback's address may be another network's, but for who was woken by
 * w's task itself.
 */
u32 fr_case_asked(const struct fr_case *k, const struct fr_waited *w)
{
	u64 began_ns = fr_waited_began_ns(w), woken_ns;
	const struct fr_waited *of;
	size_t i = k->c->wait.cnt;
	struct ends e;

	while (i--) {
		of = fr_clues_wait(k->c, i);
		if (of->tid == w->tid || !are_ends(w, of))
			continue;
		woken_ns = fr_waited_woken_ns(of);
		if (fr_waited_was_runnable(of) ||
		    (woken_ns > began_ns ? woken_ns - began_ns : began_ns - woken_ns) > REQUEST_NS)
			return 0;
		if (of->waker == FR_WAKER_task && of->waker_pid == w->tid)
			return of->tid;
		return of->waker == FR_WAKER_softirq && ends_of(w, &e) && (!is_loopback(&e) || is_same_net(k->c, w, of))
			       ? of->tid
			       : 0;
	}
	return 0;
}

bool fr_case_stands_still(const struct fr_case *k, const struct fr_waited *w)
{
	return w->state & (FR_PREV_STATE_STOPPED | FR_PREV_STATE_TRACED) ||
	       fr_clues_kernel_at(k->c, w->kstack_id, "__refrigerator") >= 0 ||
	       fr_clues_kernel_at(k->c, w->kstack_id, "do_freezer_trap") >= 0;
}

#define STILL_LEAST_NS FR_SEC_NS

bool fr_case_stood_briefly(const struct fr_waited *still, const struct fr_waited *w)
{
	return still->off_ns < STILL_LEAST_NS && still->off_ns < w->blocked_ns / 2;
}

/* Of several tasks at that end, one that goes on may answer. */
u32 fr_case_still_at_peer(const struct fr_case *k, const struct fr_waited *w)
{
	size_t cnt, i;
	const struct fr_snap_state *t = fr_snap_states(k->c->snap, &cnt);
	struct fr_still s;
	struct ends e;
	u32 tid = 0;

	for (i = ends_of(w, &e) ? 0 : cnt; i < cnt; i++) {
		struct fr_waited at = {.tid = t[i].tid, .object = t[i].object, .object_len = strlen(t[i].object)};

		if (at.tid == w->tid || !fr_states_is_last(t, cnt, i) || !are_ends(w, &at))
			continue;
		if (!fr_clues_still(k->c, at.tid, &s) || !fr_case_stands_still(k, &s.wait) ||
		    fr_case_stood_briefly(&s.wait, w) || (is_loopback(&e) && !is_same_net(k->c, w, &s.wait)))
			return 0;
		tid = at.tid;
	}
	return tid;
}

/* Does it wait at the port of w's peer, for this connection or for another one's client? */
bool fr_case_is_at_peer(const struct fr_waited *of, const struct fr_waited *w)
{
	struct ends x, e;
	const char *port, *peer;

	if (!ends_of(of, &x) || !ends_of(w, &e))
		return false;
	port = memrchr(x.mine, ':', x.mine_len);
	peer = memrchr(e.peer, ':', e.peer_len);
	return port && peer && is_same_end(port, x.mine + x.mine_len - port, peer, e.peer + e.peer_len - peer);
}

/* How many connects to the same end took as long. */
static u32 connects_like(const struct fr_case *k, const struct ends *to)
{
	const struct fr_waited *w;
	struct ends e;
	size_t i;
	u32 cnt = 0;

	for (i = 0; (w = fr_clues_wait(k->c, i)); i++)
		cnt += w->blocked_ns >= SYN_LEAST_NS && is_ended_by_nobody(w) && ends_of(w, &e) &&
		       is_same_end(e.peer, e.peer_len, to->peer, to->peer_len) &&
		       is_connecting(k, w); /* goes through all that was sent again */
	return cnt;
}

static const char *syn_word(struct fr_case *k, const struct again *syn)
{
	return syn->cnt ? fr_word(k, "; its SYN was sent again %u time%s%s", syn->cnt, fr_plural(syn->cnt),
				  fr_word_or_more(k, RETRANSMIT, fr_waited_began_ns(k->wait)))
			: "";
}

/* To another host: there the answer takes as long as the way, but hardly ever a second. */
static void tell_far_syn(struct fr_case *k, const struct ends *to)
{
	const struct fr_waited *w = k->wait;
	u64 end_ns = w->ts > k->c->at_ns ? w->ts : k->c->at_ns;
	struct again syn = sent_again(k->c, to, fr_waited_began_ns(w), end_ns + 1, true);

	fr_case_cause(
		k, fr_word(k, "%s%s", k->wait_from, syn.cnt ? ", tp:" RETRANSMIT : ""),
		"no answer came to a connect for %s: %s waited for %s, which is not its own address%s, as when that host is "
		"down, packets are dropped on the way (a firewall), or its listen queue is full%s",
		fr_word_ns(k, w->blocked_ns), fr_word_who(k, w->tid, w->ts), fr_word_text(k, to->peer, to->peer_len),
		w == &k->by_steps && k->is_going ? ", and still does" : "",
		syn.cnt ? syn_word(k, &syn) : "; a SYN is sent again after 1 s, 3 s, 7 s");
}

#define OVERFLOWS "netstat.TcpExtListenOverflows"

/* Behind the sentence: why nobody answered, who listens, how many others there were. */
static void tell_near_syn(struct fr_case *k, const struct ends *to)
{
	const struct fr_waited *w = k->wait, *of = fr_case_served_by(k, w);
	u64 end_ns = w->ts > k->c->at_ns ? w->ts : k->c->at_ns;
	struct again syn = sent_again(k->c, to, fr_waited_began_ns(w), end_ns + 1, true);
	struct fr_counter_move full = {0};
	bool is_full = fr_clues_moved(k->c, OVERFLOWS, "", &full) && full.delta, goes_on = w == &k->by_steps && k->is_going;
	bool calls = is_in_connect(k, w);
	u32 cnt = connects_like(k, to);
	const char *waits = goes_on ? "has gone on for" : "ended only after";
	const char *why = ", as when a SYN is dropped since the listen queue is full (accept() comes too late), and sent again "
			  "after 1 s",
		   *like = "";

	if (!calls)
		waits = fr_word(k, "had it wait %s for", fr_word_call(k, w));
	if (is_full)
		why = fr_word(
			k,
			", as when the listen queue is full (accept() comes too late): the kernel dropped %s connection%s "
			"of this host for that in the %s up to the reading behind the trigger",
			fr_word_cnt(k, full.delta), fr_plural(full.delta), fr_word_ns(k, full.to_ns - full.from_ns));
	if (cnt > 1)
		like = fr_word(k, "; %u connects like this in the %s before", cnt, fr_word_ns(k, k->c->at_ns - k->c->begin_ns));
	fr_case_cause(k,
		      syn.cnt && is_full ? "wait, tp:" RETRANSMIT ", counters"
		      : is_full		 ? "wait, counters"
		      : syn.cnt		 ? "wait, tp:" RETRANSMIT
					 : k->wait_from,
		      "nobody answered the first SYN: %s of %s to %s%s%s, within the host, %s %s, and not within %s%s%s%s",
		      calls ? "connect()" : "a connect", fr_word_who(k, w->tid, w->ts), fr_word_text(k, to->peer, to->peer_len),
		      of ? ", which is of " : "", of ? fr_word_who(k, of->tid, of->ts) : "", waits,
		      fr_word_ns(k, w->blocked_ns), calls ? "the call" : "connect() itself", syn_word(k, &syn), why, like);
}

#define SYN_GOING_NS (100 * FR_MSEC_NS) /* of a connect within the host that goes on */

/*
 * Within a host, a SYN is answered within the call that sends it. Here the answer came by a timer of a second or more, or has
 * not come yet.
 */
bool fr_recognise_unanswered_syn(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	bool goes_on = w && w == &k->by_steps && k->is_going;
	struct ends e;

	if (!w || w->state != FR_PREV_STATE_SLEEPING || !is_connecting(k, w) || !ends_of(w, &e) ||
	    w->blocked_ns < (goes_on && is_within_host(&e) ? SYN_GOING_NS : SYN_LEAST_NS) ||
	    !(is_ended_by_nobody(w) || goes_on || fr_case_ended_by_signal(k, w)))
		return false;
	if (is_within_host(&e))
		tell_near_syn(k, &e);
	else
		tell_far_syn(k, &e);
	return true;
}

/* ---- a full listen queue, while somebody waits, who knows for what ---- */

#define UNTOLD_LEAST_NS (100 * FR_MSEC_NS)

/* What was sent again of connections that began within the host: to the end that most were for. */
struct far_end {
	const struct fr_rares_item *syn; /* one of them */
	const char *to;			 /* "127.0.0.1:80", len bytes */
	size_t len;
	u32 cnt;
};

static bool syn_end(const struct fr_rares_item *it, struct far_end *out)
{
	const char *arrow = strstr(it->what, " -> ");
	struct ends e = {0};

	if (it->state != SYN_SENT || !arrow)
		return false;
	e.mine = it->what;
	e.mine_len = arrow - it->what;
	e.peer = arrow + 4;
	e.peer_len = strcspn(e.peer, " ");
	*out = (struct far_end){.syn = it, .to = e.peer, .len = e.peer_len};
	return is_within_host(&e);
}

#define ENDS_MOST 256u /* that are counted: a recorder writes some 300 in five minutes */

static bool find_full_end(const struct fr_case *k, u64 from_ns, u64 to_ns, struct far_end *most)
{
	const struct fr_rares_item *it, *of;
	struct far_end one, other;
	size_t i = 0, n;
	u32 asked = 0;

	*most = (struct far_end){0};
	while (asked < ENDS_MOST && (it = fr_rares_next(&k->c->rares, &i, RETRANSMIT, from_ns, to_ns))) {
		if (!syn_end(it, &one))
			continue;
		asked++;
		for (n = 0; (of = fr_rares_next(&k->c->rares, &n, RETRANSMIT, from_ns, to_ns));)
			one.cnt += syn_end(of, &other) && is_same_end(one.to, one.len, other.to, other.len);
		if (one.cnt > most->cnt)
			*most = one;
	}
	return most->cnt;
}

/*
 * It waited for what is not recorded, and nobody answered, while connections within the host were not: that it waited for one
 * of these is not known.
 */
bool fr_recognise_full_listener(struct fr_case *k)
{
	static const char *const calls[] = {"poll", "ppoll", "select", "pselect6", NULL};
	const struct fr_waited *w = k->wait;
	bool goes_on = w && w == &k->by_steps && k->is_going;
	struct fr_counter_move full = {0};
	char call[FR_WAITED_CALL_SZ];
	struct far_end end;

	if (!w || w->in != FR_WAITED_call || w->state != FR_PREV_STATE_SLEEPING || w->object_len ||
	    w->blocked_ns < UNTOLD_LEAST_NS || !(goes_on || is_ended_by_nobody(w) || fr_case_ended_by_signal(k, w)) ||
	    !fr_is_one_of(fr_waited_call(w, k->c->arch, call), calls) || !fr_clues_moved(k->c, OVERFLOWS, "", &full) ||
	    !full.delta || !find_full_end(k, fr_waited_began_ns(w), (goes_on ? k->c->at_ns : w->ts) + 1, &end))
		return false;
	fr_case_cause(
		k, fr_word(k, "%s, tp:" RETRANSMIT ", counters", k->wait_from),
		"a listen queue is full (accept() comes too late): the kernel dropped %s connection%s of this host for that in "
		"the %s up to the reading behind the trigger, and while %s waited %s%s, SYNs to %s, within the host, were sent "
		"again %u time%s%s; whether it waited for that is not recorded",
		fr_word_cnt(k, full.delta), fr_plural(full.delta), fr_word_ns(k, full.to_ns - full.from_ns),
		fr_word_who(k, w->tid, w->ts), fr_word_call(k, w), fr_word_object(k, w), fr_word_text(k, end.to, end.len),
		end.cnt, fr_plural(end.cnt), fr_word_or_more(k, RETRANSMIT, fr_waited_began_ns(w)));
	return true;
}

/* A wait for the other end of the same connection, for three quarters of that of w; NULL: none. */
static const struct fr_waited *wait_of_peer(const struct fr_clues *c, const struct fr_waited *w)
{
	u64 from_ns = fr_waited_began_ns(w), to_ns = fr_waited_woken_ns(w);
	const struct fr_waited *of;
	size_t i;

	for (i = 0; (of = fr_clues_wait(c, i)); i++)
		if (of->tid != w->tid && !fr_waited_was_runnable(of) && are_ends(w, of) &&
		    fr_overlap_ns(fr_waited_began_ns(of), fr_waited_woken_ns(of), from_ns, to_ns) >= (to_ns - from_ns) / 4 * 3)
			return of;
	return NULL;
}

static bool is_retransmit_long(const struct fr_waited *w)
{
	return is_ended_by_nobody(w) && w->blocked_ns >= RTO_LEAST_NS;
}

#define LOST_LEAST_NS (20 * FR_MSEC_NS)
#define DROP	      "skb:kfree_skb"

/* " (dropped on this host meanwhile: NETFILTER_DROP, 3 packets)": the reason that the kernel named most often, or nothing. */
static const char *drops_word(struct fr_case *k, u64 from_ns, u64 to_ns)
{
	const struct fr_rares_item *it, *other, *most = NULL;
	u32 cnt, most_cnt = 0;
	size_t i = 0, n;

	while ((it = fr_rares_next(&k->c->rares, &i, DROP, from_ns, to_ns))) {
		for (n = i, cnt = 1; (other = fr_rares_next(&k->c->rares, &n, DROP, from_ns, to_ns));)
			cnt += !strcmp(other->what, it->what);
		if (cnt > most_cnt)
			most = it, most_cnt = cnt;
	}
	return most ? fr_word(k, " (dropped on this host meanwhile: %u packet%s%s, reason %s)", most_cnt, fr_plural(most_cnt),
			      fr_word_or_more(k, DROP, from_ns), fr_word_text(k, most->what, strlen(most->what)))
		    : "";
}

/* TCP itself says that it sent something again, for as long as nothing came: the last time shortly before it did. */
static bool is_sent_again(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	bool goes_on = w == &k->by_steps && k->is_going;
	u64 began_ns = fr_waited_began_ns(w), woken_ns = goes_on ? k->c->at_ns : fr_waited_woken_ns(w);
	const char *drops;
	struct again a;
	struct ends e;

	if (w->blocked_ns < LOST_LEAST_NS || !ends_of(w, &e))
		return false;
	a = sent_again(k->c, &e, began_ns, woken_ns + 1, false);
	if (!a.cnt || woken_ns - a.last_ns > w->blocked_ns / 4 * (goes_on ? 3 : 1))
		return false;
	drops = drops_word(k, began_ns, woken_ns);
	fr_case_cause(
		k, fr_word(k, "%s, tp:" RETRANSMIT "%s", k->wait_from, *drops ? ", tp:" DROP : ""),
		"TCP sent data again, as after a loss: while %s waited %s for what comes from %s, it did so %u time%s%s%s, "
		"the last time %s, %s %s%s",
		fr_word_who(k, w->tid, w->ts), fr_word_ns(k, w->blocked_ns), fr_word_text(k, e.peer, e.peer_len), a.cnt,
		fr_plural(a.cnt), fr_word_or_more(k, RETRANSMIT, began_ns),
		w->blocked_ns >= RTO_LEAST_NS ? " (a retransmission, after a time-out of 200 ms or more, then twice as long)"
					      : "",
		a.by_peer ? "from there" : "from here", fr_word_ns(k, woken_ns - a.last_ns),
		goes_on ? "before the trigger" : "before that ended", drops);
	return true;
}

/*
 * Both ends are on the host, and wait for each other: what one has sent did not arrive within its call, as it does there, but
 * by a timer later. late: who got it.
 */
bool fr_recognise_retransmit(struct fr_case *k)
{
	const struct fr_waited *w = k->wait, *of, *late = NULL;

	if (!w || fr_waited_was_runnable(w) || is_in_connect(k, w))
		return false;
	if (is_sent_again(k))
		return true;
	if (w->blocked_ns < RTO_LEAST_NS)
		return false;
	of = wait_of_peer(k->c, w);
	if (of && is_retransmit_long(w))
		late = w;
	else if (of && is_retransmit_long(of) && w->waker == FR_WAKER_task && w->waker_pid == of->tid &&
		 of->ts <= fr_waited_woken_ns(w))
		late = of;
	if (!late)
		return false;
	fr_case_cause(
		k, "wait",
		"what was sent to %s arrived late: it waited %s%s, until %s ended that and no send, while %s waited for "
		"the other end, on the same host: as when a packet is lost, and TCP's retransmission time-out (200 ms, then "
		"twice as long) sends it again",
		fr_word_who(k, late->tid, late->ts), fr_word_ns(k, late->blocked_ns), fr_word_object(k, late),
		fr_waker_words(late->waker), fr_word_who(k, late == w ? of->tid : w->tid, late->ts));
	return true;
}

/* ---- a connection that was refused ---- */

#define REFUSED_NS FR_SEC_NS	     /* before its end */
#define ANSWER_NS  (10 * FR_MSEC_NS) /* from a reset that is sent to its arrival within the host */

/* The reset that the host itself sent for want of a socket, and that came as this one: of the other end. NULL: there is none.
 */
static const struct fr_rares_item *sent_reset(const struct fr_clues *c, const struct fr_rares_item *got)
{
	u64 from_ns = got->ts > ANSWER_NS ? got->ts - ANSWER_NS : 0;
	const char *to = strstr(got->what, " -> ");
	const struct fr_rares_item *it;
	size_t i = 0;

	while (to && (it = fr_rares_next(&c->rares, &i, "tcp:tcp_send_reset", from_ns, got->ts + 1)))
		if (!it->state && is_between(it->what, to + 4, strcspn(to + 4, " "), got->what, to - got->what))
			return it;
	return NULL;
}

/* Of "127.0.0.1:5432". */
static u32 net_port(const char *end, size_t len)
{
	u32 port = 0, unit = 1;

	for (; len && end[len - 1] >= '0' && end[len - 1] <= '9' && unit <= 10000; len--, unit *= 10)
		port += unit * (end[len - 1] - '0');
	return port;
}

/*
 * A wait of the process that this reset ended: for a connection to that port, which went on right after it. Its own port is 0
 * once the connection is closed.
 */
static const struct fr_waited *wait_of_reset(const struct fr_clues *c, const struct fr_rares_item *got)
{
	const struct fr_waited *w;
	struct ends e;
	size_t i;
	u32 mine;

	for (i = 0; (w = fr_clues_wait(c, i)); i++) {
		if (w->pid != c->pid || fr_waited_was_runnable(w) || fr_waited_began_ns(w) > got->ts ||
		    fr_waited_woken_ns(w) < got->ts || fr_waited_woken_ns(w) > got->ts + ANSWER_NS || !ends_of(w, &e) ||
		    !got->peer || net_port(e.peer, e.peer_len) != got->peer)
			continue;
		mine = net_port(e.mine, e.mine_len);
		if (!mine || mine == got->mine)
			return w;
	}
	return NULL;
}

/* An end with an error, soon after a reset had ended a wait of the process for a connection. */
static bool tell_reset(struct fr_case *k, u64 from_ns)
{
	const struct fr_waited *w = NULL, *one;
	const struct fr_rares_item *it, *got = NULL;
	bool beside;
	struct ends e;
	size_t i = 0;

	while ((it = fr_rares_next(&k->c->rares, &i, "tcp:tcp_receive_reset", from_ns, k->c->at_ns + 1))) {
		one = wait_of_reset(k->c, it);
		if (one)
			got = it, w = one;
	}
	if (!w || !ends_of(w, &e))
		return false;
	beside = got->tid && fr_clues_pid(k->c, got->tid, got->ts) != k->c->pid && w->waker_pid == got->tid;
	fr_case_cause(k, "wait, tp:tcp:tcp_receive_reset, trigger",
		      "a reset ended the connection to %s that %s waited for %s: the peer closed it without reading all, or at "
		      "once, or has no such connection%s%s; the process ended with that status %s later",
		      fr_word_text(k, e.peer, e.peer_len), fr_word_who(k, w->tid, w->ts), fr_word_call(k, w),
		      beside ? "; it came in the name of " : "", beside ? fr_word_who(k, got->tid, got->ts) : "",
		      fr_word_ns(k, k->c->at_ns - got->ts));
	return true;
}

/*
 * An end with an error, soon after a packet of its own was answered by a reset, as there was no socket. Within the host all of
 * that is done in the call that sends.
 */
bool fr_recognise_refused(struct fr_case *k)
{
	const struct fr_rares_item *it, *last = NULL;
	u64 from_ns = k->c->at_ns > REFUSED_NS ? k->c->at_ns - REFUSED_NS : 0;
	const char *to;
	size_t i = 0;

	if (!k->c->tid || !k->c->reason || strcmp(k->c->reason, "exit") || fr_case_fact(k, "trigger_status", 0) <= 0)
		return false;
	while ((it = fr_rares_next(&k->c->rares, &i, "tcp:tcp_receive_reset", from_ns, k->c->at_ns + 1)))
		if ((it->tid == k->c->tid || fr_clues_pid(k->c, it->tid, it->ts) == k->c->pid) && sent_reset(k->c, it))
			last = it;
	if (!last)
		return tell_reset(k, from_ns);
	to = strstr(last->what, " -> ") + 4;
	fr_case_cause(k, "tp:tcp:tcp_receive_reset, tp:tcp:tcp_send_reset, trigger",
		      "what %s sent to %s was answered by a reset of this host, which has no such socket: nobody listens there "
		      "(connection refused), or the peer has closed it; it ended with that status %s later",
		      fr_word_who(k, last->tid, last->ts), fr_word_text(k, to, strcspn(to, " ")),
		      fr_word_ns(k, k->c->at_ns - last->ts));
	return true;
}

/* ---- a resolver ---- */

#define RESOLVER_MS	  5000u /* the C library's time-out, unless resolv.conf has another one */
#define RESOLVER_WAIT_NS  (4950 * FR_MSEC_NS)
#define RESOLVER_TRY_MOST 2u

/* poll() of one descriptor with the resolver's time-out, which ended it: nothing came. */
static bool is_like_resolver(const struct fr_case *k, const struct fr_waited *w)
{
	char call[FR_WAITED_CALL_SZ];

	return w->in == FR_WAITED_call && !fr_waited_was_runnable(w) && w->waker == FR_WAKER_timer && w->arg[1] == 1 &&
	       w->arg[2] == RESOLVER_MS && w->blocked_ns >= RESOLVER_WAIT_NS &&
	       !strcmp(fr_waited_call(w, k->c->arch, call), "poll");
}

#define NAME_SERVER_PORT ":53"
#define NO_ANSWER_NS	 (900 * FR_MSEC_NS) /* resolv.conf has whole seconds */

/* The other end of "udp:MINE-PEER" is a name server's port. False: there is no object, or another one. */
static bool asks_name_server(const struct fr_waited *w, struct ends *e)
{
	struct fr_waited as_tcp = *w;
	char text[FR_WAITED_OBJECT_SZ];
	size_t port_len = strlen(NAME_SERVER_PORT);

	if (w->object_len < 5 || w->object_len >= sizeof(text) || memcmp(w->object, "udp:", 4))
		return false;
	memcpy(text, w->object, w->object_len);
	memcpy(text, "tcp:", 4);
	as_tcp.object = text;
	if (!ends_of(&as_tcp, e))
		return false;
	e->peer = w->object + (e->peer - text); /* the copy ends here */
	e->mine = w->object + (e->mine - text);
	return e->peer_len > port_len && !memcmp(e->peer + e->peer_len - port_len, NAME_SERVER_PORT, port_len);
}

/*
 * It asked a name server, and its time was up, or nothing has come yet, or nothing did for long. An answer may have come
 * before: there are two, of an IPv4 and an IPv6 address, on one socket.
 */
static bool is_unanswered_name(struct fr_case *k, const struct fr_waited *w)
{
	bool goes_on = w == &k->by_steps && k->is_going;
	const char *who, *at;
	struct ends e;

	if (w->state != FR_PREV_STATE_SLEEPING || w->blocked_ns < NO_ANSWER_NS || !asks_name_server(w, &e))
		return false;
	who = fr_word_who(k, w->tid, w->ts);
	at = fr_word_text(k, e.peer, e.peer_len);
	if (goes_on)
		fr_case_cause(k, k->wait_from,
			      "nothing has come from the name server (DNS) at %s for %s so far: %s has waited for that %s", at,
			      fr_word_ns(k, w->blocked_ns), who, fr_word_call(k, w));
	else if (w->waker == FR_WAKER_timer)
		fr_case_cause(k, "wait",
			      "nothing came from the name server (DNS) at %s for %s: %s waited for that %s, until its own "
			      "time-out ended that",
			      at, fr_word_ns(k, w->blocked_ns), who, fr_word_call(k, w));
	else if (w->waker == FR_WAKER_softirq || w->waker == FR_WAKER_irq)
		fr_case_cause(k, "wait", "nothing came from the name server (DNS) at %s for %s: %s waited for that %s", at,
			      fr_word_ns(k, w->blocked_ns), who, fr_word_call(k, w));
	return k->v->cause.text[0] != 0;
}

/* An object tells, where poll() has one; else it says what is known, and what waits so. */
bool fr_recognise_resolver(struct fr_case *k)
{
	const struct fr_waited *w;
	u32 cnt = 0;
	size_t i;

	if (k->wait && k->wait->object_len)
		return is_unanswered_name(k, k->wait);
	if (!k->wait || !is_like_resolver(k, k->wait))
		return false;
	for (i = 0; (w = fr_clues_wait(k->c, i)); i++) /* who does so again and again has a time-out of its own */
		cnt += w->tid == k->wait->tid && w->in == FR_WAITED_call && w->id == k->wait->id && w->arg[2] == RESOLVER_MS;
	if (cnt > RESOLVER_TRY_MOST)
		return false;
	w = k->wait;
	fr_case_cause(
		k, "wait",
		"nothing came: %s waited in poll for one descriptor, until its time-out of 5 s ended that. So does the C "
		"library's resolver (getaddrinfo) when a name server does not answer; what the descriptor is, is not recorded",
		fr_word_who(k, w->tid, w->ts));
	return true;
}

/* ---- an event loop that ended ---- */

#define LOOPS_LEAST 3u
#define ENDS_NS	    (500 * FR_MSEC_NS) /* from its last event to its end: what a runtime does at its exit, with a CPU */

static bool is_in_epoll(const struct fr_case *k, const struct fr_waited *w)
{
	char call[FR_WAITED_CALL_SZ];

	return w->in == FR_WAITED_call && !strncmp(fr_waited_call(w, k->c->arch, call), "epoll_", 6);
}

/* Does this wait say nothing of what it does? It had no CPU, or a page of its own, or waited for another thread of its process.
 */
static bool is_own_business(const struct fr_clues *c, const struct fr_waited *w)
{
	return fr_waited_was_runnable(w) || w->in == FR_WAITED_user ||
	       (w->waker == FR_WAKER_task && w->waker_pid && fr_clues_pid(c, w->waker_pid, fr_waited_woken_ns(w)) == c->pid);
}

/* It had waited for events again and again; one came, and it ended by itself, with success. */
bool fr_recognise_event_loop(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	const struct fr_waited *w, *last = NULL;
	u64 ends_ns = 0;
	u32 cnt = 0;
	size_t i;

	if (!c->tid || !c->reason || strcmp(c->reason, "exit") || fr_case_fact(k, "trigger_status", -1) ||
	    (s32)c->tid != c->pid)
		return false;
	for (i = 0; (w = fr_clues_wait(c, i)); i++) {
		if (w->tid != c->tid || w->ts > c->at_ns)
			continue;
		if (is_in_epoll(k, w) && !fr_waited_was_runnable(w))
			last = w, cnt++, ends_ns = c->at_ns - w->ts;
		else if (is_own_business(c, w))
			ends_ns -= w->off_ns < ends_ns ? w->off_ns : ends_ns;
		else
			last = NULL;
	}
	if (!last || cnt < LOOPS_LEAST || ends_ns > ENDS_NS)
		return false;
	fr_case_cause(k, "wait, trigger",
		      "its event loop ended: after %u waits in it, %s came back from %s, %s, and ended by itself %s later: "
		      "nothing was left that it waited for, or it was told to",
		      cnt, fr_word_comm(k, last->tid, last->ts), fr_word_call(k, last) + 3, fr_word_ender(k, last),
		      fr_word_ns(k, c->at_ns - last->ts));
	return true;
}

/* ---- an end without a word ---- */

#define END_NS (100 * FR_MSEC_NS) /* in which a process that ends tells its threads so */

/* Its other threads waited until the first one, which ended the process, told them to end: how many, one in epoll. */
static u32 idle_threads(const struct fr_case *k, const struct fr_waited **loop)
{
	const struct fr_clues *c = k->c;
	const struct fr_waited *w;
	u32 cnt = 0;
	size_t i;

	for (i = 0, *loop = NULL; (w = fr_clues_wait(c, i)); i++) {
		if (w->pid != c->pid || w->tid == c->tid || w->ts > c->at_ns + END_NS || w->ts + END_NS < c->at_ns ||
		    fr_waited_was_runnable(w) || w->waker != FR_WAKER_task || w->waker_pid != c->tid)
			continue;
		cnt++;
		if (is_in_epoll(k, w))
			*loop = w;
	}
	return cnt;
}

/* Nothing made it end but itself, and nobody of it had work. */
bool fr_recognise_silent_exit(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	const struct fr_waited *loop;
	u32 cnt;

	if (!c->tid || !c->reason || strcmp(c->reason, "exit") || fr_case_fact(k, "trigger_status", -1) ||
	    (s32)c->tid != c->pid)
		return false;
	cnt = idle_threads(k, &loop);
	if (!loop)
		return false;
	fr_case_cause(k, "wait, trigger",
		      "it ended by itself, with success, as when an event loop has nothing left to wait for: of its other "
		      "threads %s had waited %s %s, and no event ended that but %s itself, %s before the end%s",
		      fr_word_who(k, loop->tid, loop->ts), fr_word_ns(k, loop->blocked_ns), fr_word_call(k, loop),
		      fr_word_who(k, c->tid, c->at_ns), loop->ts < c->at_ns ? fr_word_ns(k, c->at_ns - loop->ts) : "0 ns",
		      cnt > 1 ? ", as it did for others" : "");
	return true;
}

/* ---- a peer that says nothing ---- */

#define SILENT_LEAST_NS (10 * FR_MSEC_NS)

/* Asleep in a call that receives: poll() may wait for room to send. Who is stopped in that call is not asleep. */
static bool is_in_receive(const struct fr_case *k, const struct fr_waited *w)
{
	static const char *const calls[] = {"recvfrom", "recvmsg", "recvmmsg", "read", "readv"};
	char call[FR_WAITED_CALL_SZ];
	size_t i;

	if (w->in != FR_WAITED_call || w->state != FR_PREV_STATE_SLEEPING)
		return false;
	fr_waited_call(w, k->c->arch, call);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(call, calls[i]))
			return true;
	return false;
}

/* "; who waited at that end last, x/1, has been in futex ... for 2 s": it may have left the answer to another one. Or nothing.
 */
static const char *net_peer_word(struct fr_case *k, const struct fr_waited *w)
{
	u32 tid = fr_case_peer(k, w);
	struct fr_waited at = {.tid = tid, .ts = w->ts};
	struct fr_still s;
	struct ends e;

	if (!tid || !ends_of(w, &e) || (is_loopback(&e) && !is_same_net(k->c, w, &at)))
		return "";
	if (!fr_clues_still(k->c, tid, &s))
		return fr_word(k, "; who waited at that end last is %s", fr_word_who(k, tid, w->ts));
	return fr_word(k, "; who waited at that end last, %s, has been %s", fr_word_who(k, tid, w->ts), fr_word_still(k, &s));
}

/*
 * What comes by a unix socket, of one process that sent something before. Its object is the address, which several connections
 * have: of those of another process nothing is said.
 */
static bool is_silent_unix(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	const char *more, *from = "";

	if (w != &k->by_steps || !k->is_going || w->blocked_ns < SILENT_LEAST_NS || !is_in_receive(k, w) ||
	    !starts_with(w->object, w->object_len, "unix:"))
		return false;
	more = fr_word_stopped(k, w, &from);
	if (!*more) {
		more = fr_word_only_ender(k, w);
		from = ", wait";
	}
	if (!*more)
		return false;
	fr_case_cause(k, fr_word(k, "%s%s", k->wait_from, from),
		      "what %s waits for has not come%s for %s: so long it has waited %s, and goes on%s",
		      fr_word_who(k, w->tid, w->ts), fr_word_object(k, w), fr_word_ns(k, w->blocked_ns), fr_word_call(k, w),
		      more);
	return true;
}

/*
 * It waited for what the other end had to send. What that did is not known: it may have sent it, and a segment was lost on the
 * way; and it may be a task of this host, as where addresses are translated.
 */
bool fr_recognise_silent_peer(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	bool goes_on = w && w == &k->by_steps && k->is_going;
	const char *more, *more_from = "";
	struct fr_still s;
	struct ends e;

	if (goes_on && fr_case_goes_on_for(k, w, &s)) /* what that one waits for says more */
		return false;
	if (w && is_silent_unix(k))
		return true;
	if (!w || w->blocked_ns < w->off_ns / 2 || w->blocked_ns < SILENT_LEAST_NS || !is_in_receive(k, w) || !ends_of(w, &e) ||
	    !has_peer(&e) ||
	    (!goes_on &&
	     (is_within_host(&e) || fr_case_peer(k, w) || (w->waker != FR_WAKER_softirq && w->waker != FR_WAKER_irq))))
		return false; /* of a peer that is known here, it is said what that did */
	more = goes_on ? fr_word_stopped(k, w, &more_from) : "";
	if (goes_on && !*more) {
		more = net_peer_word(k, w);
		more_from = *more ? ", wait" : "";
	}
	fr_case_cause(k, fr_word(k, "%s%s", k->wait_from, more_from), "what %s %s come from %s for %s: so long it %s %s, %s%s",
		      fr_word_who(k, w->tid, w->ts), goes_on ? "waits for has not" : "waited for did not",
		      fr_word_text(k, e.peer, e.peer_len), fr_word_ns(k, w->blocked_ns), goes_on ? "has waited" : "waited",
		      fr_word_call(k, w), fr_word_ender(k, w), more);
	return true;
}
