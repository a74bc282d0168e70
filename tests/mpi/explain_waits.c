/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A chain of tasks "link" of 10 ms each, with shorter tasks "aside" beside it: what
 * tests/tools/explain_waits.sh has explained. The first word says what the chain hangs together by:
 *     data      a datum that all links change
 *     deps      declared dependencies between tasks
 *     tags      tags
 *     mixed     these three in turn (without a word, too)
 *     pure      a tag without a task, which waits for a link and an aside
 *     ends      declared dependencies of ends: a short task "hull" ends when a link does
 *     kernel    a tag that the kernel of a link fires
 * The second one, late, lets the program compute for 15 ms before it submits each link, so that the
 * one before it is over; wait lets it wait for it.
 *
 * Invariant: links run one after the other, in order. */
#include <stdint.h>
#include <string.h>
#include <starpu_mpi.h>
#include "lib/test.h"

#define LINKS 10
#define TAG(i) ((starpu_tag_t) (100 + (i)))
#define ASIDE_TAG(i) ((starpu_tag_t) (200 + (i)))
#define PURE_TAG(i) ((starpu_tag_t) (300 + (i)))

enum { DATA, DEPS, TAGS, MIXED, PURE, ENDS, KERNEL, NKINDS };
static const char *const KINDS[NKINDS] = {
	"data", "deps", "tags", "mixed", "pure", "ends", "kernel"
};
static int kind, late, waits;
static int started;

static void link_kernel(void **buffers, void *arg)
{
	int i = (int) (intptr_t) arg;

	(void) buffers;
	CHECK_IS(started, i);
	starpu_sleep(0.01);
	started = i + 1;
	if (kind == KERNEL)
		starpu_tag_notify_from_apps(TAG(i));
}

static void aside_kernel(void **buffers, void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_sleep(0.004);
}

static void hull_kernel(void **buffers, void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet link_with = {
	.cpu_funcs = { link_kernel }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "link"
};
static struct starpu_codelet link_alone = { .cpu_funcs = { link_kernel }, .name = "link" };
static struct starpu_codelet aside = { .cpu_funcs = { aside_kernel }, .name = "aside" };
static struct starpu_codelet hull = { .cpu_funcs = { hull_kernel }, .name = "hull" };

static struct starpu_task *task_of(struct starpu_codelet *cl, int i)
{
	struct starpu_task *task = starpu_task_create();

	CHECK(task);
	task->cl = cl;
	task->cl_arg = (void *) (intptr_t) i;
	task->destroy = 0;
	task->detach = 0;
	return task;
}

static void submit_aside(int i)
{
	struct starpu_task *task = task_of(&aside, i);

	task->destroy = task->detach = 1;
	task->use_tag = 1;
	task->tag_id = ASIDE_TAG(i);
	OK(starpu_task_submit(task));
}

/* Link i comes after the one before it, `before`; returns what the next one comes after. */
static struct starpu_task *submit_link(int i, starpu_data_handle_t datum,
				       struct starpu_task *before, struct starpu_task **own)
{
	int by = kind == MIXED ? i % 3 : kind;
	int uses_datum = by == DATA || kind == MIXED;
	struct starpu_task *task = task_of(uses_datum ? &link_with : &link_alone, i);

	*own = task;
	if (uses_datum)
		task->handles[0] = datum;
	if (kind != KERNEL && kind != ENDS) {
		task->use_tag = 1;
		task->tag_id = TAG(i);
	}
	if (before && (by == DEPS || by == ENDS))
		starpu_task_declare_deps_array(task, 1, &before);
	if (i && by == TAGS)
		starpu_tag_declare_deps(TAG(i), 1, TAG(i - 1));
	if (i && by == KERNEL) {
		task->use_tag = 1;
		task->tag_id = PURE_TAG(i);
		starpu_tag_declare_deps(PURE_TAG(i), 1, TAG(i - 1));
	}
	if (by != ENDS) {
		OK(starpu_task_submit(task));
		return task;
	}
	struct starpu_task *around = task_of(&hull, i);

	starpu_task_declare_end_deps_array(around, 1, &task);
	OK(starpu_task_submit(around));
	OK(starpu_task_submit(task));
	return around;
}

static void chain(starpu_data_handle_t *data)
{
	struct starpu_task *before = NULL, *links[LINKS], *hulls[LINKS];

	/* (A tag without a task fires when another one does, not when it is declared.) */
	for (int i = 1; kind == PURE && i < LINKS; i++) {
		starpu_tag_declare_deps(PURE_TAG(i), 2, TAG(i - 1), ASIDE_TAG(i - 1));
		starpu_tag_declare_deps(TAG(i), 1, PURE_TAG(i));
	}
	for (int i = 0; i < LINKS; i++) {
		if (late)
			starpu_sleep(0.015);
		if (waits && i && kind == TAGS)
			CHECK_IS(starpu_tag_wait(TAG(i - 1)), 0);
		submit_aside(i);
		/* In a mixed chain, each third link has the datum of the one before it. */
		before = submit_link(i,
				     data[kind != MIXED        ? 0
					  : i && i % 3 == DATA ? i - 1
							       : i],
				     before, &links[i]);
		hulls[i] = before;
	}
	OK(starpu_task_wait_for_all());
	for (int i = 0; i < LINKS; i++) {
		if (hulls[i] != links[i]) {
			OK(starpu_task_wait(hulls[i]));
			starpu_task_destroy(hulls[i]);
		}
		OK(starpu_task_wait(links[i]));
		starpu_task_destroy(links[i]);
	}
	CHECK_IS(started, LINKS);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t data[LINKS];
	int values[LINKS] = { 0 };

	OK(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL));
	const char *name = argc > 1 ? argv[1] : KINDS[MIXED];
	while (kind < NKINDS && strcmp(name, KINDS[kind]))
		kind++;
	CHECK(kind < NKINDS);
	late = argc > 2 && !strcmp(argv[2], "late");
	waits = argc > 2 && !strcmp(argv[2], "wait");
	for (int i = 0; i < LINKS; i++)
		starpu_variable_data_register(&data[i], STARPU_MAIN_RAM, (uintptr_t) &values[i],
					      sizeof(values[i]));
	chain(data);
	for (int i = 0; i < LINKS; i++)
		starpu_data_unregister(data[i]);
	starpu_mpi_shutdown();
	return 0;
}
