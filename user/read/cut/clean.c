/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/cut/clean.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alert.h"
#include "base/err.h"
#include "base/filter/filter.h"
#include "base/incident.h"
#include "base/rows/calltext.h"
#include "base/rows/cgroups.h"
#include "base/rows/rows.h"
#include "base/schema/syscalls.h"
#include "base/schema/sysnames.h"
#include "base/schema/tpname.h"
#include "base/text/escape.h"
#include "base/text/jsonr.h"
#include "base/text/pseudo.h"
#include "base/text/redact.h"
#include "base/trigger/trigger.h"
#include "read/snapfile/snapfile_rows.h"
#include "tp.h"
#include "ustack.h"

struct fr_clean {
	struct fr_pseudo *names;
	struct fr_vec text;   /* char *: texts of the metadata */
	struct fr_vec column; /* void *: texts of the last batch */
	struct fr_vec schema; /* struct fr_schema * */
	struct fr_vec secret; /* text: further words of secret keys, of all parts */
	struct fr_prof *prof, *blocked;
	bool learns;
	/* of the batch that is being cleaned */
	const bool *leaves;	 /* by row: it is not written, and nothing of it counts; NULL: all are */
	u32 *row;		 /* by event and place in its columns: the row */
	u32 first[FR_EVENT_MAX]; /* of each event, in row */
};

/* ---- which form a text has ---- */

#define CLEAN_KEEP	   (-1) /* it names nothing */
#define CLEAN_CONSTANT_MAX 1024 /* numbers of fields with names are below */

struct clean_form {
	const char *name;
	int form; /* enum fr_pseudo_form, or CLEAN_KEEP */
};

/* clang-format off */
static const struct clean_form clean_facts[] = {
#define W(name, doc) {#name, CLEAN_KEEP},
	FR_TP_WHYS(W)
#undef W
	{"host", FR_PSEUDO_NAME}, {"session", FR_PSEUDO_NAME}, {"trigger_comm", FR_PSEUDO_NAME},
	{"dir", FR_PSEUDO_PATH}, {"trigger_exe", FR_PSEUDO_PATH}, {"trigger_cgroup", FR_PSEUDO_PATH}, {"cut_from", FR_PSEUDO_PATH},
	{"trigger_text", FR_PSEUDO_TEXT}, {"trigger_span", FR_PSEUDO_TEXT},
	{"settings", FR_PSEUDO_RULE}, {"trigger_rule", FR_PSEUDO_RULE}, {"cut_filter", FR_PSEUDO_RULE},
	{"redact", FR_PSEUDO_RULE},
	{"kernel", CLEAN_KEEP}, {"arch", CLEAN_KEEP}, {"boot_id", CLEAN_KEEP}, {"version", CLEAN_KEEP}, {"profile", CLEAN_KEEP},
	{"layout", CLEAN_KEEP}, {"events", CLEAN_KEEP}, {"events_missing", CLEAN_KEEP}, {"events_held", CLEAN_KEEP},
	{"clock_mode", CLEAN_KEEP}, {"begin_clock", CLEAN_KEEP}, {"sample_event", CLEAN_KEEP}, {"recovered", CLEAN_KEEP},
	{"cpu_profile", CLEAN_KEEP}, {"missed", CLEAN_KEEP}, {"rare_missing", CLEAN_KEEP}, {"waits", CLEAN_KEEP}, {"waits_over", CLEAN_KEEP}, {"states", CLEAN_KEEP},
	{"states_missing", CLEAN_KEEP}, {"softirqs", CLEAN_KEEP}, {"softirqs_begin", CLEAN_KEEP}, {"softirq_ms", CLEAN_KEEP},
	{"softirq_ms_begin", CLEAN_KEEP}, {"disks", CLEAN_KEEP}, {"incidents_missing", CLEAN_KEEP}, {"kernel_build_id", CLEAN_KEEP},
	{"kernel_stext", CLEAN_KEEP}, {"kernel_symbols", CLEAN_KEEP}, {"symbols_left_out", CLEAN_KEEP}, {"unread", CLEAN_KEEP},
	{"kmsg", CLEAN_KEEP}, {"klog_clock", CLEAN_KEEP}, {"cut_cpu", CLEAN_KEEP}, {"cut_pid", CLEAN_KEEP},
	{"trigger_reason", CLEAN_KEEP}, {"trigger_signature", CLEAN_KEEP}, {"trigger_what", CLEAN_KEEP}, {"trigger_rate", CLEAN_KEEP},
	{"trigger_latency", CLEAN_KEEP}, {"trigger_addr", CLEAN_KEEP}, {"trigger_ip", CLEAN_KEEP}, {"trigger_sp", CLEAN_KEEP},
	{}
};

/* Of lines about processes, cgroups and containers. */
static const struct clean_form clean_keys[] = {
	{"cmdline", FR_PSEUDO_WORDS}, {"exe", FR_PSEUDO_PATH}, {"cwd", FR_PSEUDO_PATH}, {"cgroup", FR_PSEUDO_PATH},
	{"container", FR_PSEUDO_NAME}, {"pod", FR_PSEUDO_NAME}, {"namespace", FR_PSEUDO_NAME}, {"image", FR_PSEUDO_NAME},
	{FR_PROC_CONTAINER_ID, FR_PSEUDO_TEXT}, {FR_PROC_POD_UID, FR_PSEUDO_TEXT},
	{}
};

/* Of events that are built in; of others, all are command lines but for names of tasks. */
static const struct clean_form clean_fields[] = {
	{"sched_process_exec.filename", FR_PSEUDO_PATH}, {"wait.object", FR_PSEUDO_OBJECT}, {"kernel_report.text", FR_PSEUDO_TEXT},
	{"irq_handler_entry.name", FR_PSEUDO_TEXT}, {"sys_path.path", FR_PSEUDO_PATH},
	{"stderr_write.text", FR_PSEUDO_TEXT},
	{}
};
/* clang-format on */

static int clean_form_of(const struct clean_form *table, const char *name)
{
	while (table->name && strcmp(table->name, name))
		table++;
	return table->name ? table->form : FR_PSEUDO_WORDS;
}

/* Facts of a merged file repeat those of its parts behind a number. */
static int clean_fact_form(const char *name)
{
	const char *since = strstr(name, "_since"), *bare = name;

	if (!strncmp(name, "merge_", 6)) {
		bare = name + 6 + strspn(name + 6, "0123456789");
		if (!*bare)
			return FR_PSEUDO_PATH;
		bare++;
	}
	if (!strncmp(bare, "rule_", 5) && bare[5] >= '0' && bare[5] <= '9')
		return since && !since[6] ? CLEAN_KEEP : FR_PSEUDO_RULE;
	return clean_form_of(clean_facts, bare);
}

static int clean_field_form(const struct fr_event *ev, const struct fr_field *f)
{
	char name[2 * FR_NAME_MAX + 2];

	if (strstr(f->name, "comm"))
		return FR_PSEUDO_NAME;
	snprintf(name, sizeof(name), "%s.%s", ev->name, f->name);
	return clean_form_of(clean_fields, name);
}

/* The same of a text of any length: what calls were given are paths, but for addresses of sockets. */
static int clean_string_form(const struct fr_event *ev, const struct fr_field *f, const char *text)
{
	int form = clean_field_form(ev, f);

	return form == FR_PSEUDO_PATH && !strcmp(ev->name, "sys_path") && fr_calltext_is_addr(text) ? FR_PSEUDO_TEXT : form;
}

/* ---- texts one by one ---- */

/* Learn a text, or have *text point to what it becomes. */
static int clean_text(struct fr_clean *c, enum fr_pseudo_form form, const char **text)
{
	const char *is;
	char *kept;
	size_t sz;

	if (!*text || !**text)
		return 0;
	if (c->learns)
		return fr_pseudo_learn(c->names, form, *text, strlen(*text));
	is = fr_pseudo_put(c->names, form, *text, strlen(*text), &sz);
	kept = is ? strdup(is) : NULL;
	if (!kept || fr_vec_add(&c->text, &kept, 1)) {
		free(kept);
		return -ENOMEM;
	}
	*text = kept;
	return 0;
}

/* The same where the text has a place of its own. */
static int clean_in(struct fr_clean *c, enum fr_pseudo_form form, char *at, size_t room, bool ends)
{
	if (c->learns)
		return fr_pseudo_learn(c->names, form, at, strnlen(at, room));
	return fr_pseudo_put_in(c->names, form, at, room, ends);
}

const char *fr_clean_fact(struct fr_clean *c, const char *name, const char *value)
{
	int form = clean_fact_form(name);
	size_t sz;

	return form == CLEAN_KEEP ? value : fr_pseudo_put(c->names, form, value, strlen(value), &sz);
}

/* ---- rows ---- */

static bool clean_is_text(const struct fr_field *f)
{
	return f->type == FR_TYPE_comm || f->type == FR_TYPE_str || (f->type == FR_TYPE_array && f->elem == FR_TYPE_str);
}

/* Is row k of an event not written? */
static bool clean_leaves(const struct fr_clean *c, const struct fr_event *ev, u32 k)
{
	return c->leaves && c->leaves[c->row[c->first[ev->nr] + k]];
}

/* Texts that have a place of fixed size. */
static int clean_places(struct fr_clean *c, const struct fr_event *ev, const struct fr_field *f, struct fr_type_cols *t)
{
	size_t sz = f->type == FR_TYPE_comm ? FR_COMM_SZ : fr_field_sz(f);
	char *at = t->col[f->col].text;
	int err = 0;
	u32 k;

	for (k = 0; k < t->cnt && !err && at; k++)
		if (!clean_leaves(c, ev, k))
			err = clean_in(c, clean_field_form(ev, f), at + k * sz, sz, true);
	return err;
}

/* Put cleaned texts of any length where the column's were. */
static int clean_strings(struct fr_clean *c, const struct fr_event *ev, const struct fr_field *f, struct fr_type_cols *t)
{
	struct fr_col *col = &t->col[f->col];
	struct fr_vec text = {.item_sz = 1};
	size_t room = FR_REC_MAX_SZ - ev->fixed_sz - 1, sz;
	u32 *off = malloc((t->cnt + 1) * sizeof(*off)), k;
	int err = 0;

	if (!off || fr_vec_add(&c->column, &off, 1)) {
		free(off);
		return -ENOMEM;
	}
	for (k = 0; k < t->cnt && !err; k++) {
		size_t len = col->off[k + 1] - col->off[k] - 1;
		const char *is = "";

		off[k] = text.cnt;
		sz = 0;
		if (!clean_leaves(c, ev, k))
			is = fr_pseudo_put(c->names, clean_string_form(ev, f, col->text + col->off[k]), col->text + col->off[k],
					   len, &sz);
		sz = sz > room ? room : sz;
		err = is ? fr_vec_add(&text, is, sz) : -ENOMEM;
		err = err ?: fr_vec_add(&text, "", 1);
	}
	err = err ?: fr_vec_add(&c->column, &text.at, 1);
	if (err) {
		fr_vec_free(&text);
		return err;
	}
	off[t->cnt] = text.cnt;
	col->off = off;
	col->text = text.at;
	return 0;
}

static int learn_strings(struct fr_clean *c, const struct fr_event *ev, const struct fr_field *f, const struct fr_type_cols *t)
{
	const struct fr_col *col = &t->col[f->col];
	int err = 0;
	u32 k;

	for (k = 0; k < t->cnt && !err; k++)
		err = fr_pseudo_learn(c->names, clean_string_form(ev, f, col->text + col->off[k]), col->text + col->off[k],
				      col->off[k + 1] - col->off[k] - 1);
	return err;
}

static bool clean_is_byte(u32 elem)
{
	return elem == FR_TYPE_u8 || elem == FR_TYPE_s8;
}

/* Where an address is in an array of sz bytes, and how long: all of it, or in a struct sockaddr. 0: nowhere. */
static size_t clean_address_at(const u8 *bytes, size_t sz, size_t *at)
{
	u16 family = AF_UNSPEC;

	*at = 0;
	if (sz == FR_ALIAS_IP4 || sz == FR_ALIAS_IP6)
		return sz;
	if (sz >= sizeof(family))
		memcpy(&family, bytes, sizeof(family));
	*at = family == AF_INET ? 4 : 8;
	if (family == AF_INET && sz >= *at + FR_ALIAS_IP4)
		return FR_ALIAS_IP4;
	return family == AF_INET6 && sz >= *at + FR_ALIAS_IP6 ? FR_ALIAS_IP6 : 0;
}

/* An array of bytes: of a struct sockaddr the family, the port and the address are left. */
static void clean_bytes(struct fr_clean *c, u8 *bytes, size_t sz)
{
	u8 address[FR_ALIAS_IP6];
	size_t at, len = clean_address_at(bytes, sz, &at), head = len && at ? 2 * sizeof(u16) : 0;

	memcpy(address, bytes + at, len);
	if (len)
		fr_pseudo_address(c->names, address, len);
	memset(bytes + head, 0, sz - head);
	memcpy(bytes + at, address, len);
}

static void clean_arrays(struct fr_clean *c, const struct fr_field *f, struct fr_type_cols *t)
{
	u8 *at = (u8 *)t->col[f->col].text;
	size_t sz = fr_field_sz(f);
	u32 k;

	for (k = 0; k < t->cnt && at; k++)
		clean_bytes(c, at + k * sz, sz);
}

/*
 * Which arrays may be of somebody: all of bytes, whatever their fields are called. With the size of an address it is one, in
 * network order; the name of a wireless network or a device's address is zeroed. Of words an address alone.
 */
static bool clean_is_array(const struct fr_field *f)
{
	bool is_words = f->elem == FR_TYPE_u32 && fr_field_sz(f) == FR_ALIAS_IP6 && strstr(f->name, "addr");

	return f->type == FR_TYPE_array && (clean_is_byte(f->elem) || is_words);
}

/* A row's data on its way. */
struct clean_data {
	struct fr_clean *c;
	const struct fr_event *ev;
	const struct fr_field *field;
	struct fr_row *row;
	const char *was; /* sz bytes */
	size_t sz;
	char is[FR_REC_MAX_SZ];
	bool done[FR_REC_MAX_SZ]; /* what a word has found, of is */
};

/* What a field finds in data, if no other has found a byte of it: raw bytes of one would undo what is cleaned of the other. */
static int clean_data_field(struct clean_data *d, const struct fr_field *f)
{
	const struct fr_field *word = &d->ev->fields[f->from_idx];
	u64 loc = fr_row_num(d->row, word);
	size_t place = (loc & 0xffff) + (word->style == FR_STYLE_RELLOC ? word->off + sizeof(u32) : FR_TP_AHEAD_SZ);
	size_t len = loc >> 16 & 0xffff;

	if (place < d->field->off || place - d->field->off > d->sz)
		return 0;
	place -= d->field->off;
	len = len < d->sz - place ? len : d->sz - place;
	if (memchr(d->done + place, true, len))
		return 0;
	memset(d->done + place, true, len);
	memcpy(d->is + place, d->was + place, len);
	return f->elem == FR_TYPE_str ? clean_in(d->c, clean_field_form(d->ev, f), d->is + place, len, true) : 0;
}

/*
 * What lies in data: texts are replaced where they are, and first, as of what two fields find the first has it; what no field
 * finds, and bytes that are no numbers, are zeroed.
 */
static int clean_data_of(struct fr_clean *c, const struct fr_event *ev, const struct fr_field *data, struct fr_row *r)
{
	struct clean_data d = {.c = c, .ev = ev, .field = data, .row = r};
	char *at = (char *)fr_row_bytes(r, data, &d.sz);
	bool is_text = true;
	int err = 0;
	u32 i;

	d.was = at;
	d.sz = d.sz < sizeof(d.is) ? d.sz : sizeof(d.is);
	do {
		for (i = 0; i < ev->field_cnt && !err; i++) {
			const struct fr_field *f = &ev->fields[i];

			if (f->kind == FR_KIND_DERIVED && f->rule == FR_RULE_LOC && f->from_idx >= 0 &&
			    !clean_is_byte(f->elem) && (f->elem == FR_TYPE_str) == is_text)
				err = clean_data_field(&d, f);
		}
		is_text = !is_text;
	} while (!is_text);
	if (!c->learns)
		memcpy(at, d.is, d.sz);
	return err;
}

static int clean_data(struct fr_clean *c, const struct fr_event *ev, const struct fr_field *f, const struct fr_batch *b)
{
	struct fr_row r = {.b = b, .ev = ev};
	int err = 0;

	for (r.k = 0; r.k < b->type[ev->nr].cnt && !err; r.k++)
		if (!clean_leaves(c, ev, r.k))
			err = clean_data_of(c, ev, f, &r);
	return err;
}

static int clean_column(struct fr_clean *c, const struct fr_event *ev, const struct fr_field *f, struct fr_batch *b)
{
	struct fr_type_cols *t = &b->type[ev->nr];

	if (f->type == FR_TYPE_str)
		return c->learns ? learn_strings(c, ev, f, t) : clean_strings(c, ev, f, t);
	if (clean_is_text(f))
		return clean_places(c, ev, f, t);
	if (f->type == FR_TYPE_data)
		return clean_data(c, ev, f, b);
	if (!c->learns && clean_is_array(f))
		clean_arrays(c, f, t);
	return 0;
}

static void clean_drop_columns(struct fr_clean *c)
{
	void **at = c->column.at;
	size_t i;

	for (i = 0; i < c->column.cnt; i++)
		free(at[i]);
	c->column.cnt = 0;
}

/* The rows of each event. */
static int clean_list_rows(struct fr_clean *c, const struct fr_batch *b)
{
	u32 nr, i, cnt = 0;

	c->row = malloc(b->row_cnt * sizeof(*c->row));
	if (!c->row || fr_vec_add(&c->column, &c->row, 1)) {
		free(c->row);
		return -ENOMEM;
	}
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		c->first[nr] = cnt;
		cnt += b->type[nr].cnt;
	}
	for (i = 0; i < b->row_cnt; i++)
		c->row[c->first[b->ev[i]] + b->in_type[i]] = i;
	return 0;
}

/* Where rows are follows from the sizes of those before them: before these change, each row gets a run of its own. */
static int clean_keep_places(struct fr_clean *c, struct fr_batch *b)
{
	struct fr_pos_run *run = malloc(b->row_cnt * sizeof(*run));
	u32 i;

	if (!run || fr_vec_add(&c->column, &run, 1)) {
		free(run);
		return -ENOMEM;
	}
	for (i = 0; i < b->row_cnt; i++) {
		run[i].row = i;
		fr_batch_pos(b, i, &run[i].seq, &run[i].off);
	}
	b->run = run;
	b->run_cnt = b->row_cnt;
	*b->walk = (struct fr_pos_walk){.off = run[0].off};
	return 0;
}

int fr_clean_batch(struct fr_clean *c, struct fr_batch *b, const bool *leaves)
{
	int err = 0;
	u32 nr, i;

	clean_drop_columns(c);
	if (!b->row_cnt) /* all rows of a chunk may be of events that the schema lacks */
		return 0;
	c->leaves = leaves;
	if (leaves)
		err = clean_list_rows(c, b);
	if (!c->learns)
		err = err ?: clean_keep_places(c, b);
	for (nr = 0; nr < FR_EVENT_MAX && !err; nr++) {
		const struct fr_event *ev = b->type[nr].cnt ? fr_schema_event(b->schema, nr) : NULL;

		for (i = 0; ev && i < ev->field_cnt && !err; i++)
			if (ev->fields[i].kind == FR_KIND_FIELD)
				err = clean_column(c, ev, &ev->fields[i], b);
	}
	return err;
}

/* ---- the schema ---- */

/* A line about a probe of a program: its sentence is what was asked for. */
static int clean_schema_line(struct fr_clean *c, struct fr_vec *out, const char *line, size_t len)
{
	const char *at = line, *is;
	size_t sz;
	u32 word;

	for (word = 0; word < 5 && at; word++) {
		at = memchr(at, ' ', line + len - at);
		at = at ? at + 1 : NULL;
		if (word == 1 && (!at || strncmp(line, "event ", 6) || fr_up_kind_of(at) == FR_UP_KIND_CNT))
			return fr_vec_add(out, line, len);
	}
	if (!at || at == line + len)
		return fr_vec_add(out, line, len);
	is = fr_pseudo_put(c->names, FR_PSEUDO_RULE, at, line + len - at, &sz);
	if (!is)
		return -ENOMEM;
	return fr_vec_add(out, line, at - line) ?: fr_vec_add(out, is, sz);
}

const struct fr_schema *fr_clean_schema(struct fr_clean *c, const struct fr_schema *s)
{
	size_t sz, at = 0;
	char *text = fr_schema_write(s, &sz);
	struct fr_vec out = {.item_sz = 1};
	struct fr_schema *made = NULL;
	int err = text ? 0 : -ENOMEM;

	while (at < sz && !err) {
		const char *end = memchr(text + at, '\n', sz - at);
		size_t len = end ? (size_t)(end - text) - at : sz - at;

		err = clean_schema_line(c, &out, text + at, len);
		err = err ?: fr_vec_add(&out, "\n", 1);
		at += len + 1;
	}
	err = err ?: fr_schema_parse(out.at, out.cnt, &made);
	if (!err && fr_vec_add(&c->schema, &made, 1)) {
		fr_schema_free(made);
		err = -ENOMEM;
	}
	free(text);
	fr_vec_free(&out);
	return err ? NULL : made;
}

/* ---- metadata ---- */

static bool clean_is_kernel(const struct fr_snap_task *t)
{
	return t->task.flags & FR_TASK_KTHREAD;
}

static int clean_tasks(struct fr_clean *c, struct fr_snap_task *t, size_t cnt)
{
	int err = 0;
	size_t i;

	for (i = 0; i < cnt && !err; i++) {
		err = clean_in(c, FR_PSEUDO_NAME, t[i].task.comm, FR_COMM_SZ, true);
		err = err ?: clean_in(c, FR_PSEUDO_NAME, t[i].task.first_comm, FR_COMM_SZ, true);
	}
	return err;
}

static int clean_incidents(struct fr_clean *c, struct fr_snap_incident *inc, size_t cnt)
{
	int err = 0;
	size_t i;

	for (i = 0; i < cnt && !err; i++) {
		struct fr_incident *rec = &inc[i].rec;
		char *sender = (char *)fr_incident_sender(rec);
		enum fr_pseudo_form form = FR_PSEUDO_WORDS;

		if (rec->kind == FR_INCIDENT_kernel)
			form = FR_PSEUDO_TEXT;
		else if (rec->kind == FR_INCIDENT_signal || rec->kind == FR_INCIDENT_oom || rec->kind == FR_INCIDENT_hung)
			form = FR_PSEUDO_PATH;
		err = clean_in(c, FR_PSEUDO_NAME, rec->comm, sizeof(rec->comm), true);
		err = err ?: clean_in(c, form, rec->text, sender ? FR_INCIDENT_SENDER_AT : sizeof(rec->text), true);
		if (sender)
			err = err ?: clean_in(c, FR_PSEUDO_NAME, sender, FR_COMM_SZ, true);
	}
	return err;
}

/* What processes made for themselves: names of their own code. */
static int form_of_symbol(const void *item)
{
	const struct fr_snap_symbol *y = item;

	return y->pid && !y->module ? FR_PSEUDO_NAME : CLEAN_KEEP;
}

static int form_of_mapping(const void *item)
{
	const struct fr_snap_mapping *m = item;

	return m->path && m->path[0] == '[' ? CLEAN_KEEP : FR_PSEUDO_PATH;
}

static int form_of_state(const void *item)
{
	(void)item;
	return FR_PSEUDO_OBJECT;
}

/* What programs wrote to the kernel's log is theirs. */
static int form_of_klog(const void *item)
{
	return ((const struct fr_snap_klog *)item)->facility ? FR_PSEUDO_WORDS : FR_PSEUDO_TEXT;
}

/* Names that the kernel gives stay, and those that a program gave to its memory go. */
static int form_of_mapped(const struct fr_snap_scene *n)
{
	if (!n->text || n->text[0] != '[' || n->value[2] & FR_MAP_FILE)
		return FR_PSEUDO_PATH;
	return strncmp(n->text, "[anon:", 6) ? CLEAN_KEEP : FR_PSEUDO_NAME;
}

/* What descriptors stand for, what is mapped, names of threads. What a later version has is taken for a command line. */
static int form_of_scene(const void *item)
{
	const struct fr_snap_scene *n = item;

	switch (n->what) {
	case FR_SCENE_descriptor:
		return FR_PSEUDO_OBJECT;
	case FR_SCENE_mapping:
		return form_of_mapped(n);
	case FR_SCENE_build_id:
		return CLEAN_KEEP;
	case FR_SCENE_thread:
		return FR_PSEUDO_NAME;
	default:
		return FR_PSEUDO_WORDS;
	}
}

/* Lists whose items have a text. */
static const struct clean_list {
	size_t list, text; /* in struct fr_meta, a vector; in its items, a const char * */
	int (*form_of)(const void *item);
} clean_lists[] = {
	{offsetof(struct fr_meta, symbol), offsetof(struct fr_snap_symbol, name), form_of_symbol},
	{offsetof(struct fr_meta, mapping), offsetof(struct fr_snap_mapping, path), form_of_mapping},
	{offsetof(struct fr_meta, state), offsetof(struct fr_snap_state, object), form_of_state},
	{offsetof(struct fr_meta, klog), offsetof(struct fr_snap_klog, text), form_of_klog},
	{offsetof(struct fr_meta, scene), offsetof(struct fr_snap_scene, text), form_of_scene},
};

static int clean_list(struct fr_clean *c, const struct clean_list *l, struct fr_meta *m)
{
	const struct fr_vec *v = (const struct fr_vec *)((char *)m + l->list);
	int err = 0, form;
	size_t i;

	for (i = 0; i < v->cnt && !err; i++) {
		char *item = (char *)v->at + i * v->item_sz;

		form = l->form_of(item);
		if (form != CLEAN_KEEP)
			err = clean_text(c, form, (const char **)(item + l->text));
	}
	return err;
}

static int clean_counters(struct fr_clean *c, struct fr_counters *counters)
{
	struct fr_counter_series *s = counters->series.at;
	size_t i, sz;

	for (i = 0; i < counters->series.cnt; i++) {
		const char *is;

		if (s[i].object[0] != '/')
			continue;
		if (c->learns) {
			if (fr_pseudo_learn(c->names, FR_PSEUDO_PATH, s[i].object, strlen(s[i].object)))
				return -ENOMEM;
			continue;
		}
		is = fr_pseudo_put(c->names, FR_PSEUDO_PATH, s[i].object, strlen(s[i].object), &sz);
		is = is ? strndup(is, FR_COUNTERS_OBJECT_MAX) : NULL;
		if (!is)
			return -ENOMEM;
		free(s[i].object);
		s[i].object = (char *)is;
	}
	return 0;
}

/* *prof becomes *ours, a copy. */
static int clean_profile(struct fr_clean *c, const struct fr_prof **prof, struct fr_prof **ours)
{
	int err = 0;
	u32 i;

	if (!*prof)
		return 0;
	free(*ours);
	*ours = malloc(sizeof(**ours));
	if (!*ours)
		return -ENOMEM;
	memcpy(*ours, *prof, sizeof(**ours));
	for (i = 0; i < (*ours)->key_cnt && !err; i++)
		err = clean_in(c, FR_PSEUDO_NAME, (*ours)->key[i].comm, sizeof((*ours)->key[i].comm), true);
	*prof = *ours;
	return err;
}

int fr_clean_meta(struct fr_clean *c, struct fr_meta *m)
{
	int err = clean_tasks(c, m->task.at, m->task.cnt);
	size_t i;

	err = err ?: clean_incidents(c, m->incident.at, m->incident.cnt);
	for (i = 0; i < sizeof(clean_lists) / sizeof(clean_lists[0]); i++)
		err = err ?: clean_list(c, &clean_lists[i], m);
	err = err ?: clean_profile(c, &m->prof, &c->prof) ?: clean_profile(c, &m->blocked, &c->blocked);
	return err ?: clean_counters(c, &m->counters);
}

/* ---- lines about processes, cgroups and containers ---- */

static int clean_member(struct fr_clean *c, struct fr_out *o, const struct fr_jsonr_member *m)
{
	int form = clean_form_of(clean_keys, m->key);
	const char *is;
	size_t sz;

	if (c->learns)
		return m->type == FR_JSONR_TEXT ? fr_pseudo_learn(c->names, form, m->text, strlen(m->text)) : 0;
	fr_out_char(o, '"');
	fr_escape_json(o, m->key, strlen(m->key));
	fr_out_str(o, "\":");
	if (m->type == FR_JSONR_TEXT) {
		is = fr_pseudo_put(c->names, form, m->text, strlen(m->text), &sz);
		if (!is)
			return -ENOMEM;
		fr_out_char(o, '"');
		fr_escape_json(o, is, sz);
		fr_out_char(o, '"');
	} else if (m->type == FR_JSONR_INT) {
		fr_out_str(o, m->negative ? "-" : "");
		fr_out_u64(o, m->number);
	} else {
		fr_out_str(o, m->type == FR_JSONR_NULL ? "null" : m->number ? "true" : "false");
	}
	return 0;
}

/* A line that cannot be read is left out: nobody knows what names it has. */
static int clean_line(struct fr_clean *c, struct fr_out *o, const char *line, size_t len)
{
	struct fr_jsonr j;
	const char *why;
	int err = fr_jsonr_parse(line, len, &j, &why);
	u32 i;

	if (err)
		return err == -ENOMEM ? err : 0;
	for (i = 0; i < j.cnt && !err; i++) {
		if (!c->learns)
			fr_out_char(o, i ? ',' : '{');
		err = clean_member(c, o, &j.member[i]);
	}
	if (!c->learns && j.cnt)
		fr_out_str(o, "}\n");
	fr_jsonr_free(&j);
	return err;
}

static int clean_each_line(struct fr_clean *c, struct fr_out *o, const char *text, size_t sz)
{
	size_t at = 0;
	int err = 0;

	while (at < sz && !err) {
		const char *end = memchr(text + at, '\n', sz - at);
		size_t len = end ? (size_t)(end - text) - at : sz - at;

		err = clean_line(c, o, text + at, len);
		at += len + 1;
	}
	return err;
}

int fr_clean_lines(struct fr_clean *c, struct fr_vec *text)
{
	struct fr_out *o = malloc(sizeof(*o));
	char *is = NULL;
	size_t sz;
	int err;

	if (!o)
		return -ENOMEM;
	fr_out_init_mem(o);
	err = clean_each_line(c, o, text->at, text->cnt);
	is = fr_out_take_mem(o, &sz);
	err = is ? err : -ENOMEM;
	if (!err) {
		fr_vec_free(text);
		fr_vec_own(text, is, sz);
	} else {
		free(is);
	}
	free(o);
	return err;
}

/* ---- learning ---- */

static int learn_facts(struct fr_clean *c, const struct fr_snap *s)
{
	const char *name, *value;
	int err = 0, form;
	size_t i;

	for (i = 0; !err && (value = fr_snap_fact_at(s, i, &name)); i++) {
		form = clean_fact_form(name);
		if (form != CLEAN_KEEP && form != FR_PSEUDO_TEXT)
			err = fr_pseudo_learn(c->names, form, value, strlen(value));
	}
	return err;
}

static int keep_word(struct fr_clean *c, const char *word)
{
	return word ? fr_pseudo_keep_in_rules(c->names, word, strlen(word)) : 0;
}

/* In a rule it has several words, tp:sys:it. */
static int keep_event_name(struct fr_clean *c, const char *name)
{
	int err = 0;
	size_t len;

	for (; *name && !err; name += len + !!name[len]) {
		len = strcspn(name, ":");
		err = fr_pseudo_keep_in_rules(c->names, name, len);
	}
	return err;
}

/* Kinds of kernel threads are everybody's; in rules, names of events, fields and calls. */
static int learn_kept(struct fr_clean *c, const struct fr_snap *s)
{
	const char *arch = fr_snap_fact(s, "arch") ?: "";
	const struct fr_schema *schema = fr_snap_schema(s);
	size_t cnt, i;
	const struct fr_snap_task *t = fr_snap_tasks(s, &cnt);
	int err = 0;
	u32 nr, f;

	for (i = 0; i < cnt && !err; i++) {
		if (!clean_is_kernel(&t[i]))
			continue;
		err = fr_pseudo_keep_kernel(c->names, t[i].task.comm, strnlen(t[i].task.comm, FR_COMM_SZ));
		err = err ?: fr_pseudo_keep_kernel(c->names, t[i].task.first_comm, strnlen(t[i].task.first_comm, FR_COMM_SZ));
	}
	for (nr = 0; nr < FR_EVENT_MAX && !err; nr++) {
		const struct fr_event *ev = fr_schema_event(schema, nr);

		if (!ev)
			continue;
		err = keep_event_name(c, ev->name);
		for (f = 0; f < ev->field_cnt && !err; f++)
			err = keep_word(c, ev->fields[f].name);
	}
	for (i = 0; i < 2 * FR_SYSCALL_MAX && !err; i++)
		err = keep_word(c, fr_syscall_name(arch, i / FR_SYSCALL_MAX, i % FR_SYSCALL_MAX));
	return err;
}

static int learn_rows(struct fr_clean *c, struct fr_snap *s)
{
	size_t first, context_cnt, cnt, i;
	struct fr_batch b = {0};
	int err = 0;

	fr_snap_chunks(s, &cnt);
	fr_snap_context(s, &first, &context_cnt);
	for (i = 0; i < (context_cnt ? first + context_cnt : cnt) && !err; i++) {
		err = fr_snap_read_chunk(s, i, &b);
		err = err ?: fr_clean_batch(c, &b, NULL);
		err = err == -EBADMSG ? 0 : err;
	}
	fr_batch_free(&b);
	return err;
}

int fr_clean_secrets(struct fr_clean *c, const struct fr_snap *s)
{
	int err = fr_redact_adds(fr_snap_fact(s, "redact"), &c->secret) ?: fr_vec_add(&c->secret, "", 1);

	if (err)
		return err;
	c->secret.cnt--; /* the NUL, which the next part's words replace */
	fr_pseudo_secrets(c->names, c->secret.at);
	return 0;
}

int fr_clean_learn(struct fr_clean *c, struct fr_snap *s)
{
	struct fr_meta m;
	size_t sz;
	const char *lines = fr_snap_procs(s, &sz);
	int err = learn_kept(c, s);

	c->learns = true;
	fr_meta_init(&m);
	err = err ?: fr_meta_take(&m, s, NULL);
	fr_meta_take_profiles(&m, s);
	err = err ?: learn_facts(c, s);
	err = err ?: fr_clean_meta(c, &m);
	err = err ?: clean_each_line(c, NULL, lines, sz);
	err = err ?: learn_rows(c, s);
	fr_meta_free(&m);
	c->learns = false;
	return err;
}

/* ---- life ---- */

static int clean_read_key(const char *path, struct fr_alias_key *key)
{
	char bytes[FR_CLEAN_KEY_MOST + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	size_t sz = 0;
	ssize_t n = -1;

	while (fd >= 0 && sz < sizeof(bytes) && (n = read(fd, bytes + sz, sizeof(bytes) - sz)) > 0)
		sz += n;
	err = n < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	if (err) {
		fr_err_errno(err, "--redact-key: cannot read %s", path);
		return err;
	}
	if (sz < FR_CLEAN_KEY_LEAST || sz > FR_CLEAN_KEY_MOST) {
		fr_err("--redact-key: %s has %s than %u bytes: make one with `head -c 32 /dev/urandom > FILE`, and keep it "
		       "secret",
		       path, sz < FR_CLEAN_KEY_LEAST ? "fewer" : "more",
		       sz < FR_CLEAN_KEY_LEAST ? FR_CLEAN_KEY_LEAST : FR_CLEAN_KEY_MOST);
		return -EINVAL;
	}
	fr_alias_key_of(bytes, sz, key);
	explicit_bzero(bytes, sizeof(bytes));
	return 0;
}

/* A signal's name as rules may have it: SIGSEGV, SEGV, segv. */
static int clean_keep_signal(struct fr_clean *c, const char *name)
{
	char small[FR_NAME_MAX + 1] = "";
	size_t i;

	for (i = 0; name[i] && i < sizeof(small) - 1; i++)
		small[i] = tolower(name[i]);
	return keep_word(c, name) ?: keep_word(c, name + 3) ?: keep_word(c, small) ?: keep_word(c, small + 3);
}

/* Names of signals and errors. */
static int clean_keep_numbers(struct fr_clean *c)
{
	int err = clean_keep_signal(c, "SIGRTMIN");
	s64 nr;

	for (nr = 1; nr < 32 && !err; nr++)
		err = fr_signal_name(nr) ? clean_keep_signal(c, fr_signal_name(nr)) : 0;
	for (nr = 1; nr <= FR_ERRNO_MAX && !err; nr++)
		err = keep_word(c, fr_errno_name(nr));
	return err;
}

/* What fields call their numbers: states, origins of signals, softirqs. Calls are learned, by the machine. */
static int clean_keep_constants(struct fr_clean *c)
{
	struct fr_sys sys = {NULL, 0};
	int err = 0;
	u32 style;
	s64 v;

	for (style = 0; style < FR_STYLE_CNT; style++)
		for (v = -CLEAN_CONSTANT_MAX; fr_sysname_style(style) && v <= CLEAN_CONSTANT_MAX && !err; v++)
			err = keep_word(c, fr_sysname(&sys, style, v));
	return err;
}

/* Those of a list, up to its end; the name of a number that is none may be NULL. */
static int clean_keep_list(struct fr_clean *c, const char *(*name)(u32 nr), u32 first, u32 cnt)
{
	int err = 0;
	u32 i;

	for (i = first; i < cnt && !err; i++)
		err = keep_word(c, name(i));
	return err;
}

static int clean_keep_all(struct fr_clean *c, const char *(*name)(u32 i))
{
	int err = 0;
	u32 i;

	for (i = 0; name(i) && !err; i++)
		err = keep_word(c, name(i));
	return err;
}

/* Words that rules, filters and options are made of, beside those that have a list. */
static int clean_keep_words(struct fr_clean *c)
{
	static const char *const word[] = {"tp", "if", "yes", "no", "all",     "some",	  "ns",	  "us",	     "ms",
					   "s",	 "m",  "h",   "d",  "minimal", "default", "full", "defaults"};
	int err = fr_pseudo_keep(c->names, "deleted", strlen("deleted")); /* behind a file's name */
	size_t i;

	for (i = 0; i < sizeof(word) / sizeof(word[0]) && !err; i++)
		err = keep_word(c, word[i]);
	err = err ?: clean_keep_list(c, fr_trigger_kind_name, 1, FR_TRIGGER_KIND_CNT);
	err = err ?: clean_keep_list(c, fr_latency_name, 0, FR_LATENCY_CNT);
	err = err ?: clean_keep_list(c, fr_rate_name, 0, FR_RATE_CNT);
	err = err ?: clean_keep_list(c, fr_up_kind_name, 0, FR_UP_KIND_CNT);
	err = err ?: clean_keep_list(c, fr_tier_name, 0, FR_TIER_CNT);
	err = err ?: clean_keep_list(c, fr_group_name, 0, FR_GROUP_CNT);
	err = err ?: clean_keep_all(c, fr_filter_word);
	err = err ?: clean_keep_all(c, fr_trigger_key_name);
	err = err ?: clean_keep_all(c, fr_trigger_psi_name);
	err = err ?: clean_keep_all(c, fr_trigger_latency_other);
	err = err ?: clean_keep_constants(c);
	return err ?: clean_keep_numbers(c);
}

int fr_clean_new(const char *key_path, struct fr_clean **out)
{
	struct fr_clean *c = calloc(1, sizeof(*c));
	struct fr_alias_key key;
	int err = c ? 0 : -ENOMEM;

	if (!err && key_path)
		err = clean_read_key(key_path, &key);
	else if (!err)
		err = getrandom(&key, sizeof(key), 0) == sizeof(key) ? 0 : -errno;
	if (!err) {
		c->text.item_sz = c->column.item_sz = c->schema.item_sz = sizeof(void *);
		c->secret.item_sz = 1;
		c->names = fr_pseudo_new(&key);
		err = c->names ? clean_keep_words(c) : -ENOMEM;
	}
	if (err) {
		fr_clean_free(c);
		return err;
	}
	*out = c;
	return 0;
}

void fr_clean_free(struct fr_clean *c)
{
	char **text;
	struct fr_schema **schema;
	size_t i;

	if (!c)
		return;
	clean_drop_columns(c);
	for (i = 0, text = c->text.at; i < c->text.cnt; i++)
		free(text[i]);
	for (i = 0, schema = c->schema.at; i < c->schema.cnt; i++)
		fr_schema_free(schema[i]);
	fr_vec_free(&c->text);
	fr_vec_free(&c->column);
	fr_vec_free(&c->schema);
	fr_vec_free(&c->secret);
	fr_pseudo_free(c->names);
	free(c->prof);
	free(c->blocked);
	free(c);
}

u64 fr_clean_secret_cnt(const struct fr_clean *c)
{
	return fr_pseudo_secret_cnt(c->names);
}

u64 fr_clean_name_cnt(const struct fr_clean *c)
{
	return fr_pseudo_name_cnt(c->names);
}
