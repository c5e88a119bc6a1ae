/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* block: requests to block devices. */
#include "event_fields.h"
#include "record.bpf.h"
#include "rq.bpf.h"

/* struct request had the priority itself before 6.13 (6975c1a486a4); now its first bio has it. */
struct request___ioprio {
	unsigned short ioprio;
} __attribute__((preserve_access_index));

struct rq_facts {
	u64 sector;
	u64 rwbs;
	u32 dev;
	u32 nr_sector;
	u32 bytes;
	u16 ioprio;
};

/* enum req_op, enum req_opf before 6.0: the numbers have never changed. */
#define FR_OP_READ	   0u
#define FR_OP_WRITE	   1u
#define FR_OP_FLUSH	   2u
#define FR_OP_DISCARD	   3u
#define FR_OP_SECURE_ERASE 5u

FR_INLINE u16 rq_ioprio(struct request *rq)
{
	struct request___ioprio *old = (void *)rq;

	if (bpf_core_field_exists(old->ioprio))
		return BPF_CORE_READ(old, ioprio);
	return BPF_CORE_READ(rq, bio, bi_ioprio);
}

FR_INLINE void add(u64 *text, u32 *len, char c)
{
	*text |= (u64)c << *len * 8;
	*len += 1;
}

/* The kernel's blk_fill_rwbs(): operation and flags as letters. The flags' bits differ between kernels: CO-RE knows them. */
FR_INLINE u64 rwbs(u32 cmd_flags)
{
	u32 op = cmd_flags & 0xff, len = 0;
	u64 text = 0;

	if (cmd_flags & 1U << bpf_core_enum_value(enum req_flag_bits, __REQ_PREFLUSH))
		add(&text, &len, 'F');
	if (op == FR_OP_WRITE)
		add(&text, &len, 'W');
	else if (op == FR_OP_READ)
		add(&text, &len, 'R');
	else if (op == FR_OP_FLUSH)
		add(&text, &len, 'F');
	else if (op == FR_OP_DISCARD)
		add(&text, &len, 'D');
	else if (op == FR_OP_SECURE_ERASE)
		add(&text, &len, 'E');
	else
		add(&text, &len, 'N');
	if (cmd_flags & 1U << bpf_core_enum_value(enum req_flag_bits, __REQ_FUA))
		add(&text, &len, 'F');
	if (cmd_flags & 1U << bpf_core_enum_value(enum req_flag_bits, __REQ_RAHEAD))
		add(&text, &len, 'A');
	if (cmd_flags & 1U << bpf_core_enum_value(enum req_flag_bits, __REQ_SYNC))
		add(&text, &len, 'S');
	if (cmd_flags & 1U << bpf_core_enum_value(enum req_flag_bits, __REQ_META))
		add(&text, &len, 'M');
	return text;
}

FR_INLINE void rq_facts(struct rq_facts *f, struct request *rq)
{
	f->dev = fr_rq_dev(rq);
	f->bytes = BPF_CORE_READ(rq, __data_len);
	f->sector = BPF_CORE_READ(rq, __sector);
	if (f->sector == ~0ULL)
		f->sector = 0;
	f->nr_sector = f->bytes >> 9;
	f->rwbs = rwbs(BPF_CORE_READ(rq, cmd_flags));
	f->ioprio = rq_ioprio(rq);
}

_Static_assert(sizeof(struct fr_rec_block_rq_issue) == sizeof(struct fr_rec_block_io_start), "one layout");
_Static_assert(sizeof(struct fr_rec_block_rq_issue) == sizeof(struct fr_rec_block_io_done), "one layout");

FR_INLINE int request(u32 event, struct request *rq)
{
	u32 tid = bpf_get_current_pid_tgid();
	struct fr_rec_block_rq_issue *rec;
	struct rq_facts f;
	struct fr_writing w;

	rq_facts(&f, rq);
	FR_FORGET(f);
	rec = fr_begin(&w, &fr_main, FR_TIER_MAIN, event, sizeof(*rec), sizeof(*rec), tid, 0);
	if (!rec)
		return 0;
	rec->dev = f.dev;
	rec->sector = f.sector;
	rec->nr_sector = f.nr_sector;
	rec->bytes = f.bytes;
	__builtin_memcpy(rec->rwbs, &f.rwbs, sizeof(f.rwbs));
	rec->ioprio = f.ioprio;
	return fr_commit(&w);
}

/* Before 5.11 (a54895fa057c) the request was the second argument. Not supported: 5.15 is the oldest kernel. */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_rq_issue, struct request *rq)
{
	FR_CHECK_ENABLED(block_rq_issue);
	return request(FR_EV_block_rq_issue, rq);
}

SEC("tp_btf/block_io_start")
int BPF_PROG(block_io_start, struct request *rq)
{
	FR_CHECK_ENABLED(block_io_start);
	return request(FR_EV_block_io_start, rq);
}

SEC("tp_btf/block_io_done")
int BPF_PROG(block_io_done, struct request *rq)
{
	FR_CHECK_ENABLED(block_io_done);
	return request(FR_EV_block_io_done, rq);
}

/* Since 5.16 the tracepoint gives a blk_status_t, before that an errno; the loader asks BTF which. */
const volatile bool fr_block_error_is_status = false;

/* The kernel's blk_status_to_errno(), for the values that all kernels share. */
FR_INLINE s32 status_errno(u32 status)
{
	static const s8 errnos[] = {0,
				    -95 /* EOPNOTSUPP */,
				    -110 /* ETIMEDOUT */,
				    -28 /* ENOSPC */,
				    -67 /* ENOLINK */,
				    -121 /* EREMOTEIO */,
				    -52 /* EBADE */,
				    -61 /* ENODATA */,
				    -84 /* EILSEQ */,
				    -12 /* ENOMEM */,
				    -5 /* EIO */};

	return status < sizeof(errnos) ? errnos[status] : -5;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_rq_complete, struct request *rq, int error, unsigned int nr_bytes)
{
	u32 tid = bpf_get_current_pid_tgid();
	struct fr_rec_block_rq_complete *rec;
	struct rq_facts f;
	struct fr_writing w;

	FR_CHECK_ENABLED(block_rq_complete);
	rq_facts(&f, rq);
	if (fr_block_error_is_status)
		error = status_errno((u8)error);
	FR_FORGET(f);
	FR_FORGET(error);
	rec = FR_BEGIN_TID(&w, block_rq_complete, MAIN, tid, 0);
	if (!rec)
		return 0;
	rec->dev = f.dev;
	rec->sector = f.sector;
	rec->nr_sector = nr_bytes >> 9;
	rec->error = error;
	__builtin_memcpy(rec->rwbs, &f.rwbs, sizeof(f.rwbs));
	rec->ioprio = f.ioprio;
	return fr_commit(&w);
}

char _license[] SEC("license") = "Dual BSD/GPL";
