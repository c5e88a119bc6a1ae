/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzz target of all commands that read snapshots, in one process. A mutation changes the content of a chunk as behind zstd, or
 * the header of a chunk of events; then all is compressed and hashed anew (decoded.h). Whatever the file is, no command may
 * crash, and its exit status is a documented one. And if `verify` says OK, all of them succeed: a cut and a merge of all of it
 * are OK, too, and these, `replay --count` and the exports that have a line an event all have as many events.
 *
 * FR_ONE=1: of a file that is not OK, one command reads it instead of all.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "fuzz/decoded.h"

#define ARG_MAX_CNT 16
#define MADE_MAX_SZ (1u << 20)

int LLVMFuzzerTestOneInput(const u8 *data, size_t sz);
size_t LLVMFuzzerMutate(u8 *data, size_t sz, size_t max_sz);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t sz, size_t max_sz, unsigned seed);

/* ---- files made: @ is the file that is read, % a new one that a command makes, DIR where both are ---- */

static char dir[64], input[128], made[128];
static int out_fd = -1;	  /* standard output */
static const char *doing; /* for the last words */
static unsigned long long run_cnt, sound_cnt, file_cnt;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void remove_made(void)
{
	nftw(made, remove_one, 4, FTW_DEPTH | FTW_PHYS);
}

/* At the end, with what was done. */
static void remove_all(void)
{
	nftw(dir, remove_one, 4, FTW_DEPTH | FTW_PHYS);
	dprintf(2, "%llu files, of which verify says OK to %llu; %llu commands\n", file_cnt, sound_cnt, run_cnt);
}

static void begin(void)
{
	snprintf(dir, sizeof(dir), "/dev/shm/fr-fuzz-commands-%d", getpid());
	snprintf(input, sizeof(input), "%s/in.flight", dir);
	snprintf(made, sizeof(made), "%s/made.flight", dir);
	if (mkdir(dir, 0700))
		abort();
	atexit(remove_all);
	out_fd = memfd_create("out", 0);
	if (out_fd < 0 || dup2(out_fd, STDOUT_FILENO) < 0)
		abort();
	stderr = fopen("/dev/null", "w"); /* descriptor 2 is the sanitizers' */
	signal(SIGPIPE, SIG_IGN);
	setenv("TERM", "xterm", 1);
}

static void save(const u8 *data, size_t sz)
{
	int fd = open(input, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, sz) != (ssize_t)sz || close(fd))
		abort();
}

/* ---- commands ---- */

struct command {
	const char *line; /* after "flightrec " */
	int (*run)(int argc, char **argv);
	enum {
		STATUS,
		EVENTS,
		HEADED,
		MAKES
	} gives;		     /* EVENTS: a line an event; HEADED: and one before them; MAKES: % with all events */
	bool needs_events, may_fail; /* of a sound file: there may be nothing to tell */
};

static const struct command commands[] = {
	{"replay --json --symfs DIR --jobs 1 @", fr_cmd_replay, EVENTS, false, false},
	{"replay --symfs DIR --pairs --pos --jobs 1 @", fr_cmd_replay, EVENTS, false, false},
	{"replay --tier all --no-symbols --gaps --jobs 1 @", fr_cmd_replay, STATUS, false, false},
	{"replay --json --no-symbols --pairs --gaps -f latency>1us||queued>1us||cgroup~\"/*\" --jobs 1 @", fr_cmd_replay,
	 STATUS, false, false},
	{"replay --on crash --on latency:offcpu>1us --on latency:syscall>1us --on oom --on hung>1s @", fr_cmd_replay, STATUS,
	 false, true},
	{"report --symfs DIR --jobs 1 @", fr_cmd_report, STATUS, false, false},
	{"report --json --no-symbols --jobs 1 @", fr_cmd_report, STATUS, false, false},
	{"stat --jobs 1 @", fr_cmd_stat, STATUS, false, false},
	{"stat --jobs 1 --by time:1ms,comm,program,cgroup,container,call,object,dev "
	 "count(),sum(latency),p99(blocked),distinct(comm),last(comm),rate() @ @",
	 fr_cmd_stat, STATUS, false, false},
	{"stat --json --jobs 1 --by event,file,host count(latency),min(ts),avg(ret),p1(ret),first(ret),rate(oncpu) @",
	 fr_cmd_stat, STATUS, false, false},
	{"stat --csv --jobs 1 --by event,ret -f !(cpu==1) @", fr_cmd_stat, STATUS, false, false},
	{"top --once --size 100x40 --no-symbols --keys \t\t1234567890++]..ot @", fr_cmd_top, STATUS, false, false},
	{"view --no-symbols -o % @", fr_cmd_view, STATUS, false, false},
	{"diff --json @ @", fr_cmd_diff, STATUS, false, false},
	{"diff @ @", fr_cmd_diff, STATUS, false, false},
	{"cut -o % @", fr_cmd_cut, MAKES, true, false},
	{"cut --redact -o % @", fr_cmd_cut, MAKES, true, false},
	{"cut --window 10%..60% --cpu 0-3 -o % @", fr_cmd_cut, STATUS, true, true},
	{"merge -o % @", fr_cmd_merge, MAKES, false, false},
	{"merge -o % @ @", fr_cmd_merge, STATUS, false, true},
	{"info @", fr_cmd_info, STATUS, false, false},
	{"info --json @", fr_cmd_info, STATUS, false, false},
	{"list --json -o DIR", fr_cmd_list, STATUS, false, true},
	{"incidents @", fr_cmd_incidents, STATUS, false, false},
	{"incidents --json @", fr_cmd_incidents, STATUS, false, false},
	{"profile --no-symbols @", fr_cmd_profile, STATUS, false, true},
	{"profile --json --no-symbols --since 1h @", fr_cmd_profile, STATUS, false, true},
	{"profile --no-symbols --diff @", fr_cmd_profile, STATUS, false, true},
	{"symbols --symfs DIR @", fr_cmd_symbols, STATUS, false, true},
	{"export --to perfetto --no-symbols -o % --jobs 1 @", fr_cmd_export, STATUS, false, false},
	{"export --to ctf -o % --jobs 1 @", fr_cmd_export, STATUS, false, false},
	{"export --to trace-cmd --no-symbols -o % --jobs 1 @", fr_cmd_export, STATUS, false, false},
	{"export --to folded --symfs DIR --jobs 1 @", fr_cmd_export, STATUS, false, false},
	{"export --to folded --off-cpu --no-symbols --jobs 1 @", fr_cmd_export, STATUS, false, false},
	{"export --to perf-script --symfs DIR --jobs 1 @", fr_cmd_export, STATUS, false, false},
	{"export --to json --jobs 1 @", fr_cmd_export, EVENTS, false, false},
	{"export --to csv --jobs 1 @", fr_cmd_export, HEADED, false, false},
	{"export --to html --no-symbols -o % --jobs 1 @", fr_cmd_export, STATUS, false, false},
};

#define COMMAND_CNT (sizeof(commands) / sizeof(*commands))

/* Run a command; its exit status. What it prints is in out_fd. */
static int run(const char *line, int (*fn)(int argc, char **argv))
{
	char text[512], *argv[ARG_MAX_CNT] = {}, *word, *save_at = NULL;
	int argc = 0, status;

	doing = line;
	run_cnt++;
	snprintf(text, sizeof(text), "%s", line);
	for (word = strtok_r(text, " ", &save_at); word && argc < ARG_MAX_CNT - 1; word = strtok_r(NULL, " ", &save_at))
		argv[argc++] = !strcmp(word, "@") ? input : !strcmp(word, "%") ? made : !strcmp(word, "DIR") ? dir : word;
	if (fn != fr_cmd_verify)
		remove_made();
	if (ftruncate(out_fd, 0) || lseek(out_fd, 0, SEEK_SET) || lseek(STDOUT_FILENO, 0, SEEK_SET))
		abort();
	optind = 0;
	errno = 0;
	status = fn(argc, argv);
	fflush(stdout);
	clearerr(stdout);
	return status;
}

/* What the last command printed: its size; *text is to be unmapped. */
static size_t printed(char **text)
{
	struct stat st;

	if (fstat(out_fd, &st) || !st.st_size)
		return 0;
	*text = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, out_fd, 0);
	if (*text == MAP_FAILED)
		abort();
	return st.st_size;
}

static unsigned long long lines_printed(void)
{
	unsigned long long cnt = 0;
	char *text, *at;
	size_t sz = printed(&text);

	for (at = text; sz && (at = memchr(at, '\n', text + sz - at)); at++)
		cnt++;
	if (sz)
		munmap(text, sz);
	return cnt;
}

static void __attribute__((noreturn)) broken(const char *what, unsigned long long got, unsigned long long want)
{
	dprintf(2, "ERROR: flightrec %s: %s %llu, not %llu\n", doing, what, got, want);
	abort();
}

/* Does verify say OK to a file of one snapshot? Then *cnt: how many events it counts. */
static bool is_sound(const char *line, unsigned long long *cnt)
{
	int status = run(line, fr_cmd_verify);
	char head[512] = "", *at;
	bool ok;

	if (status != FR_EXIT_OK && status != FR_EXIT_CORRUPT)
		broken("exit status", status, FR_EXIT_CORRUPT);
	if (pread(out_fd, head, sizeof(head) - 1, 0) < 0)
		abort();
	at = strstr(head, ": OK, ");
	ok = at && lines_printed() == 1 && sscanf(at, ": OK, %llu event", cnt) == 1;
	if (lines_printed() == 1 && ok != (status == FR_EXIT_OK))
		broken("exit status", status, ok ? FR_EXIT_OK : FR_EXIT_CORRUPT);
	return ok;
}

static void try_sound(const struct command *c, unsigned long long cnt)
{
	unsigned long long got = cnt;
	int status;

	if (c->needs_events && !cnt)
		return;
	status = run(c->line, c->run);
	if (status != FR_EXIT_OK && !(c->may_fail && status == FR_EXIT_FAIL))
		broken("verify says OK; exit status", status, FR_EXIT_OK);
	if (c->gives == EVENTS || c->gives == HEADED)
		got = lines_printed() - (c->gives == HEADED);
	if (got != cnt)
		broken("verify says OK; events", got, cnt);
	if (c->gives != MAKES)
		return;
	if (!is_sound("verify %", &got))
		broken("verify says OK, and not of what was made; events", 0, cnt);
	doing = c->line;
	if (got != cnt)
		broken("verify says OK; events of what was made", got, cnt);
}

static void try_hurt(const struct command *c)
{
	int status = run(c->line, c->run);

	if (status != FR_EXIT_OK && status != FR_EXIT_FAIL && status != FR_EXIT_CORRUPT)
		broken("exit status", status, FR_EXIT_CORRUPT);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t sz)
{
	const bool one = getenv("FR_ONE");
	u32 nr = XXH64(data, sz, 0) % COMMAND_CNT, i;
	unsigned long long cnt = 0, counted;
	char head[32] = "";
	bool sound;

	if (out_fd < 0)
		begin();
	save(data, sz);
	sound = is_sound("verify @", &cnt);
	file_cnt++;
	sound_cnt += sound;
	if (sound) {
		if (run("replay --count --jobs 1 @", fr_cmd_replay) != FR_EXIT_OK ||
		    pread(out_fd, head, sizeof(head) - 1, 0) < 0)
			broken("verify says OK; exit status", 1, 0);
		counted = strtoull(head, NULL, 10);
		if (counted != cnt)
			broken("verify says OK; events", counted, cnt);
	}
	for (i = 0; i < COMMAND_CNT; i++) {
		if (sound)
			try_sound(&commands[i], cnt);
		else if (!one || i == nr)
			try_hurt(&commands[i]);
	}
	return 0;
}

/* ---- mutations ---- */

static void mutate_chunk(struct decoded_chunk *c, unsigned seed)
{
	size_t room = c->sz + 512;

	if (c->head.kind == FR_CHUNK_EVENTS && seed % 3 == 0) {
		c->extra_sz = LLVMFuzzerMutate(c->extra, c->extra_sz, c->extra_sz);
		return;
	}
	c->content = realloc(c->content, room);
	if (!c->content)
		abort();
	c->sz = LLVMFuzzerMutate(c->content, c->sz, room);
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t sz, size_t max_sz, unsigned seed)
{
	static u8 whole[MADE_MAX_SZ];
	struct decoded d;
	size_t n = 0;

	if (decoded_read(&d, data, sz)) {
		mutate_chunk(&d.chunk[seed % d.cnt], seed / d.cnt);
		n = decoded_write(&d, whole, sizeof(whole));
	}
	decoded_free(&d);
	if (!n || n > max_sz)
		return sz;
	memcpy(data, whole, n);
	return n;
}
