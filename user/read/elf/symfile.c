/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/elf/symfile_int.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/elf/buildid.h"

#define PAGE_MASK 0xfffull
#define SANE_SZ	  (4ll << 30)

/* ---- program headers, notes ---- */

static int symfile_read_segments(struct fr_symfile *f, Elf *elf)
{
	size_t cnt, i;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &cnt))
		return -EBADMSG;
	for (i = 0; i < cnt && f->segment_cnt < FR_SEGMENT_MAX; i++) {
		if (!gelf_getphdr(elf, i, &p))
			return -EBADMSG;
		if (p.p_type != PT_LOAD || p.p_vaddr + p.p_memsz < p.p_vaddr || p.p_offset + p.p_filesz < p.p_offset)
			continue;
		f->segment[f->segment_cnt++] = (struct fr_symfile_segment){
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

	for (i = 0; !f->build_id_sz && !elf_getphdrnum(elf, &cnt) && i < cnt && i < FR_SEGMENT_MAX; i++) {
		if (gelf_getphdr(elf, i, &p) && p.p_type == PT_NOTE)
			find_build_id(f, elf_getdata_rawchunk(elf, p.p_offset, p.p_filesz,
							      p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
	}
}

/* A file may have lost its section headers, and a debug file the bytes behind its program headers: look at both. */
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

static void look_at_section(struct fr_symfile *f, Elf_Scn *scn, const GElf_Shdr *s, const char *name,
			    struct fr_symfile_tables *t)
{
	if (s->sh_type == SHT_SYMTAB)
		t->symtab = scn;
	else if (s->sh_type == SHT_DYNSYM)
		t->dynsym = scn;
	else if (s->sh_type == SHT_NOBITS && s->sh_flags & SHF_EXECINSTR)
		f->debug_only = true;
	else if (s->sh_type == SHT_PROGBITS && !strcmp(name, ".gnu_debugdata"))
		t->mini = scn;
	else if (s->sh_type == SHT_PROGBITS && !strcmp(name, ".gnu_debuglink"))
		read_link(f, scn);
	else if (s->sh_type != SHT_NOBITS && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
		f->lines = true;
}

struct fr_symfile_tables fr_symfile_find_tables(struct fr_symfile *f, Elf *elf)
{
	struct fr_symfile_tables t = {0};
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

/* ---- the file ---- */

static int read_elf(struct fr_symfile *f, Elf *elf)
{
	struct fr_symfile_tables t;
	GElf_Ehdr e;
	int err;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &e) || (e.e_type != ET_EXEC && e.e_type != ET_DYN))
		return -EBADMSG;
	err = symfile_read_segments(f, elf);
	if (err)
		return err;
	read_notes(f, elf);
	t = fr_symfile_find_tables(f, elf);
	return fr_symfile_read_tables(f, elf, &t);
}

/* A size of terabytes, as sparse files can claim, does not mean that we lack memory. */
static bool is_of_sane_size(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_size <= SANE_SZ;
}

static int read_fd(struct fr_symfile *f, int fd)
{
	Elf *elf;
	int err;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOSYS;
	errno = 0;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	err = elf ? read_elf(f, elf) : -EBADMSG;
	/* to libelf a part that cannot be read is one that is not there: the file would be stripped, or another one */
	if (errno == EIO)
		err = -EIO;
	else if (errno == ENOMEM && is_of_sane_size(fd)) /* libelf would report "damaged" */
		err = -ENOMEM;
	elf_end(elf);
	return err;
}

static size_t read_any_id(int fd, u8 to[FR_BUILD_ID_MAX_SZ])
{
	struct fr_symfile f = {};
	Elf *elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ, NULL) : NULL;

	if (elf && elf_kind(elf) == ELF_K_ELF)
		read_note_segments(&f, elf);
	elf_end(elf);
	memcpy(to, f.build_id, f.build_id_sz);
	return f.build_id_sz;
}

size_t fr_symfile_read_id(const char *root, const char *path, u8 to[FR_BUILD_ID_MAX_SZ], int *err)
{
	int fd = fr_symfile_fd(root, path), why = fd < 0 ? fd : 0;
	size_t sz = 0;

	/* finding a library takes thousands of these: use libelf only where a few reads are not enough */
	if (fd >= 0)
		sz = fr_build_id_of(fd, to, &why);
	if (fd >= 0 && !sz && !why) {
		errno = 0;
		sz = read_any_id(fd, to);
		why = errno == EIO ? -EIO : 0; /* to libelf it is not there then */
	}
	if (fd >= 0)
		close(fd);
	if (!sz && why && err)
		*err = why;
	return sz;
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

static int read_memory(struct fr_symfile *f, const void *image, size_t sz)
{
	Elf *elf = elf_version(EV_CURRENT) != EV_NONE ? elf_memory((char *)image, sz) : NULL; /* it is only read */
	int err = elf ? read_elf(f, elf) : -EBADMSG;

	elf_end(elf);
	return err;
}

int fr_symfile_open_memory(const void *image, size_t sz, struct fr_symfile **out)
{
	struct fr_symfile *f = calloc(1, sizeof(*f));
	int err = f ? read_memory(f, image, sz) : -ENOMEM;

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
	fr_symfile_drop_symbols(f);
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
 * objcopy keeps the addresses in a debug file's program headers, but not the offsets. Linkers lay code out page by page, so
 * file pages follow addresses: from where the code begins, or, if that is unknown, from the beginning of the file.
 */
static bool vaddr_of_debug(const struct fr_symfile *f, u64 file_off, u64 first_off, u64 *vaddr)
{
	const struct fr_symfile_segment *code = NULL;
	u32 i;

	for (i = 0; i < f->segment_cnt && !code; i++)
		code = f->segment[i].exec ? &f->segment[i] : NULL;
	if (!code)
		return false;
	*vaddr = first_off != ~0ull ? file_off - first_off + (code->vaddr & ~PAGE_MASK) : file_off + f->segment[0].vaddr;
	return fr_symfile_is_code(f, *vaddr);
}

bool fr_symfile_vaddr(const struct fr_symfile *f, u64 file_off, u64 first_off, u64 *vaddr)
{
	u32 i;

	if (f->debug_only)
		return vaddr_of_debug(f, file_off, first_off, vaddr);
	for (i = 0; i < f->segment_cnt; i++) {
		const struct fr_symfile_segment *s = &f->segment[i];

		if (file_off - s->off < s->file_sz) {
			*vaddr = file_off - s->off + s->vaddr;
			return true;
		}
	}
	return false;
}

/* The last function that begins at or before vaddr, or func_cnt. */
static u32 symfile_last_before(const struct fr_symfile *f, u64 vaddr)
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

/* Assembly functions may lack a size: they last until the next one. Where most functions are missing, that says nothing. */
bool fr_symfile_find(const struct fr_symfile *f, u64 vaddr, struct fr_symfile_func *func)
{
	u32 i = symfile_last_before(f, vaddr);
	const struct fr_symfile_entry *x;

	if (i == f->func_cnt || !fr_symfile_is_code(f, vaddr))
		return false;
	x = &f->func[i];
	if (x->size ? vaddr - x->vaddr >= x->size : !f->full && vaddr != x->vaddr)
		return false;
	*func = (struct fr_symfile_func){.name = f->names + x->name, .vaddr = x->vaddr, .sz = x->size, .nr = i};
	return true;
}
