/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/alias.h"

#include <string.h>

#include "base/text/digits.h"

/* Kinds of names have hashes of their own, so that the alias of an address says nothing about a word. */
enum alias_kind { ALIAS_OF_NAME = 1, ALIAS_OF_HEX, ALIAS_OF_IP4, ALIAS_OF_IP6 };

struct sip {
	u64 v0, v1, v2, v3;
};

static u64 sip_turn(u64 x, u32 by)
{
	return x << by | x >> (64 - by);
}

static void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v1 = sip_turn(s->v1, 13) ^ s->v0;
	s->v0 = sip_turn(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = sip_turn(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = sip_turn(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = sip_turn(s->v1, 17) ^ s->v2;
	s->v2 = sip_turn(s->v2, 32);
}

static void sip_take(struct sip *s, u64 word)
{
	s->v3 ^= word;
	sip_round(s);
	sip_round(s);
	s->v0 ^= word;
}

u64 fr_alias_hash(const struct fr_alias_key *key, const void *bytes, size_t sz)
{
	struct sip s = {key->word[0] ^ 0x736f6d6570736575ULL, key->word[1] ^ 0x646f72616e646f6dULL,
			key->word[0] ^ 0x6c7967656e657261ULL, key->word[1] ^ 0x7465646279746573ULL};
	const u8 *at = bytes;
	u64 word = 0;
	size_t left = sz;
	u32 i;

	for (; left >= 8; left -= 8, at += 8) {
		memcpy(&word, at, 8);
		sip_take(&s, word);
	}
	word = (u64)sz << 56;
	for (i = 0; i < left; i++)
		word |= (u64)at[i] << 8 * i;
	sip_take(&s, word);
	s.v2 ^= 0xff;
	for (i = 0; i < 4; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/* The key for a kind of names. */
static struct fr_alias_key alias_key(const struct fr_alias_key *key, u64 kind)
{
	return (struct fr_alias_key){{key->word[0], key->word[1] ^ kind}};
}

void fr_alias_key_of(const void *bytes, size_t sz, struct fr_alias_key *out)
{
	static const struct fr_alias_key lower = {{1, 0}}, upper = {{2, 0}};

	out->word[0] = fr_alias_hash(&lower, bytes, sz);
	out->word[1] = fr_alias_hash(&upper, bytes, sz);
}

void fr_alias_name(const struct fr_alias_key *key, const char *name, size_t len, char out[FR_ALIAS_LEN])
{
	static const char digit[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	struct fr_alias_key of_names = alias_key(key, ALIAS_OF_NAME);
	u64 hash = fr_alias_hash(&of_names, name, len);
	u32 i;

	out[0] = FR_ALIAS_MARK;
	for (i = 1; i < FR_ALIAS_LEN; i++, hash /= 62)
		out[i] = digit[hash % 62];
}

void fr_alias_hex(const struct fr_alias_key *key, char *text, size_t len)
{
	static const char digit[] = "0123456789abcdef";
	struct fr_alias_key of_digits = alias_key(key, ALIAS_OF_HEX);
	u64 hash = 0;
	size_t i, cnt = 0;

	/* each digit's follows from those before it, and from all of them */
	for (i = 0; i < len; i++)
		if (fr_hex_digit(text[i]) >= 0)
			hash = fr_alias_hash(&of_digits, &(u64){hash ^ (u64)fr_hex_digit(text[i])}, sizeof(u64));
	for (i = 0; i < len; i++) {
		if (fr_hex_digit(text[i]) < 0)
			continue;
		if (cnt++ % 16 == 0)
			hash = fr_alias_hash(&of_digits, &hash, sizeof(hash));
		text[i] = digit[hash >> cnt % 16 * 4 & 15];
	}
}

static void alias_ip4(const struct fr_alias_key *key, u8 address[FR_ALIAS_IP4])
{
	struct fr_alias_key of_ip4 = alias_key(key, ALIAS_OF_IP4);
	u64 hash = fr_alias_hash(&of_ip4, address, FR_ALIAS_IP4);
	static const u8 none[FR_ALIAS_IP4];

	if (address[0] == 127 || !memcmp(address, none, sizeof(none)))
		return;
	memcpy(address, &hash, FR_ALIAS_IP4);
	address[0] |= 0xf0;
}

void fr_alias_address(const struct fr_alias_key *key, u8 *address, size_t sz)
{
	static const u8 none[FR_ALIAS_IP6], mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	struct fr_alias_key of_ip6 = alias_key(key, ALIAS_OF_IP6);
	u64 hash;

	if (sz == FR_ALIAS_IP4) {
		alias_ip4(key, address);
		return;
	}
	if (!memcmp(address, mapped, sizeof(mapped))) {
		alias_ip4(key, address + sizeof(mapped));
		return;
	}
	if (!memcmp(address, none, FR_ALIAS_IP6 - 1) && address[FR_ALIAS_IP6 - 1] <= 1)
		return;
	hash = fr_alias_hash(&of_ip6, address, FR_ALIAS_IP6);
	memset(address, 0, FR_ALIAS_IP6);
	address[0] = 1;
	memcpy(address + 8, &hash, sizeof(hash));
}
