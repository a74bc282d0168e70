/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: timeout 120 */
/* Random sequences of everything that can be done to data, against a sequential oracle.
 *
 *	stress [SEQUENCES [SEED [VERBOSE]]]		(ORR_STRESS=SEQUENCES in the environment: a longer soak)
 *
 * A sequence uses a few vectors of random sizes on 1 to 3 memory nodes whose limits (1 or 2 MiB) are far too small for all of them:
 * tasks in all access modes on all kinds of units, acquisitions, prefetches, evictions, invalidations, copies, partitions, reductions,
 * registrations. What each operation does to the values is computed at the same time in program order. Invariant: whatever the runtime
 * does, every read sees the oracle's value; the seed alone decides on the sequence. */
#include <starpu.h>
#include <orrery.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 8			/* words of a vector that kernels touch, spread over it */
#define MAXDATA 10
#define OPS 40
#define PER_INIT 50		/* sequences between starpu_init and starpu_shutdown */

struct datum {
	starpu_data_handle_t h, child[2];
	uint32_t *home;		/* NULL: no home node */
	unsigned n;
	int valid, partitioned;
	uint32_t oracle[CELLS];
};

static struct datum data[MAXDATA];
static unsigned ndata, failures;
static uint64_t rng, current_seed;
static unsigned current_op, verbose;
static const char *op_name = "";

static uint32_t rnd(uint32_t n)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (uint32_t) ((rng * 0x2545f4914f6cdd1dULL) >> 33) % n;
}

static void fail(const char *what, unsigned datum, unsigned cell, uint32_t got, uint32_t want)
{
	fprintf(stderr, "stress: seed %llu operation %u (%s): %s of datum %u cell %u: %u instead of %u\n", (unsigned long long) current_seed,
		current_op, op_name, what, datum, cell, got, want);
	__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
}

/* ---- kernels ---- */

enum kind { SET, AFFINE, COMBINE, ADD, CHECK, SCRATCH, TWO };

struct arg {
	enum kind kind;
	uint32_t a, b;
	unsigned datum, op;
	uint64_t seed;
	uint32_t want[CELLS];
};

static unsigned position(unsigned n, unsigned cell) { return (unsigned) ((uint64_t) (n - 1) * cell / (CELLS - 1)); }

static uint32_t *cell_of(void *buffer, unsigned cell)
{
	return (uint32_t *) STARPU_VECTOR_GET_PTR(buffer) + position(STARPU_VECTOR_GET_NX(buffer), cell);
}

static void kernel(void *buffers[], void *cl_arg)
{
	const struct arg *g = cl_arg;
	unsigned c;

	for (c = 0; c < CELLS; c++) {
		uint32_t *x = cell_of(buffers[0], c);

		switch (g->kind) {
		case SET: *x = g->a + c; break;
		case AFFINE: *x = *x * g->a + g->b; break;
		case COMBINE: *x = *x * 3 + *cell_of(buffers[1], c) + *cell_of(buffers[2], c); break;
		case ADD: *x += g->a * (c + 1); break;
		case CHECK:
			if (*x != g->want[c]) {
				fprintf(stderr, "stress: seed %llu, task of operation %u: ", (unsigned long long) g->seed, g->op);
				fail("a task's read", g->datum, c, *x, g->want[c]);
			}
			break;
		case SCRATCH:
			*cell_of(buffers[1], c) = *x;
			*x = *cell_of(buffers[1], c) + g->a;
			break;
		case TWO:
			*x += g->a;
			*cell_of(buffers[1], c) += *x;
			break;
		}
	}
}

static void redux_init(void *buffers[], void *arg)
{
	unsigned c;

	(void) arg;
	for (c = 0; c < CELLS; c++)
		*cell_of(buffers[0], c) = 0;
}

static void redux_add(void *buffers[], void *arg)
{
	unsigned c;

	(void) arg;
	for (c = 0; c < CELLS; c++)
		*cell_of(buffers[0], c) += *cell_of(buffers[1], c);
}

#define BOTH(f) .cpu_funcs = { f }, .cuda_funcs = { f }
static struct starpu_codelet cl_w = { BOTH(kernel), .nbuffers = 1, .modes = { STARPU_W }, .name = "w" };
static struct starpu_codelet cl_rw = { BOTH(kernel), .nbuffers = 1, .modes = { STARPU_RW }, .name = "rw" };
static struct starpu_codelet cl_r = { BOTH(kernel), .nbuffers = 1, .modes = { STARPU_R }, .name = "r" };
static struct starpu_codelet cl_commute = { BOTH(kernel), .nbuffers = 1, .modes = { STARPU_RW | STARPU_COMMUTE }, .name = "commute" };
static struct starpu_codelet cl_redux = { BOTH(kernel), .nbuffers = 1, .modes = { STARPU_REDUX }, .name = "redux" };
static struct starpu_codelet cl_3 = { BOTH(kernel), .nbuffers = 3, .modes = { STARPU_RW, STARPU_R, STARPU_R }, .name = "three" };
static struct starpu_codelet cl_2 = { BOTH(kernel), .nbuffers = 2, .modes = { STARPU_RW, STARPU_RW }, .name = "two",
				      .specific_nodes = 1, .nodes = { STARPU_SPECIFIC_NODE_CPU, STARPU_SPECIFIC_NODE_LOCAL } };
static struct starpu_codelet cl_scratch = { BOTH(kernel), .nbuffers = 2, .modes = { STARPU_RW, STARPU_SCRATCH }, .name = "scratch" };
static struct starpu_codelet cl_redux_init = { BOTH(redux_init), .nbuffers = 1, .modes = { STARPU_W }, .name = "init" };
static struct starpu_codelet cl_redux_add = { BOTH(redux_add), .nbuffers = 2, .modes = { STARPU_RW | STARPU_COMMUTE, STARPU_R }, .name = "sum" };

static struct arg *new_arg(enum kind kind, uint32_t a, uint32_t b)
{
	struct arg *g = calloc(1, sizeof(*g));

	*g = (struct arg) { .kind = kind, .a = a, .b = b, .op = current_op, .seed = current_seed };
	return g;
}

static void submit(struct starpu_codelet *cl, struct arg *g, starpu_data_handle_t h0, starpu_data_handle_t h1, starpu_data_handle_t h2)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->handles[0] = h0;
	task->handles[1] = h1;
	task->handles[2] = h2;
	task->cl_arg = g;
	task->cl_arg_size = sizeof(*g);
	task->cl_arg_free = 1;
	task->priority = (int) rnd(3);
	if (rnd(2)) {
		task->execute_on_a_specific_worker = 1;
		task->workerid = rnd(starpu_worker_get_count());
	}
	if (starpu_task_submit(task))
		abort();
}

/* ---- operations ---- */

static void check_cells(const struct datum *d, unsigned node, const char *what)
{
	void *iface = starpu_data_get_interface_on_node(d->h, node);
	unsigned c;

	for (c = 0; c < CELLS; c++)
		if (*cell_of(iface, c) != d->oracle[c])
			fail(what, (unsigned) (d - data), c, *cell_of(iface, c), d->oracle[c]);
}

static void op_set(struct datum *d)
{
	uint32_t a = rnd(1 << 20);
	unsigned c;

	submit(&cl_w, new_arg(SET, a, 0), d->h, NULL, NULL);
	for (c = 0; c < CELLS; c++)
		d->oracle[c] = a + c;
	d->valid = 1;
}

static void op_affine(struct datum *d)
{
	uint32_t a = 1 + 2 * rnd(100), b = rnd(1000);
	unsigned c;

	submit(&cl_rw, new_arg(AFFINE, a, b), d->h, NULL, NULL);
	for (c = 0; c < CELLS; c++)
		d->oracle[c] = d->oracle[c] * a + b;
}

static void op_read(struct datum *d)
{
	struct arg *g = new_arg(CHECK, 0, 0);

	memcpy(g->want, d->oracle, sizeof(g->want));
	g->datum = (unsigned) (d - data);
	submit(&cl_r, g, d->h, NULL, NULL);
}

static void op_commute_or_redux(struct datum *d)
{
	struct starpu_codelet *cl = rnd(2) ? &cl_commute : &cl_redux;
	unsigned i, c, n = 1 + rnd(4);

	for (i = 0; i < n; i++) {
		uint32_t a = rnd(1000);

		submit(cl, new_arg(ADD, a, 0), d->h, NULL, NULL);
		for (c = 0; c < CELLS; c++)
			d->oracle[c] += a * (c + 1);
	}
}

static struct datum *other(struct datum *d)
{
	struct datum *o = &data[rnd(ndata)];

	return o != d && o->valid && !o->partitioned ? o : NULL;
}

static void op_combine(struct datum *d)
{
	struct datum *x = other(d), *y = other(d);
	unsigned c;

	if (!x || !y || x == y)
		return;
	submit(&cl_3, new_arg(COMBINE, 0, 0), d->h, x->h, y->h);
	for (c = 0; c < CELLS; c++)
		d->oracle[c] = d->oracle[c] * 3 + x->oracle[c] + y->oracle[c];
}

static void op_two_nodes(struct datum *d)
{
	struct datum *x = other(d);
	uint32_t a = rnd(1000);
	unsigned c;

	if (!x)
		return;
	submit(&cl_2, new_arg(TWO, a, 0), d->h, x->h, NULL);
	for (c = 0; c < CELLS; c++) {
		d->oracle[c] += a;
		x->oracle[c] += d->oracle[c];
	}
}

static void op_scratch(struct datum *d)
{
	starpu_data_handle_t s;
	uint32_t a = rnd(1000);
	unsigned c;

	starpu_vector_data_register(&s, -1, 0, d->n, sizeof(uint32_t));
	submit(&cl_scratch, new_arg(SCRATCH, a, 0), d->h, s, NULL);
	for (c = 0; c < CELLS; c++)
		d->oracle[c] += a;
	if (rnd(2))
		starpu_data_unregister_submit(s);
	else
		starpu_data_unregister(s);
}

static void op_acquire(struct datum *d)
{
	int write = (int) rnd(2), node = (int) rnd(starpu_memory_nodes_get_count());
	enum starpu_data_access_mode mode = write ? STARPU_RW : STARPU_R;
	unsigned c;

	if (rnd(2))
		node = STARPU_MAIN_RAM;
	if (starpu_data_acquire_on_node(d->h, node, mode))
		abort();
	check_cells(d, (unsigned) node, "an acquisition's read");
	for (c = 0; write && c < CELLS; c++)
		*cell_of(starpu_data_get_interface_on_node(d->h, (unsigned) node), c) = d->oracle[c] = d->oracle[c] + 7;
	starpu_data_release_on_node(d->h, node);
}

struct cb { struct datum d; };

static void acquired(void *p)
{
	struct cb *cb = p;

	check_cells(&cb->d, STARPU_MAIN_RAM, "a callback's read");
	starpu_data_release_on_node(cb->d.h, STARPU_MAIN_RAM);
	free(cb);
}

static void op_acquire_cb(struct datum *d)
{
	struct cb *cb = malloc(sizeof(*cb));

	cb->d = *d;
	if (starpu_data_acquire_on_node_cb(d->h, STARPU_MAIN_RAM, STARPU_R, acquired, cb))
		abort();
}

static void op_move(struct datum *d)
{
	unsigned node = rnd(starpu_memory_nodes_get_count()), async = rnd(4) != 0;

	switch (rnd(8)) {
	case 0: starpu_data_prefetch_on_node_prio(d->h, node, async, (int) rnd(5)); break;
	case 1: starpu_data_idle_prefetch_on_node(d->h, node, async); break;
	case 2: starpu_data_fetch_on_node(d->h, node, async); break;
	case 3: starpu_data_wont_use(d->h); break;
	case 4: starpu_data_evict_from_node(d->h, node); break;
	case 5: starpu_data_request_allocation(d->h, node); break;
	case 6: starpu_memchunk_tidy(node); break;
	default: starpu_data_set_wt_mask(d->h, rnd(8)); break;
	}
}

static void op_invalidate(struct datum *d)
{
	if (rnd(2))
		starpu_data_invalidate(d->h);
	else
		starpu_data_invalidate_submit(d->h);
	d->valid = 0;
	if (rnd(2))
		op_set(d);
}

static void op_copy(struct datum *d)
{
	struct datum *x = other(d);

	if (!x || x->n != d->n)
		return;
	if (starpu_data_cpy(d->h, x->h, (int) rnd(2), NULL, NULL))
		abort();
	memcpy(d->oracle, x->oracle, sizeof(d->oracle));
	d->valid = 1;
}

/* The cells of the halves are not those of the whole: adds to all words of both. */
static void add_all(void *buffers[], void *arg)
{
	uint32_t *v = (uint32_t *) STARPU_VECTOR_GET_PTR(buffers[0]);
	unsigned i, n = STARPU_VECTOR_GET_NX(buffers[0]);

	for (i = 0; i < n; i++)
		v[i] += ((const struct arg *) arg)->a;
}

static struct starpu_codelet cl_add_all = { BOTH(add_all), .nbuffers = 1, .modes = { STARPU_RW }, .name = "add_all" };

static void op_partition(struct datum *d)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block, .nchildren = 2 };
	uint32_t a = rnd(100);
	unsigned i, c;

	starpu_data_partition_plan(d->h, &f, d->child);
	starpu_data_partition_submit(d->h, 2, d->child);
	for (i = 0; i < 2; i++)
		submit(&cl_add_all, new_arg(ADD, a, 0), d->child[i], NULL, NULL);
	starpu_data_unpartition_submit(d->h, 2, d->child, STARPU_MAIN_RAM);
	starpu_data_partition_clean(d->h, 2, d->child);
	for (c = 0; c < CELLS; c++)
		d->oracle[c] += a;
}

/* ---- sequences ---- */

static void new_datum(struct datum *d)
{
	unsigned i;

	memset(d, 0, sizeof(*d));
	d->n = rnd(3) ? 32768 : 1024 + rnd(65536);
	if (rnd(3)) {
		d->home = malloc(d->n * sizeof(*d->home));
		for (i = 0; i < CELLS; i++)
			d->home[position(d->n, i)] = d->oracle[i] = rnd(1000);
		for (i = 0; i < d->n; i++)
			if (i < 2)
				d->home[i] = d->oracle[0];
		d->oracle[0] = d->home[0];
		d->valid = 1;
	}
	starpu_vector_data_register(&d->h, d->home ? STARPU_MAIN_RAM : -1, (uintptr_t) d->home, d->n, sizeof(uint32_t));
	starpu_data_set_reduction_methods(d->h, &cl_redux_add, &cl_redux_init);
}

static void end_datum(struct datum *d)
{
	unsigned c;

	if (!d->home && rnd(2)) {
		starpu_data_unregister_submit(d->h);
		return;
	}
	if (d->valid && rnd(3) == 0) {
		starpu_data_acquire_on_node(d->h, STARPU_MAIN_RAM, STARPU_R);
		check_cells(d, STARPU_MAIN_RAM, "the last read");
		starpu_data_release_on_node(d->h, STARPU_MAIN_RAM);
	}
	starpu_data_unregister(d->h);
	for (c = 0; d->home && d->valid && c < CELLS; c++)
		if (d->home[position(d->n, c)] != d->oracle[c])
			fail("the value at home", (unsigned) (d - data), c, d->home[position(d->n, c)], d->oracle[c]);
	free(d->home);
}

static const struct { const char *name; void (*f)(struct datum *); unsigned weight; int needs_value; } ops[] = {
	{ "set", op_set, 3, 0 }, { "affine", op_affine, 8, 1 }, { "read", op_read, 6, 1 }, { "commute or redux", op_commute_or_redux, 4, 1 },
	{ "combine", op_combine, 6, 1 }, { "two nodes", op_two_nodes, 3, 1 }, { "scratch", op_scratch, 2, 1 }, { "acquire", op_acquire, 3, 1 },
	{ "acquire_cb", op_acquire_cb, 2, 1 }, { "move", op_move, 8, 1 }, { "invalidate", op_invalidate, 1, 0 }, { "copy", op_copy, 2, 1 },
	{ "partition", op_partition, 1, 1 },
};
#define NOPS (sizeof(ops) / sizeof(ops[0]))

static void operation(void)
{
	struct datum *d = &data[rnd(ndata)];
	unsigned i, total = 0, at;

	for (i = 0; i < NOPS; i++)
		total += ops[i].weight;
	at = rnd(total + 1);
	if (at == total) {
		op_name = "renew";
		end_datum(d);
		new_datum(d);
		return;
	}
	for (i = 0; at >= ops[i].weight; i++)
		at -= ops[i].weight;
	if (ops[i].needs_value && !d->valid)
		i = 0;
	op_name = ops[i].name;
	if (verbose)
		fprintf(stderr, "%u: %s of %u\n", current_op, op_name, (unsigned) (d - data));
	ops[i].f(d);
}

static void sequence(uint64_t seed)
{
	unsigned i, n;

	current_seed = seed;
	rng = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	rnd(2);
	ndata = 3 + rnd(MAXDATA - 2);
	n = 1 + rnd(OPS);
	for (i = 0; i < ndata; i++)
		new_datum(&data[i]);
	for (current_op = 0; current_op < n; current_op++)
		operation();
	op_name = "end";
	for (i = 0; i < ndata; i++)
		end_datum(&data[i]);
	starpu_task_wait_for_all();
}

/* The machine of a round of sequences: 0 to 2 devices, some with a tight limit. */
static int machine(uint64_t round)
{
	static const char *const policies[] = { "lws", "eager", "prio", "random" };
	struct starpu_conf conf;
	char text[16];

	rng = (round + 1) * 0xd1342543de82ef95ULL;
	rnd(2);
	snprintf(text, sizeof(text), "%u", rnd(8) ? 1 + rnd(2) : 0);
	setenv("ORRERY_FAKE_DEVICES", text, 1);
	snprintf(text, sizeof(text), "%u", rnd(4) ? 1 + rnd(2) : 0);
	setenv("STARPU_LIMIT_CUDA_MEM", text, 1);
	starpu_conf_init(&conf);
	conf.ncpus = 1 + (int) rnd(2);
	conf.sched_policy_name = policies[rnd(4)];
	return starpu_init(&conf);
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 0) : 6000, i;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

	verbose = argc > 3;
	if (argc <= 1 && getenv("ORR_STRESS"))
		n = strtoul(getenv("ORR_STRESS"), NULL, 0);
	for (i = 0; i < n && !failures; i++) {
		uint64_t seed = first + i;

		if (i == 0 || seed % PER_INIT == 0) {
			if (i)
				starpu_shutdown();
			if (machine(seed / PER_INIT))
				return 77;
		}
		sequence(seed);
	}
	if (n)
		starpu_shutdown();
	printf("stress: %lu sequences from seed %llu, %u failures\n", i, (unsigned long long) first, failures);
	return failures != 0;
}
