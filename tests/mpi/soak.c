/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random programs against a sequential oracle: tasks that read and write data of several sizes on
 * ranks of their own choice, reductions, migrations, flushes of the cache, data for all ranks,
 * temporary data, priorities, synchronous sends, with trees and without. The seeds are fixed and do
 * not depend on the number of ranks, so all runs of both worlds end with the same data.
 *
 * ORR_SOAK_SEED and ORR_SOAK_STEPS run other and longer programs.
 *
 * orr-test: ranks 2 4
 * orr-test: sim-ranks 4 64
 * orr-test: timeout 180 */
#include "mpi_test.h"

enum { NDATA = 10, NSTEPS = 150, NSEEDS = 4, MAXREAD = 3 };

/* All elements of a datum have one value. */
struct datum {
	starpu_data_handle_t h;
	uint32_t value; /* the oracle's */
	unsigned nx;
};

static struct datum d[NDATA];
static uint64_t state;

static unsigned draw(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned) (state >> 33) % n;
}

static uint32_t mix(uint32_t value, uint32_t more)
{
	return (value ^ more) * 2654435761u + 1;
}

static uint32_t value_of(void *buffer)
{
	const uint32_t *v = (const uint32_t *) STARPU_VECTOR_GET_PTR(buffer);

	for (unsigned i = 1; i < STARPU_VECTOR_GET_NX(buffer); i++)
		CHECK(v[i] == v[0], "element %u of %u is %x, the first one %x", i,
		      STARPU_VECTOR_GET_NX(buffer), v[i], v[0]);
	return v[0];
}

static void fill(void *buffer, uint32_t value)
{
	uint32_t *v = (uint32_t *) STARPU_VECTOR_GET_PTR(buffer);

	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffer); i++)
		v[i] = value;
}

/* The first datum becomes a mixture of the key and all values that are read. */
static void cpu_mix(void *buffers[], void *arg)
{
	uint32_t key;
	int n, reads_first;

	starpu_codelet_unpack_args(arg, &n, &reads_first, &key);
	for (int i = !reads_first; i < n; i++)
		key = mix(key, value_of(buffers[i]));
	fill(buffers[0], key);
}

static void cpu_zero(void *buffers[], void *arg)
{
	(void) arg;
	fill(buffers[0], 0);
}

static void cpu_add(void *buffers[], void *arg)
{
	(void) arg;
	fill(buffers[0], value_of(buffers[0]) + value_of(buffers[1]));
}

static void cpu_contribute(void *buffers[], void *arg)
{
	uint32_t value;

	starpu_codelet_unpack_args(arg, &value);
	fill(buffers[0], value_of(buffers[0]) + value);
}

static struct starpu_codelet mix_cl = { .cpu_funcs = { cpu_mix },
					.nbuffers = STARPU_VARIABLE_NBUFFERS,
					.name = "mix" };
static struct starpu_codelet zero_cl = {
	.cpu_funcs = { cpu_zero }, .nbuffers = 1, .modes = { STARPU_W }, .name = "zero"
};
static struct starpu_codelet add_cl = { .cpu_funcs = { cpu_add },
					.nbuffers = 2,
					.modes = { STARPU_RW | STARPU_COMMUTE, STARPU_R },
					.name = "add" };
static struct starpu_codelet contribute_cl = { .cpu_funcs = { cpu_contribute },
					       .nbuffers = 1,
					       .modes = { STARPU_REDUX },
					       .name = "contribute" };

/* Draws must not depend on the number of ranks. */
static int draw_rank(void)
{
	return (int) draw(1 << 20) % size;
}

static void submit_mix(struct starpu_data_descr *a, int n, uint32_t key, int node, int prio)
{
	int reads_first = (a[0].mode & STARPU_RW) == STARPU_RW;

	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &mix_cl, STARPU_DATA_MODE_ARRAY, a, n,
				  STARPU_VALUE, &n, sizeof(n), STARPU_VALUE, &reads_first,
				  sizeof(reads_first), STARPU_VALUE, &key, sizeof(key),
				  STARPU_EXECUTE_ON_NODE, node, STARPU_PRIORITY, prio, 0));
}

static void step_task(uint32_t key)
{
	struct starpu_data_descr a[1 + MAXREAD];
	int n = 1 + (int) draw(MAXREAD + 1), first = (int) draw(NDATA), reads = (int) draw(2);
	uint32_t value = key;

	for (int i = 0; i < n; i++) {
		struct datum *x = &d[(first + i * 3) % NDATA];
		a[i] = (struct starpu_data_descr){ x->h, i       ? STARPU_R
							 : reads ? STARPU_RW
								 : STARPU_W };
		if (i && draw(8) == 0)
			a[i].mode |= STARPU_SSEND;
		if (i || reads)
			value = mix(value, x->value);
	}
	d[first].value = value;
	submit_mix(a, n, key, draw_rank(), (int) draw(5));
}

/* Many ranks read one value that was just written. */
static void step_spread(uint32_t key)
{
	struct datum *from = &d[draw(NDATA)];
	struct starpu_data_descr w = { from->h, STARPU_W };
	int readers = 2 + (int) draw(40);

	submit_mix(&w, 1, key, starpu_mpi_data_get_rank(from->h), 0);
	from->value = key;
	for (int i = 0; i < readers; i++) {
		struct datum *to = &d[draw(NDATA)];
		int node = draw_rank();
		if (to == from)
			continue;
		struct starpu_data_descr a[2] = { { to->h, STARPU_RW }, { from->h, STARPU_R } };
		to->value = mix(mix(key + 1, to->value), from->value);
		submit_mix(a, 2, key + 1, node, (int) draw(3));
	}
}

static void step_redux(void)
{
	struct datum *x = &d[draw(NDATA)];
	int n = 1 + (int) draw(30), how = (int) draw(4);

	for (int i = 0; i < n; i++) {
		uint32_t value = draw(1000);
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &contribute_cl, STARPU_REDUX, x->h,
					  STARPU_VALUE, &value, sizeof(value),
					  STARPU_EXECUTE_ON_NODE, draw_rank(), 0));
		x->value += value;
	}
	if (how == 1)
		OK(starpu_mpi_redux_data(MPI_COMM_WORLD, x->h));
	else if (how > 1)
		OK(starpu_mpi_redux_data_tree(MPI_COMM_WORLD, x->h, how));
}

static void step_temporary(uint32_t key)
{
	struct datum *x = &d[draw(NDATA)];
	int owner = draw_rank();
	starpu_data_handle_t t;

	starpu_vector_data_register(&t, -1, 0, x->nx, sizeof(uint32_t));
	starpu_mpi_data_register(t, 1000 + key, owner);
	struct starpu_data_descr a[2] = { { t, STARPU_W }, { x->h, STARPU_R } };
	submit_mix(a, 2, key, owner, 0);
	a[0] = (struct starpu_data_descr){ x->h, STARPU_RW };
	a[1] = (struct starpu_data_descr){ t, STARPU_R };
	submit_mix(a, 2, key, draw_rank(), 0);
	x->value = mix(mix(key, x->value), mix(key, x->value));
	starpu_mpi_cache_flush(MPI_COMM_WORLD, t);
	starpu_data_unregister_submit(t);
}

static void step(uint32_t key)
{
	struct datum *x = &d[draw(NDATA)];

	switch (draw(16)) {
	case 0: starpu_mpi_data_migrate(MPI_COMM_WORLD, x->h, draw_rank()); break;
	case 1: starpu_mpi_cache_flush(MPI_COMM_WORLD, x->h); break;
	case 2: starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, x->h); break;
	case 3:
	case 4: step_redux(); break;
	case 5: step_temporary(key); break;
	case 6:
	case 7:
	case 8: step_spread(key); break;
	case 9: starpu_mpi_coop_sends_set_use((int) draw(4) != 0); break;
	default: step_task(key);
	}
}

static void begin_data(int i)
{
	static const unsigned sizes[] = { 1, 200, 1, 3000, 20000 };

	d[i].nx = i == 7 ? 300000 : sizes[(unsigned) i % 5];
	d[i].value = (uint32_t) i;
	starpu_vector_data_register(&d[i].h, -1, 0, d[i].nx, sizeof(uint32_t));
	starpu_mpi_data_register(d[i].h, i, i % size);
	starpu_data_set_reduction_methods(d[i].h, &add_cl, &zero_cl);
	struct starpu_data_descr a = { d[i].h, STARPU_W };
	submit_mix(&a, 1, (uint32_t) i, i % size, 0);
}

static void run(unsigned seed, int nsteps)
{
	state = seed;
	for (int i = 0; i < NDATA; i++)
		begin_data(i);
	for (int i = 0; i < nsteps; i++)
		step(100u * (unsigned) i);
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	for (int i = 0; i < NDATA; i++) {
		if (starpu_mpi_data_get_rank(d[i].h) == rank) {
			OK(starpu_data_acquire(d[i].h, STARPU_R));
			uint32_t *v = starpu_data_get_local_ptr(d[i].h);
			for (unsigned k = 0; k < d[i].nx; k++)
				CHECK(v[k] == d[i].value,
				      "seed %u: element %u of datum %d is %x, not %x", seed, k, i,
				      v[k], d[i].value);
			starpu_data_release(d[i].h);
		}
		starpu_data_unregister(d[i].h);
	}
}

static int setting(const char *name, int dflt)
{
	const char *text = getenv(name);

	return text ? atoi(text) : dflt;
}

int main(int argc, char **argv)
{
	int nsteps = setting("ORR_SOAK_STEPS", NSTEPS), first = setting("ORR_SOAK_SEED", 1);

	if (!begin(&argc, &argv, 2))
		return 77;
	for (int seed = first; seed < first + NSEEDS; seed++)
		run((unsigned) seed, nsteps);
	return end();
}
