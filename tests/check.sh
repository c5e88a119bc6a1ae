# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For suites that are shell scripts, which source it in the project's directory: a directory for their files, $tmp, that is removed at the
# end; checks, counted; the last line.
# shellcheck shell=bash

tmp=$(mktemp -d) || exit
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0

# check NAME COMMAND...: it succeeds; 77: could not run, the last line says why. What it sets stays its own.
check() {
	local name=$1 status
	shift
	("$@") > "$tmp/log" 2>&1
	status=$?
	case $status in
	0) ((passed++)) ;;
	77) ((skipped++)) && true; echo "SKIP $name: $(tail -n 1 "$tmp/log")" ;;
	*) ((failed++)) && true; echo "FAIL $name"; tail -n 20 "$tmp/log" | cut -c 1-500 | sed 's/^/    /' ;;
	esac
}

# finish: the suite's last line and exit status
finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	((!failed))
	exit
}
