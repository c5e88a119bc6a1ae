/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ustack: the user stack of a task that dies, by frame pointers, as far as there are any; and what it takes to find the frames
 * of functions that have none (ustack.h), once the task is gone.
 *
 * One stack is all there will ever be of this death, and nobody sees that the register held no frame: that an address of
 * glibc's thread block leads to itself and back again, 126 times. So more is asked than of a sample's frames (frame.bpf.h), and
 * there is time for it: a frame must be in the same mapping as the stack pointer, and return to code. On another stack are what
 * the handler of a signal has interrupted, and in Go who called a function to run on a thread's own stack, as it does to end a
 * program: there, the code that a frame returns to must be preceded by a call. The result is the beginning of what the kernel
 * would find, so the kernel can tell where its frames are.
 *
 * A caller can still be missing: that of a function that has not, or not yet, put the frame pointer on the stack.
 */
#include "trigger/ustack.bpf.h"

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
	u32 switch_cnt; /* how often it may still go to another stack, but for a handler's */
};

#define SWITCH_MAX 2u /* from the thread's stack to that of a goroutine; one more for a handler's */

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

/*
 * Is this a thread of a Go program, in its own code? A register points to what it runs (struct g), which begins with the ends
 * of its stack.
 */
FR_INLINE bool is_go(u64 sp)
{
	u64 g = fr_entry_go_g(), stack[2];

	return g && !bpf_probe_read_user(stack, sizeof(stack), (void *)g) && stack[0] <= sp && sp < stack[1];
}

/* A function that was called to run on another stack: its caller's frame returns to behind a call. */
FR_INLINE bool leave_stack(struct walk *w)
{
	struct mapping code = {};
	u64 frame[2], before, end;

	if (!w->ret || !w->switch_cnt || w->fp & (w->word_sz - 1))
		return false;
	end = stack_end(w->fp);
	if (!end || end == ~0ULL || !read_frame(w, frame) || !is_code(&code, frame[1]))
		return false;
	if (bpf_probe_read_user(&before, sizeof(before), (void *)(frame[1] - sizeof(before))) || !fr_is_call(before))
		return false;
	w->sp = w->fp;
	w->end = end;
	w->switch_cnt--;
	return is_on_stack(w);
}

/* Go to the caller. Returns where it goes on; 0: it is not known. */
__noinline u64 fr_walk_up(struct walk *w)
{
	u64 frame[2];

	if (!w || (!is_on_stack(w) && !leave_handler(w) && !leave_stack(w)))
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
	w.switch_cnt = is_go(w.sp) ? SWITCH_MAX : 0;
	m->pc[0] = regs.ip;
	for (i = 1; i < FR_STACK_DEPTH_MAX; i++) {
		pc = fr_walk_up(&w);
		if (!pc)
			break;
		m->pc[i] = pc;
	}
	return i;
}

/* ---- for those who unwind it ---- */

_Static_assert(FR_USTACK_REG_CNT == FR_ALL_REG_CNT, "all are kept");

/* The slot that was filled first, from number first on; FR_USTACK_CNT: not long ago. */
FR_INLINE u32 ustack_oldest(u64 now_ns, u32 first)
{
	u64 oldest_ns = now_ns - FR_USTACK_KEPT_NS;
	u32 slot = FR_USTACK_CNT, i;
	struct fr_ustack *u;

	for (i = 0; i < FR_USTACK_CNT; i++) {
		u = i < first ? NULL : fr_ustack_at(i);
		if (!u || u->busy || u->mono_ns >= oldest_ns)
			continue;
		oldest_ns = u->mono_ns;
		slot = i;
	}
	return slot;
}

/* Take the slot that was filled first, and no other program has taken meanwhile. FR_USTACK_CNT: there is none. */
__noinline u32 fr_ustack_take(u64 now_ns, u32 first)
{
	struct fr_ustack *u;
	u32 slot, i;

	for (i = 0; i < FR_USTACK_CNT; i++) {
		slot = ustack_oldest(now_ns, first);
		u = fr_ustack_at(slot);
		if (!u)
			break;
		if (fr_cas(&u->busy, 0, 1))
			continue;
		if (u->mono_ns < now_ns - FR_USTACK_KEPT_NS)
			return slot;
		fr_publish(&u->busy, 0);
	}
	return FR_USTACK_CNT;
}

/* Keep a page, if it is there. Returns whether there is room for more, up to max. */
__noinline u32 fr_ustack_page(u32 slot, u64 at, u32 max)
{
	struct fr_ustack *u = fr_ustack_at(slot);
	u32 i;

	if (!u)
		return 0;
	i = u->page_cnt;
	asm volatile("" : "+r"(i));
	if (i >= FR_USTACK_PAGE_CNT || i >= max)
		return 0;
	if (bpf_probe_read_user(u->bytes + i * FR_USTACK_PAGE_SZ, FR_USTACK_PAGE_SZ, (void *)at))
		return 1;
	u->page[i] = at;
	u->page_cnt = i + 1;
	return 1;
}

/* Where a stack begins that has overflowed: its pointer points to what is below. 0: nothing is near. */
FR_INLINE u64 stack_above(u64 addr)
{
	struct mapping map;
	u64 next;

	if (fr_mapping_read(addr, &map))
		return 0;
	next = map.end ?: fr_vma_gap_last(addr) + 1;
	return next - addr < FR_FRAME_MAX ? next : 0;
}

/* The stack from its pointer's page up. Pages of it that nothing was ever written to are not there. */
__noinline int fr_ustack_copy(u32 slot, u64 sp, u32 max)
{
	u64 at = sp & ~(u64)(FR_USTACK_PAGE_SZ - 1), end = stack_end(sp);
	u32 i;

	if (!end) {
		at = stack_above(sp);
		end = stack_end(at);
	}
	for (i = 0; i < FR_USTACK_TRY_CNT && at < end; i++) {
		if (!fr_ustack_page(slot, at, max))
			break;
		at += FR_USTACK_PAGE_SZ;
	}
	return 0;
}

/* Is this address on the stack that handlers of signals have to themselves? */
FR_INLINE bool is_handlers(u64 sp)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	return sp - task->sas_ss_sp - 1 < task->sas_ss_size;
}

#define UCONTEXT_SIZE 2u /* words from that stack's address to its size, in what the kernel puts on it */
#define UCONTEXT_SP   18u

/*
 * The stack pointer of the code that the handler interrupted, which is noted from one of PART_WORDS words on. 0: it is not. So
 * few at a time, since the verifier goes through a loop's rounds one by one, whoever starts a recorder waits for that, and a
 * function's only once.
 */
#define PART_WORDS 32u

__noinline u64 fr_ustack_interrupted(u32 slot, u32 first)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	u64 stack = task->sas_ss_sp, sz = task->sas_ss_size, sp;
	struct fr_ustack *u = fr_ustack_at(slot);
	const u64 *word;
	u32 i, at;

	if (!u)
		return 0;
	for (i = 0; i < PART_WORDS; i++) {
		at = first + i;
		asm volatile("" : "+r"(at));
		if (at >= sizeof(u->bytes) / sizeof(*word) - UCONTEXT_SP)
			break;
		word = (const u64 *)u->bytes + at;
		sp = word[UCONTEXT_SP];
		if (word[0] == stack && word[UCONTEXT_SIZE] == sz && !is_handlers(sp))
			return sp;
	}
	return 0;
}

#define PAGE_PARTS (FR_USTACK_PAGE_SZ / sizeof(u64) / PART_WORDS)

/* The stack, and that of what a signal interrupted whose handler has one of its own. */
FR_INLINE void copy_stacks(u32 slot, const struct fr_ustack *u, u64 sp)
{
	u64 more = 0;
	u32 i;

	if (!is_handlers(sp)) {
		fr_ustack_copy(slot, sp, FR_USTACK_PAGE_CNT);
		return;
	}
	fr_ustack_copy(slot, sp, FR_USTACK_OWN_CNT);
	for (i = 0; i < FR_USTACK_OWN_CNT * PAGE_PARTS && i < u->page_cnt * PAGE_PARTS && !more; i++)
		more = fr_ustack_interrupted(slot, i * PART_WORDS);
	if (more)
		fr_ustack_copy(slot, more, FR_USTACK_PAGE_CNT);
}

FR_INLINE u32 map_flags(const struct vm_area_struct *vma)
{
	u64 flags = BPF_CORE_READ(vma, vm_flags);

	return (flags & (FR_MAP_READ | FR_MAP_WRITE | FR_MAP_EXEC)) | (flags & FR_VM_SHARED ? FR_MAP_SHARED : 0);
}

_Static_assert(FR_MAP_READ == FR_VM_READ && FR_MAP_WRITE == FR_VM_WRITE && FR_MAP_EXEC == FR_VM_EXEC, "the kernel's own");

/* A file that is mapped, or what the kernel maps into each process. 0: memory that is of neither. */
FR_INLINE u64 map_source(const struct vm_area_struct *vma)
{
	u64 file = (u64)BPF_CORE_READ(vma, vm_file);

	return file || !BPF_CORE_READ(vma, vm_ops) ? file : (u64)BPF_CORE_READ(vma, vm_private_data);
}

/* Where they lie is the kernel's: the name is not the first there. */
struct anon_vma_name___named {
	char name[1];
} __attribute__((preserve_access_index));
struct vm_area_struct___named {
	struct anon_vma_name___named *anon_name;
} __attribute__((preserve_access_index));

#define ANON_NAME_MAX 80u /* with its NUL, as the kernel has it */

/* The kernel's address of the name that the program gave to memory of no file (prctl(PR_SET_VMA)). 0: none, or not known. */
FR_INLINE u64 anon_name(const struct vm_area_struct *vma)
{
	const struct vm_area_struct___named *named = (const void *)vma;

	return bpf_core_field_exists(named->anon_name) && !BPF_CORE_READ(vma, vm_file) ? (u64)BPF_CORE_READ(named, anon_name)
										       : 0;
}

FR_INLINE void put_anon_name(char name[FR_ALERT_PATH_MAX], u64 named)
{
	static const char head[] = "[anon:";
	const u32 at = sizeof(head) - 1;
	u32 sz;

	sz = bpf_probe_read_kernel_str(name + at, ANON_NAME_MAX, ((struct anon_vma_name___named *)named)->name);
	if (sz - 1 >= ANON_NAME_MAX)
		return;
	asm volatile("" : "+r"(sz));
	sz &= 127; /* the register that is used, for Linux 6.1's verifier */
	name[at + sz - 1] = ']';
	name[at + sz] = 0;
	__builtin_memcpy(name, head, at);
}

/* Memory that is of no file and has a name nevertheless, as /proc/PID/maps has it. before: how many names there are, of which
 * programs may not fill all with their own. */
FR_INLINE bool put_own_name(char name[FR_ALERT_PATH_MAX], const struct vm_area_struct *vma, u64 source, u32 before)
{
	static const char heap[] = "[heap]", stack[] = "[stack]";
	const struct mm_struct *mm = BPF_CORE_READ(vma, vm_mm);
	u64 start = BPF_CORE_READ(vma, vm_start), end = BPF_CORE_READ(vma, vm_end), at = BPF_CORE_READ(mm, start_stack);

	if (source)
		bpf_probe_read_kernel_str(name, FR_ALERT_PATH_MAX, BPF_CORE_READ((struct vm_special_mapping *)source, name));
	else if (start < BPF_CORE_READ(mm, brk) && end > BPF_CORE_READ(mm, start_brk))
		__builtin_memcpy(name, heap, sizeof(heap));
	else if (start <= at && end >= at)
		__builtin_memcpy(name, stack, sizeof(stack));
	else if (before < FR_USTACK_ANON_NAMES && anon_name(vma))
		put_anon_name(name, anon_name(vma));
	return name[0] == '[';
}

/* The number of the name of a mapping, from 1; 0: it has none, or there is no room for one more. Those of one file follow each
 * other. */
FR_INLINE u32 map_name(u32 nr, struct fr_ustack *u, const struct vm_area_struct *vma, u64 source, bool is_code)
{
	struct fr_moment_room *m = fr_moment(nr);
	struct fr_ustack_name *name;
	u32 i = u->memory.name_cnt, at;

	if (source && source == u->memory.last_file)
		return i;
	asm volatile("" : "+r"(i));
	if (!m || i >= FR_USTACK_NAME_CNT || (!is_code && i >= FR_USTACK_NAME_CNT - FR_USTACK_CODE_NAMES))
		return 0;
	name = &u->memory.name[i];
	name->ino = 0;
	name->path[0] = 0;
	if (source && source == (u64)BPF_CORE_READ(vma, vm_file)) {
		name->ino = BPF_CORE_READ((struct path *)fr_moment_opened(source), dentry, d_inode, i_ino);
		at = fr_moment_path(nr, source);
		bpf_probe_read_kernel_str(name->path, sizeof(name->path), (char *)m->pc + (at & (FR_ALERT_PATH_MAX - 1)));
	} else if (!put_own_name(name->path, vma, source, i)) {
		return 0;
	}
	u->memory.last_file = source;
	u->memory.name_cnt = i + 1;
	return i + 1;
}

struct super_block___magic {
	unsigned long s_magic;
} __attribute__((preserve_access_index));
struct dentry___magic {
	struct super_block___magic *d_sb;
} __attribute__((preserve_access_index));

#define TMPFS_MAGIC	0x01021994u
#define HUGETLBFS_MAGIC 0x958458f6u

/*
 * Had the file of a mapping no name in its directory, as /proc/PID/maps tells it? False if that is not known. One that is in no
 * directory at all has none to lose (io_uring, perf events): of these only memory is told so (memfd, shared memory).
 */
FR_INLINE bool is_gone(u64 file)
{
	const struct dentry *dentry = BPF_CORE_READ((struct path *)fr_moment_opened(file), dentry);
	void *hashed;
	u64 magic;

	if (!dentry || bpf_core_read(&hashed, sizeof(hashed), &dentry->d_hash.pprev) || hashed)
		return false;
	magic = BPF_CORE_READ((const struct dentry___magic *)dentry, d_sb, s_magic);
	return BPF_CORE_READ(dentry, d_parent) != dentry || magic == TMPFS_MAGIC || magic == HUGETLBFS_MAGIC;
}

/* Note a mapping, by the address of its vm_area_struct, if there is room. */
__noinline int fr_ustack_note(u32 nr, u32 slot, u64 address)
{
	struct vm_area_struct *vma = (void *)address;
	struct fr_ustack *u = fr_ustack_at(slot);
	struct fr_ustack_map *map;
	u64 file;
	u32 i;

	if (!u)
		return 0;
	i = u->map_cnt;
	asm volatile("" : "+r"(i));
	if (i >= FR_USTACK_MAP_CNT)
		return 0;
	map = &u->map[i];
	map->flags = map_flags(vma);
	if (!(map->flags & FR_MAP_EXEC) && i >= FR_USTACK_MAP_CNT - FR_USTACK_CODE_MAPS)
		return 0;
	map->start = BPF_CORE_READ(vma, vm_start);
	map->end = BPF_CORE_READ(vma, vm_end);
	file = (u64)BPF_CORE_READ(vma, vm_file);
	map->off = file ? BPF_CORE_READ(vma, vm_pgoff) << fr_page_shift : 0;
	map->name = map_name(nr, u, vma, map_source(vma), map->flags & FR_MAP_EXEC);
	map->flags |= file ? FR_MAP_FILE | (is_gone(file) ? FR_MAP_GONE : 0) : 0;
	u->map_cnt = i + 1;
	return 0;
}

/* Look at what is mapped at addr. Returns where the next mapping, or gap, begins; 0: there is none, or it cannot be found. */
__noinline u64 fr_ustack_look(u32 nr, u32 slot, u64 addr)
{
	struct vm_area_struct *vma = (void *)fr_vma_find(addr);
	u64 end;

	if ((u64)vma == FR_MAPLE_DEAD)
		return 0;
	if (!vma)
		return fr_vma_gap_last(addr) + 1;
	end = BPF_CORE_READ(vma, vm_end);
	if (end <= addr || (u64)BPF_CORE_READ(vma, vm_mm) != (u64)bpf_get_current_task_btf()->mm)
		return 0;
	fr_ustack_note(nr, slot, (u64)vma);
	return end;
}

#define PART_LOOKS 32u

/* Look at so many mappings and gaps from addr on. Returns where the next one begins; 0: there is none. */
__noinline u64 fr_ustack_look_on(u32 nr, u32 slot, u64 addr)
{
	u32 i;

	for (i = 0; i < PART_LOOKS; i++) {
		addr = fr_ustack_look(nr, slot, addr);
		if (!addr)
			break;
	}
	return addr;
}

__noinline int fr_ustack_maps(u32 nr, u32 slot)
{
	u64 addr = 0;
	u32 i;

	for (i = 0; i < FR_USTACK_LOOK_CNT / PART_LOOKS; i++) {
		addr = fr_ustack_look_on(nr, slot, addr);
		if (!addr)
			break;
	}
	return 0;
}

/* ---- its memory ---- */

/* The lowest of up to FR_USTACK_NEAR_BELOW mappings that adjoin each other below addr; addr: there is none. */
__noinline u64 fr_ustack_below(u64 addr)
{
	struct mapping map;
	u32 i;

	for (i = 0; i <= FR_USTACK_NEAR_BELOW; i++) {
		if (fr_mapping_read(addr - !!i, &map) || (i && !map.end))
			break;
		addr = map.end ? map.start : addr & ~(u64)(FR_MM_PAGE_SZ - 1);
		if (!addr)
			break;
	}
	return addr;
}

/* What is mapped around an address. */
__noinline int fr_ustack_near(u32 nr, u32 slot, u64 addr)
{
	u32 i;

	addr = addr ? fr_ustack_below(addr) : 0;
	for (i = 0; i < FR_USTACK_NEAR_BELOW + FR_USTACK_NEAR_ABOVE && addr; i++)
		addr = fr_ustack_look(nr, slot, addr);
	return 0;
}

/* More than have room: those that matter first. */
FR_INLINE void keep_memory(u32 nr, u32 slot, struct fr_ustack *u)
{
	struct fr_alert *a = fr_alert(nr);
	const struct mm_struct *mm = bpf_get_current_task_btf()->mm;
	const struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

	u->memory.ip = fr_regs_ip(regs);
	u->memory.sp = fr_regs_sp(regs);
	u->memory.addr = a && fr_sig_has_addr(a->sig, a->code) ? a->addr : FR_SCENE_NO_VALUE;
	u->memory.had_cnt = mm && bpf_core_field_exists(mm->mm_mt) ? BPF_CORE_READ(mm, map_count) : 0;
	if (u->memory.had_cnt > FR_USTACK_MAP_CNT - FR_USTACK_CODE_MAPS) {
		fr_ustack_near(nr, slot, u->memory.ip);
		fr_ustack_near(nr, slot, u->memory.sp);
		if (u->memory.addr != FR_SCENE_NO_VALUE)
			fr_ustack_near(nr, slot, u->memory.addr);
		if (u->scene.thread_cnt > 1) /* most wait in the same library */
			fr_ustack_near(nr, slot, u->scene.thread[1].ip);
	}
	fr_ustack_maps(nr, slot);
}

/* Of a process whose stack can be unwound. */
FR_INLINE void keep_stack_of(u32 slot, struct fr_ustack *u)
{
	struct fr_user_regs regs;

	if (fr_entry_regs(&regs) != sizeof(u64))
		return;
	fr_entry_all_regs(u->reg);
	copy_stacks(slot, u, regs.sp);
}

__noinline u32 fr_moment_ustack(u32 nr, u32 depth)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	struct fr_alert *a = fr_alert(nr);
	struct fr_ustack *u;
	u32 slot;

	if (!a || !task->mm)
		return FR_USTACK_CNT;
	slot = fr_ustack_take(a->mono_ns, a->kind == FR_TRIGGER_status ? FR_USTACK_CRASH_CNT : 0);
	u = fr_ustack_at(slot);
	if (!u)
		return FR_USTACK_CNT;
	fr_xchg(&u->stack_id, 0); /* before anything else changes; pairs with copy() (user/live/session/ustacks.c) */
	u->mono_ns = a->mono_ns;
	u->tid = a->tid;
	u->pid = a->pid;
	u->frame_cnt = depth;
	u->map_cnt = 0;
	u->memory.name_cnt = 0;
	u->memory.last_file = 0;
	u->page_cnt = 0;
	u->mnt_ns = BPF_CORE_READ(task, nsproxy, mnt_ns, ns.inum);
	u->scene.at_ns = 0;
	return slot;
}

__noinline int fr_moment_ustack_done(u32 nr, u32 slot, u64 stack_id)
{
	struct fr_ustack *u = fr_ustack_at(slot);

	if (!u)
		return 0;
	keep_stack_of(slot, u);
	keep_memory(nr, slot, u);
	fr_publish(&u->stack_id, stack_id);
	fr_publish(&u->busy, 0);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
