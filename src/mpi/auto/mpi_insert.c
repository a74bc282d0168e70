/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Insertion of tasks: every rank passes the same arguments, finds out which rank executes, and does
 * its part: nothing, sending what it owns, or receiving what is missing and submitting the task.
 *
 * Most insertions concern a rank in no way, and many of these follow each other. So after one of
 * them a first pass over the arguments only looks whether the next one is another, and keeps
 * nothing; all others get a second pass, which collects the data. The first may leave anything to
 * the second: what is rare, or wrong.
 *
 * Invariant: what a rank does follows from the arguments, the owners and the cache, which all ranks
 * change at the same points. */
#include <errno.h>
#include <stdlib.h>
#include "core/task/codelet.h"
#include "core/flow/insert.h"
#include "core/task/times.h"
#include "mpi/auto/mpi_insert.h"
#include "mpi/carry/fake_rank.h"
#include "mpi/auto/check_inserts.h"
#include "mpi/auto/heat.h"
#include "mpi/auto/cache.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/p2p.h"
#include "mpi/carry/attach.h"
#include "mpi/auto/placement.h"
#include "mpi/auto/mpi_redux.h"
#include "mpi/carry/burst.h"
#include "mpi/carry/comm.h"
#include "base/assert.h"
#include "base/log.h"

#define INLINE_DATA 16

/* Some arguments are freed with the task, or here where there is no task; d is on the heap. */
enum { EXTRA_OWNED = 1, EXTRA_DATA = 2 };

struct insertion {
	struct orr_mpi_choice choice;
	int prio;
	unsigned n, cap;
	unsigned extra; /* flags: what parse_done() has to free */
	struct starpu_data_descr *d;
	struct starpu_data_descr inl[INLINE_DATA];
};

/* The source of the arguments: C's, or an array of Fortran's (core/flow/insert.h). */
struct source {
	void **list;
	va_list ap;
};

static int add_slow(struct insertion *ins, starpu_data_handle_t h,
		    enum starpu_data_access_mode mode)
{
	struct starpu_data_descr *d = malloc(2 * ins->cap * sizeof(*d));

	if (!d) {
		orr_error("out of memory for the data of a task");
		return -ENOMEM;
	}
	for (unsigned i = 0; i < ins->n; i++)
		d[i] = ins->d[i];
	if (ins->d != ins->inl)
		free(ins->d);
	ins->d = d;
	ins->cap *= 2;
	ins->extra |= EXTRA_DATA;
	d[ins->n++] = (struct starpu_data_descr){ .handle = h, .mode = mode };
	return 0;
}

static inline int add(struct insertion *ins, starpu_data_handle_t h,
		      enum starpu_data_access_mode mode)
{
	orr_assert(ins->n <= ins->cap);
	if (h)
		__builtin_prefetch(&h->mpi_rank);
	if (__builtin_expect(ins->n == ins->cap, 0))
		return add_slow(ins, h, mode);
	ins->d[ins->n].handle = h;
	ins->d[ins->n++].mode = mode;
	return 0;
}

static int add_handles(struct insertion *ins, struct starpu_codelet *cl,
		       const starpu_data_handle_t *handles, int n)
{
	int ret = 0;

	for (int i = 0; i < n && !ret; i++)
		ret = add(ins, handles[i], orr_codelet_mode(cl, ins->n));
	return ret;
}

static int add_descrs(struct insertion *ins, const struct starpu_data_descr *d, int n)
{
	int ret = 0;

	for (int i = 0; i < n && !ret; i++)
		ret = add(ins, d[i].handle, d[i].mode);
	return ret;
}

/* Notes the data and what places the task; skips the arguments of other markers. */
static int parse_marker(struct insertion *ins, struct starpu_codelet *cl, int marker, va_list *ap)
{
	struct orr_marker_skipped skipped;
	void *array;

	switch (marker) {
	case STARPU_DATA_ARRAY:
		array = va_arg(*ap, starpu_data_handle_t *);
		return add_handles(ins, cl, array, va_arg(*ap, int));
	case STARPU_DATA_MODE_ARRAY:
		array = va_arg(*ap, struct starpu_data_descr *);
		return add_descrs(ins, array, va_arg(*ap, int));
	case STARPU_EXECUTE_ON_NODE: ins->choice.node = va_arg(*ap, int); return 0;
	case STARPU_EXECUTE_ON_DATA:
		ins->choice.data = va_arg(*ap, starpu_data_handle_t);
		ins->choice.has_data = 1;
		return 0;
	case STARPU_NODE_SELECTION_POLICY: ins->choice.policy = va_arg(*ap, int); return 0;
	case STARPU_PRIORITY: ins->prio = va_arg(*ap, int); return 0;
	}
	skipped = orr_marker_skip(marker, ap);
	if (!skipped.known) {
		orr_error(
			"task '%s': %d (0x%x) is neither an access mode nor a marker of starpu_mpi_task_insert; the list must end with 0, and sizes of "
			"STARPU_VALUE must be of type size_t",
			cl && cl->name ? cl->name : "unnamed", marker, (unsigned) marker);
		return -EINVAL;
	}
	if (skipped.owned)
		ins->extra |= EXTRA_OWNED;
	return 0;
}

static int add_element(struct insertion *ins, struct starpu_codelet *cl, int marker, void **list)
{
	switch (marker) {
	case STARPU_DATA_ARRAY: return add_handles(ins, cl, list[0], *(int *) list[1]);
	case STARPU_DATA_MODE_ARRAY: return add_descrs(ins, list[0], *(int *) list[1]);
	case STARPU_EXECUTE_ON_NODE: ins->choice.node = *(int *) list[0]; break;
	case STARPU_EXECUTE_ON_DATA:
		ins->choice.data = list[0];
		ins->choice.has_data = 1;
		break;
	case STARPU_NODE_SELECTION_POLICY: ins->choice.policy = *(int *) list[0]; break;
	case STARPU_PRIORITY: ins->prio = *(int *) list[0]; break;
	}
	return 0;
}

static int parse_list(struct insertion *ins, struct starpu_codelet *cl, void **list)
{
	int ret = 0;

	while (!ret && *list) {
		int marker = (int) (intptr_t) *list++;
		unsigned n = marker < ORR_FIRST_MARKER ? 1 : orr_marker_elements(marker);
		if (!n) {
			orr_error(
				"task '%s': %#x is neither an access mode nor a marker; the list must end with C_NULL_PTR",
				cl && cl->name ? cl->name : "unnamed", (unsigned) marker);
			return -EINVAL;
		}
		ret = marker < ORR_FIRST_MARKER
			      ? add(ins, *list, (enum starpu_data_access_mode) marker)
			      : add_element(ins, cl, marker, list);
		list += n;
	}
	return ret;
}

static inline int parse(struct insertion *ins, struct starpu_codelet *cl, struct source *src)
{
	va_list ap;
	int marker, ret = 0;

	ins->choice = (struct orr_mpi_choice){ .node = -1,
					       .policy = STARPU_MPI_NODE_SELECTION_CURRENT_POLICY };
	ins->prio = 0;
	ins->n = ins->extra = 0;
	ins->cap = INLINE_DATA;
	ins->d = ins->inl;
	if (__builtin_expect(src->list != NULL, 0))
		return parse_list(ins, cl, src->list);
	va_copy(ap, src->ap);
	while (!ret && (marker = va_arg(ap, int)) != 0)
		if (__builtin_expect((unsigned) marker < ORR_FIRST_MARKER, 1))
			ret = add(ins, va_arg(ap, starpu_data_handle_t),
				  (enum starpu_data_access_mode) marker);
		else
			ret = parse_marker(ins, cl, marker, &ap);
	va_end(ap);
	return ret;
}

/* Frees the arguments that a task would have freed. */
static void free_owned(struct source *src)
{
	va_list ap;
	int marker;

	orr_assert(!src->list);
	va_copy(ap, src->ap);
	while ((marker = va_arg(ap, int)) != 0)
		if ((unsigned) marker < ORR_FIRST_MARKER)
			(void) va_arg(ap, starpu_data_handle_t);
		else
			free(orr_marker_skip(marker, &ap).owned);
	va_end(ap);
}

/* Frees what parsing has allocated, and the arguments of src, unless there is a task (NULL) that
 * frees them. */
static void free_extra(struct insertion *ins, struct source *src)
{
	if (ins->extra & EXTRA_DATA)
		free(ins->d);
	if (src && ins->extra & EXTRA_OWNED)
		free_owned(src);
}

static inline void parse_done(struct insertion *ins, struct source *src)
{
	if (__builtin_expect(ins->extra != 0, 0))
		free_extra(ins, src);
}

#define REDUCES(mode) ((mode) & (STARPU_REDUX | STARPU_MPI_REDUX))

static inline int executes(const struct orr_mpi_comm *c, int xrank)
{
	return xrank == c->rank || xrank == STARPU_MPI_PER_NODE;
}

/* True if a rank that does not execute the task has something to do about it. */
static inline int concerned(const struct orr_mpi_comm *c, const struct starpu_data_descr *d,
			    unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		starpu_data_handle_t h = d[i].handle;
		if (!h)
			continue;
		unsigned state = h->mpi_flags &
				 (ORR_MPI_RECEIVED | ORR_MPI_REDUXING | ORR_MPI_MIGRATED);
		if (h->mpi_rank == c->rank || state & ORR_MPI_REDUXING)
			return 1;
		if (__builtin_expect(state != 0, 0) &&
		    d[i].mode & (STARPU_W | STARPU_REDUX | STARPU_MPI_REDUX))
			return 1;
	}
	return 0;
}

/* A datum of a task that does not concern the rank: it is not the rank's, not an element of a
 * reduction, and, if the task writes it, not an old copy. A NULL handle is another rank's. */
static inline int is_others(const struct orr_mpi_comm *c, starpu_data_handle_t h, int mode)
{
	unsigned copy = mode & STARPU_W ? ORR_MPI_RECEIVED | ORR_MPI_MIGRATED : 0;

	if (mode & (STARPU_REDUX | STARPU_MPI_REDUX))
		return 0;
	if (!h)
		return 1;
	return h->mpi_rank != c->rank && !(h->mpi_flags & (ORR_MPI_REDUXING | copy)) &&
	       (h->mpi_rank >= 0 || !(mode & STARPU_W));
}

/* Returns 1 if the task concerns the rank in no way, as concerned() and orr_mpi_place() would find
 * out; 0 if it does, or this pass cannot tell: it knows tasks that write one datum. Inlined where
 * ap begins, so that it stays in registers. */
static inline __attribute__((always_inline)) int is_foreign(const struct orr_mpi_comm *c,
							    va_list ap)
{
	int marker, nwritten = 0, foreign = 1;

	while (foreign && (marker = va_arg(ap, int)) != 0) {
		if (__builtin_expect((unsigned) marker < ORR_FIRST_MARKER, 1)) {
			foreign = is_others(c, va_arg(ap, starpu_data_handle_t), marker);
			nwritten += (marker & STARPU_W) != 0;
		} else if (marker == STARPU_PRIORITY) {
			(void) va_arg(ap, int);
		} else if (marker == STARPU_FLOPS) {
			(void) va_arg(ap, double);
		} else if (marker == STARPU_VALUE) {
			(void) va_arg(ap, void *);
			(void) va_arg(ap, size_t);
		} else {
			foreign = 0;
		}
	}
	return foreign && nwritten == 1;
}

/* ---- messages ---- */

int orr_mpi_bring(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h, int node,
		  int prio, int how, void (*callback)(void *), void *arg)
{
	int owner = h->mpi_rank, me = c->rank, here = node == owner || owner == STARPU_MPI_PER_NODE,
	    ret;

	if (!here && (me == owner || me == node)) {
		ret = orr_mpi_check_tag(h, "starpu_mpi_task_insert");
		if (!ret)
			ret = me == owner ? orr_mpi_sent_set(mpi, h, node)
					  : orr_mpi_received_set(mpi, h);
		if (ret < 0)
			return ret;
		here = ret;
		if (me == node)
			orr_mpi_flags(h, 0, ORR_MPI_STALE);
		if (!here && me == owner)
			return orr_mpi_isend(mpi, c, h, node, h->mpi_tag, prio,
					     how | ORR_P2P_DETACHED | ORR_P2P_GROWS, NULL, NULL,
					     NULL);
		if (!here)
			return orr_mpi_irecv(mpi, c, h, owner, h->mpi_tag, prio,
					     ORR_P2P_DETACHED | ORR_P2P_THROTTLED, callback, arg,
					     NULL);
	}
	if (me == node && callback)
		callback(arg);
	return 0;
}

/* Checks everything before the first message, so that an error leaves the ranks in step. */
static int insert_check(const struct orr_mpi_comm *c, int xrank, const struct starpu_data_descr *d,
			unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		starpu_data_handle_t h = d[i].handle;
		if (!(d[i].mode & (STARPU_RW | STARPU_REDUX | STARPU_MPI_REDUX)) ||
		    d[i].mode & STARPU_SCRATCH)
			continue;
		if (!h && xrank == c->rank) {
			orr_error(
				"a task that this rank executes has a NULL handle as data %u: register the data on the executing rank",
				i);
			return -EINVAL;
		}
		if (h && h->mpi_rank == -1 && (xrank == c->rank || d[i].mode & STARPU_W)) {
			orr_error(
				"data %s has no owner; call starpu_mpi_data_register() before inserting tasks that use it",
				orr_handle_name(h));
			return -EINVAL;
		}
		if (h && xrank == ORR_MPI_ELSEWHERE && h->mpi_rank == c->rank &&
		    d[i].mode & STARPU_R) {
			orr_error(
				"rank %d owns data %s, which the task reads, but cannot tell which rank executes the task because what it writes is NULL here; "
				"register that data here too, or add STARPU_EXECUTE_ON_NODE",
				c->rank, orr_handle_name(h));
			return -EINVAL;
		}
	}
	return 0;
}

/* Brings one datum that is read to where it is needed. */
static int bring_read(struct orr_mpi *mpi, struct orr_mpi_comm *c, int xrank,
		      const struct starpu_data_descr *d, int prio)
{
	int how = d->mode & STARPU_SSEND ? ORR_P2P_SYNC : 0, ret = 0;

	if (xrank != STARPU_MPI_PER_NODE)
		return orr_mpi_bring(mpi, c, d->handle, xrank, prio, how, NULL, NULL);
	if (d->handle->mpi_rank != c->rank)
		return orr_mpi_bring(mpi, c, d->handle, c->rank, prio, how, NULL, NULL);
	struct orr_thread *self = orr_thread_self();
	orr_mpi_burst_begin(self);
	for (int rank = 0; rank < c->size && !ret; rank++)
		ret = orr_mpi_bring(mpi, c, d->handle, rank, prio, how, NULL, NULL);
	orr_mpi_burst_end(mpi, self);
	return ret;
}

int orr_mpi_exchange_before(struct orr_mpi *mpi, struct orr_mpi_comm *c, int xrank,
			    const struct starpu_data_descr *d, unsigned n, int prio)
{
	int ret = insert_check(c, xrank, d, n);

	for (unsigned i = 0; i < n && !ret; i++) {
		starpu_data_handle_t h = d[i].handle;
		if (!h || d[i].mode & STARPU_SCRATCH)
			continue;
		if (REDUCES(d[i].mode)) {
			ret = orr_mpi_redux_note(mpi, c, h, xrank, d[i].mode & STARPU_MPI_REDUX);
			continue;
		}
		if (h->mpi_flags & ORR_MPI_REDUXING)
			ret = orr_mpi_redux_flush(mpi, c, h, prio, 0);
		if (!ret && d[i].mode & STARPU_R && xrank != ORR_MPI_ELSEWHERE && h->mpi_rank != -1)
			ret = bring_read(mpi, c, xrank, &d[i], prio);
	}
	return ret;
}

/* The owner gets back what another rank wrote for it. The writer drops its copy: the next task that
 * writes the datum may be left out on that rank (cache.c). */
static int give_back(struct orr_mpi *mpi, struct orr_mpi_comm *c, int xrank,
		     const struct starpu_data_descr *d, int prio)
{
	starpu_data_handle_t h = d->handle;
	int owner = h->mpi_rank, me = c->rank;

	orr_assert(xrank >= 0 && owner != xrank && (me == owner || me == xrank));
	int ret = orr_mpi_check_tag(h, "starpu_mpi_task_insert");

	if (ret)
		return ret;
	if (me == owner) {
		orr_mpi_sent_clear(mpi, h);
		return orr_mpi_irecv(mpi, c, h, xrank, h->mpi_tag, prio, ORR_P2P_DETACHED, NULL,
				     NULL, NULL);
	}
	ret = orr_mpi_isend(mpi, c, h, owner, h->mpi_tag, prio,
			    ORR_P2P_DETACHED | (d->mode & STARPU_SSEND ? ORR_P2P_SYNC : 0), NULL,
			    NULL, NULL);
	orr_mpi_written_drop(mpi, h);
	return ret;
}

int orr_mpi_exchange_after(struct orr_mpi *mpi, struct orr_mpi_comm *c, int xrank,
			   const struct starpu_data_descr *d, unsigned n, int prio)
{
	int ret = 0;

	for (unsigned i = 0; i < n && !ret; i++) {
		starpu_data_handle_t h = d[i].handle;
		if (!h || !(d[i].mode & STARPU_W) || d[i].mode & STARPU_SCRATCH ||
		    REDUCES(d[i].mode) || h->mpi_rank == STARPU_MPI_PER_NODE)
			continue;
		int owner = h->mpi_rank, part = c->rank == owner || c->rank == xrank;
		if (xrank == STARPU_MPI_PER_NODE) {
			/* Executed everywhere: everybody wrote the same; the owner's counts. */
			if (c->rank == owner)
				orr_mpi_sent_clear(mpi, h);
			else
				orr_mpi_received_drop(mpi, h);
		} else if (part && owner != xrank && xrank >= 0)
			ret = give_back(mpi, c, xrank, &d[i], prio);
		else
			orr_mpi_overwritten(mpi, h, c->rank);
	}
	return ret;
}

/* ---- public ---- */

/* The usual choice, as orr_mpi_place() makes it, without a call: the program names no rank, and one
 * datum is written, whose owner executes the task. Returns 0 in all other cases. */
static inline int place_usual(const struct insertion *ins, int *xrank)
{
	starpu_data_handle_t written = NULL;

	if (ins->choice.node >= 0 || ins->choice.has_data || ins->choice.policy > 0)
		return 0;
	for (unsigned i = 0; i < ins->n; i++)
		if (ins->d[i].mode & STARPU_W) {
			if (written || !ins->d[i].handle)
				return 0;
			written = ins->d[i].handle;
		}
	if (!written || written->mpi_rank < 0)
		return 0;
	*xrank = written->mpi_rank;
	return 1;
}

/* Parses and places; on success the caller ends with parse_done. */
static int begin(struct orr_mpi *mpi, MPI_Comm comm, struct starpu_codelet *cl, struct source *src,
		 struct insertion *ins, struct orr_mpi_comm **c, int *xrank)
{
	int ret = parse(ins, cl, src);

	if (!ret) {
		*c = orr_mpi_comm_of(mpi, comm);
		if (!*c)
			ret = -EINVAL;
		else if (!place_usual(ins, xrank))
			ret = orr_mpi_place(mpi, *c, &ins->choice, ins->d, ins->n, cl, xrank);
	}
	if (ret)
		parse_done(ins, NULL);
	return ret;
}

static int make_task(struct starpu_codelet *cl, struct source *src, struct starpu_task **out)
{
	struct starpu_task *task = starpu_task_create();

	if (!task)
		return -ENOMEM;
	int ret = src->list ? orr_task_insert_list(task, cl, src->list)
			    : orr_task_insert_parse(task, cl, src->ap);
	if (ret)
		starpu_task_destroy(task);
	else
		*out = task;
	return ret;
}

/* This rank executes, sends, or has a stale copy. */
static int insert_concerned(struct orr_mpi *mpi, struct orr_mpi_comm *c, int xrank,
			    struct starpu_codelet *cl, struct insertion *ins, struct source *src)
{
	struct starpu_task *task = NULL;
	int ret = orr_mpi_exchange_before(mpi, c, xrank, ins->d, ins->n, ins->prio);

	if (ret)
		return ret;
	if (executes(c, xrank)) {
		ret = make_task(cl, src, &task);
		if (ret)
			return ret;
		if (__builtin_expect(mpi->heat.counts, 0))
			orr_mpi_heat_note(mpi, ins->d, ins->n);
		if (mpi->pre_submit)
			mpi->pre_submit(task);
		ret = starpu_task_submit(task);
		if (ret) {
			orr_error("task '%s' cannot be submitted on rank %d: %s",
				  cl && cl->name ? cl->name : "unnamed", c->rank,
				  ret == -ENODEV ? "no worker here can execute its codelet"
						 : "see above");
			starpu_task_destroy(task);
			return ret;
		}
	}
	return orr_mpi_exchange_after(mpi, c, xrank, ins->d, ins->n, ins->prio);
}

/* The time of the calling thread, what it owes in virtual time included. */
static double thread_us(void)
{
	return orr_sys_now_us() + orr_thread_self()->debt_us;
}

/* Returns 1 if that was all that the rank had to do about the task; it has done nothing else. */
static inline __attribute__((always_inline)) int passes(MPI_Comm comm, struct starpu_codelet *cl,
							va_list ap)
{
	struct orr_thread *self = orr_thread_self_ahead();
	struct orr_mpi *mpi = self->proc->mpi;
	struct orr_mpi_comm *c;

	if (!self->foreign)
		return 0;
	if (__builtin_expect(
		    !mpi || mpi->check || ORR_ATOMIC_LOAD_RELAXED(&self->proc->cfg->profiling), 0))
		return 0;
	c = ORR_ATOMIC_LOAD(&mpi->comms.last);
	if (c->comm != comm || !is_foreign(c, ap))
		return 0;
	self->inserts = cl;
	ORR_ATOMIC_STORE_RELAXED(&mpi->counts.ninserted, mpi->counts.ninserted + 1);
	orr_sys_charge(self, ORR_COST_FOREIGN);
	orr_sys_settle_later(self);
	orr_insert_end(self);
	return 1;
}

static __attribute__((noinline)) int insert(const char *who, MPI_Comm comm,
					    struct starpu_codelet *cl, struct source *src)
{
	struct orr_process *proc = orr_self();
	struct orr_mpi *mpi = proc->mpi;
	struct orr_mpi_comm *c = NULL;
	struct insertion ins;
	int xrank, ret, timed = ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->profiling);

	if (__builtin_expect(!mpi, 0)) {
		orr_mpi_get(who);
		return -ENODEV;
	}
	struct orr_thread *self = orr_insert_begin(cl);
	double begin_us = __builtin_expect(timed, 0) ? thread_us() : 0;
	ret = begin(mpi, comm, cl, src, &ins, &c, &xrank);
	if (ret) {
		orr_insert_end(self);
		return ret;
	}
	ORR_ATOMIC_STORE_RELAXED(&mpi->counts.ninserted, mpi->counts.ninserted + 1);
	if (__builtin_expect(mpi->check != NULL, 0))
		orr_mpi_check_note(mpi, cl, ins.d, ins.n);
	int mine = executes(c, xrank);
	if (mine)
		ORR_ATOMIC_STORE_RELAXED(&mpi->counts.nown, mpi->counts.nown + 1);
	if (mine && __builtin_expect(mpi->alone != NULL, 0))
		orr_mpi_alone_waited(mpi);
	self->foreign = !mine && !concerned(c, ins.d, ins.n);
	if (!self->foreign)
		ret = insert_concerned(mpi, c, xrank, cl, &ins, src);
	if (!mine) {
		orr_sys_charge(self, ORR_COST_FOREIGN);
		orr_sys_settle(self);
		if (__builtin_expect(timed, 0))
			orr_times_foreign(proc, thread_us() - begin_us);
	}
	parse_done(&ins, mine ? NULL : src);
	orr_insert_end(self);
	return ret;
}

int starpu_mpi_task_insert(MPI_Comm comm, struct starpu_codelet *codelet, ...)
{
	struct source src = { .list = NULL };
	va_list ap;

	va_start(ap, codelet);
	int passed = passes(comm, codelet, ap);
	va_end(ap);
	if (__builtin_expect(passed, 1))
		return 0;
	va_start(src.ap, codelet);
	int ret = insert("starpu_mpi_task_insert", comm, codelet, &src);
	va_end(src.ap);
	return ret;
}

int starpu_mpi_insert_task(MPI_Comm comm, struct starpu_codelet *codelet, ...)
{
	struct source src = { .list = NULL };
	va_list ap;

	va_start(ap, codelet);
	int passed = passes(comm, codelet, ap);
	va_end(ap);
	if (__builtin_expect(passed, 1))
		return 0;
	va_start(src.ap, codelet);
	int ret = insert("starpu_mpi_insert_task", comm, codelet, &src);
	va_end(src.ap);
	return ret;
}

int orr_mpi_insert_list(MPI_Comm comm, struct starpu_codelet *cl, void **list)
{
	struct source src = { .list = list };

	return insert("fstarpu_mpi_task_insert", comm, cl, &src);
}

static struct starpu_task *build(MPI_Comm comm, struct starpu_codelet *codelet, struct source *src)
{
	struct orr_mpi *mpi = orr_mpi_get("starpu_mpi_task_build");
	struct orr_mpi_comm *c = NULL;
	struct starpu_task *task = NULL;
	struct insertion ins;
	int xrank;

	if (!mpi || begin(mpi, comm, codelet, src, &ins, &c, &xrank))
		return NULL;
	ORR_ATOMIC_STORE_RELAXED(&mpi->counts.ninserted, mpi->counts.ninserted + 1);
	if (__builtin_expect(mpi->check != NULL, 0))
		orr_mpi_check_note(mpi, codelet, ins.d, ins.n);
	int mine = executes(c, xrank);
	if (mine)
		ORR_ATOMIC_STORE_RELAXED(&mpi->counts.nown, mpi->counts.nown + 1);
	if (mine && __builtin_expect(mpi->alone != NULL, 0))
		orr_mpi_alone_waited(mpi);
	if ((mine || concerned(c, ins.d, ins.n)) &&
	    !orr_mpi_exchange_before(mpi, c, xrank, ins.d, ins.n, ins.prio) && mine)
		make_task(codelet, src, &task);
	if (task && __builtin_expect(mpi->heat.counts, 0))
		orr_mpi_heat_note(mpi, ins.d, ins.n);
	parse_done(&ins, mine ? NULL : src);
	return task;
}

struct starpu_task *orr_mpi_build_list(MPI_Comm comm, struct starpu_codelet *cl, void **list)
{
	struct source src = { .list = list };

	return build(comm, cl, &src);
}

struct starpu_task *starpu_mpi_task_build_v(MPI_Comm comm, struct starpu_codelet *codelet,
					    va_list varg_list)
{
	struct source src = { .list = NULL };

	va_copy(src.ap, varg_list);
	struct starpu_task *task = build(comm, codelet, &src);
	va_end(src.ap);
	return task;
}

struct starpu_task *starpu_mpi_task_build(MPI_Comm comm, struct starpu_codelet *codelet, ...)
{
	va_list ap;

	va_start(ap, codelet);
	struct starpu_task *task = starpu_mpi_task_build_v(comm, codelet, ap);
	va_end(ap);
	return task;
}

static int post_build(MPI_Comm comm, struct starpu_codelet *codelet, struct source *src)
{
	struct orr_mpi *mpi = orr_mpi_get("starpu_mpi_task_post_build");
	struct orr_mpi_comm *c = NULL;
	struct insertion ins;
	int xrank, ret = mpi ? begin(mpi, comm, codelet, src, &ins, &c, &xrank) : -ENODEV;

	if (ret)
		return ret;
	if (executes(c, xrank) || concerned(c, ins.d, ins.n))
		ret = orr_mpi_exchange_after(mpi, c, xrank, ins.d, ins.n, ins.prio);
	parse_done(&ins, NULL);
	return ret;
}

int orr_mpi_post_build_list(MPI_Comm comm, struct starpu_codelet *cl, void **list)
{
	struct source src = { .list = list };

	return post_build(comm, cl, &src);
}

int starpu_mpi_task_post_build_v(MPI_Comm comm, struct starpu_codelet *codelet, va_list varg_list)
{
	struct source src = { .list = NULL };

	va_copy(src.ap, varg_list);
	int ret = post_build(comm, codelet, &src);
	va_end(src.ap);
	return ret;
}

int starpu_mpi_task_post_build(MPI_Comm comm, struct starpu_codelet *codelet, ...)
{
	va_list ap;

	va_start(ap, codelet);
	int ret = starpu_mpi_task_post_build_v(comm, codelet, ap);
	va_end(ap);
	return ret;
}

int starpu_mpi_task_exchange_data_before_execution(MPI_Comm comm, struct starpu_task *task,
						   struct starpu_data_descr *descrs,
						   struct starpu_mpi_task_exchange_params *params)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	struct orr_mpi_comm *c = mpi ? orr_mpi_comm_of(mpi, comm) : NULL;
	struct orr_mpi_choice choice = { .node = -1,
					 .policy = STARPU_MPI_NODE_SELECTION_CURRENT_POLICY };
	unsigned n = task->cl ? STARPU_TASK_GET_NBUFFERS(task) : 0;
	int xrank;

	if (!c)
		return mpi ? -EINVAL : -ENODEV;
	for (unsigned i = 0; i < n; i++) {
		descrs[i].handle = STARPU_TASK_GET_HANDLE(task, i);
		descrs[i].mode = STARPU_TASK_GET_MODE(task, i);
	}
	int ret = orr_mpi_place(mpi, c, &choice, descrs, n, task->cl, &xrank);
	if (ret)
		return ret;
	params->xrank = xrank;
	params->priority = task->priority;
	params->do_execute = executes(c, xrank);
	return orr_mpi_exchange_before(mpi, c, xrank, descrs, n, task->priority);
}

int starpu_mpi_task_exchange_data_after_execution(MPI_Comm comm, struct starpu_data_descr *descrs,
						  unsigned nb_data,
						  struct starpu_mpi_task_exchange_params params)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	struct orr_mpi_comm *c = mpi ? orr_mpi_comm_of(mpi, comm) : NULL;

	if (!c)
		return mpi ? -EINVAL : -ENODEV;
	return orr_mpi_exchange_after(mpi, c, params.xrank, descrs, nb_data, params.priority);
}

int starpu_mpi_pre_submit_hook_register(void (*f)(struct starpu_task *))
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (!mpi)
		return -ENODEV;
	if (mpi->pre_submit) {
		orr_error(
			"starpu_mpi_pre_submit_hook_register: a hook is registered already; unregister it first");
		return -EINVAL;
	}
	mpi->pre_submit = f;
	return 0;
}

int starpu_mpi_pre_submit_hook_unregister(void)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (!mpi)
		return -ENODEV;
	mpi->pre_submit = NULL;
	return 0;
}
