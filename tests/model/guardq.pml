/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * user/base/set/guardq.h: one writer, one reader, N slots, of which one stays empty. Each step of both that others can see is one
 * here; a slot is written and read in two halves, so that a torn one shows.
 *
 *	what is taken	ascends, and each slot is whole
 *	in the end	taken + lost (no room) = all, and nothing is left
 *	always		filled <= N - 1
 *
 * Release and acquire are the order of the steps: MUT_guardq_put_first is what the machine may do without them.
 */
#ifndef N
#define N 3
#endif
#ifndef ITEMS
#define ITEMS 7
#endif

byte a[N], b[N]; /* halves of slots */
byte head, tail;
byte lost, taken, last;
bool written;

#define NEXT(i) (((i) + 1) % N)
#define FILLED	((tail + N - head) % N)

active proctype writer()
{
	byte nr = 1, h, t;

	do
	:: nr > ITEMS -> break
	:: else ->
		h = head; /* fr_guardq_room() */
		if
#ifdef MUT_guardq_no_guard
		:: FILLED == N -> lost++
		:: else ->
#else
		:: NEXT(tail) == h -> lost++
		:: else ->
#endif
			t = tail;
#ifdef MUT_guardq_put_first
			tail = NEXT(t);
#endif
			a[t] = nr;
			b[t] = nr;
#ifndef MUT_guardq_put_first
			tail = NEXT(t); /* fr_guardq_put() */
#endif
		fi;
		nr++
	od;
	written = true
}

active proctype reader()
{
	byte t, x, y;
	bool was_written;

	do
	:: true ->
		was_written = written;
		t = tail; /* fr_guardq_first() */
		if
		:: head == t && was_written -> break
		:: head == t && !was_written -> skip
		:: else ->
			x = head;
			y = a[x];
			assert(y == b[x]);
			assert(y > last);
			last = y;
			taken++;
			head = NEXT(x) /* fr_guardq_drop() */
		fi
	od;
	assert(taken + lost == ITEMS);
	assert(FILLED == 0)
}

active proctype watch()
{
	assert(FILLED <= N - 1)
}
