#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Measure what is promised: a table on the terminal, build/bench.json for programs. As root, on a machine that is otherwise
# quiet, for some three minutes; --quick takes less than one.
set -eu
cd "$(dirname "$0")/../.."
export PATH=$PATH:/usr/sbin:/sbin
export FLIGHTREC=${FLIGHTREC:-$PWD/build/flightrec}
export FR_BENCH_BIN=$(dirname "$FLIGHTREC")/tests/bench

((EUID == 0)) || { echo "the benchmarks load BPF programs: they need root" >&2; exit 1; }
arch=$(uname -m)
arch=${arch/aarch64/arm64}
mkdir -p "$FR_BENCH_BIN"
clang -g -O2 -mcpu=v3 -target bpf -Wall -Wextra -Werror -Wno-unused-parameter -Ibpf "-Ivmlinux/$arch" \
	"-D__TARGET_ARCH_${arch/x86_64/x86}" -c tests/bench/hot.bpf.c -o "$FR_BENCH_BIN/hot.bpf.o"
bpftool gen skeleton "$FR_BENCH_BIN/hot.bpf.o" name hot > "$FR_BENCH_BIN/hot.skel.h"
gcc -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror -Ibpf -Iuser "-I$FR_BENCH_BIN" tests/bench/hot.c \
	-lbpf -lelf -lz -lpthread -o "$FR_BENCH_BIN/hot"
gcc -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror tests/bench/rules.c -lpthread -o "$FR_BENCH_BIN/rules"
gcc -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror tests/kernel/hog.c -o "$FR_BENCH_BIN/hog"
exec /usr/bin/python3 -B tests/bench/bench.py "$@"
