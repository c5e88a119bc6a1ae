/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* record_settings: a session's settings as one text, by which a later recorder knows whether it may adopt the session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/record_opts.h"
#include "io/session/incident_load.h"
#include "pure/schema/schema.h"
#include "pure/text/memfile.h"

/* In the largest unit that shows all of it. */
static void put_size(FILE *f, u64 bytes)
{
	static const char unit[] = "KMGT";
	u32 i = 0;

	for (; unit[i] && bytes && bytes % 1024 == 0; i++)
		bytes /= 1024;
	fprintf(f, "%llu%.*s", (unsigned long long)bytes, !!i, &unit[i - !!i]);
}

static void put_sizes(FILE *f, const struct fr_plan_ask *plan, u64 def_cpu_sz)
{
	u32 tier;

	if (plan->cpu_sz != def_cpu_sz) {
		fputs(" -m ", f);
		put_size(f, plan->cpu_sz);
	}
	if (plan->subbuf_sz) {
		fputs(" --subbuf ", f);
		put_size(f, plan->subbuf_sz);
	}
	for (tier = 0; tier < FR_TIER_CNT; tier++)
		if (plan->tier_sz[tier]) {
			fprintf(f, " --tier %s=", fr_tier_name(tier));
			put_size(f, plan->tier_sz[tier]);
		}
}

static void put_clock(FILE *f, const struct fr_record_ask *ask)
{
	u64 grain_ns = ask->load.grain_ns;

	if (grain_ns == FR_CLOCK_LOCAL)
		fputs(" --clock local", f);
	else if (ask->grain_given && grain_ns % 1000)
		fprintf(f, " --clock global:%lluns", (unsigned long long)grain_ns);
	else if (ask->grain_given)
		fprintf(f, " --clock global:%lluus", (unsigned long long)grain_ns / 1000);
}

static void put_texts(FILE *f, const char *option, const char *const *text, u32 cnt)
{
	u32 i;

	for (i = 0; i < cnt; i++)
		fprintf(f, "%s%s", i ? "," : option, text[i]);
}

static void put_pids(FILE *f, const u32 *pid, u32 cnt)
{
	u32 i;

	for (i = 0; i < cnt; i++)
		fprintf(f, "%s%u", i ? "," : " --pid ", pid[i]);
}

static void put_all(FILE *f, const struct fr_record_opts *o)
{
	const struct fr_load_conf *l = &o->ask.load;
	u32 i;

	if (strcmp(o->ask.profile, o->def.profile))
		fprintf(f, " -p %s", o->ask.profile);
	for (i = 0; i < o->event_cnt; i++)
		fprintf(f, " -e %s", o->event[i]);
	put_sizes(f, &o->ask.plan, o->def.memory_sz);
	put_clock(f, &o->ask);
	if (l->sample_hz != o->def.sample_hz)
		fprintf(f, " --hz %u", l->sample_hz);
	if (l->profile != o->def.cpu_profile)
		fprintf(f, " --cpu-profile %s", l->profile ? "yes" : "no");
	put_pids(f, l->pid, l->pid_cnt);
	put_texts(f, " --comm ", o->comm, o->comm_cnt);
	put_texts(f, " --cgroup ", o->cgroup, o->cgroup_cnt);
	if (l->incident_cnt != fr_incident_cnt_for(o->def.incident_cnt))
		fprintf(f, " --incidents %u", l->incident_cnt);
	if (o->filter_expr)
		fprintf(f, " -f %s", o->filter_expr);
}

char *fr_record_settings(const struct fr_record_opts *o)
{
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	char *text;

	if (!f)
		return NULL;
	put_all(f, o);
	text = fr_memfile_end(&m, NULL);
	if (text && !*text) {
		free(text);
		return strdup("defaults");
	}
	if (text)
		memmove(text, text + 1, strlen(text));
	return text;
}
