/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Task programs that follow their process set: resize points grow and shrink the run as the
 * resource manager says.
 *
 * Rank 0 asks the registry in the background whether the set is to change; an answer that has new
 * processes comes when they have started, so nobody waits for their start. Then the ranks agree by
 * the sum of the points (resize.c), and learn from rank 0 which set comes next. A growth takes
 * place at once: the new communicator is made, the runtime goes on with it, and then data move. A
 * shrink takes two points: at the first one, ranks that will leave give their data away; tasks of
 * the step between the points hide that; at the second one, the runtime goes on without them.
 *
 * The functions of process sets are in a library of their own, which only elastic programs have.
 * Here they are weak, so that other programs need not have it.
 *
 * Invariant: e->comm is the communicator of the runtime, and of the set e->set. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <orrery_dyn.h>
#include <orrery_resize.h>
#include "mpi/carry/layer.h"
#include "mpi/run/resize.h"
#include "base/assert.h"
#include "base/log.h"

#pragma weak MPI_Session_init
#pragma weak MPI_Session_finalize
#pragma weak MPI_Session_get_pset_info
#pragma weak MPI_Group_from_session_pset
#pragma weak MPI_Comm_create_from_group
#pragma weak MPI_Session_dyn_v2a_psetop
#pragma weak MPI_Session_dyn_v2a_query_psetop_nb
#pragma weak MPI_Session_dyn_finalize_psetop
#pragma weak MPI_Session_set_pset_data
#pragma weak MPI_Session_get_pset_data

#define KEY "orrery_next" /* where new processes look for the name of their set */
#define TOO_LATE "-"      /* instead of a name: the run is over */
#define PAUSE_US 5000.0   /* between two questions to the registry */
#define WORLD "mpi://WORLD"
#define ALONE "mpi://SELF"

enum { ROOM = 512 }; /* for the name of a set, as the header says for C */

/* Rank 0 tells the others of a change: */
struct change {
	int type, size;               /* the operation; the number of ranks that results */
	char next[ROOM], other[ROOM]; /* the set that results; those that come or leave */
};

/* The ranks tell those that join: */
struct greeting {
	int size; /* ranks in use */
	uint64_t bytes;
};

struct orr_elastic {
	MPI_Session session;
	MPI_Comm *comm; /* the program's variable, or our own */
	MPI_Comm own;
	void *state; /* the program's, what new processes get */
	size_t bytes;
	char set[ROOM];
	int joins;            /* this process is new: its first point is to come */
	int refused;          /* a change cannot be made, so none follows */
	int *places;          /* between the two points of a shrink: the ranks that those of now
				 have afterwards, -1: they leave; else NULL */
	struct change change; /* the next one, from when it is known to when it is over */
	struct orr_resize_hooks hooks;
	/* On rank 0: the question that is under way, unless it is MPI_REQUEST_NULL. */
	MPI_Request question;
	double asked_us;
	int type, noutputs;
	char **outputs;
};

/* ---- calls of the interface of process sets ---- */

/* 0, or -EIO; the interface has said why. */
static int io(int ret)
{
	return ret == MPI_SUCCESS ? 0 : -EIO;
}

static int set_size(const struct orr_elastic *e, const char *set, int *size, int *included)
{
	MPI_Info info;
	char text[16] = "";
	int found;

	if (MPI_Session_get_pset_info(e->session, set, &info))
		return -EIO;
	MPI_Info_get(info, "mpi_size", sizeof(text) - 1, text, &found);
	*size = atoi(text);
	MPI_Info_get(info, "mpi_included", sizeof(text) - 1, text, &found);
	*included = !strcmp(text, "True");
	MPI_Info_free(&info);
	return 0;
}

/* Returns whether the process was added to the run: 0, 1 or -EIO; -ENODEV where nothing can be
 * added, because the sets are those of an MPI that has its own. */
static int is_new(const struct orr_elastic *e)
{
	MPI_Info info;
	char text[16] = "";
	int found;

	if (MPI_Session_get_pset_info(e->session, WORLD, &info))
		return -EIO;
	MPI_Info_get(info, "mpi_dyn", sizeof(text) - 1, text, &found);
	MPI_Info_free(&info);
	if (!found) {
		orr_error(
			"orrery_elastic_start: the program does not run elastically; start it with `orrery run --elastic`");
		return -ENODEV;
	}
	return !strcmp(text, "True");
}

static int publish(const struct orr_elastic *e, const char *set, const char *value)
{
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, KEY, value);
	int ret = MPI_Session_set_pset_data(e->session, set, info);
	MPI_Info_free(&info);
	return io(ret);
}

/* The name of the set that new processes join. */
static int look_up(struct orr_elastic *e)
{
	char world[] = WORLD, key[] = KEY, *keys[] = { key };
	MPI_Info info;
	int found;

	if (MPI_Session_get_pset_data(e->session, world, world, keys, 1, 1, &info))
		return -EIO;
	MPI_Info_get(info, KEY, ROOM - 1, e->set, &found);
	MPI_Info_free(&info);
	return found ? 0 : -EIO;
}

static int make_comm(const struct orr_elastic *e, const char *set, MPI_Comm *comm)
{
	MPI_Group group;

	if (MPI_Group_from_session_pset(e->session, set, &group))
		return -EIO;
	int ret = MPI_Comm_create_from_group(group, "orrery_resize", MPI_INFO_NULL,
					     MPI_ERRORS_RETURN, comm);
	MPI_Group_free(&group);
	return io(ret);
}

/* The resource manager may change the set of the run. */
static int make_malleable(const struct orr_elastic *e)
{
	char world[] = WORLD, *in[] = { world }, **out = NULL;
	int op = MPI_PSETOP_MALLEABLE, n = 0;
	int ret = MPI_Session_dyn_v2a_psetop(e->session, &op, in, 1, &out, &n, MPI_INFO_NULL);

	return io(ret);
}

/* ---- questions, on rank 0 ---- */

static void free_outputs(struct orr_elastic *e)
{
	for (int i = 0; i < e->noutputs; i++)
		free(e->outputs[i]);
	free(e->outputs);
	e->outputs = NULL;
	e->noutputs = 0;
}

/* Takes the answer: whether the set is to change. */
static int take_answer(struct orr_elastic *e)
{
	struct change *c = &e->change;
	int included;

	if (e->type != MPI_PSETOP_NULL && e->noutputs == 2 &&
	    !set_size(e, e->outputs[1], &c->size, &included)) {
		c->type = e->type;
		snprintf(c->other, sizeof(c->other), "%s", e->outputs[0]);
		snprintf(c->next, sizeof(c->next), "%s", e->outputs[1]);
	}
	free_outputs(e);
	return c->type != MPI_PSETOP_NULL;
}

static void ask(struct orr_elastic *e)
{
	static char alone[] = ALONE;

	e->type = MPI_PSETOP_NULL;
	e->asked_us = starpu_timing_now();
	if (MPI_Session_dyn_v2a_query_psetop_nb(e->session, alone, e->set, &e->type, &e->outputs,
						&e->noutputs, &e->question))
		e->question = MPI_REQUEST_NULL;
}

static int wants(struct orr_mpi *mpi, void *arg)
{
	struct orr_elastic *e = arg;
	int done = 0;

	(void) mpi;
	if (e->refused || e->change.type != MPI_PSETOP_NULL ||
	    starpu_timing_now() - e->asked_us < PAUSE_US)
		return 0;
	if (e->question == MPI_REQUEST_NULL) {
		ask(e);
		return 0;
	}
	MPI_Test(&e->question, &done, MPI_STATUS_IGNORE);
	if (!done)
		return 0;
	if (take_answer(e))
		return 1;
	ask(e);
	return 0;
}

/* ---- changes, at points ---- */

/* The communicator of the program and of the run is another one now. */
static int switch_to(struct orr_elastic *e, MPI_Comm comm)
{
	MPI_Comm old = *e->comm;
	int ret = orrery_resize_switch(comm);

	if (ret)
		return ret;
	*e->comm = comm;
	MPI_Comm_free(&old);
	return 0;
}

/* Rank 0 tells the new processes how many ranks are in use, and where the program is. */
static int greet(struct orr_elastic *e, struct greeting *g)
{
	int ret = MPI_Bcast(g, sizeof(*g), MPI_BYTE, 0, *e->comm);

	if (ret)
		return -EIO;
	if (g->bytes != e->bytes) {
		orr_error(
			"orrery_elastic_start: this process has a state of %zu bytes, and those that run one of %zu",
			e->bytes, (size_t) g->bytes);
		return -EINVAL;
	}
	return io(MPI_Bcast(e->state, (int) e->bytes, MPI_BYTE, 0, *e->comm));
}

/* The change is over, and the run goes on with this set: another change may follow. */
static int finish_change(struct orr_elastic *e, int first, const char *set)
{
	int ret = 0;

	if (first)
		ret = io(MPI_Session_dyn_finalize_psetop(e->session, e->change.next));
	memmove(e->set, set, sizeof(e->set));
	e->change.type = MPI_PSETOP_NULL;
	e->asked_us = 0;
	return ret;
}

/* Tells the registry that the last n processes of the set are leaving, so that they no longer count
 * as resources. */
static int give_back(const struct orr_elastic *e, char *set, int n)
{
	char text[16], *in[] = { set }, **out = NULL;
	int op = MPI_PSETOP_SHRINK, nout = 0;
	MPI_Info info;

	snprintf(text, sizeof(text), "%d", n);
	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_num_procs_sub", text);
	int ret = MPI_Session_dyn_v2a_psetop(e->session, &op, in, 1, &out, &nout, info);
	MPI_Info_free(&info);
	for (int i = 0; i < nout; i++)
		free(out[i]);
	free(out);
	if (!ret && op != MPI_PSETOP_NULL)
		ret = MPI_Session_dyn_finalize_psetop(e->session, set);
	return io(ret);
}

/* The runtime refused the new processes, which have learnt of it and end. */
static int stay_small(const struct orr_mpi *mpi, struct orr_elastic *e, MPI_Comm comm)
{
	int ret = finish_change(e, !mpi->rank, e->set);

	MPI_Comm_free(&comm);
	if (ret || mpi->rank)
		return ret;
	orr_error("orrery_resize_point: the run does not grow to %d ranks; it goes on with %d",
		  e->change.size, mpi->size);
	return give_back(e, e->change.next, e->change.size - mpi->size);
}

static int grow(struct orr_mpi *mpi, struct orr_elastic *e)
{
	struct greeting g = { .size = orrery_resize_size(*e->comm), .bytes = e->bytes };
	MPI_Comm comm;
	int ret = mpi->rank ? 0 : publish(e, e->change.other, e->change.next);

	if (!ret)
		ret = make_comm(e, e->change.next, &comm);
	if (ret)
		return ret;
	ret = switch_to(e, comm);
	if (ret && ret != -EIO) /* on all ranks */
		return stay_small(mpi, e, comm);
	if (!ret)
		ret = greet(e, &g);
	if (!ret)
		ret = finish_change(e, !mpi->rank, e->change.next);
	return ret ? ret : orrery_resize(*e->comm, mpi->size);
}

/* The ranks tell each other their places in the next set. */
static int find_places(const struct orr_mpi *mpi, struct orr_elastic *e)
{
	MPI_Group group;
	int mine;

	if (MPI_Group_from_session_pset(e->session, e->change.next, &group))
		return -EIO;
	MPI_Group_rank(group, &mine);
	MPI_Group_free(&group);
	if (mine == MPI_UNDEFINED)
		mine = -1;
	e->places = malloc((size_t) mpi->size * sizeof(*e->places));
	if (!e->places) /* the others go on with this rank */
		orr_fatal("orrery_resize_point: out of memory for the numbers of ranks");
	return io(MPI_Allgather(&mine, 1, MPI_INT, e->places, 1, MPI_INT, *e->comm));
}

/* True if the ranks from n on leave, and the others stay what they are. */
static int leave_from_end(const struct orr_mpi *mpi, const struct orr_elastic *e, int n)
{
	for (int i = 0; i < mpi->size; i++)
		if (e->places[i] != (i < n ? i : -1))
			return 0;
	return 1;
}

/* The change stays pending, so the registry makes no other one. */
static void refuse(const struct orr_mpi *mpi, struct orr_elastic *e, const char *why)
{
	if (!mpi->rank)
		orr_error("orrery_resize_point: the resource manager takes back processes %s; "
			  "the run goes on with all %d and follows no other demand",
			  why, mpi->size);
	e->refused = 1;
	e->change.type = MPI_PSETOP_NULL;
}

/* The first half of a shrink: ranks that will leave give their data away. */
static int begin_shrink(struct orr_mpi *mpi, struct orr_elastic *e)
{
	int ret = find_places(mpi, e), in_use = orrery_resize_size(*e->comm), n = e->change.size;

	if (ret)
		return ret;
	if (!leave_from_end(mpi, e, n))
		return orr_mpi_resize_leave(mpi, e->places, n < in_use ? n : in_use);
	return n < in_use ? orrery_resize(*e->comm, n) : 0;
}

/* The second half. 1: this rank has left. */
static int end_shrink(struct orr_mpi *mpi, struct orr_elastic *e)
{
	int leaves = e->places[mpi->rank] < 0;
	MPI_Comm comm = MPI_COMM_NULL;
	int ret = leaves ? 0 : make_comm(e, e->change.next, &comm);

	free(e->places);
	e->places = NULL;
	if (ret)
		return ret;
	ret = switch_to(e, comm);
	if (ret && ret != -EIO) { /* on all ranks */
		if (comm != MPI_COMM_NULL)
			MPI_Comm_free(&comm);
		refuse(mpi, e, "that cannot leave");
		return orrery_resize(*e->comm, mpi->size);
	}
	if (!ret && !leaves)
		ret = finish_change(e, !mpi->rank, e->change.next);
	return ret ? ret : leaves;
}

/* All learn which change rank 0 found, and begin it. */
static int begin_change(struct orr_mpi *mpi, struct orr_elastic *e)
{
	int ret = io(MPI_Bcast(&e->change, sizeof(e->change), MPI_BYTE, 0, *e->comm));

	if (ret)
		return ret;
	return e->change.type == MPI_PSETOP_SHRINK ? begin_shrink(mpi, e) : grow(mpi, e);
}

static int point(struct orr_mpi *mpi, void *arg, int agreed)
{
	struct orr_elastic *e = arg;

	if (e->joins) {
		e->joins = 0;
		return orrery_resize(*e->comm, mpi->size);
	}
	if (e->places)
		return end_shrink(mpi, e);
	return agreed ? begin_change(mpi, e) : 0;
}

/* ---- begin and end ---- */

/* The set that this process begins with: 0, 1 if it was added to the run, or -errno. */
static int find_set(struct orr_elastic *e)
{
	int added = is_new(e);

	if (added <= 0) {
		snprintf(e->set, sizeof(e->set), WORLD);
		return added;
	}
	int ret = look_up(e);
	if (!ret && !strcmp(e->set, TOO_LATE))
		ret = -ECANCELED;
	return ret ? ret : 1;
}

/* Starts the runtime with the processes of the set. */
static int start(struct orr_elastic *e, int *argc, char ***argv, struct starpu_conf *conf,
		 int added)
{
	struct greeting g;
	int ret = make_comm(e, e->set, e->comm);

	if (ret)
		return ret;
	ret = starpu_mpi_init_conf(argc, argv, 0, *e->comm, conf);
	if (ret) {
		MPI_Comm_free(e->comm);
		return ret;
	}
	struct orr_mpi *mpi = orr_self()->mpi;
	e->hooks = (struct orr_resize_hooks){ .wants = wants, .point = point, .arg = e };
	e->joins = added;
	ret = orr_mpi_resize_hook(mpi, &e->hooks);
	if (!ret && added)
		ret = greet(e, &g);
	if (!ret && added)
		orr_mpi_resize_join(mpi, g.size);
	if (!ret && !added && !mpi->rank)
		ret = make_malleable(e);
	if (ret)
		orr_sys_mpi_abort(mpi->proc); /* others go on with this process */
	return 0;
}

static int check_start(void)
{
	if (orr_self()->mpi) {
		orr_error(
			"orrery_elastic_start: the MPI layer is running; leave starpu_mpi_init_conf() out");
		return -EBUSY;
	}
	if (MPI_Session_dyn_v2a_psetop)
		return 0;
	orr_error(
		"orrery_elastic_start: the library of process sets is missing; link with -lorrery-dyn, or use `orrery cc --elastic`");
	return -ENOSYS;
}

int orrery_elastic_start(int *argc, char ***argv, struct starpu_conf *conf, MPI_Comm *comm,
			 void *state, size_t bytes)
{
	int ret = check_start();
	struct orr_elastic *e = ret ? NULL : calloc(1, sizeof(*e));

	if (!e)
		return ret ? ret : -ENOMEM;
	e->comm = comm ? comm : &e->own;
	e->state = state;
	e->bytes = bytes;
	e->question = MPI_REQUEST_NULL;
	int added = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &e->session) ? -ENODEV : 0;
	if (!added) {
		added = find_set(e);
		ret = added < 0 ? added : start(e, argc, argv, conf, added);
		if (!ret)
			return added;
		MPI_Session_finalize(&e->session);
	}
	free(e);
	return ret ? ret : added;
}

/* Rank 0 sends away those that were started and cannot join any more. */
static void cancel_change(struct orr_elastic *e)
{
	if (e->question != MPI_REQUEST_NULL) {
		MPI_Wait(&e->question, MPI_STATUS_IGNORE);
		take_answer(e);
	}
	if (e->change.type == MPI_PSETOP_GROW)
		publish(e, e->change.other, TOO_LATE);
}

int orrery_elastic_end(void)
{
	struct orr_mpi *mpi = orr_self()->mpi;
	const struct orr_resize_hooks *hooks = mpi ? orr_mpi_resize_hooks(mpi) : NULL;
	struct orr_elastic *e = hooks ? hooks->arg : NULL;

	if (!e) {
		orr_error("orrery_elastic_end: orrery_elastic_start() has not begun this run");
		return -ENODEV;
	}
	int ret = orr_mpi_check_blocking(__func__);
	if (ret)
		return ret;
	if (!mpi->rank)
		cancel_change(e);
	ret = starpu_mpi_shutdown();
	if (*e->comm != MPI_COMM_NULL)
		MPI_Comm_free(e->comm);
	MPI_Session_finalize(&e->session);
	free(e);
	return ret;
}
