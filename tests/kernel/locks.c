/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * locks: threads that wait for locks, each held by a known thread until the waiter was seen asleep. Of each lock it prints
 * a line of JSON: who waited, who held it, and whether the memory of the lock says so.
 *
 *	locks ROUNDS MS		each is held for MS after the waiter was seen asleep, ROUNDS times
 *
 * Both threads of a lock are new, and called "holds NAME" and "wants NAME".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "moments.h"

static long rounds, ms;
static volatile pid_t holder, waiter;
static pthread_barrier_t before, after;
static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock;
static pthread_cond_t cond;
static int go;

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "locks: %s: %s\n", what, strerror(err));
	exit(1);
}

/* ---- pthread's ---- */

static void init(int type, int protocol, int robust)
{
	pthread_mutexattr_t a;

	must(pthread_mutexattr_init(&a) ?: pthread_mutexattr_settype(&a, type) ?: pthread_mutexattr_setprotocol(&a, protocol) ?:
		     pthread_mutexattr_setrobust(&a, robust),
	     "mutexattr");
	must(pthread_mutex_init(&mutex, &a), "mutex_init");
}

static void normal(void)
{
	init(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
}

static void recursive(void)
{
	init(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
}

static void checking(void)
{
	init(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
}

static void inheriting(void)
{
	init(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
}

static void robust(void)
{
	init(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
}

static void lock(void)
{
	must(pthread_mutex_lock(&mutex), "mutex_lock");
}

static void unlock(void)
{
	must(pthread_mutex_unlock(&mutex), "mutex_unlock");
}

static void lock_timed(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += 1000;
	must(pthread_mutex_timedlock(&mutex, &ts), "mutex_timedlock");
}

static void rw(void)
{
	must(pthread_rwlock_init(&rwlock, NULL), "rwlock_init");
}

static void rw_write(void)
{
	must(pthread_rwlock_wrlock(&rwlock), "wrlock");
}

static void rw_read(void)
{
	must(pthread_rwlock_rdlock(&rwlock), "rdlock");
}

static void rw_unlock(void)
{
	must(pthread_rwlock_unlock(&rwlock), "unlock");
}

static void condition(void)
{
	normal();
	must(pthread_cond_init(&cond, NULL), "cond_init");
	go = 0;
}

static void nothing(void)
{
}

static void cond_wait(void)
{
	lock();
	while (!go)
		pthread_cond_wait(&cond, &mutex);
	go = 0;
}

static void cond_signal(void)
{
	lock();
	go = 1;
	pthread_cond_signal(&cond);
	unlock();
}

/* ---- memory that looks like a lock's, and lies ---- */

static struct {
	unsigned word, count, owner, users, kind, rest[11];
} fake;

static unsigned named, kind, count, users;

static void lies(unsigned tid)
{
	named = tid;
	kind = count = 0;
	users = 1;
}

static void lies_init(void)
{
	lies(1);
}

static void *ends(void *arg)
{
	*(unsigned *)arg = syscall(SYS_gettid);
	return NULL;
}

static void lies_ended(void)
{
	pthread_t t;
	unsigned tid;

	must(pthread_create(&t, NULL, ends, &tid) ?: pthread_join(t, NULL), "a thread");
	lies(tid);
}

static pid_t stranger;

static void lies_stranger(void)
{
	stranger = fork();
	if (!stranger) {
		pause();
		_exit(0);
	}
	lies(stranger);
}

static void lies_itself(void)
{
	lies(0); /* put in by the waiter */
}

static void lies_huge(void)
{
	lies(~0u);
}

/* What another library has behind its word: the holder's tid as a number, and nothing else of a mutex. */
static void lies_number(void)
{
	lies(0);
	users = 0;
}

static void fake_hold(void)
{
	fake.word = 2;
	fake.owner = named;
	if (!named && !users)
		fake.owner = holder;
	fake.count = count;
	fake.users = users;
	fake.kind = kind;
}

static void fake_wait(void)
{
	if (!named && users)
		fake.owner = waiter;
	while (__atomic_load_n(&fake.word, __ATOMIC_ACQUIRE) == 2)
		syscall(SYS_futex, &fake.word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void fake_release(void)
{
	__atomic_store_n(&fake.word, 0, __ATOMIC_RELEASE);
	syscall(SYS_futex, &fake.word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- all ---- */

static const struct lock {
	const char *name;
	int says; /* does its memory name the holder? */
	void *at, *until;
	void (*begin)(void), (*hold)(void), (*release)(void), (*want)(void), (*leave)(void);
} locks[] = {
#define MUTEX  &mutex, &mutex + 1
#define RWLOCK &rwlock, &rwlock + 1
#define FAKE   &fake, &fake + 1
	{"normal", 1, MUTEX, normal, lock, unlock, lock, unlock},
	{"recursive", 1, MUTEX, recursive, lock, unlock, lock, unlock},
	{"checking", 1, MUTEX, checking, lock, unlock, lock, unlock},
	{"pi", 1, MUTEX, inheriting, lock, unlock, lock, unlock},
	{"robust", 1, MUTEX, robust, lock, unlock, lock, unlock},
	{"timed", 1, MUTEX, normal, lock, unlock, lock_timed, unlock},
	{"rw-read", 1, RWLOCK, rw, rw_write, rw_unlock, rw_read, rw_unlock},
	{"rw-wr-wr", 1, RWLOCK, rw, rw_write, rw_unlock, rw_write, rw_unlock},
	{"rw-write", 0, RWLOCK, rw, rw_read, rw_unlock, rw_write, rw_unlock},
	{"cond", 0, &cond, &cond + 1, condition, nothing, cond_signal, cond_wait, unlock},
	{"init", 0, FAKE, lies_init, fake_hold, fake_release, fake_wait, nothing},
	{"ended", 0, FAKE, lies_ended, fake_hold, fake_release, fake_wait, nothing},
	{"stranger", 0, FAKE, lies_stranger, fake_hold, fake_release, fake_wait, nothing},
	{"itself", 0, FAKE, lies_itself, fake_hold, fake_release, fake_wait, nothing},
	{"huge", 0, FAKE, lies_huge, fake_hold, fake_release, fake_wait, nothing},
	{"number", 0, FAKE, lies_number, fake_hold, fake_release, fake_wait, nothing},
};

static void be(const char *does, const struct lock *l, volatile pid_t *tid)
{
	char name[16];

	snprintf(name, sizeof(name), "%s %.9s", does, l->name);
	prctl(PR_SET_NAME, name);
	__atomic_store_n(tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
}

/* Until the waiter sleeps in futex(), on memory of this lock. */
static void see_asleep(const struct lock *l)
{
	char path[64], text[256];
	unsigned long long nr, at;
	ssize_t got;
	int fd;

	for (;; sleep_ms(1)) {
		snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", waiter);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		if (fd >= 0)
			close(fd);
		text[got > 0 ? got : 0] = 0;
		if (sscanf(text, "%llu %llx", &nr, &at) == 2 && nr == SYS_futex && at >= (unsigned long)l->at &&
		    at < (unsigned long)l->until)
			return;
	}
}

static void *holds(void *arg)
{
	const struct lock *l = arg;
	long i;

	be("holds", l, &holder);
	for (i = 0; i < rounds; i++) {
		l->hold();
		pthread_barrier_wait(&before);
		see_asleep(l);
		sleep_ms(ms);
		l->release();
		pthread_barrier_wait(&after);
	}
	return NULL;
}

static void *wants(void *arg)
{
	const struct lock *l = arg;
	long i;

	be("wants", l, &waiter);
	for (i = 0; i < rounds; i++) {
		pthread_barrier_wait(&before);
		l->want();
		l->leave();
		pthread_barrier_wait(&after);
	}
	return NULL;
}

static void try(const struct lock *l)
{
	pthread_t a, b;

	holder = waiter = 0;
	l->begin();
	must(pthread_create(&a, NULL, wants, (void *)l), "a thread");
	while (!__atomic_load_n(&waiter, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	must(pthread_create(&b, NULL, holds, (void *)l), "a thread");
	must(pthread_join(a, NULL) ?: pthread_join(b, NULL), "join");
	printf("{\"lock\": \"%s\", \"says\": %d, \"waiter\": %d, \"holder\": %d, \"from\": %lu, \"until\": %lu}\n", l->name,
	       l->says, waiter, holder, (unsigned long)l->at, (unsigned long)l->until);
	fflush(stdout);
	if (stranger) {
		kill(stranger, SIGKILL);
		waitpid(stranger, NULL, 0);
		stranger = 0;
	}
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 3)
		return 2;
	rounds = atol(argv[1]);
	ms = atol(argv[2]);
	pthread_barrier_init(&before, NULL, 2);
	pthread_barrier_init(&after, NULL, 2);
	for (i = 0; i < sizeof(locks) / sizeof(locks[0]); i++)
		try(&locks[i]);
	return 0;
}
