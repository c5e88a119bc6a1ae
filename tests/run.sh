#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Run every suite of `make check`, or those named; with --long, every part of `make check-long`, or those named.
#
#	tests/run.sh [SUITE...]
#	tests/run.sh --long [PART [N]...]	N: an argument of the part, as the number of mutants
#	tests/run.sh --list|--list-long		the names
#
# A suite is a program whose last line is "N passed, N failed, N skipped". It gives the reason of each skip on a line that begins with
# SKIP, and exits non-zero if something failed. Its output is kept in build/check/NAME.log, a whole run's times in build/check/times
# (of the parts: times-long). Parts that begin with chance begin at FR_SEED, which is printed.
set -u
cd "$(dirname "$0")/.." || exit
# First what packages install: a wrapper that finds a version of python takes longer than most that it starts.
export PATH=/usr/bin:/bin:$PATH:/usr/sbin:/sbin FLIGHTREC=$PWD/build/flightrec FLIGHTREC_PAGER=cat

# How it runs if all are run, name, seconds after which it counts as hung, command. The limit is at least four times what the suite
# takes, since machines may be busy.
# +: computes: beside others, as many at a time as there are CPUs. Those that take long first.
# ~: waits for most of its time: one after the other, beside those that compute.
# =: records this machine: one after the other, alone, when all others have ended.
# :: records it, too, in a session of its own, of which it asks nothing that others disturb: beside each other, behind those.
suites='
+ cli 1200	tests/cli/run.sh
+ unit	 1200	tests/unit/run.sh
+ step 1200	tests/step/run.sh
+ cut	 600	tests/cut/run.sh
+ files 1200	tests/files/run.sh
+ report 600	tests/report/run.sh
+ gate	 600	tests/gate/run.sh
+ symbols 900	tests/symbols/run.sh
+ model 1200	tests/model/run.sh
+ lib	 600	tests/lib/run.sh
+ stress 1200	tests/stress/run.sh
+ build 1200	tests/build/run.sh
+ tree	 400	tests/tree/run.sh
+ fuzz 1200	tests/fuzz/run.sh
+ rehearse 600	tests/rehearse/run.sh
+ waits 300	tests/waits/run.sh
+ verdict 300	tests/verdict/run.sh
~ view	 900	tests/view/run.sh
~ top	 900	tests/top/run.sh
~ dist	 400	tests/dist/run.sh
= kernel 2400	tests/kernel/run.sh
= demo	 400	tests/demo/check.sh
: fault	 900	tests/fault/run.sh
: export 1200	tests/export/run.sh
'
# What needs chance, time or another kernel. FR_LONG=1 has a suite try what chance or time shows; in `make check` it does not.
# +, =: as above, but a lane of = runs beside those with a +, which leave one CPU to it.
# -: alone, when all others have ended: what it is to notice shows by chance, and needs all CPUs to itself.
# .: only if it is named: it takes longer than all others.
parts='
+ vm	 4800	tests/vm/run.sh
+ systemd 2400	tests/systemd/run.sh
+ valgrind 1800	tests/unit/run.sh valgrind
+ clang	 900	tests/build/run.sh clang
+ fuzz	 1800	env FR_LONG=1 tests/fuzz/run.sh
+ step	 1800	env FR_LONG=1 tests/step/run.sh
+ model	 1800	env FR_LONG=1 tests/model/run.sh
= fault	 3600	env FR_LONG=1 tests/fault/run.sh
= kills	 4800	env FR_KILLS=500 tests/kernel/run.sh kill writer kills begin_and_end
= floods 2400	env FR_STRESS_SECONDS=300 tests/kernel/run.sh stress
= commands 1800	env FR_LONG=1 tests/kernel/run.sh commands
- stress 1800	env FR_LONG=1 tests/stress/run.sh
. mutants 43200	tests/mutants/run.sh
. soak	 3600	env FR_SOAK=1800 tests/kernel/run.sh soak
'
logs=build/check kind=suites times=times table=$suites
case ${1:-} in
--list) sed -nE 's/^[-+~=:.] ([a-z]+).*/\1/p' <<< "$suites" && exit 0 ;;
--list-long) sed -nE 's/^[-+~=:.] ([a-z]+).*/\1/p' <<< "$parts" && exit 0 ;;
--long) shift && logs=build/check/long kind=parts times=../times-long table=$parts ;;
esac
mkdir -p $logs
rm -f $logs/*.{counts,failures,time,cpu}
[[ $kind == parts ]] || FR_SEED=${FR_SEED:-1} # `make check` does the same each time
export FR_SEED=${FR_SEED:-$((RANDOM * 32768 + RANDOM))}

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

# again NAME: the command that runs it alone
again() {
	if [[ $kind == parts ]]; then
		echo "FR_SEED=$FR_SEED tests/run.sh --long $1"
	else
		echo "tests/run.sh $1"
	fi
}

# show_failures NAME LOG STATUS: print the suite's last lines now. Each failure, with the lines after it, is printed again at the very
# end of the run, where it is easy to find.
show_failures() {
	tail -n 30 "$2" | sed 's/^/         | /'
	{
		echo "failed: $1, exit status $3; all of it: $2; again: $(again "$1")"
		# cmocka says what it compared, and a test of what, before the line with the place
		grep -aE -B 2 -A 8 '\bFAIL(ED)?\b|^ *(not ok|\*\*\*)|: error: ' "$2" | head -n 30
	} | sed 's/^/   /' > "$logs/$1.failures"
}

# row NAME SECONDS PASSED FAILED SKIPPED CPU: a line of the table of times
row() {
	printf '%-8s %7s %7s %7s %7s %7s\n' "$@"
}

# cpu_seconds: the sum of what the shell's times printed
cpu_seconds() {
	awk -F '[ms ]+' '{ s += 60 * ($1 + $3) + $2 + $4 } END { printf "%.0f\n", s }'
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
	local name=$1 limit=$2 log=$logs/$1.log begin=$SECONDS status text before
	shift 2
	times > "$logs/$name.cpu" # of this shell, and of what it has waited for: suites of a lane share it
	before=$(cpu_seconds < "$logs/$name.cpu")
	timeout -k 10 "$limit" "$@" > "$log" 2>&1 < /dev/null &
	# shellcheck disable=SC2064
	trap "kill $!; exit" INT TERM
	wait $!
	status=$?
	((status == 124 || status == 137)) && echo "stopped after $limit s" >> "$log"
	judge $status "$log" > "$logs/$name.counts"
	times > "$logs/$name.cpu"
	row "$name" $((SECONDS - begin)) $(< "$logs/$name.counts") $(($(cpu_seconds < "$logs/$name.cpu") - before)) > "$logs/$name.time"
	text=$(show "$name" $((SECONDS - begin)) "$log" $status)
	echo "$text"
}

trap 'kill $(jobs -p) 2> /dev/null; exit 130' INT TERM

# those KINDS NAME...: the lines of the suites of these kinds, and of these names if there are any. A number belongs to the name before it.
those() {
	local kinds=$1 beside name rest argument
	shift
	while read -r beside name rest; do
		[[ -n $name && $kinds == *$beside* ]] || continue
		if ((!$#)); then
			[[ $beside == . ]] || echo "$beside $name $rest"
		elif [[ " $* " =~ " $name "([0-9]+ )? ]]; then
			argument=${BASH_REMATCH[1]:-}
			echo "$beside $name $rest $argument"
		fi
	done <<< "$table"
}

# lane: run the suites whose lines are read, one after the other
lane() {
	local name limit command
	while read -r _ name limit command; do
		# shellcheck disable=SC2086
		run_suite "$name" "$limit" $command
	done
}

# beside KIND COUNT: run the suites of a kind, so many at a time
beside() {
	local name limit command
	while read -r _ name limit command; do
		while (($(jobs -rp | wc -l) >= $2)); do
			wait -n
		done
		# shellcheck disable=SC2086
		run_suite "$name" "$limit" $command &
	done < <(those "$1")
	wait
}

# They must not make the same programs at once, so what several of them need is made before. What cannot be made fails where it is needed.
# One job more than there are CPUs, as make and its shells take a fifth of a job's time.
make_shared() {
	local begin=$SECONDS
	make -s -k "-j$(($(nproc) + 1))" shared > $logs/shared.log 2>&1
	times > $logs/make.cpu # of this shell: another one has waited for nobody
	row make $((SECONDS - begin)) 0 0 0 "$(cpu_seconds < $logs/make.cpu)" > $logs/make.time
}

all_suites() {
	make_shared
	lane < <(those "~") &
	beside + "$(nproc)" &
	wait
	lane < <(those =) &
	wait
	beside : 2 &
	wait
}

all_parts() {
	make_shared
	lane < <(those =) &
	beside + $(($(nproc) > 2 ? $(nproc) - 1 : 1)) &
	wait
	lane < <(those -) &
	wait
}

for name; do
	[[ $name =~ ^[0-9]+$ ]] || grep -qE "^[-+~=:.] $name[[:blank:]]" <<< "$table" && continue
	echo "no name of one of the $kind: $name; they are:" $(sed -nE 's/^[-+~=:.] ([a-z]+).*/\1/p' <<< "$table") >&2
	exit 1
done
[[ $kind != parts ]] || echo "chance begins at FR_SEED=$FR_SEED"
if (($#)); then
	lane < <(those =:~+-. "$@") &
	wait
else
	all_$kind
fi

passed=0 failed=0 skipped=0
while read -r _ name _; do
	read -r p f s 2> /dev/null < "$logs/$name.counts" || { p=0 f=1 s=0 && echo "   failed: $name did not come to its end"; }
	((passed += p, failed += f, skipped += s))
	[[ ! -e $logs/$name.failures ]] || cat "$logs/$name.failures"
done < <(those =:~+-. "$@")
measured=$(
	row "${kind%s}" seconds passed failed skipped cpu
	for name in make $(those =:~+-. "$@" | cut -d' ' -f2); do
		[[ ! -e $logs/$name.time ]] || cat "$logs/$name.time"
	done
	row all $SECONDS $passed $failed $skipped "$(awk '{ s += $6 } END { print s }' $logs/*.time)"
)
echo "$measured"
(($#)) || echo "$measured" > $logs/$times
[[ $kind != parts ]] || echo "again: make check-long PARTS='$*' FR_SEED=$FR_SEED"
echo "$passed passed, $failed failed, $skipped skipped"
((passed && !failed))
