/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of containers, from the files of their engines: their forms, and files that somebody has rigged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/ctfiles.h"

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define POD   "12345678-9abc-def0-1234-56789abcdef0"

/* "container|pod|namespace|image|pod uid" */
static const char *all_of(const struct fr_ctnames *n)
{
	static char text[2048];

	snprintf(text, sizeof(text), "%s|%s|%s|%s|%s", n->container, n->pod, n->namespace, n->image, n->pod_uid);
	return text;
}

static const char *names_of(enum fr_ctnames_form form, const char *text)
{
	struct fr_ctnames n = {};

	if (fr_ctnames_read(form, text, strlen(text), ID, &n))
		return "refused";
	return all_of(&n);
}

#define OCI(annotations) "{\"ociVersion\":\"1.1.0\",\"process\":{\"args\":[\"a\"]},\"annotations\":{" annotations "}}"

static const struct {
	enum fr_ctnames_form form;
	const char *text, *names;
} texts[] = {
	{FR_CTNAMES_oci,
	 OCI("\"io.kubernetes.cri.container-name\":\"app\",\"io.kubernetes.cri.sandbox-name\":\"api-0\","
	     "\"io.kubernetes.cri.sandbox-uid\":\"" POD "\",\"io.kubernetes.cri.sandbox-namespace\":\"prod\","
	     "\"io.kubernetes.cri.image-name\":\"docker.io/library/nginx:1\""),
	 "app|api-0|prod|docker.io/library/nginx:1|" POD},
	{FR_CTNAMES_oci,
	 OCI("\"io.kubernetes.container.name\":\"app\",\"io.kubernetes.pod.name\":\"api-0\","
	     "\"io.kubernetes.pod.namespace\":\"prod\",\"io.kubernetes.pod.uid\":\"" POD "\","
	     "\"io.kubernetes.cri-o.ImageName\":\"quay.io/x@sha256:00\""),
	 "app|api-0|prod|quay.io/x@sha256:00|" POD},
	{FR_CTNAMES_oci, OCI("\"nerdctl/name\":\"web\""), "web||||"},
	{FR_CTNAMES_oci, "{\"annotations\":{\"x\":{\"nerdctl/name\":\"web\"}},\"nerdctl/name\":\"web\"}", "||||"},
	{FR_CTNAMES_oci, OCI("\"io.kubernetes.cri.sandbox-uid\":\"../../etc\""), "||||"},
	{FR_CTNAMES_docker, "{\"Name\":\"/web\",\"Config\":{\"Image\":\"nginx:1\",\"Labels\":{}}}", "web|||nginx:1|"},
	{FR_CTNAMES_docker,
	 "{\"Config\":{\"Image\":\"i\",\"Labels\":{\"io.kubernetes.pod.name\":\"api-0\",\"io.kubernetes.container.name\":"
	 "\"app\","
	 "\"io.kubernetes.pod.namespace\":\"prod\",\"io.kubernetes.pod.uid\":\"" POD "\"}},\"Name\":\"/k8s_app_api-0_prod\"}",
	 "app|api-0|prod|i|" POD},
	/* a place that has no name hides none that comes behind it */
	{FR_CTNAMES_docker,
	 "{\"Config\":{\"Labels\":{\"io.kubernetes.container.name\":\"\",\"io.kubernetes.pod.name\":\"a "
	 "b\"}},\"Name\":\"/web\"}",
	 "web||||"},
	{FR_CTNAMES_oci, OCI("\"io.kubernetes.cri.container-name\":\"a b\",\"nerdctl/name\":\"web\""), "web||||"},
	{FR_CTNAMES_storage,
	 "[{\"id\":\"" OTHER "\",\"names\":[\"other\"],\"metadata\":\"{\\\"image-name\\\":\\\"no\\\"}\"},"
	 "{\"id\":\"" ID
	 "\",\"names\":[\"web\"],\"metadata\":\"{\\\"image-name\\\":\\\"alpine:3\\\",\\\"name\\\":\\\"x\\\"}\"}]",
	 "web|||alpine:3|"},
	{FR_CTNAMES_storage, "[{\"names\":[\"web\"],\"id\":\"" ID "\"}]", "||||"},
	/* what is no name, and is none */
	{FR_CTNAMES_docker, "{\"Name\":\"/\"}", "||||"},
	{FR_CTNAMES_docker, "{\"Name\":\"/a b\"}", "||||"},
	{FR_CTNAMES_docker, "{\"Name\":\"/a\\nb\"}", "||||"},
	{FR_CTNAMES_docker, "{\"Name\":\"/\\u202e\"}", "||||"},
	{FR_CTNAMES_docker, "{\"Name\":\"/a\\\"b\"}", "||||"},
	{FR_CTNAMES_docker, "{\"Name\":[\"/a\"]}", "||||"},
	/* what is no JSON tells nothing, not even what came before */
	{FR_CTNAMES_docker, "{\"Name\":\"/web\"", "refused"},
	{FR_CTNAMES_docker, "{\"Name\":\"/web\",\"x\":\"\xff\"}", "refused"},
	{FR_CTNAMES_docker, "", "refused"},
};

static void test_texts(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_string_equal(names_of(texts[i].form, texts[i].text), texts[i].names);
}

static void test_long(void **state)
{
	char text[1024];

	(void)state;
	snprintf(text, sizeof(text), "{\"Name\":\"/%0253d\"}", 0);
	assert_int_equal(strlen(names_of(FR_CTNAMES_docker, text)), 253 + 4);
	snprintf(text, sizeof(text), "{\"Name\":\"/%0254d\"}", 0);
	assert_string_equal(names_of(FR_CTNAMES_docker, text), "||||");
}

/* Each beginning of a text, in memory that ends with it, is refused; each other byte does no harm. */
static void test_damaged(void **state)
{
	size_t i, k, len;
	char *copy;
	int c;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (len = 0; len < strlen(texts[i].text); len++) {
			copy = strndup(texts[i].text, len);
			assert_string_equal(names_of(texts[i].form, copy), "refused");
			free(copy);
		}
		for (k = 0; k < len; k++)
			for (c = 1; c < 256; c += 50) {
				copy = strdup(texts[i].text);
				copy[k] = c;
				names_of(texts[i].form, copy);
				free(copy);
			}
	}
}

static const char *log_names(const char *file)
{
	struct fr_ctnames n = {};

	fr_ctnames_of_log(file, ID, &n);
	return all_of(&n);
}

static const char *pod_names(const char *dir)
{
	struct fr_ctnames n = {};

	fr_ctnames_of_pod(dir, POD, &n);
	return all_of(&n);
}

static void test_logs(void **state)
{
	(void)state;
	assert_string_equal(log_names("api-0_prod_app-" ID ".log"), "app|api-0|prod||");
	assert_string_equal(log_names("api-0_prod_app-" OTHER ".log"), "||||");
	assert_string_equal(log_names("api-0_prod_app-" ID), "||||");
	assert_string_equal(log_names("_-" ID ".log"), "||||");
	assert_string_equal(log_names("-" ID ".log"), "||||");
	assert_string_equal(log_names("a_b-" ID ".log"), "||||");
	assert_string_equal(log_names(ID ".log"), "||||");
	assert_string_equal(log_names("__-" ID ".log"), "||||");
	assert_string_equal(log_names(""), "||||");
	assert_string_equal(pod_names("prod_api-0_" POD), "|api-0|prod||");
	assert_string_equal(pod_names("prod_" POD), "||||");
	assert_string_equal(pod_names("_" POD), "||||");
	assert_string_equal(pod_names(POD), "||||");
	assert_string_equal(pod_names("prod_api-0_x"), "||||");
}

/* ---- files ---- */

static char root[] = "/tmp/fr-ctfiles-XXXXXX";

static void put_dirs(const char *path)
{
	char copy[512], *at;

	snprintf(copy, sizeof(copy), "%s%s", root, path);
	for (at = strchr(copy + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = 0;
		mkdir(copy, 0755);
		*at = '/';
	}
}

static const char *in_root(const char *path)
{
	static char text[512];

	snprintf(text, sizeof(text), "%s%s", root, path);
	return text;
}

static void put_file(const char *path, const char *content)
{
	FILE *f;

	put_dirs(path);
	f = fopen(in_root(path), "w");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}

/* And whether something may be missing. */
static const char *file_names_but(int err)
{
	struct fr_ctnames n = {.pod_uid = POD};

	assert_int_equal(fr_ctfiles_names(root, ID, &n), err);
	return all_of(&n);
}

static const char *file_names(void)
{
	return file_names_but(0);
}

#define DOCKER	"/var/lib/docker/containers/" ID "/config.v2.json"
#define CRI	"/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json"
#define STORAGE "/var/lib/containers/storage/overlay-containers/containers.json"

static void test_files(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(root));
	chmod(root, 0755);
	assert_string_equal(file_names(), "||||" POD);
	put_file("/var/log/pods/prod_api-0_" POD "/app/0.log", "");
	assert_string_equal(file_names(), "|api-0|prod||" POD);
	put_file("/var/log/containers/api-1_prod_app-" ID ".log", "");
	assert_string_equal(file_names(), "app|api-1|prod||" POD);
	put_file(STORAGE, texts[9].text);
	assert_string_equal(file_names(), "web|api-1|prod|alpine:3|" POD);
	put_file(CRI, texts[0].text);
	assert_string_equal(file_names(), texts[0].names);
	unlink(in_root(CRI));
	unlink(in_root(STORAGE));
	put_file(DOCKER, texts[5].text);
	assert_string_equal(file_names(), "web|api-1|prod|nginx:1|" POD);
}

/* A file that we have no right to look for may have names: that is said, and the others' are taken. */
static void test_denied(void **state)
{
	bool is_root = !geteuid();

	(void)state;
	put_file("/run/containers/storage/overlay-containers/" ID "/userdata/config.json", texts[0].text);
	chmod(in_root("/var/lib/docker"), 0700);
	if (is_root)
		assert_int_equal(seteuid(65534), 0);
	else
		chmod(in_root("/var/lib/docker"), 0);
	assert_string_equal(file_names_but(-EACCES), texts[0].names);
	assert_int_equal(is_root ? seteuid(0) : 0, 0);
	chmod(in_root("/var/lib/docker"), 0755);
	unlink(in_root("/run/containers/storage/overlay-containers/" ID "/userdata/config.json"));
}

/* What is no regular file of root's, or too large, is as if it was not there; nothing is waited for. */
static void test_rigged(void **state)
{
	static const char without[] = "app|api-1|prod||" POD;

	(void)state;
	chmod(in_root(DOCKER), 0666);
	assert_string_equal(file_names(), without);
	unlink(in_root(DOCKER));
	assert_int_equal(mkfifo(in_root(DOCKER), 0600), 0);
	assert_string_equal(file_names(), without);
	unlink(in_root(DOCKER));
	assert_int_equal(symlink("/dev/zero", in_root(DOCKER)), 0);
	assert_string_equal(file_names(), without);
	unlink(in_root(DOCKER));
	mkdir(in_root(DOCKER), 0755);
	assert_string_equal(file_names(), without);
	rmdir(in_root(DOCKER));
	put_file(DOCKER, texts[5].text);
	assert_int_equal(truncate(in_root(DOCKER), 1LL << 30), 0);
	assert_string_equal(file_names(), without);
	put_file(DOCKER, "{\"Name\":\"/\xff\xfe\"}");
	assert_string_equal(file_names(), without);
	put_file(DOCKER, texts[5].text);
	chmod(in_root("/var/lib/docker"), 0777);
	assert_string_equal(file_names(), without);
	chmod(in_root("/var/lib/docker"), 0755);
	if (!geteuid()) {
		assert_int_equal(chown(in_root(DOCKER), 65534, 65534), 0);
		assert_string_equal(file_names(), without);
	}
	chmod(in_root("/var/log/containers"), 0777);
	assert_string_equal(file_names(), geteuid() ? "web|api-0|prod|nginx:1|" POD : "|api-0|prod||" POD);
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),  cmocka_unit_test(test_long),  cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_logs),   cmocka_unit_test(test_files), cmocka_unit_test(test_denied),
		cmocka_unit_test(test_rigged),
	};

	return cmocka_run_group_tests(tests, NULL, remove_root);
}
