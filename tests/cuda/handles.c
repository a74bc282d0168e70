/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Handles of cuBLAS, cuSPARSE and cuSOLVER, on the stub of the CUDA runtime: each worker has its
 * own, bound to its stream, between start and end of the library. handles.sh runs it in many
 * settings; the argument is the number of workers that have none. */
#include <starpu.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>
#include <starpu_cusparse.h>

#include <string.h>

#include "lib/cudart/cudart.h"
#include "lib/test.h"

static struct stub_handle *seen[STARPU_NMAXWORKERS];
static unsigned nwithout;

/* The three of one worker; arg: the library is started. */
static void look(void *arg)
{
	struct stub_handle *handles[] = { starpu_cublas_get_local_handle(),
					  starpu_cusparse_get_local_handle(),
					  starpu_cusolverDn_get_local_handle() };
	const char *const kinds[] = { "blas", "sparse", "solver" };
	int device = -1;

	for (unsigned i = 0; i < 3; i++) {
		if (!arg) {
			CHECK(!handles[i]);
			continue;
		}
		if (!handles[i]) {
			__atomic_add_fetch(&nwithout, 1, __ATOMIC_RELAXED);
			continue;
		}
		CHECK(!strcmp(handles[i]->kind, kinds[i]));
		CHECK(handles[i]->stream == starpu_cuda_get_local_stream());
		CHECK_IS(cudaGetDevice(&device), cudaSuccess);
		CHECK_IS(handles[i]->device, device);
	}
	seen[starpu_worker_get_id()] = arg ? handles[0] : NULL;
}

int main(int argc, char **argv)
{
	unsigned without = argc > 1 ? (unsigned) atoi(argv[1]) : 0;

	OK(starpu_init(NULL));
	unsigned n = starpu_cuda_worker_get_count();

	CHECK(!starpu_cublas_get_local_handle());
	starpu_execute_on_each_worker(look, NULL, STARPU_CUDA);
	starpu_cublas_init();
	starpu_cublas_init();
	starpu_cusparse_init();
	starpu_cusolver_init();
	CHECK_IS(stub_nhandles(), 3 * n - without);
	starpu_execute_on_each_worker(look, &n, STARPU_CUDA);
	CHECK_IS(nwithout, without);
	for (unsigned i = 0; i < STARPU_NMAXWORKERS; i++)
		for (unsigned k = 0; k < i; k++)
			CHECK(!seen[i] || seen[i] != seen[k]);
	starpu_cusolver_shutdown();
	starpu_cusparse_shutdown();
	starpu_cublas_shutdown();
	CHECK_IS(stub_nhandles(), 0);
	starpu_execute_on_each_worker(look, NULL, STARPU_CUDA);
	printf("%u workers\n", n);
	starpu_shutdown();
	return 0;
}
