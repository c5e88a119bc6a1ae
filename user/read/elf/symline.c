/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/elf/symline.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "read/elf/symfile.h"

#define DEPTH_MAX 64u
#define DIE_MAX	  (4u << 20) /* DIEs looked at per address, a limit for hostile or absurd files */

struct fr_symlines {
	int fd;
	Dwarf *dwarf;
};

/* The path from the outermost function to the innermost. */
struct walk {
	u64 pc;
	Dwarf_Die func[DEPTH_MAX];
	u32 func_cnt;
	u32 die_cnt;
};

/* ---- which functions ---- */

static bool symline_is_func(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* DIEs that have no addresses themselves but contain functions. */
static bool is_container(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_module ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

/* True if the innermost function was found below die. */
static bool descend(struct walk *w, Dwarf_Die *die, u32 depth)
{
	Dwarf_Die child;
	bool found = false;

	if (depth >= DEPTH_MAX || dwarf_child(die, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (++w->die_cnt > DIE_MAX)
			return false;
		if (is_container(tag))
			found = descend(w, &child, depth + 1);
		else if ((symline_is_func(tag) || tag == DW_TAG_lexical_block) && dwarf_haspc(&child, w->pc) > 0) {
			if (symline_is_func(tag) && w->func_cnt < DEPTH_MAX)
				w->func[w->func_cnt++] = child;
			descend(w, &child, depth + 1);
			found = true;
		}
	} while (!found && !dwarf_siblingof(&child, &child));
	return found;
}

/* Find the unit: by the table of address ranges, or, if the compiler wrote none, by trying each. */
static bool symline_find_unit(struct fr_symlines *l, u64 vaddr, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;

	if (dwarf_addrdie(l->dwarf, vaddr, unit))
		return true;
	while (!dwarf_get_units(l->dwarf, cu, &cu, NULL, &type, unit, NULL)) {
		if (dwarf_haspc(unit, vaddr) > 0)
			return true;
	}
	return false;
}

/* ---- names and source lines ---- */

static const char *symline_text_of(Dwarf_Die *die, u32 attr)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(die, attr, &a) ? dwarf_formstring(&a) : NULL;
}

static const char *symline_name_of(Dwarf_Die *die)
{
	const char *name = symline_text_of(die, DW_AT_linkage_name);

	if (!name)
		name = symline_text_of(die, DW_AT_MIPS_linkage_name);
	return name ? name : symline_text_of(die, DW_AT_name);
}

static u64 symline_num_of(Dwarf_Die *die, u32 attr)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	return dwarf_attr(die, attr, &a) && !dwarf_formudata(&a, &v) ? v : 0;
}

/* Where an inlined function is called. */
static void symline_put_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct fr_symline *to)
{
	u64 idx = symline_num_of(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t cnt;

	to->line = symline_num_of(inlined, DW_AT_call_line);
	if (!dwarf_getsrcfiles(unit, &files, &cnt) && idx < cnt)
		to->file = dwarf_filesrc(files, idx, NULL, NULL);
}

static void symline_put_line(Dwarf_Die *unit, u64 vaddr, struct fr_symline *to)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, vaddr);
	int nr;

	if (!line)
		return;
	to->file = dwarf_linesrc(line, NULL, NULL);
	if (!dwarf_lineno(line, &nr) && nr > 0)
		to->line = nr;
}

u32 fr_symlines_find(struct fr_symlines *l, u64 vaddr, struct fr_symline *out, u32 max)
{
	struct walk w = {.pc = vaddr};
	Dwarf_Die unit;
	u32 i;

	if (!max || !symline_find_unit(l, vaddr, &unit))
		return 0;
	descend(&w, &unit, 0);
	out[0] = (struct fr_symline){0};
	symline_put_line(&unit, vaddr, &out[0]);
	for (i = 0; i < w.func_cnt && i < max; i++) {
		Dwarf_Die *die = &w.func[w.func_cnt - 1 - i];

		out[i].name = symline_name_of(die);
		out[i].inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine;
		if (!out[i].inlined || i + 1 == max)
			return i + 1;
		out[i + 1] = (struct fr_symline){0};
		symline_put_call(&unit, die, &out[i + 1]);
	}
	return i ? i : 1;
}

/* ---- the file ---- */

int fr_symlines_open(const char *root, const char *path, struct fr_symlines **out)
{
	struct fr_symlines *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->fd = fr_symfile_fd(root, path);
	if (l->fd >= 0)
		l->dwarf = dwarf_begin(l->fd, DWARF_C_READ);
	if (!l->dwarf) {
		int err = l->fd < 0 ? l->fd : -EBADMSG;

		fr_symlines_close(l);
		return err;
	}
	*out = l;
	return 0;
}

void fr_symlines_close(struct fr_symlines *l)
{
	if (!l)
		return;
	if (l->dwarf)
		dwarf_end(l->dwarf);
	if (l->fd >= 0)
		close(l->fd);
	free(l);
}
