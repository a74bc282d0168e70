/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data as MPI sees them: payloads, and the datatypes that the program registers.
 *
 * Invariant: a payload describes bytes that stay where they are until orr_mpi_payload_done(). */
#ifndef ORR_MPI_DATATYPE_H
#define ORR_MPI_DATATYPE_H

#include "starpu_mpi.h"
#include "base/mpi_layout.h"

struct orr_mpi;

enum orr_mpi_form {
	ORR_FORM_EMPTY,
	ORR_FORM_CONTIGUOUS,
	ORR_FORM_STRIDED,
	ORR_FORM_TYPED,
	ORR_FORM_PACKED
};
struct orr_mpi_payload {
	enum orr_mpi_form form;
	char *ptr;
	struct orr_layout layout;
	starpu_mpi_datatype_free_func_t free_type; /* TYPED */
	int copied; /* the processor copies its bytes on their way, since they do not lie in a row
		     */
};
/* dense.c: describes the replicate on a memory node if its interface is a dense one, of not too
 * many dimensions; else returns 0. */
int orr_mpi_describe_dense(starpu_data_handle_t h, unsigned node, struct orr_mpi_payload *p);
/* Describes the replicate on a memory node, which is dense unless it is main memory; sending: packs
 * it when that is its form (ptr is then a
 * buffer to free). expected: the size of the message when receiving, used for PACKED. 0 or -errno
 * after a message. */
int orr_mpi_payload(struct orr_mpi *mpi, starpu_data_handle_t h, unsigned node, int sending,
		    size_t expected, struct orr_mpi_payload *p);
/* Frees the datatype. */
void orr_mpi_payload_done(struct orr_mpi_payload *p);
/* Copies the payload to or from a contiguous buffer (not PACKED). */
void orr_mpi_gather(struct orr_mpi *mpi, const struct orr_mpi_payload *p, char *buf);
void orr_mpi_scatter(struct orr_mpi *mpi, const struct orr_mpi_payload *p, const char *buf);

#endif
