# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What completion/flightrec.zsh offers, with the line editor's side played here: words, CURRENT and PREFIX are as it sets them.
PATH=$PWD/build:$PATH
compdef() { : }
compset() { PREFIX=${PREFIX#*=} }
_files() { print -rl -- ${PREFIX}*(N) }
compadd() {
	while [[ $1 != -- ]]; do shift; done
	shift
	(($#)) && print -rl -- "$@"
}
source completion/flightrec.zsh

# try WANT WORD...: the last word is being typed
try() {
	local want=$1 got
	shift
	words=("$@") CURRENT=$# PREFIX=${@[-1]#[\'\"]}
	got=$(_flightrec)
	[[ $'\n'$got$'\n' == *$'\n'$want$'\n'* ]] && return
	print -r -- "not offered: $want for $*: $got"
	exit 1
}
# once WANT WORD...: that alone
once() {
	local want=$1 got
	shift
	words=("$@") CURRENT=$# PREFIX=${@[-1]#[\'\"]}
	got=$(_flightrec)
	[[ $got == $want ]] && return
	print -r -- "not $want alone for $*: $got"
	exit 1
}
once latency flightrec replay -f laten
once 'latency:wakeup>10ms' flightrec record --on latency:w
once event:latency flightrec record --on event:laten
try replay flightrec rep
try --until flightrec replay --un
try 'latency:wakeup>10ms' flightrec record --on latency:w
try oncpu flightrec replay -f onc
try 'ret < 0 && oncpu' flightrec replay -f "'ret < 0 && onc"
try replay flightrec help rep
try --to=csv flightrec export --to=c
try completion flightrec incidents -o comp
