/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A clock for events: CLOCK_MONOTONIC, read from the processor's time stamp counter where the
 * kernel takes its time from that, too, which it does only if the counter is constant and the same
 * on all cores. Between two comparisons with the kernel's clock, a millisecond apart, time grows in
 * proportion to the counter.
 *
 * Invariant: the times of a thread do not go back, and are within LARGEST_NS of CLOCK_MONOTONIC,
 * else the kernel's clock is read from then on. */
#include "sys/real.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define PERIOD_NS 1000000.0
#define LONG_NS 1000000000 /* the rate is of the last one or two of these */
#define LARGEST_NS 5000
#define LEAST_NS 5000000
#define SHIFT 32
#define TRIALS 100 /* of a comparison, at most */

#if defined(__x86_64__)
#define HAS_TICKS 1
/* After all loads before it, so that no thread reads an earlier time than one that another thread
 * has told it. */
static inline uint64_t read_ticks(void)
{
	__builtin_ia32_lfence();
	return __builtin_ia32_rdtsc();
}
#else
#define HAS_TICKS 0
static inline uint64_t read_ticks(void)
{
	return 0;
}
#endif

struct moment {
	uint64_t ticks;
	int64_t ns;
};

/* Readers take it between two equal, even values of seq. */
static struct {
	unsigned seq;         /* atomic, as all: 0: the counter is not used */
	uint64_t ticks, most; /* the last comparison, and until when it holds */
	int64_t ns;
	uint64_t rate; /* nanoseconds of a tick, times 2^SHIFT */
} now_is __attribute__((aligned(64)));

static struct {
	unsigned busy; /* atomic: protects all */
	struct moment older, newer;
	uint64_t least; /* ticks that a comparison took, of late */
} compared;

/* By the origin of orr_sys_now_us(). */
static int64_t kernel_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (ts.tv_sec - (int64_t) (orr_sys_origin_us() * 1e-6 + 0.5)) * 1000000000 + ts.tv_nsec;
}

/* Both clocks at once, as well as can be: *good if nothing came between. */
static struct moment compare(int *good)
{
	struct moment best = { 0, 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t before = read_ticks();
		int64_t ns = kernel_ns();
		uint64_t took = read_ticks() - before;

		if (took < least) {
			least = took;
			best = (struct moment){ .ticks = before + took / 2, .ns = ns };
		}
	}
	*good = !compared.least || least <= 4 * compared.least;
	if (!compared.least || least < compared.least)
		compared.least = least;
	else if (!*good) /* all may take longer from now on */
		compared.least += compared.least / 8 + 1;
	return best;
}

static int64_t time_at(uint64_t ticks, uint64_t since, int64_t ns, uint64_t rate)
{
	return ns + (int64_t) ((unsigned __int128) (ticks - since) * rate >> SHIFT);
}

/* From now on, or never again. */
static void publish(struct moment m, double rate)
{
	unsigned seq = ORR_ATOMIC_LOAD_RELAXED(&now_is.seq);

	if (!(rate > 0)) {
		ORR_ATOMIC_STORE(&now_is.seq, 0);
		return;
	}
	ORR_ATOMIC_STORE(&now_is.seq, seq | 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ORR_ATOMIC_STORE_RELAXED(&now_is.ticks, m.ticks);
	ORR_ATOMIC_STORE_RELAXED(&now_is.ns, m.ns);
	ORR_ATOMIC_STORE_RELAXED(&now_is.rate, (uint64_t) (rate * 4294967296.0));
	ORR_ATOMIC_STORE_RELAXED(&now_is.most, (uint64_t) (PERIOD_NS / rate));
	ORR_ATOMIC_STORE(&now_is.seq, (seq | 1) + 1);
}

/* The time of the kernel, and a comparison if no other thread makes one. */
static __attribute__((noinline)) int64_t kernel_ns_compared(void)
{
	unsigned seq = ORR_ATOMIC_LOAD(&now_is.seq);

	if (!seq || seq & 1 || __atomic_exchange_n(&compared.busy, 1, __ATOMIC_ACQUIRE))
		return kernel_ns();
	int good;
	struct moment m = compare(&good);

	if (!good) { /* the next reading tries again */
		__atomic_store_n(&compared.busy, 0, __ATOMIC_RELEASE);
		return m.ns;
	}
	int64_t said = time_at(m.ticks, now_is.ticks, now_is.ns, now_is.rate);
	double rate = (double) (m.ns - compared.older.ns) /
		      (double) (m.ticks - compared.older.ticks);

	/* After a long pause the old rate need not hold any more. */
	if (m.ns - now_is.ns < LONG_NS && (said - m.ns > LARGEST_NS || m.ns - said > LARGEST_NS))
		rate = 0;
	publish(m, rate);
	if (m.ns - compared.newer.ns > LONG_NS) {
		compared.older = compared.newer;
		compared.newer = m;
	}
	__atomic_store_n(&compared.busy, 0, __ATOMIC_RELEASE);
	return m.ns;
}

int64_t orr_sys_now_ns(void)
{
	unsigned seq = __atomic_load_n(&now_is.seq, __ATOMIC_ACQUIRE);

	if (__builtin_expect(seq && !(seq & 1), 1)) {
		uint64_t since = ORR_ATOMIC_LOAD_RELAXED(&now_is.ticks),
			 most = ORR_ATOMIC_LOAD_RELAXED(&now_is.most),
			 rate = ORR_ATOMIC_LOAD_RELAXED(&now_is.rate);
		int64_t ns = ORR_ATOMIC_LOAD_RELAXED(&now_is.ns);
		uint64_t ticks = read_ticks();

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__builtin_expect(
			    ticks - since < most && ORR_ATOMIC_LOAD_RELAXED(&now_is.seq) == seq, 1))
			return time_at(ticks, since, ns, rate);
	}
	return kernel_ns_compared();
}

/* Does the kernel take its time from the counter? */
static int kernel_has_ticks(void)
{
	char name[16] = "";
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

	if (!f)
		return 0;
	char *said = fgets(name, sizeof(name), f);
	fclose(f);
	return said && !strcmp(name, "tsc\n");
}

/* A comparison in which nothing came between, if there is one. */
static struct moment compare_well(void)
{
	int good;
	struct moment m = compare(&good);

	for (int i = 0; i < TRIALS && !good; i++)
		m = compare(&good);
	return m;
}

void orr_real_ticks_begin(void)
{
	for (int i = 0; i < 2; i++) /* the first one is slow */
		compared.older = compare_well();
}

int orr_sys_now_ns_init(void)
{
	if (HAS_TICKS && !ORR_ATOMIC_LOAD(&now_is.seq) && kernel_has_ticks()) {
		struct moment first = compared.older, m = compare_well();

		/* The program has just been loaded; a short time would be measured badly. */
		while (m.ns - first.ns < LEAST_NS)
			m = compare_well();
		compared.newer = m;
		if (m.ticks > first.ticks)
			publish(m, (double) (m.ns - first.ns) / (double) (m.ticks - first.ticks));
	}
	return ORR_ATOMIC_LOAD(&now_is.seq) != 0;
}
