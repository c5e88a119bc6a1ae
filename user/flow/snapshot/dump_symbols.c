/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_symbols: what the addresses in a snapshot mean, as far as only this machine knows, and only now: the kernel's names;
 * which files of which build-id living processes have mapped; names of code that processes made. Names in files are looked up
 * when the snapshot is read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/snapshot/dump_int.h"
#include "io/fd.h"
#include "io/now.h"
#include "io/symbol/kallsyms.h"
#include "io/symbol/perfmap.h"
#include "io/symbol/procmaps.h"
#include "io/symbol/vdso.h"
#include "pure/err.h"

#define KERNEL_MAX  32768u /* addresses */
#define MAPPING_MAX 65536u
#define SYMBOL_MAX  65536u
#define SEEN_CNT    1024u
#define JIT_MAX	    4096u /* addresses of one process */

/* A snapshot must not wait for processes: limits of CPU time for looking at them, and of elapsed time on a busy machine. */
#define PROCS_CPU_NS 200000000ULL
#define PROCS_NS     2000000000ULL

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

static int put_kernel_facts(struct fr_dump *d, const struct fr_dump_kernel *kernel, const struct fr_kallsyms_info *info,
			    int found)
{
	const char *why = found ? strerror(-found) : info->hidden ? "hidden: kptr_restrict" : "ok";
	int err = fr_snap_put_fact(d->w, "kernel_symbols", "%s", kernel->why_not ?: why);

	if (info->stext)
		err = err ?: fr_snap_put_fact(d->w, "kernel_stext", "0x%llx", (unsigned long long)info->stext);
	return err ?: put_build_id(d, kernel);
}

int fr_dump_put_kernel(struct fr_dump *d, const struct fr_dump_kernel *kernel)
{
	const struct fr_addrs *a = d->addrs;
	size_t cnt = a->addr_cnt - a->kernel_at, i;
	struct fr_kallsyms_info info = {};
	struct fr_ksym *k;
	int err, found;

	if (!cnt)
		return 0; /* nothing requested */
	if (cnt > KERNEL_MAX)
		cnt = KERNEL_MAX;
	k = calloc(cnt, sizeof(*k));
	for (i = 0; k && i < cnt; i++)
		k[i].addr = a->addr[a->kernel_at + i];
	found = !k ? -ENOMEM : kernel->why_not ? 0 : kernel->find(kernel->arg, k, cnt, &info);
	err = put_kernel_facts(d, kernel, &info, found);
	if (k && !info.hidden)
		err = err ?: put_kernel_symbols(d, k, cnt);
	fr_kallsyms_free(k, k ? cnt : 0);
	free(k);
	return err;
}

/* Asked of the kernel one by one; or, of a session that has no program for it, in all there are. */
static int find_here(void *sess, struct fr_ksym *k, size_t cnt, struct fr_kallsyms_info *info)
{
	if (fr_sess_ksyms(sess, k, cnt))
		return fr_kallsyms_find(FR_KALLSYMS, k, cnt, info);
	fr_kallsyms_stext(FR_KALLSYMS, info);
	info->hidden = false; /* the addresses, but not the names */
	return 0;
}

static int put_kernel(struct fr_dump *d)
{
	struct fr_dump_kernel kernel = {.find = find_here, .arg = d->s};

	kernel.build_id_sz = fr_build_id_of_kernel(kernel.build_id);
	return fr_dump_put_kernel(d, &kernel);
}

/* ---- processes ---- */

/* A process with user frames. */
struct proc_life {
	u32 pid;
	u64 start_ns, exit_ns; /* CLOCK_MONOTONIC; exit 0: it lives */
};

/* What was found of all processes, and of the one being looked at. */
struct finds {
	const struct fr_addrs *addrs;
	struct fr_snap_mapping *mapping;
	size_t mapping_cnt, mapping_room;
	struct fr_snap_symbol *symbol;
	size_t symbol_cnt, symbol_room;
	const struct fr_prof *prof; /* files of it are looked for by build-id */
	bool found[FR_PROF_FILE_MAX];
	u32 found_cnt;
	u64 seen[SEEN_CNT]; /* files that were looked at */
	struct fr_proc proc;
	struct fr_jit_sym *jit;
	size_t jit_cnt;
	struct fr_vdso *vdso; /* NULL: no frame was in it, or ours cannot be read */
	bool vdso_asked;
	u64 unseen_cnt; /* processes, for want of descriptors */
};

/* Let *items have room for one more, up to max. 0, or -ENOMEM. */
static int grow(void *items, size_t cnt, size_t *room, size_t item_sz, size_t max)
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

static int keep_mapping(struct finds *f, const struct fr_procmap *m)
{
	struct fr_snap_mapping *to;
	char *path;

	if (grow(&f->mapping, f->mapping_cnt, &f->mapping_room, sizeof(*f->mapping), MAPPING_MAX))
		return -ENOMEM;
	path = strdup(m->path);
	if (!path)
		return -ENOMEM;
	to = &f->mapping[f->mapping_cnt++];
	*to = (struct fr_snap_mapping){
		.pid = f->proc.pid,
		.begin = m->begin,
		.end = m->end,
		.file_off = m->off,
		.path = path,
		.deleted = m->deleted,
	};
	to->build_id_sz = fr_proc_build_id(&f->proc, m, to->build_id);
	/* without a build-id nothing else tells it from a file of that path here */
	to->deleted |= !to->build_id_sz && fr_procmap_is_gone(m);
	return 0;
}

/* ---- files of the profile, whose frames have no addresses ---- */

static void find_file(struct finds *f, const u8 *id, u8 sz)
{
	u32 i;

	for (i = 0; i < f->prof->file_cnt; i++)
		if (!f->found[i] && f->prof->file[i].sz == sz && !memcmp(f->prof->file[i].build_id, id, sz)) {
			f->found[i] = true;
			f->found_cnt++;
		}
}

/* Was this file looked at? One that is forgotten is looked at again. */
static bool was_seen(struct finds *f, const struct fr_procmap *m)
{
	u64 key = (m->inode * 0x9e3779b97f4a7c15ull) ^ strlen(m->path), *slot = &f->seen[(key >> 32) % SEEN_CNT];
	bool seen = *slot == key;

	*slot = key;
	return seen;
}

static bool is_wanted(struct finds *f, const struct fr_procmap *m)
{
	u8 id[FR_BUILD_ID_MAX], sz;
	u32 before = f->found_cnt;

	if (!f->prof || f->found_cnt == f->prof->file_cnt || !m->inode || !m->path[0] || was_seen(f, m))
		return false;
	sz = fr_proc_build_id(&f->proc, m, id);
	if (sz)
		find_file(f, id, sz);
	return f->found_cnt > before;
}

/* A symbol of the process, whose name is the symbol's from now on. 0, or -ENOMEM: it is not. */
static int keep_symbol(struct finds *f, const struct fr_snap_symbol *y)
{
	if (grow(&f->symbol, f->symbol_cnt, &f->symbol_room, sizeof(*f->symbol), SYMBOL_MAX))
		return -ENOMEM;
	f->symbol[f->symbol_cnt] = *y;
	f->symbol[f->symbol_cnt++].pid = f->proc.pid;
	return 0;
}

/* ---- the kernel's functions in processes ---- */

static int keep_vdso_symbol(struct finds *f, u64 begin, const struct fr_symfile_func *func)
{
	struct fr_snap_symbol y = {.addr = begin, .sz = func->sz, .name = strdup(func->name), .module = FR_VDSO_PATH};
	int err = y.name ? keep_symbol(f, &y) : -ENOMEM;

	if (err)
		free((char *)y.name);
	return err;
}

/* Those that addresses number from to to lie in, if m has them. */
static int keep_vdso(struct finds *f, const struct fr_procmap *m, u32 from, u32 to)
{
	struct fr_symfile_func func;
	u64 last = 0;
	int err = 0;

	if (!f->vdso_asked)
		fr_vdso_open(&f->vdso);
	f->vdso_asked = true;
	if (!f->vdso || !fr_vdso_is(f->vdso, m))
		return 0;
	for (; from < to && !err; from++) {
		if (!fr_vdso_find(f->vdso, f->addrs->addr[from] - m->begin, &func) || m->begin + func.vaddr == last)
			continue;
		last = m->begin + func.vaddr;
		err = keep_vdso_symbol(f, last, &func);
	}
	return err;
}

/* ---- mappings, and code made by the process ---- */

static void keep_jit_addrs(struct finds *f, u32 from, u32 to)
{
	for (; from < to && f->jit_cnt < JIT_MAX; from++)
		f->jit[f->jit_cnt++] = (struct fr_jit_sym){.addr = f->addrs->addr[from]};
}

/* Memory without a file, or of a file without a name (memfd, as some runtimes do for their code). */
static bool is_made(const struct fr_procmap *m)
{
	return !m->inode ? m->path[0] != '[' || !strncmp(m->path, "[anon", 5) || !strcmp(m->path, "[heap]")
			 : !strncmp(m->path, "/memfd:", 7);
}

static int take_map(void *arg, const struct fr_procmap *m)
{
	struct finds *f = arg;
	u32 from = fr_addrs_from(f->addrs, m->begin), to = fr_addrs_from(f->addrs, m->end);

	if (fr_addr_is_kernel(m->begin))
		return 0;
	if (from == to)
		return is_wanted(f, m) ? keep_mapping(f, m) : 0;
	if (is_made(m))
		keep_jit_addrs(f, from, to);
	else if (!strcmp(m->path, FR_VDSO_PATH) && keep_vdso(f, m, from, to))
		return -ENOMEM;
	return m->path[0] ? keep_mapping(f, m) : 0;
}

static int keep_jit_symbol(struct finds *f, struct fr_jit_sym *j)
{
	int err = keep_symbol(f, &(struct fr_snap_symbol){.addr = j->begin, .sz = j->sz, .name = j->name});

	if (!err)
		j->name = NULL; /* the symbol's from now on */
	return err;
}

/* Names of code it made, where frames lie, by its map, which is closed. */
static int take_names(struct finds *f, int fd)
{
	int err = 0;
	size_t i;

	fr_perfmap_find(fd, f->jit, f->jit_cnt);
	close(fd);
	for (i = 0; i < f->jit_cnt && !err; i++)
		if (f->jit[i].name && (!i || f->jit[i].begin != f->jit[i - 1].begin))
			err = keep_jit_symbol(f, &f->jit[i]);
	fr_perfmap_free(f->jit, f->jit_cnt);
	return err;
}

/*
 * Names of code that an ended process had made. What it had mapped is gone: any user frame may be code of its, if its map says
 * so, for frames in files have their build-id.
 */
static int take_ended(struct finds *f, const struct proc_life *p)
{
	u32 cnt = f->addrs->kernel_at, i;
	int fd = fr_ended_perf_map(p->pid, p->start_ns, p->exit_ns ? p->exit_ns : fr_now_ns(CLOCK_MONOTONIC)), err = 0;
	struct fr_jit_sym *own = f->jit;

	if (fd < 0)
		return 0;
	f->proc.pid = p->pid;
	f->jit = calloc(cnt + 1, sizeof(*f->jit));
	for (i = 0; f->jit && i < cnt; i++)
		f->jit[i].addr = f->addrs->addr[i];
	f->jit_cnt = f->jit ? cnt : 0;
	err = take_names(f, fd);
	free(f->jit);
	f->jit = own;
	return err;
}

static int take_proc(struct finds *f, const struct proc_life *p)
{
	int fd, err;

	err = p->exit_ns ? -ESRCH : fr_proc_open(p->pid, &f->proc);
	if (fr_fd_is_want(err)) {
		f->unseen_cnt++;
		return 0;
	}
	if (err)
		return take_ended(f, p);
	f->jit_cnt = 0;
	err = fr_proc_maps(&f->proc, take_map, f);
	fd = err != -ENOMEM && f->jit_cnt ? fr_proc_perf_map(&f->proc) : -1;
	if (err != -ENOMEM)
		err = fd < 0 ? 0 : take_names(f, fd);
	fr_proc_close(&f->proc);
	return err;
}

/* Those that live first; of one pid, one behind the other. */
static int by_life(const void *a, const void *b)
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
static void add_life(struct proc_life *p, const struct proc_life *more)
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

	return ended->exit_ns && bsearch(&key, p, cnt, sizeof(*p), by_life);
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
		qsort(p, n, sizeof(*p), by_life);
	for (i = 0; i < n; i++) {
		if (kept && p[kept - 1].pid == p[i].pid && !p[kept - 1].exit_ns == !p[i].exit_ns)
			add_life(&p[kept - 1], &p[i]);
		else if (!lives_again(p, living, &p[i]))
			p[kept++] = p[i];
		living = kept && !p[kept - 1].exit_ns ? kept : living;
	}
	return kept;
}

/* How many processes were left out, for want of time, memory or descriptors. */
static u64 take_procs(struct finds *f, const struct fr_snap_task *task, size_t cnt)
{
	u64 until_ns = fr_now_ns(CLOCK_MONOTONIC) + PROCS_NS, until_cpu_ns = fr_now_ns(CLOCK_THREAD_CPUTIME_ID) + PROCS_CPU_NS;
	size_t proc_cnt, i;
	struct proc_life *p;

	proc_cnt = list_procs(f->addrs, task, cnt, &p);
	for (i = 0; i < proc_cnt && fr_now_ns(CLOCK_MONOTONIC) < until_ns && fr_now_ns(CLOCK_THREAD_CPUTIME_ID) < until_cpu_ns;
	     i++)
		if (take_proc(f, &p[i]))
			break;
	free(p);
	return proc_cnt - i + f->unseen_cnt;
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
		if (k < living || grow(&f->mapping, f->mapping_cnt, &f->mapping_room, sizeof(*f->mapping), MAPPING_MAX))
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
	free(f->jit);
	fr_vdso_close(f->vdso);
}

static int put_procs(struct fr_dump *d, const struct fr_snap_task *task, size_t cnt)
{
	struct finds f = {.addrs = d->addrs, .prof = d->prof, .jit = malloc(JIT_MAX * sizeof(*f.jit))};
	u64 left_out = 0;
	int err = 0;

	if (f.jit)
		left_out = take_procs(&f, task, cnt);
	add_dead(&f, d);
	if (left_out || d->addrs->dropped)
		err = fr_snap_put_fact(d->w, "symbols_left_out", "processes=%llu;addresses=%llu", (unsigned long long)left_out,
				       (unsigned long long)d->addrs->dropped);
	err = err ?: fr_snap_put_mappings(d->w, f.mapping, f.mapping_cnt);
	err = err ?: fr_snap_put_symbols(d->w, f.symbol, f.symbol_cnt);
	free_finds(&f);
	return err;
}

int fr_dump_put_symbols(struct fr_dump *d, const struct fr_snap_task *task, size_t cnt)
{
	int err;

	if (!d->addrs)
		return 0;
	fr_addrs_sort(d->addrs);
	err = put_kernel(d);
	return err ?: put_procs(d, task, cnt);
}
