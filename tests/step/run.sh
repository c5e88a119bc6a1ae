#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Interrupt, at every instruction, bpf/ring.h (step.c), near calls (near.c), and what a recorder does about a moment (ledger.c). Then
# break copies of ring.h: the same test must notice each. Without FR_LONG=1 only two of them.
set -u
cd "$(dirname "$0")/../.." || exit 1
CC=${CC:-gcc}
if [ "$(uname -m)" != x86_64 ]; then
	echo "skipped: stepping needs the trap flag of x86-64"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

build() { # INCLUDES OUT
	"$CC" -std=gnu11 -O2 -Wall -Wextra -Werror -I"$1" -Ibpf -Iuser -o "$2" tests/step/step.c user/live/ring/ring_read.c
}

build bpf "$dir/step" || exit 1
make -s build/tests/step/near build/tests/step/ledger || exit 1
# The mutations run on the second CPU meanwhile. Each is a sed script that must change ring.h, and be noticed.
mutate() {
	name=$1 script=$2
	case ${FR_LONG:-}$name in
	no_wrap_check | open_store | 1*) ;;
	*) return ;;
	esac
	mkdir "$dir/$name"
	sed "$script" bpf/ring.h >"$dir/$name/ring.h"
	if cmp -s bpf/ring.h "$dir/$name/ring.h"; then
		verdict="FAILED  nothing was changed: bring the mutation up to date"
	elif ! build "$dir/$name" "$dir/$name/step" 2>"$dir/$name/cc.out"; then
		verdict="FAILED  does not build"
	elif timeout 600 "$dir/$name/step" first >"$dir/$name/out" 2>&1; then
		verdict="FAILED  not noticed"
	elif [ $? -ge 124 ]; then
		verdict="FAILED  no result"
	else
		verdict="ok      caught"
	fi
	printf '%-20s %s\n' "$name" "$verdict" >>"$dir/mutations"
}

mutations() {
	mutate no_wrap_check 's/if (p->cross && !fr_slot_free(r, fr_load(fr_ring_slot(r->sl, p->slot)), p->seq))/if (0)/'
	mutate wrap_any_com 's/ && fr_slot_com(word) == fr_ring_units(r);/;/'
	mutate lose_at_once 's/return fr_load(&r->wr->w) != w ? -1 : FR_LOST_wrap + 1;/return FR_LOST_wrap + 1;/'
	mutate w_store 's/return fr_cas(&r->wr->w, w, fr_w(p->seq, p->slot, p->off + units)) == w ? 0 : -1;/fr_store(\&r->wr->w, fr_w(p->seq, p->slot, p->off + units)); return 0;/'
	mutate clock_first 's/^\tu64 w = fr_load(&r->wr->w), now;$/\tu64 now = fr_clock_ns(r->clock_word, r->grain_ns, \&r->wr->health), w = fr_load(\&r->wr->w);/; s/^\tnow = fr_clock_ns.*//'
	mutate prev_unopened 's/s32 idx = FR_RING_OPEN(r, prev, p->seq - 1);/s32 idx = fr_slot_idx(fr_load(fr_ring_slot(r->sl, prev)));/'
	mutate no_pad_commit 's/fr_slot_add(0, p->pad)/0/'
	mutate open_store 's/if (fr_cas(slot, word, \(fr_slot(seq, fr_slot_idx(word), 0, 0)\)) == word)/fr_store(slot, \1); if (1)/'
	mutate count_early 's/^\t\tif (fr_cas(slot, word,/\t\tfr_count(\&r->wr->overwritten, fr_slot_cnt(word));&/; s/^\t\t\tfr_count(&r->wr->overwritten.*//'
	mutate no_page_head 's/if (p->new_page) {/if (p->cross) {/'
}

mutations &
"$dir/step" >"$dir/out"
grep -v skipped "$dir/out"
build/tests/step/near >"$dir/near"
grep -v skipped "$dir/near"
build/tests/step/ledger >"$dir/ledger"
grep -v skipped "$dir/ledger"
wait
cat "$dir/mutations"
set -- $(tail -1 "$dir/out") # N passed, N failed, N skipped
[ "${2:-}" = passed, ] || set -- 0 passed, 1
passed=$1 failed=$3
set -- $(tail -1 "$dir/near")
[ "${2:-}" = passed, ] || set -- 0 passed, 1
passed=$((passed + $1)) failed=$((failed + $3))
set -- $(tail -1 "$dir/ledger")
[ "${2:-}" = passed, ] || set -- 0 passed, 1
passed=$((passed + $1 + $(grep -c ' ok ' "$dir/mutations")))
failed=$((failed + $3 + $(grep -c FAILED "$dir/mutations")))
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
