/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * object: what a descriptor of a task stands for, as text.
 *
 *	ext4:/var/lib/x	a file: file system and path; if that is too long, "ext4:..." and its end
 *	[eventpoll]	what has a name and no directory: eventfd, epoll, timerfd, memfd, ...
 *	pipe:[1234]	a pipe: its inode, as /proc/PID/fd has it
 *	tcp:A:80-B:4711	a socket: protocol, own address and port, peer's
 *	unix:/run/x	its own address or, if it has none, its peer's; "@" for the NUL of an abstract one
 *	socket:16	a socket of another family
 *	work:F		a worker of a workqueue: the function that it was called for
 *	restart:F	restart_syscall: the function that goes on with the interrupted call
 *
 * It is looked up from outside the task: the descriptor may have been closed or reused since the call began. Everything is read
 * by probes, or by loads that give 0 where they fault. If a structure is freed meanwhile, the text is wrong, nothing else.
 *
 * Included by one file only. The text is made in this CPU's room: callers must not nest.
 */
#ifndef FR_OBJECT_BPF_H
#define FR_OBJECT_BPF_H

#include "record.bpf.h"

/*
 * A load is an instruction, a probe a call of some 20 ns; several dozen of either lead to a text. Loads are for who includes
 * current.bpf.h before.
 */
#ifdef FR_CAST
#define FR_OBJECT_READ(src, field) (fr_can_cast ? FR_CAST(src)->field : BPF_CORE_READ(src, field))
#else
#define FR_OBJECT_READ(src, field) BPF_CORE_READ(src, field)
#endif
#define FR_PATH_READ FR_OBJECT_READ

#include "path.bpf.h"

#define FR_OBJECT_WORDS (FR_PATH_MAX / FR_UNIT_SZ)

struct object_room {
	char text[2 * FR_PATH_MAX];
	u64 out[FR_OBJECT_WORDS]; /* the result, padded with NULs */
	struct path_walk walk;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct object_room);
} fr_object_room SEC(".maps");

FR_INLINE struct object_room *object_room(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&fr_object_room, &zero);
}

/* ---- files ---- */

__noinline u32 fr_object_step(void)
{
	struct object_room *r = object_room();

	return r ? fr_path_up(&r->walk, r->text) : 0;
}

/* Put "TYPE:" in front, the file system's. */
FR_INLINE void put_fs(struct object_room *r, struct file *file)
{
	struct inode *inode = FR_OBJECT_READ(file, f_inode);
	struct super_block *sb = FR_OBJECT_READ(inode, i_sb);
	struct file_system_type *type = FR_OBJECT_READ(sb, s_type);
	char name[16];
	long sz = bpf_probe_read_kernel_str(name, sizeof(name), FR_OBJECT_READ(type, name));
	u32 len = sz > 0 ? sz - 1 : 0, i;

	if (!len || len + 1 > r->walk.pos)
		return;
	r->walk.pos -= len + 1;
	for (i = 0; i < sizeof(name) - 1 && i < len; i++)
		r->text[(r->walk.pos + i) & FR_PATH_LAST] = name[i];
	r->text[(r->walk.pos + len) & FR_PATH_LAST] = ':';
}

/* Returns where in the room's text the path begins. */
__noinline u32 fr_object_path(u64 address)
{
	struct file *file = (void *)address;
	struct object_room *r = object_room();
	struct dentry *dentry;
	u32 i, more = 1;

	if (!r)
		return 0;
	fr_path_begin(&r->walk, r->text, (void *)file + bpf_core_field_offset(struct file, f_path));
	dentry = r->walk.dentry;
	for (i = 0; i < FR_PATH_STEPS && more; i++)
		more = fr_object_step();
	if (r->walk.cut || more)
		fr_path_say_cut(&r->walk, r->text);
	if (FR_OBJECT_READ(dentry, d_parent) == dentry && r->walk.pos + 1 < FR_PATH_LAST)
		r->walk.pos++; /* no directory, no slash */
	else
		put_fs(r, file);
	return r->walk.pos & FR_PATH_LAST;
}

/* ---- numbers, each put in front of what the text has from pos on; the new pos is returned ---- */

FR_INLINE u32 put_char(struct object_room *r, u32 pos, char c)
{
	r->text[--pos & FR_PATH_LAST] = c;
	return pos;
}

/* Of 16 bits. bpf_snprintf() takes half a microsecond for an address. */
__noinline u32 fr_object_dec(u32 pos, u32 value)
{
	struct object_room *r = object_room();
	u32 i, rest;

	for (i = 0; r && i < 5; i++) {
		rest = (value & 0xffff) * 52429u >> 19; /* a tenth */
		pos = put_char(r, pos, '0' + (value & 0xffff) - 10 * rest);
		value = rest;
		if (!value)
			break;
	}
	return pos;
}

/* A number of 64 bits has 20 digits at most. */
__noinline u32 fr_object_dec64(u32 pos, u64 value)
{
	struct object_room *r = object_room();
	u32 i;

	for (i = 0; r && i < 20; i++) {
		pos = put_char(r, pos, '0' + value % 10);
		value /= 10;
		if (!value)
			break;
	}
	return pos;
}

/* Where "pipe:[INODE]" begins. */
FR_INLINE u32 put_pipe(struct object_room *r, u64 inode)
{
	static const char before[] = "pipe:[";
	u32 pos, i;

	r->text[FR_PATH_LAST] = 0;
	pos = fr_object_dec64(put_char(r, FR_PATH_LAST, ']'), inode);
	for (i = sizeof(before) - 1; i > 0; i--)
		pos = put_char(r, pos, before[i - 1]);
	return pos & FR_PATH_LAST;
}

/* A.B.C.D:PORT; address: as it is in memory. */
__noinline u32 fr_object_ip4(u32 pos, u32 address, u32 port)
{
	struct object_room *r = object_room();
	u32 i;

	pos = fr_object_dec(pos, port);
	for (i = 0; r && i < 4; i++) {
		pos = put_char(r, pos, i ? '.' : ':');
		pos = fr_object_dec(pos, __builtin_bswap32(address) >> 8 * i & 0xff);
	}
	return pos;
}

/* ---- sockets ---- */

#define FR_AF_UNIX  1u
#define FR_AF_INET  2u
#define FR_AF_INET6 10u

FR_INLINE const char *protocol_name(u32 protocol)
{
	static const char tcp[] = "tcp", udp[] = "udp", other[] = "ip";

	return protocol == 6 ? tcp : protocol == 17 ? udp : other;
}

/* "tcp:" in front. */
FR_INLINE u32 put_protocol(struct object_room *r, u32 pos, u32 protocol)
{
	bool tcp = protocol == 6, udp = protocol == 17;

	pos = put_char(r, pos, ':');
	pos = put_char(r, pos, 'p');
	pos = put_char(r, pos, tcp ? 'c' : udp ? 'd' : 'i');
	return tcp || udp ? put_char(r, pos, tcp ? 't' : 'u') : pos;
}

/* An IPv4 address in an IPv6 socket? */
FR_INLINE bool is_mapped(const struct in6_addr *a)
{
	return !a->in6_u.u6_addr32[0] && !a->in6_u.u6_addr32[1] && a->in6_u.u6_addr32[2] == __builtin_bswap32(0xffff);
}

/* Where in the room's text it begins; ~0: it is not known. */
__noinline u32 fr_object_inet6(u64 address)
{
	struct sock_common *sk = (void *)address;
	struct object_room *r = object_room();
	struct in6_addr peer = {}, own = {};

	if (!r)
		return ~0u;
	BPF_CORE_READ_INTO(&peer, sk, skc_v6_daddr);
	BPF_CORE_READ_INTO(&own, sk, skc_v6_rcv_saddr);
	if (is_mapped(&peer))
		return 1;
	return BPF_SNPRINTF(r->text, FR_PATH_MAX, "%s:[%pI6]:%u-[%pI6]:%u",
			    protocol_name(BPF_CORE_READ((struct sock *)sk, sk_protocol)), &own, BPF_CORE_READ(sk, skc_num),
			    &peer, __builtin_bswap16(BPF_CORE_READ(sk, skc_dport))) > 0
		       ? 0
		       : ~0u;
}

__noinline u32 fr_object_inet(u64 address)
{
	struct sock_common *sk = (void *)address;
	struct sock *sock = (void *)address;
	struct object_room *r = object_room();
	u32 pos = FR_PATH_LAST;

	if (!r)
		return ~0u;
	if (FR_OBJECT_READ(sk, skc_family) == FR_AF_INET6) {
		pos = fr_object_inet6(address);
		if (pos != 1)
			return pos;
		pos = FR_PATH_LAST;
	}
	r->text[FR_PATH_LAST] = 0;
	pos = fr_object_ip4(pos, FR_OBJECT_READ(sk, skc_daddr), __builtin_bswap16(FR_OBJECT_READ(sk, skc_dport)));
	pos = put_char(r, pos, '-');
	pos = fr_object_ip4(pos, FR_OBJECT_READ(sk, skc_rcv_saddr), FR_OBJECT_READ(sk, skc_num));
	return put_protocol(r, pos, FR_OBJECT_READ(sock, sk_protocol)) & FR_PATH_LAST;
}

__noinline u32 fr_object_unix(u64 address)
{
	struct unix_sock *sk = (void *)address, *peer;
	struct unix_address *addr = BPF_CORE_READ(sk, addr);
	struct object_room *r = object_room();
	u32 len = 0;

	if (!r)
		return 0;
	peer = (struct unix_sock *)BPF_CORE_READ(sk, peer);
	if (!addr && peer)
		addr = BPF_CORE_READ(peer, addr);
	if (addr)
		len = BPF_CORE_READ(addr, len) - sizeof(u16); /* of the family */
	__builtin_memcpy(r->text, "unix:", 5);
	if (len > 108)
		len = 0;
	bpf_probe_read_kernel(r->text + 5, len & 127,
			      (char *)addr + bpf_core_field_offset(struct unix_address, name) + sizeof(u16));
	r->text[5 + (len & 127)] = 0;
	if (len && !r->text[5])
		r->text[5] = '@';
	return 1;
}

/* Where in the room's text it begins; ~0: it is not known. */
__noinline u32 fr_object_socket(u64 address)
{
	struct socket *socket = (void *)address;
	struct sock *sk = BPF_CORE_READ(socket, sk); /* a number, which a global function takes */
	struct object_room *r = object_room();
	u32 family;

	if (!r || !sk)
		return ~0u;
	family = FR_OBJECT_READ(sk, __sk_common.skc_family);
	if (family == FR_AF_INET || family == FR_AF_INET6)
		return fr_object_inet((u64)sk);
	if (family == FR_AF_UNIX)
		return fr_object_unix((u64)sk) ? 0 : ~0u;
	return BPF_SNPRINTF(r->text, FR_PATH_MAX, "socket:%u", family) > 0 ? 0 : ~0u;
}

/* ---- any ---- */

#define S_IFMT	 0170000u
#define S_IFSOCK 0140000u
#define S_IFIFO	 0010000u

/* Where in the room's text it begins; ~0: it is not known. */
__noinline u32 fr_object_file(u64 address)
{
	struct file *file = (void *)address;
	struct inode *inode = FR_OBJECT_READ(file, f_inode);
	u32 type = FR_OBJECT_READ(inode, i_mode) & S_IFMT;
	struct object_room *r = object_room();
	struct dentry *dentry;

	if (!r)
		return ~0u;
	if (type == S_IFSOCK)
		return fr_object_socket((u64)BPF_CORE_READ(file, private_data));
	dentry = type == S_IFIFO ? FR_OBJECT_READ(file, f_path.dentry) : NULL;
	if (dentry && !FR_OBJECT_READ(dentry, d_name.len))
		return put_pipe(r, FR_OBJECT_READ(inode, i_ino));
	return fr_object_path(address);
}

/* The text from at on is the result. Returns its length with a NUL, 0: there is none. */
FR_INLINE u32 take_text(struct object_room *r, u32 at)
{
	long sz;

	__builtin_memset(r->out, 0, sizeof(r->out));
	sz = bpf_probe_read_kernel_str(r->out, sizeof(r->out), r->text + (at & FR_PATH_LAST));
	return sz > 1 ? sz : 0;
}

/* ---- functions of the kernel, by name ---- */

/* Since 5.17 (e32cf5dfbe22) a kernel thread's data is there; before, its work is not known. */
struct task_struct___work {
	void *worker_private;
} __attribute__((preserve_access_index));

struct kthread___work {
	void *data;
} __attribute__((preserve_access_index));

struct worker___work {
	void *current_func;
} __attribute__((preserve_access_index));

struct restart_block___fn {
	void *fn;
} __attribute__((preserve_access_index));

struct task_struct___restart {
	struct restart_block___fn restart_block;
} __attribute__((preserve_access_index));

/* What the worker of a workqueue at this address works on. As fr_object_fd(). */
__noinline u32 fr_object_work(u64 address)
{
	struct task_struct___work *task = (void *)address;
	struct object_room *r = object_room();
	struct worker___work *worker = NULL;
	struct kthread___work *thread;
	void *func;

	if (!r || !bpf_core_field_exists(task->worker_private) || !bpf_core_field_exists(worker->current_func))
		return 0;
	thread = BPF_CORE_READ(task, worker_private);
	worker = BPF_CORE_READ(thread, data);
	func = BPF_CORE_READ(worker, current_func);
	if (!func || BPF_SNPRINTF(r->text, FR_PATH_MAX, "work:%ps", func) <= 0)
		return 0;
	return take_text(r, 0);
}

/* How the interrupted call of the task at this address goes on. As fr_object_fd(). */
__noinline u32 fr_object_restart(u64 address)
{
	void *func = BPF_CORE_READ((struct task_struct___restart *)address, restart_block.fn);
	struct object_room *r = object_room();

	if (!r || BPF_SNPRINTF(r->text, FR_PATH_MAX, "restart:%ps", func) <= 0)
		return 0;
	return take_text(r, 0);
}

/* ---- descriptors ---- */

/* What descriptor fd of the task at this address is, in the room's out. Returns its length with a NUL, 0: it is not known. */
__noinline u32 fr_object_fd(u64 address, u32 fd)
{
	struct task_struct *task = (void *)address;
	struct files_struct *files = FR_OBJECT_READ(task, files);
	struct fdtable *fdt = files ? FR_OBJECT_READ(files, fdt) : NULL;
	struct object_room *r = object_room();
	struct file *file = NULL;
	u32 at;

	if (!r || !fdt || fd >= FR_OBJECT_READ(fdt, max_fds))
		return 0;
	if (bpf_probe_read_kernel(&file, sizeof(file), FR_OBJECT_READ(fdt, fd) + fd) || !file)
		return 0;
	at = fr_object_file((u64)file);
	return at == ~0u ? 0 : take_text(r, at);
}

#endif
