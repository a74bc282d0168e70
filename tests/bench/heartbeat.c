/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers that heartbeat.sh compares with the heartbeat and without it, on two ranks: the half
 * round trip of one integer, messages of a window that are under way at once, tasks that do
 * nothing, and the CPU that the heartbeat's thread has used since it began. Rank 0 prints a line
 * of microseconds for each: the median over rounds; for the thread its microseconds a second. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu_mpi.h>

enum { ROUNDS = 21, TURNS = 100, WINDOW = 64, TASKS = 5000 };

static int rank;
static int value[WINDOW];
static starpu_data_handle_t handle[WINDOW];

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet cl = { .cpu_funcs = { nothing }, .nbuffers = 0, .name = "empty" };

static int by_value(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;
	return x < y ? -1 : x > y;
}

/* Microseconds of half a round trip. */
static double pingpong(void)
{
	double begin = starpu_timing_now();
	for (int i = 0; i < TURNS; i++) {
		if (rank == 0) {
			starpu_mpi_send(handle[0], 1, 1, MPI_COMM_WORLD);
			starpu_mpi_recv(handle[0], 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			starpu_mpi_recv(handle[0], 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			starpu_mpi_send(handle[0], 0, 2, MPI_COMM_WORLD);
		}
	}
	return (starpu_timing_now() - begin) / (2 * TURNS);
}

/* Microseconds of a message among many. */
static double rate(void)
{
	double begin = starpu_timing_now();
	for (int i = 0; i < TURNS / 5; i++) {
		for (int k = 0; k < WINDOW; k++) {
			if (rank == 0)
				starpu_mpi_isend_detached(handle[k], 1, k, MPI_COMM_WORLD, NULL,
							  NULL);
			else
				starpu_mpi_irecv_detached(handle[k], 0, k, MPI_COMM_WORLD, NULL,
							  NULL);
		}
		starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	}
	return (starpu_timing_now() - begin) / (TURNS / 5 * WINDOW);
}

static double tasks(void)
{
	double begin = starpu_timing_now();
	for (int i = 0; i < TASKS; i++)
		starpu_task_insert(&cl, 0);
	starpu_task_wait_for_all();
	return (starpu_timing_now() - begin) / TASKS;
}

/* Microseconds of CPU that the threads of that name have used; -1: there is none. */
static double used_us(const char *name)
{
	char path[300], text[64];
	double sum = -1;
	struct dirent *entry;
	DIR *threads = opendir("/proc/self/task");
	while (threads && (entry = readdir(threads))) {
		unsigned long long ns = 0;
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		FILE *f = fopen(path, "r");
		int is = f && fgets(text, sizeof(text), f) && strstr(text, name);
		if (f)
			fclose(f);
		snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", entry->d_name);
		f = is ? fopen(path, "r") : NULL;
		if (f && fscanf(f, "%llu", &ns) == 1)
			sum = (sum < 0 ? 0 : sum) + (double) ns * 1e-3;
		if (f)
			fclose(f);
	}
	if (threads)
		closedir(threads);
	return sum;
}

static void measure(const char *name, double (*once)(void))
{
	double us[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		starpu_mpi_barrier(MPI_COMM_WORLD);
		us[i] = once();
	}
	qsort(us, ROUNDS, sizeof(*us), by_value);
	if (rank == 0)
		printf("%s %.4f\n", name, us[ROUNDS / 2]);
}

int main(int argc, char **argv)
{
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	double begin = starpu_timing_now(), used_before = used_us("heartbeat");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	for (int k = 0; k < WINDOW; k++)
		starpu_variable_data_register(&handle[k], STARPU_MAIN_RAM, (uintptr_t) &value[k],
					      sizeof(value[k]));
	measure("ping-pong", pingpong);
	measure("message", rate);
	measure("task", tasks);
	double used = used_us("heartbeat");
	if (rank == 0 && used >= 0)
		printf("thread %.4f\n", (used - used_before) / (starpu_timing_now() - begin) * 1e6);
	for (int k = 0; k < WINDOW; k++)
		starpu_data_unregister(handle[k]);
	starpu_mpi_shutdown();
	return 0;
}
