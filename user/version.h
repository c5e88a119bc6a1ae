/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* version: of the program, as snapshots name their writer. */
#ifndef FR_VERSION_H
#define FR_VERSION_H

#define FR_VERSION "0.1.0"

#endif
