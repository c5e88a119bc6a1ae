/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * container: the container that a cgroup's path tells, by the names that engines give their cgroups. Pure.
 *
 *	/system.slice/docker-0a1b...ef.scope		docker-0a1b2c3d4e5f
 *	/docker/0a1b...ef/child				docker-0a1b2c3d4e5f
 *	/kubepods/burstable/pod12ab/0a1b...ef		pod12ab-0a1b2c3d4e5f
 *	/lxc.payload.web/init.scope			lxc-web
 *	/machine.slice/machine-web.scope		machine-web
 */
#ifndef FR_CONTAINER_H
#define FR_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#define FR_CONTAINER_SZ 96u

/* Its name, perhaps cut off. False: the path tells none. */
bool fr_container_name(const char *path, char name[FR_CONTAINER_SZ]);

#endif
