/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ustack: the user stack of a task that dies, by frame pointers, as far as there are any.
 *
 * One stack is all there will ever be of this death, and nobody sees that the register held no frame: that an address of
 * glibc's thread block leads to itself and back again, 126 times. So more is asked than of a sample's frames (frame.bpf.h), and
 * there is time for it: a frame must be in the same mapping as the stack pointer, and return to code. Only the handler of a
 * signal may have interrupted code on another stack. The result is the beginning of what the kernel would find, so the kernel
 * can tell where its frames are.
 *
 * A caller can still be missing: that of a function that has not, or not yet, put the frame pointer on the stack.
 */
#include "trigger/trigger.bpf.h"

#include "frame.bpf.h"
#include "vma.bpf.h"

struct mapping {
	u64 start, end; /* from start to below end */
	u64 flags;	/* FR_VM_*; none: nothing is mapped there */
};

/* Between two frames. */
struct walk {
	u64 sp;		     /* the next frame is above, */
	u64 fp;		     /* here if it is one, */
	u64 end;	     /* and below */
	u64 ret;	     /* where the last one returned to; 0: there was none */
	struct mapping code; /* of that */
	u32 word_sz;
	u32 pad;
};

/* Read the mapping of an address. Returns 0; -1: it cannot be found (before 6.1, or while another thread changes mappings). */
__noinline int fr_mapping_read(u64 addr, struct mapping *out)
{
	struct vm_area_struct *vma = (void *)fr_vma_find(addr);
	u64 mm;

	if (!out || (u64)vma == FR_MAPLE_DEAD)
		return -1;
	*out = (struct mapping){};
	if (!vma)
		return 0;
	out->start = BPF_CORE_READ(vma, vm_start);
	out->end = BPF_CORE_READ(vma, vm_end);
	out->flags = BPF_CORE_READ(vma, vm_flags);
	mm = (u64)BPF_CORE_READ(vma, vm_mm);
	if (mm == (u64)bpf_get_current_task_btf()->mm && addr >= out->start && addr < out->end)
		return 0;
	*out = (struct mapping){};
	return -1;
}

/* The end of the stack that this address is on. 0: it is on none; ~0: not known. */
FR_INLINE u64 stack_end(u64 addr)
{
	struct mapping map;

	if (fr_mapping_read(addr, &map))
		return ~0ULL;
	return map.flags & FR_VM_WRITE ? map.end : 0;
}

FR_INLINE bool is_code(struct mapping *map, u64 addr)
{
	if (addr >= map->start && addr < map->end)
		return map->flags & FR_VM_EXEC;
	return fr_is_user_ip(addr) && (fr_mapping_read(addr, map) || map->flags & FR_VM_EXEC);
}

/* Read the caller's frame pointer and the return address. */
FR_INLINE bool read_frame(const struct walk *w, u64 frame[2])
{
	u32 half[2];

	if (w->word_sz == sizeof(u64))
		return !bpf_probe_read_user(frame, sizeof(u64[2]), (void *)w->fp);
	if (bpf_probe_read_user(half, sizeof(half), (void *)w->fp))
		return false;
	frame[0] = half[0];
	frame[1] = half[1];
	return true;
}

FR_INLINE bool is_on_stack(const struct walk *w)
{
	return fr_is_frame(w->fp, w->sp, w->word_sz) && w->fp < w->end;
}

/* A signal's handler that has a stack of its own interrupted code on another one. */
FR_INLINE bool leave_handler(struct walk *w)
{
	u64 code;

	if (!w->ret || bpf_probe_read_user(&code, sizeof(code), (void *)w->ret) || !fr_is_sigreturn(code))
		return false;
	w->sp = w->fp;
	w->end = stack_end(w->fp);
	return is_on_stack(w);
}

/* Go to the caller. Returns where it goes on; 0: it is not known. */
__noinline u64 fr_walk_up(struct walk *w)
{
	u64 frame[2];

	if (!w || (!is_on_stack(w) && !leave_handler(w)))
		return 0;
	if (!read_frame(w, frame) || !is_code(&w->code, frame[1]))
		return 0;
	w->sp = w->fp + 2 * w->word_sz;
	w->fp = frame[0];
	w->ret = frame[1];
	return w->ret;
}

__noinline u32 fr_moment_walk(u32 nr)
{
	struct fr_moment_room *m = fr_moment(nr);
	struct fr_user_regs regs;
	struct walk w = {};
	u64 pc;
	u32 i;

	w.word_sz = fr_entry_regs(&regs);
	if (!m || !w.word_sz)
		return FR_WALK_KERNEL;
	/* its memory is gone, or it is one of io_uring's threads, which have never been in user code */
	if (!bpf_get_current_task_btf()->mm || (!regs.ip && !regs.sp))
		return 0;
	w.sp = regs.sp;
	w.fp = regs.fp;
	/* the pointer of a stack that has overflowed is no longer on it */
	w.end = stack_end(w.sp) ?: stack_end(w.fp);
	m->pc[0] = regs.ip;
	for (i = 1; i < FR_STACK_DEPTH_MAX; i++) {
		pc = fr_walk_up(&w);
		if (!pc)
			break;
		m->pc[i] = pc;
	}
	return i;
}

char _license[] SEC("license") = "Dual BSD/GPL";
