# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bash completion for flightrec. Options come from --help and names from `flightrec events`, so that nothing is kept twice.

_flightrec_commands='record dump profile list follow tail watch reload status stop replay report cut recover merge diff export symbols view top incidents info verify events doctor'

_flightrec_offer() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_flightrec_options() {
	flightrec "$1" --help 2> /dev/null | grep -oE -- '--[a-z]+(-[a-z]+)*' | sort -u
	echo --help
}

# Groups and events, also with the - that takes them away.
_flightrec_events() {
	flightrec events --json 2> /dev/null | grep -oE '\{"nr":[0-9]+,"name":"[a-z_]+","group":"[a-z]+"' |
		sed -E 's/.*"name":"([a-z_]+)","group":"([a-z]+)"/\1\n\2/' | sort -u | sed 's/.*/&\n-&/'
}

_flightrec_sessions() {
	find /sys/fs/bpf/flightrec -mindepth 1 -maxdepth 1 -type d -printf '%f\n' 2> /dev/null
}

# Kinds, with an example of what they take; quoted, as > is the shell's.
_flightrec_triggers() {
	_flightrec_offer 'crash crash:all exit exit:2 oom hung>30s kernel signal command every:10m event: psi:memory:20% psi:io:20%
		psi:cpu:40% latency:wakeup>10ms latency:offcpu>1s latency:block>500ms latency:syscall>1s latency:softirq>10ms
		latency:irq>10ms' "$1"
	((${#COMPREPLY[@]})) && mapfile -t COMPREPLY < <(printf '%q\n' "${COMPREPLY[@]}")
}

_flightrec_files() {
	compopt -o filenames 2> /dev/null
	mapfile -t COMPREPLY < <(compgen -f -X '!*.flight' -- "$1"; compgen -d -- "$1")
}

_flightrec_any_files() {
	compopt -o filenames 2> /dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_flightrec() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}

	if ((COMP_CWORD == 1)); then
		_flightrec_offer "$_flightrec_commands --help --version" "$word"
		return
	fi
	case $command:$before in
	record:-p | record:--profile) _flightrec_offer 'minimal default full' "$word" ;;
	record:-e | record:--event) _flightrec_offer "$(_flightrec_events)" "$word" ;;
	record:--clock) _flightrec_offer 'global local' "$word" ;;
	record:--on | replay:--on) _flightrec_triggers "$word" ;;
	watch:--on) mapfile -t COMPREPLY < <(compgen -W 'holdoff\>5ms' -- "$word") ;;
	watch:--prio) _flightrec_offer 'FIFO:50 RR:50 OTHER' "$word" ;;
	record:--config) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	record:-o | record:--output | watch:-o | watch:--output | list:-o | list:--output | incidents:-o | incidents:--output) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
	*:-n | *:--name) _flightrec_offer "$(_flightrec_sessions)" "$word" ;;
	*:--symfs) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
	replay:--tier | tail:--tier) _flightrec_offer 'main life stack all' "$word" ;;
	record:--cpu-profile) _flightrec_offer 'yes no' "$word" ;;
	profile:-t | profile:--to) _flightrec_offer 'text folded json perfetto' "$word" ;;
	profile:--since) _flightrec_offer '30s 1m 10m 1h' "$word" ;;
	diff:--last) _flightrec_offer '10s 30s 1m 10m' "$word" ;;
	export:-t | export:--to) _flightrec_offer 'perfetto ctf trace-cmd folded perf-script json csv html' "$word" ;;
	recover:--kallsyms) _flightrec_any_files "$word" ;;
	*:--window) _flightrec_offer 'trigger-50ms..trigger+5ms trigger.. 10%..20% -1s..' "$word" ;;
	*:--since | *:--until) _flightrec_offer 'trigger trigger-50ms trigger+5ms 50% -200ms' "$word" ;;
	top:--panel) _flightrec_offer 'details events tasks cpus calls offcpu waits irqs block flame hist info' "$word" ;;
	top:--size) _flightrec_offer '80x24 100x40 200x50' "$word" ;;
	*:--jobs) _flightrec_offer '1 2 4' "$word" ;;
	replay:--speed) _flightrec_offer 'max 1x 0.1x' "$word" ;;
	*)
		if [[ $word == -* ]]; then
			_flightrec_offer "$(_flightrec_options "$command")" "$word"
		elif [[ $command == events ]]; then
			_flightrec_offer "$(_flightrec_events | grep -v '^-')" "$word"
		elif [[ $command == recover ]]; then
			_flightrec_any_files "$word"
		elif [[ $command == @(replay|report|profile|cut|merge|diff|export|view|top|list|incidents|info|verify|symbols) ]]; then
			_flightrec_files "$word"
		fi
		;;
	esac
}

complete -F _flightrec flightrec
