/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Partitioning by hand (chapter 27.5 of the handbook): a matrix, its vertical slices and its
 * horizontal slices are registered as views of one piece of memory. The runtime does not know that
 * they are the same data, so a switch task that executes nowhere brings coherency between them
 * through main memory, and the views that are out of use are invalidated, so that using one by
 * mistake is noticed.
 *
 * Invariant: at any point of the submission order exactly one of the three sets of views is in use.
 *
 *      orrery cc --both manual_partition.c -o manual_partition
 *      ./manual_partition --rounds 5
 *      orrery sim -n 1 manual_partition.sim
 */
#include <starpu.h>

#include "../options.h"

static const char usage[] =
	"[OPTIONS]\n"
	"Works on a matrix as a whole, by vertical and by horizontal slices, in turns.\n"
	"  -x N             width (default 60)\n"
	"  -y N             height (default 40)\n"
	"  --rounds N       how many times (default 3)\n"
	"  -h, --help       this text\n";

#define PARTS 4

static int nx = 60, ny = 40, rounds = 3;

/* Every element = 3 * element + value. */
static void work_cpu(void *buffers[], void *arg)
{
	unsigned *m = (unsigned *) STARPU_MATRIX_GET_PTR(buffers[0]), value;
	size_t ld = STARPU_MATRIX_GET_LD(buffers[0]);

	starpu_codelet_unpack_args(arg, &value);
	for (size_t y = 0; y < STARPU_MATRIX_GET_NY(buffers[0]); y++)
		for (size_t x = 0; x < STARPU_MATRIX_GET_NX(buffers[0]); x++)
			m[y * ld + x] = 3 * m[y * ld + x] + value;
}

static struct starpu_codelet work_cl = {
	.cpu_funcs = { work_cpu },
	.cpu_funcs_name = { "work_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "work",
};

/* From one set of views to another: the first is read, the others are given their value. */
static struct starpu_codelet switch_cl = {
	.where = STARPU_NOWHERE,
	.nbuffers = STARPU_VARIABLE_NBUFFERS,
	.specific_nodes = 1,
	.nodes = { STARPU_MAIN_RAM, STARPU_MAIN_RAM, STARPU_MAIN_RAM, STARPU_MAIN_RAM,
		   STARPU_MAIN_RAM },
	.name = "switch",
};

static int work(starpu_data_handle_t h, unsigned value)
{
	return starpu_task_insert(&work_cl, STARPU_RW, h, STARPU_VALUE, &value, sizeof(value), 0);
}

static int split(starpu_data_handle_t whole, starpu_data_handle_t *slice)
{
	int ret = starpu_task_insert(&switch_cl, STARPU_RW, whole, STARPU_W, slice[0], STARPU_W,
				     slice[1], STARPU_W, slice[2], STARPU_W, slice[3], 0);

	starpu_data_invalidate_submit(whole);
	return ret;
}

static int join(starpu_data_handle_t whole, starpu_data_handle_t *slice)
{
	int ret = starpu_task_insert(&switch_cl, STARPU_W, whole, STARPU_RW, slice[0], STARPU_RW,
				     slice[1], STARPU_RW, slice[2], STARPU_RW, slice[3], 0);

	for (int i = 0; i < PARTS; i++)
		starpu_data_invalidate_submit(slice[i]);
	return ret;
}

static int start_of(int part, int n)
{
	return part * n / PARTS;
}

static int submit(starpu_data_handle_t whole, starpu_data_handle_t *vert,
		  starpu_data_handle_t *hori)
{
	int ret = 0;

	for (int r = 0; r < rounds; r++) {
		ret |= work(whole, (unsigned) r);
		ret |= split(whole, vert);
		for (int i = 0; i < PARTS; i++)
			ret |= work(vert[i], (unsigned) i);
		ret |= join(whole, vert);
		ret |= split(whole, hori);
		for (int i = 0; i < PARTS; i++)
			ret |= work(hori[i], (unsigned) (10 * i));
		ret |= join(whole, hori);
	}
	return ret;
}

static int part_of(int at, int n)
{
	int part = 0;

	while (start_of(part + 1, n) <= at)
		part++;
	return part;
}

static int check(const unsigned *m)
{
	for (int y = 0; y < ny; y++)
		for (int x = 0; x < nx; x++) {
			unsigned e = (unsigned) (x + y);

			for (int r = 0; r < rounds; r++) {
				e = 3 * e + (unsigned) r;
				e = 3 * e + (unsigned) part_of(x, nx);
				e = 3 * e + 10 * (unsigned) part_of(y, ny);
			}
			if (m[y * nx + x] != e) {
				fprintf(stderr, "element (%d,%d) is %u, should be %u\n", x, y,
					m[y * nx + x], e);
				return 1;
			}
		}
	return 0;
}

static int run(unsigned *m)
{
	starpu_data_handle_t whole, vert[PARTS], hori[PARTS];
	int ret;

	starpu_matrix_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t) m, (uint32_t) nx,
				    (uint32_t) nx, (uint32_t) ny, sizeof(*m));
	for (int i = 0; i < PARTS; i++) {
		int x = start_of(i, nx), y = start_of(i, ny);

		starpu_matrix_data_register(&vert[i], STARPU_MAIN_RAM, (uintptr_t) &m[x],
					    (uint32_t) nx, (uint32_t) (start_of(i + 1, nx) - x),
					    (uint32_t) ny, sizeof(*m));
		starpu_matrix_data_register(&hori[i], STARPU_MAIN_RAM, (uintptr_t) &m[y * nx],
					    (uint32_t) nx, (uint32_t) nx,
					    (uint32_t) (start_of(i + 1, ny) - y), sizeof(*m));
		starpu_data_invalidate(vert[i]);
		starpu_data_invalidate(hori[i]);
	}
	ret = submit(whole, vert, hori);
	for (int i = 0; i < PARTS; i++) {
		starpu_data_unregister(vert[i]);
		starpu_data_unregister(hori[i]);
	}
	starpu_data_unregister(whole);
	return ret;
}

int main(int argc, char **argv)
{
	struct options o;
	unsigned *m;
	int ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "-x", NULL, PARTS, 10000, &nx))
			;
		else if (options_int(&o, "-y", NULL, PARTS, 10000, &ny))
			;
		else if (options_int(&o, "--rounds", NULL, 0, 1000, &rounds))
			;
		else
			options_unknown(&o);
	if ((ret = options_report(&o, 0, "manual_partition", usage)) >= 0)
		return ret;
	if (starpu_init(NULL))
		return 77;
	m = malloc((size_t) nx * (size_t) ny * sizeof(*m));
	for (int i = 0; i < nx * ny; i++)
		m[i] = (unsigned) (i % nx + i / nx);
	ret = run(m) || check(m);
	printf("manual_partition x=%d y=%d rounds=%d\ncheck: %s\n", nx, ny, rounds,
	       ret ? "FAILED" : "OK");
	free(m);
	starpu_shutdown();
	return ret;
}
