#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests on the real kernel, as root: the recorder is loaded, events are real. Arguments: only the scripts named so, and of those only the
# tests with one of the other words in their name (`tests/kernel/run.sh kill adoption`). Each test is a line: ok, FAIL or SKIP, with its
# name. FR_SEED=N: what goes by chance begins there. `run.sh programs` makes the programs that the tests need, and runs none.
set -u
cd "$(dirname "$0")/../.." || exit
export PATH=$PATH:/usr/sbin:/sbin
export FLIGHTREC=${FLIGHTREC:-$PWD/build/flightrec}
build=$(dirname "$FLIGHTREC")
export FR_KERNEL_BIN=$build/tests/kernel PYTHONDONTWRITEBYTECODE=1
passed=0 failed=0 skipped=0

finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	exit $((failed > 0))
}

skip_all() {
	echo "SKIP all kernel tests: $1"
	skipped=$(($(cat tests/kernel/t_*.py | grep -c '^@test(') + 1))
	finish
}

# Removes what a stopped run left behind: sessions frtest-PID-... whose process is gone. Another run may be active beside this one.
sweep() {
	local dir pid
	for dir in /sys/fs/bpf/flightrec/frtest-* /sys/kernel/tracing/instances/frtest-*; do
		pid=${dir##*/frtest-}
		[[ -d $dir && ! -d /proc/${pid%%-*} ]] || continue
		case $dir in
		*/bpf/*) "$FLIGHTREC" stop -n "${dir##*/}" > /dev/null 2>&1 ;;
		*) rmdir "$dir" ;;
		esac
	done
}

# is_current FILE SOURCE: it was made of this source, of our headers, and with these libraries, which are made anew when another header changes
is_current() {
	local of
	for of in "$2" tests/kernel/*.h "$build"/libfrcore{,_bpf}.a; do
		[[ $1 -nt $of ]] || return
	done
}

# Programs that include flow or io code are linked with both libraries. For those that load BPF a skeleton is generated. So many are
# made at a time as there are CPUs.
compile() {
	local src name object arch missing=()
	mkdir -p "$FR_KERNEL_BIN"
	arch=$(uname -m)
	arch=${arch/aarch64/arm64}
	for src in tests/kernel/*.bpf.c; do
		[[ -e $src ]] || continue
		name=$(basename "$src" .bpf.c)
		object=$FR_KERNEL_BIN/$name.bpf.o
		is_current "$FR_KERNEL_BIN/$name.skel.h" "$src" && continue
		clang -g -O2 -mcpu=v3 -target bpf -Wall -Wextra -Werror -Wno-unused-parameter -Ibpf "-Ivmlinux/$arch" \
			"-D__TARGET_ARCH_${arch/x86_64/x86}" -c "$src" -o "$object" || return
		bpftool gen skeleton "$object" name "$name" > "$FR_KERNEL_BIN/$name.skel.h" || return
	done
	for src in tests/kernel/*.c; do
		[[ $src == *.bpf.c ]] && continue
		is_current "$FR_KERNEL_BIN/$(basename "$src" .c)" "$src" || missing+=("$(basename "$src" .c)")
	done
	((!${#missing[@]})) || printf '%s\n' "${missing[@]}" | xargs -P "$(nproc)" -I NAME gcc -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra \
		-Werror -Ibpf -Iuser "-I$FR_KERNEL_BIN" tests/kernel/NAME.c -Wl,--start-group "$build/libfrcore.a" "$build/libfrcore_bpf.a" \
		-Wl,--end-group -lbpf -ldw -lelf -lz -lzstd -lxxhash -ltraceevent -lseccomp -lpthread -o "$FR_KERNEL_BIN/NAME"
}

# run_tests COMMAND...: count the tests it prints; a program that exits with an error but prints no FAIL counts as one failure. Who is told
# to end, with all its group, says which test ran, and ends its sessions: tee and this shell wait for that.
run_tests() {
	local log status p f s
	log=$(mktemp)
	"$@" 2>&1 | (trap '' TERM && exec tee "$log")
	status=${PIPESTATUS[0]}
	p=$(grep -c '^ok ' "$log") f=$(grep -c '^FAIL ' "$log") s=$(grep -c '^SKIP ' "$log")
	if ((status && !f)) || ((p + f + s == 0)); then
		echo "FAIL $1: exit status $status, $((p + f + s)) tests seen"
		((f++))
	fi
	rm -f "$log"
	((passed += p, failed += f, skipped += s))
}

((EUID == 0)) || skip_all "they need root"
[[ -e /sys/kernel/btf/vmlinux ]] || skip_all "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)"
if [[ $* == programs ]]; then
	compile
	exit
fi
if ! compile; then
	echo "FAIL compile"
	failed=1
	finish
fi
# On a machine where nothing was recorded yet it is not mounted, and the sessions that begin in it are watched before one does.
if ! mountpoint -q /sys/fs/bpf && ! mount -t bpf -o mode=0700 bpf /sys/fs/bpf; then
	echo "FAIL bpffs cannot be mounted"
	failed=1
	finish
fi
trap sweep EXIT
trap 'exit 143' TERM
sweep
if [[ $# == 0 || " $* " == *" late "* ]]; then
	echo "# late"
	run_tests "$FR_KERNEL_BIN/late"
fi
args=()
for arg; do
	[[ $arg == late ]] || args+=("$arg")
done
((${#args[@]} || $# == 0)) && run_tests /usr/bin/python3 tests/kernel/suite.py "${args[@]}"
finish
