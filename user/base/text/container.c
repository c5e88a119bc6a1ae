/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/container.h"

#include <stdio.h>
#include <string.h>

#include "types.h"

#define SHOWN_ID 12 /* digits of an id, as engines show it */
#define HEX	 "0123456789abcdef"
#define UID_LEN	 (FR_CONTAINER_UID_SZ - 1)

/* A part of the path. */
struct part {
	const char *at;
	size_t len;
};

/* What stands before an id: a word of the same part, or the part above. */
static const struct {
	const char *word, *engine;
} engines[] = {
	{"docker", "docker"}, {"cri-containerd", "containerd"}, {"nerdctl", "containerd"}, {"crio", "crio"},
	{"libpod", "podman"}, {"libpod-payload", "podman"},	{"buildah", "podman"},
};

/* Containers with a name of their own. */
static const struct {
	const char *begin, *end, *engine;
} named[] = {
	{"lxc.payload.", "", "lxc"},
	{"machine-", ".scope", "machine"},
	{"systemd-nspawn@", ".service", "nspawn"},
};

static const char *const units[] = {".service", ".scope", ".socket", ".mount", ".swap"};

/* Of no use as a unit, but a name's end in a path. */
static const char *const others[] = {".slice", ".timer"};

/* What stands before a pod's uid. */
static const char *const pods[] = {
	"pod",
	"kubepods-pod",
	"kubepods-burstable-pod",
	"kubepods-besteffort-pod",
	"kubelet-kubepods-pod",
	"kubelet-kubepods-burstable-pod",
	"kubelet-kubepods-besteffort-pod",
};

static bool part_is(struct part p, const char *word)
{
	return p.len == strlen(word) && !memcmp(p.at, word, p.len);
}

static bool part_ends(struct part p, const char *end)
{
	size_t len = strlen(end);

	return p.len > len && !memcmp(p.at + p.len - len, end, len);
}

static bool is_hex(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!text[i] || !strchr(HEX, text[i]))
			return false;
	return true;
}

bool fr_container_is_id(const char *text, size_t len)
{
	return len == FR_CONTAINER_ID_LEN && is_hex(text, len);
}

/* 8-4-4-4-12 digits; dash: what the path has for a dash. */
static bool is_uid(const char *text, size_t len, char dash)
{
	static const u8 group[] = {8, 4, 4, 4, 12};
	size_t i;

	if (len == FR_CONTAINER_UID_BARE)
		return is_hex(text, len);
	for (i = 0; len == UID_LEN && i < sizeof(group); i++) {
		if (!is_hex(text, group[i]) || (i + 1 < sizeof(group) && text[group[i]] != dash))
			return false;
		text += group[i] + 1;
	}
	return len == UID_LEN;
}

bool fr_container_is_uid(const char *text, size_t len)
{
	return is_uid(text, len, '-');
}

/* ---- pods ---- */

static void container_set_uid(struct fr_container *c, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		c->pod_uid[i] = text[i] == '_' ? '-' : text[i];
	c->pod_uid[len] = 0;
}

/* podUID, or kubepods-burstable-podUID.slice: systemd's names have no dashes but between those of slices. */
static bool take_pod(struct fr_container *c, struct part p)
{
	static const char slice[] = ".slice", pod[] = "pod";
	char dash = '-';

	if (part_ends(p, slice)) {
		const char *last = memrchr(p.at, '-', p.len);

		p.len -= strlen(slice);
		p.len -= last ? last + 1 - p.at : 0;
		p.at = last ? last + 1 : p.at;
		dash = '_';
	}
	if (p.len <= strlen(pod) || memcmp(p.at, pod, strlen(pod)) || !is_uid(p.at + strlen(pod), p.len - strlen(pod), dash))
		return false;
	container_set_uid(c, p.at + strlen(pod), p.len - strlen(pod));
	return true;
}

/* ---- containers ---- */

static const char *engine_of(struct part word)
{
	size_t i;

	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (part_is(word, engines[i].word))
			return engines[i].engine;
	return "";
}

static void set_container(struct fr_container *c, const char *engine, const char *name, size_t len, bool is_id)
{
	c->engine = engine;
	c->name = name;
	c->name_len = len;
	c->is_id = is_id;
	c->unit = NULL;
	c->unit_len = 0;
}

/* ID, docker-ID.scope, or, where kubelet and containerd disagree on who makes cgroups, kubepods-podUID.slice:cri-containerd:ID.
 */
static bool container_take_id(struct fr_container *c, struct part p, struct part above)
{
	struct part word = p;
	const char *colon;

	if (part_ends(p, ".scope"))
		p.len -= strlen(".scope");
	if (p.len < FR_CONTAINER_ID_LEN || !is_hex(p.at + p.len - FR_CONTAINER_ID_LEN, FR_CONTAINER_ID_LEN))
		return false;
	word.len = p.len - FR_CONTAINER_ID_LEN;
	if (word.len && word.at[word.len - 1] != '-' && word.at[word.len - 1] != ':')
		return false;
	word.len -= word.len ? 1 : 0;
	if (part_ends(word, "-conmon"))
		return false;
	colon = memrchr(word.at, ':', word.len);
	if (colon) {
		take_pod(c, (struct part){word.at, colon - word.at});
		word.len -= colon + 1 - word.at;
		word.at = colon + 1;
	}
	set_container(c, engine_of(p.len > FR_CONTAINER_ID_LEN ? word : above), p.at + p.len - FR_CONTAINER_ID_LEN,
		      FR_CONTAINER_ID_LEN, true);
	return true;
}

static bool container_take_named(struct fr_container *c, struct part p, struct part above)
{
	size_t i;

	if (part_is(above, "lxc") && p.len) {
		set_container(c, "lxc", p.at, p.len, false);
		return true;
	}
	for (i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		size_t begin = strlen(named[i].begin), end = strlen(named[i].end);

		if (p.len <= begin + end || memcmp(p.at, named[i].begin, begin) ||
		    memcmp(p.at + p.len - end, named[i].end, end))
			continue;
		set_container(c, named[i].engine, p.at + begin, p.len - begin - end, false);
		return true;
	}
	return false;
}

/* ---- units ---- */

static void take_unit(struct fr_container *c, struct part p)
{
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (part_ends(p, units[i])) {
			c->unit = p.at;
			c->unit_len = p.len;
		}
	}
}

void fr_container_of(const char *path, struct fr_container *out)
{
	struct part above = {path, 0};

	*out = (struct fr_container){.engine = ""};
	while (*path) {
		struct part p = {path, strcspn(path, "/")};

		if (!take_pod(out, p) && !container_take_id(out, p, above) && !container_take_named(out, p, above))
			take_unit(out, p);
		above = p.len ? p : above;
		path += p.len + !!path[p.len];
	}
}

/* ---- frames ---- */

/* Is all between the frame an id, or a uid as it is written there? */
static bool frame_has_id(struct part p, size_t head)
{
	return p.len > head && (fr_container_is_id(p.at + head, p.len - head) || is_uid(p.at + head, p.len - head, '-') ||
				is_uid(p.at + head, p.len - head, '_'));
}

static bool part_begins(struct part p, const char *begin)
{
	return p.len > strlen(begin) && !memcmp(p.at, begin, strlen(begin));
}

static size_t frame_end(struct part p)
{
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (part_ends(p, units[i]))
			return strlen(units[i]);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (part_ends(p, others[i]))
			return strlen(others[i]);
	return 0;
}

/* Before an id: of a container of one's own name the frame is known by its begin alone. */
static size_t frame_head(struct part p)
{
	size_t i, len;

	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		len = strlen(engines[i].word);
		if (part_begins(p, engines[i].word) && p.at[len] == '-' && frame_has_id(p, len + 1))
			return len + 1;
	}
	for (i = 0; i < sizeof(pods) / sizeof(pods[0]); i++)
		if (part_begins(p, pods[i]) && frame_has_id(p, strlen(pods[i])))
			return strlen(pods[i]);
	return 0;
}

void fr_container_frame(const char *part, size_t len, size_t *head, size_t *end)
{
	struct part p = {part, len};
	size_t i;

	for (i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		*head = strlen(named[i].begin);
		*end = strlen(named[i].end);
		if (len > *head + *end && part_begins(p, named[i].begin) && !memcmp(part + len - *end, named[i].end, *end))
			return;
	}
	*end = frame_end(p);
	p.len -= *end;
	*head = frame_head(p);
}

bool fr_container_is_engine(const char *text, size_t len)
{
	return *engine_of((struct part){text, len});
}

bool fr_container_name(const struct fr_container *c, char name[FR_CONTAINER_SZ])
{
	int len = c->is_id ? SHOWN_ID : c->name_len < FR_CONTAINER_SZ ? (int)c->name_len : (int)FR_CONTAINER_SZ;

	if (c->name)
		snprintf(name, FR_CONTAINER_SZ, "%s%s%.*s", c->engine, *c->engine ? "-" : "", len, c->name);
	return c->name != NULL;
}
