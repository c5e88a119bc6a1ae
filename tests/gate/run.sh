#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# How many instructions the hot path and replay take, against tests/gate/figures, which --update rewrites.
#
#	tests/gate/run.sh [--update] [bpf] [kernel] [replay]
set -u
cd "$(dirname "$0")/../.." || exit
export PATH=$PATH:/usr/sbin:/sbin PYTHONDONTWRITEBYTECODE=1
make -s build/flightrec build/tests/gate/ring build/tests/gate/jited build/tests/cut/make || exit
exec /usr/bin/python3 tests/gate/gate.py "$@"
