#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Compile the benchmarks' programs into DIR, with the objects of BUILD where it has been built from source. compile.sh BUILD DIR
set -eu
cd "$(dirname "$0")/../.."
build=$1 bin=$2
compile() { gcc -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror "$@"; }

mkdir -p "$bin"
tests/bench/hot.sh clang "$bin"
for tool in rules stall spent clockword; do
	compile -Ibpf "tests/bench/$tool.c" -lpthread -o "$bin/$tool"
done
if [[ -e $build/libfrcore.a ]]; then
	for tool in grow toggle; do
		compile -Ibpf -Iuser "tests/bench/$tool.c" -Wl,--start-group "$build/libfrcore.a" "$build/libfrcore_bpf.a" -Wl,--end-group \
			-lbpf -ldw -lelf -lz -lzstd -lxxhash -ltraceevent -lseccomp -liberty -lncursesw -ltinfo -lpthread -o "$bin/$tool"
	done
fi
compile tests/kernel/hog.c -o "$bin/hog"
# Of LTTng-UST where it is installed; the tables say where it is not
rm -f "$bin/ust"
if echo '#include <lttng/tracepoint.h>' | gcc -E - > /dev/null 2>&1; then
	compile -Itests/bench/ust tests/bench/ust/ust.c -llttng-ust -ldl -lpthread -o "$bin/ust"
fi
