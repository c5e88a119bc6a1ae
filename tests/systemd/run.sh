#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The service as installed, under a real systemd: Debian's, started in QEMU (tests/vm/lib.sh) with nothing but its packages and ours
# from `make install`. The script guest starts, reloads, restarts and kills it; check.py looks at what came of that.
set -u
cd "$(dirname "$0")/../.." || exit
export PATH=$PATH:/usr/sbin:/sbin PYTHONDONTWRITEBYTECODE=1
export FLIGHTREC=${FLIGHTREC:-$PWD/build/flightrec}
build=$(dirname "$FLIGHTREC")
out=$build/systemd
dir=$out/guest
debs=$out/packages
boot_limit=1200
contents=(systemd systemd-coredump dash coreutils grep util-linux libbpf1 libdw1 libelf1 libncursesw6 libseccomp2 libtraceevent1 libxxhash0 libzstd1)
# shellcheck source=tests/vm/lib.sh
. tests/vm/lib.sh

skip() {
	echo "SKIP the service: $1"
	echo "0 passed, 0 failed, $(grep -c '^@test' tests/systemd/check.py) skipped"
	exit 0
}

fail() {
	echo "FAIL the service: $1"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
}

# The packages of $contents, and all that they depend on, as if nothing were installed here.
fetch_contents() {
	mkdir -p "$debs/partial"
	: > "$debs/status"
	timeout 300 apt-get install -y -qq --no-install-recommends --download-only -o Dir::State::status="$debs/status" \
		-o Dir::Cache::archives="$debs" "${contents[@]}" < /dev/null > "$out/apt.log" 2>&1
}

# Files that the packages' own scripts would have written.
configure() {
	local etc=$1/etc unit
	mkdir -p "$etc/systemd/system/multi-user.target.wants" "$etc/systemd/system/guest.target.wants"
	echo 'root:x:0:0:root:/root:/bin/sh' > "$etc/passwd"
	echo 'nobody:x:65534:65534:nobody:/nonexistent:/bin/false' >> "$etc/passwd"
	printf '%s\n' root:x:0: adm:x:4: tty:x:5: kmem:x:15: utmp:x:43: nogroup:x:65534: > "$etc/group"
	echo guest > "$etc/hostname"
	: > "$etc/machine-id"
	# as Debian's kernel has it; systemd would set it from a file, too
	echo 'kernel.perf_event_paranoid=3' > "$etc/sysctl.d/paranoid.conf"
	cp tests/systemd/guest.{service,target} "$etc/systemd/system/"
	ln -s guest.target "$etc/systemd/system/default.target"
	ln -s /usr/lib/systemd/system/flightrec.service "$etc/systemd/system/multi-user.target.wants/" # systemctl enable
	for unit in getty.target systemd-{logind,firstboot,repart,update-utmp,user-sessions}.service; do
		ln -s /dev/null "$etc/systemd/system/$unit"
	done
}

# prepare KERNEL
prepare() {
	local root=$dir/root deb
	rm -rf "$dir"
	mkdir -p "$root"/{bin,dev,out,proc,root,run,sys,tmp,modules,var/lib,etc/sysctl.d} "$dir/got"
	for deb in "$debs"/*.deb; do
		dpkg-deb -x "$deb" "$root" || return
	done
	make -s install O="$build" DESTDIR="$root" PREFIX=/usr SYSCONFDIR=/etc > "$out/install.log" 2>&1 || return
	gcc -std=gnu11 -O1 -g -Wall -Wextra -Werror tests/demo/crash.c -o "$root/usr/bin/crash" || return
	cp dist/flightrec-governor.conf tests/systemd/guest "$root/root/"
	cp tests/systemd/init "$root/init"
	cp /bin/busybox "$root/bin/"
	configure "$root" && unpack "$1" "$dir" && pack "$dir"
}

mkdir -p "$out" "$packages"
[[ $(uname -m) == x86_64 ]] || skip "the guest is x86-64, $FLIGHTREC is not"
need || skip "it needs qemu-system-x86, busybox-static, cpio and xz-utils, and root and apt-get to install them"
kernel=$(fetch linux-image-amd64)
[[ -n $kernel ]] && fetch_contents || skip "the package sources configured here do not have Debian's kernel and systemd ($out/apt.log)"
prepare "$kernel" || fail "cannot make a guest of $(basename "$kernel") ($out/install.log)"
begin=$SECONDS
if ! boot "$dir" 2 2G $boot_limit; then
	tail -n 30 "$dir/console"
	fail "the guest did not come to its end: above are the last lines of its console"
fi
echo "# $(basename "$kernel" .deb), booted and tried in $((SECONDS - begin)) s"
/usr/bin/python3 tests/systemd/check.py "$dir/got" > "$dir/check.log"
cat "$dir/check.log"
passed=$(grep -c '^ok ' "$dir/check.log") failed=$(grep -c '^FAIL ' "$dir/check.log")
echo "$passed passed, $failed failed, $(grep -c '^SKIP ' "$dir/check.log") skipped"
((passed && !failed))
