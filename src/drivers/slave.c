/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Start and end of the master-slave mode, and what the master knows of its slaves (see slave.h).
 *
 * Order: all ranks meet; each starts its runtime, the master only after all slaves have started
 * theirs and have greeted it. At the end the master stops first.
 *
 * Invariant: a process that is configured as a slave has CPU workers only, and its program submits
 * no task. */
#include "drivers/slave.h"

#include <config.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/log.h"
#include "base/park.h"
#include "base/seam_memory.h"
#include "drivers/slave_own.h"

/* A master that has waited so long for a slave says which. */
#define TELL_AFTER_US 20e6

/* ---- settings ---- */

/* The number of slaves that are asked for; -1: the mode is not asked for. */
static long asked(const struct orr_process *proc)
{
	long n = orr_config_long("STARPU_NMPI_MS", -1), conf = proc->conf->nmpi_ms;

	return conf != -1 && (n == -1 || proc->conf->precedence_over_environment_variables) ? conf
											    : n;
}

int orr_slaves_wanted(const struct orr_process *proc)
{
	return asked(proc) > 0;
}

/* The rank of the master. */
static int choose_master(int size)
{
	long rank = orr_config_long("STARPU_MPI_MASTER_NODE", 0);

	if (rank >= 0 && rank < size)
		return (int) rank;
	orr_error("STARPU_MPI_MASTER_NODE is %ld, but the ranks go from 0 to %d", rank, size - 1);
	return -EINVAL;
}

static int check_asked(const struct orr_process *proc, int size)
{
	long n = asked(proc);

	if (n < size)
		return 0;
	orr_error(
		"%ld slaves are asked for (STARPU_NMPI_MS or the field nmpi_ms), but beside the master there are only %d ranks; start %ld processes, as by `orrery run --master-slave -n %ld'",
		n, size - 1, n + 1, n + 1);
	return -ENODEV;
}

/* A slave has the workers that the master will use, and nothing else. */
static void configure_slave(struct orr_process *proc)
{
	long threads = orr_config_long("STARPU_NMPIMSTHREADS", -1);
	struct orr_config *cfg = orr_config_own(proc);

	starpu_conf_init(proc->conf);
	proc->conf->precedence_over_environment_variables = 1;
	proc->conf->ncpus = threads > 0 && threads < STARPU_NMAXWORKERS ? (int) threads : -1;
	proc->conf->ncuda = proc->conf->nopencl = 0;
	proc->conf->sched_policy_name = "eager";
	cfg->ncpu = -1;
	cfg->fake_devices = cfg->fake_opencl = 0;
	cfg->calibrate = 0; /* models are the master's to learn */
	free(cfg->disk_swap);
	cfg->disk_swap = NULL;
}

/* ---- notes ---- */

int orr_slave_tag(struct orr_slaves *s)
{
	return 1 + (int) (ORR_ATOMIC_ADD_RELAXED(&s->next_tag, 1) % (unsigned) s->tags);
}

void orr_slave_post(struct orr_process *proc, struct orr_letter *l, int peer,
		    const struct orr_slave_note *note, size_t bytes)
{
	size_t all = sizeof(*note) + bytes;

	l->kind = ORR_LETTER_NOTE;
	l->peer = peer;
	l->rows = (struct orr_rows){ (uintptr_t) note, all, 1, all };
	proc->slaves->link->post(proc, l);
}

static struct orr_slave *slave_of_rank(struct orr_slaves *s, int rank)
{
	return &s->slaves[rank - (rank > s->master)];
}

static void greeted(struct orr_slaves *s, int from, const struct orr_slave_note *note)
{
	struct orr_slave *slave = slave_of_rank(s, from);

	if (strncmp(note->hello.build, PACKAGE_VERSION, sizeof(note->hello.build))) {
		orr_error("rank %d runs Orrery %.*s and rank %d %s; install one of them everywhere",
			  from, (int) sizeof(note->hello.build), note->hello.build, s->rank,
			  PACKAGE_VERSION);
		orr_sys_abort();
	}
	slave->hello = note->hello;
	ORR_ATOMIC_STORE(&slave->greeted, 1);
	orr_waitq_wake(&s->bell);
}

static void note_came(struct orr_process *proc, int from, const void *text)
{
	const struct orr_slave_note *note = text;

	switch (note->what) {
	case ORR_SLAVE_HELLO: greeted(proc->slaves, from, note); break;
	case ORR_SLAVE_RAN: orr_slave_ran(proc, note); break;
	case ORR_SLAVE_TOOK: orr_slave_took(proc, note); break;
	case ORR_SLAVE_RUN:
	case ORR_SLAVE_TAKE:
	case ORR_SLAVE_MOVE:
	case ORR_SLAVE_GIVE:
	case ORR_SLAVE_STOP: orr_slave_obey(proc, note); break;
	}
}

static const struct orr_link_user user = { .longest = ORR_SLAVE_NOTE_MAX, .note = note_came };

/* ---- the master ---- */

static int make_slaves(struct orr_process *proc, struct orr_slaves *s)
{
	s->nslaves = (unsigned) s->size - 1;
	s->slaves = calloc(s->nslaves ? s->nslaves : 1, sizeof(*s->slaves));
	if (!s->slaves)
		return -ENOMEM;
	for (unsigned i = 0; i < s->nslaves; i++) {
		struct orr_slave *slave = &s->slaves[i];

		slave->proc = proc;
		slave->rank = (int) i + ((int) i >= s->master);
		slave->first_worker = -1;
		orr_lock_init(&slave->lock, ORR_RANK_SLAVE);
	}
	return 0;
}

/* The first slave that has not greeted, or NULL. */
static struct orr_slave *find_missing(struct orr_slaves *s)
{
	for (unsigned i = 0; i < s->nslaves; i++)
		if (!ORR_ATOMIC_LOAD(&s->slaves[i].greeted))
			return &s->slaves[i];
	return NULL;
}

static void await_slaves(struct orr_slaves *s)
{
	const struct orr_slave *missing;

	while (find_missing(s)) {
		unsigned key = orr_waitq_prepare(&s->bell);

		missing = find_missing(s);
		if (!missing)
			orr_waitq_cancel(&s->bell);
		else if (orr_waitq_wait(&s->bell, key, TELL_AFTER_US))
			orr_warn(
				"the master waits for rank %d, which has not called starpu_init yet: all ranks execute the program up to there",
				missing->rank);
	}
}

static int divide_memory(struct orr_slaves *s)
{
	for (unsigned i = 0; i < s->nslaves; i++) {
		struct orr_slave *slave = &s->slaves[i];

		if (orr_arena_init(&slave->arena, slave->hello.base, slave->hello.bytes))
			return -ENOMEM;
	}
	return 0;
}

static void describe(struct orr_slave *slave, int devid, struct orr_device *d)
{
	*d = (struct orr_device){
		.arch = STARPU_MPI_MS_WORKER,
		.kind = STARPU_MPI_MS_RAM,
		.devid = devid,
		.nworkers = slave->hello.nworkers,
		.pipeline = 2,
		.memory = slave->hello.bytes,
		.memory_ops = &orr_slave_memory,
		.memory_arg = slave,
		.driver = &orr_slave_driver,
		.driver_arg = slave,
	};
	snprintf(d->name, sizeof(d->name), "MPI_MS %d", slave->rank);
}

/* The slave that is to be device number i. */
static int chosen(const struct orr_process *proc, unsigned i)
{
	const struct starpu_conf *c = proc->conf;

	return c->use_explicit_workers_mpi_ms_deviceid ? (int) c->workers_mpi_ms_deviceid[i]
						       : (int) i;
}

int orr_slave_devices(struct orr_process *proc, struct orr_device *v, unsigned max)
{
	struct orr_slaves *s = proc->slaves;
	unsigned n = 0, nworkers = 0;

	if (!s || s->rank != s->master)
		return 0;
	long wanted = asked(proc);
	if (wanted > (long) max) {
		orr_error("%ld slaves are asked for, but only %u memory nodes are left for them",
			  wanted, max);
		return -EINVAL;
	}
	for (; n < (unsigned) wanted; n++) {
		int i = chosen(proc, n);

		if (i < 0 || i >= (int) s->nslaves || s->slaves[i].hello.nworkers == 0) {
			orr_error("workers_mpi_ms_deviceid names slave %d: there are %u, from 0 on",
				  i, s->nslaves);
			return -EINVAL;
		}
		describe(&s->slaves[i], (int) n, &v[n]);
		nworkers += v[n].nworkers;
	}
	if (nworkers > STARPU_NMAXWORKERS / 2) {
		orr_error(
			"the slaves have %u workers together, and at most %d are possible: lower STARPU_NMPIMSTHREADS",
			nworkers, STARPU_NMAXWORKERS / 2);
		return -EINVAL;
	}
	proc->stand_in |= ORR_STAND_IN_SLAVES;
	return (int) n;
}

static void stop_sent(struct orr_process *proc, struct orr_letter *l)
{
	(void) proc;
	(void) l;
}

static void send_home(struct orr_process *proc, struct orr_slaves *s)
{
	for (unsigned i = 0; i < s->nslaves; i++) {
		struct orr_slave *slave = &s->slaves[i];

		slave->stop.done = stop_sent;
		slave->stop_note.what = ORR_SLAVE_STOP;
		orr_slave_post(proc, &slave->stop, slave->rank, &slave->stop_note, 0);
	}
}

/* ---- start and end ---- */

/* Finds out which rank is what. */
static int meet(struct orr_process *proc, struct orr_slaves *s)
{
	int ret = orr_sys_link_load(proc);

	if (ret)
		return ret;
	s->link = orr_link_known();
	ret = s->link->join(proc, &s->rank, &s->size);
	if (ret)
		return ret;
	s->master = choose_master(s->size);
	ret = s->master < 0 ? s->master : check_asked(proc, s->size);
	if (ret)
		s->link->leave(proc);
	return ret;
}

static void unmake(struct orr_process *proc)
{
	struct orr_slaves *s = proc->slaves;

	for (unsigned i = 0; i < s->nslaves && s->slaves; i++)
		orr_arena_exit(&s->slaves[i].arena);
	orr_slave_codelets_free(s);
	orr_sys_mem_free(proc, (void *) s->memory, s->bytes);
	free(s->slaves);
	orr_waitq_destroy(&s->bell);
	free(s);
	proc->slaves = NULL;
}

static int open_link(struct orr_process *proc, struct orr_slaves *s)
{
	int is_master = s->rank == s->master, ret = is_master ? make_slaves(proc, s) : 0;

	proc->mpi_rank = s->rank;
	proc->mpi_size = s->size;
	if (!ret)
		ret = s->link->open(proc, &user, &s->tags);
	if (ret) {
		s->link->leave(proc);
		return ret;
	}
	if (!is_master) {
		configure_slave(proc);
		return 0;
	}
	await_slaves(s);
	return divide_memory(s);
}

int orr_slaves_start(struct orr_process *proc)
{
	struct orr_slaves *s;

	if (!orr_slaves_wanted(proc))
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	int ret = meet(proc, s);
	if (ret) {
		free(s);
		return ret;
	}
	orr_waitq_init(&s->bell);
	proc->slaves = s;
	ret = open_link(proc, s);
	if (ret)
		unmake(proc);
	return ret;
}

void orr_slaves_stop(struct orr_process *proc)
{
	struct orr_slaves *s = proc->slaves;

	if (!s)
		return;
	if (s->rank == s->master) {
		send_home(proc, s);
	} else if (!ORR_ATOMIC_LOAD(&s->stopping)) {
		orr_error(
			"rank %d cannot start as a slave, for which the master waits: all ranks are ended",
			s->rank);
		orr_sys_abort();
	}
	s->link->close(proc);
	s->link->leave(proc);
	unmake(proc);
	proc->mpi_rank = 0;
	proc->mpi_size = 1;
}
