/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Codelets and tasks.
 *
 * Invariant: struct starpu_task is laid out by cache lines, what submission and execution of an
 * ordinary task touch comes first; starpu_task_init(), starpu_task_create() and
 * STARPU_TASK_INITIALIZER give the same defaults, but for the destroy flag, which only
 * starpu_task_create() sets. Any thread may submit tasks, also from kernels and callbacks; only
 * those may not wait.
 */
#ifndef STARPU_TASK_H
#define STARPU_TASK_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <starpu_config.h>
#include <starpu_util.h>
#include <starpu_data.h>
#include <starpu_worker.h>
#include <starpu_task_dep.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct starpu_task;
struct starpu_perfmodel;
struct starpu_profiling_task_info;
struct starpu_transaction;
struct starpu_perf_counter_sample_cl_values;

typedef struct _starpu_task_bundle *starpu_task_bundle_t;
typedef struct orr_trs_epoch *starpu_trs_epoch_t;

/* --- Where tasks may execute --------------------------------------------------------- */

/* Bit of a kind of worker in a `where` mask. */
#define STARPU_WORKER_TO_MASK(worker_archtype) (1U << ((worker_archtype) + 1))
/* By itself: the task needs no worker, and completes as soon as its dependencies are met. Beside
 * kinds of workers it has no effect. */
#define STARPU_NOWHERE (1U << 0)
#define STARPU_CPU STARPU_WORKER_TO_MASK(STARPU_CPU_WORKER)
#define STARPU_CUDA STARPU_WORKER_TO_MASK(STARPU_CUDA_WORKER)
#define STARPU_OPENCL STARPU_WORKER_TO_MASK(STARPU_OPENCL_WORKER)
#define STARPU_MPI_MS STARPU_WORKER_TO_MASK(STARPU_MPI_MS_WORKER)
#define STARPU_HIP STARPU_WORKER_TO_MASK(STARPU_HIP_WORKER)

/* --- Codelets ------------------------------------------------------------------------ */

/* The way in which a kernel uses workers. */
enum starpu_codelet_type {
	STARPU_SEQ = 0, /* one worker calls it */
	STARPU_SPMD,    /* each worker of a combined one calls it; they may wait for each other with
			   starpu_pthread_* */
	STARPU_FORKJOIN /* one calls it, bound to the cores of all, and it starts threads there */
};

/* A kernel: the interfaces of the data (struct starpu_vector_interface * ...) in the order of the
 * codelet's modes, and the task's cl_arg. For OpenCL and asynchronous CUDA it submits work and
 * returns. */
typedef void (*starpu_cpu_func_t)(void **, void *);
typedef void (*starpu_cuda_func_t)(void **, void *);
typedef void (*starpu_opencl_func_t)(void **, void *);
typedef void (*starpu_hip_func_t)(void **, void *);
typedef void (*starpu_max_fpga_func_t)(void **, void *);
/* A function of old programs for slaves, which returns the kernel. */
typedef void (*starpu_mpi_ms_kernel_t)(void **, void *);
typedef starpu_mpi_ms_kernel_t (*starpu_mpi_ms_func_t)(void);

/* For the deprecated cpu_func fields: "see cpu_funcs". */
#define STARPU_MULTIPLE_CPU_IMPLEMENTATIONS ((starpu_cpu_func_t) -1)
#define STARPU_MULTIPLE_CUDA_IMPLEMENTATIONS ((starpu_cuda_func_t) -1)
#define STARPU_MULTIPLE_OPENCL_IMPLEMENTATIONS ((starpu_opencl_func_t) -1)

/* codelet.flags: execute the kernel also in a simulated run that skips kernels; _AND_INJECT charges
 * the time that this takes instead of the modelled one. */
#define STARPU_CODELET_SIMGRID_EXECUTE (1 << 0)
#define STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT (1 << 1)
/* codelet.cuda_flags[i] and the like: the kernel only submits work to the worker's stream or queue.
 */
#define STARPU_CUDA_ASYNC (1 << 0)
#define STARPU_HIP_ASYNC (1 << 0)
#define STARPU_OPENCL_ASYNC (1 << 0)

/* codelet.nbuffers: the number of data is that of each task (task.nbuffers). */
#define STARPU_VARIABLE_NBUFFERS (-1)

/* Memory node of main memory. */
#define STARPU_MAIN_RAM 0

/* codelet.nodes[i], where the i-th datum is put for the kernel (handbook 27.11); or the number of a
 * node. */
#define STARPU_SPECIFIC_NODE_LOCAL (-1) /* the worker's node, as usual */
#define STARPU_SPECIFIC_NODE_CPU (-2)   /* main memory that the CPUs reach best */
#define STARPU_SPECIFIC_NODE_SLOW (-3)  /* the large, slow memory near the worker */
#define STARPU_SPECIFIC_NODE_FAST (-4)  /* the small, fast one */
#define STARPU_SPECIFIC_NODE_LOCAL_OR_CPU \
	(-5)                           /* wherever it is valid, of the worker's and main memory */
#define STARPU_SPECIFIC_NODE_NONE (-6) /* nowhere: only dependencies are wanted */

/* Structures depend on STARPU_NMAXBUFS: a program refers to a symbol that only a library with the
 * same number has. An undefined orrery_configured_with_maxbuffers_N means that the program was
 * compiled for another configuration (--enable-maxbuffers=N): compile it again with this one's
 * headers. */
#define ORRERY_MAXBUFFERS_2(n) orrery_configured_with_maxbuffers_##n
#define ORRERY_MAXBUFFERS(n) ORRERY_MAXBUFFERS_2(n)
extern const char ORRERY_MAXBUFFERS(STARPU_NMAXBUFS);
static const char *const orr_maxbuffers __attribute__((used)) = &ORRERY_MAXBUFFERS(STARPU_NMAXBUFS);

/* The work of a family of tasks. Fields that are not needed are 0: use a static object, or
 * starpu_codelet_init(). The program owns the codelet, keeps it until its tasks have completed, and
 * does not change it once a task was submitted. */
struct starpu_codelet {
	uint32_t where; /* mask of kinds; 0: those that have an implementation below */
	/* True if the worker may execute implementation nimpl of the task; NULL: yes. Called by
	 * policies. */
	int (*can_execute)(unsigned workerid, struct starpu_task *task, unsigned nimpl);
	enum starpu_codelet_type type;
	/* Largest combined worker for SPMD and FORKJOIN; 0 means 1 for SEQ, else no limit. */
	int max_parallelism;
	starpu_cpu_func_t cpu_func;       /* deprecated: use the arrays below */
	starpu_cuda_func_t cuda_func;     /* deprecated: use the arrays below */
	starpu_opencl_func_t opencl_func; /* deprecated: use the arrays below */
	/* Implementations by kind, up to the first NULL; all of a kind do the same. */
	starpu_cpu_func_t cpu_funcs[STARPU_MAXIMPLEMENTATIONS];
	starpu_cuda_func_t cuda_funcs[STARPU_MAXIMPLEMENTATIONS];
	char cuda_flags[STARPU_MAXIMPLEMENTATIONS]; /* STARPU_CUDA_ASYNC or 0, for each */
	starpu_hip_func_t hip_funcs[STARPU_MAXIMPLEMENTATIONS];
	char hip_flags[STARPU_MAXIMPLEMENTATIONS];
	starpu_opencl_func_t opencl_funcs[STARPU_MAXIMPLEMENTATIONS];
	char opencl_flags[STARPU_MAXIMPLEMENTATIONS];
	starpu_max_fpga_func_t max_fpga_funcs[STARPU_MAXIMPLEMENTATIONS];
	/* No effect: slaves execute cpu_funcs, by cpu_funcs_name. */
	starpu_mpi_ms_func_t mpi_ms_funcs[STARPU_MAXIMPLEMENTATIONS];
	/* Symbols of cpu_funcs, for execution elsewhere. */
	const char *cpu_funcs_name[STARPU_MAXIMPLEMENTATIONS];
	int nbuffers; /* number of data, or STARPU_VARIABLE_NBUFFERS */
	enum starpu_data_access_mode modes[STARPU_NMAXBUFS]; /* how each is accessed */
	/* Instead of modes when nbuffers > STARPU_NMAXBUFS. */
	enum starpu_data_access_mode *dyn_modes;
	unsigned specific_nodes;        /* non-zero: look at nodes, or dyn_nodes */
	int nodes[STARPU_NMAXBUFS];     /* STARPU_SPECIFIC_NODE_* or a node, for each datum */
	int *dyn_nodes;                 /* instead of nodes when nbuffers > STARPU_NMAXBUFS */
	struct starpu_perfmodel *model; /* execution time; may be NULL */
	struct starpu_perfmodel *energy_model; /* energy; may be NULL */
	/* Tasks executed by each worker; filled by the runtime. */
	unsigned long per_worker_stats[STARPU_NMAXWORKERS];
	const char *name;              /* for traces and messages; may be NULL */
	unsigned color;                /* no effect: traces have no colours */
	void (*callback_func)(void *); /* callback of the tasks that have none */
	int flags;                     /* STARPU_CODELET_* */
	void *perf_counter_sample;     /* not used: counts of codelets are the runtime's */
	struct starpu_perf_counter_sample_cl_values *perf_counter_values; /* likewise */
	int checked; /* private: marks of what the runtime knows of the codelet */
};

/* A codelet of no data and no effect. */
extern struct starpu_codelet starpu_codelet_nop;

/* Mode and node of the i-th datum of a codelet. */
#define STARPU_CODELET_GET_MODE(codelet, i) \
	((codelet)->dyn_modes ? (codelet)->dyn_modes[i] : (codelet)->modes[i])
#define STARPU_CODELET_SET_MODE(codelet, mode, i) \
	do { \
		if ((codelet)->dyn_modes) \
			(codelet)->dyn_modes[i] = (mode); \
		else \
			(codelet)->modes[i] = (mode); \
	} while (0)
#define STARPU_CODELET_GET_NODE(codelet, i) \
	((codelet)->dyn_nodes ? (codelet)->dyn_nodes[i] : (codelet)->nodes[i])
#define STARPU_CODELET_SET_NODE(codelet, __node, i) \
	do { \
		if ((codelet)->dyn_nodes) \
			(codelet)->dyn_nodes[i] = (__node); \
		else \
			(codelet)->nodes[i] = (__node); \
	} while (0)

/* Zero a codelet. */
void starpu_codelet_init(struct starpu_codelet *cl);
/* Print on stderr how many of its tasks each worker has executed (per_worker_stats). After
 * starpu_task_wait_for_all(), before starpu_shutdown(). STARPU_CODELET_PROFILING=0 leaves the
 * counting out. */
void starpu_codelet_display_stats(struct starpu_codelet *cl);

/* --- Tasks --------------------------------------------------------------------------- */

/* State of a task. */
enum starpu_task_status {
	STARPU_TASK_INIT = 0, /* not submitted */
	STARPU_TASK_INVALID = STARPU_TASK_INIT,
	STARPU_TASK_BLOCKED, /* waits for dependencies */
	STARPU_TASK_READY,   /* may be scheduled */
	STARPU_TASK_RUNNING, /* a worker has it */
	STARPU_TASK_FINISHED
};

/* task.type: a task of the program, or one of the runtime. */
#define STARPU_TASK_TYPE_NORMAL 0
#define STARPU_TASK_TYPE_INTERNAL (1 << 0)
#define STARPU_TASK_TYPE_DATA_ACQUIRE (1 << 1)

/* task.magic of an initialised task. */
#define ORRERY_TASK_MAGIC 0x0a5c

/* A datum and how it is accessed, for lists. */
struct starpu_data_descr {
	starpu_data_handle_t handle;
	enum starpu_data_access_mode mode;
};

/* One piece of work. The program sets fields between initialisation and submission. After that it
 * only reads them, of a task that it has not destroyed and that is not freed by itself (destroy).
 * The runtime sets the fields marked "out"; those marked "private" are not for programs. Kernels
 * and callbacks, prologues included, run inside the task: there, functions that wait are refused
 * with -EDEADLK. */
struct starpu_task {
	/* First line: identity, flags, argument, callback. */
	struct starpu_codelet *cl; /* what to do; NULL: nothing, only dependencies */
	void *starpu_private;      /* private */
	int nbuffers; /* number of data, when the codelet says STARPU_VARIABLE_NBUFFERS */
	unsigned cl_arg_free : 1;       /* free(cl_arg) with the task */
	unsigned cl_ret_free : 1;       /* free(cl_ret) with the task */
	unsigned callback_arg_free : 1; /* likewise the arguments of callbacks */
	unsigned epilogue_callback_arg_free : 1;
	unsigned prologue_callback_arg_free : 1;
	unsigned prologue_callback_pop_arg_free : 1;
	unsigned use_tag : 1;                /* tag_id is the task's tag */
	unsigned sequential_consistency : 1; /* infer dependencies from data; default 1 */
	unsigned synchronous : 1;            /* submission returns when the task has completed */
	unsigned execute_on_a_specific_worker : 1; /* only workerid may execute it */
	unsigned detach : 1;                       /* nobody will wait for this task; default 1 */
	/* Free the task when it has completed (and was waited for, if not detached); default 1
	 * after starpu_task_create(), else 0. */
	unsigned destroy : 1;
	unsigned regenerate : 1;     /* submit again as soon as it completes, until cleared */
	unsigned no_submitorder : 1; /* leave it out of the numbering of submissions */
	unsigned mf_skip : 1;        /* private: needs no conversion of multiformat data */
	unsigned scheduled : 1;      /* for the policy */
	unsigned prefetched : 1;     /* out: its data were asked for early */
	unsigned char failed;        /* starpu_task_ft_failed() was called for it */
	int priority; /* larger goes first, see STARPU_MIN_PRIO; default STARPU_DEFAULT_PRIO */
	/* In, with execute_on_a_specific_worker: the worker. Out: the one that executes it.
	 * (unsigned) -1: unset. */
	unsigned workerid;
	void *cl_arg;       /* argument of the kernel, must stay valid until completion */
	size_t cl_arg_size; /* its bytes; needed when it must travel to another process */
	/* Called after the completion, when successors are released. */
	void (*callback_func)(void *);
	void *callback_arg;

	/* Second line: the data. handles[] unless there are more than STARPU_NMAXBUFS. */
	starpu_data_handle_t handles[STARPU_NMAXBUFS];

	/* Third line: how they are accessed, and where. */
	/* With STARPU_VARIABLE_NBUFFERS only. */
	enum starpu_data_access_mode modes[STARPU_NMAXBUFS];
	starpu_tag_t tag_id; /* with use_tag, or any number for traces */
	int32_t where; /* mask of kinds, restricting the codelet's; -1 (default): the codelet's */
	/* Scheduling context; STARPU_NMAX_SCHED_CTXS (default): the thread's current one. */
	unsigned sched_ctx;
	starpu_data_handle_t *dyn_handles; /* malloc()ed by the program, freed with the task */
	enum starpu_data_access_mode *dyn_modes; /* likewise */

	/* Fourth line: what kernels get; then links of lists. */
	void *interfaces[STARPU_NMAXBUFS]; /* out: the interfaces on the worker's memory node */
	void **dyn_interfaces;             /* out */
	struct starpu_task *prev;          /* for the list that holds the task */
	struct starpu_task *next;

	/* Seldom used from here on. */
	const char *name; /* for traces and messages; NULL: the codelet's */
	const char *file; /* where it was submitted, for traces; may be NULL */
	int line;
	unsigned color; /* no effect: traces have no colours */
	/* One flag per datum, used instead of a handle's own; may be NULL; must stay valid until
	 * submission returns. */
	unsigned char *handles_sequential_consistency;
	void *cl_ret; /* a result of the kernel, for the program */
	size_t cl_ret_size;
	/* Called after the kernel, before successors are released. */
	void (*epilogue_callback_func)(void *);
	void *epilogue_callback_arg;
	/* Called when the task becomes ready, before it is scheduled, by any thread. */
	void (*prologue_callback_func)(void *);
	void *prologue_callback_arg;
	/* Called by the worker just before the kernel. */
	void (*prologue_callback_pop_func)(void *);
	void *prologue_callback_pop_arg;
	/* The transaction whose open epoch the task belongs to; NULL: none. */
	struct starpu_transaction *transaction;
	starpu_trs_epoch_t trs_epoch; /* private */
	/* With execute_on_a_specific_worker: its rank there, from 1; 0: none. */
	unsigned workerorder;
	unsigned workerids_len;     /* number of words of workerids */
	uint32_t *workerids;        /* bit mask of the workers that may execute it; NULL: all */
	unsigned possibly_parallel; /* may be executed in parallel by the workers of a context */
	int magic;                  /* ORRERY_TASK_MAGIC, set by initialisation */
	unsigned type;              /* STARPU_TASK_TYPE_* */
	enum starpu_task_status status; /* out */
	/* Out, when profiling was on at submission; freed with the task. */
	struct starpu_profiling_task_info *profiling_info;
	double flops;                /* operations, for statistics and models; 0: unknown */
	double predicted;            /* out: expected execution time in µs; NAN: unknown */
	double predicted_transfer;   /* out: expected time of transfers in µs; NAN: unknown */
	double predicted_start;      /* out: expected start in µs; NAN: unknown */
	starpu_task_bundle_t bundle; /* the bundle it belongs to, or NULL */
	/* Calls of starpu_task_end_dep_release() that completion waits for. */
	int nb_termination_call_required;
	int hypervisor_tag; /* for the program: there is no hypervisor, and nothing reads it */
	void *sched_data;   /* for the policy */
};

/* Same as starpu_task_init(), for `struct starpu_task t = STARPU_TASK_INITIALIZER;`. */
#ifdef __cplusplus
#define STARPU_TASK_INITIALIZER (orr_task_initial())
#else
#define STARPU_TASK_INITIALIZER \
	{ \
		.sequential_consistency = 1, .detach = 1, .workerid = (unsigned) -1, .where = -1, \
		.sched_ctx = STARPU_NMAX_SCHED_CTXS, .magic = ORRERY_TASK_MAGIC, .predicted = NAN, \
		.predicted_transfer = NAN, .predicted_start = NAN, \
	}
#endif

/* --- The data of a task -------------------------------------------------------------- */

/* Number of data; the i-th handle, all of them; how the i-th is accessed. The task has a codelet.
 */
#define STARPU_TASK_GET_NBUFFERS(task) \
	((unsigned) ((task)->cl->nbuffers == STARPU_VARIABLE_NBUFFERS ? (task)->nbuffers \
								      : (task)->cl->nbuffers))
#define STARPU_TASK_GET_HANDLES(task) ((task)->dyn_handles ? (task)->dyn_handles : (task)->handles)
#define STARPU_TASK_GET_HANDLE(task, i) (STARPU_TASK_GET_HANDLES(task)[i])
#define STARPU_TASK_SET_HANDLE(task, handle, i) \
	do { \
		if ((task)->dyn_handles) \
			(task)->dyn_handles[i] = (handle); \
		else \
			(task)->handles[i] = (handle); \
	} while (0)
#define STARPU_TASK_GET_MODE(task, i) \
	((task)->dyn_modes ? (task)->dyn_modes[i] \
	 : (task)->cl->nbuffers == STARPU_VARIABLE_NBUFFERS \
		 ? (task)->modes[i] \
		 : STARPU_CODELET_GET_MODE((task)->cl, i))
#define STARPU_TASK_SET_MODE(task, mode, i) \
	do { \
		if ((task)->dyn_modes) \
			(task)->dyn_modes[i] = (mode); \
		else if ((task)->cl->nbuffers == STARPU_VARIABLE_NBUFFERS) \
			(task)->modes[i] = (mode); \
		else \
			STARPU_CODELET_SET_MODE((task)->cl, mode, i); \
	} while (0)

/* --- Life of a task ------------------------------------------------------------------ */

/* Set the defaults. For tasks whose memory the program owns: clean them when they have completed.
 */
void starpu_task_init(struct starpu_task *task);
/* Free the memory that the runtime attached to a completed task; its fields may then be used for
 * another submission. */
void starpu_task_clean(struct starpu_task *task);
/* A new task with the defaults and the destroy flag; it is freed after completion, or by
 * starpu_task_destroy() when that flag was cleared or the task was never submitted. */
struct starpu_task *starpu_task_create(void) STARPU_ATTRIBUTE_MALLOC;
/* A new task that only waits for access to the datum, in that mode; not yet submitted. */
struct starpu_task *starpu_task_create_sync(starpu_data_handle_t handle,
					    enum starpu_data_access_mode mode);
void starpu_task_destroy(struct starpu_task *task);
/* Set the destroy flag of a submitted task: it is freed now or when it completes. */
void starpu_task_set_destroy(struct starpu_task *task);
/* A new task with the same fields, not submitted, owning nothing of the first. */
struct starpu_task *starpu_task_dup(struct starpu_task *task);

/* Submit a task. Returns 0; -ENODEV when no worker can execute it, or without starpu_init();
 * -EINVAL for a task that makes no sense, after a message that names the field; -EDEADLK for a
 * synchronous task in a kernel or callback. After an error the task is still the program's. Waits
 * only if the task is synchronous, or if a limit of submitted tasks is reached. Any thread. A task
 * that ended, and was not destroyed, may be submitted again; its own callback may do so as well:
 * the next round begins when the callback is over. */
int starpu_task_submit(struct starpu_task *task) STARPU_WARN_UNUSED_RESULT;
/* Same, with the source position for traces; without regard to explicit dependencies and tags; in a
 * context. */
int starpu_task_submit_line(struct starpu_task *task, const char *file,
			    int line) STARPU_WARN_UNUSED_RESULT;
int starpu_task_submit_nodeps(struct starpu_task *task) STARPU_WARN_UNUSED_RESULT;
int starpu_task_submit_to_ctx(struct starpu_task *task, unsigned sched_ctx_id);

/* --- Waiting (never in kernels and callbacks) ---------------------------------------- */

/* True if a task that is not detached has completed. */
int starpu_task_finished(struct starpu_task *task) STARPU_WARN_UNUSED_RESULT;
/* Wait for one task, or each of nb_tasks, that is not detached; with the destroy flag it is freed.
 * 0, or -EINVAL for a detached or synchronous one. */
int starpu_task_wait(struct starpu_task *task) STARPU_WARN_UNUSED_RESULT;
int starpu_task_wait_array(struct starpu_task **tasks, unsigned nb_tasks) STARPU_WARN_UNUSED_RESULT;
/* Wait until everything submitted (in the thread's current context, if it set one) has completed.
 * 0. */
int starpu_task_wait_for_all(void);
int starpu_task_wait_for_all_in_ctx(unsigned sched_ctx_id);
/* Wait until at most n submitted tasks have not completed. 0. */
int starpu_task_wait_for_n_submitted(unsigned n);
int starpu_task_wait_for_n_submitted_in_ctx(unsigned sched_ctx_id, unsigned n);
/* Wait until no task is ready or running: those that are left wait for something else. 0. */
int starpu_task_wait_for_no_ready(void);

/* Number of tasks that are ready or running; that were submitted and have not completed. */
int starpu_task_nready(void);
int starpu_task_nsubmitted(void);
/* Submission blocks while more than `max` tasks are submitted, until there are at most `min`.
 * Negative: no limit. */
void starpu_set_limit_max_submitted_tasks(int limit_max);
void starpu_set_limit_min_submitted_tasks(int limit_min);

/* --- Around tasks -------------------------------------------------------------------- */

/* Say, for traces, to which iteration of which (nested) loop the following submissions belong. */
void starpu_iteration_push(unsigned long iteration);
void starpu_iteration_pop(void);
/* Ask policies that collect tasks to schedule those that they have. */
void starpu_do_schedule(void);

/* In a kernel or callback, the task that the calling thread executes; else NULL. */
struct starpu_task *starpu_task_get_current(void);
/* In a kernel, the memory node where its i-th datum is, which may differ from the worker's
 * (handbook 27.11). */
int starpu_task_get_current_data_node(unsigned i);

/* Name of a task's performance model, name of the task: NULL when there is none. Owned by the
 * program. */
const char *starpu_task_get_model_name(struct starpu_task *task);
const char *starpu_task_get_name(struct starpu_task *task);
/* The implementation that the policy has chosen; policies set it before they hand the task to a
 * worker. */
void starpu_task_set_implementation(struct starpu_task *task, unsigned impl);
unsigned starpu_task_get_implementation(struct starpu_task *task);
/* The task's number in traces and messages: from 1 in the order of submission. */
unsigned long starpu_task_get_job_id(struct starpu_task *task);
char *starpu_task_status_get_as_string(enum starpu_task_status status);

/* --- Transactions -------------------------------------------------------------------- */

/* Tasks of an epoch are executed together, or cancelled together: their kernels are not called
 * then, their data keep the values that they have, while dependencies and callbacks are as always.
 * Tasks join the open epoch by their field transaction, or by STARPU_TRANSACTION. */

/* Open a transaction and its first epoch. When everything that was submitted to the epoch before
 * has completed, do_start_func decides: it returns non-zero for an epoch that shall be executed. It
 * is called once for each epoch, by any thread, with NULL and the epoch's argument; it must not
 * wait. Returns NULL after a message, without starpu_init() or without memory. */
struct starpu_transaction *starpu_transaction_open(int (*do_start_func)(void *buffer, void *arg),
						   void *do_start_arg);
/* Close the open epoch and open the next one. One thread at a time does this, and submits tasks of
 * the transaction. */
void starpu_transaction_next_epoch(struct starpu_transaction *p_trs, void *do_start_arg);
/* Close the transaction; it ends, and is freed, when its tasks have completed. */
void starpu_transaction_close(struct starpu_transaction *p_trs);

/* --- Tasks that may fail ------------------------------------------------------------- */

/* As prologue callback of a task: the task executes nothing itself, but keeps its data and
 * completes when one of its tries succeeds. Tries are tasks like it that are executed in its place.
 * check_ft, the prologue's argument, is a function void (*)(void *) that is called as callback of
 * each try, with the task; NULL: a function that tries again until a try did not fail. */
void starpu_task_ft_prologue(void *check_ft);
/* A try for meta_task with the fields of template_task (meta_task, or an earlier try); submit it
 * with starpu_task_submit_nodeps(), in check_ft. A try finds the data as the one before left them,
 * so a task that may fail should not both read and write a datum. NULL after a message. */
struct starpu_task *starpu_task_ft_create_retry(const struct starpu_task *meta_task,
						const struct starpu_task *template_task,
						void (*check_ft)(void *));
/* In a kernel, for its own task: it could not do its work. Sets the field failed. */
void starpu_task_ft_failed(struct starpu_task *task);
/* In check_ft: the task is done. */
void starpu_task_ft_success(struct starpu_task *meta_task);

/* --- Seldom called ------------------------------------------------------------------- */

/* Submit a task that only calls the function, in a thread of the runtime or at once. */
void starpu_create_callback_task(void (*callback)(void *), void *callback_arg);
/* Have hook(hook_arg) called whenever the watchdog (STARPU_WATCHDOG_TIMEOUT) lists waiting tasks,
 * by the thread that waits; NULL: none. */
void starpu_task_watchdog_set_hook(void (*hook)(void *), void *hook_arg);

#pragma GCC visibility pop
#ifdef __cplusplus
}

/* C++17 has no designated initialisers. */
static inline struct starpu_task orr_task_initial(void)
{
	struct starpu_task task = starpu_task();

	task.sequential_consistency = 1;
	task.detach = 1;
	task.workerid = (unsigned) -1;
	task.where = -1;
	task.sched_ctx = STARPU_NMAX_SCHED_CTXS;
	task.magic = ORRERY_TASK_MAGIC;
	task.predicted = NAN;
	task.predicted_transfer = NAN;
	task.predicted_start = NAN;
	return task;
}
#endif

#ifdef STARPU_USE_DEPRECATED_API
/* Programs written before edition 1.0 define this macro; they write codelets without "struct". */
typedef struct starpu_codelet starpu_codelet;
#endif
#endif
