/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Made by vmlinux/gen.py from vmlinux/types.txt. */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bio;
struct bpf_iter_meta;
struct cgroup;
struct cgroup_root;
struct cgroup_subsys_state;
struct cred;
struct css_set;
struct dentry;
struct fdtable;
struct file;
struct file_system_type;
struct files_struct;
struct gendisk;
struct hlist_bl_node;
struct inode;
struct kernfs_node;
struct list_head;
struct mm_struct;
struct mnt_namespace;
struct mount;
struct nsproxy;
struct pid;
struct request_queue;
struct seq_file;
struct sighand_struct;
struct signal_struct;
struct sock;
struct super_block;
struct task_struct;
struct ucounts;
struct unix_address;
struct user_namespace;
struct vfsmount;
struct vm_operations_struct;

enum {
	false = 0,
	true = 1,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_EXIST = 2,
};

enum {
	BPF_F_MMAPABLE = 1024,
	BPF_F_NO_PREALLOC = 1,
};

enum {
	BPF_F_USER_STACK = 256,
};

enum {
	BPF_F_CURRENT_CPU = 4294967295ULL,
};

enum {
	MM_FILEPAGES = 0,
	MM_ANONPAGES = 1,
	MM_SHMEMPAGES = 3,
};

typedef unsigned char __u8;
typedef short unsigned int __u16;
typedef unsigned int __u32;
typedef long long unsigned int __u64;
typedef signed char __s8;
typedef short int __s16;
typedef int __s32;
typedef long long int __s64;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
typedef int __kernel_pid_t;
typedef __kernel_pid_t pid_t;
typedef long unsigned int __kernel_ulong_t;
typedef __kernel_ulong_t __kernel_size_t;
typedef __kernel_size_t size_t;

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

typedef atomic64_t atomic_long_t;

enum bpf_map_type {
	BPF_MAP_TYPE_UNSPEC = 0,
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_LRU_PERCPU_HASH = 10,
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_HASH_OF_MAPS = 13,
	BPF_MAP_TYPE_DEVMAP = 14,
	BPF_MAP_TYPE_SOCKMAP = 15,
	BPF_MAP_TYPE_CPUMAP = 16,
	BPF_MAP_TYPE_XSKMAP = 17,
	BPF_MAP_TYPE_SOCKHASH = 18,
	BPF_MAP_TYPE_CGROUP_STORAGE_DEPRECATED = 19,
	BPF_MAP_TYPE_CGROUP_STORAGE = 19,
	BPF_MAP_TYPE_REUSEPORT_SOCKARRAY = 20,
	BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE_DEPRECATED = 21,
	BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE = 21,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_STACK = 23,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_DEVMAP_HASH = 25,
	BPF_MAP_TYPE_STRUCT_OPS = 26,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_INODE_STORAGE = 28,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
	BPF_MAP_TYPE_BLOOM_FILTER = 30,
	BPF_MAP_TYPE_USER_RINGBUF = 31,
	BPF_MAP_TYPE_CGRP_STORAGE = 32,
	BPF_MAP_TYPE_ARENA = 33,
	__MAX_BPF_MAP_TYPE = 34,
};

enum bpf_func_id {
	BPF_FUNC_find_vma = 180,
	BPF_FUNC_ktime_get_tai_ns = 208,
};

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

struct user_pt_regs { u64 regs[31]; u64 sp; u64 pc; u64 pstate; };

typedef struct user_pt_regs bpf_user_pt_regs_t;

struct bpf_perf_event_data {
	bpf_user_pt_regs_t regs;
	__u64 sample_period;
	__u64 addr;
};

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 session_id;
	u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct thread_info { unsigned long flags; u32 cpu; };

struct list_head {
	struct list_head *next;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	int on_cpu;
	unsigned int flags;
	int prio;
	unsigned int policy;
	int nr_cpus_allowed;
	long unsigned int nvcsw;
	long unsigned int nivcsw;
	pid_t pid;
	pid_t tgid;
	struct task_struct *real_parent;
	char comm[16];
	u64 start_time;
	int exit_state;
	int exit_code;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	struct mm_struct *mm;
	struct cred *cred;
	struct css_set *cgroups;
	struct task_struct *group_leader;
	u64 self_exec_id;
	struct nsproxy *nsproxy;
	struct pid *thread_pid;
	long unsigned int sas_ss_sp;
	size_t sas_ss_size;
	struct files_struct *files;
	void *stack;
	struct list_head thread_node;
};

struct nsproxy {
	struct mnt_namespace *mnt_ns;
};

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[0];
};

struct ns_common {
	unsigned int inum;
};

struct mnt_namespace {
	struct ns_common ns;
};

struct rlimit {
	__kernel_ulong_t rlim_cur;
	__kernel_ulong_t rlim_max;
};

struct signal_struct {
	atomic_t live;
	int nr_threads;
	struct list_head thread_head;
	short int oom_score_adj;
	int group_exit_code;
	unsigned int flags;
	struct rlimit rlim[16];
};

struct css_set {
	struct cgroup *dfl_cgrp;
	struct cgroup_subsys_state *subsys[12];
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

enum cgroup_subsys_id {
	memory_cgrp_id = 4,
};

struct kernfs_node {
	u64 id;
};

struct linux_binprm {
	char *filename;
	struct file *file;
};

struct files_struct {
	struct fdtable *fdt;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	long unsigned int *open_fds;
	long unsigned int *close_on_exec;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

typedef long long int __kernel_loff_t;
typedef __kernel_loff_t loff_t;

struct file {
	struct inode *f_inode;
	struct path f_path;
	unsigned int f_flags;
	loff_t f_pos;
	void *private_data;
};

struct backing_file {
	struct path user_path;
};

struct vfsmount {
	struct dentry *mnt_root;
	struct super_block *mnt_sb;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
};

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
};

struct qstr {
	u32 len;
	unsigned char *name;
};

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
};

typedef short unsigned int umode_t;

struct inode {
	umode_t i_mode;
	long unsigned int i_ino;
	struct super_block *i_sb;
	loff_t i_size;
	u32 i_generation;
};

typedef u32 __kernel_dev_t;
typedef __kernel_dev_t dev_t;

struct super_block {
	dev_t s_dev;
	struct file_system_type *s_type;
};

struct file_system_type {
	char *name;
};

struct maple_tree {
	void *ma_root;
};

struct percpu_counter {
	s64 count;
};

struct mm_struct {
	struct maple_tree mm_mt;
	int map_count;
	long unsigned int total_vm;
	long unsigned int data_vm;
	long unsigned int stack_vm;
	long unsigned int locked_vm;
	struct percpu_counter rss_stat[4];
	atomic_long_t pgtables_bytes;
	long unsigned int start_brk;
	long unsigned int brk;
	long unsigned int start_stack;
	long unsigned int arg_start;
	long unsigned int arg_end;
	struct file *exe_file;
};

struct maple_range_64 {
	long unsigned int pivot[15];
	void *slot[16];
};

struct maple_arange_64 {
	void *slot[10];
};

typedef long unsigned int vm_flags_t;

struct vm_area_struct {
	long unsigned int vm_start;
	long unsigned int vm_end;
	struct mm_struct *vm_mm;
	vm_flags_t vm_flags;
	long unsigned int vm_pgoff;
	struct file *vm_file;
	struct vm_operations_struct *vm_ops;
	void *vm_private_data;
};

struct vm_special_mapping {
	char *name;
};

typedef unsigned int __kernel_uid32_t;
typedef __kernel_uid32_t uid_t;

typedef struct {
	uid_t val;
} kuid_t;

typedef struct {
	u64 val;
} kernel_cap_t;

struct cred {
	kuid_t uid;
	kernel_cap_t cap_effective;
	struct user_namespace *user_ns;
	struct ucounts *ucounts;
};

struct ucounts {
	atomic_long_t rlimit[4];
};

enum rlimit_type {
	UCOUNT_RLIMIT_NPROC = 0,
};

struct user_namespace {
	struct user_namespace *parent;
	kuid_t owner;
};

union __sifields {
	struct {
		void *_addr;
	} _sigfault;
};

struct kernel_siginfo {
	int si_errno;
	int si_code;
	union __sifields _sifields;
};

typedef void *__sighandler_t;

struct sigaction {
	__sighandler_t sa_handler;
	long unsigned int sa_flags;
};

struct k_sigaction {
	struct sigaction sa;
};

struct sighand_struct {
	struct k_sigaction action[64];
};

struct irqaction {
	char *name;
};

struct socket {
	struct sock *sk;
};

struct in6_addr {
	union {
	__u8 u6_addr8[16];
	__be16 u6_addr16[8];
	__be32 u6_addr32[4];
} in6_u;
};

struct sock_common {
	short unsigned int skc_family;
	__u16 skc_num;
	__be16 skc_dport;
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	u16 sk_protocol;
	u16 sk_type;
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

typedef short unsigned int __kernel_sa_family_t;

struct sockaddr_un {
	__kernel_sa_family_t sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[0];
};

typedef __u32 blk_opf_t;
typedef u64 sector_t;

struct request {
	struct request_queue *q;
	blk_opf_t cmd_flags;
	unsigned int __data_len;
	sector_t __sector;
	struct bio *bio;
};

struct request_queue {
	struct gendisk *disk;
};

struct gendisk {
	int major;
	int first_minor;
};

struct bio {
	short unsigned int bi_ioprio;
};

enum req_flag_bits {
	__REQ_SYNC = 11,
	__REQ_META = 12,
	__REQ_FUA = 17,
	__REQ_PREFLUSH = 18,
	__REQ_RAHEAD = 19,
};

struct pt_regs { u64 regs[31]; u64 sp; u64 pc; u64 pstate; u64 orig_x0; s32 syscallno; };

#pragma clang attribute pop

#endif
