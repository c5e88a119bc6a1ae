#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The build, BPF for arm64, installing and uninstalling. With the argument clang: everything built by clang, and its unit tests.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/check.sh

build() { make -s -j2 O="$1" CC="$2" all unit && "$1/flightrec" --help > /dev/null; }

installs() {
	make -s install DESTDIR="$tmp/root" PREFIX=/usr || return 1
	"$tmp/root/usr/bin/flightrec" --help > /dev/null || return 1
	for file in usr/share/man/man1/flightrec.1 usr/share/man/man5/flightrec-format.5 usr/share/man/man5/flightrec.conf.5 \
		usr/include/flightrec.h usr/lib/libflightrec.so.1 usr/lib/libflightrec.so usr/lib/libflightrec.a \
		usr/lib/pkgconfig/flightrec.pc usr/share/man/man3/flightrec.3 usr/share/doc/flightrec/examples/slow.c \
		usr/share/bash-completion/completions/flightrec usr/share/zsh/site-functions/_flightrec \
		usr/share/fish/vendor_completions.d/flightrec.fish usr/lib/systemd/system/flightrec.service \
		usr/lib/flightrec/kdump-hook etc/flightrec.conf; do
		[[ -s $tmp/root/$file ]] || { echo "not installed: $file"; return 1; }
	done
	for command in $("$tmp/root/usr/bin/flightrec" --help | sed -nE 's/^  ([a-z]+) .*/\1/p'); do
		[[ -s $tmp/root/usr/share/man/man1/flightrec-$command.1 ]] || { echo "$command has no page"; return 1; }
	done
	[[ -x $tmp/root/usr/lib/flightrec/kdump-hook && $command == doctor ]]
}

# Installing and uninstalling neither overwrite nor remove a configuration that somebody changed.
keeps_conf() {
	local conf=$tmp/kept/etc/flightrec.conf unit=$tmp/kept/opt/lib/systemd/system/flightrec.service
	mkdir -p "$tmp/kept/etc"
	echo '# mine' > "$conf"
	make -s install DESTDIR="$tmp/kept" PREFIX=/opt || return 1
	grep -q '^ExecStart=/opt/bin/flightrec ' "$unit" || { grep ExecStart "$unit"; return 1; }
	make -s uninstall DESTDIR="$tmp/kept" PREFIX=/opt || return 1
	[[ $(cat "$conf") == '# mine' ]]
}

# Directories with signs that a shell, sed or a unit's command line would split at.
installs_anywhere() {
	local at="$tmp/root of it" prefix="/opt/it's a & b" to=(DESTDIR="$tmp/root of it" PREFIX="/opt/it's a & b" SYSCONFDIR="/etc/x y")
	make -s install "${to[@]}" && "$at$prefix/bin/flightrec" --help > /dev/null || return
	grep -qxF "ExecStart=\"$prefix/bin/flightrec\" record --config \"/etc/x y/flightrec.conf\"" "$at$prefix/lib/systemd/system/flightrec.service" || return
	grep -qxF "flightrec='/opt/it'\\''s a & b/bin/flightrec'" "$at$prefix/lib/flightrec/kdump-hook" && sh -n "$at$prefix/lib/flightrec/kdump-hook" || return
	grep -qxF "prefix=$prefix" "$at$prefix/lib/pkgconfig/flightrec.pc" && [[ -s "$at/etc/x y/flightrec.conf" ]] || return
	[[ $(find "$at" ! -type d | wc -l) == $(find "$tmp/root" ! -type d | wc -l) ]] || return
	make -s uninstall "${to[@]}" && [[ -z $(find "$at" ! -type d) ]]
}

uninstalls() {
	make -s uninstall DESTDIR="$tmp/root" PREFIX=/usr && [[ -z $(find "$tmp/root" ! -type d) ]]
}

# Each C file of the benchmarks, by what compiles it for them; no benchmark runs.
benchmarks() {
	local source
	tests/bench/compile.sh build "$tmp/bench" && make -s build/tests/bench/marks || return
	for source in tests/bench/*.c; do
		source=$(basename "$source" .c)
		[[ $source == hot.bpf || $source == hot_set || -x $tmp/bench/$source || -x build/tests/bench/$source ]] || { echo "$source.c is compiled by nothing"; return 1; }
	done
}

unit_tests() {
	local test bad=0
	for test in "$tmp"/clang/tests/unit/test_*; do
		"$test" > "$tmp/unit" 2>&1 || { echo "$test"; tail -n 20 "$tmp/unit"; bad=1; }
	done
	return $bad
}

if [[ ${1:-} == clang ]]; then
	check "clang" build "$tmp/clang" clang
	check "the unit tests as clang builds them" unit_tests
	finish
fi
check "gcc" build build gcc
check "no chain of BPF functions takes more stack than older kernels give" /usr/bin/python3 tests/build/stacks.py build/flightrec.bpf.o build/triggers.bpf.o build/states.bpf.o
check "BPF for arm64" make -s O="$tmp/arm64" bpf-arm64
check "the benchmarks' programs" benchmarks
check "install" installs
check "install where names have blanks" installs_anywhere
check "uninstall" uninstalls
check "a changed configuration is kept" keeps_conf
finish
