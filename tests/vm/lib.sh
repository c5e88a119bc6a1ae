# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Guests in QEMU without KVM, with Debian's kernels: for the suites vm and systemd, which set $build and $out, their directory. They are
# x86-64, unless $guest_arch is arm64.
# Packages are fetched, not installed, and kept in $packages.
# shellcheck shell=bash
packages=$build/vm/packages
guest_modules=(virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk qemu_fw_cfg)

have_tools() {
	command -v qemu-system-x86_64 > /dev/null && command -v cpio > /dev/null && command -v xz > /dev/null && [[ -x /bin/busybox ]]
}

# Install what is missing, if that is possible here.
need() {
	have_tools && return
	((EUID == 0)) && command -v apt-get > /dev/null || return
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends qemu-system-x86 busybox-static cpio xz-utils \
		< /dev/null > "$out/apt.log" 2>&1
	have_tools
}

# fetch PACKAGE [ARCH]: print the file of the kernel that this package stands for, the kept one if there is one
fetch() {
	local image version file
	image=$(apt-cache depends "$1" 2> /dev/null | sed -nE 's/^ *Depends: (linux-image-[0-9].*)/\1/p' | head -n 1)
	version=$(apt-cache policy "$image" 2> /dev/null | sed -n 's/^ *Candidate: //p')
	[[ -n $version ]] || return
	file=$packages/${image}_${version//:/%3a}_${2:-amd64}.deb
	[[ -e $file ]] || (cd "$packages" && timeout 120 apt-get download -qq "$image" > /dev/null 2>&1)
	[[ -e $file ]] && echo "$file"
}

# unpack DEB DIR: the kernel as DIR/vmlinuz, the disk's drivers in DIR/root/modules
unpack() {
	local name file
	dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --wildcards './boot/vmlinuz-*' '*/virtio/*' '*/virtio_blk.ko*' '*/qemu_fw_cfg.ko*' || return
	mv "$2"/boot/vmlinuz-* "$2/vmlinuz"
	for name in "${guest_modules[@]}"; do
		file=$(find "$2/lib" -name "$name.ko*" | head -n 1)
		case $file in
		*.ko) cp "$file" "$2/root/modules/" ;;
		*.xz) xz -dc "$file" > "$2/root/modules/$name.ko" ;;
		esac
	done
}

# pack DIR: make DIR/root what the kernel boots
pack() {
	(cd "$1/root" && find . | cpio -o -H newc --quiet) > "$1/initrd"
}

# boot DIR CPUS MEMORY SECONDS [OPTION...]: until the guest has powered off, at most so long. Its console is in DIR/console; what it wrote to its
# disk, a tar archive, is unpacked to DIR/got. That it came to its end it says in the kernel's log, which is on the console at once: what
# programs write there waits in the serial port's queue, and is lost if the kernel ends first.
# A guest that waits for its host must not report a lockup, which trigger `kernel` would fire on, and must not take its timer for a
# broken one because a busy host lets it tick late. One thread runs all its CPUs in turn: with a thread for each, QEMU 7.2 sometimes
# runs a translation of code that another CPU has patched (the guest dies of an int3 that is no longer in its memory), and on few CPUs
# it takes four times as long.
boot() {
	local qemu=(qemu-system-x86_64 -cpu max) console=ttyS0
	[[ ${guest_arch:-} != arm64 ]] || qemu=(qemu-system-aarch64 -M virt -cpu "max,pauth-impdef=on") console=ttyAMA0
	truncate -s 0 "$1/disk" && truncate -s 256M "$1/disk"
	timeout -k 5 "$4" "${qemu[@]}" -accel tcg,thread=single -smp "$2" -m "$3" -display none -monitor none \
		-no-reboot -nodefaults -serial "file:$1/console" -kernel "$1/vmlinuz" -initrd "$1/initrd" \
		-append "console=$console quiet panic=-1 nowatchdog no_timer_check workqueue.watchdog_thresh=0 rcupdate.rcu_cpu_stall_suppress=1" \
		-drive "file=$1/disk,if=virtio,format=raw" "${@:5}" < /dev/null
	tar --warning=no-timestamp -xf "$1/disk" -C "$1/got" || return
	grep -q 'guest: done' "$1/console" && return
	echo "# its console does not say: guest: done"
	return 1
}

# boot_to_panic DIR CPUS MEMORY SECONDS: until the guest's kernel has panicked; its memory is then in DIR/vmcore.elf, and as makedumpfile
# writes it in DIR/vmcore.kdump.
boot_to_panic() {
	local dumps
	rm -f "$1"/{console,monitor,pid,vmcore.*}
	/usr/bin/python3 tests/vm/dump_memory.py "$1" &
	dumps=$!
	if ! boot "$@" -pidfile "$1/pid" -qmp "unix:$1/monitor,server,nowait" -device vmcoreinfo; then
		kill $dumps
		return 1
	fi
	wait $dumps || return
	makedumpfile -R "$1/vmcore.kdump" < "$1/vmcore.flat" > "$1/makedumpfile.log" 2>&1 && return
	cat "$1/makedumpfile.log"
	return 1
}
