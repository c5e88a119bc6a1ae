#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The verdict of `flightrec report`: each recogniser on a history on which it must speak, and on five or more on which it must not; what
# each kind of trigger is said to be. Histories are texts. No root.
#
#	tests/verdict/run.sh [NAME...]	these recognisers only
set -u
cd "$(dirname "$0")/../.." || exit
export TZ=UTC LC_ALL=C PYTHONDONTWRITEBYTECODE=1
export FLIGHTREC=${FLIGHTREC:-$PWD/build/flightrec}
unset COLUMNS NO_COLOR
. tests/check.sh
make -s build/tests/rehearse/make || exit
cases=tests/verdict/cases

# Each one of the table has its case and its line in docs/report.md, and none has one that is not in the table.
all_are_tried() {
	local names
	names=$(sed -nE 's/^\t\{"([a-z_]+)", ".*/\1/p' user/read/verdict/recognise.c | sort)
	(($(wc -w <<< "$names") > 3)) || { echo "the table was not found: $names"; return 1; }
	diff <(echo "$names") <(basename -s .case $cases/*.case | sort) && diff <(echo "$names") <(sed -n '/^### What is recognised/,/^#* [A-Z]/p; ' docs/report.md | sed -nE 's/^\| `([a-z_]+)` \|.*/\1/p' | sort)
}

check "each recogniser has a case and a line in docs/report.md" all_are_tried
for case in $cases/*.case; do
	name=$(basename -s .case "$case")
	[[ $# == 0 || " $* " == *" $name "* ]] || continue
	check "$name" /usr/bin/python3 tests/verdict/case.py "$case"
done
check "what happened, by the kind of trigger" /usr/bin/python3 tests/verdict/what.py
finish
