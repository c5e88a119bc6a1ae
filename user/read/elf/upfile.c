/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/elf/upfile.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/set/vec.h"
#include "base/text/nearest.h"
#include "base/tp/upnote.h"
#include "read/elf/symfile.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#endif

#define VERSION_HIDDEN 0x8000u /* of a symbol: an old version, which only old programs use */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ORDER ELFDATA2LSB
#else
#define ORDER ELFDATA2MSB
#endif

struct fr_upfile {
	int fd;
	Elf *elf;
	bool go;
};

static int upfile_fail(char why[FR_UPFILE_WHY_SZ], int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int upfile_fail(char why[FR_UPFILE_WHY_SZ], int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, FR_UPFILE_WHY_SZ, fmt, ap);
	va_end(ap);
	return err;
}

/* ---- a file ---- */

/* To libelf, a part that cannot be read is one that is not there. Since errno was 0: 0, or that error, and why. To be asked
 * before anything else may set errno. */
static int upfile_unread(const char *what, char why[FR_UPFILE_WHY_SZ])
{
	int err = errno == EIO || errno == ENOMEM ? -errno : 0;

	return err ? upfile_fail(why, err, "%s cannot be read: %s", what, strerror(-err)) : 0;
}

static bool has_go_section(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t strings;
	GElf_Shdr s;
	const char *name;

	if (elf_getshdrstrndx(elf, &strings))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		name = gelf_getshdr(scn, &s) ? elf_strptr(elf, strings, s.sh_name) : NULL;
		if (name && (strstr(name, "gopclntab") || strstr(name, "go.buildinfo") || strstr(name, "note.go.buildid")))
			return true;
	}
	return false;
}

int fr_upfile_open(const char *path, struct fr_upfile **out, char why[FR_UPFILE_WHY_SZ])
{
	struct fr_upfile *f = calloc(1, sizeof(*f));
	GElf_Ehdr head;
	int err;

	if (!f)
		return upfile_fail(why, -ENOMEM, "%s", strerror(ENOMEM));
	elf_version(EV_CURRENT);
	f->fd = fr_symfile_fd(NULL, path);
	if (f->fd < 0) {
		err = upfile_fail(why, f->fd, "%s: %s", path, f->fd == -EBADMSG ? "it is no file" : strerror(-f->fd));
		free(f);
		return err;
	}
	errno = 0;
	f->elf = elf_begin(f->fd, ELF_C_READ, NULL); /* not mapped: whoever shortens the file would end this process */
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &head)) {
		err = upfile_unread(path, why) ?: upfile_fail(why, -EINVAL, "%s is no program or library", path);
	} else if (gelf_getclass(f->elf) != ELFCLASS64 || head.e_ident[EI_DATA] != ORDER || head.e_machine != MACHINE ||
		   (head.e_type != ET_EXEC && head.e_type != ET_DYN)) {
		err = upfile_fail(why, -EINVAL, "%s is no 64-bit program or library of this machine's kind", path);
	} else {
		f->go = has_go_section(f->elf);
		err = upfile_unread(path, why);
	}
	if (!err) {
		*out = f;
		return 0;
	}
	fr_upfile_close(f);
	return err;
}

void fr_upfile_close(struct fr_upfile *f)
{
	if (!f)
		return;
	elf_end(f->elf);
	close(f->fd);
	free(f);
}

int fr_upfile_fd(const struct fr_upfile *f)
{
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

bool fr_upfile_is_go(const struct fr_upfile *f)
{
	return f->go;
}

/* ---- its functions ---- */

struct symbol {
	const char *name;
	GElf_Sym sym;
	bool old; /* another of this name is what programs are linked with now */
};

typedef int (*symbol_fn)(void *arg, const struct symbol *s);

static bool upfile_is_func(const GElf_Sym *sym)
{
	u32 type = GELF_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && sym->st_shndx != SHN_UNDEF && sym->st_value;
}

static Elf_Data *versions_of(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &s) && s.sh_type == SHT_GNU_versym)
			return elf_getdata(scn, NULL);
	return NULL;
}

static int walk_table(Elf *elf, Elf_Scn *scn, const GElf_Shdr *s, symbol_fn fn, void *arg)
{
	Elf_Data *data = elf_getdata(scn, NULL), *versions = s->sh_type == SHT_DYNSYM ? versions_of(elf) : NULL;
	size_t one = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), i, cnt;
	struct symbol symbol;
	GElf_Versym version;
	int ret = 0;

	if (!data || !data->d_buf || data->d_type != ELF_T_SYM || !one)
		return 0;
	cnt = data->d_size / one;
	for (i = 0; i < cnt && i <= INT32_MAX && !ret; i++) {
		if (!gelf_getsym(data, i, &symbol.sym) || !upfile_is_func(&symbol.sym))
			continue;
		symbol.name = elf_strptr(elf, s->sh_link, symbol.sym.st_name);
		symbol.old = versions && gelf_getversym(versions, i, &version) && version & VERSION_HIDDEN;
		if (symbol.name && *symbol.name)
			ret = fn(arg, &symbol);
	}
	return ret;
}

/* Returns what fn does; -errno and why: not all could be read. */
static int walk_symbols(struct fr_upfile *f, symbol_fn fn, void *arg, char why[FR_UPFILE_WHY_SZ])
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;
	int ret = 0;

	errno = 0;
	while (!ret && (scn = elf_nextscn(f->elf, scn)))
		if (gelf_getshdr(scn, &s) && (s.sh_type == SHT_SYMTAB || s.sh_type == SHT_DYNSYM))
			ret = walk_table(f->elf, scn, &s, fn, arg);
	return ret ?: upfile_unread("it", why);
}

struct each {
	int (*fn)(void *arg, const char *symbol);
	void *arg;
};

static int each_symbol(void *arg, const struct symbol *s)
{
	const struct each *e = arg;

	return e->fn(e->arg, s->name);
}

int fr_upfile_each(struct fr_upfile *f, int (*fn)(void *arg, const char *symbol), void *arg)
{
	struct each e = {fn, arg};
	char why[FR_UPFILE_WHY_SZ];

	return walk_symbols(f, each_symbol, &e, why);
}

/* ---- one of them ---- */

struct want {
	const char *name;
	GElf_Sym sym;
	u32 cnt; /* addresses that have the name */
	bool old;
	size_t all;
	struct fr_nearest near;
};

static int upfile_consider(void *arg, const struct symbol *s)
{
	struct want *w = arg;

	w->all++;
	if (strcmp(s->name, w->name) != 0) {
		fr_nearest_consider(&w->near, s->name);
		return 0;
	}
	if (w->cnt && w->sym.st_value == s->sym.st_value)
		return 0;
	if (w->cnt && s->old)
		return 0;
	if (w->cnt && w->old)
		w->cnt = 0;
	w->sym = s->sym;
	w->old = s->old;
	w->cnt++;
	return 0;
}

/* The offset in the file of what is at an address. False: it is in no segment of these flags. */
static bool offset_in(Elf *elf, u64 addr, u32 flags, u64 *off)
{
	GElf_Phdr p;
	size_t cnt, i;

	if (elf_getphdrnum(elf, &cnt))
		return false;
	for (i = 0; i < cnt; i++)
		if (gelf_getphdr(elf, i, &p) && p.p_type == PT_LOAD && p.p_flags & flags && addr >= p.p_vaddr &&
		    addr - p.p_vaddr < p.p_filesz) {
			*off = addr - p.p_vaddr + p.p_offset;
			return true;
		}
	return false;
}

static bool offset_of(Elf *elf, u64 addr, u64 *off)
{
	return offset_in(elf, addr, PF_X, off);
}

/* Where the file's code begins. 0: it has none. */
static u64 upfile_code(Elf *elf)
{
	u64 first = UINT64_MAX;
	GElf_Phdr p;
	size_t cnt, i;

	if (elf_getphdrnum(elf, &cnt))
		return 0;
	for (i = 0; i < cnt; i++)
		if (gelf_getphdr(elf, i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_X && p.p_vaddr < first)
			first = p.p_vaddr;
	return first == UINT64_MAX ? 0 : first;
}

/* A row of the call frame data begins behind an instruction. */
static bool frame_begins(Elf *elf, Dwarf *dw, u64 addr)
{
	Dwarf_CFI *cfi[2] = {dwarf_getcfi_elf(elf), dw ? dwarf_getcfi(dw) : NULL};
	Dwarf_Addr begin, end;
	Dwarf_Frame *frame;
	bool begins = false, is_signal;
	u32 i;

	for (i = 0; i < 2 && !begins; i++) {
		if (!cfi[i] || dwarf_cfi_addrframe(cfi[i], addr, &frame))
			continue;
		begins = dwarf_frame_info(frame, &begin, &end, &is_signal) >= 0 && begin == addr;
		free(frame);
	}
	dwarf_cfi_end(cfi[0]);
	return begins;
}

/* A row of the line table is an instruction's. */
static bool line_begins(Dwarf *dw, u64 addr)
{
	Dwarf_Off off = 0, next;
	size_t head;
	Dwarf_Die unit;
	Dwarf_Line *line;
	Dwarf_Addr at;

	for (; dw && !dwarf_nextcu(dw, off, &next, &head, NULL, NULL, NULL); off = next) {
		line = dwarf_offdie(dw, off + head, &unit) ? dwarf_getsrc_die(&unit, addr) : NULL;
		if (line && !dwarf_lineaddr(line, &at) && at == addr)
			return true;
	}
	return false;
}

/* 0; -EINVAL; -errno and why: what could prove it could not be read. */
static int upfile_prove(Elf *elf, u64 addr, char why[FR_UPFILE_WHY_SZ])
{
	Dwarf *dw;
	int err;

	errno = 0;
	dw = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	err = upfile_unread("it", why);
	if (!err)
		err = frame_begins(elf, dw, addr) || line_begins(dw, addr) ? 0 : upfile_unread("it", why) ?: -EINVAL;
	dwarf_end(dw);
	return err;
}

static int upfile_say_none(struct want *w, char why[FR_UPFILE_WHY_SZ])
{
	const char *like = fr_nearest_close(&w->near);

	if (!w->all)
		return upfile_fail(why, -EINVAL, "it has no symbols: its functions have no names in it");
	if (like)
		return upfile_fail(why, -EINVAL, "it has no function %.80s: did you mean %.80s?", w->name, like);
	return upfile_fail(why, -EINVAL, "it has no function %.80s (of C++, the mangled name, as `nm` shows it)", w->name);
}

/*
 * Linux 6.18 and later make a call of a nop of five bytes on x86-64 when it is passed. Seen: a call writes below the stack
 * pointer, where a function that calls nothing may keep what it works with (the red zone of the ABI), and the program computed
 * something else; a child that was forked behind it had the call, not what it calls, and died of SIGSEGV. So such a nop is no
 * place.
 */
#if defined(__x86_64__)
#define UPFILE_NOP_SZ 5u

/* Bytes of the nop that begins here; 0: it is none, or has no end here. */
static u32 upfile_nop_sz(const u8 *code, u32 sz)
{
	u32 at = 0, mod, rm;

	while (at < sz && (strchr("\x66\x2e\x36\x3e\x26\x64\x65", code[at]) || (code[at] & 0xf0) == 0x40) && code[at])
		at++;
	if (at < sz && code[at] == 0x90)
		return at + 1;
	if (at + 3 > sz || code[at] != 0x0f || code[at + 1] != 0x1f)
		return 0;
	mod = code[at + 2] >> 6;
	rm = code[at + 2] & 7;
	at += 3;
	if (mod != 3 && rm == 4)
		rm = at < sz ? code[at++] & 7 : 4;
	at += mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0;
	return at <= sz ? at : 0;
}

/* 1, 0; -errno: it cannot be read. */
static int upfile_may_become_call(const struct fr_upfile *f, u64 off)
{
	u8 code[UPFILE_NOP_SZ] = {0};

	if (pread(f->fd, code, sizeof(code), off) < 0)
		return -errno;
	return upfile_nop_sz(code, UPFILE_NOP_SZ) == UPFILE_NOP_SZ;
}
#else
static int upfile_may_become_call(const struct fr_upfile *f, u64 off)
{
	(void)f;
	(void)off;
	return 0;
}
#endif

/* 0; -EINVAL and why; -errno and why: it cannot be read. */
static int upfile_check_nop(const struct fr_upfile *f, u64 off, const char *what, char why[FR_UPFILE_WHY_SZ])
{
	int may = upfile_may_become_call(f, off);

	if (may < 0)
		return upfile_fail(why, may, "it cannot be read: %s", strerror(-may));
	if (!may)
		return 0;
	return upfile_fail(why, -EINVAL,
			   "%.120s is a nop of five bytes, which the kernel may turn into a call: that crashes children that "
			   "the program forks; take the place behind it (of a function: +5)",
			   what);
}

int fr_upfile_func(struct fr_upfile *f, const char *symbol, u64 off, u64 *file_off, char why[FR_UPFILE_WHY_SZ])
{
	struct want w = {.name = symbol, .near = {.to = symbol}};
	int err = walk_symbols(f, upfile_consider, &w, why);
	char place[112];

	if (err)
		return err;
	if (!w.cnt)
		return upfile_say_none(&w, why);
	if (w.cnt > 1)
		return upfile_fail(why, -EINVAL,
				   "more than one of its functions is called %.80s: it is not known which is meant", symbol);
	if (GELF_ST_TYPE(w.sym.st_info) == STT_GNU_IFUNC)
		return upfile_fail(why, -EINVAL,
				   "%.80s is chosen when a program starts (an ifunc): name the one that is chosen, "
				   "`gdb -p PID -batch -ex 'info symbol %.80s'` tells it",
				   symbol, symbol);
	if (off && off >= w.sym.st_size)
		return upfile_fail(why, -EINVAL, "%.80s has %llu bytes, so +0x%llx is not in it", symbol,
				   (unsigned long long)w.sym.st_size, (unsigned long long)off);
	err = off ? upfile_prove(f->elf, w.sym.st_value + off, why) : 0;
	if (err == -EINVAL)
		return upfile_fail(
			why, -EINVAL,
			"neither its lines nor its frames say that an instruction begins at %.80s+0x%llx, and a probe "
			"elsewhere would crash the program",
			symbol, (unsigned long long)off);
	if (err)
		return err;
	errno = 0;
	if (offset_of(f->elf, w.sym.st_value + off, file_off)) {
		snprintf(place, sizeof(place), "%.80s+0x%llx", symbol, (unsigned long long)off);
		return upfile_check_nop(f, *file_off, place, why);
	}
	return upfile_unread("it", why) ?: upfile_fail(why, -EINVAL, "%.80s is not in its code", symbol);
}

/* ---- its static marks ---- */

struct mark_place {
	u64 addr;
	const char *provider, *name;
};

struct marks {
	struct fr_upfile *f;
	u64 base;	      /* where .stapsdt.base is; 0: there is none */
	u64 code;	      /* where code begins */
	struct fr_vec places; /* struct mark_place, by address, then by name */
	int (*fn)(void *arg, const struct fr_upmark *m);
	void *arg;
};

/* Names come from the file, and go where a -e has them. */
static bool is_mark_name(const char *name)
{
	const char *c;

	for (c = name; *c > ' ' && *c <= '~' && !strchr(":{}@*?[", *c); c++)
		;
	return c > name && !*c && c - name < 256;
}

/* What a mark has in its place. */
static bool is_nop(const u8 *code, size_t sz)
{
#if defined(__x86_64__)
	return (sz >= 1 && code[0] == 0x90) || (sz >= 5 && !memcmp(code, "\x0f\x1f\x44\0\0", 5));
#else
	return sz >= 4 && !memcmp(code, "\x1f\x20\x03\xd5", 4);
#endif
}

static bool nop_is_at(const struct fr_upfile *f, u64 off)
{
	u8 code[5];
	ssize_t got = pread(f->fd, code, sizeof(code), off);

	return got > 0 && is_nop(code, got);
}

static u64 mark_addr(const struct marks *m, const struct fr_upnote *note)
{
	return note->addr + (m->base && note->base ? m->base - note->base : 0);
}

/* The first place at this address or behind it. */
static size_t mark_place_from(const struct marks *m, u64 addr)
{
	const struct mark_place *place = m->places.at;
	size_t from = 0, to = m->places.cnt, mid;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (place[mid].addr < addr)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* Do notes of two marks name one place? Then it is not known which is passed there. Those of a place are in order of names. */
static bool mark_is_shared(const struct marks *m, const struct fr_upnote *note)
{
	u64 addr = mark_addr(m, note);
	size_t from = mark_place_from(m, addr), to = addr + 1 ? mark_place_from(m, addr + 1) : m->places.cnt;
	const struct mark_place *first = (const struct mark_place *)m->places.at + from;
	const struct mark_place *last = (const struct mark_place *)m->places.at + to - 1;

	return from < to && (strcmp(first->provider, last->provider) != 0 || strcmp(first->name, last->name) != 0);
}

/* 0; -EINVAL and why: no probe may be there; -errno and why: it cannot be read. */
static int mark_prove(const struct marks *m, const struct fr_upnote *note, struct fr_upmark *mark, char why[FR_UPFILE_WHY_SZ])
{
	u64 addr = mark_addr(m, note), at, counter = 0;
	char place[112];
	int err;

	errno = 0;
	if (!offset_of(m->f->elf, addr, &mark->off))
		return upfile_unread("it", why)
			       ?: upfile_fail(why, -EINVAL,
					      "the mark %.80s:%.80s is not in its code: the file's notes are damaged",
					      note->provider, note->name);
	errno = 0;
	err = nop_is_at(m->f, mark->off) ? 0 : upfile_unread("it", why) ?: -EINVAL;
	if (err == -EINVAL)
		return upfile_fail(
			why, -EINVAL,
			"no nop is where the mark %.80s:%.80s should be, so a probe would crash the program: the file's "
			"notes are of another one",
			note->provider, note->name);
	if (mark_is_shared(m, note))
		return upfile_fail(why, -EINVAL,
				   "the mark %.80s:%.80s is where another one is, too, and which of them is passed is not "
				   "known: the linker made one of functions that are alike (--icf=none leaves them)",
				   note->provider, note->name);
	snprintf(place, sizeof(place), "the mark %.48s:%.48s", note->provider, note->name);
	err = err ?: upfile_check_nop(m->f, mark->off, place, why);
	if (err || !note->counter)
		return err;
	/* the kernel counts in the program's memory: nothing but data that the program writes, too */
	at = addr - note->addr + note->counter;
	if (!offset_in(m->f->elf, at, PF_W, &counter) || offset_in(m->f->elf, at, PF_X, &counter) || counter > UINT32_MAX ||
	    counter % 2)
		return upfile_fail(why, -EINVAL,
				   "the counter of the mark %.80s:%.80s is not in its data: its notes are damaged",
				   note->provider, note->name);
	mark->counter = counter;
	return 0;
}

static int mark_take(struct marks *m, const struct fr_upnote *note, char why[FR_UPFILE_WHY_SZ])
{
	struct fr_upmark mark = {.provider = note->provider, .name = note->name, .args = note->args};
	int err = mark_prove(m, note, &mark, why);

	if (err && err != -EINVAL)
		return err;
	mark.bad = err ? why : NULL;
	err = m->fn(m->arg, &mark);
	if (err != -EINVAL)
		*why = 0; /* it is not why */
	return err;
}

static int mark_take_place(struct marks *m, const struct fr_upnote *note, char why[FR_UPFILE_WHY_SZ])
{
	const struct mark_place place = {mark_addr(m, note), note->provider, note->name};
	int err = fr_vec_add(&m->places, &place, 1);

	return err ? upfile_fail(why, err, "%s", strerror(-err)) : 0;
}

static int mark_by_addr(const void *a, const void *b)
{
	const struct mark_place *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->provider, y->provider) ?: strcmp(x->name, y->name);
}

/*
 * Each note of a mark that has a place, and a name that can be written. Of code that it drops, a linker leaves the notes: GNU
 * ld with address 0, lld with the offset in what was dropped. Both are below all code.
 */
static int mark_each(struct marks *m, const Elf_Data *data, int (*take)(struct marks *, const struct fr_upnote *, char *),
		     char why[FR_UPFILE_WHY_SZ])
{
	struct fr_upnote note;
	size_t pos = 0;
	int got, ret = 0;

	while (!ret && (got = fr_upnote_next(data->d_buf, data->d_size, &pos, &note))) {
		if (got < 0)
			return upfile_fail(why, -EINVAL, "its notes of marks are damaged");
		if (note.addr && mark_addr(m, &note) >= m->code && is_mark_name(note.provider) && is_mark_name(note.name))
			ret = take(m, &note, why);
	}
	return ret;
}

static int walk_notes(struct marks *m, Elf_Scn *scn, char why[FR_UPFILE_WHY_SZ])
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	int err;

	if (!data || !data->d_buf)
		return upfile_unread("it", why) ?: upfile_fail(why, -EINVAL, "its notes of marks are not all in the file");
	err = mark_each(m, data, mark_take_place, why);
	if (m->places.cnt)
		qsort(m->places.at, m->places.cnt, m->places.item_sz, mark_by_addr);
	err = err ?: mark_each(m, data, mark_take, why);
	fr_vec_free(&m->places);
	return err;
}

int fr_upfile_marks(struct fr_upfile *f, int (*fn)(void *arg, const struct fr_upmark *m), void *arg, char why[FR_UPFILE_WHY_SZ])
{
	struct marks m = {.f = f, .places = {.item_sz = sizeof(struct mark_place)}, .fn = fn, .arg = arg};
	Elf_Scn *scn = NULL, *notes = NULL;
	size_t strings;
	const char *name;
	GElf_Shdr s;
	int err;

	errno = 0;
	if (elf_getshdrstrndx(f->elf, &strings))
		return upfile_unread("it", why);
	while ((scn = elf_nextscn(f->elf, scn))) {
		name = gelf_getshdr(scn, &s) ? elf_strptr(f->elf, strings, s.sh_name) : NULL;
		if (name && !strcmp(name, ".note.stapsdt") && s.sh_type == SHT_NOTE)
			notes = scn;
		else if (name && !strcmp(name, ".stapsdt.base"))
			m.base = s.sh_addr;
	}
	m.code = upfile_code(f->elf);
	err = upfile_unread("it", why);
	return err || !notes ? err : walk_notes(&m, notes, why);
}
