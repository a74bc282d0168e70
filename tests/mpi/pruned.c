/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random tasks of which each rank leaves out those in which it has no part (doc/mpi.md), and even
 * those only sometimes, against a sequential oracle. The seeds are fixed, so both worlds run the
 * same tasks.
 * orr-test: ranks 2 4 */
#include "mpi_test.h"

enum { NDATA = 6, NTASKS = 400, NSEEDS = 6 };

struct access {
	int datum, mode;
};

static uint64_t state;

static unsigned draw(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned) (state >> 33) % n;
}

/* Every datum that the task writes becomes a number that depends on all that it reads. */
static uint32_t mix(uint32_t value, uint32_t more)
{
	return (value ^ more) * 2654435761u + 1;
}

static void cpu_mix(void *buffers[], void *arg)
{
	struct access *a;
	int n;
	uint32_t key, value;

	starpu_codelet_unpack_args(arg, &a, &n, &key);
	value = key;
	for (int i = 0; i < n; i++)
		if (a[i].mode & STARPU_R)
			value = mix(value, *(uint32_t *) STARPU_VARIABLE_GET_PTR(buffers[i]));
	for (int i = 0; i < n; i++)
		if (a[i].mode & STARPU_W)
			*(uint32_t *) STARPU_VARIABLE_GET_PTR(buffers[i]) = mix(value,
										(uint32_t) i);
	free(a);
}

static struct starpu_codelet mix_cl = { .cpu_funcs = { cpu_mix },
					.nbuffers = STARPU_VARIABLE_NBUFFERS,
					.name = "mix" };

static void oracle(uint32_t *values, const struct access *a, int n, uint32_t key)
{
	uint32_t value = key;

	for (int i = 0; i < n; i++)
		if (a[i].mode & STARPU_R)
			value = mix(value, values[a[i].datum]);
	for (int i = 0; i < n; i++)
		if (a[i].mode & STARPU_W)
			values[a[i].datum] = mix(value, (uint32_t) i);
}

static int draw_accesses(struct access *a)
{
	static const int modes[] = { STARPU_R, STARPU_RW, STARPU_W };
	int n = 1 + (int) draw(3), first = (int) draw(NDATA);

	for (int i = 0; i < n; i++)
		a[i] = (struct access){ (first + i) % NDATA, modes[draw(3)] };
	return n;
}

static void submit(const starpu_data_handle_t *h, const struct access *a, int n, int node,
		   uint32_t key)
{
	struct starpu_data_descr d[3];
	struct access *copy = NULL;

	for (int i = 0; i < n; i++)
		d[i] = (struct starpu_data_descr){ h[a[i].datum], a[i].mode };
	if (node == rank) {
		copy = malloc((size_t) n * sizeof(*copy));
		memcpy(copy, a, (size_t) n * sizeof(*copy));
	}
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &mix_cl, STARPU_DATA_MODE_ARRAY, d, n,
				  STARPU_VALUE, &copy, sizeof(copy), STARPU_VALUE, &n, sizeof(n),
				  STARPU_VALUE, &key, sizeof(key), STARPU_EXECUTE_ON_NODE, node,
				  0));
}

static unsigned run(unsigned seed)
{
	starpu_data_handle_t h[NDATA];
	uint32_t values[NDATA] = { 0 };
	unsigned pruned = 0;
	int copy[NDATA] = { 0 }; /* this rank received the current value for reading */

	state = seed;
	for (int i = 0; i < NDATA; i++) {
		starpu_variable_data_register(&h[i], -1, 0, sizeof(uint32_t));
		starpu_mpi_data_register(h[i], 100 + i, i % size);
		if (i % size == rank)
			set_int(h[i], 0);
	}
	for (int t = 0; t < NTASKS; t++) {
		struct access a[3];
		int n = draw_accesses(a), node = (int) draw((unsigned) size), part = node == rank,
		    diligent = draw(4) == 0, key = t;
		for (int i = 0; i < n; i++)
			part |= a[i].datum % size == rank ||
				(a[i].mode & STARPU_W && copy[a[i].datum]);
		if (part || diligent)
			submit(h, a, n, node, (uint32_t) key);
		else
			pruned++;
		for (int i = 0; i < n; i++)
			if (a[i].mode & STARPU_W)
				copy[a[i].datum] = 0;
			else if (node == rank)
				copy[a[i].datum] = 1;
		oracle(values, a, n, (uint32_t) key);
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	for (int i = 0; i < NDATA; i++) {
		if (i % size == rank)
			CHECK((uint32_t) int_of(h[i]) == values[i],
			      "seed %u: datum %d is %x, not %x", seed, i, (unsigned) int_of(h[i]),
			      values[i]);
		starpu_data_unregister(h[i]);
	}
	return pruned;
}

int main(int argc, char **argv)
{
	unsigned pruned = 0;

	if (!begin(&argc, &argv, 2))
		return 77;
	for (unsigned seed = 1; seed <= NSEEDS; seed++)
		pruned += run(seed);
	if (size > 2)
		CHECK(pruned > NTASKS / 4, "only %u tasks were left out", pruned);
	return end();
}
