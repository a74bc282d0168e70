/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orrery-calibrate-dyn: what processes that join and leave cost. `orrery calibrate --elastic`
 * starts it as the first processes of an elastic run. Several times, a process is started and joins
 * the task runtime of these, 3 more are started, and all of the new ones leave. It prints a word
 * and a number of microseconds in each line: requests, connections, and what the runtime takes to
 * go on with another communicator and to begin; the journal of the run says how long processes took
 * to start and to end (tools/orrery_elastic.py).
 *
 *     orrery-calibrate-dyn [ROUNDS]
 *
 * The first process drives: it tells each world (processes that were started together) by numbered
 * keys which set comes next, or that it leaves or ends.
 *
 * Invariant: numbers are medians, and printed when all was measured. */
#include <orrery_dyn.h>
#include <orrery_resize.h>
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 20, REQUESTS = 51, FIRST = 1, SECOND = 3, ROOM = 512 };

static MPI_Session session;
static char main_set[ROOM] = "mpi://WORLD";
static MPI_Comm comm = MPI_COMM_NULL;

static void must(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "orrery-calibrate-dyn: %s failed with code %d\n", what, ret);
	exit(1);
}

static double now_us(void)
{
	return MPI_Wtime() * 1e6;
}

static int by_value(const void *a, const void *b)
{
	double d = *(const double *) a - *(const double *) b;

	return (d > 0) - (d < 0);
}

static double median(double *v, int n)
{
	qsort(v, (size_t) n, sizeof(*v), by_value);
	return v[n / 2];
}

static void publish(const char *set, const char *key, const char *value)
{
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, key, value);
	must(MPI_Session_set_pset_data(session, set, info), "MPI_Session_set_pset_data");
	MPI_Info_free(&info);
}

/* Waits for a key of the new processes. */
static void look_up(const char *key, char value[ROOM])
{
	char world[] = "mpi://WORLD", name[16], *keys[] = { name };
	MPI_Info info;
	int found;

	snprintf(name, sizeof(name), "%s", key);
	must(MPI_Session_get_pset_data(session, world, world, keys, 1, 1, &info),
	     "MPI_Session_get_pset_data");
	MPI_Info_get(info, key, ROOM - 1, value, &found);
	MPI_Info_free(&info);
}

static MPI_Comm comm_of(const char *set)
{
	MPI_Group group;
	MPI_Comm made;

	must(MPI_Group_from_session_pset(session, set, &group), "MPI_Group_from_session_pset");
	must(MPI_Comm_create_from_group(group, "calibrate", MPI_INFO_NULL, MPI_ERRORS_RETURN,
					&made),
	     "MPI_Comm_create_from_group");
	MPI_Group_free(&group);
	return made;
}

/* The runtime begins with the set, or goes on with it. Returns how long that took, and waits for
 * all. */
static double enter(const char *set)
{
	double from = now_us();
	MPI_Comm old = comm;
	struct starpu_conf conf;

	comm = comm_of(set);
	if (old == MPI_COMM_NULL) {
		starpu_conf_init(&conf);
		conf.ncpus = 1;
		must(starpu_mpi_init_conf(NULL, NULL, 0, comm, &conf), "starpu_mpi_init_conf");
	} else {
		must(orrery_resize_switch(comm), "orrery_resize_switch");
		MPI_Comm_free(&old);
	}
	double took = now_us() - from;
	must(MPI_Barrier(comm), "MPI_Barrier");
	return took;
}

/* ---- the first process ---- */

/* A change by n processes; out gets the delta and the set that results. */
static void change(int op, const char *key, int n, char out[2][ROOM])
{
	char *in[] = { main_set }, **names = NULL, text[16];
	int wanted = op, nout = 0;
	MPI_Info info;

	snprintf(text, sizeof(text), "%d", n);
	MPI_Info_create(&info);
	MPI_Info_set(info, key, text);
	must(MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &names, &nout, info),
	     "MPI_Session_dyn_v2a_psetop");
	MPI_Info_free(&info);
	must(op != wanted || nout != 2, "a change that the registry should have made");
	for (int i = 0; i < nout; i++) {
		snprintf(out[i], ROOM, "%s", names[i]);
		free(names[i]);
	}
	free(names);
}

static void finish(const char *next)
{
	must(MPI_Session_dyn_finalize_psetop(session, main_set), "finalize");
	snprintf(main_set, ROOM, "%s", next);
}

struct world {
	char set[ROOM];
	int told;
};

static struct world first_world = { "mpi://WORLD", 0 };

static void tell(struct world *w, const char *what)
{
	char key[16];

	snprintf(key, sizeof(key), "%d", w->told++);
	publish(w->set, key, what);
	if (w == &first_world) { /* all of a world look up together */
		char value[ROOM];
		look_up(key, value);
	}
}

/* n processes more, in a new world. */
static void grow(int n, struct world *w, char next[ROOM])
{
	char out[2][ROOM];

	change(MPI_PSETOP_GROW, "mpi_num_procs_add", n, out);
	*w = (struct world){ .told = 0 };
	memcpy(w->set, out[0], ROOM);
	memcpy(next, out[1], ROOM);
}

struct times {
	double join, begin, change; /* the last one: of the communicator */
};

static struct times round_of(void)
{
	struct world first, second;
	char next[ROOM], out[2][ROOM];
	struct times t;

	grow(FIRST, &first, next);
	tell(&first_world, next);
	tell(&first, next);
	double from = now_us();
	t.join = enter(next);
	t.begin = now_us() - from - t.join;
	finish(next);
	grow(SECOND, &second, next);
	finish(next);
	change(MPI_PSETOP_SHRINK, "mpi_num_procs_sub", FIRST + SECOND, out);
	tell(&first_world, out[1]);
	tell(&first, "leave");
	t.change = enter(out[1]);
	tell(&second, "leave");
	finish(out[1]);
	return t;
}

/* One more process comes when those of the last round have ended, and leaves at once. */
static void await_end(void)
{
	struct world last;
	char next[ROOM];

	grow(FIRST, &last, next);
	tell(&last, "leave");
	finish(next);
	tell(&first_world, "end");
}

static double request_us(void)
{
	double v[REQUESTS];
	MPI_Info info;

	for (int i = 0; i < REQUESTS; i++) {
		double from = now_us();
		must(MPI_Session_get_pset_info(session, main_set, &info), "a request");
		v[i] = now_us() - from;
		MPI_Info_free(&info);
	}
	return median(v, REQUESTS);
}

static void measure(int rounds)
{
	double join[MOST_ROUNDS], begin[MOST_ROUNDS], other[MOST_ROUNDS], request = request_us();

	enter(main_set);
	for (int i = 0; i < rounds; i++) {
		struct times t = round_of();
		join[i] = t.join;
		begin[i] = t.begin;
		other[i] = t.change;
	}
	await_end();
	double change_us = median(other, rounds), more = median(join, rounds) - change_us;
	printf("request_us %.1f\njoin_us %.1f\nswitch_us %.1f\nbegin_us %.1f\n", request,
	       more > 0 ? more : 0, change_us, median(begin, rounds));
}

/* ---- the others ---- */

static void follow(int added)
{
	char key[16], value[ROOM];

	if (!added)
		enter(main_set);
	for (int i = 0;; i++) {
		snprintf(key, sizeof(key), "%d", i);
		look_up(key, value);
		if (!strcmp(value, "leave") || !strcmp(value, "end"))
			break;
		enter(value);
	}
	if (!strcmp(value, "leave") && comm != MPI_COMM_NULL) {
		must(orrery_resize_switch(MPI_COMM_NULL), "orrery_resize_switch");
		MPI_Comm_free(&comm);
		must(starpu_mpi_shutdown(), "starpu_mpi_shutdown");
	}
}

static int says(const char *key)
{
	MPI_Info info;
	char value[ROOM];
	int found;

	must(MPI_Session_get_pset_info(session, "mpi://WORLD", &info), "MPI_Session_get_pset_info");
	MPI_Info_get(info, key, ROOM - 1, value, &found);
	MPI_Info_free(&info);
	return !strcmp(value, "True");
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3;

	must(rounds < 1 || rounds > MOST_ROUNDS, "a number of rounds from 1 to 20");
	must(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "MPI_Session_init");
	int added = says("mpi_dyn");
	if (!added && says("mpi_primary"))
		measure(rounds);
	else
		follow(added);
	if (comm != MPI_COMM_NULL) {
		must(starpu_mpi_shutdown(), "starpu_mpi_shutdown");
		MPI_Comm_free(&comm);
	}
	must(MPI_Session_finalize(&session), "MPI_Session_finalize");
	return 0;
}
