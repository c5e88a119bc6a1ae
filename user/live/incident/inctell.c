/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* inctell: incidents of the recorder itself. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alert.h"
#include "live/incident/inclog.h"

static struct fr_incident new_incident(u32 kind)
{
	return (struct fr_incident){.kind = kind, .count = 1, .uid = ~0u};
}

static void be_us(struct fr_incident *inc)
{
	inc->pid = inc->tid = getpid();
	inc->uid = getuid();
	snprintf(inc->comm, sizeof(inc->comm), "flightrec");
}

void fr_tell_recorder(struct fr_sess *s, const char *what)
{
	struct fr_incident inc = new_incident(FR_INCIDENT_recorder);

	be_us(&inc);
	snprintf(inc.text, sizeof(inc.text), "%s", what);
	fr_sess_put_incident(s, &inc);
}

/* The end of a path is more useful than its beginning. */
void fr_tell_snapshot(struct fr_sess *s, const char *path, u64 bytes, int err)
{
	struct fr_incident inc = new_incident(FR_INCIDENT_snapshot);
	size_t len = strlen(path), max = sizeof(inc.text) - 1;

	be_us(&inc);
	inc.code = err;
	inc.value = bytes;
	snprintf(inc.text, sizeof(inc.text), "%s", path + (len > max ? len - max : 0));
	fr_sess_put_incident(s, &inc);
}

void fr_tell_governor(struct fr_sess *s, const struct fr_sess_governor *g)
{
	struct fr_incident inc = new_incident(FR_INCIDENT_governor);

	be_us(&inc);
	inc.code = g->step;
	inc.value = g->cost;
	snprintf(inc.text, sizeof(inc.text), "%.8s %.8s: %.2f %% of %.2f %%", g->what, g->action, g->cost / 1000.0,
		 g->budget / 1000.0);
	fr_sess_put_incident(s, &inc);
}

void fr_tell_trigger(struct fr_sess *s, const char *reason, const char *rule, const struct fr_alert *a, u32 verdict, u64 count)
{
	struct fr_incident inc = new_incident(FR_INCIDENT_trigger);

	inc.code = verdict;
	inc.count = count;
	inc.sig = a->sig;
	inc.value = a->ts;
	inc.pid = a->pid;
	inc.tid = a->tid;
	inc.uid = a->uid;
	inc.addr = a->addr;
	inc.ip = a->ip;
	inc.cgroup = a->cgroup;
	inc.start_ns = a->start_ns;
	memcpy(inc.comm, a->comm, sizeof(inc.comm));
	snprintf(inc.text, sizeof(inc.text), "%s", rule ? rule : reason);
	fr_sess_put_incident(s, &inc);
}
