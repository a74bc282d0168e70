/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orrery-calibrate-dyn: what processes that join and leave cost. `orrery calibrate --elastic`
 * starts it as the only process of an elastic run. Several times, it starts a process, connects to
 * it, starts 4 more, connects to all, and lets the 5 leave. It prints a word and a number of
 * microseconds in each line: requests and connections; the journal of the run says how long
 * processes took to start and to end (tools/orrery_elastic.py).
 *
 *     orrery-calibrate-dyn [ROUNDS]
 *
 * Invariant: numbers are medians, and printed when all was measured. */
#include <orrery_dyn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 20, REQUESTS = 51, FIRST = 1, SECOND = 4, ROOM = 512 };

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

/* The task runtime begins with these calls on a communicator, too; the first ones on new
 * connections are slow. */
static void use_first(void)
{
	MPI_Comm copy;
	int rank, size, all[16];

	MPI_Comm_dup(comm, &copy);
	MPI_Comm_rank(copy, &rank);
	MPI_Comm_size(copy, &size);
	must(size > 16, "a set of more than 16 processes");
	for (int i = 0; i < 2; i++)
		MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, copy);
	MPI_Comm_free(&copy);
}

static void join(const char *set)
{
	MPI_Group group;

	must(MPI_Group_from_session_pset(session, set, &group), "MPI_Group_from_session_pset");
	must(MPI_Comm_create_from_group(group, "calibrate", MPI_INFO_NULL, MPI_ERRORS_RETURN,
					&comm),
	     "MPI_Comm_create_from_group");
	MPI_Group_free(&group);
	use_first();
}

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

/* n processes more; delta becomes their set. */
static void grow(int n, char delta[ROOM])
{
	char out[2][ROOM];

	change(MPI_PSETOP_GROW, "mpi_num_procs_add", n, out);
	memcpy(delta, out[0], ROOM);
	publish(delta, "next", out[1]);
	finish(out[1]);
}

/* Connects to the processes of the main set. Returns how long that took. */
static double connect(void)
{
	double from = now_us();

	if (comm != MPI_COMM_NULL)
		MPI_Comm_free(&comm);
	join(main_set);
	return now_us() - from;
}

/* Processes come, more of them come, and all of these leave. */
static void round_of(double joins[2])
{
	char first[ROOM], second[ROOM], out[2][ROOM];

	grow(FIRST, first);
	joins[0] = connect();
	grow(SECOND, second);
	publish(first, "then", main_set);
	joins[1] = connect();
	change(MPI_PSETOP_SHRINK, "mpi_num_procs_sub", FIRST + SECOND, out);
	finish(out[1]);
	publish(second, "then", "leave");
	publish(first, "after", "leave");
	connect();
}

/* One more process comes when those of the last round have ended, and leaves at once. */
static void await_end(void)
{
	char out[2][ROOM];

	change(MPI_PSETOP_GROW, "mpi_num_procs_add", FIRST, out);
	publish(out[0], "next", "leave");
	must(MPI_Session_dyn_finalize_psetop(session, main_set), "finalize");
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

/* A connection makes so many requests to the registry. */
enum { JOIN_REQUESTS = 2 };

static void measure(int rounds)
{
	double joins[2 * MOST_ROUNDS], request = request_us();

	join(main_set);
	for (int i = 0; i < rounds; i++)
		round_of(joins + 2 * i);
	await_end();
	printf("request_us %.1f\njoin_us %.1f\n", request,
	       median(joins, 2 * rounds) - JOIN_REQUESTS * request);
}

/* What a process does that was started: joins the sets that it is told of, until it is told to
 * leave. */
static void follow(void)
{
	static const char *const keys[] = { "next", "then", "after" };
	char value[ROOM];

	for (int i = 0; i < 3; i++) {
		look_up(keys[i], value);
		if (!strcmp(value, "leave"))
			break;
		snprintf(main_set, ROOM, "%s", value);
		connect();
	}
	if (comm != MPI_COMM_NULL)
		MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
	int found, rounds = argc > 1 ? atoi(argv[1]) : 3;
	char value[ROOM];
	MPI_Info info;

	must(rounds < 1 || rounds > MOST_ROUNDS, "a number of rounds from 1 to 20");
	must(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "MPI_Session_init");
	must(MPI_Session_get_pset_info(session, main_set, &info), "MPI_Session_get_pset_info");
	MPI_Info_get(info, "mpi_dyn", ROOM - 1, value, &found);
	MPI_Info_free(&info);
	if (strcmp(value, "True")) {
		measure(rounds);
	} else {
		follow();
	}
	must(MPI_Session_finalize(&session), "MPI_Session_finalize");
	return 0;
}
