/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The constants of C by their Fortran names: fstarpu_init() asks for each of them once.
 *
 * Invariant: FSTARPU_X has the value of STARPU_X. */
#include "fortran/fortran.h"

#include <complex.h>
#include <stddef.h>
#include <string.h>

#include "starpu.h"
#include "base/log.h"

#define C(name) { "FSTARPU_" #name, (intptr_t) STARPU_##name },
#define SIZE(name, type) { "FSTARPU_SZ_" #name, (intptr_t) sizeof(type) },

/* clang-format off */
static const struct {
	const char *name;
	intptr_t value;
} constants[] = {
	C(R) C(W) C(RW) C(NONE) C(SCRATCH) C(REDUX) C(MPI_REDUX) C(COMMUTE) C(SSEND) C(LOCALITY)
	C(DATA_ARRAY) C(DATA_MODE_ARRAY) C(CL_ARGS) C(CL_ARGS_NFREE) C(TASK_DEPS_ARRAY)
	C(CALLBACK) C(CALLBACK_WITH_ARG) C(CALLBACK_WITH_ARG_NFREE) C(CALLBACK_ARG)
	C(CALLBACK_ARG_NFREE) C(PROLOGUE_CALLBACK) C(PROLOGUE_CALLBACK_ARG)
	C(PROLOGUE_CALLBACK_ARG_NFREE) C(PROLOGUE_CALLBACK_POP) C(PROLOGUE_CALLBACK_POP_ARG)
	C(PROLOGUE_CALLBACK_POP_ARG_NFREE) C(PRIORITY) C(EXECUTE_ON_NODE) C(EXECUTE_ON_DATA)
	C(EXECUTE_ON_WORKER) C(WORKER_ORDER) C(EXECUTE_WHERE)
	/* There is no hypervisor: insertion refuses it. */
	{ "FSTARPU_HYPERVISOR_TAG", 0x7fff0000 },
	C(POSSIBLY_PARALLEL) C(FLOPS) C(TAG) C(TAG_ONLY) C(NAME) C(TASK_COLOR) C(TASK_SYNCHRONOUS)
	C(HANDLES_SEQUENTIAL_CONSISTENCY) C(TASK_END_DEP) C(NODE_SELECTION_POLICY)
	C(TASK_SCHED_DATA) C(VALUE) C(SCHED_CTX) C(CPU_WORKER) C(CUDA_WORKER) C(OPENCL_WORKER)
	C(ANY_WORKER) C(SCHED_CTX_POLICY_NAME) C(SCHED_CTX_POLICY_STRUCT)
	C(SCHED_CTX_POLICY_MIN_PRIO) C(SCHED_CTX_POLICY_MAX_PRIO) C(SCHED_CTX_HIERARCHY_LEVEL)
	C(SCHED_CTX_NESTED) C(SCHED_CTX_AWAKE_WORKERS) C(SCHED_CTX_POLICY_INIT)
	C(SCHED_CTX_USER_DATA) C(NOWHERE) C(CPU) C(CUDA) C(OPENCL) C(CODELET_SIMGRID_EXECUTE)
	C(CODELET_SIMGRID_EXECUTE_AND_INJECT) C(CUDA_ASYNC) C(OPENCL_ASYNC) C(HISTORY_BASED)
	C(REGRESSION_BASED) C(NL_REGRESSION_BASED) C(MULTIPLE_REGRESSION_BASED) C(SEQ) C(SPMD)
	C(FORKJOIN)
	SIZE(C_DOUBLE, double) SIZE(C_FLOAT, float) SIZE(C_CHAR, char) SIZE(C_INT, int)
	SIZE(C_INTPTR_T, intptr_t) SIZE(C_PTR, void *) SIZE(C_SIZE_T, size_t)
	SIZE(CHARACTER, char) SIZE(INTEGER, int) SIZE(INT4, int32_t) SIZE(INT8, int64_t)
	SIZE(REAL, float) SIZE(REAL4, float) SIZE(REAL8, double) SIZE(DOUBLE_PRECISION, double)
	SIZE(COMPLEX, float complex) SIZE(COMPLEX4, float complex) SIZE(COMPLEX8, double complex)
	C(NMAXBUFS) C(DEFAULT_PRIO)
};
/* clang-format on */

void *fstarpu_get_constant(const char *s)
{
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (!strcmp(constants[i].name, s))
			return (void *) constants[i].value;
	orr_fatal("fstarpu_get_constant: there is no constant %s", s);
}
