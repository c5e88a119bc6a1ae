#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Run every suite, or those named. A suite is a program whose last line is "N passed, N failed, N skipped". It gives the reason
# of each skip on a line that begins with SKIP, and exits non-zero if something failed. Its output is kept in build/check/.
set -u
cd "$(dirname "$0")/.." || exit
export PATH=$PATH:/usr/sbin:/sbin FLIGHTREC=$PWD/build/flightrec

# How it runs if all are run, name, seconds after which it counts as hung, command. The limit is at least four times what the suite
# takes, since machines may be busy.
# +: beside any others; these compute, most with all CPUs. Those that take long first, but for fuzz, which uses the time it is given.
# =: loads programs into this kernel, or waits for most of its time: one after the other, beside those with a +.
# -: alone, when all others have ended: what it is to notice shows by chance, and needs all CPUs to itself.
suites='
= kernel 4800	tests/kernel/run.sh
= export 2400	tests/export/run.sh
= top	1200	tests/top/run.sh
= fault	1800	tests/fault/run.sh
= gate	 600	tests/gate/run.sh
= demo	 400	tests/demo/check.sh
+ vm	3300	tests/vm/run.sh
+ model	1200	tests/model/run.sh
+ unit	1200	tests/unit/run.sh
+ build	1200	tests/build/run.sh
+ step	1200	tests/step/run.sh
+ systemd 1500	tests/systemd/run.sh
+ view	 900	tests/view/run.sh
+ cli	1200	tests/cli/run.sh
+ files	1200	tests/files/run.sh
+ cut	 600	tests/cut/run.sh
+ tree	 400	tests/tree/run.sh
+ dist	 400	tests/dist/run.sh
+ lib	 600	tests/lib/run.sh
+ report	 600	tests/report/run.sh
+ symbols 900	tests/symbols/run.sh
+ rehearse 600	tests/rehearse/run.sh
+ fuzz	1200	env FUZZ_SEED=1 tests/fuzz/run.sh 60
- stress 1200	tests/stress/run.sh
'
logs=build/check
mkdir -p $logs
rm -f $logs/*.{counts,failures}

# counts LOG: the three numbers of its last line; nothing if that is no summary
counts() {
	tail -n 1 "$1" | sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p'
}

# judge STATUS LOG: the three numbers that count. A suite that prints no summary, fails silently or runs nothing has failed.
judge() {
	local status=$1 log=$2 p f s
	read -r p f s <<< "$(counts "$log")"
	if [[ -z ${s:-} ]]; then
		echo "no summary (exit status $status)" >> "$log"
		p=0 f=1 s=0
	elif ((status && !f)); then
		echo "exit status $status, but no failure counted" >> "$log"
		f=1
	elif ((p + f + s == 0)); then
		echo "nothing was run" >> "$log"
		f=1
	fi
	echo "$p $f $s"
}

# show_failures NAME LOG STATUS: print the suite's last lines now. Each failure, with the lines after it, is printed again at the very
# end of the run, where it is easy to find.
show_failures() {
	tail -n 30 "$2" | sed 's/^/         | /'
	{
		echo "failed: $1, exit status $3"
		grep -aE -A 8 '\bFAIL(ED)?\b|^ *(not ok|\*\*\*)|: error: ' "$2" | head -n 24
	} | sed 's/^/   /' > "$logs/$1.failures"
}

# show NAME SECONDS LOG STATUS: how a suite ended
show() {
	local p f s
	read -r p f s < "$logs/$1.counts"
	printf '%-8s %-5s %4d s   %d passed, %d failed, %d skipped\n' "$1" "$( ((f)) && echo FAIL || echo ok)" "$2" "$p" "$f" "$s"
	grep -iE '^skip' "$3" | sed 's/^/         /'
	((f)) && show_failures "$1" "$3" "$4"
}

# run_suite NAME LIMIT COMMAND...: in a subshell, which prints all at once, as others may run beside it, and passes signals on
run_suite() {
	local name=$1 limit=$2 log=$logs/$1.log begin=$SECONDS status text
	shift 2
	timeout -k 10 "$limit" "$@" > "$log" 2>&1 < /dev/null &
	# shellcheck disable=SC2064
	trap "kill $!; exit" INT TERM
	wait $!
	status=$?
	((status == 124 || status == 137)) && echo "stopped after $limit s" >> "$log"
	judge $status "$log" > "$logs/$name.counts"
	text=$(show "$name" $((SECONDS - begin)) "$log" $status)
	echo "$text"
}

trap 'kill $(jobs -p) 2> /dev/null; exit 130' INT TERM

# those KINDS NAME...: the lines of the suites of these kinds, and of these names if there are any
those() {
	local kinds=$1 beside name rest
	shift
	while read -r beside name rest; do
		[[ -n $name && $kinds == *$beside* ]] || continue
		(($#)) && [[ " $* " != *" $name "* ]] || echo "$beside $name $rest"
	done <<< "$suites"
}

# lane: run the suites whose lines are read, one after the other
lane() {
	local name limit command
	while read -r _ name limit command; do
		# shellcheck disable=SC2086
		run_suite "$name" "$limit" $command
	done
}

# all: the suites beside each other, as many as there are CPUs. They must not make the same programs at once, so these are made before;
# those with sanitizers, which only suites with a + need, while the lane of the others begins. What cannot be made fails where it is needed.
all() {
	local name limit command
	make -s -k "-j$(nproc)" all shared > $logs/shared.log 2>&1
	lane < <(those =) &
	make -s -k "-j$(nproc)" sanitized >> $logs/shared.log 2>&1
	while read -r _ name limit command; do
		while (($(jobs -rp | wc -l) >= $(nproc))); do
			wait -n
		done
		# shellcheck disable=SC2086
		run_suite "$name" "$limit" $command &
	done < <(those +)
	wait
	lane < <(those -) &
	wait
}

if (($#)); then
	lane < <(those =+- "$@") &
	wait
else
	all
fi

passed=0 failed=0 skipped=0
while read -r _ name _; do
	read -r p f s 2> /dev/null < "$logs/$name.counts" || { p=0 f=1 s=0 && echo "   failed: $name did not come to its end"; }
	((passed += p, failed += f, skipped += s))
	[[ ! -e $logs/$name.failures ]] || cat "$logs/$name.failures"
done < <(those =+- "$@")
echo "$passed passed, $failed failed, $skipped skipped"
((passed && !failed))
