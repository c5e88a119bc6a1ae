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
mkdir -p "$FR_BENCH_BIN"
tests/bench/hot.sh clang "$FR_BENCH_BIN"
for tool in rules stall spent clockword; do
	gcc -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror -Ibpf "tests/bench/$tool.c" -lpthread -o "$FR_BENCH_BIN/$tool"
done
build=$(dirname "$FLIGHTREC")
if [[ -e $build/libfrcore.a ]]; then
	for tool in grow toggle; do
		gcc -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror -Ibpf -Iuser "tests/bench/$tool.c" -Wl,--start-group \
			"$build/libfrcore.a" "$build/libfrcore_bpf.a" -Wl,--end-group -lbpf -ldw -lelf -lz -lzstd -lxxhash -ltraceevent -lseccomp \
			-liberty -lncursesw -ltinfo -lpthread -o "$FR_BENCH_BIN/$tool"
	done
fi
gcc -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror tests/kernel/hog.c -o "$FR_BENCH_BIN/hog"
# Of LTTng-UST where it is installed; the tables say where it is not
rm -f "$FR_BENCH_BIN/ust"
if echo '#include <lttng/tracepoint.h>' | gcc -E - > /dev/null 2>&1; then
	gcc -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror -Itests/bench/ust tests/bench/ust/ust.c \
		-llttng-ust -ldl -lpthread -o "$FR_BENCH_BIN/ust"
fi
exec /usr/bin/python3 -B tests/bench/bench.py "$@"
