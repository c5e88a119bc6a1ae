/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Links that others laid lead nowhere; ours do. As root, with directories of another user; without root there are no others. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/safepath.h"

#define OTHER 65534u

static char dir[] = "/tmp/frtest-safepath-XXXXXX";

/* The working directory has ours/, of the caller; theirs/, of another user; and sticky/, to which all may write. */
static int make_dirs(void **state)
{
	(void)state;
	return !mkdtemp(dir) || chdir(dir) || mkdir("ours", 0755) || mkdir("theirs", 0755) || mkdir("sticky", 0755) ||
	       chmod("sticky", 01777) || (!geteuid() && chown("theirs", OTHER, OTHER));
}

static int remove_dirs(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") || system(command);
}

static void need_root(void)
{
	if (!geteuid())
		return;
	print_message("skipped: it needs root to make files of another user\n");
	skip();
}

static void lay_link(const char *to, const char *at, uid_t owner)
{
	assert_int_equal(symlink(to, at), 0);
	assert_int_equal(lchown(at, owner, -1), 0);
}

static void make_file(const char *path, uid_t owner, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, owner, -1), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* Is this descriptor of the directory at path? Closes it. */
static bool is_dir(int fd, const char *path)
{
	struct stat a, b;
	bool same;

	assert_true(fd >= 0);
	same = !fstat(fd, &a) && !stat(path, &b) && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
	close(fd);
	return same;
}

static void test_plain_paths(void **state)
{
	char name[NAME_MAX + 1], path[PATH_MAX];

	(void)state;
	assert_true(is_dir(fr_safepath_dir("ours"), "ours"));
	assert_true(is_dir(fr_safepath_dir("/"), "/"));
	assert_true(is_dir(fr_safepath_dir("./ours/../ours//"), "ours"));
	snprintf(path, sizeof(path), "%s/ours/x", dir);
	assert_true(is_dir(fr_safepath_parent(path, name), "ours"));
	assert_string_equal(name, "x");
	assert_true(is_dir(fr_safepath_parent("x", name), "."));
	assert_int_equal(fr_safepath_parent("ours/", name), -EISDIR);
	assert_int_equal(fr_safepath_parent("", name), -EISDIR);
	assert_int_equal(fr_safepath_parent("ours/..", name), -EINVAL);
	assert_int_equal(fr_safepath_parent("none/x", name), -ENOENT);
	assert_int_equal(fr_safepath_dir(""), -ENOENT);
	memset(path, 'n', NAME_MAX + 1);
	path[NAME_MAX + 1] = 0;
	assert_int_equal(fr_safepath_parent(path, name), -ENAMETOOLONG);
	memset(path, '/', PATH_MAX - 1);
	path[PATH_MAX - 1] = 0;
	assert_true(is_dir(fr_safepath_dir(path), "/"));
}

static void test_our_links_are_followed(void **state)
{
	char name[NAME_MAX + 1];

	(void)state;
	lay_link("ours", "to-ours", geteuid());
	assert_true(is_dir(fr_safepath_dir("to-ours"), "ours"));
	lay_link("../to-ours/deep", "ours/link", geteuid());
	assert_int_equal(mkdir("ours/deep", 0755), 0);
	assert_true(is_dir(fr_safepath_dir("ours/link"), "ours/deep"));
	assert_true(is_dir(fr_safepath_target("ours/link/x", name), "ours/deep"));
	assert_string_equal(name, "x");
	make_file("ours/deep/file", geteuid(), 0644);
	lay_link("deep/file", "ours/to-file", geteuid());
	assert_true(is_dir(fr_safepath_target("ours/to-file", name), "ours/deep"));
	assert_string_equal(name, "file");
	assert_true(is_dir(fr_safepath_parent("ours/to-file", name), "ours"));
	assert_string_equal(name, "to-file");
	lay_link("nothing", "ours/to-nothing", geteuid());
	assert_int_equal(fr_safepath_target("ours/to-nothing", name), -ENOENT);
	lay_link("loop", "ours/loop", geteuid());
	assert_int_equal(fr_safepath_dir("ours/loop"), -ELOOP);
	assert_int_equal(fr_safepath_target("ours/loop", name), -ELOOP);
	assert_int_equal(fr_safepath_dir("ours/to-file"), -ENOTDIR);
}

/* Theirs, in their directory, in a directory of all, and even in ours; and ours where they may have put it. */
static void test_links_of_others_are_not(void **state)
{
	char name[NAME_MAX + 1];

	(void)state;
	need_root();
	lay_link("/etc", "theirs/etc", OTHER);
	lay_link("../ours", "theirs/moved", 0);
	lay_link("../ours", "sticky/theirs", OTHER);
	lay_link("../ours", "sticky/mine", 0);
	lay_link("deep", "ours/given", OTHER);
	assert_int_equal(fr_safepath_dir("theirs/etc"), -ELOOP);
	assert_int_equal(fr_safepath_parent("theirs/etc/passwd", name), -ELOOP);
	assert_int_equal(fr_safepath_target("theirs/etc", name), -ELOOP);
	assert_int_equal(fr_safepath_dir("theirs/moved"), -ELOOP);
	assert_int_equal(fr_safepath_dir("sticky/theirs"), -ELOOP);
	assert_true(is_dir(fr_safepath_dir("sticky/mine"), "ours"));
	assert_int_equal(fr_safepath_dir("ours/given"), -ELOOP);
	assert_true(is_dir(fr_safepath_parent("theirs/etc", name), "theirs")); /* the name itself is not looked at */
	assert_int_equal(mkdir("shared", 0755), 0);
	assert_int_equal(chmod("shared", 0775), 0); /* a group may replace what lies there */
	lay_link("../ours", "shared/link", 0);
	assert_int_equal(fr_safepath_dir("shared/link"), -ELOOP);
}

static void test_directories_are_made(void **state)
{
	(void)state;
	assert_int_equal(fr_safepath_mkdir("ours/new//"), 0);
	assert_true(is_dir(fr_safepath_dir("ours/new"), "ours/new"));
	assert_int_equal(fr_safepath_mkdir("ours/new"), -EEXIST);
	assert_int_equal(fr_safepath_mkdir("none/new"), -ENOENT);
}

static void test_a_descriptor_without_a_path(void **state)
{
	char name[NAME_MAX + 1], path[32];
	int pipes[2], fd;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pipes[1]);
	assert_int_equal(fr_safepath_target(path, name), -ENOLINK);
	fd = open("ours", O_TMPFILE | O_RDWR, 0600);
	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	assert_int_equal(fr_safepath_target(path, name), -ENOLINK);
	close(fd);
	fd = open("ours", O_RDONLY | O_DIRECTORY);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_true(is_dir(fr_safepath_dir(path), "ours"));
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
}

static int try_config(const char *path)
{
	int fd = fr_safepath_config(path);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void test_configurations(void **state)
{
	(void)state;
	make_file("ours/conf", geteuid(), 0644);
	assert_int_equal(try_config("ours/conf"), 0);
	assert_int_equal(try_config("ours"), -EISDIR);
	assert_int_equal(try_config("ours/none"), -ENOENT);
	assert_int_equal(mkfifo("ours/pipe", 0600), 0);
	assert_int_equal(try_config("ours/pipe"), -EINVAL);
	make_file("ours/group", geteuid(), 0664);
	make_file("ours/all", geteuid(), 0646);
	assert_int_equal(try_config("ours/group"), -EPERM);
	assert_int_equal(try_config("ours/all"), -EPERM);
	make_file("sticky/conf", geteuid(), 0600);
	assert_int_equal(try_config("sticky/conf"), 0);
	lay_link("../ours/conf", "sticky/conf-link", geteuid());
	assert_int_equal(try_config("sticky/conf-link"), 0);
	assert_int_equal(mkdir("open", 0777) || chmod("open", 0777), 0);
	make_file("open/conf", geteuid(), 0600);
	assert_int_equal(try_config("open/conf"), -EPERM);
}

static void test_configurations_of_others(void **state)
{
	(void)state;
	need_root();
	make_file("ours/foreign", OTHER, 0600);
	make_file("theirs/conf", 0, 0600);
	lay_link("../ours/conf", "theirs/conf-link", OTHER);
	assert_int_equal(try_config("ours/foreign"), -EPERM);
	assert_int_equal(try_config("theirs/conf"), -EPERM);
	assert_int_equal(try_config("theirs/conf-link"), -ELOOP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_paths),
		cmocka_unit_test(test_our_links_are_followed),
		cmocka_unit_test(test_links_of_others_are_not),
		cmocka_unit_test(test_directories_are_made),
		cmocka_unit_test(test_a_descriptor_without_a_path),
		cmocka_unit_test(test_configurations),
		cmocka_unit_test(test_configurations_of_others),
	};

	return cmocka_run_group_tests(tests, make_dirs, remove_dirs);
}
