/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPU samples in a Perfetto trace: PerfSample, whose stacks and frames are sent once and then referred to by number. Two tables
 * of fixed size hold what the reader already knows; when one is full, the sequence restarts and everything is sent again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/set/hash.h"
#include "read/symbols/frames.h"
#include "show/export/export_perfetto.h"

#define PACKET_INTERNED	   12u
#define PACKET_DEFAULTS	   59u
#define PACKET_PERF_SAMPLE 66u

#define TABLE_CNT   (1u << 16) /* entries, a power of two */
#define TABLE_FULL  (TABLE_CNT / 4 * 3)
#define FRAME_CNT   (FR_STACK_DEPTH_MAX + 64u) /* frames of half a stack, with inlined ones; outer frames beyond that are cut */
#define NAME_MAX_SZ 1100u
#define PATH_MAX_SZ 512u
#define FRAME_SZ    (NAME_MAX_SZ + PATH_MAX_SZ + 128u) /* of a frame with its name, encoded, at most */

enum { MODE_KERNEL = 1, MODE_USER = 2 };

struct entry {
	u64 key; /* 0: free */
	u32 iid;
};

struct table {
	struct entry entry[TABLE_CNT];
	u32 cnt;
};

struct fr_perfetto_intern {
	struct table frame, stack, mapping;
};

/* The entry of key: *is_new if it was added. */
static u32 intern(struct table *t, u64 key, bool *is_new)
{
	u32 i = (key * 0x9e3779b97f4a7c15ull) >> 48;

	key = key ? key : 1;
	while (t->entry[i].key && t->entry[i].key != key)
		i = (i + 1) % TABLE_CNT;
	*is_new = !t->entry[i].key;
	if (*is_new)
		t->entry[i] = (struct entry){key, ++t->cnt};
	return t->entry[i].iid;
}

static void sample_forget(struct fr_perfetto_out *to)
{
	memset(to->intern, 0, sizeof(*to->intern));
	to->begun[FR_PERFETTO_SEQ_SAMPLE] = false;
}

void fr_perfetto_close(struct fr_perfetto_out *to)
{
	free(to->packet.p);
	free(to->intern);
	free(to->task);
	free(to->task_track);
}

/* { iid 1, str 2 } */
static void sample_put_string(struct fr_pbuf *b, u32 field, u32 iid, const char *s, size_t max)
{
	size_t at = fr_pbuf_open(b, field);

	fr_pbuf_num(b, 1, iid);
	fr_pbuf_text(b, 2, s, strnlen(s, max));
	fr_pbuf_close(b, at);
}

static u64 sample_hash_text(u64 h, const char *s)
{
	return fr_hash(h, s, s ? strlen(s) : 0) * 31;
}

/* InternedData { mapping_paths 17, mappings 19 { iid 1, path_string_ids 7 } }: the reader prepends a /. 0: no file. */
static u32 put_mapping(struct fr_perfetto_out *to, const char *module)
{
	struct fr_pbuf *b = &to->packet;
	bool is_new;
	u32 iid;
	size_t at;

	if (!module)
		return 0;
	iid = intern(&to->intern->mapping, sample_hash_text(1, module), &is_new);
	if (!is_new)
		return iid;
	sample_put_string(b, 17, iid, module + (module[0] == '/'), PATH_MAX_SZ);
	at = fr_pbuf_open(b, 19);
	fr_pbuf_num(b, 1, iid);
	fr_pbuf_num(b, 7, iid);
	fr_pbuf_close(b, at);
	return iid;
}

/* The frame's name: the function without an offset, so that equal ones merge in a flame graph. */
static const char *sample_name_of(const struct fr_frame *f, char *text, size_t sz)
{
	if (f->sym.name)
		return f->sym.name;
	if (f->sym.module)
		snprintf(text, sz, "%s+0x%llx", f->sym.module, f->sym.module_off);
	else
		snprintf(text, sz, "0x%llx", f->ip);
	return text;
}

/* InternedData { function_names 5 { iid 1, str 2 }, frames 6 { iid 1, function_name_id 2, mapping_id 3, rel_pc 4 } } */
static u32 sample_put_frame(struct fr_perfetto_out *to, const struct fr_frame *f)
{
	struct fr_pbuf *b = &to->packet;
	char text[NAME_MAX_SZ];
	const char *name = sample_name_of(f, text, sizeof(text));
	bool is_new;
	u32 iid = intern(&to->intern->frame, sample_hash_text(sample_hash_text(f->ip, name), f->sym.module), &is_new), mapping;
	size_t at;

	if (!is_new)
		return iid;
	sample_put_string(b, 5, iid, name, NAME_MAX_SZ);
	mapping = put_mapping(to, f->sym.module);
	at = fr_pbuf_open(b, 6);
	fr_pbuf_num(b, 1, iid);
	fr_pbuf_num(b, 2, iid);
	if (mapping)
		fr_pbuf_num(b, 3, mapping);
	fr_pbuf_num(b, 4, f->sym.module_off ? f->sym.module_off : f->ip);
	fr_pbuf_close(b, at);
	return iid;
}

/* The frames of a part of the stack, outermost first; as numbers if no symbols are wanted. */
static u32 sample_put_frames(struct fr_perfetto_out *to, const struct fr_row *r, const char *field, const struct fr_val *v,
			     u32 *iids)
{
	const struct fr_frame *frame = NULL;
	u32 cnt = 0, i;

	if (v->kind != FR_VAL_NUMS)
		return 0;
	if (to->frames)
		frame = fr_frames_of(to->frames, r, fr_event_field(r->ev, field), &cnt);
	if (!cnt)
		frame = NULL;
	if (!frame)
		cnt = v->len;
	cnt = cnt < FRAME_CNT ? cnt : FRAME_CNT;
	for (i = 0; i < cnt; i++) {
		struct fr_frame bare = {.ip = frame ? 0 : v->nums[cnt - 1 - i]};

		iids[i] = sample_put_frame(to, frame ? &frame[cnt - 1 - i] : &bare);
	}
	return cnt;
}

static struct fr_val sample_stack_of(const struct fr_view *v, const struct fr_row *r, const char *name)
{
	const struct fr_field *f = fr_event_field(r->ev, name);

	return f ? fr_view_field(v, r, f) : (struct fr_val){.kind = FR_VAL_NONE};
}

static u64 sample_num_of(const struct fr_row *r, const char *name)
{
	const struct fr_field *f = fr_event_field(r->ev, name);

	return f && f->kind != FR_KIND_DERIVED ? fr_row_num(r, f) : 0;
}

static bool has_frames(const struct fr_val *v)
{
	return v->kind == FR_VAL_NUMS && v->len;
}

/*
 * callstacks 7 { iid 1, frame_ids 2, outermost first }; sent with the first sample that has it. If the frames are lost, the
 * frame of the sample's own address.
 */
static u32 sample_put_stack(struct fr_perfetto_out *to, u32 pid, const struct fr_view *v, const struct fr_row *r)
{
	struct fr_val user = sample_stack_of(v, r, "ustack"), kernel = sample_stack_of(v, r, "kstack");
	u64 kid = sample_num_of(r, "kstack_id"),
	    key = (sample_num_of(r, "ustack_id") + pid * 0x9e3779b97f4a7c15ull) ^ (kid << 1 | kid >> 63);
	u32 iids[2 * FRAME_CNT], cnt, i, iid;
	struct fr_frame bare = {.ip = sample_num_of(r, "ip")};
	struct fr_pbuf *b = &to->packet;
	size_t at, in;
	bool is_new;

	if (!has_frames(&user) && !has_frames(&kernel))
		key = bare.ip * 0xff51afd7ed558ccdull;
	iid = intern(&to->intern->stack, key, &is_new);
	if (!is_new)
		return iid;
	at = fr_pbuf_open(b, PACKET_INTERNED);
	cnt = sample_put_frames(to, r, "ustack", &user, iids);
	cnt += sample_put_frames(to, r, "kstack", &kernel, iids + cnt);
	if (!cnt)
		iids[cnt++] = sample_put_frame(to, &bare);
	in = fr_pbuf_open(b, 7);
	fr_pbuf_num(b, 1, iid);
	for (i = 0; i < cnt; i++)
		fr_pbuf_num(b, 2, iids[i]);
	fr_pbuf_close(b, in);
	fr_pbuf_close(b, at);
	return iid;
}

/* TracePacketDefaults { timestamp_clock_id 58, perf_sample_defaults 12 { timebase 1 { counter 4: cpu clock } } } */
static void sample_put_defaults(struct fr_pbuf *b)
{
	size_t at = fr_pbuf_open(b, PACKET_DEFAULTS), in = fr_pbuf_open(b, 12), base = fr_pbuf_open(b, 1);

	fr_pbuf_num(b, 4, 1);
	fr_pbuf_close(b, base);
	fr_pbuf_close(b, in);
	fr_pbuf_num(b, 58, 6);
	fr_pbuf_close(b, at);
}

int fr_perfetto_sample(struct fr_perfetto_out *to, u64 ns, const struct fr_view *v, const struct fr_row *r)
{
	struct fr_pbuf *b = &to->packet;
	s32 pid = fr_view_who(v, r).pid;
	u32 stack;
	size_t at;

	if (!to->intern)
		to->intern = calloc(1, sizeof(*to->intern));
	if (!to->intern || fr_pbuf_room(b, 2 * FRAME_CNT * FRAME_SZ))
		return -ENOMEM;
	if (to->intern->frame.cnt + 2 * FRAME_CNT > TABLE_FULL || to->intern->stack.cnt + 1 > TABLE_FULL ||
	    to->intern->mapping.cnt + 2 * FRAME_CNT > TABLE_FULL)
		sample_forget(to);
	if (!to->begun[FR_PERFETTO_SEQ_SAMPLE])
		sample_put_defaults(b);
	stack = sample_put_stack(to, pid < 0 ? r->tid : (u32)pid, v, r);
	at = fr_pbuf_open(b, PACKET_PERF_SAMPLE);
	fr_pbuf_num(b, 1, r->cpu);
	fr_pbuf_num(b, 2, pid < 0 ? r->tid : (u32)pid);
	fr_pbuf_num(b, 3, r->tid);
	fr_pbuf_num(b, 4, stack);
	fr_pbuf_num(b, 5, sample_num_of(r, "user") ? MODE_USER : MODE_KERNEL);
	fr_pbuf_num(b, 6, 1);
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(to, FR_PERFETTO_SEQ_SAMPLE, ns);
}
