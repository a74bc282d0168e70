/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Access to data by the program outside of tasks (handbook 27.3).
 *
 * A release names a handle and a memory node only. It ends, of the acquisitions there, the one
 * whose callback runs in the calling thread; else one that this thread waited for; else the oldest
 * one that was granted by callback, which any thread may release; else the oldest.
 *
 * Invariant: each acquisition of the program is linked in its handle, newest first, from its grant
 * until its release. */
#include "data/handle.h"
#include "base/log.h"
#include "data/data.h"
#include "data/acquire.h"
#include "data/filters_views.h"
#include "data/access.h"
#include "data/handle_attributes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct orr_user_acquire {
	struct orr_acquire acq;
	struct orr_user_acquire *next;
	void (*callback)(void *);
	void *arg;
	struct orr_thread *owner; /* the thread that waited for it; NULL: it has a callback */
	int node;                 /* as the program gave it */
};

static void link_acquire(struct orr_user_acquire *u)
{
	starpu_data_handle_t h = u->acq.access.handle;

	orr_lock(&h->lock);
	struct orr_data_ext *ext = orr_handle_ext(h);
	if (!ext)
		orr_fatal("out of memory while acquiring %s", orr_handle_name(h));
	orr_assert(u->acq.access.locked || !(u->acq.access.mode & STARPU_RW));
	u->next = ext->acquires;
	ext->acquires = u;
	orr_handle_unlock(h);
}

static void granted_callback(struct orr_acquire *a)
{
	struct orr_user_acquire *u = (struct orr_user_acquire *) a;
	struct orr_thread *self = orr_thread_self();
	void *outer = self->acquisition;

	link_acquire(u);
	self->acquisition = u;
	u->callback(u->arg); /* u may be gone afterwards */
	self->acquisition = outer;
}

/* A task or a callback must not wait for data: the others may need its worker. */
int orr_acquire_check_wait(starpu_data_handle_t h, const char *what)
{
	const char *task = orr_data_inside(orr_thread_self());

	if (!task)
		return 0;
	orr_error(
		"%s of %s inside task or callback %s would block its worker: use the _cb form, or make it an access of the task",
		what, orr_handle_name(h), task);
	return -EDEADLK;
}

/* Handle and mode. */
static int check_access(starpu_data_handle_t h, enum starpu_data_access_mode mode)
{
	if (orr_handle_check(h, "acquisition"))
		return -EINVAL;
	if ((mode & STARPU_RW) && !(mode & (STARPU_SCRATCH | STARPU_REDUX | STARPU_MPI_REDUX)))
		return 0;
	char name[ORR_MODE_NAME];
	orr_error("acquiring %s with access mode %s: it takes STARPU_R, STARPU_W or STARPU_RW",
		  orr_handle_name(h), orr_mode_name(mode, name));
	return -EINVAL;
}

/* The memory node meant by the program; negative ones ask for ordering only. */
static int check_node(starpu_data_handle_t h, int node)
{
	if (node < (int) orr_self()->data->nmemnodes)
		return 0;
	orr_error("acquiring %s on memory node %d: there are %u", orr_handle_name(h), node,
		  orr_self()->data->nmemnodes);
	return -EINVAL;
}

/* The node where the program gets data if it names none: their home node if that is main memory,
 * else node 0. */
static int default_node(starpu_data_handle_t h)
{
	return h && h->home_node >= 0 &&
			       starpu_node_get_kind((unsigned) h->home_node) == STARPU_CPU_RAM
		       ? h->home_node
		       : STARPU_MAIN_RAM;
}

/* A new acquisition by the program, or NULL with *ret after a message. owner: the thread that will
 * have it, NULL: a callback. */
static struct orr_user_acquire *prepare(starpu_data_handle_t h, int node,
					enum starpu_data_access_mode mode, struct orr_thread *owner,
					int *ret)
{
	struct orr_user_acquire *u;

	*ret = check_access(h, mode);
	if (!*ret)
		*ret = check_node(h, node);
	if (*ret)
		return NULL;
	u = calloc(1, sizeof(*u));
	if (!u) {
		*ret = -ENOMEM;
		return NULL;
	}
	u->node = node;
	u->owner = owner;
	return u;
}

int starpu_data_acquire_on_node(starpu_data_handle_t handle, int node,
				enum starpu_data_access_mode mode)
{
	int ret = check_access(handle, mode);

	if (!ret)
		ret = orr_acquire_check_wait(handle, "acquisition");
	if (ret)
		return ret;
	struct orr_user_acquire *u = prepare(handle, node, mode, orr_thread_self(), &ret);
	if (!u)
		return ret;
	u->acq.may_fail = 1;
	ret = orr_acquire_wait(&u->acq, handle, node < 0 ? -1 : node, mode);
	if (!ret && u->acq.status) {
		ret = u->acq.status;
		orr_acquire_release(&u->acq);
	}
	/* Linked earlier, another thread's release could take it. */
	if (ret)
		free(u);
	else
		link_acquire(u);
	return ret;
}

int starpu_data_acquire(starpu_data_handle_t handle, enum starpu_data_access_mode mode)
{
	return starpu_data_acquire_on_node(handle, default_node(handle), mode);
}

int starpu_data_acquire_on_node_try(starpu_data_handle_t handle, int node,
				    enum starpu_data_access_mode mode)
{
	int ret;

	if (node >= 0 && (mode & STARPU_R) && orr_thread_self()->task &&
	    !orr_handle_check(handle, "acquisition") &&
	    !starpu_data_is_on_node(handle, (unsigned) node)) {
		/* Waiting for the transfer would block a worker: it may try again when the data are
		 * there. */
		ret = starpu_data_prefetch_on_node(handle, (unsigned) node, 1);
		return ret ? ret : -EAGAIN;
	}
	struct orr_user_acquire *u = prepare(handle, node, mode, orr_thread_self(), &ret);
	if (!u)
		return ret;
	if (ORR_ATOMIC_LOAD_RELAXED(&handle->busy_partition))
		ret = orr_handle_check_partition(handle, mode, NULL);
	if (!ret)
		ret = orr_acquire_try(&u->acq, handle, node, mode);
	if (ret)
		free(u);
	else
		link_acquire(u);
	return ret;
}

int starpu_data_acquire_try(starpu_data_handle_t handle, enum starpu_data_access_mode mode)
{
	return starpu_data_acquire_on_node_try(handle, default_node(handle), mode);
}

int starpu_data_acquire_on_node_cb_sequential_consistency(starpu_data_handle_t handle, int node,
							  enum starpu_data_access_mode mode,
							  void (*callback)(void *), void *arg,
							  int sequential_consistency)
{
	int ret;

	if (!callback) {
		orr_error("acquiring %s with a callback that is NULL: nobody would release it",
			  orr_handle_name(handle));
		return -EINVAL;
	}
	struct orr_user_acquire *u = prepare(handle, node, mode, NULL, &ret);
	if (!u)
		return ret;
	u->acq.in_turn = 1;
	u->callback = callback;
	u->arg = arg;
	ret = orr_acquire_start(&u->acq, handle, node < 0 ? -1 : node, mode, sequential_consistency,
				0, granted_callback);
	if (ret)
		free(u);
	return ret;
}

int starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(
	starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode,
	void (*callback_acquired)(void *arg, int *node, enum starpu_data_access_mode mode),
	void (*callback)(void *arg), void *arg, int sequential_consistency, int quick,
	long *pre_sync_jobid, long *post_sync_jobid, int prio)
{
	(void) quick;
	(void) prio;
	if (callback_acquired) {
		orr_error(
			"acquiring %s: a function that is called before the value is fetched is not supported; give callback only",
			orr_handle_name(handle));
		return -ENOTSUP;
	}
	if (pre_sync_jobid)
		*pre_sync_jobid = -1;
	if (post_sync_jobid)
		*post_sync_jobid = -1;
	return starpu_data_acquire_on_node_cb_sequential_consistency(handle, node, mode, callback,
								     arg, sequential_consistency);
}

int starpu_data_acquire_on_node_cb(starpu_data_handle_t handle, int node,
				   enum starpu_data_access_mode mode, void (*callback)(void *),
				   void *arg)
{
	return starpu_data_acquire_on_node_cb_sequential_consistency(handle, node, mode, callback,
								     arg, 1);
}

int starpu_data_acquire_cb_sequential_consistency(starpu_data_handle_t handle,
						  enum starpu_data_access_mode mode,
						  void (*callback)(void *), void *arg,
						  int sequential_consistency)
{
	int node = default_node(handle);

	return starpu_data_acquire_on_node_cb_sequential_consistency(handle, node, mode, callback,
								     arg, sequential_consistency);
}

int starpu_data_acquire_cb(starpu_data_handle_t handle, enum starpu_data_access_mode mode,
			   void (*callback)(void *), void *arg)
{
	return starpu_data_acquire_cb_sequential_consistency(handle, mode, callback, arg, 1);
}

/* ---- release ---- */

/* A measure of how well a release by the calling thread fits u; 0: not at all. */
static int fitness(const struct orr_user_acquire *u, int node, const struct orr_thread *self)
{
	if (u->node != node)
		return 0;
	if (u == self->acquisition)
		return 4;
	if (u->owner == self)
		return 3;
	return u->owner ? 1 : 2;
}

/* The acquisition that a release refers to. If `take`, it is taken off the list. */
static struct orr_user_acquire *find_acquire(starpu_data_handle_t h, int node, int take)
{
	struct orr_thread *self = orr_thread_self();
	struct orr_user_acquire **found = NULL, *u = NULL;
	int best = 0, fits;

	orr_lock(&h->lock);
	for (struct orr_user_acquire **p = h->ext ? &h->ext->acquires : NULL; p && *p;
	     p = &(*p)->next) {
		fits = fitness(*p, node, self);
		if (fits && fits >= best) {
			best = fits;
			found = p;
		}
	}
	if (found) {
		u = *found;
		if (take)
			*found = u->next;
	}
	orr_handle_unlock(h);
	if (take && u == self->acquisition)
		self->acquisition = NULL;
	return u;
}

void starpu_data_release_to_on_node(starpu_data_handle_t handle,
				    enum starpu_data_access_mode down_to_mode, int node)
{
	int end = !(down_to_mode & STARPU_RW);

	if (orr_handle_known(handle, "release"))
		return;
	struct orr_user_acquire *u = find_acquire(handle, node, end);
	if (!u) {
		orr_error(
			"release of %s on memory node %d, where it is not acquired: nothing is released",
			orr_handle_name(handle), node);
		return;
	}
	if (end) {
		orr_acquire_release(&u->acq);
		free(u);
	} else {
		orr_acquire_downgrade(&u->acq, down_to_mode);
	}
}

void starpu_data_release_on_node(starpu_data_handle_t handle, int node)
{
	starpu_data_release_to_on_node(handle, STARPU_NONE, node);
}

void starpu_data_release_to(starpu_data_handle_t handle, enum starpu_data_access_mode down_to_mode)
{
	starpu_data_release_to_on_node(handle, down_to_mode, default_node(handle));
}

void starpu_data_release(starpu_data_handle_t handle)
{
	starpu_data_release_to(handle, STARPU_NONE);
}

/* Refuses the end of a datum that a call which waited still holds. Acquisitions with a callback are
 * released in time; otherwise the program waits for ever, as it asked for. */
int orr_acquire_check_unregister(starpu_data_handle_t h)
{
	struct orr_user_acquire *u;

	orr_lock(&h->lock);
	for (u = h->ext ? h->ext->acquires : NULL; u && !u->owner; u = u->next)
		;
	orr_handle_unlock(h);
	if (!u)
		return 0;
	orr_error("%s is still acquired by the program: release it before unregistering it",
		  orr_handle_name(h));
	return -EINVAL;
}
