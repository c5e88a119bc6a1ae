/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* vmcore_format: what a format of crash dumps does for vmcore.c. Two: ELF, and what makedumpfile compresses. */
#ifndef FR_VMCORE_FORMAT_H
#define FR_VMCORE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "layout.h"
#include "read/vmcore/vmcore.h"

/* Pages that are read at once, if they follow each other. */
#define FR_VMCORE_RUN_SZ (1u << 20)

struct fr_vmcore_walk {
	fr_vmcore_page_fn fn;
	void *arg;
	u64 bad_cnt;
	struct fr_progress *bar;
};

struct fr_vmcore_format {
	int (*open)(int fd, void **core); /* -ENOEXEC: it is another format; -ENOPKG, -EBADMSG: with a message */
	int (*walk)(void *core, struct fr_vmcore_walk *w);
	int (*read)(void *core, u64 place, void *page);
	void (*close)(void *core);
};

extern const struct fr_vmcore_format fr_vmcore_elf, fr_vmcore_kdump;

/* Hand on the pages of a run of sz bytes that begins at place. What fn returned. */
int fr_vmcore_run(struct fr_vmcore_walk *w, u64 place, const unsigned char *run, size_t sz);

#endif
