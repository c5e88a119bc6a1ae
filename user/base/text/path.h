/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* path: texts that name files. */
#ifndef FR_PATH_H
#define FR_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* DIR/NAME without "." and ".."; DIR is "" for the root. False: it does not fit. */
bool fr_path_join(char *to, size_t sz, const char *dir, const char *name);

#endif
