#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Clean builds by both compilers, BPF for arm64, installing and uninstalling.
set -u
cd "$(dirname "$0")/../.." || exit
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

check() {
	local name=$1
	shift
	if "$@" > "$tmp/log" 2>&1; then
		((passed++))
	else
		echo "FAIL $name"
		tail -n 20 "$tmp/log"
		((failed++))
	fi
}

build() { make -s -j2 O="$tmp/$1" CC="$1" all unit && "$tmp/$1/flightrec" --help > /dev/null; }

installs() {
	make -s O="$tmp/gcc" install DESTDIR="$tmp/root" PREFIX=/usr || return 1
	"$tmp/root/usr/bin/flightrec" --help > /dev/null || return 1
	for file in share/man/man1/flightrec.1 share/man/man5/flightrec-format.5 share/bash-completion/completions/flightrec; do
		[[ -s $tmp/root/usr/$file ]] || { echo "not installed: $file"; return 1; }
	done
}

uninstalls() {
	make -s O="$tmp/gcc" uninstall DESTDIR="$tmp/root" PREFIX=/usr && [[ -z $(find "$tmp/root" -type f) ]]
}

check "gcc" build gcc
check "clang" build clang
check "BPF for arm64" make -s O="$tmp/arm64" bpf-arm64
check "install" installs
check "uninstall" uninstalls
echo "$passed passed, $failed failed, 0 skipped"
((!failed))
