# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bash completion for flightrec. `flightrec --complete` knows what may follow, from the commands' own tables; here are files, and
# what is bash's own: it breaks words at : and =, and wants what it would take for its own sign quoted.

_flightrec_files() {
	compopt -o filenames 2> /dev/null
	mapfile -t COMPREPLY < <(compgen "$@")
}

# The words up to the cursor, those that bash broke at : = and > as one again.
_flightrec_words() {
	local i glue=''
	words=()
	for ((i = 1; i <= COMP_CWORD; i++)); do
		if ((${#words[@]})) && [[ $glue || ${COMP_WORDS[i]} == [:=\>]* ]]; then
			words[-1]+=${COMP_WORDS[i]}
		else
			words+=("${COMP_WORDS[i]}")
		fi
		glue=''
		[[ ${COMP_WORDS[i]} == *[:=\>] && ${COMP_WORDS[i]} != *[\"\']* ]] && glue=1
	done
}

_flightrec() {
	local words word piece quote='' line stays
	COMPREPLY=()
	_flightrec_words
	word=${words[-1]} piece=${COMP_WORDS[COMP_CWORD]}
	[[ $piece == [:=\>] ]] && piece=''
	if [[ $word == [\"\']* ]]; then
		quote=${word:0:1} piece=${piece#"${word:0:1}"} word=${word:1}
	else
		word=${word//\\/} piece=${piece//\\/}
	fi
	words[-1]=$word
	stays=$((${#word} - ${#piece})) # of the word: bash has it already
	while IFS= read -r line; do
		case $line in
		@file) _flightrec_files -f -- "$piece" ;;
		@dir) _flightrec_files -d -- "$piece" ;;
		@snapshot)
			compopt -o filenames 2> /dev/null
			mapfile -t COMPREPLY < <(compgen -f -X '!*.flight' -- "$piece"; compgen -d -- "$piece")
			;;
		*)
			[[ $line == *[=:] ]] && compopt -o nospace 2> /dev/null
			line=${line:stays}
			[[ $quote ]] || printf -v line %q "$line"
			COMPREPLY+=("$line")
			;;
		esac
	done < <(flightrec --complete "${words[@]}" 2> /dev/null)
}

complete -F _flightrec flightrec
