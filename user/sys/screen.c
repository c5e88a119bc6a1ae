/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define NCURSES_WIDECHAR 1
#include "sys/screen.h"

#include <errno.h>
#include <langinfo.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <term.h>
#include <unistd.h>

#include "base/text/out.h"

#define ESC_MS	   25  /* time for the rest of a key's sequence to arrive */
#define COLORS_MAX 257 /* and the default background */
#define CTRL_L	   12
/* Releases too: ncurses reports only the release when it follows its press at once */
#define CLICKS (BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON1_CLICKED)

struct fr_screen {
	SCREEN *screen;
	int signals; /* signalfd */
	sigset_t was;
	int ended_by;
	bool color, light, utf8;
	u32 x, y;			    /* of the mouse */
	short pair[COLORS_MAX][COLORS_MAX]; /* 0: none yet */
	short pair_cnt;
};

/* ---- colours ---- */

struct paint {
	short dark, light, few; /* of 256 on a dark or light background; of 8. -1: the terminal's own */
	attr_t attr;		/* in addition */
};

static const struct paint paints[FR_INK_CNT] = {
	[FR_INK_NONE] = {-1, -1, -1, 0},
	[FR_INK_DIM] = {244, 243, -1, 0},
	[FR_INK_BOLD] = {-1, -1, -1, A_BOLD},
	[FR_INK_TITLE] = {-1, -1, -1, 0},
	[FR_INK_RUN] = {41, 28, COLOR_GREEN, 0},
	[FR_INK_WAIT] = {220, 136, COLOR_YELLOW, 0},
	[FR_INK_SLEEP] = {240, 249, -1, 0},
	[FR_INK_BLOCK] = {203, 160, COLOR_RED, 0},
	[FR_INK_STOP] = {170, 127, COLOR_MAGENTA, 0},
	[FR_INK_CALL] = {75, 25, COLOR_CYAN, 0},
	[FR_INK_IRQ] = {208, 166, COLOR_MAGENTA, 0},
	[FR_INK_SOFTIRQ] = {179, 94, COLOR_YELLOW, 0},
	[FR_INK_TRIGGER] = {197, 160, COLOR_RED, A_BOLD},
	[FR_INK_LOST] = {203, 160, COLOR_RED, 0},
	[FR_INK_HIT] = {213, 163, COLOR_MAGENTA, A_BOLD},
	[FR_INK_KEY] = {81, 31, COLOR_CYAN, A_BOLD},
	[FR_INK_NAME] = {117, 25, COLOR_CYAN, 0},
	[FR_INK_DARK] = {16, 231, COLOR_BLACK, 0},
	[FR_INK_TASK] = {74, 67, COLOR_CYAN, 0},
	[FR_INK_TASK + 1] = {108, 65, COLOR_GREEN, 0},
	[FR_INK_TASK + 2] = {179, 136, COLOR_YELLOW, 0},
	[FR_INK_TASK + 3] = {139, 97, COLOR_MAGENTA, 0},
	[FR_INK_TASK + 4] = {173, 131, COLOR_CYAN, 0},
	[FR_INK_TASK + 5] = {110, 61, COLOR_GREEN, 0},
	[FR_INK_TASK + 6] = {143, 100, COLOR_YELLOW, 0},
	[FR_INK_TASK + 7] = {175, 132, COLOR_MAGENTA, 0},
};

static short color_of(enum fr_ink ink, bool light)
{
	const struct paint *p = &paints[ink];

	return COLORS < 256 ? p->few : light ? p->light : p->dark;
}

/* Terminals have few color pairs: allocate only those in use. 0, the terminal's own, when there is no more room. */
static short pair_of(struct fr_screen *s, short fore, short back)
{
	short *pair = &s->pair[fore + 1][back + 1];

	if (*pair || (fore < 0 && back < 0))
		return *pair;
	if (s->pair_cnt + 1 >= COLOR_PAIRS || s->pair_cnt == 32766 || init_pair(s->pair_cnt + 1, fore, back) == ERR)
		return 0;
	return *pair = ++s->pair_cnt;
}

static attr_t attr_of(const struct fr_screen *s, const struct fr_cell *c)
{
	attr_t attr = paints[c->ink].attr;

	if (c->flags & FR_CELL_REVERSE)
		attr |= A_REVERSE;
	if (!s->color && (c->ink == FR_INK_KEY || c->ink == FR_INK_HIT))
		attr &= ~A_BOLD;
	return attr;
}

/* ---- showing ---- */

static void show_cell(struct fr_screen *s, const struct fr_cell *c, u32 x, u32 y, bool light)
{
	wchar_t text[2] = {(wchar_t)c->ch, 0};
	short pair = 0;
	cchar_t cell;

	if (c->ch >= 0x80 && !s->utf8)
		text[0] = '?';
	if (s->color)
		pair = pair_of(s, color_of(c->ink, light), c->ground ? color_of(c->ground, light) : -1);
	if (setcchar(&cell, text, attr_of(s, c), pair, NULL) == OK)
		mvadd_wch((int)y, (int)x, &cell);
}

void fr_screen_show(struct fr_screen *s, const struct fr_grid *g, bool light)
{
	u32 x, y;

	erase();
	for (y = 0; y < g->height && y < (u32)LINES; y++) {
		for (x = 0; x < g->width && x < (u32)COLS; x++) {
			const struct fr_cell *c = fr_grid_at(g, x, y);

			if (!s->utf8 || !(c->flags & FR_CELL_RIGHT))
				show_cell(s, c, x, y, light);
		}
	}
	refresh();
}

void fr_screen_size(const struct fr_screen *s, u32 *width, u32 *height)
{
	(void)s;
	*width = (u32)COLS;
	*height = (u32)LINES;
}

bool fr_screen_has_color(const struct fr_screen *s)
{
	return s->color;
}

bool fr_screen_is_light(const struct fr_screen *s)
{
	return s->light;
}

/* ---- keys ---- */

static int mouse_key(struct fr_screen *s)
{
	MEVENT e;

	if (getmouse(&e) == ERR)
		return FR_KEY_NONE;
	s->x = e.x < 0 ? 0 : (u32)e.x;
	s->y = e.y < 0 ? 0 : (u32)e.y;
	if (e.bstate & BUTTON4_PRESSED)
		return FR_KEY_WHEEL_UP;
	if (e.bstate & BUTTON5_PRESSED)
		return FR_KEY_WHEEL_DOWN;
	return e.bstate & CLICKS ? FR_KEY_MOUSE : FR_KEY_NONE;
}

static int function_key(struct fr_screen *s, wint_t key)
{
	static const struct {
		wint_t curses;
		int key;
	} keys[] = {
		{KEY_UP, FR_KEY_UP},
		{KEY_DOWN, FR_KEY_DOWN},
		{KEY_LEFT, FR_KEY_LEFT},
		{KEY_RIGHT, FR_KEY_RIGHT},
		{KEY_PPAGE, FR_KEY_PAGE_UP},
		{KEY_NPAGE, FR_KEY_PAGE_DOWN},
		{KEY_HOME, FR_KEY_HOME},
		{KEY_END, FR_KEY_END},
		{KEY_BTAB, FR_KEY_BACKTAB},
		{KEY_SLEFT, FR_KEY_SHIFT_LEFT},
		{KEY_SRIGHT, FR_KEY_SHIFT_RIGHT},
		{KEY_ENTER, FR_KEY_ENTER},
		{KEY_BACKSPACE, FR_KEY_BACK},
		{KEY_RESIZE, FR_KEY_RESIZE},
	};
	size_t i;

	if (key == KEY_MOUSE)
		return mouse_key(s);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].curses == key)
			return keys[i].key;
	return FR_KEY_NONE;
}

static int screen_read_key(struct fr_screen *s)
{
	wint_t key;
	int got = get_wch(&key);

	if (got == KEY_CODE_YES)
		return function_key(s, key);
	if (got == ERR)
		return FR_KEY_NONE;
	if (key == CTRL_L) {
		clearok(curscr, TRUE);
		return FR_KEY_RESIZE;
	}
	return key == '\r' ? FR_KEY_ENTER : key == 8 ? FR_KEY_BACK : (int)key;
}

static int read_signal(struct fr_screen *s)
{
	struct signalfd_siginfo info;
	struct winsize size;

	if (read(s->signals, &info, sizeof(info)) != sizeof(info))
		return FR_KEY_NONE;
	if (info.ssi_signo != SIGWINCH) {
		s->ended_by = (int)info.ssi_signo;
		return FR_KEY_QUIT;
	}
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
	return FR_KEY_RESIZE;
}

int fr_screen_key(struct fr_screen *s, int timeout_ms, int also)
{
	struct pollfd fds[] = {
		{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = s->signals, .events = POLLIN}, {.fd = also, .events = POLLIN}};
	int key = fds[0].revents ? FR_KEY_NONE : screen_read_key(s); /* keys that ncurses has already read */

	if (key != FR_KEY_NONE)
		return key;
	if (poll(fds, sizeof(fds) / sizeof(fds[0]), timeout_ms) <= 0)
		return FR_KEY_NONE;
	if (fds[1].revents)
		return read_signal(s);
	if (fds[0].revents & POLLIN)
		key = screen_read_key(s);
	if (key == FR_KEY_NONE && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		return FR_KEY_QUIT;
	return key;
}

void fr_screen_point(const struct fr_screen *s, u32 *x, u32 *y)
{
	*x = s->x;
	*y = s->y;
}

/* ---- life ---- */

/* The terminal must be able to move the cursor and clear the screen. */
static int check_terminal(void)
{
	int found;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return -ENOTTY;
	if (!getenv("TERM") || !*getenv("TERM") || setupterm(NULL, STDOUT_FILENO, &found) == ERR)
		return -ENOENT;
	if (!cursor_address || !clear_screen || hard_copy)
		return -ENODEV;
	return 0;
}

static int take_signals(struct fr_screen *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGWINCH);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return -errno;
	sigprocmask(SIG_BLOCK, &set, &s->was);
	return 0;
}

/* COLORFGBG is "text;background": 7 and 15 are light. */
static bool says_light(void)
{
	const char *said = getenv("COLORFGBG"), *ground = said ? strrchr(said, ';') : NULL;

	return ground && (!strcmp(ground, ";7") || !strcmp(ground, ";15"));
}

static void screen_set_up(struct fr_screen *s, bool mouse)
{
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESC_MS);
	curs_set(0);
	leaveok(stdscr, TRUE);
	s->color = has_colors() && !fr_no_color() && start_color() == OK && COLORS >= 8;
	if (s->color)
		use_default_colors();
	s->light = says_light();
	s->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (mouse) {
		mousemask(CLICKS | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
		mouseinterval(0);
	}
}

int fr_screen_open(bool mouse, struct fr_screen **out)
{
	struct fr_screen *s;
	int err = check_terminal();

	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	err = take_signals(s);
	if (!err) {
		s->screen = newterm(NULL, stdout, stdin);
		err = s->screen ? 0 : -ENOENT;
	}
	if (err) {
		fr_screen_close(s);
		return err;
	}
	screen_set_up(s, mouse);
	*out = s;
	return 0;
}

int fr_screen_close(struct fr_screen *s)
{
	int ended_by;

	if (!s)
		return 0;
	if (s->screen) {
		endwin();
		delscreen(s->screen);
		signal(SIGINT, SIG_DFL); /* the handler of ncurses would exit */
		signal(SIGTERM, SIG_DFL);
	}
	if (s->signals > 0) {
		close(s->signals);
		sigprocmask(SIG_SETMASK, &s->was, NULL);
	}
	ended_by = s->ended_by;
	free(s);
	return ended_by;
}
