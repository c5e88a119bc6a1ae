#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# run.sh [SECONDS]: fuzz the reader that long (60), from the corpus kept here. No root.
set -u
cd "$(dirname "$0")/../.." || exit
seconds=${1:-60}
out=build/fuzz
if ! echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -fsanitize=fuzzer -x c - -o /dev/null 2> /dev/null; then
	echo "SKIP fuzz: clang cannot link with libFuzzer: install libclang-rt-dev"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
flags='-O1 -g -fsanitize=fuzzer-no-link'
if ! make -s O=$out CC=clang CFLAGS="$flags" SANITIZE=address,undefined $out/libflightrec.a ||
	! clang -std=gnu11 -D_GNU_SOURCE= -O1 -g -Wall -Wextra -Werror -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -Ibpf -Iuser tests/fuzz/read.c $out/libflightrec.a -lzstd -lxxhash -o $out/read; then
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
fi
# What is found goes to a directory of its own: the corpus kept stays as it is until somebody adds to it.
mkdir -p $out/new
rm -f $out/new/*
if $out/read -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
	-artifact_prefix=$out/ $out/new tests/fuzz/corpus > $out/log 2>&1; then
	grep -E 'number_of_executed_units|average_exec|peak_rss' $out/log
	tail -n 40 $out/log | grep -E 'cov:' | tail -n 1
	echo "1 passed, 0 failed, 0 skipped"
else
	tail -n 40 $out/log
	echo "the input that did it is in $out/"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
fi
