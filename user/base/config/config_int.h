/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* config_int: internals of the configuration. Not for others: see config.h. */
#ifndef FR_CONFIG_INT_H
#define FR_CONFIG_INT_H

#include "base/config/config.h"

enum fr_config_type {
	FR_CONFIG_TYPE_text,
	FR_CONFIG_TYPE_items, /* separated by commas */
	FR_CONFIG_TYPE_list,  /* may be repeated */
	FR_CONFIG_TYPE_size,
	FR_CONFIG_TYPE_duration,
	FR_CONFIG_TYPE_count,
	FR_CONFIG_TYPE_percent,
	FR_CONFIG_TYPE_flag,
};

/* A key and where its value is. */
struct fr_config_slot {
	struct fr_config_key key;
	enum fr_config_type type;
	size_t at; /* in struct fr_config */
};

const struct fr_config_slot *fr_config_slot(u32 i); /* NULL after the last */

/* Set the value (not empty) from this line. Returns 0, -EINVAL and *error, or -ENOMEM. */
int fr_config_set(struct fr_config *c, const struct fr_config_slot *slot, const char *value, u32 line,
		  struct fr_config_error *error);

int fr_config_reset(struct fr_config *c, const struct fr_config_slot *slot, struct fr_config_error *error); /* its default */
int fr_config_empty(struct fr_config *c, const struct fr_config_slot *slot,
		    struct fr_config_error *error);			      /* "Key=": the same */
void fr_config_clear(struct fr_config *c, const struct fr_config_slot *slot); /* frees its value */

/* Check what no single value shows. Returns 0, or -EINVAL and *error. */
int fr_config_check(const struct fr_config *c, struct fr_config_error *error);

/* Returns -EINVAL. */
__attribute__((format(printf, 3, 4))) int fr_config_fail(struct fr_config_error *error, u32 line, const char *fmt, ...);

#endif
