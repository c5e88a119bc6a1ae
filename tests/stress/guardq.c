/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guardq MILLISECONDS: base/set/guardq.h with a writer and a reader of their own, small queues and slots that check themselves.
 *
 * The writer numbers what it would put; what has no room it counts. The reader finds ascending numbers, each slot whole, and in
 * the end taken + counted = all. Now and then one of both stands still, as a stopped terminal does, or is in a hurry.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/set/guardq.h"

#define WORDS 24

struct slot {
	u64 word[WORDS]; /* all the same */
};

static struct fr_guardq queue;
static u64 until_ns, done;
static u64 put_cnt, full_cnt;
static u64 taken_cnt, torn, order;

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void *write_all(void *arg)
{
	u64 nr, i, seed = 1;

	(void)arg;
	for (nr = 1; nr % 256 || now_ns() < until_ns; nr++) {
		struct slot *s = fr_guardq_room(&queue);

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		if (!(seed >> 54))
			usleep(seed >> 40 & 127);
		if (!s) {
			if (!(++full_cnt % 16))
				sched_yield();
			continue;
		}
		for (i = 0; i < WORDS; i++)
			s->word[i] = nr;
		fr_guardq_put(&queue);
		put_cnt++;
	}
	fr_store(&done, 1);
	return NULL;
}

static void check(const struct slot *s, u64 *last)
{
	u64 i, nr = s->word[0];

	for (i = 1; i < WORDS; i++)
		torn += s->word[i] != nr;
	order += nr <= *last;
	*last = nr;
}

static void read_all(void)
{
	u64 last = 0, seed = 7;
	const struct slot *s;
	u64 was_done;

	do {
		was_done = fr_load(&done);
		while ((s = fr_guardq_first(&queue))) {
			check(s, &last);
			fr_guardq_drop(&queue);
			taken_cnt++;
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			if (!(seed >> 54))
				usleep(seed >> 40 & 255);
		}
	} while (!was_done);
}

static int run(u64 cnt, unsigned ms)
{
	struct slot *slot = calloc(cnt, sizeof(*slot));
	pthread_t writer;
	int bad;

	done = put_cnt = full_cnt = taken_cnt = 0;
	until_ns = now_ns() + ms * 1000000ULL;
	fr_guardq_init(&queue, slot, cnt, sizeof(*slot));
	pthread_create(&writer, NULL, write_all, NULL);
	read_all();
	pthread_join(writer, NULL);
	bad = torn || order || taken_cnt != put_cnt;
	printf("  %llu slots: put %llu, no room %llu, taken %llu, torn %llu, out of order %llu%s\n", (unsigned long long)cnt,
	       (unsigned long long)put_cnt, (unsigned long long)full_cnt, (unsigned long long)taken_cnt,
	       (unsigned long long)torn, (unsigned long long)order, taken_cnt == put_cnt ? "" : ", counts differ");
	free(slot);
	return bad;
}

int main(int argc, char **argv)
{
	static const u64 cnt[] = {2, 3, 7, 64};
	unsigned ms = argc > 1 ? atoi(argv[1]) : 200;
	size_t i;
	int bad = 0;

	for (i = 0; i < sizeof(cnt) / sizeof(cnt[0]); i++)
		bad |= run(cnt[i], ms);
	return bad;
}
