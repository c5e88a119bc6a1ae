/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slow [-w WINDOW] [-n COUNT] FILE...: who was switched to how often, and which system calls took longest. An example of
 * libflightrec:
 *
 *	cc -o slow slow.c $(pkg-config --cflags --libs flightrec)
 *	./slow -w trigger-50ms..trigger crash.flight
 */
#include <errno.h>
#include <flightrec.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMM_SZ	  17
#define SLOW_MOST 100

/* How often a name was switched to. */
struct switches {
	char comm[COMM_SZ];
	unsigned long cnt;
};

struct slow {
	uint64_t latency_ns, ts;
	unsigned tid;
	char call[32], comm[COMM_SZ];
};

struct sums {
	struct switches *of; /* grows */
	size_t cnt;
	struct slow slow[SLOW_MOST]; /* slowest first */
	size_t slow_cnt, slow_most;
};

static struct switches *find(struct sums *s, const char *comm, size_t len)
{
	struct switches *grown;
	size_t i;

	for (i = 0; i < s->cnt; i++)
		if (strlen(s->of[i].comm) == len && !memcmp(s->of[i].comm, comm, len))
			return &s->of[i];
	grown = realloc(s->of, (s->cnt + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	s->of = grown;
	grown += s->cnt++;
	memset(grown, 0, sizeof(*grown));
	memcpy(grown->comm, comm, len);
	return grown;
}

static int add_switch(struct sums *s, const struct flightrec_event *ev)
{
	struct switches *to;
	const char *comm;
	size_t len;

	if (flightrec_get_text(ev, "next_comm", &comm, &len)) {
		comm = "?"; /* nobody told of that task */
		len = 1;
	}
	to = find(s, comm, len < COMM_SZ ? len : COMM_SZ - 1);
	if (!to)
		return -ENOMEM;
	to->cnt++;
	return 0;
}

static void add_call(struct sums *s, const struct flightrec_event *ev)
{
	struct slow new = {.ts = flightrec_event_ts(ev), .tid = flightrec_event_tid(ev)};
	const char *call = flightrec_get_words(ev, "id"), *comm = flightrec_event_comm(ev);
	size_t at;

	if (flightrec_event_pair(ev, FLIGHTREC_PAIR_LATENCY, &new.latency_ns))
		return; /* it began before the snapshot does */
	for (at = s->slow_cnt; at > 0 && s->slow[at - 1].latency_ns < new.latency_ns; at--)
		;
	if (at == s->slow_most)
		return;
	snprintf(new.call, sizeof(new.call), "%s", call ? call : "?");
	snprintf(new.comm, sizeof(new.comm), "%s", comm ? comm : "?");
	if (s->slow_cnt < s->slow_most)
		s->slow_cnt++;
	memmove(&s->slow[at + 1], &s->slow[at], (s->slow_cnt - at - 1) * sizeof(new));
	s->slow[at] = new;
}

static int by_cnt(const void *a, const void *b)
{
	const struct switches *x = a, *y = b;

	return x->cnt != y->cnt ? (x->cnt < y->cnt) - (x->cnt > y->cnt) : strcmp(x->comm, y->comm);
}

/* Names are from files of others: no escape sequence of theirs is to reach a terminal. */
static void put_name(const char *name)
{
	for (; *name; name++)
		putchar((unsigned char)*name < 0x20 || (unsigned char)*name >= 0x7f ? '?' : *name);
}

static void print(struct sums *s)
{
	size_t i;

	if (s->cnt)
		qsort(s->of, s->cnt, sizeof(*s->of), by_cnt);
	puts("context switches to");
	for (i = 0; i < s->cnt; i++) {
		printf("%10lu  ", s->of[i].cnt);
		put_name(s->of[i].comm);
		putchar('\n');
	}
	puts("slowest system calls");
	for (i = 0; i < s->slow_cnt; i++) {
		printf("%10llu ns  %s  at %llu, tid %u ", (unsigned long long)s->slow[i].latency_ns, s->slow[i].call,
		       (unsigned long long)s->slow[i].ts, s->slow[i].tid);
		put_name(s->slow[i].comm);
		putchar('\n');
	}
}

static int sum_up(struct flightrec *fr, struct sums *s)
{
	const struct flightrec_event *ev;
	int got;

	while ((got = flightrec_next(fr, &ev)) > 0) {
		const char *name = flightrec_type_name(flightrec_event_type(ev));

		if (!strcmp(name, "sys_exit"))
			add_call(s, ev);
		else if (add_switch(s, ev))
			return -ENOMEM;
	}
	return got;
}

static int open_all(struct flightrec *fr, const char *window, char **path)
{
	int err = window ? flightrec_set_window(fr, window) : 0;

	for (; !err && *path; path++)
		err = flightrec_add(fr, *path);
	if (!err)
		err = flightrec_set_filter(fr, "event == sched_switch || event == sys_exit");
	if (!err)
		err = flightrec_set_flags(fr, FLIGHTREC_PAIRS);
	return err ? err : flightrec_open(fr);
}

int main(int argc, char **argv)
{
	struct sums s = {.slow_most = 10};
	struct flightrec *fr = flightrec_new();
	const char *window = NULL;
	int opt, err;

	while ((opt = getopt(argc, argv, "w:n:")) != -1) {
		if (opt == 'w')
			window = optarg;
		else if (opt == 'n' && atoi(optarg) > 0 && atoi(optarg) <= SLOW_MOST)
			s.slow_most = atoi(optarg);
		else
			return fprintf(stderr, "usage: slow [-w WINDOW] [-n 1..%d] FILE...\n", SLOW_MOST), 2;
	}
	err = fr ? open_all(fr, window, argv + optind) : -ENOMEM;
	if (!err)
		err = sum_up(fr, &s);
	if (err)
		fprintf(stderr, "slow: %s\n", err == -ENOMEM ? "out of memory" : flightrec_error(fr));
	else
		print(&s);
	if (!err && fflush(stdout)) {
		err = -errno;
		fprintf(stderr, "slow: cannot write: %s\n", strerror(errno));
	}
	if (!err && flightrec_is_damaged(fr))
		fprintf(stderr, "slow: parts of the snapshots are damaged, and left out\n");
	free(s.of);
	flightrec_free(fr);
	return err ? 1 : 0;
}
