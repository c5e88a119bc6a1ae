/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules DIR: files that break one rule of docs/format.md each, and are right in everything else: `verify` finds each.
 * GOLDEN in the environment names a sound file with a chunk of each kind.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "fuzz/decoded.h"
#include "read/replay/check.h"

#define FILE_MAX_SZ (4u << 20)

static u8 golden[FILE_MAX_SZ], made[FILE_MAX_SZ];
static size_t golden_sz;

static struct decoded_chunk *of_kind(struct decoded *d, u32 kind)
{
	u32 i;

	for (i = 0; i < d->cnt && d->chunk[i].head.kind != kind; i++)
		;
	if (i == d->cnt)
		abort();
	return &d->chunk[i];
}

static void append(struct decoded_chunk *c, const void *p, size_t sz)
{
	c->content = realloc(c->content, c->sz + sz + 1);
	memcpy(c->content + c->sz, p, sz);
	c->sz += sz;
}

static void nothing(struct decoded *d)
{
	(void)d;
}

/* The name of the first symbol is the last NUL of the texts: within them, and empty. */
static void empty_name(struct decoded *d)
{
	struct decoded_chunk *c = of_kind(d, FR_CHUNK_SYMBOLS);
	struct fr_list_head h;
	u32 name;

	memcpy(&h, c->content, sizeof(h));
	name = c->sz - sizeof(h) - h.cnt * h.entry_sz - 1;
	memcpy(c->content + sizeof(h) + offsetof(struct fr_symbol_entry, name), &name, sizeof(name));
}

/* The first state, changed at an offset. */
static void change_state(struct decoded *d, size_t off, const void *v, size_t sz)
{
	memcpy(of_kind(d, FR_CHUNK_STATES)->content + sizeof(struct fr_list_head) + off, v, sz);
}

static void late_state(struct decoded *d)
{
	const u64 at_ns = 3;

	change_state(d, offsetof(struct fr_state_entry, at_ns), &at_ns, sizeof(at_ns));
}

static void two_states(struct decoded *d)
{
	const u16 both = 3;

	change_state(d, offsetof(struct fr_state_entry, state), &both, sizeof(both));
}

static void no_call(struct decoded *d)
{
	const s32 none = -1;

	change_state(d, offsetof(struct fr_state_entry, id), &none, sizeof(none));
}

static void no_object(struct decoded *d)
{
	const u32 off = 1u << 20;

	change_state(d, offsetof(struct fr_state_entry, object), &off, sizeof(off));
}

static void no_checksum(struct decoded *d)
{
	of_kind(d, FR_CHUNK_TASKS)->unsummed = true;
}

static void unknown_no_checksum(struct decoded *d)
{
	struct decoded_chunk *c = of_kind(d, FR_CHUNK_TASKS);

	c->head.kind = 4711;
	c->unsummed = true;
}

static void extra_bytes(struct decoded *d)
{
	of_kind(d, FR_CHUNK_TASKS)->extra_sz = 8;
}

static void gap(struct decoded *d)
{
	d->gap_sz = 8;
}

static void number(struct decoded *d)
{
	d->chunk[d->cnt - 1].head.nr += 5;
}

static void index_kind(struct decoded *d)
{
	d->index_kind_add = 1;
}

static void index_head(struct decoded *d)
{
	d->index_head_add = 16;
}

static void index_off(struct decoded *d)
{
	d->index_off_add = 8;
}

static void two_indexes(struct decoded *d)
{
	d->two_indexes = true;
}

static void late_chunk(struct decoded *d)
{
	d->late_chunk = true;
}

static void schema_hash(struct decoded *d)
{
	d->head.schema_hash ^= 1;
}

static void no_schema(struct decoded *d)
{
	of_kind(d, FR_CHUNK_SCHEMA)->head.kind = 4711;
}

static void late_schema(struct decoded *d)
{
	struct decoded_chunk first = d->chunk[0];

	d->chunk[0] = d->chunk[1];
	d->chunk[1] = first;
	d->chunk[0].head.nr = 0;
	d->chunk[1].head.nr = 1;
}

static void fact_without_value(struct decoded *d)
{
	append(of_kind(d, FR_CHUNK_FACTS), "alone\n", 6);
}

static void many_facts(struct decoded *d)
{
	u32 i;

	for (i = 0; i < 1000; i++)
		append(of_kind(d, FR_CHUNK_FACTS), "more=1\n", 7);
}

static void nul_in_processes(struct decoded *d)
{
	struct decoded_chunk *c = of_kind(d, FR_CHUNK_HOLES);

	c->head.kind = FR_CHUNK_PROCS;
	c->sz = 0;
	append(c, "{\"pid\":1}\0\n", 11);
}

static void first_off(struct decoded *d)
{
	of_kind(d, FR_CHUNK_EVENTS)->extra[offsetof(struct fr_events_head, first_off)] ^= 8;
}

static const struct {
	const char *what;
	void (*breaks)(struct decoded *d);
} rules[] = {
	{"a symbol's name that is empty", empty_name},
	{"a state since a time behind its own", late_state},
	{"a task in two states", two_states},
	{"a task in a call without a number", no_call},
	{"an object behind the texts", no_object},
	{"a frame without checksum", no_checksum},
	{"the same of an unknown kind", unknown_no_checksum},
	{"bytes behind the header of a chunk that is no events", extra_bytes},
	{"bytes between two parts", gap},
	{"a chunk with another number", number},
	{"an index with another kind", index_kind},
	{"an index with another size of a header", index_head},
	{"a trailer that has the index elsewhere", index_off},
	{"two indexes", two_indexes},
	{"a chunk behind the index", late_chunk},
	{"a schema with another hash", schema_hash},
	{"no schema", no_schema},
	{"a schema that is not the first chunk", late_schema},
	{"a fact without value", fact_without_value},
	{"more facts than a file may have", many_facts},
	{"a NUL among the processes", nul_in_processes},
	{"a first row elsewhere than its header says", first_off},
};

/* Findings in the golden file, changed like that. */
static size_t findings(const char *path, void (*breaks)(struct decoded *d))
{
	struct fr_check check = {};
	struct fr_snap *s;
	struct decoded d;
	size_t n;
	int fd;

	if (!decoded_read(&d, golden, golden_sz))
		abort();
	breaks(&d);
	n = decoded_write(&d, made, sizeof(made));
	decoded_free(&d);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (!n || fd < 0 || write(fd, made, n) != (ssize_t)n || close(fd) || fr_snap_open(path, &s))
		abort();
	if (fr_check_snap(s, &check))
		abort();
	n = check.finding_cnt;
	fr_check_free(&check);
	fr_snap_close(s);
	return n;
}

int main(int argc, char **argv)
{
	const char *name = getenv("GOLDEN");
	u32 i, passed = 0, cnt = sizeof(rules) / sizeof(*rules);
	char path[4096];
	bool ok;
	FILE *f = fopen(name ? name : "tests/files/golden/all.flight", "r");

	if (argc != 2 || !f)
		return 2;
	golden_sz = fread(golden, 1, sizeof(golden), f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/rule.flight", argv[1]);
	ok = !findings(path, nothing);
	passed += ok;
	printf("%s taken apart and put together, a file is sound\n", ok ? "ok  " : "FAIL");
	for (i = 0; i < cnt; i++) {
		ok = findings(path, rules[i].breaks);
		passed += ok;
		printf("%s verify finds: %s\n", ok ? "ok  " : "FAIL", rules[i].what);
	}
	unlink(path);
	printf("%u passed, %u failed, 0 skipped\n", passed, cnt + 1 - passed);
	return passed != cnt + 1;
}
