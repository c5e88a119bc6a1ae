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

# The unit as installed, but with another path of the program. It is clean if systemd-analyze prints nothing, but, before 254, that
# it knows no back-off.
verifies() {
	mkdir -p "$tmp/unit" && ln -sf "$PWD/build/flightrec" "$tmp/unit/flightrec"
	sed "s,/usr/bin/flightrec,$tmp/unit/flightrec," $unit > "$tmp/unit/flightrec.service"
	analyze verify --man=no "$tmp/unit/flightrec.service" > "$tmp/verify" 2>&1
	local status=$?
	sed -i '/Unknown key .*\<Restart\(Steps\|MaxDelaySec\)\>/d' "$tmp/verify"
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
		has '^RestartPreventExitStatus=2 5 6$' &&
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
	if /usr/bin/python3 -c 'import yaml' 2> /dev/null; then
		/usr/bin/python3 - <<- 'END'
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

# ---- kdump-hook ----

# program LINE...: what is called instead of flightrec; its arguments are in $tmp/calls
program() {
	{ printf '%s\n' '#!/bin/sh' "echo \"\$*\" >> '$tmp/calls'" "$@"; } > "$tmp/program"
	chmod 755 "$tmp/program"
	rm -rf "$tmp/calls" "$tmp/crash"
}

# hook SHELL [NAME=VALUE...]: it ends with status 0, whatever its program does; what it says is in $tmp/said
hook() {
	env FLIGHTREC="$tmp/program" FLIGHTREC_VMCORE="$tmp/core" FLIGHTREC_LIMIT_S=60 "${@:2}" $1 dist/kdump-hook "$tmp/crash" > "$tmp/said" 2>&1 ||
		{ echo "$1: status $?"; cat "$tmp/said"; return 1; }
}

# calls N [PATTERN]: the program was called so often, the last time like this
calls() {
	local have=0
	[[ ! -e $tmp/calls ]] || have=$(wc -l < "$tmp/calls")
	[[ $have == "$1" ]] && { (($# < 2)) || tail -n 1 "$tmp/calls" | grep -qE "$2"; } || { echo "called, but not $*:"; cat "$tmp/calls" "$tmp/said"; return 1; }
}

hook_saves() {
	program 'echo > "$3"'
	hook "$1" && calls 1 "^recover -o $tmp/crash/flightrec-[0-9-]+\.flight --memory=100% $tmp/core$" && [[ $(echo "$tmp"/crash/*.flight) == *.flight ]] || return
	program '[ $# = 7 ] || exit 4'
	hook "$1" && calls 2 "^recover -o .* -n default --memory=100% $tmp/core$" || return
	program 'exit 3'
	hook "$1" && calls 1 && grep -q 'parts are missing' "$tmp/said" || return
	program ''
	hook "$1" FLIGHTREC_VMCORE="$tmp/none" && calls 0
}

# It fails, is not there, is killed, or finds no place; nor is a setting that is none in its way.
hook_fails() {
	program 'exit 1'
	hook "$1" && calls 1 && grep -q 'no snapshot: status 1' "$tmp/said" || return
	program 'kill -KILL $$'
	hook "$1" && calls 1 && grep -q 'no snapshot' "$tmp/said" || return
	hook "$1" FLIGHTREC="$tmp/none" && grep -q 'no snapshot' "$tmp/said" || return
	program ''
	touch "$tmp/crash" && hook "$1" FLIGHTREC_VMCORE="$tmp/core" && rm "$tmp/crash" || return
	program ''
	hook "$1" FLIGHTREC_LIMIT_S=soon && calls 1 || return
	program ''
	hook "$1" FLIGHTREC_ROOT="$tmp" && calls 0 && grep -q 'nothing is mounted' "$tmp/said"
}

# In dracut's image the disk is at /sysroot, to be read only: there, unless a directory is named, and nothing else is touched.
hook_remounts() {
	program 'echo > "$3"'
	mkdir -p "$tmp/sysroot"
	unshare -rm true 2> /dev/null || { echo "there are no user namespaces"; return 77; }
	: > "$tmp/core"
	# shellcheck disable=SC2016
	FLIGHTREC="$tmp/program" FLIGHTREC_VMCORE="$tmp/core" FLIGHTREC_LIMIT_S=60 FLIGHTREC_ROOT="$tmp/sysroot" unshare -rm sh -c '
		mount -t tmpfs -o ro none "$FLIGHTREC_ROOT" && sh dist/kdump-hook && ls "$FLIGHTREC_ROOT"/var/crash/*.flight' > "$tmp/said" 2>&1 ||
		{ cat "$tmp/said"; return 1; }
	calls 1 " $tmp/sysroot/var/crash/flightrec-"
}

# ends PID: it is killed, and gone soon, or nobody's zombie
ends() {
	local i
	for ((i = 0; i < 300; i++)); do
		[[ -e /proc/$1 && $(sed 's/.*) //' "/proc/$1/stat" 2> /dev/null) == [!Z]* ]] || return 0
		sleep 0.1
	done
	return 1
}

# A program that does not end by itself is ended, and waited for no longer.
hook_is_limited() {
	program "echo \$\$ > '$tmp/pid'" 'trap "" TERM INT HUP' 'while :; do sleep 0.2; done'
	hook "$1" FLIGHTREC_LIMIT_S=2 && calls 1 && grep -q 'the time is up' "$tmp/said" && ends "$(cat "$tmp/pid")"
}

# In each of the shells that distributions have as sh, at the same time: the hook looks once a second. Each has files of its own.
in_each_shell() {
	local sh pid bad=0
	local -A shell
	for sh in "dash" "bash --posix" "busybox sh"; do
		command -v "${sh%% *}" > /dev/null || continue
		(
			tmp=$tmp/$1-${sh%% *}
			mkdir "$tmp" && : > "$tmp/core" && "$1" "$sh" > "$tmp/why" 2>&1 || { echo "in $sh: $(cat "$tmp/why")"; exit 1; }
		) &
		shell[$!]=$sh
	done
	for pid in "${!shell[@]}"; do
		wait "$pid" || bad=1
	done
	return $bad
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
check "kdump-hook calls recover, names one of several sessions, and says what came of it" in_each_shell hook_saves
check "kdump-hook ends with 0 whatever fails" in_each_shell hook_fails
check "kdump-hook writes to a disk that is mounted to be read only" hook_remounts
check "kdump-hook takes no longer than it may" in_each_shell hook_is_limited
finish
