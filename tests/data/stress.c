/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: timeout 120 */
/* orr-test: env ORR_CUDART_DEVICES=2 */
/* Random sequences of everything that can be done to data, against a sequential oracle.
 *
 *      stress [SEQUENCES [SEED [VERBOSE]]]             (ORR_STRESS=SEQUENCES in the
 *        environment: a longer soak)
 *      ORR_STRESS_OPENCL=1, ORR_STRESS_CUDA=1: the devices are those of that kind that the
 *        environment gives, instead of fake ones
 *
 * A sequence uses a few vectors of random sizes on 1 to 3 memory nodes whose limits (1 or 2 MiB)
 * are far too small for all of them: tasks in all access modes on all kinds of units, in and out of
 * the order of submission, acquisitions, prefetches, evictions, invalidations, copies, duplicates,
 * partitions, reductions, registrations. What each operation does to the values is computed at the
 * same time in program order. Invariant: whatever the runtime does, every read sees the oracle's
 * value; the seed alone decides on the sequence. */
#include "stress.h"
#include "stress_views.h"
#include "stress_loose.h"

#define OPS 40
#define PER_INIT 50 /* sequences between starpu_init and starpu_shutdown */
#define MAXLEFT 12
#define MAXDUPS 4

/* Data with a home whose unregistration was submitted: looked at when the runtime has stopped. */
static struct datum left[MAXLEFT];
static unsigned nleft;

/* Duplicates in use, with the value that they were made of. */
static struct datum dups[MAXDUPS];
static unsigned ndups;

static starpu_arbiter_t arbiter;

/* ---- operations ---- */

static void op_set(struct datum *d)
{
	uint32_t a = rnd(1 << 20);

	submit(&cl_w, new_arg(SET, a, 0), d->h, NULL, NULL);
	for (unsigned c = 0; c < CELLS; c++)
		d->oracle[c] = a + c;
	d->valid = 1;
}

static void op_affine(struct datum *d)
{
	uint32_t a = 1 + 2 * rnd(100), b = rnd(1000);

	submit(&cl_rw, new_arg(AFFINE, a, b), d->h, NULL, NULL);
	for (unsigned c = 0; c < CELLS; c++)
		d->oracle[c] = d->oracle[c] * a + b;
}

static void op_read(struct datum *d)
{
	submit_check(d, d->h);
}

static void op_commute_or_redux(struct datum *d)
{
	struct starpu_codelet *cl = rnd(2) ? &cl_commute : &cl_redux;
	unsigned i, n = 1 + rnd(4);

	for (i = 0; i < n; i++) {
		uint32_t a = rnd(1000);

		submit(cl, new_arg(ADD, a, 0), d->h, NULL, NULL);
		oracle_add(d, a);
	}
}

/* Two data each, in any order: without all-or-nothing, some would wait for each other. */
static void op_commute2(struct datum *d)
{
	struct datum *x = other(d);
	unsigned i, n = 2 + rnd(4);

	for (i = 0; x && i < n; i++) {
		struct datum *first = rnd(2) ? d : x, *second = first == d ? x : d;
		uint32_t a = rnd(1000), b = rnd(1000);

		submit(&cl_commute2, new_arg(ADD2, a, b), first->h, second->h, NULL);
		oracle_add(first, a);
		oracle_add(second, b);
	}
}

static void op_combine(struct datum *d)
{
	struct datum *x = other(d), *y = other(d);

	if (!x || !y || x == y)
		return;
	submit(&cl_3, new_arg(COMBINE, 0, 0), d->h, x->h, y->h);
	for (unsigned c = 0; c < CELLS; c++)
		d->oracle[c] = d->oracle[c] * 3 + x->oracle[c] + y->oracle[c];
}

static void op_two_nodes(struct datum *d)
{
	struct datum *x = other(d);
	uint32_t a = rnd(1000);

	if (!x)
		return;
	submit(&cl_2, new_arg(TWO, a, 0), d->h, x->h, NULL);
	for (unsigned c = 0; c < CELLS; c++) {
		d->oracle[c] += a;
		x->oracle[c] += d->oracle[c];
	}
}

static void op_scratch(struct datum *d)
{
	starpu_data_handle_t s;
	uint32_t a = rnd(1000);

	starpu_vector_data_register(&s, -1, 0, d->n, sizeof(uint32_t));
	submit(&cl_scratch, new_arg(SCRATCH, a, 0), d->h, s, NULL);
	for (unsigned c = 0; c < CELLS; c++)
		d->oracle[c] += a;
	if (rnd(2))
		starpu_data_unregister_submit(s);
	else
		starpu_data_unregister(s);
}

static void op_acquire(struct datum *d)
{
	int write = (int) rnd(2), node = (int) rnd(starpu_memory_nodes_get_count()), ret;
	enum starpu_data_access_mode mode = write ? STARPU_RW : STARPU_R;

	if (rnd(2))
		node = STARPU_MAIN_RAM;
	if (rnd(3) == 0) {
		ret = starpu_data_acquire_on_node_try(d->h, node, mode);
		if (ret == -EAGAIN)
			return;
		MUST(ret);
	} else {
		MUST(starpu_data_acquire_on_node(d->h, node, mode));
	}
	check_cells(d, (unsigned) node, "an acquisition's read");
	if (write) {
		void *iface = starpu_data_get_interface_on_node(d->h, (unsigned) node);

		for (unsigned c = 0; c < CELLS; c++)
			set_cell(iface, (unsigned) node, c, d->oracle[c] += 7);
		if (rnd(2)) {
			starpu_data_release_to_on_node(d->h, STARPU_R, node);
			submit_check(d, d->h);
			check_cells(d, (unsigned) node, "what was kept for reading");
		}
	}
	starpu_data_release_on_node(d->h, node);
}

static void op_move(struct datum *d)
{
	unsigned node = rnd(starpu_memory_nodes_get_count()), async = rnd(4) != 0;

	switch (rnd(9)) {
	case 0: starpu_data_prefetch_on_node_prio(d->h, node, async, (int) rnd(5)); break;
	case 1: starpu_data_idle_prefetch_on_node(d->h, node, async); break;
	case 2: starpu_data_fetch_on_node(d->h, node, async); break;
	case 3: starpu_data_wont_use(d->h); break;
	case 4: starpu_data_evict_from_node(d->h, node); break;
	case 5: starpu_data_request_allocation(d->h, node); break;
	case 6: starpu_memchunk_tidy(node); break;
	case 7: starpu_data_advise_as_important(d->h, rnd(2)); break;
	default: starpu_data_set_wt_mask(d->h, rnd(8)); break;
	}
}

static void op_invalidate(struct datum *d)
{
	switch (rnd(4)) {
	case 0: starpu_data_invalidate(d->h); break;
	case 1: starpu_data_deinitialize_submit(d->h); break;
	default: starpu_data_invalidate_submit(d->h); break;
	}
	d->valid = 0;
	if (rnd(2))
		op_set(d);
}

static void op_copy(struct datum *d)
{
	struct datum *x = other(d);

	if (!x || x->n != d->n)
		return;
	MUST(starpu_data_cpy_priority(d->h, x->h, (int) rnd(2), NULL, NULL, (int) rnd(3)));
	memcpy(d->oracle, x->oracle, sizeof(d->oracle));
	d->valid = 1;
}

static void end_dup(void)
{
	struct datum *x = &dups[--ndups];

	submit_check(x, x->h);
	if (rnd(2))
		starpu_data_unregister_submit(x->h);
	else
		starpu_data_unregister(x->h);
}

/* A duplicate keeps its value while the original changes; two of the same value are one. */
static void op_dup(struct datum *d)
{
	struct datum *x = &dups[ndups];

	if (ndups == MAXDUPS) {
		end_dup();
		return;
	}
	*x = *d;
	MUST(starpu_data_dup_ro(&x->h, d->h, (int) rnd(2)));
	ndups++;
	if (rnd(2))
		submit_check(x, x->h);
}

/* ---- sequences ---- */

static void new_datum(struct datum *d)
{
	memset(d, 0, sizeof(*d));
	d->n = rnd(3) ? 32768 : 1024 + rnd(65536);
	if (rnd(3)) {
		d->home = malloc(d->n * sizeof(*d->home));
		for (unsigned i = 0; i < CELLS; i++)
			d->home[position(d->n, i)] = d->oracle[i] = rnd(1000);
		for (unsigned i = 0; i < d->n; i++)
			if (i < 2)
				d->home[i] = d->oracle[0];
		d->oracle[0] = d->home[0];
		d->valid = 1;
	}
	starpu_vector_data_register(&d->h, d->home ? STARPU_MAIN_RAM : -1, (uintptr_t) d->home,
				    d->n, sizeof(uint32_t));
	starpu_data_set_reduction_methods(d->h, &cl_redux_add, &cl_redux_init);
	if (rnd(4) == 0)
		starpu_data_assign_arbiter(d->h, arbiter);
}

static void check_home(const struct datum *d, const char *what)
{
	for (unsigned c = 0; d->valid && c < CELLS; c++)
		if (d->home[position(d->n, c)] != d->oracle[c])
			fail(what, (unsigned) (d - data), c, d->home[position(d->n, c)],
			     d->oracle[c]);
	free(d->home);
}

static void end_datum(struct datum *d)
{
	drop_plans(d);
	if (!d->home && !d->loose && rnd(2)) {
		starpu_data_unregister_submit(d->h);
		return;
	}
	if (d->home && !d->loose && nleft < MAXLEFT && rnd(4) == 0) {
		starpu_data_unregister_submit(d->h);
		left[nleft++] = *d;
		return;
	}
	if (d->valid && rnd(3) == 0) {
		MUST(starpu_data_acquire_on_node(d->h, STARPU_MAIN_RAM, STARPU_R));
		check_cells(d, STARPU_MAIN_RAM, "the last read");
		starpu_data_release_on_node(d->h, STARPU_MAIN_RAM);
	}
	starpu_data_unregister(d->h);
	if (d->home)
		check_home(d, "the value at home");
}

static const struct {
	const char *name;
	void (*f)(struct datum *);
	unsigned weight;
	int needs_value;
} ops[] = {
	{ "set", op_set, 3, 0 },
	{ "affine", op_affine, 8, 1 },
	{ "read", op_read, 6, 1 },
	{ "commute or redux", op_commute_or_redux, 4, 1 },
	{ "combine", op_combine, 6, 1 },
	{ "two nodes", op_two_nodes, 3, 1 },
	{ "scratch", op_scratch, 2, 1 },
	{ "acquire", op_acquire, 3, 1 },
	{ "acquire_cb", op_acquire_cb, 3, 1 },
	{ "move", op_move, 8, 1 },
	{ "invalidate", op_invalidate, 1, 0 },
	{ "copy", op_copy, 2, 1 },
	{ "commute2", op_commute2, 3, 1 },
	{ "dup", op_dup, 3, 1 },
	{ "views", op_views, 5, 1 },
	{ "partition", op_partition, 1, 1 },
	{ "loose", op_loose, 4, 1 },
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
	starpu_tag_t first_tag = next_tag;
	unsigned n;

	current_seed = seed;
	rng = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	rnd(2);
	ndata = 3 + rnd(MAXDATA - 2);
	n = 1 + rnd(OPS);
	arbiter = starpu_arbiter_create();
	for (unsigned i = 0; i < ndata; i++)
		new_datum(&data[i]);
	for (current_op = 0; current_op < n; current_op++)
		operation();
	op_name = "end";
	while (ndups)
		end_dup();
	for (unsigned i = 0; i < ndata; i++)
		end_datum(&data[i]);
	starpu_arbiter_destroy(arbiter);
	starpu_task_wait_for_all();
	remove_tags(first_tag);
}

/* The machine of a round of sequences: 0 to 2 devices, some with a tight limit. */
static int start_machine(uint64_t round)
{
	static const char *const policies[] = { "lws", "eager", "prio", "random", "dmda" };
	int opencl = getenv("ORR_STRESS_OPENCL") != NULL, cuda = getenv("ORR_STRESS_CUDA") != NULL;
	struct starpu_conf conf;
	char text[16];

	rng = (round + 1) * 0xd1342543de82ef95ULL;
	rnd(2);
	snprintf(text, sizeof(text), "%u", rnd(8) ? 1 + rnd(2) : 0);
	setenv("ORRERY_FAKE_DEVICES", opencl || cuda ? "0" : text, 1);
	if (opencl || cuda)
		setenv(opencl ? "STARPU_NOPENCL" : "STARPU_NCUDA", text, 1);
	snprintf(text, sizeof(text), "%u", rnd(4) ? 1 + rnd(2) : 0);
	setenv(opencl ? "STARPU_LIMIT_OPENCL_MEM" : "STARPU_LIMIT_CUDA_MEM", text, 1);
	starpu_conf_init(&conf);
	conf.ncpus = 1 + (int) rnd(2);
	conf.sched_policy_name = policies[rnd(5)];
	return starpu_init(&conf);
}

static void stop_machine(void)
{
	starpu_shutdown();
	op_name = "shutdown";
	while (nleft)
		check_home(&left[--nleft], "the value that was to come home");
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
				stop_machine();
			if (start_machine(seed / PER_INIT))
				return 77;
		}
		sequence(seed);
	}
	if (n)
		stop_machine();
	printf("stress: %lu sequences from seed %llu, %u failures\n", i, (unsigned long long) first,
	       failures);
	return failures != 0;
}
