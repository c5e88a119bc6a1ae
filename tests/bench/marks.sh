#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a mark of flightrec_mark.h costs a program: without a recorder, and recorded. As root.
set -eu
fr=${FLIGHTREC:-build/flightrec}
marks=$(dirname "$fr")/tests/bench/marks
name=markcost-$$
make -s O="$(dirname "$fr")" "$marks"
dir=$(mktemp -d)
trap '$fr stop -n $name >/dev/null 2>&1 || :; rm -rf "$dir"' EXIT
echo "nobody records:"
for _ in 1 2 3; do "$marks" 100000000; done
$fr record -n $name -p minimal -e -sched -e "mark:$(realpath "$marks")" -o /tmp --unattended
echo "recorded:"
for _ in 1 2 3; do "$marks" 300000; done
$fr dump -n $name -o "$dir/marks.flight" >/dev/null
echo "of them in the rings: $($fr replay --count -f 'event ~ "mark:*"' "$dir/marks.flight")"
