/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/vmcore/vmcore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "read/vmcore/vmcore_format.h"

struct fr_vmcore {
	int fd;
	const struct fr_vmcore_format *format;
	void *core;
	u64 unread_cnt;
};

/* libelf knows at once whether it is ELF; what the other library says of anything else is the message. */
static int find_format(struct fr_vmcore *v)
{
	int err;

	v->format = &fr_vmcore_elf;
	err = v->format->open(v->fd, &v->core);
	if (err != -ENOEXEC)
		return err;
	v->format = &fr_vmcore_kdump;
	return v->format->open(v->fd, &v->core);
}

/* A directory, or a pipe, cannot be searched twice. O_NONBLOCK: nor need anybody write to that pipe. */
static int vmcore_check_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? -EISDIR : lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

static int vmcore_open_core(struct fr_vmcore *v, const char *path)
{
	v->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (v->fd < 0)
		return -errno;
	return vmcore_check_file(v->fd) ?: find_format(v);
}

/* What only a format knows, it has said. */
static void vmcore_say_error(const char *path, int err)
{
	if (err == -ENOEXEC)
		fr_err("%s is no crash dump of a kernel: name the file that kdump or the hypervisor wrote, or /proc/vmcore",
		       path);
	else if (err == -ESPIPE)
		fr_err("%s: is a pipe: a crash dump is read at several places, so give a file", path);
	else if (err != -ENOPKG && err != -EBADMSG)
		fr_err_errno(err, "cannot read crash dump %s", path);
}

int fr_vmcore_open(const char *path, struct fr_vmcore **out)
{
	struct fr_vmcore *v = calloc(1, sizeof(*v));
	int err = v ? vmcore_open_core(v, path) : -ENOMEM;

	if (!err) {
		*out = v;
		return 0;
	}
	vmcore_say_error(path, err);
	fr_vmcore_close(v);
	return err;
}

void fr_vmcore_close(struct fr_vmcore *v)
{
	if (!v)
		return;
	if (v->core)
		v->format->close(v->core);
	if (v->fd >= 0)
		close(v->fd);
	free(v);
}

int fr_vmcore_run(struct fr_vmcore_walk *w, u64 place, const unsigned char *run, size_t sz)
{
	size_t at;
	int err = 0;

	for (at = 0; at + FR_PAGE_SZ <= sz && !err; at += FR_PAGE_SZ)
		err = w->fn(w->arg, place + at, run + at);
	return err;
}

int fr_vmcore_walk(struct fr_vmcore *v, fr_vmcore_page_fn fn, void *arg, u64 *bad_cnt, struct fr_progress *bar)
{
	struct fr_vmcore_walk w = {.fn = fn, .arg = arg, .bar = bar};
	int err = v->format->walk(v->core, &w);

	*bad_cnt = w.bad_cnt;
	return err;
}

int fr_vmcore_read(struct fr_vmcore *v, u64 place, void *page)
{
	int err = v->format->read(v->core, place, page);

	v->unread_cnt += err != 0;
	return err;
}

u64 fr_vmcore_unread_cnt(const struct fr_vmcore *v)
{
	return v->unread_cnt;
}
