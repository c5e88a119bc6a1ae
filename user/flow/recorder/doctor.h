/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* doctor: what this host offers a recorder, what is missing, what to do. By asking, not by guessing from versions. */
#ifndef FR_DOCTOR_H
#define FR_DOCTOR_H

#include "pure/text/out.h"

/* Print all findings. True: a session can be recorded here. */
bool fr_doctor(struct fr_out *o, bool json);

#endif
