/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts that the tests of the core share: assertions, start, small codelets.
 *
 * Invariant: a failed CHECK prints its place and ends the program with status 1; nothing here spins
 * or needs more than one core. */
#ifndef CORE_TEST_H
#define CORE_TEST_H

#include <starpu.h>

#include "lib/devices.h"
#include "lib/test.h"

#define LOAD(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define STORE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)
#define INCR(x) __atomic_add_fetch(&(x), 1, __ATOMIC_ACQ_REL)

/* Starts with that many CPU workers and that policy (NULL: the default), and with the devices of
 * `make check-devices`. */
static inline void core_start(int ncpus, const char *policy)
{
	struct starpu_conf conf;

	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.ncpus = ncpus;
	conf.ncuda = conf.nopencl = test_has_devices() ? -1 : 0;
	conf.sched_policy_name = policy;
	CHECK_IS(starpu_init(&conf), 0);
	CHECK_IS(starpu_cpu_worker_get_count(), ncpus);
}

/* A kernel that adds one to *cl_arg, an int. */
static inline void core_count_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	INCR(*(int *) arg);
}

static inline int *core_int(void *buffer)
{
	return (int *) STARPU_VARIABLE_GET_PTR(buffer);
}

/* Registers an int of main memory. */
static inline starpu_data_handle_t core_register(int *x)
{
	starpu_data_handle_t h;

	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) x, sizeof(*x));
	return h;
}
#endif
