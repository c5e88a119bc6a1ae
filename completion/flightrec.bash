# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bash completion for flightrec. Commands come from --help, options and their values from the command's own table
# (`flightrec COMMAND --help=options`), and names from `flightrec events`, so that nothing is kept twice.

_flightrec_commands() {
	flightrec --help 2> /dev/null | sed -nE 's/^  ([a-z]+) .*/\1/p'
}

# Words that begin with $2, quoted where the shell would take a sign for its own.
_flightrec_offer() {
	local word
	for word in $1; do
		[[ $word == "$2"* ]] && COMPREPLY+=("$(printf '%q' "$word")")
	done
}

# Groups and events.
_flightrec_events() {
	flightrec events --json 2> /dev/null | grep -oE '\{"nr":[0-9]+,"name":"[a-z_]+","group":"[a-z]+"' |
		sed -E 's/.*"name":"([a-z_]+)","group":"([a-z]+)"/\1\n\2/' | sort -u
}

_flightrec_sessions() {
	find /sys/fs/bpf/flightrec -mindepth 1 -maxdepth 1 -type d -printf '%f\n' 2> /dev/null
}

# Kinds, with an example of what they take.
_flightrec_triggers='crash crash:all exit exit:2 oom hung>30s kernel signal command every:10m event: psi:memory:20% psi:io:20%
	psi:cpu:40% latency:wakeup>10ms latency:offcpu>1s latency:block>500ms latency:syscall>1s latency:softirq>10ms latency:irq>10ms'

_flightrec_files() {
	compopt -o filenames 2> /dev/null
	mapfile -t COMPREPLY < <(compgen "$@")
}

# What a table says of a value: a kind of words, or the words.
_flightrec_values() {
	case $1 in
	@file) _flightrec_files -f -- "$2" ;;
	@dir) _flightrec_files -d -- "$2" ;;
	@snapshot)
		compopt -o filenames 2> /dev/null
		mapfile -t COMPREPLY < <(compgen -f -X '!*.flight' -- "$2"; compgen -d -- "$2")
		;;
	@session) _flightrec_offer "$(_flightrec_sessions)" "$2" ;;
	@event) _flightrec_offer "$(_flightrec_events)" "$2" ;;
	@choice) _flightrec_offer "$(_flightrec_events | sed 's/.*/&\n-&/')" "$2" ;; # - takes them away
	@trigger) _flightrec_offer "$_flightrec_triggers" "$2" ;;
	*) _flightrec_offer "$1" "$2" ;;
	esac
}

# A row of the table: long option, letter, what its value is called, values; - for what there is not.
_flightrec() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
	local long letter value words longs='' of_arguments=''

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_flightrec_offer "$(_flightrec_commands) --help --version" "$word"
		return
	fi
	[[ $word == = ]] && word='' # bash splits --option=value
	[[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
	while read -r long letter value words; do
		if [[ $long == - ]]; then
			of_arguments=$words
		elif [[ $value != - && ($before == "$long" || $before == "$letter") && ($value != \[* || ${COMP_WORDS[COMP_CWORD - 1]}$word == =*) ]]; then
			_flightrec_values "$words" "$word"
			return
		else
			longs+=" $long"
		fi
	done < <(flightrec "$command" --help=options 2> /dev/null)
	if [[ $word == -* ]]; then
		_flightrec_offer "$longs --help" "$word"
	else
		_flightrec_values "$of_arguments" "$word"
	fi
}

complete -F _flightrec flightrec
