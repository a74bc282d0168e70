/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time of a start and an end of the runtime, and of a checkpoint: each rank saves a vector on disk
 * and, as its backup, on the next rank. `checkpoints COUNT KIB`; the folder is
 * $ORRERY_CHECKPOINT_DIR.
 *
 * The time of the CPU is that of the whole process, MPI's start included.
 * orr-bench: run -n 2
 * orr-bench: env STARPU_NCPU=1 */
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/test.h"

static int rank, size;

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3;
}

static double cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
	       (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static int backup_of(int r)
{
	return (r + 1) % size;
}

/* Each on its own: submitted, and then waited for. */
static double checkpoints_us(int count, int kib)
{
	starpu_mpi_checkpoint_template_t t;
	starpu_data_handle_t h[64];
	int *v = calloc((size_t) kib, 1024), now = 0;
	size_t n = (size_t) kib * 1024 / sizeof(*v);

	CHECK(v && size <= 64, "too many ranks, or no memory");
	for (int r = 0; r < size; r++) {
		starpu_vector_data_register(&h[r], r == rank ? STARPU_MAIN_RAM : -1,
					    r == rank ? (uintptr_t) v : 0, (uint32_t) n,
					    sizeof(*v));
		starpu_mpi_data_register(h[r], r, r);
	}
	CHECK_IS(starpu_mpi_checkpoint_init(), 0);
	CHECK_IS(starpu_mpi_checkpoint_template_create(&t, 1, 0), 0);
	for (int r = 0; r < size; r++)
		CHECK_IS(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_R, h[r], backup_of(r)),
			 0);
	CHECK_IS(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_VALUE, &now, (int) sizeof(now),
							  (starpu_mpi_tag_t) 100, backup_of),
		 0);
	CHECK_IS(starpu_mpi_checkpoint_template_freeze(&t), 0);
	double begin = 0;
	for (now = -1; now < count; now++) {
		if (!now)
			begin = now_us();
		CHECK_IS(starpu_mpi_checkpoint_template_submit(t, now + 1), 0);
		CHECK_IS(starpu_mpi_wait_for_all(MPI_COMM_WORLD), 0);
	}
	double took = (now_us() - begin) / count;
	CHECK_IS(starpu_mpi_checkpoint_shutdown(), 0);
	for (int r = 0; r < size; r++)
		starpu_data_unregister(h[r]);
	free(v);
	return took;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 20, kib = argc > 2 ? atoi(argv[2]) : 1024;
	double begin = now_us(), begin_cpu = cpu_us(), each = 0;

	CHECK_IS(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL), 0);
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	double up = now_us(), up_cpu = cpu_us();
	if (count)
		each = checkpoints_us(count, kib);
	double down = now_us(), down_cpu = cpu_us();
	starpu_mpi_shutdown();
	if (rank == 0)
		printf("start_us=%.0f start_cpu_us=%.0f end_us=%.0f checkpoint_us=%.1f checkpoint_cpu_us=%.1f\n",
		       up - begin, up_cpu - begin_cpu, now_us() - down, each,
		       count ? (down_cpu - up_cpu) / count : 0);
	return 0;
}
