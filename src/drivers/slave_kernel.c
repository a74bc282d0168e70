/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels on slaves, as the master sees them: a note says what to execute, the answer that it is
 * over. A slave executes the kernels of a worker in the order of the notes.
 *
 * Invariant: a run is freed by the last of three: its letter was sent, its answer came, its worker
 * has finished the task. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/park.h"
#include "core/task/footprint.h"
#include "core/task/task.h"
#include "core/worker/wake.h"
#include "core/worker/worker.h"
#include "drivers/slave_own.h"

struct run {
	struct orr_letter letter, payload; /* the latter if the body is too long for a note */
	struct orr_worker *worker;
	unsigned nrefs; /* atomic */
	unsigned over;  /* atomic */
	double us;
	struct orr_slave_note note;
	char body[];
};

static struct orr_slave *slave_of(const struct orr_worker *w)
{
	return w->driver_arg;
}

static int slave_init(struct orr_worker *w)
{
	struct orr_slave *s = slave_of(w);

	if (s->first_worker < 0)
		s->first_worker = (int) w->id;
	return 0;
}

/* The link's thread may still be waking a worker, although all tasks are over. */
static void slave_deinit(struct orr_worker *w)
{
	struct orr_slaves *s = w->group->proc->slaves;

	ORR_WAIT_UNTIL(&s->bell, !ORR_ATOMIC_LOAD(&s->nringing));
}

static int slave_queues(struct orr_worker *w, struct orr_task *t)
{
	(void) w;
	(void) t;
	return 1;
}

static void drop(struct run *run)
{
	if (ORR_ATOMIC_ADD(&run->nrefs, -1) == 0)
		free(run);
}

static void note_sent(struct orr_process *proc, struct orr_letter *l)
{
	(void) proc;
	drop((struct run *) ((char *) l - offsetof(struct run, letter)));
}

static void body_sent(struct orr_process *proc, struct orr_letter *l)
{
	(void) proc;
	drop((struct run *) ((char *) l - offsetof(struct run, payload)));
}

void orr_slave_ran(struct orr_process *proc, const struct orr_slave_note *note)
{
	struct run *run = (struct run *) note->id;
	struct orr_worker *w = run->worker;

	run->us = note->us;
	ORR_ATOMIC_ADD(&proc->slaves->nringing, 1);
	ORR_ATOMIC_STORE(&run->over, 1);
	orr_wake_worker(w);
	ORR_ATOMIC_ADD(&proc->slaves->nringing, -1);
	orr_waitq_wake(&proc->slaves->bell);
	drop(run);
}

/* ---- what the slave must know ---- */

/* Models that ask functions of the program are asked here; the slave knows the others by their
 * symbols. */
static void describe_model(const struct orr_task *t, struct orr_slave_run *r, const char **symbol)
{
	struct starpu_task *task = t->pub;
	struct starpu_perfmodel *model = task->cl->model;
	struct starpu_perfmodel_device device = { .type = STARPU_CPU_WORKER, .ncores = 1 };
	struct starpu_perfmodel_arch arch = { .ndevices = 1, .devices = &device };

	*symbol = "";
	if (!model)
		return;
	r->model = model->type;
	if (model->symbol)
		*symbol = model->symbol;
	r->footprint = orr_footprint_of(task, model);
	r->bytes = model->size_base ? model->size_base(task, t->nimpl) : orr_footprint_bytes(task);
	if (model->type == STARPU_PER_ARCH && model->arch_cost_function)
		r->us = model->arch_cost_function(task, &arch, t->nimpl);
	else if (model->type == STARPU_COMMON && model->cost_function)
		r->us = model->cost_function(task, t->nimpl);
}

static struct run *describe(struct orr_worker *w, const struct orr_task *t)
{
	const struct starpu_task *task = t->pub;
	const char *name = task->cl->cpu_funcs_name[t->nimpl], *symbol;
	struct orr_slave_run r = { .worker = w->id - (unsigned) slave_of(w)->first_worker,
				   .nbuffers = orr_task_nbuffers(task),
				   .name = strlen(name) + 1,
				   .arg = task->cl_arg ? task->cl_arg_size : 0 };

	describe_model(t, &r, &symbol);
	r.symbol = strlen(symbol) + 1;
	r.body = orr_slave_body_bytes(t, &r);

	struct run *run = malloc(sizeof(*run) + r.body);
	if (!run)
		orr_fatal("out of memory for task %s on %s", orr_task_name(t->pub), w->name);
	memset(run, 0, sizeof(*run));
	run->worker = w;
	run->note.what = ORR_SLAVE_RUN;
	run->note.id = (uintptr_t) run;
	run->note.run = r;
	orr_slave_body_write(run->body, t, &r, name, symbol);
	return run;
}

/* A body that is too long for the note follows as its payload. */
static void send_body(struct orr_process *proc, struct run *run, int rank)
{
	size_t bytes = run->note.run.body;

	run->payload = (struct orr_letter){ .kind = ORR_LETTER_OUT,
					    .peer = rank,
					    .tag = run->note.tag,
					    .rows = { (uintptr_t) run->body, bytes, 1, bytes },
					    .done = body_sent };
	proc->slaves->link->post(proc, &run->payload);
}

static enum orr_started slave_start(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	struct orr_process *proc = w->group->proc;
	struct run *run = describe(w, t);
	size_t body = run->note.run.body;
	int rank = slave_of(w)->rank, is_long = sizeof(run->note) + body > ORR_SLAVE_NOTE_MAX;

	_Static_assert(offsetof(struct run, body) ==
			       offsetof(struct run, note) + sizeof(struct orr_slave_note),
		       "the body follows the note");
	run->nrefs = is_long ? 4 : 3;
	run->note.tag = is_long ? orr_slave_tag(proc->slaves) : 0;
	run->letter.done = note_sent;
	l->event = run;
	l->due_us = INFINITY;
	orr_slave_post(proc, &run->letter, rank, &run->note, is_long ? 0 : body);
	if (is_long)
		send_body(proc, run, rank);
	return ORR_STARTED_LATER;
}

static int slave_test(struct orr_worker *w, struct orr_launch *l)
{
	const struct run *run = l->event;

	(void) w;
	return ORR_ATOMIC_LOAD(&run->over) != 0;
}

static void slave_finish(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	struct run *run = l->event;

	(void) t;
	(void) w;
	orr_assert(orr_thread_self()->worker == w && run->over);
	l->own_us = run->us;
	l->event = NULL;
	drop(run);
}

const struct orr_driver_ops orr_slave_driver = {
	.name = "MPI slave",
	.arch = STARPU_MPI_MS_WORKER,
	.init = slave_init,
	.deinit = slave_deinit,
	.queues = slave_queues,
	.start = slave_start,
	.test = slave_test,
	.call = orr_driver_call_plain,
	.finish = slave_finish,
};
