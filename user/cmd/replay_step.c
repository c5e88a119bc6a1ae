/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * replay_step: keys come one by one, without Enter and without echo, so the terminal's mode is changed. It is restored however
 * the program ends: signals that would end it are blocked and read beside the keys.
 */
#include "cmd/replay_step.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/err.h"

#define CNT_MAX	   1000000u
#define KEY_CTRL_C 3
#define KEY_CTRL_D 4

enum mode {
	COUNTS, /* show `left` more events, then ask */
	SEEKS,	/* skip events until one matches */
	GOES	/* show what matches without asking */
};

struct fr_step {
	struct termios was;
	sigset_t old_mask;
	int signals; /* descriptor */
	int signal;
	bool is_raw;
	enum mode mode;
	u32 cnt;   /* events with each key */
	u32 left;  /* to be shown before the next key */
	u32 typed; /* a number being typed */
};

static const char keys[] = "Enter, space: next   n: next that matches -f   NUMBER Enter: so many   c: all the rest   q: quit\n";

int fr_step_parse(const char *text, u32 *cnt)
{
	char *end = NULL;
	unsigned long v = text ? strtoul(text, &end, 10) : 1;

	if (text && (strspn(text, "0123456789") != strlen(text) || !*text || !v || v > CNT_MAX)) {
		fr_err("--step: '%s' is not a number: give --step, or --step=10", text);
		return -EINVAL;
	}
	*cnt = v;
	return 0;
}

/* ---- the terminal ---- */

static int step_block_signals(struct fr_step *s)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGQUIT);
	if (sigprocmask(SIG_BLOCK, &mask, &s->old_mask))
		return -errno;
	s->signals = signalfd(-1, &mask, SFD_CLOEXEC);
	return s->signals < 0 ? -errno : 0;
}

static int make_raw(struct fr_step *s)
{
	struct termios t = s->was;

	t.c_lflag &= ~(ICANON | ECHO);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	t.c_cc[VSUSP] = _POSIX_VDISABLE; /* a shell would get the terminal in this mode */
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &t))
		return -errno;
	s->is_raw = true;
	return 0;
}

/* Restore the terminal and the signals. */
static void step_restore(struct fr_step *s)
{
	if (!s->is_raw)
		return;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &s->was);
	sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
	s->is_raw = false;
}

int fr_step_new(u32 cnt, struct fr_step **out)
{
	struct fr_step *s;
	int err;

	if (!isatty(STDIN_FILENO)) {
		fr_err("--step: keys come from standard input, which is no terminal: use -f and --count, or --speed");
		return -ENOTTY;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->cnt = s->left = cnt;
	s->signals = -1;
	err = tcgetattr(STDIN_FILENO, &s->was) ? -errno : 0;
	err = err ?: step_block_signals(s);
	err = err ?: make_raw(s);
	if (err) {
		fr_err_errno(err, "--step: the terminal cannot be read key by key");
		fr_step_free(s);
		return err;
	}
	fputs(keys, stderr);
	*out = s;
	return 0;
}

void fr_step_free(struct fr_step *s)
{
	if (!s)
		return;
	step_restore(s);
	if (s->signals >= 0)
		close(s->signals);
	free(s);
}

int fr_step_signal(const struct fr_step *s)
{
	return s->signal;
}

/* ---- keys ---- */

/* The next key; -1: no more, or a signal came. */
static int step_read_key(struct fr_step *s)
{
	struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = s->signals, .events = POLLIN}};
	struct signalfd_siginfo si;
	unsigned char c;

	while (poll(p, 2, -1) < 0)
		if (errno != EINTR)
			return -1;
	if (p[1].revents) {
		s->signal = read(s->signals, &si, sizeof(si)) == sizeof(si) ? (int)si.ssi_signo : SIGTERM;
		return -1;
	}
	return read(STDIN_FILENO, &c, 1) == 1 ? c : -1;
}

static void type_digit(struct fr_step *s, int digit)
{
	s->typed = s->typed * 10 + digit;
	if (s->typed > CNT_MAX)
		s->typed = CNT_MAX;
}

/* Wait for a valid key. False: the end. */
static bool step_ask(struct fr_step *s)
{
	int key;

	for (s->typed = 0;;) {
		key = step_read_key(s);
		switch (key) {
		case -1:
		case 'q':
		case KEY_CTRL_C:
		case KEY_CTRL_D:
			return false;
		case 'c':
			s->mode = GOES;
			step_restore(s);
			return true;
		case 'n':
			s->mode = SEEKS;
			return true;
		case ' ':
		case '\n':
		case '\r':
			s->mode = COUNTS;
			s->left = s->typed ?: s->cnt;
			return true;
		default:
			if (key >= '0' && key <= '9')
				type_digit(s, key - '0');
			else
				fputs(keys, stderr);
		}
	}
}

enum fr_step_do fr_step_next(struct fr_step *s, struct flightrec_printer *p, bool matches)
{
	if (s->mode == COUNTS && !s->left) {
		if (flightrec_printer_flush(p) || !step_ask(s))
			return FR_STEP_QUIT;
	}
	if (s->mode == COUNTS) {
		s->left--;
		return FR_STEP_SHOW;
	}
	if (!matches)
		return FR_STEP_SKIP;
	if (s->mode == SEEKS) {
		s->mode = COUNTS;
		s->left = 0;
	}
	return FR_STEP_SHOW;
}
