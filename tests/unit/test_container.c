/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose a cgroup is, as its path tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/container.h"
#include "base/text/pseudo.h"

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2  "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID  "12345678-9abc-def0-1234-56789abcdef0"
#define UID_ "12345678_9abc_def0_1234_56789abcdef0"
#define BARE "0123456789abcdef0123456789abcdef" /* a static pod's */

static const struct {
	const char *path, *name, *pod_uid, *unit; /* NULL: none */
} paths[] = {
	/* docker: systemd and cgroupfs as the driver, of v1 and v2 */
	{"/system.slice/docker-" ID ".scope", "docker-0123456789ab", NULL, NULL},
	{"/docker/" ID, "docker-0123456789ab", NULL, NULL},
	{"/docker/" ID "/init.scope", "docker-0123456789ab", NULL, "init.scope"},
	{"/docker/" ID "/system.slice/cron.service", "docker-0123456789ab", NULL, "cron.service"},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/docker-" ID ".scope", "docker-0123456789ab", NULL, NULL},
	/* podman */
	{"/machine.slice/libpod-" ID ".scope/container", "podman-0123456789ab", NULL, NULL},
	{"/machine.slice/libpod-" ID ".scope/libpod-payload-" ID, "podman-0123456789ab", NULL, NULL},
	{"/libpod_parent/libpod-" ID, "podman-0123456789ab", NULL, NULL},
	{"/machine.slice/libpod-conmon-" ID ".scope", NULL, NULL, "libpod-conmon-" ID ".scope"},
	/* kubelet: systemd as the driver */
	{"/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", "containerd-0123456789ab", UID, NULL},
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/crio-" ID ".scope", "crio-0123456789ab",
	 UID, NULL},
	{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/docker-" ID ".scope",
	 "docker-0123456789ab", UID, NULL},
	{"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" ID ".scope", NULL, UID, "crio-conmon-" ID ".scope"},
	{"/kubepods.slice/kubepods-pod" UID_ ".slice", NULL, UID, NULL},
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" BARE ".slice/cri-containerd-" ID ".scope",
	 "containerd-0123456789ab", BARE, NULL},
	/* cgroupfs as the driver */
	{"/kubepods/burstable/pod" UID "/" ID, "0123456789ab", UID, NULL},
	{"/kubepods/besteffort/pod" UID "/crio-" ID, "crio-0123456789ab", UID, NULL},
	{"/kubepods/pod" UID, NULL, UID, NULL},
	{"/kubepods/pod" BARE "/" ID, "0123456789ab", BARE, NULL},
	/* they disagree */
	{"/system.slice/containerd.service/kubepods-besteffort-pod" UID_ ".slice:cri-containerd:" ID, "containerd-0123456789ab",
	 UID, NULL},
	{"/kubepods-pod" UID_ ".slice:cri-containerd:" ID, "containerd-0123456789ab", UID, NULL},
	/* kind: a node in a container; a container in a pod: the inner one */
	{"/docker/" ID "/kubelet/kubepods/burstable/pod" UID "/" ID2, "fedcba987654", UID, NULL},
	{"/system.slice/docker-" ID ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
	 "kubelet-kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID2 ".scope",
	 "containerd-fedcba987654", UID, NULL},
	{"/system.slice/docker-" ID ".scope/system.slice/kubelet.service", "docker-0123456789ab", NULL, "kubelet.service"},
	{"/kubepods/burstable/pod" UID "/" ID "/docker/" ID2, "docker-fedcba987654", UID, NULL},
	{"/lxc.payload.web/docker/" ID, "docker-0123456789ab", NULL, NULL},
	/* seen from a namespace */
	{"/../" ID2, "fedcba987654", NULL, NULL},
	{"/../../kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", "containerd-0123456789ab", UID, NULL},
	/* others */
	{"/" ID, "0123456789ab", NULL, NULL},
	{"/ecs/8e0a3b/" ID, "0123456789ab", NULL, NULL},
	{"/system.slice/nerdctl-" ID ".scope", "containerd-0123456789ab", NULL, NULL},
	{"/lxc.payload.web/init.scope", "lxc-web", NULL, "init.scope"},
	{"/lxc/web", "lxc-web", NULL, NULL},
	{"/lxc.monitor.web", NULL, NULL, NULL},
	{"/machine.slice/machine-web.scope", "machine-web", NULL, NULL},
	{"/machine.slice/systemd-nspawn@web.service/payload", "nspawn-web", NULL, NULL},
	/* units of the host */
	{"/", NULL, NULL, NULL},
	{"", NULL, NULL, NULL},
	{"/init.scope", NULL, NULL, "init.scope"},
	{"/system.slice/ssh.service", NULL, NULL, "ssh.service"},
	{"/system.slice/ssh.service/child", NULL, NULL, "ssh.service"},
	{"/system.slice/system-getty.slice/getty@tty1.service", NULL, NULL, "getty@tty1.service"},
	{"/user.slice/user-1000.slice/session-2.scope", NULL, NULL, "session-2.scope"},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope", NULL, NULL, "app-x.scope"},
	{"/machine.slice", NULL, NULL, NULL},
	{"/machine.slice/machine-.scope", NULL, NULL, "machine-.scope"},
	{"/machine.slice/machine-web.service", NULL, NULL, "machine-web.service"},
	{"/lxc.payload.", NULL, NULL, NULL},
	{"/lxc", NULL, NULL, NULL},
	{"/lxc/", NULL, NULL, NULL},
	{"/.service", NULL, NULL, NULL},
	/* a layer's mount is no container; digits of another length are no id, and of another form no uid */
	{"/system.slice/var-lib-docker-overlay2-" ID "-merged.mount", NULL, NULL,
	 "var-lib-docker-overlay2-" ID "-merged.mount"},
	{"/docker/" ID "0", NULL, NULL, NULL},
	{"/docker/x" ID, NULL, NULL, NULL},
	{"/docker/0123456789abcdef", NULL, NULL, NULL},
	{"/docker/0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF", NULL, NULL, NULL},
	{"/kubepods/pod12ab/" ID, "0123456789ab", NULL, NULL},
	{"/kubepods/pod" UID_ "/" ID, "0123456789ab", NULL, NULL},
	{"/kubepods.slice/kubepods-pod" BARE "0.slice", NULL, NULL, NULL},
	{"/kubepods/pod", NULL, NULL, NULL},
	{"/-" ID, "0123456789ab", NULL, NULL},
	{"/:" ID, "0123456789ab", NULL, NULL},
	{"//docker//" ID "//", "docker-0123456789ab", NULL, NULL},
	{"/docker/\xff\xfe\n/x", NULL, NULL, NULL},
	{"docker/" ID, "docker-0123456789ab", NULL, NULL},
};

static void check_part(const char *is, size_t len, const char *wanted)
{
	assert_int_equal(is != NULL, wanted != NULL);
	if (wanted) {
		assert_int_equal(len, strlen(wanted));
		assert_memory_equal(is, wanted, len);
	}
}

static void test_paths(void **state)
{
	char name[FR_CONTAINER_SZ];
	struct fr_container c;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		print_message("%s\n", paths[i].path);
		fr_container_of(paths[i].path, &c);
		assert_int_equal(fr_container_name(&c, name), paths[i].name != NULL);
		if (paths[i].name)
			assert_string_equal(name, paths[i].name);
		assert_string_equal(c.pod_uid, paths[i].pod_uid ?: "");
		check_part(c.unit, c.unit_len, paths[i].unit);
		assert_true(!c.name || c.is_id == fr_container_is_id(c.name, c.name_len));
	}
}

/* Whatever is cut off, in memory that ends with it: what is told lies in the path. */
static void test_cut(void **state)
{
	char name[FR_CONTAINER_SZ];
	struct fr_container c;
	size_t i, len;
	char *path;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		for (len = 0; len <= strlen(paths[i].path); len++) {
			path = strndup(paths[i].path, len);
			assert_non_null(path);
			fr_container_of(path, &c);
			fr_container_name(&c, name);
			assert_true(!c.name || (c.name >= path && c.name + c.name_len <= path + len));
			assert_true(!c.unit || (c.unit >= path && c.unit + c.unit_len <= path + len));
			assert_true(!*c.pod_uid || fr_container_is_uid(c.pod_uid, strlen(c.pod_uid)));
			free(path);
		}
	}
}

/* A name that is longer than it is shown. */
static void test_long(void **state)
{
	char path[4096] = "/lxc.payload.", name[FR_CONTAINER_SZ];
	struct fr_container c;

	(void)state;
	memset(path + strlen(path), 'n', 3000);
	fr_container_of(path, &c);
	assert_int_equal(c.name_len, 3000);
	assert_true(fr_container_name(&c, name));
	assert_int_equal(strlen(name), FR_CONTAINER_SZ - 1);
}

/* Whose it is follows from the path with aliases, too. */
static void test_aliases(void **state)
{
	static const struct fr_alias_key key = {{1, 2}};
	struct fr_pseudo *p = fr_pseudo_new(&key);
	struct fr_container was, is;
	size_t i, sz;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const char *path = paths[i].path;

		if (!strcmp(path, "/-" ID)) /* of no engine that is known: one name */
			continue;
		print_message("%s\n", path);
		fr_container_of(path, &was);
		path = fr_pseudo_put(p, FR_PSEUDO_PATH, path, strlen(path), &sz);
		assert_non_null(path);
		print_message("%s\n", path);
		fr_container_of(path, &is);
		assert_string_equal(is.engine, was.engine);
		assert_int_equal(is.name != NULL, was.name != NULL);
		assert_int_equal(is.is_id, was.is_id);
		assert_int_equal(strlen(is.pod_uid), strlen(was.pod_uid));
		assert_int_equal(is.unit != NULL, was.unit != NULL);
		assert_true(!was.name || strncmp(is.name, was.name, was.name_len) != 0);
		assert_true(!*was.pod_uid || strcmp(is.pod_uid, was.pod_uid) != 0);
		assert_null(strstr(path, "0123456789abcdef"));
	}
	fr_pseudo_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_aliases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
