/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts that the unit tests of estimates and of learning share: tasks with one made-up datum,
 * and a process's models without the runtime.
 *
 * Invariant: models are looked for and written under tmp_dir(), for the machine "box". */
#ifndef TESTS_UNIT_PERF_TASK_H
#define TESTS_UNIT_PERF_TASK_H

#include "core/task/expect.h"
#include "core/task/task.h"
#include "data/handle.h"
#include "perf/model_state.h"
#include "perf_util.h"
#include "base/config.h"

static struct orr_process *proc;
static const struct orr_arch cpu = { STARPU_CPU_WORKER, 3, 1 }, cuda = { STARPU_CUDA_WORKER, 1, 1 };

static inline size_t get_size(starpu_data_handle_t h)
{
	return ((size_t *) h->ext)[0];
}
static inline uint32_t get_footprint(starpu_data_handle_t h)
{
	return starpu_hash_crc32c_be((uint32_t) get_size(h), 0);
}
static struct starpu_data_interface_ops ops = { .get_size = get_size, .footprint = get_footprint };

/* A task with one datum of `size` bytes. */
static inline struct starpu_task *make(struct starpu_codelet *cl, size_t size, double flops)
{
	struct made {
		struct starpu_task t;
		struct _starpu_data_state h;
		size_t size;
	} *m = calloc(1, sizeof(*m));
	m->t = (struct starpu_task) STARPU_TASK_INITIALIZER;
	m->h.ops = &ops;
	m->h.alive = ORR_HANDLE_ALIVE;
	m->size = size;
	m->h.ext = (struct orr_data_ext *) &m->size;
	m->t.cl = cl;
	m->t.flops = flops;
	m->t.handles[0] = &m->h;
	return &m->t;
}

static inline double expect(struct starpu_codelet *cl, const struct orr_arch *u, size_t size,
			    double flops, int defaults, enum orr_perf_source *s)
{
	struct starpu_task *t = make(cl, size, flops);
	double us = orr_expect_us(proc, u, t, 0, defaults, s);
	free(t);
	return us;
}

static inline void start(int calibrate)
{
	proc = orr_self();
	orr_config_own(proc)->perf_model_dir = (char *) tmp_dir();
	orr_config_own(proc)->hostname = "box";
	orr_config_own(proc)->calibrate = calibrate;
	orr_config_own(proc)->calibrate_minimum = 10;
	orr_config_own(proc)->history_max_error = 50;
	orr_config_own(proc)->homogeneous_cpu = 1;
	CHECK(orr_perf_init(proc) == 0);
}

static inline void store(const char *symbol, const char *text)
{
	char path[1024];
	snprintf(path, sizeof(path), "%s/codelets/45/%s.box", tmp_dir(), symbol);
	write_file(path, text, strlen(text));
}

static inline void record(struct starpu_codelet *cl, size_t size, double us, unsigned n)
{
	struct starpu_task *t = make(cl, size, 0);
	for (unsigned i = 0; i < n; i++)
		orr_expect_learn(proc, &cpu, t, 0, us * (i % 2 ? 1.1 : 0.9));
	free(t);
}

#endif
