/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The container that a cgroup's path tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/text/container.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *path, *name; /* NULL: none */
} paths[] = {
	{"/system.slice/docker-" ID ".scope", "docker-0123456789ab"},
	{"/docker/" ID, "docker-0123456789ab"},
	{"/docker/" ID "/init.scope", "docker-0123456789ab"},
	{"/machine.slice/libpod-" ID ".scope/container", "libpod-0123456789ab"},
	{"/kubepods.slice/kubepods-pod12.slice/cri-containerd-" ID ".scope", "cri-containerd-0123456789ab"},
	{"/kubepods/burstable/pod12ab/" ID, "pod12ab-0123456789ab"},
	{"/system.slice/containerd.service/kubepods-besteffort-pod12.slice:cri-containerd:" ID,
	 "kubepods-besteffort-pod12.slice:cri-containerd-0123456789ab"},
	{"/kubepods/pod12--/" ID, "pod12-0123456789ab"},
	{"/" ID, "0123456789ab"},
	{"/lxc.payload.web/init.scope", "lxc-web"},
	{"/machine.slice/machine-web.scope", "machine-web"},
	{"/machine.slice/systemd-nspawn@web.service/payload", "nspawn-web"},
	/* a container in a container: the inner one */
	{"/lxc.payload.web/docker/" ID, "docker-0123456789ab"},
	{"/", NULL},
	{"", NULL},
	{"/system.slice/ssh.service", NULL},
	{"/user.slice/user-1000.slice/session-2.scope", NULL},
	{"/machine.slice", NULL},
	{"/machine.slice/machine-.scope", NULL},
	{"/machine.slice/machine-web.service", NULL},
	{"/lxc.payload.", NULL},
	/* digits of another length are no id */
	{"/docker/" ID "0", NULL},
	{"/docker/0123456789abcdef", NULL},
};

static void test_paths(void **state)
{
	char name[FR_CONTAINER_SZ];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		bool is = fr_container_name(paths[i].path, name);

		print_message("%s\n", paths[i].path);
		assert_int_equal(is, paths[i].name != NULL);
		if (is)
			assert_string_equal(name, paths[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
