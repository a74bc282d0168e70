/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Payloads of any size from rank 0 to all others. Each argument is a cell of the table, FORM:BYTES
 * or FORM:BYTES:ELEMENT: vv (from vector to vector), mm (matrices with gaps), mv (from a matrix to
 * a vector), or tt (vectors with a datatype of the program); the size is rounded down to whole
 * elements and rows. Prints the time of each. sizes.sh runs it.
 *
 * Memory is a few MiB whatever the size: the addresses of a datum lead to the same pages again and
 * again, and on the receivers to pages of their own at the beginning, the end and each multiple of
 * 1 GiB, where every byte is checked. With ORR_SIZES_SKIP=1 (kernels skipped) there is no payload.
 */
#define _GNU_SOURCE
#include "mpi_test.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t) 4096)
#define PERIOD (4099 * PAGE) /* no two boundaries of the table are at the same place in it */
#define WINDOW (16 * PAGE)   /* on both sides of a place that is checked */
#define STEP ((size_t) 1 << 30)
#define GAP 0xa5

/* Rows of bytes; a vector is one row. */
struct shape {
	size_t row, ld, rows;
};

static size_t total(const struct shape *s)
{
	return s->row * s->rows;
}

static size_t span(const struct shape *s)
{
	return s->ld * s->rows;
}

/* The place in memory of a byte of the payload. */
static size_t place(const struct shape *s, size_t i)
{
	return i / s->row * s->ld + i % s->row;
}

static unsigned char value_at(size_t p)
{
	p %= PERIOD;
	return (unsigned char) (p * 31 + (p >> 8) * 7 + (p >> 16) * 13 + 1);
}

static size_t up(size_t n)
{
	return (n + PAGE - 1) / PAGE * PAGE;
}

/* Addresses for n bytes that lead to one period of pages. */
static unsigned char *folded(size_t n)
{
	int fd = memfd_create("sizes", MFD_CLOEXEC);
	unsigned char *p = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
				0);

	CHECK(fd >= 0 && !ftruncate(fd, (off_t) PERIOD) && p != MAP_FAILED, "no memory");
	for (size_t at = 0; at < n; at += PERIOD) {
		size_t part = n - at < PERIOD ? n - at : PERIOD;
		CHECK(mmap(p + at, part, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) !=
			      MAP_FAILED,
		      "no memory");
	}
	close(fd);
	return p;
}

/* The part of the memory around byte i of the payload that has pages of its own. */
static void window(const struct shape *s, size_t i, size_t *from, size_t *to)
{
	size_t at = place(s, i < total(s) ? i : total(s) - 1) / PAGE * PAGE;

	*from = at < WINDOW ? 0 : at - WINDOW;
	*to = up(span(s)) - at < WINDOW ? up(span(s)) : at + WINDOW;
}

static unsigned char *memory(const struct shape *s, int sends)
{
	size_t n = up(span(s)), from, to;
	unsigned char *p = folded(n);

	for (size_t i = 0; sends && i < n && i < PERIOD; i++)
		p[i] = value_at(i);
	for (size_t i = 0; !sends && i < total(s) + STEP; i += STEP) {
		window(s, i, &from, &to);
		CHECK(mmap(p + from, to - from, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED,
		      "no memory");
		memset(p + from, GAP, to - from);
	}
	return p;
}

/* Memory of a run without payloads. */
static unsigned char *skipped(size_t n)
{
	void *p;

	OK(starpu_malloc(&p, n));
	return p;
}

/* Every byte of all windows. */
static void check_windows(const unsigned char *p, const struct shape *s, const struct shape *sent)
{
	size_t from, to, checked = 0;

	for (size_t b = 0; b < total(s) + STEP; b += STEP) {
		window(s, b, &from, &to);
		for (size_t at = from; at < to; at++) {
			size_t i = at / s->ld * s->row + at % s->ld;
			int in = at < span(s) && at % s->ld < s->row;
			int expected = in ? value_at(place(sent, i)) : GAP;
			CHECK(p[at] == expected, "%zu bytes: at %zu is %d, not %d", total(s), at,
			      p[at], expected);
			checked += (size_t) in;
		}
	}
	CHECK(checked > 0, "nothing was checked");
}

static starpu_data_handle_t datum(unsigned char *p, const struct shape *s, size_t element)
{
	starpu_data_handle_t h;

	if (s->rows == 1 && s->row / element > UINT32_MAX) /* more than a vector counts */
		starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) p, s->row);
	else if (s->rows == 1)
		starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) p,
					    (uint32_t) (s->row / element), element);
	else
		starpu_matrix_data_register(
			&h, STARPU_MAIN_RAM, (uintptr_t) p, (uint32_t) (s->ld / element),
			(uint32_t) (s->row / element), (uint32_t) s->rows, element);
	return h;
}

/* A datatype of the whole vector. */
static int make_type(starpu_data_handle_t h, MPI_Datatype *type)
{
	size_t n = starpu_data_get_size(h);
	MPI_Datatype block;

	CHECK(n % 4096 == 0, "%zu bytes are not whole blocks", n);
	MPI_Type_contiguous(4096, MPI_BYTE, &block);
	MPI_Type_contiguous((int) (n / 4096), block, type);
	MPI_Type_commit(type);
	MPI_Type_free(&block);
	return 0;
}

static void free_type(MPI_Datatype *type)
{
	MPI_Type_free(type);
}

/* From rank 0 to each other one. Returns the time. */
static double pass(starpu_data_handle_t h)
{
	if (rank)
		OK(starpu_mpi_irecv_detached(h, 0, 1, MPI_COMM_WORLD, NULL, NULL));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	starpu_sleep(0.02);
	double begin_us = starpu_timing_now();
	for (int to = 1; !rank && to < size; to++)
		OK(starpu_mpi_isend_detached(h, to, 1, MPI_COMM_WORLD, NULL, NULL));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	return starpu_timing_now() - begin_us;
}

static void cell(const char *word, int skips)
{
	char from = 0, to = 0;
	size_t bytes = 0, element = 1;

	CHECK(sscanf(word, "%c%c:%zu:%zu", &from, &to, &bytes, &element) >= 3, "what is %s", word);
	size_t row = from == 'm' ? 8191 * element : bytes / element * element;
	struct shape out = { row, from == 'm' ? row + 5 * element : row, bytes / row }, in = out;
	if (from == 'm' && to == 'v')
		in = (struct shape){ total(&out), total(&out), 1 };
	const struct shape *mine = rank ? &in : &out;
	unsigned char *p = skips ? skipped(span(mine)) : memory(mine, !rank);
	starpu_data_handle_t h = datum(p, mine, element);

	if (from == 't')
		OK(starpu_mpi_datatype_register(h, make_type, free_type));
	double us = pass(h);
	starpu_data_unregister(h);
	if (rank && !skips)
		check_windows(p, &in, &out);
	if (!rank)
		printf("%s %zu %.3f\n", word, total(&out), us);
	if (skips)
		starpu_free_noflag(p, span(mine));
	else
		munmap(p, up(span(mine)));
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	for (int i = 1; i < argc; i++)
		cell(argv[i], getenv("ORR_SIZES_SKIP") != NULL);
	return end();
}
