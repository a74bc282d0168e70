/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The meaning of each flag of an allocation (handbook 27.2): a table of flags, with and without a
 * limit of main memory, under each pressure, compared with a model of four rules. Behind an
 * allocation that exceeded the limit the runtime evicts when a task ends.
 * orr-test: env STARPU_NCPU=2
 * orr-test: sim-args --kernels=run */
#include "data/mem_test.h"

#include <errno.h>

#define MIB ((size_t) 1 << 20)
#define LIMIT (4 * MIB)

/* In main memory, before the allocation: nothing; a datum that nobody uses; one that the program
 * holds; 4 MiB that the program took from the budget. */
enum pressure { FREE, UNUSED, HELD, TAKEN, NPRESSURES };

static const int flags[] = {
	0,
	STARPU_MALLOC_PINNED,
	STARPU_MALLOC_SIMULATION_FOLDED,
	STARPU_MALLOC_SIMULATION_UNIQUE,
	STARPU_MALLOC_NORECLAIM,
	STARPU_MEMORY_OVERFLOW,
	STARPU_MEMORY_WAIT,
	STARPU_MALLOC_COUNT,
	STARPU_MALLOC_COUNT | STARPU_MALLOC_PINNED,
	STARPU_MALLOC_COUNT | STARPU_MALLOC_SIMULATION_FOLDED,
	STARPU_MALLOC_COUNT | STARPU_MALLOC_NORECLAIM,
	STARPU_MALLOC_COUNT | STARPU_MEMORY_OVERFLOW,
	STARPU_MALLOC_COUNT | STARPU_MEMORY_OVERFLOW | STARPU_MALLOC_NORECLAIM,
	STARPU_MALLOC_COUNT | STARPU_MEMORY_WAIT,
	STARPU_MALLOC_COUNT | STARPU_MEMORY_WAIT | STARPU_MALLOC_NORECLAIM,
};

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet write_cl = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_W }, .name = "write"
};
static struct starpu_codelet empty_cl = { .cpu_funcs = { nothing }, .name = "empty" };

/* A datum on main memory, and its other copy on a disk, so that eviction needs no write-back. */
struct setting {
	starpu_data_handle_t h;
	enum pressure pressure;
	int disk, limited;
};

static void press(struct setting *s)
{
	starpu_vector_data_register(&s->h, -1, 0, 3 * MIB, 1);
	if (s->pressure == TAKEN)
		CHECK(starpu_memory_allocate(STARPU_MAIN_RAM, LIMIT, 0) == 0);
	if (s->pressure == FREE || s->pressure == TAKEN)
		return;
	CHECK(starpu_task_insert(&write_cl, STARPU_W, s->h, 0) == 0);
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(starpu_data_acquire_on_node(s->h, s->disk, STARPU_R) == 0);
	starpu_data_release_on_node(s->h, s->disk);
	if (s->pressure == HELD)
		CHECK(starpu_data_acquire(s->h, STARPU_R) == 0);
}

static void relieve(struct setting *s)
{
	if (s->pressure == HELD)
		starpu_data_release(s->h);
	if (s->pressure == TAKEN)
		starpu_memory_deallocate(STARPU_MAIN_RAM, LIMIT);
	starpu_data_unregister(s->h);
	CHECK(starpu_memory_get_used(STARPU_MAIN_RAM) == 0);
}

static size_t used_before(enum pressure p)
{
	return p == FREE ? 0 : p == TAKEN ? LIMIT : 3 * MIB;
}

/* The rules. */
struct outcome {
	int ret;
	int waits; /* for ever: nobody gives anything back */
	size_t used, used_after_task;
};

static struct outcome expected(const struct setting *s, int f, size_t size)
{
	size_t before = used_before(s->pressure);
	struct outcome o = { 0, 0, before, before };
	int fits = !s->limited || before + size <= LIMIT,
	    may_evict = !(f & (STARPU_MALLOC_NORECLAIM | STARPU_MEMORY_OVERFLOW)),
	    exceeds = (f & STARPU_MEMORY_OVERFLOW) ||
		      ((f & STARPU_MALLOC_NORECLAIM) && !(f & STARPU_MEMORY_WAIT));

	/* 1. What is not counted does not count. */
	if (!(f & STARPU_MALLOC_COUNT))
		return o;
	/* 2. Only data that nobody uses are evicted, and only where that helps and is allowed. */
	if (!fits && may_evict && s->pressure == UNUSED && size <= LIMIT) {
		before = o.used = o.used_after_task = 0;
		fits = 1;
	}
	/* 3. What does not fit exceeds the limit, waits, or is refused. */
	if (!fits && !exceeds) {
		o.ret = -ENOMEM;
		o.waits = (f & STARPU_MEMORY_WAIT) && size <= LIMIT;
		return o;
	}
	o.used = o.used_after_task = before + size;
	/* 4. What exceeds the limit makes data go that nobody uses, when a task ends. */
	if (!fits && s->pressure == UNUSED)
		o.used_after_task = size;
	return o;
}

static void await(size_t used)
{
	for (int i = 0; i < 2000 && starpu_memory_get_used(STARPU_MAIN_RAM) != used; i++)
		starpu_sleep(0.005f);
}

static void cell(struct setting *s, int f, size_t size)
{
	struct outcome o = expected(s, f, size);
	void *p = &p;

	if (o.waits)
		return; /* the others of this test wait (mem_wait.c) */
	press(s);
	CHECK_IS(starpu_memory_get_used(STARPU_MAIN_RAM), used_before(s->pressure));
	int ret = starpu_malloc_flags(&p, size, f);
	size_t used = starpu_memory_get_used(STARPU_MAIN_RAM);

	CHECK(ret == o.ret && used == o.used,
	      "flags %#x, %zu MiB, pressure %d, limited %d: %d and %zu in use, not %d and %zu", f,
	      size / MIB, s->pressure, s->limited, ret, used, o.ret, o.used);
	CHECK((p == &p) == (ret != 0));
	CHECK(starpu_task_insert(&empty_cl, 0) == 0 && starpu_task_wait_for_all() == 0);
	await(o.used_after_task);
	used = starpu_memory_get_used(STARPU_MAIN_RAM);
	CHECK(used == o.used_after_task,
	      "flags %#x, %zu MiB, pressure %d: %zu in use behind a task, not %zu", f, size / MIB,
	      s->pressure, used, o.used_after_task);
	if (!ret) {
		memset(p, 7, size);
		CHECK(starpu_free_flags(p, size, f) == 0);
	}
	relieve(s);
}

/* ---- waiting ---- */

static int node_of_budget; /* the allocation that another thread of the runtime gives back */

static void give_back(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_sleep(0.01f);
	starpu_memory_deallocate((unsigned) node_of_budget, LIMIT);
}

static void work(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_sleep(0.01f);
}

static struct starpu_codelet give_back_cl = { .cpu_funcs = { give_back }, .name = "give_back" };
static struct starpu_codelet work_cl = {
	.cpu_funcs = { work }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "work"
};

/* A task uses the datum and ends: then the datum can be evicted, though nothing is given back. */
static void waits_for_task(struct setting *s, int only_look)
{
	void *p;

	s->pressure = UNUSED;
	press(s);
	CHECK(starpu_task_insert(&work_cl, STARPU_RW, s->h, 0) == 0);
	if (only_look) {
		starpu_memory_wait_available(STARPU_MAIN_RAM, 2 * MIB);
	} else {
		CHECK(starpu_malloc_flags(&p, 2 * MIB, STARPU_MALLOC_COUNT | STARPU_MEMORY_WAIT) ==
		      0);
		CHECK(starpu_free_flags(p, 2 * MIB, STARPU_MALLOC_COUNT) == 0);
	}
	CHECK(starpu_task_wait_for_all() == 0);
	relieve(s);
}

/* A thread that may not evict waits for memory that somebody gives back. */
static void waits_for_program(struct setting *s, int f)
{
	void *p;

	s->pressure = FREE;
	press(s);
	CHECK(starpu_memory_allocate(STARPU_MAIN_RAM, LIMIT, 0) == 0);
	CHECK(starpu_task_insert(&give_back_cl, 0) == 0);
	CHECK(starpu_malloc_flags(&p, MIB, STARPU_MALLOC_COUNT | STARPU_MEMORY_WAIT | f) == 0);
	CHECK_IS(starpu_memory_get_used(STARPU_MAIN_RAM), MIB);
	CHECK(starpu_free_flags(p, MIB, STARPU_MALLOC_COUNT) == 0);
	CHECK(starpu_task_wait_for_all() == 0);
	relieve(s);
}

/* A task waits for what the program has taken, and will give back. */
static void task_waits_for_program(struct setting *s, int by_malloc)
{
	void *p;

	s->pressure = FREE;
	press(s);
	if (by_malloc)
		CHECK(starpu_malloc_flags(&p, 2 * MIB, STARPU_MALLOC_COUNT) == 0);
	else
		CHECK(starpu_memory_allocate(STARPU_MAIN_RAM, 2 * MIB, 0) == 0);
	CHECK(starpu_task_insert(&write_cl, STARPU_W, s->h, 0) == 0);
	starpu_sleep(0.02f);
	if (by_malloc)
		CHECK(starpu_free_flags(p, 2 * MIB, STARPU_MALLOC_COUNT) == 0);
	else
		starpu_memory_deallocate(STARPU_MAIN_RAM, 2 * MIB);
	CHECK(starpu_task_wait_for_all() == 0);
	relieve(s);
}

static void table(int limited)
{
	const char *tmp = getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : "/tmp";
	struct setting s = { .limited = limited };

	setenv("STARPU_LIMIT_CPU_MEM", limited ? "4" : "0", 1);
	/* Nothing is evicted or written back before it must be. */
	setenv("STARPU_MINIMUM_AVAILABLE_MEM", "0", 1);
	setenv("STARPU_MINIMUM_CLEAN_BUFFERS", "0", 1);
	start();
	s.disk = starpu_disk_register(&starpu_disk_unistd_ops, (char *) tmp, 64 << 20);
	CHECK(s.disk > 0);
	for (s.pressure = FREE; s.pressure < NPRESSURES; s.pressure++)
		for (unsigned i = 0; i < sizeof(flags) / sizeof(*flags); i++)
			for (size_t size = MIB; size <= 8 * MIB; size *= 2)
				cell(&s, flags[i], size);
	for (int i = 0; i < 20 && limited; i++) {
		waits_for_task(&s, i % 2);
		waits_for_program(&s, 0);
		waits_for_program(&s, STARPU_MALLOC_NORECLAIM);
		task_waits_for_program(&s, i % 2);
	}
	starpu_shutdown();
}

int main(void)
{
	table(1);
	table(0);
	return 0;
}
