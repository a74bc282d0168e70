/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A filter of one's own (chapter 27.8 of the handbook): a matrix is cut into a grid of tiles in one
 * step, where the predefined filters cut one dimension at a time. The tiles are then transposed in
 * place, two at a time.
 *
 * Invariant: the filter only describes; it moves nothing, and copies dev_handle while it changes
 * offset and ptr (27.7).
 *
 *      orrery cc --both custom_filter.c -o custom_filter
 *      ./custom_filter -n 64 -t 8
 *      orrery sim -n 1 custom_filter.sim
 */
#include <starpu.h>

#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Transposes a square matrix, one task per pair of tiles.\n"
			    "  -n N             size of the matrix (default 50)\n"
			    "  -t N             tiles in each direction (default 7)\n"
			    "  -h, --help       this text\n";

static int size = 50, tiles = 7;

/* Tile `id` of a grid with filter_arg columns; nparts is rows times columns. */
static void tile_filter(void *father_interface, void *child_interface, struct starpu_data_filter *f,
			unsigned id, unsigned nparts)
{
	struct starpu_matrix_interface *father = father_interface, *child = child_interface;
	unsigned columns = f->filter_arg, rows = nparts / columns, width, height;
	size_t right, down;

	starpu_filter_nparts_compute_chunk_size_and_offset(father->nx, columns, father->elemsize,
							   id % columns, 1, &width, &right);
	starpu_filter_nparts_compute_chunk_size_and_offset(
		father->ny, rows, father->elemsize, id / columns, father->ld, &height, &down);
	*child = *father;
	child->nx = width;
	child->ny = height;
	child->allocsize = (size_t) width * height * father->elemsize;
	if (father->dev_handle) {
		child->offset = father->offset + right + down;
		child->ptr = father->ptr ? father->ptr + right + down : 0;
	}
}

/* Exchanges a tile with the transposed other one; both may be the same tile, which is then given
 * once. */
static void transpose_cpu(void *buffers[], void *arg)
{
	int both;
	starpu_codelet_unpack_args(arg, &both);
	void *other = buffers[both ? 1 : 0];
	float *a = (float *) STARPU_MATRIX_GET_PTR(buffers[0]),
	      *b = (float *) STARPU_MATRIX_GET_PTR(other);
	size_t lda = STARPU_MATRIX_GET_LD(buffers[0]), ldb = STARPU_MATRIX_GET_LD(other);

	for (size_t y = 0; y < STARPU_MATRIX_GET_NY(buffers[0]); y++)
		for (size_t x = both ? 0 : y + 1; x < STARPU_MATRIX_GET_NX(buffers[0]); x++) {
			float t = a[y * lda + x];

			a[y * lda + x] = b[x * ldb + y];
			b[x * ldb + y] = t;
		}
}

static struct starpu_codelet transpose_cl = {
	.cpu_funcs = { transpose_cpu },
	.cpu_funcs_name = { "transpose_cpu" },
	.nbuffers = STARPU_VARIABLE_NBUFFERS,
	.name = "transpose",
};

static int transpose(starpu_data_handle_t h)
{
	struct starpu_data_filter f = {
		.filter_func = tile_filter,
		.nchildren = (unsigned) (tiles * tiles),
		.filter_arg = (unsigned) tiles,
	};
	const int one = 0, two = 1;
	int ret = 0;

	starpu_data_partition(h, &f);
	for (int i = 0; i < tiles; i++) {
		ret |= starpu_task_insert(&transpose_cl, STARPU_RW,
					  starpu_data_get_sub_data(h, 1, i * tiles + i),
					  STARPU_VALUE, &one, sizeof(one), 0);
		for (int j = 0; j < i; j++)
			ret |= starpu_task_insert(&transpose_cl, STARPU_RW,
						  starpu_data_get_sub_data(h, 1, i * tiles + j),
						  STARPU_RW,
						  starpu_data_get_sub_data(h, 1, j * tiles + i),
						  STARPU_VALUE, &two, sizeof(two), 0);
	}
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	return ret;
}

static int check(const float *m)
{
	for (int y = 0; y < size; y++)
		for (int x = 0; x < size; x++)
			if (m[y * size + x] != (float) (x * size + y)) {
				fprintf(stderr, "element (%d,%d) is %g, should be %d\n", x, y,
					(double) m[y * size + x], x * size + y);
				return 1;
			}
	return 0;
}

int main(int argc, char **argv)
{
	struct options o;
	starpu_data_handle_t h;
	float *m;
	int ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "-n", NULL, 1, 4000, &size))
			;
		else if (options_int(&o, "-t", NULL, 1, 100, &tiles))
			;
		else
			options_unknown(&o);
	if ((ret = options_report(&o, 0, "custom_filter", usage)) >= 0)
		return ret;
	if (starpu_init(NULL))
		return 77;
	m = malloc((size_t) size * (size_t) size * sizeof(*m));
	for (int i = 0; i < size * size; i++)
		m[i] = (float) i;
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) m, (uint32_t) size,
				    (uint32_t) size, (uint32_t) size, sizeof(*m));
	ret = transpose(h);
	starpu_data_unregister(h);
	ret = ret || check(m);
	printf("custom_filter n=%d tiles=%d\ncheck: %s\n", size, tiles * tiles,
	       ret ? "FAILED" : "OK");
	free(m);
	starpu_shutdown();
	return ret;
}
