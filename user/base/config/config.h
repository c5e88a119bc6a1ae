/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config: the configuration file of `flightrec record --config`, in the style of systemd units. Pure: text in, settings out.
 *
 *	[Section]
 *	# comment, also with ;
 *	Key=Value		a backslash at the end continues the line
 *	Key="Value"		quotes around all of it are removed; within them \" and \\ are " and \
 *	Key=			discards what was given before: back to the default
 *
 * A key that may be repeated adds to its values; of any other, the last value counts. Unknown sections and keys are errors that
 * name the nearest one. Values are checked as far as that needs nothing of the host but its architecture and its users' names:
 * a wrong trigger, event or expression gives a line number now, and not a surprise later.
 *
 * One table (FR_CONFIG_KEYS) is the parser, the example, and what the documentation is checked against.
 */
#ifndef FR_CONFIG_H
#define FR_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "alert.h"
#include "base/config/default.h"
#include "base/text/literal.h"
#include "base/text/redact.h"
#include "incident_layout.h"
#include "session.h"

#define FR_CONFIG_ITEM_MAX 64u

/* A value that may be given several times. */
struct fr_config_list {
	char *item[FR_CONFIG_ITEM_MAX];
	u32 line[FR_CONFIG_ITEM_MAX]; /* its line in the file, for messages */
	u32 cnt;
	bool is_emptied; /* "Key=", and nothing after it: none is meant */
};

/*
 * section, key, C type of the member, member, needs: R a new ring (restart), L reload is enough, default, option, description.
 * Types: text (char *), items (char *, with commas; an option adds to them), list (struct fr_config_list), size (u64 bytes),
 * duration (u64 ns), count (u32), percent (u32, 1/1000 %), flag (bool). Option of `record`: O(letter, name, its value, what
 * completion offers, what the manual says more), as struct fr_option has them; or NONE.
 */
/* clang-format off */
#define FR_CONFIG_KEYS(K) \
	K(Session, Name, text, name, R, FR_DEF_NAME, \
	  O('n', "name", "NAME", "@session", \
	    "Up to 63 letters, digits, `-` and `_`."), \
	  "name of the session") \
	K(Session, Profile, text, profile, R, "default", \
	  O('p', "profile", "NAME", "minimal default full", \
	    "`minimal` has scheduling, tasks and signals; `default` also long waits, interrupts, disks and CPU samples; `full` also " \
	    "softirqs, system calls and page faults: recording calls and faults costs a load that consists of them a fifth or more."), \
	  "what is recorded: minimal, default or full") \
	K(Session, Event, list, event, R, "", \
	  O('e', "event", "WHAT", "@choice", \
	    "`flightrec events` lists groups and events. `tp:SYSTEM:NAME` is a tracepoint of this kernel, and *, ? and [] stand for " \
	    "anything in it: `flightrec events 'tcp:*'` lists those. `tp:SYSTEM:NAME@1000/s` records it at most a thousand times a " \
	    "second, `tp:SYSTEM:NAME if CONDITION` where that holds, in the language of `-f` on its fields, and " \
	    "`tp:SYSTEM:NAME{FIELD,...}` has these of its fields alone. `uprobe:PATH:SYMBOL{arg1:u64, arg2:str}` is a function of a " \
	    "program or library that is called, `uretprobe:PATH:SYMBOL{ret:s32}` one that returned, with its duration, " \
	    "`usdt:PATH:PROVIDER:NAME{arg1, arg2:str}` a static mark; a rate and a condition stand behind them, too. `mark:PATH` has all " \
	    "marks of flightrec_mark.h in a file."), \
	  "add a group or an event to the profile; -WHAT removes it") \
	K(Session, Memory, size, memory_sz, R, FR_DEF_MEMORY, \
	  O('m', "memory", "SIZE", "8M 32M 128M", \
	    "This is all tiers, spare sub-buffers and control pages together. A ring has at most 449 sub-buffers of 1M at most, so " \
	    "some 512M is the most. The recorder prints how much memory it needs in addition, and does not start where the " \
	    "memory limits of its cgroups leave less."), \
	  "memory of the rings per online CPU") \
	K(Session, SubBuffer, size, subbuf_sz, R, FR_DEF_SUBBUF, \
	  O(0, "subbuf", "SIZE", NULL, \
	    "A multiple of 4K, up to 1M. The default is less where the ring would have fewer than 8 of them, or more where it " \
	    "would have too many."), \
	  "size of the main tier's sub-buffers") \
	K(Session, Tier, list, tier, R, "", O(0, "tier", "NAME=SIZE", "main= life= stack= wait= rare=", \
	    "Unless given, `life` and `stack` get a 16th each of the whole, `wait` a quarter if waits are recorded, `rare` a 32nd if rare " \
	    "tracepoints are, `main` the rest."), \
	  "a tier's memory per CPU, of main, life, stack, wait or rare") \
	K(Session, Clock, text, clock, R, "global", \
	  O(0, "clock", "MODE", "global local", \
	    "With `global`, timestamps of different CPUs never run backwards by more than the grain, a duration of less than 1ms; 0 " \
	    "is exact. Where the CPUs' clocks agree, they never run backwards at all, and the grain only decides what the " \
	    "clock costs. By default it is 25us per CPU, at least 50us and at most 500us. With `local`, each CPU has its own " \
	    "clock."), \
	  "how timestamps of different CPUs agree: global, global:GRAIN or local") \
	K(Session, SampleRate, count, sample_hz, R, FR_DEF_SAMPLE_RATE, \
	  O(0, "hz", "N", NULL, \
	    "From 1 to 10000."), \
	  "CPU samples a second and CPU") \
	K(Session, CpuProfile, flag, cpu_profile, R, "yes", O(0, "cpu-profile", "yes|no", "yes no", NULL), "count CPU samples for `flightrec profile`") \
	K(Session, WaitMin, duration, wait_min_ns, R, FR_DEF_WAIT_MIN, \
	  O(0, "wait-min", "T", "1ms 10ms", NULL), \
	  "of events wait: record waits of at least this long; 0: none") \
	K(Session, Thin, duration, thin_ns, R, "0", \
	  O(0, "thin", "T", "1m 5m", \
	    "While the rings' main tier would hold less, no cgroup writes more than a tenth of each CPU's ring in that time, and a tenth " \
	    "at once. System calls, page faults, signals and tracepoints beyond that are left out, counted, and told by an event " \
	    "`thinned`; calls are left out whole, switches never. From 100ms to 1d."), \
	  "tier main holds T: cgroups that flood it are thinned; 0: none") \
	K(Session, Pid, items, pid, R, "", \
	  O(0, "pid", "LIST", NULL, \
	    "With processes, names and cgroups given, a task is recorded if any of them selects it. A process that is not there " \
	    "when recording begins is warned of."), \
	  "record system calls and page faults of these processes only: numbers, separated by commas, at most " \
	  FR_LITERAL(FR_PID_FILTER_MAX)) \
	K(Session, Comm, items, comm, R, "", O(0, "comm", "LIST", NULL, NULL), \
	  "likewise of tasks with these names: NAME or PREFIX*; at most " FR_LITERAL(FR_COMM_FILTER_MAX)) \
	K(Session, Cgroup, items, cgroup, R, "", \
	  O(0, "cgroup", "LIST", NULL, \
	    "A cgroup that is removed and made again, as that of a service when it is restarted, is another one, of which nothing " \
	    "is recorded: give the slice that it is in, or restart the recorder, which begins anew then."), \
	  "likewise of these cgroups of v2 and all below them: paths, separated by commas, at most " FR_LITERAL(FR_CGROUP_FILTER_MAX)) \
	K(Session, Filter, text, filter, R, "", \
	  O('f', "filter", "EXPR", "@filter", \
	    "While recording, the expression may test the event's name, and `pid == N`, `comm == \"NAME\"` and `comm ~ \"PREFIX*\"`, " \
	    "joined by `||`; the two kinds are joined by `&&`. Anything else is refused, with the reason; `replay` takes the " \
	    "whole language. `task_rename` is always recorded for all tasks, because the names in all other events depend on " \
	    "it, and so are the recorder's own events, such as `trigger`."), \
	  "record only events that match this expression") \
	K(Session, Redact, items, redact, R, "", \
	  O(0, "redact", "LIST", NULL, \
	    "A key is secret if it contains one of the words, whatever the case, and without `-`, `_` and dots; a word of up to four " \
	    "letters must be its end. Always among them, unless `-WORD` takes one out: `" FR_REDACT_WORDS "`. The password in an " \
	    "address (`https://user:password@host`) goes, too. `no`: everything is kept as it is."), \
	  "words, separated by commas: of keys that have one, values in command lines and log lines do not go into snapshots") \
	K(Session, Incidents, count, incident_cnt, R, "1024", O(0, "incidents", "N", NULL, NULL), \
	  "number of records in the incident log, " FR_LITERAL(FR_INCIDENT_CNT_MIN) " to " FR_LITERAL(FR_INCIDENT_CNT_MAX) \
	  ", rounded up to a power of two") \
	K(Trigger, On, list, on, L, "", \
	  O(0, "on", "TRIGGER", "@trigger", \
	    "There are 32 at most: see TRIGGERS in flightrec(1)."), \
	  "take a snapshot on this: crash, exit:2, oom, hung>20s, psi:memory:20%, latency:wakeup>5ms, signal, ... (flightrec(1))") \
	K(Trigger, StormCount, count, storm_cnt, L, FR_DEF_STORM_COUNT, NONE, \
	  "at most this many snapshots of all triggers in StormTime, and one of each that had none; 0: no limit") \
	K(Trigger, StormTime, duration, storm_ns, L, FR_DEF_STORM_TIME, NONE, "the period in which StormCount applies") \
	K(Storage, Directory, text, dir, L, FR_DEF_DIR, \
	  O('o', "output", "DIR", "@dir", \
	    "The path may have at most 832 bytes."), \
	  "where snapshots go") \
	K(Storage, MaxFiles, count, max_files, L, "100", \
	  O(0, "max-files", "N", NULL, \
	    "`flightrec list --keep` marks one."), \
	  "keep at most this many snapshots; the oldest unmarked one is removed first; 0: no limit") \
	K(Storage, MaxBytes, size, max_sz, L, "4G", O(0, "max-size", "SIZE", NULL, NULL), "keep at most this many bytes of them; 0: no limit") \
	K(Storage, MaxAge, duration, max_age_ns, L, "30d", \
	  O(0, "max-age", "T", "30d 7d", NULL), \
	  "remove snapshots older than this; 0: no limit") \
	K(Storage, KeepFree, percent, keep_free, L, "5%", O(0, "keep-free", "N%", NULL, NULL), "leave this much of the file system free") \
	K(Storage, WriteTimeout, duration, write_timeout_ns, L, "2m", NONE, \
	  "a process that writes a snapshot and has not moved for this time, stopped or waiting for its disk, is ended") \
	K(Storage, MaxIncidents, size, incident_sz, L, FR_DEF_JOURNAL, O(0, "max-incidents", "SIZE", NULL, NULL), \
	  "size of the incidents' journal there, beyond which the oldest half is removed") \
	K(Notify, Exec, text, exec, L, "", \
	  O(0, "exec", "CMD", NULL, \
	    "It runs for at most 30 s, or ExecTimeout. A recorder that ends waits for it, for at most 20 s. The command sees " \
	    "FLIGHTREC_FILE, FLIGHTREC_REASON, FLIGHTREC_SESSION, FLIGHTREC_HOST, and where known FLIGHTREC_PID, FLIGHTREC_COMM, " \
	    "FLIGHTREC_SIGNAL, FLIGHTREC_EXE; the snapshot is open as its descriptor 3."), \
	  "run this command for each snapshot, with /bin/sh -c") \
	K(Notify, ExecUser, text, exec_user, L, "nobody", O(0, "exec-user", "USER", NULL, NULL), "the user it runs as") \
	K(Notify, ExecTimeout, duration, exec_timeout_ns, L, "30s", NONE, "end the command after this time") \
	K(Notify, Journal, flag, journal, L, "yes", NONE, "write a line to the journal or syslog for each snapshot") \
	K(Control, Socket, flag, socket, L, "yes", NONE, "listen on " FR_CTL_DIR "/NAME.sock") \
	K(Control, StatusGroup, text, status_group, L, "", NONE, "members of this group may ask for status and follow") \
	K(Control, DumpGroup, text, dump_group, L, "", NONE, "members of this group may take snapshots, too") \
	K(Control, DumpInterval, duration, dump_interval_ns, L, "10s", NONE, \
	  "the shortest time between two snapshots taken by them") \
	K(Governor, Budget, percent, budget, L, "0%", \
	  O(0, "budget", "N%", "5% 1%", \
	    "Groups of events are thinned or dropped while recording costs more."), \
	  "how much of each CPU recording may cost; 0%: no limit") \
	K(Governor, Interval, duration, governor_ns, L, "10s", NONE, "how often the cost is measured")
/* clang-format on */

#define FR_CONFIG_C_text     char *
#define FR_CONFIG_C_items    char *
#define FR_CONFIG_C_list     struct fr_config_list
#define FR_CONFIG_C_size     u64
#define FR_CONFIG_C_duration u64
#define FR_CONFIG_C_count    u32
#define FR_CONFIG_C_percent  u32
#define FR_CONFIG_C_flag     bool

struct fr_config {
#define K(section, key, type, member, needs, def, option, doc) FR_CONFIG_C_##type member;
	FR_CONFIG_KEYS(K)
#undef K
};

/* Keys are known by their place in the table. */
enum fr_config_key_nr {
#define K(section, key, type, member, needs, def, option, doc) FR_CONFIG_KEY_##member,
	FR_CONFIG_KEYS(K)
#undef K
		FR_CONFIG_KEY_CNT,
};

struct fr_config_error {
	u32 line; /* 0: not about a line */
	char text[200];
};

/* Set all defaults. Returns 0 or -ENOMEM; end with fr_config_free(). */
int fr_config_init(struct fr_config *c);
void fr_config_free(struct fr_config *c);

/* Parse sz bytes of text over c. Returns 0, -EINVAL and *error (then free c and do not use it), or -ENOMEM. */
int fr_config_parse(struct fr_config *c, const char *text, size_t sz, struct fr_config_error *error);

/* The option of `record` that sets a key. */
struct fr_config_option {
	char letter;	  /* 0: none */
	const char *name; /* without "--"; NULL: there is no such option */
	const char *arg;  /* what its value is called */
	const char *words, *more;
};

/* A key of the table; NULL after the last. */
struct fr_config_key {
	const char *section, *key, *def, *doc;
	const char *type; /* "text", "list", ... */
	bool new_ring;	  /* a change needs a new ring */
	struct fr_config_option option;
};
const struct fr_config_key *fr_config_key(u32 i);

/* The option as messages and settings call it, "-m" or "--hz". */
#define FR_CONFIG_CALLED_SZ 32u
const char *fr_config_called(u32 i, char buf[FR_CONFIG_CALLED_SZ]);

/*
 * Set what key i's option says: as the last line of a file, but items and lists get longer, a directory may be relative, and
 * what can point at a place of the text (Filter, On) is checked by who uses it. An empty value is the default again, but no
 * value of a list or of [Session]. 0; -EINVAL and *error; -ENOMEM.
 */
int fr_config_set_option(struct fr_config *c, u32 i, const char *value, struct fr_config_error *error);

/*
 * Put the key's value, as its option would be typed: " -m 16M", a list's with an option each. What means the same makes the
 * same text, in whatever unit or order it was given; of a list of events, the order counts. 0 or -ENOMEM.
 */
int fr_config_put_option(FILE *f, const struct fr_config *c, u32 i);

/* Puts the keys ("Session.Memory") that differ and need a new ring into buf, comma-separated. Returns how many. */
u32 fr_config_new_ring(const struct fr_config *old, const struct fr_config *now, char *buf, size_t sz);

#endif
