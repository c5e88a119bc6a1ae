#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# run.sh [SECONDS]: fuzz the reader of snapshots that long (60), exporters a third of it, and a quarter the other parsers: of triggers
# and configurations, and of ELF files. Each from the corpus kept here. No root.
set -u
cd "$(dirname "$0")/../.." || exit
seconds=${1:-60}
out=build/fuzz
passed=0 failed=0
if ! echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -fsanitize=fuzzer -x c - -o /dev/null 2> /dev/null; then
	echo "SKIP fuzz: clang cannot link with libFuzzer: install libclang-rt-dev"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
flags='-O1 -g -fsanitize=fuzzer-no-link'
make -s O=$out CC=clang CFLAGS="$flags" SANITIZE=address,undefined $out/libfrcore.a || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }

# fuzz NAME SECONDS CORPUS [OPTION]: what is found goes to a directory of its own: the corpus kept stays until somebody adds to it
fuzz() {
	local name=$1 seconds=$2 corpus=$3
	shift 3
	clang -std=gnu11 -D_GNU_SOURCE= -O1 -g -Wall -Wextra -Werror -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -Ibpf -Iuser -Itests "tests/fuzz/$name.c" $out/libfrcore.a -ldw -lelf -lz -lzstd -lxxhash -liberty -o "$out/$name" ||
		return 1
	mkdir -p "$out/new_$name"
	rm -f "$out/new_$name"/*
	if "$out/$name" -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
		-artifact_prefix="$out/$name-" "$@" "$out/new_$name" "$corpus" > "$out/$name.log" 2>&1; then
		echo "$name: $(grep -E 'cov:' "$out/$name.log" | tail -n 1)"
		grep -E 'number_of_executed_units|average_exec|peak_rss' "$out/$name.log"
		return 0
	fi
	tail -n 40 "$out/$name.log"
	echo "the input that did it is $out/$name-*"
	return 1
}

fuzz read "$seconds" tests/fuzz/corpus && ((++passed)) || ((++failed))
fuzz export $(((seconds + 2) / 3)) tests/fuzz/corpus_export -close_fd_mask=3 && ((++passed)) || ((++failed))
fuzz text $(((seconds + 3) / 4)) tests/fuzz/corpus_text && ((++passed)) || ((++failed))
fuzz elf $(((seconds + 3) / 4)) tests/fuzz/corpus_elf && ((++passed)) || ((++failed))
echo "$passed passed, $failed failed, 0 skipped"
((!failed))
