/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path: the path of a file, as far as a bounded walk of its dentries goes; bpf_d_path() is not allowed where these programs
 * run.
 *
 * It is put together from its end, in the first half of a buffer of twice its size, so that a masked index is always valid.
 */
#ifndef FR_PATH_BPF_H
#define FR_PATH_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "types.h"

/* src->field, of a kernel structure at an address that need not be valid any more. Who includes this may know a quicker way. */
#ifndef FR_PATH_READ
#define FR_PATH_READ(src, field) BPF_CORE_READ(src, field)
#endif

#define FR_PATH_MAX   256u		/* bytes of text; a power of two */
#define FR_PATH_STEPS 40u		/* at most this many names and mounts */
#define FR_PATH_LAST  (FR_PATH_MAX - 1) /* the text ends here, with a NUL */

struct path_walk {
	struct dentry *dentry;
	struct vfsmount *mnt;
	u32 pos; /* the text begins here */
	u32 cut; /* it did not fit */
};

FR_INLINE struct mount *fr_path_mount(struct vfsmount *mnt)
{
	return (void *)mnt - bpf_core_field_offset(struct mount, mnt);
}

/* path: in kernel memory. */
FR_INLINE void fr_path_begin(struct path_walk *p, char *text, const struct path *path)
{
	text[FR_PATH_LAST] = 0;
	p->dentry = FR_PATH_READ(path, dentry);
	p->mnt = FR_PATH_READ(path, mnt);
	p->pos = FR_PATH_LAST;
	p->cut = 0;
}

/* Put /NAME in front of the text. False: no room. */
FR_INLINE bool fr_path_put(struct path_walk *p, char *text, struct dentry *dentry)
{
	u32 len = FR_PATH_READ(dentry, d_name.len);

	if (len >= p->pos) {
		p->cut = 1;
		return false;
	}
	p->pos -= len + 1;
	text[p->pos & FR_PATH_LAST] = '/';
	bpf_probe_read_kernel(text + ((p->pos + 1) & FR_PATH_LAST), len & FR_PATH_LAST, FR_PATH_READ(dentry, d_name.name));
	return true;
}

/* Go one name, or one mount, up. False: at the root, or no room. A file in no directory (memfd) has its name only. */
FR_INLINE bool fr_path_up(struct path_walk *p, char *text)
{
	struct dentry *dentry = p->dentry, *up;
	struct vfsmount *mnt = p->mnt;
	struct mount *mount = fr_path_mount(mnt), *parent;

	if (dentry == FR_PATH_READ(mnt, mnt_root)) {
		parent = FR_PATH_READ(mount, mnt_parent);
		if (parent == mount)
			return false;
		p->dentry = FR_PATH_READ(mount, mnt_mountpoint);
		p->mnt = (void *)parent + bpf_core_field_offset(struct mount, mnt);
		return true;
	}
	up = FR_PATH_READ(dentry, d_parent);
	p->dentry = up;
	return fr_path_put(p, text, dentry) && up != dentry;
}

FR_INLINE void fr_path_say_cut(struct path_walk *p, char *text)
{
	u32 i;

	p->pos = p->pos > 3 ? p->pos - 3 : 0;
	for (i = 0; i < 3; i++)
		text[(p->pos + i) & FR_PATH_LAST] = '.';
}

#endif
