#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Names of stack frames, looked up offline: snapshots made here of programs built here. No root, no network, no BPF.
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-build}
make -s O="$O" "$O/tests/symbols/make_stacks" || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
MAKE_STACKS=$O/tests/symbols/make_stacks exec /usr/bin/python3 tests/symbols/test_symbols.py "$@"
