#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A load of system calls, page faults and scheduling, of everyday programs, for so many seconds: mixed.sh SECONDS
#	files	directories listed, files opened, read and hashed: system calls of many kinds and sizes
#	tasks	short processes: fork, exec, exit, page faults
#	pipes	two processes that hand lines to each other: wake-ups and switches
set -u
seconds=${1:?usage: mixed.sh SECONDS}

files() {
	while :; do
		find /usr/share -type f -size -64k -print0 2> /dev/null | head -z -n 3000 | xargs -0 -n 200 cksum
		ls -lR /usr/lib /etc 2> /dev/null
	done > /dev/null
}

tasks() {
	while :; do
		for word in a b c d e f g h; do
			echo $word | sed s/a/b/ | sort | uniq -c
		done
	done > /dev/null
}

pipes() {
	coproc cat
	while :; do
		echo "$RANDOM" >&"${COPROC[1]}"
		read -r -u "${COPROC[0]}"
	done
}

# Itself again for each part, so that timeout has a process to end.
if [[ ${2:-} ]]; then
	$2
fi
for part in files tasks pipes; do
	timeout "$seconds" setsid --wait "$0" "$seconds" $part 2> /dev/null &
done
wait
exit 0
