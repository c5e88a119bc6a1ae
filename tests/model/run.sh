#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Check the models of the ring (ring.pml) and of the incident log (incident.pml, runs inc-NAME) exhaustively. Then break the protocols in
# each way we know: the models must find each.
# A table of runs, then "N passed, N failed, N skipped". Two runs at a time. Without FR_LONG=1, only the smallest model of each protocol,
# which must pass, and two mutations of the ring and one of each other, which must not.
#
#	run.sh [PATTERN]	all runs whose name matches
set -u
cd "$(dirname "$0")" || exit 1
models=$PWD
for tool in spin gcc; do
	if ! command -v "$tool" >/dev/null; then
		echo "skipped: $tool is not installed (apt-get install spin gcc)"
		echo "0 passed, 0 failed, 1 skipped"
		exit 0
	fi
done
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

WRITERS="-DNO_READER -DCLOCK -DTRIES=2" # 3 writers, 2 records each, one of them longer
ALL="-DRECS=1 -DREADS=1 -DFIRST=2" # 3 writers and a reader that may be killed
LONG="-DNW=2 -DRECS=3"             # more laps under the reader
MORTAL="-DMORTAL -DNW=2 -DREADS=1" # a writer may die
SHORT="-DNW=2"
WIDE="-DNW=2 -DSB=3 -DRECS=3 -DREADS=1" # a partial lap has several cells
CYCLES="-DNW=2 -DRECS=1 -DREADS=1 -DCYCLES"

# of the incident log
SAVER="-DNW=2 -DLOOKS=0"	       # a reader that saves, and is killed
LOOKER="-DNW=2 -DN=1 -DRECS=1 -DKILLS=0" # one that looks, and one slot

# Those of `make check`
SHORT_RUNS='^(2-writers-wide|no-cycles|guardq-two-slots|inc-looker|guardq_no_guard|no_recheck|commit_first|inc-look_once)$'

# want, name, flags. Fewest states last, so that the two workers end together.
runs() {
	cat <<-EOT
	pass	3-writers-reader-kill	$ALL
	pass	2-writers-long	$LONG
	pass	3-writers-clock	$WRITERS
	pass	3-writers-2-reads	-DRECS=1
	pass	2-writers-wide	$WIDE
	pass	writer-dies-heal	$MORTAL
	pass	no-cycles	$CYCLES
	pass	guardq	-DN=3
	pass	guardq-two-slots	-DN=2
	pass	guardq-long	-DN=4 -DITEMS=12
	fail	guardq_no_guard	-DN=3
	fail	guardq_put_first	-DN=3
	pass	inc-2-writers-kill	$SAVER
	pass	inc-3-writers	-DRECS=1 -DLOOKS=0
	pass	inc-looker	$LOOKER
	pass	inc-writer-dies	$SAVER -DMORTAL -DKILLS=0
	fail	no_wrap_check	$WRITERS
	fail	lose_at_once	$WRITERS
	fail	clock_first	$WRITERS
	fail	w_store	$WRITERS
	fail	pad_unopened	$WRITERS
	fail	no_pad_commit	$WRITERS
	fail	open_store	$WRITERS
	fail	count_early	$WRITERS
	fail	count_never	$WRITERS
	fail	early_idx	$SHORT
	fail	commit_first	$SHORT
	fail	w_first	$SHORT
	fail	no_recheck	$WIDE
	fail	swap_any	$SHORT
	fail	swap_store	$SHORT
	fail	back_store	$SHORT
	fail	keep_spare	$LONG
	fail	spare_stored	$SHORT
	fail	no_heal	$SHORT
	fail	no_grace	$MORTAL
	fail	heal_store	$MORTAL
	fail	no_hole	$MORTAL
	fail	inc-claim_store	$SAVER
	fail	inc-never_full	$SAVER
	fail	inc-one_too_many	$SAVER
	fail	inc-saved_first	$SAVER
	fail	inc-finish_first	$SAVER
	fail	inc-unfinished_read	$SAVER
	fail	inc-recycle_first	$SAVER
	fail	inc-disk_unseen	$SAVER
	fail	inc-look_once	$LOOKER
	fail	inc-no_grace	$SAVER -DMORTAL
	EOT
}

# 0: found an error; 1: searched everything and found none; 2: could not tell.
search() {
	safety="-DSAFETY"
	args=""
	case "$*" in *-DCYCLES*) safety="-DNP" args="-l" ;; esac
	model=ring
	case "$name" in guardq*) model=guardq ;; inc-*) model=incident ;; esac
	spin -a "$@" "$models/$model.pml" >spin.out 2>&1 || return 2
	gcc $optimise -w $safety -DCOLLAPSE -DMEMLIM=6000 -o pan pan.c >gcc.out 2>&1 || return 2
	./pan -m100000 $args >pan.out 2>&1
	grep -q 'errors: [1-9]' pan.out && return 0
	grep -q 'errors: 0' pan.out && ! grep -Eq 'truncated|not complete|too small|out of memory' pan.out && return 1
	return 2
}

one() {
	want=$1 name=$2
	shift 2
	mkdir -p "$dir/$name" && cd "$dir/$name" || exit 1
	optimise=-O2
	if [ "$want" = fail ]; then # found soon: the compiler would take longer
		optimise=-O0
		set -- "$@" "-DMUT_${name#inc-}"
	fi
	begin=$(date +%s%N)
	search "$@"
	case $?$want in
	1pass) verdict="ok      nothing wrong" ;;
	0fail) verdict="ok      caught" ;;
	0pass) verdict="FAILED  $(grep -m1 '^pan:1' pan.out)" ;;
	1fail) verdict="FAILED  not noticed" ;;
	*) verdict="FAILED  no result: $(cat spin.out gcc.out pan.out 2>/dev/null | grep -im1 -E 'error|memory|truncated')" ;;
	esac
	states=$(awk '/states, stored/ { print $1; exit }' pan.out 2>/dev/null)
	printf '%-24s %10s states %6d ms   %s\n' "$name" "${states:--}" $((($(date +%s%N) - begin) / 1000000)) "$verdict" |
		tee "$dir/$name.row"
	rm -rf "${dir:?}/$name"
}

chosen() { # the runs whose name matches the pattern
	runs | awk -F '\t' -v pattern="$pattern" '$2 ~ pattern'
}

worker() { # every second run
	chosen | while IFS='	' read -r want name flags; do
		mkdir "$dir/$name.taken" 2>/dev/null || continue
		(one "$want" "$name" $flags)
	done
}

pattern=${1:-}
[ -n "$pattern" ] || [ -n "${FR_LONG:-}" ] || pattern=$SHORT_RUNS
worker &
worker
wait
passed=$(cat "$dir"/*.row | grep -c ' ok ')
failed=$(($(chosen | wc -l) - passed))
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
