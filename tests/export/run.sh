#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Exports, opened by the programs they are for. Records this host (root) and compares what the readers see with `replay --json`.
# Arguments: a snapshot to export instead of recording one (such as tests/gate/load.flight for texts), and only these parts: texts, ctf,
# tracecmd, stacks, gaps, perfetto, memory; made are those tests of perfetto, and of whose processes are, that need no recording.
set -u
cd "$(dirname "$0")/../.." || exit 1
make -s build/tests/export/big build/tests/report/make_load build/tests/rehearse/make || exit
exec /usr/bin/python3 tests/export/test_export.py "$@"
