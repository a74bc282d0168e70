/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task program that knows no process sets follows the resource manager at its resize points. Its
 * arguments are the number of steps that it makes with the last size, and the sizes that the run
 * has one after the other. Each datum counts the steps, on whatever rank it is; any rank looks at
 * any datum. In the end, each rank compares what it owns. FOLLOW_KEEPS in the environment: the last
 * process of the first ones owns a datum that does not follow. FOLLOW_DIES, a file in which the
 * processes count: the third one ends while it joins. FOLLOW_FAILS, another one: the runtime cannot
 * begin in the third one. FOLLOW_OTHER, a file: a growth is refused
 * until it is there. FOLLOW_PAUSE_US: microseconds that a task sleeps (default 100). Driven by
 * follow.sh, which gives the scripts. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <starpu_mpi.h>
#include <orrery_resize.h>
#include <unistd.h>

static double pause_s = 1e-4;
#define COUNTING_PAUSE_S pause_s
#include "counting.h"

enum { N = 30, INTS = 64, MOST_STEPS = 200000 };

static MPI_Comm comm;
static struct {
	int step, phase,
		last; /* steps that were made, sizes that were seen, the last step, 0: open */
} now;
static starpu_data_handle_t h[N], kept;
static orrery_distribution_t rule;

static void register_data(int new)
{
	int rank, in_use = orrery_resize_size(comm);

	OK(MPI_Comm_rank(comm, &rank));
	test_rank = rank;
	rule = orrery_distribution_block(N, 2);
	for (int i = 0; i < N; i++) {
		starpu_vector_data_register(&h[i], -1, 0, INTS, sizeof(int));
		starpu_mpi_data_register_comm(h[i], i, orrery_distribution_owner(rule, i, in_use),
					      comm);
		OK(orrery_resize_follow(comm, h[i], rule, i));
	}
	if (!new)
		begin_to_count(h, N, rank);
}

/* With FOLLOW_OTHER, the first processes use another communicator, so that none can join, until one
 * that was refused has made that file. */
static MPI_Comm other = MPI_COMM_NULL;

static void use_other(int new)
{
	if (new || !getenv("FOLLOW_OTHER"))
		return;
	OK(MPI_Comm_dup(comm, &other));
	OK(starpu_mpi_comm_register(other));
}

static void be_refused(void)
{
	const char *path = getenv("FOLLOW_OTHER");
	int fd = path ? open(path, O_WRONLY | O_CREAT, 0600) : -1;

	if (fd >= 0)
		close(fd);
}

static void see_refusal(int steps)
{
	int mine, all;

	if (other == MPI_COMM_NULL)
		return;
	mine = !access(getenv("FOLLOW_OTHER"), F_OK);
	OK(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, other));
	if (!all)
		return;
	OK(MPI_Comm_free(&other));
	now.last = now.step + steps;
}

/* Nobody else knows this datum. */
static void keep(int new)
{
	int size;

	OK(MPI_Comm_size(comm, &size));
	if (new || !getenv("FOLLOW_KEEPS") || test_rank != size - 1)
		return;
	starpu_vector_data_register(&kept, -1, 0, INTS, sizeof(int));
	starpu_mpi_data_register_comm(kept, N, test_rank, comm);
}

/* True if this process is the third one that counts in the file that this variable names. */
static int is_third(const char *variable)
{
	const char *path = getenv(variable);
	int fd = path ? open(path, O_RDWR | O_CREAT | O_APPEND, 0600) : -1;

	if (!path)
		return 0;
	CHECK(fd >= 0 && write(fd, "x", 1) == 1);
	long number = (long) lseek(fd, 0, SEEK_CUR);
	close(fd);
	return number == 3;
}

static void count_and_die(void)
{
	int up, dies = is_third("FOLLOW_DIES");

	OK(MPI_Initialized(&up));
	if (dies && !up)
		OK(MPI_Init(NULL, NULL));
	if (dies)
		_exit(0);
}

static void step(int size)
{
	for (int i = 0; i < N; i++)
		count_step(comm, h[i], now.step, (i + now.step) % size);
	OK(starpu_task_wait_for_all());
}

/* Open descriptors and threads of this process. */
static int entries(const char *folder)
{
	DIR *d = opendir(folder);
	int n = 0;

	CHECK(d != NULL);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* The sizes of the run are those that the script asks for. */
static void see_size(int size, int nsizes, char **sizes, int steps)
{
	if (now.phase && size == atoi(sizes[now.phase - 1]))
		return;
	CHECK(now.phase < nsizes, "%d ranks after the last change", size);
	CHECK_IS(size, atoi(sizes[now.phase++]));
	if (!test_rank) {
		printf("step %d: %d ranks, %zu bytes, %d descriptors, %d threads, %.6f s\n",
		       now.step, size, mallinfo2().uordblks, entries("/proc/self/fd"),
		       entries("/proc/self/task"), starpu_timing_now() * 1e-6);
		fflush(stdout);
	}
	if (now.phase == nsizes && other == MPI_COMM_NULL)
		now.last = now.step + steps;
}

static void verify(void)
{
	for (int i = 0; i < N; i++) {
		if (starpu_mpi_data_get_rank(h[i]) != test_rank)
			continue;
		OK(starpu_data_acquire(h[i], STARPU_R));
		CHECK_IS(*(const int *) starpu_data_get_local_ptr(h[i]), now.step);
		starpu_data_release(h[i]);
	}
	if (!test_rank)
		printf("all is right after %d steps\n", now.step);
}

int main(int argc, char **argv)
{
	if (getenv("FOLLOW_PAUSE_US"))
		pause_s = atof(getenv("FOLLOW_PAUSE_US")) * 1e-6;
	struct starpu_conf conf;
	OK(starpu_conf_init(&conf));
	count_and_die();
	int fails = is_third("FOLLOW_FAILS");
	if (fails)
		conf.sched_policy_name = "nothing";
	int new = orrery_elastic_start(&argc, &argv, &conf, &comm, &now, sizeof(now)), size = 0;

	if (fails) {
		CHECK_IS(new, -EINVAL);
		return 0;
	}
	if (new == -ECANCELED) {
		be_refused();
		return 0;
	}
	CHECK(new == 0 || new == 1, "orrery_elastic_start() returns %d", new);
	if (!new &&argc == 3)
		CHECK_IS(orrery_elastic_start(&argc, &argv, NULL, &comm, &now, sizeof(now)),
			 -EBUSY);
	register_data(new);
	keep(new);
	use_other(new);
	for (; !now.last || now.step < now.last; now.step++) {
		size = orrery_resize_point(comm);
		CHECK(size >= 0 && now.step < MOST_STEPS, "point %d returns %d", now.step, size);
		if (!size)
			break;
		OK(MPI_Comm_rank(comm, &test_rank));
		see_size(size, argc - 2, argv + 2, atoi(argv[1]));
		step(size);
		see_refusal(atoi(argv[1]));
	}
	CHECK((comm == MPI_COMM_NULL) == !size, "the communicator of a rank that leaves");
	if (size)
		verify();
	for (int i = 0; i < N; i++)
		starpu_data_unregister(h[i]);
	if (kept)
		starpu_data_unregister(kept);
	OK(orrery_elastic_end());
	if (argc == 3)
		CHECK_IS(orrery_elastic_end(), -ENODEV);
	orrery_distribution_free(rule);
	return 0;
}
