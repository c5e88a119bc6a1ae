/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The protocol of bpf/ring.h and user/live/ring/ring_read.c, for Spin. run.sh checks it exhaustively and with each mutation.
 *
 * One step is one access to shared memory, by each writer and the reader, in every order. NW writers stand for nested ones
 * and for preempted ones: they are not bound to nest. Pages and their heads are left out: a cell is a unit, the head of a
 * page is the lap its sub-buffer's first cell belongs to. seq does not wrap here. Laps are numbered from N (ring.h: from 0), so
 * that none is negative.
 *
 * What must hold
 *  - named:	no sub-buffer is named by two slots; each write goes to the sub-buffer its slot names (never the reader's)
 *  - once:	each cell of a lap is written once
 *  - whole:	a lap the reader accepts has only cells of that lap in it, and as many records as its count tells
 *  - counted:	tried = written + lost; written = present + overwritten; a loss by wrap has a writer in flight as its cause
 *  - ordered:	the clock was read while w was what the CAS replaced: position order is time order (-DCLOCK)
 *  - complete:	in the end each passed lap is complete, or healed, and in the sub-buffer its slot names: nothing leaks
 *  - ending:	every process ends (no invalid end state; -DNP: no cycle)
 *
 * -DMORTAL: a writer may die once, anywhere; a lap it held is healed after a grace period.
 */
#ifndef N
#define N 2 /* slots */
#endif
#ifndef SB
#define SB 2 /* cells of a sub-buffer */
#endif
#ifndef NW
#define NW 3 /* writers */
#endif
#ifndef RECS
#define RECS 2 /* records of each */
#endif
#ifndef FIRST
#define FIRST RECS /* records of the first one, which are longer */
#endif
#ifndef READS
#define READS 2 /* laps looked at by a reader's life */
#endif
#ifndef TRIES
#define TRIES 4
#endif

#define REC  1 /* kinds of cell: a record begins, goes on, padding */
#define MORE 2
#define PAD  3

#define CELL(x, off)	cell[(x) * SB + (off)]
#define LAP(c)		((c) >> 2)
#define FREE(i, s)	(sseq[i] == (s) - N && scom[i] == SB)

byte wseq = N, woff;
byte sseq[N], sidx[N], scnt[N], scom[N];
bool shole[N];
byte cell[(N + 1) * SB];

/* ghosts */
byte written, overwritten, lost, ended;
bool busy[NW]; /* between the load of w and the end of the commit, or dead there */
#ifdef MORTAL
bool dead[NW];
byte nr[NW];
bool died;
#endif

#define NAMED_ONCE assert(sidx[0] != sidx[1])
#if N > 2
#undef NAMED_ONCE
#define NAMED_ONCE assert(sidx[0] != sidx[1] && sidx[1] != sidx[2] && sidx[0] != sidx[2])
#endif

#ifdef MORTAL
#define MAY_DIE if :: !died -> died = true; dead[me] = true; goto gone :: skip fi
#else
#define MAY_DIE skip
#endif

/* fr_ring_open(): makes slot q % N lap q's unless somebody has; x is the idx it uses */
inline open(q)
{
	do
	:: atomic {
		i = (q) % N;
		x = sidx[i];
		lcnt = scnt[i];
		if
		:: sseq[i] == (q) -> lcnt = 0; break
		:: else -> assert(FREE(i, q))
		fi
#ifdef MUT_count_early
		overwritten = overwritten + lcnt
#endif
	   }
	   MAY_DIE;
	   atomic {
		i = (q) % N;
		if
#if defined(MUT_open_store)
		:: true ->
#elif defined(MUT_early_idx)
		:: FREE(i, q) ->
#else
		:: FREE(i, q) && sidx[i] == x ->
#endif
			sseq[i] = (q);
			scnt[i] = 0;
			scom[i] = 0;
			shole[i] = false;
#ifdef MUT_open_store
			sidx[i] = x;
#endif
#if !defined(MUT_count_early) && !defined(MUT_count_never)
			overwritten = overwritten + lcnt;
#endif
			lcnt = 0;
			break
		:: else
		fi
	   }
	od
}

/* write one cell of lap q */
inline put(q, off, kind)
{
	atomic {
		assert(sseq[(q) % N] == (q) && sidx[(q) % N] == x);
		assert(LAP(CELL(x, off)) < (q));
		CELL(x, off) = (q) << 2 | kind
	}
}

inline commit(q, records, units)
{
	atomic {
		i = (q) % N;
		assert(sseq[i] == (q) && scom[i] + (units) <= SB && !shole[i]);
		scnt[i] = scnt[i] + (records);
		scom[i] = scom[i] + (units);
		written = written + (records);
		i = 0;
		x = 0
	}
}


inline end_checks()
{
	ended++;
	if
	:: ended == NW + 1 ->
		i = 0;
		x = 0;
		do
		:: i < N ->
			x = x + scnt[i];
			assert(sseq[i] > wseq - N || wseq < 2 * N);
			assert(scom[i] == SB || sseq[i] == wseq);
			assert(scom[i] == 0 || sseq[i] <= N || shole[i] || LAP(CELL(sidx[i], 0)) == sseq[i]);
			i++
		:: else -> break
		od;
		assert(written == x + overwritten);
		assert((NW - 1) * RECS + FIRST == written + lost)
	:: else
	fi
}

proctype writer(byte me; byte size; byte left)
{
	byte lseq, loff, s, start, pad, tries, i, x, lcnt;
	bool free, cause;
#ifdef CLOCK
	byte tseq, toff;
#endif

	do
	:: left == 0 -> break
	:: else ->
		left--;
		tries = 0;
try:
		if
		:: tries == TRIES -> lost++; goto next
		:: else -> tries++
		fi;
#ifdef MUT_clock_first
		d_step { tseq = wseq; toff = woff };
#endif
		d_step { lseq = wseq; loff = woff; busy[me] = true };
		MAY_DIE;
#if defined(CLOCK) && !defined(MUT_clock_first)
		d_step { tseq = wseq; toff = woff };
#endif
		d_step {
			if
			:: loff && loff + size <= SB -> s = lseq; start = loff; pad = 0
			:: else -> s = lseq + 1; start = 0; pad = (loff -> SB - loff : 0)
			fi
		};
		if
		:: s != lseq ->
			d_step {
				free = FREE(s % N, s);
				cause = busy[(me + 1) % NW] || busy[(me + 2) % NW]
			};
#ifdef MUT_no_wrap_check
			free = true;
#endif
			if
			:: !free ->
				atomic {
					if
#ifndef MUT_lose_at_once
					:: !(wseq == lseq && woff == loff) -> goto try
#endif
					:: else ->
						assert(cause);
						lost++;
						goto next
					fi
				}
			:: else
			fi
		:: else
		fi;
		atomic {
			if
			:: wseq == lseq && woff == loff ->
#ifdef CLOCK
				assert(tseq == lseq && toff == loff);
#endif
				wseq = s;
				woff = start + size;
				tries = 0;
				free = false;
				cause = false;
				if
				:: !pad -> lseq = s; loff = 0 /* the lap before is not ours to end */
				:: else
				fi
#ifdef MUT_w_store
			:: else -> wseq = s; woff = start + size
#else
			:: else -> goto try
#endif
			fi
		};
		MAY_DIE;
		if
		:: pad ->
#ifdef MUT_pad_unopened
			x = sidx[lseq % N];
#else
			open(lseq);
#endif
			MAY_DIE;
			put(lseq, loff, PAD);
#ifndef MUT_no_pad_commit
			commit(lseq, 0, pad);
#endif
			MAY_DIE
		:: else
		fi;
		open(s);
		MAY_DIE;
#ifdef MUT_commit_first
		commit(s, 1, size);
#endif
		put(s, start, REC);
		MAY_DIE;
		if
		:: size == 2 -> put(s, start + 1, MORE); MAY_DIE
		:: else
		fi;
#ifndef MUT_commit_first
		commit(s, 1, size);
#endif
next:
		atomic { /* what is not used any more is not part of the state */
			busy[me] = false;
			lseq = 0; loff = 0; s = 0; start = 0; pad = 0; i = 0; x = 0; lcnt = 0; tries = 0; free = false; cause = false;
#ifdef CLOCK
			tseq = 0; toff = 0;
#endif
#ifdef MORTAL
			nr[me]++
#endif
		}
	od;
gone:
	atomic {
#ifdef MORTAL
		if
		:: dead[me] ->
			ended++ /* its loss is not counted: only the reader's checks go on */
		:: else -> ended++
		fi
#else
		end_checks()
#endif
	}
}

/* fr_writer_w(), to lseq and loff */
inline load_w()
{
	d_step { lseq = wseq; loff = woff }
}

/* The idx that no slot names. */
inline derive_spare()
{
	atomic {
		spare = 0;
		do
		:: spare == sidx[0] || spare == sidx[1] || spare == sidx[N - 1] -> spare++
		:: else -> break
		od;
		assert(spare <= N)
	}
}

/* heal_swapped(): put back the lap a killed reader held */
inline heal_swapped()
{
	q = LAP(CELL(spare, 0));
	i = q % N;
	if
	:: q > N ->
		d_step { whole = sseq[i] == q && scom[i] == SB; x = sidx[i] };
		if
		:: whole ->
			d_step { whole = LAP(CELL(x, 0)) == q };
			if
			:: !whole ->
				atomic {
					if
					:: sseq[i] == q && scom[i] == SB && sidx[i] == x -> sidx[i] = spare; NAMED_ONCE
					:: else
					fi
				}
			:: else
			fi
		:: else
		fi
	:: else
	fi;
	atomic { q = 0; x = 0; i = 0; whole = false }
}

/* heal_abandoned(), of slot k. Word before w; then a grace period; then, by CAS, complete with a hole. */
#ifdef MORTAL
inline heal_abandoned(k)
{
	d_step { hseq = sseq[k]; x = sidx[k]; hcnt = scnt[k]; com = scom[k] };
	load_w();
	atomic {
		q = lseq;
		do
		:: q % N != k -> q--
		:: else -> break
		od;
		whole = q == lseq || (hseq == q && com == SB)
	};
	if
	:: !whole ->
#ifndef MUT_no_grace
		atomic { i = 0; do :: i < NW -> was[i] = nr[i]; i++ :: else -> break od; i = 0 };
		do
		:: i < NW -> (!busy[i] || dead[i] || nr[i] != was[i]); i++
		:: else -> break
		od;
#endif
		atomic {
			if
#ifdef MUT_heal_store
			:: true ->
#else
			:: sseq[k] == hseq && sidx[k] == x && scnt[k] == hcnt && scom[k] == com ->
#endif
				sseq[k] = q;
				sidx[k] = x;
				scnt[k] = hcnt;
				scom[k] = SB;
#ifndef MUT_no_hole
				shole[k] = true;
#endif
				NAMED_ONCE
			:: else
			fi
		}
	:: else
	fi;
	atomic { q = 0; x = 0; i = 0; lseq = 0; loff = 0; hseq = 0; hcnt = 0; com = 0; whole = false; was[0] = 0; was[1] = 0; was[NW - 1] = 0 }
}
#endif

/* What was copied of lap q, com cells and cnt records by its word, is accepted: it must be that lap's, whole. */
inline accept()
{
	atomic {
		if
		:: LAP(copy[0]) == q ->
			i = 0;
			do
			:: i < com ->
				assert(LAP(copy[i]) == q);
				lcnt = lcnt - (copy[i] % 4 == REC);
				i++
			:: else -> break
			od;
			assert(lcnt == 0)
		:: else /* not what the slot promised: refused */
		fi;
		i = 0;
		lcnt = 0;
		do
		:: i < SB -> copy[i] = 0; i++
		:: else -> break
		od;
		i = 0
	}
}

inline copy_cells()
{
	d_step { i = 0 };
	do
	:: i < com -> d_step { copy[i] = CELL(x, i); i++ }
	:: else -> break
	od
}

#ifdef MUT_swap_any
#define SWAP(whole) true
#else
#define SWAP(whole) whole
#endif

/* Look at slot k: a complete lap is swapped out, the current one copied as it is. */
inline read_lap(k)
{
#ifdef MUT_w_first
	load_w();
	d_step { q = sseq[k]; x = sidx[k]; lcnt = scnt[k]; com = scom[k]; whole = com == SB && !shole[k] };
#else
	d_step { q = sseq[k]; x = sidx[k]; lcnt = scnt[k]; com = scom[k]; whole = com == SB && !shole[k] };
	load_w();
#endif
	if
	:: q > N && lseq < q + N && SWAP(whole) ->
		atomic {
			if
#ifdef MUT_swap_store
			:: true ->
#elif defined(MUT_swap_any)
			:: sseq[k] == q && sidx[k] == x ->
#else
			:: sseq[k] == q && sidx[k] == x && scom[k] == SB ->
#endif
				sidx[k] = spare;
				NAMED_ONCE
			:: else -> goto looked
			fi
		};
		/* Killed while it holds the lap: at other points it leaves nothing behind. */
		if
		:: lives > 1 -> lives--; goto born
		:: skip
		fi;
		copy_cells();
		atomic {
			if
#ifdef MUT_back_store
			:: true -> sidx[k] = x; NAMED_ONCE
#else
			:: sseq[k] == q && sidx[k] == spare && scom[k] == SB -> sidx[k] = x; NAMED_ONCE
#endif
#ifndef MUT_keep_spare
			:: else -> spare = x
#else
			:: else
#endif
			fi
		};
		accept()
	:: q > N && !SWAP(whole) && !shole[k] && lseq == q && loff == com && com > 0 ->
		copy_cells();
#ifdef MUT_no_recheck
		accept()
#else
		if
		:: sseq[k] == q && sidx[k] == x -> accept()
		:: else
		fi
#endif
	:: else /* not written yet, about to be overwritten, in flight or a hole */
	fi;
looked:
	atomic { q = 0; x = 0; i = 0; lcnt = 0; com = 0; lseq = 0; loff = 0; whole = false }
}

proctype reader()
{
	byte spare = N, lives = 2, reads, k, q, x, i, lcnt, com, lseq, loff;
	byte copy[SB];
	bool whole;
#ifdef MORTAL
	byte hseq, hcnt, was[NW];
#endif

born:
	reads = 0;
#ifdef MORTAL
	heal_abandoned(0);
	heal_abandoned(1);
#endif
#ifndef MUT_spare_stored
	derive_spare();
#else
	spare = N;
#endif
#ifndef MUT_no_heal
	heal_swapped();
	derive_spare();
#endif
	do
	:: reads < READS ->
		reads++;
		if
		:: k = 0
		:: k = 1
#if N > 2
		:: k = 2
#endif
		fi;
		read_lap(k)
	:: break
	od;
	/* The last reader's legacy is put right by the next: what is checked in the end. */
	atomic {
#ifdef MORTAL
		ended++
#else
		end_checks()
#endif
	}
}

init {
	byte i = 0;
	atomic {
		do
		:: i < N ->
			sseq[i] = (i -> i : N);
			sidx[i] = i;
			scom[i] = SB;
			i++
		:: else -> break
		od;
		run writer(0, 2, FIRST);
#if NW > 2
		run writer(1, 1, RECS);
#endif
		run writer(NW - 1, 1, RECS);
#ifndef NO_READER
		run reader()
#else
		ended = 1
#endif
	}
}
