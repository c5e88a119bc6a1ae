/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * place: where code of the running process is, by build-id and file offset.
 *
 * Asking the kernel (bpf_get_stack() with BPF_F_USER_BUILD_ID) costs a second walk of the stack, the lock of the address space,
 * which is released by an interrupt of its own, and a look into each file: more than all the rest of a sample. But only the
 * build-id needs the kernel; which file is mapped where can be read. So there are three steps, each with a cache per CPU:
 *
 *	address -> mapping	in the mm's maple tree, without a lock
 *	mapping -> file		by its inode
 *	file -> build-id	asked once in ten seconds, whichever process runs the file (place_file.h)
 *
 * A mapping is remembered until any mapping changes: the kernel counts in mm_lock_seq whenever the mappings are locked for
 * writing. Kernels without this (before 6.4) have the tree read each time. So a file that is mapped where another one was never
 * gets the other one's name.
 */
#ifndef FR_PLACE_BPF_H
#define FR_PLACE_BPF_H

#include "place_file.h"
#include "stack.bpf.h"
#include "vma.bpf.h"

#define FR_PLACE_CNT 128u /* mappings remembered, by page, per CPU; a power of two */

_Static_assert(FR_PLACE_WORDS == FR_ORIGIN_WORDS, "a build-id has as many words");

/* A mapping, from start to below end. */
struct place_map {
	u64 start, end;
	u64 off;  /* added to an address, gives the offset in the file; wraps */
	u64 file; /* hash of its inode; 0: none */
	u64 is_code;
};

struct place_seen {
	u64 id; /* hash of process and page; 0: free */
	u32 gen;
	u32 pad;
	struct place_map map;
};

struct places {
	/* of the stack being looked up */
	u64 process;
	u32 gen;
	u32 has_gen;
	u32 now_s;
	u32 until_s; /* until when what was found for it holds */
	u32 pad;
	u32 file_nr; /* number of map's file among the stack's files; 0: unknown */
	u64 asking;
	struct place_map map; /* the mapping of the previous frame */
	/* kept */
	struct place_seen seen[FR_PLACE_CNT];
	struct place_files files;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FR_ORIGINS_CNT); /* one beside each buffer of origins */
	__type(key, u32);
	__type(value, struct places);
} fr_places SEC(".maps");

FR_INLINE struct places *my_places(u32 origins_nr)
{
	return bpf_map_lookup_elem(&fr_places, &origins_nr);
}

/* ---- from an address to its mapping ---- */

/* What identifies a file while it is mapped. Its inode's memory may be reused later, with another number or generation. */
FR_INLINE u64 fr_place_inode(struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	u64 h = fr_stack_mix((u64)inode, (u64)BPF_CORE_READ(inode, i_sb));

	h = fr_stack_mix(h, BPF_CORE_READ(inode, i_ino));
	h = fr_stack_mix(h, BPF_CORE_READ(inode, i_size));
	h = fr_stack_mix(h, BPF_CORE_READ(inode, i_generation));
	return h ? h : 1;
}

/* Read the mapping of an address into places.map. Returns 0 or -1. */
__noinline int fr_place_read(u32 origins_nr, u64 addr)
{
	struct vm_area_struct *vma = (void *)fr_vma_find(addr);
	struct places *p = my_places(origins_nr);
	struct place_map map = {};
	struct file *file;
	u64 mm;

	if (!p || (u64)vma == FR_MAPLE_DEAD)
		return -1;
	map.start = addr & ~(u64)(FR_MM_PAGE_SZ - 1);
	map.end = map.start + FR_MM_PAGE_SZ;
	if (vma) {
		file = BPF_CORE_READ(vma, vm_file);
		map.file = file ? fr_place_inode(file) : 0;
		map.off = BPF_CORE_READ(vma, vm_pgoff) << fr_page_shift;
		map.start = BPF_CORE_READ(vma, vm_start);
		map.end = BPF_CORE_READ(vma, vm_end);
		map.is_code = BPF_CORE_READ(vma, vm_flags) & FR_VM_EXEC;
		map.off -= map.start;
		mm = (u64)BPF_CORE_READ(vma, vm_mm);
		if (mm != (u64)bpf_get_current_task_btf()->mm || addr < map.start || addr >= map.end)
			return -1;
	}
	p->map = map;
	return 0;
}

/* mm_lock_seq became a sequence count in 6.13 (eb449bd96954); it is odd while the lock is held. */
struct seqcount___fr {
	u32 sequence;
} __attribute__((preserve_access_index));

struct mm_struct___seqcount {
	struct seqcount___fr mm_lock_seq;
} __attribute__((preserve_access_index));

struct mm_struct___int {
	int mm_lock_seq;
} __attribute__((preserve_access_index));

/* The number of the last change of the mappings. False: it is not counted, or they are changing just now. */
FR_INLINE bool fr_place_gen(const struct mm_struct *mm, u32 *gen)
{
	const struct mm_struct___seqcount *now = (const void *)mm;
	const struct mm_struct___int *old = (const void *)mm;

	if (bpf_core_field_exists(old->mm_lock_seq)) {
		*gen = BPF_CORE_READ(old, mm_lock_seq);
		return true;
	}
	if (!bpf_core_field_exists(now->mm_lock_seq))
		return false;
	*gen = BPF_CORE_READ(now, mm_lock_seq.sequence);
	return !(*gen & 1);
}

FR_INLINE u32 fr_place_now_s(void)
{
	return bpf_ktime_get_ns() >> 30;
}

/* Begin with a stack of the running process. Returns 0; -1: its mappings cannot be read. */
__noinline int fr_place_begin(u32 origins_nr)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	const struct mm_struct *mm = task->mm;
	struct places *p = my_places(origins_nr);

	if (!p || !mm || !bpf_core_field_exists(mm->mm_mt))
		return -1;
	p->process = fr_stack_process();
	p->has_gen = fr_place_gen(mm, &p->gen);
	p->now_s = fr_place_now_s();
	p->until_s = p->now_s + FR_PLACE_FILE_S;
	p->map = (struct place_map){};
	p->file_nr = 0;
	return 0;
}

/* Put the mapping of an address into places.map: that of the previous frame, a remembered one, or one just read. */
__noinline int fr_place_find(u32 origins_nr, u64 addr)
{
	struct places *p = my_places(origins_nr);
	struct place_seen *s;
	u64 id;

	if (!p)
		return -1;
	if (addr >= p->map.start && addr < p->map.end)
		return 0;
	p->file_nr = 0;
	id = fr_stack_mix(p->process, addr / FR_MM_PAGE_SZ) | 1;
	s = &p->seen[id >> 32 & (FR_PLACE_CNT - 1)];
	if (p->has_gen && s->id == id && s->gen == p->gen) {
		p->map = s->map;
		return 0;
	}
	p->map = (struct place_map){};
	if (fr_place_read(origins_nr, addr))
		return -1;
	if (p->has_gen)
		*s = (struct place_seen){.id = id, .gen = p->gen, .map = p->map};
	return 0;
}

/* ---- from the mapping to a build-id ---- */

/*
 * Set the word of frame i, at addr, as in a record. Returns 0; 1: the kernel must be asked for its file; -1: no code is there.
 */
__noinline int fr_place_word(u32 origins_nr, u32 i, u64 addr)
{
	struct stack_origins *o = fr_origins(origins_nr);
	struct places *p = my_places(origins_nr);
	struct place_file *f;
	u64 off;

	asm volatile("" : "+r"(i));
	if (!p || !o || i >= FR_STACK_DEPTH_MAX)
		return 0;
	o->word[i] = 0;
	if (fr_place_find(origins_nr, addr))
		return 0;
	if (i && !p->map.is_code)
		return -1;
	if (!p->map.file)
		return 0;
	f = fr_place_file(&p->files, p->map.file, p->now_s);
	if (!f || !fr_place_is_told(f))
		return 1;
	if ((s32)(f->until_s - p->until_s) < 0)
		p->until_s = f->until_s;
	if (!p->file_nr && f->known)
		p->file_nr = fr_origin_file(o, f->build_id);
	off = addr + p->map.off;
	if (p->file_nr && !(off >> FR_ORIGIN_OFF_BITS)) {
		o->word[i] = (u64)p->file_nr << FR_ORIGIN_OFF_BITS | off;
		o->valid_cnt++;
	}
	return 0;
}

/*
 * Fill in words and files of the first depth frames of a buffer, up to the first one that returns to something that is not
 * code: this and later ones were found through a register that holds no frame. Returns how many frames the kernel must be asked
 * for; -1: all, since mappings cannot be read here (before 6.1).
 */
__noinline int fr_places_pack(u32 origins_nr, u32 buf_nr, u32 depth)
{
	const struct stack_buf *buf = fr_frames(buf_nr);
	struct stack_origins *o = fr_origins(origins_nr);
	int asks = 0, ret;
	u32 i;

	if (!buf || !o)
		return 0;
	o->file_cnt = 0;
	o->valid_cnt = 0;
	o->frame_cnt = depth;
	if (fr_place_begin(origins_nr))
		return -1;
	for (i = 0; i < FR_STACK_DEPTH_MAX && i < depth; i++) {
		ret = fr_place_word(origins_nr, i, buf->pc[i]);
		if (ret < 0)
			break;
		asks += ret;
	}
	o->frame_cnt = i;
	return asks;
}

/*
 * Learn from what the kernel returned for frame i, at byte off of places.map's file: its build-id if it means the same place;
 * otherwise one try less. Apart from fr_place_learn(), since what is below that takes most of a stack of 512 bytes.
 */
__noinline int fr_place_take(u32 origins_nr, u32 i, u64 off)
{
	const struct stack_origins *o = fr_origins(origins_nr);
	const struct stack_origin *frame;
	struct places *p = my_places(origins_nr);
	struct place_file *f;

	asm volatile("" : "+r"(i));
	if (!p || !o || i >= FR_STACK_DEPTH_MAX)
		return 0;
	frame = &o->frame[i];
	f = fr_place_file(&p->files, p->map.file, p->now_s);
	if (!f)
		f = fr_place_add_file(&p->files, p->map.file, p->now_s, p->asking);
	else if (fr_place_is_told(f))
		return 0;
	if (frame->status == FR_ORIGIN_VALID && frame->off == off) {
		fr_origin_build_id(frame, f->build_id);
		fr_place_told(f, p->now_s);
	} else {
		fr_place_failed(f, p->now_s, p->asking);
	}
	return 0;
}

/* The same for frame i, which is at addr. */
__noinline int fr_place_learn(u32 origins_nr, u32 i, u64 addr)
{
	struct places *p = my_places(origins_nr);

	if (!p || fr_place_find(origins_nr, addr) || !p->map.file)
		return 0;
	return fr_place_take(origins_nr, i, addr + p->map.off);
}

/* Learn from what the kernel returned for the first depth frames of a buffer. */
__noinline int fr_places_learn(u32 origins_nr, u32 buf_nr, u32 depth)
{
	const struct stack_buf *buf = fr_frames(buf_nr);
	struct places *p = my_places(origins_nr);
	u32 i;

	if (!p || !buf)
		return -1;
	p->asking++;
	for (i = 0; i < FR_STACK_DEPTH_MAX && i < depth; i++)
		fr_place_learn(origins_nr, i, buf->pc[i]);
	return 0;
}

/* A hash of what the packed frames mean, never 0. The same in all processes as far as files are known. */
__noinline u64 fr_places_hash(u32 origins_nr, u32 buf_nr, u32 depth)
{
	const struct stack_origins *o = fr_origins(origins_nr);
	const struct stack_buf *buf = fr_frames(buf_nr);
	u64 h = depth;
	u32 i;

	if (!o || !buf)
		return 1;
	for (i = 0; i < FR_STACK_DEPTH_MAX && i < depth; i++)
		h = fr_stack_mix(h, o->word[i] ? o->word[i] : buf->pc[i]);
	for (i = 0; i < FR_ORIGIN_FILES * FR_ORIGIN_WORDS && i < o->file_cnt * FR_ORIGIN_WORDS; i++)
		h = fr_stack_mix(h, o->file[i]);
	return h ? h : 1;
}

#endif
