/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * replay COUNT FILE...: give a fuzz target each of these inputs, and COUNT mutations of each. Linked with a target instead of
 * libFuzzer, it needs no clang, and always tries the same: neither chance nor time decides. What is tried is said before, as
 * the target may end the program: `replay COUNT FILE` tries the same of one file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPLAY_ROOM   4096 /* bytes by which a mutation may be longer: compressed anew, it may be, too */
#define REPLAY_INSERT 512  /* and what is inserted */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);
size_t LLVMFuzzerMutate(uint8_t *data, size_t sz, size_t max_sz);
/* of a target whose inputs need their hashes put right */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t sz, size_t max_sz, unsigned seed) __attribute__((weak));

static uint64_t replay_state;

/* splitmix64 */
static uint64_t replay_next(void)
{
	uint64_t z = replay_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static size_t replay_insert(uint8_t *data, size_t sz, size_t max_sz)
{
	size_t at = replay_next() % (sz + 1), n = 1 + replay_next() % REPLAY_INSERT, from;

	if (!sz || n > max_sz - sz || n > sz)
		return sz;
	from = replay_next() % (sz - n + 1);
	memmove(data + at + n, data + at, sz - at);
	memmove(data + at, data + from, n);
	return sz + n;
}

static size_t replay_remove(uint8_t *data, size_t sz)
{
	size_t at = replay_next() % sz, n = 1 + replay_next() % (sz - at);

	memmove(data + at, data + at + n, sz - at - n);
	return sz - n;
}

static void replay_number(uint8_t *data, size_t sz)
{
	static const uint64_t number[] = {0, 1, 127, 128, 255, 1 << 16, 1u << 31, UINT32_MAX, INT64_MAX, UINT64_MAX};
	size_t n = 1 << replay_next() % 4, i;
	uint64_t v = number[replay_next() % (sizeof(number) / sizeof(*number))];
	uint8_t *at;

	if (n > sz)
		return;
	at = data + replay_next() % (sz - n + 1);
	for (i = 0; i < n; i++)
		at[i] = v >> 8 * i;
}

/* What libFuzzer offers to a target's own mutator. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t sz, size_t max_sz)
{
	unsigned times = 1 + replay_next() % 4;

	while (times-- && sz) {
		switch (replay_next() % 8) {
		case 0:
			sz = replay_insert(data, sz, max_sz);
			break;
		case 1:
			sz = replay_remove(data, sz);
			break;
		case 2:
		case 3:
			replay_number(data, sz);
			break;
		default:
			data[replay_next() % sz] ^= 1 << replay_next() % 8;
		}
	}
	return sz;
}

static uint8_t *replay_read(const char *path, size_t *sz)
{
	FILE *f = fopen(path, "r");
	uint8_t *data = NULL;
	long end;

	if (f && !fseek(f, 0, SEEK_END) && (end = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET)) {
		data = malloc(end + REPLAY_ROOM);
		*sz = data ? fread(data, 1, end, f) : 0;
	}
	if (f)
		fclose(f);
	return data;
}

/* In a buffer of exactly its size, so that the sanitizer sees each byte that is read beyond it. */
static void replay_try(const uint8_t *data, size_t sz)
{
	uint8_t *exact = malloc(sz ? sz : 1);

	if (!exact)
		abort();
	memcpy(exact, data, sz);
	LLVMFuzzerTestOneInput(exact, sz);
	free(exact);
}

/* FR_FIRST=N: other ones than usual, from the N-th on. */
static unsigned replay_first(void)
{
	const char *first = getenv("FR_FIRST");

	return first ? strtoul(first, NULL, 10) : 1;
}

static int replay_file(const char *path, unsigned cnt)
{
	size_t sz, n;
	uint8_t *data = replay_read(path, &sz), *mutated = data ? malloc(sz + REPLAY_ROOM) : NULL;
	unsigned i, first = replay_first();

	if (!mutated) {
		fprintf(stderr, "%s: cannot be read\n", path);
		free(data);
		return -1;
	}
	dprintf(STDERR_FILENO, "%s\n", path);
	replay_try(data, sz);
	for (i = first; i < first + cnt; i++) {
		replay_state = i;
		memcpy(mutated, data, sz);
		n = LLVMFuzzerCustomMutator ? LLVMFuzzerCustomMutator(mutated, sz, sz + REPLAY_ROOM, i)
					    : LLVMFuzzerMutate(mutated, sz, sz + REPLAY_ROOM);
		dprintf(STDERR_FILENO, "%s, mutation %u\n", path, i);
		replay_try(mutated, n);
	}
	free(mutated);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 3) {
		fprintf(stderr, "usage: replay COUNT FILE...\n");
		return 1;
	}
	for (i = 2; i < argc; i++) {
		if (replay_file(argv[i], strtoul(argv[1], NULL, 10)))
			return 1;
	}
	dprintf(STDERR_FILENO, "%u inputs, and %s mutations of each\n", argc - 2, argv[1]);
	return 0;
}
