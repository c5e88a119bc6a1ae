#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `replay --on`, --step and --speed, on snapshots made for it. No root, no BPF.
set -u
cd "$(dirname "$0")/../.." || exit
export TZ=UTC LC_ALL=C PYTHONDONTWRITEBYTECODE=1 FLIGHTREC=${FLIGHTREC:-$PWD/build/flightrec}
if ! make -s build/tests/rehearse/make; then
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
fi
exec /usr/bin/python3 tests/rehearse/check.py build/tests/rehearse/make "$@"
