# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#	make		build build/flightrec with the packages that are present
#	make demo	install what is missing, record this host, let a program crash, replay it (root)
#	make check	install what is missing, build, run every test (root)
#	make check-long	what needs chance, time or another kernel (root); PART...: only these (docs/testing.md)
#	make bench	measure what docs/ and the README quote, beside other tools (root); bench-quick: in under 2 minutes
#	make install	DESTDIR= PREFIX=/usr/local
#	make uninstall	the same names; an edited configuration stays
#	make man	what pages have from the tables of options; make format: the code as .clang-format says
#	make clean	remove what was built; make help: these lines
#
# For arm64, compiled on another machine with that one's libraries in DIR: MACHINE=aarch64 CC='aarch64-linux-gnu-gcc --sysroot=DIR'
# LD=aarch64-linux-gnu-ld OBJCOPY=aarch64-linux-gnu-objcopy
# O= names the directory of a build, SANITIZE= its sanitizers, CC= its compiler; tests build with all of these. SKEL= names that of another
# build, which has made the BPF programs. V=1 shows commands.

O		?= build
SKEL		?= $(O)
ifeq ($(origin CC),default)
CC		:= gcc
endif
CLANG		?= clang
CLANG_FORMAT	?= clang-format
OBJCOPY		?= objcopy
PREFIX		?= /usr/local
SYSCONFDIR	?= /etc
CFLAGS		?= -O2 -g
MACHINE		:= $(shell uname -m)
ARCH		?= $(MACHINE:aarch64=arm64)
export PATH	:= $(PATH):/usr/sbin:/sbin

# ---- what there is ----
BPF_SRC		:= $(sort $(wildcard bpf/*.bpf.c))
TRIGGER_SRC	:= $(sort $(wildcard bpf/trigger/*.bpf.c))
STATES_SRC	:= $(wildcard bpf/states/*.bpf.c)
# Event programs that event rules can watch. They are compiled a second time, into the triggers' object.
WATCH_SRC	:= $(filter-out bpf/control.bpf.c bpf/sample.bpf.c bpf/incident.bpf.c,$(BPF_SRC))
USER_SRC	:= $(sort $(wildcard user/*/*.c user/*/*/*.c))
HEADERS		:= $(wildcard bpf/*.h bpf/*/*.h bpf/*.def user/*.h user/*/*.h user/*/*/*.h user/*/*/*.def tests/*/*.h)
MAIN_SRC	:= user/cmd/main.c
LIBBPF_SRC	:= $(filter-out $(MAIN_SRC),$(shell grep -lE '[<"](bpf/|(flightrec|triggers|states)\.skel)' $(USER_SRC) /dev/null))
PLAIN_SRC	:= $(filter-out $(MAIN_SRC) $(LIBBPF_SRC),$(USER_SRC))
UNIT_SRC	:= $(sort $(wildcard tests/unit/test_*.c))
FORMATTED	:= $(shell find bpf user tests docs/examples -name '*.[ch]')
MAN		:= $(wildcard docs/man/*.[1-8])

obj		= $(patsubst %.c,$(O)/obj/%.o,$(1))
bpf_obj		= $(patsubst bpf/%.bpf.c,$(O)/bpf/$(1)/%.o,$(2))
watch_obj	= $(patsubst bpf/%.bpf.c,$(O)/bpf/$(1)/watch/%.o,$(WATCH_SRC))
# One archive of what needs no libbpf, so that tests and fuzzers need none either; one of the rest.
LIB		:= $(O)/libfrcore.a
LIB_BPF		:= $(O)/libfrcore_bpf.a
UNIT		:= $(patsubst %.c,$(O)/%,$(UNIT_SRC))

# ---- how it is compiled ----
# Warnings are errors, also with -O3 and -Os. Where another compiler has more of them: make WERROR=
WERROR		?= -Werror
WARNINGS	:= -Wall -Wextra $(WERROR)
SAN_FLAGS	:= $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# All code can go into the shared library, which exports only the names in its header.
USER_FLAGS	= -std=gnu11 -D_GNU_SOURCE= -fPIC -fvisibility=hidden $(CFLAGS) $(SAN_FLAGS) $(WARNINGS) -Ibpf -Iuser -I$(SKEL) $(CPPFLAGS)
LDLIBS		:= -lbpf -ldw -lelf -lz -lzstd -lxxhash -ltraceevent -lseccomp -liberty -lncursesw -ltinfo
bpf_target	= $(if $(filter x86_64,$(1)),x86,$(1))
BPF_FLAGS	= -g -O2 -mcpu=v3 -target bpf $(WARNINGS) -Wno-unused-parameter -Ibpf

# say WHAT: print what is being made, unless V=1 prints the command itself or -s asks for silence
SILENT		:= $(V)$(findstring s,$(firstword -$(MAKEFLAGS)))
say		= $(if $(SILENT),,@printf '  %-8s %s\n' $(1) $@)
Q		:= $(if $(V),,@)

.PHONY: all help lib deps bpf-arm64 unit replays asan fuzzed fuzzed-some shared kernel-programs clang-check check check-long bench bench-quick demo man format check-format install uninstall clean
.DELETE_ON_ERROR:
.SECONDARY:

all: $(O)/flightrec $(if $(SANITIZE),,lib)

# What the head of this file says.
help:
	@sed -n '3,/^$$/s/^#\t\?//p' $(firstword $(MAKEFILE_LIST))

# If a header or tool is missing, name its package. Done once per build directory.
$(O)/.need: .ci/deps
	@.ci/deps check build
	@mkdir -p $(@D) && touch $@

deps:
	@.ci/deps install build test

# ---- BPF ----
define bpf_rule
$(O)/bpf/$(1)/$(2)%.o: bpf/%.bpf.c vmlinux/$(1)/vmlinux.h $(wildcard bpf/*.h bpf/*/*.h bpf/*.def) Makefile | $(O)/.need
	@mkdir -p $$(@D)
	$$(call say,BPF)
	$$(Q)$(CLANG) $(BPF_FLAGS) $(if $(2),-DFR_WATCH) -D__TARGET_ARCH_$(call bpf_target,$(1)) -Ivmlinux/$(1) -c $$< -o $$@
endef
$(eval $(call bpf_rule,x86_64,))
$(eval $(call bpf_rule,x86_64,watch/))
$(eval $(call bpf_rule,arm64,))
$(eval $(call bpf_rule,arm64,watch/))

# Three objects: one for a session; one for the triggers, which is loaded for a set of rules and uses the session's maps; and one
# that looks at tasks when a snapshot is taken.
$(O)/flightrec.bpf.o: $(call bpf_obj,$(ARCH),$(BPF_SRC))
$(O)/triggers.bpf.o: $(call bpf_obj,$(ARCH),$(TRIGGER_SRC)) $(call watch_obj,$(ARCH))
$(O)/states.bpf.o: $(call bpf_obj,$(ARCH),$(STATES_SRC))
$(O)/flightrec.bpf.o $(O)/triggers.bpf.o $(O)/states.bpf.o:
	$(call say,LINK)
	$(Q)bpftool gen object $@ $^

$(O)/%.skel.h: $(O)/%.bpf.o
	$(call say,GEN)
	$(Q)bpftool gen skeleton $< name $* > $@

# Compiled, but not run here, which tests/vm does: this shows that no program assumes x86.
bpf-arm64: $(call bpf_obj,arm64,$(BPF_SRC) $(TRIGGER_SRC) $(STATES_SRC)) $(call watch_obj,arm64)

# ---- user space ----
$(O)/obj/%.o: %.c Makefile | $(O)/.need
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(USER_FLAGS) -MMD -MP -c $< -o $@

SKELETONS	:= $(addprefix $(SKEL)/,flightrec.skel.h triggers.skel.h states.skel.h)
$(call obj,$(LIBBPF_SRC)): | $(SKELETONS)

# It includes the parts of the page.
$(call obj,user/show/export/export_html.c): $(wildcard user/show/view/*)

$(LIB): $(call obj,$(PLAIN_SRC))
$(LIB_BPF): $(call obj,$(LIBBPF_SRC))
$(LIB) $(LIB_BPF):
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $^

$(O)/flightrec: $(call obj,$(MAIN_SRC)) $(LIB) $(LIB_BPF)
	$(call say,LINK)
	$(Q)$(CC) $(SAN_FLAGS) $(LDFLAGS) $< -Wl,--start-group $(LIB) $(LIB_BPF) -Wl,--end-group $(LDLIBS) -o $@

# The same, whose pages have many tiles: pieces of 64 rows.
$(O)/tests/view/flightrec: user/show/export/page_columns.c $(O)/flightrec $(HEADERS) Makefile
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(USER_FLAGS) -DFR_PAGE_ROWS=64u $< $(LDFLAGS) $(call obj,$(MAIN_SRC)) -Wl,--start-group $(LIB) $(LIB_BPF) -Wl,--end-group \
		$(LDLIBS) -o $@

# ---- the library for other programs: only what user/lib/ needs, exporting only the names in its header ----
LIB_NAME	:= libflightrec.so.1
LIB_LIBS	:= -ldw -lelf -lz -lzstd -lxxhash -ltraceevent -liberty
LIB_OBJ		:= $(call obj,$(sort $(wildcard user/lib/*.c)))
VERSION		:= $(shell sed -n 's/.*FR_VERSION "\(.*\)"/\1/p' user/version.h)

lib: $(O)/$(LIB_NAME) $(O)/libflightrec.a

$(O)/$(LIB_NAME): $(LIB_OBJ) $(LIB) user/lib/flightrec.map
	$(call say,LINK)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-soname,$(LIB_NAME) -Wl,--version-script=user/lib/flightrec.map -Wl,-z,defs -Wl,--as-needed \
		$(LIB_OBJ) $(LIB) $(LIB_LIBS) -o $@

# One object, in which all hidden names are local.
$(O)/libflightrec.a: $(LIB_OBJ) $(LIB)
	@rm -f $@
	$(call say,AR)
	$(Q)$(LD) -r $(LIB_OBJ) $(LIB) -o $(O)/flightrec.o
	$(Q)$(OBJCOPY) --localize-hidden $(O)/flightrec.o
	$(Q)$(AR) rcs $@ $(O)/flightrec.o
	@rm -f $(O)/flightrec.o

# A program made of one file below tests/ and the code that it tests.
$(O)/tests/%: tests/%.c $(LIB) $(HEADERS) Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(USER_FLAGS) -Itests $< $(LDFLAGS) $(LIB) $(if $(filter unit/%,$*),-lcmocka) $(LDLIBS) -lpthread -o $@

# Each fuzz target without libFuzzer.
REPLAYS		:= $(patsubst tests/fuzz/%.c,$(O)/tests/fuzz/replay_%,$(shell grep -l LLVMFuzzerTestOneInput tests/fuzz/*.c | grep -v replay))
$(REPLAYS): $(O)/tests/fuzz/replay_%: tests/fuzz/%.c tests/fuzz/replay.c $(LIB) $(HEADERS) Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(USER_FLAGS) -Itests $< tests/fuzz/replay.c $(LDFLAGS) -Wl,--start-group $(LIB) $(REPLAY_LIB) -Wl,--end-group $(LDLIBS) -lpthread -o $@
# Commands need what needs libbpf.
$(O)/tests/fuzz/replay_commands: REPLAY_LIB = $(LIB_BPF)
$(O)/tests/fuzz/replay_commands: $(LIB_BPF)

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)

# ---- tests ----
# Targets that build first and then run something use all CPUs, unless -j says how many.
JOBS		= $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

unit: $(UNIT)

replays: $(REPLAYS)

# With -Og sanitizers find what they do with -O2, and it compiles in a third of the time; they name lines, which -g1 has. At that level
# gcc sees less of what is initialized: the other builds warn of what is not.
asan: $(SKELETONS)
	$(MAKE) O=$(O)/asan SKEL=$(O) SANITIZE=address,undefined CFLAGS='-Og -g1 -Wno-maybe-uninitialized' unit replays

# The archive that targets of libFuzzer link; fuzzed-some: the objects of SOURCES alone.
fuzzed fuzzed-some:
	$(MAKE) O=$(O)/fuzz CC=$(CLANG) CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' SANITIZE=address,undefined \
		$(if $(findstring some,$@),$(patsubst %.c,$(O)/fuzz/obj/%.o,$(SOURCES)),$(O)/fuzz/libfrcore.a)
# Each letter of each name is compared with what was mistyped: to tell libFuzzer of it takes four times what all else does, and shows it
# nothing that its dictionary has not.
$(O)/obj/user/base/text/nearest.o: SAN_FLAGS += $(if $(findstring fuzzer,$(CFLAGS)),-fno-sanitize-coverage=trace-cmp)

# What several suites need, made beforehand, as they run beside each other (tests/run.sh).
MAKERS		:= $(patsubst %.c,$(O)/%,$(wildcard tests/*/make*.c))
shared: all unit asan kernel-programs $(MAKERS)

# Whoever cannot run the tests of the kernel suite needs no programs for them.
kernel-programs: all
	$(Q)FLIGHTREC=$(abspath $(O)/flightrec) tests/kernel/run.sh programs

clang-check:
	$(MAKE) O=$(O)/clang CC=$(CLANG) all unit

check: deps
	$(MAKE) $(JOBS) all
	tests/run.sh

# Its parts are the other goals of the same command, or PARTS=. A number is the argument of the part before it.
PARTS		:= $(if $(filter check-long,$(MAKECMDGOALS)),$(filter $(shell tests/run.sh --list-long) $(foreach n,0 1 2 3 4 5 6 7 8 9,$(n)%),$(MAKECMDGOALS)))
ifneq ($(PARTS),)
.PHONY: $(PARTS)
$(PARTS): check-long
	@:
endif

check-long: deps
	$(MAKE) $(JOBS) all
	tests/run.sh --long $(PARTS)

# If a peer's package cannot be installed, the tables say so.
bench bench-quick:
	@.ci/deps install build test
	-@.ci/deps install bench
	$(MAKE) $(JOBS) all
	FR_BENCH_BEGAN=$(shell date +%s) tests/bench/run.sh $(if $(findstring quick,$@),--quick)

demo:
	@.ci/deps install build
	$(MAKE) $(JOBS) all
	@tests/demo/run.sh

# What the pages have from the tables of options, and the example of the configuration.
man: $(O)/flightrec $(O)/tests/dist/config
	python3 -B tests/tree/man.py --update --program $(O)/flightrec --config $(O)/tests/dist/config
	$(O)/tests/dist/config example > dist/flightrec.conf

format:
	$(CLANG_FORMAT) -i $(FORMATTED)

check-format:
	$(CLANG_FORMAT) --dry-run -Werror $(FORMATTED)

# ---- install ----
# Quote any text as a word of the shell, as a word of a unit's command line, and as the replacement in a sed command.
shell_word	= '$(subst ','\'',$(1))'
unit_word	= $(if $(word 2,$(1)),"$(1)",$(1))
sed_text	= $(subst &,\&,$(subst |,\|,$(subst \,\\,$(1))))
dest		= $(call shell_word,$(DESTDIR)$(PREFIX)/$(1))
man_dest	= share/man/man$(subst .,,$(suffix $(1)))/$(notdir $(1))
sed_to		= sed -e $(call shell_word,s|$(1)|$(call sed_text,$(2))|)

LIB_DESTS	:= include/flightrec.h include/flightrec_mark.h lib/$(LIB_NAME) lib/libflightrec.so lib/libflightrec.a lib/pkgconfig/flightrec.pc \
		   share/doc/flightrec/examples/slow.c
DESTS		:= $(LIB_DESTS) bin/flightrec share/bash-completion/completions/flightrec \
		   share/zsh/site-functions/_flightrec share/fish/vendor_completions.d/flightrec.fish lib/systemd/system/flightrec.service lib/flightrec/kdump-hook \
		   $(foreach m,$(MAN),$(call man_dest,$(m)))
CONF		:= $(call shell_word,$(DESTDIR)$(SYSCONFDIR)/flightrec.conf)

# An existing configuration is kept, also by uninstall.
install: all lib
	install -D -m 755 $(O)/flightrec $(call dest,bin/flightrec)
	install -D -m 644 completion/flightrec.bash $(call dest,share/bash-completion/completions/flightrec)
	install -D -m 644 completion/flightrec.zsh $(call dest,share/zsh/site-functions/_flightrec)
	install -D -m 644 completion/flightrec.fish $(call dest,share/fish/vendor_completions.d/flightrec.fish)
	$(foreach m,$(MAN),install -D -m 644 $(m) $(call dest,$(call man_dest,$(m))) &&) true
	install -d $(call dest,lib/systemd/system)
	$(call sed_to,/usr/bin/flightrec,$(call unit_word,$(PREFIX)/bin/flightrec)) dist/flightrec.service | \
		$(call sed_to,/etc/flightrec.conf,$(call unit_word,$(SYSCONFDIR)/flightrec.conf)) > \
		$(call dest,lib/systemd/system/flightrec.service)
	install -D -m 755 dist/kdump-hook $(call dest,lib/flightrec/kdump-hook)
	$(call sed_to,=/usr/bin/flightrec,=$(call shell_word,$(PREFIX)/bin/flightrec)) dist/kdump-hook > \
		$(call dest,lib/flightrec/kdump-hook)
	install -D -m 644 user/lib/flightrec.h $(call dest,include/flightrec.h)
	install -D -m 644 user/lib/flightrec_mark.h $(call dest,include/flightrec_mark.h)
	install -D -m 755 $(O)/$(LIB_NAME) $(call dest,lib/$(LIB_NAME))
	ln -sf $(LIB_NAME) $(call dest,lib/libflightrec.so)
	install -D -m 644 $(O)/libflightrec.a $(call dest,lib/libflightrec.a)
	install -d $(call dest,lib/pkgconfig)
	$(call sed_to,@PREFIX@,$(PREFIX)) -e 's|@VERSION@|$(VERSION)|; s|@LIBS@|$(LIB_LIBS)|' dist/flightrec.pc.in > \
		$(call dest,lib/pkgconfig/flightrec.pc)
	install -D -m 644 docs/examples/slow.c $(call dest,share/doc/flightrec/examples/slow.c)
	[ -e $(CONF) ] || install -D -m 644 dist/flightrec.conf $(CONF)

uninstall:
	rm -f $(foreach d,$(DESTS),$(call dest,$(d)))
	@if cmp -s dist/flightrec.conf $(CONF); then rm -f $(CONF); elif [ -e $(CONF) ]; then echo kept: $(CONF); fi

clean:
	rm -rf $(O)
