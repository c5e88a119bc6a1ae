/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The protocol of bpf/incident.h and of who saves it (user/live/incident/inclog.c), for Spin. run.sh checks it exhaustively and with each
 * mutation.
 *
 * One step is one access to shared memory, in every order. NW writers stand for other CPUs' and for nested ones. A record has two
 * words, both seq + 1. The reader that saves is killed up to KILLS times, anywhere; the next one begins. Disk outlives it.
 *
 * What must hold
 *  - whole:	what is saved or shown was finished, and all of it is of one record
 *  - once:	each record that was finished is on disk once, in order; none that was not
 *  - kept:	no slot is claimed again before its record is on disk or was given up; what is given up had a dead writer
 *  - exact:	offered = next + dropped; a drop had a full log as its cause, or a claim lost TRIES times
 *  - ending:	every process ends
 *
 * -DMORTAL: a writer may die once, anywhere within a record.
 */
#ifndef N
#define N 2 /* slots */
#endif
#ifndef NW
#define NW 3 /* writers */
#endif
#ifndef RECS
#define RECS 2 /* records of each */
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef LOOKS
#define LOOKS 1 /* records looked at by the viewer */
#endif
#ifndef TRIES
#define TRIES 2
#endif

#define SEQS (NW * RECS)

short next, saved;
byte done[N], word[2 * N];
byte dropped;

/* on disk: record 0 to ondisk - 1, but for those given up */
byte ondisk, disk[SEQS];

/* ghosts */
bool busy[NW]; /* its program runs, or died */
bool dead[NW], finished[SEQS], died;
byte ended, offered;

#ifdef MORTAL
#define MAY_DIE if :: !died -> died = true; dead[me] = true; goto gone :: skip fi
#else
#define MAY_DIE skip
#endif

proctype writer(byte me)
{
	short n, s;
	byte rec, tries;

	do
	:: rec == RECS -> break
	:: else ->
		atomic {
			busy[me] = true;
			offered++;
			tries = 0;
		}
		do
#ifdef MUT_saved_first
		:: s = saved;
		   n = next;
		   atomic {
			if
			:: n - s >= N -> assert(next - saved >= N); dropped++; goto over
			:: else
			fi
		   }
#else
		:: n = next;
		   atomic {
			s = saved;
			if
#ifdef MUT_never_full
			:: false -> skip
#elif defined(MUT_one_too_many)
			:: n - s > N ->
#else
			:: n - s >= N -> assert(next - saved >= N);
#endif
				dropped++; goto over
			:: else
			fi
		   }
#endif
		   MAY_DIE;
#ifdef MUT_claim_store
		   next = n + 1;
		   break
#else
		   atomic {
			if
			:: next == n -> next = n + 1; break
			:: else -> tries++
			fi;
			if
			:: tries == TRIES -> dropped++; goto over
			:: else
			fi
		   }
#endif
		od;
		atomic { /* its slot's last one is on disk, or had a dead writer */
			assert(n < N || disk[n - N] == 1 || !finished[n - N])
		}
#ifdef MUT_finish_first
		done[n % N] = n + 1;
#endif
		MAY_DIE;
		word[2 * (n % N)] = n + 1;
		MAY_DIE;
		word[2 * (n % N) + 1] = n + 1;
		MAY_DIE;
#ifndef MUT_finish_first
		atomic { done[n % N] = n + 1; finished[n] = true };
#else
		finished[n] = true;
#endif
over:		atomic { busy[me] = false; rec++ }
	od;
gone:	ended++
}

/* Every program that runs now has ended */
inline grace()
{
	w = 0;
	do
	:: w == NW -> break
	:: else -> (!busy[w] || dead[w]); w++
	od
}

proctype saver()
{
	short q, upto;
	byte kills, w, a, b;
	bool last;

life:	atomic { last = (ended == NW); q = saved }
#ifndef MUT_disk_unseen
	if
	:: q < ondisk -> q = ondisk
	:: else
	fi;
#endif
	upto = next;
#ifdef MUT_recycle_first
	saved = upto;
#endif
	do
	:: q == upto -> break
	:: else ->
		if
#ifdef MUT_unfinished_read
		:: true ->
#else
		:: done[q % N] == q + 1 ->
#endif
			a = word[2 * (q % N)];
			b = word[2 * (q % N) + 1];
			assert(a == q + 1 && b == q + 1);
			atomic { disk[q]++; assert(disk[q] == 1); ondisk = q + 1 };
			q++
		:: done[q % N] != q + 1 -> /* not now; or never */
#ifndef MUT_no_grace
			if
			:: break
			:: grace()
			fi;
#endif
			if
			:: done[q % N] == q + 1 -> skip /* after all */
			:: else -> assert(!finished[q]); q++
			fi
		fi;
		if
		:: kills < KILLS -> kills++; goto life
		:: true
		fi
	od;
	if
	:: kills < KILLS -> kills++; goto life
	:: true
	fi;
	atomic { /* forward only */
		if
		:: saved < q -> saved = q
		:: else
		fi
	}
	if
	:: !last || saved < next -> goto life
	:: else
	fi;
	/* nobody writes any more */
	assert(offered == next + dropped || died);
	q = 0;
	do
	:: q == next -> break
	:: else ->
		assert(disk[q] == 1 || (died && !finished[q] && !disk[q]));
		q++
	od
}

/* Any time, without a lock */
proctype viewer()
{
	byte looks, q, a, b;

	do
	:: looks == LOOKS -> break
	:: else ->
		select(q : 0 .. (SEQS - 1));
		if
		:: done[q % N] == q + 1 ->
			a = word[2 * (q % N)];
			b = word[2 * (q % N) + 1];
			atomic {
#ifndef MUT_look_once
				if
				:: next <= q + N ->
#endif
					assert(a == q + 1 && b == q + 1)
#ifndef MUT_look_once
				:: else
				fi
#endif
			}
		:: else
		fi;
		looks++
	od
}

init {
	atomic {
		byte i;

		for (i : 0 .. (NW - 1)) { run writer(i) }
		run saver();
#if LOOKS
		run viewer();
#endif
	}
}
