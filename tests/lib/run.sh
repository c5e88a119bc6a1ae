#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# libflightrec as other programs use it: installed, found by pkg-config, and compared with what the command prints. No root.
set -u
cd "$(dirname "$0")/../.." || exit
export TZ=UTC LC_ALL=C PYTHONDONTWRITEBYTECODE=1
export FLIGHTREC=${FLIGHTREC:-$PWD/build/flightrec}
build=$(dirname "$FLIGHTREC")
. tests/check.sh
export PKG_CONFIG_PATH=$tmp/root/lib/pkgconfig
golden=tests/files/golden/all.flight
warnings='-Wall -Wextra -Werror -pedantic'

# Frames with names and without: of the kernel, a module, JITed code, and a program that is not on this machine.
stacks='fact arch x86_64
fact kernel_symbols ok
task 100 100 prog
sym 0 ffffffff81000000 100 do_nanosleep -
sym 0 ffffffffa0000000 100 ext4_write [ext4]
sym 100 7f0000001000 80 Interpreter -
map 100 400000 402000 0 /nonexistent/prog 0123456789abcdef0123
map 100 500000 502000 0 /nonexistent/lib 0123456789abcdef0124
stack 11 ffffffff8100006d ffffffffa0000010 ffffffffb0000000
stack 12 401234 7f0000001008 7f1111111111
sample 100 11 12
sample 100 11 0
sample 100 99 12
'

# by PROGRAM ARG...: run a program of this test with its output in $tmp/out; it has to print nothing on standard error
by() {
	LD_LIBRARY_PATH=$tmp/root/lib "$tmp/$1" "${@:2}" > "$tmp/out" 2> "$tmp/err" || { cat "$tmp/err"; return 1; }
	[[ ! -s $tmp/err ]] || { echo "on standard error:"; cat "$tmp/err"; return 1; }
}
use() { by use "$@"; }
ask() { by ask "$@"; }
refuse() { by refuse "$@"; }
slow() { LD_LIBRARY_PATH=$tmp/root/lib "$tmp/slow" "$@"; }
by_python() { /usr/bin/python3 tests/lib/check.py "$@"; }

# compile COMPILER OUT SOURCE...: with the options that pkg-config gives, and no others
compile() {
	local compiler=$1 out=$2
	shift 2
	# shellcheck disable=SC2046,SC2086
	$compiler $warnings -O1 -g "$@" $(pkg-config --cflags --libs flightrec) -lpthread -o "$out"
}

installs() {
	make -s O="$build" install DESTDIR= PREFIX="$tmp/root" SYSCONFDIR="$tmp/etc"
}

example_compiles() {
	compile gcc "$tmp/slow" docs/examples/slow.c -D_GNU_SOURCE && compile clang "$tmp/slow.clang" docs/examples/slow.c -D_GNU_SOURCE
}

# The static archive: the program needs no shared library of ours, and sees none of our internal names.
example_is_static() {
	local names
	# shellcheck disable=SC2046
	gcc -O1 -D_GNU_SOURCE docs/examples/slow.c $(pkg-config --cflags flightrec) "$(pkg-config --variable=libdir flightrec)/libflightrec.a" \
		$(grep '^Libs.private: ' "$PKG_CONFIG_PATH/flightrec.pc" | cut -d ' ' -f 2-) -o "$tmp/slow.static" || return
	names=$(nm -g --defined-only "$build/libflightrec.a" | awk 'NF == 3 { print $3 }' | grep -v '^flightrec_')
	[[ -z $names ]] || { echo "the archive shows $names"; return 1; }
	"$tmp/slow.static" "$tmp/load.flight" > "$tmp/out" && slow "$tmp/load.flight" | diff "$tmp/out" -
}

header_is_plain() {
	local std
	for std in c99 c11 c17; do
		for compiler in gcc clang; do
			echo '#include <flightrec.h>' | $compiler -std=$std $warnings -I"$tmp/root/include" -fsyntax-only -x c - || return
		done
	done
	for std in c++11 c++17; do
		for compiler in g++ clang++; do
			echo '#include <flightrec.h>' | $compiler -std=$std $warnings -I"$tmp/root/include" -fsyntax-only -x c++ - || return
		done
	done
}

cxx_links() {
	cat > "$tmp/use.cc" <<- 'EOF'
		#include <flightrec.h>
		#include <memory>
		int main(int, char **argv)
		{
			std::unique_ptr<flightrec, decltype(&flightrec_free)> fr(flightrec_new(), flightrec_free);
			uint64_t cnt = 0;

			return flightrec_add(fr.get(), argv[1]) || flightrec_open(fr.get()) || flightrec_count(fr.get(), &cnt) || !cnt;
		}
	EOF
	compile g++ "$tmp/cc" "$tmp/use.cc" && LD_LIBRARY_PATH=$tmp/root/lib "$tmp/cc" "$tmp/load.flight"
}

# The marks need nothing but their header; each compiler's notes are read again, also of functions that several files have, and where
# the linker drops some.
marks_are_plain() {
	local compiler language flags=("-O0" "-O2 -ffunction-sections -Wl,--gc-sections" "-O2 -fPIE -pie")
	[[ $(uname -m) != x86_64 ]] || flags+=("-O2 -masm=intel")
	cat > "$tmp/marks.h" <<- 'EOF'
		#include <flightrec_mark.h>
		#ifdef __cplusplus
		inline void shared(const char *what) { flightrec_mark(what); }
		#else
		static void shared(const char *what) { flightrec_mark(what); }
		#endif
	EOF
	printf '#include "marks.h"\nvoid other(void);\nvoid other(void) { shared("other"); }\nvoid unused(void);\nvoid unused(void) { flightrec_mark("never"); }\n' > "$tmp/other.c"
	cat > "$tmp/mark.c" <<- 'EOF'
		#include "marks.h"
		void other(void);
		/* Texts at the top of the stack and others, across calls: no register may be taken but those that are asked for */
		static void texts(int number)
		{
			char first[32], second[32];
			first[0] = second[0] = (char)('0' + number);
			first[1] = second[1] = 0;
			flightrec_mark(first);
			other();
			flightrec_mark(second);
			other();
			flightrec_mark(first);
			flightrec_mark(second);
		}
		int main(int argc, char **argv)
		{
			texts(argc);
			flightrec_begin(argv[0], 1);
			flightrec_end("x", (unsigned long long)argc);
			flightrec_counter("y", -1);
			other();
			shared("z");
			return 0;
		}
	EOF
	for compiler in "gcc -std=c99" "clang -std=c99" "g++ -std=c++11" "clang++ -std=c++17"; do
		language=c
		[[ $compiler != *++* ]] || language=c++
		for flag in "${flags[@]}"; do
			# shellcheck disable=SC2086
			$compiler $warnings $flag -I"$tmp/root/include" -I"$tmp" -x $language "$tmp/mark.c" "$tmp/other.c" -o "$tmp/mark" && "$tmp/mark" || return
			"$build/flightrec" events "mark:$tmp/mark" | sed -n 's/^mark:.*://p' | paste -sd' ' > "$tmp/out"
			[[ $(cat "$tmp/out") == "begin counter end mark" ]] || { echo "$compiler $flag: $(cat "$tmp/out")"; return 1; }
			[[ $(uname -m) != x86_64 ]] || ! readelf -n "$tmp/mark" | grep Arguments: | grep -vE '^ *Arguments: 8@%r[a-z0-9]+( -?8@%r[a-z0-9]+)?$' ||
				{ echo "$compiler $flag: a mark's argument is not in a register"; return 1; }
		done
	done
	# lld leaves the notes of code that it drops, and so those of a mark that the program has elsewhere
	gcc -O2 -ffunction-sections -fuse-ld=lld -Wl,--gc-sections -I"$tmp/root/include" -I"$tmp" "$tmp/mark.c" "$tmp/other.c" -o "$tmp/mark" || return
	"$build/flightrec" events --json "mark:$tmp/mark" > "$tmp/out" || return
	! grep -F '"error"' "$tmp/out" && [[ $(grep -o '"name":"mark:' "$tmp/out" | wc -l) == 4 ]] || { cat "$tmp/out"; return 1; }
}

# Programs are linked with these names: new ones may be added, none may be removed.
symbols_are_stable() {
	nm -D --defined-only --with-symbol-versions "$build/libflightrec.so.1" | awk '$2 == "T" { print $3 }' | sort > "$tmp/symbols"
	[[ -z $(nm -D --defined-only "$build/libflightrec.so.1" | awk '$2 != "T" && $3 !~ /^FLIGHTREC_/') ]] || { echo "data is shown"; return 1; }
	diff tests/lib/symbols.txt "$tmp/symbols" || { echo "new names: add them to tests/lib/symbols.txt; names that are gone: see docs/library.md"; return 1; }
}

# The library exports exactly what the header declares.
header_is_complete() {
	grep -ohE '\bflightrec_[a-z0-9_]+\(' "$tmp/root/include/flightrec.h" "$tmp/root/include/flightrec_mark.h" | tr -d '(' | sort -u > "$tmp/declared"
	sed 's/@.*//' tests/lib/symbols.txt | diff "$tmp/declared" -
}

# All types of the interface are opaque.
header_is_opaque() {
	! grep -nE '^(struct|union)[^;(]*\{' "$tmp/root/include/flightrec.h"
}

links_little() {
	local libs
	readelf -d "$build/libflightrec.so.1" | grep -q 'SONAME.*\[libflightrec\.so\.1\]' || { echo "its soname"; return 1; }
	libs=$(readelf -d "$build/libflightrec.so.1" | sed -nE 's/.*NEEDED.*\[(.*)\]/\1/p')
	! grep -E 'bpf|seccomp|flightrec' <<< "$libs"
}

versions_agree() {
	local version
	version=$("$FLIGHTREC" --version)
	version=${version#flightrec }
	ask version && read -r ours header number < "$tmp/out" && [[ $ours == "$version" && $header == "$version" ]] &&
		[[ $(pkg-config --modversion flightrec) == "$version" ]] &&
		((number == $(tr . ' ' <<< "$version" | awk '{ print $1 * 1000000 + $2 * 1000 + $3 }')))
}

# same_as_replay SNAPSHOT OPTION...: $tmp/out is what the command prints of it, and is not empty
same_as_replay() {
	"$FLIGHTREC" replay --tier all "${@:2}" "$tmp/$1.flight" > "$tmp/replay" 2> "$tmp/err" || { cat "$tmp/err"; return 1; }
	[[ -s $tmp/replay ]] || { echo "replay printed nothing"; return 1; }
	cmp "$tmp/replay" "$tmp/out"
}

lines_are_the_same() {
	use json "$tmp/$1.flight" && same_as_replay "$1" --json && use text "$tmp/$1.flight" && same_as_replay "$1"
}

printers_are_the_same() {
	use printed-json "$tmp/$1.flight" && same_as_replay "$1" --pairs --pos --symbols --json &&
		use printed-text "$tmp/$1.flight" && same_as_replay "$1" --pairs --pos
}

fields_are_the_same() {
	use fields "$tmp/$1.flight" && "$FLIGHTREC" replay --tier all --pairs --pos --json "$tmp/$1.flight" > "$tmp/json" && by_python fields "$tmp/json" "$tmp/out"
}

stacks_are_the_same() {
	use stacks "$tmp/$1.flight" && "$FLIGHTREC" replay --tier all --symbols --json "$tmp/$1.flight" > "$tmp/json" 2> /dev/null &&
		by_python stacks "$tmp/json" "$tmp/out"
}

schema_is_the_same() {
	"$FLIGHTREC" events --json > "$tmp/json" && ask schema && by_python schema "$tmp/json" "$tmp/out" &&
		ask schema "$tmp/load.flight" && by_python schema "$tmp/json" "$tmp/out"
}

info_is_the_same() {
	ask info "$tmp/load.flight" && "$FLIGHTREC" info --json "$tmp/load.flight" > "$tmp/json" && by_python info "$tmp/json" "$tmp/out"
}

tables_are_the_same() {
	by tables "$1" check && { "$FLIGHTREC" info --json "$1" > "$tmp/json" 2> /dev/null || (($? == 3)); } && by_python tables "$tmp/json" "$tmp/out"
}

names_are_counted() {
	by tables "$tmp/stacks.flight" && jq -c '.names[]' "$tmp/out" | grep -Fx '{"kernel":2,"jit":1,"mappings":2,"processes":1,"stacks":0,"vdso":0}'
}

# Two findings, which errors.txt shows.
damage_is_counted() {
	tables_are_the_same "$tmp/damaged.flight" && [[ $(jq '.summary[0].damage' "$tmp/out") == 2 ]]
}

# Calls that need no event decode none, so they do not notice a damaged one, unless it was asked for when opening.
tables_need_no_event() {
	by tables "$tmp/load.flight" && by_python flip "$tmp/load.flight" "$tmp/flipped.flight" "$tmp/out" && by tables "$tmp/flipped.flight" &&
		[[ $(jq '.summary[0].damage' "$tmp/out") == 0 ]] && ! "$FLIGHTREC" replay --count "$tmp/flipped.flight" &&
		tables_are_the_same "$tmp/flipped.flight" && [[ $(jq '.summary[0].damage' "$tmp/out") == 1 ]]
}

# Columns keep their names and places; new ones are added at the end of their table.
columns_are_stable() {
	by tables && diff tests/lib/columns.txt "$tmp/out"
}

# One of several snapshots in a file is lost except for its head: those behind it are still read.
lost_member_hides_none() {
	by tables "$tmp/lost.flight" && { "$FLIGHTREC" info --json "$tmp/lost.flight" > "$tmp/json" 2> "$tmp/err" || (($? == 3)); } &&
		grep -q 'lost.flight: not a snapshot' "$tmp/err" && [[ $(wc -l < "$tmp/out") == 2 ]] && by_python tables "$tmp/json" "$tmp/out"
}

gaps_are_the_same() {
	use gaps "$tmp/load.flight" && same_as_replay load --gaps --json && grep -q '"gap":"overwritten"' "$tmp/out"
}

filters_agree() {
	local expr cnt
	for expr in 'cpu == 0' 'event == sys_exit && latency > 10us' 'event == sched_switch && next_comm ~ "*a*"' 'ret == -ENOENT' \
		'cgroup ~ "/*"' 'cpu == 77'; do
		ask filter "$tmp/load.flight" "$expr" && cnt=$("$FLIGHTREC" replay --tier all --count -f "$expr" "$tmp/load.flight") || return
		[[ $(< "$tmp/out") == "$cnt" ]] || { echo "$expr: $(< "$tmp/out"), not $cnt"; return 1; }
	done
}

errors_are_told() {
	refuse errors "$tmp/load.flight" "$tmp/damaged.flight" "$tmp/later.flight" || return
	sed -E "s,$tmp/,,; s/bytes [0-9]+ to [0-9]+/bytes N to M/" "$tmp/out" | diff tests/lib/errors.txt -
}

example_is_right() {
	slow -n 50 "$tmp/load.flight" > "$tmp/out" && "$FLIGHTREC" replay --pairs --json "$tmp/load.flight" > "$tmp/json" &&
		by_python slow "$tmp/json" "$tmp/out" 50 &&
		slow -w 20%..60% "$tmp/load.flight" > "$tmp/out" && "$FLIGHTREC" replay --window 20%..60% --pairs --json "$tmp/load.flight" > "$tmp/json" &&
		by_python slow "$tmp/json" "$tmp/out" 10 &&
		! slow "$tmp/none.flight" 2> "$tmp/err" && grep -q '^slow: cannot open .*none.flight: No such file' "$tmp/err"
}

# under TOOL ARG...: run under a tool of valgrind, which has to find nothing
under() {
	command -v valgrind > /dev/null || { echo "valgrind is not installed"; return 77; }
	LD_LIBRARY_PATH=$tmp/root/lib valgrind -q --error-exitcode=9 "$@"
}

is_leakless() {
	under --leak-check=full --errors-for-leak-kinds=definite,indirect,possible "$tmp/slow" "$tmp/load.flight" &&
		under --leak-check=full --errors-for-leak-kinds=definite,indirect,possible "$tmp/use" stacks "$tmp/stacks.flight" &&
		under --leak-check=full --errors-for-leak-kinds=definite,indirect,possible "$tmp/use" printed-json "$tmp/small.flight" &&
		under --leak-check=full --errors-for-leak-kinds=definite,indirect,possible "$tmp/use" fields "$tmp/small.flight" > /dev/null &&
		under --leak-check=full --errors-for-leak-kinds=definite,indirect,possible "$tmp/use" json "$tmp/small.flight" > /dev/null &&
		under --leak-check=full --errors-for-leak-kinds=definite,indirect,possible "$tmp/refuse" errors "$tmp/small.flight" "$tmp/damaged.flight" "$tmp/later.flight" > /dev/null &&
		under --leak-check=full --errors-for-leak-kinds=definite,indirect,possible "$tmp/use" gaps "$tmp/load.flight" > /dev/null && under "$tmp/refuse" others "$tmp/small.flight" && under "$tmp/tables" "$tmp/lost.flight" > /dev/null
}

windows_agree() {
	local when
	for when in 12.5%..60.25% 0%..100% -12.5ms.. ; do
		ask window "$tmp/load.flight" "$when" && [[ $(< "$tmp/out") == $("$FLIGHTREC" replay --count --window "$when" "$tmp/load.flight") ]] ||
			{ echo "$when: $(< "$tmp/out")"; return 1; }
	done
}

# Each tier as the command has it; they differ, and are all together.
tiers_agree() {
	local which cnt sum=0
	declare -A of
	for which in main life stack all life,stack; do
		ask tiers "$tmp/$1.flight" "$which" && cnt=$("$FLIGHTREC" replay --tier "$which" --count "$tmp/$1.flight") || return
		of[$which]=$(< "$tmp/out")
		[[ ${of[$which]} == "$cnt" ]] || { echo "$which: ${of[$which]}, not $cnt"; return 1; }
	done
	((of[main] && of[life] && of[stack] && of[main] != of[life] && of[life,stack] == of[life] + of[stack] && of[all] == of[main] + of[life,stack])) ||
		{ declare -p of; return 1; }
}

missing_symbols_are_told() {
	use missing "$tmp/stacks.flight" && "$FLIGHTREC" replay --tier all --symbols "$tmp/stacks.flight" 2> "$tmp/err" > /dev/null && grep -q /nonexistent/prog "$tmp/err" &&
		{ sed 's/^flightrec: /log /' "$tmp/err"; echo "1 warned"; } | diff - "$tmp/out"
}

# The output is the same in a locale that writes 1,5 for 1.5.
locale_is_of_no_account() {
	localedef -i de_DE -f UTF-8 "$tmp/de_DE.UTF-8" || { echo "localedef cannot make de_DE.UTF-8: install locales"; return 77; }
	export LOCPATH=$tmp
	{ export LC_ALL=de_DE.UTF-8; } 2> /dev/null # the shell itself may not find the locale
	[[ $(locale decimal_point) == , ]] || { echo "its decimal point is not a comma"; return 1; }
	use printed-text "$tmp/load.flight" && mv "$tmp/out" "$tmp/german" && windows_agree && LC_ALL=C use printed-text "$tmp/load.flight" && cmp "$tmp/german" "$tmp/out" &&
		grep -q '=[0-9]*\.[0-9]* [um]s' "$tmp/german"
}

others_are_refused() {
	refuse others "$tmp/load.flight"
}

# In the order of docs/replay.md, not of the list; none behind the last.
columns_are_in_order() {
	local of=$tmp/columns.flight id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
	printf '%s\n' 'fact boot_id b' 'fact arch x86_64' 'horizon 0 0' 'process 100 1 0 7 main' 'thread 101 100 1 worker' \
		'process 200 1 0 9 other' 'proc {"pid":100,"start_ns":1,"cgroup":"/docker/'$id'"}' 'proc {"container_id":"'$id'","container":"web","pod":"api-0"}' \
		'event 1000 0 sched_process_exit 101 exit_code=0' 'event 2000 0 sched_process_exit 200 exit_code=0' | "$build/tests/rehearse/make" "$of" || return
	ask columns "$of" pod,program,cgroup && diff - "$tmp/out" <<< "program cgroup pod
main /docker/$id api-0
other - -" && ask columns "$of" unit,pod,unit && diff - "$tmp/out" <<< "pod unit
api-0 -
- -" && ask columns "$of" all && [[ $(head -n 1 "$tmp/out") == "program cgroup container container_id pod namespace image unit" ]]
}

threads_are_apart() {
	by threads "$tmp/load.flight"
}

threads_do_not_race() {
	under --tool=helgrind --suppressions=tests/lib/helgrind.supp "$tmp/threads" "$tmp/small.flight"
}

# Whose end is cut off; of a format to come; two in one, one of which is lost except for its head.
damaged_ones() {
	head -c -300 "$tmp/load.flight" > "$tmp/damaged.flight" && by_python later "$tmp/load.flight" "$tmp/later.flight" &&
		"$FLIGHTREC" merge -o "$tmp/merged.flight" "$tmp/load.flight" "$golden" && by_python lose "$tmp/merged.flight" "$tmp/lost.flight"
}

command -v pkg-config > /dev/null || { echo "FAIL pkg-config is not installed"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }
make -s O="$build" all lib "$build/tests/rehearse/make" "$build/tests/report/make_load" "$build/tests/cli/make_snapshot" "$build/tests/symbols/make_stacks" &&
	"$build/tests/report/make_load" "$tmp/load.flight" && "$build/tests/cli/make_snapshot" "$tmp/small.flight" &&
	"$build/tests/symbols/make_stacks" "$tmp/stacks.flight" <<< "$stacks" && damaged_ones || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
first "install" installs
first "gcc and clang compile the example" example_compiles
for program in use ask refuse threads tables; do
	compile gcc "$tmp/$program" tests/lib/$program.c || { echo "FAIL tests/lib/$program.c"; echo "$passed passed, $((failed + 1)) failed, 0 skipped"; exit 1; }
done
check "the header, by four compilers" header_is_plain
check "a C++ program" cxx_links
check "marks, by four compilers" marks_are_plain
check "the archive" example_is_static
check "names are stable" symbols_are_stable
check "the header has all names" header_is_complete
check "types are opaque" header_is_opaque
check "what it is linked with" links_little
check "versions" versions_agree
for snap in small load stacks; do
	check "lines of text and JSON, $snap" lines_are_the_same $snap
	check "printers, $snap" printers_are_the_same $snap
	check "fields one by one, $snap" fields_are_the_same $snap
	check "stacks, $snap" stacks_are_the_same $snap
done
check "schema" schema_is_the_same
check "info" info_is_the_same
for snap in "$tmp"/{small,load,stacks}.flight "$golden"; do
	check "tables, ${snap##*/}" tables_are_the_same "$snap"
done
check "names are counted" names_are_counted
check "tables without events" tables_need_no_event
check "columns are stable" columns_are_stable
check "a lost part of a merged file" lost_member_hides_none
check "gaps" gaps_are_the_same
check "filters" filters_agree
check "windows" windows_agree
check "tiers" tiers_agree small
check "columns of whose an event is" columns_are_in_order
check "missing symbols" missing_symbols_are_told
check "locale" locale_is_of_no_account
check "errors" errors_are_told
check "tables of a damaged file" damage_is_counted
check "what is not there, or another's" others_are_refused
check "the example's sums" example_is_right
check "valgrind: memory" is_leakless
check "two handles in two threads" threads_are_apart
check "valgrind: threads" threads_do_not_race
finish
