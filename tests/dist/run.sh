#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What is installed beside the program: the service, its configuration, the container's files. No root.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/check.sh
unit=dist/flightrec.service
exposure=27 # tenths, at most

analyze() {
	command -v systemd-analyze > /dev/null || { echo "systemd-analyze is not installed"; return 77; }
	SYSTEMD_COLORS=0 SYSTEMD_PAGER='' systemd-analyze "$@"
}

# The unit as installed, but with another path of the program. It is clean if systemd-analyze prints nothing.
verifies() {
	mkdir -p "$tmp/unit" && ln -sf "$PWD/build/flightrec" "$tmp/unit/flightrec"
	sed "s,/usr/bin/flightrec,$tmp/unit/flightrec," $unit > "$tmp/unit/flightrec.service"
	analyze verify --man=no "$tmp/unit/flightrec.service" > "$tmp/verify" 2>&1
	local status=$?
	cat "$tmp/verify"
	((!status)) && [[ ! -s $tmp/verify ]] || return $((status ? status : 1))
}

is_hardened() {
	analyze security --offline=true --threshold=$exposure $unit
}

has() {
	grep -qE "$1" $unit || { echo "the unit lacks $1"; return 1; }
}

# Settings of the unit that the recorder relies on.
unit_has_all() {
	has '^Type=notify' && has '^WatchdogSec=' && has '^StateDirectory=flightrec$' && has '^RuntimeDirectory=flightrec$' &&
		has '^ExecReload=.*HUP' && has '^ReadWritePaths=.*/sys/fs/bpf/flightrec$' && has '^Restart=' &&
		has '^CapabilityBoundingSet=.*CAP_BPF.*CAP_PERFMON' && has '^SystemCallFilter=.*seccomp.*bpf.*perf_event_open'
}

example_is_current() {
	build/tests/dist/config example | diff - dist/flightrec.conf
}

man_is_current() {
	sed -n '/^\.\\" made by .*begin$/,/^\.\\" made; end$/p' docs/man/flightrec.conf.5 | sed '1d;$d' > "$tmp/keys"
	build/tests/dist/config man | diff - "$tmp/keys"
}

# Each option of ExecStart= and of the containers' commands exists.
options_exist() {
	local option bad=0
	for option in $(grep -hE '^(ExecStart|CMD|ENTRYPOINT)|args:' dist/* | grep -oE -- '--[a-z-]+' | sort -u); do
		build/flightrec record --help | grep -q -- "$option" || { echo "record has no $option"; bad=1; }
	done
	return $bad
}

conf_is_right() {
	build/flightrec record --config dist/flightrec.conf --check-config
}

# The image has the libraries that the program is linked with.
image_has_libraries() {
	local lib package bad=0
	command -v readelf > /dev/null || { echo "readelf is not installed"; return 77; }
	for lib in $(readelf -d build/flightrec | sed -nE 's/.*NEEDED.*\[(.*)\]/\1/p'); do
		case $lib in
		libc.so.* | libm.so.* | ld-linux*) continue ;;
		libz.so.1) package=zlib1g ;;
		*) package=$(sed -E 's/\.so\./ /; s/ ([0-9]+).*/\1/' <<< "$lib") ;;
		esac
		grep -qw "$package" dist/Dockerfile || { echo "the image lacks $package for $lib"; bad=1; }
	done
	return $bad
}

# Parsed if python3 has yaml. Otherwise only the lines are checked: no tabs, steps of two, documents with a kind.
yaml_is_right() {
	if python3 -c 'import yaml' 2> /dev/null; then
		python3 - <<- 'END'
			import yaml
			docs = {d["kind"]: d for d in yaml.safe_load_all(open("dist/kubernetes.yaml"))}
			pod = docs["DaemonSet"]["spec"]["template"]["spec"]
			box = pod["containers"][0]
			paths = {v["name"]: v["hostPath"]["path"] for v in pod["volumes"] if "hostPath" in v}
			assert pod["hostPID"] is True
			assert {"BPF", "PERFMON"} <= set(box["securityContext"]["capabilities"]["add"])
			assert {"/sys/fs/bpf", "/sys/kernel/btf", "/var/lib/flightrec"} <= set(paths.values()), paths
			assert {m["name"] for m in box["volumeMounts"]} == {v["name"] for v in pod["volumes"]}
			conf = docs["ConfigMap"]["data"]["flightrec.conf"]
			assert conf.startswith("[")
		END
		return
	fi
	! grep -nP '\t' dist/kubernetes.yaml && ! grep -nE '^( {2})* [^ ]' dist/kubernetes.yaml &&
		[[ $(grep -c '^kind: ' dist/kubernetes.yaml) == 3 ]] && grep -q 'hostPID: true' dist/kubernetes.yaml
}

# The configuration inside the DaemonSet is checked too.
yaml_conf_is_right() {
	sed -n '/flightrec.conf: |/,/^---/p' dist/kubernetes.yaml | sed '1d;$d; s/^    //' > "$tmp/flightrec.conf"
	grep -q '^On=crash' "$tmp/flightrec.conf" && build/flightrec record --config "$tmp/flightrec.conf" --check-config
}

make -s build/tests/dist/config || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
check "systemd-analyze verify" verifies
check "systemd-analyze security" is_hardened
check "the unit has what the recorder relies on" unit_has_all
check "dist/flightrec.conf is what the table makes" example_is_current
check "flightrec.conf(5) is what the table makes" man_is_current
check "options in dist/ exist" options_exist
check "dist/flightrec.conf is taken" conf_is_right
check "the image's libraries" image_has_libraries
check "kubernetes.yaml" yaml_is_right
check "the configuration in kubernetes.yaml is taken" yaml_conf_is_right
finish
