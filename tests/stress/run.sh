#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Clock, ring, its followers, the profile's tables and the incident log under several threads. With FR_LONG=1 for longer, with sanitizers,
# and then with each known mistake, which must be noticed: that shows by chance. Without it, each runs for a moment: it may fail only if
# something is wrong.
set -u
cd "$(dirname "$0")/../.." || exit 1
CC=${CC:-gcc}
FLAGS="-std=gnu11 -O2 -g -Wall -Wextra -Werror -pthread"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0 skipped=0

verdict() { # NAME OK|FAILED WHAT
	printf '%-24s %-6s %s\n' "$1" "$2" "${3:-}"
	case $2 in ok) passed=$((passed + 1)) ;; skip) skipped=$((skipped + 1)) ;; *) failed=$((failed + 1)) ;; esac
}

build() { # INCLUDES OUT SOURCES AND FLAGS
	includes=$1 out=$2
	shift 2
	"$CC" $FLAGS -I"$includes" -Ibpf -Iuser -o "$out" "$@"
}

made() { # NAME SOURCES AND FLAGS: the tree's own, as $dir/NAME
	name=$1
	shift
	build bpf "$dir/$name" "$@" && return
	verdict "$name" FAILED "does not build"
	return 1
}

can_sanitize() {
	echo 'int main(void) { return 0; }' >"$dir/can.c"
	"$CC" "$1" -o "$dir/can" "$dir/can.c" 2>/dev/null && "$dir/can" 2>/dev/null
}

good() { # NAME PROGRAM ARGS
	name=$1
	shift
	if "$@" >"$dir/out" 2>&1; then
		verdict "$name" ok "$(sed -n 's/^  //p' "$dir/out" | tail -1)"
	else
		verdict "$name" FAILED
		cat "$dir/out"
	fi
}

# A copy of bpf/ or of the reader, FILE changed by sed SCRIPT, in $dir/NAME, which is searched before the tree.
change() { # NAME FILE SCRIPT
	mkdir -p "$dir/$1/io"
	cp bpf/*.h bpf/*.def "$dir/$1" # a header looks beside itself first
	case $2 in user/live/*) to=$dir/$1/io/${2##*/} ;; *) to=$dir/$1/${2##*/} ;; esac
	sed "$3" "$2" >"$to"
	! cmp -s "$2" "$to"
}

# A mistake shows by chance. If it is not noticed at first, the run is repeated for longer: the machine may be busy.
caught() { # NAME PROGRAM HOW_LONG ARGS
	name=$1 program=$2 long=$3
	shift 3
	for times in 1 2 4 6; do
		timeout 600 "$program" $((long * times)) "$@" >"$dir/out" 2>&1
		status=$?
		[ $status -eq 0 ] || break
	done
	case $status in
	0) verdict "$name" FAILED "not noticed" ;;
	1 | 66) verdict "$name" ok "caught: $(grep -m1 -E 'WARNING|back [1-9]|own [1-9]|untrue [1-9]|before it|torn|changed|order|no record|counts|its head|written' "$dir/out" | sed 's/^ *//; s/=.*//')" ;;
	*) verdict "$name" FAILED "no result" && tail -3 "$dir/out" ;;
	esac
}

bad_header() { # PROGRAM HOW_LONG HEADER NAME SCRIPT FLAGS: what the header made so is to be caught
	test=$1 span=$2 header=$3 name=$4 script=$5
	shift 5
	if ! change "$name" "$header" "$script"; then
		verdict "$name" FAILED "nothing was changed: bring the mutation up to date"
	elif ! build "$dir/$name" "$dir/$name/$test" "tests/stress/$test.c" "$@"; then
		verdict "$name" FAILED "does not build"
	else
		caught "$name" "$dir/$name/$test" "$span"
	fi
}

bad_clock() { bad_header clock 500 bpf/clock.h "$@"; }
bad_log() { bad_header incident 500 bpf/incident.h "$@"; }
bad_hits() { bad_header hits 1 bpf/hits.h "$@"; }

bad_ring() { # NAME FILE SCRIPT MODE FLAGS
	name=$1 file=$2 script=$3 mode=$4 reader=user/live/ring/ring_read.c
	shift 4
	if ! change "$name" "$file" "$script"; then
		verdict "$name" FAILED "nothing was changed: bring the mutation up to date"
		return
	fi
	[ -f "$dir/$name/io/ring_read.c" ] && reader=$dir/$name/io/ring_read.c
	if ! build "$dir/$name" "$dir/$name/ring" tests/stress/ring.c "$reader" "$@"; then
		verdict "$name" FAILED "does not build"
	else
		caught "$name" "$dir/$name/ring" 4 $mode
	fi
}

slow_ring() { # NAME SCRIPT: a reader only made slower
	if change "$1" user/live/ring/ring_read.c "$2" &&
		build "$dir/$1" "$dir/$1/ring" tests/stress/ring.c "$dir/$1/io/ring_read.c" -include unistd.h; then
		good "$1" "$dir/$1/ring" 3
	else
		verdict "$1" FAILED "nothing was changed, or does not build"
	fi
}

# Readers that follow a ring
follow_src="tests/stress/follow.c user/live/ring/ring_read.c"
bad_follow() { # NAME SCRIPT
	mkdir -p "$dir/$1"
	sed "$2" user/live/ring/ring_follow.c >"$dir/$1/follow.c"
	if cmp -s user/live/ring/ring_follow.c "$dir/$1/follow.c"; then
		verdict "$1" FAILED "nothing was changed: bring the mutation up to date"
	elif ! build bpf "$dir/$1/follow" $follow_src "$dir/$1/follow.c" -include unistd.h -Wno-unused; then
		verdict "$1" FAILED "does not build"
	else
		caught "$1" "$dir/$1/follow" 3
	fi
}

bad_guardq() { # NAME SCRIPT FLAGS
	name=$1 script=$2
	shift 2
	mkdir -p "$dir/$name/base/set"
	sed "$script" user/base/set/guardq.h >"$dir/$name/base/set/guardq.h"
	if cmp -s user/base/set/guardq.h "$dir/$name/base/set/guardq.h"; then
		verdict "$name" FAILED "nothing was changed: bring the mutation up to date"
	elif ! build "$dir/$name" "$dir/$name/guardq" tests/stress/guardq.c "$@"; then
		verdict "$name" FAILED "does not build"
	else
		caught "$name" "$dir/$name/guardq" 200
	fi
}

long=${FR_LONG:-}
span() { # MOMENT LONG: for how long
	[ -n "$long" ] && echo "$2" || echo "$1"
}

made clock tests/stress/clock.c && good clock "$dir/clock" $(span 200 700)
made clock-losers tests/stress/clock.c -DFR_CLOCK_TRIES=1 && good clock-losers "$dir/clock-losers" $(span 200 400)
made ring tests/stress/ring.c user/live/ring/ring_read.c && good ring "$dir/ring" $(span 1 4) && good ring-mortal "$dir/ring" $(span 1 3) mortal &&
	good ring-nested "$dir/ring" $(span 1 4) nested && good ring-nested-mortal "$dir/ring" $(span 1 3) mortal nested
made follow $follow_src user/live/ring/ring_follow.c && good follow "$dir/follow" $(span 1 3)
made guardq tests/stress/guardq.c && good guardq "$dir/guardq" $(span 100 300)
made hits tests/stress/hits.c && good hits "$dir/hits" 1 && good hits-mortal "$dir/hits" 1 mortal
made incident tests/stress/incident.c && good incident "$dir/incident" $(span 500 1500)
if [ -z "$long" ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
fi
if can_sanitize -fsanitize=thread; then
	made follow-tsan $follow_src user/live/ring/ring_follow.c -fsanitize=thread && good follow-tsan "$dir/follow-tsan" 3
	made guardq-tsan tests/stress/guardq.c -D_GNU_SOURCE -fsanitize=thread && good guardq-tsan "$dir/guardq-tsan" 300
	made hits-tsan tests/stress/hits.c -fsanitize=thread && good hits-tsan "$dir/hits-tsan" 2 mortal
	made incident-tsan tests/stress/incident.c -fsanitize=thread && good incident-tsan "$dir/incident-tsan" 1500
	made clock-tsan tests/stress/clock.c -fsanitize=thread && good clock-tsan "$dir/clock-tsan" 400
	made ring-tsan tests/stress/ring.c user/live/ring/ring_read.c -fsanitize=thread && good ring-tsan "$dir/ring-tsan" 4 &&
		good ring-mortal-tsan "$dir/ring-tsan" 4 mortal
else
	verdict tsan skip "ThreadSanitizer does not build or run here"
fi
if can_sanitize -fsanitize=address,undefined; then
	made ring-asan-ubsan tests/stress/ring.c user/live/ring/ring_read.c -fsanitize=address,undefined -fno-sanitize-recover &&
		good ring-asan-ubsan "$dir/ring-asan-ubsan" 3 && good ring-nested-asan-ubsan "$dir/ring-asan-ubsan" 3 nested
else
	verdict asan skip "AddressSanitizer does not build or run here"
fi

# A reader that is slow to look again must pass; one that does not look must not.
INCIDENT_COPIED='s/to\[i\] = fr_load(&from\[i\]);/{ static int n; if (i == 9 \&\& ++n % 50 == 0) usleep(200); & }/'
if change slow_look bpf/incident.h "$INCIDENT_COPIED" &&
	build "$dir/slow_look" "$dir/slow_look/incident" tests/stress/incident.c -include unistd.h; then
	good slow_look "$dir/slow_look/incident" 1000
else
	verdict slow_look FAILED "nothing was changed, or does not build"
fi
bad_log look_once "$INCIDENT_COPIED; s/return fr_load(&log->head->next) > seq + log->cnt ? FR_INCIDENT_GONE : FR_INCIDENT_GOT;/return FR_INCIDENT_GOT;/" \
	-include unistd.h
bad_log claim_store 's/if (fr_cas(&h->next, next, next + 1) == next)/fr_store(\&h->next, next + 1); if (1)/'
bad_log never_full 's/if ((s64)(next - saved) >= (s64)log->cnt)/if ((s64)(next - saved) < -1000)/'
bad_log one_too_many 's/if ((s64)(next - saved) >= (s64)log->cnt)/if ((s64)(next - saved) > (s64)log->cnt)/'
# Writing a record takes only nanoseconds, so pauses are added likewise, for the right log and the wrong ones.
SLOW_WRITE='-include unistd.h -DPAUSE()=usleep(50) -DPAUSE_EVERY=1'
made slow_write tests/stress/incident.c $SLOW_WRITE && good slow_write "$dir/slow_write" 3000
bad_log done_first 's/return next;$/{ fr_xchg(\&fr_incident_slot(log, next)->done, next + 1); return next; }/' $SLOW_WRITE
bad_log unfinished_read 's/if (fr_load(&slot->done) != seq + 1)/if (0)/' $SLOW_WRITE
bad_log drop_uncounted 's/fr_count(&log->head->drop.*/(void)log; (void)kind;/'
made naive-clock tests/stress/clock.c -DNAIVE && caught naive-clock "$dir/naive-clock" 300
bad_clock clock_own 's/return seen;/return now;/'
bad_clock clock_late 's/now - seen <= grain_ns/& + 20000/'
# Between reading and looking again lie only nanoseconds. Pauses are added there, so that the mistake is found without luck.
# The reader that looks again must pass with the same pauses.
DURING_COPY='/^	for (i = 0; i < units; i++)$/{n;s/.*/{ static __thread int n; if (i == units \/ 2 \&\& ++n % 4 == 0) usleep(20); & }/;}'
BEFORE_BACK='s/if (fr_cas(slot, mine, word) != mine)/{ static int n; if (++n % 4 == 0) usleep(20); } &/'
slow_ring slow_copy "$DURING_COPY"
bad_ring no_recheck user/live/ring/ring_read.c "$DURING_COPY; s/if (!fr_ring_word_is(m, after, seq) || .*/if (after == 1)/" "" -include unistd.h
bad_ring no_wrap_check bpf/ring.h 's/if (p->cross && !fr_slot_free(r, fr_load(fr_ring_slot(r->sl, p->slot)), p->seq))/if (0)/' ""
bad_ring open_store bpf/ring.h 's/if (fr_cas(slot, word, \(fr_slot(seq, fr_slot_idx(word), 0, 0)\)) == word)/fr_store(slot, \1); if (1)/' ""
slow_ring slow_back "$BEFORE_BACK"
bad_ring back_store user/live/ring/ring_read.c "$BEFORE_BACK; s/if (fr_cas(slot, mine, word) != mine)/fr_store(slot, word); if (0)/" "" \
	-include unistd.h
bad_follow follow_no_recheck "$DURING_COPY; s/if (!fr_ring_word_is(m, after, seq).*/if (after == 1)/"
bad_follow follow_no_head 's/if (!fr_ring_head_is(m, from, seq))/if (0)/'
bad_follow follow_not_full 's/if (!fr_ring_word_full(m, word, lap))/if (0)/'
bad_follow follow_not_quiet 's/return !\*seq || .*/return 1;/'
bad_follow follow_skip_count 's/before - f->before - f->cnt;/before - f->before;/'
if can_sanitize -fsanitize=thread; then
	bad_ring relaxed_commit bpf/atomic.h 's/return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);/return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);/' "" -fsanitize=thread
fi
bad_guardq guardq_no_guard 's/return fr_guardq_next(q, q->tail) == fr_load(&q->head) ? NULL : /return /'
if can_sanitize -fsanitize=thread; then
	bad_guardq guardq_relaxed 's/fr_store(&q->tail, /__atomic_store_n(\&q->tail, /; /__atomic_store_n/s/);$/, __ATOMIC_RELAXED);/' -fsanitize=thread
fi
bad_hits flip_inside 's/fr_cas(&c->ctl, was, was + (1ULL << FR_HITS_SHIFT)) == was ? 0 : -1/((void)was, fr_add(\&c->ctl, 1ULL << FR_HITS_SHIFT)) == 1 ? -1 : 0/'
bad_hits next_undrained 's/fr_load(&c->drained) < \*gen || //'
bad_hits release_first 's/memset(fr_hits_table(c, shift, gen), 0, fr_hits_head_sz(shift));/(void)shift;/'
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
