#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Pages of `flightrec view` in a headless Chromium, compared with `replay --json`.
set -u
cd "$(dirname "$0")/../.." || exit 1
make -s build/tests/cli/make_snapshot build/tests/view/make_calls build/tests/report/make_load build/tests/cut/make_tasks build/tests/rehearse/make build/tests/view/flightrec || exit 1
exec /usr/bin/python3 tests/view/test_view.py "$@"
