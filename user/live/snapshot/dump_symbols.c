/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_symbols: what the addresses in a snapshot mean, as far as only this machine knows, and only now: the kernel's names;
 * which files of which build-id living processes have mapped; names of code that processes made. Names in files are looked up
 * when the snapshot is read. All of it is read by an errand's runner (others.h), which tells what it finds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "live/snapshot/dump_int.h"
#include "read/elf/kallsyms.h"
#include "read/elf/perfmap.h"
#include "read/elf/procmaps.h"
#include "read/elf/vdso.h"
#include "sys/fd.h"
#include "sys/now.h"
#include "sys/patience.h"

#define KERNEL_MAX  32768u /* addresses */
#define MAPPING_MAX 65536u
#define SYMBOL_MAX  65536u
#define SEEN_CNT    1024u
#define JIT_MAX	    4096u /* addresses of one process */
#define TEXT_MAX    4095u /* bytes of a path or name */

#define PROCS_CPU_NS 200000000ULL /* for looking at all of them */

/* Kinds of what the runner tells. */
enum { TOLD_MAPPING, TOLD_SYMBOL, TOLD_WANT, TOLD_BUILD_ID, TOLD_STEXT, TOLD_KSYM };

/* What is read of a process. */
enum { STEP_FILES, STEP_JIT };

/* As they are told, before their texts: a path; a name, and, if it is not of the process's own, where it is. */
struct told_mapping {
	u64 begin, end, off;
	u32 deleted, build_id_sz;
	u8 build_id[FR_BUILD_ID_MAX];
};

struct told_symbol {
	u64 addr, sz;
	u32 nr; /* of the address, the kernel's */
	u32 name_sz, module_sz;
};

/* ---- the kernel's ---- */

/* Addresses in one function make one symbol. */
static size_t to_symbols(const struct fr_ksym *k, size_t cnt, struct fr_snap_symbol *y)
{
	size_t i, n = 0;

	for (i = 0; i < cnt; i++) {
		if (!k[i].name || (n && y[n - 1].addr == k[i].begin))
			continue;
		y[n++] = (struct fr_snap_symbol){
			.addr = k[i].begin,
			.sz = k[i].end ? k[i].end - k[i].begin : 0,
			.name = k[i].name,
			.module = k[i].module,
		};
	}
	return n;
}

static int put_kernel_symbols(struct fr_dump *d, const struct fr_ksym *k, size_t cnt)
{
	struct fr_snap_symbol *y = malloc((cnt + 1) * sizeof(*y));
	int err = y ? fr_snap_put_symbols(d->w, y, to_symbols(k, cnt, y)) : 0;

	free(y);
	return err;
}

static int put_build_id(struct fr_dump *d, const struct fr_dump_kernel *kernel)
{
	char text[2 * FR_BUILD_ID_MAX + 1] = "";
	u8 i;

	for (i = 0; i < kernel->build_id_sz; i++)
		snprintf(text + 2 * i, 3, "%02x", kernel->build_id[i]);
	return *text ? fr_snap_put_fact(d->w, "kernel_build_id", "%s", text) : 0;
}

/* "ok", or why some addresses have no names; of `beyond` nobody was asked. */
static int put_kernel_facts(struct fr_dump *d, const struct fr_dump_kernel *kernel, const struct fr_kallsyms_info *info,
			    int found, size_t beyond)
{
	const char *why = found ? strerror(-found) : info->hidden ? "hidden: kptr_restrict" : beyond ? NULL : "ok";
	int err = kernel->why_not || why
			  ? fr_snap_put_fact(d->w, "kernel_symbols", "%s", kernel->why_not ?: why)
			  : fr_snap_put_fact(d->w, "kernel_symbols", "no room: %zu addresses beyond %u", beyond, KERNEL_MAX);

	if (info->stext)
		err = err ?: fr_snap_put_fact(d->w, "kernel_stext", "0x%llx", info->stext);
	return err ?: put_build_id(d, kernel);
}

static size_t kernel_cnt(const struct fr_addrs *a)
{
	size_t cnt = a->addr_cnt - a->kernel_at;

	return cnt < KERNEL_MAX ? cnt : KERNEL_MAX;
}

int fr_dump_put_kernel(struct fr_dump *d, const struct fr_dump_kernel *kernel)
{
	struct fr_addrs *a = d->addrs;
	size_t cnt = kernel_cnt(a), beyond = a->addr_cnt - a->kernel_at - cnt, i;
	struct fr_kallsyms_info info = {};
	struct fr_ksym *k;
	int err, found;

	if (!cnt)
		return 0; /* nothing requested */
	k = calloc(cnt, sizeof(*k));
	for (i = 0; k && i < cnt; i++)
		k[i].addr = a->addr[a->kernel_at + i];
	found = !k ? -ENOMEM : kernel->why_not ? 0 : kernel->find(kernel->arg, k, cnt, &info);
	a->dropped += beyond;
	if (beyond)
		fr_unread_add(&d->unread, 0, "kernel", FR_ERRAND_FAILED);
	err = put_kernel_facts(d, kernel, &info, found, beyond);
	if (k && !info.hidden)
		err = err ?: put_kernel_symbols(d, k, cnt);
	fr_kallsyms_free(k, k ? cnt : 0);
	free(k);
	return err;
}

/* What the kernel says of itself, by the runner. */
struct kernel {
	struct fr_dump *d;
	bool by_file; /* names, too: the session has no program for them */
	struct fr_ksym *k;
	size_t cnt;
	struct fr_kallsyms_info info;
	int err;
	u8 build_id[FR_BUILD_ID_MAX];
	u8 build_id_sz;
};

static void tell_texts(struct fr_errand_out *to, u32 kind, struct told_symbol *y, const char *name, const char *module)
{
	u8 buf[sizeof(*y) + 2 * TEXT_MAX];

	y->name_sz = strnlen(name, TEXT_MAX);
	y->module_sz = module ? strnlen(module, TEXT_MAX) : 0;
	memcpy(buf, y, sizeof(*y));
	memcpy(buf + sizeof(*y), name, y->name_sz);
	memcpy(buf + sizeof(*y) + y->name_sz, module ?: "", y->module_sz);
	fr_errand_tell(to, kind, buf, sizeof(*y) + y->name_sz + y->module_sz);
}

/* False: it is none. Texts: malloc'ed, *module NULL if there is none. */
static bool told_texts(const void *data, u32 sz, struct told_symbol *y, char **name, char **module)
{
	const char *text = (const char *)data + sizeof(*y);

	if (sz < sizeof(*y))
		return false;
	memcpy(y, data, sizeof(*y));
	if (!y->name_sz || y->name_sz > TEXT_MAX || y->module_sz > TEXT_MAX || sz != sizeof(*y) + y->name_sz + y->module_sz ||
	    y->sz > ~y->addr)
		return false;
	*name = strndup(text, y->name_sz);
	*module = y->module_sz ? strndup(text + y->name_sz, y->module_sz) : NULL;
	return *name && **name;
}

static void read_kernel(void *arg, u32 item, struct fr_errand_out *to)
{
	struct kernel *n = arg;
	struct fr_kallsyms_info info = {};
	u8 id[FR_BUILD_ID_MAX], sz = fr_build_id_of_kernel(id);
	struct told_symbol y;
	size_t i;
	int err;

	(void)item;
	fr_errand_tell(to, TOLD_BUILD_ID, id, sz);
	err = n->by_file ? fr_kallsyms_find(FR_KALLSYMS, n->k, n->cnt, &info) : fr_kallsyms_stext(FR_KALLSYMS, &info);
	for (i = 0; n->by_file && i < n->cnt; i++) {
		if (!n->k[i].name)
			continue;
		y = (struct told_symbol){.addr = n->k[i].begin, .nr = i};
		y.sz = n->k[i].end ? n->k[i].end - n->k[i].begin : 0;
		tell_texts(to, TOLD_KSYM, &y, n->k[i].name, n->k[i].module);
	}
	fr_errand_tell(to, TOLD_STEXT, &info, sizeof(info));
	fr_errand_tell(to, TOLD_WANT, &err, sizeof(err));
}

static void take_ksym(struct kernel *n, const void *data, u32 sz)
{
	char *name = NULL, *module = NULL;
	struct told_symbol y;

	if (told_texts(data, sz, &y, &name, &module) && y.nr < n->cnt && !n->k[y.nr].name) {
		n->k[y.nr].begin = y.addr;
		n->k[y.nr].end = y.sz ? y.addr + y.sz : 0;
		n->k[y.nr].name = name;
		n->k[y.nr].module = module;
		return;
	}
	free(name);
	free(module);
}

static void take_kernel(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	struct kernel *n = arg;

	(void)item;
	if (kind == TOLD_KSYM) {
		take_ksym(n, data, sz);
	} else if (kind == TOLD_BUILD_ID && sz <= sizeof(n->build_id)) {
		memcpy(n->build_id, data, sz);
		n->build_id_sz = sz;
	} else if (kind == TOLD_STEXT && sz == sizeof(n->info)) {
		memcpy(&n->info, data, sz);
	} else if (kind == TOLD_WANT && sz == sizeof(n->err)) {
		memcpy(&n->err, data, sz);
	}
}

static void miss_kernel(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	struct kernel *n = arg;

	(void)item;
	(void)step;
	n->err = -ETIME;
	fr_unread_add(&n->d->unread, 0, "kernel", why);
}

static u32 symbols_one(void *arg)
{
	(void)arg;
	return 1;
}

/* Names were asked of the kernel one by one; or, of a session that has no program for it, read with all there are. */
static int find_here(void *kernel, struct fr_ksym *k, size_t cnt, struct fr_kallsyms_info *info)
{
	struct kernel *n = kernel;

	*info = n->info;
	if (n->by_file && n->k) {
		memcpy(k, n->k, cnt * sizeof(*k)); /* fr_dump_put_kernel() frees names */
		memset(n->k, 0, cnt * sizeof(*n->k));
		return n->err;
	}
	info->hidden = false; /* the addresses, but not the names */
	return fr_sess_ksyms(n->d->s, k, cnt);
}

/* Without memory, no address gets a name. */
static void begin_kernel(struct kernel *n, struct fr_dump *d)
{
	const struct fr_addrs *a = d->addrs;
	size_t i;

	n->d = d;
	n->by_file = fr_sess_ksyms(d->s, NULL, 0);
	n->cnt = n->by_file ? kernel_cnt(a) : 0;
	n->k = calloc(n->cnt + 1, sizeof(*n->k));
	n->cnt = n->k ? n->cnt : 0;
	for (i = 0; i < n->cnt; i++)
		n->k[i].addr = a->addr[a->kernel_at + i];
}

static int put_kernel(struct fr_dump *d, struct kernel *n)
{
	struct fr_dump_kernel kernel = {.find = find_here, .arg = n, .build_id_sz = n->build_id_sz};

	memcpy(kernel.build_id, n->build_id, n->build_id_sz);
	return fr_dump_put_kernel(d, &kernel);
}

/* ---- processes ---- */

/* A process with user frames. */
struct proc_life {
	u32 pid;
	u64 start_ns, exit_ns; /* CLOCK_MONOTONIC; exit 0: it lives */
};

#define PROF_CNT 2u /* the profile, and where tasks were blocked */

/* What was found of all processes, for the asker; and, for the runner, of the one being looked at. */
struct finds {
	struct fr_dump *d;
	const struct fr_addrs *addrs;
	struct proc_life *life; /* items */
	size_t life_cnt;
	struct fr_errand_out *out;
	struct fr_snap_mapping *mapping;
	size_t mapping_cnt, mapping_room;
	struct fr_snap_symbol *symbol;
	size_t symbol_cnt, symbol_room;
	const struct fr_prof *prof[PROF_CNT]; /* files of these are looked for by build-id; NULL: none */
	bool found[PROF_CNT][FR_PROF_FILE_MAX];
	u32 found_cnt;
	u64 seen[SEEN_CNT]; /* files that were looked at */
	struct fr_proc proc;
	struct fr_jit_sym *jit;
	size_t jit_cnt;
	struct fr_vdso *vdso; /* NULL: no frame was in it, or ours cannot be read */
	bool vdso_asked;
	bool file_failed; /* the runner's: a file of this process could not be read */
	u64 unseen_cnt;	  /* processes, for want of descriptors or time */
	u32 short_pid;	  /* the last process of which something found no room */
};

/* Let *items have room for one more, up to max. 0, or -ENOMEM. */
static int symbols_grow(void *items, size_t cnt, size_t *room, size_t item_sz, size_t max)
{
	void **p = items, *more;
	size_t want = *room ? 2 * *room : 64;

	if (cnt < *room)
		return 0;
	more = want <= max ? realloc(*p, want * item_sz) : NULL;
	if (!more)
		return -ENOMEM;
	*p = more;
	*room = want;
	return 0;
}

/* ---- what the runner tells of a process, and what becomes of it ---- */

/* The file's build-id. What could not be read is missing, and said. */
static u8 symbols_build_id(struct finds *f, const struct fr_procmap *m, u8 *id)
{
	int err = 0;
	u8 sz = fr_proc_build_id(&f->proc, m, id, &err);

	if (err) {
		f->file_failed = true;
		fr_errand_fail(f->out);
	}
	return sz;
}

static void tell_mapping(struct finds *f, const struct fr_procmap *m)
{
	struct told_mapping told = {.begin = m->begin, .end = m->end, .off = m->off, .deleted = m->deleted};
	size_t path_sz = strnlen(m->path, TEXT_MAX);
	u8 buf[sizeof(told) + TEXT_MAX];

	told.build_id_sz = symbols_build_id(f, m, told.build_id);
	/* without a build-id nothing else tells it from a file of that path here */
	told.deleted |= !told.build_id_sz && fr_procmap_is_gone(m);
	memcpy(buf, &told, sizeof(told));
	memcpy(buf + sizeof(told), m->path, path_sz);
	fr_errand_tell(f->out, TOLD_MAPPING, buf, sizeof(told) + path_sz);
}

static void tell_symbol(struct finds *f, const struct fr_snap_symbol *y)
{
	struct told_symbol told = {.addr = y->addr, .sz = y->sz};

	tell_texts(f->out, TOLD_SYMBOL, &told, y->name, y->module);
}

/* Something of a process has no room, or no memory: said once of each. */
static void symbols_short(struct finds *f, u32 pid)
{
	if (f->short_pid == pid)
		return;
	f->short_pid = pid;
	fr_unread_add(&f->d->unread, pid, "files", FR_ERRAND_FAILED);
}

static void take_mapping(struct finds *f, u32 pid, const void *data, u32 sz)
{
	struct fr_snap_mapping *to;
	struct told_mapping told;
	char *path;

	if (sz <= sizeof(told) || sz > sizeof(told) + TEXT_MAX)
		return;
	memcpy(&told, data, sizeof(told));
	if (told.begin >= told.end || told.off > ~0ULL - (told.end - told.begin) || told.build_id_sz > FR_BUILD_ID_MAX)
		return;
	path = symbols_grow(&f->mapping, f->mapping_cnt, &f->mapping_room, sizeof(*f->mapping), MAPPING_MAX)
		       ? NULL
		       : strndup((const char *)data + sizeof(told), sz - sizeof(told));
	if (!path) {
		symbols_short(f, pid);
		return;
	}
	to = &f->mapping[f->mapping_cnt++];
	*to = (struct fr_snap_mapping){
		.pid = pid,
		.begin = told.begin,
		.end = told.end,
		.file_off = told.off,
		.path = path,
		.deleted = told.deleted,
		.build_id_sz = told.build_id_sz,
	};
	memcpy(to->build_id, told.build_id, sizeof(to->build_id));
}

static void take_symbol(struct finds *f, u32 pid, const void *data, u32 sz)
{
	char *name = NULL, *module = NULL;
	struct told_symbol y;

	if (!told_texts(data, sz, &y, &name, &module)) {
		; /* it is none */
	} else if (symbols_grow(&f->symbol, f->symbol_cnt, &f->symbol_room, sizeof(*f->symbol), SYMBOL_MAX)) {
		symbols_short(f, pid);
	} else {
		f->symbol[f->symbol_cnt++] = (struct fr_snap_symbol){
			.pid = pid,
			.addr = y.addr,
			.sz = y.sz,
			.name = name,
			.module = module && !strcmp(module, FR_VDSO_PATH) ? FR_VDSO_PATH : NULL,
		};
		name = NULL;
	}
	free(name);
	free(module);
}

static void take_found(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	struct finds *f = arg;

	if (kind == TOLD_MAPPING)
		take_mapping(f, f->life[item].pid, data, sz);
	else if (kind == TOLD_SYMBOL)
		take_symbol(f, f->life[item].pid, data, sz);
	else if (kind == TOLD_WANT)
		f->unseen_cnt++;
}

static void miss_found(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	struct finds *f = arg;

	f->unseen_cnt++;
	fr_unread_add(&f->d->unread, f->life[item].pid, step == STEP_JIT ? "jit" : "files", why);
}

static u32 life_cnt(void *arg)
{
	return ((struct finds *)arg)->life_cnt;
}

static u64 symbols_pid_of(void *arg, u32 item)
{
	return ((struct finds *)arg)->life[item].pid;
}

/* ---- files of the profile, whose frames have no addresses ---- */

static void find_file(struct finds *f, u32 of, const u8 *id, u8 sz)
{
	const struct fr_prof *p = f->prof[of];
	u32 i;

	for (i = 0; p && i < p->file_cnt; i++)
		if (!f->found[of][i] && p->file[i].sz == sz && !memcmp(p->file[i].build_id, id, sz)) {
			f->found[of][i] = true;
			f->found_cnt++;
		}
}

static u32 files_wanted(const struct finds *f)
{
	u32 cnt = 0, i;

	for (i = 0; i < PROF_CNT; i++)
		cnt += f->prof[i] ? f->prof[i]->file_cnt : 0;
	return cnt;
}

/* Was this file looked at? One that is forgotten is looked at again. */
static bool was_seen(struct finds *f, const struct fr_procmap *m)
{
	u64 key = (m->inode * 0x9e3779b97f4a7c15ull) ^ strlen(m->path), *slot = &f->seen[(key >> 32) % SEEN_CNT];
	bool seen = *slot == key;

	*slot = key;
	return seen;
}

static bool symbols_is_wanted(struct finds *f, const struct fr_procmap *m)
{
	u8 id[FR_BUILD_ID_MAX], sz;
	u32 before = f->found_cnt, i;

	if (f->found_cnt == files_wanted(f) || !m->inode || !m->path[0] || was_seen(f, m))
		return false;
	sz = symbols_build_id(f, m, id);
	for (i = 0; sz && i < PROF_CNT; i++)
		find_file(f, i, id, sz);
	return f->found_cnt > before;
}

/* ---- the kernel's functions in processes ---- */

/* Those that addresses number from to to lie in, if m has them. */
static void tell_vdso(struct finds *f, const struct fr_procmap *m, u32 from, u32 to)
{
	struct fr_symfile_func func;
	u64 last = 0;

	if (!f->vdso_asked)
		fr_vdso_open(&f->vdso);
	f->vdso_asked = true;
	if (!f->vdso || !fr_vdso_is(f->vdso, m))
		return;
	for (; from < to; from++) {
		if (!fr_vdso_find(f->vdso, f->addrs->addr[from] - m->begin, &func) || m->begin + func.vaddr == last)
			continue;
		last = m->begin + func.vaddr;
		tell_symbol(f,
			    &(struct fr_snap_symbol){.addr = last, .sz = func.sz, .name = func.name, .module = FR_VDSO_PATH});
	}
}

/* ---- mappings, and code made by the process ---- */

static void keep_jit_addrs(struct finds *f, u32 from, u32 to)
{
	for (; from < to && f->jit_cnt < JIT_MAX; from++)
		f->jit[f->jit_cnt++] = (struct fr_jit_sym){.addr = f->addrs->addr[from]};
	if (from < to) /* too many */
		fr_errand_fail(f->out);
}

/* Memory without a file, or of a file without a name (memfd, as some runtimes do for their code). */
static bool is_made(const struct fr_procmap *m)
{
	return !m->inode ? m->path[0] != '[' || !strncmp(m->path, "[anon", 5) || !strcmp(m->path, "[heap]")
			 : !strncmp(m->path, "/memfd:", 7);
}

static int symbols_take_map(void *arg, const struct fr_procmap *m)
{
	struct finds *f = arg;
	u32 from = fr_addrs_from(f->addrs, m->begin), to = fr_addrs_from(f->addrs, m->end);

	if (fr_addr_is_kernel(m->begin))
		return 0;
	if (from == to) {
		if (symbols_is_wanted(f, m))
			tell_mapping(f, m);
		return 0;
	}
	if (is_made(m))
		keep_jit_addrs(f, from, to);
	else if (!strcmp(m->path, FR_VDSO_PATH))
		tell_vdso(f, m, from, to);
	if (m->path[0])
		tell_mapping(f, m);
	return 0;
}

/* Names of code it made, where frames lie, by its map, which is closed. */
static void tell_names(struct finds *f, int fd)
{
	size_t i;

	if (fr_perfmap_find(fd, f->jit, f->jit_cnt))
		fr_errand_fail(f->out);
	close(fd);
	for (i = 0; i < f->jit_cnt; i++)
		if (f->jit[i].name && (!i || f->jit[i].begin != f->jit[i - 1].begin))
			tell_symbol(f, &(struct fr_snap_symbol){
					       .addr = f->jit[i].begin, .sz = f->jit[i].sz, .name = f->jit[i].name});
	fr_perfmap_free(f->jit, f->jit_cnt);
}

/*
 * Names of code that an ended process had made. What it had mapped is gone: any user frame may be code of its, if its map says
 * so, for frames in files have their build-id.
 */
static void look_at_ended(struct finds *f, const struct proc_life *p)
{
	u32 cnt = f->addrs->kernel_at, i;
	int fd = fr_ended_perf_map(p->pid, p->start_ns, p->exit_ns ? p->exit_ns : fr_now_ns(CLOCK_MONOTONIC));
	struct fr_jit_sym *own = f->jit;

	if (fd < 0)
		return;
	f->jit = calloc(cnt + 1, sizeof(*f->jit));
	for (i = 0; f->jit && i < cnt; i++)
		f->jit[i].addr = f->addrs->addr[i];
	f->jit_cnt = f->jit ? cnt : 0;
	tell_names(f, fd);
	free(f->jit);
	f->jit = own;
}

static void look_at_living(struct finds *f)
{
	int fd, err;

	f->jit_cnt = 0;
	f->file_failed = false;
	err = fr_proc_maps(&f->proc, symbols_take_map, f);
	if (err && err != -ESRCH) { /* else it has ended meanwhile */
		fr_errand_fail(f->out);
		fr_proc_close(&f->proc);
		return;
	}
	if (!f->file_failed) /* what is said to be missing from here on includes what failed */
		fr_errand_step(f->out, STEP_JIT);
	fd = f->jit_cnt ? fr_proc_perf_map(&f->proc) : -1;
	if (fd >= 0)
		tell_names(f, fd);
	fr_proc_close(&f->proc);
}

static void symbols_look_at_proc(void *arg, u32 item, struct fr_errand_out *out)
{
	struct finds *f = arg;
	const struct proc_life *p = &f->life[item];
	int err = p->exit_ns ? -ESRCH : fr_proc_open(p->pid, &f->proc);

	f->out = out;
	if (fr_fd_is_want(err)) {
		fr_errand_tell(out, TOLD_WANT, &err, sizeof(err));
	} else if (err) {
		fr_errand_step(out, STEP_JIT);
		look_at_ended(f, p);
	} else {
		look_at_living(f);
	}
}

/* Those that live first; of one pid, one behind the other. */
static int symbols_by_life(const void *a, const void *b)
{
	const struct proc_life *x = a, *y = b;

	if (!x->exit_ns != !y->exit_ns)
		return x->exit_ns ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static struct proc_life life_of(const struct fr_snap_task *t)
{
	return (struct proc_life){.pid = t->task.tgid, .start_ns = t->start_ns, .exit_ns = t->task.exit_ns};
}

/* Add the life of another of its tasks. */
static void symbols_add_life(struct proc_life *p, const struct proc_life *more)
{
	if (more->start_ns < p->start_ns)
		p->start_ns = more->start_ns;
	if (more->exit_ns > p->exit_ns)
		p->exit_ns = more->exit_ns;
}

/* Does the pid of an ended process belong to one that lives, of those sorted first? */
static bool lives_again(const struct proc_life *p, size_t cnt, const struct proc_life *ended)
{
	struct proc_life key = {.pid = ended->pid};

	return ended->exit_ns && bsearch(&key, p, cnt, sizeof(*p), symbols_by_life);
}

/* The processes of tasks with user frames, one of each pid: *out malloc'ed. How many. */
static size_t list_procs(const struct fr_addrs *a, const struct fr_snap_task *task, size_t cnt, struct proc_life **out)
{
	struct proc_life *p = malloc((cnt + 1) * sizeof(*p));
	size_t i, n = 0, kept = 0, living = 0;

	*out = p;
	for (i = 0; p && i < cnt; i++)
		if (task[i].task.tgid && fr_addrs_has_tid(a, task[i].tid))
			p[n++] = life_of(&task[i]);
	if (n)
		qsort(p, n, sizeof(*p), symbols_by_life);
	for (i = 0; i < n; i++) {
		if (kept && p[kept - 1].pid == p[i].pid && !p[kept - 1].exit_ns == !p[i].exit_ns)
			symbols_add_life(&p[kept - 1], &p[i]);
		else if (!lives_again(p, living, &p[i]))
			p[kept++] = p[i];
		living = kept && !p[kept - 1].exit_ns ? kept : living;
	}
	return kept;
}

void fr_dump_free_mappings(struct fr_snap_mapping *m, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		free((char *)m[i].path);
	free(m);
}

/* Those of processes that died; not if another one has the pid now. */
static void add_dead(struct finds *f, struct fr_dump *d)
{
	size_t i, k, living = f->mapping_cnt;

	for (i = 0; i < d->dead_cnt; i++) {
		for (k = 0; k < living && f->mapping[k].pid != d->dead[i].pid; k++)
			;
		if (k < living || symbols_grow(&f->mapping, f->mapping_cnt, &f->mapping_room, sizeof(*f->mapping), MAPPING_MAX))
			continue;
		f->mapping[f->mapping_cnt++] = d->dead[i];
		d->dead[i].path = NULL; /* the other's from now on */
	}
}

static void free_finds(struct finds *f)
{
	size_t i;

	fr_dump_free_mappings(f->mapping, f->mapping_cnt);
	for (i = 0; i < f->symbol_cnt; i++)
		free((char *)f->symbol[i].name);
	free(f->symbol);
	free(f->life);
	free(f->jit);
	fr_vdso_close(f->vdso);
}

struct fr_dump_symbols {
	struct kernel kernel;
	struct finds finds;
};

struct fr_dump_symbols *fr_dump_symbols_new(struct fr_dump *d, const struct fr_snap_task *task, size_t cnt,
					    struct fr_errand_job job[FR_DUMP_SYMBOLS_JOB_CNT])
{
	struct fr_dump_symbols *y = d->addrs ? calloc(1, sizeof(*y)) : NULL;

	if (!y)
		return NULL;
	fr_addrs_sort(d->addrs);
	begin_kernel(&y->kernel, d);
	y->finds = (struct finds){
		.d = d, .addrs = d->addrs, .prof = {d->prof, d->blocked}, .jit = malloc(JIT_MAX * sizeof(*y->finds.jit))};
	if (y->finds.jit)
		y->finds.life_cnt = list_procs(d->addrs, task, cnt, &y->finds.life);
	job[0] = (struct fr_errand_job){
		.arg = &y->kernel, .cnt = symbols_one, .run = read_kernel, .take = take_kernel, .miss = miss_kernel};
	job[1] = (struct fr_errand_job){
		.arg = &y->finds,
		.cnt = life_cnt,
		.key = symbols_pid_of,
		.run = symbols_look_at_proc,
		.take = take_found,
		.miss = miss_found,
		.cpu_ns = fr_patience_ns(PROCS_CPU_NS),
	};
	return y;
}

static int find_by_program(void *d, struct fr_ksym *k, size_t cnt, struct fr_kallsyms_info *info)
{
	(void)info;
	return fr_sess_ksyms(((struct fr_dump *)d)->s, k, cnt);
}

int fr_dump_put_own_symbols(struct fr_dump *d)
{
	const struct fr_dump_kernel kernel = {.find = find_by_program, .arg = d};

	if (!d->addrs)
		return 0;
	fr_addrs_sort(d->addrs);
	return fr_dump_put_kernel(d, &kernel);
}

void fr_dump_symbols_free(struct fr_dump_symbols *y)
{
	if (!y)
		return;
	fr_kallsyms_free(y->kernel.k, y->kernel.cnt);
	free(y->kernel.k);
	free_finds(&y->finds);
	free(y);
}

static int symbols_put_procs(struct fr_dump *d, struct finds *f)
{
	int err = 0;

	add_dead(f, d);
	if (f->unseen_cnt || d->addrs->dropped)
		err = fr_snap_put_fact(d->w, "symbols_left_out", "processes=%llu;addresses=%llu", f->unseen_cnt,
				       d->addrs->dropped);
	err = err ?: fr_snap_put_mappings(d->w, f->mapping, f->mapping_cnt);
	return err ?: fr_snap_put_symbols(d->w, f->symbol, f->symbol_cnt);
}

int fr_dump_put_symbols(struct fr_dump *d, struct fr_dump_symbols *y)
{
	return y ? put_kernel(d, &y->kernel) ?: symbols_put_procs(d, &y->finds) : 0;
}
