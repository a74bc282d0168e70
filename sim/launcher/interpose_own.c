/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of the C library behind which each process has a state of its own: in a rank they use
 * the rank's (sim/sys/actors/sim_own.h). They belong to the executable, as interpose.c explains.
 *
 * The table in doc/simulating.md says for each what holds.
 *
 * Invariant: outside of ranks each function does what it does in any process. */
/* clang's open() would be one that checks its arguments and calls our __open_2(). */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "actors/sim_own.h"
#include "calls.h"
#include "interpose.h"

/* Of the rank. Where there is no memory for that, ranks share one. */
static struct orr_sim_rare *rare(void)
{
	static struct orr_sim_rare common;
	struct orr_sim_own *o = orrery_sim_own();

	if (!o->rare)
		o->rare = calloc(1, sizeof(*o->rare));
	return o->rare ? o->rare : &common;
}

/* ---- random numbers ---- */

static struct random_data *random_of(struct orr_sim_rare *o)
{
	if (!o->random.state)
		initstate_r(1, o->random_state, sizeof(o->random_state), &o->random);
	return &o->random;
}

long random(void)
{
	int32_t n;
	random_r(random_of(rare()), &n);
	return n;
}

int rand(void)
{
	return (int) random();
}

void srandom(unsigned seed)
{
	srandom_r(seed, random_of(rare()));
}

void srand(unsigned seed)
{
	srandom(seed);
}

char *initstate(unsigned seed, char *state, size_t n)
{
	struct random_data *r = random_of(rare());
	char *before = (char *) &r->state[-1];
	return initstate_r(seed, state, n, r) ? NULL : before;
}

char *setstate(char *state)
{
	struct random_data *r = random_of(rare());
	char *before = (char *) &r->state[-1];
	return setstate_r(state, r) ? NULL : before;
}

double drand48(void)
{
	double x;
	drand48_r(&rare()->drand48, &x);
	return x;
}

double erand48(unsigned short state[3])
{
	double x;
	erand48_r(state, &rare()->drand48, &x);
	return x;
}

long lrand48(void)
{
	long n;
	lrand48_r(&rare()->drand48, &n);
	return n;
}

long nrand48(unsigned short state[3])
{
	long n;
	nrand48_r(state, &rare()->drand48, &n);
	return n;
}

long mrand48(void)
{
	long n;
	mrand48_r(&rare()->drand48, &n);
	return n;
}

long jrand48(unsigned short state[3])
{
	long n;
	jrand48_r(state, &rare()->drand48, &n);
	return n;
}

void srand48(long seed)
{
	srand48_r(seed, &rare()->drand48);
}

unsigned short *seed48(unsigned short seed[3])
{
	struct drand48_data *d = &rare()->drand48;
	seed48_r(seed, d);
	return d->__old_x;
}

void lcong48(unsigned short parameters[7])
{
	lcong48_r(parameters, &rare()->drand48);
}

/* ---- results that stay until the next call ---- */

#undef strtok
char *strtok(char *text, const char *separators)
{
	return strtok_r(text, separators, &orrery_sim_own()->strtok_at);
}

char *tmpnam(char name[L_tmpnam])
{
	char *to = name ? name : rare()->tmpnam, text[L_tmpnam];
	if (!REAL(tmpnam)(text))
		return NULL;
	return strcpy(to, text);
}

char *asctime(const struct tm *tm)
{
	return asctime_r(tm, rare()->ctime);
}

char *ctime(const time_t *t)
{
	return ctime_r(t, rare()->ctime);
}

struct tm *gmtime(const time_t *t)
{
	return gmtime_r(t, &rare()->tm);
}

struct tm *localtime(const time_t *t)
{
	tzset();
	return localtime_r(t, &rare()->tm);
}

/* ---- working directory, mask, locale ---- */

int chdir(const char *path)
{
	return orrery_sim_chdir(path, -1);
}

int fchdir(int fd)
{
	return orrery_sim_chdir(NULL, fd);
}

mode_t umask(mode_t mask)
{
	return (mode_t) orrery_sim_umask((int) mask);
}

char *setlocale(int category, const char *name)
{
	if (orrery_sim_in_rank())
		return orrery_sim_setlocale(category, name);
	return REAL(setlocale)(category, name);
}

/* ---- the end ---- */

static int add_exit(void (*f)(int, void *), void *arg, int quick)
{
	struct orr_sim_exit *e = malloc(sizeof(*e));
	struct orr_sim_own *o = orrery_sim_own();
	if (!e)
		return -1;
	*e = (struct orr_sim_exit){ .next = o->exits, .f = f, .arg = arg, .quick = quick };
	o->exits = e;
	return 0;
}

int on_exit(void (*f)(int, void *), void *arg)
{
	return orrery_sim_in_rank() ? add_exit(f, arg, 0) : REAL(on_exit)(f, arg);
}

static void call_plain(int status, void *arg)
{
	(void) status;
	((void (*)(void)) arg)();
}

int __cxa_at_quick_exit(void (*f)(void *), void *object);
int __cxa_at_quick_exit(void (*f)(void *), void *object)
{
	(void) object;
	return add_exit(call_plain, (void *) f, 1);
}

/* ---- /proc ---- */

/* The path that a path below /proc/self, or below /proc and the rank's number, means. */
static const char *proc_path(const char *path)
{
	static const char self[] = "/proc/self/exe";
	if (!path || strncmp(path, "/proc/", 6) || !orrery_sim_in_rank())
		return path;
	if (!strcmp(path, self))
		return orrery_sim_program();
	char *end;
	long pid = strtol(path + 6, &end, 10);
	return end != path + 6 && !strcmp(end, "/exe") && orrery_sim_rank_of_pid((pid_t) pid) >= 0
		       ? orrery_sim_program()
		       : path;
}

/* A file with the command line of the program, as /proc/self/cmdline has it; -1: path is another
 * one. */
static int open_cmdline(const char *path)
{
	if (!path || strcmp(path, "/proc/self/cmdline") || !orrery_sim_in_rank())
		return -1;
	return orrery_sim_command_line();
}

ssize_t readlink(const char *path, char *text, size_t room)
{
	const char *to = proc_path(path);
	if (to == path)
		return REAL(readlink)(path, text, room);
	size_t n = strlen(to) < room ? strlen(to) : room;
	memcpy(text, to, n);
	return (ssize_t) n;
}

ssize_t __readlink_chk(const char *path, char *text, size_t room, size_t size);
ssize_t __readlink_chk(const char *path, char *text, size_t room, size_t size)
{
	if (room > size)
		abort();
	return readlink(path, text, room);
}

ssize_t readlinkat(int fd, const char *path, char *text, size_t room)
{
	return proc_path(path) == path ? REAL(readlinkat)(fd, path, text, room)
				       : readlink(path, text, room);
}

char *realpath(const char *restrict path, char *restrict resolved)
{
	return REAL(realpath)(proc_path(path), resolved);
}

char *__realpath_chk(const char *path, char *resolved, size_t size);
char *__realpath_chk(const char *path, char *resolved, size_t size)
{
	if (size < PATH_MAX)
		abort();
	return realpath(path, resolved);
}

/* The third argument of open() and its relatives, where there is one. */
#define MODE_AFTER(flags, mode) \
	mode_t mode = 0; \
	if ((flags) &O_CREAT || ((flags) &O_TMPFILE) == O_TMPFILE) { \
		va_list mode_list; \
		va_start(mode_list, flags); \
		mode = va_arg(mode_list, mode_t); \
		va_end(mode_list); \
	}

int open(const char *path, int flags, ...)
{
	MODE_AFTER(flags, mode)
	int fd = open_cmdline(path);
	return fd >= 0 ? fd : REAL(open)(proc_path(path), flags, mode);
}

int open64(const char *path, int flags, ...)
{
	MODE_AFTER(flags, mode)
	return open(path, flags | O_LARGEFILE, mode);
}

int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

int __open64_2(const char *path, int flags);
int __open64_2(const char *path, int flags)
{
	return open(path, flags | O_LARGEFILE);
}

int openat(int at, const char *path, int flags, ...)
{
	MODE_AFTER(flags, mode)
	int fd = open_cmdline(path);
	return fd >= 0 ? fd : REAL(openat)(at, proc_path(path), flags, mode);
}

static FILE *open_stream(const char *path, const char *mode)
{
	int fd = open_cmdline(path);
	return fd >= 0 ? fdopen(fd, mode) : NULL;
}

FILE *fopen(const char *restrict path, const char *restrict mode)
{
	FILE *f = open_stream(path, mode);
	return f ? f : REAL(fopen)(proc_path(path), mode);
}

FILE *fopen64(const char *restrict path, const char *restrict mode)
{
	FILE *f = open_stream(path, mode);
	return f ? f : REAL(fopen64)(proc_path(path), mode);
}

/* ---- locks of files ---- */

/* The locks of a process do not exclude its own; those of an open file do, and ranks open files
 * separately. To wait in the system would stop all ranks. */
static int lock_record(int fd, int command, struct flock *lock)
{
	int wait = command == F_SETLKW, ret;
	int own_command = command == F_GETLK ? F_OFD_GETLK : F_OFD_SETLK;
	pid_t pid = lock->l_pid;
	lock->l_pid = 0;
	while ((ret = REAL(fcntl)(fd, own_command, lock)) && wait &&
	       (errno == EAGAIN || errno == EACCES))
		orrery_sim_polled(0, 0);
	if (command != F_GETLK)
		lock->l_pid = pid;
	return ret;
}

static int control(int fd, int command, void *arg)
{
	if (orrery_sim_in_rank() &&
	    (command == F_SETLK || command == F_SETLKW || command == F_GETLK))
		return lock_record(fd, command, arg);
	return REAL(fcntl)(fd, command, arg);
}

int fcntl(int fd, int command, ...)
{
	va_list list;
	va_start(list, command);
	void *arg = va_arg(list, void *);
	va_end(list);
	return control(fd, command, arg);
}

int fcntl64(int fd, int command, ...)
{
	va_list list;
	va_start(list, command);
	void *arg = va_arg(list, void *);
	va_end(list);
	return control(fd, command, arg);
}

int flock(int fd, int operation)
{
	int ret;
	if (!orrery_sim_in_rank() || operation & LOCK_NB)
		return REAL(flock)(fd, operation);
	while ((ret = REAL(flock)(fd, operation | LOCK_NB)) && errno == EWOULDBLOCK)
		orrery_sim_polled(0, 0);
	return ret;
}

int lockf(int fd, int command, off_t length)
{
	struct flock lock = { .l_type = command == F_ULOCK ? F_UNLCK : F_WRLCK,
			      .l_whence = SEEK_CUR,
			      .l_len = length };
	if (!orrery_sim_in_rank())
		return REAL(lockf)(fd, command, length);
	if (command != F_TEST)
		return lock_record(fd, command == F_LOCK ? F_SETLKW : F_SETLK, &lock);
	if (lock_record(fd, F_GETLK, &lock))
		return -1;
	if (lock.l_type == F_UNLCK)
		return 0;
	errno = EACCES;
	return -1;
}

int lockf64(int fd, int command, off64_t length)
{
	return lockf(fd, command, length);
}
