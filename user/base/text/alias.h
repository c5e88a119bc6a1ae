/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * alias: names that stand for names. With one key, a name has one alias, in all files; who has not the key cannot
 * tell which name it is, not even by trying names. Pure.
 *
 *	billing-server		~k3Vx0QmT
 *	10.1.2.3		241.7.93.12	an address that nobody has (240.0.0.0/4)
 *	fd00::17		100::5c1e:90d2:7a44:e1b3	likewise (100::/64)
 *	0a1b2c...		77e1d0...	as many hexadecimal digits: ids of containers, uids of pods
 *
 * A name's alias has 48 bits: of 100,000 names, two have the same one with a probability of 1 in 50,000. An IPv4 address's has
 * 28: two of 10,000 do with one of 17 %, and two of 100,000 for certain.
 */
#ifndef FR_ALIAS_H
#define FR_ALIAS_H

#include <stddef.h>

#include "types.h"

#define FR_ALIAS_MARK '~'
#define FR_ALIAS_LEN  9u /* of a name's */
#define FR_ALIAS_IP4  4u /* bytes of an address */
#define FR_ALIAS_IP6  16u

struct fr_alias_key {
	u64 word[2];
};

/* The key that bytes anybody may have chosen make: as hard to guess as they are. */
void fr_alias_key_of(const void *bytes, size_t sz, struct fr_alias_key *out);

/* SipHash-2-4, under the key. */
u64 fr_alias_hash(const struct fr_alias_key *key, const void *bytes, size_t sz);

/* FR_ALIAS_LEN characters, no NUL. */
void fr_alias_name(const struct fr_alias_key *key, const char *name, size_t len, char out[FR_ALIAS_LEN]);

/* Replace the hexadecimal digits among these characters; what is between them stays, and does not matter to the alias. */
void fr_alias_hex(const struct fr_alias_key *key, char *text, size_t len);

/*
 * Replace an address in network order, of 4 or 16 bytes. Those of no host, and of the own one, stay: 0.0.0.0, 127.0.0.0/8, ::,
 * ::1. IPv4 in IPv6 is as IPv4.
 */
void fr_alias_address(const struct fr_alias_key *key, u8 *address, size_t sz);

#endif
