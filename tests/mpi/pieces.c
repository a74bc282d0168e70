/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pieces of a datum with owners and tags of their own: ranks insert tasks on pieces that lie on
 * several of them, fetch neighbours, gather the whole, switch to another plan whose pieces others
 * own, and do so again; a second level; the tags are free again once a plan is gone.
 *
 * orr-test: ranks 2 4
 * orr-test: sim-ranks 1 2 5 */
#include "mpi_test.h"

#define NX 60
#define NA 6
#define NB 4
#define ROUNDS 5

static unsigned v[NX], w[NX];
static int next_tag;

static void init_func(void *buffers[], void *arg)
{
	unsigned *p = (unsigned *) STARPU_VECTOR_GET_PTR(buffers[0]), first;

	starpu_codelet_unpack_args(arg, &first);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		p[i] = first + i;
}

/* Each element of the first piece, from what the second one begins with. */
static void mix_func(void *buffers[], void *arg)
{
	unsigned *p = (unsigned *) STARPU_VECTOR_GET_PTR(buffers[0]),
		 *q = (unsigned *) STARPU_VECTOR_GET_PTR(buffers[1]), value;

	starpu_codelet_unpack_args(arg, &value);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		p[i] = 3 * p[i] + q[0] + value;
}

static struct starpu_codelet init_cl = {
	.cpu_funcs = { init_func }, .nbuffers = 1, .modes = { STARPU_W }, .name = "init"
};
static struct starpu_codelet mix_cl = {
	.cpu_funcs = { mix_func }, .nbuffers = 2, .modes = { STARPU_RW, STARPU_R }, .name = "mix"
};

static void plan(starpu_data_handle_t h, unsigned n, starpu_data_handle_t *c, int shift)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block, .nchildren = n };

	starpu_data_partition_plan(h, &f, c);
	for (unsigned i = 0; i < n; i++)
		starpu_mpi_data_register(c[i], next_tag + (int) i, ((int) i + shift) % size);
	next_tag += (int) n;
}

static void mix(starpu_data_handle_t *c, unsigned n, unsigned len, unsigned *seq, unsigned value)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned q = (i + 1) % n * len, first = seq[q];

		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &mix_cl, STARPU_RW, c[i], STARPU_R,
					  c[(i + 1) % n], STARPU_VALUE, &value, sizeof(value), 0));
		for (unsigned k = 0; k < len; k++)
			seq[i * len + k] = 3 * seq[i * len + k] + first + value;
	}
}

/* Every rank gets every piece. */
static void gather(starpu_data_handle_t *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, c[i]);
}

static void check(starpu_data_handle_t h, const char *when)
{
	OK(starpu_data_acquire(h, STARPU_R));
	for (int i = 0; i < NX; i++)
		CHECK(v[i] == w[i], "%s: element %d is %u, not %u", when, i, v[i], w[i]);
	starpu_data_release(h);
}

static void two_plans(starpu_data_handle_t h)
{
	starpu_data_handle_t a[NA], b[NB];

	plan(h, NA, a, 0);
	plan(h, NB, b, 1);
	starpu_data_partition_submit(h, NA, a);
	for (unsigned i = 0; i < NA; i++) {
		unsigned first = 100 * i;

		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &init_cl, STARPU_W, a[i], STARPU_VALUE,
					  &first, sizeof(first), 0));
		for (unsigned k = 0; k < NX / NA; k++)
			w[i * (NX / NA) + k] = first + k;
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		mix(a, NA, NX / NA, w, round);
		gather(a, NA);
		starpu_data_unpartition_submit(h, NA, a, STARPU_MAIN_RAM);
		check(h, "first plan");
		starpu_data_partition_submit(h, NB, b);
		mix(b, NB, NX / NB, w, 10 + round);
		mix(b, NB, NX / NB, w, 20 + round);
		gather(b, NB);
		starpu_data_unpartition_submit(h, NB, b, STARPU_MAIN_RAM);
		starpu_data_partition_submit(h, NA, a);
	}
	gather(a, NA);
	starpu_data_unpartition_submit(h, NA, a, STARPU_MAIN_RAM);
	check(h, "both plans");
	starpu_data_partition_clean(h, NA, a);
	starpu_data_partition_clean(h, NB, b);
}

static void two_levels(starpu_data_handle_t h)
{
	starpu_data_handle_t a[NB], s[NB][3];
	const unsigned len = NX / NB;

	plan(h, NB, a, 1);
	for (int i = 0; i < NB; i++)
		plan(a[i], 3, s[i], i);
	starpu_data_partition_submit(h, NB, a);
	for (unsigned i = 0; i < NB; i++) {
		starpu_data_partition_submit(a[i], 3, s[i]);
		mix(s[i], 3, len / 3, w + i * len, i);
		gather(s[i], 3);
		starpu_data_unpartition_submit(a[i], 3, s[i], STARPU_MAIN_RAM);
	}
	mix(a, NB, len, w, 7);
	gather(a, NB);
	starpu_data_unpartition_submit(h, NB, a, STARPU_MAIN_RAM);
	check(h, "two levels");
	for (unsigned i = 0; i < NB; i++)
		starpu_data_partition_clean(a[i], 3, s[i]);
	starpu_data_partition_clean(h, NB, a);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (!begin(&argc, &argv, 1))
		return 77;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, NX, sizeof(*v));
	for (int again = 0; again < 2; again++) {
		next_tag = 40; /* the same tags, again */
		two_plans(h);
		two_levels(h);
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	starpu_data_unregister(h);
	return end();
}
