/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One ELF file, made here byte by byte: what is looked up in it, and what is refused. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "read/elf/symfile_int.h"
#include "read/elf/symguess.h"
#include "read/elf/vdso.h"

#define VADDR	0x401000u /* of the code, which is at 0x1000 in the file */
#define CODE_SZ 0x1000u
#define SYM_MAX 16

static int memory; /* the file, in memory */
static char path[64];

/* A file's parts in the order they have in it. */
struct file {
	Elf64_Ehdr head;
	Elf64_Phdr code;
	struct {
		Elf64_Nhdr head;
		char name[4];
		u8 id[20];
	} note;
	Elf64_Sym sym[SYM_MAX];
	char names[256];
	Elf64_Shdr sec[4]; /* none, notes, symbols, names */
};

static void set_up_file(struct file *f)
{
	*f = (struct file){
		.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			 .e_type = ET_EXEC,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_phoff = offsetof(struct file, code),
			 .e_shoff = offsetof(struct file, sec),
			 .e_ehsize = sizeof(Elf64_Ehdr),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 4,
			 .e_shstrndx = 3},
		.code = {.p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_offset = 0x1000,
			 .p_vaddr = VADDR,
			 .p_filesz = CODE_SZ,
			 .p_memsz = CODE_SZ},
		.note = {.head = {.n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID}, .name = "GNU", .id = {0xab, 0xcd}},
		.sec = {{0},
			{.sh_type = SHT_NOTE,
			 .sh_offset = offsetof(struct file, note),
			 .sh_size = sizeof(f->note),
			 .sh_addralign = 4},
			{.sh_type = SHT_SYMTAB,
			 .sh_offset = offsetof(struct file, sym),
			 .sh_size = sizeof(f->sym),
			 .sh_entsize = sizeof(Elf64_Sym),
			 .sh_link = 3},
			{.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct file, names), .sh_size = sizeof(f->names)}},
	};
}

static void put_sym(struct file *f, u32 nr, const char *name, u64 vaddr, u64 sz, u32 bind, u32 type)
{
	u32 at = 1 + nr * 15;

	snprintf(f->names + at, 15, "%s", name);
	f->sym[nr] = (Elf64_Sym){
		.st_name = at, .st_info = ELF64_ST_INFO(bind, type), .st_shndx = 1, .st_value = vaddr, .st_size = sz};
}

static int open_bytes(const void *bytes, size_t sz, struct fr_symfile **out)
{
	assert_int_equal(ftruncate(memory, 0), 0);
	assert_int_equal(pwrite(memory, bytes, sz, 0), sz);
	return fr_symfile_open(NULL, path, out);
}

static struct fr_symfile *open_file(const struct file *f)
{
	struct fr_symfile *s;

	assert_int_equal(open_bytes(f, sizeof(*f), &s), 0);
	return s;
}

/* The name at vaddr, or "". */
static const char *at(const struct fr_symfile *s, u64 vaddr)
{
	struct fr_symfile_func func;

	return fr_symfile_find(s, vaddr, &func) ? func.name : "";
}

static void functions_by_address(void **state)
{
	struct fr_symfile *s;
	struct file f;
	size_t sz;

	(void)state;
	set_up_file(&f);
	put_sym(&f, 0, "second", VADDR + 0x100, 0x20, STB_LOCAL, STT_FUNC);
	put_sym(&f, 1, "first", VADDR + 0x10, 0x10, STB_LOCAL, STT_FUNC);
	put_sym(&f, 2, "asm", VADDR + 0x200, 0, STB_GLOBAL, STT_NOTYPE);
	put_sym(&f, 3, "local_alias", VADDR + 0x100, 0x20, STB_LOCAL, STT_FUNC);
	put_sym(&f, 4, "alias", VADDR + 0x100, 0x20, STB_GLOBAL, STT_FUNC);
	put_sym(&f, 5, "data", VADDR + 0x300, 8, STB_GLOBAL, STT_OBJECT);
	put_sym(&f, 6, "$x", VADDR + 0x18, 0, STB_LOCAL, STT_NOTYPE);
	s = open_file(&f);
	assert_string_equal(at(s, VADDR + 0xf), "");
	assert_string_equal(at(s, VADDR + 0x10), "first");
	assert_string_equal(at(s, VADDR + 0x1f), "first");
	assert_string_equal(at(s, VADDR + 0x20), "");
	assert_string_equal(at(s, VADDR + 0x100), "alias");
	assert_string_equal(at(s, VADDR + 0x11f), "alias");
	assert_string_equal(at(s, VADDR + 0x120), "");
	assert_string_equal(at(s, VADDR + 0xfff), "asm");
	assert_string_equal(at(s, VADDR + 0x1000), "");
	assert_true(fr_symfile_is_full(s));
	assert_memory_equal(fr_symfile_build_id(s, &sz), f.note.id, 20);
	assert_int_equal(sz, 20);
	fr_symfile_close(s);
}

static void offsets_become_addresses(void **state)
{
	struct fr_symfile *s;
	struct file f;
	u64 vaddr = 7;

	(void)state;
	set_up_file(&f);
	s = open_file(&f);
	assert_true(fr_symfile_vaddr(s, 0x1234, ~0ull, &vaddr));
	assert_int_equal(vaddr, VADDR + 0x234);
	assert_false(fr_symfile_vaddr(s, 0xfff, ~0ull, &vaddr));
	assert_false(fr_symfile_vaddr(s, 0x2000, ~0ull, &vaddr));
	assert_false(fr_symfile_vaddr(s, ~0ull, ~0ull, &vaddr));
	assert_false(fr_symfile_is_full(s));
	fr_symfile_close(s);
}

/* Of those that others may call no more is known than their own extent. */
static void a_stripped_file(void **state)
{
	struct fr_symfile *s;
	struct file f;

	(void)state;
	set_up_file(&f);
	f.sec[2].sh_type = SHT_DYNSYM;
	put_sym(&f, 0, "exported", VADDR + 0x100, 0x20, STB_GLOBAL, STT_FUNC);
	put_sym(&f, 1, "no_size", VADDR + 0x200, 0, STB_GLOBAL, STT_FUNC);
	s = open_file(&f);
	assert_false(fr_symfile_is_full(s));
	assert_string_equal(at(s, VADDR + 0x11f), "exported");
	assert_string_equal(at(s, VADDR + 0x200), "no_size");
	assert_string_equal(at(s, VADDR + 0x201), "");
	fr_symfile_close(s);
}

/* What cannot be is left out: names behind the table, functions that are not in the code or reach round the end. */
static void lies(void **state)
{
	struct fr_symfile *s;
	struct file f;

	(void)state;
	set_up_file(&f);
	put_sym(&f, 0, "good", VADDR + 0x10, 0x10, STB_GLOBAL, STT_FUNC);
	put_sym(&f, 1, "name", VADDR + 0x100, 0x10, STB_GLOBAL, STT_FUNC);
	f.sym[1].st_name = 0xfffffff0;
	put_sym(&f, 2, "outside", 0x10, 0x10, STB_GLOBAL, STT_FUNC);
	put_sym(&f, 3, "round", VADDR + 0x200, ~0ull, STB_GLOBAL, STT_FUNC);
	put_sym(&f, 4, "end", ~0ull - 4, 4, STB_GLOBAL, STT_FUNC);
	memset(f.names + sizeof(f.names) - 16, 'x', 16);
	f.sym[5] = f.sym[0];
	f.sym[5].st_value = VADDR + 0x40;
	f.sym[5].st_name = sizeof(f.names) - 16;
	s = open_file(&f);
	assert_int_equal(s->func_cnt, 3);
	assert_string_equal(at(s, VADDR + 0x10), "good");
	assert_string_equal(at(s, VADDR + 0x40), "xxxxxxxxxxxxxxxx");
	assert_string_equal(at(s, VADDR + 0x100), "");
	assert_string_equal(at(s, ~0ull - 2), "");
	fr_symfile_close(s);
}

static void what_is_refused(void **state)
{
	struct fr_symfile *s;
	struct file f;

	(void)state;
	set_up_file(&f);
	assert_int_equal(open_bytes("", 0, &s), -EBADMSG);
	assert_int_equal(open_bytes("\177ELF", 4, &s), -EBADMSG);
	assert_int_equal(open_bytes(&f, 20, &s), -EBADMSG);
	f.head.e_type = ET_CORE;
	assert_int_equal(open_bytes(&f, sizeof(f), &s), -EBADMSG);
	assert_int_equal(fr_symfile_open(NULL, "/dev/null", &s), -EBADMSG);
	assert_int_equal(fr_symfile_open(NULL, "/tmp", &s), -EBADMSG);
	assert_int_equal(fr_symfile_open(NULL, "/nonexistent", &s), -ENOENT);
}

/* Every byte set to each of some values: opened or not, and looked up in, nothing else happens. */
static void any_byte_may_be_wrong(void **state)
{
	static const u8 value[] = {0, 1, 0x7f, 0x80, 0xff};
	struct fr_symfile *s;
	struct file f;
	size_t i, k;
	u64 vaddr;
	u8 was;

	(void)state;
	set_up_file(&f);
	put_sym(&f, 0, "good", VADDR + 0x10, 0x10, STB_GLOBAL, STT_FUNC);
	for (i = 0; i < sizeof(f); i++) {
		was = ((u8 *)&f)[i];
		for (k = 0; k < sizeof(value); k++) {
			((u8 *)&f)[i] = value[k];
			if (open_bytes(&f, sizeof(f), &s))
				continue;
			at(s, VADDR + 0x11);
			fr_symfile_vaddr(s, 0x1234, 0x1000, &vaddr);
			fr_symfile_close(s);
		}
		((u8 *)&f)[i] = was;
	}
}

/* What begins with an ELF file is read as one; anything else is refused. */
static void a_file_in_memory(void **state)
{
	struct fr_symfile *s;
	struct file f;

	(void)state;
	set_up_file(&f);
	put_sym(&f, 0, "good", VADDR + 0x10, 0x10, STB_GLOBAL, STT_FUNC);
	assert_int_equal(fr_symfile_open_memory(&f, sizeof(f), &s), 0);
	memset(&f, 0, sizeof(f));
	assert_string_equal(at(s, VADDR + 0x11), "good");
	fr_symfile_close(s);
	assert_int_equal(fr_symfile_open_memory(&f, sizeof(f), &s), -EBADMSG);
	assert_int_equal(fr_symfile_open_memory(&f, 0, &s), -EBADMSG);
}

/* Our own has functions; a mapping is taken for the same only if it can be. */
static void functions_the_kernel_maps(void **state)
{
	struct fr_procmap m = {.path = FR_VDSO_PATH, .begin = 0x7fff00000000}, other;
	struct fr_symfile_func func;
	struct fr_vdso *v;
	u64 off = 0;
	int err = fr_vdso_open(&v);

	(void)state;
	assert_int_equal(err, getauxval(AT_SYSINFO_EHDR) ? 0 : -ENOENT); /* none under valgrind, or with vdso=0 */
	if (err)
		return;
	for (m.end = m.begin; !fr_vdso_is(v, &m) && m.end - m.begin < 1 << 20;)
		m.end += 4096;
	assert_true(fr_vdso_is(v, &m));
	while (off < m.end - m.begin && !fr_vdso_find(v, off, &func))
		off++;
	assert_non_null(strstr(func.name, "_"));
	assert_true(func.sz && func.vaddr == off);
	assert_false(fr_vdso_find(v, m.end - m.begin, &func) || fr_vdso_find(v, ~0ULL, &func));

	other = m;
	other.path = "/usr/lib/[vdso]";
	assert_false(fr_vdso_is(v, &other));
	other = m;
	other.end += 4096;
	assert_false(fr_vdso_is(v, &other));
	other = m;
	other.begin -= m.begin & ~0xffffffffULL;
	other.end -= m.begin & ~0xffffffffULL;
	assert_false(fr_vdso_is(v, &other)); /* 32-bit */
	fr_vdso_close(v);
}

/* Without a descriptor left, what may be the file is not read: not the same as that it is another one, or gone. */
static void what_cannot_be_read(void **state)
{
	static const u8 other[20] = {1};
	struct rlimit was, none = {};
	struct fr_symguess *g = fr_symguess_new(NULL), *dir = fr_symguess_new(NULL);
	struct file f;
	struct fr_symfile *s;
	static const char gone[] = "/nowhere/at/all";

	(void)state;
	set_up_file(&f);
	assert_int_equal(open_bytes(&f, sizeof(f), &s), 0);
	fr_symfile_close(s);
	fr_symguess_add(g, gone, strlen(gone));
	fr_symguess_add_dir(g, gone);
	assert_null(fr_symguess_find(g, other, sizeof(other), false));
	assert_int_equal(fr_symguess_err(g), 0);
	fr_symguess_add(g, path, strlen(path));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none.rlim_max = was.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_null(fr_symguess_find(g, f.note.id, sizeof(f.note.id), false));
	fr_symguess_add_dir(dir, "/");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(fr_symguess_err(g), -EMFILE);
	assert_int_equal(fr_symguess_err(dir), -EMFILE);
	fr_symguess_free(g);
	fr_symguess_free(dir);
}

static int set_up(void **state)
{
	(void)state;
	memory = memfd_create("symfile", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	return memory < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	return close(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_by_address), cmocka_unit_test(offsets_become_addresses),
		cmocka_unit_test(a_stripped_file),	cmocka_unit_test(lies),
		cmocka_unit_test(what_is_refused),	cmocka_unit_test(any_byte_may_be_wrong),
		cmocka_unit_test(a_file_in_memory),	cmocka_unit_test(functions_the_kernel_maps),
		cmocka_unit_test(what_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
