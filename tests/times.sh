#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Copy the seconds that whole runs measured, build/check/times and times-long, into the tables of docs/testing.md.
set -eu
cd "$(dirname "$0")/.."
page=docs/testing.md
for times in build/check/times build/check/times-long; do
	[[ -e $times ]] || { echo "$times is not there: run make check, or make check-long" >&2; continue; }
	awk -v kind="$(awk 'NR == 1 { print $1 }' "$times")" '
		NR == FNR { seconds[$1] = $2; next }
		/^\| [a-z]+ \| [a-z]/ { here = $2 == kind && /\| what it shows \| seconds \|/ }
		here && match($0, /^\| `[a-z]+` \|/) {
			name = substr($0, 4, RLENGTH - 6)
			if (name in seconds) {
				n = split($0, cell, " [|]")
				cell[3] = " " seconds[name]
				$0 = cell[1]
				for (i = 2; i <= n; i++)
					$0 = $0 " |" cell[i]
			}
		}
		{ print }' "$times" "$page" > "$page.new"
	mv "$page.new" "$page"
done
