# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Shell suites source this file in the project's directory. It makes a directory for their files, $tmp, which is removed at the end,
# runs and counts their checks, and prints the last line. FR_ONLY=WORDS: only checks whose name has these words.
# FR_TIMES=1: print the CPU seconds that each took.
# shellcheck shell=bash

tmp=$(mktemp -d) || exit
export FLIGHTREC_PAGER=cat # on a terminal, nobody is there to leave a pager
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0

# check NAME COMMAND...: the command has to succeed. Status 77: it could not run, and its last line says why. It runs in a subshell, so
# what it sets is lost. If it fails, what it said is printed, and its last commands, as they were executed: [[ what it saw == expected ]].
check() {
	local name=$1 status trace
	shift
	[[ $name == *"${FR_ONLY:-}"* ]] || return
	times > "$tmp/.times" # of this shell, and of what it has waited for: two lines
	(
		exec {trace}> "$tmp/.trace"
		BASH_XTRACEFD=$trace PS4='+ '
		set -x
		"$@"
	) > "$tmp/log" 2>&1
	status=$?
	[[ -z ${FR_TIMES:-} ]] || took "$name"
	case $status in
	0) ((passed++)) ;;
	77) ((skipped++)) && true; echo "SKIP $name: $(tail -n 1 "$tmp/log")" ;;
	*)
		((failed++)) && true
		echo "FAIL $name: exit status $status, not 0; it said"
		tail -n 20 "$tmp/log" | cut -c 1-500 | sed 's/^/    /'
		echo "     its last commands, with what they compared:"
		tail -n 8 "$tmp/.trace" | cut -c 1-500 | sed 's/^/    /'
		echo "     alone: FR_ONLY=${name@Q} $0"
		;;
	esac
}

# took NAME: print the CPU seconds since .times was begun
took() {
	times >> "$tmp/.times"
	awk -F '[ms ]+' -v name="$1" '{ s += (NR > 2 ? 1 : -1) * (60 * ($1 + $3) + $2 + $4) } END { printf "%7.2f %s\n", s, name }' "$tmp/.times"
}

# first NAME COMMAND...: a check that others need, which also runs if only one of them is asked for
first() {
	FR_ONLY='' check "$@"
}

# finish: the suite's last line and exit status
finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	((!failed))
	exit
}
