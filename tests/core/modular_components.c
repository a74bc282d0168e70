/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: env STARPU_WORKERS_NOBIND=1 */
/* orr-test: timeout 120 */
/* The components of modular schedulers: each decision in each kind of tree, and what each decides.
 *
 * Invariant: whatever the tree, each task is executed once, by a worker that can; where the
 * decision says more, it is that worker. */
#include "core_test.h"

#include <starpu_sched_component.h>

#define NCPUS 3
#define NDEVICES 2

/* ---- tasks: on CPUs, on devices, anywhere; short there, long here ---- */

static int ran[3], by[STARPU_NMAXWORKERS], wrong;

static void kernel(void *buffers[], void *arg)
{
	int kind = *(int *) arg, id = starpu_worker_get_id();
	int cpu = starpu_worker_get_type(id) == STARPU_CPU_WORKER;

	(void) buffers;
	INCR(ran[kind]);
	INCR(by[id]);
	if ((kind == 0 && !cpu) || (kind == 1 && cpu))
		INCR(wrong);
}

static double us(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i)
{
	(void) t;
	(void) i;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 1000 * (i + 1) : 100;
}

static struct starpu_perfmodel model = { .type = STARPU_PER_ARCH, .arch_cost_function = us };
static struct starpu_codelet with_model[] = {
	{ .cpu_funcs = { kernel }, .model = &model },
	{ .cuda_funcs = { kernel }, .model = &model },
	{ .cpu_funcs = { kernel }, .cuda_funcs = { kernel }, .model = &model },
};
static struct starpu_codelet without_model[] = {
	{ .cpu_funcs = { kernel } },
	{ .cuda_funcs = { kernel } },
	{ .cpu_funcs = { kernel }, .cuda_funcs = { kernel } },
};
static const int kinds[] = { 0, 1, 2 };

static void submit(struct starpu_codelet *cl, int kind, int prio, uintptr_t sched_data)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &cl[kind];
	task->cl_arg = (void *) &kinds[kind];
	task->cl_arg_size = sizeof(int);
	task->priority = prio;
	task->sched_data = (void *) sched_data;
	OK(starpu_task_submit(task));
}

/* ---- a policy for each tree ---- */

static void (*tree_init)(unsigned ctx);
static starpu_sched_component_create_t create;
static unsigned flags;

static void init(unsigned ctx)
{
	tree_init(ctx);
}

static struct starpu_sched_policy policy = {
	.init_sched = init,
	.deinit_sched = starpu_sched_tree_deinitialize,
	.add_workers = starpu_sched_tree_add_workers,
	.remove_workers = starpu_sched_tree_remove_workers,
	.push_task = starpu_sched_tree_push_task,
	.pop_task = starpu_sched_tree_pop_task,
	.pre_exec_hook = starpu_sched_component_worker_pre_exec_hook,
	.post_exec_hook = starpu_sched_component_worker_post_exec_hook,
	.policy_name = "tree",
};

static void start(void (*make)(unsigned), int ncpus, int ndevices)
{
	struct starpu_conf conf;

	test_devices((unsigned) ndevices);
	OK(starpu_conf_init(&conf));
	conf.ncpus = ncpus;
	conf.ncuda = ndevices;
	conf.nopencl = 0;
	conf.sched_policy = &policy;
	tree_init = make;
	memset(ran, 0, sizeof(ran));
	memset(by, 0, sizeof(by));
	OK(starpu_init(&conf));
	CHECK_IS(starpu_worker_get_count(), ncpus + ndevices);
}

static void simple(unsigned ctx)
{
	starpu_sched_component_initialize_simple_scheduler(create, NULL, flags, ctx);
}

static void run_all(int n)
{
	for (int i = 0; i < n; i++)
		submit(i % 2 ? with_model : without_model, i % 3, i % 5, (uintptr_t) i % 4);
	starpu_task_wait_for_all();
	for (int k = 0; k < 3; k++)
		CHECK_IS(ran[k], n / 3);
	CHECK_IS(wrong, 0);
	starpu_shutdown();
}

#define CREATE(NAME) \
	static struct starpu_sched_component *make_##NAME(struct starpu_sched_tree *t, void *data) \
	{ \
		struct starpu_sched_component *c = starpu_sched_component_##NAME##_create(t, \
											  data); \
\
		CHECK(starpu_sched_component_is_##NAME(c)); \
		return c; \
	}
CREATE(eager)
CREATE(eager_prio)
CREATE(random)
CREATE(eager_calibration)
CREATE(mct)
CREATE(heft)
CREATE(work_stealing)
CREATE(heteroprio)
CREATE(stage)
CREATE(fifo)
CREATE(prio)

static void combinations(void)
{
	static const starpu_sched_component_create_t all[] = {
		make_eager, make_eager_prio, make_random,        make_eager_calibration,
		make_mct,   make_heft,       make_work_stealing, make_heteroprio,
		make_stage, make_fifo,       make_prio,
	};
	static const unsigned with[] = {
		STARPU_SCHED_SIMPLE_DECIDE_WORKERS,
		STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_FIFO_ABOVE |
			STARPU_SCHED_SIMPLE_FIFOS_BELOW | STARPU_SCHED_SIMPLE_FIFOS_BELOW_EXP |
			STARPU_SCHED_SIMPLE_IMPL,
		STARPU_SCHED_SIMPLE_DECIDE_MEMNODES | STARPU_SCHED_SIMPLE_FIFO_ABOVE |
			STARPU_SCHED_SIMPLE_FIFO_ABOVE_PRIO | STARPU_SCHED_SIMPLE_FIFOS_BELOW |
			STARPU_SCHED_SIMPLE_FIFOS_BELOW_READY,
		STARPU_SCHED_SIMPLE_DECIDE_ARCHS | STARPU_SCHED_SIMPLE_WS_BELOW |
			STARPU_SCHED_SIMPLE_PERFMODEL,
		STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_WS_BELOW |
			STARPU_SCHED_SIMPLE_FIFOS_BELOW | STARPU_SCHED_SIMPLE_FIFOS_BELOW_NOLIMIT |
			STARPU_SCHED_SIMPLE_PERFMODEL | STARPU_SCHED_SIMPLE_FIFO_ABOVE,
		STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_PRE_DECISION |
			STARPU_SCHED_SIMPLE_FIFO_ABOVE | STARPU_SCHED_SIMPLE_FIFOS_BELOW |
			STARPU_SCHED_SIMPLE_DECIDE_ALWAYS,
	};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (unsigned k = 0; k < sizeof(with) / sizeof(with[0]); k++) {
			create = all[i];
			flags = with[k];
			start(simple, NCPUS, NDEVICES);
			run_all(30);
		}
}

/* ---- userchoice ---- */

static void choice_init(unsigned ctx)
{
	starpu_sched_component_initialize_simple_scheduler(
		starpu_sched_component_userchoice_create, NULL,
		STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_FIFOS_BELOW, ctx);
	CHECK(starpu_sched_component_is_userchoice(starpu_sched_tree_get(ctx)->root));
}

static void userchoice(void)
{
	start(choice_init, NCPUS, 0);
	for (int i = 0; i < 30; i++)
		submit(with_model, 0, 0, i < 20 ? 2 : 1);
	starpu_task_wait_for_all();
	CHECK(by[0] == 0 && by[1] == 10 && by[2] == 20);
	submit(with_model, 0, 0, 77); /* no such child: any */
	starpu_task_wait_for_all();
	CHECK_IS(ran[0], 31);
	starpu_shutdown();
}

/* ---- several decisions: what the first refuses goes to the second ---- */

static int nseen;

static int only_kind_2(struct starpu_sched_component *c, struct starpu_task *task)
{
	if (task->cl_arg != &kinds[2])
		return 1;
	nseen++;
	return c->children[0]->push_task(c->children[0], task);
}

static struct starpu_sched_component *choosy(struct starpu_sched_tree *t, void *arg)
{
	struct starpu_sched_component *c = starpu_sched_component_create(t, "choosy");

	CHECK(arg == &nseen);
	c->push_task = only_kind_2;
	return c;
}

static void two_init(unsigned ctx)
{
	starpu_sched_component_initialize_simple_schedulers(
		ctx, 2, choosy, &nseen,
		STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_FIFOS_BELOW |
			STARPU_SCHED_SIMPLE_FIFOS_BELOW_NOLIMIT,
		make_eager, NULL,
		STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_FIFO_ABOVE);
	CHECK(starpu_sched_component_is_stage(starpu_sched_tree_get(ctx)->root));
}

static void decisions(void)
{
	start(two_init, NCPUS, NDEVICES);
	for (int i = 0; i < 30; i++)
		submit(with_model, i % 3, 0, 0);
	starpu_task_wait_for_all();
	CHECK(ran[0] == 10 && ran[1] == 10 && ran[2] == 10 && !wrong);
	CHECK_IS(nseen, 10);
	CHECK(by[0] >= 10); /* children[0] of the choosy one is the first worker */
	starpu_shutdown();
}

/* ---- what models know decides the way ---- */

static int npassed[3];

static int pass(struct starpu_sched_component *c, struct starpu_task *task)
{
	++*(int *) c->data;
	return c->children[0]->push_task(c->children[0], task);
}

static void select_init(unsigned ctx)
{
	struct starpu_sched_component_perfmodel_select_data data;
	struct starpu_sched_component **way[] = { &data.calibrator_component,
						  &data.no_perfmodel_component,
						  &data.perfmodel_component };
	struct starpu_sched_tree *t = starpu_sched_tree_create(ctx);

	for (int i = 0; i < 3; i++) {
		*way[i] = starpu_sched_component_create(t, "way");
		(*way[i])->push_task = pass;
		(*way[i])->data = &npassed[i];
		starpu_sched_component_connect(*way[i], starpu_sched_component_worker_new(ctx, 0));
	}
	t->root = starpu_sched_component_perfmodel_select_create(t, &data);
	CHECK(starpu_sched_component_is_perfmodel_select(t->root));
	starpu_sched_tree_update_workers(t);
}

static void selection(void)
{
	static struct starpu_perfmodel empty = { .type = STARPU_HISTORY_BASED,
						 .symbol = "modular_empty" };
	static struct starpu_codelet unknown[] = { { .cpu_funcs = { kernel }, .model = &empty } };

	start(select_init, 1, 0);
	for (int i = 0; i < 6; i++)
		submit(i < 3 ? with_model : i < 5 ? without_model : unknown, 0, 0, 0);
	starpu_task_wait_for_all();
	CHECK(npassed[0] == 1 && npassed[1] == 2 && npassed[2] == 3);
	starpu_shutdown();
}

/* ---- implementations ---- */

static int impl_ran[2];

static void slow(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	INCR(impl_ran[0]);
}
static void fast(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	INCR(impl_ran[1]);
}
static double second_is_faster(struct starpu_task *t, struct starpu_perfmodel_arch *arch,
			       unsigned i)
{
	(void) t;
	(void) arch;
	return i ? 10 : 1000;
}

static void implementations(void)
{
	static struct starpu_perfmodel m = { .type = STARPU_PER_ARCH,
					     .arch_cost_function = second_is_faster };
	static struct starpu_codelet cl[] = { { .cpu_funcs = { slow, fast }, .model = &m } };

	for (int with = 0; with < 2; with++) {
		create = make_eager;
		flags = STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_FIFO_ABOVE |
			(with ? STARPU_SCHED_SIMPLE_IMPL : 0);
		start(simple, 2, 0);
		impl_ran[0] = impl_ran[1] = 0;
		for (int i = 0; i < 10; i++)
			submit(cl, 0, 0, 0);
		starpu_task_wait_for_all();
		CHECK_IS(impl_ran[with], 10);
		starpu_shutdown();
	}
}

/* ---- composition, the shape of the machine, estimates ---- */

static struct starpu_sched_component_composed_recipe *above_worker(enum starpu_worker_archtype arch)
{
	return arch == STARPU_CPU_WORKER
		       ? starpu_sched_component_composed_recipe_create_singleton(make_fifo, NULL)
		       : NULL;
}

static void machine_init(unsigned ctx)
{
	struct starpu_sched_component_specs s = {
		.hwloc_machine_composed_sched_component =
			starpu_sched_component_composed_recipe_create(),
		.hwloc_component_composed_sched_component =
			starpu_sched_component_composed_recipe_create_singleton(make_eager, NULL),
		.worker_composed_sched_component = above_worker,
		.mix_heterogeneous_workers = flags != 0,
	};
	struct starpu_sched_tree *t;

	starpu_sched_component_composed_recipe_add(s.hwloc_machine_composed_sched_component,
						   make_prio, NULL);
	starpu_sched_component_composed_recipe_add(s.hwloc_machine_composed_sched_component,
						   make_mct, NULL);
	t = starpu_sched_component_make_scheduler(ctx, s);
	CHECK_IS(t->root->nchildren, flags ? 1 : 1 + NDEVICES);
	CHECK_IS(starpu_bitmap_cardinal(&t->root->workers), NCPUS + NDEVICES);
	CHECK(!STARPU_SCHED_COMPONENT_IS_HOMOGENEOUS(t->root));
	CHECK(!STARPU_SCHED_COMPONENT_IS_SINGLE_MEMORY_NODE(t->root));
	starpu_sched_component_composed_recipe_destroy(s.hwloc_machine_composed_sched_component);
	starpu_sched_component_composed_recipe_destroy(s.hwloc_component_composed_sched_component);
}

static void machine(void)
{
	for (flags = 0; flags < 2; flags++) {
		start(machine_init, NCPUS, NDEVICES);
		run_all(30);
	}
}

/* A time that is so many microseconds after the moment of the call. */
#define CHECK_ENDS_IN(call, us) \
	do { \
		double before_ = starpu_timing_now(), end_ = (call); \
\
		CHECK(end_ >= before_ + (us) -1 && end_ <= starpu_timing_now() + (us) + 1, \
		      "it ends in %g us", end_ - before_); \
	} while (0)

static void estimates(void)
{
	struct starpu_sched_component *root, *below;
	struct starpu_task *task;
	double length;

	create = make_mct;
	flags = STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_FIFOS_BELOW |
		STARPU_SCHED_SIMPLE_FIFOS_BELOW_NOLIMIT | STARPU_SCHED_SIMPLE_FIFOS_BELOW_EXP;
	start(simple, 2, 0);
	root = starpu_sched_tree_get(0)->root;
	CHECK_IS(root->nchildren, 2);
	CHECK(STARPU_SCHED_COMPONENT_IS_HOMOGENEOUS(root));
	starpu_pause();
	for (int i = 0; i < 5; i++)
		submit(with_model, 0, 0, 0);
	/* Five of 1 ms on two workers. */
	below = root->children[0];
	CHECK_ENDS_IN(below->estimated_end(below), 3000);
	CHECK_ENDS_IN(starpu_sched_component_estimated_end_min(root), 2000);
	CHECK_ENDS_IN(starpu_sched_component_estimated_end_min_add(root, 500), 2250);
	CHECK_ENDS_IN(starpu_sched_component_estimated_end_average(root), 2500);
	CHECK_NEAR(starpu_sched_component_estimated_load(root), 5, 1e-6);
	task = starpu_task_create();
	task->cl = &with_model[0];
	task->cl_arg = (void *) &kinds[0];
	task->cl_arg_size = sizeof(int);
	OK(starpu_task_submit(task)); /* the model wants a task that the runtime knows */
	CHECK(starpu_sched_component_execute_preds(root, task, &length));
	CHECK_NEAR(length, 1000, 1e-6);
	CHECK_NEAR(starpu_sched_component_transfer_length(root, task), 0, 1);
	starpu_resume();
	starpu_task_wait_for_all();
	CHECK_IS(by[0], 3);
	CHECK_IS(by[1], 3);
	starpu_shutdown();
}

/* ---- a queue's limits ---- */

static void limited_init(unsigned ctx)
{
	struct starpu_sched_component_fifo_data two = { .ntasks_threshold = 2, .exp = 1 };
	struct starpu_sched_tree *t = starpu_sched_tree_create(ctx);

	t->root = starpu_sched_component_fifo_create(t, &two);
	starpu_sched_component_connect(t->root, starpu_sched_component_worker_new(ctx, 0));
	starpu_sched_tree_update_workers(t);
}

/* What a queue that is the root refuses would be lost, so there is one without limits above it. */
static void limits(void)
{
	struct starpu_sched_component *root;

	start(limited_init, 1, 0);
	root = starpu_sched_tree_get(0)->root;
	starpu_pause();
	for (int i = 0; i < 10; i++)
		submit(with_model, 0, 0, 0);
	CHECK_ENDS_IN(root->estimated_end(root), 2000); /* two of 1 ms */
	starpu_resume();
	starpu_task_wait_for_all();
	CHECK_IS(ran[0], 10);
	starpu_shutdown();
}

/* ---- parallel tasks ---- */

static int sizes[8];

static void parallel_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	INCR(sizes[starpu_combined_worker_get_size()]);
}

static double shared(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i)
{
	(void) t;
	(void) i;
	return 8000.0 / arch->devices[0].ncores;
}

static void parallel(void)
{
	static struct starpu_perfmodel m = { .type = STARPU_PER_ARCH,
					     .arch_cost_function = shared };
	static struct starpu_codelet cl[] = { { .cpu_funcs = { parallel_kernel },
						.type = STARPU_FORKJOIN,
						.max_parallelism = 4,
						.model = &m } };

	create = make_heft;
	flags = STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_COMBINED_WORKERS |
		STARPU_SCHED_SIMPLE_FIFOS_BELOW | STARPU_SCHED_SIMPLE_FIFOS_BELOW_EXP;
	start(simple, 4, 0);
	CHECK(starpu_combined_worker_get_count() > 0);
	submit(cl, 0, 0, 0);
	starpu_task_wait_for_all();
	CHECK_IS(sizes[4], 1); /* four cores are free: it takes them all */
	for (int i = 0; i < 20; i++)
		submit(i % 2 ? cl : with_model, 0, 0, 0);
	starpu_task_wait_for_all();
	CHECK_IS(sizes[1] + sizes[2] + sizes[3] + sizes[4], 11);
	CHECK_IS(ran[0], 10);
	starpu_shutdown();
}

int main(void)
{
	combinations();
	userchoice();
	decisions();
	selection();
	implementations();
	machine();
	estimates();
	limits();
	parallel();
	return 0;
}
