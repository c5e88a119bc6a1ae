/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doctor: checks what this host offers a recorder, what is missing, and what to do. It probes instead of guessing from
 * versions.
 */
#ifndef FR_DOCTOR_H
#define FR_DOCTOR_H

#include "base/show/table.h"

/* Print all findings. True: this host can record a session. */
bool fr_doctor(struct fr_out *o, bool json);

extern const struct fr_table fr_doctor_kind; /* its JSON */

#endif
