/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/incident/incsnap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/vec.h"
#include "base/text/wall.h"
#include "read/snapfile/snapfile_members.h"

static void fill_wall(const struct fr_snap *s, struct fr_wall *wall)
{
	size_t cnt, i;
	const struct fr_snap_clock *c = fr_snap_clocks(s, &cnt);

	fr_wall_init(wall);
	for (i = 0; i < cnt; i++)
		fr_wall_add(wall, c[i].ts, c[i].real_ns);
}

/* The incidents of one snapshot: *cnt items, malloc'ed. 0 or -ENOMEM. */
static int items_of(const struct fr_snap *s, struct fr_incident_item **out, size_t *cnt)
{
	const struct fr_snap_incident *inc = fr_snap_incidents(s, cnt);
	const char *boot = fr_snap_fact(s, "boot_id"), *session = fr_snap_fact(s, "session");
	struct fr_incident_item *item = calloc(*cnt + 1, sizeof(*item));
	struct fr_wall wall;
	size_t i;

	if (!item)
		return -ENOMEM;
	fill_wall(s, &wall);
	for (i = 0; i < *cnt; i++) {
		snprintf(item[i].boot, sizeof(item[i].boot), "%s", boot ? boot : "");
		snprintf(item[i].session, sizeof(item[i].session), "%s", session ? session : "");
		item[i].epoch = inc[i].epoch;
		item[i].seq = inc[i].rec.done - 1;
		item[i].wall_ns = fr_wall_real(&wall, inc[i].rec.ts);
		item[i].rec = inc[i].rec;
	}
	*out = item;
	return 0;
}

size_t fr_incsnap_count(const struct fr_snap *s, u64 of_kind[FR_INCIDENT_KIND_MAX])
{
	size_t cnt, i;
	const struct fr_snap_incident *inc = fr_snap_incidents(s, &cnt);

	memset(of_kind, 0, FR_INCIDENT_KIND_MAX * sizeof(*of_kind));
	for (i = 0; i < cnt; i++) {
		u64 *sum = &of_kind[inc[i].rec.kind % FR_INCIDENT_KIND_MAX];

		if (__builtin_add_overflow(*sum, fr_incident_weight(&inc[i].rec), sum))
			*sum = ~0ULL; /* whoever wrote that file */
	}
	return cnt;
}

static int add_member(const char *path, const struct fr_members *m, size_t nr, struct fr_vec *all, bool *damaged)
{
	struct fr_incident_item *item;
	struct fr_snap *s;
	size_t n;
	int err = fr_snap_open_member(path, m, nr, &s);

	if (err)
		return err;
	*damaged |= fr_snap_damage(s) != 0;
	err = items_of(s, &item, &n);
	fr_snap_close(s);
	if (err)
		return err;
	err = fr_vec_add(all, item, n);
	free(item);
	return err;
}

int fr_incsnap_file(const char *path, struct fr_incident_item **out, size_t *cnt, bool *damaged)
{
	struct fr_vec all = {.item_sz = sizeof(struct fr_incident_item)};
	struct fr_members m;
	int err = fr_members_find(path, &m);
	size_t i, lost = 0; /* those that could not be opened */

	*damaged = false;
	for (i = 0; !err && i < m.cnt; i++) {
		err = add_member(path, &m, i, &all, damaged);
		lost += err == -EBADMSG;
		err = err == -EBADMSG ? 0 : err; /* those after it are usable */
	}
	if (!err && lost == m.cnt)
		err = -EBADMSG;
	*damaged |= lost > 0;
	fr_members_free(&m);
	if (err)
		fr_vec_free(&all);
	*out = all.at;
	*cnt = all.cnt;
	return err;
}
