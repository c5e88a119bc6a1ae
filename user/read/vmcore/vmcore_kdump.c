/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vmcore_kdump: crash dumps that makedumpfile or a hypervisor wrote compressed, read with libkdumpfile, version 0.5 (its ABI
 * 10). What is used of it is declared here, so that flightrec can be built and run without it. A place is a physical address.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "read/vmcore/vmcore_format.h"

#define LIBRARY "libkdumpfile.so.10"

/* <libkdumpfile/kdumpfile.h> */
typedef struct kdump_ctx kdump_ctx;
typedef struct kdump_bmp kdump_bmp;
enum { KDUMP_OK = 0, KDUMP_MACHPHYSADDR = 1, KDUMP_NUMBER = 2, KDUMP_BITMAP = 5, KDUMP_MMAP_NEVER = 0 };
struct kdump_attr {
	int type;
	union {
		u64 number;
		kdump_bmp *bitmap;
	} val;
};

struct core {
	void *lib;
	kdump_ctx *ctx;
	kdump_bmp *pages; /* by page frame number */
	u64 page_sz;
	unsigned char *page;
	kdump_ctx *(*new)(void);
	void (*free)(kdump_ctx *ctx);
	const char *(*get_err)(kdump_ctx *ctx);
	int (*open_fdset)(kdump_ctx *ctx, unsigned cnt, const int *fds);
	int (*read)(kdump_ctx *ctx, int space, u64 addr, void *buf, size_t *sz);
	int (*get_attr)(kdump_ctx *ctx, const char *name, struct kdump_attr *attr);
	int (*set_attr)(kdump_ctx *ctx, const char *name, const struct kdump_attr *attr);
	int (*find_set)(kdump_bmp *bmp, u64 *idx);
	unsigned long (*decref)(kdump_bmp *bmp);
};

static void kdump_close_core(void *p)
{
	struct core *c = p;

	if (c->pages)
		c->decref(c->pages);
	if (c->ctx)
		c->free(c->ctx);
	if (c->lib)
		dlclose(c->lib);
	free(c->page);
	free(c);
}

static bool kdump_load(struct core *c)
{
	c->lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!c->lib)
		return false;
	c->new = dlsym(c->lib, "kdump_new");
	c->free = dlsym(c->lib, "kdump_free");
	c->get_err = dlsym(c->lib, "kdump_get_err");
	c->open_fdset = dlsym(c->lib, "kdump_open_fdset");
	c->read = dlsym(c->lib, "kdump_read");
	c->get_attr = dlsym(c->lib, "kdump_get_attr");
	c->set_attr = dlsym(c->lib, "kdump_set_attr");
	c->find_set = dlsym(c->lib, "kdump_bmp_find_set");
	c->decref = dlsym(c->lib, "kdump_bmp_decref");
	return c->new && c->free && c->get_err && c->open_fdset && c->read && c->get_attr && c->set_attr && c->find_set &&
	       c->decref;
}

static bool kdump_get(const struct core *c, const char *name, int type, struct kdump_attr *attr)
{
	return c->get_attr(c->ctx, name, attr) == KDUMP_OK && attr->type == type;
}

/* What pages there are, and how large. */
static bool find_pages(struct core *c)
{
	struct kdump_attr attr;

	if (!kdump_get(c, "arch.page_size", KDUMP_NUMBER, &attr) || attr.val.number < FR_PAGE_SZ || attr.val.number > 1u << 20)
		return false;
	c->page_sz = attr.val.number;
	if (!kdump_get(c, "file.pagemap", KDUMP_BITMAP, &attr))
		return false;
	c->pages = attr.val.bitmap;
	c->page = malloc(c->page_sz);
	return c->page;
}

/* The library is asked only about what it is for. */
static int check_begin(int fd)
{
	char begin[12];
	ssize_t n = pread(fd, begin, sizeof(begin), 0);

	if (n < 0)
		return -errno;
	if (n != sizeof(begin))
		return -ENOEXEC;
	if (!memcmp(begin, "makedumpfile", 12)) {
		fr_err("the crash dump is in the flattened form, for pipes: make a file of it first: makedumpfile -R FILE < "
		       "DUMP");
		return -EBADMSG;
	}
	return !memcmp(begin, "KDUMP   ", 8) || !memcmp(begin, "DISKDUMP", 8) ? 0 : -ENOEXEC;
}

static int open_loaded(struct core *c, int fd)
{
	bool is_open;

	c->ctx = c->new ();
	if (!c->ctx)
		return -ENOMEM;
	/* a mapped file that is cut off would end us with SIGBUS */
	c->set_attr(c->ctx, "file.mmap_policy", &(struct kdump_attr){KDUMP_NUMBER, {.number = KDUMP_MMAP_NEVER}});
	is_open = c->open_fdset(c->ctx, 1, &fd) == KDUMP_OK;
	if (is_open && find_pages(c))
		return 0;
	fr_err("cannot read the crash dump: %s: is it whole? Copy it again", c->get_err(c->ctx) ?: "its pages are not listed");
	if (!is_open)
		c->ctx = NULL; /* kdump_free() of 0.5.1 crashes then: it is left to the end of the process */
	return -EBADMSG;
}

static int kdump_open_core(int fd, void **core)
{
	struct core *c;
	int err = check_begin(fd);

	if (err)
		return err;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	if (kdump_load(c)) {
		err = open_loaded(c, fd);
	} else {
		fr_err("reading kdump's compressed format takes " LIBRARY
		       ": install libkdumpfile 0.5 (Debian: libkdumpfile10)");
		err = -ENOPKG;
	}
	if (err)
		kdump_close_core(c);
	else
		*core = c;
	return err;
}

/* Of all pages, for progress. */
static u64 kdump_end_of(const struct core *c)
{
	struct kdump_attr attr;

	return kdump_get(c, "max_pfn", KDUMP_NUMBER, &attr) ? attr.val.number : 0;
}

static int kdump_walk_core(void *p, struct fr_vmcore_walk *w)
{
	struct core *c = p;
	u64 pfn, end = kdump_end_of(c);
	size_t sz;
	int err = 0;

	for (pfn = 0; !err && c->find_set(c->pages, &pfn) == KDUMP_OK; pfn++) {
		sz = c->page_sz;
		if (c->read(c->ctx, KDUMP_MACHPHYSADDR, pfn * c->page_sz, c->page, &sz) == KDUMP_OK)
			err = fr_vmcore_run(w, pfn * c->page_sz, c->page, c->page_sz);
		else
			w->bad_cnt++;
		fr_progress_show(w->bar, pfn, end);
	}
	return err;
}

static int kdump_read_page(void *p, u64 place, void *page)
{
	struct core *c = p;
	size_t sz = FR_PAGE_SZ;

	return c->read(c->ctx, KDUMP_MACHPHYSADDR, place, page, &sz) == KDUMP_OK ? 0 : -EIO;
}

const struct fr_vmcore_format fr_vmcore_kdump = {kdump_open_core, kdump_walk_core, kdump_read_page, kdump_close_core};
