#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every write, sync, rename, open and allocation fails once, as root: fault.py makes them fail through shim.c. Each test prints a
# line: ok, FAIL or SKIP, with its name.
set -u
cd "$(dirname "$0")/../.." || exit
export PATH=$PATH:/usr/sbin:/sbin PYTHONDONTWRITEBYTECODE=1
export FLIGHTREC=${FLIGHTREC:-$PWD/build/flightrec}
out=$(dirname "$FLIGHTREC")/tests/fault
export FR_FAULT_SHIM=$out/shim.so
mkdir -p "$out"

skip_all() {
	echo "SKIP all fault tests: $1"
	echo "0 passed, 0 failed, $(grep -c '^@test(' tests/fault/fault.py) skipped"
	exit
}

((EUID == 0)) || skip_all "they need root"
[[ -e /sys/kernel/btf/vmlinux ]] || skip_all "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)"
if ! gcc -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror -fno-builtin -shared -fPIC tests/fault/shim.c -o "$FR_FAULT_SHIM" -ldl; then
	echo "FAIL compile"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
fi
make -s O="$(dirname "$FLIGHTREC")" "$(dirname "$FLIGHTREC")/tests/symbols/make_stacks" || exit
log=$(mktemp)
trap 'rm -f "$log"' EXIT
/usr/bin/python3 tests/fault/fault.py "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
p=$(grep -c '^ok ' "$log") f=$(grep -c '^FAIL ' "$log") s=$(grep -c '^SKIP ' "$log")
if ((status && !f)) || ((p + f + s == 0)); then
	echo "FAIL fault.py: exit status $status, $((p + f + s)) tests seen"
	((f++))
fi
echo "$p passed, $f failed, $s skipped"
((!f))
