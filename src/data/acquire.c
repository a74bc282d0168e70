/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Access to data by the program outside of tasks (handbook 27.3), unregistration and invalidation (27.2).
 *
 * Invariant: each acquisition of the program is linked in its handle until it is released, so that release finds it by memory node. */
#include "data/handle.h"
#include "core/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct orr_user_acquire {
	struct orr_acquire acq;
	struct orr_user_acquire *next;
	void (*callback)(void *);
	void *arg;
	int node;		/* as the program gave it */
	int done;		/* atomic */
};

static void link_acquire(struct orr_user_acquire *u)
{
	starpu_data_handle_t h = u->acq.access.handle;
	struct orr_data_ext *ext;

	orr_lock(&h->lock);
	ext = orr_handle_ext(h);
	if (!ext)
		orr_fatal("out of memory while acquiring %s", orr_handle_name(h));
	u->next = ext->acquires;
	ext->acquires = u;
	orr_unlock(&h->lock);
}

static void granted_sync(struct orr_acquire *a)
{
	struct orr_user_acquire *u = (struct orr_user_acquire *) a;
	struct orr_node *node = orr_self();

	/* From here on it is the waiting thread's, which links it: linked earlier, another thread's release could take it. */
	ORR_ATOMIC_STORE(&u->done, 1);
	orr_waitq_wake(&node->done);
}

static void granted_callback(struct orr_acquire *a)
{
	struct orr_user_acquire *u = (struct orr_user_acquire *) a;

	link_acquire(u);
	u->callback(u->arg);
}

/* Waits until *flag is set by another thread. */
static void wait_flag(struct orr_node *node, int *flag)
{
	orr_sys_settle(orr_thread_self());
	if (!ORR_ATOMIC_LOAD(flag))
		orr_about_to_wait(node);
	while (!ORR_ATOMIC_LOAD(flag)) {
		unsigned key = orr_waitq_prepare(&node->done);

		if (ORR_ATOMIC_LOAD(flag))
			orr_waitq_cancel(&node->done);
		else
			orr_waitq_wait(&node->done, key, -1);
	}
}

/* A task or a callback must not wait for data: the others may need its worker. */
static int check_may_wait(starpu_data_handle_t h, const char *what)
{
	struct orr_task *t = orr_thread_self()->task;

	if (!t)
		return 0;
	orr_error("%s of %s inside task or callback %s would block its worker: use the _cb form, or make it an access of the task", what,
		  orr_handle_name(h), orr_task_name(t->pub));
	return -EDEADLK;
}

/* Handle and mode. */
static int check_access(starpu_data_handle_t h, enum starpu_data_access_mode mode)
{
	if (orr_handle_check(h, "acquisition"))
		return -EINVAL;
	if ((mode & STARPU_RW) && !(mode & (STARPU_SCRATCH | STARPU_REDUX | STARPU_MPI_REDUX)))
		return 0;
	orr_error("acquiring %s with access mode %d: it takes STARPU_R, STARPU_W or STARPU_RW", orr_handle_name(h), (int) mode);
	return -EINVAL;
}

/* The memory node meant by the program; negative ones ask for ordering only. */
static int check_node(starpu_data_handle_t h, int node)
{
	if (node < (int) orr_self()->nmemnodes)
		return 0;
	orr_error("acquiring %s on memory node %d: there are %u", orr_handle_name(h), node, orr_self()->nmemnodes);
	return -EINVAL;
}

/* Where the program gets the data without naming a node: at home, when it can look at them there. */
static int default_node(starpu_data_handle_t h)
{
	return h && h->home_node >= 0 && starpu_node_get_kind((unsigned) h->home_node) == STARPU_CPU_RAM ? h->home_node : STARPU_MAIN_RAM;
}

int starpu_data_acquire_on_node(starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode)
{
	struct orr_user_acquire *u;
	int ret = check_access(handle, mode);

	if (!ret)
		ret = check_may_wait(handle, "acquisition");
	if (!ret)
		ret = check_node(handle, node);
	if (ret)
		return ret;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->node = node;
	u->acq.may_fail = 1;
	ret = orr_acquire_start(&u->acq, handle, node < 0 ? -1 : node, mode, 1, 0, granted_sync);
	if (ret) {
		free(u);
		return ret;
	}
	wait_flag(orr_self(), &u->done);
	ret = u->acq.status;
	if (ret) {
		orr_acquire_release(&u->acq);
		free(u);
		return ret;
	}
	link_acquire(u);
	return 0;
}

int starpu_data_acquire(starpu_data_handle_t handle, enum starpu_data_access_mode mode)
{
	return starpu_data_acquire_on_node(handle, default_node(handle), mode);
}

int starpu_data_acquire_on_node_try(starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode)
{
	struct orr_user_acquire *u;
	int ret = check_access(handle, mode);

	if (!ret)
		ret = check_node(handle, node);
	if (ret)
		return ret;
	if (node >= 0 && (mode & STARPU_R) && orr_thread_self()->task && !starpu_data_is_on_node(handle, (unsigned) node)) {
		/* Waiting for the transfer would block a worker: it may try again when the data are there. */
		ret = starpu_data_prefetch_on_node(handle, (unsigned) node, 1);
		return ret ? ret : -EAGAIN;
	}
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->node = node;
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

int starpu_data_acquire_on_node_cb_sequential_consistency(starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode,
							  void (*callback)(void *), void *arg, int sequential_consistency)
{
	struct orr_user_acquire *u;
	int ret = check_access(handle, mode);

	if (!ret)
		ret = check_node(handle, node);
	if (!ret && !callback) {
		orr_error("acquiring %s with a callback that is NULL: nobody would release it", orr_handle_name(handle));
		ret = -EINVAL;
	}
	if (ret)
		return ret;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->node = node;
	u->callback = callback;
	u->arg = arg;
	ret = orr_acquire_start(&u->acq, handle, node < 0 ? -1 : node, mode, sequential_consistency, 0, granted_callback);
	if (ret)
		free(u);
	return ret;
}

int starpu_data_acquire_on_node_cb(starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode, void (*callback)(void *), void *arg)
{
	return starpu_data_acquire_on_node_cb_sequential_consistency(handle, node, mode, callback, arg, 1);
}

int starpu_data_acquire_cb_sequential_consistency(starpu_data_handle_t handle, enum starpu_data_access_mode mode, void (*callback)(void *),
						  void *arg, int sequential_consistency)
{
	int node = default_node(handle);

	return starpu_data_acquire_on_node_cb_sequential_consistency(handle, node, mode, callback, arg, sequential_consistency);
}

int starpu_data_acquire_cb(starpu_data_handle_t handle, enum starpu_data_access_mode mode, void (*callback)(void *), void *arg)
{
	return starpu_data_acquire_cb_sequential_consistency(handle, mode, callback, arg, 1);
}

/* ---- release ---- */

/* Finds the oldest acquisition on that node; takes it off the list when it is to end. */
static struct orr_user_acquire *find_acquire(starpu_data_handle_t h, int node, int take)
{
	struct orr_user_acquire **p, **found = NULL, *u = NULL;

	orr_lock(&h->lock);
	for (p = h->ext ? &h->ext->acquires : NULL; p && *p; p = &(*p)->next)
		if ((*p)->node == node)
			found = p;
	if (found) {
		u = *found;
		if (take)
			*found = u->next;
	}
	orr_unlock(&h->lock);
	return u;
}

void starpu_data_release_to_on_node(starpu_data_handle_t handle, enum starpu_data_access_mode down_to_mode, int node)
{
	int end = !(down_to_mode & STARPU_RW);
	struct orr_user_acquire *u;

	if (orr_handle_known(handle, "release"))
		return;
	u = find_acquire(handle, node, end);
	if (!u) {
		orr_error("release of %s on memory node %d, where it is not acquired: nothing is released", orr_handle_name(handle), node);
		return;
	}
	if (end) {
		orr_acquire_release(&u->acq);
		free(u);
	} else {
		orr_acquire_downgrade(&u->acq, down_to_mode);
	}
}

void starpu_data_release_on_node(starpu_data_handle_t handle, int node) { starpu_data_release_to_on_node(handle, STARPU_NONE, node); }

void starpu_data_release_to(starpu_data_handle_t handle, enum starpu_data_access_mode down_to_mode)
{
	starpu_data_release_to_on_node(handle, down_to_mode, default_node(handle));
}

void starpu_data_release(starpu_data_handle_t handle) { starpu_data_release_to(handle, STARPU_NONE); }

/* ---- unregistration and invalidation ---- */

/* An acquisition for writing that ends the handle or its contents. */
struct closing {
	struct orr_acquire acq;
	starpu_data_handle_t handle;
	int done;
	enum { DESTROY, DROP } what;
};

static void close_now(struct closing *c)
{
	starpu_data_handle_t h = c->handle;

	if (c->what == DESTROY) {
		orr_handle_destroy(h);
		return;
	}
	orr_lock(&h->lock);
	orr_handle_drop_contents(h);
	orr_unlock(&h->lock);
	orr_acquire_release(&c->acq);
}

static void closing_sync(struct orr_acquire *a)
{
	struct closing *c = (struct closing *) a;
	struct orr_node *node = orr_self();

	ORR_ATOMIC_STORE(&c->done, 1);
	orr_waitq_wake(&node->done);
}

static void closing_submit(struct orr_acquire *a)
{
	struct closing *c = (struct closing *) a;

	if (c->what == DESTROY) {
		/* Accesses outside of sequential consistency may still come: the last of them ends the handle. */
		starpu_data_handle_t h = c->handle;

		orr_acquire_release(&c->acq);
		if (ORR_ATOMIC_ADD(&h->nunordered, ORR_UNORDERED_LAST) == ORR_UNORDERED_LAST)
			orr_handle_destroy(h);
	} else {
		close_now(c);
	}
	free(c);
}

/* Does the home node's buffer need the latest value back? */
static int home_wanted(starpu_data_handle_t h)
{
	struct orr_replicate *r;

	if (h->home_node < 0)
		return 0;
	for (r = &h->main; r; r = r->next)
		if (ORR_ATOMIC_LOAD(&r->state) != ORR_INVALID)
			return 1;
	return 0;
}

/* Is it acquired by a call that waited? Those with a callback are released in time, or we wait for ever as asked. */
static int held_by_caller(starpu_data_handle_t h)
{
	struct orr_user_acquire *u;

	orr_lock(&h->lock);
	for (u = h->ext ? h->ext->acquires : NULL; u && u->callback; u = u->next)
		;
	orr_unlock(&h->lock);
	return u != NULL;
}

static int unregister_check(starpu_data_handle_t h)
{
	if (orr_partition_check_unregister(h))
		return -EINVAL;
	if (held_by_caller(h)) {
		orr_error("%s is still acquired by the program: release it before unregistering it", orr_handle_name(h));
		return -EINVAL;
	}
	return 0;
}

/* Accesses outside of sequential consistency do not stand in the queue: wait for their tasks. */
void orr_handle_wait_unordered(starpu_data_handle_t h)
{
	struct orr_node *node = orr_self();

	if (ORR_ATOMIC_LOAD(&h->nunordered))
		orr_about_to_wait(node);
	while (ORR_ATOMIC_LOAD(&h->nunordered)) {
		unsigned key = orr_waitq_prepare(&node->done);

		if (!ORR_ATOMIC_LOAD(&h->nunordered))
			orr_waitq_cancel(&node->done);
		else
			orr_waitq_wait(&node->done, key, -1);
	}
}

static void unregister(starpu_data_handle_t h, int coherency)
{
	struct orr_node *node = orr_self();
	struct closing c = { .handle = h, .what = DESTROY };

	if (orr_handle_check(h, "unregistration"))
		orr_fatal("unregistration cannot go on");
	if (orr_dup_unregister(h))
		return;
	if (unregister_check(h) || check_may_wait(h, "unregistration"))
		orr_fatal("%s cannot be unregistered", orr_handle_name(h));
	orr_sys_settle(orr_thread_self());
	orr_handle_wait_unordered(h);
	/* Ordered whatever the handle's flag: it must come after everything that was submitted. */
	ORR_ATOMIC_STORE(&h->sequential, 1);
	orr_acquire_start(&c.acq, h, -1, STARPU_RW, 1, 0, closing_sync);
	wait_flag(node, &c.done);
	if (coherency && home_wanted(h) && orr_fetch_wait(h, (unsigned) h->home_node, STARPU_R, 0) < 0)
		orr_fatal("the value of %s cannot be brought back to its home node", orr_handle_name(h));
	close_now(&c);
}

void starpu_data_unregister(starpu_data_handle_t handle) { unregister(handle, 1); }
void starpu_data_unregister_no_coherency(starpu_data_handle_t handle) { unregister(handle, 0); }

static void close_submit(starpu_data_handle_t h, int what)
{
	struct closing *c = calloc(1, sizeof(*c));
	int home = what == DESTROY && home_wanted(h);

	if (!c)
		orr_fatal("out of memory while closing %s", orr_handle_name(h));
	c->handle = h;
	c->what = what;
	if (orr_acquire_start(&c->acq, h, home ? h->home_node : -1, home ? STARPU_RW : STARPU_W, 1, 0, closing_submit))
		free(c);
}

void starpu_data_unregister_submit(starpu_data_handle_t handle)
{
	if (orr_handle_check(handle, __func__))
		orr_fatal("unregistration cannot go on");
	if (orr_dup_unregister(handle))
		return;
	if (unregister_check(handle))
		orr_fatal("%s cannot be unregistered", orr_handle_name(handle));
	ORR_ATOMIC_STORE(&handle->sequential, 1);
	handle->alive = ORR_HANDLE_LEAVING;
	close_submit(handle, DESTROY);
}

void starpu_data_invalidate_submit(starpu_data_handle_t handle)
{
	if (orr_handle_check(handle, __func__) == 0)
		close_submit(handle, DROP);
}

void starpu_data_invalidate(starpu_data_handle_t handle)
{
	struct orr_node *node = orr_self();
	struct closing c = { .handle = handle, .what = DROP };

	if (orr_handle_check(handle, "invalidation") || check_may_wait(handle, "invalidation"))
		return;
	if (orr_acquire_start(&c.acq, handle, -1, STARPU_W, 1, 0, closing_sync))
		return;
	wait_flag(node, &c.done);
	close_now(&c);
}

void starpu_data_deinitialize(starpu_data_handle_t handle) { starpu_data_invalidate(handle); }
void starpu_data_deinitialize_submit(starpu_data_handle_t handle) { starpu_data_invalidate_submit(handle); }
