# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# fish completion for flightrec: `flightrec --complete` knows what may follow, from the commands' own tables; here are files.

function __flightrec_complete
	set -l typed (commandline -opc)[2..-1]
	set -l now (commandline -ct | string unescape)
	for line in (flightrec --complete $typed "$now" 2> /dev/null)
		switch $line
			case @file
				__fish_complete_path (string replace -r '^--[a-z-]+=' '' -- "$now")
			case @dir
				__fish_complete_directories (string replace -r '^--[a-z-]+=' '' -- "$now")
			case @snapshot
				__fish_complete_suffix .flight
			case '*'
				echo $line
		end
	end
end

complete -c flightrec -f -a '(__flightrec_complete)'
