/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* proof: a format with a line for each event. `tests/cli/run.sh` builds it into a copy. */
#include "show/export/export.h"

static int proof_row(struct fr_export *x, const struct fr_view *v, const struct fr_row *r)
{
	(void)v;
	fr_out_str(x->out, "proof ");
	fr_out_str(x->out, r->ev->name);
	fr_out_char(x->out, '\n');
	x->event_cnt++;
	return 0;
}

const struct fr_exporter fr_export_proof = {
	.name = "proof",
	.doc = "one name a line",
	.row = proof_row,
};
