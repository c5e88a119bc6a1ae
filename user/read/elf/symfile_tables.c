/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Symbol tables of ELF files: their functions, one name per address. */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "read/elf/symfile_int.h"
#include "read/elf/xz.h"

#define FUNC_MAX    (64u << 20)
#define MINI_MAX_SZ (64u << 20) /* of .gnu_debugdata, uncompressed */

/* Of several names for the same code, people know the global one rather than an inner label. */
static u32 symfile_rank_of(const GElf_Sym *s, const char *name)
{
	u32 bind = GELF_ST_BIND(s->st_info);

	return (GELF_ST_TYPE(s->st_info) != STT_NOTYPE) << 4 | (s->st_size != 0) << 3 | (bind == STB_GLOBAL) << 2 |
	       (bind == STB_WEAK) << 1 | (name[0] != '_');
}

/* Functions, and assembly labels other than the assembler's own ($x, .L1). */
static bool symfile_is_func(const GElf_Sym *s, const char *name)
{
	u32 type = GELF_ST_TYPE(s->st_info);

	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || !s->st_value || !name[0])
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && GELF_ST_BIND(s->st_info) == STB_GLOBAL && name[0] != '$' && name[0] != '.';
}

bool fr_symfile_is_code(const struct fr_symfile *f, u64 vaddr)
{
	u32 i;

	for (i = 0; i < f->segment_cnt; i++) {
		if (f->segment[i].exec && vaddr - f->segment[i].vaddr < f->segment[i].mem_sz)
			return true;
	}
	return false;
}

/* base: where its table's names begin among all names. */
static void add_func(struct fr_symfile *f, const GElf_Sym *s, u32 base)
{
	const char *name = s->st_name < f->names_sz - base ? f->names + base + s->st_name : "";

	if (!symfile_is_func(s, name) || !fr_symfile_is_code(f, s->st_value))
		return;
	f->func[f->func_cnt++] = (struct fr_symfile_entry){
		.vaddr = s->st_value,
		.size = s->st_value + s->st_size < s->st_value ? 0 : s->st_size,
		.name = base + s->st_name,
		.rank = symfile_rank_of(s, name),
	};
}

/* Append to the names of other tables. */
static int copy_names(struct fr_symfile *f, const Elf_Data *d)
{
	char *more = realloc(f->names, f->names_sz + d->d_size + 1);

	if (!more)
		return -ENOMEM;
	f->names = more;
	memcpy(f->names + f->names_sz, d->d_buf, d->d_size);
	f->names_sz += d->d_size + 1;
	f->names[f->names_sz - 1] = 0;
	return 0;
}

static int grow_funcs(struct fr_symfile *f, size_t cnt)
{
	struct fr_symfile_entry *more = realloc(f->func, (f->func_cnt + cnt + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	f->func = more;
	return 0;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct fr_symfile_entry *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Sort; keep one name per address. */
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
	size_t cnt, i, entry_sz = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), base = f->names_sz;
	GElf_Shdr s;
	GElf_Sym sym;
	int err;

	if (!gelf_getshdr(scn, &s) || !data || !data->d_buf || data->d_type != ELF_T_SYM || !entry_sz)
		return -EBADMSG;
	names = elf_getdata(elf_getscn(elf, s.sh_link), NULL);
	cnt = data->d_size / entry_sz;
	if (!names || !names->d_buf || names->d_size >= UINT32_MAX - base || cnt > FUNC_MAX)
		return -EBADMSG;
	err = copy_names(f, names);
	err = err ? err : grow_funcs(f, cnt);
	if (err)
		return err;
	for (i = 0; i < cnt; i++) {
		if (gelf_getsym(data, i, &sym))
			add_func(f, &sym, base);
	}
	put_in_order(f);
	return 0;
}

void fr_symfile_drop_symbols(struct fr_symfile *f)
{
	free(f->func);
	free(f->names);
	f->func = NULL;
	f->names = NULL;
	f->func_cnt = 0;
	f->names_sz = 0;
}

/* Uses nothing else of that file: the program itself says where code is. */
static int read_mini_elf(struct fr_symfile *f, Elf *mini)
{
	struct fr_symfile ignored = {};
	struct fr_symfile_tables t = mini ? fr_symfile_find_tables(&ignored, mini) : (struct fr_symfile_tables){};

	return t.symtab ? read_symbols(f, mini, t.symtab) : -EBADMSG;
}

/* Returns whether it added functions. */
static bool read_mini(struct fr_symfile *f, Elf_Scn *scn)
{
	const Elf_Data *d = elf_getdata(scn, NULL);
	u32 before = f->func_cnt;
	size_t sz;
	Elf *mini;
	u8 *p;

	if (!d || !d->d_buf || fr_xz_unpack(d->d_buf, d->d_size, MINI_MAX_SZ, &p, &sz))
		return false;
	mini = elf_memory((char *)p, sz);
	read_mini_elf(f, mini);
	elf_end(mini);
	free(p);
	return f->func_cnt > before;
}

/* A damaged or empty table counts as none. */
int fr_symfile_read_tables(struct fr_symfile *f, Elf *elf, const struct fr_symfile_tables *t)
{
	int err = t->symtab ? read_symbols(f, elf, t->symtab) : -EBADMSG;

	f->full = !err && f->func_cnt;
	if (f->full || err == -ENOMEM)
		return err;
	fr_symfile_drop_symbols(f);
	err = t->dynsym ? read_symbols(f, elf, t->dynsym) : 0;
	if (err == -EBADMSG)
		fr_symfile_drop_symbols(f);
	if (err != -ENOMEM && t->mini)
		f->full = read_mini(f, t->mini);
	return err == -ENOMEM ? err : 0;
}
