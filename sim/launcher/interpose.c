/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All that the executable orrery-sim-launcher holds itself: its main(), and functions that the
 * programs call by their usual names. The loader finds those of the executable before those of the
 * C library and of SMPI. All else is in liborrery-sim, which main() loads (table.h).
 *
 * The clocks of a program are virtual from its start on; SMPI's are real until MPI_Init().
 *
 * A program that polls must let virtual time go by. SMPI can do that only with a fixed delay, which
 * our own engines would pay as well (smpi/test); so MPI_Test and its relatives are here, too.
 *
 * Invariant: no state but where the library is. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <time.h>
#include "interpose.h"

/* smpi/smpi.h redirects this to virtual time; here it is defined. */
#undef exit
#undef clock_gettime
#undef gettimeofday

/* ---- the library ---- */

static struct orr_sim_own *own_before(void)
{
	static struct orr_sim_own own = { .folder = -1, .mask = -1, .optind = 1, .opterr = 1 };
	return &own;
}

static int in_no_rank(void)
{
	return 0;
}

static int chdir_before(const char *path, int fd)
{
	return path ? REAL(chdir)(path) : REAL(fchdir)(fd);
}

static int umask_before(int mask)
{
	return (int) REAL(umask)((mode_t) mask);
}

static time_t time_before(time_t *t)
{
	return REAL(time)(t);
}

static void __attribute__((noreturn)) exit_before(int status)
{
	REAL(exit)(status);
	abort();
}

static void __attribute__((noreturn)) exit_now_before(int status)
{
	REAL(_exit)(status);
	abort();
}

static void __attribute__((noreturn)) quick_exit_before(int status)
{
	REAL(quick_exit)(status);
	abort();
}

static int never_asked;

static void who_before(void) {}

static void *stack_before(size_t alignment, size_t size)
{
	(void) alignment;
	(void) size;
	return NULL;
}

static int member_before(enum orr_sim_asks what, struct orr_sim_member *m)
{
	(void) what;
	(void) m;
	return 0;
}

/* Functions that constructors of SimGrid's libraries may call, while they are loaded. */
static const struct orr_sim_calls before = {
	.orrery_sim_own_ = own_before,
	.orrery_sim_in_rank_ = in_no_rank,
	.orrery_sim_is_simulator_ = in_no_rank,
	.orrery_sim_asked_ = &never_asked,
	.orrery_sim_who_ = who_before,
	.orrery_sim_stack_ = stack_before,
	.orrery_sim_member_ = member_before,
	.orrery_sim_chdir_ = chdir_before,
	.orrery_sim_umask_ = umask_before,
	.orrery_sim_time_ = time_before,
	.orrery_sim_exit_ = exit_before,
	.orrery_sim_exit_now_ = exit_now_before,
	.orrery_sim_quick_exit_ = quick_exit_before,
};

const struct orr_sim_calls *interpose_calls = &before;
void *interpose_library;
__thread int interpose_main_thread;

int main(int argc, char **argv)
{
	interpose_main_thread = 1;
	interpose_library = dlopen(ORR_SIM_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	const struct orr_sim_calls *calls = interpose_library
						    ? dlsym(interpose_library, "orrery_sim_calls")
						    : NULL;
	if (!calls) {
		fprintf(stderr, "orrery sim: %s; build or install Orrery again\n", dlerror());
		return EXIT_FAILURE;
	}
	interpose_calls = calls;
	return orrery_sim_main(argc, argv);
}

/* ---- what SimGrid calls ---- */

/* A stack (sim/sys/actors/sim_stacks.c), or a block of the C library's for whoever calls. */
int posix_memalign(void **memory, size_t alignment, size_t size)
{
	static int (*own)(void **, size_t, size_t);
	void *stack = orrery_sim_in_rank() ? NULL : orrery_sim_stack(alignment, size);
	if (stack) {
		*memory = stack;
		return 0;
	}
	if (!own)
		own = REAL(posix_memalign);
	return own(memory, alignment, size);
}

/* ---- what programs call ---- */

void exit(int status)
{
	orrery_sim_exit(status);
}
void smpi_exit(int status)
{
	orrery_sim_exit(status);
}
void _Exit(int status)
{
	orrery_sim_exit_now(status);
}
void _exit(int status)
{
	orrery_sim_exit_now(status);
}
void quick_exit(int status)
{
	orrery_sim_quick_exit(status);
}

int smpi_clock_gettime(clockid_t clock, struct timespec *t)
{
	return orrery_sim_clock_gettime(clock, t);
}

int smpi_gettimeofday(struct timeval *t, struct timezone *zone)
{
	(void) zone;
	return orrery_sim_gettimeofday(t);
}

time_t time(time_t *t)
{
	return orrery_sim_time(t);
}

int MPI_Abort(MPI_Comm comm, int code)
{
	(void) comm;
	orrery_sim_abort(code);
}

int MPI_Init(int *argc, char ***argv)
{
	return orrery_sim_init(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	(void) required;
	if (provided)
		*provided = MPI_THREAD_MULTIPLE;
	return orrery_sim_init(argc, argv);
}

int MPI_Query_thread(int *provided)
{
	*provided = MPI_THREAD_MULTIPLE;
	return MPI_SUCCESS;
}

int MPI_Is_thread_main(int *flag)
{
	*flag = orrery_sim_is_main();
	return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	int ret = PMPI_Test(request, flag, status);
	return orrery_sim_polled(ret, *flag);
}

int MPI_Testall(int n, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
	int ret = PMPI_Testall(n, requests, flag, statuses);
	return orrery_sim_polled(ret, *flag);
}

int MPI_Testany(int n, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
	int ret = PMPI_Testany(n, requests, index, flag, status);
	return orrery_sim_polled(ret, *flag);
}

int MPI_Testsome(int n, MPI_Request *requests, int *nout, int *indices, MPI_Status *statuses)
{
	int ret = PMPI_Testsome(n, requests, nout, indices, statuses);
	return orrery_sim_polled(ret, *nout != 0);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	int ret = PMPI_Iprobe(source, tag, comm, flag, status);
	return orrery_sim_polled(ret, *flag);
}
