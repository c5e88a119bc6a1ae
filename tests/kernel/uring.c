/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uring READS: so many reads of /dev/zero, 16 MiB each, by io_uring's threads, which have never been in user code. 77: there is
 * no io_uring here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_SZ (16u << 20)

static struct io_uring_params params;
static char *sq, *cq;
static struct io_uring_sqe *sqe;

static void *map(int fd, size_t sz, uint64_t off)
{
	void *p = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, off);

	if (p == MAP_FAILED)
		exit(1);
	return p;
}

/* One read at a time, in a thread of io_uring's, and wait for it. */
static int read_async(int ring, int fd, void *buf)
{
	uint32_t *tail = (void *)(sq + params.sq_off.tail), *head = (void *)(cq + params.cq_off.head);
	const struct io_uring_cqe *cqe = (void *)(cq + params.cq_off.cqes);

	*sqe = (struct io_uring_sqe){
		.opcode = IORING_OP_READ, .flags = IOSQE_ASYNC, .fd = fd, .addr = (uintptr_t)buf, .len = READ_SZ};
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return 1;
	cqe += *head % params.cq_entries;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return cqe->res != (int)READ_SZ;
}

int main(int argc, char **argv)
{
	int ring = syscall(SYS_io_uring_setup, 1, &params), fd = open("/dev/zero", O_RDONLY);
	long left = argc > 1 ? atol(argv[1]) : 1;
	void *buf = malloc(READ_SZ);

	if (ring < 0)
		return errno == ENOSYS || errno == EPERM ? 77 : 1;
	if (fd < 0 || !buf)
		return 1;
	sq = map(ring, params.sq_off.array + params.sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
	cq = map(ring, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	sqe = map(ring, params.sq_entries * sizeof(*sqe), IORING_OFF_SQES);
	for (; left; left--)
		if (read_async(ring, fd, buf))
			return 1;
	return 0;
}
