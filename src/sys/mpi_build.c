/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranks of one run have one build of the library: their messages have no description of their own,
 * so that another version would misread them. Each rank says its build before the first message
 * whose form may change from version to version (see mpi_transports.h).
 *
 * Invariant: what is exchanged here has the same form in all versions, for ever: the smallest of
 * two numbers, and where they differ a name of BUILD_SIZE and a host of HOST_SIZE characters from
 * each rank. */
#include <config.h>
#include "sys/mpi_transports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/assert.h"
#include "base/fnv.h"
#include "base/log.h"
#include "orr_sources.h"

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

enum { BUILD_SIZE = 128, HOST_SIZE = 128, MOST_BUILDS = 8, MOST_RANKS = 8 };

struct card {
	char build[BUILD_SIZE], host[HOST_SIZE];
};

/* The version, the number of the layout of messages, and a checksum of the library's sources. */
static const char own_build[] = PACKAGE_VERSION
	" (messages " STRING(ORR_TRANSPORT_LAYOUT) ", sources " ORR_SOURCES ")";

static uint64_t hash(const char *text)
{
	return orr_fnv(ORR_FNV_START, text, strlen(text));
}

/* [waits] */
static int all_equal(MPI_Comm comm, uint64_t mine)
{
	uint64_t least[] = { mine, ~mine };

	MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_UINT64_T, MPI_MIN, comm);
	return least[0] == ~least[1];
}

/* ---- the message ---- */

/* The first rank with the build of rank r. */
static int first_with(const struct card *all, int r)
{
	int first = 0;

	while (memcmp(all[first].build, all[r].build, BUILD_SIZE))
		first++;
	return first;
}

/* Writes "BUILD on rank 0 (host a), rank 1 (host b)" for those with the build of this rank. */
static void put_build(FILE *f, const struct card *all, int size, int first)
{
	int n = 0;

	fprintf(f, "%.*s on", BUILD_SIZE, all[first].build);
	for (int r = first; r < size; r++) {
		if (first_with(all, r) != first)
			continue;
		if (n++ < MOST_RANKS)
			fprintf(f, "%s rank %d (host %.*s)", n > 1 ? "," : "", r, HOST_SIZE,
				all[r].host);
	}
	if (n > MOST_RANKS)
		fprintf(f, " and %d more", n - MOST_RANKS);
}

static void complain(const struct card *all, int size)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	int n = 0;

	if (!f)
		orr_fatal("the ranks of this run have different builds of Orrery");
	for (int r = 0; r < size && n < MOST_BUILDS; r++)
		if (first_with(all, r) == r) {
			fputs(n++ ? "; " : "", f);
			put_build(f, all, size, r);
		}
	fclose(f);
	orr_error(
		"the ranks of this run have different builds of Orrery, which do not understand each other: %s; install the same build on all hosts (LD_LIBRARY_PATH may find another one)",
		text);
	free(text);
}

void orr_real_check_build(MPI_Comm comm, MPI_Comm to_abort, int rank, int size)
{
	struct card mine = { "", "" }, *all = NULL;

	_Static_assert(sizeof(own_build) <= BUILD_SIZE, "the name of a build fits");
	if (all_equal(comm, hash(own_build)))
		return;
	memcpy(mine.build, own_build, sizeof(own_build));
	gethostname(mine.host, HOST_SIZE - 1);
	if (!rank)
		all = calloc((size_t) size, sizeof(*all));
	if (!rank && !all)
		orr_fatal("out of memory for the builds of %d ranks", size);
	MPI_Gather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, 0, comm);
	if (!rank)
		complain(all, size);
	MPI_Barrier(comm); /* rank 0 has spoken */
	MPI_Abort(to_abort, 1);
	orr_assertf(0, "MPI_Abort returned");
	abort();
}
