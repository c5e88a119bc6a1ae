/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/pseudo.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/hashed.h"
#include "base/set/vec.h"
#include "base/text/container.h"
#include "base/text/digits.h"
#include "base/text/redact.h"

#define PSEUDO_TEXT_MAX 256u /* of a name of several words that is looked for in texts */
#define PSEUDO_UID_LEN	36u  /* of a pod, with four characters between its digits */

enum pseudo_what { PSEUDO_KEPT = 1, PSEUDO_KNOWN = 2, PSEUDO_USED = 4, PSEUDO_KERNEL = 8, PSEUDO_RULE = 16 };

struct pseudo_name {
	size_t at, len; /* in text */
	u8 what;
};

struct fr_pseudo {
	struct fr_alias_key key;
	const char *secrets;
	struct fr_hashed by_text;
	struct fr_vec name; /* struct pseudo_name */
	struct fr_vec text; /* of the names */
	struct fr_vec bare; /* scratch: the text without secrets */
	struct fr_vec out;  /* scratch: and without names */
	size_t odd_max;	    /* length of the longest known name of several words */
	u32 secret_cnt;
	u64 name_cnt;
};

/* A text on its way. Learning puts nothing. */
struct pseudo_walk {
	struct fr_pseudo *p;
	enum fr_pseudo_form form;
	const char *text;
	size_t len, at;
	bool learns;
	size_t begin;	/* a word or a path begins there, whatever precedes it */
	u32 depth;	/* components of the path so far */
	bool is_quoted; /* of a rule */
	bool is_value;	/* of a rule: of a filter that names somebody */
	bool is_whole;	/* the text is a path: blanks belong to it */
	bool is_rooted; /* the path begins with a slash: it is no end of one */
	u8 of_kernel;	/* the path leads where all names are the kernel's: enum pseudo_root */
};

enum pseudo_root { ROOT_NONE, ROOT_PROC, ROOT_DEV, ROOT_SYS };

/* Components that say nothing about who uses the machine. */
static const char *const pseudo_dirs[] = {
	"bin",
	"sbin",
	"lib",
	"lib32",
	"lib64",
	"libexec",
	"usr",
	"etc",
	"var",
	"proc",
	"sys",
	"dev",
	"tmp",
	"run",
	"home",
	"root",
	"opt",
	"srv",
	"mnt",
	"media",
	"boot",
	"local",
	"share",
	"include",
	"log",
	"cache",
	"spool",
	"lock",
	"cgroup",
	"unified",
	"systemd",
	"system",
	"user",
	"system.slice",
	"user.slice",
	"init.scope",
	"lxc",
	"machine.slice",
	"kubepods",
	"kubepods.slice",
	"burstable",
	"besteffort",
	"modules",
	"shm",
	"mapper",
	"x86_64-linux-gnu",
	"aarch64-linux-gnu",
	"kubepods-burstable.slice",
	"kubepods-besteffort.slice",
};

/* ---- the set of names ---- */

struct pseudo_piece {
	const char *text;
	size_t len;
};

static bool pseudo_has(const void *of, u32 nr, const void *key)
{
	const struct fr_pseudo *p = of;
	const struct pseudo_name *n = (const struct pseudo_name *)p->name.at + nr - 1;
	const struct pseudo_piece *piece = key;

	return n->len == piece->len && !memcmp((const char *)p->text.at + n->at, piece->text, n->len);
}

static struct pseudo_name *pseudo_find(const struct fr_pseudo *p, const char *text, size_t len)
{
	struct pseudo_piece piece = {text, len};
	u32 nr = fr_hashed_find(&p->by_text, fr_alias_hash(&p->key, text, len), pseudo_has, p, &piece);

	return nr ? (struct pseudo_name *)p->name.at + nr - 1 : NULL;
}

/* The name, which is added if it is not there. NULL: no memory. */
static struct pseudo_name *pseudo_get(struct fr_pseudo *p, const char *text, size_t len)
{
	struct pseudo_name *n = pseudo_find(p, text, len), new = {p->text.cnt, len, 0};
	struct pseudo_piece piece = {text, len};
	u32 *nr;

	if (n)
		return n;
	nr = fr_hashed_at(&p->by_text, fr_alias_hash(&p->key, text, len), pseudo_has, p, &piece);
	if (!nr || fr_vec_add(&p->text, text, len) || fr_vec_add(&p->name, &new, 1))
		return NULL;
	*nr = p->name.cnt;
	return (struct pseudo_name *)p->name.at + p->name.cnt - 1;
}

/* ---- characters and words ---- */

static bool pseudo_is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Does it belong to a word? */
static bool pseudo_is_word(char c)
{
	return pseudo_is_alnum(c) || (c && strchr("_-.+#%~", c)) || (u8)c >= 0x80;
}

static bool pseudo_is_one_of(const char *const *list, size_t cnt, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		if (strlen(list[i]) == len && !memcmp(list[i], text, len))
			return true;
	return false;
}

/*
 * Digits, with a sign, points, a unit of up to two letters; or a hexadecimal number. Four numbers in a row are none: an
 * address, or a host that is named after one.
 */
static bool pseudo_is_number(const char *text, size_t len)
{
	size_t i = 0, digit_cnt = 0, joint_cnt = 0, letter_cnt = 0;

	if (len > 2 && text[0] == '0' && (text[1] | 32) == 'x') {
		for (i = 2; i < len; i++)
			if (fr_hex_digit(text[i]) < 0)
				return false;
		return true;
	}
	while (i < len && strchr("+-", text[i]))
		i++;
	for (; i < len && ((text[i] >= '0' && text[i] <= '9') || text[i] == '.' || text[i] == '%' || text[i] == '-'); i++) {
		digit_cnt += text[i] >= '0' && text[i] <= '9';
		joint_cnt += text[i] == '.' || text[i] == '-';
	}
	if (digit_cnt && joint_cnt > 2)
		return false;
	for (; i < len && ((text[i] | 32) >= 'a' && (text[i] | 32) <= 'z'); i++)
		letter_cnt++;
	return i == len && letter_cnt <= 2 && (digit_cnt || !letter_cnt);
}

/* ---- what becomes of a piece ---- */

static int walk_line(struct pseudo_walk *w);
static int walk_take_name(struct pseudo_walk *w, const char *text, size_t len);
static int walk_address(struct pseudo_walk *w, bool *took);
static int walk_address_whole(struct pseudo_walk *w, bool *took);

static int walk_emit(struct pseudo_walk *w, const char *text, size_t len)
{
	return w->learns ? 0 : fr_vec_add(&w->p->out, text, len);
}

/* Kinds of kernel threads behind which there is nothing but somebody's name, of an array, a resource, a cluster, an interface.
 */
static const char *const pseudo_owned[] = {
	"md_", "drbd_r_", "drbd_w_", "drbd_a_", "drbd_s_", "drbd_as_", "gfs2_logd/", "gfs2_quotad/", "napi/", "wg-crypt-",
};

/* Where that name begins in a kernel thread's, 0: nowhere. */
static size_t pseudo_owner_at(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(pseudo_owned) / sizeof(pseudo_owned[0]); i++) {
		size_t at = strlen(pseudo_owned[i]);

		if (len > at && !memcmp(text, pseudo_owned[i], at))
			return at;
	}
	return 0;
}

/* A kernel thread's name: its kind stays, kworker; what is behind that may be an address, or somebody's name. */
static int walk_kernel(struct pseudo_walk *w, const char *text, size_t len)
{
	size_t owner = w->learns ? 0 : pseudo_owner_at(text, len);
	struct pseudo_walk in = {.p = w->p, .form = FR_PSEUDO_TEXT, .text = text, .len = len};
	bool took;
	int err;

	if (w->learns)
		return 0;
	if (owner)
		return walk_emit(w, text, owner) ?: walk_take_name(w, text + owner, len - owner);
	err = walk_address(&in, &took);
	while (!took && in.at < len && (pseudo_is_alnum(text[in.at]) || text[in.at] == '_'))
		in.at++;
	if (!took)
		err = err ?: walk_emit(w, text, in.at);
	if (in.at < len && !err) {
		err = walk_emit(w, text + in.at, 1);
		in.at++;
	}
	in.begin = in.at;
	return err ?: walk_line(&in);
}

/* Replace, or learn. */
static int walk_take_name(struct pseudo_walk *w, const char *text, size_t len)
{
	struct fr_pseudo *p = w->p;
	struct pseudo_name *n = len ? pseudo_get(p, text, len) : NULL;
	char alias[FR_ALIAS_LEN];
	size_t i;

	if (!len)
		return 0;
	if (!n)
		return -ENOMEM;
	if (n->what & PSEUDO_KEPT)
		return walk_emit(w, text, len);
	if (n->what & PSEUDO_KERNEL)
		return walk_kernel(w, text, len);
	if (w->learns) {
		n->what |= PSEUDO_KNOWN;
		for (i = 0; i < len && pseudo_is_word(text[i]); i++)
			;
		if (i < len && len <= PSEUDO_TEXT_MAX && len > p->odd_max)
			p->odd_max = len;
		return 0;
	}
	p->name_cnt += !(n->what & PSEUDO_USED);
	n->what |= PSEUDO_USED;
	fr_alias_name(&p->key, text, len, alias);
	return walk_emit(w, alias, sizeof(alias));
}

/* Replace a piece that is as long as its alias, made in a copy. */
static int walk_take_hex(struct pseudo_walk *w, const char *text, size_t len)
{
	size_t at = w->p->out.cnt, i;
	struct pseudo_name *n;

	if (w->learns)
		return 0;
	n = pseudo_get(w->p, text, len);
	if (!n || walk_emit(w, text, len))
		return -ENOMEM;
	w->p->name_cnt += !(n->what & PSEUDO_USED);
	n->what |= PSEUDO_USED;
	fr_alias_hex(&w->p->key, (char *)w->p->out.at + at, len);
	for (i = 0; i < len && !(text[i] >= 'A' && text[i] <= 'F'); i++)
		;
	for (at += i < len ? 0 : len; at < w->p->out.cnt; at++) /* an id has small letters: what was none is none */
		((char *)w->p->out.at)[at] = toupper(((char *)w->p->out.at)[at]);
	return 0;
}

/* The hexadecimal digits of an id or a uid at text: how many characters; 0: neither. */
static size_t pseudo_id_len(const char *text, size_t len)
{
	size_t n;

	for (n = 0; n < len && n < FR_CONTAINER_ID_LEN + 1 && fr_hex_digit(text[n]) >= 0; n++)
		;
	if (n == FR_CONTAINER_ID_LEN || n == FR_CONTAINER_UID_BARE)
		return n;
	if (len < PSEUDO_UID_LEN || n != 8)
		return 0;
	for (n = 0; n < PSEUDO_UID_LEN; n++) {
		bool is_between = n == 8 || n == 13 || n == 18 || n == 23;

		if (is_between ? text[n] != '-' && text[n] != '_' : fr_hex_digit(text[n]) < 0)
			return 0;
	}
	return n < len && pseudo_is_alnum(text[n]) ? 0 : n;
}

/* A word or a component without what engines and systemd put around names and ids, which stays: a name, an id, a number. */
struct pseudo_framed {
	const char *text;
	size_t len, head, end; /* all of it; of these so much belongs to the frame */
};

static struct pseudo_framed pseudo_frame(const char *text, size_t len)
{
	struct pseudo_framed f = {.text = text, .len = len};

	fr_container_frame(text, len, &f.head, &f.end);
	return f;
}

/* What is in the frame, as what it is: a name, or an id; it stays if it is neither. */
static int walk_take_framed(struct pseudo_walk *w, const struct pseudo_framed *f, bool is_name)
{
	const char *in = f->text + f->head;
	size_t len = f->len - f->head - f->end;
	int err = walk_emit(w, f->text, f->head);

	if (pseudo_id_len(in, len) == len && len)
		err = err ?: walk_take_hex(w, in, len);
	else
		err = err ?: is_name ? walk_take_name(w, in, len) : walk_emit(w, in, len);
	return err ?: walk_emit(w, in + len, f->end);
}

/* ---- paths ---- */

static bool pseudo_piece_is(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(word, text, len);
}

/* Directories of /dev that the kernel makes. */
static const char *const pseudo_device_dirs[] = {"pts", "input", "snd", "bus",	 "cpu", "dri",
						 "net", "vfio",	 "fd",	"block", "char"};

/* Devices there is one of on each machine; in /dev itself, and in the directories. */
static const char *const pseudo_devices[] = {
	"null",	       "zero",		"full",	    "random", "urandom",      "kmsg",
	"mem",	       "port",		"console",  "tty",    "ptmx",	      "stdin",
	"stdout",      "stderr",	"log",	    "core",   "kvm",	      "fuse",
	"cuse",	       "hpet",		"rtc",	    "nvram",  "rfkill",	      "uinput",
	"uhid",	       "vsock",		"autofs",   "mcelog", "loop-control", "vhost-net",
	"vhost-vsock", "btrfs-control", "udmabuf",  "cdrom",  "userfaultfd",  "cpu_dma_latency",
	"sgx_enclave", "sgx_provision", "watchdog", "usb",    "mice",	      "seq",
	"timer",       "tun",		"msr",	    "cpuid",  "microcode",
};

/* What stands before a device's number. */
static const char *const pseudo_numbered[] = {
	"nvme",	  "mmcblk", "md",  "dm-", "loop",  "ram",    "zram",	 "nbd",	     "rbd",   "zd",	  "drbd",
	"sr",	  "sg",	    "st",  "nst", "tty",   "ttyS",   "ttyUSB",	 "ttyACM",   "hvc",   "vcs",	  "vcsa",
	"vcsu",	  "rtc",    "tpm", "fb",  "tpmrm", "hidraw", "watchdog", "i2c-",     "video", "gpiochip", "ptp",
	"pps",	  "mei",    "uio", "js",  "event", "mouse",  "card",	 "renderD",  "pcmC",  "midiC",	  "hwC",
	"nvidia", "spidev", "lp",  "ppp", "ipmi",  "bsg",    "ng",	 "controlC",
};

static bool pseudo_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Numbers, with a letter for what each but the first counts. */
static bool pseudo_are_numbers(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len && (pseudo_is_digit(text[i]) || (i && strchr("npcD", text[i]))); i++)
		;
	return len && i == len;
}

/* sda1: of a disk, a letter. */
static bool pseudo_is_disk(const char *text, size_t len)
{
	size_t head = len && text[0] == 'x', i = head + 3;

	if (len < i || (text[head] != 's' && text[head] != 'v' && text[head] != 'h') || text[head + 1] != 'd' ||
	    text[head + 2] < 'a' || text[head + 2] > 'z')
		return false;
	return len == i || pseudo_are_numbers(text + i, len - i);
}

/* nvme0n1p2, pcmC0D0p */
static bool pseudo_is_numbered(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(pseudo_numbered) / sizeof(pseudo_numbered[0]); i++) {
		size_t head = strlen(pseudo_numbered[i]);

		if (len > head && !memcmp(text, pseudo_numbered[i], head) && pseudo_are_numbers(text + head, len - head))
			return true;
	}
	return false;
}

/* 8:0, in /dev/block: major and minor. */
static bool pseudo_is_major(const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);
	size_t i;

	for (i = 0; i < len && (pseudo_is_digit(text[i]) || text + i == colon); i++)
		;
	return colon && i == len && colon > text && colon < text + len - 1;
}

/*
 * Has a device this name on any machine? Others are called after volumes, or somebody's rules of udev call them something: of
 * what has neither a name nor a form from here, nobody can tell.
 */
static bool pseudo_is_device(const char *text, size_t len)
{
	return pseudo_is_one_of(pseudo_devices, sizeof(pseudo_devices) / sizeof(pseudo_devices[0]), text, len) ||
	       pseudo_is_disk(text, len) || pseudo_is_numbered(text, len) || pseudo_is_major(text, len);
}

/* Is a component below /dev the kernel's? */
static bool walk_is_device(const struct pseudo_walk *w, const char *text, size_t len)
{
	size_t cnt = sizeof(pseudo_device_dirs) / sizeof(pseudo_device_dirs[0]);

	return (w->depth == 2 && pseudo_is_one_of(pseudo_device_dirs, cnt, text, len)) || pseudo_is_device(text, len) ||
	       (w->depth > 2 && pseudo_is_number(text, len));
}

/* Note where the path leads: a component. */
static void walk_path_enter(struct pseudo_walk *w, const char *text, size_t len)
{
	static const char *const root[] = {[ROOT_PROC] = "proc", [ROOT_DEV] = "dev", [ROOT_SYS] = "sys"};
	u8 i;

	w->depth++;
	if (w->depth == 1 && w->is_rooted) {
		for (i = ROOT_PROC; i <= ROOT_SYS; i++)
			if (pseudo_piece_is(text, len, root[i]))
				w->of_kernel = i;
	} else if (w->of_kernel == ROOT_SYS && w->depth == 2 && pseudo_piece_is(text, len, "fs")) {
		w->of_kernel = ROOT_NONE;
	} else if (w->of_kernel == ROOT_DEV && !walk_is_device(w, text, len)) {
		w->of_kernel = ROOT_NONE;
	}
}

/*
 * Of what the kernel names itself, where names follow that somebody gave. Behind a process's root any path begins anew; what is
 * behind an open or a working directory is no such path: its "proc" may be anybody's.
 */
static const struct {
	u8 root;
	const char *name;
	bool anew;
} pseudo_leads[] = {
	{ROOT_PROC, "root", true},	 {ROOT_PROC, "cwd", false},	{ROOT_PROC, "fd", false},
	{ROOT_DEV, "fd", false},	 {ROOT_PROC, "conf", false},	{ROOT_PROC, "neigh", false},
	{ROOT_PROC, "dev_snmp6", false}, /* interfaces */
	{ROOT_PROC, "vlan", false},	 {ROOT_SYS, "net", false},	{ROOT_SYS, "config", false},
	{ROOT_SYS, "instances", false}, /* of tracefs */
	{ROOT_SYS, "events", false},	/* there: of probes that somebody made; whose a group is, its name does not tell */
	{ROOT_SYS, "debug", false},	 {ROOT_SYS, "profiles", false}, {ROOT_SYS, "dlm", false},
	{ROOT_PROC, "bonding", false},	 {ROOT_PROC, "zfs", false},	{ROOT_PROC, "binfmt_misc", false},
};

static void walk_path_leave(struct pseudo_walk *w, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(pseudo_leads) / sizeof(pseudo_leads[0]); i++) {
		if (pseudo_leads[i].root != w->of_kernel || !pseudo_piece_is(text, len, pseudo_leads[i].name))
			continue;
		w->of_kernel = ROOT_NONE;
		w->depth = pseudo_leads[i].anew ? 0 : w->depth;
		return;
	}
}

/* A component, or a piece of one that colons separate. */
static int walk_path_piece(struct pseudo_walk *w, const char *text, size_t len)
{
	struct pseudo_framed f = pseudo_frame(text, len);
	struct pseudo_walk in = *w;
	bool took = false;
	int err;

	if (pseudo_is_number(text, len) || fr_container_is_engine(text, len) ||
	    pseudo_is_one_of(pseudo_dirs, sizeof(pseudo_dirs) / sizeof(pseudo_dirs[0]), text, len))
		return walk_emit(w, text, len);
	in.text = text;
	in.len = len;
	in.at = 0;
	err = walk_address_whole(&in, &took);
	return err || took ? err : walk_take_framed(w, &f, true);
}

/* kubepods-podUID.slice:cri-containerd:ID has a frame in each piece; any other component is one name. */
static int walk_component(struct pseudo_walk *w, const char *text, size_t len)
{
	const char *colon = memrchr(text, ':', len);
	size_t n;
	int err = 0;

	walk_path_enter(w, text, len);
	if (w->of_kernel) {
		err = walk_emit(w, text, len);
		walk_path_leave(w, text, len);
		return err;
	}
	n = colon ? text + len - colon - 1 : 0;
	if (n != FR_CONTAINER_ID_LEN || pseudo_id_len(colon + 1, n) != n)
		return walk_path_piece(w, text, len);
	while (len && !err) {
		colon = memchr(text, ':', len);
		n = colon ? (size_t)(colon - text) : len;
		err = n ? walk_path_piece(w, text, n) : 0;
		if (colon)
			err = err ?: walk_emit(w, ":", 1);
		text += n + !!colon;
		len -= n + !!colon;
	}
	return err;
}

/* Units have these in their names, user@1000.service. */
static bool pseudo_is_component(char c)
{
	return pseudo_is_word(c) || c == '@' || c == '\\';
}

/* A path from here on, up to its end: what does not belong to a component, or the text's end if it is a path as a whole. */
static int walk_path(struct pseudo_walk *w)
{
	int err = 0;

	w->depth = 0;
	w->of_kernel = ROOT_NONE;
	w->is_rooted = w->at < w->len && w->text[w->at] == '/';
	while (!err && w->at < w->len) {
		size_t from = w->at;

		if (w->text[from] == '/') {
			err = walk_emit(w, "/", 1);
			w->at++;
			continue;
		}
		while (w->at < w->len && w->text[w->at] != '/' && (w->is_whole || pseudo_is_component(w->text[w->at])))
			w->at++;
		if (w->at == from)
			break;
		err = walk_component(w, w->text + from, w->at - from);
	}
	return err;
}

/* ---- addresses ---- */

static int walk_emit_address(struct pseudo_walk *w, int family, u8 *address, size_t sz)
{
	char text[INET6_ADDRSTRLEN];
	struct pseudo_name *n;

	if (w->learns)
		return 0;
	n = pseudo_get(w->p, (char *)address, sz);
	if (!n)
		return -ENOMEM;
	w->p->name_cnt += !(n->what & PSEUDO_USED);
	n->what |= PSEUDO_USED;
	fr_alias_address(&w->p->key, address, sz);
	inet_ntop(family, address, text, sizeof(text));
	return walk_emit(w, text, strlen(text));
}

/* How long the address is that is at text, 0: there is none. */
static size_t pseudo_address_len(const char *from, size_t left, int *family, u8 address[FR_ALIAS_IP6])
{
	char text[INET6_ADDRSTRLEN + 1];
	size_t len = 0;

	/* no further than the longest: a text may have MiB of dots, and each asks */
	while (len < left && len < sizeof(text) && (fr_hex_digit(from[len]) >= 0 || from[len] == '.' || from[len] == ':'))
		len++;
	/* what is no part of it: the point that ends a sentence, the colon before a port */
	for (; len > 2; len--) {
		if (len >= sizeof(text) || (len < left && pseudo_is_alnum(from[len])))
			continue;
		memcpy(text, from, len);
		text[len] = 0;
		*family = strchr(text, ':') ? AF_INET6 : AF_INET;
		if (inet_pton(*family, text, address) == 1)
			return len;
	}
	return 0;
}

/* An address from here on: *took says whether there is one. */
static int walk_address(struct pseudo_walk *w, bool *took)
{
	u8 address[FR_ALIAS_IP6];
	int family;
	size_t len = pseudo_address_len(w->text + w->at, w->len - w->at, &family, address);

	*took = len;
	if (!*took)
		return 0;
	w->at += len;
	return walk_emit_address(w, family, address, family == AF_INET ? FR_ALIAS_IP4 : FR_ALIAS_IP6);
}

/* The same if it is all that is left. */
static int walk_address_whole(struct pseudo_walk *w, bool *took)
{
	u8 address[FR_ALIAS_IP6];
	int family;

	*took = pseudo_address_len(w->text + w->at, w->len - w->at, &family, address) == w->len - w->at && w->at < w->len;
	return *took ? walk_address(w, took) : 0;
}

/* Does one begin within a word? Behind what is neither a letter nor a digit: the peer's of a socket follows a dash. */
static bool walk_has_address(const char *text, size_t len, size_t at)
{
	u8 address[FR_ALIAS_IP6];
	int family;

	return at && !pseudo_is_alnum(text[at - 1]) && (text[at - 1] != '.' || at < 2 || !pseudo_is_alnum(text[at - 2])) &&
	       pseudo_address_len(text + at, len - at, &family, address);
}

/* ---- words ---- */

/* Does a word go on there? Not at the point that ends a sentence. */
static bool walk_goes_on(const char *at, size_t left)
{
	return left && pseudo_is_word(at[-1]) && pseudo_is_word(at[0]) && (at[0] != '.' || (left > 1 && pseudo_is_word(at[1])));
}

/* How much of what systemd gives a name is behind one that ends at len, foo@bar.service, if nothing else of the word is. */
static size_t walk_end_len(const char *text, size_t len, size_t left)
{
	size_t all = len, head, end;

	while (all < left && pseudo_is_word(text[all]))
		all++;
	while (all > len && text[all - 1] == '.')
		all--;
	fr_container_frame(text, all, &head, &end);
	return all - len == end ? end : 0;
}

/* Words that rules are made of, where they are that: memory.full, +syscalls, RTMIN+3. */
static bool walk_is_of_rule(const struct pseudo_walk *w, const char *text, size_t len)
{
	const char *end = text + len;
	const struct pseudo_name *n;
	size_t i;

	if (w->form != FR_PSEUDO_RULE || w->is_quoted || w->is_value)
		return false;
	if (len == 1 && *text == '~') /* an operator */
		return true;
	for (; text < end; text += i + 1) {
		for (i = 0; text + i < end && text[i] != '.' && text[i] != '+'; i++)
			;
		n = pseudo_find(w->p, text, i);
		if (!pseudo_is_number(text, i) && !(n && n->what & PSEUDO_RULE))
			return false;
	}
	return true;
}

/* A known name of several words that begins here: its length, the longest; 0: none. *end: how much stays behind it. */
static size_t walk_odd(const struct pseudo_walk *w, size_t *end)
{
	size_t left = w->len - w->at, len = w->p->odd_max < left ? w->p->odd_max : left;
	const char *from = w->text + w->at;

	for (; len > 1; len--) {
		const struct pseudo_name *n;

		*end = walk_goes_on(from + len, left - len) ? walk_end_len(from, len, left) : 0;
		if ((!*end && walk_goes_on(from + len, left - len)) || walk_is_of_rule(w, from, len))
			continue;
		n = pseudo_find(w->p, from, len);
		if (n && n->what & PSEUDO_KNOWN && !(n->what & PSEUDO_KERNEL))
			return len;
	}
	return 0;
}

/* A name elsewhere in the file. */
static bool walk_is_known(const struct pseudo_walk *w, const char *text, size_t len)
{
	const struct pseudo_name *n = len > 1 ? pseudo_find(w->p, text, len) : NULL;

	if (n && n->what & PSEUDO_KERNEL)
		return pseudo_owner_at(text, len);
	return n && n->what & PSEUDO_KNOWN;
}

/* Is a word of a line replaced? */
static bool walk_is_name(const struct pseudo_walk *w, const char *text, size_t len)
{
	if (pseudo_is_number(text, len) || walk_is_of_rule(w, text, len))
		return false;
	return w->form == FR_PSEUDO_WORDS || w->form == FR_PSEUDO_RULE || walk_is_known(w, text, len);
}

/* Of a rule: does a value that names somebody begin behind this word, comm=VALUE? Not in an expression, comm == "...". */
static bool walk_begins_value(const struct pseudo_walk *w, const char *text, size_t len)
{
	static const char *const key[] = {"comm", "exe", "cgroup", "uid"};
	const char *end = w->text + w->len, *at = text + len;

	if (!pseudo_is_one_of(key, sizeof(key) / sizeof(key[0]), text, len))
		return false;
	while (at < end && *at == ' ')
		at++;
	return at < end && *at == '=' && (at + 1 == end || at[1] != '=');
}

/* And is it over? Before a comma, before :KEY=, and before another option. */
static bool walk_ends_value(const struct pseudo_walk *w)
{
	const char *at = w->text + w->at, *end = w->text + w->len;

	if (*at == ',')
		return true;
	if (*at == ' ')
		return at + 1 < end && at[1] == '-';
	if (*at != ':')
		return false;
	do
		at++;
	while (at < end && *at >= 'a' && *at <= 'z');
	return at < end && *at == '=';
}

/* A character between words. */
static int walk_between(struct pseudo_walk *w)
{
	char c = w->text[w->at];

	if (c == '"' && (!w->at || w->text[w->at - 1] != '\\'))
		w->is_quoted = !w->is_quoted;
	else if (!w->is_quoted && walk_ends_value(w))
		w->is_value = false;
	w->at++;
	return walk_emit(w, c ? &c : " ", 1);
}

/*
 * How much of a word is an option, which stays: all of --port, of -v, and of what is no word at all. What follows one letter is
 * its value, -pSecret: a word of its own.
 */
static size_t walk_option_len(const struct pseudo_walk *w, const char *text, size_t len)
{
	if (w->is_quoted || w->is_value) /* a name that is asked for, comm == "-bash" */
		return 0;
	if (text[0] != '-' || pseudo_is_number(text, len) || walk_is_known(w, text, len))
		return 0;
	if (len > 1 && walk_is_of_rule(w, text + 1, len - 1))
		return 1; /* what is taken out of a list, -syscalls */
	if (len < 2 || text[1] == '-')
		return len;
	return pseudo_is_alnum(text[1]) ? 2 : 1;
}

/* A word from here on. Points at its end are a sentence's. */
static int walk_word(struct pseudo_walk *w)
{
	const char *from = w->text + w->at;
	size_t left = w->len - w->at, len = 0, end, option;
	struct pseudo_framed f;
	int err;

	while (len < left && pseudo_is_word(from[len]) && !walk_has_address(from, left, len))
		len++;
	for (end = len; end > 1 && from[end - 1] == '.'; end--)
		;
	option = walk_option_len(w, from, end);
	if (option) {
		w->at += option;
		w->begin = from[1] == '-' ? w->begin : w->at;
		return walk_emit(w, from, option);
	}
	w->at += len;
	if (len < left && pseudo_is_word(from[len]))
		w->begin = w->at;
	f = walk_is_known(w, from, end) ? (struct pseudo_framed){from, end, 0, 0} : pseudo_frame(from, end);
	err = walk_take_framed(w, &f, walk_is_name(w, from + f.head, end - f.head - f.end));
	w->is_value |= walk_begins_value(w, from, end);
	return err ?: walk_emit(w, from + end, len - end);
}

static int walk_line(struct pseudo_walk *w)
{
	size_t sz = strlen(FR_REDACTED), odd, end;
	int err = 0;

	while (!err && w->at < w->len) {
		const char *from = w->text + w->at;
		bool begins = w->at == w->begin || !pseudo_is_word(from[-1]), took = false;

		if (w->len - w->at >= sz && !memcmp(from, FR_REDACTED, sz)) {
			err = walk_emit(w, from, sz);
			w->at += sz;
			continue;
		}
		odd = begins && !w->learns ? walk_odd(w, &end) : 0;
		if (odd) {
			err = walk_take_name(w, from, odd) ?: walk_emit(w, from + odd, end);
			w->at += odd + end;
			continue;
		}
		if (begins)
			err = walk_address(w, &took);
		if (err || took)
			continue;
		if (*from == '/' && begins) {
			err = walk_path(w);
		} else if (pseudo_is_word(*from)) {
			err = walk_word(w);
		} else {
			err = walk_between(w);
		}
	}
	return err;
}

static bool walk_is_at(const struct pseudo_walk *w, const char *text)
{
	size_t len = strlen(text);

	return w->len - w->at >= len && !memcmp(w->text + w->at, text, len);
}

/* "[memfd:x]": the name that a program chose. */
static int walk_memfd(struct pseudo_walk *w)
{
	size_t head = strlen("[memfd:"), end = w->len;
	int err = walk_emit(w, w->text, head);

	end -= end > head && w->text[end - 1] == ']';
	err = err ?: walk_take_name(w, w->text + head, end - head);
	return err ?: walk_emit(w, w->text + end, w->len - end);
}

/* A path, or a socket's name that is no file's: @x. */
static int walk_path_whole(struct pseudo_walk *w)
{
	int err = 0;

	w->is_whole = true;
	if (walk_is_at(w, "@")) {
		err = walk_emit(w, "@", 1);
		w->at++;
	}
	return err ?: walk_path(w);
}

/* "ext4:/x", "unix:@x", "tcp:...", "work:F", "[eventpoll]" (bpf/object.bpf.h) */
static int walk_object(struct pseudo_walk *w)
{
	bool is_unix = walk_is_at(w, "unix:");
	const char *colon = memchr(w->text, ':', w->len);
	int err;

	if (walk_is_at(w, "[memfd:"))
		return walk_memfd(w);
	if (walk_is_at(w, "[") || walk_is_at(w, "work:") || walk_is_at(w, "restart:"))
		return walk_emit(w, w->text, w->len);
	w->at = colon ? colon + 1 - w->text : 0;
	err = walk_emit(w, w->text, w->at);
	if (err || !(is_unix || walk_is_at(w, "/") || walk_is_at(w, "...")))
		return err ?: walk_line(w);
	return walk_path_whole(w);
}

/* One name, or an address that is used as one. */
static int walk_name(struct pseudo_walk *w)
{
	bool took;
	int err = walk_address_whole(w, &took);

	if (err || took)
		return err;
	return pseudo_is_number(w->text, w->len) ? walk_emit(w, w->text, w->len) : walk_take_name(w, w->text, w->len);
}

static int walk_all(struct pseudo_walk *w)
{
	switch (w->form) {
	case FR_PSEUDO_NAME:
		return walk_name(w);
	case FR_PSEUDO_PATH:
		return walk_path_whole(w);
	case FR_PSEUDO_OBJECT:
		return walk_object(w);
	default:
		return walk_line(w);
	}
}

/* ---- what others call ---- */

struct fr_pseudo *fr_pseudo_new(const struct fr_alias_key *key)
{
	struct fr_pseudo *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->key = *key;
	p->name.item_sz = sizeof(struct pseudo_name);
	p->text.item_sz = p->bare.item_sz = p->out.item_sz = 1;
	return p;
}

void fr_pseudo_free(struct fr_pseudo *p)
{
	if (!p)
		return;
	free(p->by_text.slot);
	fr_vec_free(&p->name);
	fr_vec_free(&p->text);
	fr_vec_free(&p->bare);
	fr_vec_free(&p->out);
	free(p);
}

void fr_pseudo_secrets(struct fr_pseudo *p, const char *words)
{
	p->secrets = words;
}

static int pseudo_mark(struct fr_pseudo *p, const char *text, size_t len, u8 what)
{
	struct pseudo_name *n = len ? pseudo_get(p, text, len) : NULL;

	if (n)
		n->what |= what;
	return n || !len ? 0 : -ENOMEM;
}

int fr_pseudo_keep(struct fr_pseudo *p, const char *text, size_t len)
{
	return pseudo_mark(p, text, len, PSEUDO_KEPT);
}

/*
 * Does a kernel thread's name begin with a piece of an address? It has 15 bytes: of "2001:db8:85a3:8d3::1-manager", whose kind
 * is behind the address, too few to know it as one. Behind a whole one, %NAME is of an interface.
 */
static bool pseudo_is_cut_address(const char *text, size_t len)
{
	u8 address[FR_ALIAS_IP6];
	size_t i, colon_cnt = 0, whole;
	int family;

	for (i = 0; i < len && (fr_hex_digit(text[i]) >= 0 || text[i] == ':'); i++)
		colon_cnt += text[i] == ':';
	whole = pseudo_address_len(text, len, &family, address);
	return colon_cnt > 1 && (!whole || whole < i || (whole < len && text[whole] == '%'));
}

int fr_pseudo_keep_kernel(struct fr_pseudo *p, const char *text, size_t len)
{
	if (pseudo_is_cut_address(text, len))
		return 0;
	return pseudo_mark(p, text, len, PSEUDO_KERNEL);
}

int fr_pseudo_keep_in_rules(struct fr_pseudo *p, const char *text, size_t len)
{
	return pseudo_mark(p, text, len, PSEUDO_RULE);
}

/* The text without secrets, in p->bare. */
static int pseudo_redact(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text, size_t len, u32 *cnt)
{
	size_t room = len * (strlen(FR_REDACTED) + 1) + 1;

	p->bare.cnt = 0;
	if (!fr_vec_room(&p->bare, room))
		return -ENOMEM;
	if (form == FR_PSEUDO_NAME) {
		memcpy(p->bare.at, text, len);
		p->bare.cnt = len;
	} else {
		p->bare.cnt = fr_redact(p->secrets, FR_REDACT_LINE, text, len, p->bare.at, room, cnt);
	}
	return 0;
}

static int pseudo_walk(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text, size_t len, bool learns)
{
	struct pseudo_walk w = {.p = p, .form = form, .learns = learns};
	u32 cnt = 0;
	int err = pseudo_redact(p, form, text, len, learns ? &cnt : &p->secret_cnt);

	if (err)
		return err;
	p->out.cnt = 0;
	w.text = p->bare.at;
	w.len = p->bare.cnt;
	err = walk_all(&w);
	return err ?: fr_vec_add(&p->out, "", 1);
}

int fr_pseudo_learn(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text, size_t len)
{
	return pseudo_walk(p, form, text, len, true);
}

const char *fr_pseudo_put(struct fr_pseudo *p, enum fr_pseudo_form form, const char *text, size_t len, size_t *sz)
{
	if (pseudo_walk(p, form, text, len, false))
		return NULL;
	*sz = p->out.cnt - 1;
	return p->out.at;
}

int fr_pseudo_put_in(struct fr_pseudo *p, enum fr_pseudo_form form, char *at, size_t room, bool ends)
{
	size_t sz;
	const char *text = fr_pseudo_put(p, form, at, strnlen(at, room), &sz);

	if (!text)
		return -ENOMEM;
	if (sz > room - ends)
		sz = room - ends;
	memcpy(at, text, sz);
	memset(at + sz, 0, room - sz);
	return 0;
}

void fr_pseudo_address(struct fr_pseudo *p, u8 *address, size_t sz)
{
	fr_alias_address(&p->key, address, sz);
}

u64 fr_pseudo_secret_cnt(const struct fr_pseudo *p)
{
	return p->secret_cnt;
}

u64 fr_pseudo_name_cnt(const struct fr_pseudo *p)
{
	return p->name_cnt;
}
