/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A loop whose number of processes changes while it runs. Every few iterations its first process
 * asks for a change; the processes that leave end at once, and the new ones join the loop where it
 * is.
 *
 *     orrery cc --elastic --both elastic_loop.c -o elastic_loop
 *     orrery run --elastic -n 2 --max 8 ./elastic_loop -d -c 60 -f 10 -n 2 -l 8 -m i+
 *     orrery sim --elastic -n 16 --max 512 ./elastic_loop.sim -c 60 -n 62 -l 512 -m s+
 *
 * Modes: i+ adds n processes each time, up to l; i_ removes n, down to l; s+ adds n and removes
 * them, adds 2n and removes them, and so on, up to l; s_ the same with the removal first, down to
 * l; b_ removes n each time down to l, adds n each time up to the number at the beginning, and so
 * on.
 *
 * The i modes use GROW and SHRINK and finalize a change before the new communicator is made; the
 * others use ADD and UNION, SUB and DIFFERENCE, and finalize after it. It includes only mpi.h.
 *
 * Invariant: in each iteration, all processes of the main set are in the same iteration. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
	int debug, iterations, limit, n, frequency;
	const char *mode;
};

struct loop {
	struct options o;
	MPI_Session session;
	MPI_Comm comm;
	char main_set[MPI_MAX_PSET_NAME_LEN];
	int rank, size, iteration;
	/* of the first process: how many there were, which change is next, and whether there is one
	 */
	int begun, step, down, over;
};

static void must(int ret, const char *what)
{
	if (ret == MPI_SUCCESS)
		return;
	fprintf(stderr, "elastic_loop: %s failed with code %d\n", what, ret);
	exit(1);
}

static void usage(const char *name)
{
	printf("usage: %s [-d] [-c ITERATIONS] [-l LIMIT] [-n DELTA] [-f FREQUENCY] [-m MODE]\n"
	       "  -d  print what each process does\n"
	       "  -c  number of iterations (default 200)\n"
	       "  -l  most processes, or fewest in the modes i_, s_ and b_ (default 64)\n"
	       "  -n  number of processes of a change (default 8)\n"
	       "  -f  iterations between two changes (default 10)\n"
	       "  -m  i+, i_, s+, s_ or b_ (default i+)\n",
	       name);
}

static int read_options(struct options *o, int argc, char **argv)
{
	*o = (struct options){
		.iterations = 200, .limit = 64, .n = 8, .frequency = 10, .mode = "i+"
	};
	for (int c; (c = getopt(argc, argv, "dc:l:n:f:m:h")) != -1;) {
		switch (c) {
		case 'd': o->debug = 1; break;
		case 'c': o->iterations = atoi(optarg); break;
		case 'l': o->limit = atoi(optarg); break;
		case 'n': o->n = atoi(optarg); break;
		case 'f': o->frequency = atoi(optarg); break;
		case 'm': o->mode = optarg; break;
		default: return -1;
		}
	}
	int known = 0;
	for (const char *mode = "i+\0i_\0s+\0s_\0b_\0"; *mode; mode += 3)
		known |= !strcmp(o->mode, mode);
	return known && o->n > 0 && o->frequency > 0 && o->limit > 0 ? 0 : -1;
}

/* ---- sets ---- */

static void read_text(MPI_Info info, const char *key, char *text, int room)
{
	int found;
	must(MPI_Info_get(info, key, room - 1, text, &found), "MPI_Info_get");
	if (!found)
		must(MPI_ERR_INFO_KEY, key);
}

static int set_says(struct loop *l, const char *set, const char *key)
{
	MPI_Info info;
	char text[16];
	must(MPI_Session_get_pset_info(l->session, set, &info), "MPI_Session_get_pset_info");
	read_text(info, key, text, sizeof(text));
	MPI_Info_free(&info);
	return !strcmp(text, "True");
}

/* Publishes for a set how the loop goes on. */
static void publish(struct loop *l, const char *set, const char *next)
{
	MPI_Info info;
	char text[16];
	snprintf(text, sizeof(text), "%d", l->iteration);
	MPI_Info_create(&info);
	MPI_Info_set(info, "next_main_pset", next);
	MPI_Info_set(info, "iteration", text);
	must(MPI_Session_set_pset_data(l->session, set, info), "MPI_Session_set_pset_data");
	MPI_Info_free(&info);
}

static void look_up(struct loop *l, char *set, char next[MPI_MAX_PSET_NAME_LEN])
{
	MPI_Info info;
	char *keys[] = { "next_main_pset", "iteration" }, text[16];
	must(MPI_Session_get_pset_data(l->session, set, set, keys, 2, 1, &info),
	     "MPI_Session_get_pset_data");
	read_text(info, "next_main_pset", next, MPI_MAX_PSET_NAME_LEN);
	read_text(info, "iteration", text, sizeof(text));
	l->iteration = atoi(text);
	MPI_Info_free(&info);
}

static void connect_main(struct loop *l)
{
	MPI_Group group;
	must(MPI_Group_from_session_pset(l->session, l->main_set, &group),
	     "MPI_Group_from_session_pset");
	must(MPI_Comm_create_from_group(group, "elastic_loop", MPI_INFO_NULL, MPI_ERRORS_RETURN,
					&l->comm),
	     "MPI_Comm_create_from_group");
	MPI_Group_free(&group);
	MPI_Comm_rank(l->comm, &l->rank);
	MPI_Comm_size(l->comm, &l->size);
	if (l->o.debug)
		printf("iteration %d: rank %d of %d in %s\n", l->iteration, l->rank, l->size,
		       l->main_set);
	fflush(stdout);
}

static void free_names(char **names, int n)
{
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

/* ---- changes ---- */

/* True if the size is on the allowed side of the limit. */
static int allowed(const struct loop *l, int size)
{
	return l->o.mode[1] == '+' ? size <= l->o.limit : size >= l->o.limit;
}

/* By how many processes the next change changes the size, 0: there is none. */
static int next_delta(struct loop *l)
{
	int sign = l->o.mode[1] == '+' ? 1 : -1, n = sign * l->o.n * (l->step / 2 + 1);
	if (l->o.mode[0] == 'i')
		return allowed(l, l->size + sign * l->o.n) ? sign * l->o.n : 0;
	if (l->o.mode[0] == 's')
		return allowed(l, l->begun + n) ? (l->step % 2 ? -n : n) : 0;
	if (l->down && !allowed(l, l->size - l->o.n))
		l->down = 0;
	else if (!l->down && l->size + l->o.n > l->begun)
		l->down = 1;
	return l->down ? -l->o.n : l->o.n;
}

/* The first process asks for the change. */
static void ask(struct loop *l, int delta)
{
	int together = l->o.mode[0] == 'i', op, noutput = 0;
	char text[16], *input[] = { l->main_set }, **output = NULL;
	MPI_Info info;
	op = delta > 0 ? (together ? MPI_PSETOP_GROW : MPI_PSETOP_ADD)
		       : (together ? MPI_PSETOP_SHRINK : MPI_PSETOP_SUB);
	snprintf(text, sizeof(text), "%d", abs(delta));
	MPI_Info_create(&info);
	MPI_Info_set(info, delta > 0 ? "mpi_num_procs_add" : "mpi_num_procs_sub", text);
	must(MPI_Session_dyn_v2a_psetop(l->session, &op, input, 1, &output, &noutput, info),
	     "MPI_Session_dyn_v2a_psetop");
	MPI_Info_free(&info);
	l->over = op == MPI_PSETOP_NULL;
	l->step++;
	if (l->over)
		printf("iteration %d: a change by %+d processes is refused\n", l->iteration, delta);
	free_names(output, noutput);
}

/* The main set after ADD or SUB of the set delta. */
static void combine(struct loop *l, int type, char *delta, char next[MPI_MAX_PSET_NAME_LEN])
{
	int op = type == MPI_PSETOP_ADD ? MPI_PSETOP_UNION : MPI_PSETOP_DIFFERENCE, noutput = 0;
	char *input[] = { l->main_set, delta }, **output = NULL;
	must(MPI_Session_dyn_v2a_psetop(l->session, &op, input, 2, &output, &noutput,
					MPI_INFO_NULL),
	     "MPI_Session_dyn_v2a_psetop");
	snprintf(next, MPI_MAX_PSET_NAME_LEN, "%s", output[0]);
	free_names(output, noutput);
}

/* The first process tells the others, and the new ones, how it goes on. */
static void announce(struct loop *l, int type, char **output, int noutput)
{
	char next[MPI_MAX_PSET_NAME_LEN];
	if (noutput > 1)
		snprintf(next, sizeof(next), "%s", output[1]);
	else
		combine(l, type, output[0], next);
	if (type == MPI_PSETOP_ADD || type == MPI_PSETOP_GROW)
		publish(l, output[0], next);
	publish(l, l->main_set, next);
	printf("iteration %d: operation %d, delta %s, main %s\n", l->iteration, type, output[0],
	       next);
	fflush(stdout);
}

static void finalize_change(struct loop *l, char *set, int now)
{
	if (!l->rank && now)
		must(MPI_Session_dyn_finalize_psetop(l->session, set),
		     "MPI_Session_dyn_finalize_psetop");
}

/* All processes go to the next main set. Returns 0 in one that leaves. */
static int go_on(struct loop *l)
{
	char next[MPI_MAX_PSET_NAME_LEN], before[MPI_MAX_PSET_NAME_LEN];
	int early = l->o.mode[0] == 'i';
	look_up(l, l->main_set, next);
	finalize_change(l, l->main_set, early);
	MPI_Comm_disconnect(&l->comm);
	strcpy(before, l->main_set);
	strcpy(l->main_set, next);
	if (!set_says(l, next, "mpi_included")) {
		if (l->o.debug)
			printf("iteration %d: rank %d leaves\n", l->iteration, l->rank);
		return 0;
	}
	connect_main(l);
	finalize_change(l, before, !early);
	return 1;
}

static int change(struct loop *l)
{
	int type, noutput = 0, delta = !l->rank && !l->over ? next_delta(l) : 0;
	char **output = NULL;
	if (delta)
		ask(l, delta);
	must(MPI_Session_dyn_v2a_query_psetop(l->session, l->main_set, l->main_set, &type, &output,
					      &noutput),
	     "MPI_Session_dyn_v2a_query_psetop");
	if (type != MPI_PSETOP_NULL && !l->rank)
		announce(l, type, output, noutput);
	free_names(output, noutput);
	return type == MPI_PSETOP_NULL || go_on(l);
}

/* ---- the loop ---- */

static void work(struct loop *l)
{
	int mine[2] = { 1, l->iteration }, sum[2];
	MPI_Allreduce(mine, sum, 2, MPI_INT, MPI_SUM, l->comm);
	if (sum[0] != l->size || sum[1] != l->size * l->iteration)
		must(MPI_ERR_OTHER, "the sum of all processes");
}

int main(int argc, char **argv)
{
	struct loop l = { .down = 1 };
	if (read_options(&l.o, argc, argv)) {
		usage(argv[0]);
		return 2;
	}
	must(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &l.session), "MPI_Session_init");
	strcpy(l.main_set, "mpi://WORLD");
	if (set_says(&l, "mpi://WORLD", "mpi_dyn"))
		look_up(&l, "mpi://WORLD", l.main_set);
	connect_main(&l);
	l.begun = l.size;
	int stays = 1;
	if (l.iteration)
		l.iteration++; /* the others are done with the one in which the set changed */
	for (; stays && l.iteration <= l.o.iterations; l.iteration++) {
		work(&l);
		if (l.iteration && l.iteration % l.o.frequency == 0)
			stays = change(&l);
	}
	if (stays && !l.rank)
		printf("end with %d processes\n", l.size);
	if (stays)
		MPI_Comm_disconnect(&l.comm);
	must(MPI_Session_finalize(&l.session), "MPI_Session_finalize");
	return 0;
}
