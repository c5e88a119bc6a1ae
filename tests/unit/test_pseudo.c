/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names in texts: what is replaced, by the form of the text, and what stays. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/pseudo.h"

#define ROOM 1024

static const struct fr_alias_key key = {{1, 2}};

/* Each @NAME@ in text becomes the name's alias. */
static void expect(char *to, const char *text)
{
	const char *end;

	for (; *text; text++) {
		if (*text != '@') {
			*to++ = *text;
			continue;
		}
		end = strchr(text + 1, '@');
		fr_alias_name(&key, text + 1, end - text - 1, to);
		to += FR_ALIAS_LEN;
		text = end;
	}
	*to = 0;
}

static void check(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text, const char *want)
{
	char wanted[ROOM];
	size_t sz;
	const char *got = fr_pseudo_put(p, form, text, strlen(text), &sz);

	assert_non_null(got);
	expect(wanted, want);
	assert_string_equal(got, wanted);
	assert_int_equal(sz, strlen(wanted));
}

static void learn(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text)
{
	assert_int_equal(fr_pseudo_learn(p, form, text, strlen(text)), 0);
}

static void keep(struct fr_pseudo *p, const char *text)
{
	assert_int_equal(fr_pseudo_keep(p, text, strlen(text)), 0);
}

static void keep_in_rules(struct fr_pseudo *p, const char *text)
{
	assert_int_equal(fr_pseudo_keep_in_rules(p, text, strlen(text)), 0);
}

/* The alias of an address; valid for three more calls. */
static const char *ip(const char *text)
{
	static char as[4][INET6_ADDRSTRLEN];
	static u32 nr;
	u8 address[16];
	char *out = as[nr++ % 4];

	assert_int_equal(inet_pton(AF_INET, text, address), 1);
	fr_alias_address(&key, address, 4);
	assert_non_null(inet_ntop(AF_INET, address, out, INET6_ADDRSTRLEN));
	return out;
}

static void names_are_replaced_whole(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	keep(p, "kworker/0:1");
	check(p, FR_PSEUDO_NAME, "Web Content", "@Web Content@");
	check(p, FR_PSEUDO_NAME, "kworker/0:1", "kworker/0:1");
	check(p, FR_PSEUDO_NAME, "4711", "4711");
	check(p, FR_PSEUDO_NAME, "", "");
	fr_pseudo_free(p);
}

static void paths_by_component(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	check(p, FR_PSEUDO_PATH, "/usr/bin/billing", "/usr/bin/@billing@");
	check(p, FR_PSEUDO_PATH, "/srv/a b/x y.dat", "/srv/@a b@/@x y.dat@");
	check(p, FR_PSEUDO_PATH, "run/billing", "run/@billing@");
	check(p, FR_PSEUDO_PATH, "/dev/sda1", "/dev/sda1");
	check(p, FR_PSEUDO_PATH, "/dev/shm/acme", "/dev/shm/@acme@");
	check(p, FR_PSEUDO_PATH, "/proc/12/stat", "/proc/12/stat");
	check(p, FR_PSEUDO_PATH, "/sys/block/sda", "/sys/block/sda");
	check(p, FR_PSEUDO_PATH, "/sys/fs/cgroup/acme", "/sys/@fs@/cgroup/@acme@");
	check(p, FR_PSEUDO_PATH, "/system.slice/billing.service", "/system.slice/@billing@.service");
	check(p, FR_PSEUDO_PATH, "/x/system.slice/..", "/@x@/system.slice/..");
	fr_pseudo_free(p);
}

/* Readers know containers and pods by these forms (container.h). */
static void ids_stay_ids(void **state)
{
	static const char id[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
	struct fr_pseudo *p = fr_pseudo_new(&key);
	char text[ROOM], want[ROOM], other[65];

	(void)state;
	strcpy(other, id);
	fr_alias_hex(&key, other, 64);
	assert_string_not_equal(other, id);
	snprintf(text, sizeof(text), "/system.slice/docker-%s.scope", id);
	snprintf(want, sizeof(want), "/system.slice/docker-%s.scope", other);
	check(p, FR_PSEUDO_PATH, text, want);
	snprintf(text, sizeof(text), "container %s died", id);
	snprintf(want, sizeof(want), "container %s died", other);
	check(p, FR_PSEUDO_TEXT, text, want);
	strcpy(other, "12345678_9abc_def0_1234_56789abcdef0");
	fr_alias_hex(&key, other, strlen(other));
	snprintf(want, sizeof(want), "/kubepods.slice/kubepods-pod%s.slice", other);
	check(p, FR_PSEUDO_PATH, "/kubepods.slice/kubepods-pod12345678_9abc_def0_1234_56789abcdef0.slice", want);
	fr_pseudo_free(p);
}

static void words_of_command_lines(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	keep(p, "crash");
	check(p, FR_PSEUDO_WORDS, "billing --port 8080 --user=alice -v", "@billing@ --port 8080 --user=@alice@ -v");
	check(p, FR_PSEUDO_WORDS, "run /srv/acme/x,y 10ms 1.5G 0x1f", "@run@ /srv/@acme@/@x@,@y@ 10ms 1.5G 0x1f");
	check(p, FR_PSEUDO_WORDS, "bob+db.acme.example:5432,x", "@bob+db.acme.example@:5432,@x@");
	check(p, FR_PSEUDO_WORDS, "--password hunter2 z", "--password [redacted] @z@");
	check(p, FR_PSEUDO_WORDS, "crash billing", "crash @billing@");
	check(p, FR_PSEUDO_WORDS, "\xc3\xa4\xc3\xb6 x", "@\xc3\xa4\xc3\xb6@ @x@");
	assert_int_equal(fr_pseudo_secret_cnt(p), 1);
	fr_pseudo_free(p);
}

static void lines_by_what_is_known(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	learn(p, FR_PSEUDO_NAME, "Web Content");
	learn(p, FR_PSEUDO_NAME, "billing");
	learn(p, FR_PSEUDO_WORDS, "x --user alice --token sesame");
	learn(p, FR_PSEUDO_PATH, "/srv/acme/data");
	check(p, FR_PSEUDO_TEXT, "Killed process 12 (billing) by Web Content.",
	      "Killed process 12 (@billing@) by @Web Content@.");
	check(p, FR_PSEUDO_TEXT, "billings Web Contents, alice; acme:data.", "billings Web Contents, @alice@; @acme@:@data@.");
	check(p, FR_PSEUDO_TEXT, "file /opt/unknown/x is gone", "file /opt/@unknown@/@x@ is gone");
	check(p, FR_PSEUDO_TEXT, "token=sesame x", "token=[redacted] x");
	check(p, FR_PSEUDO_TEXT, "and/or 4/0/0 12:34:56 [1.25] a:b", "and/or 4/0/0 12:34:56 [1.25] a:b");
	fr_pseudo_free(p);
}

/* Where no name has several words. */
static void single_words_are_known(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	learn(p, FR_PSEUDO_NAME, "billing");
	check(p, FR_PSEUDO_TEXT, "Killed process 12 (billing), not billings.", "Killed process 12 (@billing@), not billings.");
	fr_pseudo_free(p);
}

static void addresses_in_texts(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);
	u8 a[4] = {10, 1, 2, 3}, six[16] = {0xfd, [15] = 0x17};
	char want[ROOM];

	(void)state;
	fr_alias_address(&key, a, 4);
	snprintf(want, sizeof(want), "tcp:%u.%u.%u.%u:80-127.0.0.1:4711", a[0], a[1], a[2], a[3]);
	check(p, FR_PSEUDO_OBJECT, "tcp:10.1.2.3:80-127.0.0.1:4711", want);
	snprintf(want, sizeof(want), "from %u.%u.%u.%u.", a[0], a[1], a[2], a[3]);
	check(p, FR_PSEUDO_TEXT, "from 10.1.2.3.", want);
	fr_alias_address(&key, six, 16);
	snprintf(want, sizeof(want), "x [100::%x:%x:%x:%x]:80", six[8] << 8 | six[9], six[10] << 8 | six[11],
		 six[12] << 8 | six[13], six[14] << 8 | six[15]);
	check(p, FR_PSEUDO_TEXT, "x [fd00::17]:80", want);
	check(p, FR_PSEUDO_TEXT, "[::1]:80 1.2.3", "[::1]:80 1.2.3");
	fr_pseudo_free(p);
}

static void objects_by_scheme(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	learn(p, FR_PSEUDO_WORDS, "work ext4 eventpoll wb_workfn");
	check(p, FR_PSEUDO_OBJECT, "ext4:/var/a b/x", "ext4:/var/@a b@/@x@");
	check(p, FR_PSEUDO_OBJECT, "ext4:...ng/path", "ext4:@...ng@/@path@");
	check(p, FR_PSEUDO_OBJECT, "[eventpoll]", "[eventpoll]");
	check(p, FR_PSEUDO_OBJECT, "[memfd:acme x]", "[memfd:@acme x@]");
	check(p, FR_PSEUDO_OBJECT, "work:wb_workfn", "work:wb_workfn");
	check(p, FR_PSEUDO_OBJECT, "unix:/run/acme", "unix:/run/@acme@");
	check(p, FR_PSEUDO_OBJECT, "unix:", "unix:");
	check(p, FR_PSEUDO_OBJECT, "pipe:[12]", "pipe:[12]");
	fr_pseudo_free(p);
}

/* What is one name, or one word, may be an address as well. */
static void addresses_are_no_numbers(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);
	char text[ROOM];

	(void)state;
	snprintf(text, sizeof(text), "tcp:%s:80-%s:4711", ip("10.1.2.3"), ip("10.4.5.6"));
	check(p, FR_PSEUDO_OBJECT, "tcp:10.1.2.3:80-10.4.5.6:4711", text);
	snprintf(text, sizeof(text), "udp:%s:53-%s:0", ip("10.1.2.3"), ip("10.4.5.6"));
	check(p, FR_PSEUDO_OBJECT, "udp:10.1.2.3:53-10.4.5.6:0", text);
	check(p, FR_PSEUDO_NAME, "10.1.2.3", ip("10.1.2.3"));
	snprintf(text, sizeof(text), "/srv/%s/@x@", ip("10.1.2.3"));
	check(p, FR_PSEUDO_PATH, "/srv/10.1.2.3/x", text);
	snprintf(text, sizeof(text), "/srv/%s", ip("10.1.2.3"));
	check(p, FR_PSEUDO_WORDS, "/srv/10.1.2.3", text);
	check(p, FR_PSEUDO_TEXT, "10.1.2.3-x", strcat(strcpy(text, ip("10.1.2.3")), "-x"));
	check(p, FR_PSEUDO_NAME, "ip-10-1-2-3", "@ip-10-1-2-3@");
	check(p, FR_PSEUDO_WORDS, "10-1-2-3 1.2.3 -5.25 0-3", "@10-1-2-3@ 1.2.3 -5.25 0-3");
	fr_pseudo_free(p);
}

/* The value of an option of one letter is a word. */
static void options_have_values(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);
	char text[ROOM];

	(void)state;
	check(p, FR_PSEUDO_WORDS, "mysql -ualice -pSesame -hdb.acme.example",
	      "@mysql@ -u@alice@ -p@Sesame@ -h@db.acme.example@");
	check(p, FR_PSEUDO_WORDS, "gcc -Iacme -I/srv/acme -n5 -O2 -v --acme -",
	      "@gcc@ -I@acme@ -I/srv/@acme@ -n5 -O2 -v --acme -");
	snprintf(text, sizeof(text), "-h%s -x.", ip("10.1.2.3"));
	check(p, FR_PSEUDO_WORDS, "-h10.1.2.3 -x.", text);
	fr_pseudo_free(p);
}

static void rules_keep_their_words(void **state)
{
	static const char *const word[] = {"crash",  "all",  "exe", "cooldown", "comm",
					   "memory", "full", "psi", "syscalls", "events"};
	struct fr_pseudo *p = fr_pseudo_new(&key);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		keep_in_rules(p, word[i]);
	check(p, FR_PSEUDO_RULE, "crash:all,exe=/x/*,cooldown=1m", "crash:all,exe=/@x@/*,cooldown=1m");
	check(p, FR_PSEUDO_RULE, "psi:memory.full>10%/1s", "psi:memory.full>10%/1s");
	check(p, FR_PSEUDO_RULE, "crash:comm=all,cooldown=1m", "crash:comm=@all@,cooldown=1m");
	check(p, FR_PSEUDO_RULE, "crash:comm=all:exe=crash", "crash:comm=@all@:exe=@crash@");
	check(p, FR_PSEUDO_RULE, "comm == \"all\" && crash || acme", "comm == \"@all@\" && crash || @acme@");
	check(p, FR_PSEUDO_RULE, "comm == \"--acme-x\" || comm == \"-bash\"", "comm == \"@--acme-x@\" || comm == \"@-bash@\"");
	check(p, FR_PSEUDO_RULE, "crash:comm=--acme,exe=-x", "crash:comm=@--acme@,exe=@-x@");
	check(p, FR_PSEUDO_RULE, "--events -syscalls,+psi,+acme", "--events -syscalls,+psi,@+acme@");
	check(p, FR_PSEUDO_NAME, "crash", "@crash@");
	check(p, FR_PSEUDO_WORDS, "all crash", "@all@ @crash@");
	learn(p, FR_PSEUDO_NAME, "a b");
	learn(p, FR_PSEUDO_WORDS, "crash all");
	check(p, FR_PSEUDO_RULE, "crash:all,comm=all", "crash:all,comm=@all@");
	check(p, FR_PSEUDO_TEXT, "crash of a b", "@crash@ of @a b@");
	fr_pseudo_free(p);
}

/* A name is the same one without what systemd puts behind it, and in any text. */
static void units_are_names_everywhere(void **state)
{
	static const char unit[] = "/system.slice/foo@bar.service";
	struct fr_pseudo *p = fr_pseudo_new(&key);
	char path[ROOM], text[ROOM];
	size_t sz;

	(void)state;
	learn(p, FR_PSEUDO_PATH, "/system.slice/nginx.service");
	check(p, FR_PSEUDO_TEXT, "nginx.service failed: nginx.", "@nginx@.service failed: @nginx@.");
	learn(p, FR_PSEUDO_PATH, "/system.slice/dev-a\\x2db.mount");
	learn(p, FR_PSEUDO_PATH, unit);
	check(p, FR_PSEUDO_TEXT, "nginx.service failed: nginx.", "@nginx@.service failed: @nginx@.");
	check(p, FR_PSEUDO_WORDS, "nginx.service", "@nginx@.service");
	check(p, FR_PSEUDO_PATH, "/nginx.swap", "/@nginx@.swap");
	check(p, FR_PSEUDO_TEXT, "of /dev-a\\x2db.mount", "of /@dev-a\\x2db@.mount");
	check(p, FR_PSEUDO_TEXT, "dev-a\\x2db.mount, dev-a\\x2db.mountx.", "@dev-a\\x2db@.mount, dev-a\\x2db.mountx.");
	strcpy(path, fr_pseudo_put(p, FR_PSEUDO_PATH, unit, strlen(unit), &sz));
	assert_null(strstr(path, "bar"));
	assert_string_equal(fr_pseudo_put(p, FR_PSEUDO_TEXT, unit, strlen(unit), &sz), path);
	strcpy(text, fr_pseudo_put(p, FR_PSEUDO_TEXT, "foo@bar.service", strlen("foo@bar.service"), &sz));
	assert_string_equal(text, strrchr(path, '/') + 1);
	fr_pseudo_free(p);
}

static void kernels_paths_end_where_names_begin(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	check(p, FR_PSEUDO_PATH, "/dev/vg/lv", "/dev/@vg@/@lv@");
	check(p, FR_PSEUDO_PATH, "/dev/zvol/pool/set", "/dev/@zvol@/@pool@/@set@");
	check(p, FR_PSEUDO_PATH, "/dev/mapper/vg-lv", "/dev/mapper/@vg-lv@");
	check(p, FR_PSEUDO_PATH, "/dev/pts/3", "/dev/pts/3");
	check(p, FR_PSEUDO_PATH, "/dev/bus/usb/001/002", "/dev/bus/usb/001/002");
	check(p, FR_PSEUDO_PATH, "/dev/input/by-id/x", "/dev/input/@by-id@/@x@");
	check(p, FR_PSEUDO_PATH, "/proc/12/root/srv/acme", "/proc/12/root/srv/@acme@");
	check(p, FR_PSEUDO_PATH, "/proc/12/task/13/cwd/acme", "/proc/12/task/13/cwd/@acme@");
	check(p, FR_PSEUDO_PATH, "/proc/1/root/proc/2/stat", "/proc/1/root/proc/2/stat");
	check(p, FR_PSEUDO_PATH, "/sys/class/net/acme0/mtu", "/sys/class/net/@acme0@/@mtu@");
	check(p, FR_PSEUDO_PATH, "/proc/sys/net/ipv4/conf/acme0/mtu", "/proc/sys/net/ipv4/conf/@acme0@/@mtu@");
	check(p, FR_PSEUDO_PATH, "proc/acme", "proc/@acme@");
	check(p, FR_PSEUDO_PATH, "/proc/net/bonding/acme", "/proc/net/bonding/@acme@");
	check(p, FR_PSEUDO_PATH, "/proc/spl/kstat/zfs/acme/io", "/proc/spl/kstat/zfs/@acme@/@io@");
	check(p, FR_PSEUDO_PATH, "/proc/sys/fs/binfmt_misc/acme", "/proc/sys/fs/binfmt_misc/@acme@");
	check(p, FR_PSEUDO_PATH, "/sys/kernel/security/apparmor/policy/profiles/acme",
	      "/sys/kernel/security/apparmor/policy/profiles/@acme@");
	check(p, FR_PSEUDO_PATH, "/sys/kernel/tracing/events/acme/go", "/sys/kernel/tracing/events/@acme@/@go@");
	check(p, FR_PSEUDO_PATH, "/sys/kernel/debug/acme", "/sys/kernel/debug/@acme@");
	check(p, FR_PSEUDO_PATH, "/proc/self/fd/7/srv/acme", "/proc/self/fd/7/srv/@acme@");
	check(p, FR_PSEUDO_PATH, "/proc/1/task/2/fd/7/acme", "/proc/1/task/2/fd/7/@acme@");
	check(p, FR_PSEUDO_PATH, "/proc/thread-self/fd/7/proc/acme", "/proc/thread-self/fd/7/proc/@acme@");
	check(p, FR_PSEUDO_PATH, "/proc/1/cwd/proc/acme", "/proc/1/cwd/proc/@acme@");
	check(p, FR_PSEUDO_PATH, "/dev/fd/7/srv/acme", "/dev/fd/7/srv/@acme@");
	check(p, FR_PSEUDO_PATH, "/dev/fd/7", "/dev/fd/7");
	check(p, FR_PSEUDO_TEXT, "/proc/self/fd/7/acme", "/proc/self/fd/7/@acme@");
	check(p, FR_PSEUDO_TEXT, "in /dev/vg/lv, /dev/sda", "in /dev/@vg@/@lv@, /dev/sda");
	fr_pseudo_free(p);
}

/* Of /dev, what no machine but somebody's has goes, wherever it stands in the path. */
static void devices_by_form(void **state)
{
	static const char *const kept[] = {
		"null",		 "log",	      "sda",	   "sdb12",	     "vda1",	   "xvdb",
		"nvme0",	 "nvme0n1p2", "nvme0c1n1", "dm-3",	     "loop7",	   "loop0p1",
		"md127",	 "ttyS0",     "ttyUSB1",   "i2c-7",	     "cpu/3/msr",  "pts/ptmx",
		"snd/pcmC0D0p",	 "snd/seq",   "net/tun",   "dri/renderD128", "block/8:16", "input/event3",
		"tty7",		 "zram0",     "mmcblk0p1", "vfio/12",	     "bus",	   "input/mice",
		"snd/controlC0", "char/1:3",
	};
	static const char *const gone[] = {
		"acmevg",   "acmedb", "acme.sock", "sdacme",  "hdfs",	  "md_acme",
		"nvmeacme", "sd",     "dm-acme",   "md0acme", "i2c-acme",
	};
	struct fr_pseudo *p = fr_pseudo_new(&key);
	char text[ROOM], want[ROOM];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		snprintf(text, sizeof(text), "/dev/%s", kept[i]);
		check(p, FR_PSEUDO_PATH, text, text);
	}
	for (i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
		snprintf(text, sizeof(text), "/dev/%s", gone[i]);
		snprintf(want, sizeof(want), "/dev/@%s@", gone[i]);
		check(p, FR_PSEUDO_PATH, text, want);
	}
	check(p, FR_PSEUDO_PATH, "/dev/input/acme", "/dev/input/@acme@");
	check(p, FR_PSEUDO_PATH, "/dev/snd/12:", "/dev/snd/@12:@");
	check(p, FR_PSEUDO_OBJECT, "unix:/dev/acme.sock", "unix:/dev/@acme.sock@");
	check(p, FR_PSEUDO_TEXT, "ls /dev/acmevg, /dev/acmevg/lv", "ls /dev/@acmevg@, /dev/@acmevg@/@lv@");
	fr_pseudo_free(p);
}

/* No text makes a redaction take for ever: each dot of this one may begin an address. */
static void dots_take_no_time(void **state)
{
	static char dots[1 << 18];
	struct fr_pseudo *p = fr_pseudo_new(&key);
	size_t sz;

	(void)state;
	memset(dots, '.', sizeof(dots));
	assert_non_null(fr_pseudo_put(p, FR_PSEUDO_TEXT, dots, sizeof(dots), &sz));
	assert_int_equal(sz, sizeof(dots));
	fr_pseudo_free(p);
}

/* The kind stays; whom a thread works for does not. */
static void kernel_threads_by_kind(void **state)
{
	static const char *const name[] = {"kworker/0:1",     "10.1.2.3-manage", "nfsd/acme",	    "nfsd",
					   "kthread/7",	      "md_acme_raid1",	 "drbd_r_globex",   "md127_raid1",
					   "2001:db8:85a3:8", "fe80::1%acme0-",	 "2001:db8:85a3::", "drbd_r_"};
	struct fr_pseudo *p = fr_pseudo_new(&key);
	char text[ROOM];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		assert_int_equal(fr_pseudo_keep_kernel(p, name[i], strlen(name[i])), 0);
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		learn(p, FR_PSEUDO_NAME, name[i]);
	learn(p, FR_PSEUDO_NAME, "acme");
	check(p, FR_PSEUDO_NAME, "kworker/0:1", "kworker/0:1");
	check(p, FR_PSEUDO_NAME, "kthread/7", "kthread/7");
	check(p, FR_PSEUDO_NAME, "nfsd", "nfsd");
	check(p, FR_PSEUDO_NAME, "nfsd/acme", "nfsd/@acme@");
	snprintf(text, sizeof(text), "%s-manage", ip("10.1.2.3"));
	check(p, FR_PSEUDO_NAME, "10.1.2.3-manage", text);
	check(p, FR_PSEUDO_TEXT, "not kthread/7", "not kthread/7");
	check(p, FR_PSEUDO_NAME, "md_acme_raid1", "md_@acme_raid1@");
	check(p, FR_PSEUDO_TEXT, "md_acme_raid1 and md127_raid1.", "md_@acme_raid1@ and md127_raid1.");
	check(p, FR_PSEUDO_NAME, "md127_raid1", "md127_raid1");
	check(p, FR_PSEUDO_NAME, "drbd_r_globex", "drbd_r_@globex@");
	check(p, FR_PSEUDO_NAME, "drbd_r_", "drbd_r_");
	check(p, FR_PSEUDO_NAME, "2001:db8:85a3:8", "@2001:db8:85a3:8@");
	check(p, FR_PSEUDO_TEXT, "of 2001:db8:85a3:8.", "of @2001:db8:85a3:8@.");
	check(p, FR_PSEUDO_NAME, "fe80::1%acme0-", "@fe80::1%acme0-@");
	fr_pseudo_free(p);
}

static void places_have_their_size(void **state)
{
	char place[16] = "sh", small[4] = "abc", want[ROOM];
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	memcpy(place + 8, "left", 4);
	assert_int_equal(fr_pseudo_put_in(p, FR_PSEUDO_NAME, place, sizeof(place), true), 0);
	expect(want, "@sh@");
	assert_string_equal(place, want);
	assert_memory_equal(place + FR_ALIAS_LEN, "\0\0\0\0\0\0\0", 7);
	assert_int_equal(fr_pseudo_put_in(p, FR_PSEUDO_NAME, small, sizeof(small), true), 0);
	expect(want, "@abc@");
	assert_memory_equal(small, want, 3);
	assert_int_equal(small[3], 0);
	fr_pseudo_free(p);
}

static void names_are_counted_once(void **state)
{
	struct fr_pseudo *p = fr_pseudo_new(&key);

	(void)state;
	learn(p, FR_PSEUDO_WORDS, "a b c");
	assert_int_equal(fr_pseudo_name_cnt(p), 0);
	check(p, FR_PSEUDO_WORDS, "aa bb aa", "@aa@ @bb@ @aa@");
	check(p, FR_PSEUDO_NAME, "aa", "@aa@");
	assert_int_equal(fr_pseudo_name_cnt(p), 2);
	fr_pseudo_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_replaced_whole),
		cmocka_unit_test(paths_by_component),
		cmocka_unit_test(ids_stay_ids),
		cmocka_unit_test(words_of_command_lines),
		cmocka_unit_test(lines_by_what_is_known),
		cmocka_unit_test(addresses_in_texts),
		cmocka_unit_test(single_words_are_known),
		cmocka_unit_test(objects_by_scheme),
		cmocka_unit_test(places_have_their_size),
		cmocka_unit_test(names_are_counted_once),
		cmocka_unit_test(addresses_are_no_numbers),
		cmocka_unit_test(options_have_values),
		cmocka_unit_test(rules_keep_their_words),
		cmocka_unit_test(units_are_names_everywhere),
		cmocka_unit_test(kernels_paths_end_where_names_begin),
		cmocka_unit_test(devices_by_form),
		cmocka_unit_test(dots_take_no_time),
		cmocka_unit_test(kernel_threads_by_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
