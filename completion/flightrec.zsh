#compdef flightrec
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# zsh completion for flightrec: `flightrec --complete` knows what may follow, from the commands' own tables; here are files.

_flightrec() {
	local line
	local -a offered
	local -a typed=("${(Q)words[2,CURRENT-1][@]}" "${(Q)PREFIX}")

	for line in "${(f)$(flightrec --complete "${typed[@]}" 2> /dev/null)}"; do
		case $line in
		@file) [[ $PREFIX == --*=* ]] && compset -P '*='; _files ;;
		@dir) [[ $PREFIX == --*=* ]] && compset -P '*='; _files -/ ;;
		@snapshot) _files -g '*.flight' ;;
		?*) offered+=("$line") ;;
		esac
	done
	(($#offered)) && compadd -S '' -- "${(@M)offered:#*[=:]}"
	(($#offered)) && compadd -- "${(@)offered:#*[=:]}"
}

[[ $funcstack[1] == _flightrec ]] && _flightrec "$@" || compdef _flightrec flightrec
