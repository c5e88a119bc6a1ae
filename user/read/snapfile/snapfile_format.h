/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layout of a .flight file around zstd's own frames. docs/format.md is the specification; all numbers are little-endian.
 *
 *	file header | { chunk header | zstd frame } ... | index | trailer
 *
 * Everything that is not a zstd frame is a skippable one, so that the file as a whole is a valid zstd stream.
 */
#ifndef FR_SNAPFILE_FORMAT_H
#define FR_SNAPFILE_FORMAT_H

#include "base/rows/varint.h"
#include "session.h"

/* The first word of each part: zstd's magic numbers for skippable frames. */
#define FR_FILE_MAGIC	 0x184d2a50u
#define FR_CHUNK_MAGIC	 0x184d2a51u
#define FR_INDEX_MAGIC	 0x184d2a52u
#define FR_TRAILER_MAGIC 0x184d2a53u

/* The next eight bytes, after magic and length: others use skippable frames too. */
#define FR_FILE_TAG    "flight-1"
#define FR_CHUNK_TAG   "fl-chunk"
#define FR_INDEX_TAG   "fl-index"
#define FR_TRAILER_TAG "fl-trail"
#define FR_TAG_SZ      8

#define FR_FORMAT_MINOR 0

enum fr_chunk_kind {
	FR_CHUNK_SCHEMA = 1, /* text */
	FR_CHUNK_FACTS = 2,  /* text */
	FR_CHUNK_TASKS = 3,  /* lists: struct fr_list_head, entries */
	FR_CHUNK_RINGS = 4,
	FR_CHUNK_HOLES = 5,
	FR_CHUNK_CLOCKS = 6,
	FR_CHUNK_PROCS = 7, /* text */
	FR_CHUNK_EVENTS = 8,
	FR_CHUNK_MAPPINGS = 9, /* lists with texts: struct fr_list_head, entries, texts */
	FR_CHUNK_SYMBOLS = 10,
	FR_CHUNK_STACKS = 11, /* reserved, not written */
	FR_CHUNK_PROFILE = 12,
	FR_CHUNK_INCIDENTS = 13, /* list */
	FR_CHUNK_STATES = 14,	 /* list with texts */
	FR_CHUNK_FORMATS = 15,	 /* text: base/tp/tps.h */
	FR_CHUNK_KLOG = 16,	 /* list with texts */
	FR_CHUNK_COUNTERS = 17,	 /* base/counter/counters.h */
	FR_CHUNK_SCENES = 18,	 /* list with texts */
	FR_CHUNK_BLOCKED = 19,	 /* as a profile: base/profile/blocked.h */
};

/* Limits of a reader. A writer keeps well below. */
#define FR_DECODED_MAX_SZ    (16u << 20) /* content of a chunk */
#define FR_DECODED_FREE_SZ   (1u << 20)	 /* above this, at most FR_DECODED_RATIO times the stored size */
#define FR_DECODED_RATIO     1024u
#define FR_RING_BYTES_MAX_SZ (4u << 20) /* of a chunk's records, unfolded */
#define FR_HEAD_MAX_SZ	     8192u	/* of a chunk's header */

/* How each part begins; sz counts the bytes after it. */
struct fr_part_head {
	u32 magic;
	u32 sz;
	char tag[FR_TAG_SZ];
	u64 file_id; /* random; the same in all parts of a file */
};

/* Each part ends with the XXH64 (seed 0) of all its preceding bytes. */
struct fr_file_head {
	struct fr_part_head part;
	u16 minor;
	u16 reserved0;
	u32 reserved1;
	u64 schema_hash; /* XXH64 of the schema's text, 0 unknown */
	u64 hash;
};

struct fr_chunk_head {
	struct fr_part_head part;
	u16 kind;
	u16 reserved;
	u32 nr; /* 0 and up */
	u64 stored_sz;
	u64 decoded_sz;
	u64 stored_hash; /* XXH64 of the stored bytes */
};

/* Follows the header of an event chunk; then lap_cnt struct fr_lap_entry. Other kinds have nothing here. */
struct fr_events_head {
	u32 epoch;
	u16 cpu;
	u8 tier;
	u8 flags; /* FR_EVENTS_ */
	u64 first_seq, last_seq;
	u32 first_off; /* place of the first record (base/rows/unfold.h) */
	u32 row_cnt;
	u64 first_ts, last_ts;
	u64 raw_sz; /* unfolded (base/rows/unfold.h) */
	u32 lap_cnt;
	u32 ring_sz; /* bytes they took in the ring; 0: raw_sz */
};

/* Not events of the snapshot: they were cut away, but names and stacks are still read from them. */
#define FR_EVENTS_CONTEXT 1u

struct fr_lap_entry {
	u64 seq;
	u32 row_cnt;
	u32 damaged_pages; /* left out */
};

/* The index's content: cnt of these. */
struct fr_index_entry {
	u64 file_off; /* of the chunk's header */
	u16 kind;
	u16 reserved;
	u32 head_sz; /* bytes from there to the stored ones */
};

struct fr_index_head {
	struct fr_part_head part;
	u32 cnt;
	u32 reserved;
};

struct fr_trailer {
	struct fr_part_head part;
	u64 index_off;
	u64 file_sz;
	u32 chunk_cnt;
	u32 reserved;
	u64 hash;
};

/* Lists: entries may get longer in later minor versions. */
struct fr_list_head {
	u32 entry_sz;
	u32 cnt;
};

struct fr_task_entry {
	u32 tid, tgid, ppid, flags;
	s32 exit_code;
	u32 reserved;
	u64 start_ns, cgroup, exit_ns, renamed_ns;
	char comm[FR_COMM_SZ];
	char first_comm[FR_COMM_SZ];
};

#define FR_LOST_ROOM	 8 /* reasons an entry has room for */
#define FR_FILTERED_ROOM 8

struct fr_ring_entry {
	u16 cpu;
	u8 tier;
	u8 reserved0;
	u32 slot_cnt;
	u32 subbuf_sz;
	u32 holder;
	u64 written, overwritten, present, horizon_ns, first_seq, last_seq, ties, ahead, losers;
	u64 lost[FR_LOST_ROOM];
	u64 filtered[FR_FILTERED_ROOM];
	u64 end_ns;
};

struct fr_hole_entry {
	u16 cpu;
	u8 tier;
	u8 why;
	u32 reserved;
	u64 first_seq, last_seq, since_ns, until_ns;
};

struct fr_clock_entry {
	u64 ts, mono_ns, boot_ns, tai_ns, real_ns, uncertainty_ns;
};

struct fr_incident_entry {
	u64 seq, ts, addr, ip, value, count, cgroup, start_ns;
	u32 kind, cpu, pid, tid, uid;
	s32 sig, code;
	u32 flags;
	char comm[FR_COMM_SZ];
	char text[144];
	u32 epoch;
	u32 reserved;
};

/* In lists with texts, a text is given by its offset in what follows the entries; offset 0 is the empty text. */
struct fr_mapping_entry {
	u32 pid;
	u32 path;
	u64 begin, end, file_off;
	u8 build_id[20];
	u8 build_id_sz;
	u8 deleted;
	u8 reserved[2];
};

struct fr_symbol_entry {
	u32 pid;
	u32 name;
	u64 addr, sz;
	u32 module;
	u32 reserved;
};

struct fr_state_entry {
	u32 tid;
	u32 object;
	u64 start_ns, at_ns, since_ns, woken_ns, kstack_id, cgroup;
	u64 arg[6];
	s32 id;
	u32 waker_tid;
	s32 prio;
	u16 state, cpu;
	u8 abi, in, waker, policy, flags;
	u8 owner_tid[3]; /* little endian */
	u16 allowed_cnt;
	u16 reserved[3];
};

struct fr_klog_entry {
	u64 seq, ts, uncertainty_ns, stamp_ns;
	u32 text;
	u16 facility;
	u8 level, flags;
};

struct fr_scene_entry {
	u32 tid;
	u32 text;
	u64 start_ns;
	u8 what;
	u8 reserved[7];
	u64 at_ns, number;
	u64 value[3];
};

_Static_assert(sizeof(struct fr_part_head) == 24, "on disk");
_Static_assert(sizeof(struct fr_file_head) == 48, "on disk");
_Static_assert(sizeof(struct fr_chunk_head) == 56, "on disk");
_Static_assert(sizeof(struct fr_events_head) == 64, "on disk");
_Static_assert(sizeof(struct fr_lap_entry) == 16, "on disk");
_Static_assert(sizeof(struct fr_index_head) == 32, "on disk");
_Static_assert(sizeof(struct fr_index_entry) == 16, "on disk");
_Static_assert(sizeof(struct fr_trailer) == 56, "on disk");
_Static_assert(sizeof(struct fr_task_entry) == 88, "on disk");
_Static_assert(sizeof(struct fr_ring_entry) == 224, "on disk");
_Static_assert(sizeof(struct fr_hole_entry) == 40, "on disk");
_Static_assert(sizeof(struct fr_clock_entry) == 48, "on disk");
_Static_assert(sizeof(struct fr_mapping_entry) == 56, "on disk");
_Static_assert(sizeof(struct fr_incident_entry) == 264, "on disk");
_Static_assert(sizeof(struct fr_symbol_entry) == 32, "on disk");
_Static_assert(sizeof(struct fr_state_entry) == 136, "on disk");
_Static_assert(sizeof(struct fr_klog_entry) == 40, "on disk");
_Static_assert(sizeof(struct fr_scene_entry) == 64, "on disk");
_Static_assert(FR_LOST_CNT <= FR_LOST_ROOM && FR_FILTERED_CNT <= FR_FILTERED_ROOM, "room for all reasons");

#endif
