/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzz target of `top`: a snapshot, its hashes put right after a mutation, is loaded, keys and clicks come, and after each of
 * them the screen is drawn, without a terminal.
 *
 *	0	the screen's columns and lines, in fours and twos; bit 7: no symbols, UTF-8 or ASCII
 *	2	keys: a character, or above 127 one of enum fr_key; a click is at a place that the bytes before it say
 *	48	the snapshot (fuzz/made.h)
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define KEY_CNT	   46u
#define FR_SEAL_AT 48u

#include <sys/mman.h>

#include "fuzz/made.h"
#include "show/top/top.h"
#include "sys/aside.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t sz);

static char input[64];

/* ---- instead of sys/aside.c: this process does the work, so that it is searched, too ---- */

struct fr_aside {
	int fd;
};

int fr_aside_begin(int (*work)(void *arg, int file), void *arg, struct fr_aside **out)
{
	struct fr_aside *a = malloc(sizeof(*a));

	a->fd = memfd_create("aside", MFD_CLOEXEC);
	work(arg, a->fd);
	*out = a;
	return 0;
}

int fr_aside_fd(const struct fr_aside *a)
{
	return a->fd;
}

int fr_aside_take(struct fr_aside *a, int *fd, char *why, size_t sz)
{
	*fd = a->fd;
	snprintf(why, sz, "%s", "");
	free(a);
	return 0;
}

void fr_aside_drop(struct fr_aside *a)
{
	if (a)
		close(a->fd);
	free(a);
}

/* Returns whether all went as it should: what cannot be read is an end, too. */
static bool show(struct fr_top *t, struct fr_grid *g)
{
	int got;

	do {
		got = fr_top_work(t);
	} while (got > 0);
	if (got < 0 && fr_top_wait_fd(t) >= 0) /* it would be asked for ever */
		abort();
	return !fr_top_draw(t, g) && !got;
}

static bool press(struct fr_top *t, const u8 *keys, u32 i, u32 width, u32 height)
{
	int key = keys[i] < 128 ? keys[i] : (int)(FR_KEY_UP + keys[i] % (FR_KEY_RESIZE - FR_KEY_UP + 1));

	if (key == FR_KEY_RESIZE)
		fr_top_resize(t, 1 + (i ? keys[i - 1] : 0) % width, 1 + keys[(i + 1) % KEY_CNT] % height);
	else if (key >= FR_KEY_MOUSE)
		fr_top_point(t, (i ? keys[i - 1] : 0) % (width + 2), keys[(i + 1) % KEY_CNT] % (height + 2), key);
	else
		return fr_top_key(t, key);
	return true;
}

static void look(struct fr_top *t, const u8 *keys, u32 width, u32 height)
{
	struct fr_grid g = {0};
	bool goes_on;
	u32 i;

	fr_top_resize(t, width, height);
	goes_on = show(t, &g);
	for (i = 0; i < KEY_CNT && goes_on && keys[i]; i++)
		goes_on = press(t, keys, i, width, height) && show(t, &g);
	fr_top_say_damage(t);
	fr_grid_free(&g);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t sz)
{
	static const struct fr_symbols_opts symbols = {.symfs = "/nonexistent"};
	struct fr_top_ask ask = {.path = input, .opts = {.tiers = FR_REPLAY_TIERS, .names = true}};
	struct fr_top *t;

	if (!*input)
		snprintf(input, sizeof(input), "/dev/shm/fr-fuzz-top-%d.flight", getpid());
	unlink(input);
	if (sz < FR_SEAL_AT || made_write(input, data + FR_SEAL_AT, sz - FR_SEAL_AT))
		return 0;
	ask.symbols = data[0] & 128 ? NULL : &symbols;
	ask.utf8 = ask.color = !(data[1] & 128);
	if (!fr_top_new(&ask, &t)) {
		look(t, data + 2, 1 + (data[0] & 127) * 4, 1 + (data[1] & 127) * 2);
		fr_top_free(t);
	}
	unlink(input);
	return 0;
}
