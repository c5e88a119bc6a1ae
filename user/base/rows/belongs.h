/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * belongs: whom a cgroup belongs to. Its path tells ids, units and pods' uids (base/text/container.h), the files of container
 * engines tell names (base/text/ctnames.h). Filters, keys of stat and columns have one value for each entry.
 */
#ifndef FR_BELONGS_H
#define FR_BELONGS_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

/* W(name, meaning) */
#define FR_BELONGS(W)                                                                                                       \
	W(container, "its container's name; where that is not known, as the cgroup's path tells it: `docker-0a1b2c3d4e5f`") \
	W(container_id, "its container's id, 64 digits")                                                                    \
	W(pod, "its pod's name")                                                                                            \
	W(namespace, "its pod's namespace")                                                                                 \
	W(image, "its container's image")                                                                                   \
	W(unit, "its unit of systemd, within the container if it is in one")

enum fr_belongs_what {
#define W(name, meaning) FR_BELONGS_##name,
	FR_BELONGS(W)
#undef W
		FR_BELONGS_CNT
};

extern const char *const fr_belongs_names[FR_BELONGS_CNT];

/* NULL: it has none, or it is not known. */
struct fr_belongs {
	const char *text[FR_BELONGS_CNT];
	bool is_named; /* the container is: somebody gave it this name */
};

/*
 * In words: "container web of pod prod/api-0", "container web", "pod prod/api-0"; perhaps cut off, not escaped. False, and
 * nothing: it is in no container or pod whose name is known.
 */
bool fr_belongs_words(const struct fr_belongs *b, char *to, size_t room);

/* The number of a name, or FR_BELONGS_CNT. */
u32 fr_belongs_find(const char *name);

#endif
