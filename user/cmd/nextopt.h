/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* nextopt: a command's options, one after the other; wrong ones are reported with what helps. */
#ifndef FR_CMD_NEXTOPT_H
#define FR_CMD_NEXTOPT_H

#include <getopt.h>

/*
 * As getopt_long(3), but '?' is reported in our words: argv[0] is the command whose --help is named. -o, which names a file or
 * a directory in all commands, is refused with an empty name.
 */
int fr_next_option(int argc, char **argv, const char *shorts, const struct option *longs);

/* Keep what -f has. Of two, which conditions count nobody could see: -EINVAL, and reported. */
int fr_take_filter(const char **filter, const char *arg);

#endif
