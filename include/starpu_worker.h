/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Workers, memory nodes, binding, collections of workers, and drivers that the program runs itself.
 *
 * Invariant: worker numbers run from 0 to starpu_worker_get_count()-1 and are grouped by kind;
 * together with the number of memory nodes they do not change between starpu_init() and
 * starpu_shutdown(). Any thread may call, between those two, unless said otherwise.
 */
#ifndef STARPU_WORKER_H
#define STARPU_WORKER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <starpu_config.h>
#ifdef STARPU_HAVE_HWLOC
#include <hwloc.h>
#endif
#ifdef STARPU_USE_OPENCL
#include <CL/cl.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct starpu_task;

/* Kind of a worker. */
enum starpu_worker_archtype {
	STARPU_UNKNOWN_WORKER = -1,
	STARPU_CPU_WORKER = 0,
	STARPU_CUDA_WORKER = 1,
	STARPU_OPENCL_WORKER = 2,
	STARPU_MPI_MS_WORKER = 3,
	STARPU_HIP_WORKER = 4,
	STARPU_NARCH = 5,       /* number of kinds */
	STARPU_ANY_WORKER = 255 /* where a kind is asked for: all of them */
};

/* Kind of a memory node. */
enum starpu_node_kind {
	STARPU_UNUSED = 0,
	STARPU_CPU_RAM = 1,
	STARPU_CUDA_RAM = 2,
	STARPU_OPENCL_RAM = 3,
	STARPU_DISK_RAM = 4,
	STARPU_MPI_MS_RAM = 5,
	STARPU_MAX_RAM = 5, /* the last kind */
	STARPU_NRAM         /* number of kinds */
};

/* --- Counting and finding workers ---------------------------------------------------- */

/* Number of workers: all, and of each kind. */
unsigned starpu_worker_get_count(void);
unsigned starpu_cpu_worker_get_count(void);
unsigned starpu_cuda_worker_get_count(void);
unsigned starpu_opencl_worker_get_count(void);
unsigned starpu_mpi_ms_worker_get_count(void);
unsigned starpu_hip_worker_get_count(void);
/* Same by kind, STARPU_ANY_WORKER for all; -EINVAL for an unknown kind. */
int starpu_worker_get_count_by_type(enum starpu_worker_archtype type);

/* The calling worker's number, -1 in other threads; _check aborts there. */
int starpu_worker_get_id(void);
unsigned starpu_worker_get_id_check(void);

/* Store the workers of that kind into workerids, which has room for maxsize; returns how many were
 * stored. */
unsigned starpu_worker_get_ids_by_type(enum starpu_worker_archtype type, int *workerids,
				       unsigned maxsize);
/* The num-th worker of a kind, or the one that drives that device; -1 when there is none. */
int starpu_worker_get_by_type(enum starpu_worker_archtype type, int num);
int starpu_worker_get_by_devid(enum starpu_worker_archtype type, int devid);
/* The other way round: number of a worker among those of its kind, from 0 on, so that
 * starpu_worker_get_by_type(its kind, that number) is the worker; -1 for what is none. The first
 * asks for the calling worker, and gives -1 in other threads. */
int starpu_worker_get_range(void);
int starpu_worker_get_range_by_id(int id);
/* Store the numbers of at most num different devices of that kind into devids; returns how many
 * were stored. */
int starpu_worker_get_devids(enum starpu_worker_archtype type, int *devids, int num);
/* Store the workers that drive that device (one per stream); returns how many there are. */
int starpu_worker_get_stream_workerids(unsigned devid, int *workerids,
				       enum starpu_worker_archtype type);

/* --- Describing a worker ------------------------------------------------------------- */

/* Kind; number of its device; number among the workers of its device; logical processing unit that
 * its thread is bound to, -1 when it is not bound. */
enum starpu_worker_archtype starpu_worker_get_type(int id);
int starpu_worker_get_devid(int id);
int starpu_worker_get_subworkerid(int id);
int starpu_worker_get_bindid(int workerid);
/* Store the worker's name into dst, at most maxlen bytes with the final zero. */
void starpu_worker_get_name(int id, char *dst, size_t maxlen);
/* Print names of the workers of a kind, or of all. */
void starpu_worker_display_names(FILE *output, enum starpu_worker_archtype type);
void starpu_worker_display_all(FILE *output);
void starpu_worker_display_count(FILE *output, enum starpu_worker_archtype type);
/* "CPU", "CUDA", ... : constant strings. */
const char *starpu_worker_get_type_as_string(enum starpu_worker_archtype type);
/* True if it is one of the kinds; the kind that the single bit of a `where` mask stands for. */
unsigned starpu_worker_archtype_is_valid(enum starpu_worker_archtype type);
enum starpu_worker_archtype starpu_arch_mask_to_worker_archtype(unsigned mask);
/* True if workers of that kind have an implementation of the task. */
unsigned starpu_worker_type_can_execute_task(enum starpu_worker_archtype worker_type,
					     const struct starpu_task *task);
/* Returns once all workers are ready to execute tasks. */
void starpu_worker_wait_for_initialisation(void);

#ifdef STARPU_HAVE_HWLOC
/* The cores of a worker: a set that the caller frees with hwloc_bitmap_free(). The machine, owned
 * by the runtime. */
hwloc_cpuset_t starpu_worker_get_hwloc_cpuset(int workerid);
hwloc_topology_t starpu_get_hwloc_topology(void);
#endif

/* --- Memory nodes -------------------------------------------------------------------- */

/* Node of the calling worker (STARPU_MAIN_RAM for other threads), and of a given worker. */
unsigned starpu_worker_get_local_memory_node(void);
unsigned starpu_worker_get_memory_node(unsigned workerid);
enum starpu_node_kind starpu_worker_get_memory_node_kind(enum starpu_worker_archtype type);
/* Number of nodes: all, those of main memory, those of a kind. */
unsigned starpu_memory_nodes_get_count(void);
unsigned starpu_memory_nodes_get_numa_count(void);
unsigned starpu_memory_nodes_get_count_by_kind(enum starpu_node_kind kind);
/* Kind of a node, number of its device, kind of the workers that compute on it. The name of a node
 * goes to name[size], cut if need be; returned is its whole length. */
enum starpu_node_kind starpu_node_get_kind(unsigned node);
int starpu_memory_node_get_devid(unsigned node);
enum starpu_worker_archtype starpu_memory_node_get_worker_archtype(enum starpu_node_kind node_kind);
int starpu_memory_node_get_name(unsigned node, char *name, size_t size);
/* Between nodes of main memory and the numbers that the system gives them; -1 when there is no such
 * node. */
int starpu_memory_nodes_numa_id_to_devid(int osid);
int starpu_memory_nodes_numa_devid_to_id(unsigned id);

/* --- Binding of threads -------------------------------------------------------------- */

/* The thread computes all the time: give it a core of its own. */
#define STARPU_THREAD_ACTIVE (1 << 0)

/* Reserve a logical processing unit for a thread of the program, one of preferred[npreferred] if
 * one of these is free. Returns its number. */
unsigned starpu_get_next_bindid(unsigned flags, unsigned *preferred, unsigned npreferred);
/* Bind the calling thread to that unit; name is for messages. 0, or -1 when another active thread
 * is there. */
int starpu_bind_thread_on(int cpuid, unsigned flags, const char *name);
/* Bind the calling thread where that worker, the main thread, or a core is. */
void starpu_bind_thread_on_worker(unsigned workerid);
void starpu_bind_thread_on_main(void);
void starpu_bind_thread_on_cpu(int cpuid);
/* The number that the system gives to a logical processing unit. */
int starpu_cpu_os_index(int cpuid);
/* Print the machine and what is bound where. */
void starpu_topology_print(FILE *f);
void starpu_display_bindings(void);

/* --- Combined workers (parallel tasks) ----------------------------------------------- */

/* Number of combined workers: lists of CPU workers that execute one task together. They are
 * numbered after the ordinary ones. Policies that use them (peager, pheft) make some at the start,
 * after the shape of the machine. */
unsigned starpu_combined_worker_get_count(void);
unsigned starpu_worker_is_combined_worker(int id);
/* In a kernel: the combined worker that executes it (the worker itself for a sequential task), how
 * many workers that is, and the caller's rank among them, from 0. */
int starpu_combined_worker_get_id(void);
int starpu_combined_worker_get_size(void);
int starpu_combined_worker_get_rank(void);
/* Make a combined worker of the given CPU workers, the leader first, or find the one of the same
 * list: its number, that of the worker when it is one only; or -ENODEV when there is no room,
 * -EINVAL for no worker, a worker that does not exist, is not a CPU worker, or stands twice. Any
 * thread, from starpu_init() on; policies also while they start. */
int starpu_combined_worker_assign_workerid(int nworkers, int workerid_array[]);
/* True if a worker or a combined worker can execute an implementation: the function exists,
 * max_parallelism and workerids allow it, and the codelet's can_execute agrees, which gets the
 * combined worker's number. */
int starpu_combined_worker_can_execute_task(unsigned workerid, struct starpu_task *task,
					    unsigned nimpl);
/* The workers that make up a combined worker; *combined_workerid belongs to the runtime. 0 or
 * -EINVAL. */
int starpu_combined_worker_get_description(int workerid, int *worker_size, int **combined_workerid);

/* --- Collections of workers (for policies) ------------------------------------------- */

/* The organisation of a collection. */
enum starpu_worker_collection_type { STARPU_WORKER_TREE, STARPU_WORKER_LIST };

/* Position in a collection, declared by value; the fields are private to the collection. */
struct starpu_sched_ctx_iterator {
	int cursor;
	void *value;
	void *possible_value;
	char visited[STARPU_NMAXWORKERS];
	int possibly_parallel;
};

/* A set of workers that is walked through with an iterator:
 *	c->init_iterator(c, &it); while (c->has_next(c, &it)) w = c->get_next(c, &it); */
struct starpu_worker_collection {
	int *workerids; /* the members */
	void *collection_private;
	unsigned nworkers;       /* number of members */
	void *unblocked_workers; /* those that no parallel task blocks */
	unsigned nunblocked_workers;
	void *masters; /* those that lead a parallel task */
	unsigned nmasters;
	char present[STARPU_NMAXWORKERS];
	char is_unblocked[STARPU_NMAXWORKERS];
	char is_master[STARPU_NMAXWORKERS];
	enum starpu_worker_collection_type type;
	unsigned (*has_next)(struct starpu_worker_collection *workers,
			     struct starpu_sched_ctx_iterator *it);
	int (*get_next)(struct starpu_worker_collection *workers,
			struct starpu_sched_ctx_iterator *it);
	/* Both return the worker, or -1 when it was, or was not, in the collection already. */
	int (*add)(struct starpu_worker_collection *workers, int worker);
	int (*remove)(struct starpu_worker_collection *workers, int worker);
	void (*init)(struct starpu_worker_collection *workers);
	void (*deinit)(struct starpu_worker_collection *workers);
	void (*init_iterator)(struct starpu_worker_collection *workers,
			      struct starpu_sched_ctx_iterator *it);
	/* Only workers that may start that task, which may be a parallel one. */
	void (*init_iterator_for_parallel_tasks)(struct starpu_worker_collection *workers,
						 struct starpu_sched_ctx_iterator *it,
						 struct starpu_task *task);
};

/* The two kinds, to be copied. */
extern struct starpu_worker_collection starpu_worker_list;
extern struct starpu_worker_collection starpu_worker_tree;

/* --- Drivers that the program runs in a thread of its own ---------------------------- */

/* A device for which the runtime starts no thread, because starpu_conf.not_launched_drivers names
 * it. */
struct starpu_driver {
	enum starpu_worker_archtype type;
	union {
		unsigned cpu_id;
		unsigned cuda_id;
		unsigned hip_id;
#ifdef STARPU_USE_OPENCL
		cl_device_id opencl_id;
#endif
	} id;
};

/* Drive the device with the calling thread: init, then run_once() again and again, then deinit;
 * run() does all of it until a termination is requested. run_once() executes a task if there is
 * one; in a simulated run, it lets virtual time pass otherwise. 0, -EINVAL for a wrong description,
 * -ENODEV when there is no such device. */
int starpu_driver_run(struct starpu_driver *d);
int starpu_driver_init(struct starpu_driver *d);
int starpu_driver_run_once(struct starpu_driver *d);
int starpu_driver_deinit(struct starpu_driver *d);
/* Make all starpu_driver_run() return once the submitted tasks are done. */
void starpu_drivers_request_termination(void);

/* --- Sleep --------------------------------------------------------------------------- */

/* From now on, call that function when a worker goes to sleep, and when it wakes up; NULL: none. As
 * callback_worker_going_to_sleep and callback_worker_waking_up of struct starpu_conf, which says
 * more. */
void starpu_worker_set_going_to_sleep_callback(void (*callback)(unsigned workerid));
void starpu_worker_set_waking_up_callback(void (*callback)(unsigned workerid));

/* --- Seldom asked -------------------------------------------------------------------- */

/* The number of a worker's device among those of its kind; -1: there is no such worker. */
int starpu_worker_get_devnum(int id);
/* The kind that starpu_worker_get_type_as_string() gives that name; STARPU_UNKNOWN_WORKER: none. */
enum starpu_worker_archtype starpu_worker_get_type_from_string(const char *type);
/* The variable that sets how many workers of that kind there are, such as "STARPU_NCPU". */
const char *starpu_worker_get_type_as_env_var(enum starpu_worker_archtype type);
/* The workers that are bound to a unit: their number; *workerids is the runtime's, until
 * starpu_shutdown(). */
int starpu_bindid_get_workerids(int bindid, int **workerids);
/* 0: no worker is kept for the tasks of another one. */
unsigned starpu_worker_is_slave_somewhere(int workerid);
/* The contexts of a worker: their number; *sched_ctx is an array that the caller frees with free(),
 * or NULL. */
unsigned starpu_worker_get_sched_ctx_list(int worker, unsigned **sched_ctx);
/* Up to maxsize memory nodes of a kind; returns how many. */
unsigned starpu_memory_node_get_ids_by_type(enum starpu_node_kind kind, unsigned *memory_nodes_ids,
					    unsigned maxsize);
/* Make the combined workers that the machine suggests, as policies for parallel tasks do. */
void starpu_sched_find_all_worker_combinations(void);
/* Refused with a message; *date is 0. */
void starpu_worker_get_current_task_exp_end(unsigned workerid, struct timespec *date);
/* Refused with a message: the runtime joins the members of a combined worker itself. */
void starpu_parallel_task_barrier_init(struct starpu_task *task, int workerid);
void starpu_parallel_task_barrier_init_n(struct starpu_task *task, int worker_size);
/* Does nothing, because drivers need no preparation before starpu_init(). */
void starpu_drivers_preinit(void);
#ifdef STARPU_HAVE_HWLOC
/* The smallest part of the machine with all cores of a worker, owned by the runtime; NULL: nobody
 * knows. */
hwloc_obj_t starpu_worker_get_hwloc_obj(int workerid);
#endif

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
