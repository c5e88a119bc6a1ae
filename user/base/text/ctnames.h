/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ctnames: names of a container, from the files in which engines keep them. Pure.
 *
 * The files are the engine's, but what is in them users have chosen: a name that is not plain ASCII without spaces, or too
 * long, is none.
 */
#ifndef FR_CTNAMES_H
#define FR_CTNAMES_H

#include <stddef.h>

#include "base/text/container.h"

#define FR_CTNAME_SZ  254u /* of a name in Kubernetes, with a NUL */
#define FR_CTIMAGE_SZ 512u

/* "": not told. */
struct fr_ctnames {
	char container[FR_CTNAME_SZ];
	char pod[FR_CTNAME_SZ];
	char namespace[FR_CTNAME_SZ];
	char image[FR_CTIMAGE_SZ];
	char pod_uid[FR_CONTAINER_UID_SZ];
};

enum fr_ctnames_form {
	FR_CTNAMES_oci,	    /* config.json of a bundle: annotations of containerd, CRI-O, nerdctl */
	FR_CTNAMES_docker,  /* docker's config.v2.json */
	FR_CTNAMES_storage, /* containers.json of podman and CRI-O: all containers, each with its id */
};

/* What the text says of the container with this id, where names lacks it. 0; -EINVAL: it is no JSON; -ENOMEM; names is as
 * before. */
int fr_ctnames_read(enum fr_ctnames_form form, const char *text, size_t sz, const char *id, struct fr_ctnames *names);

/* The name of a log in /var/log/containers, POD_NAMESPACE_CONTAINER-ID.log, and of a directory in /var/log/pods,
 * NAMESPACE_POD_UID. */
void fr_ctnames_of_log(const char *file, const char *id, struct fr_ctnames *names);
void fr_ctnames_of_pod(const char *dir, const char *pod_uid, struct fr_ctnames *names);

#endif
