/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/ctnames.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/escape.h"
#include "base/text/jsonr.h"

#define LEVELS_MOST 3
#define ELEMENT	    "[]" /* of an array */

#define TO(member) offsetof(struct fr_ctnames, member), sizeof(((struct fr_ctnames *)NULL)->member)

/* Where a name is. Of several places the first counts that has one. */
static const struct place {
	enum fr_ctnames_form form;
	size_t off, sz; /* of the member of struct fr_ctnames */
	const char *key[LEVELS_MOST];
} places[] = {
	{FR_CTNAMES_oci, TO(container), {"annotations", "io.kubernetes.cri.container-name"}},
	{FR_CTNAMES_oci, TO(container), {"annotations", "io.kubernetes.container.name"}},
	{FR_CTNAMES_oci, TO(container), {"annotations", "nerdctl/name"}},
	{FR_CTNAMES_oci, TO(pod), {"annotations", "io.kubernetes.cri.sandbox-name"}},
	{FR_CTNAMES_oci, TO(pod), {"annotations", "io.kubernetes.pod.name"}},
	{FR_CTNAMES_oci, TO(namespace), {"annotations", "io.kubernetes.cri.sandbox-namespace"}},
	{FR_CTNAMES_oci, TO(namespace), {"annotations", "io.kubernetes.pod.namespace"}},
	{FR_CTNAMES_oci, TO(pod_uid), {"annotations", "io.kubernetes.cri.sandbox-uid"}},
	{FR_CTNAMES_oci, TO(pod_uid), {"annotations", "io.kubernetes.pod.uid"}},
	{FR_CTNAMES_oci, TO(image), {"annotations", "io.kubernetes.cri.image-name"}},
	{FR_CTNAMES_oci, TO(image), {"annotations", "io.kubernetes.cri-o.UserRequestedImage"}},
	{FR_CTNAMES_oci, TO(image), {"annotations", "io.kubernetes.cri-o.ImageName"}},
	{FR_CTNAMES_docker, TO(container), {"Config", "Labels", "io.kubernetes.container.name"}},
	{FR_CTNAMES_docker, TO(container), {"Name"}},
	{FR_CTNAMES_docker, TO(pod), {"Config", "Labels", "io.kubernetes.pod.name"}},
	{FR_CTNAMES_docker, TO(namespace), {"Config", "Labels", "io.kubernetes.pod.namespace"}},
	{FR_CTNAMES_docker, TO(pod_uid), {"Config", "Labels", "io.kubernetes.pod.uid"}},
	{FR_CTNAMES_docker, TO(image), {"Config", "Image"}},
	{FR_CTNAMES_storage, TO(container), {ELEMENT, "names", ELEMENT}},
};

#define PLACE_CNT (sizeof(places) / sizeof(places[0]))

/* A text of JSON in containers.json. */
static const struct {
	const char *key;
	size_t off, sz;
} metadata[] = {
	{"image-name", TO(image)},
};

/* What is found, as the text is read; nothing of it counts unless all of it can be read. */
struct finding {
	enum fr_ctnames_form form;
	const char *id;
	bool is_other;	     /* what is read is about another container */
	u32 rank[PLACE_CNT]; /* of the place where it was found, by the first place of its member; + 1 */
	struct fr_ctnames names;
};

/* The engine's own form: docker has a slash before a name. False: it is no name. */
static bool ctnames_put(struct fr_ctnames *names, size_t off, size_t sz, const char *text, size_t len)
{
	char *to = (char *)names + off;

	if (len && *text == '/') {
		text++;
		len--;
	}
	if (!len || len >= sz || memchr(text, ' ', len) || !fr_is_plain(text, len))
		return false;
	memcpy(to, text, len);
	to[len] = 0;
	return true;
}

static bool ctnames_holds(const struct place *p, const struct fr_jsonr_at *at)
{
	u32 i;

	for (i = 0; i < LEVELS_MOST && p->key[i]; i++)
		if (i >= at->depth || strcmp(at->key[i] ?: ELEMENT, p->key[i]))
			return false;
	return i == at->depth;
}

static u32 ctnames_first(u32 i)
{
	u32 first = 0;

	while (places[first].form != places[i].form || places[first].off != places[i].off)
		first++;
	return first;
}

static int take_metadata(void *arg, const struct fr_jsonr_at *at, const char *text)
{
	struct finding *f = arg;
	u32 i;

	for (i = 0; i < sizeof(metadata) / sizeof(metadata[0]); i++)
		if (at->depth == 1 && at->key[0] && !strcmp(at->key[0], metadata[i].key))
			ctnames_put(&f->names, metadata[i].off, metadata[i].sz, text, strlen(text));
	return 0;
}

/* In a list of all containers: an entry begins with its id. */
static int take_entry(struct finding *f, const struct fr_jsonr_at *at, const char *text)
{
	const char *key = at->depth == 2 && !at->key[0] ? at->key[1] : NULL;
	struct fr_ctnames was = f->names;

	if (key && !strcmp(key, "id"))
		f->is_other = strcmp(text, f->id);
	if (key && !strcmp(key, "metadata") && !f->is_other && fr_jsonr_walk(text, strlen(text), take_metadata, f))
		f->names = was;
	return 0;
}

static int ctnames_take(void *arg, const struct fr_jsonr_at *at, const char *text)
{
	struct finding *f = arg;
	u32 i, first;

	if (f->form == FR_CTNAMES_storage)
		take_entry(f, at, text);
	for (i = 0; i < PLACE_CNT; i++) {
		if (places[i].form != f->form || f->is_other || !ctnames_holds(&places[i], at))
			continue;
		first = ctnames_first(i);
		if (f->rank[first] && f->rank[first] <= i + 1)
			continue;
		if (ctnames_put(&f->names, places[i].off, places[i].sz, text, strlen(text)))
			f->rank[first] = i + 1;
	}
	return 0;
}

static void ctnames_add(char *to, const char *from)
{
	if (!*to)
		strcpy(to, from);
}

static void ctnames_add_all(struct fr_ctnames *to, const struct fr_ctnames *from)
{
	ctnames_add(to->container, from->container);
	ctnames_add(to->pod, from->pod);
	ctnames_add(to->namespace, from->namespace);
	ctnames_add(to->image, from->image);
	if (fr_container_is_uid(from->pod_uid, strlen(from->pod_uid)))
		ctnames_add(to->pod_uid, from->pod_uid);
}

int fr_ctnames_read(enum fr_ctnames_form form, const char *text, size_t sz, const char *id, struct fr_ctnames *names)
{
	struct finding *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->form = form;
	f->id = id;
	f->is_other = form == FR_CTNAMES_storage;
	err = fr_jsonr_walk(text, sz, ctnames_take, f);
	if (!err)
		ctnames_add_all(names, &f->names);
	free(f);
	return err;
}

/* ---- names of logs ---- */

static bool log_ends(const char *file, size_t len, const char *id)
{
	static const char end[] = ".log";
	size_t tail = FR_CONTAINER_ID_LEN + strlen(end);

	return len > tail + 1 && strlen(id) == FR_CONTAINER_ID_LEN && file[len - tail - 1] == '-' &&
	       !memcmp(file + len - tail, id, FR_CONTAINER_ID_LEN) && !strcmp(file + len - strlen(end), end);
}

#define PUT(names, member, text, len) ctnames_put(names, TO(member), text, len)

void fr_ctnames_of_log(const char *file, const char *id, struct fr_ctnames *names)
{
	struct fr_ctnames found = {};
	size_t len = strlen(file), pod = strcspn(file, "_"), ns;
	const char *at;

	if (!log_ends(file, len, id))
		return;
	len -= FR_CONTAINER_ID_LEN + strlen("-.log");
	if (pod >= len)
		return;
	at = file + pod + 1;
	ns = strcspn(at, "_");
	if (pod + 1 + ns >= len)
		return;
	PUT(&found, pod, file, pod);
	PUT(&found, namespace, at, ns);
	PUT(&found, container, at + ns + 1, len - pod - ns - 2);
	ctnames_add_all(names, &found);
}

void fr_ctnames_of_pod(const char *dir, const char *pod_uid, struct fr_ctnames *names)
{
	struct fr_ctnames found = {};
	size_t len = strlen(dir), uid = strlen(pod_uid), ns = strcspn(dir, "_");

	if (!uid || len < uid + 1 || strcmp(dir + len - uid, pod_uid) || dir[len - uid - 1] != '_' || ns + 1 >= len - uid - 1)
		return;
	PUT(&found, namespace, dir, ns);
	PUT(&found, pod, dir + ns + 1, len - uid - 1 - ns - 1);
	ctnames_add_all(names, &found);
}
