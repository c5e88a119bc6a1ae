#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Build hot, its programs by this clang. hot.sh CLANG DIR
set -eu
cd "$(dirname "$0")/../.."
arch=$(uname -m)
arch=${arch/aarch64/arm64}
mkdir -p "$2"
"$1" -g -O2 -mcpu=v3 -target bpf -Wall -Wextra -Werror -Wno-unused-parameter -Ibpf "-Ivmlinux/$arch" \
	"-D__TARGET_ARCH_${arch/x86_64/x86}" -c tests/bench/hot.bpf.c -o "$2/hot.bpf.o"
bpftool gen skeleton "$2/hot.bpf.o" name hot > "$2/hot.skel.h"
gcc -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror -Ibpf -Iuser "-I$2" tests/bench/hot.c tests/bench/hot_set.c \
	user/live/session/current.c -lbpf -lelf -lz -lpthread -o "$2/hot"
