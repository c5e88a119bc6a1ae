/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * container: whose a cgroup is, as far as its path tells: the names that container engines, kubelets and systemd give. Pure.
 *
 *	/system.slice/docker-0a1b...ef.scope			docker, 0a1b...ef
 *	/docker/0a1b...ef/child					docker, 0a1b...ef
 *	/kubepods/burstable/pod12345678-.../0a1b...ef		engine not told, 0a1b...ef, pod 12345678-...
 *	/kubepods.slice/kubepods-pod12345678_....slice/crio-0a1b...ef.scope
 *								crio, 0a1b...ef, pod 12345678-...
 *	/lxc.payload.web/system.slice/cron.service		lxc, web, unit cron.service
 *	/system.slice/nginx.service				unit nginx.service
 *
 * The innermost container counts, and the innermost pod; a unit is one of that container, or of the host where there is none.
 * What watches a container from outside (conmon, lxc.monitor) is not in it.
 */
#ifndef FR_CONTAINER_H
#define FR_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#define FR_CONTAINER_SZ	      96u
#define FR_CONTAINER_ID_LEN   64u /* hexadecimal digits */
#define FR_CONTAINER_UID_SZ   37u /* of a pod, as kubelets write it, with a NUL */
#define FR_CONTAINER_UID_BARE 32u /* of a pod that its node's files declare: digits alone */

struct fr_container {
	const char *engine;		   /* docker, containerd, crio, podman, lxc, machine, nspawn; "": not told */
	const char *name;		   /* its id or name, within the path; NULL: no container */
	size_t name_len;		   /* FR_CONTAINER_ID_LEN of an id */
	bool is_id;			   /* no name that somebody gave */
	char pod_uid[FR_CONTAINER_UID_SZ]; /* "": none */
	const char *unit;		   /* of systemd, within the path; NULL: none */
	size_t unit_len;
};

/* Any bytes will do. *out points into path. */
void fr_container_of(const char *path, struct fr_container *out);

/* How a container is called whose name is not known: docker-0a1b2c3d4e5f, lxc-web; perhaps cut off. False: there is none. */
bool fr_container_name(const struct fr_container *c, char name[FR_CONTAINER_SZ]);

/*
 * What engines and systemd put around a name, an id or a uid in a part of a path: *head bytes before it, *end behind; 0:
 * nothing. docker-ID.scope has 7 and 6, nginx.service 0 and 8.
 */
void fr_container_frame(const char *part, size_t len, size_t *head, size_t *end);

/* Does an engine name a directory, or what precedes an id, like that? */
bool fr_container_is_engine(const char *text, size_t len);

/* Is it an id? A pod's uid? */
bool fr_container_is_id(const char *text, size_t len);
bool fr_container_is_uid(const char *text, size_t len);

#endif
