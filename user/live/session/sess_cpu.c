/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sess_cpu: extends a session to CPUs that come after it began. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/profile/due.h"
#include "base/schema/schema.h"
#include "base/text/list.h"
#include "event_fields.h"
#include "live/ring/percpu.h"
#include "live/session/admin.h"
#include "live/session/sess_int.h"
#include "sys/cpus.h"

#define MISSING "events_missing" /* a fact: names of events */

bool fr_sess_is_new(const struct fr_sess *s)
{
	return s->is_new;
}

int fr_sess_refresh_rings(struct fr_sess *s)
{
	return fr_sess_map_rings(s);
}

/* Any ring of a tier: all share one geometry and epoch. */
static const struct fr_ring_map *any_ring(const struct fr_sess *s, u32 tier)
{
	size_t i;

	for (i = 0; i < s->ring_cnt; i++)
		if (s->ring[i].tier == tier)
			return &s->ring[i];
	return NULL;
}

static u32 map_id(int fd)
{
	struct bpf_map_info info = {};
	u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) ? 0 : info.id;
}

/* Make it visible to writers, unless there already is one: an entry in the outer map is in use. 1 if it was not, 0, -errno. */
static int publish(const struct fr_sess *s, int fd, u32 cpu, u32 tier)
{
	int outer, done = 0;
	char name[32];
	u32 id = 0;

	snprintf(name, sizeof(name), "rings-%s", fr_tier_name(tier));
	outer = fr_sess_get_pin(s, name);
	if (outer < 0)
		return outer;
	if (bpf_map_lookup_elem(outer, &cpu, &id) || id != map_id(fd))
		done = bpf_map_update_elem(outer, &cpu, &fd, BPF_ANY) ? -errno : 1;
	close(outer);
	return done;
}

static int make_ring(const struct fr_sess *s, u32 cpu, u32 tier, const char *pin)
{
	const struct fr_ring_map *like = any_ring(s, tier);
	struct fr_geometry geo;
	char path[512];
	int fd, err;

	if (!like)
		return -EPROTO;
	geo = (struct fr_geometry){like->slot_cnt, like->subbuf_pages};
	fd = fr_percpu_make_ring(&geo, fr_cpus_node(cpu));
	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "%s/%s", s->dir, pin);
	err = fr_percpu_init_ring(fd, &(struct fr_percpu_ring){&geo, like->epoch, cpu, tier});
	if (!err && bpf_obj_pin(fd, path))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Pin before publishing: if a recorder is killed in between, the next one publishes what it left. */
static int add_tier(const struct fr_sess *s, u32 cpu, u32 tier)
{
	int fd, done;
	char pin[64];

	snprintf(pin, sizeof(pin), "ring-%u-%s", cpu, fr_tier_name(tier));
	fd = fr_sess_get_pin(s, pin);
	if (fd == -ENOENT)
		fd = make_ring(s, cpu, tier, pin);
	if (fd < 0)
		return fd;
	done = publish(s, fd, cpu, tier);
	close(fd);
	return done;
}

/*
 * What came before had no ring. The store pairs with a dump's load of it. Each gets a moment of its own: where several begin at
 * one, readers see a choice (--last).
 */
static void note_since(struct fr_sess *s, u32 cpu)
{
	struct fr_call now;
	size_t i;

	for (i = 0; i < s->ring_cnt; i++)
		if (s->ring[i].cpu == cpu && !s->ring[i].sl->since_ns && !fr_sess_clocks(s, &now))
			fr_store(&s->ring[i].sl->since_ns, now.ns);
}

int fr_sess_add_cpu(struct fr_sess *s, u32 cpu)
{
	int err = 0, added = 0;
	u32 tier;

	for (tier = 0; tier < FR_TIER_CNT && err >= 0; tier++) {
		err = add_tier(s, cpu, tier);
		added |= err;
	}
	if (added > 0)
		fr_sess_find_current(s, cpu);
	if (err >= 0)
		err = fr_sess_map_rings(s);
	if (err >= 0 && added)
		note_since(s, cpu);
	if (err < 0)
		fr_err("cannot give CPU %u its rings: %s: its events are not recorded", cpu, strerror(-err));
	return err < 0 ? err : added;
}

/* ---- the expected number of samples ---- */

static u64 fact(const struct fr_sess *s, const char *name)
{
	char *text = fr_sess_fact(s, name);
	u64 v = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return v;
}

static const char *sample_name(void)
{
	return fr_schema_event(fr_schema_builtin(), FR_EV_cpu_sample)->name;
}

/* Were they wanted, but forbidden? */
static bool has_none(const struct fr_sess *s)
{
	char *missing = fr_sess_fact(s, MISSING);
	bool none = fr_list_has(missing, sample_name());

	free(missing);
	return none;
}

static struct fr_due due(const struct fr_sess *s)
{
	const struct fr_governing *g = &s->shared->governing;

	if (has_none(s))
		return (struct fr_due){};
	if (!g->sample_at_ns)
		return (struct fr_due){0, fact(s, "begin_ns"), fact(s, "sample_hz"), fact(s, "cpu_cnt")};
	return (struct fr_due){g->sample_due, g->sample_at_ns, g->sample_hz, g->sample_cpus};
}

u64 fr_sess_samples_due(struct fr_sess *s, u64 now_ns)
{
	const struct fr_due d = due(s);

	return fr_due_until(&d, now_ns);
}

u32 fr_sess_sample_hz(struct fr_sess *s)
{
	return s->shared->governing.sample_at_ns ? s->shared->governing.sample_hz : fact(s, "sample_hz");
}

void fr_sess_sampling(struct fr_sess *s, u32 hz, u32 cpu_cnt, u64 now_ns)
{
	struct fr_governing *g = &s->shared->governing;
	struct fr_due d = due(s);

	fr_due_change(&d, hz, cpu_cnt, now_ns);
	g->sample_due = d.cnt;
	g->sample_hz = d.hz;
	g->sample_cpus = d.cpu_cnt;
	g->sample_at_ns = d.at_ns;
}

/* ---- sampling ---- */

/*
 * kernel.perf_event_paranoid of 3, known to Debian's and other kernels, requires more than CAP_PERFMON. A helper without it has
 * ended.
 */
static int cpu_open_event(struct fr_admin *admin, enum fr_sample_event ev, u32 cpu, u32 hz)
{
	int fd = fr_percpu_open_event(ev, cpu, hz), by_helper;

	if ((fd != -EACCES && fd != -EPERM) || !admin)
		return fd;
	by_helper = fr_admin_open_event(admin, ev, cpu, hz);
	return by_helper == -EPIPE ? fd : by_helper;
}

enum fr_sample_event fr_sess_sample_event(struct fr_sess *s)
{
	char *name = fr_sess_fact(s, "sample_event");
	enum fr_sample_event ev = fr_sample_event_find(name);

	free(name);
	return ev;
}

/* The session began without samples, and what forbade them is gone. */
static void begin_samples(struct fr_sess *s, char *missing)
{
	struct fr_call now;

	if (!fr_list_drop(missing, sample_name()))
		return;
	if (!fr_sess_clocks(s, &now)) /* none were expected before */
		fr_sess_sampling(s, fr_sess_sample_hz(s), fact(s, "cpu_cnt"), now.ns);
	if (fr_sess_set_fact(s, MISSING, missing))
		fr_warn("session '%s' goes on saying that it has no CPU samples, but has: its facts cannot be changed",
			fr_sess_name(s));
}

int fr_sess_sample_cpu(struct fr_sess *s, struct fr_admin *admin, u32 cpu, u32 hz)
{
	int prog = fr_sess_get_pin(s, "prog-cpu_sample"), event, err;
	char path[512], *missing;

	if (prog < 0)
		return prog;
	snprintf(path, sizeof(path), "%s/link-cpu_sample-%u", s->dir, cpu);
	event = hz ? cpu_open_event(admin, fr_sess_sample_event(s), cpu, hz) : -EINVAL;
	err = event < 0 ? event : fr_percpu_sample(prog, event, path);
	if (event >= 0)
		close(event);
	close(prog);
	missing = err ? NULL : fr_sess_fact(s, MISSING);
	if (missing)
		begin_samples(s, missing);
	free(missing);
	return err;
}
