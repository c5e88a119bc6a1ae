# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What completion/flightrec.fish offers, asked for as the shell does.
set -x PATH $PWD/build $PATH
source completion/flightrec.fish

function try
	if not contains -- $argv[1] (complete -C "$argv[2]" | string replace -r "\t.*" "")
		echo "not offered: $argv[1] for $argv[2]: "(complete -C "$argv[2]")
		exit 1
	end
end
function once
	set -l got (complete -C "$argv[2]" | string replace -r "\t.*" "")
	if test "$got" != "$argv[1]"
		echo "not $argv[1] alone for $argv[2]: $got"
		exit 1
	end
end
once latency "flightrec replay -f laten"
once "latency:wakeup>10ms" "flightrec record --on latency:w"
once event:latency "flightrec record --on event:laten"
try replay "flightrec rep"
try --until "flightrec replay --un"
try "latency:wakeup>10ms" "flightrec record --on latency:w"
try oncpu "flightrec replay -f onc"
try "ret < 0 && oncpu" "flightrec replay -f 'ret < 0 && onc"
try replay "flightrec help rep"
try --to=csv "flightrec export --to=c"
try completion/ "flightrec incidents -o comp"
