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
 *
 * It is looked up from outside the task: the descriptor may have been closed or reused since the call began. Everything is read
 * by probes: a structure that is freed meanwhile gives a wrong text, and harms nothing.
 *
 * Included by one file only. The text is made in this CPU's room: callers must not nest.
 */
#ifndef FR_OBJECT_BPF_H
#define FR_OBJECT_BPF_H

#include "path.bpf.h"
#include "record.bpf.h"

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
	char name[16];
	long sz = bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(file, f_inode, i_sb, s_type, name));
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
	if (BPF_CORE_READ(dentry, d_parent) == dentry && r->walk.pos + 1 < FR_PATH_LAST)
		r->walk.pos++; /* no directory, no slash */
	else
		put_fs(r, file);
	return r->walk.pos & FR_PATH_LAST;
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

/* An IPv4 address in an IPv6 socket? */
FR_INLINE bool is_mapped(const struct in6_addr *a)
{
	return !a->in6_u.u6_addr32[0] && !a->in6_u.u6_addr32[1] && a->in6_u.u6_addr32[2] == __builtin_bswap32(0xffff);
}

__noinline u32 fr_object_inet(u64 address)
{
	struct sock_common *sk = (void *)address;
	u32 protocol = BPF_CORE_READ((struct sock *)sk, sk_protocol), own_port = BPF_CORE_READ(sk, skc_num),
	    port = __builtin_bswap16(BPF_CORE_READ(sk, skc_dport));
	struct object_room *r = object_room();
	struct in6_addr peer = {}, own = {};
	long sz;

	if (!r)
		return 0;
	if (BPF_CORE_READ(sk, skc_family) == FR_AF_INET6) {
		BPF_CORE_READ_INTO(&peer, sk, skc_v6_daddr);
		BPF_CORE_READ_INTO(&own, sk, skc_v6_rcv_saddr);
	}
	if (BPF_CORE_READ(sk, skc_family) == FR_AF_INET || is_mapped(&peer)) {
		peer.in6_u.u6_addr32[0] = BPF_CORE_READ(sk, skc_daddr);
		own.in6_u.u6_addr32[0] = BPF_CORE_READ(sk, skc_rcv_saddr);
		sz = BPF_SNPRINTF(r->text, FR_PATH_MAX, "%s:%pI4:%u-%pI4:%u", protocol_name(protocol), &own, own_port, &peer,
				  port);
	} else {
		sz = BPF_SNPRINTF(r->text, FR_PATH_MAX, "%s:[%pI6]:%u-[%pI6]:%u", protocol_name(protocol), &own, own_port,
				  &peer, port);
	}
	return sz > 0;
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

__noinline u32 fr_object_socket(u64 address)
{
	struct sock *sk = BPF_CORE_READ((struct socket *)address, sk);
	struct object_room *r = object_room();
	u32 family;

	if (!r || !sk)
		return 0;
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (family == FR_AF_INET || family == FR_AF_INET6)
		return fr_object_inet((u64)sk);
	if (family == FR_AF_UNIX)
		return fr_object_unix((u64)sk);
	return BPF_SNPRINTF(r->text, FR_PATH_MAX, "socket:%u", family) > 0;
}

/* ---- any ---- */

#define S_IFMT	 0170000u
#define S_IFSOCK 0140000u
#define S_IFIFO	 0010000u

/* Where in the room's text it begins; ~0: it is not known. */
__noinline u32 fr_object_file(u64 address)
{
	struct file *file = (void *)address;
	u32 type = BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT;
	struct object_room *r = object_room();

	if (!r)
		return ~0u;
	if (type == S_IFSOCK)
		return fr_object_socket((u64)BPF_CORE_READ(file, private_data)) ? 0 : ~0u;
	if (type == S_IFIFO && !BPF_CORE_READ(file, f_path.dentry, d_name.len))
		return BPF_SNPRINTF(r->text, FR_PATH_MAX, "pipe:[%lu]", BPF_CORE_READ(file, f_inode, i_ino)) > 0 ? 0 : ~0u;
	return fr_object_path(address);
}

/* What descriptor fd of the task at this address is, in the room's out. Returns its length with a NUL, 0: it is not known. */
__noinline u32 fr_object_fd(u64 address, u32 fd)
{
	struct files_struct *files = BPF_CORE_READ((struct task_struct *)address, files);
	struct fdtable *fdt = files ? BPF_CORE_READ(files, fdt) : NULL;
	struct object_room *r = object_room();
	struct file *file = NULL;
	u32 at;
	long sz;

	if (!r || !fdt || fd >= BPF_CORE_READ(fdt, max_fds))
		return 0;
	if (bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(fdt, fd) + fd) || !file)
		return 0;
	at = fr_object_file((u64)file);
	if (at == ~0u)
		return 0;
	__builtin_memset(r->out, 0, sizeof(r->out));
	sz = bpf_probe_read_kernel_str(r->out, sizeof(r->out), r->text + (at & FR_PATH_LAST));
	return sz > 1 ? sz : 0;
}

#endif
