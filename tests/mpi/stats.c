/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics: bytes per peer, counted for the program while it has them enabled and printed at the
 * end then; written to a file.
 * orr-test: expect starpu_comm_stats.*TOTAL:.480000 */
#include "mpi_test.h"
#include <sys/stat.h>
#include <unistd.h>
#include <orrery.h>

static void ring(starpu_data_handle_t out, starpu_data_handle_t in)
{
	OK(starpu_mpi_isend_detached(out, (rank + 1) % size, 1, MPI_COMM_WORLD, NULL, NULL));
	OK(starpu_mpi_recv(in, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
}

/* Where everybody may write, a link is somebody else's. */
static void refuses_links(void)
{
	char folder[64], path[80];

	snprintf(folder, sizeof(folder), "stats_%d_%d", size, rank);
	snprintf(path, sizeof(path), "%s/link", folder);
	OK(mkdir(folder, 0700));
	OK(chmod(folder, 01777));
	OK(symlink("../victim", path));
	CHECK(orrery_stats_write(path) < 0 && access("victim", F_OK), "it wrote through a link");
	OK(unlink(path));
	OK(orrery_stats_write(path));
	OK(unlink(path));
	OK(rmdir(folder));
}

int main(int argc, char **argv)
{
	starpu_data_handle_t out, in;
	size_t *amounts;
	char path[64], line[256];
	int src, dst, messages, needed;
	unsigned long bytes, needed_bytes;
	double active_s;

	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_vector_data_register(&out, -1, 0, 40000, sizeof(int));
	starpu_vector_data_register(&in, -1, 0, 40000, sizeof(int));
	OK(starpu_data_acquire(out, STARPU_W));
	memset(starpu_data_get_local_ptr(out), 1, 160000);
	starpu_data_release(out);
	ring(out, in);
	amounts = calloc((size_t) size, sizeof(*amounts));
	starpu_mpi_comm_stats_retrieve(amounts);
	for (int i = 0; i < size; i++)
		CHECK(amounts[i] == 0, "%zu bytes to %d before anybody asked", amounts[i], i);
	starpu_mpi_comm_stats_enable();
	ring(out, in);
	ring(out, in);
	starpu_mpi_comm_stats_disable();
	ring(out, in);
	starpu_mpi_comm_stats_enable();
	ring(out, in);
	starpu_mpi_comm_stats_retrieve(amounts);
	for (int i = 0; i < size; i++)
		CHECK(amounts[i] == (i == (rank + 1) % size ? 480000u : 0u), "%zu bytes to %d",
		      amounts[i], i);
	free(amounts);
	snprintf(path, sizeof(path), "stats_%d_%d.csv", size, rank);
	refuses_links();
	OK(orrery_stats_write(path));
	FILE *f = fopen(path, "r");
	CHECK(f && fgets(line, sizeof(line), f) &&
		      !strcmp(line,
			      "src,dst,bytes,messages,first_s,last_s,active_s,logical_bytes,logical_messages\n"),
	      "header: %s", line);
	CHECK(fgets(line, sizeof(line), f) && !strcmp(line, "# checksum at the end\n"), "%s", line);
	CHECK(fscanf(f, "%d,%d,%lu,%d,%*f,%*f,%lf,%lu,%d", &src, &dst, &bytes, &messages, &active_s,
		     &needed_bytes, &needed) == 7,
	      "line");
	/* In a real run the time is counted only for a file that the environment asks for. */
	CHECK(orrery_is_simulated() ? active_s > 0 && active_s < 1 : active_s == 0, "active %g s",
	      active_s);
	CHECK(needed_bytes == bytes && needed == messages, "needed: %lu bytes, %d messages",
	      needed_bytes, needed);
	CHECK(src == rank && dst == (rank + 1) % size && bytes == 640000 && messages == 4,
	      "%d %d %lu %d", src, dst, bytes, messages);
	fclose(f);
	remove(path);
	starpu_data_unregister(out);
	starpu_data_unregister(in);
	return end();
}
