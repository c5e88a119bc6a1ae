#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tree itself: its format, licences and layers; generated files are as their tables make them.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/check.sh

# none PATTERN FILE...: check that no line matches
none() {
	! grep -nE "$@"
}

sources() {
	find Makefile .ci bpf completion dist user vmlinux tests docs/man docs/examples -type f \
		\( -name '*.[ch1357]' -o -name '*.def' -o -name '*.sh' -o -name '*.py' -o -name '*.bash' -o -name '*.pml' -o -path '.ci/*' -o -path 'dist/*' \
		-o -name Makefile \) -print
}

licences() {
	# shellcheck disable=SC2046
	awk 'FNR <= 2 && /SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause/ { has[FILENAME] = 1 }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) { print ARGV[i]; bad = 1 } exit bad || ARGC < 1000 }' $(sources)
}

# Includes point down only: cmd, lib, live and show, read, sys, base, bpf. live and show do not know each other. Of lib, commands
# include only the public header.
layers() {
	! grep -rnE '^#include "(cmd|lib|live|show|read|sys)/' user/base &&
		! grep -rnE '^#include "(cmd|lib|live|show|read)/' user/sys &&
		! grep -rnE '^#include "(cmd|lib|live|show)/' user/read &&
		! grep -rnE '^#include "(cmd|lib|live)/' user/show &&
		! grep -rnE '^#include "(cmd|lib|show)/' user/live &&
		none '^#include "(cmd|live)/' user/lib/*.[ch] &&
		none '^#include "lib/(handle|[^f])' user/cmd/*.[ch] &&
		! grep -rnE '^#include [<"](bpf/|zstd|cmd/)' user/base &&
		none '^#include "(cmd|lib|live|show|read|sys|base)/' bpf/*.[ch]
}

# Nor do folders include each other in a circle: there is an order in which each comes after all that it needs.
circles() {
	local order
	order=$(grep -rE '^#include "[a-z]+/' user | sed -nE 's,^user/(.*)/[^/]+:#include "(.*)/[^/]+".*,\1 \2,p' | tsort) || return
	(($(wc -w <<< "$order") >= 30)) || { echo "the folders of user/ were not found"; return 1; }
}

# The public header includes nothing of ours.
public_header() {
	! grep -E '^#include' user/lib/flightrec.h | grep -vE '<std(bool|def|int)\.h>'
}

# If two headers had the same guard, a file that includes both would see only one.
guards() {
	local twice
	twice=$(grep -rhoE --include='*.h' '^#ifndef FR_[A-Z0-9_]+_H$' bpf user | sort | uniq -d)
	[[ -z $twice ]] || { echo "${twice}: in two headers"; return 1; }
}

# includers N HEADER: that many files of user/ include it
includers() {
	local found
	found=$(grep -rlE "^#include [<\"]$2[>\"]" user)
	echo "$found"
	[[ $(wc -w <<< "$found") == "$1" ]]
}

man_pages() {
	command -v mandoc > /dev/null || { echo "mandoc is not installed"; return 77; }
	mandoc -T lint -W warning docs/man/*.[135]
}

# The pages are what the commands' tables make.
man_is_made() {
	/usr/bin/python3 -B tests/tree/man.py
}

# Each option of each table is offered, and each word for its value.
completion_has_all() {
	bash -c '
		. completion/flightrec.bash
		has() { COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _flightrec; [[ " ${COMPREPLY[*]} " == *" $1 "* ]] || { echo "not offered: $1 for ${*:2}"; exit 1; }; }
		PATH=$PWD/build:$PATH
		commands=$(build/flightrec --help | sed -nE "s/^  ([a-z]+) .*/\\1/p")
		(($(wc -w <<< "$commands") >= 25)) || { echo "the commands were not found: $commands"; exit 1; }
		for command in $commands; do
			has "$command" flightrec "$command"
			while read -r long letter value words; do
				[[ $long == - ]] && continue
				has "$long" flightrec "$command" "$long"
				[[ $value == - || $words == @* ]] && continue
				for word in $words; do
					word=$(printf %q "$word")
					if [[ $value == \[* ]]; then has "$word" flightrec "$command" "$long" = ""; else has "$word" flightrec "$command" "$long" ""; fi
					[[ $letter == - || $value == \[* ]] || has "$word" flightrec "$command" "$letter" ""
				done
			done < <(flightrec "$command" --help=options)
		done
	'
}

completion_works() {
	bash -c '
		. completion/flightrec.bash
		try() { COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _flightrec; [[ " ${COMPREPLY[*]} " == *" $1 "* ]] || { echo "not offered: $1 for ${*:2}"; exit 1; }; }
		PATH=$PWD/build:$PATH
		try record flightrec re
		try replay flightrec re
		try --detach flightrec record --de
		try minimal flightrec record -p m
		try syscall flightrec record -e sys
		try -syscall flightrec record -e -sys
		try sched_switch flightrec record --event sched_s
		try --until flightrec replay --un
		try list flightrec li
		try --no-keep flightrec list --no
		try oom flightrec record --on oo
		try "hung\\>30s" flightrec replay x.flight --on hu
		try "holdoff\\>5ms" flightrec watch --on ho
		try stack flightrec tail --tier st
		try sched_switch flightrec events sched_s
		try csv flightrec export -t c
		try hist flightrec top --panel hi
		try completion flightrec incidents -o com
		try README.md flightrec recover READ
		try README.md flightrec status --metrics = READ
		cd tests/gate && try load.flight flightrec symbols lo
	'
}

# Behind what bash breaks words at, in expressions, and for names of two words.
completion_within_words() {
	bash -c '
		. completion/flightrec.bash
		try() { COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _flightrec; [[ " ${COMPREPLY[*]} " == *" $1 "* ]] || { echo "not offered: $1 for ${*:2}: ${COMPREPLY[*]}"; exit 1; }; }
		PATH=$PWD/build:$PATH
		try "wakeup\>10ms" flightrec record --on latency : w
		try "memory:20%" flightrec record --on psi : mem
		try "20%" flightrec record --on psi : memory : 2
		try "hung\>30s" flightrec record --on "hung\>3"
		try csv flightrec export --to = c
		try oncpu flightrec replay -f onc
		try "ret < 0 && oncpu" flightrec replay -f "\"ret < 0 && onc"
		try "event == sched_switch" flightrec cut -f "\"event == sched_sw"
		try next_pid flightrec record --on event : next_p
		try "event:next_pid" flightrec record --on "\"event:next_p"
		try replay flightrec help rep
		try stop flightrec session st
		try stop flightrec help session st
		try --json flightrec session status --js
		try --verify flightrec info --v
		try --lines flightrec info --symbols --li
		try version flightrec ve
		for name in $(grep -oP "^\tFR_BI_\K[a-z]+" user/base/filter/filter_node.h); do try "$name" flightrec top -f "${name:0:2}"; done
		COMP_WORDS=(flightrec replay -f "\"comm == \\\"ba"); COMP_CWORD=3; _flightrec; [[ ! ${COMPREPLY[*]} ]] || { echo "offered in a text: ${COMPREPLY[*]}"; exit 1; }
	' 2>&1 | { ! grep .; }
}

# A name may be that of a field, of an event and of a group. What the shells have behind a colon is tried in each of them.
completion_once() {
	local command long rest again
	for command in $(build/flightrec --help | sed -nE "s/^  ([a-z]+) .*/\1/p"); do
		while read -r long rest; do
			again=$(build/flightrec --complete "$command" "$long" "" | sort | uniq -d)
			[[ ! $again ]] || { echo "twice for $command $long: $again"; return 1; }
		done < <(build/flightrec "$command" --help=options | grep ^--; echo --)
	done
	[[ $(build/flightrec --complete record --on event:laten) == event:latency && $(build/flightrec --complete replay -f laten) == latency ]] || return
	bash -c '
		. completion/flightrec.bash
		PATH=$PWD/build:$PATH
		once() { COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _flightrec; [[ "${COMPREPLY[*]}" == "$1" ]] || { echo "not $1 alone for ${*:2}: ${COMPREPLY[*]}"; exit 1; }; }
		once "latency" flightrec replay -f laten
		once "wakeup\>10ms" flightrec record --on latency : w
		once "latency" flightrec record --on event : laten
	'
}

# Both shells, if they are there, ask the same program; each is given a command line as it would complete it.
completion_zsh() {
	command -v zsh > /dev/null || { echo "zsh is not installed"; return 77; }
	zsh -f tests/tree/complete.zsh
}
completion_fish() {
	command -v fish > /dev/null || { echo "fish is not installed"; return 77; }
	HOME=$tmp fish --no-config tests/tree/complete.fish
}

events_reference() {
	build/flightrec events --md | diff - docs/events.md && build/flightrec events --counters --md | diff - docs/counters.md
}

benchmarks_notice() {
	/usr/bin/python3 -B tests/bench/check.py
}

performance_page() {
	/usr/bin/python3 -B tests/bench/docs.py --check
}

# Links in the documents lead to files that exist, and to headings in them, or to what looks like one in a code block: by the names that
# links call them.
links() {
	/usr/bin/python3 -B - << 'EOF'
import glob, os, re, sys
anchors = {}
def has_heading(file, name):
    if file not in anchors:
        with open(file, encoding="utf-8") as f:
            anchors[file] = {re.sub("[^a-z0-9 _-]", "", m.lower()).replace(" ", "-") for m in re.findall("^#+ +(.*)", f.read(), re.M)}
    return name in anchors[file]
bad, cnt = [], 0
for doc in ["README.md", *glob.glob("docs/*.md"), *glob.glob("docs/notes/*.md")]:
    with open(doc, encoding="utf-8") as f:
        found = re.findall(r"\]\(([^): \n]+)\)", f.read())
    cnt += len(found)
    for link in found:
        path, _, heading = link.partition("#")
        file = os.path.join(os.path.dirname(doc), path) if path else doc
        if not os.path.exists(file):
            bad.append(f"{doc}: {link}")
        elif heading and not has_heading(file, heading):
            bad.append(f"{doc}: no heading {link}")
print(*bad, sep="\n")
sys.exit(1 if bad or cnt < 100 else 0)
EOF
}

# Every suite, every part of check-long, and every script of `kernel` has a row in docs/testing.md.
testing_page() {
	local name names bad=0
	names=$(tests/run.sh --list && tests/run.sh --list-long)
	(($(wc -w <<< "$names") >= 30)) || { echo "the suites of tests/run.sh were not found"; return 1; }
	for name in $names $(basename -s .py -a tests/kernel/t_*.py); do
		grep -qE "^\|[^|]*\`$name\`" docs/testing.md || { echo "docs/testing.md lacks $name"; bad=1; }
	done
	return $bad
}

shell_scripts() {
	local file
	for file in .ci/run .ci/deps tests/*.sh tests/*/*.sh completion/*.bash; do
		bash -n "$file" || return 1
	done
}

check "format" make -s check-format
check "the formatter left comments and texts whole" /usr/bin/python3 -B tests/tree/comments.py
check "each static function has a name of its own" /usr/bin/python3 -B tests/tree/statics.py
check "licences" licences
check "layers" layers
check "folders do not need each other in a circle" circles
check "the public header stands alone" public_header
check "each header has a guard of its own" guards
check "one file includes the skeleton" includers 1 'flightrec\.skel\.h'
check "two files include zstd" includers 2 'zstd\.h'
check "shell scripts parse" shell_scripts
check "what docs/origins.md names is there" /usr/bin/python3 -B tests/tree/origins.py
check "what comments and pages name is there" /usr/bin/python3 -B tests/tree/names.py
check "links" links
check "man pages" man_pages
check "the manual is what the tables of options make" man_is_made
check "completion" completion_works
check "completion behind colons, in expressions, of two words" completion_within_words
check "completion offers each word once" completion_once
check "completion in zsh" completion_zsh
check "completion in fish" completion_fish
check "completion of every option and value" completion_has_all
check "docs/performance.md is what the kept runs make" performance_page
check "benchmarks take nothing that failed for a figure" benchmarks_notice
check "docs/testing.md names every suite" testing_page
check "each mutant applies" /usr/bin/python3 -B tests/mutants/run.py --check
check "docs/events.md is what the table makes" events_reference
finish
