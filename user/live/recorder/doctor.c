/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/err.h"
#include "base/schema/schema.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "base/tp/rare.h"
#include "event_fields.h"
#include "live/ring/percpu.h"
#include "live/session/probe.h"
#include "sys/cgroup.h"
#include "sys/memcg.h"
#include "sys/ns.h"
#include "sys/tracefs.h"

enum grade { GRADE_OK, GRADE_MISSING, GRADE_FATAL };

static const char *const grade_name[] = {"ok", "missing", "fatal"};
static const enum fr_paint grade_paint[] = {FR_PAINT_GREEN, FR_PAINT_YELLOW, FR_PAINT_RED};

struct doctor {
	struct fr_out *o;
	struct fr_jsonw *json; /* NULL: text */
	bool able;
};

struct check {
	const char *grade, *what, *found, *cure;
};

/* clang-format off */
#define CHECK(member, name, meaning) FR_COLUMN(struct check, member, name, TEXT, meaning)
/* clang-format on */

static const struct fr_column check_columns[] = {
	CHECK(grade, "grade", "`ok`; `missing`: something cannot be recorded; `fatal`: nothing can"),
	CHECK(what, "what", "what was looked at; for each event its name"),
	CHECK(found, "found", "what was found"),
	CHECK(cure, "cure", "what to do; empty if `ok`"),
	{},
};

static const struct fr_table check_kind = {"check", "A look at the host.", check_columns};

static const struct fr_column doctor_columns[] = {
	FR_LIST(NULL, "checks", &check_kind, NULL),
	FR_COLUMN(struct doctor, able, "able", BOOL, "a session can be recorded here"),
	{},
};

const struct fr_table fr_doctor_kind = {"doctor", "What a host offers.", doctor_columns};

static void doctor_say(struct doctor *d, enum grade grade, const char *what, const char *found, const char *cure)
{
	struct fr_out *o = d->o;

	if (grade == GRADE_FATAL)
		d->able = false;
	if (d->json)
		return fr_json_object(d->json, NULL, &check_kind, NULL,
				      &(struct check){grade_name[grade], what, found, grade == GRADE_OK ? "" : cure});
	fr_out_paint(o, grade_paint[grade]);
	fr_out_printf(o, "%-8s", grade_name[grade]);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, "%-26s ", what);
	fr_escape_text(o, found, strlen(found));
	if (grade != GRADE_OK)
		fr_out_printf(o, "\n%35s-> %s", "", cure);
	fr_out_char(o, '\n');
}

static void doctor_ask(struct doctor *d, enum grade missing, const char *what, int ret, const char *cure)
{
	/* what was forbidden, or for want of memory or files not found out, says nothing about the kernel */
	cure = fr_err_cure(ret, cure);
	if ((ret == -EPERM || ret == -EACCES) && (fr_probe_caps() <= 0 || !fr_ns_is_first(FR_NS_USER)))
		cure = "get what is missing first: see permission";
	doctor_say(d, ret > 0 ? GRADE_OK : missing, what, ret > 0 ? "yes" : ret < 0 ? strerror(-ret) : "no", cure);
}

static void kernel(struct doctor *d)
{
	long cpu_cnt = sysconf(_SC_NPROCESSORS_ONLN);
	struct utsname un;
	char text[160];

	uname(&un);
	snprintf(text, sizeof(text), "%.64s, %.64s, %ld CPU%s", un.release, un.machine, cpu_cnt, fr_plural(cpu_cnt));
	doctor_say(d, GRADE_OK, "kernel", text, "");
}

static void doctor_read_line(const char *path, char *buf, size_t sz)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(buf, sz, f))
		snprintf(buf, sz, "none");
	buf[strcspn(buf, "\n")] = 0;
	if (f)
		fclose(f);
}

static void lockdown(struct doctor *d)
{
	char text[128];

	doctor_read_line("/sys/kernel/security/lockdown", text, sizeof(text));
	doctor_say(d, strstr(text, "[confidentiality]") ? GRADE_FATAL : GRADE_OK, "kernel lockdown", text,
		   "boot without lockdown=confidentiality: it forbids BPF to read kernel memory");
}

static void permissions(struct doctor *d)
{
	bool root = !geteuid();
	int able = fr_probe_caps();

	if (!fr_ns_is_first(FR_NS_USER))
		doctor_say(d, GRADE_FATAL, "permission", "of a user namespace",
			   "run outside of user namespaces: BPF asks for capabilities in the first one");
	else if (able < 0)
		doctor_ask(d, GRADE_FATAL, "permission", able, "mount /proc, which tells capabilities");
	else if (!able && root)
		doctor_say(d, GRADE_FATAL, "permission", "root without capabilities",
			   "give it CAP_BPF and CAP_PERFMON, and CAP_SYS_ADMIN where /sys/fs/bpf is to be mounted");
	else if (!able)
		doctor_say(d, GRADE_FATAL, "permission", "not root",
			   "run as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN for what /sys/fs/bpf needs");
	else
		doctor_say(d, GRADE_OK, "permission", root ? "root" : "not root", "");
}

static void processes(struct doctor *d)
{
	bool all = fr_ns_is_first(FR_NS_PID);

	doctor_say(d, all ? GRADE_OK : GRADE_MISSING, "processes of the machine", all ? "in /proc" : "of a pid namespace",
		   "names, programs and cgroups of those that live: in a container take the host's pids (--pid=host)");
}

static void cgroups(struct doctor *d)
{
	const char *v2 = fr_cgroup_mount(FR_CGROUP_TREE_v2), *memory = fr_cgroup_mount(FR_CGROUP_TREE_memory);
	int err = fr_cgroup_can_name();
	char text[256];

	if (!fr_memcg_is_v1(FR_MEMCG_PROC))
		snprintf(text, sizeof(text), "of v2, %s", v2 ?: "not mounted");
	else
		snprintf(text, sizeof(text),
			 "of v2, %s; of tasks in its root, and of the OOM killer's victims: the memory controller's v1, %s",
			 v2 ?: "not mounted", memory ?: "not mounted");
	doctor_say(d, err ? GRADE_MISSING : GRADE_OK, "paths of cgroups", text,
		   "mount them there, with CAP_DAC_READ_SEARCH; a container takes the host's (--cgroupns=host, or --pid=host)");
}

/* The least that a session takes: small rings, tables, a writer. */
#define ROOM_MIN_SZ (80ULL << 20)

static void memory(struct doctor *d)
{
	struct fr_memcg cg;
	char text[4480], room[32];

	if (!fr_memcg_room(FR_MEMCG_PROC, &cg)) {
		doctor_say(d, GRADE_OK, "memory limit", "none", "");
		return;
	}
	snprintf(text, sizeof(text), "%s left of %s", fr_show_size(cg.room, room, sizeof(room)), cg.file);
	doctor_say(d, cg.room < ROOM_MIN_SZ ? GRADE_MISSING : GRADE_OK, "memory limit", text,
		   "raise it: rings, tables and what snapshots take are charged to this cgroup, see `flightrec record -m`");
}

static void kernel_names(struct doctor *d)
{
	char text[128];

	doctor_read_line("/proc/sys/kernel/kptr_restrict", text, sizeof(text));
	doctor_say(d, text[0] == '2' ? GRADE_MISSING : GRADE_OK, "names of kernel functions",
		   text[0] == '2' ? "hidden: kernel.kptr_restrict is 2" : "told by /proc/kallsyms",
		   "`sysctl kernel.kptr_restrict=1`: root sees addresses then; without them kernel frames are numbers");
}

static void events(struct doctor *d)
{
	const struct fr_schema *schema = fr_schema_builtin();
	const struct fr_event *ev;
	int ret;
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		ev = fr_schema_event(schema, nr);
		/* those have no tracepoint of their own: we make them, by timers, of switches, at exec, and of calls */
		if (!ev || ev->group == FR_GROUP_MARK || ev->group == FR_GROUP_SAMPLE || ev->group == FR_GROUP_WAIT ||
		    nr == FR_EV_exec_argv || nr == FR_EV_sys_path || nr == FR_EV_sys_unread || nr == FR_EV_stderr_write)
			continue;
		ret = fr_probe_tracepoint(ev->name);
		if (ret < 0)
			doctor_say(d, GRADE_MISSING, ev->name, "unknown",
				   fr_err_cure(ret, "type information (BTF) would tell"));
		else
			doctor_ask(d, GRADE_MISSING, ev->name, ret,
				   "this kernel has no such tracepoint: all others are recorded without it");
	}
}

static void tracepoints(struct doctor *d)
{
	const char *root;
	int err = fr_tracefs_root(&root);

	doctor_say(d, err ? GRADE_MISSING : GRADE_OK, "tracepoints (-e tp:...)", err ? strerror(-err) : root,
		   fr_tracefs_cure(err));
}

static void probes(struct doctor *d)
{
	int type = fr_percpu_up_type();

	doctor_say(d, type < 0 ? GRADE_MISSING : GRADE_OK, "probes (-e uprobe:...)", type < 0 ? strerror(-type) : "yes",
		   "use a kernel with CONFIG_UPROBE_EVENTS");
}

static bool has_tracepoint(const char *root, const char *name)
{
	const char *colon = strchr(name, ':');
	char path[512];

	snprintf(path, sizeof(path), "%s/events/%.*s/%s/format", root, (int)(colon - name), name, colon + 1);
	return !access(path, F_OK);
}

/* Those of the default profile. No kernel has all of them. */
static void rare(struct doctor *d)
{
	char text[2048], lacks[1900] = "";
	const struct fr_rare *r;
	const char *root;
	u32 i, cnt = 0;
	size_t len = 0;

	if (fr_tracefs_root(&root))
		return;
	for (i = 0; (r = fr_rare_get(i)); i++)
		if (has_tracepoint(root, r->name))
			cnt++;
		else if (len < sizeof(lacks))
			len += snprintf(lacks + len, sizeof(lacks) - len, "%s%s", len ? ", " : ", without ", r->name);
	snprintf(text, sizeof(text), "%u of %u%s", cnt, i, lacks);
	doctor_say(d, GRADE_OK, "rare ones by default", text, "");
}

static void tracing(struct doctor *d)
{
	int ret = fr_probe_tracing();

	if (ret == -ESRCH || ret == -ENOENT)
		doctor_say(d, GRADE_FATAL, "tp_btf programs", "unknown", "they need type information (BTF)");
	else
		doctor_ask(d, GRADE_FATAL, "tp_btf programs", ret, "use a kernel from 5.15 on, with CONFIG_BPF_SYSCALL=y");
}

bool fr_doctor(struct fr_out *o, bool json)
{
	struct fr_jsonw w = {.o = o};
	struct doctor d = {.o = o, .json = json ? &w : NULL, .able = true};

	if (json) {
		fr_jsonw_open(&w, NULL, '{');
		fr_jsonw_open(&w, "checks", '[');
	}
	kernel(&d);
	permissions(&d);
	lockdown(&d);
	doctor_ask(&d, GRADE_FATAL, "type information (BTF)", fr_probe_btf(),
		   "use a kernel built with CONFIG_DEBUG_INFO_BTF=y; a container is given the host's (-v "
		   "/sys/kernel/btf:/sys/kernel/btf)");
	doctor_ask(&d, GRADE_FATAL, "bpffs at /sys/fs/bpf", fr_probe_bpffs(),
		   "`mount -t bpf bpf /sys/fs/bpf`, writable; a container is given the host's (-v /sys/fs/bpf:/sys/fs/bpf)");
	tracing(&d);
	doctor_ask(&d, GRADE_FATAL, "mapped arrays", fr_probe_mmapable(), "use a kernel from 5.15 on");
	doctor_ask(&d, GRADE_MISSING, "task iterator", fr_probe_iter_task(),
		   "names of tasks that lived before recording come from /proc, at the snapshot");
	doctor_ask(&d, GRADE_MISSING, "CPU samples", fr_probe_cpu_clock(),
		   "without perf events there are no samples: -e -sample");
	doctor_say(&d, GRADE_OK, "samples are taken by", fr_sample_event_name(fr_percpu_choose_event(0, FR_DEF_SAMPLE_HZ)), "");
	memory(&d);
	processes(&d);
	cgroups(&d);
	kernel_names(&d);
	tracepoints(&d);
	probes(&d);
	rare(&d);
	doctor_ask(&d, GRADE_MISSING, "membarrier", fr_probe_membarrier(),
		   "a damaged ring cannot be healed: end such a session");
	events(&d);
	if (json) {
		fr_jsonw_close(&w, ']');
		fr_jsonw_bool(&w, "able", d.able);
		fr_jsonw_close(&w, '}');
		fr_out_char(o, '\n');
	} else {
		fr_out_printf(o, d.able ? "A session can be recorded here: `flightrec record`\n"
					: "No session can be recorded here until what is fatal above is fixed\n");
	}
	return d.able;
}
