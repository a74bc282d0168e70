/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making parallel workers as the program asks for them (see team.h).
 *
 * Invariant: teams are disjoint; core->teams is set once all of them are prepared. */
#include "core/flow/team.h"

#ifdef STARPU_HAVE_HWLOC

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/ctx/combined.h"
#include "core/ctx/policy.h"
#include "core/worker/worker_place.h"

/* ---- making teams ---- */

/* The numbers and marks that the program asked for. */
struct request {
	int min, max, nb, prefer_min, homogeneous, one;
	unsigned ncores;
	unsigned nsizes, size[STARPU_NMAXWORKERS]; /* of those that NEW began */
	struct starpu_sched_policy *policy;        /* NULL: none */
	void (*create)(void *);
	void *create_arg;
	enum starpu_parallel_worker_types type;
};

static int add_size(struct request *rq)
{
	if (rq->nsizes == STARPU_NMAXWORKERS)
		return -EINVAL;
	rq->size[rq->nsizes++] = 1;
	return 0;
}

static void set_ncores(struct request *rq, unsigned n)
{
	if (rq->nsizes)
		rq->size[rq->nsizes - 1] = n;
	else
		rq->ncores = n;
}

/* 0, or -EINVAL after a message. */
static int set_policy_name(struct request *rq, const char *name)
{
	struct orr_process *proc = orr_self();

	rq->policy = name ? proc->core->policies->find(proc, name) : NULL;
	if (rq->policy)
		return 0;
	orr_error(
		"starpu_parallel_worker_init: STARPU_PARALLEL_WORKER_POLICY_NAME names no policy%s",
		name ? "" : ", but NULL; leave it out to have no policy");
	return -EINVAL;
}

static int set_policy(struct request *rq, struct starpu_sched_policy *policy)
{
	rq->policy = policy;
	if (policy)
		return 0;
	orr_error(
		"starpu_parallel_worker_init: STARPU_PARALLEL_WORKER_POLICY_STRUCT is NULL; leave it out to have no policy");
	return -EINVAL;
}

/* Idle workers sleep and wake by themselves, with either value. */
static int check_awake(unsigned awake)
{
	if (awake <= 1)
		return 0;
	orr_error(
		"starpu_parallel_worker_init: STARPU_PARALLEL_WORKER_AWAKE_WORKERS is 0 or 1, not %u",
		awake);
	return -EINVAL;
}

static int check_prefer_min(const struct request *rq)
{
	if (!rq->prefer_min || rq->min > 0)
		return 0;
	orr_error(
		"starpu_parallel_worker_init: STARPU_PARALLEL_WORKER_PREFERE_MIN needs STARPU_PARALLEL_WORKER_MIN_NB");
	return -EINVAL;
}

static int parse(struct request *rq, va_list ap)
{
	int marker;

	while ((marker = va_arg(ap, int)) != 0) {
		int ret = 0;

		switch (marker) {
		case STARPU_PARALLEL_WORKER_MIN_NB: rq->min = va_arg(ap, int); break;
		case STARPU_PARALLEL_WORKER_MAX_NB: rq->max = va_arg(ap, int); break;
		case STARPU_PARALLEL_WORKER_NB: rq->nb = va_arg(ap, int); break;
		case STARPU_PARALLEL_WORKER_PREFERE_MIN: rq->prefer_min = va_arg(ap, int); break;
		case STARPU_PARALLEL_WORKER_KEEP_HOMOGENEOUS:
			rq->homogeneous = va_arg(ap, int);
			break;
		case STARPU_PARALLEL_WORKER_POLICY_NAME:
			ret = set_policy_name(rq, va_arg(ap, char *));
			break;
		case STARPU_PARALLEL_WORKER_POLICY_STRUCT:
			ret = set_policy(rq, va_arg(ap, struct starpu_sched_policy *));
			break;
		case STARPU_PARALLEL_WORKER_CREATE_FUNC:
			rq->create = va_arg(ap, void (*)(void *));
			break;
		case STARPU_PARALLEL_WORKER_CREATE_FUNC_ARG:
			rq->create_arg = va_arg(ap, void *);
			break;
		case STARPU_PARALLEL_WORKER_TYPE:
			rq->type = (enum starpu_parallel_worker_types) va_arg(ap, int);
			break;
		case STARPU_PARALLEL_WORKER_AWAKE_WORKERS:
			ret = check_awake(va_arg(ap, unsigned));
			break;
		case STARPU_PARALLEL_WORKER_PARTITION_ONE: rq->one = 1; break;
		case STARPU_PARALLEL_WORKER_NEW: ret = add_size(rq); break;
		case STARPU_PARALLEL_WORKER_NCORES: set_ncores(rq, va_arg(ap, unsigned)); break;
		default:
			orr_error(
				"starpu_parallel_worker_init: %d is no argument (STARPU_PARALLEL_WORKER_*); the list ends with 0",
				marker);
			ret = -EINVAL;
		}
		if (ret)
			return ret;
	}
	return check_prefer_min(rq);
}

/* The CPU workers by the parts of the machine in which they are. */
struct places {
	unsigned n;
	int worker[STARPU_NMAXWORKERS], part[STARPU_NMAXWORKERS];
};

static void find_places(struct orr_process *proc, int level, struct places *p)
{
	p->n = 0;
	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		if (proc->core->workers[i].arch != STARPU_CPU_WORKER)
			continue;
		int part = orr_worker_part((hwloc_obj_type_t) level, i);
		unsigned k = p->n++;

		part = part < 0 ? 0 : part;
		for (; k > 0 && p->part[k - 1] > part; k--) {
			p->part[k] = p->part[k - 1];
			p->worker[k] = p->worker[k - 1];
		}
		p->part[k] = part;
		p->worker[k] = (int) i;
	}
}

/* Sizes of the teams, first worker first: as many as parts of the machine. */
static unsigned by_parts(const struct places *p, unsigned *size, int only_first)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->n; i++) {
		if (i == 0 || p->part[i] != p->part[i - 1]) {
			if (only_first && n)
				break;
			size[n++] = 0;
		}
		size[n - 1]++;
	}
	return n;
}

static unsigned by_cores(const struct places *p, unsigned *size, unsigned ncores)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->n; i += ncores)
		size[n++] = p->n - i < ncores ? p->n - i : ncores;
	return n;
}

static unsigned evenly(const struct places *p, unsigned *size, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		size[i] = p->n / n + (i < p->n % n);
	return n;
}

/* The number of teams, when there would be n by themselves. */
static unsigned wanted(const struct request *rq, unsigned n)
{
	if (rq->nb > 0)
		return (unsigned) rq->nb;
	if (rq->min > 0 && (n < (unsigned) rq->min || rq->prefer_min))
		return (unsigned) rq->min;
	return rq->max > 0 && n > (unsigned) rq->max ? (unsigned) rq->max : n;
}

/* Fills in the sizes of the teams; the number of them, 0 after a message. */
static unsigned choose_sizes(const struct request *rq, const struct places *p, unsigned *size)
{
	unsigned n, total = 0;

	if (rq->nsizes) {
		memcpy(size, rq->size, rq->nsizes * sizeof(*size));
		n = rq->nsizes;
	} else if (rq->ncores) {
		n = by_cores(p, size, rq->ncores);
	} else {
		n = by_parts(p, size, rq->one);
		if (n && wanted(rq, n) != n)
			n = wanted(rq, n) <= p->n ? evenly(p, size, wanted(rq, n)) : 0;
	}
	for (unsigned i = 0; i < n; i++) {
		total += size[i];
		if (!size[i] || total > p->n)
			n = 0;
	}
	for (unsigned i = 0; i < n && rq->homogeneous; i++)
		size[i] = size[i] < p->n / n ? size[i] : p->n / n;
	if (!n)
		orr_error(
			"starpu_parallel_worker_init: %u CPU workers do not make the parallel workers that are asked for (NB, MIN_NB, NCORES); ask for fewer or smaller ones",
			p->n);
	return n;
}

/* Makes team i of workers. 0, or -errno after a message. */
static int make_team(struct orr_process *proc, struct orr_team *team, const int *workers,
		     unsigned n)
{
	int id = orr_combined_assign(proc, workers, n);

	if (id < 0) {
		orr_error("starpu_parallel_worker_init: %u workers cannot be combined: %s", n,
			  strerror(-id));
		return id;
	}
	team->comb = orr_combined_get(proc, (unsigned) id);
	team->worker = workers[0];
	team->size = n;
	return 0;
}

static struct starpu_parallel_worker_config *make(struct orr_process *proc,
						  const struct request *rq, int level)
{
	struct starpu_parallel_worker_config *c;
	unsigned size[STARPU_NMAXWORKERS], n, next = 0;
	struct places p;

	find_places(proc, level, &p);
	n = choose_sizes(rq, &p, size);
	c = n ? calloc(1, sizeof(*c) + n * sizeof(c->team[0])) : NULL;
	if (!c)
		return NULL;
	c->end = &c->queue;
	c->n = n;
	for (unsigned i = 0; i < n; next += size[i++])
		if (make_team(proc, &c->team[i], &p.worker[next], size[i])) {
			free(c);
			return NULL;
		}
	return c;
}

typedef void (*prologue_t)(void *);

/* The function that prepares each team. */
static prologue_t prologue_of(const struct request *rq)
{
	if (rq->create)
		return rq->create;
	switch (rq->type) {
	case STARPU_PARALLEL_WORKER_INTEL_OPENMP_MKL:
		return starpu_parallel_worker_intel_openmp_mkl_prologue;
	case STARPU_PARALLEL_WORKER_GNU_OPENMP_MKL:
		return starpu_parallel_worker_gnu_openmp_mkl_prologue;
	default: return starpu_parallel_worker_openmp_prologue;
	}
}

/* Makes the context with the policy, of the first worker of each team. 0, or -EINVAL after a
 * message. */
static int make_ctx(struct orr_process *proc, struct starpu_parallel_worker_config *c,
		    struct starpu_sched_policy *policy)
{
	int first[STARPU_NMAXWORKERS];

	for (unsigned i = 0; i < c->n; i++)
		first[i] = c->team[i].worker;
	unsigned id = starpu_sched_ctx_create(first, (int) c->n, "parallel workers",
					      STARPU_SCHED_CTX_POLICY_STRUCT, policy, 0);
	if (id >= STARPU_NMAX_SCHED_CTXS)
		return -EINVAL;
	c->ctx = id;
	ORR_ATOMIC_STORE_RELAXED(&proc->core->ctx[id]->of_teams, 1);
	/* Workers that the program took out of the default context do not come back. */
	starpu_sched_ctx_set_inheritor(id, id);
	return 0;
}

static struct starpu_parallel_worker_config *begin(int level, va_list ap)
{
	struct orr_process *proc = orr_self();
	struct request rq = { .type = STARPU_PARALLEL_WORKER_OPENMP };

	if (ORR_ATOMIC_LOAD(&proc->state) != ORR_PROCESS_UP ||
	    ORR_ATOMIC_LOAD(&proc->core->teams)) {
		orr_error("starpu_parallel_worker_init: %s",
			  proc->core->teams ? "parallel workers exist already: shut them down first"
					    : "call starpu_init first");
		return NULL;
	}
	struct starpu_parallel_worker_config *c = parse(&rq, ap) ? NULL : make(proc, &rq, level);
	if (!c)
		return NULL;
	if (rq.policy && make_ctx(proc, c, rq.policy)) {
		free(c);
		return NULL;
	}
	for (unsigned i = 0; i < c->n; i++) {
		unsigned w = (unsigned) c->team[i].worker;

		starpu_execute_on_specific_workers(prologue_of(&rq), rq.create_arg, 1, &w,
						   "parallel worker");
	}
	ORR_ATOMIC_STORE(&proc->core->teams, c);
	return c;
}

/* ---- the program's calls ---- */

struct starpu_parallel_worker_config *starpu_parallel_worker_init(
	hwloc_obj_type_t parallel_worker_level, ...)
{
	va_list ap;

	va_start(ap, parallel_worker_level);
	struct starpu_parallel_worker_config *c = begin((int) parallel_worker_level, ap);
	va_end(ap);
	return c;
}

static int is_current(const struct starpu_parallel_worker_config *c, const char *what)
{
	if (c && c == ORR_ATOMIC_LOAD(&orr_self()->core->teams))
		return 1;
	orr_error("%s: there are no such parallel workers", what);
	return 0;
}

int starpu_parallel_worker_shutdown(struct starpu_parallel_worker_config *parallel_workers)
{
	if (!is_current(parallel_workers, __func__))
		return -EINVAL;
	int ret = starpu_task_wait_for_all();
	if (ret)
		return ret;
	orr_assert(!parallel_workers->queue);
	ORR_ATOMIC_STORE(&orr_self()->core->teams, NULL);
	if (parallel_workers->ctx)
		starpu_sched_ctx_delete(parallel_workers->ctx);
	free(parallel_workers);
	return 0;
}

int starpu_parallel_worker_print(struct starpu_parallel_worker_config *parallel_workers)
{
	if (!is_current(parallel_workers, __func__))
		return -EINVAL;
	for (unsigned i = 0; i < parallel_workers->n; i++) {
		const struct orr_team *team = &parallel_workers->team[i];

		printf("parallel worker %u: %u CPU workers:", i, team->size);
		for (unsigned k = 0; k < team->size; k++)
			printf(" %d", team->comb ? team->comb->workers[k] : team->worker);
		printf("\n");
	}
	return 0;
}

/* The number of cores that the kernel may use that is about to begin. */
static int my_size(void)
{
	return starpu_combined_worker_get_size();
}

/* Calls a function of a library that the program may be linked with. */
static void team_tell(const char *function)
{
	void (*f)(int);

	*(void **) &f = dlsym(RTLD_DEFAULT, function);
	if (f)
		f(my_size());
}

void starpu_parallel_worker_openmp_prologue(void *arg)
{
	(void) arg;
	team_tell("omp_set_num_threads");
}

void starpu_parallel_worker_intel_openmp_mkl_prologue(void *arg)
{
	starpu_parallel_worker_openmp_prologue(arg);
	team_tell("MKL_Set_Num_Threads");
}

void starpu_parallel_worker_gnu_openmp_mkl_prologue(void *arg)
{
	starpu_parallel_worker_intel_openmp_mkl_prologue(arg);
}

struct starpu_cluster_machine *starpu_cluster_machine(hwloc_obj_type_t cluster_level, ...)
{
	va_list ap;

	va_start(ap, cluster_level);
	struct starpu_parallel_worker_config *c = begin((int) cluster_level, ap);
	va_end(ap);
	return (struct starpu_cluster_machine *) c;
}

int starpu_uncluster_machine(struct starpu_cluster_machine *clusters)
{
	return starpu_parallel_worker_shutdown((struct starpu_parallel_worker_config *) clusters);
}

int starpu_cluster_print(struct starpu_cluster_machine *clusters)
{
	return starpu_parallel_worker_print((struct starpu_parallel_worker_config *) clusters);
}

#endif
