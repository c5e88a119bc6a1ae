#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Record on kernels other than the running one, Debian's, on more CPUs, and on arm64, in QEMU (lib.sh). The guest's snapshots are read
# here.
# Arguments: only these guests (`tests/vm/run.sh linux-image-amd64`). Each test is a line: ok, FAIL or SKIP, with its name.
set -u
cd "$(dirname "$0")/../.." || exit
export PATH=$PATH:/usr/sbin:/sbin PYTHONDONTWRITEBYTECODE=1
export FLIGHTREC=${FLIGHTREC:-$PWD/build/flightrec}
# Name, machine (arch.sh), the kernel's package, CPUs, memory, what happens (tests/vm/$happens), and the scripts that look at it.
guests=(
	"linux-image-amd64 amd64 linux-image-amd64 4 1G tour check.py check_flood.py check_triggers.py check_hotplug.py"
	"linux-image-6.12-amd64 amd64 linux-image-6.12-amd64 4 1G tour check.py check_flood.py check_triggers.py check_hotplug.py"
	"arm64 arm64 linux-image-6.12-arm64 4 1G tour check.py check_flood.py check_triggers.py check_hotplug.py"
	"many-cpus amd64 linux-image-6.12-amd64 72 3G many check_many.py check_flood.py"
	"panic amd64 linux-image-6.12-amd64 2 512M panic check_panic.py"
)
programs=(guest crash flood final alerts deaths deaths_group survivals probed marked)
build=$(dirname "$FLIGHTREC")
out=$build/vm
boot_limit=1500 # seconds: for a guest that hangs, not for a machine that is busy
passed=0 failed=0 skipped=0
# shellcheck source=tests/vm/lib.sh
. tests/vm/lib.sh
# shellcheck source=tests/vm/arch.sh
. tests/vm/arch.sh

# skip NAME WHY SCRIPT...: what these scripts would have tested
skip() {
	echo "SKIP $1: $2"
	((skipped += $(cd tests/vm && cat "${@:3}" | grep -c '^@test')))
}

fail() {
	echo "FAIL $1: $2"
	((failed++))
}

# bin_of ARCH: where the programs are that run in a guest
bin_of() {
	echo "$out/bin/$1"
}

# prepare ARCH DEB DIR HAPPENS: everything a guest needs
prepare() {
	local root=$3/root rights file place
	rm -rf "$3"
	mkdir -p "$root"/{bin,dev,proc,sys,tmp,out,modules,var/lib} "$3/got"
	unpack "$2" "$3" || return
	cp tests/vm/init "$root/init"
	cp "tests/vm/$4" "$root/bin/happens"
	cp tests/vm/hotplug "$root/bin/hotplug"
	cp "$(build_of "$1")/flightrec" "${programs[@]/#/$(bin_of "$1")/}" "$(program_of "$1" /bin/busybox)" "$root/bin/" || return
	cp "$(program_of "$1" /usr/bin/setpriv)" "$root/bin/bounded" || return # busybox's has no --bounding-set
	mkdir -p "$root/etc"
	rights=$(sed -nE 's/^CapabilityBoundingSet=//p' dist/flightrec.service | paste -sd' ' | sed 's/CAP_/+/g; s/ /,/g')
	echo "${rights,,}" > "$root/etc/capabilities"
	libraries_of "$1" "$root/bin/bounded" "$root/bin/flightrec" "${programs[@]/#/$root/bin/}" | while read -r file place; do
		mkdir -p "$root$(dirname "$place")"
		cp -L "$file" "$root$place" || return
	done
	pack "$3"
}

# program ARCH BUILD BIN SOURCE
program() {
	cc_for "$1" -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror -Ibpf -Iuser "$4" -Wl,--start-group "$2/libfrcore.a" \
		"$2/libfrcore_bpf.a" -Wl,--end-group -lbpf -ldw -lelf -lz -lzstd -lxxhash -ltraceevent -lseccomp -lpthread -o "$3/$(basename "$4" .c)"
}

# compile ARCH: the programs that run in a guest, and laps, which looks at its snapshots here
compile() {
	local src bin
	bin=$(bin_of "$1")
	mkdir -p "$bin"
	for src in tests/vm/guest.c tests/demo/crash.c tests/kernel/{flood,final,alerts,deaths,deaths_group,survivals,probed,marked}.c; do
		program "$1" "$(build_of "$1")" "$bin" "$src" || return
	done
	program amd64 "$build" "$bin" tests/kernel/laps.c
}

# check ARCH DIR SCRIPT...: check what the guest recorded. A script that fails silently, or runs nothing, has failed.
check() {
	local script log=$2/check.log status p f s
	export FR_KERNEL_BIN
	FR_KERNEL_BIN=$(bin_of "$1")
	for script in "${@:3}"; do
		/usr/bin/python3 "tests/vm/$script" "$2/got" > "$log" 2>&1
		status=$?
		cat "$log"
		p=$(grep -c '^ok ' "$log") f=$(grep -c '^FAIL ' "$log") s=$(grep -c '^SKIP ' "$log")
		((passed += p, failed += f, skipped += s))
		if ((status && !f)) || ((p + f + s == 0)); then
			fail "$(basename "$2")" "$script: exit status $status, $((p + f + s)) tests seen; its last lines are"
			tail -n 5 "$log"
		fi
	done
}

# boot_begun BOOT DIR CPUS MEMORY SECONDS: BOOT it. Rarely, the emulator ruins a kernel before that has begun its first process (QEMU 7.2: a
# double fault in start_kernel, behind a cmpxchg16b, with half of RAX in the flags). Nothing of ours has run then: it is booted again.
boot_begun() {
	local try
	for try in 1 2 3; do
		$1 "${@:2}" && return
		if grep -q 'guest: begins' "$2/console" || ! grep -q 'Kernel panic' "$2/console"; then
			return 1
		fi
		echo "# its kernel died before its first process, at try $try of 3:"
		grep -m 2 -E 'RIP:|Kernel panic' "$2/console"
	done
	return 1
}

# run_guest NAME ARCH DEB CPUS MEMORY HAPPENS SCRIPT...: boot it, and check what it recorded. In a subshell: its counts go to a file
run_guest() {
	local dir=$out/$1 guest_arch=$2 begin=$SECONDS boot=boot passed=0 failed=0 skipped=0
	[[ $6 != panic ]] || boot=boot_to_panic
	if ! prepare "$2" "$3" "$dir" "$6"; then
		fail "$1" "cannot make a guest of $(basename "$3")"
	elif ! boot_begun $boot "$dir" "$4" "$5" $boot_limit; then
		fail "$1" "the guest did not come to its end; the last lines of its console are"
		tail -n 20 "$dir/console"
	else
		echo "# $(basename "$3" .deb), $4 CPUs, booted and recorded in $((SECONDS - begin)) s"
		check "$2" "$dir" "${@:7}"
	fi
	echo "$passed $failed $skipped" > "$out/$1.counts"
}

# tell NAME: what its tests printed, and their number
tell() {
	local p f s
	cat "$out/$1.log"
	if read -r p f s < "$out/$1.counts"; then
		((passed += p, failed += f, skipped += s))
	else
		fail "$1" "its tests did not come to their end"
	fi
}

# ready ARCH NAME SCRIPT...: make what guests of this machine need, once. What cannot be got is skipped, what cannot be made has failed.
declare -A readied
ready() {
	[[ -z ${readied[$1]:-} ]] || return "${readied[$1]}"
	readied[$1]=1
	if [[ $1 == arm64 ]] && ! need_arm64; then
		skip "$2" "it needs qemu-system-arm, gcc-aarch64-linux-gnu and arm64's libraries from Debian ($out/arm64.log)" "${@:3}"
	elif ! make_for "$1" || ! compile "$1"; then
		fail "$2" "cannot compile for $1: see above"
	else
		readied[$1]=0
	fi
	return "${readied[$1]}"
}

# A guest takes one CPU (lib.sh): as many run at a time as there are.
run_guests() {
	local guest name arch deb begun=()
	for guest in "${guests[@]}"; do
		read -ra guest <<< "$guest"
		name=${guest[0]} arch=${guest[1]}
		[[ $# == 0 || " $* " == *" $name "* ]] || continue
		ready "$arch" "$name" "${guest[@]:6}" || continue
		deb=$(on "$arch" fetch "${guest[2]}" "$arch")
		if [[ -z $deb ]]; then
			skip "$name" "the package sources configured here do not have its kernel" "${guest[@]:6}"
			continue
		fi
		(($(jobs -rp | wc -l) < $(nproc))) || wait -n
		begun+=("$name")
		: > "$out/$name.counts"
		run_guest "$name" "$arch" "$deb" "${guest[@]:3}" > "$out/$name.log" 2>&1 &
	done
	wait
	for name in "${begun[@]}"; do
		tell "$name"
	done
}

mkdir -p "$out" "$packages"
scripts=(tests/vm/check*.py)
if [[ $(uname -m) != x86_64 ]]; then
	skip "all guests" "they are made on x86-64, $FLIGHTREC is not for it" "${scripts[@]##*/}"
elif ! need; then
	skip "all guests" "they need qemu-system-x86, busybox-static, cpio and xz-utils, and root and apt-get to install them" \
		"${scripts[@]##*/}"
else
	run_guests "$@"
fi
echo "$passed passed, $failed failed, $skipped skipped"
((!failed))
