/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/symbols/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/set/idmap.h"
#include "base/text/demangle.h"
#include "base/text/units.h"
#include "read/symbols/symbols_int.h"

#define FUNC_MAX_SZ (1u << 20) /* bytes of a function whose end is not known */

struct fr_symbols {
	const struct fr_snap *snap;
	struct fr_symbols_opts opts;
	struct fr_symfind *find;
	struct fr_symobjs objs;
	struct fr_symguesses *guesses; /* made when the first object without a path is needed */
	bool mapped;		       /* objects of mappings are in objs */
	/* a char *, NULL: the raw name, by whose address it is found: demangling costs more than a look-up */
	struct fr_idmap shown;
	bool no_memory; /* to store a name or paths, or to read a file */
	u64 stext;
	const char *kernel_missing;
	u64 kernel_cnt, kernel_named; /* kernel addresses that were looked up, and those that got a name */
};

/* ---- names ---- */

char *fr_symbol_shown(const char *raw)
{
	const char *version = raw[0] ? strchr(raw + 1, '@') : NULL;
	char *bare = version ? strndup(raw, version - raw) : NULL, text[FR_DEMANGLE_SZ];

	if (!fr_demangle(bare ? bare : raw, text))
		return bare;
	free(bare);
	return strdup(text);
}

/* The name to show for raw, which must live as long as y. */
static const char *symbols_shown(struct fr_symbols *y, const char *raw)
{
	char **text;

	if (!raw || y->opts.raw)
		return raw;
	text = fr_idmap_find(&y->shown, (uintptr_t)raw);
	if (!text) {
		text = fr_idmap_get(&y->shown, (uintptr_t)raw);
		if (!text) {
			y->no_memory = true;
			return raw;
		}
		*text = fr_symbol_shown(raw);
	}
	return *text ?: raw;
}

/* ---- names in the snapshot: of the kernel, its functions in processes, and JITed code ---- */

/* The last symbol of pid that begins at or before addr, NULL: none. */
static const struct fr_snap_symbol *symbols_last_before(const struct fr_snap *s, u32 pid, u64 addr)
{
	size_t cnt, low = 0, high;
	const struct fr_snap_symbol *y = fr_snap_symbols(s, &cnt);

	high = cnt;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (y[mid].pid < pid || (y[mid].pid == pid && y[mid].addr <= addr))
			low = mid + 1;
		else
			high = mid;
	}
	return low && y[low - 1].pid == pid ? &y[low - 1] : NULL;
}

static const struct fr_snap_symbol *symbols_known(const struct fr_snap *s, u32 pid, u64 addr)
{
	const struct fr_snap_symbol *y = symbols_last_before(s, pid, addr);

	return y && addr - y->addr < (y->sz ? y->sz : FUNC_MAX_SZ) ? y : NULL;
}

void fr_symbols_kernel(struct fr_symbols *y, u64 ip, struct fr_symbol *out)
{
	const struct fr_snap_symbol *s = symbols_known(y->snap, 0, ip);

	*out = (struct fr_symbol){.missing = y->kernel_missing};
	y->kernel_cnt++;
	y->kernel_named += s != NULL;
	if (!s)
		return;
	*out = (struct fr_symbol){
		.name = symbols_shown(y, s->name),
		.off = ip - s->addr,
		.module = s->module ? s->module : "[kernel]",
		.module_off = !s->module && y->stext && ip > y->stext ? ip - y->stext : 0,
	};
}

static bool symbols_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* bpf_prog_0123456789abcdef_fr_NAME, and the functions through which tracepoints call it, by the kernel's version. */
static bool is_recorder(const char *name)
{
	return (symbols_begins(name, "bpf_prog_") && strstr(name, "_fr_")) || symbols_begins(name, "bpf_trace_run") ||
	       symbols_begins(name, "__bpf_trace_") || symbols_begins(name, "__traceiter_");
}

u32 fr_symbols_recorder_frames(struct fr_symbols *y, const u64 *ip, size_t ip_cnt)
{
	const struct fr_snap_symbol *s;
	u32 i;

	for (i = 0; i < ip_cnt && ip[i] >> 63; i++) {
		s = symbols_known(y->snap, 0, ip[i]);
		if (!s || !is_recorder(s->name))
			break;
	}
	return i;
}

/* ---- user frames ---- */

/* Where a frame lies. */
struct spot {
	struct fr_symobj *obj;
	u64 file_off;
	const char *path; /* where its own process had mapped it, NULL: not known */
};

static int map_objects(struct fr_symbols *y)
{
	size_t cnt, i;
	const struct fr_snap_mapping *m = fr_snap_mappings(y->snap, &cnt);
	struct fr_symobj *o;

	for (i = 0; i < cnt && !y->mapped; i++) {
		if (!m[i].build_id_sz && !m[i].path)
			continue;
		o = fr_symobjs_get(&y->objs, m[i].build_id, m[i].build_id_sz, m[i].path, m[i].deleted);
		if (!o)
			return -ENOMEM;
		if (m[i].file_off < o->first_off)
			o->first_off = m[i].file_off;
		o->has_copies |= m[i].path && strcmp(o->label, m[i].path);
	}
	y->mapped = true;
	return 0;
}

static const struct fr_snap_mapping *symbols_mapping_of(const struct fr_symbols *y, u32 pid, u64 ip)
{
	size_t cnt, low = 0, high;
	const struct fr_snap_mapping *m = fr_snap_mappings(y->snap, &cnt);

	high = cnt;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m[mid].pid < pid || (m[mid].pid == pid && m[mid].begin <= ip))
			low = mid + 1;
		else
			high = mid;
	}
	return low && m[low - 1].pid == pid && ip < m[low - 1].end ? &m[low - 1] : NULL;
}

static bool is_of_file(const struct fr_snap_mapping *m, const struct fr_snap_frame *f)
{
	return m && m->build_id_sz == f->build_id_sz && !memcmp(m->build_id, f->build_id, f->build_id_sz);
}

/* From what the kernel knew when the stack was taken, else from the mappings when the snapshot was taken. */
static bool find_spot(struct fr_symbols *y, u32 pid, u64 stack_id, u32 nr, u64 ip, struct spot *to)
{
	const struct fr_snap_mapping *m;
	struct fr_snap_frame f;

	if (map_objects(y))
		return false;
	m = symbols_mapping_of(y, pid, ip);
	if (stack_id && fr_snap_frame(y->snap, stack_id, nr, &f) && f.build_id_sz) {
		*to = (struct spot){fr_symobjs_get(&y->objs, f.build_id, f.build_id_sz, NULL, false), f.file_off,
				    is_of_file(m, &f) ? m->path : NULL};
		return to->obj;
	}
	if (!m || (!m->build_id_sz && !m->path))
		return false;
	*to = (struct spot){fr_symobjs_get(&y->objs, m->build_id, m->build_id_sz, m->path, m->deleted),
			    ip - m->begin + m->file_off, m->path};
	return to->obj;
}

/* Look for an object's files. If only its build-id is known, guess its path first. */
static void symbols_look(struct fr_symbols *y, struct fr_symobj *o)
{
	if (o->looked)
		return;
	if (!o->want.path && o->want.build_id_sz) {
		if (!y->guesses)
			y->guesses = fr_symguesses_new(y->snap, &y->opts);
		if (!y->guesses || fr_symguesses_look(y->guesses, o))
			y->no_memory = true;
	}
	fr_symobj_look(o, y->find);
	y->no_memory |= o->got.no_memory;
}

/* The function at a spot. back is 1 for a return address: it belongs to the instruction before. */
static void symbols_name_it(struct fr_symbols *y, const struct spot *at, u64 back, struct fr_symbol *out)
{
	const struct fr_symplace *p = fr_symgot_funcs(&at->obj->got);
	struct fr_symfile_func func;
	u64 vaddr;

	out->missing = fr_symobj_missing(at->obj);
	if (!p)
		return;
	if (!fr_symobj_vaddr(at->obj, at->file_off - back, &vaddr) || !fr_symfile_find(p->file, vaddr, &func)) {
		out->missing = out->missing ? out->missing : "no function there";
		return;
	}
	out->name = symbols_shown(y, func.name);
	out->off = vaddr + back - func.vaddr;
	out->missing = NULL;
}

/* Adds source lines and inlined functions to the function at out[0]. Returns how many entries there are now. */
static u32 symbols_add_lines(struct fr_symbols *y, const struct spot *at, u64 back, struct fr_symbol *out, u32 max)
{
	struct fr_symlines *l = fr_symobj_lines(at->obj);
	struct fr_symline line[32];
	struct fr_symbol whole = out[0];
	u64 vaddr;
	u32 cnt, i;

	if (!l || !fr_symobj_vaddr(at->obj, at->file_off - back, &vaddr))
		return 1;
	cnt = fr_symlines_find(l, vaddr, line, max < 32 ? max : 32);
	for (i = 0; i < cnt; i++) {
		out[i] = whole;
		out[i].file = line[i].file;
		out[i].line = line[i].line;
		out[i].inlined = line[i].inlined;
		if (line[i].name && (line[i].inlined || !whole.name)) {
			out[i].name = symbols_shown(y, line[i].name);
			out[i].off = 0;
			out[i].missing = NULL;
		}
	}
	return cnt ? cnt : 1;
}

static bool name_by_snapshot(struct fr_symbols *y, u32 pid, u64 ip, u64 back, struct fr_symbol *out)
{
	const struct fr_snap_symbol *s = pid ? symbols_known(y->snap, pid, ip - back) : NULL;

	if (s)
		*out = (struct fr_symbol){
			.name = symbols_shown(y, s->name), .off = ip - s->addr, .module = s->module ?: "[jit]"};
	return s;
}

/* The functions at a spot: how many were put into out. */
static u32 name_spot(struct fr_symbols *y, const struct spot *at, u64 back, struct fr_symbol *out, u32 max)
{
	symbols_look(y, at->obj);
	/* of copies of one program, only the process's own mappings tell which it ran */
	out->module = at->path ?: at->obj->has_copies ? fr_symobj_id_label(at->obj) : at->obj->label;
	out->module_off = at->file_off;
	symbols_name_it(y, at, back, out);
	return y->opts.lines ? symbols_add_lines(y, at, back, out, max) : 1;
}

static void count_frame(const struct spot *at, const struct fr_symbol *s)
{
	at->obj->frame_cnt++;
	at->obj->named_cnt += s->name != NULL;
}

u32 fr_symbols_place(struct fr_symbols *y, const u8 *build_id, size_t build_id_sz, u64 off, u32 nr, struct fr_symbol *out,
		     u32 max)
{
	struct spot at = {.file_off = off};
	u32 cnt;

	*out = (struct fr_symbol){.missing = "not mapped"};
	if (map_objects(y))
		return 1;
	at.obj = fr_symobjs_get(&y->objs, build_id, build_id_sz, NULL, false);
	if (!at.obj)
		return 1;
	cnt = name_spot(y, &at, nr && off, out, max);
	count_frame(&at, out);
	return cnt;
}

u32 fr_symbols_user(struct fr_symbols *y, u32 pid, u64 stack_id, u32 nr, u64 ip, struct fr_symbol *out, u32 max)
{
	u64 back = nr && ip;
	struct spot at;
	u32 cnt;

	*out = (struct fr_symbol){.missing = "not mapped"};
	if (!find_spot(y, pid, stack_id, nr, ip, &at)) {
		name_by_snapshot(y, pid, ip, back, out);
		return 1;
	}
	back = back && at.file_off;
	cnt = name_spot(y, &at, back, out, max);
	if (!out->name)
		name_by_snapshot(y, pid, ip, back, out);
	count_frame(&at, out);
	return cnt;
}

/* ---- objects ---- */

u32 fr_symbols_object_cnt(struct fr_symbols *y)
{
	map_objects(y);
	return y->objs.cnt;
}

void fr_symbols_object_nr(const struct fr_symbols *y, u32 i, struct fr_symbols_object *out)
{
	const struct fr_symobj *o = y->objs.obj[i];
	const struct fr_symplace *p = fr_symgot_funcs(&o->got);
	bool by_snapshot = !p && o->frame_cnt && o->named_cnt == o->frame_cnt;
	const char *where = by_snapshot ? "snapshot" : NULL;

	*out = (struct fr_symbols_object){
		.path = o->label[0] == '[' && o->id && !strncmp(o->label + 1, o->id, strlen(o->id)) ? NULL : o->label,
		.build_id = o->id,
		.frame_cnt = o->frame_cnt,
		.named_cnt = o->named_cnt,
		.found = p ? p->path : NULL,
		.where = p ? p->where : where,
		.missing = o->looked && !by_snapshot ? fr_symobj_missing(o) : NULL,
		.differs = o->got.differs,
	};
}

void fr_symbols_kernel_object(const struct fr_symbols *y, struct fr_symbols_object *out)
{
	bool all = y->kernel_named == y->kernel_cnt;

	*out = (struct fr_symbols_object){
		.path = "[kernel]",
		.build_id = fr_snap_fact(y->snap, "kernel_build_id"),
		.frame_cnt = y->kernel_cnt,
		.named_cnt = y->kernel_named,
		.where = y->kernel_named ? "snapshot" : NULL,
		.missing = all ? NULL : y->kernel_missing,
	};
}

void fr_symbols_look(struct fr_symbols *y)
{
	u32 i;

	for (i = 0; i < fr_symbols_object_cnt(y); i++)
		symbols_look(y, y->objs.obj[i]);
}

static u64 symbols_unnamed(const struct fr_symbols *y, u32 i)
{
	const struct fr_symobj *o = y->objs.obj[i];

	return o->looked && fr_symobj_missing(o) ? o->frame_cnt - o->named_cnt : 0;
}

/* The object that could not be read, the first of them; NULL: none. */
static const struct fr_symobj *first_unread(const struct fr_symbols *y)
{
	u32 i;

	for (i = 0; i < y->objs.cnt; i++)
		if (y->objs.obj[i]->got.why == FR_SYM_UNREAD)
			return y->objs.obj[i];
	return NULL;
}

static const char *unread_cure(const struct fr_symobj *o)
{
	return o->got.err == -EACCES ? "be root, or put copies beside the snapshot or below --symfs"
				     : fr_err_cure(o->got.err, "make the file readable");
}

void fr_symbols_say_unread(const struct fr_symbols *y)
{
	const struct fr_symobj *o = first_unread(y);

	if (o)
		fr_warn("%s: %s: %s, and run it again", o->label, fr_symobj_missing(o), unread_cure(o));
}

/* What frames of user space lack. */
struct lack {
	u64 frame_cnt, unnamed_cnt;
	u32 obj_cnt; /* with such frames */
	u32 worst;   /* the object with the most */
};

static struct lack lack_of(const struct fr_symbols *y)
{
	struct lack l = {.worst = y->objs.cnt};
	u64 most = 0;
	u32 i;

	for (i = 0; i < y->objs.cnt; i++) {
		l.frame_cnt += y->objs.obj[i]->frame_cnt;
		l.unnamed_cnt += symbols_unnamed(y, i);
		l.obj_cnt += symbols_unnamed(y, i) != 0;
		if (symbols_unnamed(y, i) > most) {
			most = symbols_unnamed(y, i);
			l.worst = i;
		}
	}
	return l;
}

/* Why frames of the kernel have no names, if that is known; NULL: they have, or it is not. */
static const char *kernel_lack(const struct fr_symbols *y)
{
	const char *why = fr_snap_fact(y->snap, "kernel_symbols");

	return y->kernel_named < y->kernel_cnt && why && strcmp(why, "ok") ? y->kernel_missing : NULL;
}

u32 fr_symbols_missing_cnt(const struct fr_symbols *y)
{
	return lack_of(y).obj_cnt;
}

#define LACK_SZ	     512u
#define PATH_SAID_SZ 300

/* "PATH build-id ID: stripped (and 3 more files)" */
static void worst_text(const struct fr_symbols *y, const struct lack *l, char to[LACK_SZ])
{
	struct fr_symbols_object o;
	const char *differs;
	char more[64] = "";

	fr_symbols_object_nr(y, l->worst, &o);
	differs = o.found ? NULL : o.differs;
	if (l->obj_cnt > 1)
		snprintf(more, sizeof(more), ", and of %u more file%s", l->obj_cnt - 1, fr_plural(l->obj_cnt - 1));
	snprintf(to, LACK_SZ, "%.*s%s%s%s: %s%s%.*s%s", PATH_SAID_SZ / (differs ? 2 : 1), o.path ?: "", o.path ? " " : "",
		 o.build_id ? "build-id " : "(no build-id)", o.build_id ?: "", o.missing, differs ? ": " : "", PATH_SAID_SZ / 2,
		 differs ?: "", more);
}

/* One line, however much is missing: `flightrec symbols` has the rest. */
void fr_symbols_say_missing(const struct fr_symbols *y, u32 others)
{
	const char *kernel = kernel_lack(y);
	const struct fr_symobj *unread = first_unread(y);
	struct lack l = lack_of(y);
	char worst[LACK_SZ], of_kernel[128] = "", more[64] = "";

	if (kernel)
		snprintf(of_kernel, sizeof(of_kernel), "%llu of %llu frames of the kernel have no name: %s",
			 (y->kernel_cnt - y->kernel_named), y->kernel_cnt, kernel);
	if (others)
		snprintf(more, sizeof(more), "; likewise of %u more snapshot%s", others, fr_plural(others));
	if (!l.obj_cnt) {
		if (kernel)
			fr_warn("%s%s", of_kernel, more);
		return;
	}
	worst_text(y, &l, worst);
	fr_warn("%s%s%llu of %llu frames have no name: of %s%s: `flightrec symbols` lists all: %s", of_kernel,
		kernel ? "; " : "", l.unnamed_cnt, l.frame_cnt, worst, more,
		unread ? unread_cure(unread)
		       : "install debug symbols (packages NAME-dbgsym, NAME-debuginfo), put files beside the snapshot or below "
			 "--symfs, or ask servers by --debuginfod");
}

/* ---- life ---- */

static void symbols_read_facts(struct fr_symbols *y)
{
	const char *stext = fr_snap_fact(y->snap, "kernel_stext"), *symbols = fr_snap_fact(y->snap, "kernel_symbols");

	y->stext = stext ? strtoull(stext, NULL, 16) : 0;
	y->kernel_missing = symbols && strcmp(symbols, "ok") ? symbols : "not in the snapshot";
}

int fr_symbols_new(const struct fr_snap *snap, const struct fr_symbols_opts *opts, struct fr_symbols **out)
{
	struct fr_symfind_opts find = {
		.beside = opts->beside,
		.symfs = opts->symfs,
		.debuginfod = opts->debuginfod,
		.lines = opts->lines,
	};
	struct fr_symbols *y = calloc(1, sizeof(*y));

	if (!y || fr_symfind_new(&find, &y->find)) {
		free(y);
		return -ENOMEM;
	}
	y->snap = snap;
	y->opts = *opts;
	fr_idmap_init(&y->shown, sizeof(char *));
	symbols_read_facts(y);
	*out = y;
	return 0;
}

int fr_symbols_error(const struct fr_symbols *y)
{
	return y->no_memory || y->objs.no_memory ? -ENOMEM : 0;
}

static bool symbols_drop_shown(void *arg, u64 key, void *record)
{
	char **text = record;

	(void)arg;
	(void)key;
	free(*text);
	return true;
}

void fr_symbols_free(struct fr_symbols *y)
{
	if (!y)
		return;
	fr_idmap_sweep(&y->shown, symbols_drop_shown, NULL);
	fr_idmap_free(&y->shown);
	fr_symobjs_free(&y->objs);
	fr_symguesses_free(y->guesses);
	fr_symfind_free(y->find);
	free(y);
}
