/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * scene: what the current task's process has as it dies (scene.h). Each function is global, so that it is verified once; the
 * loop over them is in the program itself (trigger.bpf.h): an object's text is six calls deep.
 *
 * Other threads of the process may still open and close: what is read then is of either moment.
 */
#include "trigger/ustack.bpf.h"

#include "arch.bpf.h"
#include "object.bpf.h"
#include "task_state.h"

#define WORD_BITS  64u
#define FD_WORDS   (FR_SCENE_FD_MOST / WORD_BITS)
#define PART_WORDS 64u /* that one function looks at: the verifier goes through its loop once, round by round */
#define PART_CNT   (FD_WORDS / PART_WORDS)

#define FR_O_CLOEXEC 02000000u /* on x86-64 and arm64 */

_Static_assert(FR_SCENE_OBJECT_SZ == FR_PATH_MAX, "an object has a path's room");

/* Who preempts a program of ours on this CPU (newer kernels do) leaves objects out: their room is one. */
struct scene_room {
	u64 busy; /* the CAS and the store of 0 pair with those of who preempts it here: program order is enough */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct scene_room);
} fr_scene_room SEC(".maps");

FR_INLINE struct fdtable *scene_table(void)
{
	struct files_struct *files = BPF_CORE_READ(bpf_get_current_task_btf(), files);

	return files ? BPF_CORE_READ(files, fdt) : NULL;
}

/* ---- which descriptors are open: bits in the room of the stack, which is kept later ---- */

/* The words of the table that were copied. */
FR_INLINE u32 word_cnt(const struct fr_ustack *u)
{
	return u->scene.fd_end / WORD_BITS;
}

/* Which of the descriptors 64 * word and on are open. */
FR_INLINE u64 open_word(const struct fr_ustack *u, u32 word)
{
	asm volatile("" : "+r"(word));
	return ((const u64 *)u->bytes)[word & (FD_WORDS - 1)];
}

FR_INLINE u32 bit_cnt(u64 bits)
{
	bits -= bits >> 1 & 0x5555555555555555ULL;
	bits = (bits & 0x3333333333333333ULL) + (bits >> 2 & 0x3333333333333333ULL);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return bits * 0x0101010101010101ULL >> 56;
}

/* The number of the lowest bit that is set. */
FR_INLINE u32 lowest_bit(u64 bits)
{
	return bit_cnt((bits & -bits) - 1);
}

/* Copy the bits, in one read: other threads may go on opening. */
FR_INLINE void copy_table(struct fr_ustack *u)
{
	struct fdtable *fdt = scene_table();
	u32 max = fdt ? BPF_CORE_READ(fdt, max_fds) : 0, sz;

	u->scene.fd_more = max > FR_SCENE_FD_MOST;
	if (max > FR_SCENE_FD_MOST)
		max = FR_SCENE_FD_MOST;
	sz = max / 8;
	asm volatile("" : "+r"(sz));
	if (sz > FR_SCENE_FD_MOST / 8)
		return;
	u->scene.fd_end = fdt && !bpf_probe_read_kernel(u->bytes, sz, BPF_CORE_READ(fdt, open_fds)) ? max : 0;
}

/* How many are open of a part of the table. */
__noinline u32 fr_scene_cnt(u32 slot, u32 part)
{
	const struct fr_ustack *u = fr_ustack_at(slot);
	u32 first = part * PART_WORDS, cnt = 0, i;

	for (i = 0; u && i < PART_WORDS && first + i < word_cnt(u); i++)
		cnt += bit_cnt(open_word(u, first + i));
	return cnt;
}

FR_INLINE u32 open_cnt(u32 slot, const struct fr_ustack *u)
{
	u32 cnt = 0, i;

	for (i = 0; i < PART_CNT && i * PART_WORDS < word_cnt(u); i++)
		cnt += fr_scene_cnt(slot, i);
	return cnt;
}

/* Where the last n of a part's begin. It has as many. */
__noinline u32 fr_scene_last_of(u32 slot, u32 part, u32 n)
{
	const struct fr_ustack *u = fr_ustack_at(slot);
	u32 word = (part + 1) * PART_WORDS, cnt = 0, i;
	u64 bits = 0;

	if (!u)
		return 0;
	if (word > word_cnt(u))
		word = word_cnt(u);
	for (i = 0; i < PART_WORDS && word; i++) {
		bits = open_word(u, --word);
		cnt = bit_cnt(bits);
		if (cnt >= n)
			break;
		n -= cnt;
	}
	for (i = 0; i < WORD_BITS && i + n < cnt; i++)
		bits &= bits - 1;
	return word * WORD_BITS + (bits ? lowest_bit(bits) : 0);
}

__noinline u32 fr_scene_last(u32 slot, u32 n)
{
	u32 cnt, i;

	for (i = PART_CNT; i > 0; i--) {
		cnt = fr_scene_cnt(slot, i - 1);
		if (cnt >= n)
			return fr_scene_last_of(slot, i - 1, n);
		n -= cnt;
	}
	return 0;
}

/* In the part that from is of. */
__noinline u32 fr_scene_next_of(u32 slot, u32 from)
{
	const struct fr_ustack *u = fr_ustack_at(slot);
	u32 word = from / WORD_BITS, i;
	u64 bits;

	if (!u || word >= word_cnt(u))
		return FR_SCENE_NO_FD;
	bits = open_word(u, word) & ~0ULL << from % WORD_BITS;
	for (i = 0; i < PART_WORDS && !bits; i++) {
		word++;
		if (!(word % PART_WORDS) || word >= word_cnt(u))
			return FR_SCENE_NO_FD;
		bits = open_word(u, word);
	}
	return bits ? word * WORD_BITS + lowest_bit(bits) : FR_SCENE_NO_FD;
}

__noinline u32 fr_scene_next(u32 slot, u32 from)
{
	const u32 part_fds = PART_WORDS * WORD_BITS;
	u32 fd, i;

	for (i = 0; i < PART_CNT; i++) {
		fd = fr_scene_next_of(slot, from);
		if (fd != FR_SCENE_NO_FD)
			return fd;
		from = (from / part_fds + 1) * part_fds;
	}
	return FR_SCENE_NO_FD;
}

/* ---- what they stand for ---- */

FR_INLINE struct file *file_of(const struct fdtable *fdt, u32 fd)
{
	struct file *file = NULL;

	bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(fdt, fd) + fd);
	return file;
}

/* Flags and place, as /proc/PID/fdinfo has them. */
FR_INLINE void put_file(struct fr_scene_fd *to, const struct fdtable *fdt, const struct file *file)
{
	u64 bits = 0;

	bpf_probe_read_kernel(&bits, sizeof(bits), BPF_CORE_READ(fdt, close_on_exec) + to->fd / WORD_BITS);
	to->flags = BPF_CORE_READ(file, f_flags) & ~FR_O_CLOEXEC;
	to->flags |= bits >> to->fd % WORD_BITS & 1 ? FR_O_CLOEXEC : 0;
	to->pos = BPF_CORE_READ(file, f_pos);
}

FR_INLINE void put_object(struct fr_scene_fd *to, u64 file)
{
	struct object_room *o = object_room();
	u32 zero = 0, at;
	struct scene_room *room = bpf_map_lookup_elem(&fr_scene_room, &zero);

	to->object[0] = 0;
	if (!o || !room || fr_cas(&room->busy, 0, 1))
		return;
	at = fr_object_file(file);
	if (at != ~0u && take_text(o, at))
		bpf_probe_read_kernel(to->object, sizeof(to->object), o->out);
	fr_store(&room->busy, 0);
}

__noinline u32 fr_scene_put(u32 slot, u32 fd)
{
	struct fdtable *fdt = scene_table();
	struct fr_ustack *u = fr_ustack_at(slot);
	struct fr_scene_fd *to;
	struct file *file;
	u32 i;

	if (!fdt || !u)
		return 0;
	i = u->scene.fd_cnt;
	asm volatile("" : "+r"(i));
	if (i >= FR_SCENE_FD_CNT)
		return i;
	file = file_of(fdt, fd);
	if (!file) {
		u->scene.open_cnt--; /* another thread has only reserved it, or has closed it since */
		return i;
	}
	to = &u->scene.fd[i];
	to->fd = fd;
	put_file(to, fdt, file);
	put_object(to, FR_ADDRESS(file));
	u->scene.fd_cnt = i + 1;
	return i + 1;
}

/* ---- limits ---- */

/* Threads of the user: the kernel's number of a user's "processes" counts these. */
FR_INLINE u64 thread_cnt(const struct task_struct *task)
{
	struct ucounts *ucounts = NULL;
	u64 cnt = FR_SCENE_NO_VALUE;
	u32 at;

	if (!bpf_core_field_exists(ucounts->rlimit) || !bpf_core_enum_value_exists(enum rlimit_type, UCOUNT_RLIMIT_NPROC))
		return FR_SCENE_NO_VALUE;
	at = bpf_core_field_offset(struct ucounts, rlimit) +
	     bpf_core_enum_value(enum rlimit_type, UCOUNT_RLIMIT_NPROC) * sizeof(cnt);
	ucounts = BPF_CORE_READ(task, cred, ucounts);
	return !ucounts || bpf_probe_read_kernel(&cnt, sizeof(cnt), (void *)ucounts + at) ? FR_SCENE_NO_VALUE : cnt;
}

/* What it uses of limits that the kernel counts in one number. */
FR_INLINE void put_used(struct fr_scene *s)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	u32 i;

	for (i = 0; i < FR_SCENE_LIMIT_CNT; i++)
		s->used[i] = FR_SCENE_NO_VALUE;
	s->used[FR_RLIMIT_NPROC] = thread_cnt(task);
	if (!mm)
		return;
	s->used[FR_RLIMIT_DATA] = BPF_CORE_READ(mm, data_vm) << fr_page_shift;
	s->used[FR_RLIMIT_STACK] = BPF_CORE_READ(mm, stack_vm) << fr_page_shift;
	s->used[FR_RLIMIT_MEMLOCK] = BPF_CORE_READ(mm, locked_vm) << fr_page_shift;
	s->used[FR_RLIMIT_AS] = BPF_CORE_READ(mm, total_vm) << fr_page_shift;
}

/* ---- threads ---- */

#define SIGNAL_GROUP_EXIT 4u

/* Another thread's registers of user code lie as far up its stack in the kernel as the current one's do. */
FR_INLINE u64 thread_regs(const struct task_struct *task)
{
	struct task_struct *self = bpf_get_current_task_btf();

	return (u64)BPF_CORE_READ(task, stack) + (FR_ADDRESS(bpf_task_pt_regs(self)) - (u64)BPF_CORE_READ(self, stack));
}

FR_INLINE u64 thread_switches(const struct task_struct *task)
{
	return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

/* Where it left its user code, and in which call. A thread that has never been in user code has no such registers. */
FR_INLINE void put_place(struct fr_scene_thread *to, const struct task_struct *task)
{
	struct pt_regs *regs = (void *)thread_regs(task);

	to->ip = fr_probe_ip(regs);
	to->sp = fr_probe_sp(regs);
	to->abi = fr_probe_abi(task);
	to->id = to->ip ? fr_probe_syscall(regs) : -1;
}

_Static_assert(FR_USTACK_RAW_CNT == FR_RAW_REG_CNT, "room for them");

/* Within a page. Returns how much there is: all, or nothing. */
FR_INLINE u32 copy_piece(struct fr_ustack *u, u32 at, u64 from, u32 sz)
{
	asm volatile("" : "+r"(at), "+r"(sz));
	if (at > FR_USTACK_THREAD_ROOM || sz > FR_USTACK_PAGE_SZ)
		return 0;
	return sz && !bpf_probe_read_user(u->thread_bytes + at, sz, (void *)from) ? sz : 0;
}

/* What a thread's stack has from sp up: its memory is the current task's, too. A page that is not there is not waited for. */
FR_INLINE u32 copy_thread_stack(struct fr_ustack *u, u32 at, u64 sp, u32 max)
{
	u32 first = FR_USTACK_PAGE_SZ - (sp & (FR_USTACK_PAGE_SZ - 1)), sz;

	first = first < max ? first : max;
	sz = copy_piece(u, at, sp, first);
	return sz < first ? 0 : sz + copy_piece(u, at + sz, sp + sz, max - sz);
}

/* What it takes to find a thread's frames. */
__noinline u32 fr_scene_thread_stack(u32 slot, u32 i, u64 address)
{
	const struct task_struct *task = (void *)address;
	struct fr_ustack *u = fr_ustack_at(slot);
	struct fr_ustack_thread *to;
	u32 max;

	asm volatile("" : "+r"(i));
	if (!u || i >= FR_SCENE_THREAD_CNT)
		return 0;
	max = u->scene.thread_had_cnt > FR_USTACK_THREADS_FEW ? FR_USTACK_THREAD_SZ : FR_USTACK_PAGE_SZ;
	if (i * max >= FR_USTACK_THREAD_ROOM) /* more have begun since they were counted */
		return 0;
	to = &u->thread[i];
	to->at = i * max;
	if (fr_probe_all_regs((void *)thread_regs(task), u->raw, to->reg))
		to->sz = copy_thread_stack(u, to->at, to->reg[7], max);
	return to->sz;
}

FR_INLINE void put_thread(u32 slot, u32 i, struct fr_scene_thread *to, const struct task_struct *task)
{
	u64 before = thread_switches(task);
	bool is_self = (u64)task == FR_ADDRESS(bpf_get_current_task_btf());

	__builtin_memset(to, 0, sizeof(*to));
	to->id = -1;
	to->tid = BPF_CORE_READ(task, pid);
	to->flags = is_self ? FR_SCENE_THREAD_DIED : BPF_CORE_READ(task, on_cpu) ? FR_SCENE_THREAD_RUNS : 0;
	BPF_CORE_READ_STR_INTO(&to->comm, task, comm);
	if (to->flags & FR_SCENE_THREAD_RUNS)
		return;
	put_place(to, task);
	to->state = is_self ? 0 : fr_prev_state(BPF_CORE_READ(task, __state), BPF_CORE_READ(task, exit_state));
	if (!is_self && to->ip && fr_scene_thread_stack(slot, i, (u64)task))
		to->flags |= FR_SCENE_THREAD_KEPT;
	if (is_self || (!BPF_CORE_READ(task, on_cpu) && thread_switches(task) == before))
		return;
	to->flags = FR_SCENE_THREAD_MOVED;
	to->id = -1;
	to->ip = to->sp = to->state = 0;
}

/* Note a thread, by the address of its node in the list of its process. Returns the next one's; 0: the list is no such any
 * more. */
__noinline u64 fr_scene_thread(u32 slot, u64 node)
{
	struct task_struct *task = (void *)(node - bpf_core_field_offset(struct task_struct, thread_node));
	struct task_struct *self = bpf_get_current_task_btf();
	struct fr_ustack *u = fr_ustack_at(slot);
	u32 i;

	if (!u || (u64)BPF_CORE_READ(task, signal) != FR_ADDRESS(self->signal))
		return 0;
	i = u->scene.thread_cnt;
	asm volatile("" : "+r"(i));
	if (i < FR_SCENE_THREAD_CNT && (!i || (u64)task != FR_ADDRESS(self))) {
		u->thread[i].at = u->thread[i].sz = 0;
		put_thread(slot, i, &u->scene.thread[i], task);
		u->scene.thread_cnt = i + 1;
	}
	return (u64)BPF_CORE_READ(task, thread_node.next);
}

/* The one that dies, then the others, unless they are being killed already. They go on meanwhile. */
__noinline u32 fr_scene_threads(u32 slot)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct fr_ustack *u = fr_ustack_at(slot);
	u64 signal = FR_ADDRESS(self->signal), head = signal + bpf_core_field_offset(struct signal_struct, thread_head), node;
	u32 i, now;

	if (!u)
		return 0;
	u->scene.thread_cnt = 0;
	u->scene.thread_had_cnt = 0;
	if (BPF_CORE_READ((struct signal_struct *)signal, flags) & SIGNAL_GROUP_EXIT)
		return 0;
	u->scene.thread_had_cnt = BPF_CORE_READ((struct signal_struct *)signal, nr_threads);
	fr_scene_thread(slot, FR_ADDRESS(self) + bpf_core_field_offset(struct task_struct, thread_node));
	node = (u64)BPF_CORE_READ((struct signal_struct *)signal, thread_head.next);
	for (i = 0; i <= FR_SCENE_THREAD_CNT && node && node != head; i++)
		node = fr_scene_thread(slot, node);
	now = BPF_CORE_READ((struct signal_struct *)signal, nr_threads);
	if (now > u->scene.thread_had_cnt)
		u->scene.thread_had_cnt = now;
	return u->scene.thread_cnt;
}

__noinline u32 fr_scene_begin(u32 slot)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fr_ustack *u = fr_ustack_at(slot);
	struct signal_struct *signal = BPF_CORE_READ(task, signal);

	if (!u)
		return 0;
	u->scene.start_ns = task->start_time;
	u->scene.fd_cnt = 0;
	copy_table(u);
	u->scene.open_cnt = open_cnt(slot, u);
	put_used(&u->scene);
	bpf_probe_read_kernel(u->scene.limit, sizeof(u->scene.limit),
			      (void *)signal + bpf_core_field_offset(struct signal_struct, rlim));
	u->scene.at_ns = fr_now();
	return u->scene.open_cnt;
}

char _license[] SEC("license") = "Dual BSD/GPL";
