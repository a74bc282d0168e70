/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals of a rank: what it does with them, blocks, waits for, and sends itself. They never reach
 * the system, which knows one process for all ranks. A handler runs in the actor that sends the
 * signal, and ends the wait of the thread that the signal is for. The names are in the executable,
 * as interpose.c explains.
 *
 * The table in doc/simulating.md says for each function what holds.
 *
 * Invariant: a pending signal is blocked. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
#include "actors/sim_own.h"
#include "calls.h"
#include "interpose.h"

/* ---- actions ---- */

static struct sigaction *action_of(int sig)
{
	struct orr_sim_own *o = orrery_sim_own();
	if (sig < 1 || sig >= ORR_SIM_NSIGNALS || sig == SIGKILL || sig == SIGSTOP) {
		errno = EINVAL;
		return NULL;
	}
	if (!o->actions && !(o->actions = calloc(ORR_SIM_NSIGNALS, sizeof(*o->actions))))
		errno = ENOMEM;
	return o->actions ? &o->actions[sig] : NULL;
}

int sigaction(int sig, const struct sigaction *action, struct sigaction *before)
{
	if (!orrery_sim_in_rank())
		return REAL(sigaction)(sig, action, before);
	struct sigaction *mine = action_of(sig);
	if (!mine)
		return -1;
	struct sigaction old = *mine;
	if (action)
		*mine = *action;
	if (before)
		*before = old;
	return 0;
}

static sighandler_t set_handler(int sig, sighandler_t handler, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags }, before;
	return sigaction(sig, &action, &before) ? SIG_ERR : before.sa_handler;
}

sighandler_t signal(int sig, sighandler_t handler)
{
	return set_handler(sig, handler, SA_RESTART);
}

sighandler_t __sysv_signal(int sig, sighandler_t handler);
sighandler_t __sysv_signal(int sig, sighandler_t handler)
{
	return set_handler(sig, handler, (int) (SA_RESETHAND | SA_NODEFER));
}

/* ---- delivery ---- */

/* The rank's handler runs, for that thread (NULL: the caller); sent: by a timer. A rank that does
 * not handle a signal which ends processes ends by it. */
static int deliver(int sig, struct orr_sim_actor *to, const union sigval *sent)
{
	struct sigaction *mine = sig == SIGKILL || sig == SIGSTOP ? NULL : action_of(sig);
	if (!mine && sig != SIGKILL && sig != SIGSTOP)
		return -1;
	struct sigaction action = mine ? *mine : (struct sigaction){ .sa_handler = SIG_DFL };
	if (action.sa_handler == SIG_IGN)
		return 0;
	if (action.sa_handler == SIG_DFL)
		return orrery_sim_default_signal(sig);
	if (action.sa_flags & (int) SA_RESETHAND)
		mine->sa_handler = SIG_DFL;
	orrery_sim_tell_handled(sig);
	if (action.sa_flags & SA_SIGINFO) {
		siginfo_t info = { .si_signo = sig, .si_code = sent ? SI_TIMER : SI_TKILL };
		if (sent)
			info.si_value = *sent;
		action.sa_sigaction(sig, &info, NULL);
	} else {
		action.sa_handler(sig);
	}
	orrery_sim_signal_handled(to, (action.sa_flags & SA_RESTART) != 0);
	return 0;
}

/* A blocked signal stays pending, until the rank unblocks it or waits for it. */
int raise(int sig)
{
	if (!orrery_sim_in_rank())
		return REAL(raise)(sig);
	struct orr_sim_own *o = orrery_sim_own();
	struct orr_sim_actor *to = o->to;
	const union sigval *sent = o->sent;
	o->to = NULL;
	o->sent = NULL;
	if (sig == 0)
		return 0;
	if (sig == SIGKILL || sig == SIGSTOP || !(o->blocked & ORR_SIM_SIGNAL(sig)))
		return deliver(sig, to, sent);
	o->pending |= ORR_SIM_SIGNAL(sig);
	orrery_sim_signal_came();
	return 0;
}

static void deliver_pending(struct orr_sim_own *o)
{
	for (int sig = 1; sig < ORR_SIM_NSIGNALS; sig++) {
		if (!(o->pending & ~o->blocked & ORR_SIM_SIGNAL(sig)))
			continue;
		o->pending &= ~ORR_SIM_SIGNAL(sig);
		deliver(sig, NULL, NULL);
	}
}

/* ---- masks: of the rank, not of each thread ---- */

static uint64_t bits_of(const sigset_t *set)
{
	uint64_t bits = 0;
	for (int sig = 1; sig < ORR_SIM_NSIGNALS; sig++)
		if (sigismember(set, sig) == 1)
			bits |= ORR_SIM_SIGNAL(sig);
	return bits;
}

static void set_of(uint64_t bits, sigset_t *set)
{
	sigemptyset(set);
	for (int sig = 1; sig < ORR_SIM_NSIGNALS; sig++)
		if (bits & ORR_SIM_SIGNAL(sig))
			sigaddset(set, sig);
}

static int set_mask(int how, uint64_t set)
{
	struct orr_sim_own *o = orrery_sim_own();
	switch (how) {
	case SIG_BLOCK: o->blocked |= set; break;
	case SIG_SETMASK: o->blocked = set; break;
	case SIG_UNBLOCK: o->blocked &= ~set; break;
	default: return EINVAL;
	}
	deliver_pending(o);
	return 0;
}

int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
	if (!orrery_sim_in_rank())
		return REAL(pthread_sigmask)(how, set, before);
	uint64_t old = orrery_sim_own()->blocked;
	int ret = set ? set_mask(how, bits_of(set)) : 0;
	if (before && !ret)
		set_of(old, before);
	return ret;
}

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
	int ret = pthread_sigmask(how, set, before);
	if (ret)
		errno = ret;
	return ret ? -1 : 0;
}

int sigpending(sigset_t *set)
{
	if (!orrery_sim_in_rank())
		return REAL(sigpending)(set);
	set_of(orrery_sim_own()->pending, set);
	return 0;
}

/* ---- waiting ---- */

/* Waits until more handlers have run than that. */
static int wait_for_handler(unsigned before)
{
	while (orrery_sim_handled() == before)
		orrery_sim_signal_wait(-1);
	errno = EINTR;
	return -1;
}

int pause(void)
{
	return orrery_sim_in_rank() ? wait_for_handler(orrery_sim_handled()) : REAL(pause)();
}

int sigsuspend(const sigset_t *mask)
{
	if (!orrery_sim_in_rank())
		return REAL(sigsuspend)(mask);
	uint64_t before = orrery_sim_own()->blocked;
	unsigned handled = orrery_sim_handled();
	set_mask(SIG_SETMASK, bits_of(mask));
	wait_for_handler(handled);
	set_mask(SIG_SETMASK, before);
	errno = EINTR;
	return -1;
}

/* The first pending signal of the set, which it takes; 0: none came in that time (EAGAIN), or a
 * handler of another one has run (EINTR). */
static int await(const sigset_t *set, double us)
{
	struct orr_sim_own *o = orrery_sim_own();
	double until_us = orrery_sim_now_us() + us;
	unsigned handled = orrery_sim_handled();
	for (;;) {
		for (int sig = 1; sig < ORR_SIM_NSIGNALS; sig++) {
			if (!(o->pending & ORR_SIM_SIGNAL(sig)) || sigismember(set, sig) != 1)
				continue;
			o->pending &= ~ORR_SIM_SIGNAL(sig);
			return sig;
		}
		double left_us = until_us - orrery_sim_now_us();
		errno = orrery_sim_handled() != handled ? EINTR : EAGAIN;
		if (errno == EINTR || (us >= 0 && left_us <= 0))
			return 0;
		orrery_sim_signal_wait(us < 0 ? -1 : left_us);
	}
}

int sigwait(const sigset_t *restrict set, int *restrict sig)
{
	if (!orrery_sim_in_rank())
		return REAL(sigwait)(set, sig);
	int before = errno;
	do {
		*sig = await(set, -1);
	} while (!*sig);
	errno = before;
	return 0;
}

int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
		 const struct timespec *restrict span)
{
	if (!orrery_sim_in_rank())
		return REAL(sigtimedwait)(set, info, span);
	int sig = await(set,
			span ? (double) span->tv_sec * 1e6 + (double) span->tv_nsec * 1e-3 : -1);
	if (!sig)
		return -1;
	if (info)
		*info = (siginfo_t){ .si_signo = sig, .si_code = SI_TKILL };
	return sig;
}

int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	return orrery_sim_in_rank() ? sigtimedwait(set, info, NULL) : REAL(sigwaitinfo)(set, info);
}

/* ---- sending ---- */

int kill(pid_t pid, int sig)
{
	int rank = orrery_sim_in_rank() ? orrery_sim_rank_of_pid(pid) : -1;
	if (rank < 0)
		return REAL(kill)(pid, sig);
	if (rank == orrery_sim_my_rank())
		return orrery_sim_signal_send(sig);
	if (sig == 0)
		return 0;
	fprintf(stderr,
		"orrery sim: rank %d: kill(): ranks cannot send signals to each other in a simulated run; send a message instead\n",
		orrery_sim_my_rank());
	errno = ENOTSUP;
	return -1;
}

unsigned alarm(unsigned s)
{
	if (!orrery_sim_in_rank())
		return REAL(alarm)(s);
	double interval_us, left_us = orrery_sim_alarm_left(&interval_us);
	orrery_sim_alarm(s * 1e6, 0);
	/* The nearest number of seconds, but not none. */
	return left_us > 0 && left_us < 5e5 ? 1 : (unsigned) (left_us / 1e6 + .5);
}

static double us_of(const struct timeval *t)
{
	return (double) t->tv_sec * 1e6 + (double) t->tv_usec;
}

static struct timeval timeval_of(double us)
{
	return (struct timeval){ (time_t) (us / 1e6), (suseconds_t) us % 1000000 };
}

static int is_span(const struct timeval *t)
{
	return t->tv_sec >= 0 && t->tv_usec >= 0 && t->tv_usec < 1000000;
}

/* Other timers are never set. */
int getitimer(__itimer_which_t which, struct itimerval *value)
{
	if (!orrery_sim_in_rank() || which != ITIMER_REAL)
		return REAL(getitimer)(which, value);
	double interval_us, left_us = orrery_sim_alarm_left(&interval_us);
	*value = (struct itimerval){ timeval_of(interval_us), timeval_of(left_us) };
	return 0;
}

int setitimer(__itimer_which_t which, const struct itimerval *restrict value,
	      struct itimerval *restrict before)
{
	if (!orrery_sim_in_rank())
		return REAL(setitimer)(which, value, before);
	if (which != ITIMER_REAL) {
		fprintf(stderr,
			"orrery sim: rank %d: setitimer(): only ITIMER_REAL works in a simulated run\n",
			orrery_sim_my_rank());
		errno = ENOTSUP;
		return -1;
	}
	struct itimerval new = *value;
	if (!is_span(&new.it_value) || !is_span(&new.it_interval)) {
		errno = EINVAL;
		return -1;
	}
	if (before)
		getitimer(which, before);
	orrery_sim_alarm(us_of(&new.it_value), us_of(&new.it_interval));
	return 0;
}

useconds_t ualarm(useconds_t us, useconds_t interval)
{
	struct itimerval value = { { 0, (suseconds_t) interval }, { 0, (suseconds_t) us } }, before;
	if (!orrery_sim_in_rank())
		return REAL(ualarm)(us, interval);
	return setitimer(ITIMER_REAL, &value, &before) ? (useconds_t) -1
						       : (useconds_t) us_of(&before.it_value);
}
