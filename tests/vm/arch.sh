# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The two machines of a guest: this one, and arm64, for which flightrec is compiled here. Where a guest's files come from: run.sh sets
# $build and $out. For arm64, packages of its libraries are fetched and unpacked to $arm64_root, nothing is installed from them.
# shellcheck shell=bash
cross=$out/cross
arm64_root=$cross/root
arm64_build=$build/arm64
arm64_libraries=(libc6-dev libbpf-dev libdw-dev libelf-dev libiberty-dev zlib1g-dev libzstd-dev libxxhash-dev libtraceevent-dev libseccomp-dev
	libncurses-dev busybox-static util-linux)

# on ARCH COMMAND...: with apt's programs looking at packages for that machine
on() {
	local arch=$1
	shift
	if [[ $arch == arm64 ]]; then
		APT_CONFIG=$cross/apt.conf "$@"
	else
		"$@"
	fi
}

# need_arm64: what compiles for arm64 and runs it, and its libraries. Installs what is missing, if that is possible here.
need_arm64() {
	local dir=$cross deb
	mkdir -p "$dir"/{lists,archives}/partial
	: > "$dir/status"
	cat > "$dir/apt.conf" <<- END
		APT::Architecture "arm64";
		APT::Architectures { "arm64"; };
		Dir::State::status "$dir/status";
		Dir::State::lists "$dir/lists";
		Dir::Cache::archives "$dir/archives";
		Dir::Cache::pkgcache "";
		Dir::Cache::srcpkgcache "";
	END
	if ! command -v qemu-system-aarch64 > /dev/null || ! command -v aarch64-linux-gnu-gcc > /dev/null; then
		((EUID == 0)) || return
		apt-get install -y -qq --no-install-recommends qemu-system-arm gcc-aarch64-linux-gnu || return
	fi
	on arm64 timeout 300 apt-get update -qq || return
	on arm64 timeout 300 apt-get install -y -qq --no-install-recommends --download-only "${arm64_libraries[@]}" || return
	rm -rf "$arm64_root"
	mkdir -p "$arm64_root"
	for deb in "$dir"/archives/*.deb; do
		dpkg-deb -x "$deb" "$arm64_root" || return
	done
} > "$out/arm64.log" 2>&1 < /dev/null

# make_for ARCH: flightrec, and libraries for programs of tests
make_for() {
	[[ $1 == arm64 ]] || return 0
	printf '#!/bin/sh\nexec aarch64-linux-gnu-gcc "--sysroot=%s" "-B%s" "$@"\n' "$arm64_root" "$arm64_root/usr/lib/aarch64-linux-gnu" \
		> "$cross/cc"
	chmod +x "$cross/cc"
	make -s "-j$(nproc)" O="$arm64_build" MACHINE=aarch64 CC="$cross/cc" "$arm64_build/flightrec"
}

# cc_for ARCH ARG...: compile with that machine's compiler, and with return addresses signed where it can
cc_for() {
	local arch=$1
	shift
	if [[ $arch == arm64 ]]; then
		"$cross/cc" -mbranch-protection=standard "$@"
	else
		gcc "$@"
	fi
}

# build_of ARCH: where its programs are made
build_of() {
	[[ $1 == arm64 ]] && echo "$arm64_build" || echo "$build"
}

# program_of ARCH PATH: a program of that machine's distribution
program_of() {
	[[ $1 == arm64 ]] && echo "$arm64_root/$2" || echo "$2"
}

# libraries_of ARCH FILE...: lines "FILE PLACE", each library that these programs need, and where it has to be
libraries_of() {
	local arch=$1
	shift
	if [[ $arch == arm64 ]]; then
		arm64_needs "$@" | sort -u
	else
		ldd "$@" | sed -nE 's/^\t[^/]*(\/[^ ]+) \(0x.*/\1 \1/p' | sort -u
	fi
}

# Each program names the libraries that it needs itself; these are looked for where Debian has them.
arm64_needs() {
	local name dir path=lib/aarch64-linux-gnu
	for name in $(aarch64-linux-gnu-readelf -d "$@" 2> /dev/null | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p'); do
		[[ $name == ld-linux-* ]] && echo "$arm64_root/$path/$name /lib/$name"
		for dir in "$arm64_root/$path" "$arm64_root/usr/$path"; do
			[[ -e $dir/$name ]] || continue
			echo "$dir/$name /$path/$name"
			[[ $name == libc.so.6 || $name == ld-linux-* ]] || arm64_needs "$dir/$name"
			break
		done
	done
}
