#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Record on kernels other than the running one, Debian's, and on more CPUs, in QEMU (lib.sh). The guest's snapshots are read here.
# Arguments: only these guests (`tests/vm/run.sh linux-image-amd64`). Each test is a line: ok, FAIL or SKIP, with its name.
set -u
cd "$(dirname "$0")/../.." || exit
export PATH=$PATH:/usr/sbin:/sbin PYTHONDONTWRITEBYTECODE=1
export FLIGHTREC=${FLIGHTREC:-$PWD/build/flightrec}
# Name, the kernel's package, CPUs, memory, what happens (tests/vm/$happens), and the scripts that look at it.
guests=(
	"linux-image-amd64 linux-image-amd64 4 1G tour check.py check_flood.py check_triggers.py check_hotplug.py"
	"linux-image-6.12-amd64 linux-image-6.12-amd64 4 1G tour check.py check_flood.py check_triggers.py check_hotplug.py"
	"many-cpus linux-image-6.12-amd64 72 3G many check_many.py check_flood.py"
	"panic linux-image-6.12-amd64 2 512M panic check_panic.py"
)
programs=(guest crash flood final alerts deaths deaths_group survivals)
build=$(dirname "$FLIGHTREC")
out=$build/vm
export FR_KERNEL_BIN=$out/bin
boot_limit=1500 # seconds: for a guest that hangs, not for a machine that is busy
passed=0 failed=0 skipped=0
# shellcheck source=tests/vm/lib.sh
. tests/vm/lib.sh

# skip NAME WHY SCRIPT...: what these scripts would have tested
skip() {
	echo "SKIP $1: $2"
	((skipped += $(cd tests/vm && cat "${@:3}" | grep -c '^@test')))
}

fail() {
	echo "FAIL $1: $2"
	((failed++))
}

# copy DIR FILE...: the program and the libraries it needs, at their own places
copy_libraries() {
	local dir=$1 lib
	shift
	ldd "$@" | sed -nE 's/^[^/]*(\/[^ ]+) \(0x.*/\1/p' | sort -u | while read -r lib; do
		mkdir -p "$dir$(dirname "$lib")"
		cp -L "$lib" "$dir$lib"
	done
}

# prepare DEB DIR HAPPENS: everything a guest needs
prepare() {
	local root=$2/root rights
	rm -rf "$2"
	mkdir -p "$root"/{bin,dev,proc,sys,tmp,out,modules,var/lib} "$2/got"
	unpack "$1" "$2" || return
	cp tests/vm/init "$root/init"
	cp "tests/vm/$3" "$root/bin/happens"
	cp tests/vm/hotplug "$root/bin/hotplug"
	cp /bin/busybox "$FLIGHTREC" "${programs[@]/#/$FR_KERNEL_BIN/}" "$root/bin/"
	cp "$(command -v setpriv)" "$root/bin/bounded" # busybox's has no --bounding-set
	mkdir -p "$root/etc"
	rights=$(sed -nE 's/^CapabilityBoundingSet=//p' dist/flightrec.service | paste -sd' ' | sed 's/CAP_/+/g; s/ /,/g')
	echo "${rights,,}" > "$root/etc/capabilities"
	copy_libraries "$root" "$root/bin/bounded" "$root/bin/flightrec" "${programs[@]/#/$root/bin/}"
	pack "$2"
}

# The programs that run in a guest, and laps, which looks at its snapshots here.
compile() {
	local src
	mkdir -p "$FR_KERNEL_BIN"
	for src in tests/vm/guest.c tests/demo/crash.c tests/kernel/{flood,final,laps,alerts,deaths,deaths_group,survivals}.c; do
		gcc -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror -Ibpf -Iuser "$src" -Wl,--start-group \
			"$build/libfrcore.a" "$build/libfrcore_bpf.a" -Wl,--end-group \
			-lbpf -lelf -lz -lzstd -lxxhash -lseccomp -lpthread -o "$FR_KERNEL_BIN/$(basename "$src" .c)" || return
	done
}

# check DIR SCRIPT...: check what the guest recorded. A script that fails silently, or runs nothing, has failed.
check() {
	local script log=$1/check.log status p f s
	for script in "${@:2}"; do
		/usr/bin/python3 "tests/vm/$script" "$1/got" > "$log" 2>&1
		status=$?
		cat "$log"
		p=$(grep -c '^ok ' "$log") f=$(grep -c '^FAIL ' "$log") s=$(grep -c '^SKIP ' "$log")
		((passed += p, failed += f, skipped += s))
		if ((status && !f)) || ((p + f + s == 0)); then
			fail "$(basename "$1")" "$script: exit status $status, $((p + f + s)) tests seen"
		fi
	done
}

# run_guest NAME DEB CPUS MEMORY HAPPENS SCRIPT...: boot it, and check what it recorded. In a subshell: its counts go to a file
run_guest() {
	local dir=$out/$1 begin=$SECONDS boot=boot passed=0 failed=0 skipped=0
	[[ $5 != panic ]] || boot=boot_to_panic
	if ! prepare "$2" "$dir" "$5"; then
		fail "$1" "cannot make a guest of $(basename "$2")"
	elif ! $boot "$dir" "$3" "$4" $boot_limit; then
		fail "$1" "the guest did not come to its end; the last lines of its console are"
		tail -n 20 "$dir/console"
	else
		echo "# $(basename "$2" .deb), $3 CPUs, booted and recorded in $((SECONDS - begin)) s"
		check "$dir" "${@:6}"
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

# A guest takes one CPU (lib.sh): as many run at a time as there are.
run_guests() {
	local guest name deb begun=()
	for guest in "${guests[@]}"; do
		read -ra guest <<< "$guest"
		name=${guest[0]}
		[[ $# == 0 || " $* " == *" $name "* ]] || continue
		deb=$(fetch "${guest[1]}")
		if [[ -z $deb ]]; then
			skip "$name" "the package sources configured here do not have its kernel" "${guest[@]:5}"
			continue
		fi
		(($(jobs -rp | wc -l) < $(nproc))) || wait -n
		begun+=("$name")
		: > "$out/$name.counts"
		run_guest "$name" "$deb" "${guest[@]:2}" > "$out/$name.log" 2>&1 &
	done
	wait
	for name in "${begun[@]}"; do
		tell "$name"
	done
}

mkdir -p "$out" "$packages"
scripts=(tests/vm/check*.py)
if [[ $(uname -m) != x86_64 ]]; then
	skip "all guests" "they are x86-64, $FLIGHTREC is not" "${scripts[@]##*/}"
elif ! need; then
	skip "all guests" "they need qemu-system-x86, busybox-static, cpio and xz-utils, and root and apt-get to install them" \
		"${scripts[@]##*/}"
elif ! compile; then
	fail compile "see above"
else
	run_guests "$@"
fi
echo "$passed passed, $failed failed, $skipped skipped"
((!failed))
