#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Break a copy of the product, one fault at a time: a suite of `make check` has to notice each. Arguments: run.py tells.
cd "$(dirname "$0")/../.." || exit
exec /usr/bin/python3 -B tests/mutants/run.py "$@"
