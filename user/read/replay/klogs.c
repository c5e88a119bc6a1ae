/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/replay/klogs.h"

#include <errno.h>
#include <stdlib.h>

#include "read/replay/replay_int.h"

static int klogs_by_key(const void *a, const void *b)
{
	const struct fr_klogs_item *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->line->seq < y->line->seq ? -1 : x->line->seq > y->line->seq;
}

bool fr_klogs_has(const struct fr_snap *s)
{
	size_t cnt;

	fr_snap_klog(s, &cnt);
	return cnt || fr_snap_fact(s, "kmsg");
}

/* A record of a boot may be in several files: the best known comes first. */
static int klogs_by_record(const void *a, const void *b)
{
	const struct fr_klogs_item *x = a, *y = b;

	if (x->boot != y->boot)
		return x->boot < y->boot ? -1 : 1;
	if (x->line->seq != y->line->seq)
		return x->line->seq < y->line->seq ? -1 : 1;
	if (x->line->stamp_ns != y->line->stamp_ns)
		return x->line->stamp_ns < y->line->stamp_ns ? -1 : 1;
	return x->line->uncertainty_ns < y->line->uncertainty_ns ? -1 : x->line->uncertainty_ns > y->line->uncertainty_ns;
}

static bool is_same_record(const struct fr_klogs_item *a, const struct fr_klogs_item *b)
{
	return a->boot == b->boot && a->line->seq == b->line->seq && a->line->stamp_ns == b->line->stamp_ns;
}

static bool may_be_in(const struct fr_snap_klog *l, u64 begin_ns, u64 end_ns)
{
	u64 off_ns = l->uncertainty_ns;

	return (l->ts >= begin_ns || begin_ns - l->ts <= off_ns) && (l->ts <= end_ns || l->ts - end_ns <= off_ns);
}

static void klogs_add_file(const struct fr_replay *r, u32 file, struct fr_klogs *out)
{
	const struct fr_replay_boot *b = &r->boot[r->file[file].boot];
	size_t cnt, i;
	const struct fr_snap_klog *l = fr_snap_klog(fr_replay_snap(r, file), &cnt);

	for (i = 0; i < cnt; i++)
		if (may_be_in(&l[i], b->since_ns > 0 ? b->since_ns : 0, b->until_ns > 0 ? b->until_ns : 0))
			out->item[out->cnt++] = (struct fr_klogs_item){
				.key = l[i].ts + fr_replay_shift(r, file),
				.file = file,
				.boot = fr_replay_boot(r, file),
				.line = &l[i],
			};
}

static void klogs_thin(struct fr_klogs *k)
{
	size_t i, kept = 0;

	if (!k->cnt)
		return;
	qsort(k->item, k->cnt, sizeof(*k->item), klogs_by_record);
	for (i = 0; i < k->cnt; i++)
		if (!kept || !is_same_record(&k->item[kept - 1], &k->item[i]))
			k->item[kept++] = k->item[i];
	k->cnt = kept;
	qsort(k->item, k->cnt, sizeof(*k->item), klogs_by_key);
}

int fr_klogs_find(const struct fr_replay *r, struct fr_klogs *out)
{
	size_t cnt, all = 0;
	u32 i;

	*out = (struct fr_klogs){};
	for (i = 0; i < fr_replay_file_cnt(r); i++) {
		out->recorded |= fr_klogs_has(fr_replay_snap(r, i));
		fr_snap_klog(fr_replay_snap(r, i), &cnt);
		all += cnt;
	}
	out->item = calloc(all + 1, sizeof(*out->item));
	if (!out->item)
		return -ENOMEM;
	for (i = 0; i < fr_replay_file_cnt(r); i++)
		klogs_add_file(r, i, out);
	klogs_thin(out);
	return 0;
}

void fr_klogs_clear(struct fr_klogs *k)
{
	free(k->item);
	*k = (struct fr_klogs){};
}
