/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slowfs: a block device that takes its time: a loop device on a file of a FUSE file system, which is this program.
 *
 *	slowfs MOUNTPOINT MS	prints the loop device ("/dev/loop3 7:3"), then serves reads until standard input ends
 *
 * Each read of the last quarter of the file takes MS. 77: not possible here
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/loop.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define CANNOT	 77
#define FILE_SZ	 (1u << 20)
#define FILE_INO 2
#define BUF_SZ	 (1u << 18)

struct slowfs {
	int fuse;
	long ms;
	char *buf;
};

static int cannot(const char *what)
{
	fprintf(stderr, "slowfs: %s: %s\n", what, strerror(errno));
	return CANNOT;
}

static void reply(const struct slowfs *s, const struct fuse_in_header *in, int err, const void *data, size_t sz)
{
	struct {
		struct fuse_out_header head;
		char data[4096 + sizeof(struct fuse_attr_out)];
	} out = {.head = {.len = sizeof(out.head) + sz, .error = err, .unique = in->unique}};

	memcpy(out.data, data, sz);
	if (write(s->fuse, &out, out.head.len) < 0)
		fprintf(stderr, "slowfs: reply: %s\n", strerror(errno));
}

static struct fuse_attr attr_of(u_int64_t ino)
{
	struct fuse_attr a = {.ino = ino, .mode = S_IFDIR | 0700, .nlink = 2, .blksize = 4096};

	if (ino == FILE_INO) {
		a.mode = S_IFREG | 0600;
		a.nlink = 1;
		a.size = FILE_SZ;
		a.blocks = FILE_SZ / 512;
	}
	return a;
}

static void answer_read(const struct slowfs *s, const struct fuse_in_header *in, const struct fuse_read_in *r)
{
	static char zeros[4096];
	struct timespec ts = {s->ms / 1000, s->ms % 1000 * 1000000};
	size_t sz = r->size < sizeof(zeros) ? r->size : sizeof(zeros);

	if (r->offset >= FILE_SZ / 4 * 3)
		nanosleep(&ts, NULL);
	reply(s, in, 0, zeros, r->offset < FILE_SZ ? sz : 0);
}

static void answer(const struct slowfs *s, const struct fuse_in_header *in)
{
	struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = 4096, .max_write = 4096};
	struct fuse_entry_out entry = {.nodeid = FILE_INO, .attr_valid = 1000, .entry_valid = 1000, .attr = attr_of(FILE_INO)};
	struct fuse_attr_out attr = {.attr_valid = 1000, .attr = attr_of(in->nodeid)};
	struct fuse_open_out open = {0};

	switch (in->opcode) {
	case FUSE_INIT:
		reply(s, in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		reply(s, in, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		reply(s, in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		reply(s, in, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		answer_read(s, in, (const void *)(in + 1));
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_FSYNC:
		reply(s, in, 0, &open, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(s, in, -ENOSYS, &open, 0);
	}
}

static void *serve(void *arg)
{
	struct slowfs *s = arg;
	ssize_t n;

	while ((n = read(s->fuse, s->buf, BUF_SZ)) > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)))
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			answer(s, (void *)s->buf);
	return NULL;
}

/* A free loop device on the file; its fd and name. */
static int attach(int file, char *name, size_t sz)
{
	struct loop_info64 info = {.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_READ_ONLY};
	int control = open("/dev/loop-control", O_RDWR), nr = control < 0 ? -1 : ioctl(control, LOOP_CTL_GET_FREE), loop;

	if (nr < 0)
		return -1;
	snprintf(name, sz, "/dev/loop%d", nr);
	loop = open(name, O_RDONLY);
	if (loop >= 0 && (ioctl(loop, LOOP_SET_FD, file) || ioctl(loop, LOOP_SET_STATUS64, &info)))
		return -1;
	return loop;
}

static int expose(const char *dir)
{
	char path[4096], name[64];
	struct stat st;
	int file, loop;

	snprintf(path, sizeof(path), "%s/disk", dir);
	file = open(path, O_RDONLY);
	if (file < 0)
		return cannot(path);
	loop = attach(file, name, sizeof(name));
	if (loop < 0 || fstat(loop, &st))
		return cannot("no loop device");
	printf("%s %u:%u\n", name, major(st.st_rdev), minor(st.st_rdev));
	fflush(stdout);
	while (read(STDIN_FILENO, path, sizeof(path)) > 0)
		;
	ioctl(loop, LOOP_CLR_FD);
	close(loop);
	close(file);
	return 0;
}

int main(int argc, char **argv)
{
	struct slowfs s = {.fuse = open("/dev/fuse", O_RDWR), .buf = malloc(BUF_SZ)};
	char options[128];
	pthread_t t;
	int status;

	if (argc < 3 || !s.buf)
		return 2;
	s.ms = atol(argv[2]);
	if (s.fuse < 0)
		return cannot("/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,max_read=4096", s.fuse);
	if (mount("slowfs", argv[1], "fuse", MS_NOSUID | MS_NODEV, options))
		return cannot("mount fuse");
	if (pthread_create(&t, NULL, serve, &s))
		return 1;
	status = expose(argv[1]);
	umount2(argv[1], MNT_DETACH);
	pthread_join(t, NULL);
	free(s.buf);
	return status;
}
