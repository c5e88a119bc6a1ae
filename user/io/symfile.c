/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/symfile.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENT_MAX 256u
#define FUNC_MAX    (64u << 20)
#define PAGE_MASK   0xfffull

struct func {
	u64 vaddr, size;
	u32 name; /* offset in names */
	u32 rank; /* of several at one address the highest is shown */
};

struct segment {
	u64 off, file_sz, vaddr, mem_sz;
	bool exec;
};

struct fr_symfile {
	struct func *func;
	u32 func_cnt;
	char *names;
	size_t names_sz; /* the last byte is NUL */
	struct segment segment[SEGMENT_MAX];
	u32 segment_cnt;
	u8 build_id[FR_BUILD_ID_MAX_SZ];
	size_t build_id_sz;
	bool full, lines, debug_only;
	char link[256]; /* empty: none */
};

/* ---- program headers, notes ---- */

static int read_segments(struct fr_symfile *f, Elf *elf)
{
	size_t cnt, i;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &cnt))
		return -EBADMSG;
	for (i = 0; i < cnt && f->segment_cnt < SEGMENT_MAX; i++) {
		if (!gelf_getphdr(elf, i, &p))
			return -EBADMSG;
		if (p.p_type != PT_LOAD || p.p_vaddr + p.p_memsz < p.p_vaddr || p.p_offset + p.p_filesz < p.p_offset)
			continue;
		f->segment[f->segment_cnt++] = (struct segment){
			.off = p.p_offset,
			.file_sz = p.p_filesz,
			.vaddr = p.p_vaddr,
			.mem_sz = p.p_memsz,
			.exec = p.p_flags & PF_X,
		};
	}
	return 0;
}

static void find_build_id(struct fr_symfile *f, Elf_Data *data)
{
	size_t at = 0, name, desc;
	GElf_Nhdr n;

	while (data && data->d_buf && !f->build_id_sz && at < data->d_size && (at = gelf_getnote(data, at, &n, &name, &desc))) {
		if (n.n_type != NT_GNU_BUILD_ID || n.n_namesz != 4 || memcmp((char *)data->d_buf + name, "GNU", 4))
			continue;
		if (!n.n_descsz || n.n_descsz > sizeof(f->build_id))
			continue;
		f->build_id_sz = n.n_descsz;
		memcpy(f->build_id, (char *)data->d_buf + desc, n.n_descsz);
	}
}

static void read_note_segments(struct fr_symfile *f, Elf *elf)
{
	size_t cnt, i;
	GElf_Phdr p;

	for (i = 0; !f->build_id_sz && !elf_getphdrnum(elf, &cnt) && i < cnt && i < SEGMENT_MAX; i++) {
		if (gelf_getphdr(elf, i, &p) && p.p_type == PT_NOTE)
			find_build_id(f, elf_getdata_rawchunk(elf, p.p_offset, p.p_filesz,
							      p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
	}
}

/* A file may have lost its section headers, and a debug file the bytes behind its program headers: both are looked at. */
static void read_notes(struct fr_symfile *f, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	while (!f->build_id_sz && (scn = elf_nextscn(elf, scn))) {
		if (gelf_getshdr(scn, &s) && s.sh_type == SHT_NOTE)
			find_build_id(f, elf_getdata(scn, NULL));
	}
	read_note_segments(f, elf);
}

/* ---- sections ---- */

static void read_link(struct fr_symfile *f, Elf_Scn *scn)
{
	const Elf_Data *d = elf_getdata(scn, NULL);
	size_t len = d && d->d_buf ? strnlen(d->d_buf, d->d_size) : 0;

	if (!len || len >= d->d_size || len >= sizeof(f->link) || memchr(d->d_buf, '/', len))
		return;
	memcpy(f->link, d->d_buf, len + 1);
}

struct tables {
	Elf_Scn *symtab, *dynsym;
};

static void look_at_section(struct fr_symfile *f, Elf_Scn *scn, const GElf_Shdr *s, const char *name, struct tables *t)
{
	if (s->sh_type == SHT_SYMTAB)
		t->symtab = scn;
	else if (s->sh_type == SHT_DYNSYM)
		t->dynsym = scn;
	else if (s->sh_type == SHT_NOBITS && s->sh_flags & SHF_EXECINSTR)
		f->debug_only = true;
	else if (s->sh_type == SHT_PROGBITS && !strcmp(name, ".gnu_debuglink"))
		read_link(f, scn);
	else if (s->sh_type != SHT_NOBITS && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
		f->lines = true;
}

static struct tables find_tables(struct fr_symfile *f, Elf *elf)
{
	struct tables t = {0};
	Elf_Scn *scn = NULL;
	const char *name;
	size_t strings;
	GElf_Shdr s;

	if (elf_getshdrstrndx(elf, &strings))
		return t;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &s))
			continue;
		name = elf_strptr(elf, strings, s.sh_name);
		look_at_section(f, scn, &s, name ? name : "", &t);
	}
	return t;
}

/* ---- symbols ---- */

/* Of names for the same code people know the global one, and not that of an inner label. */
static u32 rank_of(const GElf_Sym *s, const char *name)
{
	u32 bind = GELF_ST_BIND(s->st_info);

	return (GELF_ST_TYPE(s->st_info) != STT_NOTYPE) << 4 | (s->st_size != 0) << 3 | (bind == STB_GLOBAL) << 2 |
	       (bind == STB_WEAK) << 1 | (name[0] != '_');
}

/* Functions, and labels of assembly that are not the assembler's own ($x, .L1). */
static bool is_func(const GElf_Sym *s, const char *name)
{
	u32 type = GELF_ST_TYPE(s->st_info);

	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || !s->st_value || !name[0])
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && GELF_ST_BIND(s->st_info) == STB_GLOBAL && name[0] != '$' && name[0] != '.';
}

static bool is_in_code(const struct fr_symfile *f, u64 vaddr)
{
	u32 i;

	for (i = 0; i < f->segment_cnt; i++) {
		if (f->segment[i].exec && vaddr - f->segment[i].vaddr < f->segment[i].mem_sz)
			return true;
	}
	return false;
}

static void add_func(struct fr_symfile *f, const GElf_Sym *s)
{
	const char *name = s->st_name < f->names_sz ? f->names + s->st_name : "";

	if (!is_func(s, name) || !is_in_code(f, s->st_value))
		return;
	f->func[f->func_cnt++] = (struct func){
		.vaddr = s->st_value,
		.size = s->st_value + s->st_size < s->st_value ? 0 : s->st_size,
		.name = s->st_name,
		.rank = rank_of(s, name),
	};
}

static int copy_names(struct fr_symfile *f, const Elf_Data *d)
{
	f->names = malloc(d->d_size + 1);
	if (!f->names)
		return -ENOMEM;
	memcpy(f->names, d->d_buf, d->d_size);
	f->names[d->d_size] = 0;
	f->names_sz = d->d_size;
	return 0;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct func *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Sorted, one name an address. */
static void put_in_order(struct fr_symfile *f)
{
	u32 i, cnt = 0;

	if (f->func_cnt)
		qsort(f->func, f->func_cnt, sizeof(*f->func), by_vaddr);
	for (i = 0; i < f->func_cnt; i++) {
		if (!cnt || f->func[cnt - 1].vaddr != f->func[i].vaddr)
			f->func[cnt++] = f->func[i];
	}
	f->func_cnt = cnt;
}

static int read_symbols(struct fr_symfile *f, Elf *elf, Elf_Scn *scn)
{
	Elf_Data *data = elf_getdata(scn, NULL), *names;
	size_t cnt, i, entry_sz = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	GElf_Shdr s;
	GElf_Sym sym;
	int err;

	if (!gelf_getshdr(scn, &s) || !data || !data->d_buf || data->d_type != ELF_T_SYM || !entry_sz)
		return -EBADMSG;
	names = elf_getdata(elf_getscn(elf, s.sh_link), NULL);
	cnt = data->d_size / entry_sz;
	if (!names || !names->d_buf || names->d_size > UINT32_MAX || cnt > FUNC_MAX)
		return -EBADMSG;
	err = copy_names(f, names);
	f->func = err ? NULL : calloc(cnt + 1, sizeof(*f->func));
	if (!f->func)
		return -ENOMEM;
	for (i = 0; i < cnt; i++) {
		if (gelf_getsym(data, i, &sym))
			add_func(f, &sym);
	}
	put_in_order(f);
	return 0;
}

static void drop_symbols(struct fr_symfile *f)
{
	free(f->func);
	free(f->names);
	f->func = NULL;
	f->names = NULL;
	f->func_cnt = 0;
	f->names_sz = 0;
}

/* A table that is damaged or says nothing is as good as none. */
static int read_tables(struct fr_symfile *f, Elf *elf, const struct tables *t)
{
	int err = t->symtab ? read_symbols(f, elf, t->symtab) : -EBADMSG;

	f->full = !err && f->func_cnt;
	if (f->full || err == -ENOMEM)
		return err;
	drop_symbols(f);
	err = t->dynsym ? read_symbols(f, elf, t->dynsym) : 0;
	if (err == -EBADMSG)
		drop_symbols(f);
	return err == -ENOMEM ? err : 0;
}

/* ---- the file ---- */

static int read_elf(struct fr_symfile *f, Elf *elf)
{
	struct tables t;
	GElf_Ehdr e;
	int err;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &e) || (e.e_type != ET_EXEC && e.e_type != ET_DYN))
		return -EBADMSG;
	err = read_segments(f, elf);
	if (err)
		return err;
	read_notes(f, elf);
	t = find_tables(f, elf);
	return read_tables(f, elf, &t);
}

static int read_fd(struct fr_symfile *f, int fd)
{
	Elf *elf;
	int err;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOSYS;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -EBADMSG;
	err = read_elf(f, elf);
	elf_end(elf);
	return err;
}

size_t fr_symfile_read_id(const char *root, const char *path, u8 to[FR_BUILD_ID_MAX_SZ])
{
	struct fr_symfile f = {};
	int fd = fr_symfile_fd(root, path);
	Elf *elf = fd >= 0 && elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ, NULL) : NULL;

	if (elf && elf_kind(elf) == ELF_K_ELF)
		read_note_segments(&f, elf);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	memcpy(to, f.build_id, f.build_id_sz);
	return f.build_id_sz;
}

int fr_symfile_open(const char *root, const char *path, struct fr_symfile **out)
{
	struct fr_symfile *f;
	int fd = fr_symfile_fd(root, path), err;

	if (fd < 0)
		return fd;
	f = calloc(1, sizeof(*f));
	err = f ? read_fd(f, fd) : -ENOMEM;
	close(fd);
	if (err) {
		fr_symfile_close(f);
		return err;
	}
	*out = f;
	return 0;
}

void fr_symfile_close(struct fr_symfile *f)
{
	if (!f)
		return;
	drop_symbols(f);
	free(f);
}

const u8 *fr_symfile_build_id(const struct fr_symfile *f, size_t *sz)
{
	*sz = f->build_id_sz;
	return f->build_id_sz ? f->build_id : NULL;
}

const char *fr_symfile_link(const struct fr_symfile *f)
{
	return f->link[0] ? f->link : NULL;
}

bool fr_symfile_is_full(const struct fr_symfile *f)
{
	return f->full;
}

bool fr_symfile_has_lines(const struct fr_symfile *f)
{
	return f->lines;
}

bool fr_symfile_is_debug_only(const struct fr_symfile *f)
{
	return f->debug_only;
}

/* ---- look-up ---- */

/*
 * objcopy leaves the addresses in a debug file's program headers, and not the offsets. Linkers lay code out page by page: its
 * pages in the file are those of its addresses, from where the code begins, or if that is not known, from the file's begin.
 */
static bool vaddr_of_debug(const struct fr_symfile *f, u64 file_off, u64 first_off, u64 *vaddr)
{
	const struct segment *code = NULL;
	u32 i;

	for (i = 0; i < f->segment_cnt && !code; i++)
		code = f->segment[i].exec ? &f->segment[i] : NULL;
	if (!code)
		return false;
	*vaddr = first_off != ~0ull ? file_off - first_off + (code->vaddr & ~PAGE_MASK) : file_off + f->segment[0].vaddr;
	return is_in_code(f, *vaddr);
}

bool fr_symfile_vaddr(const struct fr_symfile *f, u64 file_off, u64 first_off, u64 *vaddr)
{
	u32 i;

	if (f->debug_only)
		return vaddr_of_debug(f, file_off, first_off, vaddr);
	for (i = 0; i < f->segment_cnt; i++) {
		const struct segment *s = &f->segment[i];

		if (file_off - s->off < s->file_sz) {
			*vaddr = file_off - s->off + s->vaddr;
			return true;
		}
	}
	return false;
}

u32 fr_symfile_cnt(const struct fr_symfile *f)
{
	return f->func_cnt;
}

/* The last function that begins at or before vaddr, or func_cnt. */
static u32 last_before(const struct fr_symfile *f, u64 vaddr)
{
	u32 low = 0, high = f->func_cnt;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (f->func[mid].vaddr <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : f->func_cnt;
}

/* One without a size, as assembly has them, lasts until the next; where most are missing that says nothing. */
bool fr_symfile_find(const struct fr_symfile *f, u64 vaddr, struct fr_symfile_func *func)
{
	u32 i = last_before(f, vaddr);
	const struct func *x;

	if (i == f->func_cnt || !is_in_code(f, vaddr))
		return false;
	x = &f->func[i];
	if (x->size ? vaddr - x->vaddr >= x->size : !f->full && vaddr != x->vaddr)
		return false;
	*func = (struct fr_symfile_func){.name = f->names + x->name, .vaddr = x->vaddr, .nr = i};
	return true;
}
