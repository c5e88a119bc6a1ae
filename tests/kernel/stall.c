/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stall: a process that whoever looks at it waits for, with a FUSE file system of its own, which needs no rights but those of a
 * user namespace that it lives in.
 *
 *	stall lock DEVICE DIR	its memory's lock is held: it is in an mmap() that waits for a page, which never comes
 *	stall page DEVICE DIR	it executes a page of a file whose first page, where the build-id is, it reads, and never gets
 *	stall server DEVICE DIR	the same, but nobody has asked for that page yet: who does waits for the server, even if killed;
 *				only for who is somebody in the server's user namespace
 *
 * Prints a line when it is so, then goes on until standard input ends. 77: not possible here
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CANNOT	 77
#define PAGE_SZ	 4096u
#define FILE_SZ	 (2 * PAGE_SZ)
#define FILE_INO 2
#define BUF_SZ	 (1u << 18)

static int fuse_fd, read_pipe[2];
static int opened;

static int cannot(const char *what)
{
	fprintf(stderr, "stall: %s: %s\n", what, strerror(errno));
	return CANNOT;
}

/* ---- the file system ---- */

static void reply(const struct fuse_in_header *in, int err, const void *data, size_t sz)
{
	struct {
		struct fuse_out_header head;
		char data[PAGE_SZ];
	} out = {.head = {.len = sizeof(out.head) + sz, .error = err, .unique = in->unique}};

	memcpy(out.data, data, sz);
	if (write(fuse_fd, &out, out.head.len) < 0)
		fprintf(stderr, "stall: reply: %s\n", strerror(errno));
}

static struct fuse_attr attr_of(u_int64_t ino)
{
	struct fuse_attr a = {.ino = ino, .mode = S_IFDIR | 0755, .nlink = 2, .blksize = PAGE_SZ};

	if (ino == FILE_INO) {
		a.mode = S_IFREG | 0755;
		a.nlink = 1;
		a.size = FILE_SZ;
		a.blocks = FILE_SZ / 512;
	}
	return a;
}

/* The first page never comes; the second is code: a function that loops. */
static void answer_read(const struct fuse_in_header *in, const struct fuse_read_in *r)
{
	static char page[PAGE_SZ];
	char told = 1;

	if (r->offset < PAGE_SZ) {
		if (write(read_pipe[1], &told, 1) < 0)
			perror("stall");
		return;
	}
#ifdef __x86_64__
	memcpy(page, "\xeb\xfe", 2);
#else
	memcpy(page, "\x00\x00\x00\x14", 4);
#endif
	reply(in, 0, page, r->offset < FILE_SZ ? PAGE_SZ : 0);
}

/* Who opens the file for the second time reads past the page cache. */
static void answer_open(const struct fuse_in_header *in)
{
	struct fuse_open_out open = {.open_flags = opened++ ? FOPEN_DIRECT_IO : FOPEN_KEEP_CACHE};

	reply(in, 0, &open, sizeof(open));
}

static void answer(const struct fuse_in_header *in)
{
	struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = 0, .max_write = PAGE_SZ};
	struct fuse_entry_out entry = {.nodeid = FILE_INO, .attr_valid = 1000, .entry_valid = 1000, .attr = attr_of(FILE_INO)};
	struct fuse_attr_out attr = {.attr_valid = 1000, .attr = attr_of(in->nodeid)};

	switch (in->opcode) {
	case FUSE_INIT:
		reply(in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		reply(in, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		reply(in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer_open(in);
		break;
	case FUSE_READ:
		answer_read(in, (const void *)(in + 1));
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		reply(in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(in, -ENOSYS, NULL, 0);
	}
}

static void serve(void)
{
	static char buf[BUF_SZ];
	ssize_t n;

	prctl(PR_SET_NAME, "stall-server");
	prctl(PR_SET_PDEATHSIG, 9);
	while ((n = read(fuse_fd, buf, sizeof(buf))) > 0 || (n < 0 && (errno == EINTR || errno == ENOENT)))
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			answer((void *)buf);
	_exit(0);
}

/* ---- who is looked at ---- */

static int open_file(const char *dir)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/file", dir);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void *read_first(void *arg)
{
	char byte;

	if (pread(*(int *)arg, &byte, 1, 0) < 0)
		perror("stall: read");
	return NULL;
}

static pid_t mapper_tid; /* 0: it does not run yet */

static void *map_first(void *arg)
{
	__atomic_store_n(&mapper_tid, gettid(), __ATOMIC_RELEASE);
	if (mmap(NULL, PAGE_SZ, PROT_READ, MAP_PRIVATE, *(int *)arg, 0) == MAP_FAILED)
		perror("stall: mmap");
	return NULL;
}

/* The first page is being read, and so is locked until it comes. */
static int lock_page(int *fd)
{
	pthread_t reader;
	char told;

	if (pthread_create(&reader, NULL, read_first, fd) || read(read_pipe[0], &told, 1) != 1)
		return cannot("read");
	return 0;
}

/* Is a thread in mmap(), and neither runs nor can be woken by a signal? Then it waits for the page. */
static int waits_in_mmap(pid_t tid)
{
	char path[64], text[512];
	const char *behind;
	long nr = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	f = tid ? fopen(path, "re") : NULL;
	if (!f)
		return 0;
	if (fscanf(f, "%ld", &nr) != 1) /* "running" */
		nr = -1;
	fclose(f);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = nr == SYS_mmap ? fopen(path, "re") : NULL;
	if (!f)
		return 0;
	behind = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	fclose(f);
	return behind && !strncmp(behind, ") D", 3);
}

/* An mmap() that must throw the page out of the cache waits for it, with the memory's lock. */
static int hold_lock(const char *dir)
{
	static int fd, direct;
	pthread_t mapper;

	fd = open_file(dir);
	direct = open_file(dir);
	if (fd < 0 || direct < 0 || lock_page(&fd))
		return cannot("open");
	if (pthread_create(&mapper, NULL, map_first, &direct))
		return cannot("thread");
	while (!waits_in_mmap(__atomic_load_n(&mapper_tid, __ATOMIC_ACQUIRE)))
		usleep(1000);
	return 0;
}

static void *spin(void *code)
{
	((void (*)(void))code)();
	return NULL;
}

static int execute(const char *dir, int locks)
{
	static int fd;
	pthread_t spinner;
	void *p;

	fd = open_file(dir);
	p = fd < 0 ? MAP_FAILED : mmap(NULL, FILE_SZ, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED || madvise(p, FILE_SZ, MADV_RANDOM) || pthread_create(&spinner, NULL, spin, (char *)p + PAGE_SZ))
		return cannot("mmap");
	return locks ? lock_page(&fd) : 0;
}

int main(int argc, char **argv)
{
	char options[128], byte;
	pid_t server;
	int err;

	if (argc != 4)
		return 2;
	fuse_fd = open(argv[2], O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0", fuse_fd);
	if (fuse_fd < 0 || pipe2(read_pipe, O_CLOEXEC))
		return cannot(argv[2]);
	if (mount("stall", argv[3], "fuse", MS_NOSUID | MS_NODEV, options))
		return cannot("mount");
	server = fork();
	if (!server)
		serve();
	close(fuse_fd);
	err = strcmp(argv[1], "lock") ? execute(argv[3], !strcmp(argv[1], "page")) : hold_lock(argv[3]);
	if (err)
		return err;
	printf("%d\n", getpid());
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	kill(server, 9);
	_exit(0);
}
