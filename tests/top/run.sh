#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The screen of `flightrec top` on terminals, compared with `replay --json` and `report --json`. No root.
set -u
cd "$(dirname "$0")/../.." || exit 1
export FLIGHTREC=${FLIGHTREC:-$PWD/build/flightrec} TZ=UTC PYTHONDONTWRITEBYTECODE=1
build=$(dirname "$FLIGHTREC")
make -s O="$build" "$build/tests/report/make_load" "$build/tests/top/make" "$build/tests/top/follow" "$build/tests/rehearse/make" || exit 1
exec /usr/bin/python3 tests/top/test_top.py "$build" "$@"
