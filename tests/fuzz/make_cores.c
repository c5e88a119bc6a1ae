/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make_cores DIR: write inputs of vmcore.c: crash dumps in ELF, whole, in another order, cut off and of segments only; and
 * changes to that dump's pages: nothing, one of each kind, and sizes that lie.
 */
#include "fuzz/cores.h"

static const char *dir;

static char *name(const char *file)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return path;
}

static int save_cores(void)
{
	struct host_dump d = {};
	struct host_core c;
	int err;

	cores_begin(&d);
	err = host_dump_save(&d, name("whole"));
	host_dump_shuffle(&d);
	err = err ?: host_dump_save(&d, name("shuffled"));
	d.cnt /= 2;
	err = err ?: host_dump_save(&d, name("half"));
	cores_free(&d);
	host_core_begin(&c);
	host_core_segment(&c, 0x1010);
	host_core_segment(&c, ~0ull);
	err = err ?: host_core_save(&c, name("empty"));
	host_core_segment(&c, 0x2ff8);
	host_core_put(&c, c.head.ph, sizeof(c.head.ph));
	err = err ?: host_core_save(&c, name("tiny"));
	host_core_free(&c);
	return err;
}

/* The first byte says whether texts get a right hash again. */
static int save_changes(const char *file, const u8 *how, size_t sz)
{
	FILE *f = fopen(name(file), "w");

	if (!f)
		return -1;
	putc(1, f);
	fwrite(how, 1, sz, f);
	return fclose(f);
}

int main(int argc, char **argv)
{
	static const u8 each[] = {0, 0, 0,    1, 1, 0x10, 16, 3, 1, 0x20, 64, 9, 2,    0x30, 0, 0, 3,	 0x40, 0,
				  7, 8, 0x50, 0, 9, 8,	  0,  6, 0, 1,	  9,  0, 0x70, 0,    0, 1, 0x80, 0xff, 1};
	static const u8 most[] = {1, 0x10, 16, 0xff, 1, 0x10, 20, 0xff};
	static const u8 twice[] = {3, 0x60, 0, 0, 4, 0x60, 0, 0, 20, 0x8f, 1, 1, 10, 0x60, 0, 0};

	if (argc != 2)
		return 2;
	dir = argv[1];
	return save_cores() || save_changes("none", each, 0) || save_changes("each", each, sizeof(each)) ||
	       save_changes("most", most, sizeof(most)) || save_changes("twice", twice, sizeof(twice));
}
