/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Distributed data and tasks over MPI (handbook, chapter 14).
 *
 * Invariant: every rank inserts the same tasks and moves the same data in the
 * same order. From that order alone each rank derives its part, so that no rank
 * asks another one.
 *
 * Ranks are those of the communicator given with the call. Functions returning
 * int give 0 on success and a negative errno code on failure (-EINVAL: rank, tag
 * or communicator that cannot be; -ENODEV: no worker can run the codelet),
 * unless a comment says otherwise. They may be called by any thread of the
 * program; those marked blocking not from tasks or callbacks. Callbacks run in
 * a thread of the runtime and must not block.
 */
#ifndef STARPU_MPI_H
#define STARPU_MPI_H

#include <stdarg.h>
#include <stdint.h>
#include <mpi.h>
#include <starpu.h>

/* Identifies a request; owned by the runtime, invalid once waited for or tested complete. */
typedef void *starpu_mpi_req;
/* Identifies a message, or a datum among ranks. Not negative. */
typedef int64_t starpu_mpi_tag_t;

#include <starpu_mpi_ft.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* In place of a rank: each rank has a value of its own, and none is sent (14.11). */
#define STARPU_MPI_PER_NODE (-2)
/* For starpu_mpi_comm_get_attr(): the largest starpu_mpi_tag_t. */
#define STARPU_MPI_TAG_UB MPI_TAG_UB

/* --- Initialisation, communicators (14.5) -------------------------------------------- */

/*
 * Start the runtime on every rank of comm: MPI_Init_thread() when
 * initialize_mpi is not 0, then starpu_init(conf) (conf NULL: defaults), then the
 * progression engine. starpu_mpi_init_comm() leaves starpu_init() to the program,
 * which calls it first; starpu_mpi_init() is that on MPI_COMM_WORLD.
 * A program that initialises MPI itself needs MPI_THREAD_SERIALIZED, or
 * MPI_THREAD_MULTIPLE when it communicates itself while the runtime runs.
 * comm may be a part of MPI_COMM_WORLD; later calls then name it or communicators within it. The
 * layer may be started again after its shutdown, on any communicator.
 */
int starpu_mpi_init_conf(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm,
			 struct starpu_conf *conf);
int starpu_mpi_init_comm(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm);
int starpu_mpi_init(int *argc, char ***argv, int initialize_mpi);
int starpu_mpi_initialize(void) __attribute__((deprecated));
int starpu_mpi_initialize_extended(int *rank, int *world_size) __attribute__((deprecated));

/* Blocking, on every rank of the communicator that was given to init: finish communications, print
 * statistics if asked for, and undo what init did (MPI_Finalize and starpu_shutdown only if init
 * did their counterparts). */
int starpu_mpi_shutdown(void);
int starpu_mpi_shutdown_comm(MPI_Comm comm);

/* Collective over comm: announce a communicator before its first use. Used for its ranks only,
 * never for traffic. */
int starpu_mpi_comm_register(MPI_Comm comm);
/* As MPI's, but obeying STARPU_MPI_FAKE_SIZE and _RANK. */
int starpu_mpi_comm_size(MPI_Comm comm, int *size);
int starpu_mpi_comm_rank(MPI_Comm comm, int *rank);
int starpu_mpi_world_size(void);
int starpu_mpi_world_rank(void);
/* STARPU_MPI_TAG_UB gives a starpu_mpi_tag_t * in attribute_val; anything else clears *flag. */
int starpu_mpi_comm_get_attr(MPI_Comm comm, int keyval, void *attribute_val, int *flag);

/* MPI tag of the runtime's own messages. Set it before init, to the same value on every rank. */
int starpu_mpi_get_communication_tag(void);
void starpu_mpi_set_communication_tag(int tag);
/* Processor that the progression engine's thread is bound to, -1 when not bound. */
int starpu_mpi_get_thread_cpuid(void);

/* --- Point to point (14.6) ----------------------------------------------------------- */

/*
 * Send and receive the value of a datum. The request starts once the tasks that
 * it depends on have completed, and holds the datum like a task that reads
 * (send) or writes (receive) it. issend completes only when the receive has been
 * matched. A receive matches a send with the same rank, tag and
 * communicator, in order; sizes must agree. prio: larger goes first, 0 by
 * default (14.13).
 *
 * Without "detached": *req must be given to starpu_mpi_wait() or _test().
 */
int starpu_mpi_isend(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
		     starpu_mpi_tag_t data_tag, MPI_Comm comm);
int starpu_mpi_isend_prio(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
			  starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm);
int starpu_mpi_issend(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
		      starpu_mpi_tag_t data_tag, MPI_Comm comm);
int starpu_mpi_issend_prio(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
			   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm);
int starpu_mpi_irecv(starpu_data_handle_t data_handle, starpu_mpi_req *req, int source,
		     starpu_mpi_tag_t data_tag, MPI_Comm comm);

/* Blocking. */
int starpu_mpi_send(starpu_data_handle_t data_handle, int dest, starpu_mpi_tag_t data_tag,
		    MPI_Comm comm);
int starpu_mpi_send_prio(starpu_data_handle_t data_handle, int dest, starpu_mpi_tag_t data_tag,
			 int prio, MPI_Comm comm);
int starpu_mpi_recv(starpu_data_handle_t data_handle, int source, starpu_mpi_tag_t data_tag,
		    MPI_Comm comm, MPI_Status *status);
int starpu_mpi_recv_prio(starpu_data_handle_t data_handle, int source, starpu_mpi_tag_t data_tag,
			 int prio, MPI_Comm comm, MPI_Status *status);

/* Detached: the runtime completes the request and then calls callback(arg), unless it is NULL. */
int starpu_mpi_isend_detached(starpu_data_handle_t data_handle, int dest, starpu_mpi_tag_t data_tag,
			      MPI_Comm comm, void (*callback)(void *), void *arg);
int starpu_mpi_isend_detached_prio(starpu_data_handle_t data_handle, int dest,
				   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
				   void (*callback)(void *), void *arg);
int starpu_mpi_issend_detached(starpu_data_handle_t data_handle, int dest,
			       starpu_mpi_tag_t data_tag, MPI_Comm comm, void (*callback)(void *),
			       void *arg);
int starpu_mpi_issend_detached_prio(starpu_data_handle_t data_handle, int dest,
				    starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
				    void (*callback)(void *), void *arg);
int starpu_mpi_irecv_detached(starpu_data_handle_t data_handle, int source,
			      starpu_mpi_tag_t data_tag, MPI_Comm comm, void (*callback)(void *),
			      void *arg);
int starpu_mpi_irecv_detached_prio(starpu_data_handle_t data_handle, int source,
				   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
				   void (*callback)(void *), void *arg);
/* sequential_consistency 0: do not wait for tasks submitted earlier. */
int starpu_mpi_irecv_detached_sequential_consistency(starpu_data_handle_t data_handle, int source,
						     starpu_mpi_tag_t data_tag, MPI_Comm comm,
						     void (*callback)(void *), void *arg,
						     int sequential_consistency);

/* Detached, and tag (of starpu_task_dep.h) is notified at the end; arrays: once, when all are
 * complete. */
int starpu_mpi_isend_detached_unlock_tag(starpu_data_handle_t data_handle, int dest,
					 starpu_mpi_tag_t data_tag, MPI_Comm comm,
					 starpu_tag_t tag);
int starpu_mpi_isend_detached_unlock_tag_prio(starpu_data_handle_t data_handle, int dest,
					      starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
					      starpu_tag_t tag);
int starpu_mpi_irecv_detached_unlock_tag(starpu_data_handle_t data_handle, int source,
					 starpu_mpi_tag_t data_tag, MPI_Comm comm,
					 starpu_tag_t tag);
int starpu_mpi_isend_array_detached_unlock_tag(unsigned array_size,
					       starpu_data_handle_t *data_handle, int *dest,
					       starpu_mpi_tag_t *data_tag, MPI_Comm *comm,
					       starpu_tag_t tag);
int starpu_mpi_isend_array_detached_unlock_tag_prio(unsigned array_size,
						    starpu_data_handle_t *data_handle, int *dest,
						    starpu_mpi_tag_t *data_tag, int *prio,
						    MPI_Comm *comm, starpu_tag_t tag);
int starpu_mpi_irecv_array_detached_unlock_tag(unsigned array_size,
					       starpu_data_handle_t *data_handle, int *source,
					       starpu_mpi_tag_t *data_tag, MPI_Comm *comm,
					       starpu_tag_t tag);

/* Blocking / not: complete *req and set it to NULL. status: source, tag (when it fits an int) and
 * MPI error, or MPI_STATUS_IGNORE. test leaves *req alone while *flag is 0. */
int starpu_mpi_wait(starpu_mpi_req *req, MPI_Status *status);
int starpu_mpi_test(starpu_mpi_req *req, int *flag, MPI_Status *status);
/* Blocking, collective over comm: returns once all ranks of comm have called it. Requests and tasks
 * that are under way stay under way; see starpu_mpi_wait_for_all() for those. 0, -ENODEV before the
 * layer runs, -EDEADLK from a task or callback. */
int starpu_mpi_barrier(MPI_Comm comm);
/* Blocking, collective over comm: all tasks and communications end, reductions included. */
int starpu_mpi_wait_for_all(MPI_Comm comm);

/* --- MPI datatypes of interfaces (14.7) ---------------------------------------------- */

/*
 * Instead of pack and unpack: build the committed datatype that describes one
 * value, counted from starpu_data_handle_to_pointer(). Return 0, or not 0 when
 * this datum has none; then it is packed. Called in the engine's thread.
 */
typedef int (*starpu_mpi_datatype_allocate_func_t)(starpu_data_handle_t handle,
						   MPI_Datatype *datatype);
typedef int (*starpu_mpi_datatype_node_allocate_func_t)(starpu_data_handle_t handle, unsigned node,
							MPI_Datatype *datatype);
typedef void (*starpu_mpi_datatype_free_func_t)(MPI_Datatype *datatype);

/* For one handle; the ranks must synchronise before its first message. */
int starpu_mpi_datatype_register(starpu_data_handle_t handle,
				 starpu_mpi_datatype_allocate_func_t allocate_datatype_func,
				 starpu_mpi_datatype_free_func_t free_datatype_func);
int starpu_mpi_datatype_node_register(
	starpu_data_handle_t handle,
	starpu_mpi_datatype_node_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func);
int starpu_mpi_datatype_unregister(starpu_data_handle_t handle);
/* For every handle of an interface. */
int starpu_mpi_interface_datatype_register(
	enum starpu_data_interface_id id,
	starpu_mpi_datatype_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func);
int starpu_mpi_interface_datatype_node_register(
	enum starpu_data_interface_id id,
	starpu_mpi_datatype_node_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func);
int starpu_mpi_interface_datatype_unregister(enum starpu_data_interface_id id);

/* --- Cache of received values (14.14) ------------------------------------------------ */

int starpu_mpi_cache_is_enabled(void);
/* On every rank, before any insertion. Returns the new state. */
int starpu_mpi_cache_set(int enabled);
/* On every rank, at the same point of the insertion order: forget the value(s), free copies of
 * others' data. */
void starpu_mpi_cache_flush(MPI_Comm comm, starpu_data_handle_t data_handle);
void starpu_mpi_cache_flush_all_data(MPI_Comm comm);

/* 1 if this rank holds the received value, or has sent the value to `dest`, else 0. */
int starpu_mpi_cached_receive(starpu_data_handle_t data_handle);
int starpu_mpi_cached_send(starpu_data_handle_t data_handle, int dest);
/* Enter it (the former state is returned) / forget it, for programs that communicate themselves. */
int starpu_mpi_cached_receive_set(starpu_data_handle_t data);
void starpu_mpi_cached_receive_clear(starpu_data_handle_t data);
int starpu_mpi_cached_send_set(starpu_data_handle_t data, int dest);
void starpu_mpi_cached_send_clear(starpu_data_handle_t data);

/* --- Owners and tags (14.8) ---------------------------------------------------------- */

/*
 * Set the owner (a rank of comm, or STARPU_MPI_PER_NODE) and the tag of a datum,
 * the same on every rank that registers it. The program keeps tags distinct; -1
 * for a datum that is never sent. Here MPI_COMM_WORLD, which the short forms
 * name, means the communicator that the layer was started on.
 */
void starpu_mpi_data_register_comm(starpu_data_handle_t data_handle, starpu_mpi_tag_t data_tag,
				   int rank, MPI_Comm comm);
#define starpu_mpi_data_register(data_handle, data_tag, rank) \
	starpu_mpi_data_register_comm(data_handle, data_tag, rank, MPI_COMM_WORLD)

/* Change the owner without moving the value: see starpu_mpi_data_migrate(). */
void starpu_mpi_data_set_rank_comm(starpu_data_handle_t handle, int rank, MPI_Comm comm);
#define starpu_mpi_data_set_rank(handle, rank) \
	starpu_mpi_data_set_rank_comm(handle, rank, MPI_COMM_WORLD)
void starpu_mpi_data_set_tag(starpu_data_handle_t handle, starpu_mpi_tag_t data_tag);
/* -1: not told. */
int starpu_mpi_data_get_rank(starpu_data_handle_t handle);
starpu_mpi_tag_t starpu_mpi_data_get_tag(starpu_data_handle_t handle);

#define starpu_data_set_tag starpu_mpi_data_set_tag
#define starpu_data_get_tag starpu_mpi_data_get_tag
#define starpu_data_set_rank starpu_mpi_data_set_rank
#define starpu_data_get_rank starpu_mpi_data_get_rank

/* First of nbtags consecutive unused tags; on every rank, in the same order. -1: none left. Local,
 * no message. */
int64_t starpu_mpi_tags_allocate(int64_t nbtags);
/* Same rules; mintag as returned. */
void starpu_mpi_tags_free(int64_t mintag);

/* --- Insertion of tasks (14.8 to 14.13) ---------------------------------------------- */

/*
 * Same arguments as starpu_task_insert() after the communicator, ended by 0, on
 * every rank. Owners send the data that the task reads; the executing rank
 * submits the task and sends back the data of others that it wrote. A NULL
 * handle stands for a datum that this rank has no part in (14.10). Returns once
 * the communications are submitted.
 */
int starpu_mpi_task_insert(MPI_Comm comm, struct starpu_codelet *codelet, ...);
int starpu_mpi_insert_task(MPI_Comm comm, struct starpu_codelet *codelet, ...);
/* In steps: build returns the task on the executing rank, which submits it, and NULL elsewhere;
 * then every rank calls post_build with the same arguments. */
struct starpu_task *starpu_mpi_task_build(MPI_Comm comm, struct starpu_codelet *codelet, ...);
struct starpu_task *starpu_mpi_task_build_v(MPI_Comm comm, struct starpu_codelet *codelet,
					    va_list varg_list);
int starpu_mpi_task_post_build(MPI_Comm comm, struct starpu_codelet *codelet, ...);
int starpu_mpi_task_post_build_v(MPI_Comm comm, struct starpu_codelet *codelet, va_list varg_list);

/* Results of the first step below, for the program and for the second step. The program need not
 * initialise them. */
struct starpu_mpi_task_exchange_params {
	int do_execute; /* 1 on the rank that has to submit the task */
	int xrank;      /* rank that executes */
	int priority;   /* of the requests */
};
/* For tasks made by hand, on every rank: descrs has room for all the task's buffers and is filled
 * here. */
int starpu_mpi_task_exchange_data_before_execution(MPI_Comm comm, struct starpu_task *task,
						   struct starpu_data_descr *descrs,
						   struct starpu_mpi_task_exchange_params *params);
int starpu_mpi_task_exchange_data_after_execution(MPI_Comm comm, struct starpu_data_descr *descrs,
						  unsigned nb_data,
						  struct starpu_mpi_task_exchange_params params);

/* Call f on each task that insertion is about to submit on this rank; one at a time. */
int starpu_mpi_pre_submit_hook_register(void (*f)(struct starpu_task *));
int starpu_mpi_pre_submit_hook_unregister(void);

/* --- Choice of the executing rank ---------------------------------------------------- */

/* Policy numbers: the one set as current; the rank that owns most bytes read. */
#define STARPU_MPI_NODE_SELECTION_CURRENT_POLICY (-1)
#define STARPU_MPI_NODE_SELECTION_MOST_R_DATA 0

/* A rank below nb_nodes; must give the same answer on every rank. */
typedef int (*starpu_mpi_select_node_policy_func_t)(int me, int nb_nodes,
						    struct starpu_data_descr *descr, int nb_data);
/* New policy's number, or -ENOMEM. On every rank, in the same order. */
int starpu_mpi_node_selection_register_policy(starpu_mpi_select_node_policy_func_t policy_func);
int starpu_mpi_node_selection_unregister_policy(int policy);
int starpu_mpi_node_selection_set_current_policy(int policy);
int starpu_mpi_node_selection_get_current_policy(void);

/* --- Moving data, reductions, collectives (14.11, 14.12, 14.15, 14.16) --------------- */

/* All on every rank, at the same point of the insertion order; not blocking except
 * get_data_on_node. The owner stays the same. */
int starpu_mpi_get_data_on_node(MPI_Comm comm, starpu_data_handle_t data_handle, int node);
int starpu_mpi_get_data_on_node_detached(MPI_Comm comm, starpu_data_handle_t data_handle, int node,
					 void (*callback)(void *), void *arg);
void starpu_mpi_get_data_on_all_nodes_detached(MPI_Comm comm, starpu_data_handle_t data_handle);
/* Value and ownership go to new_rank (or a copy to every rank with STARPU_MPI_PER_NODE). */
void starpu_mpi_data_migrate(MPI_Comm comm, starpu_data_handle_t handle, int new_rank);

/* Combine the contributions of ranks into the owner's value. The runtime does so by itself before a
 * read, and in starpu_mpi_wait_for_all(). arity: of the tree along which the parts are combined, 2
 * or more; 0: data of STARPU_MPI_REDUX_ARITY_THRESHOLD bytes or more go along a tree whose shape
 * the owner chooses, smaller ones to the owner directly. The same on every rank. -EINVAL after a
 * message for another arity. */
int starpu_mpi_redux_data(MPI_Comm comm, starpu_data_handle_t data_handle);
int starpu_mpi_redux_data_prio(MPI_Comm comm, starpu_data_handle_t data_handle, int prio);
int starpu_mpi_redux_data_tree(MPI_Comm comm, starpu_data_handle_t data_handle, int arity);
int starpu_mpi_redux_data_prio_tree(MPI_Comm comm, starpu_data_handle_t data_handle, int prio,
				    int arity);

/* Send each datum from root to its owner, or from its owner to root; NULL handles are skipped.
 * On the sending side scallback(sarg) runs once, when everything is sent; on the receiving side
 * rcallback(rarg) runs once, when everything has arrived; at once on a rank without data. */
int starpu_mpi_scatter_detached(starpu_data_handle_t *data_handles, int count, int root,
				MPI_Comm comm, void (*scallback)(void *), void *sarg,
				void (*rcallback)(void *), void *rarg);
int starpu_mpi_gather_detached(starpu_data_handle_t *data_handles, int count, int root,
			       MPI_Comm comm, void (*scallback)(void *), void *sarg,
			       void (*rcallback)(void *), void *rarg);

/* Copy src to dst, which may have different owners; the owner of dst executes the copy.
 * asynchronous 0: blocking there. */
int starpu_mpi_data_cpy(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
			MPI_Comm comm, int asynchronous, void (*callback_func)(void *),
			void *callback_arg);
int starpu_mpi_data_cpy_priority(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
				 MPI_Comm comm, int asynchronous, void (*callback_func)(void *),
				 void *callback_arg, int priority);

/* --- Cooperative sends (14.16), statistics (14.18) ----------------------------------- */

/* Cooperative sends: sends of one value to several ranks that become possible together, because one
 * task made the value, travel along a tree of the ranks when that is clearly faster. On from the
 * start unless STARPU_MPI_COOP_SENDS=0. Each rank may switch its own sends on or off at any time,
 * from any thread; ranks pass on what others send in either case. */
void starpu_mpi_coop_sends_set_use(int use_coop_sends);
/* 1 if they are used, else 0. */
int starpu_mpi_coop_sends_get_use(void);
/* The next nb_sends sends of the datum by this rank carry one value and wait for each other. Fewer
 * start when the program waits for communications, or calls this again (0: and expect none). By
 * the thread that submits them. */
void starpu_mpi_coop_sends_data_handle_nb_sends(starpu_data_handle_t data_handle, int nb_sends);

/* Stop / start counting on this rank, for starpu_mpi_comm_stats_retrieve() and for the table that
 * is printed at the end, which enabling asks for. With STARPU_MPI_STATS=1 counting starts with the
 * layer. The files that orrery run and orrery sim write count always, except between _disable and
 * _enable. */
void starpu_mpi_comm_stats_disable(void);
void starpu_mpi_comm_stats_enable(void);
/* comm_stats[i]: bytes sent to rank i of the world while counting was enabled; one entry per rank.
 */
void starpu_mpi_comm_stats_retrieve(size_t *comm_stats);
void starpu_mpi_comm_amounts_retrieve(size_t *comm_amounts);

/* Refused with a message (-ENOSYS, NULL). */
int starpu_mpi_cached_cp_receive_set(starpu_data_handle_t data_handle);
char *starpu_mpi_data_get_redux_map(starpu_data_handle_t handle);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
