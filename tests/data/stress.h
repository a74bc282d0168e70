/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts that the parts of the stress test share: data with their oracle, the generator,
 * failures, kernels and the submission of tasks.
 *
 * Of each vector CELLS words, spread over it, are followed by the oracle, which computes in program
 * order what the submitted tasks do.
 *
 * Invariant: rnd() is called by the program's thread only, so that the seed alone decides on a
 * sequence. */
#ifndef STRESS_H
#define STRESS_H

#include <starpu.h>

#include "data/staged.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 8
#define MAXDATA 10
#define MAXPIECES 4
#define MAXPLANS 3

/* A plan of a datum, or of a piece of another plan of it. */
struct plan {
	starpu_data_handle_t father, piece[MAXPIECES];
	unsigned n, depth;
	unsigned first[MAXPIECES +
		       1]; /* where piece i begins in the whole; at n: where the last one ends */
};

struct datum {
	starpu_data_handle_t h;
	uint32_t *home; /* NULL: no home node */
	unsigned n;
	int valid;
	int loose; /* callbacks acquire it, perhaps later: no plans any more, and its end is waited
		      for */
	unsigned nplans;
	struct plan plan[MAXPLANS];
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
	fprintf(stderr,
		"stress: seed %llu operation %u (%s): %s of datum %u cell %u: %u instead of %u\n",
		(unsigned long long) current_seed, current_op, op_name, what, datum, cell, got,
		want);
	__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
}

/* 0, or else the test ends: a call that cannot fail did. */
static void must(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "stress: seed %llu operation %u (%s): %s: %d\n",
		(unsigned long long) current_seed, current_op, op_name, what, ret);
	abort();
}
#define MUST(call) must(call, #call)

/* ---- kernels ---- */

enum kind { SET, AFFINE, COMBINE, ADD, ADD2, CHECK, SCRATCH, TWO, ALL_ADD, ALL_SET, ALL_CHECK };

struct arg {
	enum kind kind;
	uint32_t a, b;
	unsigned datum, op;
	uint64_t seed;
	uint32_t want[CELLS];
	unsigned ncells, at[CELLS]; /* ALL_CHECK: words of the piece and what they are */
};

static unsigned position(unsigned n, unsigned cell)
{
	return (unsigned) ((uint64_t) (n - 1) * cell / (CELLS - 1));
}

static uint32_t *words(void *buffer)
{
	return (uint32_t *) STARPU_VECTOR_GET_PTR(buffer);
}
static uint32_t *cell_of(void *buffer, unsigned cell)
{
	return words(buffer) + position(STARPU_VECTOR_GET_NX(buffer), cell);
}

/* A cell on a memory node that may have no pointers: reads it to *x, or writes it. */
static void move_cell(void *buffer, unsigned node, unsigned cell, uint32_t *x, int write)
{
	uintptr_t handle = STARPU_VECTOR_GET_DEV_HANDLE(buffer);
	size_t at = STARPU_VECTOR_GET_OFFSET(buffer) +
		    position(STARPU_VECTOR_GET_NX(buffer), cell) * sizeof(*x);

	if (starpu_node_get_kind(node) != STARPU_OPENCL_RAM && write)
		*cell_of(buffer, cell) = *x;
	else if (starpu_node_get_kind(node) != STARPU_OPENCL_RAM)
		*x = *cell_of(buffer, cell);
	else if (write)
		starpu_interface_copy((uintptr_t) x, 0, STARPU_MAIN_RAM, handle, at, node,
				      sizeof(*x), NULL);
	else
		starpu_interface_copy(handle, at, node, (uintptr_t) x, 0, STARPU_MAIN_RAM,
				      sizeof(*x), NULL);
}

static uint32_t get_cell(void *buffer, unsigned node, unsigned cell)
{
	uint32_t x = 0;

	move_cell(buffer, node, cell, &x, 0);
	return x;
}

static void set_cell(void *buffer, unsigned node, unsigned cell, uint32_t x)
{
	move_cell(buffer, node, cell, &x, 1);
}

static void check_word(const struct arg *g, unsigned cell, uint32_t got)
{
	if (got == g->want[cell])
		return;
	fprintf(stderr, "stress: seed %llu, task of operation %u: ", (unsigned long long) g->seed,
		g->op);
	fail("a task's read", g->datum, cell, got, g->want[cell]);
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
		case COMBINE:
			*x = *x * 3 + *cell_of(buffers[1], c) + *cell_of(buffers[2], c);
			break;
		case ADD2: *cell_of(buffers[1], c) += g->b * (c + 1); /* fall through */
		case ADD: *x += g->a * (c + 1); break;
		case CHECK: check_word(g, c, *x); break;
		case SCRATCH:
			*cell_of(buffers[1], c) = *x;
			*x = *cell_of(buffers[1], c) + g->a;
			break;
		case TWO:
			*x += g->a;
			*cell_of(buffers[1], c) += *x;
			break;
		default: abort();
		}
	}
}

/* On pieces, all of whose words change: which of them are cells of the whole does not show. */
static void piece_kernel(void *buffers[], void *cl_arg)
{
	const struct arg *g = cl_arg;
	uint32_t *v = words(buffers[0]);
	unsigned i, n = STARPU_VECTOR_GET_NX(buffers[0]);

	for (i = 0; i < n && g->kind != ALL_CHECK; i++)
		v[i] = g->kind == ALL_SET ? g->a : v[i] + g->a;
	for (i = 0; i < g->ncells; i++)
		check_word(g, i, v[g->at[i]]);
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

/* The same for devices whose memory has no pointers. */
static void kernel_staged(void *buffers[], void *arg)
{
	staged(kernel, buffers, (unsigned) STARPU_TASK_GET_NBUFFERS(starpu_task_get_current()),
	       arg);
}
STAGED(piece_kernel_staged, piece_kernel, 1)
STAGED(redux_init_staged, redux_init, 1)
STAGED(redux_add_staged, redux_add, 2)

#define BOTH(f) .cpu_funcs = { f }, .cuda_funcs = { f }, .opencl_funcs = { f##_staged }
#define COMMUTE (STARPU_RW | STARPU_COMMUTE)
static struct starpu_codelet cl_w = { BOTH(kernel), .nbuffers = 1, .modes = { STARPU_W },
				      .name = "w" };
static struct starpu_codelet cl_rw = { BOTH(kernel), .nbuffers = 1, .modes = { STARPU_RW },
				       .name = "rw" };
static struct starpu_codelet cl_r = { BOTH(kernel), .nbuffers = 1, .modes = { STARPU_R },
				      .name = "r" };
static struct starpu_codelet cl_commute = { BOTH(kernel), .nbuffers = 1, .modes = { COMMUTE },
					    .name = "commute" };
static struct starpu_codelet cl_commute2 = { BOTH(kernel), .nbuffers = 2,
					     .modes = { COMMUTE, COMMUTE }, .name = "commute2" };
static struct starpu_codelet cl_redux = { BOTH(kernel), .nbuffers = 1, .modes = { STARPU_REDUX },
					  .name = "redux" };
static struct starpu_codelet cl_3 = { BOTH(kernel), .nbuffers = 3,
				      .modes = { STARPU_RW, STARPU_R, STARPU_R }, .name = "three" };
static struct starpu_codelet cl_rw2 = { BOTH(kernel), .nbuffers = 2,
					.modes = { STARPU_RW, STARPU_RW }, .name = "rw2" };
static struct starpu_codelet cl_2 = { BOTH(kernel),
				      .nbuffers = 2,
				      .modes = { STARPU_RW, STARPU_RW },
				      .name = "two",
				      .specific_nodes = 1,
				      .nodes = { STARPU_SPECIFIC_NODE_CPU,
						 STARPU_SPECIFIC_NODE_LOCAL } };
static struct starpu_codelet cl_scratch = { BOTH(kernel), .nbuffers = 2,
					    .modes = { STARPU_RW, STARPU_SCRATCH },
					    .name = "scratch" };
static struct starpu_codelet cl_piece_w = { BOTH(piece_kernel), .nbuffers = 1,
					    .modes = { STARPU_W }, .name = "piece_w" };
static struct starpu_codelet cl_piece_rw = { BOTH(piece_kernel), .nbuffers = 1,
					     .modes = { STARPU_RW }, .name = "piece_rw" };
static struct starpu_codelet cl_piece_r = { BOTH(piece_kernel), .nbuffers = 1,
					    .modes = { STARPU_R }, .name = "piece_r" };
static struct starpu_codelet cl_fence = {
	.where = STARPU_NOWHERE, .nbuffers = 1, .modes = { STARPU_RW }, .name = "fence"
};
static struct starpu_codelet cl_fence2 = {
	.where = STARPU_NOWHERE, .nbuffers = 2, .modes = { STARPU_RW, STARPU_RW }, .name = "fence2"
};
static struct starpu_codelet cl_redux_init = { BOTH(redux_init), .nbuffers = 1,
					       .modes = { STARPU_W }, .name = "init" };
static struct starpu_codelet cl_redux_add = { BOTH(redux_add), .nbuffers = 2,
					      .modes = { COMMUTE, STARPU_R }, .name = "sum" };

/* ---- tasks ---- */

static struct arg *new_arg(enum kind kind, uint32_t a, uint32_t b)
{
	struct arg *g = calloc(1, sizeof(*g));

	*g = (struct arg){ .kind = kind, .a = a, .b = b, .op = current_op, .seed = current_seed };
	return g;
}

static struct starpu_task *new_task(struct starpu_codelet *cl, struct arg *g,
				    starpu_data_handle_t h0, starpu_data_handle_t h1,
				    starpu_data_handle_t h2)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->handles[0] = h0;
	task->handles[1] = h1;
	task->handles[2] = h2;
	task->cl_arg = g;
	task->cl_arg_size = g ? sizeof(*g) : 0;
	task->cl_arg_free = g != NULL;
	task->priority = (int) rnd(3);
	if (cl->where != STARPU_NOWHERE && rnd(2)) {
		task->execute_on_a_specific_worker = 1;
		task->workerid = rnd(starpu_worker_get_count());
	}
	return task;
}

static void submit(struct starpu_codelet *cl, struct arg *g, starpu_data_handle_t h0,
		   starpu_data_handle_t h1, starpu_data_handle_t h2)
{
	MUST(starpu_task_submit(new_task(cl, g, h0, h1, h2)));
}

/* ---- the oracle ---- */

static void check_cells(const struct datum *d, unsigned node, const char *what)
{
	void *iface = starpu_data_get_interface_on_node(d->h, node);
	unsigned c;

	for (c = 0; c < CELLS; c++)
		if (get_cell(iface, node, c) != d->oracle[c])
			fail(what, (unsigned) (d - data), c, get_cell(iface, node, c),
			     d->oracle[c]);
}

static void submit_check(struct datum *d, starpu_data_handle_t h)
{
	struct arg *g = new_arg(CHECK, 0, 0);

	memcpy(g->want, d->oracle, sizeof(g->want));
	g->datum = (unsigned) (d - data);
	submit(&cl_r, g, h, NULL, NULL);
}

static void oracle_add(struct datum *d, uint32_t a)
{
	unsigned c;

	for (c = 0; c < CELLS; c++)
		d->oracle[c] += a * (c + 1);
}

/* Another datum with a value, or NULL. */
static struct datum *other(struct datum *d)
{
	struct datum *o = &data[rnd(ndata)];

	return o != d && o->valid ? o : NULL;
}
#endif
