#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Measure what is promised: a table on the terminal, build/bench.json for programs. As root, on a machine that is otherwise
# quiet, for less than 15 minutes; --quick takes less than two. run.sh [--quick] [PART...], run.sh --docs,
# run.sh --docs-other NAME, run.sh --tables
set -eu
cd "$(dirname "$0")/../.."
export PATH=$PATH:/usr/sbin:/sbin
export FLIGHTREC=${FLIGHTREC:-$PWD/build/flightrec}
export FR_BENCH_BIN=$(dirname "$FLIGHTREC")/tests/bench

# What was measured becomes the kept run and docs/performance.md, or a column of another machine there; or the kept runs' tables
[[ ${1:-} == --docs ]] && exec /usr/bin/python3 -B tests/bench/docs.py --update
[[ ${1:-} == --docs-other ]] && exec /usr/bin/python3 -B tests/bench/docs.py --other "${2:?--docs-other NAME: of which machine?}"
[[ ${1:-} == --tables ]] && exec /usr/bin/python3 -B tests/bench/docs.py --tables build/performance

((EUID == 0)) || { echo "the benchmarks load BPF programs: they need root" >&2; exit 1; }
tests/bench/compile.sh "$(dirname "$FLIGHTREC")" "$FR_BENCH_BIN"
exec /usr/bin/python3 -B tests/bench/bench.py "$@"
