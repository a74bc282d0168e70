/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Variables of each kind in the copies of a program: each rank finds what the file says, whatever
 * the others have written, and keeps what it wrote. Rank 0 prints how many maps the process has,
 * and how many of them are code that all copies share.
 *
 *     segments [close]
 *
 * close: rank 0 closes all files that it did not open before other ranks are loaded. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <starpu_mpi.h>

enum { SMALL = 3000, LARGE = 50000 };
static int small_zeros[SMALL], large_zeros[LARGE];
static int ones[SMALL] = { [0 ... SMALL - 1] = 1 };
static int hole[LARGE] = { [0] = 7, [LARGE - 1] = 9 }; /* pages of zeros with values around */
static const int constants[SMALL] = { [0 ... SMALL - 1] = 5 };
static int (*const functions[])(const char *) = { puts };
static const char *const words[] = { "one", "two" };
static __thread int own = 11;

static int sum(const int *v, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += v[i];
	return s;
}

static int fresh(void)
{
	return sum(small_zeros, SMALL) == 0 && sum(large_zeros, LARGE) == 0 &&
	       sum(ones, SMALL) == SMALL && sum(hole, LARGE) == 16 &&
	       sum(constants, SMALL) == 5 * SMALL && functions[0] == puts &&
	       !strcmp(words[1], "two") && own == 11;
}

static int was_fresh;
__attribute__((constructor)) static void begin(void)
{
	small_zeros[SMALL - 1] = 3; /* before the pages are given back */
	was_fresh = small_zeros[0] == 0 && sum(ones, SMALL) == SMALL;
	small_zeros[SMALL - 1] = 0;
	small_zeros[0] = 4;
}

static void print_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	int all = 0, shared = 0;
	while (f && fgets(line, sizeof(line), f)) {
		all++;
		shared += strstr(line, "memfd:code") != NULL;
	}
	if (f)
		fclose(f);
	printf("maps %d shared %d\n", all, shared);
}

int main(int argc, char **argv)
{
	int rank, bad, all_bad;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	bad = !was_fresh || small_zeros[0] != 4;
	small_zeros[0] = 0;
	bad |= !fresh();
	if (!rank && argc > 1 && !strcmp(argv[1], "close"))
		for (int fd = 3; fd < 256; fd++)
			close(fd);
	for (int i = 0; i < SMALL; i++)
		small_zeros[i] = ones[i] = rank + i;
	for (int i = 0; i < LARGE; i++)
		large_zeros[i] = hole[i] = rank - i;
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < SMALL; i++)
		bad |= small_zeros[i] != rank + i || ones[i] != rank + i;
	for (int i = 0; i < LARGE; i++)
		bad |= large_zeros[i] != rank - i || hole[i] != rank - i;
	MPI_Allreduce(&bad, &all_bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (!rank)
		print_maps();
	MPI_Finalize();
	if (bad)
		fprintf(stderr, "rank %d found other values\n", rank);
	return all_bad;
}
