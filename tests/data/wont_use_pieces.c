/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* starpu_data_wont_use() of partitioned data is a hint for the pieces: their values come home. It
 * changes no view, and says nothing.
 * orr-test: env STARPU_NCPU=1 ORRERY_FAKE_DEVICES=1 */
#include "data/mem_test.h"

#include <unistd.h>

#define N 64
#define PIECES 4

/* Waits until the piece is in main memory. */
static void is_home(starpu_data_handle_t piece)
{
	for (int tries = 0; !starpu_data_is_on_node(piece, STARPU_MAIN_RAM); tries++) {
		CHECK(tries < 10000);
		starpu_usleep(1000);
	}
}

/* The runtime's messages go to a file from here on. */
static FILE *listen(void)
{
	FILE *said = tmpfile();

	fflush(stderr);
	CHECK(said && dup2(fileno(said), STDERR_FILENO) >= 0);
	return said;
}

static void said_nothing(FILE *said, int console)
{
	char line[200] = "";

	fflush(stderr);
	CHECK(dup2(console, STDERR_FILENO) >= 0);
	rewind(said);
	CHECK(!fgets(line, sizeof(line), said), "the runtime said: %s", line);
	fclose(said);
}

int main(void)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block,
					.nchildren = PIECES };
	starpu_data_handle_t h, piece[PIECES];
	int v[N] = { 0 }, console = dup(STDERR_FILENO);

	start();
	FILE *said = listen();
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, N, sizeof(int));
	starpu_data_partition(h, &f);
	for (int i = 0; i < PIECES; i++)
		add_on(starpu_data_get_sub_data(h, 1, i), 0, 1);
	starpu_task_wait_for_all();
	CHECK(!starpu_data_is_on_node(starpu_data_get_sub_data(h, 1, 0), STARPU_MAIN_RAM));
	starpu_data_wont_use(h);
	for (int i = 0; i < PIECES; i++)
		is_home(starpu_data_get_sub_data(h, 1, i));
	starpu_data_unpartition(h, STARPU_MAIN_RAM);

	starpu_data_partition_plan(h, &f, piece);
	starpu_data_wont_use(piece[0]); /* not in use: its father holds the value */
	add_on(h, 0, 1);
	starpu_data_partition_submit(h, PIECES, piece);
	for (int i = 0; i < PIECES; i++)
		add_on(piece[i], 0, 1);
	starpu_task_wait_for_all();
	starpu_data_wont_use(h);
	for (int i = 0; i < PIECES; i++)
		is_home(piece[i]);
	/* The pieces are still there: an access that may not switch views finds them. */
	CHECK(starpu_data_acquire(piece[0], STARPU_R | STARPU_NOPLAN) == 0);
	starpu_data_release(piece[0]);
	starpu_data_unpartition_submit(h, PIECES, piece, STARPU_MAIN_RAM);
	starpu_data_partition_clean(h, PIECES, piece);
	starpu_data_unregister(h);
	said_nothing(said, console);
	CHECK(v[0] == 3 && v[N - 1] == 3);
	starpu_shutdown();
	return 0;
}
