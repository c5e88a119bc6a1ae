/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/replay/thins.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/rows/unfold.h"
#include "base/set/idmap.h"
#include "base/text/units.h"
#include "read/snapfile/snapfile_rows.h"

/* The fields of the event, as the file has it; ev NULL: it has none. */
struct thins_of {
	const struct fr_event *ev;
	const struct fr_field *cgroup, *since, *until, *left[FR_THIN_KIND_CNT];
};

static const char *const kinds[] = {
#define K(nr, name, doc) [nr] = #name,
	FR_THIN_KINDS(K)
#undef K
};

static const struct fr_field *thins_number(const struct fr_event *ev, const char *name)
{
	const struct fr_field *f = fr_event_field(ev, name);

	return f && f->kind == FR_KIND_FIELD && f->type == FR_TYPE_u64 ? f : NULL;
}

static struct thins_of thins_find(const struct fr_schema *schema)
{
	struct thins_of of = {.ev = fr_schema_find(schema, "thinned")};
	bool all = of.ev;
	u32 i;

	if (!all)
		return of;
	of.cgroup = thins_number(of.ev, "cgroup");
	of.since = thins_number(of.ev, "since");
	of.until = thins_number(of.ev, "until");
	all = of.cgroup && of.since && of.until;
	for (i = 0; i < FR_THIN_KIND_CNT; i++) {
		of.left[i] = thins_number(of.ev, kinds[i]);
		all = all && of.left[i];
	}
	return all ? of : (struct thins_of){};
}

void fr_thins_add(struct fr_thinned *to, const struct fr_thinned *t)
{
	u32 i;

	if (!to->since_ns || t->since_ns < to->since_ns)
		to->since_ns = t->since_ns;
	if (t->until_ns > to->until_ns)
		to->until_ns = t->until_ns;
	for (i = 0; i < FR_THIN_KIND_CNT; i++)
		to->left[i] += t->left[i];
}

static int thins_put(struct fr_thins *out, const struct fr_thinned *t)
{
	struct fr_thinned *of = (struct fr_thinned *)out->of.at, first = {.cgroup = t->cgroup};
	size_t i;

	fr_thins_add(&out->all, t);
	for (i = 0; i < out->of.cnt && of[i].cgroup != t->cgroup; i++)
		;
	if (i == out->of.cnt && fr_vec_add(&out->of, &first, 1))
		return -ENOMEM;
	fr_thins_add((struct fr_thinned *)out->of.at + i, t);
	return 0;
}

/* A merged file may have an event twice: as one of a file, and as context of one that was cut. */
static int thins_is_new(struct fr_idmap *seen, const struct fr_row *r, bool *is_new)
{
	u64 key = (r->ts << 12 | r->cpu) * 0x9e3779b97f4a7c15ULL ^ r->tid, seq;
	u32 off;

	fr_row_pos(r, &seq, &off);
	key ^= seq << FR_PLACE_BITS | off;
	*is_new = !fr_idmap_find(seen, key);
	return !*is_new || fr_idmap_get(seen, key) ? 0 : -ENOMEM;
}

static int thins_row(struct fr_thins *out, const struct thins_of *of, const struct fr_row *r, u64 from_ns, u64 until_ns)
{
	struct fr_thinned t = {.cgroup = fr_row_num(r, of->cgroup),
			       .since_ns = fr_row_num(r, of->since),
			       .until_ns = fr_row_num(r, of->until)};
	u32 i;

	if (t.until_ns < from_ns || t.since_ns > until_ns)
		return 0;
	for (i = 0; i < FR_THIN_KIND_CNT; i++)
		t.left[i] = fr_row_num(r, of->left[i]);
	return thins_put(out, &t);
}

static int thins_chunk(struct fr_snap *s, size_t chunk, const struct thins_of *of, u64 from_ns, u64 until_ns,
		       struct fr_idmap *seen, struct fr_thins *out)
{
	bool is_new;
	struct fr_batch b = {};
	int err = fr_snap_read_chunk(s, chunk, &b);
	u32 i;

	for (i = 0; i < b.row_cnt && !err; i++) {
		struct fr_row r = fr_batch_row(&b, i);

		if (r.ev != of->ev)
			continue;
		err = thins_is_new(seen, &r, &is_new);
		if (!err && is_new)
			err = thins_row(out, of, &r, from_ns, until_ns);
	}
	fr_batch_free(&b);
	return err == -ENOMEM ? err : 0;
}

int fr_thins_read(struct fr_snap *s, u64 from_ns, u64 until_ns, struct fr_thins *out)
{
	struct thins_of of = thins_find(fr_snap_schema(s));
	size_t first, cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	struct fr_idmap seen;
	int err = 0;

	*out = (struct fr_thins){.of.item_sz = sizeof(struct fr_thinned)};
	/* only a session that thins has any */
	if (!of.ev || !fr_snap_fact(s, "thin_ns"))
		return 0;
	fr_snap_context(s, &first, &cnt);
	fr_idmap_init(&seen, 1);
	for (i = 0; i < first + cnt && !err; i++)
		if (c[i].tier == FR_TIER_LIFE && !c[i].damaged)
			err = thins_chunk(s, i, &of, from_ns, until_ns, &seen, out);
	fr_idmap_free(&seen);
	return err;
}

void fr_thins_free(struct fr_thins *t)
{
	fr_vec_free(&t->of);
}

bool fr_thins_any(const struct fr_thins *t)
{
	return t->of.cnt > 0;
}

const char *fr_thins_text(const u64 *left, char *buf, size_t sz)
{
	static const char *const word[FR_THIN_KIND_CNT][2] = {{"system call", "system calls"},
							      {"page fault", "page faults"},
							      {"signal", "signals"},
							      {"tracepoint's event", "tracepoints' events"}};
	size_t len = 0;
	char n[32];
	u32 i;

	buf[0] = 0;
	for (i = 0; i < FR_THIN_KIND_CNT && len < sz; i++)
		if (left[i])
			len += snprintf(buf + len, sz - len, "%s%s %s", len ? ", " : "", fr_show_count(left[i], n, sizeof(n)),
					word[i][left[i] != 1]);
	return buf;
}
