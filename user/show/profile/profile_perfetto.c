/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * profile_perfetto: the window as CPU samples in a Perfetto trace. For a hit a profile knows only the bucket of seconds, so
 * hits are spread evenly over it. Select a span of the samples' track to see its flame graph.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/export/export_perfetto.h"
#include "show/profile/profile.h"

#define PACKET_PROCESS_TREE 2u
#define PACKET_INTERNED	    12u
#define PACKET_DEFAULTS	    59u
#define PACKET_PERF_SAMPLE  66u
#define NAME_SZ		    1000u
#define ID_MADE		    (1u << 30) /* marks the key of several processes, or of another name of one; with the key's index */

struct trace {
	struct fr_perfetto_out to;
	const char **module; /* sent to the reader: index from 1 */
	u32 module_cnt;
	u32 *stack_of; /* by key: index of its stack, from 1; 0: none */
	u32 *tid_of;   /* by key: one thread per name of a process, since in the reader a thread has one name */
};

static void perfetto_put_text(struct fr_pbuf *b, u32 field, const char *s)
{
	fr_pbuf_text(b, field, s, strnlen(s, NAME_SZ));
}

static void perfetto_put_string(struct fr_pbuf *b, u32 field, u32 iid, const char *s)
{
	size_t at = fr_pbuf_open(b, field);

	fr_pbuf_num(b, 1, iid);
	perfetto_put_text(b, 2, s);
	fr_pbuf_close(b, at);
}

static u32 perfetto_put_module(struct trace *t, const char *module)
{
	struct fr_pbuf *b = &t->to.packet;
	size_t at;
	u32 i;

	for (i = 0; i < t->module_cnt; i++)
		if (!strcmp(t->module[i], module))
			return i + 1;
	t->module[t->module_cnt++] = module;
	perfetto_put_string(b, 17, i + 1, module + (module[0] == '/'));
	at = fr_pbuf_open(b, 19);
	fr_pbuf_num(b, 1, i + 1);
	fr_pbuf_num(b, 7, i + 1);
	fr_pbuf_close(b, at);
	return i + 1;
}

static int perfetto_put_func(struct trace *t, const struct fr_profile_func *f, u32 iid)
{
	struct fr_pbuf *b = &t->to.packet;
	size_t at, in;
	u32 module;

	if (fr_pbuf_room(b, 4 * NAME_SZ))
		return -ENOMEM;
	at = fr_pbuf_open(b, PACKET_INTERNED);
	perfetto_put_string(b, 5, iid, f->name);
	module = f->module ? perfetto_put_module(t, f->module) : 0;
	in = fr_pbuf_open(b, 6);
	fr_pbuf_num(b, 1, iid);
	fr_pbuf_num(b, 2, iid);
	if (module)
		fr_pbuf_num(b, 3, module);
	fr_pbuf_num(b, 4, iid);
	fr_pbuf_close(b, in);
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(&t->to, FR_PERFETTO_SEQ_SAMPLE, 0);
}

static int perfetto_put_stack(struct trace *t, const struct fr_profile_stack *s, u32 iid)
{
	struct fr_pbuf *b = &t->to.packet;
	size_t at, in;
	u32 i;

	if (fr_pbuf_room(b, 64 + s->cnt * FR_PBUF_NUM_SZ))
		return -ENOMEM;
	at = fr_pbuf_open(b, PACKET_INTERNED);
	in = fr_pbuf_open(b, 7);
	fr_pbuf_num(b, 1, iid);
	for (i = 0; i < s->cnt; i++)
		fr_pbuf_num(b, 2, s->func[i] + 1);
	fr_pbuf_close(b, in);
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(&t->to, FR_PERFETTO_SEQ_SAMPLE, 0);
}

/* TracePacketDefaults { timestamp_clock_id 58: boottime, perf_sample_defaults 12 { timebase 1 { counter 4: cpu clock } } } */
static int perfetto_put_defaults(struct trace *t)
{
	struct fr_pbuf *b = &t->to.packet;
	size_t at, in, base;

	if (fr_pbuf_room(b, 256))
		return -ENOMEM;
	at = fr_pbuf_open(b, PACKET_DEFAULTS);
	in = fr_pbuf_open(b, 12);
	base = fr_pbuf_open(b, 1);
	fr_pbuf_num(b, 4, 1);
	fr_pbuf_close(b, base);
	fr_pbuf_close(b, in);
	fr_pbuf_num(b, 58, 6);
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(&t->to, FR_PERFETTO_SEQ_SAMPLE, 0);
}

static u32 perfetto_pid_of(const struct fr_profile *p, const struct fr_prof_key *k)
{
	return k->pid ? k->pid : ID_MADE + (u32)(k - p->prof->key);
}

static int perfetto_by_task(const void *x, const void *y)
{
	const struct fr_prof_key *a = *(const struct fr_prof_key *const *)x, *b = *(const struct fr_prof_key *const *)y;
	int names;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	names = strcmp(a->comm, b->comm);
	return names ? names : (a > b) - (a < b);
}

/* A process's first name gets its own pid. 0 or -ENOMEM. */
static int number_threads(struct trace *t, const struct fr_profile *p)
{
	const struct fr_prof_key **sorted = calloc(p->prof->key_cnt + 1, sizeof(const struct fr_prof_key *)), *k, *prev;
	u32 i;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < p->prof->key_cnt; i++)
		sorted[i] = &p->prof->key[i];
	qsort(sorted, p->prof->key_cnt, sizeof(*sorted), perfetto_by_task);
	for (i = 0; i < p->prof->key_cnt; i++) {
		k = sorted[i];
		prev = i ? sorted[i - 1] : NULL;
		if (!k->pid || !prev || prev->pid != k->pid)
			t->tid_of[k - p->prof->key] = perfetto_pid_of(p, k);
		else if (!strcmp(prev->comm, k->comm))
			t->tid_of[k - p->prof->key] = t->tid_of[prev - p->prof->key];
		else
			t->tid_of[k - p->prof->key] = ID_MADE + (u32)(k - p->prof->key);
	}
	free(sorted);
	return 0;
}

/* ProcessTree { processes 1 { pid 1, cmdline 3 }, threads 2 { tid 1, name 2, tgid 3 } } */
static int perfetto_put_task(struct trace *t, const struct fr_profile *p, const struct fr_prof_key *k)
{
	struct fr_pbuf *b = &t->to.packet;
	u32 pid = perfetto_pid_of(p, k), tid = t->tid_of[k - p->prof->key];
	size_t at, in;

	if (fr_pbuf_room(b, 512))
		return -ENOMEM;
	at = fr_pbuf_open(b, PACKET_PROCESS_TREE);
	in = fr_pbuf_open(b, 1);
	fr_pbuf_num(b, 1, pid);
	if (tid == pid)
		perfetto_put_text(b, 3, k->comm);
	fr_pbuf_close(b, in);
	in = fr_pbuf_open(b, 2);
	fr_pbuf_num(b, 1, tid);
	perfetto_put_text(b, 2, k->comm);
	fr_pbuf_num(b, 3, pid);
	fr_pbuf_close(b, in);
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(&t->to, FR_PERFETTO_SEQ_TRACK, p->sum[FR_PROFILE_NOW].begin_ns + t->to.shift_ns);
}

static int perfetto_put_sample(struct trace *t, const struct fr_profile *p, const struct fr_prof_key *k, u64 ns)
{
	struct fr_pbuf *b = &t->to.packet;
	u32 pid = perfetto_pid_of(p, k), stack = t->stack_of[k - p->prof->key];
	size_t at;

	if (fr_pbuf_room(b, 256))
		return -ENOMEM;
	at = fr_pbuf_open(b, PACKET_PERF_SAMPLE);
	fr_pbuf_num(b, 1, 0);
	fr_pbuf_num(b, 2, pid);
	fr_pbuf_num(b, 3, t->tid_of[k - p->prof->key]);
	if (stack && p->stack[stack - 1].cnt)
		fr_pbuf_num(b, 4, stack);
	fr_pbuf_num(b, 5, k->state == FR_HIT_user ? 2 : 1);
	fr_pbuf_num(b, 6, 1);
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(&t->to, FR_PERFETTO_SEQ_SAMPLE, ns + t->to.shift_ns);
}

static int put_bucket(struct trace *t, const struct fr_profile *p, const struct fr_prof_bucket *bucket)
{
	u64 span_ns = bucket->end_ns - bucket->begin_ns;
	int err = 0;
	u32 i, j;

	for (i = bucket->first; i < bucket->first + bucket->hit_cnt && !err; i++) {
		const struct fr_prof_hit *h = &p->prof->hit[i];

		if (!t->stack_of[h->key])
			continue;
		for (j = 0; j < h->hits && !err && !fr_out_error(p->out); j++)
			err = perfetto_put_sample(t, p, &p->prof->key[h->key],
						  bucket->begin_ns + (u64)((double)span_ns * (2.0 * j + 1) / (2.0 * h->hits)));
	}
	return err;
}

static int perfetto_put_all(struct trace *t, struct fr_profile *p)
{
	const struct fr_profile_sum *s = &p->sum[FR_PROFILE_NOW];
	int err = perfetto_put_defaults(t);
	u32 i;

	for (i = 0; i < p->func_cnt && !err; i++)
		err = perfetto_put_func(t, &p->func[i], i + 1);
	for (i = 0; i < p->stack_cnt && !err; i++) {
		t->stack_of[p->stack[i].key - p->prof->key] = i + 1;
		err = perfetto_put_stack(t, &p->stack[i], i + 1);
		err = err ?: perfetto_put_task(t, p, p->stack[i].key);
	}
	for (i = 0; i < p->prof->bucket_cnt && !err; i++)
		if (p->prof->bucket[i].begin_ns >= s->begin_ns)
			err = put_bucket(t, p, &p->prof->bucket[i]);
	return err;
}

int fr_profile_perfetto(struct fr_profile *p)
{
	struct trace *t = calloc(1, sizeof(*t));
	const struct fr_snap_clock *c;
	size_t cnt;
	int err = -ENOMEM;

	if (!t)
		return -ENOMEM;
	t->to.out = p->out;
	c = fr_snap_clocks(p->snap, &cnt);
	if (cnt)
		t->to.shift_ns = c[cnt - 1].boot_ns - c[cnt - 1].ts;
	t->module = calloc(p->func_cnt + 1, sizeof(*t->module));
	t->stack_of = calloc(p->prof->key_cnt, sizeof(*t->stack_of));
	t->tid_of = calloc(p->prof->key_cnt, sizeof(*t->tid_of));
	if (t->module && t->stack_of && t->tid_of)
		err = number_threads(t, p);
	err = err ?: perfetto_put_all(t, p);
	free(t->to.packet.p);
	free(t->module);
	free(t->stack_of);
	free(t->tid_of);
	free(t);
	return err;
}
