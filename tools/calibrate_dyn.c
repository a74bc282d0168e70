/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orrery-calibrate-dyn: what processes that join and leave cost. `orrery calibrate --elastic`
 * starts it as the only process of an elastic run. It starts 1 and 4 processes in turn, several
 * times, connects to them and lets them leave, and prints a word and a number of microseconds in
 * each line.
 *
 * Invariant: numbers are medians, and printed when all was measured. */
#include <orrery_dyn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, NSIZES = 2, REQUESTS = 51, ROOM = 512 };

static const int sizes[NSIZES] = { 1, 4 };
static MPI_Session session;
static char main_set[ROOM] = "mpi://WORLD";
static MPI_Comm comm;

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

struct times {
	double start, join, leave;
};

/* n processes come and leave. */
static struct times round_of(int n)
{
	char out[2][ROOM], end[2][ROOM];
	struct times t;
	double from = now_us();

	change(MPI_PSETOP_GROW, "mpi_num_procs_add", n, out);
	t.start = now_us() - from;
	from = now_us();
	publish(out[0], "next", out[1]);
	join(out[1]);
	t.join = now_us() - from;
	finish(out[1]);
	from = now_us();
	change(MPI_PSETOP_SHRINK, "mpi_num_procs_sub", n, end);
	publish(out[0], "leave", "now");
	MPI_Comm_free(&comm);
	join(end[1]);
	t.leave = now_us() - from;
	MPI_Comm_free(&comm);
	finish(end[1]);
	return t;
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

/* A growth makes so many requests to the registry, beside starting; a connection, so many more. */
enum { START_REQUESTS = 3, JOIN_REQUESTS = 4 };

static void measure(void)
{
	double start[NSIZES], joins[NSIZES * ROUNDS], leaves[NSIZES * ROUNDS],
		request = request_us();
	double n = 0, sum = 0, squares = 0, y = 0, xy = 0;

	for (int i = 0; i < NSIZES; i++) {
		double v[ROUNDS];
		for (int k = 0; k < ROUNDS; k++) {
			struct times t = round_of(sizes[i]);
			v[k] = t.start - START_REQUESTS * request;
			joins[i * ROUNDS + k] = t.join - JOIN_REQUESTS * request;
			leaves[i * ROUNDS + k] = t.leave;
		}
		start[i] = median(v, ROUNDS);
		n++;
		sum += sizes[i];
		squares += sizes[i] * sizes[i];
		y += start[i];
		xy += sizes[i] * start[i];
	}
	double each = (n * xy - sum * y) / (n * squares - sum * sum);
	if (each < 0)
		each = 0;
	printf("request_us %.1f\nstart_us %.1f\nstart_each_us %.1f\njoin_us %.1f\nleave_us %.1f\n",
	       request, (y - each * sum) / n, each, median(joins, NSIZES * ROUNDS),
	       median(leaves, NSIZES * ROUNDS));
}

int main(void)
{
	char value[ROOM];
	MPI_Info info;
	int found;

	must(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "MPI_Session_init");
	must(MPI_Session_get_pset_info(session, main_set, &info), "MPI_Session_get_pset_info");
	MPI_Info_get(info, "mpi_dyn", ROOM - 1, value, &found);
	MPI_Info_free(&info);
	if (strcmp(value, "True")) {
		measure();
	} else {
		look_up("next", value);
		join(value);
		look_up("leave", value);
		MPI_Comm_free(&comm);
	}
	must(MPI_Session_finalize(&session), "MPI_Session_finalize");
	return 0;
}
