/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines may come in any order, as those of modules do. For each line, the first requested address at or above its symbol keeps
 * the symbol if it is nearer than the previous one, and the requested address before that notes that its function ends there at
 * the latest. In the end, addresses without a symbol inherit their neighbour's. No symbol is kept that was not asked for.
 */
#include "read/elf/kallsyms.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read/elf/lines.h"

#define READ_MAX_SZ (256u << 20)
#define FUNC_MAX_SZ (4u << 20) /* an address farther than this from the symbol before it is in no function */
#define NAME_MAX_SZ 1024u
#define NO_END	    (~0ULL)

/* A line of the file: "ffffffff81000000 T _stext", or of a module "...\t[name]". */
struct line {
	u64 addr;
	char type;
	const char *name, *module;
	size_t name_len, module_len;
};

/* The nearest symbol for address i so far, copied only when lines move on to another address: they mostly ascend. */
struct pending {
	size_t i;
	bool any;
	u64 begin;
	char name[NAME_MAX_SZ], module[64];
};

struct finder {
	struct fr_ksym *k;
	size_t cnt;
	struct pending p;
	u64 nonzero;
};

static bool kallsyms_parse(const char *text, struct line *l)
{
	if (!fr_hex_u64(&text, &l->addr) || text[0] != ' ' || !text[1] || text[2] != ' ')
		return false;
	l->type = text[1];
	l->name = text + 3;
	l->name_len = strcspn(l->name, "\t ");
	l->module = strchr(l->name + l->name_len, '[');
	l->module = l->module ? l->module + 1 : "";
	l->module_len = strcspn(l->module, "]");
	return l->name_len > 0;
}

static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* The first address at or above addr; cnt if there is none. */
static size_t kallsyms_first_from(const struct finder *f, u64 addr)
{
	size_t lo = 0, hi = f->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->k[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int kallsyms_settle(struct finder *f)
{
	struct fr_ksym *k = &f->k[f->p.i];

	if (!f->p.any)
		return 0;
	f->p.any = false;
	free(k->name);
	free(k->module);
	k->module = NULL;
	k->begin = f->p.begin;
	k->name = strdup(f->p.name);
	if (k->name && *f->p.module)
		k->module = strdup(f->p.module);
	return k->name && (k->module || !*f->p.module) ? 0 : -ENOMEM;
}

static void kallsyms_copy(char *to, size_t sz, const char *text, size_t len)
{
	len = len < sz - 1 ? len : sz - 1;
	memcpy(to, text, len);
	to[len] = 0;
}

/* Of several symbols at one address the first in the file counts, as in the kernel. */
static int kallsyms_take(struct finder *f, const struct line *l, size_t i)
{
	u64 have = f->p.any && f->p.i == i ? f->p.begin : f->k[i].name ? f->k[i].begin : 0;
	int err = 0;

	if (l->addr <= have)
		return 0;
	if (f->p.i != i)
		err = kallsyms_settle(f);
	f->p.i = i;
	f->p.any = true;
	f->p.begin = l->addr;
	kallsyms_copy(f->p.name, sizeof(f->p.name), l->name, l->name_len);
	kallsyms_copy(f->p.module, sizeof(f->p.module), l->module, l->module_len);
	return err;
}

static int kallsyms_take_line(struct finder *f, const struct line *l)
{
	size_t i = kallsyms_first_from(f, l->addr);

	f->nonzero += l->addr != 0;
	if (i && l->addr < f->k[i - 1].end)
		f->k[i - 1].end = l->addr;
	return is_text(l->type) && i < f->cnt ? kallsyms_take(f, l, i) : 0;
}

/* An address without a symbol of its own is in its neighbour's function, unless it is too far away. */
static int kallsyms_inherit(struct finder *f)
{
	struct fr_ksym *k;
	size_t i;

	for (i = f->cnt - 1; i-- > 0;)
		if (f->k[i].end > f->k[i + 1].end)
			f->k[i].end = f->k[i + 1].end;
	for (i = 1; i < f->cnt; i++) {
		k = &f->k[i];
		if (k->name || !k[-1].name)
			continue;
		k->begin = k[-1].begin;
		k->name = strdup(k[-1].name);
		k->module = k[-1].module ? strdup(k[-1].module) : NULL;
		if (!k->name || (k[-1].module && !k->module))
			return -ENOMEM;
	}
	return 0;
}

static void drop_far(struct finder *f)
{
	struct fr_ksym *k;

	for (k = f->k; k < f->k + f->cnt; k++) {
		if (k->end == NO_END)
			k->end = 0;
		if (!k->name || k->addr - k->begin <= FUNC_MAX_SZ)
			continue;
		free(k->name);
		free(k->module);
		k->name = k->module = NULL;
	}
}

static bool is_stext(const struct line *l)
{
	return !l->module_len && l->name_len == 6 && !memcmp(l->name, "_stext", 6);
}

static int read_lines(struct finder *f, struct fr_lines *in, struct fr_kallsyms_info *info)
{
	const char *text;
	struct line l;
	int err = 0;

	while (!err && (text = fr_lines_next(in))) {
		if (!kallsyms_parse(text, &l))
			continue;
		if (is_stext(&l))
			info->stext = l.addr;
		err = kallsyms_take_line(f, &l);
	}
	return err ?: in->err;
}

static int kallsyms_find_all(int fd, struct finder *f, struct fr_kallsyms_info *info)
{
	struct fr_lines *in = malloc(sizeof(*in));
	int err;

	if (!in)
		return -ENOMEM;
	fr_lines_init(in, fd, READ_MAX_SZ);
	err = read_lines(f, in, info);
	free(in);
	err = err ?: kallsyms_settle(f);
	if (f->cnt) {
		err = err ?: kallsyms_inherit(f);
		drop_far(f);
	}
	info->hidden = !f->nonzero;
	return err;
}

int fr_kallsyms_find(const char *path, struct fr_ksym *k, size_t cnt, struct fr_kallsyms_info *info)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct finder *f;
	size_t i;

	*info = (struct fr_kallsyms_info){};
	if (fd < 0)
		return -errno;
	f = calloc(1, sizeof(*f));
	for (i = 0; i < cnt; i++)
		k[i].end = NO_END;
	if (f) {
		f->k = k;
		f->cnt = cnt;
	}
	err = f ? kallsyms_find_all(fd, f, info) : -ENOMEM;
	free(f);
	close(fd);
	return err;
}

int fr_kallsyms_stext(const char *path, struct fr_kallsyms_info *info)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct fr_lines *in;
	const char *text;
	struct line l;

	*info = (struct fr_kallsyms_info){};
	if (fd < 0)
		return -errno;
	in = malloc(sizeof(*in));
	if (in)
		fr_lines_init(in, fd, READ_MAX_SZ);
	while (in && !info->stext && !info->hidden && (text = fr_lines_next(in))) {
		if (!kallsyms_parse(text, &l) || !is_stext(&l))
			continue;
		info->stext = l.addr;
		info->hidden = !l.addr;
	}
	err = in ? in->err : -ENOMEM;
	free(in);
	close(fd);
	return err;
}

/* Lines of the kernel itself ascend. Modules' follow, and BPF's. */
static void find_text(struct fr_lines *in, const char *const *name, size_t cnt, struct fr_ktext *out)
{
	const char *text;
	struct line l;
	size_t i;

	while ((text = fr_lines_next(in))) {
		if (!kallsyms_parse(text, &l) || l.module_len || !l.addr)
			continue;
		for (i = 0; i < cnt; i++) {
			if (out[i].begin && !out[i].end && l.addr > out[i].begin)
				out[i].end = l.addr;
			if (!out[i].begin && l.name_len == strlen(name[i]) && !memcmp(l.name, name[i], l.name_len))
				out[i].begin = l.addr;
		}
	}
	for (i = 0; i < cnt; i++)
		if (!out[i].end)
			out[i].begin = 0;
}

int fr_kallsyms_text(const char *path, const char *const *name, size_t cnt, struct fr_ktext *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct fr_lines *in = fd < 0 ? NULL : malloc(sizeof(*in));

	memset(out, 0, cnt * sizeof(*out));
	if (fd < 0)
		return -errno;
	if (in) {
		fr_lines_init(in, fd, READ_MAX_SZ);
		find_text(in, name, cnt, out);
	}
	err = in ? in->err : -ENOMEM;
	if (err)
		memset(out, 0, cnt * sizeof(*out));
	free(in);
	close(fd);
	return err;
}

void fr_kallsyms_free(struct fr_ksym *k, size_t cnt)
{
	size_t i;

	for (i = 0; k && i < cnt; i++) {
		free(k[i].name);
		free(k[i].module);
	}
}

/*
 * Code generated from BPF: "bpf_prog_<16 hex digits>_name", "bpf_trampoline_<number>". Some kernel functions begin similarly.
 */
static bool is_bpf(const char *name)
{
	static const char prog[] = "bpf_prog_", trampoline[] = "bpf_trampoline_";

	if (!strncmp(name, prog, sizeof(prog) - 1))
		return strspn(name + sizeof(prog) - 1, "0123456789abcdef") == 16;
	return !strncmp(name, trampoline, sizeof(trampoline) - 1) && isdigit((unsigned char)name[sizeof(trampoline) - 1]);
}

/* open: "[module]" or "[module build-id]"; NULL: the kernel names none. 0 or -ENOMEM. */
static int name_module(const char *open, struct fr_ksym *k)
{
	if (!open && !is_bpf(k->name))
		return 0;
	k->module = open ? strndup(open + 1, strcspn(open + 1, " ]")) : strdup("bpf");
	return k->module ? 0 : -ENOMEM;
}

int fr_ksym_parse(const char *text, struct fr_ksym *k)
{
	const char *plus = strchr(text, '+'), *at;
	u64 off, sz;

	if (!plus || plus == text || strncmp(plus, "+0x", 3))
		return 0;
	at = plus + 3;
	if (!fr_hex_u64(&at, &off) || strncmp(at, "/0x", 3))
		return 0;
	at += 3;
	if (!fr_hex_u64(&at, &sz) || off > k->addr)
		return 0;
	if (sz > ~(k->addr - off)) /* the vsyscall page: after the last symbol, for which the kernel's size wraps around */
		return 0;
	k->begin = k->addr - off;
	k->end = sz ? k->begin + sz : 0;
	k->name = strndup(text, plus - text);
	return k->name ? name_module(strchr(at, '['), k) : -ENOMEM;
}
