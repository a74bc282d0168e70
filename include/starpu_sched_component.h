/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Modular schedulers: a policy that is put together from components.
 *
 * Components form a tree: the root gets ready tasks, the leaves are workers. A task goes down by
 * push_task() of one component after the other, which a child may refuse; or an idle worker asks
 * for one by pull_task() of its parents, which ask theirs. Queues stand between those who push and
 * those who pull. A queue that has room again says so to its parents by can_push(), so that they
 * push what they kept; one that has a new task says so to its children by can_pull(), so that
 * workers wake and pull.
 *
 * A program makes components of its own by starpu_sched_component_create(), replaces functions of
 * them, and connects them with others in init_sched of a policy; the simple schedulers below do the
 * connecting. The policy's other functions are starpu_sched_tree_*() and
 * starpu_sched_component_worker_*_hook().
 *
 * Invariant: a task stands in at most one component. A tree does not change between
 * starpu_sched_tree_update_workers() and starpu_sched_tree_destroy(), but for the workers that join
 * and leave. Any thread may call push_task and can_push, several at a time; a component of the
 * program protects what it keeps by a mutex, and holds none while it calls another component.
 */
#ifndef STARPU_SCHED_COMPONENT_H
#define STARPU_SCHED_COMPONENT_H

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct starpu_sched_tree;

/* The property that the workers below a component share. */
enum starpu_sched_component_properties {
	STARPU_SCHED_COMPONENT_HOMOGENEOUS = 1 << 0,       /* they are the same to models */
	STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE = 1 << 1 /* they use one memory node */
};
#define STARPU_SCHED_COMPONENT_IS_HOMOGENEOUS(component) \
	((component)->properties & STARPU_SCHED_COMPONENT_HOMOGENEOUS)
#define STARPU_SCHED_COMPONENT_IS_SINGLE_MEMORY_NODE(component) \
	((component)->properties & STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE)

/* A component. starpu_sched_component_create() fills all functions in, so that one that is left
 * alone passes everything on. The component owns what it points to, but for `data`, which
 * deinit_data() frees. */
struct starpu_sched_component {
	struct starpu_sched_tree *tree;
	struct starpu_bitmap workers;        /* below it; combined workers count as one */
	struct starpu_bitmap workers_in_ctx; /* those of them that are in the context now */
	void *data;                          /* of the one who made it */
	char *name;
	unsigned nchildren;
	struct starpu_sched_component **children;
	unsigned nparents;
	struct starpu_sched_component **parents;

	void (*add_child)(struct starpu_sched_component *component,
			  struct starpu_sched_component *child);
	void (*remove_child)(struct starpu_sched_component *component,
			     struct starpu_sched_component *child);
	void (*add_parent)(struct starpu_sched_component *component,
			   struct starpu_sched_component *parent);
	void (*remove_parent)(struct starpu_sched_component *component,
			      struct starpu_sched_component *parent);

	/* Takes the task: 0. Refuses it, so that the caller keeps it: another value. The default
	 * gives it to the first child that takes it. */
	int (*push_task)(struct starpu_sched_component *component, struct starpu_task *task);
	/* A task of `from` for its child `to`, or NULL. The default asks the parents. */
	struct starpu_task *(*pull_task)(struct starpu_sched_component *from,
					 struct starpu_sched_component *to);
	/* The child `to` has room: pushes what `from` has. Non-zero when something was pushed. The
	 * default tells the parents. */
	int (*can_push)(struct starpu_sched_component *from, struct starpu_sched_component *to);
	/* There is something to pull. Non-zero when a worker was woken. The default tells the
	 * children, see starpu_sched_component_can_pull(). */
	int (*can_pull)(struct starpu_sched_component *component);
	/* The program called starpu_do_schedule(). The default tells the children. */
	void (*do_schedule)(struct starpu_sched_component *component);
	/* Messages between components of the program, with positive numbers. The default returns 0.
	 */
	int (*notify)(struct starpu_sched_component *component, int message_ID, void *arg);
	/* Tasks that wait in and below the component, over the speed of its workers, in units of a
	 * core. */
	double (*estimated_load)(struct starpu_sched_component *component);
	/* The time at which the first of its workers is expected to be done with what is in and
	 * below the component, in µs of starpu_timing_now(). */
	double (*estimated_end)(struct starpu_sched_component *component);
	/* Frees `data`. */
	void (*deinit_data)(struct starpu_sched_component *component);
	/* `workers` or `workers_in_ctx` changed. */
	void (*notify_change_workers)(struct starpu_sched_component *component);
	int properties; /* of enum starpu_sched_component_properties */
	void *obj;      /* the program's: a part of the machine (hwloc_obj_t) */
};

/* The components of one context. */
struct starpu_sched_tree {
	struct starpu_sched_component *root; /* set by the one who makes the tree */
	struct starpu_bitmap workers;        /* in the context */
	unsigned sched_ctx_id;
	starpu_pthread_mutex_t lock; /* for components of the program; the runtime does not use it
				      */
	/* The runtime's. */
	struct starpu_sched_component *overflow; /* keeps what the root refuses */
	struct starpu_sched_component *worker[STARPU_NMAXWORKERS];
};

/* --- Trees --------------------------------------------------------------------------- */

/* An empty tree, for a context whose policy starts; the context has one at a time. The caller sets
 * `root`, connects the rest, and calls update_workers. NULL after a message. */
struct starpu_sched_tree *starpu_sched_tree_create(unsigned sched_ctx_id);
/* Free a tree with all components that are connected with its root: in deinit_sched. */
void starpu_sched_tree_destroy(struct starpu_sched_tree *tree);
void starpu_sched_tree_deinitialize(unsigned sched_ctx_id);
/* The tree of a context, NULL when there is none. */
struct starpu_sched_tree *starpu_sched_tree_get(unsigned sched_ctx_id);
/* Compute which workers are below each component, once all are connected; and which of them are in
 * the context, after tree->workers changed. */
void starpu_sched_tree_update_workers(struct starpu_sched_tree *t);
void starpu_sched_tree_update_workers_in_ctx(struct starpu_sched_tree *t);

/* Functions of a policy, see struct starpu_sched_policy. The first returns -ENODEV when no worker
 * of the context can execute the task. */
int starpu_sched_tree_push_task(struct starpu_task *task);
struct starpu_task *starpu_sched_tree_pop_task(unsigned sched_ctx);
void starpu_sched_tree_add_workers(unsigned sched_ctx_id, int *workerids, unsigned nworkers);
void starpu_sched_tree_remove_workers(unsigned sched_ctx_id, int *workerids, unsigned nworkers);
void starpu_sched_tree_do_schedule(unsigned sched_ctx_id);
/* push_task of a policy whose workers stand below a work-stealing component: as the above, but a
 * worker that makes a task ready queues it for itself. */
int starpu_sched_tree_work_stealing_push_task(struct starpu_task *task);
/* Hooks of a policy: by them the components of workers know what is under way. Without them
 * estimates know only what is queued. */
void starpu_sched_component_worker_pre_exec_hook(struct starpu_task *task, unsigned sched_ctx_id);
void starpu_sched_component_worker_post_exec_hook(struct starpu_task *task, unsigned sched_ctx_id);

/* --- Components ---------------------------------------------------------------------- */

typedef struct starpu_sched_component *(*starpu_sched_component_create_t)(
	struct starpu_sched_tree *tree, void *data);

/* A component that passes everything on. The name is copied. */
struct starpu_sched_component *starpu_sched_component_create(struct starpu_sched_tree *tree,
							     const char *name);
/* Free a component after taking it out of the lists of its neighbours; _rec: and all below it that
 * have no other parent. */
void starpu_sched_component_destroy(struct starpu_sched_component *component);
void starpu_sched_component_destroy_rec(struct starpu_sched_component *component);
/* Connect two components; or only let the first know. */
void starpu_sched_component_connect(struct starpu_sched_component *parent,
				    struct starpu_sched_component *child);
void starpu_sched_component_add_child(struct starpu_sched_component *component,
				      struct starpu_sched_component *child);

/* Push a task from one component to another: what push_task of `to` returns. Pull one: what
 * pull_task of `from` returns. From the first parent that has one. */
int starpu_sched_component_push_task(struct starpu_sched_component *from,
				     struct starpu_sched_component *to, struct starpu_task *task);
struct starpu_task *starpu_sched_component_pull_task(struct starpu_sched_component *from,
						     struct starpu_sched_component *to);
struct starpu_task *starpu_sched_component_parents_pull_task(
	struct starpu_sched_component *component, struct starpu_sched_component *to);
/* Pull from the component and push to `to` (_downstream: to its only child) until there is nothing
 * more, NULL, or one is refused, which is returned: the component keeps it. *success tells whether
 * anything was pushed. For can_push of components with a queue. */
struct starpu_task *starpu_sched_component_pump_to(struct starpu_sched_component *component,
						   struct starpu_sched_component *to, int *success);
struct starpu_task *starpu_sched_component_pump_downstream(struct starpu_sched_component *component,
							   int *success);
/* The default actions of can_push and can_pull. can_push tells the parents that the component has
 * room, until one pushes something. can_pull tells the children, until one wakes a worker; all of
 * them where workers differ, as the first to wake might not be able to execute the task. */
int starpu_sched_component_can_push(struct starpu_sched_component *component,
				    struct starpu_sched_component *to);
int starpu_sched_component_send_can_push_to_parents(struct starpu_sched_component *component);
int starpu_sched_component_can_pull(struct starpu_sched_component *component);
/* Tell all children. */
int starpu_sched_component_can_pull_all(struct starpu_sched_component *component);

/* Non-zero when a worker below, in the context, can execute the task. */
int starpu_sched_component_can_execute_task(struct starpu_sched_component *component,
					    struct starpu_task *task);
/* The same; *length becomes the shortest expected time in µs: NAN when the model has no answer for
 * one of the workers, 0 when there is no model. */
int STARPU_WARN_UNUSED_RESULT starpu_sched_component_execute_preds(
	struct starpu_sched_component *component, struct starpu_task *task, double *length);
/* Expected time of the transfers that the task needs below the component, in µs: the mean over its
 * workers. */
double starpu_sched_component_transfer_length(struct starpu_sched_component *component,
					      struct starpu_task *task);
/* Ask for the task's data where the workers below need them, if that is one node. */
void starpu_sched_component_prefetch_on_node(struct starpu_sched_component *component,
					     struct starpu_task *task);
/* Estimates from those of the children: the sum of loads; the earliest end; the same when exp_len
 * µs of work were added, shared by the workers; the mean end. */
double starpu_sched_component_estimated_load(struct starpu_sched_component *component);
double starpu_sched_component_estimated_end_min(struct starpu_sched_component *component);
double starpu_sched_component_estimated_end_min_add(struct starpu_sched_component *component,
						    double exp_len);
double starpu_sched_component_estimated_end_average(struct starpu_sched_component *component);

#define STARPU_COMPONENT_MUTEX_LOCK(m) \
	do { \
		starpu_worker_relax_on(); \
		STARPU_PTHREAD_MUTEX_LOCK(m); \
		starpu_worker_relax_off(); \
	} while (0)
/* 0 when it was taken. */
#define STARPU_COMPONENT_MUTEX_TRYLOCK(m) STARPU_PTHREAD_MUTEX_TRYLOCK(m)
#define STARPU_COMPONENT_MUTEX_UNLOCK(m) STARPU_PTHREAD_MUTEX_UNLOCK(m)

/* --- Workers ------------------------------------------------------------------------- */

/* The component of a worker, or of a combined worker, in the tree of a context; new: makes it when
 * it is missing. NULL after a message. It takes every task that it is pushed. */
struct starpu_sched_component *starpu_sched_component_worker_get(unsigned sched_ctx, int workerid);
struct starpu_sched_component *starpu_sched_component_worker_new(unsigned sched_ctx, int workerid);
/* A component for CPU workers that execute a task together; a combined worker is made when there is
 * none of them. Tasks go to it by push only. NULL after a message. */
struct starpu_sched_component *starpu_sched_component_parallel_worker_create(
	struct starpu_sched_tree *tree, unsigned nworkers, unsigned *workers);
int starpu_sched_component_worker_get_workerid(struct starpu_sched_component *worker_component);
int starpu_sched_component_is_worker(struct starpu_sched_component *component);
int starpu_sched_component_is_simple_worker(struct starpu_sched_component *component);
int starpu_sched_component_is_combined_worker(struct starpu_sched_component *component);

/* --- Queues -------------------------------------------------------------------------- */

/* First come, first served; and most urgent first. A limit of 0 is none. Without data (NULL) there
 * is none, and expected times are counted. */
struct starpu_sched_component_fifo_data {
	unsigned ntasks_threshold; /* tasks that it keeps at most */
	double exp_len_threshold;  /* expected µs of these tasks, at most (one is always taken) */
	int ready; /* of equally urgent tasks one first that misses least data; for queues above one
		      worker */
	int exp;   /* estimated_end counts the expected times of what is queued */
};
struct starpu_sched_component_prio_data {
	unsigned ntasks_threshold;
	double exp_len_threshold;
	int ready;
	int exp;
};

struct starpu_sched_component *starpu_sched_component_fifo_create(
	struct starpu_sched_tree *tree, struct starpu_sched_component_fifo_data *fifo_data);
int starpu_sched_component_is_fifo(struct starpu_sched_component *component);
struct starpu_sched_component *starpu_sched_component_prio_create(
	struct starpu_sched_tree *tree, struct starpu_sched_component_prio_data *prio_data);
int starpu_sched_component_is_prio(struct starpu_sched_component *component);

/* A queue for each child. A worker's tasks go to its own, others in turn; a child whose queue is
 * empty steals from the others'. */
struct starpu_sched_component *starpu_sched_component_work_stealing_create(
	struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_work_stealing(struct starpu_sched_component *component);

/* --- Decisions ----------------------------------------------------------------------- */

/* Give a task to a child that can execute it: one with an idle worker if possible, else the first,
 * in turn, that takes it; eager_prio: keeps what nobody takes, most urgent first; in proportion to
 * the speeds of the workers below, by chance. arg is not used. */
struct starpu_sched_component *starpu_sched_component_eager_create(struct starpu_sched_tree *tree,
								   void *arg);
int starpu_sched_component_is_eager(struct starpu_sched_component *component);
struct starpu_sched_component *starpu_sched_component_eager_prio_create(
	struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_eager_prio(struct starpu_sched_component *component);
struct starpu_sched_component *starpu_sched_component_random_create(struct starpu_sched_tree *tree,
								    void *arg);
int starpu_sched_component_is_random(struct starpu_sched_component *component);
/* Gives a task to a child about which its model knows too little, that with fewest tasks first; to
 * any that takes it when there is none. */
struct starpu_sched_component *starpu_sched_component_eager_calibration_create(
	struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_eager_calibration(struct starpu_sched_component *component);

/* Weights of a cost: expected end + alpha * expected time + beta * transfers + _gamma * joules, to
 * which idle_power (watts) adds what keeping the machine busy for longer costs. Without data (NULL)
 * STARPU_SCHED_ALPHA and its relatives. */
struct starpu_sched_component_mct_data {
	double alpha;
	double beta;
	double _gamma;
	double idle_power;
};
/* The child with the least cost. heft keeps tasks that are refused, most urgent first, and of
 * several equally urgent ones places first the one that would lose most in its second best place.
 */
struct starpu_sched_component *starpu_sched_component_mct_create(
	struct starpu_sched_tree *tree, struct starpu_sched_component_mct_data *mct_data);
int starpu_sched_component_is_mct(struct starpu_sched_component *component);
struct starpu_sched_component *starpu_sched_component_heft_create(
	struct starpu_sched_tree *tree, struct starpu_sched_component_mct_data *mct_data);
int starpu_sched_component_is_heft(struct starpu_sched_component *component);

/* Keeps tasks until a worker pulls; each kind of worker takes first what it does best, as the
 * policy heteroprio. The fields have no effect: tasks are always grouped by codelets, and no
 * weights are needed. */
struct starpu_sched_component_heteroprio_data {
	struct starpu_sched_component_mct_data *mct;
	unsigned batch;
};
struct starpu_sched_component *starpu_sched_component_heteroprio_create(
	struct starpu_sched_tree *tree, struct starpu_sched_component_heteroprio_data *params);
int starpu_sched_component_is_heteroprio(struct starpu_sched_component *component);

/* Chooses the implementation that is expected to be fastest, for tasks on their way to the worker
 * below. */
struct starpu_sched_component *starpu_sched_component_best_implementation_create(
	struct starpu_sched_tree *tree, void *arg);

/* Gives tasks without a model to one component, those whose model knows too little for some worker
 * to another, all others to the third. The three are its children from then on; each is connected
 * with what is below by the caller. */
struct starpu_sched_component_perfmodel_select_data {
	struct starpu_sched_component *calibrator_component;
	struct starpu_sched_component *no_perfmodel_component;
	struct starpu_sched_component *perfmodel_component;
};
struct starpu_sched_component *starpu_sched_component_perfmodel_select_create(
	struct starpu_sched_tree *tree,
	struct starpu_sched_component_perfmodel_select_data *perfmodel_select_data);
int starpu_sched_component_is_perfmodel_select(struct starpu_sched_component *component);

/* The children are asked in the order in which they were connected; the first that takes the task
 * has it. */
struct starpu_sched_component *starpu_sched_component_stage_create(struct starpu_sched_tree *tree,
								   void *arg);
int starpu_sched_component_is_stage(struct starpu_sched_component *component);
/* The program chooses: task->sched_data, as an integer, is the number of the child. A number that
 * no child has, or a child that cannot execute the task, gives a message, and the first child that
 * can gets the task. */
struct starpu_sched_component *starpu_sched_component_userchoice_create(
	struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_userchoice(struct starpu_sched_component *component);

/* --- Composition --------------------------------------------------------------------- */

/* A list of components to make, the upper ones first. The caller frees it after use. */
struct starpu_sched_component_composed_recipe;
struct starpu_sched_component_composed_recipe *starpu_sched_component_composed_recipe_create(void);
struct starpu_sched_component_composed_recipe *
starpu_sched_component_composed_recipe_create_singleton(
	struct starpu_sched_component *(*create_component)(struct starpu_sched_tree *tree,
							   void *arg),
	void *arg);
void starpu_sched_component_composed_recipe_add(
	struct starpu_sched_component_composed_recipe *recipe,
	struct starpu_sched_component *(*create_component)(struct starpu_sched_tree *tree,
							   void *arg),
	void *arg);
void starpu_sched_component_composed_recipe_destroy(
	struct starpu_sched_component_composed_recipe *recipe);
/* Makes the components of a recipe in a row, and one that stands for all of them. */
struct starpu_sched_component *starpu_sched_component_composed_component_create(
	struct starpu_sched_tree *tree, struct starpu_sched_component_composed_recipe *recipe);

/* A tree in the shape of the machine: a recipe for each level, NULL to leave the level out. The
 * workers of a memory node are below its component, those of a device with memory of its own
 * form such a group, too. */
struct starpu_sched_component_specs {
	struct starpu_sched_component_composed_recipe *hwloc_machine_composed_sched_component;
	struct starpu_sched_component_composed_recipe *hwloc_component_composed_sched_component;
	struct starpu_sched_component_composed_recipe *hwloc_socket_composed_sched_component;
	struct starpu_sched_component_composed_recipe *hwloc_cache_composed_sched_component;
	/* The recipe for what stands above a worker of that kind, or NULL; freed after use. */
	struct starpu_sched_component_composed_recipe *(*worker_composed_sched_component)(
		enum starpu_worker_archtype archtype);
	/* Non-zero: devices stand below the memory node of main memory that is nearest, with the
	 * CPU workers; zero: beside. */
	int mix_heterogeneous_workers;
};
struct starpu_sched_tree *starpu_sched_component_make_scheduler(
	unsigned sched_ctx_id, struct starpu_sched_component_specs s);

/* --- Simple schedulers --------------------------------------------------------------- */

/* The alternatives of the decision: workers, memory nodes, kinds of workers. */
#define STARPU_SCHED_SIMPLE_DECIDE_MASK (3 << 0)
#define STARPU_SCHED_SIMPLE_DECIDE_WORKERS (1 << 0)
#define STARPU_SCHED_SIMPLE_DECIDE_MEMNODES (2 << 0)
#define STARPU_SCHED_SIMPLE_DECIDE_ARCHS (3 << 0)
/* The decision is made even when there is one choice only; it always is. */
#define STARPU_SCHED_SIMPLE_DECIDE_ALWAYS (1 << 3)
/* Tasks whose model does not know enough do not get to the decision (perfmodel_select). */
#define STARPU_SCHED_SIMPLE_PERFMODEL (1 << 4)
/* The fastest implementation is chosen above each worker. */
#define STARPU_SCHED_SIMPLE_IMPL (1 << 5)
/* A queue above the decision; by priority. */
#define STARPU_SCHED_SIMPLE_FIFO_ABOVE (1 << 6)
#define STARPU_SCHED_SIMPLE_FIFO_ABOVE_PRIO (1 << 7)
/* A queue below it, for each of its choices: by priority; tasks first whose data are there; without
 * limit (else STARPU_NTASKS_THRESHOLD and STARPU_EXP_LEN_THRESHOLD); expected times count in
 * estimated_end. */
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW (1 << 8)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW_PRIO (1 << 9)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW_READY (1 << 10)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW_NOLIMIT (1 << 13)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW_EXP (1 << 14)
/* The queues below steal from each other. */
#define STARPU_SCHED_SIMPLE_WS_BELOW (1 << 11)
/* Combined workers are choices, too. */
#define STARPU_SCHED_SIMPLE_COMBINED_WORKERS (1 << 12)
/* The queue above stands between the decision and its choices, which share it: the decision sees
 * tasks at once, before they wait. For decisions that only look, or reorder. */
#define STARPU_SCHED_SIMPLE_PRE_DECISION (1 << 15)

/* Makes the tree of a context around a decision, in init_sched. STARPU_SCHED_SORTED_ABOVE,
 * STARPU_SCHED_SORTED_BELOW and STARPU_SCHED_READY override the flags of their meaning. The tree is
 * the policy's data of the context, too. */
void starpu_sched_component_initialize_simple_scheduler(
	starpu_sched_component_create_t create_decision_component, void *data, unsigned flags,
	unsigned sched_ctx_id);
/* The same around several decisions; for each: starpu_sched_component_create_t, void *data,
 * unsigned flags. They stand below a stage component, in this order; each has queues of its own,
 * and all have the same workers. */
void starpu_sched_component_initialize_simple_schedulers(unsigned sched_ctx_id, unsigned ndecisions,
							 ...);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
