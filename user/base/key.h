/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* key: what a keyboard sends: characters as code points, and the following after them. */
#ifndef FR_KEY_H
#define FR_KEY_H

enum fr_key {
	FR_KEY_NONE = 0,
	FR_KEY_TAB = '\t',
	FR_KEY_ENTER = '\n',
	FR_KEY_ESC = 27,
	FR_KEY_BACK = 127,
	FR_KEY_UP = 0x110000, /* above all of Unicode */
	FR_KEY_DOWN,
	FR_KEY_LEFT,
	FR_KEY_RIGHT,
	FR_KEY_PAGE_UP,
	FR_KEY_PAGE_DOWN,
	FR_KEY_HOME,
	FR_KEY_END,
	FR_KEY_BACKTAB,
	FR_KEY_SHIFT_LEFT,
	FR_KEY_SHIFT_RIGHT,
	FR_KEY_MOUSE, /* a click */
	FR_KEY_WHEEL_UP,
	FR_KEY_WHEEL_DOWN,
	FR_KEY_RESIZE, /* the screen changed its size */
	FR_KEY_QUIT,   /* a signal asks for the end, or the terminal is gone */
};

#endif
