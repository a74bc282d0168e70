/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clock of events (src/sys/real_ticks.c) beside CLOCK_MONOTONIC: in several threads at once its
 * times do not go back, not from one thread to another either, and are those of the kernel's clock
 * but for some microseconds; also after a pause without any comparison. */
#include <pthread.h>
#include <time.h>

#include "base/seam.h"
#include "lib/test.h"

#define NTHREADS 4
#define FOR_NS 60000000
#define FAR_NS 20000 /* beyond the two readings of the other clock around it */

static int64_t origin_ns;
static int64_t latest; /* atomic: that some thread has read */

static int64_t kernel_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec - origin_ns;
}

static void compare(void)
{
	int64_t before = kernel_ns(), ns = orr_sys_now_ns(), after = kernel_ns();

	CHECK(ns >= before - FAR_NS && ns <= after + FAR_NS);
}

static void *read_times(void *arg)
{
	int64_t end = kernel_ns() + FOR_NS, own = 0;

	(void) arg;
	while (own < end) {
		int64_t others = __atomic_load_n(&latest, __ATOMIC_ACQUIRE), ns = orr_sys_now_ns();

		CHECK(ns >= own);
		/* A time that another thread has read and told before is not later, but for the
		 * nanoseconds by which two comparisons differ. */
		CHECK(ns >= others - 1000);
		own = ns;
		__atomic_store_n(&latest, ns, __ATOMIC_RELEASE);
		compare();
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[NTHREADS];

	origin_ns = (int64_t) (orr_sys_origin_us() * 1e3);
	compare(); /* that of the kernel, before it is prepared */
	printf("another clock: %d\n", orr_sys_now_ns_init());
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < NTHREADS; i++)
			CHECK(!pthread_create(&thread[i], NULL, read_times, NULL));
		for (int i = 0; i < NTHREADS; i++)
			pthread_join(thread[i], NULL);
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
		compare();
	}
	return 0;
}
