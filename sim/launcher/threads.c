/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of POSIX in programs for the simulated world: they are actors of their rank.
 * wrapped.flags leads the program's calls here.
 *
 * The number of a thread (pthread_t) is the address of its actor; the program's main thread has the
 * system's number of the one thread that all actors are. So every function that takes such a
 * number is here: the C library would look behind it.
 *
 * Invariant: the C library never sees the number of an actor. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#include "starpu.h"
#include "calls.h"
#include "launcher.h"
#include "actors/sim_private.h"

static int outside(void)
{
	return !orr_sim_actor_self();
}

/* The actor of that thread of this rank. */
static struct orr_sim_actor *actor_of(pthread_t thread)
{
	struct orr_sim_actor *self = orr_sim_actor_self();
	return pthread_equal(thread, pthread_self()) ? self->rank->main
						     : (struct orr_sim_actor *) (uintptr_t) thread;
}

static int refuse(const char *function, const char *remedy)
{
	fprintf(stderr, "orrery sim: rank %d: %s(): not possible in a simulated run; %s\n",
		orrery_sim_my_rank(), function, remedy);
	return ENOTSUP;
}

#pragma GCC visibility push(default)

/* ---- beginning and end ---- */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*f)(void *),
			  void *arg);
int __wrap_pthread_join(pthread_t thread, void **ret);
int __wrap_pthread_detach(pthread_t thread);
void __wrap_pthread_exit(void *ret) __attribute__((noreturn));
int __wrap_sched_yield(void);
pid_t __wrap_getpid(void);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*f)(void *),
			  void *arg)
{
	starpu_pthread_t t;
	int detached = PTHREAD_CREATE_JOINABLE;
	if (outside())
		return pthread_create(thread, attr, f, arg);
	if (attr)
		pthread_attr_getdetachstate(attr, &detached);
	int ret = starpu_pthread_create(&t, NULL, f, arg);
	if (ret)
		return ret;
	*thread = (pthread_t) (uintptr_t) t;
	return detached == PTHREAD_CREATE_DETACHED ? starpu_pthread_detach(t) : 0;
}

int __wrap_pthread_join(pthread_t thread, void **ret)
{
	return outside() ? pthread_join(thread, ret)
			 : starpu_pthread_join((starpu_pthread_t) (uintptr_t) thread, ret);
}

int __wrap_pthread_detach(pthread_t thread)
{
	return outside() ? pthread_detach(thread)
			 : starpu_pthread_detach((starpu_pthread_t) (uintptr_t) thread);
}

void __wrap_pthread_exit(void *ret)
{
	if (outside())
		pthread_exit(ret);
	starpu_pthread_exit(ret);
	abort();
}

/* A thread that yields looks for something again and again. */
int __wrap_sched_yield(void)
{
	orr_sys_polled(-1);
	return 0;
}

/* ---- numbers and names ---- */

pthread_t __wrap_pthread_self(void);
int __wrap_pthread_equal(pthread_t a, pthread_t b);
int __wrap_pthread_setname_np(pthread_t thread, const char *name);
int __wrap_pthread_getname_np(pthread_t thread, char *name, size_t room);
int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr);
int __wrap_pthread_tryjoin_np(pthread_t thread, void **ret);
int __wrap_pthread_kill(pthread_t thread, int sig);
int __wrap_pthread_cancel(pthread_t thread);

pthread_t __wrap_pthread_self(void)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	return !a || a == a->rank->main ? pthread_self() : (pthread_t) (uintptr_t) a;
}

int __wrap_pthread_equal(pthread_t a, pthread_t b)
{
	return a == b;
}

int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
	if (outside())
		return pthread_setname_np(thread, name);
	if (strlen(name) > 15)
		return ERANGE;
	snprintf(actor_of(thread)->name, sizeof(actor_of(thread)->name), "%s", name);
	return 0;
}

int __wrap_pthread_getname_np(pthread_t thread, char *name, size_t room)
{
	if (outside())
		return pthread_getname_np(thread, name, room);
	if (room < 16)
		return ERANGE;
	snprintf(name, room, "%.15s", actor_of(thread)->name);
	return 0;
}

/* Of the system's thread: an actor has a stack, and no other attributes. */
int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
	return pthread_getattr_np(outside() ? thread : pthread_self(), attr);
}

int __wrap_pthread_tryjoin_np(pthread_t thread, void **ret)
{
	if (outside())
		return pthread_tryjoin_np(thread, ret);
	return actor_of(thread)->active ? EBUSY : __wrap_pthread_join(thread, ret);
}

/* The handler is the rank's, and runs in the caller. It interrupts what the thread waits for. */
int __wrap_pthread_kill(pthread_t thread, int sig)
{
	if (outside())
		return pthread_kill(thread, sig);
	return launcher_signal(actor_of(thread), sig, NULL) ? errno : 0;
}

int __wrap_pthread_cancel(pthread_t thread)
{
	return outside() ? pthread_cancel(thread)
			 : refuse("pthread_cancel", "tell the thread by a variable to return");
}

/* ---- destructors of thread_local objects of C++ ---- */

int __wrap___cxa_thread_atexit(void (*f)(void *), void *object, void *dso);
int __cxa_thread_atexit_impl(void (*f)(void *), void *object, void *dso);

/* The compiler calls it when a thread makes such an object. */
int __wrap___cxa_thread_atexit(void (*f)(void *), void *object, void *dso)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	return a ? orr_sim_private_at_end(a, f, object) : __cxa_thread_atexit_impl(f, object, dso);
}

/* ---- keys ---- */

int __wrap_pthread_key_create(pthread_key_t *key, void (*destroy)(void *));
int __wrap_pthread_key_delete(pthread_key_t key);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value);
void *__wrap_pthread_getspecific(pthread_key_t key);

int __wrap_pthread_key_create(pthread_key_t *key, void (*destroy)(void *))
{
	starpu_pthread_key_t k;
	if (outside())
		return pthread_key_create(key, destroy);
	int ret = starpu_pthread_key_create(&k, destroy);
	if (!ret)
		*key = (pthread_key_t) k;
	return ret;
}

int __wrap_pthread_key_delete(pthread_key_t key)
{
	return outside() ? pthread_key_delete(key) : starpu_pthread_key_delete(key);
}

int __wrap_pthread_setspecific(pthread_key_t key, const void *value)
{
	return outside() ? pthread_setspecific(key, value) : starpu_pthread_setspecific(key, value);
}

void *__wrap_pthread_getspecific(pthread_key_t key)
{
	return outside() ? pthread_getspecific(key) : starpu_pthread_getspecific(key);
}

/* ---- processors: those of the node ---- */

unsigned orrery_sim_processors(void);
int __wrap_get_nprocs(void);
int __wrap_get_nprocs_conf(void);
long __wrap_sysconf(int name);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set);
int __wrap_pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set);
int __wrap_pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set);

unsigned orrery_sim_processors(void)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	return a && a->rank->ncpus ? a->rank->ncpus : (unsigned) get_nprocs();
}

int __wrap_get_nprocs(void)
{
	return (int) orrery_sim_processors();
}

int __wrap_get_nprocs_conf(void)
{
	return outside() ? get_nprocs_conf() : (int) orrery_sim_processors();
}

long __wrap_sysconf(int name)
{
	return outside() || (name != _SC_NPROCESSORS_ONLN && name != _SC_NPROCESSORS_CONF)
		       ? sysconf(name)
		       : (long) orrery_sim_processors();
}

static int all_processors(size_t size, cpu_set_t *set)
{
	unsigned n = orrery_sim_processors();
	if (n > 8 * size)
		return EINVAL;
	CPU_ZERO_S(size, set);
	for (unsigned i = 0; i < n; i++)
		CPU_SET_S(i, size, set);
	return 0;
}

/* A thread keeps what it was bound to, and is told so. It makes no difference else: what a program
 * computes outside of kernels takes no virtual time. */
static int bind(struct orr_sim_private *p, size_t size, const cpu_set_t *set)
{
	cpu_set_t all;
	if (all_processors(sizeof(all), &all))
		return EINVAL;
	if (!p->processors && !(p->processors = malloc(sizeof(all))))
		return ENOMEM;
	CPU_ZERO((cpu_set_t *) p->processors);
	memcpy(p->processors, set, size < sizeof(all) ? size : sizeof(all));
	CPU_AND((cpu_set_t *) p->processors, (cpu_set_t *) p->processors, &all);
	if (CPU_COUNT((cpu_set_t *) p->processors))
		return 0;
	free(p->processors);
	p->processors = NULL;
	return EINVAL;
}

static int bound_to(const struct orr_sim_private *p, size_t size, cpu_set_t *set)
{
	int ret = all_processors(size, set);
	if (!ret && p->processors)
		memcpy(set, p->processors, size < sizeof(*set) ? size : sizeof(*set));
	return ret;
}

static int is_me(pid_t pid)
{
	return !outside() && (!pid || pid == __wrap_getpid());
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	if (!is_me(pid))
		return sched_getaffinity(pid, size, set);
	errno = bound_to(&orr_sim_actor_self()->own, size, set);
	return errno ? -1 : 0;
}

int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	if (!is_me(pid))
		return sched_setaffinity(pid, size, set);
	errno = bind(&orr_sim_actor_self()->own, size, set);
	return errno ? -1 : 0;
}

int __wrap_pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
	return outside() ? pthread_getaffinity_np(thread, size, set)
			 : bound_to(&actor_of(thread)->own, size, set);
}

int __wrap_pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
	return outside() ? pthread_setaffinity_np(thread, size, set)
			 : bind(&actor_of(thread)->own, size, set);
}

#pragma GCC visibility pop
