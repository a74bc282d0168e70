/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Timers of a program, and waits for its files, in virtual time. wrapped.flags leads the program's
 * calls here.
 *
 * A timer that was set has a thread, which sleeps until it expires. The file of timerfd_create() is
 * one of eventfd(), to which that thread adds: so poll(), select() and epoll know it. A wait asks
 * the system what is ready without waiting, and sleeps in virtual time until its limit, or until
 * something of the simulation may have made a file ready: a timer, a read(), write() or close() of
 * the program, a signal. A file that nobody makes ready is a standstill.
 *
 * Real are the waits of a program with children, which are real, and reads of standard input.
 *
 * Invariant: no wait of an actor for a file here takes real time, except these. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include "starpu.h"
#include "calls.h"
#include "launcher.h"
#include "base/assert.h"

struct timer {
	struct orr_sim_rank *rank;
	struct sigevent event;       /* of timer_create() */
	int fd;                      /* of timerfd_create(), -1: none */
	int blocking;                /* a read of it waits */
	double next_us, interval_us; /* when it expires, 0: not; and then again */
	unsigned settings;           /* how often that was set */
	unsigned begun;              /* the last setting whose thread has begun */
	unsigned users;              /* the program, and threads that sleep */
	struct timer *next;          /* of those with files */
};

/* A thread for one setting of a timer. */
struct setting {
	struct timer *timer;
	unsigned number;
};

static struct timer *with_files;
static orr_waitq_t changes;

/* True in a child of the simulation, too. */
static int outside(void)
{
	return !orr_sim_actor_self() || !orrery_sim_is_simulator();
}

static double us_of(const struct timespec *t)
{
	return (double) t->tv_sec * 1e6 + (double) t->tv_nsec * 1e-3;
}

static struct timespec timespec_of(double us)
{
	time_t s = (time_t) (us / 1e6);
	return (struct timespec){ s, (long) ((us - (double) s * 1e6) * 1e3) };
}

void launcher_timers_changed(void)
{
	orr_waitq_wake(&changes);
}

/* ---- timers ---- */

static void drop(struct timer *t)
{
	orr_assert(t->users > 0);
	if (!--t->users)
		free(t);
}

static void expire(struct timer *t)
{
	const uint64_t one = 1;
	if (t->fd >= 0) {
		if (write(t->fd, &one, sizeof(one)) != sizeof(one))
			launcher_fail("rank %d: the file of a timer cannot be written: %s",
				      t->rank->rank, strerror(errno));
		launcher_timers_changed();
	} else if (t->event.sigev_notify == SIGEV_SIGNAL) {
		launcher_signal(t->rank->main, t->event.sigev_signo, &t->event.sigev_value);
	} else if (t->event.sigev_notify == SIGEV_THREAD) {
		t->event.sigev_notify_function(t->event.sigev_value);
	}
}

static void *timer_main(void *arg)
{
	struct setting *s = arg;
	struct timer *t = s->timer;
	t->begun = s->number;
	orr_sim_wake(&changes); /* without a turn of the setter before this thread sleeps */
	while (s->number == t->settings && t->next_us > 0) {
		orr_sys_sleep_us(t->next_us - orr_sys_now_us());
		if (s->number != t->settings || t->rank->ended)
			break;
		t->next_us = t->interval_us > 0 ? t->next_us + t->interval_us : 0;
		expire(t);
	}
	drop(t);
	free(s);
	return NULL;
}

static void timer_state(const struct timer *t, struct itimerspec *state)
{
	double left = t->next_us > 0 ? t->next_us - orr_sys_now_us() : 0;
	state->it_value = timespec_of(t->next_us > 0 && left < 1 ? 1 : left);
	state->it_interval = timespec_of(t->interval_us);
}

static int is_span(const struct timespec *t)
{
	return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

static int timer_set(struct timer *t, int absolute, const struct itimerspec *value,
		     struct itimerspec *before)
{
	starpu_pthread_t thread;
	double now_us = orr_sys_now_us(), first_us = us_of(&value->it_value);
	if (!is_span(&value->it_value) || !is_span(&value->it_interval)) {
		errno = EINVAL;
		return -1;
	}
	if (before)
		timer_state(t, before);
	t->settings++;
	t->next_us = first_us > 0 ? absolute ? first_us : now_us + first_us : 0;
	t->interval_us = us_of(&value->it_interval);
	if (!(first_us > 0))
		return 0;
	struct setting *s = malloc(sizeof(*s));
	if (!s)
		launcher_fail("out of memory for a timer of rank %d", t->rank->rank);
	unsigned mine = t->settings;
	*s = (struct setting){ t, mine };
	t->users++;
	if (starpu_pthread_create(&thread, NULL, timer_main, s) || starpu_pthread_detach(thread))
		launcher_fail("out of memory for a timer of rank %d", t->rank->rank);
	/* The timer sleeps before its setter does: it comes first where both end at the same time.
	 */
	t->users++;
	for (;;) {
		unsigned key = orr_waitq_prepare(&changes);
		if ((int) (t->begun - mine) >= 0)
			break;
		orr_waitq_wait(&changes, key, -1);
	}
	orr_waitq_cancel(&changes);
	drop(t);
	return 0;
}

static struct timer *timer_new(void)
{
	struct timer *t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->rank = orr_sim_actor_self()->rank;
	t->fd = -1;
	t->users = 1;
	return t;
}

static struct timer *timer_of_file(int fd)
{
	struct timer *t = with_files;
	while (t && t->fd != fd)
		t = t->next;
	return t;
}

/* ---- waits ---- */

int launcher_has_children(void)
{
	siginfo_t info;
	return !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
}

/* Asks until something is ready, which is not 0, or that time has passed (us < 0: no limit), or
 * more handlers have run than at first, by a count of calls.h. */
static int wait_until(int (*ready)(void *), void *what, double us, unsigned (*handled)(void),
		      unsigned first)
{
	const double until_us = orr_sys_now_us() + us;
	for (;;) {
		unsigned key = orr_waitq_prepare(&changes);
		int ret = ready(what);
		double left_us = us < 0 ? -1 : until_us - orr_sys_now_us();
		int interrupted = handled() != first;
		if (ret || interrupted || (us >= 0 && left_us <= 1e-3)) {
			orr_waitq_cancel(&changes);
			if (!ret && interrupted)
				errno = EINTR;
			return ret ? ret : interrupted ? -1 : 0;
		}
		orr_waitq_wait(&changes, key, left_us);
	}
}

struct polled {
	struct pollfd *fds;
	nfds_t n;
};

static int poll_ready(void *what)
{
	const struct polled *p = what;
	return poll(p->fds, p->n, 0);
}

struct selected {
	int n;
	fd_set *sets[3], asked[3];
};

static int select_ready(void *what)
{
	struct selected *s = what;
	struct timeval none = { 0, 0 };
	for (int i = 0; i < 3; i++)
		if (s->sets[i])
			*s->sets[i] = s->asked[i];
	return select(s->n, s->sets[0], s->sets[1], s->sets[2], &none);
}

static int select_until(int n, fd_set *in, fd_set *out, fd_set *error, double us, unsigned first)
{
	struct selected s = { .n = n, .sets = { in, out, error } };
	for (int i = 0; i < 3; i++)
		if (s.sets[i])
			s.asked[i] = *s.sets[i];
	return wait_until(select_ready, &s, us, orrery_sim_handled, first);
}

struct epolled {
	int fd, most;
	struct epoll_event *events;
};

static int epoll_ready(void *what)
{
	const struct epolled *e = what;
	return epoll_wait(e->fd, e->events, e->most, 0);
}

/* A wait with the signals that mask blocks, if there is a mask. One that was pending interrupts it:
 * `first` is how many handlers had run before. */
#define WITH_MASK(mask, call) \
	do { \
		sigset_t mask_before; \
		const unsigned first = orrery_sim_handled(); \
		int ret_ = 0; \
		if (mask) \
			pthread_sigmask(SIG_SETMASK, mask, &mask_before); \
		ret_ = (call); \
		if (mask) { \
			int error_ = errno; \
			pthread_sigmask(SIG_SETMASK, &mask_before, NULL); \
			errno = error_; \
		} \
		return ret_; \
	} while (0)

static int file_ready(void *what)
{
	return poll(what, 1, 0);
}

int launcher_wait_file(int fd, short events, double us)
{
	unsigned (*handled)(void) = us < 0 ? orrery_sim_handled_to_end : orrery_sim_handled;
	struct pollfd p = { fd, events, 0 };
	return wait_until(file_ready, &p, us, handled, handled());
}

/* A file of which a read waits for another thread of the program. */

static int read_waits(int fd)
{
	struct stat st;
	const struct timer *t = timer_of_file(fd);
	if (t)
		return t->blocking;
	return fd != STDIN_FILENO && !fstat(fd, &st) && S_ISFIFO(st.st_mode) &&
	       !(fcntl(fd, F_GETFL) & O_NONBLOCK) && !launcher_has_children();
}

#pragma GCC visibility push(default)

int __wrap_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer);
int __wrap_timer_settime(timer_t timer, int flags, const struct itimerspec *value,
			 struct itimerspec *before);
int __wrap_timer_gettime(timer_t timer, struct itimerspec *state);
int __wrap_timer_getoverrun(timer_t timer);
int __wrap_timer_delete(timer_t timer);
int __wrap_timerfd_create(int clock, int flags);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *value,
			   struct itimerspec *before);
int __wrap_timerfd_gettime(int fd, struct itimerspec *state);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __wrap_write(int fd, const void *buffer, size_t size);
int __wrap_close(int fd);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask);
int __wrap_select(int n, fd_set *in, fd_set *out, fd_set *error, struct timeval *t);
int __wrap_pselect(int n, fd_set *in, fd_set *out, fd_set *error, const struct timespec *t,
		   const sigset_t *mask);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int most, int ms);
int __wrap_epoll_pwait(int fd, struct epoll_event *events, int most, int ms, const sigset_t *mask);

int __wrap_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	if (outside())
		return timer_create(clock, event, timer);
	struct timer *t = timer_new();
	if (!t) {
		errno = EAGAIN;
		return -1;
	}
	t->event = event ? *event
			 : (struct sigevent){ .sigev_notify = SIGEV_SIGNAL,
					      .sigev_signo = SIGALRM };
	if (t->event.sigev_notify != SIGEV_SIGNAL && t->event.sigev_notify != SIGEV_THREAD &&
	    t->event.sigev_notify != SIGEV_NONE) {
		fprintf(stderr,
			"orrery sim: rank %d: timer_create(): only SIGEV_SIGNAL, SIGEV_THREAD and SIGEV_NONE work in a simulated run\n",
			t->rank->rank);
		drop(t);
		errno = ENOTSUP;
		return -1;
	}
	*timer = t;
	return 0;
}

int __wrap_timer_settime(timer_t timer, int flags, const struct itimerspec *value,
			 struct itimerspec *before)
{
	return outside() ? timer_settime(timer, flags, value, before)
			 : timer_set(timer, flags & TIMER_ABSTIME, value, before);
}

int __wrap_timer_gettime(timer_t timer, struct itimerspec *state)
{
	if (outside())
		return timer_gettime(timer, state);
	timer_state(timer, state);
	return 0;
}

/* Each expiry is told. */
int __wrap_timer_getoverrun(timer_t timer)
{
	return outside() ? timer_getoverrun(timer) : 0;
}

int __wrap_timer_delete(timer_t timer)
{
	if (outside())
		return timer_delete(timer);
	struct timer *t = timer;
	t->settings++;
	drop(t);
	return 0;
}

int __wrap_timerfd_create(int clock, int flags)
{
	if (outside())
		return timerfd_create(clock, flags);
	struct timer *t = timer_new();
	if (!t) {
		errno = ENOMEM;
		return -1;
	}
	t->fd = eventfd(0, EFD_NONBLOCK | (flags & TFD_CLOEXEC ? EFD_CLOEXEC : 0));
	if (t->fd < 0) {
		drop(t);
		return -1;
	}
	t->blocking = !(flags & TFD_NONBLOCK);
	t->next = with_files;
	with_files = t;
	return t->fd;
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *value,
			   struct itimerspec *before)
{
	struct timer *t = timer_of_file(fd);
	eventfd_t count;
	if (!t)
		return timerfd_settime(fd, flags, value, before);
	int ret = timer_set(t, flags & TFD_TIMER_ABSTIME, value, before);
	if (!ret)
		eventfd_read(fd, &count); /* what had expired is forgotten */
	return ret;
}

int __wrap_timerfd_gettime(int fd, struct itimerspec *state)
{
	const struct timer *t = timer_of_file(fd);
	if (!t)
		return timerfd_gettime(fd, state);
	timer_state(t, state);
	return 0;
}

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	if (!outside() && read_waits(fd) && launcher_wait_file(fd, POLLIN, -1) < 0)
		return -1;
	if (launcher_is_socket(fd))
		return __wrap_recv(fd, buffer, size, 0);
	ssize_t ret = read(fd, buffer, size);
	if (!outside())
		launcher_timers_changed(); /* a pipe may have room */
	return ret;
}

ssize_t __wrap_write(int fd, const void *buffer, size_t size)
{
	if (launcher_is_socket(fd))
		return __wrap_send(fd, buffer, size, 0);
	ssize_t ret = write(fd, buffer, size);
	if (!outside())
		launcher_timers_changed();
	return ret;
}

int __wrap_close(int fd)
{
	struct timer *t = timer_of_file(fd);
	if (t) {
		struct timer **at = &with_files;
		while (*at != t)
			at = &(*at)->next;
		*at = t->next;
		t->settings++;
		drop(t);
	}
	int ret = close(fd);
	if (!outside())
		launcher_timers_changed();
	return ret;
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
	struct polled p = { fds, n };
	return outside() || ms == 0 || (n && launcher_has_children())
		       ? poll(fds, n, ms)
		       : wait_until(poll_ready, &p, ms * 1e3, orrery_sim_handled,
				    orrery_sim_handled());
}

int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	struct polled p = { fds, n };
	if (outside() || (n && launcher_has_children()))
		return ppoll(fds, n, t, mask);
	WITH_MASK(mask, wait_until(poll_ready, &p, t ? us_of(t) : -1, orrery_sim_handled, first));
}

int __wrap_select(int n, fd_set *in, fd_set *out, fd_set *error, struct timeval *t)
{
	return outside() || (n && launcher_has_children())
		       ? select(n, in, out, error, t)
		       : select_until(n, in, out, error,
				      t ? (double) t->tv_sec * 1e6 + (double) t->tv_usec : -1,
				      orrery_sim_handled());
}

int __wrap_pselect(int n, fd_set *in, fd_set *out, fd_set *error, const struct timespec *t,
		   const sigset_t *mask)
{
	if (outside() || (n && launcher_has_children()))
		return pselect(n, in, out, error, t, mask);
	WITH_MASK(mask, select_until(n, in, out, error, t ? us_of(t) : -1, first));
}

int __wrap_epoll_wait(int fd, struct epoll_event *events, int most, int ms)
{
	struct epolled e = { fd, most, events };
	return outside() || ms == 0 || launcher_has_children()
		       ? epoll_wait(fd, events, most, ms)
		       : wait_until(epoll_ready, &e, ms * 1e3, orrery_sim_handled,
				    orrery_sim_handled());
}

int __wrap_epoll_pwait(int fd, struct epoll_event *events, int most, int ms, const sigset_t *mask)
{
	struct epolled e = { fd, most, events };
	if (outside() || launcher_has_children())
		return epoll_pwait(fd, events, most, ms, mask);
	WITH_MASK(mask,
		  wait_until(epoll_ready, &e, ms < 0 ? -1 : ms * 1e3, orrery_sim_handled, first));
}

#pragma GCC visibility pop
