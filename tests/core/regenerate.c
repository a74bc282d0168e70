/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: timeout 120 */
/* Tasks that run many rounds and depend on one another: a table of shapes, of the means that carry
 * the dependencies, of the ways in which the next round begins, and of when predecessors end.
 *
 * Invariant, by the model: a task runs exactly as many rounds as its callback allows; where tasks
 * or tags carry a dependency, the n-th round of the second task begins after the n-th end of the
 * first; where data do, no two rounds overlap. Nobody waits for ever. */
#include "core_test.h"

#include <string.h>

#define N 5
#define ROUNDS 24

enum means { BY_TASK = 1, BY_TAG = 2, BY_DATA = 4, NMEANS = 8 };
enum way { REGENERATE, BY_CALLBACK, NWAYS };

/* Bit i of row j: task j depends on task i. */
static const struct shape {
	const char *name;
	unsigned n, row[N];
} shapes[] = {
	{ "alone", 1, { 0 } },
	{ "pair", 2, { 0, 1 } },
	{ "chain", 5, { 0, 1, 2, 4, 8 } },
	{ "fork", 4, { 0, 1, 1, 1 } },
	{ "join", 4, { 0, 0, 0, 7 } },
	{ "diamond", 4, { 0, 1, 1, 6 } },
	{ "full", 5, { 0, 1, 3, 7, 15 } },
};

static struct node {
	struct starpu_task task;
	int runs, ends, limit;
	unsigned deps;
} node[N];

static unsigned means;
static enum way way;
static int inside, over, nnodes; /* kernels that hold the datum; tasks whose last round is over */

static void check_round(struct node *me)
{
	int n = INCR(me->runs);

	CHECK(n <= me->limit, "round %d of %d", n, me->limit);
	for (unsigned i = 0; i < N && (means & (BY_TASK | BY_TAG)); i++)
		if (me->deps >> i & 1)
			CHECK(LOAD(node[i].ends) >= n, "round %d of task %d, %d ends of task %u", n,
			      (int) (me - node), LOAD(node[i].ends), i);
}

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	if (means & BY_DATA)
		CHECK_IS(INCR(inside), 1);
	check_round(arg);
	if (means & BY_DATA)
		__atomic_sub_fetch(&inside, 1, __ATOMIC_ACQ_REL);
}

/* Tasks that the end of a round releases are counted before that end is seen by others: an epilogue
 * runs before the successors are released. */
static void epilogue(void *arg)
{
	struct node *me = arg;

	INCR(me->ends);
}

static void callback(void *arg)
{
	struct node *me = arg;

	if (LOAD(me->ends) == me->limit) {
		me->task.regenerate = 0;
		if (INCR(over) == nnodes)
			return;
	} else if (way == BY_CALLBACK) {
		CHECK_IS(starpu_task_submit(&me->task), 0);
	}
}

static struct starpu_codelet plain_cl = { .cpu_funcs = { kernel }, .name = "plain" }, data_cl = {
	.cpu_funcs = { kernel }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "data"
};

static void prepare(const struct shape *s, int longer, starpu_data_handle_t h)
{
	for (unsigned j = 0; j < s->n; j++) {
		struct starpu_task *task = &node[j].task;

		node[j].runs = node[j].ends = 0;
		node[j].limit = ROUNDS + longer * (int) (s->n - j);
		node[j].deps = s->row[j];
		starpu_task_init(task);
		task->cl = means & BY_DATA ? &data_cl : &plain_cl;
		task->handles[0] = h;
		task->cl_arg = task->epilogue_callback_arg = task->callback_arg = &node[j];
		task->epilogue_callback_func = epilogue;
		task->callback_func = callback;
		task->regenerate = way == REGENERATE;
		task->use_tag = means & BY_TAG ? 1 : 0;
		task->tag_id = j;
		for (unsigned i = 0; i < j; i++) {
			struct starpu_task *dep = &node[i].task;

			if (!(s->row[j] >> i & 1))
				continue;
			if (means & BY_TASK)
				starpu_task_declare_deps_array(task, 1, &dep);
			if (means & BY_TAG)
				starpu_tag_declare_deps(j, 1, (starpu_tag_t) i);
		}
	}
}

/* backwards: the last task is submitted first. */
static void run(const struct shape *s, int longer, int backwards)
{
	int x = 0;
	starpu_data_handle_t h = core_register(&x);

	nnodes = (int) s->n;
	STORE(over, 0);
	prepare(s, longer, h);
	for (unsigned j = 0; j < s->n; j++)
		CHECK_IS(starpu_task_submit(&node[backwards ? s->n - 1 - j : j].task), 0);
	while (LOAD(over) < nnodes)
		starpu_sleep(1e-4f);
	CHECK_IS(starpu_task_wait_for_all(), 0);
	for (unsigned j = 0; j < s->n; j++) {
		CHECK_IS(node[j].runs, node[j].limit);
		starpu_task_clean(&node[j].task);
	}
	starpu_tag_clear();
	starpu_data_unregister(h);
}

int main(void)
{
	core_start(3, NULL);
	for (unsigned k = 0; k < sizeof(shapes) / sizeof(*shapes); k++)
		for (means = 0; means < NMEANS; means++)
			for (int i = 0; i < 8; i++) {
				way = i & 1 ? BY_CALLBACK : REGENERATE;
				/* Tags count no firings ahead for tasks that do not regenerate;
				 * data are for the task that was submitted first. */
				if (way == BY_CALLBACK && (means & ~(unsigned) BY_TASK))
					continue;
				if (i >> 2 && means & BY_DATA)
					continue;
				printf("%s, means %u, way %d, case %d\n", shapes[k].name, means,
				       (int) way, i);
				fflush(stdout);
				run(&shapes[k], i >> 1 & 1, i >> 2 & 1);
			}
	starpu_shutdown();
	return 0;
}
