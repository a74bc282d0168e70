/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A slave's part: it does what notes of the master say. Copies are the link's; a kernel is a task
 * of the slave's own runtime, for the worker that the master chose, so that it is executed, or
 * simulated, as any other.
 *
 * Invariant: the master uses no buffer before the copy into it is over, so that nothing here has to
 * wait for anything else. */
#include <config.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/park.h"
#include "base/seam_memory.h"
#include "drivers/slave_own.h"

typedef void (*kernel)(void **, void *);

/* A function that the master has named, with the model that it is charged by. */
struct orr_slave_codelet {
	struct orr_slave_codelet *next;
	char *name, *symbol;
	kernel function;
	struct starpu_codelet cl;
	struct starpu_perfmodel model;
};

/* A note of the master that is being obeyed: an answer is due. */
struct errand {
	struct orr_process *proc;
	struct orr_letter payload, answer;
	struct orr_slave_note asked, reply;
};

struct job {
	struct errand errand; /* first */
	struct orr_slave_codelet *codelet;
	struct orr_slave_body body;
	double start_us;
	void **buffers;
	char text[]; /* the body as it came */
};

/* ---- answers ---- */

static void answered(struct orr_process *proc, struct orr_letter *l)
{
	struct errand *e = (struct errand *) ((char *) l - offsetof(struct errand, answer));

	(void) proc;
	free(e);
}

static void answer(struct errand *e, enum orr_slave_what what)
{
	e->reply.what = what;
	e->reply.id = e->asked.id;
	e->answer.done = answered;
	orr_slave_post(e->proc, &e->answer, e->proc->slaves->master, &e->reply, 0);
}

/* An errand of so many bytes, for that note. */
static void *begin(struct orr_process *proc, const struct orr_slave_note *note, size_t bytes)
{
	struct errand *e = calloc(1, bytes);

	if (!e)
		orr_fatal("out of memory for what the master asks for");
	e->proc = proc;
	e->asked = *note;
	return e;
}

/* ---- copies ---- */

static void taken(struct orr_process *proc, struct orr_letter *l)
{
	(void) proc;
	answer((struct errand *) ((char *) l - offsetof(struct errand, payload)), ORR_SLAVE_TOOK);
}

/* The receiver of the payload tells the master. */
static void given(struct orr_process *proc, struct orr_letter *l)
{
	(void) proc;
	free((char *) l - offsetof(struct errand, payload));
}

static void post_payload(struct orr_process *proc, struct errand *e, enum orr_letter_kind kind,
			 void (*done)(struct orr_process *, struct orr_letter *))
{
	e->payload = (struct orr_letter){ .kind = kind,
					  .peer = e->asked.peer,
					  .tag = e->asked.tag,
					  .rows = e->asked.rows,
					  .done = done };
	proc->slaves->link->post(proc, &e->payload);
}

static void move(struct orr_process *proc, struct errand *e)
{
	const struct orr_rows *to = &e->asked.rows, *from = &e->asked.from;

	for (size_t i = 0; i < to->count; i++)
		orr_sys_memcpy(proc, (char *) to->at + i * to->stride,
			       (const char *) from->at + i * from->stride, to->size);
	answer(e, ORR_SLAVE_TOOK);
}

/* ---- kernels ---- */

static const struct job *job_of(const struct starpu_task *task)
{
	return task->callback_arg;
}

static uint32_t footprint_of(struct starpu_task *task)
{
	return job_of(task)->errand.asked.run.footprint;
}

static size_t bytes_of(struct starpu_task *task, unsigned nimpl)
{
	(void) nimpl;
	return job_of(task)->errand.asked.run.bytes;
}

static double us_of(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) arch;
	(void) nimpl;
	return job_of(task)->errand.asked.run.us;
}

/* The function of all codelets. */
static void run_kernel(void **buffers, void *arg)
{
	const struct job *job = job_of(starpu_task_get_current());

	(void) buffers;
	job->codelet->function(job->body.buffers, arg);
}

static void kernel_begins(void *arg)
{
	struct job *job = arg;

	job->start_us = orr_sys_now_us();
}

static void kernel_over(void *arg)
{
	struct job *job = arg;

	job->errand.reply.us = orr_sys_now_us() - job->start_us;
	answer(&job->errand, ORR_SLAVE_RAN);
}

static void set_model(struct orr_slave_codelet *c, const struct orr_slave_run *r)
{
	c->model.type = r->model;
	c->model.symbol = *c->symbol ? c->symbol : NULL;
	c->model.footprint = footprint_of;
	c->model.size_base = bytes_of;
	if (r->model == STARPU_COMMON || r->model == STARPU_PER_ARCH ||
	    r->model == STARPU_PER_WORKER) {
		c->model.type = STARPU_PER_ARCH;
		c->model.arch_cost_function = us_of;
	}
	c->cl.model = r->model == STARPU_PERFMODEL_INVALID ? NULL : &c->model;
}

static struct orr_slave_codelet *new_codelet(struct orr_process *proc, const struct job *job)
{
	struct orr_slave_codelet *c = calloc(1, sizeof(*c));

	if (!c || !(c->name = strdup(job->body.name)) || !(c->symbol = strdup(job->body.symbol)))
		orr_fatal("out of memory for function %s of the master", job->body.name);
	*(void **) &c->function = orr_sys_symbol(proc, c->name);
	if (!c->function) {
		orr_error(
			"rank %d does not find function %s, which the master's program has: let all ranks execute the same program, linked with -rdynamic",
			proc->slaves->rank, c->name);
		orr_sys_abort();
	}
	c->cl.cpu_funcs[0] = run_kernel;
	c->cl.name = c->name;
	set_model(c, &job->errand.asked.run);
	c->next = proc->slaves->codelets;
	proc->slaves->codelets = c;
	return c;
}

static struct orr_slave_codelet *find_codelet(struct orr_process *proc, const struct job *job)
{
	struct orr_slave_codelet *c = proc->slaves->codelets;

	while (c && (strcmp(c->name, job->body.name) || strcmp(c->symbol, job->body.symbol)))
		c = c->next;
	return c ? c : new_codelet(proc, job);
}

void orr_slave_codelets_free(struct orr_slaves *s)
{
	struct orr_slave_codelet *c;

	while ((c = s->codelets)) {
		s->codelets = c->next;
		starpu_perfmodel_unload_model(&c->model);
		free(c->name);
		free(c->symbol);
		free(c);
	}
}

/* The body is there. */
static void submit(struct orr_process *proc, struct job *job)
{
	const struct orr_slave_run *r = &job->errand.asked.run;
	struct starpu_task *task = starpu_task_create();

	if (!task)
		orr_fatal("out of memory for a task of the master");
	orr_slave_body_read(job->text, r, job->buffers, &job->body);
	job->codelet = find_codelet(proc, job);
	task->cl = &job->codelet->cl;
	task->cl_arg = job->body.arg;
	task->cl_arg_size = r->arg;
	task->execute_on_a_specific_worker = 1;
	task->workerid = r->worker;
	task->prologue_callback_pop_func = kernel_begins;
	task->prologue_callback_pop_arg = job;
	task->callback_func = kernel_over;
	task->callback_arg = job;
	if (starpu_task_submit(task))
		orr_fatal("a slave cannot execute function %s", job->body.name);
}

static void body_came(struct orr_process *proc, struct orr_letter *l)
{
	submit(proc, (struct job *) ((char *) l - offsetof(struct errand, payload)));
}

static void run(struct orr_process *proc, const struct orr_slave_note *note)
{
	size_t body = (note->run.body + 15) / 16 * 16,
	       pointers = note->run.nbuffers * sizeof(void *);
	struct job *job = begin(proc, note, sizeof(*job) + body + pointers);

	job->buffers = (void **) (void *) (job->text + body);
	if (!note->tag) {
		memcpy(job->text, note + 1, note->run.body);
		submit(proc, job);
		return;
	}
	job->errand.asked.peer = proc->slaves->master;
	job->errand.asked.rows = (struct orr_rows){ (uintptr_t) job->text, note->run.body, 1,
						    note->run.body };
	post_payload(proc, &job->errand, ORR_LETTER_IN, body_came);
}

/* ---- the master's wishes ---- */

void orr_slave_obey(struct orr_process *proc, const struct orr_slave_note *note)
{
	struct errand *e;

	if (note->what == ORR_SLAVE_STOP) {
		ORR_ATOMIC_STORE(&proc->slaves->stopping, 1);
		orr_waitq_wake(&proc->slaves->bell);
		return;
	}
	if (note->what == ORR_SLAVE_RUN) {
		run(proc, note);
		return;
	}
	e = begin(proc, note, sizeof(*e));
	if (note->what == ORR_SLAVE_MOVE)
		move(proc, e);
	else if (note->what == ORR_SLAVE_TAKE)
		post_payload(proc, e, ORR_LETTER_IN, taken);
	else
		post_payload(proc, e, ORR_LETTER_OUT, given);
}

/* Reserves memory for the master to divide: half of the computer's, or less where that is refused.
 * Pages count when they are used. */
static void reserve_memory(struct orr_process *proc, struct orr_slaves *s)
{
	size_t bytes = proc->cfg->limit_cpu_mem;

	if (!bytes)
		bytes = (size_t) sysconf(_SC_PHYS_PAGES) / 2 * (size_t) sysconf(_SC_PAGESIZE);
	for (; bytes > orr_sys_page() && !s->memory; bytes = s->memory ? bytes : bytes / 2) {
		s->memory = (uintptr_t) orr_sys_mem_alloc(proc, bytes, orr_sys_page());
		s->bytes = bytes;
	}
	if (!s->memory)
		orr_fatal("a slave finds no memory for the data of the master");
}

int orr_slaves_serve(struct orr_process *proc)
{
	struct orr_slaves *s = proc->slaves;
	struct errand *e;

	if (!s || s->rank == s->master)
		return 0;
	reserve_memory(proc, s);
	e = begin(proc, &(struct orr_slave_note){ 0 }, sizeof(*e));
	e->reply.hello = (struct orr_slave_hello){ .build = PACKAGE_VERSION,
						   .base = s->memory,
						   .bytes = s->bytes,
						   .nworkers = starpu_cpu_worker_get_count() };
	answer(e, ORR_SLAVE_HELLO);
	ORR_WAIT_UNTIL(&s->bell, ORR_ATOMIC_LOAD(&s->stopping));
	return 1;
}
