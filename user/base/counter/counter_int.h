/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* counter_int: what counter.c and counter_parse.c share. */
#ifndef FR_COUNTER_INT_H
#define FR_COUNTER_INT_H

#include "base/counter/counter.h"
#include "base/counter/counters.h"

/* How a file's text is made up. */
enum fr_counter_form {
	FR_COUNTER_FORM_NONE,
	FR_COUNTER_FORM_KEYED,	/* "key 12", "key: 12 kB", a line each */
	FR_COUNTER_FORM_NUMBER, /* "12", "max", "-1" */
	FR_COUNTER_FORM_PSI,	/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12", "full ..." */
	FR_COUNTER_FORM_LOAD,	/* "0.52 0.48 0.30 2/345 6789" */
	FR_COUNTER_FORM_STAT,	/* "cpu  1 2 3 ...", then as KEYED */
	FR_COUNTER_FORM_PAIRS,	/* "TcpExt: A B", "TcpExt: 1 2" */
	FR_COUNTER_FORM_WORDS,	/* "TCP: inuse 5 orphan 0" */
	FR_COUNTER_FORM_DISKS,	/* "   8       0 sda 1 2 3 ..." */
	FR_COUNTER_FORM_QUOTA,	/* "max 100000", "50000 100000" */
};

enum fr_counter_form fr_counter_form(enum fr_counter_file file);

#endif
