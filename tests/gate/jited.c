/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jited LINK FILE: of the program of a pinned link, print how many BPF instructions the verifier left, and write what the JIT
 * made of them to FILE; nothing where the kernel does not show it.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>

static int prog_of(const char *path)
{
	struct bpf_link_info info = {0};
	u_int32_t sz = sizeof(info);
	int fd = bpf_obj_get(path);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &sz))
		return -1;
	return bpf_prog_get_fd_by_id(info.prog_id);
}

int main(int argc, char **argv)
{
	struct bpf_prog_info info = {0}, image = {0};
	u_int32_t sz = sizeof(info);
	FILE *f = argc == 3 ? fopen(argv[2], "w") : NULL;
	int fd = argc == 3 ? prog_of(argv[1]) : -1;
	void *buf;

	if (!f || fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &sz))
		return 1;
	buf = calloc(1, info.jited_prog_len + 1);
	if (!buf)
		return 1;
	image.jited_prog_insns = (u_int64_t)(uintptr_t)buf;
	image.jited_prog_len = info.jited_prog_len;
	if (bpf_obj_get_info_by_fd(fd, &image, &sz))
		return 1;
	if (image.jited_prog_insns && fwrite(buf, 1, info.jited_prog_len, f) != info.jited_prog_len)
		return 1;
	free(buf);
	printf("%u\n", info.xlated_prog_len / 8);
	return fclose(f) != 0;
}
