// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads of C++ in programs for the simulated world: std::thread, std::condition_variable and what
// waits for a future are functions of the C++ library, which would start threads of the system and
// wait in it. wrapped.flags leads the program's calls here, and from here to threads.c and posix.c.
// All else of C++'s threads is code in headers, which calls POSIX itself.
//
// The names are those of libstdc++ (its versions GLIBCXX_3.4.11 to 3.4.30), spelled as its linker
// names.
//
// Invariant: no state; what is told to C++ is what POSIX returned.
#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <time.h>

static_assert(sizeof(std::thread) == sizeof(pthread_t), "a thread is its number");

// The state of a std::thread, as libstdc++ lays it out since GLIBCXX_3.4.22; its own type is
// private.
struct thread_state {
	virtual ~thread_state() = default;
	virtual void run() = 0;
};

namespace std
{
void __throw_system_error(int);
}

#pragma GCC visibility push(default)

extern "C" {

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*f)(void *),
			  void *arg);
int __wrap_pthread_join(pthread_t thread, void **ret);
int __wrap_pthread_detach(pthread_t thread);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_signal(pthread_cond_t *c);
int __wrap_pthread_cond_broadcast(pthread_cond_t *c);
unsigned orrery_sim_processors(void);
// Waits until *word differs from `value`; false: that time of the clock came before (NULL: never).
bool orrery_sim_word_wait(const unsigned *word, unsigned value, const struct timespec *until);
void orrery_sim_word_wake(const unsigned *word);

void __wrap__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
	pthread_t *self, std::unique_ptr<thread_state> *state, void (*)());
void __wrap__ZNSt6thread4joinEv(pthread_t *self);
void __wrap__ZNSt6thread6detachEv(pthread_t *self);
unsigned __wrap__ZNSt6thread20hardware_concurrencyEv(void);
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
	pthread_cond_t *self, std::unique_lock<std::mutex> *lock);
void __wrap__ZNSt18condition_variable10notify_oneEv(pthread_cond_t *self);
void __wrap__ZNSt18condition_variable10notify_allEv(pthread_cond_t *self);
bool __wrap__ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
	void *self, unsigned *word, unsigned value, bool limited, long s, long ns);
bool __wrap__ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
	void *self, unsigned *word, unsigned value, bool limited, long s, long ns);
void __wrap__ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj(unsigned *word);

static void *run(void *arg)
{
	std::unique_ptr<thread_state> state(static_cast<thread_state *>(arg));
	state->run();
	return nullptr;
}

void __wrap__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
	pthread_t *self, std::unique_ptr<thread_state> *state, void (*)())
{
	int error = __wrap_pthread_create(self, nullptr, run, state->get());
	if (error)
		std::__throw_system_error(error);
	state->release();
}

// Ends `wait` for the thread; a second end is an error, as POSIX may not tell it.
static void end_with(pthread_t *self, int (*end)(pthread_t))
{
	int error = *self ? end(*self) : EINVAL;
	if (error)
		std::__throw_system_error(error);
	*self = 0;
}

static int join_it(pthread_t thread)
{
	return __wrap_pthread_join(thread, nullptr);
}

void __wrap__ZNSt6thread4joinEv(pthread_t *self)
{
	end_with(self, join_it);
}

void __wrap__ZNSt6thread6detachEv(pthread_t *self)
{
	end_with(self, __wrap_pthread_detach);
}

unsigned __wrap__ZNSt6thread20hardware_concurrencyEv(void)
{
	return orrery_sim_processors();
}

void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
	pthread_cond_t *self, std::unique_lock<std::mutex> *lock)
{
	__wrap_pthread_cond_wait(self, lock->mutex()->native_handle());
}

void __wrap__ZNSt18condition_variable10notify_oneEv(pthread_cond_t *self)
{
	__wrap_pthread_cond_signal(self);
}

void __wrap__ZNSt18condition_variable10notify_allEv(pthread_cond_t *self)
{
	__wrap_pthread_cond_broadcast(self);
}

static bool wait_for_word(const unsigned *word, unsigned value, bool limited, long s, long ns)
{
	struct timespec until = { s, ns };
	return orrery_sim_word_wait(word, value, limited ? &until : nullptr);
}

bool __wrap__ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
	void *, unsigned *word, unsigned value, bool limited, long s, long ns)
{
	return wait_for_word(word, value, limited, s, ns);
}

bool __wrap__ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
	void *, unsigned *word, unsigned value, bool limited, long s, long ns)
{
	return wait_for_word(word, value, limited, s, ns);
}

void __wrap__ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj(unsigned *word)
{
	orrery_sim_word_wake(word);
}

} // extern "C"

#pragma GCC visibility pop
