/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/snapshot/procs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rows/cgroups.h"
#include "base/set/hash.h"
#include "base/set/hashed.h"
#include "base/set/vec.h"
#include "base/text/escape.h"
#include "base/text/out.h"
#include "base/text/redact.h"
#include "sys/cgroup.h"
#include "sys/ctfiles.h"
#include "sys/dir.h"
#include "sys/fd.h"
#include "sys/ns.h"

#define VALUE_MAX      1024	   /* bytes of a command line, path or cgroup that are kept */
#define CMDLINE_MAX    4096	   /* that are read: with a secret's end, most of the time */
#define PROCS_MAX_SZ   (16u << 20) /* of all processes together: about 50,000 */
#define CGROUPS_MAX    4096u	   /* some 10 us each */
#define CONTAINERS_MAX 4096u	   /* some 100 us each */
#define PF_EXITING     0x4u	   /* of the flags in /proc/PID/stat: include/linux/sched.h */

/* Kinds of what the runner tells (sys/errand.h). */
enum { TOLD_PIDS, TOLD_LINKS, TOLD_CMDLINE, TOLD_REDACTED, TOLD_LACK, TOLD_CGROUPS, TOLD_CONTAINER, TOLD_NO_ROOM, TOLD_NAMED };

/* What is read of a process, the last thing last that may wait for it. */
enum { STEP_LINKS, STEP_CMDLINE };

#define PIDS_TOLD 1024u /* in a message */

/* As a path of a cgroup tells. */
struct container {
	char id[FR_CONTAINER_ID_LEN + 1];
	char pod_uid[FR_CONTAINER_UID_SZ];
};

struct fr_procs {
	struct fr_procs_ask ask;
	struct fr_cgroup_here here;
	struct fr_out *out; /* the runner's */
	u32 *pid;
	u32 pid_cnt, pid_room;
	struct container *container;
	u32 container_cnt, named_cnt;
	bool lacks_containers; /* it is said that some have no room in the list */
	struct fr_hashed by_id;
	char *cmdline, *links; /* of the process being told of, NULL: nothing */
	size_t cmdline_sz, links_sz;
	char *text;
	size_t sz, room;
	u32 redacted_cnt;
	struct fr_procs_lack lack;
};

/* ---- the runner: a process ---- */

static ssize_t procs_read_at(int dir, const char *name, char *buf, size_t sz)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, sz);
	n = n < 0 ? -errno : n;
	close(fd);
	return n;
}

static void procs_put(struct fr_out *o, const char *key, const char *value, size_t len)
{
	fr_out_str(o, ",\"");
	fr_out_str(o, key);
	fr_out_str(o, "\":\"");
	fr_escape_json(o, value, len);
	fr_out_char(o, '"');
}

/*
 * Without what is secret, of which *secret_cnt counts the values. 0, or why it could not be read (-errno); that it has ended
 * since may be the reason.
 */
static int put_cmdline(struct fr_procs *p, int dir, u32 *secret_cnt)
{
	char buf[CMDLINE_MAX], kept[VALUE_MAX];
	ssize_t n = procs_read_at(dir, "cmdline", buf, sizeof(buf));
	size_t len, i;

	if (n < 0)
		return n;
	len = fr_redact(p->ask.redact, FR_REDACT_ARGS, buf, n, kept, sizeof(kept), secret_cnt);
	while (len && !kept[len - 1])
		len--;
	for (i = 0; i < len; i++)
		if (!kept[i])
			kept[i] = ' ';
	if (len)
		procs_put(p->out, "cmdline", kept, len);
	return 0;
}

/* Where a symbolic link of the process points to. */
static void put_link(struct fr_procs *p, int dir, const char *name, u32 *secret_cnt)
{
	char buf[VALUE_MAX], kept[VALUE_MAX];
	ssize_t n = readlinkat(dir, name, buf, sizeof(buf));

	if (n > 0)
		procs_put(p->out, name, kept, fr_redact(p->ask.redact, FR_REDACT_LINE, buf, n, kept, sizeof(kept), secret_cnt));
}

static const struct fr_cgroup_here *cgroup_here(struct fr_procs *p)
{
	if (!p->ask.cgroup_here) {
		fr_cgroup_here(&p->here);
		p->ask.cgroup_here = &p->here;
	}
	return p->ask.cgroup_here;
}

/* ---- containers: both sides keep the list ---- */

static bool container_has_id(const void *of, u32 nr, const void *key)
{
	const struct fr_procs *p = of;

	return !strcmp(p->container[nr - 1].id, key);
}

/* 1: it is new, 0: it is known; -ENOSPC: there are as many as may be; -ENOMEM. */
static int add_container(struct fr_procs *p, const struct container *c)
{
	u64 hash = fr_hash(FR_HASH_SEED, c->id, strlen(c->id));
	struct container *to;
	u32 *nr;

	if (fr_hashed_find(&p->by_id, hash, container_has_id, p, c->id))
		return 0;
	if (p->container_cnt == CONTAINERS_MAX)
		return -ENOSPC;
	to = fr_vec_more(&p->container, p->container_cnt);
	nr = to ? fr_hashed_at(&p->by_id, hash, container_has_id, p, c->id) : NULL;
	if (!nr)
		return -ENOMEM;
	*to = *c;
	*nr = ++p->container_cnt;
	return 1;
}

static void tell_container(struct fr_procs *p, struct fr_errand_out *to, const char *cgroup)
{
	struct container c = {};
	struct fr_container of;
	int added;

	fr_container_of(cgroup, &of);
	if (!of.is_id)
		return;
	memcpy(c.id, of.name, FR_CONTAINER_ID_LEN);
	memcpy(c.pod_uid, of.pod_uid, sizeof(c.pod_uid));
	added = add_container(p, &c);
	if (added > 0)
		fr_errand_tell(to, TOLD_CONTAINER, &c, sizeof(c));
	/* not the item's failure: of the process that lives in it, or of the other cgroups, nothing is missing */
	if (added < 0 && !p->lacks_containers)
		fr_errand_tell(to, TOLD_NO_ROOM, NULL, 0);
	p->lacks_containers |= added < 0;
}

/* Does it end, or has it? */
static bool procs_is_ending(int dir)
{
	char buf[1024];
	ssize_t n = procs_read_at(dir, "stat", buf, sizeof(buf) - 1);
	const char *behind_comm;
	u32 flags;

	if (n <= 0)
		return true;
	buf[n] = 0;
	behind_comm = strrchr(buf, ')');
	return !behind_comm || sscanf(behind_comm + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1 || flags & PF_EXITING;
}

/*
 * Nothing is told if the text was cut off; nor of a process that is in the root and ends: hierarchies of version 1 say so then
 * wherever it was (proc_cgroup_show(), kernel/cgroup/cgroup.c). As above.
 */
static int put_cgroup(struct fr_procs *p, int dir, struct fr_errand_out *to)
{
	const struct fr_cgroup_here *here = cgroup_here(p);
	char buf[16 * VALUE_MAX], path[8 * VALUE_MAX];
	ssize_t n = procs_read_at(dir, "cgroup", buf, sizeof(buf) - 1);

	if (n <= 0 || n == sizeof(buf) - 1)
		return n < 0 ? n : 0;
	buf[n] = 0;
	if (!fr_cgroup_of_text(here, buf, path, sizeof(path)) || (!strcmp(path, "/") && procs_is_ending(dir)))
		return 0;
	procs_put(p->out, "cgroup", path, strlen(path));
	tell_container(p, to, path);
	return 0;
}

/* What was put to memory since fr_out_init_mem(). */
static void tell_text(struct fr_errand_out *to, u32 kind, struct fr_out *o)
{
	size_t sz = 0;
	char *text = fr_out_take_mem(o, &sz);

	if (text)
		fr_errand_tell(to, kind, text, sz);
	free(text);
}

/* Who has ended, or does not let us look, is no lack of ours. */
static void tell_lack(struct fr_errand_out *to, int err)
{
	if (err && err != -ENOENT && err != -ESRCH && err != -EACCES && err != -EPERM)
		fr_errand_tell(to, TOLD_LACK, &err, sizeof(err));
}

static void procs_look_at_proc(void *arg, u32 item, struct fr_errand_out *to)
{
	struct fr_procs *p = arg;
	u32 secret_cnt = 0;
	char path[32];
	int dir, err;

	snprintf(path, sizeof(path), "/proc/%u", p->pid[item]);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		tell_lack(to, -errno);
		return;
	}
	fr_errand_step(to, STEP_LINKS);
	fr_out_init_mem(p->out);
	put_link(p, dir, "exe", &secret_cnt);
	put_link(p, dir, "cwd", &secret_cnt);
	err = put_cgroup(p, dir, to);
	tell_text(to, TOLD_LINKS, p->out);
	fr_errand_step(to, STEP_CMDLINE);
	fr_out_init_mem(p->out);
	err = put_cmdline(p, dir, &secret_cnt) ?: err;
	tell_text(to, TOLD_CMDLINE, p->out);
	if (secret_cnt)
		fr_errand_tell(to, TOLD_REDACTED, &secret_cnt, sizeof(secret_cnt));
	close(dir);
	tell_lack(to, err);
}

/* ---- all ---- */

static void add_pids(struct fr_procs *p, const u32 *pid, u32 cnt)
{
	u32 room = p->pid_room ? 2 * p->pid_room : PIDS_TOLD, *more;

	if (p->pid_cnt + cnt > p->pid_room) {
		more = cnt <= PIDS_TOLD ? realloc(p->pid, room * sizeof(*more)) : NULL;
		if (!more)
			return;
		p->pid = more;
		p->pid_room = room;
	}
	memcpy(p->pid + p->pid_cnt, pid, cnt * sizeof(*pid));
	p->pid_cnt += cnt;
}

/* Both sides keep the list. */
static void tell_pids(struct fr_procs *p, struct fr_errand_out *to, const u32 *pid, u32 cnt)
{
	fr_errand_tell(to, TOLD_PIDS, pid, cnt * sizeof(*pid));
	add_pids(p, pid, cnt);
}

static void list_pids(void *arg, u32 item, struct fr_errand_out *to)
{
	u32 pid[PIDS_TOLD], cnt = 0;
	struct dirent *e;
	int err = 0;
	DIR *d;

	(void)item;
	/* in any other pid namespace than the events', these pids would be other processes */
	if (!fr_ns_is_first(FR_NS_PID))
		return;
	d = opendir("/proc");
	if (!d) {
		tell_lack(to, -errno);
		return;
	}
	while ((e = fr_dir_next(d, &err))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		pid[cnt++] = strtoul(e->d_name, NULL, 10);
		if (cnt < PIDS_TOLD)
			continue;
		tell_pids(arg, to, pid, cnt);
		cnt = 0;
	}
	tell_pids(arg, to, pid, cnt);
	tell_lack(to, err);
	closedir(d);
}

/* ---- cgroups ---- */

static int youngest_first(const void *a, const void *b)
{
	const u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* The different cgroups that tasks were born in; the kernel counts ids up. Returns how many; *out: malloc'ed. */
static size_t list_cgroups(const struct fr_snap_task *task, size_t task_cnt, u64 **out)
{
	u64 *id = malloc((task_cnt + 1) * sizeof(*id));
	size_t i, cnt = 0;

	*out = id;
	for (i = 0; id && i < task_cnt; i++)
		id[i] = task[i].task.cgroup;
	if (id)
		qsort(id, task_cnt, sizeof(*id), youngest_first);
	for (i = 0; id && i < task_cnt && id[i]; i++)
		if (!cnt || id[i] != id[cnt - 1])
			id[cnt++] = id[i];
	return cnt;
}

/* A path that is not known is missing, unless the cgroup is gone or this process sees only another part of them. */
static void fail_cgroup(struct fr_errand_out *to, int err)
{
	if (err == -EPERM || err == -EACCES)
		fr_errand_deny(to);
	else if (err != -ENOENT && err != -ESTALE)
		fr_errand_fail(to);
}

/*
 * Nobody may live in a cgroup any more whose dead are in the events: of living processes alone, its path would not be known.
 * Where there is no such directory any more, nothing can be said.
 */
static void look_at_cgroups(void *arg, u32 item, struct fr_errand_out *to)
{
	struct fr_procs *p = arg;
	struct fr_cgroup_roots roots;
	char path[4096];
	u64 *id;
	size_t cnt = list_cgroups(p->ask.task, p->ask.task_cnt, &id), i;
	int err;

	(void)item;
	if (!id || cnt > CGROUPS_MAX)
		fr_errand_fail(to);
	fr_cgroup_open_roots(&roots);
	for (i = 0; i < cnt && i < CGROUPS_MAX; i++) {
		err = fr_cgroup_path_at(&roots, id[i], path, sizeof(path));
		if (err) {
			fail_cgroup(to, err);
			continue;
		}
		fr_out_init_mem(p->out);
		fr_out_printf(p->out, "{\"" FR_PROC_CGROUP_ID "\":%llu", id[i]);
		procs_put(p->out, "cgroup", path, strlen(path));
		fr_out_str(p->out, "}\n");
		tell_text(to, TOLD_CGROUPS, p->out);
		tell_container(p, to, path);
	}
	fr_cgroup_close_roots(&roots);
	free(id);
}

/* ---- names of containers ---- */

static void put_name(struct fr_out *o, const char *key, const char *value)
{
	if (*value)
		procs_put(o, key, value, strlen(value));
}

static void look_at_container(void *arg, u32 item, struct fr_errand_out *to)
{
	struct fr_procs *p = arg;
	const struct container *c = &p->container[item];
	struct fr_ctnames n = {};
	int err;

	memcpy(n.pod_uid, c->pod_uid, sizeof(n.pod_uid));
	err = fr_ctfiles_names("", c->id, &n);
	if (err == -EACCES)
		fr_errand_deny(to);
	else if (err)
		fr_errand_fail(to);
	if (!*n.container && !*n.pod && !*n.image)
		return;
	fr_out_init_mem(p->out);
	fr_out_printf(p->out, "{\"" FR_PROC_CONTAINER_ID "\":\"%s\"", c->id);
	put_name(p->out, fr_belongs_names[FR_BELONGS_container], n.container);
	put_name(p->out, FR_PROC_POD_UID, n.pod_uid);
	put_name(p->out, fr_belongs_names[FR_BELONGS_pod], n.pod);
	put_name(p->out, fr_belongs_names[FR_BELONGS_namespace], n.namespace);
	put_name(p->out, fr_belongs_names[FR_BELONGS_image], n.image);
	fr_out_str(p->out, "}\n");
	tell_text(to, TOLD_NAMED, p->out);
}

/* ---- the asker ---- */

/* 0, or -ENOMEM. */
static int procs_add_text(struct fr_procs *p, const char *text, size_t sz)
{
	size_t room = p->room ? p->room : 1u << 16;
	char *more;

	while (room < p->sz + sz)
		room *= 2;
	if (room > p->room) {
		more = realloc(p->text, room);
		if (!more)
			return -ENOMEM;
		p->text = more;
		p->room = room;
	}
	memcpy(p->text + p->sz, text, sz);
	p->sz += sz;
	return 0;
}

static void forget_parts(struct fr_procs *p)
{
	free(p->cmdline);
	free(p->links);
	p->cmdline = p->links = NULL;
	p->cmdline_sz = p->links_sz = 0;
}

/* The line of a process, if anything is told of it; complete, or not at all. */
static void end_proc(void *arg, u32 item)
{
	struct fr_procs *p = arg;
	size_t was = p->sz;
	char begin[32];
	int len, err;

	if (p->sz >= PROCS_MAX_SZ) {
		p->lack.cnt++;
	} else if (p->links) {
		len = snprintf(begin, sizeof(begin), "{\"pid\":%u", p->pid[item]);
		err = procs_add_text(p, begin, len) ?: procs_add_text(p, p->cmdline ?: "", p->cmdline_sz);
		err = err ?: procs_add_text(p, p->links, p->links_sz) ?: procs_add_text(p, "}\n", 2);
		p->sz = err ? was : p->sz;
		p->lack.cnt += err != 0;
	}
	forget_parts(p);
}

static void miss_proc(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	struct fr_procs *p = arg;

	if (p->ask.unread)
		fr_unread_add(p->ask.unread, p->pid[item], step == STEP_CMDLINE ? "cmdline" : "process", why);
	end_proc(p, item);
}

static void keep_part(char **part, size_t *part_sz, const void *data, size_t sz)
{
	free(*part);
	*part = malloc(sz + 1);
	*part_sz = *part ? sz : 0;
	if (*part)
		memcpy(*part, data, sz);
}

static void take_lack(struct fr_procs *p, const void *data, u32 sz)
{
	if (sz != sizeof(p->lack.err))
		return;
	memcpy(&p->lack.err, data, sz);
	p->lack.cnt++;
}

static void take_redacted(struct fr_procs *p, const void *data, u32 sz)
{
	u32 cnt;

	if (sz != sizeof(cnt))
		return;
	memcpy(&cnt, data, sz);
	p->redacted_cnt += cnt;
}

/* Once, however many there are. */
static void procs_lack_containers(struct fr_procs *p)
{
	if (!p->lacks_containers && p->ask.unread)
		fr_unread_add(p->ask.unread, 0, "containers", FR_ERRAND_FAILED);
	p->lacks_containers = true;
}

/* From either of the two that find some. True: it was one. */
static bool take_container(struct fr_procs *p, u32 kind, const void *data, u32 sz)
{
	struct container c;

	if (kind == TOLD_NO_ROOM)
		procs_lack_containers(p);
	if (kind != TOLD_CONTAINER || sz != sizeof(c))
		return kind == TOLD_CONTAINER || kind == TOLD_NO_ROOM;
	memcpy(&c, data, sizeof(c));
	if (c.id[FR_CONTAINER_ID_LEN] || !fr_container_is_id(c.id, strlen(c.id)) || !memchr(c.pod_uid, 0, sizeof(c.pod_uid)))
		return true;
	if (add_container(p, &c) < 0)
		procs_lack_containers(p);
	return true;
}

static void take_proc(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	struct fr_procs *p = arg;

	(void)item;
	if (take_container(p, kind, data, sz))
		return;
	if (kind == TOLD_LINKS) {
		keep_part(&p->links, &p->links_sz, data, sz);
	} else if (kind == TOLD_CMDLINE) {
		keep_part(&p->cmdline, &p->cmdline_sz, data, sz);
	} else if (kind == TOLD_REDACTED) {
		take_redacted(p, data, sz);
	} else if (kind == TOLD_LACK) {
		take_lack(p, data, sz);
	}
}

static void take_pids(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	(void)item;
	if (kind == TOLD_PIDS)
		add_pids(arg, data, sz / sizeof(u32));
	else if (kind == TOLD_LACK)
		take_lack(arg, data, sz);
}

static void take_cgroups(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	struct fr_procs *p = arg;

	(void)item;
	if (take_container(p, kind, data, sz))
		return;
	if (kind == TOLD_CGROUPS && procs_add_text(p, data, sz) && p->ask.unread)
		fr_unread_add(p->ask.unread, 0, "cgroups", FR_ERRAND_FAILED);
}

static void procs_take_named(void *arg, u32 item, u32 kind, const void *data, u32 sz)
{
	struct fr_procs *p = arg;

	(void)item;
	if (kind != TOLD_NAMED)
		return;
	if (!procs_add_text(p, data, sz))
		p->named_cnt++;
	else if (p->ask.unread)
		fr_unread_add(p->ask.unread, 0, "containers", FR_ERRAND_FAILED);
}

static u32 container_cnt(void *arg)
{
	return ((struct fr_procs *)arg)->container_cnt;
}

/* Digits enough of its id. */
static u64 container_key(void *arg, u32 item)
{
	char digits[17] = "";

	memcpy(digits, ((struct fr_procs *)arg)->container[item].id, sizeof(digits) - 1);
	return strtoull(digits, NULL, 16) | 1ULL << 63; /* no pid */
}

static u32 procs_one(void *arg)
{
	(void)arg;
	return 1;
}

static u32 proc_cnt(void *arg)
{
	return ((struct fr_procs *)arg)->pid_cnt;
}

static u64 procs_pid_of(void *arg, u32 item)
{
	return ((struct fr_procs *)arg)->pid[item];
}

static void miss_list(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	struct fr_procs *p = arg;

	(void)item;
	(void)step;
	if (p->ask.unread)
		fr_unread_add(p->ask.unread, 0, "processes", why);
}

static void miss_cgroups(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	struct fr_procs *p = arg;

	(void)item;
	(void)step;
	if (p->ask.unread)
		fr_unread_add(p->ask.unread, 0, "cgroups", why);
}

static void miss_container(void *arg, u32 item, u32 step, enum fr_errand_why why)
{
	struct fr_procs *p = arg;

	(void)item;
	(void)step;
	if (p->ask.unread)
		fr_unread_add(p->ask.unread, 0, "containers", why);
}

struct fr_procs *fr_procs_new(const struct fr_procs_ask *ask, struct fr_errand_job job[FR_PROCS_JOB_CNT])
{
	struct fr_procs *p = calloc(1, sizeof(*p));

	if (p)
		p->out = malloc(sizeof(*p->out));
	if (!p || !p->out) {
		fr_procs_free(p);
		return NULL;
	}
	p->ask = *ask;
	job[0] = (struct fr_errand_job){.arg = p, .cnt = procs_one, .run = list_pids, .take = take_pids, .miss = miss_list};
	job[1] = (struct fr_errand_job){
		.arg = p,
		.cnt = proc_cnt,
		.key = procs_pid_of,
		.run = procs_look_at_proc,
		.take = take_proc,
		.end = end_proc,
		.miss = miss_proc,
	};
	job[2] = (struct fr_errand_job){
		.arg = p, .cnt = procs_one, .run = look_at_cgroups, .take = take_cgroups, .miss = miss_cgroups};
	job[3] = (struct fr_errand_job){
		.arg = p,
		.cnt = container_cnt,
		.key = container_key,
		.run = look_at_container,
		.take = procs_take_named,
		.miss = miss_container,
	};
	return p;
}

void fr_procs_free(struct fr_procs *p)
{
	if (!p)
		return;
	forget_parts(p);
	free(p->out);
	free(p->pid);
	free(p->container);
	free(p->by_id.slot);
	free(p->text);
	free(p);
}

u32 fr_procs_redacted(const struct fr_procs *p)
{
	return p->redacted_cnt;
}

u32 fr_procs_containers(const struct fr_procs *p, u32 *named_cnt)
{
	*named_cnt = p->named_cnt;
	return p->container_cnt;
}

const char *fr_procs_text(const struct fr_procs *p, size_t *sz, struct fr_procs_lack *lack)
{
	*sz = p->sz;
	*lack = p->lack;
	return p->text;
}
