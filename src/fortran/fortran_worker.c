/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workers and scheduling contexts for Fortran, which passes kinds of workers as pointers.
 *
 * Invariant: a pointer that stands for a constant holds the value of C's constant. */
#include "fortran/fortran.h"

#include <stdio.h>

#include "starpu.h"
#include "base/log.h"

static enum starpu_worker_archtype kind(void *typeid)
{
	return (enum starpu_worker_archtype)(intptr_t) typeid;
}

void fstarpu_topology_print(void)
{
	starpu_topology_print(stdout);
}

int fstarpu_worker_is_blocked(int id)
{
	return (int) starpu_worker_is_blocked_in_parallel(id);
}

void *fstarpu_worker_get_type(int id)
{
	return (void *) (intptr_t) starpu_worker_get_type(id);
}

int fstarpu_worker_get_count_by_type(void *typeid)
{
	return starpu_worker_get_count_by_type(kind(typeid));
}

int fstarpu_worker_get_ids_by_type(void *typeid, int *workerids, int maxsize)
{
	return (int) starpu_worker_get_ids_by_type(kind(typeid), workerids, (unsigned) maxsize);
}

int fstarpu_worker_get_by_type(void *typeid, int num)
{
	return starpu_worker_get_by_type(kind(typeid), num);
}

int fstarpu_worker_get_by_devid(void *typeid, int devid)
{
	return starpu_worker_get_by_devid(kind(typeid), devid);
}

void fstarpu_worker_get_type_as_string(void *typeid, char *dst, size_t maxlen)
{
	snprintf(dst, maxlen, "%s", starpu_worker_get_type_as_string(kind(typeid)));
}

void fstarpu_sched_ctx_display_workers(int ctx)
{
	starpu_sched_ctx_display_workers((unsigned) ctx, stdout);
}

void *fstarpu_cuda_get_local_stream(void)
{
#ifdef STARPU_USE_CUDA
	return starpu_cuda_get_local_stream();
#else
	orr_error("fstarpu_cuda_get_local_stream: this Orrery was built without CUDA");
	return NULL;
#endif
}

/* ---- scheduling contexts ---- */

/* The settings of a list of markers; those that it does not name are neutral. */
struct ctx_request {
	const char *policy_name;
	struct starpu_sched_policy *policy;
	void (*init)(unsigned);
	void *user_data;
	unsigned level;
	struct {
		int given, value;
	} min, max, nested;
};

static void read_markers(struct ctx_request *rq, void **list)
{
	for (; *list; list++) {
		int marker = (int) (intptr_t) *list;
		switch (marker) {
		case STARPU_SCHED_CTX_AWAKE_WORKERS: continue;
		case STARPU_SCHED_CTX_POLICY_NAME: rq->policy_name = *++list; break;
		case STARPU_SCHED_CTX_POLICY_STRUCT: rq->policy = *++list; break;
		case STARPU_SCHED_CTX_POLICY_MIN_PRIO:
			rq->min.given = 1;
			rq->min.value = *(int *) *++list;
			break;
		case STARPU_SCHED_CTX_POLICY_MAX_PRIO:
			rq->max.given = 1;
			rq->max.value = *(int *) *++list;
			break;
		case STARPU_SCHED_CTX_NESTED:
			rq->nested.given = 1;
			rq->nested.value = *(int *) *++list;
			break;
		case STARPU_SCHED_CTX_HIERARCHY_LEVEL: rq->level = *(unsigned *) *++list; break;
		case STARPU_SCHED_CTX_POLICY_INIT: rq->init = (void (*)(unsigned)) * ++list; break;
		case STARPU_SCHED_CTX_USER_DATA: rq->user_data = *++list; break;
		default:
			orr_fatal(
				"fstarpu_sched_ctx_create: %#x is no argument of a scheduling context; the list ends with C_NULL_PTR",
				(unsigned) marker);
		}
	}
}

/* A number that was not given is replaced by the level once more, which changes nothing. */
#define OR_LEVEL(field, marker) \
	rq.field.given ? (marker) : STARPU_SCHED_CTX_HIERARCHY_LEVEL, \
		rq.field.given ? rq.field.value : (int) rq.level

int fstarpu_sched_ctx_create(int *workers_array, int nworkers, const char *ctx_name, void **arglist)
{
	struct ctx_request rq = { 0 };

	read_markers(&rq, arglist);
	return (int) starpu_sched_ctx_create(
		workers_array, nworkers, ctx_name, STARPU_SCHED_CTX_POLICY_NAME, rq.policy_name,
		STARPU_SCHED_CTX_POLICY_STRUCT, rq.policy, STARPU_SCHED_CTX_POLICY_INIT, rq.init,
		STARPU_SCHED_CTX_USER_DATA, rq.user_data, STARPU_SCHED_CTX_HIERARCHY_LEVEL,
		rq.level, OR_LEVEL(min, STARPU_SCHED_CTX_POLICY_MIN_PRIO),
		OR_LEVEL(max, STARPU_SCHED_CTX_POLICY_MAX_PRIO),
		OR_LEVEL(nested, STARPU_SCHED_CTX_NESTED), 0);
}

void fstarpu_sched_ctx_call_pushed_task_cb(int workerid, int sched_ctx_id)
{
	orr_fatal(
		"fstarpu_sched_ctx_call_pushed_task_cb is not supported (worker %d, context %d): policies are told of tasks by the runtime alone",
		workerid, sched_ctx_id);
}
